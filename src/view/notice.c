/* SPDX-License-Identifier: ISC */
#include "view/notice.h"

#include <string.h>

#include "view/canvas.h"

void weft_notice_text(struct weft_drawlist *list, enum weft_ink ink, int32_t font, int32_t x,
                      int32_t baseline, int32_t max_width, const char *text)
{
    struct canvas c = {.list = list};
    size_t size = strlen(text);
    int32_t width = weft_text_width(text, size, font, false);
    width = width < max_width ? width : max_width;
    canvas_text(&c, ink, font, false, x - width / 2, baseline, max_width, text, size);
}

void weft_notice_line(struct weft_drawlist *list, enum weft_ink ink, int32_t x0, int32_t y,
                      int32_t x1)
{
    struct canvas c = {.list = list};
    canvas_rect(&c, ink, x0, y, x1, y + PX);
}
