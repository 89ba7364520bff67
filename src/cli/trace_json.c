/* SPDX-License-Identifier: ISC */
#include "cli/trace_json.h"

#include <stdlib.h>

#include "format/utf8.h"

json_t *weft__json_number(uint64_t n)
{
    return json_integer(n < INT64_MAX ? (json_int_t)n : INT64_MAX);
}

json_t *weft__json_text(const char *text, size_t size)
{
    char *clean = malloc(3 * size + 1); /* a byte may take the place of three */
    if (!clean)
        return NULL;
    json_t *out = json_stringn(clean, weft_text_clean(clean, 3 * size, text, size));
    free(clean);
    return out;
}

json_t *weft__json_model_text(const struct weft_model *m, uint32_t text)
{
    uint32_t size;
    if (text == WEFT_NONE)
        return json_null();
    const char *s = weft_model_text(m, text, &size);
    return weft__json_text(s, size);
}

json_t *weft__json_id(const struct weft_model *m, uint32_t promise)
{
    return promise == WEFT_NONE   ? json_null()
           : promise == WEFT_ROOT ? json_integer(-1)
                                  : json_integer((json_int_t)m->promise[promise].id);
}

json_t *weft__json_label(const struct weft_model *m, uint32_t promise)
{
    bool none = promise == WEFT_NONE || promise == WEFT_ROOT;
    return weft__json_model_text(m, none ? WEFT_NONE : weft_model_name(m, promise));
}
