/* SPDX-License-Identifier: ISC */
/* An entry is checked when it is first asked for. Then all its bytes are claimed: entries do not
 * overlap, so all texts together are no longer than the file, whatever numbers its events have. A
 * text longer than any recorder makes is cut, since a thousand events may share it. */
#include "read/texts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "format/bytes.h"
#include "format/packet.h"
#include "format/utf8.h"

/* What a slot may contain. For a site: its index plus SLOT_SITES. */
enum { SLOT_FREE, SLOT_TAKEN, SLOT_TEXT, SLOT_SITES };

#define HEAD 4u
#define DEFAULT_TYPE "promise"

int texts_load(struct texts *t, const struct weft_input *in, uint64_t offset, uint64_t size,
               uint32_t header_bytes, struct weft_error *err)
{
    if (size > (uint64_t)UINT32_MAX * 4) /* beyond what a number can refer to */
        size = (uint64_t)UINT32_MAX * 4;
    t->bytes = malloc(size);
    t->slot = calloc(size / 4 + 1, sizeof *t->slot);
    if (!t->bytes || !t->slot)
        return weft_error_set(err, WEFT_E_NOMEM, offset, "out of memory for its texts");
    ptrdiff_t got = weft_input_read(in, t->bytes, size, offset, err);
    if (got < 0)
        return (int)got;
    t->size = (size_t)got;
    t->first = header_bytes;
    t->longest = WEFT_TEXT_LONGEST;
    return 0;
}

void texts_fini(struct texts *t)
{
    for (uint32_t i = 0; i < t->sites; i += SITE_BLOCK)
        free(t->block[i / SITE_BLOCK]);
    weft_free_all(t->block, t->slot, t->bytes);
}

/* Claims the bytes of an entry. Returns false if another entry has some of them. Each byte is
 * claimed at most once, even by attempts that fail. */
static bool claim_bytes(struct texts *t, size_t at, size_t size)
{
    for (size_t i = at / 4, end = (at + size + 3) / 4; i < end; i++) {
        if (t->slot[i] != SLOT_FREE)
            return false;
        t->slot[i] = SLOT_TAKEN;
    }
    return true;
}

/* The entry with that number if it is valid, and its body's size. */
static const unsigned char *find_entry(struct texts *t, uint32_t number, uint32_t kind,
                                       uint32_t *size)
{
    uint64_t wide = (uint64_t)number * 4;
    if (wide < t->first || wide + HEAD > t->size || t->slot[number] == SLOT_TAKEN)
        return NULL;
    size_t at = (size_t)wide;
    uint32_t head = weft_read_u32(t->bytes + at);
    *size = head & 0xffffff;
    if (head >> 24 != kind || *size > t->size - at - HEAD)
        return NULL;
    return t->bytes + at + HEAD;
}

const char *texts_get(struct texts *t, uint32_t number, uint32_t *size)
{
    const unsigned char *body = find_entry(t, number, WEFT_STRING_TEXT, size);
    if (!body)
        return NULL;
    if (t->slot[number] == SLOT_TEXT)
        return (const char *)body;
    size_t at = (size_t)number * 4;
    if (t->slot[number] != SLOT_FREE || *size == t->size - at - HEAD || body[*size] != 0 ||
        !claim_bytes(t, at, HEAD + (size_t)*size + 1) || memchr(body, 0, *size))
        return NULL;
    t->slot[number] = SLOT_TEXT;
    if (*size > t->longest) {
        unsigned char *text = t->bytes + at + HEAD;
        *size = (uint32_t)weft_text_keep((const char *)text, *size, t->longest);
        text[*size] = 0;
        t->cut++;
        weft_write_u32(text - HEAD, WEFT_STRING_TEXT << 24 | *size);
    }
    return (const char *)body;
}

const char *texts_missing(char out[12], uint32_t number, uint32_t *size)
{
    *size = (uint32_t)snprintf(out, 12, "#%u", number);
    return out;
}

/* A text of a site; if it is not there, its number. */
static const char *site_text(struct texts *t, uint32_t number, char missing[12], uint32_t *size)
{
    const char *text = texts_get(t, number, size);
    return text ? text : texts_missing(missing, number, size);
}

static struct site *new_site(struct texts *t)
{
    if (t->sites % SITE_BLOCK == 0) {
        if (!weft_reserve(&t->block, t->sites / SITE_BLOCK, &t->blocks_room, sizeof(struct site *)))
            return NULL;
        t->block[t->sites / SITE_BLOCK] = malloc(SITE_BLOCK * sizeof(struct site));
        if (!t->block[t->sites / SITE_BLOCK])
            return NULL;
    }
    struct site *s = &t->block[t->sites / SITE_BLOCK][t->sites % SITE_BLOCK];
    *s = (struct site){.origin.number = ++t->sites};
    return s;
}

const struct site *texts_site(struct texts *t, uint32_t number, bool *no_memory)
{
    uint32_t size;
    const unsigned char *body = find_entry(t, number, WEFT_STRING_SITE, &size);
    if (!body)
        return NULL;
    uint32_t known = t->slot[number];
    if (known >= SLOT_SITES) {
        uint32_t i = known - SLOT_SITES;
        return &t->block[i / SITE_BLOCK][i % SITE_BLOCK];
    }
    if (known != SLOT_FREE || size < sizeof(struct weft_site_entry) ||
        !claim_bytes(t, (size_t)number * 4, HEAD + (size_t)size))
        return NULL;
    struct site *s = new_site(t);
    if (!s) {
        *no_memory = true;
        return NULL;
    }
    t->slot[number] = s->origin.number - 1 + SLOT_SITES;
    uint32_t type = weft_read_u32(body), label = weft_read_u32(body + 4);
    uint32_t file = weft_read_u32(body + 8), unused;
    s->origin.line = weft_read_u32(body + 12);
    s->origin.type = type ? site_text(t, type, s->missing[0], &unused) : DEFAULT_TYPE;
    if (!*s->origin.type)
        s->origin.type = DEFAULT_TYPE;
    if (label)
        s->label = site_text(t, label, s->missing[1], &s->label_size);
    if (file)
        s->origin.file = site_text(t, file, s->missing[2], &unused);
    return s;
}
