/* SPDX-License-Identifier: ISC */
/* weft save: makes a consistent copy of a trace that may still be written. read/snapshot.c says how. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/live.h"
#include "cli/names.h"
#include "cli/save.h"
#include "cli/source.h"
#include "cli/xen.h"
#include "watch/pack.h"

/* ---- Shared with save_xen.c ---- */

/* Copies the bytes as they are: a trace without weft's packets, or a copy. */
static int write_bytes(struct cli_copy *c, const struct weft_input *from,
                       struct cli_progress *progress)
{
    char block[65536];
    uint64_t done = 0;
    ptrdiff_t n;
    while ((n = weft_input_read(from, block, sizeof block, done, &c->err)) > 0) {
        if (fwrite(block, 1, (size_t)n, c->out.file) != (size_t)n) {
            n = weft_error_set(&c->err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be written: %s",
                               strerror(errno));
            break;
        }
        done += (uint64_t)n;
        cli_progress_show(progress, (double)done / (double)from->size);
    }
    return (int)n;
}

/* What is not known yet when the copy begins is written at the end. */
bool cli_save_elsewhere(const struct cli_copy *c)
{
    struct stat st;
    const int fd = fileno(c->out.file);
    if (c->request->compress)
        return true;
    const bool can_seek =
        fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && !(fcntl(fd, F_GETFL) & O_APPEND);
    return weft_snapshot_is_live(c->snapshot) && !can_seek;
}

/* Releases disk space that was reserved and not needed; if that fails, the file keeps it. */
static void give_room_back(const struct cli_copy *c)
{
    const int fd = fileno(c->out.file);
    struct stat st;
    if (c->out.temporary && fflush(c->out.file) == 0 && fstat(fd, &st) == 0)
        (void)!ftruncate(fd, st.st_size);
}

/* Adds names of functions to the copy, if it is of a file: a guest has other files than this machine. */
static void add_names(const struct cli_copy *c, const struct weft_input *in, int copy,
                      const char *shown)
{
    struct stat st;
    if (c->snapshot && in && in->fd >= 0 && fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode))
        cli_names_append(copy, st.st_uid, shown);
}

/* Compresses the copy that was made elsewhere, or the bytes as they are. */
static int write_packed(struct cli_copy *c, const struct weft_input *in, const char *shown)
{
    struct stat st;
    if (!c->snapshot)
        return watch_pack(in, fileno(c->out.file), 0, &c->written, &c->err);
    add_names(c, in, c->spooled.fd, shown);
    if (fstat(c->spooled.fd, &st) == 0)
        c->spooled.size = (uint64_t)st.st_size;
    return watch_pack(&c->spooled, fileno(c->out.file), 0, &c->written, &c->err);
}

/* Says what was left out. */
static void tell_part(const struct cli_copy *c)
{
    uint64_t all, left_out;
    if (!c->snapshot || weft_part_is_whole(&cli_part))
        return;
    left_out = weft_snapshot_left_out(c->snapshot, &all);
    cli_say(c->source, "%s of %s left out, since they lie outside of the part",
            weft_count(left_out).text, cli_many(all, "packet").text);
}

int cli_save_write(struct cli_copy *c, const struct weft_input *in)
{
    const char *target = c->request->target;
    const char *shown = strcmp(target, "-") == 0 ? "standard output" : target;
    struct cli_progress progress = cli_progress_begin(c->source);
    int rc;
    c->written = c->snapshot ? weft_snapshot_bytes(c->snapshot) : in->size;
    if (c->request->compress)
        rc = write_packed(c, in, shown);
    else if (c->snapshot && c->spooled.fd < 0)
        rc = weft_snapshot_write(c->snapshot, c->out.file, cli_progress_show, &progress, &c->err);
    else
        rc = write_bytes(c, c->snapshot ? &c->spooled : in, &progress);
    cli_progress_end(&progress);
    if (c->request->follow)
        give_room_back(c);
    if (rc == 0 && !c->request->compress && c->out.temporary && fflush(c->out.file) == 0)
        add_names(c, in, fileno(c->out.file), shown);
    if (c->out.file == stdout && cli_stdout_left()) { /* as if by SIGPIPE */
        cli_output_close(&c->out, target, false);
        return CLI_FAILED;
    }
    bool kept = cli_output_close(&c->out, target, rc == 0);
    if (rc < 0)
        cli_complain(c->err.offset == WEFT_NO_OFFSET ? shown : c->source, &c->err);
    if (rc < 0 || !kept)
        return CLI_FAILED;
    uint64_t gone = c->snapshot ? weft_snapshot_gone(c->snapshot) : 0;
    if (gone)
        cli_say(c->source, "%" PRIu64 " of the oldest packets were overwritten while it was copied",
                gone);
    tell_part(c);
    if (isatty(STDERR_FILENO))
        cli_say(shown, "%" PRIu64 " bytes written", c->written);
    return CLI_DONE;
}

int cli_save_give_up(struct cli_copy *c)
{
    cli_complain(c->source, &c->err);
    cli_output_close(&c->out, c->request->target, false);
    return CLI_FAILED;
}

void cli_save_fini(struct cli_copy *c)
{
    weft_input_close(&c->spooled);
    weft_input_close(&c->still);
    weft_snapshot_free(c->snapshot);
}

/* ---- Files ---- */

static int open_file(struct weft_input *in, const char *name, struct weft_error *err)
{
    const char *path = cli_trace_path(name, err); /* of a core: where its trace is */
    return path ? weft_input_open(in, path, err) : err->code;
}

/* A process id, or the name of a file. */
static bool open_source(struct cli_copy *c, struct weft_input *in, char *path, size_t path_size)
{
    const struct cli_save_request *r = c->request;
    pid_t pid;
    snprintf(path, path_size, "%s", r->source);
    const bool process = cli_live_process(r->source, &pid);
    int rc = process ? cli_live_open(in, pid, path, path_size, &c->err)
                     : open_file(in, r->source, &c->err);
    if (rc < 0 && process && cli_live_records_nothing(pid)) { /* what is seen of it */
        snprintf(path, path_size, "%s", r->source);
        rc = open_file(in, r->source, &c->err);
    }
    if (rc == 0)
        rc = cli_live_check_size(in, r->limit_bytes, &c->err);
    return rc == 0 || cli_complain(r->source, &c->err);
}

/* A part is one of a trace that does not change: of a live one, of a copy. */
static int stand_still(struct cli_copy *c)
{
    if (!weft_snapshot_is_live(c->snapshot))
        return 1;
    int rc = weft_snapshot_to_room(c->snapshot, &c->still, &c->err);
    weft_snapshot_free(c->snapshot);
    c->snapshot = NULL;
    return rc < 0 ? rc : weft_snapshot_begin(&c->snapshot, &c->still, &c->err);
}

/* Leaves out what does not belong to the part. */
static int keep_part(struct cli_copy *c, const struct weft_input *in)
{
    char opened[32];
    struct weft_reader *reader = NULL;
    const struct weft_event *events;
    ptrdiff_t n;
    snprintf(opened, sizeof opened, "/proc/self/fd/%d", in->fd);
    int rc = weft_reader_open_part(&reader, opened, &cli_part, &c->err);
    if (rc == 0 && !weft_part_has_all(&weft_reader_facts(reader)->part)) {
        while ((n = weft_reader_next(reader, &events, &c->err)) > 0)
            ;
        rc = (int)n;
    }
    if (rc == 0)
        rc = weft_snapshot_keep_part(c->snapshot, reader, &c->err);
    weft_reader_close(reader);
    return rc;
}

/* Finds out what is copied. Returns 1; 0 if there is no snapshot, but a copy byte by byte; or a negative WEFT_E code. */
static int find_copy(struct cli_copy *c, const struct weft_input *in)
{
    int rc = weft_snapshot_begin(&c->snapshot, in, &c->err);
    if (weft_part_is_whole(&cli_part))
        return rc;
    if (rc > 0)
        rc = stand_still(c);
    if (rc >= 0)
        rc = keep_part(c, c->still.fd < 0 ? in : &c->still);
    return rc < 0 ? rc : 1;
}

static int copy(struct cli_copy *c, const struct weft_input *in)
{
    char opened[32];
    const char *const sources[] = {strcmp(c->source, "-") == 0 ? c->source : opened};
    struct weft_reader *reader = NULL;
    snprintf(opened, sizeof opened, "/proc/self/fd/%d", in->fd);
    int rc = find_copy(c, in);
    if (rc == 0) { /* of another format, or no trace at all */
        rc = weft_reader_open(&reader, opened, &c->err);
        if (rc == 0)
            weft_reader_close(reader);
    }
    if (rc < 0)
        cli_complain(c->source, &c->err);
    if (rc < 0 || !cli_output_open(&c->out, c->request->target, WEFT_OUTPUT_TRACE, sources, 1))
        return CLI_FAILED;
    if (c->snapshot && cli_save_elsewhere(c) &&
        weft_snapshot_to_room(c->snapshot, &c->spooled, &c->err) < 0)
        return cli_save_give_up(c);
    return cli_save_write(c, in);
}

static int save_file(const struct cli_save_request *r)
{
    char path[PATH_MAX];
    struct weft_input in = {.fd = -1};
    struct cli_copy c = {.request = r,
                         .source = path,
                         .spooled = {.fd = -1},
                         .still = {.fd = -1},
                         .err = {.offset = WEFT_NO_OFFSET}};
    int status = open_source(&c, &in, path, sizeof path) ? copy(&c, &in) : CLI_FAILED;
    weft_input_close(&in);
    cli_save_fini(&c);
    return status;
}

const char *cli_save_part(const char *source)
{
    char path[PATH_MAX], *name = NULL;
    const struct cli_save_request r = {.source = source};
    struct weft_input in = {.fd = -1};
    struct cli_copy c = {.request = &r,
                         .source = path,
                         .spooled = {.fd = -1},
                         .still = {.fd = -1},
                         .err = {.offset = WEFT_NO_OFFSET}};
    if (open_source(&c, &in, path, sizeof path)) {
        int rc = find_copy(&c, &in);
        if (rc > 0)
            rc = weft_snapshot_to_room(c.snapshot, &c.spooled, &c.err);
        if (rc < 0)
            cli_complain(path, &c.err);
        else if (fcntl(c.spooled.fd, F_SETFD, 0) == 0 &&
                 asprintf(&name, "/proc/self/fd/%d", c.spooled.fd) >= 0)
            c.spooled.fd = -1; /* it is open until the process ends */
    }
    weft_input_close(&in);
    cli_save_fini(&c);
    return name;
}

/* ---- The command ---- */

static struct cli_save_request request;

static const struct cli_option options[] = {
    CLI_TEXT("output", request.target, "FILE", "where to write", .letter = 'o',
             .completes = "weft|trace|zst"),
    CLI_FLAG("compress", request.compress,
             "five times smaller, by zstd; every command reads it as it is", .letter = 'z'),
    CLI_PART,
    CLI_FLAG("follow", request.follow,
             "of a Xen domain: waits until it offers a trace, then until it ends, crashes or is "
             "destroyed, or until Ctrl-C; and copies what is there then"),
    CLI_SIZE("limit", request.limit_bytes, "SIZE",
             "the largest trace to copy; of files, also what takes as much on its disk", .least = 1,
             .shown = "1G"),
    CLI_FLAG("json", request.json, "the list as JSON"),
    CLI_END,
};

/* The list of domains. */
static bool is_list(const struct cli_save_request *r)
{
    return strcmp(r->source, "xen:") == 0;
}

static void check(const struct cli_save_request *r)
{
    bool xen = cli_is_xen(r->source);
    if (!xen && r->follow)
        cli_misuse("save", "--follow is for a Xen domain, xen:NAME or xen:NUMBER");
    if (is_list(r) && (r->target || r->follow || r->compress || r->limit_bytes))
        cli_misuse("save",
                   "xen: lists the domains that offer a trace; which of them is %s? "
                   "xen:NAME or xen:NUMBER",
                   r->target     ? "to be saved"
                   : r->follow   ? "to be followed"
                   : r->compress ? "to be compressed"
                                 : "to be limited");
    if (xen && !weft_part_is_whole(&cli_part))
        cli_misuse("save", "a Xen domain's trace is saved whole; parts of that file can be saved");
    if (!is_list(r) && r->json)
        cli_misuse("save", "--json is for the list of domains, weft save xen:");
    if (!is_list(r) && !r->target)
        cli_misuse("save", "-o FILE is missing");
    if (!is_list(r) && strcmp(r->target, "-") == 0 && isatty(STDOUT_FILENO))
        cli_misuse("save", "will not write a trace to a terminal");
}

static int run(int operands, char **operand)
{
    (void)operands;
    const struct cli_save_request *r = &request;
    request.source = *operand;
    check(r);
    if (is_list(r))
        return cli_save_list(r->json);
    return cli_is_xen(*operand) ? cli_save_guest(r) : save_file(r);
}

const struct cli_command cli_save = {
    .name = "save",
    .summary = "copy a trace, also while it is recorded",
    .usage = "[OPTION…] -o FILE SOURCE\n"
             "[--json] xen:",
    .about =
        "Copies a trace, also one that is being recorded: everything up to one moment, without "
        "unused space. SOURCE is a trace file, - for standard input, the id of a process (the "
        "file may have been deleted; if it records nothing, what is seen of it from outside is "
        "saved), or xen:NAME or xen:NUMBER: what that Xen "
        "domain records, also if it has crashed and is still there (on_crash=preserve). If "
        "FILE is -, the copy goes to standard output. xen: alone lists the domains that offer "
        "a trace.\n",
    .options = options,
    .examples = "weft save -o hang.weft 4711\n"
                "weft save --compress -o hang.weft.zst 4711\n"
                "ssh host weft save -o - 4711 | weft info -\n"
                "weft save --follow -o crash.weft xen:web\n"
                "ssh host weft save -o - xen:web | weft view -",
    .missing = "no SOURCE is given: a trace, the id of a process, or xen:DOMAIN",
    .least = 1,
    .most = 1,
    .completes = CLI_TRACES,
    .raw = true,
    .run = run,
    .state = CLI_STATE(request),
};
