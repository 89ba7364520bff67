/* SPDX-License-Identifier: ISC */
/* Data from a trace as JSON. The caller owns the results. Texts are unchanged, except that bytes that are not UTF-8
 * become U+FFFD and unsafe characters are escaped. If there is no memory for a part, it is left out, and cli_finish will
 * report that (cli_lacks_memory). */
#pragma once

#include <jansson.h>

#include "model/model.h"

/* An object with these keys and values, at most 16: CLI_OBJECT("name", text, "count", n, "list", array). CLI_SET adds
 * them to an object. A value is a number, a bool, a text (any bytes; NULL is null) or a json_t *, whose ownership is
 * taken. */
#define CLI_OBJECT(...)                                                                            \
    cli_json_object(json_object(), (const struct cli_pair[]){CLI_PAIRS(__VA_ARGS__){0}})
#define CLI_SET(object, ...)                                                                       \
    cli_json_set(object, (const struct cli_pair[]){CLI_PAIRS(__VA_ARGS__){0}})
/* Among these: fields of *x, at most 16, each under its own name. */
#define CLI_FIELDS(x, ...) CLI_SCAN(CLI_FIELD(x, __VA_ARGS__))

/* A list of the values that an expression of i has for i from 0 to count - 1: CLI_LIST(i, args, cli_json_string(arg[i])).
 * Its values are json_t *. */
#define CLI_LIST(i, count, value)                                                                  \
    ({                                                                                             \
        json_t *list_ = json_array();                                                              \
        for (uint32_t i = 0; i < (count); i++)                                                     \
            cli_json_append(list_, value);                                                         \
        list_;                                                                                     \
    })

/* Adds a value to a list. */
void cli_json_append(json_t *list, json_t *value);

/* Prints it on standard output, followed by a newline, and releases it. */
void cli_json_print(json_t *o);

/* For reports that are printed piece by piece: prints `before`, then the value, which it releases. */
void cli_json_dump(json_t *o, const char *before);

/* The same for the members of an object, without its braces. */
void cli_json_dump_members(json_t *o);

/* A number, or null if it is not known. */
json_t *cli_json_if(bool known, uint64_t n);

/* {"promise", "label", "type"}; null for WEFT_NONE. */
json_t *cli_json_who(const struct weft_model *m, uint32_t promise);

/* These three pairs among others. The type of the event loop is "loop"; with CLI_PROMISE, null. */
#define CLI_WHO(m, p) CLI_NAMED(m, p), "type", cli_json_type(m, p)
#define CLI_PROMISE(m, p)                                                                          \
    CLI_NAMED(m, p), "type", (p) == WEFT_NONE || (p) == WEFT_ROOT ? NULL : weft_model_type(m, p)
#define CLI_NAMED(m, p) "promise", cli_json_id(m, p), "label", cli_json_label(m, p)
const char *cli_json_type(const struct weft_model *m, uint32_t promise);

struct cli_pair {
    const char *key;
    json_t *value;
};
json_t *cli_json_object(json_t *o, const struct cli_pair *pair);
void cli_json_set(json_t *o, const struct cli_pair *pair);
json_t *cli_json_signed(int64_t n); /* null for INT64_MIN, no time */
json_t *cli_json_bool(bool value);
static inline json_t *cli_json_itself(json_t *o)
{
    return o;
}
/* clang-format off */
#define CLI_VALUE(v) _Generic((v), bool: cli_json_bool, double: json_real, json_t *: cli_json_itself,                             \
    char *: cli_json_string, const char *: cli_json_string, uint64_t: cli_json_number, unsigned long long: cli_json_number, \
    uint32_t: cli_json_number, uint16_t: cli_json_number, uint8_t: cli_json_number, default: cli_json_signed)(v)
/* clang-format on */

/* Each macro names itself again behind the rest of its arguments; so the result is scanned up to 16 times. */
#define CLI_PAIRS(...) CLI_SCAN(CLI_PAIR(__VA_ARGS__))
#define CLI_PAIR(k, v, ...) {k, CLI_VALUE(v)}, __VA_OPT__(CLI_PAIR_AGAIN CLI_PARENS(__VA_ARGS__))
#define CLI_PAIR_AGAIN() CLI_PAIR
#define CLI_FIELD(x, f, ...) #f, (x)->f __VA_OPT__(, CLI_FIELD_AGAIN CLI_PARENS(x, __VA_ARGS__))
#define CLI_FIELD_AGAIN() CLI_FIELD
#define CLI_PARENS ()
#define CLI_SCAN(...) CLI_SCAN_4(CLI_SCAN_4(CLI_SCAN_4(CLI_SCAN_4(__VA_ARGS__))))
#define CLI_SCAN_4(...) CLI_SCAN_1(CLI_SCAN_1(CLI_SCAN_1(CLI_SCAN_1(__VA_ARGS__))))
#define CLI_SCAN_1(...) __VA_ARGS__

/* JSON knows no more than 2^63 - 1. */
json_t *cli_json_number(uint64_t n);

/* Any text; null for NULL. */
json_t *cli_json_string(const char *text);

/* A text of the model; null for WEFT_NONE. */
json_t *cli_json_model_text(const struct weft_model *m, uint32_t text);

/* The number of a promise; -1 for the event loop, null for WEFT_NONE. */
json_t *cli_json_id(const struct weft_model *m, uint32_t promise);

/* The first label of a promise, or null. */
json_t *cli_json_label(const struct weft_model *m, uint32_t promise);

/* How many of these times, which ascend, are at least 2^i ns and less than twice that, in [{"from_ns", "to_ns", "count"}]; the
 * first includes 0. Empty ones are left out. stride: bytes from one to the next. */
json_t *cli_json_histogram(const void *ns, uint32_t count, size_t stride);

/* Sets "exit_status" and "signal": numbers, or null. */
void cli_json_exit(json_t *o, const struct weft_exit *e);
