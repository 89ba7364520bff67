/* SPDX-License-Identifier: ISC */
/* Symbols by address: of an ELF file, of kallsyms, or of /tmp/perf-PID.map. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols_symbol {
    uint64_t start, size; /* 0: up to the next symbol */
    uint32_t name;        /* its offset in names */
    uint32_t rank;        /* among symbols at the same address, the highest rank is used */
};

struct symbols_symbol_table {
    struct symbols_symbol *symbol;
    char *names;
    uint32_t symbols, symbols_room;
    uint32_t names_bytes, names_room;
};

/* name: up to its NUL, at most size bytes. Returns false if there is no memory. A symbol without a
 * name is ignored. */
bool symbols_symbol_table_add(struct symbols_symbol_table *t, uint64_t start, uint64_t size,
                              uint32_t rank, const char *name, size_t name_size);

/* Call it once all are added. */
void symbols_symbol_table_sort(struct symbols_symbol_table *t);

/* The symbol that covers the address, or NULL. */
const struct symbols_symbol *symbols_symbol_table_find(const struct symbols_symbol_table *t,
                                                       uint64_t address);

void symbols_symbol_table_free(struct symbols_symbol_table *t);

/* Loads the kernel's functions from /proc/kallsyms, or a file like it. If it cannot be read, or the
 * system hides the addresses, the table stays empty. Returns false if there is no memory. */
bool symbols_kallsyms_load(struct symbols_symbol_table *t, const char *path);

/* Loads what a process said about the code that it generated, /tmp/perf-PID.map, if that file can
 * be trusted. Returns false if there is no memory. */
bool symbols_perf_map_load(struct symbols_symbol_table *t, uint32_t process);
