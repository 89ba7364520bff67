/* SPDX-License-Identifier: ISC */
#include "profile/gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "model/strings.h"
#include "profile/join.h"

/* ---- Which ---- */

enum wanted { UNKNOWN, WANTED, UNWANTED, ON_WAY };

/* Returns true if a promise is one that was asked for, or was created by one, directly or
 * indirectly. The answer is stored for each promise on the way, so that the total time is
 * linear. */
static bool is_wanted(struct profile_gather *g, uint32_t promise)
{
    const struct weft_model *m = g->p->model;
    uint32_t at = promise;
    while (g->wanted[at] == UNKNOWN) {
        g->wanted[at] = ON_WAY;
        at = m->promise[at].creator;
    }
    enum wanted found = g->wanted[at] == WANTED ? WANTED : UNWANTED; /* ON_WAY: a circle */
    for (at = promise; g->wanted[at] == ON_WAY; at = m->promise[at].creator)
        g->wanted[at] = (uint8_t)found;
    return found == WANTED;
}

static bool has_label(struct profile_gather *g, uint32_t promise)
{
    const struct weft_calltree_options *o = g->o;
    return profile_name_promise(g->names, promise) == g->label ||
           (o->family && o->family[promise] == g->label);
}

static bool has_promise(struct profile_gather *g, uint32_t promise)
{
    const struct weft_calltree_options *o = g->o;
    bool children = g->wanted, one = o->promise != WEFT_NONE;
    if (!one && !o->label)
        return true;
    if (promise == WEFT_NONE || (children && !is_wanted(g, promise)) ||
        (one && !children && promise != o->promise))
        return false;
    return !o->label || (children && !one) || has_label(g, promise);
}

static bool has_time(const struct profile_gather *g, uint64_t *from_ns, uint64_t *to_ns)
{
    const struct weft_calltree_options *o = g->o;
    if (!o->from_ns && !o->to_ns)
        return true;
    if (*from_ns == *to_ns)
        return *from_ns >= o->from_ns && *from_ns < o->to_ns;
    *from_ns = *from_ns > o->from_ns ? *from_ns : o->from_ns;
    *to_ns = *to_ns < o->to_ns ? *to_ns : o->to_ns;
    return *from_ns < *to_ns;
}

/* ---- Putting together ---- */

static bool add_item(struct profile_gather *g, const struct profile_item *item)
{
    const uint32_t before = g->items;
    const uint32_t at =
        weft_table_add(&g->items_by, &g->item, &g->items, &g->item_room, sizeof *item,
                       offsetof(struct profile_item, state) + sizeof item->state, item, g->seed);
    if (at < before) {
        g->item[at].value += item->value;
        g->item[at].samples += item->samples;
    }
    return at != UINT32_MAX;
}

static uint32_t group_of(struct profile_gather *g, const struct profile_item *item, uint32_t core)
{
    const uint32_t promise = item->promise;
    switch (g->o->by) {
    case WEFT_PROFILE_BY_PROMISE:
        return promise;
    case WEFT_PROFILE_BY_LABEL:
        return profile_name_family(g->names, promise);
    case WEFT_PROFILE_BY_ROOT:
        return profile_name_family(g->names, profile_is_gap(promise) ? promise : g->root[promise]);
    case WEFT_PROFILE_BY_THREAD:
        return item->thread;
    case WEFT_PROFILE_BY_CORE:
        return core;
    case WEFT_PROFILE_BY_OBJECT:
        return profile_name_object(g->names, item->stack);
    case WEFT_PROFILE_BY_PROCESS:
        return g->leader[item->thread];
    default:
        return 0;
    }
}

/* Adds one sample or absence. Fields that are not asked for are made equal, so that there are few
 * different items. */
static bool gather_item(struct profile_gather *g, struct profile_item item, uint32_t core)
{
    enum weft_async_stacks async = g->stacks ? g->o->async : WEFT_ASYNC_NONE;
    /* The sum would overflow: the excess is left out everywhere, so that parts add up to the
     * whole. */
    if (item.value > UINT64_MAX - g->total)
        item.value = UINT64_MAX - g->total;
    g->total += item.value;
    g->samples++;
    bool none = profile_is_gap(item.promise);
    if (none) { /* not more than the total */
        g->without_promise += item.value;
        g->gap[WEFT_NONE - item.promise] += item.value;
    }
    item.group = group_of(g, &item, core);
    if (!g->stacks) {
        item.stack = 0;
        item.state = WEFT_STATE_RUNNING;
    }
    if (async == WEFT_ASYNC_WAITERS && !none)
        return g->take(g->data, &item);
    if (async == WEFT_ASYNC_NONE)
        item.promise = WEFT_NONE;
    if (none || async == WEFT_ASYNC_NONE)
        item.thread = 0;
    return add_item(g, &item);
}

static bool is_there(const struct weft_profile *p, const struct weft_calltree_options *o,
                     const struct weft_sample *s)
{
    if (o->off_cpu || o->where == WEFT_PROFILE_ANYWHERE)
        return true;
    const bool kernel = s->flags & WEFT_SAMPLE_IN_KERNEL ||
                        (s->stack && p->location[p->stack[s->stack].location].kernel);
    return kernel == (o->where == WEFT_PROFILE_IN_KERNEL);
}

static bool take_all(struct profile_gather *g)
{
    const struct weft_profile *p = g->p;
    const struct weft_calltree_options *o = g->o;
    const struct weft_sample *s = o->off_cpu ? p->absence : p->sample;
    for (uint32_t i = 0, count = o->off_cpu ? p->absences : p->samples; i < count; i++, s++) {
        uint64_t from = s->time_ns, to = o->off_cpu ? from + s->value : from;
        if ((!o->off_cpu && s->source != o->source) ||
            (o->thread != WEFT_NONE && s->thread != o->thread) || !has_time(g, &from, &to) ||
            !has_promise(g, s->promise) || !is_there(p, o, s))
            continue;
        struct profile_item item = {
            .stack = s->stack,
            .promise = weft_frames_whose(s->promise, s->gap),
            .thread = s->thread,
            .state = weft_frames_state(s, o->off_cpu),
            .time_ns = s->time_ns,
            .value = o->off_cpu ? to - from : s->value,
            .samples = 1,
        };
        if (!gather_item(g, item, s->core))
            return false;
    }
    return true;
}

/* ---- The whole ---- */

/* Returns true if the options are possible at all. */
static bool is_possible(const struct weft_profile *p, const struct weft_calltree_options *o)
{
    bool of_promises = o->by == WEFT_PROFILE_BY_PROMISE || o->by == WEFT_PROFILE_BY_LABEL ||
                       o->by == WEFT_PROFILE_BY_ROOT || o->async != WEFT_ASYNC_NONE ||
                       o->promise != WEFT_NONE || o->label;
    if (of_promises && !p->model)
        return false;
    if (o->promise != WEFT_NONE && o->promise >= p->model->promises)
        return false;
    if (o->thread != WEFT_NONE && o->thread >= p->threads)
        return false;
    return o->off_cpu || o->source < p->sources || (o->source == 0 && !p->samples);
}

/* The thread with the process's number, or else the first one that there is of the process. */
static bool find_leaders(struct profile_gather *g)
{
    const struct weft_profile *p = g->p;
    struct weft_idmap *first = weft_idmap_new();
    g->leader = weft_resize(NULL, p->threads, sizeof *g->leader);
    bool ok = first && g->leader;
    for (uint32_t i = 0; ok && i < p->threads; i++) {
        const struct weft_thread *t = &p->thread[i];
        if (t->thread == t->process || weft_idmap_seek(first, t->process) == WEFT_IDMAP_NONE)
            ok = weft_idmap_put(first, t->process, i);
    }
    for (uint32_t i = 0; ok && i < p->threads; i++)
        g->leader[i] = weft_idmap_seek(first, p->thread[i].process);
    weft_idmap_free(first);
    return ok;
}

static bool prepare(struct profile_gather *g)
{
    const struct weft_calltree_options *o = g->o;
    const struct weft_model *m = g->p->model;
    const struct weft_frames_options frames = {g->stacks ? o->async : WEFT_ASYNC_NONE,
                                               o->by_family ? o->family : NULL};
    if (weft_frames_new(&g->frames, g->p, &frames) < 0)
        return false;
    g->names = profile_frames_names(g->frames);
    if (o->label) {
        g->label = weft_strings_add(g->p->strings, o->label, (uint32_t)strlen(o->label));
        if (g->label == WEFT_NONE)
            return false;
    }
    if (o->by == WEFT_PROFILE_BY_PROCESS && !find_leaders(g))
        return false;
    if (o->by == WEFT_PROFILE_BY_ROOT && !(g->root = weft_profile_roots(m)))
        return false;
    if (!o->with_children || (o->promise == WEFT_NONE && !o->label))
        return true;
    g->wanted = calloc(m->promises, 1);
    if (!g->wanted)
        return false;
    g->wanted[WEFT_ROOT] = UNWANTED;
    for (uint32_t i = WEFT_ROOT + 1; i < m->promises; i++)
        if (o->promise != WEFT_NONE ? i == o->promise : has_label(g, i))
            g->wanted[i] = WANTED;
    return true;
}

int profile_gather_run(struct profile_gather *g, struct weft_profile *p,
                       const struct weft_calltree_options *o, bool stacks, profile_item_fn *fn,
                       void *data)
{
    *g = (struct profile_gather){.p = p, .o = o, .stacks = stacks, .take = fn, .data = data};
    if (!is_possible(p, o))
        return WEFT_E_INVALID;
    g->seed = weft_seed();
    g->unit = o->off_cpu ? WEFT_UNIT_NS : p->sources ? p->source[o->source].unit : WEFT_UNIT_COUNT;
    if (!prepare(g) || !take_all(g))
        return WEFT_E_NOMEM;
    weft_table_drop(&g->items_by);
    for (uint32_t i = 0; i < g->items && !g->names->failed; i++)
        if (!fn(data, &g->item[i]))
            return WEFT_E_NOMEM;
    return g->names->failed ? WEFT_E_NOMEM : 0;
}

void profile_gather_fini(struct profile_gather *g)
{
    weft_frames_free(g->frames);
    weft_free_all(g->root, g->leader, g->wanted, g->item, g->items_by.slot);
}

struct weft_named_frame profile_gather_group(struct profile_gather *g, uint32_t group)
{
    struct weft_named_frame frame = profile_named(WEFT_FRAME_LABEL, group);
    switch (g->o->by) {
    case WEFT_PROFILE_BY_PROMISE:
        frame = profile_named(WEFT_FRAME_PROMISE, profile_name_promise(g->names, group));
        frame.promise = profile_is_gap(group) ? WEFT_NONE : group;
        break;
    case WEFT_PROFILE_BY_THREAD:
        frame = profile_named(WEFT_FRAME_THREAD, profile_name_thread(g->names, group));
        break;
    case WEFT_PROFILE_BY_CORE:
        frame = profile_named(WEFT_FRAME_CORE, profile_name_core(g->names, group));
        break;
    case WEFT_PROFILE_BY_OBJECT:
        frame = profile_named(WEFT_FRAME_OBJECT, group);
        break;
    case WEFT_PROFILE_BY_PROCESS:
        frame = profile_named(WEFT_FRAME_PROCESS, profile_name_process(g->names, group));
        break;
    default:
        break;
    }
    return frame;
}

bool profile_gather_state(const struct profile_gather *g, const struct profile_item *item,
                          struct weft_named_frame *frame)
{
    if (item->state == WEFT_STATE_PREEMPTED)
        *frame = profile_named(WEFT_FRAME_STATE, g->names->preempted);
    else if (item->stack == 0)
        *frame =
            profile_named(WEFT_FRAME_STATE, item->state == WEFT_STATE_WAITING ? g->names->waiting
                                                                              : g->names->no_stack);
    else
        return false;
    return true;
}

struct weft_named_frame profile_gather_shown(struct profile_gather *g,
                                             const struct weft_named_frame *frame)
{
    struct weft_named_frame shown = *frame;
    if (g->o->by != WEFT_PROFILE_BY_LINE || !frame->line || frame->function == WEFT_NONE)
        return shown;
    uint32_t file = g->p->function[frame->function].file;
    if (file)
        shown.text = profile_name_line(g->names, file, frame->line);
    return shown;
}

static bool same_object(const struct weft_profile *p, uint32_t location, uint32_t other)
{
    if (location == WEFT_NONE || other == WEFT_NONE)
        return location == other;
    const struct weft_location *a = &p->location[location], *b = &p->location[other];
    if (a->mapping == WEFT_NONE || b->mapping == WEFT_NONE)
        return a->mapping == b->mapping && a->kernel == b->kernel;
    return p->mapping[a->mapping].path == p->mapping[b->mapping].path;
}

/* A function's body may come from several files. Then it is several functions here, but one for
 * people. */
static bool same_function(const struct weft_profile *p, uint32_t function, uint32_t other)
{
    if (function == WEFT_NONE || other == WEFT_NONE || function == other)
        return function == other;
    const struct weft_function *a = &p->function[function], *b = &p->function[other];
    return a->name == b->name && a->system_name == b->system_name && a->start_line == b->start_line;
}

void profile_gather_merge(const struct profile_gather *g, struct weft_named_frame *known,
                          const struct weft_named_frame *frame)
{
    if (!same_function(g->p, known->function, frame->function))
        known->function = WEFT_NONE;
    if (known->location != frame->location && !same_object(g->p, known->location, frame->location))
        known->location = WEFT_NONE;
    if (known->promise != frame->promise)
        known->promise = WEFT_NONE;
    if (known->line != frame->line)
        known->line = 0;
}
