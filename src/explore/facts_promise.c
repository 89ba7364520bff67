/* SPDX-License-Identifier: ISC */
/* The facts of a promise, and where keys lead from it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "explore/dealings.h"
#include "explore/fact.h"
#include "explore/hot.h"

enum { LABELS_SHOWN = 12, FEW = 4 };

struct about {
    struct weft__facts *f;
    const struct weft_scene *s;
    const struct weft_model *m;
    const struct weft_promise *p;
    uint32_t promise;
    struct weft__dealings d;

    /* Found in one pass over the promises. */
    struct weft__top children; /* the longest ones */
    uint64_t all_children;
    uint32_t was[FEW]; /* what became it */
    uint64_t all_was;
};

static void look_at_promises(struct about *a)
{
    const struct weft_model *m = a->m;
    a->children.room = WEFT__TOP_MAX;
    for (uint32_t i = 1; i < m->promises; i++) {
        const struct weft_promise *p = &m->promise[i];
        if (p->creator == a->promise && i != a->promise) {
            a->all_children++;
            weft__top_add(&a->children, i, weft__length(a->s, i), 0);
        }
        if (p->becomes == a->promise) {
            if (a->all_was < FEW)
                a->was[a->all_was] = i;
            a->all_was++;
        }
    }
}

/* A pending one lives on, though its line ends with its last sign of life. */
static int64_t lived(const struct about *a)
{
    const struct weft_promise *p = a->p;
    int64_t end = p->outcome == WEFT_PENDING ? a->m->end_ns : p->end_ns;
    return end > p->start_ns ? end - p->start_ns : 0;
}

/* ---- What it is ---- */

static void add_source(struct about *a)
{
    char file[WEFT__FACT_BYTES - 24];
    uint32_t origin = weft_model_origin(a->m, a->promise);
    if (origin == WEFT_NONE)
        return;
    const struct weft_place *place = &a->m->origin[origin];
    const char *name = weft_model_text(a->m, place->file, NULL);
    size_t size = strlen(name), most = sizeof file / 2;
    if (size > most) /* the end of a path says more than its beginning */
        snprintf(file, sizeof file, "\xe2\x80\xa6%s", name + size - most);
    else
        snprintf(file, sizeof file, "%s", name);
    weft__fact_text(a->f, "in the source", "%s:%" PRIu32, file, place->line);
}

static void add_creation(struct about *a)
{
    const struct weft_promise *p = a->p;
    if (!p->created)
        weft__fact_text(a->f, "created", "before the trace begins");
    else
        weft__fact_time(a->f, "created", p->start_ns, "at %s%s", weft_moment(p->start_ns).text,
                        p->promoted ? ", kept from what was overwritten" : "");
    add_source(a);
    if (p->created && a->promise != WEFT_ROOT)
        weft__fact_promise(a->f, "created by", a->s, p->creator, "%s", "");
    if (p->simplified && !a->s->l->raw) {
        int64_t wake = weft_model_wake(a->m, p);
        weft__fact_promise(a->f, "hangs under", a->s, weft_model_under(a->m, p), "%s", "");
        weft__fact_time(a->f, "shown from", wake, "%s, when it used that", weft_moment(wake).text);
    }
}

static void add_pending(struct about *a)
{
    const struct weft_promise *p = a->p;
    if (weft_model_overdue(a->m, a->promise)) {
        weft__fact_text(a->f, "pending", "marked as one that must be resolved, and never was");
        weft__fact_bad(a->f);
    } else {
        weft__fact_text(a->f, "pending",
                        p->background ? "meant to be pending for long"
                                      : "not resolved when the trace ends");
    }
    if (p->end_ns < a->m->end_ns)
        weft__fact_time(a->f, "last sign of life", p->end_ns, "at %s", weft_moment(p->end_ns).text);
}

static void add_end(struct about *a)
{
    const struct weft_promise *p = a->p;
    bool failed = p->outcome == WEFT_FAILED;
    if (p->outcome == WEFT_PENDING) {
        add_pending(a);
    } else {
        weft__fact_time(a->f, weft_outcome_name((enum weft_outcome)p->outcome), p->end_ns, "at %s",
                        weft_moment(p->end_ns).text);
        if (failed)
            weft__fact_bad(a->f);
    }
    weft__fact_text(a->f, p->outcome == WEFT_PENDING ? "pending for" : "lasted", "%s",
                    weft_duration(lived(a)).text);
    uint32_t cause = weft_model_reason(a->m, a->promise);
    if (cause != WEFT_NONE) {
        uint32_t size;
        char reason[WEFT__FACT_BYTES];
        const char *text = weft_model_text(a->m, cause, &size);
        weft__fact_clean(reason, sizeof reason, text, size);
        weft__fact_text(a->f, "failure", "%s", reason);
        weft__fact_bad(a->f);
    }
    if (a->d.resolution != WEFT_NONE) {
        const struct weft_interaction *x = &a->m->interaction[a->d.resolution];
        weft__fact_promise(a->f, failed ? "failed by" : "resolved by", a->s, x->actor, "%s",
                           x->actor == a->promise ? " (itself)" : "");
    }
    for (uint32_t i = 0; i < a->d.again.kept; i++) {
        const struct weft_interaction *x = &a->m->interaction[a->d.again.interaction[i]];
        weft__fact_promise(a->f, i ? "" : "ended again by", a->s, x->actor,
                           " at %s; the first end counts", weft_moment(x->time_ns).text);
        weft__fact_bad(a->f);
    }
    weft__fact_more(a->f, a->d.again.all, a->d.again.kept);
    if (p->outcome == WEFT_BECAME && p->becomes != WEFT_NONE) {
        uint32_t final = weft_model_final(a->m, a->promise);
        weft__fact_promise(a->f, "what it became", a->s, p->becomes, "%s", "");
        if (final != p->becomes)
            weft__fact_promise(a->f, "in the end", a->s, final, "%s", "");
    }
    for (uint32_t i = 0; i < a->all_was && i < FEW; i++)
        weft__fact_promise(a->f, i ? "" : "was", a->s, a->was[i], "%s", "");
    weft__fact_more(a->f, a->all_was, FEW);
    if (p->background && p->outcome != WEFT_PENDING)
        weft__fact_text(a->f, "background", "meant to be pending for long");
    if (p->should_resolve && p->outcome != WEFT_PENDING)
        weft__fact_text(a->f, "mark", "must be resolved");
}

static void add_labels(struct about *a)
{
    const struct weft_model *m = a->m;
    uint64_t all = 0;
    for (uint32_t i = a->p->first_label; i != WEFT_NONE; i = m->label[i].next) {
        const struct weft_label *l = &m->label[i];
        char text[3 * WEFT__FACT_BYTES], clean[WEFT__FACT_BYTES];
        if (l->is_change && !m->quirks.changes_are_labels) /* no label there */
            continue;
        if (all++ >= LABELS_SHOWN)
            continue;
        if (all == 1)
            weft__fact_heading(a->f, "Labels");
        uint32_t size = weft_model_label_text(m, l, text, sizeof text);
        weft__fact_clean(clean, sizeof clean, text, size);
        weft__fact_time(a->f, weft_moment(l->time_ns).text, l->time_ns, "%s", clean);
    }
    weft__fact_more(a->f, all, LABELS_SHOWN);
}

/* ---- What it waited for, and who for it ---- */

static int64_t wait_length(const struct weft_wait *w)
{
    return w->until_ns > w->from_ns ? w->until_ns - w->from_ns : 0;
}

static void longest_waits(const struct weft_history *h, const struct weft__waits *w,
                          struct weft__top *top)
{
    *top = (struct weft__top){.room = WEFT__TOP_MAX};
    for (uint32_t i = 0; i < w->count; i++) {
        const struct weft_wait *x = &h->wait[w->wait[i]];
        weft__top_add(top, w->wait[i], x->end == WEFT_WAIT_OPEN ? INT64_MAX : wait_length(x),
                      wait_length(x));
    }
}

/* A wait that began too late: what is waited for had been notified, for the last time before. */
static void what_was_missed(const struct about *a, const struct weft_wait *w,
                            char text[2 * WEFT__FACT_NUMBER])
{
    const struct weft_history *h = a->f->history;
    uint32_t c = weft_model_final(a->m, w->source), end = h->notified_first[c + 1];
    text[0] = '\0';
    if (end == h->notified_first[c])
        return;
    int64_t last = a->m->interaction[h->notified[end - 1]].time_ns;
    if (last <= w->from_ns)
        snprintf(text, 2 * WEFT__FACT_NUMBER, ", %s after it was last notified",
                 weft_duration(w->from_ns - last).text);
}

static void add_wait(struct about *a, const struct weft_wait *w, const char *name, bool mine)
{
    static const char *const how[] = {
        [WEFT_WAIT_READ] = "",
        [WEFT_WAIT_RAN] = "",
        [WEFT_WAIT_ENDED] = ", until it ended itself",
        [WEFT_WAIT_LEFT] = ", and went on without it",
    };
    char missed[2 * WEFT__FACT_NUMBER];
    uint32_t peer = mine ? w->source : w->reader;
    const struct weft_figure from = weft_moment(w->from_ns), length = weft_duration(wait_length(w));
    if (w->end == WEFT_WAIT_OPEN) {
        what_was_missed(a, w, missed);
        weft__fact_named(a->f, name, a->s, peer, ": still waits, since %s (%s)%s", from.text,
                         length.text, missed);
        if (!a->m->promise[w->reader].background)
            weft__fact_bad(a->f);
    } else {
        bool signalled =
            w->ended_by != WEFT_NONE && a->m->interaction[w->ended_by].kind == WEFT_SIGNALS;
        weft__fact_named(a->f, name, a->s, peer, ": waited %s from %s%s", length.text, from.text,
                         signalled ? ", until signalled" : how[w->end]);
    }
}

static void add_acts(struct about *a, const char *name, const struct weft__acts *acts, bool others)
{
    uint32_t shown = 0;
    for (; shown < acts->kept && shown < FEW; shown++) {
        const struct weft_interaction *x = &a->m->interaction[acts->interaction[shown]];
        weft__fact_named(a->f, shown ? "" : name, a->s, others ? x->actor : x->other, ", at %s",
                         weft_moment(x->time_ns).text);
    }
    weft__fact_more(a->f, acts->all, shown);
}

static void add_waits(struct about *a, const struct weft__waits *w, const char *heading)
{
    const struct weft_history *h = a->f->history;
    struct weft__top top;
    bool mine = w == &a->d.mine;
    if (w->count) {
        weft__fact_heading(a->f, "%s", heading);
        const struct weft_figure share =
            weft__share((uint64_t)w->total_ns, mine ? (uint64_t)lived(a) : 0);
        weft__fact_text(a->f, "in all", "%s in %s wait%s%s%s%s", weft_duration(w->total_ns).text,
                        weft_count(w->count).text, weft_plural(w->count), share.text[0] ? ", " : "",
                        share.text, share.text[0] ? " of its life" : "");
        if (w->blocked_ns)
            weft__fact_text(a->f, "blocked",
                            "%s of that: the loop did not look, it may have been there",
                            weft_duration(w->blocked_ns).text);
        longest_waits(h, w, &top);
        for (uint32_t i = 0; i < top.count; i++)
            add_wait(a, &h->wait[top.promise[i]], i ? "" : mine ? "for" : "by", mine);
        weft__fact_more(a->f, w->count, top.count);
    }
    if (w->late_ns <= 0)
        return;
    /* What was there was used late: something else ran, or the loop was slow. */
    if (mine)
        weft__fact_text(a->f, "ready", "%s: it could have gone on, but did not run yet",
                        weft_duration(w->late_ns).text);
    else
        weft__fact_text(a->f, "was used late", "%s after it was there, in all",
                        weft_duration(w->late_ns).text);
    if (w->count > 1 && w->latest_ns)
        weft__fact_named(a->f, "at the latest", a->s,
                         mine ? h->wait[w->latest].source : h->wait[w->latest].reader, ": %s late",
                         weft_duration(w->latest_ns).text);
}

static void add_hold(struct about *a, const struct weft_hold *x, const char *name, bool mine)
{
    const struct weft_figure length = weft_duration(x->to_ns - x->from_ns);
    const struct weft_figure from = weft_moment(x->from_ns);
    const uint32_t holder = x->holder == WEFT_NONE ? WEFT_ROOT : x->holder;
    const uint32_t peer = mine ? x->resource : holder;
    if (x->released_by != WEFT_NONE) {
        weft__fact_named(a->f, name, a->s, peer, ": %s from %s", length.text, from.text);
        return;
    }
    weft__fact_named(a->f, name, a->s, peer, ": still, since %s (%s)", from.text, length.text);
    if (a->m->promise[weft_model_final(a->m, holder)].outcome != WEFT_PENDING)
        weft__fact_bad(a->f); /* it has ended */
}

/* What the promise held, or (mine: false) who held it: what is held still, then the newest. */
static void add_holds(struct about *a, bool mine)
{
    const struct weft_history *h = a->f->history;
    const uint32_t *first = !h ? NULL : mine ? h->holds_of_first : h->holds_for_first;
    const uint32_t from = first ? first[a->promise] : 0, end = first ? first[a->promise + 1] : 0;
    uint32_t shown = 0;
    if (from < end)
        weft__fact_heading(a->f, mine ? "Held" : "Was held");
    for (int over = 0; over < 2; over++)
        for (uint32_t i = end; i-- > from && shown < FEW;) {
            const struct weft_hold *x = &a->m->hold[(mine ? h->holds_of : h->holds_for)[i]];
            if ((x->released_by != WEFT_NONE) == over)
                add_hold(a, x, shown++ || mine ? "" : "by", mine);
        }
    weft__fact_more(a->f, end - from, shown);
}

void weft__fact_in_vain(struct weft__facts *f, const char *name, const struct weft__dealings *d)
{
    const struct weft_figure when = weft_moment(d->in_vain_ns);
    if (d->notified_in_vain > 1)
        weft__fact_time(
            f, name, d->in_vain_ns, "%s of %s times, when nobody waited: the last at %s",
            weft_count(d->notified_in_vain).text, weft_count(d->notified_by.all).text, when.text);
    else
        weft__fact_time(f, name, d->in_vain_ns, "once, when nobody waited: at %s", when.text);
    if (d->others.open)
        weft__fact_bad(f);
}

static void add_signals(struct about *a)
{
    const struct weft__dealings *d = &a->d;
    if (d->signalled.all + d->signalled_by.all + d->notified.all + d->notified_by.all == 0)
        return;
    weft__fact_heading(a->f, "Signals");
    add_acts(a, "signalled by", &d->signalled_by, true);
    add_acts(a, "notified by", &d->notified_by, true);
    if (d->notified_in_vain)
        weft__fact_in_vain(a->f, "in vain", d);
    add_acts(a, "signalled", &d->signalled, false);
    add_acts(a, "notified", &d->notified, false);
}

/* ---- What it did ---- */

static void add_running(struct about *a)
{
    const struct weft_model *m = a->m;
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
    weft__fact_heading(a->f, "Running");
    const struct weft_figure share = weft__share(total, (uint64_t)lived(a));
    weft__fact_text(a->f, "in all", "%s in %s run%s%s%s%s", weft_duration((int64_t)total).text,
                    weft_count(count).text, weft_plural(count), share.text[0] ? ", " : "",
                    share.text, share.text[0] ? " of its life" : "");
    if (a->d.collecting_ns)
        weft__fact_text(a->f, "paused", "%s: garbage was collected while it ran",
                        weft_duration(a->d.collecting_ns).text);
    if (count > 1)
        weft__fact_time(a->f, "longest run", longest->start_ns, "%s from %s",
                        weft_duration(longest->end_ns - longest->start_ns).text,
                        weft_moment(longest->start_ns).text);
    weft__fact_time(a->f, "first ran", first->start_ns, "at %s", weft_moment(first->start_ns).text);
    if (count > 1)
        weft__fact_time(a->f, "last ran", last->start_ns, "at %s",
                        weft_moment(last->start_ns).text);
}

static void add_children(struct about *a)
{
    if (!a->all_children)
        return;
    weft__fact_heading(a->f, "Created");
    weft__fact_text(a->f, "in all", "%s promise%s", weft_count(a->all_children).text,
                    weft_plural(a->all_children));
    for (uint32_t i = 0; i < a->children.count; i++)
        weft__fact_promise(a->f,
                           i                     ? ""
                           : a->all_children > 1 ? "the longest"
                                                 : "",
                           a->s, a->children.promise[i], "%s", "");
    weft__fact_more(a->f, a->all_children, a->children.count);
}

int weft__facts_of_promise(struct weft__facts *f, const struct weft_scene *s, uint32_t promise)
{
    struct about a = {.f = f, .s = s, .m = s->m, .p = &s->m->promise[promise], .promise = promise};
    char label[WEFT__FACT_LABEL], type[WEFT__FACT_LABEL];
    weft__fact_begin(f);
    a.d.resolution = WEFT_NONE;
    int rc = f->history ? weft__dealings_find(&a.d, f->history, promise) : 0;
    if (rc < 0)
        goto out;
    look_at_promises(&a);
    const char *name = weft_model_type(a.m, promise);
    weft__fact_clean(type, sizeof type, name, strlen(name));
    weft__fact_label(label, sizeof label, a.m, promise);
    if (promise == WEFT_ROOT)
        weft__fact_heading(f, "The event loop");
    else
        weft__fact_heading(f, "#%" PRIu64 " %s", a.p->id, label[0] ? label : type);
    weft__fact_text(f, "type", "%s", type);
    if (f->trace)
        weft__fact_text(f, "trace", "%s", f->trace);
    if (promise != WEFT_ROOT) {
        add_creation(&a);
        add_end(&a);
    }
    if (f->path)
        weft__fact_path(f, s, f->path);
    if (!f->history) {
        weft__fact_heading(f, "Waits");
        weft__fact_text(f, "", "looking for them \xe2\x80\xa6");
    }
    add_waits(&a, &a.d.mine, a.d.mine.open ? "Waits for" : "Waited for");
    add_waits(&a, &a.d.others, a.d.others.open ? "Is waited for" : "Was waited for");
    add_holds(&a, true);
    add_holds(&a, false);
    add_signals(&a);
    add_labels(&a);
    if (a.d.used.all || a.d.resolved.all) {
        weft__fact_heading(f, "Did");
        add_acts(&a, "used", &a.d.used, false);
        add_acts(&a, "resolved", &a.d.resolved, false);
    }
    if (a.d.used_by.all) {
        weft__fact_heading(f, "Was used");
        add_acts(&a, "by", &a.d.used_by, true);
    }
    add_running(&a);
    weft__fact_hot_promise(f, s, promise);
    add_children(&a);
out:
    if (rc < 0)
        f->failed = true;
    return weft__fact_end(f);
}

/* ---- Keys ---- */

static uint32_t not_the_loop(uint32_t promise)
{
    return promise == WEFT_ROOT ? WEFT_NONE : promise;
}

uint32_t weft__walk_creator(const struct weft_scene *s, uint32_t promise)
{
    return not_the_loop(s->m->promise[promise].creator);
}

uint32_t weft__walk_waited_for(const struct weft_history *h, uint32_t promise)
{
    uint32_t first = h->waits_of_first[promise];
    struct weft__waits w = {.wait = h->waits_of + first,
                            .count = h->waits_of_first[promise + 1] - first};
    struct weft__top top;
    longest_waits(h, &w, &top);
    return top.count ? h->wait[top.promise[0]].source : WEFT_NONE;
}

uint32_t weft__walk_resolver(const struct weft_scene *s, uint32_t promise)
{
    const struct weft_model *m = s->m;
    promise = weft_model_final(m, promise);
    for (uint32_t i = m->interactions; i-- > 0;)
        if (m->interaction[i].other == promise && m->interaction[i].kind == WEFT_RESOLVES)
            return not_the_loop(m->interaction[i].actor);
    return WEFT_NONE;
}

uint32_t weft__walk_became(const struct weft_scene *s, uint32_t promise)
{
    return s->m->promise[promise].becomes;
}
