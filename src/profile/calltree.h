/* SPDX-License-Identifier: ISC */
/* Adds up samples: as a tree of calls (weft profile --tree, flame graphs) and as a list (--top). */
#pragma once

#include "profile/frames.h"

enum weft_profile_by {
    WEFT_PROFILE_BY_FUNCTION,
    WEFT_PROFILE_BY_LINE,    /* file:line */
    WEFT_PROFILE_BY_PROMISE, /* each promise */
    WEFT_PROFILE_BY_LABEL,   /* promises with the same label (or type, if there is no label) */
    WEFT_PROFILE_BY_ROOT,    /* the label of the promise on whose behalf it ran */
    WEFT_PROFILE_BY_THREAD,
    WEFT_PROFILE_BY_CORE,
    WEFT_PROFILE_BY_OBJECT, /* the file that the innermost address is in; "[kernel]" … */
    WEFT_PROFILE_BY_PROCESS,
};

enum weft_profile_where { WEFT_PROFILE_ANYWHERE, WEFT_PROFILE_IN_KERNEL, WEFT_PROFILE_IN_USER };

struct weft_calltree_options {
    enum weft_profile_by
        by; /* list: what a row is; tree: groups above the stacks, none for FUNCTION and LINE */
    enum weft_async_stacks async;
    bool off_cpu;            /* the time that threads were off the CPU, instead of samples */
    uint32_t source;         /* which samples, if there are several sources */
    uint64_t from_ns, to_ns; /* only [from, to), on the profile's clock; both 0: all */
    uint32_t promise;        /* only of this promise; WEFT_NONE: all */
    /* only of promises with this label (or type, if they have no label), or NULL */
    const char *label;
    /* … and of everything that promise created, directly or indirectly; without a promise: that
     * promises with label created */
    bool with_children;
    uint32_t thread;               /* an index, or WEFT_NONE: all */
    enum weft_profile_where where; /* only samples that were taken there; not for off_cpu */
    /* Parallel to the promises of the model: texts of the profile. label also finds promises by
     * these; and, with by_family, these are their names in groups by label and root, and in async
     * stacks. NULL: there are only their labels. */
    const uint32_t *family;
    bool by_family;
    uint32_t calls_max; /* of a tree; 0: WEFT_CALLS_MAX */
};
#define WEFT_CALLTREE_ALL                                                                          \
    {                                                                                              \
        .promise = WEFT_NONE, .thread = WEFT_NONE                                                  \
    }

struct weft_call { /* a node; [0] is the whole tree */
    uint32_t parent, first_child,
        /* siblings are sorted by total, largest first, then by text; WEFT_NONE: none */
        next_sibling;
    struct weft_named_frame frame; /* [0] has none */
    uint64_t self, total;          /* in units of the source; off the CPU: ns */
    uint64_t samples;              /* how many samples are in total */
    uint32_t depth;
};

/* A limit, since a small file can make many calls: stacks that share callers, but are cut before
 * these, share nothing in the tree. */
#define WEFT_CALLS_MAX 1000000u

struct weft_calltree {
    struct weft_call *call; /* parents before children */
    uint32_t calls;
    uint64_t total, samples;
    /* samples that count for the innermost caller that is there, because there were too many
     * calls */
    uint64_t cut;
    uint64_t without_promise; /* part of total: belongs to no promise … */
    uint64_t gap[WEFT_GAPS];  /* … and why */
    uint32_t depth;           /* the depth of the deepest call */
    enum weft_source_unit unit;
    bool waits; /* it is of what was waited for, not of samples */
};

struct weft_profile_row {
    struct weft_named_frame frame;
    uint64_t self, total; /* total counts a row once per sample, even if it is recursive */
    uint64_t samples;     /* how many samples are in self */
    bool kernel;          /* in the kernel: a function of a program may have the same name */
};

struct weft_profile_list {
    struct weft_profile_row *row; /* sorted by self, largest first, then by total, then by text */
    uint32_t rows;
    uint64_t total, samples, without_promise, gap[WEFT_GAPS]; /* the same as in the tree */
    enum weft_source_unit unit;
};

/* The caller owns *out. Linear in the frames of all samples. Returns 0, WEFT_E_NOMEM, or
 * WEFT_E_INVALID if the options need a model but none is joined, or name a source that is not
 * there. */
int weft_calltree_make(struct weft_calltree **out, struct weft_profile *p,
                       const struct weft_calltree_options *o);
void weft_calltree_free(struct weft_calltree *t);

/* For a tree that is made of something else: computes totals and samples from self, and orders siblings. Texts are those of
 * p. Returns 0 or WEFT_E_NOMEM. */
int weft_calltree_add_up(struct weft_calltree *t, const struct weft_profile *p);

/* The same for a list. For LABEL, PROMISE, ROOT, THREAD, CORE, OBJECT and PROCESS, self and total are equal, rows
 * add up to the total, and what belongs to no promise is the row "(no promise)", or says why that
 * is not known. */
int weft_profile_list_make(struct weft_profile_list **out, struct weft_profile *p,
                           const struct weft_calltree_options *o);
void weft_profile_list_free(struct weft_profile_list *l);

/* ---- Comparing two profiles. Their totals may differ, so shares are compared. ---- */

struct weft_profile_delta {
    enum weft_frame_kind kind;
    const char *text;               /* of one of the profiles: borrowed */
    uint32_t before_row, after_row; /* indices in the lists, or WEFT_NONE: not there */
    uint64_t before_self, before_total, after_self, after_total;
    double self_share, total_share; /* after's share of its total minus before's: from -1 to 1 */
};

struct weft_profile_deltas {
    /* sorted by the change of the self share, largest first, then of the total share, then by
     * text */
    struct weft_profile_delta *row;
    uint32_t rows;
};

/* Rows are matched by kind and text. Rows of one list that have the same kind and text (promises
 * with the same label) are combined. The caller owns *out; lists and profiles must outlive it.
 * Returns 0 or WEFT_E_NOMEM. */
int weft_profile_compare(struct weft_profile_deltas **out, const struct weft_profile *before,
                         const struct weft_profile_list *before_list,
                         const struct weft_profile *after,
                         const struct weft_profile_list *after_list);
void weft_profile_deltas_free(struct weft_profile_deltas *d);

/* For a flame graph in red and blue: for each call of after, the values of the same call, reached
 * in the same way, in before; zeros if it is not there. Shares are of before->total. The caller
 * frees *out. Returns 0 or WEFT_E_NOMEM. */
struct weft_call_before {
    uint64_t self, total;
};
int weft_calltree_compare(struct weft_call_before **out, const struct weft_profile *before,
                          const struct weft_calltree *before_tree, const struct weft_profile *after,
                          const struct weft_calltree *after_tree);
