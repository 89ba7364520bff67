/* SPDX-License-Identifier: ISC */
#include "analyse/explain.h"

#include <stdlib.h>

#include "analyse/finding.h"

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

int weft_explain(struct weft_findings *out, const struct weft_history *h,
                 const struct weft_explain_options *options, weft_progress_fn *progress, void *data)
{
    static void (*const searches[])(struct analyse_search *) = {
#define SEARCH(file, name) analyse_find_##name,
#include "analyse/searches.def"
    };
    enum { SEARCHES = sizeof searches / sizeof *searches };
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
    for (unsigned i = 0; i < SEARCHES && !s.failed && !s.canceled; i++) {
        /* It finds all of WEFT_FINDINGS_AT_ONCE. */
        if (h->m->quirks.at_once && searches[i] != analyse_find_hangs)
            continue;
        s.done = (double)i / SEARCHES;
        analyse_search_run(&s, searches[i]);
        s.canceled = s.canceled || (progress && !progress(data, (double)(i + 1) / SEARCHES));
    }
    if (!s.failed && !s.canceled)
        analyse_search_run(&s, analyse_join);
    for (uint32_t i = 0; i < out->count; i++)
        analyse_finding_sort(&out->finding[i]);
    analyse_families_fini(&families);
    free(s.blocked);
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
