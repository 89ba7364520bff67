/* SPDX-License-Identifier: ISC */
/* Children and new programs: what each process records stands in its own trace, or in none, and the parent's
 * is as if there had been none.
 *
 *     processes [-n TIMES] [-s SEED] FILE
 *
 * fork, after which the child records nothing, or into a file of its own; vfork and exec; posix_spawn; exec of
 * itself with WEFT_TRACE set, at the parent's file and at another; a child of a thread in the middle of others'
 * events. Threads record all the while. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../record/trace.h"
#include "truth.h"
#include "verify.h"
#include <weft/weft.h>

enum { THREADS = 3, CHILD_EVENTS = 500 };
enum how { SILENT, OWN_FILE, EXITS, VFORK, SPAWN, EXEC_SAME_FILE, EXEC_OWN_FILE, HOWS };
static const char *const hows[] = {"fork, nothing",    "fork and weft_start",
                                   "fork and exit",    "vfork and exec",
                                   "posix_spawn",      "exec with the parent's WEFT_TRACE",
                                   "exec with its own"};

static struct truth *truth;
static char path[4096], other[4096 + 8];
static const char *self;

/* What a child records in a trace of its own. */
static int record_own(void)
{
    for (uint64_t i = 1; i <= CHILD_EVENTS; i++)
        weft_forget(i);
    return 0;
}

static bool check_own(const char *file)
{
    struct trace t;
    bool ok = trace_read(&t, file) == 0 && !t.damage->problems && t.events == CHILD_EVENTS;
    for (size_t i = 0; i < t.events && ok; i++)
        ok = t.event[i].kind == WEFT_EVENT_FORGETS && t.event[i].a == i + 1;
    if (!ok)
        printf("%s: %s, %zu events of %d\n", file, t.error.text, t.events, CHILD_EVENTS);
    trace_free(&t);
    unlink(file);
    return ok;
}

static void in_child(enum how how)
{
    weft_promise p = weft_create("child", "of a fork");
    weft_fulfill(p ? p : 7);
    record_own(); /* into nothing */
    if (p)
        _exit(10);
    if (how == EXITS)
        exit(0);
    if (how == OWN_FILE) {
        if (weft_start(&(struct weft_options){.path = other, .bytes = 64 << 10}))
            _exit(11);
        record_own();
        weft_stop();
    }
    if (how == EXEC_SAME_FILE || how == EXEC_OWN_FILE) {
        setenv("WEFT_TRACE", how == EXEC_SAME_FILE ? path : other, 1);
        setenv("WEFT_TRACE_SIZE", "65536", 1);
        if (how == EXEC_SAME_FILE) /* it says that the file is in use */
            close(STDERR_FILENO);
        execl(self, self, "child", (char *)NULL);
        _exit(12);
    }
    _exit(0);
}

extern char **environ;

static bool one_child(enum how how)
{
    char *const args[] = {(char *)"true", NULL};
    int status = -1;
    pid_t pid;
    if (how == VFORK) {
        pid = vfork();
        if (pid == 0) {
            execv("/bin/true", args);
            _exit(13);
        }
    } else if (how == SPAWN) {
        if (posix_spawn(&pid, "/bin/true", NULL, NULL, args, environ))
            pid = -1;
    } else {
        fflush(stdout);
        pid = fork();
        if (pid == 0)
            in_child(how);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
        printf("%s: status %x\n", hows[how], (unsigned)status);
        return false;
    }
    return (how != OWN_FILE && how != EXEC_OWN_FILE) || check_own(other);
}

static void *work(void *arg)
{
    return truth_run(truth, (unsigned)(uintptr_t)arg);
}

/* Thread 0 has children while the others record. */
static bool run(uint64_t times)
{
    pthread_t thread[THREADS];
    bool ok = true;
    int rc = weft_start(&(struct weft_options){.path = path, .bytes = 1 << 20});
    if (rc < 0) {
        printf("weft_start: %s\n", strerror(-rc));
        return false;
    }
    truth_begin(truth, 0);
    for (uintptr_t t = 1; t < THREADS; t++)
        if (pthread_create(&thread[t], NULL, work, (void *)t))
            return false;
    for (uint64_t i = 0; i < times && ok; i++)
        for (unsigned how = 0; how < HOWS && ok; how++) {
            ok = one_child((enum how)how);
            for (unsigned k = 0; k < 50; k++)
                truth_step(truth, 0);
        }
    __atomic_store_n(&truth->stop, 1, __ATOMIC_RELAXED);
    for (unsigned t = 1; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    weft_stop();
    return ok;
}

int main(int argc, char **argv)
{
    const char *env[] = {getenv("TIMES"), getenv("SEED")};
    uint64_t times = env[0] ? strtoull(env[0], NULL, 10) : 20;
    uint64_t seed = env[1] ? strtoull(env[1], NULL, 10) : 1;
    if (argc == 2 && !strcmp(argv[1], "child"))
        return record_own();
    for (int o; (o = getopt(argc, argv, "n:s:")) != -1;) {
        if (o == '?')
            return 2;
        *(o == 'n' ? &times : &seed) = strtoull(optarg, NULL, 10);
    }
    truth = truth_new();
    if (optind != argc - 1 || !truth)
        return 2;
    self = "/proc/self/exe";
    snprintf(path, sizeof path, "%s", argv[optind]);
    snprintf(other, sizeof other, "%s.child", path);
    printf("seed %" PRIu64 "\n", seed);
    truth->plan = (struct truth_plan){
        .threads = THREADS, .cells = 200, .old = 100, .share = 64, .labels = 128, .seed = seed};
    struct verified v = {.traces = 0};
    struct truth_snapshot snapshot;
    bool ok = run(times);
    truth_snap(&snapshot, truth, false);
    for (unsigned t = 0; t < THREADS; t++)
        truth->thread[t].floor = truth->thread[t].done;
    ok = ok && verify_calls(truth, path, WEFT_ENDED_STOPPED, &v) &&
         verify_promises(&snapshot, NULL, path, &v);
    printf("%" PRIu64 " children of each kind; %" PRIu64 " events compared, %" PRIu64
           " promises pending\n",
           times, v.events, v.pending);
    free(snapshot.cell);
    return !ok;
}
