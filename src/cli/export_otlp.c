/* SPDX-License-Identifier: ISC */
/* weft export --to otlp: promises as spans, in the file format of OpenTelemetry's collector (otlpjsonfile): each line is a
 * whole ExportTraceServiceRequest. A line holds so much that a collector accepts it in one request. */
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "cli/exporter.h"
#include "cli/otlp.h"
#include "cli/trace_json.h"

enum { PARTS_MAX = 1000 }; /* spans, links and events in a line */

static json_t *resource_of(const struct weft_reader_facts *f, const char *path)
{
    const struct weft_process_facts *p = &f->process;
    const char *program = p->program && *p->program ? p->program : path;
    const char *slash = strrchr(program, '/');
    json_t *list = json_array();
    cli_json_append(list, otlp_text("service.name", slash && slash[1] ? slash + 1 : program));
    if (p->pid)
        cli_json_append(list, otlp_number("process.pid", p->pid));
    if (p->host && *p->host)
        cli_json_append(list, otlp_text("host.name", p->host));
    return CLI_OBJECT("attributes", list);
}

/* Writes a line; takes the spans. Returns 0 or a negative WEFT_E code. */
static int put_line(FILE *out, json_t *resource, json_t *spans, struct weft_error *err)
{
    json_t *scopes = json_array(), *resources = json_array();
    cli_json_append(scopes, CLI_OBJECT("scope", CLI_OBJECT("name", "weft", "version", WEFT_VERSION),
                                       "spans", spans));
    cli_json_append(resources, CLI_OBJECT("resource", json_incref(resource), "scopeSpans", scopes));
    json_t *line = CLI_OBJECT("resourceSpans", resources);
    const bool written = json_dumpf(line, out, JSON_COMPACT) == 0 && putc('\n', out) != EOF;
    json_decref(line);
    if (written)
        return 0;
    return weft_error_set(err, ferror(out) ? WEFT_E_IO : WEFT_E_NOMEM, WEFT_NO_OFFSET,
                          "cannot be written");
}

static int put_spans(FILE *out, struct otlp_writer *w, json_t *resource, struct weft_error *err)
{
    json_t *spans = json_array();
    uint32_t parts = 0;
    int rc = 0;
    for (uint32_t p = 1; p < w->h->m->promises && rc == 0; p++) {
        cli_json_append(spans, otlp_span_json(w, p, &parts));
        if (parts < PARTS_MAX)
            continue;
        rc = put_line(out, resource, spans, err);
        spans = json_array();
        parts = 0;
    }
    if (rc == 0 && parts)
        return put_line(out, resource, spans, err);
    json_decref(spans);
    return rc;
}

static int write_otlp(FILE *out, const struct weft_history *h, const struct weft_reader_facts *f,
                      const char *path, struct weft_error *err)
{
    const struct weft_model *m = h->m;
    struct otlp_writer w = {
        .h = h, .meter = {.h = h, .raw = true}, .wall_ns = m->has_wall ? m->wall_ns : 0};
    json_t *resource = resource_of(f, path);
    int rc = otlp_ids_init(&w.ids, m, f);
    w.linked = calloc(m->promises, sizeof *w.linked);
    if (rc < 0 || !w.linked)
        rc = weft_no_memory(err);
    else
        rc = put_spans(out, &w, resource, err);
    json_decref(resource);
    weft_meter_fini(&w.meter);
    free(w.linked);
    otlp_ids_fini(&w.ids);
    return rc;
}

static int export_otlp(struct weft_reader *reader, const char *path, const char *target,
                       uint64_t *total, struct cli_export_failure *f)
{
    struct weft_output out;
    const struct weft_reader_facts *facts = weft_reader_facts(reader);
    f->err.code = 0; /* what is wrong otherwise has been said */
    struct weft_model *m = cli_model_quiet(reader, path);
    struct weft_history *h = m ? cli_history(m, path) : NULL;
    int rc = h ? 0 : WEFT_E_IO;
    if (h && !cli_output_open(&out, target, WEFT_OUTPUT_OTHER, &path, 1))
        rc = WEFT_E_IO;
    else if (h) {
        rc = write_otlp(out.file, h, facts, path, &f->err);
        if (out.file == stdout && cli_stdout_left())
            rc = 0;
        else if (rc == 0 && !m->has_wall)
            cli_say(path, "the time of day is not known, so times count from 1970");
        if (rc == 0)
            cli_export_warn_losses(path, facts);
        *total = m->events_total + m->promoted_events;
        const bool kept = cli_output_close(&out, target, rc == 0);
        rc = rc < 0 || kept ? rc : WEFT_E_IO;
    }
    weft_history_free(h);
    weft_model_free(m);
    return rc;
}

const struct cli_exporter cli_export_otlp = {.run = export_otlp};
