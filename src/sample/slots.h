/* SPDX-License-Identifier: ISC */
/* The places of a file of bounded size: each holds one packet, and the packet written longest ago is overwritten next.
 *
 * The file is a valid trace at any moment, also if the writer is killed. A packet that grows: its new bytes are written
 * behind its content, and then its header, which says that they are content. A packet that is replaced: first its
 * header is made one of a packet that readers skip; then the new bytes are written; the header comes last. A header
 * does not cross a page, so it is written whole or not at all. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "format/samples.h"
#include "sample/packet.h"

#define SAMPLE_SLOTS_LEAST 2

struct sample_slots {
    int fd;
    off_t at;         /* of the first */
    size_t bytes;     /* of each; a multiple of 4096 */
    uint32_t most;    /* how many there may be */
    uint32_t there;   /* … and are in the file */
    uint32_t current; /* valid if open */
    uint32_t next;
    bool open;
    size_t written;   /* bytes of the current one's packet in the file; 0: not begun */
    uint64_t *before; /* of each place: the samples before its packet; parallel to the places */
};

/* A file of at most size bytes whose first `at` bytes are taken, a multiple of 4096. Returns 0; WEFT_E_INVALID if that
 * is too small; WEFT_E_NOMEM. */
int sample_slots_init(struct sample_slots *s, int fd, off_t at, uint64_t size);
void sample_slots_fini(struct sample_slots *s);

/* Brings what is in the file of the current packet up to date. The first call after sample_slots_next takes the next
 * place for it. If the disk is full before the file has its size, the file stays as it is, and the oldest packet is
 * overwritten. Returns 0 or WEFT_E_IO, with errno. */
int sample_slots_write(struct sample_slots *s, struct sample_packet *p);

/* The current packet is complete. */
void sample_slots_next(struct sample_slots *s);

/* How many samples are overwritten. */
uint64_t sample_slots_gone(const struct sample_slots *s);

/* Gives back what the last place in the file does not need. p: the packet in it, if it is the current one. */
void sample_slots_end(struct sample_slots *s, struct sample_packet *p);
