/* SPDX-License-Identifier: ISC */
/* The ids of a span of a distributed trace, as W3C's Trace Context has them: 16 bytes of the trace, then 8 of the span.
 * As a text: 32 hexadecimal digits in lower case, "-", 16 digits. Used by the recorder, too: everything is inline. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WEFT_TRACE_ID_BYTES = 16,
    WEFT_SPAN_ID_BYTES = 8,
    WEFT_IDS_BYTES = WEFT_TRACE_ID_BYTES + WEFT_SPAN_ID_BYTES,
    WEFT_IDS_TEXT = 2 * WEFT_IDS_BYTES + 1, /* without a NUL */
};

static inline void format_hex(char *text, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const unsigned high = bytes[i] >> 4, low = bytes[i] & 15;
        text[2 * i] = (char)(high < 10 ? '0' + high : 'a' + high - 10);
        text[2 * i + 1] = (char)(low < 10 ? '0' + low : 'a' + low - 10);
    }
}

static inline void format_ids_write(char text[WEFT_IDS_TEXT],
                                    const unsigned char ids[WEFT_IDS_BYTES])
{
    format_hex(text, ids, WEFT_TRACE_ID_BYTES);
    text[2 * WEFT_TRACE_ID_BYTES] = '-';
    format_hex(text + 2 * WEFT_TRACE_ID_BYTES + 1, ids + WEFT_TRACE_ID_BYTES, WEFT_SPAN_ID_BYTES);
}

/* Reads so many bytes from twice as many digits. Returns false if one is something else than 0-9 and a-f. */
static inline bool format_unhex(unsigned char *bytes, const char *text, size_t size)
{
    for (size_t i = 0; i < 2 * size; i++) {
        const char c = text[i];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return false;
        bytes[i / 2] = (unsigned char)(i % 2 ? bytes[i / 2] | digit : digit << 4);
    }
    return true;
}

/* Neither id may be all zeros. */
static inline bool format_ids_valid(const unsigned char ids[WEFT_IDS_BYTES])
{
    uint64_t words[WEFT_IDS_BYTES / sizeof(uint64_t)];
    __builtin_memcpy(words, ids, sizeof words);
    return (words[0] | words[1]) && words[2];
}

/* Reads the text that format_ids_write writes. Returns false for anything else, and for ids that are not valid. */
static inline bool format_ids_read(unsigned char ids[WEFT_IDS_BYTES], const char *text, size_t size)
{
    return size == WEFT_IDS_TEXT && text[2 * WEFT_TRACE_ID_BYTES] == '-' &&
           format_unhex(ids, text, WEFT_TRACE_ID_BYTES) &&
           format_unhex(ids + WEFT_TRACE_ID_BYTES, text + 2 * WEFT_TRACE_ID_BYTES + 1,
                        WEFT_SPAN_ID_BYTES) &&
           format_ids_valid(ids);
}

/* Reads the value of a header traceparent, which ends with a NUL: version, trace id, id of the sender's span, flags.
 * Returns false unless it is valid by https://www.w3.org/TR/trace-context/: a later version than 00 may have more
 * after a further "-", ff is none. */
static inline bool format_traceparent_read(unsigned char ids[WEFT_IDS_BYTES], const char *text)
{
    enum { TRACE_AT = 3, SPAN_AT = 36, FLAGS_AT = 53, SIZE = 55 };
    unsigned char version, flags;
    size_t size = 0;
    while (size <= SIZE && text[size])
        size++;
    if (size < SIZE || !format_unhex(&version, text, 1) || version == 0xff ||
        text[TRACE_AT - 1] != '-' || text[SPAN_AT - 1] != '-' || text[FLAGS_AT - 1] != '-')
        return false;
    if (size > SIZE && (version == 0 || text[SIZE] != '-'))
        return false;
    return format_unhex(ids, text + TRACE_AT, WEFT_TRACE_ID_BYTES) &&
           format_unhex(ids + WEFT_TRACE_ID_BYTES, text + SPAN_AT, WEFT_SPAN_ID_BYTES) &&
           format_unhex(&flags, text + FLAGS_AT, 1) && format_ids_valid(ids);
}
