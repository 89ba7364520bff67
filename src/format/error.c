/* SPDX-License-Identifier: ISC */
#include "format/error.h"

#include <stdio.h>
#include <string.h>

#include "format/utf8.h"

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
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* The sentence may quote the file, and it may be printed on a terminal. */
    err->text[weft_text_clean(err->text, sizeof err->text - 1, text, strlen(text))] = '\0';
    return code;
}

int weft_no_memory(struct weft_error *err)
{
    return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
}
