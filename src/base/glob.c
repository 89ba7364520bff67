/* SPDX-License-Identifier: ISC */
#include "base/glob.h"

#include <string.h>

/* Behind one character; bytes that are no UTF-8 are one each. */
static const char *skip(const char *text)
{
    text++;
    while ((*text & 0xc0) == 0x80)
        text++;
    return text;
}

bool weft_glob_matches(const char *pattern, const char *text)
{
    const char *star = NULL, *begin = NULL; /* after the last '*'; where the rest is tried */
    while (*text) {
        const char *literal = pattern + (*pattern == '\\' && pattern[1]);
        if (*pattern == '*') {
            star = ++pattern;
            begin = text;
        } else if (*pattern == '?') {
            pattern++;
            text = skip(text);
        } else if (*literal == *text) {
            pattern = literal + 1;
            text++;
        } else if (star) {
            pattern = star;
            text = begin = skip(begin);
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}
