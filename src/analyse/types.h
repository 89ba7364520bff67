/* SPDX-License-Identifier: ISC */
/* What a promise is for, as far as that was said on purpose: by its type, which is one of those that docs/guide.md lists, exactly;
 * or by words of its label that the user's own list has (words.h). Other words of labels decide nothing. Inside of
 * analyse. */
#ifndef WEFT_ANALYSE_TYPES_H
#define WEFT_ANALYSE_TYPES_H

#include "analyse/finding.h"

enum {
    ANALYSE_TIMER = 1 << 0,  /* it comes when its time has come */
    ANALYSE_LOCK = 1 << 1,   /* one after the other has it */
    ANALYSE_REUSED = 1 << 2, /* it may be dropped without being resolved */
    ANALYSE_LASTING =
        1 << 3, /* it stays as long as somebody likes, and may be waited for for long */
    ANALYSE_ORDERED = 1 << 4,  /* one needs the one before */
    ANALYSE_OUTSIDE = 1 << 5,  /* it stands for somebody outside */
    ANALYSE_FOR_ALL = 1 << 6,  /* all who wait for it are to be told */
    ANALYSE_GIVEN_UP = 1 << 7, /* of a reason: it was meant to fail */
};

/* By its type. WEFT_ROOT: 0. */
unsigned analyse_type(const struct weft_model *m, uint32_t promise);
static inline bool analyse_is_timer(const struct weft_model *m, uint32_t promise)
{
    return analyse_type(m, promise) & ANALYSE_TIMER;
}

/* Whether it is a timer, or what one ends that was made for it: a promise of a function that sleeps. */
bool analyse_is_sleep(const struct analyse_search *s, uint32_t promise);

/* By the user's words; and of a text that is no label. */
unsigned analyse_called(const struct analyse_search *s, uint32_t promise);
unsigned analyse_text_called(const struct analyse_search *s, uint32_t text);

/* Either. */
unsigned analyse_known(const struct analyse_search *s, uint32_t promise);

/* The timer of the same sort that went off and set this one meanwhile, or WEFT_NONE. */
uint32_t analyse_set_by(const struct analyse_search *s, uint32_t timer);

#endif
