/* SPDX-License-Identifier: ISC */
/* A format that weft export writes the events of a trace in; see exporters.def. */
#ifndef WEFT_CLI_EXPORTER_H
#define WEFT_CLI_EXPORTER_H

#include "read/reader.h"

/* An error belongs to the trace or to what is written. */
struct cli_export_failure {
    struct weft_error err;
    bool reading;
};

struct cli_exporter {
    /* Writes all events of the trace, which was opened as path, to target, and says what the format cannot. *total becomes
     * their count. Returns 0, or a negative WEFT_E code, with *f saying what is wrong, or nothing if that has been said. */
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

/* Warns of what is not there to be written. */
void cli_export_warn_losses(const char *path, const struct weft_reader_facts *f);

#endif
