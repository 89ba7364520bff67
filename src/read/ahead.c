/* SPDX-License-Identifier: ISC */
/* One thread, the filler, calls the format's function and passes on each batch in a slot of a ring; the other one, which calls
 * weft_reader_next, takes them in this order, so whoever uses the events gets the same ones as without a filler. Only the
 * filler touches the reader until it has ended.
 *
 * What the events of a batch point to is valid until the format's function is called again, so short texts are copied into
 * the slot. If they do not fit, the batch is passed on alone: the filler waits until it has been used. So a file cannot make
 * this take more memory than its slots.
 *
 * `filled` counts the slots that were filled, and `freed` those that may be filled again. The filler's release of `filled` (A)
 * makes the slot visible to the taker's acquire (A); the taker's release of `freed` (B) tells the filler's acquire (B) that
 * it may write the slot. Waking a thread costs more than decoding a batch, so a thread that has nothing to do sleeps until
 * there is work for a while: it stores the count for which it waits, then looks again at the counter; the other one changes
 * the counter, then looks at what is waited for. Both do so in the one order of all seq_cst operations (C), so one of them
 * sees the other. */
#include "read/ahead.h"

#include "base/aside.h"
#include "read/state.h"

#ifdef WEFT_HAS_THREADS
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 8,
    TEXTS = 32 << 10, /* bytes of texts in a slot */
    ENOUGH = 3,       /* filled slots that are worth waking the taker */
    LEAST = 4 << 20,  /* bytes of a file; a smaller one takes some ten milliseconds */
};

struct slot {
    struct weft_event event[WEFT_BATCH];
    ptrdiff_t events; /* as weft_reader_next returns it */
    uint64_t first_ns;
    double progress;
    size_t used;
    struct weft_error error;
    uint32_t number[WEFT_BATCH][WEFT_NUMBERS];
    _Alignas(max_align_t) char texts[TEXTS];
};

struct read_ahead {
    struct weft_reader *r;
    weft_number_fn *number_all;
    void *data;
    struct weft_aside filler;
    atomic_uint_fast64_t filled, freed;
    atomic_uint_fast64_t filled_wanted, freed_wanted; /* UINT64_MAX: nobody sleeps */
    atomic_bool stopped;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct slot *taken; /* by the taker: the slot at `freed`, which it uses */
    struct slot slot[SLOTS];
};

static void destroy(struct read_ahead *a)
{
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

/* ---- Sleeping ---- */

/* Wakes the thread that waits until its count is reached. */
static void wake(struct read_ahead *a, atomic_uint_fast64_t *wanted, uint64_t count)
{
    if (atomic_load(wanted) > count) /* C */
        return;
    pthread_mutex_lock(&a->lock);
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

/* Waits until count is at least `least`, or the reading is stopped; is woken when it is at least `enough`. */
static void sleep_until(struct read_ahead *a, atomic_uint_fast64_t *count,
                        atomic_uint_fast64_t *wanted, uint64_t least, uint64_t enough)
{
    pthread_mutex_lock(&a->lock);
    atomic_store(wanted, enough);                                   /* C */
    while (atomic_load(count) < least && !atomic_load(&a->stopped)) /* C; A or B */
        pthread_cond_wait(&a->changed, &a->lock);
    atomic_store(wanted, UINT64_MAX);
    pthread_mutex_unlock(&a->lock);
}

/* ---- Filling ---- */

/* Copies bytes into the slot; NULL: there is no room. */
static void *copy(struct slot *s, const void *bytes, size_t size)
{
    const size_t at = (s->used + _Alignof(struct weft_origin) - 1) & -_Alignof(struct weft_origin);
    if (at > sizeof s->texts || size > sizeof s->texts - at)
        return NULL;
    s->used = at + size;
    return memcpy(s->texts + at, bytes, size);
}

static bool copy_text(struct slot *s, const char **text)
{
    *text = *text ? copy(s, *text, strlen(*text) + 1) : NULL;
    return *text;
}

/* Sites that are stored have a number, and stay. */
static bool copy_origin(struct slot *s, struct weft_event *ev)
{
    struct weft_origin *o = copy(s, ev->origin, sizeof *o);
    if (!o || !copy_text(s, &o->type) || (o->file && !copy_text(s, &o->file)))
        return false;
    ev->origin = o;
    return true;
}

/* Returns true if the events no longer point to anything that the reader will overwrite. */
static bool keep(struct slot *s)
{
    for (ptrdiff_t i = 0; i < s->events; i++) {
        struct weft_event *ev = &s->event[i];
        const char *text = ev->text ? copy(s, ev->text, ev->text_size) : NULL;
        if (ev->text && !text)
            return false;
        ev->text = text;
        if (ev->origin && !ev->origin->number && !copy_origin(s, ev))
            return false;
    }
    return true;
}

static void sleep_until_freed(struct read_ahead *a, uint64_t freed)
{
    sleep_until(a, &a->freed, &a->freed_wanted, freed, freed);
}

static void fill_all(void *data)
{
    struct read_ahead *a = data;
    for (uint64_t filled = 0;; filled++) {
        struct slot *s = &a->slot[filled % SLOTS];
        if (filled - atomic_load(&a->freed) == SLOTS) /* B */
            sleep_until_freed(a, filled - SLOTS / 2);
        if (atomic_load(&a->stopped))
            return;
        a->r->batch = s->event;
        s->used = 0;
        s->events = read_reader_fill(a->r, &s->error);
        s->first_ns = a->r->facts.first_ns;
        s->progress = read_reader_share(a->r);
        if (s->events > 0)
            a->number_all(a->data, s->event, s->events, s->number);
        const bool more = s->events > 0, alone = !keep(s);
        atomic_store(&a->filled, filled + 1); /* A, C */
        wake(a, &a->filled_wanted, more && !alone ? filled + 1 : UINT64_MAX - 1);
        if (!more)
            return;
        if (alone)
            sleep_until_freed(a, filled + 1);
    }
}

/* ---- Taking ---- */

void weft_reader_read_ahead(struct weft_reader *r, weft_number_fn *number_all, void *data)
{
    if (r->ahead || r->seen || r->input.size < LEAST)
        return;
    struct read_ahead *a = calloc(1, sizeof *a);
    if (!a)
        return;
    /* What a format never sets stays 0 in all slots. */
    a->r = r;
    a->number_all = number_all;
    a->data = data;
    atomic_init(&a->filled, 0);
    atomic_init(&a->freed, 0);
    atomic_init(&a->filled_wanted, UINT64_MAX);
    atomic_init(&a->freed_wanted, UINT64_MAX);
    atomic_init(&a->stopped, false);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    if (weft_aside_try(&a->filler, fill_all, a))
        r->ahead = a;
    else
        destroy(a);
}

ptrdiff_t read_ahead_next(struct read_ahead *a, const struct weft_event **events,
                          struct weft_error *err)
{
    uint64_t freed = atomic_load_explicit(&a->freed, memory_order_relaxed); /* only written here */
    if (a->taken) {
        atomic_store(&a->freed, ++freed); /* B, C */
        wake(a, &a->freed_wanted, freed);
    }
    if (atomic_load(&a->filled) == freed) /* A */
        sleep_until(a, &a->filled, &a->filled_wanted, freed + 1, freed + ENOUGH);
    a->taken = &a->slot[freed % SLOTS];
    *events = a->taken->event;
    if (a->taken->events < 0)
        *err = a->taken->error;
    return a->taken->events;
}

double read_ahead_progress(const struct read_ahead *a)
{
    return a->taken ? a->taken->progress : 0;
}

const uint32_t (*weft_reader_numbers(const struct weft_reader *r))[WEFT_NUMBERS]
{
    return r->ahead && r->ahead->taken ? r->ahead->taken->number : NULL;
}

uint64_t weft_reader_first(const struct weft_reader *r)
{
    return r->ahead && r->ahead->taken ? r->ahead->taken->first_ns : r->facts.first_ns;
}

void weft_reader_stop_ahead(struct weft_reader *r)
{
    struct read_ahead *a = r->ahead;
    if (!a)
        return;
    atomic_store(&a->stopped, true);
    pthread_mutex_lock(&a->lock);
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    weft_aside_end(&a->filler);
    r->batch = r->own_batch;
    r->ahead = NULL;
    destroy(a);
}
#else
ptrdiff_t read_ahead_next(struct read_ahead *a, const struct weft_event **events,
                          struct weft_error *err)
{
    (void)a;
    (void)events;
    (void)err;
    return 0;
}

double read_ahead_progress(const struct read_ahead *a)
{
    (void)a;
    return 0;
}

void weft_reader_read_ahead(struct weft_reader *r, weft_number_fn *number_all, void *data)
{
    (void)r;
    (void)number_all;
    (void)data;
}

const uint32_t (*weft_reader_numbers(const struct weft_reader *r))[WEFT_NUMBERS]
{
    (void)r;
    return NULL;
}

uint64_t weft_reader_first(const struct weft_reader *r)
{
    return r->facts.first_ns;
}

void weft_reader_stop_ahead(struct weft_reader *r)
{
    (void)r;
}
#endif
