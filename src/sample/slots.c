/* SPDX-License-Identifier: ISC */
#include "sample/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample/file_parts.h"

enum {
    PAGE = 4096,
    SHARE =
        16, /* a place is such a part of the file: as much is lost at once when it is overwritten */
    SLOT_LEAST = 32 << 10,
};

int sample_slots_init(struct sample_slots *s, int fd, off_t at, uint64_t size)
{
    const uint64_t room = size > (uint64_t)at ? size - (uint64_t)at : 0;
    uint64_t bytes = room / SHARE & ~(uint64_t)(PAGE - 1);
    bytes = bytes < SLOT_LEAST ? SLOT_LEAST : bytes;
    bytes = bytes > SAMPLE_PACKET_BYTES_MAX ? SAMPLE_PACKET_BYTES_MAX : bytes;
    const uint64_t most = room / bytes < UINT32_MAX ? room / bytes : UINT32_MAX;
    *s = (struct sample_slots){.fd = fd, .at = at, .bytes = (size_t)bytes, .most = (uint32_t)most};
    if (most < SAMPLE_SLOTS_LEAST)
        return WEFT_E_INVALID;
    s->before = calloc((size_t)most, sizeof *s->before);
    return s->before ? 0 : WEFT_E_NOMEM;
}

void sample_slots_fini(struct sample_slots *s)
{
    free(s->before);
    s->before = NULL;
}

static off_t place(const struct sample_slots *s, uint32_t slot)
{
    return s->at + (off_t)(s->bytes * slot);
}

/* ---- Writing ---- */

/* Whatever is there becomes a packet that readers skip. */
static int take_out(struct sample_slots *s, const struct sample_packet *p)
{
    struct weft_packet_header h = {.magic = WEFT_PACKET_MAGIC,
                                   .signature = WEFT_PACKET_SIGNATURE,
                                   .version = WEFT_FORMAT_VERSION,
                                   .class = WEFT_PACKET_PRIVATE,
                                   .header_bytes = sizeof h,
                                   .packet_bits = s->bytes * 8,
                                   .content_bits = sizeof h * 8};
    memcpy(h.uuid, p->uuid, sizeof h.uuid);
    return sample_write_all(s->fd, &h, sizeof h, place(s, s->current));
}

static int take_place(struct sample_slots *s, const struct sample_packet *p)
{
    s->current = s->next;
    s->written = 0;
    s->open = true;
    s->before[s->current] = p->before.samples;
    if (s->current == s->there && ftruncate(s->fd, place(s, ++s->there)) < 0)
        return WEFT_E_IO;
    return take_out(s, p);
}

static int write_new(struct sample_slots *s, struct sample_packet *p)
{
    const size_t header = sample_packet_seal(p);
    const size_t from = s->written ? s->written : header;
    int rc = sample_write_all(s->fd, p->bytes + from, p->used - from,
                              place(s, s->current) + (off_t)from);
    if (rc == 0)
        rc = sample_write_all(s->fd, p->bytes, header, place(s, s->current));
    if (rc == 0)
        s->written = p->used;
    return rc;
}

/* There is no room on the disk for the place that was added last: the file stays as large as it is without it. */
static bool shrink(struct sample_slots *s)
{
    if (errno != ENOSPC || s->current + 1 != s->there || s->there <= SAMPLE_SLOTS_LEAST ||
        s->there == s->most)
        return false;
    if (ftruncate(s->fd, place(s, s->there - 1)) < 0)
        return false;
    s->most = --s->there;
    s->next = 0;
    return true;
}

int sample_slots_write(struct sample_slots *s, struct sample_packet *p)
{
    if (sample_packet_seal(p) == 0 || (s->open && s->written == p->used))
        return 0;
    int rc = s->open ? 0 : take_place(s, p);
    rc = rc == 0 ? write_new(s, p) : rc;
    if (rc < 0 && shrink(s)) {
        rc = take_place(s, p);
        rc = rc == 0 ? write_new(s, p) : rc;
    }
    return rc;
}

void sample_slots_next(struct sample_slots *s)
{
    if (s->open)
        s->next = s->current + 1 < s->most ? s->current + 1 : 0;
    s->open = false;
}

uint64_t sample_slots_gone(const struct sample_slots *s)
{
    const uint32_t after = s->open ? s->current + 1 : s->next;
    return s->there ? s->before[after < s->there ? after : 0] : 0;
}

void sample_slots_end(struct sample_slots *s, struct sample_packet *p)
{
    if (!s->open || s->current + 1 != s->there)
        return;
    const size_t whole = p->slot_bytes, used = (p->used + 7) & ~(size_t)7;
    p->slot_bytes = used;
    const size_t header = sample_packet_seal(p);
    if (header && sample_write_all(s->fd, p->bytes, header, place(s, s->current)) == 0)
        (void)!ftruncate(s->fd, place(s, s->current) + (off_t)used);
    p->slot_bytes = whole;
}
