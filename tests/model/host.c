/* SPDX-License-Identifier: ISC */
#include "host.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <time.h>

#include "explore.h"
#include "memory.h"
#include "record/control.h"
#include "format/events.h"
#include "record/record.h"
#include "record/start.h"
#include <weft/weft.h>

enum { FILE_BYTES = 20 << 10, ROOM = 128 << 10, SLOT_BYTES = 8 << 10 };

struct truth truth;
static struct truth first_truth;

/* The trace, and the rest of the recorder's memory. */
static _Alignas(4096) unsigned char file[FILE_BYTES], room[ROOM], slot_room[SLOT_BYTES];
static struct weft_record_control first_control;
static void (*at_exit)(void *);
static struct thread *slot_of[THREADS];
static struct thread *first_slot_of[THREADS];
static struct layout planned;
static size_t room_bytes;
static bool dirty, judged, leave;

/* ---- What the recorder calls ---- */

uint64_t weft_record_clock_ticks(const struct clock_source *c)
{
    (void)c;
    return 1000;
}

struct clock_pair weft_record_clock_pair(const struct clock_source *c)
{
    (void)c;
    return (struct clock_pair){.ticks = 1000};
}

void weft_record_clock_init(struct clock_source *c, uint64_t (*caller)(void), uint64_t hz,
                            bool no_counter)
{
    (void)no_counter;
    *c = (struct clock_source){.kind = WEFT_CLOCK_CALLER, .caller = caller, .hz = hz ? hz : 1000};
}

size_t weft_record_metadata(char *out, size_t bytes)
{
    (void)out, (void)bytes;
    return 0;
}

long model_syscall(long number, ...);
void *model_map(size_t bytes);
void *model_memset(void *to, int byte, size_t bytes);
void __tsan_write_range(void *at, size_t bytes);
int model_key_create(pthread_key_t *key, void (*at_exit)(void *));
int model_pause(void);
int model_clock(struct timespec *t);
bool model_plan(struct layout *l, uint64_t bytes, uint64_t pending_bytes);

long model_syscall(long number, ...)
{
    if (number == SYS_membarrier)
        memory_barrier();
    return number == SYS_gettid ? (long)self + 1 : 0;
}

/* Of the table of slots, the only thing that is larger than the recorder's memory, pages come as they are used. */
void *model_map(size_t bytes)
{
    static unsigned char page[4096];
    if (bytes != room_bytes)
        return bytes > ROOM ? slot_room : page;
    return model_memset(room, 0, bytes);
}

/* A smaller trace than a program could ask for. */
bool model_plan(struct layout *l, uint64_t bytes, uint64_t pending_bytes)
{
    (void)bytes, (void)pending_bytes;
    *l = planned;
    return true;
}

int model_key_create(pthread_key_t *key, void (*function)(void *))
{
    *key = 0;
    at_exit = function;
    return 0;
}

int model_pause(void)
{
    wait_for_others();
    return 0;
}

int model_clock(struct timespec *t)
{
    *t = (struct timespec){1, 0};
    return 0;
}

/* ---- Threads ---- */

void host_enter(unsigned t)
{
    weft_record_self = slot_of[t];
}

void host_leave(unsigned t)
{
    slot_of[t] = weft_record_self;
}

void host_thread_ends(void)
{
    if (weft_record_self && leave)
        at_exit(weft_record_self);
}

void be(unsigned t)
{
    host_leave(self);
    self = t;
    host_enter(t);
}

/* ---- The truth ---- */

static struct weft_site site = {.file = "scene.c", .line = 1, .literal = 3};

static uint64_t events_of(const struct thread *t)
{
    return t ? t->writer[0].events_base + t->writer[0].packet_events : 0;
}

/* Says what the thread is about to record. */
static void intend(enum intention kind, unsigned promise)
{
    truth.intent[self].kind = kind;
    truth.intent[self].promise = promise;
    truth.intent[self].events = events_of(weft_record_self);
    truth.intent[self].discarded = weft_record_rec.facts->discarded_events;
}

static void publish(struct promise *p, enum intention kind)
{
    if (truth.silent)
        fail("an event is recorded although the recording is switched off");
    truth.published++;
    if (kind == ENDS)
        p->ended = true;
    if (kind == WAITS)
        p->waits++;
}

static const struct promise *find_promise(uint64_t id)
{
    for (unsigned n = 0; n < truth.promises; n++)
        if (truth.promise[n].id == id)
            return &truth.promise[n];
    return NULL;
}

/* Returns true if a cell says what the promise became. */
static bool is_kept_as_linked(uint64_t id)
{
    const struct weft_pending_header *h = weft_record_rec.pending;
    const uint64_t *ids = (const void *)((const unsigned char *)h + h->ids_at);
    const struct weft_pending_cell *cell = (const void *)((const unsigned char *)h + h->cells_at);
    for (uint32_t c = 0; c < h->cells; c++)
        for (int n = 0; n < WEFT_PENDING_NOTES && ids[c] == id; n++)
            if (cell[c].note_tag[n] >> WEFT_NOTE_BITS == WEFT_EVENT_BECOMES)
                return true;
    return false;
}

/* An ended byte may only be stored while its packet is the one that the promise was created in. Whoever retires a packet
 * stores those of promises that became others. */
static void check_byte(const unsigned char *at)
{
    const struct recorder *r = &weft_record_rec;
    const size_t offset = (size_t)(at - r->pool) % r->packet_bytes,
                 packet = (size_t)(at - r->pool) / r->packet_bytes;
    const struct notes *n = &r->notes[packet];
    const uint64_t id = truth.promise[truth.intent[self].promise].id;
    if (offset >= sizeof(struct weft_events_header) && offset < events_at() &&
        (*at == WEFT_BYTE_LINKED || *at == WEFT_BYTE_LET_GO)) {
        const struct promise *p =
            find_promise((n->home << r->id_bits) + 1 + offset - sizeof(struct weft_events_header));
        if (n->home == NO_HOME || n->state == CLEAN || !p || !p->became)
            fail("the byte of a promise that became another is stored in packet %zu, which is "
                 "another one's now",
                 packet);
        if (*at == WEFT_BYTE_LINKED && !is_kept_as_linked(p->id))
            fail("the byte of promise %u says that a cell has what it became, and none has",
                 (unsigned)(p - truth.promise));
    }
    if (offset < sizeof(struct weft_events_header) || offset >= events_at() ||
        truth.intent[self].kind != ENDS || !id)
        return;
    if (index_of(id) == offset - sizeof(struct weft_events_header) && *at == WEFT_BYTE_ENDED &&
        (n->home != home_of(id) || n->state == CLEAN))
        fail("the byte of promise %u is stored in packet %zu, which is another one's now",
             truth.intent[self].promise, packet);
}

static void after_store(const void *at, uint64_t value)
{
    const struct recorder *r = &weft_record_rec;
    const unsigned char *p = at;
    if (p < r->pool || p >= r->pool + r->packets * r->packet_bytes)
        return;
    const size_t offset = (size_t)(p - r->pool) % r->packet_bytes;
    if (offset >= sizeof(struct weft_events_header))
        check_byte(p);
    if (offset != offsetof(struct weft_packet_header, content_bits) ||
        truth.intent[self].kind == NOTHING ||
        events_of(weft_record_self) == truth.intent[self].events || value <= events_at() * 8)
        return;
    publish(&truth.promise[truth.intent[self].promise], truth.intent[self].kind);
    truth.intent[self].events = events_of(weft_record_self);
    if (truth.intent[self].kind != ENDS) /* its byte comes after it */
        truth.intent[self].kind = NOTHING;
}

unsigned create(void)
{
    const unsigned n = truth.promises++;
    intend(CREATES, n);
    truth.promise[n].id = weft_impl_create(&site, "promise", NULL);
    truth.promise[n].created = true;
    return n;
}

unsigned create_own(uint64_t id)
{
    const unsigned n = truth.promises++;
    intend(CREATES, n);
    weft_impl_create_id(&site, WEFT_LOOP, id, "promise", NULL);
    truth.promise[n].id = id;
    truth.promise[n].created = true;
    return n;
}

void end(unsigned promise)
{
    truth.promise[promise].ending = true;
    intend(ENDS, promise);
    weft_impl_event(WEFT_IMPL_FULFILL, truth.promise[promise].id);
    intend(NOTHING, 0);
    truth.promise[promise].ended = true; /* also if there was no room to say so */
    truth.promise[promise].through = true;
}

void wait_for(unsigned promise)
{
    intend(WAITS, promise);
    truth.promise[promise].waited++;
    weft_impl_event(WEFT_IMPL_WAIT, truth.promise[promise].id);
}

void wait_by(unsigned who, unsigned promise)
{
    intend(WAITS, promise);
    truth.promise[promise].waited++;
    weft_impl_event_by(WEFT_IMPL_WAIT, truth.promise[who].id, truth.promise[promise].id);
}

void should_resolve(unsigned promise)
{
    intend(MARKS, promise);
    weft_impl_event(WEFT_IMPL_SHOULD_RESOLVE, truth.promise[promise].id);
}

void become(unsigned promise, unsigned other)
{
    intend(BECOMES, promise);
    truth.promise[promise].became = (uint8_t)(other + 1);
    weft_impl_event_by(WEFT_IMPL_BECOME, truth.promise[promise].id, truth.promise[other].id);
}

void fill(unsigned events)
{
    for (; events; events--) {
        intend(FILLS, 0);
        weft_impl_gc(1);
    }
}

void appear(void)
{
    weft_impl_event(WEFT_IMPL_FULFILL, 0);
}

void without_membarrier(void)
{
    weft_record_rec.fenced = 1;
}

/* ---- Switching ---- */

void pause_recording(void)
{
    weft_pause();
}

void go_on_recording(void)
{
    weft_unpause();
}

/* The pages are unmapped, unless a thread may still use them: here, all of their bytes are written. */
void stop_recording(void)
{
    weft_stop();
    if (weft_record_rec.stuck)
        return;
    __tsan_write_range(file, (size_t)(weft_record_rec.pool - file) +
                                 weft_record_rec.packets * weft_record_rec.packet_bytes);
    __tsan_write_range(room, room_bytes);
}

/* What weft ctl does (src/cli/ctl.c): by system calls, each of which is in order with the next. */
void ask(unsigned command)
{
    struct weft_record_control *c = &weft_record_control;
    truth.silent = false;
    struct weft_record_request r = {
        .number = c->answer.number + 1, .command = command, .pid = (uint32_t)getpid()};
    r.check = weft_record_request_check(&r);
    foreign_store(&c->request.number, 8, 0, __ATOMIC_SEQ_CST);
    memcpy(&c->request.check, &r.check, sizeof r - sizeof r.number);
    foreign_store(&c->request.number, 8, r.number, __ATOMIC_SEQ_CST);
    foreign_store(c->bell, 1, WEFT_RECORD_RING, __ATOMIC_SEQ_CST);
    foreign_store(c->word, 1, WEFT_RECORD_CALL_US, __ATOMIC_SEQ_CST);
    truth.asked = r.number;
    truth.command = command;
    while (foreign_load(&c->answer.number, 8, __ATOMIC_SEQ_CST) != r.number) {
        if (!others_run())
            return; /* the next call will see it: judge_answer */
        wait_for_others();
    }
    struct weft_record_answer answer;
    if (!foreign_copy(&answer, &c->answer, sizeof answer))
        fail("weft ctl sees the answer's number before the rest of it");
    truth.silent = command != WEFT_RECORD_CTL_ON;
}

const char *judge_answer(void)
{
    const struct weft_record_control *c = &weft_record_control;
    if (truth.asked != c->answer.number && !(weft_impl_state & WEFT_RECORD_CALL_US))
        return "weft ctl gets no answer, because nobody calls";
    be(0);
    fill(1);
    be(1);
    fill(1);
    const bool on = truth.command == WEFT_RECORD_CTL_ON;
    const uint32_t recording = on ? weft_record_rec.generation : NO_RECORDING;
    if (truth.asked != c->answer.number)
        return "weft ctl gets no answer";
    if (c->answer.error || weft_record_control.on != on)
        return "weft ctl gets another answer than the right one";
    if (weft_record_rec.recording != recording || (weft_impl_state & 1) != on)
        return "the words that calls look at are not what they must be";
    return NULL;
}

const char *judge_standby(void)
{
    const bool right =
        weft_record_rec.recording == NO_RECORDING && weft_impl_state == WEFT_RECORD_STANDBY;
    return right ? NULL : "the words do not say that it is paused, and stands by";
}

/* ---- Names ---- */

/* Tables of the recorder's, and what of an entry is told apart. */
static bool name_part(const void *at, char *name, size_t size)
{
    const struct recorder *r = &weft_record_rec;
    struct weft_pending_header *h = r->pending;
    unsigned char *const pending = (unsigned char *)h;
    const struct {
        const void *begin;
        size_t count, bytes;
        const char *name;
    } table[] = {
        {r->pool, r->packets, r->packet_bytes, "packet"},
        {r->notes, r->packets, sizeof *r->notes, "notes"},
        {r->queue, r->queue_mask + 1, sizeof *r->queue, "queue"},
        {r->homes, r->homes_mask + 1, sizeof *r->homes, "homes"},
        {r->kept_by_home, r->kept_mask + 1, sizeof *r->kept_by_home, "kept_by_home"},
        {r->cell_tags, h ? h->cells : 0, sizeof *r->cell_tags, "tag"},
        {h ? pending + h->ids_at : NULL, h ? h->cells : 0, sizeof(uint64_t), "number"},
        {h ? pending + h->cells_at : NULL, h ? h->cells : 0, sizeof(struct weft_pending_cell),
         "cell"},
        {slot_room, THREADS, sizeof(struct thread), "slot"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const size_t offset =
            (size_t)((const unsigned char *)at - (const unsigned char *)table[i].begin);
        if (!table[i].begin || offset >= table[i].count * table[i].bytes)
            continue;
        const size_t rest = offset % table[i].bytes;
        const int n = snprintf(name, size, "%s[%zu]", table[i].name, offset / table[i].bytes);
        if (i == 0 && rest >= sizeof(struct weft_events_header) && rest < events_at())
            snprintf(name + n, size - (size_t)n, " ended[%zu]",
                     rest - sizeof(struct weft_events_header));
        else if (rest)
            snprintf(name + n, size - (size_t)n, "+%zu", rest);
        return true;
    }
    return false;
}

/* ---- Starting over ---- */

static void before_store(const void *at)
{
    const unsigned char *p = at;
    if (p < file || p >= file + FILE_BYTES)
        return;
    host_point();
    dirty = true;
}

void host_point(void)
{
    if (!judged || !dirty || !is_new())
        return;
    dirty = false;
    const char *wrong = judge_file();
    if (wrong)
        fail("%s", wrong);
}

void host_variable(void *at, size_t bytes, const char *name)
{
    memory_region(at, bytes, name);
}

void host_set_up(const struct scene *s)
{
    static bool begun;
    if (!begun)
        first_control = weft_record_control;
    begun = true;
    memory_end();
    memory_forget();
    memory_region(&weft_record_rec, sizeof weft_record_rec, "recorder");
    memory_region(slot_room, SLOT_BYTES, "threads");
    memory_region(&weft_impl_state, sizeof weft_impl_state, "state");
    memory_region(&weft_record_control, sizeof weft_record_control, "control");
    memset(file, 0, FILE_BYTES);
    memset(room, 0, ROOM);
    memset(slot_room, 0, SLOT_BYTES);
    memset(slot_of, 0, sizeof slot_of);
    weft_record_rec = (struct recorder){.recording = NO_RECORDING};
    weft_impl_state = 0;
    weft_record_control = first_control;
    truth = (struct truth){0};
    site.known = 0;
    self = 0;
    host_pool();
    host_threads();
    host_start();
    judged = !(s->flags & NO_KILL);
    leave = s->flags & LEAVE;
    memory_before_store = before_store;
    memory_after_store = after_store;
    memory_part = name_part;
    s->set_up();
    be(0);
    host_leave(0);
    memcpy(first_slot_of, slot_of, sizeof slot_of);
    first_truth = truth;
    memory_region(file,
                  (size_t)(weft_record_rec.pool - file) +
                      weft_record_rec.packets * weft_record_rec.packet_bytes,
                  "file");
    memory_region(room, room_bytes, "room");
    for (uint64_t i = 0; i < weft_record_rec.packets; i++)
        memory_bytes(ended_bytes(i), UINT64_C(1) << weft_record_rec.id_bits);
    memory_unchecked(&weft_record_control.request, sizeof weft_record_control.request);
    if (s->flags & FOREIGN) {
        memory_bytes(&weft_record_rec.recording, sizeof weft_record_rec.recording);
        memory_bytes(&weft_impl_state, sizeof weft_impl_state);
    }
    memory_ready();
}

void host_begin(void)
{
    truth = first_truth;
    memcpy(slot_of, first_slot_of, sizeof slot_of);
    dirty = true;
}

void begin_recording(unsigned packets)
{
    begin_recording_in(packets, 256);
}

void begin_recording_in(unsigned packets, uint32_t packet_bytes)
{
    planned = (struct layout){
        .bytes = 9216 + packets * packet_bytes,
        .metadata_at = 4096,
        .strings_at = 4096,
        .strings_bytes = 1024,
        .pending_at = 5120,
        .roll_at = 8384,
        .pool_at = 9216,
        .packet_bytes = packet_bytes,
        .packets = packets,
        .texts = 16,
        .cells = 24,
        .sorts = 16,
        .numbers = 16,
    };
    room_bytes = weft_record_layout_private(&planned);
    if (planned.bytes > FILE_BYTES || room_bytes > ROOM)
        abort();
    start_recording();
}

void start_recording(void)
{
    if (weft_start(&(struct weft_options){
            .size = sizeof(struct weft_options), .memory = file, .bytes = planned.bytes}))
        abort();
}
