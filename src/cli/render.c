/* SPDX-License-Identifier: ISC */
/* weft render: a trace as a picture. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/common.h"
#include "paint/paint.h"
#include "view/view.h"

static const char help[] =
    "usage: weft render -o OUT.svg|OUT.png|OUT.pdf [OPTION…] FILE\n\n"
    "Draws a trace: each promise as a line from its creation to its resolution.\n\n"
    "  -o, --output OUT      the picture; - is standard output and needs --format\n"
    "      --format FORMAT   svg, png or pdf, whatever OUT is called\n"
    "      --from TIME       begin there (39.5ms, 2s; a bare number is nanoseconds)\n"
    "      --to TIME         end there\n"
    "      --size WxH        in pixels; W alone: as high as need be (default: 1600)\n"
    "      --select ID       mark the promise, what it became and what became it\n"
    "      --search TEXT     mark promises with TEXT (any case) in a label, failure or type\n"
    "      --no-counters     without the counters\n"
    "      --no-legend       without the legend\n"
    "      --raw             draw a bind and the like from its creation on\n"
    "      --theme THEME     light, dark or auto (default: an SVG follows its reader)\n"
    "      --help            this text\n\n"
    "Example: weft render -o net.svg --from 39.5ms --to 47.5ms net.ctf\n";

enum {
    FORMAT = WEFT__HELP + 1,
    FROM,
    TO,
    SIZE,
    SELECT,
    SEARCH,
    NO_COUNTERS,
    NO_LEGEND,
    RAW,
    THEME
};

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, FORMAT},
    {"from", required_argument, NULL, FROM},
    {"to", required_argument, NULL, TO},
    {"size", required_argument, NULL, SIZE},
    {"select", required_argument, NULL, SELECT},
    {"search", required_argument, NULL, SEARCH},
    {"no-counters", no_argument, NULL, NO_COUNTERS},
    {"no-legend", no_argument, NULL, NO_LEGEND},
    {"raw", no_argument, NULL, RAW},
    {"theme", required_argument, NULL, THEME},
    WEFT__HELP_OPTION,
    {0},
};

enum format { SVG, PNG, PDF, FORMATS };
static const char *const format_names[FORMATS] = {"svg", "png", "pdf"};

static const char *const theme_names[] = {
    [WEFT_LIGHT] = "light", [WEFT_DARK] = "dark", [WEFT_AUTO] = "auto"};
#define THEMES (sizeof theme_names / sizeof *theme_names)

struct request {
    const char *path, *out;
    struct weft_viewport viewport;
    const char *search;
    bool has_from, has_to, has_select, raw;
    int64_t from, to;
    uint64_t select;
    enum format format;
    enum weft_theme theme;
};

/* ---- The command line ---- */

/* The index of name among count names, or count. */
static unsigned find_name(const char *const *names, size_t count, const char *name)
{
    unsigned i = 0;
    while (i < count && strcasecmp(names[i], name) != 0)
        i++;
    return i;
}

static void parse_size(struct request *r, const char *text)
{
    struct weft_viewport *v = &r->viewport;
    if (!weft__parse_size(text, &v->width_px, &v->height_px))
        weft__misuse("render", "--size: \"%s\" is not a size; expected for instance 1600x900",
                     text);
    if (v->width_px < WEFT_PICTURE_MIN_PX || v->width_px > WEFT_PICTURE_MAX_PX ||
        (v->height_px && v->height_px < WEFT_PICTURE_MIN_PX) || v->height_px > WEFT_PICTURE_MAX_PX)
        weft__misuse("render", "--size: each side has from %d to %d pixels", WEFT_PICTURE_MIN_PX,
                     WEFT_PICTURE_MAX_PX);
}

static void parse_option(struct request *r, int c, const char **format)
{
    switch (c) {
    case 'o':
        r->out = optarg;
        break;
    case FORMAT:
        *format = optarg;
        break;
    case FROM:
        r->has_from = true;
        r->from = weft__time_value(&weft__render, "--from", optarg);
        break;
    case TO:
        r->has_to = true;
        r->to = weft__time_value(&weft__render, "--to", optarg);
        break;
    case SIZE:
        parse_size(r, optarg);
        break;
    case SELECT:
        r->has_select = true;
        if (!weft__parse_number(optarg, UINT64_MAX, &r->select))
            weft__misuse("render", "--select: \"%s\" is not the number of a promise", optarg);
        break;
    case SEARCH:
        r->search = optarg;
        break;
    case NO_COUNTERS:
        r->viewport.no_counters = true;
        break;
    case NO_LEGEND:
        r->viewport.no_legend = true;
        break;
    case RAW:
        r->raw = true;
        break;
    case THEME:
        r->theme = find_name(theme_names, THEMES, optarg);
        if (r->theme == THEMES)
            weft__misuse("render", "--theme: \"%s\" is none of light, dark and auto", optarg);
        break;
    }
}

static void choose_format(struct request *r, const char *format)
{
    const char *dot = strrchr(r->out, '.');
    const char *name = format ? format : dot ? dot + 1 : "";
    unsigned found = find_name(format_names, FORMATS, name);
    if (found == FORMATS && format)
        weft__misuse("render", "--format: \"%s\" is none of svg, png and pdf", format);
    if (found == FORMATS && strcmp(r->out, "-") == 0)
        weft__misuse("render", "-o - needs --format svg, png or pdf");
    if (found == FORMATS)
        weft__misuse("render", "%s ends in none of .svg, .png and .pdf; rename it, or add --format",
                     r->out);
    r->format = found;
    if (found != SVG && strcmp(r->out, "-") == 0 && isatty(STDOUT_FILENO))
        weft__misuse("render", "will not write a %s to a terminal", name);
}

static void parse(struct request *r, int argc, char **argv)
{
    const char *format = NULL;
    int c;
    *r = (struct request){
        .theme = WEFT_AUTO,
        .viewport = {
            .selected = WEFT_NONE, .hovered = WEFT_NONE, .focus_row = WEFT_NONE, .tips = true}};
    while ((c = weft__option(&weft__render, argc, argv, ":o:", options)) != -1)
        parse_option(r, c, &format);
    if (!r->out)
        weft__misuse("render", "-o OUT is missing");
    choose_format(r, format);
    if (r->has_from && r->has_to && r->from >= r->to)
        weft__misuse("render", "--from must be earlier than --to");
    r->path = weft__one_file(&weft__render, argc, argv);
    const char *slash = strrchr(r->path, '/');
    r->viewport.title = slash ? slash + 1 : strcmp(r->path, "-") ? r->path : "standard input";
}

/* ---- The picture ---- */

/* What the command line says about this trace, checked. Says what is wrong. */
static bool place_viewport(struct request *r, const struct weft_model *m)
{
    struct weft_viewport *v = &r->viewport;
    if (r->has_from || r->has_to) {
        int64_t last = m->end_ns > 0 ? m->end_ns : 1; /* a trace of one instant */
        v->from_ns = r->has_from ? r->from : 0;
        v->to_ns = r->has_to ? r->to : last;
        if (v->from_ns >= last || v->to_ns <= 0) {
            weft__say(r->path, "%s %s lies outside the trace, which lasts from 0 to %s",
                      v->from_ns >= last ? "--from" : "--to",
                      weft__duration(v->from_ns >= last ? v->from_ns : v->to_ns).text,
                      weft__duration(m->end_ns).text);
            return false;
        }
        v->from_ns = v->from_ns > 0 ? v->from_ns : 0;
        v->to_ns = v->to_ns < last ? v->to_ns : last;
    }
    if (r->has_select) {
        v->selected = weft_model_find(m, r->select);
        if (v->selected == WEFT_NONE || v->selected == WEFT_ROOT) {
            weft__say(r->path, "has no promise %" PRIu64 "; weft promises lists them", r->select);
            return false;
        }
    }
    return true;
}

static void tell_hits(const struct request *r)
{
    if (!r->search)
        return;
    uint32_t hits = weft_search_hits(r->viewport.search);
    if (hits == 0 || isatty(STDERR_FILENO))
        weft__say(r->path, "\"%s\" marks %" PRIu32 " promise%s", weft__shown(r->search).text, hits,
                  weft__plural(hits));
}

static int paint(const struct request *r, const struct weft_drawlist *list, FILE *out,
                 struct weft_error *err)
{
    switch (r->format) {
    case PNG:
        return weft_paint_png(list, out, r->theme, err);
    case PDF:
        return weft_paint_pdf(list, out, r->theme, err);
    default:
        return weft_paint_svg(list, out, r->theme);
    }
}

static int write_picture(const struct request *r, const struct weft_drawlist *list, uint32_t rows)
{
    struct weft__output out;
    if (!weft__output_open(&out, r->out))
        return WEFT__FAILED;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    errno = 0;
    int rc = paint(r, list, out.file, &err);
    if (rc == WEFT_E_IO && !*err.text)
        weft_error_set(&err, rc, WEFT_NO_OFFSET, "cannot be written%s%s", errno ? ": " : "",
                       errno ? strerror(errno) : "");
    const char *shown = out.file == stdout ? "standard output" : r->out;
    if (rc < 0 && out.file == stdout && weft__stdout_left())
        rc = 0;
    if (rc < 0) {
        err.code = rc;
        weft__complain(shown, &err);
    }
    bool kept = weft__output_close(&out, rc == 0);
    if (rc < 0 || !kept)
        return WEFT__FAILED;
    if (isatty(STDERR_FILENO))
        weft__say(shown, "%d x %d pixels, %" PRIu32 " rows of promises", list->width / WEFT_PX,
                  list->height / WEFT_PX, rows);
    return WEFT__DONE;
}

static int draw(struct request *r, const struct weft_model *m)
{
    struct weft_scene *scene = NULL;
    struct weft_search *search = NULL;
    struct weft_drawlist list = {0};
    int status = WEFT__FAILED;
    if (!place_viewport(r, m))
        return status;
    int rc = weft_scene_new(&scene, m, r->raw, NULL, NULL);
    if (rc == 0 && r->search)
        rc = weft_search_new(&search, scene, r->search);
    if (search)
        weft_search_work(search, 0);
    r->viewport.search = search;
    if (rc == 0)
        rc = weft_view_draw(&list, NULL, scene, &r->viewport);
    if (rc < 0) {
        weft__say(r->path, "cannot be drawn: %s", weft_error_name(rc));
    } else {
        tell_hits(r);
        status = write_picture(r, &list, scene->l->rows);
    }
    weft_drawlist_fini(&list);
    weft_search_free(search);
    weft_scene_free(scene);
    return status;
}

static int run(int argc, char **argv)
{
    struct request request;
    parse(&request, argc, argv);
    struct weft_model *model = weft__model(request.path, NULL);
    if (!model)
        return WEFT__FAILED;
    int status = draw(&request, model);
    weft_model_free(model);
    return status;
}

const struct weft__command weft__render = {"render", "draw a trace as SVG, PNG or PDF", help, run};
