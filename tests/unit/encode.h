/* SPDX-License-Identifier: ISC */
/* Writes the forms of events, from the table that they are decoded with. The recorder has its own code. */
#pragma once

#include "format/bytes.h"
#include "format/forms.h"

#define WEFT_FORM_MAX 40u

enum { FORM_WORD = 4 };

#define FORM(count, number, NAME, KIND, FIELDS)                                                    \
    _Static_assert(8 + FORM_WORD * (count) <= WEFT_FORM_MAX, "size of form " #NAME);
#include "format/events.def"

static inline void form_put_word(unsigned char *bytes, const struct weft_form_desc *f,
                                 enum weft_form_word which, uint64_t value)
{
    if (f->words[which] == 2)
        weft_write_u64(bytes + f->at[which], value);
    else if (f->words[which] == 1)
        weft_write_u32(bytes + f->at[which], (uint32_t)value);
}

static inline uint64_t form_promise_word(uint64_t promise, unsigned words, uint64_t base)
{
    if (words == 1)
        return promise == WEFT_ID_LOOP ? (uint32_t)WEFT_SHORT_LOOP : promise - base;
    return promise;
}

static inline void form_put_head(unsigned char *bytes, uint64_t ticks, unsigned code)
{
    const uint64_t mask = (UINT64_C(1) << WEFT_TIME_BITS) - 1;
    weft_write_u64(bytes, (ticks & mask) | (uint64_t)code << WEFT_TIME_BITS);
}

/* Writes ev to bytes in that form; at most WEFT_FORM_MAX bytes. The form must be able to hold the event. Uses
 * base, site, text and ids of c. Returns the size in bytes. */
static inline size_t weft_form_encode(unsigned char *bytes, unsigned form,
                                      const struct weft_event *ev,
                                      const struct weft_form_context *c)
{
    const struct weft_form_desc *f = &weft_forms[form];
    form_put_head(bytes, ev->time_ns, form);
    form_put_word(bytes, f, WEFT_WORD_A, form_promise_word(ev->a, f->words[WEFT_WORD_A], c->base));
    form_put_word(bytes, f, WEFT_WORD_B, form_promise_word(ev->b, f->words[WEFT_WORD_B], c->base));
    form_put_word(bytes, f, WEFT_WORD_SITE, c->site);
    form_put_word(bytes, f, WEFT_WORD_TEXT, c->text);
    form_put_word(bytes, f, WEFT_WORD_VALUE, (uint64_t)ev->value);
    form_put_word(bytes, f, WEFT_WORD_TOTAL, (uint64_t)ev->total);
    form_put_word(bytes, f, WEFT_WORD_REASON, ev->type);
    if (f->words[WEFT_WORD_IDS])
        memcpy(bytes + f->at[WEFT_WORD_IDS],
               c->ids ? c->ids : (const unsigned char[WEFT_IDS_BYTES]){0}, WEFT_IDS_BYTES);
    return f->bytes;
}

/* Writes a text for the next event; at most 16 + size + 3 bytes. Returns the size in bytes. */
static inline size_t weft_form_encode_text(unsigned char *bytes, uint64_t ticks, const char *text,
                                           uint32_t size)
{
    uint32_t words = 1 + size / FORM_WORD + (size % FORM_WORD != 0);
    form_put_head(bytes, ticks, WEFT_FORM_TEXT_FOLLOWS);
    weft_write_u32(bytes + FORMAT_FORM_HEAD, words);
    weft_write_u32(bytes + FORMAT_FORM_HEAD + FORM_WORD, size);
    memset(bytes + FORMAT_FORM_HEAD + 2 * FORM_WORD, 0, (words - 1) * (size_t)FORM_WORD);
    if (size)
        memcpy(bytes + FORMAT_FORM_HEAD + 2 * FORM_WORD, text, size);
    return FORMAT_FORM_HEAD + FORM_WORD + words * (size_t)FORM_WORD;
}
