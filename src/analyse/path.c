/* SPDX-License-Identifier: ISC */
/* Walks backwards in time. At any moment the walk is at one promise, which matters in one way: it acted (resolved
 * something, began a wait), ran, or was waited for. A waiter is put on a stack together with the time its wait
 * began: before that time, what the waiter itself did counts, so the walk continues there with the waiter. Each
 * step goes back in time, or stays at a time and goes back among the events, or to a creator; where a damaged trace
 * defeats that, the number of steps is limited. The file is long because all moves share one state. */
#include "analyse/path.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

enum {
    MOVES_MAX = 8 * WEFT_PATH_MAX,
    LOOKS_MAX = 4000000, /* runs, waits and pauses in lists that are examined, in total */
    CHAIN_MAX = 64,      /* promises that became each other, followed step by step */
    LOOK_FURTHER = 64,   /* waits, beyond those that must be examined */
};

/* How the promise where the walk is at matters. */
enum mode {
    ACTS,    /* it did something at this time */
    RESTS,   /* it did not run at this time: what was there before? */
    RUNS,    /* in a run, up to this time */
    BEGINS,  /* a run begins at this time: why? */
    CREATED, /* it was created at this time, or later */
    OUTSIDE, /* what is waited for came from outside */
    SILENT,  /* the trace does not say */
};

struct frame { /* somebody waits */
    int64_t from_ns;
    uint32_t reader;
    uint32_t source; /* for this source */
    uint32_t before; /* only interactions below this one count */
};

struct walk {
    const struct weft_history *h;
    const struct weft_model *m;
    struct weft_path *out; /* the last step first */
    uint32_t room;
    struct frame *frame; /* sorted by from_ns */
    uint32_t frames, frame_room;
    int64_t now_ns, low_ns;
    enum mode mode;
    uint32_t promise, run;
    uint32_t awaited; /* what was last waited for on the way here */
    uint32_t before;
    uint32_t moves, looks;
    uint64_t mark[5]; /* positions of some moves ago */
    bool failed;
};

/* How the source of a wait came to be there. */
struct there {
    int64_t time_ns;
    uint32_t by;       /* interaction, or WEFT_NONE */
    bool is_signalled; /* it is a condition and was signalled; otherwise it was resolved */
};

static const struct frame *top(const struct walk *k)
{
    return &k->frame[k->frames - 1];
}

/* ---- Steps ---- */

/* Adds a step from that time, or the beginning of the innermost wait, until now. */
static void add_step(struct walk *k, enum weft_step_kind kind, int64_t from, uint32_t promise,
                     uint32_t behind)
{
    struct weft_path *out = k->out;
    from = weft_later(from, top(k)->from_ns);
    if (from >= k->now_ns || k->failed)
        return;
    struct weft_step *last = out->count ? &out->step[out->count - 1] : NULL;
    if (last && last->kind == kind && last->promise == promise && last->behind == behind) {
        last->from_ns = k->now_ns = from;
        return;
    }
    if (out->count == WEFT_PATH_MAX - 1) {
        out->cut = true;
        kind = WEFT_STEP_UNKNOWN;
        from = k->low_ns;
        behind = WEFT_NONE;
    }
    k->failed = !weft_reserve(&out->step, out->count, &k->room, sizeof *out->step);
    if (k->failed)
        return;
    out->step[out->count++] = (struct weft_step){from, k->now_ns, kind, promise, behind};
    k->now_ns = from;
}

/* The last in a list that begins before a time, and its end, if that is later than *end_ns. */
static const struct weft_collection *last_halt(const struct weft_collection *list, uint32_t first,
                                               uint32_t end, int64_t now_ns, int64_t *end_ns)
{
    uint32_t low = weft_history_collection_from(list, first, end, now_ns);
    if (low == first || list[low - 1].end_ns <= *end_ns)
        return NULL;
    *end_ns = weft_earlier(list[low - 1].end_ns, now_ns);
    return &list[low - 1];
}

/* The same on a stream; collections, and times in which others had the core, are own steps. */
static void add_busy(struct walk *k, enum weft_step_kind kind, uint32_t stream, int64_t from,
                     uint32_t promise, uint32_t behind)
{
    const struct weft_history *h = k->h;
    from = weft_later(from, top(k)->from_ns);
    while (k->now_ns > from && k->looks < LOOKS_MAX && !k->failed) {
        int64_t end = from;
        const struct weft_collection *halt =
            last_halt(h->collection, 0, h->collections, k->now_ns, &end);
        const struct weft_collection *preempted =
            h->preemption_first ? last_halt(h->preemption, h->preemption_first[stream],
                                            h->preemption_first[stream + 1], k->now_ns, &end)
                                : NULL;
        k->looks++;
        if (!halt && !preempted)
            break;
        add_step(k, kind, end, promise, behind);
        add_step(k, preempted ? WEFT_STEP_PREEMPTED : WEFT_STEP_COLLECTING,
                 weft_later((preempted ? preempted : halt)->start_ns, from), promise, WEFT_NONE);
    }
    add_step(k, kind, from, promise, behind);
}

/* ---- Runs and streams ---- */

/* The place of a number in an ascending list. */
static uint32_t place_of(const uint32_t *list, uint32_t first, uint32_t end, uint32_t number)
{
    WEFT_SEEK(first, end, list[middle] < number);
    return first;
}

/* The run of the same promise before that one, or WEFT_NONE. */
static uint32_t run_before_this(const struct weft_history *h, uint32_t run)
{
    uint32_t p = h->run_promise[run], first = h->runs_of_first[p];
    uint32_t at = place_of(h->runs_of, first, h->runs_of_first[p + 1], run);
    return at > first ? h->runs_of[at - 1] : WEFT_NONE;
}

/* The run in which something happened now; if runs have no length, one that began early enough. */
static uint32_t run_now(struct walk *k, uint32_t promise)
{
    const struct weft_history *h = k->h;
    uint32_t run = weft_history_run_at(h, promise, k->now_ns);
    while (run != WEFT_NONE && k->looks < LOOKS_MAX && h->run_cause[run] != WEFT_NONE &&
           h->run_cause[run] >= k->before && k->m->run[run].start_ns == k->now_ns) {
        k->looks++;
        run = run_before_this(h, run);
        if (run != WEFT_NONE && k->m->run[run].end_ns < k->now_ns)
            return WEFT_NONE;
    }
    return run;
}

/* What ran longest on a stream since then; WEFT_NONE: nothing ran for most of the time. */
static uint32_t busiest(struct walk *k, uint32_t stream, int64_t from, uint32_t except)
{
    const struct weft_history *h = k->h;
    uint32_t first = h->stream_first[stream], found = WEFT_NONE;
    uint32_t low = weft_history_stream_from(h, stream, k->now_ns);
    int64_t longest = 0, sum = 0;
    from = weft_later(from, top(k)->from_ns);
    for (; low > first && k->looks < LOOKS_MAX; k->looks++) {
        uint32_t run = h->stream_run[--low];
        const struct weft_run *r = &k->m->run[run];
        if (r->end_ns <= from)
            break;
        int64_t length = weft_earlier(r->end_ns, k->now_ns) - weft_later(r->start_ns, from);
        if (h->run_promise[run] == except ||
            (h->run_promise[run] == WEFT_ROOT && k->m->quirks.loop_is_sleep))
            continue;
        sum += length;
        if (length > longest) {
            longest = length;
            found = h->run_promise[run];
        }
    }
    return sum > (k->now_ns - from) / 2 ? found : WEFT_NONE;
}

static void add_ready(struct walk *k, uint32_t stream, int64_t from, uint32_t promise)
{
    if (from < k->now_ns)
        add_busy(k, WEFT_STEP_READY, stream, from, promise, busiest(k, stream, from, promise));
}

/* Adds what came from outside now, without the time in which the loop did not look. It is named
 * after what is waited for: whoever acts on it may do that for many, as a driver does. */
static void add_outside(struct walk *k, int64_t from, uint32_t promise)
{
    uint32_t reader = top(k)->reader == WEFT_ROOT ? promise : top(k)->reader;
    uint32_t loop = weft_history_loop_of(k->h, reader, k->now_ns);
    from = weft_later(from, top(k)->from_ns);
    int64_t since = weft_history_unseen_ns(k->h, loop, from, k->now_ns);
    if (since < k->now_ns)
        add_busy(k, WEFT_STEP_BLOCKED, loop, since, promise, busiest(k, loop, since, WEFT_NONE));
    add_step(k, WEFT_STEP_OUTSIDE, from, promise, WEFT_NONE);
}

/* Returns true if a loop slept for most of the time since then: nobody was ready. */
static bool slept(const struct walk *k, uint32_t stream, int64_t from)
{
    from = weft_later(from, top(k)->from_ns);
    return k->h->is_loop[stream] && from < k->now_ns &&
           weft_history_idle(k->h, stream, from, k->now_ns, 1, NULL) > (k->now_ns - from) / 2;
}

/* The stream to which a promise that does not run probably belongs. */
static uint32_t stream_of(const struct weft_history *h, uint32_t run)
{
    uint32_t stream = 0;
    if (run != WEFT_NONE)
        return weft_history_stream(h, run);
    while (stream + 1 < h->streams && !h->is_loop[stream])
        stream++;
    return stream;
}

/* If only promises that it called, directly or not, interrupted one: the last of their runs. */
static uint32_t calls_between(struct walk *k, uint32_t previous)
{
    enum { CALLS_MAX = 256 };
    const struct weft_run *all = k->m->run;
    uint32_t stream = weft_history_stream(k->h, k->run), first = k->h->stream_first[stream];
    uint32_t at = place_of(k->h->stream_run, first, k->h->stream_first[stream + 1], k->run);
    uint32_t last = at > first ? k->h->stream_run[at - 1] : WEFT_NONE;
    int64_t until = k->m->run[k->run].start_ns;
    for (uint32_t i = 0; i < CALLS_MAX && at > first && k->looks < LOOKS_MAX; i++, k->looks++) {
        uint32_t run = k->h->stream_run[--at];
        const struct weft_promise *p = &k->m->promise[k->h->run_promise[run]];
        bool resolved = p->outcome != WEFT_PENDING && p->end_ns == all[run].end_ns;
        /* a run of a promise that is resolved ends there, though nothing else begins to run */
        if (all[run].end_ns != until && !(resolved && all[run].end_ns < until))
            break;
        if (run == previous)
            return run == last ? WEFT_NONE : last;
        if (k->h->run_promise[run] == WEFT_ROOT)
            break;
        until = all[run].start_ns;
    }
    return WEFT_NONE;
}

/* ---- Waits ---- */

/* From then on reader waits for source. Does nothing if an outer wait did not begin earlier. */
static void push(struct walk *k, uint32_t reader, int64_t from, uint32_t source, uint32_t before)
{
    k->awaited = source;
    if (from <= top(k)->from_ns || from >= k->now_ns || k->frames == WEFT_PATH_MAX)
        return;
    k->failed |= !weft_reserve(&k->frame, k->frames, &k->frame_room, sizeof *k->frame);
    if (k->failed)
        return;
    k->frame[k->frames++] = (struct frame){from, reader, source, before};
}

/* Finds the resolution, the last signal, or the notification that let a wait continue (wait may be
 * WEFT_NONE), no later than now and before an interaction. */
static bool find_there(const struct walk *k, uint32_t source, uint32_t wait, uint32_t before,
                       struct there *out)
{
    const struct weft_history *h = k->h;
    uint32_t first = h->notified_first[source], end = h->notified_first[source + 1];
    uint32_t at = place_of(h->notified, first, end, before), by = h->resolution[source];
    int64_t result = weft_history_ended_ns(h, source);
    bool found = weft_history_resolved_ns(h, source) != INT64_MAX && result <= k->now_ns &&
                 (by == WEFT_NONE || by < before);
    if (found)
        *out = (struct there){.time_ns = result, .by = by};
    if (at == first)
        return found;
    uint32_t turn = wait == WEFT_NONE ? WEFT_NONE : h->wait[wait].notified_by;
    turn = turn < before ? turn : h->notified[at - 1];
    int64_t notified = k->m->interaction[turn].time_ns;
    if (notified <= k->now_ns && (!found || notified > result)) {
        *out = (struct there){notified, turn, true};
        found = true;
    }
    return found;
}

/* The wait of a promise that begins before now and was the last to be served by now. With at_ns,
 * only waits that ended because it ran at that time. Returns WEFT_NONE if there is none. */
static uint32_t last_served(struct walk *k, uint32_t promise, const int64_t *at_ns,
                            int64_t since_ns, struct there *out)
{
    const struct weft_history *h = k->h;
    uint32_t first = h->waits_of_first[promise], found = WEFT_NONE, further = 0;
    uint32_t low = weft_history_wait_from(h, promise, k->now_ns);
    while (low > first && k->looks < LOOKS_MAX && further < LOOK_FURTHER) {
        uint32_t i = h->waits_of[--low];
        const struct weft_wait *w = &h->wait[i];
        struct there t;
        k->looks++;
        further += w->from_ns < since_ns;
        if (at_ns && (w->end != WEFT_WAIT_RAN || w->until_ns != *at_ns))
            continue;
        if (!find_there(k, w->source, i, k->before, &t) || w->begun_by >= k->before)
            continue;
        t.time_ns = weft_later(t.time_ns, w->from_ns);
        if (found == WEFT_NONE || t.time_ns > out->time_ns) {
            *out = t;
            found = i;
        }
    }
    return found;
}

/* The wait for source that an interaction ended; if several waits of one reader for the same source
 * overlap, the first. WEFT_NONE: there is none. */
static uint32_t ended_wait(struct walk *k, uint32_t source, uint32_t cause)
{
    const struct weft_history *h = k->h;
    uint32_t final = weft_model_final(k->m, source), found = WEFT_NONE, further = 0;
    uint32_t first = h->waits_for_first[final], low = first, high = h->waits_for_first[final + 1];
    WEFT_SEEK(low, high,
              h->wait[h->waits_for[middle]].begun_by < cause); /* the first that begins later */
    while (low > first && k->looks < LOOKS_MAX && further < LOOK_FURTHER) {
        const struct weft_wait *w = &h->wait[h->waits_for[--low]];
        k->looks++;
        further += found != WEFT_NONE;
        if (found == WEFT_NONE
                ? w->ended_by == cause
                : w->reader == h->wait[found].reader && w->until_ns >= h->wait[found].from_ns)
            found = h->waits_for[low];
    }
    return found;
}

/* Among the waits that end by reading in the run that begins now, the last to be served, if that is
 * later than *there; otherwise the given wait. *there is set for the returned wait. */
static uint32_t last_read(struct walk *k, uint32_t wait, struct there *there)
{
    const struct weft_history *h = k->h;
    const struct weft_run *run = &k->m->run[k->run];
    uint32_t first = h->waits_of_first[k->promise], further = 0;
    uint32_t low = weft_history_wait_from(h, k->promise, run->start_ns);
    int64_t since = wait == WEFT_NONE ? run->start_ns : h->wait[wait].from_ns;
    while (low > first && k->looks < LOOKS_MAX && further < LOOK_FURTHER) {
        uint32_t i = h->waits_of[--low];
        const struct weft_wait *w = &h->wait[i];
        struct there t;
        k->looks++;
        further += w->from_ns < since;
        if (w->ended_by == WEFT_NONE || w->until_ns < run->start_ns || w->until_ns > run->end_ns ||
            !find_there(k, w->source, i, w->ended_by, &t) || t.time_ns <= there->time_ns)
            continue;
        *there = t;
        wait = i;
    }
    return wait;
}

/* The last of its open waits; none if it has run since then, and still runs. */
static uint32_t open_wait(struct walk *k, uint32_t promise)
{
    const struct weft_history *h = k->h;
    uint32_t first = h->waits_of_first[promise], i = h->waits_of_first[promise + 1];
    uint32_t run = weft_history_run_at(h, promise, k->now_ns);
    for (; i > first && k->looks < LOOKS_MAX; k->looks++) {
        const struct weft_wait *w = &h->wait[h->waits_of[--i]];
        if (run != WEFT_NONE && w->from_ns < k->m->run[run].start_ns)
            break;
        if (w->end == WEFT_WAIT_OPEN)
            return h->waits_of[i];
    }
    return WEFT_NONE;
}

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

static void walk_to(struct walk *k, enum mode mode, uint32_t promise)
{
    k->mode = mode;
    k->promise = promise;
}

/* Continues in that run; WEFT_NONE: with what the promise did before. */
static void go_run(struct walk *k, uint32_t run)
{
    if (run == WEFT_NONE) {
        walk_to(k, RESTS, k->promise);
        return;
    }
    walk_to(k, RUNS, k->h->run_promise[run]);
    k->run = run;
}

/* Continues with the promise that resolved or signalled source. */
static void go_there(struct walk *k, uint32_t source, const struct there *t)
{
    const struct weft_model *m = k->m;
    uint32_t p = source;
    for (uint32_t i = 0; !t->is_signalled && m->promise[p].becomes != WEFT_NONE; i++) {
        if (m->promise[p].end_ns >= k->now_ns) { /* it became one that already had its result */
            walk_to(k, ACTS, p);
            return;
        }
        push(k, p, m->promise[p].end_ns, p, k->before);
        p = i < CHAIN_MAX ? m->promise[p].becomes : weft_model_final(m, p);
    }
    k->awaited = p;
    if (t->by == WEFT_NONE) {
        walk_to(k, RESTS, p);
        return;
    }
    const uint32_t actor = m->interaction[t->by].actor;
    k->before = t->by;
    if (actor != WEFT_ROOT &&
        (analyse_count(k->h->runs_of_first, actor) || analyse_count(k->h->waits_of_first, actor)))
        walk_to(k, ACTS, actor);
    else
        walk_to(k, RESTS, p); /* what was it doing before it was resolved from outside? */
}

/* It did not run now. It was waiting, had waited, had run before, or was created. */
static void step_back_resting(struct walk *k)
{
    const struct weft_history *h = k->h;
    const struct weft_promise *p = &k->m->promise[k->promise];
    uint32_t x = k->promise, run = WEFT_NONE;
    struct there t = {0};
    if (k->now_ns > INT64_MIN)
        run = weft_history_run_before(h, x, k->now_ns - 1);
    if (run != WEFT_NONE && k->m->run[run].end_ns >= k->now_ns) {
        go_run(k, run);
        return;
    }
    int64_t ran = run == WEFT_NONE ? INT64_MIN : k->m->run[run].end_ns;
    uint32_t wait = last_served(k, x, NULL, ran, &t), stream = stream_of(h, run);
    if (wait != WEFT_NONE && t.time_ns >= ran) {
        const struct weft_wait *w = &h->wait[wait];
        if (slept(k, stream, t.time_ns))
            add_outside(k, t.time_ns, k->awaited);
        else
            add_ready(k, stream, t.time_ns, x);
        k->before = k->before < w->begun_by ? k->before : w->begun_by;
        if (t.time_ns > w->from_ns) {
            push(k, x, w->from_ns, w->source, w->begun_by);
            go_there(k, w->source, &t);
        } /* otherwise it was there before: the walk continues with x, earlier */
    } else if (run != WEFT_NONE) {
        add_outside(k, ran, k->awaited);
        go_run(k, run);
    } else {
        add_outside(k, p->start_ns, k->awaited);
        walk_to(k, CREATED, x);
    }
}

/* Since when the reader of a run needed source: since it began to wait for it, or created it. */
static int64_t needed_since(const struct walk *k, uint32_t wait, uint32_t source, uint32_t previous)
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
static int64_t kept_since(const struct walk *k, uint32_t wait, uint32_t source, uint32_t previous,
                          int64_t there_ns)
{
    const int64_t from = needed_since(k, wait, source, previous);
    const struct weft_run *r = previous == WEFT_NONE ? NULL : &k->m->run[previous];
    return r && from < r->start_ns && there_ns <= r->end_ns ? r->end_ns : from;
}

/* Returns true if a run handled something that was there before: it ran late, so this was, too. */
static bool notes_earlier(const struct walk *k, uint32_t run, int64_t there_ns)
{
    uint32_t cause = k->h->run_cause[run];
    return cause != WEFT_NONE && k->m->interaction[cause].kind == WEFT_READS &&
           there_ns <= k->m->run[run].start_ns &&
           weft_history_resolved_ns(k->h, k->m->interaction[cause].other) < there_ns;
}

/* A run that began because of source, which was there. */
static void walk_to_served(struct walk *k, uint32_t wait, uint32_t source, uint32_t previous,
                           const struct there *t)
{
    uint32_t x = k->promise;
    for (; previous != WEFT_NONE && k->looks < LOOKS_MAX &&
           needed_since(k, wait, source, previous) < k->m->run[previous].start_ns &&
           notes_earlier(k, previous, t->time_ns);
         k->looks++) { /* several came while it could not run: there is a run for each */
        const struct weft_run *r = &k->m->run[previous];
        uint32_t stream = weft_history_stream(k->h, previous);
        add_ready(k, stream, r->end_ns, x);
        add_busy(k, WEFT_STEP_RUNNING, stream, r->start_ns, x, WEFT_NONE);
        k->run = previous;
        previous = run_before_this(k->h, previous);
    }
    int64_t from = kept_since(k, wait, source, previous, t->time_ns);
    uint32_t before = wait != WEFT_NONE ? k->h->wait[wait].begun_by : k->before;
    add_ready(k, weft_history_stream(k->h, k->run), weft_later(t->time_ns, from), x);
    if (t->time_ns > from) {
        push(k, x, from, source, before);
        go_there(k, source, t);
    } else
        go_run(k, previous);
}

/* A run started by an event: its reader read something, or was signalled. */
static void begun_by(struct walk *k, uint32_t cause, uint32_t previous)
{
    const struct weft_history *h = k->h;
    const struct weft_interaction *x = &k->m->interaction[cause];
    uint32_t reader = k->promise, source = x->kind == WEFT_READS ? x->other : x->actor;
    uint32_t wait = ended_wait(k, source, cause), run = WEFT_NONE;
    struct there t;
    bool found = source != WEFT_ROOT && find_there(k, source, wait, cause, &t);
    if (found && x->kind == WEFT_READS)
        wait = last_read(k, wait, &t);
    source = wait == WEFT_NONE ? source : h->wait[wait].source;
    k->before = cause;
    if (source != WEFT_ROOT && source != reader &&
        (!found || (x->kind == WEFT_SIGNALS && !t.is_signalled)))
        run = run_now(k, source); /* it signalled itself */
    if (run != WEFT_NONE) {
        push(k, reader, kept_since(k, wait, source, previous, k->now_ns), source,
             wait != WEFT_NONE ? h->wait[wait].begun_by : cause);
        go_run(k, run);
    } else if (found)
        walk_to_served(k, wait, source, previous, &t);
    else {
        add_outside(k, kept_since(k, wait, source, previous, k->now_ns),
                    source == WEFT_ROOT ? reader : source);
        go_run(k, previous);
    }
}

/* Returns true if it acts for many, like a driver: it is older than the current wait. The event
 * loop let it continue, because of something outside; what it did before is unrelated. */
static bool is_driver(const struct walk *k, uint32_t promise)
{
    const struct weft_model *m = k->m;
    return weft_model_final(m, k->awaited) != weft_model_final(m, promise) &&
           m->promise[promise].start_ns < top(k)->from_ns &&
           m->promise[k->awaited].start_ns < k->now_ns;
}

/* A run of which no event says why it began. */
static void begun_by_nobody(struct walk *k, uint32_t previous)
{
    const struct weft_history *h = k->h;
    uint32_t x = k->promise, stream = weft_history_stream(h, k->run);
    int64_t start = k->m->run[k->run].start_ns;
    int64_t since = previous == WEFT_NONE ? INT64_MIN : k->m->run[previous].start_ns;
    struct there t = {.time_ns = INT64_MIN};
    uint32_t wait = last_served(k, x, &start, since, &t);
    wait = last_read(k, wait, &t);
    if (wait != WEFT_NONE) {
        walk_to_served(k, wait, h->wait[wait].source, previous, &t);
        return;
    }
    if (previous == WEFT_NONE) {
        int64_t created = k->m->promise[x].start_ns;
        if (!k->m->promise[x].created)
            add_step(k, WEFT_STEP_UNKNOWN, created, x, WEFT_NONE);
        else if (slept(k, stream, created))
            add_outside(k, created, k->awaited);
        else
            add_ready(k, stream, created, x);
        walk_to(k, CREATED, x);
        return;
    }
    uint32_t called = calls_between(k, previous);
    int64_t ran = k->m->run[previous].end_ns;
    if (called != WEFT_NONE) {
        push(k, x, ran, x, k->before);
        go_run(k, called);
    } else if (is_driver(k, x)) {
        walk_to(k, RESTS, k->awaited);
    } else {
        const int64_t slept_ns =
            weft_history_idle(h, stream, weft_later(ran, top(k)->from_ns), k->now_ns, 1, NULL);
        if (h->is_loop[stream] && slept_ns == 0) /* nothing can have come from outside */
            add_ready(k, stream, ran, x);
        else
            add_outside(k, ran, k->awaited);
        go_run(k, previous);
    }
}

static void step_back(struct walk *k)
{
    const struct weft_promise *p = &k->m->promise[k->promise];
    uint32_t cause, previous;
    if (k->promise == WEFT_ROOT && (k->mode == ACTS || k->mode == RESTS)) {
        walk_to(k, OUTSIDE, top(k)->source);
        return;
    }
    switch (k->mode) {
    case ACTS:
        go_run(k, run_now(k, k->promise));
        break;
    case RESTS:
        step_back_resting(k);
        break;
    case RUNS:
        add_busy(k, WEFT_STEP_RUNNING, weft_history_stream(k->h, k->run),
                 k->m->run[k->run].start_ns, k->promise, WEFT_NONE);
        k->mode = BEGINS;
        break;
    case BEGINS:
        cause = k->h->run_cause[k->run];
        previous = run_before_this(k->h, k->run);
        if (cause != WEFT_NONE && cause < k->before)
            begun_by(k, cause, previous);
        else
            begun_by_nobody(k, previous);
        break;
    case CREATED:
        walk_to(k,
                !p->created               ? SILENT
                : p->creator == WEFT_ROOT ? OUTSIDE
                                          : ACTS,
                p->created && p->creator != WEFT_ROOT ? p->creator : top(k)->source);
        break;
    case OUTSIDE:
        add_outside(k, top(k)->from_ns, k->promise);
        break;
    case SILENT:
        add_step(k, WEFT_STEP_UNKNOWN, top(k)->from_ns, k->promise, WEFT_NONE);
        break;
    }
}

/* Returns true if the walk is where it was before, without progress: if events have the same time,
 * or times run backwards, their order is not always clear. */
static bool has_not_moved(struct walk *k)
{
    const uint64_t at[] = {(uint64_t)k->now_ns, (uint64_t)k->mode << 32 | k->promise,
                           (uint64_t)k->run << 32 | k->before,
                           (uint64_t)k->frames << 32 | k->awaited, (uint64_t)top(k)->from_ns};
    k->moves++;
    if (memcmp(at, k->mark, sizeof at) == 0)
        return true;
    if ((k->moves & (k->moves - 1)) == 0) /* rarely, so that circles of any length are found */
        memcpy(k->mark, at, sizeof at);
    return false;
}

/* Walks back to the promise's creation. Where a wait began, it continues with the waiter. */
static void walk_back(struct walk *k)
{
    while (k->now_ns > k->low_ns && !k->failed) {
        if (k->moves > MOVES_MAX) {
            k->frames = 1;
            k->out->cut = true;
            add_step(k, WEFT_STEP_UNKNOWN, k->low_ns, top(k)->source, WEFT_NONE);
            break;
        }
        if (has_not_moved(k))
            walk_to(k, SILENT, top(k)->source);
        if (k->now_ns > top(k)->from_ns) {
            step_back(k);
            continue;
        }
        struct frame f = k->frame[--k->frames];
        k->before = f.before;
        k->awaited = top(k)->source;
        walk_to(k, ACTS, f.reader);
    }
}

/* ---- The whole ---- */

/* A pending promise: follows what is waited for now, up to a promise that does not wait. */
static void begin_pending(struct walk *k, uint32_t promise)
{
    uint32_t mark = WEFT_NONE, next_mark = 1;
    for (uint32_t hops = 0; hops < WEFT_PATH_MAX && !k->failed; hops++) {
        uint32_t final = weft_model_final(k->m, promise), wait = open_wait(k, final);
        if (final != promise)
            push(k, promise, k->m->promise[promise].end_ns, promise, k->before);
        if (final == mark) { /* a circle */
            walk_to(k, SILENT, final);
            return;
        }
        if (hops == next_mark) {
            mark = final;
            next_mark *= 2;
        }
        if (wait == WEFT_NONE) {
            walk_to(k, weft_history_run_at(k->h, final, k->now_ns) != WEFT_NONE ? ACTS : RESTS,
                    final);
            return;
        }
        const struct weft_wait *w = &k->h->wait[wait];
        struct there t;
        bool resolved = weft_history_resolved_ns(k->h, w->source) != INT64_MAX;
        if (resolved && find_there(k, w->source, wait, k->before, &t)) {
            k->promise = final;
            t.time_ns = weft_later(t.time_ns, w->from_ns);
            add_ready(k, stream_of(k->h, weft_history_run_before(k->h, final, k->now_ns)),
                      t.time_ns, final);
            if (t.time_ns > w->from_ns) {
                push(k, final, w->from_ns, w->source, w->begun_by);
                go_there(k, w->source, &t);
            } else
                walk_to(k, RESTS, final);
            return;
        }
        push(k, final, w->from_ns, w->source, w->begun_by);
        promise = w->source;
    }
    walk_to(k, SILENT, promise);
    k->out->cut = true;
}

/* end_ns: INT64_MAX if it is pending. */
static int find(struct weft_path *out, const struct weft_history *h, uint32_t promise,
                int64_t end_ns)
{
    const struct weft_model *m = h->m;
    struct walk k = {.h = h, .m = m, .out = out, .low_ns = m->promise[promise].start_ns};
    weft_path_fini(out);
    out->pending = end_ns == INT64_MAX;
    k.now_ns = out->pending ? m->end_ns : end_ns;
    if (promise == WEFT_ROOT || k.now_ns <= k.low_ns)
        return 0;
    if (!weft_reserve(&k.frame, k.frames, &k.frame_room, sizeof *k.frame))
        return WEFT_E_NOMEM;
    k.frame[k.frames++] = (struct frame){k.low_ns, WEFT_ROOT, promise, 0};
    k.before = m->interactions;
    k.awaited = promise;
    if (out->pending)
        begin_pending(&k, promise);
    else
        go_there(&k, promise, &(struct there){.time_ns = k.now_ns, .by = h->resolution[promise]});
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

int weft_path_find(struct weft_path *out, const struct weft_history *h, uint32_t promise)
{
    return find(out, h, promise, weft_history_ended_ns(h, promise));
}

int weft_path_find_own(struct weft_path *out, const struct weft_history *h, uint32_t promise)
{
    const struct weft_promise *p = &h->m->promise[promise];
    const int rc = find(out, h, promise, p->outcome == WEFT_PENDING ? INT64_MAX : p->end_ns);
    out->became = rc == 0 && p->becomes != WEFT_NONE;
    return rc;
}

void weft_path_fini(struct weft_path *p)
{
    free(p->step);
    *p = (struct weft_path){0};
}
