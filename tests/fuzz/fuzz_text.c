/* SPDX-License-Identifier: ISC */
/* Any bytes as a text: what comes out is valid UTF-8 without controls, and its widths agree. */
#include <stdint.h>
#include <string.h>

#include "require.h"
#include "view/text.h"

enum { FONT = 704 };

/* Fails unless text is UTF-8 as the standard has it. Written anew: it checks the code's own decoder. */
static void require_clean(const unsigned char *s, size_t size)
{
    for (size_t i = 0, more; i < size; i += more + 1) {
        uint32_t code = s[i];
        more = s[i] < 0x80 ? 0 : s[i] < 0xe0 ? 1 : s[i] < 0xf0 ? 2 : 3;
        REQUIRE(s[i] < 0x80 || (s[i] >= 0xc2 && s[i] <= 0xf4));
        REQUIRE(size - i > more);
        if (more)
            code &= 0x3fu >> more;
        for (size_t j = 1; j <= more; j++) {
            REQUIRE((s[i + j] & 0xc0) == 0x80);
            code = code << 6 | (s[i + j] & 0x3f);
        }
        REQUIRE(more < 2 || code >= (more == 2 ? 0x800u : 0x10000u));
        REQUIRE(code <= 0x10ffff && (code < 0xd800 || code > 0xdfff));
        REQUIRE(code >= 0x20 && (code < 0x7f || code > 0x9f));
        REQUIRE((code < 0x2028 || code > 0x202e) && (code < 0x2066 || code > 0x2069));
        REQUIRE(code != 0xfffe && code != 0xffff);
    }
}

static void try_fit(const char *text, size_t size, int32_t width, int32_t whole)
{
    int32_t fits;
    size_t n = weft_text_fit(text, size, FONT, false, width, &fits);
    REQUIRE(n <= size && fits >= 0 && (n == 0 || fits <= width));
    require_clean((const unsigned char *)text, n);
    REQUIRE(n < size || fits == whole);
    REQUIRE(weft_text_width(text, n, FONT, false) == fits);
    REQUIRE(size == 0 || (width < whole) == (n < size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Buffers of exactly the size, so that a sanitizer sees the end. */
    size_t room = size ? data[0] + (size_t)1 : 1;
    char *out = malloc(room), *all = malloc(3 * size + 1);
    REQUIRE(out && all);
    size_t n = weft_text_clean(out, room, (const char *)data, size);
    REQUIRE(n <= room);
    require_clean((const unsigned char *)out, n);

    size_t whole = weft_text_clean(all, 3 * size + 1, (const char *)data, size);
    require_clean((const unsigned char *)all, whole);
    REQUIRE(n <= whole && memcmp(out, all, n) == 0);
    int32_t width = weft_text_width(all, whole, FONT, false);
    REQUIRE(width >= 0 && weft_text_width(all, whole, FONT, true) >= 0);
    for (int32_t w = -1; w <= width + 1; w += 1 + width / 7)
        try_fit(all, whole, w, width);
    try_fit(all, whole, width, width);

    /* Cleaning what is clean changes nothing. */
    char *again = malloc(whole + 1);
    REQUIRE(again);
    REQUIRE(weft_text_clean(again, whole + 1, all, whole) == whole);
    REQUIRE(memcmp(again, all, whole) == 0);
    free(again);
    free(out);
    free(all);
    return 0;
}
