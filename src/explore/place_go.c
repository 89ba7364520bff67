/* SPDX-License-Identifier: ISC */
/* Places are read, and gone to. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/count.h"
#include "explore/place.h"

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
    return weft_parse_signed(v.bytes, v.size, least, most, out);
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
    switch (explore_keys[f->key].kind) {
    case NUMBER:
        sound = number(v, explore_keys[f->key].least, explore_keys[f->key].most, &n) &&
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
        sound || explore_keys[f->key].kind == KINDS ? n
                                                    : ABSENT; /* of a list, what is known counts */
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
    f->sound = dot > 0 && dot < PLACE_KEY_MAX;
    if (dot < key &&
        !number((struct value){*at + dot + 1, key - dot - 1}, 2, WEFT_PANES_MAX, &pane))
        f->sound = false;
    while (f->key < KEYS && !is_value((struct value){*at, dot}, explore_keys[f->key].name))
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
    char name[PLACE_NAMES_MAX];
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
        *explore_group_flag(&g->group[i], key) = all;
    while (list.size && !all) {
        char name[WEFT_GROUP_NAME * 2];
        const char *comma = memchr(list.bytes, ',', list.size);
        const size_t size = comma ? (size_t)(comma - list.bytes) : list.size;
        const bool decoded = decode(name, sizeof name, (struct value){list.bytes, size});
        const uint32_t at = decoded ? weft_groups_find(g, name) : WEFT_NONE;
        if (at != WEFT_NONE)
            *explore_group_flag(&g->group[at], key) = true;
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
        if (has_pinned(e->pane[i].trace->groups)) /* the others have changed their order */
            explore_groups_make(e, i, WEFT_GROUP_NONE);
        while (by.size && way < WEFT_GROUP_BYS && !is_value(by, weft_group_by_name[way]))
            way++;
        if (way == WEFT_GROUP_BYS || !explore_groups_make(e, i, way)) {
            explore_groups_make(e, i, WEFT_GROUP_NONE);
            sound = false;
        }
        struct weft_groups *g = e->pane[i].trace->groups;
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
    char by[PLACE_KEY_MAX], sort[PLACE_KEY_MAX];
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
