/* SPDX-License-Identifier: ISC */
/* mirage-profile's scheme, in C: a ring of four CTF packets in a mapped file, events without padding, the time
 * by clock_gettime. Who reads it must stop the program first. Its programs have one thread; here each thread
 * has such a file, FILE.0 and so on, and their share of the bytes. Its creations have no label. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "recorders/peer.h"

enum { MIRAGE_PACKETS = 4, MIRAGE_HEADER = 30, SIZE_AT = 20, NUMBER_AT = 24, CONTENT_AT = 26 };

struct recorder {
    struct promises promises;
    unsigned char *file, *packet, *at, *end;
    size_t packet_bytes;
    unsigned current;
    uint16_t sequence;
};

static void set_content(struct recorder *r, const unsigned char *to)
{
    uint32_t bits = (uint32_t)(to - r->packet) * 8;
    memcpy(r->packet + CONTENT_AT, &bits, sizeof bits);
}

static void use_packet(struct recorder *r, unsigned number)
{
    r->current = number;
    r->packet = r->file + number * r->packet_bytes;
    r->at = r->packet + MIRAGE_HEADER;
    r->end = r->packet + r->packet_bytes;
    memcpy(r->packet + NUMBER_AT, &r->sequence, sizeof r->sequence);
    set_content(r, r->at);
    r->sequence++;
}

static __attribute__((noinline)) void next_packet(struct recorder *r)
{
    use_packet(r, (r->current + 1) % MIRAGE_PACKETS);
}

/* Time and kind of an event; and room for size bytes, which begin with them. */
static inline unsigned char *begin(struct recorder *r, enum kind kind, size_t size)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    if ((size_t)(r->end - r->at) < size)
        next_packet(r);
    unsigned char *at = r->at;
    r->at += size;
    set_content(r, r->at); /* before the event is there, as mirage-profile does it */
    memcpy(at, &now, 8);
    at[8] = (unsigned char)kind;
    return at + 9;
}

static inline void record_create(struct recorder *r, uint64_t parent, uint64_t child, uint8_t type,
                                 const char *label)
{
    (void)label;
    unsigned char *at = begin(r, KIND_creates, 26);
    memcpy(at, &parent, 8);
    memcpy(at + 8, &child, 8);
    at[16] = type;
}

/* A switch has one field. */
static inline void record_two(struct recorder *r, enum kind kind, uint64_t a, uint64_t b)
{
    unsigned char *at = begin(r, kind, kind == KIND_switch ? 17 : 25);
    memcpy(at, &a, 8);
    if (kind != KIND_switch)
        memcpy(at + 8, &b, 8);
}
#define record_pair(r, kind, a, b) record_two((r), KIND_##kind, (a), (b))

static inline void record_label(struct recorder *r, uint64_t p, const char *text)
{
    size_t size = strlen(text) + 1;
    unsigned char *at = begin(r, KIND_label, 17 + size);
    memcpy(at, &p, 8);
    memcpy(at + 8, text, size);
}

#undef COUNT
#define COUNT(r, n) record_counter((r), (r)->promises.running, (n), "counted")
static inline void record_counter(struct recorder *r, uint64_t p, int64_t value, const char *name)
{
    size_t size = strlen(name) + 1;
    unsigned char *at = begin(r, KIND_counter, 25 + size);
    memcpy(at, &p, 8);
    memcpy(at + 8, &value, 8);
    memcpy(at + 16, name, size);
}

static void recorder_start(const struct options *o)
{
    (void)o;
}

static void recorder_stop(void)
{
}

static void recorder_enter(struct recorder *r, const struct options *o, unsigned thread)
{
    static const unsigned char begins[] = {0xc1, 0x1f, 0xfc, 0xc1, 0x05, 0x88, 0x3b,
                                           0x8d, 0x52, 0x1a, 0x48, 0x7b, 0xb3, 0x97,
                                           0x45, 0x6a, 0xb1, 0x50, 0x68, 0x0c};
    char path[4096];
    size_t bytes = o->bytes / o->threads / MIRAGE_PACKETS / 4096 * 4096 * MIRAGE_PACKETS;
    snprintf(path, sizeof path, "%s.%u", o->path ? o->path : "", thread);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || !bytes || posix_fallocate(fd, 0, (off_t)bytes))
        fail("cannot make the file of mirage's scheme");
    r->file = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (r->file == MAP_FAILED)
        fail("cannot map the file of mirage's scheme");
    r->packet_bytes = bytes / MIRAGE_PACKETS;
    uint32_t bits = (uint32_t)r->packet_bytes * 8;
    for (unsigned i = MIRAGE_PACKETS; i-- > 0;) {
        memcpy(r->file + i * r->packet_bytes, begins, sizeof begins);
        memcpy(r->file + i * r->packet_bytes + SIZE_AT, &bits, sizeof bits);
        r->sequence = 0;
        use_packet(r, i);
    }
    promises_init(&r->promises, thread);
}

static void recorder_leave(struct recorder *r, uint64_t calls)
{
    (void)calls;
    munmap(r->file, r->packet_bytes * MIRAGE_PACKETS);
}
