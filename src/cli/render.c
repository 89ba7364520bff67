/* SPDX-License-Identifier: ISC */
/* weft render: a trace as a picture. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/picture.h"
#include "explore/explore.h"
#include "paint/paint.h"
#include "view/view.h"

static const char help[] =
    "usage: weft render -o OUT.svg|OUT.png|OUT.pdf [OPTION…] FILE…\n"
    "       weft render --flame OUT.svg|OUT.png|OUT.pdf [OPTION…] FILE…\n\n"
    "Draws a trace: each promise as a line from its creation to its resolution. Several traces\n"
    "are drawn one above the other, on the same time axis.\n\n"
    "  -o, --output OUT      the picture; - is standard output and needs --format\n"
    "      --format FORMAT   svg, png or pdf, whatever OUT is called\n"
    "      --at PLACE        what weft view and weft html show there (\"copy link\")\n"
    "      --from TIME       begin there (39.5ms, 2s; a bare number is nanoseconds)\n"
    "      --to TIME         end there\n"
    "      --size WxH        in pixels; W alone: as high as need be (default: 1600),\n"
    "                        of several traces at most 900 each; with --at, --finding, --path\n"
    "                        or --diff 900, or 400 for each\n"
    "      --select ID       mark the promise, what it became and what became it\n"
    "      --finding N       what weft explain found: where finding N is, with its evidence\n"
    "      --path ID         the critical path of that promise\n"
    "      --diff            two FILEs, a good run and a bad one: where they diverge\n"
    "      --search TEXT     mark promises with the words of TEXT in a label, failure\n"
    "                        or type (any case; \"in quotes\": as one word)\n"
    "      --no-counters     without the counters\n"
    "      --no-samples      without the strips of samples\n"
    "      --no-legend       without the legend\n"
    "      --raw             draw a bind and the like from its creation on\n"
    "      --theme THEME     light, dark or auto (default: an SVG follows its reader)\n"
    "      --help            this text\n\n"
    "With --flame OUT, a flame graph of the samples in the files (see weft sample):\n"
    "--format, --from, --to, --size, --theme and --no-legend as above, and\n"
    "      --search TEXT     mark frames with the words of TEXT in their names, and say their "
    "share\n"
    "      --promise ID      of what ran for this promise and those that it created\n"
    "      --label TEXT      … for promises with that label\n"
    "      --by KEY          grouped by promise, label, root (on whose behalf), thread or core\n"
    "      --off-cpu         of the time that threads were away from a core\n"
    "      --async-stacks[=creators|waits]\n"
    "                        below the event loop, go on with who created the promise (or waited\n"
    "                        for it)\n"
    "      --diff OTHER      red: takes a larger share than in OTHER; blue: a smaller one\n"
    "      --no-symbols      take only names that stand in the files\n\n"
    "Example: weft render -o net.svg --from 39.5ms --to 47.5ms net.ctf\n";

enum {
    FORMAT = WEFT__HELP + 1,
    AT,
    FROM,
    TO,
    SIZE,
    SELECT,
    SEARCH,
    FINDING,
    CRITICAL_PATH,
    DIFF,
    NO_COUNTERS,
    NO_SAMPLES,
    NO_LEGEND,
    RAW,
    THEME,
    FLAME_ONLY, /* these and those after it */
    PROMISE = FLAME_ONLY,
    LABEL,
    BY,
    OFF_CPU,
    ASYNC_STACKS,
    NO_SYMBOLS
};

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, FORMAT},
    {"at", required_argument, NULL, AT},
    {"from", required_argument, NULL, FROM},
    {"to", required_argument, NULL, TO},
    {"size", required_argument, NULL, SIZE},
    {"select", required_argument, NULL, SELECT},
    {"search", required_argument, NULL, SEARCH},
    {"finding", required_argument, NULL, FINDING},
    {"path", required_argument, NULL, CRITICAL_PATH},
    {"diff", no_argument, NULL, DIFF},
    {"no-counters", no_argument, NULL, NO_COUNTERS},
    {"no-samples", no_argument, NULL, NO_SAMPLES},
    {"no-legend", no_argument, NULL, NO_LEGEND},
    {"raw", no_argument, NULL, RAW},
    {"theme", required_argument, NULL, THEME},
    /* Of flame graphs: refused, with the reason. */
    {"promise", required_argument, NULL, PROMISE},
    {"label", required_argument, NULL, LABEL},
    {"by", required_argument, NULL, BY},
    {"off-cpu", no_argument, NULL, OFF_CPU},
    {"async-stacks", optional_argument, NULL, ASYNC_STACKS},
    {"no-symbols", no_argument, NULL, NO_SYMBOLS},
    WEFT__HELP_OPTION,
    {0},
};

struct request {
    const char *path, *out, *at;
    char **paths; /* path is the first of them */
    unsigned count;
    struct weft_viewport viewport;
    const char *search;
    bool has_from, has_to, has_select, raw, path_wanted, diff;
    int64_t from, to;
    uint64_t select, finding; /* finding: 0: none */
    unsigned selects;         /* how often something is selected */
    struct weft__picture picture;
};

/* ---- The command line ---- */

static _Noreturn void refuse(int c)
{
    const struct option *o = options;
    while (o->val != c)
        o++;
    weft__misuse("render", "--%s is for flame graphs, which --flame OUT draws%s", o->name,
                 c == PROMISE ? "; --select ID marks a promise"
                 : c == LABEL ? "; --search TEXT marks promises by their labels"
                              : "");
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
    case AT:
        r->at = strchr(optarg, '#') ? strchr(optarg, '#') + 1 : optarg; /* or a page's whole link */
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
        weft__picture_size("render", optarg, &r->viewport.width_px, &r->viewport.height_px);
        break;
    case SELECT:
        r->has_select = true;
        r->selects++;
        if (!weft_parse_count(optarg, UINT64_MAX, &r->select))
            weft__misuse("render", "--select: \"%s\" is not the number of a promise", optarg);
        break;
    case SEARCH:
        r->search = optarg;
        break;
    case FINDING:
        if (!weft_parse_count(optarg, WEFT_FINDINGS_MAX, &r->finding) || r->finding == 0)
            weft__misuse("render", "--finding: \"%s\" is not the number of a finding, from 1",
                         optarg);
        break;
    case CRITICAL_PATH:
        r->has_select = r->path_wanted = true;
        r->selects++;
        if (!weft_parse_count(optarg, UINT64_MAX, &r->select))
            weft__misuse("render", "--path: \"%s\" is not the number of a promise", optarg);
        break;
    case DIFF:
        r->diff = true;
        break;
    case NO_COUNTERS:
        r->viewport.no_counters = true;
        break;
    case NO_SAMPLES:
        r->viewport.no_strips = true;
        break;
    case NO_LEGEND:
        r->viewport.no_legend = true;
        break;
    case RAW:
        r->raw = true;
        break;
    case THEME:
        r->picture.theme = weft__picture_theme("render", optarg);
        break;
    default:
        refuse(c);
    }
}

/* One thing is selected, or none. */
static void check_selection(const struct request *r)
{
    if (r->selects > 1)
        weft__misuse("render", "--select and --path say what is selected: only one of them, once");
    if (r->selects && r->finding)
        weft__misuse("render", "--finding selects what is to blame; leave out --select and --path");
    if (r->selects && r->diff)
        weft__misuse("render",
                     "--diff shows two traces where they part; leave out --select and --path");
}

static void parse(struct request *r, int argc, char **argv)
{
    const char *format = NULL;
    int c;
    *r = (struct request){
        .picture = {.theme = WEFT_AUTO},
        .viewport = {
            .selected = WEFT_NONE, .hovered = WEFT_NONE, .focus_row = WEFT_NONE, .tips = true}};
    while ((c = weft__option(&weft__render, argc, argv, ":o:", options)) != -1)
        parse_option(r, c, &format);
    if (!r->out)
        weft__misuse("render", "-o OUT is missing");
    r->picture.out = r->out;
    r->picture.format = weft__picture_format("render", r->out, format);
    if (r->has_from && r->has_to && r->from >= r->to)
        weft__misuse("render", "--from must be earlier than --to");
    if (optind == argc)
        weft__misuse("render", "no FILE is given");
    if (argc - optind > WEFT_PANES_MAX)
        weft__misuse("render", "at most %d FILEs can be drawn together", WEFT_PANES_MAX);
    check_selection(r);
    if (r->diff && argc - optind != 2)
        weft__misuse("render", "--diff compares two FILEs, a good run and a bad one");
    r->paths = argv + optind;
    r->count = (unsigned)(argc - optind);
    r->path = r->paths[0];
    r->picture.source = (const char *const *)r->paths;
    r->picture.sources = r->count;
    r->viewport.title = weft__picture_title(r->path);
    if (r->viewport.height_px && r->viewport.height_px < (int)r->count * WEFT_PICTURE_MIN_PX)
        weft__misuse("render", "--size: %u traces need a height of %u pixels", r->count,
                     r->count * WEFT_PICTURE_MIN_PX);
}

/* ---- The picture ---- */

/* The times that are asked for, within a trace that ends then. Says what is wrong. */
static bool find_times(const struct request *r, int64_t end_ns, int64_t *from_ns, int64_t *to_ns)
{
    int64_t last = end_ns > 0 ? end_ns : 1; /* a trace of one instant */
    int64_t from = r->has_from ? r->from : 0, to = r->has_to ? r->to : last;
    if (from >= last || to <= 0) {
        weft__say(r->path, "%s %s lies outside the trace, which lasts from 0 to %s",
                  from >= last ? "--from" : "--to", weft_moment(from >= last ? from : to).text,
                  weft_moment(end_ns).text);
        return false;
    }
    *from_ns = from > 0 ? from : 0;
    *to_ns = to < last ? to : last;
    return true;
}

static bool is_missing(const struct weft_model *m, uint64_t id)
{
    uint32_t promise = weft_model_find(m, id);
    return promise == WEFT_NONE || promise == WEFT_ROOT;
}

static bool say_missing(const struct request *r)
{
    weft__say(r->path, "has no promise %" PRIu64 "; weft promises lists them", r->select);
    return false;
}

/* What the command line says about this trace, checked. Says what is wrong. */
static bool place_viewport(struct request *r, const struct weft_model *m)
{
    struct weft_viewport *v = &r->viewport;
    if ((r->has_from || r->has_to) && !find_times(r, m->end_ns, &v->from_ns, &v->to_ns))
        return false;
    if (r->has_select && is_missing(m, r->select))
        return say_missing(r);
    if (r->has_select)
        v->selected = weft_model_find(m, r->select);
    return true;
}

static void tell_hits(const struct request *r)
{
    if (!r->search)
        return;
    uint32_t hits = weft_search_hits(r->viewport.search);
    if (hits == 0 || isatty(STDERR_FILENO))
        weft__say(r->path, "\"%s\" marks %" PRIu32 " promise%s", weft__shown(r->search).text, hits,
                  weft_plural(hits));
}

static int write_picture(const struct request *r, const struct weft_drawlist *list, uint32_t rows)
{
    char what[48];
    snprintf(what, sizeof what, "%" PRIu32 " rows of promises", rows);
    return weft__picture_write(&r->picture, list, what);
}

/* Says what is wrong. The caller owns both. */
static bool read_trace(const char *path, bool raw, struct weft_model **m, struct weft_scene **scene)
{
    struct weft_reader *reader = weft__open(path);
    *scene = NULL;
    *m = reader ? weft__model_of(reader, path) : NULL;
    int rc = *m ? weft_scene_load(scene, *m, reader, raw, NULL, NULL) : WEFT_E_IO;
    weft_reader_close(reader);
    if (*m && rc < 0)
        weft__say(path, "cannot be drawn: %s", weft_error_name(rc));
    if (rc < 0)
        weft_model_free(*m);
    return rc == 0;
}

static int draw(struct request *r)
{
    struct weft_model *m;
    struct weft_scene *scene;
    struct weft_search *search = NULL;
    struct weft_drawlist list = {0};
    int status = WEFT__FAILED, rc = 0;
    if (!read_trace(r->path, r->raw, &m, &scene))
        return status;
    if (!place_viewport(r, m))
        goto out;
    if (r->search)
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
out:
    weft_drawlist_fini(&list);
    weft_search_free(search);
    weft_scene_free(scene);
    weft_model_free(m);
    return status;
}

/* ---- Several traces, or a place: as the window and the page show it ---- */

enum {
    EACH_MAX = 900,    /* of several traces, pixels */
    FINDING_ROOM = 40, /* in a place */
};

struct seen {
    struct weft_explorer *explorer;
    const struct weft_model *model[WEFT_PANES_MAX]; /* the explorer's */
    uint32_t rows;
};

/* Says what is wrong. */
static bool add_trace(struct seen *s, const char *path, bool raw)
{
    struct weft_model *m;
    struct weft_scene *scene;
    if (!read_trace(path, raw, &m, &scene))
        return false;
    int rc = weft_explorer_add(s->explorer, scene, m, weft__picture_title(path));
    if (rc < 0) {
        weft__say(path, "cannot be drawn: %s", weft_error_name(rc));
        weft_scene_free(scene);
        weft_model_free(m);
        return false;
    }
    s->model[weft_explorer_panes(s->explorer) - 1] = m;
    s->rows += scene->l->rows;
    return true;
}

/* What the options say, as a place that goes on where another one ends. Says what is wrong. */
static bool add_options(const struct request *r, const struct seen *s, char *out, size_t room)
{
    int64_t end = 0, from, to;
    unsigned pane = 0;
    size_t n = 0;
    for (unsigned i = 0; i < r->count; i++)
        end = s->model[i]->end_ns > end ? s->model[i]->end_ns : end;
    if (r->has_from || r->has_to) {
        if (!find_times(r, end, &from, &to))
            return false;
        if (r->has_from || !r->at)
            n += (size_t)snprintf(out + n, room - n, "&from=%" PRId64, from);
        if (r->has_to || !r->at)
            n += (size_t)snprintf(out + n, room - n, "&to=%" PRId64, to);
    }
    if (r->has_select) {
        while (pane < r->count && is_missing(s->model[pane], r->select))
            pane++;
        if (pane == r->count)
            return say_missing(r);
        n += (size_t)snprintf(out + n, room - n, pane ? "&select.%u=" : "&select=", pane + 1);
        n += (size_t)snprintf(out + n, room - n, "%" PRIu64, r->select);
    }
    if (r->path_wanted)
        n += (size_t)snprintf(out + n, room - n, "&path=1");
    if (r->diff)
        n += (size_t)snprintf(out + n, room - n, "&diff=1");
    if (r->viewport.no_counters)
        n += (size_t)snprintf(out + n, room - n, "&counters=off");
    if (r->viewport.no_strips)
        snprintf(out + n, room - n, "&samples=off");
    return true;
}

/* Whether something is to be shown that only an analysis says. */
static bool is_analysed(const struct request *r)
{
    return r->finding || r->path_wanted || r->diff ||
           (r->at && weft_explorer_place_is_analysed(r->at));
}

/* Shows a finding, where and when the place says so, or else where its evidence is. place has room for more. */
static bool show_finding(const struct request *r, const struct seen *s, char *place, unsigned pane,
                         uint32_t number)
{
    if (!r->has_from && !r->has_to)
        return weft_explorer_show_finding(s->explorer, pane, number);
    if (pane)
        sprintf(place + strlen(place), "&finding.%u=%" PRIu32, pane + 1, number);
    else
        sprintf(place + strlen(place), "&finding=%" PRIu32, number);
    return weft_explorer_go(s->explorer, place);
}

/* Which trace has the finding; they are numbered one after another. Says what is wrong. */
static bool go_finding(const struct request *r, const struct seen *s, char *place)
{
    uint64_t number = r->finding, all = 0;
    for (unsigned i = 0; i < r->count; i++) {
        uint32_t count = weft_explorer_analysis(s->explorer, i)->findings.count;
        if (number <= count)
            return show_finding(r, s, place, i, (uint32_t)number);
        number -= count;
        all += count;
    }
    const char *have = r->count > 1 ? "the traces have" : "has";
    if (all)
        weft__say(r->count > 1 ? "render" : r->path,
                  "%s %" PRIu64 " finding%s; weft explain --all lists them", have, all,
                  weft_plural(all));
    else
        weft__say(r->count > 1 ? "render" : r->path, "%s no findings", have);
    return false;
}

/* Says what is wrong. */
static bool go_there(const struct request *r, const struct seen *s)
{
    char options_place[200] = "";
    const char *at = r->at ? r->at : "";
    if (!add_options(r, s, options_place, sizeof options_place))
        return false;
    char *place = malloc(strlen(at) + sizeof options_place + FINDING_ROOM);
    if (!place) {
        weft__say(r->path, "cannot be drawn: %s", weft_error_name(WEFT_E_NOMEM));
        return false;
    }
    sprintf(place, "%s%s", at, options_place);
    if (!weft_explorer_go(s->explorer, place))
        weft__say(r->path, "not all of the place is in %s; the rest is shown",
                  r->count > 1 ? "these traces" : "this trace");
    int rc = is_analysed(r) ? weft_explorer_analyse(s->explorer) : 0;
    if (rc < 0)
        weft__say(r->path, "cannot be explained: %s", weft_error_name(rc));
    bool found = rc == 0 && (!r->finding || go_finding(r, s, place));
    free(place);
    if (!found)
        return false;
    if (r->path_wanted && !r->at && !r->finding && !r->diff && !r->has_from && !r->has_to)
        weft_explorer_command(s->explorer, WEFT_COMMAND_FIT_SELECTION);
    if (r->search)
        weft_explorer_search(s->explorer, r->search);
    while (weft_explorer_work(s->explorer))
        ;
    const char *hits = weft_explorer_found(s->explorer);
    if (*hits && (!strcmp(hits, "not found") || isatty(STDERR_FILENO)))
        weft__say(r->path, "\"%s\": %s", weft__shown(weft_explorer_query(s->explorer)).text, hits);
    return true;
}

static int draw_seen(const struct request *r, const struct seen *s)
{
    const struct weft_viewport *v = &r->viewport;
    struct weft_drawlist still = {0};
    const struct weft_drawlist *list = &still;
    int status = WEFT__FAILED, rc = 0;
    int width = v->width_px ? v->width_px : 1600;
    int most = (int)r->count * 400 > 900 ? (int)r->count * 400 : 900;
    weft_explorer_resize(s->explorer, width, v->height_px ? v->height_px : most);
    if (!go_there(r, s))
        return status;
    if (!v->height_px && !r->at) { /* as high as need be; a finding has few rows that matter */
        int limit = is_analysed(r) ? most : (int)r->count * EACH_MAX;
        int height = weft_explorer_natural_height(s->explorer, limit);
        weft_explorer_resize(s->explorer, width, height ? height : most);
    }
    if (v->no_legend) /* then nothing is there that the window does not show */
        list = weft_explorer_draw(s->explorer);
    else
        rc = weft_explorer_picture(s->explorer, &still);
    if (rc < 0 || !list)
        weft__say(r->path, "cannot be drawn: %s", weft_error_name(WEFT_E_NOMEM));
    else
        status = write_picture(r, list, s->rows);
    weft_drawlist_fini(&still);
    return status;
}

static int run_explorer(const struct request *r)
{
    struct seen s = {.explorer = NULL};
    bool sound = weft_explorer_new(&s.explorer) == 0;
    bool raw = r->raw || (r->at && weft_explorer_place_is_raw(r->at));
    if (!sound)
        weft__say(r->path, "cannot be drawn: %s", weft_error_name(WEFT_E_NOMEM));
    for (unsigned i = 0; sound && i < r->count; i++)
        sound = add_trace(&s, r->paths[i], raw);
    int status = sound ? draw_seen(r, &s) : WEFT__FAILED;
    weft_explorer_free(s.explorer);
    return status;
}

static int run(int argc, char **argv)
{
    struct request request;
    if (weft__flame_wanted(argc, argv))
        return weft__flame_run(argc, argv);
    parse(&request, argc, argv);
    if (request.at || request.count > 1 || is_analysed(&request))
        return run_explorer(&request);
    return draw(&request);
}

const struct weft__command weft__render = {"render", "draw a trace as SVG, PNG or PDF", help, run};
