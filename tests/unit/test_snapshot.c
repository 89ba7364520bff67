/* SPDX-License-Identifier: ISC */
/* A trace of a live process, which this test claims to be, changes at any of the reader's steps: no pending
 * promise is lost or doubled, and what has ended is said by its event. Linked with --wrap=pread64. */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/file.h>

#include "format/listed.h"
#include "model/model.h"
#include "packets.h"
#include "read/alive.h"
#include "read/reader.h"
#include "read/snapshot.h"

#define HOME(h) (UINT64_C(64) * (h) + 1)

enum { PACKET = 400, STEPS_MAX = 300 };

/* ---- Files that change while they are read ---- */

static uint64_t done_reads, change_at[2];
static const struct trace *change_to[2];
static int changing = -1; /* file */

ssize_t __real_pread64(int fd, void *buffer, size_t size, off_t offset);
ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset);

ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset)
{
    for (int i = 0; i < 2 && changing >= 0; i++)
        if (done_reads == change_at[i])
            assert_int_equal(pwrite(changing, change_to[i]->bytes, change_to[i]->size, 0),
                             change_to[i]->size);
    done_reads++;
    return __real_pread64(fd, buffer, size, offset);
}

/* ---- A live trace ---- */

static size_t read_small(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);
    assert_true(n > 0);
    close(fd);
    text[n] = 0;
    return (size_t)n;
}

static void live_facts(struct trace *t)
{
    struct weft_facts_header h = {
        .state = WEFT_TRACE_RECORDING, .pid = (uint32_t)getpid(), .streams = 2};
    char text[1024];
    read_small("/proc/self/stat", text, sizeof text);
    char *at = strrchr(text, ')');
    for (unsigned field = 2; field < 22; field++)
        at = strchr(at + 1, ' ');
    h.process_start = strtoull(at, NULL, 10);
    read_small("/proc/sys/kernel/random/boot_id", text, sizeof text);
    at = text;
    for (unsigned i = 0; i < 16; i++, at += 2) {
        at += *at == '-';
        h.boot_id[i] = (uint8_t)strtoul((char[]){at[0], at[1], 0}, NULL, 16);
    }
    facts_packet(t, h, "");
}

/* What the packets of a version have. All versions have the same places and sizes. */
struct version {
    bool overwritten; /* the first packet, in which the promise is created */
    bool often;       /* … after others that were overwritten, too */
    bool cell;        /* the promise has one */
    bool resolved;    /* an event says so */
    bool marked;      /* … and so does the cell */
    bool ended;       /* … and the ended byte */
    bool own;         /* its number is the program's own */
    bool on_roll;     /* it stands on the roll */
};

static void roll_packet(struct trace *t, uint64_t id)
{
    const uint64_t place = id << WEFT_ROLL_SORT_BITS | (id ? WEFT_ROLL_FRESH : 0);
    struct weft_roll_header h = {.sort_bytes = sizeof(struct weft_roll_sort),
                                 .numbers = 1,
                                 .sorts_at = sizeof h,
                                 .numbers_at = sizeof h};
    packet_begin(t, WEFT_PACKET_ROLL, &h, sizeof h);
    packet_bytes(t, &place, sizeof place);
}

/* A packet of events. Own numbers have no ended bytes. */
static void begin(struct trace *t, struct version v, struct weft_events_header h, const char *ended)
{
    events_begin_ended(t, h, ended);
    h = events_header(t);
    h.ended_count = v.own ? 0 : h.ended_count;
    events_set_header(t, h);
}

static struct trace make(struct version v)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    uint32_t site = strings_site(&s, strings_text(&s, "rpc"), 0, 0, 0);
    live_facts(&t);
    strings_packet(&t, &s);
    uint64_t id = v.cell ? HOME(2) | (v.marked ? WEFT_PENDING_RESOLVED : 0) : 0;
    struct weft_pending_cell cell = {
        .created_ticks = 1010, .creator = LOOP, .site = site, .packet = 1};
    const uint64_t unsure = v.own ? WEFT_UNSURE | WEFT_LISTED : 0;
    pending_packet(&t, (struct weft_pending_header){.kept = v.cell, .unsure = unsure}, &id, &cell,
                   1);
    roll_packet(&t, v.on_roll ? HOME(2) : 0);
    struct weft_facts_header *facts = (struct weft_facts_header *)t.bytes;
    facts->events_at = t.size;
    facts->event_packets = 2;
    facts->event_packet_bytes = PACKET;
    if (v.overwritten) {
        begin(&t, v,
              (struct weft_events_header){.sequence = 3,
                                          .begin_ticks = 1200,
                                          .base = HOME(4),
                                          .events_before = 1,
                                          .counts = UINT64_C(1) * (v.often ? 5 : 1)
                                                    << WEFT_COUNTS_BITS},
              "");
        events_add(&t, WEFT_FORM_SWITCH, switches(1210, LOOP), 0, 0);
    } else {
        begin(&t, v,
              (struct weft_events_header){.sequence = 1, .begin_ticks = 1000, .base = HOME(2)},
              v.ended ? "1" : "");
        events_add(&t, WEFT_FORM_CREATE, creates(1010, 0, HOME(2), 0), site, 0);
        events_end(&t, 1020);
        struct weft_events_header h = events_header(&t);
        h.counts = h.events;
        events_set_header(&t, h);
    }
    packet_pad(&t, PACKET - (t.size - t.packet), 0);
    begin(&t, v,
          (struct weft_events_header){
              .sequence = 2, .begin_ticks = 1001, .base = HOME(3), .stream = 1},
          "");
    events_add(&t, WEFT_FORM_SWITCH, switches(1005, LOOP), 0, 0);
    if (v.resolved)
        events_add(&t, WEFT_FORM_FULFIL_BY, fulfills(1100, LOOP, HOME(2)), 0, 0);
    packet_pad(&t, PACKET - (t.size - t.packet), 0);
    return t;
}

/* ---- Reading it ---- */

struct seen {
    unsigned created, promoted, fulfilled, guessed;
    uint64_t reads, kept, overwritten;
    enum weft_ended ended;
};

static struct seen read_it(const char *path)
{
    struct seen s = {0};
    struct weft_reader *r;
    struct weft_error err;
    const struct weft_event *ev;
    ptrdiff_t n;
    done_reads = 0;
    assert_int_equal(weft_reader_open(&r, path, &err), 0);
    while ((n = weft_reader_next(r, &ev, &err)) > 0)
        for (const struct weft_event *end = ev + n; ev < end; ev++) {
            s.kept += !ev->promoted;
            if (ev->b != HOME(2))
                continue;
            s.created += ev->kind == WEFT_EVENT_CREATES;
            s.promoted += ev->kind == WEFT_EVENT_CREATES && ev->promoted;
            s.fulfilled += ev->kind == WEFT_EVENT_FULFILLS;
            s.guessed += ev->kind == WEFT_EVENT_RESOLVES;
        }
    assert_int_equal(n, 0);
    const struct weft_reader_facts *f = weft_reader_facts(r);
    assert_int_equal(weft_reader_damage(r)->problems, 0);
    assert_int_equal(f->missing_packets, 0);
    s.overwritten = f->overwritten_events;
    s.ended = f->ended;
    weft_reader_close(r);
    s.reads = done_reads;
    return s;
}

/* Tries all pairs of steps at which the first version becomes the second, and that the third. */
static void try_all(const struct version versions[3], void (*check)(const struct seen *s))
{
    struct trace t[3];
    for (int i = 0; i < 3; i++)
        t[i] = make(versions[i]);
    assert_int_equal(t[0].size, t[1].size);
    assert_int_equal(t[0].size, t[2].size);
    change_to[0] = &t[1];
    change_to[1] = &t[2];
    uint64_t steps = 1;
    for (change_at[0] = 0; change_at[0] < steps; change_at[0]++)
        for (change_at[1] = change_at[0]; change_at[1] < steps; change_at[1]++) {
            const char *path = trace_path(&t[0]);
            changing = t[0].fd;
            struct seen s = read_it(path);
            changing = -1;
            steps = s.reads > steps ? s.reads : steps;
            assert_true(steps < STEPS_MAX);
            if (s.ended != WEFT_ENDED_RUNNING)
                fprintf(stderr, "is shown as %s\n", weft_ended_name(s.ended));
            check(&s);
        }
    assert_true(steps > 20);
    printf("%" PRIu64 " steps\n", steps);
    for (int i = 0; i < 3; i++)
        trace_fini(&t[i]);
}

static unsigned ways;

static void is_created_once(const struct seen *s)
{
    assert_int_equal(s->created, 1);
    assert_int_equal(s->fulfilled + s->guessed, 0);
    assert_int_equal(s->ended, WEFT_ENDED_RUNNING);
    ways |= s->promoted ? 2 : 1;
}

/* The promise gets a cell, then the packet with its creation is overwritten. */
TEST(promotion)
{
    ways = 0;
    try_all((const struct version[]){{0}, {.cell = true}, {.cell = true, .overwritten = true}},
            is_created_once);
    assert_int_equal(ways, 3);
}

/* Of a packet that is overwritten while it is copied, only its own event counts: those that came and went later are not from
 * the time of the copy. If it was overwritten before, all count. */
static void is_counted(const struct seen *s)
{
    if (s->overwritten != 0 && s->overwritten != 1 && s->overwritten != 5)
        fail_msg("%d events are kept, and %d were overwritten", (int)s->kept, (int)s->overwritten);
    if (s->overwritten < 5)
        assert_int_equal(s->kept + s->overwritten, 2);
    ways |= 1u << s->overwritten;
}

TEST(overwritten_often)
{
    ways = 0;
    try_all((const struct version[]){{0},
                                     {.cell = true},
                                     {.cell = true, .overwritten = true, .often = true}},
            is_counted);
    assert_int_equal(ways, 1 << 0 | 1 << 1 | 1 << 5);
}

/* It goes from the roll to a cell. */
TEST(from_roll)
{
    ways = 0;
    try_all((const struct version[]){{.own = true, .on_roll = true},
                                     {.own = true, .on_roll = true, .cell = true},
                                     {.own = true, .cell = true, .overwritten = true}},
            is_created_once);
    assert_int_equal(ways, 3);
}

/* … and from its cell to the roll: its creation is not there any more. */
static void is_not_ended(const struct seen *s)
{
    assert_int_equal(s->fulfilled + s->guessed, 0);
    ways |= s->promoted ? 2 : 1;
}

TEST(to_roll)
{
    struct version v = {.own = true, .cell = true, .overwritten = true}, both = v, on_roll = v;
    both.on_roll = on_roll.on_roll = true;
    on_roll.cell = false;
    ways = 0;
    try_all((const struct version[]){v, both, on_roll}, is_not_ended);
    assert_int_equal(ways, 3);
}

static void is_not_guessed(const struct seen *s)
{
    assert_int_equal(s->created, 1);
    assert_int_equal(s->guessed, 0);
    ways |= s->fulfilled ? 2 : 1;
}

/* It is fulfilled, and then the byte says so. */
TEST(ended_byte)
{
    ways = 0;
    try_all((const struct version[]){{0}, {.resolved = true}, {.resolved = true, .ended = true}},
            is_not_guessed);
    assert_int_equal(ways, 3);
}

/* … or the cell. */
TEST(marked_cell)
{
    struct version v = {.cell = true, .overwritten = true}, fulfilled = v, marked = v;
    fulfilled.resolved = marked.resolved = marked.marked = true;
    ways = 0;
    try_all((const struct version[]){v, fulfilled, marked}, is_not_guessed);
    assert_int_equal(ways, 3);
}

/* ---- What a copy has ---- */

static struct trace copy_of(struct trace *t)
{
    struct trace copy = {.fd = -1};
    struct weft_input in, out;
    struct weft_snapshot *s;
    struct weft_error err;
    assert_int_equal(weft_input_open(&in, trace_path(t), &err), 0);
    assert_int_equal(weft_snapshot_begin(&s, &in, &err), 1);
    assert_true(weft_snapshot_is_live(s));
    assert_int_equal(weft_snapshot_to_room(s, &out, &err), 0);
    assert_int_equal(weft_snapshot_gone(s), 0);
    assert_int_equal(weft_snapshot_bytes(s), out.size);
    void *bytes = trace_extend(&copy, out.size);
    assert_int_equal(weft_input_read(&out, bytes, out.size, 0, &err), out.size);
    weft_input_close(&out);
    weft_input_close(&in);
    weft_snapshot_free(s);
    return copy;
}

/* What was overwritten is in the facts, no place has it any more. */
TEST(counts)
{
    struct trace t = make((struct version){.cell = true, .overwritten = true, .resolved = true});
    struct trace copy = copy_of(&t);
    struct weft_facts_header f;
    memcpy(&f, copy.bytes, sizeof f);
    assert_int_equal(f.packet.class, WEFT_PACKET_FACTS);
    assert_int_equal(f.state, WEFT_TRACE_SAVED);
    assert_int_equal(f.overwritten_events, 1);
    struct seen before = read_it(trace_path(&t)), after = read_it(trace_path(&copy));
    assert_int_equal(before.ended, WEFT_ENDED_RUNNING);
    assert_int_equal(after.ended, WEFT_ENDED_SAVED);
    assert_int_equal(before.kept, 3);
    assert_int_equal(after.kept, 3);
    assert_int_equal(before.overwritten, 1);
    assert_int_equal(after.overwritten, 1);
    assert_int_equal(after.promoted, 1);
    trace_fini(&t);
    trace_fini(&copy);
}

/* The first packet of a copy that has events. */
static const unsigned char *first_events(const struct trace *copy)
{
    struct weft_packet_header h;
    for (size_t at = 0; at + sizeof h <= copy->size; at += h.packet_bits / 8) {
        memcpy(&h, copy->bytes + at, sizeof h);
        if (h.class == WEFT_PACKET_EVENTS)
            return copy->bytes + at;
        assert_true(h.packet_bits >= 64);
    }
    return NULL;
}

/* Which promises of a packet have ended, each of them. */
TEST(ended_bytes)
{
    static const char ended[] = "0110001";
    struct trace t = {.fd = -1};
    live_facts(&t);
    events_begin_ended(
        &t, (struct weft_events_header){.sequence = 3, .begin_ticks = 10, .base = HOME(2)}, ended);
    events_add(&t, WEFT_FORM_SWITCH, switches(20, LOOP), 0, 0);
    packet_pad(&t, 4, 0);
    struct trace copy = copy_of(&t);
    const unsigned char *packet = first_events(&copy);
    struct weft_events_header h;
    assert_non_null(packet);
    memcpy(&h, packet, sizeof h);
    assert_int_equal(h.ended_count, ENDED_BYTES);
    for (unsigned i = 0; i < ENDED_BYTES; i++)
        assert_int_equal(packet[h.ended_at + i], i < strlen(ended) && ended[i] == '1');
    trace_fini(&t);
    trace_fini(&copy);
}

static struct trace with_cells(bool there)
{
    struct trace t = {.fd = -1};
    uint64_t ids[] = {there ? 5 : 0, there ? 6 : 0, there ? 7 : 0};
    struct weft_pending_cell cells[] = {
        {.created_ticks = 50,
         .creator = LOOP,
         .packet = 1,
         .note_tag = {WEFT_EVENT_NOTIFIES << WEFT_NOTE_BITS | 2,
                      WEFT_EVENT_TRY_READ << WEFT_NOTE_BITS | 2},
         .note_ticks = {99, 101},
         .note_other = {LOOP, LOOP}},
        {.created_ticks = 101, .creator = LOOP, .packet = 2},
        {.created_ticks = 101, .packet = 2, .flags = WEFT_PENDING_UNDATED},
    };
    live_facts(&t);
    pending_packet(&t, (struct weft_pending_header){.kept = 2}, ids, cells, 3);
    events_begin(&t, (struct weft_events_header){.sequence = 9, .begin_ticks = 100});
    events_add(&t, WEFT_FORM_SWITCH, switches(100, LOOP), 0, 0);
    packet_pad(&t, 4, 0);
    return t;
}

/* Cells may be newer than the moment: then they are not in the copy, nor are such notes. But a promise whose creation is
 * undated was there before. */
TEST(newer_cells)
{
    struct trace t[2] = {with_cells(false), with_cells(true)};
    unsigned seen = 0;
    change_to[0] = change_to[1] = &t[1];
    for (uint64_t step = 0; step < 120; step++) {
        struct weft_reader *r;
        struct weft_error err;
        const struct weft_event *ev;
        const char *path = trace_path(&t[0]);
        change_at[0] = change_at[1] = step;
        done_reads = 0;
        changing = t[0].fd;
        assert_int_equal(weft_reader_open(&r, path, &err), 0);
        changing = -1;
        ptrdiff_t n = weft_reader_next(r, &ev, &err);
        assert_true(n == 1 || n == 4 || n == 6);
        for (ptrdiff_t i = 0; i < n; i++) {
            assert_true(n == 6 || ev[i].time_ns <= 100);
            assert_int_equal(ev[i].undated, i == 2 && n > 1);
        }
        assert_int_equal(ev[n == 6 ? 3 : n - 1].kind, WEFT_EVENT_SWITCH);
        seen |= 1u << n;
        weft_reader_close(r);
    }
    assert_int_equal(seen, 1u << 1 | 1u << 4 | 1u << 6);
    trace_fini(&t[0]);
    trace_fini(&t[1]);
}

/* Samples are being written to a file as long as somebody holds its lock. Who asks does not hold it. */
TEST(who_asks_holds_no_lock)
{
    const struct weft_facts_header facts = {.state = WEFT_TRACE_RECORDING};
    struct trace t = {.fd = -1};
    const int writer = open(trace_path(&t), O_RDWR | O_CLOEXEC);
    assert_true(writer >= 0);
    assert_false(weft_facts_sampling(&facts, t.fd));
    assert_int_equal(flock(writer, LOCK_EX | LOCK_NB), 0);
    assert_true(weft_facts_sampling(&facts, t.fd));
    assert_int_equal(flock(writer, LOCK_UN), 0);
    assert_false(weft_facts_sampling(&facts, t.fd));
    close(writer);
    trace_fini(&t);
}

RUN_TESTS(NULL, NULL)
