/* SPDX-License-Identifier: ISC */
/* Adds up what the time of a path went to. */
#include "analyse/path.h"

#include <stdlib.h>

#include "base/order.h"
#include "base/array.h"

struct sorted {
    struct weft_share share;
    uint32_t type, name;
};

static int by_what(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    WEFT_ORDER(x->share.kind, y->share.kind);
    WEFT_ORDER(x->type, y->type);
    WEFT_ORDER(x->name, y->name);
    return weft_order(x->share.promise, y->share.promise);
}

static int by_length(const void *a, const void *b)
{
    const struct weft_share *x = a, *y = b;
    WEFT_ORDER(y->total_ns, x->total_ns);
    WEFT_ORDER(x->kind, y->kind);
    return weft_order(x->promise, y->promise);
}

static struct sorted sorted_step(const struct weft_step *s, const struct weft_model *m)
{
    uint32_t named = weft_step_is_behind(s->kind) ? s->behind : s->promise;
    struct sorted out = {
        .share = {.kind = s->kind, .promise = named, .total_ns = s->to_ns - s->from_ns, .steps = 1},
        .type = WEFT_NONE,
        .name = WEFT_NONE};
    if (weft_step_is_halt(s->kind)) /* whatever ran: all are one share */
        out.type = out.name = 0;
    else if (named != WEFT_NONE && named != WEFT_ROOT) {
        out.type = m->promise[named].type;
        out.name = weft_model_name(m, named);
    }
    return out;
}

struct weft_share *weft_path_shares(const struct weft_path *p, const struct weft_model *m,
                                    uint32_t *count)
{
    *count = 0;
    if (p->count == 0)
        return NULL;
    struct sorted *sorted = weft_resize(NULL, p->count, sizeof *sorted);
    struct weft_share *out = weft_resize(NULL, p->count, sizeof *out);
    if (!sorted || !out) {
        free(sorted);
        free(out);
        return NULL;
    }
    for (uint32_t i = 0; i < p->count; i++)
        sorted[i] = sorted_step(&p->step[i], m);
    qsort(sorted, p->count, sizeof *sorted, by_what);
    for (uint32_t i = 0; i < p->count; i++) {
        struct sorted *s = &sorted[i], *before = i ? &sorted[i - 1] : NULL;
        bool loop = s->type == WEFT_NONE; /* or nothing: by promise */
        if (!before || before->share.kind != s->share.kind || before->type != s->type ||
            before->name != s->name || (loop && before->share.promise != s->share.promise)) {
            out[(*count)++] = s->share;
            continue;
        }
        out[*count - 1].several |= s->share.promise != before->share.promise;
        out[*count - 1].total_ns += s->share.total_ns;
        out[*count - 1].steps++;
    }
    free(sorted);
    qsort(out, *count, sizeof *out, by_length);
    return out;
}
