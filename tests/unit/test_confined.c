/* SPDX-License-Identifier: ISC */
/* What files of strangers can do to whoever looks up symbols in them: nothing is opened but regular files, and a worker
 * can do nothing but compute, for a while. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/names.h"
#include "symbols/regular.h"
#include "test.h"

static char directory[] = "/tmp/weft-confined-XXXXXX";

static int begin(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int end(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

static bool run(const char *format, const char *a, const char *b)
{
    char command[8192];
    assert_true(snprintf(command, sizeof command, format, a, b) < (int)sizeof command);
    return system(command) == 0;
}

static char *in_directory(const char *name)
{
    static char path[8][256];
    static unsigned next;
    char *at = path[next++ % 8];
    snprintf(at, sizeof path[0], "%s/%s", directory, name);
    return at;
}

/* ---- Names ---- */

static bool opens(const char *root, const char *path)
{
    int fd = symbols_regular_open(root, path);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

TEST(only_regular_files)
{
    static const char *const never[] = {"/dev/null",
                                        "//dev/zero",
                                        "/../dev/zero",
                                        "/tmp/../dev/tty",
                                        "/proc/self/status",
                                        "/proc/kallsyms",
                                        "/tmp",
                                        "/nowhere",
                                        ""};
    char path[512];
    char *file = in_directory("file"), *link = in_directory("link"), *pipe = in_directory("pipe");
    close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_int_equal(symlink(file, link), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_true(opens(NULL, file));
    assert_true(opens(NULL, link));
    assert_false(opens(NULL, pipe));
    for (unsigned i = 0; i < sizeof never / sizeof *never; i++)
        assert_false(opens(NULL, never[i]));
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("/dev/null", link), 0);
    assert_false(opens(NULL, link));

    /* Through a link of /proc, which leads to what another process sees */
    snprintf(path, sizeof path, "/proc/self/root%s", file);
    assert_int_equal(access(path, R_OK), 0);
    assert_false(opens(NULL, path));
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_false(opens(NULL, path));
    int again = symbols_regular_open_trusted(path);
    assert_true(again >= 0);
    close(again);
    close(fd);
    assert_int_equal(symbols_regular_open_trusted("/dev/null"), -1);

    /* In a root of its own, all links lead there */
    assert_true(opens(directory, "/file"));
    assert_true(opens(directory, "/../../file"));
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("/file", link), 0);
    assert_false(opens(NULL, link));
    assert_true(opens(directory, "/link"));
    assert_false(opens("/nowhere", "/file"));
}

/* ---- What a worker can do ---- */

static bool refused(long result)
{
    return result < 0 && (errno == EPERM || errno == EACCES);
}

/* Says of each whether it is so. */
static void try_all(int fd, void *data)
{
    char wait,
        is[] = {
            refused(open("/dev/null", O_RDONLY | O_CLOEXEC)), /* nobody answers with a file */
            refused(open("/tmp/weft-never", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)),
            refused(socket(AF_INET, SOCK_STREAM, 0)),
            refused(fork()),
            refused(unlink("/tmp/weft-never")),
            refused(kill(getppid(), 0)),
        };
    (void)data;
    symbols_worker_put(fd, is, sizeof is);
    symbols_worker_get(fd, &wait, 1, -1);
}

/* The hard limit, which no soft one exceeds. UINT64_MAX: there is none. */
static uint64_t limit_of(const struct symbols_worker *w, const char *name)
{
    char line[256];
    uint64_t soft, hard = UINT64_MAX;
    snprintf(line, sizeof line, "/proc/%d/limits", (int)w->pid);
    FILE *f = fopen(line, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, strlen(name)) == 0 &&
            sscanf(line + strlen(name), "%" SCNu64 " %" SCNu64, &soft, &hard) == 2)
            break;
    if (f)
        fclose(f);
    return hard;
}

static bool has_seccomp(void)
{
    FILE *f = fopen("/proc/sys/kernel/seccomp/actions_avail", "r");
    if (f)
        fclose(f);
#if defined(__x86_64__) || defined(__aarch64__)
    return f != NULL;
#else
    return false;
#endif
}

TEST(can_only_compute)
{
    struct symbols_worker w;
    struct symbols_asked asked;
    char is[6], path[64];
    if (!has_seccomp())
        skip();
    assert_int_equal(symbols_worker_start(&w, NULL, try_all, NULL), 0);
    assert_int_equal(symbols_worker_wait(&w, -1), SYMBOLS_WORKER_ASKS);
    assert_true(symbols_file_asked(w.files, &asked));
    assert_int_equal(asked.number, SYMBOLS_ASKED_PATH);
    assert_string_equal(asked.path, "/dev/null");
    assert_true(symbols_file_send(w.files, -1, EACCES));
    assert_true(symbols_worker_get(w.fd, is, sizeof is, -1));
    for (unsigned i = 0; i < sizeof is; i++)
        if (!is[i])
            fail_msg("number %u is not so", i);
#ifndef SYMBOLS_SHADOWED
    assert_in_range(limit_of(&w, "Max address space"), 1, 1 << 30);
#endif
    assert_int_equal(limit_of(&w, "Max file size"), 0);
    snprintf(path, sizeof path, "/proc/%d/status", (int)w.pid);
    assert_true(run("grep -q '^Uid:.[^0]' '%s' && grep -q '^CapEff:.0*$' '%s'", path, path));
    symbols_worker_stop(&w);
}

/* Nobody's limits are raised. */
TEST(limits_stay)
{
#ifdef SYMBOLS_SHADOWED
    skip();
#else
    if (!has_seccomp())
        skip();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit mine = {600 << 20, 700 << 20};
        struct symbols_worker w;
        if (setrlimit(RLIMIT_AS, &mine) < 0 || symbols_worker_start(&w, NULL, try_all, NULL) < 0 ||
            symbols_worker_wait(&w, -1) != SYMBOLS_WORKER_ASKS)
            _exit(2);
        _exit(limit_of(&w, "Max address space") > mine.rlim_max);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
#endif
}

static void spin(int fd, void *data)
{
    (void)fd, (void)data;
    for (volatile unsigned n = 0;; n++)
        ;
}

static void spin_in_a_file(int fd, void *data)
{
    symbols_confine_time(100);
    spin(fd, data);
}

TEST(takes_too_long)
{
    struct symbols_worker w;
    char byte;
    assert_int_equal(
        symbols_worker_start(&w, &(struct symbols_worker_options){.cpu_seconds = 1}, spin, NULL),
        0);
    assert_false(symbols_worker_get(w.fd, &byte, 1, -1));
    struct symbols_worker_end end = symbols_worker_stop(&w);
    assert_true(end.late);
    assert_in_range(end.cpu_ms, 500, 60000);
    assert_int_equal(symbols_worker_start(&w, NULL, spin_in_a_file, NULL), 0);
    assert_false(symbols_worker_get(w.fd, &byte, 1, -1));
    assert_true(symbols_worker_stop(&w).late);
}

/* ---- C++ names ---- */

/* Each argument is twice the one before. */
static const char *doubling(unsigned times)
{
    static const char digit[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static char name[8000];
    int n = snprintf(name, sizeof name, "_Z1f1XIiiE");
    for (unsigned i = 0; i < times; i++) {
        char last[8] = "S_";
        if (i > 0 && i <= 36)
            snprintf(last, sizeof last, "S%c_", digit[i - 1]);
        else if (i > 36)
            snprintf(last, sizeof last, "S1%c_", digit[i - 37]);
        n += snprintf(name + n, sizeof name - (size_t)n, "S_I%s%sE", last, last);
    }
    return name;
}

TEST(demangling)
{
    char text[SYMBOLS_DEMANGLED_BYTES];
    struct symbols_demangler d = {.losses = 0};
    if (!symbols_demangle(&d, "_ZN3foo3barEi", text)) {
        symbols_demangler_end(&d);
        skip(); /* there is nobody who can */
    }
    assert_string_equal(text, "foo::bar(int)");
    assert_false(symbols_demangle(&d, "main", text));
    assert_false(symbols_demangle(&d, "_Zebra", text));
    assert_int_equal(d.losses, 0);
    assert_true(symbols_demangle(&d, "_ZN4core3fmt5write17h0123456789abcdefE", text));
    assert_string_equal(text, "core::fmt::write");
    assert_true(symbols_demangle(&d, doubling(16), text)); /* long, and cut */
    assert_int_equal(strlen(text), SYMBOLS_DEMANGLED_BYTES - 1);
    assert_int_equal(d.losses, 0);

    assert_false(symbols_demangle(&d, doubling(60), text));
    assert_int_equal(d.losses, 1);
    assert_true(symbols_demangle(&d, "_ZN3foo3barEi", text)); /* the others are as before */
    assert_string_equal(text, "foo::bar(int)");
    symbols_demangler_end(&d);
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    assert_in_range(used.ru_maxrss, 1, 1 << 20); /* KiB */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* ---- Files that files name ---- */

struct heard {
    unsigned named, lines;
};

static int hear_state(void *data, uint32_t question, enum symbols_file_state state)
{
    (void)data, (void)question, (void)state;
    return 0;
}

static int hear_function(void *data, uint32_t number, const struct symbols_named *f)
{
    struct heard *h = data;
    (void)number;
    h->named += strcmp(f->name, "split_function") == 0;
    return 0;
}

static int hear_answer(void *data, uint32_t question, uint32_t offset,
                       const struct symbols_answer *frame, uint32_t frames)
{
    struct heard *h = data;
    (void)question, (void)offset;
    for (uint32_t i = 0; i < frames; i++)
        h->lines += frame[i].line > 0;
    return 0;
}

static struct heard ask(const char *path)
{
    enum { OFFSETS = 0x2000 / 4 };
    static uint64_t offset[OFFSETS];
    struct heard h = {0};
    for (uint64_t i = 0; i < OFFSETS; i++)
        offset[i] = 0x800 + 4 * i;
    const struct symbols_question q = {.place = {.path = path}, .offset = offset, .count = OFFSETS};
    const struct symbols_listener l = {&h, hear_state, hear_function, hear_answer};
    assert_int_equal(symbols_names_find(&q, 1, &(struct symbols_names_options){0}, &l), 0);
    return h;
}

/* Opens a pipe for writing: which succeeds once somebody opens it for reading. */
static pid_t wait_for_reader(const char *pipe)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(open(pipe, O_WRONLY | O_CLOEXEC) < 0);
    }
    return child;
}

/* Debug information in a file of its own is found, where that is one; a pipe in its place is never opened. */
TEST(split_debug_information)
{
    const char *source = in_directory("split.c"), *program = in_directory("split");
    FILE *f = fopen(source, "w");
    assert_non_null(f);
    fputs("int __attribute__((noinline)) split_function(int n)\n{\n    return n * n;\n}\n"
          "int main(int n, char **v)\n{\n    return (void)v, split_function(n);\n}\n",
          f);
    assert_int_equal(fclose(f), 0);
    if (!run("cd '%s' && cc -g -gdwarf-5 -gsplit-dwarf -fno-lto -O1 -c split.c && cc -o '%s' "
             "split.o 2>/dev/null",
             directory, program) ||
        access(in_directory("split.dwo"), R_OK) < 0)
        skip();
    struct heard h = ask(program);
    assert_true(h.named > 0);
    assert_true(h.lines > 0);

    char *pipe = in_directory("split.dwo");
    assert_int_equal(unlink(pipe), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    pid_t waits = wait_for_reader(pipe);
    h = ask(program);
    assert_true(h.named > 0); /* by the table of symbols */
    assert_int_equal(waitpid(waits, NULL, WNOHANG), 0);
    kill(waits, SIGKILL);
    assert_int_equal(waitpid(waits, NULL, 0), waits);
}

RUN_TESTS(begin, end)
