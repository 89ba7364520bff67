/* SPDX-License-Identifier: ISC */
/* weft render --flame: samples as a flame graph. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/picture.h"
#include "cli/profile/profiles.h"
#include "view/flame.h"

static const char *const keys[] = {"function", "promise", "label",  "root", "thread",
                                   "process",  "core",    "object", NULL};
static const enum weft_profile_by key_by[] = {WEFT_PROFILE_BY_FUNCTION, WEFT_PROFILE_BY_PROMISE,
                                              WEFT_PROFILE_BY_LABEL,    WEFT_PROFILE_BY_ROOT,
                                              WEFT_PROFILE_BY_THREAD,   WEFT_PROFILE_BY_PROCESS,
                                              WEFT_PROFILE_BY_CORE,     WEFT_PROFILE_BY_OBJECT};

struct cli_flame_request cli_flame_request = {.picture = {.theme = WEFT_AUTO},
                                              .tree = WEFT_CALLTREE_ALL,
                                              .flame = {.hovered = WEFT_NONE, .tips = true}};

bool cli_flame_wanted(int argc, char **argv)
{
    static const char name[] = "--flame";
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        size_t size = strcspn(argv[i], "="); /* "--fl" is short for it */
        if (size > 3 && size < sizeof name && !strncmp(argv[i], name, size))
            return true;
    }
    return false;
}

static void take_out(const struct cli_command *c, const struct cli_option *o, const char *value)
{
    (void)o;
    if (cli_flame_request.picture.out)
        cli_misuse(c->name, "--flame says where to; -o, or another --flame, is one too many");
    cli_flame_request.picture.out = value;
}

static void take_size(const struct cli_command *c, const struct cli_option *o, const char *value)
{
    (void)o;
    cli_picture_size(c->name, value, &cli_flame_request.flame.width_px,
                     &cli_flame_request.flame.height_px);
}

const char cli_flame_about[] =
    "With --flame OUT, a flame graph of the samples in the files (see weft sample): --format, "
    "--from, --to, --size, --theme and --no-legend as above, and\n";

const struct cli_option cli_flame_options[] = {
    CLI_CALL("flame", take_out, "OUT", "the picture", .to = &cli_flame_request.picture.out,
             .required = true, .completes = "svg|png|pdf"),
    {.kind = CLI_IS_REFUSED,
     .name = "output",
     .letter = 'o',
     .value = "OUT",
     .help = ": --flame says where to"},
    CLI_PICTURE_FORMAT(cli_flame_request.format),
    CLI_PICTURE_FROM(cli_flame_request.from, cli_flame_request.has_from),
    CLI_PICTURE_TO(cli_flame_request.to, cli_flame_request.has_to),
    CLI_PICTURE_SIZE(take_size),
    CLI_PICTURE_THEME(cli_flame_request.picture.theme),
    CLI_PICTURE_NO_LEGEND(cli_flame_request.flame.no_legend),
    CLI_TEXT("search", cli_flame_request.search, "TEXT",
             "mark frames with the words of TEXT in their names, and say their share"),
    CLI_NUMBER("promise", cli_flame_request.promise, "ID",
               "of what ran for this promise and those that it created",
               .given = &cli_flame_request.has_promise),
    CLI_NUMBER("select", cli_flame_request.promise, "ID", "the same as --promise",
               .given = &cli_flame_request.has_promise),
    CLI_TEXT("label", cli_flame_request.tree.label, "TEXT",
             "of what ran for promises with that label"),
    CLI_WORD("by", cli_flame_request.key, "KEY", "groups above the stacks; root: on whose behalf:",
             .words = keys, .shown = "function: none"),
    CLI_FLAG("off-cpu", cli_flame_request.tree.off_cpu,
             "of the time that threads were away from a core"),
    CLI_ASYNC_STACKS(cli_flame_request.tree.async),
    CLI_TEXT("diff", cli_flame_request.other, "OTHER",
             "red: takes a larger share than in OTHER; blue: a smaller one",
             .completes = CLI_PROFILES),
    CLI_NO_SYMBOLS(cli_flame_request.no_symbols),
    CLI_REFUSED("at", "PLACE",
                " is a place of a viewer, with its flame graph where one is open there: "
                "-o OUT --at PLACE, without --flame"),
    CLI_REFUSED("finding", "N",
                " shows promises, which a flame graph has not; --promise ID is what ran for one of "
                "them"),
    CLI_REFUSED("path", "ID",
                " is a line through promises, which a flame graph has not; --promise ID is what "
                "ran for one of them"),
    CLI_REFUSED("no-counters", NULL, ": a flame graph has no counters"),
    CLI_REFUSED("no-samples", NULL, ": a flame graph shows nothing but samples"),
    CLI_REFUSED("raw", NULL, " is about the lines of promises, which a flame graph has not"),
    CLI_END,
};

static void check(struct cli_flame_request *r)
{
    r->tree.by = key_by[r->key];
    r->picture.format = cli_picture_format("render", r->picture.out, r->format);
    if (r->other && (r->has_promise || r->has_from || r->has_to))
        cli_misuse("render", "--diff compares whole profiles, without --promise, --from and --to");
    if (r->has_from && r->has_to && r->from >= r->to)
        cli_misuse("render", "--from must be earlier than --to");
}

/* Finds what the options ask for in this profile. Prints what is wrong. */
static bool choose(struct cli_flame_request *r, const struct weft_profile *p)
{
    const struct weft_model *m = p->model;
    uint64_t begin = m && m->events_total ? m->first_ns : p->first_ns;
    if (r->has_promise) {
        uint32_t promise = m ? weft_model_find(m, r->promise) : WEFT_NONE;
        if (promise == WEFT_NONE || promise == WEFT_ROOT)
            return cli_say(r->path[0], "has no promise %" PRIu64 "; weft promises lists them",
                           r->promise);
        r->tree.promise = promise;
        r->tree.with_children = true;
    }
    if (!r->has_from && !r->has_to)
        return true;
    r->tree.from_ns = r->has_from ? begin + (uint64_t)r->from : 1;
    r->tree.to_ns = r->has_to ? begin + (uint64_t)r->to : UINT64_MAX;
    if (r->has_from && r->from < 0)
        r->tree.from_ns = begin > 0 - (uint64_t)r->from ? begin - (0 - (uint64_t)r->from) : 1;
    return true;
}

/* If several sources trigger samples: the source with the most samples. */
static uint32_t most_samples(const struct weft_profile *p)
{
    uint64_t count[64] = {0};
    uint32_t best = 0;
    for (uint32_t i = 0; i < p->samples; i++)
        if (p->sample[i].source < 64)
            count[p->sample[i].source]++;
    for (uint32_t i = 1; i < 64; i++)
        best = count[i] > count[best] ? i : best;
    return best;
}

static void describe(char *out, size_t room, const struct cli_flame_request *r,
                     const struct weft_profile *p, const struct weft_calltree *t)
{
    const struct weft_figure amount = weft_flame_amount(t->unit, t->total);
    snprintf(out, room, r->tree.off_cpu ? "away from a core for %s, %s" : "on a core for %s, %s",
             amount.text, cli_many(t->samples, r->tree.off_cpu ? "time" : "sample").text);
    if (t->unit != WEFT_UNIT_NS && !r->tree.off_cpu && r->tree.source < p->sources)
        snprintf(out, room, "%s: %s, %s", weft_profile_text(p, p->source[r->tree.source].name),
                 amount.text, cli_many(t->samples, "sample").text);
    if (t->without_promise && p->model)
        cli_append(out, room, "; %.1f %% without a promise",
                   100.0 * (double)t->without_promise / (double)t->total);
}

/* Builds the tree of a profile from what was asked for. If there is none, or it is empty, prints why. */
static struct weft_calltree *make_tree(struct cli_flame_request *r, const char *path,
                                       struct weft_profile *p)
{
    struct weft_calltree *t = NULL;
    uint32_t *family = p->model ? cli_profile_families(p) : NULL;
    r->tree.source = most_samples(p);
    r->tree.family = family;
    r->tree.by_family = family != NULL; /* hundreds of requests would not make a readable picture */
    int rc = p->model && !family ? WEFT_E_NOMEM : weft_calltree_make(&t, p, &r->tree);
    r->tree.family = NULL;
    free(family);
    if (rc == WEFT_E_INVALID)
        cli_say(path, "has no promises, which that asks for");
    else if (rc < 0)
        cli_say(path, "cannot be drawn: %s", weft_error_name(rc));
    else if (t->total == 0)
        cli_say(path, r->tree.off_cpu
                          ? "says of no time that a thread was away; weft record --sample notes it"
                      : p->samples ? "has no such samples"
                                   : "has no samples; weft record --sample -- PROGRAM takes some");
    if (rc == 0 && t->total) {
        cli_tell_cut(t);
        return t;
    }
    weft_calltree_free(t);
    return NULL;
}

static void make_title(char *out, size_t room, const struct cli_flame_request *r)
{
    snprintf(out, room, "%s", cli_picture_title(r->path[0]));
    if (r->has_promise)
        cli_append(out, room, ": #%" PRIu64 " and all that it created", r->promise);
    else if (r->tree.label)
        cli_append(out, room, ": %s", r->tree.label);
    if (r->other)
        cli_append(out, room, ", compared with %s", cli_picture_title(r->other));
}

/* Appends the search results to the note; prints them, too, on a terminal or if nothing was found. */
static void tell_found(const struct cli_flame_request *r, const struct weft_calltree *t,
                       const struct weft_flame_found *found, char *note, size_t room)
{
    char text[80];
    weft_flame_found_text(text, sizeof text, t, found);
    cli_append(note, room, "; found: %s", text);
    if (!found->frames)
        cli_say(r->path[0], "\"%s\" is in the name of no frame", cli_shown(r->search).text);
    else if (isatty(STDERR_FILENO))
        cli_say(r->path[0], "\"%s\" marks %s", cli_shown(r->search).text, text);
}

static int paint(struct cli_flame_request *r, const struct weft_profile *p,
                 const struct weft_calltree *t)
{
    struct weft_drawlist list = {0};
    struct weft_flame flame = {0};
    struct weft_flame_found found = {0};
    char title[300], note[300], what[64];
    int status = CLI_FAILED, rc = 0;
    make_title(title, sizeof title, r);
    describe(note, sizeof note, r, p, t);
    if (r->search)
        rc = weft_flame_find(&found, p, t, r->search);
    if (r->search && rc == 0) {
        tell_found(r, t, &found, note, sizeof note);
        r->flame.found = &found;
    }
    r->flame.title = title;
    r->flame.note = note;
    if (rc == 0)
        rc = weft_flame_draw(&list, &flame, p, t, &r->flame);
    if (rc < 0) {
        cli_say(r->path[0], "cannot be drawn: %s", weft_error_name(rc));
    } else {
        snprintf(what, sizeof what, "%" PRIu32 " frames", flame.boxes);
        status = cli_picture_write(&r->picture, &list, what);
    }
    weft_flame_found_fini(&found);
    weft_flame_fini(&flame);
    weft_drawlist_fini(&list);
    return status;
}

/* The same for another profile, and what has changed since. */
static int compare(struct cli_flame_request *r, const struct cli_profiles_options *o,
                   const struct weft_profile *p, const struct weft_calltree *t)
{
    struct cli_profiles other;
    struct weft_calltree *was = NULL;
    struct weft_call_before *before = NULL;
    int status = CLI_FAILED;
    if (cli_profiles_open(&other, &r->other, 1, o))
        was = make_tree(r, r->other, other.profile);
    if (was && weft_calltree_compare(&before, other.profile, was, p, t) < 0)
        cli_say(r->path[0], "cannot be drawn: %s", weft_error_name(WEFT_E_NOMEM));
    if (before) {
        r->flame.before = before;
        r->flame.before_total = was->total;
        status = paint(r, p, t);
    }
    free(before);
    weft_calltree_free(was);
    cli_profiles_close(&other);
    return status;
}

int cli_flame_run(int files, char **file)
{
    struct cli_flame_request *r = &cli_flame_request;
    struct cli_profiles profiles;
    r->path = file;
    r->paths = (unsigned)files;
    check(r);
    const char **source = calloc(r->paths + (size_t)1, sizeof *source);
    if (!source)
        return cli_fail(r->path[0], "cannot be drawn: %s", weft_error_name(WEFT_E_NOMEM));
    memcpy(source, r->path, r->paths * sizeof *source);
    source[r->paths] = r->other;
    r->picture.source = source;
    r->picture.sources = r->paths + (r->other != NULL);
    struct cli_profiles_options o = {.command = "render", .no_symbols = r->no_symbols};
    struct weft_calltree *t = NULL;
    int status = CLI_FAILED;
    if (cli_profiles_open(&profiles, (const char *const *)r->path, r->paths, &o) &&
        choose(r, profiles.profile))
        t = make_tree(r, r->path[0], profiles.profile);
    if (t)
        status = r->other ? compare(r, &o, profiles.profile, t) : paint(r, profiles.profile, t);
    weft_calltree_free(t);
    cli_profiles_close(&profiles);
    free(source);
    return status;
}
