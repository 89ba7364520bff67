/* SPDX-License-Identifier: ISC */
#include "write/mirage.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/mirage.h"

#define PACKET_BYTES_DEFAULT (1u << 20)
#define PACKET_BYTES_MAX (UINT32_MAX / 8) /* sizes are stated in bits, in 32 bits */

struct weft_mirage_writer {
    FILE *file;
    unsigned char *packet; /* the one being filled; room for its header is left free */
    size_t used;
    uint32_t room;
    size_t packet_bytes; /* when it holds as much, the next one begins */
    uint16_t sequence;
    bool wrote; /* at least one packet */
};

int weft_mirage_writer_open(struct weft_mirage_writer **out, FILE *file,
                            const struct weft_mirage_options *options, struct weft_error *err)
{
    *out = NULL;
    uint32_t bytes =
        options && options->packet_bytes ? options->packet_bytes : PACKET_BYTES_DEFAULT;
    struct weft_mirage_writer *w = calloc(1, sizeof *w);
    if (!w)
        return weft_no_memory(err);
    *w = (struct weft_mirage_writer){
        .file = file,
        .used = WEFT_MIRAGE_HEADER_SIZE,
        .packet_bytes = bytes < PACKET_BYTES_MAX ? bytes : PACKET_BYTES_MAX,
        .sequence = options ? options->first_sequence : 0,
    };
    *out = w;
    return 0;
}

static int write_packet(struct weft_mirage_writer *w, struct weft_error *err)
{
    uint32_t bits = (uint32_t)w->used * 8;
    weft_mirage_header_write(w->packet, (struct weft_mirage_header){.packet_bits = bits,
                                                                    .content_bits = bits,
                                                                    .sequence = w->sequence});
    w->sequence++;
    w->wrote = true;
    size_t size = w->used;
    w->used = WEFT_MIRAGE_HEADER_SIZE;
    if (fwrite(w->packet, 1, size, w->file) != size)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be written: %s",
                              strerror(errno));
    return 0;
}

int weft_mirage_writer_append(struct weft_mirage_writer *w, const struct weft_event *ev,
                              struct weft_error *err)
{
    if (ev->kind >= WEFT_EVENT_KINDS || !weft_event_kinds[ev->kind].in_mirage)
        return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                              "mirage-profile's format has no event %s",
                              ev->kind < WEFT_EVENT_KINDS ? weft_event_kinds[ev->kind].name : "");
    size_t size = weft_event_size(ev);
    if (size > PACKET_BYTES_MAX - WEFT_MIRAGE_HEADER_SIZE)
        return weft_error_set(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                              "a text of %u bytes does not fit into a packet of this format",
                              ev->text_size);
    int rc;
    if (w->used > WEFT_MIRAGE_HEADER_SIZE && w->used + size > w->packet_bytes &&
        (rc = write_packet(w, err)) < 0)
        return rc;
    /* It grows as needed: most traces are smaller than a packet. */
    if (!weft_reserve_all(&w->packet, w->used + size, &w->room, 1))
        return weft_no_memory(err);
    w->used += weft_event_encode(w->packet + w->used, ev);
    return 0;
}

int weft_mirage_writer_close(struct weft_mirage_writer *w, struct weft_error *err)
{
    int rc = 0;
    if (w->used > WEFT_MIRAGE_HEADER_SIZE || !w->wrote)
        rc = weft_reserve_all(&w->packet, w->used, &w->room, 1) ? write_packet(w, err)
                                                                : weft_no_memory(err);
    if (rc == 0 && fflush(w->file) != 0)
        rc = weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be written: %s",
                            strerror(errno));
    weft_mirage_writer_abandon(w);
    return rc;
}

void weft_mirage_writer_abandon(struct weft_mirage_writer *w)
{
    if (!w)
        return;
    free(w->packet);
    free(w);
}
