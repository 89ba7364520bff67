/* SPDX-License-Identifier: ISC */
/* Finds names for offsets in ELF files, with a worker. */
#pragma once

#include "format/error.h"
#include "symbols/elf_file.h"
#include "symbols/worker.h"

/* What to look up in one file. */
struct symbols_question {
    struct symbols_place place;
    const uint64_t *offset; /* in increasing order */
    uint32_t count;
    bool symbols_only;
    /* They are addresses that the file was linked at. Of the beginning of a function, the answer is
     * that function alone, with the line where it begins. */
    bool linked;
};

struct symbols_answer {
    uint32_t function; /* as it was sent before */
    uint32_t line;
};

/* Receives the answers, in order. Each function returns 0, or an error that ends everything. */
struct symbols_listener {
    void *data;
    /* The state of a question's file, before its answers; and a second time, with SYMBOLS_FILE_ODD
     * or SYMBOLS_FILE_LATE, if it could not be read to its end. NULL: of no interest. */
    int (*state)(void *data, uint32_t question, enum symbols_file_state state);
    /* A function that later answers refer to: numbered from 0; after a worker was lost, from 0
     * again. */
    int (*function)(void *data, uint32_t number, const struct symbols_named *f);
    int (*answer)(void *data, uint32_t question, uint32_t offset,
                  const struct symbols_answer *frame, uint32_t frames);
};

struct symbols_names_options {
    const char *debug_path;
    weft_progress_fn *progress;
    void *progress_data;
};

/* Returns 0, WEFT_E_NOMEM, WEFT_E_CANCELED, or what a listener returned. */
int symbols_names_find(const struct symbols_question *q, uint32_t count,
                       const struct symbols_names_options *o, const struct symbols_listener *l);

/* What the worker does with one question about an open file, without using other files; for a
 * fuzzer that needs to run it in its own process. Both descriptors are closed. */
void symbols_names_answer(const struct symbols_question *q, const struct symbols_names_options *o,
                          int fd, int to);

/* ---- demangle.c: C++ names ---- */

enum { SYMBOLS_DEMANGLED_BYTES = 4096 }; /* longer names are cut */

struct symbols_demangler { /* all zero: no worker yet */
    struct symbols_worker worker;
    unsigned losses; /* how many workers were lost; after a few, names stay as they are */
};

/* Returns false if it is not such a name, there is no library, or it takes too long. */
bool symbols_demangle(struct symbols_demangler *d, const char *name,
                      char to[SYMBOLS_DEMANGLED_BYTES]);

void symbols_demangler_end(struct symbols_demangler *d);

/* ---- shorten.c ---- */

/* Shortens a function's name, in place, to what tells it from others: no parameters, no type of the
 * result, no suffix of the compiler's; if it is longer than `most` bytes, no arguments of templates, then
 * only its end. */
void symbols_shorten(char *name, size_t most);
