/* SPDX-License-Identifier: ISC */
/* Items of the rings of OCaml's runtime (format/ocaml.h) as events: from the runtime's file (rings.c), or as weft record has put
 * them into a trace (drained.c). Everything in them is checked: a ring is read in steps of what its items say, and given up where one
 * says nonsense. */
#ifndef WEFT_READ_OCAML_H
#define WEFT_READ_OCAML_H

#include "read/eio.h"
#include "read/state.h"

/* A ring, which belongs to a domain. */
struct weft__domain {
    unsigned char *bytes; /* words, in order; owned */
    uint64_t words, at;   /* at: of the next item to be decoded */
    uint64_t file_at;     /* where its words stand in the file */
    uint32_t number;      /* of the ring */
    bool gap;             /* words are missing before the next item to be decoded */
    bool used;            /* items may point into bytes */
    bool ready[2];
    bool lost[2];                  /* words are missing before it */
    struct weft__eio_item item[2]; /* the first one that has not been told, and the one after it */
    uint64_t next, last, until;    /* of what has further words: see drained.c */
};

struct weft__ocaml_name;
struct weft__ocaml_retired;

struct weft__ocaml {
    struct weft_reader *reader;
    struct weft__domain *ring;
    uint32_t rings, room;
    struct weft_stream_facts *facts;
    struct weft__ocaml_name *name; /* of the program's own events, by their number */
    uint8_t *event;                /* of each: what it is */
    char **text;                   /* names that came with the items */
    uint32_t texts, text_room;
    struct weft__eio *eio;
    uint64_t words, done;
    bool stopped; /* the runtime has */

    /* Further words of the ring: sets bytes, words, at and file_at anew, and gap. 1, 0: there are none, or a negative code.
     * NULL: there never are. */
    int (*more)(struct weft__ocaml *o, struct weft__domain *d, struct weft_error *err);
    void *data;
    struct weft__ocaml_retired *retired; /* words that events may still point into */
    uint32_t retireds, retired_room, retired_now;
    int failed;
    struct weft_error err;
};

/* Room for so many rings; o is zeros. 0 or a negative code; in both cases the caller calls fini. */
int weft__ocaml_init(struct weft__ocaml *o, struct weft_reader *reader, uint32_t rings,
                     struct weft_error *err);
void weft__ocaml_fini(struct weft__ocaml *o);

/* Names the event with that number; text lasts as long as o, and has at most size bytes. */
void weft__ocaml_set_name(struct weft__ocaml *o, unsigned id, const char *text, size_t size);

/* Takes in a ring whose number and first words are set. Returns its facts. */
struct weft_stream_facts *weft__ocaml_add(struct weft__ocaml *o, const struct weft__domain *d);

/* Sets the reader's facts, when all rings are there. 0 or a negative code. */
int weft__ocaml_begin(struct weft__ocaml *o, struct weft_error *err);

/* As weft_reader_next: fills the reader's batch. */
ptrdiff_t weft__ocaml_next(struct weft__ocaml *o, struct weft_error *err);

/* The ring's words have been told of as far as is needed, but events may point into them. False: no memory. */
bool weft__ocaml_retire(struct weft__ocaml *o, struct weft__domain *d);

double weft__ocaml_progress(const struct weft__ocaml *o);

#endif
