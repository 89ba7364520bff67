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
    int kept[2], high = WEFT__ASIDE_KEPT + 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    fd = fcntl(fd, F_DUPFD, high); /* not where another one goes */
    for (int i = 0; i < 2; i++)
        kept[i] = keep && keep[i] >= 0 ? fcntl(keep[i], F_DUPFD, high) : -1;
    const int nothing = open("/dev/null", O_RDWR);
    for (int i = 0; i < WEFT__ASIDE_KEPT - 1; i++)
        dup2(nothing, i);
    dup2(fd, WEFT__ASIDE_KEPT - 1);
    for (int i = 0; i < 2; i++)
        if (kept[i] >= 0)
            dup2(kept[i], WEFT__ASIDE_KEPT + i);
    syscall(SYS_close_range, high, ~0u, 0);
}

bool weft__aside_start(struct weft__aside *a, void (*run)(int fd, void *data), void *data,
                       const int keep[2])
{
    int pair[2];
    const pid_t self = getpid();
    *a = (struct weft__aside){.fd = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return false;
    const pid_t pid = fork();
    if (pid == 0) {
        become_child(pair[1], keep, self);
        run(WEFT__ASIDE_KEPT - 1, data);
        _exit(0);
    }
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return false;
    }
    *a = (struct weft__aside){.pid = pid, .fd = pair[0]};
    return true;
}

bool weft__aside_get(struct weft__aside *a, void *to, size_t size)
{
    if (a->pid <= 0 || a->late)
        return false;
    if (weft__worker_get(a->fd, to, size, WEFT__ASIDE_SECONDS * 1000))
        return true;
    a->late = waitpid(a->pid, NULL, WNOHANG) == 0;
    if (!a->late)
        a->pid = 0;
    return false;
}

void weft__aside_stop(struct weft__aside *a)
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
    const int mem = WEFT__ASIDE_KEPT, maps = WEFT__ASIDE_KEPT + 1;
    struct question q;
    while (weft__worker_get(fd, &q, sizeof q, -1)) {
        ssize_t n = q.what == READ    ? pread(mem, data, q.bytes, (off_t)q.at)
                    : q.what == WRITE ? pwrite(mem, data, q.bytes, (off_t)q.at)
                                      : read(maps, data, q.bytes);
        const uint32_t done = n > 0 ? (uint32_t)n : 0;
        if (!weft__worker_put(fd, &done, sizeof done))
            return;
    }
}

bool weft__distant_open(struct weft__distant *d, int mem, int maps)
{
    void *room =
        mmap(NULL, WEFT__DISTANT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *d = (struct weft__distant){.aside = {.fd = -1}};
    if (room == MAP_FAILED)
        return false;
    d->room = room;
    return weft__aside_start(&d->aside, serve, room, (const int[]){mem, maps});
}

void weft__distant_close(struct weft__distant *d)
{
    weft__aside_stop(&d->aside);
    if (d->room)
        munmap(d->room, WEFT__DISTANT_BYTES);
    d->room = NULL;
}

static size_t ask(struct weft__distant *d, enum what what, uint64_t at, size_t bytes)
{
    const struct question q = {at, (uint32_t)bytes, what};
    uint32_t done = 0;
    if (d->aside.pid <= 0 || d->aside.late || !weft__worker_put(d->aside.fd, &q, sizeof q) ||
        !weft__aside_get(&d->aside, &done, sizeof done))
        return 0;
    return done < bytes ? done : bytes;
}

size_t weft__distant_read(struct weft__distant *d, uint64_t at, void *to, size_t bytes)
{
    bytes = bytes < WEFT__DISTANT_BYTES ? bytes : WEFT__DISTANT_BYTES;
    bytes = ask(d, READ, at, bytes);
    if (bytes)
        memcpy(to, d->room, bytes);
    return bytes;
}

size_t weft__distant_write(struct weft__distant *d, uint64_t at, const void *from, size_t bytes)
{
    if (!d->room || d->aside.late || bytes > WEFT__DISTANT_BYTES)
        return 0;
    memcpy(d->room, from, bytes);
    return ask(d, WRITE, at, bytes);
}

static ssize_t read_maps(void *d, char *to, size_t bytes)
{
    struct weft__distant *of = d;
    bytes = ask(of, MAPS, 0, bytes < WEFT__DISTANT_BYTES ? bytes : WEFT__DISTANT_BYTES);
    if (bytes)
        memcpy(to, of->room, bytes);
    return (ssize_t)bytes;
}

FILE *weft__distant_maps(struct weft__distant *d)
{
    return fopencookie(d, "r", (cookie_io_functions_t){.read = read_maps});
}
