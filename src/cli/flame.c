/* SPDX-License-Identifier: ISC */
/* weft render --flame: samples as a flame graph. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/picture.h"
#include "cli/profiles.h"
#include "view/flame.h"
#include "view/view.h"

enum {
    FLAME = WEFT__HELP + 1,
    FORMAT,
    FROM,
    TO,
    SIZE,
    THEME,
    PROMISE,
    LABEL,
    BY,
    OFF_CPU,
    ASYNC_STACKS,
    NO_SYMBOLS,
    DIFF,
    SEARCH,
    NO_LEGEND,
    AT,
    FINDING,
    CRITICAL_PATH,
    NO_COUNTERS,
    NO_SAMPLES,
    RAW
};

static const struct option options[] = {
    {"flame", required_argument, NULL, FLAME},
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, FORMAT},
    {"from", required_argument, NULL, FROM},
    {"to", required_argument, NULL, TO},
    {"size", required_argument, NULL, SIZE},
    {"theme", required_argument, NULL, THEME},
    {"promise", required_argument, NULL, PROMISE},
    {"select", required_argument, NULL, PROMISE},
    {"label", required_argument, NULL, LABEL},
    {"by", required_argument, NULL, BY},
    {"off-cpu", no_argument, NULL, OFF_CPU},
    {"async-stacks", optional_argument, NULL, ASYNC_STACKS},
    {"diff", required_argument, NULL, DIFF},
    {"no-symbols", no_argument, NULL, NO_SYMBOLS},
    {"search", required_argument, NULL, SEARCH},
    {"no-legend", no_argument, NULL, NO_LEGEND},
    /* Of the other picture: refused, with the reason. */
    {"at", required_argument, NULL, AT},
    {"finding", required_argument, NULL, FINDING},
    {"path", required_argument, NULL, CRITICAL_PATH},
    {"no-counters", no_argument, NULL, NO_COUNTERS},
    {"no-samples", no_argument, NULL, NO_SAMPLES},
    {"raw", no_argument, NULL, RAW},
    WEFT__HELP_OPTION,
    {0},
};

static const struct {
    const char *name;
    enum weft_profile_by by;
} keys[] = {{"function", WEFT_PROFILE_BY_FUNCTION}, {"promise", WEFT_PROFILE_BY_PROMISE},
            {"label", WEFT_PROFILE_BY_LABEL},       {"root", WEFT_PROFILE_BY_ROOT},
            {"thread", WEFT_PROFILE_BY_THREAD},     {"core", WEFT_PROFILE_BY_CORE}};

struct request {
    struct weft__picture picture;
    struct weft_calltree_options tree;
    struct weft_flame_options flame;
    bool has_from, has_to, has_promise, no_symbols;
    int64_t from, to;
    uint64_t promise;
    const char *other;  /* to be compared with, or NULL */
    const char *search; /* or NULL */
    char **path;
    unsigned paths;
};

bool weft__flame_wanted(int argc, char **argv)
{
    static const char name[] = "--flame";
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        size_t size = strcspn(argv[i], "="); /* "--fl" is short for it */
        if (size > 3 && size < sizeof name && !strncmp(argv[i], name, size))
            return true;
    }
    return false;
}

/* Options that say something of the other picture. */
static _Noreturn void refuse(int c)
{
    static const struct {
        int option;
        const char *why;
    } reasons[] = {
        {AT, "--at is a place of a viewer, with its flame graph where one is open there: "
             "-o OUT --at PLACE, without --flame"},
        {FINDING, "--finding shows promises, which a flame graph has not; --promise ID is what ran "
                  "for one of them"},
        {CRITICAL_PATH, "--path is a line through promises, which a flame graph has not; "
                        "--promise ID is what ran for one of them"},
        {NO_COUNTERS, "--no-counters: a flame graph has no counters"},
        {NO_SAMPLES, "--no-samples: a flame graph shows nothing but samples"},
        {RAW, "--raw is about the lines of promises, which a flame graph has not"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].option == c)
            weft__misuse("render", "%s", reasons[i].why);
    abort();
}

static enum weft_profile_by parse_key(const char *name)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strcmp(keys[i].name, name))
            return keys[i].by;
    weft__misuse("render",
                 "--by: \"%s\" is none of function, promise, label, root, thread and core", name);
}

static void parse_option(struct request *r, int c, const char **format)
{
    switch (c) {
    case FLAME:
    case 'o':
        if (r->picture.out)
            weft__misuse("render",
                         "--flame says where to; -o, or another --flame, is one too many");
        r->picture.out = optarg;
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
        weft__picture_size("render", optarg, &r->flame.width_px, &r->flame.height_px);
        break;
    case THEME:
        r->picture.theme = weft__picture_theme("render", optarg);
        break;
    case PROMISE:
        r->has_promise = true;
        if (!weft_parse_count(optarg, UINT64_MAX, &r->promise))
            weft__misuse("render", "--promise: \"%s\" is not the number of a promise", optarg);
        break;
    case LABEL:
        r->tree.label = optarg;
        break;
    case BY:
        r->tree.by = parse_key(optarg);
        break;
    case OFF_CPU:
        r->tree.off_cpu = true;
        break;
    case ASYNC_STACKS:
        r->tree.async = weft__async_stacks_value("render", optarg);
        break;
    case DIFF:
        r->other = optarg;
        break;
    case NO_SYMBOLS:
        r->no_symbols = true;
        break;
    case SEARCH:
        r->search = optarg;
        break;
    case NO_LEGEND:
        r->flame.no_legend = true;
        break;
    default:
        refuse(c);
    }
}

static void parse(struct request *r, int argc, char **argv)
{
    const char *format = NULL;
    int c;
    *r = (struct request){.picture = {.theme = WEFT_AUTO},
                          .tree = WEFT_CALLTREE_ALL,
                          .flame = {.hovered = WEFT_NONE, .tips = true}};
    while ((c = weft__option(&weft__render, argc, argv, ":o:", options)) != -1)
        parse_option(r, c, &format);
    if (!r->picture.out) /* "--search --flame" looks for "--flame" */
        weft__misuse("render", "--flame OUT is missing");
    r->picture.format = weft__picture_format("render", r->picture.out, format);
    if (r->other && (r->has_promise || r->has_from || r->has_to))
        weft__misuse("render",
                     "--diff compares whole profiles, without --promise, --from and --to");
    if (r->has_from && r->has_to && r->from >= r->to)
        weft__misuse("render", "--from must be earlier than --to");
    if (optind == argc)
        weft__misuse("render", "no FILE is given");
    r->path = argv + optind;
    r->paths = (unsigned)(argc - optind);
}

/* What is asked for, of this profile. Says what is wrong. */
static bool choose(struct request *r, const struct weft_profile *p)
{
    const struct weft_model *m = p->model;
    uint64_t begin = m && m->events_total ? m->first_ns : p->first_ns;
    if (r->has_promise) {
        uint32_t promise = m ? weft_model_find(m, r->promise) : WEFT_NONE;
        if (promise == WEFT_NONE || promise == WEFT_ROOT) {
            weft__say(r->path[0], "has no promise %" PRIu64 "; weft promises lists them",
                      r->promise);
            return false;
        }
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

/* The samples of which there are most, where several things trigger them. */
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

static void describe(char *out, size_t room, const struct request *r, const struct weft_profile *p,
                     const struct weft_calltree *t)
{
    const struct weft_figure amount = weft_flame_amount(t->unit, t->total);
    int n = snprintf(out, room,
                     r->tree.off_cpu ? "away from a core for %s, %s time%s"
                                     : "on a core for %s, %s sample%s",
                     amount.text, weft_count(t->samples).text, weft_plural(t->samples));
    if (t->unit != WEFT_UNIT_NS && !r->tree.off_cpu && r->tree.source < p->sources)
        n = snprintf(out, room, "%s: %s, %s sample%s",
                     weft_profile_text(p, p->source[r->tree.source].name), amount.text,
                     weft_count(t->samples).text, weft_plural(t->samples));
    if (t->without_promise && p->model && n > 0 && (size_t)n < room)
        snprintf(out + n, room - (size_t)n, "; %.1f %% without a promise",
                 100.0 * (double)t->without_promise / (double)t->total);
}

/* A profile as a tree, with what was asked for. Says why if there is none, or nothing in it. */
static struct weft_calltree *make_tree(struct request *r, const char *path, struct weft_profile *p)
{
    struct weft_calltree *t = NULL;
    uint32_t *family = p->model ? weft__profile_families(p) : NULL;
    r->tree.source = most_samples(p);
    r->tree.family = family;
    r->tree.by_family = family != NULL; /* hundreds of requests are no picture */
    int rc = p->model && !family ? WEFT_E_NOMEM : weft_calltree_make(&t, p, &r->tree);
    r->tree.family = NULL;
    free(family);
    if (rc == WEFT_E_INVALID)
        weft__say(path, "has no promises, which that asks for");
    else if (rc < 0)
        weft__say(path, "cannot be drawn: %s", weft_error_name(rc));
    else if (t->total == 0)
        weft__say(path,
                  r->tree.off_cpu
                      ? "says of no time that a thread was away; weft record --sample notes it"
                  : p->samples ? "has no such samples"
                               : "has no samples; weft record --sample -- PROGRAM takes some");
    if (rc == 0 && t->total) {
        weft__tell_cut(t);
        return t;
    }
    weft_calltree_free(t);
    return NULL;
}

static void make_title(char *out, size_t room, const struct request *r)
{
    int n = snprintf(out, room, "%s", weft__picture_title(r->path[0]));
    if (r->has_promise && n > 0 && (size_t)n < room)
        n += snprintf(out + n, room - (size_t)n, ": #%" PRIu64 " and all that it created",
                      r->promise);
    else if (r->tree.label && n > 0 && (size_t)n < room)
        n += snprintf(out + n, room - (size_t)n, ": %s", r->tree.label);
    if (r->other && n > 0 && (size_t)n < room)
        snprintf(out + n, room - (size_t)n, ", compared with %s", weft__picture_title(r->other));
}

/* What was found, behind the note; and for somebody who looks at a terminal, or if there is nothing. */
static void tell_found(const struct request *r, const struct weft_calltree *t,
                       const struct weft_flame_found *found, char *note, size_t room)
{
    char text[80];
    size_t n = strlen(note);
    weft_flame_found_text(text, sizeof text, t, found);
    snprintf(note + n, room - n, "; found: %s", text);
    if (!found->frames)
        weft__say(r->path[0], "\"%s\" is in the name of no frame", weft__shown(r->search).text);
    else if (isatty(STDERR_FILENO))
        weft__say(r->path[0], "\"%s\" marks %s", weft__shown(r->search).text, text);
}

static int paint(struct request *r, const struct weft_profile *p, const struct weft_calltree *t)
{
    struct weft_drawlist list = {0};
    struct weft_flame flame = {0};
    struct weft_flame_found found = {0};
    char title[300], note[300], what[64];
    int status = WEFT__FAILED, rc = 0;
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
        weft__say(r->path[0], "cannot be drawn: %s", weft_error_name(rc));
    } else {
        snprintf(what, sizeof what, "%" PRIu32 " frames", flame.boxes);
        status = weft__picture_write(&r->picture, &list, what);
    }
    weft_flame_found_fini(&found);
    weft_flame_fini(&flame);
    weft_drawlist_fini(&list);
    return status;
}

/* The same of another profile, and what has changed since. */
static int compare(struct request *r, const struct weft__profiles_options *o,
                   const struct weft_profile *p, const struct weft_calltree *t)
{
    struct weft__profiles other;
    struct weft_calltree *was = NULL;
    struct weft_call_before *before = NULL;
    int status = WEFT__FAILED;
    if (weft__profiles_open(&other, &r->other, 1, o))
        was = make_tree(r, r->other, other.profile);
    if (was && weft_calltree_compare(&before, other.profile, was, p, t) < 0)
        weft__say(r->path[0], "cannot be drawn: %s", weft_error_name(WEFT_E_NOMEM));
    if (before) {
        r->flame.before = before;
        r->flame.before_total = was->total;
        status = paint(r, p, t);
    }
    free(before);
    weft_calltree_free(was);
    weft__profiles_close(&other);
    return status;
}

int weft__flame_run(int argc, char **argv)
{
    struct request r;
    struct weft__profiles profiles;
    parse(&r, argc, argv);
    const char **source = calloc(r.paths + (size_t)1, sizeof *source);
    if (!source) {
        weft__say(r.path[0], "cannot be drawn: %s", weft_error_name(WEFT_E_NOMEM));
        return WEFT__FAILED;
    }
    memcpy(source, r.path, r.paths * sizeof *source);
    source[r.paths] = r.other;
    r.picture.source = source;
    r.picture.sources = r.paths + (r.other != NULL);
    struct weft__profiles_options o = {.command = "render", .no_symbols = r.no_symbols};
    struct weft_calltree *t = NULL;
    int status = WEFT__FAILED;
    if (weft__profiles_open(&profiles, (const char *const *)r.path, r.paths, &o) &&
        choose(&r, profiles.profile))
        t = make_tree(&r, r.path[0], profiles.profile);
    if (t)
        status = r.other ? compare(&r, &o, profiles.profile, t) : paint(&r, profiles.profile, t);
    weft_calltree_free(t);
    weft__profiles_close(&profiles);
    free(source);
    return status;
}
