/* SPDX-License-Identifier: ISC */
/* promises MS [THREADS]: each thread is a loop that serves two connections for MS milliseconds of CPU time. Of the time
 * that belongs to requests, 75 % is for those labelled PUT /x (50 % in parse(), 25 % in store()) and 25 % for those
 * labelled GET /y (all of it in parse()); a fifth of all is the loop's own, in turn_over(), for no promise. The truth
 * is told by function and by label. */
#include <pthread.h>
#include <weft/weft.h>

#include "share.h"

BURNER(ALONE, parse)
BURNER(ALONE, store)
BURNER(ALONE, turn_over)

enum { PUT_PARSE, PUT_STORE, GET_PARSE, LOOP, SHARES };

struct loop {
    pthread_t thread;
    uint64_t goal_ns;
    weft_promise writer, reader; /* connections */
    weft_promise put, get;       /* the request that each has now */
    unsigned served;
    struct share share[SHARES];
};

/* A step of the request: a promise that it creates and waits for, which runs at once. */
ALONE static void put_step(struct loop *l, unsigned step, uint64_t until)
{
    weft_run(l->put);
    weft_promise p = weft_create(step == PUT_PARSE ? "parse" : "store", "PUT /x");
    weft_wait(p);
    weft_run(p);
    if (step == PUT_PARSE)
        parse(until);
    else
        store(until);
    weft_fulfill(p);
    weft_wake(l->put, p);
    weft_run(WEFT_LOOP);
}

/* Here the request itself runs. */
ALONE static void get_step(struct loop *l, uint64_t until)
{
    weft_run(l->get);
    parse(until);
    weft_run(WEFT_LOOP);
}

/* Every tenth turn there are new requests. */
static void requests(struct loop *l)
{
    if (l->served++ % 10)
        return;
    weft_fulfill(l->put);
    weft_fulfill(l->get);
    l->put = weft_create_from(l->writer, "request", "PUT /x");
    l->get = weft_create_from(l->reader, "request", "GET /y");
}

static void *loop(void *argument)
{
    struct loop *l = argument;
    struct turns t = {.share = l->share, .shares = SHARES, .random = 1};
    l->writer = weft_create("connection", "from the writer");
    l->reader = weft_create("connection", "from the reader");
    while (turns_ns(&t) < l->goal_ns) {
        requests(l);
        uint64_t until;
        unsigned turn = turn_begin(&t, &until);
        if (turn == LOOP)
            turn_over(until);
        else if (turn == GET_PARSE)
            get_step(l, until);
        else
            put_step(l, turn, until);
    }
    turn_end(&t);
    weft_fulfill(l->put);
    weft_fulfill(l->get);
    weft_fulfill(l->writer);
    weft_fulfill(l->reader);
    return NULL;
}

#define THREADS_MAX 16
static struct loop loops[THREADS_MAX];

int main(int argc, char **argv)
{
    unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    if (argc < 2 || argc > 3 || threads < 1 || threads > THREADS_MAX) {
        fputs("usage: promises MS [THREADS]\n", stderr);
        return 2;
    }
    for (unsigned i = 0; i < threads; i++) {
        struct loop *l = &loops[i];
        l->goal_ns = parse_ms(argv[1]);
        l->share[PUT_PARSE].weight = 40;
        l->share[PUT_STORE].weight = 20;
        l->share[GET_PARSE].weight = 20;
        l->share[LOOP].weight = 20;
        if (threads == 1)
            loop(l);
        else if (pthread_create(&l->thread, NULL, loop, l) != 0)
            abort();
    }
    uint64_t used[SHARES] = {0};
    for (unsigned i = 0; i < threads; i++) {
        if (threads > 1)
            pthread_join(loops[i].thread, NULL);
        for (unsigned k = 0; k < SHARES; k++)
            used[k] += loops[i].share[k].used_ns;
    }
    tell("parse", used[PUT_PARSE] + used[GET_PARSE]);
    tell("store", used[PUT_STORE]);
    tell("turn_over", used[LOOP]);
    tell("PUT /x", used[PUT_PARSE] + used[PUT_STORE]);
    tell("GET /y", used[GET_PARSE]);
    tell("(no promise)", used[LOOP]);
    return 0;
}
