/* SPDX-License-Identifier: ISC */
/* How weft's libraries report errors.
 *
 * A function that can fail returns 0 (or a count), or one of the negative codes below. A function that reads
 * also fills a struct weft_error if the caller passes one: the file offset, and one sentence that says what was
 * expected and what was found.
 *
 *     struct weft_error err;
 *     if (weft_reader_open(&r, path, &err) < 0)
 *         fprintf(stderr, "weft: %s\n", err.text);
 *
 * Threads: an error belongs to its caller; nothing here is shared. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

/* X(name, number, text) */
#define WEFT_ERRORS(X)                                                                             \
    X(NOMEM, -1, "out of memory")                                                                  \
    X(IO, -2, "cannot read or write")                                                              \
    X(FORMAT, -3, "not a trace that weft can read")                                                \
    X(LIMIT, -4, "too large")                                                                      \
    X(INVALID, -5, "not possible for this trace")                                                  \
    X(CANCELED, -6, "stopped on request")

enum weft_error_code {
    WEFT_OK = 0,
#define X(name, number, text) WEFT_E_##name = number,
    WEFT_ERRORS(X)
#undef X
};

/* Returns the code of a call that fails, if there is nothing to release. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        int rc_ = (call);                                                                          \
        if (rc_ < 0)                                                                               \
            return rc_;                                                                            \
    } while (0)

#define WEFT_NO_OFFSET UINT64_MAX

struct weft_error {
    int code;        /* WEFT_E_… */
    uint64_t offset; /* in bytes from the start of the file, or WEFT_NO_OFFSET */
    char text[256];  /* one sentence, without the file's name; control characters replaced */
};

/* Reports progress: called now and then with a share from 0 to 1; data is the caller's. Returns true to
 * continue. If it returns false, the work ends with WEFT_E_CANCELED. */
typedef bool weft_progress_fn(void *data, double share);

/* The general meaning of a code. Never NULL. */
const char *weft_error_name(int code);

/* Fills err, which may be NULL, and returns code, so that a function can end with it. */
int weft_error_set(struct weft_error *err, int code, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Fills err with "out of memory", and returns WEFT_E_NOMEM. */
int weft_no_memory(struct weft_error *err);
