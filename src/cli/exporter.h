/* SPDX-License-Identifier: ISC */
/* A format in which weft export writes the events of a trace; see exporters.def. */
#pragma once

#include "read/reader.h"

/* Says whether an error concerns the trace or the output. */
struct cli_export_failure {
    struct weft_error err;
    bool reading;
};

struct cli_exporter {
    /* Writes all events of the trace, which was opened as path, to target, and prints what the format cannot express.
     * *total becomes their count. Returns 0 or a negative WEFT_E code; *f then has the error, or is empty if it was
     * printed already. */
    int (*run)(struct weft_reader *reader, const char *path, const char *target, uint64_t *total,
               struct cli_export_failure *f);
    const char *no_stdout; /* why it cannot be written to standard output; NULL: it can */
};

#define EXPORTER(id, name, about) extern const struct cli_exporter cli_export_##id;
#include "cli/exporters.def"

/* Hands every event of the trace to append, in order. Promoted events, which other formats do not know, get a time and a
 * stream that fit. Returns 0, or the first negative code, with *f. */
typedef int cli_append_fn(void *writer, const struct weft_event *ev, struct weft_error *err);
int cli_export_events(struct weft_reader *reader, const char *path, cli_append_fn *append,
                      void *writer, uint64_t *total, struct cli_export_failure *f);

/* Warns about parts of the trace that are missing. */
void cli_export_warn_losses(const char *path, const struct weft_reader_facts *f);
