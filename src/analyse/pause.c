/* SPDX-License-Identifier: ISC */
/* Garbage collections during which a needed promise waited, to continue right afterwards. */
#include "analyse/judge.h"

#define AFTER_NS INT64_C(1000000) /* one that continues later was probably not held up by it */
enum {
    MANY = 8,   /* waits, if no promise is marked; */
    FEW = 2,    /* … or this many, in that many collections */
    SOME = 3,   /* collections, … */
    LONG = 3,   /* … or times the limit: not a coincidence */
    SHARE = 4,  /* less than 1/SHARE of a wait hardly matters */
    LOOPS = 64, /* loops whose threads are checked for having had a core */
    ABOUT = 10, /* times its length before and after a collection */
};

struct held {
    uint32_t waits, marked;
    bool much;      /* one of them for a large part of its time */
    uint32_t worst; /* index of a wait */
    /* of the collection, without the time in which others had the core of a loop */
    int64_t length_ns;
};

struct finder {
    struct analyse_search *s;
    const struct weft_model *m;
    const struct weft_history *h;
    struct held *held;      /* by collection */
    uint32_t pauses, worst; /* collections that held up a promise; the longest of them */
    bool much;              /* … of which one did so for a large part of its time */
    uint32_t often;         /* … those that held up at least FEW */
    int64_t cost_ns;
};

/* How long others had the core of a loop, at most. */
static int64_t away_ns(const struct weft_history *h, int64_t from_ns, int64_t to_ns)
{
    int64_t most = 0;
    for (uint32_t s = 0; s < h->streams && s < LOOPS; s++) {
        const int64_t ns = weft_history_preempted_ns(h, s, from_ns, to_ns);
        most = h->is_loop[s] && ns > most ? ns : most;
    }
    return most;
}

/* Returns true if others had the core for a large part of the time around the longest collection:
 * threads that help to collect may have waited for one, too. */
static bool others_had_the_cores(const struct finder *f)
{
    const struct weft_collection *c = &f->h->collection[f->worst];
    const int64_t length = f->held[f->worst].length_ns, end = f->m->end_ns;
    const int64_t about = length > end / ABOUT ? end : length * ABOUT;
    return away_ns(f->h, c->start_ns > about ? c->start_ns - about : 0,
                   end - c->end_ns > about ? c->end_ns + about : end) >= length / SHARE &&
           f->h->preemption_first;
}

/* The collection that was within a wait, and right after which the wait ended; or WEFT_NONE. */
static uint32_t collection_of(const struct finder *f, const struct weft_wait *w)
{
    uint32_t i = weft_history_collection_from(f->h->collection, 0, f->h->collections, w->until_ns);
    if (!analyse_is_served(w) || i == 0)
        return WEFT_NONE;
    const struct weft_collection *c = &f->h->collection[i - 1];
    bool right_after = w->until_ns >= c->end_ns && w->until_ns - c->end_ns <= AFTER_NS;
    return right_after && w->from_ns <= c->start_ns && f->held[i - 1].length_ns >= f->s->o->gc_ns
               ? i - 1
               : WEFT_NONE;
}

static void add_wait(struct finder *f, uint32_t wait)
{
    const struct weft_wait *w = &f->h->wait[wait];
    uint32_t i = collection_of(f, w);
    if (i == WEFT_NONE)
        return;
    struct held *x = &f->held[i];
    bool marked = f->m->promise[weft_model_final(f->m, w->reader)].should_resolve;
    if (x->waits++ == 0 || (marked && x->marked == 0)) /* the first, or the first that is marked */
        x->worst = wait;
    x->marked += marked;
    x->much |= (w->until_ns - w->from_ns) / SHARE < f->held[i].length_ns;
}

/* What ran when a collection began, or WEFT_ROOT. */
static uint32_t running_at(const struct weft_history *h, int64_t time_ns)
{
    for (uint32_t s = 0; s < h->streams; s++) {
        uint32_t i = weft_history_stream_from(h, s, time_ns + 1);
        if (i == h->stream_first[s])
            continue;
        uint32_t run = h->stream_run[i - 1];
        if (h->m->run[run].end_ns >= time_ns && h->run_promise[run] != WEFT_ROOT)
            return h->run_promise[run];
    }
    return WEFT_ROOT;
}

static void report_pauses(struct finder *f)
{
    const struct weft_collection *c = &f->h->collection[f->worst];
    const struct held *x = &f->held[f->worst];
    const struct weft_wait *w = &f->h->wait[x->worst];
    const bool near = f->pauses < SOME && x->length_ns / LONG < f->s->o->gc_ns;
    const uint64_t signs = analyse_signs(f->s, WEFT_ROOT) | (near ? ANALYSE_G_NEAR : 0) |
                           (f->much ? 0 : ANALYSE_G_LITTLE) |
                           (others_had_the_cores(f) ? ANALYSE_G_BUSY : 0);
    uint32_t who = running_at(f->h, c->start_ns);
    struct weft_finding *g =
        analyse_report(f->s, WEFT_FINDING_GC_PAUSE, signs, who == WEFT_ROOT ? w->reader : who,
                       c->start_ns, c->end_ns, f->cost_ns);
    if (!g)
        return;
    analyse_say(f->s, SAY_GC_PAUSE, LENGTH(length, x->length_ns), TIME(from, c->start_ns),
                PROMISE(running, who == WEFT_ROOT ? WEFT_NONE : who), PROMISE(waiter, w->reader),
                AMOUNT(others, x->waits - 1));
    if (f->pauses > 1)
        analyse_say(f->s, SAY_GC_PAUSES, AMOUNT(count, f->pauses), LENGTH(sum, f->cost_ns));
    g->count = f->pauses;
    analyse_show_waited(f->s, w);
    for (uint32_t i = 0; i < f->h->waits; i++)
        if (collection_of(f, &f->h->wait[i]) == f->worst && f->h->wait[i].reader != g->promise)
            analyse_affects(f->s, f->h->wait[i].reader);
}

void analyse_find_pauses(struct analyse_search *s)
{
    struct finder f = {.s = s, .m = s->m, .h = s->h};
    if (s->h->collections == 0)
        return;
    f.held = analyse_take(s, s->h->collections, sizeof *f.held);
    if (s->failed)
        return;
    for (uint32_t i = 0; i < s->h->collections; i++) {
        const struct weft_collection *c = &s->h->collection[i];
        f.held[i].length_ns = c->end_ns - c->start_ns - away_ns(s->h, c->start_ns, c->end_ns);
    }
    for (uint32_t i = 0; i < s->h->waits; i++)
        add_wait(&f, i);
    for (uint32_t i = 0; i < s->h->collections; i++)
        f.often += f.held[i].waits >= FEW;
    for (uint32_t i = 0; i < s->h->collections; i++) {
        const struct held *x = &f.held[i];
        if (x->marked == 0 && x->waits < MANY && (f.often < MANY || x->waits < FEW))
            continue;
        if (f.pauses++ == 0 || f.held[i].length_ns > f.held[f.worst].length_ns)
            f.worst = i;
        f.much |= f.held[i].much;
        f.cost_ns += f.held[i].length_ns;
    }
    if (f.pauses)
        report_pauses(&f);
}
