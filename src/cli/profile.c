/* SPDX-License-Identifier: ISC */
/* weft profile: where the CPU went, and for which promise. */
#include "cli/profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"

static const char help[] =
    "usage: weft profile [OPTION…] FILE…\n\n"
    "Says where the CPU went, by the samples in weft traces (weft sample, weft record --sample),\n"
    "Linux perf.data files and Akaros's streams. Several FILEs add up; the events of one of them "
    "say\n"
    "which promise ran.\n\n"
    "Reports (--top, and below it the labels of promises, if none is chosen):\n"
    "  --top             a list: what took most comes first\n"
    "  --tree            the tree of calls, from the outside in\n"
    "  --lines           lines of source files\n"
    "  --by KEY          function (default), promise, label, family, root (on whose behalf), "
    "thread,\n"
    "                    core\n"
    "  --fold=yes|no     whether labels that differ in numbers only (GET /7, GET /12) are one "
    "(GET /#);\n"
    "                    by family: yes; otherwise where there would be more than 20 of them\n"
    "  --off-cpu         not where the CPU went, but where threads waited for it or for others\n"
    "  --diff OTHER      what changed since OTHER, in percentage points\n"
    "  --json            as a JSON object\n\n"
    "What is counted:\n"
    "  --event NAME      samples of that event, if there are several\n"
    "  --from T, --to T  what lies in between, in time since the trace began: 39.5ms, 2s, 1500 "
    "(ns)\n"
    "  --promise ID      what ran for this promise and those that it created: a number, or a "
    "label,\n"
    "                    for all that have it\n"
    "  --label L         what ran for promises with that label\n"
    "  --thread T        one OS thread: a number, or a name that only one has\n"
    "  --async-stacks[=creators|waits]\n"
    "                    below the event loop, go on with who created the promise that ran (or "
    "who\n"
    "                    waited for it)\n\n"
    "How much is shown:\n"
    "  --limit N         so many rows (20; 0: all)\n"
    "  --min PERCENT     what has at least so much of the total (--tree: 1)\n"
    "  --sysroot DIR     look for programs and libraries below DIR\n"
    "  --kallsyms FILE   the kernel's symbols; /proc/kallsyms for what this system recorded\n"
    "  --no-symbols      take only names that stand in the file\n"
    "  --help            this text\n\n"
    "Examples: weft profile server.weft\n"
    "          weft profile --tree --by root server.weft\n"
    "          weft profile --off-cpu --thread worker server.weft\n";

enum {
    TOP = WEFT__HELP + 1,
    TREE,
    LINES,
    BY,
    OFF_CPU,
    DIFF,
    JSON,
    EVENT,
    FROM,
    TO,
    PROMISE,
    LABEL,
    THREAD,
    ASYNC,
    LIMIT,
    LEAST,
    SYSROOT,
    NO_SYMBOLS,
    FOLD,
    KALLSYMS,
};

static const struct option options[] = {
    {"top", no_argument, NULL, TOP},
    {"tree", no_argument, NULL, TREE},
    {"lines", no_argument, NULL, LINES},
    {"by", required_argument, NULL, BY},
    {"off-cpu", no_argument, NULL, OFF_CPU},
    {"diff", required_argument, NULL, DIFF},
    {"json", no_argument, NULL, JSON},
    {"event", required_argument, NULL, EVENT},
    {"from", required_argument, NULL, FROM},
    {"to", required_argument, NULL, TO},
    {"promise", required_argument, NULL, PROMISE},
    {"label", required_argument, NULL, LABEL},
    {"thread", required_argument, NULL, THREAD},
    {"async-stacks", optional_argument, NULL, ASYNC},
    {"limit", required_argument, NULL, LIMIT},
    {"min", required_argument, NULL, LEAST},
    {"sysroot", required_argument, NULL, SYSROOT},
    {"no-symbols", no_argument, NULL, NO_SYMBOLS},
    {"fold", optional_argument, NULL, FOLD},
    {"kallsyms", required_argument, NULL, KALLSYMS},
    WEFT__HELP_OPTION,
    {0},
};

enum { ROWS = 20, LABEL_ROWS = 10 };

/* ---- The command line ---- */

static void choose_report(struct profile_request *r, enum profile_report report)
{
    static const char *const names[] = {"", "--top", "--tree", "--lines"};
    if (r->report != PROFILE_OVERVIEW && r->report != report)
        weft__misuse("profile", "%s and %s are two reports; choose one", names[r->report],
                     names[report]);
    r->report = report;
}

static bool is_family(const char *by)
{
    return strcmp(by, "family") == 0;
}

static enum weft_profile_by parse_by(const char *value)
{
    static const enum weft_profile_by all[] = {WEFT_PROFILE_BY_FUNCTION, WEFT_PROFILE_BY_PROMISE,
                                               WEFT_PROFILE_BY_LABEL,    WEFT_PROFILE_BY_ROOT,
                                               WEFT_PROFILE_BY_THREAD,   WEFT_PROFILE_BY_CORE};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(value, profile_by_name(all[i])) == 0)
            return all[i];
    if (is_family(value))
        return WEFT_PROFILE_BY_LABEL;
    weft__misuse("profile",
                 "--by: there is no \"%s\"; there are function, promise, label, family, root, "
                 "thread, core",
                 value);
}

static enum profile_fold parse_fold(const char *value)
{
    if (!value || strcmp(value, "yes") == 0)
        return PROFILE_FOLD;
    if (strcmp(value, "no") == 0)
        return PROFILE_NO_FOLD;
    weft__misuse("profile", "--fold: there is no \"%s\"; there are yes and no", value);
}

static const char *parse_kallsyms(const char *path)
{
    if (access(path, R_OK) < 0)
        weft__misuse("profile", "--kallsyms: %s cannot be read", path);
    return path;
}

static double parse_percent(const char *value)
{
    char *end;
    double percent = strtod(value, &end);
    end += *end == '%';
    if (end == value || *end || !(percent >= 0 && percent <= 100))
        weft__misuse("profile", "--min: \"%s\" is no percentage from 0 to 100", value);
    return percent;
}

static void parse_filter(struct profile_request *r, int c)
{
    switch (c) {
    case EVENT:
        r->event = optarg;
        break;
    case FROM:
        r->from_ns = weft__time_value(&weft__profile, "--from", optarg);
        break;
    case TO:
        r->to_ns = weft__time_value(&weft__profile, "--to", optarg);
        break;
    case PROMISE:
        r->promise = optarg;
        break;
    case LABEL:
        r->label = optarg;
        break;
    case THREAD:
        r->thread = optarg;
        break;
    default:
        break;
    }
}

static void parse_option(struct profile_request *r, int c)
{
    switch (c) {
    case TOP:
        choose_report(r, PROFILE_TOP);
        break;
    case TREE:
        choose_report(r, PROFILE_TREE);
        break;
    case LINES:
        choose_report(r, PROFILE_LINES);
        break;
    case BY:
        r->by = parse_by(optarg);
        r->by_given = true;
        r->fold = is_family(optarg) ? PROFILE_FOLD : r->fold;
        break;
    case DIFF:
        r->diff = optarg;
        break;
    case ASYNC:
        r->async = weft__async_stacks_value("profile", optarg);
        break;
    case LIMIT:
        if (!weft_parse_count(optarg, UINT32_MAX, &r->limit))
            weft__misuse("profile", "--limit: \"%s\" is not a number", optarg);
        r->limit = r->limit ? r->limit : PROFILE_NO_LIMIT;
        r->limit_given = true;
        break;
    case LEAST:
        r->least = parse_percent(optarg);
        r->least_given = true;
        break;
    case SYSROOT:
        r->sysroot = optarg;
        break;
    case FOLD:
        r->fold = parse_fold(optarg);
        break;
    case KALLSYMS:
        r->kallsyms = parse_kallsyms(optarg);
        break;
    default:
        parse_filter(r, c);
    }
}

static void check(struct profile_request *r)
{
    if (r->from_ns >= r->to_ns)
        weft__misuse("profile", "--from must be before --to");
    if (r->promise && r->label)
        weft__misuse("profile", "--promise and --label exclude each other");
    if (r->report == PROFILE_LINES && r->by_given && r->by != WEFT_PROFILE_BY_FUNCTION)
        weft__misuse("profile",
                     "--lines cannot be --by %s; choose with --promise, --label or "
                     "--thread what is counted",
                     profile_by_name(r->by));
    if (r->report == PROFILE_LINES && r->off_cpu)
        weft__misuse("profile", "--lines is about CPU time; --off-cpu goes with --top and --tree");
    if (r->report == PROFILE_TREE && r->diff)
        weft__misuse("profile", "--diff compares lists; it goes with --top, --lines and --by");
    if (r->report == PROFILE_LINES)
        r->by = WEFT_PROFILE_BY_LINE;
    if (r->report == PROFILE_OVERVIEW && (r->by_given || r->diff))
        r->report = PROFILE_TOP;
    if (!r->limit_given && (r->json || r->report == PROFILE_TREE))
        r->limit = PROFILE_NO_LIMIT;
    if (!r->least_given && r->report == PROFILE_TREE && !r->json)
        r->least = 1;
}

static struct profile_request parse(int argc, char **argv)
{
    struct profile_request r = {.from_ns = INT64_MIN, .to_ns = INT64_MAX, .limit = ROWS};
    int c;
    while ((c = weft__option(&weft__profile, argc, argv, ":", options)) != -1) {
        r.off_cpu |= c == OFF_CPU;
        r.json |= c == JSON;
        r.no_symbols |= c == NO_SYMBOLS;
        parse_option(&r, c);
    }
    if (optind >= argc)
        weft__misuse("profile", "no FILE is given");
    check(&r);
    return r;
}

/* ---- What is counted. All of these say what is wrong and return false. ---- */

/* The source that was asked for; else the first one that has samples. */
static bool find_source(struct profile_view *v)
{
    const struct weft_profile *p = v->p;
    const char *path = v->files->file[0].path, *wanted = v->r->event;
    uint32_t found = WEFT_NONE;
    for (uint32_t i = 0; !wanted && i < p->samples; i++)
        found = p->sample[i].source < found ? p->sample[i].source : found;
    for (uint32_t s = 0; wanted && found == WEFT_NONE && s < p->sources; s++)
        if (strcmp(weft_profile_text(p, p->source[s].name), wanted) == 0)
            found = s;
    v->o.source = found == WEFT_NONE ? 0 : found;
    if (found != WEFT_NONE || !wanted)
        return true;
    weft__say(path,
              "there are no samples of \"%s\"; there are those of:", weft__shown(wanted).text);
    for (uint32_t s = 0; s < p->sources; s++)
        fprintf(stderr, "  %s\n", weft__shown(weft_profile_text(p, p->source[s].name)).text);
    return false;
}

/* As people count: from the first event of the trace, or where there is none from the first sample. */
static uint64_t moment(const struct weft_profile *p, int64_t time_ns)
{
    uint64_t base = p->model ? p->model->first_ns : p->first_ns, at;
    if (time_ns < 0)
        return base < -(uint64_t)time_ns ? 0 : base + (uint64_t)time_ns;
    return __builtin_add_overflow(base, (uint64_t)time_ns, &at) ? UINT64_MAX : at;
}

static void find_range(struct profile_view *v)
{
    const struct profile_request *r = v->r;
    if (r->from_ns == INT64_MIN && r->to_ns == INT64_MAX)
        return;
    v->o.from_ns = r->from_ns == INT64_MIN ? 0 : moment(v->p, r->from_ns);
    v->o.to_ns = r->to_ns == INT64_MAX ? UINT64_MAX : moment(v->p, r->to_ns);
}

static bool no_memory(void)
{
    weft__say("profile", "%s", weft_error_name(WEFT_E_NOMEM));
    return false;
}

static bool named(const struct weft_model *m, uint32_t promise, const char *label)
{
    uint32_t name = weft_model_name(m, promise);
    return strcmp(name == WEFT_NONE ? weft_model_type(m, promise) : weft_model_text(m, name, NULL),
                  label) == 0;
}

static bool needs_model(const struct profile_view *v, const char *what)
{
    if (v->p->model)
        return true;
    weft__say(v->files->file[0].path,
              "%s needs to know which promise ran, but there are no events of promises; record "
              "both: weft record --sample -- PROGRAM",
              what);
    return false;
}

/* All that have the label; or that are of the family which is called so. */
static bool take_label(struct profile_view *v, const char *option, const char *label)
{
    const struct weft_model *m = v->p->model;
    bool found = false;
    v->o.label = label;
    for (uint32_t p = WEFT_ROOT + 1; p < m->promises && !found; p++)
        found = named(m, p, label);
    if (!found && !profile_family_named(v, label, &found))
        return no_memory();
    if (!found)
        weft__say(v->files->file[0].path,
                  "no promise has the %slabel \"%s\"; --by label lists them", option,
                  weft__shown(label).text);
    return found;
}

static bool find_promise(struct profile_view *v)
{
    const char *which = v->r->promise;
    uint64_t id;
    if (!which)
        return true;
    if (!needs_model(v, "--promise"))
        return false;
    v->o.with_children = true;
    if (weft_parse_count(which + (*which == '#'), UINT64_MAX - 1, &id))
        v->o.promise = weft_model_find(v->p->model, id);
    return v->o.promise != WEFT_NONE || take_label(v, "number or the ", which);
}

static bool find_label(struct profile_view *v)
{
    return !v->r->label || (needs_model(v, "--label") && take_label(v, "", v->r->label));
}

static bool find_thread(struct profile_view *v)
{
    const struct weft_profile *p = v->p;
    const char *path = v->files->file[0].path, *which = v->r->thread;
    uint64_t number = 0;
    bool numbered = which && weft_parse_count(which, UINT32_MAX, &number);
    uint32_t count = 0;
    if (!which)
        return true;
    for (int by_name = !numbered; by_name < 2 && count == 0; by_name++)
        for (uint32_t t = 0; t < p->threads; t++)
            if (by_name ? strcmp(weft_profile_text(p, p->thread[t].name), which) == 0
                        : p->thread[t].thread == number) {
                count++;
                v->o.thread = t;
            }
    if (count == 1)
        return true;
    if (count == 0) {
        weft__say(path, "there is no thread \"%s\"; --by thread lists them",
                  weft__shown(which).text);
        return false;
    }
    weft__say(path, "%" PRIu32 " threads are called \"%s\"; give one of their numbers:", count,
              weft__shown(which).text);
    for (uint32_t t = 0, said = 0; t < p->threads && said < 10; t++)
        if (strcmp(weft_profile_text(p, p->thread[t].name), which) == 0 && ++said)
            fprintf(stderr, "  %" PRIu32 " of process %" PRIu32 "\n", p->thread[t].thread,
                    p->thread[t].process);
    return false;
}

/* Whether what was asked for can be told of this profile. */
static bool check_view(const struct profile_view *v)
{
    const struct profile_request *r = v->r;
    const char *path = v->files->file[0].path;
    bool promises = r->by == WEFT_PROFILE_BY_PROMISE || r->by == WEFT_PROFILE_BY_LABEL ||
                    r->by == WEFT_PROFILE_BY_ROOT;
    if (promises) {
        char what[32];
        snprintf(what, sizeof what, "--by %s", profile_by_name(r->by));
        if (!needs_model(v, what))
            return false;
    }
    if (r->async != WEFT_ASYNC_NONE && !needs_model(v, "--async-stacks"))
        return false;
    if (r->off_cpu && v->p->absences == 0) {
        weft__say(path, "it does not say when threads waited: switches between threads were not "
                        "recorded; weft sample and weft record --sample do that unless "
                        "--no-switches is given, perf record with --switch-events");
        return false;
    }
    if (!r->off_cpu && v->p->samples == 0) {
        weft__say(path, "there are no samples of where the CPU went, but of where threads waited; "
                        "--off-cpu shows that");
        return false;
    }
    return true;
}

/* Akaros's streams say of each sample on which core it was taken, and when; not how often the timer ticked, nor whether
 * the core was busy. So samples are counted. */
static bool count_ticks(struct profile_view *v)
{
    struct weft_profile *p = v->p;
    for (unsigned i = 0; i < v->files->files; i++)
        if (v->files->file[i].kind == WEFT_FOREIGN_NONE ||
            v->files->file[i].kind == WEFT_FOREIGN_PERF)
            return false;
    for (uint32_t s = 0; s < p->sources; s++) {
        bool of_time = p->source[s].unit == WEFT_UNIT_NS;
        p->source[s].unit = WEFT_UNIT_COUNT;
        p->source[s].period = 0;
        for (uint32_t i = 0; of_time && i < p->samples; i++)
            p->sample[i].value = p->sample[i].source == s ? 1 : p->sample[i].value;
    }
    return true;
}

static bool find_view(struct profile_view *v, const struct profile_request *r,
                      struct weft__profiles *files)
{
    *v = (struct profile_view){.r = r, .files = files, .p = files->profile, .o = WEFT_CALLTREE_ALL};
    v->o.by = r->by;
    v->o.async = r->async;
    v->o.off_cpu = r->off_cpu;
    v->ticks = count_ticks(v);
    if (!check_view(v) || !find_source(v) || !find_promise(v) || !find_label(v) || !find_thread(v))
        return false;
    find_range(v);
    v->filtered = v->o.promise != WEFT_NONE || v->o.label || v->o.thread != WEFT_NONE ||
                  v->o.from_ns || v->o.to_ns;
    v->object = profile_objects(v->p);
    if (!v->object || !profile_facts_find(&v->facts, v->p, v->o.source) || !profile_family_find(v))
        return no_memory();
    v->facts.rate = v->ticks ? 0 : v->facts.rate;
    return true;
}

/* ---- */

static bool print(const struct profile_view *v)
{
    const struct profile_request *r = v->r;
    if (r->json)
        return profile_print_json(v);
    if (!profile_print_head(v))
        return false;
    if (r->report == PROFILE_TREE)
        return profile_print_tree(v) && (r->off_cpu || profile_print_blanks(v));
    if (r->report == PROFILE_LINES)
        return profile_print_lines(v) && profile_print_blanks(v);
    if (r->off_cpu && r->by == WEFT_PROFILE_BY_FUNCTION)
        return profile_print_off_cpu(v);
    if (!profile_print_top(v, r->by, r->limit))
        return false;
    if (r->report == PROFILE_OVERVIEW && v->p->model && v->p->model->promises > 1) {
        uint64_t limit = r->limit_given ? r->limit : LABEL_ROWS;
        if (!profile_print_top(v, WEFT_PROFILE_BY_LABEL, limit))
            return false;
    }
    return r->by != WEFT_PROFILE_BY_FUNCTION || profile_print_blanks(v);
}

static bool open_files(struct weft__profiles *files, const struct profile_request *r,
                       const char *const *path, unsigned paths)
{
    const struct weft__profiles_options o = {.command = "profile",
                                             .sysroot = r->sysroot,
                                             .kallsyms = r->kallsyms,
                                             .no_symbols = r->no_symbols};
    return weft__profiles_open(files, path, paths, &o);
}

static int show(const struct profile_request *r, struct weft__profiles *files,
                struct weft__profiles *other)
{
    struct profile_view v = {0}, before = {0};
    bool found = find_view(&v, r, files) && (!r->diff || find_view(&before, r, other));
    bool ok = found;
    if (found && r->diff && r->json)
        ok = profile_print_diff_json(&before, &v);
    else if (found)
        ok = r->diff ? profile_print_diff(&before, &v) : print(&v);
    if (found && !ok)
        no_memory();
    free(v.object);
    free(v.family);
    free(before.object);
    free(before.family);
    return ok ? WEFT__DONE : WEFT__FAILED;
}

static int run(int argc, char **argv)
{
    struct profile_request r = parse(argc, argv);
    struct weft__profiles files = {0}, other = {0};
    int status = WEFT__FAILED;
    if (open_files(&files, &r, (const char *const *)argv + optind, (unsigned)(argc - optind)) &&
        (!r.diff || open_files(&other, &r, &r.diff, 1)))
        status = show(&r, &files, &other);
    weft__profiles_close(&other);
    weft__profiles_close(&files);
    return status;
}

const struct weft__command weft__profile = {
    "profile", "say where the CPU went, and for which promise", help, run};
