/* SPDX-License-Identifier: ISC */
#include "cli/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/core.h"
#include "cli/live.h"
#include "cli/memory.h"
#include "cli/xen.h"
#include "now/trace.h"
#include "output/output.h"
#include "read/snapshot.h"

#define NAME_MAX_BYTES 200 /* the system takes at most 249 */

/* A finished copy. */
struct kept {
    struct kept *next;
    char *name;
    char path[32];
};

static struct kept *all_kept;

static int fill(int fd, struct cli_guest *g, struct weft_error *err)
{
    struct weft_snapshot *s = NULL;
    int rc = weft_snapshot_begin(&s, &g->in, err);
    if (rc == 0)
        rc = cli_guest_no_trace(g, err);
    if (rc > 0)
        rc = weft_snapshot_to_fd(s, fd, err);
    weft_snapshot_free(s);
    return rc;
}

/* Maps the trace if there is enough memory for a copy of it. */
static int open_guest(struct cli_guest *g, const struct weft_xen *xen, const char *name,
                      uint64_t available, struct weft_error *err)
{
    char advice[160];
    uint64_t limit = available / 2 < WEFT_XEN_BYTES_MAX ? available / 2 : WEFT_XEN_BYTES_MAX;
    int rc = cli_guest_open(g, xen, name, limit, err);
    if (rc == WEFT_E_LIMIT) {
        snprintf(advice, sizeof advice,
                 "a copy in memory may take half of what is free; weft save -o FILE %.60s needs "
                 "little",
                 name);
        cli_advise(err, advice);
    }
    return rc;
}

/* Returns a descriptor of the copy, or a negative WEFT_E code. */
static int copy_guest(const char *name, struct weft_error *err)
{
    struct weft_xen xen;
    struct cli_guest g;
    char title[NAME_MAX_BYTES];
    uint64_t available = cli_memory_available();
    int rc = cli_xen_connect(&xen, err), fd = -1;
    if (rc < 0)
        return rc;
    rc = open_guest(&g, &xen, name, available, err);
    snprintf(title, sizeof title, "%s", name); /* the window takes its title from there */
    if (rc == 0 && (fd = memfd_create(title, MFD_CLOEXEC)) < 0)
        rc = weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "no room to hold it: %s",
                            strerror(errno));
    if (rc == 0) {
        struct rlimit before = cli_memory_confine(2 * g.in.size + CLI_MEMORY_SLACK);
        rc = fill(fd, &g, err);
        cli_memory_release(&before);
    }
    cli_guest_close(&g);
    cli_xen_disconnect(&xen);
    if (rc < 0 && fd >= 0)
        close(fd);
    return rc < 0 ? rc : fd;
}

/* Ends what weft_snapshot_begin(&s, in) has begun, if rc, which it returned, is 1: copies it. title: into memory, for the
 * window; or NULL. Returns the same as copy_guest. */
static int end_copy(struct weft_snapshot *s, struct weft_input *in, int rc, const char *title,
                    struct weft_error *err)
{
    int fd = -1;
    if (rc > 0) {
        fd = title ? memfd_create(title, MFD_CLOEXEC) : weft_snapshot_room(err);
        rc = weft_snapshot_to_fd(s, fd, err);
    }
    weft_snapshot_free(s);
    weft_input_close(in);
    if (rc < 0)
        cli_close(fd);
    return rc < 0 ? rc : fd;
}

/* A process or core that records nothing is looked at from outside; n: what was seen. Returns the same as copy_guest. */
static int make_trace(const struct now *n, const char *title, struct weft_error *err)
{
    struct weft_snapshot *s = NULL;
    struct weft_input in = {.fd = memfd_create("weft-now", MFD_CLOEXEC)};
    struct stat st;
    int rc = in.fd < 0 ? weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "no room to hold it: %s",
                                        strerror(errno))
                       : now_trace(n, in.fd, err);
    if (rc == 0 && fstat(in.fd, &st) == 0) {
        in.size = (uint64_t)st.st_size;
        rc = weft_snapshot_begin(&s, &in, err);
    }
    return end_copy(s, &in, rc, title, err); /* without what it does not use of its room */
}

static int look_at(pid_t pid, const char *title, struct weft_error *err)
{
    char name[16];
    struct now *n = NULL;
    int fd = now_open(&n, pid, err);
    if (fd == 0)
        fd = make_trace(n, title, err);
    now_free(n);
    snprintf(name, sizeof name, "%d", (int)pid);
    if (fd >= 0)
        cli_say(
            name,
            "records nothing: this is what it waits for now, seen from outside; weft explain %d "
            "says more",
            (int)pid);
    return fd;
}

/* Copies what the process has recorded so far, or what is seen of it. titled: in memory, for the window. Returns the same. */
static int copy_process(pid_t pid, bool titled, struct weft_error *err)
{
    char title[32], path[PATH_MAX];
    struct weft_snapshot *s = NULL;
    struct weft_input in;
    int rc = cli_live_open(&in, pid, path, sizeof path, err);
    snprintf(title, sizeof title, "process %d", (int)pid);
    if (rc < 0 && cli_live_records_nothing(pid))
        return look_at(pid, titled ? title : NULL, err);
    if (rc == 0)
        rc = cli_live_check_size(&in, 0, err);
    if (rc == 0 && (rc = weft_snapshot_begin(&s, &in, err)) == 0) /* it has just started or ended */
        rc = weft_error_set(err, WEFT_E_FORMAT, WEFT_NO_OFFSET, "process %d has no trace any more",
                            (int)pid);
    return end_copy(s, &in, rc, titled ? title : NULL, err);
}

static const char *keep_open(const char *name, int fd, struct weft_error *err)
{
    struct kept *k = malloc(sizeof *k);
    char *copy = k ? strdup(name) : NULL;
    if (!copy) {
        free(k);
        close(fd);
        weft_no_memory(err);
        return NULL;
    }
    *k = (struct kept){.next = all_kept, .name = copy};
    snprintf(k->path, sizeof k->path, "/proc/self/fd/%d", fd);
    all_kept = k;
    return k->path;
}

static bool is_file(const char *name)
{
    pid_t pid;
    return !cli_is_xen(name) && !cli_live_process(name, &pid);
}

const char *cli_trace_found(const char *name)
{
    const struct kept *k = all_kept;
    while (k && strcmp(k->name, name) != 0)
        k = k->next;
    return k ? k->path : NULL;
}

/* What a core has of the threads, if it has no trace, for the reason *err. */
static int look_at_core(const struct weft_core *core, const char *name, struct weft_error *err)
{
    const struct weft_error why = *err;
    struct now *n = NULL;
    int fd = -1;
    if (core->threads && now_open_core(&n, core, err) == 0) {
        now_remark(n, "%s %s", name, why.text);
        fd = make_trace(n, NULL, err);
    }
    now_free(n);
    if (fd < 0)
        *err = why;
    else
        cli_say(name, "%s; this is what its threads waited for then", why.text);
    return fd;
}

/* A core may only name the file that has the trace. Any other file is opened by its name. recorded: nothing is looked at
 * instead. */
static const char *find_file(const char *name, bool recorded, struct weft_error *err)
{
    const char *path = cli_trace_found(name);
    struct weft_core *core = path ? NULL : cli_core_open(name);
    if (!core)
        return path ? path : name;
    int fd = cli_core_trace(core, name, err);
    if (fd < 0 && !recorded)
        fd = look_at_core(core, name, err);
    weft_core_close(core);
    return fd < 0 ? NULL : keep_open(name, fd, err);
}

/* titled: for the window, a program of its own. */
static const char *find_or_copy(const char *name, bool titled, struct weft_error *err)
{
    const char *known = cli_trace_found(name);
    if (known)
        return known;
    pid_t pid;
    const bool xen = cli_is_xen(name);
    int fd = !xen && cli_live_process(name, &pid) ? copy_process(pid, titled, err)
                                                  : copy_guest(name, err);
    const char *path = fd < 0 ? NULL : keep_open(name, fd, err);
    if (path && xen && !titled) /* a hostile trace must not bring down the whole control domain */
        cli_memory_confine(cli_memory_available());
    return path;
}

const char *cli_trace_path(const char *name, struct weft_error *err)
{
    if (weft_output_is_stdout(name)) {
        weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                       "is also what standard output goes to; let it go to another file");
        return NULL;
    }
    return is_file(name) ? find_file(name, false, err) : find_or_copy(name, false, err);
}

const char *cli_trace_recorded(const char *name, struct weft_error *err)
{
    return find_file(name, true, err);
}

const char *cli_trace_path_for_exec(const char *name, struct weft_error *err)
{
    int fd;
    const char *path = is_file(name) ? find_file(name, false, err) : find_or_copy(name, true, err);
    if (path && sscanf(path, "/proc/self/fd/%d", &fd) == 1)
        fcntl(fd, F_SETFD, 0);
    return path;
}
