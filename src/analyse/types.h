/* SPDX-License-Identifier: ISC */
/* What a promise is for, as far as that was said on purpose: by its type, which is one of those that docs/guide.md lists, exactly;
 * or by words of its label that the user's own list has (words.h). Other words of labels decide nothing. Inside of
 * analyse. */
#ifndef WEFT_ANALYSE_TYPES_H
#define WEFT_ANALYSE_TYPES_H

#include "analyse/finding.h"

enum {
    WEFT__TIMER = 1 << 0,   /* it comes when its time has come */
    WEFT__LOCK = 1 << 1,    /* one after the other has it */
    WEFT__REUSED = 1 << 2,  /* it may be dropped without being resolved */
    WEFT__LASTING = 1 << 3, /* it stays as long as somebody likes, and may be waited for for long */
    WEFT__ORDERED = 1 << 4, /* one needs the one before */
    WEFT__OUTSIDE = 1 << 5, /* it stands for somebody outside */
    WEFT__FOR_ALL = 1 << 6, /* all who wait for it are to be told */
    WEFT__GIVEN_UP = 1 << 7, /* of a reason: it was meant to fail */
};

/* By its type. WEFT_ROOT: 0. */
unsigned weft__type(const struct weft_model *m, uint32_t promise);
static inline bool weft__is_timer(const struct weft_model *m, uint32_t promise)
{
    return weft__type(m, promise) & WEFT__TIMER;
}

/* Whether it is a timer, or what one ends that was made for it: a promise of a function that sleeps. */
bool weft__is_sleep(const struct weft__search *s, uint32_t promise);

/* By the user's words; and of a text that is no label. */
unsigned weft__called(const struct weft__search *s, uint32_t promise);
unsigned weft__text_called(const struct weft__search *s, uint32_t text);

/* Either. */
unsigned weft__known(const struct weft__search *s, uint32_t promise);

/* The timer of the same sort that went off and set this one meanwhile, or WEFT_NONE. */
uint32_t weft__set_by(const struct weft__search *s, uint32_t timer);

#endif
