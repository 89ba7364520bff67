/* SPDX-License-Identifier: ISC */
#include "format/utf8.h"

#include <locale.h>
#include <string.h>
#include <wchar.h>

#define REPLACEMENT 0xfffd

/* Controls, line ends, and characters that change the writing direction: with them a label could rearrange the
 * text around it. */
static const struct weft_utf8_range harmful[] = {
    {0x0000, 0x001f}, {0x007f, 0x009f}, {0x061c, 0x061c},
    {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
};

/* Removed, because nobody can see them: so texts that look the same are the same. */
static const struct weft_utf8_range invisible[] = {
    {0x00ad, 0x00ad}, {0x180e, 0x180e}, {0x200b, 0x200d}, {0x2060, 0x2065},
    {0x206a, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
};

#define IN(table, code) weft_utf8_in(table, sizeof(table) / sizeof((table)[0]), code)

bool weft_utf8_in(const struct weft_utf8_range *range, size_t count, uint32_t code)
{
    for (size_t i = 0; i < count; i++) {
        if (code >= range[i].first && code <= range[i].last)
            return true;
    }
    return false;
}

size_t weft_utf8_decode(const char *text, size_t size, uint32_t *code)
{
    const unsigned char *s = (const unsigned char *)text;
    unsigned lead = s[0], low = 0x80, high = 0xbf;
    size_t want;

    if (lead < 0x80) {
        *code = lead;
        return 1;
    }
    *code = REPLACEMENT;
    if (lead < 0xc2 || lead > 0xf4)
        return 1;
    want = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    /* Only the second byte has narrower bounds: they exclude overlong forms, surrogates, and code points above
     * 10FFFF. */
    if (lead == 0xe0)
        low = 0xa0;
    else if (lead == 0xed)
        high = 0x9f;
    else if (lead == 0xf0)
        low = 0x90;
    else if (lead == 0xf4)
        high = 0x8f;

    uint32_t value = lead & (0x7fu >> want);
    for (size_t i = 1; i < want; i++) {
        if (i == size || s[i] < low || s[i] > high)
            return i;
        value = value << 6 | (s[i] & 0x3fu);
        low = 0x80;
        high = 0xbf;
    }
    /* Noncharacters: XML forbids two of them, and none has a glyph. */
    if ((value & 0xfffe) != 0xfffe && !(value >= 0xfdd0 && value <= 0xfdef))
        *code = value;
    return want;
}

bool weft_utf8_harmful(uint32_t code)
{
    return IN(harmful, code);
}

size_t weft_utf8_harmless(const char *text, size_t size)
{
    uint32_t code;
    if ((unsigned char)*text < 0x80)
        return *text >= ' ' && *text != 0x7f;
    const size_t length = weft_utf8_decode(text, size, &code);
    const bool replaced = code == REPLACEMENT && (length != 3 || memcmp(text, "\xef\xbf\xbd", 3));
    return replaced || IN(harmful, code) ? 0 : length;
}

size_t weft_text_keep(const char *text, size_t size, size_t most)
{
    if (size <= most)
        return size;
    for (size_t n = most; n > 0 && n + 3 >= most; n--) /* a character has up to 4 bytes */
        if (((unsigned char)text[n] & 0xc0) != 0x80)
            return n;
    return most;
}

static size_t copy(char *out, size_t room, const char *text, size_t size, bool clean)
{
    size_t used = 0;

    for (size_t at = 0; at < size;) {
        uint32_t code;
        size_t length = weft_utf8_decode(text + at, size - at, &code);
        const char *from = text + at;

        at += length;
        if (clean && IN(harmful, code)) {
            from = " ";
            length = 1;
        } else if (code == REPLACEMENT) {
            from = "\xef\xbf\xbd";
            length = 3;
        } else if (clean && code > 0x7f && IN(invisible, code)) {
            continue;
        }
        if (length > room - used)
            break;
        memcpy(out + used, from, length);
        used += length;
    }
    return used;
}

size_t weft_text_clean(char *out, size_t room, const char *text, size_t size)
{
    return copy(out, room, text, size, true);
}

size_t weft_text_valid(char *out, size_t room, const char *text, size_t size)
{
    return copy(out, room, text, size, false);
}

bool weft_utf8_invisible(uint32_t code)
{
    return IN(invisible, code);
}

unsigned weft_columns_of(uint32_t code)
{
    static locale_t utf8; /* whatever the user's locale is; without it, wcwidth knows only ASCII */
    if (code < 0x300)
        return code != 0;
    if (!utf8)
        utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    const locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;
    const int columns = wcwidth((wchar_t)code);
    if (before)
        uselocale(before);
    return columns < 0 ? 1 : (unsigned)columns;
}
