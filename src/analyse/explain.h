/* SPDX-License-Identifier: ISC */
/* Explains what went wrong, in words, with evidence.
 *     struct weft_findings found = {0};
 *     if (weft_explain(&found, history, NULL, NULL, NULL) == 0)
 *         for (uint32_t i = 0; i < found.count; i++)
 *             puts(found.finding[i].text);
 *     weft_findings_fini(&found);
 * Definitions: docs/diagnoses.md. Texts are valid UTF-8 without control characters. Time is linear
 * in the model except for sorting the findings. */
#pragma once

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
    WEFT_POSSIBLE, /* it may be intended */
    WEFT_LIKELY,
    WEFT_CERTAIN, /* the trace itself says so */
    WEFT_CONFIDENCES
};

const char *weft_confidence_name(enum weft_confidence c); /* "possible" … */

/* What kind of event a piece of evidence is: X(NAME, "name"). */
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

#define WEFT_EVIDENCE_MAX 16  /* per finding */
#define WEFT_AFFECTED_MAX 256 /* per finding */

struct weft_finding {
    enum weft_finding_kind kind;
    enum weft_confidence confidence;
    uint32_t promise;         /* the culprit */
    int64_t start_ns, end_ns; /* when it happened */
    int64_t cost_ns; /* what it cost: time in which somebody waited, or nothing else could run */
    uint64_t count;  /* how often it was found, at least 1; the texts describe the worst case */
    char *text;      /* one or two sentences */
    char *doubt;     /* why the confidence is not higher, or NULL */
    struct weft_evidence *evidence; /* in order of time */
    uint32_t evidences;
    uint32_t *affected; /* promises that were held up, the closest first */
    uint32_t affecteds;
    uint64_t affected_total; /* how many were held up; the list may be shorter */
};

struct analyse_text; /* names.h */

/* Describes piece i of the evidence: "'ARP query' creates 'ARP response'". If promises have the
 * same name, their numbers are added. */
void weft_evidence_say(struct analyse_text *t, const struct weft_model *m,
                       const struct weft_finding *f, uint32_t i);

struct weft_findings {
    struct weft_finding *finding; /* the most important first */
    uint32_t count;
    uint64_t left_out; /* findings beyond WEFT_FINDINGS_MAX; the least important ones */
};

#define WEFT_FINDINGS_MAX 1000

/* The kinds that need no history: in a trace of one moment (at_once), weft_explain looks only for these. */
#define WEFT_FINDINGS_AT_ONCE                                                                      \
    (1u << WEFT_FINDING_DEADLOCK | 1u << WEFT_FINDING_LOST_WAKEUP | 1u << WEFT_FINDING_HANG_ROOT | \
     1u << WEFT_FINDING_NEVER_RESOLVED)

/* Thresholds. 0 means the default. */
struct weft_explain_options {
    uint32_t ignore; /* bit 1 << kind: do not look for this kind */
    /* pending for this long at the end, if the program did not end by itself: 100 ms */
    int64_t hang_ns;
    int64_t slow_wake_ns;           /* ready but not running: 10 ms */
    int64_t block_ns;               /* a single run: 10 ms */
    int64_t turn_ns;                /* between two idle times: 50 ms */
    int64_t never_yield_ns;         /* a run that has not ended: 1 s */
    uint32_t spin_runs;             /* runs in a row: 1000 */
    uint32_t self_wakes;            /* waits that the waiter ended itself: 20 */
    uint32_t leak_count;            /* pending at the end: 20 */
    uint32_t serial_waits;          /* back to back: 5 */
    int64_t serial_saving_ns;       /* time that could have been saved: 5 ms */
    uint32_t herd_readers;          /* readers woken at once: 8 */
    uint32_t retries;               /* attempts that fail, each right after the one before: 20 */
    int64_t gc_ns;                  /* a single garbage collection: 10 ms */
    const struct weft_words *words; /* the user's own words (words.h), or NULL */
};

/* The given options with each 0 replaced by its default; given may be NULL. */
struct weft_explain_options weft_explain_defaults(const struct weft_explain_options *given);

/* options and progress may be NULL. *out is overwritten. Returns 0, WEFT_E_NOMEM or
 * WEFT_E_CANCELED: *out is empty then. The caller releases it with weft_findings_fini. It may
 * outlive h. */
int weft_explain(struct weft_findings *out, const struct weft_history *h,
                 const struct weft_explain_options *options, weft_progress_fn *progress,
                 void *data);
void weft_findings_fini(struct weft_findings *f);
