/* SPDX-License-Identifier: ISC */
#include "analyse/explain.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "analyse/finding.h"
#include "base/aside.h"

#define MS INT64_C(1000000)

static const struct {
    const char *name, *hint;
} kinds[] = {
#define X(KIND, name, what, hint) [WEFT_FINDING_##KIND] = {name, hint},
#include "analyse/finding.def"
#undef X
};

const char *weft_finding_name(enum weft_finding_kind kind)
{
    return kinds[kind].name;
}

const char *weft_finding_hint(enum weft_finding_kind kind)
{
    return kinds[kind].hint;
}

const char *weft_confidence_name(enum weft_confidence c)
{
    static const char *const names[] = {"possible", "likely", "certain"};
    return names[c];
}

const char *weft_evidence_name(enum weft_evidence_event e)
{
    static const char *const names[] = {
#define X(NAME, name) [WEFT_EVIDENCE_##NAME] = name,
        WEFT_EVIDENCE(X)
#undef X
    };
    return names[e];
}

struct weft_explain_options weft_explain_defaults(const struct weft_explain_options *given)
{
    struct weft_explain_options o = given ? *given : (struct weft_explain_options){0};
#define DEFAULT(field, value)                                                                      \
    do {                                                                                           \
        if (o.field == 0)                                                                          \
            o.field = (value);                                                                     \
    } while (0)
    DEFAULT(hang_ns, 100 * MS);
    DEFAULT(slow_wake_ns, 10 * MS);
    DEFAULT(block_ns, 10 * MS);
    DEFAULT(turn_ns, 50 * MS);
    DEFAULT(never_yield_ns, 1000 * MS);
    DEFAULT(spin_runs, 1000);
    DEFAULT(self_wakes, 20);
    DEFAULT(leak_count, 20);
    DEFAULT(serial_waits, 5);
    DEFAULT(serial_saving_ns, 5 * MS);
    DEFAULT(herd_readers, 8);
    DEFAULT(retries, 20);
    DEFAULT(gc_ns, 10 * MS);
#undef DEFAULT
    return o;
}

/* ---- Order ---- */

static int by_importance(const void *a, const void *b)
{
    const struct weft_finding *x = a, *y = b;
    WEFT_ORDER(y->confidence, x->confidence);
    WEFT_ORDER(x->kind, y->kind);
    WEFT_ORDER(y->affected_total, x->affected_total);
    WEFT_ORDER(y->cost_ns, x->cost_ns);
    WEFT_ORDER(x->promise, y->promise);
    return weft_order(x->start_ns, y->start_ns);
}

/* ---- The searches, by two threads ---- */

static void (*const searches[])(struct analyse_search *) = {
#define SEARCH(file, name) analyse_find_##name,
#include "analyse/searches.def"
};

enum {
    SEARCHES = sizeof searches / sizeof *searches,
    MANY = 10000, /* promises and interactions; with fewer, all takes a few milliseconds */
};

struct work {
    weft_progress_fn *progress; /* called by the caller's thread alone */
    void *data;
    unsigned job[SEARCHES], jobs; /* the first search of each job */
    atomic_uint taken;            /* jobs that a thread has begun */
    atomic_bool stop;
    struct weft_findings out[SEARCHES]; /* of each job */
};

struct worker {
    struct work *work;
    struct analyse_search s;
    bool is_aside;
};

/* What looks at what the ones before it have found (when a loop was blocked) belongs to their job. */
static bool goes_on(unsigned search)
{
    return search < SEARCHES &&
           (searches[search] == analyse_find_hangs || searches[search] == analyse_find_serial);
}

/* weft_progress_fn */
static bool may_go_on(void *data, double done)
{
    const struct worker *w = data;
    struct work *k = w->work;
    if (!w->is_aside && k->progress && !k->progress(k->data, done))
        atomic_store_explicit(&k->stop, true, memory_order_relaxed);
    return !atomic_load_explicit(&k->stop, memory_order_relaxed);
}

static void run_search(struct worker *w, unsigned search)
{
    struct analyse_search *s = &w->s;
    /* It finds all of WEFT_FINDINGS_AT_ONCE. */
    if (s->m->quirks.at_once && searches[search] != analyse_find_hangs)
        return;
    analyse_search_run(s, searches[search]);
    s->canceled = s->canceled || !may_go_on(w, s->done + 1.0 / (w->work->jobs + 1));
}

static void run_job(struct worker *w, unsigned job, unsigned begun)
{
    struct work *k = w->work;
    w->s.out = &k->out[job];
    w->s.room = 0;
    w->s.done = (double)begun / (k->jobs + 1);
    unsigned search = k->job[job];
    do
        run_search(w, search);
    while (goes_on(++search) && !w->s.failed && !w->s.canceled);
}

/* One thread begins with the first job, the other one with the last, until all are taken. */
static void run_jobs(void *data)
{
    struct worker *w = data;
    struct work *k = w->work;
    unsigned begun;
    for (unsigned n = 0;
         !w->s.failed && !w->s.canceled &&
         (begun = atomic_fetch_add_explicit(&k->taken, 1, memory_order_relaxed)) < k->jobs;
         n++)
        run_job(w, w->is_aside ? k->jobs - 1 - n : n, begun);
    if (w->s.failed || w->s.canceled)
        atomic_store_explicit(&k->stop, true, memory_order_relaxed);
}

/* The findings of all jobs, as if one thread had run one after the other. */
static void gather(struct analyse_search *s, struct work *k)
{
    struct weft_findings *out = s->out;
    for (unsigned i = 0; i < k->jobs; i++) {
        struct weft_findings *of = &k->out[i];
        for (uint32_t n = 0; n < of->count; n++)
            if (analyse_search_room(s, &out->finding, out->count, &s->room, sizeof *out->finding))
                out->finding[out->count++] = of->finding[n];
            else
                analyse_finding_fini(&of->finding[n]);
        out->left_out += of->left_out;
        free(of->finding);
    }
}

static void search_all(struct analyse_search *s)
{
    const struct weft_model *m = s->m;
    struct work k = {.progress = s->progress, .data = s->data};
    struct worker here = {.work = &k, .s = *s}, aside = {.work = &k, .s = *s, .is_aside = true};
    struct weft_aside thread;
    for (unsigned i = 0; i < SEARCHES; i++)
        if (searches[i] != analyse_find_livelocks && !goes_on(i))
            k.job[k.jobs++] = i;
    here.s.progress = aside.s.progress = may_go_on;
    here.s.data = &here;
    aside.s.data = &aside;
    const bool two =
        (uint64_t)m->promises + m->interactions > MANY && weft_aside_try(&thread, run_jobs, &aside);
    run_jobs(&here);
    if (two)
        weft_aside_end(&thread);
    s->failed = here.s.failed || aside.s.failed;
    s->canceled = here.s.canceled || aside.s.canceled;
    gather(s, &k);
    free(here.s.blocked);
    free(aside.s.blocked);
    if (!s->failed && !s->canceled && !m->quirks.at_once)
        analyse_search_run(s, analyse_find_livelocks); /* looks at the findings of all others */
    s->canceled = s->canceled || (s->progress && !s->progress(s->data, 1));
}

int weft_explain(struct weft_findings *out, const struct weft_history *h,
                 const struct weft_explain_options *options, weft_progress_fn *progress, void *data)
{
    struct weft_explain_options o = weft_explain_defaults(options);
    struct analyse_families families;
    *out = (struct weft_findings){0};
    struct analyse_search s = {.h = h,
                               .m = h->m,
                               .o = &o,
                               .families = &families,
                               .out = out,
                               .progress = progress,
                               .data = data};
    s.failed = analyse_families_init(&families, h->m) < 0;
    if (!s.failed)
        search_all(&s);
    if (!s.failed && !s.canceled)
        analyse_search_run(&s, analyse_join);
    for (uint32_t i = 0; i < out->count; i++)
        analyse_finding_sort(&out->finding[i]);
    analyse_families_fini(&families);
    if (s.failed || s.canceled) {
        weft_findings_fini(out);
        return s.failed ? WEFT_E_NOMEM : WEFT_E_CANCELED;
    }
    weft_sort(out->finding, out->count, sizeof *out->finding, by_importance);
    while (out->count > WEFT_FINDINGS_MAX) {
        analyse_finding_fini(&out->finding[--out->count]);
        out->left_out++;
    }
    return 0;
}

void weft_findings_fini(struct weft_findings *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        analyse_finding_fini(&f->finding[i]);
    free(f->finding);
    *f = (struct weft_findings){0};
}
