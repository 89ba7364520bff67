/* SPDX-License-Identifier: ISC */
/* The facts of a trace as a whole, and what to look at first. */
#include <stdlib.h>
#include <string.h>

#include "explore/dealings.h"
#include "explore/fact.h"
#include "explore/hot.h"

enum { FEW = 6, LINKS_MAX = 64, FINDINGS_SHOWN = 30 };

#define AWAKE (WEFT_NONE - 1)

struct census {
    const struct weft_scene *s;
    const struct weft_model *m;
    const struct weft_history *h;
    uint32_t
        *wait; /* of each promise: the wait in which the trace ends; AWAKE or WEFT_NONE: none */
    uint64_t outcome[WEFT_OUTCOME_COUNT], all_overdue, waiting;
    struct weft__top overdue, failed, longest; /* the longest ones; failed: the first ones */
    struct weft__top waits;                    /* that wait still, since when */
};

/* Without a history nothing is said of waits. */
static int find_waits(struct census *c, const struct weft_history *h)
{
    c->wait = malloc(c->m->promises * sizeof *c->wait);
    if (!c->wait)
        return WEFT_E_NOMEM;
    memset(c->wait, 0xff, c->m->promises * sizeof *c->wait);
    c->h = h;
    for (uint32_t i = 0; h && i < h->waits; i++) {
        const struct weft_wait *w = &h->wait[i];
        uint32_t *last = &c->wait[w->reader];
        if (w->end == WEFT_WAIT_OPEN)
            *last = i;
        else if (*last >= AWAKE || w->until_ns >= h->wait[*last].from_ns)
            *last = AWAKE;
    }
    return 0;
}

/* What a pending promise waits for when the trace ends, and since when; WEFT_NONE: nothing, as far as can be
 * seen. */
static uint32_t waits_for(const struct census *c, uint32_t promise, int64_t *since)
{
    if (c->m->promise[promise].outcome != WEFT_PENDING || c->wait[promise] >= AWAKE)
        return WEFT_NONE;
    const struct weft_wait *w = &c->h->wait[c->wait[promise]];
    uint32_t other = weft_model_final(c->m, w->source);
    *since = w->from_ns;
    return c->m->promise[other].outcome == WEFT_PENDING ? other : WEFT_NONE;
}

static void take(struct census *c)
{
    const struct weft_model *m = c->m;
    c->overdue.room = c->failed.room = c->longest.room = c->waits.room = FEW;
    for (uint32_t i = 1; i < m->promises; i++) {
        const struct weft_promise *p = &m->promise[i];
        int64_t end = p->outcome == WEFT_PENDING ? m->end_ns : p->end_ns;
        int64_t length = end - p->start_ns, since; /* at least as long as its line */
        c->outcome[p->outcome]++;
        if (c->longest.count < FEW || length > c->longest.length[FEW - 1])
            weft__top_add(&c->longest, i, weft__length(c->s, i), 0);
        if (p->outcome == WEFT_FAILED)
            weft__top_add(&c->failed, i, -p->end_ns, 0);
        if (p->outcome != WEFT_PENDING)
            continue;
        if (p->should_resolve) {
            c->all_overdue++;
            weft__top_add(&c->overdue, i, weft__length(c->s, i), 0);
        }
        if (!p->background && waits_for(c, i, &since) != WEFT_NONE) {
            c->waiting++;
            weft__top_add(&c->waits, i, -since, 0);
        }
    }
}

static void add_list(struct weft__facts *f, const struct census *c, const char *name,
                     const struct weft__top *top, uint64_t all, bool bad)
{
    for (uint32_t i = 0; i < top->count; i++) {
        weft__fact_promise(f, i ? "" : name, c->s, top->promise[i], "%s", "");
        if (bad)
            weft__fact_bad(f);
    }
    weft__fact_more(f, all, top->count);
}

/* The longest wait that has no end, and along it to the promise that nothing is known to wait for. */
static void add_hang(struct weft__facts *f, const struct census *c)
{
    int64_t since, first = 0;
    uint32_t waiter = c->waits.promise[0], other = waits_for(c, waiter, &first), last = other;
    for (unsigned i = 0; i < LINKS_MAX; i++) {
        uint32_t next = waits_for(c, last, &since);
        if (next == WEFT_NONE)
            break;
        last = next;
    }
    weft__fact_named(f, "the longest wait", c->s, waiter, ": waits since %s",
                     weft_moment(first).text);
    weft__fact_promise(f, "for", c->s, other, "%s", "");
    if (last != other)
        weft__fact_promise(f, "and that in the end for", c->s, last, "%s", "");
    struct weft__dealings d;
    if (weft__dealings_find(&d, c->h, last) < 0)
        f->failed = true;
    else if (d.notified_in_vain)
        weft__fact_in_vain(f, "which was notified", &d);
}

/* Where there are findings, they say what hangs and why. */
static void add_hint(struct weft__facts *f, const struct census *c, bool has_findings)
{
    uint64_t failed = c->outcome[WEFT_FAILED];
    weft__fact_heading(f, has_findings ? "Look also at" : "Look first at");
    if (c->all_overdue && !has_findings) {
        weft__fact_text(f, "never resolved", "%s promise%s", weft_count(c->all_overdue).text,
                        weft_plural(c->all_overdue));
        weft__fact_bad(f);
        add_list(f, c, "", &c->overdue, c->all_overdue, true);
    }
    if (c->waiting && !has_findings) {
        weft__fact_text(f, "still waiting", "%s promise%s when the trace ends",
                        weft_count(c->waiting).text, weft_plural(c->waiting));
        add_hang(f, c);
    }
    if (failed) {
        weft__fact_text(f, "failed", "%s promise%s", weft_count(failed).text, weft_plural(failed));
        weft__fact_bad(f);
        add_list(f, c, "", &c->failed, failed, true);
    }
    add_list(f, c, "the longest", &c->longest, 0, false);
}

static void add_contradictions(struct weft__facts *f, const struct weft_model *m)
{
    const struct weft_contradictions *x = &m->contradictions;
    uint64_t all = x->created_twice + x->resolved_twice + x->circles + x->on_loop;
    if (m->promoted_events)
        weft__fact_text(f, "older events",
                        "%s, of promises that were pending when the rest was overwritten",
                        weft_count(m->promoted_events).text);
    if (all) {
        weft__fact_text(f, "contradictions", "%s events were ignored", weft_count(all).text);
        weft__fact_bad(f);
    }
}

/* Those that are at least likely; returns whether there are any. */
static bool add_findings(struct weft__facts *f, const struct weft_model *m)
{
    const struct weft_findings *all = f->analysis ? &f->analysis->findings : NULL;
    const struct weft__target nowhere = {.promise = WEFT_NONE};
    uint32_t shown = 0, likely = 0;
    if (!all && !f->analysing)
        return false;
    weft__fact_heading(f, "Findings");
    if (!all) {
        weft__fact_text(f, "", "looking for faults \xe2\x80\xa6");
        return false;
    }
    while (likely < all->count && all->finding[likely].confidence >= WEFT_LIKELY)
        likely++;
    for (; shown < likely && shown < FINDINGS_SHOWN; shown++) {
        const struct weft_finding *x = &all->finding[shown];
        weft__fact_long(f, weft_finding_name(x->kind), x->text ? x->text : "", WEFT_LINK_FINDING,
                        (struct weft__target){.promise = shown});
        if (x->confidence == WEFT_CERTAIN)
            weft__fact_bad(f);
    }
    weft__fact_more(f, likely, shown);
    if (likely == 0)
        weft__fact_long(f, "none",
                        weft_model_is_empty(m)
                            ? "nothing was recorded of promises, so nothing can be concluded"
                            : "nothing that hangs, blocks, spins, leaks or is lost was found",
                        WEFT_LINK_NONE, nowhere);
    return likely > 0;
}

/* When the first event was; without the C library's calendar, which the page does not have. Years begin in March here,
 * so that a leap day is the last of one. */
static void add_date(struct weft__facts *f, int64_t wall_ns)
{
    const int64_t day_ns = INT64_C(86400000000000), of_400_years = 146097, of_100 = 36524,
                  of_4 = 1461;
    int64_t day = wall_ns / day_ns + 719468, ns = wall_ns % day_ns; /* since March 1, 0 */
    int64_t year = day / of_400_years * 400;
    day %= of_400_years;
    int64_t centuries = day / of_100 < 4 ? day / of_100 : 3;
    day -= centuries * of_100;
    int64_t fours = day / of_4;
    day %= of_4;
    int64_t years = day / 365 < 4 ? day / 365 : 3;
    day -= years * 365;
    int64_t month = (5 * day + 2) / 153;
    year += centuries * 100 + fours * 4 + years + (month >= 10);
    int seconds = (int)(ns / 1000000000);
    weft__fact_text(f, "began", "%d-%02d-%02d %02d:%02d:%02d.%06d UTC", (int)year,
                    (int)(month < 10 ? month + 3 : month - 9),
                    (int)(day - (153 * month + 2) / 5 + 1), seconds / 3600, seconds / 60 % 60,
                    seconds % 60, (int)(ns % 1000000000 / 1000));
}

int weft__facts_of_trace(struct weft__facts *f, const struct weft_scene *s, const char *title)
{
    const struct weft_model *m = s->m;
    struct census c = {.s = s, .m = m};
    weft__fact_begin(f);
    if (find_waits(&c, f->history) < 0) {
        f->failed = true;
        return weft__fact_end(f);
    }
    take(&c);
    bool has_findings = add_findings(f, m);
    if (title && title[0])
        weft__fact_heading(f, "%.*s", WEFT__FACT_BYTES, title);
    else
        weft__fact_heading(f, "Trace");
    if (m->has_wall)
        add_date(f, m->wall_ns);
    if (f->axis)
        weft__fact_text(f, "time axis", "%s", f->axis);
    weft__fact_text(f, "time span", "%s", weft_duration(m->end_ns).text);
    weft__fact_text(f, "events", "%s", weft_count(m->events_total).text);
    weft__fact_text(f, "promises", "%s", weft_count(m->promises - 1).text);
    for (unsigned o = 0; o < WEFT_OUTCOME_COUNT; o++)
        if (c.outcome[o]) {
            weft__fact_text(f, weft_outcome_name((enum weft_outcome)o), "%s",
                            weft_count(c.outcome[o]).text);
            if (o == WEFT_FAILED)
                weft__fact_bad(f);
        }
    weft__fact_text(f, "rows", "%s", weft_count(s->l->rows).text);
    if (m->counters)
        weft__fact_text(f, "counters", "%s", weft_count(m->counters).text);
    add_contradictions(f, m);
    if (m->promises > 1)
        add_hint(f, &c, has_findings);
    weft__fact_hot_trace(f, s);
    free(c.wait);
    return weft__fact_end(f);
}
