/* SPDX-License-Identifier: ISC */
#include "cli/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/rights.h"
#include "read/alive.h"
#include "symbols/regular.h"
#include "symbols/worker.h"

bool cli_facts_at(const char *path, struct weft_facts_header *facts)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool there = fd >= 0 && weft_facts_read(fd, facts);
    cli_close(fd);
    return there;
}

enum cli_stands cli_what_stands(const char *path, uint32_t *pid)
{
    struct weft_facts_header facts;
    struct stat st;
    if (lstat(path, &st) < 0)
        return CLI_NOTHING;
    if (!S_ISREG(st.st_mode) || st.st_size == 0)
        return S_ISREG(st.st_mode) ? CLI_EMPTY : CLI_SOMETHING;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    enum cli_stands s = CLI_SOMETHING;
    if (fd >= 0 && weft_facts_read(fd, &facts))
        s = weft_output_is_recorded(fd, pid) ? CLI_LIVE : CLI_A_TRACE;
    cli_close(fd);
    return s;
}

bool cli_absolute(char *path, size_t size, const char *name, pid_t pid)
{
    char folder[PATH_MAX] = "";
    if (*name != '/' && !getcwd(folder, sizeof folder))
        return false;
    const char *slash = *name == '/' || strcmp(folder, "/") == 0 ? "" : "/";
    const size_t n = (size_t)snprintf(path, size, "%s%s", folder, slash);
    return n < size && cli_expand_pid(path + n, size - n, name, pid) < size - n;
}

/* ---- The trace of a process ---- */

#define MEMORY_NAME "/memfd:weft" /* see record.c */

#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

enum {
    TRIES = 1 << 16,  /* limit on what is read of a process's maps or descriptors */
    DISK_BLOCK = 512, /* of st_blocks */
};

/* What a child process returns of its search. */
struct found {
    uint32_t other;           /* another process, whose trace this one has open; 0: none */
    bool forbidden;           /* something may not be opened */
    bool kept;                /* a trace is in a file system that a program of its user provides */
    char path[PATH_MAX + 64]; /* path of the candidate, to be shown */
};

struct search {
    pid_t pid;
    uint32_t inner;           /* its id in its own namespace, as in its facts */
    uint64_t start;           /* weft_process_start */
    struct cli_rights rights; /* the rights with which files are opened */
    struct found found;
    int fd;      /* the trace, or -1 */
    uint64_t at; /* only what is mapped there; 0: anything */
    bool given;  /* it has memory from weft record */
    bool late;   /* the search was given up: something did not answer */
    unsigned tries;
};

/* Returns true if these are the facts of this process, and not those of another whose trace it has open. In a container
 * the start time may differ: /proc or the clock may be another one's. */
static bool is_own(const struct search *s, const struct weft_facts_header *facts)
{
    return facts->pid == s->inner && (s->inner != (uint32_t)s->pid || !facts->process_start ||
                                      facts->process_start == s->start);
}

/* fd, opened as by symbols/regular.h, may be the trace; or it is -1. Returns true if it is the trace. If root looks at
 * another user's process, later reads of the trace must not wait for that user. */
static bool try_file(struct search *s, int fd)
{
    struct weft_facts_header facts;
    struct statfs fs;
    s->found.forbidden |= fd < 0 && (errno == EACCES || errno == EPERM);
    if (fd < 0)
        return false;
    if (s->rights.fewer && (fstatfs(fd, &fs) < 0 || fs.f_type == FUSE_SUPER_MAGIC))
        s->found.kept = true;
    else if (weft_facts_read(fd, &facts) && facts.state == WEFT_TRACE_RECORDING) {
        if (is_own(s, &facts)) {
            s->fd = fd;
            return true;
        }
        s->found.other = facts.pid;
    }
    close(fd);
    return false;
}

/* Opens what a link of /proc leads to. */
static int open_link(struct search *s, const char *name)
{
    char own[64];
    const int place = open(name, O_PATH | O_CLOEXEC);
    if (place < 0)
        return -1;
    snprintf(own, sizeof own, "/proc/self/fd/%d", place);
    cli_rights_take(&s->rights);
    const int fd = symbols_regular_open_trusted(own), error = errno;
    cli_rights_back(&s->rights);
    close(place);
    errno = error;
    return fd;
}

/* A mapped file was readable when it was mapped, even if the process has changed its user since. */
static int open_mapped(struct search *s, const char *name)
{
    int fd = open_link(s, name);
    return fd < 0 && errno == EACCES ? symbols_regular_open_trusted(name) : fd;
}

/* Opens what has that name in the process. By now it may be something else, which root may read but its user may not. */
static int open_by_name(struct search *s, uint64_t inode)
{
    char root[64];
    struct stat st;
    snprintf(root, sizeof root, "/proc/%d/root", (int)s->pid);
    cli_rights_take(&s->rights);
    int fd = symbols_regular_open(root, s->found.path);
    cli_rights_back(&s->rights);
    if (fd >= 0 && geteuid() == 0 && (fstat(fd, &st) < 0 || st.st_ino != inode)) {
        close(fd);
        errno = ENOENT;
        return -1;
    }
    return fd;
}

/* A line of /proc/PID/maps. The mapped file may have been deleted, or be in another mount namespace. */
static bool try_mapping(struct search *s, const char *line)
{
    uint64_t start, end, inode;
    char mode[8], name[96];
    int at = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %" SCNu64 " %n", &start, &end, mode,
               &inode, &at) < 4 ||
        at == 0 || (s->at ? s->at < start || s->at >= end : mode[1] != 'w') || mode[3] != 's')
        return false;
    const char *mapped = line + at;
    snprintf(s->found.path, sizeof s->found.path, "%.*s", (int)strcspn(mapped, "\n"), mapped);
    snprintf(name, sizeof name, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)s->pid, start, end);
    s->given |= strncmp(s->found.path, MEMORY_NAME, strlen(MEMORY_NAME)) == 0;
    if (s->tries++ == TRIES)
        return false;
    int fd = open_mapped(s, name); /* only with the right privileges */
    if (fd >= 0)
        return try_file(s, fd);
    s->found.forbidden |= errno == EACCES || errno == EPERM;
    return s->found.path[0] == '/' && try_file(s, open_by_name(s, inode));
}

static bool try_mappings(struct search *s)
{
    char name[64], *line = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(name, sizeof name, "/proc/%d/maps", (int)s->pid);
    FILE *maps = fopen(name, "re");
    s->found.forbidden |= !maps && errno == EACCES;
    while (maps && !found && s->tries <= TRIES && getline(&line, &room, maps) > 0)
        found = try_mapping(s, line);
    free(line);
    if (maps)
        fclose(maps);
    return found;
}

/* pid: the process. only: the prefix of names. */
static bool try_descriptors(struct search *s, pid_t pid, const char *only)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(name);
    const struct dirent *entry;
    bool found = false;
    for (unsigned i = 0; dir && !found && i < TRIES && (entry = readdir(dir)); i++) {
        snprintf(name, sizeof name, "/proc/%d/fd/%s", (int)pid, entry->d_name);
        ssize_t n = readlink(name, s->found.path, sizeof s->found.path - 1);
        s->found.path[n > 0 ? n : 0] = 0;
        found = n > 0 && strncmp(s->found.path, only, strlen(only)) == 0 &&
                try_file(s, open_link(s, name));
    }
    if (dir)
        closedir(dir);
    return found;
}

/* Memory that weft record has given to the program; weft record keeps it open, the program itself does not. */
static bool try_parent(struct search *s)
{
    char text[32];
    if (!s->given || !cli_status_line(s->pid, "PPid", text, sizeof text))
        return false;
    const pid_t parent = (pid_t)strtol(text, NULL, 10);
    s->rights = cli_rights_of(parent);
    const bool found = try_descriptors(s, parent, MEMORY_NAME);
    s->rights = cli_rights_of(s->pid);
    return found;
}

/* Sets s->fd. */
static void find_trace(struct search *s)
{
    s->inner = (uint32_t)cli_inner_pid(s->pid);
    s->start = weft_process_start((uint32_t)s->pid);
    s->fd = -1;
    *s->found.path = 0;
    s->rights = cli_rights_of(s->pid);
    bool found = try_mappings(s) || try_parent(s) || (!s->at && try_descriptors(s, s->pid, ""));
    if (!found && !s->at)
        *s->found.path = 0;
}

static void look_aside(int fd, void *data)
{
    struct search *s = data;
    find_trace(s);
    if (symbols_worker_put(fd, &s->found, sizeof s->found))
        symbols_file_send(fd, s->fd, s->fd < 0);
}

/* Like find_trace, in a process that may be left hanging. */
static void find(struct search *s)
{
    const struct symbols_worker_options o = {.aside = true, .keep = {-1, -1}};
    struct symbols_worker aside;
    int none;
    s->fd = -1;
    s->late = symbols_worker_start(&aside, &o, look_aside, s) < 0 ||
              !symbols_worker_answers(&aside, &s->found, sizeof s->found);
    if (s->late)
        s->found = (struct found){.path = ""};
    else
        s->fd = symbols_file_receive(aside.fd, &none);
    symbols_worker_stop(&aside);
}

int cli_live_find(pid_t pid, uint64_t at, char *path, size_t path_size)
{
    struct search s = {.pid = pid, .at = at};
    find(&s);
    snprintf(path, path_size, "%s", s.found.path);
    return s.fd;
}

/* The caller may look at its memory. */
static bool may_look(pid_t pid)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/mem", (int)pid);
    const int fd = open(name, O_RDONLY | O_CLOEXEC);
    cli_close(fd);
    return fd >= 0;
}

/* For a process without a trace: says what it is, and what to do. */
static int say_none(const struct search *s, struct weft_error *err)
{
    const int pid = (int)s->pid;
    if (kill(s->pid, 0) < 0 && errno == ESRCH)
        weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                       "there is no process %d; the trace of one that has ended can be given by "
                       "the name of its file",
                       pid);
    else if (s->late)
        weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                       "process %d does not let itself be looked at: its files have not answered "
                       "for %d s, as with a file system that hangs",
                       pid, SYMBOLS_ASIDE_SECONDS);
    else if (s->found.kept)
        weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                       "the trace of process %d is in a file system that a program of its user may "
                       "keep (FUSE); give the name of the file",
                       pid);
    else if (s->found.other)
        weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                       "process %d has only the trace of another process, which calls itself "
                       "%" PRIu32 " there; give the id of that one, or the name of its trace",
                       pid, s->found.other);
    else if (s->found.forbidden && geteuid() != 0)
        weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                       "the files of process %d cannot be read: it is another user's, or has more "
                       "rights than you; be root, or give the name of its trace",
                       pid);
    else if (!may_look(s->pid))
        weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                       "process %d may not be looked at: it has just ended, or this system forbids "
                       "it even to root",
                       pid);
    else
        weft_error_set(
            err, WEFT_E_IO, WEFT_NO_OFFSET,
            "process %d records into no file; weft explain %d says what it waits for now; if it is "
            "linked with weft, or a program of Python or Node.js, weft ctl %d on begins a "
            "recording",
            pid, pid, pid);
    return WEFT_E_IO;
}

bool cli_live_records_nothing(pid_t pid)
{
    struct search s = {.pid = pid};
    find(&s);
    cli_close(s.fd);
    return s.fd < 0 && !s.late && !s.found.kept && !s.found.other &&
           (!s.found.forbidden || may_look(pid)) && (kill(pid, 0) == 0 || errno != ESRCH);
}

int cli_live_open(struct weft_input *in, pid_t pid, char *path, size_t path_size,
                  struct weft_error *err)
{
    struct search s = {.pid = pid};
    struct stat st;
    find(&s);
    snprintf(path, path_size, "%s", s.found.path);
    *in = (struct weft_input){.fd = s.fd, .process = (uint32_t)pid};
    if (s.fd < 0)
        return say_none(&s, err);
    in->size = fstat(s.fd, &st) == 0 ? (uint64_t)st.st_size : 0;
    return 0;
}

int cli_live_check_size(const struct weft_input *in, uint64_t limit, struct weft_error *err)
{
    struct stat st;
    const uint64_t there = fstat(in->fd, &st) == 0 ? DISK_BLOCK * (uint64_t)st.st_blocks : 0;
    if (in->size <= (limit ? limit : CLI_LIMIT_BYTES) || (!limit && in->size <= there))
        return 0;
    if (limit)
        return weft_error_set(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                              "is %s large, more than --limit allows", weft_size(in->size).text);
    return weft_error_set(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                          "is %s large, but takes only %s on its disk, as no trace does that is "
                          "recorded; weft save --limit SIZE copies it",
                          weft_size(in->size).text, weft_size(there).text);
}

bool cli_live_process(const char *name, pid_t *pid)
{
    struct stat st;
    uint64_t number;
    if (!weft_parse_count(name, INT_MAX, &number) || number == 0 || lstat(name, &st) == 0)
        return false;
    *pid = (pid_t)number;
    return true;
}
