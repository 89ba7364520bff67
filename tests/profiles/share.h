/* SPDX-License-Identifier: ISC */
/* CPU time, shared out by construction: what a profiler must find. A program has some functions that burn CPU time;
 * they take turns in short slices of random length (so that no timer keeps step with them), and whoever is furthest
 * behind its share is next. At the end the truth is printed, a line for each: name, tab, ns.
 *
 *     static struct share shares[] = {{"heavy", 75, 0}, {"light", 25, 0}};
 *     struct turns t = {shares, 2, 1};
 *     for (uint64_t until; turns_ns(&t) < goal_ns;)
 *         switch (turn_begin(&t, &until)) {
 *         case 0: heavy(until); break;
 *         …
 *         }
 *
 * One thread each. A virtual machine that stands still charges its programs for that, and takes no samples: what it
 * charges at once is nobody's. */
#pragma once

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MS UINT64_C(1000000)

struct share {
    const char *name;
    unsigned weight;
    uint64_t used_ns;
};

struct turns {
    struct share *share;
    unsigned shares;
    uint64_t random; /* not 0 */
    unsigned current;
    uint64_t since_ns; /* 0: nobody's turn yet */
};

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) != 0)
        abort();
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Of this thread. */
static inline uint64_t cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* How long the machine stood still while this thread ran, as far as piece_end saw. */
static _Thread_local uint64_t stood_still_ns;

/* A piece of work, always of the same length, is over: since is cpu_ns() when it began. Returns now. What is usual is a
 * median that follows, as the clock can also stand for a while and make one piece very short. */
static inline uint64_t piece_end(uint64_t since)
{
    static _Thread_local uint64_t usual_ns;
    uint64_t now = cpu_ns(), took = now - since;
    if (usual_ns == 0)
        usual_ns = took;
    if (took > 10 * usual_ns)
        stood_still_ns += took - usual_ns;
    usual_ns = took > usual_ns ? usual_ns + usual_ns / 16 + 1 : usual_ns - usual_ns / 16;
    return now;
}

static inline uint64_t turns_ns(const struct turns *t)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < t->shares; i++)
        sum += t->share[i].used_ns;
    return sum;
}

/* The turn is over; returns now. */
static inline uint64_t turn_end(struct turns *t)
{
    uint64_t now = cpu_ns();
    if (t->since_ns)
        t->share[t->current].used_ns += now - t->since_ns - stood_still_ns;
    t->since_ns = 0;
    stood_still_ns = 0;
    return now;
}

/* Whose turn it is, and until when by cpu_ns. Ends the turn before. */
static inline unsigned turn_begin(struct turns *t, uint64_t *until)
{
    uint64_t now = turn_end(t);
    unsigned next = 0;
    for (unsigned i = 1; i < t->shares; i++)
        if (t->share[i].used_ns * t->share[next].weight <
            t->share[next].used_ns * t->share[i].weight)
            next = i;
    t->random ^= t->random << 13;
    t->random ^= t->random >> 7;
    t->random ^= t->random << 17;
    *until = now + MS / 10 + t->random % (MS / 2);
    t->current = next;
    t->since_ns = now;
    return next;
}

/* A function that burns its own CPU time until cpu_ns() says so, some 50 µs at a time. All of it is in that function,
 * whatever is inlined; the constant is another one in each, so that no compiler takes two of them for one. */
#define BURNER(attributes, name)                                                                   \
    static attributes void name(uint64_t until)                                                    \
    {                                                                                              \
        const uint64_t constant = __COUNTER__ * 2u + 1u;                                           \
        uint64_t x = constant, now = cpu_ns();                                                     \
        do {                                                                                       \
            WORK(x, constant);                                                                     \
            now = piece_end(now);                                                                  \
        } while (now < until);                                                                     \
    }
#define WORK(x, constant)                                                                          \
    for (unsigned i_ = 0; i_ < 50000; i_++) {                                                      \
        (x) = (x)*6364136223846793005u + (constant);                                               \
        __asm__ volatile("" : "+r"(x)); /* it cannot be left out */                                \
    }
#define ALONE __attribute__((noinline))
#define INLINED inline __attribute__((always_inline))

static inline void tell(const char *name, uint64_t ns)
{
    printf("%s\t%" PRIu64 "\n", name, ns);
}

static inline void tell_shares(const struct share *share, unsigned shares)
{
    for (unsigned i = 0; i < shares; i++)
        tell(share[i].name, share[i].used_ns);
}

/* A number of milliseconds, as ns. */
static inline uint64_t parse_ms(const char *text)
{
    char *end;
    unsigned long ms = strtoul(text, &end, 10);
    if (end == text || *end || ms > 1000000) {
        fprintf(stderr, "no number of milliseconds: %s\n", text);
        exit(2);
    }
    return ms * MS;
}
