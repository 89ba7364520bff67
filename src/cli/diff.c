/* SPDX-License-Identifier: ISC */
/* weft diff: what is different in a bad run. */
#include <jansson.h>
#include <stdlib.h>

#include "analyse/diff.h"
#include "cli/common.h"
#include "cli/report.h"
#include "cli/trace_json.h"

enum { SHOWN = 8 }; /* changes of each kind that are shown */

struct request {
    bool json, check, all;
    char **paths;
    uint32_t runs; /* the last one is the bad one */
};

static struct request request;

static const struct cli_option options[] = {
    CLI_FLAG("all", request.all, "all changes, not just the most important"),
    CLI_FLAG("check", request.check,
             "exit with 3 if there is a difference, or what is needed to tell is missing: for "
             "tests"),
    CLI_FLAG("json", request.json, "print a JSON object"),
    CLI_END,
};

/* ---- For people ---- */

static bool begun; /* something was printed above */

static void heading(const char *text)
{
    fputs(begun ? "\n" : "", stdout);
    cli_heading(text);
    begun = true;
}

static void print_more(uint64_t more, const char *what)
{
    if (more)
        printf("  %s%s more%s%s; --all shows them%s\n", cli_style(CLI_FAINT), weft_count(more).text,
               *what ? " " : "", what, cli_style(CLI_PLAIN));
}

/* Prints the changes of that kind; most are only counted. */
static void print_changes(const struct weft_diff *d, bool follow, bool all)
{
    uint64_t shown = 0, more = 0;
    for (uint32_t i = 0; i < d->changes; i++) {
        if (d->change[i].follows != follow)
            continue;
        if (!all && shown == (follow ? SHOWN / 2 : SHOWN)) {
            more++;
            continue;
        }
        if (shown++ == 0)
            heading(follow ? "What follows from that" : "Promises");
        cli_wrap("  ", "    ", d->change[i].text);
    }
    print_more(more, "");
}

/* Prints the texts in a list; text: where they are in its items. */
static void print_list(const char *title, const void *list, uint32_t count, size_t item,
                       size_t text, bool all)
{
    const uint32_t shown = all || count <= SHOWN ? count : SHOWN;
    if (shown)
        heading(title);
    for (uint32_t i = 0; i < shown; i++)
        cli_wrap("  ", "    ", *(char *const *)((const char *)list + i * item + text));
    print_more(count - shown, "");
}
#define PRINT_LIST(title, list, count, all)                                                        \
    print_list(title, list, count, sizeof *(list), offsetof(__typeof__(*(list)), text), all)

static void print_counts(const struct request *r, const struct weft_diff *d)
{
    if (begun)
        putchar('\n');
    cli_wrap_filled(
        "", "", NULL,
        "{found}{aligned} of {least} promises aligned; compared[ with {goods} good "
        "runs]: how they ended, which are missing or new[, how often they ran, and how "
        "long {sorts} sort{sorts||s} of them took].",
        TEXT(found, weft_diff_any(d) ? ""
                    : d->unsure      ? "No difference found: "
                                     : "No difference that matters: "),
        AMOUNT(aligned, d->aligned),
        AMOUNT(least, d->good_promises < d->bad_promises ? d->good_promises : d->bad_promises),
        AMOUNT(goods, r->runs > 2 ? r->runs - 1 : 0), AMOUNT(sorts, d->latencies_compared));
}

static void print_warning(const char *text)
{
    if (!text)
        return;
    fputs(cli_style(CLI_WARNING), stdout);
    cli_wrap("", "", text);
    fputs(cli_style(CLI_PLAIN), stdout);
    begun = true;
}

static void print_diff(const struct request *r, const struct weft_diff *d)
{
    print_warning(d->doubt);
    print_warning(d->swapped);
    if (d->divergence.found) {
        heading("Where they part");
        cli_wrap("  ", "  ", d->divergence.text);
    }
    PRINT_LIST("Orders that are swapped in the bad run", d->order, d->orders, true);
    print_changes(d, false, r->all);
    print_changes(d, true, r->all);
    PRINT_LIST("What runs more", d->running, d->runnings, r->all);
    PRINT_LIST("How long things take", d->latency, d->latencies, r->all);
    print_more(d->changes_left_out, "changes were left out");
    print_counts(r, d);
}

/* ---- For programs ---- */

static json_t *moment_json(const struct weft_model *m, uint32_t promise, int64_t time_ns)
{
    return promise == WEFT_NONE ? json_null() : CLI_OBJECT(CLI_WHO(m, promise), "time_ns", time_ns);
}

static json_t *divergence_json(const struct weft_divergence *v, const struct weft_model *good,
                               const struct weft_model *bad)
{
    if (!v->found)
        return json_null();
    return CLI_OBJECT(CLI_FIELDS(v, text), "good",
                      CLI_OBJECT("first", moment_json(good, v->good_first, v->good_first_ns),
                                 "second", moment_json(good, v->good_second, v->good_second_ns)),
                      "bad",
                      CLI_OBJECT("first", moment_json(bad, v->bad_first, v->bad_first_ns), "second",
                                 moment_json(bad, v->bad_second, v->bad_second_ns)),
                      CLI_FIELDS(v, good_ns, bad_ns));
}

/* Two pairs: what it is in each run. */
#define BOTH(c) "good", cli_json_who(good, (c)->good), "bad", cli_json_who(bad, (c)->bad)

static json_t *change_json(const struct weft_change_found *c, const struct weft_model *good,
                           const struct weft_model *bad)
{
    static const char *const kinds[] = {"missing", "added", "outcome", "unread", "type"};
    return CLI_OBJECT("kind", kinds[c->kind], BOTH(c), CLI_FIELDS(c, count, follows, text));
}

static json_t *latency_json(const struct weft_latency_change *c, const struct weft_model *good,
                            const struct weft_model *bad)
{
    return CLI_OBJECT(BOTH(c),
                      CLI_FIELDS(c, good_count, bad_count, good_median_ns, bad_median_ns,
                                 good_low_ns, good_high_ns, good_p99_ns, bad_p99_ns, text));
}

static json_t *running_json(const struct weft_running_change *c, const struct weft_model *good,
                            const struct weft_model *bad)
{
    return CLI_OBJECT("kind", c->longer ? "longer" : "more_often", BOTH(c),
                      CLI_FIELDS(c, good_runs, bad_runs, good_longest_ns, bad_longest_ns, text));
}

static json_t *order_json(const struct weft_order_change *c, const struct weft_model *good,
                          const struct weft_model *bad)
{
    return CLI_OBJECT("good",
                      CLI_OBJECT("first", cli_json_who(good, c->good_first), "second",
                                 cli_json_who(good, c->good_second)),
                      "bad",
                      CLI_OBJECT("first", cli_json_who(bad, c->bad_first), "second",
                                 cli_json_who(bad, c->bad_second)),
                      "text", c->text);
}

static void print_json(const struct request *r, const struct weft_diff *d,
                       const struct weft_model *good, const struct weft_model *bad)
{
    cli_json_print(CLI_OBJECT(
        "good", CLI_LIST(i, r->runs - 1, json_string(cli_shown(r->paths[i]).text)), "bad",
        cli_shown(r->paths[r->runs - 1]).text, "divergence",
        divergence_json(&d->divergence, good, bad), "changes",
        CLI_LIST(i, d->changes, change_json(&d->change[i], good, bad)),
        CLI_FIELDS(d, changes_left_out), "latencies",
        CLI_LIST(i, d->latencies, latency_json(&d->latency[i], good, bad)), "running",
        CLI_LIST(i, d->runnings, running_json(&d->running[i], good, bad)), "aligned",
        CLI_OBJECT("promises", d->aligned, "of_good", d->good_promises, "of_bad", d->bad_promises),
        "different", weft_diff_any(d), CLI_FIELDS(d, latencies_compared, doubt), "orders",
        CLI_LIST(i, d->orders, order_json(&d->order[i], good, bad)), CLI_FIELDS(d, swapped)));
}

/* ---- Running ---- */

static int compare(const struct request *r, const struct weft_history *const *history)
{
    struct weft_diff d = {0};
    const struct weft_history *bad = history[r->runs - 1];
    const char *path = r->paths[r->runs - 1];
    struct cli_progress progress = cli_progress_begin(path);
    int rc = weft_diff_find(&d, history, r->runs - 1, bad, cli_progress_show, &progress);
    cli_progress_end(&progress);
    if (rc < 0)
        return cli_fail(path, "%s", weft_error_name(rc));
    const bool differs = weft_diff_any(&d) || d.unsure;
    if (r->json)
        print_json(r, &d, history[0]->m, bad->m);
    else
        print_diff(r, &d);
    weft_diff_fini(&d);
    return r->check && differs ? CLI_CHECK_FAILED : CLI_DONE;
}

static int run(int files, char **file)
{
    struct request *r = &request;
    r->paths = file;
    r->runs = (uint32_t)files;
    struct weft_model **model = calloc(r->runs, sizeof *model);
    struct weft_history **history = calloc(r->runs, sizeof *history);
    bool ok = model && history;
    if (!ok)
        cli_lacks_memory();
    for (uint32_t i = 0; i < r->runs && ok; i++)
        ok = (model[i] = cli_model(file[i])) && (history[i] = cli_history(model[i], file[i]));
    int status = ok ? compare(r, (const struct weft_history *const *)history) : CLI_FAILED;
    for (uint32_t i = 0; model && history && i < r->runs; i++) {
        weft_history_free(history[i]);
        weft_model_free(model[i]);
    }
    free(history);
    free(model);
    return status;
}

const struct cli_command cli_diff = {
    .name = "diff",
    .summary = "say what is different in a bad run",
    .usage = "[OPTION…] GOOD… BAD",
    .about = "Says what is different in a bad run of a program, compared with one or more good "
             "ones: the first thing that differs of all that matters to what went wrong; which "
             "promises end differently, are missing or new; and what takes longer. What differs "
             "among the good runs themselves is not told. If what is wrong is in the good run "
             "alone, they look swapped: that is said, too.\n",
    .options = options,
    .examples = "weft diff good.weft bad.weft",
    .missing = "two FILEs at least are wanted, a good run and a bad one",
    .least = 2,
    .completes = CLI_TRACES,
    .paged = true,
    .run = run,
    .state = CLI_STATE(request),
};
