/* SPDX-License-Identifier: ISC */
#include "cli/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common.h"
#include "read/alive.h"

bool weft__facts_valid(const struct weft_facts_header *facts)
{
    const struct weft_packet_header *p = &facts->packet;
    return p->magic == WEFT_PACKET_MAGIC && p->signature == WEFT_PACKET_SIGNATURE &&
           p->class == WEFT_PACKET_FACTS && p->header_bytes >= sizeof *facts;
}

bool weft__facts_read(int fd, struct weft_facts_header *facts)
{
    return pread(fd, facts, sizeof *facts, 0) == sizeof *facts && weft__facts_valid(facts);
}

bool weft__facts_live(const struct weft_facts_header *facts)
{
    return weft_facts_alive(facts);
}

/* ---- The trace of a process ---- */

#define MEMORY_NAME "/memfd:weft" /* see record.c */

struct search {
    pid_t pid;
    char *path; /* of what is tried, to be shown */
    size_t path_size;
    int fd; /* the trace, or -1 */
    bool forbidden;
    uint64_t at; /* only what is mapped there; 0: anything */
    bool given;  /* there is memory that weft record has given */
};

/* Opens what may be the trace. Returns true if it is. */
static bool try_file(struct search *s, const char *name)
{
    struct weft_facts_header facts;
    struct stat st;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    s->forbidden |= fd < 0 && (errno == EACCES || errno == EPERM);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && weft__facts_read(fd, &facts) &&
        facts.state == WEFT_TRACE_RECORDING) {
        s->fd = fd;
        return true;
    }
    close(fd);
    return false;
}

/* A line of /proc/PID/maps. What is mapped may have been deleted, or lie in another mount namespace. */
static bool try_mapping(struct search *s, const char *line)
{
    uint64_t start, end;
    char mode[8], name[PATH_MAX + 64];
    int at = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %n", &start, &end, mode, &at) < 3 ||
        at == 0 || (s->at ? s->at < start || s->at >= end : mode[1] != 'w') || mode[3] != 's')
        return false;
    const char *mapped = line + at;
    snprintf(s->path, s->path_size, "%.*s", (int)strcspn(mapped, "\n"), mapped);
    snprintf(name, sizeof name, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)s->pid, start, end);
    if (try_file(s, name)) /* only for the mighty */
        return true;
    s->given |= strncmp(s->path, MEMORY_NAME, strlen(MEMORY_NAME)) == 0;
    struct stat st;
    snprintf(name, sizeof name, "/proc/%d/root%s", (int)s->pid, s->path);
    return stat(name, &st) == 0 && S_ISREG(st.st_mode) && try_file(s, name);
}

static bool try_mappings(struct search *s)
{
    char name[64], *line = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(name, sizeof name, "/proc/%d/maps", (int)s->pid);
    FILE *maps = fopen(name, "re");
    s->forbidden |= !maps && errno == EACCES;
    while (maps && !found && getline(&line, &room, maps) > 0)
        found = try_mapping(s, line);
    free(line);
    if (maps)
        fclose(maps);
    return found;
}

static bool try_descriptors(struct search *s)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "/proc/%d/fd", (int)s->pid);
    DIR *dir = opendir(name);
    const struct dirent *entry;
    struct stat st;
    bool found = false;
    while (dir && !found && (entry = readdir(dir))) {
        snprintf(name, sizeof name, "/proc/%d/fd/%s", (int)s->pid, entry->d_name);
        ssize_t n = readlink(name, s->path, s->path_size - 1);
        s->path[n > 0 ? n : 0] = 0;
        /* Opening a pipe or a device may do something. */
        found = n > 0 && stat(name, &st) == 0 && S_ISREG(st.st_mode) && try_file(s, name);
    }
    if (dir)
        closedir(dir);
    return found;
}

/* Memory that weft record has given to the program, and keeps open: the program itself does not. */
static bool try_parent(struct search *s)
{
    char name[64], text[1024];
    snprintf(name, sizeof name, "/proc/%d/stat", (int)s->pid);
    FILE *stat = s->given ? fopen(name, "re") : NULL;
    size_t n = stat ? fread(text, 1, sizeof text - 1, stat) : 0;
    text[n] = 0;
    if (stat)
        fclose(stat);
    const char *at = strrchr(text, ')'); /* the end of field 2, which may hold anything */
    if (!at || n < (size_t)(at - text) + 4)
        return false;
    struct search parent = *s;
    parent.pid = (pid_t)strtol(at + 4, NULL, 10); /* after ") S " */
    bool found = try_descriptors(&parent);
    s->fd = parent.fd;
    return found;
}

int weft__live_find(pid_t pid, uint64_t at, char *path, size_t path_size)
{
    struct search s = {.pid = pid, .path = path, .path_size = path_size, .fd = -1, .at = at};
    *path = 0;
    if (try_mappings(&s) || try_parent(&s) || at || try_descriptors(&s))
        return s.fd;
    *path = 0;
    return -1;
}

int weft__live_open(pid_t pid, char *path, size_t path_size)
{
    struct search s = {.pid = pid, .path = path, .path_size = path_size, .fd = -1};
    char name[32];
    snprintf(name, sizeof name, "process %d", (int)pid);
    if (kill(pid, 0) < 0 && errno == ESRCH)
        weft__say(name, "there is none; a trace file of one that has ended can be given by name");
    else if (try_mappings(&s) || try_parent(&s) || try_descriptors(&s))
        return s.fd;
    else if (s.forbidden)
        weft__say(name, "its files cannot be read; give the trace's name, or be the same user");
    else
        weft__say(name, "records into no file; is it linked with weft, and was it started with "
                        "WEFT_TRACE or weft record?");
    return -1;
}
