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

/* What a slot may contain. SLOT_RAW: a valid text; SLOT_TEXT: … that is handed out as it is. For a
 * text that is replaced: its index plus SLOT_TOLD; for a site: its index plus SLOT_SITES. (An entry
 * takes at least 8 bytes, so there are not so many.) */
enum { SLOT_FREE, SLOT_TAKEN, SLOT_RAW, SLOT_TEXT, SLOT_SITES };
#define SLOT_TOLD (UINT32_C(1) << 31)

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
    for (uint32_t i = 0; i < t->tolds; i++)
        if (t->told[i].own)
            free((char *)(uintptr_t)t->told[i].text);
    read_names_fini(&t->names);
    weft_free_all(t->block, t->slot, t->bytes, t->told);
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

/* The text with that number, as it is in the file. */
static const char *find_text(struct texts *t, uint32_t number, uint32_t *size)
{
    const unsigned char *body = find_entry(t, number, WEFT_STRING_TEXT, size);
    if (!body || t->slot[number] >= SLOT_RAW)
        return (const char *)body;
    size_t at = (size_t)number * 4;
    if (t->slot[number] != SLOT_FREE || *size == t->size - at - HEAD || body[*size] != 0 ||
        !claim_bytes(t, at, HEAD + (size_t)*size + 1) || memchr(body, 0, *size))
        return NULL;
    t->slot[number] = SLOT_RAW;
    return (const char *)body;
}

/* Cuts a text that belongs to the table. */
static void cut(struct texts *t, const char *text, uint32_t *size)
{
    if (*size <= t->longest)
        return;
    *size = (uint32_t)weft_text_keep(text, *size, t->longest);
    ((char *)(uintptr_t)text)[*size] = 0;
    t->cut++;
}

const char *texts_get(struct texts *t, uint32_t number, uint32_t *size)
{
    const char *raw = find_text(t, number, size), *text = raw;
    if (!raw || t->slot[number] == SLOT_TEXT)
        return raw;
    if (t->slot[number] >= SLOT_TOLD) {
        const struct told *told = &t->told[t->slot[number] - SLOT_TOLD];
        *size = told->size;
        return told->text;
    }
    bool own = false;
    t->no_memory |= !read_names_replace(&t->names, &text, size, &own);
    cut(t, text, size);
    if (text == raw) {
        t->slot[number] = SLOT_TEXT;
        weft_write_u32(t->bytes + (size_t)number * 4, WEFT_STRING_TEXT << 24 | *size);
    } else if (weft_reserve(&t->told, t->tolds, &t->told_room, sizeof *t->told)) {
        t->slot[number] = SLOT_TOLD + t->tolds;
        t->told[t->tolds++] = (struct told){text, *size, own};
    } else {
        if (own)
            free((char *)(uintptr_t)text);
        t->no_memory = true;
        return NULL;
    }
    return text;
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

/* The file of a site, and perhaps the line: if it is a place in code, what is known about that. */
static void set_file(struct texts *t, struct site *s, uint32_t number)
{
    uint32_t size;
    struct weft_code code;
    const char *text = find_text(t, number, &size);
    if (!text || !format_code(text, size, &code) || code.size != size) {
        s->origin.file = site_text(t, number, s->missing[2], &size);
        return;
    }
    const struct name *name = read_names_find(&t->names, text, size);
    if (name && name->file) {
        size = (uint32_t)strlen(name->file);
        s->origin.file = name->file;
        s->origin.line = name->line;
        cut(t, name->file, &size);
    } else if (size - code.base <= t->longest) {
        s->origin.file = text + code.base;
    } else {
        s->origin.file = site_text(t, number, s->missing[2], &size);
    }
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
        set_file(t, s, file);
    return s;
}

bool texts_codes(const struct texts *t, weft_code_fn *use, void *data)
{
    for (uint64_t at = t->first; at + HEAD <= t->size;) {
        const uint32_t head = weft_read_u32(t->bytes + at), size = head & 0xffffff;
        const char *text = (const char *)t->bytes + at + HEAD;
        struct weft_code code;
        if (!head || size >= t->size - at - HEAD)
            break;
        if (head >> 24 == WEFT_STRING_TEXT && format_code(text, size, &code) &&
            !read_names_find(&t->names, text, code.size))
            use(data, text, code.size);
        at += HEAD + (size + 1 + 3) / 4 * 4;
    }
    const size_t lost = offsetof(struct weft_strings_header, lost);
    return t->size >= lost + 8 && weft_read_u64(t->bytes + lost) > 0;
}
