/* SPDX-License-Identifier: ISC */
/* weft export --to otlp: promises as spans, in the file format of OpenTelemetry's collector (otlpjsonfile): each line is a
 * whole ExportTraceServiceRequest. A line holds so much that a collector accepts it in one request. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "cli/exporter.h"
#include "cli/otlp/otlp.h"
#include "cli/otlp/send.h"

enum { PARTS_MAX = 1000 }; /* spans, links and events in a line */

static void put_resource(FILE *out, const struct weft_reader_facts *f, const char *path)
{
    const struct weft_process_facts *p = &f->process;
    const char *program = p->program && *p->program ? p->program : path;
    const char *slash = strrchr(program, '/');
    struct otlp_list list = {.out = out};
    fputs("{\"attributes\":[", out);
    otlp_text(&list, "service.name", slash && slash[1] ? slash + 1 : program);
    if (p->pid)
        otlp_number(&list, "process.pid", p->pid);
    if (p->host && *p->host)
        otlp_text(&list, "host.name", p->host);
    fputs("]}", out);
}

/* Returns 0 or a negative WEFT_E code. */
static int put_lines(struct otlp_writer *w, const struct weft_reader_facts *f, const char *path,
                     struct weft_error *err)
{
    const uint32_t promises = w->h->m->promises;
    for (uint32_t p = 1; p < promises && !ferror(w->out);) {
        fputs("{\"resourceSpans\":[{\"resource\":", w->out);
        put_resource(w->out, f, path);
        fputs(",\"scopeSpans\":[{\"scope\":{\"name\":\"weft\",\"version\":\"" WEFT_VERSION
              "\"},\"spans\":[",
              w->out);
        for (uint32_t parts = 0; p < promises && parts < PARTS_MAX; p++) {
            if (parts)
                putc(',', w->out);
            parts += otlp_put_span(w, p);
        }
        fputs("]}]}]}\n", w->out);
    }
    return ferror(w->out) ? weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be written") : 0;
}

static int write_otlp(FILE *out, const struct weft_history *h, const struct weft_reader_facts *f,
                      const char *path, struct weft_error *err)
{
    const struct weft_model *m = h->m;
    struct otlp_writer w = {.out = out,
                            .h = h,
                            .meter = {.h = h, .raw = true},
                            .wall_ns = m->has_wall ? m->wall_ns : 0};
    int rc = otlp_ids_init(&w.ids, m, f);
    w.linked = calloc(m->promises, sizeof *w.linked);
    rc = rc < 0 || !w.linked ? weft_no_memory(err) : put_lines(&w, f, path, err);
    weft_meter_fini(&w.meter);
    free(w.linked);
    otlp_ids_fini(&w.ids);
    return rc;
}

static int to_collector(const struct weft_history *h, const struct weft_reader_facts *f,
                        const char *path, const char *url, struct weft_error *err)
{
    FILE *lines = tmpfile();
    uint64_t rejected = 0;
    int rc = lines ? write_otlp(lines, h, f, path, err)
                   : weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                                    "no room for what is to be sent: %s", strerror(errno));
    if (rc == 0)
        rc = otlp_send(lines, url, &rejected, err);
    if (rc == 0 && rejected)
        rc = weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "has rejected %" PRIu64 " span%s",
                            rejected, weft_plural(rejected));
    if (lines)
        fclose(lines);
    return rc;
}

static int to_file(const struct weft_history *h, const struct weft_reader_facts *f,
                   const char *path, const char *target, struct weft_error *err)
{
    struct weft_output out;
    if (!cli_output_open(&out, target, WEFT_OUTPUT_OTHER, &path, 1))
        return WEFT_E_IO;
    int rc = write_otlp(out.file, h, f, path, err);
    if (out.file == stdout && cli_stdout_left())
        rc = 0;
    const bool kept = cli_output_close(&out, target, rc == 0);
    return rc < 0 || kept ? rc : WEFT_E_IO;
}

static int export_otlp(struct weft_reader *reader, const char *path, const char *target,
                       uint64_t *total, struct cli_export_failure *f)
{
    const struct weft_reader_facts *facts = weft_reader_facts(reader);
    f->err.code = 0; /* what is wrong otherwise has been said */
    struct weft_model *m = cli_model_quiet(reader, path);
    struct weft_history *h = m ? cli_history(m, path) : NULL;
    int rc = WEFT_E_IO;
    if (h) {
        rc = otlp_is_url(target) ? to_collector(h, facts, path, target, &f->err)
                                 : to_file(h, facts, path, target, &f->err);
        if (rc == 0 && !m->has_wall)
            cli_say(path, "the time of day is not known, so times count from 1970");
        if (rc == 0)
            cli_export_warn_losses(path, facts);
        *total = m->events_total + m->promoted_events;
    }
    weft_history_free(h);
    weft_model_free(m);
    return rc;
}

const struct cli_exporter cli_export_otlp = {.run = export_otlp};
