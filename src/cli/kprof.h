/* SPDX-License-Identifier: ISC */
/* weft kprof: what its two files share. */
#pragma once

#include <sys/types.h>

#include "kprof/device.h"

struct kprof_request {
    char *dir; /* absolute */
    struct weft_kprof_options device;
    uid_t uid; /* whose files they are */
    gid_t gid;
    bool allow_other, print;     /* print: lines of the console to standard output */
    char *title_from, *title_to; /* where this process's command line is in memory */
};

struct kprof_served; /* a mounted folder */

/* Mounts the folder. On failure prints why and returns NULL. */
struct kprof_served *kprof_mount(const struct kprof_request *r);

/* Serves requests until it is unmounted, or until SIGINT, SIGTERM or SIGHUP; then cleans up completely. Returns the
 * exit status. */
int kprof_serve(struct kprof_served *s);

/* A process that unmounts the folder if this one ends without doing so. It must be told first that the folder is
 * mounted. */
struct kprof_guard {
    int fd; /* -1: there is none */
    pid_t process;
};
struct kprof_guard kprof_guard_begin(const struct kprof_request *r);
void kprof_guard_mounted(const struct kprof_guard *g);
void kprof_guard_end(struct kprof_guard *g); /* after unmounting */
