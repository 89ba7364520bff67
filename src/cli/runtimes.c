/* SPDX-License-Identifier: ISC */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/record.h"

#define PRELOADED(library, what)                                                                   \
    {                                                                                              \
        library, "preload", "weft-" library ".so", "libweft-adapter.so", "LD_PRELOAD", NULL, what  \
    }

static const struct runtime {
    const char *name;
    const char *folder;
    const char *begins;   /* the file it loads first; exists if the adapter is installed */
    const char *needs;    /* must exist, too */
    const char *variable; /* a list of folders separated by ":", options, or a list of files */
    const char *option;   /* before what it runs first; NULL: the variable is a list */
    const char *sees;
} runtimes[] = {
    {"python", "python", "sitecustomize.py", "_weft.abi3.so", "PYTHONPATH", NULL,
     "CPython 3.9 to 3.13, asyncio: tasks, coroutines, futures, locks, queues, threads, processes, "
     "requests of aiohttp, uvicorn, Tornado, when the loop sleeps; tasks of uvloop; trio: tasks, "
     "nurseries, what they wait for, when the loop sleeps"},
    {"node", "node", "weft.js", "weft.node", "NODE_OPTIONS", "--require",
     "Node.js 18 and later: calls of async functions, promises, timers, files, names, connections, "
     "requests, when the loop sleeps"},
    {.name = "ocaml",
     .sees = "OCaml 5: fibers, promises, locks and what else Eio says, events of the program's "
             "own, domains, "
             "collections"},
    PRELOADED(
        "libuv",
        "libuv 1: requests, handles, connections and datagrams, work on its threads, operations on "
        "files, processes, when the loop sleeps"),
    PRELOADED("glib", "GLib 2.74 and later, GIO: sources, tasks, D-Bus calls and requests, "
                      "cancellables, GTK's frames, requests of libsoup, when the main loop sleeps"),
    PRELOADED("libevent",
              "libevent 2.1: events, bufferevents, listeners, names, HTTP requests, when "
              "the loop sleeps"),
    PRELOADED("libev", "libev 4: watchers, when the loop sleeps"),
    PRELOADED("threads",
              "POSIX threads, from the second one on: threads, locks, condition variables, "
              "semaphores, barriers, what waits for them, what holds them"),
    PRELOADED("epoll",
              "epoll, poll, select and io_uring, in programs without the libraries above: which "
              "descriptors became ready, and how long each was handled; requests, connections, "
              "timers, when the loop sleeps"),
};
enum { PYTHON = CLI_PYTHON, NODE = CLI_NODE, OCAML = CLI_OCAML };
#define RUNTIMES (sizeof runtimes / sizeof *runtimes)
#define INTERPRETERS 2u        /* of these; OCaml's runtime writes events itself (rings.c) */
#define LIBRARIES (OCAML + 1u) /* from here on: libraries that programs use, by LD_PRELOAD */

/* What makes a runtime write the addresses of its functions to /tmp/perf-PID.map; Python's can since 3.12. */
#define NODE_NAMES "--perf-basic-prof --interpreted-frames-native-stack"
#define PYTHON_NAMES "PYTHONPERFSUPPORT"

#define ASAN "ASAN_OPTIONS"

/* The folder of an adapter: next to this program in the build, else in the installed location. */
static bool find_folder(const struct runtime *r, char *folder, size_t size)
{
    char self[PATH_MAX], path[2 * PATH_MAX];
    char *slash = cli_own_folder(self, sizeof self) ? strrchr(self, '/') : NULL;
    if (slash) /* src of the build */
        *slash = 0;
    for (int i = 0; i < 2; i++) {
        int fits = i == 0 ? snprintf(folder, size, "%s/adapters/%s", self, r->folder)
                          : snprintf(folder, size, "%s/weft/adapters/%s", WEFT_LIBDIR, r->folder);
        if (fits < 0 || (size_t)fits >= size)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, r->begins);
        if (access(path, R_OK) < 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, r->needs);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

bool cli_runtimes_folder(unsigned runtime, char *folder, size_t size)
{
    return find_folder(&runtimes[runtime], folder, size);
}

bool cli_runtimes_parse(const char *list, unsigned *chosen)
{
    *chosen = 0;
    if (strcmp(list, "none") == 0)
        return true;
    for (;; list++) {
        const size_t n = strcspn(list, ",");
        unsigned i = 0;
        while (i < RUNTIMES &&
               (strlen(runtimes[i].name) != n || strncmp(runtimes[i].name, list, n) != 0))
            i++;
        if (i == RUNTIMES)
            return false;
        *chosen |= 1u << i;
        list += n;
        if (!*list)
            return true;
    }
}

void cli_env_join(const char *variable, const char *first, char separator, const char *second)
{
    char *text;
    const bool both = first && *first && second && *second;
    if (asprintf(&text, "%s%.*s%s", first ? first : "", both, &separator, second ? second : "") < 0)
        return;
    setenv(variable, text, 1);
    free(text);
}

void cli_env_number(const char *variable, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, number);
    setenv(variable, text, 1);
}

/* Puts a folder or file in front of a list, unless it is already first. */
static void put_in_front(const struct runtime *r, const char *first)
{
    const char *before = getenv(r->variable);
    const size_t n = strlen(first);
    if (!before || strncmp(before, first, n) != 0 || (before[n] && before[n] != ':'))
        cli_env_join(r->variable, first, ':', before);
}

/* Puts options in front of others, unless they are already there. */
static void put_options(const char *variable, const char *options)
{
    const char *before = getenv(variable);
    if (!before || !strstr(before, options))
        cli_env_join(variable, options, ' ', before);
}

/* In double quotes, because a folder's name may contain a space. */
static void put_first(const struct runtime *r, const char *folder)
{
    char text[2 * PATH_MAX + 64], *at = text;
    at += sprintf(at, "%s \"", r->option);
    for (const char *c = folder; *c; c++) {
        if (*c == '"' || *c == '\\')
            *at++ = '\\';
        *at++ = *c;
    }
    sprintf(at, "/%s\"", r->begins);
    put_options(r->variable, text);
}

void cli_runtimes_list(void)
{
    char folder[PATH_MAX];
    for (unsigned i = 0; i < RUNTIMES; i++)
        if (i == OCAML)
            printf("%s  %s\n", runtimes[i].name, runtimes[i].sees);
        else if (find_folder(&runtimes[i], folder, sizeof folder))
            printf("%s  %s\n        %s\n", runtimes[i].name, runtimes[i].sees, folder);
        else
            printf("%s  not installed\n", runtimes[i].name);
}

/* ---- Why nothing was recorded ---- */

/* "-I" and the like among Python's own options, also in "-uI"; 0: none. */
static char deaf_option(char **argv)
{
    for (; *argv && (*argv)[0] == '-' && (*argv)[1] && (*argv)[1] != '-'; argv++) {
        const size_t n = strcspn(*argv + 1, "cmWX"); /* what follows these is not an option */
        const char *found = strpbrk(*argv + 1, "IES");
        if (found && (size_t)(found - *argv) <= n)
            return *found;
        if ((*argv)[1 + n] && strchr("cm", (*argv)[1 + n]))
            return 0;
        if ((*argv)[1 + n] && !(*argv)[2 + n] && argv[1])
            argv++;
    }
    return 0;
}

static bool is_of(const char *program, const char *name)
{
    return strncmp(cli_base(program), name, strlen(name)) == 0;
}

/* The words of a script's first line: the program, behind "env" if need be, and its first option. */
static bool is_script_of(const char *first_line, const char *name, char line[128], char *option[2])
{
    char *save = NULL;
    snprintf(line, 128, "%s", first_line);
    char *word = strtok_r(line, " \t", &save);
    while (word && !is_of(word, name) &&
           (strstr(word, "env") != NULL || *word == '-' || strchr(word, '=')))
        word = strtok_r(NULL, " \t", &save);
    if (!word || !is_of(word, name))
        return false;
    option[0] = strtok_r(NULL, " \t", &save);
    return true;
}

/* Which runtime runs the program, and its options; RUNTIMES: none that we know. */
static unsigned runtime_of(char **argv, char line[128], char *option[2], char ***options)
{
    char first[128] = "";
    *options = argv + 1;
    for (unsigned i = 0; i < INTERPRETERS; i++)
        if (is_of(argv[0], runtimes[i].name))
            return i;
    if (!cli_program_script(argv[0], first, sizeof first))
        return RUNTIMES;
    *options = option;
    for (unsigned i = 0; i < INTERPRETERS; i++)
        if (is_script_of(first, runtimes[i].name, line, option))
            return i;
    return RUNTIMES;
}

/* Such a node does not start at all if it is told to load something first. */
static bool is_locked_node(char **argv)
{
    char line[128], *option[2] = {NULL, NULL}, **options;
    if (runtime_of(argv, line, option, &options) != NODE)
        return false;
    for (; *options && **options == '-'; options++)
        if (strcmp(*options, "--experimental-permission") == 0)
            return true;
    return false;
}

/* ---- What the program gets ---- */

/* Whether the libraries' adapters are loaded into this program, or at least into what it starts. */
static bool with_libraries(char **argv, unsigned chosen, bool memory)
{
    char line[128], *option[2] = {NULL, NULL}, **options;
    const struct cli_program p = cli_program_look(argv[0]);
    if (chosen == CLI_RUNTIMES_ALL && p.has_weft)
        return false; /* it says itself what it waits for */
    /* Otherwise the runtime's adapter would find its memory taken. */
    if (memory && runtime_of(argv, line, option, &options) != RUNTIMES)
        return false;
    return !p.refuses || p.harmless;
}

/* The loader takes the colon and the space for the end of a name. */
static bool can_preload(const char *folder)
{
    return !strpbrk(folder, ": ");
}

static void set_libraries(unsigned chosen)
{
    char folder[PATH_MAX], path[PATH_MAX + 64];
    for (unsigned i = RUNTIMES; i-- > LIBRARIES;)
        if (chosen & 1u << i && find_folder(&runtimes[i], folder, sizeof folder) &&
            can_preload(folder)) {
            snprintf(path, sizeof path, "%s/%s", folder, runtimes[i].begins);
            put_in_front(&runtimes[i], path);
            setenv("WEFT_TRACE_BEGIN", "call", 1);
        }
    /* A child that gcc has built with AddressSanitizer would end at once, because something is loaded before it. */
    if (getenv("WEFT_TRACE_BEGIN") &&
        !(getenv(ASAN) && strstr(getenv(ASAN), "verify_asan_link_order")))
        cli_env_join(ASAN, "verify_asan_link_order=0", ':', getenv(ASAN));
    unsetenv("WEFT_ADAPTERS");
    for (unsigned i = 0; i < RUNTIMES; i++)
        if (chosen & 1u << i && (i == OCAML || find_folder(&runtimes[i], folder, sizeof folder)))
            cli_env_join("WEFT_ADAPTERS", runtimes[i].name, ',', getenv("WEFT_ADAPTERS"));
}

void cli_runtimes_set(unsigned chosen, bool sampled, bool memory, char **argv)
{
    char folder[PATH_MAX];
    for (unsigned i = 0; i < INTERPRETERS; i++)
        if (chosen & 1u << i && find_folder(&runtimes[i], folder, sizeof folder) &&
            !(i == NODE && is_locked_node(argv)))
            (runtimes[i].option ? put_first : put_in_front)(&runtimes[i], folder);
    if (sampled && chosen & 1u << NODE)
        put_options("NODE_OPTIONS", NODE_NAMES);
    if (sampled && chosen & 1u << PYTHON)
        setenv(PYTHON_NAMES, "1", 0);
    unsetenv("WEFT_TRACE_BEGIN");
    if (with_libraries(argv, chosen, memory))
        set_libraries(chosen);
}

/* ---- The names of functions ---- */

bool cli_runtimes_names(unsigned chosen)
{
    const char *options = getenv("NODE_OPTIONS");
    return chosen & (1u << NODE | 1u << PYTHON) && !getenv(PYTHON_NAMES) &&
           !(options && strstr(options, "--perf-basic-prof"));
}

void cli_runtimes_drop_names(pid_t pid)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)pid);
    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
        unlink(path);
}

/* ---- What was not recorded ---- */

static void why_python(char **options, struct cli_why *why)
{
    const char deaf = deaf_option(options);
    if (deaf)
        snprintf(why->text, sizeof why->text,
                 "is a Python program that is run with -%c: then Python does not look at what weft "
                 "puts into its environment",
                 deaf);
    else
        snprintf(why->text, sizeof why->text,
                 "is a Python program that has imported neither asyncio nor trio, or of a Python "
                 "older than 3.9");
}

/* The same versions as in adapters/node/weft.js. */
static bool is_tool(const char *program)
{
    static const char *const tools[] = {"npm", "npx", "yarn", "pnpm", "corepack"};
    for (unsigned i = 0; i < sizeof tools / sizeof *tools; i++)
        if (strcmp(cli_base(program), tools[i]) == 0)
            return true;
    return false;
}

static void why_node(char **argv, struct cli_why *why)
{
    if (is_locked_node(argv))
        snprintf(why->text, sizeof why->text,
                 "is a Node.js program that is run with --experimental-permission: then node may "
                 "not load what records it");
    else if (is_tool(argv[0]))
        snprintf(why->text, sizeof why->text, "only starts others, and none of those was recorded");
    else
        snprintf(why->text, sizeof why->text,
                 "is a Node.js program, but its node is older than 18, or may not load addons");
}

static void why_libraries(char **argv, unsigned chosen, struct cli_why *why)
{
    char tried[PATH_MAX], folder[PATH_MAX] = "", used[256] = "";
    const char *refuses = cli_program_look(argv[0]).refuses;
    size_t n = 0;
    for (unsigned i = LIBRARIES; i < RUNTIMES; i++)
        if (chosen & 1u << i && find_folder(&runtimes[i], tried, sizeof tried)) {
            n += (size_t)sprintf(used + n, "%s%s", n ? ", " : "", runtimes[i].name);
            memcpy(folder, tried, sizeof folder);
        }
    if (n == 0 || why->of_ocaml)
        return;
    if (refuses)
        snprintf(why->text, sizeof why->text,
                 "is not linked with weft, and nothing can be loaded into it: it %s", refuses);
    else if (!can_preload(folder))
        snprintf(why->text, sizeof why->text,
                 "is not linked with weft, and the loader cannot load what is in \"%.200s\", since "
                 "that name has a space or a colon",
                 folder);
    else if (why->is_script)
        snprintf(why->text, sizeof why->text,
                 "is a script, and nothing that it started is linked with weft or uses one of: %s",
                 used);
    else
        snprintf(why->text, sizeof why->text,
                 "is not linked with weft, and neither it nor what it started uses one of: %s. It "
                 "may use one that it contains itself, statically",
                 used);
}

void cli_runtimes_why(char **argv, unsigned chosen, struct cli_why *why)
{
    static const char *const called[] = {"Python", "Node.js"};
    char line[128], folder[PATH_MAX], *option[2] = {NULL, NULL}, **options;
    const unsigned i = runtime_of(argv, line, option, &options);
    if (i == RUNTIMES && (why->unlinked || why->is_script))
        why_libraries(argv, chosen, why);
    if (i == RUNTIMES)
        return;
    why->unlinked = false;
    if (!(chosen & 1u << i))
        snprintf(why->text, sizeof why->text, "is a %s program, and --runtimes leaves %s out",
                 called[i], called[i]);
    else if (!find_folder(&runtimes[i], folder, sizeof folder))
        snprintf(why->text, sizeof why->text,
                 "is a %s program, and what records those is not installed; see weft record "
                 "--list-runtimes",
                 called[i]);
    else if (i == PYTHON)
        why_python(options, why);
    else
        why_node(argv, why);
}
