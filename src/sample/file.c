/* SPDX-License-Identifier: ISC */
/* A packet is built in memory and written in one piece. Texts and nodes of stacks that are equal are stored
 * once per packet, and numbered per packet. So a packet is small, and can be read if others are lost. */
#include "sample/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/order.h"
#include "profile/build.h"
#include "format/process.h"
#include "format/walk.h"
#include "read/input.h"
#include "sample/file_parts.h"

#define FACTS_BYTES 65536
#define FACTS_BYTES_RING 8192 /* so that little of a small ring is taken by arguments */
#define PAGE 4096
#define TEXT_MOST 4200    /* a path from the kernel has at most 4096 bytes */
#define SYMBOLS_FRAMES 64 /* functions inlined into one another at an address; more are left out */

/* ---- Writing ---- */

int sample_write_all(int fd, const void *bytes, size_t size, off_t at)
{
    const char *p = bytes;
    while (size) {
        ssize_t n = pwrite(fd, p, size, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = ENOSPC;
            return WEFT_E_IO;
        }
        p += n;
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

static int write_error(int rc, struct weft_error *err)
{
    return weft_error_set(err, rc, WEFT_NO_OFFSET, "cannot be written: %s",
                          rc == WEFT_E_NOMEM ? weft_error_name(rc) : strerror(errno));
}

/* ---- Facts ---- */

static void put_fact(char *bytes, size_t most, size_t *used, const char *key, const char *value)
{
    const size_t n = strlen(key) + 1 + strlen(value) + 1;
    if (n > most - *used)
        return;
    *used += (size_t)snprintf(bytes + *used, n, "%s=%s", key, value) + 1;
}

static int write_facts(struct weft_samples_file *f, const struct weft_samples_facts *facts)
{
    struct utsname host;
    struct weft_facts_header *h = &f->facts;
    const size_t most = f->ring ? FACTS_BYTES_RING : FACTS_BYTES;
    char *bytes = calloc(1, most);
    if (!bytes)
        return WEFT_E_NOMEM;
    size_t used = sizeof *h;
    if (facts->program)
        put_fact(bytes, most, &used, "program", facts->program);
    for (uint32_t i = 0; i < facts->args; i++)
        put_fact(bytes, most, &used, "arg", facts->arg[i]);
    if (uname(&host) == 0)
        put_fact(bytes, most, &used, "host", host.nodename);
    put_fact(bytes, most, &used, "version", WEFT_VERSION);
    const size_t unit = f->ring ? PAGE : 8, size = (used + unit - 1) & ~(unit - 1);
    *h = (struct weft_facts_header){
        .packet = {.magic = WEFT_PACKET_MAGIC,
                   .signature = WEFT_PACKET_SIGNATURE,
                   .version = WEFT_FORMAT_VERSION,
                   .class = WEFT_PACKET_FACTS,
                   .header_bytes = sizeof *h,
                   .packet_bits = size * 8,
                   .content_bits = used * 8},
        .state = WEFT_TRACE_RECORDING,
        .pid = facts->process,
        .clock = WEFT_CLOCK_MONOTONIC,
        .hz = 1000000000,
        .start_mono_ns = (uint64_t)weft_monotonic_ns(),
        .start_real_ns = (uint64_t)weft_clock_ns(CLOCK_REALTIME),
    };
    h->start_ticks = h->start_mono_ns;
    memcpy(h->packet.uuid, f->packet.uuid, sizeof h->packet.uuid);
    memcpy(h->boot_id, f->packet.boot_id, sizeof h->boot_id);
    memcpy(bytes, h, sizeof *h);
    int rc = sample_write_all(f->fd, bytes, size, 0);
    f->end = (off_t)size;
    free(bytes);
    return rc;
}

/* ---- Packets ---- */

static int write_packet(struct weft_samples_file *f)
{
    size_t size;
    const void *bytes = sample_packet_end(&f->packet, &size);
    if (!bytes)
        return 0; /* it is empty */
    int rc = sample_write_all(f->fd, bytes, size, f->end);
    if (rc == 0)
        f->end += (off_t)size;
    return rc;
}

/* The packet is complete. */
static int close_packet(struct weft_samples_file *f)
{
    size_t size;
    if (!f->ring)
        return write_packet(f);
    int rc = sample_slots_write(&f->slots, &f->packet);
    sample_slots_next(&f->slots);
    sample_packet_end(&f->packet, &size);
    return rc;
}

static int begin_packet(struct weft_samples_file *f)
{
    f->packet.before = f->repeat.total;
    int rc = sample_packet_begin(&f->packet, f->source_name, &f->source);
    return rc == 0 && f->ring ? sample_repeat_begin(f) : rc;
}

int sample_file_room(struct weft_samples_file *f, size_t bytes)
{
    if (f->failed)
        return f->failed;
    struct sample_packet *p = &f->packet;
    const size_t most = f->ring ? f->slots.bytes : SAMPLE_PACKET_BYTES_MAX;
    int rc = 0;
    if (bytes > most - p->used)
        rc = close_packet(f);
    if (rc == 0 && p->used == 0)
        rc = begin_packet(f);
    if (rc == 0 && !weft_reserve_all(&p->bytes, p->used + bytes, &p->room, 1))
        rc = WEFT_E_NOMEM;
    f->failed = rc;
    return rc;
}

int weft_samples_put(struct weft_samples_file *f, const struct weft_sampled *r)
{
    const size_t most = (f->ring ? f->slots.bytes : SAMPLE_PACKET_BYTES_MAX) / 4;
    if (r->addresses > most / sizeof(struct weft_record_node) / (f->ring ? 1 : 16) ||
        (r->text && strlen(r->text) > (f->ring ? TEXT_MOST : most / 16)))
        return WEFT_E_LIMIT;
    if (f->ring)
        return sample_repeat_put(f, r);
    int rc = sample_file_room(f, sample_record_bytes(r));
    return rc < 0 ? rc : sample_packet_put(&f->packet, r);
}

int weft_samples_flush(struct weft_samples_file *f, struct weft_error *err)
{
    if (!f->failed)
        f->failed = f->ring ? sample_slots_write(&f->slots, &f->packet) : write_packet(f);
    return f->failed ? write_error(f->failed, err) : 0;
}

/* ---- Symbols ---- */

static size_t frames_bytes(const struct weft_profile *p, const struct weft_location *l,
                           uint16_t frames)
{
    size_t bytes = 256 + frames * sizeof(struct weft_symbol_frame);
    for (uint16_t i = 0; i < frames; i++) {
        const struct weft_function *fn = &p->function[p->frame[l->first_frame + i].function];
        bytes += sample_text_bytes(weft_profile_text(p, fn->name)) +
                 sample_text_bytes(weft_profile_text(p, fn->system_name)) +
                 sample_text_bytes(weft_profile_text(p, fn->file));
    }
    return bytes;
}

static int put_symbol(struct weft_samples_file *f, const struct weft_profile *p, uint32_t location)
{
    const struct weft_location *l = &p->location[location];
    const struct weft_mapping *m = &p->mapping[l->mapping];
    const uint16_t frames = l->frames < SYMBOLS_FRAMES ? l->frames : SYMBOLS_FRAMES;
    struct weft_symbol_frame to[SYMBOLS_FRAMES];
    const size_t bytes =
        frames_bytes(p, l, frames) + sample_text_bytes(weft_profile_text(p, m->path));
    if (bytes > (f->ring ? f->slots.bytes : SAMPLE_PACKET_BYTES_MAX) / 2)
        return 0; /* names of that length are of no use */
    TRY(sample_file_room(f, bytes));
    struct sample_packet *packet = &f->packet;
    const uint32_t object =
        sample_packet_object(packet, weft_profile_text(p, m->path),
                             weft_profile_is_generated(p, m) ? m->process : UINT32_MAX, m);
    for (uint16_t i = 0; i < frames; i++) {
        const struct weft_frame *frame = &p->frame[l->first_frame + i];
        const struct weft_function *fn = &p->function[frame->function];
        to[i] = (struct weft_symbol_frame){
            .name = sample_packet_text(packet, weft_profile_text(p, fn->name)),
            .system_name = fn->system_name == fn->name
                               ? 0
                               : sample_packet_text(packet, weft_profile_text(p, fn->system_name)),
            .file = sample_packet_text(packet, weft_profile_text(p, fn->file)),
            .line = frame->line,
            .start_line = fn->start_line,
        };
    }
    return sample_packet_symbol(packet, object, weft_profile_symbol_offset(p, location), to,
                                frames);
}

struct used {
    uint64_t last_ns; /* of its last sample */
    uint32_t location;
};

static int latest_first(const void *a, const void *b)
{
    const struct used *x = a, *y = b;
    WEFT_ORDER(y->last_ns, x->last_ns);
    return weft_order(x->location, y->location);
}

/* All locations, those of the latest samples first. Samples are in order of time, and callers are before those whom they
 * call. NULL: no memory. */
static struct used *in_order_of_use(const struct weft_profile *p)
{
    struct used *used = calloc(p->locations + (size_t)1, sizeof *used);
    uint64_t *last = calloc(p->stacks + (size_t)1, sizeof *last);
    for (uint32_t i = 0; used && last && i < p->samples; i++)
        last[p->sample[i].stack] = p->sample[i].time_ns;
    for (uint32_t i = 0; used && i < p->locations; i++)
        used[i].location = i;
    for (uint32_t i = p->stacks; used && last && i-- > 1;) {
        const struct weft_stack *s = &p->stack[i];
        struct used *u = &used[s->location];
        last[s->parent] = last[i] > last[s->parent] ? last[i] : last[s->parent];
        u->last_ns = last[i] > u->last_ns ? last[i] : u->last_ns;
    }
    if (!last) {
        free(used);
        return NULL;
    }
    free(last);
    weft_sort(used, p->locations, sizeof *used, latest_first);
    return used;
}

int weft_samples_put_symbols(struct weft_samples_file *f, const struct weft_profile *p,
                             struct weft_error *err)
{
    const uint64_t most = f->packet.sequence + (f->ring ? f->slots.most / 2 : UINT32_MAX);
    int rc = weft_samples_flush(f, err);
    struct used *used = rc == 0 ? in_order_of_use(p) : NULL;
    if (rc == 0 && !used)
        return f->failed = weft_no_memory(err);
    for (uint32_t i = 0; rc == 0 && i < p->locations && f->packet.sequence < most; i++) {
        const struct weft_location *l = &p->location[used[i].location];
        if (!l->resolved || l->mapping == WEFT_NONE || l->mapping >= p->mappings)
            continue;
        rc = put_symbol(f, p, used[i].location);
        if (rc < 0)
            write_error(rc, err);
    }
    free(used);
    return rc < 0 ? rc : weft_samples_flush(f, err);
}

uint64_t weft_samples_overwritten(const struct weft_samples_file *f)
{
    return f->ring ? sample_slots_gone(&f->slots) : 0;
}

/* ---- A file's life ---- */

static void free_file(struct weft_samples_file *f)
{
    sample_packet_fini(&f->packet);
    sample_slots_fini(&f->slots);
    sample_repeat_fini(&f->repeat);
    free(f->source_name);
    free(f);
}

int weft_samples_begin(struct weft_samples_file **out, int fd,
                       const struct weft_samples_facts *facts, const struct weft_source *source,
                       const char *source_name, struct weft_error *err)
{
    *out = NULL;
    struct weft_samples_file *f = calloc(1, sizeof *f);
    if (!f)
        return weft_no_memory(err);
    f->fd = fd;
    f->ring = facts->ring_bytes > 0;
    f->source = *source;
    f->source_name = malloc(strlen(source_name) + 1);
    if (f->source_name)
        strcpy(f->source_name, source_name);
    int rc = f->source_name ? 0 : WEFT_E_NOMEM;
    if (rc == 0 && getrandom(f->packet.uuid, sizeof f->packet.uuid, 0) != sizeof f->packet.uuid)
        rc = WEFT_E_IO;
    format_boot_id(f->packet.boot_id);
    if (rc == 0)
        rc = write_facts(f, facts);
    if (rc == 0 && f->ring)
        rc = sample_slots_init(&f->slots, fd, f->end, facts->ring_bytes);
    f->packet.slot_bytes = f->slots.bytes;
    f->packet.sequence = facts->packets_before;
    if (rc == WEFT_E_INVALID)
        weft_error_set(err, rc, WEFT_NO_OFFSET, "a ring of %llu bytes is too small",
                       (unsigned long long)facts->ring_bytes);
    else if (rc < 0)
        write_error(rc, err);
    if (rc < 0) {
        free_file(f);
        return rc;
    }
    *out = f;
    return 0;
}

int weft_samples_end(struct weft_samples_file *f, struct weft_error *err)
{
    int rc = weft_samples_flush(f, err);
    if (rc == 0 && f->ring)
        sample_slots_end(&f->slots, &f->packet);
    if (rc == 0) {
        f->facts.state = WEFT_TRACE_STOPPED;
        f->facts.stop_mono_ns = f->facts.stop_ticks = (uint64_t)weft_monotonic_ns();
        rc = sample_write_all(f->fd, &f->facts, sizeof f->facts, 0);
        if (rc < 0)
            write_error(rc, err);
    }
    free_file(f);
    return rc;
}

/* ---- Appending ---- */

/* A packet of a ring can be left out, since the others repeat what they need of it. */
static bool is_before(const void *packet, uint64_t since_ns)
{
    struct weft_samples_header h;
    memcpy(&h, packet, sizeof h);
    return h.packet.header_bytes >= sizeof h + sizeof(struct weft_samples_before) &&
           h.last_ns < since_ns;
}

/* Packets that were written when the disk became full, for example, may remain incomplete. */
static int append_packets(int to, off_t at, const uint8_t uuid[16], int from, uint64_t since_ns,
                          struct weft_error *err)
{
    const struct weft_input in = {.fd = from, .size = INT64_MAX};
    struct weft_packet_header h;
    int rc = 0;
    char *bytes = malloc(SAMPLE_PACKET_BYTES_MAX);
    if (!bytes)
        return weft_no_memory(err);
    for (uint64_t next = 0, step;
         rc == 0 && read_whole(&in, &h, sizeof h, next, NULL) == 1 && format_is_packet(&h);
         next += step) {
        const uint64_t size = step = h.packet_bits / 8;
        if (size > SAMPLE_PACKET_BYTES_MAX || read_whole(&in, bytes, size, next, NULL) != 1)
            break;
        if (h.class != WEFT_PACKET_SAMPLES || size < sizeof(struct weft_samples_header) ||
            is_before(bytes, since_ns))
            continue;
        const uint64_t used =
            h.content_bits / 64 * 8; /* the rest of a ring's place is not needed */
        h.packet_bits = used < size ? used * 8 : h.packet_bits;
        memcpy(h.uuid, uuid, sizeof h.uuid);
        memcpy(bytes, &h, sizeof h);
        rc = sample_write_all(to, bytes, h.packet_bits / 8, at);
        if (rc < 0)
            write_error(rc, err);
        at += (off_t)(h.packet_bits / 8);
    }
    free(bytes);
    return rc;
}

int weft_samples_append(int to, int from, uint64_t since_ns, struct weft_error *err)
{
    const struct weft_input in = {.fd = to, .size = INT64_MAX};
    struct weft_packet_header trace;
    if (read_whole(&in, &trace, sizeof trace, 0, NULL) != 1 || !format_has_mark(&trace))
        return weft_error_set(err, WEFT_E_FORMAT, 0, "there is no trace to append to");
    const off_t end = lseek(to, 0, SEEK_END);
    if (end < 0)
        return write_error(WEFT_E_IO, err);
    const off_t at = (end + 7) & ~(off_t)7; /* a truncated trace may end anywhere */
    int rc = append_packets(to, at, trace.uuid, from, since_ns, err);
    if (rc < 0 && ftruncate(to, end) < 0)
        return rc; /* half a packet remains; readers skip it */
    return rc;
}

uint64_t weft_samples_packets(int fd)
{
    const struct weft_input in = {.fd = fd, .size = INT64_MAX};
    struct weft_samples_header h;
    uint64_t last = 0;
    for (uint64_t at = 0; read_whole(&in, &h, sizeof h, at, NULL) == 1 &&
                          format_is_packet(&h.packet) && h.packet.packet_bits / 8 > 0;
         at += h.packet.packet_bits / 8)
        if (h.packet.class == WEFT_PACKET_SAMPLES && h.sequence > last)
            last = h.sequence;
    return last;
}
