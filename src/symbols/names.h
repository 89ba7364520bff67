/* SPDX-License-Identifier: ISC */
/* Names for offsets in ELF files, found by a worker. */
#ifndef WEFT_SYMBOLS_NAMES_H
#define WEFT_SYMBOLS_NAMES_H

#include "format/error.h"
#include "symbols/elf_file.h"

/* What is asked of one file. */
struct symbols_question {
    struct symbols_place place;
    const uint64_t *offset; /* in increasing order */
    uint32_t count;
    bool symbols_only;
};

struct symbols_answer {
    uint32_t function; /* as it was told */
    uint32_t line;
};

/* What comes back, in order. Each returns 0, or an error that ends it. */
struct symbols_listener {
    void *data;
    /* What became of a question's file: before its answers; once more, with SYMBOLS_FILE_ODD or SYMBOLS_FILE_LATE, where it
     * could not be read to its end. */
    int (*state)(void *data, uint32_t question, enum symbols_file_state state);
    /* A function that answers will name: numbered from 0, and from 0 again after a worker was lost. */
    int (*function)(void *data, uint32_t number, const struct symbols_named *f);
    int (*answer)(void *data, uint32_t question, uint32_t offset,
                  const struct symbols_answer *frame, uint32_t frames);
};

struct symbols_names_options {
    const char *debug_path;
    uint32_t patience_ms; /* without any answer; 0: a minute */
    weft_progress_fn *progress;
    void *progress_data;
};

/* 0, WEFT_E_NOMEM, WEFT_E_CANCELED, or what a listener returned. */
int symbols_names_find(const struct symbols_question *q, uint32_t count,
                       const struct symbols_names_options *o, const struct symbols_listener *l);

/* What the worker does with one question about an open file, but for what other files say; for a fuzzer, which wants
 * to be in the same process. Both descriptors are gone afterwards. */
void symbols_names_answer(const struct symbols_question *q, const struct symbols_names_options *o,
                          int fd, int to);

#endif
