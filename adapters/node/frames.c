/* SPDX-License-Identifier: ISC */
/* Finds the JavaScript calls on the stack without V8's help, which takes a microsecond or more. The frames form a
 * chain, and V8 notes where it has left JavaScript. The layout differs between versions, so it is derived from what V8
 * says about the same stack, and checked against V8 at each new place. If they do not agree, V8 is asked every time. */
#include "addon.h"

#include <pthread.h>
#include <string.h>

enum { ISOLATE_WORDS = 512, ENTRY_WORDS = 16, INTERPRETERS = 4, REFUSALS = 32, FRAMES_MAX = 256 };

static __thread struct {
    const uintptr_t *left;      /* in the isolate: the frame by which JavaScript was left */
    const uintptr_t *outermost; /* in the isolate: the frame by which it was entered first */
    unsigned before; /* in an entry frame: the frame by which JavaScript was left before that */
    uintptr_t end;   /* of the stack */
    uintptr_t
        interpreter[INTERPRETERS]; /* addresses within it, which are the same for all functions */
    unsigned refusals;
} known;

static bool on_stack(uintptr_t frame, uintptr_t below)
{
    return frame > below && frame % sizeof frame == 0 && frame + 2 * sizeof frame <= known.end;
}

static bool is_entry(const uintptr_t *frame)
{
    return frame[-1] == 2 || frame[-1] == 4;
}

/* A JavaScript frame has its context there; V8's other frames have a small even number. */
static bool is_function(const uintptr_t *frame)
{
    return frame[-1] & 1;
}

static bool interprets(uintptr_t pc)
{
    for (unsigned i = 0; i < INTERPRETERS && known.interpreter[i]; i++)
        if (known.interpreter[i] == pc)
            return true;
    return false;
}

/* Where an interpreted function is, in the same form as from V8. */
static uintptr_t bytecode(const uintptr_t *frame)
{
    return frame[-4] + (frame[-5] >> 32);
}

static void learn_interpreter(uintptr_t pc)
{
    for (unsigned i = 0; i < INTERPRETERS; i++)
        if (!known.interpreter[i]) {
            known.interpreter[i] = pc;
            return;
        }
}

/* The calls up to where JavaScript was entered; *frame becomes that frame, or 0. said: V8's list of them, if it is
 * known. */
static unsigned walk(uintptr_t *frame, uintptr_t *pc, unsigned most, const uintptr_t *said)
{
    unsigned n = 0;
    for (unsigned i = 0; i < FRAMES_MAX && n < most; i++) {
        const uintptr_t *f = (const uintptr_t *)*frame, *caller = (const uintptr_t *)f[0];
        if (!on_stack((uintptr_t)caller, *frame)) {
            *frame = 0;
            return n;
        }
        *frame = (uintptr_t)caller;
        if (is_entry(caller))
            return n;
        if (!is_function(caller))
            continue;
        if (said && said[n] != f[1] && said[n] == bytecode(caller) && !interprets(f[1]))
            learn_interpreter(f[1]);
        pc[n++] = interprets(f[1]) ? bytecode(caller) : f[1];
    }
    return n;
}

/* Where the address of the frame is stored by which the first of these calls left JavaScript; the last such word. */
static unsigned find_frame(const uintptr_t *words, int step, unsigned count, uintptr_t below,
                           const uintptr_t *said)
{
    for (unsigned i = count - 1; i > 0; i--) {
        uintptr_t frame = words[(int)i * step], pc[1];
        if (!on_stack(frame, below))
            continue;
        const uintptr_t caller = *(const uintptr_t *)frame;
        if (walk(&frame, pc, 1, said) == 1 && frame == caller && pc[0] == said[0])
            return i;
    }
    return 0;
}

/* 0: not known. crossed: a bit for each number of calls within which JavaScript was entered. */
static unsigned walk_all(uintptr_t *pc, unsigned most, uint32_t *crossed)
{
    unsigned n = 0;
    uintptr_t frame = known.left ? *known.left : 0, below = (uintptr_t)__builtin_frame_address(0);
    *crossed = 0;
    while (on_stack(frame, below)) {
        n += walk(&frame, pc + n, most - n, NULL);
        if (n == most)
            return n;
        *crossed |= UINT32_C(1) << n;
        if (frame && known.outermost && frame == *known.outermost)
            return n;
        if (!frame || !known.before)
            return 0;
        below = frame;
        frame = ((const uintptr_t *)frame)[-(int)known.before];
    }
    return 0;
}

unsigned frames_walk(uintptr_t *pc, unsigned most)
{
    uint32_t crossed;
    return walk_all(pc, most, &crossed);
}

/* 0: there is no such word. */
static unsigned find_word(const uintptr_t *words, unsigned count, uintptr_t what)
{
    unsigned i = count - 1;
    while (i > 0 && words[i] != what)
        i--;
    return i;
}

/* Learns what is not known yet from what V8 says. Where JavaScript was entered, V8 may also list the C++ calls that did
 * that. */
static void find_all(const uintptr_t *isolate, const uintptr_t *said, unsigned count, unsigned most)
{
    uintptr_t pc[FRAMES_MOST], below = (uintptr_t)__builtin_frame_address(0);
    unsigned at, n = 0;
    if (!known.left && (at = find_frame(isolate, 1, ISOLATE_WORDS, below, said)))
        known.left = isolate + at;
    uintptr_t frame = known.left ? *known.left : 0;
    while (on_stack(frame, below)) {
        n += walk(&frame, pc, most - n, said + n);
        if (n >= count || !frame)
            break;
        if (!known.before)
            known.before = find_frame((const uintptr_t *)frame, -1, ENTRY_WORDS, frame, said + n);
        if (!known.before && n + 1 < count)
            known.before =
                find_frame((const uintptr_t *)frame, -1, ENTRY_WORDS, frame, said + n + 1);
        below = frame;
        frame = known.before ? ((const uintptr_t *)frame)[-(int)known.before] : 0;
        uintptr_t first = frame;
        if (on_stack(frame, below) && n + 1 < count && walk(&first, pc, 1, said + n) == 1 &&
            pc[0] != said[n])
            n++;
    }
    if (n == count && n < most && frame && !known.outermost &&
        (at = find_word(isolate, ISOLATE_WORDS, frame)))
        known.outermost = isolate + at;
}

static bool same(const uintptr_t *pc, unsigned n, uint32_t crossed, const uintptr_t *said,
                 unsigned count, unsigned most)
{
    unsigned at = 0;
    for (unsigned i = 0; i < count; i++) {
        if (at < n && pc[at] == said[i])
            at++;
        else if (!(crossed >> at & 1))
            return false;
    }
    return at == n || count == most;
}

static uintptr_t stack_end(void)
{
    pthread_attr_t a;
    void *base = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &a) != 0)
        return 0;
    pthread_attr_getstack(&a, &base, &size);
    pthread_attr_destroy(&a);
    return (uintptr_t)base + size;
}

unsigned frames_learn(const void *isolate, uintptr_t *said, unsigned count, unsigned most)
{
    uintptr_t pc[FRAMES_MOST];
    uint32_t crossed;
    if (count == 0 || known.refusals == REFUSALS)
        return count;
    if (!known.end)
        known.end = stack_end();
    find_all(isolate, said, count, most);
    const unsigned n = walk_all(pc, most, &crossed);
    if (n && same(pc, n, crossed, said, count, most)) {
        memcpy(said, pc, n * sizeof *pc);
        return n;
    }
    known.before = 0; /* they may be elsewhere */
    known.outermost = NULL;
    if ((n || !known.left) && ++known.refusals == REFUSALS)
        known.left = NULL;
    return count;
}
