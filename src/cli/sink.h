/* SPDX-License-Identifier: ISC */
/* Standard output for millions of lines: stdio costs more than reading the trace does.
 *
 *     struct sink sink;
 *     sink_open(&sink);
 *     put_signed(&sink, -5);
 *     put_byte(&sink, '\n');
 *     status = sink_close(&sink);
 *
 * Each function writes at most SINK_PIECE bytes between two checks for free space. One thread. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/report.h"
#include "format/utf8.h"

#define SINK_SIZE 65536
#define SINK_PIECE 32
#define SINK_TEXT 500u /* maximum bytes of a text, unless full is set */

struct sink {
    size_t used;
    int error;      /* errno of a failed write; after that, everything is dropped */
    bool terminal;  /* or a pager */
    bool ascii;     /* everything else is escaped */
    size_t longest; /* maximum bytes of a text; the rest is left out, with a note */
    char bytes[SINK_SIZE];
};

/* full: texts are written completely, however long. */
static inline void sink_open(struct sink *s, bool full)
{
    s->longest = full ? SIZE_MAX : SINK_TEXT;
    s->used = 0;
    s->error = 0;
    s->terminal = cli_paged || isatty(STDOUT_FILENO);
    s->ascii = cli_ascii();
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

/* Returns the exit status. A reader that has gone away is not a failure. */
static inline int sink_close(struct sink *s)
{
    sink_flush(s);
    if (!s->error || s->error == EPIPE)
        return CLI_DONE;
    cli_say("standard output", "cannot be written: %s", strerror(s->error));
    return CLI_FAILED;
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

/* \xNN */
static inline void put_hex(struct sink *s, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    char text[4] = {'\\', 'x', digits[c >> 4], digits[c & 15]};
    put_bytes(s, text, sizeof text);
}

/* Notes at the end of a text how much was left out. */
static inline void put_left_out(struct sink *s, size_t bytes)
{
    if (bytes) {
        put_text(s, s->ascii ? "...(" : "…(");
        put_unsigned(s, bytes);
        put_text(s, " bytes more)");
    }
}

/* A text in a line, so that it can be read back: backslash, tab, newline and carriage return as \\ \t \n \r; other
 * characters that are unsafe, or that the locale lacks, and invalid UTF-8 as \xNN for each byte. Between quotes, a
 * quote becomes \". */
static inline void put_escaped(struct sink *s, const char *text, size_t whole, bool quoted)
{
    const size_t size = weft_text_keep(text, whole, s->longest);
    for (size_t i = 0; i < size;) {
        size_t plain = i, n;
        while (plain < size && text[plain] != '\\' && !(quoted && text[plain] == '"') &&
               !(s->ascii && (unsigned char)text[plain] > 0x7e) &&
               (n = weft_utf8_harmless(text + plain, size - plain)) > 0)
            plain += n;
        put_bytes(s, text + i, plain - i);
        i = plain + 1;
        if (plain == size)
            break;
        const char c = text[plain], letter = c == '\t'   ? 't'
                                             : c == '\n' ? 'n'
                                             : c == '\r' ? 'r'
                                                         : c;
        if (letter != c || c == '\\' || c == '"') {
            put_byte(s, '\\');
            put_byte(s, letter);
        } else {
            put_hex(s, (unsigned char)c);
        }
    }
    put_left_out(s, whole - size);
}
