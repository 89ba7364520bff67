/* SPDX-License-Identifier: ISC */
/* Turns events into promises, by the rules of docs/model.md, one event at a time. */
#include "model/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

enum { FAR = 12, NEAR = 5 }; /* events */

int model_no_room(struct weft_builder *b, uint32_t used, const char *what)
{
    if (used >= WEFT_NONE - 1)
        return weft_error_set(b->err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                              "has more than 4294967294 %s; look at a part of it", what);
    return weft_error_set(b->err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory after %u %s", used,
                          what);
}

static int no_promise(struct weft_builder *b)
{
    if (b->m->promises >= WEFT_PROMISES_MAX)
        return weft_error_set(b->err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                              "has more than %u promises; look at a part of it",
                              WEFT_PROMISES_MAX - 1);
    return model_no_room(b, b->m->promises, "promises");
}

/* Gives the next number to a new promise, unless it already has it. Returns false if there is no memory. */
static bool takes_number(const struct weft_builder *b, uint64_t id)
{
    return b->number ? model_number(b->number, b->event, id) == b->m->promises
                     : weft_idmap_put(b->m->ids, id, b->m->promises);
}

int model_add_promise(struct weft_builder *b, uint64_t id, uint32_t creator, int64_t start,
                      uint32_t type, uint32_t *out)
{
    struct weft_model *m = b->m;
    if (m->promises >= WEFT_PROMISES_MAX ||
        !model_grow(&m->promise, m->promises, &b->promise_room, sizeof *m->promise) ||
        !takes_number(b, id))
        return no_promise(b);
    *out = m->promises++;
    struct weft_promise *p = &m->promise[*out];
    *p = (struct weft_promise){
        .id = id,
        .start_ns = start,
        .end_ns = INT64_MIN,
        .creator = creator,
        .becomes = WEFT_NONE,
        .first_interaction = WEFT_NONE,
        .type = type,
        .reason_or_final = WEFT_NONE,
        .place = MODEL_NO_PLACE,
        .outcome = WEFT_PENDING,
    };
    model_set_checked(p, INT64_MIN);
    return 0;
}

/* The promise that p has become in the end; amortized constant time. */
static uint32_t follow(struct weft_model *m, uint32_t p)
{
    struct weft_promise *at = m->promise;
    while (at[p].becomes != WEFT_NONE) {
        uint32_t next = at[p].reason_or_final;
        if (at[next].becomes == WEFT_NONE)
            return next;
        p = at[p].reason_or_final = at[next].reason_or_final;
    }
    return p;
}

int model_lookup(struct weft_builder *b, uint64_t id, uint32_t *out)
{
    uint32_t known = model_seek(b, id);
    if (known == WEFT_IDMAP_NONE)
        return model_add_promise(b, id, WEFT_ROOT, b->m->quirks.one_clock ? 0 : b->now,
                                 b->preexisting_text, out);
    *out = follow(b->m, known);
    return 0;
}

static int lookup_both(struct weft_builder *b, const struct weft_event *ev, uint32_t *x,
                       uint32_t *y)
{
    TRY(model_lookup(b, ev->a, x));
    return model_lookup(b, ev->b, y);
}

static int add_bytes(struct weft_builder *b, const char *text, uint32_t size, uint32_t *out)
{
    *out = weft_strings_add(b->m->strings, text, size);
    return *out == WEFT_STRINGS_NONE ? model_no_room(b, weft_strings_count(b->m->strings), "texts")
                                     : 0;
}

int model_add_text(struct weft_builder *b, const struct weft_event *ev, uint32_t *out)
{
    return add_bytes(b, ev->text, ev->text_size, out);
}

int model_add_name(struct weft_builder *b, const char *name, uint32_t *out)
{
    return add_bytes(b, name, (uint32_t)strlen(name), out);
}

/* Adds an interaction of its actor. A read replaces the actor's wait for the same promise, if
 * nothing came in between. */
static int interact(struct weft_builder *b, enum weft_interaction_kind kind, uint32_t actor,
                    uint32_t other)
{
    struct weft_model *m = b->m;
    uint32_t this = m->interactions;
    APPEND(b, m->interaction, m->interactions, b->interaction_room, "interactions",
           (struct weft_interaction){.time_ns = b->now,
                                     .actor = actor & (WEFT_PROMISES_MAX - 1),
                                     .other = other & (WEFT_PROMISES_MAX - 1),
                                     .kind = kind,
                                     .next = WEFT_NONE});
    struct weft_promise *p = &m->promise[actor];
    uint32_t last = p->first_interaction;
    if (kind == WEFT_READS && last != WEFT_NONE && m->interaction[last].kind == WEFT_WAITS &&
        m->interaction[last].other == other)
        m->interaction[last].replaced = true;
    p->first_interaction = this;
    return 0;
}

int model_add_label(struct weft_builder *b, int64_t now, uint32_t promise, bool is_change,
                    uint32_t what, uint32_t next)
{
    struct weft_model *m = b->m;
    if (what > WEFT_TEXTS_MAX)
        return weft_error_set(b->err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                              "has more than %u %s; look at a part of it", WEFT_TEXTS_MAX,
                              is_change ? "counter changes" : "texts");
    APPEND(b, m->label, m->labels, b->label_room, "labels",
           (struct weft_label){.time_ns = now,
                               .promise = promise,
                               .what = what & WEFT_TEXTS_MAX,
                               .is_change = is_change,
                               .next = next});
    return 0;
}

/* Returns true if a promise has ended and any other end is ignored. A promise that was forgotten
 * may still turn out to be resolved, by a thread whose clock is a little behind. */
static bool has_ended(const struct weft_builder *b, uint32_t promise)
{
    enum weft_outcome o = b->m->promise[promise].outcome;
    return !b->m->quirks.last_end_counts && promise != WEFT_ROOT && o != WEFT_PENDING &&
           o != WEFT_FORGOTTEN;
}

static int on_resolves(struct weft_builder *b, const struct weft_event *ev)
{
    static const unsigned char outcomes[WEFT_EVENT_KINDS] = {
        [WEFT_EVENT_FULFILLS] = WEFT_FULFILLED,
        [WEFT_EVENT_FAILS] = WEFT_FAILED,
        [WEFT_EVENT_RESOLVES] = WEFT_RESOLVED,
        [WEFT_EVENT_CANCELS] = WEFT_CANCELLED,
    };
    const unsigned char outcome = outcomes[ev->kind];
    uint32_t resolver, promise, reason = WEFT_NONE;
    TRY(lookup_both(b, ev, &resolver, &promise));
    if (ev->text)
        TRY(model_add_text(b, ev, &reason));
    struct weft_promise *p = &b->m->promise[promise];
    bool again = has_ended(b, promise);
    bool late = again && outcome == WEFT_CANCELLED;
    if (!ev->unsaid)
        TRY(interact(b,
                     late    ? WEFT_CANCELS_LATE
                     : again ? WEFT_RESOLVES_AGAIN
                             : WEFT_RESOLVES,
                     resolver, promise));
    if (promise == WEFT_ROOT) {
        b->m->contradictions.on_loop++;
        return 0;
    }
    if (p->outcome != WEFT_PENDING && !late)
        b->m->contradictions.resolved_twice++;
    if (again)
        return 0;
    p->outcome = outcome & 7u;
    p->end_ns = b->now;
    p->reason_or_final = reason;
    return 0;
}

/* Nobody can resolve it any more. If it was already resolved, the event adds nothing. */
static int on_forgets(struct weft_builder *b, const struct weft_event *ev)
{
    uint32_t promise;
    TRY(model_lookup(b, ev->a, &promise));
    struct weft_promise *p = &b->m->promise[promise];
    if (promise == WEFT_ROOT) {
        b->m->contradictions.on_loop++;
    } else if (p->outcome == WEFT_PENDING) {
        p->outcome = WEFT_FORGOTTEN;
        p->end_ns = b->now;
    }
    return 0;
}

static int on_notifies(struct weft_builder *b, const struct weft_event *ev)
{
    uint32_t notifier, condition;
    TRY(lookup_both(b, ev, &notifier, &condition));
    model_set_checked(&b->m->promise[condition], b->now);
    return ev->unsaid ? 0 : interact(b, WEFT_NOTIFIES, notifier, condition);
}

static int on_becomes(struct weft_builder *b, const struct weft_event *ev)
{
    uint32_t p, q;
    TRY(lookup_both(b, ev, &p, &q));
    struct weft_model *m = b->m;
    if (p == WEFT_ROOT) {
        m->contradictions.on_loop++;
        return 0;
    }
    if (p == q) {
        m->contradictions.circles++;
        return 0;
    }
    if (ev->promoted && has_ended(b, p))
        return 0;
    if (m->promise[p].outcome != WEFT_PENDING)
        m->contradictions.resolved_twice++;
    /* For a promoted event it is not known on which stream it was. */
    const uint32_t stream = ev->stream == WEFT_STREAM_NONE ? 0 : ev->stream;
    struct weft_running *s = model_stream(b, stream);
    if (has_ended(b, p))
        return interact(b, WEFT_RESOLVES_AGAIN, s->promise == WEFT_NONE ? WEFT_ROOT : s->promise,
                        p);
    m->promise[p].outcome = WEFT_BECAME;
    m->promise[p].end_ns = b->now;
    m->promise[p].becomes = q;
    m->promise[p].reason_or_final = q;
    return s->promise == p && !ev->promoted ? model_switch(b, s, b->now, q) : 0;
}

/* p runs from now on, on the event's stream. */
static int runs_on(struct weft_builder *b, const struct weft_event *ev, uint32_t p)
{
    return model_switch(b, model_stream(b, ev->stream), b->now, p);
}

static int on_reads(struct weft_builder *b, const struct weft_event *ev)
{
    if (ev->b == WEFT_ID_LOOP && b->m->quirks.loop_is_sleep)
        return 0;
    uint32_t reader, source;
    TRY(lookup_both(b, ev, &reader, &source));
    if (ev->kind == WEFT_EVENT_READ)
        TRY(runs_on(b, ev, reader));
    if (source == WEFT_ROOT && ev->b == WEFT_ID_LOOP)
        return 0;
    if (ev->kind == WEFT_EVENT_TRY_READ) {
        model_set_checked(&b->m->promise[source], b->now);
        return interact(b, WEFT_WAITS, reader, source);
    }
    return interact(b, WEFT_READS, reader, source);
}

static int on_signals(struct weft_builder *b, const struct weft_event *ev)
{
    uint32_t receiver, source;
    TRY(lookup_both(b, ev, &receiver, &source));
    if (ev->kind == WEFT_EVENT_SIGNAL)
        TRY(runs_on(b, ev, receiver));
    model_set_checked(&b->m->promise[receiver], b->now);
    return interact(b, WEFT_SIGNALS, source, receiver);
}

static int on_mark(struct weft_builder *b, const struct weft_event *ev)
{
    uint32_t promise;
    TRY(model_lookup(b, ev->a, &promise));
    if (promise == WEFT_ROOT)
        return 0;
    if (ev->kind == WEFT_EVENT_SHOULD_RESOLVE)
        b->m->promise[promise].should_resolve = true;
    else
        b->m->promise[promise].background = true;
    return 0;
}

static int on_label(struct weft_builder *b, const struct weft_event *ev)
{
    uint32_t text, promise;
    TRY(model_add_text(b, ev, &text));
    if (ev->a == WEFT_ID_LOOP)
        return 0;
    TRY(model_lookup(b, ev->a, &promise));
    if (text != b->should_resolve_text)
        return model_add_label(b, b->now, promise, false, text, WEFT_NONE);
    b->m->promise[promise].should_resolve = true;
    return 0;
}

/* The counter with that name; added if it is new. */
static int counter_named(struct weft_builder *b, uint32_t name, uint32_t *out)
{
    struct weft_model *m = b->m;
    if (!weft_reach(&b->counter_of, name, &b->counter_of_room, sizeof *b->counter_of, 0xff))
        return model_no_room(b, m->counters, "counters");
    if (b->counter_of[name] == WEFT_NONE) {
        b->counter_of[name] = m->counters;
        APPEND(b, m->counter, m->counters, b->counter_room, "counters",
               (struct weft_counter_info){
                   .name = name, .first_change = WEFT_NONE, .last_change = WEFT_NONE});
    }
    *out = b->counter_of[name];
    return 0;
}

static int on_counter(struct weft_builder *b, const struct weft_event *ev)
{
    struct weft_model *m = b->m;
    uint32_t promise, name, counter = 0, this = m->changes;
    TRY(model_lookup(b, ev->a, &promise));
    TRY(model_add_text(b, ev, &name));
    TRY(counter_named(b, name, &counter));
    struct weft_counter_info *c = &m->counter[counter];
    /* Unsigned, since the values come from the file. */
    uint64_t old = c->last_change == WEFT_NONE ? 0 : (uint64_t)m->change[c->last_change].value;
    uint64_t given = (uint64_t)ev->value;
    bool add = ev->kind == WEFT_EVENT_INCREASE;
    uint64_t value = !add ? given : ev->has_total ? (uint64_t)ev->total : old + given;
    APPEND(b, m->change, m->changes, b->change_room, "counter changes",
           (struct weft_change){.time_ns = b->now,
                                .value = (int64_t)value,
                                .amount = (int64_t)(add ? given : given - old),
                                .counter = counter,
                                .next = WEFT_NONE});
    if (c->first_change == WEFT_NONE) {
        c->first_change = this;
        c->before_known = add && ev->has_total; /* others: find_before */
        c->before = c->before_known ? (int64_t)(value - given) : 0;
    } else
        m->change[c->last_change].next = this;
    c->last_change = this;
    return model_add_label(b, b->now, promise, true, this, WEFT_NONE);
}

static int on_gc(struct weft_builder *b, const struct weft_event *ev)
{
    struct weft_model *m = b->m;
    uint64_t duration = (uint64_t)ev->value;
    int64_t start = duration < WEFT_TIME_MAX ? b->now - (int64_t)duration : -WEFT_TIME_MAX;
    APPEND(b, m->pause, m->pauses, b->pause_room, "collections",
           (struct weft_span){.start_ns = start, .end_ns = b->now});
    return 0;
}

/* The event does not say when in the turn it was preempted. The best guess is that it happened
 * during the longest time without an event, and ended when that ended. */
static int on_preempted(struct weft_builder *b, const struct weft_event *ev)
{
    struct weft_model *m = b->m;
    const struct weft_running *s = model_stream(b, ev->stream);
    const uint64_t duration = (uint64_t)ev->value, turn = (uint64_t)(b->now - s->turn_ns);
    if (duration == 0 || s->turn_ns >= b->now)
        return 0;
    const int64_t length = (int64_t)(duration < turn ? duration : turn);
    const int64_t start =
        s->still_until_ns - s->turn_ns > length ? s->still_until_ns - length : s->turn_ns;
    APPEND(b, m->preemption, m->preemptions, b->preemption_room, "preemptions",
           (struct weft_preemption){start, start + length, ev->stream});
    return 0;
}

/* The recording was off: whatever ran then is taken to have run until the pause began. It is not
 * known what runs now. */
static int pass_pause(struct weft_builder *b, struct weft_running *s)
{
    struct weft_model *m = b->m;
    const int64_t from = s->last_ns > m->paused_ns ? s->last_ns : m->paused_ns;
    APPEND(b, m->missing, m->missings, b->missing_room, "gaps",
           (struct weft_span){.start_ns = from, .end_ns = m->resumed_ns});
    return model_switch(b, s, from, WEFT_NONE);
}

/* Finds out what runs on the event's stream if no event has said so: at its beginning, and after a
 * gap. */
static int on_stream(struct weft_builder *b, const struct weft_event *ev)
{
    struct weft_running *s = model_stream(b, ev->stream);
    if (!s)
        return model_no_room(b, b->streams, "streams");
    bool new = !s->begun;
    if (new) {
        s->begun = true;
        s->first_ns = b->now;
    }
    if (!b->m->quirks.no_running && (new || ev->gap)) {
        uint32_t running;
        s->suspended = false;
        if (!new && ev->missing)
            APPEND(b, b->m->missing, b->m->missings, b->missing_room, "gaps",
                   (struct weft_span){.start_ns = s->last_ns, .end_ns = b->now});
        TRY(model_switch(b, s, s->last_ns, WEFT_NONE));
        TRY(model_lookup(b, ev->running, &running));
        TRY(model_switch(b, s, b->now, running));
    } else if (s->last_ns < b->m->resumed_ns && b->now >= b->m->resumed_ns) {
        TRY(pass_pause(b, s));
    }
    if (new || ev->gap || ev->kind == WEFT_EVENT_RESUME)
        s->turn_ns = s->still_ns = s->still_until_ns = b->now;
    if (b->now - s->last_ns > s->still_until_ns - s->still_ns && s->last_ns >= s->turn_ns) {
        s->still_ns = s->last_ns;
        s->still_until_ns = b->now;
    }
    s->last_ns = b->now;
    return 0;
}

static int on_kind(struct weft_builder *b, const struct weft_event *ev)
{
    uint32_t promise;
    switch ((enum weft_event_kind)ev->kind) {
    case WEFT_EVENT_CREATES:
        return model_on_creates(b, ev);
    case WEFT_EVENT_FULFILLS:
    case WEFT_EVENT_FAILS:
    case WEFT_EVENT_RESOLVES:
    case WEFT_EVENT_CANCELS:
        return on_resolves(b, ev);
    case WEFT_EVENT_FORGETS:
        return on_forgets(b, ev);
    case WEFT_EVENT_BECOMES:
        return on_becomes(b, ev);
    case WEFT_EVENT_READ:
    case WEFT_EVENT_READ_LATER:
    case WEFT_EVENT_TRY_READ:
        return on_reads(b, ev);
    case WEFT_EVENT_SIGNAL:
    case WEFT_EVENT_SIGNAL_ONLY:
        return on_signals(b, ev);
    case WEFT_EVENT_NOTIFIES:
        return on_notifies(b, ev);
    case WEFT_EVENT_LABEL:
        return on_label(b, ev);
    case WEFT_EVENT_SHOULD_RESOLVE:
    case WEFT_EVENT_BACKGROUND:
        return on_mark(b, ev);
    case WEFT_EVENT_INCREASE:
    case WEFT_EVENT_COUNTER:
        return on_counter(b, ev);
    case WEFT_EVENT_SWITCH:
        TRY(model_lookup(b, ev->a, &promise));
        return runs_on(b, ev, promise);
    case WEFT_EVENT_SUSPEND:
        return model_suspend(b, model_stream(b, ev->stream));
    case WEFT_EVENT_RESUME:
        return runs_on(b, ev, WEFT_ROOT);
    case WEFT_EVENT_GC:
        return on_gc(b, ev);
    case WEFT_EVENT_PREEMPTED:
        return on_preempted(b, ev);
    case WEFT_EVENT_ACQUIRES:
    case WEFT_EVENT_RELEASES:
        return model_on_holds(b, ev);
    case WEFT_EVENT_SPAN:
    case WEFT_EVENT_SPAN_PARENT:
        return model_on_span(b, ev);
    case WEFT_EVENT_SNAPSHOT:
    case WEFT_EVENT_KINDS:
        break;
    }
    return 0;
}

/* The promise has ended, approximately now, unless an event has said how and when. */
static void on_ended(struct weft_builder *b, const struct weft_event *ev)
{
    uint32_t at = model_seek(b, ev->b);
    if (at == WEFT_IDMAP_NONE || at == WEFT_ROOT || b->m->promise[at].outcome != WEFT_PENDING)
        return;
    struct weft_promise *p = &b->m->promise[at];
    int64_t start = p->created || p->start_ns < 0 ? p->start_ns : 0;
    p->outcome = WEFT_RESOLVED;
    p->end_ns = b->now > start ? b->now : start;
}

/* Sets when the recording was off; the first event is known. */
static void find_pause(struct weft_builder *b)
{
    const struct weft_process_facts *p = &b->facts->process;
    struct weft_model *m = b->m;
    if (!p->was_paused)
        return;
    m->paused_ns = weft_model_time(p->paused_ns, m->first_ns);
    m->resumed_ns = p->is_paused ? WEFT_TIME_MAX : weft_model_time(p->resumed_ns, m->first_ns);
}

static int on_event(struct weft_builder *b, const struct weft_event *ev)
{
    struct weft_model *m = b->m;
    if (!b->begun) {
        m->first_ns = weft_reader_first(b->reader);
        find_pause(b);
    }
    b->begun = true;
    b->now = weft_model_time(ev->time_ns, m->first_ns);
    if (ev->promoted) { /* it says something about a promise, but nothing about what ran */
        m->promoted_events++;
        if (ev->kind != WEFT_EVENT_RESOLVES)
            return on_kind(b, ev);
        on_ended(b, ev);
        return 0;
    }
    m->end_ns = weft_later(m->end_ns, b->now);
    m->events_total++;
    m->events[ev->kind]++;
    TRY(on_stream(b, ev));
    return on_kind(b, ev);
}

static int begin(struct weft_builder *b)
{
    struct weft_model *m = b->m;
    m->strings = weft_strings_new();
    m->ids = weft_idmap_new();
    if (!m->strings || !m->ids)
        return model_no_room(b, 0, "promises");
    TRY(model_add_name(b, "__should_resolve", &b->should_resolve_text));
    memset(b->type_text, 0xff, sizeof b->type_text);
    TRY(model_add_name(b, "preexisting", &b->preexisting_text));
    uint32_t root;
    return model_add_promise(b, WEFT_ID_LOOP, WEFT_ROOT, 0, b->preexisting_text, &root);
}

static struct weft_losses losses(const struct weft_reader *r)
{
    const struct weft_reader_facts *f = weft_reader_facts(r);
    const struct weft_damage *d = weft_reader_damage(r);
    return (struct weft_losses){
        .overwritten = f->wrapped || f->overwritten_packets || f->overwritten_events,
        .overwritten_events = f->overwritten_events,
        .streams = f->overwritten_elsewhere > 0,
        .pending = f->promotion.lacks ||
                   (!f->quirks.mirage_kinds && !f->promotion.known && f->overwritten_packets),
        .discarded = f->discarded_events + f->missing_events + f->missing_packets +
                     f->unknown_events + f->unknown_packets + f->changed_packets + d->problems,
        .ended = f->ended == WEFT_ENDED_EXITED ? WEFT_ENDED_STOPPED : f->ended,
    };
}

/* Impossible values count as not known. */
static void find_wall(struct weft_builder *b)
{
    struct weft_model *m = b->m;
    int64_t wall = 0;
    m->has_wall = b->facts->has_wall && m->first_ns <= INT64_MAX &&
                  !__builtin_add_overflow((int64_t)m->first_ns, b->facts->wall_ns, &wall) &&
                  wall >= 0 && wall <= 2 * WEFT_TIME_MAX;
    m->wall_ns = m->has_wall ? wall : 0;
}

/* A program that hangs makes no events, so the trace ends when the recording did. A trace of
 * samples alone has no events at all, and begins when the recording did. */
static void extend(struct weft_builder *b)
{
    uint64_t until = b->facts->process.until_ns;
    bool samples = b->facts->sample_packets && !b->begun;
    if (samples)
        b->m->first_ns = b->facts->process.start_ns;
    uint64_t since = b->facts->process.start_ns;
    if (b->facts->is_part && b->facts->part.from_ns > 0)
        b->m->from_ns = b->facts->part.from_ns;
    b->m->begin_ns = since && since < b->m->first_ns ? weft_model_time(since, b->m->first_ns) : 0;
    b->m->end_known = (b->m->events_total || samples) && until > b->m->first_ns;
    int64_t end = b->m->end_known ? weft_model_time(until, b->m->first_ns) : 0;
    b->m->latest_ns = b->m->end_ns;
    b->m->end_ns = weft_later(b->m->end_ns, end);
}

/* Sets the time from which on all events are there, except discarded ones. */
static void find_known(struct weft_builder *b)
{
    const struct weft_reader_facts *f = b->facts;
    struct weft_model *m = b->m;
    m->known_ns = f->process.was_paused ? m->resumed_ns : INT64_MIN;
    if (f->quirks.at_once)
        m->known_ns = weft_model_time(f->process.start_ns, m->first_ns);
    if (!f->wrapped && !f->overwritten_packets && !f->overwritten_events)
        return;
    int64_t since = f->overwritten_ns ? weft_model_time(f->overwritten_ns, m->first_ns) : 0;
    m->known_ns = since > m->known_ns ? since : m->known_ns;
    for (uint32_t i = 0; f->stream && i < f->streams && i < b->streams; i++)
        if (f->stream[i].overwritten && b->stream[i].begun && b->stream[i].first_ns > m->known_ns)
            m->known_ns = b->stream[i].first_ns;
}

/* Sets the thread that each stream belongs to. */
static int name_threads(struct weft_builder *b)
{
    struct weft_model *m = b->m;
    const struct weft_reader_facts *f = b->facts;
    memcpy(m->boot_id, f->process.boot_id, sizeof m->boot_id);
    m->ended = f->ended;
    m->exit = f->process.exit;
    if (!f->stream || f->streams < m->streams || !m->streams)
        return 0;
    m->stream_thread = weft_resize(NULL, m->streams, sizeof *m->stream_thread);
    if (!m->stream_thread)
        return model_no_room(b, m->streams, "streams");
    for (uint32_t i = 0; i < m->streams; i++) {
        struct weft_stream_thread *t = &m->stream_thread[i];
        *t = (struct weft_stream_thread){.thread = f->stream[i].thread,
                                         .process = f->process.pid,
                                         .overwritten = f->stream[i].overwritten > 0,
                                         .first_ns = i < b->streams && b->stream[i].begun
                                                         ? b->stream[i].first_ns
                                                         : WEFT_TIME_MAX};
        TRY(model_add_name(b, f->stream[i].name, &t->name));
    }
    return 0;
}

/* Events that come soon are about promises that lie anywhere in memory: first asks for these, then for what they became. */
static inline void fetch(const struct weft_model *m, const uint32_t number[WEFT_NUMBERS])
{
    for (int i = MODEL_A; i <= MODEL_B; i++)
        if (number[i] < m->promises)
            __builtin_prefetch(&m->promise[number[i]], 1);
}

static inline void fetch_final(const struct weft_model *m, const uint32_t number[WEFT_NUMBERS])
{
    for (int i = MODEL_A; i <= MODEL_B; i++)
        if (number[i] < m->promises && m->promise[number[i]].becomes != WEFT_NONE)
            __builtin_prefetch(&m->promise[m->promise[number[i]].reason_or_final], 1);
}

static int build_batch(struct weft_builder *b, const struct weft_event *ev, ptrdiff_t n)
{
    const uint32_t(*number)[WEFT_NUMBERS] = weft_reader_numbers(b->reader);
    int rc = 0;
    for (ptrdiff_t i = 0; i < n && rc == 0; i++) {
        if (number && i + FAR < n) {
            fetch(b->m, number[i + FAR]);
            fetch_final(b->m, number[i + NEAR]);
        }
        b->event = &ev[i];
        b->number = number ? number[i] : NULL;
        rc = on_event(b, &ev[i]);
    }
    b->number = NULL;
    return rc;
}

static int read_all(struct weft_builder *b, struct weft_reader *r, weft_progress_fn *progress,
                    void *data)
{
    struct model_numbers numbers = {
        .ids = b->m->ids, .promises = b->m->promises, .quirks = b->m->quirks};
    const struct weft_event *ev;
    ptrdiff_t n;
    int rc = 0;
    weft_reader_read_ahead(r, model_number_all, &numbers);
    while (rc == 0 && (n = weft_reader_next(r, &ev, b->err)) != 0) {
        rc = n < 0 ? (int)n : build_batch(b, ev, n);
        if (rc == 0 && progress && !progress(data, weft_reader_progress(r)))
            rc = weft_error_set(b->err, WEFT_E_CANCELED, WEFT_NO_OFFSET, "stopped on request");
    }
    weft_reader_stop_ahead(r);
    free(numbers.begun);
    return rc;
}

int weft_model_build(struct weft_model **out, struct weft_reader *r, weft_progress_fn *progress,
                     void *data, struct weft_error *err)
{
    *out = NULL;
    const struct weft_reader_facts *facts = weft_reader_facts(r);
    struct weft_builder b = {.reader = r, .facts = facts, .err = err};
    b.m = calloc(1, sizeof *b.m);
    if (!b.m)
        return weft_no_memory(err);
    b.m->quirks = facts->quirks;
    b.m->paused_ns = b.m->resumed_ns = WEFT_TIME_MIN;
    int rc = begin(&b);
    if (rc == 0)
        rc = read_all(&b, r, progress, data);
    if (rc == 0) {
        extend(&b);
        find_wall(&b);
        find_known(&b);
        rc = model_finish(&b);
    }
    if (rc == 0)
        rc = name_threads(&b);
    if (rc == 0)
        rc = model_add_given_up(&b);
    b.m->losses = losses(r);
    b.m->damage = *weft_reader_damage(r);
    b.m->losses.pending |= b.unsure;
    weft_free_all(b.counter_of, b.site, b.stream, b.sleeper);
    if (rc < 0)
        weft_model_free(b.m);
    else
        *out = b.m;
    return rc;
}
