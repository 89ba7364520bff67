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

#define WEFT__ASIDE_SECONDS 10 /* that an answer may take */

struct weft__aside {
    pid_t pid; /* 0: none */
    int fd;    /* a socket to it */
    bool late; /* it was waited for in vain */
};

enum { WEFT__ASIDE_KEPT = 4 };

/* Forks. The child calls run with its end of the socket and is gone when that returns. Of other files it has only
 * those of keep, WEFT__ASIDE_KEPT and the next number. False: there can be no other process. */
bool weft__aside_start(struct weft__aside *a, void (*run)(int fd, void *data), void *data,
                       const int keep[2]);

/* size bytes of what it sends (weft__worker_put). False: it is late, or gone. */
bool weft__aside_get(struct weft__aside *a, void *to, size_t size);

/* May be called twice. */
void weft__aside_stop(struct weft__aside *a);

/* ---- The memory of a process ---- */

struct weft__distant {
    struct weft__aside aside;
    unsigned char *room; /* shared with the child */
};

#define WEFT__DISTANT_BYTES (1 << 20) /* that can be read at once */

/* mem is /proc/PID/mem, maps is /proc/PID/maps or -1; both stay the caller's. False as above. */
bool weft__distant_open(struct weft__distant *d, int mem, int maps);
void weft__distant_close(struct weft__distant *d);

/* Return how many bytes there are from that address on, up to so many: 0 also if it is late. */
size_t weft__distant_read(struct weft__distant *d, uint64_t at, void *to, size_t bytes);
size_t weft__distant_write(struct weft__distant *d, uint64_t at, const void *from, size_t bytes);

/* The lines of maps, once; NULL: no memory. To be closed before d. */
FILE *weft__distant_maps(struct weft__distant *d);

#endif
