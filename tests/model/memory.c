/* SPDX-License-Identifier: ISC */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"

enum { REGIONS = 16, LOCATIONS = 1 << 14, HISTORY = 200, EPOCHS = 8192 };

/* What is known of the other threads: all that each did up to that epoch. A thread's own is the present one. */
struct clock {
    uint16_t of[THREADS];
};

/* One value of a location's history. */
struct store {
    uint64_t value,
        name; /* name: a hash of the store's past, the same in all ways that have the same past */
    struct clock carries;
    uint16_t epoch;
    uint8_t thread;
};

struct location {
    const unsigned char *at;
    uint8_t bytes;
    uint8_t loaders, storers; /* threads, as bits, in any run of the scene */
    uint64_t run;             /* the following is of this run */
    uint16_t stores;
    uint16_t floor[THREADS]; /* the oldest that the thread can see */
    uint16_t fence_floor;    /* … after a sequentially consistent fence */
    uint64_t order;          /* hash of the history */
    struct store *store;
};

/* A byte's last accesses: their epochs, or 0. */
struct byte {
    uint64_t run;
    uint8_t users; /* threads, as bits */
    uint8_t writer;
    uint16_t written; /* not atomically */
    uint16_t read[THREADS], loaded[THREADS], stored[THREADS];
};

static struct region {
    unsigned char *at, *first; /* first: what each run begins with */
    size_t bytes;
    const char *name;
    struct byte *byte;
    uint16_t *location; /* by offset: index plus 1 */
    uint8_t *flags;
} region[REGIONS];
static const unsigned char *lowest, *highest; /* of all regions */
enum { SINGLE = 1, UNCHECKED = 2 };

static unsigned regions, locations;
static struct location location[LOCATIONS];
static uint64_t run;
static bool on;

static struct view {
    struct clock now;      /* what happens before the thread's next access */
    struct clock behind;   /* … after its next acquire fence */
    struct clock released; /* as of its last release fence */
    uint64_t past;         /* hash of all that it did and saw */
    const struct location *spin;
    uint64_t spun; /* its last access was a load of that, and got the store of that name */
} view[THREADS];
static struct clock released_at[THREADS][EPOCHS]; /* view.released, by epoch */
static uint64_t fences;    /* hash of the order of what is sequentially consistent */
static uint64_t histories; /* hash of all of them */
static struct location *active[LOCATIONS]; /* that have a history */
static unsigned actives;

bool (*memory_part)(const void *at, char *name, size_t size);
void (*memory_before_store)(const void *at);
void (*memory_after_store)(const void *at, uint64_t value);

/* ---- Clocks ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
    return h ^ h >> 31;
}

static void join(struct clock *to, const struct clock *from)
{
    for (unsigned t = 0; t < THREADS; t++)
        to->of[t] = to->of[t] > from->of[t] ? to->of[t] : from->of[t];
}

static bool knows(unsigned t, unsigned other, unsigned epoch)
{
    return epoch <= view[t].now.of[other];
}

/* What the thread does from here on is not part of what it has released. */
static void next_epoch(unsigned t)
{
    if (++view[t].now.of[t] == EPOCHS)
        abort();
    released_at[t][view[t].now.of[t]] = view[t].released;
}

static bool acquires(int order)
{
    return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}

static bool releases(int order)
{
    return order >= __ATOMIC_RELEASE;
}

/* ---- Regions and locations ---- */

static void *zeros(size_t count, size_t bytes)
{
    void *p = calloc(count, bytes);
    if (!p)
        abort();
    return p;
}

void memory_region(void *at, size_t bytes, const char *name)
{
    if (regions == REGIONS)
        abort();
    lowest = !regions || (unsigned char *)at < lowest ? at : lowest;
    highest =
        !regions || (unsigned char *)at + bytes > highest ? (unsigned char *)at + bytes : highest;
    region[regions++] = (struct region){at,
                                        zeros(bytes, 1),
                                        bytes,
                                        name,
                                        zeros(bytes, sizeof(struct byte)),
                                        zeros(bytes, sizeof(uint16_t)),
                                        zeros(bytes, 1)};
}

static struct region *region_of(const void *at)
{
    const unsigned char *p = at;
    if (p < lowest || p >= highest)
        return NULL;                     /* a stack */
    static struct region *last = region; /* often the same one again */
    if (last < region + regions && p >= last->at && p < last->at + last->bytes)
        return last;
    for (struct region *r = region + regions; r-- > region;)
        if (p >= r->at && p < r->at + r->bytes)
            return last = r;
    return NULL;
}

static size_t offset_in(const struct region *r, const void *at)
{
    return (size_t)((const unsigned char *)at - r->at);
}

static void set_flag(void *at, size_t bytes, uint8_t flag)
{
    struct region *r = region_of(at);
    for (size_t i = 0; i < bytes; i++)
        r->flags[offset_in(r, at) + i] |= flag;
}

void memory_bytes(void *at, size_t bytes)
{
    set_flag(at, bytes, SINGLE);
}

void memory_unchecked(void *at, size_t bytes)
{
    set_flag(at, bytes, UNCHECKED);
}

void memory_forget(void)
{
    for (; regions; regions--) {
        struct region *r = &region[regions - 1];
        free(r->first);
        free(r->byte);
        free(r->location);
        free(r->flags);
    }
    for (; locations; locations--) {
        free(location[locations - 1].store);
        memset(&location[locations - 1], 0, sizeof *location);
    }
}

void memory_ready(void)
{
    for (struct region *r = region; r < region + regions; r++)
        memcpy(r->first, r->at, r->bytes);
}

void memory_begin(void)
{
    for (struct region *r = region; r < region + regions; r++)
        memcpy(r->at, r->first, r->bytes);
    memset(view, 0, sizeof view);
    run++;
    actives = 0;
    fences = histories = 0;
    for (unsigned t = 0; t < THREADS; t++)
        next_epoch(t);
    on = true;
}

void memory_end(void)
{
    on = false;
}

/* The word as it is in memory. */
static uint64_t word_at(const void *at, unsigned bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    return value;
}

static void set_word(void *at, unsigned bytes, uint64_t value)
{
    memcpy(at, &value, bytes);
}

const char *memory_name(const void *at)
{
    static char text[80];
    const struct region *r = region_of(at);
    if (!memory_part || !memory_part(at, text, sizeof text))
        snprintf(text, sizeof text, "%s+%zu", r ? r->name : "?", r ? offset_in(r, at) : 0);
    return text;
}

static bool is_shared(const struct location *l)
{
    const unsigned all = l->loaders | l->storers;
    return l->storers && (all & (all - 1));
}

/* The location of an access. *shared: threads must be able to change before it. */
static struct location *find(const void *at, unsigned bytes, bool loads, bool stores, bool *shared)
{
    struct region *r = region_of(at);
    uint16_t *index = &r->location[offset_in(r, at)];
    if (!*index) {
        if (locations == LOCATIONS)
            abort();
        *index = (uint16_t)++locations;
        location[*index - 1] = (struct location){.at = at, .bytes = (uint8_t)bytes};
    }
    struct location *l = &location[*index - 1];
    if (l->bytes != bytes)
        fail("%s is used as %u bytes and as %u", memory_name(at), l->bytes, bytes);
    const bool before = is_shared(l);
    l->loaders |= (uint8_t)(loads << self);
    l->storers |= (uint8_t)(stores << self);
    *shared = is_shared(l);
    if (*shared != before)
        begin_again();
    if (*shared && l->run != run) {
        l->run = run;
        l->stores = 1;
        l->fence_floor = 0;
        memset(l->floor, 0, sizeof l->floor);
        l->order = 0;
        if (!l->store)
            l->store = zeros(HISTORY, sizeof *l->store);
        l->store[0] = (struct store){.value = word_at(at, bytes)};
        active[actives++] = l;
    }
    return l;
}

uint64_t memory_hash(void)
{
    uint64_t h = fences + histories;
    for (unsigned t = 0; t < THREADS; t++)
        h += mix(view[t].past, t + 1);
    return mix(h, 0);
}

/* ---- Races ---- */

static struct byte *byte_at(const struct region *r, size_t offset)
{
    struct byte *b = &r->byte[offset];
    if (b->run != run)
        *b = (struct byte){.run = run};
    return b;
}

static void no_race(const struct region *r, size_t offset, const uint16_t epoch[THREADS],
                    const char *what)
{
    for (unsigned t = 0; t < THREADS; t++)
        if (t != self && epoch[t] && !knows(self, t, epoch[t]))
            fail("race: thread %u's access to %s is not ordered with thread %u's, which %s it",
                 self, memory_name(r->at + offset), t, what);
}

static void not_written(const struct region *r, size_t offset, const struct byte *b)
{
    if (b->written && b->writer != self && !knows(self, b->writer, b->written))
        fail("race: thread %u's access to %s is not ordered with thread %u's, which wrote it", self,
             memory_name(r->at + offset), b->writer);
}

static void check_atomic(const struct region *r, size_t offset, bool stores, uint16_t epoch,
                         bool foreign)
{
    struct byte *b = byte_at(r, offset);
    if (r->flags[offset] & UNCHECKED || foreign)
        return;
    if (b->users & ~(1u << self))
        not_written(r, offset, b);
    if (stores && b->users & ~(1u << self))
        no_race(r, offset, b->read, "read");
    b->users |= (uint8_t)(1 << self);
    b->loaded[self] = epoch;
    if (stores)
        b->stored[self] = epoch;
}

static void access(const void *at, size_t bytes, bool writes)
{
    struct region *r = on ? region_of(at) : NULL;
    if (!r)
        return;
    if (writes && memory_before_store)
        memory_before_store(at);
    view[self].spin = NULL;
    const uint16_t epoch = view[self].now.of[self];
    for (size_t i = offset_in(r, at), end = i + bytes; i < end; i++) {
        struct byte *b = byte_at(r, i);
        if (b->users == 1 << self &&
            (writes ? b->writer == self && b->written == epoch : b->read[self] == epoch))
            continue;
        if (r->flags[i] & UNCHECKED)
            continue;
        if (b->users & ~(1u << self)) {
            not_written(r, i, b);
            no_race(r, i, b->stored, "stored");
        }
        if (writes && b->users & ~(1u << self)) {
            no_race(r, i, b->read, "read");
            no_race(r, i, b->loaded, "loaded");
        }
        b->users |= (uint8_t)(1 << self);
        if (writes) {
            b->writer = (uint8_t)self;
            b->written = epoch;
        } else {
            b->read[self] = epoch;
        }
    }
}

/* ---- Histories ---- */

/* The oldest store that the thread can see. */
static unsigned floor_of(const struct location *l, unsigned t)
{
    unsigned i = l->stores - 1u;
    while (i > l->floor[t] && !knows(t, l->store[i].thread, l->store[i].epoch))
        i--;
    return i;
}

static void fence(unsigned t, int order)
{
    struct view *v = &view[t];
    if (acquires(order))
        join(&v->now, &v->behind);
    if (order == __ATOMIC_SEQ_CST) {
        for (unsigned i = 0; i < actives; i++) {
            struct location *l = active[i];
            const unsigned floor = floor_of(l, t);
            l->fence_floor = l->fence_floor > floor ? l->fence_floor : (uint16_t)floor;
            l->floor[t] = l->fence_floor;
        }
        v->past = mix(v->past, 1);
        fences = mix(fences, v->past);
    }
    if (releases(order)) {
        v->released = v->now;
        next_epoch(t);
    }
    v->past = mix(v->past, 2 + (uint64_t)order);
    v->spin = NULL;
}

static void tell(const char *what, const struct location *l, uint64_t value, unsigned older,
                 int order)
{
    static const char *const orders[] = {"relaxed", "consume", "acquire",
                                         "release", "acq_rel", "seq_cst"};
    if (telling)
        printf("  thread %u  %s %s: %#llx %s%s\n", self, what, memory_name(l->at),
               (unsigned long long)value, orders[order], older ? ", which is old" : "");
}

static void take_over(const struct store *s, int order)
{
    struct view *v = &view[self];
    join(&v->behind, &s->carries);
    if (acquires(order))
        join(&v->now, &s->carries);
}

/* Puts a value behind the history. after: the value that was exchanged for it, or NULL. */
static void append(struct location *l, uint64_t value, int order, const struct store *after)
{
    struct view *v = &view[self];
    if (l->stores == HISTORY)
        abort();
    struct store *s = &l->store[l->stores];
    *s = (struct store){.value = value,
                        .carries = releases(order) ? v->now : v->released,
                        .thread = (uint8_t)self,
                        .epoch = v->now.of[self]};
    if (after)
        join(&s->carries, &after->carries);
    v->past = mix(mix(v->past, value), (uint64_t)(l - location) * 8 + (unsigned)order + 8);
    s->name = v->past;
    histories -= l->order ? mix(l->order, (uint64_t)(l - location)) : 0;
    l->order = mix(l->order, s->name);
    histories += mix(l->order, (uint64_t)(l - location));
    l->floor[self] = l->stores;
    if (order == __ATOMIC_SEQ_CST) {
        l->fence_floor = l->stores;
        fences = mix(fences, s->name);
    }
    l->stores++;
    v->spin = NULL;
    /* Also of a relaxed store: later ones are not known with it. */
    next_epoch(self);
}

/* Chooses the value that a load gets. unlike: if it is not the newest, it is not this one. */
static const struct store *see(struct location *l, int order, const uint64_t *unlike)
{
    if (order == __ATOMIC_SEQ_CST && l->floor[self] < l->fence_floor)
        l->floor[self] = l->fence_floor;
    unsigned list[HISTORY], count = 0, newest = l->stores - 1u;
    for (unsigned i = newest + 1, floor = floor_of(l, self); i-- > floor;)
        if (i == newest || !unlike || l->store[i].value != *unlike)
            list[count++] = i;
    return &l->store[list[choose_value(count)]];
}

/* It was loaded. */
static void seen(struct location *l, const struct store *s, int order)
{
    struct view *v = &view[self];
    const unsigned i = (unsigned)(s - l->store);
    l->floor[self] = l->floor[self] > i ? l->floor[self] : (uint16_t)i;
    if (order == __ATOMIC_SEQ_CST && l->fence_floor < i)
        l->fence_floor = (uint16_t)i;
    take_over(s, order);
    if (v->spin != l || v->spun != s->name) {
        v->past = mix(mix(v->past, s->name), (uint64_t)(l - location) * 8 + (unsigned)order);
        if (order == __ATOMIC_SEQ_CST)
            fences = mix(fences, v->past);
    }
    v->spin = l;
    v->spun = s->name;
}

/* ---- Atomic accesses ---- */

#define FOREIGN_ACCESS 8 /* with an order: it races with what is not atomic */

enum operation { LOAD, STORE, EXCHANGE, ADD, AND, OR, XOR, COMPARE };

static uint64_t result_of(enum operation o, uint64_t old, uint64_t with)
{
    switch (o) {
    case ADD:
        return old + with;
    case AND:
        return old & with;
    case OR:
        return old | with;
    case XOR:
        return old ^ with;
    default:
        return with;
    }
}

/* Returns the value before. expected: of COMPARE; *done: it was exchanged. */
static uint64_t plain(enum operation o, void *at, unsigned bytes, uint64_t value, uint64_t expected,
                      bool *done)
{
    const uint64_t old = word_at(at, bytes);
    *done = o != COMPARE || old == expected;
    if (o != LOAD && *done)
        set_word(at, bytes, result_of(o, old, value));
    return old;
}

/* Whether the thread loads the same value of the same location once more, and can get no other one. */
static bool is_spinning(const struct location *l)
{
    const struct view *v = &view[self];
    return v->spin == l && l->run == run && v->spun == l->store[l->stores - 1u].name;
}

/* A store that is not atomic is in no history. Who uses the location after it is ordered with it, or that is a race. */
static void add_plain_store(struct location *l, const void *at)
{
    if (word_at(at, l->bytes) == l->store[l->stores - 1u].value)
        return;
    append(l, word_at(at, l->bytes), __ATOMIC_RELAXED, NULL);
    for (unsigned t = 0; t < THREADS; t++)
        l->floor[t] = (uint16_t)(l->stores - 1);
}

static uint64_t with_history(struct location *l, enum operation o, uint64_t value,
                             uint64_t expected, int order, int otherwise, bool *done)
{
    const uint64_t mask = l->bytes < 8 ? (UINT64_C(1) << l->bytes * 8) - 1 : UINT64_MAX;
    void *at = (void *)(uintptr_t)l->at;
    add_plain_store(l, at);
    const struct store *newest = &l->store[l->stores - 1u];
    if (o != LOAD && memory_before_store)
        memory_before_store(at);
    if (o == LOAD || o == COMPARE) {
        const struct store *s = see(l, o == LOAD ? order : otherwise, o == LOAD ? NULL : &expected);
        *done = o == LOAD || (s == newest && s->value == expected);
        if (o == LOAD || !*done) {
            tell(o == LOAD ? "loads" : "does not exchange", l, s->value, (unsigned)(newest - s),
                 o == LOAD ? order : otherwise);
            seen(l, s, o == LOAD ? order : otherwise);
            return s->value;
        }
    }
    *done = true;
    const uint64_t old = newest->value, stored = result_of(o, old, value) & mask;
    if (o != STORE)
        seen(l, newest, order);
    tell(o == STORE ? "stores" : "exchanges", l, stored, 0, order);
    append(l, stored, order, o == STORE ? NULL : newest);
    set_word(at, l->bytes, stored);
    return old;
}

static uint64_t one_location(enum operation o, void *at, unsigned bytes, uint64_t value,
                             uint64_t expected, int order, int otherwise, bool *done)
{
    const struct region *r = region_of(at);
    bool shared;
    uint64_t old;
    struct location *l = find(at, bytes, o != STORE, o != LOAD, &shared);
    if (shared && !(o == LOAD && is_spinning(l)))
        point();
    const uint16_t epoch = view[self].now.of[self];
    if (shared) {
        old = with_history(l, o, value, expected, order & 7, otherwise, done);
    } else {
        if (o != LOAD && memory_before_store)
            memory_before_store(at);
        old = plain(o, at, bytes, value, expected, done);
    }
    check_atomic(r, offset_in(r, at), o != LOAD && *done, epoch, order & FOREIGN_ACCESS);
    if (memory_after_store && o != LOAD && *done)
        memory_after_store(at, value);
    return old;
}

static uint64_t atomic(enum operation o, const volatile void *where, unsigned bytes, uint64_t value,
                       uint64_t expected, int order, int otherwise, bool *done)
{
    void *at = (void *)(uintptr_t)where;
    const struct region *r = on ? region_of(at) : NULL;
    uint64_t old = 0;
    order &= 7 | FOREIGN_ACCESS;
    otherwise &= 7;
    if (!r) {
        old = plain(o, at, bytes, value, expected, done);
        if (memory_after_store && !on && o != LOAD && *done)
            memory_after_store(at, value);
        return old;
    }
    if (!(r->flags[offset_in(r, at)] & SINGLE) || bytes == 1)
        return one_location(o, at, bytes, value, expected, order, otherwise, done);
    if (o != LOAD && o != STORE)
        fail("%s is exchanged as %u bytes", memory_name(at), bytes);
    for (unsigned i = 0; i < bytes; i++)
        old |= one_location(o, (char *)at + i, 1, value >> i * 8 & 255, 0, order, order, done)
               << i * 8;
    return old;
}

/* ---- What the compiler calls ---- */

#define ATOMIC(bits)                                                                               \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order)        \
    {                                                                                              \
        bool done;                                                                                 \
        return (uint##bits##_t)atomic(LOAD, at, bits / 8, 0, 0, order, order, &done);              \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t v, int order)     \
    {                                                                                              \
        bool done;                                                                                 \
        atomic(STORE, at, bits / 8, v, 0, order, order, &done);                                    \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile uint##bits##_t *at,                 \
                                                      uint##bits##_t *expected, uint##bits##_t v,  \
                                                      int order, int otherwise)                    \
    {                                                                                              \
        bool done;                                                                                 \
        const uint64_t old = atomic(COMPARE, at, bits / 8, v, *expected, order, otherwise, &done); \
        if (!done)                                                                                 \
            *expected = (uint##bits##_t)old;                                                       \
        return done;                                                                               \
    }                                                                                              \
    uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                     \
        volatile uint##bits##_t *at, uint##bits##_t expected, uint##bits##_t v, int order,         \
        int otherwise)                                                                             \
    {                                                                                              \
        __tsan_atomic##bits##_compare_exchange_strong(at, &expected, v, order, otherwise);         \
        return expected;                                                                           \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile uint##bits##_t *at,                   \
                                                    uint##bits##_t *expected, uint##bits##_t v,    \
                                                    int order, int otherwise)                      \
    {                                                                                              \
        return __tsan_atomic##bits##_compare_exchange_strong(at, expected, v, order, otherwise);   \
    }                                                                                              \
    CHANGE(bits, exchange, EXCHANGE, v)                                                            \
    CHANGE(bits, fetch_add, ADD, v)                                                                \
    CHANGE(bits, fetch_sub, ADD, -(uint64_t)v)                                                     \
    CHANGE(bits, fetch_and, AND, v)                                                                \
    CHANGE(bits, fetch_or, OR, v)                                                                  \
    CHANGE(bits, fetch_xor, XOR, v)
#define CHANGE(bits, name, operation, with)                                                        \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t v,     \
                                                int order)                                         \
    {                                                                                              \
        bool done;                                                                                 \
        return (uint##bits##_t)atomic(operation, at, bits / 8, with, 0, order, order, &done);      \
    }
ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order)
{
    if (!on)
        return;
    if ((order & 7) == __ATOMIC_SEQ_CST)
        point();
    if (telling)
        printf("  thread %u  fence %d\n", self, order & 7);
    fence(self, order & 7);
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

#define PLAIN(bytes)                                                                               \
    void __tsan_read##bytes(void *at)                                                              \
    {                                                                                              \
        access(at, bytes, false);                                                                  \
    }                                                                                              \
    void __tsan_write##bytes(void *at)                                                             \
    {                                                                                              \
        access(at, bytes, true);                                                                   \
    }                                                                                              \
    void __tsan_unaligned_read##bytes(void *at)                                                    \
    {                                                                                              \
        access(at, bytes, false);                                                                  \
    }                                                                                              \
    void __tsan_unaligned_write##bytes(void *at)                                                   \
    {                                                                                              \
        access(at, bytes, true);                                                                   \
    }                                                                                              \
    void __tsan_volatile_read##bytes(void *at)                                                     \
    {                                                                                              \
        access(at, bytes, false);                                                                  \
    }                                                                                              \
    void __tsan_volatile_write##bytes(void *at)                                                    \
    {                                                                                              \
        access(at, bytes, true);                                                                   \
    }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *at, size_t bytes)
{
    access(at, bytes, false);
}

void __tsan_write_range(void *at, size_t bytes)
{
    access(at, bytes, true);
}

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
    (void)caller;
}

void __tsan_func_exit(void)
{
}

/* shim.h makes these of memset and memcpy. Such a call is not made in one moment, but nobody else looks meanwhile. */
void *model_memset(void *to, int byte, size_t bytes)
{
    access(to, bytes, true);
    return memset(to, byte, bytes);
}

void *model_memcpy(void *to, const void *from, size_t bytes)
{
    access(from, bytes, false);
    access(to, bytes, true);
    return memcpy(to, from, bytes);
}

/* ---- Barriers, and other processes ---- */

void memory_catch_up(void)
{
    for (unsigned i = 0; i < actives; i++)
        active[i]->floor[self] = (uint16_t)(active[i]->stores - 1);
    view[self].past = mix(view[self].past, 1000);
    view[self].spin = NULL;
}

void memory_barrier(void)
{
    for (unsigned t = 0; on && t < explore_threads(); t++) {
        if (t == self)
            continue;
        point();
        if (telling)
            printf("  thread %u  a barrier in thread %u\n", self, t);
        fence(self, __ATOMIC_SEQ_CST);
        fence(t, __ATOMIC_SEQ_CST);
        fence(self, __ATOMIC_SEQ_CST);
    }
}

uint64_t foreign_load(const void *at, unsigned bytes, int order)
{
    bool done;
    return atomic(LOAD, at, bytes, 0, 0, order | FOREIGN_ACCESS, order, &done);
}

void foreign_store(void *at, unsigned bytes, uint64_t value, int order)
{
    bool done;
    atomic(STORE, at, bytes, value, 0, order | FOREIGN_ACCESS, order, &done);
}

void foreign_fence(int order)
{
    fence(self, order);
}

bool foreign_copy(void *to, const void *from, size_t bytes)
{
    const struct region *r = region_of(from);
    bool ordered = true;
    for (size_t i = 0; on && i < bytes; i++) {
        const struct byte *b = byte_at(r, offset_in(r, from) + i);
        for (unsigned t = 0; t < THREADS; t++) {
            const uint16_t wrote = b->writer == t ? b->written : 0;
            const uint16_t epoch = wrote > b->stored[t] ? wrote : b->stored[t];
            if (t == self || !epoch || knows(self, t, epoch))
                continue;
            ordered = false; /* what is loaded so behaves like a relaxed load of a relaxed store */
            join(&view[self].behind, &released_at[t][epoch]);
        }
    }
    view[self].spin = NULL;
    memcpy(to, from, bytes);
    return ordered;
}
