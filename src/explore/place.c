/* SPDX-License-Identifier: ISC */
/* Places as texts: key=value&key=value, in a value, everything but letters, digits and -_. is written as %XX. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/count.h"
#include "explore/state.h"
#include "explore/tour.h"

enum {
    KEY_MAX = 16,
    LINK_NOTES_MAX = 1500, /* bytes for the notes of a pane */
    GROUPS_BYTES =
        WEFT_GROUPS_MAX * WEFT_GROUP_NAME * 3 / 2 + 1000, /* that names of groups may take */
    NAMES_MAX = 1000, /* bytes for the names of a pane's switched-off counters */
};

/* KEY(NAME, "name", kind, least, most): the bounds are those of a NUMBER. Up to OFF, each pane has its own; of the others
 * there is one, maybe of a certain pane. */
#define EACH_KEY                                                                                   \
    KEY(FROM, "from", NUMBER, -WEFT_TIME_MAX, WEFT_TIME_MAX)                                       \
    KEY(TO, "to", NUMBER, -WEFT_TIME_MAX, WEFT_TIME_MAX)                                           \
    KEY(OFFSET, "offset", NUMBER, -WEFT_TIME_MAX, WEFT_TIME_MAX)                                   \
    KEY(ROW, "row", NUMBER, 0, UINT32_MAX - 1)                                                     \
    KEY(Y, "y", NUMBER, 0, WEFT_PICTURE_MAX_PX)                                                    \
    KEY(SPREAD, "spread", NUMBER, 0, WEFT_SPREAD_MAX)                                              \
    KEY(GROUP, "group", BYTES, 0, 0)                                                               \
    KEY(CLOSED, "closed", BYTES, 0, 0)                                                             \
    KEY(HIDDEN, "hidden", BYTES, 0, 0)                                                             \
    KEY(PINNED, "pinned", BYTES, 0, 0)                                                             \
    KEY(NOTES, "notes", BYTES, 0, 0)                                                               \
    KEY(OFF, "off", BYTES, 0, 0)                                                                   \
    KEY(PANES, "panes", BYTES, 0, 0)                                                               \
    KEY(TOP, "top", NUMBER, 0, WEFT_PANES_MAX * 1000)                                              \
    KEY(FREE, "free", NUMBER, 0, 1)                                                                \
    KEY(SELECT, "select", ID, 0, 0)                                                                \
    KEY(WITH, "with", BYTES, 0, 0)                                                                 \
    KEY(SEARCH, "search", BYTES, 0, 0)                                                             \
    KEY(FINDING, "finding", NUMBER, 1, WEFT_FINDINGS_MAX)                                          \
    KEY(PATH, "path", NUMBER, 0, 1)                                                                \
    KEY(DIFF, "diff", NUMBER, 0, 1)                                                                \
    KEY(FOLD, "fold", NUMBER, 0, 1)                                                                \
    KEY(RANGE, "range", SPAN, 0, 0)                                                                \
    KEY(RAW, "raw", NUMBER, 0, 1)                                                                  \
    KEY(COUNTERS, "counters", ON_OFF, 0, 0)                                                        \
    KEY(SAMPLES, "samples", ON_OFF, 0, 0)                                                          \
    KEY(OLDER, "older", NUMBER, 0, 1)                                                              \
    KEY(OVERVIEW, "overview", NUMBER, 0, 1)                                                        \
    KEY(LEGEND, "legend", ON_OFF, 0, 0)                                                            \
    KEY(TOUR, "tour", NUMBER, 0, WEFT_TOUR_STEPS)                                                  \
    KEY(HIDE, "hide", KINDS, 0, 0)                                                                 \
    KEY(FLAME, "flame", NUMBER, 0, 1)                                                              \
    KEY(CREATED, "created", NUMBER, 0, 1)                                                          \
    KEY(ASYNC, "async", NUMBER, 0, 1)                                                              \
    KEY(AWAY, "away", NUMBER, 0, 1)                                                                \
    KEY(WHY, "why", NUMBER, 0, 1)                                                                  \
    KEY(TABLE, "table", BYTES, 0, 0)                                                               \
    KEY(SORT, "sort", BYTES, 0, 0)                                                                 \
    KEY(KIND, "kind", ID, 0, 0)                                                                    \
    KEY(PIN, "pin", ID, 0, 0)                                                                      \
    KEY(FRAME, "frame", NUMBER, 0, UINT32_MAX - 1)                                                 \
    KEY(TEXT_SIZE, "text", NUMBER, 50, 300)

enum key {
#define KEY(NAME, ...) NAME,
    EACH_KEY
#undef KEY
        KEYS
};

static const struct {
    const char *name;
    enum { NUMBER, ON_OFF, ID, SPAN, BYTES, KINDS } kind;
    int64_t least, most;
} keys[] = {
#define KEY(NAME, ...) {__VA_ARGS__},
    EACH_KEY
#undef KEY
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

/* "&key.2=" and the value: the first pane has no number. */
static void __attribute__((format(printf, 4, 5)))
put(struct writer *w, enum key key, unsigned pane, const char *format, ...)
{
    char text[KEY_MAX + 64], number[16] = "";
    if (pane)
        snprintf(number, sizeof number, ".%u", pane + 1);
    int n = snprintf(text, sizeof text, "%s%s%s=", w->any ? "&" : "", keys[key].name, number);
    va_list args;
    va_start(args, format);
    n += vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    w->any = true;
    put_bytes(w, text, (size_t)n);
}

static void put_number(struct writer *w, enum key key, unsigned pane, int64_t number)
{
    put(w, key, pane, "%" PRId64, number);
}

/* A switch is written only if it is on. */
static void put_switch(struct writer *w, enum key key, bool on)
{
    if (on)
        put(w, key, 0, "%s", keys[key].kind == ON_OFF ? "off" : "1");
}

static void put_window(struct writer *w, const struct weft_explorer *e)
{
    struct explore_clocks clocks;
    explore_clocks_find(e, &clocks);
    for (unsigned i = 0; i < e->panes; i++) {
        const struct explore_window *window = e->is_free ? &e->pane[i].view.window : &e->window;
        if (i == 0 || e->is_free) {
            put_number(w, FROM, i, explore_round(window->from));
            put_number(w, TO, i, explore_round(window->to));
        } else if (explore_round(e->pane[i].view.offset) != explore_round(clocks.offset[i])) {
            put_number(w, OFFSET, i, explore_round(e->pane[i].view.offset));
        }
    }
    put_switch(w, FREE, e->is_free);
    bool folds = false;
    for (unsigned i = 0; i < e->panes; i++)
        folds = folds || explore_folds(e, i);
    put_switch(w, FOLD, folds);
    for (unsigned i = 0; i < e->panes; i++) {
        const struct explore_pane *p = &e->pane[i];
        if (explore_round(p->view.spread) == 0)
            continue;
        if (p->view.focus_row != WEFT_NONE) {
            put_number(w, ROW, i, p->view.focus_row);
            put_number(w, Y, i, p->view.focus_px);
        }
        put_number(w, SPREAD, i, explore_round(p->view.spread));
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
            put(&names, OFF, pane, "%s", "");
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

/* "413~slow;t1000~here": short notes, as far as there is room. */
static void put_notes(struct writer *w, const struct weft_explorer *e, unsigned pane)
{
    size_t most = w->room - w->size - 1 < LINK_NOTES_MAX ? w->room - w->size - 1 : LINK_NOTES_MAX;
    struct writer notes = {w->out, w->size, w->size + most, w->any};
    uint32_t next = 0;
    char at[64];
    const char *text;
    bool any = false;
    while (explore_notes_short(&e->pane[pane], &next, at, sizeof at, &text)) {
        struct writer before = notes;
        bool fits = true;
        if (any)
            fits = put_bytes(&notes, ";", 1);
        else
            put(&notes, NOTES, pane, "%s", "");
        if (fits && put_bytes(&notes, at, strlen(at)) && put_bytes(&notes, "~", 1) &&
            put_encoded(&notes, text, strlen(text))) {
            any = true;
            continue;
        }
        notes = before;
        notes.out[notes.size] = '\0';
    }
    w->size = notes.size;
    w->any = notes.any;
}

static bool *flag_of(struct weft_group *g, enum key key)
{
    return key == CLOSED ? &g->is_closed : key == HIDDEN ? &g->is_hidden : &g->is_pinned;
}

/* closed=GET,POST: the groups of which something is true; * for all of them. */
static void put_flags(struct writer *w, struct weft_groups *g, enum key key, unsigned pane)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < g->count; i++)
        set += *flag_of(&g->group[i], key);
    if (set == 0)
        return;
    put(w, key, pane, "%s", set == g->count ? "*" : "");
    for (uint32_t i = 0, n = 0; set < g->count && i < g->count; i++) {
        if (!*flag_of(&g->group[i], key))
            continue;
        if (n++)
            put_bytes(w, ",", 1);
        put_encoded(w, g->group[i].name, strlen(g->group[i].name));
    }
}

/* As many as fit, with room for the rest of the place. */
static void put_groups(struct writer *w, const struct weft_explorer *e)
{
    for (unsigned i = 0; i < e->panes; i++) {
        struct weft_groups *g = e->pane[i].groups;
        if (!g || !explore_pane_is_first(e, i))
            continue;
        put(w, GROUP, i, "%s", weft_group_by_name[g->by]);
        for (enum key key = CLOSED; key <= PINNED && w->size + GROUPS_BYTES < w->room; key++)
            put_flags(w, g, key, i);
    }
}

/* What an analysis shows, or will show. */
static void put_findings(struct writer *w, struct weft_explorer *e)
{
    if (e->finding != WEFT_NONE)
        put_number(w, FINDING, e->finding_pane, (int64_t)e->finding + 1);
    else if (e->wanted.is && !e->wanted.again)
        put_number(w, FINDING, e->wanted.pane, e->wanted.number);
    put_switch(w, PATH, e->wants_path);
    put_switch(w, DIFF, e->wants_diff);
}

/* flame=1: the flame graph is open; then how it is shown and at which frame. */
static void put_flame(struct writer *w, const struct weft_explorer *e)
{
    const struct explore_flame_pane *f = &e->flame;
    uint32_t focus = f->tree || f->why ? f->focus : f->wants_focus;
    if (!f->open)
        return;
    put_switch(w, FLAME, true);
    put_switch(w, WHY, f->wanted.why);
    put_switch(w, CREATED, f->wanted.created);
    put_switch(w, ASYNC, f->wanted.async);
    put_switch(w, AWAY, f->wanted.off_cpu);
    if (focus)
        put_number(w, FRAME, 0, focus);
}

/* Which traces are shown, if not all in their order; and how far they are scrolled. */
static void put_panes(struct writer *w, const struct weft_explorer *e)
{
    bool in_order = e->panes == e->sources;
    for (unsigned i = 0; i < e->panes; i++)
        in_order = in_order && e->pane[i].source == i + 1;
    for (unsigned i = 0; i < e->panes && !in_order; i++) {
        char number[16];
        int n = snprintf(number, sizeof number, ",%u", e->pane[i].source);
        if (i == 0)
            put(w, PANES, 0, "%s", number + 1);
        else
            put_bytes(w, number, (size_t)n);
    }
    if (e->top)
        put_number(w, TOP, 0, e->top);
}

/* Kinds that are switched off. */
static void put_kinds(struct writer *w, const struct weft_explorer *e)
{
    bool any = false;
    for (unsigned k = 0; k < WEFT_KINDS; k++)
        if (e->hidden & weft_kind_bit(k)) {
            if (any)
                put_bytes(w, ",", 1);
            else
                put(w, HIDE, 0, "%s", "");
            put_bytes(w, weft_kinds[k].key, strlen(weft_kinds[k].key));
            any = true;
        }
}

static void put_id(struct writer *w, enum key key, const struct weft_explorer *e, unsigned pane,
                   uint32_t promise)
{
    if (promise != WEFT_NONE)
        put(w, key, pane, "%" PRIu64, e->pane[pane].model->promise[promise].id);
}

/* table=label: what the table is by; sort=p99 or, with the smallest first, sort=-p99. */
static void put_table(struct writer *w, const struct weft_explorer *e)
{
    const struct explore_table_place t = explore_table_place(e);
    if (!t.by)
        return;
    put(w, TABLE, 0, "%s", t.by);
    if (!t.is_default)
        put(w, SORT, 0, "%s%s", t.ascending ? "-" : "", t.sort);
    put_id(w, KIND, e, t.pane, t.kind);
    put_id(w, PIN, e, t.pinned_pane, t.pinned);
}

const char *weft_explorer_place(struct weft_explorer *e)
{
    struct writer w = {.out = e->place, .room = sizeof e->place};
    *e->place = '\0';
    if (weft_explorer_tour(e))
        put_number(&w, TOUR, 0, weft_explorer_tour(e));
    put_window(&w, e);
    put_panes(&w, e);
    put_id(&w, SELECT, e, e->selected_pane, e->selected);
    if (*e->query) {
        put(&w, SEARCH, 0, "%s", "");
        put_encoded(&w, e->query, strlen(e->query));
    }
    put_groups(&w, e);
    put_findings(&w, e);
    if (e->range_from_ns != e->range_to_ns)
        put(&w, RANGE, e->range_pane, "%" PRId64 "-%" PRId64, e->range_from_ns, e->range_to_ns);
    if (e->kept.is) {
        char at[64];
        explore_where_write(at, sizeof at, &e->kept.where);
        put(&w, WITH, e->kept.pane, "%s", at);
    }
    put_switch(&w, RAW, e->panes && e->pane[0].scene->l->raw);
    put_switch(&w, COUNTERS, e->no_counters);
    put_switch(&w, SAMPLES, e->no_strips);
    put_switch(&w, OLDER, e->older);
    if (e->overview || e->usually_overview)
        put_number(&w, OVERVIEW, 0, e->overview);
    put_switch(&w, LEGEND, e->no_legend);
    put_kinds(&w, e);
    put_flame(&w, e);
    put_table(&w, e);
    if (e->text_percent != 100)
        put_number(&w, TEXT_SIZE, 0, e->text_percent);
    for (unsigned i = 0; i < e->panes && w.size + NAMES_MAX < w.room; i++)
        put_counters(&w, e, i);
    for (unsigned i = 0; i < e->panes && w.size + LINK_NOTES_MAX < w.room; i++)
        if (explore_pane_is_first(e, i))
            put_notes(&w, e, i);
    return e->place;
}

/* ---- Reading ---- */

/* A value, still encoded; decoded, it may hold any bytes. */
struct value {
    const char *bytes;
    size_t size;
};

struct field {
    bool sound;
    enum key key; /* KEYS: one from a newer weft */
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

static bool number(struct value v, int64_t least, int64_t most, int64_t *out)
{
    const size_t sign = v.size && *v.bytes == '-';
    uint64_t n;
    if (!weft_parse_digits(v.bytes + sign, v.size - sign, WEFT_TIME_MAX, &n))
        return false;
    *out = sign ? -(int64_t)n : (int64_t)n;
    return *out >= least && *out <= most;
}

static bool is_value(struct value v, const char *text)
{
    return v.size == strlen(text) && !memcmp(v.bytes, text, v.size);
}

#define ABSENT INT64_MIN

/* What a place says, collected until it is parsed completely. */
struct place {
    int64_t value[KEYS][WEFT_PANES_MAX]; /* ABSENT: it says nothing, or what makes no sense */
    unsigned pane[KEYS];                 /* of what there is once */
    int64_t range_to;                    /* the value is where the range begins */
    struct value search, table, sort, with;
    struct value bytes[OFF + 1][WEFT_PANES_MAX]; /* of GROUP to OFF */
};

static int64_t value_of(const struct place *p, enum key key, unsigned pane, int64_t otherwise)
{
    return p->value[key][pane] == ABSENT ? otherwise : p->value[key][pane];
}

static bool is_on(const struct place *p, enum key key)
{
    return p->value[key][0] > 0;
}

/* Reads a list of kinds. Returns true if all exist; those that do are in the set *out in any case. */
static bool read_kinds(struct value list, int64_t *out)
{
    bool sound = list.size != 0;
    *out = 0;
    while (list.size) {
        const char *comma = memchr(list.bytes, ',', list.size);
        struct value one = {list.bytes, comma ? (size_t)(comma - list.bytes) : list.size};
        unsigned k = 0;
        while (k < WEFT_KINDS && !is_value(one, weft_kinds[k].key))
            k++;
        if (k < WEFT_KINDS)
            *out |= (int64_t)weft_kind_bit(k);
        sound = sound && k < WEFT_KINDS;
        list.bytes += one.size + (comma != NULL);
        list.size -= one.size + (comma != NULL);
    }
    return sound;
}

static bool read_field(struct place *p, const struct weft_explorer *e, const struct field *f)
{
    struct value v = f->value;
    int64_t n = 0;
    uint64_t id;
    const char *dash;
    bool sound = false;
    if (f->key == KEYS)
        return true;
    switch (keys[f->key].kind) {
    case NUMBER:
        sound = number(v, keys[f->key].least, keys[f->key].most, &n) &&
                (f->key != ROW || n < e->pane[f->pane].scene->l->rows);
        break;
    case KINDS:
        sound = read_kinds(v, &n);
        break;
    case ON_OFF:
        n = is_value(v, "off");
        sound = n || is_value(v, "on");
        break;
    case ID:
        sound = weft_parse_digits(v.bytes, v.size, UINT64_MAX, &id);
        n = sound ? weft_model_find(e->pane[f->pane].model, id) : WEFT_NONE;
        sound = n != WEFT_NONE && n != WEFT_ROOT;
        break;
    case SPAN:
        dash = v.size ? memchr(v.bytes + 1, '-', v.size - 1) : NULL;
        sound = dash &&
                number((struct value){v.bytes, (size_t)(dash - v.bytes)}, -WEFT_TIME_MAX,
                       WEFT_TIME_MAX, &n) &&
                number((struct value){dash + 1, (size_t)(v.bytes + v.size - dash - 1)}, n + 1,
                       WEFT_TIME_MAX, &p->range_to);
        break;
    case BYTES:
        if (f->key != PANES) /* it was read before */
            *(f->key == SEARCH  ? &p->search
              : f->key == TABLE ? &p->table
              : f->key == SORT  ? &p->sort
              : f->key == WITH  ? &p->with
                                : &p->bytes[f->key][f->pane]) = v;
        sound = true;
        break;
    }
    p->value[f->key][f->key <= OFF ? f->pane : 0] =
        sound || keys[f->key].kind == KINDS ? n : ABSENT; /* of a list, what is known counts */
    p->pane[f->key] = f->pane;
    return sound;
}

/* The next field of a text; false: there is none. */
static bool next_field(const char **at, struct field *f)
{
    if (!**at)
        return false;
    size_t size = strcspn(*at, "&"), key = strcspn(*at, "=&"), dot = strcspn(*at, "=&.");
    *f = (struct field){.value = {*at + key, size - key}};
    if (f->value.size) { /* the = */
        f->value.bytes++;
        f->value.size--;
    }
    int64_t pane = 1;
    f->sound = dot > 0 && dot < KEY_MAX;
    if (dot < key &&
        !number((struct value){*at + dot + 1, key - dot - 1}, 2, WEFT_PANES_MAX, &pane))
        f->sound = false;
    while (f->key < KEYS && !is_value((struct value){*at, dot}, keys[f->key].name))
        f->key++;
    f->pane = (unsigned)pane - 1;
    *at += size + ((*at)[size] == '&');
    return true;
}

bool weft_explorer_place_is_analysed(const char *place)
{
    struct field f;
    while (next_field(&place, &f))
        if (f.sound &&
            (f.key == FINDING || f.key == DIFF ||
             ((f.key == PATH || f.key == OVERVIEW || f.key == TOUR) && !is_value(f.value, "0"))))
            return true;
    return false;
}

bool weft_explorer_place_is_raw(const char *place)
{
    struct field f;
    bool raw = false;
    while (next_field(&place, &f))
        if (f.sound && f.key == RAW)
            raw = is_value(f.value, "1");
    return raw;
}

/* Shows the traces that a place names; if it names none, all in their order. */
static bool go_panes(struct weft_explorer *e, const char *text)
{
    struct field f;
    struct value list = {"", 0};
    unsigned source[WEFT_PANES_MAX], count = 0;
    bool sound = true;
    while (next_field(&text, &f))
        list = f.sound && f.key == PANES ? f.value : list;
    for (unsigned i = 1; i <= e->sources && count < WEFT_PANES_MAX && !list.size; i++)
        if (weft_explorer_find(e, i) < e->panes)
            source[count++] = i;
    while (list.size) {
        const char *comma = memchr(list.bytes, ',', list.size);
        size_t size = comma ? (size_t)(comma - list.bytes) : list.size;
        int64_t n;
        if (count < WEFT_PANES_MAX && number((struct value){list.bytes, size}, 1, e->sources, &n))
            source[count++] = (unsigned)n;
        else
            sound = false;
        list.bytes += size + (comma != NULL);
        list.size -= size + (comma != NULL);
    }
    return count ? explore_panes_arrange(e, source, count) && sound : sound;
}

static bool parse(struct place *p, const struct weft_explorer *e, const char *text)
{
    struct field f;
    bool sound = true;
    *p = (struct place){.range_to = 0};
    for (unsigned k = 0; k < KEYS; k++)
        for (unsigned i = 0; i < WEFT_PANES_MAX; i++)
            p->value[k][i] = ABSENT;
    while (next_field(&text, &f)) {
        if (!f.sound && f.value.size == 0)
            continue;
        bool is_of_pane = f.key == ROW || f.key == SELECT || f.key == FINDING || f.key == KIND ||
                          f.key == PIN || f.key == WITH;
        if (!f.sound || f.pane >= (e->panes || is_of_pane ? e->panes : 1))
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
    e->is_free = is_on(p, FREE);
    e->folds = is_on(p, FOLD);
    for (unsigned i = 0; i < e->panes; i++) {
        int64_t offset = p->value[OFFSET][i];
        e->pane[i].view.offset = !i || e->is_free   ? 0
                                 : offset == ABSENT ? clocks.offset[i]
                                                    : (double)offset;
        e->pane[i].view.spread = 1; /* so that nothing snaps yet and offsets are kept */
    }
    explore_window_fit(e);
    explore_window_first(e); /* where a place does not say otherwise */
    for (unsigned i = 0; i < (e->is_free ? e->panes : 1); i++) {
        int64_t from = p->value[FROM][i], to = p->value[TO][i];
        struct explore_window w = explore_window_get(e, i);
        w.from = from != ABSENT ? (double)from : w.from;
        w.to = to != ABSENT ? (double)to : w.to;
        if (from != ABSENT || to != ABSENT)
            sound = explore_window_go(e, i, w) && sound;
    }
    for (unsigned i = 0; i < e->panes; i++) {
        struct explore_pane *pane = &e->pane[i];
        int64_t spread = value_of(p, SPREAD, i, 0);
        pane->view.spread = (double)spread;
        pane->view.focus_row = spread ? (uint32_t)value_of(p, ROW, i, WEFT_NONE) : WEFT_NONE;
        pane->view.focus_px = pane->view.focus_row != WEFT_NONE ? (int32_t)value_of(p, Y, i, 0) : 0;
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
        bool known = decode(name, sizeof name, (struct value){list.bytes, size}) &&
                     explore_counters_hide(p->counter_off, p->model, name);
        sound = sound && known;
        list.bytes += size + (comma != NULL);
        list.size -= size + (comma != NULL);
    }
    return sound;
}

/* Adds the notes of a list to those of a pane. Returns true if all make sense. */
static bool go_notes(struct weft_explorer *e, unsigned pane, struct value list)
{
    bool sound = true;
    char text[3 * EXPLORE_LINK_NOTE_BYTES + 1];
    while (list.size) {
        const char *end = memchr(list.bytes, ';', list.size);
        size_t size = end ? (size_t)(end - list.bytes) : list.size;
        const char *tilde = memchr(list.bytes, '~', size);
        size_t at = tilde ? (size_t)(tilde - list.bytes) : size;
        struct value rest = {list.bytes + at, size - at};
        if (tilde) {
            rest.bytes++;
            rest.size--;
        }
        sound = decode(text, sizeof text, rest) &&
                explore_note_put(e, pane, list.bytes, at, text, strlen(text), 0) && sound;
        list.bytes += size + (end != NULL);
        list.size -= size + (end != NULL);
    }
    return sound;
}

static bool go_flags(struct weft_groups *g, enum key key, struct value list)
{
    bool sound = true, all = is_value(list, "*");
    for (uint32_t i = 0; i < g->count; i++)
        *flag_of(&g->group[i], key) = all;
    while (list.size && !all) {
        char name[WEFT_GROUP_NAME * 2];
        const char *comma = memchr(list.bytes, ',', list.size);
        const size_t size = comma ? (size_t)(comma - list.bytes) : list.size;
        const bool decoded = decode(name, sizeof name, (struct value){list.bytes, size});
        const uint32_t at = decoded ? weft_groups_find(g, name) : WEFT_NONE;
        if (at != WEFT_NONE)
            *flag_of(&g->group[at], key) = true;
        sound = sound && at != WEFT_NONE;
        list.bytes += size + (comma != NULL);
        list.size -= size + (comma != NULL);
    }
    return sound;
}

static bool has_pinned(const struct weft_groups *g)
{
    uint32_t i = 0;
    while (g && i < g->count && !g->group[i].is_pinned)
        i++;
    return g && i < g->count;
}

/* Before the view, which may be of rows that the groups make. */
static bool go_groups(struct weft_explorer *e, const struct place *p)
{
    bool sound = true;
    for (unsigned i = 0; i < e->panes; i++) {
        if (!explore_pane_is_first(e, i))
            continue;
        const struct value by = p->bytes[GROUP][i];
        enum weft_group_by way = WEFT_GROUP_NONE;
        if (has_pinned(e->pane[i].groups)) /* the others have changed their order */
            explore_groups_make(e, i, WEFT_GROUP_NONE);
        while (by.size && way < WEFT_GROUP_BYS && !is_value(by, weft_group_by_name[way]))
            way++;
        if (way == WEFT_GROUP_BYS || !explore_groups_make(e, i, way)) {
            explore_groups_make(e, i, WEFT_GROUP_NONE);
            sound = false;
        }
        struct weft_groups *g = e->pane[i].groups;
        if (!g)
            continue;
        sound = go_flags(g, CLOSED, p->bytes[CLOSED][i]) && sound;
        sound = go_flags(g, HIDDEN, p->bytes[HIDDEN][i]) && sound;
        sound = go_flags(g, PINNED, p->bytes[PINNED][i]) && sound;
        if (has_pinned(g))
            explore_groups_pinned(e, i);
    }
    return sound;
}

/* A finding that is not there yet is shown once it has been found. */
static bool go_findings(struct weft_explorer *e, const struct place *p)
{
    bool moves = true, finding = is_on(p, FINDING), diff = is_on(p, DIFF);
    for (unsigned i = 0; i < WEFT_PANES_MAX; i++)
        moves = moves && p->value[FROM][i] == ABSENT && p->value[TO][i] == ABSENT;
    e->wants_path = is_on(p, PATH);
    e->wants_diff = diff;
    e->diff_moves = moves && !finding;
    if (!diff && e->has_diff) {
        weft_diff_fini(&e->diff);
        e->has_diff = false;
    }
    e->wanted.is = false;
    if (diff && e->has_diff && e->diff_moves)
        explore_diff_go(e);
    if (!finding)
        return true;
    e->wanted = (struct explore_wanted){.is = true,
                                        .moves = moves,
                                        .pane = p->pane[FINDING],
                                        .number = (uint32_t)p->value[FINDING][0]};
    return explore_finding_come(e);
}

/* What the selection or the range is compared with. */
static bool go_kept(struct weft_explorer *e, const struct place *p)
{
    struct explore_kept k = {.is = p->with.size != 0, .pane = p->pane[WITH]};
    e->kept = (struct explore_kept){.is = false};
    if (!k.is)
        return true;
    if (!explore_where_read(&k.where, p->with.bytes, p->with.size) ||
        (k.where.of_promise ? weft_model_find(e->pane[k.pane].model, k.where.id) == WEFT_NONE
                            : k.where.from_ns == k.where.to_ns))
        return false;
    e->kept = k;
    return true;
}

static void go_flame(struct weft_explorer *e, const struct place *p)
{
    explore_flame_forget(e);
    e->flame.open = is_on(p, FLAME);
    e->flame.wanted = (struct explore_flame_of){.created = is_on(p, CREATED),
                                                .async = is_on(p, ASYNC),
                                                .off_cpu = is_on(p, AWAY),
                                                .why = is_on(p, WHY)};
    e->flame.wants_focus = (uint32_t)value_of(p, FRAME, 0, 0);
}

static bool go_table(struct weft_explorer *e, const struct place *p)
{
    char by[KEY_MAX], sort[KEY_MAX];
    bool sound = decode(by, sizeof by, p->table);
    sound = decode(sort, sizeof sort, p->sort) && sound;
    const struct explore_table_place t = {
        .by = p->table.size ? by : NULL,
        .sort = p->sort.size ? sort + (*sort == '-') : NULL,
        .ascending = *sort == '-',
        .kind = (uint32_t)value_of(p, KIND, 0, WEFT_NONE),
        .pinned = (uint32_t)value_of(p, PIN, 0, WEFT_NONE),
        .pane = p->pane[KIND],
        .pinned_pane = p->pane[PIN],
    };
    return explore_table_go(e, &t) && sound;
}

/* If a place names a step of the tour, but no times: the step's place, and after it the place itself; p is then of that. */
static const char *place_of_step(const struct weft_explorer *e, struct place *p, const char *place,
                                 char room[EXPLORE_PLACE_BYTES])
{
    const int64_t step = value_of(p, TOUR, 0, 0);
    bool named = step && weft_explorer_is_example(e, 0);
    for (unsigned i = 0; i < WEFT_PANES_MAX; i++)
        named = named && p->value[FROM][i] == ABSENT && p->value[TO][i] == ABSENT;
    if (!named || snprintf(room, EXPLORE_PLACE_BYTES, "%s&%s", weft_tour_steps[step - 1].place,
                           place) >= EXPLORE_PLACE_BYTES)
        return place;
    parse(p, e, room);
    return room;
}

bool weft_explorer_go(struct weft_explorer *e, const char *place)
{
    struct place p;
    char query[EXPLORE_QUERY_BYTES + 1], of_step[EXPLORE_PLACE_BYTES];
    bool sound = go_panes(e, place);
    parse(&p, e, place);
    place = place_of_step(e, &p, place, of_step);
    explore_tour_show(e, weft_explorer_is_example(e, 0) ? (unsigned)value_of(&p, TOUR, 0, 0) : 0);
    explore_history_leave(e);
    const bool decoded = decode(query, sizeof query, p.search);
    weft_explorer_search(e, query);
    const bool grouped = go_groups(e, &p);
    sound =
        parse(&p, e, place) && decoded && grouped && sound; /* again, for now the rows are known */
    sound = sound && (e->tour || !value_of(&p, TOUR, 0, 0));
    sound = go_window(e, &p) && sound;
    for (unsigned i = 0; i < e->panes; i++)
        sound = go_counters(&e->pane[i], p.bytes[OFF][i]) && sound;
    for (unsigned i = 0; i < e->panes; i++)
        sound = go_notes(e, i, p.bytes[NOTES][i]) && sound;
    if (e->panes && is_on(&p, RAW) && !e->pane[0].scene->l->raw)
        sound = false;
    explore_activate(e, 0);
    e->top = (int32_t)value_of(&p, TOP, 0, 0);
    explore_changed(e, WEFT_CHANGED_PANES);
    explore_finding_leave(e);
    explore_select(e, p.pane[SELECT], (uint32_t)value_of(&p, SELECT, 0, WEFT_NONE));
    bool ranged = p.value[RANGE][0] != ABSENT;
    e->range_pane = ranged ? p.pane[RANGE] : 0;
    e->range_from_ns = ranged ? p.value[RANGE][0] : 0;
    e->range_to_ns = ranged ? p.range_to : 0;
    sound = go_kept(e, &p) && sound;
    e->no_counters = is_on(&p, COUNTERS);
    e->no_strips = is_on(&p, SAMPLES);
    e->older = is_on(&p, OLDER);
    e->overview = value_of(&p, OVERVIEW, 0, e->usually_overview);
    e->no_legend = is_on(&p, LEGEND);
    e->hidden = (uint32_t)value_of(&p, HIDE, 0, 0);
    go_flame(e, &p);
    sound = go_table(e, &p) && sound;
    if (is_on(&p, TEXT_SIZE))
        weft_explorer_text_size(e, (unsigned)p.value[TEXT_SIZE][0]);
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
