/* SPDX-License-Identifier: ISC */
#include "base/duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct unit {
    uint64_t ns;
    const char *name;
};

#define SECOND UINT64_C(1000000000)

static const struct unit long_units[] = {
    {86400 * SECOND, "d"}, {3600 * SECOND, "h"}, {60 * SECOND, "min"}};
static const struct unit units[] = {{SECOND, "s"}, {1000000, "ms"}, {1000, "µs"}, {1, "ns"}};

static uint64_t magnitude(int64_t ns)
{
    return ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
}

static const struct unit *unit_of(uint64_t ns)
{
    const struct unit *u = units;
    while (u->ns > 1 && ns < u->ns)
        u++;
    return u;
}

/* "whole.part", where `part` is printed with `digits` digits. */
static struct weft_figure put(bool minus, uint64_t whole, uint64_t part, int digits,
                              const char *space, const char *unit)
{
    struct weft_figure d;
    const char *sign = minus ? "-" : "";
    if (digits)
        snprintf(d.text, sizeof d.text, "%s%" PRIu64 ".%0*" PRIu64 "%s%s", sign, whole, digits,
                 part, space, unit);
    else
        snprintf(d.text, sizeof d.text, "%s%" PRIu64 "%s%s", sign, whole, space, unit);
    return d;
}

/* The same, with a space before the unit and without trailing zeros. */
static struct weft_figure put_short(bool minus, uint64_t whole, uint64_t part, int digits,
                                    const char *unit)
{
    for (; digits && part % 10 == 0; digits--)
        part /= 10;
    return put(minus, whole, part, digits, " ", unit);
}

/* Three significant digits. */
static struct weft_figure put_rounded(int64_t ns, bool narrow)
{
    uint64_t n = magnitude(ns), scale = 100;
    const struct unit *u = unit_of(n);
    if (n >= 600 * SECOND) {
        u = long_units;
        while (n < u->ns && u->ns > 60 * SECOND)
            u++;
    } else if (u != units && n >= u->ns * 1000 - u->ns / 2) { /* 999.6 µs are 1 ms */
        u--;
    }
    int digits = u->ns == 1 ? 0 : 2;
    for (; digits && n + u->ns / scale / 2 >= u->ns / scale * 1000; scale /= 10)
        digits--;
    if (!digits)
        scale = 1;
    n += u->ns / scale / 2;
    const uint64_t whole = n / u->ns, part = n % u->ns / (u->ns / scale);
    return narrow ? put(ns < 0, whole, part, digits, "", u->name)
                  : put_short(ns < 0, whole, part, digits, u->name);
}

struct weft_figure weft_duration(int64_t ns)
{
    return put_rounded(ns, false);
}

struct weft_figure weft_duration_narrow(int64_t ns)
{
    return put_rounded(ns, true);
}

struct weft_figure weft_moment(int64_t ns)
{
    uint64_t n = magnitude(ns);
    const struct unit *u = unit_of(n);
    const uint64_t step = n < 1000000 ? 1 : 1000;
    const int digits = u->ns == SECOND ? 6 : u->ns == 1 ? 0 : 3;
    return put_short(ns < 0, n / u->ns, n % u->ns / step, digits, u->name);
}

struct weft_figure weft_axis_time(int64_t ns, int64_t step_ns, int64_t far_ns)
{
    const struct unit *u = unit_of(magnitude(far_ns));
    uint64_t n = magnitude(ns), part = u->ns;
    int digits = 0;
    for (; (uint64_t)step_ns % part; part /= 10)
        digits++;
    n += part / 2;
    return put(ns < 0, n / u->ns, n % u->ns / part, digits, " ", u->name);
}

/* ---- From text ---- */

static const struct {
    const char *name;
    int digits; /* the unit in nanoseconds is factor * 10^digits */
    uint64_t factor;
} names[] = {{"", 0, 1},          {"ns", 0, 1},   {"us", 3, 1},   {"\xc2\xb5s", 3, 1},
             {"\xce\xbcs", 3, 1}, {"ms", 6, 1},   {"s", 9, 1},    {"m", 9, 60},
             {"min", 9, 60},      {"h", 9, 3600}, {"d", 9, 86400}};
#define NAMES (sizeof names / sizeof *names)

static bool append_digit(uint64_t *number, char digit)
{
    return !__builtin_mul_overflow(*number, 10, number) &&
           !__builtin_add_overflow(*number, (uint64_t)(digit - '0'), number);
}

static size_t digits_at(const char *text, size_t size)
{
    size_t n = 0;
    while (n < size && text[n] >= '0' && text[n] <= '9')
        n++;
    return n;
}

bool weft_parse_duration(const char *text, size_t size, int64_t *ns)
{
    const bool minus = size && *text == '-', sign = minus || (size && *text == '+');
    size_t at = sign, whole = digits_at(text + at, size - at), fraction = 0;
    uint64_t number = 0;
    for (; digits_at(text + at, size - at); at++)
        if (!append_digit(&number, text[at]))
            return false;
    if (at < size && text[at] == '.')
        fraction = digits_at(text + at + 1, size - at - 1), at++;
    if (whole + fraction == 0)
        return false;
    size_t unit = at + fraction, u = 0;
    while (unit < size && text[unit] == ' ')
        unit++;
    while (u < NAMES && (strlen(names[u].name) != size - unit ||
                         memcmp(names[u].name, text + unit, size - unit) != 0))
        u++;
    if (u == NAMES)
        return false;
    for (size_t i = 0; i < (size_t)names[u].digits; i++)
        if (!append_digit(&number, i < fraction ? text[at + i] : '0'))
            return false;
    if (__builtin_mul_overflow(number, names[u].factor, &number) || number > INT64_MAX)
        return false;
    for (size_t i = (size_t)names[u].digits; i < fraction; i++)
        if (text[at + i] != '0')
            return false;
    *ns = minus ? -(int64_t)number : (int64_t)number;
    return true;
}
