/* SPDX-License-Identifier: ISC */
#include "cli/path_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "cli/report.h"
#include "base/array.h"

enum {
    BAR = CLI_TEXT_BAR,
    WORD = 7,       /* columns for what a step is */
    SUMMED = 4,     /* shares in a sentence */
    STEPS = 30,     /* lines of a path … */
    FEW_STEPS = 12, /* … of one among others */
};

/* ---- Pieces ---- */

void cli_text_moment(int64_t time_ns)
{
    cli_put_right(weft_moment(time_ns).text, CLI_TEXT_TIME);
}

void cli_text_length(int64_t ns)
{
    cli_put_right(weft_duration(ns).text, CLI_TEXT_LENGTH);
}

double cli_text_percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

void cli_text_bar(int64_t part, int64_t whole, bool padded)
{
    const int used = cli_bar((double)part, (double)whole, BAR);
    if (padded)
        printf("%*s", BAR - used, "");
}

void cli_text_heading(const char *text)
{
    putchar('\n');
    cli_heading(text);
}

int cli_text_behind(struct analyse_text *t, int columns)
{
    bool failed = t->failed;
    cli_wrap_behind(columns, t->text ? t->text : "");
    analyse_text_fini(t);
    return failed ? WEFT_E_NOMEM : 0;
}

int cli_text_print(struct analyse_text *t)
{
    return cli_text_behind(t, 0);
}

/* Returns true if two promises are called the same. */
static bool alike(const struct weft_model *m, uint32_t a, uint32_t b)
{
    return a == b ||
           (a != WEFT_ROOT && b != WEFT_ROOT && m->promise[a].type == m->promise[b].type &&
            weft_model_name(m, a) == weft_model_name(m, b));
}

/* ---- What the time went to ---- */

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
    const struct weft_step *last = &p->step[p->count - 1];
    bool pending, one = s->promise != WEFT_NONE;
    switch (s->kind) {
    case WEFT_STEP_RUNNING:
        if (!alike(m, s->promise, about) ||
            (s->several && weft_model_name(m, about) == WEFT_NONE)) {
            put_called(t, m, s, table);
            analyse_put_format(t, table ? ", " : " ");
        }
        analyse_put_format(t, "running");
        break;
    case WEFT_STEP_READY:
        analyse_put_format(t, one ? "ready behind " : "ready, but not running");
        if (one)
            put_called(t, m, s, table);
        break;
    case WEFT_STEP_BLOCKED:
        analyse_put_format(t, one ? "the loop was blocked by " : "the loop was blocked");
        if (one)
            put_called(t, m, s, table);
        break;
    case WEFT_STEP_COLLECTING:
        analyse_put_format(t, "garbage collection");
        break;
    case WEFT_STEP_PREEMPTED:
        analyse_put_format(t, "no core: others had it");
        break;
    case WEFT_STEP_OUTSIDE:
        put_called(t, m, s, table);
        pending = is_pending(m, p, s->promise);
        analyse_put_format(t, table ? ", %s" : " (%s)", pending ? "pending" : "outside");
        break;
    case WEFT_STEP_UNKNOWN:
        analyse_put_format(t, is_circle(p, last) ? "waiting in a circle" : "not known");
        break;
    case WEFT_STEP_KINDS:
        break;
    }
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

void cli_text_share(int64_t ns, int64_t whole)
{
    printf("  ");
    cli_text_length(ns);
    printf("  %5.1f %%  ", cli_text_percent(ns, whole));
    cli_text_bar(ns, whole, true);
    printf("  ");
}

static int print_shares(const struct weft_model *m, const struct weft_path *p,
                        const struct weft_share *share, uint32_t count, uint32_t about)
{
    int64_t whole = p->step[p->count - 1].to_ns - p->step[0].from_ns, rest = 0;
    uint32_t listed = count <= CLI_TEXT_FEW_SHARES ? count : CLI_TEXT_FEW_SHARES;
    int rc = 0;
    while (listed < count && listed < CLI_TEXT_SHARES - 1 &&
           cli_text_percent(share[listed].total_ns, whole) >= 0.1)
        listed++;
    for (uint32_t i = 0; i < listed; i++) {
        struct analyse_text t = {0};
        cli_text_share(share[i].total_ns, whole);
        put_share(&t, m, p, &share[i], about, true);
        if (share[i].steps > 1)
            analyse_put_format(&t, ", in %s parts", weft_count(share[i].steps).text);
        rc |= cli_text_behind(&t, CLI_TEXT_BEFORE_SHARE);
    }
    for (uint32_t i = listed; i < count; i++)
        rest += share[i].total_ns;
    if (listed < count) {
        cli_text_share(rest, whole);
        printf("%" PRIu32 " more, each less\n", count - listed);
    }
    return rc;
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

static int by_length(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x > *y ? -1 : *x < *y;
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
        ns[i] = step_ns(&p->step[i]);
    qsort(ns, p->count, sizeof *ns, by_length);
    uint32_t shown = most - 1;
    while (shown > 1 && (ns[shown - 1] == ns[shown] || lines(p, ns[shown - 1]) > most))
        shown--; /* of steps with equal lengths, either all are shown or none */
    least = lines(p, ns[shown - 1]) > most ? ns[0] + 1 : ns[shown - 1];
    free(ns);
    return least;
}

static int print_step(const struct weft_model *m, const struct weft_path *p,
                      const struct weft_step *s)
{
    struct analyse_text t = {0};
    printf("  ");
    cli_text_moment(s->from_ns);
    printf("  ");
    cli_text_length(step_ns(s));
    printf("  %-*s  ", WORD, kind_word(m, p, s));
    put_step(&t, m, p, s);
    return cli_text_behind(&t, 2 + CLI_TEXT_TIME + 2 + CLI_TEXT_LENGTH + 2 + WORD + 2);
}

static int print_steps(const struct weft_model *m, const struct weft_path *p, uint32_t most)
{
    int64_t least = least_shown(p, most), folded_ns = 0;
    int rc = 0;
    for (uint32_t i = 0, next; i < p->count; i = next, folded_ns = 0) {
        for (next = i; next < p->count && step_ns(&p->step[next]) < least; next++)
            folded_ns += step_ns(&p->step[next]);
        if (next <= i + 1) {
            rc |= print_step(m, p, &p->step[i]);
            next = i + 1;
            continue;
        }
        printf("  %*s  ", CLI_TEXT_TIME, "");
        cli_text_length(folded_ns);
        printf("  %s… %s shorter steps%s\n", cli_style(CLI_FAINT), weft_count(next - i).text,
               cli_style(CLI_PLAIN));
    }
    return rc;
}

int cli_path_text(const struct weft_history *h, uint32_t promise, bool whole)
{
    const struct weft_model *m = h->m;
    struct weft_path path = {0};
    struct analyse_text t = {0};
    uint32_t count = 0;
    int rc = weft_path_find(&path, h, promise);
    struct weft_share *share = rc == 0 ? weft_path_shares(&path, m, &count) : NULL;
    if (rc == 0 && path.count && !share)
        rc = WEFT_E_NOMEM;
    if (rc == 0 && path.count == 0) {
        printf("It took no time.\n");
    } else if (rc == 0) {
        put_summary(&t, m, &path, share, count, promise);
        rc = cli_text_print(&t);
        putchar('\n');
        if (rc == 0 && whole)
            rc = print_shares(m, &path, share, count, promise);
        if (rc == 0 && whole) {
            cli_text_heading("Step by step: since when, how long");
            print_legend(m, &path);
        }
        if (rc == 0)
            rc = print_steps(m, &path, whole ? STEPS : FEW_STEPS);
    }
    analyse_text_fini(&t);
    free(share);
    weft_path_fini(&path);
    return rc;
}
