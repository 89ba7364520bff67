/* SPDX-License-Identifier: ISC */
/* How functions are replaced that start a request, or that do at once what a request would do. */
#pragma once

#include "libuv.h"

/* Creates the request's promise; h: of the handle that it is for, or NULL. code: the function that it is named after. callback:
 * the program's, or NULL. False: there is no memory, and libuv gets the program's own callback. */
bool request_begin(const void *request, struct handle *h, const void *code, void *callback,
                   const char *type, const char *detail);

/* libuv has not taken it. */
void request_refused(const void *request, int status);

/* It has ended. True: a frame has begun, for the program's callback. */
bool request_ends(struct frame *f, const void *request, int status, void **callback);

/* The whole body of the callback that libuv gets. type: of the program's; the last arguments: what it gets. */
#define REQUEST_ENDS(type, request, status, ...)                                                   \
    struct frame f;                                                                                \
    void *callback;                                                                                \
    if (!request_ends(&f, request, status, &callback))                                             \
        return;                                                                                    \
    ((type)callback)(__VA_ARGS__);                                                                 \
    frame_end(&f);

/* The rest of a function that starts a request; h: of its handle. */
#define REQUEST_MADE(name, h, ours, type, detail, ...)                                             \
    if (!adapter_on() ||                                                                           \
        !request_begin(request, h, (void *)callback, (void *)callback, type, detail))              \
        return REAL(name)(__VA_ARGS__);                                                            \
    callback = ours;                                                                               \
    UV_CALL(status, REAL(name)(__VA_ARGS__));                                                      \
    if (status < 0)                                                                                \
        request_refused(request, status);                                                          \
    return status;

/* parameters: with `request` and `callback`; h: of its handle; ours: the callback that libuv gets; detail: an expression that
 * may fill `text`; the last arguments: what libuv's own function gets. */
#define REQUEST(name, parameters, h, ours, type, detail, ...)                                      \
    UV(name);                                                                                      \
    ADAPTER_EXPORT int name parameters                                                             \
    {                                                                                              \
        char text[ADAPTER_TEXT];                                                                   \
        int status;                                                                                \
        REQUEST_MADE(name, h, ours, type, detail, __VA_ARGS__)                                     \
    }

/* The same for a function that waits itself if there is no callback. */
#define REQUEST_OR_CALL(name, parameters, ours, type, detail, ...)                                 \
    UV(name);                                                                                      \
    ADAPTER_EXPORT int name parameters                                                             \
    {                                                                                              \
        char text[ADAPTER_TEXT];                                                                   \
        int status;                                                                                \
        if (!adapter_on() || uv_adapter_is_own(__builtin_return_address(0)))                       \
            return REAL(name)(__VA_ARGS__);                                                        \
        if (!callback) {                                                                           \
            const weft_promise p = adapter_create(NULL, type, detail);                             \
            weft_wait(p);                                                                          \
            UV_CALL(status, REAL(name)(__VA_ARGS__));                                              \
            uv_adapter_at_once(p, status);                                                         \
            return status;                                                                         \
        }                                                                                          \
        REQUEST_MADE(name, NULL, ours, type, detail, __VA_ARGS__)                                  \
    }

/* Whether libuv itself has called: for a part of a longer operation. caller: a return address. */
bool uv_adapter_is_own(const void *caller);
