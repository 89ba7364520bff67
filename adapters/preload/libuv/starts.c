/* SPDX-License-Identifier: ISC */
/* The handles whose callbacks come by themselves: for each kind its start and its callback. */
#include <stdio.h>
#include <string.h>

#include "libuv.h"

UV(uv_timer_again);
UV(uv_timer_get_repeat);
UV(uv_fileno);
UV(uv_async_init);
UV(uv_async_send);
UV(uv_spawn);

/* ---- Every turn ---- */

UV_CALLBACK(on_idle, uv_idle_cb, (uv_idle_t * handle), 0, handle)
UV_CALLBACK(on_prepare, uv_prepare_cb, (uv_prepare_t * handle), 0, handle)
UV_CALLBACK(on_check, uv_check_cb, (uv_check_t * handle), 0, handle)
UV_START(uv_idle_start, (uv_idle_t * handle, uv_idle_cb callback), on_idle, (void)0,
         UV_EVERY("idle", NULL), handle, callback)
UV_START(uv_prepare_start, (uv_prepare_t * handle, uv_prepare_cb callback), on_prepare, (void)0,
         UV_EVERY("prepare", NULL), handle, callback)
UV_START(uv_check_start, (uv_check_t * handle, uv_check_cb callback), on_check, (void)0,
         UV_EVERY("check", NULL), handle, callback)
UV_STOP(uv_idle_stop, uv_idle_t)
UV_STOP(uv_prepare_stop, uv_prepare_t)
UV_STOP(uv_check_stop, uv_check_t)

/* ---- Signals, files, descriptors ---- */

UV_CALLBACK(on_signal, uv_signal_cb, (uv_signal_t * handle, int number), 0, handle, number)
UV_START(uv_signal_start, (uv_signal_t * handle, uv_signal_cb callback, int number), on_signal,
         snprintf(text, sizeof text, "SIG%s", sigabbrev_np(number) ? sigabbrev_np(number) : "?"),
         UV_EVERY("signal", text), handle, callback, number)
UV_START(uv_signal_start_oneshot, (uv_signal_t * handle, uv_signal_cb callback, int number),
         on_signal,
         snprintf(text, sizeof text, "SIG%s", sigabbrev_np(number) ? sigabbrev_np(number) : "?"),
         ((struct starting){.type = "signal", .detail = text, .background = true}), handle,
         callback, number)
UV_STOP(uv_signal_stop, uv_signal_t)

UV_CALLBACK(on_fs_event, uv_fs_event_cb,
            (uv_fs_event_t * handle, const char *file, int events, int status), status, handle,
            file, events, status)
UV_START(uv_fs_event_start,
         (uv_fs_event_t * handle, uv_fs_event_cb callback, const char *path, unsigned flags),
         on_fs_event, (void)0, UV_EVERY("fs_event", path), handle, callback, path, flags)
UV_STOP(uv_fs_event_stop, uv_fs_event_t)

UV_CALLBACK(on_fs_poll, uv_fs_poll_cb,
            (uv_fs_poll_t * handle, int status, const uv_stat_t *before, const uv_stat_t *now),
            status, handle, status, before, now)
UV_START(uv_fs_poll_start,
         (uv_fs_poll_t * handle, uv_fs_poll_cb callback, const char *path, unsigned interval),
         on_fs_poll, (void)0, UV_EVERY("fs_poll", path), handle, callback, path, interval)
UV_STOP(uv_fs_poll_stop, uv_fs_poll_t)

/* "readable tcp 10.0.0.1:443" */
static char *put_poll(char text[ADAPTER_TEXT], const uv_poll_t *handle, int events)
{
    char name[ADAPTER_TEXT] = "";
    uv_os_fd_t fd;
    if (REAL(uv_fileno)((const uv_handle_t *)handle, &fd) == 0)
        adapter_descriptor(name, fd);
    snprintf(text, ADAPTER_TEXT, "%s%s%.200s", events & UV_READABLE ? "readable " : "",
             events & UV_WRITABLE ? "writable " : "", name);
    return text;
}

UV_CALLBACK(on_poll, uv_poll_cb, (uv_poll_t * handle, int status, int events), status, handle,
            status, events)
UV_START(uv_poll_start, (uv_poll_t * handle, int events, uv_poll_cb callback), on_poll,
         put_poll(text, handle, events),
         ((struct starting){.type = "poll", .detail = text, .repeats = true, .waits = true}),
         handle, events, callback)
UV_STOP(uv_poll_stop, uv_poll_t)

/* ---- Timers: one that is started again while it runs is the same promise ---- */

static void on_timer(uv_timer_t *handle)
{
    struct frame f;
    struct handle *h = handle_find(handle);
    if (h)
        h->repeats = REAL(uv_timer_get_repeat)(handle) != 0;
    const uv_timer_cb callback = (uv_timer_cb)handle_fires(&f, handle, 0, NULL);
    if (!callback)
        return;
    callback(handle);
    handle_fired(&f, handle);
}

UV_START(uv_timer_start,
         (uv_timer_t * handle, uv_timer_cb callback, uint64_t timeout, uint64_t repeat), on_timer,
         adapter_duration(text, timeout * 1000000),
         ((struct starting){.type = "timer",
                            .detail = text,
                            .repeats = repeat != 0,
                            .background = repeat != 0,
                            .waits = repeat == 0 && h->owner != NULL}),
         handle, callback, timeout, repeat)
UV_STOP(uv_timer_stop, uv_timer_t)

ADAPTER_EXPORT int uv_timer_again(uv_timer_t *handle)
{
    char text[ADAPTER_TEXT];
    int status;
    if (!adapter_on())
        return REAL(uv_timer_again)(handle);
    UV_CALL(status, REAL(uv_timer_again)(handle));
    struct handle *h = handle_find(handle);
    const uint64_t repeat = REAL(uv_timer_get_repeat)(handle);
    if (status == 0 && h && !h->started && repeat) {
        const struct starting s = UV_EVERY("timer", adapter_duration(text, repeat * 1000000));
        handle_started(h, h->callback, &s);
    }
    return status;
}

/* ---- Calls from other threads ---- */

UV_CALLBACK(on_async, uv_async_cb, (uv_async_t * handle), 0, handle)

ADAPTER_EXPORT int uv_async_init(uv_loop_t *loop, uv_async_t *handle, uv_async_cb callback)
{
    static const struct starting s = UV_EVERY("async", NULL);
    void *const program = (void *)callback;
    int status;
    struct handle *h = NULL;
    if (!adapter_on() || !callback || !(h = handle_make(handle)))
        return REAL(uv_async_init)(loop, handle, callback);
    UV_CALL(status, REAL(uv_async_init)(loop, handle, on_async));
    if (status == 0) {
        handle_stopped(h); /* if its memory was another handle's, never closed */
        context_release(h->owner);
        h->owner = NULL;
        handle_started(h, program, &s);
    }
    return status;
}

ADAPTER_EXPORT int uv_async_send(uv_async_t *handle)
{
    if (adapter_on()) {
        const struct handle *h = handle_find(handle);
        if (h)
            weft_notify(h->started);
    }
    return REAL(uv_async_send)(handle);
}

/* ---- Processes ---- */

static void on_exit_of(uv_process_t *handle, int64_t status, int signal)
{
    char text[64];
    struct frame f;
    struct handle *h = handle_find(handle);
    if (signal)
        snprintf(text, sizeof text, "signal %d", signal);
    else
        snprintf(text, sizeof text, "exit status %lld", (long long)status);
    void *const callback = handle_fires(&f, handle, 0, status || signal ? text : NULL);
    if (!h || !callback)
        return;
    if (callback != (void *)on_exit_of) /* the program has one */
        ((uv_exit_cb)callback)(handle, status, signal);
    handle_fired(&f, handle);
}

/* "ls -l /tmp" */
static void put_command(char text[ADAPTER_TEXT], const uv_process_options_t *options)
{
    size_t used = 0;
    *text = 0;
    for (char **a = options->args; a && *a && used < ADAPTER_TEXT - 1; a++)
        used += (size_t)snprintf(text + used, ADAPTER_TEXT - used, "%s%s", used ? " " : "", *a);
    if (!*text && options->file)
        snprintf(text, ADAPTER_TEXT, "%s", options->file);
}

ADAPTER_EXPORT int uv_spawn(uv_loop_t *loop, uv_process_t *handle,
                            const uv_process_options_t *options)
{
    char text[ADAPTER_TEXT];
    uv_process_options_t ours = *options;
    void *const program = (void *)options->exit_cb;
    int status;
    struct handle *h = NULL;
    if (!adapter_on() || options->exit_cb == on_exit_of)
        return REAL(uv_spawn)(loop, handle, options);
    handle_initialised(handle, 0);
    h = handle_make(handle);
    if (!h)
        return REAL(uv_spawn)(loop, handle, options);
    put_command(text, options);
    const struct starting s = {.type = "process",
                               .detail = text,
                               .plain = true,
                               .background = (options->flags & UV_PROCESS_DETACHED) != 0,
                               .waits = true};
    ours.exit_cb = on_exit_of;
    handle_started(h, program ? program : (void *)on_exit_of, &s);
    UV_CALL(status, REAL(uv_spawn)(loop, handle, &ours));
    if (status < 0) {
        uv_adapter_at_once(h->started, status);
        h->started = 0;
        handle_stopped(h);
    }
    return status;
}
