/* SPDX-License-Identifier: ISC */
/* The story of a promise in words, tables and bars. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"
#include "cli/common.h"
#include "cli/explain.h"
#include "cli/report.h"

enum {
    LISTED = 10,       /* waits, readers */
    BUCKETS = 64,      /* of a histogram */
    BUCKET_LINES = 24, /* if there are more, pairs are joined */
};

/* What did it: " by the event loop", " by itself"; nothing if that is not known. */
static void put_by(struct analyse_text *t, const struct weft_model *m, uint32_t who, uint32_t of)
{
    bool failed = m->promise[weft_model_final(m, of)].outcome == WEFT_FAILED;
    if (who == WEFT_NONE || (who == of && failed)) /* "failed by itself" would be odd */
        return;
    analyse_put_format(t, failed ? ", reported by " : " by ");
    if (who == of)
        analyse_put_format(t, "itself");
    else
        analyse_put_full(t, m, who);
}

/* ---- The story ---- */

static void heading(struct analyse_text *t)
{
    cli_heading(t->text ? t->text : "");
    analyse_text_fini(t);
}

static void print_beginning(const struct weft_history *h, const struct weft_story *s)
{
    const struct weft_model *m = h->m;
    const struct weft_promise *p = &m->promise[s->promise];
    struct analyse_text t = {0}, name = {0};
    uint32_t origin = weft_model_origin(m, s->promise), reason = weft_model_reason(m, s->final);
    analyse_put_full(&name, m, s->promise);
    heading(&name);
    analyse_put_format(&t, "Created %s%s%s%s", p->created ? "at " : "before the trace begins",
                       p->created ? weft_moment(p->start_ns).text : "",
                       p->created && p->promoted ? ", before the rest of this trace," : "",
                       s->creators  ? " by "
                       : p->created ? " by the event loop"
                                    : "");
    for (uint32_t i = 0; i < s->creators && i < 4; i++) {
        analyse_put_format(&t, i ? ", created by " : "");
        analyse_put_full(&t, m, s->creator[i]);
    }
    if (s->creators > 4)
        analyse_put_format(&t, ", and so on");
    if (origin != WEFT_NONE) {
        analyse_put_format(&t, ", in ");
        analyse_put_place(&t, m, origin);
    }
    analyse_put_format(&t, ". ");
    if (p->becomes != WEFT_NONE)
        analyse_fill(&t, m, NULL, "Became {final} at {at}. ",
                     ANALYSE_SLOTS(PROMISE(final, s->final), TIME(at, p->end_ns)));
    if (s->pending) {
        analyse_put_format(&t, "It was still pending when the trace ended, %s later%s.",
                           weft_duration(s->end_ns - s->start_ns).text,
                           p->background ? "; it is meant to be (background)" : "");
    } else {
        analyse_put_format(&t, p->becomes == WEFT_NONE ? "It %s" : "That %s",
                           analyse_outcome_verb(m, s->final));
        put_by(&t, m, s->resolver, s->final);
        analyse_put_format(&t, " at %s, %s later.", weft_moment(s->end_ns).text,
                           weft_duration(s->end_ns - s->start_ns).text);
    }
    if (m->losses.overwritten || m->losses.discarded ||
        m->promise[s->final].start_ns < m->resumed_ns)
        analyse_put_format(
            &t, " Events are missing in this trace, so this may not be the whole story.");
    if (m->promise[s->final].outcome == WEFT_FAILED && reason != WEFT_NONE)
        analyse_put_format(&t, " The reason: \"%.200s\".", weft_model_text(m, reason, NULL));
    cli_wrap_text("", "", &t);
}

/* A note, if something tried to end it again. */
static void print_again(const struct weft_model *m, const struct weft_story *s)
{
    enum { SHOWN = 3 };
    uint32_t first[SHOWN];
    uint64_t all = weft_ended_again(m, s->final, first, SHOWN);
    struct analyse_text t = {0};
    if (all == 0)
        return;
    for (uint32_t i = 0; i < SHOWN && i < all; i++) {
        const struct weft_interaction *x = &m->interaction[first[i]];
        analyse_put_format(&t, i ? ", " : "It was ended again by ");
        if (x->actor == s->final)
            analyse_put_format(&t, "itself");
        else
            analyse_put_full(&t, m, x->actor);
        analyse_put_format(&t, " at %s", weft_moment(x->time_ns).text);
    }
    if (all > SHOWN)
        analyse_put_format(&t, ", and %s times more", weft_count(all - SHOWN).text);
    analyse_put_format(&t, ": the first end counts.");
    cli_wrap_text("", "", &t);
}

/* Where its own time went, as far as that is known. */
static void print_sums(const struct weft_story *s)
{
    const struct weft_spent *p = &s->spent;
    char waits[256], runs[256];
    snprintf(waits, sizeof waits, "%s%s%s%s", cli_many(s->waits, "time").text,
             s->waits_open ? ", " : "", s->waits_open ? weft_count(s->waits_open).text : "",
             s->waits_open ? " still when the trace ended" : "");
    snprintf(runs, sizeof runs, "%s%s%s", cli_many(s->runs, "time").text,
             s->runs > 1 ? ", the longest " : "",
             s->runs > 1 ? weft_duration(s->longest_run_ns).text : "");
    const struct {
        bool given;
        const char *what;
        int64_t ns;
        const char *more;
    } sums[] = {
        {s->waits, "waiting", p->waiting_ns, waits},
        {p->blocked_ns, "blocked", p->blocked_ns,
         "of that the loop was blocked: it may have been there"},
        {p->ready_ns, "ready", p->ready_ns, "it could have gone on, but did not run yet"},
        {true, "running", p->running_ns, s->runs ? runs : "the trace does not say that it ran"},
        {p->collecting_ns, "paused", p->collecting_ns, "by garbage collections while it ran"},
    };
    putchar('\n');
    for (unsigned i = 0; i < sizeof sums / sizeof *sums; i++)
        if (sums[i].given) {
            printf("  %-10s", sums[i].what);
            cli_text_length(sums[i].ns);
            printf("  %5.1f %%  %s\n", cli_text_percent(sums[i].ns, s->end_ns - s->start_ns),
                   sums[i].more);
        }
}

/* What became of a wait for something. */
static void put_wait_end(struct analyse_text *t, const struct weft_model *m,
                         const struct weft_wait *w, const struct weft_story_wait *s)
{
    uint32_t source = weft_model_final(m, w->source);
    if (s->there_ns == INT64_MAX) {
        analyse_put_format(t, w->end == WEFT_WAIT_OPEN   ? ": still, when the trace ended"
                              : w->end == WEFT_WAIT_LEFT ? ": went on without it"
                                                         : ": never got it");
        return;
    }
    bool signalled = m->promise[source].outcome == WEFT_PENDING;
    analyse_put_format(t, ", which %s",
                       signalled ? "was signalled" : analyse_outcome_verb(m, source));
    put_by(t, m, s->waker, source);
    if (w->end == WEFT_WAIT_OPEN)
        analyse_put_format(t, ", but it has not gone on since");
}

/* … if it was the last one missing. */
static void put_delay(struct analyse_text *t, const struct weft_history *h,
                      const struct weft_story_wait *list, uint32_t kept, uint32_t i)
{
    const struct weft_wait *w = &h->wait[list[i].wait];
    int64_t delay = w->until_ns - list[i].there_ns;
    bool served = w->end == WEFT_WAIT_READ || w->end == WEFT_WAIT_RAN;
    if (!served || list[i].there_ns == INT64_MAX || delay < (w->until_ns - w->from_ns) / 100 ||
        delay <= 0)
        return;
    for (uint32_t k = 0; k < kept; k++)
        if (h->wait[list[k].wait].until_ns == w->until_ns && list[k].there_ns > list[i].there_ns)
            return;
    analyse_put_format(t, "; it went on %s later", weft_duration(delay).text);
}

/* The last row, if not all are listed. which: the kind of the others. */
static void print_left_out(uint64_t count, const char *which)
{
    if (count)
        printf("  %*s  %s… %s %s%s\n", CLI_TEXT_TIME + 2 + CLI_TEXT_LENGTH, "",
               cli_style(CLI_FAINT), weft_count(count).text, which, cli_style(CLI_PLAIN));
}

/* A table of waits; readers: of the promises that waited for it, else of those it waited for. */
static void print_waits(const struct weft_history *h, const struct weft_story_wait *list,
                        uint32_t kept, uint64_t all, bool readers)
{
    const struct weft_model *m = h->m;
    int64_t length[WEFT_STORY_KEPT], least = INT64_MIN;
    uint32_t listed = 0;
    for (uint32_t i = 0; i < kept; i++)
        length[i] = h->wait[list[i].wait].until_ns - h->wait[list[i].wait].from_ns;
    if (kept > LISTED) { /* the longest */
        qsort(length, kept, sizeof *length, weft_order_i64);
        least = length[kept - LISTED];
    }
    for (uint32_t i = 0; i < kept && listed < LISTED; i++) {
        const struct weft_wait *w = &h->wait[list[i].wait];
        struct analyse_text t = {0};
        if (w->until_ns - w->from_ns < least)
            continue;
        listed++;
        cli_text_row(w->from_ns, w->until_ns - w->from_ns);
        analyse_put_full(&t, m, readers ? w->reader : w->source);
        if (!readers) {
            put_wait_end(&t, m, w, &list[i]);
            put_delay(&t, h, list, kept, i);
        } else if (w->end == WEFT_WAIT_OPEN)
            analyse_put_format(&t, ": still, when the trace ended");
        cli_wrap_text_behind(CLI_TEXT_ROW, &t);
    }
    print_left_out(all > listed ? all - listed : 0, "shorter");
}

/* What the promise held, or (holders) what held it. */
static void print_holds(const struct weft_history *h, const uint32_t *list, uint32_t count,
                        bool holders)
{
    const struct weft_model *m = h->m;
    if (count)
        cli_text_heading(holders ? "Who held it: since when, how long"
                                 : "What it held: since when, how long");
    for (uint32_t i = count > LISTED ? count - LISTED : 0; i < count; i++) {
        const struct weft_hold *x = &m->hold[list[i]];
        struct analyse_text t = {0};
        cli_text_row(x->from_ns, x->to_ns - x->from_ns);
        if (x->holder == WEFT_NONE)
            analyse_put_format(&t, "nobody");
        else
            analyse_put_full(&t, m, holders ? x->holder : x->resource);
        if (x->released_by == WEFT_NONE) {
            analyse_put_format(&t, ": still, when the trace ended");
        } else if (x->released_by != x->holder) {
            analyse_put_format(&t, ", given back by ");
            analyse_put_full(&t, m, x->released_by);
        }
        cli_wrap_text_behind(CLI_TEXT_ROW, &t);
    }
    print_left_out(count > LISTED ? count - LISTED : 0, "before");
}

/* What made it run, if no waits were recorded: the longest of these runs. */
static void print_runs(const struct weft_history *h, const struct weft_story *s)
{
    const struct weft_model *m = h->m;
    uint32_t listed = 0;
    for (uint32_t i = 0; i < s->kept_runs && listed < LISTED; i++) {
        const struct weft_run *r = &m->run[s->run[i].run];
        struct analyse_text t = {0};
        if (s->run[i].because == WEFT_NONE)
            continue;
        if (listed++ == 0)
            cli_text_heading("What made it run: when, for how long");
        cli_text_row(r->start_ns, r->end_ns - r->start_ns);
        analyse_put_full(&t, m, s->run[i].because);
        cli_wrap_text_behind(CLI_TEXT_ROW, &t);
    }
}

void cli_story_text(const struct weft_history *h, uint32_t promise)
{
    struct weft_story s;
    if (weft_story_find(&s, h, promise) < 0) {
        cli_lacks_memory();
        return;
    }
    print_beginning(h, &s);
    print_again(h->m, &s);
    print_sums(&s);
    if (s.waits) {
        cli_text_heading("What it waited for: since when, how long");
        print_waits(h, s.wait, s.kept_waits, s.waits, false);
    } else {
        print_runs(h, &s);
    }
    if (s.readers) {
        cli_text_heading("Who waited for it");
        print_waits(h, s.reader, s.kept_readers, s.readers, true);
    }
    const uint32_t *of = h->holds_of_first + promise, *by = h->holds_for_first + promise;
    print_holds(h, h->holds_of + of[0], of[1] - of[0], false);
    print_holds(h, h->holds_for + by[0], by[1] - by[0], true);
    cli_text_heading(s.pending
                         ? "Critical path: what it waits for in the end, and where the time went"
                         : "Critical path: what kept it from being done earlier");
    cli_path_text(h, promise, true);
}

/* ---- Many promises ---- */

/* "1,204 promises 'GET /users/#' (get)" */
static void put_crowd(struct analyse_text *t, const struct weft_model *m,
                      const struct cli_crowd_told *told)
{
    const uint32_t *p = told->found.promise, name = weft_model_name(m, p[0]);
    bool one_type = true, one_name = true;
    for (uint32_t i = 1; i < told->found.count; i++) {
        one_type &= m->promise[p[i]].type == m->promise[p[0]].type;
        one_name &= weft_model_name(m, p[i]) == name;
    }
    analyse_text_add(t, weft_count(told->found.count).text);
    analyse_put_format(t, name == WEFT_NONE || !one_name ? " promises" : " promises ");
    if (name != WEFT_NONE && one_name)
        analyse_put_name(t, m, p[0]);
    else if (name != WEFT_NONE && cli_are_alike(m, p, told->found.count)) {
        analyse_put_format(t, " ");
        analyse_put_family(t, m, &told->families, told->families.of[p[0]]);
    }
    analyse_put_format(t, " of type %.64s%s", weft_model_type(m, p[0]),
                       one_type ? "" : " and others");
}

static void print_outcomes(const struct weft_history *h, const struct cli_crowd_told *told)
{
    const struct weft_model *m = h->m;
    const struct weft_crowd *c = &told->crowd;
    struct analyse_text t = {0}, name = {0};
    put_crowd(&name, m, told);
    heading(&name);
    for (unsigned o = 0; o < WEFT_OUTCOME_COUNT; o++)
        if (c->outcomes[o])
            analyse_put_format(&t, "%s%s %s", t.size ? ", " : "", weft_count(c->outcomes[o]).text,
                               o == WEFT_FORGOTTEN ? "dropped" : weft_outcome_name(o));
    if (c->preexisting)
        analyse_put_format(&t,
                           "; %s of them created before the trace begins, which are left out below",
                           weft_count(c->preexisting).text);
    analyse_put_format(&t, ".");
    if (c->oldest_pending != WEFT_NONE && c->members)
        analyse_put_format(&t, " The oldest that is pending is #%" PRIu64 ", since %s.",
                           m->promise[c->oldest_pending].id,
                           weft_moment(m->promise[c->oldest_pending].start_ns).text);
    cli_wrap_text("", "", &t);
}

static unsigned bucket_of(int64_t ns)
{
    unsigned b = 0;
    while (b < BUCKETS - 1 && ns >> (b + 1))
        b++;
    return b;
}

static void print_bucket(unsigned first, unsigned last, uint64_t n, uint64_t most)
{
    printf("  ");
    cli_text_length(first == 0 ? 0 : (int64_t)1 << first);
    printf(" –");
    cli_text_length(last >= 61 ? INT64_MAX : (int64_t)1 << (last + 1));
    printf("  ");
    cli_put_right(weft_count(n).text, 11);
    if (n)
        printf("  ");
    cli_bar((double)n, (double)most, CLI_TEXT_BAR);
    putchar('\n');
}

/* Each line stands for twice the time of the line before it. */
static void print_histogram(const struct weft_crowd *c)
{
    uint64_t n[BUCKETS] = {0}, most = 0;
    unsigned low = bucket_of(c->member[0].ns), high = bucket_of(c->member[c->members - 1].ns);
    unsigned each = high - low >= BUCKET_LINES ? 2 : 1;
    for (uint32_t i = 0; i < c->members; i++)
        n[low + (bucket_of(c->member[i].ns) - low) / each]++;
    for (unsigned i = low; i <= high; i++)
        most = n[i] > most ? n[i] : most;
    for (unsigned i = low; i <= high; i += each)
        print_bucket(i, i + each - 1, n[low + (i - low) / each], most);
}

static void print_distribution(const struct weft_crowd *c)
{
    if (c->members == 0)
        return;
    cli_text_heading("How long they took, from creation to result");
    cli_wrap_filled(
        "", "", NULL,
        "50 % at most {half}, 90 % at most {nine}, 99 % at most {most}, the slowest "
        "{slowest}.",
        LENGTH(half, weft_crowd_percentile(c, 50)), LENGTH(nine, weft_crowd_percentile(c, 90)),
        LENGTH(most, weft_crowd_percentile(c, 99)), LENGTH(slowest, c->member[c->members - 1].ns));
    putchar('\n');
    print_histogram(c);
}

static void put_crowd_share(struct analyse_text *t, const struct weft_model *m,
                            const struct cli_crowd_told *told, const struct weft_crowd_share *s)
{
    const struct analyse_families *f = &told->families;
    const bool own = s->kind == WEFT_STEP_RUNNING && s->family == f->of[told->found.promise[0]];
    const bool named = s->family != WEFT_NONE && s->kind != WEFT_STEP_UNKNOWN && !own;
    analyse_put_format(t, "%s", cli_text_step(s->kind, named));
    if (!named)
        return;
    if (s->one_label)
        analyse_put_name(t, m, s->promise);
    else
        analyse_put_family(t, m, f, s->family);
    if (s->promise != WEFT_ROOT && weft_model_name(m, s->promise) != WEFT_NONE)
        analyse_put_format(t, " (%.64s)", weft_model_type(m, s->promise));
    if (s->kind == WEFT_STEP_RUNNING)
        analyse_put_format(t, ", running");
    if (s->kind == WEFT_STEP_OUTSIDE)
        analyse_put_format(t, told->crowd.members ? ", outside" : ", outside or pending");
}

static void print_crowd_shares(const struct weft_model *m, const struct cli_crowd_told *told)
{
    const struct weft_crowd *c = &told->crowd;
    struct analyse_text head = {0};
    int64_t rest = 0;
    uint32_t i = 0;
    analyse_put_format(&head, "What that time went to");
    if (c->members && c->sampled < c->members)
        analyse_put_format(&head, " (%s of them, evenly chosen from the fastest to the slowest)",
                           weft_count(c->sampled).text);
    putchar('\n');
    heading(&head);
    for (; cli_text_lists(i, c->shares, i < c->shares ? c->share[i].total_ns : 0, c->sampled_ns);
         i++) {
        struct analyse_text t = {0};
        put_crowd_share(&t, m, told, &c->share[i]);
        cli_text_share(c->share[i].total_ns, c->sampled_ns, &t);
    }
    const uint32_t left = c->shares - i;
    for (; i < c->shares; i++)
        rest = rest > INT64_MAX - c->share[i].total_ns ? INT64_MAX : rest + c->share[i].total_ns;
    cli_text_other_shares(left, rest, c->sampled_ns);
}

void cli_crowd_text(const struct weft_history *h, const struct cli_crowd_told *c)
{
    uint32_t slowest[CLI_SLOWEST], n = cli_story_slowest(c, slowest);
    print_outcomes(h, c);
    print_distribution(&c->crowd);
    if (c->crowd.shares)
        print_crowd_shares(h->m, c);
    for (uint32_t i = 0; i < n; i++) {
        struct analyse_text t = {0};
        analyse_put_format(&t, !c->crowd.members ? "The oldest: "
                               : i == 0          ? "The slowest: "
                                                 : "The next: ");
        analyse_put_full(&t, h->m, slowest[i]);
        putchar('\n');
        heading(&t);
        cli_path_text(h, slowest[i], false);
    }
}
