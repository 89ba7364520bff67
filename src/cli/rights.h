/* SPDX-License-Identifier: ISC */
/* Root looks at another user's process: what that user has made can be opened with no more rights than that user has, so that
 * nothing is opened which the user may not read, however it is renamed or linked meanwhile. */
#ifndef WEFT_CLI_RIGHTS_H
#define WEFT_CLI_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct cli_rights {
    bool fewer; /* we are root, and the process is another user's */
    uid_t user;
    gid_t group;
    gid_t *own; /* groups */
    int owns;
};

/* The rights of a process. */
struct cli_rights cli_rights_of(pid_t pid);

/* From here on files are opened with no more rights than these; as before. */
void cli_rights_take(struct cli_rights *r);
void cli_rights_back(struct cli_rights *r);

/* The value of a line "key: value" of /proc/PID/status; false: there is none. */
bool cli_status_line(pid_t pid, const char *key, char *value, size_t size);

/* How the process calls itself, in its pid namespace. */
pid_t cli_inner_pid(pid_t pid);

#endif
