/* SPDX-License-Identifier: ISC */
/* For the programs here: they have faults in the styles of different people. `PROGRAM MODE bad` has the fault,
 * `PROGRAM MODE good` is the same without it; what is healthy has no fault in either. ../e2e/corpus.py says what
 * weft explain has to find. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <weft/weft.h>

struct mode {
    const char *name;
    void (*run)(void);
};

extern bool bad;
int run_mode(int argc, char **argv, const struct mode *modes, size_t n);

/* A label; the buffer is the calling thread's, and used again. */
const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Of zeros, and never freed. For one thread. */
void *room(size_t bytes);
double now_ms(void);
void work(double ms);
void nap(double ms);
void sleep_told(double ms); /* weft is told of it, as an event loop would */
void killed_after(double ms);
void must(bool done); /* a system call */

/* ---- An event loop: calls that are due, timers, file descriptors ---- */

typedef void callback(void *argument);
struct timer {
    callback *function;
    void *argument;
    double at_ms;
};

extern bool loop_silent; /* weft is not told when it sleeps */
extern int loop_budget;  /* so many calls before it looks at timers and descriptors */
void post(callback *function, void *argument);
struct timer *after(double ms, callback *function, void *argument);
void drop(struct timer *t);
void watch(int fd, short events, callback *function, void *argument);
void unwatch(int fd);
/* Until there is nothing to do any more, or so long. */
void loop_run(double ms);
