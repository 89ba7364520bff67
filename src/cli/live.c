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

bool weft__facts_read(int fd, struct weft_facts_header *facts)
{
    const struct weft_packet_header *p = &facts->packet;
    return pread(fd, facts, sizeof *facts, 0) == sizeof *facts && p->magic == WEFT_PACKET_MAGIC &&
           p->signature == WEFT_PACKET_SIGNATURE && p->class == WEFT_PACKET_FACTS &&
           p->header_bytes >= sizeof *facts;
}

/* ---- Does the process live? ---- */

static bool read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, size - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

static bool boot_id_is(const uint8_t wanted[16])
{
    char text[64];
    uint8_t id[16] = {0};
    unsigned digits = 0;
    if (!read_text("/proc/sys/kernel/random/boot_id", text, sizeof text))
        return false;
    for (const char *c = text; *c && digits < 32; c++) {
        const char hex[] = "0123456789abcdef", *digit = *c == '-' ? NULL : strchr(hex, *c);
        if (!digit)
            continue;
        id[digits / 2] = (uint8_t)(id[digits / 2] << 4 | (digit - hex));
        digits++;
    }
    return memcmp(id, wanted, sizeof id) == 0;
}

/* Field 22 of /proc/PID/stat; 0: there is no such process, or it has ended and waits for its parent. */
static uint64_t process_start(uint32_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/stat", pid);
    if (!read_text(path, text, sizeof text))
        return 0;
    const char *at = strrchr(text, ')'); /* the end of field 2, which may hold anything */
    if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
        return 0;
    for (unsigned field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

bool weft__facts_live(const struct weft_facts_header *facts)
{
    uint64_t start = facts->process_start;
    return facts->state == WEFT_TRACE_RECORDING && start != 0 && boot_id_is(facts->boot_id) &&
           process_start(facts->pid) == start;
}

/* ---- The trace of a process ---- */

struct search {
    pid_t pid;
    char *path; /* of what is tried, to be shown */
    size_t path_size;
    int fd; /* the trace, or -1 */
    bool forbidden;
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
        at == 0 || mode[1] != 'w' || mode[3] != 's')
        return false;
    const char *mapped = line + at;
    snprintf(s->path, s->path_size, "%.*s", (int)strcspn(mapped, "\n"), mapped);
    snprintf(name, sizeof name, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)s->pid, start, end);
    if (try_file(s, name)) /* only for the mighty */
        return true;
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

int weft__live_open(pid_t pid, char *path, size_t path_size)
{
    struct search s = {.pid = pid, .path = path, .path_size = path_size, .fd = -1};
    char name[32];
    snprintf(name, sizeof name, "process %d", (int)pid);
    if (kill(pid, 0) < 0 && errno == ESRCH)
        weft__say(name, "there is none; a trace file of one that has ended can be given by name");
    else if (try_mappings(&s) || try_descriptors(&s))
        return s.fd;
    else if (s.forbidden)
        weft__say(name, "its files cannot be read; give the trace's name, or be the same user");
    else
        weft__say(name, "records into no file; is it linked with weft, and was it started with "
                        "WEFT_TRACE or weft record?");
    return -1;
}
