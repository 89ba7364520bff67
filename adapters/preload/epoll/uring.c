/* SPDX-License-Identifier: ISC */
/* io_uring, through liburing. What is put into the ring is read when the program submits it: each operation is a promise.
 * Results are taken out by the program itself, without a call; they are looked at whenever a call returns, so a result
 * that was taken in between is seen at the next call. The ring keeps them until the kernel overwrites them. */
#undef _FORTIFY_SOURCE
#include "ready.h"

#include <errno.h>
#include <liburing.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define URING(name) REAL_OF(name, "liburing.so.2")

/* A descriptor's own, or what the operation has as an address. */
enum about { NOTHING, DESCRIPTOR, PATH, ADDRESS, DURATION };

/* By opcode, which stay as they are. idle: a server waits for it as long as nobody wants anything. */
static const struct kind {
    const char *type;
    enum about about;
    bool idle;
} kinds[] = {
    [IORING_OP_NOP] = {"nop", NOTHING, false},
    [IORING_OP_READV] = {"read", DESCRIPTOR, true},
    [IORING_OP_WRITEV] = {"write", DESCRIPTOR, false},
    [IORING_OP_FSYNC] = {"fsync", DESCRIPTOR, false},
    [IORING_OP_READ_FIXED] = {"read", DESCRIPTOR, true},
    [IORING_OP_WRITE_FIXED] = {"write", DESCRIPTOR, false},
    [IORING_OP_POLL_ADD] = {"poll", DESCRIPTOR, true},
    [IORING_OP_SYNC_FILE_RANGE] = {"fsync", DESCRIPTOR, false},
    [IORING_OP_SENDMSG] = {"write", DESCRIPTOR, false},
    [IORING_OP_RECVMSG] = {"read", DESCRIPTOR, true},
    [IORING_OP_TIMEOUT] = {"timer", DURATION, false},
    [IORING_OP_ACCEPT] = {"accept", DESCRIPTOR, true},
    [IORING_OP_LINK_TIMEOUT] = {"timer", DURATION, true},
    [IORING_OP_CONNECT] = {"connect", ADDRESS, false},
    [IORING_OP_FALLOCATE] = {"write", DESCRIPTOR, false},
    [IORING_OP_OPENAT] = {"open", PATH, false},
    [IORING_OP_CLOSE] = {"close", DESCRIPTOR, false},
    [IORING_OP_STATX] = {"stat", PATH, false},
    [IORING_OP_READ] = {"read", DESCRIPTOR, true},
    [IORING_OP_WRITE] = {"write", DESCRIPTOR, false},
    [IORING_OP_SEND] = {"write", DESCRIPTOR, false},
    [IORING_OP_RECV] = {"read", DESCRIPTOR, true},
    [IORING_OP_OPENAT2] = {"open", PATH, false},
    [IORING_OP_UNLINKAT] = {"unlink", PATH, false},
    [IORING_OP_MKDIRAT] = {"mkdir", PATH, false},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static struct adapter_table rings; /* ring to how much of its results was looked at */
static struct adapter_table
    operations; /* user_data and ring to promise; number: descriptor + 1; callback: its kind */

/* ---- What is submitted ---- */

static const char *tell_about(char text[ADAPTER_TEXT], const struct io_uring_sqe *s,
                              const struct kind *k)
{
    const void *at = (const void *)(uintptr_t)s->addr;
    const struct __kernel_timespec *t = at;
    const bool file = s->flags & IOSQE_FIXED_FILE;
    *text = 0;
    if (!k->type)
        snprintf(text, ADAPTER_TEXT, "operation %u", s->opcode);
    else if (k->about == PATH && at)
        snprintf(text, ADAPTER_TEXT, "%.200s", (const char *)at);
    else if (k->about == ADDRESS && at)
        adapter_address(text, at, (size_t)s->off);
    else if (k->about == DURATION && at)
        adapter_duration(text, (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec);
    else if (k->about == DESCRIPTOR && file)
        snprintf(text, ADAPTER_TEXT, "file %d", s->fd);
    else if (k->about == DESCRIPTOR)
        ready_name(text, s->fd);
    return *text ? text : NULL;
}

static void add(const struct io_uring *ring, const struct io_uring_sqe *s)
{
    static const struct kind unknown = {NULL, NOTHING, true};
    char text[ADAPTER_TEXT];
    const struct kind *k =
        s->opcode < KINDS && kinds[s->opcode].type ? &kinds[s->opcode] : &unknown;
    struct adapter_entry e = {.key = s->user_data, .kind = (uint32_t)ring->ring_fd}, before;
    e.callback = (void *)(uintptr_t)k;
    if (s->user_data == LIBURING_UDATA_TIMEOUT)
        return; /* its own */
    const bool has_descriptor =
        (k->about == DESCRIPTOR || k->about == ADDRESS) && !(s->flags & IOSQE_FIXED_FILE);
    e.promise = adapter_create(NULL, k->type ? k->type : "io_uring", tell_about(text, s, k));
    if (k->idle)
        weft_background(e.promise);
    if (has_descriptor) {
        weft_wait_by(ready_descriptor(s->fd), e.promise);
        e.number = (uint32_t)s->fd + 1;
    }
    /* Two with the same number: the results cannot be told apart. */
    if (adapter_take(&operations, e.key, e.kind, &before))
        weft_forget(before.promise);
    if (!adapter_put(&operations, &e))
        weft_forget(e.promise);
}

static void submitted(struct io_uring *ring)
{
    struct adapter_entry e;
    const struct io_uring_sq *q = &ring->sq;
    const unsigned shift = ring->flags & IORING_SETUP_SQE128 ? 1 : 0, mask = *q->kring_mask;
    if (!adapter_get(&rings, adapter_key(ring), 0, &e)) {
        e = (struct adapter_entry){.key = adapter_key(ring), .number = *ring->cq.khead};
        adapter_put(&rings, &e);
    }
    for (unsigned i = q->sqe_head; i != q->sqe_tail; i++)
        add(ring, &q->sqes[(i & mask) << shift]);
}

/* ---- Results ---- */

/* Returns true if what it belongs to is known. */
static bool resolve(const struct io_uring *ring, const struct io_uring_cqe *c,
                    struct adapter_entry *e)
{
    const bool more = c->flags & IORING_CQE_F_MORE;
    if (!(more ? adapter_get : adapter_take)(&operations, c->user_data, (uint32_t)ring->ring_fd, e))
        return false;
    if (more)
        weft_notify(e->promise);
    else if (c->res >= 0 || c->res == -ETIME)
        weft_fulfill(e->promise);
    else if (c->res == -ECANCELED)
        weft_cancel(e->promise);
    else
        weft_fail(e->promise, strerrordesc_np(-c->res));
    return true;
}

/* The first that the program has not taken is what it handles next: all of several is a guess, except that. */
static void look(struct io_uring *ring)
{
    struct adapter_entry e, operation;
    const struct io_uring_cq *q = &ring->cq;
    const unsigned shift = ring->flags & IORING_SETUP_CQE32 ? 1 : 0, mask = *q->kring_mask;
    const unsigned tail = __atomic_load_n(q->ktail, __ATOMIC_ACQUIRE), head = *q->khead;
    if (!adapter_get(&rings, adapter_key(ring), 0, &e))
        return;
    if (tail - e.number > mask + 1)
        e.number = tail - mask - 1; /* those before are overwritten */
    for (unsigned i = e.number; i != tail; i++) {
        const struct io_uring_cqe *c = &q->cqes[(i & mask) << shift];
        const bool known = resolve(ring, c, &operation);
        if (known && operation.callback == (const void *)&kinds[IORING_OP_CLOSE] && c->res == 0)
            ready_close((int)operation.number - 1);
        else if (known && i == head && operation.number)
            ready_handle((int)operation.number - 1, operation.promise,
                         c->flags & IORING_CQE_F_MORE);
        else if (known) /* the program gets the result, too */
            weft_read(operation.number ? ready_descriptor((int)operation.number - 1) : WEFT_LOOP,
                      operation.promise);
    }
    e.number = tail;
    adapter_put(&rings, &e);
}

/* ---- Calls ---- */

static void begin(struct io_uring *ring, bool submits, struct ready_wait *w)
{
    const int error = errno;
    adapter_enter();
    look(ring);
    if (submits)
        submitted(ring);
    if (w->sleeps) {
        ready_begin(w);
        ready_sleep(w);
    }
    errno = error; /* adapter_enter stays: liburing calls its own functions */
}

static void end(struct io_uring *ring, const struct ready_wait *w)
{
    const int error = errno;
    if (w->sleeps)
        ready_woken(w);
    look(ring);
    adapter_leave();
    errno = error;
}

#define CALL(name, submits, waits, parameters, ...)                                                \
    URING(name);                                                                                   \
    ADAPTER_EXPORT int name parameters                                                             \
    {                                                                                              \
        if (!adapter_on())                                                                         \
            return REAL(name)(__VA_ARGS__);                                                        \
        struct ready_wait w = {.sleeps = (waits)};                                                 \
        begin(ring, (submits), &w);                                                                \
        const int result = REAL(name)(__VA_ARGS__);                                                \
        end(ring, &w);                                                                             \
        return result;                                                                             \
    }

CALL(io_uring_submit, true, false, (struct io_uring * ring), ring)
CALL(io_uring_submit_and_wait, true, least > 0, (struct io_uring * ring, unsigned least), ring,
     least)
CALL(io_uring_submit_and_wait_timeout, true, true,
     (struct io_uring * ring, struct io_uring_cqe **result_of, unsigned least,
      struct __kernel_timespec *time, sigset_t *mask),
     ring, result_of, least, time, mask)
CALL(__io_uring_get_cqe, submits > 0, least > 0,
     (struct io_uring * ring, struct io_uring_cqe **result_of, unsigned submits, unsigned least,
      sigset_t *mask),
     ring, result_of, submits, least, mask)
CALL(io_uring_wait_cqes, true, true,
     (struct io_uring * ring, struct io_uring_cqe **result_of, unsigned least,
      struct __kernel_timespec *time, sigset_t *mask),
     ring, result_of, least, time, mask)
CALL(io_uring_wait_cqe_timeout, true, true,
     (struct io_uring * ring, struct io_uring_cqe **result_of, struct __kernel_timespec *time),
     ring, result_of, time)
CALL(io_uring_get_events, false, false, (struct io_uring * ring), ring)
CALL(io_uring_submit_and_get_events, true, false, (struct io_uring * ring), ring)

URING(io_uring_peek_batch_cqe);
ADAPTER_EXPORT unsigned io_uring_peek_batch_cqe(struct io_uring *ring,
                                                struct io_uring_cqe **results, unsigned count)
{
    if (!adapter_on())
        return REAL(io_uring_peek_batch_cqe)(ring, results, count);
    struct ready_wait w = {.sleeps = false};
    begin(ring, false, &w);
    const unsigned result = REAL(io_uring_peek_batch_cqe)(ring, results, count);
    end(ring, &w);
    return result;
}

URING(io_uring_queue_exit);
ADAPTER_EXPORT void io_uring_queue_exit(struct io_uring *ring)
{
    struct adapter_entry e;
    if (adapter_on()) {
        const int error = errno;
        adapter_enter();
        look(ring);
        adapter_take(&rings, adapter_key(ring), 0, &e);
        adapter_leave();
        errno = error;
    }
    REAL(io_uring_queue_exit)(ring);
}
