/* SPDX-License-Identifier: ISC */
/* What a core file says about the process that left it: its threads with their registers, the signal that it ended by,
 * its memory, and the files that it had mapped. Only cores of this machine's kind (byte order, word size, processor).
 *
 *     struct weft_core *core;
 *     if (weft_core_open(&core, fd) == 1)
 *         … weft_core_read(core, core->thread[0].sp, stack, sizeof stack) …
 *     weft_core_close(core);
 *
 * Anybody may have written the file, and it may have been cut off: what is not there is missing. Memory is bounded by
 * the limits below. Once it is open, any number of threads may use it. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WEFT_CORE_PARTS_MAX = 1 << 17,
    WEFT_CORE_FILES_MAX = 1 << 16,
    WEFT_CORE_THREADS_MAX = 1 << 14,
    WEFT_CORE_REGS_MAX = 34,
};

struct weft_core_thread {
    uint32_t number; /* as the process itself sees it */
    int32_t signal;  /* 0: none */
    bool has_info;
    siginfo_t info;                   /* if has_info */
    uint64_t reg[WEFT_CORE_REGS_MAX]; /* as in struct user_regs_struct, from the first on */
    uint32_t regs;
    uint64_t sp, pc;
    int64_t call;    /* the number of the system call in which it waits; -1: none */
    uint64_t arg[6]; /* … its arguments, as far as the machine keeps them */
};

/* A piece of memory. Of its `size` bytes only the first `bytes` are in the file, from `at` on. */
struct weft_core_part {
    uint64_t start, size, at, bytes;
    bool readable, writable, executable;
};

/* A file was mapped there. */
struct weft_core_file {
    uint64_t start, end, offset; /* addresses; the offset in the file */
    const char *path; /* as the kernel wrote it: "/memfd:name (deleted)", "/x (deleted)" */
};

struct weft_core {
    int fd;
    uint64_t size;                   /* of the file */
    int64_t written_ns;              /* when it was last changed, since 1970 */
    bool cut;                        /* it ends too early */
    uint32_t process;                /* as it sees itself; 0: not known */
    char program[32];                /* NUL-terminated, as it is: any bytes */
    char arguments[96];              /* … the first of them */
    struct weft_core_thread *thread; /* the one that received the signal comes first */
    uint32_t threads, threads_room;
    struct weft_core_part *part; /* sorted by start, without overlaps */
    uint32_t parts, parts_room;
    struct weft_core_file *file; /* sorted by start */
    uint32_t files;
    char *paths;
    uint64_t vdso,
        stack_top; /* addresses in its vdso and in the stack of its first thread; 0: not known */
};

/* fd: a regular file; a copy of it is kept. Returns 1; 0 if it is no core, or of another kind of machine; or
 * WEFT_E_NOMEM. *core is NULL unless it is 1. */
int weft_core_open(struct weft_core **core, int fd);
void weft_core_close(struct weft_core *core); /* NULL is allowed */

/* Reads up to `bytes` bytes of its memory. Returns how many there are from that address on. */
size_t weft_core_read(const struct weft_core *core, uint64_t address, void *to, size_t bytes);

/* What an address is in; NULL: nothing. */
const struct weft_core_part *weft_core_part_at(const struct weft_core *core, uint64_t address);
const struct weft_core_file *weft_core_file_at(const struct weft_core *core, uint64_t address);
