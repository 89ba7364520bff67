/* SPDX-License-Identifier: ISC */
/* A trace in a mapped file is in a core only if the shared mappings of files were dumped, which is not the default of Linux;
 * but the core names the files that were mapped (NT_FILE). Which of them is the trace is said by the recorder's control
 * structure (record/control.h), in memory that is always dumped. */
#include "cli/core.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/duration.h"
#include "cli/common.h"
#include "format/utf8.h"
#include "format/walk.h"
#include "read/alive.h"
#include "read/input.h"
#include "record/control.h"
#include "symbols/regular.h"
#include "symbols/worker.h"

enum {
    WINDOW = 64 << 10,
    TRACES_MAX = 8,        /* copies of libweft in one process */
    TRIES = 4096,          /* files that are opened */
    SLACK_NS = 2000000000, /* between the clock and the times of files */
};

struct weft_core *cli_core_open(const char *path)
{
    struct weft_core *core = NULL;
    struct stat st;
    if (strcmp(path, "-") == 0 || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0)
        weft_core_open(&core, fd);
    cli_close(fd);
    return core;
}

/* ---- Where the recorder had its trace ---- */

struct traces {
    uint64_t at[TRACES_MAX]; /* addresses */
    unsigned count;
};

static void take_control(const struct weft_core *core, uint64_t at, struct traces *t)
{
    struct weft_record_control c = {.version = 0};
    const size_t bytes = offsetof(struct weft_record_control, answer);
    if (weft_core_read(core, at, &c, bytes) != bytes || (uintptr_t)c.self != at || !c.facts ||
        t->count == TRACES_MAX)
        return;
    t->at[t->count++] = (uintptr_t)c.facts;
}

/* Parts of the file of a malicious core may overlap: no more is read than the file has. */
static void find_traces(const struct weft_core *core, struct traces *t)
{
    static const char magic[8] = WEFT_RECORD_CONTROL_MAGIC;
    char *block = malloc(WINDOW);
    uint64_t left = core->size;
    *t = (struct traces){.count = 0};
    for (uint32_t i = 0; block && i < core->parts; i++) {
        const struct weft_core_part *p = &core->part[i];
        if (!p->writable)
            continue;
        for (uint64_t done = 0; done < p->bytes && left; done += WINDOW) {
            const size_t n = weft_core_read(core, p->start + done, block, WINDOW);
            left -= n < left ? n : left;
            for (size_t k = 0; k + sizeof magic <= n; k += sizeof magic)
                if (memcmp(block + k, magic, sizeof magic) == 0)
                    take_control(core, p->start + done + k, t);
        }
    }
    free(block);
}

/* ---- Files that the core names ---- */

/* Why there is none, the most telling last. */
enum why { NONE, GONE, REFUSED, NO_TRACE, LATER, OTHER, MEMORY, LATE, FOUND };

struct found {
    enum why why;
    int error;        /* of GONE and REFUSED */
    uint32_t process; /* of OTHER */
    char path[PATH_MAX];
};

struct search {
    const struct weft_core *core;
    const struct traces *traces;
    struct found found;
    int fd;
    unsigned tries;
};

static void fail(struct search *s, enum why why, const char *path)
{
    if (why <= s->found.why)
        return;
    s->found.why = why;
    snprintf(s->found.path, sizeof s->found.path, "%s", path);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t size = strlen(text), n = strlen(end);
    return size >= n && strcmp(text + size - n, end) == 0;
}

/* certain: the recorder had its trace there. */
static void try_file(struct search *s, const char *path, bool certain)
{
    struct weft_facts_header facts;
    const uint64_t latest_ns = (uint64_t)s->core->written_ns + SLACK_NS;
    if (path[0] != '/' || s->tries++ >= TRIES)
        return;
    if (ends_with(path, " (deleted)")) {
        if (certain)
            fail(s, strncmp(path, "/memfd:", 7) == 0 ? MEMORY : GONE, path);
        return;
    }
    const int fd = symbols_regular_open(NULL, path), error = errno;
    if (fd < 0) {
        if (certain)
            fail(s,
                 error == ENOENT || error == ENOTDIR ? GONE
                 : error == EINVAL || error == ELOOP ? NO_TRACE
                                                     : REFUSED,
                 path);
        s->found.error = certain ? error : s->found.error;
    } else if (!weft_facts_read(fd, &facts)) {
        if (certain)
            fail(s, NO_TRACE, path);
    } else if (s->core->process && facts.pid != s->core->process) {
        if (certain || s->found.why < OTHER)
            s->found.process = facts.pid;
        fail(s, OTHER, path);
    } else if (facts.start_real_ns > latest_ns) {
        fail(s, LATER, path);
    } else {
        fail(s, FOUND, path);
        s->fd = fd;
        return;
    }
    cli_close(fd);
}

/* weft record and weft sample keep a trace that was there as FILE.old. */
static void try_old(struct search *s, const char *path)
{
    char old[PATH_MAX];
    const struct found before = s->found;
    if ((size_t)snprintf(old, sizeof old, "%s.old", path) < sizeof old)
        try_file(s, old, false);
    if (s->fd < 0)
        s->found = before;
}

/* What the recorder says; if nothing does, any file that was mapped from its beginning. */
static void find_trace(struct search *s)
{
    const struct weft_core *c = s->core;
    s->fd = -1;
    for (unsigned i = 0; i < s->traces->count && s->fd < 0; i++) {
        const struct weft_core_file *f = weft_core_file_at(c, s->traces->at[i]);
        if (f)
            try_file(s, f->path, true);
        if (f && s->fd < 0)
            try_old(s, f->path);
    }
    for (uint32_t i = 0; i < c->files && s->fd < 0 && !s->traces->count; i++) {
        const struct weft_core_file *f = &c->file[i];
        char magic[4];
        if (f->offset == 0 && (weft_core_read(c, f->start, magic, sizeof magic) < sizeof magic ||
                               memcmp(magic, "\177ELF", sizeof magic) != 0))
            try_file(s, f->path, false);
    }
}

static void look_aside(int fd, void *data)
{
    struct search *s = data;
    struct weft_core core = *s->core;
    core.fd = SYMBOLS_WORKER_FILES;
    s->core = &core;
    find_trace(s);
    if (symbols_worker_put(fd, &s->found, sizeof s->found))
        symbols_file_send(fd, s->fd, s->fd < 0);
}

/* In a process that may be left hanging: a file system need not answer. */
static int find_named(struct search *s)
{
    const struct symbols_worker_options o = {.aside = true, .keep = {s->core->fd, -1}};
    struct symbols_worker aside;
    int none, fd = -1;
    if (symbols_worker_start(&aside, &o, look_aside, s) < 0 ||
        !symbols_worker_answers(&aside, &s->found, sizeof s->found))
        s->found = (struct found){.why = LATE};
    else
        fd = symbols_file_receive(aside.fd, &none);
    symbols_worker_stop(&aside);
    return fd;
}

/* ---- Why there is none ---- */

static int say(const struct search *s, struct weft_error *err)
{
    static const char *const dump = "; with 0x3b in /proc/PID/coredump_filter the kernel "
                                    "dumps such files, too";
    const struct found *f = &s->found;
    char path[128];
    const size_t whole = strlen(f->path), cut = whole > 80 ? whole - 80 : 0;
    snprintf(path, sizeof path, "%s%s", cut ? "…" : "", f->path + cut);
    switch (f->why) {
    case GONE:
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "is a core without the trace, which was in %s, but that is gone%s",
                              path, dump);
    case REFUSED:
        return weft_error_set(
            err, WEFT_E_IO, WEFT_NO_OFFSET,
            "is a core without the trace, which is in %s, but that cannot be opened: %s", path,
            strerror(f->error));
    case NO_TRACE:
        return weft_error_set(
            err, WEFT_E_IO, WEFT_NO_OFFSET,
            "is a core without the trace, which was in %s, but that is something else now%s", path,
            dump);
    case OTHER:
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "is a core of process %" PRIu32 ", whose trace is not in it; %s has "
                              "that of process %" PRIu32 " now; %%p in its name keeps them apart",
                              s->core->process, path, f->process);
    case LATER:
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "is a core without the trace, and that in %s was begun later, by "
                              "another process; %%p in its name keeps them apart",
                              path);
    case MEMORY:
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "is a core of a process that recorded into shared memory, which was "
                              "not dumped; set bit "
                              "1 of /proc/PID/coredump_filter, or record into a file");
    case LATE:
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "is a core that names files of a file system that does not answer");
    default:
        break;
    }
    return weft_error_set(
        err, WEFT_E_FORMAT, WEFT_NO_OFFSET, "%s",
        s->core->cut ? "is a core file that ends too early, with no trace in what is there"
                     : "is a core file of a process that recorded no trace, or into a file "
                       "that the core does not name");
}

int cli_core_trace(const struct weft_core *core, const char *path, struct weft_error *err)
{
    struct weft_input in;
    struct weft_facts_header facts;
    struct traces traces;
    const int rc = weft_input_open(&in, path, err);
    if (rc == WEFT_E_NOMEM || rc == WEFT_E_IO)
        return -1;
    if (rc == 0 && weft_facts_read(in.fd, &facts) && (!core->process || facts.pid == core->process))
        return in.fd;
    find_traces(core, &traces);
    struct search s = {.core = core, .traces = &traces};
    const int fd = find_named(&s);
    if (fd >= 0 || rc < 0) {
        weft_input_close(&in);
        return fd >= 0 ? fd : (say(&s, err), -1);
    }
    return in.fd;
}
