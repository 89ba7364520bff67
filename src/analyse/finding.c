/* SPDX-License-Identifier: ISC */
#include "analyse/finding.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/judge.h"
#include "base/array.h"
#include "base/lists.h"

bool analyse_search_room(struct analyse_search *s, void *array, uint32_t count, uint32_t *room,
                         size_t item)
{
    const bool ok = weft_reserve(array, count, room, item);
    s->failed |= !ok;
    return ok;
}

/* Makes room for one more array. */
static bool has_place(struct analyse_search *s)
{
    return analyse_search_room(s, &s->taken, s->takens, &s->taken_room, sizeof *s->taken);
}

/* An array, which lasts until the search ends from now on; NULL: no memory. */
static void *owned(struct analyse_search *s, void *array)
{
    if (array && has_place(s))
        return s->taken[s->takens++] = array;
    free(array);
    s->failed = true;
    return NULL;
}

void *analyse_take(struct analyse_search *s, uint64_t count, size_t item)
{
    return owned(s, count <= SIZE_MAX / item ? calloc(count ? (size_t)count : 1, item) : NULL);
}

void analyse_append(struct analyse_search *s, void *array, uint32_t *count, uint32_t *room,
                    const void *item, size_t size)
{
    char *items;
    memcpy(&items, array, sizeof items);
    if (*count == *room) {
        uint32_t at = 0;
        while (at < s->takens && s->taken[at] != items)
            at++;
        if (!has_place(s) || !analyse_search_room(s, array, *count, room, size))
            return;
        memcpy(&items, array, sizeof items);
        s->taken[at] = items;
        s->takens += at == s->takens;
    }
    memcpy(items + (size_t)(*count)++ * size, item, size);
}

struct analyse_lists analyse_lists(struct analyse_search *s, uint32_t lists, uint32_t count,
                                   weft_list_fn *list_of, const void *data)
{
    struct analyse_lists l;
    weft_lists(&l.first, &l.item, lists, s->failed ? 0 : count, list_of, data);
    l.first = owned(s, l.first);
    l.item = owned(s, l.item);
    return l;
}

void analyse_search_run(struct analyse_search *s, void (*search)(struct analyse_search *s))
{
    const uint32_t before = s->out->count;
    search(s);
    while (s->takens)
        free(s->taken[--s->takens]);
    free(s->taken);
    s->taken = NULL;
    s->taken_room = 0;
    for (uint32_t i = before; i < s->out->count; i++)
        analyse_finding_sort(&s->out->finding[i]);
}

/* ---- Findings ---- */

struct weft_finding *analyse_finding_add(struct analyse_search *s, enum weft_finding_kind kind,
                                         const struct analyse_verdict *v, uint32_t promise,
                                         int64_t start_ns, int64_t end_ns, int64_t cost_ns)
{
    struct weft_findings *out = s->out;
    if (s->failed || s->canceled || s->o->ignore >> kind & 1)
        return NULL;
    if (!analyse_search_room(s, &out->finding, out->count, &s->room, sizeof *out->finding))
        return NULL;
    if (end_ns == INT64_MAX) {
        end_ns = s->m->end_ns;
        start_ns = start_ns < end_ns ? start_ns : end_ns;
    }
    s->finding = &out->finding[out->count++];
    *s->finding = (struct weft_finding){.kind = kind,
                                        .confidence = v->confidence,
                                        .promise = promise,
                                        .start_ns = start_ns,
                                        .end_ns = end_ns,
                                        .cost_ns = cost_ns,
                                        .count = 1};
    analyse_doubt(s, v->doubt);
    return s->finding;
}

void analyse_say_slots(struct analyse_search *s, enum analyse_sentence which,
                       const struct analyse_slot *slots, size_t count)
{
    struct weft_finding *f = s->finding;
    const uint32_t room = f->text ? (uint32_t)strlen(f->text) + 1 : 0;
    struct analyse_text t = {.text = f->text, .size = room ? room - 1 : 0, .room = room};
    analyse_put_slots(&t, s->m, s->families, which, slots, count);
    s->failed |= t.failed;
    f->text = analyse_text_take(&t);
    analyse_text_fini(&s->list);
}

void analyse_list_slots(struct analyse_search *s, const char *separator,
                        enum analyse_sentence which, const struct analyse_slot *slots, size_t count)
{
    analyse_put_format(&s->list, "%s", s->list.size ? separator : "");
    analyse_put_slots(&s->list, s->m, s->families, which, slots, count);
    s->failed |= s->list.failed;
}

void analyse_doubt(struct analyse_search *s, const char *why)
{
    struct weft_finding *f = s->finding;
    free(f->doubt);
    size_t size = why ? strlen(why) + 1 : 0;
    f->doubt = why ? weft_resize(NULL, size, 1) : NULL;
    s->failed |= why && !f->doubt;
    if (f->doubt)
        memcpy(f->doubt, why, size);
}

void analyse_show(struct analyse_search *s, int64_t time_ns, enum weft_evidence_event event,
                  uint32_t promise, uint32_t other)
{
    struct weft_finding *f = s->finding;
    if (!f->evidence)
        f->evidence = calloc(WEFT_EVIDENCE_MAX, sizeof *f->evidence);
    if (!f->evidence) {
        s->failed = true;
        return;
    }
    if (f->evidences == WEFT_EVIDENCE_MAX)
        f->evidences--;
    f->evidence[f->evidences++] = (struct weft_evidence){time_ns, event, promise, other};
}

void analyse_affects(struct analyse_search *s, uint32_t promise)
{
    struct weft_finding *f = s->finding;
    f->affected_total++;
    if (f->affecteds == WEFT_AFFECTED_MAX)
        return;
    if ((f->affecteds & (f->affecteds - 1)) == 0) { /* full: 0, 1, 2, 4 … */
        uint32_t *grown = weft_resize(f->affected, 2 * f->affecteds, sizeof *grown);
        if (!grown) {
            s->failed = true;
            return;
        }
        f->affected = grown;
    }
    f->affected[f->affecteds++] = promise;
}

void analyse_show_created(struct analyse_search *s, uint32_t promise)
{
    const struct weft_promise *p = &s->m->promise[promise];
    analyse_show(s, p->start_ns, WEFT_EVIDENCE_CREATED, promise, p->creator);
}

void analyse_show_ended(struct analyse_search *s, uint32_t promise)
{
    analyse_show(s, s->m->promise[promise].end_ns, analyse_ending(s->m, promise), promise,
                 analyse_resolver(s->h, promise));
}

void analyse_show_waits(struct analyse_search *s, const struct weft_wait *w)
{
    analyse_show(s, w->from_ns, WEFT_EVIDENCE_WAITS, w->reader, w->source);
}

void analyse_show_woken(struct analyse_search *s, const struct weft_wait *w)
{
    analyse_show(s, w->until_ns, WEFT_EVIDENCE_WOKEN, w->reader, w->source);
}

void analyse_show_waited(struct analyse_search *s, const struct weft_wait *w)
{
    analyse_show_waits(s, w);
    analyse_show_woken(s, w);
}

void analyse_show_waits_still(struct analyse_search *s, const struct weft_wait *w)
{
    analyse_show(s, s->m->end_ns, WEFT_EVIDENCE_WAITS_STILL, w->reader, w->source);
}

void analyse_show_resolved(struct analyse_search *s, const struct weft_wait *w)
{
    const uint32_t by = s->h->resolution[w->source];
    const struct weft_interaction *x = by == WEFT_NONE ? NULL : &s->m->interaction[by];
    if (x && x->time_ns <= w->until_ns)
        analyse_show(s, x->time_ns, analyse_ending(s->m, w->source), w->source, (uint32_t)x->actor);
}

void analyse_finding_sort(struct weft_finding *f)
{
    for (uint32_t i = 1; i < f->evidences; i++) {
        struct weft_evidence e = f->evidence[i];
        uint32_t at = i;
        for (; at > 0 && f->evidence[at - 1].time_ns > e.time_ns; at--)
            f->evidence[at] = f->evidence[at - 1];
        f->evidence[at] = e;
    }
}

void analyse_finding_fini(struct weft_finding *f)
{
    free(f->text);
    free(f->doubt);
    free(f->evidence);
    free(f->affected);
}

/* ---- Questions ---- */

uint32_t analyse_resolver(const struct weft_history *h, uint32_t promise)
{
    const uint32_t by = h->resolution[promise];
    return by == WEFT_NONE ? WEFT_NONE : (uint32_t)h->m->interaction[by].actor;
}

uint32_t analyse_resolving_run(const struct weft_history *h, uint32_t promise)
{
    const uint32_t by = h->resolution[promise];
    const struct weft_interaction *x = by == WEFT_NONE ? NULL : &h->m->interaction[by];
    return x ? weft_history_run_at(h, x->actor, x->time_ns) : WEFT_NONE;
}

bool analyse_is_of(const struct weft_model *m, uint32_t promise, uint32_t whose, unsigned creators)
{
    const uint32_t final = weft_model_final(m, whose);
    for (; creators > 0 && promise != WEFT_ROOT; creators--) {
        if (weft_model_final(m, promise) == final)
            return true;
        promise = m->promise[promise].creator;
    }
    return false;
}

uint32_t analyse_open(const struct weft_history *h, const uint32_t *first, const uint32_t *list,
                      uint32_t promise, uint32_t *count)
{
    uint32_t last = WEFT_NONE;
    *count = 0;
    for (uint32_t i = first[promise + 1]; i-- > first[promise] && *count < 2;)
        if (h->wait[list[i]].end == WEFT_WAIT_OPEN && (*count)++ == 0)
            last = list[i];
    return last;
}

uint32_t analyse_run_read(const struct weft_history *h, uint32_t run)
{
    const uint32_t cause = run == WEFT_NONE ? WEFT_NONE : h->run_cause[run];
    return cause == WEFT_NONE || h->m->interaction[cause].kind != WEFT_READS
               ? WEFT_NONE
               : (uint32_t)h->m->interaction[cause].other;
}

unsigned analyse_part(int64_t time_ns, int64_t from_ns, int64_t to_ns, unsigned parts)
{
    if (time_ns <= from_ns || to_ns <= from_ns)
        return 0;
    const double at = (double)(time_ns - from_ns) / (double)(to_ns - from_ns) * parts;
    return at >= parts ? parts - 1 : (unsigned)at;
}

int64_t analyse_median(int64_t *value, uint32_t count)
{
    weft_sort(value, count, sizeof *value, weft_order_i64);
    return count ? value[count / 2] : 0;
}

enum weft_evidence_event analyse_ending(const struct weft_model *m, uint32_t promise)
{
    static const enum weft_evidence_event events[WEFT_OUTCOME_COUNT] = {
        [WEFT_FULFILLED] = WEFT_EVIDENCE_FULFILLED, [WEFT_FAILED] = WEFT_EVIDENCE_FAILED,
        [WEFT_CANCELLED] = WEFT_EVIDENCE_CANCELLED, [WEFT_FORGOTTEN] = WEFT_EVIDENCE_FORGOTTEN,
        [WEFT_PENDING] = WEFT_EVIDENCE_SIGNALLED,   [WEFT_RESOLVED] = WEFT_EVIDENCE_RESOLVED,
        [WEFT_BECAME] = WEFT_EVIDENCE_RESOLVED,
    };
    return events[m->promise[weft_model_final(m, promise)].outcome];
}

bool analyse_is_labelled(const struct weft_model *m, uint32_t promise, int64_t from_ns,
                         int64_t to_ns, uint32_t most)
{
    uint32_t low = 0, high = m->labels;
    WEFT_SEEK(low, high, m->label[middle].time_ns < from_ns);
    for (uint32_t n = 0; low < m->labels && n < most && m->label[low].time_ns <= to_ns; low++, n++)
        if (m->label[low].promise == promise)
            return true;
    return false;
}

/* ---- Telling ---- */

/* Returns true if the evidence has another promise with the same label. */
static bool has_namesake(const struct weft_model *m, const struct weft_finding *f, uint32_t promise)
{
    const bool none = promise == WEFT_ROOT || promise == WEFT_NONE;
    const uint32_t name = none ? WEFT_NONE : weft_model_name(m, promise);
    for (uint32_t i = 0; i < f->evidences && name != WEFT_NONE; i++) {
        const uint32_t who[] = {f->evidence[i].promise, f->evidence[i].other};
        for (unsigned k = 0; k < 2; k++)
            if (who[k] != WEFT_NONE && who[k] != WEFT_ROOT && who[k] != promise &&
                weft_model_name(m, who[k]) == name)
                return true;
    }
    return false;
}

/* A slot: a promise by its name, with its number if another promise has the same name. */
#define CALLED(slot, promise)                                                                      \
    ((struct analyse_slot){.name = #slot,                                                          \
                           .is = has_namesake(m, f, promise) ? ANALYSE_PROMISE : ANALYSE_NAME,     \
                           .value = promise})

void weft_evidence_say(struct analyse_text *t, const struct weft_model *m,
                       const struct weft_finding *f, uint32_t i)
{
    static const enum analyse_sentence sentences[] = {
        [WEFT_EVIDENCE_CREATED] = SAY_CREATES,
        [WEFT_EVIDENCE_WAITS] = SAY_BEGINS_TO_WAIT,
        [WEFT_EVIDENCE_WAITS_STILL] = SAY_WAITS_STILL,
        [WEFT_EVIDENCE_WOKEN] = SAY_RUNS_BECAUSE,
        [WEFT_EVIDENCE_RUNS] = SAY_BEGINS_TO_RUN,
        [WEFT_EVIDENCE_STOPS] = SAY_STOPS_RUNNING,
        [WEFT_EVIDENCE_RUNS_STILL] = SAY_RUNS_STILL,
        [WEFT_EVIDENCE_FULFILLED] = SAY_FULFILS,
        [WEFT_EVIDENCE_FAILED] = SAY_FAILS,
        [WEFT_EVIDENCE_RESOLVED] = SAY_RESOLVES,
        [WEFT_EVIDENCE_CANCELLED] = SAY_CANCELS,
        [WEFT_EVIDENCE_ENDED_AGAIN] = SAY_ENDS_AGAIN,
        [WEFT_EVIDENCE_FORGOTTEN] = SAY_IS_DROPPED,
        [WEFT_EVIDENCE_BECAME] = SAY_BECOMES,
        [WEFT_EVIDENCE_SIGNALLED] = SAY_SIGNALS,
        [WEFT_EVIDENCE_SIGNALLED_NOBODY] = SAY_SIGNALS_NOBODY,
        [WEFT_EVIDENCE_ACQUIRED] = SAY_GETS,
        [WEFT_EVIDENCE_READ] = SAY_USES,
        [WEFT_EVIDENCE_PENDING] = SAY_IS_PENDING_STILL,
        [WEFT_EVIDENCE_IDLE] = SAY_GOES_TO_SLEEP,
    };
    const struct weft_evidence *e = &f->evidence[i];
    const bool alone = e->other == WEFT_NONE || e->other == e->promise;
    analyse_put(t, m, NULL, sentences[e->event], CALLED(promise, e->promise),
                CALLED(other, alone ? WEFT_NONE : e->other), FLAG(alone, alone));
}
