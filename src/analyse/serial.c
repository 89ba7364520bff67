/* SPDX-License-Identifier: ISC */
/* Serial waits: a reader starts something, waits for it, starts the next, waits for that, though
 * all could run at the same time. The checks here look for signs that they need each other. */
#include <string.h>

#include "analyse/judge.h"
#include "analyse/types.h"

#define LEAST_NS INT64_C(20000)    /* average of a wait: starting more at once has a cost, too */
#define MOMENT_NS INT64_C(3000000) /* sleeps between two checks are shorter than this */
enum {
    NEAR = 256,    /* events of a wait that are examined */
    ANCESTORS = 8, /* creators of a source among which its reader is looked for */
    RUNS = 64,     /* runs and similar things that are examined */
    MANY = 100,    /* waits of a task that nobody has created: a loop that makes load; */
    WHOLE = 10,    /* … or this many, if they take all of its time except 1/WHOLE */
    ASKED = 500,   /* above this count it is polling */
    TIMES = 10,    /* readers: if it happened to this many, 3/5 of a chain are enough */
};

struct chain {
    uint32_t first, last; /* places in waits_of */
    uint32_t count, failed;
    int64_t sum_ns, gaps_ns;
    int64_t beside_ns, longest_ns; /* what could have run in parallel: total and longest */
    /* sources that are resolved by a timer that was there before them */
    uint32_t paced;
    uint32_t feeding; /* … sources that pass something on to others */
    uint32_t family;
};

struct found {
    struct chain chain;
    uint32_t reader;
    int64_t saving_ns;
    uint64_t count; /* chains of the same family, by readers of the same family */
    struct analyse_verdict verdict;
    uint32_t reader_family;
    bool again; /* the same reader as the one before */
};

struct finder {
    struct analyse_search *s;
    const struct weft_model *m;
    const struct weft_history *h;
    struct found *found;
    uint32_t founds, room;
    bool *together; /* by family */
    /* by promise: of those that became it, including itself, the one that was there first */
    uint32_t *first;
};

static const struct weft_wait *wait_at(const struct finder *f, uint32_t place)
{
    return &f->h->wait[f->h->waits_of[place]];
}

/* ---- Chains ---- */

/* Returns true if the reader, what it created, or the event loop, for anybody, creates it. */
static bool creates_them_itself(const struct finder *f, uint32_t reader, uint32_t source)
{
    uint32_t final = weft_model_final(f->m, reader);
    uint32_t p = source;
    for (unsigned i = 0; i < ANCESTORS && p != WEFT_ROOT; i++) {
        p = f->m->promise[p].creator;
        if (weft_model_final(f->m, p) == final)
            return true;
        if (p == WEFT_ROOT)
            return i == 0;
    }
    return false;
}

/* The stream on which the reader of a wait runs, or WEFT_NONE. */
static uint32_t stream_of(const struct finder *f, const struct weft_wait *w)
{
    uint32_t run = weft_history_run_before(f->h, w->reader, w->from_ns);
    if (run == WEFT_NONE)
        run = weft_history_run_at(f->h, w->reader, w->until_ns);
    if (run == WEFT_NONE)
        return f->h->streams == 1 ? 0 : WEFT_NONE;
    return weft_history_stream(f->h, run);
}

/* The run in which a promise resolved the source of a wait, or WEFT_NONE. */
static uint32_t resolved_in(const struct finder *f, const struct weft_wait *w)
{
    return analyse_ended_by(f->h, w->source) == WEFT_ROOT ? WEFT_NONE
                                                          : analyse_resolving_run(f->h, w->source);
}

/* How long the reader's loop worked for the source during a wait: in parallel it would take as
 * long. Work of the source counts, of what it has created, and of the promise that resolves it. */
static int64_t work_for(const struct finder *f, const struct weft_wait *w, uint32_t stream)
{
    const struct weft_history *h = f->h;
    uint32_t low = h->stream_first[stream], end = h->stream_first[stream + 1], high = end;
    const uint32_t resolver = analyse_ended_by(h, w->source);
    int64_t sum = 0;
    /* the first that ends later */
    WEFT_SEEK(low, high, f->m->run[h->stream_run[middle]].end_ns <= w->from_ns);
    for (uint32_t n = 0; low < end && n < RUNS; low++, n++) {
        const struct weft_run *r = &f->m->run[h->stream_run[low]];
        uint32_t who = h->run_promise[h->stream_run[low]];
        if (r->start_ns >= w->until_ns)
            break;
        if (who == w->reader || who == WEFT_ROOT)
            continue;
        if (who == resolver || analyse_is_of(f->m, who, w->source, ANCESTORS + 1))
            sum += analyse_overlap(r->start_ns, r->end_ns, w->from_ns, w->until_ns);
    }
    return sum;
}

/* How much of a wait could have run in parallel. Nothing, if what was waited for was made on the
 * reader's own loop, and that never slept: nobody else was at work. */
static int64_t parallel_ns(const struct finder *f, const struct weft_wait *w)
{
    int64_t length = w->until_ns - w->from_ns;
    uint32_t run = resolved_in(f, w), stream = stream_of(f, w);
    uint32_t before = weft_history_run_before(f->h, w->reader, w->from_ns);
    if (length <= 0)
        return 0;
    if (stream == WEFT_NONE)
        return length;
    bool blocks = before != WEFT_NONE && f->m->run[before].end_ns >= w->until_ns;
    bool away = run != WEFT_NONE && weft_history_stream(f->h, run) != stream;
    if (blocks || away) /* the reader's own thread waits; or another one has worked for it */
        return length;
    if (weft_history_idles(f->h, stream, w->from_ns, w->until_ns, 1) == 0)
        return 0;
    return weft_later(length - work_for(f, w, stream), 0);
}

/* Returns true if w follows the last wait of a chain, with nothing in between. */
static bool continues_chain(const struct finder *f, const struct chain *c,
                            const struct weft_wait *w)
{
    const struct weft_wait *last = wait_at(f, c->last);
    int64_t gap = w->from_ns - last->until_ns, length = w->until_ns - w->from_ns;
    int64_t before = last->until_ns - last->from_ns;
    return f->s->families->of[w->source] == c->family && w->source != last->source && gap >= 0 &&
           f->m->promise[w->source].start_ns >= last->until_ns &&
           gap <= (length > before ? length : before);
}

/* ---- Judging ---- */

/* Returns true if the reader ended after the chain, or waited for something else. */
static bool does_more_after(const struct finder *f, uint32_t reader, const struct chain *c)
{
    const struct weft_promise *p = &f->m->promise[weft_model_final(f->m, reader)];
    int64_t last_ns = wait_at(f, c->last)->until_ns;
    if (reader == WEFT_ROOT || p->background)
        return false;
    if (p->outcome != WEFT_PENDING)
        return true;
    uint32_t end = f->h->waits_of_first[reader + 1];
    for (uint32_t i = c->last + 1; i < end && i - c->last < RUNS; i++) {
        const struct weft_wait *w = wait_at(f, i);
        if (w->end != WEFT_WAIT_LEFT && w->from_ns >= last_ns &&
            f->s->families->of[w->source] != c->family)
            return true;
    }
    return false;
}

/* Returns true if it, or what it waits for, waited for several things at once: a job of its own. */
static bool fans_out(const struct finder *f, uint32_t p)
{
    for (unsigned i = 0; i < ANCESTORS; i++) {
        const uint32_t first = f->h->waits_of_first[p], end = f->h->waits_of_first[p + 1];
        for (uint32_t k = first; k + 1 < end && k - first < RUNS; k++)
            if (wait_at(f, k)->until_ns > wait_at(f, k + 1)->from_ns)
                return true;
        if (end - first != 1)
            return false;
        p = weft_model_final(f->m, wait_at(f, first)->source);
    }
    return false;
}

/* Returns true if it has done nothing else since it was created. */
static bool is_whole(const struct finder *f, uint32_t reader, uint32_t first)
{
    const struct weft_promise *p = &f->m->promise[reader];
    const int64_t end = p->outcome == WEFT_PENDING ? f->m->end_ns : p->end_ns;
    const int64_t life = end - f->m->promise[first].start_ns;
    const uint32_t from = f->h->waits_of_first[reader], until = f->h->waits_of_first[reader + 1];
    int64_t sum = 0;
    for (uint32_t i = from; i < until; i++)
        sum += wait_at(f, i)->until_ns - wait_at(f, i)->from_ns;
    return until - from >= WHOLE && sum >= life - life / WHOLE;
}

/* Returns true if it has done nothing before this chain except wait for similar things, and was
 * started independently, as with Lwt.async: this promise, or the one that waits for it. A
 * connection is served in this way, request by request. */
static bool is_sent_off(const struct finder *f, uint32_t reader, const struct chain *c)
{
    const struct weft_history *h = f->h;
    uint32_t p = reader;
    if (f->s->families->of[wait_at(f, h->waits_of_first[reader])->source] != c->family)
        return false;
    for (unsigned i = 0; i < RUNS && analyse_count(h->waits_for_first, p) > 0; i++) {
        const uint32_t by = h->wait[h->waits_for[h->waits_for_first[p]]].reader;
        if (by == WEFT_ROOT)
            return false;
        p = weft_model_final(f->m, by);
    }
    return strcmp(weft_model_type(f->m, p), "async") == 0;
}

/* Returns true if it looks like a loop that loads a server, or does one job after another. */
static bool makes_load(const struct finder *f, uint32_t reader, const struct chain *c)
{
    uint32_t source = wait_at(f, c->first)->source;
    bool works = analyse_count(f->h->children_first, source) > 0 ||
                 analyse_count(f->h->waits_of_first, source) > 0;
    reader = weft_model_final(f->m, reader);
    const uint32_t first = f->first[reader];
    if (works && is_sent_off(f, reader, c))
        return true;
    return (first == WEFT_ROOT || f->m->promise[first].creator == WEFT_ROOT) &&
           (c->count >= MANY || (works && is_whole(f, reader, first)) ||
            (works && f->m->promise[source].should_resolve) ||
            fans_out(f, weft_model_final(f->m, source)));
}

/* Returns true if nothing says that they are different things: all have the same label, nobody
 * works for them, and they are ended by the event loop, or by a promise that was there before. Key
 * presses look like this, and pieces of a stream. */
static bool is_alike(const struct finder *f, const struct chain *c)
{
    const struct weft_history *h = f->h;
    const uint32_t name = weft_model_name(f->m, wait_at(f, c->first)->source);
    for (uint32_t i = c->first; i <= c->last; i++) {
        const struct weft_wait *w = wait_at(f, i);
        const uint32_t p = w->source, by = analyse_ended_by(h, p);
        if (analyse_is_served(w) &&
            (weft_model_name(f->m, p) != name || analyse_count(h->children_first, p) > 0 ||
             analyse_count(h->waits_of_first, p) > 0 || analyse_count(h->runs_of_first, p) > 0 ||
             by == w->reader || f->m->promise[by].start_ns > f->m->promise[p].start_ns))
            return false;
    }
    return true;
}

/* Finds sorts of which two ran at the same time with the same creator, so that is possible; and
 * which promise was the first that became another one. */
static void find_those_together(struct finder *f)
{
    const uint32_t *of = f->s->families->of, families = f->s->families->count;
    uint32_t *last = analyse_take(f->s, families, sizeof *last);
    f->together = analyse_take(f->s, families, sizeof *f->together);
    f->first = analyse_take(f->s, f->m->promises, sizeof *f->first);
    for (uint32_t p = 1; !f->s->failed && p < f->m->promises; p++) {
        const struct weft_promise *q = &f->m->promise[p], *before = &f->m->promise[last[of[p]]];
        uint32_t *first = &f->first[weft_model_final(f->m, p)];
        *first = *first ? *first : p;
        f->together[of[p]] |= last[of[p]] && before->creator == q->creator &&
                              q->creator != WEFT_ROOT && q->start_ns < before->end_ns;
        last[of[p]] = p;
    }
}

/* Returns true if the source mostly waits for what was there before it, like news of a condition,
 * or space in a queue that another empties: others in parallel would wait for it, too. */
static bool waits_for_older(const struct finder *f, const struct weft_wait *w)
{
    const int64_t half_ns = (w->until_ns - w->from_ns) / 2;
    uint32_t p = weft_model_final(f->m, w->source);
    for (unsigned n = 0; n < ANCESTORS; n++) {
        const uint32_t first = f->h->waits_of_first[p], end = f->h->waits_of_first[p + 1];
        uint32_t inner = WEFT_NONE;
        for (uint32_t i = first; i < end && i - first < RUNS && inner == WEFT_NONE; i++)
            if (wait_at(f, i)->until_ns - wait_at(f, i)->from_ns >= half_ns)
                inner = wait_at(f, i)->source;
        if (inner == WEFT_NONE)
            return false;
        const struct weft_promise *q = &f->m->promise[inner];
        if (analyse_sum(q->start_ns, half_ns) < w->from_ns ||
            (q->start_ns <= w->from_ns && q->creator != WEFT_ROOT &&
             !creates_them_itself(f, w->reader, inner) &&
             !analyse_is_of(f->m, w->reader, q->creator, ANCESTORS + 1)))
            return true;
        p = weft_model_final(f->m, inner);
    }
    return false;
}

/* Returns true if the source, or what it created, resolves or signals promises of others meanwhile,
 * as a task does that feeds a queue or a stream: the order may matter there. */
static bool feeds(const struct finder *f, const struct weft_wait *w)
{
    const uint32_t final = weft_model_final(f->m, w->source);
    for (uint32_t i = w->ended_by, n = 0; i != WEFT_NONE && i > w->begun_by + 1 && n < NEAR; n++) {
        const struct weft_interaction *x = &f->m->interaction[--i];
        if ((x->kind == WEFT_RESOLVES || x->kind == WEFT_NOTIFIES) && x->actor != WEFT_ROOT &&
            x->actor != w->reader && weft_model_final(f->m, x->other) != final &&
            analyse_is_of(f->m, x->actor, w->source, ANCESTORS + 1) &&
            !analyse_is_of(f->m, x->other, w->source, ANCESTORS + 1))
            return true;
    }
    return false;
}

/* Returns true if the source of a wait is resolved at its resolver's own pace: by a timer that ran
 * before anybody asked for the source; by the resolver's own timer, if the resolver was there
 * before; or the source waits for what others signal. */
static bool is_paced(const struct finder *f, const struct weft_wait *w)
{
    const uint32_t run = resolved_in(f, w), resolver = analyse_ended_by(f->h, w->source);
    if (waits_for_older(f, w))
        return true;
    if (run == WEFT_NONE || resolver == w->reader ||
        analyse_is_of(f->m, resolver, w->source, ANCESTORS + 1))
        return false;
    const uint32_t timer = analyse_run_read(f->h, run);
    if (timer == WEFT_NONE || timer == WEFT_ROOT || !(analyse_known(f->s, timer) & ANALYSE_TIMER))
        return false;
    const uint32_t final = weft_model_final(f->m, resolver);
    const int64_t asked_ns = f->m->promise[w->source].start_ns;
    return f->m->promise[timer].start_ns < asked_ns ||
           (weft_model_final(f->m, f->m->promise[timer].creator) == final &&
            f->m->promise[f->first[final]].start_ns < asked_ns);
}

/* Returns true if it sleeps several times, and waits for nothing else. */
static bool sleeps_again(const struct finder *f, uint32_t p)
{
    const uint32_t first = f->h->waits_of_first[p], end = f->h->waits_of_first[p + 1];
    bool only = end - first > 1;
    for (uint32_t i = first; i < end && i - first < RUNS && only; i++)
        only = analyse_is_sleep(f->s, wait_at(f, i)->source);
    return only;
}

/* Returns true if it only waits for a sleep, directly or through nested calls. */
static bool waits_only_for_sleeps(const struct finder *f, uint32_t p)
{
    for (unsigned i = 0; i < ANCESTORS; i++) {
        const uint32_t waits = analyse_count(f->h->waits_of_first, p);
        if (waits != 1)
            return waits == 0 && i > 0 && analyse_is_sleep(f->s, p);
        p = weft_model_final(f->m, wait_at(f, f->h->waits_of_first[p])->source);
    }
    return false;
}

/* Returns true if most of them are sleeps, or do nothing but sleep, again and again, or some only
 * for a moment: this is how a program checks whether something has changed. */
static bool are_sleeps(const struct finder *f, const struct chain *c)
{
    uint32_t asleep = 0, within = 0, again = 0;
    bool moment = false;
    for (uint32_t i = c->first; i <= c->last; i++) {
        const struct weft_wait *w = wait_at(f, i);
        const uint32_t p = weft_model_final(f->m, w->source);
        if (!analyse_is_served(w))
            continue;
        const bool itself = analyse_count(f->h->waits_of_first, p) == 0;
        asleep += itself && analyse_is_sleep(f->s, p);
        within += !itself && waits_only_for_sleeps(f, p);
        again += sleeps_again(f, p);
        moment |= weft_history_length_ns(f->h, p) < MOMENT_NS;
    }
    return 2 * asleep > c->count || 2 * again > c->count || (moment && 2 * within > c->count);
}

static uint64_t signs_of_chain(const struct finder *f, uint32_t reader, const struct chain *c)
{
    const uint32_t source = wait_at(f, c->first)->source;
    const unsigned type = analyse_type(f->m, source), called = analyse_called(f->s, source);
    const unsigned by_reader = analyse_type(f->m, weft_model_final(f->m, reader));
    /* If it is known what the reader is, it does not matter that it was created long ago. */
    const bool created = f->m->promise[reader].created;
    return analyse_signs(f->s, created ? WEFT_ROOT : reader) |
           ((type | called) & ANALYSE_TIMER ? ANALYSE_E_TIMER : 0) |
           ((type | by_reader) & ANALYSE_ORDERED ? ANALYSE_E_ORDERED : 0) |
           (called & ANALYSE_ORDERED ? ANALYSE_CALLED : 0) |
           (reader != WEFT_ROOT && f->m->promise[weft_model_final(f->m, reader)].background
                ? ANALYSE_E_BACKGROUND
                : 0) |
           (weft_model_name(f->m, source) == WEFT_NONE ? ANALYSE_E_NAMELESS : 0) |
           (2 * c->failed >= c->count ? ANALYSE_E_FAILED : 0) |
           (c->count >= ASKED ? ANALYSE_E_ASKED : 0) |
           (2 * c->paced >= c->count ? ANALYSE_E_PACED : 0) |
           (2 * c->feeding >= c->count ? ANALYSE_E_FEEDS : 0) |
           (does_more_after(f, reader, c) ? ANALYSE_E_GOES_ON : 0) |
           (makes_load(f, reader, c) ? ANALYSE_E_LOAD : 0) |
           (are_sleeps(f, c) ? ANALYSE_E_SLEEPS : 0) |
           (!f->together[c->family] && is_alike(f, c) ? ANALYSE_E_ALIKE : 0);
}

/* Returns true if a loop that was blocked, or spun, explains most of a chain. */
static bool is_explained(const struct finder *f, const struct chain *c)
{
    const struct analyse_search *s = f->s;
    int64_t from = wait_at(f, c->first)->from_ns, to = wait_at(f, c->last)->until_ns, sum = 0;
    uint32_t low = 0, high = s->blockeds;
    WEFT_SEEK(low, high, s->blocked[middle].to_ns <= from); /* the first that ends later */
    for (uint32_t n = 0; low < s->blockeds && s->blocked[low].from_ns < to && n < c->count + RUNS;
         low++, n++) {
        const struct analyse_blocked *b = &s->blocked[low];
        sum += analyse_overlap(b->from_ns, b->to_ns, from, to);
    }
    return sum > (to - from) / 2;
}

static void end_chain(struct finder *f, uint32_t reader, struct chain *c)
{
    /* short ones count only if there are several */
    if (c->count < f->s->o->serial_waits - f->s->o->serial_waits * 2 / 5)
        return;
    for (uint32_t i = c->first; i <= c->last; i++) {
        if (!analyse_is_served(wait_at(f, i)))
            continue;
        const int64_t beside = parallel_ns(f, wait_at(f, i));
        c->beside_ns = analyse_sum(c->beside_ns, beside);
        c->longest_ns = weft_later(beside, c->longest_ns);
        c->paced += is_paced(f, wait_at(f, i));
        c->feeding += feeds(f, wait_at(f, i));
    }
    struct found x = {.chain = *c,
                      .reader = reader,
                      .saving_ns = c->beside_ns - c->longest_ns,
                      .reader_family = f->s->families->of[reader]};
    x.again = f->founds && f->found[f->founds - 1].reader == reader;
    if (x.saving_ns >= f->s->o->serial_saving_ns && c->gaps_ns <= c->sum_ns / 4 &&
        c->sum_ns / c->count >= LEAST_NS && !is_explained(f, c) &&
        analyse_judge(&x.verdict, WEFT_FINDING_SERIAL_WAITS, signs_of_chain(f, reader, c)))
        analyse_append(f->s, &f->found, &f->founds, &f->room, &x, sizeof x);
}

static void find_of(struct finder *f, uint32_t reader)
{
    struct chain c = {0};
    analyse_each(i, f->h->waits_of_first, reader) {
        const struct weft_wait *w = wait_at(f, i);
        if (w->end == WEFT_WAIT_LEFT) /* lost a race: against a time limit, for example */
            continue;
        bool fits = analyse_is_served(w) && creates_them_itself(f, reader, w->source);
        if (!c.count || !fits || !continues_chain(f, &c, w)) {
            end_chain(f, reader, &c);
            c = (struct chain){.first = i, .family = f->s->families->of[w->source]};
        }
        if (!fits)
            continue;
        if (c.count++)
            c.gaps_ns += w->from_ns - wait_at(f, c.last)->until_ns;
        c.last = i;
        c.sum_ns = analyse_sum(c.sum_ns, w->until_ns - w->from_ns);
        const unsigned outcome = f->m->promise[weft_model_final(f->m, w->source)].outcome;
        c.failed += outcome == WEFT_FAILED || outcome == WEFT_CANCELLED;
    }
    end_chain(f, reader, &c);
}

/* ---- Findings ---- */

static int by_reader_and_family(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    WEFT_ORDER(x->chain.family, y->chain.family);
    WEFT_ORDER(x->reader_family, y->reader_family);
    WEFT_ORDER(y->verdict.confidence, x->verdict.confidence);
    WEFT_ORDER(y->saving_ns, x->saving_ns);
    WEFT_ORDER(x->reader, y->reader);
    return weft_order(x->chain.first, y->chain.first);
}

static void report_serial(struct finder *f, const struct found *x)
{
    enum { LINKS = 4 }; /* that are shown from the beginning */
    const struct chain *c = &x->chain;
    const struct weft_wait *first = wait_at(f, c->first);
    const uint32_t name = weft_model_name(f->m, first->source);
    const bool named = name != WEFT_NONE;
    bool same = named; /* then the label says more than the family, which ignores numbers */
    if (!analyse_finding_add(f->s, WEFT_FINDING_SERIAL_WAITS, &x->verdict, x->reader,
                             first->from_ns, wait_at(f, c->last)->until_ns, x->saving_ns))
        return;
    f->s->finding->count = x->count;
    for (uint32_t i = c->first, n = 0; i <= c->last; i++) {
        const struct weft_wait *w = wait_at(f, i);
        if (!analyse_is_served(w))
            continue;
        same &= weft_model_name(f->m, w->source) == name;
        if (n++ < LINKS || i == c->last)
            analyse_show_waited(f->s, w);
        analyse_affects(f->s, w->source);
    }
    analyse_say(f->s, SAY_SERIAL, PROMISE(reader, x->reader), AMOUNT(count, c->count),
                PROMISE(source, same ? first->source : WEFT_NONE),
                SORT(sort, same ? WEFT_NONE : c->family),
                PROMISE(named, named ? first->source : WEFT_NONE), TIME(from, first->from_ns),
                LENGTH(waited, c->sum_ns), LENGTH(needed, c->sum_ns - x->saving_ns));
    if (x->count > 1)
        analyse_say(f->s, SAY_HAPPENED_OFTEN, AMOUNT(times, x->count));
}

static void report_chains(struct finder *f)
{
    weft_sort(f->found, f->founds, sizeof *f->found, by_reader_and_family);
    for (uint32_t i = 0, end; i < f->founds; i = end) {
        struct found *x = &f->found[i];
        bool is_long = false;
        uint32_t readers = 0;
        x->count = 0;
        for (end = i; end < f->founds && f->found[end].chain.family == x->chain.family &&
                      f->found[end].reader_family == x->reader_family;
             end++) {
            x->count += f->found[end].verdict.confidence == x->verdict.confidence;
            is_long |= f->found[end].chain.count >= f->s->o->serial_waits;
            readers += !f->found[end].again;
        }
        if (is_long || readers >= TIMES)
            report_serial(f, x);
    }
}

void analyse_find_serial(struct analyse_search *s)
{
    struct finder f = {.s = s, .m = s->m, .h = s->h};
    find_those_together(&f);
    for (uint32_t p = 0; p < f.m->promises && !s->failed; p++)
        find_of(&f, p);
    if (!s->failed)
        report_chains(&f);
}
