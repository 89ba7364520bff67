/* SPDX-License-Identifier: ISC */
/* Places are written: what is seen, as a text. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/count.h"
#include "explore/place.h"

enum {
    LINK_NOTES_MAX = 1500, /* bytes for the notes of a pane */
    GROUPS_BYTES =
        WEFT_GROUPS_MAX * WEFT_GROUP_NAME * 3 / 2 + 1000, /* that names of groups may take */
};

const struct explore_key explore_keys[KEYS] = {
#define KEY(NAME, ...) {__VA_ARGS__},
    EACH_KEY
#undef KEY
};

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
    char text[PLACE_KEY_MAX + 64], number[16] = "";
    if (pane)
        snprintf(number, sizeof number, ".%u", pane + 1);
    int n =
        snprintf(text, sizeof text, "%s%s%s=", w->any ? "&" : "", explore_keys[key].name, number);
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
        put(w, key, 0, "%s", explore_keys[key].kind == ON_OFF ? "off" : "1");
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
    struct writer names = {w->out, w->size, w->size + PLACE_NAMES_MAX, w->any};
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

/* closed=GET,POST: the groups of which something is true; * for all of them. */
static void put_flags(struct writer *w, struct weft_groups *g, enum key key, unsigned pane)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < g->count; i++)
        set += *explore_group_flag(&g->group[i], key);
    if (set == 0)
        return;
    put(w, key, pane, "%s", set == g->count ? "*" : "");
    for (uint32_t i = 0, n = 0; set < g->count && i < g->count; i++) {
        if (!*explore_group_flag(&g->group[i], key))
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
        struct weft_groups *g = e->pane[i].trace->groups;
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
    for (unsigned i = 0; i < e->panes && w.size + PLACE_NAMES_MAX < w.room; i++)
        put_counters(&w, e, i);
    for (unsigned i = 0; i < e->panes && w.size + LINK_NOTES_MAX < w.room; i++)
        if (explore_pane_is_first(e, i))
            put_notes(&w, e, i);
    return e->place;
}
