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
#include "cli/save.h"
#include "cli/xen.h"

struct copy {
    struct weft_input in;
    const char *name;
    struct weft_snapshot *snapshot; /* NULL: `in` is not in weft's own format */
    struct weft_input spooled;      /* the copy, if it was made elsewhere first */
    struct weft_error err;
};

/* ---- Shared with save_xen.c ---- */

/* Copies the bytes as they are: a trace without weft's packets, or a copy. */
int cli_save_bytes(FILE *out, const struct weft_input *from, const char *name,
                   struct weft_error *err)
{
    char block[65536];
    struct cli_progress progress = cli_progress_begin(name);
    uint64_t done = 0;
    ptrdiff_t n;
    while ((n = weft_input_read(from, block, sizeof block, done, err)) > 0) {
        if (fwrite(block, 1, (size_t)n, out) != (size_t)n) {
            n = weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be written: %s",
                               strerror(errno));
            break;
        }
        done += (uint64_t)n;
        cli_progress_show(&progress, (double)done / (double)from->size);
    }
    cli_progress_end(&progress);
    return (int)n;
}

int cli_save_packets(FILE *out, struct weft_snapshot *s, const char *name, struct weft_error *err)
{
    struct cli_progress progress = cli_progress_begin(name);
    int rc = weft_snapshot_write(s, out, cli_progress_show, &progress, err);
    cli_progress_end(&progress);
    return rc;
}

static const char *shown_target(const char *target)
{
    return strcmp(target, "-") == 0 ? "standard output" : target;
}

int cli_save_end(struct weft_output *out, const char *source, const char *target, int rc,
                 struct weft_error *err)
{
    if (out->file == stdout && cli_stdout_left()) { /* as if by SIGPIPE */
        cli_output_close(out, target, false);
        return CLI_FAILED;
    }
    bool kept = cli_output_close(out, target, rc == 0);
    if (rc < 0)
        cli_complain(err->offset == WEFT_NO_OFFSET ? shown_target(target) : source, err);
    return rc == 0 && kept ? CLI_DONE : CLI_FAILED;
}

void cli_save_report(const char *source, const char *target, uint64_t gone, uint64_t bytes)
{
    if (gone)
        cli_say(source, "%" PRIu64 " of the oldest packets were overwritten while it was copied",
                gone);
    if (isatty(STDERR_FILENO))
        cli_say(shown_target(target), "%" PRIu64 " bytes written", bytes);
}

/* ---- Files ---- */

/* Returns true if it contains a trace; otherwise prints what it is. */
static bool is_other_trace(struct copy *c, const char *source)
{
    struct weft_reader *reader;
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", c->in.fd);
    if (weft_reader_open(&reader, name, &c->err) < 0) {
        cli_complain(source, &c->err);
        return false;
    }
    weft_reader_close(reader);
    return true;
}

bool cli_save_can_seek(FILE *file)
{
    struct stat st;
    int fd = fileno(file);
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && !(fcntl(fd, F_GETFL) & O_APPEND);
}

/* A pipe or a device may be slow, and meanwhile the packets of a trace that is being recorded are overwritten. So the
 * copy is made in a file first. */
static int write_packets(struct copy *c, FILE *out)
{
    if (!weft_snapshot_is_live(c->snapshot) || cli_save_can_seek(out))
        return cli_save_packets(out, c->snapshot, c->name, &c->err);
    int rc = weft_snapshot_to_room(c->snapshot, &c->spooled, &c->err);
    return rc < 0 ? rc : cli_save_bytes(out, &c->spooled, c->name, &c->err);
}

static int write_copy(struct copy *c, const char *source, const char *target)
{
    struct weft_output out;
    char opened[32];
    const char *const sources[] = {strcmp(source, "-") == 0 ? source : opened};
    snprintf(opened, sizeof opened, "/proc/self/fd/%d", c->in.fd);
    int rc = weft_snapshot_begin(&c->snapshot, &c->in, &c->err);
    if (rc < 0)
        cli_complain(source, &c->err);
    if (rc < 0 || (rc == 0 && !is_other_trace(c, source)) ||
        !cli_output_open(&out, target, WEFT_OUTPUT_TRACE, sources, 1))
        return CLI_FAILED;
    rc = rc > 0 ? write_packets(c, out.file) : cli_save_bytes(out.file, &c->in, c->name, &c->err);
    int status = cli_save_end(&out, source, target, rc, &c->err);
    if (status == CLI_DONE)
        cli_save_report(source, target, c->snapshot ? weft_snapshot_gone(c->snapshot) : 0,
                        c->snapshot ? weft_snapshot_bytes(c->snapshot) : c->in.size);
    return status;
}

/* A process id, or the name of a file. */
static bool open_source(struct copy *c, const struct cli_save_request *r, char *path,
                        size_t path_size)
{
    pid_t pid;
    snprintf(path, path_size, "%s", r->source);
    int rc = cli_live_process(r->source, &pid)
                 ? cli_live_open(&c->in, pid, path, path_size, &c->err)
                 : weft_input_open(&c->in, r->source, &c->err);
    if (rc == 0)
        rc = cli_live_check_size(&c->in, r->limit_bytes, &c->err);
    if (rc < 0)
        cli_complain(r->source, &c->err);
    return rc == 0;
}

static int save_file(const struct cli_save_request *r)
{
    char path[PATH_MAX];
    struct copy copy = {
        .in = {.fd = -1}, .name = path, .spooled = {.fd = -1}, .err = {.offset = WEFT_NO_OFFSET}};
    int status = CLI_FAILED;
    if (open_source(&copy, r, path, sizeof path))
        status = write_copy(&copy, path, r->target);
    weft_input_close(&copy.in);
    weft_input_close(&copy.spooled);
    weft_snapshot_free(copy.snapshot);
    return status;
}

/* ---- The command ---- */

struct given {
    struct cli_save_request request;
    bool json;
};

static struct given given;

static const struct cli_option options[] = {
    CLI_TEXT("output", given.request.target, "FILE", "where to write", .letter = 'o',
             .completes = "weft|trace"),
    CLI_FLAG("follow", given.request.follow,
             "of a Xen domain: waits until it offers a trace, then until it ends, crashes or is "
             "destroyed, or until Ctrl-C; and copies what is there then"),
    CLI_SIZE("limit", given.request.limit_bytes, "SIZE",
             "the largest trace to copy; of files, also what takes as much on its disk", .least = 1,
             .shown = "1G"),
    CLI_FLAG("json", given.json, "the list as JSON"),
    CLI_END,
};

/* The list of domains. */
static bool is_list(const struct given *g)
{
    return strcmp(g->request.source, "xen:") == 0;
}

static void check(const struct given *g)
{
    const struct cli_save_request *r = &g->request;
    bool xen = cli_is_xen(r->source);
    if (!xen && r->follow)
        cli_misuse("save", "--follow is for a Xen domain, xen:NAME or xen:NUMBER");
    if (is_list(g) && (r->target || r->follow || r->limit_bytes))
        cli_misuse("save",
                   "xen: lists the domains that offer a trace; which of them is %s? "
                   "xen:NAME or xen:NUMBER",
                   r->target   ? "to be saved"
                   : r->follow ? "to be followed"
                               : "to be limited");
    if (!is_list(g) && g->json)
        cli_misuse("save", "--json is for the list of domains, weft save xen:");
    if (!is_list(g) && !r->target)
        cli_misuse("save", "-o FILE is missing");
    if (!is_list(g) && strcmp(r->target, "-") == 0 && isatty(STDOUT_FILENO))
        cli_misuse("save", "will not write a trace to a terminal");
}

static int run(int operands, char **operand)
{
    (void)operands;
    const struct given *g = &given;
    given.request.source = *operand;
    check(g);
    if (is_list(g))
        return cli_save_list(g->json);
    return cli_is_xen(*operand) ? cli_save_guest(&g->request) : save_file(&g->request);
}

const struct cli_command cli_save = {
    .name = "save",
    .summary = "copy a trace, also while it is recorded",
    .usage = "[OPTION…] -o FILE SOURCE\n"
             "[--json] xen:",
    .about =
        "Copies a trace, also one that is being recorded: everything up to one moment, without "
        "unused space. SOURCE is a trace file, - for standard input, the id of a process that "
        "records (the file may have been deleted), or xen:NAME or xen:NUMBER: what that Xen "
        "domain records, also if it has crashed and is still there (on_crash=preserve). If "
        "FILE is -, the copy goes to standard output. xen: alone lists the domains that offer "
        "a trace.\n",
    .options = options,
    .examples = "weft save -o hang.weft 4711\n"
                "ssh host weft save -o - 4711 | weft info -\n"
                "weft save --follow -o crash.weft xen:web\n"
                "ssh host weft save -o - xen:web | weft view -",
    .missing = "no SOURCE is given: a trace, the id of a process, or xen:DOMAIN",
    .least = 1,
    .most = 1,
    .completes = CLI_TRACES,
    .raw = true,
    .run = run,
    .state = CLI_STATE(given),
};
