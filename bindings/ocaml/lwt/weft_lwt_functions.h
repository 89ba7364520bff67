/* SPDX-License-Identifier: ISC */
/* The functions of OCaml in the running program, with the lines of their first instructions. */
#ifndef WEFT_LWT_FUNCTIONS_H
#define WEFT_LWT_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_lwt_function {
    uintptr_t start, end; /* its code */
    const char *symbol;   /* "camlServer__handle_42", or from OCaml 5.1 on "camlServer.handle_42" */
    unsigned line;        /* 0: not known */
};

/* The function that begins at start; NULL: there is none, or the program has no symbols. The first call reads the
 * program's file. The result is valid as long as the program runs. */
const struct weft_lwt_function *weft_lwt_function_at(uintptr_t start);

/* Its name as in the source, without the module: at most size bytes, including the final 0. */
void weft_lwt_function_name(const struct weft_lwt_function *f, char *name, size_t size);

/* Returns true if its symbol contains a name from the program; "fun", from (fun x -> …), does not count. */
bool weft_lwt_function_has_name(const struct weft_lwt_function *f);

/* The next function of f's module after last, or the first one; NULL: there are no more. */
const struct weft_lwt_function *weft_lwt_function_beside(const struct weft_lwt_function *f,
                                                         const struct weft_lwt_function *last);

/* The named function that contains f, which has no name, as far as line numbers show; NULL: not known. */
const struct weft_lwt_function *weft_lwt_function_around(const struct weft_lwt_function *f);

#endif
