/* SPDX-License-Identifier: ISC */
/* Walks through the packets of a file, for formats that mark where a packet begins (weft's own and
 * mirage's).
 * Whatever in the file can be checked is checked. A packet's size is checked by looking for the
 * next packet where the size says it is. If none is there, the next one is found by its mark.
 * Packets never overlap, so what is stored about them is bounded by the file's size, and each byte
 * is read a bounded number of times, whatever the sizes claim. */
#pragma once

#include "format/packet.h"
#include "read/state.h"

/* A packet as it was found, with its sizes checked against the file. */
struct read_packet {
    uint64_t offset;
    uint64_t size;    /* up to where the next packet, or the end of the file, should be */
    uint64_t says;    /* the bytes of content that it claims, including its header */
    uint64_t content; /* … and how many of them are there */
    /* the next packet, or the end of the file, comes before the end of the claimed content */
    bool cut;
    size_t head_size; /* bytes of head; at least the header */
    union {
        unsigned char head[48];
        struct weft_packet_header h; /* of weft's own packets */
    };
};

/* How to find a packet: the bytes that it begins with, CTF's magic first. */
struct read_mark {
    size_t bytes;
    bool (*is_mark)(const unsigned char *bytes); /* bytes: as many as the mark has */
};

/* Sets *found to the next mark at or after from, and copies it as it was read to copy, which may be
 * NULL; or sets *found to READ_NO_MARK. Reads small pieces at first, since a hostile file may have
 * marks close together. Returns 0 or a negative WEFT_E code. */
#define READ_NO_MARK UINT64_MAX
int read_find_mark(const struct weft_input *in, const struct read_mark *mark, uint64_t from,
                   uint64_t *found, void *copy, struct weft_error *err);

/* What the packets of a format look like, and what to do with them. */
struct read_packet_form {
    size_t head_bytes, header_bytes; /* bytes read of each packet; bytes of the header */
    struct read_mark mark;
    size_t size_at, content_at;                /* where in the header these are, for messages */
    void (*read_sizes)(struct read_packet *p); /* sets size and says, using the head */
    /* how many zeros between packets are skipped at once; 0: they are not a gap */
    size_t zeros_max;

    /* Stores a packet. Returns 0 or a negative WEFT_E code. */
    int (*add)(struct weft_reader *r, const struct read_packet *p, struct weft_error *err);
};

/* Appends a copy of what is stored about the packet at that offset. Returns 0 or WEFT_E_NOMEM. */
int read_packets_append(void *array, uint64_t *count, uint32_t *room, size_t bytes,
                        const void *item, uint64_t offset, struct weft_error *err);

/* Calls form->add for each packet of the file. window has form->zeros_max bytes, at least 1 KiB, if
 * that is not 0. Returns 0 or a negative WEFT_E code. */
int read_packets(struct weft_reader *r, const struct read_packet_form *form, unsigned char *window,
                 struct weft_error *err);
