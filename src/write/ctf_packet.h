/* SPDX-License-Identifier: ISC */
/* A packet of a CTF stream while it is being filled, in the layout that weft_tsdl_write_weft or
 * weft_tsdl_write_mirage describes.
 *     struct weft_ctf_packet p = {.thread = 4711};
 *     write_ctf_packet_append(&p, &event, &err);  …
 *     write_ctf_packet_end(&p, stream);
 *     write(fd, p.bytes, p.used);
 *     write_ctf_packet_clear(&p);
 * Threads: one. */
#ifndef WEFT_WRITE_CTF_PACKET_H
#define WEFT_WRITE_CTF_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/error.h"
#include "format/events.h"

struct weft_ctf_packet {
    unsigned char *bytes; /* NULL: empty */
    size_t used;
    uint32_t room;
    uint64_t begin_ns, end_ns;
    uint64_t number;      /* of the packet in its stream */
    bool mirage;          /* the layout is mirage's: no thread */
    uint32_t thread;      /* the system's number for it */
    char thread_name[16]; /* padded with zeros */
};

/* Adds an event; events must be in order of time. Returns 0, WEFT_E_INVALID for a kind that the
 * layout lacks, or WEFT_E_NOMEM. */
int write_ctf_packet_append(struct weft_ctf_packet *p, const struct weft_event *ev,
                            struct weft_error *err);

/* Completes the header; an empty packet has one, too. Returns 0 or WEFT_E_NOMEM. */
int write_ctf_packet_end(struct weft_ctf_packet *p, uint32_t stream, struct weft_error *err);

/* Empties it; events added afterwards go into the stream's next packet. */
void write_ctf_packet_clear(struct weft_ctf_packet *p);

#endif
