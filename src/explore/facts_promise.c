/* SPDX-License-Identifier: ISC */
/* Facts about a promise, and where keys go from it. */
#include <stdio.h>
#include <string.h>

#include "explore/fact.h"
#include "model/traced.h"

enum { LABELS_SHOWN = 12, FEW = 4 };

struct about {
    struct explore_facts *f;
    const struct weft_scene *s;
    const struct weft_model *m;
    const struct weft_promise *p;
    uint32_t promise;
    struct explore_dealings d;

    /* Found in one pass over the promises. */
    struct weft_greatest children; /* the longest ones */
    uint64_t all_children;
    uint32_t was[FEW]; /* what became it */
    uint64_t all_was;
};

static void look_at_promises(struct about *a)
{
    const struct weft_model *m = a->m;
    a->children.room = EXPLORE_TOP_SHOWN;
    for (uint32_t i = 1; i < m->promises; i++) {
        const struct weft_promise *p = &m->promise[i];
        if (p->creator == a->promise && i != a->promise) {
            a->all_children++;
            weft_greatest_add(&a->children, i, explore_length(a->s, i), 0);
        }
        if (p->becomes == a->promise) {
            if (a->all_was < FEW)
                a->was[a->all_was] = i;
            a->all_was++;
        }
    }
}

/* ---- What it is ---- */

static void add_source(struct about *a)
{
    char file[EXPLORE_FACT_BYTES - 24];
    uint32_t origin = weft_model_origin(a->m, a->promise);
    if (origin == WEFT_NONE)
        return;
    const struct weft_place *place = &a->m->origin[origin];
    const char *name = weft_model_text(a->m, place->file, NULL);
    size_t size = strlen(name), most = sizeof file / 2;
    if (size > most) /* the end of a file's path is more useful than its beginning */
        snprintf(file, sizeof file, "\xe2\x80\xa6%s", name + size - most);
    else
        snprintf(file, sizeof file, "%s", name);
    if (place->line)
        explore_say(a->f, explore_nowhere(), FACT_SOURCE, TEXT(file, file),
                    NUMBER(line, place->line));
    else
        explore_say(a->f, explore_nowhere(), FACT_SOURCE_FILE, TEXT(file, file));
}

static void add_creation(struct about *a)
{
    const struct weft_promise *p = a->p;
    if (!p->created)
        explore_say(a->f, explore_nowhere(), FACT_CREATED_BEFORE);
    else
        explore_say(a->f, explore_time(p->start_ns), FACT_CREATED, TIME(when, p->start_ns),
                    FLAG(kept, p->promoted));
    add_source(a);
    if (p->created && a->promise != WEFT_ROOT)
        explore_say_promise(a->f, a->s, FACT_CREATED_BY, p->creator, false);
    if (p->simplified && !a->s->l->raw) {
        explore_say_promise(a->f, a->s, FACT_HANGS_UNDER, weft_model_under(a->m, p), false);
        explore_say_time(a->f, FACT_SHOWN_FROM, weft_model_wake(a->m, p));
    }
}

/* The id of the trace, whether it is the promise's own or a creator's; the promise's own spans. */
static void add_spans(struct about *a)
{
    const uint32_t nearest = weft_traced_nearest(a->m, a->promise);
    const struct weft_traced *any = weft_traced_inherited(a->m, a->promise);
    char trace[2 * WEFT_TRACE_ID_BYTES + 1] = "", id[2 * WEFT_SPAN_ID_BYTES + 1] = "";
    if (!any)
        return;
    format_hex(trace, any->ids, WEFT_TRACE_ID_BYTES);
    explore_say(a->f,
                nearest == a->promise ? explore_nowhere() : explore_promise(a->s, nearest, false),
                FACT_TRACED, TEXT(id, trace),
                TEXT(promise, nearest == a->promise ? "" : explore_named(a->s, nearest).text));
    for (int kind = WEFT_TRACED_SPAN; kind >= WEFT_TRACED_PARENT; kind--) {
        const struct weft_traced *t = weft_traced_of(a->m, a->promise, (enum weft_traced_kind)kind);
        if (!t)
            continue;
        const bool same = memcmp(t->ids, any->ids, WEFT_TRACE_ID_BYTES) == 0;
        format_hex(trace, t->ids, WEFT_TRACE_ID_BYTES);
        format_hex(id, t->ids + WEFT_TRACE_ID_BYTES, WEFT_SPAN_ID_BYTES);
        explore_say(a->f, explore_nowhere(),
                    kind == WEFT_TRACED_SPAN ? FACT_OWN_SPAN : FACT_PARENT_SPAN, TEXT(id, id),
                    TEXT(trace, same ? "" : trace));
    }
}

static void add_pending(struct about *a)
{
    const struct weft_promise *p = a->p;
    const bool overdue = weft_model_overdue(a->m, a->promise);
    explore_say(a->f, explore_nowhere(),
                overdue         ? FACT_OVERDUE
                : p->background ? FACT_PENDING_AS_MEANT
                                : FACT_PENDING);
    if (overdue)
        explore_fact_bad(a->f);
    if (p->end_ns < a->m->end_ns)
        explore_say_time(a->f, FACT_LAST_LIFE, p->end_ns);
}

static void add_end(struct about *a)
{
    const struct weft_promise *p = a->p;
    const bool failed = p->outcome == WEFT_FAILED, pending = p->outcome == WEFT_PENDING;
    if (pending) {
        add_pending(a);
    } else {
        explore_say(a->f, explore_time(p->end_ns), FACT_ENDED,
                    TEXT(outcome, weft_outcome_name((enum weft_outcome)p->outcome)),
                    TIME(when, p->end_ns));
        if (failed)
            explore_fact_bad(a->f);
    }
    const int64_t length = explore_length(a->s, a->promise);
    const bool shorter = p->created && p->start_ns < weft_layout_start(a->s->l, p);
    explore_say(a->f, explore_nowhere(), pending ? FACT_PENDING_FOR : FACT_LASTED,
                LENGTH(length, length),
                LENGTH(whole, shorter && p->end_ns > p->start_ns ? p->end_ns - p->start_ns : 0));
    uint32_t cause = weft_model_reason(a->m, a->promise);
    if (cause != WEFT_NONE) {
        uint32_t size;
        char reason[EXPLORE_FACT_BYTES];
        const char *text = weft_model_text(a->m, cause, &size);
        explore_fact_clean(reason, sizeof reason, text, size);
        explore_say(a->f, explore_nowhere(), FACT_FAILURE, TEXT(reason, reason));
        explore_fact_bad(a->f);
    }
    if (a->d.resolution != WEFT_NONE) {
        const uint32_t actor = (uint32_t)a->m->interaction[a->d.resolution].actor;
        explore_say(
            a->f, explore_promise(a->s, actor, false), failed ? FACT_FAILED_BY : FACT_RESOLVED_BY,
            TEXT(promise, explore_called(a->s, actor).text), FLAG(itself, actor == a->promise));
    }
    for (uint32_t i = 0; i < a->d.again.kept; i++) {
        const struct weft_interaction *x = &a->m->interaction[a->d.again.interaction[i]];
        explore_say(a->f, explore_promise(a->s, x->actor, i > 0), FACT_ENDED_AGAIN_BY,
                    TEXT(promise, explore_called(a->s, x->actor).text), TIME(when, x->time_ns));
        explore_fact_bad(a->f);
    }
    explore_fact_more(a->f, a->d.again.all, a->d.again.kept);
    if (p->outcome == WEFT_BECAME && p->becomes != WEFT_NONE) {
        uint32_t final = weft_model_final(a->m, a->promise);
        explore_say_promise(a->f, a->s, FACT_BECAME, p->becomes, false);
        if (final != p->becomes)
            explore_say_promise(a->f, a->s, FACT_IN_THE_END, final, false);
    }
    for (uint32_t i = 0; i < a->all_was && i < FEW; i++)
        explore_say_promise(a->f, a->s, FACT_WAS, a->was[i], i > 0);
    explore_fact_more(a->f, a->all_was, FEW);
    if (p->background && !pending)
        explore_say(a->f, explore_nowhere(), FACT_BACKGROUND);
    if (p->should_resolve && !pending)
        explore_say(a->f, explore_nowhere(), FACT_MARK);
}

static void add_labels(struct about *a)
{
    const struct weft_model *m = a->m;
    uint64_t all = 0;
    for (uint32_t i = a->p->first_label; i != WEFT_NONE; i = m->label[i].next) {
        const struct weft_label *l = &m->label[i];
        char text[3 * EXPLORE_FACT_BYTES], clean[EXPLORE_FACT_BYTES];
        if (l->is_change && !m->quirks.changes_are_labels) /* no label there */
            continue;
        if (all++ >= LABELS_SHOWN)
            continue;
        if (all == 1)
            explore_heading(a->f, FACT_LABELS_HEAD);
        uint32_t size = weft_model_label_text(m, l, text, sizeof text);
        explore_fact_clean(clean, sizeof clean, text, size);
        explore_say(a->f, explore_time(l->time_ns), FACT_LABEL, TIME(when, l->time_ns),
                    TEXT(label, clean));
    }
    explore_fact_more(a->f, all, LABELS_SHOWN);
}

/* ---- What it waited for, and what waited for it ---- */

static int64_t wait_length(const struct weft_wait *w)
{
    return w->until_ns > w->from_ns ? w->until_ns - w->from_ns : 0;
}

static void longest_waits(const struct weft_history *h, const struct explore_waits *w,
                          struct weft_greatest *top)
{
    *top = (struct weft_greatest){.room = EXPLORE_TOP_SHOWN};
    for (uint32_t i = 0; i < w->count; i++) {
        const struct weft_wait *x = &h->wait[w->wait[i]];
        weft_greatest_add(top, w->wait[i], x->end == WEFT_WAIT_OPEN ? INT64_MAX : wait_length(x),
                          wait_length(x));
    }
}

/* How long after the last notification a wait began; 0: it began before, or there was no notification. */
static int64_t missed_ns(const struct about *a, const struct weft_wait *w)
{
    const struct weft_history *h = a->f->history;
    uint32_t c = weft_model_final(a->m, w->source), end = h->notified_first[c + 1];
    int64_t last =
        end == h->notified_first[c] ? INT64_MAX : a->m->interaction[h->notified[end - 1]].time_ns;
    return last <= w->from_ns ? w->from_ns - last : 0;
}

/* "for" or "by", in the first row. */
static void add_wait(struct about *a, const struct weft_wait *w, bool mine, bool again)
{
    const uint32_t peer = mine ? w->source : w->reader;
    const bool open = w->end == WEFT_WAIT_OPEN;
    const bool signalled =
        !open && w->ended_by != WEFT_NONE && a->m->interaction[w->ended_by].kind == WEFT_SIGNALS;
    explore_say(a->f, explore_promise(a->s, peer, again), open ? FACT_WAIT_STILL : FACT_WAIT,
                FIELD(how, mine ? FACT_FOR : FACT_BY),
                TEXT(promise, explore_named(a->s, peer).text), TIME(from, w->from_ns),
                LENGTH(length, wait_length(w)), LENGTH(missed, open ? missed_ns(a, w) : 0),
                FLAG(signalled, signalled), FLAG(ended, !signalled && w->end == WEFT_WAIT_ENDED),
                FLAG(left, !signalled && w->end == WEFT_WAIT_LEFT));
    if (open && !a->m->promise[w->reader].background)
        explore_fact_bad(a->f);
}

static void add_acts(struct about *a, enum explore_fact which, const struct explore_acts *acts,
                     bool others)
{
    uint32_t shown = 0;
    for (; shown < acts->kept && shown < FEW; shown++) {
        const struct weft_interaction *x = &a->m->interaction[acts->interaction[shown]];
        const uint32_t peer = others ? x->actor : x->other;
        explore_say(a->f, explore_promise(a->s, peer, shown > 0), which,
                    TEXT(promise, explore_named(a->s, peer).text), TIME(when, x->time_ns));
    }
    explore_fact_more(a->f, acts->all, shown);
}

static void add_waits(struct about *a, const struct explore_waits *w, enum explore_fact heading)
{
    const struct weft_history *h = a->f->history;
    const struct explore_link nowhere = explore_nowhere();
    struct weft_greatest top;
    bool mine = w == &a->d.mine;
    if (w->count) {
        explore_heading(a->f, heading);
        explore_say(a->f, nowhere, FACT_WAITS, LENGTH(length, w->total_ns), AMOUNT(count, w->count),
                    TEXT(share, explore_share((uint64_t)w->total_ns,
                                              mine ? (uint64_t)explore_length(a->s, a->promise) : 0)
                                    .text));
        if (w->blocked_ns)
            explore_say(a->f, nowhere, FACT_WAITS_BLOCKED, LENGTH(length, w->blocked_ns));
        longest_waits(h, w, &top);
        for (uint32_t i = 0; i < top.count; i++)
            add_wait(a, &h->wait[top.item[i]], mine, i > 0);
        explore_fact_more(a->f, w->count, top.count);
    }
    if (w->late_ns <= 0)
        return;
    /* The result was used late: something else ran, or the loop was slow. */
    explore_say(a->f, nowhere, mine ? FACT_READY : FACT_USED_LATE, LENGTH(length, w->late_ns));
    if (w->count > 1 && w->latest_ns) {
        const struct weft_wait *x = &h->wait[w->latest];
        const uint32_t peer = mine ? x->source : x->reader;
        explore_say(a->f, explore_promise(a->s, peer, false), FACT_LATEST,
                    TEXT(promise, explore_named(a->s, peer).text), LENGTH(length, w->latest_ns));
    }
}

static void add_hold(struct about *a, const struct weft_hold *x, bool mine, bool again)
{
    const uint32_t holder = x->holder == WEFT_NONE ? WEFT_ROOT : x->holder;
    const uint32_t peer = mine ? x->resource : holder;
    const bool still = x->released_by == WEFT_NONE;
    explore_say(a->f, explore_promise(a->s, peer, again), still ? FACT_HELD_STILL : FACT_HELD,
                FIELD(how, FACT_BY), TEXT(promise, explore_named(a->s, peer).text),
                TIME(from, x->from_ns), LENGTH(length, x->to_ns - x->from_ns));
    if (still && a->m->promise[weft_model_final(a->m, holder)].outcome != WEFT_PENDING)
        explore_fact_bad(a->f); /* it has ended */
}

/* What the promise held, or (mine: false) what held it: first what is still held, then the newest. */
static void add_holds(struct about *a, bool mine)
{
    const struct weft_history *h = a->f->history;
    const uint32_t *first = !h ? NULL : mine ? h->holds_of_first : h->holds_for_first;
    const uint32_t from = first ? first[a->promise] : 0, end = first ? first[a->promise + 1] : 0;
    uint32_t shown = 0;
    if (from < end)
        explore_heading(a->f, mine ? FACT_HELD_HEAD : FACT_WAS_HELD_HEAD);
    for (int over = 0; over < 2; over++)
        for (uint32_t i = end; i-- > from && shown < FEW;) {
            const struct weft_hold *x = &a->m->hold[(mine ? h->holds_of : h->holds_for)[i]];
            if ((x->released_by != WEFT_NONE) == over)
                add_hold(a, x, mine, shown++ || mine);
        }
    explore_fact_more(a->f, end - from, shown);
}

void explore_fact_in_vain(struct explore_facts *f, enum explore_fact often, enum explore_fact once,
                          const struct explore_dealings *d)
{
    explore_say(f, explore_time(d->in_vain_ns), d->notified_in_vain > 1 ? often : once,
                AMOUNT(count, d->notified_in_vain), AMOUNT(all, d->notified_by.all),
                TIME(when, d->in_vain_ns));
    if (d->others.open)
        explore_fact_bad(f);
}

static void add_signals(struct about *a)
{
    const struct explore_dealings *d = &a->d;
    if (d->signalled.all + d->signalled_by.all + d->notified.all + d->notified_by.all == 0)
        return;
    explore_heading(a->f, FACT_SIGNALS_HEAD);
    add_acts(a, FACT_SIGNALLED_BY, &d->signalled_by, true);
    add_acts(a, FACT_NOTIFIED_BY, &d->notified_by, true);
    if (d->notified_in_vain)
        explore_fact_in_vain(a->f, FACT_IN_VAIN, FACT_IN_VAIN_ONCE, d);
    add_acts(a, FACT_SIGNALLED, &d->signalled, false);
    add_acts(a, FACT_NOTIFIED, &d->notified, false);
}

/* ---- What it did ---- */

static void add_running(struct about *a)
{
    const struct weft_model *m = a->m;
    const struct explore_link nowhere = explore_nowhere();
    uint64_t total = 0, count = 0;
    const struct weft_run *longest = NULL, *last = NULL;
    for (uint32_t i = a->p->first_run; i != WEFT_NONE; i = m->run[i].next) {
        const struct weft_run *r = &m->run[i];
        uint64_t length = r->end_ns > r->start_ns ? (uint64_t)(r->end_ns - r->start_ns) : 0;
        if (__builtin_add_overflow(total, length, &total))
            total = INT64_MAX;
        count++;
        last = r;
        if (!longest || r->end_ns - r->start_ns > longest->end_ns - longest->start_ns)
            longest = r;
    }
    if (!longest)
        return;
    total = total > INT64_MAX ? INT64_MAX : total;
    if (a->f->history && a->promise != WEFT_ROOT) /* the loop runs on several streams at a time */
        total = (uint64_t)a->d.running_ns;
    const struct weft_run *first = &m->run[a->p->first_run];
    explore_heading(a->f, FACT_RUNNING_HEAD);
    explore_say(a->f, nowhere, FACT_RUNS, LENGTH(length, (int64_t)total), AMOUNT(count, count),
                TEXT(share, explore_share(total, (uint64_t)explore_length(a->s, a->promise)).text));
    if (a->d.collecting_ns)
        explore_say(a->f, nowhere, FACT_PAUSED, LENGTH(length, a->d.collecting_ns));
    if (count > 1)
        explore_say(a->f, explore_time(longest->start_ns), FACT_LONGEST_RUN,
                    LENGTH(length, longest->end_ns - longest->start_ns),
                    TIME(from, longest->start_ns));
    explore_say_time(a->f, FACT_FIRST_RAN, first->start_ns);
    if (count > 1)
        explore_say_time(a->f, FACT_LAST_RAN, last->start_ns);
}

static void add_children(struct about *a)
{
    if (!a->all_children)
        return;
    explore_heading(a->f, FACT_CREATED_HEAD);
    explore_say_count(a->f, FACT_CHILDREN, a->all_children);
    for (uint32_t i = 0; i < a->children.count; i++)
        explore_say_promise(a->f, a->s, FACT_LONGEST_CHILD, a->children.item[i],
                            i || a->all_children == 1);
    explore_fact_more(a->f, a->all_children, a->children.count);
}

int explore_facts_of_promise(struct explore_facts *f, const struct weft_scene *s, uint32_t promise)
{
    struct about a = {.f = f, .s = s, .m = s->m, .p = &s->m->promise[promise], .promise = promise};
    char label[EXPLORE_FACT_LABEL], type[EXPLORE_FACT_LABEL];
    explore_fact_begin(f);
    a.d.resolution = WEFT_NONE;
    if (f->history && explore_dealings_find(&a.d, f->history, promise, s->l->raw) < 0)
        f->failed = true; /* and nothing is added */
    look_at_promises(&a);
    explore_fact_type(type, sizeof type, a.m, promise);
    explore_fact_label(label, sizeof label, a.m, promise);
    if (promise == WEFT_ROOT)
        explore_heading(f, FACT_LOOP_HEAD);
    else
        explore_heading(f, FACT_PROMISE_HEAD, PROMISE_OF(a.m, promise, promise),
                        TEXT(called, label[0] ? label : type));
    explore_say(f, explore_nowhere(), FACT_TYPE, TEXT(type, type));
    if (f->trace)
        explore_say(f, explore_nowhere(), FACT_TRACE_OF, TEXT(trace, f->trace));
    if (promise != WEFT_ROOT) {
        add_creation(&a);
        add_spans(&a);
        add_end(&a);
    }
    if (f->path)
        explore_fact_path(f, s, f->path);
    if (!f->history) {
        explore_heading(f, FACT_WAITS_HEAD);
        explore_say(f, explore_nowhere(), FACT_LOOKING);
    }
    add_waits(&a, &a.d.mine, a.d.mine.open ? FACT_WAITS_FOR_HEAD : FACT_WAITED_FOR_HEAD);
    add_waits(&a, &a.d.others,
              a.d.others.open ? FACT_IS_WAITED_FOR_HEAD : FACT_WAS_WAITED_FOR_HEAD);
    add_holds(&a, true);
    add_holds(&a, false);
    add_signals(&a);
    add_labels(&a);
    if (a.d.used.all || a.d.resolved.all) {
        explore_heading(f, FACT_DID_HEAD);
        add_acts(&a, FACT_USED, &a.d.used, false);
        add_acts(&a, FACT_RESOLVED, &a.d.resolved, false);
    }
    if (a.d.used_by.all) {
        explore_heading(f, FACT_WAS_USED_HEAD);
        add_acts(&a, FACT_USED_BY, &a.d.used_by, true);
    }
    add_running(&a);
    explore_fact_hot_promise(f, s, promise);
    add_children(&a);
    return explore_fact_end(f);
}

/* ---- Keys ---- */

static uint32_t not_the_loop(uint32_t promise)
{
    return promise == WEFT_ROOT ? WEFT_NONE : promise;
}

uint32_t explore_walk_creator(const struct weft_scene *s, uint32_t promise)
{
    return not_the_loop(s->m->promise[promise].creator);
}

uint32_t explore_walk_waited_for(const struct weft_history *h, uint32_t promise)
{
    uint32_t first = h->waits_of_first[promise];
    struct explore_waits w = {.wait = h->waits_of + first,
                              .count = h->waits_of_first[promise + 1] - first};
    struct weft_greatest top;
    longest_waits(h, &w, &top);
    return top.count ? h->wait[top.item[0]].source : WEFT_NONE;
}

uint32_t explore_walk_resolver(const struct weft_scene *s, uint32_t promise)
{
    const struct weft_model *m = s->m;
    promise = weft_model_final(m, promise);
    for (uint32_t i = m->interactions; i-- > 0;)
        if (m->interaction[i].other == promise && m->interaction[i].kind == WEFT_RESOLVES)
            return not_the_loop(m->interaction[i].actor);
    return WEFT_NONE;
}

uint32_t explore_walk_became(const struct weft_scene *s, uint32_t promise)
{
    return s->m->promise[promise].becomes;
}
