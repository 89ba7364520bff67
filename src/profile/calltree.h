/* SPDX-License-Identifier: ISC */
/* Samples added up: as a tree of calls (weft profile --tree, flame graphs) and as a list (--top). */
#ifndef WEFT_PROFILE_CALLTREE_H
#define WEFT_PROFILE_CALLTREE_H

#include "profile/frames.h"

enum weft_profile_by {
    WEFT_PROFILE_BY_FUNCTION,
    WEFT_PROFILE_BY_LINE,    /* file:line */
    WEFT_PROFILE_BY_PROMISE, /* each one */
    WEFT_PROFILE_BY_LABEL,   /* promises with the same label (or type, where there is none) */
    WEFT_PROFILE_BY_ROOT,    /* on whose behalf: label of the root */
    WEFT_PROFILE_BY_THREAD,
    WEFT_PROFILE_BY_CORE,
};

struct weft_calltree_options {
    enum weft_profile_by
        by; /* list: what is a row; tree: groups above the stacks, none for FUNCTION and LINE */
    enum weft_async_stacks async;
    bool off_cpu;            /* time that threads were away instead of samples */
    uint32_t source;         /* which samples, if there are several sources */
    uint64_t from_ns, to_ns; /* only what lies in [from, to), by the profile's clock; both 0: all */
    uint32_t promise;        /* only this one's; WEFT_NONE: all */
    const char *label; /* only of promises with that label (or type, if they have none), or NULL */
    bool
        with_children; /* … and of all that promise created, directly or not; without one, that those with label did */
    uint32_t thread; /* index, or WEFT_NONE: all */
    /* Beside the promises of the model: texts of the profile by which label finds them, too; and, with by_family, by
     * which they are called in groups by label and root and in async stacks. NULL: there are only their labels. */
    const uint32_t *family;
    bool by_family;
    uint32_t calls_max; /* of a tree; 0: WEFT_CALLS_MAX */
};
#define WEFT_CALLTREE_ALL                                                                          \
    {                                                                                              \
        .promise = WEFT_NONE, .thread = WEFT_NONE                                                  \
    }

struct weft_call { /* a node; [0] is all of it */
    uint32_t parent, first_child,
        next_sibling;              /* siblings: most total first, then by text; WEFT_NONE: none */
    struct weft_named_frame frame; /* of [0]: nothing */
    uint64_t self, total;          /* in units of the source; off-CPU: ns */
    uint64_t samples;              /* how many, of total */
    uint32_t depth;
};

/* Stacks that have callers in common only where they were cut have none in the tree: a small file makes many calls. */
#define WEFT_CALLS_MAX 1000000u

struct weft_calltree {
    struct weft_call *call; /* parents before children */
    uint32_t calls;
    uint64_t total, samples;
    uint64_t
        cut; /* of samples: there were too many calls, so they count to the innermost caller that is there */
    uint64_t without_promise; /* of total: that belongs to no promise … */
    uint64_t gap[WEFT_GAPS];  /* … why */
    uint32_t depth;           /* the deepest one's */
    enum weft_source_unit unit;
};

struct weft_profile_row {
    struct weft_named_frame frame;
    uint64_t self, total; /* total counts a row once a sample, also where it is recursive */
    uint64_t samples;     /* of self */
    bool kernel;          /* the kernel's: a function of a program may have the same name */
};

struct weft_profile_list {
    struct weft_profile_row *row; /* most self first, then total, then text */
    uint32_t rows;
    uint64_t total, samples, without_promise, gap[WEFT_GAPS]; /* as of the tree */
    enum weft_source_unit unit;
};

/* The caller owns *out. Linear in the frames of all samples. 0, WEFT_E_NOMEM, or WEFT_E_INVALID: what is asked
 * for needs a model that is not joined, or a source that is not there. */
int weft_calltree_make(struct weft_calltree **out, struct weft_profile *p,
                       const struct weft_calltree_options *o);
void weft_calltree_free(struct weft_calltree *t);

/* Likewise. For LABEL, PROMISE, ROOT, THREAD and CORE self and total are the same, rows add up to the total, and
 * what belongs to no promise is the row "(no promise)", or says why that is not known. */
int weft_profile_list_make(struct weft_profile_list **out, struct weft_profile *p,
                           const struct weft_calltree_options *o);
void weft_profile_list_free(struct weft_profile_list *l);

/* ---- Two profiles beside each other. They need not have the same totals, so what is compared is shares. ---- */

struct weft_profile_delta {
    enum weft_frame_kind kind;
    const char *text;               /* of one of the profiles: borrowed */
    uint32_t before_row, after_row; /* in the lists, or WEFT_NONE: not there */
    uint64_t before_self, before_total, after_self, after_total;
    double self_share, total_share; /* after's share of its total minus before's: -1 … 1 */
};

struct weft_profile_deltas {
    struct weft_profile_delta
        *row; /* largest change of the share of self first, then of total, then text */
    uint32_t rows;
};

/* Rows are matched by kind and text; those of one list that are alike in both (promises with one label) are one. The caller owns *out; lists and profiles must live as long. 0 or WEFT_E_NOMEM. */
int weft_profile_compare(struct weft_profile_deltas **out, const struct weft_profile *before,
                         const struct weft_profile_list *before_list,
                         const struct weft_profile *after,
                         const struct weft_profile_list *after_list);
void weft_profile_deltas_free(struct weft_profile_deltas *d);

/* For a flame graph in red and blue: beside each call of after, what the same call, called in the same way, is in
 * before; zeros where it is not there. Shares are of before->total. The caller frees *out. 0 or WEFT_E_NOMEM. */
struct weft_call_before {
    uint64_t self, total;
};
int weft_calltree_compare(struct weft_call_before **out, const struct weft_profile *before,
                          const struct weft_calltree *before_tree, const struct weft_profile *after,
                          const struct weft_calltree *after_tree);

#endif
