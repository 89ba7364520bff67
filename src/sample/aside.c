/* SPDX-License-Identifier: ISC */
#include "sample/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/worker.h"

static void become_child(int fd, const int keep[2], pid_t parent)
{
    int kept[2], high = SAMPLE_ASIDE_KEPT + 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    fd = fcntl(fd, F_DUPFD, high); /* not where the other one goes */
    for (int i = 0; i < 2; i++)
        kept[i] = keep && keep[i] >= 0 ? fcntl(keep[i], F_DUPFD, high) : -1;
    const int nothing = open("/dev/null", O_RDWR);
    for (int i = 0; i < SAMPLE_ASIDE_KEPT - 1; i++)
        dup2(nothing, i);
    dup2(fd, SAMPLE_ASIDE_KEPT - 1);
    for (int i = 0; i < 2; i++)
        if (kept[i] >= 0)
            dup2(kept[i], SAMPLE_ASIDE_KEPT + i);
    syscall(SYS_close_range, high, ~0u, 0);
}

bool sample_aside_start(struct sample_aside *a, void (*run)(int fd, void *data), void *data,
                        const int keep[2])
{
    int pair[2];
    const pid_t self = getpid();
    *a = (struct sample_aside){.fd = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return false;
    const pid_t pid = fork();
    if (pid == 0) {
        become_child(pair[1], keep, self);
        run(SAMPLE_ASIDE_KEPT - 1, data);
        _exit(0);
    }
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return false;
    }
    *a = (struct sample_aside){.pid = pid, .fd = pair[0]};
    return true;
}

bool sample_aside_get(struct sample_aside *a, void *to, size_t size)
{
    if (a->pid <= 0 || a->late)
        return false;
    if (symbols_worker_get(a->fd, to, size, SAMPLE_ASIDE_SECONDS * 1000))
        return true;
    a->late = waitpid(a->pid, NULL, WNOHANG) == 0;
    if (!a->late)
        a->pid = 0;
    return false;
}

void sample_aside_stop(struct sample_aside *a)
{
    if (a->fd >= 0)
        close(a->fd);
    if (a->pid > 0) {
        kill(a->pid, SIGKILL);
        while (waitpid(a->pid, NULL, a->late ? WNOHANG : 0) < 0 && errno == EINTR)
            ;
    }
    a->pid = 0;
    a->fd = -1;
}

/* ---- The memory of a process ---- */

enum what { READ, WRITE, MAPS };

struct question {
    uint64_t at;
    uint32_t bytes;
    uint32_t what;
};

static void serve(int fd, void *data)
{
    const int mem = SAMPLE_ASIDE_KEPT, maps = SAMPLE_ASIDE_KEPT + 1;
    struct question q;
    while (symbols_worker_get(fd, &q, sizeof q, -1)) {
        ssize_t n = q.what == READ    ? pread(mem, data, q.bytes, (off_t)q.at)
                    : q.what == WRITE ? pwrite(mem, data, q.bytes, (off_t)q.at)
                                      : read(maps, data, q.bytes);
        const uint32_t done = n > 0 ? (uint32_t)n : 0;
        if (!symbols_worker_put(fd, &done, sizeof done))
            return;
    }
}

bool sample_distant_open(struct sample_distant *d, int mem, int maps)
{
    void *room =
        mmap(NULL, SAMPLE_DISTANT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *d = (struct sample_distant){.aside = {.fd = -1}};
    if (room == MAP_FAILED)
        return false;
    d->room = room;
    return sample_aside_start(&d->aside, serve, room, (const int[]){mem, maps});
}

void sample_distant_close(struct sample_distant *d)
{
    sample_aside_stop(&d->aside);
    if (d->room)
        munmap(d->room, SAMPLE_DISTANT_BYTES);
    d->room = NULL;
}

static size_t ask(struct sample_distant *d, enum what what, uint64_t at, size_t bytes)
{
    const struct question q = {at, (uint32_t)bytes, what};
    uint32_t done = 0;
    if (d->aside.pid <= 0 || d->aside.late || !symbols_worker_put(d->aside.fd, &q, sizeof q) ||
        !sample_aside_get(&d->aside, &done, sizeof done))
        return 0;
    return done < bytes ? done : bytes;
}

size_t sample_distant_read(struct sample_distant *d, uint64_t at, void *to, size_t bytes)
{
    bytes = bytes < SAMPLE_DISTANT_BYTES ? bytes : SAMPLE_DISTANT_BYTES;
    bytes = ask(d, READ, at, bytes);
    if (bytes)
        memcpy(to, d->room, bytes);
    return bytes;
}

size_t sample_distant_write(struct sample_distant *d, uint64_t at, const void *from, size_t bytes)
{
    if (!d->room || d->aside.late || bytes > SAMPLE_DISTANT_BYTES)
        return 0;
    memcpy(d->room, from, bytes);
    return ask(d, WRITE, at, bytes);
}

static ssize_t read_maps(void *d, char *to, size_t bytes)
{
    struct sample_distant *of = d;
    bytes = ask(of, MAPS, 0, bytes < SAMPLE_DISTANT_BYTES ? bytes : SAMPLE_DISTANT_BYTES);
    if (bytes)
        memcpy(to, of->room, bytes);
    return (ssize_t)bytes;
}

FILE *sample_distant_maps(struct sample_distant *d)
{
    return fopencookie(d, "r", (cookie_io_functions_t){.read = read_maps});
}
