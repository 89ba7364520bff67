/* SPDX-License-Identifier: ISC */
/* Finds single runs during which something else had to wait, and reports them: for each family one
 * finding. It is longer than other searches, since what follows a run says how bad it was. */
#include <stdlib.h>
#include <string.h>

#include "analyse/judge.h"
#include "analyse/loop.h"
#include "analyse/types.h"

enum {
    STEPS = 16,      /* along a chain of causes */
    ANCESTORS = 64,  /* how many are examined */
    NAMED = 8,       /* how many harmed promises are stored for a block */
    TOLD = 16,       /* families for which everything that waits is counted */
    USUAL_RUNS = 20, /* runs of a family; a single long one among this many may be an exception */
    A_FEW_RUNS = 4,  /* … for a short one */
};

/* A long run. */
struct block {
    int64_t from_ns, to_ns;
    int64_t free_ns; /* when its stream was idle again */
    /* without the time in which it was halted (weft_history_halted) */
    int64_t length_ns;
    uint32_t promise, stream, place; /* place: in stream_run */
    uint32_t family, rank;           /* rank: a first estimate of how bad it is */
    uint32_t harmed;                 /* promises that ran late because of it */
    /* waits of those, or otherwise of promises that waited in the meantime */
    uint32_t nameds, named[NAMED];
    /* waits for anything during the block; those of promises that are not background */
    uint32_t waiting, needing;
    /* a promise that is unrelated and ran as soon as the block was over, or WEFT_ROOT */
    uint32_t pushed;
    /* … or one that came from outside at that time, as if it had been due before, or WEFT_ROOT */
    uint32_t due;
    bool still;  /* it is still running when the trace ends */
    bool silent; /* … and there is no event after its beginning */
    bool alone;  /* nothing else ran on its stream before it */
    bool unsure; /* its end is not known: the trace does not say when nothing runs */
};

/* Blocks of one family. */
struct group {
    uint32_t family;
    uint32_t first, count; /* places in the list of blocks; the worst is the first */
    uint32_t harming;      /* how many harmed a promise */
    int64_t cost_ns;
};

/* How often the promises of a family ran, and for how long in all. */
struct usual {
    uint32_t runs;
    int64_t ns;
};

struct blocks {
    struct analyse_loops *l;
    struct analyse_search *s;
    const struct weft_history *h;
    const struct weft_model *m;
    struct block *block;           /* sorted by stream and start, until they are reported */
    uint32_t blocks, room, *first; /* by stream */
    uint32_t *cursor;              /* for each promise: the current position in its interactions */
    struct usual *usual;           /* by family */
    /* limits the search: a damaged trace could make it visit them again and again */
    uint64_t steps_left;
};

/* ---- Runs and what happens in them ---- */

/* The last wait of a promise that began no later than a time, or NULL. */
static const struct weft_wait *wait_before(const struct weft_history *h, uint32_t promise,
                                           int64_t time_ns)
{
    uint32_t place = weft_history_wait_from(h, promise, time_ns + 1);
    return place > h->waits_of_first[promise] ? &h->wait[h->waits_of[place - 1]] : NULL;
}

/* Returns true if a promise began to wait for something between two times. */
static bool has_waited(const struct weft_history *h, uint32_t promise, int64_t from_ns,
                       int64_t to_ns)
{
    const struct weft_wait *w = wait_before(h, promise, to_ns);
    return w && w->from_ns >= from_ns;
}

/* The last child of a promise that was created during a period; its start, or INT64_MIN. */
static int64_t last_child(const struct blocks *b, uint32_t promise, int64_t from_ns, int64_t to_ns)
{
    const uint32_t after = weft_history_child_from(b->h, promise, to_ns + 1);
    const int64_t start = after > b->h->children_first[promise]
                              ? b->m->promise[b->h->children[after - 1]].start_ns
                              : INT64_MIN;
    return start >= from_ns ? start : INT64_MIN;
}

/* When a stream is next idle, if that is before a limit. */
static int64_t next_idle(const struct weft_history *h, uint32_t stream, int64_t from_ns,
                         int64_t limit_ns)
{
    const uint32_t end = h->idle_first[stream + 1];
    for (uint32_t i = weft_history_idle_from(h, stream, from_ns);
         i < end && h->idle[i].start_ns < limit_ns; i++)
        if (h->idle[i].end_ns - h->idle[i].start_ns >= ANALYSE_NAP)
            return h->idle[i].start_ns;
    return limit_ns;
}

static void add_block(struct blocks *b, struct block x)
{
    x.length_ns = x.to_ns - x.from_ns - weft_history_halted(b->h, x.stream, x.from_ns, x.to_ns);
    if (x.length_ns < b->s->o->block_ns && !x.silent)
        return;
    x.free_ns = next_idle(b->h, x.stream, x.to_ns, x.to_ns + x.length_ns);
    analyse_append(b->s, &b->block, &b->blocks, &b->room, &x, sizeof x);
}

/* Returns true if all earlier runs ended with a wait or a resolution: one without goes on. */
static bool runs_end(const struct blocks *b, uint32_t stream)
{
    enum { LOOKED_AT = 20 };
    const struct weft_history *h = b->h;
    uint32_t first = h->stream_first[stream], last = h->stream_first[stream + 1] - 1;
    uint32_t i = last > LOOKED_AT + first ? last - LOOKED_AT : first + 1;
    for (; i < last; i++) {
        uint32_t p = h->run_promise[h->stream_run[i]];
        const struct weft_run *r = &b->m->run[h->stream_run[i]];
        bool ended =
            b->m->promise[p].outcome != WEFT_PENDING && b->m->promise[p].end_ns <= r->end_ns;
        if (!ended && !has_waited(h, p, r->start_ns, r->end_ns))
            return false;
    }
    return last > first + 1;
}

/* Adds the last piece of a run, on a stream that does not say when it sleeps. The piece ends where
 * the promise began to wait, or else with its last sign of life. If it waits again later, what it
 * waited for before came in between, and it ran from then on. */
static void add_unsaid(struct blocks *b, struct block x, int64_t sign_ns)
{
    const struct weft_history *h = b->h;
    const struct weft_promise *p = &b->m->promise[x.promise];
    uint32_t i = weft_history_wait_from(h, x.promise, x.from_ns),
             end = h->waits_of_first[x.promise + 1];
    int64_t stop = x.to_ns;
    bool still = x.still, waited = false, ended = p->outcome != WEFT_PENDING && p->end_ns == stop;
    for (; i < end && h->wait[h->waits_of[i]].from_ns <= stop && b->steps_left;
         i++, waited = true, b->steps_left--) {
        const struct weft_wait *w = &h->wait[h->waits_of[i]];
        bool last = i + 1 == end || h->wait[h->waits_of[i + 1]].from_ns > stop;
        int64_t there = weft_history_resolved_ns(h, w->source);
        x.to_ns = w->from_ns;
        x.still = false;
        if (there > (last ? stop : h->wait[h->waits_of[i + 1]].from_ns) || (last && !ended))
            continue; /* it waits for more, or is still waiting */
        add_block(b, x);
        x.from_ns = weft_later(there, w->from_ns);
    }
    if (!waited || ended) {
        x.to_ns = stop;
        x.still = still;
    }
    if (!waited && !ended) {
        sign_ns = weft_later(last_child(b, x.promise, x.from_ns, x.to_ns), sign_ns);
        if (!b->h->informed[x.stream] && sign_ns > x.from_ns &&
            sign_ns - x.from_ns >= b->s->o->block_ns) {
            x.to_ns = sign_ns;
            x.still = false;
        } else
            x.unsure = !b->h->informed[x.stream] && !x.silent && !(still && runs_end(b, x.stream));
    }
    add_block(b, x);
}

/* A run is divided where its promise was woken again: in between the loop had its turn. */
static void look_at_run(struct blocks *b, struct block x)
{
    const struct weft_model *m = b->m;
    int64_t end = x.to_ns, sign = INT64_MIN;
    uint32_t i = b->cursor[x.promise];
    bool still = x.still;
    if (i == WEFT_NONE || m->interaction[i].time_ns > x.from_ns)
        i = m->promise[x.promise].first_interaction;
    for (; i != WEFT_NONE && m->interaction[i].time_ns <= end && b->steps_left;
         i = m->interaction[i].next, b->steps_left--) {
        const struct weft_interaction *e = &m->interaction[i];
        b->cursor[x.promise] = i;
        if (e->time_ns > x.from_ns && e->kind == WEFT_READS) {
            const struct weft_wait *w = wait_before(b->h, x.promise, e->time_ns);
            x.to_ns = w && w->from_ns >= x.from_ns ? w->from_ns
                      : b->h->informed[x.stream]   ? e->time_ns
                      : sign > x.from_ns           ? sign
                                                   : x.from_ns;
            x.still = false;
            add_block(b, x);
            x.from_ns = e->time_ns;
            sign = INT64_MIN;
        } else if (e->time_ns > x.from_ns)
            sign = e->time_ns;
    }
    x.to_ns = end;
    x.still = still;
    if (b->h->suspends[x.stream])
        add_block(b, x);
    else
        add_unsaid(b, x, sign);
}

/* Returns true if the promise was running when the program was killed, and one of the very last
 * events had started it: then nobody knows how long it ran. It is worth reporting if the loop was
 * idle for nearly all of the time before. */
static bool ran_silently(const struct blocks *b, uint32_t stream, uint32_t promise, int64_t from_ns)
{
    const struct weft_model *m = b->m;
    const struct weft_history *h = b->h;
    int64_t last = m->interactions ? m->interaction[m->interactions - 1].time_ns : 0;
    if (m->quirks.anonymous || m->losses.ended != WEFT_ENDED_KILLED ||
        m->end_ns - from_ns >= b->s->o->block_ns ||
        m->end_ns - weft_later(last, from_ns) >= ANALYSE_MS / 10) /* … says when it ended */
        return false;
    if (!b->h->informed[stream])
        return !has_waited(h, promise, from_ns, m->end_ns) && runs_end(b, stream);
    int64_t begin = m->run[h->stream_run[h->stream_first[stream]]].start_ns;
    return weft_history_idle(h, stream, begin, from_ns, 0, NULL) > (from_ns - begin) / 10 * 9;
}

/* Returns true if a run consists of many short ones in a row, and the loop may have slept. */
static bool is_many(const struct blocks *b, uint32_t stream, uint32_t run)
{
    const struct weft_model *m = b->m;
    uint32_t low = 0, high = m->agains;
    WEFT_SEEK(low, high, m->again[middle].run < run);
    return !b->h->informed[stream] && low < m->agains && m->again[low].run == run &&
           (m->run[run].end_ns - m->run[run].start_ns) / m->again[low].times < b->s->o->block_ns;
}

static void find_blocks_of_stream(struct blocks *b, uint32_t stream)
{
    const struct weft_history *h = b->h;
    uint32_t first = h->stream_first[stream], end = h->stream_first[stream + 1];
    int64_t started = analyse_count(h->idle_first, stream) > 0
                          ? h->idle[h->idle_first[stream]].start_ns
                          : INT64_MAX;
    uint32_t others = WEFT_NONE; /* what else has run */
    bool only = true;
    for (uint32_t i = first; i < end && !b->s->failed; i++) {
        uint32_t run = h->stream_run[i], p = h->run_promise[run];
        const struct weft_run *r = &b->m->run[run];
        struct block x = {
            .from_ns = r->start_ns, .to_ns = r->end_ns, .promise = p, .stream = stream, .place = i};
        x.alone = others == WEFT_NONE || (others == p && only);
        if (p != WEFT_ROOT) {
            only &= others == WEFT_NONE || others == p;
            others = p;
        }
        bool is_over = i + 1 == end && p == WEFT_ROOT;
        bool starts_up = r->start_ns <= started && (p == WEFT_ROOT || i == first);
        if (starts_up || is_over || (p == WEFT_ROOT && !b->h->suspends[stream]))
            continue;
        x.still = i + 1 == end && r->end_ns >= b->m->end_ns && p != WEFT_ROOT;
        x.silent = x.still && ran_silently(b, stream, p, r->start_ns);
        const bool is_long =
            r->end_ns - r->start_ns >= b->s->o->block_ns && !is_many(b, stream, run);
        if ((x.silent || is_long) && !(analyse_type(b->m, p) & ANALYSE_THREAD))
            look_at_run(b, x);
    }
}

/* ---- Who was harmed ---- */

/* Returns true if what was resolved after a block is the result of the block's own work, directly
 * or indirectly: then the block did not delay whoever waited for it. */
static bool was_its_work(const struct blocks *b, const struct block *x, uint32_t source)
{
    const struct weft_model *m = b->m;
    uint32_t by = b->h->resolution[weft_model_final(m, source)];
    if (weft_model_final(m, source) == weft_model_final(m, x->promise))
        return true;
    for (unsigned step = 0; step < STEPS && by != WEFT_NONE; step++) {
        const struct weft_interaction *e = &m->interaction[by];
        uint32_t p = e->actor;
        if (e->time_ns < x->from_ns)
            return false;
        if (p == x->promise)
            return true;
        uint32_t run = p == WEFT_ROOT ? WEFT_NONE : weft_history_run_at(b->h, p, e->time_ns);
        if (run == WEFT_NONE || m->run[run].start_ns < x->from_ns)
            return p == WEFT_ROOT && e->other != WEFT_ROOT &&
                   m->promise[e->other].creator == x->promise;
        uint32_t cause = b->h->run_cause[run];
        if (cause == WEFT_NONE)
            return m->promise[p].creator == x->promise;
        const struct weft_interaction *c = &m->interaction[cause];
        if (c->kind == WEFT_SIGNALS)
            return c->actor == x->promise;
        if (weft_model_final(m, (uint32_t)c->other) == weft_model_final(m, x->promise))
            return true;
        by = b->h->resolution[c->other];
    }
    return false;
}

/* Counts each promise once, as far as the stored ones allow to tell. */
static void name_victim(const struct blocks *b, struct block *x, const struct weft_wait *w,
                        uint32_t *count)
{
    for (uint32_t i = 0; i < x->nameds; i++)
        if (b->h->wait[x->named[i]].reader == w->reader)
            return;
    ++*count;
    if (x->nameds < NAMED)
        x->named[x->nameds++] = (uint32_t)(w - b->h->wait);
}

/* The last block of a stream that began before a time. */
static struct block *block_before(const struct blocks *b, uint32_t stream, int64_t time_ns)
{
    uint32_t first = b->first[stream], low = first, high = b->first[stream + 1];
    WEFT_SEEK(low, high, b->block[middle].from_ns < time_ns);
    return low > first ? &b->block[low - 1] : NULL;
}

/* Returns true if a wait that was open during a block may have been for the block's own work. */
static bool may_need_block(const struct blocks *b, const struct block *x, const struct weft_wait *w)
{
    uint32_t source = weft_model_final(b->m, w->source), self = weft_model_final(b->m, x->promise);
    for (unsigned i = 0; i < STEPS && source != self; i++) {
        const struct weft_wait *next = wait_before(b->h, source, x->from_ns);
        if (!next || next->until_ns < x->to_ns)
            return false;
        source = weft_model_final(b->m, next->source);
    }
    return true;
}

/* Finds what was ready during the block and ran only afterwards; and what this stream resolved
 * right after the block though it had been waited for all the time: a due timer, a socket. */
static void find_harm_of_wait(struct blocks *b, const struct weft_wait *w)
{
    if (!analyse_is_served(w) || w->reader == WEFT_ROOT ||
        (b->m->promise[w->reader].background && b->m->promise[w->source].background))
        return;
    uint32_t run = weft_history_run_at(b->h, w->reader, w->until_ns);
    if (run == WEFT_NONE)
        return;
    uint32_t stream = weft_history_stream(b->h, run);
    struct block *x = block_before(b, stream, w->until_ns);
    int64_t ready = analyse_surely_there_ns(b->h, w), least = b->s->o->block_ns / 4;
    if (!x || ready == INT64_MAX || x->promise == w->reader || may_need_block(b, x, w))
        return;
    if (x->to_ns - weft_later(ready, x->from_ns) >= least) {
        if (w->until_ns >= x->to_ns)
            name_victim(b, x, w, &x->harmed);
        return;
    }
    int64_t soon = b->h->informed[stream] ? x->length_ns : ANALYSE_MS;
    if (w->from_ns <= x->from_ns && ready >= x->to_ns && ready - x->to_ns <= soon &&
        ready <= x->free_ns && !was_its_work(b, x, w->source))
        name_victim(b, x, w, &x->harmed);
}

/* Returns true if y ran just before a block, without the loop in between: then y started it. */
static bool began_it(const struct blocks *b, const struct block *x, uint32_t y)
{
    enum { LOOKED_AT = 8 };
    uint32_t i = x->place, first = b->h->stream_first[x->stream];
    for (uint32_t n = 0; i > first && n < LOOKED_AT; n++) {
        uint32_t p = b->h->run_promise[b->h->stream_run[--i]];
        if (p == y || p == WEFT_ROOT)
            return p == y;
    }
    return false;
}

/* Returns true if a run after a block is unrelated: nothing known began it, or something older. */
static bool is_stranger(const struct blocks *b, const struct block *x, uint32_t run)
{
    const struct weft_history *h = b->h;
    uint32_t y = h->run_promise[run], cause = h->run_cause[run];
    if (y == WEFT_ROOT || y == x->promise || b->m->promise[y].background ||
        b->m->promise[y].start_ns >= x->from_ns ||
        analyse_is_of(b->m, b->m->promise[x->promise].creator, y, ANCESTORS) || began_it(b, x, y))
        return false;
    if (cause != WEFT_NONE) {
        const struct weft_interaction *c = &b->m->interaction[cause];
        int64_t there = weft_history_resolved_ns(h, (uint32_t)c->other);
        return c->kind == WEFT_READS && b->m->promise[c->other].start_ns < x->from_ns &&
               there >= x->from_ns && there <= c->time_ns &&
               !was_its_work(b, x, (uint32_t)c->other);
    }
    uint32_t before = weft_history_run_before(h, y, x->from_ns);
    return before != WEFT_NONE &&
           before != h->runs_of[h->runs_of_first[y]]; /* not its second run */
}

static void look_behind(const struct blocks *b, struct block *x)
{
    enum { LOOKED_AT = 8 };
    uint32_t end = b->h->stream_first[x->stream + 1];
    for (uint32_t i = x->place + 1, n = 0; i < end && n < LOOKED_AT; i++, n++) {
        uint32_t run = b->h->stream_run[i];
        int64_t start = b->m->run[run].start_ns;
        if (weft_history_idle(b->h, x->stream, x->to_ns, start, ANALYSE_NAP, NULL) > 0 ||
            start - x->to_ns > x->length_ns)
            return;
        if (is_stranger(b, x, run)) {
            x->pushed = b->h->run_promise[run];
            return;
        }
    }
}

/* For the worst blocks of some families, counts the promises that waited for anything meanwhile. */
static void count_waiting(const struct blocks *b, const struct group *group, uint32_t groups)
{
    const struct weft_history *h = b->h;
    /* If so, a promise that has never run waits for that loop. */
    const bool one_loop = analyse_only_loop(h) != WEFT_NONE;
    for (uint32_t i = 0; i < h->waits && groups; i++) {
        const struct weft_wait *w = &h->wait[i];
        for (uint32_t g = 0; g < groups; g++) {
            struct block *x = &b->block[group[g].first];
            if (w->from_ns > x->from_ns || w->until_ns < x->to_ns || w->reader == WEFT_ROOT ||
                w->reader == x->promise || b->m->promise[w->source].background ||
                may_need_block(b, x, w))
                continue;
            uint32_t run = weft_history_run_before(h, w->reader, x->from_ns);
            if (run == WEFT_NONE ? !one_loop : weft_history_stream(h, run) != x->stream)
                continue;
            x->needing += !b->m->promise[w->reader].background;
            if (x->harmed)
                x->waiting++;
            else
                name_victim(b, x, w, &x->waiting);
        }
    }
}

/* ---- What came from outside ---- */

/* Returns true if the loop has been idle since something else last ran; looks back only a bit. */
static bool is_after_idle(const struct blocks *b, uint32_t stream, int64_t time_ns)
{
    const struct weft_history *h = b->h;
    uint32_t place = weft_history_stream_from(h, stream, time_ns), first = h->stream_first[stream];
    uint32_t low = h->idle_first[stream], none = low, high = h->idle_first[stream + 1], n;
    for (n = 0; place > first && n < STEPS; n++, place--)
        if (h->run_promise[h->stream_run[place - 1]] != WEFT_ROOT)
            break;
    if (place == first)
        return false;
    int64_t since = b->m->run[h->stream_run[place - 1]].end_ns;
    WEFT_SEEK(low, high, h->idle[middle].start_ns < time_ns); /* the first that begins later */
    for (n = 0; low > none && n < STEPS && h->idle[low - 1].end_ns > since; n++, low--) {
        const struct weft_idle *x = &h->idle[low - 1];
        if (analyse_overlap(x->start_ns, x->end_ns, since, time_ns) >= ANALYSE_NAP)
            return true;
    }
    return false;
}

/* The block after which the loop has not been idle, or NULL. */
static struct block *follows(const struct blocks *b, uint32_t stream, int64_t time_ns)
{
    struct block *x = block_before(b, stream, time_ns);
    return x && x->to_ns <= time_ns && time_ns <= x->free_ns ? x : NULL;
}

/* Piece n of the news that the loop brought about a promise: its creation, its end. false: none. */
static bool get_news(const struct blocks *b, uint32_t p, unsigned nth, int64_t *time_ns)
{
    const struct weft_promise *x = &b->m->promise[p];
    *time_ns = nth ? x->end_ns : x->start_ns;
    return nth ? analyse_resolver(b->h, p) == WEFT_ROOT && x->becomes == WEFT_NONE
               : x->created && x->creator == WEFT_ROOT;
}

/* If something that usually comes after the loop has slept came as soon as a block was over, it had
 * been due before. Only with a single loop: otherwise it is not known on which loop it came. */
static void look_for_due(struct blocks *b)
{
    const uint32_t loop = analyse_only_loop(b->h);
    struct {
        uint32_t all, usual;
    } *of = analyse_take(b->s, b->s->families->count, sizeof *of), *k;
    for (unsigned pass = 0; pass < 2 && of && loop != WEFT_NONE; pass++)
        for (uint32_t p = 1; p < b->m->promises; p++)
            for (unsigned nth = 0; nth < 2; nth++) {
                int64_t time;
                if (!get_news(b, p, nth, &time))
                    continue;
                struct block *x = follows(b, loop, time);
                k = &of[b->s->families->of[p]];
                if (pass == 0 && !x) { /* what is usual without a block */
                    k->all++;
                    k->usual += is_after_idle(b, loop, time);
                } else if (pass == 1 && x && k->usual >= 5 && k->usual >= k->all / 4 * 3 &&
                           x->due == WEFT_ROOT && time - x->to_ns <= 5 * ANALYSE_NAP &&
                           !(nth && was_its_work(b, x, p)))
                    x->due = p;
            }
}

/* ---- How certain it is, and the words ---- */

static int by_family_and_rank(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    WEFT_ORDER(x->family, y->family);
    WEFT_ORDER(y->rank, x->rank);
    WEFT_ORDER(y->length_ns, x->length_ns);
    WEFT_ORDER(x->stream, y->stream);
    return weft_order(x->from_ns, y->from_ns);
}

static int by_cost(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if ((x->harming > 0) != (y->harming > 0))
        return x->harming > 0 ? -1 : 1;
    WEFT_ORDER(y->cost_ns, x->cost_ns);
    return weft_order(x->family, y->family);
}

/* The machine may have been busy with something else: then a run that does little takes long. */
static uint64_t signs_of_machine(const struct blocks *b, const struct group *g)
{
    const struct block *x = &b->block[g->first];
    int64_t block = b->s->o->block_ns, mean = g->cost_ns / g->count;
    const struct usual *u = &b->usual[g->family];
    if (x->still || x->length_ns >= 4 * block)
        return 0;
    /* A longer run is interrupted more often. */
    bool often = u->runs >= A_FEW_RUNS && (u->ns - x->length_ns) / (u->runs - 1) >= block / 4;
    /* Below twice the limit, only what always takes the same time and delays others counts. */
    bool alike = g->count > 2 && x->length_ns - mean <= mean / 10;
    return (g->count <= u->runs / USUAL_RUNS ? ANALYSE_B_RARE : 0) |
           (g->count == 1 && x->length_ns < (often ? 3 : 2) * block ? ANALYSE_B_ONCE : 0) |
           (x->length_ns < 2 * block && (!alike || g->harming < g->count / 2) ? ANALYSE_B_NEAR : 0);
}

/* How long other runs of its family took on average; `otherwise` if fewer than `least`. */
static int64_t usual_ns(const struct blocks *b, const struct group *g, uint32_t least,
                        int64_t otherwise)
{
    const struct usual *u = &b->usual[g->family];
    return u->runs < g->count + least ? otherwise
                                      : (u->ns - g->cost_ns) / (int64_t)(u->runs - g->count);
}

/* Returns true if it is far longer than its family usually runs. What has no label may differ. */
static bool is_outlier(const struct blocks *b, const struct group *g)
{
    const struct block *x = &b->block[g->first];
    return weft_model_name(b->m, b->s->families->first[g->family]) != WEFT_NONE &&
           x->length_ns / 4 >= b->s->o->block_ns &&
           usual_ns(b, g, A_FEW_RUNS, INT64_MAX) < b->s->o->block_ns / 4 && !x->alone && !x->still;
}

static uint64_t signs_of_block(const struct blocks *b, const struct group *g)
{
    const struct block *x = &b->block[g->first];
    bool is_long = x->length_ns / 10 >= b->s->o->block_ns, told = b->h->informed[x->stream];
    bool endless = x->still && !x->silent && x->length_ns >= b->s->o->never_yield_ns;
    bool stopped = b->m->losses.ended == WEFT_ENDED_STOPPED;
    bool nobody = !x->harmed && !x->pushed && !x->due && !x->waiting;
    return analyse_signs(b->s, WEFT_ROOT) | signs_of_machine(b, g) |
           (x->unsure || (endless && !told) ? ANALYSE_B_UNSURE : 0) |
           (x->silent ? ANALYSE_B_SILENT : 0) | (endless ? ANALYSE_B_ENDLESS : 0) |
           (endless && told && !stopped ? ANALYSE_B_FOREVER : 0) |
           (endless && !x->unsure && x->needing ? ANALYSE_B_NEEDED : 0) |
           (nobody ? ANALYSE_B_NOBODY : 0) | (nobody && x->alone ? ANALYSE_B_ALONE : 0) |
           (is_outlier(b, g) ? ANALYSE_B_OUTLIER : 0) |
           (x->still && !x->harmed && !(is_long && x->needing) ? ANALYSE_B_LAST : 0) |
           (x->harmed && is_long ? ANALYSE_B_PROVEN : 0);
}

static void say_others(const struct blocks *b, const struct group *g)
{
    const struct block *x = &b->block[g->first];
    const uint32_t first = x->nameds ? b->h->wait[x->named[0]].reader : WEFT_ROOT;
    const uint32_t count = x->harmed ? x->harmed : x->waiting;
    const bool one = count == 1 && first != WEFT_ROOT;
    if (x->still && count == 0)
        return;
    if (count)
        analyse_say(b->s,
                    x->harmed ? (one ? SAY_BLOCK_KEPT_ONE : SAY_BLOCK_KEPT)
                    : one     ? SAY_BLOCK_WAITED_ONE
                              : SAY_BLOCK_WAITED,
                    AMOUNT(count, count), PROMISE(first, first));
    else if (x->pushed != WEFT_ROOT || x->due != WEFT_ROOT)
        analyse_say(b->s, x->pushed != WEFT_ROOT ? SAY_BLOCK_THEN_RAN : SAY_BLOCK_THEN_CAME,
                    PROMISE(next, x->pushed != WEFT_ROOT ? x->pushed : x->due));
    else if (is_outlier(b, g))
        analyse_say(b->s, SAY_BLOCK_USUALLY, LENGTH(usual, usual_ns(b, g, A_FEW_RUNS, INT64_MAX)));
}

static void say_block(const struct blocks *b, const struct group *g)
{
    const struct block *x = &b->block[g->first];
    const int64_t lasted = x->to_ns - x->from_ns;
    /* Small differences are noise of the clock. */
    const int64_t away = weft_history_preempted_ns(b->h, x->stream, x->from_ns, x->to_ns);
    analyse_say(b->s,
                x->silent  ? SAY_BLOCK_SILENT
                : x->still ? SAY_BLOCK_STILL
                           : SAY_BLOCK,
                PHRASE(who, x->promise == WEFT_ROOT ? SAY_BLOCK_BY_LOOP : SAY_BLOCK_BY),
                PROMISE(promise, x->promise), TIME(from, x->from_ns),
                LENGTH(length, x->still ? lasted : x->length_ns),
                LENGTH(away, away > lasted / 20 ? away : 0));
    say_others(b, g);
    if (g->count > 1)
        analyse_say(b->s, SAY_BLOCKS, AMOUNT(count, g->count), LENGTH(sum, g->cost_ns));
}

static void prove_block(const struct blocks *b, const struct block *x)
{
    enum { SHOWN = 4 };
    analyse_show(b->s, x->from_ns, WEFT_EVIDENCE_RUNS, x->promise, WEFT_NONE);
    if (!x->silent)
        analyse_show(b->s, x->to_ns, x->still ? WEFT_EVIDENCE_RUNS_STILL : WEFT_EVIDENCE_STOPS,
                     x->promise, WEFT_NONE);
    for (uint32_t i = 0; i < x->nameds && i < SHOWN; i++) {
        const struct weft_wait *w = &b->h->wait[x->named[i]];
        analyse_show_waits(b->s, w);
        if (!x->harmed)
            continue;
        analyse_show_resolved(b->s, w);
        analyse_show_woken(b->s, w);
    }
}

static void add_blocked(const struct blocks *b, const struct group *g, struct weft_finding *f)
{
    enum { LOOKED_AT = 64 };
    for (uint32_t i = 0; i < g->count && i < LOOKED_AT; i++) {
        const struct block *x = &b->block[g->first + i];
        for (uint32_t n = 0; n < x->nameds; n++) {
            uint32_t reader = b->h->wait[x->named[n]].reader, k = 0;
            while (k < f->affecteds && f->affected[k] != reader)
                k++;
            if (k == f->affecteds)
                analyse_affects(b->s, reader);
        }
        uint32_t next = x->pushed ? x->pushed : x->due;
        if (next != WEFT_ROOT && i == 0 && x->nameds == 0)
            analyse_affects(b->s, next);
    }
    if (f->affected_total < b->block[g->first].harmed)
        f->affected_total = b->block[g->first].harmed;
}

static void report_blocks(const struct blocks *b, const struct group *g)
{
    const struct block *x = &b->block[g->first];
    struct analyse_verdict v;
    if (!analyse_judge(&v, WEFT_FINDING_LOOP_BLOCKED, signs_of_block(b, g)))
        return; /* otherwise it becomes a span, even if this kind of finding is ignored */
    struct weft_finding *f = analyse_finding_add(b->s, WEFT_FINDING_LOOP_BLOCKED, &v, x->promise,
                                                 x->from_ns, x->to_ns, g->cost_ns);
    uint32_t finding = f ? b->s->out->count - 1 : WEFT_NONE;
    if (f) {
        say_block(b, g);
        f->count = g->count;
        prove_block(b, x);
        add_blocked(b, g, f);
    }
    int64_t usual = usual_ns(b, g, 1, 0);
    for (uint32_t i = 0; i < g->count; i++) {
        const struct block *y = &b->block[g->first + i];
        analyse_span_add(b->l, y->stream, y->from_ns, y->to_ns + y->silent, usual, finding);
    }
}

/* Sorts the blocks, and makes groups of them. Returns how many. */
static uint32_t sort_blocks(struct blocks *b, struct group *group)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; i < b->blocks; i++) {
        struct block *x = &b->block[i];
        x->family = b->s->families->of[x->promise];
        x->rank = 4u * (x->still && !x->unsure) + 2u * (x->harmed > 0) + (x->pushed || x->due);
    }
    qsort(b->block, b->blocks, sizeof *b->block, by_family_and_rank);
    for (uint32_t i = 0; i < b->blocks; i++) {
        const struct block *x = &b->block[i];
        if (i == 0 || x->family != b->block[i - 1].family)
            group[groups++] = (struct group){.family = x->family, .first = i};
        struct group *g = &group[groups - 1];
        g->count++;
        g->harming += x->harmed || x->pushed || x->due;
        g->cost_ns = analyse_sum(g->cost_ns, x->length_ns);
    }
    qsort(group, groups, sizeof *group, by_cost);
    return groups;
}

static void report_groups(struct blocks *b)
{
    struct group *group = analyse_take(b->s, b->blocks, sizeof *group);
    b->usual = analyse_take(b->s, b->s->families->count, sizeof *b->usual);
    for (uint32_t i = 0; !b->s->failed && i < b->m->runs; i++) {
        struct usual *u = &b->usual[b->s->families->of[b->h->run_promise[i]]];
        u->runs++;
        u->ns = analyse_sum(u->ns, b->m->run[i].end_ns - b->m->run[i].start_ns);
    }
    const uint32_t groups = b->s->failed ? 0 : sort_blocks(b, group);
    count_waiting(b, group, groups < TOLD ? groups : TOLD);
    for (uint32_t i = 0; i < groups && i < ANALYSE_LOOP_FAMILIES && !b->s->failed; i++)
        report_blocks(b, &group[i]);
}

void analyse_find_long_runs(struct analyse_loops *l)
{
    struct analyse_search *s = l->s;
    const struct weft_history *h = s->h;
    struct blocks b = {.l = l, .s = s, .h = h, .m = h->m};
    b.steps_left = 4 * (uint64_t)h->m->interactions + 1000;
    b.cursor = analyse_take(s, h->m->promises, sizeof *b.cursor);
    b.first = analyse_take(s, (uint64_t)h->streams + 1, sizeof *b.first);
    if (!s->failed)
        memset(b.cursor, 0xff, h->m->promises * sizeof *b.cursor);
    for (uint32_t i = 0; i < h->streams && !s->failed; i++) {
        b.first[i] = b.blocks;
        if (h->is_loop[i])
            find_blocks_of_stream(&b, i);
        b.first[i + 1] = b.blocks;
    }
    for (uint32_t i = 0; i < h->waits && b.blocks && !s->failed; i++)
        find_harm_of_wait(&b, &h->wait[i]);
    for (uint32_t i = 0; i < b.blocks && !s->failed; i++)
        look_behind(&b, &b.block[i]);
    if (b.blocks && !s->failed) {
        look_for_due(&b);
        report_groups(&b);
    }
}
