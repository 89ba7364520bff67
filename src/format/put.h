/* SPDX-License-Identifier: ISC */
/* Builds a text in a buffer, piece by piece, where printf must not be called: weft ctl can make a program start
 * recording in any of its calls, so also in a signal handler.
 *
 *     struct put p = put_begin(path, sizeof path);
 *     put_text(&p, "/proc/");
 *     put_number(&p, pid);
 *     if (!put_end(&p))      it was cut off; the buffer ends with a NUL in any case */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct put {
    char *at, *end; /* the last byte is for the NUL */
    bool cut;
};

static inline struct put put_begin(char *text, size_t room)
{
    return (struct put){text, text + room - 1, false};
}

static inline void put_text(struct put *p, const char *text)
{
    while (*text && p->at < p->end)
        *p->at++ = *text++;
    p->cut |= *text != 0;
}

static inline void put_number(struct put *p, uint64_t n)
{
    char digits[21], *at = digits + sizeof digits - 1;
    *at = 0;
    do
        *--at = (char)('0' + n % 10);
    while (n /= 10);
    put_text(p, at);
}

static inline bool put_end(struct put *p)
{
    *p->at = 0;
    return !p->cut;
}
