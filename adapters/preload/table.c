/* SPDX-License-Identifier: ISC */
/* Tables with open addressing and linear probing, in parts so that threads seldom meet. A part is locked for a few
 * instructions. Memory is mapped, not allocated: an allocator may call us while it holds its own locks. */
#include "adapter.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST_ROOM = 64 };

static struct adapter_table *tables;
static uint32_t process;

static void lock(struct adapter_part *p)
{
    adapter_enter(); /* a signal handler on this thread does not come here */
    adapter_lock(&p->locked);
}

static void unlock(struct adapter_part *p)
{
    adapter_unlock(&p->locked);
    adapter_leave();
}

static uint64_t hash(uint64_t key, uint32_t kind)
{
    const uint64_t h = (key ^ (uint64_t)kind << 56) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static struct adapter_part *part_of(struct adapter_table *t, uint64_t h)
{
    return &t->part[(h >> 60) % ADAPTER_PARTS];
}

/* Where it is, or the free place where it would be. There is one, since a part is never full. */
static uint32_t find(const struct adapter_part *p, uint64_t h, uint64_t key, uint32_t kind)
{
    uint32_t at = (uint32_t)h & (p->room - 1);
    while (p->entries[at].used && (p->entries[at].key != key || p->entries[at].kind != kind))
        at = (at + 1) & (p->room - 1);
    return at;
}

static bool grow(struct adapter_part *p)
{
    const struct adapter_part before = *p;
    const int error = errno;
    if (p->count + 1 <= p->room - p->room / 4)
        return true;
    const uint32_t room = before.room ? 2 * before.room : FIRST_ROOM;
    void *fresh = mmap(NULL, room * sizeof *p->entries, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = error;
    if (fresh == MAP_FAILED)
        return before.count + 1 < before.room;
    p->entries = fresh;
    p->room = room;
    for (uint32_t i = 0; i < before.room; i++) {
        const struct adapter_entry *e = &before.entries[i];
        if (e->used)
            p->entries[find(p, hash(e->key, e->kind), e->key, e->kind)] = *e;
    }
    if (before.entries)
        munmap(before.entries, before.room * sizeof *p->entries);
    return true;
}

/* Closes the gap: moves back what would no longer be found behind it. */
static void remove_at(struct adapter_part *p, uint32_t gap)
{
    const uint32_t mask = p->room - 1;
    for (uint32_t at = (gap + 1) & mask; p->entries[at].used; at = (at + 1) & mask) {
        const uint32_t home = (uint32_t)hash(p->entries[at].key, p->entries[at].kind) & mask;
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            p->entries[gap] = p->entries[at];
            gap = at;
        }
    }
    p->entries[gap].used = 0;
    p->count--;
}

static void list_table(struct adapter_table *t)
{
    if (__atomic_exchange_n(&t->listed, 1, __ATOMIC_RELAXED))
        return;
    t->next = __atomic_load_n(&tables, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&tables, &t->next, t, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
}

bool adapter_put(struct adapter_table *t, const struct adapter_entry *e)
{
    const uint64_t h = hash(e->key, e->kind);
    struct adapter_part *p = part_of(t, h);
    if (!__atomic_load_n(&t->listed, __ATOMIC_RELAXED))
        list_table(t);
    lock(p);
    const bool fits = grow(p);
    if (fits) {
        struct adapter_entry *to = &p->entries[find(p, h, e->key, e->kind)];
        p->count += !to->used;
        *to = *e;
        to->used = 1;
        to->process = process;
    }
    unlock(p);
    return fits;
}

static bool look_up(struct adapter_table *t, uint64_t key, uint32_t kind, struct adapter_entry *e,
                    bool removed)
{
    const uint64_t h = hash(key, kind);
    struct adapter_part *p = part_of(t, h);
    if (__atomic_load_n(&p->count, __ATOMIC_RELAXED) == 0)
        return false;
    lock(p);
    const uint32_t at = find(p, h, key, kind);
    const bool found = p->entries[at].used;
    if (found) {
        *e = p->entries[at];
        if (e->process != process)
            e->promise = 0;
        if (removed)
            remove_at(p, at);
    }
    unlock(p);
    return found;
}

bool adapter_get(struct adapter_table *t, uint64_t key, uint32_t kind, struct adapter_entry *e)
{
    return look_up(t, key, kind, e, false);
}

bool adapter_take(struct adapter_table *t, uint64_t key, uint32_t kind, struct adapter_entry *e)
{
    return look_up(t, key, kind, e, true);
}

/* ---- Forks: no part is locked in the child. A handler that has interrupted us holds a lock itself. ---- */

static __thread struct adapter_table *held; /* the first of those that are locked */

static void lock_all(void)
{
    if (adapter_inside)
        return;
    held = __atomic_load_n(&tables, __ATOMIC_ACQUIRE);
    for (struct adapter_table *t = held; t; t = t->next)
        for (unsigned i = 0; i < ADAPTER_PARTS; i++)
            lock(&t->part[i]);
}

static void unlock_all(void)
{
    for (struct adapter_table *t = held; t; t = t->next)
        for (unsigned i = 0; i < ADAPTER_PARTS; i++)
            unlock(&t->part[i]);
    held = NULL;
}

static void forked(void)
{
    process = (uint32_t)getpid();
    unlock_all();
}

__attribute__((constructor)) static void prepare(void)
{
    process = (uint32_t)getpid();
    pthread_atfork(lock_all, unlock_all, forked);
}
