/* SPDX-License-Identifier: ISC */
/* Root looks at another user's process: what that user has made can be opened with no more rights than that user has, so that
 * nothing is opened which the user may not read, however it is renamed or linked meanwhile. */
#ifndef WEFT_CLI_RIGHTS_H
#define WEFT_CLI_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct weft__rights {
    bool fewer; /* we are root, and the process is another user's */
    uid_t user;
    gid_t group;
    gid_t *own; /* groups */
    int owns;
};

/* The rights of a process. */
struct weft__rights weft__rights_of(pid_t pid);

/* From here on files are opened with no more rights than these; as before. */
void weft__rights_take(struct weft__rights *r);
void weft__rights_back(struct weft__rights *r);

/* The value of a line "key: value" of /proc/PID/status; false: there is none. */
bool weft__status_line(pid_t pid, const char *key, char *value, size_t size);

/* How the process calls itself, in its pid namespace. */
pid_t weft__inner_pid(pid_t pid);

#endif
