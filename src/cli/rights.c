/* SPDX-License-Identifier: ISC */
#include "cli/rights.h"

#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <unistd.h>

bool cli_status_line(pid_t pid, const char *key, char *value, size_t size)
{
    char name[64], *line = NULL;
    size_t room = 0, n = strlen(key);
    bool found = false;
    snprintf(name, sizeof name, "/proc/%d/status", (int)pid);
    FILE *f = fopen(name, "re");
    while (f && !found && getline(&line, &room, f) > 0)
        if (strncmp(line, key, n) == 0 && line[n] == ':') {
            line[strcspn(line, "\n")] = 0;
            snprintf(value, size, "%s", line + n + 1 + strspn(line + n + 1, " \t"));
            found = true;
        }
    free(line);
    if (f)
        fclose(f);
    return found;
}

pid_t cli_inner_pid(pid_t pid)
{
    char text[256];
    if (!cli_status_line(pid, "NSpid", text, sizeof text))
        return pid;
    const char *last = strrchr(text, '\t'); /* the innermost namespace comes last */
    return (pid_t)strtol(last ? last + 1 : text, NULL, 10);
}

/* The last of the four ids in such a line, which is the one for file access; if it is missing, nobody's. */
static unsigned last_id(pid_t pid, const char *key)
{
    char text[128];
    const char *last = cli_status_line(pid, key, text, sizeof text) ? strrchr(text, '\t') : NULL;
    return last ? (unsigned)strtoul(last + 1, NULL, 10) : 65534;
}

struct cli_rights cli_rights_of(pid_t pid)
{
    struct cli_rights r = {.user = last_id(pid, "Uid"), .group = last_id(pid, "Gid")};
    r.fewer = geteuid() == 0 && r.user != 0;
    return r;
}

/* (These ids are only for file access: the right to inspect processes stays, and no other user can send us signals.) */
void cli_rights_take(struct cli_rights *r)
{
    if (!r->fewer)
        return;
    const int n = getgroups(0, NULL);
    r->own = n > 0 ? malloc((size_t)n * sizeof *r->own) : NULL;
    r->owns = r->own ? getgroups(n, r->own) : 0;
    (void)!setgroups(0, NULL);
    setfsgid(r->group);
    setfsuid(r->user);
}

void cli_rights_back(struct cli_rights *r)
{
    if (!r->fewer)
        return;
    setfsuid(geteuid());
    setfsgid(getegid());
    (void)!setgroups(r->owns > 0 ? (size_t)r->owns : 0, r->own);
    free(r->own);
    r->own = NULL;
}
