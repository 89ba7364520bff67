/* SPDX-License-Identifier: ISC */
/* A program to be recorded. Its arguments are what it does, one after the other:
 *
 *     type NAME     of the promises of rounds; at first "round"
 *     rounds N      N times four events: a promise is created, waited for, counted and fulfilled
 *     kinds         every call once, with texts that are hard to print
 *     threads T N   the same in T threads, N rounds each
 *     relay T N     T times two threads: one creates N promises, the other one fulfils them
 *     ready         print "ready", for those who wait for it
 *     spawn N       start itself with `rounds N` and wait for it
 *     start FILE    weft_start
 *     stop          weft_stop
 *     sleep         until a signal ends it; SIGUSR1: with status 5
 *     kill          itself, by SIGKILL
 *     exit N        end with that status
 *     _exit N       the same, and nothing is done at exit */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

static struct weft_counter done = WEFT_COUNTER("done");

static const char *type = "round";

static void *rounds(void *count)
{
    for (long i = *(const long *)count; i > 0; i--) {
        char label[32];
        snprintf(label, sizeof label, "number %ld", i);
        weft_promise p = weft_create(type, i % 2 ? "odd" : label);
        weft_wait(p);
        weft_counter_add(&done, 1);
        weft_fulfill(p);
    }
    return NULL;
}

static void kinds(void)
{
    static struct weft_counter odd = WEFT_COUNTER("odd \\ \"name\"");
    weft_promise main_task = weft_create("task", "caf\xc3\xa9 \xff\x01\t\n\"\\, {x = 1}");
    weft_promise p[12];
    for (unsigned i = 0; i < 12; i++)
        p[i] = weft_create_from(main_task, "two words", NULL);
    weft_run(main_task);
    weft_wait(p[0]);
    weft_suspend(WEFT_WAIT_FOR_WORK);
    weft_resume();
    weft_fulfill(p[0]);
    weft_wake(main_task, p[0]);
    weft_fail(p[1], "no \"luck\"\n");
    weft_read(main_task, p[1]);
    weft_resolve(p[2]);
    weft_cancel(p[3]);
    weft_forget(p[4]);
    weft_become(p[5], p[6]);
    weft_notify(p[7]);
    weft_signal(main_task, p[7]);
    weft_label(p[8], "");
    weft_should_resolve(p[9]);
    weft_background(p[10]);
    weft_counter_add(&odd, -5);
    weft_counter_set(&odd, INT64_MIN);
    weft_gc(1000);
    weft_create_id(main_task, UINT64_MAX - 1, "task", "");
    weft_resolve_by(UINT64_MAX - 1, p[11], WEFT_BY_ERROR, NULL);
    weft_run(WEFT_LOOP);
}

static void threads(long count, long n)
{
    pthread_t *thread = calloc((size_t)count, sizeof *thread);
    for (long i = 0; thread && i < count; i++)
        if (pthread_create(&thread[i], NULL, rounds, &n))
            exit(1);
    for (long i = 0; thread && i < count; i++)
        pthread_join(thread[i], NULL);
    free(thread);
}

struct relay {
    long count;
    weft_promise slot; /* plus 1; 0: empty */
};

static void *produce(void *data)
{
    struct relay *r = data;
    for (long i = 0; i < r->count; i++) {
        weft_promise p = weft_create("parcel", NULL);
        while (__atomic_load_n(&r->slot, __ATOMIC_ACQUIRE))
            ;
        __atomic_store_n(&r->slot, p + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void *consume(void *data)
{
    struct relay *r = data;
    for (long i = 0; i < r->count; i++) {
        weft_promise p;
        while (!(p = __atomic_load_n(&r->slot, __ATOMIC_ACQUIRE)))
            ;
        __atomic_store_n(&r->slot, 0, __ATOMIC_RELEASE);
        weft_fulfill(p - 1);
    }
    return NULL;
}

static void relays(long count, long n)
{
    pthread_t *thread = calloc(2 * (size_t)count, sizeof *thread);
    struct relay *relay = calloc((size_t)count, sizeof *relay);
    for (long i = 0; thread && relay && i < count; i++) {
        relay[i].count = n;
        if (pthread_create(&thread[2 * i], NULL, produce, &relay[i]) ||
            pthread_create(&thread[2 * i + 1], NULL, consume, &relay[i]))
            exit(1);
    }
    for (long i = 0; thread && relay && i < 2 * count; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    free(relay);
}

static void spawn(const char *count)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "recorded", "rounds", count, (char *)NULL);
        _exit(1);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
        exit(1);
}

static void on_usr1(int number)
{
    (void)number;
    _exit(5);
}

static void start(const char *path)
{
    struct weft_options options = {.size = sizeof options, .path = path};
    int rc = weft_start(&options);
    if (rc < 0)
        printf("weft_start: %s\n", strerror(-rc));
}

int main(int argc, char **argv)
{
    signal(SIGUSR1, on_usr1);
    for (int i = 1; i < argc; i++) {
        const char *what = argv[i];
        long first = i + 1 < argc ? strtol(argv[i + 1], NULL, 10) : 0;
        long second = i + 2 < argc ? strtol(argv[i + 2], NULL, 10) : 0;
        if (!strcmp(what, "type")) {
            type = argv[++i];
        } else if (!strcmp(what, "rounds")) {
            rounds(&first), i++;
        } else if (!strcmp(what, "kinds")) {
            kinds();
        } else if (!strcmp(what, "threads")) {
            threads(first, second), i += 2;
        } else if (!strcmp(what, "relay")) {
            relays(first, second), i += 2;
        } else if (!strcmp(what, "ready")) {
            puts("ready"), fflush(stdout);
        } else if (!strcmp(what, "spawn")) {
            spawn(argv[++i]);
        } else if (!strcmp(what, "start")) {
            start(argv[++i]);
        } else if (!strcmp(what, "stop")) {
            weft_stop();
        } else if (!strcmp(what, "sleep")) {
            for (;;)
                pause();
        } else if (!strcmp(what, "kill")) {
            raise(SIGKILL);
        } else if (!strcmp(what, "exit")) {
            return (int)first;
        } else if (!strcmp(what, "_exit")) {
            _exit((int)first);
        } else {
            fprintf(stderr, "recorded: what is %s?\n", what);
            return 2;
        }
    }
    return 0;
}
