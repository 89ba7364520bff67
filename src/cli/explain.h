/* SPDX-License-Identifier: ISC */
/* weft explain: what its files share. */
#pragma once

#include "analyse/crowd.h"
#include "analyse/explain.h"
#include "analyse/names.h"
#include "analyse/path.h"
#include "analyse/slow.h"
#include "analyse/story.h"
#include "profile/profile.h"

/* ---- What was found in one file ---- */

struct cli_explained {
    const char *path;
    uint32_t ignored; /* as in the options */
    struct weft_model *model;
    struct weft_history *history;
    uint32_t promises; /* in the trace, with the loop: an excerpt (cli/index/index.h) has fewer */
    const struct weft_profile *profile; /* its samples, joined with the model; NULL: it has none */
    struct weft_findings found;
    bool *shown;              /* parallel to the findings: whether it is shown */
    uint64_t accepted, below; /* findings that are not shown: accepted, or not likely enough */
    bool only_possible;       /* shown because there is nothing better */
    struct weft_slow slow;    /* empty: not searched for, unless … */
    bool slow_known;
};

/* The first label of a promise, as clean UTF-8, or NULL if it has none (or there is no memory). The caller frees
 * it. */
char *cli_explained_label(const struct weft_model *m, uint32_t promise);

/* Where the CPU went in the time that the finding is about, if it is about a promise that ran all the time. */
struct cli_hot;
int cli_explained_hot(struct cli_hot *hot, const struct cli_explained *x,
                      const struct weft_finding *f);

/* To standard output. */
void cli_explained_print(const struct cli_explained *x);

/* ---- story.c: the story of one promise and its critical path, or a summary of all promises with one label ---- */

/* Prints it. which: see cli_which_find; profile: as above. Prints what is wrong. Returns an exit status. */
int cli_story_print(const struct weft_history *h, const struct weft_profile *profile,
                    const char *which, bool json);

struct cli_which {
    uint32_t *promise; /* in order of creation */
    uint32_t count;    /* not 0 */
};

/* Promises with one label, and figures about them. */
struct cli_crowd_told {
    const char *which;
    struct analyse_families families;
    struct cli_which found;
    struct weft_crowd crowd;
};

#define CLI_SLOWEST 3 /* whose paths are shown */

/* The slowest promises, slowest first; pending ones if none was resolved. Returns how many. */
uint32_t cli_story_slowest(const struct cli_crowd_told *c, uint32_t slowest[CLI_SLOWEST]);

/* story_text.c */
void cli_story_text(const struct weft_history *h, uint32_t promise);
void cli_crowd_text(const struct weft_history *h, const struct cli_crowd_told *c);

/* ---- path_text.c: a critical path in words, and the building blocks of such tables, to standard output ---- */

enum {
    CLI_TEXT_BAR = 20,                                          /* columns of a full bar, */
    CLI_TEXT_TIME = 12,                                         /* of a moment, */
    CLI_TEXT_LENGTH = 9,                                        /* of a length, */
    CLI_TEXT_ROW = 2 + CLI_TEXT_TIME + 2 + CLI_TEXT_LENGTH + 2, /* of cli_text_row */
};

void cli_text_length(int64_t ns);
void cli_text_row(int64_t from_ns, int64_t length_ns);
double cli_text_percent(int64_t part, int64_t whole);
void cli_text_heading(const char *text);

/* What the time of a step went to; named: up to the name of a promise. */
const char *cli_text_step(enum weft_step_kind kind, bool named);

/* A row of a share, with a bar and a text, which it releases. */
void cli_text_share(int64_t ns, int64_t whole, struct analyse_text *t);

/* Whether share i, of that length, has its row; the row for the others, if there are any. */
bool cli_text_lists(uint32_t i, uint32_t count, int64_t ns, int64_t whole);
void cli_text_other_shares(uint32_t count, int64_t ns, int64_t whole);

/* The path in a sentence and step by step; whole: as a table, too. */
void cli_path_text(const struct weft_history *h, uint32_t promise, bool whole);

/* ---- which.c: promises named on the command line, by number or by label ---- */

/* Finds the promises with that label or, if there are none, the first of these that finds any: the same label apart
 * from its numbers ("GET /users/#"); that type; that type and label ("get /users/#"); a label that contains the text,
 * ignoring case, if all those labels differ only in numbers. On failure prints why and returns false. The caller
 * frees out->promise, also then. */
bool cli_which_find(struct cli_which *out, const struct weft_model *m,
                    const struct analyse_families *families, const char *which);
/* Returns true if all labels differ only in numbers. */
bool cli_are_alike(const struct weft_model *m, const uint32_t *promise, uint32_t count);
