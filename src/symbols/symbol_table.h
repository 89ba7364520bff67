/* SPDX-License-Identifier: ISC */
/* Symbols by address: of an ELF file, of kallsyms, of /tmp/perf-PID.map. */
#ifndef WEFT_SYMBOLS_SYMBOL_TABLE_H
#define WEFT_SYMBOLS_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols_symbol {
    uint64_t start, size; /* 0: up to the next one */
    uint32_t name;        /* where it begins in names */
    uint32_t rank;        /* of those at one address the highest is taken */
};

struct symbols_symbol_table {
    struct symbols_symbol *symbol;
    char *names;
    uint32_t symbols, symbols_room;
    uint32_t names_bytes, names_room;
};

/* name: as far as a NUL, at most size bytes. false: no memory. One without a name is left out. */
bool symbols_symbol_table_add(struct symbols_symbol_table *t, uint64_t start, uint64_t size,
                              uint32_t rank, const char *name, size_t name_size);

/* Once all are added. */
void symbols_symbol_table_sort(struct symbols_symbol_table *t);

/* The one that covers the address, or NULL. */
const struct symbols_symbol *symbols_symbol_table_find(const struct symbols_symbol_table *t,
                                                       uint64_t address);

void symbols_symbol_table_free(struct symbols_symbol_table *t);

/* /proc/kallsyms, or a file like it: the kernel's functions. What cannot be read leaves the table empty, as do
 * addresses that the system hides. false: no memory. */
bool symbols_kallsyms_load(struct symbols_symbol_table *t, const char *path);

/* What a process said that it generated, /tmp/perf-PID.map, if that file can be trusted. false: no memory. */
bool symbols_perf_map_load(struct symbols_symbol_table *t, uint32_t process);

/* The same, from a file that is at hand. */
bool symbols_perf_map_read(struct symbols_symbol_table *t, int fd);

#endif
