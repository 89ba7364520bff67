/* SPDX-License-Identifier: ISC */
/* Events change the tables; nothing else is kept of them.
 * What was overwritten before it was read may have ended promises. So after a loss everything that is pending is found
 * anew, by a first look: what it says up to the time that was already seen changes the tables, but is not counted again. */
#include "live/live.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/idmap.h"
#include "format/walk.h"
#include "live/tables.h"

#define MARK "__should_resolve"

enum {
    PROMISES_MAX = 4 << 20,
    ROWS_MAX = 4096,
    NAMES_MAX = 1 << 16,
    COUNTERS_MAX = 1024,
    LISTED_MAX = 16, /* promises that became the same */
    AGAIN_TIMES = 20 /* finding everything anew takes at most one part in that many of the time */
};

struct live {
    struct weft_follow *follow;
    struct weft_input in;
    struct live_calls calls;
    struct live_names names;
    struct live_pending pending;
    struct live_table rows;
    struct live_thread *thread;
    uint32_t threads, thread_room;
    struct weft_idmap *by_number; /* the threads */
    uint32_t *of_stream; /* the thread of each stream of this look; LIVE_NONE: not asked for yet */
    uint32_t streams, stream_room;
    struct live_counter *counter;
    uint32_t counters, counter_room;
    struct live_totals totals;
    bool from_start;
    uint64_t seen_ns;  /* events up to then are not counted */
    bool counts;       /* this event is */
    bool lost;         /* since everything was found */
    uint64_t again_ns; /* not before then */
};

/* ---- Threads ---- */

static uint32_t add_thread(struct live *l, const struct weft_stream_facts *s)
{
    uint32_t at = weft_idmap_seek(l->by_number, s->number);
    if (at != WEFT_IDMAP_NONE)
        return at;
    if (!weft_reserve(&l->thread, l->threads, &l->thread_room, sizeof *l->thread) ||
        !weft_idmap_put(l->by_number, s->number, l->threads))
        return LIVE_NONE;
    at = l->threads++;
    l->thread[at] = (struct live_thread){.number = s->number, .tid = s->thread};
    memcpy(l->thread[at].name, s->name, sizeof s->name);
    return at;
}

/* The thread of a stream of this look, or LIVE_NONE. */
static uint32_t thread_of(struct live *l, uint32_t stream)
{
    if (stream < l->streams && l->of_stream[stream] != LIVE_NONE)
        return l->of_stream[stream];
    const struct weft_reader_facts *f = weft_reader_facts(weft_follow_reader(l->follow));
    if (!f->stream || stream >= f->streams)
        return LIVE_NONE;
    while (l->streams <= stream) {
        if (!weft_reserve(&l->of_stream, l->streams, &l->stream_room, sizeof *l->of_stream))
            return LIVE_NONE;
        l->of_stream[l->streams++] = LIVE_NONE;
    }
    return l->of_stream[stream] = add_thread(l, &f->stream[stream]);
}

static void end_turn(struct live *l, struct live_thread *t, uint64_t now)
{
    const uint64_t took = now > t->since_ns && t->since_ns ? now - t->since_ns : 0;
    if (l->counts && t->is_loop) {
        t->busy_ns += took;
        t->turns++;
        t->longest_ns = took > t->longest_ns ? took : t->longest_ns;
    }
    if (l->counts && l->calls.turned && t->since_ns)
        l->calls.turned(l->calls.data, t, now);
}

static void go_on(struct live *l, struct live_thread *t, uint64_t now)
{
    if (!t->idle)
        return;
    if (l->counts && now > t->since_ns)
        t->idle_ns += now - t->since_ns;
    t->idle = false;
    t->since_ns = now;
}

/* What the event says about its thread. */
static void on_thread(struct live *l, struct live_thread *t, const struct weft_event *ev)
{
    const uint64_t now = ev->time_ns;
    if (ev->missing || !t->last_ns)
        t->since_ns = now;
    t->last_ns = now;
    t->running =
        ev->kind == WEFT_EVENT_SUSPEND ? 0 : format_running(ev->kind, ev->a, ev->b, ev->running);
    switch (ev->kind) {
    case WEFT_EVENT_SUSPEND:
        if (!t->idle)
            end_turn(l, t, now);
        t->is_loop = t->idle = true;
        t->since_ns = now;
        break;
    case WEFT_EVENT_RESUME:
        if (!t->idle) /* the end of the turn before it was not seen */
            t->since_ns = now;
        t->is_loop = true;
        go_on(l, t, now);
        break;
    case WEFT_EVENT_SWITCH:
    case WEFT_EVENT_READ:
    case WEFT_EVENT_SIGNAL:
        go_on(l, t, now);
        break;
    case WEFT_EVENT_PREEMPTED:
        t->preempted_ns += l->counts ? (uint64_t)ev->value : 0;
        break;
    default:
        break;
    }
}

/* ---- Promises ---- */

/* Finds the row for its type and label, which may be new. */
static void set_row(struct live *l, struct live_promise *p)
{
    const uint32_t row = live_table_row(&l->rows, &l->names, p->type, p->label);
    l->rows.row[p->row].pending--;
    l->rows.row[row].pending++;
    p->row = row;
}

/* Adds a promise about which nothing else is known; set_row is for the caller. NULL: there is no room. */
static struct live_promise *add(struct live *l, uint64_t id, uint64_t now)
{
    struct live_promise *p = live_pending_add(&l->pending, id);
    if (!p) {
        l->totals.unfollowed++;
        return NULL;
    }
    p->created_ns = now;
    p->older = true;
    p->creator = WEFT_ID_LOOP;
    p->thread = LIVE_NONE;
    l->rows.row[p->row].pending++;
    return p;
}

/* The pending promise that an event mentions; it is added if it is not known. NULL: it is the loop, or there is no room. */
static struct live_promise *mention(struct live *l, uint64_t id, uint64_t now)
{
    struct live_promise *p = id == WEFT_ID_LOOP ? NULL : live_pending_find(&l->pending, id);
    if (p || id == WEFT_ID_LOOP)
        return p;
    if ((p = add(l, id, now)) != NULL)
        set_row(l, p);
    return p;
}

static uint32_t take_text(struct live *l, const char *text)
{
    return text ? live_names_take(&l->names, text, strlen(text)) : LIVE_NAMELESS;
}

static void remove_one(struct live *l, struct live_promise *p)
{
    live_names_drop(&l->names, p->label);
    live_names_drop(&l->names, p->type);
    live_names_drop(&l->names, p->file);
    live_pending_remove(&l->pending, p);
}

/* Where in the list of what p became p stands; a list has few members. NULL: in none. */
static uint64_t *link_to(struct live *l, const struct live_promise *p)
{
    struct live_promise *at = p->became ? live_pending_find(&l->pending, p->became) : NULL;
    uint64_t *link = at ? &at->first_became : NULL;
    while (link && *link != p->id) {
        at = *link ? live_pending_find(&l->pending, *link) : NULL;
        link = at ? &at->next_became : NULL;
    }
    return link;
}

static void drop_one(struct live *l, struct live_promise *p)
{
    l->rows.row[p->row].pending--;
    remove_one(l, p);
}

/* Removes p, and what had become p, uncounted. */
static void drop(struct live *l, struct live_promise *p)
{
    uint64_t next = p->first_became, *link = link_to(l, p);
    if (link)
        *link = p->next_became;
    drop_one(l, p);
    while (next && (p = live_pending_find(&l->pending, next))) {
        next = p->next_became;
        drop_one(l, p);
    }
}

/* Everything that is pending is known. So if the number is, this is another promise, and the end of the first is lost. */
static void on_creates(struct live *l, const struct weft_event *ev)
{
    struct live_promise *p = live_pending_find(&l->pending, ev->b);
    if (ev->b == WEFT_ID_LOOP)
        return;
    if (p && !p->older) {
        drop(l, p);
        p = NULL;
    }
    l->totals.created += l->counts;
    if (!p && !(p = add(l, ev->b, ev->time_ns)))
        return;
    p->created_ns = ev->time_ns;
    p->older = ev->undated;
    p->creator = ev->a;
    p->thread = ev->stream == WEFT_STREAM_NONE ? LIVE_NONE : thread_of(l, ev->stream);
    if (ev->origin && !p->type) {
        p->type = take_text(l, ev->origin->type);
        p->file = take_text(l, ev->origin->file);
        p->line = ev->origin->line;
    }
    if (ev->text && !p->label)
        p->label = live_names_take(&l->names, ev->text, ev->text_size);
    set_row(l, p);
}

static void on_label(struct live *l, const struct weft_event *ev)
{
    struct live_promise *p = live_pending_find(&l->pending, ev->a);
    if (!p)
        return;
    if (ev->text_size == strlen(MARK) && !memcmp(ev->text, MARK, strlen(MARK))) {
        p->should_resolve = true;
    } else if (!p->label) {
        p->label = live_names_take(&l->names, ev->text, ev->text_size);
        set_row(l, p);
    }
}

/* p has ended. */
static void count_end(struct live *l, const struct live_promise *p, enum live_outcome outcome,
                      const struct weft_event *ev)
{
    struct live_row *r = &l->rows.row[p->row];
    uint64_t *const counts[] = {
        [LIVE_FULFILLED] = &r->fulfilled, [LIVE_FAILED] = &r->failed,
        [LIVE_RESOLVED] = &r->resolved,   [LIVE_CANCELLED] = &r->cancelled,
        [LIVE_FORGOTTEN] = &r->forgotten,
    };
    r->pending--;
    if (!l->counts)
        return;
    ++*counts[outcome];
    l->totals.ended++;
    l->totals.failed += outcome == LIVE_FAILED;
    if (outcome <= LIVE_RESOLVED && !p->older) {
        const uint64_t took = ev->time_ns > p->created_ns ? ev->time_ns - p->created_ns : 0;
        r->total_ns += took;
        r->took[live_bucket_of(took)]++;
    }
    if (l->calls.ended)
        l->calls.ended(l->calls.data, p, outcome, ev->time_ns, ev->text, ev->text_size);
}

/* p ends, and with it all that became p. */
static void end(struct live *l, struct live_promise *p, enum live_outcome outcome,
                const struct weft_event *ev)
{
    uint64_t next = p->first_became;
    count_end(l, p, outcome, ev);
    remove_one(l, p);
    while (next && (p = live_pending_find(&l->pending, next))) {
        next = p->next_became;
        count_end(l, p, outcome, ev);
        remove_one(l, p);
    }
}

static void on_ends(struct live *l, uint64_t id, enum live_outcome outcome,
                    const struct weft_event *ev)
{
    struct live_promise *p = live_pending_find(&l->pending, id);
    if (p && !p->became)
        end(l, p, outcome, ev);
}

/* p ends with q, and so does what became p: q is what they became from now on. A loop that becomes its next round again
 * and again would make a list without end; its first rounds are kept. */
static void on_becomes(struct live *l, const struct weft_event *ev)
{
    struct live_promise *p = live_pending_find(&l->pending, ev->a);
    struct live_promise *q = live_pending_find(&l->pending, ev->b), *last = p, *next;
    if (q && q->became)
        q = live_pending_find(&l->pending, q->became);
    if (!p || p->became || p == q || ev->a == ev->b)
        return;
    if (!q) { /* that has ended */
        end(l, p, LIVE_RESOLVED, ev);
        return;
    }
    p->became = q->id;
    p->next_became = p->first_became;
    for (; (next = last->next_became ? live_pending_find(&l->pending, last->next_became) : NULL);
         last = next)
        next->became = q->id;
    last->next_became = q->first_became;
    q->first_became = p->id;
    q->became_this += p->became_this + 1;
    p->first_became = 0;
    const uint64_t id = q->id;
    while (q->became_this > LISTED_MAX && (p = live_pending_find(&l->pending, q->first_became))) {
        q->first_became = p->next_became;
        q->became_this--;
        l->totals.unfollowed++;
        drop_one(l, p);
        q = live_pending_find(&l->pending, id);
    }
}

static void on_waits(struct live *l, const struct weft_event *ev)
{
    struct live_promise *p = mention(l, ev->a, ev->time_ns);
    if (!p)
        return;
    p->waits_for = ev->b == WEFT_ID_LOOP ? 0 : ev->b;
    p->waits_since_ns = ev->time_ns;
    if (p->waits_for)
        mention(l, ev->b, ev->time_ns);
}

/* It goes on. */
static void on_reads(struct live *l, uint64_t id)
{
    struct live_promise *p = live_pending_find(&l->pending, id);
    if (p)
        p->waits_for = p->waits_since_ns = 0;
}

static void on_holds(struct live *l, const struct weft_event *ev)
{
    struct live_promise *p = live_pending_find(&l->pending, ev->b);
    if (p && ev->kind == WEFT_EVENT_ACQUIRES)
        p->holder = ev->a;
    else if (p && p->holder == ev->a)
        p->holder = 0;
}

static void on_counter(struct live *l, const struct weft_event *ev)
{
    const uint32_t name = live_names_take(&l->names, ev->text, ev->text_size);
    uint32_t at = 0;
    while (at < l->counters && l->counter[at].name != name)
        at++;
    if (at < l->counters)
        live_names_drop(&l->names, name);
    else if (at >= COUNTERS_MAX ||
             !weft_reserve(&l->counter, at, &l->counter_room, sizeof *l->counter))
        return;
    else
        l->counter[l->counters++] = (struct live_counter){.name = name};
    struct live_counter *c = &l->counter[at];
    if (ev->kind == WEFT_EVENT_COUNTER)
        c->value = ev->value;
    else
        c->value = ev->has_total ? ev->total : (int64_t)((uint64_t)c->value + (uint64_t)ev->value);
    c->changed_ns = ev->time_ns;
    if (l->counts && l->calls.counted)
        l->calls.counted(l->calls.data, c);
}

/* ---- Events ---- */

static void on_promise(struct live *l, const struct weft_event *ev)
{
    struct live_promise *p;
    switch ((enum weft_event_kind)ev->kind) {
    case WEFT_EVENT_CREATES:
        on_creates(l, ev);
        break;
    case WEFT_EVENT_FULFILLS:
        on_ends(l, ev->b, LIVE_FULFILLED, ev);
        break;
    case WEFT_EVENT_FAILS:
        on_ends(l, ev->b, LIVE_FAILED, ev);
        break;
    case WEFT_EVENT_RESOLVES:
        on_ends(l, ev->b, LIVE_RESOLVED, ev);
        break;
    case WEFT_EVENT_CANCELS:
        on_ends(l, ev->b, LIVE_CANCELLED, ev);
        break;
    case WEFT_EVENT_FORGETS:
        on_ends(l, ev->a, LIVE_FORGOTTEN, ev);
        break;
    case WEFT_EVENT_BECOMES:
        on_becomes(l, ev);
        break;
    case WEFT_EVENT_LABEL:
        on_label(l, ev);
        break;
    case WEFT_EVENT_TRY_READ:
        on_waits(l, ev);
        break;
    case WEFT_EVENT_READ:
    case WEFT_EVENT_READ_LATER:
    case WEFT_EVENT_SIGNAL:
    case WEFT_EVENT_SIGNAL_ONLY:
        on_reads(l, ev->a);
        break;
    case WEFT_EVENT_SHOULD_RESOLVE:
    case WEFT_EVENT_BACKGROUND:
        if ((p = live_pending_find(&l->pending, ev->a)) != NULL)
            *(ev->kind == WEFT_EVENT_BACKGROUND ? &p->background : &p->should_resolve) = true;
        break;
    case WEFT_EVENT_ACQUIRES:
    case WEFT_EVENT_RELEASES:
        on_holds(l, ev);
        break;
    case WEFT_EVENT_INCREASE:
    case WEFT_EVENT_COUNTER:
        on_counter(l, ev);
        break;
    case WEFT_EVENT_SWITCH:
    case WEFT_EVENT_SUSPEND:
    case WEFT_EVENT_RESUME:
    case WEFT_EVENT_NOTIFIES:
    case WEFT_EVENT_PREEMPTED:
    case WEFT_EVENT_GC:
    case WEFT_EVENT_SPAN:
    case WEFT_EVENT_SPAN_PARENT:
    case WEFT_EVENT_SNAPSHOT:
    case WEFT_EVENT_KINDS:
        break;
    }
}

static void on_event(struct live *l, const struct weft_event *ev)
{
    const uint32_t thread = ev->stream == WEFT_STREAM_NONE ? LIVE_NONE : thread_of(l, ev->stream);
    l->counts = !ev->promoted && ev->time_ns > l->seen_ns;
    l->totals.events += l->counts;
    if (l->calls.event)
        l->calls.event(l->calls.data, ev);
    if (!ev->promoted && thread != LIVE_NONE)
        on_thread(l, &l->thread[thread], ev);
    on_promise(l, ev);
}

/* ---- Looking ---- */

static void forget_pending(struct live *l)
{
    while (l->pending.promises)
        drop_one(l, &l->pending.promise[l->pending.promises - 1]);
}

static int follow_anew(struct live *l, struct weft_error *err)
{
    struct weft_input in = l->in;
    in.fd = fcntl(l->in.fd, F_DUPFD_CLOEXEC, 3);
    if (in.fd < 0)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be opened again");
    weft_follow_close(l->follow);
    l->follow = NULL;
    return weft_follow_open(&l->follow, &in, err);
}

static int read_look(struct live *l, struct weft_error *err)
{
    const struct weft_event *events;
    ptrdiff_t n;
    TRY(weft_follow_look(l->follow, err));
    l->streams = 0;
    while ((n = weft_follow_next(l->follow, &events, err)) > 0)
        for (ptrdiff_t i = 0; i < n; i++)
            on_event(l, &events[i]);
    return (int)n;
}

/* Finds everything that is pending. */
static int look_anew(struct live *l, struct weft_error *err)
{
    const uint64_t begun = (uint64_t)weft_monotonic_ns();
    forget_pending(l);
    TRY(follow_anew(l, err));
    const int rc = read_look(l, err);
    const uint64_t now = (uint64_t)weft_monotonic_ns();
    l->lost = rc < 0;
    l->again_ns = now + AGAIN_TIMES * (now - begun);
    return rc;
}

int live_look(struct live *l, struct weft_error *err)
{
    const bool first = !l->totals.since_ns;
    int rc;
    if (first || (l->lost && (uint64_t)weft_monotonic_ns() >= l->again_ns)) {
        l->seen_ns = first && !l->from_start ? UINT64_MAX : l->totals.now_ns;
        rc = look_anew(l, err);
    } else {
        const uint64_t lost = weft_follow_lost(l->follow);
        l->seen_ns = 0;
        rc = read_look(l, err);
        const uint64_t more = weft_follow_lost(l->follow) - lost;
        l->totals.lost += more;
        l->lost |= more > 0;
    }
    if (rc < 0) {
        l->lost = true;
        return rc;
    }
    l->totals.now_ns = weft_follow_until_ns(l->follow);
    const struct weft_process_facts *f = &weft_reader_facts(live_reader(l))->process;
    l->totals.off_ns = !f->was_paused ? 0 : f->is_paused ? f->paused_ns : f->resumed_ns;
    l->totals.since_ns = first ? l->totals.now_ns : l->totals.since_ns;
    return 0;
}

int live_open(struct live **out, struct weft_input *in, const struct live_options *options,
              struct weft_error *err)
{
    const struct live_options o = options ? *options : (struct live_options){0};
    struct live *l = *out = calloc(1, sizeof *l);
    if (l) {
        l->in = *in;
        l->calls = o.calls;
        l->from_start = o.from_start;
        l->pending.most = o.promises_max ? o.promises_max : PROMISES_MAX;
        l->by_number = weft_idmap_new();
    }
    if (l && l->by_number && live_names_init(&l->names, o.names_max ? o.names_max : NAMES_MAX) &&
        live_table_init(&l->rows, o.rows_max ? o.rows_max : ROWS_MAX)) {
        in->fd = -1;
        return 0;
    }
    if (l)
        l->in.fd = -1;
    live_close(l);
    *out = NULL;
    weft_input_close(in);
    return weft_no_memory(err);
}

const struct weft_reader *live_reader(const struct live *l)
{
    return l->follow ? weft_follow_reader(l->follow) : NULL;
}

const struct live_totals *live_totals(const struct live *l)
{
    return &l->totals;
}

const char *live_name(const struct live *l, uint32_t name)
{
    return name < l->names.names && l->names.name[name].text ? l->names.name[name].text : "";
}

const struct live_promise *live_promises(const struct live *l, uint32_t *count)
{
    *count = l->pending.promises;
    return l->pending.promise;
}

const struct live_promise *live_find(const struct live *l, uint64_t id)
{
    return live_pending_find(&l->pending, id);
}

const struct live_row *live_rows(const struct live *l, uint32_t *count)
{
    *count = l->rows.rows;
    return l->rows.row;
}

const struct live_thread *live_threads(const struct live *l, uint32_t *count)
{
    *count = l->threads;
    return l->thread;
}

const struct live_counter *live_counters(const struct live *l, uint32_t *count)
{
    *count = l->counters;
    return l->counter;
}

void live_close(struct live *l)
{
    if (!l)
        return;
    weft_follow_close(l->follow);
    weft_input_close(&l->in);
    live_names_fini(&l->names);
    live_pending_fini(&l->pending);
    live_table_fini(&l->rows);
    weft_idmap_free(l->by_number);
    weft_free_all(l->thread, l->of_stream, l->counter, l);
}
