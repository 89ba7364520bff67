/* SPDX-License-Identifier: ISC */
/* Two promises or two ranges side by side: what they spent their time on, and which labels make the difference.
 *
 * What a promise waited for, and what was alive in a range, is added up by family (labels that differ only in numbers).
 * Families of two traces belong together if they are called the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/spent.h"
#include "base/array.h"
#include "base/order.h"
#include "explore/fact.h"

enum { LABELS_SHOWN = 10, FAMILIES_MAX = 50000 };

struct part {
    uint64_t count;
    int64_t ns;
};

/* A family, of one side or of both. */
struct row {
    char *label;
    struct part part[2];
};

/* One side, measured. */
struct measured {
    struct weft_spent spent;
    struct explore_range_counts counts;
    int64_t length_ns;
    struct analyse_families families;
    struct part *part; /* by family */
};

static void add_spent(struct weft_spent *sum, const struct weft_spent *s)
{
    int64_t *const to[] = {&sum->waiting_ns, &sum->ready_ns, &sum->running_ns, &sum->collecting_ns};
    const int64_t ns[] = {s->waiting_ns, s->ready_ns, s->running_ns, s->collecting_ns};
    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++)
        if (__builtin_add_overflow(*to[i], ns[i], to[i]))
            *to[i] = INT64_MAX;
}

static void add_part(struct part *p, int64_t ns)
{
    p->count++;
    if (__builtin_add_overflow(p->ns, ns, &p->ns))
        p->ns = INT64_MAX;
}

/* ---- Measuring ---- */

static int measure_promise(struct measured *m, const struct explore_side *side)
{
    const struct weft_history *h = side->h;
    struct weft_meter meter = {.h = h};
    m->length_ns = explore_length(side->s, side->promise);
    if (!h)
        return 0;
    int rc = weft_spent_find(&m->spent, &meter, side->promise);
    weft_meter_fini(&meter);
    analyse_each(i, h->waits_of_first, side->promise) {
        const struct weft_wait *w = &h->wait[h->waits_of[i]];
        add_part(&m->part[m->families.of[w->source]],
                 w->until_ns > w->from_ns ? w->until_ns - w->from_ns : 0);
    }
    return rc;
}

static int measure_range(struct measured *m, const struct explore_side *side)
{
    const struct weft_scene *s = side->s;
    struct weft_meter meter = {.h = side->h, .from_ns = side->from_ns, .to_ns = side->to_ns};
    int rc = 0;
    m->length_ns = side->to_ns - side->from_ns;
    for (uint32_t i = 1; side->h && i < s->m->promises && rc == 0; i++) {
        struct weft_spent spent;
        int64_t start = s->m->promise[i].start_ns, end = weft_layout_end(s->l, s->m, i);
        if (start > side->to_ns || end < side->from_ns)
            continue;
        meter.readies = 0;
        rc = weft_spent_find(&spent, &meter, i);
        if (rc < 0)
            break;
        add_spent(&m->spent, &spent);
        add_part(&m->part[m->families.of[i]],
                 spent.waiting_ns + spent.ready_ns + spent.running_ns + spent.collecting_ns);
    }
    weft_meter_fini(&meter);
    return rc;
}

static int measure(struct measured *m, struct explore_facts *f, const struct explore_side *side)
{
    TRY(analyse_families_init(&m->families, side->s->m));
    m->part = calloc((size_t)m->families.count + 1, sizeof *m->part);
    if (!m->part)
        return WEFT_E_NOMEM;
    if (side->promise != WEFT_NONE)
        return measure_promise(m, side);
    TRY(explore_range_count(f, side->s, side->from_ns, side->to_ns, &m->counts));
    return measure_range(m, side);
}

static void measured_fini(struct measured *m)
{
    analyse_families_fini(&m->families);
    free(m->part);
}

/* ---- Rows ---- */

static int by_label(const void *a, const void *b)
{
    return strcmp(((const struct row *)a)->label, ((const struct row *)b)->label);
}

static uint64_t apart(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static uint64_t difference(const struct row *r)
{
    return apart(r->part[0].ns, r->part[1].ns);
}

static uint64_t more(const struct row *r)
{
    uint64_t a = r->part[0].count, b = r->part[1].count;
    return a > b ? a - b : b - a;
}

static int by_difference(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    WEFT_ORDER(difference(y), difference(x));
    WEFT_ORDER(more(y), more(x));
    return strcmp(x->label, y->label);
}

/* Adds the families of one side. Returns false if there is no memory. */
static bool add_rows(struct row **row, uint32_t *rows, uint32_t *room, const struct measured *m,
                     const struct weft_model *model, unsigned side)
{
    uint32_t added = 0;
    for (uint32_t i = 1; i < m->families.count && added < FAMILIES_MAX; i++) {
        struct analyse_text t = {0};
        if (!m->part[i].count)
            continue;
        analyse_put_family(&t, model, &m->families, i);
        if (!t.text || t.failed || !weft_reserve(row, *rows, room, sizeof **row)) {
            analyse_text_fini(&t);
            return false;
        }
        (*row)[*rows] = (struct row){.label = t.text};
        (*row)[(*rows)++].part[side] = m->part[i];
        added++;
    }
    return true;
}

/* Makes one row of those that are called the same; drops what does not differ. */
static uint32_t join_rows(struct row *row, uint32_t rows)
{
    uint32_t kept = 0;
    weft_sort(row, rows, sizeof *row, by_label);
    for (uint32_t i = 0, next; i < rows; i = next) {
        struct row one = row[i];
        for (next = i + 1; next < rows && !strcmp(row[next].label, one.label); next++) {
            for (unsigned side = 0; side < 2; side++) {
                one.part[side].count += row[next].part[side].count;
                one.part[side].ns += row[next].part[side].ns;
            }
            free(row[next].label);
        }
        if (difference(&one) || more(&one))
            row[kept++] = one;
        else
            free(one.label);
    }
    weft_sort(row, kept, sizeof *row, by_difference);
    return kept;
}

/* ---- Saying it ---- */

/* "+2.2 ms"; "" if they are equal. */
static struct weft_figure change_of(int64_t a, int64_t b)
{
    struct weft_figure out = {""};
    uint64_t by = apart(a, b);
    if (by)
        snprintf(out.text, sizeof out.text, "%s%.30s", b > a ? "+" : "\xe2\x88\x92",
                 weft_duration(by < INT64_MAX ? (int64_t)by : INT64_MAX).text);
    return out;
}

static void say(struct explore_facts *f, const char *what, const char *first, const char *second,
                const char *change)
{
    if (!strcmp(first, second) && !*change)
        explore_say(f, explore_nowhere(), FACT_COMPARED_EQUAL, TEXT(what, what),
                    TEXT(first, first));
    else
        explore_say(f, explore_nowhere(), FACT_COMPARED, TEXT(what, what), TEXT(first, first),
                    TEXT(second, second), TEXT(change, change));
}

static void say_times(struct explore_facts *f, const char *what, int64_t a, int64_t b)
{
    if (a || b)
        say(f, what, weft_duration(a).text, weft_duration(b).text, change_of(a, b).text);
}

static void say_counts(struct explore_facts *f, const char *what, uint64_t a, uint64_t b)
{
    struct weft_figure change = {""};
    if (a != b)
        snprintf(change.text, sizeof change.text, "%s%.30s", b > a ? "+" : "\xe2\x88\x92",
                 weft_count(b > a ? b - a : a - b).text);
    if (a || b)
        say(f, what, weft_count(a).text, weft_count(b).text, change.text);
}

static void say_side(struct explore_facts *f, const struct explore_side *side, bool second,
                     const char *trace)
{
    char what[EXPLORE_FACT_BYTES];
    const enum explore_fact fact = second ? FACT_COMPARED_SECOND : FACT_COMPARED_FIRST;
    struct explore_link to = explore_time(side->from_ns);
    if (side->promise != WEFT_NONE) {
        to = explore_promise(side->s, side->promise, false);
        snprintf(what, sizeof what, "%s", explore_called(side->s, side->promise).text);
    } else {
        snprintf(what, sizeof what, "from %s to %s", weft_moment(side->from_ns).text,
                 weft_moment(side->to_ns).text);
    }
    to.target.pane = side->pane;
    explore_say(f, to, fact, TEXT(what, what), TEXT(trace, trace));
}

static void say_rows(struct explore_facts *f, struct row *row, uint32_t rows, bool waits)
{
    explore_heading(f, waits ? FACT_COMPARED_WAITS_HEAD : FACT_COMPARED_LABELS_HEAD);
    for (uint32_t i = 0; i < rows && i < LABELS_SHOWN; i++) {
        const struct part *a = &row[i].part[0], *b = &row[i].part[1];
        struct explore_link to = explore_nowhere();
        const struct weft_figure change = change_of(a->ns, b->ns), first = weft_duration(a->ns),
                                 second = weft_duration(b->ns);
        to.is_long = true;
        if (waits)
            explore_say(f, to, FACT_COMPARED_WAIT, TEXT(label, row[i].label),
                        AMOUNT(count, a->count), AMOUNT(number, b->count), TEXT(first, first.text),
                        TEXT(second, second.text), TEXT(change, change.text));
        else
            explore_say(f, to, FACT_COMPARED_LABEL, TEXT(label, row[i].label),
                        AMOUNT(count, a->count), AMOUNT(number, b->count), TEXT(first, first.text),
                        TEXT(second, second.text), TEXT(change, change.text));
    }
    if (!rows)
        explore_say(f, explore_nowhere(), FACT_COMPARED_NOTHING);
    explore_fact_more(f, rows, rows < LABELS_SHOWN ? rows : LABELS_SHOWN);
}

static const char *outcome_of(const struct explore_side *side)
{
    return weft_outcome_name((enum weft_outcome)side->s->m->promise[side->promise].outcome);
}

static void say_measured(struct explore_facts *f, const struct explore_side side[2],
                         const struct measured m[2])
{
    const bool promises = side[0].promise != WEFT_NONE;
    say_times(f, promises ? "lasted" : "duration", m[0].length_ns, m[1].length_ns);
    if (promises)
        say(f, "outcome", outcome_of(&side[0]), outcome_of(&side[1]), "");
    say_times(f, "waiting", m[0].spent.waiting_ns, m[1].spent.waiting_ns);
    say_times(f, "ready", m[0].spent.ready_ns, m[1].spent.ready_ns);
    say_times(f, "running", m[0].spent.running_ns, m[1].spent.running_ns);
    say_times(f, "collecting garbage", m[0].spent.collecting_ns, m[1].spent.collecting_ns);
    say_counts(f, "alive", m[0].counts.alive, m[1].counts.alive);
    say_counts(f, "created", m[0].counts.created, m[1].counts.created);
    say_counts(f, "resolved", m[0].counts.resolved, m[1].counts.resolved);
    say_counts(f, "failed", m[0].counts.failed, m[1].counts.failed);
    if (!side[0].h || !side[1].h)
        explore_say(f, explore_nowhere(), FACT_COMPARED_LATER);
}

static void compare(struct explore_facts *f, const struct explore_side side[2])
{
    struct measured m[2] = {{.part = NULL}, {.part = NULL}};
    struct row *row = NULL;
    uint32_t rows = 0, room = 0;
    bool made = true;
    for (unsigned i = 0; i < 2 && made; i++)
        made = measure(&m[i], f, &side[i]) == 0 &&
               add_rows(&row, &rows, &room, &m[i], side[i].s->m, i);
    if (made) {
        say_measured(f, side, m);
        rows = join_rows(row, rows);
        if (side[0].h && side[1].h)
            say_rows(f, row, rows, side[0].promise != WEFT_NONE);
    }
    f->failed = f->failed || !made;
    for (uint32_t i = 0; i < rows; i++)
        free(row[i].label);
    free(row);
    measured_fini(&m[0]);
    measured_fini(&m[1]);
}

int explore_facts_of_compared(struct explore_facts *f, const struct explore_side side[2],
                              unsigned count)
{
    explore_fact_begin(f);
    explore_heading(f, FACT_COMPARED_HEAD);
    const bool two = count == 2 && strcmp(side[0].trace, side[1].trace) != 0;
    say_side(f, &side[0], false, two ? side[0].trace : NULL);
    const bool same = count == 2 && side[0].s == side[1].s && side[0].promise == side[1].promise &&
                      side[0].from_ns == side[1].from_ns && side[0].to_ns == side[1].to_ns;
    if (count < 2)
        explore_say(f, explore_nowhere(),
                    side[0].promise != WEFT_NONE ? FACT_COMPARED_NEXT_PROMISE
                                                 : FACT_COMPARED_NEXT_RANGE);
    else if (same)
        explore_say(f, explore_nowhere(), FACT_COMPARED_SAME);
    if (count == 2 && !same) {
        say_side(f, &side[1], true, two ? side[1].trace : NULL);
        compare(f, side);
    }
    return explore_fact_end(f);
}
