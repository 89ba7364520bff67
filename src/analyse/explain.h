/* SPDX-License-Identifier: ISC */
/* What went wrong, in words, with the evidence.
 *
 *     struct weft_findings found = {0};
 *     if (weft_explain(&found, history, NULL, NULL, NULL) == 0)
 *         for (uint32_t i = 0; i < found.count; i++)
 *             puts(found.finding[i].text);
 *     weft_findings_fini(&found);
 *
 * Definitions: docs/diagnoses.md. Texts are valid UTF-8 without control characters. Linear in the model but
 * for sorting what was found. */
#ifndef WEFT_ANALYSE_EXPLAIN_H
#define WEFT_ANALYSE_EXPLAIN_H

#include "analyse/history.h"

enum weft_finding_kind {
#define X(KIND, name, what, hint) WEFT_FINDING_##KIND,
#include "analyse/finding.def"
#undef X
    WEFT_FINDING_KINDS
};

const char *weft_finding_name(enum weft_finding_kind kind); /* "lost-wakeup" */
const char *weft_finding_hint(enum weft_finding_kind kind);

enum weft_confidence {
    WEFT_POSSIBLE, /* may be as it should be */
    WEFT_LIKELY,
    WEFT_CERTAIN, /* the trace says so itself */
    WEFT_CONFIDENCES
};

const char *weft_confidence_name(enum weft_confidence c); /* "possible" … */

/* What an event of the evidence is: X(NAME, "name"). */
#define WEFT_EVIDENCE(X)                                                                           \
    X(CREATED, "created")                                                                          \
    X(WAITS, "waits")                                                                              \
    X(WAITS_STILL, "waits_still")                                                                  \
    X(WOKEN, "woken")                                                                              \
    X(RUNS, "runs")                                                                                \
    X(STOPS, "stops")                                                                              \
    X(RUNS_STILL, "runs_still")                                                                    \
    X(FULFILLED, "fulfilled")                                                                      \
    X(FAILED, "failed")                                                                            \
    X(RESOLVED, "resolved")                                                                        \
    X(CANCELLED, "cancelled")                                                                      \
    X(ENDED_AGAIN, "ended_again")                                                                  \
    X(FORGOTTEN, "forgotten")                                                                      \
    X(BECAME, "became")                                                                            \
    X(SIGNALLED, "signalled")                                                                      \
    X(SIGNALLED_NOBODY, "signalled_nobody")                                                        \
    X(ACQUIRED, "acquired")                                                                        \
    X(READ, "read")                                                                                \
    X(PENDING, "pending")                                                                          \
    X(IDLE, "idle")

enum weft_evidence_event {
#define X(NAME, name) WEFT_EVIDENCE_##NAME,
    WEFT_EVIDENCE(X)
#undef X
        WEFT_EVIDENCE_EVENTS
};

const char *weft_evidence_name(enum weft_evidence_event e);

struct weft_evidence {
    int64_t time_ns;
    enum weft_evidence_event event;
    uint32_t promise; /* WEFT_ROOT: the event loop */
    uint32_t other;   /* or WEFT_NONE */
};

#define WEFT_EVIDENCE_MAX 16  /* of a finding */
#define WEFT_AFFECTED_MAX 256 /* of a finding */

struct weft_finding {
    enum weft_finding_kind kind;
    enum weft_confidence confidence;
    uint32_t promise;         /* the culprit */
    int64_t start_ns, end_ns; /* when */
    int64_t cost_ns; /* what it cost: time in which somebody waited, or in which nothing else ran */
    uint64_t count;  /* how often it was found, at least 1; the texts describe the worst case */
    char *text;      /* one or two sentences */
    char *doubt;     /* why the confidence is not higher, or NULL */
    struct weft_evidence *evidence; /* in order of time */
    uint32_t evidences;
    uint32_t *affected; /* promises that were held up, the nearest first */
    uint32_t affecteds;
    uint64_t affected_total; /* there may be more than are listed */
};

struct analyse_text; /* names.h */

/* Puts the i-th piece of evidence in words: "'ARP query' creates 'ARP response'". Promises with the same name also
 * get their numbers. */
void weft_evidence_say(struct analyse_text *t, const struct weft_model *m,
                       const struct weft_finding *f, uint32_t i);

struct weft_findings {
    struct weft_finding *finding; /* the most important first */
    uint32_t count;
    uint64_t left_out; /* findings beyond WEFT_FINDINGS_MAX, of the least important */
};

#define WEFT_FINDINGS_MAX 1000

/* Thresholds. 0 means the default. */
struct weft_explain_options {
    uint32_t ignore; /* bit 1 << kind: do not look for these */
    int64_t
        hang_ns; /* pending for that long at the end, where the program did not end by itself: 100 ms */
    int64_t slow_wake_ns;           /* ready, not running: 10 ms */
    int64_t block_ns;               /* one run: 10 ms */
    int64_t turn_ns;                /* between two idle times: 50 ms */
    int64_t never_yield_ns;         /* a run that has not ended: 1 s */
    uint32_t spin_runs;             /* in a row: 1000 */
    uint32_t self_wakes;            /* waits that were woken by the waiter: 20 */
    uint32_t leak_count;            /* pending at the end: 20 */
    uint32_t serial_waits;          /* back to back: 5 */
    int64_t serial_saving_ns;       /* that could have been saved: 5 ms */
    uint32_t herd_readers;          /* woken at once: 8 */
    uint32_t retries;               /* that fail, each right after the one before: 20 */
    int64_t gc_ns;                  /* one garbage collection: 10 ms */
    const struct weft_words *words; /* of the user's (words.h), or NULL */
};

/* All zero: the defaults; then as given. */
struct weft_explain_options weft_explain_defaults(const struct weft_explain_options *given);

/* options and progress may be NULL. *out is overwritten. Returns 0, WEFT_E_NOMEM or WEFT_E_CANCELED; *out is then
 * empty. The caller releases it with weft_findings_fini; it holds nothing of h. */
int weft_explain(struct weft_findings *out, const struct weft_history *h,
                 const struct weft_explain_options *options, weft_progress_fn *progress,
                 void *data);
void weft_findings_fini(struct weft_findings *f);

#endif
