/* SPDX-License-Identifier: ISC */
/* The memory and the files of the process that is looked at. What cannot be read is missing; nothing waits for a
 * process that does not answer (sample/distant.h). */
#pragma once

#include <stddef.h>

#include "now/now.h"
#include "read/elf_core.h"
#include "sample/distant.h"

struct now_mapping {
    uint64_t start, end, offset; /* addresses; the offset in the file */
    bool readable, writable, executable;
    char *path; /* as the process sees it; "" if it has none */
};

struct now_process {
    const struct weft_core *core; /* what a process left; NULL: it is alive */
    pid_t pid;                    /* of a core: 0, which no folder of /proc has */
    pid_t
        thread; /* one that is alive: if the first thread has ended, /proc/PID/mem, fd … are empty */
    struct symbols_worker memory;
    struct now_mapping *mapping; /* sorted by start */
    uint32_t mappings, mappings_room;
    bool
        no_files; /* the files that it maps must not be opened here: a file system does not answer (look threads) */
};

/* Returns 0 or a negative WEFT_E code, with the reason as in now_open. now_process_close in either case. */
int now_process_open(struct now_process *p, pid_t pid, struct weft_error *err);
/* The same for a core, which must stay open. */
int now_process_open_core(struct now_process *p, const struct weft_core *core,
                          struct weft_error *err);
void now_process_close(struct now_process *p);

/* Reads exactly that many bytes. False: it cannot; then `to` is zeroed. */
bool now_read(struct now_process *p, uint64_t at, void *to, size_t bytes);

/* The mapping that an address is in; NULL: none. */
const struct now_mapping *now_mapping_at(const struct now_process *p, uint64_t address);

/* The addresses in the process of global symbols (functions or variables) of an object that is mapped, whose file name
 * begins with `object` ("": the program itself and all libraries). All are of the first such object that has symbol[0];
 * 0: it does not have this one, or there is no such object. The file is the one that is mapped, also if the process has
 * another root directory or the file was replaced since; a child process reads it (symbols/worker.h). */
void now_symbol_addresses(struct now_process *p, const char *object, const char *const *symbol,
                          uint32_t count, uint64_t *address);
