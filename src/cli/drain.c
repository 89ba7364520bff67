/* SPDX-License-Identifier: ISC */
/* The ring file is read, never mapped, because its process may truncate it at any moment. For each ring, the counts are
 * read, then the words, then the counts again, so that whatever was overwritten in the meantime is left out. Only items
 * that weft uses are kept: all events of the program itself, and the outermost phases of collections, which are a small
 * part of the runtime's events.
 *
 * The trace is a ring of packets; each ring of the file fills one packet at a time. Items are written before the header
 * that covers them, so the trace can be read at any moment, even if weft record is killed. Until the process ends, the
 * facts mark the trace as a copy: a recorder in that process replaces such a trace with its own. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/live.h"
#include "cli/record.h"
#include "format/ocaml.h"
#include "format/packet.h"
#include "read/alive.h"

enum {
    FACTS_BYTES = 8192, /* with the command line, which is truncated if necessary */
    PACKET_BYTES = 64 << 10,
    SMALL_PACKET_BYTES = 16 << 10,
    SMALL_TRACE = 4 << 20,
    CHUNK_WORDS = 1 << 18, /* words that are read at once */
    NAMED_BYTES = WEFT_OCAML_NAMES / 8,
    FULL = 1000,
};

/* A ring of the file. If the process starts its ring again, as after exec, the counts of words continue; `seen` is the
 * ring's own count. */
struct ring {
    uint64_t seen, before; /* before + seen words in all */
    uint64_t lost;
    uint32_t depth; /* nested phases of the current collection */
    bool open, dirty;
    uint64_t slot;
    uint32_t used, written; /* bytes of its packet, with the header */
    unsigned char *packet;
    unsigned char *named; /* a bit for each name that the packet has */
};

struct sample_drain {
    const struct cli_rings_program *program;
    char *events, *path;
    int ring_fd, fd, process; /* process: a pidfd */
    uint64_t w[WEFT_OCAML_HEAD_WORDS];
    struct cli_drained drained;
    bool ready, dropped, stopped;
    uint64_t stopped_ns, first_ns; /* first_ns: of the first item */
    struct ring *ring;
    unsigned char *heads, *words; /* of the rings; space for a chunk */
    struct weft_facts_header facts;
    uint64_t packet_bytes, slots, next_slot, sequence;
    off_t end;           /* of the trace's file */
    struct ring **owner; /* of each slot whose packet is open, or NULL */
};

/* ---- Opening ---- */

struct sample_drain *cli_drain_new(const struct cli_rings_program *p, pid_t pid, const char *events,
                                   const char *path)
{
    struct sample_drain *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->program = p;
    d->drained.pid = pid;
    d->ring_fd = d->fd = d->process = -1;
    d->events = strdup(events);
    d->path = strdup(path);
    d->words = malloc((size_t)CHUNK_WORDS * 8);
    if (!d->events || !d->path || !d->words) {
        cli_drain_close(d, false);
        return NULL;
    }
    d->process = (int)syscall(SYS_pidfd_open, pid, 0);
    return d;
}

bool cli_drain_ended(const struct sample_drain *d)
{
    struct pollfd process = {.fd = d->process, .events = POLLIN};
    return d->process < 0 ? weft_process_start((uint32_t)d->drained.pid) == 0
                          : poll(&process, 1, 0) != 0;
}

static bool read_at(const struct sample_drain *d, void *buffer, size_t size, uint64_t at)
{
    return at <= INT64_MAX && pread(d->ring_fd, buffer, size, (off_t)at) == (ssize_t)size;
}

/* Returns true if the process itself records to the same place. */
static bool records_itself(const struct sample_drain *d)
{
    struct weft_facts_header facts;
    return cli_facts_at(d->path, &facts) && facts.pid == (uint32_t)d->drained.pid &&
           facts.start_mono_ns >= d->program->begun_ns;
}

static void put_fact(char *bytes, size_t *used, const char *key, const char *value)
{
    const size_t n = strlen(key) + 1 + strlen(value) + 1;
    if (n > FACTS_BYTES - WEFT_FACTS_END - *used)
        return;
    *used += (size_t)snprintf(bytes + *used, n, "%s=%s", key, value) + 1;
}

/* Its command line, from the process if it is still there. */
static void put_arguments(const struct sample_drain *d, char *bytes, size_t *used)
{
    char name[64], text[PATH_MAX + 1];
    char *const *argv = d->drained.pid == d->program->pid ? d->program->argv : NULL;
    snprintf(name, sizeof name, "/proc/%d/exe", (int)d->drained.pid);
    ssize_t n = readlink(name, text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    if (n > 0 || argv)
        put_fact(bytes, used, "program", n > 0 ? text : argv[0]);
    snprintf(name, sizeof name, "/proc/%d/cmdline", (int)d->drained.pid);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    for (ssize_t at = 0; at < n; at += (ssize_t)strlen(text + at) + 1)
        put_fact(bytes, used, "arg", text + at);
    for (; n <= 0 && argv && *argv; argv++)
        put_fact(bytes, used, "arg", *argv);
}

static bool write_facts(struct sample_drain *d)
{
    struct utsname host;
    struct weft_facts_header *h = &d->facts;
    char bytes[FACTS_BYTES] = "";
    size_t used = sizeof *h;
    put_arguments(d, bytes, &used);
    if (uname(&host) == 0)
        put_fact(bytes, &used, "host", host.nodename);
    put_fact(bytes, &used, "version", WEFT_VERSION);
    *h = (struct weft_facts_header){
        .packet = {.magic = WEFT_PACKET_MAGIC,
                   .signature = WEFT_PACKET_SIGNATURE,
                   .version = WEFT_FORMAT_VERSION,
                   .class = WEFT_PACKET_FACTS,
                   .header_bytes = sizeof *h,
                   .packet_bits = sizeof bytes * 8,
                   .content_bits = used * 8},
        .state = WEFT_TRACE_SAVED,
        .pid = (uint32_t)d->drained.pid,
        .clock = WEFT_CLOCK_MONOTONIC,
        .hz = 1000000000,
        .start_mono_ns = (uint64_t)weft_monotonic_ns(),
        .start_real_ns = (uint64_t)weft_clock_ns(CLOCK_REALTIME),
        .process_start = weft_process_start((uint32_t)d->drained.pid),
    };
    h->start_ticks = h->stop_mono_ns = h->start_mono_ns;
    weft_boot_id(h->boot_id);
    if (getrandom(h->packet.uuid, sizeof h->packet.uuid, 0) != sizeof h->packet.uuid)
        return false;
    memcpy(bytes, h, sizeof *h);
    return pwrite(d->fd, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes;
}

/* A trace that the process itself has begun in the meantime is kept. */
static bool publish(const struct sample_drain *d, const char *temporary)
{
    enum { NO_REPLACE = 1 };
    return syscall(SYS_renameat2, AT_FDCWD, temporary, AT_FDCWD, d->path, NO_REPLACE) == 0 ||
           (!records_itself(d) && rename(temporary, d->path) == 0);
}

/* Creates the trace, under a temporary name at first. */
static bool make_trace(struct sample_drain *d)
{
    char temporary[PATH_MAX + 16];
    uint32_t pid;
    if (records_itself(d) || cli_what_stands(d->path, &pid) > CLI_A_TRACE)
        return false;
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", d->path);
    d->fd = mkostemp(temporary, O_CLOEXEC);
    if (d->fd < 0)
        return false;
    d->packet_bytes = d->program->bytes < SMALL_TRACE ? SMALL_PACKET_BYTES : PACKET_BYTES;
    d->slots = (d->program->bytes - FACTS_BYTES) / d->packet_bytes;
    d->owner = calloc(d->slots, sizeof *d->owner);
    if (d->owner && write_facts(d) && publish(d, temporary))
        return true;
    d->drained.error = errno;
    unlink(temporary);
    return false;
}

static bool open_rings(struct sample_drain *d)
{
    struct stat st;
    unsigned char head[WEFT_OCAML_HEAD_BYTES];
    if (d->ring_fd < 0)
        d->ring_fd = open(d->events, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (d->ring_fd < 0 || fstat(d->ring_fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        !read_at(d, head, sizeof head, 0) || !weft_ocaml_head_read(head, sizeof head, d->w))
        return false;
    const size_t domains = (size_t)d->w[WEFT_OCAML_HEAD_DOMAINS];
    free(d->ring);
    free(d->heads);
    d->ring = calloc(domains, sizeof *d->ring);
    d->heads = malloc(domains * WEFT_OCAML_RING_HEAD_BYTES);
    d->ready = d->ring && d->heads;
    d->dropped = d->ready && !make_trace(d);
    return d->ready;
}

/* ---- Packets of the trace ---- */

static struct weft_ocaml_header *header_of(const struct ring *g)
{
    return (struct weft_ocaml_header *)(void *)g->packet;
}

static off_t place_of(const struct sample_drain *d, uint64_t slot)
{
    return (off_t)(FACTS_BYTES + slot * d->packet_bytes);
}

static bool write_at(struct sample_drain *d, const void *bytes, size_t size, off_t at)
{
    if (d->drained.error)
        return false;
    if (pwrite(d->fd, bytes, size, at) != (ssize_t)size)
        d->drained.error = errno ? errno : ENOSPC;
    return !d->drained.error;
}

/* Writes what is new in the ring's packet, and then the header that covers it. */
static void flush(struct sample_drain *d, struct ring *g)
{
    if (!g->open || !g->dirty)
        return;
    struct weft_ocaml_header *h = header_of(g);
    const off_t at = place_of(d, g->slot);
    h->to = g->before + g->seen;
    h->packet.content_bits = (uint64_t)g->used * 8;
    if (g->used > g->written)
        write_at(d, g->packet + g->written, g->used - g->written, at + g->written);
    write_at(d, h, sizeof *h, at);
    g->written = g->used;
    g->dirty = false;
}

static void close_packet(struct sample_drain *d, struct ring *g)
{
    if (!g->open)
        return;
    flush(d, g);
    d->owner[g->slot] = NULL;
    g->open = false;
}

/* Begins a packet for the ring, in place of the oldest one. from: the number of words in the ring before it. */
static bool begin_packet(struct sample_drain *d, struct ring *g, uint64_t from)
{
    close_packet(d, g);
    if (!g->packet)
        g->packet = malloc(d->packet_bytes);
    if (!g->named)
        g->named = malloc(NAMED_BYTES);
    if (!g->packet || !g->named || d->drained.error)
        return false;
    /* A packet that a ring is still filling is left alone, unless the trace is too small for that many rings. */
    for (uint64_t i = 0; i < d->slots / 2 && d->owner[d->next_slot]; i++)
        d->next_slot = (d->next_slot + 1) % d->slots;
    g->slot = d->next_slot;
    d->next_slot = (d->next_slot + 1) % d->slots;
    if (d->owner[g->slot]) {
        flush(d, d->owner[g->slot]);
        d->owner[g->slot]->open = false;
    }
    memset(g->named, 0, NAMED_BYTES);
    struct weft_ocaml_header *h = header_of(g);
    *h = (struct weft_ocaml_header){
        .packet = {.magic = WEFT_PACKET_MAGIC,
                   .signature = WEFT_PACKET_SIGNATURE,
                   .version = WEFT_FORMAT_VERSION,
                   .class = WEFT_PACKET_OCAML,
                   .header_bytes = sizeof *h,
                   .packet_bits = d->packet_bytes * 8,
                   .content_bits = sizeof *h * 8},
        .ring = (uint32_t)(g - d->ring),
        .from = from,
        .to = from,
        .lost = g->lost,
        .pair_mono_ns = (uint64_t)weft_monotonic_ns(),
        .pair_real_ns = (uint64_t)weft_clock_ns(CLOCK_REALTIME),
    };
    memcpy(h->packet.uuid, d->facts.packet.uuid, sizeof h->packet.uuid);
    const off_t at = place_of(d, g->slot);
    write_at(d, h, sizeof *h, at); /* it changes its owner: the sequence is 0 */
    if (at + (off_t)d->packet_bytes > d->end && !d->drained.error) {
        d->end = at + (off_t)d->packet_bytes;
        if (ftruncate(d->fd, d->end) < 0)
            d->drained.error = errno;
    }
    h->sequence = ++d->sequence;
    g->used = g->written = sizeof *h;
    g->open = g->dirty = true;
    d->owner[g->slot] = g;
    return !d->drained.error;
}

/* ---- Items ---- */

/* Returns true if weft uses the item. */
static bool is_kept(struct sample_drain *d, struct ring *g, const struct weft_ocaml_item *i,
                    uint64_t time_ns)
{
    if (i->user)
        return d->drained.says = true;
    switch (i->type) {
    case WEFT_OCAML_LIFECYCLE:
        if (i->id == WEFT_OCAML_RING_START)
            g->depth = 0;
        if (g == d->ring) {
            d->stopped = i->id == WEFT_OCAML_RING_STOP;
            d->stopped_ns = time_ns;
        }
        return true;
    case WEFT_OCAML_BEGIN:
        return g->depth++ == 0;
    case WEFT_OCAML_END:
        return g->depth > 0 && --g->depth == 0;
    default:
        return false;
    }
}

/* Makes an item of the name of one of the program's events. Returns how many words it takes. */
static unsigned read_name(const struct sample_drain *d, unsigned id,
                          unsigned char item[8 + WEFT_OCAML_NAME_BYTES])
{
    memset(item, 0, 8 + WEFT_OCAML_NAME_BYTES);
    if (!read_at(d, item + 8, WEFT_OCAML_NAME_BYTES,
                 d->w[WEFT_OCAML_HEAD_NAMES_AT] + (uint64_t)id * WEFT_OCAML_NAME_BYTES))
        memset(item + 8, 0, WEFT_OCAML_NAME_BYTES);
    const unsigned size = (unsigned)strnlen((const char *)item + 8, WEFT_OCAML_NAME_BYTES);
    const struct weft_ocaml_item head = {
        .words = 1 + (size ? (size + 7) / 8 : 1), .type = WEFT_OCAML_NAME, .id = id};
    const uint64_t word = weft_ocaml_item_head(&head);
    memcpy(item, &word, 8);
    return head.words;
}

static void put(struct ring *g, const void *bytes, unsigned words)
{
    memcpy(g->packet + g->used, bytes, 8 * (size_t)words);
    g->used += 8 * words;
    g->dirty = true;
}

/* Puts the item into the ring's packet, or into a new one. from: the number of words before it. False: it is lost. */
static bool add_item(struct sample_drain *d, struct ring *g, const unsigned char *item,
                     const struct weft_ocaml_item *i, uint64_t from)
{
    unsigned char name[8 + WEFT_OCAML_NAME_BYTES];
    const size_t most = 8 * (size_t)i->words + (i->user ? sizeof name : 0);
    if ((!g->open || g->used + most > d->packet_bytes)) {
        close_packet(d, g);
        if (!begin_packet(d, g, from))
            return false;
    }
    if (i->user && !(g->named[i->id / 8] & 1u << i->id % 8)) {
        g->named[i->id / 8] |= (unsigned char)(1u << i->id % 8);
        put(g, name, read_name(d, i->id, name));
    }
    put(g, item, i->words);
    return true;
}

/* ---- Rings of the file ---- */

static void lose(struct sample_drain *d, struct ring *g, uint64_t words)
{
    close_packet(d, g); /* they lie after the end */
    g->lost += words;
    g->seen += words;
    g->depth = 0;
}

/* Takes items out of the ring's next words. more: further words follow. Returns how many words were consumed. */
static uint64_t take_items(struct sample_drain *d, struct ring *g, const unsigned char *bytes,
                           uint64_t words, bool more)
{
    uint64_t at = 0;
    while (at < words) {
        const struct weft_ocaml_item i = weft_ocaml_item(weft_read_u64(bytes + 8 * at));
        if (!weft_ocaml_fits(&i, words - at)) {
            if (!more || i.words < 2)
                lose(d, g, words - at); /* invalid */
            return more && i.words >= 2 ? at : words;
        }
        if (!g->open && !begin_packet(d, g, g->before + g->seen)) {
            lose(d, g, words - at);
            return words;
        }
        const uint64_t time_ns = i.words > 1 ? weft_read_u64(bytes + 8 * (at + 1)) : 0;
        if (!weft_ocaml_is_padding(&i) && is_kept(d, g, &i, time_ns) &&
            !add_item(d, g, bytes + 8 * at, &i, g->before + g->seen)) {
            lose(d, g, words - at);
            return words;
        }
        g->seen += i.words;
        g->dirty = true;
        at += i.words;
    }
    return at;
}

static bool read_counts(const struct sample_drain *d, const struct ring *g, uint64_t counts[2])
{
    return read_at(d, counts, 16,
                   WEFT_OCAML_HEAD_BYTES + (uint64_t)(g - d->ring) * WEFT_OCAML_RING_HEAD_BYTES);
}

static bool read_words(const struct sample_drain *d, const struct ring *g, uint64_t from,
                       uint64_t words)
{
    const uint64_t room = d->w[WEFT_OCAML_HEAD_RING_WORDS], first = from & (room - 1),
                   straight = room - first < words ? room - first : words,
                   at = d->w[WEFT_OCAML_HEAD_RINGS_AT] +
                        (uint64_t)(g - d->ring) * d->w[WEFT_OCAML_HEAD_RING_BYTES];
    return read_at(d, d->words, 8 * (size_t)straight, at + 8 * first) &&
           (straight == words ||
            read_at(d, d->words + 8 * straight, 8 * (size_t)(words - straight), at));
}

static void begin_anew(struct sample_drain *d, struct ring *g)
{
    close_packet(d, g);
    g->before += g->seen;
    g->seen = 0;
    g->depth = 0;
}

/* Takes everything up to tail. Returns how full the ring was. */
static unsigned drain_ring(struct sample_drain *d, struct ring *g, uint64_t head, uint64_t tail)
{
    const uint64_t room = d->w[WEFT_OCAML_HEAD_RING_WORDS];
    if (tail < head || tail - head > room)
        return 0;
    if (tail < g->seen)
        begin_anew(d, g);
    if (tail == g->seen)
        return 0;
    const bool over = head > g->seen;
    const unsigned full = (unsigned)((tail - (over ? head : g->seen)) * FULL / room);
    if (over)
        lose(d, g, head - g->seen);
    while (g->seen < tail) {
        uint64_t counts[2], from = g->seen, at = 0;
        uint64_t words = tail - from < CHUNK_WORDS ? tail - from : CHUNK_WORDS;
        if (!read_words(d, g, from, words) || !read_counts(d, g, counts)) {
            lose(d, g, tail - g->seen);
            break;
        }
        if (counts[0] > from) { /* overwritten in the meantime */
            at = counts[0] - from < words ? counts[0] - from : words;
            lose(d, g, at);
        }
        const bool more = g->seen + (words - at) < tail;
        if (!take_items(d, g, d->words + 8 * at, words - at, more) && at == 0) {
            lose(d, g, tail - g->seen);
            break;
        }
    }
    flush(d, g);
    return over ? FULL : full;
}

/* The process's own recorder has replaced this trace with its own. */
static bool is_replaced(const struct sample_drain *d)
{
    struct stat st;
    return fstat(d->fd, &st) == 0 && st.st_nlink == 0;
}

/* The process may have started all rings again, as after exec, and already be past its old position: then its first
 * item is a different one. */
static void notice_restart(struct sample_drain *d, size_t domains)
{
    uint64_t first[2];
    if (weft_read_u64(d->heads) ||
        !weft_read_u64(d->heads + 8) || /* overwritten, or not there yet */
        !read_at(d, first, sizeof first, d->w[WEFT_OCAML_HEAD_RINGS_AT]))
        return;
    for (size_t i = 0; d->first_ns && d->first_ns != first[1] && i < domains; i++)
        begin_anew(d, &d->ring[i]);
    d->first_ns = first[1];
}

/* Returns true if the file is unchanged, apart from its rings. */
static bool is_same(const struct sample_drain *d)
{
    unsigned char head[WEFT_OCAML_HEAD_BYTES];
    uint64_t w[WEFT_OCAML_HEAD_WORDS];
    return read_at(d, head, sizeof head, 0) && weft_ocaml_head_read(head, sizeof head, w) &&
           memcmp(w, d->w, sizeof w) == 0;
}

unsigned cli_drain_round(struct sample_drain *d)
{
    unsigned fullest = 0;
    if (!d->ready && !d->dropped && !open_rings(d))
        return 0;
    d->dropped = d->dropped || is_replaced(d);
    if (d->dropped)
        return 0;
    const size_t domains = (size_t)d->w[WEFT_OCAML_HEAD_DOMAINS];
    d->facts.stop_mono_ns = (uint64_t)weft_monotonic_ns();
    if (!is_same(d) ||
        !read_at(d, d->heads, domains * WEFT_OCAML_RING_HEAD_BYTES, WEFT_OCAML_HEAD_BYTES))
        return 0;
    notice_restart(d, domains);
    for (size_t i = 0; i < domains; i++) {
        const unsigned char *counts = d->heads + i * WEFT_OCAML_RING_HEAD_BYTES;
        const unsigned full =
            drain_ring(d, &d->ring[i], weft_read_u64(counts), weft_read_u64(counts + 8));
        fullest = full > fullest ? full : fullest;
    }
    write_at(d, &d->facts.stop_mono_ns, sizeof d->facts.stop_mono_ns,
             offsetof(struct weft_facts_header, stop_mono_ns));
    return fullest;
}

/* ---- The end ---- */

const struct cli_drained *cli_drained(const struct sample_drain *d)
{
    return &d->drained;
}

static void write_state(struct sample_drain *d)
{
    if (cli_drain_ended(d))
        d->facts.state = d->stopped ? WEFT_TRACE_STOPPED : WEFT_TRACE_RECORDING;
    if (d->facts.state == WEFT_TRACE_STOPPED && d->stopped_ns >= d->facts.start_mono_ns &&
        d->stopped_ns < d->facts.stop_mono_ns)
        d->facts.stop_mono_ns = d->stopped_ns;
    d->drained.error = 0; /* overwriting needs no space */
    write_at(d, &d->facts, sizeof d->facts, 0);
}

void cli_drain_close(struct sample_drain *d, bool keep)
{
    const bool there = d->fd >= 0 && !d->dropped && !is_replaced(d);
    if (there && keep)
        write_state(d);
    else if (there)
        unlink(d->path);
    for (uint64_t i = 0; d->ring && i < d->w[WEFT_OCAML_HEAD_DOMAINS]; i++) {
        free(d->ring[i].packet);
        free(d->ring[i].named);
    }
    const int fds[] = {d->ring_fd, d->fd, d->process};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(d->ring);
    free(d->heads);
    free(d->words);
    free(d->owner);
    free(d->events);
    free(d->path);
    free(d);
}
