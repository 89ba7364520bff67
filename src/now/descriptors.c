/* SPDX-License-Identifier: ISC */
/* What threads wait for in system calls: descriptors, sleep, children, signals. Names of descriptors come from the links in
 * /proc/PID/fd and from /proc/PID/fdinfo; no file of the process is opened. */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/order.h"
#include "now/threads.h"

enum { SETS_MAX = 65536, POLLED_MAX = 65536, PIECE = 512 };

/* ---- What a descriptor is ---- */

/* The value of a line "name: value" of its fdinfo, which begins after blanks. */
struct info {
    char text[1 << 12];
};

static bool read_info(const struct now_threads *t, uint32_t number, struct info *info)
{
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/task/%d/fdinfo/%" PRIu32, (int)t->p->pid,
             (int)t->p->thread, number);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, info->text, sizeof info->text - 1);
    if (fd >= 0)
        close(fd);
    info->text[n > 0 ? n : 0] = 0;
    return n > 0;
}

static const char *value_in(const struct info *info, const char *name)
{
    for (const char *line = info->text; *line;) {
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':') {
            line += strlen(name) + 1;
            return line + strspn(line, " \t");
        }
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return NULL;
}

/* "(12, 345)": seconds and nanoseconds. */
static int64_t pair_in(const struct info *info, const char *name)
{
    int64_t s, ns;
    const char *value = value_in(info, name);
    if (!value || sscanf(value, "(%" SCNd64 ", %" SCNd64 ")", &s, &ns) != 2 || s < 0 ||
        s > INT64_MAX / 2000000000)
        return 0;
    return s * INT64_C(1000000000) + ns;
}

struct descriptor {
    uint32_t number, thing;
    char link[PATH_MAX];
    unsigned may; /* 0400: it may be read; 0200: written */
};

static void tell_timer(struct now_threads *t, const struct descriptor *d)
{
    struct info info;
    const int64_t left_ns = read_info(t, d->number, &info) ? pair_in(&info, "it_value") : 0;
    const int64_t every_ns = left_ns ? pair_in(&info, "it_interval") : 0;
    if (!left_ns)
        now_state(t->n, d->thing, "is not set, or has expired");
    else if (every_ns)
        now_state(t->n, d->thing, "expires in %s, and every %s", weft_duration(left_ns).text,
                  weft_duration(every_ns).text);
    else
        now_state(t->n, d->thing, "expires in %s", weft_duration(left_ns).text);
}

static void tell_event(struct now_threads *t, const struct descriptor *d)
{
    struct info info;
    const char *count = read_info(t, d->number, &info) ? value_in(&info, "eventfd-count") : NULL;
    if (count)
        now_state(t->n, d->thing, "its count is %llu", strtoull(count, NULL, 16));
}

static void tell_pidfd(struct now_threads *t, const struct descriptor *d)
{
    struct info info;
    const char *pid = read_info(t, d->number, &info) ? value_in(&info, "Pid") : NULL;
    const long number = pid ? strtol(pid, NULL, 10) : 0;
    if (number > 0)
        now_link(t->n, d->thing, now_other(t, (pid_t)number), false, "ends with");
    else
        now_state(t->n, d->thing, "that process has ended");
}

static void tell_socket(struct now_threads *t, const struct descriptor *d)
{
    char link[64];
    struct now_socket s;
    const uint64_t inode = strtoull(d->link + strlen("socket:["), NULL, 10);
    if (!now_socket_find(t, inode, &s)) {
        now_name(t->n, d->thing, "descriptor %" PRIu32 " (socket)", d->number);
        return;
    }
    now_name(t->n, d->thing, "descriptor %" PRIu32 " (%s)", d->number, s.text);
    if (s.peer) {
        snprintf(link, sizeof link, "socket:[%" PRIu64 "]", s.peer);
        now_end_want(t, d->thing, (uint32_t)t->p->pid, link, 0600);
    }
}

/* Not asked of the file system that it is in. */
static bool is_fifo(const struct now_threads *t, uint32_t number)
{
    char path[96];
    struct statx st;
    snprintf(path, sizeof path, "/proc/%d/task/%d/fd/%" PRIu32, (int)t->p->pid, (int)t->p->thread,
             number);
    return statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &st) == 0 && S_ISFIFO(st.stx_mode);
}

/* Whoever has the other end: a reader waits for those who may write. */
static void tell_pipe(struct now_threads *t, const struct descriptor *d, const char *noun)
{
    const unsigned other = d->may == 0400 ? 0200 : d->may == 0200 ? 0400 : 0600;
    now_name(t->n, d->thing, "descriptor %" PRIu32 " (%s%s)", d->number,
             d->may == 0400   ? "reading end of "
             : d->may == 0200 ? "writing end of "
                              : "",
             noun);
    now_end_want(t, d->thing, (uint32_t)t->p->pid, d->link, other);
}

/* "SIGINT, SIGTERM": bit 0 is signal 1. */
struct signals {
    char text[NOW_TEXT_MAX / 2];
};

static struct signals signals_of(uint64_t mask)
{
    struct signals s = {""};
    for (int number = 1; number <= 64; number++) {
        const char *name = mask >> (number - 1) & 1 ? sigabbrev_np(number) : NULL;
        const size_t at = strlen(s.text);
        if (name)
            snprintf(s.text + at, sizeof s.text - at, "%sSIG%s", at ? ", " : "", name);
    }
    return s;
}

static void tell_signals(struct now_threads *t, const struct descriptor *d)
{
    struct info info;
    const char *mask = read_info(t, d->number, &info) ? value_in(&info, "sigmask") : NULL;
    if (mask)
        now_name(t->n, d->thing, "descriptor %" PRIu32 " (signals: %s)", d->number,
                 signals_of(strtoull(mask, NULL, 16)).text);
}

static void tell_epoll(struct now_threads *t, const struct descriptor *d);

static const struct {
    const char *link, *noun;
    void (*tell)(struct now_threads *, const struct descriptor *);
} anonymous[] = {
    {"anon_inode:[eventpoll]", "epoll", tell_epoll},
    {"anon_inode:[timerfd]", "timer", tell_timer},
    {"anon_inode:[eventfd]", "eventfd", tell_event},
    {"anon_inode:[signalfd]", "signals", tell_signals},
    {"anon_inode:inotify", "changes of files, inotify", NULL},
    {"anon_inode:[io_uring]", "io_uring", NULL},
    {"anon_inode:[pidfd]", "process", tell_pidfd},
    {"pidfd:", "process", tell_pidfd},
};

static void tell_descriptor(struct now_threads *t, const struct descriptor *d)
{
    char fifo[NOW_TEXT_MAX];
    for (unsigned i = 0; i < sizeof anonymous / sizeof *anonymous; i++) {
        if (strncmp(d->link, anonymous[i].link, strlen(anonymous[i].link)) != 0)
            continue;
        now_name(t->n, d->thing, "descriptor %" PRIu32 " (%s)", d->number, anonymous[i].noun);
        if (anonymous[i].tell)
            anonymous[i].tell(t, d);
        return;
    }
    if (strncmp(d->link, "socket:[", 8) == 0)
        tell_socket(t, d);
    else if (strncmp(d->link, "pipe:[", 6) == 0)
        tell_pipe(t, d, "a pipe");
    else if (d->link[0] == '/' && is_fifo(t, d->number)) {
        snprintf(fifo, sizeof fifo, "FIFO %.400s", d->link);
        tell_pipe(t, d, fifo);
    } else if (strncmp(d->link, "/dev/pts/", 9) == 0 || strncmp(d->link, "/dev/tty", 8) == 0)
        now_name(t->n, d->thing, "descriptor %" PRIu32 " (terminal %s)", d->number, d->link);
    else
        now_name(t->n, d->thing, "descriptor %" PRIu32 " (%s)", d->number, d->link);
}

uint32_t now_descriptor(struct now_threads *t, uint32_t number)
{
    char path[96];
    struct stat st;
    struct descriptor d = {.number = number, .thing = now_thing(t->n, NOW_DESCRIPTOR, number)};
    if (d.thing == NOW_NONE || t->n->thing[d.thing].name)
        return d.thing;
    snprintf(path, sizeof path, "/proc/%d/task/%d/fd/%" PRIu32, (int)t->p->pid, (int)t->p->thread,
             number);
    const ssize_t n = readlink(path, d.link, sizeof d.link - 1);
    if (n > 0 && lstat(path, &st) == 0) {
        d.link[n] = 0;
        d.may = st.st_mode & 0600;
        tell_descriptor(t, &d);
    } else {
        now_name(t->n, d.thing, "descriptor %" PRIu32 ", which is not open", number);
    }
    return d.thing;
}

/* ---- Waiting for several ---- */

struct watched {
    uint32_t number; /* first: they are sorted by it */
    bool in, out;
};

struct watch {
    struct now_threads *t;
    uint32_t thing; /* that waits: a thread, or an epoll descriptor */
    struct watched *watched;
    uint32_t count, room;
    uint32_t left_out;
};

static void add_watch(struct watch *w, uint32_t number, bool in, bool out)
{
    if (w->count < POLLED_MAX && weft_reserve(&w->watched, w->count, &w->room, sizeof *w->watched))
        w->watched[w->count++] = (struct watched){number, in, out};
    else
        w->left_out++;
}

static void end_watch(struct watch *w)
{
    weft_sort(w->watched, w->count, sizeof *w->watched, weft_order_u32);
    for (uint32_t i = 0; i < w->count && i < NOW_WATCHED_MAX; i++)
        now_link(w->t->n, w->thing, now_descriptor(w->t, w->watched[i].number), true,
                 !w->watched[i].out ? "waits to read"
                 : w->watched[i].in ? "waits to read or write"
                                    : "waits to write");
    if (w->count > NOW_WATCHED_MAX || w->left_out)
        now_remark(w->t->n, "%s waits for %" PRIu32 " more descriptors, which are not shown",
                   w->t->n->thing[w->thing].name,
                   (w->count > NOW_WATCHED_MAX ? w->count - NOW_WATCHED_MAX : 0) + w->left_out);
    free(w->watched);
}

/* "tfd:        5 events:       19 data: …" */
static void watch_epoll(struct watch *w, uint32_t number)
{
    char path[96], line[256];
    uint32_t target;
    unsigned events;
    snprintf(path, sizeof path, "/proc/%d/task/%d/fdinfo/%" PRIu32, (int)w->t->p->pid,
             (int)w->t->p->thread, number);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "tfd: %" SCNu32 " events: %x", &target, &events) != 2)
            continue;
        add_watch(w, target, events & (EPOLLIN | EPOLLPRI | EPOLLRDHUP), events & EPOLLOUT);
    }
    if (f)
        fclose(f);
}

/* One that is within another, or is polled. It has its name already: none comes twice. */
static void tell_epoll(struct now_threads *t, const struct descriptor *d)
{
    struct watch w = {.t = t, .thing = d->thing};
    watch_epoll(&w, d->number);
    end_watch(&w);
}

static void watch_poll(struct watch *w, uint64_t at, uint64_t count)
{
    struct pollfd piece[PIECE];
    count = count < POLLED_MAX ? count : POLLED_MAX;
    for (uint64_t done = 0; done < count; done += PIECE) {
        const uint64_t some = count - done < PIECE ? count - done : PIECE;
        if (!now_read(w->t->p, at + done * sizeof *piece, piece, (size_t)some * sizeof *piece))
            break;
        for (uint64_t i = 0; i < some; i++) {
            if (piece[i].fd < 0)
                continue;
            add_watch(w, (uint32_t)piece[i].fd, piece[i].events & (POLLIN | POLLPRI),
                      piece[i].events & POLLOUT);
        }
    }
}

static bool read_set(struct now_threads *t, uint64_t at, uint64_t bits, uint8_t *set)
{
    memset(set, 0, SETS_MAX / 8);
    return at && now_read(t->p, at, set, (size_t)(bits + 63) / 64 * 8);
}

static void watch_select(struct watch *w, const uint64_t arg[6])
{
    uint8_t *set = malloc(3 * (SETS_MAX / 8));
    const uint64_t bits = arg[0] < SETS_MAX ? arg[0] : SETS_MAX;
    for (unsigned i = 0; set && i < 3; i++)
        read_set(w->t, arg[1 + i], bits, set + i * (SETS_MAX / 8));
    for (uint32_t fd = 0; set && fd < bits; fd++) {
        const uint8_t bit = (uint8_t)(1 << fd % 8);
        const bool in = (set[fd / 8] | set[2 * (SETS_MAX / 8) + fd / 8]) & bit;
        const bool out = set[SETS_MAX / 8 + fd / 8] & bit;
        if (!in && !out)
            continue;
        add_watch(w, fd, in, out);
    }
    free(set);
}

/* How long it takes at most; a timeout of 0 cannot be seen. */
static struct now_limit limit_of(struct now_threads *t, const struct now_thread *thread)
{
    const uint64_t *arg = thread->at.arg;
    const char *name = thread->call->name;
    int64_t ns = -1;
    if (strcmp(name, "epoll_wait") == 0 || strcmp(name, "epoll_pwait") == 0)
        ns = (int32_t)arg[3] * INT64_C(1000000);
    else if (strcmp(name, "poll") == 0)
        ns = (int32_t)arg[2] * INT64_C(1000000);
    else if (strncmp(name, "ppoll", 5) == 0)
        ns = now_time_at(t, thread->call, arg[2], false);
    else if (strcmp(name, "epoll_pwait2") == 0)
        ns = now_time_at(t, thread->call, arg[3], false);
    else
        ns = now_time_at(t, thread->call, arg[4], strcmp(name, "select") == 0);
    return now_limit_ns(ns);
}

/* The C library's function. */
static const char *name_of(const struct now_thread *thread)
{
    return thread->waits_in ? thread->waits_in : thread->call->name;
}

static void tell_several(struct now_threads *t, const struct now_thread *thread)
{
    const uint64_t *arg = thread->at.arg;
    struct watch w = {.t = t, .thing = thread->thing};
    if (thread->call->kind == NOW_CALL_EPOLL)
        watch_epoll(&w, (uint32_t)arg[0]);
    else if (thread->call->kind == NOW_CALL_POLL)
        watch_poll(&w, arg[0], arg[1]);
    else
        watch_select(&w, arg);
    const uint32_t watched = w.count + w.left_out;
    const struct now_limit limit = limit_of(t, thread);
    if (watched == 1)
        now_state(t->n, thread->thing, "waits in %s for one descriptor%s", name_of(thread),
                  limit.text);
    else if (watched)
        now_state(t->n, thread->thing, "waits in %s for any of %" PRIu32 " descriptors%s",
                  name_of(thread), watched, limit.text);
    else if (*limit.text && thread->call->kind != NOW_CALL_EPOLL)
        now_state(t->n, thread->thing, "sleeps in %s%s", name_of(thread), limit.text);
    else
        now_state(t->n, thread->thing, "waits in %s for no descriptor%s", name_of(thread),
                  limit.text);
    end_watch(&w);
}

/* ---- Waiting for one ---- */

static void tell_one(struct now_threads *t, const struct now_thread *thread)
{
    now_state(t->n, thread->thing, "waits in %s", name_of(thread));
    now_link(t->n, thread->thing, now_descriptor(t, (uint32_t)thread->at.arg[0]), false,
             thread->call->how);
}

/* Commands of fcntl that wait. */
static bool sets_lock(const struct now_thread *thread)
{
    return thread->at.arg[1] == F_SETLKW || thread->at.arg[1] == F_OFD_SETLKW ||
           thread->at.arg[1] == 14; /* F_SETLKW64 on 32-bit machines */
}

static void tell_locked(struct now_threads *t, const struct now_thread *thread)
{
    const bool flock = strcmp(thread->call->name, "flock") == 0;
    const uint32_t number = (uint32_t)thread->at.arg[0];
    struct info info;
    tell_one(t, thread);
    if (!flock && !sets_lock(thread))
        return;
    const char *inode = read_info(t, number, &info) ? value_in(&info, "ino") : NULL;
    now_file_lock_tell(t, now_descriptor(t, number), (uint32_t)t->p->pid,
                       inode ? strtoull(inode, NULL, 10) : 0, flock);
}

/* ---- Sleep, children, signals ---- */

static void tell_sleep(struct now_threads *t, const struct now_thread *thread)
{
    const bool by_clock = strncmp(thread->call->name, "clock", 5) == 0;
    const uint64_t *arg = thread->at.arg;
    int64_t ns = now_time_at(t, thread->call, arg[by_clock ? 2 : 0], false);
    if (ns >= 0 && by_clock && arg[1] & TIMER_ABSTIME) {
        ns -= weft_clock_ns((clockid_t)arg[0]);
        now_state(t->n, thread->thing, "sleeps, %s more", weft_duration(ns > 0 ? ns : 0).text);
    } else if (ns >= 0) {
        now_state(t->n, thread->thing, "sleeps for %s", weft_duration(ns).text);
    } else {
        now_state(t->n, thread->thing, "sleeps");
    }
}

static void tell_child(struct now_threads *t, const struct now_thread *thread)
{
    const bool by_id = strcmp(thread->call->name, "waitid") == 0;
    const int64_t type = (int64_t)thread->at.arg[0];
    const int64_t pid = by_id ? (type == P_PID ? (int64_t)(int32_t)thread->at.arg[1] : -1)
                              : (int64_t)(int32_t)thread->at.arg[0];
    now_state(t->n, thread->thing, "waits in %s", name_of(thread));
    if (by_id && type == P_PIDFD)
        now_link(t->n, thread->thing, now_descriptor(t, (uint32_t)thread->at.arg[1]), false,
                 "waits for");
    else
        now_children_tell(t, thread->thing, (uint32_t)t->p->pid, pid > 0 ? (uint64_t)pid : 0);
}

/* A file as the process itself sees it: in its root directory, a relative one in its working directory. Not asked of the file
 * system that it is in. */
static bool names_fifo(const struct now_threads *t, const char *name)
{
    char path[PATH_MAX];
    struct statx st;
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s/%s", (int)t->p->pid, (int)t->p->thread,
             *name == '/' ? "root" : "cwd", name);
    return statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &st) == 0 && S_ISFIFO(st.stx_mode);
}

/* open of a FIFO waits for somebody who opens its other end. */
static void tell_path(struct now_threads *t, const struct now_thread *thread)
{
    char path[256] = "";
    const bool relative = strcmp(thread->call->name, "openat") == 0;
    const uint64_t *arg = thread->at.arg, at = arg[relative ? 1 : 0];
    const uint64_t flags = arg[relative ? 2 : 1];
    /* Not beyond the page, which may be the last one. */
    const uint64_t left = 4096 - at % 4096;
    now_read(t->p, at, path, left < sizeof path - 1 ? (size_t)left : sizeof path - 1);
    const bool here = *path == '/' || !relative || (int)arg[0] == AT_FDCWD;
    if (here && names_fifo(t, path))
        now_state(t->n, thread->thing, "waits in %s until somebody opens FIFO '%s' to %s",
                  name_of(thread), path, (flags & O_ACCMODE) == O_RDONLY ? "write" : "read");
    else
        now_state(t->n, thread->thing, "waits in %s for '%s'", name_of(thread), path);
}

static void tell_signal(struct now_threads *t, const struct now_thread *thread)
{
    uint64_t mask = 0;
    if (strcmp(thread->call->name, "sigtimedwait") == 0)
        now_read(t->p, thread->at.arg[0], &mask, sizeof mask);
    const struct signals which = signals_of(mask);
    now_state(t->n, thread->thing, "waits in %s for %s", thread->call->name,
              *which.text ? which.text : "a signal");
}

void now_waits_tell(struct now_threads *t, const struct now_thread *thread)
{
    const struct now_call *call = thread->call;
    switch (call->kind) {
    case NOW_CALL_EPOLL:
    case NOW_CALL_POLL:
    case NOW_CALL_SELECT:
        tell_several(t, thread);
        break;
    case NOW_CALL_DESCRIPTOR:
        tell_one(t, thread);
        break;
    case NOW_CALL_LOCKED:
        tell_locked(t, thread);
        break;
    case NOW_CALL_CHILD:
        tell_child(t, thread);
        break;
    case NOW_CALL_SLEEP:
        tell_sleep(t, thread);
        break;
    case NOW_CALL_SIGNAL:
        tell_signal(t, thread);
        break;
    case NOW_CALL_QUEUE:
        now_state(t->n, thread->thing, "waits in %s for message queue %" PRIu64 " (ipcs -q)",
                  name_of(thread), thread->at.arg[0]);
        break;
    case NOW_CALL_SEMAPHORES:
        now_state(t->n, thread->thing, "waits in %s", name_of(thread));
        now_semaphores_tell(t, thread);
        break;
    case NOW_CALL_PATH:
        tell_path(t, thread);
        break;
    case NOW_CALL_NEW:
        now_state(t->n, thread->thing, "waits in %s until its child ends or executes a program",
                  name_of(thread));
        now_new_child_tell(t, thread->thing);
        break;
    case NOW_CALL_FUTEX:
    case NOW_CALL_AGAIN:
    case NOW_CALL_OTHER:
        now_state(t->n, thread->thing, "waits in %s", call->name);
        break;
    }
}
