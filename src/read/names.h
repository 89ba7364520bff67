/* SPDX-License-Identifier: ISC */
/* The names of places in code, from the packets of class 10 (format/names.h); and the texts that
 * begin with such places, with the names instead. */
#pragma once

#include "base/table.h"
#include "format/names.h"
#include "read/state.h"

struct name {
    const char *place;           /* as the texts have it; not NUL-terminated */
    const char *function, *file; /* NULL: not known; file is NUL-terminated, function is not */
    uint32_t place_size, function_size, line;
};

struct names {
    struct name *name; /* each place once */
    uint32_t names, room;
    struct weft_table by;   /* place */
    uint64_t seed;          /* chosen with the first packet */
    unsigned char **packet; /* the names point into them */
    uint32_t packets, packets_room;
    weft_code_fn *use; /* called for each place without a name that is to be replaced; or NULL */
    void *data;
};

/* Reads a packet, which holds that many bytes with its header. Entries that are damaged count as a
 * problem of r; those before them are kept. Returns 0 or a negative WEFT_E code. */
int read_names_add(struct names *n, struct weft_reader *r, uint64_t offset, uint64_t content,
                   uint32_t header_bytes, struct weft_error *err);

void read_names_fini(struct names *n);

/* The name of that place, of size bytes; NULL: there is none. */
const struct name *read_names_find(const struct names *n, const char *place, size_t size);

/* What to show instead of a text that begins with a place in code: the same with the function's
 * name, or without the folder. *text becomes a part of itself up to its end, or is allocated: then
 * *own is true, and the caller frees it; it has a NUL. Other texts stay as they are. Returns false if
 * there is no memory; then the folder is left out. */
bool read_names_replace(const struct names *n, const char **text, uint32_t *size, bool *own);
