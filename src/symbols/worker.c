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
#include "symbols/confine.h"

/* Moves the descriptors to 3 and 4. */
static void become_worker(int fd, int files, pid_t parent, unsigned cpu_seconds)
{
    static const int deadly[] = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,
                                 SIGABRT, SIGPIPE, SIGXCPU, SIGPROF};
    static const int others[] = {SIGINT, SIGQUIT, SIGTERM,
                                 SIGHUP}; /* from the terminal: left to the parent */
    sigset_t none;
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        signal(others[i], SIG_IGN);
    for (unsigned i = 0; i < sizeof deadly / sizeof *deadly; i++)
        signal(deadly[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, 0);
    dup2(nothing, 1);
    files = fcntl(files, F_DUPFD, 5); /* not where the other one goes */
    dup2(fd, 3);
    dup2(files, 4);
    syscall(SYS_close_range, 5, ~0u, 0);
    symbols_confine_limits(cpu_seconds);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* after changing the user, which clears it */
    if (getppid() != parent)
        _exit(1);
}

enum { SEND_SECONDS = 20 };

int symbols_worker_start(struct symbols_worker *w, const struct symbols_worker_options *o,
                         void (*run)(int fd, void *data), void *data)
{
    int pair[2], files[2] = {-1, -1};
    *w = (struct symbols_worker){.fd = -1, .files = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return WEFT_E_NOMEM;
    pid_t self = getpid(), pid = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, files) == 0)
        pid = fork();
    if (pid == 0) {
        become_worker(pair[1], files[1], self, o ? o->cpu_seconds : 0);
        if (o && o->prepare)
            o->prepare();
        symbols_confine_calls(4);
        run(3, data);
        _exit(0);
    }
    close(pair[1]);
    if (files[1] >= 0)
        close(files[1]);
    if (pid < 0) {
        close(pair[0]);
        if (files[0] >= 0)
            close(files[0]);
        return WEFT_E_NOMEM;
    }
    /* If it hangs in a file, it does not receive what it is sent either. */
    setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){.tv_sec = SEND_SECONDS},
               sizeof(struct timeval));
    *w = (struct symbols_worker){pid, pair[0], files[0]};
    return 0;
}

static uint32_t ms_of(struct timeval t)
{
    return (uint32_t)(t.tv_sec * 1000 + t.tv_usec / 1000);
}

struct symbols_worker_end symbols_worker_stop(struct symbols_worker *w)
{
    struct rusage used = {0};
    int status = 0;
    if (w->pid <= 0)
        return (struct symbols_worker_end){0};
    kill(w->pid, SIGKILL);
    while (wait4(w->pid, &status, 0, &used) < 0 && errno == EINTR)
        ;
    close(w->fd);
    close(w->files);
    *w = (struct symbols_worker){.fd = -1, .files = -1};
    return (struct symbols_worker_end){
        .cpu_ms = ms_of(used.ru_utime) + ms_of(used.ru_stime),
        .late = WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGXCPU),
    };
}

bool symbols_worker_asks(const struct symbols_worker *w, int timeout_ms)
{
    struct pollfd p[2] = {{.fd = w->files, .events = POLLIN}, {.fd = w->fd, .events = POLLIN}};
    return poll(p, 2, timeout_ms) > 0 && (p[0].revents & POLLIN) && !p[1].revents;
}

static enum symbols_worker_read receive(int fd, void *to, size_t size, int timeout_ms,
                                        size_t *bytes)
{
    struct pollfd p = {fd, POLLIN, 0};
    *bytes = 0;
    int ready = timeout_ms < 0 ? 1 : poll(&p, 1, timeout_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR))
        return SYMBOLS_WORKER_LATE;
    ssize_t n = ready < 0 ? -1 : recv(fd, to, size, 0);
    if (n < 0 && errno == EINTR)
        return SYMBOLS_WORKER_LATE;
    if (n <= 0)
        return SYMBOLS_WORKER_GONE;
    *bytes = (size_t)n;
    return SYMBOLS_WORKER_SOME;
}

enum symbols_worker_read symbols_worker_read(const struct symbols_worker *w, void *to, size_t size,
                                             int timeout_ms, size_t *bytes)
{
    return receive(w->fd, to, size, timeout_ms, bytes);
}

bool symbols_worker_get(int fd, void *to, size_t size, int timeout_ms)
{
    while (size > 0) {
        size_t n;
        errno = 0;
        enum symbols_worker_read r = receive(fd, to, size, timeout_ms, &n);
        if (r == SYMBOLS_WORKER_LATE && errno == EINTR)
            continue;
        if (r != SYMBOLS_WORKER_SOME)
            return false;
        to = (char *)to + n;
        size -= n;
    }
    return true;
}

bool symbols_worker_put(int fd, const void *from, size_t size)
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
