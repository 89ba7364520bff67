/* SPDX-License-Identifier: ISC */
/* stampede good|bad: a cache that does not help when many come at once.
 *
 * Wrong: a request that does not find the user in the cache loads him; so do all others that come until he is there, and the
 * database does the same for each of them.
 * Mended: what is being loaded is in the cache, too, and the others wait for that. */
#include <stdio.h>

#include "bugs.h"

#define AT_ONCE 4 /* requests for each user, who come every 2 ms; the database takes 15 ms */
#define REQUESTS 16

static bool bad;
static weft_promise network;

struct user {
    char label[32], query[32];
    bool cached;
    struct promise load; /* that the others wait for */
};

static struct request {
    struct promise self;
    struct user *user;
    struct promise load, rows;
} requests[REQUESTS];
static struct user users[2] = {{.label = "load user 7", .query = "SELECT user 7"},
                               {.label = "load user 8", .query = "SELECT user 8"}};
static int accepted, answered;
static struct request *asked[REQUESTS]; /* of the database, in order */
static int n_asked, n_rows, n_running;
static struct request *waiting[REQUESTS]; /* for somebody else's load, in order */
static int n_waiting, n_woken;

static void respond(struct request *r)
{
    promise_fulfill(&r->self);
    if (++answered == REQUESTS)
        program_done();
}

static void on_loaded(void)
{
    static int next;
    respond(asked[next++]);
}

static void on_others_loaded(void)
{
    respond(waiting[n_woken++]);
}

static void store(void)
{
    static int next;
    struct request *r = asked[next++];
    r->user->cached = true;
    promise_fulfill(bad ? &r->load : &r->user->load);
}

static void on_rows(void)
{
    promise_fulfill(&asked[n_rows++]->rows);
}

static void load(void)
{
    struct request *r = asked[n_running++];
    r->rows = promise_new(weft_create("query", r->user->query));
    loop_after(15 * MS, WEFT_LOOP, on_rows);
    promise_await(&r->rows, store);
}

static void handle(void)
{
    struct request *r = &requests[accepted++];
    struct promise *p = bad ? &r->load : &r->user->load;
    if (r->user->cached) {
        respond(r);
        return;
    }
    if (!bad && p->id) {
        waiting[n_waiting++] = r;
        promise_await(p, on_others_loaded);
        return;
    }
    *p = promise_new(weft_create("task", r->user->label));
    asked[n_asked++] = r;
    loop_start(p->id, load);
    promise_await(p, on_loaded);
}

static void accept_next(void)
{
    static int i;
    struct request *r = &requests[i];
    const int user = i % REQUESTS >= REQUESTS / 2;
    char label[32];
    r->user = &users[user];
    snprintf(label, sizeof label, "GET /user/%d", 7 + user);
    r->self = promise_new(weft_create("request", label));
    weft_should_resolve(r->self.id);
    loop_start(r->self.id, handle);
    i++;
    if (i < REQUESTS) /* some come when he is there */
        loop_after(i % (REQUESTS / 2) == AT_ONCE ? 30 * MS : 2 * MS, network, accept_next);
}

static void program_start(void)
{
    network = weft_create("task", "network");
    weft_background(network);
    loop_after(MS, network, accept_next);
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    return program_run(program_start);
}
