/* SPDX-License-Identifier: ISC */
/* driven: does what standard input says, a line each, and says "done" for each, so that a test knows how far it is.
 *   slow LABEL MS      a request with that label begins and ends MS milliseconds later
 *   begin LABEL        a request begins; the next `end` ends it, `fail REASON` makes it fail
 *   work LABEL MS      a request with that label uses the CPU for MS milliseconds, in grind()
 *   busy MS            one turn of the event loop takes that long
 *   counter NAME N     sets a counter
 *   many LABEL N       N requests begin and end at once
 *   call REASON        asks that the last seconds be kept
 *   exit STATUS        ends so; crash: by SIGABRT */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>

static weft_promise open_one;

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

static weft_promise begin(const char *label)
{
    weft_promise p = weft_create("request", label);
    weft_run(p);
    return p;
}

static void many(const char *label, long n)
{
    while (n-- > 0)
        weft_fulfill(begin(label));
}

static void count(const char *name, long value)
{
    static struct {
        char name[64];
        struct weft_counter counter;
    } known[8];
    static unsigned used;
    unsigned i = 0;
    while (i < used && strcmp(known[i].name, name) != 0)
        i++;
    if (i == sizeof known / sizeof *known)
        return;
    if (i == used) {
        snprintf(known[used].name, sizeof known[used].name, "%s", name);
        known[used].counter.name = known[used].name;
        used++;
    }
    weft_counter_set(&known[i].counter, value);
}

/* Returns false if the program is to end. */
static int obey(char *line)
{
    char *word = strtok(line, " \n"), *first = strtok(NULL, " \n"), *second = strtok(NULL, " \n");
    const long n = second ? atol(second) : first ? atol(first) : 0;
    if (!word)
        return 1;
    if (strcmp(word, "slow") == 0 && second) {
        weft_promise p = begin(first);
        pass(n);
        weft_fulfill(p);
    } else if (strcmp(word, "work") == 0 && second) {
        weft_promise p = begin(first);
        grind(n);
        weft_fulfill(p);
    } else if (strcmp(word, "begin") == 0 && first) {
        open_one = begin(first);
    } else if (strcmp(word, "end") == 0) {
        weft_fulfill(open_one);
    } else if (strcmp(word, "fail") == 0 && first) {
        weft_fail(open_one, first);
    } else if (strcmp(word, "busy") == 0) {
        weft_resume();
        pass(n);
        weft_suspend(WEFT_WAIT_FOR_WORK);
        weft_resume();
    } else if (strcmp(word, "counter") == 0 && second) {
        count(first, n);
    } else if (strcmp(word, "many") == 0 && second) {
        many(first, n);
    } else if (strcmp(word, "call") == 0 && first) {
        weft_snapshot(first);
    } else if (strcmp(word, "crash") == 0) {
        abort();
    } else if (strcmp(word, "exit") == 0) {
        exit((int)n);
    }
    return 1;
}

int main(void)
{
    char line[512];
    weft_fulfill(weft_create("start", NULL));
    weft_suspend(WEFT_WAIT_FOR_WORK);
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        weft_resume();
        obey(line);
        weft_suspend(WEFT_WAIT_FOR_WORK);
        puts("done");
        fflush(stdout);
    }
    return 0;
}
