/* SPDX-License-Identifier: ISC */
/* A library in a program that was compiled with another version of the header. */
#include <weft/weft.h>

weft_promise plugged(weft_promise parent);

weft_promise plugged(weft_promise parent)
{
    weft_promise p = weft_create_from(parent, "plugged", "in a library");
    weft_label(p, "labelled there");
    return p;
}
