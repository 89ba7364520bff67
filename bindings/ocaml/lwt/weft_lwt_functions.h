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

/* The function that begins at start; NULL: there is none, or the program has no symbols. The first call reads the program's
 * file. What it returns lasts as long as the program. */
const struct weft_lwt_function *weft_lwt_function_at(uintptr_t start);

/* Its name as in the source, without the module: at most size bytes with the 0 at the end. */
void weft_lwt_function_name(const struct weft_lwt_function *f, char *name, size_t size);

/* Whether its symbol has a name of the program's; fun, as in (fun x -> …), is none. */
bool weft_lwt_function_has_name(const struct weft_lwt_function *f);

/* The next function of f's module behind last, or the first one; NULL: that was the last. */
const struct weft_lwt_function *weft_lwt_function_beside(const struct weft_lwt_function *f,
                                                         const struct weft_lwt_function *last);

/* The function with a name that is written around f, which has none, as far as lines tell; NULL: not known. */
const struct weft_lwt_function *weft_lwt_function_around(const struct weft_lwt_function *f);

#endif
