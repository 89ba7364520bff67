/* SPDX-License-Identifier: ISC */
/* What many want and few can have: pools, locks, workers, queues; and what two of them end. Each scene is one style of
 * recording, and what looks alike but is as it should be. Linked with --wrap=malloc and so on. */
#include "findings.h"
#include "packets.h"

#define MS UINT64_C(1000000)
#define KINDS                                                                                      \
    (1u << WEFT_FINDING_POOL_EXHAUSTED | 1u << WEFT_FINDING_CONTENTION |                           \
     1u << WEFT_FINDING_WORKERS_BUSY | 1u << WEFT_FINDING_POOL_DEADLOCK |                          \
     1u << WEFT_FINDING_QUEUE_GROWTH | 1u << WEFT_FINDING_STAMPEDE)

static uint32_t looked_for = KINDS;

/* ---- Making and describing ---- */

enum site { TASK_, POOL_, REQUEST, JOB_, TIMER_, SITES };

static uint32_t site[SITES];
static uint16_t ended = WEFT_TRACE_STOPPED; /* how the program did */
static struct trace trace;
static uint64_t now, last_id;
static unsigned on; /* the stream that is recorded on */

static struct told {
    struct weft_event ev;
    uint32_t site;
    unsigned stream;
} told[4096];
static unsigned tolds;

static void add(struct weft_event ev, uint32_t where)
{
    assert_true(tolds < sizeof told / sizeof *told);
    ev.time_ns = now += 100;
    told[tolds++] = (struct told){ev, where, on};
}

static void begin(void)
{
    static const char *const types[SITES] = {"task", "pool", "request", "job", "timer"};
    trace = (struct trace){.fd = -1};
    sites_packets(&trace, ended, types, site, SITES);
    now = last_id = 0;
    tolds = on = 0;
}

static void put(struct weft_event ev)
{
    add(ev, 0);
}

static uint64_t make(uint64_t creator, enum site where, const char *text)
{
    struct weft_event ev = creates(0, creator, ++last_id, 0);
    add(with_text(ev, text), site[where]);
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
    for (unsigned stream = 0, found = 1; found; stream++) {
        found = 0;
        for (unsigned i = 0; i < tolds; i++) {
            if (told[i].stream != stream)
                continue;
            if (!found++)
                events_begin(&trace,
                             (struct weft_events_header){.stream = stream,
                                                         .sequence = stream + 1,
                                                         .begin_ticks = told[i].ev.time_ns});
            events_put(&trace, told[i].ev, told[i].site);
        }
        if (found)
            events_end(&trace, now);
    }
    findings_expect(scene, trace_model(&trace), wanted);
}

#define EXPECT(...) expect(__func__, (const char *const[]){__VA_ARGS__, NULL})
#define NOTHING() expect(__func__, (const char *const[]){NULL})

/* ---- Pools ---- */

static void get(uint64_t who, uint64_t pool)
{
    put(acquires(0, who, pool));
}

static void give_back(uint64_t who, uint64_t pool)
{
    put(releases(0, who, pool));
}

/* A pool of two, of which so many have been held for 5 ms before. */
static uint64_t make_pool(int before)
{
    begin();
    uint64_t pool = make(LOOP, POOL_, "connections");
    for (int i = 0; i < before; i++) {
        uint64_t a = make(LOOP, REQUEST, "GET /"), b = make(LOOP, REQUEST, "GET /");
        get(a, pool);
        get(b, pool);
        sleep_ms(5);
        give_back(a, pool);
        give_back(b, pool);
        put(fulfills(0, a, a));
        put(fulfills(0, b, b));
    }
    return pool;
}

/* Two tasks get it, and so many wait, for so long. */
static void exhaust(uint64_t pool, int waiters, uint64_t ms, uint64_t *first, uint64_t *second)
{
    *first = make(LOOP, TASK_, "report");
    *second = make(LOOP, TASK_, "backup");
    get(*first, pool);
    get(*second, pool);
    for (int i = 0; i < waiters; i++)
        put(try_read(0, make(LOOP, REQUEST, "GET /"), pool));
    sleep_ms(ms);
}

TEST(held_for_long)
{
    uint64_t pool = make_pool(3), a, b;
    exhaust(pool, 3, 200, &a, &b);
    give_back(a, pool);
    give_back(b, pool);
    EXPECT("pool-exhausted likely 1 x1, 3: \n", "All 2 permits of 'connections' (pool 1)",
           "(usually one is held for 5 ms); meanwhile 3 waited for one",
           "'backup' (task 9) had one from");
}

/* The loop is named as well, after those that hardly ran. */
TEST(held_by_the_loop)
{
    uint64_t pool = make_pool(3), task = make(LOOP, TASK_, "report");
    get(LOOP, pool);
    get(task, pool);
    for (int i = 0; i < 3; i++)
        put(try_read(0, make(LOOP, REQUEST, "GET /"), pool));
    sleep_ms(200);
    give_back(task, pool);
    give_back(LOOP, pool);
    EXPECT("pool-exhausted likely 1 x1, 3: \n", "'report' (task 8) had one from",
           "; the event loop had one from");
}

/* One that was held up for a moment long before has not waited meanwhile. */
TEST(who_waited_before_does_not_count)
{
    uint64_t pool = make_pool(3), a, b;
    exhaust(pool, 1, 5, &a, &b);
    give_back(a, pool);
    give_back(b, pool);
    put(switches(0, last_id));
    get(last_id, pool);
    give_back(last_id, pool);
    put(fulfills(0, last_id, last_id));
    put(switches(0, LOOP));
    sleep_ms(300);
    exhaust(pool, 3, 200, &a, &b);
    give_back(a, pool);
    give_back(b, pool);
    EXPECT("pool-exhausted likely 1 x1, 3: \n", "meanwhile 3 waited for one, for 600 ms in all");
}

/* Always for so long, also when all are held; or a lock, which one can hold. */
TEST(as_long_as_usual)
{
    uint64_t pool = make_pool(0), a, b;
    for (int i = 0; i < 3; i++) {
        exhaust(pool, 3, 200, &a, &b);
        give_back(a, pool);
        give_back(b, pool);
        for (uint64_t waiter = b + 1; waiter <= b + 3; waiter++)
            put(fulfills(0, LOOP, waiter));
    }
    NOTHING();
}

TEST(a_lock_that_is_held_for_long)
{
    begin();
    uint64_t lock = make(LOOP, POOL_, "lock"), a = make(LOOP, TASK_, "report");
    get(a, lock);
    sleep_ms(5);
    give_back(a, lock);
    get(a, lock);
    put(try_read(0, make(LOOP, REQUEST, "GET /"), lock));
    put(try_read(0, make(LOOP, REQUEST, "GET /"), lock));
    sleep_ms(200);
    give_back(a, lock);
    NOTHING();
}

TEST(held_for_long_from_the_beginning)
{
    uint64_t pool = make_pool(0), a, b;
    exhaust(pool, 3, 200, &a, &b);
    give_back(a, pool);
    give_back(b, pool);
    EXPECT("pool-exhausted possible 1 x1, 3: none was given back before");
}

TEST(only_one_waits)
{
    uint64_t pool = make_pool(3), a, b;
    exhaust(pool, 1, 200, &a, &b);
    give_back(a, pool);
    give_back(b, pool);
    EXPECT("pool-exhausted possible 1 x1, 1: only one waited");
}

TEST(given_back_by_others)
{
    for (int ended = 0; ended < 2; ended++) {
        uint64_t pool = make_pool(3), a, b;
        exhaust(pool, 3, 200, &a, &b);
        if (ended)
            put(fulfills(0, a, a));
        sleep_ms(1);
        give_back(LOOP, pool);
        give_back(LOOP, pool);
        EXPECT("pool-exhausted possible 1 x1, 3: others give permits back");
    }
}

/* Those that wait give up; or it is a lock, or nothing is known of how long it is held, and nobody else waits. */
TEST(held_by_one_that_has_ended)
{
    for (int first = 0; first < 2; first++) {
        uint64_t pool = make_pool(first ? 0 : 3), a, b;
        exhaust(pool, first ? 1 : 3, 20, &a, &b);
        put(fails(0, a, a, "no such table"));
        sleep_ms(200);
        for (uint64_t waiter = b + 1; waiter <= last_id; waiter++)
            put(fails(0, LOOP, waiter, "too late"));
        EXPECT(first ? "pool-exhausted likely 1 x1, 1: \n" : "pool-exhausted likely 1 x1, 3: \n",
               "'report' (task ", "failed at ", "without giving it back; 'backup'");
    }
    begin();
    uint64_t lock = make(LOOP, POOL_, "lock"), a = make(LOOP, TASK_, "report");
    for (int i = 0; i < 3; i++) {
        get(a, lock);
        sleep_ms(150);
        if (i < 2)
            give_back(a, lock);
    }
    put(fulfills(0, a, a));
    uint64_t late = make(LOOP, REQUEST, "GET /");
    put(try_read(0, late, lock));
    sleep_ms(400);
    put(fails(0, LOOP, late, "too late"));
    EXPECT("pool-exhausted likely 1 x1, 1: \n", "The only permit of 'lock' (pool 1)");
}

/* ---- Contention ---- */

enum style { HOLDS, NOTIFIED, PLACES, PRODUCER };

/* So many wait for the lock, and each has it for 4 ms. Told by holds; by a condition, or a place in the queue for each, that
 * whoever had it before ends; or somebody else ends it. before_ms: between one and the next. */
static void take_turns(enum style style, int count, uint64_t before_ms, bool marked, int parents)
{
    uint64_t lock = make(LOOP, POOL_, "lock"), other = make(LOOP, TASK_, "other"), who[64],
             place[64];
    const uint64_t all = parents == 2 ? make(LOOP, TASK_, "main") : 0;
    for (int i = 0; i < count; i++) {
        uint64_t top = all ? all : make(LOOP, REQUEST, "GET /");
        if (marked)
            put(should_resolve(0, top));
        who[i] = parents ? make(top, TASK_, "load") : top;
        if (parents)
            put(try_read(0, top, who[i]));
        put(switches(0, who[i]));
        place[i] = style == PLACES ? make(who[i], JOB_, "turn") : lock;
        put(try_read(0, who[i], place[i]));
        sleep_ms(before_ms);
    }
    for (int i = 0; i < count; i++) {
        uint64_t by = style == PRODUCER || i == 0 ? other : who[i - 1];
        put(switches(0, by));
        put(style == PLACES ? fulfills(0, by, place[i]) : notifies(0, by, lock));
        if (i > 0)
            put(fulfills(0, by, who[i - 1]));
        put(style == PLACES ? reads(0, who[i], place[i]) : signals(0, who[i], lock));
        if (style == HOLDS)
            get(who[i], lock);
        sleep_ms(4);
        put(switches(0, who[i]));
        if (style == HOLDS)
            give_back(who[i], lock);
    }
}

TEST(one_lock_for_all)
{
    for (enum style style = HOLDS; style <= PLACES; style++)
        for (int parents = 0; parents < 2; parents++) {
            begin();
            take_turns(style, 30, 1, true, parents);
            EXPECT(style == PLACES ? "contention likely " : "contention likely 1 x1, 30: \n",
                   "'GET /': ", " of what 30 of these took went to waiting for ", "30 waits took ",
                   "It was held longest by ");
        }
}

TEST(who_is_served_hands_nothing_on)
{
    begin();
    take_turns(PRODUCER, 30, 1, true, false);
    NOTHING();
}

/* Each waits for the next one, and the last one ends. */
TEST(a_chain_is_no_lock)
{
    enum { LENGTH = 40 };
    uint64_t link[LENGTH];
    begin();
    for (int i = 0; i < LENGTH; i++) {
        link[i] = make(LOOP, JOB_, "link");
        put(should_resolve(0, link[i]));
        if (i > 0)
            put(try_read(0, link[i - 1], link[i]));
    }
    sleep_ms(10);
    for (int i = LENGTH; i-- > 0;) {
        put(fulfills(0, link[i], link[i]));
        if (i > 0)
            put(reads(0, link[i - 1], link[i]));
    }
    NOTHING();
}

TEST(a_lock_that_few_want)
{
    for (int marked = 0; marked < 2; marked++) {
        begin();
        uint64_t lock = make(LOOP, POOL_, "lock"), a = make(LOOP, TASK_, "a"),
                 b = make(LOOP, TASK_, "a");
        if (marked)
            put(should_resolve(0, a));
        for (int i = 0; i < 30; i++) {
            uint64_t holder = i % 2 ? a : b, other = i % 2 ? b : a;
            get(holder, lock);
            put(try_read(0, other, lock));
            sleep_ms(4);
            give_back(holder, lock);
            put(signals(0, other, lock));
        }
        EXPECT(marked ? "contention likely 1 x1, 30: \n"
                      : "contention possible 1 x1, 30: there are only few");
    }
}

TEST(a_batch_that_takes_turns)
{
    for (int way = 0; way < 4; way++) { /* the last one: a main task that waits for all of them */
        begin();
        take_turns(HOLDS, 30, way == 1 ? 3 : 0, way >= 2, way == 3 ? 2 : 0);
        EXPECT(way == 1 || way == 2
                   ? "contention likely 1 x1, 30: \n"
                   : "contention possible 1 x1, 30: all of them were begun at once");
    }
}

/* Each has it for a moment, and then does something else. */
TEST(a_lock_that_takes_little)
{
    begin();
    uint64_t lock = make(LOOP, POOL_, "lock"), before = make(LOOP, REQUEST, "GET /");
    for (int i = 0; i < 30; i++) {
        uint64_t who = make(LOOP, REQUEST, "GET /");
        get(before, lock);
        put(try_read(0, who, lock));
        sleep_ms(1);
        give_back(before, lock);
        put(signals(0, who, lock));
        put(fulfills(0, before, before));
        sleep_ms(5);
        before = who;
    }
    NOTHING();
}

/* Three want it at once, now and then. */
TEST(a_lock_that_is_mostly_free)
{
    for (int way = 0; way < 4; way++) { /* marked, held for longer, or more often */
        begin();
        uint64_t lock = make(LOOP, POOL_, "lock"), who[3];
        for (int burst = 0; burst < 12; burst++) {
            for (int i = 0; i < 3; i++) {
                who[i] = make(LOOP, REQUEST, "GET /");
                if (way == 1)
                    put(should_resolve(0, who[i]));
                if (i > 0)
                    put(try_read(0, who[i], lock));
                else
                    get(who[i], lock);
            }
            for (int i = 0; i < 3; i++) {
                sleep_ms(way == 2 ? 4 : 2);
                give_back(who[i], lock);
                put(fulfills(0, who[i], who[i]));
                if (i == 2)
                    continue;
                put(signals(0, who[i + 1], lock));
                get(who[i + 1], lock);
            }
            sleep_ms(way == 3 ? 5 : 40);
        }
        EXPECT(way ? "contention likely 1 x1, 24: \n"
                   : "contention possible 1 x1, 24: most of the time nobody waits for it");
    }
}

/* Who waits to the end hangs. */
TEST(a_lock_that_is_never_free)
{
    begin();
    uint64_t lock = make(LOOP, POOL_, "lock"), first = make(LOOP, REQUEST, "GET /");
    get(first, lock);
    for (int i = 0; i < 40; i++) {
        put(try_read(0, make(LOOP, REQUEST, "GET /"), lock));
        sleep_ms(10);
    }
    NOTHING();
}

/* Two have it at a time. */
TEST(a_pool_of_two)
{
    begin();
    uint64_t pool = make(LOOP, POOL_, "pool"), a = make(LOOP, REQUEST, "GET /"),
             b = make(LOOP, REQUEST, "GET /");
    get(a, pool);
    for (int i = 0; i < 30; i++) {
        uint64_t who = make(LOOP, REQUEST, "GET /");
        get(b, pool);
        put(try_read(0, who, pool));
        sleep_ms(4);
        give_back(a, pool);
        put(signals(0, who, pool));
        put(fulfills(0, a, a));
        a = b;
        b = who;
    }
    NOTHING();
}

/* ---- Workers ---- */

/* On workers 1 to count; main, on stream 0, hands them on. */
static uint64_t main_task;

static void begin_workers(void)
{
    begin();
    main_task = make(LOOP, TASK_, "main");
    put(switches(0, main_task));
}

static uint64_t hand_on(const char *text)
{
    on = 0;
    return make(main_task, JOB_, text);
}

static void begins(unsigned worker, uint64_t job)
{
    on = worker;
    put(switches(0, job));
}

static void is_done(unsigned worker, uint64_t job)
{
    on = worker;
    put(fulfills(0, job, job));
    put(switches(0, LOOP));
}

static void quick_jobs(int count)
{
    for (int i = 0; i < count; i++) {
        uint64_t job = hand_on("thumbnail");
        begins(1 + (unsigned)i % 2, job);
        now += MS;
        is_done(1 + (unsigned)i % 2, job);
    }
}

/* Two jobs take 100 ms, and meanwhile so many others come. */
static void keep_busy(const char *with, int count, uint64_t apart_ms)
{
    uint64_t a = hand_on(with), b = hand_on(with), late[64];
    begins(1, a);
    begins(2, b);
    for (int i = 0; i < count; i++) {
        now += apart_ms * MS;
        late[i] = hand_on("thumbnail");
    }
    now += 100 * MS;
    is_done(1, a);
    is_done(2, b);
    for (int i = 0; i < count; i++) {
        begins(1, late[i]);
        now += MS;
        is_done(1, late[i]);
    }
}

TEST(workers_that_others_keep_busy)
{
    begin_workers();
    quick_jobs(40);
    keep_busy("film", 5, 5);
    EXPECT("workers-busy likely 44 x5, 0: \n", "'thumbnail': 5 of 45 began late",
           "busy with 'film' for 100 % of the time");
}

TEST(one_that_began_late)
{
    begin_workers();
    quick_jobs(10);
    keep_busy("film", 2, 20);
    EXPECT("workers-busy possible 14 x2, 0: it hardly ever happened");
    begin_workers();
    quick_jobs(10);
    keep_busy("film", 3, 20);
    EXPECT("workers-busy likely ", "'thumbnail': 3 of 13 began late");
}

/* What a thread mostly makes for itself is not handed to it: these are no jobs. */
TEST(most_are_not_handed_on)
{
    begin_workers();
    on = 1;
    uint64_t boss = make(LOOP, TASK_, "boss");
    for (int i = 0; i < 40; i++) {
        on = 1;
        put(switches(0, boss));
        uint64_t own = make(boss, JOB_, "thumbnail");
        put(switches(0, own));
        now += MS;
        is_done(1, own);
    }
    keep_busy("film", 5, 5);
    NOTHING();
}

TEST(more_work_than_workers)
{
    for (int way = 0; way < 3; way++) {
        begin_workers();
        quick_jobs(way == 2 ? 5 : 40);
        keep_busy(way ? "thumbnail" : "film", 5, way ? 5 : 0);
        EXPECT(way == 0 ? "workers-busy possible 48 x5, 0: all that began late were created at once"
               : way == 1 ? "workers-busy possible 44 x5, 0: most others of the sort"
                          : "workers-busy likely 9 x5, 0: \n");
    }
}

/* One of the workers has nothing to do, or they are late for another reason. */
TEST(workers_that_are_not_busy)
{
    begin_workers();
    quick_jobs(10);
    uint64_t film = hand_on("film"), late[5];
    begins(1, film);
    for (int i = 0; i < 5; i++) {
        now += 5 * MS;
        late[i] = hand_on("thumbnail");
    }
    now += 100 * MS;
    is_done(1, film);
    for (int i = 0; i < 5; i++) {
        begins(1, late[i]);
        is_done(1, late[i]);
    }
    NOTHING();
}

enum { RAN = 1, OTHER_WAIT = 2, FOR_A_PART = 4, IDLE_ONE = 8, OLD = 16 };

/* Two workers make pages, each of which waits for a picture that is handed to them as well, after so many other things. */
static void pages_with(unsigned how, unsigned others)
{
    uint64_t page[2], picture[2];
    begin_workers();
    if (how & RAN) {
        uint64_t job = hand_on("picture");
        begins(1, job);
        is_done(1, job);
    }
    for (unsigned i = 0; i < 2; i++) {
        uint64_t before = hand_on("page");
        begins(1 + i, before);
        is_done(1 + i, before);
    }
    for (unsigned i = 0; i < 2; i++)
        page[i] = hand_on("page");
    for (unsigned i = 0; i < (how & IDLE_ONE ? 1 : 2); i++) {
        begins(1 + i, page[i]);
        for (unsigned k = 0; k < others; k++)
            make(page[i], REQUEST, "part");
        picture[i] = make(page[i], JOB_, "picture");
        if (how & FOR_A_PART)
            picture[i] = make(page[i], REQUEST, "part");
        if (how & OTHER_WAIT)
            put(try_read(0, page[i], make(page[i], REQUEST, "limit")));
        put(try_read(0, page[i], picture[i]));
    }
    on = 0;
    sleep_ms(how & OLD ? 0 : 200);
}

static void pages(unsigned how)
{
    pages_with(how, 0);
}

TEST(workers_that_wait_for_each_other)
{
    pages(RAN);
    EXPECT("pool-deadlock certain ", "All 2 workers wait for what only they can begin",
           "'page' (job 5) has waited for 'picture' (job 7) since");
    pages(0);
    EXPECT("pool-deadlock likely ", "concluded from its type");
    pages(RAN | FOR_A_PART);
    EXPECT("pool-deadlock likely ", "it is concluded that what they wait for needs");
    pages_with(RAN | FOR_A_PART, 7);
    EXPECT("pool-deadlock likely ", "it is concluded that what they wait for needs");
    pages_with(RAN | FOR_A_PART, 8); /* too many for a conclusion */
    NOTHING();
    pages(RAN | OTHER_WAIT);
    EXPECT("pool-deadlock likely ", "one of them waits for something else, too");
    pages(RAN | IDLE_ONE);
    NOTHING();
    ended = WEFT_TRACE_SAVED;
    pages(RAN | OLD);
    NOTHING();
    pages(RAN);
    EXPECT("pool-deadlock certain ");
    ended = WEFT_TRACE_STOPPED;
    pages(RAN | OLD);
    EXPECT("pool-deadlock certain ");
}

/* ---- Queues ---- */

/* So many come, one every 2 ms, and are done one after the other, in so long; all of them, or no more when the last one has come. */
static void orders(int count, uint64_t done_us, bool marked, bool one_creator, bool all)
{
    uint64_t main_id, id[128], at = 0;
    int done = 0;
    begin();
    main_id = make(LOOP, TASK_, "main");
    for (int i = 0; i < count || (all && done < count);) {
        const uint64_t comes = (uint64_t)i * 2 * MS;
        if (i < count && (comes <= at || done == i)) {
            now = comes > now ? comes : now;
            at = comes > at ? comes : at;
            id[i] = make(one_creator ? main_id : LOOP, REQUEST, "order");
            if (marked)
                put(should_resolve(0, id[i]));
            i++;
        } else {
            at += done_us * 1000;
            now = at > now ? at : now;
            put(fulfills(0, LOOP, id[done++]));
        }
    }
}

TEST(more_come_than_end)
{
    orders(100, 3000, true, true, false);
    EXPECT("queue-growth likely ", "'order': more and more of these are pending");
    orders(100, 3000, false, true, false);
    EXPECT("queue-growth likely ");
    orders(100, 3000, false, false, true);
    EXPECT("queue-growth likely ");
}

TEST(a_batch_that_is_done_in_the_end)
{
    orders(100, 3000, false, true, true);
    EXPECT("queue-growth possible ", "it may be a batch");
    orders(100, 3000, true, true, true);
    EXPECT("queue-growth likely ");
}

TEST(a_queue_that_does_not_grow)
{
    orders(100, 1900, true, false, true);
    NOTHING();
    orders(30, 3000, true, false, false); /* too few */
    NOTHING();
}

/* ---- Stampedes ---- */

/* Requests come, and each loads the same. */
struct rush {
    int count;           /* at once */
    int later;           /* that come afterwards, and have it */
    bool plain;          /* the labels do not say what they need */
    bool passive;        /* nothing is known of how it is made */
    bool sorts;          /* they are of two sorts */
    bool quick;          /* those that come later make it, too, and have it at once */
    bool slow;           /* … and do it again */
    bool asks;           /* … and wait for a moment */
    bool shared;         /* each waits for one that makes it */
    bool held;           /* each waits until it is its turn, and has a lock */
    bool batch;          /* one ends all of them at once */
    bool one, marked;    /* one creator; they should resolve */
    bool apart, failing; /* one after the other; they fail */
    bool constant;       /* the creators' labels do not say what they need */
    bool timers, brief;  /* they wait for a time; less than a millisecond */
};

static void rush_more(struct rush x)
{
    uint64_t request[16], load[16], other, first, lock;
    const enum site sort = x.timers ? TIMER_ : x.passive || x.batch ? JOB_ : TASK_;
    first = make(LOOP, REQUEST, x.plain || x.constant ? "GET /user" : "GET /user/8");
    other = make(first, sort, x.plain ? "load user" : "load user 8");
    lock = make(LOOP, POOL_, "lock");
    const char *text = x.plain ? "load user" : "load user 7";
    const char *from = x.plain || x.constant ? "GET /user" : "GET /user/7";
    for (int i = 0; i < x.count; i++) {
        request[i] = x.one && i ? request[0] : make(LOOP, x.sorts && i % 2 ? JOB_ : REQUEST, from);
        load[i] = make(request[i], sort, text);
        if (x.marked)
            put(should_resolve(0, load[i]));
        if (!x.passive && !x.batch)
            put(switches(0, load[i]));
        if (x.shared)
            put(try_read(0, load[i], i ? load[0] : make(load[i], JOB_, "query")));
        if (x.held) {
            get(load[i], lock);
            give_back(load[i], lock);
        }
        put(switches(0, LOOP));
        if (x.apart) {
            sleep_ms(20);
            put(fulfills(0, load[i], load[i]));
        }
    }
    sleep_ms(x.brief ? 0 : 20);
    if (x.batch)
        put(switches(0, other));
    for (int i = 0; i < x.count && !x.apart; i++) {
        uint64_t by = x.batch ? other : x.passive || x.timers ? LOOP : load[i];
        put(x.failing ? fails(0, by, load[i], "no such user") : fulfills(0, by, load[i]));
    }
    for (int i = 0; i < x.count; i++)
        if (i == 0 || !x.one)
            put(fulfills(0, LOOP, request[i]));
    for (int i = 0; i < x.later; i++) {
        uint64_t late = make(LOOP, REQUEST, from);
        if (x.quick || (x.slow && i % 2 == 0)) {
            uint64_t again = make(late, TASK_, text);
            if (x.slow)
                sleep_ms(20);
            if (x.asks)
                put(try_read(0, again, make(again, JOB_, "query")));
            put(fulfills(0, again, again));
        }
        put(fulfills(0, late, late));
    }
}

static void rush(struct rush x)
{
    begin();
    rush_more(x);
}

TEST(all_make_the_same)
{
    rush((struct rush){.count = 5, .later = 4});
    EXPECT("stampede likely 5 x1, 5: \n", "'load user 7' (task 5) was under way 5 times at once",
           "each time for another one (such as 'GET /user/7' (request 4)): each took 20 ms");
    rush((struct rush){.count = 4, .later = 5, .quick = true, .constant = true});
    EXPECT("stampede likely 5 x1, 4: \n");
}

TEST(the_largest_is_named)
{
    for (int first = 5; first <= 6; first++) {
        rush((struct rush){.count = first, .later = 4});
        rush_more((struct rush){.count = 11 - first, .later = 4});
        EXPECT("stampede likely ", "was under way 6 times at once", "This happened 2 times");
    }
}

TEST(the_same_by_their_label_only)
{
    rush((struct rush){.count = 5, .later = 4, .plain = true});
    EXPECT("stampede possible ", "their label does not say");
    rush((struct rush){.count = 5, .later = 3});
    EXPECT("stampede possible 5 x1, 5: nothing shows that a result is used again");
    rush((struct rush){.count = 5, .later = 8, .slow = true});
    EXPECT("stampede possible 5 x1, 5: nothing shows that a result is used again");
    rush((struct rush){.count = 5, .later = 8, .quick = true, .asks = true});
    EXPECT("stampede possible 5 x1, 5: nothing shows that a result is used again");
    rush((struct rush){.count = 5, .later = 4, .constant = true});
    EXPECT("stampede possible 5 x1, 5: nothing shows that a result is used again");
    rush((struct rush){.count = 5, .later = 4, .passive = true});
    EXPECT("stampede possible 5 x1, 5: nothing says what is done");
    rush((struct rush){.count = 6, .later = 4, .sorts = true});
    EXPECT("stampede possible 5 x1, 6: those that they are for are of different sorts");
}

TEST(each_makes_its_own)
{
    static const struct rush healthy[] = {
        {.count = 3, .later = 4},
        {.count = 5, .later = 3, .plain = true},
        {.count = 5, .later = 3, .passive = true},
        {.count = 5, .later = 4, .plain = true, .passive = true},
        {.count = 5, .later = 4, .shared = true},
        {.count = 5, .later = 4, .held = true},
        {.count = 5, .later = 4, .batch = true},
        {.count = 5, .later = 4, .one = true},
        {.count = 5, .later = 4, .marked = true},
        {.count = 5, .later = 4, .apart = true},
        {.count = 5, .later = 4, .failing = true},
        {.count = 5, .later = 4, .timers = true},
        {.count = 5, .later = 4, .brief = true},
    };
    for (unsigned i = 0; i < sizeof healthy / sizeof *healthy; i++) {
        rush(healthy[i]);
        NOTHING();
    }
}

static int each_rule_is_needed(void **state)
{
    (void)state;
    return rules_noticed(KINDS);
}

RUN_TESTS(NULL, each_rule_is_needed)
