/* SPDX-License-Identifier: ISC */
#include "symbols/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef TRACEFS_MAGIC
#define TRACEFS_MAGIC 0x74726163
#endif

enum { TRIES = 16 };

static int fail(int fd, int error)
{
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

static bool is_plain(int fd)
{
    struct stat st;
    struct statfs fs;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || fstatfs(fd, &fs) < 0)
        return false;
    return fs.f_type != PROC_SUPER_MAGIC && fs.f_type != SYSFS_MAGIC &&
           fs.f_type != DEBUGFS_MAGIC && fs.f_type != TRACEFS_MAGIC;
}

/* place was opened with O_PATH, which has no effect on the file; this closes it. What is opened
 * then is exactly the file that was examined, whatever has its name by now. */
static int open_place(int place)
{
    char name[64];
    if (place < 0)
        return -1;
    if (!is_plain(place))
        return fail(place, EINVAL);
    snprintf(name, sizeof name, "/proc/self/fd/%d", place);
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int error = errno;
    close(place);
    return fd < 0 ? fail(-1, error) : fd;
}

int symbols_regular_open_trusted(const char *path)
{
    return open_place(open(path, O_PATH | O_CLOEXEC));
}

int symbols_regular_open(const char *root, const char *path)
{
    const struct open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_NO_MAGICLINKS | (root ? RESOLVE_IN_ROOT : 0),
    };
    int at = root ? open(root, O_PATH | O_DIRECTORY | O_CLOEXEC) : AT_FDCWD, place = -1;
    if (root && at < 0)
        return -1;
    /* EAGAIN: something on the way was renamed. */
    for (int i = 0; i < TRIES && place < 0 && (i == 0 || errno == EAGAIN); i++)
        place = (int)syscall(SYS_openat2, at, path, &how, sizeof how);
    /* Before Linux 5.6 all links are followed, but what was opened is checked. */
    if (place < 0 && errno == ENOSYS && !root)
        place = open(path, O_PATH | O_CLOEXEC);
    int error = errno;
    if (root)
        close(at);
    return place < 0 ? fail(-1, error) : open_place(place);
}
