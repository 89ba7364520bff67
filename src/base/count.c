/* SPDX-License-Identifier: ISC */
#include "base/count.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct weft_figure weft_count(uint64_t n)
{
    struct weft_figure c;
    char *at = c.text + sizeof c.text;
    *--at = 0;
    for (unsigned i = 0; i == 0 || n; i++, n /= 10) {
        if (i && i % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + n % 10);
    }
    memmove(c.text, at, (size_t)(c.text + sizeof c.text - at));
    return c;
}

struct weft_figure weft_count_short(uint64_t n)
{
    static const char prefixes[] = "MGTPE";
    struct weft_figure c;
    double value = (double)n / 1e6;
    unsigned p = 0;
    if (n < 1000000)
        return weft_count(n);
    for (; value >= 999.5; p++)
        value /= 1e3;
    snprintf(c.text, sizeof c.text, "%.*f %c",
             value < 9.995   ? 2
             : value < 99.95 ? 1
                             : 0,
             value, prefixes[p]);
    return c;
}

const char *weft_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

struct weft_figure weft_size(uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    struct weft_figure c;
    unsigned unit = 0;
    for (; bytes >= 10240 && unit < 4; unit++)
        bytes /= 1024;
    snprintf(c.text, sizeof c.text, "%" PRIu64 " %s", bytes, units[unit]);
    return c;
}

bool weft_parse_digits(const char *text, size_t size, uint64_t max, uint64_t *n)
{
    *n = 0;
    for (size_t i = 0; i < size; i++)
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(*n, 10, n) ||
            __builtin_add_overflow(*n, (uint64_t)(text[i] - '0'), n))
            return false;
    return size && *n <= max;
}

bool weft_parse_signed(const char *text, size_t size, int64_t least, int64_t most, int64_t *n)
{
    const size_t sign = size && *text == '-';
    uint64_t digits;
    if (!weft_parse_digits(text + sign, size - sign, INT64_MAX, &digits))
        return false;
    *n = sign ? -(int64_t)digits : (int64_t)digits;
    return *n >= least && *n <= most;
}

bool weft_parse_count(const char *text, uint64_t max, uint64_t *n)
{
    return weft_parse_digits(text, strlen(text), max, n);
}

bool weft_parse_size(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    const size_t digits = strspn(text, "0123456789");
    const char *unit = text + digits;
    if (!weft_parse_digits(text, digits, UINT64_MAX, bytes))
        return false;
    if (!*unit)
        return true;
    const char *u = strchr(units, *unit >= 'a' ? *unit - ('a' - 'A') : *unit);
    if (!u || !*u || (unit[1] && strcmp(unit + 1, "B") != 0 && strcmp(unit + 1, "iB") != 0))
        return false;
    const unsigned shift = 10 * (unsigned)(u - units + 1);
    *bytes = *bytes > UINT64_MAX >> shift ? UINT64_MAX : *bytes << shift;
    return true;
}
