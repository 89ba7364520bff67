/* SPDX-License-Identifier: ISC */
/* A program that leaves a core: two threads wait for a lock that the first one has, and one serves a request, that is, a
 * promise runs on it, when it ends all as its first argument says. It records if it is told to (WEFT_TRACE).
 *
 *     crashing segv     writes to address 16
 *     crashing jump     calls address 0
 *     crashing divide   divides by zero
 *     crashing assert   an assertion fails
 *     crashing idle     … after the promise has run
 *     crashing wait     prints "ready PID" and waits for a debugger */
#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/weft.h>

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int thread_id[3]; /* of those that wait */
static const char *how;
static volatile long zero;
static weft_promise request, reply;

static __attribute__((noinline)) void parse_request(const char *text)
{
    if (strcmp(how, "segv") == 0) {
        volatile long *nowhere = (volatile long *)(16 + zero);
        *nowhere = text[0];
    } else if (strcmp(how, "jump") == 0) {
        void (*volatile nowhere)(void) = NULL;
        nowhere();
    } else if (strcmp(how, "divide") == 0) {
        zero = text[0] / zero;
    } else if (strcmp(how, "assert") == 0) {
        assert(zero && "the request is complete");
    } else if (strcmp(how, "wait") == 0) {
        printf("ready %d\n", (int)getpid());
        fflush(stdout);
        for (;;)
            pause();
    }
}

static __attribute__((noinline)) void serve(void)
{
    parse_request("GET /users/7");
    __asm__ volatile(""); /* no tail call */
}

/* Until a thread waits in futex; word 0: for anything. Where the kernel does not say so, whatever it does. */
static void await(atomic_int *id, uintptr_t word)
{
    char path[64], line[256] = "";
    long call;
    uintptr_t at;
    int thread;
    while (!(thread = atomic_load(id)))
        sched_yield();
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
    for (;;) {
        FILE *f = fopen(path, "r");
        const bool said = f && fgets(line, sizeof line, f);
        if (f)
            fclose(f);
        if (!said || (sscanf(line, "%ld %" SCNxPTR, &call, &at) == 2 && call == SYS_futex &&
                      (!word || at == word)))
            return;
        sched_yield();
    }
}

static void *serve_all(void *unused)
{
    (void)unused;
    prctl(PR_SET_NAME, "server");
    weft_run(request);
    weft_wait(reply);
    weft_fulfill(reply);
    weft_wake(request, reply);
    for (unsigned i = 0; i < 3; i++)
        await(&thread_id[i], i ? (uintptr_t)&table_lock : 0);
    if (strcmp(how, "idle") == 0) {
        weft_run(WEFT_LOOP);
        abort();
    }
    serve();
    return NULL;
}

static void *update_table(void *id)
{
    atomic_store((atomic_int *)id, (int)syscall(SYS_gettid));
    pthread_mutex_lock(&table_lock);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[3];
    how = argc > 1 ? argv[1] : "";
    const weft_promise listener = weft_create("listener", "accept");
    const weft_promise connection = weft_create_from(listener, "connection", "from 192.0.2.7");
    request = weft_create_from(connection, "request", "GET /users/7");
    reply = weft_create_from(request, "query", "select 7");
    pthread_mutex_lock(&table_lock);
    atomic_store(&thread_id[0], (int)getpid());
    if (pthread_create(&thread[0], NULL, update_table, &thread_id[1]) ||
        pthread_create(&thread[1], NULL, update_table, &thread_id[2]) ||
        pthread_create(&thread[2], NULL, serve_all, NULL))
        return 1;
    pthread_join(thread[2], NULL);
    return 0;
}
