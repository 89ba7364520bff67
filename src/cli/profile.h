/* SPDX-License-Identifier: ISC */
/* What weft profile shows: profile.c finds what was asked for; a file for each report prints it. */
#ifndef WEFT_CLI_PROFILE_H
#define WEFT_CLI_PROFILE_H

#include <jansson.h>

#include "cli/profiles.h"
#include "cli/report.h"
#include "profile/calltree.h"

/* Whether promises whose labels differ in numbers only are one row. */
enum profile_fold {
    PROFILE_FOLD_AUTO, /* if there are many labels, and people read it */
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

struct profile_request {
    enum profile_report report;
    unsigned key; /* as on the command line */
    enum weft_profile_by by;
    enum weft_async_stacks async;
    const char *event, *promise, *label, *thread; /* NULL: all */
    const char *diff;                             /* the other file, or NULL */
    const char *sysroot, *kallsyms;
    enum profile_fold fold;
    int64_t from_ns, to_ns; /* as people count; INT64_MIN and INT64_MAX: all */
    uint64_t limit;         /* rows; PROFILE_NO_LIMIT: all */
    double least;           /* percent */
    bool by_given, limit_given, least_given, off_cpu, json, no_symbols;
};

/* What was measured; of one source, without what was asked for. */
struct profile_facts {
    uint64_t samples, total; /* total: in units of the source */
    uint64_t threads, processes;
    uint64_t first_ns, last_ns; /* from the first sample or absence to the last */
    double rate;                /* samples a second while threads ran; 0: not known */
    uint64_t away_ns, away;     /* off-CPU time, and how often */
    uint64_t preempted_ns, preempted;
};

struct profile_view {
    const struct profile_request *r;
    struct weft__profiles *files;
    struct weft_profile *p; /* the files' */
    struct weft_calltree_options o;
    struct profile_facts facts;
    uint32_t
        *object; /* beside the functions: path of the file that it is in; 0: none, or several */
    uint32_t *family; /* o.family, owned; NULL: nobody asks for it */
    bool filtered;    /* what is shown is not all of it */
    bool
        ticks; /* of Akaros's streams: how much time a sample stands for is not known, so they are counted */
};

/* profile_family.c: sets family and o.by_family, if they are asked for. False: no memory. */
bool profile_family_find(struct profile_view *v);
/* Makes family, if it is not there; whether one is called so. */
bool profile_family_named(struct profile_view *v, const char *label, bool *named);

/* profile_facts.c. False, NULL: no memory. */
uint32_t *profile_objects(const struct weft_profile *p);
bool profile_facts_find(struct profile_facts *f, const struct weft_profile *p, uint32_t source);

/* Why innermost addresses have no name: one for each file, those with most samples first. */
enum profile_nameless {
    PROFILE_NO_MAPPING, /* nothing is known of what was there */
    PROFILE_GENERATED,  /* code that a program made */
    PROFILE_GONE,       /* the file is not there */
    PROFILE_REPLACED,   /* … is another one by now */
    PROFILE_STRIPPED,   /* … has no symbols for it */
    PROFILE_KERNEL,     /* the kernel's names cannot be had */
    PROFILE_NOT_ASKED,  /* --no-symbols */
};

struct profile_blank {
    enum profile_nameless why;
    uint32_t path; /* text */
    uint64_t samples, value;
};

struct profile_blanks {
    struct profile_blank *blank;
    uint32_t blanks;
    uint64_t samples, value;
    uint64_t all; /* with those that have one */
};

/* Of what is asked for. */
bool profile_blanks_find(struct profile_blanks *b, const struct profile_view *v);
const char *profile_nameless_name(enum profile_nameless why);   /* "stripped" */
const char *profile_nameless_advice(enum profile_nameless why); /* what helps */

/* ---- The reports. False: no memory, or (said) not possible. ---- */

bool profile_print_head(const struct profile_view *v);   /* profile_head.c */
bool profile_print_blanks(const struct profile_view *v); /* profile_head.c */
bool profile_print_top(const struct profile_view *v, enum weft_profile_by by, uint64_t limit);
bool profile_print_tree(const struct profile_view *v);    /* profile_tree.c */
bool profile_print_lines(const struct profile_view *v);   /* profile_lines.c */
bool profile_print_off_cpu(const struct profile_view *v); /* profile_off_cpu.c */
bool profile_print_diff(const struct profile_view *before, const struct profile_view *after);
bool profile_print_json(const struct profile_view *v); /* profile_json.c */
bool profile_print_diff_json(const struct profile_view *before, const struct profile_view *after);

/* ---- Shared by those: profile_text.c ---- */

/* A time, in the unit that suits total: "7.490 s". */
struct weft_figure profile_time(uint64_t ns, uint64_t total);
/* A sum of samples, with no more digits than one sample's weight allows: "47 ms" of samples of 1 ms; "2.41 G". */
struct weft_figure profile_cpu(const struct profile_view *v, uint64_t value, uint64_t total);
/* What rows have: a sum of samples, or time away. */
struct weft_figure profile_amount(const struct profile_view *v, uint64_t value, uint64_t total);
/* "74.9 %" */
struct weft_figure profile_share(uint64_t value, uint64_t total);
double profile_percent(uint64_t value, uint64_t total);

/* A frame's text as it may go to a terminal: "PUT /x #413" for a promise. The caller frees it; NULL: no memory. */
char *profile_name(const struct weft_profile *p, const struct weft_named_frame *f);
/* Where it is: "burn.c:12", "[libfoo.so.1]", "[kernel]"; or empty. */
struct weft__shown profile_place(const struct profile_view *v, const struct weft_named_frame *f);
/* The path of the file that a frame is in, or NULL. */
const char *profile_object(const struct profile_view *v, const struct weft_named_frame *f);
/* The last part of a path. */
const char *profile_base(const char *path);
/* "function", "label" … */
const char *profile_by_name(enum weft_profile_by by);
/* Its name as a cell of a table. False: no memory. */
bool profile_cell_name(struct cli_table *t, const struct weft_profile *p,
                       const struct weft_named_frame *f);

/* Says what # stands for, if it does. */
void profile_put_folded(const struct profile_view *v);

/* The rows of a list that are shown: at most limit, and those with at least so many percent of the total. */
uint32_t profile_rows_shown(const struct weft_profile_list *l, uint64_t limit, double least);

/* profile_off_cpu.c: a place where threads waited. */
struct profile_wait {
    uint32_t call; /* of the tree: the innermost frame outside the kernel */
    bool preempted;
    uint64_t ns, times;
};
struct profile_waits {
    struct weft_calltree *tree;
    struct profile_wait *wait; /* most time first */
    uint32_t waits;
};
int profile_waits_find(struct profile_waits *w, const struct profile_view *v);
void profile_waits_fini(struct profile_waits *w);

/* profile_lines.c: lines of source files, read once and bounded. */
struct profile_sources;
struct profile_sources *profile_sources_new(const struct profile_view *v); /* NULL: no memory */
/* The text of a line without the space around it, or NULL. *changed: the file was written after the recording. */
const char *profile_source_line(struct profile_sources *s, const char *path, uint32_t line,
                                bool *changed);
void profile_sources_free(struct profile_sources *s);

/* profile_diff.c */
struct profile_changes {
    struct weft_profile_list *before, *after;
    struct weft_profile_deltas *deltas;
};
/* What a row of both is called. */
struct weft_named_frame profile_changed(const struct profile_changes *c,
                                        const struct weft_profile_delta *d);
int profile_changes_find(struct profile_changes *c, const struct profile_view *before,
                         const struct profile_view *after);
void profile_changes_fini(struct profile_changes *c);

#endif
