/* SPDX-License-Identifier: ISC */
#include "explore/waits.h"

#include <stdlib.h>

#include "model/alloc.h"
#include "model/idmap.h"

struct finder {
    const struct weft_model *m;
    struct weft__dealings *d;
    uint32_t promise, final;
    bool became;
    /* From what the other one has become to the open wait, in mine and others. */
    struct weft_idmap *mine, *others;
    bool failed;
};

static void keep(struct weft__acts *a, uint32_t interaction)
{
    if (a->kept < WEFT__ACTS_KEPT)
        a->interaction[a->kept++] = interaction;
    a->all++;
}

static void begin_wait(struct finder *f, struct weft__waits *w, struct weft_idmap *open,
                       uint32_t peer, int64_t time_ns)
{
    if (w->count == WEFT__WAITS_KEPT) {
        w->all++;
        return;
    }
    uint32_t *at = weft_idmap_at(open, weft_model_final(f->m, peer));
    if (!at)
        f->failed = true;
    if (!at || *at != WEFT_IDMAP_NONE) /* it waits already */
        return;
    w->all++;
    if (!weft__reserve(&w->wait, w->count, &w->room, sizeof *w->wait)) {
        f->failed = true;
        return;
    }
    *at = w->count;
    w->wait[w->count++] = (struct weft__wait){
        .peer = peer, .end = WEFT__WAIT_OPEN, .from_ns = time_ns, .until_ns = time_ns};
    w->open++;
}

/* Returns whether there was one. */
static bool end_wait(struct finder *f, struct weft__waits *w, struct weft_idmap *open,
                     uint32_t peer, int64_t time_ns, enum weft__wait_end how)
{
    uint32_t final = weft_model_final(f->m, peer), found = weft_idmap_get(open, final);
    if (found == WEFT_IDMAP_NONE)
        return false;
    *weft_idmap_at(open, final) = WEFT_IDMAP_NONE; /* it is there: nothing is allocated */
    struct weft__wait *wait = &w->wait[found];
    wait->end = how;
    wait->until_ns = time_ns > wait->from_ns ? time_ns : wait->from_ns;
    w->open--;
    return true;
}

/* The promise acts on another one. */
static void on_own(struct finder *f, uint32_t i)
{
    const struct weft_interaction *x = &f->m->interaction[i];
    struct weft__dealings *d = f->d;
    switch ((enum weft_interaction_kind)x->kind) {
    case WEFT_WAITS:
        begin_wait(f, &d->mine, f->mine, x->other, x->time_ns);
        break;
    case WEFT_READS:
        if (!end_wait(f, &d->mine, f->mine, x->other, x->time_ns, WEFT__WAIT_READ) &&
            d->mine.all == d->mine.count)
            keep(&d->used, i);
        break;
    case WEFT_RESOLVES:
        if (x->other != f->promise)
            keep(&d->resolved, i);
        break;
    case WEFT_SIGNALS:
        end_wait(f, &d->others, f->others, x->other, x->time_ns, WEFT__WAIT_SIGNALLED);
        keep(&d->signalled, i);
        break;
    case WEFT_NOTIFIES:
        keep(&d->notified, i);
        break;
    case WEFT_RESOLVES_AGAIN:
    case WEFT_CANCELS_LATE:
        break;
    }
}

/* Another one acts on the promise. */
static void on_others(struct finder *f, uint32_t i)
{
    const struct weft_interaction *x = &f->m->interaction[i];
    struct weft__dealings *d = f->d;
    switch ((enum weft_interaction_kind)x->kind) {
    case WEFT_WAITS:
        begin_wait(f, &d->others, f->others, x->actor, x->time_ns);
        break;
    case WEFT_READS:
        if (!end_wait(f, &d->others, f->others, x->actor, x->time_ns, WEFT__WAIT_READ) &&
            d->others.all == d->others.count)
            keep(&d->used_by, i);
        break;
    case WEFT_RESOLVES:
        d->resolution = i;
        break;
    case WEFT_SIGNALS:
        end_wait(f, &d->mine, f->mine, x->actor, x->time_ns, WEFT__WAIT_SIGNALLED);
        keep(&d->signalled_by, i);
        break;
    case WEFT_NOTIFIES:
        if (d->others.open == 0) {
            d->notified_in_vain++;
            d->in_vain_ns = x->time_ns;
        }
        keep(&d->notified_by, i);
        break;
    case WEFT_RESOLVES_AGAIN:
        keep(&d->again, i);
        break;
    case WEFT_CANCELS_LATE:
        break;
    }
}

/* After the promise became another one, events name that. */
static void on_successor(struct finder *f, const struct weft_interaction *x)
{
    struct weft__dealings *d = f->d;
    if (x->kind == WEFT_READS && weft_model_final(f->m, x->other) == f->final)
        end_wait(f, &d->others, f->others, x->actor, x->time_ns, WEFT__WAIT_READ);
    else if (x->kind == WEFT_SIGNALS && weft_model_final(f->m, x->actor) == f->final)
        end_wait(f, &d->others, f->others, x->other, x->time_ns, WEFT__WAIT_SIGNALLED);
}

/* When waits ended that neither a read nor a signal has ended. waiter, source: WEFT_NONE for the peer. */
static void end_rest(struct finder *f, struct weft__waits *w, uint32_t waiter, uint32_t source)
{
    const struct weft_model *m = f->m;
    for (uint32_t i = 0; i < w->count && w->open; i++) {
        struct weft__wait *wait = &w->wait[i];
        if (wait->end != WEFT__WAIT_OPEN)
            continue;
        const struct weft_promise *p = &m->promise[waiter == WEFT_NONE ? wait->peer : waiter];
        const struct weft_promise *q =
            &m->promise[weft_model_final(m, source == WEFT_NONE ? wait->peer : source)];
        wait->until_ns = m->end_ns;
        if (q->outcome != WEFT_PENDING && q->end_ns < wait->until_ns) {
            wait->end = WEFT__WAIT_UNUSED;
            wait->until_ns = q->end_ns;
        }
        if (p->outcome != WEFT_PENDING && p->end_ns <= wait->until_ns) {
            wait->end = WEFT__WAIT_ENDED;
            wait->until_ns = p->end_ns;
        }
        if (wait->until_ns < wait->from_ns)
            wait->until_ns = wait->from_ns;
        w->open -= wait->end != WEFT__WAIT_OPEN;
    }
}

static void add_up(struct finder *f, struct weft__waits *w, bool mine)
{
    int64_t covered = INT64_MIN;
    for (uint32_t i = 0; i < w->count; i++) {
        const struct weft__wait *wait = &w->wait[i];
        int64_t from = wait->from_ns > covered ? wait->from_ns : covered;
        if (wait->until_ns > from)
            w->total_ns += wait->until_ns - from;
        covered = wait->until_ns > covered ? wait->until_ns : covered;
        const struct weft_promise *q =
            &f->m->promise[weft_model_final(f->m, mine ? wait->peer : f->promise)];
        int64_t ready = q->end_ns > wait->from_ns ? q->end_ns : wait->from_ns;
        if (wait->end != WEFT__WAIT_READ || q->outcome == WEFT_PENDING || ready >= wait->until_ns)
            continue;
        int64_t late = wait->until_ns - ready;
        if (__builtin_add_overflow(w->late_ns, late, &w->late_ns))
            w->late_ns = INT64_MAX;
        if (late > w->latest_ns) {
            w->latest_ns = late;
            w->latest = i;
        }
    }
}

int weft__dealings_find(struct weft__dealings *out, const struct weft_model *m, uint32_t promise)
{
    struct finder f = {.m = m,
                       .d = out,
                       .promise = promise,
                       .final = weft_model_final(m, promise),
                       .mine = weft_idmap_new(),
                       .others = weft_idmap_new()};
    *out = (struct weft__dealings){.resolution = WEFT_NONE};
    f.became = f.final != promise;
    f.failed = !f.mine || !f.others;
    for (uint32_t i = 0; i < m->interactions && !f.failed; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        if (x->actor == promise)
            on_own(&f, i);
        if (x->other == promise &&
            (x->actor != promise || x->kind == WEFT_RESOLVES || x->kind == WEFT_RESOLVES_AGAIN))
            on_others(&f, i);
        else if (f.became && out->others.open && x->other != promise)
            on_successor(&f, x);
    }
    if (!f.failed) {
        end_rest(&f, &out->mine, promise, WEFT_NONE);
        end_rest(&f, &out->others, WEFT_NONE, promise);
        add_up(&f, &out->mine, true);
        add_up(&f, &out->others, false);
    }
    weft_idmap_free(f.mine);
    weft_idmap_free(f.others);
    return f.failed ? WEFT_E_NOMEM : 0;
}

void weft__dealings_fini(struct weft__dealings *d)
{
    free(d->mine.wait);
    free(d->others.wait);
    *d = (struct weft__dealings){0};
}
