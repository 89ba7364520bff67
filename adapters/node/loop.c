/* SPDX-License-Identifier: ISC */
/* The event loop is libuv's, whose functions node exports: the handles that it calls before and after polling show when
 * it sleeps. These handles do not keep a loop alive, and are closed before the loop is. */
#include "addon.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { UV_CHECK = 2, UV_PREPARE = 9, UV_FS = 6 };
enum { REQUEST_LOOP = 9, REQUEST_FAR = 32 }; /* in words */

typedef void (*uv_callback)(void *handle);
static size_t (*handle_size)(int type);
static int (*prepare_init)(void *loop, void *handle), (*check_init)(void *loop, void *handle);
static int (*prepare_start)(void *handle, uv_callback call),
    (*check_start)(void *handle, uv_callback call);
static void (*unref)(void *handle);
static void (*close_handle)(void *handle, uv_callback closed);
static int (*backend_timeout)(const void *loop);

static const char *(*fs_path)(const void *request);

static __thread void *loop, *prepare, *check;
static __thread unsigned open_handles;
static __thread napi_async_cleanup_hook_handle cleanup;

static void find(void *function, const char *name, bool *all)
{
    void *there = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &there, sizeof there);
    *all = *all && there;
}

/* A call at which weft can notice a request from weft ctl; JavaScript is told the result. */
static void look_for_switch(struct thread *t)
{
    static struct weft_site site = {.file = NULL};
    weft_run(WEFT_LOOP);
    if (t->paused && WEFT_IMPL_ON()) { /* is it still the same? */
        const weft_promise p = weft_impl_create_from(&site, WEFT_LOOP, "recording", "on again");
        t->paused = !p;
        weft_fulfill(p);
    }
    const bool on = WEFT_IMPL_ON() != 0 && !t->paused;
    if (on == t->recording)
        return;
    if (call_back(t, t->switch_, on))
        t->recording = on;
}

static void before_poll(void *handle)
{
    struct thread *t = me;
    (void)handle;
    if (!t)
        return;
    t->shared[SHARED_TURN]++;
    look_for_switch(t);
    if (t->shared[SHARED_DIRTY])
        call_back(t, t->flush, false);
    if (!WEFT_IMPL_ON())
        return;
    if (backend_timeout(loop) != 0) {
        weft_suspend(WEFT_WAIT_FOR_WORK);
        t->asleep = true;
    }
}

static void after_poll(void *handle)
{
    struct thread *t = me;
    (void)handle;
    if (t && t->asleep) {
        t->asleep = false;
        weft_resume();
    }
}

static void closed(void *handle)
{
    free(handle);
    if (--open_handles == 0)
        napi_remove_async_cleanup_hook(cleanup);
}

static void at_end(napi_async_cleanup_hook_handle handle, void *data)
{
    (void)data;
    cleanup = handle;
    me = NULL;
    close_handle(prepare, closed);
    close_handle(check, closed);
}

bool loop_watch(struct thread *t)
{
    bool all = true;
    find(&handle_size, "uv_handle_size", &all);
    find(&prepare_init, "uv_prepare_init", &all);
    find(&prepare_start, "uv_prepare_start", &all);
    find(&check_init, "uv_check_init", &all);
    find(&check_start, "uv_check_start", &all);
    find(&unref, "uv_unref", &all);
    find(&close_handle, "uv_close", &all);
    find(&backend_timeout, "uv_backend_timeout", &all);
    find(&fs_path, "uv_fs_get_path", &(bool){true});
    if (!all || napi_get_uv_event_loop(t->env, &loop) != 0)
        return false;
    prepare = calloc(1, handle_size(UV_PREPARE));
    check = calloc(1, handle_size(UV_CHECK));
    if (!prepare || !check)
        return false;
    prepare_init(loop, prepare);
    check_init(loop, check);
    prepare_start(prepare, before_poll);
    check_start(check, after_poll);
    unref(prepare);
    unref(check);
    open_handles = 2;
    return napi_add_async_cleanup_hook(t->env, at_end, t, &cleanup) == 0;
}

/* libuv's request is inside node's object, some words from its start, and begins with a pointer to the object, and its
 * type. */
const char *loop_path(const void *request)
{
    const uintptr_t *word = request;
    for (unsigned i = 0; fs_path && word && i < REQUEST_FAR; i++)
        if (word[i] == (uintptr_t)request && (uint32_t)word[i + 1] == UV_FS &&
            word[i + REQUEST_LOOP] == (uintptr_t)loop)
            return fs_path(word + i);
    return NULL;
}
