/* SPDX-License-Identifier: ISC */
#include "now/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/order.h"
#include "sample/proc.h"

enum { MAPPINGS_MAX = 1 << 16 };

static bool add_mapping(struct now_process *p, char *line)
{
    struct now_mapping m = {0};
    char mode[8];
    int at = 0;
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &m.start, &m.end, mode,
               &m.offset, &at) < 4 ||
        at == 0)
        return true;
    m.readable = mode[0] == 'r';
    m.executable = mode[2] == 'x';
    m.writable = mode[1] == 'w';
    m.path = strdup(line + at);
    if (!m.path || p->mappings == MAPPINGS_MAX ||
        !weft_reserve(&p->mapping, p->mappings, &p->mappings_room, sizeof m)) {
        free(m.path);
        return false;
    }
    p->mapping[p->mappings++] = m; /* the kernel sorts them */
    return true;
}

/* A thread that has not ended; otherwise the first. */
static pid_t living_thread(pid_t pid)
{
    struct sample_numbers all = {0};
    pid_t found = 0;
    sample_numbers_read(&all, "/proc/%d/task", (int)pid);
    for (uint32_t i = 0; i < all.count && !found; i++) {
        char line[512];
        sample_line(line, sizeof line, "/proc/%d/task/%" PRIu32 "/stat", (int)pid, all.number[i]);
        const char state = sample_state(line, NULL);
        if (state && state != 'Z' && state != 'X')
            found = (pid_t)all.number[i];
    }
    free(all.number);
    return found ? found : pid;
}

/* -1: it cannot be opened; *error says why. */
static int open_file(const struct now_process *p, const char *name, int *error)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)p->pid, (int)p->thread, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        *error = errno;
    return fd;
}

static int say_empty(pid_t pid, struct weft_error *err)
{
    char line[512];
    uint32_t parent;
    sample_line(line, sizeof line, "/proc/%d/stat", (int)pid);
    if (sample_state(line, &parent) == 'Z')
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "process %d has ended; its parent, process %" PRIu32
                              ", has not taken note",
                              (int)pid, parent);
    return weft_error_set(
        err, WEFT_E_IO, WEFT_NO_OFFSET,
        "process %d has no memory: it is a thread of the kernel, or has just ended", (int)pid);
}

static int say_why(pid_t pid, int error, struct weft_error *err)
{
    const int number = (int)pid;
    char yama[8];
    if (kill(pid, 0) < 0 && errno == ESRCH)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "there is no process %d", number);
    if (error == ESRCH)
        return say_empty(pid, err);
    sample_line(yama, sizeof yama, "/proc/sys/kernel/yama/ptrace_scope");
    if ((error == EACCES || error == EPERM) && geteuid() != 0)
        return weft_error_set(
            err, WEFT_E_IO, WEFT_NO_OFFSET,
            "process %d may not be looked at: it is another user's, or has more rights than you%s; "
            "be root (sudo), or have CAP_SYS_PTRACE",
            number, atoi(yama) > 0 ? ", or kernel.yama.ptrace_scope (sysctl) forbids it" : "");
    if (error == EACCES || error == EPERM)
        return weft_error_set(
            err, WEFT_E_IO, WEFT_NO_OFFSET,
            "process %d may not be looked at: this system forbids it even to root (CAP_SYS_PTRACE "
            "is missing, as in a container, or a security module refuses)",
            number);
    return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "process %d cannot be looked at: %s",
                          number, strerror(error));
}

static bool read_mappings(struct now_process *p)
{
    char *line = NULL;
    size_t room = 0;
    bool ok = true;
    FILE *maps = sample_distant_maps(&p->memory);
    while (maps && ok && getline(&line, &room, maps) > 0)
        ok = add_mapping(p, line);
    free(line);
    if (maps)
        fclose(maps);
    return maps && ok;
}

static int open_process(struct now_process *p, pid_t pid, struct weft_error *err)
{
    int error = 0, rc = 0;
    *p = (struct now_process){.pid = pid, .thread = living_thread(pid)};
    const int mem = open_file(p, "mem", &error), maps = open_file(p, "maps", &error);
    if (mem < 0 || maps < 0)
        rc = say_why(pid, error, err);
    else if (sample_distant_open(&p->memory, mem, maps) < 0 || !read_mappings(p))
        rc = weft_no_memory(err);
    if (mem >= 0)
        close(mem);
    if (maps >= 0)
        close(maps);
    return rc;
}

int now_process_open(struct now_process *p, pid_t pid, struct weft_error *err)
{
    int rc = open_process(p, pid, err);
    if (rc == 0 && !p->mappings) { /* it may just have executed another program */
        now_process_close(p);
        rc = open_process(p, pid, err);
    }
    return rc == 0 && !p->mappings ? say_empty(pid, err) : rc;
}

void now_process_close(struct now_process *p)
{
    symbols_worker_stop(&p->memory);
    for (uint32_t i = 0; i < p->mappings; i++)
        free(p->mapping[i].path);
    free(p->mapping);
    *p = (struct now_process){0};
}

bool now_read(struct now_process *p, uint64_t at, void *to, size_t bytes)
{
    char *piece = to;
    for (size_t left = bytes; left;) {
        const size_t n = sample_distant_read(&p->memory, at, piece, left);
        if (n == 0) {
            memset(to, 0, bytes);
            return false;
        }
        piece += n, at += n, left -= n;
    }
    return true;
}

const struct now_mapping *now_mapping_at(const struct now_process *p, uint64_t address)
{
    uint32_t low = 0, high = p->mappings;
    WEFT_SEEK(low, high, p->mapping[middle].end <= address);
    return low < p->mappings && p->mapping[low].start <= address ? &p->mapping[low] : NULL;
}
