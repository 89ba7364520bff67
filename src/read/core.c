/* SPDX-License-Identifier: ISC */
/* A core file also has fragments that look like traces: for example, the header of an older trace
 * that the recorder read when it began may still be on a stack. So a trace counts only if its texts
 * are where its facts say. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/mirage.h"
#include "format/walk.h"
#include "read/elf_core.h"
#include "read/packets.h"

enum { WINDOW = 64 << 10, MARK = 24, ET_CORE_TYPE = 4 };

/* What has been found so far. */
struct core {
    struct weft_input *in;
    struct weft_error *err;
    uint64_t at, bytes; /* of the newest complete trace; bytes 0: there is none */
    uint64_t start_real_ns;
    bool own;         /* … it is a trace of the process that left the core */
    uint32_t process; /* that process; 0: not known */
    bool packets;     /* there are other packets that may be readable */
};

static bool is_core(const struct weft_input *in)
{
    unsigned char head[18];
    return weft_input_read(in, head, sizeof head, 0, NULL) == sizeof head &&
           memcmp(head,
                  "\x7f"
                  "ELF",
                  4) == 0 &&
           head[16] + head[17] == ET_CORE_TYPE; /* in either order of bytes */
}

/* Uses the trace whose facts are at that place, if it is a trace. Returns 0 or a negative WEFT_E
 * code. */
static int consider_trace(struct core *c, uint64_t at)
{
    struct weft_facts_header f;
    struct weft_packet_header strings;
    const uint64_t left = c->in->size - at;
    int rc = read_whole(c->in, &f, sizeof f, at, c->err);
    if (rc <= 0 || f.packet.header_bytes < sizeof f || f.strings_at >= left)
        return rc < 0 ? rc : 0;
    rc = read_whole(c->in, &strings, sizeof strings, at + f.strings_at, c->err);
    if (rc <= 0 || !format_is_packet(&strings) || strings.class != WEFT_PACKET_STRINGS ||
        memcmp(strings.uuid, f.packet.uuid, sizeof strings.uuid) != 0)
        return rc < 0 ? rc : 0;
    const bool own = f.pid == c->process;
    if (c->bytes && (own != c->own ? c->own : f.start_real_ns < c->start_real_ns))
        return 0;
    c->own = own;
    c->at = at;
    if (__builtin_mul_overflow(f.event_packets, f.event_packet_bytes, &c->bytes) ||
        __builtin_add_overflow(f.events_at, c->bytes, &c->bytes) || c->bytes > left)
        c->bytes = left; /* it is cut off, too */
    c->start_real_ns = f.start_real_ns;
    return 0;
}

/* Checks what follows a mark. Returns the same. */
static int inspect_mark(struct core *c, const unsigned char *mark, uint64_t at)
{
    struct weft_packet_header h;
    if (memcmp(mark, WEFT_MIRAGE_MARK, WEFT_MIRAGE_MARK_SIZE) == 0) {
        c->packets = true;
        return 0;
    }
    int rc = read_whole(c->in, &h, sizeof h, at, c->err);
    if (rc <= 0 || !format_is_packet(&h))
        return rc < 0 ? rc : 0;
    c->packets |= format_has_events(&h);
    return h.class == WEFT_PACKET_FACTS ? consider_trace(c, at) : 0;
}

static bool is_any_mark(const unsigned char *bytes)
{
    return read_mirage_format.probe(bytes, MARK) || read_weft_format.probe(bytes, MARK);
}

static int search_packets(struct core *c)
{
    static const struct read_mark mark = {MARK, is_any_mark};
    unsigned char bytes[MARK];
    int rc = 0;
    for (uint64_t at = 0; rc == 0; at++) {
        rc = read_find_mark(c->in, &mark, at, &at, bytes, c->err);
        if (rc < 0 || at == READ_NO_MARK)
            break;
        rc = inspect_mark(c, bytes, at);
    }
    return rc;
}

static bool is_zero(const unsigned char *bytes, size_t n)
{
    return n == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0);
}

/* Copies the trace into the memory behind that descriptor. */
static int copy_out(const struct core *c, int fd)
{
    static const char no_room[] = "no room to hold the trace of the core file: %s";
    unsigned char *block = malloc(WINDOW);
    ptrdiff_t n = 0;
    int rc = block && ftruncate(fd, (off_t)c->bytes) == 0 ? 0 : WEFT_E_NOMEM;
    for (uint64_t done = 0; rc == 0 && done < c->bytes; done += (uint64_t)n) {
        const uint64_t left = c->bytes - done;
        n = weft_input_read(c->in, block, left < WINDOW ? left : WINDOW, c->at + done, c->err);
        if (n <= 0) /* the file has become shorter */
            break;
        if (!is_zero(block, (size_t)n) && pwrite(fd, block, (size_t)n, (off_t)done) != n)
            rc = WEFT_E_NOMEM;
    }
    if (rc < 0)
        weft_error_set(c->err, rc, WEFT_NO_OFFSET, no_room, strerror(errno));
    free(block);
    return rc < 0 ? rc : n < 0 ? (int)n : 0;
}

int read_core_open(struct weft_input *in, struct weft_error *err)
{
    struct core c = {.in = in, .err = err};
    struct weft_core *core;
    if (in->copy || !is_core(in))
        return 0;
    if (weft_core_open(&core, in->fd) == 1)
        c.process = core->process;
    weft_core_close(core);
    int rc = search_packets(&c);
    if (rc < 0 || (!c.bytes && c.packets))
        return rc;
    if (!c.bytes)
        return weft_error_set(err, WEFT_E_FORMAT, WEFT_NO_OFFSET,
                              "is a core file with no trace in it; a program that records into a "
                              "file leaves its trace there, and only one that records into memory "
                              "of its own leaves it in the core file");
    const int fd = memfd_create("weft-core", MFD_CLOEXEC);
    rc = fd < 0 ? weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "no room to hold it: %s",
                                 strerror(errno))
                : copy_out(&c, fd);
    if (rc < 0) {
        if (fd >= 0)
            close(fd);
        return rc;
    }
    close(in->fd);
    in->fd = fd;
    in->size = c.bytes;
    return 0;
}
