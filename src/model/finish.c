/* SPDX-License-Identifier: ISC */
/* What can be known about promises only when all events have been read. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "model/build.h"

/* Makes a promise, and all others on the way, point to the last one of its chain, so that nobody
 * has to follow the chain again. Over all promises, every link is followed twice. */
static void shorten_chain(struct weft_promise *at, uint32_t promise)
{
    uint32_t last = promise;
    while (at[last].becomes != WEFT_NONE)
        last = at[last].reason_or_final;
    for (uint32_t p = promise, next; p != last; p = next) {
        next = at[p].reason_or_final;
        at[p].reason_or_final = last;
    }
    /* A promise that should resolve, or what such a promise became. */
    if (at[promise].should_resolve)
        at[last].should_resolve = true;
}

/* Moves what was known while events were read out of the fields where it was stored. Pending
 * promises end with their last sign of life: it is not known whether they are still wanted. */
static void finish_promises(struct weft_model *m)
{
    for (uint32_t i = 0; i < m->promises; i++) {
        struct weft_promise *p = &m->promise[i];
        if (p->becomes != WEFT_NONE)
            shorten_chain(m->promise, i);
        if (!p->created && !p->promoted && p->start_ns > 0)
            p->start_ns = 0;
        if (p->outcome == WEFT_PENDING)
            p->end_ns = weft_later(weft_later(p->start_ns, p->end_ns), model_checked(p));
        p->first_label = p->first_interaction = p->first_run = WEFT_NONE;
        p->simplified = false;
    }
}

/* Puts the labels of creations that came late before the other labels of their promises. */
static void chain_late_labels(struct weft_model *m)
{
    for (uint32_t i = m->labels; i-- > 0;) {
        struct weft_label *l = &m->label[i];
        if (l->next == MODEL_LABEL_FIRST) {
            l->next = m->promise[l->promise].first_label;
            m->promise[l->promise].first_label = i;
        }
    }
}

/* Puts a record before those of its promise that are chained already, and returns the first of
 * these. The last record of a promise is a sign of life. */
static uint32_t chain_one(struct weft_promise *p, uint32_t *first, uint32_t record, int64_t time)
{
    const uint32_t next = *first;
    if (next == WEFT_NONE && p->outcome == WEFT_PENDING)
        p->end_ns = weft_later(p->end_ns, time);
    *first = record;
    return next;
}

/* Chains the records of each promise, last one first. */
static void chain(struct weft_builder *b)
{
    struct weft_model *m = b->m;
    for (uint32_t i = m->labels; i-- > 0;) {
        struct weft_label *l = &m->label[i];
        struct weft_promise *p = &m->promise[l->promise];
        /* a first one belongs to the start, so it is not a later sign of life */
        if (l->next != MODEL_LABEL_FIRST)
            l->next = chain_one(p, &p->first_label, i, l->time_ns);
    }
    if (b->labels_late)
        chain_late_labels(m);
    for (uint32_t i = m->interactions; i-- > 0;) {
        struct weft_interaction *x = &m->interaction[i];
        struct weft_promise *p = &m->promise[x->actor];
        if (!x->replaced)
            x->next = chain_one(p, &p->first_interaction, i, x->time_ns);
    }
    for (uint32_t i = m->runs; i-- > 0;) {
        struct weft_run *r = &m->run[i];
        struct weft_promise *p = &m->promise[r->next];
        r->next = chain_one(p, &p->first_run, i, r->end_ns);
    }
}

/* A promise that was pending before the oldest event that is there, but was not kept as one that
 * still is, must have ended. Promises that should have resolved end with the trace. The last sign
 * of life of promoted ones may be long before the first event; they are shown because they are
 * pending. */
static void end_pending(const struct weft_builder *b, struct weft_promise *p)
{
    if (!p->created && !p->promoted && weft_reader_was_overwritten(b->reader, p->id))
        p->outcome = WEFT_RESOLVED;
    else if (p->should_resolve || p->promoted)
        p->end_ns = weft_later(b->m->end_ns, p->start_ns);
}

/* The types of promises whose creation says less than their first read: they are made together with
 * what they will wait for. */
#define BINDS 6
static const char *const bind_names[BINDS] = {"bind",          "try",        "map",
                                              "ignore_result", "on_failure", "on_termination"};

static bool is_bind(const uint32_t bind[BINDS], uint32_t type)
{
    for (unsigned i = 0; i < BINDS; i++)
        if (bind[i] == type)
            return true;
    return false;
}

/* Returns true if its line begins with its first read in the simplified form, unless somebody has
 * waited for it by then. bind: the texts of those types. */
static bool wakes_by_read(const struct weft_model *m, const uint32_t bind[BINDS], uint32_t index)
{
    const struct weft_promise *p = &m->promise[index];
    uint32_t i = p->first_interaction;
    if (index == WEFT_ROOT || i == WEFT_NONE || !is_bind(bind, p->type) ||
        m->interaction[i].kind != WEFT_READS || m->promise[p->creator].becomes == index)
        return false;
    int64_t wake = m->interaction[i].time_ns;
    if (p->first_label != WEFT_NONE)
        return m->label[p->first_label].time_ns >= wake;
    /* The text of a failure stands in for a missing label. */
    return weft_model_reason(m, index) == WEFT_NONE || p->end_ns >= wake;
}

/* Ends the pending promises and finds those that are simplified. */
static int end_all_pending(struct weft_builder *b)
{
    struct weft_model *m = b->m;
    uint32_t bind[BINDS];
    for (unsigned t = 0; t < BINDS; t++)
        TRY(model_add_name(b, bind_names[t], &bind[t]));

    for (uint32_t i = 0; i < m->promises; i++) {
        if (m->promise[i].outcome == WEFT_PENDING)
            end_pending(b, &m->promise[i]);
        m->promise[i].simplified = wakes_by_read(m, bind, i);
    }
    m->promise[WEFT_ROOT].outcome = WEFT_PENDING;
    m->promise[WEFT_ROOT].end_ns = m->end_ns;
    for (uint32_t i = 0; i < m->interactions; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        if (x->kind != WEFT_WAITS || x->replaced)
            continue;
        struct weft_promise *p = &m->promise[x->other];
        if (p->simplified && x->time_ns <= weft_model_wake(m, p))
            p->simplified = false;
    }
    return 0;
}

struct named {
    const char *name;
    uint32_t size;
    uint32_t counter;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static void widen(struct weft_scale *s, const struct weft_model *m, uint32_t counter)
{
    const int64_t before = m->counter[counter].before;
    int64_t min = before < 0 ? before : 0, max = before > 0 ? before : 0;
    for (uint32_t i = m->counter[counter].first_change; i != WEFT_NONE; i = m->change[i].next) {
        int64_t v = m->change[i].value;
        min = v < min ? v : min;
        max = v > max ? v : max;
    }
    if (max < 10 && max < min + 10)
        max = min + 10;
    s->min = min < s->min ? min : s->min;
    s->max = max > s->max ? max : s->max;
}

/* A change that does not say what the value was before tells only where nothing has been overwritten. */
static void find_before(struct weft_model *m)
{
    for (uint32_t i = 0; i < m->counters; i++)
        m->counter[i].before_known |= m->known_ns == INT64_MIN && !m->quirks.counters_anywhere;
}

/* Sorts the counters by name, and gives one scale to those whose names are equal up to the last
 * '#'. The two names of mirage-tcpip that belong together are the old viewer's only special
 * case. */
static int finish_counters(struct weft_builder *b)
{
    struct weft_model *m = b->m;
    if (!m->counters)
        return 0;
    find_before(m);
    struct named *named = calloc(m->counters, sizeof *named);
    struct weft_counter_info *sorted = calloc(m->counters, sizeof *sorted);
    uint32_t *place = calloc(m->counters, sizeof *place);
    struct weft_strings *scales = weft_strings_new();
    int rc = WEFT_E_NOMEM;
    m->scale = calloc(m->counters, sizeof *m->scale);
    if (!named || !sorted || !place || !scales || !m->scale)
        goto out;
    for (uint32_t i = 0; i < m->counters; i++) {
        named[i].counter = i;
        named[i].name = weft_strings_get(m->strings, m->counter[i].name, &named[i].size);
    }
    qsort(named, m->counters, sizeof *named, by_name);
    for (uint32_t i = 0; i < m->counters; i++) {
        const char *name = named[i].name, *hash = strrchr(name, '#');
        uint32_t size = hash ? (uint32_t)(hash - name) : named[i].size;
        if (!strcmp(name, "tcp-ackd-segs")) {
            name = "tcp-to-ip";
            size = 9;
        }
        uint32_t scale = weft_strings_add(scales, name, size);
        if (scale == WEFT_STRINGS_NONE)
            goto out;
        sorted[i] = m->counter[named[i].counter];
        sorted[i].scale = scale;
        place[named[i].counter] = i;
        widen(&m->scale[scale], m, named[i].counter);
    }
    m->scales = weft_strings_count(scales);
    for (uint32_t i = 0; i < m->changes; i++)
        m->change[i].counter = place[m->change[i].counter];
    memcpy(m->counter, sorted, m->counters * sizeof *sorted);
    rc = 0;
out:
    weft_free_all(named, sorted, place);
    weft_strings_free(scales);
    return rc < 0 ? weft_no_memory(b->err) : 0;
}

/* Streams may have gaps at the same time. */
static void join_missing(struct weft_model *m)
{
    uint32_t joined = 0;
    weft_sort(m->missing, m->missings, sizeof *m->missing, weft_order_i64); /* by start */
    for (uint32_t i = 0; i < m->missings; i++) {
        struct weft_span *last = &m->missing[joined - (joined > 0)];
        if (!joined || m->missing[i].start_ns > last->end_ns)
            m->missing[joined++] = m->missing[i];
        else if (m->missing[i].end_ns > last->end_ns)
            last->end_ns = m->missing[i].end_ns;
    }
    m->missings = joined;
}

/* Releases unused room. Returns false if this needs memory and there is none. */
static bool release(void *array, uint32_t used, size_t item)
{
    if (!used)
        return true;
    void *trimmed = realloc(*(void **)array, used * item);
    if (trimmed)
        *(void **)array = trimmed;
    return trimmed;
}

static int trim(struct weft_builder *b)
{
    struct weft_model *m = b->m;
    bool done = release(&m->promise, m->promises, sizeof *m->promise) &&
                release(&m->label, m->labels, sizeof *m->label) &&
                release(&m->interaction, m->interactions, sizeof *m->interaction) &&
                release(&m->hold, m->holds, sizeof *m->hold) &&
                release(&m->run, m->runs, sizeof *m->run) &&
                release(&m->sleep, m->sleeps, sizeof *m->sleep) &&
                release(&m->missing, m->missings, sizeof *m->missing) &&
                release(&m->pause, m->pauses, sizeof *m->pause) &&
                release(&m->preemption, m->preemptions, sizeof *m->preemption) &&
                release(&m->change, m->changes, sizeof *m->change) &&
                release(&m->traced, m->traceds, sizeof *m->traced);
    return done ? 0 : weft_no_memory(b->err);
}

/* Returns true if the recorder may have dropped it because it had become another promise. */
static bool may_be_let_go(const struct weft_promise *p)
{
    return p->outcome == WEFT_RESOLVED || (p->outcome == WEFT_PENDING && !p->created);
}

/* Returns true if somebody still waits for such a promise, which may be pending. */
static bool waits_for_unsure(const struct weft_builder *b)
{
    const struct weft_model *m = b->m;
    for (uint32_t i = 0; i < m->interactions && b->facts->promotion.let_go; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        const uint32_t actor = weft_model_final(m, x->actor), other = weft_model_final(m, x->other);
        if (x->kind == WEFT_WAITS && !x->replaced && m->promise[actor].outcome == WEFT_PENDING &&
            other != WEFT_ROOT && may_be_let_go(&m->promise[other]))
            return true;
    }
    return false;
}

int model_finish(struct weft_builder *b)
{
    TRY(model_rest(b));
    finish_promises(b->m);
    TRY(model_finish_holds(b));
    TRY(model_finish_traced(b));
    chain(b);
    join_missing(b->m);
    TRY(end_all_pending(b));
    b->unsure = waits_for_unsure(b);
    TRY(finish_counters(b));
    return trim(b);
}
