/* SPDX-License-Identifier: ISC */
/* The tables of what a process does now: names, pending promises, rows. Internal. All are bounded, and what is in them
 * is found by chains that are hashed with a seed, since everything in them comes from a trace. */
#pragma once

#include "base/array.h"
#include "live/live.h"

/* Chains of items, which stand in an array of the caller. */
struct live_chains {
    uint32_t *first; /* of each chain; LIVE_NONE: it is empty */
    uint32_t *next;  /* of each item */
    uint32_t chains, room;
    uint64_t seed;
};

/* Makes room for an item at that place, with what is in the chains already; hash: of each of the `used` items. Returns
 * false if there is no memory. */
typedef uint64_t live_hash_fn(const void *data, uint32_t item);
bool live_chains_reserve(struct live_chains *c, uint32_t used, live_hash_fn *hash,
                         const void *data);
void live_chains_add(struct live_chains *c, uint32_t item, uint64_t hash);
void live_chains_remove(struct live_chains *c, uint32_t item, uint64_t hash);
uint32_t live_chains_begin(const struct live_chains *c, uint64_t hash);
void live_chains_fini(struct live_chains *c);

/* ---- Names ---- */

#define LIVE_NAMELESS 0u /* "" */
#define LIVE_UNNAMED 1u  /* "…": there was no room for the name */

struct live_name {
    char *text; /* NULL: this place is free */
    uint32_t uses;
    uint32_t next_free;
    uint64_t hash;
};

struct live_names {
    struct live_name *name;
    uint32_t names, room, most;
    uint32_t free; /* the first free place; LIVE_NONE: there is none */
    struct live_chains chains;
};

/* Returns false if there is no memory. */
bool live_names_init(struct live_names *n, uint32_t most);
/* The name's number, for one more user; LIVE_UNNAMED if there is no room. */
uint32_t live_names_take(struct live_names *n, const char *text, size_t size);
void live_names_keep(struct live_names *n, uint32_t name); /* one more user */
void live_names_drop(struct live_names *n, uint32_t name); /* one less */
void live_names_fini(struct live_names *n);

/* ---- Promises ---- */

struct live_pending {
    struct live_promise *promise;
    uint32_t promises, room;
    uint64_t most;
    struct live_chains chains;
};

struct live_promise *live_pending_find(const struct live_pending *t, uint64_t id);
/* A new one, all zero but the number. NULL: there is no room. Moves the others. */
struct live_promise *live_pending_add(struct live_pending *t, uint64_t id);
/* Moves the last one to its place. */
void live_pending_remove(struct live_pending *t, struct live_promise *p);
void live_pending_fini(struct live_pending *t);

/* ---- Rows ---- */

struct live_table {
    struct live_row *row;
    uint32_t rows, room, most;
    struct live_chains chains;
};

/* Returns false if there is no memory. */
bool live_table_init(struct live_table *t, uint32_t most);
/* The row of promises with that type and label; 0 if there is no room for one more. */
uint32_t live_table_row(struct live_table *t, struct live_names *n, uint32_t type, uint32_t label);
void live_table_fini(struct live_table *t);
