/* SPDX-License-Identifier: ISC */
#include "view/drawlist.h"

const struct weft_ink_info weft_inks[WEFT_INKS] = {
#define INK(NAME, css, light, dark) {css, {light, dark}},
#include "view/palette.def"
};
