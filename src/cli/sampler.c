/* SPDX-License-Identifier: ISC */
/* Two sockets lead to the child: one for questions, which a process that the caller has forked may also ask, and one for
 * what it says by itself. When nobody has the other end of the first one any more, the child ends. */
#include "cli/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/common.h"
#include "cli/sampling.h"

enum {
    ANSWER_MS = 1000,
    SETTLE_NS = 25000000, /* after which the sampler hands out what came before */
};

struct message {
    enum cli_sampler_says what;
    char text[CLI_SAMPLER_TEXT];
};

/* ---- In the child ---- */

struct work {
    struct weft_sampler *sampler;
    struct weft_samples_file *file;
    int ask, said;
    int rc;
    struct weft_error err;
};

static void say(const struct work *w, enum cli_sampler_says what, const char *text)
{
    struct message m = {.what = what};
    snprintf(m.text, sizeof m.text, "%s", text);
    (void)!send(w->said, &m, sizeof m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool put(void *data, const struct weft_sampled *r)
{
    struct work *w = data;
    const int rc = weft_samples_put(w->file, r);
    if (rc < 0 && rc != WEFT_E_LIMIT)
        w->rc = weft_error_set(&w->err, rc, WEFT_NO_OFFSET, "%s",
                               rc == WEFT_E_NOMEM ? weft_error_name(rc) : strerror(errno));
    return w->rc == 0;
}

static void take(struct work *w, int timeout_ms)
{
    const ptrdiff_t n = w->rc ? 0 : weft_sampler_read(w->sampler, timeout_ms, put, w, &w->err);
    if (n < 0)
        w->rc = (int)n;
}

static void flush(struct work *w)
{
    if (w->rc == 0)
        w->rc = weft_samples_flush(w->file, &w->err);
}

/* Answers a question: everything from before it is in the ring. Returns false if nobody can ask any more. */
static bool answer(struct work *w)
{
    uint64_t number;
    const ssize_t n = recv(w->ask, &number, sizeof number, MSG_DONTWAIT);
    if (n != sizeof number)
        return n < 0 && (errno == EAGAIN || errno == EINTR);
    const int64_t until = weft_monotonic_ns() + SETTLE_NS;
    while (w->rc == 0 && weft_monotonic_ns() < until)
        take(w, 5);
    take(w, 0);
    flush(w);
    return w->rc || send(w->ask, &number, sizeof number, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

static void go_on(struct work *w)
{
    struct pollfd fds[] = {{.fd = w->ask, .events = POLLIN},
                           {.fd = weft_sampler_fd(w->sampler), .events = POLLIN}};
    bool wanted = true;
    int64_t flushed_ns = 0;
    while (wanted && w->rc == 0) {
        if (poll(fds, 2, CLI_LOW_STEP_MS) < 0)
            fds[0].revents = fds[1].revents = 0;
        /* With a timeout, it also looks at events whose threads have ended, which are always ready. */
        take(w, fds[1].revents ? 1 : 0);
        if (fds[0].revents)
            wanted = answer(w);
        if (weft_monotonic_ns() - flushed_ns < CLI_LOW_STEP_MS * INT64_C(1000000))
            continue;
        flush(w);
        flushed_ns = weft_monotonic_ns();
    }
}

static int begin(struct work *w, int ring, const struct cli_sampler_options *o)
{
    const struct weft_sampler_options so = {.scope = WEFT_SAMPLE_PROCESS,
                                            .process = o->process,
                                            .frequency = o->hz,
                                            .no_switches = true,
                                            .by_cores = true};
    int rc = weft_sampler_open(&w->sampler, &so, &w->err);
    if (rc == 0)
        rc = cli_sampling_begin(&w->file, ring, &so, o->ring_bytes, NULL, &w->err);
    if (rc == 0 && (rc = weft_sampler_start(w->sampler)) < 0)
        weft_error_set(&w->err, rc, WEFT_NO_OFFSET, "%s", weft_error_name(rc));
    return rc;
}

_Noreturn static void work(int ring, int ask, int said, const struct cli_sampler_options *o)
{
    /* What ends the caller does not end this process: what was sampled until then is wanted. */
    static const int others[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    struct work w = {.ask = ask, .said = said};
    const char *note;
    sigset_t none;
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        signal(others[i], SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    w.rc = begin(&w, ring, o);
    for (uint32_t i = 0; w.rc == 0 && (note = weft_sampler_note(w.sampler, i)); i++)
        say(&w, CLI_SAMPLER_NOTE, note);
    if (w.rc == 0) {
        say(&w, CLI_SAMPLER_BEGAN, "");
        go_on(&w);
    }
    if (w.rc < 0)
        say(&w, CLI_SAMPLER_FAILED, w.err.text);
    if (w.sampler)
        weft_sampler_close(w.sampler); /* ends its own children */
    _exit(0);
}

/* ---- In the caller ---- */

static void close_all(struct cli_sampler *s)
{
    cli_close(s->ring);
    cli_close(s->ask);
    cli_close(s->said);
    s->ring = s->ask = s->said = -1;
}

int cli_sampler_start(struct cli_sampler *s, const struct cli_sampler_options *o)
{
    int ask[2] = {-1, -1}, said[2] = {-1, -1}, error = 0;
    *s = (struct cli_sampler){.ring = memfd_create("weft-samples", MFD_CLOEXEC)};
    if (s->ring < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ask) < 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, said) < 0)
        error = errno;
    s->ask = ask[0];
    s->said = said[0];
    if (!error) {
        flock(s->ring, LOCK_EX | LOCK_NB); /* it is being written */
        s->pid = fork();
        error = s->pid < 0 ? errno : 0;
    }
    if (!error && s->pid == 0) {
        close(ask[0]);
        close(said[0]);
        work(s->ring, ask[1], said[1], o);
    }
    cli_close(ask[1]);
    cli_close(said[1]);
    if (error) {
        s->pid = 0;
        close_all(s);
    }
    return error;
}

bool cli_sampler_hear(struct cli_sampler *s, enum cli_sampler_says *what,
                      char text[CLI_SAMPLER_TEXT])
{
    struct message m;
    const ssize_t n = s->said < 0 ? 0 : recv(s->said, &m, sizeof m, MSG_DONTWAIT);
    if (s->said < 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
        return false;
    if (n != sizeof m)
        m = (struct message){CLI_SAMPLER_FAILED, "the process that samples has ended"};
    *what = m.what;
    snprintf(text, CLI_SAMPLER_TEXT, "%.*s", CLI_SAMPLER_TEXT - 1, m.text);
    if (m.what == CLI_SAMPLER_FAILED)
        cli_sampler_stop(s);
    return true;
}

uint64_t cli_sampler_ask(const struct cli_sampler *s)
{
    const uint64_t number = (uint64_t)weft_monotonic_ns();
    return s->ask >= 0 && send(s->ask, &number, sizeof number, MSG_NOSIGNAL | MSG_DONTWAIT) > 0
               ? number
               : 0;
}

bool cli_sampler_await(const struct cli_sampler *s, uint64_t question)
{
    const int64_t until = weft_monotonic_ns() + ANSWER_MS * INT64_C(1000000);
    struct pollfd fd = {.fd = s->ask, .events = POLLIN};
    uint64_t got = 0;
    while (got != question) { /* others are to questions that somebody gave up */
        const int64_t left = until - weft_monotonic_ns();
        if (left <= 0 || poll(&fd, 1, (int)(left / 1000000) + 1) <= 0 ||
            recv(s->ask, &got, sizeof got, MSG_DONTWAIT) != sizeof got)
            return false;
    }
    return question != 0;
}

/* It is opened anew, for who writes it is known by a lock of another one who has it open. */
int cli_sampler_copy(const struct cli_sampler *s, struct weft_error *err)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", s->ring);
    return cli_samples_copy(open(path, O_RDONLY | O_CLOEXEC), err);
}

void cli_sampler_stop(struct cli_sampler *s)
{
    close_all(s);
    if (s->pid > 0) {
        kill(s->pid, SIGKILL);
        TEMP_FAILURE_RETRY(waitpid(s->pid, NULL, 0));
    }
    s->pid = 0;
}
