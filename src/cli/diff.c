/* SPDX-License-Identifier: ISC */
/* weft diff: what is different in a bad run. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

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

struct run {
    struct weft_model *model;
    struct weft_history *history;
};

/* ---- For people ---- */

static bool begun; /* something was printed above */

static void heading(const char *text)
{
    printf("%s%s%s%s\n", begun ? "\n" : "", cli_style(CLI_BOLD), text, cli_style(CLI_PLAIN));
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

static void print_latencies(const struct weft_diff *d, bool all)
{
    uint32_t shown = all || d->latencies <= SHOWN ? d->latencies : SHOWN;
    if (shown)
        heading("How long things take");
    for (uint32_t i = 0; i < shown; i++)
        cli_wrap("  ", "    ", d->latency[i].text);
    print_more(d->latencies - shown, "");
}

static void print_running(const struct weft_diff *d, bool all)
{
    uint32_t shown = all || d->runnings <= SHOWN ? d->runnings : SHOWN;
    if (shown)
        heading("What runs more");
    for (uint32_t i = 0; i < shown; i++)
        cli_wrap("  ", "    ", d->running[i].text);
    print_more(d->runnings - shown, "");
}

static void print_orders(const struct weft_diff *d)
{
    if (d->orders)
        heading("Orders that are swapped in the bad run");
    for (uint32_t i = 0; i < d->orders; i++)
        cli_wrap("  ", "    ", d->order[i].text);
}

static void print_counts(const struct request *r, const struct weft_diff *d)
{
    char text[400], lengths[100] = "", runs[64] = "";
    uint64_t least = d->good_promises < d->bad_promises ? d->good_promises : d->bad_promises;
    if (d->latencies_compared)
        snprintf(lengths, sizeof lengths,
                 ", how often they ran, and how long %s sort%s of them took",
                 weft_count(d->latencies_compared).text, weft_plural(d->latencies_compared));
    if (r->runs > 2)
        snprintf(runs, sizeof runs, " with %s good runs", weft_count(r->runs - 1).text);
    snprintf(text, sizeof text,
             "%s%s of %s promises aligned; compared%s: how they ended, which are missing or new%s.",
             weft_diff_any(d) ? ""
             : d->unsure      ? "No difference found: "
                              : "No difference that matters: ",
             weft_count(d->aligned).text, weft_count(least).text, runs, lengths);
    if (begun)
        putchar('\n');
    cli_wrap("", "", text);
}

static void print_diff(const struct request *r, const struct weft_diff *d)
{
    if (d->doubt) {
        fputs(cli_style(CLI_WARNING), stdout);
        cli_wrap("", "", d->doubt);
        fputs(cli_style(CLI_PLAIN), stdout);
        begun = true;
    }
    if (d->swapped) {
        fputs(cli_style(CLI_WARNING), stdout);
        cli_wrap("", "", d->swapped);
        fputs(cli_style(CLI_PLAIN), stdout);
        begun = true;
    }
    if (d->divergence.found) {
        heading("Where they part");
        cli_wrap("  ", "  ", d->divergence.text);
    }
    print_orders(d);
    print_changes(d, false, r->all);
    print_changes(d, true, r->all);
    print_running(d, r->all);
    print_latencies(d, r->all);
    print_more(d->changes_left_out, "changes were left out");
    print_counts(r, d);
}

/* ---- For programs ---- */

/* {"promise", "label", "type"}, or null. */
static json_t *promise_json(const struct weft_model *m, uint32_t promise)
{
    if (promise == WEFT_NONE)
        return json_null();
    const char *type = promise == WEFT_ROOT ? "loop" : weft_model_type(m, promise);
    return CLI_OBJECT("promise", cli_json_id(m, promise), "label", cli_json_label(m, promise),
                      "type", type);
}

static json_t *moment_json(const struct weft_model *m, uint32_t promise, int64_t time_ns)
{
    if (promise == WEFT_NONE)
        return json_null();
    json_t *x = promise_json(m, promise);
    CLI_SET(x, "time_ns", cli_json_time(time_ns, INT64_MIN));
    return x;
}

static json_t *divergence_json(const struct weft_divergence *v, const struct weft_model *good,
                               const struct weft_model *bad)
{
    if (!v->found)
        return json_null();
    return CLI_OBJECT("text", v->text, "good",
                      CLI_OBJECT("first", moment_json(good, v->good_first, v->good_first_ns),
                                 "second", moment_json(good, v->good_second, v->good_second_ns)),
                      "bad",
                      CLI_OBJECT("first", moment_json(bad, v->bad_first, v->bad_first_ns), "second",
                                 moment_json(bad, v->bad_second, v->bad_second_ns)),
                      "good_ns", cli_json_time(v->good_ns, INT64_MIN), "bad_ns",
                      cli_json_time(v->bad_ns, INT64_MIN));
}

static json_t *changes_json(const struct weft_diff *d, const struct weft_model *good,
                            const struct weft_model *bad)
{
    static const char *const kinds[] = {"missing", "added", "outcome", "unread", "type"};
    json_t *list = json_array();
    for (uint32_t i = 0; i < d->changes; i++) {
        const struct weft_change_found *c = &d->change[i];
        cli_json_append(list,
                        CLI_OBJECT("kind", kinds[c->kind], "good", promise_json(good, c->good),
                                   "bad", promise_json(bad, c->bad), "count", c->count, "follows",
                                   c->follows, "text", c->text));
    }
    return list;
}

static json_t *latencies_json(const struct weft_diff *d, const struct weft_model *good,
                              const struct weft_model *bad)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < d->latencies; i++) {
        const struct weft_latency_change *c = &d->latency[i];
        cli_json_append(
            list, CLI_OBJECT("good", promise_json(good, c->good), "bad", promise_json(bad, c->bad),
                             "good_count", c->good_count, "bad_count", c->bad_count,
                             "good_median_ns", cli_json_time(c->good_median_ns, INT64_MIN),
                             "bad_median_ns", cli_json_time(c->bad_median_ns, INT64_MIN),
                             "good_low_ns", cli_json_time(c->good_low_ns, INT64_MIN),
                             "good_high_ns", cli_json_time(c->good_high_ns, INT64_MIN),
                             "good_p99_ns", cli_json_time(c->good_p99_ns, INT64_MIN), "bad_p99_ns",
                             cli_json_time(c->bad_p99_ns, INT64_MIN), "text", c->text));
    }
    return list;
}

static json_t *running_json(const struct weft_diff *d, const struct weft_model *good,
                            const struct weft_model *bad)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < d->runnings; i++) {
        const struct weft_running_change *c = &d->running[i];
        cli_json_append(
            list, CLI_OBJECT("kind", c->longer ? "longer" : "more_often", "good",
                             promise_json(good, c->good), "bad", promise_json(bad, c->bad),
                             "good_runs", c->good_runs, "bad_runs", c->bad_runs, "good_longest_ns",
                             cli_json_time(c->good_longest_ns, INT64_MIN), "bad_longest_ns",
                             cli_json_time(c->bad_longest_ns, INT64_MIN), "text", c->text));
    }
    return list;
}

static json_t *orders_json(const struct weft_diff *d, const struct weft_model *good,
                           const struct weft_model *bad)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < d->orders; i++) {
        const struct weft_order_change *c = &d->order[i];
        cli_json_append(list, CLI_OBJECT("good",
                                         CLI_OBJECT("first", promise_json(good, c->good_first),
                                                    "second", promise_json(good, c->good_second)),
                                         "bad",
                                         CLI_OBJECT("first", promise_json(bad, c->bad_first),
                                                    "second", promise_json(bad, c->bad_second)),
                                         "text", c->text));
    }
    return list;
}

static void print_json(const struct request *r, const struct weft_diff *d, const struct run *run)
{
    const struct weft_model *good = run[0].model, *bad = run[r->runs - 1].model;
    json_t *goods = json_array();
    for (uint32_t i = 0; i + 1 < r->runs; i++)
        cli_json_append(goods, json_string(cli_shown(r->paths[i]).text));
    json_t *all = CLI_OBJECT(
        "good", goods, "bad", cli_shown(r->paths[r->runs - 1]).text, "divergence",
        divergence_json(&d->divergence, good, bad), "changes", changes_json(d, good, bad),
        "changes_left_out", d->changes_left_out, "latencies", latencies_json(d, good, bad),
        "running", running_json(d, good, bad), "aligned",
        CLI_OBJECT("promises", d->aligned, "of_good", d->good_promises, "of_bad", d->bad_promises),
        "different", weft_diff_any(d), "latencies_compared", d->latencies_compared, "doubt",
        d->doubt);
    CLI_SET(all, "orders", orders_json(d, good, bad), "swapped", d->swapped);
    cli_json_print(all);
}

/* ---- Running ---- */

/* On failure prints why and returns false. */
static bool take(struct run *run, const char *path)
{
    run->model = cli_model(path);
    if (!run->model)
        return false;
    struct cli_progress progress = cli_progress_begin(path);
    int rc = weft_history_new(&run->history, run->model, cli_progress_show, &progress);
    cli_progress_end(&progress);
    if (rc < 0)
        cli_say(path, "%s", weft_error_name(rc));
    return rc == 0;
}

static int compare(const struct request *r, const struct run *run)
{
    struct weft_diff d = {0};
    const struct weft_history **goods = calloc(r->runs, sizeof *goods);
    const char *path = r->paths[r->runs - 1];
    if (!goods) {
        cli_say(path, "%s", weft_error_name(WEFT_E_NOMEM));
        return CLI_FAILED;
    }
    for (uint32_t i = 0; i + 1 < r->runs; i++)
        goods[i] = run[i].history;
    struct cli_progress progress = cli_progress_begin(path);
    int rc = weft_diff_find(&d, goods, r->runs - 1, run[r->runs - 1].history, cli_progress_show,
                            &progress);
    cli_progress_end(&progress);
    free(goods);
    if (rc < 0) {
        cli_say(path, "%s", weft_error_name(rc));
        return CLI_FAILED;
    }
    const bool any = weft_diff_any(&d), unsure = d.unsure;
    if (r->json)
        print_json(r, &d, run);
    else
        print_diff(r, &d);
    weft_diff_fini(&d);
    return r->check && (any || unsure) ? CLI_CHECK_FAILED : CLI_DONE;
}

static int run(int files, char **file)
{
    struct request *r = &request;
    int status = CLI_FAILED;
    r->paths = file;
    r->runs = (uint32_t)files;
    struct run *runs = calloc(r->runs, sizeof *runs);
    bool ok = runs != NULL;
    for (uint32_t i = 0; i < r->runs && ok; i++)
        ok = take(&runs[i], r->paths[i]);
    if (ok)
        status = compare(r, runs);
    for (uint32_t i = 0; runs && i < r->runs; i++) {
        weft_history_free(runs[i].history);
        weft_model_free(runs[i].model);
    }
    free(runs);
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
