/* SPDX-License-Identifier: ISC */
/* A hash table of the caller's entries, found by their key. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table {
    size_t (*hash)(const void *entry); /* of the key */
    bool (*same)(const void *entry, const void *wanted);
    void **at; /* open addressing; NULL: a hole */
    size_t room, used;
};

/* wanted: an entry with only its key set. NULL: there is none. */
void *table_find(const struct table *t, const void *wanted);

/* The entry must not be in the table yet. False: there is no memory. */
bool table_insert(struct table *t, void *entry);

/* The entry must be in the table. */
void table_remove(struct table *t, const void *entry);

/* A hash of addresses and a small number. */
static inline size_t table_mix(const void *a, const void *b, uintptr_t c)
{
    uint64_t h = ((uintptr_t)a >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ (uintptr_t)b >> 4) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ c) * UINT64_C(0x94d049bb133111eb);
    return (size_t)(h >> 24);
}
