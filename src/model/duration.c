/* SPDX-License-Identifier: ISC */
#include "model/duration.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct unit {
    uint64_t ns;
    const char *name;
};

static const struct unit units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "µs"}, {1, "ns"}};

static const struct unit *unit_of(uint64_t ns)
{
    const struct unit *u = units;
    while (u->ns > 1 && ns < u->ns)
        u++;
    return u;
}

static int written(int n, size_t room)
{
    return n < 0 || room == 0 ? 0 : (size_t)n < room ? n : (int)room - 1;
}

/* n units and so many digits of what follows the point, without zeros at the end. */
static int put(char *out, size_t room, bool minus, uint64_t whole, uint64_t part, int digits,
               const char *name)
{
    for (; digits && part % 10 == 0; digits--)
        part /= 10;
    const char *sign = minus ? "-" : "";
    int n = digits ? snprintf(out, room, "%s%" PRIu64 ".%0*" PRIu64 " %s", sign, whole, digits,
                              part, name)
                   : snprintf(out, room, "%s%" PRIu64 " %s", sign, whole, name);
    return written(n, room);
}

int weft_format_duration(char *out, size_t room, int64_t ns)
{
    uint64_t n = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    const struct unit *u = unit_of(n);
    if (u != units && n >= u->ns * 1000 - u->ns / 2) /* 999.6 µs are 1 ms */
        u--;
    int digits = u->ns == 1 || n / u->ns >= 100 ? 0 : n / u->ns >= 10 ? 1 : 2;
    uint64_t scale = digits == 2 ? 100 : digits == 1 ? 10 : 1;
    if (n < UINT64_MAX / 2 && u->ns > 1) /* to the nearest */
        n += u->ns / scale / 2;
    return put(out, room, ns < 0, n / u->ns, n % u->ns * scale / u->ns, digits, u->name);
}

int weft_format_moment(char *out, size_t room, int64_t time_ns)
{
    uint64_t n = time_ns < 0 ? 0 - (uint64_t)time_ns : (uint64_t)time_ns;
    const struct unit *u = unit_of(n);
    uint64_t step = n < 1000000 ? 1 : 1000;
    n -= n % step;
    int digits = u->ns == 1000000000 ? 6 : u->ns == 1 ? 0 : 3;
    return put(out, room, time_ns < 0, n / u->ns, n % u->ns / step, digits, u->name);
}

int weft_format_count(char *out, size_t room, uint64_t n)
{
    char digits[24], text[32];
    int count = snprintf(digits, sizeof digits, "%" PRIu64, n), used = 0;
    for (int i = 0; i < count; i++) {
        if (i && (count - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return written(snprintf(out, room, "%s", text), room);
}
