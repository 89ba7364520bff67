/* SPDX-License-Identifier: ISC */
/* Which descriptors are ready, and which of them is handled.
 *
 * What is certain: when a thread waits, when it continues, and which descriptors were reported to it then. If that is one,
 * it is handled from then on. Of several, the one is handled that the program uses first, until it uses the next: a guess,
 * but programs go through what was reported one by one. */
#include "ready.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 10, TURN_MAX = 256 };

struct slot {
    weft_promise descriptor, ready; /* the two promises of it */
    weft_promise request, connect, timer;
    const void *turn; /* of the thread that it was reported to */
    uint64_t data;
    uint64_t file; /* its inode */
    uint32_t
        set; /* where it is waited for, the last that was named: epoll's descriptor + 1; 0: nowhere */
    uint32_t process;   /* whose promises these are */
    uint32_t unhandled; /* how often in succession it was reported, and not used */
    uint32_t notified;  /* since it was reported */
    char name
        [56]; /* what the descriptor is, for as long as its promise is; "": longer, or not known */
};

uint8_t ready_state[READY_DESCRIPTORS];
static struct slot *blocks[READY_DESCRIPTORS / BLOCK];
static struct adapter_table datas; /* from epoll descriptor and data to descriptor */
static uint32_t process;           /* how many forks it is away from the first one */
static pid_t pid;

/* A thread, and what was reported to it when it last waited. */
static __thread struct turn {
    weft_promise running; /* as far as this adapter is concerned */
    weft_promise base;    /* what runs while nothing of ours does */
    unsigned count;
    int fd[TURN_MAX];
} turn __attribute__((tls_model("initial-exec"))) = {.running = WEFT_LOOP, .base = WEFT_LOOP};

static void set(int fd, unsigned bits)
{
    __atomic_fetch_or(&ready_state[fd], (uint8_t)bits, __ATOMIC_RELAXED);
}

static void clear(int fd, unsigned bits)
{
    __atomic_fetch_and(&ready_state[fd], (uint8_t)~bits, __ATOMIC_RELAXED);
}

/* NULL: it is not followed. A forked child has other promises, and waits for nothing yet. */
static struct slot *slot_of(int fd)
{
    const int error = errno;
    if ((unsigned)fd >= READY_DESCRIPTORS)
        return NULL;
    struct slot **place = &blocks[fd / BLOCK];
    struct slot *block = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (!block) {
        struct slot *fresh = mmap(NULL, BLOCK * sizeof *fresh, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        errno = error;
        if (fresh == MAP_FAILED)
            return NULL;
        if (__atomic_compare_exchange_n(place, &block, fresh, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            block = fresh;
        else
            munmap(fresh, BLOCK * sizeof *fresh);
    }
    struct slot *s = &block[fd % BLOCK];
    if (s->process != process) {
        const struct slot before = *s;
        *s = (struct slot){.data = before.data, .set = before.set, .process = process};
        clear(fd, READY_DUE | READY_REQUEST | READY_WAITING | READY_CONNECTING);
    }
    return s;
}

/* ---- Promises ---- */

/* Those that have no address get their number. */
const char *ready_name(char text[ADAPTER_TEXT], int fd)
{
    adapter_descriptor(text, fd);
    const size_t n = strlen(text);
    if (!strpbrk(text, " /") && n < ADAPTER_TEXT - 12)
        snprintf(text + n, ADAPTER_TEXT - n, " %d", fd);
    return text;
}

static weft_promise keep(weft_promise *place, weft_promise fresh)
{
    weft_promise other = 0;
    weft_background(fresh);
    if (__atomic_compare_exchange_n(place, &other, fresh, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return fresh;
    weft_forget(fresh);
    return other;
}

static weft_promise descriptor_of(struct slot *s, int fd)
{
    char text[ADAPTER_TEXT];
    struct stat st;
    if (s->descriptor)
        return s->descriptor;
    ready_name(text, fd);
    /* A socket that is waited for before it has an address: it is named when it connects. */
    const size_t n = strlen(text);
    if (n > 2 && strncmp(text, "tcp ", 4) == 0 && strcmp(text + n - 2, ":0") == 0)
        return 0;
    s->file = fstat(fd, &st) == 0 ? st.st_ino : 0;
    snprintf(s->name, sizeof s->name, "%s", n < sizeof s->name ? text : "");
    if (strncmp(text, "eventfd", 7) == 0)
        set(fd, READY_EVENTFD);
    return keep(&s->descriptor, adapter_create(NULL, "descriptor", text));
}

static weft_promise condition_of(struct slot *s, int fd)
{
    char text[ADAPTER_TEXT];
    const weft_promise parent = descriptor_of(s, fd);
    return s->ready || !parent
               ? s->ready
               : keep(&s->ready, adapter_create_from(parent, NULL, "ready", ready_name(text, fd)));
}

static void end(weft_promise *place, enum weft_ending ending, const char *reason)
{
    const weft_promise p = __atomic_exchange_n(place, 0, __ATOMIC_ACQ_REL);
    if (p && ending == WEFT_BY_VALUE)
        weft_fulfill(p);
    else if (p && ending == WEFT_BY_ERROR)
        weft_fail(p, reason);
    else if (p)
        weft_cancel(p);
}

static void put_data(int fd, int epoll, uint64_t data)
{
    const struct adapter_entry e = {
        .key = data, .kind = (uint32_t)epoll + 1, .number = (uint32_t)fd};
    struct adapter_entry before;
    if (epoll < 0 || data == (uint64_t)fd)
        return; /* ready_find sees it by itself */
    if (adapter_get(&datas, data, e.kind, &before) && before.number != (uint32_t)fd) {
        const struct slot *other = slot_of((int)before.number);
        if (other && other->data == data && other->set == e.kind)
            return; /* not even the program can tell these two apart */
    }
    adapter_put(&datas, &e);
}

/* The descriptor is about to have other data, or none. */
static void take_data(int fd, const struct slot *s)
{
    struct adapter_entry e;
    if (s->set && adapter_get(&datas, s->data, s->set, &e) && e.number == (uint32_t)fd)
        adapter_take(&datas, s->data, s->set, &e);
}

static void forget(int fd, struct slot *s)
{
    take_data(fd, s);
    end(&s->request, WEFT_BY_CANCEL, NULL);
    end(&s->connect, WEFT_BY_CANCEL, NULL);
    end(&s->timer, WEFT_BY_CANCEL, NULL);
    end(&s->ready, WEFT_BY_CANCEL, NULL);
    end(&s->descriptor, WEFT_BY_CANCEL, NULL);
    s->unhandled = s->notified = 0;
    *s->name = 0;
    s->set = 0;
    __atomic_store_n(&ready_state[fd], 0, __ATOMIC_RELAXED);
}

/* ---- What is waited for ---- */

void ready_watch(int fd, int epoll, uint64_t data, bool fresh)
{
    const int error = errno;
    struct stat st;
    struct slot *s = slot_of(fd);
    if (!s)
        return;
    /* Something else that has this number now, since we have not seen the other one being closed. */
    if (fresh && s->descriptor && fstat(fd, &st) == 0 && st.st_ino != s->file) {
        if (s->file)
            forget(fd, s);
        s->file = st.st_ino;
    }
    set(fd, READY_KNOWN);
    if (epoll >= 0) {
        if (s->set == (uint32_t)epoll + 1 && s->data != data)
            take_data(fd, s);
        s->set = (uint32_t)epoll + 1;
        s->data = data;
        put_data(fd, epoll, data);
    }
    descriptor_of(s, fd);
    errno = error;
}

void ready_unwatch(int fd, int epoll)
{
    struct slot *s = slot_of(fd);
    if (!s || s->set != (uint32_t)epoll + 1)
        return;
    take_data(fd, s);
    s->set = 0;
}

int ready_find(int epoll, uint64_t data)
{
    struct adapter_entry e;
    /* Many programs take the descriptor itself; some leave the upper half to chance. */
    const int fd = (int)(uint32_t)data;
    if (ready_state_of(fd) & READY_KNOWN) {
        const struct slot *s = slot_of(fd);
        if (s && s->set && s->data == data) /* perhaps in another epoll set, too */
            return fd;
    }
    return adapter_get(&datas, data, (uint32_t)epoll + 1, &e) ? (int)e.number : -1;
}

/* ---- Turns ---- */

/* Its promise runs, because of what was notified. */
static void handle(struct slot *s, int fd, uint32_t unhandled)
{
    const weft_promise p = descriptor_of(s, fd);
    clear(fd, READY_DUE | READY_WAITING);
    s->unhandled = unhandled;
    const weft_promise timer = __atomic_exchange_n(&s->timer, 0, __ATOMIC_ACQ_REL);
    if (timer)
        weft_wake(p, timer);
    else if (s->notified && s->ready)
        weft_signal(p, s->ready);
    else
        weft_run(p);
    s->notified = 0;
    turn.running = p ? p : turn.running;
}

/* Rarely more than once for each time that it begins. */
static void tell_unhandled(struct slot *s, int fd)
{
    char text[64];
    const uint32_t n = ++s->unhandled;
    if (n == 1)
        weft_label(descriptor_of(s, fd), "ready, not handled");
    else if (n == 10 || n == 100 || n == 1000 || n == 10000 || n % 100000 == 0) {
        snprintf(text, sizeof text, "ready %u times, not handled", n);
        weft_label(descriptor_of(s, fd), text);
    }
}

static void end_turn(void)
{
    for (unsigned i = 0; i < turn.count; i++) {
        struct slot *s = ready_state_of(turn.fd[i]) & READY_DUE ? slot_of(turn.fd[i]) : NULL;
        if (s && s->turn == &turn) {
            tell_unhandled(s, turn.fd[i]);
            if (s->notified) /* when, if at all, is not known: so it no longer waits for that */
                handle(s, turn.fd[i], s->unhandled);
            clear(turn.fd[i], READY_DUE);
        }
    }
    turn.count = 0;
}

void ready_begin(struct ready_wait *w)
{
    end_turn();
    const weft_promise before = weft_run(WEFT_LOOP);
    if (before != turn.running || before == WEFT_LOOP)
        turn.base = before;
    w->by_thread = w->by_thread && turn.base != WEFT_LOOP;
    turn.running = WEFT_LOOP;
}

void ready_await(const struct ready_wait *w, int fd)
{
    struct slot *s = slot_of(fd);
    ready_watch(fd, -1, 0, !(ready_state_of(fd) & READY_KNOWN));
    if (s && w->by_thread)
        weft_wait_by(turn.base, condition_of(s, fd));
}

void ready_sleep(const struct ready_wait *w)
{
    if (w->sleeps)
        weft_suspend(WEFT_WAIT_FOR_WORK);
}

void ready_woken(const struct ready_wait *w)
{
    if (w->sleeps)
        weft_resume();
    if (turn.base != WEFT_LOOP)
        weft_run(turn.base);
}

void ready_add(const struct ready_wait *w, int fd, bool connected)
{
    struct slot *s = slot_of(fd);
    if (!s)
        return;
    set(fd, READY_KNOWN);
    const weft_promise p = descriptor_of(s, fd);
    if (connected)
        ready_connected(fd, 0);
    if (s->timer) {
        weft_resolve_by(WEFT_LOOP, s->timer, WEFT_BY_VALUE, NULL);
    } else if (w->by_thread || !w->alone || ready_state_of(fd) & READY_WAITING) {
        const weft_promise c = condition_of(s, fd);
        if (!w->by_thread && !(ready_state_of(fd) & READY_WAITING))
            weft_wait_by(p, c);
        if (!s->notified)
            weft_notify_by(WEFT_LOOP, c);
        s->notified = 1;
    }
    set(fd, READY_DUE);
    s->turn = &turn;
    if (turn.count < TURN_MAX)
        turn.fd[turn.count++] = fd;
}

void ready_added(const struct ready_wait *w)
{
    if (w->by_thread && turn.count) {
        for (unsigned i = turn.count; i-- > 0;) {
            struct slot *s = slot_of(turn.fd[i]);
            clear(turn.fd[i], READY_DUE | READY_WAITING);
            if (s && i == 0 && s->ready)
                weft_signal(turn.base, s->ready);
            if (s)
                s->notified = 0;
        }
        turn.count = 0;
    } else if (w->alone && turn.count == 1) {
        const int fd = turn.fd[0];
        struct slot *s = slot_of(fd);
        if (!s)
            return;
        handle(s, fd, s->unhandled); /* whether it is used is still to be seen */
        set(fd, READY_DUE);
    }
}

void ready_touch(int fd)
{
    struct slot *s = ready_state_of(fd) & READY_DUE ? slot_of(fd) : NULL;
    if (!s)
        return;
    if (s->turn == &turn && turn.running != s->descriptor)
        handle(s, fd, 0);
    clear(fd, READY_DUE);
    s->unhandled = 0;
}

/* ---- What is done with it ---- */

/* The path of a request of HTTP that the bytes begin with. */
static const char *request_line(char text[ADAPTER_TEXT], const char *bytes, size_t n)
{
    static const char *const methods[] = {"GET ",    "POST ",  "PUT ",    "HEAD ",
                                          "DELETE ", "PATCH ", "OPTIONS "};
    for (unsigned i = 0; i < sizeof methods / sizeof *methods; i++) {
        size_t used = strlen(methods[i]);
        if (n <= used || memcmp(bytes, methods[i], used) != 0)
            continue;
        while (used < n && used < ADAPTER_TEXT - 1 && bytes[used] > ' ' && bytes[used] < 0x7f)
            used++;
        memcpy(text, bytes, used);
        text[used] = 0;
        return text;
    }
    return NULL;
}

void ready_read(int fd, int64_t result, int error, const void *bytes)
{
    char text[ADAPTER_TEXT];
    const unsigned state = ready_state_of(fd);
    struct slot *s = slot_of(fd);
    if (!s || !(state & (READY_KNOWN | READY_ACCEPTED)))
        return;
    if (result < 0 && (error == EAGAIN || error == EWOULDBLOCK)) {
        if (state & (READY_WAITING | READY_TIMER))
            return;
        weft_wait_by(descriptor_of(s, fd), condition_of(s, fd));
        set(fd, READY_WAITING);
    } else if (result > 0 && (state & (READY_ACCEPTED | READY_REQUEST)) == READY_ACCEPTED) {
        const char *line = bytes ? request_line(text, bytes, (size_t)result) : NULL;
        s->request = adapter_create_from(descriptor_of(s, fd), NULL, "request",
                                         line       ? line
                                         : *s->name ? s->name
                                                    : ready_name(text, fd));
        set(fd, READY_REQUEST);
    } else if (result < 0 && error != EINTR && error != EINPROGRESS) {
        weft_label(descriptor_of(s, fd), strerrordesc_np(error));
    }
}

void ready_written(int fd, int64_t result, int error)
{
    const unsigned state = ready_state_of(fd);
    struct slot *s = slot_of(fd);
    if (!s)
        return;
    if (result > 0 && state & READY_REQUEST) {
        end(&s->request, WEFT_BY_VALUE, NULL);
        clear(fd, READY_REQUEST);
    }
    if (result > 0 && state & READY_EVENTFD && !s->notified) {
        const weft_promise p = descriptor_of(s, fd), c = condition_of(s, fd);
        if (!(state & READY_WAITING))
            weft_wait_by(p, c);
        set(fd, READY_WAITING);
        s->notified = 1;
        weft_notify(c);
    }
    if (result < 0)
        ready_read(fd, result, error, NULL);
}

void ready_accepted(int fd)
{
    struct slot *s = slot_of(fd);
    if (!s)
        return;
    if (ready_state_of(fd))
        forget(fd, s);
    set(fd, READY_ACCEPTED);
}

void ready_connect(int fd, const struct sockaddr *address, size_t size)
{
    char text[ADAPTER_TEXT], to[ADAPTER_TEXT];
    int type = 0;
    const int error = errno;
    struct slot *s = slot_of(fd);
    if (!s)
        return;
    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &(socklen_t){sizeof type});
    adapter_address(to, address, size);
    snprintf(text, sizeof text, "%s %.200s",
             address->sa_family == AF_UNIX ? "unix"
             : type == SOCK_STREAM         ? "tcp"
                                           : "udp",
             to);
    end(&s->connect, WEFT_BY_CANCEL, NULL);
    s->connect = adapter_create(NULL, "connect", text);
    set(fd, READY_CONNECTING);
    if (!s->descriptor) {
        s->file = 0; /* seen when it is waited for */
        keep(&s->descriptor, adapter_create(NULL, "descriptor", text));
    }
    weft_wait_by(s->descriptor, s->connect);
    errno = error;
}

void ready_connected(int fd, int error)
{
    struct slot *s = ready_state_of(fd) & READY_CONNECTING ? slot_of(fd) : NULL;
    if (!s)
        return;
    clear(fd, READY_CONNECTING);
    const weft_promise connect = s->connect;
    end(&s->connect, error ? WEFT_BY_ERROR : WEFT_BY_VALUE, error ? strerrordesc_np(error) : NULL);
    weft_read(s->descriptor, connect);
}

void ready_timer(int fd, uint64_t ns, bool repeats)
{
    char text[ADAPTER_TEXT], duration[ADAPTER_TEXT];
    struct slot *s = slot_of(fd);
    if (!s)
        return;
    set(fd, READY_TIMER);
    end(&s->timer, WEFT_BY_CANCEL, NULL);
    if (ns == 0)
        return;
    snprintf(text, sizeof text, "%s%s", repeats ? "every " : "", adapter_duration(duration, ns));
    if (repeats) {
        weft_label(descriptor_of(s, fd), text);
        return;
    }
    s->timer = adapter_create(NULL, "timer", text);
    weft_wait_by(descriptor_of(s, fd), s->timer);
}

weft_promise ready_descriptor(int fd)
{
    struct slot *s = slot_of(fd);
    if (!s)
        return 0;
    set(fd, READY_KNOWN);
    return descriptor_of(s, fd);
}

void ready_handle(int fd, weft_promise source, bool notified)
{
    const weft_promise p = ready_descriptor(fd);
    if (!p)
        return;
    if (notified)
        weft_signal(p, source);
    else
        weft_wake(p, source);
    turn.running = p;
}

void ready_close(int fd)
{
    /* The child of a vfork shares our memory, but not our descriptors. */
    struct slot *s = getpid() == pid ? slot_of(fd) : NULL;
    if (s) {
        ready_touch(fd);
        forget(fd, s);
    }
}

/* ---- Processes ---- */

static void forked(void)
{
    process++;
    pid = getpid();
    turn = (struct turn){.running = WEFT_LOOP, .base = WEFT_LOOP};
}

__attribute__((constructor)) static void prepare(void)
{
    pid = getpid();
    pthread_atfork(NULL, NULL, forked);
}
