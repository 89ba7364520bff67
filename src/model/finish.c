/* SPDX-License-Identifier: ISC */
/* What can be said of promises only when all events have been read. */
#include <stdlib.h>
#include <string.h>

#include "model/build.h"

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Lets each promise point to the last one of its chain, so that nobody has to walk along it again. Every
 * link is followed twice. */
static void shorten_chains(struct weft_model *m)
{
    for (uint32_t i = 0; i < m->promises; i++) {
        uint32_t last = weft_model_final(m, i);
        for (uint32_t p = i, next; p != last; p = next) {
            next = m->final[p];
            m->final[p] = last;
        }
    }
}

/* A promise that should resolve and did not, directly or as what such a one became, ends with the
 * trace. */
static void end_overdue(struct weft_builder *b)
{
    struct weft_model *m = b->m;
    for (uint32_t i = 0; i < b->marks; i++) {
        uint32_t p = b->marked[i];
        m->promise[p].should_resolve = true;
        p = weft_model_final(m, p);
        m->promise[p].should_resolve = true;
    }
}

/* One that was pending before the oldest event that is there, but was not kept as one that still is. */
static bool must_have_ended(const struct weft_builder *b, const struct weft_promise *p)
{
    return !p->created && b->facts->promotion.complete;
}

/* The other pending ones end with their last sign of life: that they are still wanted is not known. Of
 * promoted ones that may be long before the first event; they are shown because they are pending. */
static void end_pending(struct weft_builder *b)
{
    struct weft_model *m = b->m;
    for (uint32_t i = 1; i < m->promises; i++) {
        struct weft_promise *p = &m->promise[i];
        if (p->outcome != WEFT_PENDING)
            continue;
        if (must_have_ended(b, p))
            p->outcome = WEFT_RESOLVED;
        else if (p->should_resolve || p->promoted) {
            p->end_ns = later(m->end_ns, p->start_ns);
            continue;
        }
        int64_t end = later(p->start_ns, b->growing[i].last_child_ns);
        end = later(end, b->growing[i].last_checked_ns);
        if (p->last_label != WEFT_NONE)
            end = later(end, m->label[p->last_label].time_ns);
        if (p->last_interaction != WEFT_NONE)
            end = later(end, m->interaction[p->last_interaction].time_ns);
        if (p->last_run != WEFT_NONE)
            end = later(end, m->run[p->last_run].end_ns);
        p->end_ns = end;
    }
    m->promise[WEFT_ROOT].end_ns = m->end_ns;
}

/* The types whose creation says less than their first read: they are made in one go with what they
 * will wait for. */
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

/* The read with which its line begins in the simplified form, or WEFT_NONE. first_wait: the earliest
 * wait for it that no read has replaced. bind: the texts of those types. */
static uint32_t waking_read(const struct weft_model *m, const uint32_t bind[BINDS], uint32_t index,
                            int64_t first_wait)
{
    const struct weft_promise *p = &m->promise[index];
    uint32_t i = p->first_interaction;
    if (index == WEFT_ROOT || i == WEFT_NONE || m->interaction[i].kind != WEFT_READS ||
        !is_bind(bind, p->type) || m->promise[p->creator].becomes == index)
        return WEFT_NONE;
    int64_t wake = m->interaction[i].time_ns;
    if (first_wait <= wake)
        return WEFT_NONE;
    if (p->first_label != WEFT_NONE)
        return m->label[p->first_label].time_ns < wake ? WEFT_NONE : i;
    /* The text of a failure stands in for a missing label. */
    return p->reason != WEFT_NONE && p->end_ns < wake ? WEFT_NONE : i;
}

static int simplify(struct weft_builder *b)
{
    struct weft_model *m = b->m;
    uint32_t bind[BINDS];
    for (unsigned t = 0; t < BINDS; t++) {
        bind[t] = weft_strings_add(m->strings, bind_names[t], (uint32_t)strlen(bind_names[t]));
        if (bind[t] == WEFT_STRINGS_NONE)
            return weft__no_room(b, weft_strings_count(m->strings), "texts");
    }
    int64_t *first_wait = malloc(m->promises * sizeof *first_wait);
    if (!first_wait)
        return weft_error_set(b->err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
    for (uint32_t i = 0; i < m->promises; i++)
        first_wait[i] = INT64_MAX;
    for (uint32_t i = 0; i < m->interactions; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        if (x->kind == WEFT_WAITS && !x->replaced && x->time_ns < first_wait[x->other])
            first_wait[x->other] = x->time_ns;
    }
    for (uint32_t i = 0; i < m->promises; i++) {
        struct weft_promise *p = &m->promise[i];
        uint32_t read = waking_read(m, bind, i, first_wait[i]);
        p->simplified = read != WEFT_NONE;
        p->wake_ns = p->simplified ? m->interaction[read].time_ns : p->start_ns;
        p->under = p->simplified ? m->interaction[read].other : p->creator;
    }
    free(first_wait);
    return 0;
}

struct named {
    const char *name;
    uint32_t size;       /* of the whole name */
    uint32_t scale_size; /* of the part that says the scale */
    uint32_t counter;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static void widen(struct weft_scale *s, const struct weft_model *m, uint32_t counter)
{
    int64_t min = 0, max = 0;
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

/* Sorts the counters by name and gives those whose names are equal up to the last '#' one scale. The
 * two names of mirage-tcpip that belong together are the old viewer's only special case. */
static int finish_counters(struct weft_builder *b)
{
    struct weft_model *m = b->m;
    if (!m->counters)
        return 0;
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
    free(named);
    free(sorted);
    free(place);
    weft_strings_free(scales);
    return rc < 0 ? weft_error_set(b->err, rc, WEFT_NO_OFFSET, "out of memory") : 0;
}

int weft__model_finish(struct weft_builder *b)
{
    int rc = weft__model_rest(b);
    if (rc < 0)
        return rc;
    shorten_chains(b->m);
    end_overdue(b);
    end_pending(b);
    rc = simplify(b);
    return rc < 0 ? rc : finish_counters(b);
}
