/* SPDX-License-Identifier: ISC */
/* Stragglers: a promise starts several of one type at once and waits for all, again and again; and
 * the same one, by its label or else by its place among them, always comes last by far. */
#include <stdlib.h>

#include "analyse/judge.h"
#include "analyse/loop.h"

#define LEAST_NS INT64_C(1000000) /* how much longer it takes than the others */
enum {
    LEAST = 3,   /* started at the same time */
    TIMES = 5,   /* how often a promise does that */
    MOSTLY = 80, /* percent of those times */
    SLOWER = 3,  /* times the median of the others: the last one in a queue takes twice as long */
    DIFFERENCE = 2,   /* bytes in which labels may differ and still be of one sort */
    GROUP_MOST = 256, /* larger ones are not a fan-in that somebody waits for */
};

/* A promise waited for all of these. */
struct fan_in {
    uint32_t type, label; /* texts; label: of the last one */
    /* place: 1 + how many were started before it, if another one has the same label; otherwise 0 */
    uint32_t last, place, of;
    int64_t took_ns, usual_ns; /* it, and the others (the median) */
    bool slow, alike;          /* alike: their labels say that they are of one sort */
};

struct finder {
    struct analyse_search *s;
    const struct weft_model *m;
    const struct weft_history *h;
    struct child {
        uint32_t type, promise;
    } * child;        /* of one creator */
    uint32_t *reader; /* by promise */
    struct fan_in *found;
    uint32_t founds, room;
};

/* ---- Fan-ins ---- */

/* For each promise, who waits for it first, or otherwise uses its result; WEFT_NONE: nobody. */
static void find_readers(struct finder *f)
{
    const struct weft_model *m = f->m;
    for (uint32_t p = 0; p < m->promises; p++)
        f->reader[p] = WEFT_NONE;
    for (uint32_t i = f->h->waits; i-- > 0;)
        f->reader[f->h->wait[i].source] = weft_model_final(m, f->h->wait[i].reader);
    for (uint32_t i = 0; i < m->interactions; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        if (x->kind == WEFT_READS && f->reader[x->other] == WEFT_NONE)
            f->reader[x->other] = weft_model_final(m, (uint32_t)x->actor);
    }
}

/* Returns true if two labels differ only in a few bytes in one place. */
static bool are_alike(const struct weft_model *m, uint32_t p, uint32_t q)
{
    uint32_t n, k, same = 0, tail = 0, a = weft_model_name(m, p), b = weft_model_name(m, q);
    const char *x = weft_model_text(m, a, &n), *y = weft_model_text(m, b, &k);
    uint32_t shorter = n < k ? n : k;
    while (same < shorter && x[same] == y[same])
        same++;
    while (tail < shorter - same && x[n - 1 - tail] == y[k - 1 - tail])
        tail++;
    return n - same - tail <= DIFFERENCE && k - same - tail <= DIFFERENCE;
}

/* count promises that were started at the same time. */
static void add_fan_in_of(struct finder *f, const uint32_t *p, uint32_t count)
{
    const struct weft_model *m = f->m;
    int64_t length[GROUP_MOST];
    uint32_t reader = f->reader[p[0]], last = 0, n = 0;
    bool equal = true;
    if (count < LEAST || count > GROUP_MOST || reader == WEFT_NONE)
        return;
    for (uint32_t i = 0; i < count; i++) {
        int64_t end = weft_history_resolved_ns(f->h, p[i]);
        if (end == INT64_MAX || f->reader[p[i]] != reader || weft_model_name(m, p[i]) == WEFT_NONE)
            return;
        last = end > weft_history_resolved_ns(f->h, p[last]) ? i : last;
    }
    struct fan_in x = {.type = m->promise[p[0]].type,
                       .label = weft_model_name(m, p[last]),
                       .last = p[last],
                       .of = count,
                       .alike = true};
    for (uint32_t i = 0; i < count; i++) {
        if (i == last)
            continue;
        if (weft_model_name(m, p[i]) == x.label) {
            x.place = last + 1;
            /* otherwise one of them may have had nothing to do */
            equal &= analyse_count(f->h->waits_of_first, p[i]) ==
                     analyse_count(f->h->waits_of_first, p[last]);
        } else
            x.alike &= are_alike(m, p[i], p[last]);
        length[n++] = weft_history_resolved_ns(f->h, p[i]) - m->promise[p[i]].start_ns;
    }
    x.took_ns = weft_history_resolved_ns(f->h, p[last]) - m->promise[p[last]].start_ns;
    x.usual_ns = analyse_median(length, n);
    x.slow = equal && x.took_ns / SLOWER >= x.usual_ns && x.took_ns - x.usual_ns >= LEAST_NS;
    analyse_append(f->s, &f->found, &f->founds, &f->room, &x, sizeof x);
}

static int by_type(const void *a, const void *b)
{
    const struct child *x = a, *y = b;
    WEFT_ORDER(x->type, y->type);
    return weft_order(x->promise, y->promise);
}

/* Promises of one creator and type, started before any of them ended, belong together. */
static void find_groups(struct finder *f, uint32_t creator)
{
    const struct weft_history *h = f->h;
    uint32_t first = h->children_first[creator], n = h->children_first[creator + 1] - first;
    uint32_t group[GROUP_MOST], count = 0;
    int64_t ended = INT64_MAX;
    for (uint32_t i = 0; i < n; i++)
        f->child[i] =
            (struct child){f->m->promise[h->children[first + i]].type, h->children[first + i]};
    qsort(f->child, n, sizeof *f->child, by_type);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t p = f->child[i].promise;
        if (i > 0 &&
            (f->child[i].type != f->child[i - 1].type || f->m->promise[p].start_ns >= ended)) {
            add_fan_in_of(f, group, count);
            count = 0;
            ended = INT64_MAX;
        }
        ended = weft_earlier(weft_history_ended_ns(h, p), ended);
        if (count < GROUP_MOST)
            group[count] = p;
        count++;
    }
    add_fan_in_of(f, group, count);
}

/* ---- Findings ---- */

static int by_label(const void *a, const void *b)
{
    const struct fan_in *x = a, *y = b;
    WEFT_ORDER(x->type, y->type);
    WEFT_ORDER(x->label, y->label);
    WEFT_ORDER(x->place, y->place);
    return weft_order(x->last, y->last);
}

/* count: fan-ins of one type in which the same one was last; all: those of that type. */
static void report_straggler(struct finder *f, const struct fan_in *x, uint32_t count, uint32_t all)
{
    enum { SHOWN = 3 };
    const struct fan_in *worst = x;
    uint64_t alike = 0;
    int64_t cost = 0;
    for (uint32_t i = 0; i < count; i++) {
        worst = x[i].took_ns - x[i].usual_ns > worst->took_ns - worst->usual_ns ? &x[i] : worst;
        cost = analyse_sum(cost, x[i].took_ns - x[i].usual_ns);
        alike += x[i].alike;
    }
    const uint64_t signs =
        analyse_signs(f->s, WEFT_ROOT) | (2 * alike < count ? ANALYSE_T_DIFFERENT : 0);
    const struct weft_promise *p = &f->m->promise[worst->last];
    if (!analyse_report(f->s, WEFT_FINDING_STRAGGLER, signs, worst->last, p->start_ns,
                        p->start_ns + worst->took_ns, cost))
        return;
    analyse_say(f->s, SAY_STRAGGLER, PROMISE(last, worst->last), AMOUNT(place, worst->place),
                AMOUNT(of, worst->of), AMOUNT(count, count), AMOUNT(all, all),
                LENGTH(worst, worst->took_ns), LENGTH(usual, worst->usual_ns));
    f->s->finding->count = count;
    for (uint32_t i = 0; i < count; i++) {
        analyse_affects(f->s, f->reader[x[i].last]);
        if (i >= SHOWN)
            continue;
        p = &f->m->promise[x[i].last];
        analyse_show_created(f->s, x[i].last);
        analyse_show(f->s, p->start_ns + x[i].took_ns, WEFT_EVIDENCE_RESOLVED, x[i].last,
                     analyse_resolver(f->h, x[i].last));
    }
}

/* Fan-ins of one type. */
static void find_stragglers_of_type(struct finder *f, const struct fan_in *x, uint32_t count)
{
    for (uint32_t i = 0, k, slow; i < count && count >= TIMES; i = k) {
        slow = 0;
        for (k = i; k < count && x[k].label == x[i].label && x[k].place == x[i].place; k++)
            slow += x[k].slow;
        if (UINT64_C(100) * slow >= (uint64_t)count * MOSTLY)
            report_straggler(f, &x[i], k - i, count);
    }
}

void analyse_find_stragglers(struct analyse_search *s)
{
    struct finder f = {.s = s, .m = s->m, .h = s->h};
    f.reader = analyse_take(s, s->m->promises, sizeof *f.reader);
    f.child = analyse_take(s, s->m->promises, sizeof *f.child);
    if (!s->failed)
        find_readers(&f);
    for (uint32_t c = 0; c < f.m->promises && !s->failed; c++)
        if (analyse_count(f.h->children_first, c) >= LEAST)
            find_groups(&f, c);
    if (f.founds && !s->failed)
        qsort(f.found, f.founds, sizeof *f.found, by_label);
    for (uint32_t i = 0, k; i < f.founds && !s->failed; i = k) {
        for (k = i; k < f.founds && f.found[k].type == f.found[i].type; k++)
            ;
        find_stragglers_of_type(&f, &f.found[i], k - i);
    }
}
