/* SPDX-License-Identifier: ISC */
/* What weft profile shows: profile.c finds what was asked for; a file for each report prints it. */
#pragma once

#include <jansson.h>

#include "cli/profile/profiles.h"
#include "cli/report.h"
#include "profile/calltree.h"

/* Whether promises whose labels differ only in numbers share a row. */
enum profile_fold {
    PROFILE_FOLD_AUTO, /* if there are many labels and the output is for people */
    PROFILE_FOLD,
    PROFILE_NO_FOLD,
};

enum profile_report {
    PROFILE_OVERVIEW, /* nothing was chosen */
    PROFILE_TOP,
    PROFILE_TREE,
    PROFILE_LINES,
};

#define PROFILE_NO_LIMIT UINT64_MAX

struct cli_profile_request {
    enum profile_report report;
    unsigned key; /* as on the command line */
    enum weft_profile_by by;
    enum weft_async_stacks async;
    const char *event, *promise, *label, *thread; /* NULL: all */
    const char *diff;                             /* the other file, or NULL */
    const char *sysroot, *kallsyms;
    enum profile_fold fold;
    int64_t from_ns, to_ns; /* as users count; INT64_MIN and INT64_MAX: all */
    uint64_t limit;         /* rows; PROFILE_NO_LIMIT: all */
    double least;           /* percent */
    bool by_given, limit_given, least_given, off_cpu, json, no_symbols, kernel, user;
};

/* What was measured: everything from one source, whatever was asked for. */
struct cli_profile_facts {
    uint64_t samples, total; /* total: in units of the source */
    uint64_t threads, processes;
    uint64_t first_ns, last_ns; /* from the first sample or absence to the last */
    double rate;                /* samples a second while threads ran; 0: not known */
    uint64_t away_ns, away;     /* off-CPU time, and how often */
    uint64_t preempted_ns, preempted;
};

struct cli_profile_view {
    const struct cli_profile_request *r;
    struct cli_profiles *files;
    struct weft_profile *p; /* the files' */
    struct weft_calltree_options o;
    struct cli_profile_facts facts;
    uint32_t
        *object; /* parallel to the functions: path of the function's file; 0: none, or several */
    uint32_t *family; /* o.family, owned; NULL: not used */
    bool filtered;    /* only a part is shown */
    bool
        ticks; /* Akaros's streams: the time that a sample stands for is not known, so samples are counted */
};

/* All functions here note if there is no memory (cli_lacks_memory), and then leave out what needs it. */

/* family.c: sets family and o.by_family, if they are requested. */
void cli_profile_family_find(struct cli_profile_view *v);
/* Makes family, if it does not exist; returns true if a family has that name. */
bool cli_profile_family_named(struct cli_profile_view *v, const char *label);

/* cli_profile_facts.c. NULL: no memory. */
uint32_t *cli_profile_objects(const struct weft_profile *p);
void cli_profile_facts_find(struct cli_profile_facts *f, const struct weft_profile *p,
                            uint32_t source);

/* Why innermost addresses have no name: one for each file, those with most samples first. */
enum profile_nameless {
    PROFILE_NO_MAPPING, /* nothing is known about what was there */
    PROFILE_GENERATED,  /* code that a program made */
    PROFILE_GONE,       /* the file is not there */
    PROFILE_REPLACED,   /* … has been replaced since */
    PROFILE_STRIPPED,   /* … has no symbols for it */
    PROFILE_KERNEL,     /* the kernel's names are not accessible */
    PROFILE_NOT_ASKED,  /* --no-symbols */
};

struct cli_profile_blank {
    enum profile_nameless why;
    uint32_t path; /* text */
    uint64_t samples, value;
};

struct cli_profile_blanks {
    struct cli_profile_blank *blank;
    uint32_t blanks;
    uint64_t samples, value;
    uint64_t all; /* with those that have one */
};

/* Of the requested part. */
void cli_profile_blanks_find(struct cli_profile_blanks *b, const struct cli_profile_view *v);
extern const struct cli_profile_reason {
    const char *name, *advice;
} cli_profile_nameless[];

/* ---- The reports ---- */

void cli_profile_print_head(const struct cli_profile_view *v);   /* head.c */
void cli_profile_print_blanks(const struct cli_profile_view *v); /* head.c */
void cli_profile_print_top(const struct cli_profile_view *v, enum weft_profile_by by,
                           uint64_t limit);
void cli_profile_print_tree(const struct cli_profile_view *v);    /* tree.c */
void cli_profile_print_lines(const struct cli_profile_view *v);   /* lines.c */
void cli_profile_print_off_cpu(const struct cli_profile_view *v); /* off_cpu.c */
void cli_profile_print_diff(const struct cli_profile_view *before,
                            const struct cli_profile_view *after);
void cli_profile_print_json(const struct cli_profile_view *v); /* json.c */
void cli_profile_print_diff_json(const struct cli_profile_view *before,
                                 const struct cli_profile_view *after);

/* ---- Shared by those: text.c ---- */

/* The sums by that key. The caller frees them. NULL: no memory. */
struct weft_profile_list *cli_profile_list(const struct cli_profile_view *v,
                                           enum weft_profile_by by);

/* A time, in the unit that suits total: "7.490 s". */
struct weft_figure cli_profile_time(uint64_t ns, uint64_t total);
/* A sum of samples, with no more digits than one sample's weight justifies: "47 ms" of samples of 1 ms; "2.41 G". */
struct weft_figure cli_profile_cpu(const struct cli_profile_view *v, uint64_t value,
                                   uint64_t total);
/* The value of a row: a sum of samples, or time off the core. */
struct weft_figure cli_profile_amount(const struct cli_profile_view *v, uint64_t value,
                                      uint64_t total);
/* "74.9 %" */
struct weft_figure cli_profile_share(uint64_t value, uint64_t total);
double cli_profile_percent(uint64_t value, uint64_t total);

/* A frame's text, safe for a terminal: "PUT /x #413" for a promise. The caller frees it; NULL: no memory. */
char *cli_profile_name(const struct weft_profile *p, const struct weft_named_frame *f);
/* Where it is: "burn.c:12", "[libfoo.so.1]", "[kernel]"; or empty. */
struct cli_shown cli_profile_place(const struct cli_profile_view *v,
                                   const struct weft_named_frame *f);
/* The path of the file that a frame is in, or NULL. */
const char *cli_profile_object(const struct cli_profile_view *v, const struct weft_named_frame *f);
/* "function", "label" … */
const char *cli_profile_by_name(enum weft_profile_by by);
/* Its name as a cell of a table. */
void cli_profile_cell_name(struct cli_table *t, const struct weft_profile *p,
                           const struct weft_named_frame *f);

/* Explains what # stands for, if it is used. */
void cli_profile_put_folded(const struct cli_profile_view *v);

/* Prints that there is nothing in what was asked for. */
void cli_profile_say_nothing(const struct cli_profile_view *v);

/* How many rows of a list are shown: at most limit, and only those with at least the given percentage of the total. */
uint32_t cli_profile_rows_shown(const struct weft_profile_list *l, uint64_t limit, double least);

/* off_cpu.c: a place where threads waited. */
struct cli_profile_wait {
    uint32_t call; /* of the tree: the innermost frame outside the kernel */
    bool preempted;
    uint64_t ns, times;
};
struct cli_profile_waits {
    struct weft_calltree *tree;
    struct cli_profile_wait *wait; /* most time first */
    uint32_t waits;
};
void cli_profile_waits_find(struct cli_profile_waits *w, const struct cli_profile_view *v);
void cli_profile_waits_fini(struct cli_profile_waits *w);

/* diff.c */
struct cli_profile_changes {
    struct cli_profile_side {
        const struct cli_profile_view *v;
        struct weft_profile_list *l;
    } before, after;
    struct weft_profile_deltas *deltas;
};
/* The name of a row that both profiles share, and a profile that has it. */
struct weft_named_frame cli_profile_changed(const struct cli_profile_changes *c,
                                            const struct weft_profile_delta *d,
                                            const struct cli_profile_view **v);
/* False: no memory. */
bool cli_profile_changes_find(struct cli_profile_changes *c, const struct cli_profile_view *before,
                              const struct cli_profile_view *after);
void cli_profile_changes_fini(struct cli_profile_changes *c);
