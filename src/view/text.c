/* SPDX-License-Identifier: ISC */
#include "view/text.h"

#include "view/textwidth.h"

/* Drawn over the character before them. */
static const struct weft_utf8_range combining[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x05bf, 0x05bf},   {0x05c1, 0x05c2},
    {0x05c4, 0x05c5}, {0x0610, 0x061a}, {0x064b, 0x065f}, {0x0670, 0x0670},   {0x06d6, 0x06dc},
    {0x0e31, 0x0e31}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff},   {0x1dc0, 0x1dff},
    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
};

/* Double width: Chinese, Japanese, Korean, emoji. */
static const struct weft_utf8_range full[] = {
    {0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
    {0xff01, 0xff60}, {0xffe0, 0xffe6}, {0x1f000, 0x1faff}, {0x20000, 0x3ffff},
};

#define IN(table, code) weft_utf8_in(table, sizeof(table) / sizeof((table)[0]), code)

/* In 1/2048 em. */
static uint32_t advance(uint32_t code, bool bold)
{
    if (code > 0x7e) {
        if (IN(combining, code) || weft_utf8_invisible(code))
            return 0;
        if (IN(full, code))
            return EM;
    }
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (code >= ranges[i].first && code <= ranges[i].last)
            return widths[bold][ranges[i].at + (code - ranges[i].first) * ranges[i].step];
    }
    return DEFAULT_WIDTH;
}

/* Rounded up, so that parts are never narrower together than the whole. */
static int32_t units(uint64_t ems, int32_t font_size)
{
    if (font_size <= 0 || ems == 0)
        return 0;
    if (ems > (uint64_t)INT32_MAX * EM / (uint64_t)font_size)
        return INT32_MAX;
    return (int32_t)((ems * (uint64_t)font_size + EM - 1) / EM);
}

int32_t weft_text_width(const char *text, size_t size, int32_t font_size, bool bold)
{
    int32_t width;
    weft_text_fit(text, size, font_size, bold, INT32_MAX, &width);
    return width;
}

size_t weft_text_fit(const char *text, size_t size, int32_t font_size, bool bold, int32_t width,
                     int32_t *fits)
{
    uint64_t ems = 0, most = UINT64_MAX; /* most: what is not wider than the width */
    size_t at = 0;
    *fits = 0;
    if (width < 0)
        return 0;
    if (font_size > 0 && width < INT32_MAX)
        most = (uint64_t)width * EM / (uint64_t)font_size;
    while (at < size) {
        uint32_t code = (unsigned char)text[at];
        size_t length = code < 0x80 ? 1 : weft_utf8_decode(text + at, size - at, &code);
        const uint64_t next = ems + advance(code, bold);
        if (next > most)
            break;
        ems = next;
        at += length;
    }
    *fits = units(ems, font_size);
    return at;
}
