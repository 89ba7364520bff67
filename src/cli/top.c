/* SPDX-License-Identifier: ISC */
/* weft top: what recording processes do now. */
#include "cli/top/top.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/common.h"
#include "cli/report.h"
#include "cli/top/views.h"

#define SECOND_NS INT64_C(1000000000)
#define INTERVAL_LEAST_NS (SECOND_NS / 10)
#define INTERVAL_MOST_NS (3600 * SECOND_NS)
enum { ROWS = 20, WINDOW_SECONDS = 10, ROWS_MOST = 1000000 };

static const char *const views[] = {"pending",  "tree",    "latency", "threads",
                                    "counters", "samples", "all",     NULL};

static struct {
    struct top_request r;
} request = {{.interval_ns = SECOND_NS, .window_ns = WINDOW_SECONDS * SECOND_NS, .rows = ROWS}};

static const struct cli_option options[] = {
    CLI_FLAG("batch", request.r.batch,
             "plain text for each interval instead of a screen; also if standard output is no "
             "terminal",
             .letter = 'b'),
    CLI_NUMBER("count", request.r.count, "N", "end after N intervals; 0: never", .letter = 'n',
               .given = &request.r.count_given, .shown = "0"),
    CLI_TIME("interval", request.r.interval_ns, "TIME", "time between two looks", .letter = 'd',
             .given = &request.r.interval_given, .least = SECOND_NS / 10,
             .most = (uint64_t)INTERVAL_MOST_NS, .shown = "1s"),
    CLI_TIME("window", request.r.window_ns, "TIME",
             "over how long rates and latencies are counted, 1s to 60s", .letter = 'w',
             .least = (uint64_t)SECOND_NS, .most = TOP_SECONDS_MAX * (uint64_t)SECOND_NS,
             .shown = "10s"),
    CLI_TEXT("view", request.r.view, "pending|tree|latency|threads|counters|samples|all",
             "what is shown first, or is printed", .words = views,
             .shown = "pending; without a screen all"),
    CLI_TEXT("sort", request.r.sort, "KEY", "the column to sort by, in the view"),
    CLI_TEXT("filter", request.r.filter, "TEXT",
             "only what has TEXT in its label, type, file or program, in upper or lower case; or "
             "#NUMBER, a promise"),
    CLI_NUMBER("rows", request.r.rows, "N", "without a screen: at most N rows of each view",
               .least = 1, .most = ROWS_MOST, .shown = "20"),
    CLI_TEXT("user", request.r.user, "USER", "only processes of that user; for root", .letter = 'u',
             .completes = CLI_USERS),
    CLI_NUMBER("sample", request.r.sample_hz, "HZ",
               "look HZ times a second (99) where the processes that are shown are, at most 8 of "
               "them, as weft sample --low does: where their CPU time goes, by function and by "
               "promise. On the screen, the key S does so",
               .alone = "99", .least = 1, .most = 10000),
    CLI_FLAG("json", request.r.json, "print a JSON object for each interval, one a line"),
    CLI_TEXT("metrics", request.r.metrics, "ADDRESS",
             "offer OpenMetrics at http://ADDRESS/metrics: PORT of the loopback interface, "
             "ADDRESS:PORT, [ADDRESS]:PORT, or unix:PATH"),
    CLI_END,
};

/* ---- What was asked for ---- */

static pid_t *pids_of(int operands, char **operand)
{
    pid_t *pid = weft_resize(NULL, (uint64_t)operands, sizeof *pid);
    uint64_t number;
    for (int i = 0; pid && i < operands; i++) {
        if (!weft_parse_count(operand[i], INT_MAX, &number) || number == 0)
            cli_misuse("top", "\"%s\" is no process id", cli_shown(operand[i]).text);
        pid[i] = (pid_t)number;
    }
    return pid;
}

static uid_t user_of(const char *name)
{
    uint64_t number;
    const struct passwd *user = name ? getpwnam(name) : NULL;
    if (!name)
        return (uid_t)-1;
    if (!user && !weft_parse_count(name, UINT32_MAX - 1, &number))
        cli_misuse("top", "there is no user \"%s\"", cli_shown(name).text);
    return user ? user->pw_uid : (uid_t)number;
}

/* --sort is for the view that was asked for, or for the one that has such a column. */
static void set_sort(struct top *t, const char *sort)
{
    bool found = !sort;
    for (unsigned v = 0; v < TOP_VIEWS && sort; v++) {
        const char *const *names = top_view_sorts((enum top_view)v);
        for (unsigned i = 0; names[i]; i++) {
            if (strcmp(names[i], sort) != 0 ||
                (t->request.view && !t->request.all_views && v != t->view))
                continue;
            t->sort[v] = i;
            if (!found && !t->request.view)
                t->view = (enum top_view)v;
            found = true;
        }
    }
    if (!found)
        cli_misuse("top", "--sort %s: there is no such column%s", cli_shown(sort).text,
                   t->request.view ? " in that view" : "");
}

static void set_view(struct top *t)
{
    const char *view = t->request.view;
    for (unsigned v = 0; view && top_view_names[v]; v++)
        if (strcmp(view, top_view_names[v]) == 0)
            t->view = (enum top_view)v;
    t->request.all_views = view ? strcmp(view, "all") == 0 : t->request.batch;
}

/* ---- Without a screen ---- */

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    stop = number;
}

/* Without SA_RESTART: it ends a wait. */
static void catch_signals(void)
{
    const struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

/* What was asked for by its number has to be there. */
static bool all_gone(const struct top *t)
{
    return top_finder_done(t->finder) && !t->processes;
}

static int run_batch(struct top *t, struct top_serve *serve)
{
    const struct top_request *r = &t->request;
    const bool silent = r->metrics && r->count_given && r->count == 0;
    char said[sizeof t->refused] = "";
    bool followed = false;
    catch_signals();
    for (uint64_t n = 0; !stop; n++) {
        const int64_t begun_ns = weft_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        top_look(t);
        followed |= t->processes > 0;
        if (*t->refused && strcmp(said, t->refused) != 0)
            cli_say("top", "%s", t->refused);
        snprintf(said, sizeof said, "%s", t->refused);
        if (n && !silent && (t->processes || !*t->refused))
            top_batch_print(t);
        top_batch_ended(t);
        if (ferror(stdout) || (r->count && n == r->count) || (n && all_gone(t)))
            break;
        top_pace(t, weft_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun_ns);
        const int64_t until_ns = weft_monotonic_ns() + t->wait_ns;
        while (!stop && weft_monotonic_ns() < until_ns)
            top_serve_wait(serve, -1, until_ns);
    }
    if (!followed && all_gone(t) && !*said)
        cli_say("top", "there is no process with that number");
    return followed || !t->given ? CLI_DONE : CLI_FAILED;
}

static bool has_screen(const struct top_request *r)
{
    const char *terminal = getenv("TERM");
    return !r->batch && !r->json && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) && terminal &&
           *terminal && strcmp(terminal, "dumb") != 0;
}

static int run(int operands, char **operand)
{
    struct top t = {.request = request.r, .given = operands > 0};
    struct top_serve *serve = NULL;
    const uid_t user = user_of(t.request.user);
    pid_t *pid = pids_of(operands, operand);
    t.request.batch = !has_screen(&t.request);
#ifndef WEFT_HAS_CURSES
    t.request.batch = true;
#endif
    set_view(&t);
    set_sort(&t, t.request.sort);
    if (t.request.filter)
        snprintf(t.filter, sizeof t.filter, "%s", t.request.filter);
    t.interval_ns = t.wait_ns = t.request.interval_ns;
    t.window_seconds = (unsigned)((t.request.window_ns + SECOND_NS - 1) / SECOND_NS);
    t.finder = pid ? top_finder_new(pid, (unsigned)operands, user) : NULL;
    free(pid);
    int status = CLI_FAILED;
    if (!t.finder)
        cli_say("top", "out of memory");
    else if (!t.request.metrics || (serve = top_serve_begin(&t, t.request.metrics)))
#ifdef WEFT_HAS_CURSES
        status = t.request.batch ? run_batch(&t, serve) : top_screen_run(&t, serve);
#else
        status = run_batch(&t, serve);
#endif
    top_serve_end(serve);
    top_fini(&t);
    return status;
}

const struct cli_command cli_top = {
    .name = "top",
    .summary = "what recording processes do now, on a screen",
    .usage = "[OPTION…] [PID…]",
    .about =
        "Shows what processes that record do now, again and again: what is pending and for how "
        "long, what waits for what, latencies over the last seconds, how busy the event loops "
        "are, counters; if asked for, where the CPU time goes. Without PID: all processes of this "
        "user that record, also those that "
        "begin later; for root, of all users. h shows the keys.\n",
    .options = options,
    .examples = "weft top\n"
                "weft top -b -n 1 --view tree 4711\n"
                "weft top --json 4711 | jq .processes\n"
                "weft top -b -n 0 --metrics 9464",
    .least = 0,
    .most = INT_MAX,
    .completes = CLI_PROCESSES,
    .run = run,
    .state = CLI_STATE(request),
};
