/* SPDX-License-Identifier: ISC */
/* livelock good|bad: two that are so polite that neither of them ever eats.
 *
 * Wrong: each has a fork, and needs that of the other one, too. If it does not get it, it puts its own down, lets the
 * other one have a turn, and takes it again first: so does the other one.
 * Mended: who puts his fork down waits for a while before he takes it again. */
#include "bugs.h"

#define TURNS 2000

static bool bad;
static struct guest {
    struct promise self;
    weft_promise fork;
    bool has_fork;
    callback *turn;
} guests[2];
static int turns, eaten;

static void left(void);
static void right(void);

static void guest_take(struct guest *g)
{
    g->has_fork = true;
    weft_acquire(g->fork);
}

static void guest_put_down(struct guest *g)
{
    g->has_fork = false;
    weft_release(g->fork);
}

static void eat(struct guest *g)
{
    guest_put_down(g);
    promise_fulfill(&g->self);
    if (++eaten == 2)
        program_done();
}

static void turn(struct guest *g, const struct guest *other)
{
    weft_promise attempt;
    if (++turns > TURNS) { /* to see an end of it */
        if (turns == TURNS + 1)
            program_done();
        return;
    }
    if (!g->has_fork) {
        guest_take(g);
        loop_start(g->self.id, g->turn);
        return;
    }
    attempt = weft_create("attempt", "take the other fork");
    if (!other->has_fork) {
        weft_fulfill(attempt);
        eat(g);
        return;
    }
    weft_fail(attempt, "taken");
    guest_put_down(g);
    if (bad) {
        guest_take(g);
        loop_start(g->self.id, g->turn);
    } else {
        loop_after((g == guests ? 2 : 3) * MS, g->self.id, g->turn);
    }
}

static void left(void)
{
    turn(&guests[0], &guests[1]);
}

static void right(void)
{
    turn(&guests[1], &guests[0]);
}

static void program_start(void)
{
    for (int i = 0; i < 2; i++) {
        guests[i].self = promise_new(weft_create("task", i ? "right guest" : "left guest"));
        guests[i].fork = weft_create("lock", i ? "right fork" : "left fork");
        weft_background(guests[i].fork);
        guests[i].turn = i ? right : left;
        loop_start(guests[i].self.id, guests[i].turn);
    }
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    return program_run(program_start);
}
