/* SPDX-License-Identifier: ISC */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "format/events.h"
#include "truth.h"
#include <weft/weft.h>

uint64_t truth_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t truth_dice(uint64_t *state)
{
    uint64_t x = *state; /* xorshift64* */
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d) >> 8;
}

struct truth *truth_new(void)
{
    struct truth *w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return w == MAP_FAILED ? NULL : w;
}

void truth_clear(struct truth *w)
{
    memset(w, 0, offsetof(struct truth, log));
    w->error = 1;
}

/* Texts: a letter and a number. */
enum { TEXT_LETTER = 27 };

static uint32_t text_of(char letter, uint64_t number)
{
    return (uint32_t)(letter - 'a' + 1) << TEXT_LETTER |
           (uint32_t)(number & ((1u << TEXT_LETTER) - 1));
}

void truth_text(char out[32], uint32_t text)
{
    sprintf(out, "%c%u", 'a' + (char)((text >> TEXT_LETTER) - 1) % 26,
            text & ((1u << TEXT_LETTER) - 1));
}

/* ---- Calls, each written down before and after ---- */

#define PUT(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELEASE)
#define GET(place) __atomic_load_n(&(place), __ATOMIC_ACQUIRE)

/* In place of a number that is not known yet stands 0. */
#define NOT_RECORDED (UINT64_C(1) << 62)

static struct truth_call *begin(struct truth *w, unsigned t, unsigned kind, uint64_t a, uint64_t b)
{
    struct truth_thread *me = &w->thread[t];
    struct truth_call *c = &w->log[t][me->begun % TRUTH_LOG];
    *c = (struct truth_call){.a = a, .b = b, .kind = (uint8_t)kind};
    PUT(me->begun, me->begun + 1);
    return c;
}

static void done(struct truth *w, unsigned t)
{
    PUT(w->thread[t].done, w->thread[t].begun);
}

/* A number that is not right by accident; half of them are small. */
static int64_t value_of(unsigned t, uint64_t n)
{
    uint64_t x = (n * TRUTH_THREADS + t + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return n % 2 ? (int64_t)(x >> 2) : (int64_t)(x >> 34);
}

static void count(struct truth *w, unsigned t)
{
    static struct weft_counter counter[TRUTH_THREADS]; /* the name is of the first call */
    struct truth_thread *me = &w->thread[t];
    int64_t value = value_of(t, me->begun);
    counter[t].name = "n";
    begin(w, t, WEFT_EVENT_COUNTER, (uint64_t)value, 0);
    weft_counter_set(&counter[t], value);
    done(w, t);
}

static void run(struct truth *w, unsigned t, uint64_t id)
{
    begin(w, t, WEFT_EVENT_SWITCH, id, 0);
    weft_run(id);
    w->thread[t].running = id;
    done(w, t);
}

/* Numbers as addresses are, but none twice. */
static uint64_t own_number(struct truth_thread *me, unsigned t)
{
    return 0x10000 + (++me->numbers * TRUTH_THREADS + t) * 16;
}

/* A promise that is resolved at once. */
static void filler(struct truth *w, unsigned t)
{
    struct truth_thread *me = &w->thread[t];
    PUT(me->filler_open, true);
    struct truth_call *c = begin(w, t, WEFT_EVENT_CREATES, me->running, 0);
    uint64_t id = w->plan.own ? weft_create_id(me->running, own_number(me, t), "filler", NULL)
                              : weft_create("filler", NULL);
    c->b = id ? id : NOT_RECORDED;
    PUT(me->filler, id);
    done(w, t);
    begin(w, t, WEFT_EVENT_TRY_READ, me->running, id);
    weft_wait(id);
    done(w, t);
    begin(w, t, WEFT_EVENT_FULFILLS, me->running, id);
    weft_fulfill(id);
    done(w, t);
    PUT(me->filler_open, false);
    PUT(me->filler, 0);
}

/* ---- Promises of the table ---- */

static bool try_lock(struct truth_cell *c)
{
    uint32_t v = __atomic_load_n(&c->version, __ATOMIC_RELAXED);
    return v % 2 == 0 && __atomic_compare_exchange_n(&c->version, &v, v + 1, false,
                                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void unlock(struct truth_cell *c)
{
    PUT(c->version, __atomic_load_n(&c->version, __ATOMIC_RELAXED) + 1);
}

static void create(struct truth *w, unsigned t, struct truth_cell *c)
{
    struct truth_thread *me = &w->thread[t];
    char label[32];
    PUT(me->made, me->made + 1);
    uint64_t number = me->made * TRUTH_THREADS + t;
    if (w->plan.labels)
        number = number % w->plan.labels;
    uint32_t text = text_of('p', 2 * number);
    truth_text(label, text);
    PUT(c->id, 0);
    c->text = text;
    c->creator = me->running;
    c->begun = c->done = 0;
    c->before_ns = truth_now_ns();
    PUT(c->stage, STAGE_CREATING);
    struct truth_call *call = begin(w, t, WEFT_EVENT_CREATES, me->running, 0);
    call->text = text;
    uint64_t id = w->plan.own ? weft_create_id(me->running, own_number(me, t), "cell", label)
                              : weft_create("cell", label);
    call->b = id ? id : NOT_RECORDED;
    c->after_ns = truth_now_ns();
    PUT(c->id, id);
    PUT(c->stage, STAGE_PENDING);
    done(w, t);
}

#define NOBODY (UINT64_C(3) << 60) /* and the thread: numbers that no promise has */

/* Somebody: what runs, or a promise of the table. */
static uint64_t anybody(struct truth *w, unsigned t)
{
    struct truth_thread *me = &w->thread[t];
    uint64_t r = truth_dice(&me->dice);
    uint64_t id =
        w->plan.cells ? __atomic_load_n(&w->cell[r / 4 % w->plan.cells].id, __ATOMIC_ACQUIRE) : 0;
    return r % 4 == 0 || !id ? me->running : id;
}

static bool waits_already(const struct truth_cell *c, uint64_t who)
{
    bool is = who == c->id;
    for (unsigned i = 0; i < TRUTH_WAITERS; i++)
        is |= (c->begun & STEP_WAIT << i) && c->waiter[i] == who;
    return is;
}

static void wait_for(struct truth *w, unsigned t, struct truth_cell *c, unsigned i)
{
    uint64_t who = anybody(w, t);
    if (waits_already(c, who)) /* a number of nobody */
        who = NOBODY + i * TRUTH_THREADS + t;
    c->waiter[i] = who;
    PUT(c->begun, (uint16_t)(c->begun | STEP_WAIT << i));
    begin(w, t, WEFT_EVENT_TRY_READ, who, c->id);
    if (who == w->thread[t].running)
        weft_wait(c->id);
    else
        weft_wait_by(who, c->id);
}

static void label(struct truth *w, unsigned t, struct truth_cell *c)
{
    char text[32];
    truth_text(text, c->text + 1);
    PUT(c->begun, c->begun | STEP_LABEL);
    begin(w, t, WEFT_EVENT_LABEL, c->id, 0)->text = c->text + 1;
    weft_label(c->id, text);
}

static void notify(struct truth *w, unsigned t, struct truth_cell *c)
{
    c->notifier = anybody(w, t);
    PUT(c->begun, c->begun | STEP_NOTIFY);
    begin(w, t, WEFT_EVENT_NOTIFIES, c->notifier, c->id);
    if (c->notifier == w->thread[t].running)
        weft_notify(c->id);
    else
        weft_notify_by(c->notifier, c->id);
}

static void take_step(struct truth *w, unsigned t, struct truth_cell *c, unsigned step)
{
    switch (step) {
    case STEP_LABEL:
        label(w, t, c);
        break;
    case STEP_NOTIFY:
        notify(w, t, c);
        break;
    case STEP_MARK:
        PUT(c->begun, c->begun | STEP_MARK);
        begin(w, t, WEFT_EVENT_SHOULD_RESOLVE, c->id, 0);
        weft_should_resolve(c->id);
        break;
    case STEP_BACKGROUND:
        PUT(c->begun, c->begun | STEP_BACKGROUND);
        begin(w, t, WEFT_EVENT_BACKGROUND, c->id, 0);
        weft_background(c->id);
        break;
    default:
        wait_for(w, t, c, (unsigned)__builtin_ctz(step / STEP_WAIT));
    }
    PUT(c->done, (uint16_t)(c->done | step));
    done(w, t);
}

/* What waits for the promise, which is about to become another one. */
static struct truth_link *new_link(struct truth_thread *me, const struct truth_cell *c,
                                   uint64_t other)
{
    struct truth_link *l = &me->link[me->links % TRUTH_LINKS];
    PUT(l->done, false);
    l->id = c->id;
    l->became = other;
    memcpy(l->waiter, c->waiter, sizeof c->waiter);
    l->waiter[TRUTH_WAITERS] = 0;
    PUT(l->waits, (uint16_t)(c->done / STEP_WAIT));
    PUT(me->links, me->links + 1);
    return l;
}

const struct truth_link *truth_link(const struct truth_thread *t, uint64_t n)
{
    return n < t->links && n + TRUTH_LINKS > t->links ? &t->link[n % TRUTH_LINKS] : NULL;
}

/* Somebody waits for what became another one long ago. */
static bool wait_late(struct truth *w, unsigned t, uint64_t n)
{
    struct truth_thread *me = &w->thread[t];
    struct truth_link *l = &me->link[n % TRUTH_LINKS];
    if (!truth_link(me, n) || l->waiter[TRUTH_WAITERS])
        return false;
    const uint64_t who = anybody(w, t);
    bool twice = who == l->id || who == l->became;
    for (unsigned i = 0; i < TRUTH_WAITERS; i++)
        twice |= l->waits >> i & 1 && l->waiter[i] == who;
    if (twice)
        return false;
    l->waiter[TRUTH_WAITERS] = who;
    begin(w, t, WEFT_EVENT_TRY_READ, who, l->id);
    if (who == me->running)
        weft_wait(l->id);
    else
        weft_wait_by(who, l->id);
    PUT(l->waits, (uint16_t)(l->waits | 1u << TRUTH_WAITERS));
    done(w, t);
    return true;
}

static void end(struct truth *w, unsigned t, struct truth_cell *c)
{
    uint64_t running = w->thread[t].running, r = truth_dice(&w->thread[t].dice);
    uint64_t other = anybody(w, t);
    PUT(c->stage, STAGE_ENDING);
    if (other == WEFT_LOOP || other <= c->id) /* so that nothing becomes itself */
        other = NOBODY + t;
    switch (r % 8) {
    case 0:
        begin(w, t, WEFT_EVENT_FAILS, running, c->id)->text = text_of('e', r / 8 % 8);
        char reason[32];
        truth_text(reason, text_of('e', r / 8 % 8));
        weft_fail(c->id, reason);
        break;
    case 1:
        begin(w, t, WEFT_EVENT_CANCELS, running, c->id);
        weft_cancel(c->id);
        break;
    case 2:
        begin(w, t, WEFT_EVENT_RESOLVES, running, c->id);
        weft_resolve(c->id);
        break;
    case 3:
        begin(w, t, WEFT_EVENT_FORGETS, c->id, 0);
        weft_forget(c->id);
        break;
    case 4:
        begin(w, t, WEFT_EVENT_FULFILLS, other, c->id);
        weft_resolve_by(other, c->id, WEFT_BY_VALUE, NULL);
        break;
    case 5: {
        struct truth_link *l = new_link(&w->thread[t], c, other);
        begin(w, t, WEFT_EVENT_BECOMES, c->id, other);
        weft_become(c->id, other);
        PUT(l->done, true);
        if (w->thread[t].running == c->id)
            w->thread[t].running = other;
        break;
    }
    default:
        begin(w, t, WEFT_EVENT_FULFILLS, running, c->id);
        weft_fulfill(c->id);
    }
    PUT(c->stage, STAGE_FREE);
    done(w, t);
}

static uint64_t other_than(uint64_t running)
{
    return running == WEFT_LOOP ? NOBODY : WEFT_LOOP;
}

/* The next thing in the life of some promise. */
bool truth_step_cell(struct truth *w, unsigned t)
{
    const struct truth_plan *plan = &w->plan;
    struct truth_thread *me = &w->thread[t];
    uint64_t r = truth_dice(&me->dice);
    uint32_t i = (uint32_t)(r / 64 % plan->cells);
    struct truth_cell *c = &w->cell[i];
    if (!try_lock(c))
        return false;
    bool acted = true;
    unsigned step = 1u << (r >> 40) % (STEPS - plan->few_waits);
    if (c->stage == STAGE_FREE)
        create(w, t, c);
    else if (r % 64 / 8 == 0) /* no call is like the one before it, so that each is known */
        run(w, t, me->running == c->id || r % 2 == 0 ? other_than(me->running) : c->id);
    else if (r % 4 && !(c->begun & step))
        take_step(w, t, c, step);
    else if (i >= plan->old)
        end(w, t, c);
    else
        acted = false;
    unlock(c);
    return acted;
}

/* Threads differ in speed, so that one's packets last much longer than the other's. */
static void dawdle(unsigned t)
{
    for (volatile unsigned i = 0; i < t % 4 * 400; i = i + 1)
        ;
}

void truth_begin(struct truth *w, unsigned t)
{
    struct truth_thread *me = &w->thread[t];
    me->running = WEFT_LOOP;
    me->dice = (w->plan.seed + 1) * UINT64_C(0x9e3779b97f4a7c15) + t * UINT64_C(0xd1342543de82ef95);
    me->dice += !me->dice;
    PUT(me->tid, (uint32_t)gettid());
    __atomic_add_fetch(&w->ready, 1, __ATOMIC_RELEASE);
}

void truth_step(struct truth *w, unsigned t)
{
    uint64_t r = truth_dice(&w->thread[t].dice);
    if (r % 1024 < w->plan.share && (r >> 20 & 7 || !w->plan.late || !w->thread[t].links
                                         ? truth_step_cell(w, t)
                                         : wait_late(w, t, (r >> 23) % w->thread[t].links)))
        dawdle(t);
    else if (r / 1024 % 4 == 0)
        filler(w, t);
    else
        count(w, t);
}

void *truth_run(struct truth *w, unsigned t)
{
    if (!w->thread[t].tid)
        truth_begin(w, t);
    for (uint64_t i = 0; !w->plan.steps || i < w->plan.steps; i++) {
        truth_step(w, t);
        if (__atomic_load_n(&w->stop, __ATOMIC_RELAXED))
            break;
    }
    return NULL;
}

void truth_fill(struct truth *w, unsigned t, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        struct truth_cell *c = &w->cell[i];
        if (!try_lock(c))
            continue;
        create(w, t, c);
        for (unsigned step = 1; step < STEPS; step *= 2)
            if (truth_dice(&w->thread[t].dice) % 2)
                take_step(w, t, c, step);
        unlock(c);
    }
}

struct start {
    struct truth *w;
    unsigned t;
};

static void *run_thread(void *arg)
{
    struct start s = *(struct start *)arg;
    free(arg);
    return truth_run(s.w, s.t);
}

int truth_start_threads(struct truth *w)
{
    int rc = 0;
    for (unsigned t = 1; t < w->plan.threads && rc == 0; t++) {
        pthread_t thread;
        struct start *s = malloc(sizeof *s);
        if (!s)
            return 12;
        *s = (struct start){w, t};
        rc = pthread_create(&thread, NULL, run_thread, s);
        if (rc == 0)
            pthread_detach(thread);
    }
    return rc;
}

/* ---- Snapshots ---- */

/* In a table that changes, the cell is held for a moment: threads then pass it over. */
static void snap_cell(struct truth_cell *out, struct truth_cell *c, bool live)
{
    for (int i = 0; live && i < 1000; i++) {
        if (!try_lock(c))
            continue;
        const size_t after =
            offsetof(struct truth_cell, text); /* the version is the others', too */
        memcpy((char *)out + after, (const char *)c + after, sizeof *c - after);
        unlock(c);
        return;
    }
    if (!live)
        *out = *c;
    else
        *out = (struct truth_cell){.unknown = true, .id = GET(c->id), .stage = GET(c->stage)};
}

void truth_snap(struct truth_snapshot *out, struct truth *w, bool live)
{
    *out = (struct truth_snapshot){.cells = w->plan.cells, .threads = w->plan.threads};
    out->cell = calloc(w->plan.cells + 1, sizeof *out->cell);
    if (!out->cell)
        abort();
    for (unsigned t = 0; t < out->threads; t++) {
        if (!live) /* else it is not known when they came */
            memcpy(out->thread[t].link, w->thread[t].link, sizeof out->thread[t].link);
        out->thread[t].links = live ? 0 : w->thread[t].links;
        out->thread[t].made = GET(w->thread[t].made);
        out->thread[t].filler_open = GET(w->thread[t].filler_open);
    }
    for (uint32_t i = 0; i < out->cells; i++)
        snap_cell(&out->cell[i], &w->cell[i], live);
}
