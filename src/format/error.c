/* SPDX-License-Identifier: ISC */
#include "format/error.h"

#include <stdio.h>

const char *weft_error_name(int code)
{
    switch (code) {
    case WEFT_OK:
        return "no error";
#define X(name, number, text)                                                                      \
    case number:                                                                                   \
        return text;
        WEFT_ERRORS(X)
#undef X
    default:
        return "unknown error";
    }
}

int weft_error_set(struct weft_error *err, int code, uint64_t offset, const char *format, ...)
{
    if (!err)
        return code;
    err->code = code;
    err->offset = offset;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    /* The sentence may quote the file; it goes to a terminal. */
    for (char *c = err->text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return code;
}
