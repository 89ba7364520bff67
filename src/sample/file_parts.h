/* SPDX-License-Identifier: ISC */
/* Shared by the files that write a file of samples: file.c, slots.c, repeat.c. */
#pragma once

#include <string.h>

#include "sample/file.h"
#include "sample/packet.h"
#include "sample/present.h"
#include "sample/slots.h"

/* What a ring knows besides its places. */
struct sample_repeat {
    struct sample_present present;
    uint64_t packet; /* numbers packets from 1: what says that it was put has this number */
    struct sample_mapped **wanted; /* that the current record needs and the packet does not have */
    uint32_t wanteds, wanted_room;
    struct weft_samples_before total; /* of all packets so far */
    uint64_t given_up_ns;             /* when switches were given up; 0: they were not */
};

struct weft_samples_file {
    int fd;
    off_t end;
    struct sample_packet packet;
    struct weft_facts_header facts;
    struct weft_source source;
    char *source_name;
    int failed; /* a WEFT_E code: nothing more is written */
    bool ring;
    struct sample_slots slots;
    struct sample_repeat repeat;
};

/* Returns 0 or WEFT_E_IO, with errno. */
int sample_write_all(int fd, const void *bytes, size_t size, off_t at);

/* ---- file.c ---- */

/* Makes room for a record of at most that many bytes, with the texts and nodes that it needs. */
int sample_file_room(struct weft_samples_file *f, size_t bytes);

static inline size_t sample_text_bytes(const char *text)
{
    return text ? sizeof(struct weft_record_text) + strlen(text) + 8 : 0;
}

/* How much room a record needs, with its text and stack. */
static inline size_t sample_record_bytes(const struct weft_sampled *r)
{
    return 256 + sample_text_bytes(r->text) + r->addresses * sizeof(struct weft_record_node);
}

/* ---- repeat.c: what the packets of a ring repeat ---- */

void sample_repeat_fini(struct sample_repeat *r);

/* A packet was begun. */
int sample_repeat_begin(struct weft_samples_file *f);

/* Puts a record, and before it what is needed to name it. Returns 0 or a negative WEFT_E code. */
int sample_repeat_put(struct weft_samples_file *f, const struct weft_sampled *r);
