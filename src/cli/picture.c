/* SPDX-License-Identifier: ISC */
#include "cli/picture.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "view/view.h"

const char *const cli_picture_formats[] = {"svg", "png", "pdf", NULL};

const char *const cli_picture_themes[] = {
    [WEFT_LIGHT] = "light", [WEFT_DARK] = "dark", [WEFT_AUTO] = "auto", NULL};

enum weft__picture_form weft__picture_format(const char *command, const char *out,
                                             const char *format)
{
    const char *dot = strrchr(out, '.');
    const char *name = format ? format : dot ? dot + 1 : "";
    unsigned found = 0;
    while (found < WEFT__PICTURE_FORMS && strcasecmp(cli_picture_formats[found], name) != 0)
        found++;
    if (found == WEFT__PICTURE_FORMS && strcmp(out, "-") == 0)
        weft__misuse(command, "-o - needs --format svg, png or pdf");
    if (found == WEFT__PICTURE_FORMS)
        weft__misuse(command, "%s ends in none of .svg, .png and .pdf; rename it, or add --format",
                     out);
    if (found != WEFT__SVG && strcmp(out, "-") == 0 && isatty(STDOUT_FILENO))
        weft__misuse(command, "will not write a %s to a terminal", name);
    return (enum weft__picture_form)found;
}

void weft__picture_size(const char *command, const char *text, int32_t *width_px,
                        int32_t *height_px)
{
    if (!weft__parse_pixels(text, width_px, height_px))
        weft__misuse(command, "--size: \"%s\" is not a size; expected for instance 1600x900", text);
    if (*width_px < WEFT_PICTURE_MIN_PX || *width_px > WEFT_PICTURE_MAX_PX ||
        (*height_px && *height_px < WEFT_PICTURE_MIN_PX) || *height_px > WEFT_PICTURE_MAX_PX)
        weft__misuse(command, "--size: each side has from %d to %d pixels", WEFT_PICTURE_MIN_PX,
                     WEFT_PICTURE_MAX_PX);
}

const char *weft__picture_title(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : strcmp(path, "-") ? path : "standard input";
}

static int paint(const struct weft__picture *p, const struct weft_drawlist *list, FILE *out,
                 struct weft_error *err)
{
    switch (p->format) {
    case WEFT__PNG:
        return weft_paint_png(list, out, p->theme, err);
    case WEFT__PDF:
        return weft_paint_pdf(list, out, p->theme, err);
    default:
        return weft_paint_svg(list, out, p->theme);
    }
}

int weft__picture_write(const struct weft__picture *p, const struct weft_drawlist *list,
                        const char *what)
{
    struct weft_output out;
    if (!weft__output_open(&out, p->out, WEFT_OUTPUT_OTHER, p->source, p->sources))
        return WEFT__FAILED;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    errno = 0;
    int rc = paint(p, list, out.file, &err);
    if (rc == WEFT_E_IO && !*err.text)
        weft_error_set(&err, rc, WEFT_NO_OFFSET, "cannot be written%s%s", errno ? ": " : "",
                       errno ? strerror(errno) : "");
    const char *shown = out.file == stdout ? "standard output" : p->out;
    if (rc < 0 && out.file == stdout && weft__stdout_left())
        rc = 0;
    if (rc < 0) {
        err.code = rc;
        weft__complain(shown, &err);
    }
    bool kept = weft__output_close(&out, p->out, rc == 0);
    if (rc < 0 || !kept)
        return WEFT__FAILED;
    if (isatty(STDERR_FILENO))
        weft__say(shown, "%d x %d pixels, %s", list->width / WEFT_PX, list->height / WEFT_PX, what);
    return WEFT__DONE;
}
