/* SPDX-License-Identifier: ISC */
/* The machine that kprof/device.h wants, on Linux: its timers are perf's, its names those of kallsyms. One thread. */
#ifndef WEFT_KPROF_LINUX_H
#define WEFT_KPROF_LINUX_H

#include "kprof/device.h"

struct weft_kprof_linux;

/* Fails as weft_sampler_open does. user_frames as of the device. */
int weft_kprof_linux_open(struct weft_kprof_linux **out, uint32_t user_frames,
                          struct weft_error *err);
void weft_kprof_linux_close(struct weft_kprof_linux *l); /* after the device */

/* What is not as it could be, a sentence each; NULL after the last one. */
const char *weft_kprof_linux_note(const struct weft_kprof_linux *l, uint32_t i);

/* For weft_kprof_new. print may be set by the caller. */
struct weft_kprof_host weft_kprof_linux_host(struct weft_kprof_linux *l);

/* Who gets what is taken; before anything is started. */
void weft_kprof_linux_give(struct weft_kprof_linux *l, struct weft_kprof *k);

/* Takes what there is, without waiting. To be called when weft_kprof_linux_fd is readable, and some times a second
 * while weft_kprof_linux_runs. */
void weft_kprof_linux_take(struct weft_kprof_linux *l);
int weft_kprof_linux_fd(const struct weft_kprof_linux *l);
bool weft_kprof_linux_runs(const struct weft_kprof_linux *l);

#endif
