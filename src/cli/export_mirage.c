/* SPDX-License-Identifier: ISC */
/* weft export --to mirage: a file as mirage-profile writes it, for its own tools. */
#include <inttypes.h>

#include "cli/common.h"
#include "cli/exporter.h"
#include "write/downgrade.h"
#include "write/mirage.h"

struct downgrading {
    struct weft_mirage_writer *writer;
    struct weft_downgrade lost;
};

static int append_downgraded(void *data, const struct weft_event *ev, struct weft_error *err)
{
    struct downgrading *d = data;
    struct weft_event out[WEFT_DOWNGRADED_MAX];
    unsigned n = weft_downgrade(&d->lost, out, ev);
    int rc = 0;
    for (unsigned i = 0; i < n && rc == 0; i++)
        rc = weft_mirage_writer_append(d->writer, &out[i], err);
    return rc;
}

static void tell_downgrade(const char *path, const struct weft_downgrade *d,
                           const struct weft_reader_facts *f)
{
    const struct {
        uint64_t count;
        const char *what;
    } list[] = {
        {d->left_out[WEFT_EVENT_NOTIFIES], "notifications were left out"},
        {d->left_out[WEFT_EVENT_BACKGROUND], "marks as background were left out"},
        {d->left_out[WEFT_EVENT_ACQUIRES] + d->left_out[WEFT_EVENT_RELEASES],
         "events of who holds what were left out"},
        {d->left_out[WEFT_EVENT_RESUME], "resumptions of the event loop were left out"},
        {d->left_out[WEFT_EVENT_PREEMPTED], "times in which a thread had no core were left out"},
        {d->left_out[WEFT_EVENT_SPAN] + d->left_out[WEFT_EVENT_SPAN_PARENT],
         "spans of distributed traces were left out"},
        {d->left_out[WEFT_EVENT_SNAPSHOT], "calls of weft_snapshot were left out"},
        {d->endings,
         "promises that were resolved, cancelled or forgotten are written as fulfilled"},
        {d->types, "promises have a type that mirage lacks; they are tasks with the type as label"},
        {d->places, "source locations were left out"},
        {f->streams > 1 ? f->streams : 0, "streams are written as one, in order of time"},
    };
    for (unsigned i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].count)
            cli_say(path, "mirage's format cannot say all: %" PRIu64 " %s", list[i].count,
                    list[i].what);
    cli_export_warn_losses(path, f);
}

static int export_mirage(struct weft_reader *reader, const char *path, const char *file,
                         uint64_t *total, struct cli_export_failure *f)
{
    static struct downgrading down;
    struct weft_output out;
    struct weft_mirage_writer *writer;
    f->err.code = 0;
    if (!cli_output_open(&out, file, WEFT_OUTPUT_MIRAGE, &path, 1))
        return WEFT_E_IO;
    int rc = weft_mirage_writer_open(&writer, out.file, NULL, &f->err);
    down.writer = writer;
    if (rc == 0)
        rc = cli_export_events(reader, path, append_downgraded, &down, total, f);
    if (rc == 0) {
        rc = weft_mirage_writer_close(writer, &f->err);
        writer = NULL;
    }
    weft_mirage_writer_abandon(writer);
    if (out.file == stdout && cli_stdout_left())
        rc = 0;
    else if (rc == 0)
        tell_downgrade(path, &down.lost, weft_reader_facts(reader));
    bool kept = cli_output_close(&out, file, rc == 0);
    return rc < 0 || kept ? rc : WEFT_E_IO;
}

const struct cli_exporter cli_export_mirage = {.run = export_mirage};
