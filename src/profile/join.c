/* SPDX-License-Identifier: ISC */
/* Finds the promise that ran on a sample's thread at that time. All streams with the same thread
 * number are treated together, since the system reuses numbers: the one whose runs cover the time
 * is meant. */
#include "profile/join.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/lists.h"
#include "base/order.h"

/* A stream by the number of its thread. Streams with the same number form a group. */
struct numbered {
    uint32_t thread, stream;
};

/* Since when, on the model's clock, the events of a group are kept; before that they are
 * incomplete. */
struct kept {
    int64_t since_ns;
    bool overwritten; /* there were others before */
};

/* What belongs to a thread of the profile. */
struct of_thread {
    uint32_t group; /* WEFT_NONE: nothing was recorded on it */
    uint32_t next;  /* the first run that may not have ended */
};

struct join {
    struct weft_profile *p;
    const struct weft_model *m;
    uint32_t *promise;       /* of each run of the model */
    struct numbered *stream; /* sorted by number */
    uint32_t *group_of;      /* parallel to the model's streams: the first of the group in stream */
    uint32_t *first,
        *run; /* runs of promises, as lists by group (base/lists.h), in order of time */
    struct of_thread *thread; /* parallel to the profile's threads */
    struct kept *kept;        /* parallel to stream: per group */
    uint32_t streams;
};

static int by_number(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    WEFT_ORDER(x->thread, y->thread);
    return weft_order(x->stream, y->stream);
}

static bool allocate(struct join *j)
{
    uint64_t streams = (uint64_t)j->streams + 1, threads = (uint64_t)j->p->threads + 1;
    j->promise = weft_new_none((uint64_t)j->m->runs + 1, sizeof *j->promise);
    j->stream = weft_resize(NULL, streams, sizeof *j->stream);
    j->group_of = weft_resize(NULL, streams, sizeof *j->group_of);
    j->thread = weft_resize(NULL, threads, sizeof *j->thread);
    j->kept = calloc(streams, sizeof *j->kept);
    return j->promise && j->stream && j->group_of && j->thread && j->kept;
}

/* If several threads had the number, one after another, what is kept of the last one says nothing
 * about the time before it, except that there was something. */
static void note_kept(struct kept *k, const struct weft_stream_thread *t)
{
    if (t->overwritten && (!k->overwritten || t->first_ns < k->since_ns))
        k->since_ns = t->first_ns;
    k->overwritten |= t->overwritten;
}

static void group_streams(struct join *j)
{
    for (uint32_t i = 0; i < j->streams; i++)
        j->stream[i] = (struct numbered){j->m->stream_thread[i].thread, i};
    weft_sort(j->stream, j->streams, sizeof *j->stream, by_number);
    uint32_t group = 0;
    for (uint32_t i = 0; i < j->streams; i++) {
        if (j->stream[i].thread != j->stream[group].thread)
            group = i;
        j->group_of[j->stream[i].stream] = group;
        note_kept(&j->kept[group], &j->m->stream_thread[j->stream[i].stream]);
    }
}

/* The group of a run, if a promise ran. */
static uint32_t group_of_run(const void *join, uint32_t run)
{
    const struct join *j = join;
    if (j->promise[run] == WEFT_ROOT || j->promise[run] == WEFT_NONE)
        return UINT32_MAX;
    return j->group_of[j->m->run_stream ? j->m->run_stream[run] : 0];
}

static void find_promises(struct join *j)
{
    const struct weft_model *m = j->m;
    for (uint32_t p = 0; p < m->promises; p++)
        for (uint32_t r = m->promise[p].first_run; r != WEFT_NONE; r = m->run[r].next)
            j->promise[r] = p;
}

static bool is_its_thread(const struct weft_thread *t, const struct weft_stream_thread *s)
{
    return t->process == UINT32_MAX || !s->process || t->process == s->process;
}

static void find_threads(struct join *j)
{
    struct weft_profile *p = j->p;
    for (uint32_t i = 0; i < p->threads; i++) {
        struct weft_thread *t = &p->thread[i];
        uint32_t low = 0, high = j->streams;
        WEFT_SEEK(low, high, j->stream[middle].thread < t->thread);
        bool found = low < j->streams && j->stream[low].thread == t->thread &&
                     is_its_thread(t, &j->m->stream_thread[j->stream[low].stream]);
        j->thread[i].group = found ? low : WEFT_NONE;
        t->stream = found ? j->stream[low].stream : WEFT_NONE;
    }
}

/* What ran on a thread at that time. For each thread, the times must not run backwards. If runs do,
 * in a damaged trace, some of them are not found. */
static uint32_t promise_at(struct join *j, uint32_t thread, uint64_t time_ns)
{
    uint32_t group = j->thread[thread].group;
    if (group == WEFT_NONE)
        return WEFT_NONE;
    const struct weft_model *m = j->m;
    int64_t now = weft_model_time(time_ns, m->first_ns);
    /* only the first stream of a group has runs */
    uint32_t next = j->thread[thread].next, end = j->first[group + 1];
    while (next < end && m->run[j->run[next]].end_ns <= now)
        next++;
    j->thread[thread].next = next;
    bool runs = next < end && m->run[j->run[next]].start_ns <= now;
    return runs ? j->promise[j->run[next]] : WEFT_NONE;
}

/* Why no promise is known to have run on a thread at that time. If no event of a thread is kept, it
 * is not known whether there were any, unless all threads with events are there. */
static enum weft_gap gap_at(const struct join *j, uint32_t thread, uint64_t time_ns)
{
    const struct weft_model *m = j->m;
    int64_t now = weft_model_time(time_ns, m->first_ns);
    uint32_t group = j->thread[thread].group;
    if (!j->streams)
        return WEFT_GAP_NONE;
    if (now < m->begin_ns || now > m->end_ns)
        return WEFT_GAP_OUTSIDE;
    struct kept kept = {.since_ns = 0, .overwritten = m->losses.streams};
    if (group != WEFT_NONE)
        kept = j->kept[group];
    return kept.overwritten && now < kept.since_ns ? WEFT_GAP_OVERWRITTEN : WEFT_GAP_NONE;
}

static void join_samples(struct join *j, struct weft_sample *s, uint32_t count)
{
    for (uint32_t i = 0; i < j->p->threads; i++)
        j->thread[i].next = j->thread[i].group == WEFT_NONE ? 0 : j->first[j->thread[i].group];
    for (uint32_t i = 0; i < count; i++) {
        s[i].promise = promise_at(j, s[i].thread, s[i].time_ns);
        s[i].gap = (uint8_t)gap_at(j, s[i].thread, s[i].time_ns);
    }
}

static void forget_promises(struct weft_sample *s, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        s[i].promise = WEFT_NONE;
        s[i].gap = WEFT_GAP_NONE;
    }
}

static void forget(struct weft_profile *p)
{
    p->model = NULL;
    forget_promises(p->sample, p->samples);
    forget_promises(p->absence, p->absences);
    for (uint32_t i = 0; i < p->threads; i++)
        p->thread[i].stream = WEFT_NONE;
}

static bool is_elsewhere(const struct weft_profile *p, const struct weft_model *m)
{
    static const uint8_t unknown[sizeof p->boot_id];
    return memcmp(p->boot_id, unknown, sizeof unknown) != 0 &&
           memcmp(m->boot_id, unknown, sizeof unknown) != 0 &&
           memcmp(p->boot_id, m->boot_id, sizeof unknown) != 0;
}

int weft_profile_join(struct weft_profile *p, const struct weft_model *m)
{
    forget(p);
    if (is_elsewhere(p, m))
        return 1;
    struct join j = {.p = p, .m = m, .streams = m->stream_thread ? m->streams : 0};
    bool done = allocate(&j);
    if (done && j.streams) {
        find_promises(&j);
        group_streams(&j);
        done = weft_lists(&j.first, &j.run, j.streams, m->runs, group_of_run, &j);
    }
    if (done) {
        find_threads(&j);
        join_samples(&j, p->sample, p->samples);
        join_samples(&j, p->absence, p->absences);
        p->model = m;
    }
    weft_free_all(j.promise, j.stream, j.group_of, j.first, j.run, j.thread, j.kept);
    return done ? 0 : WEFT_E_NOMEM;
}

/* ---- On whose behalf ---- */

/* Returns true if a promise is a root whatever is above it. */
static bool is_top(const struct weft_model *m, uint32_t promise)
{
    uint32_t creator = m->promise[promise].creator;
    return creator == WEFT_ROOT || creator == WEFT_NONE || creator == promise ||
           m->promise[creator].background;
}

uint32_t *weft_profile_roots(const struct weft_model *m)
{
    uint32_t *root = weft_new_none(m->promises, sizeof *root);
    uint32_t *way = weft_resize(NULL, m->promises, sizeof *way);
    const uint32_t unknown = WEFT_NONE, on_way = WEFT_NONE - 1;
    for (uint32_t i = 1; root && way && i < m->promises; i++) {
        uint32_t steps = 0, at = i, top;
        for (; root[at] == unknown && !is_top(m, at); at = m->promise[at].creator) {
            root[at] = on_way;
            way[steps++] = at;
        }
        top = root[at] == unknown ? at : root[at];
        if (root[at] == unknown)
            root[at] = at;
        bool circle = top == on_way || !is_top(m, top);
        while (steps--) /* above a circle there is nothing */
            root[way[steps]] = circle ? way[steps] : top;
    }
    free(way);
    if (!way) {
        free(root);
        return NULL;
    }
    return root;
}
