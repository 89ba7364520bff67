/* SPDX-License-Identifier: ISC */
/* The memory of another process, read by a child process, which waits in our place if that process does not let
 * it be read (symbols_worker_options.aside). After the child was late once, nothing more is tried. */
#pragma once

#include <stdio.h>

#include "symbols/worker.h"

#define SAMPLE_DISTANT_BYTES (1 << 20) /* most bytes of one read */

/* mem is /proc/PID/mem; maps is /proc/PID/maps or -1. Both stay the caller's. Returns what symbols_worker_start
 * does; symbols_worker_stop ends it. */
int sample_distant_open(struct symbols_worker *w, int mem, int maps);

/* The same for what a function says is the memory: it is called in the child, which has a copy of data, and whose only file
 * is `keep`, under that number; it may open others. Returns how many bytes it has from that address on. */
typedef size_t sample_distant_fn(void *data, uint64_t at, void *to, size_t bytes);
int sample_distant_open_by(struct symbols_worker *w, int keep, sample_distant_fn *read, void *data);

/* Both return how many bytes they read from that address on, at most `bytes`; 0 also if the child is late. */
size_t sample_distant_read(struct symbols_worker *w, uint64_t at, void *to, size_t bytes);
size_t sample_distant_write(struct symbols_worker *w, uint64_t at, const void *from, size_t bytes);

/* The lines of maps; may be called once. NULL: no memory. Close it before w. */
FILE *sample_distant_maps(struct symbols_worker *w);
