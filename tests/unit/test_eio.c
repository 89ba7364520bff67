/* SPDX-License-Identifier: ISC */
/* read/eio.h: what Eio's events mean, as events of ours. A scene is told item by item; what each becomes is a word or two. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "read/eio.h"
#include "test.h"

#define OWN UINT64_C(1000000000000) /* from here on: what Eio has no number for */
#define RINGS 2

struct scene {
    struct read_eio *eio;
    uint64_t now_ns;
    unsigned ring; /* of what is told next */
};

static const struct {
    const char *name;
    bool both; /* else b, or a where b is nothing */
} words[WEFT_EVENT_KINDS] = {
    [WEFT_EVENT_CREATES] = {"creates", true},   [WEFT_EVENT_READ] = {"read", true},
    [WEFT_EVENT_FULFILLS] = {"fulfills", true}, [WEFT_EVENT_FAILS] = {"fails", true},
    [WEFT_EVENT_SWITCH] = {"runs", false},      [WEFT_EVENT_SIGNAL] = {"signal", true},
    [WEFT_EVENT_TRY_READ] = {"waits", true},    [WEFT_EVENT_READ_LATER] = {"read_later", true},
    [WEFT_EVENT_ACQUIRES] = {"acquires", true}, [WEFT_EVENT_RELEASES] = {"releases", true},
    [WEFT_EVENT_NOTIFIES] = {"notifies", true}, [WEFT_EVENT_RESOLVES] = {"resolves", true},
    [WEFT_EVENT_CANCELS] = {"cancels", true},   [WEFT_EVENT_BACKGROUND] = {"background", false}};

static size_t put_id(char *out, size_t room, uint64_t id)
{
    if (id == WEFT_ID_LOOP)
        return (size_t)snprintf(out, room, " -");
    if (id >= OWN)
        return (size_t)snprintf(out, room, " own%" PRIu64, id - OWN);
    return (size_t)snprintf(out, room, " %" PRIu64, id);
}

/* Tells an item, which another one may follow on its ring, and compares what it becomes: "creates 1 own0 sleep, waits 1 own0, runs -". */
static void tell_next(struct scene *s, const char *wanted, struct read_eio_item item,
                      const struct read_eio_item *next)
{
    struct weft_event out[READ_EIO_MOST + 1];
    char found[512] = "";
    size_t n = 0;
    item.time_ns = ++s->now_ns;
    item.ring = s->ring;
    item.text_size = item.text ? (uint32_t)strlen(item.text) : 0;
    const int count = read_eio_tell(s->eio, out, &item, next);
    assert_in_range(count, 0, READ_EIO_MOST);
    for (int i = 0; i < count; i++) {
        assert_non_null(words[out[i].kind].name);
        n += (size_t)snprintf(found + n, sizeof found - n, "%s%s", i ? ", " : "",
                              words[out[i].kind].name);
        n += put_id(found + n, sizeof found - n, out[i].a);
        if (words[out[i].kind].both)
            n += put_id(found + n, sizeof found - n, out[i].b);
        if (out[i].kind == WEFT_EVENT_CREATES)
            n += (size_t)snprintf(found + n, sizeof found - n, " %s", out[i].origin->type);
        if (out[i].kind == WEFT_EVENT_FAILS)
            n += (size_t)snprintf(found + n, sizeof found - n, " %.*s", (int)out[i].text_size,
                                  out[i].text);
    }
    assert_string_equal(found, wanted);
}

#define TELL(s, wanted, EVENT, ...)                                                                \
    tell_next(s, wanted, (struct read_eio_item){.event = READ_EIO_##EVENT, __VA_ARGS__}, NULL)

/* Fiber 1 runs in switch 2. */
static struct scene begin(void)
{
    struct scene s = {.eio = read_eio_new(RINGS)};
    assert_non_null(s.eio);
    TELL(&s, "creates - 0 root", CREATE_CC, .id = 0, .kind = READ_EIO_ROOT);
    TELL(&s, "creates - 1 fiber", CREATE_FIBER, .id = 1, .other = 0);
    TELL(&s, "runs 1", FIBER, .id = 1);
    TELL(&s, "creates 1 2 switch", CREATE_CC, .id = 2, .kind = READ_EIO_SWITCH);
    return s;
}

static void end(struct scene *s)
{
    read_eio_free(s->eio);
}

/* What has no number is waited for under one of ours. */
TEST(an_operation)
{
    struct scene s = begin();
    TELL(&s, "creates 1 own0 sleep, waits 1 own0, runs -", SUSPEND_FIBER, .text = "sleep");
    TELL(&s, "resolves - own0, read 1 own0", FIBER, .id = 1);
    TELL(&s, "runs -", SUSPEND_FIBER, .text = "");
    TELL(&s, "runs 1", FIBER, .id = 1);
    TELL(&s, "creates 1 own1 read, waits 1 own1, background 1, background own1, runs -",
         SUSPEND_FIBER, .text = "read_eventfd");
    end(&s);
}

/* In a context that is cancelled, Eio raises at once what cancelled it, and writes nothing. */
TEST(a_suspension_that_ends_at_once)
{
    struct scene s = begin();
    TELL(&s, "cancels 1 2", ERROR, .id = 2, .text = "Eio__core__Fiber.Not_first");
    TELL(&s, "creates 1 own0 sleep, waits 1 own0, runs -", SUSPEND_FIBER, .text = "sleep");
    TELL(&s, "resolves - own0, read 1 own0, creates 1 own1 read, waits 1 own1, runs -",
         SUSPEND_FIBER, .text = "readv");
    TELL(&s, "resolves - own1, read 1 own1, read_later 1 2", EXIT_CC);
    TELL(&s, "runs -", SUSPEND_FIBER, .text = "");
    TELL(&s, "runs 1, resolves 1 1", EXIT_FIBER, .id = 1);
    end(&s);
    s = begin(); /* what it does next is known already */
    tell_next(&s, "creates 1 own0 sleep, waits 1 own0, runs -, resolves - own0, read 1 own0",
              (struct read_eio_item){.event = READ_EIO_SUSPEND_FIBER, .text = "sleep"},
              &(struct read_eio_item){.event = READ_EIO_SUSPEND_FIBER, .text = "sleep"});
    TELL(&s, "creates 1 own1 sleep, waits 1 own1, runs -", SUSPEND_FIBER, .text = "sleep");
    end(&s);
}

/* A fiber that is suspended may release a mutex, and the scheduler may say something. */
TEST(what_is_said_meanwhile)
{
    struct scene s = begin();
    TELL(&s, "creates 1 own0 read, waits 1 own0, runs -", SUSPEND_FIBER, .text = "readv");
    TELL(&s, "creates 1 own1 log, fulfills 1 own1", LOG, .text = "poll_add");
    TELL(&s, "resolves 3 3", EXIT_FIBER, .id = 3);
    TELL(&s, "resolves - own0, read 1 own0", FIBER, .id = 1);
    end(&s);
}

/* A switch waits for its fibers, but for those that do nothing but sleep. */
TEST(a_switch_and_its_fibers)
{
    struct scene s = begin();
    TELL(&s, "creates 1 3 fiber", CREATE_FIBER, .id = 3, .other = 2);
    TELL(&s, "runs 3", FIBER, .id = 3);
    TELL(&s, "creates 3 own0 sleep, waits 3 own0, runs -", SUSPEND_FIBER, .text = "sleep");
    TELL(&s, "resolves - own0, read 3 own0", FIBER, .id = 3);
    TELL(&s, "creates 3 own1 receive, waits 3 own1, waits 2 3, runs -", SUSPEND_FIBER,
         .text = "Stream.take");
    TELL(&s, "resolves - own1, read 3 own1", FIBER, .id = 3);
    TELL(&s, "creates 3 own2 receive, waits 3 own2, runs -", SUSPEND_FIBER, .text = "Stream.take");
    TELL(&s, "resolves - own2, read 3 own2", FIBER, .id = 3);
    TELL(&s, "resolves 3 3, read_later 2 3", EXIT_FIBER, .id = 3);
    TELL(&s, "", EXIT_FIBER, .id = 3);
    end(&s);
}

/* … also where it says so itself by asking for its idleness. */
TEST(who_waits_for_a_switch)
{
    struct scene s = begin();
    TELL(&s, "", TRY_GET, .id = 2);
    TELL(&s, "waits 1 2, runs -", SUSPEND_FIBER, .text = "Switch.await_idle");
    TELL(&s, "runs 1", FIBER, .id = 1);
    TELL(&s, "fulfills 1 2", EXIT_CC);
    end(&s);
}

/* Of a switch in which only daemons are left Eio says that it failed. */
TEST(how_contexts_end)
{
    struct scene s = begin();
    TELL(&s, "cancels 1 2", ERROR, .id = 2, .text = "Stdlib.Exit");
    TELL(&s, "creates 1 3 protect", CREATE_CC, .id = 3, .kind = READ_EIO_PROTECT);
    TELL(&s, "fails 1 3 Stdlib.Exit", ERROR, .id = 3, .text = "Stdlib.Exit");
    TELL(&s, "creates 1 4 switch", CREATE_CC, .id = 4, .kind = READ_EIO_SWITCH);
    TELL(&s, "fails 1 4 Failure(\"x\")", ERROR, .id = 4, .text = "Failure(\"x\")");
    end(&s);
}

/* Of what was created before the first event that is left, it is concluded what it is. */
TEST(what_is_older_than_the_ring)
{
    struct scene s = begin();
    TELL(&s, "", GET, .id = 50);
    TELL(&s, "releases 1 50, notifies 1 50", PUT, .id = 50);
    TELL(&s, "", TRY_GET, .id = 51);
    TELL(&s, "waits 1 51, runs -", SUSPEND_FIBER, .text = "Mutex.lock");
    TELL(&s, "releases 1 51, notifies 1 51", PUT, .id = 51);
    TELL(&s, "runs 1", FIBER, .id = 1);
    TELL(&s, "acquires 1 51", GET, .id = 51);
    TELL(&s, "notifies 1 52", PUT, .id = 52); /* a promise, or a mutex */
    static const char *const operations[] = {"Semaphore.acquire", "Promise.await"};
    for (uint64_t i = 0; i < 2; i++) {
        char wanted[64];
        tell_next(&s, "runs -",
                  (struct read_eio_item){.event = READ_EIO_SUSPEND_FIBER, .text = operations[i]},
                  &(struct read_eio_item){.event = READ_EIO_TRY_GET, .id = 53 + i});
        snprintf(wanted, sizeof wanted, "waits 1 %" PRIu64, 53 + i);
        TELL(&s, wanted, TRY_GET, .id = 53 + i);
        TELL(&s, "runs 1", FIBER, .id = 1);
    }
    TELL(&s, "releases 1 53, notifies 1 53", PUT, .id = 53);
    TELL(&s, "fulfills 1 54", PUT, .id = 54);
    TELL(&s, "runs 60", FIBER, .id = 60); /* what runs is a fiber, and its promise has its number */
    TELL(&s, "fulfills 60 60", PUT, .id = 60);
    end(&s);
}

/* A domain: who started it waits for its first fiber; the promise by which that would be cancelled is pending for long. A further
 * domain has the same ring. */
TEST(domains)
{
    struct scene s = begin();
    for (uint64_t i = 0; i < 2; i++) {
        const uint64_t promise = 10 + i, context = 1024 + 10 * i, fiber = 1025 + 10 * i;
        char wanted[128];
        s.ring = 0;
        snprintf(wanted, sizeof wanted,
                 "creates 1 own%" PRIu64 " io, waits 1 own%" PRIu64 ", runs -", i, i);
        TELL(&s, wanted, SUSPEND_FIBER, .text = "run-domain");
        snprintf(wanted, sizeof wanted, "creates 1 %" PRIu64 " promise, background %" PRIu64,
                 promise, promise);
        TELL(&s, wanted, CREATE_OBJ, .id = promise, .kind = READ_EIO_PROMISE);
        s.ring = 1;
        TELL(&s, "", DOMAIN_SPAWN, .id = 1);
        snprintf(wanted, sizeof wanted, "creates - %" PRIu64 " root", context);
        TELL(&s, wanted, CREATE_CC, .id = context, .kind = READ_EIO_ROOT);
        snprintf(wanted, sizeof wanted,
                 "creates 1 %" PRIu64 " fiber, waits own%" PRIu64 " %" PRIu64, fiber, i, fiber);
        TELL(&s, wanted, CREATE_FIBER, .id = fiber, .other = context);
        snprintf(wanted, sizeof wanted, "runs %" PRIu64, fiber);
        TELL(&s, wanted, FIBER, .id = fiber);
        snprintf(wanted, sizeof wanted, "creates %" PRIu64 " %" PRIu64 " promise", fiber,
                 promise + 100);
        TELL(&s, wanted, CREATE_OBJ, .id = promise + 100, .kind = READ_EIO_PROMISE);
        snprintf(wanted, sizeof wanted, "resolves %" PRIu64 " %" PRIu64, fiber, fiber);
        TELL(&s, wanted, EXIT_FIBER, .id = fiber);
        s.ring = 0;
        snprintf(wanted, sizeof wanted, "resolves - own%" PRIu64 ", read 1 own%" PRIu64, i, i);
        TELL(&s, wanted, FIBER, .id = 1);
    }
    end(&s);
}

RUN_TESTS(NULL, NULL)
