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

enum cli_picture_form cli_picture_format(const char *command, const char *out, const char *format)
{
    const char *dot = strrchr(out, '.');
    const char *name = format ? format : dot ? dot + 1 : "";
    unsigned found = 0;
    while (found < CLI_PICTURE_FORMS && strcasecmp(cli_picture_formats[found], name) != 0)
        found++;
    if (found == CLI_PICTURE_FORMS && strcmp(out, "-") == 0)
        cli_misuse(command, "-o - needs --format svg, png or pdf");
    if (found == CLI_PICTURE_FORMS)
        cli_misuse(command, "%s ends in none of .svg, .png and .pdf; rename it, or add --format",
                   out);
    if (found != CLI_SVG && strcmp(out, "-") == 0 && isatty(STDOUT_FILENO))
        cli_misuse(command, "will not write a %s to a terminal", name);
    return (enum cli_picture_form)found;
}

void cli_picture_size(const char *command, const char *text, int32_t *width_px, int32_t *height_px)
{
    uint64_t w, h = 0;
    const size_t digits = strcspn(text, "x");
    if (!weft_parse_digits(text, digits, INT32_MAX, &w) ||
        (text[digits] && (!weft_parse_count(text + digits + 1, INT32_MAX, &h) || h == 0)))
        cli_misuse(command, "--size: \"%s\" is not a size; expected for instance 1600x900", text);
    if (w < WEFT_PICTURE_MIN_PX || w > WEFT_PICTURE_MAX_PX || (h && h < WEFT_PICTURE_MIN_PX) ||
        h > WEFT_PICTURE_MAX_PX)
        cli_misuse(command, "--size: each side has from %d to %d pixels", WEFT_PICTURE_MIN_PX,
                   WEFT_PICTURE_MAX_PX);
    *width_px = (int32_t)w;
    *height_px = (int32_t)h;
}

const char *cli_picture_title(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : strcmp(path, "-") ? path : "standard input";
}

int cli_picture_write(const struct cli_picture *p, const struct weft_drawlist *list,
                      const char *what)
{
    struct weft_output out;
    if (!cli_output_open(&out, p->out, WEFT_OUTPUT_OTHER, p->source, p->sources))
        return CLI_FAILED;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    errno = 0;
    int rc = p->format == CLI_PNG   ? weft_paint_png(list, out.file, p->theme, &err)
             : p->format == CLI_PDF ? weft_paint_pdf(list, out.file, p->theme, &err)
                                    : weft_paint_svg(list, out.file, p->theme);
    if (rc == WEFT_E_IO && !*err.text)
        weft_error_set(&err, rc, WEFT_NO_OFFSET, "cannot be written%s%s", errno ? ": " : "",
                       errno ? strerror(errno) : "");
    const char *shown = out.file == stdout ? "standard output" : p->out;
    if (rc < 0 && out.file == stdout && cli_stdout_left())
        rc = 0;
    if (rc < 0) {
        err.code = rc;
        cli_complain(shown, &err);
    }
    bool kept = cli_output_close(&out, p->out, rc == 0);
    if (rc < 0 || !kept)
        return CLI_FAILED;
    if (isatty(STDERR_FILENO))
        cli_say(shown, "%d x %d pixels, %s", list->width / WEFT_PX, list->height / WEFT_PX, what);
    return CLI_DONE;
}
