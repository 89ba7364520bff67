/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "ring.h"

u8 load(const struct state *s, const struct thread *t, u8 at)
{
    for (unsigned i = t->stores; i--;)
        if (t->store[i].at == at)
            return t->store[i].value;
    return s->memory[at];
}

bool store(struct thread *t, u8 at, u8 value, u8 order)
{
    if (t->stores == setup.stores)
        return false;
    t->store[t->stores++] = (struct store){at, value, order};
    t->fresh++;
    return true;
}

bool can_exchange(const struct thread *t, bool release)
{
    return t->stores == 0 || (setup.weak && !release);
}

/* Whether the n-th store may overtake those before it. */
static bool overtakes(const struct thread *t, unsigned n)
{
    for (unsigned i = 0; i <= n; i++)
        if ((i && t->store[i].order & FENCED) ||
            (i < n && (t->store[i].at == t->store[n].at || t->store[i].at == ALL_ENDED)))
            return false;
    return !(t->store[n].order & RELEASE);
}

/* What is known once the store is in memory. */
static void note_published(struct state *s, unsigned place, unsigned event)
{
    u8 e = s->memory[IN_PLACE(place, EVENT + event)];
    u8 p = (u8)(1 << (e >> 4 & 3));
    s->published++;
    s->created |= e >> 6 == CREATES ? p : 0;
    s->ended |= e >> 6 == ENDS ? p : 0;
    s->noted |= e >> 6 == NOTES ? p : 0;
}

static void write_memory(struct state *s, struct store w)
{
    if (w.at == ALL_ENDED) {
        memset(&s->memory[IN_PLACE(w.value, ENDED)], 0, EVENTS);
        s->tenant[w.value] = 0;
        return;
    }
    unsigned place = w.at / PLACE_BYTES, word = w.at % PLACE_BYTES;
    u8 before = s->memory[w.at];
    s->memory[w.at] = w.value;
    if (w.at >= PLACES * PLACE_BYTES)
        return;
    if (word == CONTENT && w.value > before)
        note_published(s, place, w.value - 1u);
    if (word == ENDED || word == ENDED + 1) {
        /* The value says whose byte it was meant to be. */
        s->memory[w.at] = 1;
        if (s->tenant[place] != w.value)
            s->bad = STALE_BYTE;
    }
}

bool commit(struct state *s, struct thread *t, unsigned n)
{
    if (n >= t->stores || (n && !(setup.weak && overtakes(t, n))))
        return false;
    struct store w = t->store[n];
    t->stores--;
    memmove(&t->store[n], &t->store[n + 1], (t->stores - n) * sizeof w);
    memset(&t->store[t->stores], 0, sizeof w);
    if (t->fresh > t->stores - n)
        t->fresh = (u8)(t->stores - n);
    write_memory(s, w);
    return true;
}
