/* SPDX-License-Identifier: ISC */
/* weft profile: where the CPU went, and for which promise. */
#include "cli/profile/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"

enum { ROWS = 20, LABEL_ROWS = 10 };

/* ---- The command line ---- */

static struct cli_profile_request request = {
    .from_ns = INT64_MIN, .to_ns = INT64_MAX, .limit = ROWS};

static void choose_report(const struct cli_command *c, const struct cli_option *o,
                          const char *value)
{
    static const char *const names[] = {"", "top", "tree", "lines"};
    enum profile_report report = PROFILE_TOP;
    (void)value;
    while (strcmp(names[report], o->name) != 0)
        report++;
    if (request.report != PROFILE_OVERVIEW && request.report != report)
        cli_misuse(c->name, "--%s and --%s are two reports; choose one", names[request.report],
                   o->name);
    request.report = report;
}

enum { KEY_FAMILY = 3 };
static const char *const keys[] = {"function", "promise", "label", "family", "root",
                                   "thread",   "process", "core",  "object", NULL};
static const enum weft_profile_by key_by[] = {
    WEFT_PROFILE_BY_FUNCTION, WEFT_PROFILE_BY_PROMISE, WEFT_PROFILE_BY_LABEL,
    WEFT_PROFILE_BY_LABEL,    WEFT_PROFILE_BY_ROOT,    WEFT_PROFILE_BY_THREAD,
    WEFT_PROFILE_BY_PROCESS,  WEFT_PROFILE_BY_CORE,    WEFT_PROFILE_BY_OBJECT};

static const char *const fold_words[] = {"yes", "no", NULL};

static void take_percent(const struct cli_command *c, const struct cli_option *o, const char *value)
{
    char *end;
    double percent = strtod(value, &end);
    end += *end == '%';
    if (end == value || *end || !(percent >= 0 && percent <= 100))
        cli_misuse(c->name, "--%s: \"%s\" is no percentage from 0 to 100", o->name, value);
    request.least = percent;
}

static const struct cli_option options[] = {
    CLI_HEADING("Reports (--top, and below it the labels of promises, if none is chosen):"),
    CLI_CALL("top", choose_report, NULL, "a list: what took most comes first"),
    CLI_CALL("tree", choose_report, NULL, "the tree of calls, from the outside in"),
    CLI_CALL("lines", choose_report, NULL, "lines of source files"),
    CLI_WORD("by", request.key, "KEY", "what a row is; root: on whose behalf:", .words = keys,
             .given = &request.by_given, .shown = "function"),
    CLI_WORD("fold", request.fold, "yes|no",
             "whether labels that differ in numbers only (GET /7, GET /12) are one (GET /#); by "
             "family: yes; otherwise where there would be more than 20 of them",
             .words = fold_words, .first = PROFILE_FOLD, .alone = "yes"),
    CLI_FLAG("off-cpu", request.off_cpu,
             "not where the CPU went, but where threads waited for it or for others"),
    CLI_TEXT("diff", request.diff, "OTHER", "what changed since OTHER, in percentage points",
             .completes = CLI_PROFILES),
    CLI_FLAG("json", request.json, "print a JSON object"),
    CLI_HEADING("What is counted:"),
    CLI_TEXT("event", request.event, "NAME", "samples of that event, if there are several"),
    CLI_TIME("from", request.from_ns, "TIME",
             "only what lies behind, in time since the trace began: 39.5ms, 2s, 1500 (ns)"),
    CLI_TIME("to", request.to_ns, "TIME", "only what lies before"),
    CLI_TEXT("promise", request.promise, "ID",
             "what ran for this promise and those that it created: a number, or a label, for all "
             "that have it"),
    CLI_TEXT("label", request.label, "LABEL", "what ran for promises with that label"),
    CLI_TEXT("thread", request.thread, "THREAD",
             "one OS thread: a number, or a name that only one has"),
    CLI_FLAG("kernel", request.kernel, "what ran in the kernel"),
    CLI_FLAG("user", request.user, "what ran outside the kernel"),
    CLI_ASYNC_STACKS(request.async),
    CLI_HEADING("How much is shown:"),
    CLI_NUMBER("limit", request.limit, "N", "so many rows; 0: all", .given = &request.limit_given,
               .shown = "20"),
    CLI_CALL("min", take_percent, "PERCENT", "what has at least so much of the total",
             .given = &request.least_given, .shown = "1 with --tree"),
    CLI_SYSROOT(request.sysroot),
    CLI_KALLSYMS(request.kallsyms),
    CLI_NO_SYMBOLS(request.no_symbols),
    CLI_END,
};

static void check(struct cli_profile_request *r)
{
    r->by = key_by[r->key];
    if (r->key == KEY_FAMILY && r->fold == PROFILE_FOLD_AUTO)
        r->fold = PROFILE_FOLD;
    r->limit = r->limit ? r->limit : PROFILE_NO_LIMIT;
    if (r->from_ns >= r->to_ns)
        cli_misuse("profile", "--from must be before --to");
    if (r->kernel && r->user)
        cli_misuse("profile", "--kernel and --user exclude each other");
    if ((r->kernel || r->user) && r->off_cpu)
        cli_misuse("profile", "--%s is about CPU time; --off-cpu is not",
                   r->kernel ? "kernel" : "user");
    if (r->promise && r->label)
        cli_misuse("profile", "--promise and --label exclude each other");
    if (r->report == PROFILE_LINES && r->by_given && r->by != WEFT_PROFILE_BY_FUNCTION)
        cli_misuse("profile",
                   "--lines cannot be --by %s; choose with --promise, --label or "
                   "--thread what is counted",
                   cli_profile_by_name(r->by));
    if (r->report == PROFILE_LINES && r->off_cpu)
        cli_misuse("profile", "--lines is about CPU time; --off-cpu goes with --top and --tree");
    if (r->report == PROFILE_TREE && r->diff)
        cli_misuse("profile", "--diff compares lists; it goes with --top, --lines and --by");
    if (r->report == PROFILE_LINES)
        r->by = WEFT_PROFILE_BY_LINE;
    if (r->report == PROFILE_OVERVIEW && (r->by_given || r->diff))
        r->report = PROFILE_TOP;
    if (!r->limit_given && (r->json || r->report == PROFILE_TREE))
        r->limit = PROFILE_NO_LIMIT;
    if (!r->least_given && r->report == PROFILE_TREE && !r->json)
        r->least = 1;
}

/* ---- What is counted. On failure, all of these print why and return false. ---- */

/* The requested source; else the first one that has samples. */
static bool find_source(struct cli_profile_view *v)
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
    cli_say(path, "there are no samples of \"%s\"; there are those of:", cli_shown(wanted).text);
    for (uint32_t s = 0; s < p->sources; s++)
        fprintf(stderr, "  %s\n", cli_shown(weft_profile_text(p, p->source[s].name)).text);
    return false;
}

/* Times as users count them: from the first event of the trace, or from the first sample if there are no events. */
static uint64_t moment(const struct weft_profile *p, int64_t time_ns)
{
    uint64_t base = p->model ? p->model->first_ns : p->first_ns, at;
    if (time_ns < 0)
        return base < -(uint64_t)time_ns ? 0 : base + (uint64_t)time_ns;
    return __builtin_add_overflow(base, (uint64_t)time_ns, &at) ? UINT64_MAX : at;
}

static void find_range(struct cli_profile_view *v)
{
    const struct cli_profile_request *r = v->r;
    if (r->from_ns == INT64_MIN && r->to_ns == INT64_MAX)
        return;
    v->o.from_ns = r->from_ns == INT64_MIN ? 0 : moment(v->p, r->from_ns);
    v->o.to_ns = r->to_ns == INT64_MAX ? UINT64_MAX : moment(v->p, r->to_ns);
}

static bool named(const struct weft_model *m, uint32_t promise, const char *label)
{
    uint32_t name = weft_model_name(m, promise);
    return strcmp(name == WEFT_NONE ? weft_model_type(m, promise) : weft_model_text(m, name, NULL),
                  label) == 0;
}

static bool needs_model(const struct cli_profile_view *v, const char *what)
{
    if (v->p->model)
        return true;
    return cli_say(
        v->files->file[0].path,
        "%s needs to know which promise ran, but there are no events of promises; record "
        "both: weft record --sample -- PROGRAM",
        what);
}

/* All promises with that label, or of the family with that name. */
static bool take_label(struct cli_profile_view *v, const char *option, const char *label)
{
    const struct weft_model *m = v->p->model;
    bool found = false;
    v->o.label = label;
    for (uint32_t p = WEFT_ROOT + 1; p < m->promises && !found; p++)
        found = named(m, p, label);
    return found || cli_profile_family_named(v, label) ||
           cli_say(v->files->file[0].path,
                   "no promise has the %slabel \"%s\"; --by label lists them", option,
                   cli_shown(label).text);
}

static bool find_promise(struct cli_profile_view *v)
{
    const char *which = v->r->promise;
    uint64_t id;
    if (v->r->label)
        return needs_model(v, "--label") && take_label(v, "", v->r->label);
    if (!which)
        return true;
    if (!needs_model(v, "--promise"))
        return false;
    v->o.with_children = true;
    if (weft_parse_count(which + (*which == '#'), UINT64_MAX - 1, &id))
        v->o.promise = weft_model_find(v->p->model, id);
    return v->o.promise != WEFT_NONE || take_label(v, "number or the ", which);
}

static bool find_thread(struct cli_profile_view *v)
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
    if (count == 0)
        return cli_say(path, "there is no thread \"%s\"; --by thread lists them",
                       cli_shown(which).text);
    cli_say(path, "%" PRIu32 " threads are called \"%s\"; give one of their numbers:", count,
            cli_shown(which).text);
    for (uint32_t t = 0, said = 0; t < p->threads && said < 10; t++)
        if (strcmp(weft_profile_text(p, p->thread[t].name), which) == 0 && ++said)
            fprintf(stderr, "  %" PRIu32 " of process %" PRIu32 "\n", p->thread[t].thread,
                    p->thread[t].process);
    return false;
}

/* Returns true if this profile can answer what was asked for. */
static bool check_view(const struct cli_profile_view *v)
{
    const struct cli_profile_request *r = v->r;
    const char *path = v->files->file[0].path;
    const bool promises = r->by == WEFT_PROFILE_BY_PROMISE || r->by == WEFT_PROFILE_BY_LABEL ||
                          r->by == WEFT_PROFILE_BY_ROOT;
    char what[32];
    snprintf(what, sizeof what, "--by %s", cli_profile_by_name(r->by));
    if (promises && !needs_model(v, what))
        return false;
    if (r->async != WEFT_ASYNC_NONE && !needs_model(v, "--async-stacks"))
        return false;
    if (r->off_cpu && v->p->absences == 0)
        return cli_say(path,
                       "it does not say when threads waited: switches between threads were not "
                       "recorded; weft sample and weft record --sample do that unless "
                       "--no-switches is given, perf record with --switch-events");
    if (!r->off_cpu && v->p->samples == 0)
        return cli_say(path,
                       "there are no samples of where the CPU went, but of where threads waited; "
                       "--off-cpu shows that");
    return true;
}

/* Akaros's streams record for each sample its core and time, but not how often the timer ticked or whether the core was
 * busy. So samples are counted. */
static bool count_ticks(struct cli_profile_view *v)
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

static bool find_view(struct cli_profile_view *v, const struct cli_profile_request *r,
                      struct cli_profiles *files)
{
    *v = (struct cli_profile_view){
        .r = r, .files = files, .p = files->profile, .o = WEFT_CALLTREE_ALL};
    v->o.by = r->by;
    v->o.async = r->async;
    v->o.off_cpu = r->off_cpu;
    v->o.where = r->kernel ? WEFT_PROFILE_IN_KERNEL
                 : r->user ? WEFT_PROFILE_IN_USER
                           : WEFT_PROFILE_ANYWHERE;
    v->ticks = count_ticks(v);
    if (!check_view(v) || !find_source(v) || !find_promise(v) || !find_thread(v))
        return false;
    find_range(v);
    v->filtered = v->o.promise != WEFT_NONE || v->o.label || v->o.thread != WEFT_NONE ||
                  v->o.from_ns || v->o.to_ns || v->o.where;
    v->object = cli_profile_objects(v->p);
    cli_profile_facts_find(&v->facts, v->p, v->o.source);
    cli_profile_family_find(v);
    v->facts.rate = v->ticks ? 0 : v->facts.rate;
    return v->object;
}

static void print(const struct cli_profile_view *v)
{
    const struct cli_profile_request *r = v->r;
    const bool off_cpu = r->off_cpu && r->by == WEFT_PROFILE_BY_FUNCTION;
    cli_profile_print_head(v);
    if (r->report == PROFILE_TREE)
        cli_profile_print_tree(v);
    else if (r->report == PROFILE_LINES)
        cli_profile_print_lines(v);
    else if (off_cpu)
        cli_profile_print_off_cpu(v);
    else
        cli_profile_print_top(v, r->by, r->limit);
    if (r->report == PROFILE_OVERVIEW && !off_cpu && v->p->model && v->p->model->promises > 1)
        cli_profile_print_top(v, WEFT_PROFILE_BY_LABEL, r->limit_given ? r->limit : LABEL_ROWS);
    const bool named = r->by == WEFT_PROFILE_BY_FUNCTION || r->by == WEFT_PROFILE_BY_LINE;
    if (r->report == PROFILE_TREE ? !r->off_cpu : named && !off_cpu)
        cli_profile_print_blanks(v);
}

static int show(const struct cli_profile_request *r, struct cli_profiles *files,
                struct cli_profiles *other)
{
    struct cli_profile_view v = {0}, before = {0};
    bool found = find_view(&v, r, files) && (!r->diff || find_view(&before, r, other));
    if (found && r->diff)
        (r->json ? cli_profile_print_diff_json : cli_profile_print_diff)(&before, &v);
    else if (found)
        (r->json ? cli_profile_print_json : print)(&v);
    free(v.object);
    free(v.family);
    free(before.object);
    free(before.family);
    return found ? CLI_DONE : CLI_FAILED;
}

static int run(int count, char **file)
{
    struct cli_profile_request *r = &request;
    struct cli_profiles files = {0}, other = {0};
    int status = CLI_FAILED;
    check(r);
    const struct cli_profiles_options o = {
        .sysroot = r->sysroot, .kallsyms = r->kallsyms, .no_symbols = r->no_symbols};
    if (cli_profiles_open(&files, (const char *const *)file, (unsigned)count, &o) &&
        (!r->diff || cli_profiles_open(&other, &r->diff, 1, &o)))
        status = show(r, &files, &other);
    cli_profiles_close(&other);
    cli_profiles_close(&files);
    return status;
}

const struct cli_command cli_profile = {
    .name = "profile",
    .summary = "say where the CPU went, and for which promise",
    .usage = "[OPTION…] FILE…",
    .about = "Says where the CPU went, by the samples in weft traces (weft sample, weft record "
             "--sample), Linux perf.data files and Akaros's streams. Several FILEs add up; the "
             "events of one of them say which promise ran.\n",
    .options = options,
    .examples = "weft profile server.weft\n"
                "weft profile --tree --by root server.weft\n"
                "weft profile --off-cpu --thread worker server.weft",
    .least = 1,
    .completes = CLI_PROFILES "|ctf|events|fxt",
    .run = run,
    .state = CLI_STATE(request),
};
