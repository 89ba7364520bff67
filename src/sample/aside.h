/* SPDX-License-Identifier: ISC */
/* What another process may keep waiting for ever, done in a child process. Who looks at a process touches pages and files
 * that this has chosen: a file system that a program of its user keeps (FUSE), or userfaultfd, need not answer, and such
 * a wait cannot always be ended, not even by SIGKILL. So the child waits; it has nothing open that anybody
 * else waits for, and is left alone when it is late. */
#ifndef WEFT_SAMPLE_ASIDE_H
#define WEFT_SAMPLE_ASIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define SAMPLE_ASIDE_SECONDS 10 /* that an answer may take */

struct sample_aside {
    pid_t pid; /* 0: none */
    int fd;    /* a socket to it */
    bool late; /* it was waited for in vain */
};

enum { SAMPLE_ASIDE_KEPT = 4 };

/* Forks. The child calls run with its end of the socket and is gone when that returns. Of other files it has only
 * those of keep, SAMPLE_ASIDE_KEPT and the next number. False: there can be no other process. */
bool sample_aside_start(struct sample_aside *a, void (*run)(int fd, void *data), void *data,
                        const int keep[2]);

/* size bytes of what it sends (symbols_worker_put). False: it is late, or gone. */
bool sample_aside_get(struct sample_aside *a, void *to, size_t size);

/* May be called twice. */
void sample_aside_stop(struct sample_aside *a);

/* ---- The memory of a process ---- */

struct sample_distant {
    struct sample_aside aside;
    unsigned char *room; /* shared with the child */
};

#define SAMPLE_DISTANT_BYTES (1 << 20) /* that can be read at once */

/* mem is /proc/PID/mem, maps is /proc/PID/maps or -1; both stay the caller's. False as above. */
bool sample_distant_open(struct sample_distant *d, int mem, int maps);
void sample_distant_close(struct sample_distant *d);

/* Return how many bytes there are from that address on, up to so many: 0 also if it is late. */
size_t sample_distant_read(struct sample_distant *d, uint64_t at, void *to, size_t bytes);
size_t sample_distant_write(struct sample_distant *d, uint64_t at, const void *from, size_t bytes);

/* The lines of maps, once; NULL: no memory. To be closed before d. */
FILE *sample_distant_maps(struct sample_distant *d);

#endif
