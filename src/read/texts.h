/* SPDX-License-Identifier: ISC */
/* The strings packet of a weft trace: finds texts and sites by their numbers. Places in code in them
 * are replaced by names. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/events.h"
#include "read/input.h"
#include "read/names.h"

struct site {
    struct weft_origin origin;
    const char *label; /* or NULL */
    uint32_t label_size;
    char missing[3][12]; /* "#123", for a type, label or file that is not there */
};

/* What is handed out instead of a text that begins with a place in code. */
struct told {
    const char *text;
    uint32_t size;
    bool own; /* to be freed */
};

#define SITE_BLOCK 64u

struct texts {
    unsigned char *bytes; /* the packet, including its header */
    size_t size, first;   /* the packet's size; the first place where an entry may be */
    uint32_t *slot;       /* for each 4 bytes: what is known about the entry there */
    struct site **block;  /* blocks of SITE_BLOCK sites, so that a site never moves */
    uint32_t sites, blocks_room;
    struct names names; /* filled before the first text is asked for */
    struct told *told;
    uint32_t tolds, told_room;
    bool no_memory;   /* for a name; the folder was left out */
    uint32_t longest; /* texts are cut to this many bytes */
    uint64_t cut;     /* how many texts were cut */
};

/* Reads the packet at offset, of which size bytes are there and used. Returns 0 or a negative
 * WEFT_E code. */
int texts_load(struct texts *t, const struct weft_input *in, uint64_t offset, uint64_t size,
               uint32_t header_bytes, struct weft_error *err);

void texts_fini(struct texts *t);

/* The text with that number, NUL-terminated, and its size; NULL if it is not there. */
const char *texts_get(struct texts *t, uint32_t number, uint32_t *size);

/* Writes "#123", for a text that is not there. Returns out. */
const char *texts_missing(char out[12], uint32_t number, uint32_t *size);

/* The site with that number. NULL: it is not there, or (*no_memory) there is no memory for it. */
const struct site *texts_site(struct texts *t, uint32_t number, bool *no_memory);

/* See weft_reader_codes. Returns true if there was no room for some texts, which are elsewhere. */
bool texts_codes(const struct texts *t, weft_code_fn *use, void *data);
