/* SPDX-License-Identifier: ISC */
/* Standard output for millions of lines: stdio costs more than reading the trace does.
 *
 *     struct sink sink;
 *     sink_open(&sink);
 *     put_signed(&sink, -5);
 *     put_byte(&sink, '\n');
 *     status = sink_close(&sink);
 *
 * Each function writes at most SINK_PIECE bytes between two checks of the room. One thread. */
#ifndef WEFT_CLI_SINK_H
#define WEFT_CLI_SINK_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"

#define SINK_SIZE 65536
#define SINK_PIECE 32

struct sink {
    size_t used;
    int error; /* errno of a failed write: from then on everything is dropped */
    bool terminal;
    char bytes[SINK_SIZE];
};

static inline void sink_open(struct sink *s)
{
    s->used = 0;
    s->error = 0;
    s->terminal = isatty(STDOUT_FILENO);
}

static inline void sink_flush(struct sink *s)
{
    for (size_t done = 0; done < s->used && !s->error;) {
        ssize_t n = write(STDOUT_FILENO, s->bytes + done, s->used - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            s->error = errno;
    }
    s->used = 0;
}

/* Returns the exit status. A reader that has gone away is no failure. */
static inline int sink_close(struct sink *s)
{
    sink_flush(s);
    if (!s->error || s->error == EPIPE)
        return WEFT__DONE;
    weft__say("standard output", "cannot be written: %s", strerror(s->error));
    return WEFT__FAILED;
}

static inline char *sink_room(struct sink *s)
{
    if (SINK_SIZE - s->used < SINK_PIECE)
        sink_flush(s);
    return s->bytes + s->used;
}

static inline void put_byte(struct sink *s, char c)
{
    *sink_room(s) = c;
    s->used++;
}

static inline void put_bytes(struct sink *s, const char *bytes, size_t size)
{
    while (size > 0) {
        char *room = sink_room(s);
        size_t piece = SINK_SIZE - s->used < size ? SINK_SIZE - s->used : size;
        memcpy(room, bytes, piece);
        s->used += piece;
        bytes += piece;
        size -= piece;
    }
}

static inline void put_text(struct sink *s, const char *text)
{
    put_bytes(s, text, strlen(text));
}

static inline void put_unsigned(struct sink *s, uint64_t n)
{
    char digits[20];
    unsigned first = sizeof digits;
    do
        digits[--first] = (char)('0' + n % 10);
    while (n /= 10);
    memcpy(sink_room(s), digits + first, sizeof digits - first);
    s->used += sizeof digits - first;
}

static inline void put_signed(struct sink *s, int64_t n)
{
    if (n < 0)
        put_byte(s, '-');
    put_unsigned(s, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

/* A promise's number; the event loop is -1. */
static inline void put_id(struct sink *s, uint64_t id)
{
    if (id == WEFT_ID_LOOP)
        put_text(s, "-1");
    else
        put_unsigned(s, id);
}

/* \t, \n, \r, \\ and \" for those, false for other bytes. */
static inline bool put_escape(struct sink *s, char c)
{
    char letter = c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : c;
    if (letter == c && c != '\\' && c != '"')
        return false;
    put_byte(s, '\\');
    put_byte(s, letter);
    return true;
}

/* How many bytes the character that begins at text takes, or 0 if it is not valid UTF-8 or a control
 * character, which also U+0080 to U+009F are. */
static inline size_t printable(const unsigned char *text, size_t size)
{
    unsigned c = text[0];
    if (c < 0x80)
        return c >= 0x20 && c != 0x7f;
    size_t n = c >= 0xc2 && c < 0xe0   ? 2
               : c >= 0xe0 && c < 0xf0 ? 3
               : c >= 0xf0 && c < 0xf5 ? 4
                                       : 0;
    if (n == 0 || n > size)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    unsigned second = text[1];
    bool wrong = (c == 0xc2 && second < 0xa0) ||  /* control characters */
                 (c == 0xe0 && second < 0xa0) ||  /* longer than need be */
                 (c == 0xed && second >= 0xa0) || /* surrogates */
                 (c == 0xf0 && second < 0x90) ||
                 (c == 0xf4 && second >= 0x90); /* beyond U+10FFFF */
    return wrong ? 0 : n;
}

/* \xNN */
static inline void put_hex(struct sink *s, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    char text[4] = {'\\', 'x', digits[c >> 4], digits[c & 15]};
    put_bytes(s, text, sizeof text);
}

#endif
