/* SPDX-License-Identifier: ISC */
#include "read/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/utf8.h"
#include "format/walk.h"

enum { HEADER = sizeof(struct weft_names_header), ENTRY = sizeof(struct weft_name_entry) };

#define LONG(n) ((unsigned long long)(n))

static uint64_t hash_of(const void *array, uint32_t item, uint64_t seed)
{
    const struct name *name = (const struct name *)array + item;
    return weft_table_hash(name->place, name->place_size, seed);
}

static bool same(const void *array, uint32_t item, const void *key)
{
    const struct name *x = (const struct name *)array + item, *y = key;
    return x->place_size == y->place_size && memcmp(x->place, y->place, x->place_size) == 0;
}

static bool put(struct names *n, const struct name *name)
{
    const uint32_t at = weft_table_put(&n->by, &n->name, &n->names, &n->room, sizeof *name, hash_of,
                                       same, name, n->seed);
    if (at == UINT32_MAX)
        return false;
    if (!n->name[at].function && !n->name[at].file)
        n->name[at] = *name;
    return true;
}

/* The next text of an entry, up to its end; moves *at behind it. NULL: it is cut off. */
static const char *next_text(const unsigned char **at, const unsigned char *end, size_t *size)
{
    const char *text = (const char *)*at;
    const unsigned char *nul = memchr(*at, 0, (size_t)(end - *at));
    if (!nul)
        return NULL;
    *size = (size_t)(nul - *at);
    *at = nul + 1;
    return text;
}

/* Returns true if the entry, which lies within end, is one. */
static bool parse(struct name *name, const unsigned char *entry, const unsigned char *end)
{
    const unsigned char *at = entry + ENTRY;
    size_t size[3];
    const char *text[3];
    struct weft_code code;
    for (unsigned i = 0; i < 3; i++)
        if (!(text[i] = next_text(&at, end, &size[i])))
            return false;
    if (!format_code(text[0], size[0], &code) || code.size != size[0])
        return false;
    *name = (struct name){
        .place = text[0],
        .place_size = (uint32_t)size[0],
        .function = size[1] ? text[1] : NULL,
        .function_size = (uint32_t)weft_text_keep(text[1], size[1], WEFT_NAME_LONGEST),
        .file = size[2] ? text[2] : NULL,
        .line = format_u32(entry + 4),
    };
    return true;
}

/* The packet's content is in memory, after its header. */
static bool add_entries(struct names *n, struct weft_reader *r, const unsigned char *bytes,
                        size_t size, uint64_t offset, uint32_t says)
{
    uint32_t found = 0;
    size_t at = 0;
    struct name name;
    for (; found < says && size - at >= ENTRY; found++) {
        const uint32_t whole = format_u32(bytes + at);
        if (whole < ENTRY || whole % 8 || whole > size - at ||
            !parse(&name, bytes + at, bytes + at + whole)) {
            read_reader_problem(r, offset + at, size - at,
                                "entry %u of a packet of names, of %u bytes, is damaged", found,
                                whole);
            return true;
        }
        if (!put(n, &name))
            return false;
        at += whole;
    }
    if (found < says)
        read_reader_problem(r, offset + at, size - at,
                            "packet says it has %u names, but there are %u", says, found);
    return true;
}

int read_names_add(struct names *n, struct weft_reader *r, uint64_t offset, uint64_t content,
                   uint32_t header_bytes, struct weft_error *err)
{
    struct weft_names_header h = {.names = 0};
    const size_t size = (size_t)(content - header_bytes);
    if (!n->packets)
        n->seed = weft_seed();
    if (!weft_reserve(&n->packet, n->packets, &n->packets_room, sizeof *n->packet) ||
        !(n->packet[n->packets] = malloc(size + 1)))
        return weft_error_set(err, WEFT_E_NOMEM, offset, "out of memory for a packet of names");
    unsigned char *bytes = n->packet[n->packets++];
    ptrdiff_t got = weft_input_read(&r->input, &h, sizeof h, offset, err);
    if (got == (ptrdiff_t)sizeof h)
        got = weft_input_read(&r->input, bytes, size, offset + header_bytes, err);
    if (got < 0)
        return (int)got;
    if (!add_entries(n, r, bytes, (size_t)got < size ? (size_t)got : size, offset + header_bytes,
                     h.names))
        return weft_error_set(err, WEFT_E_NOMEM, offset, "out of memory for names");
    return 0;
}

void read_names_fini(struct names *n)
{
    for (uint32_t i = 0; i < n->packets; i++)
        free(n->packet[i]);
    weft_free_all(n->packet, n->name);
    weft_table_drop(&n->by);
}

const struct name *read_names_find(const struct names *n, const char *place, size_t size)
{
    const struct name key = {.place = place, .place_size = (uint32_t)size};
    if (!n->names)
        return NULL;
    const uint32_t at = *weft_table_find(&n->by, hash_of(&key, 0, n->seed), same, n->name, &key);
    return at ? &n->name[at - 1] : NULL;
}

bool read_names_replace(const struct names *n, const char **text, uint32_t *size, bool *own)
{
    struct weft_code code;
    *own = false;
    if (!format_code(*text, *size, &code))
        return true;
    const struct name *name = read_names_find(n, *text, code.size);
    if (!name && n->use)
        n->use(n->data, *text, code.size);
    const char *rest = *text + code.size;
    const uint32_t rest_size = *size - (uint32_t)code.size;
    *text += code.base;
    *size -= (uint32_t)code.base;
    if (!name || !name->function)
        return true;
    const uint32_t all = name->function_size + rest_size;
    char *joined = malloc((size_t)all + 1);
    if (!joined)
        return false;
    memcpy(joined, name->function, name->function_size);
    memcpy(joined + name->function_size, rest, rest_size);
    joined[all] = '\0';
    *text = joined;
    *size = all;
    return *own = true;
}
