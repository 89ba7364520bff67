/* SPDX-License-Identifier: ISC */
/* A child process that reads files that others have made: ELF and DWARF. The library for this
 * crashes and loops on some files, and a file can make it allocate any amount of memory. So it runs
 * elsewhere, may do nothing but compute, with limits, and only bytes on a socket come back.
 * A worker belongs to the thread that started it, and ends with it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Defined if a sanitizer reserves more memory than any limit. */
#if defined(__SANITIZE_ADDRESS__)
#define SYMBOLS_SHADOWED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SYMBOLS_SHADOWED 1
#endif
#endif

struct symbols_worker {
    pid_t pid; /* 0: none */
    int fd;
    int files; /* where it asks for files; -1: it does not */
    bool late; /* it did not answer in time, and will be abandoned */
};

struct symbols_worker_options {
    unsigned cpu_seconds;  /* that it may use; 0: no limit */
    void (*prepare)(void); /* called in the child while it can still open files; or NULL */

    /* It is not confined: it is there because another process could delay it forever. Reading a
     * process means touching pages and files that the process has chosen. A file system run by a
     * program of its user (FUSE), or userfaultfd, need not answer, and such a wait cannot always be
     * ended, not even by SIGKILL. So a child waits instead. It holds nothing open that anybody else
     * waits for: only keep (-1: none), as SYMBOLS_WORKER_FILES and the next number. */
    bool aside;
    int keep[2];
};

/* in the worker: the descriptor through which it asks for files */
enum { SYMBOLS_WORKER_FILES = 4 };

/* Forks. The child calls run with its end of the socket, and exits when that returns. Its only
 * other open file is standard error, it cannot open any, and it has a copy of the caller's memory.
 * Permanently, its memory, its CPU time and its system calls are limited, it writes no files, and
 * special privileges are dropped. No existing limit is raised; a kernel without seccomp does not
 * limit system calls. o may be NULL. Returns 0, or WEFT_E_NOMEM if no process can be started. */
int symbols_worker_start(struct symbols_worker *w, const struct symbols_worker_options *o,
                         void (*run)(int fd, void *data), void *data);

struct symbols_worker_end {
    uint32_t cpu_ms;
    bool late; /* it had already been killed by a limit on its CPU time */
};

/* Ends it, whatever it is doing. May be called twice. */
struct symbols_worker_end symbols_worker_stop(struct symbols_worker *w);

/* Waits until it sends something, or asks for a file after it has sent everything that comes before
 * the question; or for timeout_ms, or a signal. */
enum symbols_worker_event { SYMBOLS_WORKER_NOTHING, SYMBOLS_WORKER_ASKS, SYMBOLS_WORKER_SENT };
enum symbols_worker_event symbols_worker_wait(const struct symbols_worker *w, int timeout_ms);

/* Receive or send all bytes, on either side. timeout_ms: for each piece; -1: no limit. Returns
 * false if the other side is gone, or too slow. */
bool symbols_worker_get(int fd, void *to, size_t size, int timeout_ms);
bool symbols_worker_put(int fd, const void *from, size_t size);

/* Receives from a worker aside. Returns false if it is gone, or late. */
enum { SYMBOLS_ASIDE_SECONDS = 10 };
bool symbols_worker_answers(struct symbols_worker *w, void *to, size_t size);

/* In the worker: limits the CPU time from now on until it is killed; 0: ends the limit. */
void symbols_confine_time(unsigned ms);

/* ---- Files, which a worker cannot open: its calls that do become questions ---- */

enum { SYMBOLS_PATH_BYTES = 4096 };
#define SYMBOLS_ASKED_PATH UINT32_MAX

struct symbols_asked {
    uint32_t number;               /* of something both sides know, or SYMBOLS_ASKED_PATH: */
    char path[SYMBOLS_PATH_BYTES]; /* the path passed to open */
};

/* Sends a file and a number over a socket; fd may be -1; it still belongs to the caller. */
bool symbols_file_send(int to, int fd, int number);
int symbols_file_receive(int from, int *number);

/* Returns a descriptor; or -1, with the other side's answer in *error. */
int symbols_file_ask(int files, const struct symbols_asked *asked, int *error);

/* Returns false if there is no question. Answer it with symbols_file_send. */
bool symbols_file_asked(int files, struct symbols_asked *asked);
