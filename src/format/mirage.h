/* SPDX-License-Identifier: ISC */
/* The packets of a mirage-profile trace (CTF 1.8, little endian): a header of 30 bytes, then events. Sources:
 * mirage-profile's metadata file and its mProf.ml. */
#pragma once

#include <stdint.h>

#include "format/bytes.h"

#define WEFT_CTF_MAGIC 0xC1FC1FC1u
#define WEFT_UUID_SIZE 16u
#define WEFT_MIRAGE_UUID "\x05\x88\x3b\x8d\x52\x1a\x48\x7b\xb3\x97\x45\x6a\xb1\x50\x68\x0c"
#define WEFT_MIRAGE_HEADER_SIZE 30u

/* Magic and UUID as bytes in the file, to search for packets. */
#define WEFT_MIRAGE_MARK "\xc1\x1f\xfc\xc1" WEFT_MIRAGE_UUID
#define WEFT_MIRAGE_MARK_SIZE 20u

struct weft_mirage_header {
    uint32_t packet_bits;  /* with this header and the unused tail */
    uint32_t content_bits; /* with this header */
    uint16_t sequence;     /* counts packets, modulo 2^16 */
};

static inline struct weft_mirage_header weft_mirage_header_read(const unsigned char *bytes)
{
    return (struct weft_mirage_header){
        .packet_bits = weft_read_u32(bytes + 20),
        .sequence = weft_read_u16(bytes + 24),
        .content_bits = weft_read_u32(bytes + 26),
    };
}

static inline void weft_mirage_header_write(unsigned char *bytes, struct weft_mirage_header h)
{
    memcpy(bytes, WEFT_MIRAGE_MARK, WEFT_MIRAGE_MARK_SIZE);
    weft_write_u32(bytes + 20, h.packet_bits);
    weft_write_u16(bytes + 24, h.sequence);
    weft_write_u32(bytes + 26, h.content_bits);
}
