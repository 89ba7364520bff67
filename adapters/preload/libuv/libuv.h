/* SPDX-License-Identifier: ISC */
/* What the files of libuv's adapter share.
 *
 * libuv knows requests (a write, a name to look up), each with one callback, and handles (a timer, a socket), whose
 * callbacks come as long as they are started. Each of them is a promise from its start on. A context is who waits for them: a
 * promise as well, for which callbacks run. It is made for
 *
 *  - each connection that a server accepts, and each datagram that it gets;
 *  - the callback of anything else that was started outside of a context, once it starts something itself.
 *
 * What is started in a context belongs to it: the context waits for it, and goes on in its callback. So does what is started on
 * a handle that was initialised in the context. A context ends when nothing of this is left: all requests have ended, and
 * uv_close has been called for its handles.
 *
 * A handle and what is known of it are used by the thread of its loop only, as libuv demands. uv_async_send is the exception. */
#pragma once

#include <uv.h>

#include "../adapter.h"

#define UV(name) REAL_OF(name, "libuv.so.1")

/* A call of the library whose own calls are not seen. */
#define UV_CALL(result, call)                                                                      \
    do {                                                                                           \
        adapter_enter();                                                                           \
        (result) = (call);                                                                         \
        adapter_leave();                                                                           \
    } while (0)

/* ---- Memory: cells of one size, mapped, never given back. For any thread, in a forked child, too ---- */

enum { UV_CELL = 128 };

/* Filled with zeros. NULL: there is no memory. */
void *uv_adapter_new(void);
void uv_adapter_free(void *cell);

/* How often this process, and those that it was forked from, has been forked: promises of another era are those of another
 * recording. */
extern uint32_t uv_adapter_era;

/* ---- Contexts ---- */

struct context {
    weft_promise promise;
    uint32_t references; /* what keeps it pending */
    uint32_t era;
};

/* The promise; 0 if there is no context, or it is the parent process's. */
weft_promise context_promise(const struct context *c);

/* Another reference to it. NULL stays NULL. */
struct context *context_hold(struct context *c);

/* One reference less; without any, it ends. */
void context_release(struct context *c);

/* ---- Callbacks ---- */

/* A callback that runs; on the stack of the function that libuv calls instead of it. */
struct frame {
    struct frame *outer;
    struct context *context;     /* NULL: what is started now needs one first */
    weft_promise promise;        /* that the callback is about; 0: none */
    const void *code;            /* the callback */
    const struct handle *handle; /* or NULL */
    const char *reason;          /* why the promise has failed, or NULL */
    int status;                  /* an error of libuv's; only without a reason */
    bool ends;                   /* the promise ends with the callback, at the latest */
    bool request;                /* it is a request's: it ends before its context goes on */
    bool resolved;               /* it has ended already */
    unsigned depth;
    uint32_t era;
};

/* What libuv says about it: failed with the error's name, cancelled, or fulfilled if status is not negative. */
void uv_adapter_resolve(weft_promise p, int status);

/* The same for something that has begun and ended in one call, which has just told this to whatever runs. */
void uv_adapter_at_once(weft_promise p, int status);

/* Runs a callback for a context, because of f->promise; c may be NULL. All of *f but outer, context, depth and era is set by the
 * caller. */
void frame_begin(struct frame *f, struct context *c);
void frame_end(struct frame *f);

/* The same for a new context, which the callback creates in any case. type: a literal. detail: NULL or a text. */
void frame_begin_new(struct frame *f, const char *type, const char *detail);

/* The innermost callback on this thread, or NULL. */
struct frame *frame_top(void);

/* The context in which something is started now; it is created if need be. NULL: no callback runs. */
struct context *frame_context(void);

/* What is done until frame_return is done by c: if something else runs, it makes c go on for a moment. */
struct visit {
    weft_promise before;
    bool moved;
};
struct visit frame_visit(struct context *c);
void frame_return(struct visit v);

/* ---- Handles ---- */

struct handle {
    struct context *owner;   /* in which it was initialised, or NULL; holds it */
    struct context *starter; /* in which it was started, if there is no owner; holds it */
    weft_promise
        started; /* 0: it is not started, or its callback runs and it is awaited again afterwards */
    void *callback; /* of the program; stays when it is stopped */
    void *close_callback;
    const char *type; /* of what is awaited */
    uint32_t era;
    bool waited;   /* the context waits for it */
    bool awaited;  /* by a context: each callback ends a promise, and begins another */
    bool serves;   /* for datagrams of anybody */
    bool accepted; /* a server's connection */
    bool repeats;
    char name[60]; /* of its descriptor, or what is awaited; empty if not known */
};
_Static_assert(sizeof(struct handle) <= UV_CELL, "a handle fits into a cell");

/* What is known of it. NULL: nothing yet. */
struct handle *handle_find(const void *handle);

/* The same; it is created if need be. NULL: there is no memory. */
struct handle *handle_make(const void *handle);

/* It is a new handle; status: of libuv's call that made it. */
void handle_initialised(const void *handle, int status);

/* What its descriptor is called. h may be NULL. */
const char *handle_name(struct handle *h, const uv_handle_t *handle, char text[ADAPTER_TEXT]);

/* "10.0.0.1:443". address may be NULL, or anything else than an IP address: "". */
char *uv_adapter_address(char text[ADAPTER_TEXT], const struct sockaddr *address);

/* Who waits for what is started on it now: the owner, or whoever starts it. h may be NULL. */
struct context *handle_context(struct handle *h);

/* The promise of a start of it, after it has been started. */
struct starting {
    const char *type;   /* a literal */
    const char *detail; /* or NULL, or empty */
    bool plain;         /* the detail is all of the label */
    bool repeats;
    bool background;
    bool waits; /* its context waits for it; if nobody has started it, it is in the background */
};
void handle_started(struct handle *h, void *callback, const struct starting *s);

/* It has been stopped. */
void handle_stopped(struct handle *h);

/* A callback of it begins: for whoever waits for it. reason: as in struct frame. Returns the program's callback; NULL: it has
 * none, and no frame has begun. */
void *handle_fires(struct frame *f, const void *handle, int status, const char *reason);

/* Its callback ends. The handle may no longer exist. */
void handle_fired(struct frame *f, const void *handle);

/* ---- How functions are replaced: uv_timer_start(handle, callback, …) and the like ----
 *
 * parameters: with `handle` and, if it starts something, `callback`; the last arguments: what the library's own gets. */

#define UV_CALLBACK(name, type, parameters, status, ...)                                           \
    static void name parameters                                                                    \
    {                                                                                              \
        struct frame f;                                                                            \
        const type callback = (type)handle_fires(&f, handle, status, NULL);                        \
        if (!callback)                                                                             \
            return;                                                                                \
        callback(__VA_ARGS__);                                                                     \
        handle_fired(&f, handle);                                                                  \
    }

/* ours: the callback that libuv gets; prepare: an expression that fills `text`; start: a struct starting. */
#define UV_START(name, parameters, ours, prepare, start, ...)                                      \
    UV(name);                                                                                      \
    ADAPTER_EXPORT int name parameters                                                             \
    {                                                                                              \
        char text[ADAPTER_TEXT] = "";                                                              \
        void *const program = (void *)callback;                                                    \
        int status;                                                                                \
        struct handle *h = NULL;                                                                   \
        if (!adapter_on() || !callback || callback == (ours) || !(h = handle_make(handle)))        \
            return REAL(name)(__VA_ARGS__);                                                        \
        callback = ours;                                                                           \
        UV_CALL(status, REAL(name)(__VA_ARGS__));                                                  \
        (void)text;                                                                                \
        if (status == 0) {                                                                         \
            (void)(prepare);                                                                       \
            const struct starting s = start;                                                       \
            handle_started(h, program, &s);                                                        \
        }                                                                                          \
        return status;                                                                             \
    }

#define UV_STOP(name, type)                                                                        \
    UV(name);                                                                                      \
    ADAPTER_EXPORT int name(type *handle)                                                          \
    {                                                                                              \
        int status;                                                                                \
        if (!adapter_on())                                                                         \
            return REAL(name)(handle);                                                             \
        UV_CALL(status, REAL(name)(handle));                                                       \
        struct handle *h = handle_find(handle);                                                    \
        if (status == 0 && h)                                                                      \
            handle_stopped(h);                                                                     \
        return status;                                                                             \
    }

/* Something that calls back again and again. */
#define UV_EVERY(what, words)                                                                      \
    {                                                                                              \
        .type = (what), .detail = (words), .repeats = true, .background = true                     \
    }
