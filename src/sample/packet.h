/* SPDX-License-Identifier: ISC */
/* One packet of samples in memory. */
#pragma once

#include "model/strings.h"
#include "sample/sampler.h"

#define SAMPLE_PACKET_BYTES_MAX ((size_t)1 << 20)

struct sample_packet { /* all zero: nothing yet, except for the ids */
    uint8_t uuid[16], boot_id[16];
    uint64_t sequence; /* number of packets before this one */
    uint64_t first_ns, last_ns;
    uint8_t *bytes;
    size_t used; /* 0: the packet is not begun */
    uint32_t room;
    /* Of a ring: the packet takes that many bytes of the file, however full it is, and says what was before it. 0: it
     * is as large as what it has. */
    size_t slot_bytes;
    struct weft_samples_before before;
    size_t begun;                                 /* bytes that every packet begins with */
    struct weft_strings *texts, *nodes, *objects; /* the records of these kinds, each stored once */
    bool failed;                                  /* out of memory while something was added */
};

void sample_packet_fini(struct sample_packet *p);

int sample_packet_begin(struct sample_packet *p, const char *source_name,
                        const struct weft_source *source);

/* These need room that was reserved before. They return 0 if there is no memory; then adding the record that
 * they are for fails. */
uint32_t sample_packet_text(struct sample_packet *p, const char *text);
int sample_packet_put(struct sample_packet *p, const struct weft_sampled *r);

/* The file of a mapping; its build id is taken from there. */
uint32_t sample_packet_object(struct sample_packet *p, const char *path, uint32_t process,
                              const struct weft_mapping *m);
int sample_packet_symbol(struct sample_packet *p, uint32_t object, uint64_t offset,
                         const struct weft_symbol_frame *frame, uint16_t frames);

/* Fills in the header, as far as the packet is full; more may be added. Returns the header's size, or 0 if nothing was
 * added yet. */
size_t sample_packet_seal(struct sample_packet *p);

/* Returns the packet's bytes; or NULL if nothing was added, and the packet is then not begun. Valid until the
 * next call. */
const void *sample_packet_end(struct sample_packet *p, size_t *size);
