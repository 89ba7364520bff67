/* SPDX-License-Identifier: ISC */
/* weft record --keep: a process that looks for traces of the program and of its children, and starts a watcher for each. It
 * has a process group of its own, so that Ctrl-C reaches the program and not it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cli/child.h"
#include "cli/live.h"
#include "cli/record.h"
#include "read/alive.h"

enum {
    WATCHED_MAX = 64,
    SEARCH_MS = 1000,      /* if nothing says that there is something new */
    SEARCH_MEMORY_MS = 50, /* … and nothing can say it */
};

struct manager {
    struct cli_watcher *w;
    const struct cli_record_kept *of;
    int line;           /* from weft record */
    int main_line;      /* to the watcher of the program itself; -1: none yet */
    pid_t main_watcher; /* 0: none yet */
    struct {
        pid_t process, watcher;
    } list[WATCHED_MAX];
    unsigned listed;
};

static struct manager manager;
static volatile pid_t signalled; /* who gets the signals of conditions */

static void pass_signal(int number)
{
    const int saved = errno;
    if (signalled > 0)
        kill(signalled, number);
    errno = saved;
}

/* In a child process: watches to the end. */
_Noreturn static void watch(struct manager *m, pid_t pid, struct weft_input *in, const char *path,
                            int control)
{
    struct cli_watcher_target t = {.pid = pid,
                                   .in = *in,
                                   .path = path,
                                   .samples = m->of->samples,
                                   .from_start = true,
                                   .quiet = true,
                                   .control = control};
    static const int ours[] = {SIGUSR1, SIGUSR2, SIGURG, SIGWINCH, SIGALRM, SIGIO};
    for (unsigned i = 0; i < sizeof ours / sizeof *ours; i++)
        signal(ours[i], SIG_DFL);
    close(m->line);
    cli_watcher_begin(m->w);
    cli_watcher_follow(m->w, &t);
    cli_watcher_finish(m->w);
    cli_watcher_free(m->w);
    exit(CLI_DONE);
}

static bool is_watched(const struct manager *m, pid_t pid)
{
    for (unsigned i = 0; i < m->listed; i++)
        if (m->list[i].process == pid)
            return true;
    return false;
}

/* Starts a watcher; takes over the trace. */
static void start(struct manager *m, pid_t pid, struct weft_input *in, const char *path,
                  bool is_main)
{
    int pair[2] = {-1, -1};
    struct stat st;
    in->size = fstat(in->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
    const bool fine = m->listed < WATCHED_MAX && (!is_main || pipe2(pair, O_CLOEXEC) == 0);
    const pid_t watcher = fine ? fork() : -1;
    if (watcher == 0) {
        cli_close(pair[1]);
        watch(m, pid, in, path, pair[0]);
    }
    cli_close(pair[0]);
    weft_input_close(in);
    if (watcher < 0) {
        cli_close(pair[1]);
        return;
    }
    m->list[m->listed].process = pid;
    m->list[m->listed++].watcher = watcher;
    if (is_main) {
        m->main_line = pair[1];
        m->main_watcher = watcher;
    }
    if (is_main || !signalled)
        signalled = watcher;
}

/* The trace of the program itself: in memory, or a new file. */
static void look_for_main(struct manager *m)
{
    const struct cli_record_kept *of = m->of;
    struct weft_facts_header facts;
    struct weft_input in = {.process = (uint32_t)of->pid};
    in.fd = of->memory >= 0 ? fcntl(of->memory, F_DUPFD_CLOEXEC, 3)
                            : open(of->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (in.fd >= 0 && weft_facts_read(in.fd, &facts) && facts.pid == (uint32_t)of->pid &&
        facts.start_mono_ns >= of->begun_ns)
        start(m, of->pid, &in, of->path, true);
    else
        cli_close(in.fd);
}

static void found_child(pid_t pid)
{
    struct manager *m = &manager;
    char path[PATH_MAX];
    struct weft_input in = {.process = (uint32_t)pid};
    if (is_watched(m, pid) ||
        cli_expand_pid(path, sizeof path, m->of->children, pid) >= sizeof path)
        return;
    in.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (in.fd >= 0)
        start(m, pid, &in, path, false);
}

static void search(struct manager *m)
{
    if (!m->main_watcher)
        look_for_main(m);
    if (*m->of->children)
        cli_children_each(m->of->children, m->of->pid, m->of->begun_ns, found_child);
}

/* Says when something appears in the folder of the traces. -1: nothing does. */
static int watch_folder(const char *path)
{
    char folder[PATH_MAX];
    const int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = 0;
    if (fd >= 0 && inotify_add_watch(fd, folder, IN_MOVED_TO | IN_CREATE) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Waits for the watchers, except those of processes that go on. */
static void wait_for_watchers(const struct manager *m)
{
    for (unsigned i = 0; i < m->listed; i++) {
        const bool goes_on =
            m->list[i].watcher != m->main_watcher && kill(m->list[i].process, 0) == 0;
        if (!goes_on)
            TEMP_FAILURE_RETRY(waitpid(m->list[i].watcher, NULL, 0));
    }
}

_Noreturn static void manage(struct manager *m)
{
    const struct sigaction pass = {.sa_handler = pass_signal, .sa_flags = SA_RESTART};
    char events[4096];
    int status;
    setpgid(0, 0);
    for (unsigned i = 0; i < m->of->signals; i++)
        sigaction(m->of->signal[i], &pass, NULL);
    const int folder = watch_folder(m->of->path);
    const int timeout = m->of->memory >= 0 || folder < 0 ? SEARCH_MEMORY_MS : SEARCH_MS;
    struct pollfd fds[] = {{.fd = m->line, .events = POLLIN}, {.fd = folder, .events = POLLIN}};
    do {
        search(m);
        if (poll(fds, 2, m->main_watcher && !*m->of->children ? -1 : timeout) < 0)
            fds[0].revents = 0;
        while (folder >= 0 && read(folder, events, sizeof events) > 0)
            ;
    } while (!fds[0].revents);
    search(m);
    if (read(m->line, &status, sizeof status) == sizeof status && m->main_line >= 0)
        (void)!write(m->main_line, &status, sizeof status);
    cli_close(m->main_line);
    wait_for_watchers(m);
    _exit(0);
}

void cli_record_keep_start(struct cli_record_keep *k, const struct cli_record_kept *of)
{
    int pair[2];
    k->pid = 0;
    k->line = -1;
    if (pipe2(pair, O_CLOEXEC) < 0)
        return;
    const pid_t pid = fork();
    if (pid == 0) {
        close(pair[1]);
        manager = (struct manager){.w = k->w, .of = of, .line = pair[0], .main_line = -1};
        manage(&manager);
    }
    close(pair[0]);
    k->pid = pid > 0 ? pid : 0;
    k->line = pair[1];
    for (unsigned i = 0; pid > 0 && i < of->signals; i++)
        cli_child_divert(of->signal[i], pid);
}

void cli_record_keep_end(struct cli_record_keep *k, int status)
{
    if (k->line < 0)
        return;
    (void)!write(k->line, &status, sizeof status);
    close(k->line);
    if (k->pid)
        TEMP_FAILURE_RETRY(waitpid(k->pid, NULL, 0));
    k->line = -1;
}
