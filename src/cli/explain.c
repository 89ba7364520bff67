/* SPDX-License-Identifier: ISC */
/* weft explain: what went wrong, in words, with the evidence. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/words.h"
#include "cli/common.h"
#include "cli/explain.h"
#include "cli/profiles.h"
#include "cli/story.h"
#include "cli/trace_json.h"
#include "format/utf8.h"

static const char help[] =
    "usage: weft explain [OPTION…] FILE…\n"
    "       weft explain --promise NUMBER|LABEL [--json] FILE\n\n"
    "Says what went wrong in a trace, the most important first: what happened, to which promise, "
    "what\n"
    "it cost, the events that show it, what suffered from it, and what usually mends it.\n\n"
    "  --promise WHICH   instead, tell the story of this promise, or of all with this label: what "
    "it\n"
    "                    waited for, and where its time went (its critical path)\n"
    "  --all             also what is only possible, and may be as it should be; and where the "
    "time\n"
    "                    of the slowest went, which else is said if nothing likely is found\n"
    "  --only NAMES      look for these only, for instance deadlock,lost-wakeup\n"
    "  --ignore NAMES    do not look for these\n"
    "  --accept FILE     leave out findings that are listed in FILE, a line each: a name, a space, "
    "and\n"
    "                    a label or pattern (loop-blocked render *)\n"
    "  --words FILE      words of labels that say something in this program, as in: may-last: "
    "accept idle\n"
    "  --check[=LEVEL]   exit with 3 if something is found that is certain, likely (the default) "
    "or\n"
    "                    possible, if nothing was recorded, if not all that is pending is known,\n"
    "                    or if events in between are missing: for tests\n"
    "  --json            as a JSON object\n"
    "  --help            this text\n\n"
    "Thresholds; times as in 20ms, and their defaults:\n"
    "  --hang TIME 100ms         not moved for that long, in a trace that did not end by itself\n"
    "  --slow-wake TIME 10ms     ready, but not running\n"
    "  --block TIME 10ms         one run on the event loop\n"
    "  --turn TIME 50ms          from one sleep of the event loop to the next\n"
    "  --never-yield TIME 1s     a run that has not ended\n"
    "  --spin N 1000             runs in a row\n"
    "  --self-wakes N 20         waits that one wakes oneself\n"
    "  --leak N 20               pending when the trace ends\n"
    "  --serial N 5              waits one after another\n"
    "  --serial-saving TIME 5ms  what doing them at once would save\n"
    "  --herd N 8                woken at once\n\n"
    "It can find: deadlock, lost-wakeup, hang-root, never-resolved, pool-exhausted,\n"
    "double-resolve, swallowed-failure, loop-blocked, spin, livelock, retry-storm, stopped, leak,\n"
    "gc-pause, polling, starvation, slow-wake, herd, stampede, straggler, drift, serial-waits,\n"
    "contention, workers-busy, pool-deadlock, queue-growth.\n\n"
    "Example: weft explain bad.weft\n";

enum {
    JSON = WEFT__HELP + 1,
    ALL,
    ONLY,
    IGNORE,
    ACCEPT,
    WORDS,
    CHECK,
    PROMISE,
    HANG,
    SLOW_WAKE,
    BLOCK,
    TURN,
    NEVER_YIELD,
    SPIN,
    SELF_WAKES,
    LEAK,
    SERIAL,
    SERIAL_SAVING,
    HERD,
};

static const struct option options[] = {
    {"json", no_argument, NULL, JSON},
    {"all", no_argument, NULL, ALL},
    {"only", required_argument, NULL, ONLY},
    {"ignore", required_argument, NULL, IGNORE},
    {"accept", required_argument, NULL, ACCEPT},
    {"words", required_argument, NULL, WORDS},
    {"check", optional_argument, NULL, CHECK},
    {"promise", required_argument, NULL, PROMISE},
    {"hang", required_argument, NULL, HANG},
    {"slow-wake", required_argument, NULL, SLOW_WAKE},
    {"block", required_argument, NULL, BLOCK},
    {"turn", required_argument, NULL, TURN},
    {"never-yield", required_argument, NULL, NEVER_YIELD},
    {"spin", required_argument, NULL, SPIN},
    {"self-wakes", required_argument, NULL, SELF_WAKES},
    {"leak", required_argument, NULL, LEAK},
    {"serial", required_argument, NULL, SERIAL},
    {"serial-saving", required_argument, NULL, SERIAL_SAVING},
    {"herd", required_argument, NULL, HERD},
    WEFT__HELP_OPTION,
    {0},
};

#define LIST_BYTES (1 << 20) /* of a file with lines */

/* A line of the file of accepted findings. */
struct accepted {
    enum weft_finding_kind kind;
    char *pattern; /* of the culprit's label, or type where it has none */
};

struct request {
    struct weft_explain_options thresholds;
    enum weft_confidence least; /* to be shown */
    bool json, check, all, only;
    enum weft_confidence check_level;
    const char *promise;
    struct accepted *accepted;
    size_t accepteds;
    struct weft_words *words;
};

/* ---- The command line ---- */

static enum weft_finding_kind kind_named(const char *name, size_t size)
{
    unsigned k = 0;
    while (k < WEFT_FINDING_KINDS &&
           (strlen(weft_finding_name(k)) != size || memcmp(weft_finding_name(k), name, size) != 0))
        k++;
    return k;
}

/* The kinds in a list with commas, as bits. */
static uint32_t kinds_in(const char *option, const char *list)
{
    uint32_t bits = 0;
    for (size_t size; *list; list += size + (list[size] == ',')) {
        size = strcspn(list, ",");
        enum weft_finding_kind k = kind_named(list, size);
        if (k == WEFT_FINDING_KINDS)
            weft__misuse("explain", "%s: there is nothing called \"%.*s\" to be found", option,
                         (int)size, list);
        bits |= 1u << k;
    }
    return bits;
}

static enum weft_confidence level_named(const char *option, const char *name)
{
    for (unsigned c = 0; c < WEFT_CONFIDENCES; c++)
        if (strcmp(name, weft_confidence_name(c)) == 0)
            return c;
    weft__misuse("explain", "%s is certain, likely or possible, not \"%s\"", option, name);
}

static uint32_t count_value(const char *option, const char *text)
{
    uint64_t n;
    if (!weft_parse_count(text, UINT32_MAX, &n) || n == 0)
        weft__misuse("explain", "%s wants a number from 1 on, not \"%s\"", option, text);
    return (uint32_t)n;
}

static int64_t length_value(const char *option, const char *text)
{
    int64_t ns = weft__time_value(&weft__explain, option, text);
    if (ns <= 0)
        weft__misuse("explain", "%s wants a time above 0, not \"%s\"", option, text);
    return ns;
}

static bool accept_line(struct request *r, const char *path, unsigned number, char *line)
{
    line[strcspn(line, "\r\n")] = '\0';
    line += strspn(line, " \t");
    if (!*line || *line == '#')
        return true;
    size_t size = strcspn(line, " \t");
    char *pattern = line + size + strspn(line + size, " \t");
    enum weft_finding_kind kind = kind_named(line, size);
    if (kind == WEFT_FINDING_KINDS || !*pattern) {
        weft__say(path,
                  "line %u: expected the name of a finding, a space and a label or pattern, "
                  "as in: loop-blocked render *",
                  number);
        return false;
    }
    struct accepted *grown = realloc(r->accepted, (r->accepteds + 1) * sizeof *grown);
    if (!grown)
        return false;
    r->accepted = grown;
    r->accepted[r->accepteds++] = (struct accepted){kind, strdup(pattern)};
    return true;
}

/* The caller frees it. NULL: says why. */
static char *read_list(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = malloc(LIST_BYTES + 1);
    size_t size = file && text ? fread(text, 1, LIST_BYTES + 1, file) : 0;
    bool ok = false;
    if (!file)
        weft__say(path, "cannot be opened: %s", strerror(errno));
    else if (!text)
        weft__say(path, "out of memory");
    else if (ferror(file))
        weft__say(path, "cannot be read: %s", strerror(errno));
    else if (size > LIST_BYTES || memchr(text, 0, size))
        weft__say(path, "is no list: it has NULs, or more than %d bytes", LIST_BYTES);
    else
        ok = true;
    if (ok)
        text[size] = '\0';
    else
        free(text);
    if (file)
        fclose(file);
    return ok ? text : NULL;
}

static bool words_line(struct request *r, const char *path, unsigned number, char *line)
{
    line[strcspn(line, "\r\n")] = '\0';
    const char *wrong = weft_words_add(&r->words, line);
    if (wrong)
        weft__say(path, "line %u: %s", number, wrong);
    return !wrong;
}

static void read_lines(struct request *r, const char *path,
                       bool (*take)(struct request *, const char *, unsigned, char *))
{
    char *text = read_list(path), *rest = text;
    bool ok = text;
    for (unsigned n = 1; ok && rest; n++)
        ok = take(r, path, n, strsep(&rest, "\n"));
    free(text);
    if (!ok)
        exit(WEFT__MISUSED);
}

static void take_threshold(struct weft_explain_options *o, int c)
{
    switch (c) {
    case HANG:
        o->hang_ns = length_value("--hang", optarg);
        break;
    case SLOW_WAKE:
        o->slow_wake_ns = length_value("--slow-wake", optarg);
        break;
    case BLOCK:
        o->block_ns = length_value("--block", optarg);
        break;
    case TURN:
        o->turn_ns = length_value("--turn", optarg);
        break;
    case NEVER_YIELD:
        o->never_yield_ns = length_value("--never-yield", optarg);
        break;
    case SPIN:
        o->spin_runs = count_value("--spin", optarg);
        break;
    case SELF_WAKES:
        o->self_wakes = count_value("--self-wakes", optarg);
        break;
    case LEAK:
        o->leak_count = count_value("--leak", optarg);
        break;
    case SERIAL:
        o->serial_waits = count_value("--serial", optarg);
        break;
    case SERIAL_SAVING:
        o->serial_saving_ns = length_value("--serial-saving", optarg);
        break;
    case HERD:
        o->herd_readers = count_value("--herd", optarg);
        break;
    }
}

static void take_options(struct request *r, int argc, char **argv)
{
    const uint32_t all = (1u << WEFT_FINDING_KINDS) - 1;
    int c;
    while ((c = weft__option(&weft__explain, argc, argv, ":", options)) != -1) {
        switch (c) {
        case JSON:
            r->json = true;
            break;
        case ALL:
            r->all = true;
            r->least = WEFT_POSSIBLE;
            break;
        case ONLY:
            r->only = true;
            r->thresholds.ignore |= all & ~kinds_in("--only", optarg);
            break;
        case IGNORE:
            r->thresholds.ignore |= kinds_in("--ignore", optarg);
            break;
        case ACCEPT:
            read_lines(r, optarg, accept_line);
            break;
        case WORDS:
            read_lines(r, optarg, words_line);
            break;
        case CHECK:
            r->check = true;
            r->check_level = optarg ? level_named("--check", optarg) : WEFT_LIKELY;
            break;
        case PROMISE:
            r->promise = optarg;
            break;
        default:
            take_threshold(&r->thresholds, c);
        }
    }
    r->thresholds.words = r->words;
    if (r->check && r->check_level < r->least)
        r->least = r->check_level; /* what lets it fail is to be seen */
}

/* ---- Finding ---- */

char *weft__explained_label(const struct weft_model *m, uint32_t promise)
{
    uint32_t size = 0, name = promise == WEFT_ROOT ? WEFT_NONE : weft_model_name(m, promise);
    if (name == WEFT_NONE)
        return NULL;
    const char *label = weft_model_text(m, name, &size);
    char *clean = malloc(3 * (size_t)size + 1);
    if (clean)
        clean[weft_text_clean(clean, 3 * (size_t)size, label, size)] = '\0';
    return clean;
}

static size_t character(const char *text)
{
    uint32_t code;
    return weft_utf8_decode(text, strlen(text), &code);
}

/* Whether a text is what a pattern says: '*' is any characters, '?' is one, a backslash takes what follows as it is. All else
 * does, too: labels have brackets. Not fnmatch, for which characters are what the user's locale says. */
static bool matches(const char *pattern, const char *text)
{
    const char *star = NULL, *begin = NULL; /* behind the last '*', and where the rest is tried */
    while (*text) {
        const char *literal = pattern + (*pattern == '\\' && pattern[1]);
        if (*pattern == '*') {
            star = ++pattern;
            begin = text;
        } else if (*pattern == '?') {
            pattern++;
            text += character(text);
        } else if (*literal == *text) {
            pattern = literal + 1;
            text++;
        } else if (star) {
            pattern = star;
            text = begin += character(begin);
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

static bool is_accepted(const struct request *r, const struct weft_model *m,
                        const struct weft_finding *f)
{
    char *label = weft__explained_label(m, f->promise);
    const char *called = label ? label : weft_model_type(m, f->promise);
    bool is = false;
    for (size_t i = 0; i < r->accepteds && !is; i++)
        is = r->accepted[i].kind == f->kind && matches(r->accepted[i].pattern, called);
    free(label);
    return is;
}

/* Which findings are to be told: if there are no better ones, the first of those that are only possible. Returns whether one
 * of them lets --check fail. */
static bool choose(struct weft__explained *x, const struct request *r)
{
    enum { POSSIBLE_SHOWN = 3 };
    bool fails = false, any = false;
    for (uint32_t i = 0; i < x->found.count; i++) {
        const struct weft_finding *f = &x->found.finding[i];
        if (is_accepted(r, x->model, f)) {
            x->accepted++;
            continue;
        }
        x->shown[i] = f->confidence >= r->least;
        x->below += !x->shown[i];
        any |= x->shown[i];
        fails |= r->check && x->shown[i] && f->confidence >= r->check_level;
    }
    for (uint32_t i = 0, n = 0; i < x->found.count && !any && n < POSSIBLE_SHOWN; i++) {
        x->shown[i] = !is_accepted(r, x->model, &x->found.finding[i]);
        n += x->shown[i];
        x->below -= x->shown[i];
        x->only_possible |= x->shown[i];
    }
    return fails;
}

/* Where the time went, if nothing better is known. Says what is wrong and returns false. */
static bool look_at_slow(struct weft__explained *x, const struct request *r)
{
    bool wanted = r->json || r->all || !r->only;
    for (uint32_t i = 0; i < x->found.count && !r->json && !r->all; i++)
        wanted &= !x->shown[i] || x->found.finding[i].confidence < WEFT_LIKELY;
    int rc = wanted ? weft_slow_find(&x->slow, x->history) : 0;
    if (rc < 0)
        weft__say(x->path, "%s", weft_error_name(rc));
    return rc == 0;
}

/* If it was recorded beside the events when threads left their cores: finds when others had them. */
static int add_preempted(struct weft__explained *x)
{
    const struct weft__profiles_options o = {.command = "explain",
                                             .model = x->model,
                                             .no_symbols = true,
                                             .may_be_empty = true,
                                             .quiet = true};
    struct weft__profiles p;
    struct weft_preemption *list = NULL;
    uint32_t count = 0;
    int rc = 0;
    const bool loaded = weft__profiles_open(&p, &x->path, 1, &o);
    const struct weft_profile *f = loaded ? p.profile : NULL;
    if (f && f->model && f->absences && !f->switches_until_ns) {
        list = calloc(f->absences, sizeof *list);
        for (uint32_t i = 0; list && i < f->absences; i++) {
            const struct weft_absence *a = &f->absence[i];
            if (a->preempted && f->thread[a->thread].stream != WEFT_NONE)
                list[count++] = (struct weft_preemption){
                    weft_model_time(a->from_ns, x->model->first_ns),
                    weft_model_time(a->to_ns, x->model->first_ns), f->thread[a->thread].stream};
        }
        rc = list ? weft_history_preempted(x->history, list, count) : WEFT_E_NOMEM;
    }
    free(list);
    weft__profiles_close(&p);
    return rc;
}

/* Says what is wrong and returns false. */
static bool look(struct weft__explained *x, const struct request *r, const char *path)
{
    *x = (struct weft__explained){.path = path, .ignored = r->thresholds.ignore};
    struct weft_reader *reader = weft__open(path);
    x->model = reader ? weft__model_of(reader, path) : NULL;
    const bool sampled = x->model && weft_reader_facts(reader)->sample_packets;
    weft_reader_close(reader);
    if (!x->model)
        return false;
    struct weft__progress progress = weft__progress_begin(path);
    int rc = weft_history_new(&x->history, x->model, weft__progress_show, &progress);
    if (rc == 0 && !r->promise && sampled)
        rc = add_preempted(x);
    if (rc == 0 && !r->promise)
        rc = weft_explain(&x->found, x->history, &r->thresholds, weft__progress_show, &progress);
    weft__progress_end(&progress);
    x->shown = calloc((size_t)x->found.count + 1, sizeof *x->shown);
    if (rc == 0 && !x->shown)
        rc = WEFT_E_NOMEM;
    if (rc < 0)
        weft__say(path, "%s", weft_error_name(rc));
    return rc == 0;
}

static void explained_fini(struct weft__explained *x)
{
    free(x->shown);
    weft_slow_fini(&x->slow);
    weft_findings_fini(&x->found);
    weft_history_free(x->history);
    weft_model_free(x->model);
}

static void print_json(json_t *o)
{
    weft__json_write(o, JSON_INDENT(2));
    putchar('\n');
    json_decref(o);
}

static int explain_all(const struct request *r, int files, char **path)
{
    int status = WEFT__DONE;
    bool fails = false;
    json_t *traces = json_array();
    for (int i = 0; i < files; i++) {
        struct weft__explained x;
        if (!look(&x, r, path[i])) {
            status = WEFT__FAILED;
        } else if (r->promise) {
            status = weft__story_print(x.history, r->promise, r->json);
        } else {
            fails |= choose(&x, r);
            const struct weft_losses *lost = &x.model->losses;
            if (!look_at_slow(&x, r))
                status = WEFT__FAILED;
            fails |= r->check && (weft_model_is_empty(x.model) || lost->pending || lost->discarded);
            if (r->json)
                json_array_append_new(traces, weft__explained_json(&x));
            else
                weft__explained_print(&x);
            if (!r->json && i + 1 < files)
                putchar('\n');
        }
        explained_fini(&x);
    }
    if (r->json && !r->promise && files > 1)
        print_json(json_pack("{sO}", "traces", traces));
    else if (r->json && !r->promise && json_array_size(traces))
        print_json(json_incref(json_array_get(traces, 0)));
    json_decref(traces);
    return status == WEFT__DONE && fails ? WEFT__CHECK_FAILED : status;
}

static int run(int argc, char **argv)
{
    struct request r = {.least = WEFT_LIKELY};
    take_options(&r, argc, argv);
    if (optind == argc)
        weft__misuse("explain", "no FILE is given");
    if (r.promise && argc - optind > 1)
        weft__misuse("explain", "--promise takes one FILE, not %d", argc - optind);
    int status = explain_all(&r, argc - optind, argv + optind);
    for (size_t i = 0; i < r.accepteds; i++)
        free(r.accepted[i].pattern);
    free(r.accepted);
    weft_words_free(r.words);
    return status;
}

const struct weft__command weft__explain = {
    "explain", "say what went wrong, in words, with the evidence", help, run};
