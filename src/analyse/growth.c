/* SPDX-License-Identifier: ISC */
/* Queues that grow: all the time more of a sort come than end, and each takes longer. */
#include "analyse/judge.h"

#define LEAST_SPAN_NS INT64_C(100000000) /* the time in which they come */
#define SLOW_NS INT64_C(10000000)        /* the time that the last ones take */

enum {
    PARTS = 8,    /* parts of the time in which they come: after each, more must be pending */
    KNOWN = 3,    /* … for at least this many parts it is known how long they took */
    LEAST = 40,   /* of a sort */
    PENDING = 10, /* pending at the end of that time; */
    /* … this many times as many as after the first part; and the last take as many times as long */
    RISE = 3,
    ENDED = 4,  /* at least 1/ENDED of them have ended: otherwise it is a leak */
    SPREAD = 4, /* they come for at least 1/SPREAD of the time from the first one to the last end */
};

struct growth {
    uint32_t pending[PARTS]; /* after each part */
    int64_t took_ns[PARTS];  /* the median of those that came in that part and have ended */
    unsigned known;          /* in how many parts more have ended than not */
    int64_t first_ns, last_ns, end_ns;
    uint32_t count, ended, left, marked, creator, worst;
    int64_t worst_ns;
    bool creators;
};

struct finder {
    struct analyse_search *s;
    const struct weft_model *m;
    const struct weft_history *h;
    struct analyse_lists sorts; /* promises by family, in order of creation */
    int64_t *took;
    bool *grows; /* by family */
};

static uint32_t family_of_countable(const void *finder, uint32_t promise)
{
    const struct finder *f = finder;
    const struct weft_promise *p = &f->m->promise[promise];
    return p->created && !p->promoted && !p->background && p->becomes == WEFT_NONE
               ? f->s->families->of[promise]
               : WEFT_NONE;
}

static void measure_growth(const struct finder *f, uint32_t family, struct growth *g)
{
    *g = (struct growth){.first_ns = INT64_MAX, .last_ns = INT64_MIN, .end_ns = INT64_MIN};
    analyse_each(i, f->sorts.first, family) {
        const struct weft_promise *p = &f->m->promise[f->sorts.item[i]];
        const int64_t over = analyse_end_ns(f->h, f->sorts.item[i]);
        g->first_ns = weft_earlier(p->start_ns, g->first_ns);
        g->last_ns = weft_later(p->start_ns, g->last_ns);
        g->end_ns = weft_later(over, g->end_ns);
        g->creator = g->count++ ? g->creator : p->creator;
        g->creators |= p->creator != g->creator || p->creator == WEFT_ROOT;
        g->marked += p->should_resolve;
        g->left += analyse_is_pending(f->m, f->sorts.item[i]);
        if (over - p->start_ns >= g->worst_ns) {
            g->worst = f->sorts.item[i];
            g->worst_ns = over - p->start_ns;
        }
    }
    g->ended = g->count - g->left;
}

static void end_part(struct finder *f, struct growth *g, unsigned part, uint32_t ended,
                     uint32_t left)
{
    g->took_ns[part] = analyse_median(f->took, ended);
    if (ended > left && g->known == part)
        g->known++;
}

/* How many are pending after each part, and how long those that came in it took. */
static void measure_parts(struct finder *f, uint32_t family, struct growth *g)
{
    uint32_t n = 0, left = 0;
    unsigned part = 0;
    analyse_each(i, f->sorts.first, family) {
        const struct weft_promise *p = &f->m->promise[f->sorts.item[i]];
        const unsigned came = analyse_part(p->start_ns, g->first_ns, g->last_ns, PARTS),
                       over = analyse_part(analyse_end_ns(f->h, f->sorts.item[i]), g->first_ns,
                                           g->last_ns, PARTS);
        const bool stays = analyse_is_pending(f->m, f->sorts.item[i]) || p->end_ns > g->last_ns;
        for (unsigned k = came; k < (stays ? PARTS : over); k++)
            g->pending[k]++;
        if (came > part) {
            end_part(f, g, part, n, left);
            n = left = 0;
            part = came;
        }
        if (analyse_is_pending(f->m, f->sorts.item[i]))
            left++;
        else
            f->took[n++] = p->end_ns - p->start_ns;
    }
    end_part(f, g, part, n, left);
}

static bool does_grow(struct finder *f, uint32_t family, struct growth *g)
{
    if (analyse_count(f->sorts.first, family) < LEAST)
        return false;
    measure_growth(f, family, g);
    if (g->last_ns - g->first_ns < LEAST_SPAN_NS || g->ended < g->count / ENDED ||
        (g->last_ns - g->first_ns) < (g->end_ns - g->first_ns) / SPREAD)
        return false;
    measure_parts(f, family, g);
    for (unsigned i = 1; i < PARTS; i++)
        if (g->pending[i] <= g->pending[i - 1] ||
            (i < g->known && g->took_ns[i] <= g->took_ns[i - 1]))
            return false;
    return g->known >= KNOWN && g->pending[PARTS - 1] >= PENDING &&
           g->pending[PARTS - 1] / RISE >= g->pending[0] && g->took_ns[g->known - 1] >= SLOW_NS &&
           g->took_ns[g->known - 1] / RISE >= g->took_ns[0];
}

/* Returns true if the slowest one waited longest for a sort that grows, too: that is the queue. */
static bool waits_for_growing_sort(const struct finder *f, uint32_t family, const struct growth *g)
{
    const struct weft_wait *longest = NULL;
    analyse_each(i, f->h->waits_of_first, g->worst) {
        const struct weft_wait *w = &f->h->wait[f->h->waits_of[i]];
        if (!longest || w->until_ns - w->from_ns > longest->until_ns - longest->from_ns)
            longest = w;
    }
    const uint32_t of = longest ? f->s->families->of[weft_model_final(f->m, longest->source)] : 0;
    return of && of != family && f->grows[of];
}

static void report_growth(const struct finder *f, uint32_t family, const struct growth *g)
{
    if (!analyse_report(f->s, WEFT_FINDING_QUEUE_GROWTH,
                        analyse_signs(f->s, g->worst) | (g->left == 0 ? ANALYSE_Q_DRAINED : 0) |
                            (g->marked ? ANALYSE_Q_MARKED : 0) | (g->creators ? ANALYSE_Q_MANY : 0),
                        g->worst, g->first_ns, g->last_ns, g->worst_ns))
        return;
    analyse_say(f->s, SAY_QUEUE_GROWTH, SORT(sort, family), AMOUNT(pending_first, g->pending[0]),
                AMOUNT(pending_half, g->pending[PARTS / 2 - 1]),
                AMOUNT(pending_last, g->pending[PARTS - 1]), TIME(last, g->last_ns),
                LENGTH(took_first, g->took_ns[0]), LENGTH(took_last, g->took_ns[g->known - 1]),
                PROMISE(worst, g->worst), LENGTH(longest, g->worst_ns));
    const bool pending = analyse_is_pending(f->m, g->worst);
    analyse_show_created(f->s, g->worst);
    analyse_show(f->s, analyse_end_ns(f->h, g->worst),
                 pending ? WEFT_EVIDENCE_PENDING : analyse_ending(f->m, g->worst), g->worst,
                 WEFT_NONE);
    analyse_each(i, f->sorts.first, family)
        if (analyse_end_ns(f->h, f->sorts.item[i]) >= g->last_ns)
            analyse_affects(f->s, f->sorts.item[i]);
}

void analyse_find_growth(struct analyse_search *s)
{
    struct finder f = {.s = s, .m = s->m, .h = s->h};
    struct growth g;
    f.sorts = analyse_lists(s, s->families->count, s->m->promises, family_of_countable, &f);
    f.took = analyse_take(s, s->m->promises, sizeof *f.took);
    f.grows = analyse_take(s, s->families->count, sizeof *f.grows);
    for (uint32_t i = 1; i < s->families->count && !s->failed; i++)
        f.grows[i] = does_grow(&f, i, &g);
    for (uint32_t i = 1; i < s->families->count && !s->failed; i++)
        if (f.grows[i] && does_grow(&f, i, &g) && !waits_for_growing_sort(&f, i, &g))
            report_growth(&f, i, &g);
}
