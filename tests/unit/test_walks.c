/* SPDX-License-Identifier: ISC */
/* Long random programs, always the same, recorded into memory by some threads that take turns: whatever is asked for at
 * random, what the reader finds adds up, and its sum is what it was. So a change of anything that the recorder does is noticed
 * here, whichever; whether it is right, the other tests say. */
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdalign.h>
#include <stdlib.h>

#include "memory_input.h"
#include "read/snapshot.h"

#include <weft/weft.h>

/* The name of this file is in the traces: it takes as much room wherever it is built. */
#line 18 "test_walks.c"

enum { BYTES_MAX = 1 << 20, LIVE = 400, THREADS_MAX = 4 };

static alignas(8) unsigned char ring[BYTES_MAX];

/* What a program does. */
struct walk {
    uint64_t bytes, pending_bytes;
    unsigned threads, turns, steps; /* a turn has up to so many steps */
    unsigned lost;                  /* of 100 promises, so many are never ended */
    unsigned long_texts;            /* of 100 texts, so many are long, or each another one */
    bool own_ids;                   /* numbers of the program's own … */
    unsigned own_from;              /* … from this turn on */
    bool pauses;                    /* now and then nothing is recorded */
    bool killed;                    /* it does not stop */
    /* What is read. */
    uint64_t events, sum;
};

static const struct walk *walk;
static struct weft_counter depth = WEFT_COUNTER("depth"), size = WEFT_COUNTER("a size");
static weft_promise live[LIVE], last_id;
static uint64_t state, ticks, sum;
static bool own; /* numbers, now */

static uint64_t below(uint64_t n)
{
    state ^= state >> 12; /* xorshift64* */
    state ^= state << 25;
    state ^= state >> 27;
    return (state * 0x2545f4914f6cdd1du >> 32) % n;
}

static uint64_t next_tick(void)
{
    return ticks += 1 + (ticks & 7 ? 0 : ticks % 1000);
}

/* ---- The program ---- */

static const char *any_text(void)
{
    static char text[8000];
    if (below(100) >= walk->long_texts)
        return below(2) ? "GET /" : NULL;
    size_t length = (size_t)below(below(20) ? 60 : sizeof text - 1);
    memset(text, 'a' + (int)below(26), length);
    text[length] = 0;
    return text;
}

static weft_promise create(void)
{
    static const char *volatile types[] = {"lock", "task", "sleep", "a type with a long name"};
    const char *text = any_text();
    weft_promise parent = live[below(LIVE)];
    if (own)
        return weft_create_id(parent, last_id += 1 + below(40), "own", text);
    switch (below(9)) {
    case 0:
        return weft_create("request", text);
    case 4:
        return weft_create(types[below(4)], NULL);
    case 5:
        return weft_create_from(parent, types[below(4)], "of a sort");
    case 1:
        return weft_create("reply", NULL);
    case 2:
        return weft_create_from(parent, "bind", NULL);
    case 3:
        return weft_create_from(parent, "condition", text);
    default:
        return weft_create("task", "the same");
    }
}

static void end(weft_promise p, weft_promise other)
{
    switch (below(16)) {
    case 0:
        weft_fail(p, any_text());
        break;
    case 1:
        weft_resolve(p);
        break;
    case 2:
        weft_cancel(p);
        break;
    case 3:
        weft_forget(p);
        break;
    case 4:
    case 5:
        weft_become(p, other);
        break;
    case 6:
        weft_resolve_by(other, p, WEFT_BY_ERROR, any_text());
        break;
    case 7:
        weft_resolve_by(other, p, WEFT_BY_VALUE, NULL);
        break;
    default:
        weft_fulfill(p);
    }
}

/* Something about two promises that ends neither. */
static void mention(weft_promise p, weft_promise q)
{
    int64_t value;
    switch (below(24)) {
    case 0:
        weft_run(WEFT_LOOP);
        break;
    case 1:
    case 2:
        weft_run(p);
        break;
    case 3:
        weft_wake(p, q);
        break;
    case 4:
        weft_signal(p, q);
        break;
    case 5:
        weft_suspend(below(2) ? WEFT_WAIT_FOR_WORK : WEFT_SUSPEND);
        weft_resume();
        break;
    case 6:
        weft_gc(below(1000));
        break;
    case 7:
    case 8:
    case 9:
        weft_wait(p);
        break;
    case 10:
    case 11:
        weft_wait_by(p, q);
        break;
    case 12:
        weft_read(p, q);
        break;
    case 13:
        weft_notify(p);
        break;
    case 14:
        weft_notify_by(p, q);
        break;
    case 15:
        weft_acquire(p);
        break;
    case 16:
        weft_acquire_by(p, q);
        break;
    case 17:
        weft_release(p);
        break;
    case 18:
        weft_release_by(p, q);
        break;
    case 19:
        weft_label(p, any_text());
        break;
    case 20:
        weft_should_resolve(p);
        break;
    case 21:
        weft_background(p);
        break;
    case 22:
        weft_counter_add(&depth, (int64_t)below(9) - 4);
        break;
    default:
        value = (int64_t)below(UINT32_MAX);
        weft_counter_set(&size, value << below(30));
    }
}

static void step(void)
{
    weft_promise *p = &live[below(LIVE)], q = live[below(LIVE)];
    if (below(3)) {
        mention(*p, q);
        return;
    }
    if (*p && *p != WEFT_LOOP && below(100) >= walk->lost)
        end(*p, q);
    *p = create();
}

/* ---- Its threads: each waits for its turn ---- */

static struct worker {
    pthread_t thread;
    sem_t go;
    unsigned steps; /* 0: it ends */
} worker[THREADS_MAX];
static sem_t done;

static void *work(void *mine)
{
    struct worker *w = mine;
    for (;;) {
        sem_wait(&w->go);
        for (unsigned i = 0; i < w->steps; i++)
            step();
        const bool goes_on = w->steps != 0;
        if (!goes_on)
            return NULL;
        sem_post(&done);
    }
}

static void begin_worker(struct worker *w)
{
    sem_init(&w->go, 0, 0);
    assert_int_equal(pthread_create(&w->thread, NULL, work, w), 0);
}

static void end_worker(struct worker *w)
{
    w->steps = 0;
    sem_post(&w->go);
    pthread_join(w->thread, NULL);
    sem_destroy(&w->go);
}

static void go(void)
{
    sem_init(&done, 0, 0);
    for (unsigned i = 0; i < walk->threads; i++)
        begin_worker(&worker[i]);
    for (unsigned turn = 0; turn < walk->turns; turn++) {
        struct worker *w = &worker[below(walk->threads)];
        own = walk->own_ids && turn >= walk->own_from;
        if (below(50) == 0) { /* another thread in its place */
            end_worker(w);
            begin_worker(w);
        }
        if (walk->pauses && below(20) == 0)
            weft_pause();
        w->steps = 1 + (unsigned)below(walk->steps);
        sem_post(&w->go);
        sem_wait(&done);
        weft_unpause();
    }
    for (unsigned i = 0; i < walk->threads; i++)
        end_worker(&worker[i]);
    sem_destroy(&done);
}

/* ---- What is found ---- */

static void add(uint64_t value)
{
    sum = (sum ^ value) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 29;
}

static void add_text(const char *text, size_t length)
{
    add(length);
    for (size_t i = 0; i < length; i++)
        add((unsigned char)text[i]);
}

static void add_event(const struct weft_event *ev)
{
    add(ev->time_ns);
    add(ev->a);
    add(ev->b);
    add((uint64_t)ev->value);
    add((uint64_t)ev->total);
    add(ev->running);
    add(ev->stream);
    add(ev->kind | (uint64_t)ev->type << 8 | (uint64_t)ev->has_total << 16 |
        (uint64_t)ev->gap << 17 | (uint64_t)ev->missing << 18 | (uint64_t)ev->promoted << 19);
    add_text(ev->text, ev->text ? ev->text_size : 0);
    if (ev->origin)
        add_text(ev->origin->type, strlen(ev->origin->type));
}

static void add_promotion(const struct weft_promotion *p)
{
    const uint64_t numbers[] = {p->known,    p->promises, p->events,   p->ever,     p->given_up,
                                p->numbered, p->sorts,    p->unlisted, p->left_out, p->skipped,
                                p->pauses,   p->lacks,    p->let_go,   p->complete};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        add(numbers[i]);
    for (uint32_t i = 0; i < p->sorts; i++) {
        const char *type = p->sort[i].origin ? p->sort[i].origin->type : "";
        add_text(type, strlen(type));
        add(p->sort[i].pending);
        add(p->sort[i].unlisted);
        add(p->sort[i].left_out);
    }
}

/* Returns how many events were recorded. */
static uint64_t add_facts(const struct weft_reader_facts *f)
{
    const uint64_t numbers[] = {f->packets,
                                f->unused_packets,
                                f->content_bytes,
                                f->overwritten_packets,
                                f->missing_packets,
                                f->wrapped,
                                f->streams,
                                f->streams_recorded,
                                f->overwritten_events,
                                f->missing_events,
                                f->discarded_events,
                                f->overwritten_ns,
                                f->overwritten_elsewhere,
                                f->discarded_elsewhere,
                                f->lost_texts,
                                f->first_ns,
                                f->ended,
                                f->process.was_paused,
                                f->process.paused_ns,
                                f->process.resumed_ns};
    uint64_t recorded = f->overwritten_elsewhere + f->discarded_elsewhere;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        add(numbers[i]);
    for (uint32_t i = 0; i < f->streams; i++) {
        const struct weft_stream_facts *s = &f->stream[i];
        add(s->number);
        add(s->kept);
        add(s->overwritten);
        add(s->missing);
        add(s->discarded);
        recorded += s->kept + s->overwritten + s->missing + s->discarded;
    }
    assert_int_equal(f->unknown_events + f->unknown_packets + f->other_packets +
                         f->repeated_packets + f->changed_packets,
                     0);
    add_promotion(&f->promotion);
    return recorded;
}

/* Adds the events; returns how many there are. */
static uint64_t add_events(struct weft_reader *r)
{
    struct weft_error err;
    const struct weft_event *ev;
    uint64_t events = 0;
    ptrdiff_t n;
    while ((n = weft_reader_next(r, &ev, &err)) > 0)
        for (ptrdiff_t i = 0; i < n; i++, events++)
            add_event(&ev[i]);
    assert_int_equal(n, 0);
    assert_int_equal(weft_reader_damage(r)->problems, 0);
    return events;
}

/* The ring as it is in memory. Returns how many events there are. */
static uint64_t read_ring(void)
{
    struct weft_input file = {.fd = memfd_create("ring", MFD_CLOEXEC), .size = walk->bytes};
    assert_int_equal(write(file.fd, ring, walk->bytes), walk->bytes);
    struct weft_reader *r = copy_reader(&file);
    const uint64_t events = add_events(r);
    add(add_facts(weft_reader_facts(r)));
    weft_reader_close(r);
    weft_input_close(&file);
    return events;
}

/* A copy, as of a machine that has died. */
static void read_copy(void)
{
    struct memory memory = {.bytes = ring, .size = walk->bytes}, *m = &memory;
    struct weft_input in = memory_input(&m, WEFT_WRITER_DEAD), copy;
    struct weft_snapshot *s;
    struct weft_error err;
    assert_int_equal(weft_snapshot_begin(&s, &in, &err), 1);
    assert_int_equal(weft_snapshot_to_room(s, &copy, &err), 0);
    weft_snapshot_free(s);
    struct weft_reader *r = copy_reader(&copy);
    add(add_events(r));
    add(add_facts(weft_reader_facts(r)));
    weft_reader_close(r);
    weft_input_close(&copy);
}

/* clang-format off */
static const struct walk walks[] = {
    {.bytes = 64 << 10, .threads = 1, .turns = 20, .steps = 20, .lost = 10, .long_texts = 20,
     .events = 257, .sum = 0xc401fb65e8bd0246},
    {.bytes = 64 << 10, .threads = 1, .turns = 400, .steps = 50, .lost = 3, .long_texts = 2,
     .events = 2262, .sum = 0x5e63332cb44ea8c9},
    {.bytes = 256 << 10, .threads = 1, .turns = 800, .steps = 100, .lost = 0, .long_texts = 1,
     .events = 10397, .sum = 0x1601cef5e1d6954a},
    {.bytes = 512 << 10, .threads = 2, .turns = 1000, .steps = 200, .lost = 1, .long_texts = 0,
     .events = 20917, .sum = 0xd6ce159d926e4867},
    {.bytes = 512 << 10, .threads = 2, .turns = 1000, .steps = 200, .lost = 30, .long_texts = 5, .killed = true,
     .events = 21005, .sum = 0x549df4d924cb9e4c},
    {.bytes = 512 << 10, .threads = 1, .turns = 500, .steps = 200, .lost = 100, .long_texts = 5,
     .events = 21366, .sum = 0x426647a929552cd7},
    {.bytes = 1 << 20, .threads = 4, .turns = 2000, .steps = 150, .lost = 2, .long_texts = 1,
     .events = 40344, .sum = 0x3f79c69e84a154fe},
    {.bytes = 1 << 20, .threads = 4, .turns = 1000, .steps = 150, .lost = 10, .long_texts = 30, .pauses = true,
     .events = 30948, .sum = 0xf3cda6dfb5b75e7c},
    {.bytes = 512 << 10, .threads = 3, .turns = 1000, .steps = 200, .lost = 1, .own_ids = true,
     .events = 17843, .sum = 0xc415c85cbec5b966},
    {.bytes = 512 << 10, .threads = 3, .turns = 1000, .steps = 200, .lost = 30, .own_ids = true, .killed = true,
     .events = 19128, .sum = 0xfd2eeb51980e5972},
    {.bytes = 512 << 10, .pending_bytes = 4096, .threads = 2, .turns = 800, .steps = 200, .lost = 5,
     .events = 20498, .sum = 0xfc0262d56cedb372},
    {.bytes = 512 << 10, .pending_bytes = 256 << 10, .threads = 2, .turns = 800, .steps = 200, .lost = 5, .killed = true,
     .events = 21965, .sum = 0x8f644eee38d30f03},
    {.bytes = 512 << 10, .threads = 4, .turns = 300, .steps = 100, .lost = 5, .own_ids = true, .own_from = 1,
     .events = 17756, .sum = 0xe01f62e184168f94},
    {.bytes = 512 << 10, .threads = 3, .turns = 300, .steps = 100, .lost = 5, .own_ids = true, .own_from = 3,
     .events = 18276, .sum = 0x7acf5554be7b0ec3},
    {.bytes = 512 << 10, .threads = 2, .turns = 600, .steps = 150, .lost = 20, .own_ids = true, .own_from = 200,
     .events = 18597, .sum = 0x2b1b4646edc2bdd8},
};
/* clang-format on */

TEST(sums_are_what_they_were)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < sizeof walks / sizeof *walks; i++) {
        uint64_t events;
        walk = &walks[i];
        state = i + 1;
        ticks = last_id = sum = 0;
        for (unsigned k = 0; k < LIVE; k++)
            live[k] = WEFT_LOOP;
        depth.value = size.value = 0;
        memset(ring, 0, sizeof ring);
        assert_int_equal(weft_start(&(struct weft_options){.memory = ring,
                                                           .bytes = walk->bytes,
                                                           .pending_bytes = walk->pending_bytes,
                                                           .clock = next_tick}),
                         0);
        go();
        if (!walk->killed)
            weft_stop();
        events = read_ring();
        read_copy();
        weft_stop();
        if (events != walk->events || sum != walk->sum) {
            print_message("walk %u: .events = %" PRIu64 ", .sum = 0x%016" PRIx64 "\n", i, events,
                          sum);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

RUN_TESTS(NULL, NULL)
