/* SPDX-License-Identifier: ISC */
/* Depth first. The states that are still to be looked at lie on a stack, each behind the one from which it
 * was reached, so that the way to a wrong one can be told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "explore.h"

/* An entry of the stack; the state follows. */
struct entry {
    uint32_t parent; /* index; its own: none */
    uint16_t number; /* move that led to it */
    uint16_t opened; /* what it leads to lies above */
};

struct search {
    const struct system *s;
    uint64_t *seen; /* hash table; 0: free */
    uint64_t slots, states, most;
    unsigned char *stack, *next;
    uint32_t entries, room;
    size_t entry_bytes;
    bool full;
};

static uint64_t hash_of(const unsigned char *bytes, size_t size)
{
    uint64_t h = UINT64_C(0x243f6a8885a308d3), g = UINT64_C(0x13198a2e03707344);
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
        g = (g + word) * UINT64_C(0xd6e8feb86659fd93);
        g ^= g >> 29;
    }
    h = (h ^ g << 1) * UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 33;
    return h ? h : 1;
}

static bool grow(struct search *x)
{
    uint64_t slots = x->slots ? x->slots * 2 : UINT64_C(1) << 16;
    uint64_t *seen = slots <= UINT64_C(1) << 31 ? calloc(slots, sizeof *seen) : NULL;
    if (!seen)
        return false;
    for (uint64_t i = 0; i < x->slots; i++) {
        uint64_t at = x->seen[i] & (slots - 1);
        while (x->seen[i] && seen[at])
            at = (at + 1) & (slots - 1);
        seen[at] = x->seen[i] ? x->seen[i] : seen[at];
    }
    free(x->seen);
    x->seen = seen;
    x->slots = slots;
    return true;
}

/* Whether the state is new. */
static bool is_new(struct search *x, const unsigned char *state)
{
    if (x->states * 4 >= x->slots * 3 && !grow(x)) {
        x->full = true;
        return false;
    }
    uint64_t h = hash_of(state, x->s->state_bytes), at = h & (x->slots - 1);
    for (; x->seen[at]; at = (at + 1) & (x->slots - 1))
        if (x->seen[at] == h)
            return false;
    x->seen[at] = h;
    x->states++;
    x->full |= x->most && x->states > x->most;
    return true;
}

static struct entry *entry_at(const struct search *x, uint32_t i)
{
    return (struct entry *)(void *)(x->stack + i * x->entry_bytes);
}

static unsigned char *state_of(struct entry *e)
{
    return (unsigned char *)(e + 1);
}

static bool push(struct search *x, uint32_t parent, unsigned number, const unsigned char *state)
{
    if (x->entries == x->room) {
        uint32_t room = x->room ? x->room * 2 : 1024;
        void *grown = realloc(x->stack, room * x->entry_bytes);
        if (!grown)
            return false;
        x->stack = grown;
        x->room = room;
    }
    struct entry *e = entry_at(x, x->entries++);
    *e = (struct entry){parent, (uint16_t)number, 0};
    memcpy(state_of(e), state, x->s->state_bytes);
    return true;
}

/* Prints the way to the entry, unless it is the first. */
static void tell_way(const struct search *x, uint32_t at)
{
    struct entry *e = entry_at(x, at);
    if (e->parent == at)
        return;
    uint32_t *way = calloc(x->entries, sizeof *way), steps = 0;
    if (!way)
        return;
    for (uint32_t i = at; entry_at(x, i)->parent != i; i = entry_at(x, i)->parent)
        way[steps++] = i;
    while (steps--) {
        e = entry_at(x, way[steps]);
        x->s->tell(state_of(entry_at(x, e->parent)), e->number, state_of(e));
    }
    free(way);
}

static unsigned depth_of(const struct search *x, uint32_t at)
{
    unsigned depth = 0;
    for (; entry_at(x, at)->parent != at; at = entry_at(x, at)->parent)
        depth++;
    return depth;
}

/* Puts on the stack what the entry leads to. Returns what is wrong with one of these, or with it. */
static const char *open_entry(struct search *x, uint32_t at, uint64_t *moves, uint32_t *where)
{
    const struct system *s = x->s;
    bool moved = false;
    *where = at;
    for (unsigned n = 0; n < s->moves && !x->full; n++) {
        memcpy(x->next, state_of(entry_at(x, at)), s->state_bytes);
        if (!s->move(x->next, n))
            continue;
        moved = true;
        ++*moves;
        if (!is_new(x, x->next))
            continue;
        if (!push(x, at, n, x->next)) {
            x->full = true;
            break;
        }
        const char *wrong = s->wrong(x->next, false);
        if (wrong) {
            *where = x->entries - 1;
            return wrong;
        }
    }
    return moved || x->full ? NULL : s->wrong(state_of(entry_at(x, at)), true);
}

struct explored explore(const struct system *s, uint64_t most, bool tell)
{
    struct search x = {.s = s, .most = most, .entry_bytes = sizeof(struct entry) + s->state_bytes};
    struct explored r = {.all = true};
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    x.next = calloc(1, s->state_bytes);
    if (!x.next || !grow(&x))
        abort();
    s->first(x.next);
    is_new(&x, x.next);
    if (!push(&x, 0, 0, x.next))
        abort();
    while (x.entries && !r.wrong && !x.full) {
        uint32_t at = x.entries - 1, where;
        if (entry_at(&x, at)->opened) {
            x.entries--;
            continue;
        }
        entry_at(&x, at)->opened = 1;
        r.wrong = open_entry(&x, at, &r.moves, &where);
        if (r.wrong) {
            r.steps = depth_of(&x, where);
            if (tell)
                tell_way(&x, where);
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    r.seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    r.states = x.states;
    r.all = !x.full;
    free(x.seen);
    free(x.stack);
    free(x.next);
    return r;
}
