/* SPDX-License-Identifier: ISC */
/* starvation good|bad: answers that lie there while messages come first.
 *
 * Wrong: the loop takes urgent things first, all of them. There are many messages, each of which is urgent, and more come
 * meanwhile: a request whose answer has been there for long has to wait until there are none.
 * Mended: it takes four urgent things, and then one of the others. */
#include "bugs.h"

#define MESSAGES 60
#define SHARE 4

enum { URGENT, OTHER, QUEUES };

/* What is ready: the results that somebody waits for. */
static struct ready {
    weft_promise reader, result;
} queue[QUEUES][MESSAGES];
static int first[QUEUES], end[QUEUES];

static void add(int which, weft_promise reader, weft_promise result)
{
    weft_fulfill(result);
    queue[which][end[which]++] = (struct ready){reader, result};
}

/* Somebody's turn. */
static void serve(int which)
{
    struct ready *x = &queue[which][first[which]++];
    weft_wake(x->reader, x->result);
    work(MS);
    if (which == OTHER) {
        weft_fulfill(x->reader);
    } else if (end[URGENT] < MESSAGES) {
        weft_promise message = weft_create("message", "position");
        weft_wait(message);
        weft_run(WEFT_LOOP);
        add(URGENT, x->reader, message); /* the next one has come already */
    }
    weft_run(WEFT_LOOP);
}

int main(int argc, char **argv)
{
    bool bad = wants_bad(argc, argv);
    weft_promise feed = weft_create("task", "position feed"), message, request, answer;
    weft_background(feed);
    weft_suspend(WEFT_WAIT_FOR_WORK);
    nap(MS);
    weft_resume();
    message = weft_create("message", "position");
    weft_wait_by(feed, message);
    request = weft_create("request", "GET /map");
    weft_should_resolve(request);
    answer = weft_create("query", "SELECT map");
    weft_wait_by(request, answer);
    add(URGENT, feed, message);
    add(OTHER, request, answer);
    for (int n = 1; first[URGENT] < end[URGENT] || first[OTHER] < end[OTHER]; n++) {
        bool other = first[URGENT] == end[URGENT] || (!bad && n % SHARE == 0);
        serve(other && first[OTHER] < end[OTHER] ? OTHER : URGENT);
    }
    weft_suspend(WEFT_WAIT_FOR_WORK);
    nap(MS);
    weft_resume();
    return 0;
}
