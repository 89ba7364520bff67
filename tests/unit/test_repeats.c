/* SPDX-License-Identifier: ISC */
/* What is done again and again: readers and timers, attempts, pauses. Each scene is one style of recording, and what looks
 * alike but is as it should be. Linked with --wrap=malloc and so on. */
#include "findings.h"
#include "packets.h"

#define MS UINT64_C(1000000)
#define KINDS                                                                                      \
    (1u << WEFT_FINDING_STOPPED | 1u << WEFT_FINDING_RETRY_STORM | 1u << WEFT_FINDING_GC_PAUSE |   \
     1u << WEFT_FINDING_POLLING | 1u << WEFT_FINDING_STRAGGLER | 1u << WEFT_FINDING_STARVATION |   \
     1u << WEFT_FINDING_DRIFT | 1u << WEFT_FINDING_LIVELOCK | 1u << WEFT_FINDING_DOUBLE_RESOLVE)

static uint32_t looked_for = KINDS;

/* ---- Making and describing ---- */

enum site { TASK_, TIMER, REPLY_, CONDITION_, CONNECT, INTERVAL, SITES };

static uint32_t site[SITES];
static struct trace trace;
static uint64_t now, last_id;

static void begin(void)
{
    static const char *const types[SITES] = {"task",      "timer",   "reply",
                                             "condition", "connect", "interval"};
    trace = (struct trace){.fd = -1};
    sites_packets(&trace, WEFT_TRACE_STOPPED, types, site, SITES);
    now = last_id = 0;
    events_begin(&trace, (struct weft_events_header){.stream = 0, .sequence = 1});
}

static void put(struct weft_event ev)
{
    ev.time_ns = now += 100;
    events_put(&trace, ev, 0);
}

static uint64_t make(uint64_t creator, enum site where, const char *text)
{
    struct weft_event ev = creates(0, creator, ++last_id, 0);
    ev.time_ns = now += 100;
    events_put(&trace, with_text(ev, text), site[where]);
    return last_id;
}

static void sleep_ms(uint64_t ms)
{
    put(suspends(0));
    now += ms * MS;
    put(resumes(0));
}

/* wanted: how what is found begins, and then what is in it; none: nothing is found. */
static void expect(const char *scene, const char *const *wanted)
{
    events_end(&trace, now);
    findings_expect(scene, trace_model(&trace), wanted);
}

#define EXPECT(...) expect(__func__, (const char *const[]){__VA_ARGS__, NULL})
#define NOTHING() expect(__func__, (const char *const[]){NULL})

/* ---- What stopped ---- */

/* It ends because of a source: a new one each time, or a condition. */
static void go_on(uint64_t reader, uint64_t source, bool again, bool fails_)
{
    if (again) {
        put(notifies(0, LOOP, source));
        put(signals(0, reader, source));
    } else {
        put(fails_ ? fails(0, LOOP, source, "closed") : fulfills(0, LOOP, source));
        put(reads(0, reader, source));
    }
    put(switches(0, LOOP));
}

struct loop {
    enum site source; /* what it waits for */
    int rounds;
    uint64_t pause_ms; /* from one to the next, in which it does not wait */
    uint64_t condition;
    bool last_fails;
};

/* A reader that goes on every 5 ms, and then does not wait again. */
static uint64_t reader_stops(struct loop x)
{
    uint64_t reader = make(LOOP, TASK_, "reader");
    for (int i = 0; i < x.rounds; i++) {
        uint64_t source = x.condition ? x.condition : make(LOOP, x.source, "next");
        put(try_read(0, reader, source));
        sleep_ms(5);
        go_on(reader, source, x.condition != 0, x.last_fails && i + 1 == x.rounds);
        if (x.pause_ms)
            sleep_ms(x.pause_ms);
    }
    return reader;
}

TEST(a_timer_is_not_set_again)
{
    begin();
    reader_stops((struct loop){.source = TIMER, .rounds = 12});
    sleep_ms(200);
    EXPECT("stopped likely 1 x1, 0: \n", "'reader' (task 1): it went on 12 times, about every 5",
           "ran because of 'next' (timer 13). For 200 ms");
    begin(); /* nothing is said of waits */
    uint64_t reader = make(LOOP, TASK_, "reader");
    for (int i = 0; i < 12; i++) {
        uint64_t timer = make(reader, TIMER, "next");
        sleep_ms(5);
        put(fulfills(0, LOOP, timer));
        put(reads(0, reader, timer));
        put(switches(0, LOOP));
    }
    sleep_ms(200);
    EXPECT("stopped likely 1 x1, 0: \n", "'reader' (task 1): it went on 12 times");
}

/* What shows that it was to go on. */
enum sign { NO_SIGN, BY_TIMER, BACKGROUND_, LATER, WAITED_FOR, RESOLVES_, ALONE, ENDED, SIGNS };

static void stops_with(enum sign sign, bool last_fails)
{
    begin();
    uint64_t condition = sign == LATER ? make(LOOP, CONDITION_, "news") : 0;
    for (int i = 0; i < 3 && (sign == ALONE || sign == ENDED); i++) {
        uint64_t other = make(LOOP, TASK_, "reader");
        if (sign == ENDED)
            put(fulfills(0, LOOP, other));
        else
            put(try_read(0, other, make(LOOP, REPLY_, "next")));
    }
    uint64_t reader = reader_stops((struct loop){.source = sign == BY_TIMER ? TIMER : REPLY_,
                                                 .rounds = 12,
                                                 .condition = condition,
                                                 .last_fails = last_fails});
    if (sign == BACKGROUND_)
        put(background(0, reader));
    else if (sign == WAITED_FOR)
        put(try_read(0, make(LOOP, TASK_, "main"), reader));
    else if (sign == RESOLVES_) {
        put(fulfills(0, reader, make(LOOP, CONNECT, "answer 1")));
        put(try_read(0, make(LOOP, TASK_, "main"), make(LOOP, CONNECT, "answer 2")));
    }
    sleep_ms(100);
    if (sign == LATER)
        put(notifies(0, LOOP, condition));
    sleep_ms(100);
}

TEST(has_done_all)
{
    for (enum sign sign = NO_SIGN; sign < SIGNS; sign++) {
        stops_with(sign, false);
        if (sign == NO_SIGN)
            EXPECT("stopped possible 1 x1, 0: it may have done all that it had to do");
        else
            EXPECT("stopped likely ", sign == WAITED_FOR ? " x1, 1: \n" : " x1, 0: \n");
    }
}

TEST(gives_up_after_a_failure)
{
    for (enum sign sign = NO_SIGN; sign < SIGNS; sign++) {
        if (sign == LATER)
            continue; /* a condition does not fail */
        stops_with(sign, true);
        if (sign == NO_SIGN || sign == ALONE || sign == ENDED)
            EXPECT("stopped possible ", "what it waited for last failed");
        else
            EXPECT("stopped likely ");
    }
    begin(); /* a condition that has failed is signalled */
    uint64_t news = make(LOOP, CONDITION_, "news");
    reader_stops((struct loop){.rounds = 12, .condition = news});
    put(fails(0, LOOP, news, "closed"));
    sleep_ms(100);
    put(notifies(0, LOOP, news));
    sleep_ms(100);
    EXPECT("stopped likely ");
}

TEST(what_has_not_stopped)
{
    struct loop timer = {.source = TIMER, .rounds = 12};
    begin(); /* it waits */
    put(try_read(0, reader_stops(timer), make(LOOP, REPLY_, "last")));
    sleep_ms(200);
    NOTHING();
    begin(); /* it has ended */
    put(fulfills(0, LOOP, reader_stops(timer)));
    sleep_ms(200);
    NOTHING();
    begin(); /* it waits for something that it has started */
    make(reader_stops(timer), REPLY_, "last");
    sleep_ms(200);
    NOTHING();
    begin(); /* it has not been idle for long */
    reader_stops(timer);
    sleep_ms(45);
    NOTHING();
    begin(); /* not often enough */
    timer.rounds = 9;
    reader_stops(timer);
    sleep_ms(200);
    NOTHING();
    begin(); /* a connection that is asked now and then */
    timer = (struct loop){.source = REPLY_, .rounds = 12, .pause_ms = 20};
    put(background(0, reader_stops(timer)));
    sleep_ms(400);
    NOTHING();
    begin(); /* it runs still */
    put(switches(0, reader_stops((struct loop){.source = TIMER, .rounds = 12})));
    now += 200 * MS;
    NOTHING();
    begin(); /* it was told to stop */
    uint64_t reader = reader_stops((struct loop){.source = TIMER, .rounds = 12});
    uint64_t stop = make(LOOP, CONDITION_, "shutdown");
    put(try_read(0, reader, stop));
    sleep_ms(5);
    go_on(reader, stop, true, false);
    sleep_ms(200);
    NOTHING();
    begin(); /* the recording was off since */
    reader_stops((struct loop){.source = TIMER, .rounds = 12});
    facts_pause(&trace, now + 500, now + 100 * MS);
    now += 100 * MS;
    make(LOOP, TASK_, "another one");
    sleep_ms(200);
    NOTHING();
}

/* What woke it last had woken it before, if only the first time. */
TEST(woken_as_the_first_time)
{
    begin();
    uint64_t reader = make(LOOP, TASK_, "reader");
    for (int i = 0; i < 12; i++) {
        uint64_t source = make(LOOP, i % 11 == 0 ? REPLY_ : TIMER, "next");
        put(try_read(0, reader, source));
        sleep_ms(5);
        go_on(reader, source, false, false);
    }
    put(background(0, reader));
    sleep_ms(200);
    EXPECT("stopped likely 1 x1, 0: \n", "'reader' (task 1): it went on 12 times");
}

struct line {
    int count;
    bool fails, pending, by_others, starts_something, later;
};

/* Each timer is set by the one before, every 5 ms; the last one sets none. */
static void timers_in_line(struct line x)
{
    begin();
    uint64_t timer = make(LOOP, TIMER, "beat");
    for (int i = 0; i < x.count; i++) {
        sleep_ms(5);
        put(switches(0, timer));
        uint64_t next = 0;
        if (i + 1 < x.count || x.pending)
            next = make(x.by_others ? LOOP : timer, TIMER, "beat");
        else if (x.starts_something)
            make(timer, CONNECT, "server");
        put(x.fails && i + 1 == x.count ? fails(0, timer, timer, "refused")
                                        : fulfills(0, timer, timer));
        put(switches(0, LOOP));
        timer = next;
    }
    sleep_ms(100);
    if (x.later)
        make(LOOP, TIMER, "beat");
    sleep_ms(100);
}

TEST(each_timer_sets_the_next)
{
    timers_in_line((struct line){.count = 12});
    EXPECT("stopped possible 12 x1, 0: it may have done all that it had to do",
           "'beat' was set again each time that it went off, 12 times, about every 5",
           ". For 200 ms there has been none.");
    timers_in_line((struct line){.count = 12, .fails = true});
    EXPECT("stopped likely 12 x1, 0: \n", ", when it failed ('refused'). For 200 ms");
    timers_in_line((struct line){.count = 9});
    NOTHING();
    timers_in_line((struct line){.count = 12, .pending = true});
    NOTHING();
    timers_in_line((struct line){.count = 12, .by_others = true});
    NOTHING();
    timers_in_line((struct line){.count = 12, .starts_something = true});
    NOTHING();
    timers_in_line((struct line){.count = 12, .later = true});
    NOTHING();
}

/* ---- Attempts that fail ---- */

struct attempts {
    int count, beside;
    uint64_t takes_us, pause_us;
    bool by_loop, waits, sleeps, becomes; /* becomes: a function that calls itself */
    int succeeds;                         /* each so many-th */
};

static void try_again(struct attempts x)
{
    begin();
    uint64_t who = make(LOOP, TASK_, "client"), by = x.by_loop ? LOOP : who;
    for (int i = 0; i < x.count; i++) {
        uint64_t attempt[4];
        for (int k = 0; k < x.beside; k++) {
            attempt[k] = make(by, CONNECT, "database");
            put(try_read(0, who, attempt[k]));
        }
        now += x.takes_us * 1000;
        for (int k = 0; k < x.beside; k++) {
            put(x.succeeds && i % x.succeeds == 0 ? fulfills(0, LOOP, attempt[k])
                                                  : fails(0, LOOP, attempt[k], "refused"));
            put(reads(0, who, attempt[k]));
        }
        if (x.waits || x.sleeps) {
            uint64_t other = make(who, x.sleeps ? TIMER : REPLY_, "other");
            put(try_read(0, who, other));
            put(fulfills(0, LOOP, other));
            put(reads(0, who, other));
        }
        if (x.becomes) {
            uint64_t next = make(who, TASK_, "client");
            put(becomes(0, who, next));
            by = who = next;
        }
        now += x.pause_us * 1000;
    }
}

TEST(fails_again_and_again)
{
    try_again((struct attempts){.count = 25, .beside = 1, .takes_us = 300});
    EXPECT("retry-storm likely 1 x25, 25: \n",
           "'client' (task 1) started 25 promises ('database', connect), which all failed",
           "(the last one: 'refused')");
    try_again((struct attempts){.count = 25, .beside = 1, .takes_us = 300, .becomes = true});
    EXPECT("retry-storm likely 51 x25, 25: \n");
    try_again((struct attempts){.count = 8, .beside = 3, .takes_us = 300});
    EXPECT("retry-storm likely 1 x24, 24: \n");
    try_again((struct attempts){.count = 19, .beside = 1, .takes_us = 300});
    NOTHING();
    try_again((struct attempts){.count = 60, .beside = 1, .takes_us = 300, .succeeds = 15});
    NOTHING();
    try_again((struct attempts){.count = 60, .beside = 1, .takes_us = 300, .pause_us = 1500});
    NOTHING();
    try_again((struct attempts){.count = 60, .beside = 1, .takes_us = 300, .sleeps = true});
    NOTHING();
    begin(); /* all at once, which all fail */
    for (int i = 0; i < 60; i++)
        make(LOOP, CONNECT, "database");
    for (uint64_t i = 0; i < 60; i++)
        put(fails(0, LOOP, i + 1, "refused"));
    NOTHING();
}

TEST(requests_that_fail)
{
    try_again((struct attempts){.count = 25, .beside = 1, .takes_us = 300, .by_loop = true});
    EXPECT("retry-storm possible 2 x25, 25: the event loop makes them");
}

TEST(is_asked_each_time)
{
    try_again((struct attempts){.count = 25, .beside = 1, .takes_us = 300, .waits = true});
    EXPECT("retry-storm possible 1 x25, 25: something else is waited for");
}

TEST(slow_attempts)
{
    try_again((struct attempts){.count = 25, .beside = 1, .takes_us = 60000});
    EXPECT("retry-storm possible 1 x25, 25: each of them takes long");
}

/* ---- Garbage collections ---- */

struct collections {
    int count, waits;                          /* waits for each of them */
    uint64_t ms, before_ms, after_us, away_ms; /* away: others had the core */
    bool marked, during;                       /* during: the wait begins in it */
};

static void collect(struct collections x)
{
    begin();
    uint64_t who = make(LOOP, TASK_, "cache");
    for (int i = 0; i < x.count; i++) {
        uint64_t first = 0;
        for (int k = 0; k < x.waits; k++) {
            uint64_t reader = make(LOOP, TASK_, "GET /"), reply = make(reader, REPLY_, "row");
            first = k ? first : reader;
            if (x.marked)
                put(should_resolve(0, reader));
            if (!x.during)
                put(try_read(0, reader, reply));
        }
        now += x.before_ms * MS;
        put(switches(0, who));
        now += x.ms * MS;
        for (int k = 0; k < x.waits && x.during; k++)
            put(try_read(0, first + 2 * (uint64_t)k, first + 2 * (uint64_t)k + 1));
        put(gc(0, x.ms * MS));
        now += x.after_us * 1000;
        for (uint64_t reader = first; reader < first + 2 * (uint64_t)x.waits; reader += 2) {
            put(fulfills(0, LOOP, reader + 1));
            put(reads(0, reader, reader + 1));
            put(fulfills(0, reader, reader));
        }
        put(switches(0, LOOP));
        if (x.away_ms)
            put(preempted(0, x.away_ms * MS));
        if (x.away_ms)
            put(suspends(0)), put(resumes(0));
    }
}

TEST(who_waits_for_a_collection)
{
    struct collections x = {.count = 3, .waits = 1, .ms = 12, .before_ms = 2, .marked = true};
    collect(x);
    EXPECT("gc-pause likely 1 x3, 1: \n", "stopped everything for 12 ms",
           "while 'cache' (task 1) ran; 'GET /' (task 2) went on right after",
           "There were 3 such pauses, 36 ms in all");
    x.marked = false;
    collect(x);
    NOTHING();
    x.waits = 8;
    collect(x);
    EXPECT("gc-pause likely 1 x3, 8: \n", "and 7 others went on");
    x.waits = 7;
    collect(x);
    NOTHING();
    x.waits = 2; /* a few, again and again */
    x.count = 7;
    collect(x);
    NOTHING();
    x.count = 8;
    collect(x);
    EXPECT("gc-pause likely 1 x8, ");
    x = (struct collections){.count = 3, .waits = 1, .ms = 9, .before_ms = 2, .marked = true};
    collect(x);
    NOTHING();
    x.ms = 12;
    x.after_us = 1500;
    collect(x);
    NOTHING();
    x.after_us = 0;
    x.during = true;
    collect(x);
    NOTHING();
}

TEST(one_short_collection)
{
    struct collections x = {.count = 2, .waits = 1, .ms = 12, .before_ms = 2, .marked = true};
    collect(x);
    EXPECT("gc-pause possible 1 x2, 1: there were few");
    x.ms = 30;
    collect(x);
    EXPECT("gc-pause likely 1 x2, 1: \n");
}

TEST(a_small_part_of_a_wait)
{
    collect(
        (struct collections){.count = 3, .waits = 1, .ms = 12, .before_ms = 100, .marked = true});
    EXPECT("gc-pause possible 1 x3, 1: it was a small part");
}

TEST(a_collection_on_a_busy_machine)
{
    struct collections x = {
        .count = 3, .waits = 1, .ms = 12, .before_ms = 20, .away_ms = 4, .marked = true};
    collect(x); /* before it */
    EXPECT("gc-pause possible 1 x3, 1: others had the core");
    x.ms = 30;
    x.away_ms = 2;
    collect(x);
    EXPECT("gc-pause likely 1 x3, 1: \n");
    x.ms = 12;
    x.before_ms = 2;
    x.away_ms = 4;
    collect(x); /* in it: it took 8 ms */
    NOTHING();
    x.ms = 20;
    collect(x);
    EXPECT("gc-pause possible 1 x3, 1: others had the core", "stopped everything for 16 ms");
}

/* ---- Results that are looked for ---- */

struct looks {
    int count;
    enum { CREATES_IT, WAITS_FOR_IT, OF_OTHERS } how;
    uint64_t takes_ms, each_ms;
    bool by_timer, unread;
    bool hidden;    /* the timer, behind a promise that it ends */
    int other_runs; /* before it looks */
};

static void poll_for(struct looks x)
{
    begin();
    uint64_t reader = make(LOOP, TASK_, "reader");
    for (int i = 0; i < x.count; i++) {
        uint64_t job = make(x.how == CREATES_IT ? reader : LOOP, CONNECT, "job");
        bool done = false;
        if (x.how == WAITS_FOR_IT)
            put(try_read(0, reader, job));
        for (int n = 0; n < x.other_runs; n++) {
            put(switches(0, LOOP));
            put(switches(0, reader));
        }
        for (uint64_t ms = 0; !done; ms += x.each_ms) {
            uint64_t timer = make(reader, x.by_timer ? TIMER : REPLY_, "pause"), inner = 0;
            if (x.hidden)
                inner = make(reader, TIMER, "20 ms");
            put(try_read(0, reader, timer));
            put(switches(0, LOOP));
            done = ms + x.each_ms > x.takes_ms;
            if (done) {
                sleep_ms(x.takes_ms - ms);
                put(fulfills(0, LOOP, job));
            }
            sleep_ms(done ? x.each_ms - (x.takes_ms - ms) : x.each_ms);
            put(fulfills(0, inner, timer));
            if (x.hidden)
                put(fulfills(0, LOOP, inner));
            put(reads(0, reader, timer));
        }
        if (!x.unread)
            put(reads(0, reader, job));
        else if (i % 2)
            put(try_read(0, reader, make(reader, REPLY_, "next")));
    }
}

TEST(looks_again_and_again)
{
    struct looks x = {.count = 6, .takes_ms = 25, .each_ms = 20, .by_timer = true};
    poll_for(x);
    EXPECT("polling likely 1 x6, 1: \n", "The result of 'job' (connect 2) was there at 25",
           "only looked when its own 'pause' (timer 4) was over, 15 ms later");
    x.how = WAITS_FOR_IT;
    poll_for(x);
    EXPECT("polling likely 1 x6, 1: \n");
    x.by_timer = false;
    poll_for(x);
    NOTHING();
    x.hidden = true;
    poll_for(x);
    EXPECT("polling likely 1 x6, 1: \n");
    x.hidden = false;
    x.by_timer = true;
    x.count = 4;
    poll_for(x);
    NOTHING();
    poll_for((struct looks){.count = 6, .takes_ms = 45, .each_ms = 9, .by_timer = true});
    NOTHING();
    x = (struct looks){.count = 6, .takes_ms = 25, .each_ms = 20, .by_timer = true, .unread = true};
    poll_for(x); /* every other time it goes on to sleep, as who does not look */
    NOTHING();
    x.count = 11;
    poll_for(x);
    EXPECT("polling likely 1 x6, 1: \n");
    x.takes_ms = 5;
    poll_for(x);
    NOTHING();
}

TEST(collects_what_has_come)
{
    poll_for((struct looks){
        .count = 6, .takes_ms = 25, .each_ms = 20, .by_timer = true, .how = OF_OTHERS});
    EXPECT("polling possible 1 x6, 1: what it looks at is of others");
}

TEST(sleeps_first)
{
    poll_for((struct looks){.count = 6, .takes_ms = 5, .each_ms = 20, .by_timer = true});
    EXPECT("polling possible 1 x6, 1: it had not looked before in vain");
}

/* Whoever runs that often has more to do than to look; and a search looks at no more of its runs. */
TEST(looks_after_many_runs)
{
    struct looks x = {.count = 6, .takes_ms = 25, .each_ms = 20, .by_timer = true};
    x.other_runs = 63;
    poll_for(x);
    EXPECT("polling likely 1 x6, 1: \n");
    x.other_runs = 64;
    poll_for(x);
    EXPECT("polling possible 1 x6, 1: it had not looked before in vain");
}

/* ---- Who comes last ---- */

struct fan {
    int count, of; /* fan-ins; started at once in each */
    uint64_t slow_ms;
    int other; /* in each so many-th, another one is slow */
    bool different, unread, nameless, later;
    bool uneven; /* only the slow one has something to do */
    bool one;    /* reader starts them all, one fan-in after the other */
};

static void fan_out(struct fan x)
{
    static const char *const names[] = {"part 1", "part 2", "part 3", "part 4"};
    static const char *const different[] = {"user", "stock", "advertisements", "price"};
    uint64_t reader = 0;
    begin();
    for (int i = 0; i < x.count; i++) {
        uint64_t part[4] = {0};
        if (i == 0 || !x.one)
            reader = make(LOOP, TASK_, "search");
        int slow = x.other && i % x.other == 0 ? 0 : 2;
        for (int k = 0; k < x.of; k++) {
            part[k] = make(reader, REPLY_,
                           x.nameless    ? "part"
                           : x.different ? different[k]
                                         : names[k]);
            if (!x.unread)
                put(try_read(0, reader, part[k]));
            if (x.later && k != slow) {
                sleep_ms(2);
                put(fulfills(0, LOOP, part[k]));
            }
        }
        if (x.uneven)
            put(try_read(0, part[slow], make(part[slow], CONNECT, "disk")));
        sleep_ms(2);
        for (int k = 0; k < x.of && !x.later; k++)
            if (k != slow)
                put(fulfills(0, LOOP, part[k]));
        sleep_ms(x.slow_ms - 2);
        put(fulfills(0, LOOP, part[slow]));
        if (i + 1 == x.count || !x.one)
            put(fulfills(0, LOOP, reader));
    }
}

TEST(always_the_same)
{
    fan_out((struct fan){.count = 5, .of = 4, .slow_ms = 20});
    EXPECT("straggler likely 4 x5, 5: \n", "(reply)", "'part 3' was the last one 5 times of 5",
           "it took 20 ms, and the others about 2");
    fan_out((struct fan){.count = 10, .of = 3, .slow_ms = 20, .other = 5});
    EXPECT("straggler likely 8 x8, 8: \n", "8 times of 10");
    fan_out((struct fan){.count = 9, .of = 3, .slow_ms = 20, .other = 4});
    NOTHING();
    fan_out((struct fan){.count = 4, .of = 4, .slow_ms = 20});
    NOTHING();
    fan_out((struct fan){.count = 8, .of = 4, .slow_ms = 7});
    EXPECT("straggler likely 4 x8, 8: \n");
    fan_out((struct fan){.count = 8, .of = 4, .slow_ms = 5});
    NOTHING();
    fan_out((struct fan){.count = 8, .of = 4, .slow_ms = 20, .unread = true});
    NOTHING();
    fan_out((struct fan){.count = 8, .of = 4, .slow_ms = 20, .uneven = true});
    EXPECT("straggler likely 4 x8, 8: \n");
    fan_out((struct fan){.count = 8, .of = 4, .slow_ms = 20, .nameless = true}); /* by its place */
    EXPECT("straggler likely 4 x8, 8: \n", "'part', number 3 of 4, was the last one 8 times of 8");
    fan_out((struct fan){.count = 8, .of = 4, .slow_ms = 20, .nameless = true, .one = true});
    EXPECT("straggler likely 4 x8, ", "'part', number 3 of 4, was the last one 8 times of 8");
    fan_out((struct fan){.count = 9, .of = 3, .slow_ms = 20, .nameless = true, .other = 4});
    NOTHING();
    fan_out((struct fan){.count = 8, .of = 4, .slow_ms = 20, .nameless = true, .uneven = true});
    NOTHING();
    fan_out((struct fan){.count = 8, .of = 4, .slow_ms = 20, .later = true});
    NOTHING();
}

TEST(different_things)
{
    fan_out((struct fan){.count = 8, .of = 4, .slow_ms = 20, .different = true});
    EXPECT("straggler possible 4 x8, 8: by their labels they are different things");
}

/* ---- A timer that comes later each time ---- */

struct ticks {
    int count;
    enum site site;
    uint64_t work_ms, timer_ms, first_ms;
    bool in_time;   /* it is set before the work */
    bool elsewhere; /* … by somebody else */
};

static void tick(struct ticks x)
{
    begin();
    uint64_t reader = make(LOOP, TASK_, "sampler");
    uint64_t timer = make(reader, x.site, "next");
    put(switches(0, LOOP));
    sleep_ms(x.first_ms ? x.first_ms : x.timer_ms);
    for (int i = 0; i < x.count; i++) {
        put(fulfills(0, LOOP, timer));
        put(reads(0, reader, timer));
        if (x.in_time)
            timer = make(reader, x.site, "next");
        now += x.work_ms * MS;
        if (x.elsewhere)
            put(switches(0, LOOP));
        now += x.elsewhere ? MS : 0;
        if (!x.in_time)
            timer = make(x.elsewhere ? LOOP : reader, x.site, "next");
        put(switches(0, LOOP));
        sleep_ms(x.timer_ms);
    }
}

TEST(comes_later_each_time)
{
    struct ticks x = {.count = 11, .site = INTERVAL, .work_ms = 3, .timer_ms = 10};
    tick(x);
    EXPECT("drift likely 1 x11, 0: \n", "'sampler' (task 1) sets 'next' (interval) anew",
           "Set for 10 ms each time, with about 3 ms of work, it comes every 13 ms",
           "after 11 times it is 30 ms later");
    x.count = 10;
    tick(x);
    NOTHING();
    x = (struct ticks){.count = 20, .site = INTERVAL, .work_ms = 1, .timer_ms = 10};
    tick(x); /* hardly any work */
    NOTHING();
    x = (struct ticks){.count = 20, .site = INTERVAL, .work_ms = 3, .timer_ms = 7, .first_ms = 10};
    tick(x); /* it is set to when it is due */
    NOTHING();
    x = (struct ticks){
        .count = 20, .site = INTERVAL, .work_ms = 3, .timer_ms = 10, .in_time = true};
    tick(x);
    NOTHING();
    x = (struct ticks){
        .count = 20, .site = INTERVAL, .work_ms = 3, .timer_ms = 10, .elsewhere = true};
    tick(x);
    NOTHING();
    x = (struct ticks){.count = 20, .site = REPLY_, .work_ms = 3, .timer_ms = 10};
    tick(x);
    NOTHING();
}

/* Two in one trace: each is judged by its own ticks, of which a quarter must be on time. */
TEST(two_in_one_trace)
{
    for (int on_time = 9; on_time <= 10; on_time++) {
        begin();
        for (int second = 0; second < 2; second++) {
            uint64_t reader = make(LOOP, TASK_, second ? "late" : "steady");
            for (int i = 0; i < (second ? 40 : 50); i++) {
                uint64_t timer = make(reader, INTERVAL, second ? "next" : "soon");
                put(switches(0, LOOP));
                sleep_ms(second && i >= on_time ? 25 : 10);
                put(fulfills(0, LOOP, timer));
                put(reads(0, reader, timer));
                now += second ? 3 * MS : 0;
            }
            put(fulfills(0, reader, reader));
            put(switches(0, LOOP));
        }
        if (on_time < 10)
            NOTHING();
        else
            EXPECT("drift likely 52 x40, 0: \n", "'late' (task 52) sets 'next' (interval) anew");
    }
}

TEST(a_pause_after_the_work)
{
    tick((struct ticks){.count = 11, .site = TIMER, .work_ms = 3, .timer_ms = 10});
    EXPECT("drift possible 1 x11, 0: it may be meant to pause");
}

/* Each timer sets the next one, before its work or after it. late: each so many-th comes late. */
static void timers_that_work(int count, bool before, uint64_t first_ms, int late)
{
    begin();
    uint64_t timer = make(LOOP, INTERVAL, "beat");
    for (int i = 0; i < count; i++) {
        sleep_ms(i == 0 ? first_ms : late && i % late == 0 ? 25 : 10);
        put(switches(0, timer));
        uint64_t next = before ? make(timer, INTERVAL, "beat") : 0;
        now += 3 * MS;
        next = before ? next : make(timer, INTERVAL, "beat");
        put(fulfills(0, timer, timer));
        put(switches(0, LOOP));
        timer = next;
    }
}

TEST(each_timer_is_set_after_the_work)
{
    timers_that_work(12, false, 10, 0);
    EXPECT("drift likely 12 x12, 0: \n", "'beat' (interval) sets itself anew when its own work",
           "Set for 10 ms each time, with about 3 ms of work, it comes every 13 ms");
    timers_that_work(40, false, 10, 3);
    EXPECT("drift likely 40 x40, 0: \n");
    timers_that_work(40, false, 10, 1);
    NOTHING();
    timers_that_work(12, false, 13, 0);
    NOTHING();
    timers_that_work(12, true, 10, 0);
    NOTHING();
    timers_that_work(10, false, 10, 0);
    NOTHING();
}

/* A timer whose creator became it is in no line of timers, not even in one with itself. */
TEST(a_timer_that_its_creator_became)
{
    begin();
    const uint64_t creator = make(LOOP, INTERVAL, "beat");
    put(switches(0, creator));
    const uint64_t timer = make(creator, INTERVAL, "beat");
    put(becomes(0, creator, timer));
    put(switches(0, LOOP));
    sleep_ms(10);
    put(switches(0, timer));
    now += 3 * MS;
    put(fulfills(0, timer, timer));
    put(switches(0, LOOP));
    NOTHING();
}

/* ---- One that is served first ---- */

static void serve_first(int times)
{
    begin();
    uint64_t feed = make(LOOP, TASK_, "feed"), request = make(LOOP, TASK_, "request");
    uint64_t message = make(LOOP, REPLY_, "message"), answer = make(LOOP, CONNECT, "answer");
    put(try_read(0, feed, message));
    put(try_read(0, request, answer));
    sleep_ms(1);
    put(fulfills(0, LOOP, answer));
    for (int i = 0; i < times; i++) {
        put(fulfills(0, LOOP, message));
        put(reads(0, feed, message));
        now += MS;
        message = make(LOOP, REPLY_, "message");
        put(try_read(0, feed, message));
        put(switches(0, LOOP));
    }
    put(reads(0, request, answer));
    put(fulfills(0, request, request));
    sleep_ms(1);
}

TEST(one_is_served_first)
{
    serve_first(21);
    EXPECT("starvation likely 1 x1, 1: \n", "'request' (task 2) went on only 21",
           "'feed' (task 1) was served 20 times");
    serve_first(20); /* slow-wake */
    NOTHING();
}

/* ---- Two that give way ---- */

struct politeness {
    int turns;
    bool alone, gets_on,
        keeps; /* keeps: the second one gives nothing back, and nothing of it fails */
};

static void give_way(struct politeness x)
{
    begin();
    uint64_t who[2], fork[2];
    for (int i = 0; i < 2; i++) {
        who[i] = make(LOOP, TASK_, i ? "right" : "left");
        fork[i] = make(LOOP, CONDITION_, "fork");
    }
    for (int i = 0; i < x.turns; i++) {
        int k = x.alone ? 0 : i % 2;
        put(switches(0, who[k]));
        if (k == 0 || !x.keeps) {
            put(acquires(0, who[k], fork[k]));
            put(fails(0, who[k], make(who[k], CONNECT, "other fork"), "taken"));
            put(releases(0, who[k], fork[k]));
        }
        now += 1000;
    }
    if (x.gets_on)
        put(fulfills(0, who[0], make(who[0], REPLY_, "meal")));
    if (x.gets_on)
        put(fails(0, who[0], make(who[0], CONNECT, "other fork"), "taken"));
}

TEST(two_that_give_way)
{
    give_way((struct politeness){.turns = 502});
    EXPECT("livelock likely 1 x502, 252: \n",
           "'right' (task 3) does the same in turn: 500 and 500 times they gave back");
    give_way((struct politeness){.turns = 400});
    EXPECT("retry-storm likely ");
    give_way((struct politeness){.turns = 2000, .alone = true});
    EXPECT("retry-storm likely 1 x");
    give_way((struct politeness){.turns = 2000, .keeps = true});
    EXPECT("retry-storm likely 1 x");
    give_way((struct politeness){.turns = 1000, .gets_on = true});
    EXPECT("retry-storm likely 1 x");
}

/* ---- What is ended twice ---- */

/* A receipt that one ends, and then another one. */
static void end_twice(uint64_t one, uint64_t other)
{
    uint64_t receipt = make(LOOP, REPLY_, "receipt");
    put(switches(0, one));
    put(fulfills(0, one, receipt));
    put(switches(0, LOOP));
    now += MS;
    put(switches(0, other));
    put(fulfills(0, other, receipt));
    put(switches(0, LOOP));
}

TEST(two_workers_end_it)
{
    for (unsigned often = 1; often < 6; often += 4) {
        begin();
        uint64_t a = make(LOOP, TASK_, "a"), b = make(LOOP, TASK_, "b");
        for (unsigned i = 0; i < often; i++)
            end_twice(i % 2 ? a : b, i % 2 ? b : a);
        EXPECT(often == 1 ? "double-resolve likely 3 x1, 0: \n"
                          : "double-resolve likely 3 x5, 0: \n",
               "'receipt' (reply 3) was fulfilled by 'b' (task 2) at",
               "; 'a' (task 1) ended it again at");
    }
}

TEST(the_same_one_ends_it_twice)
{
    begin();
    uint64_t a = make(LOOP, TASK_, "a");
    end_twice(a, a);
    EXPECT("double-resolve possible 2 x1, 0: the same one");
}

TEST(nobody_knows_who_ended_it)
{
    for (int second = 0; second < 2; second++) {
        begin();
        uint64_t a = make(LOOP, TASK_, "a");
        end_twice(second ? a : LOOP, second ? LOOP : a);
        EXPECT("double-resolve possible 2 x1, 0: the trace does not say");
    }
}

/* A timer itself, or a task that waited for one. */
TEST(a_time_limit_ends_it_too)
{
    for (int task = 0; task < 2; task++) {
        begin();
        uint64_t a = make(LOOP, TASK_, "a"), limit = make(LOOP, TIMER, "1 s");
        if (task) {
            uint64_t b = make(LOOP, TASK_, "limit"), receipt = make(LOOP, REPLY_, "receipt");
            put(switches(0, b));
            put(try_read(0, b, limit));
            put(switches(0, a));
            put(fulfills(0, a, receipt));
            put(switches(0, LOOP));
            sleep_ms(1);
            put(fulfills(0, LOOP, limit));
            put(reads(0, b, limit));
            put(fails(0, b, receipt, "too late"));
            put(switches(0, LOOP));
        } else
            end_twice(a, limit);
        EXPECT(task ? "double-resolve possible 4 x1, 0: a time limit"
                    : "double-resolve possible 3 x1, 0: a time limit");
    }
}

/* Two ask for the same, and whoever is first counts; but not where that is seldom so. */
TEST(most_are_ended_twice)
{
    for (int seldom = 0; seldom < 2; seldom++) {
        begin();
        for (int i = 0; i < 4; i++) {
            uint64_t a = make(LOOP, TASK_, "a"), b = make(LOOP, TASK_, "b");
            end_twice(a, b);
            for (int k = 0; k < 2 && seldom; k++)
                put(fulfills(0, a, make(LOOP, REPLY_, "receipt")));
        }
        EXPECT(seldom ? "double-resolve likely 3 x4, 0: \n"
                      : "double-resolve possible 3 x4, 0: most of");
    }
}

/* What nobody wants any more may be ended, and what has ended may be cancelled. */
TEST(cancelled_and_ended)
{
    begin();
    uint64_t a = make(LOOP, TASK_, "a"), x = make(LOOP, REPLY_, "x"), y = make(LOOP, REPLY_, "y");
    put(cancels(0, a, x));
    put(fulfills(0, a, x));
    put(fulfills(0, a, y));
    put(cancels(0, a, y));
    NOTHING();
}

static int each_rule_is_needed(void **state)
{
    (void)state;
    return rules_noticed(KINDS);
}

RUN_TESTS(NULL, each_rule_is_needed)
