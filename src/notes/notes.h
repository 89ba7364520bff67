/* SPDX-License-Identifier: ISC */
/* Where the notes on a trace are kept: a small file beside it, FILE.weft-notes, or, if that folder cannot be written, one
 * in the user's data directory.
 *
 *     struct weft_notes notes;
 *     if (weft_notes_load(&notes, "bad.weft", &err) == 0)
 *         for (size_t i = 0; i < notes.count; i++)
 *             weft_explorer_note_put(e, source, notes.since, notes.item[i].at, notes.item[i].text);
 *     weft_notes_fini(&notes);
 *
 * The file is JSON: {"weft-notes": 1, "since": "…", "notes": [{"at": "413", "text": "slow"}, …]}; what `at` and `since`
 * mean, the explorer knows (explore/explore.h). Anybody may have written it, so it is read with bounds. */
#pragma once

#include <stddef.h>

#include "format/error.h"

#define WEFT_NOTES_FILE_BYTES (4 << 20) /* a larger file is refused */

struct weft_notes_item {
    char *at, *text;
};

struct weft_notes {
    char *since; /* NULL: there is no file */
    struct weft_notes_item *item;
    size_t count;
};

/* Gets the notes on the trace at path. Without any, *out is empty. Those beside the trace and those in the data directory
 * are one list. Returns 0 or a negative WEFT_E code if a file is there but cannot be read; *err then names it. *out is
 * always to be released. */
int weft_notes_load(struct weft_notes *out, const char *path, struct weft_error *err);

/* Replaces the notes on the trace at path, or removes the file if there are none. where: says in which file they are, in
 * room bytes. Returns 0 or a negative WEFT_E code; what was kept before then is still there. */
int weft_notes_save(const struct weft_notes *notes, const char *path, char *where, size_t room,
                    struct weft_error *err);

/* The same as one line of text for a page, in which no "<" occurs. The caller frees it. NULL: no memory. */
char *weft_notes_text(const struct weft_notes *notes);

/* Adds an item, with copies of the texts. Returns 0 or WEFT_E_NOMEM. */
int weft_notes_add(struct weft_notes *notes, const char *at, const char *text);

void weft_notes_fini(struct weft_notes *notes);
