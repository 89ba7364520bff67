/* SPDX-License-Identifier: ISC */
/* spin good|bad: a program that is busy with asking.
 *
 * Wrong: to wait until the printer has warmed up, a task looks at its state, and if it is not ready, looks again in
 * the next turn of the loop (elsewhere: while (!warm) await yield()). The loop never sleeps: a processor is busy
 * with it, and what others do is done late.
 * Mended: look again after some time. (Better, where there is such a thing: wait for the event.) */
#include "bugs.h"

static bool bad;
static uint64_t warm_ns; /* when it will be */
static struct promise printing, turn;

static bool is_warm(void)
{
    work(MS / 200); /* a system call */
    return time_ns() >= warm_ns;
}

static void print_page(void)
{
    if (is_warm()) {
        promise_fulfill(&printing);
    } else if (bad) {
        turn = promise_new(weft_create("yield", "next turn"));
        promise_fulfill(&turn); /* it has come already, so to speak: others have their turn first */
        promise_await(&turn, print_page);
    } else {
        loop_after(10 * MS, printing.id, print_page);
    }
}

static void program_start(void)
{
    printing = promise_new(weft_create("job", "print page"));
    weft_should_resolve(printing.id);
    loop_start(printing.id, print_page);
    promise_await(&printing, program_done);
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    warm_ns = time_ns() + 100 * MS;
    return program_run(program_start);
}
