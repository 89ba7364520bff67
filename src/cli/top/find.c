/* SPDX-License-Identifier: ISC */
/* A process that records has its trace mapped, shared and writable. Its maps are read when its size in memory has changed
 * since, which one line of /proc tells; so a look costs a few system calls for each process. What may be a trace is
 * opened by cli/live.c, which is dear: if it is none, it is tried again at longer and longer intervals, since a recording
 * may just be beginning. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/order.h"
#include "cli/common.h"
#include "cli/top/top.h"
#include "sample/proc.h"

#define SECOND_NS INT64_C(1000000000)

enum {
    WALK_LIMIT = 1 << 17,   /* processes */
    MAPS_LIMIT = 16 << 20,  /* bytes of maps that are read */
    PAUSE_LIMIT = 64,       /* seconds until a process is tested again */
    CHANGE_PAUSE_LIMIT = 8, /* … whose memory changes all the time */
};

/* A process that was tested, and did not record. */
struct tested {
    pid_t pid;
    uint64_t start, bytes; /* as the system says */
    uint64_t candidates;   /* a hash of the mappings that may be traces; 0: none */
    int64_t next_ns;       /* not before */
    uint32_t pause;        /* in seconds */
};

struct top_finder {
    pid_t *only;
    unsigned onlies;
    uid_t user;
    struct tested *tested, *seen; /* by pid: of the last walk, and of this one */
    uint32_t testeds, tested_room, seens, seen_room;
    uint32_t alive; /* of those that were given */
    bool walked;
};

struct top_finder *top_finder_new(const pid_t *pid, unsigned pids, uid_t user)
{
    struct top_finder *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->only = weft_resize(NULL, pids, sizeof *f->only);
    f->user = user;
    if (!f->only) {
        free(f);
        return NULL;
    }
    f->onlies = pids;
    if (pids)
        memcpy(f->only, pid, pids * sizeof *pid);
    return f;
}

void top_finder_user(struct top_finder *f, uid_t user)
{
    f->user = user;
}

void top_finder_free(struct top_finder *f)
{
    if (f)
        weft_free_all(f->only, f->tested, f->seen, f);
}

bool top_finder_done(const struct top_finder *f)
{
    return f->onlies && f->walked && f->alive == 0;
}

/* Reads a file of /proc, up to limit bytes; the result ends with a NUL. NULL: it cannot be read. */
static char *read_file(pid_t pid, const char *name, size_t limit)
{
    char path[64], *text = NULL;
    size_t size = 0, room = 0;
    ssize_t n = 0;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    do {
        if (size + 4096 >= room) {
            char *more = realloc(text, room = room ? 2 * room : 16384);
            if (!more)
                break;
            text = more;
        }
        n = read(fd, text + size, room - size - 1);
        size += n > 0 ? (size_t)n : 0;
    } while (n > 0 && size < limit);
    close(fd);
    if (text)
        text[size] = 0;
    return text;
}

/* The fields 22 and 23 of /proc/PID/stat. False: it has ended. */
static bool read_stat(pid_t pid, uint64_t *start, uint64_t *bytes)
{
    char text[1024];
    sample_line(text, sizeof text, "/proc/%d/stat", (int)pid);
    const char *at = strrchr(text, ')');
    if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
        return false;
    for (unsigned field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    char *end;
    *start = at ? strtoull(at, &end, 10) : 0;
    *bytes = at ? strtoull(end, NULL, 10) : 0;
    return at != NULL;
}

/* Returns true if a line of maps may be a trace. */
static bool may_be(const char *line, size_t size)
{
    const char *mode = memchr(line, ' ', size), *end = line + size;
    if (!mode || end - mode < 5 || mode[2] != 'w' || mode[4] != 's')
        return false;
    const char *path = memchr(mode, '/', (size_t)(end - mode));
    const size_t n = path ? (size_t)(end - path) : 0;
#define BEGINS(text) (n >= sizeof(text) - 1 && memcmp(path, text, sizeof(text) - 1) == 0)
    return n && (!BEGINS("/dev/") || BEGINS("/dev/shm/")) && !BEGINS("/SYSV") &&
           (!BEGINS("/memfd:") || BEGINS("/memfd:weft"));
#undef BEGINS
}

/* A hash of the lines that may be traces; 0: there are none. */
static uint64_t candidates_of(pid_t pid)
{
    char *maps = read_file(pid, "maps", MAPS_LIMIT);
    uint64_t hash = 0;
    for (const char *line = maps, *end; line && *line; line = *end ? end + 1 : end) {
        end = strchrnul(line, '\n');
        if (!may_be(line, (size_t)(end - line)))
            continue;
        hash = weft_hash(hash ? hash : WEFT_HASH_BEGIN, line, (size_t)(end - line)) | 1;
    }
    free(maps);
    return hash;
}

static const struct tested *tested_of(const struct top_finder *f, pid_t pid, uint64_t start)
{
    uint32_t low = 0, high = f->testeds;
    WEFT_SEEK(low, high, f->tested[middle].pid < pid);
    return low < f->testeds && f->tested[low].pid == pid && f->tested[low].start == start
               ? &f->tested[low]
               : NULL;
}

static void later(struct tested *t, int64_t now_ns, uint32_t limit)
{
    t->pause = t->pause ? 2 * t->pause : 1;
    t->pause = t->pause < limit ? t->pause : limit;
    t->next_ns = now_ns + t->pause * SECOND_NS;
}

struct walk {
    struct top_finder *f;
    top_known_fn *known;
    top_found_fn *found;
    void *data;
    int64_t now_ns;
};

/* Tests a process, and remembers what came of it. given: by the user, so that it is opened in any case: what is wrong
 * with it has to be said. */
static void test(const struct walk *w, pid_t pid, uid_t user, bool given)
{
    struct top_finder *f = w->f;
    struct tested now = {.pid = pid};
    if (!read_stat(pid, &now.start, &now.bytes))
        return;
    f->alive += given;
    if (w->known(w->data, pid, now.start))
        return;
    const uint64_t bytes = now.bytes;
    const struct tested *old = tested_of(f, pid, now.start);
    if (old)
        now = *old;
    const bool changed = !old || old->bytes != bytes;
    if (w->now_ns >= now.next_ns && (changed || now.candidates || given)) {
        const uint64_t before = now.candidates;
        if (changed)
            now.candidates = candidates_of(pid);
        now.bytes = bytes;
        if (now.candidates != before)
            now.pause = 0;
        if ((now.candidates || given) && w->found(w->data, pid, now.start, user))
            return;
        later(&now, w->now_ns, now.candidates ? PAUSE_LIMIT : CHANGE_PAUSE_LIMIT);
    }
    if (weft_reserve(&f->seen, f->seens, &f->seen_room, sizeof *f->seen))
        f->seen[f->seens++] = now;
}

static int by_pid(const void *a, const void *b)
{
    const struct tested *x = a, *y = b;
    return weft_order(x->pid, y->pid);
}

static void walk_all(const struct walk *w)
{
    DIR *dir = opendir("/proc");
    const struct dirent *entry;
    for (unsigned i = 0; dir && i < WALK_LIMIT && (entry = readdir(dir)); i++) {
        uint64_t pid;
        struct stat st;
        if (!weft_parse_count(entry->d_name, INT_MAX, &pid) || (pid_t)pid == getpid() ||
            fstatat(dirfd(dir), entry->d_name, &st, 0) < 0 ||
            (geteuid() != 0 && st.st_uid != geteuid()) ||
            (w->f->user != (uid_t)-1 && st.st_uid != w->f->user))
            continue;
        test(w, (pid_t)pid, st.st_uid, false);
    }
    if (dir)
        closedir(dir);
}

void top_find(struct top_finder *f, top_known_fn *known, top_found_fn *found, void *data)
{
    const struct walk w = {f, known, found, data, weft_monotonic_ns()};
    f->seens = 0;
    f->alive = 0;
    for (unsigned i = 0; i < f->onlies; i++) {
        char path[32];
        struct stat st;
        snprintf(path, sizeof path, "/proc/%d", (int)f->only[i]);
        if (stat(path, &st) == 0)
            test(&w, f->only[i], st.st_uid, true);
    }
    if (!f->onlies)
        walk_all(&w);
    weft_sort(f->seen, f->seens, sizeof *f->seen, by_pid);
    struct tested *old = f->tested;
    const uint32_t room = f->tested_room;
    f->tested = f->seen;
    f->testeds = f->seens;
    f->tested_room = f->seen_room;
    f->seen = old;
    f->seen_room = room;
    f->walked = true;
}
