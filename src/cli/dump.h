/* SPDX-License-Identifier: ISC */
/* What the two halves of weft dump share: events as lines. */
#ifndef WEFT_CLI_DUMP_H
#define WEFT_CLI_DUMP_H

#include "cli/sink.h"
#include "read/reader.h"

#define CLI_DUMP_MAX 64 /* maximum number of traces */

/* Prints the line of an event from reader. time: relative to any moment the caller chooses. */
void cli_put_event(struct sink *s, const struct weft_reader *reader, const struct weft_event *ev,
                   int64_t time);

/* Prints text between quotes, with escapes. */
void cli_put_quoted(struct sink *s, const char *text, size_t size);

/* Prints the events of several traces in the order of the wall clock. Each line begins with the name of its trace;
 * times are relative to the earliest first event. Prints what is wrong and returns the exit status. */
int cli_dump_merged(char *const *path, unsigned paths, int64_t from, int64_t to, bool full);

#endif
