/* SPDX-License-Identifier: ISC */
/* The packets of a file, one after the other: for formats that mark where a packet begins (weft's own, mirage's).
 *
 * Nothing in the file is believed that can be checked. A packet's size is checked by looking for the next packet where
 * it says; if none is there, the next one is found by its mark. Packets never overlap, so what is kept of them is
 * bounded by the file, and each byte is looked at a bounded number of times, whatever the sizes claim. */
#ifndef WEFT_READ_PACKETS_H
#define WEFT_READ_PACKETS_H

#include "format/packet.h"
#include "read/state.h"

/* A packet as it was found, its sizes checked against the file. */
struct read_packet {
    uint64_t offset;
    uint64_t size;    /* up to where the next packet, or the end of the file, should be */
    uint64_t says;    /* how many bytes of content it claims, with its header */
    uint64_t content; /* … and how many of them are there */
    bool cut;         /* the file, or the next packet, begins before the claimed content ends */
    size_t head_size; /* bytes of head; at least the header */
    union {
        unsigned char head[48];
        struct weft_packet_header h; /* of weft's own packets */
    };
};

/* How one finds a packet: the bytes that it begins with, CTF's magic first. */
struct read_mark {
    size_t bytes;
    bool (*is_mark)(const unsigned char *bytes); /* that many of them */
};

/* Sets *found to the next mark at or after from, or READ_NO_MARK. Reads little at first, since a hostile file has marks
 * close together. Returns 0 or a negative WEFT_E code. */
#define READ_NO_MARK UINT64_MAX
int read_find_mark(const struct weft_input *in, const struct read_mark *mark, unsigned char *window,
                   size_t window_bytes, uint64_t from, uint64_t *found, struct weft_error *err);

/* What the packets of a format look like, and what is done with them. */
struct read_packet_form {
    size_t head_bytes, header_bytes; /* read of each packet; in the header */
    struct read_mark mark;
    size_t size_at, content_at;                /* where the header says these, for messages */
    void (*read_sizes)(struct read_packet *p); /* sets size and says from the head */
    size_t zeros_max; /* how far zeros between packets are skipped at once; 0: they are no gap */

    /* Keeps a packet. Returns 0 or a negative WEFT_E code. */
    int (*add)(struct weft_reader *r, const struct read_packet *p, struct weft_error *err);

    /* The packet at that offset, just added, has no more than that many bytes: another one begins there. */
    void (*shorten)(struct weft_reader *r, uint64_t offset, uint64_t bytes);
};

struct read_packets {
    const struct read_packet_form *form;
    unsigned char *window; /* the caller's */
    size_t window_bytes;
    uint64_t skipped_at; /* offset of the last packet of which all but the header was skipped */
};

/* Hands all packets of the file to form->add. Returns 0 or a negative WEFT_E code. */
int read_packets(struct read_packets *walk, struct weft_reader *r, struct weft_error *err);

/* Reports that a packet, all but its header, is skipped; at: offset in the packet. For form->add. */
#define read_packet_skip(walk, r, p, at, ...)                                                      \
    ((walk)->skipped_at = (p)->offset,                                                             \
     read_reader_problem(r, (p)->offset + (at), (p)->size - (walk)->form->header_bytes,            \
                         __VA_ARGS__))

#endif
