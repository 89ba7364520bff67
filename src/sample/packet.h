/* SPDX-License-Identifier: ISC */
/* One packet of samples in memory. */
#ifndef WEFT_SAMPLE_PACKET_H
#define WEFT_SAMPLE_PACKET_H

#include "base/table.h"
#include "sample/sampler.h"

#define WEFT__PACKET_BYTES_MAX ((size_t)1 << 20)

/* Records that the packet has once each: where they begin, by number, and found by what they say. */
struct weft__once {
    uint32_t *at;
    uint32_t count, room;
    struct weft_table by;
};

struct weft__packet {
    uint8_t uuid[16], boot_id[16];
    uint64_t sequence; /* of the packets before it */
    uint64_t seed, first_ns, last_ns;
    uint8_t *bytes;
    size_t used; /* 0: not begun */
    uint32_t room;
    size_t begun; /* bytes that every packet begins with */
    struct weft__once texts, nodes, objects;
    bool failed; /* out of memory while something was put */
};

int weft__packet_init(struct weft__packet *p);
void weft__packet_fini(struct weft__packet *p);

int weft__packet_begin(struct weft__packet *p, const char *source_name,
                       const struct weft_source *source);
bool weft__packet_begun(const struct weft__packet *p);
bool weft__packet_fits(const struct weft__packet *p, size_t bytes);
int weft__packet_reserve(struct weft__packet *p, size_t bytes);

/* What follows needs room that was reserved. Numbers are 0 where there is no memory; then the record that they are
 * for fails. */
uint32_t weft__packet_text(struct weft__packet *p, const char *text);
int weft__packet_put(struct weft__packet *p, const struct weft_sampled *r);

struct weft__object {
    const char *path;
    uint32_t process;
    const uint8_t *build_id;
    uint8_t build_id_bytes;
};
uint32_t weft__packet_object(struct weft__packet *p, const struct weft__object *o);
int weft__packet_symbol(struct weft__packet *p, uint32_t object, uint64_t offset,
                        const struct weft_symbol_frame *frame, uint16_t frames);

/* Its bytes, or NULL if nothing was put; then it is not begun. They are there until the next call. */
const void *weft__packet_end(struct weft__packet *p, size_t *size);

#endif
