/* SPDX-License-Identifier: ISC */
#include "awake.h"

#include <stdbool.h>

#include <weft/weft.h>

static uv_prepare_t before_poll;
static uv_check_t after_poll;
static bool asleep;

static void on_before_poll(uv_prepare_t *handle)
{
    if (uv_backend_timeout(handle->loop) == 0)
        return; /* there is more to do: it will only look, not sleep */
    asleep = true;
    weft_suspend(WEFT_WAIT_FOR_WORK);
}

void kv_awake(void)
{
    if (asleep) {
        asleep = false;
        weft_resume();
    }
}

static void on_after_poll(uv_check_t *handle)
{
    (void)handle;
    kv_awake();
}

void kv_awake_start(uv_loop_t *loop)
{
    uv_prepare_init(loop, &before_poll);
    uv_check_init(loop, &after_poll);
    uv_prepare_start(&before_poll, on_before_poll);
    uv_check_start(&after_poll, on_after_poll);
    uv_unref((uv_handle_t *)&before_poll);
    uv_unref((uv_handle_t *)&after_poll);
}

void kv_awake_stop(void)
{
    uv_close((uv_handle_t *)&before_poll, NULL);
    uv_close((uv_handle_t *)&after_poll, NULL);
}
