/* SPDX-License-Identifier: ISC */
#include "cli/picture.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "view/view.h"

static const char *const format_names[WEFT__PICTURE_FORMS] = {"svg", "png", "pdf"};

static const char *const theme_names[] = {
    [WEFT_LIGHT] = "light", [WEFT_DARK] = "dark", [WEFT_AUTO] = "auto"};
#define THEMES (sizeof theme_names / sizeof *theme_names)

/* The index of name among count names, or count. */
static unsigned find_name(const char *const *names, size_t count, const char *name)
{
    unsigned i = 0;
    while (i < count && strcasecmp(names[i], name) != 0)
        i++;
    return i;
}

enum weft__picture_form weft__picture_format(const char *command, const char *out,
                                             const char *format)
{
    const char *dot = strrchr(out, '.');
    const char *name = format ? format : dot ? dot + 1 : "";
    unsigned found = find_name(format_names, WEFT__PICTURE_FORMS, name);
    if (found == WEFT__PICTURE_FORMS && format)
        weft__misuse(command, "--format: \"%s\" is none of svg, png and pdf", format);
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

enum weft_theme weft__picture_theme(const char *command, const char *name)
{
    unsigned found = find_name(theme_names, THEMES, name);
    if (found == THEMES)
        weft__misuse(command, "--theme: \"%s\" is none of light, dark and auto", name);
    return (enum weft_theme)found;
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
