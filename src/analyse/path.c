/* SPDX-License-Identifier: ISC */
/* Walks backwards in time. At any moment the walk is at one promise, which matters in one way: it acted (resolved
 * something, began a wait), ran, or was waited for. A waiter is put on a stack together with the time its wait
 * began: before that time, what the waiter itself did counts, so the walk continues there with the waiter. Each
 * step goes back in time, or stays at a time and goes back among the events, or to a creator; where a damaged trace
 * defeats that, the number of steps is limited. */
#include "analyse/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum {
    MOVES_MAX = 8 * WEFT_PATH_MAX,
    CHAIN_MAX = 64, /* promises that became each other, followed step by step */
};

const char *weft_step_name(enum weft_step_kind kind)
{
    static const char *const names[] = {
#define X(KIND, name) [WEFT_STEP_##KIND] = name,
        WEFT_STEPS(X)
#undef X
    };
    return names[kind];
}

/* ---- Moves ---- */

static void walk_to(struct analyse_walk *k, enum analyse_walk_mode mode, uint32_t promise)
{
    k->mode = mode;
    k->promise = promise;
}

static void go_run(struct analyse_walk *k, uint32_t run)
{
    walk_to(k, ANALYSE_RUNS, k->h->run_promise[run]);
    k->run = run;
}

/* Continues with the promise that resolved or signalled source. */
static void go_there(struct analyse_walk *k, uint32_t source, const struct analyse_there *t)
{
    const struct weft_model *m = k->m;
    uint32_t p = source;
    for (uint32_t i = 0; !t->is_signalled && m->promise[p].becomes != WEFT_NONE; i++) {
        if (m->promise[p].end_ns >= k->now_ns) { /* it became one that already had its result */
            walk_to(k, ANALYSE_ACTS, p);
            return;
        }
        analyse_walk_push(k, p, m->promise[p].end_ns, p, k->before);
        p = i < CHAIN_MAX ? m->promise[p].becomes : weft_model_final(m, p);
    }
    k->awaited = p;
    if (t->by == WEFT_NONE) {
        walk_to(k, ANALYSE_RESTS, p);
        return;
    }
    uint32_t actor = m->interaction[t->by].actor;
    k->before = t->by;
    bool known =
        actor != WEFT_ROOT && (k->h->runs_of_first[actor] < k->h->runs_of_first[actor + 1] ||
                               k->h->waits_of_first[actor] < k->h->waits_of_first[actor + 1]);
    if (known)
        walk_to(k, ANALYSE_ACTS, actor);
    else
        walk_to(k, ANALYSE_RESTS, p); /* what was it doing before it was resolved from outside? */
}

/* It did something now: in a run, if the run is known. */
static void step_back_acting(struct analyse_walk *k)
{
    if (k->promise == WEFT_ROOT) {
        walk_to(k, ANALYSE_OUTSIDE, analyse_walk_top(k)->source);
        return;
    }
    uint32_t run = analyse_walk_run_now(k, k->promise);
    if (run != WEFT_NONE)
        go_run(k, run);
    else
        walk_to(k, ANALYSE_RESTS, k->promise);
}

/* It did not run now. It was waiting, had waited, had run before, or was created. */
static void step_back_resting(struct analyse_walk *k)
{
    const struct weft_history *h = k->h;
    const struct weft_promise *p = &k->m->promise[k->promise];
    uint32_t x = k->promise, run = WEFT_NONE;
    struct analyse_there t = {0};
    if (x == WEFT_ROOT) {
        walk_to(k, ANALYSE_OUTSIDE, analyse_walk_top(k)->source);
        return;
    }
    if (k->now_ns > INT64_MIN)
        run = weft_history_run_before(h, x, k->now_ns - 1);
    if (run != WEFT_NONE && k->m->run[run].end_ns >= k->now_ns) {
        go_run(k, run);
        return;
    }
    int64_t ran = run == WEFT_NONE ? INT64_MIN : k->m->run[run].end_ns;
    uint32_t wait = analyse_walk_last_served(k, x, NULL, ran, &t),
             stream = analyse_walk_stream(h, run);
    if (wait != WEFT_NONE && t.time_ns >= ran) {
        const struct weft_wait *w = &h->wait[wait];
        if (analyse_walk_slept(k, stream, t.time_ns))
            analyse_walk_outside(k, t.time_ns, k->awaited);
        else
            analyse_walk_ready(k, stream, t.time_ns, x);
        k->before = k->before < w->begun_by ? k->before : w->begun_by;
        if (t.time_ns > w->from_ns) {
            analyse_walk_push(k, x, w->from_ns, w->source, w->begun_by);
            go_there(k, w->source, &t);
        } /* otherwise it was there before: the walk continues with x, earlier */
    } else if (run != WEFT_NONE) {
        analyse_walk_outside(k, ran, k->awaited);
        go_run(k, run);
    } else {
        analyse_walk_outside(k, p->start_ns, k->awaited);
        walk_to(k, ANALYSE_CREATED, x);
    }
}

/* Since when the reader of a run needed source: since it began to wait for it, or created it. */
static int64_t needed_since(const struct analyse_walk *k, uint32_t wait, uint32_t source,
                            uint32_t previous)
{
    const struct weft_promise *p = &k->m->promise[source];
    if (wait != WEFT_NONE)
        return k->h->wait[wait].from_ns;
    if (previous == WEFT_NONE)
        return k->m->promise[k->promise].start_ns;
    const struct weft_run *r = &k->m->run[previous];
    bool began = p->created && p->creator == k->promise && p->start_ns < r->start_ns;
    return began ? p->start_ns : r->end_ns;
}

/* The time back to which that counts. Later runs do not matter: they handled something else, as
 * when several things are waited for at once, and source was not there yet. */
static int64_t kept_since(const struct analyse_walk *k, uint32_t wait, uint32_t source,
                          uint32_t previous, int64_t there_ns)
{
    int64_t from = needed_since(k, wait, source, previous);
    if (previous == WEFT_NONE)
        return from;
    const struct weft_run *r = &k->m->run[previous];
    return from < r->start_ns && there_ns <= r->end_ns ? r->end_ns : from;
}

/* The time before a run is explained: continues with the run before it. */
static void go_previous(struct analyse_walk *k, uint32_t previous)
{
    if (previous != WEFT_NONE)
        go_run(k, previous);
    else
        walk_to(k, ANALYSE_RESTS, k->promise);
}

/* Returns true if a run handled something else that was there before a time; its reader ran late,
 * and what it needed was there by then. */
static bool notes_earlier(const struct analyse_walk *k, uint32_t run, int64_t there_ns)
{
    uint32_t cause = k->h->run_cause[run];
    return cause != WEFT_NONE && k->m->interaction[cause].kind == WEFT_READS &&
           there_ns <= k->m->run[run].start_ns &&
           weft_history_resolved_ns(k->h, k->m->interaction[cause].other) < there_ns;
}

/* A run that began because of source, which was there. */
static void walk_to_served(struct analyse_walk *k, uint32_t wait, uint32_t source,
                           uint32_t previous, const struct analyse_there *t)
{
    uint32_t x = k->promise;
    for (; previous != WEFT_NONE && k->looks < ANALYSE_LOOKS_MAX &&
           needed_since(k, wait, source, previous) < k->m->run[previous].start_ns &&
           notes_earlier(k, previous, t->time_ns);
         k->looks++) { /* several came while it could not run: there is a run for each */
        const struct weft_run *r = &k->m->run[previous];
        uint32_t stream = weft_history_stream(k->h, previous);
        analyse_walk_ready(k, stream, r->end_ns, x);
        analyse_walk_busy(k, WEFT_STEP_RUNNING, stream, r->start_ns, x, WEFT_NONE);
        k->run = previous;
        previous = analyse_run_before_this(k->h, previous);
    }
    int64_t from = kept_since(k, wait, source, previous, t->time_ns);
    uint32_t before = wait != WEFT_NONE ? k->h->wait[wait].begun_by : k->before;
    analyse_walk_ready(k, weft_history_stream(k->h, k->run), analyse_later(t->time_ns, from), x);
    if (t->time_ns > from) {
        analyse_walk_push(k, x, from, source, before);
        go_there(k, source, t);
    } else
        go_previous(k, previous);
}

/* A run started by an event: its reader read something, or was signalled. */
static void begun_by(struct analyse_walk *k, uint32_t cause, uint32_t previous)
{
    const struct weft_history *h = k->h;
    const struct weft_interaction *x = &k->m->interaction[cause];
    uint32_t reader = k->promise, source = x->kind == WEFT_READS ? x->other : x->actor;
    uint32_t wait = analyse_walk_ended_wait(k, source, cause), run = WEFT_NONE;
    struct analyse_there t;
    bool found = source != WEFT_ROOT && analyse_walk_there(k, source, wait, cause, &t);
    if (found && x->kind == WEFT_READS)
        wait = analyse_walk_last_read(k, wait, &t);
    source = wait == WEFT_NONE ? source : h->wait[wait].source;
    k->before = cause;
    if (source != WEFT_ROOT && source != reader &&
        (!found || (x->kind == WEFT_SIGNALS && !t.is_signalled)))
        run = analyse_walk_run_now(k, source); /* it signalled itself */
    if (run != WEFT_NONE) {
        analyse_walk_push(k, reader, kept_since(k, wait, source, previous, k->now_ns), source,
                          wait != WEFT_NONE ? h->wait[wait].begun_by : cause);
        go_run(k, run);
    } else if (found)
        walk_to_served(k, wait, source, previous, &t);
    else {
        analyse_walk_outside(k, kept_since(k, wait, source, previous, k->now_ns),
                             source == WEFT_ROOT ? reader : source);
        go_previous(k, previous);
    }
}

/* Returns true if it acts for many, like a driver: it is older than the current wait. The event
 * loop let it continue, because of something outside; what it did before is unrelated. */
static bool is_driver(const struct analyse_walk *k, uint32_t promise)
{
    const struct weft_model *m = k->m;
    return weft_model_final(m, k->awaited) != weft_model_final(m, promise) &&
           m->promise[promise].start_ns < analyse_walk_top(k)->from_ns &&
           m->promise[k->awaited].start_ns < k->now_ns;
}

/* A run of which no event says why it began. */
static void begun_by_nobody(struct analyse_walk *k, uint32_t previous)
{
    const struct weft_history *h = k->h;
    uint32_t x = k->promise, stream = weft_history_stream(h, k->run);
    int64_t start = k->m->run[k->run].start_ns;
    int64_t since = previous == WEFT_NONE ? INT64_MIN : k->m->run[previous].start_ns;
    struct analyse_there t = {.time_ns = INT64_MIN};
    uint32_t wait = analyse_walk_last_served(k, x, &start, since, &t);
    wait = analyse_walk_last_read(k, wait, &t);
    if (wait != WEFT_NONE) {
        walk_to_served(k, wait, h->wait[wait].source, previous, &t);
        return;
    }
    if (previous == WEFT_NONE) {
        int64_t created = k->m->promise[x].start_ns;
        if (!k->m->promise[x].created)
            analyse_walk_step(k, WEFT_STEP_UNKNOWN, created, x, WEFT_NONE);
        else if (analyse_walk_slept(k, stream, created))
            analyse_walk_outside(k, created, k->awaited);
        else
            analyse_walk_ready(k, stream, created, x);
        walk_to(k, ANALYSE_CREATED, x);
        return;
    }
    uint32_t called = analyse_walk_calls_between(k, previous);
    int64_t ran = k->m->run[previous].end_ns;
    if (called != WEFT_NONE) {
        analyse_walk_push(k, x, ran, x, k->before);
        go_run(k, called);
    } else if (is_driver(k, x)) {
        walk_to(k, ANALYSE_RESTS, k->awaited);
    } else {
        if (analyse_walk_never_slept(k, stream, ran)) /* nothing can have come from outside */
            analyse_walk_ready(k, stream, ran, x);
        else
            analyse_walk_outside(k, ran, k->awaited);
        go_run(k, previous);
    }
}

static void step_back_to_cause(struct analyse_walk *k)
{
    uint32_t cause = k->h->run_cause[k->run], previous = analyse_run_before_this(k->h, k->run);
    if (cause != WEFT_NONE && cause < k->before)
        begun_by(k, cause, previous);
    else
        begun_by_nobody(k, previous);
}

static void step_back(struct analyse_walk *k)
{
    const struct weft_promise *p = &k->m->promise[k->promise];
    switch (k->mode) {
    case ANALYSE_ACTS:
        step_back_acting(k);
        break;
    case ANALYSE_RESTS:
        step_back_resting(k);
        break;
    case ANALYSE_RUNS:
        analyse_walk_busy(k, WEFT_STEP_RUNNING, weft_history_stream(k->h, k->run),
                          k->m->run[k->run].start_ns, k->promise, WEFT_NONE);
        k->mode = ANALYSE_BEGINS;
        break;
    case ANALYSE_BEGINS:
        step_back_to_cause(k);
        break;
    case ANALYSE_CREATED:
        walk_to(k,
                !p->created               ? ANALYSE_SILENT
                : p->creator == WEFT_ROOT ? ANALYSE_OUTSIDE
                                          : ANALYSE_ACTS,
                p->created && p->creator != WEFT_ROOT ? p->creator : analyse_walk_top(k)->source);
        break;
    case ANALYSE_OUTSIDE:
        analyse_walk_outside(k, analyse_walk_top(k)->from_ns, k->promise);
        break;
    case ANALYSE_SILENT:
        analyse_walk_step(k, WEFT_STEP_UNKNOWN, analyse_walk_top(k)->from_ns, k->promise,
                          WEFT_NONE);
        break;
    }
}

/* Returns true if the walk is where it was before, without progress: if events have the same time,
 * or times run backwards, their order is not always clear. */
static bool has_not_moved(struct analyse_walk *k)
{
    const uint64_t at[] = {(uint64_t)k->now_ns, (uint64_t)k->mode << 32 | k->promise,
                           (uint64_t)k->run << 32 | k->before,
                           (uint64_t)k->frames << 32 | k->awaited,
                           (uint64_t)analyse_walk_top(k)->from_ns};
    k->moves++;
    if (memcmp(at, k->mark, sizeof at) == 0)
        return true;
    if ((k->moves & (k->moves - 1)) == 0) /* rarely, so that circles of any length are found */
        memcpy(k->mark, at, sizeof at);
    return false;
}

/* Walks back to the promise's creation. Where a wait began, it continues with the waiter. */
static void walk_back(struct analyse_walk *k)
{
    while (k->now_ns > k->low_ns && !k->failed) {
        if (k->moves > MOVES_MAX) {
            k->frames = 1;
            k->out->cut = true;
            analyse_walk_step(k, WEFT_STEP_UNKNOWN, k->low_ns, analyse_walk_top(k)->source,
                              WEFT_NONE);
            break;
        }
        if (has_not_moved(k))
            walk_to(k, ANALYSE_SILENT, analyse_walk_top(k)->source);
        if (k->now_ns > analyse_walk_top(k)->from_ns) {
            step_back(k);
            continue;
        }
        struct analyse_frame f = k->frame[--k->frames];
        k->before = f.before;
        k->awaited = analyse_walk_top(k)->source;
        walk_to(k, ANALYSE_ACTS, f.reader);
    }
}

/* ---- The whole ---- */

/* A pending promise: follows what is waited for now, up to a promise that does not wait. */
static void begin_pending(struct analyse_walk *k, uint32_t promise)
{
    uint32_t mark = WEFT_NONE, next_mark = 1;
    for (uint32_t hops = 0; hops < WEFT_PATH_MAX && !k->failed; hops++) {
        uint32_t final = weft_model_final(k->m, promise), wait = analyse_walk_open_wait(k, final);
        if (final != promise)
            analyse_walk_push(k, promise, k->m->promise[promise].end_ns, promise, k->before);
        if (final == mark) { /* a circle */
            walk_to(k, ANALYSE_SILENT, final);
            return;
        }
        if (hops == next_mark) {
            mark = final;
            next_mark *= 2;
        }
        if (wait == WEFT_NONE) {
            walk_to(k,
                    weft_history_run_at(k->h, final, k->now_ns) != WEFT_NONE ? ANALYSE_ACTS
                                                                             : ANALYSE_RESTS,
                    final);
            return;
        }
        const struct weft_wait *w = &k->h->wait[wait];
        struct analyse_there t;
        bool resolved = weft_history_resolved_ns(k->h, w->source) != INT64_MAX;
        if (resolved && analyse_walk_there(k, w->source, wait, k->before, &t)) {
            k->promise = final;
            t.time_ns = analyse_later(t.time_ns, w->from_ns);
            analyse_walk_ready(
                k, analyse_walk_stream(k->h, weft_history_run_before(k->h, final, k->now_ns)),
                t.time_ns, final);
            if (t.time_ns > w->from_ns) {
                analyse_walk_push(k, final, w->from_ns, w->source, w->begun_by);
                go_there(k, w->source, &t);
            } else
                walk_to(k, ANALYSE_RESTS, final);
            return;
        }
        analyse_walk_push(k, final, w->from_ns, w->source, w->begun_by);
        promise = w->source;
    }
    walk_to(k, ANALYSE_SILENT, promise);
    k->out->cut = true;
}

int weft_path_find(struct weft_path *out, const struct weft_history *h, uint32_t promise)
{
    const struct weft_model *m = h->m;
    int64_t end = weft_history_ended_ns(h, promise);
    struct analyse_walk k = {.h = h, .m = m, .out = out, .low_ns = m->promise[promise].start_ns};
    weft_path_fini(out);
    out->pending = end == INT64_MAX;
    k.now_ns = out->pending ? m->end_ns : end;
    if (promise == WEFT_ROOT || k.now_ns <= k.low_ns)
        return 0;
    k.frame_room = 16;
    k.frame = weft_resize(NULL, k.frame_room, sizeof *k.frame);
    if (!k.frame)
        return WEFT_E_NOMEM;
    k.frame[k.frames++] = (struct analyse_frame){k.low_ns, WEFT_ROOT, promise, 0};
    k.before = m->interactions;
    k.awaited = promise;
    if (out->pending)
        begin_pending(&k, promise);
    else
        go_there(&k, promise,
                 &(struct analyse_there){.time_ns = k.now_ns, .by = h->resolution[promise]});
    walk_back(&k);
    free(k.frame);
    if (k.failed) {
        weft_path_fini(out);
        return WEFT_E_NOMEM;
    }
    for (uint32_t i = 0; i < out->count / 2; i++) {
        struct weft_step s = out->step[i];
        out->step[i] = out->step[out->count - 1 - i];
        out->step[out->count - 1 - i] = s;
    }
    return 0;
}

void weft_path_fini(struct weft_path *p)
{
    free(p->step);
    *p = (struct weft_path){0};
}
