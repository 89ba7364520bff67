/* SPDX-License-Identifier: ISC */
/* The trace's file.
 *
 * How do we know whether a trace is being written? Its writer holds a lock (flock) on the file. It takes the
 * lock while the file has no name yet. The lock lasts as long as the mapping, because the mapping keeps the
 * open file alive even though the descriptor is closed; the kernel releases it at exec and whenever the process
 * ends, for whatever reason. It is visible from every pid namespace, and reused process ids do not matter.
 * Where there is no such lock (some network file systems; overlayfs, which maps a different file than the one
 * that was opened), the process id in the facts decides. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h> /* rename */
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "format/process.h"
#include "format/walk.h"
#include "record/start.h"

#define TEMPORARY_SUFFIX ".XXXXXX"

static char path[4096];
static char temporary[sizeof path + sizeof TEMPORARY_SUFFIX];

/* ---- What is at a path ---- */

/* NONE: nothing, or an empty file; DEAD: a trace without a writer; FORMER: a trace that this process wrote
 * before exec. */
enum stands { NONE, DEAD, FORMER };

/* If a shared writable mapping in /proc/self/maps begins on this line, returns its inode; otherwise 0. A line:
 * "start-end rw-s offset device inode". */
static uint64_t shared_inode(const char *line)
{
    const char *at = strchr(line, ' ');
    if (!at || at[2] != 'w' || at[4] != 's')
        return 0;
    for (int field = 1; at && field < 4; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* Returns true if this process has the file mapped, by any copy of this library. */
static bool is_mapped(uint64_t inode)
{
    static char text[16384]; /* longer than a line, which ends with a path */
    size_t kept = 0;
    bool found = false;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    ssize_t n;
    while (fd >= 0 && !found && (n = read(fd, text + kept, sizeof text - 1 - kept)) > 0) {
        char *line = text, *end;
        text[kept + (size_t)n] = 0;
        for (; !found && (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            found = shared_inode(line) == inode;
        }
        kept = strlen(line);
        memmove(text, line, kept);
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* Returns true if the process in the facts still exists. Without /proc neither side knows when the process
 * started; then it is enough that a process has this id. */
static bool is_there(const struct weft_facts_header *f)
{
    uint8_t boot[16];
    format_boot_id(boot);
    if (memcmp(boot, f->boot_id, sizeof boot) != 0)
        return false;
    const uint64_t start = format_process_start(f->pid);
    if (start || f->process_start)
        return start == f->process_start;
    return f->pid && f->pid <= INT_MAX && (kill((pid_t)f->pid, 0) == 0 || errno == EPERM);
}

/* Finds out who writes the trace, if anybody: enum stands, or an error. */
static int who_writes(int fd, const struct stat *st, const struct weft_facts_header *f)
{
    if (f->state != WEFT_TRACE_RECORDING)
        return DEAD;
    const bool process_is_there = is_there(f);
    bool own = process_is_there && f->pid == (uint32_t)getpid();
    if (own && is_mapped(st->st_ino))
        return -EADDRINUSE;
    if (flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return -EBUSY;
    if (own)
        return FORMER;
    return process_is_there ? -EBUSY : DEAD;
}

/* Checks whether the file at this path may be replaced: enum stands, or an error. */
static int look_at(const char *name)
{
    struct stat st;
    struct weft_facts_header f;
    if (lstat(name, &st) < 0)
        return errno == ENOENT ? NONE : -errno;
    if (S_ISLNK(st.st_mode))
        return -ELOOP;
    if (!S_ISREG(st.st_mode))
        return -EEXIST;
    if (st.st_size == 0)
        return NONE;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    int rc = -EEXIST;
    if (fstat(fd, &st) == 0 && pread(fd, &f, sizeof f, 0) == sizeof f && format_is_facts(&f))
        rc = who_writes(fd, &st, &f);
    close(fd);
    return rc;
}

/* ---- Making one ---- */

static bool expand(const char *name, bool literal)
{
    struct put p = put_begin(path, sizeof path);
    char letter[2] = "";
    for (; *name; name++) {
        if (!literal && name[0] == '%' && name[1] == 'p') {
            put_number(&p, (uint64_t)getpid());
            name++;
        } else {
            letter[0] = *name;
            put_text(&p, letter);
        }
    }
    if (!put_end(&p))
        return false;
    p = put_begin(temporary, sizeof temporary);
    put_text(&p, path);
    put_text(&p, TEMPORARY_SUFFIX);
    return put_end(&p);
}

/* Reserves the space on the disk, so that a full disk is noticed now. A file-size limit is reported like other
 * errors; the signal that comes with it would end the program. */
static int allocate(int fd, uint64_t bytes)
{
    sigset_t limit, before;
    struct statfs disk;
    /* Not tried if it cannot succeed: until it failed, it would leave no space to anybody else. */
    if (fstatfs(fd, &disk) == 0 && disk.f_frsize > 0 &&
        bytes / (uint64_t)disk.f_frsize > (uint64_t)disk.f_bavail)
        return -ENOSPC;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    int rc = -EINTR;
    for (int i = 0; rc == -EINTR && i < 100; i++)
        rc = -posix_fallocate(fd, 0, (off_t)bytes);
    if (rc == -EFBIG && !sigismember(&before, SIGXFSZ))
        sigtimedwait(&limit, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

static int map(struct weft_record_file *f, int fd, uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return -errno;
    madvise(p, bytes, MADV_DONTFORK); /* a forked child would keep the lock */
    f->map = p;
    return 0;
}

int weft_record_file_make(struct weft_record_file *f, const char *name, bool literal,
                          uint64_t bytes)
{
    if (!expand(name, literal))
        return -ENAMETOOLONG;
    int rc = look_at(path);
    if (rc < 0)
        return rc;
    int fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600, O_EXCL */
    if (fd < 0)
        return -errno;
    flock(fd, LOCK_EX | LOCK_NB);
    rc = allocate(fd, bytes);
    if (rc == 0)
        rc = map(f, fd, bytes);
    close(fd);
    f->named = rc == 0;
    if (rc < 0)
        unlink(temporary);
    return rc;
}

int weft_record_file_take(struct weft_record_file *f, int fd, uint64_t bytes)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) < 0 || (uint64_t)st.st_size < bytes)
        return -EBADF;
    f->named = false;
    return map(f, fd, bytes);
}

void weft_record_file_drop(struct weft_record_file *f, uint64_t bytes)
{
    munmap(f->map, bytes);
    if (f->named)
        unlink(temporary);
    f->named = false;
}

/* ---- Naming it ---- */

/* The program that called exec no longer has a trace. What it recorded before is kept beside the new trace. */
static void keep_former(const char *name)
{
    static char kept[sizeof path + 2];
    struct weft_facts_header f;
    struct put p = put_begin(kept, sizeof kept);
    put_text(&p, path);
    put_text(&p, ".1");
    int fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && pread(fd, &f, sizeof f, 0) == sizeof f && format_is_facts(&f)) {
        const uint32_t stopped = WEFT_TRACE_STOPPED;
        (void)!pwrite(fd, &stopped, sizeof stopped, offsetof(struct weft_facts_header, state));
    }
    if (fd >= 0)
        close(fd);
    if (!put_end(&p) || look_at(kept) < 0 || rename(name, kept) < 0)
        unlink(name);
}

/* Locks the folder of the path, so that processes that want the same name see each other's results. Anybody who
 * may read the folder can hold this lock, so this does not wait long. Without the lock one of two processes may
 * be refused, but nothing else goes wrong. Returns -1 if the folder is not locked. */
static int lock_folder(void)
{
    static char folder[sizeof path];
    const struct timespec pause = {.tv_nsec = 1000000};
    const char *slash = strrchr(path, '/');
    size_t size = slash ? (size_t)(slash - path) + 1 : 0;
    memcpy(folder, path, size);
    memcpy(folder + size, ".", 2);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int tries = 0; fd >= 0 && tries < 50 && flock(fd, LOCK_EX | LOCK_NB) < 0; tries++)
        nanosleep(&pause, NULL);
    return fd;
}

/* renameat2, which not every libc has. */
enum { NO_REPLACE = 1, EXCHANGE = 2 };

static int rename_how(unsigned flags)
{
    return (int)syscall(SYS_renameat2, AT_FDCWD, temporary, AT_FDCWD, path, flags);
}

/* There is something at the path, or the system cannot say. */
static int publish_over(void)
{
    /* Two processes may get here with the same name. Whoever receives, in the exchange, a trace that is still
     * being written gives it back. */
    if (rename_how(EXCHANGE) == 0) {
        int rc = look_at(temporary);
        if (rc < 0) {
            rename_how(EXCHANGE);
            return rc;
        }
        if (rc == FORMER)
            keep_former(temporary);
        else
            unlink(temporary);
        return 0;
    }
    int rc = look_at(path);
    if (rc < 0)
        return rc;
    if (rc == FORMER)
        keep_former(path);
    return rename(temporary, path) < 0 ? -errno : 0;
}

int weft_record_file_publish(struct weft_record_file *f)
{
    if (rename_how(NO_REPLACE) == 0) {
        f->named = false;
        return 0;
    }
    if (errno != EEXIST && errno != EINVAL && errno != ENOSYS)
        return -errno;
    int folder = lock_folder(), rc = publish_over();
    if (folder >= 0)
        close(folder);
    f->named = rc < 0;
    return rc;
}
