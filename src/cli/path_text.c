/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <stdlib.h>

#include "cli/common.h"
#include "cli/explain.h"
#include "cli/report.h"
#include "base/array.h"
#include "base/order.h"

enum {
    BAR = CLI_TEXT_BAR,
    WORD = 7,       /* columns for what a step is */
    SUMMED = 4,     /* shares in a sentence */
    SHARES = 12,    /* lines of what the time went to; */
    FEW_SHARES = 5, /* this many even if they are less than 0.1 % */
    STEPS = 30,     /* lines of a path … */
    FEW_STEPS = 12, /* … of one among others */
};

/* ---- Pieces ---- */

void cli_text_length(int64_t ns)
{
    cli_put_right(weft_duration(ns).text, CLI_TEXT_LENGTH);
}

void cli_text_row(int64_t from_ns, int64_t length_ns)
{
    printf("  ");
    cli_put_right(weft_moment(from_ns).text, CLI_TEXT_TIME);
    printf("  ");
    cli_text_length(length_ns);
    printf("  ");
}

double cli_text_percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

void cli_text_heading(const char *text)
{
    putchar('\n');
    cli_heading(text);
}

/* Returns true if two promises are called the same. */
static bool alike(const struct weft_model *m, uint32_t a, uint32_t b)
{
    return a == b ||
           (a != WEFT_ROOT && b != WEFT_ROOT && m->promise[a].type == m->promise[b].type &&
            weft_model_name(m, a) == weft_model_name(m, b));
}

/* ---- What the time went to ---- */

const char *cli_text_step(enum weft_step_kind kind, bool named)
{
    static const char *const words[WEFT_STEP_KINDS][2] = {
        [WEFT_STEP_RUNNING] = {"running", ""},
        [WEFT_STEP_READY] = {"ready, but not running", "ready behind "},
        [WEFT_STEP_BLOCKED] = {"the loop was blocked", "the loop was blocked by "},
        [WEFT_STEP_COLLECTING] = {"garbage collection", ""},
        [WEFT_STEP_PREEMPTED] = {"no core: others had it", ""},
        [WEFT_STEP_OUTSIDE] = {"", ""},
        [WEFT_STEP_UNKNOWN] = {"not known", ""},
    };
    return words[kind][named];
}

/* Returns true if it is what a pending promise finally waits for. */
static bool is_pending(const struct weft_model *m, const struct weft_path *p, uint32_t promise)
{
    const struct weft_step *last = &p->step[p->count - 1];
    bool waited_for = last->kind != WEFT_STEP_RUNNING && last->kind != WEFT_STEP_READY &&
                      last->kind != WEFT_STEP_UNKNOWN;
    return p->pending && waited_for && alike(m, last->promise, promise) &&
           m->promise[weft_model_final(m, last->promise)].outcome == WEFT_PENDING;
}

/* Returns true if it is a wait in a cycle that keeps a promise pending. */
static bool is_circle(const struct weft_path *p, const struct weft_step *s)
{
    return p->pending && !p->cut && s->kind == WEFT_STEP_UNKNOWN && s == &p->step[p->count - 1];
}

/* The name of a share: 'x', in a table with its type; several promises without a label go by their type. */
static void put_called(struct analyse_text *t, const struct weft_model *m,
                       const struct weft_share *s, bool table)
{
    bool labelled = s->promise != WEFT_ROOT && weft_model_name(m, s->promise) != WEFT_NONE;
    if (s->several && !labelled) {
        analyse_put_format(t, "%.64s promises", weft_model_type(m, s->promise));
        return;
    }
    analyse_put_name(t, m, s->promise);
    if (table && labelled)
        analyse_put_format(t, " (%.64s)", weft_model_type(m, s->promise));
}

/* "running", "ready behind 'x'", "'x' (outside)"; in a table "'x' (timer), outside". about: the promise whose path it
 * is. */
static void put_share(struct analyse_text *t, const struct weft_model *m, const struct weft_path *p,
                      const struct weft_share *s, uint32_t about, bool table)
{
    const bool halt = weft_step_is_halt(s->kind);
    const bool own = s->kind == WEFT_STEP_RUNNING && alike(m, s->promise, about) &&
                     !(s->several && weft_model_name(m, about) == WEFT_NONE);
    const bool named = s->promise != WEFT_NONE && !halt && !own && s->kind != WEFT_STEP_UNKNOWN;
    if (s->kind == WEFT_STEP_UNKNOWN && is_circle(p, &p->step[p->count - 1])) {
        analyse_put_format(t, "waiting in a circle");
        return;
    }
    analyse_put_format(t, "%s", cli_text_step(s->kind, named));
    if (named)
        put_called(t, m, s, table);
    if (s->kind == WEFT_STEP_RUNNING && named)
        analyse_put_format(t, table ? ", running" : " running");
    if (s->kind == WEFT_STEP_OUTSIDE)
        analyse_put_format(t, table ? ", %s" : " (%s)",
                           is_pending(m, p, s->promise) ? "pending" : "outside");
}

/* "41 ms: 35 ms 'db query' (outside), 4 ms ready behind 'render', 2 ms running" */
static void put_summary(struct analyse_text *t, const struct weft_model *m,
                        const struct weft_path *p, const struct weft_share *share, uint32_t count,
                        uint32_t about)
{
    int64_t whole = p->step[p->count - 1].to_ns - p->step[0].from_ns, rest = whole;
    analyse_put_format(t, "%s: ", weft_duration(whole).text);
    uint32_t i = 0;
    for (; i < count && i < SUMMED && (i == 0 || cli_text_percent(share[i].total_ns, whole) >= 1);
         i++) {
        analyse_put_format(t, i ? ", " : "");
        analyse_put_format(t, "%s ", weft_duration(share[i].total_ns).text);
        put_share(t, m, p, &share[i], about, false);
        rest -= share[i].total_ns;
    }
    if (i < count)
        analyse_put_format(t, ", %s other", weft_duration(rest).text);
}

static void begin_share(int64_t ns, int64_t whole)
{
    printf("  ");
    cli_text_length(ns);
    printf("  %5.1f %%  ", cli_text_percent(ns, whole));
    printf("%*s  ", BAR - cli_bar((double)ns, (double)whole, BAR), "");
}

void cli_text_share(int64_t ns, int64_t whole, struct analyse_text *t)
{
    begin_share(ns, whole);
    cli_wrap_text_behind(2 + CLI_TEXT_LENGTH + 2 + 7 + 2 + BAR + 2, t);
}

bool cli_text_lists(uint32_t i, uint32_t count, int64_t ns, int64_t whole)
{
    return i < count && (i < FEW_SHARES || (i < SHARES - 1 && cli_text_percent(ns, whole) >= 0.1));
}

void cli_text_other_shares(uint32_t count, int64_t ns, int64_t whole)
{
    if (!count)
        return;
    begin_share(ns, whole);
    printf("%" PRIu32 " more, each less\n", count);
}

static void print_shares(const struct weft_model *m, const struct weft_path *p,
                         const struct weft_share *share, uint32_t count, uint32_t about)
{
    int64_t whole = p->step[p->count - 1].to_ns - p->step[0].from_ns, rest = 0;
    uint32_t i = 0;
    for (; cli_text_lists(i, count, i < count ? share[i].total_ns : 0, whole); i++) {
        struct analyse_text t = {0};
        put_share(&t, m, p, &share[i], about, true);
        if (share[i].steps > 1)
            analyse_put_format(&t, ", in %s parts", weft_count(share[i].steps).text);
        cli_text_share(share[i].total_ns, whole, &t);
    }
    const uint32_t left = count - i;
    for (; i < count; i++)
        rest += share[i].total_ns;
    cli_text_other_shares(left, rest, whole);
}

/* ---- The steps of a path ---- */

static void put_step(struct analyse_text *t, const struct weft_model *m, const struct weft_path *p,
                     const struct weft_step *s)
{
    if (s->kind == WEFT_STEP_UNKNOWN && !is_circle(p, s)) {
        analyse_put_format(t, p->cut ? "what was here is too long to be told"
                                     : "the trace does not say what was here");
        return;
    }
    analyse_put_full(t, m, s->promise);
    if (is_circle(p, s))
        analyse_put_format(t, " waits for itself, through what it waits for");
    if (s->behind != WEFT_NONE) {
        analyse_put_format(t, ", while ");
        analyse_put_full(t, m, s->behind);
        analyse_put_format(t, " runs");
    }
}

static const char *kind_word(const struct weft_model *m, const struct weft_path *p,
                             const struct weft_step *s)
{
    static const char *const words[] = {
        [WEFT_STEP_RUNNING] = "runs",      [WEFT_STEP_READY] = "ready",
        [WEFT_STEP_BLOCKED] = "blocked",   [WEFT_STEP_COLLECTING] = "paused",
        [WEFT_STEP_PREEMPTED] = "no core", [WEFT_STEP_OUTSIDE] = "outside",
        [WEFT_STEP_UNKNOWN] = "unknown"};
    return s->kind == WEFT_STEP_OUTSIDE && is_pending(m, p, s->promise) ? "pending"
           : is_circle(p, s)                                            ? "circle"
                                                                        : words[s->kind];
}

/* Explains the words that are used. */
static void print_legend(const struct weft_model *m, const struct weft_path *p)
{
    static const struct {
        enum weft_step_kind kind;
        const char *text;
    } legend[] = {
        {WEFT_STEP_READY, "ready: it could have run, but did not"},
        {WEFT_STEP_BLOCKED, "blocked: the loop did not look whether it was there, so it may have "
                            "come any time in this"},
        {WEFT_STEP_COLLECTING, "paused: for garbage collection"},
        {WEFT_STEP_PREEMPTED, "no core: others had it"},
        {WEFT_STEP_OUTSIDE, "outside: the network, a disk, a timer or the like"},
    };
    struct analyse_text t = {0};
    bool seen[WEFT_STEP_KINDS] = {0};
    for (uint32_t i = 0; i < p->count; i++)
        seen[p->step[i].kind] |=
            p->step[i].kind != WEFT_STEP_OUTSIDE || !is_pending(m, p, p->step[i].promise);
    for (unsigned i = 0; i < sizeof legend / sizeof *legend; i++)
        if (seen[legend[i].kind])
            analyse_put_format(&t, "%s%s", t.size ? "; " : "", legend[i].text);
    if (!t.size)
        return;
    fputs(cli_style(CLI_FAINT), stdout);
    cli_wrap("  ", "  ", t.text);
    printf("%s\n", cli_style(CLI_PLAIN));
    analyse_text_fini(&t);
}

static int64_t step_ns(const struct weft_step *s)
{
    return s->to_ns - s->from_ns;
}

/* How many lines are needed if adjacent steps shorter than that are folded. */
static uint32_t lines(const struct weft_path *p, int64_t least_ns)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->count; i++)
        n += step_ns(&p->step[i]) >= least_ns || (i == 0 || step_ns(&p->step[i - 1]) >= least_ns);
    return n;
}

/* The minimum length of a step with a line of its own; 0: all steps have one. */
static int64_t least_shown(const struct weft_path *p, uint32_t most)
{
    int64_t *ns, least;
    if (p->count <= most)
        return 0;
    ns = weft_resize(NULL, p->count, sizeof *ns);
    if (!ns)
        return INT64_MAX;
    for (uint32_t i = 0; i < p->count; i++)
        ns[i] = -step_ns(&p->step[i]);
    qsort(ns, p->count, sizeof *ns, weft_order_i64); /* the longest first */
    for (uint32_t i = 0; i < p->count; i++)
        ns[i] = -ns[i];
    uint32_t shown = most - 1;
    while (shown > 1 && (ns[shown - 1] == ns[shown] || lines(p, ns[shown - 1]) > most))
        shown--; /* of steps with equal lengths, either all are shown or none */
    least = lines(p, ns[shown - 1]) > most ? ns[0] + 1 : ns[shown - 1];
    free(ns);
    return least;
}

static void print_steps(const struct weft_model *m, const struct weft_path *p, uint32_t most)
{
    int64_t least = least_shown(p, most), folded_ns = 0;
    for (uint32_t i = 0, next; i < p->count; i = next, folded_ns = 0) {
        for (next = i; next < p->count && step_ns(&p->step[next]) < least; next++)
            folded_ns += step_ns(&p->step[next]);
        if (next > i + 1) {
            printf("  %*s  ", CLI_TEXT_TIME, "");
            cli_text_length(folded_ns);
            printf("  %s… %s shorter steps%s\n", cli_style(CLI_FAINT), weft_count(next - i).text,
                   cli_style(CLI_PLAIN));
            continue;
        }
        const struct weft_step *step = &p->step[i];
        struct analyse_text t = {0};
        next = i + 1;
        cli_text_row(step->from_ns, step_ns(step));
        printf("%-*s  ", WORD, kind_word(m, p, step));
        put_step(&t, m, p, step);
        cli_wrap_text_behind(CLI_TEXT_ROW + WORD + 2, &t);
    }
}

void cli_path_text(const struct weft_history *h, uint32_t promise, bool whole)
{
    const struct weft_model *m = h->m;
    struct weft_path path = {0};
    struct analyse_text t = {0};
    uint32_t count = 0;
    const bool found = weft_path_find(&path, h, promise) == 0;
    struct weft_share *share = found ? weft_path_shares(&path, m, &count) : NULL;
    if (!found || (path.count && !share)) {
        cli_lacks_memory();
    } else if (path.count == 0) {
        printf("It took no time.\n");
    } else {
        put_summary(&t, m, &path, share, count, promise);
        cli_wrap_text("", "", &t);
        putchar('\n');
        if (whole) {
            print_shares(m, &path, share, count, promise);
            cli_text_heading("Step by step: since when, how long");
            print_legend(m, &path);
        }
        print_steps(m, &path, whole ? STEPS : FEW_STEPS);
    }
    free(share);
    weft_path_fini(&path);
}
