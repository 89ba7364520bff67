/* SPDX-License-Identifier: ISC */
#include "explore.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "host.h"
#include "memory.h"

enum { STACK = 256 << 10, CHOICES = 1 << 14, MOST = 1 << 25 }; /* MOST: states, a gigabyte */

enum state { READY, BLOCKED, ENDED };

static struct thread_of_scene {
    ucontext_t context;
    unsigned char *stack;
    enum state state;
    bool in_vain; /* nobody else could go on when it had to wait, and it has done nothing since */
} thread[THREADS];

static struct {
    uint8_t options, taken;
} way[CHOICES];

static const struct scene *scene;
static unsigned threads, depth, at, fresh, preemptions, stale;
static ucontext_t outside;
static bool again;
static char wrong[512];

unsigned self;
bool telling;

/* ---- States that have been looked at ---- */

/* For each a bit for each pair of preemptions and stale loads that were spent when it was reached: what can be reached
 * from there with less to spend need not be tried again. */
static struct state_seen {
    uint64_t hash, spent;
} * seen;
static uint64_t slots, states;

static void grow(void)
{
    const uint64_t before = slots;
    struct state_seen *old = seen;
    slots = slots ? slots * 2 : UINT64_C(1) << 16;
    seen = calloc(slots, sizeof *seen);
    if (!seen)
        abort();
    for (uint64_t i = 0; i < before; i++) {
        uint64_t to = old[i].hash & (slots - 1);
        while (old[i].hash && seen[to].hash)
            to = (to + 1) & (slots - 1);
        if (old[i].hash)
            seen[to] = old[i];
    }
    free(old);
}

static bool was_seen(uint64_t hash)
{
    if (states * 4 >= slots * 3)
        grow();
    uint64_t to = hash & (slots - 1), spent = 0;
    while (seen[to].hash && seen[to].hash != hash)
        to = (to + 1) & (slots - 1);
    states += !seen[to].hash;
    seen[to].hash = hash;
    if (seen[to].spent >> (preemptions * 8 + stale) & 1)
        return true;
    for (unsigned p = preemptions; p <= UNLIMITED; p++)
        for (unsigned s = stale; s <= UNLIMITED; s++)
            spent |= UINT64_C(1) << (p * 8 + s);
    seen[to].spent |= spent;
    return false;
}

/* ---- One way ---- */

static unsigned choose(unsigned options)
{
    if (options == 1)
        return 0;
    if (at == CHOICES)
        abort();
    if (at == depth) {
        way[depth].options = (uint8_t)options;
        way[depth++].taken = 0;
    }
    return way[at++].taken;
}

unsigned explore_threads(void)
{
    return threads;
}

bool is_new(void)
{
    return at >= fresh;
}

unsigned choose_value(unsigned values)
{
    const bool may = (scene->stale == UNLIMITED || stale < scene->stale) &&
                     (self == 0 || !(scene->flags & FIRST));
    const unsigned value = may ? choose(values) : 0;
    stale += value && scene->stale != UNLIMITED;
    return value;
}

static void go_on_as(unsigned to)
{
    const unsigned from = self;
    if (to == from)
        return;
    if (telling)
        printf("  thread %u goes on\n", to);
    host_leave(from);
    self = to;
    host_enter(to);
    if (thread[from].state == ENDED)
        setcontext(&thread[to].context);
    else
        swapcontext(&thread[from].context, &thread[to].context);
}

/* Another one than the running thread, if there are any. */
static void change(bool can_stay)
{
    unsigned list[THREADS], count = 0;
    if (can_stay)
        list[count++] = self;
    const bool may =
        !can_stay || scene->preemptions == UNLIMITED || preemptions < scene->preemptions;
    for (unsigned t = 0; t < threads && may; t++)
        if (t != self && thread[t].state == READY)
            list[count++] = t;
    if (!count)
        fail("all threads wait for one another");
    const unsigned to = list[choose(count)];
    preemptions += can_stay && to != self && scene->preemptions != UNLIMITED;
    go_on_as(to);
}

void point(void)
{
    for (unsigned t = 0; t < threads; t++)
        thread[t].state = thread[t].state == BLOCKED && t != self ? READY : thread[t].state;
    host_point();
    if (is_new() && !telling) {
        const unsigned last = scene->preemptions == UNLIMITED ? 0 : self + 1;
        if (was_seen((memory_hash() ^ last * UINT64_C(0x9e3779b97f4a7c15)) | 1)) {
            memory_end();
            setcontext(&outside);
        }
    }
    change(true);
}

bool others_run(void)
{
    bool run = false;
    for (unsigned t = 0; t < threads; t++)
        run |= t != self && thread[t].state != ENDED;
    return run;
}

void wait_for_others(void)
{
    bool ready = false;
    for (unsigned t = 0; t < threads; t++)
        ready |= t != self && thread[t].state == READY;
    if (!ready && thread[self].in_vain)
        fail("all threads wait for one another");
    if (!ready) {
        thread[self].in_vain = true;
        memory_catch_up();
        return;
    }
    thread[self].state = BLOCKED;
    change(false);
}

static void thread_begins(void)
{
    scene->thread[self]();
    host_thread_ends();
    host_leave(self);
    thread[self].state = ENDED;
    for (unsigned t = 0; t < threads; t++)
        thread[t].state = thread[t].state == BLOCKED ? READY : thread[t].state;
    for (unsigned t = 0; t < threads; t++)
        if (thread[t].state != ENDED)
            change(false);
    memory_end();
    if (is_new() && scene->at_end)
        scene->at_end();
    setcontext(&outside);
}

void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(wrong, sizeof wrong, format, args);
    va_end(args);
    memory_end();
    setcontext(&outside);
    abort();
}

void begin_again(void)
{
    again = true;
    memory_end();
    setcontext(&outside);
    abort();
}

static void run(void)
{
    volatile bool begun = false;
    at = preemptions = stale = 0;
    *wrong = 0;
    host_begin();
    memory_begin();
    for (unsigned t = 0; t < threads; t++) {
        getcontext(&thread[t].context);
        thread[t].context.uc_stack.ss_sp = thread[t].stack;
        thread[t].context.uc_stack.ss_size = STACK;
        thread[t].context.uc_link = NULL;
        thread[t].state = READY;
        thread[t].in_vain = false;
        makecontext(&thread[t].context, thread_begins, 0);
    }
    self = scene->flags & FIRST ? 0 : choose(threads);
    host_enter(self);
    getcontext(&outside);
    if (!begun) {
        begun = true;
        setcontext(&thread[self].context);
    }
}

/* The way after this one. False: there is none. */
static bool next_way(void)
{
    while (depth && way[depth - 1].taken + 1 == way[depth - 1].options)
        depth--;
    if (!depth)
        return false;
    way[depth - 1].taken++;
    fresh = depth;
    return true;
}

struct explored explore(const struct scene *s, bool tell)
{
    struct explored r = {0};
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    scene = s;
    for (threads = 0; threads < THREADS && s->thread[threads]; threads++)
        if (!thread[threads].stack && !(thread[threads].stack = malloc(STACK)))
            abort();
    host_set_up(s);
    do {
        depth = fresh = 0;
        again = false;
        free(seen);
        seen = NULL;
        slots = states = 0;
        do {
            run();
            r.runs++;
        } while (!again && !*wrong && states < MOST && next_way());
    } while (again);
    if (*wrong && tell) {
        telling = true;
        fresh = 0;
        run();
        telling = false;
        printf("  %s\n", wrong);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    r.states = states;
    r.all = states < MOST;
    r.seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    r.wrong = *wrong ? wrong : NULL;
    return r;
}
