/* SPDX-License-Identifier: ISC */
/* Turns items from the rings of OCaml's runtime (format/ocaml.h) into events. They come from the
 * runtime's file (rings.c), or from a trace into which weft record has copied them (drained.c).
 * Everything in them is checked. A ring is read item by item, by the lengths that the items state;
 * reading stops at an item that makes no sense. */
#pragma once

#include "read/eio.h"
#include "read/state.h"

/* A ring. Each belongs to a domain. */
struct read_domain {
    unsigned char *bytes; /* words, in order; owned */
    uint64_t words, at;   /* at: the next item to be decoded */
    uint64_t file_at;     /* where its words are in the file */
    uint32_t number;      /* the ring's number */
    bool gap;             /* words are missing before the next item to be decoded */
    bool used;            /* items may point into bytes */
    bool ready[2];
    bool lost[2];                 /* words are missing before this item */
    struct read_eio_item item[2]; /* the next item to be handed out, and the one after it */
    uint64_t next, last, until;   /* about further words: see drained.c */
};

struct read_ocaml_name;
struct read_ocaml_retired;

struct read_ocaml {
    struct weft_reader *reader;
    struct read_domain *ring;
    uint32_t rings, room;
    struct weft_stream_facts *facts;
    struct read_ocaml_name *name; /* the program's own events, by number */
    uint8_t *event;               /* what each of them is */
    char **text;                  /* names that came with the items; owned */
    uint32_t texts, text_room;
    struct read_eio *eio;
    bool stopped; /* the runtime has stopped */

    /* Fetches further words of the ring: replaces bytes, words, at, file_at and gap. Returns 1, 0
     * if there are none, or a negative code. NULL: there are never any. */
    int (*more)(struct read_ocaml *o, struct read_domain *d, struct weft_error *err);
    void *data;
    struct read_ocaml_retired *retired; /* buffers that events may still point into */
    uint32_t retireds, retired_room, retired_now;
    int failed;
    struct weft_error err;
};

/* Makes room for that many rings. o must be all zeros. Returns 0 or a negative code; the caller
 * calls fini in both cases. */
int read_ocaml_init(struct read_ocaml *o, struct weft_reader *reader, uint32_t rings,
                    struct weft_error *err);
void read_ocaml_fini(struct read_ocaml *o);

/* Names the event with that number. text must stay valid as long as o, and has at most size
 * bytes. */
void read_ocaml_set_name(struct read_ocaml *o, unsigned id, const char *text, size_t size);

/* Adds a ring whose number and first words are set. Returns its facts. */
struct weft_stream_facts *read_ocaml_add(struct read_ocaml *o, const struct read_domain *d);

/* Sets the reader's facts. Call it once all rings are added. Returns 0 or a negative code. */
int read_ocaml_begin(struct read_ocaml *o, struct weft_error *err);

/* Like weft_reader_next: fills the reader's batch, and counts the words that are done. */
ptrdiff_t read_ocaml_next(struct read_ocaml *o, struct weft_error *err);

/* The ring does not need its words any more, but events may still point into them. Returns false if
 * there is no memory. */
bool read_ocaml_retire(struct read_ocaml *o, struct read_domain *d);
