/* SPDX-License-Identifier: ISC */
/* What is known of locks and conditions. An object is known from the first time on that somebody waits for it. The
 * spin locks here are held for some instructions and events. */
#include "thread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { LOCKS = 64, BLOCK = 1 << 16 };

uint32_t threads_watched[THREADS_HASHES];
static struct threads_object *objects[THREADS_HASHES];
static uint32_t locks[LOCKS];

static struct threads_object *spare;
static uint32_t spare_lock;

static void spin(uint32_t *lock)
{
    adapter_enter(); /* a signal handler on this thread does not come here */
    adapter_lock(lock);
}

static void unspin(uint32_t *lock)
{
    adapter_unlock(lock);
    adapter_leave();
}

static void fill_spare(void)
{
    const int error = errno;
    struct threads_object *block =
        mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = error;
    if (block == MAP_FAILED)
        return;
    for (unsigned i = 0; i < BLOCK / sizeof *block; i++) {
        block[i].next = spare;
        spare = &block[i];
    }
}

static struct threads_object *new_object(void)
{
    spin(&spare_lock);
    if (!spare)
        fill_spare();
    struct threads_object *o = spare;
    if (o)
        spare = o->next;
    unspin(&spare_lock);
    if (o)
        *o = (struct threads_object){0};
    return o;
}

static uint32_t *lock_of(const void *object)
{
    return &locks[threads_hash(object) % LOCKS];
}

void threads_unlock(const void *object)
{
    unspin(lock_of(object));
}

static struct threads_object *find(const void *object, enum threads_kind kind)
{
    struct threads_object *o = objects[threads_hash(object)];
    while (o && (o->address != object || o->kind != kind))
        o = o->next;
    return o;
}

struct threads_object *threads_look(const void *object, enum threads_kind kind)
{
    spin(lock_of(object));
    struct threads_object *o = find(object, kind);
    if (!o)
        threads_unlock(object);
    return o;
}

static weft_promise create(const void *object, enum threads_kind kind, const char *detail,
                           const void *caller)
{
    static const char *const types[] = {
        [THREADS_MUTEX] = "mutex",         [THREADS_RWLOCK] = "rwlock",
        [THREADS_CONDITION] = "condition", [THREADS_SEMAPHORE] = "semaphore",
        [THREADS_BARRIER] = "barrier",     [THREADS_ONCE] = "once"};
    struct adapter_file file;
    const void *code =
        adapter_file_of(&file, object) ? object : caller; /* a global variable has a name */
    return adapter_create_from(WEFT_LOOP, code, types[kind], detail);
}

struct threads_object *threads_lock(const void *object, enum threads_kind kind, const char *detail,
                                    const void *caller)
{
    spin(lock_of(object));
    struct threads_object *o = find(object, kind);
    if (!o && (o = new_object())) {
        struct threads_object **first = &objects[threads_hash(object)];
        o->address = object;
        o->kind = kind;
        o->next = *first;
        *first = o;
    }
    if (!o)
        threads_unlock(object);
    else if (!o->promise)
        o->promise = create(object, kind, detail, caller);
    return o;
}

void threads_lasts(struct threads_object *o)
{
    if (!o->lasts)
        weft_background(o->promise);
    o->lasts = true;
}

void threads_destroyed(const void *object, enum threads_kind kind)
{
    if (!__atomic_load_n(&objects[threads_hash(object)], __ATOMIC_RELAXED))
        return;
    spin(lock_of(object));
    struct threads_object **at = &objects[threads_hash(object)];
    while (*at && ((*at)->address != object || (*at)->kind != kind))
        at = &(*at)->next;
    struct threads_object *o = *at;
    if (o && o->waiters == 0) {
        threads_drop_others(o, 0);
        weft_forget(o->promise);
        *at = o->next;
        spin(&spare_lock);
        o->next = spare;
        spare = o;
        unspin(&spare_lock);
    }
    threads_unlock(object);
}

/* ---- Waiters and holders ---- */

static void watch(const struct threads_object *o, uint32_t more)
{
    __atomic_fetch_add(&threads_watched[threads_hash(o->address)], more, __ATOMIC_SEQ_CST);
}

void threads_add_waiter(struct threads_object *o)
{
    o->waiters++;
    watch(o, 1);
}

void threads_drop_waiter(struct threads_object *o)
{
    o->waiters--;
    watch(o, UINT32_MAX);
}

static uint32_t place_of(const struct threads_object *o, weft_promise thread)
{
    uint32_t i = 0;
    while (i < o->holders && o->holder[i] != thread)
        i++;
    return i;
}

bool threads_is_holder(const struct threads_object *o, weft_promise thread)
{
    return place_of(o, thread) < o->holders;
}

void threads_add_holder(struct threads_object *o, weft_promise thread)
{
    if (!thread || o->holders == THREADS_HOLDERS || threads_is_holder(o, thread))
        return;
    o->holder[o->holders++] = thread;
    watch(o, 1);
    weft_acquire_by(thread, o->promise);
}

static void drop_at(struct threads_object *o, uint32_t i)
{
    weft_release_by(o->holder[i], o->promise);
    o->holder[i] = o->holder[--o->holders];
    watch(o, UINT32_MAX);
}

void threads_drop_holder(struct threads_object *o, weft_promise thread)
{
    const uint32_t i = place_of(o, thread);
    if (i < o->holders)
        drop_at(o, i);
}

void threads_drop_others(struct threads_object *o, weft_promise thread)
{
    for (uint32_t i = o->holders; i-- > 0;)
        if (o->holder[i] != thread)
            drop_at(o, i);
}

void threads_ends_with(weft_promise thread)
{
    for (unsigned i = 0; i < THREADS_HASHES; i++) {
        if (!thread || !__atomic_load_n(&threads_watched[i], __ATOMIC_RELAXED))
            continue;
        spin(&locks[i % LOCKS]);
        for (struct threads_object *o = objects[i]; o; o = o->next)
            if (threads_is_holder(o, thread)) {
                threads_drop_holder(o, thread);
                threads_lasts(o);
            }
        unspin(&locks[i % LOCKS]);
    }
}

/* ---- Forks: the child knows nothing. Whatever another thread was doing here is not finished. ---- */

static void forked(void)
{
    memset(threads_watched, 0, sizeof threads_watched);
    memset(objects, 0, sizeof objects);
    memset(locks, 0, sizeof locks);
    spare = NULL;
    spare_lock = 0;
}

ADAPTER_IN_CHILD(forked)
