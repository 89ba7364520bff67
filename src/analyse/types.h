/* SPDX-License-Identifier: ISC */
/* What a promise is for, as far as that was stated on purpose: by its type, if it is exactly one of
 * those that docs/guide.md lists; or by words in its label that are in the user's own list
 * (words.h). No other words in labels decide anything. Internal to analyse. */
#pragma once

#include "analyse/finding.h"

enum {
    ANALYSE_TIMER = 1 << 0,  /* it ends when a time is reached */
    ANALYSE_LOCK = 1 << 1,   /* only one can have it at a time */
    ANALYSE_REUSED = 1 << 2, /* it may be dropped without being resolved */
    ANALYSE_LASTING =
        1 << 3, /* it may stay as long as somebody likes, and may be waited for for long */
    ANALYSE_ORDERED = 1 << 4,  /* each needs the one before */
    ANALYSE_OUTSIDE = 1 << 5,  /* it stands for somebody outside */
    ANALYSE_FOR_ALL = 1 << 6,  /* everybody who waits for it should be notified */
    ANALYSE_GIVEN_UP = 1 << 7, /* for a reason of a failure: it was meant to fail */
    ANALYSE_THREAD = 1 << 8,   /* the system itself lets it sleep, and wakes it */
};

/* According to its type. WEFT_ROOT: 0. */
unsigned analyse_type(const struct weft_model *m, uint32_t promise);
static inline bool analyse_is_timer(const struct weft_model *m, uint32_t promise)
{
    return analyse_type(m, promise) & ANALYSE_TIMER;
}

/* Returns true if it is a timer, or ended by one made for it, as in a function that sleeps. */
bool analyse_is_sleep(const struct analyse_search *s, uint32_t promise);

/* According to the user's words; and the same for a text that is not a label. */
unsigned analyse_called(const struct analyse_search *s, uint32_t promise);
unsigned analyse_text_called(const struct analyse_search *s, uint32_t text);

/* Both together. */
unsigned analyse_known(const struct analyse_search *s, uint32_t promise);

/* Timers of one sort of which each went off and set the next one while it ran, up to the last one,
 * which also went off. line has room for `most`; returns how many there are. */
uint32_t analyse_timer_line(const struct analyse_search *s, uint32_t last, uint32_t *line,
                            uint32_t most);
