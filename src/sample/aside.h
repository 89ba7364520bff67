/* SPDX-License-Identifier: ISC */
/* Does in a child process what another process could delay forever. Reading a process means touching pages and
 * files that the process has chosen. A file system run by a program of its user (FUSE), or userfaultfd, need
 * not answer, and such a wait cannot always be ended, not even by SIGKILL. So a child waits instead. It holds
 * nothing open that anybody else waits for, and it is abandoned if it is late. */
#ifndef WEFT_SAMPLE_ASIDE_H
#define WEFT_SAMPLE_ASIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define SAMPLE_ASIDE_SECONDS 10 /* how long an answer may take */

struct sample_aside {
    pid_t pid; /* 0: none */
    int fd;    /* the socket to the child */
    bool late; /* it did not answer in time */
};

enum { SAMPLE_ASIDE_KEPT = 4 };

/* Forks. The child calls run with its end of the socket, and exits when run returns. Of the other open files it
 * has only those in keep, SAMPLE_ASIDE_KEPT and the next number. Returns false if no process can be created. */
bool sample_aside_start(struct sample_aside *a, void (*run)(int fd, void *data), void *data,
                        const int keep[2]);

/* Reads size bytes that the child sends (symbols_worker_put). Returns false if the child is late or gone. */
bool sample_aside_get(struct sample_aside *a, void *to, size_t size);

/* It may be called twice. */
void sample_aside_stop(struct sample_aside *a);

/* ---- The memory of a process ---- */

struct sample_distant {
    struct sample_aside aside;
    unsigned char *room; /* shared with the child */
};

#define SAMPLE_DISTANT_BYTES (1 << 20) /* most bytes of one read */

/* mem is /proc/PID/mem; maps is /proc/PID/maps or -1. Both stay the caller's. Returns false like
 * sample_aside_start. */
bool sample_distant_open(struct sample_distant *d, int mem, int maps);
void sample_distant_close(struct sample_distant *d);

/* Both return how many bytes they read from that address on, at most `bytes`; 0 also if the child is late. */
size_t sample_distant_read(struct sample_distant *d, uint64_t at, void *to, size_t bytes);
size_t sample_distant_write(struct sample_distant *d, uint64_t at, const void *from, size_t bytes);

/* The lines of maps; may be called once. NULL: no memory. Close it before d. */
FILE *sample_distant_maps(struct sample_distant *d);

#endif
