/* SPDX-License-Identifier: ISC */
/* weft: records what an asynchronous program waits for.
 *
 *     weft_promise reply = weft_create("rpc", "get /users/7");   created by the promise that runs now
 *     weft_wait(reply);                  which will not continue before reply is resolved
 *     …                                  later, in the callback of the socket:
 *     weft_fulfill(reply);               resolved by whatever runs then
 *     weft_wake(request, reply);         request runs from now on, because of reply
 *
 * Nothing is recorded before weft_start, unless the program is started with WEFT_TRACE=FILE in its
 * environment, by `weft record` or `weft ctl`; until then a call costs a load and a branch. Compiled with
 * -DWEFT_DISABLE a call costs nothing, and the object file does not refer to weft.
 *
 * Threads: everything may be called from any thread, and everything but weft_start and weft_stop in signal
 * handlers. A handler that may interrupt a call must return, not leave it by longjmp:
 * such a call never ends, and after two of them everything that the thread records is discarded.
 * Each OS thread has its own running promise. The child of a fork
 * records nothing unless it calls weft_start; or, under `weft record` or with %p in WEFT_TRACE, into
 * a file of its own.
 *
 * Errors: recording never makes the program fail. What could not be recorded is counted in the
 * trace. Texts are copied; the first WEFT_TEXT_MAX bytes are kept.
 *
 * This header is larger than others because it is everything that a traced program sees. */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Something that is waited for and resolved once. 0 is untracked: every call on it does nothing. */
typedef uint64_t weft_promise;
#define WEFT_LOOP UINT64_MAX /* the event loop itself: no promise */

#define WEFT_TEXT_MAX 8192

#define WEFT_IMPL_ALIGNED __attribute__((aligned(8))) /* as everywhere, on i386 too */

enum weft_reason {
    WEFT_WAIT_FOR_WORK, /* in poll or the like */
    WEFT_SUSPEND,       /* the process was stopped */
    WEFT_HIBERNATE      /* the machine was */
};

/* How a promise ended. */
enum weft_ending { WEFT_BY_VALUE, WEFT_BY_ERROR, WEFT_BY_UNKNOWN, WEFT_BY_CANCEL };

/* Structures that may grow in later versions begin with their size and grow only at the end. 0 stands for the size of the
 * first version; later fields are read only if size is large enough, so set it to sizeof to use
 * them. -EINVAL: size is smaller than the first version's. -E2BIG: something is set that the library does not know,
 * a flag or a field after its last one; the program needs a newer library. */
struct weft_options {
    size_t size;      /* sizeof(struct weft_options), or 0: see above */
    const char *path; /* the trace; %p in it stands for the process id */
    uint64_t bytes;   /* of the whole file or memory; 0: 64 MiB; at least 64 KiB */
    void *memory; /* instead of path: memory of the caller, 8-byte aligned, kept until weft_stop;
                              * it contains the trace at any moment */
    uint64_t (*clock)(void); /* instead of weft's own: never goes back, may be called anywhere */
    uint64_t clock_hz;       /* its ticks per second; 0: 10^9 */
    unsigned flags;          /* of WEFT_START_… */
    unsigned : 32;           /* never used */
    /* Up to here in the first version. */
    uint64_t pending_bytes; /* how many of the bytes are for promises that are pending when
                             * their packet is overwritten; 0: a quarter; at most half */
};

#define WEFT_START_PAUSED 1u /* record nothing before weft_unpause */
#define WEFT_START_TURN_CLOCK                                                                      \
    2u /* read the clock at weft_suspend and weft_resume only: events of one
                                  * turn of the event loop have one time, and cost a third */

/* What calls keep at their places in the program; not for callers to touch. These are part of compiled
 * programs, so they are final: they neither grow nor change. */

struct weft_text {
    WEFT_IMPL_ALIGNED uint64_t known; /* number in the trace, and of which recording */
    uint32_t literal;                 /* bit 0; the others are 0 */
    uint32_t reserved;                /* 0 */
};

struct weft_site {
    WEFT_IMPL_ALIGNED uint64_t known;
    const char *file;
    uint32_t line;
    uint32_t literal; /* bit 0: the type is one; bit 1: the label is; the others are 0 */
};

/* A counter of the program, for all threads together:
 *     static struct weft_counter queued = WEFT_COUNTER("queued"); */
struct weft_counter {
    const char *name;
    WEFT_IMPL_ALIGNED int64_t value;
    WEFT_IMPL_ALIGNED uint64_t known;
};
/* clang-format off */
#define WEFT_COUNTER(name) { (name), 0, 0 }
/* clang-format on */

/* What the calls below are made of; not for callers. */

weft_promise weft_impl_create(struct weft_site *site, const char *type, const char *label);
weft_promise weft_impl_create_from(struct weft_site *site, weft_promise parent, const char *type,
                                   const char *label);
weft_promise weft_impl_create_id(struct weft_site *site, weft_promise parent, weft_promise id,
                                 const char *type, const char *label);
weft_promise weft_impl_run(weft_promise p);
void weft_impl_event(unsigned kind, weft_promise p);
void weft_impl_event_by(unsigned kind, weft_promise actor, weft_promise p);
void weft_impl_hold(unsigned kind, weft_promise resource);
void weft_impl_hold_by(unsigned kind, weft_promise holder, weft_promise resource);
void weft_impl_span(unsigned kind, weft_promise p, const uint8_t *trace_id, const uint8_t *span_id);
int weft_impl_traceparent(unsigned kind, weft_promise p, const char *header);
void weft_impl_label(struct weft_text *place, weft_promise p, const char *text);
void weft_impl_fail(struct weft_text *place, weft_promise p, const char *reason);
void weft_impl_resolve_by(struct weft_text *place, weft_promise resolver, weft_promise p,
                          unsigned ending, const char *reason);
void weft_impl_counter(struct weft_counter *counter, int64_t n, int add);
void weft_impl_suspend(unsigned why);
void weft_impl_resume(void);
void weft_impl_gc(uint64_t duration_ns);
void weft_impl_snapshot(struct weft_text *place, const char *reason);

enum { /* kinds for weft_impl_event and weft_impl_event_by: ids of src/format/events.def */
       WEFT_IMPL_READ = 1,
       WEFT_IMPL_FULFILL = 2,
       WEFT_IMPL_BECOME = 4,
       WEFT_IMPL_SIGNAL = 9,
       WEFT_IMPL_WAIT = 10,
       WEFT_IMPL_READ_LATER = 12,
       WEFT_IMPL_RESOLVE = 14,
       WEFT_IMPL_CANCEL = 15,
       WEFT_IMPL_FORGET = 16,
       WEFT_IMPL_NOTIFY = 17,
       WEFT_IMPL_SHOULD_RESOLVE = 18,
       WEFT_IMPL_BACKGROUND = 19,
       /* … for weft_impl_hold and weft_impl_hold_by */
       WEFT_IMPL_ACQUIRE = 22,
       WEFT_IMPL_RELEASE = 23,
       /* … for weft_impl_span and weft_impl_traceparent */
       WEFT_IMPL_SPAN = 25,
       WEFT_IMPL_SPAN_PARENT = 26
};

#ifndef WEFT_DISABLE
extern uint32_t weft_impl_state; /* bit 0: call; bit 1: hand out ids; others: the library's */
#define WEFT_IMPL_STATE() __atomic_load_n(&weft_impl_state, __ATOMIC_RELAXED)
#else /* nothing is called, though the compiler looks at everything */
#define WEFT_IMPL_STATE() 0u
#endif
#define WEFT_IMPL_ON() __builtin_expect((WEFT_IMPL_STATE() & 1u) != 0, 0)
#define WEFT_IMPL_CALL static inline __attribute__((always_inline, unused))

/* A literal is looked up once for each place in the program; any other text may be in a
 * buffer that is reused, and is looked up by its bytes each time. */
#ifdef WEFT_DISABLE
#define WEFT_IMPL_SITE(type, label) NULL
#define WEFT_IMPL_TEXT(text) NULL
#elif defined __cplusplus && __cplusplus >= 201103L
/* A lambda without captures may be used wherever an expression may: in the initializer of a global or a member, in
 * a default argument. Each instance of a template has its own static, and all files that
 * include a header share one. The lambda cannot see its surroundings, only the source text: a literal is what is written as
 * one in the call, directly or by a macro. */
#define WEFT_IMPL_SITE(type, label)                                                                \
    []() -> struct weft_site *                                                                     \
    {                                                                                              \
        static struct weft_site weft_impl_here = {                                                 \
            0, __FILE__, __LINE__, WEFT_IMPL_LITERAL(type) | WEFT_IMPL_LITERAL(label) << 1};       \
        return &weft_impl_here;                                                                    \
    }                                                                                              \
    ()
#define WEFT_IMPL_TEXT(text)                                                                       \
    []() -> struct weft_text *                                                                     \
    {                                                                                              \
        static struct weft_text weft_impl_here = {0, WEFT_IMPL_LITERAL(text), 0};                  \
        return &weft_impl_here;                                                                    \
    }                                                                                              \
    ()
#define WEFT_IMPL_LITERAL(text) weft_impl_literal(#text, sizeof #text - 1)

/* Looks at the next character of a source text. where: 1 between literals, 2 in one, 3 in one after a backslash;
 * 0: this is something else. */
constexpr uint32_t weft_impl_step(uint32_t where, char c)
{
    return where == 3                         ? 2
           : where == 2                       ? (c == '"'    ? 1
                                                 : c == '\\' ? 3
                                                             : 2)
           : c == '"'                         ? 2
           : c == ' ' || c == '(' || c == ')' ? 1
                                              : 0;
}

/* In halves, because compilers limit the depth of calls. */
constexpr uint32_t weft_impl_scan(const char *source, size_t size, uint32_t where)
{
    return where == 0 || size == 0 ? where
           : size == 1             ? weft_impl_step(where, *source)
                                   : weft_impl_scan(source + size / 2, size - size / 2,
                                                    weft_impl_scan(source, size / 2, where));
}

constexpr bool weft_impl_same(const char *a, const char *b)
{
    return *a == *b && (*a == 0 || weft_impl_same(a + 1, b + 1));
}

/* 1: literals and nothing else, or no text at all. */
constexpr uint32_t weft_impl_literal(const char *source, size_t size)
{
    return weft_impl_scan(source, size, 1) == 1 || weft_impl_same(source, "nullptr") ||
           weft_impl_same(source, "__null") || weft_impl_same(source, "NULL") ||
           weft_impl_same(source, "0L");
}
#else
#define WEFT_IMPL_SITE(type, label)                                                                \
    __extension__({                                                                                \
        static struct weft_site weft_impl_here = {                                                 \
            0, __FILE__, __LINE__, WEFT_IMPL_LITERAL(type) | WEFT_IMPL_LITERAL(label) << 1};       \
        &weft_impl_here;                                                                           \
    })
#define WEFT_IMPL_TEXT(text)                                                                       \
    __extension__({                                                                                \
        static struct weft_text weft_impl_here = {0, WEFT_IMPL_LITERAL(text), 0};                  \
        &weft_impl_here;                                                                           \
    })
#define WEFT_IMPL_LITERAL(text) (__builtin_constant_p(text) ? 1u : 0u)
#endif

/* Arguments are evaluated once, and only if there is something to be done. */
#define WEFT_IMPL_CREATE(call)                                                                     \
    weft_impl_number(__builtin_expect(WEFT_IMPL_STATE() != 0, 0) ? (call) : UINT64_C(0))
#define WEFT_IMPL_SAY(call) (WEFT_IMPL_ON() ? (call) : (void)0)

WEFT_IMPL_CALL weft_promise weft_impl_number(weft_promise p)
{
    return p; /* need not be used */
}

WEFT_IMPL_CALL unsigned weft_impl_ending(enum weft_ending ending)
{
    return ending;
}

/* ---- Recording ---- */

#ifndef WEFT_DISABLE

/* Starts to record. NULL: defaults, with the path "weft-%p.trace". Returns 0 or a negative errno:
 * EALREADY (it records already), EEXIST (path is a file that is not a trace), EBUSY (path is a trace that is
 * being written), ELOOP (a symbolic link), EINVAL (bytes, alignment, no path, size), ENOSPC, EACCES,
 * ENOMEM, E2BIG (options asks for what the library does not know), or any other error of opening a file. After an
 * error, path is unchanged. On success a finished trace at path is replaced. */
int weft_start(const struct weft_options *options);

/* Ends the recording; the trace says so. Does nothing if there is none. */
void weft_stop(void);

/* Interrupts the recording, and continues it. Promises created in between are untracked. */
void weft_pause(void);
void weft_unpause(void);

/* on: weft_create hands out ids even while nothing is recorded, so that a recording that is started later
 * knows older promises by their ids. off, the default: it returns 0 then. */
void weft_standby(int on);

#else

WEFT_IMPL_CALL int weft_start(const struct weft_options *options)
{
    (void)options;
    return 0;
}

WEFT_IMPL_CALL void weft_stop(void)
{
}

WEFT_IMPL_CALL void weft_pause(void)
{
}

WEFT_IMPL_CALL void weft_unpause(void)
{
}

WEFT_IMPL_CALL void weft_standby(int on)
{
    (void)on;
}

#endif

/* ---- Creating ---- */

/* weft_promise weft_create(const char *type, const char *label);
 * weft_promise weft_create_from(weft_promise parent, const char *type, const char *label);
 *
 * Creates a promise; its creator is the promise that runs now, or parent. type is a short word ("task", "read"); label says
 * which one it is ("GET /x") and may be NULL. Returns its id; 0 while nothing is recorded. */
#define weft_create(type, label)                                                                   \
    WEFT_IMPL_CREATE(weft_impl_create(WEFT_IMPL_SITE(type, label), (type), (label)))
#define weft_create_from(parent, type, label)                                                      \
    WEFT_IMPL_CREATE(weft_impl_create_from(WEFT_IMPL_SITE(type, label), (parent), (type), (label)))

/* weft_promise weft_create_id(weft_promise parent, weft_promise id, const char *type, const char *label);
 *
 * For runtimes with ids of their own, none of them 0 or WEFT_LOOP: they use these for all their
 * promises, and each for only one. Whether a promise with an id of 2^52 or more is pending is not known once
 * its events are overwritten; weft explain says so. Returns id, or 0 while nothing is recorded. */
#define weft_create_id(parent, id, type, label)                                                    \
    WEFT_IMPL_CREATE(                                                                              \
        weft_impl_create_id(WEFT_IMPL_SITE(type, label), (parent), (id), (type), (label)))

/* ---- What runs ---- */

/* p runs on this OS thread from now on; WEFT_LOOP: the event loop. Returns what ran before. */
WEFT_IMPL_CALL weft_promise weft_run(weft_promise p)
{
    return WEFT_IMPL_ON() ? weft_impl_run(p) : WEFT_LOOP;
}

/* reader runs from now on, because p was resolved. */
WEFT_IMPL_CALL void weft_wake(weft_promise reader, weft_promise p)
{
    if (WEFT_IMPL_ON())
        weft_impl_event_by(WEFT_IMPL_READ, reader, p);
}

/* receiver runs from now on, because source signalled it. */
WEFT_IMPL_CALL void weft_signal(weft_promise receiver, weft_promise source)
{
    if (WEFT_IMPL_ON())
        weft_impl_event_by(WEFT_IMPL_SIGNAL, receiver, source);
}

/* Nothing runs from now on, until weft_resume: then the event loop runs. */
WEFT_IMPL_CALL void weft_suspend(enum weft_reason why)
{
    if (WEFT_IMPL_ON())
        weft_impl_suspend(why);
}

WEFT_IMPL_CALL void weft_resume(void)
{
    if (WEFT_IMPL_ON())
        weft_impl_resume();
}

/* A garbage collection that took duration_ns has just ended. */
WEFT_IMPL_CALL void weft_gc(uint64_t duration_ns)
{
    if (WEFT_IMPL_ON())
        weft_impl_gc(duration_ns);
}

/* ---- Waiting ---- */

/* The promise that runs, or reader, will not continue before p is resolved. It still runs. */
WEFT_IMPL_CALL void weft_wait(weft_promise p)
{
    if (WEFT_IMPL_ON())
        weft_impl_event(WEFT_IMPL_WAIT, p);
}

WEFT_IMPL_CALL void weft_wait_by(weft_promise reader, weft_promise p)
{
    if (WEFT_IMPL_ON())
        weft_impl_event_by(WEFT_IMPL_WAIT, reader, p);
}

/* reader uses the result of p, without running now. */
WEFT_IMPL_CALL void weft_read(weft_promise reader, weft_promise p)
{
    if (WEFT_IMPL_ON())
        weft_impl_event_by(WEFT_IMPL_READ_LATER, reader, p);
}

/* ---- Ending, by the promise that runs ---- */

/* p has its result. */
WEFT_IMPL_CALL void weft_fulfill(weft_promise p)
{
    if (WEFT_IMPL_ON())
        weft_impl_event(WEFT_IMPL_FULFILL, p);
}

/* void weft_fail(weft_promise p, const char *reason);
 *
 * p ends with an error; reason may be NULL. */
#define weft_fail(p, reason) WEFT_IMPL_SAY(weft_impl_fail(WEFT_IMPL_TEXT(reason), (p), (reason)))

/* p is resolved; how is not known. */
WEFT_IMPL_CALL void weft_resolve(weft_promise p)
{
    if (WEFT_IMPL_ON())
        weft_impl_event(WEFT_IMPL_RESOLVE, p);
}

/* p is no longer wanted. */
WEFT_IMPL_CALL void weft_cancel(weft_promise p)
{
    if (WEFT_IMPL_ON())
        weft_impl_event(WEFT_IMPL_CANCEL, p);
}

/* p was dropped: nothing can resolve it or wait for it any more. */
WEFT_IMPL_CALL void weft_forget(weft_promise p)
{
    if (WEFT_IMPL_ON())
        weft_impl_event(WEFT_IMPL_FORGET, p);
}

/* From now on p is the same as q. */
WEFT_IMPL_CALL void weft_become(weft_promise p, weft_promise q)
{
    if (WEFT_IMPL_ON())
        weft_impl_event_by(WEFT_IMPL_BECOME, p, q);
}

/* void weft_resolve_by(weft_promise resolver, weft_promise p, enum weft_ending ending, const char *reason);
 *
 * p ends, by resolver; reason is why it failed, or NULL. */
#define weft_resolve_by(resolver, p, ending, reason)                                               \
    WEFT_IMPL_SAY(weft_impl_resolve_by(WEFT_IMPL_TEXT(reason), (resolver), (p),                    \
                                       weft_impl_ending(ending), (reason)))

/* The condition is signalled, whether or not anything waits for it. It stays pending. */
WEFT_IMPL_CALL void weft_notify(weft_promise condition)
{
    if (WEFT_IMPL_ON())
        weft_impl_event(WEFT_IMPL_NOTIFY, condition);
}

WEFT_IMPL_CALL void weft_notify_by(weft_promise notifier, weft_promise condition)
{
    if (WEFT_IMPL_ON())
        weft_impl_event_by(WEFT_IMPL_NOTIFY, notifier, condition);
}

/* ---- Holding ---- */

/* The promise that runs, or holder, holds the resource from now on: a lock, a permit of a semaphore, a connection of a pool, a
 * place in a queue. The resource is a promise that stays pending, like a condition; whoever waits for it waits for a
 * release. Several promises may hold it, and one may hold it several times: one call for each. */
WEFT_IMPL_CALL void weft_acquire(weft_promise resource)
{
    if (WEFT_IMPL_ON())
        weft_impl_hold(WEFT_IMPL_ACQUIRE, resource);
}

WEFT_IMPL_CALL void weft_acquire_by(weft_promise holder, weft_promise resource)
{
    if (WEFT_IMPL_ON())
        weft_impl_hold_by(WEFT_IMPL_ACQUIRE, holder, resource);
}

/* The promise that runs, or holder, releases the resource once. If it does not hold it, the oldest hold of any promise
 * ends, and no promise is blamed for holding this resource. */
WEFT_IMPL_CALL void weft_release(weft_promise resource)
{
    if (WEFT_IMPL_ON())
        weft_impl_hold(WEFT_IMPL_RELEASE, resource);
}

WEFT_IMPL_CALL void weft_release_by(weft_promise holder, weft_promise resource)
{
    if (WEFT_IMPL_ON())
        weft_impl_hold_by(WEFT_IMPL_RELEASE, holder, resource);
}

/* ---- Distributed traces ---- */

/* The ids of W3C's Trace Context, which OpenTelemetry and others use: what is recorded here can then be found by the ids
 * that they show. What a promise creates belongs to the same trace. Ids of which all bytes are 0 are ignored; of several
 * calls for one promise, the last one counts. */

/* p is this span of the trace: the one that the program sends on, in a request's traceparent. */
WEFT_IMPL_CALL void weft_span(weft_promise p, const uint8_t trace_id[16], const uint8_t span_id[8])
{
    if (WEFT_IMPL_ON())
        weft_impl_span(WEFT_IMPL_SPAN, p, trace_id, span_id);
}

/* p was caused by this span, as a rule one of another program: p handles the request that came with it. */
WEFT_IMPL_CALL void weft_span_parent(weft_promise p, const uint8_t trace_id[16],
                                     const uint8_t span_id[8])
{
    if (WEFT_IMPL_ON())
        weft_impl_span(WEFT_IMPL_SPAN_PARENT, p, trace_id, span_id);
}

/* The same, with the value of a header traceparent: that of the request that p sends, or of the one that p handles. Returns
 * 1 if it is valid; 0 if it is not, and then it is ignored, or if nothing is recorded. header may be NULL. */
WEFT_IMPL_CALL int weft_traceparent_sent(weft_promise p, const char *header)
{
    return WEFT_IMPL_ON() ? weft_impl_traceparent(WEFT_IMPL_SPAN, p, header) : 0;
}

WEFT_IMPL_CALL int weft_traceparent_received(weft_promise p, const char *header)
{
    return WEFT_IMPL_ON() ? weft_impl_traceparent(WEFT_IMPL_SPAN_PARENT, p, header) : 0;
}

/* ---- Saying more ---- */

/* void weft_label(weft_promise p, const char *text);
 *
 * A label for p, or a further one: what it does now. Any bytes up to a NUL. */
#define weft_label(p, text) WEFT_IMPL_SAY(weft_impl_label(WEFT_IMPL_TEXT(text), (p), (text)))

/* It is an error if p is never resolved. */
WEFT_IMPL_CALL void weft_should_resolve(weft_promise p)
{
    if (WEFT_IMPL_ON())
        weft_impl_event(WEFT_IMPL_SHOULD_RESOLVE, p);
}

/* p is meant to be pending for a long time: an accept loop, an idle timer. */
WEFT_IMPL_CALL void weft_background(weft_promise p)
{
    if (WEFT_IMPL_ON())
        weft_impl_event(WEFT_IMPL_BACKGROUND, p);
}

/* The counter changes by amount; or gets this value. Changes while nothing is recorded are
 * not counted. */
WEFT_IMPL_CALL void weft_counter_add(struct weft_counter *counter, int64_t amount)
{
    if (WEFT_IMPL_ON())
        weft_impl_counter(counter, amount, 1);
}

WEFT_IMPL_CALL void weft_counter_set(struct weft_counter *counter, int64_t value)
{
    if (WEFT_IMPL_ON())
        weft_impl_counter(counter, value, 0);
}

/* void weft_snapshot(const char *reason);
 *
 * What was recorded last is worth keeping, and why: if weft watch, or weft record --keep, waits for that ("call"), it keeps
 * a copy. The program does not wait for it. */
#define weft_snapshot(reason) WEFT_IMPL_SAY(weft_impl_snapshot(WEFT_IMPL_TEXT(reason), (reason)))

#ifdef __cplusplus
}
#endif

#endif
