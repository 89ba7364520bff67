/* SPDX-License-Identifier: ISC */
/* hang_root good|bad: a page that never comes, because a database was busy.
 *
 * Wrong: the answer to the query is an error. Its callback prints that and returns, and nobody ever ends the
 * promise of the rows. So the cache waits for the rows, the request for the cache, and main for the request.
 * Mended: every path through the callback ends the promise; the cache then gives away what is old. */
#include <stdio.h>

#include "bugs.h"

static bool bad;
static weft_promise database;              /* a task that never ends */
static struct promise request, user, rows; /* user: a task of the cache's */

static void on_answer(void)
{
    const char *error = "too many connections";
    if (bad) {
        fprintf(stderr, "database: %s\n", error);
        return; /* and who waits for the rows? */
    }
    promise_fail(&rows, error);
}

static void user_done(void)
{
    if (rows.failed)
        weft_label(user.id, "take the old one");
    promise_fulfill(&user);
}

static void user_fetch(void)
{
    rows = promise_new(weft_create("query", "SELECT user 7"));
    loop_after(20 * MS, database, on_answer);
    promise_await(&rows, user_done);
}

static void request_done(void)
{
    promise_fulfill(&request);
}

static void request_start(void)
{
    user = promise_new(weft_create("cache", "user 7"));
    loop_start(user.id, user_fetch);
    promise_await(&user, request_done);
}

static void program_start(void)
{
    database = weft_create("task", "database client");
    weft_background(database);
    request = promise_new(weft_create("request", "GET /users/7"));
    weft_should_resolve(request.id);
    loop_start(request.id, request_start);
    promise_await(&request, program_done);
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    return program_run(program_start);
}
