/* SPDX-License-Identifier: ISC */
/* Looking at the clock of another machine, in simulated time: what is seen of it, and how exactly, is the same everywhere.
 * The other machine records into memory while this one reads that. */
#include <inttypes.h>
#include <stdalign.h>
#include <stdlib.h>
#include <time.h>

#include "memory_input.h"
#include "format/packet.h"
#include "read/sight.h"

#include <weft/weft.h>

#define BEGIN_NS UINT64_C(5000000000000)
#define WALL_NS UINT64_C(1700000000000000000) /* at 0 */

static alignas(8) unsigned char ring[512 << 10];
static uint64_t now_ns = BEGIN_NS, event_ns, looks;

/* The other machine. */
struct other {
    uint64_t bytes;    /* of its memory; 0: 512 KiB */
    uint64_t hz;       /* 0: its clock is plain nanoseconds, and is exact */
    int64_t fast;      /* its clock is so many millionth faster than it says */
    uint64_t first_ns; /* from the beginning to the first event seen */
    uint64_t step_ns;  /* between two events, and up to that much more */
    unsigned events;   /* … then it sleeps */
    unsigned late;     /* one event of so many becomes visible after the next look; 0: none */
    unsigned most_ms;
    /* What is seen. */
    bool seen;
    int64_t off_ns;
    uint64_t error_ns, looks;
};

static const struct other *other;
static unsigned events;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
    now_ns += 70;
    const uint64_t ns = now_ns + (clock == CLOCK_REALTIME ? WALL_NS : 0);
    *out =
        (struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)left;
    now_ns += (uint64_t)time->tv_nsec + 3000;
    return 0;
}

static uint64_t ticks_at(uint64_t ns)
{
    const uint64_t hz = other->hz ? other->hz : 1000000000, since = ns - BEGIN_NS;
    return hz + (uint64_t)((double)since * (1 + (double)other->fast / 1e6) * ((double)hz / 1e9));
}

static uint64_t its_clock(void)
{
    return ticks_at(event_ns);
}

/* Whenever this machine looks: the other one has gone on. */
static void go_on(struct memory *m)
{
    (void)m;
    looks++;
    now_ns += 110;
    while (events < other->events &&
           event_ns + (other->late && events % other->late == 1 ? 9000 : 0) <= now_ns) {
        weft_run(1 + events % 3);
        events++;
        event_ns += other->step_ns + events * 7919 % (other->step_ns + 1);
    }
}

static void begin(const struct other *o)
{
    struct weft_facts_header f;
    other = o;
    events = 0;
    looks = 0;
    now_ns = event_ns = BEGIN_NS;
    memset(ring, 0, sizeof ring);
    assert_int_equal(weft_start(&(struct weft_options){.memory = ring,
                                                       .bytes = o->bytes ? o->bytes : sizeof ring,
                                                       .clock = its_clock,
                                                       .clock_hz = o->hz}),
                     0);
    weft_run(5); /* there is a packet */
    now_ns = BEGIN_NS;
    event_ns = BEGIN_NS + o->first_ns;
    if (o->hz)
        return;
    memcpy(&f, ring, sizeof f);
    f.clock = WEFT_CLOCK_MONOTONIC;
    memcpy(ring, &f, sizeof f);
}

/* clang-format off */
static const struct other others[] = {
    {.first_ns = 1000, .step_ns = 500, .events = 10000, .most_ms = 20,
     .seen = true, .off_ns = -20, .error_ns = 97, .looks = 448},
    {.first_ns = 30000, .step_ns = 7000, .events = 10000, .most_ms = 20,
     .seen = true, .off_ns = -21, .error_ns = 92, .looks = 3342},
    {.first_ns = 30000, .step_ns = 7000, .events = 3, .most_ms = 20,
     .seen = true, .off_ns = -152, .error_ns = 223, .looks = 56390},
    {.first_ns = 2000000, .step_ns = 900000, .events = 10000, .most_ms = 20,
     .seen = true, .off_ns = -44, .error_ns = 135, .looks = 56146},
    {.first_ns = 9000000, .step_ns = 1900000, .events = 10000, .most_ms = 400,
     .seen = true, .off_ns = -23, .error_ns = 97, .looks = 340284},
    {.first_ns = 100, .step_ns = 7000, .events = 0, .most_ms = 20,
     .looks = 56388},
    {.first_ns = 100, .step_ns = 60000000, .events = 4, .most_ms = 200,
     .seen = true, .off_ns = -199, .error_ns = 306, .looks = 489648},
    {.first_ns = 40000, .step_ns = 3000, .events = 10000, .late = 3, .most_ms = 20,
     .seen = true, .off_ns = -200, .error_ns = 306, .looks = 3028},
    {.first_ns = 40000, .step_ns = 20000, .events = 2, .late = 2, .most_ms = 20,
     .seen = true, .off_ns = 85, .error_ns = 306, .looks = 56388},
    {.hz = 2400000000, .first_ns = 1000, .step_ns = 2500, .events = 10000, .most_ms = 20,
     .seen = true, .off_ns = -26, .error_ns = 121, .looks = 1370},
    {.hz = 2400000000, .fast = 120, .first_ns = 1000, .step_ns = 150000, .events = 10000, .most_ms = 20,
     .seen = true, .off_ns = -83, .error_ns = 236, .looks = 37600},
    {.hz = 24000000, .fast = -200, .first_ns = 1000, .step_ns = 900000, .events = 40, .most_ms = 100,
     .seen = true, .off_ns = -55, .error_ns = 156, .looks = 244298},
    {.hz = 1000000000, .first_ns = 1000, .step_ns = 110, .events = 10000, .most_ms = 1,
     .seen = true, .off_ns = 149, .error_ns = 270, .looks = 610},
    {.hz = 2400000000, .fast = 3000, .first_ns = 1000, .step_ns = 900000, .events = 10000, .most_ms = 100,
     .seen = true, .off_ns = -211034, .error_ns = 17534, .looks = 187188},
    {.bytes = 64 << 10, .first_ns = 1000, .step_ns = 10, .events = 100000, .most_ms = 20,
     .seen = true, .off_ns = 184, .error_ns = 297, .looks = 874},
    {.bytes = 64 << 10, .first_ns = 1000, .step_ns = 2, .events = 300000, .late = 4, .most_ms = 20,
     .seen = true, .off_ns = 9002, .error_ns = 115, .looks = 172},
    {.bytes = 64 << 10, .first_ns = 1000, .step_ns = 12000, .events = 100000, .most_ms = 20,
     .seen = true, .off_ns = -11, .error_ns = 101, .looks = 5502},
    {.bytes = 64 << 10, .hz = 200000000, .first_ns = 1000, .step_ns = 12, .events = 100000, .most_ms = 20,
     .seen = true, .off_ns = 190, .error_ns = 301, .looks = 654},
};
/* clang-format on */

TEST(what_is_seen_of_a_clock)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
        const struct other *o = &others[i];
        struct memory memory = {.bytes = ring,
                                .size = o->bytes ? o->bytes : sizeof ring,
                                .change = go_on},
                      *m = &memory;
        struct weft_input in = memory_input(&m, WEFT_WRITER_ALIVE);
        struct weft_sight s = {.ticks = 0};
        begin(o);
        const bool seen = weft_sight_take(&s, &in, o->most_ms);
        weft_stop();
        int64_t off = 0;
        if (seen) { /* when was that by our clock? */
            const double hz = o->hz ? (double)o->hz : 1e9;
            const double since = ((double)s.ticks - hz) / (hz / 1e9) / (1 + (double)o->fast / 1e6);
            off = (int64_t)(s.real_ns - WALL_NS - BEGIN_NS) - (int64_t)since;
            if (!o->late && o->fast <= 200) /* its clock is as exact as clocks are */
                assert_in_range(off + (int64_t)s.error_ns + 1, 0, 2 * s.error_ns + 2);
        }
        /* Another processor may round to another nanosecond. */
        if (seen != o->seen || llabs(off - o->off_ns) > 1 ||
            llabs((int64_t)(s.error_ns - o->error_ns)) > 1 || looks != o->looks) {
            print_message("%u: .seen = %s, .off_ns = %" PRId64 ", .error_ns = %" PRIu64
                          ", .looks = %" PRIu64 "\n",
                          i, seen ? "true" : "false", off, s.error_ns, looks);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

RUN_TESTS(NULL, NULL)
