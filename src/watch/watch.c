/* SPDX-License-Identifier: ISC */
/* What ends is checked when it ends, what goes on at each look. A promise that was found while it was pending is
 * remembered until it ends, or, if its end was overwritten, until it is not pending any more. */
#include "watch/watch.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/count.h"
#include "base/duration.h"
#include "base/glob.h"
#include "base/hash.h"
#include "base/table.h"
#include "format/utf8.h"

enum {
    SLOTS = 20, /* of a rate's window */
    LOOK_SHARE =
        50, /* looking at all that is pending takes at most one part in that many of the time */
    COUNTERS_MAX = 1024,
    THREADS_MAX = 4096,
};

/* A promise that was found while it was pending, and for which conditions. */
struct known {
    uint64_t id;
    uint64_t created_ns; /* to tell it from another one of that number */
    uint64_t conditions; /* a bit for each; 0: it has ended */
};

struct rate {
    uint64_t slot; /* the newest: time / slot_ns */
    uint32_t count[SLOTS];
    uint64_t above_since_ns; /* 0: it is not */
    bool holds;
};

struct turn {
    uint64_t since_ns;   /* of the turn that was found last */
    uint64_t conditions; /* for these */
};

struct watch {
    const struct watch_condition *condition;
    unsigned conditions;
    watch_fn *found;
    void *data;
    const struct live *live;
    struct rate rate[WATCH_CONDITIONS_MAX];
    struct known *known;
    uint32_t knowns, known_room, drop_at;
    struct weft_table table;
    uint64_t seed;
    struct turn *turn; /* by index of the thread */
    uint32_t turn_room;
    uint64_t *above; /* for each counter, a bit for each condition that holds */
    uint32_t above_room;
    uint64_t next_scan_ns;
    bool from_start;
    uint64_t called_ns; /* when weft_snapshot was called last */
};

/* ---- Saying ---- */

struct name {
    char text[3 * LIVE_NAME_BYTES + 1];
};

static struct name clean(const char *text, size_t size)
{
    struct name n;
    n.text[weft_text_clean(n.text, sizeof n.text - 1, text, size)] = 0;
    return n;
}

static struct name named(const struct watch *w, uint32_t name)
{
    const char *text = live_name(w->live, name);
    return clean(text, strlen(text));
}

static void tell(struct watch *w, unsigned condition, struct watch_trigger *t, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));
static void tell(struct watch *w, unsigned condition, struct watch_trigger *t, const char *format,
                 ...)
{
    const uint64_t now = (uint64_t)weft_clock_ns(CLOCK_REALTIME),
                   mono = (uint64_t)weft_monotonic_ns();
    char said[2 * WATCH_SAID_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    t->said[weft_text_clean(t->said, sizeof t->said - 1, said, strlen(said))] = 0;
    t->condition = condition;
    /* A program's own clock says nothing about the wall clock. */
    const uint64_t ago = t->time_ns && t->time_ns <= mono ? mono - t->time_ns : 0;
    t->real_ns = ago < now ? now - ago : now;
    w->found(w->data, t);
}

/* "GET /x (request, promise 17)" */
static struct name called(const struct watch *w, const struct live_promise *p)
{
    const struct name label = named(w, p->label), type = named(w, p->type);
    struct name n;
    if (*label.text && *type.text)
        snprintf(n.text, sizeof n.text, "%.300s (%.80s, promise %" PRIu64 ")", label.text,
                 type.text, p->id);
    else
        snprintf(n.text, sizeof n.text, "%.380s%spromise %" PRIu64 ")",
                 *label.text  ? label.text
                 : *type.text ? type.text
                              : "something",
                 " (", p->id);
    return n;
}

/* ---- Rates ---- */

static uint64_t slot_ns(const struct watch_condition *c)
{
    return c->window_ns / SLOTS ? c->window_ns / SLOTS : 1;
}

/* Empties what is older than the window. */
static struct rate *rate_at(struct watch *w, unsigned condition, uint64_t now)
{
    struct rate *r = &w->rate[condition];
    const uint64_t slot = now / slot_ns(&w->condition[condition]);
    if (slot > r->slot + SLOTS)
        r->slot = slot - SLOTS;
    while (r->slot < slot)
        r->count[++r->slot % SLOTS] = 0;
    return r;
}

static void rate_add(struct watch *w, unsigned condition, uint64_t time_ns)
{
    struct rate *r = rate_at(w, condition, time_ns);
    const uint64_t slot = time_ns / slot_ns(&w->condition[condition]);
    if (slot + SLOTS > r->slot)
        r->count[slot % SLOTS]++;
}

static void look_at_rate(struct watch *w, unsigned condition, uint64_t now)
{
    const struct watch_condition *c = &w->condition[condition];
    struct rate *r = rate_at(w, condition, now);
    struct watch_trigger t = {.time_ns = now};
    uint64_t sum = 0;
    for (unsigned i = 0; i < SLOTS; i++)
        sum += r->count[i];
    if (!((double)sum * 1e9 > c->per_second * (double)c->window_ns)) {
        r->above_since_ns = 0;
        r->holds = false;
        return;
    }
    if (!r->above_since_ns)
        r->above_since_ns = now;
    if (r->holds || now - r->above_since_ns < c->for_ns)
        return;
    r->holds = true;
    const struct name label = clean(c->pattern, strlen(c->pattern));
    tell(w, condition, &t, "%s promises %.200s %s in %s", weft_count(sum).text, label.text,
         c->failed ? "failed" : "ended", weft_duration((int64_t)c->window_ns).text);
}

/* ---- Promises ---- */

static bool matches(const struct watch *w, const struct watch_condition *c,
                    const struct live_promise *p)
{
    return (p->label && weft_glob_matches(c->pattern, live_name(w->live, p->label))) ||
           (p->type && weft_glob_matches(c->pattern, live_name(w->live, p->type))) ||
           (!p->label && !p->type && strcmp(c->pattern, "*") == 0);
}

static uint64_t hash_known(const void *array, uint32_t item, uint64_t seed)
{
    return weft_table_hash((const struct known *)array + item, sizeof(uint64_t), seed);
}

static struct known *find_known(const struct watch *w, uint64_t id)
{
    const uint32_t at =
        weft_table_get(&w->table, w->known, sizeof *w->known, sizeof id, &id, w->seed);
    return at == UINT32_MAX ? NULL : &w->known[at];
}

/* Returns true if it was not known for that condition; or false, also if there is no room. */
static bool make_known(struct watch *w, const struct live_promise *p, unsigned condition)
{
    const struct known new = {.id = p->id, .created_ns = p->created_ns};
    struct known *k = find_known(w, p->id);
    if (!k && w->knowns < WATCH_REMEMBERED) {
        const uint32_t at = weft_table_add(&w->table, &w->known, &w->knowns, &w->known_room,
                                           sizeof new, sizeof new.id, &new, w->seed);
        k = at == UINT32_MAX ? NULL : &w->known[at];
    }
    if (!k)
        return false;
    if (k->created_ns != p->created_ns)
        *k = new;
    const bool was = k->conditions >> condition & 1;
    k->conditions |= UINT64_C(1) << condition;
    return !was;
}

/* Drops those that are not pending any more. */
static void drop_known(struct watch *w)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->knowns; i++)
        if (w->live && w->known[i].conditions && live_find(w->live, w->known[i].id))
            w->known[kept++] = w->known[i];
    w->knowns = kept;
    w->drop_at = 2 * kept + 64;
    weft_table_drop(&w->table);
    if (kept && !weft_table_reserve(&w->table, w->known, kept, hash_known, w->seed))
        w->knowns = 0;
}

static void tell_ended(struct watch *w, unsigned condition, const struct live_promise *p,
                       enum live_outcome outcome, struct watch_trigger *t, const char *reason,
                       size_t reason_size)
{
    static const char *const how[] = {
        [LIVE_FULFILLED] = "took",
        [LIVE_FAILED] = "failed after",
        [LIVE_RESOLVED] = "took",
        [LIVE_CANCELLED] = "was cancelled after",
        [LIVE_FORGOTTEN] = "was given up after",
    };
    const bool has_reason = outcome == LIVE_FAILED && reason && reason_size;
    const struct name why = clean(has_reason ? reason : "", has_reason ? reason_size : 0);
    tell(w, condition, t, "%s %s %s%s%.200s", called(w, p).text, how[outcome],
         weft_duration((int64_t)t->took_ns).text, has_reason ? ": " : "", why.text);
}

static void on_ended(void *data, const struct live_promise *p, enum live_outcome outcome,
                     uint64_t ended_ns, const char *reason, size_t reason_size)
{
    struct watch *w = data;
    const uint64_t took = ended_ns > p->created_ns ? ended_ns - p->created_ns : 0;
    struct known *k = w->knowns ? find_known(w, p->id) : NULL;
    const uint64_t told = k && k->created_ns == p->created_ns ? k->conditions : 0;
    if (k)
        k->conditions = 0;
    for (unsigned i = 0; i < w->conditions; i++) {
        const struct watch_condition *c = &w->condition[i];
        bool holds = false;
        if (c->kind == WATCH_RATE)
            holds = !c->failed || outcome == LIVE_FAILED;
        else if (c->kind == WATCH_FAILED)
            holds = outcome == LIVE_FAILED;
        else if (c->kind == WATCH_SLOW || c->kind == WATCH_PENDING)
            holds = took > (uint64_t)c->bound && !(told >> i & 1);
        if (!holds || !matches(w, c, p))
            continue;
        struct watch_trigger t = {.promise = p->id, .time_ns = ended_ns, .took_ns = took};
        if (c->kind == WATCH_RATE)
            rate_add(w, i, ended_ns);
        else
            tell_ended(w, i, p, outcome, &t, reason, reason_size);
    }
}

static bool waits_for_pending(const struct watch_condition *c)
{
    return c->kind == WATCH_SLOW || c->kind == WATCH_PENDING;
}

static void look_at_pending(struct watch *w, uint64_t now)
{
    uint32_t count;
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < w->conditions; i++)
        if (waits_for_pending(&w->condition[i]) && (uint64_t)w->condition[i].bound < least)
            least = (uint64_t)w->condition[i].bound;
    const uint64_t begun = (uint64_t)weft_monotonic_ns();
    if (least == UINT64_MAX || begun < w->next_scan_ns)
        return;
    if (w->knowns >= w->drop_at)
        drop_known(w);
    const struct live_promise *list = live_promises(w->live, &count);
    for (const struct live_promise *p = list; p < list + count; p++) {
        const uint64_t age = now > p->created_ns ? now - p->created_ns : 0;
        if (age <= least || p->created_ns < live_totals(w->live)->off_ns)
            continue;
        for (unsigned i = 0; i < w->conditions; i++) {
            const struct watch_condition *c = &w->condition[i];
            if (!waits_for_pending(c) || age <= (uint64_t)c->bound || !matches(w, c, p) ||
                !make_known(w, p, i))
                continue;
            struct watch_trigger t = {.promise = p->id, .time_ns = now, .took_ns = age};
            tell(w, i, &t, "%s has been pending for %s%s", called(w, p).text,
                 p->older ? "at least " : "", weft_duration((int64_t)age).text);
        }
    }
    const uint64_t end = (uint64_t)weft_monotonic_ns();
    w->next_scan_ns = end + LOOK_SHARE * (end - begun);
}

/* ---- Event loops ---- */

static struct name thread_name(const struct live_thread *t)
{
    struct name n;
    const struct name own = clean(t->name, strnlen(t->name, sizeof t->name));
    snprintf(n.text, sizeof n.text, "thread %" PRIu32 "%s%.60s%s", t->tid, *own.text ? " (" : "",
             own.text, *own.text ? ")" : "");
    return n;
}

/* A turn that takes, or took, that long; index: of the thread. */
static void check_turn(struct watch *w, const struct live_thread *t, uint32_t index, uint64_t now,
                       bool over)
{
    const uint64_t took = now > t->since_ns ? now - t->since_ns : 0;
    for (unsigned i = 0; i < w->conditions; i++) {
        const struct watch_condition *c = &w->condition[i];
        if (c->kind != WATCH_LOOP || took <= (uint64_t)c->bound || index >= THREADS_MAX)
            continue;
        if (!weft_reach(&w->turn, index, &w->turn_room, sizeof *w->turn, 0))
            return;
        struct turn *turn = &w->turn[index];
        if (turn->since_ns != t->since_ns)
            *turn = (struct turn){.since_ns = t->since_ns};
        if (turn->conditions >> i & 1)
            continue;
        turn->conditions |= UINT64_C(1) << i;
        struct watch_trigger trigger = {.promise =
                                            t->running == WEFT_ID_LOOP || over ? 0 : t->running,
                                        .time_ns = now,
                                        .took_ns = took};
        tell(w, i, &trigger, "the event loop of %s %s in one turn for %s", thread_name(t).text,
             over ? "was" : "has been", weft_duration((int64_t)took).text);
    }
}

static void on_turned(void *data, const struct live_thread *t, uint64_t end_ns)
{
    struct watch *w = data;
    uint32_t count;
    const struct live_thread *list = live_threads(w->live, &count);
    if (t->is_loop)
        check_turn(w, t, (uint32_t)(t - list), end_ns, true);
}

static void look_at_loops(struct watch *w, uint64_t now)
{
    uint32_t count;
    const struct live_thread *list = live_threads(w->live, &count);
    for (uint32_t i = 0; i < count; i++)
        if (list[i].is_loop && !list[i].idle && list[i].since_ns)
            check_turn(w, &list[i], i, now, false);
}

/* ---- Counters ---- */

static void check_counter(struct watch *w, const struct live_counter *counter, uint32_t index)
{
    if (index >= COUNTERS_MAX || !weft_reach(&w->above, index, &w->above_room, sizeof *w->above, 0))
        return;
    for (unsigned i = 0; i < w->conditions; i++) {
        const struct watch_condition *c = &w->condition[i];
        const uint64_t bit = UINT64_C(1) << i;
        if (c->kind != WATCH_COUNTER ||
            !weft_glob_matches(c->pattern, live_name(w->live, counter->name)))
            continue;
        if (c->below ? counter->value >= c->bound : counter->value <= c->bound) {
            w->above[index] &= ~bit;
        } else if (!(w->above[index] & bit)) {
            struct watch_trigger t = {.time_ns = counter->changed_ns};
            w->above[index] |= bit;
            tell(w, i, &t, "the counter %.300s is %" PRId64, named(w, counter->name).text,
                 counter->value);
        }
    }
}

static void on_counted(void *data, const struct live_counter *c)
{
    struct watch *w = data;
    uint32_t count;
    check_counter(w, c, (uint32_t)(c - live_counters(w->live, &count)));
}

/* ---- Others ---- */

/* weft_snapshot was called. What the first look reads happened before; and after a loss, events come again. */
static void on_event(void *data, const struct weft_event *ev)
{
    struct watch *w = data;
    if (ev->kind != WEFT_EVENT_SNAPSHOT || ev->time_ns <= w->called_ns)
        return;
    w->called_ns = ev->time_ns;
    if (!w->from_start && !live_totals(w->live)->since_ns)
        return;
    const struct name reason = clean(ev->text ? ev->text : "", ev->text ? ev->text_size : 0);
    char text[WATCH_TEXT_BYTES];
    snprintf(text, sizeof text, "%.*s", (int)(ev->text ? ev->text_size : 0),
             ev->text ? ev->text : "");
    for (unsigned i = 0; i < w->conditions; i++) {
        struct watch_trigger t = {.promise = ev->a == WEFT_ID_LOOP ? 0 : ev->a,
                                  .time_ns = ev->time_ns};
        if (w->condition[i].kind == WATCH_CALL && weft_glob_matches(w->condition[i].pattern, text))
            tell(w, i, &t, "the program called weft_snapshot(\"%.300s\")", reason.text);
    }
}

bool watch_signalled(struct watch *w, int number)
{
    bool any = false;
    for (unsigned i = 0; i < w->conditions; i++) {
        struct watch_trigger t = {.time_ns = w->live ? live_totals(w->live)->now_ns : 0};
        if (w->condition[i].kind != WATCH_SIGNAL || w->condition[i].signal != number)
            continue;
        any = true;
        tell(w, i, &t, "weft got the signal SIG%s", sigabbrev_np(number));
    }
    return any;
}

void watch_ended(struct watch *w, bool crashed, bool failed, const char *how)
{
    for (unsigned i = 0; i < w->conditions; i++) {
        struct watch_trigger t = {.time_ns = w->live ? live_totals(w->live)->now_ns : 0};
        if (w->condition[i].kind == WATCH_CRASH ? crashed
                                                : w->condition[i].kind == WATCH_EXIT && failed)
            tell(w, i, &t, "the process has ended: %s", how);
    }
}

/* ---- All ---- */

void watch_look(struct watch *w)
{
    const uint64_t now = live_totals(w->live)->now_ns;
    uint32_t count;
    look_at_pending(w, now);
    look_at_loops(w, now);
    const struct live_counter *counter = live_counters(w->live, &count);
    for (uint32_t i = 0; i < count; i++)
        check_counter(w, &counter[i], i);
    for (unsigned i = 0; i < w->conditions; i++)
        if (w->condition[i].kind == WATCH_RATE)
            look_at_rate(w, i, now);
}

struct live_calls watch_calls(struct watch *w)
{
    return (struct live_calls){.data = w,
                               .ended = on_ended,
                               .turned = on_turned,
                               .counted = on_counted,
                               .event = on_event};
}

static void forget(struct watch *w)
{
    memset(w->rate, 0, sizeof w->rate);
    weft_free_all(w->turn, w->above);
    w->turn = NULL;
    w->above = NULL;
    w->knowns = w->turn_room = w->above_room = 0;
    w->drop_at = 64;
    w->next_scan_ns = 0;
    weft_table_drop(&w->table);
}

void watch_conditions(struct watch *w, const struct watch_condition *condition, unsigned conditions)
{
    w->condition = condition;
    w->conditions = conditions;
    forget(w);
}

void watch_process(struct watch *w, const struct live *l, bool from_start)
{
    w->live = l;
    w->from_start = from_start;
    w->called_ns = 0;
    forget(w);
}

int watch_open(struct watch **out, const struct watch_condition *condition, unsigned conditions,
               watch_fn *found, void *data)
{
    struct watch *w = *out = calloc(1, sizeof *w);
    if (!w)
        return WEFT_E_NOMEM;
    w->found = found;
    w->data = data;
    w->seed = weft_seed();
    watch_conditions(w, condition, conditions);
    return 0;
}

void watch_free(struct watch *w)
{
    if (!w)
        return;
    weft_table_drop(&w->table);
    weft_free_all(w->known, w->turn, w->above, w);
}
