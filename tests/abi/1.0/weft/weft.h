/* SPDX-License-Identifier: ISC */
/* weft: records what an asynchronous program waits for.
 *
 *     weft_promise reply = weft_create("rpc", "get /users/7");   created by what runs now
 *     weft_wait(reply);                  what runs now will not go on before reply is resolved
 *     …                                  later, in the callback of the socket:
 *     weft_fulfill(reply);               resolved by what runs then
 *     weft_wake(request, reply);         request runs from now on, because of reply
 *
 * Nothing is recorded before weft_start, unless the program is started with WEFT_TRACE=FILE in its
 * environment, by `weft record` or `weft ctl`; until then a call costs a load and a branch. Compiled with
 * -DWEFT_DISABLE a call costs nothing, and the object file names nothing of weft.
 *
 * Threads: all of this may be called from any thread and in signal handlers, except weft_start and
 * weft_stop: not in handlers. What runs is known for each OS thread by itself. The child of a fork
 * records nothing unless it calls weft_start.
 *
 * Errors: recording never fails towards the program. What could not be recorded is counted in the
 * trace. Texts are copied; of longer ones the first WEFT_TEXT_MAX bytes are kept.
 *
 * This header is larger than others: it is all that a traced program sees. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Something that is waited for and resolved once. 0 is untracked: every call on it does nothing. */
typedef uint64_t weft_promise;
#define WEFT_LOOP UINT64_MAX /* the event loop itself: nobody */

#define WEFT_TEXT_MAX 8192

enum weft_reason {
    WEFT_WAIT_FOR_WORK, /* in poll or the like */
    WEFT_SUSPEND,       /* the process was stopped */
    WEFT_HIBERNATE      /* the machine was */
};

/* How a promise ended. */
enum weft_ending { WEFT_BY_VALUE, WEFT_BY_ERROR, WEFT_BY_UNKNOWN, WEFT_BY_CANCEL };

struct weft_options {
    size_t size;      /* sizeof(struct weft_options), or 0 */
    const char *path; /* the trace; %p in it stands for the process id */
    uint64_t bytes;   /* of the whole file or memory; 0: 64 MiB; at least 64 KiB */
    void *memory;     /* instead of path: bytes of the caller's, 8-byte aligned, which it keeps
                              * until weft_stop; the trace is what lies there at any moment */
    uint64_t (*clock)(void); /* instead of weft's own: rises, may be called anywhere */
    uint64_t clock_hz;       /* its ticks a second; 0: 10^9 */
    unsigned flags;          /* of WEFT_START_… */
};

#define WEFT_START_PAUSED 1u /* record nothing before weft_unpause */
#define WEFT_START_TURN_CLOCK                                                                      \
    2u /* read the clock at weft_suspend and weft_resume only: events of one
                                  * turn of the event loop have one time, and cost a third */

/* What calls keep at their places in the program; not for callers to touch. */

struct weft_text {
    uint64_t known; /* number in the trace, and of which recording */
    uint32_t literal;
    uint32_t reserved;
};

struct weft_site {
    uint64_t known;
    const char *file;
    uint32_t line;
    uint32_t literal; /* bit 0: the type is one; bit 1: the label is */
};

/* A counter of the program, for all threads together:
 *     static struct weft_counter queued = WEFT_COUNTER("queued"); */
struct weft_counter {
    const char *name;
    int64_t value;
    uint64_t known;
};
/* clang-format off */
#define WEFT_COUNTER(name) { (name), 0, 0 }
/* clang-format on */

/* What the calls below stand on; not for callers. */

weft_promise weft__create(struct weft_site *site, const char *type, const char *label);
weft_promise weft__create_from(struct weft_site *site, weft_promise parent, const char *type,
                               const char *label);
weft_promise weft__create_id(struct weft_site *site, weft_promise parent, weft_promise id,
                             const char *type, const char *label);
weft_promise weft__run(weft_promise p);
void weft__event(unsigned kind, weft_promise p);
void weft__event_by(unsigned kind, weft_promise actor, weft_promise p);
void weft__label(struct weft_text *place, weft_promise p, const char *text);
void weft__fail(struct weft_text *place, weft_promise p, const char *reason);
void weft__resolve_by(struct weft_text *place, weft_promise resolver, weft_promise p,
                      enum weft_ending ending, const char *reason);
void weft__counter(struct weft_counter *counter, int64_t n, int add);
void weft__suspend(enum weft_reason why);
void weft__resume(void);
void weft__gc(uint64_t duration_ns);

enum { /* kinds for weft__event and weft__event_by: ids of src/format/events.def */
       WEFT__READ = 1,
       WEFT__FULFILL = 2,
       WEFT__BECOME = 4,
       WEFT__SIGNAL = 9,
       WEFT__WAIT = 10,
       WEFT__READ_LATER = 12,
       WEFT__RESOLVE = 14,
       WEFT__CANCEL = 15,
       WEFT__FORGET = 16,
       WEFT__NOTIFY = 17,
       WEFT__SHOULD_RESOLVE = 18,
       WEFT__BACKGROUND = 19
};

/* A literal is looked up once for each place in the program where it stands; any other text may lie in a
 * buffer that is reused, and is looked up by its bytes each time. */
#ifndef WEFT_DISABLE
extern uint32_t weft__state; /* bit 0: call; bit 1: hand out numbers; others: the library's */
#define WEFT__STATE() __atomic_load_n(&weft__state, __ATOMIC_RELAXED)
#define WEFT__SITE(type, label)                                                                    \
    static struct weft_site weft__site_ = {0, __FILE__, __LINE__,                                  \
                                           (__builtin_constant_p(type) ? 1u : 0u) |                \
                                               (__builtin_constant_p(label) ? 2u : 0u)};           \
    struct weft_site *const weft__site = &weft__site_
#define WEFT__TEXT(string)                                                                         \
    static struct weft_text weft__text_ = {0, __builtin_constant_p(string) ? 1u : 0u, 0};          \
    struct weft_text *const weft__text = &weft__text_
#else /* nothing is called, though the compiler looks at everything */
#define WEFT__STATE() 0u
#define WEFT__SITE(type, label) struct weft_site *const weft__site = NULL
#define WEFT__TEXT(string) struct weft_text *const weft__text = NULL
#endif
#define WEFT__ON() __builtin_expect((WEFT__STATE() & 1u) != 0, 0)
#define WEFT__CALL static inline __attribute__((always_inline, unused))
#define WEFT__CREATE(call, type, label)                                                            \
    __extension__({                                                                                \
        WEFT__SITE(type, label);                                                                   \
        __builtin_expect(WEFT__STATE() != 0, 0) ? (call) : (weft_promise)0;                        \
    })
#define WEFT__WITH(call, string)                                                                   \
    __extension__({                                                                                \
        WEFT__TEXT(string);                                                                        \
        if (WEFT__ON())                                                                            \
            call;                                                                                  \
    })

/* ---- Recording ---- */

#ifndef WEFT_DISABLE

/* Starts to record. NULL: defaults, with the path "weft-%p.trace". Returns 0 or a negative errno:
 * EALREADY (it records already), EEXIST (at path is a file that is no trace), EBUSY (… a trace that
 * somebody is writing), ELOOP (a symbolic link), EINVAL (bytes, alignment, no path), ENOSPC, EACCES,
 * ENOMEM and what else opening a file can give. What stood at path is then unharmed. On success a
 * finished trace that stood there is replaced. */
int weft_start(const struct weft_options *options);

/* Ends the recording; the trace says so. Does nothing if there is none. */
void weft_stop(void);

/* Interrupts the recording, and takes it up again. Promises created meanwhile are untracked. */
void weft_pause(void);
void weft_unpause(void);

/* While nothing is recorded, weft_create hands out numbers all the same (on), so that a recording that
 * is started later knows the promises which are older by their numbers; or not (off, the default). */
void weft_standby(int on);

#else

WEFT__CALL int weft_start(const struct weft_options *options)
{
    (void)options;
    return 0;
}

WEFT__CALL void weft_stop(void)
{
}

WEFT__CALL void weft_pause(void)
{
}

WEFT__CALL void weft_unpause(void)
{
}

WEFT__CALL void weft_standby(int on)
{
    (void)on;
}

#endif

/* ---- Creating ---- */

/* weft_promise weft_create(const char *type, const char *label);
 * weft_promise weft_create_from(weft_promise parent, const char *type, const char *label);
 *
 * A promise, created by what runs now or by parent. type is a short word ("task", "read"); label says
 * which one it is ("GET /x") and may be NULL. Return its number; 0 while nothing is recorded. */
#define weft_create(type, label)                                                                   \
    WEFT__CREATE(weft__create(weft__site, (type), (label)), type, label)
#define weft_create_from(parent, type, label)                                                      \
    WEFT__CREATE(weft__create_from(weft__site, (parent), (type), (label)), type, label)

/* weft_promise weft_create_id(weft_promise parent, weft_promise id, const char *type, const char *label);
 *
 * For runtimes with numbers of their own, none of them 0 or WEFT_LOOP: they use those for all their
 * promises, and never one for two. Returns id, or 0 while nothing is recorded. */
#define weft_create_id(parent, id, type, label)                                                    \
    WEFT__CREATE(weft__create_id(weft__site, (parent), (id), (type), (label)), type, label)

/* ---- What runs ---- */

/* p runs on this OS thread from now on; WEFT_LOOP: the event loop. Returns what ran before. */
WEFT__CALL weft_promise weft_run(weft_promise p)
{
    return WEFT__ON() ? weft__run(p) : WEFT_LOOP;
}

/* reader runs from now on, because p is resolved. */
WEFT__CALL void weft_wake(weft_promise reader, weft_promise p)
{
    if (WEFT__ON())
        weft__event_by(WEFT__READ, reader, p);
}

/* receiver runs from now on, because source signalled it. */
WEFT__CALL void weft_signal(weft_promise receiver, weft_promise source)
{
    if (WEFT__ON())
        weft__event_by(WEFT__SIGNAL, receiver, source);
}

/* Nothing runs from now on, until weft_resume: then the event loop runs. */
WEFT__CALL void weft_suspend(enum weft_reason why)
{
    if (WEFT__ON())
        weft__suspend(why);
}

WEFT__CALL void weft_resume(void)
{
    if (WEFT__ON())
        weft__resume();
}

/* A garbage collection of that length has just ended. */
WEFT__CALL void weft_gc(uint64_t duration_ns)
{
    if (WEFT__ON())
        weft__gc(duration_ns);
}

/* ---- Waiting ---- */

/* What runs, or reader, will not go on before p is resolved. It still runs. */
WEFT__CALL void weft_wait(weft_promise p)
{
    if (WEFT__ON())
        weft__event(WEFT__WAIT, p);
}

WEFT__CALL void weft_wait_by(weft_promise reader, weft_promise p)
{
    if (WEFT__ON())
        weft__event_by(WEFT__WAIT, reader, p);
}

/* reader uses p's result, without running now. */
WEFT__CALL void weft_read(weft_promise reader, weft_promise p)
{
    if (WEFT__ON())
        weft__event_by(WEFT__READ_LATER, reader, p);
}

/* ---- Ending: by what runs ---- */

/* p has its result. */
WEFT__CALL void weft_fulfill(weft_promise p)
{
    if (WEFT__ON())
        weft__event(WEFT__FULFILL, p);
}

/* void weft_fail(weft_promise p, const char *reason);
 *
 * p ends with an error; reason may be NULL. */
#define weft_fail(p, reason) WEFT__WITH(weft__fail(weft__text, (p), (reason)), reason)

/* p is resolved; how is not known. */
WEFT__CALL void weft_resolve(weft_promise p)
{
    if (WEFT__ON())
        weft__event(WEFT__RESOLVE, p);
}

/* Nobody wants p any more. */
WEFT__CALL void weft_cancel(weft_promise p)
{
    if (WEFT__ON())
        weft__event(WEFT__CANCEL, p);
}

/* p was dropped: nobody can resolve it or wait for it any more. */
WEFT__CALL void weft_forget(weft_promise p)
{
    if (WEFT__ON())
        weft__event(WEFT__FORGET, p);
}

/* p is from now on the same as q. */
WEFT__CALL void weft_become(weft_promise p, weft_promise q)
{
    if (WEFT__ON())
        weft__event_by(WEFT__BECOME, p, q);
}

/* void weft_resolve_by(weft_promise resolver, weft_promise p, enum weft_ending ending, const char *reason);
 *
 * p ends, by resolver; reason is why it failed, or NULL. */
#define weft_resolve_by(resolver, p, ending, reason)                                               \
    WEFT__WITH(weft__resolve_by(weft__text, (resolver), (p), (ending), (reason)), reason)

/* The condition is signalled, whether or not somebody waits for it. It stays pending. */
WEFT__CALL void weft_notify(weft_promise condition)
{
    if (WEFT__ON())
        weft__event(WEFT__NOTIFY, condition);
}

WEFT__CALL void weft_notify_by(weft_promise notifier, weft_promise condition)
{
    if (WEFT__ON())
        weft__event_by(WEFT__NOTIFY, notifier, condition);
}

/* ---- Saying more ---- */

/* void weft_label(weft_promise p, const char *text);
 *
 * A label for p, or another one: what it does now. Any bytes up to a NUL. */
#define weft_label(p, text) WEFT__WITH(weft__label(weft__text, (p), (text)), text)

/* p's not being resolved is an error. */
WEFT__CALL void weft_should_resolve(weft_promise p)
{
    if (WEFT__ON())
        weft__event(WEFT__SHOULD_RESOLVE, p);
}

/* p is meant to be pending for long: an accept loop, an idle timer. */
WEFT__CALL void weft_background(weft_promise p)
{
    if (WEFT__ON())
        weft__event(WEFT__BACKGROUND, p);
}

/* The counter changes by amount; the counter has that value. What happens while nothing is recorded is
 * not counted. */
WEFT__CALL void weft_counter_add(struct weft_counter *counter, int64_t amount)
{
    if (WEFT__ON())
        weft__counter(counter, amount, 1);
}

WEFT__CALL void weft_counter_set(struct weft_counter *counter, int64_t value)
{
    if (WEFT__ON())
        weft__counter(counter, value, 0);
}

#ifdef __cplusplus
}
#endif
