/* SPDX-License-Identifier: ISC */
/* What the two halves of weft dump share: events as lines. */
#ifndef WEFT_CLI_DUMP_H
#define WEFT_CLI_DUMP_H

#include "cli/sink.h"
#include "read/reader.h"

#define CLI_DUMP_MAX 64 /* traces at a time */

/* The line of an event of reader's. time: relative to whatever the caller likes. */
void cli_put_event(struct sink *s, const struct weft_reader *reader, const struct weft_event *ev,
                   int64_t time);

/* Text between quotes, with escapes. */
void cli_put_quoted(struct sink *s, const char *text, size_t size);

/* The events of several traces, in order of the wall clock, each line beginning with the name of its trace; times are
 * relative to the earliest first event. Returns the exit status, having said what is wrong. */
int cli_dump_merged(char *const *path, unsigned paths, int64_t from, int64_t to, bool full);

#endif
