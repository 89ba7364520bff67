/* SPDX-License-Identifier: ISC */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/model.h"
#include "format/listed.h"
#include "verify.h"

enum { COMPLAINTS = 5 }; /* printed of one trace */

#define NONE UINT32_MAX

static void *need(void *p)
{
    if (!p)
        abort();
    return p;
}

bool verify_pending_header(const char *path, struct weft_pending_header *out)
{
    struct weft_packet_header h;
    bool found = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (off_t at = 0; fd >= 0 && !found; at += (off_t)(h.packet_bits / 8)) {
        if (pread(fd, &h, sizeof h, at) != sizeof h || h.magic != WEFT_PACKET_MAGIC ||
            h.packet_bits < 8 * sizeof h)
            break;
        found = h.class == WEFT_PACKET_PENDING && pread(fd, out, sizeof *out, at) == sizeof *out;
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* ---- Calls ---- */

struct seen {
    struct truth_call call;
    uint32_t stream;
};

/* The events of a trace. */
struct story {
    struct weft_reader *reader;
    struct seen *event;
    size_t events, room;
};

/* The number of a text; of one that is none of ours, UINT32_MAX. */
static uint32_t number_of(const struct weft_event *ev)
{
    char text[32], back[32];
    if (!ev->text)
        return 0;
    if (ev->text_size < 2 || ev->text_size >= sizeof text)
        return UINT32_MAX;
    memcpy(text, ev->text, ev->text_size);
    text[ev->text_size] = 0;
    uint32_t number = (uint32_t)(text[0] - 'a' + 1) << 27 | (uint32_t)strtoul(text + 1, NULL, 10);
    truth_text(back, number);
    return strcmp(text, back) ? UINT32_MAX : number;
}

static void keep(struct story *s, const struct weft_event *ev)
{
    if (s->events == s->room) {
        s->room = s->room ? 2 * s->room : 4096;
        s->event = need(realloc(s->event, s->room * sizeof *s->event));
    }
    struct seen *seen = &s->event[s->events++];
    *seen = (struct seen){{.a = ev->a, .b = ev->b, .kind = ev->kind}, ev->stream};
    if (ev->kind == WEFT_EVENT_COUNTER)
        seen->call.a = (uint64_t)ev->value, seen->call.b = 0;
    else
        seen->call.text = number_of(ev);
    if (ev->kind == WEFT_EVENT_CREATES && strcmp(ev->origin->type, "cell") &&
        strcmp(ev->origin->type, "filler"))
        seen->call.text = UINT32_MAX;
}

static bool read_story(struct story *s, const char *path)
{
    struct weft_error err;
    const struct weft_event *ev;
    ptrdiff_t n;
    *s = (struct story){0};
    int rc = weft_reader_open(&s->reader, path, &err);
    while (rc == 0 && (n = weft_reader_next(s->reader, &ev, &err)) != 0) {
        if (n < 0)
            rc = -1;
        for (ptrdiff_t i = 0; i < n; i++)
            if (!ev[i].promoted)
                keep(s, &ev[i]);
    }
    if (rc < 0)
        printf("%s: %s\n", path, err.text);
    return rc == 0;
}

static void free_story(struct story *s)
{
    weft_reader_close(s->reader);
    free(s->event);
}

static bool same(const struct truth_call *c, const struct truth_call *seen)
{
    return c->kind == seen->kind && c->a == seen->a && c->text == seen->text &&
           (c->b == seen->b || (c->kind == WEFT_EVENT_CREATES && !c->b));
}

static void print_call(const char *what, const struct truth_call *c)
{
    char text[32] = "";
    if (c->text)
        truth_text(text, c->text);
    printf("%s: %s %" PRId64 " %" PRId64 " %s\n", what,
           c->kind < WEFT_EVENT_KINDS ? weft_event_kinds[c->kind].name : "?", (int64_t)c->a,
           (int64_t)c->b, c->text == UINT32_MAX ? "(a text of nobody)" : text);
}

/* One stream, and what is found of its thread. */
struct stream_check {
    unsigned t;
    uint64_t at;             /* calls before the event that is to come next, from the newest back */
    uint64_t newest;         /* number of its newest call that is there, plus 1 */
    uint64_t missing, later; /* later: events of others after its newest one */
};

/* Finds the call, at or before the one expected. */
static bool match(const struct truth *w, struct stream_check *s, const struct truth_call *seen,
                  bool may_miss)
{
    const struct truth_thread *thread = &w->thread[s->t];
    uint64_t oldest = thread->begun > TRUTH_LOG ? thread->begun - TRUTH_LOG : 0;
    const uint64_t expected = s->at;
    for (; s->at > oldest; s->at--) {
        if (same(&w->log[s->t][(s->at - 1) % TRUTH_LOG], seen)) {
            if (!s->newest)
                s->newest = s->at;
            else
                s->missing += expected - s->at;
            s->at--;
            return true;
        }
        bool in_flux = !s->newest && s->at > thread->floor;
        if (!may_miss && !in_flux)
            break;
    }
    if (s->at == oldest && oldest > 0)
        return true; /* further back than is remembered */
    printf("thread %u, call %" PRIu64 " of %" PRIu64 "\n", s->t, expected, thread->begun);
    print_call("is in the trace", seen);
    for (uint64_t i = expected; i > 0 && i + 3 > expected; i--)
        print_call("was called", &w->log[s->t][(i - 1) % TRUTH_LOG]);
    return false;
}

static unsigned thread_of(const struct truth *w, uint32_t tid)
{
    unsigned t = 0;
    while (t < w->plan.threads && w->thread[t].tid != tid)
        t++;
    return t;
}

/* What is left of a thread reaches to its last call, or the ring has gone round since. Of one that was
 * interrupted as it had got a packet there may be no event. Where there are few packets, each may be in use or about to be
 * overwritten but the latest full one of a thread: then this is overwritten before the thread's older one, and counted. */
static bool check_stream(const struct truth *w, const struct stream_check *s,
                         const struct weft_stream_facts *f, const struct story *story)
{
    const struct truth_thread *t = &w->thread[s->t];
    const struct weft_reader_facts *facts = weft_reader_facts(story->reader);
    bool crowded = facts->packets < 2 * w->plan.threads;
    bool gone_round =
        facts->wrapped && (s->later >= story->events / 2 ||
                           (crowded && facts->overwritten_elsewhere >= t->floor - s->newest));
    if (s->newest && s->newest < t->floor && !gone_round && !facts->discarded_events) {
        printf("thread %u: %" PRIu64 " calls had returned; those up to %" PRIu64 " are there\n",
               s->t, t->floor, s->newest);
        return false;
    }
    /* What is missing between its calls is said. */
    if (s->missing > f->missing + f->discarded) {
        printf("thread %u: %" PRIu64 " calls are missing between others, %" PRIu64
               " are said to be; %" PRIu64 " discarded\n",
               s->t, s->missing, f->missing, f->discarded);
        return false;
    }
    uint64_t all = f->kept + f->overwritten + f->missing + f->discarded;
    /* After weft_stop calls are made that are not recorded, and are like others. What was discarded after the
     * newest packet is in no stream's facts. */
    bool exact = s->newest && facts->ended != WEFT_ENDED_STOPPED;
    uint64_t least = facts->discarded_events ? 0 : t->floor;
    /* Either up to the newest event; or that has been overwritten, and the newest packet, which is empty, says
     * how many there were. */
    if (!(exact && all == s->newest) && (all < least || all > t->begun)) {
        printf("thread %u: %" PRIu64 " kept, %" PRIu64 " overwritten, %" PRIu64 " missing, %" PRIu64
               " discarded up to call %" PRIu64 "\n",
               s->t, f->kept, f->overwritten, f->missing, f->discarded, s->newest);
        return false;
    }
    return true;
}

static bool check_sums(const struct truth *w, const struct story *story)
{
    const struct weft_reader_facts *f = weft_reader_facts(story->reader);
    uint64_t least = 0, most = 0;
    uint64_t all = story->events + f->overwritten_events + f->missing_events + f->discarded_events;
    for (unsigned t = 0; t < w->plan.threads; t++) {
        least += w->thread[t].floor;
        most += w->thread[t].begun;
    }
    if (all >= least && all <= most)
        return true;
    printf("%zu kept, %" PRIu64 " overwritten, %" PRIu64 " missing, %" PRIu64
           " discarded; recorded were %" PRIu64 " to %" PRIu64 "\n",
           story->events, f->overwritten_events, f->missing_events, f->discarded_events, least,
           most);
    return false;
}

static bool check_facts(const struct story *story, enum weft_ended ended)
{
    const struct weft_reader_facts *f = weft_reader_facts(story->reader);
    const struct weft_damage *d = weft_reader_damage(story->reader);
    if (!d->problems && !d->half_written && !f->unknown_events && f->ended == ended)
        return true;
    printf("%" PRIu64 " problems, %s; %" PRIu64 " unknown events; %s, not %s\n", d->problems,
           d->first[0].text, f->unknown_events, weft_ended_name(f->ended), weft_ended_name(ended));
    return false;
}

/* How many of the thread's calls may have been recorded. After weft_stop calls are made that are not, and may be like the
 * last one that was: then the trace says how many there were. */
static uint64_t calls_recorded(const struct truth *w, const struct weft_reader_facts *f,
                               const struct weft_stream_facts *s, unsigned t)
{
    uint64_t all = s->kept + s->overwritten + s->missing + s->discarded;
    bool known = f->ended == WEFT_ENDED_STOPPED && !f->discarded_events;
    return known && all < w->thread[t].begun ? all : w->thread[t].begun;
}

bool verify_calls(const struct truth *w, const char *path, enum weft_ended ended,
                  struct verified *v)
{
    struct story story;
    bool ok = read_story(&story, path);
    if (ok) {
        const struct weft_reader_facts *f = weft_reader_facts(story.reader);
        struct stream_check *s = need(calloc(f->streams + 1u, sizeof *s));
        bool may_miss = f->wrapped || f->discarded_events;
        for (uint32_t i = 0; i < f->streams && ok; i++) {
            s[i].t = thread_of(w, f->stream[i].thread);
            ok = s[i].t < w->plan.threads;
            if (ok)
                s[i].at = calls_recorded(w, f, &f->stream[i], s[i].t);
        }
        for (size_t i = story.events; i-- > 0 && ok;) {
            struct stream_check *of = &s[story.event[i].stream];
            if (!of->newest)
                of->later = story.events - 1 - i;
            ok = match(w, of, &story.event[i].call, may_miss);
        }
        for (uint32_t i = 0; i < f->streams && ok; i++) {
            ok = check_stream(w, &s[i], &f->stream[i], &story);
            v->missing += s[i].missing;
        }
        ok = ok && check_facts(&story, ended) && check_sums(w, &story);
        v->events += story.events;
        v->traces++;
        free(s);
    }
    free_story(&story);
    return ok;
}

/* ---- Promises ---- */

/* The table of a snapshot by ids. */
struct by_id {
    const struct truth_snapshot *snapshot;
    uint32_t *slot; /* cell plus 1 */
    uint32_t mask;
};

static uint32_t hash(uint64_t id)
{
    return (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static void index_cells(struct by_id *m, const struct truth_snapshot *s)
{
    uint32_t slots = 16;
    while (slots < 2 * s->cells + 2)
        slots *= 2;
    *m = (struct by_id){s, need(calloc(slots, sizeof *m->slot)), slots - 1};
    for (uint32_t i = 0; i < s->cells; i++) {
        uint32_t at = hash(s->cell[i].id) & m->mask;
        while (m->slot[at])
            at = (at + 1) & m->mask;
        if (s->cell[i].id)
            m->slot[at] = i + 1;
    }
}

static const struct truth_cell *cell_with(const struct by_id *m, uint64_t id)
{
    for (uint32_t at = hash(id) & m->mask; m->slot[at]; at = (at + 1) & m->mask)
        if (m->snapshot->cell[m->slot[at] - 1].id == id)
            return &m->snapshot->cell[m->slot[at] - 1];
    return NULL;
}

/* What the model says of a promise of the table. */
struct shown {
    uint32_t waits[TRUTH_WAITERS], notifies, labels, first_labels, step_labels;
};

struct check {
    const struct truth_snapshot *before, *after;
    struct by_id first, last;
    struct weft_model *m;
    struct shown *shown;  /* by cell of before */
    uint32_t *promise_of; /* by cell: in the model, or NONE */
    uint32_t *cell_of;    /* by promise: cell of before plus 1 */
    struct weft_pending_header header;
    bool remembers;     /* there is a packet of pending promises */
    bool concludes;     /* what is not in it has ended: nothing is missing or was given up */
    bool has_lost;      /* texts */
    uint64_t lost;      /* promises that need not be there */
    uint64_t skipped;   /* promises of which something is not shown */
    uint64_t discarded; /* events: a creation, a step, an ending may be among them */
    uint64_t highest;   /* number of a promise that was created; once counted */
    bool counted;
    unsigned complaints;
};

static bool complain(struct check *k, const char *what, uint64_t id, const struct truth_cell *c)
{
    char text[32] = "?";
    if (c)
        truth_text(text, c->text);
    if (k->complaints++ < COMPLAINTS)
        printf("promise %" PRIu64 " (%s): %s\n", id, text, what);
    return false;
}

/* Whether the promise in that cell was pending all the time. */
static bool lasts(const struct check *k, uint32_t i)
{
    const struct truth_cell *a = &k->before->cell[i], *b = &k->after->cell[i];
    return !a->unknown && !b->unknown && a->stage == STAGE_PENDING && b->stage == STAGE_PENDING &&
           a->id == b->id;
}

/* Whether the promise is the one with that number, or both have become the same. */
static bool is_one(const struct weft_model *m, uint32_t promise, uint64_t id)
{
    if (m->promise[promise].id == id)
        return true;
    uint32_t other = weft_model_find(m, id);
    return other != NONE && weft_model_final(m, other) == weft_model_final(m, promise);
}

static void find_promises(struct check *k)
{
    const struct weft_model *m = k->m;
    k->shown = need(calloc(k->before->cells + 1u, sizeof *k->shown));
    k->promise_of = need(malloc((k->before->cells + 1u) * sizeof *k->promise_of));
    k->cell_of = need(calloc(m->promises + 1u, sizeof *k->cell_of));
    for (uint32_t i = 0; i < k->before->cells; i++) {
        k->promise_of[i] = lasts(k, i) ? weft_model_find(m, k->before->cell[i].id) : NONE;
        if (k->promise_of[i] != NONE)
            k->cell_of[k->promise_of[i]] = i + 1;
    }
    for (uint32_t i = 0; i < m->interactions; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        uint32_t cell = k->cell_of[x->other];
        if (!cell)
            continue;
        const struct truth_cell *c = &k->after->cell[cell - 1];
        struct shown *s = &k->shown[cell - 1];
        s->notifies += x->kind == WEFT_NOTIFIES && is_one(m, x->actor, c->notifier);
        for (unsigned n = 0; n < TRUTH_WAITERS; n++)
            s->waits[n] += x->kind == WEFT_WAITS && is_one(m, x->actor, c->waiter[n]);
    }
    for (uint32_t i = 0; i < m->labels; i++) {
        const struct weft_label *l = &m->label[i];
        uint32_t cell = k->cell_of[l->promise];
        if (!cell || l->is_change)
            continue;
        const struct truth_cell *c = &k->after->cell[cell - 1];
        const char *text = weft_model_text(m, l->what, NULL);
        char wanted[2][32];
        truth_text(wanted[0], c->text);
        truth_text(wanted[1], c->text + 1);
        k->shown[cell - 1].labels++;
        k->shown[cell - 1].first_labels += !strcmp(text, wanted[0]);
        k->shown[cell - 1].step_labels += !strcmp(text, wanted[1]);
    }
}

/* A step shows once if it was done before the trace was read, never if it has not begun since. */
static bool times(uint32_t n, const struct truth_cell *a, const struct truth_cell *b, unsigned step)
{
    return n <= ((b->begun & step) != 0) && n >= ((a->done & step) != 0);
}

/* Whether the promise was pending all the time, as far as is known; the loop always is. */
static bool waits_still(const struct check *k, uint64_t id)
{
    const struct truth_cell *c = cell_with(&k->first, id);
    return id == UINT64_MAX || (c && lasts(k, (uint32_t)(c - k->before->cell)));
}

/* Whether another one who waits is the same by now. */
static bool waits_twice(const struct check *k, const struct truth_cell *c, unsigned n)
{
    uint32_t other = weft_model_find(k->m, c->waiter[n]);
    bool twice = false;
    for (unsigned i = 0; i < TRUTH_WAITERS && other != NONE; i++)
        twice |= i != n && (c->begun & STEP_WAIT << i) && is_one(k->m, other, c->waiter[i]);
    return twice;
}

/* Whether it may have waited once more, for one that became this one; so may all, if not all of these are remembered. */
static bool waits_late(const struct check *k, uint64_t who)
{
    const uint32_t p = weft_model_find(k->m, who);
    bool late = false;
    for (unsigned t = 0; t < k->before->threads && p != NONE && !late; t++) {
        late = k->before->thread[t].links > TRUTH_LINKS;
        for (unsigned n = 0; n < TRUTH_LINKS && !late; n++) {
            const uint64_t other = k->before->thread[t].link[n].waiter[TRUTH_WAITERS];
            late = other && is_one(k->m, p, other);
        }
    }
    return late;
}

/* Whether the waits are shown. Nobody needs to know that one has waited who is resolved, once the events are
 * overwritten. */
static bool waits_shown(const struct check *k, const struct shown *s, uint32_t i)
{
    const struct truth_cell *a = &k->before->cell[i], *b = &k->after->cell[i];
    bool ok = true;
    for (unsigned n = 0; n < TRUTH_WAITERS; n++)
        ok = ok && (times(s->waits[n], a, b, (unsigned)STEP_WAIT << n) || waits_twice(k, b, n) ||
                    (s->waits[n] && waits_late(k, b->waiter[n])) ||
                    (s->waits[n] == 0 && !waits_still(k, b->waiter[n])));
    return ok;
}

static bool check_steps(struct check *k, uint32_t i)
{
    const struct truth_cell *a = &k->before->cell[i], *b = &k->after->cell[i];
    const struct shown *s = &k->shown[i];
    const struct weft_promise *p = &k->m->promise[k->promise_of[i]];
    char text[160];
    bool ok = times(s->notifies, a, b, STEP_NOTIFY) && waits_shown(k, s, i) &&
              (p->should_resolve || !(a->done & STEP_MARK)) &&
              (p->background || !(a->done & STEP_BACKGROUND));
    bool labels = times(s->step_labels, a, b, STEP_LABEL) && s->first_labels == 1 &&
                  s->labels == s->first_labels + s->step_labels;
    if (ok && (labels || k->has_lost))
        return true;
    if (k->skipped < k->header.skipped + k->discarded) { /* it is counted */
        k->skipped++;
        return true;
    }
    snprintf(text, sizeof text,
             "steps %x to %x; shown %u notifies, %u labels (%u, %u), marks %d %d", a->done,
             b->begun, s->notifies, s->labels, s->first_labels, s->step_labels, p->should_resolve,
             p->background);
    complain(k, text, a->id, a);
    for (uint32_t n = 0; n < k->m->interactions && k->complaints <= COMPLAINTS; n++) {
        const struct weft_interaction *x = &k->m->interaction[n];
        if (x->other == k->promise_of[i])
            printf("    %s by %" PRIu64 " at %" PRId64 "\n",
                   x->kind == WEFT_WAITS ? "awaited" : "notified or so", k->m->promise[x->actor].id,
                   x->time_ns);
    }
    for (uint32_t l = p->first_label; l != WEFT_NONE && k->complaints <= COMPLAINTS;
         l = k->m->label[l].next)
        if (!k->m->label[l].is_change)
            printf("    label %.40s at %" PRId64 "\n",
                   weft_model_text(k->m, k->m->label[l].what, NULL), k->m->label[l].time_ns);
    for (unsigned n = 0; n < TRUTH_WAITERS && k->complaints <= COMPLAINTS; n++)
        if (b->begun & STEP_WAIT << n)
            printf("    %u waits by %" PRIu64 "%s\n", s->waits[n], b->waiter[n],
                   waits_still(k, b->waiter[n]) ? ", pending" : "");
    if (k->complaints <= COMPLAINTS)
        printf("    notified by %" PRIu64 "\n", b->notifier);
    return false;
}

/* One that was pending all the time. */
static bool check_pending(struct check *k, uint32_t i, struct verified *v, uint64_t *gone)
{
    const struct truth_cell *c = &k->before->cell[i];
    const uint32_t index = k->promise_of[i];
    const struct weft_promise *p = index == NONE ? NULL : &k->m->promise[index];
    const bool undated = p && p->promoted && !p->created; /* it lost its cell, and got one again */
    if (!p || !p->created) {
        if (++*gone > k->lost)
            return complain(k, p ? "its creation is not there" : "is not there", c->id, c);
        if (!undated)
            return true;
    }
    if (p->outcome != WEFT_PENDING)
        return complain(k, weft_outcome_name(p->outcome), c->id, c);
    v->pending++;
    v->promoted += p->start_ns < 0;
    if (strcmp(weft_model_type(k->m, index), "cell"))
        return complain(k, weft_model_type(k->m, index), c->id, c);
    if (undated)
        return true;
    if (!is_one(k->m, p->creator, c->creator))
        return complain(k, "another creator", c->id, c);
    uint64_t start = k->m->first_ns + (uint64_t)p->start_ns;
    uint64_t off = start < c->before_ns  ? c->before_ns - start
                   : start > c->after_ns ? start - c->after_ns
                                         : 0;
    if (off > v->off_ns)
        v->off_ns = off;
    return check_steps(k, i);
}

/* The place of a promise that lasts, or NONE. */
static uint32_t lasting(const struct check *k, uint64_t id)
{
    const struct truth_cell *c = cell_with(&k->first, id);
    const uint32_t i = c ? (uint32_t)(c - k->before->cell) : NONE;
    return c && lasts(k, i) ? i : NONE;
}

/* What the promise is by now: the links of all threads lead from smaller numbers to larger ones. */
static uint64_t final_of(const struct check *k, uint64_t id)
{
    for (bool found = true; found;) {
        found = false;
        for (unsigned t = 0; t < k->before->threads && !found; t++)
            for (uint64_t n = k->before->thread[t].links; n-- > 0 && !found;) {
                const struct truth_link *l = truth_link(&k->before->thread[t], n);
                if (!l)
                    break;
                found = l->done && l->id == id;
                id = found ? l->became : id;
            }
    }
    return id;
}

static bool shows_wait(const struct weft_model *m, uint64_t who, uint32_t source)
{
    const uint32_t actor = weft_model_find(m, who);
    for (uint32_t i = 0; i < m->interactions && actor != NONE; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        if (x->kind == WEFT_WAITS && weft_model_final(m, x->other) == source &&
            weft_model_final(m, x->actor) == weft_model_final(m, actor))
            return true;
    }
    return false;
}

/* Who waited for a promise that became one that lasts waits for that one. */
static bool check_link(struct check *k, const struct truth_link *l, struct verified *v)
{
    const uint32_t at = l->done ? lasting(k, final_of(k, l->became)) : NONE;
    const uint32_t source = at == NONE ? NONE : k->promise_of[at];
    for (unsigned i = 0; i <= TRUTH_WAITERS && source != NONE; i++) {
        if (!(l->waits >> i & 1) || l->waiter[i] == UINT64_MAX || lasting(k, l->waiter[i]) == NONE)
            continue;
        v->inherited++;
        if (shows_wait(k->m, l->waiter[i], weft_model_final(k->m, source)))
            continue;
        if (k->skipped < k->header.skipped + k->discarded) { /* it is counted */
            k->skipped++;
            continue;
        }
        char text[160];
        snprintf(text, sizeof text,
                 "has no waiter %" PRIu64 ", which waited for %" PRIu64
                 " (%u) that became %" PRIu64,
                 l->waiter[i], l->id, i, l->became);
        return complain(k, text, k->before->cell[at].id, NULL);
    }
    return true;
}

static bool check_links(struct check *k, struct verified *v)
{
    bool ok = true;
    for (unsigned t = 0; t < k->before->threads; t++)
        for (uint64_t n = k->before->thread[t].links; n-- > 0;) {
            const struct truth_link *l = truth_link(&k->before->thread[t], n);
            if (!l)
                break;
            ok &= check_link(k, l, v);
        }
    return ok;
}

/* Returns true if this recording has not handed out the number: it is older, or made up. Whether its promise has ended is
 * not known. */
static bool is_foreign(struct check *k, uint64_t id)
{
    for (uint32_t i = 1; i < k->m->promises && !k->counted; i++)
        k->highest = k->m->promise[i].created && k->m->promise[i].id > k->highest
                         ? k->m->promise[i].id
                         : k->highest;
    k->counted = true;
    return (k->header.unsure & WEFT_LISTED) || id < k->header.first_number || id > k->highest;
}

/* Whether a promise that the trace shows as pending may be. unborn: of those of which no number is known. */
static bool may_be_pending(struct check *k, uint32_t p, uint64_t *unborn, uint64_t *fillers)
{
    const uint64_t id = k->m->promise[p].id;
    const struct truth_cell *a = cell_with(&k->first, id), *b = cell_with(&k->last, id);
    if ((a && (a->unknown || a->stage != STAGE_FREE)) ||
        (b && (b->unknown || b->stage != STAGE_FREE)))
        return true;
    if (!k->m->promise[p].created && !k->m->promise[p].promoted)
        return !k->concludes || !k->header.cells || is_foreign(k, id); /* it may be anything */
    if (!strcmp(weft_model_type(k->m, p), "filler"))
        return (*fillers)-- > 0;
    if (strcmp(weft_model_type(k->m, p), "cell"))
        return k->before == k->after || (*fillers)-- > 0; /* of the program's */
    return !a && (*unborn)-- > 0; /* created since, and perhaps resolved by now */
}

static bool complain_shown(struct check *k, uint32_t p)
{
    char text[100];
    const struct weft_promise *shown = &k->m->promise[p];
    const struct truth_cell *a = cell_with(&k->first, shown->id);
    snprintf(text, sizeof text, "of type %.20s, %screated, is shown as pending; in the table %d",
             weft_model_type(k->m, p), shown->created ? "" : "not ", a ? a->stage : -1);
    return complain(k, text, shown->id, a);
}

static bool check_shown(struct check *k)
{
    uint64_t unborn = 0, fillers = 0;
    bool ok = true;
    for (unsigned t = 0; t < k->after->threads; t++) {
        /* In a table that changes, one may have been counted just before. */
        unborn += k->after->thread[t].made - k->before->thread[t].made + (k->after != k->before);
        fillers += k->after != k->before ? 2 : k->after->thread[t].filler_open;
    }
    for (uint32_t i = 0; i < k->before->cells; i++)
        unborn += k->before->cell[i].stage == STAGE_CREATING;
    uint64_t endings = k->discarded;
    for (uint32_t p = 1; p < k->m->promises; p++)
        if (k->m->promise[p].outcome == WEFT_PENDING && !may_be_pending(k, p, &unborn, &fillers) &&
            (!endings || !endings--))
            ok = complain_shown(k, p);
    if (k->m->contradictions.created_twice || k->m->contradictions.resolved_twice) {
        printf("%" PRIu64 " promises created twice, %" PRIu64 " resolved twice\n",
               k->m->contradictions.created_twice, k->m->contradictions.resolved_twice);
        ok = false;
    }
    return ok;
}

bool verify_promises(const struct truth_snapshot *before, struct truth *live, const char *path,
                     struct verified *v)
{
    struct truth_snapshot now = {.cell = NULL};
    struct check k = {.before = before, .after = live ? &now : before};
    struct weft_reader *reader = NULL;
    struct weft_error err;
    uint64_t gone = 0;
    bool ok = weft_reader_open(&reader, path, &err) == 0 &&
              weft_model_build(&k.m, reader, NULL, NULL, &err) == 0;
    if (!ok) {
        printf("%s: %s\n", path, err.text);
        weft_reader_close(reader);
        return false;
    }
    if (live)
        truth_snap(&now, live, true);
    const struct weft_reader_facts *f = weft_reader_facts(reader);
    k.remembers = verify_pending_header(path, &k.header) || !f->wrapped;
    k.concludes = f->promotion.complete;
    k.has_lost = f->lost_texts > 0;
    k.discarded = f->discarded_events;
    k.lost = k.discarded + k.header.given_up;
    v->given_up += k.header.given_up;
    v->skipped += k.header.skipped;
    index_cells(&k.first, before);
    index_cells(&k.last, k.after);
    find_promises(&k);
    for (uint32_t i = 0; i < before->cells && k.remembers; i++)
        if (lasts(&k, i))
            ok &= check_pending(&k, i, v, &gone);
    ok &= !k.remembers || (check_shown(&k) && check_links(&k, v));
    if (k.complaints > COMPLAINTS)
        printf("… and %u more\n", k.complaints - COMPLAINTS);
    free(now.cell);
    free(k.first.slot);
    free(k.last.slot);
    free(k.shown);
    free(k.promise_of);
    free(k.cell_of);
    weft_model_free(k.m);
    weft_reader_close(reader);
    return ok;
}
