/* SPDX-License-Identifier: ISC */
/* weft save: a consistent copy of a trace that may be written to meanwhile.
 *
 * First the time of the newest event is found: all that was recorded up to that moment is complete by
 * then. Then headers are read, texts copied (they only ever grow, and an event is stored after its texts),
 * and packets, oldest first, since the oldest is overwritten next. What is newer than the moment is cut
 * off. A packet that changes hands meanwhile is left out. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/live.h"
#include "format/bytes.h"
#include "format/forms.h"
#include "read/input.h"

static const char help[] =
    "usage: weft save -o FILE SOURCE\n\n"
    "Copies a trace, also one that is being recorded: everything up to one moment, without unused\n"
    "space. SOURCE is a trace file, - for standard input, or the id of a process that records "
    "(the\n"
    "file may have been deleted). If FILE is -, the copy goes to standard output.\n\n"
    "  -o, --output FILE  where to write\n"
    "      --help         this text\n\n"
    "Examples: weft save -o hang.weft 4711\n"
    "          ssh host weft save -o - 4711 | weft info -\n";

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    WEFT__HELP_OPTION,
    {0},
};

#define TRIES 100 /* to see a packet in one piece that changes hands */

/* A packet of the source. */
struct piece {
    uint64_t at;
    uint64_t sequence; /* 0: no events */
    uint16_t class;
};

struct copy {
    struct weft_input in;
    const char *name;
    FILE *out;
    struct piece *piece;
    size_t pieces, room;
    unsigned char *buffer; /* for one packet */
    uint64_t buffer_room;
    uint64_t newest; /* ticks of the newest event that was seen */
    uint64_t moment; /* the copy holds nothing newer */
    uint64_t packets_written, packets_gone, bytes_written;
    struct weft_error err;
};

/* ---- Finding packets ---- */

/* A header that can be believed. */
static bool is_packet(const struct weft_packet_header *h)
{
    return h->magic == WEFT_PACKET_MAGIC && h->signature == WEFT_PACKET_SIGNATURE &&
           h->header_bytes >= sizeof *h && h->packet_bits % 64 == 0 &&
           h->packet_bits / 8 >= h->header_bytes;
}

/* Where data begins at or after that offset: a file may have holes. */
static uint64_t skip_hole(const struct copy *c, uint64_t at)
{
    off_t data = lseek(c->in.fd, (off_t)at, SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? c->in.size : at;
    return (uint64_t)data > at ? (uint64_t)data & ~UINT64_C(7) : at;
}

/* The next offset, from there on, at which a packet may begin; the file's size if there is none. */
static uint64_t find_mark(struct copy *c, uint64_t at)
{
    unsigned char block[65536];
    const size_t least = sizeof(struct weft_packet_header);
    const uint32_t magic = WEFT_PACKET_MAGIC, signature = WEFT_PACKET_SIGNATURE;
    while ((at = skip_hole(c, at)) + least <= c->in.size) {
        ptrdiff_t n = weft_input_read(&c->in, block, sizeof block, at, &c->err);
        if (n < (ptrdiff_t)least)
            break;
        size_t i = 0;
        for (; i + least <= (size_t)n; i += 4)
            if (memcmp(block + i, &magic, 4) == 0 && memcmp(block + i + 20, &signature, 4) == 0)
                return at + i;
        at += i;
    }
    return c->in.size;
}

static int add_piece(struct copy *c, struct piece piece)
{
    if (c->pieces == c->room) {
        size_t room = c->room ? 2 * c->room : 1024;
        struct piece *grown = realloc(c->piece, room * sizeof *grown);
        if (!grown)
            return weft_error_set(&c->err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
        c->piece = grown;
        c->room = room;
    }
    c->piece[c->pieces++] = piece;
    return 0;
}

/* Reads the header of a packet of events, in one piece. Returns 1; 0 if it holds nothing or is in
 * nobody's hands; or a negative WEFT_E code. */
static int read_header(struct copy *c, uint64_t at, struct weft_events_header *h)
{
    struct weft_events_header again;
    for (unsigned i = 0; i < TRIES; i++) {
        ptrdiff_t n = weft_input_read(&c->in, h, sizeof *h, at, &c->err);
        ptrdiff_t m = weft_input_read(&c->in, &again, sizeof again, at, &c->err);
        if (n < 0 || m < 0)
            return WEFT_E_IO;
        if (n < (ptrdiff_t)sizeof *h || m < n)
            return 0;
        bool empty = h->packet.content_bits / 8 <= h->packet.header_bytes;
        if (h->sequence == again.sequence && (h->sequence || empty)) {
            /* The second reading saw all that was stored before the first saw it closed. */
            if (h->end_ticks)
                *h = again;
            return !empty;
        }
    }
    return 0;
}

static int reserve(struct copy *c, uint64_t bytes)
{
    if (bytes <= c->buffer_room)
        return 0;
    unsigned char *grown = realloc(c->buffer, bytes);
    if (!grown)
        return weft_error_set(&c->err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
    c->buffer = grown;
    c->buffer_room = bytes;
    return 0;
}

/* Reads up to that many bytes of a packet into the buffer. Returns how many, or a negative code. */
static ptrdiff_t get_packet(struct copy *c, uint64_t at, uint64_t bytes)
{
    uint64_t left = c->in.size > at ? c->in.size - at : 0;
    bytes = bytes < left ? bytes : left;
    int rc = reserve(c, bytes + 8);
    return rc < 0 ? rc : weft_input_read(&c->in, c->buffer, bytes, at, &c->err);
}

/* Returns the offset of the first event in the packet that is newer than limit, or where they end. *last:
 * raised to the time of those before. */
static uint64_t walk(const unsigned char *packet, uint64_t bytes, uint64_t limit, uint64_t *last)
{
    const struct weft_events_header *h = (const struct weft_events_header *)packet;
    uint64_t at = h->packet.header_bytes;
    while (at + 8 <= bytes) {
        uint64_t ticks = weft_form_ticks(packet + at, h->begin_ticks);
        uint32_t words = packet[at + 7] >> 5, more = 0; /* the code is the highest byte */
        if (words == 7 && at + 12 <= bytes)
            more = weft_read_u32(packet + at + 8);
        if (ticks > limit)
            break;
        *last = ticks > *last ? ticks : *last;
        at += 8 + (words == 7 ? 4 + 4 * (uint64_t)more : 4 * words);
    }
    return at < bytes ? at : bytes;
}

static int index_packet(struct copy *c, uint64_t at, const struct weft_packet_header *p)
{
    struct piece piece = {.at = at, .class = p->class};
    if (p->class == WEFT_PACKET_EVENTS && p->header_bytes >= sizeof(struct weft_events_header)) {
        struct weft_events_header h;
        int rc = read_header(c, at, &h);
        if (rc <= 0)
            return rc;
        piece.sequence = h.sequence;
        c->newest = h.end_ticks > c->newest ? h.end_ticks : c->newest;
        if (!h.end_ticks) {
            uint64_t bytes = h.packet.content_bits / 8;
            ptrdiff_t n = get_packet(c, at, bytes <= h.packet.packet_bits / 8 ? bytes : 0);
            if (n < 0)
                return (int)n;
            if (n >= (ptrdiff_t)sizeof h)
                walk(c->buffer, (uint64_t)n, UINT64_MAX, &c->newest);
        }
    }
    return add_piece(c, piece);
}

/* Returns how many packets there are, or a negative WEFT_E code. */
static int index_packets(struct copy *c)
{
    struct weft_packet_header h;
    int found = 0;
    for (uint64_t at = 0; at < c->in.size;) {
        ptrdiff_t n = weft_input_read(&c->in, &h, sizeof h, at, &c->err);
        if (n < 0)
            return (int)n;
        if (n < (ptrdiff_t)sizeof h)
            break;
        if (!is_packet(&h)) {
            at = find_mark(c, at + 4);
            continue;
        }
        int rc = index_packet(c, at, &h);
        if (rc < 0)
            return rc;
        found = 1;
        uint64_t bytes = h.packet_bits / 8;
        at = bytes < c->in.size - at ? at + bytes : c->in.size;
    }
    return found;
}

static int by_age(const void *a, const void *b)
{
    const struct piece *p = a, *q = b;
    if (p->sequence != q->sequence)
        return p->sequence < q->sequence ? -1 : 1;
    return p->at < q->at ? -1 : p->at > q->at;
}

/* ---- Copying ---- */

/* Ends the packet in the buffer after that many bytes and writes it. */
static int put_packet(struct copy *c, uint64_t bytes)
{
    static const unsigned char zeros[8];
    struct weft_packet_header *h = (struct weft_packet_header *)c->buffer;
    uint64_t padding = -bytes & 7;
    h->packet_bits = (bytes + padding) * 8;
    if (h->content_bits > bytes * 8)
        h->content_bits = bytes * 8;
    if (fwrite(c->buffer, 1, bytes, c->out) != bytes ||
        fwrite(zeros, 1, padding, c->out) != padding)
        return weft_error_set(&c->err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be written: %s",
                              strerror(errno));
    c->packets_written++;
    c->bytes_written += bytes + padding;
    return 0;
}

static int copy_events(struct copy *c, const struct piece *p)
{
    struct weft_events_header before, after, *h;
    int rc = read_header(c, p->at, &before);
    if (rc < 0)
        return rc;
    uint64_t bytes = before.packet.content_bits / 8, last = 0;
    bool same = rc > 0 && before.sequence == p->sequence && bytes <= before.packet.packet_bits / 8;
    ptrdiff_t n = same ? get_packet(c, p->at, bytes) : 0;
    if (n < 0)
        return (int)n;
    same = same && read_header(c, p->at, &after) > 0 && after.sequence == p->sequence;
    if (!same || n < (ptrdiff_t)sizeof *h) {
        c->packets_gone++;
        return 0;
    }
    if (before.begin_ticks > c->moment)
        return 0;
    h = (struct weft_events_header *)c->buffer;
    *h = before;
    bytes = (uint64_t)n & ~UINT64_C(3);
    if (!before.end_ticks || before.end_ticks > c->moment) {
        bytes = walk(c->buffer, bytes, c->moment, &last);
        h->end_ticks = 0;
        h->events = 0;
    }
    h->packet.content_bits = bytes * 8;
    return put_packet(c, bytes);
}

static int copy_other(struct copy *c, const struct piece *p)
{
    struct weft_packet_header h;
    ptrdiff_t n = weft_input_read(&c->in, &h, sizeof h, p->at, &c->err);
    if (n < (ptrdiff_t)sizeof h)
        return n < 0 ? (int)n : 0;
    uint64_t bytes = h.packet_bits / 8;
    if (p->class == WEFT_PACKET_STRINGS) {
        struct weft_strings_header s;
        n = weft_input_read(&c->in, &s, sizeof s, p->at, &c->err);
        if (n == (ptrdiff_t)sizeof s && s.used_bytes < bytes - h.header_bytes)
            bytes = h.header_bytes + s.used_bytes;
    } else if (p->class == WEFT_PACKET_METADATA || p->class == WEFT_PACKET_FACTS) {
        uint64_t content = h.content_bits / 8;
        bytes = content >= h.header_bytes && content < bytes ? content : bytes;
    }
    n = get_packet(c, p->at, bytes);
    if (n < (ptrdiff_t)sizeof h)
        return n < 0 ? (int)n : 0;
    if (p->class == WEFT_PACKET_FACTS && n >= (ptrdiff_t)sizeof(struct weft_facts_header)) {
        struct weft_facts_header *f = (struct weft_facts_header *)c->buffer;
        if (weft__facts_live(f))
            f->state = WEFT_TRACE_SAVED;
        f->events_at = f->event_packets = f->strings_at = 0; /* not so here */
    }
    return put_packet(c, (uint64_t)n);
}

static int copy_packets(struct copy *c)
{
    qsort(c->piece, c->pieces, sizeof *c->piece, by_age);
    struct weft__progress progress = weft__progress_begin(c->name);
    int rc = 0;
    for (size_t i = 0; i < c->pieces && rc == 0; i++) {
        const struct piece *p = &c->piece[i];
        rc = p->sequence ? copy_events(c, p) : copy_other(c, p);
        weft__progress_show(&progress, (double)i / (double)c->pieces);
    }
    weft__progress_end(&progress);
    return rc;
}

/* A trace without packets of weft's: byte by byte. */
static int copy_bytes(struct copy *c)
{
    char block[65536];
    struct weft__progress progress = weft__progress_begin(c->name);
    ptrdiff_t n;
    while ((n = weft_input_read(&c->in, block, sizeof block, c->bytes_written, &c->err)) > 0) {
        if (fwrite(block, 1, (size_t)n, c->out) != (size_t)n) {
            n = weft_error_set(&c->err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be written: %s",
                               strerror(errno));
            break;
        }
        c->bytes_written += (uint64_t)n;
        weft__progress_show(&progress, (double)c->bytes_written / (double)c->in.size);
    }
    weft__progress_end(&progress);
    return (int)n;
}

/* ---- The command ---- */

/* The source and the target are one file, or somebody records into the target. */
static bool would_destroy(const struct copy *c, const char *target)
{
    struct stat from, to;
    struct weft_facts_header facts;
    int fd = strcmp(target, "-") == 0 ? -1 : open(target, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool same = fstat(c->in.fd, &from) == 0 && fstat(fd, &to) == 0 && from.st_ino == to.st_ino &&
                from.st_dev == to.st_dev;
    bool live = weft__facts_read(fd, &facts) && weft__facts_live(&facts);
    close(fd);
    if (same)
        weft__say(target, "is the source itself; give another name");
    else if (live)
        weft__say(target, "is being recorded by process %" PRIu32 "; give another name", facts.pid);
    return same || live;
}

/* Whether there is a trace in it; else says what it is. */
static bool is_other_trace(struct copy *c, const char *source)
{
    struct weft_reader *reader;
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", c->in.fd);
    if (weft_reader_open(&reader, name, &c->err) < 0) {
        weft__complain(source, &c->err);
        return false;
    }
    weft_reader_close(reader);
    return true;
}

static int write_copy(struct copy *c, const char *source, const char *target)
{
    struct weft__output out;
    int rc = index_packets(c);
    c->moment = c->newest;
    c->pieces = 0;
    if (rc > 0) /* again: what was claimed up to that moment while headers were read */
        rc = index_packets(c);
    if (rc < 0)
        weft__complain(source, &c->err);
    if (rc < 0 || (rc == 0 && !is_other_trace(c, source)) || would_destroy(c, target) ||
        !weft__output_open(&out, target))
        return WEFT__FAILED;
    c->out = out.file;
    if (out.temporary)
        fchmod(fileno(out.file), 0600); /* as the recorder does it */
    rc = rc ? copy_packets(c) : copy_bytes(c);
    if (out.file == stdout && weft__stdout_left())
        rc = 0;
    bool kept = weft__output_close(&out, rc == 0);
    const char *shown = strcmp(target, "-") == 0 ? "standard output" : target;
    if (rc < 0)
        weft__complain(c->err.offset == WEFT_NO_OFFSET ? shown : source, &c->err);
    if (rc < 0 || !kept)
        return WEFT__FAILED;
    if (c->packets_gone)
        weft__say(source, "%" PRIu64 " of the oldest packets were overwritten while it was copied",
                  c->packets_gone);
    if (isatty(STDERR_FILENO))
        weft__say(shown, "%" PRIu64 " bytes written", c->bytes_written);
    return WEFT__DONE;
}

/* A process id, or the name of a file. */
static bool open_source(struct copy *c, const char *source, char *path, size_t path_size)
{
    uint64_t pid;
    snprintf(path, path_size, "%s", source);
    if (!weft__parse_number(source, INT_MAX, &pid) || pid == 0) {
        if (weft_input_open(&c->in, source, &c->err) == 0)
            return true;
        weft__complain(source, &c->err);
        return false;
    }
    int fd = weft__live_open((pid_t)pid, path, path_size);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return false;
    c->in = (struct weft_input){.fd = fd, .size = (uint64_t)st.st_size};
    return true;
}

static int run(int argc, char **argv)
{
    const char *target = NULL;
    int o;
    while ((o = weft__option(&weft__save, argc, argv, ":o:", options)) != -1)
        if (o == 'o')
            target = optarg;
    if (!target)
        weft__misuse("save", "-o FILE is missing");
    if (optind >= argc)
        weft__misuse("save", "no SOURCE is given: a trace, or the id of a process");
    if (strcmp(target, "-") == 0 && isatty(STDOUT_FILENO))
        weft__misuse("save", "will not write a trace to a terminal");
    char path[PATH_MAX];
    struct copy copy = {.in = {.fd = -1}, .name = path, .err = {.offset = WEFT_NO_OFFSET}};
    const char *source = weft__one_file(&weft__save, argc, argv);
    int status = WEFT__FAILED;
    if (open_source(&copy, source, path, sizeof path))
        status = write_copy(&copy, path, target);
    weft_input_close(&copy.in);
    free(copy.piece);
    free(copy.buffer);
    return status;
}

const struct weft__command weft__save = {"save", "copy a trace, also while it is recorded", help,
                                         run};
