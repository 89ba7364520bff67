/* SPDX-License-Identifier: ISC */
/* Recording that begins with the first call: in forked children, and in programs into which adapters are loaded.
 * A child does not share its parent's recording. It starts its own with its first
 * call: that call finds the bit set by which weft ctl gets attention, too (control.c). So a child that only
 * calls exec creates no file, nothing happens between fork and the first call, and the path of an event has no
 * extra test. */
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/put.h"
#include "record/start.h"

enum { CHILDREN_MAX = 64, PAGE_BYTES = 4096, WAIT_NS = 1000 * 1000 * 1000 };

static struct {
    char path[4096]; /* absolute; "": forked children do not record */
    char own[4096];  /* of this process, which is due; "": path is its path, too */
    struct weft_options options;
    int memory; /* the descriptor of the options' memory, and its file; 0: none */
    ino_t file;
    uint32_t *begun; /* how many children have begun; in memory that all of them share */
    uint32_t due;
    uint32_t noted; /* generation of the recording whose facts mention the fork */
    pid_t beginner; /* the thread that begins a recording at this moment; 0: none */
} follow;

/* Makes a path absolute. "" if it is too long. */
static void put_path(char *to, size_t size, const char *path)
{
    char folder[sizeof follow.path] = "";
    if (*path != '/' && !getcwd(folder, sizeof folder))
        return;
    struct put p = put_begin(to, size);
    put_text(&p, folder);
    put_text(&p, *folder ? "/" : "");
    put_text(&p, path);
    if (!put_end(&p))
        *to = 0;
}

void weft_record_follow(const char *own, const char *path, const struct weft_options *o)
{
    follow.options = *o;
    void *shared =
        mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared != MAP_FAILED) {
        follow.begun = shared;
        if (path)
            put_path(follow.path, sizeof follow.path, path);
    }
    if (own && *own)
        put_path(follow.own, sizeof follow.own, own);
    follow.due = *follow.own || (!own && *follow.path);
}

void weft_record_follow_memory(int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return;
    follow.memory = fd;
    follow.file = st.st_ino;
}

/* A program that replaces this one by exec must not find it, or it would record over what is there. The program may
 * have closed it, and use that number for something else. */
static void close_memory(void)
{
    struct stat st;
    if (follow.memory > 0 && fstat(follow.memory, &st) == 0 && st.st_ino == follow.file &&
        fcntl(follow.memory, F_GET_SEALS) >= 0)
        close(follow.memory);
    follow.memory = 0;
}

void weft_record_follow_forked(bool recorded)
{
    /* A child of a process that is due to record but has not begun is due itself. */
    follow.due = *follow.path && (recorded || follow.due);
    *follow.own = 0;
    follow.beginner = 0;
}

void weft_record_follow_parent(void)
{
    if (weft_record_rec.open)
        weft_record_note_once(&follow.noted, "forked");
}

bool weft_record_follow_is_due(void)
{
    return __atomic_load_n(&follow.due, __ATOMIC_RELAXED);
}

void weft_record_follow_drop(void)
{
    __atomic_store_n(&follow.due, 0, __ATOMIC_RELAXED);
}

void weft_record_follow_begin(void)
{
    struct weft_options o = follow.options;
    const bool own = *follow.own;
    __atomic_store_n(&follow.beginner, (pid_t)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    o.path = own ? follow.own : follow.path;
    weft_record_follow_drop();
    close_memory();
    /* If this fails, the process runs on without a recording and reports nothing: it may have closed its standard error
     * and use that descriptor for something else. */
    if (own || __atomic_fetch_add(follow.begun, 1, __ATOMIC_RELAXED) < CHILDREN_MAX)
        weft_record_start_locked(&o, false);
    __atomic_store_n(&follow.beginner, 0, __ATOMIC_SEQ_CST);
}

void weft_record_follow_wait(void)
{
    const pid_t self = (pid_t)syscall(SYS_gettid);
    const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    pid_t beginner;
    while (((beginner = __atomic_load_n(&follow.beginner, __ATOMIC_SEQ_CST)) ||
            (weft_record_follow_is_due() && weft_record_is_locked())) &&
           beginner != self && clock_ns(CLOCK_MONOTONIC) - begin_ns < WAIT_NS)
        sched_yield(); /* not usleep, which an adapter may have replaced */
}
