/* SPDX-License-Identifier: ISC */
/* weft export --to ctf: a folder with metadata that CTF readers understand. */
#include <inttypes.h>

#include "cli/common.h"
#include "cli/exporter.h"
#include "write/ctf.h"

struct ctf {
    struct weft_ctf_writer *writer;
    struct weft_reader *reader;
    uint32_t streams; /* whose threads the writer knows */
};

static int append_ctf(void *data, const struct weft_event *ev, struct weft_error *err)
{
    struct ctf *c = data;
    const struct weft_stream_facts *stream = weft_reader_facts(c->reader)->stream;
    int rc = 0;
    uint32_t streams = weft_reader_facts(c->reader)->streams;
    for (; stream && c->streams < streams && c->streams <= ev->stream && rc == 0; c->streams++) {
        const struct weft_stream_facts *s = &stream[c->streams];
        rc = weft_ctf_writer_thread(c->writer, c->streams, s->thread, s->name, err);
    }
    return rc < 0 ? rc : weft_ctf_writer_append(c->writer, ev, err);
}

static int export_ctf(struct weft_reader *reader, const char *path, const char *target,
                      uint64_t *total, struct cli_export_failure *f)
{
    const struct weft_reader_facts *facts = weft_reader_facts(reader);
    const struct weft_process_facts *process = &facts->process;
    struct weft_tsdl_trace trace = {
        .host = process->host,
        .program = process->program,
        .version = process->version,
        .pid = process->pid,
        .start_ns = process->start_ns,
        .start_real_ns = process->start_real_ns,
    };
    struct ctf ctf = {.reader = reader};
    const struct weft_output_options options = {WEFT_OUTPUT_OTHER, &path, 1};
    struct weft_output out;
    uint64_t moved = 0;
    int rc = weft_output_open_folder(&out, target, &options, &f->err);
    if (rc < 0)
        return rc;
    rc = weft_ctf_writer_open(&ctf.writer, out.folder, facts->quirks.mirage_kinds ? NULL : &trace,
                              &f->err);
    if (rc == 0)
        rc = cli_export_events(reader, path, append_ctf, &ctf, total, f);
    if (rc == 0) {
        moved = weft_ctf_writer_moved(ctf.writer);
        rc = weft_ctf_writer_close(ctf.writer, &f->err);
    } else {
        weft_ctf_writer_abandon(ctf.writer);
    }
    if (rc == 0)
        rc = weft_output_close(&out, true, &f->err);
    else
        weft_output_close(&out, false, NULL);
    if (rc == 0 && moved)
        cli_say(path,
                "warning: %" PRIu64 " events, at which time runs backwards or beyond what CTF "
                "readers know, got the time of the event before",
                moved);
    if (rc == 0)
        cli_export_warn_losses(path, weft_reader_facts(reader));
    return rc;
}

const struct cli_exporter cli_export_ctf = {
    .run = export_ctf,
    .no_stdout = "a CTF trace is a folder and cannot go to standard output",
};
