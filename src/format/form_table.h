/* SPDX-License-Identifier: ISC */
/* The forms by their codes, made from events.def. The recorder has its own table, because a traced program
 * contains no code of a reader. */
#pragma once

#include "format/walk.h"

/* Each sort of word has a decimal digit: the number of four-byte words that it takes. In an event the words are
 * in the order of enum weft_form_word. */
#define A32 +1
#define A64 +2
#define B32 +10
#define B64 +20
#define SITE32 +100
#define TEXT32 +1000
#define VALUE32 +10000
#define VALUE64 +20000
#define TOTAL32 +100000
#define TOTAL64 +200000
#define REASON32 +1000000
#define RUNNING +10000000
#define IDS +600000000
#define DIGIT(n, power) ((n) / (power) % 10)

/* How many words come before those of that digit. */
#define BEFORE_B(n) DIGIT(n, 1)
#define BEFORE_SITE(n) (BEFORE_B(n) + DIGIT(n, 10))
#define BEFORE_TEXT(n) (BEFORE_SITE(n) + DIGIT(n, 100))
#define BEFORE_VALUE(n) (BEFORE_TEXT(n) + DIGIT(n, 1000))
#define BEFORE_TOTAL(n) (BEFORE_VALUE(n) + DIGIT(n, 10000))
#define BEFORE_REASON(n) (BEFORE_TOTAL(n) + DIGIT(n, 100000))
#define BEFORE_IDS(n) (BEFORE_REASON(n) + DIGIT(n, 1000000))
#define ALL_WORDS(n) (BEFORE_IDS(n) + DIGIT(n, 100000000))

static const struct weft_form_desc format_forms[256] = {
#define FORM(count, number, NAME, KIND, FIELDS)                                                    \
    [(count)*32 + (number)] = {                                                                    \
        .kind = WEFT_EVENT_##KIND,                                                                 \
        .bytes = FORMAT_FORM_HEAD + 4 * (count),                                                   \
        .by_running = DIGIT(0 FIELDS, 10000000),                                                   \
        .is_unsigned =                                                                             \
            WEFT_EVENT_##KIND == WEFT_EVENT_GC || WEFT_EVENT_##KIND == WEFT_EVENT_PREEMPTED,       \
        .at = {FORMAT_FORM_HEAD, FORMAT_FORM_HEAD + 4 * BEFORE_B(0 FIELDS),                        \
               FORMAT_FORM_HEAD + 4 * BEFORE_SITE(0 FIELDS),                                       \
               FORMAT_FORM_HEAD + 4 * BEFORE_TEXT(0 FIELDS),                                       \
               FORMAT_FORM_HEAD + 4 * BEFORE_VALUE(0 FIELDS),                                      \
               FORMAT_FORM_HEAD + 4 * BEFORE_TOTAL(0 FIELDS),                                      \
               FORMAT_FORM_HEAD + 4 * BEFORE_REASON(0 FIELDS),                                     \
               FORMAT_FORM_HEAD + 4 * BEFORE_IDS(0 FIELDS)},                                       \
        .words = {DIGIT(0 FIELDS, 1), DIGIT(0 FIELDS, 10), DIGIT(0 FIELDS, 100),                   \
                  DIGIT(0 FIELDS, 1000), DIGIT(0 FIELDS, 10000), DIGIT(0 FIELDS, 100000),          \
                  DIGIT(0 FIELDS, 1000000), DIGIT(0 FIELDS, 100000000)},                           \
    },
#include "format/events.def"
};

#define FORM(count, number, NAME, KIND, FIELDS)                                                    \
    _Static_assert(ALL_WORDS(0 FIELDS) == (count), "words of form " #NAME);
#include "format/events.def"

#undef A32
#undef A64
#undef B32
#undef B64
#undef SITE32
#undef TEXT32
#undef VALUE32
#undef VALUE64
#undef TOTAL32
#undef TOTAL64
#undef REASON32
#undef RUNNING
#undef IDS
#undef DIGIT
#undef BEFORE_B
#undef BEFORE_SITE
#undef BEFORE_TEXT
#undef BEFORE_VALUE
#undef BEFORE_TOTAL
#undef BEFORE_REASON
#undef BEFORE_IDS
#undef ALL_WORDS
