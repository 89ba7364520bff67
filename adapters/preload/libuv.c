/* SPDX-License-Identifier: ISC */
/* libuv. */
#include "adapter.h"

#include <uv.h>

#define UV(name) REAL_OF(name, "libuv.so.1")

UV(uv_timer_start);
UV(uv_timer_get_repeat);

static struct adapter_table timers;

static void on_timer(uv_timer_t *timer)
{
    struct adapter_entry e;
    if (!adapter_get(&timers, adapter_key(timer), 0, &e))
        return;
    const bool repeats = REAL(uv_timer_get_repeat)(timer) != 0;
    if (!repeats)
        adapter_take(&timers, adapter_key(timer), 0, &e);
    const weft_promise before = weft_run(e.promise);
    if (!repeats)
        weft_fulfill(e.promise);
    const unsigned depth = adapter_out();
    ((uv_timer_cb)e.callback)(timer);
    adapter_back(depth);
    weft_run(before);
}

int uv_timer_start(uv_timer_t *timer, uv_timer_cb callback, uint64_t timeout, uint64_t repeat)
{
    char text[ADAPTER_TEXT];
    if (!adapter_on() || !callback || callback == on_timer)
        return REAL(uv_timer_start)(timer, callback, timeout, repeat);
    struct adapter_entry e = {.key = adapter_key(timer), .callback = (void *)callback};
    e.promise =
        adapter_create((void *)callback, "timer", adapter_duration(text, timeout * 1000000));
    const uv_timer_cb ours = adapter_put(&timers, &e) ? on_timer : callback;
    return REAL(uv_timer_start)(timer, ours, timeout, repeat);
}
