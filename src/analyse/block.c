/* SPDX-License-Identifier: ISC */
/* Finds single runs during which something else had to wait. */
#include <string.h>

#include "analyse/block.h"

enum {
    STEPS = 16,     /* along a chain of causes */
    ANCESTORS = 64, /* how many are examined */
};

/* ---- Runs and what happens in them ---- */

/* The last wait of a promise that began no later than a time, or WEFT_NONE. */
static uint32_t wait_before(const struct weft_history *h, uint32_t promise, int64_t time_ns)
{
    uint32_t place = weft_history_wait_from(h, promise, time_ns + 1);
    return place > h->waits_of_first[promise] ? h->waits_of[place - 1] : WEFT_NONE;
}

/* The last child of a promise that was created during a period; its start, or INT64_MIN. */
static int64_t last_child(const struct analyse_blocks *b, uint32_t promise, int64_t from_ns,
                          int64_t to_ns)
{
    uint32_t first = b->h->children_first[promise];
    uint32_t low = weft_history_child_from(b->h, promise, to_ns + 1);
    int64_t start = low > first ? b->m->promise[b->h->children[low - 1]].start_ns : INT64_MIN;
    return start >= from_ns ? start : INT64_MIN;
}

/* When a stream is next idle, if that is before a limit. */
static int64_t next_idle(const struct weft_history *h, uint32_t stream, int64_t from_ns,
                         int64_t limit_ns)
{
    uint32_t low = weft_history_idle_from(h, stream, from_ns), end = h->idle_first[stream + 1];
    for (; low < end && h->idle[low].start_ns < limit_ns; low++)
        if (h->idle[low].end_ns - h->idle[low].start_ns >= ANALYSE_NAP)
            return h->idle[low].start_ns;
    return limit_ns;
}

static void add_block(struct analyse_blocks *b, struct analyse_block x)
{
    x.length_ns = x.to_ns - x.from_ns - weft_history_halted(b->h, x.stream, x.from_ns, x.to_ns);
    if (x.length_ns < b->s->o->block_ns && !x.silent)
        return;
    x.free_ns = next_idle(b->h, x.stream, x.to_ns, x.to_ns + x.length_ns);
    analyse_append(b->s, &b->block, &b->blocks, &b->room, &x, sizeof x);
}

/* Returns true if all earlier runs ended with a wait or a resolution: then a run without one is
 * still going on. */
static bool runs_end(const struct analyse_blocks *b, uint32_t stream)
{
    enum { LOOKED_AT = 20 };
    const struct weft_history *h = b->h;
    uint32_t first = h->stream_first[stream], last = h->stream_first[stream + 1] - 1;
    uint32_t i = last > LOOKED_AT + first ? last - LOOKED_AT : first + 1;
    for (; i < last; i++) {
        uint32_t p = h->run_promise[h->stream_run[i]];
        const struct weft_run *r = &b->m->run[h->stream_run[i]];
        uint32_t wait = wait_before(h, p, r->end_ns);
        bool ended =
            b->m->promise[p].outcome != WEFT_PENDING && b->m->promise[p].end_ns <= r->end_ns;
        if (!ended && (wait == WEFT_NONE || h->wait[wait].from_ns < r->start_ns))
            return false;
    }
    return last > first + 1;
}

/* Adds the last piece of a run, on a stream that does not say when it sleeps. The piece ends where
 * the promise began to wait, or else with its last sign of life. If it waits again later, what it
 * waited for before came in between, and it ran from then on. */
static void add_unsaid(struct analyse_blocks *b, struct analyse_block x, int64_t sign_ns)
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
        x.from_ns = there > w->from_ns ? there : w->from_ns;
    }
    if (!waited || ended) {
        x.to_ns = stop;
        x.still = still;
    }
    if (!waited && !ended) {
        int64_t child = last_child(b, x.promise, x.from_ns, x.to_ns);
        sign_ns = child > sign_ns ? child : sign_ns;
        if (!b->h->informed[x.stream] && sign_ns > x.from_ns &&
            sign_ns - x.from_ns >= b->s->o->block_ns) {
            x.to_ns = sign_ns;
            x.still = false;
        } else
            x.unsure = !b->h->informed[x.stream] && !x.silent && !(still && runs_end(b, x.stream));
    }
    add_block(b, x);
}

/* A run is divided where its promise was woken again: in between the loop had its turn, though
 * nothing else ran. */
static void look_at_run(struct analyse_blocks *b, struct analyse_block x)
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
            uint32_t wait = wait_before(b->h, x.promise, e->time_ns);
            int64_t began = wait != WEFT_NONE ? b->h->wait[wait].from_ns : INT64_MIN;
            x.to_ns = began >= x.from_ns         ? began
                      : b->h->informed[x.stream] ? e->time_ns
                      : sign > x.from_ns         ? sign
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
static bool ran_silently(const struct analyse_blocks *b, uint32_t stream, uint32_t promise,
                         int64_t from_ns)
{
    const struct weft_model *m = b->m;
    const struct weft_history *h = b->h;
    uint32_t wait = wait_before(h, promise, m->end_ns);
    int64_t last = m->interactions ? m->interaction[m->interactions - 1].time_ns : 0;
    last = last > from_ns ? last : from_ns;
    if (m->quirks.anonymous || m->losses.ended != WEFT_ENDED_KILLED ||
        m->end_ns - from_ns >= b->s->o->block_ns ||
        m->end_ns - last >= ANALYSE_MS / 10) /* the trace says when it ended */
        return false;
    if (!b->h->informed[stream])
        return (wait == WEFT_NONE || h->wait[wait].from_ns < from_ns) && runs_end(b, stream);
    int64_t begin = m->run[h->stream_run[h->stream_first[stream]]].start_ns;
    int64_t idle = weft_history_idle(h, stream, begin, from_ns, 0, NULL);
    return idle > (from_ns - begin) / 10 * 9;
}

/* Returns true if a run consists of many short ones with nothing else in between, and the loop may
 * have slept. */
static bool is_many(const struct analyse_blocks *b, uint32_t stream, uint32_t run)
{
    const struct weft_model *m = b->m;
    uint32_t low = 0, high = m->agains;
    WEFT_SEEK(low, high, m->again[middle].run < run);
    return !b->h->informed[stream] && low < m->agains && m->again[low].run == run &&
           (m->run[run].end_ns - m->run[run].start_ns) / m->again[low].times < b->s->o->block_ns;
}

static void find_blocks_of_stream(struct analyse_blocks *b, uint32_t stream)
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
        struct analyse_block x = {
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
        if (x.silent || (r->end_ns - r->start_ns >= b->s->o->block_ns && !is_many(b, stream, run)))
            look_at_run(b, x);
    }
}

/* ---- Who was harmed ---- */

/* Returns true if what was resolved after a block is the result of the block's own work, directly
 * or indirectly: then the block did not delay whoever waited for it. */
static bool was_its_work(const struct analyse_blocks *b, const struct analyse_block *x,
                         uint32_t source)
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
static void name_victim(const struct analyse_blocks *b, struct analyse_block *x,
                        const struct weft_wait *w, uint32_t *count)
{
    for (uint32_t i = 0; i < x->nameds; i++)
        if (b->h->wait[x->named[i]].reader == w->reader)
            return;
    ++*count;
    if (x->nameds < ANALYSE_BLOCK_NAMED)
        x->named[x->nameds++] = (uint32_t)(w - b->h->wait);
}

/* The last block of a stream that began before a time. */
static struct analyse_block *block_before(const struct analyse_blocks *b, uint32_t stream,
                                          int64_t time_ns)
{
    uint32_t first = b->first[stream], low = first, high = b->first[stream + 1];
    WEFT_SEEK(low, high, b->block[middle].from_ns < time_ns);
    return low > first ? &b->block[low - 1] : NULL;
}

/* Returns true if a wait that was open during the whole block may have been for the block's own
 * work. */
static bool may_need_block(const struct analyse_blocks *b, const struct analyse_block *x,
                           const struct weft_wait *w)
{
    uint32_t source = weft_model_final(b->m, w->source), self = weft_model_final(b->m, x->promise);
    for (unsigned i = 0; i < STEPS && source != self; i++) {
        uint32_t next = wait_before(b->h, source, x->from_ns);
        if (next == WEFT_NONE || b->h->wait[next].until_ns < x->to_ns)
            return false;
        source = weft_model_final(b->m, b->h->wait[next].source);
    }
    return true;
}

/* Finds what was ready during the block and ran only afterwards; and what this stream resolved
 * right after the block though it had been waited for all the time: a timer that was due, a
 * socket. */
static void find_harm_of_wait(struct analyse_blocks *b, const struct weft_wait *w)
{
    if (!analyse_is_served(w) || w->reader == WEFT_ROOT ||
        (b->m->promise[w->reader].background && b->m->promise[w->source].background))
        return;
    uint32_t run = weft_history_run_at(b->h, w->reader, w->until_ns);
    if (run == WEFT_NONE)
        return;
    uint32_t stream = weft_history_stream(b->h, run);
    struct analyse_block *x = block_before(b, stream, w->until_ns);
    int64_t ready = analyse_surely_there_ns(b->h, w), least = b->s->o->block_ns / 4;
    if (!x || ready == INT64_MAX || x->promise == w->reader || may_need_block(b, x, w))
        return;
    int64_t from = ready > x->from_ns ? ready : x->from_ns;
    if (x->to_ns - from >= least) {
        if (w->until_ns >= x->to_ns)
            name_victim(b, x, w, &x->harmed);
        return;
    }
    int64_t soon = b->h->informed[stream] ? x->length_ns : ANALYSE_MS;
    if (w->from_ns <= x->from_ns && ready >= x->to_ns && ready - x->to_ns <= soon &&
        ready <= x->free_ns && !was_its_work(b, x, w->source))
        name_victim(b, x, w, &x->harmed);
}

/* Returns true if y ran just before a block, without the loop in between: then y started it, and
 * continues afterwards. */
static bool began_it(const struct analyse_blocks *b, const struct analyse_block *x, uint32_t y)
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

/* Returns true if a run after a block is unrelated to it: no known cause began it, or one that is
 * older than the block. */
static bool is_stranger(const struct analyse_blocks *b, const struct analyse_block *x, uint32_t run)
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

static void look_behind(const struct analyse_blocks *b, struct analyse_block *x)
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

void analyse_blocks_waiting(struct analyse_blocks *b, struct analyse_block *const *told,
                            uint32_t tolds)
{
    const struct weft_history *h = b->h;
    const bool one_loop =
        analyse_only_loop(h) != WEFT_NONE; /* so a promise that has never run waits for that loop */
    for (uint32_t i = 0; i < h->waits && tolds; i++) {
        const struct weft_wait *w = &h->wait[i];
        for (uint32_t t = 0; t < tolds; t++) {
            struct analyse_block *x = told[t];
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

/* Returns true if the loop has been idle since something else last ran; looks back only a
 * little. */
static bool is_after_idle(const struct analyse_blocks *b, uint32_t stream, int64_t time_ns)
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
        int64_t from = x->start_ns > since ? x->start_ns : since;
        if ((x->end_ns < time_ns ? x->end_ns : time_ns) - from >= ANALYSE_NAP)
            return true;
    }
    return false;
}

/* The block after which the loop has not been idle, or NULL. */
static struct analyse_block *follows(const struct analyse_blocks *b, uint32_t stream,
                                     int64_t time_ns)
{
    struct analyse_block *x = block_before(b, stream, time_ns);
    return x && x->to_ns <= time_ns && time_ns <= x->free_ns ? x : NULL;
}

/* Piece n of the news about a promise that the loop itself brought: its creation, its resolution.
 * Returns false if there is none. */
static bool get_news(const struct analyse_blocks *b, uint32_t p, unsigned nth, int64_t *time_ns)
{
    const struct weft_promise *x = &b->m->promise[p];
    *time_ns = nth ? x->end_ns : x->start_ns;
    return nth ? analyse_resolver(b->h, p) == WEFT_ROOT && x->becomes == WEFT_NONE
               : x->created && x->creator == WEFT_ROOT;
}

/* If something that usually comes after the loop has slept came as soon as a block was over, it
 * had been due before. Only with a single loop: otherwise it is not known on which loop the news
 * came. */
static void look_for_due(struct analyse_blocks *b)
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
                struct analyse_block *x = follows(b, loop, time);
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

void analyse_find_long_runs(struct analyse_loops *l)
{
    struct analyse_search *s = l->s;
    const struct weft_history *h = s->h;
    struct analyse_blocks b = {.l = l, .s = s, .h = h, .m = h->m};
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
    if (b.blocks && !s->failed)
        look_for_due(&b);
    if (b.blocks && !s->failed)
        analyse_blocks_tell(&b);
}
