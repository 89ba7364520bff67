/* SPDX-License-Identifier: ISC */
#include "live/tables.h"

#include <string.h>

#include "analyse/names.h"
#include "base/hash.h"

/* ---- Chains ---- */

static uint32_t *chain_of(const struct live_chains *c, uint64_t hash)
{
    return &c->first[weft_mix(hash, c->seed) & (c->chains - 1)];
}

bool live_chains_reserve(struct live_chains *c, uint32_t used, live_hash_fn *hash, const void *data)
{
    if (!weft_reserve(&c->next, used, &c->room, sizeof *c->next))
        return false;
    if (c->chains && used < c->chains)
        return true;
    const uint32_t chains = c->chains ? 2 * c->chains : 64;
    uint32_t *first = weft_new_none(chains, sizeof *first);
    if (!first)
        return false;
    free(c->first);
    c->seed = c->chains ? c->seed : weft_seed();
    c->first = first;
    c->chains = chains;
    for (uint32_t i = 0; i < used; i++)
        live_chains_add(c, i, hash(data, i));
    return true;
}

void live_chains_add(struct live_chains *c, uint32_t item, uint64_t hash)
{
    uint32_t *chain = chain_of(c, hash);
    c->next[item] = *chain;
    *chain = item;
}

void live_chains_remove(struct live_chains *c, uint32_t item, uint64_t hash)
{
    uint32_t *at = chain_of(c, hash);
    while (*at != item)
        at = &c->next[*at];
    *at = c->next[item];
}

uint32_t live_chains_begin(const struct live_chains *c, uint64_t hash)
{
    return c->chains ? *chain_of(c, hash) : LIVE_NONE;
}

void live_chains_fini(struct live_chains *c)
{
    weft_free_all(c->first, c->next);
}

/* ---- Names ---- */

static uint64_t name_hash(const void *data, uint32_t item)
{
    return ((const struct live_names *)data)->name[item].hash;
}

static uint32_t add_name(struct live_names *n, const char *text, size_t size, uint64_t hash)
{
    uint32_t at = n->free;
    char *copy = strndup(text, size);
    if (!copy)
        return LIVE_UNNAMED;
    if (at != LIVE_NONE) {
        n->free = n->name[at].next_free;
    } else if (n->names < n->most && weft_reserve(&n->name, n->names, &n->room, sizeof *n->name) &&
               live_chains_reserve(&n->chains, n->names, name_hash, n)) {
        at = n->names++;
    } else {
        free(copy);
        return LIVE_UNNAMED;
    }
    n->name[at] = (struct live_name){.text = copy, .uses = 1, .hash = hash};
    live_chains_add(&n->chains, at, hash);
    return at;
}

bool live_names_init(struct live_names *n, uint32_t most)
{
    *n = (struct live_names){.most = most < 2 ? 2 : most, .free = LIVE_NONE};
    return add_name(n, "", 0, WEFT_HASH_BEGIN) == LIVE_NAMELESS && n->names == 1 &&
           add_name(n, "…", strlen("…"), 1) == LIVE_UNNAMED && n->names == 2;
}

uint32_t live_names_take(struct live_names *n, const char *text, size_t size)
{
    size = text ? strnlen(text, size < LIVE_NAME_BYTES ? size : LIVE_NAME_BYTES) : 0;
    if (size == 0)
        return LIVE_NAMELESS;
    const uint64_t hash = weft_hash(WEFT_HASH_BEGIN ^ n->chains.seed, text, size);
    for (uint32_t i = live_chains_begin(&n->chains, hash); i != LIVE_NONE; i = n->chains.next[i])
        if (n->name[i].hash == hash && !strncmp(n->name[i].text, text, size) &&
            !n->name[i].text[size]) {
            live_names_keep(n, i);
            return i;
        }
    return add_name(n, text, size, hash);
}

void live_names_keep(struct live_names *n, uint32_t name)
{
    n->name[name].uses += name > LIVE_UNNAMED;
}

void live_names_drop(struct live_names *n, uint32_t name)
{
    struct live_name *at = &n->name[name];
    if (name <= LIVE_UNNAMED || --at->uses)
        return;
    live_chains_remove(&n->chains, name, at->hash);
    free(at->text);
    *at = (struct live_name){.next_free = n->free};
    n->free = name;
}

void live_names_fini(struct live_names *n)
{
    for (uint32_t i = 0; i < n->names; i++)
        free(n->name[i].text);
    live_chains_fini(&n->chains);
    free(n->name);
}

/* ---- Promises ---- */

static uint64_t promise_hash(const void *data, uint32_t item)
{
    return ((const struct live_pending *)data)->promise[item].id;
}

struct live_promise *live_pending_find(const struct live_pending *t, uint64_t id)
{
    uint32_t at = live_chains_begin(&t->chains, id);
    while (at != LIVE_NONE && t->promise[at].id != id)
        at = t->chains.next[at];
    return at == LIVE_NONE ? NULL : &t->promise[at];
}

struct live_promise *live_pending_add(struct live_pending *t, uint64_t id)
{
    if (t->promises >= t->most ||
        !weft_reserve(&t->promise, t->promises, &t->room, sizeof *t->promise) ||
        !live_chains_reserve(&t->chains, t->promises, promise_hash, t))
        return NULL;
    struct live_promise *p = &t->promise[t->promises];
    *p = (struct live_promise){.id = id};
    live_chains_add(&t->chains, t->promises++, id);
    return p;
}

void live_pending_remove(struct live_pending *t, struct live_promise *p)
{
    const uint32_t at = (uint32_t)(p - t->promise), last = --t->promises;
    live_chains_remove(&t->chains, at, p->id);
    if (at == last)
        return;
    live_chains_remove(&t->chains, last, t->promise[last].id);
    *p = t->promise[last];
    live_chains_add(&t->chains, at, p->id);
}

void live_pending_fini(struct live_pending *t)
{
    live_chains_fini(&t->chains);
    free(t->promise);
}

/* ---- Rows ---- */

static uint64_t row_hash(const void *data, uint32_t item)
{
    const struct live_row *r = &((const struct live_table *)data)->row[item];
    return (uint64_t)r->type << 32 | r->label;
}

/* Takes over the names. */
static uint32_t add_row(struct live_table *t, uint32_t type, uint32_t label)
{
    if (t->rows >= t->most || !weft_reserve(&t->row, t->rows, &t->room, sizeof *t->row) ||
        !live_chains_reserve(&t->chains, t->rows, row_hash, t))
        return LIVE_NONE;
    t->row[t->rows] = (struct live_row){.type = type, .label = label};
    live_chains_add(&t->chains, t->rows, row_hash(t, t->rows));
    return t->rows++;
}

bool live_table_init(struct live_table *t, uint32_t most)
{
    *t = (struct live_table){.most = most ? most : 1};
    return add_row(t, LIVE_UNNAMED, LIVE_UNNAMED) == 0;
}

uint32_t live_table_row(struct live_table *t, struct live_names *n, uint32_t type, uint32_t label)
{
    char shape[ANALYSE_SHAPE_BYTES];
    const char *text = n->name[label].text;
    if (t->most == 1 || type == LIVE_UNNAMED || label == LIVE_UNNAMED)
        return 0;
    label = live_names_take(n, shape, analyse_shape(shape, text, (uint32_t)strlen(text)));
    const uint64_t hash = (uint64_t)type << 32 | label;
    uint32_t at = live_chains_begin(&t->chains, hash);
    while (at != LIVE_NONE && (t->row[at].type != type || t->row[at].label != label))
        at = t->chains.next[at];
    if (at == LIVE_NONE && (at = add_row(t, type, label)) != LIVE_NONE) {
        live_names_keep(n, type);
        return at;
    }
    live_names_drop(n, label);
    return at == LIVE_NONE ? 0 : at;
}

void live_table_fini(struct live_table *t)
{
    live_chains_fini(&t->chains);
    free(t->row);
}
