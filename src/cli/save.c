/* SPDX-License-Identifier: ISC */
/* weft save: a consistent copy of a trace that may be written to meanwhile.
 * read/snapshot.c says how. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/live.h"
#include "read/snapshot.h"

static const char help[] =
    "usage: weft save -o FILE SOURCE\n\n"
    "Copies a trace, also one that is being recorded: everything up to one moment, without unused\n"
    "space. SOURCE is a trace file, - for standard input, or the id of a process that records "
    "(the\n"
    "file may have been deleted). If FILE is -, the copy goes to standard output.\n\n"
    "  -o, --output FILE  where to write\n"
    "      --help         this text\n\n"
    "Examples: weft save -o hang.weft 4711\n"
    "          ssh host weft save -o - 4711 | weft info -\n";

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    WEFT__HELP_OPTION,
    {0},
};

struct copy {
    struct weft_input in;
    const char *name;
    FILE *out;
    struct weft_snapshot *snapshot; /* NULL: in is no trace of weft's own */
    struct weft_input memory;       /* the copy, if it was made there */
    struct weft_error err;
};

/* As it is: a trace without packets of weft's, or a copy. */
static int copy_bytes(struct copy *c, const struct weft_input *from)
{
    char block[65536];
    struct weft__progress progress = weft__progress_begin(c->name);
    uint64_t done = 0;
    ptrdiff_t n;
    while ((n = weft_input_read(from, block, sizeof block, done, &c->err)) > 0) {
        if (fwrite(block, 1, (size_t)n, c->out) != (size_t)n) {
            n = weft_error_set(&c->err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be written: %s",
                               strerror(errno));
            break;
        }
        done += (uint64_t)n;
        weft__progress_show(&progress, (double)done / (double)from->size);
    }
    weft__progress_end(&progress);
    return (int)n;
}

/* ---- The command ---- */

/* The source and the target are one file, or somebody records into the target. */
static bool would_destroy(const struct copy *c, const char *target)
{
    struct stat from, to;
    struct weft_facts_header facts;
    int fd = strcmp(target, "-") == 0 ? -1 : open(target, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool same = fstat(c->in.fd, &from) == 0 && fstat(fd, &to) == 0 && from.st_ino == to.st_ino &&
                from.st_dev == to.st_dev;
    bool live = weft__facts_read(fd, &facts) && weft__facts_live(&facts);
    close(fd);
    if (same)
        weft__say(target, "is the source itself; give another name");
    else if (live)
        weft__say(target, "is being recorded by process %" PRIu32 "; give another name", facts.pid);
    return same || live;
}

/* Whether there is a trace in it; else says what it is. */
static bool is_other_trace(struct copy *c, const char *source)
{
    struct weft_reader *reader;
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", c->in.fd);
    if (weft_reader_open(&reader, name, &c->err) < 0) {
        weft__complain(source, &c->err);
        return false;
    }
    weft_reader_close(reader);
    return true;
}

static int copy_packets(struct copy *c)
{
    struct weft__progress progress = weft__progress_begin(c->name);
    int rc = weft_snapshot_write(c->snapshot, c->out, weft__progress_show, &progress, &c->err);
    weft__progress_end(&progress);
    return rc;
}

/* Finds what is to be copied. Of a trace that is recorded makes the copy in memory, at once: the target may be
 * slow, and packets are overwritten meanwhile. Returns as weft_snapshot_begin. */
static int begin_copy(struct copy *c)
{
    int rc = weft_snapshot_begin(&c->snapshot, &c->in, &c->err);
    if (rc > 0 && weft_snapshot_is_live(c->snapshot)) {
        int made = weft_snapshot_to_memory(c->snapshot, &c->memory, &c->err);
        rc = made < 0 ? made : rc;
    }
    return rc;
}

static int write_copy(struct copy *c, const char *source, const char *target)
{
    struct weft__output out;
    int rc = begin_copy(c);
    if (rc < 0)
        weft__complain(source, &c->err);
    if (rc < 0 || (rc == 0 && !is_other_trace(c, source)) || would_destroy(c, target) ||
        !weft__output_open(&out, target))
        return WEFT__FAILED;
    c->out = out.file;
    if (out.temporary)
        fchmod(fileno(out.file), 0600); /* as the recorder does it */
    if (c->memory.fd >= 0)
        rc = copy_bytes(c, &c->memory);
    else
        rc = rc ? copy_packets(c) : copy_bytes(c, &c->in);
    if (out.file == stdout && weft__stdout_left())
        rc = 0;
    bool kept = weft__output_close(&out, rc == 0);
    const char *shown = strcmp(target, "-") == 0 ? "standard output" : target;
    if (rc < 0)
        weft__complain(c->err.offset == WEFT_NO_OFFSET ? shown : source, &c->err);
    if (rc < 0 || !kept)
        return WEFT__FAILED;
    uint64_t gone = c->snapshot ? weft_snapshot_gone(c->snapshot) : 0;
    if (gone)
        weft__say(source, "%" PRIu64 " of the oldest packets were overwritten while it was copied",
                  gone);
    if (isatty(STDERR_FILENO))
        weft__say(shown, "%" PRIu64 " bytes written",
                  c->snapshot ? weft_snapshot_bytes(c->snapshot) : c->in.size);
    return WEFT__DONE;
}

/* A process id, or the name of a file. */
static bool open_source(struct copy *c, const char *source, char *path, size_t path_size)
{
    uint64_t pid;
    snprintf(path, path_size, "%s", source);
    if (!weft__parse_number(source, INT_MAX, &pid) || pid == 0) {
        if (weft_input_open(&c->in, source, &c->err) == 0)
            return true;
        weft__complain(source, &c->err);
        return false;
    }
    int fd = weft__live_open((pid_t)pid, path, path_size);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return false;
    c->in = (struct weft_input){.fd = fd, .size = (uint64_t)st.st_size};
    return true;
}

static int run(int argc, char **argv)
{
    const char *target = NULL;
    int o;
    while ((o = weft__option(&weft__save, argc, argv, ":o:", options)) != -1)
        if (o == 'o')
            target = optarg;
    if (!target)
        weft__misuse("save", "-o FILE is missing");
    if (optind >= argc)
        weft__misuse("save", "no SOURCE is given: a trace, or the id of a process");
    if (strcmp(target, "-") == 0 && isatty(STDOUT_FILENO))
        weft__misuse("save", "will not write a trace to a terminal");
    char path[PATH_MAX];
    struct copy copy = {
        .in = {.fd = -1}, .name = path, .memory = {.fd = -1}, .err = {.offset = WEFT_NO_OFFSET}};
    const char *source = weft__one_file(&weft__save, argc, argv);
    int status = WEFT__FAILED;
    if (open_source(&copy, source, path, sizeof path))
        status = write_copy(&copy, path, target);
    weft_input_close(&copy.in);
    weft_input_close(&copy.memory);
    weft_snapshot_free(copy.snapshot);
    return status;
}

const struct weft__command weft__save = {"save", "copy a trace, also while it is recorded", help,
                                         run};
