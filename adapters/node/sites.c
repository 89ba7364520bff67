/* SPDX-License-Identifier: ISC */
/* Places in the program. Asking V8 for a stack with names takes some microseconds; reading the code addresses of the
 * calls takes little. So what was learnt about a place is cached by its code addresses. They are valid until a garbage
 * collection moves code; then the cache is cleared. */
#include "addon.h"

#include <stdlib.h>
#include <string.h>

enum {
    SITES_MAX = 16384,
    KEYS = 8192 /* a power of two */,
    NEAR = 4,
    FAR = FRAMES_MOST,
    DEEP = INT32_MAX
};

struct site {
    struct weft_site place;
    const char *type, *label;
};

static __thread struct site **sites;
static __thread int32_t count;
static __thread struct key {
    uint64_t of; /* 0: none */
    int32_t index;
} * keys;
static __thread uint64_t last_near, last_far;

static uint64_t hash(const uintptr_t *pc, unsigned n, uint64_t seed)
{
    uint64_t h = seed + n;
    for (unsigned i = 0; i < n; i++)
        h = (h ^ pc[i]) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 29;
    return h ? h : 1;
}

static void forget(void)
{
    if (keys)
        memset(keys, 0, KEYS * sizeof *keys);
}

/* Two slots for each hash; the newer entry takes the first. */
static int32_t find(uint64_t of)
{
    const struct key *k = &keys[of & (KEYS - 2)];
    return k[0].of == of ? k[0].index : k[1].of == of ? k[1].index : -1;
}

static void keep(uint64_t of, int32_t index)
{
    struct key *k = &keys[of & (KEYS - 2)];
    if (k[0].of != of)
        k[1] = k[0];
    k[0] = (struct key){of, index};
}

static uint64_t near_of(const uintptr_t *pc, unsigned n)
{
    return hash(pc, n < NEAR ? n : NEAR, NEAR);
}

static uint64_t far_of(const uintptr_t *pc, unsigned n)
{
    return hash(pc, n, FAR << 8);
}

int32_t site_here(void)
{
    uintptr_t pc[FAR];
    last_near = last_far = 0;
    if (!keys && !(keys = calloc(KEYS, sizeof *keys)))
        return -1;
    unsigned n = v8_where(pc, NEAR);
    int32_t found = n ? find(near_of(pc, n)) : -1;
    if (found == DEEP)
        found = (n = v8_where(pc, FAR)) ? find(far_of(pc, n)) : -1;
    if (found >= 0 || (n = v8_sample(pc, FAR)) == 0)
        return found;
    last_near = near_of(pc, n); /* what is learnt now comes from V8 */
    last_far = far_of(pc, n);
    found = find(last_near);
    return found == DEEP ? find(last_far) : found;
}

void site_learn(int32_t index, bool deep)
{
    static __thread bool watched;
    if (!watched)
        v8_watch_gc(forget);
    watched = true;
    if (!last_near)
        return;
    keep(last_near, deep ? DEEP : index);
    if (deep && last_far)
        keep(last_far, index);
}

int32_t site_add(const char *type, const char *label)
{
    if (!sites && !(sites = calloc(SITES_MAX, sizeof *sites)))
        return -1;
    if (count == SITES_MAX)
        return 0;
    struct site *s = calloc(1, sizeof *s);
    if (!s)
        return -1;
    s->type = strdup(type);
    s->label = *label ? strdup(label) : NULL;
    s->place.literal = 3;
    sites[count] = s;
    return count++;
}

weft_promise site_create(int32_t index, weft_promise parent, weft_promise running)
{
    if (!WEFT_IMPL_ON() || index < 0 || index >= count || !sites[index]->type)
        return 0;
    struct site *s = sites[index];
    return parent == running ? weft_impl_create(&s->place, s->type, s->label)
                             : weft_impl_create_from(&s->place, parent, s->type, s->label);
}
