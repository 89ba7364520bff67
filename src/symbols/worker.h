/* SPDX-License-Identifier: ISC */
/* A child process that reads files that others have made: ELF and DWARF. The library for this
 * crashes and loops on some files, and a file can make it allocate any amount of memory. So it runs
 * elsewhere, with limits, and only bytes on a socket come back.
 * A worker belongs to the thread that started it, and ends with it. */
#ifndef WEFT_SYMBOLS_WORKER_H
#define WEFT_SYMBOLS_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct symbols_worker {
    pid_t pid; /* 0: none */
    int fd;
    int files; /* where it asks for files: symbols/confine.h */
};

struct symbols_worker_options {
    unsigned cpu_seconds;  /* that it may use; 0: no limit */
    void (*prepare)(void); /* called in the child while it can still open files; or NULL */
};

/* in the worker: the descriptor through which it asks for files */
enum { SYMBOLS_WORKER_FILES = 4 };

/* Forks. The child calls run with its end of the socket, and exits when that returns. Its only
 * other open file is standard error, it cannot open any, and it has a copy of the caller's memory
 * (symbols/confine.h). o may be NULL. Returns 0, or WEFT_E_NOMEM if no process can be started. */
int symbols_worker_start(struct symbols_worker *w, const struct symbols_worker_options *o,
                         void (*run)(int fd, void *data), void *data);

struct symbols_worker_end {
    uint32_t cpu_ms;
    bool late; /* it had already been killed by a limit on its CPU time */
};

/* Ends it, whatever it is doing. May be called twice. */
struct symbols_worker_end symbols_worker_stop(struct symbols_worker *w);

/* Waits until it sends something, or asks for a file. Returns true in the latter case; it has then
 * sent everything that comes before the question. */
bool symbols_worker_asks(const struct symbols_worker *w, int timeout_ms);

enum symbols_worker_read {
    SYMBOLS_WORKER_LATE = -1,
    SYMBOLS_WORKER_GONE = 0,
    SYMBOLS_WORKER_SOME = 1
};

/* Reads up to size bytes as they arrive; their number in *bytes. Waits up to timeout_ms. */
enum symbols_worker_read symbols_worker_read(const struct symbols_worker *w, void *to, size_t size,
                                             int timeout_ms, size_t *bytes);

/* Receive or send all bytes, on either side. timeout_ms: for each piece; -1: no limit. Returns
 * false if the other side is gone, or too slow. */
bool symbols_worker_get(int fd, void *to, size_t size, int timeout_ms);
bool symbols_worker_put(int fd, const void *from, size_t size);

#endif
