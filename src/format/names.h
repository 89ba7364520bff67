/* SPDX-License-Identifier: ISC */
/* Packets of names: what stands at places in code. A recorder that knows a function only by its address writes the
 * place as a text, "PATH+0xHEX"; weft record looks the places up when the program has ended, and appends such a
 * packet. docs/format.md describes both. Little endian. */
#pragma once

#include <stdbool.h>

#include "format/packet.h"

struct weft_names_header {
    struct weft_packet_header packet; /* class WEFT_PACKET_NAMES */
    uint32_t names;                   /* number of entries that follow, each at a multiple of 8 */
    uint32_t unused;
};

/* Then three texts, each with its NUL: the place, the function, the source file ("" if not known);
 * zeros up to a multiple of 8. */
struct weft_name_entry {
    uint32_t bytes; /* of the whole entry; a multiple of 8 */
    uint32_t line;  /* 0: not known */
};

#define WEFT_NAMES_MAX (UINT32_C(16) << 20) /* a larger packet is damaged */
#define WEFT_NAME_LONGEST 120u /* writers shorten names of functions; readers read no more */

_Static_assert(sizeof(struct weft_names_header) == 56, "docs/format.md");
_Static_assert(sizeof(struct weft_name_entry) == 8, "docs/format.md");

/* A text that begins with a place in code. */
struct weft_code {
    size_t size;      /* of the place, at the text's beginning */
    size_t base;      /* where its file's own name begins */
    size_t path_size; /* where its path ends */
    uint64_t address; /* in that file, as it was linked */
};

/* Returns true if the text begins with "PATH+0xHEX", followed by a space or nothing. */
static inline bool format_code(const char *text, size_t size, struct weft_code *c)
{
    if (size < 6 || text[0] != '/')
        return false;
    const char *space = __builtin_memchr(text, ' ', size);
    c->size = space ? (size_t)(space - text) : size;
    c->address = 0;
    size_t at = c->size;
    for (unsigned bits = 0; at > 1 && bits < 64; bits += 4, at--) {
        const unsigned digit = (unsigned char)text[at - 1];
        const bool letter = digit >= 'a' && digit <= 'f';
        if (!letter && (digit < '0' || digit > '9'))
            break;
        c->address |= (uint64_t)(letter ? digit - 'a' + 10 : digit - '0') << bits;
    }
    if (at == c->size || at < 5 || __builtin_memcmp(text + at - 3, "+0x", 3) != 0 ||
        text[at - 4] == '/')
        return false;
    c->path_size = at - 3;
    for (size_t i = 0; i < c->path_size; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    for (c->base = c->path_size; text[c->base - 1] != '/'; c->base--)
        ;
    return true;
}
