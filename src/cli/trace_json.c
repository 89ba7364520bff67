/* SPDX-License-Identifier: ISC */
#include "cli/trace_json.h"

#include "cli/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/utf8.h"

json_t *cli_json_number(uint64_t n)
{
    return json_integer(n < INT64_MAX ? (json_int_t)n : INT64_MAX);
}

/* Any bytes. */
static json_t *json_bytes(const char *text, size_t size)
{
    char *valid = malloc(3 * size + 1); /* one input byte may become three */
    if (!valid)
        return NULL;
    json_t *out = json_stringn(valid, weft_text_valid(valid, 3 * size, text, size));
    free(valid);
    return out;
}

json_t *cli_json_string(const char *text)
{
    return text ? json_bytes(text, strlen(text)) : json_null();
}

/* Jansson escapes quotes, backslashes and the first 32 characters, and hands out whole characters. Other unsafe
 * characters can only occur in a text. Jansson hands out a few bytes at a time, so locking the stream for each piece
 * would dominate the cost. */
static int put(const char *text, size_t size, void *data)
{
    FILE *out = data;
    uint32_t code;
    size_t plain = 0;
    for (size_t at = 0, n; at < size; at += n) {
        n = (unsigned char)text[at] < 0x7f ? 1 : weft_utf8_decode(text + at, size - at, &code);
        if ((unsigned char)text[at] < 0x7f || !weft_utf8_harmful(code))
            continue;
        fwrite_unlocked(text + plain, 1, at - plain, out);
        fprintf(out, "\\u%04" PRIx32, code);
        plain = at + n;
    }
    fwrite_unlocked(text + plain, 1, size - plain, out);
    return ferror(out) ? -1 : 0;
}

static void write_and_free(json_t *o, size_t flags)
{
    flags |= cli_ascii() ? JSON_ENSURE_ASCII : 0;
    if (json_dump_callback(o, put, stdout, flags) < 0 &&
        !ferror(stdout)) /* cli_finish reports it */
        cli_lacks_memory();
    json_decref(o);
}

void cli_json_print(json_t *o)
{
    write_and_free(o, JSON_INDENT(2));
    putchar('\n');
}

void cli_json_dump(json_t *o, const char *before)
{
    fputs(before, stdout);
    write_and_free(o, JSON_ENCODE_ANY);
}

void cli_json_dump_members(json_t *o)
{
    write_and_free(o, JSON_EMBED);
}

void cli_json_set(json_t *o, const struct cli_pair *pair)
{
    for (; pair->key; pair++)
        if (json_object_set_new(o, pair->key, pair->value) < 0)
            cli_lacks_memory();
}

json_t *cli_json_object(json_t *o, const struct cli_pair *pair)
{
    cli_json_set(o, pair);
    return o;
}

void cli_json_append(json_t *list, json_t *value)
{
    if (json_array_append_new(list, value) < 0)
        cli_lacks_memory();
}

json_t *cli_json_signed(int64_t n)
{
    return n == INT64_MIN ? json_null() : json_integer(n);
}

json_t *cli_json_bool(bool value)
{
    return json_boolean(value);
}

json_t *cli_json_if(bool known, uint64_t n)
{
    return known ? cli_json_number(n) : json_null();
}

const char *cli_json_type(const struct weft_model *m, uint32_t promise)
{
    return promise == WEFT_ROOT ? "loop" : weft_model_type(m, promise);
}

json_t *cli_json_who(const struct weft_model *m, uint32_t promise)
{
    return promise == WEFT_NONE ? json_null() : CLI_OBJECT(CLI_WHO(m, promise));
}

json_t *cli_json_model_text(const struct weft_model *m, uint32_t text)
{
    uint32_t size;
    if (text == WEFT_NONE)
        return json_null();
    const char *s = weft_model_text(m, text, &size);
    return json_bytes(s, size);
}

json_t *cli_json_id(const struct weft_model *m, uint32_t promise)
{
    return promise == WEFT_NONE   ? json_null()
           : promise == WEFT_ROOT ? json_integer(-1)
                                  : json_integer((json_int_t)m->promise[promise].id);
}

json_t *cli_json_label(const struct weft_model *m, uint32_t promise)
{
    bool none = promise == WEFT_NONE || promise == WEFT_ROOT;
    return cli_json_model_text(m, none ? WEFT_NONE : weft_model_name(m, promise));
}

json_t *cli_json_histogram(const void *ns, uint32_t count, size_t stride)
{
    json_t *list = json_array();
    for (uint32_t i = 0, next; i < count; i = next) {
        int64_t from = 1;
#define AT(i) (*(const int64_t *)((const char *)ns + (i)*stride))
        while (AT(i) >> 1 >= from)
            from *= 2;
        for (next = i; next < count && AT(next) / 2 < from; next++)
            ;
#undef AT
        cli_json_append(list,
                        CLI_OBJECT("from_ns", from == 1 ? 0 : from, "to_ns",
                                   from > INT64_MAX / 2 ? INT64_MAX : 2 * from, "count", next - i));
    }
    return list;
}

void cli_json_exit(json_t *o, const struct weft_exit *e)
{
    json_t *number = e->known ? json_integer(e->number) : json_null();
    json_object_set_new(o, e->by_signal ? "signal" : "exit_status", number);
    json_object_set_new(o, e->by_signal ? "exit_status" : "signal", json_null());
}
