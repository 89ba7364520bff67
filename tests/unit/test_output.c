/* SPDX-License-Identifier: ISC */
/* What output/output.h promises, where a script cannot be sure to come at the right moment: signals, changes while
 * something is written, modes. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/packet.h"
#include "output/output.h"
#include "test.h"

static char scratch[] = "/tmp/test_output.XXXXXX";
static const struct weft_output_options plain = {.kind = WEFT_OUTPUT_OTHER};

static void put(const char *name, const void *bytes, size_t size, mode_t mode)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(name, mode), 0);
}

static void holds(const char *name, const char *text)
{
    char found[64] = "";
    FILE *f = fopen(name, "r");
    assert_non_null(f);
    found[fread(found, 1, sizeof found - 1, f)] = 0;
    fclose(f);
    assert_string_equal(found, text);
}

/* The names in the folder, in order, each followed by a space. */
static void names_are(const char *folder, const char *names)
{
    char command[128], found[256] = "";
    snprintf(command, sizeof command, "cd '%s' && ls -A | tr '\\n' ' '", folder);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    found[fread(found, 1, sizeof found - 1, f)] = 0;
    pclose(f);
    assert_string_equal(found, names);
}

static mode_t mode_of(const char *name)
{
    struct stat st;
    assert_int_equal(stat(name, &st), 0);
    return st.st_mode & 07777;
}

/* Facts of a process that is not there. */
static struct weft_facts_header some_facts(void)
{
    return (struct weft_facts_header){
        .packet = {.magic = WEFT_PACKET_MAGIC,
                   .signature = WEFT_PACKET_SIGNATURE,
                   .version = WEFT_FORMAT_VERSION,
                   .class = WEFT_PACKET_FACTS,
                   .header_bytes = sizeof(struct weft_facts_header),
                   .packet_bits = 8 * sizeof(struct weft_facts_header),
                   .content_bits = 8 * sizeof(struct weft_facts_header)},
        .state = WEFT_TRACE_RECORDING,
        .pid = 4711};
}

static int setup(void **state)
{
    static char name[sizeof scratch];
    (void)state;
    strcpy(name, scratch);
    return mkdtemp(name) ? chdir(name) : -1;
}

static int teardown(void **state)
{
    char here[64], command[128];
    (void)state;
    if (!getcwd(here, sizeof here) || chdir("/") < 0)
        return -1;
    snprintf(command, sizeof command, "rm -rf '%s'", here);
    return system(command);
}

/* ---- Signals ---- */

/* Writes half of it, then is ended by the signal. */
static void begin_and_die(int number, const char *folder)
{
    struct weft_output out;
    struct weft_error err;
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    int rc = folder ? weft_output_open_folder(&out, folder, &plain, &err)
                    : weft_output_open(&out, "picture", &plain, &err);
    if (rc < 0)
        _exit(1);
    if (folder) {
        char name[64];
        for (int i = 0; i < 1000; i++) {
            snprintf(name, sizeof name, "%s/stream_%d", out.folder, i);
            put(name, "half", 4, 0600);
        }
    } else if (fputs("half", out.file) < 0 || fflush(out.file) != 0) {
        _exit(2);
    }
    raise(number);
    _exit(3);
}

TEST(a_signal_leaves_what_was_there)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    static const char *const folders[] = {NULL, "new", "empty"};
    put("picture", "old", 3, 0644);
    assert_int_equal(mkdir("empty", 0755), 0);
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (unsigned f = 0; f < 3; f++) {
            int status;
            pid_t pid = fork();
            if (pid == 0)
                begin_and_die(numbers[i], folders[f]);
            assert_int_equal(waitpid(pid, &status, 0), pid);
            assert_true(WIFSIGNALED(status));
            assert_int_equal(WTERMSIG(status), numbers[i]);
            names_are(".", "empty picture ");
            names_are("empty", "");
            holds("picture", "old");
        }
}

static int caught;

static void catch (int number)
{
    caught = number;
}

/* Ignored signals stay ignored, and handlers come back. */
TEST(signals_are_as_before)
{
    struct weft_output out;
    struct weft_error err;
    struct sigaction now;
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, catch);
    assert_int_equal(weft_output_open(&out, "picture", &plain, &err), 0);
    raise(SIGHUP);
    fputs("new", out.file);
    assert_int_equal(weft_output_close(&out, true, &err), 0);
    holds("picture", "new");
    assert_int_equal(sigaction(SIGHUP, NULL, &now), 0);
    assert_true(now.sa_handler == SIG_IGN);
    raise(SIGTERM);
    assert_int_equal(caught, SIGTERM);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
}

/* ---- What may be replaced ---- */

static void refuses(const char *name, enum weft_output_kind kind, const char *why)
{
    const struct weft_output_options o = {.kind = kind};
    struct weft_output out;
    struct weft_error err;
    assert_int_equal(weft_output_open(&out, name, &o, &err), WEFT_E_INVALID);
    assert_non_null(strstr(err.text, why));
    assert_null(out.file);
}

TEST(traces_stay)
{
    static const enum weft_output_kind kinds[] = {WEFT_OUTPUT_OTHER, WEFT_OUTPUT_MIRAGE,
                                                  WEFT_OUTPUT_TRACE};
    struct weft_facts_header facts = some_facts();
    struct weft_output out;
    struct weft_error err;
    uint32_t pid;
    put("trace", &facts, sizeof facts, 0600);
    refuses("trace", WEFT_OUTPUT_OTHER, "is a trace");
    refuses("trace", WEFT_OUTPUT_MIRAGE, "is a trace");
    put("perf", "PERFILE2", 8, 0600);
    refuses("perf", WEFT_OUTPUT_OTHER, "perf");

    /* Its lock says that somebody writes it, whatever its facts say of a process. */
    FILE *f = fopen("trace", "r+");
    assert_non_null(f);
    assert_false(weft_output_is_recorded(fileno(f), &pid));
    assert_int_equal(flock(fileno(f), LOCK_EX), 0);
    for (unsigned i = 0; i < 3; i++)
        refuses("trace", kinds[i], "is being recorded by process 4711");
    fclose(f);
    const struct weft_output_options trace = {.kind = WEFT_OUTPUT_TRACE};
    assert_int_equal(weft_output_open(&out, "trace", &trace, &err), 0);

    /* Somebody begins to record into it while it is written. */
    f = fopen("trace", "r+");
    assert_non_null(f);
    assert_int_equal(flock(fileno(f), LOCK_EX), 0);
    fputs("copy", out.file);
    assert_int_equal(weft_output_close(&out, true, &err), WEFT_E_INVALID);
    fclose(f);
    assert_int_equal(truncate("trace", 0), 0);
    assert_int_equal(unlink("perf"), 0);
    names_are(".", "trace ");
}

/* A folder that is filled while the output is made is left alone. */
TEST(folders_stay)
{
    static const char *const names[] = {"new", "empty"};
    struct weft_output out;
    struct weft_error err;
    assert_int_equal(mkdir("empty", 0755), 0);
    for (unsigned i = 0; i < 2; i++) {
        char name[64];
        assert_int_equal(weft_output_open_folder(&out, names[i], &plain, &err), 0);
        snprintf(name, sizeof name, "%s/metadata", out.folder);
        put(name, "ours", 4, 0600);
        mkdir(names[i], 0755);
        snprintf(name, sizeof name, "%s/mine", names[i]);
        put(name, "mine", 4, 0600);
        assert_true(weft_output_close(&out, true, &err) < 0);
        names_are(names[i], "mine ");
        assert_int_equal(weft_output_open_folder(&out, names[i], &plain, &err), WEFT_E_INVALID);
    }
    names_are(".", "empty new ");
}

/* ---- Modes ---- */

static mode_t written_with(const char *target, const char *const *source, unsigned sources)
{
    const struct weft_output_options o = {.source = source, .sources = sources};
    struct weft_output out;
    struct weft_error err;
    assert_int_equal(weft_output_open(&out, target, &o, &err), 0);
    fputs("new", out.file);
    assert_int_equal(weft_output_close(&out, true, &err), 0);
    return mode_of(target);
}

TEST(it_is_as_private_as_its_sources)
{
    static const char *const mixed[] = {"public", "group"}, *const missing[] = {"public", "xen:3"};
    static const char *const read_only[] = {"read-only"};
    const mode_t mask = umask(022);
    put("public", "x", 1, 0644);
    put("group", "x", 1, 0640);
    put("read-only", "x", 1, 0444);
    assert_int_equal(written_with("a", NULL, 0), 0644);
    assert_int_equal(written_with("b", mixed, 1), 0644);
    assert_int_equal(written_with("c", mixed, 2), 0640);
    assert_int_equal(written_with("d", missing, 2), 0600);
    assert_int_equal(written_with("e", read_only, 1), 0644);
    /* What it replaces was more private, or less. */
    put("f", "x", 1, 0600);
    assert_int_equal(written_with("f", mixed, 1), 0600);
    put("g", "x", 1, 0666);
    assert_int_equal(written_with("g", mixed, 2), 0640);
    umask(077);
    assert_int_equal(written_with("h", mixed, 1), 0600);
    umask(mask);
}

TEST(whoever_it_belongs_to_keeps_it)
{
    static const char *const other[] = {"other"};
    struct stat st;
    if (geteuid() != 0)
        skip();
    const mode_t mask = umask(022);
    put("mine", "x", 1, 0640);
    assert_int_equal(chown("mine", 12345, 54321), 0);
    assert_int_equal(written_with("mine", NULL, 0), 0640);
    assert_int_equal(stat("mine", &st), 0);
    assert_int_equal(st.st_uid, 12345);
    assert_int_equal(st.st_gid, 54321);
    /* Another group shall not read what the source's group may. */
    put("other", "x", 1, 0640);
    assert_int_equal(written_with("mine", other, 1), 0600);
    umask(mask);
}

/* ---- A full disk ---- */

TEST(a_limit_is_an_error)
{
    struct weft_output out;
    struct weft_error err;
    struct rlimit before, limit = {4096, 4096};
    char bytes[8192] = "";
    put("picture", "old", 3, 0644);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit.rlim_max = before.rlim_max;
    assert_int_equal(weft_output_open(&out, "picture", &plain, &err), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    fwrite(bytes, 1, sizeof bytes, out.file);
    int rc = weft_output_close(&out, true, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(rc, WEFT_E_IO);
    names_are(".", "picture ");
    holds("picture", "old");
}

RUN_TESTS_WITH(NULL, NULL, setup, teardown)
