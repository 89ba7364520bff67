/* SPDX-License-Identifier: ISC */
/* Any bytes as the files that the commands of weft read, in this process. The last bytes say what is done: which
 * command line, and where a second file begins. So the corpora of the other targets serve here, too.
 *
 * What is printed goes nowhere; what is written, into a folder that the next input empties. Only what is wrong
 * with the command line exits: there is nothing wrong with these. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/common.h"
#include "require.h"

/* FILE and OTHER: the two files; OUT: a file that is not there; DIR: a folder. */
static const char *const lines[] = {
    "info FILE",
    "info --promises FILE OTHER",
    "info --json --promises FILE",
    "dump FILE",
    "dump --from 1us --to 1s FILE OTHER",
    "promises FILE",
    "promises --raw FILE",
    "stats FILE",
    "stats --by type --sort p99 --top 3 FILE",
    "stats --by label --json FILE",
    "stats --by family --histogram a FILE",
    "explain FILE OTHER",
    "explain --all FILE",
    "explain --all --json --hang 1ns --slow-wake 1ns --block 1ns --turn 1ns --never-yield 1ns FILE",
    ("explain --all --check=possible --spin 2 --self-wakes 1 --leak 2 --serial 2 --serial-saving "
     "1ns --herd 2 FILE"),
    "explain --promise 3 FILE",
    "explain --promise 5 --json FILE",
    "explain --promise a FILE",
    "explain --promise a --json FILE",
    "diff FILE OTHER",
    "diff --all --json FILE OTHER",
    "diff --all FILE FILE OTHER",
    "diff --check FILE FILE",
    "render -o OUT --format svg FILE",
    "render -o OUT --format svg FILE OTHER",
    "render -o OUT --format svg --diff FILE OTHER",
    "render -o OUT --format svg --finding 1 FILE",
    "render -o OUT --format svg --path 3 --size 500x300 FILE",
    "render -o OUT --format svg --select 3 --search a --raw --size 700 FILE",
    "render -o OUT --format png --size 300x200 FILE",
    "render -o OUT --format pdf --size 300x200 --no-legend --no-counters FILE",
    "render --flame OUT --format svg --no-symbols FILE",
    "render --flame OUT --format png --size 300x200 --no-symbols --by label --async-stacks FILE",
    "render --flame OUT --format svg --no-symbols --off-cpu FILE",
    "render --flame OUT --format svg --no-symbols --diff OTHER FILE",
    "export --to mirage -o OUT FILE",
    "export --to ctf -o DIR FILE",
    "export --to pprof -o OUT --no-symbols FILE OTHER",
    "export --to pprof -o OUT --no-symbols --off-cpu --async-stacks=waits FILE",
    "export --to pprof-legacy -o OUT --no-symbols FILE",
    "profile --no-symbols FILE",
    "profile --no-symbols --json FILE OTHER",
    "profile --no-symbols --top --by label --fold=yes FILE",
    "profile --no-symbols --tree --async-stacks FILE",
    "profile --no-symbols --tree --json --by root FILE",
    "profile --no-symbols --lines --thread thread --limit 3 FILE",
    "profile --no-symbols --off-cpu FILE",
    "profile --no-symbols --off-cpu --tree --json FILE",
    "profile --no-symbols --diff OTHER FILE",
    "profile --no-symbols --by label --diff OTHER --json FILE",
    "profile --no-symbols --promise 3 --by core --from 1ns FILE",
    "profile --no-symbols --lines FILE",
    "profile --no-symbols --off-cpu --by label --json FILE",
    "profile --no-symbols --by thread --json FILE",
    "render -o OUT --format png --theme dark --from 1us --to 1s --size 300x200 FILE",
    "explain --all --ignore herd,spin FILE",
    "save -o OUT FILE",
    "promises --from 1us --to 1s FILE",
    "info --promises --from 3us FILE",
    "explain --all --to 1s FILE",
    "save --compress -o OUT FILE",
};
enum { LINES = sizeof lines / sizeof *lines, WORDS = 24 };

#define COMMANDS(X)                                                                                \
    X(info)                                                                                        \
    X(dump) X(promises) X(stats) X(explain) X(diff) X(render) X(export) X(profile) X(save)
#define X(name) extern const struct cli_command cli_##name;
COMMANDS(X)
#undef X

static struct {
    const struct cli_command *command;
    void *state, *others_state; /* as they were */
} commands[] = {
#define X(name) {.command = &cli_##name},
    COMMANDS(X)
#undef X
};

void (*cli_sigpipe)(int) = SIG_DFL;
bool cli_no_pager = true;
char *cli_arguments_end;

static void put_back(const struct cli_state *state, void **kept)
{
    if (!state->bytes)
        return;
    if (!*kept) {
        REQUIRE((*kept = malloc(state->bytes)));
        memcpy(*kept, state->at, state->bytes);
    }
    memcpy(state->at, *kept, state->bytes);
}

/* Text renderers keep their fonts. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\n";
}

static char folder[] = "/tmp/fuzz-cli-XXXXXX", out[64], dir[64];

static void empty(const char *path)
{
    char name[PATH_MAX];
    DIR *d = opendir(path);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        unlink(name);
    }
    if (d)
        closedir(d);
}

static void leave(void)
{
    empty(dir);
    rmdir(dir);
    empty(folder);
    rmdir(folder);
}

static void prepare(void)
{
    if (*out)
        return;
    REQUIRE(mkdtemp(folder) && atexit(leave) == 0);
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(dir, sizeof dir, "%s/dir", folder);
    /* What is wrong is still said on descriptor 2. */
    int nowhere = open("/dev/null", O_WRONLY);
    REQUIRE(nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0);
    signal(SIGPIPE, SIG_IGN);
    close(nowhere);
}

static const char *file_of(int fd, const uint8_t *bytes, size_t size, char path[32])
{
    REQUIRE(ftruncate(fd, 0) == 0 && pwrite(fd, bytes, size, 0) == (ssize_t)size);
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return path;
}

static void run(const char *line, const char *file, const char *other)
{
    const struct {
        const char *name, *path;
    } names[] = {{"FILE", file}, {"OTHER", other}, {"OUT", out}, {"DIR", dir}};
    char text[256], *word[WORDS + 1] = {0}, *rest = text;
    int words = 0;
    snprintf(text, sizeof text, "%s", line);
    while (words < WORDS && (word[words] = strsep(&rest, " "))) {
        for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
            if (strcmp(word[words], names[i].name) == 0)
                word[words] = (char *)(uintptr_t)names[i].path;
        words++;
    }
    optind = 0;
    for (unsigned i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].command->name, word[0]) == 0) {
            const struct cli_command *c = commands[i].command;
            int operands;
            put_back(&c->state, &commands[i].state);
            put_back(&c->others_state, &commands[i].others_state);
            char **operand = cli_parse(c, words, word, &operands);
            int status = c->run(operands, operand);
            REQUIRE(status >= CLI_DONE && status <= CLI_CHECK_FAILED);
            REQUIRE(cli_finish(status) == status);
            return;
        }
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd[2] = {-1, -1};
    static FILE *nowhere;
    if (size < 3)
        return 0;
    prepare();
    for (unsigned i = 0; i < 2; i++)
        if (fd[i] < 0)
            REQUIRE((fd[i] = memfd_create("a trace", MFD_CLOEXEC)) >= 0);
    if (!nowhere)
        REQUIRE((nowhere = fopen("/dev/null", "w")));
    size -= 3;
    size_t second = (data[size] + 256u * data[size + 1]) % (size + 1);
    char path[2][32];
    file_of(fd[0], data, second ? second : size, path[0]);
    file_of(fd[1], data + second, size - second, path[1]);
    empty(dir);
    empty(folder);
    FILE *before = stderr;
    stderr = nowhere;
    run(lines[data[size + 2] % LINES], path[0], path[1]);
    stderr = before;
    return 0;
}
