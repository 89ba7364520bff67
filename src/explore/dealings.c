/* SPDX-License-Identifier: ISC */
#include <stdlib.h>

#include "analyse/spent.h"
#include "base/array.h"
#include "base/order.h"
#include "explore/fact.h"

struct finder {
    const struct weft_history *h;
    struct explore_dealings *d;
    uint32_t promise;
    uint32_t *end; /* interactions that ended a wait of or for it, ascending */
    uint32_t ends;
};

static void add_act(struct explore_acts *a, uint32_t interaction)
{
    if (a->kept < EXPLORE_ACTS_KEPT)
        a->interaction[a->kept++] = interaction;
    a->all++;
}

/* ---- Waits ---- */

static void look_at_waits(struct finder *f, struct explore_waits *w, const uint32_t *list,
                          const uint32_t *first)
{
    const struct weft_history *h = f->h;
    int64_t covered = INT64_MIN;
    w->wait = list + first[f->promise];
    w->count = first[f->promise + 1] - first[f->promise];
    for (uint32_t i = 0; i < w->count; i++) {
        const struct weft_wait *x = &h->wait[w->wait[i]];
        int64_t from = x->from_ns > covered ? x->from_ns : covered;
        w->open += x->end == WEFT_WAIT_OPEN;
        w->total_ns += x->until_ns > from ? x->until_ns - from : 0;
        covered = x->until_ns > covered ? x->until_ns : covered;
        if (x->ended_by != WEFT_NONE)
            f->end[f->ends++] = x->ended_by;
        int64_t there = weft_history_there_ns(h, x, NULL);
        if ((x->end != WEFT_WAIT_READ && x->end != WEFT_WAIT_RAN) || there >= x->until_ns)
            continue;
        int64_t late = x->until_ns - there;
        if (__builtin_add_overflow(w->late_ns, late, &w->late_ns))
            w->late_ns = INT64_MAX;
        if (late > w->latest_ns) {
            w->latest_ns = late;
            w->latest = w->wait[i];
        }
    }
}

/* Notifications that came while nobody was waiting. Both lists are in the order of recording. */
static void look_at_notifications(struct finder *f)
{
    const struct weft_history *h = f->h;
    const struct explore_waits *w = &f->d->others;
    const struct weft_wait *last = NULL; /* the wait that ends last, of those that have begun */
    uint32_t begun = 0;
    for (uint32_t i = h->notified_first[f->promise]; i < h->notified_first[f->promise + 1]; i++) {
        uint32_t x = h->notified[i];
        int64_t time = h->m->interaction[x].time_ns;
        add_act(&f->d->notified_by, x);
        for (; begun < w->count && h->wait[w->wait[begun]].begun_by < x; begun++) {
            const struct weft_wait *v = &h->wait[w->wait[begun]];
            if (!last || v->until_ns > last->until_ns ||
                (v->until_ns == last->until_ns && v->ended_by > last->ended_by))
                last = v;
        }
        if (last && (last->until_ns > time || (last->until_ns == time && last->ended_by > x)))
            continue;
        f->d->notified_in_vain++;
        f->d->in_vain_ns = time;
    }
}

/* ---- The rest ---- */

static void look_at(struct finder *f, uint32_t i)
{
    const struct weft_interaction *x = &f->h->m->interaction[i];
    struct explore_dealings *d = f->d;
    bool own = x->actor == f->promise, of_it = x->other == f->promise;
    switch ((enum weft_interaction_kind)x->kind) {
    case WEFT_READS:
        if (!bsearch(&i, f->end, f->ends, sizeof *f->end, weft_order_u32)) /* it ended no wait */
            add_act(own ? &d->used : &d->used_by, i);
        break;
    case WEFT_RESOLVES:
        if (of_it)
            d->resolution = i;
        else
            add_act(&d->resolved, i);
        break;
    case WEFT_SIGNALS:
        add_act(own ? &d->signalled : &d->signalled_by, i);
        break;
    case WEFT_NOTIFIES:
        if (own)
            add_act(&d->notified, i);
        break;
    case WEFT_RESOLVES_AGAIN:
        if (of_it)
            add_act(&d->again, i);
        break;
    case WEFT_WAITS:
    case WEFT_CANCELS_LATE:
        break;
    }
}

int explore_dealings_find(struct explore_dealings *out, const struct weft_history *h,
                          uint32_t promise, bool raw)
{
    struct finder f = {.h = h, .d = out, .promise = promise};
    struct weft_meter meter = {.h = h, .raw = raw};
    struct weft_spent spent;
    uint64_t waits = (uint64_t)h->waits_of_first[promise + 1] - h->waits_of_first[promise] +
                     h->waits_for_first[promise + 1] - h->waits_for_first[promise];
    *out = (struct explore_dealings){.resolution = WEFT_NONE};
    f.end = weft_resize(NULL, waits + 1, sizeof *f.end);
    int rc = f.end ? weft_spent_find(&spent, &meter, promise) : WEFT_E_NOMEM;
    weft_meter_fini(&meter);
    if (rc == 0) {
        look_at_waits(&f, &out->mine, h->waits_of, h->waits_of_first);
        look_at_waits(&f, &out->others, h->waits_for, h->waits_for_first);
        out->mine.total_ns = spent.waiting_ns;
        out->mine.blocked_ns = spent.blocked_ns;
        out->mine.late_ns = spent.ready_ns;
        out->running_ns = spent.running_ns;
        out->collecting_ns = spent.collecting_ns;
        look_at_notifications(&f);
        qsort(f.end, f.ends, sizeof *f.end, weft_order_u32);
        for (uint32_t i = 0; i < h->m->interactions; i++)
            if (h->m->interaction[i].actor == promise || h->m->interaction[i].other == promise)
                look_at(&f, i);
    }
    free(f.end);
    return rc;
}
