/* SPDX-License-Identifier: ISC */
/* Folds: long stretches of time in which nothing happens, drawn as narrow breaks. They map a trace's time to shown
 * time, which runs as time does outside of folds and 2^shift times as slowly inside:
 *
 *     int64_t shown = weft_folds_shown(folds, time_ns);
 *
 * Shown time never runs backwards, and is never later than time_ns. Before the first fold, the two are the same. */
#pragma once

#include "base/order.h"
#include "model/model.h"
#include "profile/profile.h"

#define WEFT_FOLDS_MAX 2000

struct weft_fold {
    int64_t from_ns, to_ns;
    int64_t shown_from, shown_to; /* what from_ns and to_ns are shown at */
    unsigned shift;
};

/* Does not change once it is made. */
struct weft_folds {
    uint32_t count;
    bool asleep;            /* the trace says that all loops slept; else there are only no events */
    struct weft_fold *fold; /* in the order of time */
};

/* Finds the folds of a trace, in linear time. In a fold no promise begins, ends or runs, nothing is recorded and no
 * sample is taken; if the trace says when its loops sleep, all of them do. The longest such stretches are folded:
 *
 * - If n are, each is about 1/(100 + n) of what is shown, and all together about a quarter at most (if n > 25, each is
 *   1/4n), and each is at least 4 times as long as it is shown.
 * - There are no folds if at least 2/3 of the trace would still be shown, or if, because of WEFT_FOLDS_MAX, more of such
 *   time would stay than is folded.
 * - Stretches below 1/65536 of the trace are not found.
 *
 * p may be NULL. On success the caller owns what is in *out. Returns 0 or WEFT_E_NOMEM. */
int weft_folds_init(struct weft_folds *out, const struct weft_model *m,
                    const struct weft_profile *p);
void weft_folds_fini(struct weft_folds *f);

/* The shown time of a time, between -WEFT_TIME_MAX and WEFT_TIME_MAX. f may be NULL in these: nothing is folded. */
int64_t weft_folds_shown(const struct weft_folds *f, int64_t time_ns);

/* The same, where at least `low` and at most `high` of the folds begin before that time. */
static inline int64_t weft_folds_shown_among(const struct weft_folds *f, uint32_t low,
                                             uint32_t high, int64_t time_ns)
{
    WEFT_SEEK(low, high, f->fold[middle].from_ns < time_ns);
    if (!low)
        return time_ns;
    const struct weft_fold *x = &f->fold[low - 1];
    if (time_ns >= x->to_ns)
        return x->shown_to + (time_ns - x->to_ns);
    return x->shown_from + ((time_ns - x->from_ns) >> x->shift);
}

/* The earliest time that is shown at that shown time or later. */
int64_t weft_folds_time(const struct weft_folds *f, int64_t shown_ns);

/* The same two for times between whole ones; they are each other's inverse. */
double weft_folds_shown_at(const struct weft_folds *f, double time_ns);
double weft_folds_time_at(const struct weft_folds *f, double shown_ns);

/* The fold in which a time lies, or NULL. */
const struct weft_fold *weft_folds_at(const struct weft_folds *f, int64_t time_ns);

/* The first fold that ends after a time; f->count if there is none. */
uint32_t weft_folds_after(const struct weft_folds *f, int64_t time_ns);
