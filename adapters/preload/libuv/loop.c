/* SPDX-License-Identifier: ISC */
/* The loop: when it runs, and when it sleeps. */
#include <errno.h>
#include <link.h>
#include <sys/epoll.h>

#include "libuv.h"
#include "requests.h"

UV(uv_run);
REAL_OF(epoll_wait, "libc.so.6");
REAL_OF(epoll_pwait, "libc.so.6");

/* The value of adapter_inside while this thread is in uv_run, but not in a callback; 0: it is not in uv_run. */
static __thread unsigned turning __attribute__((tls_model("initial-exec")));

ADAPTER_EXPORT int uv_run(uv_loop_t *loop, uv_run_mode mode)
{
    if (!adapter_on())
        return REAL(uv_run)(loop, mode);
    const unsigned outer = turning;
    const weft_promise before = weft_run(WEFT_LOOP);
    adapter_enter();
    turning = adapter_inside;
    const int result = REAL(uv_run)(loop, mode);
    turning = outer;
    adapter_leave();
    weft_run(before);
    return result;
}

/* With a timeout of 0 libuv only looks. */
static bool sleeps(int timeout)
{
    return turning && turning == adapter_inside && timeout != 0 && WEFT_IMPL_ON();
}

#define POLL(name, parameters, ...)                                                                \
    ADAPTER_EXPORT int name parameters                                                             \
    {                                                                                              \
        if (!sleeps(timeout))                                                                      \
            return REAL(name)(__VA_ARGS__);                                                        \
        weft_suspend(WEFT_WAIT_FOR_WORK);                                                          \
        const int result = REAL(name)(__VA_ARGS__);                                                \
        const int error = errno;                                                                   \
        weft_resume();                                                                             \
        errno = error;                                                                             \
        return result;                                                                             \
    }

POLL(epoll_wait, (int poll, struct epoll_event *events, int most, int timeout), poll, events, most,
     timeout)
POLL(epoll_pwait,
     (int poll, struct epoll_event *events, int most, int timeout, const sigset_t *mask), poll,
     events, most, timeout, mask)

/* ---- Functions that start something for themselves ---- */

#define UNSEEN(type, name, parameters, ...)                                                        \
    UV(name);                                                                                      \
    ADAPTER_EXPORT type name parameters                                                            \
    {                                                                                              \
        type result;                                                                               \
        UV_CALL(result, REAL(name)(__VA_ARGS__));                                                  \
        return result;                                                                             \
    }

UNSEEN(uv_loop_t *, uv_default_loop, (void), )
UNSEEN(uv_loop_t *, uv_loop_new, (void), )
UNSEEN(int, uv_loop_init, (uv_loop_t * loop), loop)
UNSEEN(int, uv_loop_fork, (uv_loop_t * loop), loop)
UNSEEN(int, uv_loop_close, (uv_loop_t * loop), loop)

/* ---- Who calls ---- */

bool uv_adapter_is_own(const void *caller)
{
    static struct adapter_range libuv;
    return adapter_is_in(&libuv, (const void *)REAL(uv_run), caller);
}
