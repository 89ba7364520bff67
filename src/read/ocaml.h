/* SPDX-License-Identifier: ISC */
/* Items of the rings of OCaml's runtime (format/ocaml.h) as events: from the runtime's file (rings.c), or as weft record has put
 * them into a trace (drained.c). Everything in them is checked: a ring is read in steps of what its items say, and given up where one
 * says nonsense. */
#ifndef WEFT_READ_OCAML_H
#define WEFT_READ_OCAML_H

#include "read/eio.h"
#include "read/state.h"

/* A ring, which belongs to a domain. */
struct read_domain {
    unsigned char *bytes; /* words, in order; owned */
    uint64_t words, at;   /* at: of the next item to be decoded */
    uint64_t file_at;     /* where its words stand in the file */
    uint32_t number;      /* of the ring */
    bool gap;             /* words are missing before the next item to be decoded */
    bool used;            /* items may point into bytes */
    bool ready[2];
    bool lost[2];                 /* words are missing before it */
    struct read_eio_item item[2]; /* the first one that has not been told, and the one after it */
    uint64_t next, last, until;   /* of what has further words: see drained.c */
};

struct read_ocaml_name;
struct read_ocaml_retired;

struct read_ocaml {
    struct weft_reader *reader;
    struct read_domain *ring;
    uint32_t rings, room;
    struct weft_stream_facts *facts;
    struct read_ocaml_name *name; /* of the program's own events, by their number */
    uint8_t *event;               /* of each: what it is */
    char **text;                  /* names that came with the items */
    uint32_t texts, text_room;
    struct read_eio *eio;
    uint64_t words, done;
    bool stopped; /* the runtime has */

    /* Further words of the ring: sets bytes, words, at and file_at anew, and gap. 1, 0: there are none, or a negative code.
     * NULL: there never are. */
    int (*more)(struct read_ocaml *o, struct read_domain *d, struct weft_error *err);
    void *data;
    struct read_ocaml_retired *retired; /* words that events may still point into */
    uint32_t retireds, retired_room, retired_now;
    int failed;
    struct weft_error err;
};

/* Room for so many rings; o is zeros. 0 or a negative code; in both cases the caller calls fini. */
int read_ocaml_init(struct read_ocaml *o, struct weft_reader *reader, uint32_t rings,
                    struct weft_error *err);
void read_ocaml_fini(struct read_ocaml *o);

/* Names the event with that number; text lasts as long as o, and has at most size bytes. */
void read_ocaml_set_name(struct read_ocaml *o, unsigned id, const char *text, size_t size);

/* Takes in a ring whose number and first words are set. Returns its facts. */
struct weft_stream_facts *read_ocaml_add(struct read_ocaml *o, const struct read_domain *d);

/* Sets the reader's facts, when all rings are there. 0 or a negative code. */
int read_ocaml_begin(struct read_ocaml *o, struct weft_error *err);

/* As weft_reader_next: fills the reader's batch. */
ptrdiff_t read_ocaml_next(struct read_ocaml *o, struct weft_error *err);

/* The ring's words have been told of as far as is needed, but events may point into them. False: no memory. */
bool read_ocaml_retire(struct read_ocaml *o, struct read_domain *d);

double read_ocaml_progress(const struct read_ocaml *o);

#endif
