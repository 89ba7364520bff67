/* SPDX-License-Identifier: ISC */
/* For root looking at another user's process: files that the user controls are opened with that user's rights, so that
 * nothing is opened that the user may not read, however files are renamed or linked in the meantime. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct cli_rights {
    bool fewer; /* we are root, and the process belongs to another user */
    uid_t user;
    gid_t group;
    gid_t *own; /* groups */
    int owns;
};

/* The rights of a process. */
struct cli_rights cli_rights_of(pid_t pid);

/* Opens files with only these rights from now on; and restores the old rights. */
void cli_rights_take(struct cli_rights *r);
void cli_rights_back(struct cli_rights *r);

/* The value of a line "key: value" of /proc/PID/status; false: there is none. */
bool cli_status_line(pid_t pid, const char *key, char *value, size_t size);

/* The process's id in its own pid namespace. */
pid_t cli_inner_pid(pid_t pid);
