/* SPDX-License-Identifier: ISC */
/* Ends a program in the middle of recording, again and again, and compares what it has left with what is
 * known of it (../torture/truth.h): of each thread its newest events, none torn, none missing but what was
 * overwritten and counted; every pending promise once and whole, however long ago it was created, and
 * nothing as pending that was resolved.
 *
 *     killed [-n TIMES] [-o TIMES] [-s SEED] FOLDER
 *
 * SIGKILL -n times, at random moments; other ends -o times each. Also in the environment: CRASHES, ENDS and
 * SEED. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../torture/truth.h"
#include "../torture/verify.h"
#include <weft/weft.h>

/* X(NAME, "name", ended, status) */
#define ENDINGS(X)                                                                                 \
    X(KILL, "kill", WEFT_ENDED_KILLED)                                                             \
    X(ABORT, "abort", WEFT_ENDED_KILLED)                                                           \
    X(SEGFAULT, "segmentation fault", WEFT_ENDED_KILLED)                                           \
    X(TERM, "terminated", WEFT_ENDED_KILLED)                                                       \
    X(EXIT_AT_ONCE, "_exit", WEFT_ENDED_KILLED)                                                    \
    X(EXEC, "exec of another program", WEFT_ENDED_KILLED)                                          \
    X(OOM, "out of memory", WEFT_ENDED_KILLED)                                                     \
    X(EXIT, "exit", WEFT_ENDED_STOPPED)

enum ending {
#define X(NAME, name, ended) END_##NAME,
    ENDINGS(X)
#undef X
        ENDINGS_COUNT
};

static const char *const names[] = {
#define X(NAME, name, ended) name,
    ENDINGS(X)
#undef X
};

static const enum weft_ended endeds[] = {
#define X(NAME, name, ended) ended,
    ENDINGS(X)
#undef X
};

static struct truth *truth;
static struct verified verified;
static char path[2 * 4096], cgroup[128]; /* of path, a page can be made unreadable */
static uint64_t dice;

static uint64_t below(uint64_t n)
{
    return truth_dice(&dice) % n;
}

/* ---- A group whose memory is limited, so that the system kills the program ---- */

static bool put_line(const char *folder, const char *file, const char *line)
{
    char name[256];
    snprintf(name, sizeof name, "%s/%s", folder, file);
    FILE *f = fopen(name, "w");
    bool ok = f && fputs(line, f) >= 0;
    return f && fclose(f) == 0 && ok;
}

static bool make_cgroup(void)
{
    const char *roots[] = {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"};
    const char *limits[] = {"memory.limit_in_bytes", "memory.max"};
    const char *swaps[] = {"memory.memsw.limit_in_bytes", "memory.swap.max"};
    for (unsigned i = 0; i < 2; i++) {
        snprintf(cgroup, sizeof cgroup, "%s/weft-killed-%d", roots[i], (int)getpid());
        if (mkdir(cgroup, 0755) < 0)
            continue;
        if (put_line(cgroup, limits[i], "402653184")) {
            put_line(cgroup, swaps[i], i ? "0" : "402653184");
            return true;
        }
        rmdir(cgroup);
    }
    cgroup[0] = 0;
    return false;
}

static void use_up_memory(void)
{
    const size_t bytes = (size_t)1 << 30;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; p != MAP_FAILED && i < bytes; i += 4096)
        ((volatile char *)p)[i] = 1;
    _exit(3); /* nobody has killed it */
}

/* ---- The program that ends ---- */

static void end_as(enum ending ending)
{
    switch (ending) {
    case END_ABORT:
        abort();
    case END_SEGFAULT:
        mprotect((void *)(((uintptr_t)path + 4095) & ~(uintptr_t)4095), 4096, PROT_NONE);
        path[4095] = 0;
        break;
    case END_TERM:
        raise(SIGTERM);
        break;
    case END_EXIT_AT_ONCE:
        _exit(0);
    case END_EXEC:
        execl("/bin/true", "true", (char *)NULL);
        break;
    case END_OOM:
        use_up_memory();
        break;
    default:
        for (unsigned t = 0; t < truth->plan.threads; t++)
            truth->thread[t].floor = __atomic_load_n(&truth->thread[t].done, __ATOMIC_ACQUIRE);
        exit(0);
    }
    _exit(2);
}

/* As many promises as are remembered in a trace of that size, whatever place their numbers give them. */
static void fit_cells(void)
{
    struct weft_pending_header h;
    struct truth_plan *plan = &truth->plan;
    if (!verify_pending_header(path, &h))
        return;
    if (plan->cells > h.cells / 4)
        plan->cells = h.cells / 4;
    if (plan->old > plan->cells / 2)
        plan->old = plan->cells / 2;
}

/* The calls after which thread 0 ends the program; UINT64_MAX: somebody else does. */
static void record(uint64_t bytes, enum ending ending, uint64_t after)
{
    char pid[16];
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    for (int s = 1; s < 32; s++)
        signal(s, SIG_DFL);
    alarm(TRUTH_ALARM);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    int rc = ending == END_OOM && !put_line(cgroup, "cgroup.procs", pid) ? -EACCES : 0;
    if (rc == 0)
        rc = weft_start(&(struct weft_options){.path = path, .bytes = bytes});
    if (rc == 0)
        fit_cells();
    __atomic_store_n(&truth->error, rc, __ATOMIC_RELEASE);
    truth_begin(truth, 0);
    if (rc == 0 && below(2))
        truth_fill(truth, 0, 0, truth->plan.old);
    if (rc < 0 || truth_start_threads(truth))
        _exit(1);
    while (truth->thread[0].done < after)
        truth_step(truth, 0);
    end_as(ending);
}

/* ---- The test ---- */

/* Waits until the program's threads have made so many calls, and kills it. */
static void kill_after(pid_t pid, uint64_t calls)
{
    siginfo_t info = {0};
    for (uint64_t sum = 0; sum < calls && !info.si_pid;) {
        sum = 0;
        bool all = __atomic_load_n(&truth->ready, __ATOMIC_ACQUIRE) >= truth->plan.threads;
        for (unsigned t = 0; all && t < truth->plan.threads; t++)
            sum += __atomic_load_n(&truth->thread[t].done, __ATOMIC_ACQUIRE);
        nanosleep(&(struct timespec){.tv_nsec = (long)below(20000)}, NULL);
        waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    }
    kill(pid, SIGKILL);
}

/* Whether it ended as it should have. */
static bool ended_as(enum ending ending, int status)
{
    static const int signals[] = {
        [END_KILL] = SIGKILL, [END_ABORT] = SIGABRT, [END_SEGFAULT] = SIGSEGV,
        [END_TERM] = SIGTERM, [END_OOM] = SIGKILL,   [END_EXIT] = 0};
    const int wanted = signals[ending];
    if (wanted ? WIFSIGNALED(status) && WTERMSIG(status) == wanted
               : WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    printf("ended with status %x\n", (unsigned)status);
    return false;
}

static bool crash(uint64_t bytes, enum ending ending, uint64_t calls)
{
    int status;
    const struct truth_plan wanted = truth->plan;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        record(bytes, ending, ending == END_KILL ? UINT64_MAX : calls / wanted.threads + 1);
        _exit(2);
    }
    if (ending == END_KILL)
        kill_after(pid, calls);
    waitpid(pid, &status, 0);
    bool ok = pid > 0 && truth->error == 0 && ended_as(ending, status);
    if (truth->error)
        printf("weft_start: %s\n", strerror(-truth->error));
    if (ok) {
        struct truth_snapshot snapshot;
        truth_snap(&snapshot, truth, false);
        for (unsigned t = 0; t < wanted.threads && ending != END_EXIT; t++)
            truth->thread[t].floor = truth->thread[t].done;
        ok = verify_calls(truth, path, endeds[ending], &verified);
        if (ending != END_EXIT) /* the others go on while it stops */
            ok = verify_promises(&snapshot, NULL, path, &verified) && ok;
        free(snapshot.cell);
    }
    if (!ok)
        printf("%s; %u threads, %" PRIu64 " bytes, %" PRIu32 " promises, %" PRIu32
               " old, share %" PRIu32 ", labels %" PRIu32 ", calls %" PRIu64 "\n",
               names[ending], truth->plan.threads, bytes, truth->plan.cells, truth->plan.old,
               truth->plan.share, truth->plan.labels, calls);
    return ok;
}

/* A program that nobody has tried yet. */
static bool any_crash(enum ending ending, bool full)
{
    static const uint64_t sizes[] = {64 << 10, 96 << 10, 256 << 10, 1 << 20, 8 << 20, 16 << 20};
    uint64_t bytes = sizes[below(full ? 6 : 5)];
    uint32_t cells = 1u << (3 + below(12)); /* up to 16384 */
    uint64_t most = 1u << (8 + below(full ? 16 : 12));
    truth_clear(truth);
    truth->plan = (struct truth_plan){
        .threads = 1 + (unsigned)below(8),
        .own = below(3) == 0,
        .late = below(2),
        .cells = cells,
        .old = (uint32_t)below(cells),
        .share = 1u << below(11),
        .labels = below(4) ? 128 : 0,
        .seed = below(UINT32_MAX),
    };
    return crash(bytes, ending, 1 + below(most));
}

static unsigned long number(const char *name, unsigned long otherwise)
{
    const char *value = getenv(name);
    return value && *value ? strtoul(value, NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    unsigned long n = number("CRASHES", 100), others = number("ENDS", 3);
    unsigned long seed = number("SEED", (unsigned long)getpid()), done = 0, ends = 0;
    for (int o; (o = getopt(argc, argv, "n:o:s:")) != -1;) {
        if (o == '?')
            return 2;
        *(o == 'n' ? &n : o == 'o' ? &others : &seed) = strtoul(optarg, NULL, 10);
    }
    truth = truth_new();
    if (optind != argc - 1 || !truth)
        return 2;
    snprintf(path, sizeof path, "%s/killed.%d", argv[optind], (int)getpid());
    printf("seed %lu\n", seed);
    dice = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    bool ok = true, oom = make_cgroup();
    for (int end = END_KILL + 1; end < ENDINGS_COUNT && ok; end++)
        for (unsigned long i = 0; i < others && ok; i++)
            if (end != END_OOM || oom)
                ok = any_crash((enum ending)end, n >= 1000), ends++;
    if (!oom)
        printf("not tried: the system's killing it for want of memory, without a memory cgroup of "
               "our own; to the program it is SIGKILL\n");
    for (; done < n && ok; done++)
        ok = any_crash(END_KILL, n >= 1000);
    if (ok)
        unlink(path);
    else
        printf("the trace is left in %s\n", path);
    if (oom)
        rmdir(cgroup);
    if (verified.off_ns > 1000000) {
        printf("a creation is %" PRIu64 " ns outside of its call\n", verified.off_ns);
        ok = false;
    }
    printf("%lu killed, %lu ended otherwise; %" PRIu64 " events compared, %" PRIu64
           " lost between, %" PRIu64 " promises pending, %" PRIu64
           " of them older than all events, "
           "%" PRIu64 " given up, %" PRIu64 " notes skipped; %" PRIu64
           " inherited waits; creations within %" PRIu64 " ns\n",
           done, ends, verified.events, verified.missing, verified.pending, verified.promoted,
           verified.given_up, verified.skipped, verified.inherited, verified.off_ns);
    return !ok;
}
