/* SPDX-License-Identifier: ISC */
/* A program whose addresses are known: it says, a line each, what is executable in it, and for some
 * instructions which functions they belong to, innermost (inlined) first.
 *
 *     map START END OFFSET PATH
 *     at ADDRESS FUNCTION:LINE[,FUNCTION:LINE…]
 *
 * Addresses are those that a call returns to. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "subject.h"

__attribute__((noinline)) uintptr_t here(void)
{
    return (uintptr_t)__builtin_return_address(0);
}

/* Calls that are not the last thing that a function does, so that they stay calls. */
static volatile int kept;

// clang-format off
static inline __attribute__((always_inline)) struct seen inner(void)
{
    struct seen s = {here(), {__LINE__}};
    kept++;
    return s;
}

static inline __attribute__((always_inline)) struct seen middle(void)
{
    struct seen s = inner(); s.line[1] = __LINE__;
    kept++;
    return s;
}

__attribute__((noinline)) struct seen outer(void)
{
    struct seen s = middle(); s.line[2] = __LINE__;
    kept++;
    return s;
}

__attribute__((noinline)) static struct seen plain(void)
{
    struct seen s = {here(), {__LINE__}};
    kept++;
    return s;
}
// clang-format on

static void say_maps(void)
{
    char line[4352], path[4096], rights[8];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        uint64_t start, end, offset;
        path[0] = '\0';
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095[^\n]", &start, &end,
                   rights, &offset, path) >= 4 &&
            strchr(rights, 'x'))
            printf("map %" PRIx64 " %" PRIx64 " %" PRIx64 " %s\n", start, end, offset,
                   path + strspn(path, " "));
    }
    if (maps)
        fclose(maps);
}

int main(void)
{
    struct seen s = outer();
    printf("at %" PRIxPTR " inner:%d,middle:%d,outer:%d\n", s.at, s.line[0], s.line[1], s.line[2]);
    s = plain();
    printf("at %" PRIxPTR " plain:%d\n", s.at, s.line[0]);
    s = in_library(here);
    printf("at %" PRIxPTR " in_library:%d\n", s.at, s.line[0]);
    say_maps();
    return 0;
}
