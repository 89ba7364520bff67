/* SPDX-License-Identifier: ISC */
#include "symbols/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/error.h"

#if defined(__SANITIZE_ADDRESS__)
#define SHADOWED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SHADOWED 1
#endif
#endif

/* Half of the machine's memory on top of what the caller has, so that the one that it hurts is the worker.
 * A sanitizer reserves more than any limit. */
static void limit_memory(void)
{
#ifndef SHADOWED
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    if (!statm || fscanf(statm, "%lu", &pages) != 1)
        pages = 0;
    if (statm)
        fclose(statm);
    long all = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (all > 0 && size > 0) {
        rlim_t most = ((rlim_t)pages + (rlim_t)all / 2) * (rlim_t)size;
        setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
    }
#endif
}

static void become_worker(int fd, pid_t parent)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGPIPE};
    static const int others[] = {SIGINT, SIGQUIT, SIGTERM,
                                 SIGHUP}; /* of the terminal: the parent's */
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        signal(others[i], SIG_IGN);
    for (unsigned i = 0; i < sizeof deadly / sizeof *deadly; i++)
        signal(deadly[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    limit_memory();

    int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, 0);
    dup2(nothing, 1);
    if (fd != 3)
        dup2(fd, 3);
    syscall(SYS_close_range, 4, ~0u, 0);
}

enum { SEND_SECONDS = 20 };

int weft__worker_start(struct weft__worker *w, void (*run)(int fd, void *data), void *data)
{
    int pair[2];
    *w = (struct weft__worker){.fd = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return WEFT_E_NOMEM;
    pid_t self = getpid(), pid = fork();
    if (pid < 0) {
        close(pair[0]);
        close(pair[1]);
        return WEFT_E_NOMEM;
    }
    if (pid == 0) {
        become_worker(pair[1], self);
        run(3, data);
        _exit(0);
    }
    close(pair[1]);
    /* One that hangs in a file does not take what it is sent either. */
    setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){.tv_sec = SEND_SECONDS},
               sizeof(struct timeval));
    *w = (struct weft__worker){pid, pair[0]};
    return 0;
}

void weft__worker_stop(struct weft__worker *w)
{
    if (w->pid <= 0)
        return;
    kill(w->pid, SIGKILL);
    while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close(w->fd);
    *w = (struct weft__worker){.fd = -1};
}

static enum weft__worker_read receive(int fd, void *to, size_t size, int timeout_ms, size_t *bytes)
{
    struct pollfd p = {fd, POLLIN, 0};
    *bytes = 0;
    int ready = timeout_ms < 0 ? 1 : poll(&p, 1, timeout_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR))
        return WEFT__WORKER_LATE;
    ssize_t n = ready < 0 ? -1 : recv(fd, to, size, 0);
    if (n < 0 && errno == EINTR)
        return WEFT__WORKER_LATE;
    if (n <= 0)
        return WEFT__WORKER_GONE;
    *bytes = (size_t)n;
    return WEFT__WORKER_SOME;
}

enum weft__worker_read weft__worker_read(const struct weft__worker *w, void *to, size_t size,
                                         int timeout_ms, size_t *bytes)
{
    return receive(w->fd, to, size, timeout_ms, bytes);
}

bool weft__worker_get(int fd, void *to, size_t size, int timeout_ms)
{
    while (size > 0) {
        size_t n;
        errno = 0;
        enum weft__worker_read r = receive(fd, to, size, timeout_ms, &n);
        if (r == WEFT__WORKER_LATE && errno == EINTR)
            continue;
        if (r != WEFT__WORKER_SOME)
            return false;
        to = (char *)to + n;
        size -= n;
    }
    return true;
}

bool weft__worker_put(int fd, const void *from, size_t size)
{
    while (size > 0) {
        ssize_t n = send(fd, from, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        from = (const char *)from + n;
        size -= (size_t)n;
    }
    return true;
}
