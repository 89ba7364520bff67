/* SPDX-License-Identifier: ISC */
/* A plug-in with a libweft of its own; see plugged.c. */
#include <weft/weft.h>

void plugin_rounds(int n);

void plugin_rounds(int n)
{
    while (n-- > 0)
        weft_fulfill(weft_create("round", NULL));
}
