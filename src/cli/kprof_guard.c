/* SPDX-License-Identifier: ISC */
/* The guard unmounts the folder when weft kprof is killed: a process that only waits for that. fusermount3 has an
 * option for this (auto_unmount), but it fails in two cases, and then the folder stays: if the kernel reports the end
 * before it closes the connection, fusermount3 finds the folder in order; and it may not look where another user has
 * mounted. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/kprof.h"

#define TRIES 50
#define PAUSE_US 100000

/* In that file, "\040" is a space. */
static void unescape(char *path)
{
    char *to = path;
    for (const char *at = path; *at; at++) {
        if (at[0] == '\\' && at[1] && at[2] && at[3]) {
            *to++ = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
            at += 3;
        } else
            *to++ = *at;
    }
    *to = 0;
}

/* The id of the topmost mount at that place, or 0. Does not access the file system itself. */
static unsigned long mount_number(const char *dir)
{
    FILE *f = fopen("/proc/self/mountinfo", "re");
    char *line = NULL;
    size_t room = 0;
    unsigned long found = 0;
    while (f && getline(&line, &room, f) > 0) {
        unsigned long number;
        int from = 0, to = 0;
        if (sscanf(line, "%lu %*s %*s %*s %n%*s%n", &number, &from, &to) != 1 || to == 0)
            continue;
        line[to] = 0;
        unescape(line + from);
        if (strcmp(line + from, dir) == 0)
            found = number;
    }
    free(line);
    if (f)
        fclose(f);
    return found;
}

static void unmount(const char *dir)
{
    if (umount2(dir, MNT_DETACH) == 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        execlp("fusermount3", "fusermount3", "-u", "-z", "-q", "--", dir, (char *)NULL);
        _exit(127);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* Uses another name, so that killing "weft kprof" by name does not kill the guard. */
static void rename_process(char *from, char *to, const char *dir)
{
    prctl(PR_SET_NAME, "weft-unmount");
    if (to <= from)
        return;
    memset(from, 0, (size_t)(to - from));
    snprintf(from, (size_t)(to - from), "weft-unmount %s", dir);
}

static bool is_told(int fd)
{
    char byte;
    return TEMP_FAILURE_RETRY(read(fd, &byte, 1)) == 1;
}

_Noreturn static void guard(const char *dir, int fd)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    dup2(fd, 3); /* and nothing else, because others may wait for it to be closed */
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; i++)
        dup2(null, i);
    close_range(4, ~0u, 0);
    if (chdir("/") < 0 || !is_told(3))
        _exit(0);
    const unsigned long number = mount_number(dir);
    while (is_told(3))
        ;
    for (int i = 0; i < TRIES && number && mount_number(dir) == number; i++) {
        unmount(dir);
        usleep(PAUSE_US);
    }
    _exit(0);
}

/* The guard has its other name when this returns. */
struct kprof_guard kprof_guard_begin(const struct kprof_request *r)
{
    struct kprof_guard g = {.fd = -1};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return g;
    g.process = fork();
    if (g.process == 0) {
        rename_process(r->title_from, r->title_to, r->dir);
        (void)!write(pair[1], "", 1);
        guard(r->dir, pair[1]);
    }
    close(pair[1]);
    if (g.process > 0 && is_told(pair[0]))
        g.fd = pair[0];
    else
        close(pair[0]);
    return g;
}

void kprof_guard_mounted(const struct kprof_guard *g)
{
    if (g->fd >= 0)
        (void)!TEMP_FAILURE_RETRY(write(g->fd, "", 1));
}

void kprof_guard_end(struct kprof_guard *g)
{
    if (g->fd < 0)
        return;
    close(g->fd);
    g->fd = -1;
    (void)!TEMP_FAILURE_RETRY(waitpid(g->process, NULL, 0));
}
