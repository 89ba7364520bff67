/* SPDX-License-Identifier: ISC */
/* weft export: a trace in another format. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"
#include "write/ctf.h"
#include "write/mirage.h"

static const char help[] =
    "usage: weft export --to FORMAT -o OUT FILE\n\n"
    "Writes the events of a trace, in order, in another format:\n\n"
    "  ctf     a folder that babeltrace2 and other CTF 1.8 readers open; OUT must not exist, or "
    "be\n"
    "          an empty folder\n"
    "  mirage  a file of mirage-profile, its packets in order and without unused space; - is\n"
    "          standard output\n\n"
    "  -o, --output OUT  where to write\n"
    "      --to FORMAT   one of those above\n"
    "      --help        this text\n\n"
    "Example: weft export --to ctf -o net-ctf net.ctf && babeltrace2 net-ctf\n";

enum { TO = WEFT__HELP + 1 };

static const struct option options[] = {
    {"to", required_argument, NULL, TO},
    {"output", required_argument, NULL, 'o'},
    WEFT__HELP_OPTION,
    {0},
};

/* An error belongs to the trace or to what is written. */
struct failure {
    struct weft_error err;
    bool reading;
};

typedef int append_fn(void *writer, uint32_t stream, const struct weft_event *ev,
                      struct weft_error *err);

/* Hands every event of the trace to append. */
static int copy_events(struct weft_reader *reader, const char *path, append_fn *append,
                       void *writer, uint64_t *total, struct failure *f)
{
    const struct weft_event *events;
    struct weft__progress progress = weft__progress_begin(path);
    ptrdiff_t n;
    int rc = 0;
    *total = 0;
    for (unsigned batch = 0; (n = weft_reader_next(reader, &events, &f->err)) > 0 && rc == 0;) {
        uint32_t stream = weft_reader_stream(reader);
        for (ptrdiff_t i = 0; i < n && rc == 0; i++)
            rc = append(writer, stream, &events[i], &f->err);
        *total += (uint64_t)n;
        if (++batch % 256 == 0)
            weft__progress_show(&progress, weft_reader_progress(reader));
    }
    weft__progress_end(&progress);
    f->reading = n < 0;
    return n < 0 ? (int)n : rc;
}

static int append_ctf(void *writer, uint32_t stream, const struct weft_event *ev,
                      struct weft_error *err)
{
    return weft_ctf_writer_append(writer, stream, ev, err);
}

static int append_mirage(void *writer, uint32_t stream, const struct weft_event *ev,
                         struct weft_error *err)
{
    (void)stream; /* the format has only one */
    return weft_mirage_writer_append(writer, ev, err);
}

/* Both return 0 or a negative WEFT_E code, with *f saying what is wrong, or nothing if that has been
 * said. */
static int export_ctf(struct weft_reader *reader, const char *path, const char *folder,
                      uint64_t *total, struct failure *f)
{
    struct weft_ctf_writer *writer;
    int rc = weft_ctf_writer_open(&writer, folder, &f->err);
    if (rc < 0)
        return rc;
    rc = copy_events(reader, path, append_ctf, writer, total, f);
    if (rc < 0) {
        weft_ctf_writer_abandon(writer);
        return rc;
    }
    uint64_t moved = weft_ctf_writer_moved(writer);
    rc = weft_ctf_writer_close(writer, &f->err);
    if (rc == 0 && moved)
        weft__say(path,
                  "warning: %" PRIu64 " events, at which time runs backwards or beyond what CTF "
                  "readers know, got the time of the event before",
                  moved);
    return rc;
}

static int export_mirage(struct weft_reader *reader, const char *path, const char *file,
                         uint64_t *total, struct failure *f)
{
    struct weft__output out;
    struct weft_mirage_writer *writer;
    f->err.code = 0;
    if (!weft__output_open(&out, file))
        return WEFT_E_IO;
    int rc = weft_mirage_writer_open(&writer, out.file, NULL, &f->err);
    if (rc == 0)
        rc = copy_events(reader, path, append_mirage, writer, total, f);
    if (rc == 0) {
        rc = weft_mirage_writer_close(writer, &f->err);
        writer = NULL;
    }
    weft_mirage_writer_abandon(writer);
    if (out.file == stdout && weft__stdout_left())
        rc = 0;
    bool kept = weft__output_close(&out, rc == 0);
    return rc < 0 || kept ? rc : WEFT_E_IO;
}

typedef int export_fn(struct weft_reader *reader, const char *path, const char *target,
                      uint64_t *total, struct failure *f);

static const struct {
    const char *name;
    export_fn *export;
    const char *no_stdout; /* why not */
} formats[] = {
    {"ctf", export_ctf, "a CTF trace is a folder and cannot go to standard output"},
    {"mirage", export_mirage, NULL},
};
#define FORMATS (sizeof formats / sizeof *formats)

static int export_to(size_t format, const char *path, const char *target)
{
    struct weft_reader *reader = weft__open(path);
    if (!reader)
        return WEFT__FAILED;
    uint64_t total = 0;
    struct failure f = {.err = {.offset = WEFT_NO_OFFSET}};
    int rc = formats[format].export(reader, path, target, &total, &f);
    weft__warn(path, weft_reader_damage(reader));
    const char *shown = strcmp(target, "-") == 0 ? "standard output" : target;
    int status = WEFT__FAILED;
    if (rc == 0)
        status = weft__status(path, weft_reader_damage(reader), total);
    else if (f.err.code)
        weft__complain(f.reading ? path : shown, &f.err);
    if (rc == 0 && isatty(STDERR_FILENO))
        weft__say(shown, "%" PRIu64 " event%s written", total, weft__plural(total));
    weft_reader_close(reader);
    return status;
}

static int run(int argc, char **argv)
{
    const char *name = NULL, *target = NULL;
    int c;
    while ((c = weft__option(&weft__export, argc, argv, ":o:", options)) != -1) {
        if (c == TO)
            name = optarg;
        else if (c == 'o')
            target = optarg;
    }
    if (!name)
        weft__misuse("export", "--to FORMAT is missing: ctf or mirage");
    size_t format = 0;
    while (format < FORMATS && strcmp(name, formats[format].name) != 0)
        format++;
    if (format == FORMATS)
        weft__misuse("export", "there is no format \"%s\"; there are ctf and mirage", name);
    if (!target)
        weft__misuse("export", "-o OUT is missing");
    if (strcmp(target, "-") == 0 && formats[format].no_stdout)
        weft__misuse("export", "%s", formats[format].no_stdout);
    if (strcmp(target, "-") == 0 && isatty(STDOUT_FILENO))
        weft__misuse("export", "will not write a trace to a terminal");
    return export_to(format, weft__one_file(&weft__export, argc, argv), target);
}

const struct weft__command weft__export = {"export", "write a trace in another format", help, run};
