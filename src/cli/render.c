/* SPDX-License-Identifier: ISC */
/* weft render: a trace as a picture. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/picture.h"
#include "explore/explore.h"
#include "notes/notes.h"
#include "paint/paint.h"
#include "view/layout.h"
#include "view/view.h"

struct request {
    const char *path, *out, *at;
    char **paths; /* path is the first of them */
    unsigned count;
    struct weft_viewport viewport;
    const char *search;
    bool has_from, has_to, has_select, raw, path_wanted, diff, no_notes;
    int64_t from, to;
    uint64_t select, critical, finding; /* finding: 0: none */
    const char *format;
    struct cli_picture picture;
};

static struct request request = {
    .picture = {.theme = WEFT_AUTO},
    .viewport = {
        .selected = WEFT_NONE, .hovered = WEFT_NONE, .focus_row = WEFT_NONE, .tips = true}};

/* ---- The command line ---- */

static void take_size(const struct cli_command *c, const struct cli_option *o, const char *value)
{
    (void)o;
    cli_picture_size(c->name, value, &request.viewport.width_px, &request.viewport.height_px);
}

#define FLAME " is for flame graphs, which --flame OUT draws"

static const struct cli_option options[] = {
    CLI_TEXT("output", request.out, "OUT",
             "the picture: OUT.svg, OUT.png or OUT.pdf; - is standard output and needs --format",
             .letter = 'o', .required = true, .completes = "svg|png|pdf"),
    CLI_PICTURE_FORMAT(request.format),
    CLI_TEXT("at", request.at, "PLACE", "what weft view and weft html show there (\"copy link\")"),
    CLI_PICTURE_FROM(request.from, request.has_from),
    CLI_PICTURE_TO(request.to, request.has_to),
    CLI_PICTURE_SIZE(take_size),
    CLI_NUMBER("select", request.select, "ID",
               "mark the promise, what it became and what became it", .given = &request.has_select),
    CLI_NUMBER("finding", request.finding, "N",
               "what weft explain found: where finding N is, with its evidence", .least = 1,
               .most = WEFT_FINDINGS_MAX),
    CLI_NUMBER("path", request.critical, "ID", "the critical path of that promise",
               .given = &request.path_wanted),
    CLI_FLAG("diff", request.diff, "two FILEs, a good run and a bad one: where they diverge"),
    CLI_TEXT("search", request.search, "TEXT",
             "mark promises with the words of TEXT in a label, failure or type (any case; \"in "
             "quotes\": as one word)"),
    CLI_FLAG("no-counters", request.viewport.no_counters, "without the counters"),
    CLI_FLAG("no-samples", request.viewport.no_strips, "without the strips of samples"),
    CLI_FLAG("no-notes", request.no_notes, "without the notes that are kept beside a trace"),
    CLI_PICTURE_NO_LEGEND(request.viewport.no_legend),
    CLI_FLAG("raw", request.raw, "draw a bind and the like from its creation on"),
    CLI_PICTURE_THEME(request.picture.theme),
    CLI_REFUSED("promise", "ID", FLAME "; --select ID marks a promise"),
    CLI_REFUSED("label", "TEXT", FLAME "; --search TEXT marks promises by their labels"),
    CLI_REFUSED("by", "KEY", FLAME),
    CLI_REFUSED("off-cpu", NULL, FLAME),
    CLI_REFUSED("async-stacks", NULL, FLAME),
    CLI_REFUSED("no-symbols", NULL, FLAME),
    CLI_END,
};

/* One thing is selected, or none. */
static void check_selection(struct request *r)
{
    if (r->has_select && r->path_wanted)
        cli_misuse("render", "--select and --path say what is selected: only one of them");
    if (r->path_wanted)
        r->select = r->critical;
    r->has_select |= r->path_wanted;
    if (r->has_select && r->finding)
        cli_misuse("render", "--finding selects what is to blame; leave out --select and --path");
    if (r->has_select && r->diff)
        cli_misuse("render",
                   "--diff shows two traces where they part; leave out --select and --path");
}

static void check(struct request *r, int files, char **file)
{
    if (r->at && strchr(r->at, '#'))
        r->at = strchr(r->at, '#') + 1; /* the whole link of a page */
    r->picture.out = r->out;
    r->picture.format = cli_picture_format("render", r->out, r->format);
    if (r->has_from && r->has_to && r->from >= r->to)
        cli_misuse("render", "--from must be earlier than --to");
    if (files > WEFT_PANES_MAX)
        cli_misuse("render", "at most %d FILEs can be drawn together", WEFT_PANES_MAX);
    check_selection(r);
    if (r->diff && files != 2)
        cli_misuse("render", "--diff compares two FILEs, a good run and a bad one");
    r->paths = file;
    r->count = (unsigned)files;
    r->path = r->paths[0];
    r->picture.source = (const char *const *)r->paths;
    r->picture.sources = r->count;
    r->viewport.title = cli_picture_title(r->path);
    if (!r->at && r->viewport.height_px &&
        r->viewport.height_px < (int)r->count * WEFT_PICTURE_MIN_PX)
        cli_misuse("render", "--size: %u traces need a height of %u pixels", r->count,
                   r->count * WEFT_PICTURE_MIN_PX);
}

/* ---- The picture ---- */

/* Gets the requested times, for a trace that ends at end_ns. Prints what is wrong. */
static bool find_times(const struct request *r, int64_t end_ns, int64_t *from_ns, int64_t *to_ns)
{
    int64_t last = end_ns > 0 ? end_ns : 1; /* a trace of one instant */
    int64_t from = r->has_from ? r->from : 0, to = r->has_to ? r->to : last;
    if (from >= last || to <= 0)
        return cli_say(r->path, "%s %s lies outside the trace, which lasts from 0 to %s",
                       from >= last ? "--from" : "--to", weft_moment(from >= last ? from : to).text,
                       weft_moment(end_ns).text);
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
    return cli_say(r->path, "has no promise %" PRIu64 "; weft promises lists them", r->select);
}

static void say_failed(const char *path, int rc)
{
    cli_say(path, "cannot be drawn: %s", weft_error_name(rc));
}

static int write_picture(const struct request *r, const struct weft_drawlist *list, uint32_t rows)
{
    char what[48];
    snprintf(what, sizeof what, "%" PRIu32 " rows of promises", rows);
    return cli_picture_write(&r->picture, list, what);
}

/* Says what is wrong. The caller owns both. */
static bool read_trace(const char *path, bool raw, struct weft_model **m, struct weft_scene **scene)
{
    struct weft_reader *reader = cli_open(path);
    *scene = NULL;
    *m = reader ? cli_model_of(reader, path) : NULL;
    int rc = *m ? weft_scene_load(scene, *m, reader, raw, NULL, NULL) : WEFT_E_IO;
    weft_reader_close(reader);
    if (*m && rc < 0)
        say_failed(path, rc);
    if (rc < 0)
        weft_model_free(*m);
    return rc == 0;
}

/* Draws one trace, on its own. */
static int draw(struct request *r)
{
    struct weft_model *m;
    struct weft_scene *scene;
    struct weft_search *search = NULL;
    struct weft_drawlist list = {0};
    struct weft_viewport *v = &r->viewport;
    int status = CLI_FAILED, rc = 0;
    if (!read_trace(r->path, r->raw, &m, &scene))
        return status;
    v->from_ns = weft_layout_moment(m);
    v->to_ns = v->from_ns ? m->end_ns : 0;
    if ((r->has_from || r->has_to) && !find_times(r, m->end_ns, &v->from_ns, &v->to_ns))
        goto out;
    if (r->has_select && is_missing(m, r->select)) {
        say_missing(r);
        goto out;
    }
    if (r->has_select)
        v->selected = weft_model_find(m, r->select);
    if (r->search)
        rc = weft_search_new(&search, scene, r->search);
    if (search)
        weft_search_work(search, 0);
    v->search = search;
    if (rc == 0)
        rc = weft_view_draw(&list, NULL, scene, v);
    if (rc < 0) {
        say_failed(r->path, rc);
        goto out;
    }
    const uint32_t hits = search ? weft_search_hits(search) : 0;
    if (search && hits == 0)
        cli_say(r->path, "\"%s\": %s", cli_shown(r->search).text, weft_search_why(search));
    else if (search && isatty(STDERR_FILENO))
        cli_say(r->path, "\"%s\" marks %" PRIu32 " promise%s", cli_shown(r->search).text, hits,
                weft_plural(hits));
    status = write_picture(r, &list, scene->l->rows);
out:
    weft_drawlist_fini(&list);
    weft_search_free(search);
    weft_scene_free(scene);
    weft_model_free(m);
    return status;
}

/* ---- Several traces, or a place: as the window and the page show it ---- */

enum { EACH_MAX = 900, ALONE_MAX = 4000 }; /* pixels, of several traces, and of one */

struct seen {
    struct weft_explorer *explorer;
    const struct weft_model *model[WEFT_PANES_MAX]; /* the explorer's */
    uint32_t rows;
};

/* Gets the notes that are kept for a trace. If they cannot be read, says so, and goes on without. */
static void load_notes(struct weft_notes *notes, const char *path)
{
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    if (strcmp(path, "-") != 0 && weft_notes_load(notes, path, &err) < 0)
        cli_say(path, "has notes that are left out: %s", err.text);
}

static bool has_notes(const struct request *r)
{
    struct weft_notes notes;
    bool any = false;
    for (unsigned i = 0; i < r->count && !any && !r->no_notes; i++) {
        struct weft_error err = {.offset = WEFT_NO_OFFSET};
        if (strcmp(r->paths[i], "-") == 0)
            continue;
        any = weft_notes_load(&notes, r->paths[i], &err) < 0 || notes.count;
        weft_notes_fini(&notes);
    }
    return any;
}

/* Says what is wrong. */
static bool add_trace(struct seen *s, const char *path, bool raw, bool noted)
{
    struct weft_notes notes = {0};
    struct weft_model *m;
    struct weft_scene *scene;
    if (!read_trace(path, raw, &m, &scene))
        return false;
    int rc = weft_explorer_add(s->explorer, scene, m, cli_picture_title(path));
    if (rc < 0) {
        say_failed(path, rc);
        weft_scene_free(scene);
        weft_model_free(m);
        return false;
    }
    s->model[weft_explorer_panes(s->explorer) - 1] = m;
    s->rows += scene->l->rows;
    if (noted)
        load_notes(&notes, path);
    for (size_t i = 0; i < notes.count; i++)
        weft_explorer_note_put(s->explorer, weft_explorer_panes(s->explorer), notes.since,
                               notes.item[i].at, notes.item[i].text);
    weft_notes_fini(&notes);
    return true;
}

/* ".2": of the second trace, in the keys of a place. */
static struct weft_figure suffix(unsigned pane)
{
    struct weft_figure out = {""};
    if (pane)
        snprintf(out.text, sizeof out.text, ".%u", pane + 1);
    return out;
}

/* Appends what the options say to a place. Prints what is wrong. */
static bool add_options(const struct request *r, const struct seen *s, FILE *place)
{
    int64_t end = 0, from, to;
    unsigned pane = 0;
    for (unsigned i = 0; i < r->count; i++)
        end = s->model[i]->end_ns > end ? s->model[i]->end_ns : end;
    if ((r->has_from || r->has_to) && !find_times(r, end, &from, &to))
        return false;
    if (r->has_from || (r->has_to && !r->at))
        fprintf(place, "&from=%" PRId64, from);
    if (r->has_to || (r->has_from && !r->at))
        fprintf(place, "&to=%" PRId64, to);
    while (r->has_select && pane < r->count && is_missing(s->model[pane], r->select))
        pane++;
    if (pane == r->count)
        return say_missing(r);
    if (r->has_select)
        fprintf(place, "&select%s=%" PRIu64, suffix(pane).text, r->select);
    fprintf(place, "%s%s%s%s", r->path_wanted ? "&path=1" : "", r->diff ? "&diff=1" : "",
            r->viewport.no_counters ? "&counters=off" : "",
            r->viewport.no_strips ? "&samples=off" : "");
    return true;
}

/* The place to go to. The caller frees it. NULL: says what is wrong. */
static char *make_place(const struct request *r, const struct seen *s)
{
    char *place = NULL;
    size_t size;
    FILE *file = open_memstream(&place, &size);
    if (file)
        fputs(r->at ? r->at : "", file);
    const bool sound = file && add_options(r, s, file);
    if (!file || fclose(file) != 0) {
        say_failed(r->path, WEFT_E_NOMEM);
        return NULL;
    }
    if (sound)
        return place;
    free(place);
    return NULL;
}

/* Returns true if something is requested that only an analysis can provide. */
static bool is_analysed(const struct request *r)
{
    return r->finding || r->path_wanted || r->diff ||
           (r->at && weft_explorer_place_is_analysed(r->at));
}

/* Shows a finding: at the position the place gives, or else where its evidence is. */
static bool show_finding(const struct request *r, const struct seen *s, const char *place,
                         unsigned pane, uint32_t number)
{
    char *there;
    if (!r->has_from && !r->has_to)
        return weft_explorer_show_finding(s->explorer, pane, number);
    if (asprintf(&there, "%s&finding%s=%" PRIu32, place, suffix(pane).text, number) < 0)
        return false;
    const bool shown = weft_explorer_go(s->explorer, there);
    free(there);
    return shown;
}

/* Which trace has the finding; findings are numbered consecutively over all traces. Prints what is wrong. */
static bool go_finding(const struct request *r, const struct seen *s, const char *place)
{
    uint64_t number = r->finding, all = 0;
    for (unsigned i = 0; i < weft_explorer_panes(s->explorer); i++) {
        if (weft_explorer_find(s->explorer, weft_explorer_source(s->explorer, i)) < i)
            continue; /* the same trace once more */
        uint32_t count = weft_explorer_analysis(s->explorer, i)->findings.count;
        if (number <= count)
            return show_finding(r, s, place, i, (uint32_t)number);
        number -= count;
        all += count;
    }
    const char *have = r->count > 1 ? "the traces have" : "has";
    const char *path = r->count > 1 ? "render" : r->path;
    if (all)
        return cli_say(path, "%s %" PRIu64 " finding%s; weft explain --all lists them", have, all,
                       weft_plural(all));
    return cli_say(path, "%s no findings", have);
}

/* Says what is wrong. */
static bool go_there(const struct request *r, const struct seen *s)
{
    char *place = make_place(r, s);
    if (!place)
        return false;
    if (!weft_explorer_go(s->explorer, place))
        cli_say(r->path, "not all of the place is in %s; the rest is shown",
                r->count > 1 ? "these traces" : "this trace");
    weft_explorer_close_wanted(s->explorer);
    int rc = is_analysed(r) ? weft_explorer_analyse(s->explorer) : 0;
    if (rc < 0)
        cli_say(r->path, "cannot be explained: %s", weft_error_name(rc));
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
    const bool none = strspn(hits, "0123456789") == 0; /* it says why */
    if (*hits && (none || isatty(STDERR_FILENO)))
        cli_say(r->path, "\"%s\": %s", cli_shown(weft_explorer_query(s->explorer)).text, hits);
    return true;
}

static int draw_seen(const struct request *r, const struct seen *s)
{
    const struct weft_viewport *v = &r->viewport;
    struct weft_drawlist still = {0};
    const struct weft_drawlist *list = &still;
    int status = CLI_FAILED, rc = 0;
    int width = v->width_px ? v->width_px : 1600;
    int most = (int)r->count * 400 > 900 ? (int)r->count * 400 : 900;
    weft_explorer_resize(s->explorer, width, v->height_px ? v->height_px : most);
    if (!go_there(r, s))
        return status;
    if (!v->height_px && !r->at) { /* as high as needed; only a few rows matter for a finding */
        int limit = is_analysed(r) ? most : r->count > 1 ? (int)r->count * EACH_MAX : ALONE_MAX;
        int height = weft_explorer_natural_height(s->explorer, limit);
        weft_explorer_resize(s->explorer, width, height ? height : most);
    }
    if (v->no_legend) /* then the picture has nothing that the window does not show */
        list = weft_explorer_draw(s->explorer);
    else
        rc = weft_explorer_picture(s->explorer, &still);
    if (rc < 0 || !list)
        say_failed(r->path, WEFT_E_NOMEM);
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
        say_failed(r->path, WEFT_E_NOMEM);
    for (unsigned i = 0; sound && i < r->count; i++)
        sound = add_trace(&s, r->paths[i], raw, !r->no_notes);
    int status = sound ? draw_seen(r, &s) : CLI_FAILED;
    weft_explorer_free(s.explorer);
    return status;
}

static int run(int files, char **file)
{
    if (cli_flame_request.picture.out)
        return cli_flame_run(files, file);
    check(&request, files, file);
    if (request.at || request.count > 1 || is_analysed(&request) || has_notes(&request))
        return run_explorer(&request);
    return draw(&request);
}

const struct cli_command cli_render = {
    .name = "render",
    .summary = "draw a trace as SVG, PNG or PDF",
    .usage = "-o OUT [OPTION…] FILE…\n"
             "--flame OUT [OPTION…] FILE…",
    .about = "Draws a trace: each promise as a line from its creation to its resolution. Several "
             "traces are drawn one above the other, on the same time axis.\n",
    .options = options,
    .others = cli_flame_options,
    .wanted = cli_flame_wanted,
    .others_about = cli_flame_about,
    .examples = "weft render -o net.svg --from 39.5ms --to 47.5ms net.ctf",
    .least = 1,
    .completes = CLI_TRACES,
    .raw = true,
    .run = run,
    .state = CLI_STATE(request),
    .others_state = CLI_FLAME_STATE,
};
