/* SPDX-License-Identifier: ISC */
/* The host of kprof/device.h on Linux: its timers are perf's, its function names come from kallsyms. For one
 * thread. */
#pragma once

#include "kprof/device.h"

struct weft_kprof_linux;

/* Fails like weft_sampler_open. user_frames: see struct weft_kprof_options. */
int weft_kprof_linux_open(struct weft_kprof_linux **out, uint32_t user_frames,
                          struct weft_error *err);
void weft_kprof_linux_close(struct weft_kprof_linux *l); /* close the device first */

/* What does not work as it should, one sentence each; NULL after the last one. */
const char *weft_kprof_linux_note(const struct weft_kprof_linux *l, uint32_t i);

/* The host for weft_kprof_new. The caller may set print. */
struct weft_kprof_host weft_kprof_linux_host(struct weft_kprof_linux *l);

/* Sets the device that receives the samples. Call it before anything is started. */
void weft_kprof_linux_give(struct weft_kprof_linux *l, struct weft_kprof *k);

/* Passes on the records that are there, without waiting. Call it when weft_kprof_linux_fd is readable, and a
 * few times per second while weft_kprof_linux_runs. */
void weft_kprof_linux_take(struct weft_kprof_linux *l);
int weft_kprof_linux_fd(const struct weft_kprof_linux *l);
bool weft_kprof_linux_runs(const struct weft_kprof_linux *l);
