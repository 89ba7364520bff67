/* SPDX-License-Identifier: ISC */
/* weft explain: what went wrong, in words, with the evidence. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/words.h"
#include "base/glob.h"
#include "cli/common.h"
#include "cli/crash.h"
#include "cli/explain.h"
#include "cli/hot.h"
#include "cli/index/index.h"
#include "cli/live.h"
#include "cli/now.h"
#include "cli/pending.h"
#include "cli/profile/profiles.h"
#include "cli/trace_json.h"
#include "format/utf8.h"

#define LIST_BYTES (1 << 20) /* maximum bytes of the file of accepted findings */

/* A line of the file of accepted findings. */
struct accepted {
    enum weft_finding_kind kind;
    char *pattern; /* of the culprit's label, or type where it has none */
};

struct request {
    struct weft_explain_options thresholds;
    enum weft_confidence least; /* to be shown */
    uint32_t only, ignore;      /* kinds of findings, as bits; only: 0: all */
    bool json, check, all, now, pending;
    enum weft_confidence check_level;
    const char *promise;
    struct accepted *accepted;
    size_t accepteds;
    struct weft_words *words;
};

static struct request request = {.least = WEFT_LIKELY, .check_level = WEFT_LIKELY};

/* ---- The command line ---- */

static const char *kind_word(unsigned k)
{
    return k < WEFT_FINDING_KINDS ? weft_finding_name(k) : NULL;
}

static const char *level_word(unsigned c)
{
    return c < WEFT_CONFIDENCES ? weft_confidence_name(c) : NULL;
}

static bool accept_line(struct request *r, const char *path, unsigned number, char *line)
{
    line += strspn(line, " \t");
    if (!*line || *line == '#')
        return true;
    size_t size = strcspn(line, " \t");
    char *pattern = line + size + strspn(line + size, " \t");
    unsigned kind = 0;
    while (kind < WEFT_FINDING_KINDS && (strlen(weft_finding_name(kind)) != size ||
                                         memcmp(weft_finding_name(kind), line, size) != 0))
        kind++;
    if (kind == WEFT_FINDING_KINDS || !*pattern)
        return cli_say(path,
                       "line %u: expected the name of a finding, a space and a label or pattern, "
                       "as in: loop-blocked render *",
                       number);
    struct accepted *grown = realloc(r->accepted, (r->accepteds + 1) * sizeof *grown);
    if (!grown)
        return false;
    r->accepted = grown;
    r->accepted[r->accepteds++] = (struct accepted){kind, strdup(pattern)};
    return true;
}

static bool words_line(struct request *r, const char *path, unsigned number, char *line)
{
    const char *wrong = weft_words_add(&r->words, line);
    return !wrong || cli_say(path, "line %u: %s", number, wrong);
}

/* Takes each line of a file, or exits. */
static void read_lines(const char *path,
                       bool (*take)(struct request *, const char *, unsigned, char *))
{
    FILE *file = fopen(path, "re");
    char *text = malloc(LIST_BYTES + 1), *rest = text;
    size_t size = file && text ? fread(text, 1, LIST_BYTES + 1, file) : 0;
    bool ok = false;
    if (!file)
        cli_say(path, "cannot be opened: %s", strerror(errno));
    else if (!text)
        cli_say(path, "out of memory");
    else if (ferror(file))
        cli_say(path, "cannot be read: %s", strerror(errno));
    else if (size > LIST_BYTES || memchr(text, 0, size))
        cli_say(path, "is no list: it has NULs, or more than %d bytes", LIST_BYTES);
    else
        ok = true;
    if (ok)
        text[size] = '\0';
    for (unsigned n = 1; ok && rest; n++) {
        char *line = strsep(&rest, "\n");
        line[strcspn(line, "\r")] = '\0';
        ok = take(&request, path, n, line);
    }
    free(text);
    if (file)
        fclose(file);
    if (!ok)
        exit(CLI_MISUSED);
}

static void take_list(const struct cli_command *c, const struct cli_option *o, const char *path)
{
    (void)c;
    read_lines(path, strcmp(o->name, "accept") == 0 ? accept_line : words_line);
}

#define TIME_ABOVE(name, field, help, default)                                                     \
    CLI_TIME(name, request.thresholds.field, "TIME", help, .least = 1, .shown = default)
#define COUNT_FROM_1(name, field, help, default)                                                   \
    CLI_NUMBER(name, request.thresholds.field, "N", help, .least = 1, .shown = default)

static const struct cli_option options[] = {
    CLI_TEXT("promise", request.promise, "NUMBER|LABEL",
             "instead, tell the story of this promise, or of all with this label: what it waited "
             "for, and where its time went (its critical path)"),
    CLI_FLAG("all", request.all,
             "also what is only possible, and may be as it should be; and where the time of the "
             "slowest went, which else is said if nothing likely is found"),
    CLI_WORD("only", request.only, "NAMES",
             "look only for these, with commas between them:", .word = kind_word, .list = true),
    CLI_WORD("ignore", request.ignore, "NAMES", "do not look for these", .word = kind_word,
             .list = true),
    CLI_CALL("accept", take_list, "FILE",
             "leave out findings that are listed in FILE, a line each: a name, a space, and a "
             "label or pattern (loop-blocked render *)",
             .completes = CLI_FILES),
    CLI_CALL("words", take_list, "FILE",
             "words of labels that say something in this program, as in: may-last: accept idle",
             .completes = CLI_FILES),
    CLI_WORD("check", request.check_level, "certain|likely|possible",
             "exit with 3 if something is found that is at least so certain, if not all that is "
             "pending is known, or if events in between are missing, and with 1 if nothing was "
             "recorded: for tests",
             .word = level_word, .alone = "likely", .given = &request.check, .shown = "likely"),
    CLI_FLAG("json", request.json, "print a JSON object"),
    CLI_FLAG("pending", request.pending,
             "also all that is pending when the trace ends, as a tree: below each promise what it "
             "waits for, and what it has created"),
    CLI_FLAG("now", request.now,
             "what waits for what in process PID at this moment, seen from outside, or did in the "
             "process of a core; without this option, if it records nothing"),
    CLI_HEADING("Thresholds (times as in 20ms):"),
    TIME_ABOVE("hang", hang_ns,
               "how long something that hangs must not have moved, in a trace that did not end by "
               "itself",
               "100ms"),
    TIME_ABOVE("slow-wake", slow_wake_ns, "how long something may stand ready without running",
               "10ms"),
    TIME_ABOVE("block", block_ns, "how long one run on the event loop may be", "10ms"),
    TIME_ABOVE("turn", turn_ns, "how long the event loop may be busy from one sleep to the next",
               "50ms"),
    TIME_ABOVE("never-yield", never_yield_ns, "how long a run that has not ended may be", "1s"),
    COUNT_FROM_1("spin", spin_runs, "how often in a row something must run to count as spinning",
                 "1000"),
    COUNT_FROM_1("self-wakes", self_wakes,
                 "how often in a row something must wake itself to count as spinning", "20"),
    COUNT_FROM_1("leak", leak_count, "how many of a sort must be pending when the trace ends",
                 "20"),
    COUNT_FROM_1("serial", serial_waits, "how many waits there must be one after another", "5"),
    TIME_ABOVE("serial-saving", serial_saving_ns, "what doing them at once must save", "5ms"),
    COUNT_FROM_1("herd", herd_readers, "how many must be woken at once", "8"),
    CLI_HEADING("The trace:"),
    CLI_INDEX,
    CLI_PART_TIMES,
    CLI_PART_STREAM,
    CLI_END,
};

static void check(struct request *r, int files)
{
    if (r->promise && files > 1)
        cli_misuse("explain", "--promise takes one FILE, not %d", files);
    r->thresholds.words = r->words;
    r->thresholds.ignore = r->ignore;
    if (r->only)
        r->thresholds.ignore |= ((1u << WEFT_FINDING_KINDS) - 1) & ~r->only;
    if (r->all)
        r->least = WEFT_POSSIBLE;
    if (r->check && r->check_level < r->least)
        r->least = r->check_level; /* whatever makes --check fail must be shown */
}

/* ---- Finding ---- */

char *cli_explained_label(const struct weft_model *m, uint32_t promise)
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

static bool is_accepted(const struct request *r, const struct weft_model *m,
                        const struct weft_finding *f)
{
    char *label = cli_explained_label(m, f->promise);
    const char *called = label ? label : weft_model_type(m, f->promise);
    bool is = false;
    for (size_t i = 0; i < r->accepteds && !is; i++)
        is = r->accepted[i].kind == f->kind && weft_glob_matches(r->accepted[i].pattern, called);
    free(label);
    return is;
}

/* Chooses which findings are shown; if there are no better ones, the first that is only possible. Returns true if one
 * of them makes --check fail. */
static bool choose(struct cli_explained *x, const struct request *r)
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

/* Returns true if it is to be said where the time went: nothing better is known. */
static bool wants_slow(const struct cli_explained *x, const struct request *r)
{
    bool wanted = r->json || r->all || !r->only;
    for (uint32_t i = 0; i < x->found.count && !r->json && !r->all; i++)
        wanted &= !x->shown[i] || x->found.finding[i].confidence < WEFT_LIKELY;
    return wanted;
}

/* Finds that. On failure prints why and returns false. */
static bool find_slow(struct cli_explained *x)
{
    const int rc = x->slow_known ? 0 : weft_slow_find(&x->slow, x->history);
    x->slow_known = rc == 0;
    return rc == 0 || cli_say(x->path, "%s", weft_error_name(rc));
}

/* If the trace also recorded when threads left their cores: finds when others had those cores. */
static int add_preempted(struct cli_explained *x)
{
    struct weft_preemption *list = NULL;
    uint32_t count = 0;
    int rc = 0;
    const struct weft_profile *f = x->profile;
    if (f && f->model && f->absences && !f->switches_until_ns) {
        list = calloc(f->absences, sizeof *list);
        for (uint32_t i = 0; list && i < f->absences; i++) {
            const struct weft_sample *a = &f->absence[i];
            if (a->preempted && f->thread[a->thread].stream != WEFT_NONE)
                list[count++] = (struct weft_preemption){
                    weft_model_time(a->time_ns, x->model->first_ns),
                    weft_model_time(a->time_ns + a->value, x->model->first_ns),
                    f->thread[a->thread].stream};
        }
        rc = list ? weft_history_preempted(x->history, list, count) : WEFT_E_NOMEM;
    }
    free(list);
    return rc;
}

/* Returns true if that is looked for which an index has. */
static bool is_usual(const struct request *r)
{
    const struct weft_explain_options usual = {0};
    return !r->promise && memcmp(&r->thresholds, &usual, sizeof usual) == 0;
}

/* p: for the samples of the file, to be closed. On failure prints why and returns false. */
static bool read_and_search(struct cli_explained *x, struct cli_index *index,
                            const struct request *r, struct cli_profiles *p)
{
    struct weft_reader *reader = cli_open(x->path);
    x->model = reader ? cli_model_of(reader, x->path) : NULL;
    const bool sampled = x->model && weft_reader_facts(reader)->sample_packets;
    if (x->model)
        cli_index_add_counts(index, reader, x->model);
    weft_reader_close(reader);
    if (!x->model || !(x->history = cli_history(x->model, x->path)))
        return false;
    x->promises = x->model->promises;
    const struct cli_profiles_options o = {.command = "explain",
                                           .model = x->model,
                                           .no_symbols = true,
                                           .may_be_empty = true,
                                           .quiet = true};
    if (sampled && cli_profiles_open(p, &x->path, 1, &o))
        x->profile = p->profile;
    struct cli_progress progress = cli_progress_begin(x->path);
    int rc = !r->promise && sampled ? add_preempted(x) : 0;
    if (rc == 0 && !r->promise)
        rc = weft_explain(&x->found, x->history, &r->thresholds, cli_progress_show, &progress);
    cli_progress_end(&progress);
    return rc == 0 || cli_say(x->path, "%s", weft_error_name(rc));
}

/* The same; *kept: it is all from the index. */
static bool explain_file(struct cli_explained *x, struct cli_index *index, const struct request *r,
                         struct cli_profiles *p, bool *kept)
{
    *kept = is_usual(r) && !r->pending && cli_index_get_explained(index, x);
    if (*kept)
        cli_warn_of_model(x->path, x->model);
    else if (!read_and_search(x, index, r, p))
        return false;
    if (x->model->quirks.at_once)
        x->ignored |= ~WEFT_FINDINGS_AT_ONCE;
    x->shown = calloc((size_t)x->found.count + 1, sizeof *x->shown);
    return x->shown || cli_say(x->path, "%s", weft_error_name(WEFT_E_NOMEM));
}

/* What was found without samples is kept: these may be looked at with other files beside them. */
static void keep(struct cli_explained *x, struct cli_index *index)
{
    if (!cli_index_keeps(index))
        return;
    fflush(stdout);
    if (!x->profile && find_slow(x))
        cli_index_add_explained(index, x);
    cli_index_add_stats(index, x->history, NULL);
}

/* ---- For programs ---- */

static json_t *evidence_json(const struct weft_model *m, const struct weft_evidence *e)
{
    return CLI_OBJECT("time_ns", e->time_ns, "event", weft_evidence_name(e->event), "promise",
                      cli_json_id(m, e->promise), "other", cli_json_id(m, e->other), "label",
                      cli_json_label(m, e->promise));
}

static json_t *finding_json(const struct cli_explained *x, const struct weft_finding *f)
{
    const struct weft_model *m = x->model;
    struct cli_hot hot;
    if (cli_explained_hot(&hot, x, f) < 0)
        cli_lacks_memory();
    json_t *o =
        CLI_OBJECT("name", weft_finding_name(f->kind), "confidence",
                   weft_confidence_name(f->confidence), CLI_WHO(m, f->promise), "text",
                   f->text ? f->text : "", CLI_FIELDS(f, start_ns, end_ns, cost_ns, count),
                   "evidence", CLI_LIST(i, f->evidences, evidence_json(m, &f->evidence[i])),
                   "affected", CLI_LIST(i, f->affecteds, cli_json_who(m, f->affected[i])),
                   CLI_FIELDS(f, affected_total, doubt), "hint", weft_finding_hint(f->kind));
    CLI_SET(o, "on_cpu", cli_hot_json(x->profile, &hot));
    return o;
}

static json_t *cause_json(const struct weft_model *m, const struct weft_slow_cause *c)
{
    const uint32_t promise = c->share.promise;
    return CLI_OBJECT("kind", weft_slow_cause_name(c), "total_ns", c->share.total_ns, "promise",
                      cli_json_id(m, promise), "type",
                      promise == WEFT_NONE ? NULL : cli_json_type(m, promise), "name", c->name,
                      "held_by", c->holder_name);
}

static json_t *slow_json(const struct weft_model *m, const struct weft_slow_sort *s)
{
    return CLI_OBJECT("name", s->name, CLI_WHO(m, s->slowest), CLI_FIELDS(s, text, count),
                      "looked_at", s->looked, "all_alike", s->all,
                      CLI_FIELDS(s, slow_ns, median_ns, total_ns), "cause",
                      cause_json(m, &s->cause));
}

/* When the recording was off, the last time. */
static json_t *pause_json(const struct weft_model *m)
{
    if (m->resumed_ns == WEFT_TIME_MIN)
        return json_null();
    return CLI_OBJECT("from_ns", m->paused_ns, "to_ns",
                      m->resumed_ns == WEFT_TIME_MAX ? json_null() : json_integer(m->resumed_ns));
}

/* NULL: the trace was made of what was seen from outside, and says nothing about a crash. */
static const struct weft_history *recorded(const struct cli_explained *x)
{
    return x->model->quirks.at_once ? NULL : x->history;
}

static json_t *explained_json(const struct cli_explained *x, const struct cli_crash *crash,
                              bool pending)
{
    const struct weft_model *m = x->model;
    json_t *findings = json_array(), *kinds = json_array();
    for (uint32_t i = 0; i < x->found.count; i++)
        if (x->shown[i])
            cli_json_append(findings, finding_json(x, &x->found.finding[i]));
    for (unsigned k = 0; k < WEFT_FINDING_KINDS; k++)
        if (!(x->ignored >> k & 1))
            cli_json_append(kinds, json_string(weft_finding_name(k)));
    json_t *o =
        CLI_OBJECT("file", cli_shown(x->path).text, "findings", findings, "looked_for", kinds);
    CLI_SET(o, "not_shown",
            CLI_OBJECT("less_confident", x->below, "accepted", x->accepted, "left_out",
                       x->found.left_out),
            "slow", CLI_LIST(i, x->slow.count, slow_json(m, &x->slow.sort[i])), "times",
            x->history->preemption_first ? "core" : "clock", "nothing_recorded",
            (bool)(weft_model_is_empty(m)), "events_total", m->events_total, "promises",
            x->promises - 1, "span_ns", m->end_ns, "ended", weft_ended_name(m->ended));
    cli_json_exit(o, &m->exit);
    if (crash)
        CLI_SET(o, "crash", cli_crash_json(crash, recorded(x)));
    if (pending)
        CLI_SET(o, "pending", cli_pending_json(x->history));
    CLI_SET(o, "overwritten", m->losses.overwritten, "pending_known", (bool)(!m->losses.pending),
            "paused", pause_json(m), "missing", m->losses.discarded);
    return o;
}

/* ---- Running ---- */

/* Returns true if a file is a process to be looked at from outside. */
static bool is_looked_at(const struct request *r, const char *path, pid_t *pid)
{
    const bool as_trace = r->pending || r->promise;
    return cli_live_process(path, pid) && (r->now || (!as_trace && cli_live_records_nothing(*pid)));
}

/* *fails: there is a deadlock. Returns an exit status. */
static int explain_now(const struct request *r, const char *path, pid_t pid, json_t *traces,
                       bool *fails)
{
    struct weft_error err;
    struct now *n = NULL;
    int status = CLI_DONE;
    if (now_open(&n, pid, &err) < 0) {
        status = cli_fail_by(path, &err);
    } else {
        *fails |= r->check && n->cycles > 0;
        if (r->json)
            cli_json_append(traces, cli_now_json(n));
        else
            cli_now_print(n, NOW_NONE, r->all);
    }
    now_free(n);
    return status;
}

/* A core without a trace, or with --now: what its threads waited for. Returns an exit status. */
static int explain_crash(const struct request *r, const char *path, const struct cli_crash *crash,
                         json_t *traces, bool *fails)
{
    *fails |= r->check && crash->now && crash->now->cycles > 0;
    if (r->json)
        cli_json_append(
            traces, CLI_OBJECT("file", cli_shown(path).text, "crash", cli_crash_json(crash, NULL)));
    else
        cli_crash_print(crash, path, NULL, r->all);
    return r->check && !r->now ? cli_fail(path, "%s", crash->no_trace) : CLI_DONE;
}

/* Returns an exit status. */
static int explain_trace(const struct request *r, const char *path, const struct cli_crash *crash,
                         json_t *traces, bool *fails)
{
    struct cli_explained x = {.path = path, .ignored = r->thresholds.ignore};
    struct cli_profiles profiles = {.profile = NULL};
    struct cli_index *index = cli_index_open(path);
    bool kept;
    int status = explain_file(&x, index, r, &profiles, &kept) ? CLI_DONE : CLI_FAILED;
    if (status == CLI_DONE && r->promise) {
        status = cli_story_print(x.history, x.profile, r->promise, r->json);
    } else if (status == CLI_DONE) {
        const struct weft_losses *lost = &x.model->losses;
        *fails |= choose(&x, r);
        *fails |= r->check && (lost->pending || lost->discarded);
        if (!wants_slow(&x, r))
            weft_slow_fini(&x.slow);
        else if (!find_slow(&x))
            status = CLI_FAILED;
        if (crash && !r->json)
            cli_crash_print(crash, path, recorded(&x), r->all);
        if (r->pending && !r->json)
            cli_pending_print(x.history, r->all);
        if (r->json)
            cli_json_append(traces, explained_json(&x, crash, r->pending));
        else
            cli_explained_print(&x);
        if (r->check && weft_model_is_empty(x.model))
            status = cli_fail(path, "nothing was recorded, so there is nothing to check");
    }
    if (status == CLI_DONE && !kept && is_usual(r))
        keep(&x, index);
    cli_index_close(index);
    free(x.shown);
    cli_profiles_close(&profiles);
    weft_slow_fini(&x.slow);
    weft_findings_fini(&x.found);
    weft_history_free(x.history);
    weft_model_free(x.model);
    return status;
}

/* The same. */
static int explain_one(const struct request *r, const char *path, json_t *traces, bool *fails)
{
    pid_t pid;
    if (is_looked_at(r, path, &pid))
        return explain_now(r, path, pid, traces, fails);
    struct cli_crash *crash = r->promise ? NULL : cli_crash_open(path);
    const int status = crash && (r->now || (*crash->no_trace && !r->pending))
                           ? explain_crash(r, path, crash, traces, fails)
                       : r->now ? cli_fail(path, "is no process or core; --now takes process ids")
                                : explain_trace(r, path, crash, traces, fails);
    cli_crash_free(crash);
    return status;
}

static int explain_all(const struct request *r, int files, char **path)
{
    int status = CLI_DONE;
    bool fails = false;
    json_t *traces = json_array();
    for (int i = 0; i < files; i++) {
        const int one = explain_one(r, path[i], traces, &fails);
        status = one == CLI_DONE ? status : one;
        if (!r->json && !r->promise && i + 1 < files)
            putchar('\n');
    }
    if (r->json && !r->promise && files > 1)
        cli_json_print(CLI_OBJECT("traces", json_incref(traces)));
    else if (r->json && !r->promise && json_array_size(traces))
        cli_json_print(json_incref(json_array_get(traces, 0)));
    json_decref(traces);
    return status == CLI_DONE && fails ? CLI_CHECK_FAILED : status;
}

static int run(int files, char **file)
{
    struct request *r = &request;
    check(r, files);
    int status = explain_all(r, files, file);
    for (size_t i = 0; i < r->accepteds; i++)
        free(r->accepted[i].pattern);
    free(r->accepted);
    weft_words_free(r->words);
    return status;
}

const struct cli_command cli_explain = {
    .name = "explain",
    .summary = "say what went wrong, in words, with the evidence",
    .usage = "[OPTION…] FILE…\n"
             "--promise NUMBER|LABEL [--json] FILE\n"
             "[--now] [--json] [--all] PID|CORE…",
    .about =
        "Says what went wrong in a trace, the most important first: what happened, to which "
        "promise, what it cost, the events that show it, what suffered from it, and what "
        "usually mends it.\n"
        "Of a process that records nothing, says what waits for what in it at this moment: its "
        "threads, locks, descriptors, and the tasks of Python and Node.js. Of a core file, says "
        "first which thread ended the process, by which signal, and which promise ran on it.\n",
    .options = options,
    .examples = "weft explain bad.weft\n"
                "weft explain 4711",
    .least = 1,
    .completes = CLI_TRACES,
    .paged = true,
    .run = run,
    .state = CLI_STATE(request),
};
