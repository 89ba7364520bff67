/* SPDX-License-Identifier: ISC */
#include "read/columns.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "format/bytes.h"
#include "format/walk.h"
#include "read/snapshot.h"

const unsigned char read_columns_mark[READ_COLUMNS_HEAD] = {'w', 'e', 'f', 't', 'c', 'o', 'l', 1};

enum {
    TIME_BYTES = 7,
    WORD_BYTES = 4,
    WORDS_MAX = 7, /* of a form */
    RUN = 8,       /* of a run: how many bytes as they are, how many events behind them */
    COUNTS = 5,
    BLOCK_HEAD = 4 * (1 + COUNTS), /* the size of what follows, and how long the columns are */
};

/* Where the next bytes of each column are, and where they end. */
struct column {
    unsigned char *at;
    const unsigned char *end;
};

struct columns {
    struct column run, plain, code, text, time[TIME_BYTES], word[WORD_BYTES];
};

/* How long they are; words: of four bytes. */
struct counts {
    uint32_t runs, plain, events, words, text;
};

/* What came before, in a run. */
struct before {
    uint64_t time;
    uint32_t word[256][WORDS_MAX];
};

static void take_column(struct column *c, unsigned char **at, size_t size)
{
    c->at = *at;
    *at += size;
    c->end = *at;
}

static uint64_t size_of(const struct counts *n)
{
    return BLOCK_HEAD + (uint64_t)RUN * n->runs + n->plain +
           (uint64_t)(1 + TIME_BYTES) * n->events + (uint64_t)WORD_BYTES * n->words + n->text;
}

/* The columns stand one behind the other. */
static void lay_out(struct columns *c, unsigned char *block, const struct counts *n)
{
    unsigned char *at = block + BLOCK_HEAD;
    take_column(&c->run, &at, (size_t)RUN * n->runs);
    take_column(&c->plain, &at, n->plain);
    take_column(&c->code, &at, n->events);
    for (unsigned i = 0; i < TIME_BYTES; i++)
        take_column(&c->time[i], &at, n->events);
    for (unsigned i = 0; i < WORD_BYTES; i++)
        take_column(&c->word[i], &at, n->words);
    take_column(&c->text, &at, n->text);
}

/* So many events, and so many words of them, were put or taken. */
static void go_on(struct columns *c, size_t events, size_t words)
{
    c->code.at += events;
    for (unsigned i = 0; i < TIME_BYTES; i++)
        c->time[i].at += events;
    for (unsigned i = 0; i < WORD_BYTES; i++)
        c->word[i].at += words;
}

/* ---- Writing ---- */

/* The events of a packet that begins there: where they begin, and their end. False: no such packet begins there. */
static bool find_events(const unsigned char *from, size_t size, size_t *begin, size_t *end,
                        size_t *whole)
{
    struct weft_packet_header h;
    if (size < sizeof h)
        return false;
    memcpy(&h, from, sizeof h);
    if (!format_is_packet(&h) || !format_has_events(&h) || h.content_bits > h.packet_bits ||
        h.content_bits / 8 < h.header_bytes || h.packet_bits / 8 > READ_COLUMNS_BLOCK)
        return false;
    *begin = h.header_bytes;
    *end = (size_t)(h.content_bits / 8);
    *whole = (size_t)(h.packet_bits / 8);
    return true;
}

static bool is_text(unsigned code)
{
    return code == WEFT_FORM_TEXT_FOLLOWS;
}

/* Counts the events from begin on that end before end. Returns where they end. */
static size_t count_events(const unsigned char *from, size_t begin, size_t end, struct counts *n,
                           uint32_t *events)
{
    size_t at = begin;
    *events = 0;
    while (at + FORMAT_FORM_HEAD <= end) {
        const uint64_t size = format_form_bytes(from + at, end - at);
        if (size > end - at)
            break;
        if (is_text(from[at + 7]))
            n->text += (uint32_t)size - FORMAT_FORM_HEAD;
        else
            n->words += from[at + 7] >> 5;
        n->events++;
        ++*events;
        at += (size_t)size;
    }
    return at;
}

/* Puts the events from there to the end into columns. Columns of one kind are equally long, so there is one index for each
 * kind. The compiler keeps these in registers; a pointer for each column it does not, since a byte may be part of one. */
static void put_events(struct columns *c, const unsigned char *from, const unsigned char *end)
{
    const uint64_t mask = (UINT64_C(1) << WEFT_TIME_BITS) - 1;
    unsigned char *const code_at = c->code.at, *const time_at = c->time[0].at,
                         *const word_at = c->word[0].at;
    const size_t times = (size_t)(c->time[1].at - time_at),
                 words = (size_t)(c->word[1].at - word_at);
    struct before b;
    size_t e = 0, n = 0, size;
    memset(&b, 0, sizeof b);
    for (const unsigned char *at = from; at < end; at += size, e++) {
        const uint64_t time = weft_read_u64(at) & mask, more = (time - b.time) & mask;
        const unsigned code = at[7];
        size = (size_t)format_form_bytes(at, (uint64_t)(end - at));
        b.time = time;
        code_at[e] = (unsigned char)code;
        for (unsigned i = 0; i < TIME_BYTES; i++)
            time_at[e + i * times] = (unsigned char)(more >> 8 * i);
        if (is_text(code)) {
            memcpy(c->text.at, at + FORMAT_FORM_HEAD, size - FORMAT_FORM_HEAD);
            c->text.at += size - FORMAT_FORM_HEAD;
            continue;
        }
        for (unsigned w = 0; w < code >> 5; w++, n++) {
            const uint32_t word = weft_read_u32(at + FORMAT_FORM_HEAD + WORD_BYTES * w);
            const uint32_t difference = word - b.word[code][w];
            b.word[code][w] = word;
            for (unsigned i = 0; i < WORD_BYTES; i++)
                word_at[n + i * words] = (unsigned char)(difference >> 8 * i);
        }
    }
    go_on(c, e, n);
}

/* Goes through the packets; c: NULL in the first pass, which counts. Returns how many bytes are in the block. */
static size_t pass(const unsigned char *from, size_t size, struct counts *n, struct columns *c)
{
    size_t at = 0, copied = 0, begin, end, whole;
    while (at < size) {
        if (!find_events(from + at, size - at, &begin, &end, &whole)) {
            at += 8;
            continue;
        }
        if (whole > size - at && at > 0 && size == READ_COLUMNS_BLOCK) {
            size = at; /* it is in the next block */
            break;
        }
        end = end < size - at ? end : size - at;
        if (begin > end)
            break;
        uint32_t events;
        struct counts unused = {0};
        const size_t last = at + count_events(from + at, begin, end, c ? &unused : n, &events);
        const size_t plain = at + begin - copied;
        if (!c) {
            n->runs++;
            n->plain += (uint32_t)plain;
        } else {
            weft_write_u32(c->run.at, (uint32_t)plain);
            weft_write_u32(c->run.at + 4, events);
            c->run.at += RUN;
            memcpy(c->plain.at, from + copied, plain);
            c->plain.at += plain;
            put_events(c, from + at + begin, from + last);
        }
        copied = last;
        at += whole < 8 ? 8 : whole;
    }
    if (!c)
        n->plain += (uint32_t)(size - copied);
    else
        memcpy(c->plain.at, from + copied, size - copied);
    return size;
}

size_t read_columns_put(unsigned char *to, const unsigned char *from, size_t size, size_t *used)
{
    struct counts n = {0};
    struct columns c;
    *used = pass(from, size, &n, NULL);
    const uint32_t list[1 + COUNTS] = {
        (uint32_t)size_of(&n) - 4, n.runs, n.plain, n.events, n.words, n.text};
    for (unsigned i = 0; i <= COUNTS; i++)
        weft_write_u32(to + 4 * i, list[i]);
    lay_out(&c, to, &n);
    pass(from, *used, &n, &c);
    return (size_t)size_of(&n);
}

/* ---- Reading: a block may hold anything ---- */

static bool has(const struct column *c, size_t size)
{
    return (size_t)(c->end - c->at) >= size;
}

/* Makes events again, as put_events took them apart. Returns their size, or SIZE_MAX: they are damaged, or there is no
 * room. */
static size_t get_events(struct columns *c, uint32_t events, unsigned char *to, size_t room)
{
    const uint64_t mask = (UINT64_C(1) << WEFT_TIME_BITS) - 1;
    const unsigned char *const code_at = c->code.at, *const time_at = c->time[0].at,
                               *const word_at = c->word[0].at;
    const size_t times = (size_t)(c->time[1].at - time_at),
                 words = (size_t)(c->word[1].at - word_at),
                 words_left = (size_t)(c->word[0].end - word_at);
    struct before b;
    size_t n = 0, done = 0, size;
    memset(&b, 0, sizeof b);
    if (!has(&c->code, events))
        return SIZE_MAX;
    for (size_t e = 0; e < events; e++, done += size) {
        const unsigned code = code_at[e];
        uint64_t more = 0;
        size = FORMAT_FORM_HEAD + (size_t)WORD_BYTES * (code >> 5);
        if (is_text(code)) {
            const uint64_t text =
                has(&c->text, 4) ? 4 + 4 * (uint64_t)weft_read_u32(c->text.at) : 0;
            if (!text || !has(&c->text, (size_t)text))
                return SIZE_MAX;
            size = FORMAT_FORM_HEAD + (size_t)text;
        }
        if (room - done < size)
            return SIZE_MAX;
        for (unsigned i = 0; i < TIME_BYTES; i++)
            more |= (uint64_t)time_at[e + i * times] << 8 * i;
        b.time = (b.time + more) & mask;
        weft_write_u64(to + done, b.time | (uint64_t)code << WEFT_TIME_BITS);
        if (is_text(code)) {
            memcpy(to + done + FORMAT_FORM_HEAD, c->text.at, size - FORMAT_FORM_HEAD);
            c->text.at += size - FORMAT_FORM_HEAD;
            continue;
        }
        if (words_left - n < code >> 5)
            return SIZE_MAX;
        for (unsigned w = 0; w < code >> 5; w++, n++) {
            uint32_t difference = 0;
            for (unsigned i = 0; i < WORD_BYTES; i++)
                difference |= (uint32_t)word_at[n + i * words] << 8 * i;
            b.word[code][w] += difference;
            weft_write_u32(to + done + FORMAT_FORM_HEAD + WORD_BYTES * w, b.word[code][w]);
        }
    }
    go_on(c, events, n);
    return done;
}

static bool get_plain(struct columns *c, unsigned char *to, size_t room, size_t size)
{
    if (size > room || !has(&c->plain, size))
        return false;
    memcpy(to, c->plain.at, size);
    c->plain.at += size;
    return true;
}

size_t read_columns_get(unsigned char *to, const unsigned char *block, size_t size)
{
    struct counts n;
    struct columns c;
    size_t done = 0;
    if (size < BLOCK_HEAD)
        return 0;
    n = (struct counts){weft_read_u32(block + 4), weft_read_u32(block + 8),
                        weft_read_u32(block + 12), weft_read_u32(block + 16),
                        weft_read_u32(block + 20)};
    if (size_of(&n) != size)
        return 0;
    lay_out(&c, (unsigned char *)(uintptr_t)block, &n);
    for (uint32_t r = 0; r < n.runs; r++) {
        const uint32_t plain = weft_read_u32(c.run.at), events = weft_read_u32(c.run.at + 4);
        c.run.at += RUN;
        if (!get_plain(&c, to + done, READ_COLUMNS_BLOCK - done, plain))
            return 0;
        done += plain;
        const size_t bytes = get_events(&c, events, to + done, READ_COLUMNS_BLOCK - done);
        if (bytes == SIZE_MAX)
            return 0;
        done += bytes;
    }
    const size_t rest = (size_t)(c.plain.end - c.plain.at);
    return get_plain(&c, to + done, READ_COLUMNS_BLOCK - done, rest) ? done + rest : 0;
}

static int put_all(int fd, const unsigned char *bytes, size_t size, uint64_t at,
                   struct weft_error *err)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = pwrite(fd, bytes + done, size - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no room to decompress it: %s",
                                  strerror(errno));
        done += (size_t)n;
    }
    return 0;
}

static int read_blocks(const struct weft_input *in, struct weft_input *out, unsigned char *block,
                       unsigned char *bytes, struct weft_error *err)
{
    for (uint64_t at = READ_COLUMNS_HEAD; at < in->size;) {
        unsigned char head[4];
        int rc = read_whole(in, head, sizeof head, at, err);
        const uint64_t size = rc > 0 ? 4 + (uint64_t)weft_read_u32(head) : 0;
        if (rc > 0 && size <= READ_COLUMNS_ROOM)
            rc = read_whole(in, block, (size_t)size, at, err);
        const size_t got =
            rc > 0 && size <= READ_COLUMNS_ROOM ? read_columns_get(bytes, block, (size_t)size) : 0;
        if (rc >= 0 && !got)
            return weft_error_set(err, WEFT_E_FORMAT, at,
                                  "is damaged, or was cut: this is no block of "
                                  "a compressed trace");
        if (rc < 0 || (rc = put_all(out->fd, bytes, got, out->size, err)) < 0)
            return rc;
        out->size += got;
        at += size;
    }
    return 0;
}

int read_columns_open(struct weft_input *in, struct weft_error *err)
{
    unsigned char head[READ_COLUMNS_HEAD];
    if (in->copy || weft_input_read(in, head, sizeof head, 0, NULL) != sizeof head ||
        memcmp(head, read_columns_mark, sizeof head) != 0)
        return 0;
    unsigned char *block = malloc(READ_COLUMNS_ROOM), *bytes = malloc(READ_COLUMNS_BLOCK);
    struct weft_input out = {.fd = block && bytes ? weft_snapshot_room(err) : weft_no_memory(err)};
    int rc = out.fd < 0 ? out.fd : read_blocks(in, &out, block, bytes, err);
    if (rc == 0) {
        weft_input_close(in);
        *in = out;
    } else if (out.fd >= 0) {
        weft_input_close(&out);
    }
    weft_free_all(block, bytes);
    return rc;
}
