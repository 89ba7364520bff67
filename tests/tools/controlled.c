/* SPDX-License-Identifier: ISC */
/* A program that does nothing by itself, to be recorded by others. Each line that it reads is something to do;
 * it says "ok" when that is done:
 *
 *     rounds N     N promises, created and fulfilled: 2 N events
 *     handler      a round in a signal handler
 *     small        a round in a signal handler on a stack of the smallest size
 *     threads T N  T threads, N rounds each
 *     churn T      T threads that make rounds for ever
 *     fork, _fork  a child makes a round and exits; answers when it has
 *     orphan       a child by fork that stays when this process goes; says its number
 *     standby      weft_standby
 *     start FILE   weft_start
 *     stop, pause, unpause
 *     hang         a task that waits for a reply; nobody resolves it before "reply"
 *     reply        the reply comes, and the task ends
 *     again        another task waits for the same reply
 *     zero N       the N-th call, about a promise that was made before anything was recorded
 *     cancel       a round in a thread that is to be cancelled
 *     hide         is not dumpable from here on
 *     exec         is this program again
 *     quit         exit 0 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

static void rounds(long n)
{
    while (n-- > 0)
        weft_fulfill(weft_create("round", NULL));
}

static void on_signal(int number)
{
    (void)number;
    rounds(1);
}

static void handle(int flags)
{
    sigaction(SIGUSR2, &(struct sigaction){.sa_handler = on_signal, .sa_flags = flags}, NULL);
    raise(SIGUSR2);
}

/* The page below the stack cannot be touched. */
static void on_small_stack(void)
{
    const size_t page = 4096,
                 bytes = ((size_t)sysconf(_SC_MINSIGSTKSZ) + 4096 + page - 1) / page * page;
    char *p = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = p + page, .ss_size = bytes}, none = {.ss_flags = SS_DISABLE};
    if (p == MAP_FAILED || mprotect(p, page, PROT_NONE) || sigaltstack(&stack, NULL))
        exit(1);
    handle(SA_ONSTACK);
    sigaltstack(&none, NULL);
    munmap(p, page + bytes);
}

static void *make_rounds(void *n)
{
    rounds(*(const long *)n);
    return NULL;
}

static void *cancelled(void *nothing)
{
    (void)nothing;
    pthread_cancel(pthread_self());
    rounds(1);
    pthread_testcancel();
    exit(1); /* it was not cancelled */
}

static void threads(long count, long n, int wait)
{
    static long forever;
    pthread_t thread[64];
    forever = n;
    for (long i = 0; i < count && i < 64; i++)
        if (pthread_create(&thread[i], NULL, make_rounds, &forever))
            exit(1);
    for (long i = 0; wait && i < count && i < 64; i++)
        pthread_join(thread[i], NULL);
}

static void child(int with_handlers)
{
    pid_t pid = with_handlers ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    int status = 0;
    if (pid == 0) {
        rounds(1000);
        exit(0); /* with what is to be done at exit */
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        exit(1);
    if (status)
        printf("the child ended with %x\n", (unsigned)status);
}

static void orphan(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 3; i++)
            close(i);
        pause();
        _exit(0);
    }
    printf("%d\n", (int)pid);
}

static void cancel(void)
{
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, cancelled, NULL) || pthread_join(thread, &result) ||
        result != PTHREAD_CANCELED)
        exit(1);
}

/* Returns how many there are. */
static int about_nothing(long which)
{
    static struct weft_counter counter = WEFT_COUNTER("counter");
    const weft_promise p = 0;
    enum { FIRST = __COUNTER__ };
#define CALL(call)                                                                                 \
    if (which == __COUNTER__ - FIRST)                                                              \
    call
    CALL(weft_fulfill(p));
    CALL(weft_wait(p));
    CALL(weft_wake(p, p));
    CALL(weft_run(p));
    CALL(weft_signal(p, p));
    CALL(weft_label(p, "y"));
    CALL(weft_notify(p));
    CALL(weft_suspend(WEFT_WAIT_FOR_WORK));
    CALL(weft_resume());
    CALL(weft_fail(p, "x"));
    CALL(weft_fail(p, NULL));
    CALL(weft_cancel(p));
    CALL(weft_resolve(p));
    CALL(weft_forget(p));
    CALL(weft_become(p, p));
    CALL(weft_read(p, p));
    CALL(weft_wait_by(p, p));
    CALL(weft_notify_by(p, p));
    CALL(weft_should_resolve(p));
    CALL(weft_background(p));
    CALL(weft_resolve_by(p, p, WEFT_BY_VALUE, NULL));
    CALL(weft_resolve_by(p, p, WEFT_BY_ERROR, "x"));
    CALL(weft_resolve_by(p, p, WEFT_BY_CANCEL, NULL));
    CALL(weft_gc(1));
    CALL(weft_counter_add(&counter, 1));
    CALL(weft_wake(1, p));
    CALL(weft_wake(p, 1));
    CALL(weft_label(1, NULL));
#undef CALL
    return __COUNTER__ - FIRST - 1;
}

static weft_promise waiting, awaited;

static void wait_for_reply(void)
{
    weft_promise task = weft_create("task", "asks");
    weft_should_resolve(task);
    if (!awaited)
        awaited = weft_create("reply", "answer");
    weft_wait_by(task, awaited);
    waiting = task;
}

static void reply(void)
{
    weft_fulfill(awaited);
    weft_read(waiting, awaited);
    weft_fulfill(waiting);
    waiting = awaited = 0;
}

static void start(const char *path)
{
    int rc = weft_start(&(struct weft_options){.path = path, .bytes = 1 << 20});
    if (rc < 0)
        printf("weft_start: %s\n", strerror(-rc));
}

int main(int argc, char **argv)
{
    char line[1024], what[32], text[1024];
    (void)argc;
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("ok");
    while (fgets(line, sizeof line, stdin)) {
        int words = sscanf(line, "%31s %1023s", what, text);
        long n = words > 1 ? strtol(text, NULL, 10) : 0;
        if (words < 1)
            continue;
        if (!strcmp(what, "rounds"))
            rounds(n);
        else if (!strcmp(what, "zero"))
            printf("of %d\n", about_nothing(n));
        else if (!strcmp(what, "handler"))
            handle(0);
        else if (!strcmp(what, "small"))
            on_small_stack();
        else if (!strcmp(what, "threads"))
            threads(n, strtol(strrchr(line, ' '), NULL, 10), 1);
        else if (!strcmp(what, "churn"))
            threads(n, 1L << 60, 0);
        else if (!strcmp(what, "fork") || !strcmp(what, "_fork"))
            child(*what == 'f');
        else if (!strcmp(what, "orphan"))
            orphan();
        else if (!strcmp(what, "standby"))
            weft_standby(1);
        else if (!strcmp(what, "start"))
            start(text);
        else if (!strcmp(what, "stop"))
            weft_stop();
        else if (!strcmp(what, "pause"))
            weft_pause();
        else if (!strcmp(what, "unpause"))
            weft_unpause();
        else if (!strcmp(what, "hang") || !strcmp(what, "again"))
            wait_for_reply();
        else if (!strcmp(what, "reply"))
            reply();
        else if (!strcmp(what, "cancel"))
            cancel();
        else if (!strcmp(what, "hide"))
            prctl(PR_SET_DUMPABLE, 0);
        else if (!strcmp(what, "exec"))
            execv("/proc/self/exe", argv);
        else if (!strcmp(what, "quit"))
            return 0;
        else
            return 2;
        puts("ok");
    }
    return 0;
}
