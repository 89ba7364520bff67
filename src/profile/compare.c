/* SPDX-License-Identifier: ISC */
/* Compares two profiles. Each has its own numbers for texts, so rows are matched by the texts
 * themselves. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "model/strings.h"
#include "profile/calltree.h"
#include "base/table.h"

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* The number of a text of one profile in the common numbering. */
static uint32_t number_of(struct weft_strings *both, const struct weft_profile *p, uint32_t text)
{
    uint32_t size;
    const char *bytes = weft_strings_get(p->strings, text, &size);
    return weft_strings_add(both, bytes, size);
}

/* ---- Lists ---- */

/* By text and kind: rows of one list that have the same text (promises with the same label) become one. */
struct matched {
    uint32_t text, kind;
    struct weft_profile_delta delta;
};

struct compare {
    struct weft_strings *both;
    struct matched *row;
    uint32_t rows, room;
    struct weft_table rows_by;
    uint64_t seed;
};

static bool match_row(struct compare *c, const struct weft_profile *p,
                      const struct weft_profile_list *list, uint32_t row, bool after)
{
    const struct weft_profile_row *r = &list->row[row];
    struct matched new = {
        .text = number_of(c->both, p, r->frame.text),
        .kind = r->frame.kind,
        .delta = {.kind = r->frame.kind, .before_row = WEFT_NONE, .after_row = WEFT_NONE},
    };
    new.delta.text = weft_profile_text(p, r->frame.text);
    const uint32_t at = new.text == WEFT_NONE
                            ? WEFT_NONE
                            : weft_table_add(&c->rows_by, &c->row, &c->rows, &c->room, sizeof new,
                                             sizeof new.text + sizeof new.kind, &new, c->seed);
    if (at == WEFT_NONE)
        return false;
    struct weft_profile_delta *d = &c->row[at].delta;
    uint32_t *first = after ? &d->after_row : &d->before_row;
    *first = *first == WEFT_NONE ? row : *first;
    *(after ? &d->after_self : &d->before_self) += r->self;
    *(after ? &d->after_total : &d->before_total) += r->total;
    return true;
}

static double size_of(double change)
{
    return change < 0 ? -change : change;
}

static int by_change(const void *a, const void *b)
{
    const struct weft_profile_delta *x = a, *y = b;
    WEFT_ORDER(size_of(y->self_share), size_of(x->self_share));
    WEFT_ORDER(size_of(y->total_share), size_of(x->total_share));
    int order = strcmp(x->text, y->text);
    return order ? order : weft_order(x->after_row, y->after_row);
}

int weft_profile_compare(struct weft_profile_deltas **out, const struct weft_profile *before,
                         const struct weft_profile_list *before_list,
                         const struct weft_profile *after,
                         const struct weft_profile_list *after_list)
{
    struct compare c = {.both = weft_strings_new(), .seed = weft_seed()};
    struct weft_profile_deltas *d = calloc(1, sizeof *d);
    *out = NULL;
    bool done = c.both && d;
    for (uint32_t i = 0; done && i < before_list->rows; i++)
        done = match_row(&c, before, before_list, i, false);
    for (uint32_t i = 0; done && i < after_list->rows; i++)
        done = match_row(&c, after, after_list, i, true);
    if (done)
        done = (d->row = weft_resize(NULL, (uint64_t)c.rows + 1, sizeof *d->row)) != NULL;
    for (uint32_t i = 0; done && i < c.rows; i++) {
        struct weft_profile_delta *r = &d->row[d->rows++];
        *r = c.row[i].delta;
        r->self_share =
            share(r->after_self, after_list->total) - share(r->before_self, before_list->total);
        r->total_share =
            share(r->after_total, after_list->total) - share(r->before_total, before_list->total);
    }
    if (done && d->rows)
        qsort(d->row, d->rows, sizeof *d->row, by_change);
    if (done)
        *out = d;
    else
        weft_profile_deltas_free(d);
    weft_strings_free(c.both);
    weft_free_all(c.row, c.rows_by.slot);
    return done ? 0 : WEFT_E_NOMEM;
}

void weft_profile_deltas_free(struct weft_profile_deltas *d)
{
    if (d)
        weft_free_all(d->row, d);
}

/* ---- Trees ---- */

/* A call by the common number of its text, and the call that corresponds to its parent. */
struct place {
    uint32_t parent, text, kind;
    uint32_t call; /* the first one there */
};
#define PLACE_KEY offsetof(struct place, call)

/* root: it is the whole tree. */
static struct place place_of(struct weft_strings *both, const struct weft_profile *p,
                             const struct weft_call *c, uint32_t parent, bool root)
{
    return root ? (struct place){.parent = WEFT_NONE, .kind = WEFT_FRAME_STATE}
                : (struct place){.parent = parent,
                                 .text = number_of(both, p, c->frame.text),
                                 .kind = c->frame.kind};
}

int weft_calltree_compare(struct weft_call_before **out, const struct weft_profile *before,
                          const struct weft_calltree *before_tree, const struct weft_profile *after,
                          const struct weft_calltree *after_tree)
{
    uint64_t seed = weft_seed();
    struct weft_table by = {.room = 0};
    struct weft_strings *both = weft_strings_new();
    struct place *place = NULL;
    uint32_t places = 0, room = 0;
    uint32_t *same = weft_resize(NULL, after_tree->calls, sizeof *same); /* call of before */
    struct weft_call_before *result = calloc(after_tree->calls, sizeof *result);
    *out = NULL;
    bool done = both && same && result;
    for (uint32_t i = 0; done && i < before_tree->calls; i++) {
        const struct weft_call *c = &before_tree->call[i];
        struct place key = place_of(both, before, c, c->parent, i == 0);
        key.call = i;
        done = key.text != WEFT_NONE && weft_table_add(&by, &place, &places, &room, sizeof key,
                                                       PLACE_KEY, &key, seed) != UINT32_MAX;
    }
    for (uint32_t i = 0; done && i < after_tree->calls; i++) {
        const struct weft_call *c = &after_tree->call[i];
        const struct place key = place_of(both, after, c, i ? same[c->parent] : 0, i == 0);
        done = key.text != WEFT_NONE;
        uint32_t at = i && key.parent == WEFT_NONE
                          ? WEFT_NONE
                          : weft_table_get(&by, place, sizeof key, PLACE_KEY, &key, seed);
        same[i] = at == WEFT_NONE ? WEFT_NONE : place[at].call;
        if (same[i] != WEFT_NONE) {
            result[i].self = before_tree->call[same[i]].self;
            result[i].total = before_tree->call[same[i]].total;
        }
    }
    weft_strings_free(both);
    weft_free_all(place, same, by.slot);
    if (done)
        *out = result;
    else
        free(result);
    return done ? 0 : WEFT_E_NOMEM;
}
