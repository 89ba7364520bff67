/* SPDX-License-Identifier: ISC */
/* The labels of a promise are a chain through memory, and a promise may have a million of them, or as many changes of counters
 * before the next text. So those of promises with many are also stored side by side: what a picture needs of them is
 * found by halving. Chains that go back in time (those of damaged traces) are walked. */
#include "base/array.h"
#include "base/order.h"
#include "view/canvas.h"

enum {
    MANY = 16,           /* labels */
    STEPS = 8,           /* along a chain, before its list is looked for */
    NAME_NEAR = 12 * PX, /* a name this close to the start belongs to the start of the line */
};

/* ---- Making ---- */

static bool is_shown(const struct weft_model *m, const struct weft_label *l)
{
    return !l->is_change || m->quirks.changes_are_labels;
}

/* The lists, still empty. list: how many labels each promise has; on return its list, or WEFT_NONE. */
static int make_lists(struct view_chains *x, const struct weft_model *m, uint32_t *list)
{
    for (uint32_t i = 0; i < m->labels; i++)
        list[m->label[i].promise]++;
    for (uint32_t p = 0; p < m->promises; p++)
        x->count += list[p] > MANY;
    x->list = calloc((size_t)x->count + 1, sizeof *x->list);
    if (!x->list)
        return WEFT_E_NOMEM;
    for (uint32_t p = 0, at = 0; p < m->promises; p++) {
        const bool many = list[p] > MANY;
        if (many)
            x->list[at] = (struct view_chain){
                .promise = p, .last = WEFT_NONE, .name = WEFT_NONE, .in_order = true};
        list[p] = many ? at++ : WEFT_NONE;
    }
    return 0;
}

/* Notes a label, which comes after those noted before. */
static void add_label(struct view_chain *l, const struct weft_model *m, uint32_t label)
{
    const struct weft_label *x = &m->label[label];
    const uint32_t before = l->last;
    l->last = label;
    l->in_order = l->in_order && (before == WEFT_NONE ? m->promise[l->promise].first_label == label
                                                      : m->label[before].next == label &&
                                                            m->label[before].time_ns <= x->time_ns);
    l->name = l->name == WEFT_NONE && !x->is_change ? label : l->name;
    l->end += is_shown(m, x);
}

static int fill_lists(struct view_chains *x, const struct weft_model *m, const uint32_t *list)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < m->labels; i++)
        if (list[m->label[i].promise] != WEFT_NONE)
            add_label(&x->list[list[m->label[i].promise]], m, i);
    for (uint32_t k = 0; k < x->count; k++) {
        const uint32_t shown = x->list[k].in_order ? x->list[k].end : 0;
        x->list[k].first = x->list[k].end = all;
        all += shown;
    }
    x->label = malloc(((size_t)all + 1) * sizeof *x->label);
    if (!x->label)
        return WEFT_E_NOMEM;
    for (uint32_t i = 0; i < m->labels; i++) {
        const uint32_t at = list[m->label[i].promise];
        if (at != WEFT_NONE && x->list[at].in_order && is_shown(m, &m->label[i]))
            x->label[x->list[at].end++] = i;
    }
    return 0;
}

int view_chains_init(struct view_chains *x, const struct weft_model *m)
{
    uint32_t *list = calloc(m->promises, sizeof *list);
    int rc = list ? make_lists(x, m, list) : WEFT_E_NOMEM;
    if (rc == 0)
        rc = fill_lists(x, m, list);
    free(list);
    return rc;
}

/* ---- Questions ---- */

/* NULL: it is not there, or not in order. */
static const struct view_chain *list_of(const struct canvas *c, uint32_t promise)
{
    const struct view_chains *x = &c->x->chains;
    uint32_t low = 0, high = x->count;
    WEFT_SEEK(low, high, x->list[middle].promise < promise);
    return low < x->count && x->list[low].promise == promise && x->list[low].in_order
               ? &x->list[low]
               : NULL;
}

uint32_t view_next_label(const struct canvas *c, uint32_t label)
{
    const struct weft_model *m = c->m;
    for (int steps = 0; label != WEFT_NONE && !is_shown(m, &m->label[label]); steps++) {
        const struct view_chain *l = steps == STEPS ? list_of(c, m->label[label].promise) : NULL;
        if (l) {
            uint32_t low = l->first, high = l->end;
            WEFT_SEEK(low, high, c->x->chains.label[middle] < label);
            return low < l->end ? c->x->chains.label[low] : WEFT_NONE;
        }
        label = m->label[label].next;
    }
    return label;
}

uint32_t view_label_from(const struct canvas *c, uint32_t label, int32_t x)
{
    const struct weft_model *m = c->m;
    label = view_next_label(c, label);
    for (int steps = 0; label != WEFT_NONE && canvas_x(c, m->label[label].time_ns) < x; steps++) {
        if (steps == STEPS) {
            const struct view_chain *l = list_of(c, m->label[label].promise);
            if (!l)
                return label;
            uint32_t low = l->first, high = l->end;
            WEFT_SEEK(low, high, c->x->chains.label[middle] < label);
            high = l->end;
            WEFT_SEEK(low, high, canvas_x(c, m->label[c->x->chains.label[middle]].time_ns) < x);
            return low < l->end ? c->x->chains.label[low] : WEFT_NONE;
        }
        label = view_next_label(c, m->label[label].next);
    }
    return label;
}

/* The same for a list. */
static uint32_t at_start_of(const struct canvas *c, const struct view_chain *l, int32_t near)
{
    const struct weft_model *m = c->m;
    const uint32_t *label = c->x->chains.label;
    uint32_t low = l->first, high = l->end;
    if (l->name != WEFT_NONE && canvas_x(c, m->label[l->name].time_ns) <= near)
        return l->name;
    WEFT_SEEK(low, high, m->label[label[middle]].time_ns < c->from_ns);
    return label[low > l->first ? low - 1 : low];
}

uint32_t view_label_at_start(const struct canvas *c, uint32_t promise, int32_t x0)
{
    const struct weft_model *m = c->m;
    const int32_t near = x0 + NAME_NEAR;
    uint32_t l = view_next_label(c, m->promise[promise].first_label), chosen = l;
    for (int steps = 0; l != WEFT_NONE && canvas_x(c, m->label[l].time_ns) <= near; steps++) {
        const struct view_chain *list = steps == STEPS ? list_of(c, promise) : NULL;
        if (!m->label[l].is_change)
            return l;
        if (list)
            return at_start_of(c, list, near);
        if (m->label[l].time_ns < c->from_ns)
            chosen = l;
        l = m->label[l].next;
    }
    return chosen;
}

uint32_t view_name(const struct canvas *c, uint32_t promise)
{
    const struct weft_model *m = c->m;
    uint32_t label = m->promise[promise].first_label;
    for (int steps = 0; label != WEFT_NONE && m->label[label].is_change; steps++) {
        const struct view_chain *l = steps == STEPS ? list_of(c, promise) : NULL;
        label = l ? l->name : m->label[label].next;
    }
    return label == WEFT_NONE ? WEFT_NONE : m->label[label].what;
}
