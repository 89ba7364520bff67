/* SPDX-License-Identifier: ISC */
/* Measures a series of runs, and decides whether it is a spin. */
#include "analyse/spin.h"

enum {
    LOOKED_AT = 8,     /* waits for something that are examined */
    CHILDREN = 100000, /* children of a promise that are examined */
    MANY_SELF = 100,   /* wakes by itself */
};

/* ---- For whom it works ---- */

static void mark_shared(struct analyse_spins *k, uint32_t user, uint32_t q)
{
    if (k->m->promise[q].creator != user && q != WEFT_ROOT && user != WEFT_ROOT) {
        k->shared[q] = true;
        k->shared[weft_model_final(k->m, q)] = true;
    }
}

void analyse_spins_share(struct analyse_spins *k)
{
    k->shared = analyse_take(k->s, k->m->promises, sizeof *k->shared);
    for (uint32_t i = 0; k->shared && i < k->m->interactions; i++) {
        const struct weft_interaction *e = &k->m->interaction[i];
        if (e->kind == WEFT_READS || e->kind == WEFT_WAITS)
            mark_shared(k, (uint32_t)e->actor, (uint32_t)e->other);
        else if (e->kind == WEFT_SIGNALS)
            mark_shared(k, (uint32_t)e->other, (uint32_t)e->actor);
    }
}

bool analyse_spin_serves(const struct analyse_spins *k, uint32_t q, uint32_t self)
{
    uint32_t creator = k->m->promise[q].creator;
    if (creator == self)
        return k->shared[q];
    if (creator != WEFT_ROOT)
        return true;
    uint32_t first = k->h->waits_for_first[q], end = k->h->waits_for_first[q + 1];
    for (uint32_t i = first; i < end; i++) {
        if (k->h->wait[k->h->waits_for[i]].reader != self)
            return true;
        if (i - first == LOOKED_AT && end - i > LOOKED_AT)
            i = end - LOOKED_AT;
    }
    return false;
}

uint32_t analyse_spin_wake(const struct weft_history *h, uint32_t q, int64_t time_ns)
{
    uint32_t by = h->resolution[q], first = h->notified_first[q];
    if (by != WEFT_NONE)
        return by;
    uint32_t low = time_ns == INT64_MAX ? h->notified_first[q + 1]
                                        : weft_history_notified_from(h, q, time_ns + 1);
    return low > first ? h->notified[low - 1] : WEFT_NONE;
}

uint32_t analyse_spin_waker(const struct weft_history *h, uint32_t q, int64_t time_ns)
{
    uint32_t by = analyse_spin_wake(h, q, time_ns);
    return by == WEFT_NONE ? WEFT_NONE : (uint32_t)h->m->interaction[by].actor;
}

/* Children that others ran, resolved or waited for. */
static uint64_t useful_children(const struct analyse_spins *k, const struct analyse_series *x)
{
    const struct weft_history *h = k->h;
    uint32_t low = weft_history_child_from(h, x->promise, x->from_ns);
    uint32_t end = h->children_first[x->promise + 1];
    uint64_t useful = 0;
    for (uint32_t n = 0; low < end && n < CHILDREN; low++, n++) {
        uint32_t c = h->children[low];
        if (k->m->promise[c].start_ns > x->last_ns)
            break;
        uint32_t by = analyse_spin_waker(h, c, x->last_ns);
        useful += analyse_count(h->runs_of_first, c) > 0 || analyse_spin_serves(k, c, x->promise) ||
                  (by != WEFT_NONE && by != WEFT_ROOT && by != x->promise);
    }
    return useful;
}

uint64_t analyse_spin_marks(struct analyse_spins *k, const struct analyse_series *x)
{
    const struct weft_model *m = k->m;
    uint32_t low = 0, high = m->changes, last = WEFT_NONE;
    uint64_t n = 0;
    WEFT_SEEK(low, high, m->change[middle].time_ns < x->from_ns);
    for (; low < m->changes && m->change[low].time_ns <= x->last_ns && n <= analyse_spin_runs(x);
         low++)
        n++;
    for (uint32_t i = m->promise[x->promise].first_label; i != WEFT_NONE && k->steps_left;
         i = m->label[i].next, k->steps_left--) {
        if (m->label[i].time_ns > x->last_ns)
            break;
        n += m->label[i].time_ns >= x->from_ns && last != WEFT_NONE && m->label[i].what != last;
        last = m->label[i].what;
    }
    return n;
}

/* ---- Measuring a series ---- */

void analyse_length_add(struct analyse_lengths *l, int64_t length_ns)
{
    bool is_long = length_ns >= ANALYSE_SPIN_LONG;
    int64_t *sum = is_long ? &l->long_ns : &l->short_ns;
    *sum = analyse_sum(*sum, length_ns);
    l->longs += is_long;
    l->shorts += !is_long;
}

/* Their sum; of long ones in which others may have had the core, as the others on average. */
static int64_t sum_of(const struct analyse_lengths *l, bool by_others)
{
    int64_t usual_ns = l->shorts ? l->short_ns / (int64_t)l->shorts : 0;
    return analyse_sum(l->short_ns, by_others ? (int64_t)l->longs * usual_ns : l->long_ns);
}

/* Examines the runs of its promise, and what came in between. */
static void look_at_runs(const struct analyse_spins *k, struct analyse_series *x,
                         struct analyse_lengths *between)
{
    const struct weft_history *h = k->h;
    uint32_t low = h->runs_of_first[x->promise], end = h->runs_of_first[x->promise + 1], high = end;
    int64_t until = x->from_ns;
    WEFT_SEEK(low, high,
              k->m->run[h->runs_of[middle]].end_ns <=
                  x->from_ns); /* the first that ends after the beginning */
    for (; low < end; low++) {
        const struct weft_run *r = &k->m->run[h->runs_of[low]];
        if (r->start_ns >= x->last_ns)
            break;
        int64_t a = r->start_ns > x->from_ns ? r->start_ns : x->from_ns;
        int64_t b = r->end_ns < x->last_ns ? r->end_ns : x->last_ns;
        const uint32_t stream = weft_history_stream(h, h->runs_of[low]);
        analyse_length_add(between, a - until - weft_history_preempted_ns(h, stream, until, a));
        analyse_length_add(&x->ran, b - a - weft_history_preempted_ns(h, stream, a, b));
        until = b;
    }
    analyse_length_add(between, x->last_ns - until -
                                    weft_history_preempted_ns(h, x->stream, until, x->last_ns));
}

/* When its stream was idle during it; if very many overlap, all count as short. */
static struct analyse_lengths look_at_idle(struct analyse_spins *k, const struct analyse_series *x)
{
    uint32_t times, longs = 0;
    int64_t sum = weft_history_idle(k->h, x->stream, x->from_ns, x->last_ns, 0, &times), most = 0;
    if (times <= k->idles_left) {
        k->idles_left -= times;
        most =
            weft_history_idle(k->h, x->stream, x->from_ns, x->last_ns, ANALYSE_SPIN_LONG, &longs);
    }
    return (struct analyse_lengths){sum - most, most, times - longs, longs};
}

/* Measures how long it ran and was idle. Others have the core now and then: short things look long.
 * If it is not recorded when, long ones are left out, as long as others can explain that many. */
static void measure_series(struct analyse_spins *k, struct analyse_series *x)
{
    struct analyse_lengths between = {0}, idle;
    /* it reports sleeping; so these are not due to others */
    bool sleeps = k->h->suspends[x->stream];
    if (x->partner == WEFT_ROOT)
        look_at_runs(k, x, &between);
    idle = k->h->informed[x->stream] ? look_at_idle(k, x) : between;
    int64_t awake_ns = sleeps ? between.short_ns - idle.short_ns : idle.short_ns;
    uint64_t longs = x->ran.longs + (sleeps ? 0 : idle.longs);
    int64_t had_ns = analyse_sum(x->ran.short_ns, awake_ns);
    bool by_others = !k->h->preemption_first && longs <= (uint64_t)(had_ns / ANALYSE_SPIN_CORE);
    x->ran_ns = sum_of(&x->ran, by_others);
    x->idle_ns = sum_of(&idle, by_others && !sleeps);
}

/* Returns true if another promise did anything between two times. */
static bool others_acted(const struct analyse_spins *k, uint32_t promise, int64_t from_ns,
                         int64_t to_ns)
{
    enum { EVENTS = 1000, STREAMS = 64 };
    const struct weft_model *m = k->m;
    const struct weft_history *h = k->h;
    uint32_t i = analyse_interaction_from(m, from_ns);
    for (uint32_t n = 0; i < m->interactions && m->interaction[i].time_ns <= to_ns && n < EVENTS;
         i++, n++)
        if (m->interaction[i].actor != promise &&
            m->promise[m->interaction[i].other].creator != promise)
            return true;
    uint32_t streams = h->streams < STREAMS ? h->streams : STREAMS;
    for (uint32_t s = 0; s < streams; s++)
        for (uint32_t r = weft_history_stream_from(h, s, from_ns), n = 0;
             r < h->stream_first[s + 1] && n < EVENTS; r++, n++) {
            uint32_t run = h->stream_run[r];
            if (m->run[run].start_ns > to_ns)
                break;
            if (h->run_promise[run] != promise && h->run_promise[run] != WEFT_ROOT)
                return true;
        }
    return false;
}

/* How it ended. Either something else ended it: another promise did something just before the last
 * wake, which is rare otherwise. Or nothing did: it still goes on when the trace ends. */
static enum analyse_spin_end how_it_ended(const struct analyse_spins *k,
                                          const struct analyse_series *x)
{
    enum { SAMPLES = 8 };
    const struct weft_model *m = k->m;
    int64_t period = x->last_ns - x->before_ns, step = (x->last_ns - x->from_ns) / (SAMPLES + 1);
    unsigned others = 0;
    if (m->promise[x->promise].outcome == WEFT_PENDING && m->end_ns - x->last_ns <= ANALYSE_MS)
        return ANALYSE_SPIN_ENDLESS;
    if (x->ending != ANALYSE_SPIN_ENDED)
        return x->ending;
    for (int i = 1; i <= SAMPLES; i++)
        others += others_acted(k, x->promise, x->from_ns + i * step,
                               analyse_sum(x->from_ns + i * step, analyse_sum(period, period)));
    return others <= SAMPLES / 4 &&
                   others_acted(k, x->promise, x->before_ns, analyse_sum(x->last_ns, period))
               ? ANALYSE_SPIN_ENDED_BY_OTHER
               : ANALYSE_SPIN_ENDED;
}

/* Each wake may be for something outside, such as a socket; but reading from it takes time. */
static bool is_idle_asking(const struct analyse_spins *k, const struct analyse_series *x,
                           int64_t each, int64_t idle)
{
    uint64_t n = analyse_spin_runs(x), many = k->s->o->spin_runs;
    bool looks = each <= ANALYSE_SPIN_FEW && idle <= ANALYSE_SPIN_FEW &&
                 x->last_ns - x->from_ns >= ANALYSE_MS && x->ending != ANALYSE_SPIN_ENDED;
    return n >= many && (looks || each + idle <= ANALYSE_SPIN_NOTHING ||
                         (n / 10 >= many && each + idle <= ANALYSE_SPIN_NO_TIME));
}

static uint64_t signs_of_spin(const struct analyse_spins *k, const struct analyse_series *x)
{
    uint64_t n = analyse_spin_runs(x), half = n / 2, sort = 0;
    int64_t length = x->last_ns - x->from_ns, each = x->ran_ns / (int64_t)n,
            idle = x->idle_ns / (int64_t)n;
    bool many = n >= k->s->o->spin_runs, proven = false;
    if (x->partner != WEFT_ROOT)
        ;
    else if (idle > ANALYSE_NAP) /* it polls with a timer in between */
        sort = ANALYSE_S_NAPS;
    else if (analyse_spin_wakes(x, ANALYSE_BY_LOOP) > half ||
             (analyse_spin_wakes(x, ANALYSE_BY_NOBODY) > half && x->polls))
        sort = ANALYSE_S_OUTSIDE;
    else if (x->ending != ANALYSE_SPIN_ENDED && each <= ANALYSE_SPIN_SLICE &&
             length >= ANALYSE_MS) {
        sort = ANALYSE_S_VAIN;
        proven = many && x->ending == ANALYSE_SPIN_ENDLESS && length >= 100 * ANALYSE_MS;
    } else if (analyse_spin_wakes(x, ANALYSE_BY_ITSELF) > half)
        sort = ANALYSE_S_SELF; /* it could just as well not wait at all */
    return analyse_signs(k->s, WEFT_ROOT) | sort | (proven ? ANALYSE_S_PROVEN : 0) |
           (x->progress > n / 20 ? ANALYSE_S_PROGRESS : 0) |
           (many && each <= ANALYSE_SPIN_FEW ? ANALYSE_S_QUICK : 0) |
           (many && x->ran_ns > length / 2 ? ANALYSE_S_BUSY : 0) |
           (is_idle_asking(k, x, each, idle) ? ANALYSE_S_ASKS : 0) |
           ((n >= MANY_SELF && each <= ANALYSE_SPIN_SHORT) ||
                    (n >= k->s->o->spin_runs / 4 && each < ANALYSE_SPIN_SLICE)
                ? ANALYSE_S_NO_WORK
                : 0);
}

/* Returns true if it is worth reporting. */
static bool is_spin(const struct analyse_spins *k, const struct analyse_series *x)
{
    const struct weft_explain_options *o = k->s->o;
    uint64_t n = analyse_spin_runs(x), self = analyse_spin_wakes(x, ANALYSE_BY_ITSELF);
    int64_t length = x->last_ns - x->from_ns;
    if (n < o->self_wakes || length <= 0)
        return false;
    if (n < o->spin_runs && n < MANY_SELF && length < ANALYSE_MS)
        return false;
    if (!k->h->is_loop[x->stream] && n / 10 < o->spin_runs) /* a worker may be busy */
        return false;
    if (x->ran_ns / (int64_t)n > ANALYSE_SPIN_SLICE || x->progress > n / 2)
        return x->partner != WEFT_ROOT && x->ran_ns / (int64_t)n <= ANALYSE_SPIN_SHORT;
    if (x->idle_ns / (int64_t)n > ANALYSE_NAP)
        return n >= o->spin_runs && x->idle_ns / (int64_t)n <= 2 * ANALYSE_MS;
    return self > n / 2 || n >= o->spin_runs;
}

/* How long its stream slept during it; an estimate, if very many overlap. */
static int64_t slept_in_series(struct analyse_spins *k, const struct analyse_series *x)
{
    uint32_t times;
    int64_t idle = weft_history_idle(k->h, x->stream, x->from_ns, x->last_ns, 0, &times);
    if (times > k->idles_left)
        return idle;
    k->idles_left -= times;
    return weft_history_idle(k->h, x->stream, x->from_ns, x->last_ns, ANALYSE_NAP, NULL);
}

void analyse_spin_keep(struct analyse_spins *k, struct analyse_series x)
{
    uint32_t family = k->s->families->of[x.promise];
    measure_series(k, &x);
    if (x.partner == WEFT_ROOT)
        x.progress = useful_children(k, &x) + analyse_spin_marks(k, &x);
    if (!is_spin(k, &x))
        return;
    x.ending = how_it_ended(k, &x);
    analyse_judge(&x.verdict, WEFT_FINDING_SPIN, signs_of_spin(k, &x));
    if (k->found_of[family] == WEFT_NONE) {
        const struct analyse_spin first = {.worst = x, .family = family};
        k->found_of[family] = k->founds;
        analyse_append(k->s, &k->found, &k->founds, &k->room, &first, sizeof first);
        if (k->s->failed)
            return;
    }
    struct analyse_spin *f = &k->found[k->found_of[family]];
    bool known = f->count && f->worst.promise == x.promise; /* it was also found in another way */
    int64_t naps = slept_in_series(k, &x);
    f->count += !known;
    f->cost_ns = analyse_sum(f->cost_ns, known ? 0 : x.last_ns - x.from_ns - naps);
    if (x.verdict.confidence > f->worst.verdict.confidence ||
        (x.verdict.confidence == f->worst.verdict.confidence && x.ran_ns > f->worst.ran_ns &&
         !known))
        f->worst = x;
}
