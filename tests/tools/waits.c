/* SPDX-License-Identifier: ISC */
/* waits HOW N JOBS: promises that wait for each other, then so many jobs, which lap the ring. Says "ready" and how many
 * waits of pending promises there are, and waits to be killed.
 *   star      a deadlock of A and B, and N others that wait for B
 *   dense     N that wait for each of N others
 *   often     as star, but A and each other one waits for B again and again, among the jobs
 *   becomes   as star, but A waits for what becomes B later, by way of another one
 *   late      as becomes, but A begins to wait only then
 *   loop      as becomes, and what each job is waited for becomes C, which stays pending, as in a loop of Lwt
 *   own       as star, with numbers of the program's own; also own-becomes, own-late, own-loop */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/weft.h>

static const char *how;
static weft_promise last = 0x7f3210;

static weft_promise new (const char *type, const char *label)
{
    last += 48; /* as addresses are */
    return strncmp(how, "own", 3) == 0 ? weft_create_id(WEFT_LOOP, last, type, label)
                                       : weft_create(type, label);
}

static weft_promise new_marked(const char *type, const char *label)
{
    weft_promise p = new (type, label);
    weft_should_resolve(p);
    return p;
}

static weft_promise loop; /* or 0 */

static void work(long jobs)
{
    for (long i = 0; i < jobs; i++) {
        weft_promise turn = loop ? new ("bind", NULL) : 0, p = new ("job", NULL);
        weft_run(p);
        weft_fulfill(p);
        weft_run(WEFT_LOOP);
        if (turn)
            weft_become(turn, loop);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    how = argv[1];
    const long n = atol(argv[2]), jobs = atol(argv[3]);
    const bool dense = strcmp(how, "dense") == 0, often = strcmp(how, "often") == 0;
    weft_promise *waiter = calloc((size_t)n + 1, sizeof *waiter);
    if (!waiter)
        return 1;
    weft_promise a = new_marked("task", "A"), b = new_marked("task", "B");
    const bool late = strstr(how, "late"), looping = strstr(how, "loop");
    if (looping)
        loop = new ("bind", "C");
    if (late || looping || strstr(how, "becomes")) {
        weft_promise x = new ("bind", "x"), y = new ("bind", "y");
        if (!late)
            weft_wait_by(a, x);
        work(jobs / 3);
        weft_become(x, y);
        work(jobs / 3);
        weft_become(y, b);
        if (late) {
            work(jobs / 3);
            weft_wait_by(a, x);
        }
    } else {
        weft_wait_by(a, b);
    }
    weft_wait_by(b, a);
    for (long i = 0; i < n; i++) {
        waiter[i] = new ("request", NULL);
        if (!dense)
            weft_wait_by(waiter[i], b);
    }
    for (long i = 0; i < n && dense; i++) {
        weft_promise source = new ("reply", NULL);
        for (long k = 0; k < n; k++)
            weft_wait_by(waiter[k], source);
    }
    for (long turn = 0; turn < 10; turn++) {
        work(jobs / 10);
        for (long i = 0; i < n && often; i++)
            weft_wait_by(waiter[i], b);
    }
    weft_suspend(WEFT_WAIT_FOR_WORK);
    printf("ready %ld\n", 2 + (dense ? n * n : n));
    fflush(stdout);
    for (;;)
        pause();
}
