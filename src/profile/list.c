/* SPDX-License-Identifier: ISC */
/* Samples as a list: a row for each function, line, or group. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "profile/gather.h"

struct key {
    uint32_t text, kind, kernel;
    uint32_t group; /* of groups; else 0 */
};

struct maker {
    struct profile_gather gather;
    struct weft_profile_list *list;
    struct key *key; /* parallel to the rows */
    uint32_t *seen;  /* parallel to the rows: the last item that it was counted in, plus 1 */
    /* parallel to the profile's frames, then its locations without frames: their rows, plus 1 */
    uint32_t *known;
    uint32_t keys, key_room, row_room, seen_room;
    uint32_t item; /* counts them */
    struct weft_table rows_by;
};

/* The row for frame; added if it is new. WEFT_NONE: no memory. */
static uint32_t row_of(struct maker *l, const struct weft_named_frame *frame, uint32_t group)
{
    struct weft_profile_list *list = l->list;
    bool kernel = frame->location != WEFT_NONE && l->gather.p->location[frame->location].kernel;
    const struct key key = {frame->text, frame->kind, kernel, group};
    if (frame->text == WEFT_NONE ||
        !weft_reserve(&list->row, list->rows, &l->row_room, sizeof *list->row) ||
        !weft_reserve(&l->seen, list->rows, &l->seen_room, sizeof *l->seen))
        return WEFT_NONE;
    const uint32_t at = weft_table_add(&l->rows_by, &l->key, &l->keys, &l->key_room, sizeof key,
                                       sizeof key, &key, l->gather.seed);
    if (at == list->rows) {
        list->row[list->rows++] = (struct weft_profile_row){.frame = *frame, .kernel = kernel};
        l->seen[at] = 0;
    } else if (at != WEFT_NONE) {
        profile_gather_merge(&l->gather, &list->row[at].frame, frame);
    }
    return at;
}

static bool take_group(void *data, const struct profile_item *item)
{
    struct maker *l = data;
    struct weft_named_frame group = profile_gather_group(&l->gather, item->group);
    uint32_t row = row_of(l, &group, item->group);
    if (row == WEFT_NONE)
        return false;
    struct weft_profile_row *r = &l->list->row[row];
    r->self += item->value;
    r->total += item->value;
    r->samples += item->samples;
    return true;
}

/* Counts an item in the total of a row, once. Returns the row; WEFT_NONE: no memory. known: the
 * row's index plus 1, if it was found before. */
static uint32_t count_in(struct maker *l, const struct profile_item *item,
                         const struct weft_named_frame *frame, uint32_t *known)
{
    uint32_t row = *known - 1;
    if (!*known) {
        struct weft_named_frame shown = profile_gather_shown(&l->gather, frame);
        row = row_of(l, &shown, 0);
        *known = row + 1;
    }
    if (row != WEFT_NONE && l->seen[row] != l->item) {
        l->seen[row] = l->item;
        l->list->row[row].total += item->value;
    }
    return row;
}

static bool take_stack(void *data, const struct profile_item *item)
{
    struct maker *l = data;
    uint32_t count, row = WEFT_NONE;
    const struct weft_named_frame *frame = weft_frames_of(
        l->gather.frames, item->stack, item->promise, item->thread, item->time_ns, &count);
    if (!frame)
        return false;
    l->item++;
    /* Innermost first: then index n of frames that are inlined into each other is known. */
    const struct weft_profile *p = l->gather.p;
    uint32_t last = WEFT_NONE, n = 0, unknown;
    for (uint32_t i = count; i-- > 0;) {
        uint32_t at = frame[i].location, *known = &unknown;
        unknown = 0;
        if (at != WEFT_NONE) {
            const struct weft_location *place = &p->location[at];
            n = at == last && n + 1 < place->frames ? n + 1 : 0;
            known = &l->known[place->frames ? place->first_frame + n : p->frames + at];
        }
        last = at;
        uint32_t found = count_in(l, item, &frame[i], known);
        if (found == WEFT_NONE)
            return false;
        row = row == WEFT_NONE ? found : row;
    }
    struct weft_named_frame state;
    if (profile_gather_state(&l->gather, item, &state)) {
        unknown = 0;
        row = count_in(l, item, &state, &unknown);
    }
    if (row == WEFT_NONE)
        return false;
    l->list->row[row].self += item->value;
    l->list->row[row].samples += item->samples;
    return true;
}

struct ordered {
    const char *text;
    struct weft_profile_row row;
    uint32_t place;
};

static int by_weight(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    WEFT_ORDER(y->row.self, x->row.self);
    WEFT_ORDER(y->row.total, x->row.total);
    int order = strcmp(x->text, y->text);
    return order ? order : weft_order(x->place, y->place);
}

static bool sort_rows(struct weft_profile_list *list, const struct weft_profile *p)
{
    struct ordered *order = weft_resize(NULL, (uint64_t)list->rows + 1, sizeof *order);
    if (!order)
        return false;
    for (uint32_t i = 0; i < list->rows; i++)
        order[i] = (struct ordered){weft_profile_text(p, list->row[i].frame.text), list->row[i], i};
    weft_sort(order, list->rows, sizeof *order, by_weight);
    for (uint32_t i = 0; i < list->rows; i++)
        list->row[i] = order[i].row;
    free(order);
    return true;
}

int weft_profile_list_make(struct weft_profile_list **out, struct weft_profile *p,
                           const struct weft_calltree_options *o)
{
    struct maker l = {.item = 0};
    bool groups = profile_is_group(o->by);
    int rc = 0;
    *out = NULL;
    l.list = calloc(1, sizeof *l.list);
    if (!l.list)
        rc = WEFT_E_NOMEM;
    if (!groups && !(l.known = calloc((size_t)p->frames + p->locations + 1, sizeof *l.known)))
        rc = WEFT_E_NOMEM;
    if (rc == 0)
        rc = profile_gather_run(&l.gather, p, o, !groups, groups ? take_group : take_stack, &l);
    if (rc == 0) {
        l.list->total = l.gather.total;
        l.list->samples = l.gather.samples;
        l.list->without_promise = l.gather.without_promise;
        memcpy(l.list->gap, l.gather.gap, sizeof l.list->gap);
        l.list->unit = l.gather.unit;
        rc = sort_rows(l.list, p) ? 0 : WEFT_E_NOMEM;
    }
    if (rc == 0)
        *out = l.list;
    else
        weft_profile_list_free(l.list);
    profile_gather_fini(&l.gather);
    weft_free_all(l.key, l.seen, l.known, l.rows_by.slot);
    return rc;
}

void weft_profile_list_free(struct weft_profile_list *l)
{
    if (l)
        weft_free_all(l->row, l);
}
