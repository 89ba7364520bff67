/* SPDX-License-Identifier: ISC */
/* driven: a program that does nothing by itself. Each line that it reads is something to do; it says "ok" when that is done,
 * and once at the beginning. X and Y are letters, the names of promises; the last word of a line may have spaces.
 *
 *     create X TYPE LABEL
 *     wait X Y, become X Y
 *     hold X Y             X holds Y
 *     background X
 *     fulfil X, fail X REASON
 *     slow MS LABEL        a request begins, and ends MS milliseconds later
 *     work MS LABEL        … and uses the CPU for so long, in grind()
 *     rounds N LABEL       N promises of the type "round", created and fulfilled
 *     turns N              N turns of the event loop, after which it is idle
 *     busy                 the loop is not idle any more
 *     busy MS              … for that long: one turn
 *     counter NAME N       sets a counter
 *     call REASON          asks that the last seconds be kept
 *     exit STATUS
 *     crash                by SIGABRT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/weft.h>

static weft_promise promise[256];

static void pass(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&t, &t) < 0)
        ;
}

/* Uses the CPU for that long, however long it has to wait for one. */
__attribute__((noinline)) static void grind(long ms)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    const long long until = now.tv_sec * 1000LL + now.tv_nsec / 1000000 + ms;
    while (now.tv_sec * 1000LL + now.tv_nsec / 1000000 < until) {
        for (volatile unsigned i = 0; i < 1000000; i++)
            ;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    }
}

static void request(const char *label, void (*spend)(long ms), long ms)
{
    weft_resume();
    weft_promise p = weft_create("request", label);
    weft_run(p);
    spend(ms);
    weft_fulfill(p);
    weft_suspend(WEFT_WAIT_FOR_WORK);
}

static void rounds(long n, const char *label)
{
    while (n-- > 0)
        weft_fulfill(weft_create("round", label));
}

static void turns(long n)
{
    while (n-- > 0) {
        weft_resume();
        weft_suspend(WEFT_WAIT_FOR_WORK);
    }
}

static void busy(long ms)
{
    weft_resume();
    pass(ms);
    if (ms)
        weft_suspend(WEFT_WAIT_FOR_WORK);
}

static void count(const char *name, long value)
{
    static struct {
        char name[64];
        struct weft_counter counter;
    } known[8];
    unsigned i = 0;
    while (i < 7 && *known[i].name && strcmp(known[i].name, name) != 0)
        i++;
    snprintf(known[i].name, sizeof known[i].name, "%s", name);
    known[i].counter.name = known[i].name;
    weft_counter_set(&known[i].counter, value);
}

static void create(unsigned char x, char *type)
{
    char *label = strchr(type, ' ');
    if (label)
        *label++ = 0;
    promise[x] = weft_create(type, label);
}

/* Returns false if the word means nothing. */
static int about_promises(const char *what, weft_promise x, const char *rest)
{
    const weft_promise y = promise[(unsigned char)*rest];
    if (!strcmp(what, "wait"))
        weft_wait_by(x, y);
    else if (!strcmp(what, "become"))
        weft_become(x, y);
    else if (!strcmp(what, "hold"))
        weft_acquire_by(x, y);
    else if (!strcmp(what, "background"))
        weft_background(x);
    else if (!strcmp(what, "fulfil"))
        weft_fulfill(x);
    else if (!strcmp(what, "fail"))
        weft_fail(x, *rest ? rest : "no reason");
    else
        return 0;
    return 1;
}

static void obey(const char *what, const char *first, char *rest)
{
    if (!strcmp(what, "create"))
        create((unsigned char)*first, rest);
    else if (!strcmp(what, "slow"))
        request(rest, pass, atol(first));
    else if (!strcmp(what, "work"))
        request(rest, grind, atol(first));
    else if (!strcmp(what, "rounds"))
        rounds(atol(first), rest);
    else if (!strcmp(what, "turns"))
        turns(atol(first));
    else if (!strcmp(what, "busy"))
        busy(atol(first));
    else if (!strcmp(what, "counter"))
        count(first, atol(rest));
    else if (!strcmp(what, "call"))
        weft_snapshot(first);
    else if (!strcmp(what, "crash"))
        abort();
    else if (!strcmp(what, "exit"))
        exit(atoi(first));
    else if (!about_promises(what, promise[(unsigned char)*first], rest))
        exit(2);
}

int main(void)
{
    char line[1024], what[32], first[64], rest[1024];
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("ok");
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        *first = *rest = 0;
        if (sscanf(line, "%31s %63s %1023[^\n]", what, first, rest) < 1)
            return 2;
        obey(what, first, rest);
        puts("ok");
    }
    return 0;
}
