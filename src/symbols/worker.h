/* SPDX-License-Identifier: ISC */
/* A child process that reads what somebody else has made: ELF and DWARF. The library that does it crashes and loops
 * on some files, and a file can have it allocate what it likes; so it does that elsewhere, with limits, and what
 * comes back are bytes on a socket.
 *
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
    unsigned cpu_seconds;  /* that it may take; 0: any */
    void (*prepare)(void); /* called in the child while it may still open files; or NULL */
};

enum { SYMBOLS_WORKER_FILES = 4 }; /* in the worker: where it asks for files */

/* Forks; the child calls run with its end of the socket, and is gone when that returns. It has no other open files
 * than standard error, can open none, and has a copy of the caller's memory (symbols/confine.h). o may be NULL.
 * 0 or WEFT_E_NOMEM: there can be no other process. */
int symbols_worker_start(struct symbols_worker *w, const struct symbols_worker_options *o,
                         void (*run)(int fd, void *data), void *data);

struct symbols_worker_end {
    uint32_t cpu_ms;
    bool late; /* it had already been ended, by a limit on its CPU time */
};

/* Ends it, whatever it does. May be called twice. */
struct symbols_worker_end symbols_worker_stop(struct symbols_worker *w);

/* Waits until it says something, or asks for a file: true; it has then said all that it had to say before. */
bool symbols_worker_asks(const struct symbols_worker *w, int timeout_ms);

enum symbols_worker_read {
    SYMBOLS_WORKER_LATE = -1,
    SYMBOLS_WORKER_GONE = 0,
    SYMBOLS_WORKER_SOME = 1
};

/* Up to size bytes as they come, their number in *bytes; waits up to timeout_ms. */
enum symbols_worker_read symbols_worker_read(const struct symbols_worker *w, void *to, size_t size,
                                             int timeout_ms, size_t *bytes);

/* All of them, either way, on either side. timeout_ms: for each piece; -1: none. false: the other side is gone, or
 * too late. */
bool symbols_worker_get(int fd, void *to, size_t size, int timeout_ms);
bool symbols_worker_put(int fd, const void *from, size_t size);

#endif
