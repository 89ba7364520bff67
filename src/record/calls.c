/* SPDX-License-Identifier: ISC */
/* The calls of weft.h. Each writes one event into its thread's packet.
 *
 * An event is written behind the part that content_bits covers; then content_bits is advanced with release
 * order. Until then no reader sees the event: if the process is killed in the middle, the event was not
 * recorded. A signal handler that interrupts the writing finds the slot busy and uses the slot's second writer,
 * which is a stream of its own.
 *
 * weft_stop and weft_record_threads_quiet rely on this order: a call sets busy before it checks the state
 * again, and clears busy after its last store. The processor may reorder the store and the check; so weft_stop,
 * after it has cleared the state, makes every thread pass a barrier (membarrier).
 *
 * A promise's home is the block of numbers of the packet in which it was created. A thread's hazard names the
 * home whose ended byte the thread is about to store (pool.c). */
#include "format/events.h"
#include "format/ids.h"
#include "format/listed.h"
#include "record/record.h"
#include <weft/weft.h>

/* The whole path of an event is inlined into one function per call, without a stack frame; rare cases are in
 * functions of their own. */
#define HOT static inline __attribute__((always_inline))
#define COLD static __attribute__((noinline, cold))

enum {
    EVENT_MAX = 40, /* largest form */
    TEXT_HEAD = 16, /* of a text that precedes its event */
};

/* One event being recorded. */
struct pen {
    struct thread *t;
    struct writer *w;
    uint64_t ticks;
    unsigned char *at; /* where its next bytes go */
    uint32_t level;    /* writers in use before this one */
};

COLD void discard(struct writer *w)
{
    if (w)
        w->discarded++;
    __atomic_fetch_add(&weft_record_rec.facts->discarded_events, 1, __ATOMIC_RELAXED);
}

HOT void set_busy(struct thread *t, uint32_t level)
{
    __atomic_store_n(&t->busy, level, __ATOMIC_RELEASE); /* (H) the last event is written */
}

/* The writer does not belong to the current recording: it belongs to an older one or to none, or weft ctl asks
 * for something. Returns false if there is no recording. */
COLD bool renew(struct thread *t, struct writer *w, uint32_t level)
{
    if (level == 0) { /* no call is interrupted, so a recording may begin or end here */
        set_busy(t, 0);
        weft_record_asked();
        set_busy(t, 1);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
    return weft_record_is_on() &&
           (w->generation == weft_record_rec.generation || weft_record_thread_renew(t, w));
}

/* The first call of this thread, or of any thread. */
COLD struct thread *first_call(void)
{
    weft_record_asked();
    return this_thread();
}

COLD void refuse(struct thread *t, uint32_t level)
{
    if (level < 2) {
        set_busy(t, level);
    } else if (weft_record_is_on()) { /* weft_stop waits until interrupted events are complete */
        discard(NULL);
        weft_record_refused();
    }
}

/* The time of an event by a clock other than the processor's counter, or the time at which this turn of the
 * event loop began. */
static __attribute__((noinline)) uint64_t other_ticks(struct writer *w)
{
    if (!weft_record_rec.turn_clock)
        return weft_record_clock_ticks(&weft_record_rec.clock);
    if (!w->ticks)
        w->ticks = weft_record_clock_ticks(&weft_record_rec.clock);
    return w->ticks;
}

HOT uint64_t event_ticks(struct writer *w)
{
    if (__builtin_expect(weft_record_rec.quick_clock, 1))
        return clock_counter();
    return __builtin_expect(weft_record_rec.turn_clock && w->ticks, 1) ? w->ticks : other_ticks(w);
}

/* Begins an event. Returns false if there is nothing to record. */
HOT bool pen_up(struct pen *pen)
{
    struct thread *t = this_thread();
    if (__builtin_expect(!t, 0) && !(t = first_call()))
        return false;
    struct writer *w = &t->writer[0];
    uint32_t level = t->busy;
    if (__builtin_expect(level, 0)) {
        if (level >= 2) {
            refuse(t, level);
            return false;
        }
        w = &t->writer[1];
    }
    set_busy(t, level + 1);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(w->generation != recording(), 0) && !renew(t, w, level)) {
        refuse(t, level);
        return false;
    }
    pen->t = t;
    pen->w = w;
    pen->level = level;
    pen->ticks = event_ticks(w);
    return true;
}

/* A call about promise 0: there is nothing to record. It still checks for requests of weft ctl, because the
 * process may make no other calls. */
COLD void only_heed(void)
{
    const struct thread *t = this_thread();
    if (!t || t->busy == 0)
        weft_record_asked();
}

/* Like pen_up, for an event about a promise that may be 0: tracked is then false. */
HOT bool pen_up_for(struct pen *pen, bool tracked)
{
    if (__builtin_expect(!tracked, 0)) {
        only_heed();
        return false;
    }
    return pen_up(pen);
}

HOT void pen_down(struct pen *pen)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    set_busy(pen->t, pen->level);
}

/* Makes room for an event and extra bytes before it. id: a promise in the event. */
HOT bool pen_room(struct pen *pen, size_t extra, uint64_t id)
{
    struct writer *w = pen->w;
    if (__builtin_expect((size_t)(w->end - w->at) < EVENT_MAX + extra, 0) &&
        !weft_record_pool_claim(pen->t, w, EVENT_MAX + extra, pen->ticks, id)) {
        discard(w);
        return false;
    }
    pen->at = w->at;
    return true;
}

HOT void put32(struct pen *pen, uint32_t v)
{
    memcpy(pen->at, &v, 4);
    pen->at += 4;
}

HOT void put64(struct pen *pen, uint64_t v)
{
    memcpy(pen->at, &v, 8);
    pen->at += 8;
}

HOT void put_head(struct pen *pen, unsigned form)
{
    put64(pen,
          (uint64_t)form << WEFT_TIME_BITS | (pen->ticks & ((UINT64_C(1) << WEFT_TIME_BITS) - 1)));
}

/* Makes the event visible. */
HOT void pen_publish(struct pen *pen)
{
    struct writer *w = pen->w;
    w->at = pen->at;
    w->packet_events++;
    __atomic_store_n(&w->packet->packet.content_bits,
                     (uint64_t)(pen->at - (unsigned char *)w->packet) * 8, __ATOMIC_RELEASE);
}

/* Called before an event about p is written: whoever overwrites the packet must know that p is in it. */
HOT void concerns(const struct pen *pen, unsigned kind, uint64_t p, uint64_t other)
{
    struct writer *w = pen->w;
    if (__builtin_expect(p >= w->low && p <= w->high, 1))
        return;
    struct old_event *o = w->old; /* often the same event again */
    if (o && o->id == p && o->other == other && o->kind == kind)
        o->at = (uint16_t)((w->at - (unsigned char *)w->packet) / 4);
    else
        weft_record_pending_note(w, kind, p, other, w->at);
}

/* The ended byte of promise p is about to be stored in its home's packet: says so by the hazard. */
HOT void touch(const struct pen *pen, uint64_t p)
{
    __atomic_store_n(&pen->t->hazard[pen->w != &pen->t->writer[0]], home_of(p) + 1,
                     __ATOMIC_RELEASE); /* (Q) the byte stored before this one */
    if (__builtin_expect(weft_record_rec.fenced, 0))
        __atomic_thread_fence(__ATOMIC_SEQ_CST); /* with the one of weft_record_threads_barrier */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* The event just published, which begins at at, says that p is resolved. at is NULL if there was no room for
 * the event. */
HOT void ended(const struct pen *pen, unsigned kind, uint64_t p, const unsigned char *at)
{
    uint64_t packet;
    touch(pen, p);
    if (__builtin_expect(find_home(p, &packet), 1))
        /* Whoever sees the byte does not look for the event; touch keeps the compiler from storing the byte first. */
        __atomic_store_n(&ended_bytes(packet)[index_of(p)], 1, __ATOMIC_RELAXED);
    else
        weft_record_pending_resolved(pen->w, kind, p, at);
}

/* The event just published, which begins at at, says that p became q. p stays pending until q has ended; that
 * is checked when the event is overwritten, or later. */
static __attribute__((noinline)) void became(const struct pen *pen, uint64_t p, uint64_t q,
                                             const unsigned char *at)
{
    uint64_t packet;
    if (p == WEFT_LOOP || q == WEFT_LOOP || p == q) {
        ended(pen, WEFT_EVENT_BECOMES, p, at);
        return;
    }
    if (p < pen->w->low || p > pen->w->high)
        weft_record_pending_note(pen->w, WEFT_EVENT_BECOMES, p, q, at);
    touch(pen, p);
    if (p < pen->w->base || p >= pen->w->ids_end)
        weft_record_pending_links(pen->w);
    if (find_home(p, &packet)) {
        unsigned char pending = WEFT_BYTE_PENDING;
        /* No order is needed, as in ended. */
        __atomic_compare_exchange_n(&ended_bytes(packet)[index_of(p)], &pending, WEFT_BYTE_BECAME,
                                    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    } else {
        weft_record_pending_became(pen->w, p, q, pen->ticks);
    }
}

HOT bool short_id(const struct writer *w, uint64_t id, uint32_t *out)
{
    int64_t d = (int64_t)(id - w->base);
    if (id == WEFT_LOOP) {
        *out = (uint32_t)WEFT_SHORT_LOOP;
        return true;
    }
    *out = (uint32_t)d;
    return d > INT32_MIN && d <= INT32_MAX;
}

/* Writes a text before the event, because the strings packet had no room for it. */
COLD void put_text_before(struct pen *pen, const struct text_ref *text)
{
    uint32_t words = 1 + (text->size + 3) / 4;
    put_head(pen, WEFT_FORM_TEXT_FOLLOWS);
    put32(pen, words);
    put32(pen, text->size);
    memset(pen->at + (words - 1) * 4 - 4 * (words > 1), 0, words > 1 ? 4 : 0);
    if (text->size)
        memcpy(pen->at, text->text, text->size);
    pen->at += (words - 1) * 4;
}

static size_t before_size(const struct text_ref *text)
{
    return text->number == WEFT_STRING_INLINE ? TEXT_HEAD + ((size_t)text->size + 3) / 4 * 4 : 0;
}

/* The running promise is a property of the thread, but a stream knows it only from its own events; and a thread
 * has two streams once a handler has interrupted an event. */
HOT uint64_t running(const struct pen *pen)
{
    return pen->t->running;
}

/* Returns true if a reader of the stream knows what is running. */
HOT bool implicit(const struct pen *pen)
{
    return pen->t->running == pen->w->running;
}

HOT void set_running(struct pen *pen, uint64_t p)
{
    pen->t->running = p;
    pen->w->running = p;
}

HOT void rename_running(struct pen *pen, uint64_t p, uint64_t q)
{
    if (pen->t->running == p)
        pen->t->running = q;
    if (pen->w->running == p)
        pen->w->running = q;
}

/* Events with an actor and a promise: forms of 1, 2 or 4 words and so many more. */
HOT void put_pair(struct pen *pen, unsigned kind, unsigned more, bool by_running, uint64_t a,
                  uint64_t b)
{
    uint32_t short_a, short_b;
    bool near_b = short_id(pen->w, b, &short_b);
    if (by_running && near_b) {
        put_head(pen, (1 + more) * 32 + kind);
        put32(pen, short_b);
    } else if (!near_b || !short_id(pen->w, a, &short_a)) {
        put_head(pen, (4 + more) * 32 + kind);
        put64(pen, a);
        put64(pen, b);
    } else {
        put_head(pen, (2 + more) * 32 + kind);
        put32(pen, short_a);
        put32(pen, short_b);
    }
}

/* Events with one promise and no actor: forms of 1 or 2 words and so many more. */
HOT void put_single(struct pen *pen, unsigned kind, unsigned more, uint64_t p)
{
    uint32_t short_p;
    if (short_id(pen->w, p, &short_p)) {
        put_head(pen, (1 + more) * 32 + kind);
        put32(pen, short_p);
    } else {
        put_head(pen, (2 + more) * 32 + kind);
        put64(pen, p);
    }
}

/* Events with a duration: forms of 1 or 2 words. */
HOT void put_duration(struct pen *pen, unsigned kind, uint64_t ns, uint64_t most)
{
    put_head(pen, (ns <= most ? 1u : 2u) * 32 + kind);
    if (ns <= most)
        put32(pen, (uint32_t)ns);
    else
        put64(pen, ns);
    pen_publish(pen);
}

static bool has_actor(unsigned kind)
{
    return kind != WEFT_IMPL_FORGET && kind != WEFT_IMPL_SHOULD_RESOLVE &&
           kind != WEFT_IMPL_BACKGROUND;
}

/* The kinds of events that end a promise, and those that are kept for as long as the promise is pending. */
#define ENDINGS                                                                                    \
    (1u << WEFT_IMPL_FULFILL | 1u << WEFT_IMPL_BECOME | 1u << WEFT_IMPL_RESOLVE |                  \
     1u << WEFT_IMPL_CANCEL | 1u << WEFT_IMPL_FORGET)
#define KEPT                                                                                       \
    (1u << WEFT_IMPL_WAIT | 1u << WEFT_IMPL_NOTIFY | 1u << WEFT_IMPL_SHOULD_RESOLVE |              \
     1u << WEFT_IMPL_BACKGROUND)

void weft_impl_event(unsigned kind, weft_promise p)
{
    struct pen pen;
    if (!pen_up_for(&pen, p != 0))
        return;
    if (pen_room(&pen, 0, p)) {
        const unsigned char *at = pen.at;
        if (KEPT >> kind & 1)
            concerns(&pen, kind, p, running(&pen));
        if (has_actor(kind))
            put_pair(&pen, kind, 0, implicit(&pen), running(&pen), p);
        else
            put_single(&pen, kind, 0, p);
        pen_publish(&pen);
        if (ENDINGS >> kind & 1)
            ended(&pen, kind, p, at);
    } else if (ENDINGS >> kind & 1) {
        ended(&pen, kind, p, NULL); /* it has ended even if the event found no room */
    }
    pen_down(&pen);
}

void weft_impl_event_by(unsigned kind, weft_promise actor, weft_promise p)
{
    struct pen pen;
    if (!pen_up_for(&pen, p && actor))
        return;
    if (pen_room(&pen, 0, p)) {
        const unsigned char *at = pen.at;
        if (KEPT >> kind & 1)
            concerns(&pen, kind, p, actor);
        put_pair(&pen, kind, 0, false, actor, p);
        pen_publish(&pen);
        if (ENDINGS >> kind & 1) {
            if (kind == WEFT_IMPL_BECOME)
                became(&pen, actor, p, at);
            else
                ended(&pen, kind, p, at);
        }
    } else if (ENDINGS >> kind & 1) {
        ended(&pen, kind, kind == WEFT_IMPL_BECOME ? actor : p, NULL);
    }
    if (kind == WEFT_IMPL_READ || kind == WEFT_IMPL_SIGNAL)
        set_running(&pen, actor);
    else if (kind == WEFT_IMPL_BECOME)
        rename_running(&pen, actor, p);
    pen_down(&pen);
}

/* These kinds are events like the others. They have calls of their own, so that a program that uses them cannot be
 * linked with a library that does not know them. */
void weft_impl_hold(unsigned kind, weft_promise resource)
{
    weft_impl_event(kind, resource);
}

void weft_impl_hold_by(unsigned kind, weft_promise holder, weft_promise resource)
{
    weft_impl_event_by(kind, holder, resource);
}

weft_promise weft_impl_run(weft_promise p)
{
    struct pen pen;
    if (!pen_up(&pen))
        return WEFT_LOOP;
    weft_promise before = running(&pen);
    if (p && pen_room(&pen, 0, p)) {
        put_single(&pen, WEFT_EVENT_SWITCH, 0, p);
        pen_publish(&pen);
    }
    if (p)
        set_running(&pen, p);
    pen_down(&pen);
    return before;
}

/* The event loop begins or ends a turn. */
static inline void new_turn(struct pen *pen)
{
    if (__builtin_expect(weft_record_rec.turn_clock, 0))
        pen->w->ticks = pen->ticks = weft_record_clock_ticks(&weft_record_rec.clock);
}

#if __STDC_HOSTED__
static uint64_t in_ns(uint64_t ticks)
{
    const uint64_t hz = weft_record_rec.clock.hz;
    return ticks / hz * 1000000000 + ticks % hz * 1000000000 / hz;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The turns since the scheduler was last asked took long; this one took `turn` ticks. Records for how long
 * other threads had the core. Time in a blocking system call does not count: the thread wants no core then. */
COLD void ask_scheduler(struct pen *pen, uint64_t turn)
{
    enum { LEAST_NS = 1000000 };
    struct writer *w = pen->w;
    struct core_time now;
    if (!weft_record_core_time(&now)) {
        w->ran = 0;
        return;
    }
    const uint64_t had_ns = now.had_ns - w->core.had_ns, ran_ns = in_ns(w->ran);
    const uint64_t wanted_ns = least(now.wanted_ns - w->core.wanted_ns, in_ns(turn)),
                   ns = had_ns < ran_ns ? least(wanted_ns, ran_ns - had_ns) : 0;
    w->core = now;
    w->ran = 0;
    if (ns < LEAST_NS || !pen_room(pen, 0, WEFT_LOOP))
        return;
    put_duration(pen, WEFT_EVENT_PREEMPTED, ns, UINT32_MAX);
}

HOT void end_turn(struct pen *pen)
{
    struct writer *w = pen->w;
    const uint64_t turn = w->woken && pen->ticks > w->woken ? pen->ticks - w->woken : 0;
    w->woken = 0;
    w->ran += turn;
    if (__builtin_expect(w->ran >= weft_record_rec.core_ticks, 0))
        ask_scheduler(pen, turn);
}

HOT void begin_turn(struct pen *pen)
{
    if (pen->w == &pen->t->writer[0])
        pen->w->woken = pen->ticks;
}
#else
HOT void end_turn(struct pen *pen)
{
    (void)pen;
}

HOT void begin_turn(struct pen *pen)
{
    (void)pen;
}
#endif

void weft_impl_suspend(unsigned why)
{
    struct pen pen;
    if (!pen_up(&pen))
        return;
    new_turn(&pen);
    end_turn(&pen);
    if (pen_room(&pen, 0, WEFT_LOOP)) {
        put_head(&pen, WEFT_FORM_SUSPEND);
        put32(&pen, why);
        pen_publish(&pen);
    }
    set_running(&pen, WEFT_LOOP);
    pen_down(&pen);
}

void weft_impl_resume(void)
{
    struct pen pen;
    if (!pen_up(&pen))
        return;
    new_turn(&pen);
    begin_turn(&pen);
    if (pen_room(&pen, 0, WEFT_LOOP)) {
        put_head(&pen, WEFT_FORM_RESUME);
        pen_publish(&pen);
    }
    set_running(&pen, WEFT_LOOP);
    pen_down(&pen);
}

void weft_impl_gc(uint64_t duration_ns)
{
    struct pen pen;
    if (!pen_up(&pen))
        return;
    if (pen_room(&pen, 0, WEFT_LOOP))
        put_duration(&pen, WEFT_EVENT_GC, duration_ns, INT32_MAX);
    pen_down(&pen);
}

/* Texts */

static uint64_t mark_known(uint32_t number)
{
    return (uint64_t)weft_record_rec.generation << 32 | number;
}

/* The number that a call site remembers from this recording; 0: none. */
HOT uint32_t known_number(const uint64_t *known)
{
    uint64_t k = __atomic_load_n(known, __ATOMIC_ACQUIRE); /* the text is stored */
    return k >> 32 == weft_record_rec.generation ? (uint32_t)k : 0;
}

HOT struct text_ref text_of(struct weft_text *place, const char *text)
{
    uint32_t number = place->literal && text ? known_number(&place->known) : 0;
    if (number)
        return (struct text_ref){.number = number};
    struct text_ref ref = weft_record_text(text);
    if (place->literal && ref.number && ref.number != WEFT_STRING_INLINE)
        __atomic_store_n(&place->known, mark_known(ref.number), __ATOMIC_RELEASE);
    return ref;
}

HOT void put_label(struct pen *pen, weft_promise p, uint32_t number)
{
    put_single(pen, WEFT_EVENT_LABEL, 1, p);
    put32(pen, number);
    pen_publish(pen);
}

/* A label that is not a literal, or one that is used for the first time. */
static __attribute__((noinline)) void label_text(struct pen pen, struct weft_text *place,
                                                 weft_promise p, const char *text)
{
    struct text_ref ref = text_of(place, text);
    if (!pen_room(&pen, before_size(&ref), p))
        return;
    concerns(&pen, WEFT_EVENT_LABEL, p, 0);
    if (ref.number == WEFT_STRING_INLINE)
        put_text_before(&pen, &ref);
    put_label(&pen, p, ref.number);
}

void weft_impl_label(struct weft_text *place, weft_promise p, const char *text)
{
    struct pen pen;
    if (!pen_up_for(&pen, p && text))
        return;
    uint32_t number = place->literal ? known_number(&place->known) : 0;
    if (!number) {
        label_text(pen, place, p, text);
    } else if (pen_room(&pen, 0, p)) {
        concerns(&pen, WEFT_EVENT_LABEL, p, 0);
        put_label(&pen, p, number);
    }
    pen_down(&pen);
}

/* The ids of a span, which are different in every request: they are in the event, unless the promise's number has no short
 * form. */
void weft_impl_span(unsigned kind, weft_promise p, const uint8_t *trace_id, const uint8_t *span_id)
{
    unsigned char ids[WEFT_IDS_BYTES];
    char text[WEFT_IDS_TEXT];
    const struct text_ref ref = {WEFT_STRING_INLINE, WEFT_IDS_TEXT, text};
    struct pen pen;
    uint32_t short_p;
    memcpy(ids, trace_id, WEFT_TRACE_ID_BYTES);
    memcpy(ids + WEFT_TRACE_ID_BYTES, span_id, WEFT_SPAN_ID_BYTES);
    if (!pen_up_for(&pen, p && p != WEFT_LOOP && format_ids_valid(ids)))
        return;
    if (pen_room(&pen, TEXT_HEAD + (WEFT_IDS_TEXT + 3) / 4 * 4, p)) {
        concerns(&pen, kind, p, 0);
        if (short_id(pen.w, p, &short_p)) {
            put_head(&pen, 7 * 32 + kind);
            put32(&pen, short_p);
            memcpy(pen.at, ids, sizeof ids);
            pen.at += sizeof ids;
        } else {
            format_ids_write(text, ids);
            put_text_before(&pen, &ref);
            put_single(&pen, kind, 1, p);
            put32(&pen, WEFT_STRING_INLINE);
        }
        pen_publish(&pen);
    }
    pen_down(&pen);
}

int weft_impl_traceparent(unsigned kind, weft_promise p, const char *header)
{
    unsigned char ids[WEFT_IDS_BYTES];
    if (!header || !format_traceparent_read(ids, header))
        return 0;
    weft_impl_span(kind, p, ids, ids + WEFT_TRACE_ID_BYTES);
    return 1;
}

static void fail_by(struct pen *pen, bool by_running, weft_promise actor, weft_promise p,
                    const struct text_ref *reason)
{
    if (!pen_room(pen, before_size(reason), p)) {
        ended(pen, WEFT_EVENT_FAILS, p, NULL);
        return;
    }
    const unsigned char *at = pen->at;
    if (reason->number == WEFT_STRING_INLINE)
        put_text_before(pen, reason);
    put_pair(pen, WEFT_EVENT_FAILS, 1, by_running, actor, p);
    put32(pen, reason->number);
    pen_publish(pen);
    ended(pen, WEFT_EVENT_FAILS, p, at);
}

void weft_impl_fail(struct weft_text *place, weft_promise p, const char *reason)
{
    struct pen pen;
    if (!pen_up_for(&pen, p != 0))
        return;
    struct text_ref ref = text_of(place, reason);
    fail_by(&pen, implicit(&pen), running(&pen), p, &ref);
    pen_down(&pen);
}

void weft_impl_resolve_by(struct weft_text *place, weft_promise resolver, weft_promise p,
                          unsigned ending, const char *reason)
{
    static const uint8_t kinds[] = {[WEFT_BY_VALUE] = WEFT_IMPL_FULFILL,
                                    [WEFT_BY_ERROR] = 0,
                                    [WEFT_BY_UNKNOWN] = WEFT_IMPL_RESOLVE,
                                    [WEFT_BY_CANCEL] = WEFT_IMPL_CANCEL};
    struct pen pen;
    if (ending >= sizeof kinds)
        return;
    if (kinds[ending]) {
        weft_impl_event_by(kinds[ending], resolver, p);
        return;
    }
    if (!pen_up_for(&pen, p && resolver))
        return;
    struct text_ref ref = text_of(place, reason);
    fail_by(&pen, false, resolver, p, &ref);
    pen_down(&pen);
}

void weft_impl_counter(struct weft_counter *counter, int64_t n, int add)
{
    struct pen pen;
    if (!pen_up(&pen))
        return;
    int64_t total = n;
    if (add)
        total =
            (int64_t)__atomic_add_fetch((uint64_t *)&counter->value, (uint64_t)n, __ATOMIC_RELAXED);
    else
        __atomic_store_n(&counter->value, n, __ATOMIC_RELAXED);
    struct text_ref name = {.number = known_number(&counter->known)};
    if (!name.number) {
        name = weft_record_text(counter->name);
        if (name.number != WEFT_STRING_INLINE)
            __atomic_store_n(&counter->known, mark_known(name.number), __ATOMIC_RELEASE);
    }
    bool small = n == (int32_t)n && total == (int32_t)total;
    if (pen_room(&pen, before_size(&name), running(&pen))) {
        if (name.number == WEFT_STRING_INLINE)
            put_text_before(&pen, &name);
        if (add)
            put_head(&pen, small ? WEFT_FORM_INCREASE : WEFT_FORM_INCREASE_WIDE);
        else
            put_head(&pen, small ? WEFT_FORM_COUNTER : WEFT_FORM_COUNTER_WIDE);
        put32(&pen, name.number);
        for (int i = 0; i <= (add != 0); i++) {
            int64_t v = i == 0 ? n : total;
            if (small)
                put32(&pen, (uint32_t)v);
            else
                put64(&pen, (uint64_t)v);
        }
        pen_publish(&pen);
    }
    pen_down(&pen);
}

void weft_impl_snapshot(struct weft_text *place, const char *reason)
{
    struct pen pen;
    if (!pen_up(&pen))
        return;
    const struct text_ref ref = text_of(place, reason);
    if (pen_room(&pen, before_size(&ref), running(&pen))) {
        if (ref.number == WEFT_STRING_INLINE)
            put_text_before(&pen, &ref);
        put_head(&pen, WEFT_FORM_SNAPSHOT);
        put32(&pen, ref.number);
        pen_publish(&pen);
    }
    pen_down(&pen);
}

/* Creation */

/* A number that belongs to no packet: the recorder does not track whether the promise is pending. */
static weft_promise spare_id(struct writer *w)
{
    if (w->spare_id == w->spare_end)
        w->spare_id = weft_record_pool_numbers(&w->spare_end);
    if (__atomic_load_n(&weft_record_rec.open, __ATOMIC_ACQUIRE) && tracks()) /* with (G) */
        __atomic_fetch_or(&weft_record_rec.pending->unsure, WEFT_UNSURE, __ATOMIC_RELAXED);
    return w->spare_id++;
}

/* The texts of a creation: the number of its site, and its label if the site does not give it. */
struct place {
    uint32_t site;
    struct text_ref type, label;
};

static struct place place_of(struct weft_site *site, const char *type, const char *label)
{
    struct place place = {.site = 0};
    bool label_here = site->literal & 2;
    if (!label_here)
        place.label = weft_record_text(label);
    if (site->literal & 1)
        place.site = known_number(&site->known);
    if (place.site)
        return place;
    struct text_ref literal_label = label_here ? weft_record_text(label) : (struct text_ref){0};
    struct text_ref file = weft_record_text(site->file);
    place.type = weft_record_text(type);
    if (place.type.number != WEFT_STRING_INLINE && literal_label.number != WEFT_STRING_INLINE)
        place.site = weft_record_site(&(struct weft_site_entry){
            .type = place.type.number,
            .label = literal_label.number,
            .file = file.number != WEFT_STRING_INLINE ? file.number : 0,
            .line = site->line,
        });
    else
        place.site = WEFT_STRING_INLINE;
    if (place.site == WEFT_STRING_INLINE) { /* the texts go before the event */
        if (place.type.number != WEFT_STRING_INLINE)
            place.type = weft_record_text_inline(type ? type : "");
        if (label_here)
            place.label = literal_label;
    } else if (site->literal & 1) {
        __atomic_store_n(&site->known, mark_known(place.site), __ATOMIC_RELEASE);
    }
    return place;
}

/* Records that the running promise creates one, if the site is known and there is room. Returns 0 otherwise. */
HOT weft_promise put_known_creation(struct pen *pen, const struct weft_site *site)
{
    struct writer *w = pen->w;
    uint32_t number = site->literal == 3 ? known_number(&site->known) : 0;
    if (!number || w->next_id == w->ids_end || w->end - w->at < EVENT_MAX || !implicit(pen))
        return 0;
    weft_promise id = w->next_id++;
    pen->at = w->at;
    put_head(pen, WEFT_FORM_CREATE);
    put32(pen, (uint32_t)(id - w->base));
    put32(pen, number);
    pen_publish(pen);
    return id;
}

/* Records any other creation. id: 0 to take a number of the packet. */
static weft_promise put_creation(struct pen *pen, bool by_running, weft_promise parent,
                                 weft_promise id, const struct place *place)
{
    bool inline_site = place->site == WEFT_STRING_INLINE, own = !id;
    size_t extra = before_size(&place->label) + (inline_site ? before_size(&place->type) : 0);
    struct writer *w = pen->w;
    if (own && !tracks()) {
        id = spare_id(w);
        own = false;
    }
    if (own && __builtin_expect(w->next_id == w->ids_end, 0))
        weft_record_pool_close(w); /* the packet has no more numbers */
    if (!pen_room(pen, extra, own ? UINT64_MAX : id))
        return own ? spare_id(w) : id;
    if (own) /* a packet begun after another thread's first own number has no numbers */
        id = w->next_id != w->ids_end ? w->next_id++ : spare_id(w);
    if (inline_site)
        put_text_before(pen, &place->type);
    if (place->label.number == WEFT_STRING_INLINE)
        put_text_before(pen, &place->label);
    uint32_t unused;
    /* Only the shortest form may have no label. */
    const unsigned texts = by_running && !place->label.number && short_id(w, id, &unused) ? 1 : 2;
    put_pair(pen, WEFT_EVENT_CREATES, texts, by_running, parent, id);
    put32(pen, place->site);
    if (texts == 2)
        put32(pen, place->label.number);
    if (!tracks()) /* before the promise can be seen */
        weft_record_pending_created(id, place->site);
    pen_publish(pen);
    return id;
}

static weft_promise create(struct pen pen, bool by_running, weft_promise parent,
                           struct weft_site *site, const char *type, const char *label)
{
    struct place place = place_of(site, type, label);
    return put_creation(&pen, by_running, parent, 0, &place);
}

/* Returns false if only numbers are asked for. */
HOT bool asked_for(void)
{
    return __atomic_load_n(&weft_impl_state, __ATOMIC_RELAXED) & 1;
}

/* Hands out a number while nothing is recorded, if standby was asked for. */
static weft_promise standby_id(void)
{
    struct thread *t =
        __atomic_load_n(&weft_impl_state, __ATOMIC_RELAXED) & 2 ? this_thread() : NULL;
    if (!t || t->busy >= 2)
        return 0;
    if (t->busy ==
        0) /* in a forked child that ran no fork handlers, the recording's memory is missing */
        weft_record_asked();
    uint32_t level = t->busy;
    set_busy(t, level + 1);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    weft_promise id = spare_id(&t->writer[level]);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    set_busy(t, level);
    return id;
}

weft_promise weft_impl_create(struct weft_site *site, const char *type, const char *label)
{
    struct pen pen;
    if (!asked_for() || !pen_up(&pen))
        return standby_id();
    weft_promise id = put_known_creation(&pen, site);
    if (__builtin_expect(!id, 0))
        id = create(pen, implicit(&pen), running(&pen), site, type, label);
    pen_down(&pen);
    return id;
}

weft_promise weft_impl_create_from(struct weft_site *site, weft_promise parent, const char *type,
                                   const char *label)
{
    struct pen pen;
    if (!asked_for() || !pen_up(&pen))
        return standby_id();
    weft_promise id = create(pen, false, parent ? parent : WEFT_LOOP, site, type, label);
    pen_down(&pen);
    return id;
}

weft_promise weft_impl_create_id(struct weft_site *site, weft_promise parent, weft_promise id,
                                 const char *type, const char *label)
{
    struct pen pen;
    if (!id || id == WEFT_LOOP || !asked_for() || !pen_up(&pen))
        return 0;
    if (tracks())
        weft_record_pending_own(pen.w);
    struct place place = place_of(site, type, label);
    put_creation(&pen, false, parent ? parent : WEFT_LOOP, id, &place);
    pen_down(&pen);
    return id;
}
