/* SPDX-License-Identifier: ISC */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/common.h"
#include "cli/record.h"
#include "format/ocaml.h"

enum {
    LOG2_WORDS = 20,     /* 8 MiB for each domain */
    LOG2_WORDS_MIN = 16, /* the runtime's default */
    DOMAINS = 128,       /* … */
    FEW_MS = 1,          /* between two rounds, when a ring fills quickly */
    BEGIN_MS = 2,
    MANY_MS = 100,
    VERY_MUCH = 500, /* thousandths of a ring */
    MUCH = 250,
    LITTLE = 60,
    PATIENCE = 256, /* how often the end looks for further ring files */
};

/* ---- The folder ---- */

static const char *parameters(void)
{
    const char *text = getenv("OCAMLRUNPARAM");
    return text ? text : getenv("CAMLRUNPARAM"); /* which is ignored if the other variable is set */
}

/* The value that the user has set for a letter, "e=20"; 0: none. */
static unsigned parameter(char letter)
{
    for (const char *at = parameters(); at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (at[0] == letter && at[1] == '=')
            return (unsigned)strtoul(at + 2, NULL, 10);
    return 0;
}

/* How large a ring may be so that its files fit into the folder: SIGBUS kills a program if there is no space for what
 * it has mapped. 0: there is no space for any. */
static unsigned choose_size(const char *folder, unsigned most)
{
    struct statvfs fs;
    const uint64_t given = parameter('d'), domains = given ? given : DOMAINS;
    if (statvfs(folder, &fs) < 0 || domains > WEFT_OCAML_DOMAINS_MAX)
        return 0;
    const uint64_t room = (uint64_t)fs.f_frsize * fs.f_bavail / 2;
    const unsigned least = most < LOG2_WORDS_MIN ? most : LOG2_WORDS_MIN;
    unsigned size = most;
    while (size >= least && (size > 30 || domains * (UINT64_C(8) << size) > room))
        size--;
    return size >= least ? size : 0;
}

/* In memory if possible: on a disk, the ring would be written again and again. */
static void make_folder(struct cli_rings *r)
{
    const char *temporary = getenv("TMPDIR");
    const char *const list[] = {"/dev/shm", temporary && *temporary == '/' ? temporary : "/tmp"};
    const unsigned given = parameter('e');
    size_t best = 0;
    unsigned size = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const unsigned fits = access(list[i], W_OK | X_OK) == 0
                                  ? choose_size(list[i], given ? given : LOG2_WORDS)
                                  : 0;
        if (fits > size) {
            best = i;
            size = fits;
        }
    }
    if (!size && !given) /* the user's own setting takes precedence */
        return;
    r->log2_words = given ? 0 : size;
    const int n = snprintf(r->folder, sizeof r->folder, "%s/weft-XXXXXX", list[best]);
    r->own = n > 0 && (size_t)n < sizeof r->folder && mkdtemp(r->folder);
    if (!r->own)
        *r->folder = 0;
}

void cli_rings_init(struct cli_rings *r)
{
    const char *given = getenv("OCAML_RUNTIME_EVENTS_DIR");
    *r = (struct cli_rings){.folder_watch = -1, .end = -1};
    r->preserve = getenv("OCAML_RUNTIME_EVENTS_PRESERVE") != NULL;
    if (!given) {
        make_folder(r);
        r->preserve &= !r->own;
    } else if (realpath(given, r->folder) && access(r->folder, W_OK | X_OK) == 0) {
        r->log2_words = parameter('e') ? 0 : choose_size(r->folder, LOG2_WORDS);
    } else {
        *r->folder = 0;
    }
}

void cli_rings_set(const struct cli_rings *r)
{
    if (!*r->folder)
        return;
    setenv("OCAML_RUNTIME_EVENTS_START", "1", 0);
    setenv("OCAML_RUNTIME_EVENTS_PRESERVE", "1", 0);
    setenv("OCAML_RUNTIME_EVENTS_DIR", r->folder, 0);
    char size[16];
    snprintf(size, sizeof size, "e=%u", r->log2_words);
    if (r->log2_words)
        cli_env_join("OCAMLRUNPARAM", parameters(), ',', size);
}

/* ---- Processes ---- */

static void events_path(const struct cli_rings *r, pid_t pid, char *path, size_t size)
{
    snprintf(path, size, "%s/%d.events", r->folder, (int)pid);
}

/* Returns true if a process has that variable in the environment with which it began. */
static bool has_variable(int pid, const char *wanted)
{
    char name[64], *line = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(name, sizeof name, "/proc/%d/environ", pid);
    FILE *f = fopen(name, "re");
    while (f && !found && getdelim(&line, &room, 0, f) > 0)
        found = strcmp(line, wanted) == 0;
    free(line);
    if (f)
        fclose(f);
    return found;
}

/* For a folder that others use, too: a process that got its environment from us. */
static bool is_ours(const struct cli_rings *r, pid_t pid)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "WEFT_TRACE_FOR=%d", (int)r->program.pid);
    return r->own || pid == r->program.pid || has_variable(pid, wanted);
}

/* Returns true if the file was written since the program began. */
static bool is_recent(const struct cli_rings *r, const char *path)
{
    struct stat st;
    const int64_t ahead = weft_clock_ns(CLOCK_REALTIME) - weft_monotonic_ns();
    /* File times have the resolution of the kernel's tick. */
    return lstat(path, &st) == 0 &&
           (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec - ahead + 20000000 >=
               (int64_t)r->program.begun_ns;
}

static bool is_known(const struct cli_rings *r, pid_t pid)
{
    for (unsigned i = 0; i < r->drains; i++)
        if (cli_drained(r->drain[i])->pid == pid)
            return true;
    for (unsigned i = 0; i < r->dones; i++)
        if (r->done[i] == pid)
            return true;
    return false;
}

static void begin(struct cli_rings *r, pid_t pid)
{
    char events[PATH_MAX + 32], path[PATH_MAX];
    const bool program = pid == r->program.pid;
    events_path(r, pid, events, sizeof events);
    if (!is_ours(r, pid) || (!r->own && !is_recent(r, events)))
        return;
    if (!program && (!*r->program.children ||
                     cli_expand_pid(path, sizeof path, r->program.children, pid) >= sizeof path))
        return;
    struct sample_drain *d =
        cli_drain_new(&r->program, pid, events, program ? r->program.path : path);
    if (d)
        r->drain[r->drains++] = d;
}

/* Opens the new ring files. */
static void look_around(struct cli_rings *r)
{
    DIR *folder = opendir(r->folder);
    const struct dirent *entry;
    while (folder && r->drains < CLI_RINGS_MAX && (entry = readdir(folder))) {
        char *end;
        const unsigned long pid = strtoul(entry->d_name, &end, 10);
        if (pid > 0 && pid <= INT_MAX && *entry->d_name >= '1' && *entry->d_name <= '9' &&
            strcmp(end, ".events") == 0 && !is_known(r, (pid_t)pid))
            begin(r, (pid_t)pid);
    }
    if (folder)
        closedir(folder);
}

static void finish(struct cli_rings *r, unsigned which)
{
    char events[PATH_MAX + 32];
    struct sample_drain *d = r->drain[which];
    const pid_t pid = cli_drained(d)->pid;
    const bool ended = cli_drain_ended(d);
    r->error = cli_drained(d)->error ? cli_drained(d)->error : r->error;
    /* Traces of other processes that record nothing but collections are dropped, except the first, which may be all
     * there is: a build may run an OCaml compiler a thousand times. */
    const bool keep = pid == r->program.pid || cli_drained(d)->says ||
                      (!is_known(r, r->program.pid) && !r->silent++);
    cli_drain_close(d, keep);
    r->drain[which] = r->drain[--r->drains];
    events_path(r, pid, events, sizeof events);
    if ((!ended || r->preserve || unlink(events) < 0) &&
        weft_reserve(&r->done, r->dones, &r->done_room, sizeof *r->done))
        r->done[r->dones++] = pid;
}

/* Reads everything that is there; all: also ends the rings of processes that keep running. Returns how full the fullest
 * ring was. */
static unsigned round_of_all(struct cli_rings *r, bool all)
{
    unsigned fullest = 0;
    for (unsigned i = r->drains; i-- > 0;) {
        /* Checked before the last round, not after it. */
        const bool ended = cli_drain_ended(r->drain[i]);
        const unsigned full = cli_drain_round(r->drain[i]);
        fullest = full > fullest ? full : fullest;
        if (ended || all)
            finish(r, i);
    }
    return fullest;
}

/* ---- The thread ---- */

static void *drain_all(void *data)
{
    struct cli_rings *r = data;
    struct pollfd wait[2] = {{.fd = r->end, .events = POLLIN},
                             {.fd = r->folder_watch, .events = POLLIN}};
    char changes[4096];
    int pause_ms = BEGIN_MS;
    bool ends = false;
    look_around(r);
    while (!ends) {
        (void)poll(wait, 2, r->drains ? pause_ms : r->folder_watch < 0 ? MANY_MS : -1);
        ends = wait[0].revents != 0;
        while (r->folder_watch >= 0 && read(r->folder_watch, changes, sizeof changes) > 0)
            ;
        look_around(r);
        const unsigned full = round_of_all(r, false);
        if (full > VERY_MUCH)
            pause_ms = 0;
        else if (full > MUCH)
            pause_ms = pause_ms / 2 > FEW_MS ? pause_ms / 2 : FEW_MS;
        else if (full < LITTLE)
            pause_ms = pause_ms * 2 + 1 < MANY_MS ? pause_ms * 2 + 1 : MANY_MS;
    }
    for (unsigned i = 0; r->drains && i < PATIENCE; i++) {
        round_of_all(r, true);
        look_around(r); /* for processes for which there was no space */
    }
    while (r->drains)
        cli_drain_close(r->drain[--r->drains], true);
    return NULL;
}

/* Signals must go to the thread that waits for the program. */
void cli_rings_start(struct cli_rings *r, const struct cli_rings_program *p)
{
    sigset_t all, before;
    r->program = *p;
    if (!*r->folder)
        return;
    r->end = eventfd(0, EFD_CLOEXEC);
    r->folder_watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (r->folder_watch >= 0 &&
        inotify_add_watch(r->folder_watch, r->folder, IN_CREATE | IN_MOVED_TO) < 0) {
        close(r->folder_watch);
        r->folder_watch = -1;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r->runs = r->end >= 0 && pthread_create(&r->thread, NULL, drain_all, r) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- The end ---- */

/* Returns true if some process may still create a ring in the folder: without the folder, the runtime would end that
 * process. */
static bool is_used(const struct cli_rings *r)
{
    char wanted[PATH_MAX + 32];
    bool found = false;
    snprintf(wanted, sizeof wanted, "OCAML_RUNTIME_EVENTS_DIR=%s", r->folder);
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    struct stat st;
    while (processes && !found && (entry = readdir(processes)))
        /* Processes of others could keep us waiting. */
        found = *entry->d_name >= '1' && *entry->d_name <= '9' &&
                fstatat(dirfd(processes), entry->d_name, &st, 0) == 0 && st.st_uid == geteuid() &&
                has_variable(atoi(entry->d_name), wanted);
    if (processes)
        closedir(processes);
    return found;
}

static void remove_folder(struct cli_rings *r)
{
    if (!r->own)
        return;
    if (is_used(r)) {
        cli_say(r->folder, "is where processes that it has started go on with their ring files of "
                           "OCaml; remove it when they have ended");
        return;
    }
    DIR *folder = opendir(r->folder);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (*entry->d_name != '.')
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    rmdir(r->folder);
}

void cli_rings_stop(struct cli_rings *r)
{
    if (!*r->folder)
        return;
    if (r->runs) {
        (void)!write(r->end, &(uint64_t){1}, sizeof(uint64_t));
        pthread_join(r->thread, NULL);
    }
    if (r->error)
        cli_say(r->program.path, "not all that OCaml's runtime says could be written: %s",
                strerror(r->error));
    remove_folder(r);
    cli_close(r->end);
    cli_close(r->folder_watch);
    free(r->done);
    *r->folder = 0;
}
