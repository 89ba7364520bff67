/* SPDX-License-Identifier: ISC */
/* Functions of JavaScript on the stacks of threads. Compilers keep what is needed for this at fixed places of a frame:
 * below the caller's frame pointer and the address to return to, the context and the function. Frames of C++ between
 * them, which often have no frame pointers, do not matter: the stack is searched word by word. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "now/node.h"
#include "now/threads.h"

enum {
    THREADS_MAX = 64,
    RUNNING_MAX = 8,       /* that are stopped for a moment */
    STACK_REACH = 1 << 23, /* bytes between two frames */
    /* words above the function, */
    CONTEXT = 1,
    CALLER = 2,
    RETURN = 3,
    /* … and below it, if it is interpreted */
    BYTECODE = 2,
    BYTECODE_AT = 3,
};

struct stack {
    struct node *d;
    uint64_t sp;
    uint32_t words;
    uint64_t word[SAMPLE_STANDING_BYTES / 8];
    struct frame {
        uint64_t function;
        int32_t code_offset; /* -1: not known */
    } frame[NOW_FRAMES_MAX];
    uint32_t frames;
};

/* ---- Frames ---- */

static bool is_frame(struct stack *s, uint32_t i)
{
    struct v8 *v = &s->d->v;
    const uint64_t at = s->sp + (uint64_t)i * 8, caller = s->word[i + CALLER];
    if (!v8_is_object(s->word[i]) || !v8_is_object(s->word[i + CONTEXT]) || caller % 8 ||
        caller <= at || caller - at > STACK_REACH)
        return false;
    const struct now_mapping *m = now_mapping_at(v->p, s->word[i + RETURN]);
    return m && m->executable && v8_is_context(v, s->word[i + CONTEXT]) &&
           v8_is_function(v, s->word[i]);
}

/* Where an interpreted function is; the others do not say it on the stack. */
static int32_t code_offset(struct stack *s, uint32_t i)
{
    if (i < BYTECODE_AT || !v8_is(&s->d->v, s->word[i - BYTECODE], V8_TYPE_BYTECODE) ||
        !v8_is_small(s->word[i - BYTECODE_AT]))
        return -1;
    return v8_small(s->word[i - BYTECODE_AT]);
}

static void find_frames(struct stack *s)
{
    s->frames = 0;
    for (uint32_t i = 0; i + RETURN < s->words && s->frames < NOW_FRAMES_MAX; i++)
        if (is_frame(s, i)) {
            s->frame[s->frames++] = (struct frame){s->word[i], code_offset(s, i)};
            i += RETURN;
        }
}

/* ---- Stacks ---- */

static bool read_standing(struct stack *s, uint64_t sp)
{
    const struct now_mapping *m = now_mapping_at(s->d->v.p, sp);
    const uint64_t left = m ? m->end - sp : 0;
    const size_t bytes = left < sizeof s->word ? (size_t)left : sizeof s->word;
    if (!now_read(s->d->v.p, sp, s->word, bytes))
        return false;
    s->sp = sp;
    s->words = (uint32_t)(bytes / 8);
    return s->words;
}

static bool read_left(struct stack *s, const struct weft_core *core, uint32_t thread)
{
    for (uint32_t i = 0; i < core->threads; i++)
        if (core->thread[i].number == thread)
            return read_standing(s, core->thread[i].sp);
    return false;
}

static bool read_running(struct stack *s, struct now_runner *r, uint32_t thread)
{
    struct now_registers regs;
    size_t bytes = 0;
    if (!r || !now_runner_look(r, thread, &regs, s->word, sizeof s->word, &bytes))
        return false;
    s->sp = regs.sp;
    s->words = (uint32_t)(bytes / 8);
    return s->words;
}

/* ---- What is said ---- */

static void add_frames(struct stack *s, uint32_t thing)
{
    for (uint32_t i = 0; i < s->frames; i++) {
        const struct v8_place *p = node_place(s->d, s->frame[i].function, s->frame[i].code_offset);
        if (p->function[0] || p->file[0])
            now_frame(s->d->n, thing, p->function[0] ? p->function : "(anonymous)",
                      p->file[0] ? p->file : NULL, p->line ? p->line : p->begins);
    }
}

/* Code that V8 made: it has no name, or is one of its own functions, of which a program need not have the names. */
static bool is_made(const struct stack *s, const struct now_frame *f)
{
    const char *object = s->d->v.object;
    const size_t size = strlen(object);
    return f->function &&
           (strncmp(f->function, "0x", 2) == 0 || strncmp(f->function, "Builtins_", 9) == 0 ||
            (strncmp(f->function, object, size) == 0 &&
             strncmp(f->function + size, "+0x", 3) == 0));
}

/* Puts them in the place of the frames that are V8's. */
static void replace_frames(struct stack *s, uint32_t thing)
{
    struct now_thing *t = &s->d->n->thing[thing];
    struct now_frame *old = t->frame;
    const uint32_t count = t->frames;
    uint32_t first = 0, last = 0;
    while (first < count && !is_made(s, &old[first]))
        first++;
    if (first == count && t->whole && !t->frames_left_out)
        return; /* what was found is left from before */
    for (uint32_t i = first; i < count; i++)
        last = is_made(s, &old[i]) ? i + 1 : last;
    t->frame = NULL;
    t->frames = 0;
    for (uint32_t i = 0; i < first; i++)
        now_frame(s->d->n, thing, old[i].function, old[i].file, old[i].line);
    add_frames(s, thing);
    for (uint32_t i = last ? last : count; i < count; i++)
        now_frame(s->d->n, thing, old[i].function, old[i].file, old[i].line);
    for (uint32_t i = 0; i < count; i++)
        weft_free_all(old[i].function, old[i].file);
    free(old);
}

static void tell(struct stack *s, uint32_t thing, bool running)
{
    find_frames(s);
    if (!s->frames)
        return;
    replace_frames(s, thing);
    const struct now_thing *t = &s->d->n->thing[thing];
    for (uint32_t i = 0; running && i < t->frames; i++)
        if (t->frame[i].file && t->frame[i].line) {
            now_state(s->d->n, thing, "runs %s (%s:%" PRIu32 ")", t->frame[i].function,
                      t->frame[i].file, t->frame[i].line);
            return;
        }
}

void node_stacks(struct node *d)
{
    struct now_threads t = {.n = d->n, .p = d->v.p};
    struct stack *s = calloc(1, sizeof *s);
    struct now_runner *r = NULL;
    uint32_t running = 0, threads = 0;
    d->n->failed |= !s;
    for (uint32_t i = 0; s && i < d->n->things && threads < THREADS_MAX; i++) {
        struct sample_standing_at at;
        const uint32_t thread = (uint32_t)d->n->thing[i].key;
        if (d->n->thing[i].kind != NOW_THREAD)
            continue;
        threads++;
        s->d = d;
        if (d->v.p->core) {
            if (read_left(s, d->v.p->core, thread))
                tell(s, i, false);
        } else if (sample_standing_at((uint32_t)d->v.p->pid, thread, &at) && !at.running) {
            if (read_standing(s, at.sp))
                tell(s, i, false);
        } else if (running++ < RUNNING_MAX && (r || (r = now_runner_new(&t))) &&
                   read_running(s, r, thread))
            tell(s, i, true);
    }
    now_runner_free(r);
    free(s);
}
