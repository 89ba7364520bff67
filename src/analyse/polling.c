/* SPDX-License-Identifier: ISC */
/* Results that were there long before the reader's own timer made it look. */
#include "analyse/judge.h"
#include "analyse/types.h"

enum {
    TIMES = 5,      /* how often it was late */
    LOOKED_AT = 64, /* of its runs, for one of its timers */
};

/* One time that a reader was late. */
struct late {
    uint32_t reader, source, timer;
    int64_t since_ns, there_ns, until_ns; /* since_ns: when it could have begun to wait for it */
};

/* For one sort of reader. */
struct poller {
    struct late worst;
    uint32_t count, own, vain;
    int64_t sum_ns;
};

struct finder {
    struct analyse_search *s;
    const struct weft_model *m;
    const struct weft_history *h;
    struct poller *poller; /* by family of reader */
    /* by promise: it is in poller; somebody waits for it, or uses its result */
    bool *counted, *used;
};

/* The timer that started the run that contains a time, or WEFT_NONE. */
static uint32_t timer_of(const struct finder *f, uint32_t reader, int64_t time_ns)
{
    const uint32_t timer = analyse_run_read(f->h, weft_history_run_at(f->h, reader, time_ns));
    return timer != WEFT_NONE && analyse_is_sleep(f->s, timer) ? timer : WEFT_NONE;
}

/* Returns true if one of its own timers woke a reader between two times, in vain. */
static bool looked_before(const struct finder *f, uint32_t reader, int64_t from, int64_t to)
{
    for (uint32_t i = weft_history_run_from(f->h, reader, from), n = 0;
         i < f->h->runs_of_first[reader + 1] && n < LOOKED_AT; i++, n++) {
        int64_t start = f->m->run[f->h->runs_of[i]].start_ns;
        if (start >= to)
            return false;
        if (timer_of(f, reader, start) != WEFT_NONE)
            return true;
    }
    return false;
}

static void add_late_look(struct finder *f, struct late x, bool waited)
{
    int64_t late = x.until_ns - x.there_ns;
    uint32_t source = weft_model_final(f->m, x.source);
    if (late < f->s->o->slow_wake_ns || analyse_is_sleep(f->s, source) || f->counted[source] ||
        x.reader == WEFT_ROOT || source == WEFT_ROOT)
        return;
    x.timer = timer_of(f, x.reader, x.until_ns);
    if (x.timer == WEFT_NONE || f->m->promise[x.timer].start_ns >= x.until_ns)
        return;
    f->counted[source] = true;
    struct poller *p = &f->poller[f->s->families->of[x.reader]];
    if (p->count++ == 0 || late > p->worst.until_ns - p->worst.there_ns)
        p->worst = x;
    p->own += waited || weft_model_final(f->m, f->m->promise[source].creator) ==
                            weft_model_final(f->m, x.reader);
    p->vain += looked_before(f, x.reader, x.since_ns, x.there_ns);
    p->sum_ns = analyse_sum(p->sum_ns, late);
}

static void report_polling(struct finder *f, const struct poller *p)
{
    const struct late *x = &p->worst;
    const uint64_t signs = analyse_signs(f->s, WEFT_ROOT) |
                           (2 * p->own > p->count ? ANALYSE_Q_OWN : 0) |
                           (2 * p->vain > p->count ? ANALYSE_Q_VAIN : 0);
    if (!analyse_report(f->s, WEFT_FINDING_POLLING, signs, x->reader, x->there_ns, x->until_ns,
                        p->sum_ns))
        return;
    analyse_say(f->s, SAY_POLLING, PROMISE(source, x->source), TIME(there, x->there_ns),
                PROMISE(reader, x->reader), PROMISE(timer, x->timer),
                LENGTH(late, x->until_ns - x->there_ns), AMOUNT(count, p->count),
                LENGTH(sum, p->sum_ns));
    f->s->finding->count = p->count;
    analyse_show(f->s, x->there_ns, WEFT_EVIDENCE_RESOLVED, x->source,
                 analyse_resolver(f->h, x->source));
    analyse_show_created(f->s, x->timer);
    analyse_show(f->s, x->until_ns, WEFT_EVIDENCE_WOKEN, x->reader, x->timer);
    analyse_affects(f->s, x->source);
}

/* Adds the creator of something whose result nobody uses, if it sleeps until it looks: it had slept
 * before, and does not sleep again. */
static void add_unread(struct finder *f, uint32_t source)
{
    const struct weft_history *h = f->h;
    const struct weft_promise *p = &f->m->promise[source];
    int64_t there = weft_history_resolved_ns(h, source);
    uint32_t reader = p->creator, first = h->waits_of_first[reader];
    if (there == INT64_MAX || reader == WEFT_ROOT || f->used[source])
        return;
    uint32_t i = weft_history_wait_from(h, reader, there);
    if (i < first + 2)
        return;
    const struct weft_wait *w = &h->wait[h->waits_of[i - 1]],
                           *before = &h->wait[h->waits_of[i - 2]];
    const uint32_t *of = f->s->families->of;
    bool again =
        i < h->waits_of_first[reader + 1] && of[h->wait[h->waits_of[i]].source] == of[w->source];
    if (before->from_ns >= p->start_ns && of[before->source] == of[w->source] && !again &&
        analyse_is_served(w))
        add_late_look(f, (struct late){reader, source, 0, p->start_ns, there, w->until_ns}, false);
}

/* Finds readers that waited, and those that did not wait but use the result. */
static void find_late_looks(struct finder *f)
{
    for (uint32_t i = 0; i < f->h->waits; i++) {
        const struct weft_wait *w = &f->h->wait[i];
        int64_t there = weft_history_resolved_ns(f->h, w->source);
        f->used[w->source] = true;
        if (analyse_is_served(w) && there != INT64_MAX && there > w->from_ns)
            add_late_look(f, (struct late){w->reader, w->source, 0, w->from_ns, there, w->until_ns},
                          true);
    }
    for (uint32_t i = 0; i < f->m->interactions; i++) {
        const struct weft_interaction *x = &f->m->interaction[i];
        f->used[x->other] |= x->kind == WEFT_READS || x->kind == WEFT_NOTIFIES;
        if (x->kind != WEFT_READS || x->other == WEFT_ROOT)
            continue;
        const int64_t there = weft_history_resolved_ns(f->h, x->other);
        if (there <= x->time_ns)
            add_late_look(f,
                          (struct late){x->actor, x->other, 0, f->m->promise[x->other].start_ns,
                                        there, x->time_ns},
                          false);
    }
    for (uint32_t p = 1; p < f->m->promises; p++)
        add_unread(f, p);
}

void analyse_find_polling(struct analyse_search *s)
{
    struct finder f = {.s = s, .m = s->m, .h = s->h};
    f.poller = analyse_take(s, s->families->count, sizeof *f.poller);
    f.counted = analyse_take(s, s->m->promises, sizeof *f.counted);
    f.used = analyse_take(s, s->m->promises, sizeof *f.used);
    if (!s->failed)
        find_late_looks(&f);
    for (uint32_t i = 1; i < s->families->count && !s->failed; i++)
        if (f.poller[i].count >= TIMES)
            report_polling(&f, &f.poller[i]);
}
