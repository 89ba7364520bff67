/* SPDX-License-Identifier: ISC */
/* A small event loop with promises, for examples; and how a runtime is instrumented: what waits, wakes
 * and ends is told here, once, so that programs need only say what their promises are.
 *
 *     struct promise reply = promise_new(weft_create("promise", "reply"));
 *     promise_await(&reply, go_on);       in some task; go_on() will run as a part of it
 *     promise_fulfill(&reply);            in another one
 *
 * For one thread. */
#ifndef EXAMPLES_LOOP_H
#define EXAMPLES_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/weft.h>

#define MS ((uint64_t)1000000) /* times are in nanoseconds */

typedef void callback(void);

/* Something that the loop will call. */
struct call {
    uint64_t at_ns;     /* 0: as soon as possible */
    callback *function; /* NULL: there is none */
    weft_promise actor; /* the task that it is a part of */
    weft_promise cause; /* what was fulfilled or notified; 0: nothing, it is time */
    bool notified;
};

/* Is fulfilled or fails once, and remembers it. A task is a promise, too: of its end. */
struct promise {
    weft_promise id;
    bool fulfilled, failed;
    struct call waiters[4];
    unsigned n_waiters;
};

/* Can be notified again and again, and remembers nothing. */
struct condition {
    weft_promise id;
    struct call waiter;
};

struct promise promise_new(weft_promise id);
struct condition condition_new(weft_promise id);

/* The loop will call function, as a part of the task actor, soon or after a delay. */
void loop_start(weft_promise actor, callback *function);
void loop_after(uint64_t delay_ns, weft_promise actor, callback *function);

/* The loop will call function, as a part of the task that runs now, when p is fulfilled or fails (soon, if it
 * has) or when c is notified the next time. Four can wait for a promise at a time, and one for a condition. */
void promise_await(struct promise *p, callback *function);
void condition_wait(struct condition *c, callback *function);

void promise_fulfill(struct promise *p);
void promise_fail(struct promise *p, const char *reason);
void condition_notify(struct condition *c);

/* Makes calls until end is fulfilled, or patience is over. */
void loop_run(const struct promise *end, uint64_t patience_ns);

#endif
