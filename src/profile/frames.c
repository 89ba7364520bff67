/* SPDX-License-Identifier: ISC */
/* Named frames. A thread's stack consists of the code that runs the event loop, and of what the
 * loop has called; the former is replaced by a chain of promises. The loop ends at the innermost
 * function that is known to be a loop's. If there is none on the stack, it is what all stacks of
 * the thread have in common while it runs promises: since the stacks are a tree, that is one
 * node. */
#include "profile/frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lists.h"
#include "base/order.h"
#include "model/strings.h"
#include "profile/builder.h"
#include "profile/names.h"

enum {
    CREATORS_MAX = 256, /* how many are examined; successive equal ones are one frame */
    WAITERS_MAX = 64,
    LOOKED_AT = 64, /* of the waits for one promise */
};

/* Who waited for a promise at a given time. */
struct waits {
    uint32_t *first,
        *interaction; /* lists by what is waited for (base/lists.h), in order of time */
};

struct weft_frames {
    struct weft_profile *p;
    const struct weft_model *m;
    enum weft_async_stacks async;
    struct profile_names names;
    struct waits waits;
    bool *is_loop;  /* parallel to the functions */
    uint32_t *base; /* parallel to the threads: the stack up to where the loop ends, or WEFT_NONE */
    uint32_t functions;
    uint32_t more_text; /* "…" */

    struct weft_named_frame frame[WEFT_FRAMES_MAX + 1]; /* the innermost is the last */
    uint32_t count, limit;
};

/* ---- Where the loop ends ---- */

static bool is_loop_name(const char *name)
{
    static const char *const names[] = {
        "uv_run",          "uv__io_poll",     "g_main_context_iteration",
        "g_main_loop_run", "g_main_dispatch", "g_main_context_dispatch",
        "event_base_loop", "ev_run",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return !strncmp(name, "uv__run_", 8);
}

static bool find_loops(struct weft_frames *f)
{
    const struct weft_profile *p = f->p;
    f->functions = p->functions;
    f->is_loop = weft_resize(NULL, (uint64_t)p->functions + 1, sizeof *f->is_loop);
    for (uint32_t i = 0; f->is_loop && i < p->functions; i++)
        f->is_loop[i] = is_loop_name(weft_profile_text(p, p->function[i].name));
    return f->is_loop != NULL;
}

/* Returns true if threads begin with this function; a stack with another outermost function is
 * incomplete. A function without a name may be one. */
static bool is_beginning(const struct weft_profile *p, const struct weft_location *l)
{
    static const char *const names[] = {
        "_start",   "__libc_start_main", "__libc_start_call_main",
        "main",     "start_thread",      "thread_start",
        "clone",    "__clone",           "clone3",
        "__clone3",
    };
    if (l->kernel || l->mapping == WEFT_NONE)
        return false;
    if (!l->frames)
        return true;
    const struct weft_frame *outermost = &p->frame[l->first_frame + l->frames - 1u];
    const char *name = weft_profile_text(p, p->function[outermost->function].name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i])) && strchr("@.", name[strlen(names[i])]))
            return true;
    return false;
}

/* Marks the stacks that say nothing about where their thread's loop ends: a known loop function is
 * on them, or they are incomplete. */
static bool *stacks_left_out(const struct weft_frames *f)
{
    const struct weft_profile *p = f->p;
    bool *out = weft_resize(NULL, p->stacks, sizeof *out);
    if (!out)
        return NULL;
    out[0] = true;
    for (uint32_t s = 1; s < p->stacks; s++) { /* callers come before what they call */
        const struct weft_location *l = &p->location[p->stack[s].location];
        uint32_t parent = p->stack[s].parent;
        out[s] = parent ? out[parent] : !is_beginning(p, l);
        for (uint32_t i = 0; i < l->frames && !out[s]; i++)
            out[s] = f->is_loop[p->frame[l->first_frame + i].function];
    }
    return out;
}

/* The common part of two stacks. */
static uint32_t common(const struct weft_profile *p, uint32_t a, uint32_t b)
{
    const uint16_t *depth = p->build->depth;
    while (a != b) {
        if (depth[a] >= depth[b])
            a = p->stack[a].parent;
        else
            b = p->stack[b].parent;
    }
    return a;
}

static bool find_bases(struct weft_frames *f)
{
    const struct weft_profile *p = f->p;
    f->base = weft_new_none((uint64_t)p->threads + 1, sizeof *f->base);
    bool *out = stacks_left_out(f);
    uint32_t *seen = calloc(p->stacks, sizeof *seen); /* the thread it was last seen on, plus 1 */
    bool done = f->base && out && seen;
    for (uint32_t i = 0; done && i < p->samples; i++) {
        const struct weft_sample *s = &p->sample[i];
        uint32_t *base = &f->base[s->thread];
        if (s->promise == WEFT_NONE || s->flags & WEFT_SAMPLE_CUT || out[s->stack] ||
            seen[s->stack] == s->thread + 1)
            continue;
        seen[s->stack] = s->thread + 1;
        *base = *base == WEFT_NONE ? s->stack : common(p, *base, s->stack);
    }
    free(out);
    free(seen);
    return done;
}

/* ---- Who waits ---- */

/* A promise that waits for one that became another waits for the other. */
static uint32_t waited_for(const void *model, uint32_t interaction)
{
    const struct weft_model *m = model;
    const struct weft_interaction *i = &m->interaction[interaction];
    return i->kind == WEFT_WAITS ? weft_model_final(m, i->other) : WEFT_NONE;
}

/* The promise that has waited for it the longest at that time, or WEFT_NONE. If there are very many
 * waits, only the latest are considered. */
static uint32_t first_waiter(const struct waits *w, const struct weft_model *m, uint32_t promise,
                             int64_t now)
{
    uint32_t begin = w->first[promise], low = begin, high = w->first[promise + 1];
    WEFT_SEEK(low, high, m->interaction[w->interaction[middle]].time_ns <= now);
    uint32_t waiter = WEFT_NONE;
    for (uint32_t i = low; i > begin && low - i < LOOKED_AT; i--) {
        uint32_t actor = m->interaction[w->interaction[i - 1]].actor;
        const struct weft_promise *a = &m->promise[actor];
        if (actor != WEFT_ROOT && actor != promise &&
            (a->outcome == WEFT_PENDING || a->end_ns > now))
            waiter = actor;
    }
    return waiter;
}

/* ---- Making and freeing ---- */

int weft_frames_new(struct weft_frames **out, struct weft_profile *p,
                    const struct weft_frames_options *o)
{
    *out = NULL;
    struct weft_frames *f = calloc(1, sizeof *f);
    if (!f)
        return WEFT_E_NOMEM;
    f->p = p;
    f->m = p->model;
    f->async = f->m ? o->async : WEFT_ASYNC_NONE;
    bool done = profile_names_init(&f->names, p);
    f->names.family = o->family;
    f->more_text = weft_strings_add(p->strings, "…", (uint32_t)strlen("…"));
    done = done && f->more_text != WEFT_NONE;
    if (done && f->async != WEFT_ASYNC_NONE)
        done = find_loops(f) && find_bases(f);
    if (done && f->async == WEFT_ASYNC_WAITERS)
        done = weft_lists(&f->waits.first, &f->waits.interaction, f->m->promises,
                          f->m->interactions, waited_for, f->m);
    if (!done) {
        weft_frames_free(f);
        return WEFT_E_NOMEM;
    }
    *out = f;
    return 0;
}

struct profile_names *profile_frames_names(struct weft_frames *f)
{
    return &f->names;
}

void weft_frames_free(struct weft_frames *f)
{
    if (!f)
        return;
    profile_names_fini(&f->names);
    weft_free_all(f->waits.first, f->waits.interaction, f->is_loop, f->base, f);
}

/* ---- One stack ---- */

/* Puts a frame outside of those that are there. Returns false if there is no room; then a frame
 * says that there are more. */
static bool put(struct weft_frames *f, struct weft_named_frame frame)
{
    if (f->count == f->limit)
        return false;
    if (f->count == f->limit - 1)
        frame = profile_named(WEFT_FRAME_STATE, f->more_text);
    f->count++;
    f->frame[WEFT_FRAMES_MAX - f->count] = frame;
    return true;
}

/* Puts the frames of a location, innermost first, up to a frame of the loop. */
enum put_end { MORE, FULL, LOOP, NO_MEMORY };

static enum put_end put_location(struct weft_frames *f, uint32_t location, bool stop_at_loop)
{
    const struct weft_profile *p = f->p;
    const struct weft_location *l = &p->location[location];
    struct weft_named_frame frame = {.location = location, .promise = WEFT_NONE};
    for (uint32_t i = 0; i < l->frames; i++) {
        const struct weft_frame *in = &p->frame[l->first_frame + i];
        if (stop_at_loop && in->function < f->functions && f->is_loop[in->function])
            return LOOP;
        frame.function = in->function;
        frame.line = in->line;
        frame.kind = WEFT_FRAME_FUNCTION;
        frame.text = p->function[in->function].name;
        if (!put(f, frame))
            return FULL;
    }
    if (l->frames)
        return MORE;
    frame.kind = WEFT_FRAME_ADDRESS;
    frame.function = WEFT_NONE;
    frame.text = profile_name_address(&f->names, location);
    if (frame.text == WEFT_NONE)
        return NO_MEMORY;
    return put(f, frame) ? MORE : FULL;
}

/* Puts a stack; only up to where the loop ends, if that is wanted. Returns false if there is no
 * memory. */
static bool put_stack(struct weft_frames *f, uint32_t stack, uint32_t thread, bool async)
{
    const struct weft_profile *p = f->p;
    uint32_t base = async ? f->base[thread] : WEFT_NONE, at_base = WEFT_NONE;
    enum put_end end = MORE;
    for (uint32_t s = stack; s && end == MORE; s = p->stack[s].parent) {
        if (s == base && s != stack) /* the innermost frame stays */
            at_base = f->count;
        end = put_location(f, p->stack[s].location, async);
        if (s == base && s == stack)
            at_base = f->count;
    }
    if (async && end != LOOP && at_base != WEFT_NONE)
        f->count = at_base;
    return end != NO_MEMORY;
}

static bool put_promise(struct weft_frames *f, uint32_t whose)
{
    struct weft_named_frame frame =
        profile_named(WEFT_FRAME_PROMISE, profile_name_family(&f->names, whose));
    if (frame.text == WEFT_NONE)
        return false;
    frame.promise = profile_is_gap(whose) ? WEFT_NONE : whose;
    put(f, frame);
    return true;
}

/* Loops made of promises, each of which creates the next, are folded: successive equal names become
 * one frame. */
static bool put_creators(struct weft_frames *f, uint32_t promise)
{
    const struct weft_model *m = f->m;
    uint32_t last = WEFT_NONE, at = promise;
    for (unsigned i = 0; i < CREATORS_MAX && at != WEFT_ROOT && at != WEFT_NONE; i++) {
        uint32_t text = profile_name_family(&f->names, at);
        if (text == WEFT_NONE)
            return false;
        if (text != last && !put_promise(f, at))
            return false;
        last = text;
        uint32_t creator = m->promise[at].creator;
        if (creator == promise || creator == at)
            break;
        at = creator;
    }
    return true;
}

static bool put_waiters(struct weft_frames *f, uint32_t promise, uint64_t time_ns)
{
    uint32_t chain[WAITERS_MAX], count = 0, at = promise;
    int64_t now = weft_model_time(time_ns, f->m->first_ns);
    while (at != WEFT_NONE && at != WEFT_ROOT && count < WAITERS_MAX) {
        for (uint32_t i = 0; i < count; i++)
            if (chain[i] == at)
                return true;
        chain[count++] = at;
        if (!put_promise(f, at))
            return false;
        at = first_waiter(&f->waits, f->m, at, now);
    }
    return true;
}

const struct weft_named_frame *weft_frames_of(struct weft_frames *f, uint32_t stack, uint32_t whose,
                                              uint32_t thread, uint64_t time_ns, uint32_t *count)
{
    bool async = f->async != WEFT_ASYNC_NONE, none = profile_is_gap(whose), done;
    f->count = 0;
    f->limit = async ? WEFT_FRAMES_MAX - CREATORS_MAX : WEFT_FRAMES_MAX;
    done = put_stack(f, stack, thread, async && !none);
    f->limit = WEFT_FRAMES_MAX + 1; /* there is room for all promises */
    if (done && async) {
        if (none)
            done = put_promise(f, whose);
        else if (f->async == WEFT_ASYNC_CREATORS)
            done = put_creators(f, whose);
        else
            done = put_waiters(f, whose, time_ns);
    }
    *count = f->count;
    return done ? f->frame + WEFT_FRAMES_MAX - f->count : NULL;
}
