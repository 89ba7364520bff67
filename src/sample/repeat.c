/* SPDX-License-Identifier: ISC */
/* When a packet of a ring is overwritten, what it said about mappings and threads is gone with it. So each packet says
 * that itself, as far as its own samples need it: a thread's name before its first record in the packet, a mapping
 * before the first stack that goes through it. Processes that were never sampled leave nothing in the file. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sample/file_parts.h"

void sample_repeat_fini(struct sample_repeat *r)
{
    sample_present_fini(&r->present);
    free(r->wanted);
    r->wanted = NULL;
}

static struct weft_sampled record(enum weft_record_kind kind, uint64_t time_ns, uint32_t process)
{
    return (struct weft_sampled){.kind = kind,
                                 .time_ns = time_ns,
                                 .process = process,
                                 .thread = process,
                                 .core = UINT32_MAX,
                                 .parent = UINT32_MAX,
                                 .text = ""};
}

int sample_repeat_begin(struct weft_samples_file *f)
{
    struct sample_repeat *all = &f->repeat;
    all->packet++;
    if (!all->given_up_ns)
        return 0;
    struct weft_sampled r = record(WEFT_RECORD_LOST, all->given_up_ns, UINT32_MAX);
    r.flags = WEFT_LOST_SWITCHES;
    if (!weft_reserve_all(&f->packet.bytes, f->packet.used + sample_record_bytes(&r),
                          &f->packet.room, 1))
        return WEFT_E_NOMEM;
    int rc = sample_packet_put(&f->packet, &r);
    f->packet.begun = f->packet.used;
    return rc;
}

/* ---- What a record needs ---- */

/* Adds a mapping to those that are wanted, for which there is room, unless it is there. Returns its size in the
 * packet. */
static size_t want(struct sample_repeat *all, struct sample_mapped *m)
{
    if (!m || m->put == all->packet)
        return 0;
    for (uint32_t i = 0; i < all->wanteds; i++)
        if (all->wanted[i] == m)
            return 0;
    all->wanted[all->wanteds++] = m;
    return sizeof(struct weft_record_mapping) + sample_text_bytes(sample_present_path(m));
}

/* Finds what the record needs of mappings. *bytes: how much room they take, hardly more than a quarter of a packet; if
 * that is not enough for all, the others come with later records. Returns 0 or WEFT_E_NOMEM. */
static int find_wanted(struct weft_samples_file *f, const struct weft_sampled *r, size_t *bytes)
{
    struct sample_repeat *all = &f->repeat;
    const struct sample_process *kernel = sample_present_process(&all->present, UINT32_MAX),
                                *process = sample_present_process(&all->present, r->process);
    *bytes = all->wanteds = 0;
    if (!weft_reserve_all(&all->wanted, r->addresses + UINT64_C(1), &all->wanted_room,
                          sizeof(struct sample_mapped *)))
        return WEFT_E_NOMEM;
    for (uint32_t i = 0; i < r->addresses && *bytes < f->slots.bytes / 4; i++) {
        const struct sample_process *in = i < r->kernel_addresses ? kernel : process;
        *bytes += in ? want(all, sample_present_at(in, r->address[i])) : 0;
    }
    return 0;
}

static int put_mapping(struct weft_samples_file *f, uint32_t process, struct sample_mapped *m)
{
    struct weft_sampled r = record(WEFT_RECORD_MAPPING, m->from_ns, process);
    r.flags = m->flags;
    r.start = m->start;
    r.size = m->size;
    r.offset = m->offset;
    r.text = sample_present_path(m);
    r.build_id = m->build_id;
    r.build_id_bytes = m->build_id_bytes;
    if (m->flags & WEFT_MAPPING_KERNEL)
        r.process = UINT32_MAX;
    m->put = f->repeat.packet;
    return sample_packet_put(&f->packet, &r);
}

/* How the process began, and the thread's name. */
static int put_thread(struct weft_samples_file *f, const struct weft_sampled *of)
{
    struct sample_repeat *all = &f->repeat;
    struct sample_process *process = sample_present_process(&all->present, of->process);
    struct sample_thread *thread = sample_present_thread(&all->present, of->thread);
    int rc = 0;
    if (process && process->put != all->packet) {
        process->put = all->packet;
        struct weft_sampled r = record(WEFT_RECORD_THREAD, process->began_ns, process->number);
        r.flags = WEFT_THREAD_EXEC;
        rc = process->began_ns ? sample_packet_put(&f->packet, &r) : 0;
    }
    if (rc < 0 || !thread || thread->process != of->process || thread->put == all->packet)
        return rc;
    thread->put = all->packet;
    struct weft_sampled r = record(WEFT_RECORD_THREAD, thread->since_ns, thread->process);
    r.thread = thread->number;
    r.text = thread->name;
    return sample_packet_put(&f->packet, &r);
}

/* ---- Records ---- */

enum { THREADS_BYTES = 512 }; /* of the two records and the name */

/* If the packet is full, a new one is begun, which needs more. */
static int make_room(struct weft_samples_file *f, const struct weft_sampled *r)
{
    uint64_t packet;
    size_t bytes;
    int rc;
    do {
        packet = f->repeat.packet;
        rc = find_wanted(f, r, &bytes);
        if (rc == 0)
            rc = sample_file_room(f, sample_record_bytes(r) + bytes + THREADS_BYTES);
    } while (rc == 0 && packet != f->repeat.packet);
    return rc;
}

static int put_used(struct weft_samples_file *f, const struct weft_sampled *r)
{
    struct sample_repeat *all = &f->repeat;
    TRY(make_room(f, r));
    int rc = put_thread(f, r);
    for (uint32_t i = 0; rc == 0 && i < all->wanteds; i++)
        rc = put_mapping(f, r->process, all->wanted[i]);
    return rc < 0 ? rc : sample_packet_put(&f->packet, r);
}

/* A thread that the packet has: what happens to it is put as it happens. What happens to others is put when they are
 * needed. */
static int put_change(struct weft_samples_file *f, const struct weft_sampled *r)
{
    struct sample_repeat *all = &f->repeat;
    TRY(sample_file_room(f, sample_record_bytes(r)));
    const struct sample_thread *thread = sample_present_thread(&all->present, r->thread);
    const bool used = thread && thread->process == r->process && thread->put == all->packet;
    int rc = sample_present_take(&all->present, r);
    return rc == 0 && used ? sample_packet_put(&f->packet, r) : rc;
}

int sample_repeat_put(struct weft_samples_file *f, const struct weft_sampled *r)
{
    struct sample_repeat *all = &f->repeat;
    switch (r->kind) {
    case WEFT_RECORD_MAPPING:
        return sample_present_take(&all->present, r);
    case WEFT_RECORD_THREAD:
    case WEFT_RECORD_EXIT:
        return put_change(f, r);
    case WEFT_RECORD_LOST:
        TRY(sample_file_room(f, sample_record_bytes(r)));
        if (r->flags & WEFT_LOST_SWITCHES && !all->given_up_ns)
            all->given_up_ns = r->time_ns;
        *(r->flags & WEFT_LOST_OTHER ? &all->total.lost_other : &all->total.lost) += r->value;
        return sample_packet_put(&f->packet, r);
    default:
        TRY(put_used(f, r));
        all->total.samples += r->kind == WEFT_RECORD_SAMPLE;
        return 0;
    }
}
