/* SPDX-License-Identifier: ISC */
/* Small files that belong to a trace: beside it (FILE.weft-notes), or, where nobody may write there, in a directory of the
 * user's, named by a hash of the trace's path. Anybody may have written them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "format/error.h"

/* Where the user's own are. */
struct weft_beside_home {
    const char *variable; /* of the environment: "XDG_DATA_HOME" */
    const char *usual;    /* below the home directory, if that is not set: "/.local/share" */
    const char *folder;   /* below that: "weft/notes" */
};

/* The name of the one beside the trace. The caller frees it. NULL: no memory. */
char *weft_beside(const char *path, const char *suffix);

/* The name of the one in the user's directory; makes: its folders, too. *full: the trace's whole path, which the file should
 * name, because hashes can collide. The caller frees both. NULL: there is no such directory. */
char *weft_beside_home(const char *path, const char *suffix, const struct weft_beside_home *home,
                       bool makes, char **full);

/* All of a file, terminated; the caller frees it. *out is NULL if there is no such file. It waits for nobody. what: what it
 * should hold, for the error of one that has more than `most` bytes. *st: of the file. Returns 0 or a negative WEFT_E code,
 * with the file's name in the text. */
int weft_beside_read(char **out, size_t *size, const char *file, size_t most, const char *what,
                     struct stat *st, struct weft_error *err);
