/* SPDX-License-Identifier: ISC */
/* Places as texts: key=value&key=value, in a value, everything but letters, digits and -_. is written as %XX. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "explore/state.h"

enum {
    KEY_MAX = 16,
    NAMES_MAX = 1000, /* bytes for the names of a pane's switched-off counters */
};

/* ---- Writing ---- */

/* An item that does not fit is left out as a whole. */
struct writer {
    char *out;
    size_t size, room;
    bool any;
};

static bool put_bytes(struct writer *w, const char *bytes, size_t size)
{
    if (size >= w->room - w->size)
        return false;
    memcpy(w->out + w->size, bytes, size);
    w->size += size;
    w->out[w->size] = '\0';
    return true;
}

static bool put_encoded(struct writer *w, const char *bytes, size_t size)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     c == '-' || c == '_' || c == '.';
        char code[3] = {'%', digits[c >> 4], digits[c & 15]};
        if (!(plain ? put_bytes(w, bytes + i, 1) : put_bytes(w, code, sizeof code)))
            return false;
    }
    return true;
}

/* "&key.2=": the first pane has no number. */
static void put_key(struct writer *w, const char *key, unsigned pane)
{
    char text[KEY_MAX + 16];
    int n = pane ? snprintf(text, sizeof text, "%s%s.%u=", w->any ? "&" : "", key, pane + 1)
                 : snprintf(text, sizeof text, "%s%s=", w->any ? "&" : "", key);
    w->any = true;
    put_bytes(w, text, (size_t)n);
}

static void put_number(struct writer *w, const char *key, unsigned pane, int64_t number)
{
    char text[24];
    put_key(w, key, pane);
    put_bytes(w, text, (size_t)snprintf(text, sizeof text, "%" PRId64, number));
}

static void put_window(struct writer *w, const struct weft_explorer *e)
{
    struct explore_clocks clocks;
    explore_clocks_find(e, &clocks);
    for (unsigned i = 0; i < e->panes; i++) {
        const struct explore_window *window = e->is_free ? &e->pane[i].window : &e->window;
        if (i == 0 || e->is_free) {
            put_number(w, "from", i, explore_round(window->from));
            put_number(w, "to", i, explore_round(window->to));
        } else if (explore_round(e->pane[i].offset) != explore_round(clocks.offset[i])) {
            put_number(w, "offset", i, explore_round(e->pane[i].offset));
        }
    }
    if (e->is_free)
        put_number(w, "free", 0, 1);
}

static void put_rows(struct writer *w, const struct weft_explorer *e)
{
    for (unsigned i = 0; i < e->panes; i++) {
        const struct explore_pane *p = &e->pane[i];
        if (explore_round(p->spread) == 0)
            continue;
        if (p->focus_row != WEFT_NONE) {
            put_number(w, "row", i, p->focus_row);
            put_number(w, "y", i, p->focus_px);
        }
        put_number(w, "spread", i, explore_round(p->spread));
    }
}

/* Names of counters that are switched off. */
static void put_counters(struct writer *w, const struct weft_explorer *e, unsigned pane)
{
    const struct explore_pane *p = &e->pane[pane];
    const char *last = NULL;
    struct writer names = {w->out, w->size, w->size + NAMES_MAX, w->any};
    for (uint32_t k = 0; p->counter_off && k < p->model->counters; k++) {
        uint32_t size;
        const char *name = weft_model_text(p->model, p->model->counter[k].name, &size);
        if (!p->counter_off[k] || (last && !strcmp(last, name)))
            continue;
        struct writer before = names;
        if (last)
            put_bytes(&names, ",", 1);
        else
            put_key(&names, "off", pane);
        if (!put_encoded(&names, name, size)) {
            names = before;
            names.out[names.size] = '\0';
            continue;
        }
        last = name;
    }
    w->size = names.size;
    w->any = names.any;
}

/* What an analysis shows, or will show. */
static void put_findings(struct writer *w, struct weft_explorer *e)
{
    if (e->finding != WEFT_NONE)
        put_number(w, "finding", e->finding_pane, (int64_t)e->finding + 1);
    else if (e->wanted.is && !e->wanted.again)
        put_number(w, "finding", e->wanted.pane, e->wanted.number);
    if (e->no_path)
        put_number(w, "path", 0, 0);
    else if (e->wants_path || explore_path(e))
        put_number(w, "path", 0, 1);
    if (e->wants_diff)
        put_number(w, "diff", 0, 1);
}

/* flame=1: the flame graph is open; then how it is shown and at which frame. */
static void put_flame(struct writer *w, const struct weft_explorer *e)
{
    const struct explore_flame_pane *f = &e->flame;
    uint32_t focus = f->tree || f->why ? f->focus : f->wants_focus;
    if (!f->open)
        return;
    put_number(w, "flame", 0, 1);
    if (f->wanted.created)
        put_number(w, "created", 0, 1);
    if (f->wanted.async)
        put_number(w, "async", 0, 1);
    if (f->wanted.off_cpu)
        put_number(w, "away", 0, 1);
    if (focus)
        put_number(w, "frame", 0, focus);
}

const char *weft_explorer_place(struct weft_explorer *e)
{
    struct writer w = {.out = e->place, .room = sizeof e->place};
    *e->place = '\0';
    put_window(&w, e);
    put_rows(&w, e);
    if (e->selected != WEFT_NONE) {
        uint64_t id = e->pane[e->selected_pane].model->promise[e->selected].id;
        char text[24];
        put_key(&w, "select", e->selected_pane);
        put_bytes(&w, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, id));
    }
    if (*e->query) {
        put_key(&w, "search", 0);
        put_encoded(&w, e->query, strlen(e->query));
    }
    put_findings(&w, e);
    if (e->range_from_ns != e->range_to_ns) {
        char text[2 * 24];
        put_key(&w, "range", e->range_pane);
        put_bytes(&w, text,
                  (size_t)snprintf(text, sizeof text, "%" PRId64 "-%" PRId64, e->range_from_ns,
                                   e->range_to_ns));
    }
    if (e->panes && e->pane[0].scene->l->raw)
        put_number(&w, "raw", 0, 1);
    if (e->no_counters) {
        put_key(&w, "counters", 0);
        put_bytes(&w, "off", 3);
    }
    if (e->no_strips) {
        put_key(&w, "samples", 0);
        put_bytes(&w, "off", 3);
    }
    put_flame(&w, e);
    if (e->text_percent != 100)
        put_number(&w, "text", 0, e->text_percent);
    for (unsigned i = 0; i < e->panes && w.size + NAMES_MAX < w.room; i++)
        put_counters(&w, e, i);
    return e->place;
}

/* ---- Reading ---- */

/* A value, still encoded; decoded, it may hold any bytes. */
struct value {
    const char *bytes;
    size_t size;
};

struct field {
    char key[KEY_MAX];
    unsigned pane;
    struct value value; /* as it stands */
};

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes as much as fits, and terminates it; a NUL ends it. Returns true if the encoding was valid. */
static bool decode(char *out, size_t room, struct value v)
{
    size_t n = 0;
    bool sound = true;
    for (size_t i = 0; i < v.size && n + 1 < room; i++) {
        char c = v.bytes[i];
        if (c == '%') {
            int high = i + 2 < v.size ? hex(v.bytes[i + 1]) : -1;
            int low = high >= 0 ? hex(v.bytes[i + 2]) : -1;
            if (low >= 0) {
                c = (char)(high * 16 + low);
                i += 2;
            } else {
                sound = false;
            }
        } else if (c == '+') {
            c = ' ';
        }
        if (c == '\0')
            return false;
        out[n++] = c;
    }
    out[n] = '\0';
    return sound;
}

/* A number at *at, which moves past it. */
static bool read_number(const char **at, const char *end, int64_t *out)
{
    bool negative = *at < end && **at == '-';
    const char *p = *at + negative;
    uint64_t n = 0;
    if (p == end || *p < '0' || *p > '9')
        return false;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        if (n > (UINT64_C(1) << 62) / 10)
            return false;
        n = n * 10 + (uint64_t)(*p - '0');
    }
    *at = p;
    *out = negative ? -(int64_t)n : (int64_t)n;
    return *out >= -WEFT_TIME_MAX && *out <= WEFT_TIME_MAX;
}

static bool number(struct value v, int64_t least, int64_t most, int64_t *out)
{
    const char *at = v.bytes, *end = v.bytes + v.size;
    return read_number(&at, end, out) && at == end && *out >= least && *out <= most;
}

static bool read_id(struct value v, uint64_t *out)
{
    uint64_t n = 0;
    if (v.size == 0)
        return false;
    for (size_t i = 0; i < v.size; i++) {
        unsigned digit = (unsigned)(v.bytes[i] - '0');
        if (digit > 9 || n > (UINT64_MAX - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *out = n;
    return true;
}

/* What a place says, collected until it is parsed completely. */
struct place {
    bool has_from[WEFT_PANES_MAX], has_to[WEFT_PANES_MAX], has_offset[WEFT_PANES_MAX];
    int64_t from[WEFT_PANES_MAX], to[WEFT_PANES_MAX], offset[WEFT_PANES_MAX];
    int64_t row[WEFT_PANES_MAX], y[WEFT_PANES_MAX], spread[WEFT_PANES_MAX];
    bool flame, created, async, away, no_strips;
    int64_t frame;
    bool is_free, no_counters, raw, has_range, has_path, path, diff;
    unsigned finding_pane;
    int64_t finding; /* 0: none */
    unsigned select_pane, range_pane;
    uint32_t select;
    int64_t range_from, range_to, text;
    struct value search, off[WEFT_PANES_MAX];
};

static bool read_range(struct place *p, const struct field *f)
{
    const char *at = f->value.bytes, *end = at + f->value.size;
    int64_t from, to;
    if (!read_number(&at, end, &from) || at == end || *at != '-')
        return false;
    at++;
    if (!read_number(&at, end, &to) || at != end || from >= to)
        return false;
    p->has_range = true;
    p->range_pane = f->pane;
    p->range_from = from;
    p->range_to = to;
    return true;
}

static bool read_select(struct place *p, const struct weft_explorer *e, const struct field *f)
{
    uint64_t id;
    if (!read_id(f->value, &id))
        return false;
    uint32_t promise = weft_model_find(e->pane[f->pane].model, id);
    if (promise == WEFT_NONE || promise == WEFT_ROOT)
        return false;
    p->select = promise;
    p->select_pane = f->pane;
    return true;
}

static bool is_value(struct value v, const char *text)
{
    return v.size == strlen(text) && !memcmp(v.bytes, text, v.size);
}

static bool read_switch(struct value v, bool *out)
{
    *out = is_value(v, "1");
    return *out || is_value(v, "0");
}

static bool read_time(struct value v, int64_t *out, bool *has)
{
    return *has = number(v, -WEFT_TIME_MAX, WEFT_TIME_MAX, out);
}

static bool read_field(struct place *p, const struct weft_explorer *e, const struct field *f)
{
    unsigned i = f->pane;
    struct value v = f->value;
    int64_t n;
    if (!strcmp(f->key, "from"))
        return read_time(v, &p->from[i], &p->has_from[i]);
    if (!strcmp(f->key, "to"))
        return read_time(v, &p->to[i], &p->has_to[i]);
    if (!strcmp(f->key, "offset"))
        return read_time(v, &p->offset[i], &p->has_offset[i]);
    if (!strcmp(f->key, "row"))
        return number(v, 0, (int64_t)e->pane[i].scene->l->rows - 1, &n) && (p->row[i] = n, true);
    if (!strcmp(f->key, "y"))
        return number(v, 0, WEFT_PICTURE_MAX_PX, &n) && (p->y[i] = n, true);
    if (!strcmp(f->key, "spread"))
        return number(v, 0, WEFT_SPREAD_MAX, &n) && (p->spread[i] = n, true);
    if (!strcmp(f->key, "select"))
        return read_select(p, e, f);
    if (!strcmp(f->key, "range"))
        return read_range(p, f);
    if (!strcmp(f->key, "off"))
        return p->off[i] = v, true;
    if (!strcmp(f->key, "search"))
        return p->search = v, true;
    if (!strcmp(f->key, "free"))
        return read_switch(v, &p->is_free);
    if (!strcmp(f->key, "raw"))
        return read_switch(v, &p->raw);
    if (!strcmp(f->key, "finding"))
        return number(v, 1, WEFT_FINDINGS_MAX, &n) && (p->finding = n, p->finding_pane = i, true);
    if (!strcmp(f->key, "path"))
        return p->has_path = read_switch(v, &p->path);
    if (!strcmp(f->key, "diff"))
        return read_switch(v, &p->diff);
    if (!strcmp(f->key, "counters"))
        return (p->no_counters = is_value(v, "off")) || is_value(v, "on");
    if (!strcmp(f->key, "samples"))
        return (p->no_strips = is_value(v, "off")) || is_value(v, "on");
    if (!strcmp(f->key, "flame"))
        return read_switch(v, &p->flame);
    if (!strcmp(f->key, "created"))
        return read_switch(v, &p->created);
    if (!strcmp(f->key, "async"))
        return read_switch(v, &p->async);
    if (!strcmp(f->key, "away"))
        return read_switch(v, &p->away);
    if (!strcmp(f->key, "frame"))
        return number(v, 0, UINT32_MAX - 1, &n) && (p->frame = n, true);
    if (!strcmp(f->key, "text"))
        return number(v, 50, 300, &n) && (p->text = n, true);
    return true; /* from a newer weft */
}

/* The next field of a text; false: there is none. A field that makes no sense has an empty key. */
static bool next_field(const char **at, struct field *f)
{
    if (!**at)
        return false;
    size_t size = strcspn(*at, "&"), key = strcspn(*at, "=&"), dot = 0;
    while (dot < key && (*at)[dot] != '.')
        dot++;
    *f = (struct field){.value = {*at + key, size - key}};
    if (f->value.size) { /* the = */
        f->value.bytes++;
        f->value.size--;
    }
    int64_t pane = 1;
    bool sound = dot < KEY_MAX;
    if (dot < key)
        sound =
            sound && number((struct value){*at + dot + 1, key - dot - 1}, 2, WEFT_PANES_MAX, &pane);
    if (sound)
        memcpy(f->key, *at, dot);
    f->pane = (unsigned)pane - 1;
    *at += size + ((*at)[size] == '&');
    return true;
}

bool weft_explorer_place_is_analysed(const char *place)
{
    struct field f;
    while (next_field(&place, &f))
        if (!strcmp(f.key, "finding") || !strcmp(f.key, "diff") ||
            (!strcmp(f.key, "path") && !is_value(f.value, "0")))
            return true;
    return false;
}

bool weft_explorer_place_is_raw(const char *place)
{
    struct field f;
    bool raw = false;
    while (next_field(&place, &f))
        if (!strcmp(f.key, "raw"))
            read_switch(f.value, &raw);
    return raw;
}

static bool parse(struct place *p, const struct weft_explorer *e, const char *text)
{
    struct field f;
    bool sound = true;
    *p = (struct place){.select = WEFT_NONE};
    for (unsigned i = 0; i < WEFT_PANES_MAX; i++)
        p->row[i] = -1;
    while (next_field(&text, &f)) {
        if (!*f.key && f.value.size == 0)
            continue;
        bool is_of_pane =
            !strcmp(f.key, "row") || !strcmp(f.key, "select") || !strcmp(f.key, "finding");
        if (!*f.key || f.pane >= (e->panes || is_of_pane ? e->panes : 1))
            sound = false;
        else
            sound = read_field(p, e, &f) && sound;
    }
    return sound;
}

static bool go_window(struct weft_explorer *e, const struct place *p)
{
    bool sound = true;
    struct explore_clocks clocks;
    explore_clocks_find(e, &clocks);
    e->is_free = p->is_free;
    for (unsigned i = 0; i < e->panes; i++) {
        double offset = p->has_offset[i] ? (double)p->offset[i] : clocks.offset[i];
        e->pane[i].offset = i && !e->is_free ? offset : 0;
        e->pane[i].spread = 1; /* so that nothing snaps yet and offsets are kept */
    }
    explore_window_fit(e);
    for (unsigned i = 0; i < (e->is_free ? e->panes : 1); i++) {
        if (!p->has_from[i] && !p->has_to[i])
            continue;
        struct explore_window w = explore_window_get(e, i);
        w.from = p->has_from[i] ? (double)p->from[i] : w.from;
        w.to = p->has_to[i] ? (double)p->to[i] : w.to;
        sound = explore_window_go(e, i, w) && sound;
    }
    for (unsigned i = 0; i < e->panes; i++) {
        struct explore_pane *pane = &e->pane[i];
        pane->spread = (double)p->spread[i];
        pane->focus_row = p->spread[i] && p->row[i] >= 0 ? (uint32_t)p->row[i] : WEFT_NONE;
        pane->focus_px = pane->focus_row != WEFT_NONE ? (int32_t)p->y[i] : 0;
    }
    return sound;
}

/* Switches off the counters in a list of names. Returns true if all exist. */
static bool go_counters(struct explore_pane *p, struct value list)
{
    bool sound = true;
    char name[NAMES_MAX];
    if (p->counter_off)
        memset(p->counter_off, 0, p->model->counters);
    while (p->counter_off && list.size) {
        const char *comma = memchr(list.bytes, ',', list.size);
        size_t size = comma ? (size_t)(comma - list.bytes) : list.size;
        bool found = false;
        if (decode(name, sizeof name, (struct value){list.bytes, size})) {
            uint32_t low = 0, high = p->model->counters; /* they are sorted by name */
            WEFT_SEEK(
                low, high,
                strcmp(weft_model_text(p->model, p->model->counter[middle].name, NULL), name) < 0);
            while (low < p->model->counters &&
                   !strcmp(weft_model_text(p->model, p->model->counter[low].name, NULL), name)) {
                p->counter_off[low++] = 1;
                found = true;
            }
        }
        sound = sound && found;
        list.bytes += size + (comma != NULL);
        list.size -= size + (comma != NULL);
    }
    return sound;
}

/* A finding that is not there yet is shown once it has been found. */
static bool go_findings(struct weft_explorer *e, const struct place *p)
{
    bool moves = true;
    for (unsigned i = 0; i < WEFT_PANES_MAX; i++)
        moves = moves && !p->has_from[i] && !p->has_to[i];
    e->wants_path = p->has_path && p->path;
    e->no_path = p->has_path && !p->path;
    e->wants_diff = p->diff;
    e->diff_moves = moves && !p->finding;
    if (!p->diff && e->has_diff) {
        weft_diff_fini(&e->diff);
        e->has_diff = false;
    }
    e->wanted.is = false;
    if (p->diff && e->has_diff && e->diff_moves)
        explore_diff_go(e);
    if (!p->finding)
        return true;
    e->wanted = (struct explore_wanted){
        .is = true, .moves = moves, .pane = p->finding_pane, .number = (uint32_t)p->finding};
    return explore_finding_come(e);
}

static void go_flame(struct weft_explorer *e, const struct place *p)
{
    explore_flame_forget(e);
    e->flame.open = p->flame;
    e->flame.wanted =
        (struct explore_flame_of){.created = p->created, .async = p->async, .off_cpu = p->away};
    e->flame.wants_focus = (uint32_t)p->frame;
}

bool weft_explorer_go(struct weft_explorer *e, const char *place)
{
    struct place p;
    char query[EXPLORE_QUERY_BYTES + 1];
    bool sound = parse(&p, e, place);
    explore_history_leave(e);
    sound = decode(query, sizeof query, p.search) && sound;
    weft_explorer_search(e, query);
    sound = go_window(e, &p) && sound;
    for (unsigned i = 0; i < e->panes; i++)
        sound = go_counters(&e->pane[i], p.off[i]) && sound;
    if (e->panes && p.raw && !e->pane[0].scene->l->raw)
        sound = false;
    explore_activate(e, 0);
    e->first_pane = 0;
    explore_finding_leave(e);
    explore_select(e, p.select_pane, p.select);
    e->range_pane = p.has_range ? p.range_pane : 0;
    e->range_from_ns = p.has_range ? p.range_from : 0;
    e->range_to_ns = p.has_range ? p.range_to : 0;
    e->no_counters = p.no_counters;
    e->no_strips = p.no_strips;
    go_flame(e, &p);
    if (p.text)
        weft_explorer_text_size(e, (unsigned)p.text);
    e->wheel_x = -1;
    e->drag.grip = EXPLORE_GRIP_NONE;
    e->placed = false;
    explore_history_arrive(e);
    sound = go_findings(e, &p) && sound;
    e->marks_stale = true;
    explore_changed(e, WEFT_CHANGED_FACTS);
    explore_moved(e);
    return sound;
}
