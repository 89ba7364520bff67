/* SPDX-License-Identifier: ISC */
#include "format/columns.h"

#include <locale.h>
#include <wchar.h>

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
