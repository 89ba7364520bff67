/* SPDX-License-Identifier: ISC */
#include "output/place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "format/walk.h"
#include "read/alive.h"
#include "read/reader.h"

/* ---- What it is ---- */

enum stands { NO_TRACE, LIVE, TRACE, MIRAGE, SAMPLES };

static bool read_facts(int fd, struct weft_facts_header *facts)
{
    return pread(fd, facts, sizeof *facts, 0) == sizeof *facts && format_is_facts(facts);
}

bool weft_output_is_recorded(int fd, uint32_t *pid)
{
    struct weft_facts_header facts;
    if (!read_facts(fd, &facts))
        return false;
    *pid = facts.pid;
    if (facts.state != WEFT_TRACE_RECORDING)
        return false;
    if (flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return true;
    flock(fd, LOCK_UN);
    return weft_facts_alive(&facts);
}

/* Uses its first bytes only, which works even if nothing else of it can be read. */
static enum stands by_head(int fd)
{
    struct weft_packet_header h = {0};
    static const char perf[] = "PERFILE2";
    ssize_t n = pread(fd, &h, sizeof h, 0);
    if (n >= (ssize_t)strlen(perf) && memcmp(&h, perf, strlen(perf)) == 0)
        return SAMPLES;
    if (n < (ssize_t)sizeof h.magic || h.magic != WEFT_PACKET_MAGIC)
        return NO_TRACE;
    return n == sizeof h && h.signature == WEFT_PACKET_SIGNATURE ? TRACE : MIRAGE;
}

static enum stands what_stands(int fd, uint32_t *pid)
{
    char name[32];
    struct weft_reader *reader;
    struct weft_error err;
    if (weft_output_is_recorded(fd, pid))
        return LIVE;
    enum stands found = by_head(fd);
    if (found != NO_TRACE)
        return found;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (weft_reader_open(&reader, name, &err) <
        0) /* a trace may begin further on: a ring that wrapped around, or a dump */
        return NO_TRACE;
    found = weft_reader_facts(reader)->quirks.mirage_kinds ? MIRAGE : TRACE;
    weft_reader_close(reader);
    return found;
}

/* ---- The rule ---- */

static int stat_source(const char *name, struct stat *st)
{
    return strcmp(name, "-") == 0 ? fstat(STDIN_FILENO, st) : stat(name, st);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool weft_output_is_stdout(const char *source)
{
    struct stat st, out;
    return fstat(STDOUT_FILENO, &out) == 0 && S_ISREG(out.st_mode) &&
           stat_source(source, &st) == 0 && is_same(&st, &out);
}

static int refuse(struct weft_error *err, const char *what)
{
    return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET, "%s", what);
}

int output_place_check(const char *name, const struct stat *st, const struct weft_output_options *o,
                       struct weft_error *err)
{
    struct stat source;
    uint32_t pid = 0;
    for (unsigned i = 0; i < o->sources; i++)
        if (stat_source(o->source[i], &source) == 0 && is_same(&source, st))
            return refuse(err, "is the source itself; give another name");
    if (st->st_size == 0)
        return 0;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "is there, and cannot be read to see whether it is a trace (%s); "
                              "give another name, or remove it first",
                              strerror(errno));
    enum stands found = what_stands(fd, &pid);
    close(fd);
    if (found == LIVE)
        return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                              "is being recorded by process %" PRIu32 "; give another name", pid);
    if (found == NO_TRACE || o->kind == WEFT_OUTPUT_TRACE ||
        (o->kind == WEFT_OUTPUT_MIRAGE && found == MIRAGE))
        return 0;
    return refuse(err,
                  found == SAMPLES
                      ? "is a recording of perf's, which is left alone; give another name, or "
                        "remove it first"
                      : "is a trace, which is left alone; give another name, or remove it first");
}

/* ---- Who may read it ---- */

static bool has_acl(const char *name)
{
    return getxattr(name, "system.posix_acl_access", NULL, 0) > 0;
}

/* The part of a file's mode that still applies if its group is different, or if the group's rights
 * are set elsewhere. */
static mode_t without_group(mode_t mode)
{
    const mode_t all = mode >> 3 & mode & 07;
    return (mode & 0700) | all << 3 | all;
}

mode_t output_place_mode(int fd, const struct stat *before, const struct weft_output_options *o)
{
    const mode_t mask = umask(0);
    char own[32];
    struct stat st;
    mode_t mode = 0666 & ~mask;
    umask(mask);
    snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    if (fstat(fd, &st) < 0)
        return 0600;
    if (has_acl(own))
        mode = without_group(mode & 0606);
    const gid_t group = st.st_gid;
    for (unsigned i = 0; i < o->sources; i++) {
        if (stat_source(o->source[i], &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink == 0)
            return mode & 0600 & (before ? before->st_mode : 0600);
        const char *name = strcmp(o->source[i], "-") == 0 ? "/dev/stdin" : o->source[i];
        mode &=
            0600 | (st.st_gid == group && !has_acl(name) ? st.st_mode : without_group(st.st_mode));
    }
    if (before)
        mode &= before->st_gid == group ? before->st_mode : without_group(before->st_mode);
    return mode;
}
