/* SPDX-License-Identifier: ISC */
/* Explores all interleavings of a tiny recorder that is killed at any moment, or read while it runs; ring.h says
 * what is modelled. Then the same with faults, each of which must be found.
 *
 *     model [--full]      --full: larger recorders, some minutes and gigabytes
 *     model NUMBER        one of them; tells the way to what is wrong */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"
#include "ring.h"

struct setup setup;
uint64_t witness[WITNESSES];

/* ---- The system ---- */

static void first(void *state)
{
    writer_first(state);
}

enum { MOVES_OF_THREAD = CHOICES + STORES };

static bool move(void *state, unsigned number)
{
    struct state *s = state;
    unsigned t = number / MOVES_OF_THREAD, choice = number % MOVES_OF_THREAD;
    if (setup.live && reader_is_through(s))
        return false;
    if (t == setup.threads)
        return choice == 0 && setup.live && reader_step(s);
    return choice < CHOICES ? writer_step(s, t, choice)
                            : commit(s, &s->thread[t], choice - CHOICES);
}

static const char *wrong(const void *state, bool last)
{
    return judge(state, last);
}

static void tell(const void *before, unsigned number, const void *after)
{
    const struct state *s = before, *to = after;
    unsigned t = number / MOVES_OF_THREAD, choice = number % MOVES_OF_THREAD;
    if (t == setup.threads) {
        printf("  reader    phase %u, %u, %u\n", s->reading.phase, s->reading.k, s->reading.word);
        return;
    }
    const struct thread *from = &s->thread[t];
    if (choice < CHOICES) {
        static const char *const kinds[] = {"creates", "ends", "notes", "filler"};
        printf("  thread %u  %s", t, writer_place(from->pc));
        if (!from->kind && !from->p && to->thread[t].kind + to->thread[t].p)
            printf(": %s %u", kinds[to->thread[t].kind], to->thread[t].p);
        printf("  (then: %s)\n", writer_place(to->thread[t].pc));
    } else {
        struct store w = from->store[choice - CHOICES];
        printf("  thread %u  … store %u := %u\n", t, w.at, w.value);
    }
}

enum tier { SHORT, FULL };

/* The smallest recorder that goes through everything: two threads of two events, three packets of one. */
#define TINY                                                                                       \
    .threads = 2, .places = 3, .events = 1, .promises = 1, .cells = 1, .batch = 1, .stores = 3
#define KINDS .kinds = {15, 15}
#define TWO .left = {2, 2}, KINDS
#define FAULT(what, ...)                                                                           \
    {                                                                                              \
        {.name = #what, .variant = what, __VA_ARGS__}, SHORT                                       \
    }

static const struct {
    struct setup setup;
    enum tier tier;
} runs[] = {
    {{.name = "killed", TINY, TWO}, SHORT},
    {{.name = "killed, weak memory", TINY, TWO, .weak = true}, SHORT},
    {{.name = "two events a packet",
      TINY,
      .events = 2,
      .promises = 2,
      .cells = 2,
      .left = {3, 2},
      KINDS},
     SHORT},
    {{.name = "packets in stock", TINY, .places = 4, .batch = 2, .left = {3, 2}, KINDS}, SHORT},
    {{.name = "two cells", TINY, .cells = 2, .left = {3, 2}, KINDS}, SHORT},
    {{.name = "read meanwhile", TINY, .left = {2, 2}, .kinds = {8, 8}, .live = true}, SHORT},
    {{.name = "two cells, weak memory", TINY, .cells = 2, .left = {3, 2}, KINDS, .weak = true},
     FULL},
    {{.name = "read meanwhile, weak memory",
      TINY,
      .left = {2, 2},
      .kinds = {8, 8},
      .live = true,
      .weak = true},
     FULL},
    {{.name = "six events", TINY, .left = {3, 3}, KINDS}, FULL},
    {{.name = "six events, weak memory", TINY, .left = {3, 3}, KINDS, .weak = true}, FULL},
    {{.name = "two promises", TINY, .promises = 2, .left = {3, 2}, KINDS}, FULL},

    FAULT(UNSETTLE_FIRST, TINY, TWO),
    FAULT(EMPTY_FIRST, TINY, TWO),
    FAULT(NO_BARRIER, TINY, TWO),
    FAULT(NO_HAZARD_CHECK, TINY, TWO),
    FAULT(NO_RECHECK, TINY, TWO),
    FAULT(SEQUENCE_FIRST, TINY, TWO),
    FAULT(TWO_COUNTS, TINY, TWO),
    FAULT(MARK_FIRST, TINY, TWO),
    FAULT(NO_CHECK_AGAIN, TINY, .cells = 2, .left = {3, 2}, KINDS),
    FAULT(NO_SECOND_FIND, TINY, .cells = 2, .left = {3, 2}, KINDS),
    FAULT(COUNT_AGAIN, TINY, .cells = 2, .left = {3, 2}, KINDS),
    FAULT(ONE_OF_TWO_CELLS, TINY, .cells = 2, .left = {3, 2}, KINDS),
    FAULT(NO_EMPTIED_BYTES, TINY, TWO),
    FAULT(GIVEN_UP_LATE, TINY, .promises = 2, .left = {3, 3}, KINDS),
    FAULT(NO_SEQUENCE_IN_CELL, TINY, TWO),
    FAULT(PLAIN_CONTENT, TINY, TWO, .weak = true),
    FAULT(PLAIN_SEQUENCE, TINY, TWO, .weak = true),
    FAULT(PLAIN_EMPTY, TINY, TWO, .weak = true),
    FAULT(PLAIN_BYTE, TINY, TWO, .weak = true),
    FAULT(NO_FENCE, TINY, TWO, .weak = true),
    FAULT(NO_SECOND_LOOK, TINY, .left = {2, 2}, .kinds = {8, 8}, .live = true),
};

enum { RUNS = sizeof runs / sizeof *runs };

static bool run(unsigned n, bool telling)
{
    setup = runs[n].setup;
    const struct system system = {
        sizeof(struct state), (setup.threads + 1u) * MOVES_OF_THREAD, first, move, wrong, tell};
    struct explored r = explore(&system, 0, telling);
    bool faulty = setup.variant != NO_VARIANT, ok = r.all && faulty == (r.wrong != NULL);
    printf("%2u %-28s %9" PRIu64 " states %5.1f s  %s%s\n", n, setup.name, r.states, r.seconds,
           !r.all    ? "not all were explored"
           : r.wrong ? r.wrong
           : faulty  ? "nothing was found"
                     : "all is as it must be",
           ok ? "" : ": FAILED");
    return ok;
}

int main(int argc, char **argv)
{
    bool full = argc > 1 && strcmp(argv[1], "--full") == 0, ok = true;
    if (argc > 1 && !full) {
        unsigned long n = strtoul(argv[1], NULL, 10);
        return n < RUNS && run((unsigned)n, true) ? 0 : 1;
    }
    for (unsigned n = 0; n < RUNS; n++)
        if (full || runs[n].tier == SHORT)
            ok &= run(n, false);
    return !ok;
}
