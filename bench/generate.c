/* SPDX-License-Identifier: ISC */
/* Makes a large trace in mirage-profile's format, as an event loop with many requests records one:
 *
 *     generate-trace EVENTS ALIVE OUT [SEED [SLEEPS]]
 *
 * About ALIVE promises are pending at any time. Nothing happens during SLEEPS long stretches of time (usually none),
 * which viewers fold. The mix of events is about that of a real unikernel's
 * network stack. A request is a promise that waits for one input or output after another; each wait
 * is a task and three binds, each waiting for the one before it:
 *
 *     loop        fulfills task, which the outside has completed
 *     bind 1 … 3  read what they waited for, and are fulfilled (or fail, all three)
 *     request     reads bind 3, then creates the next task and binds, or is fulfilled itself
 *
 * The same arguments always make the same file. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "write/mirage.h"

enum {
    BINDS = 3,
    PROMISES_PER_REQUEST = 2 + BINDS, /* the request, what it waits for, and the binds */
    WAIT = 0,
    TASK = 1,
    BIND = 2,
    TRY = 3,
    MAP = 7,
    CONDITION = 8,
    SLEEP_NS = 50000000,
};

#define LISTENER UINT64_C(0) /* the promise that accepts requests; the first one */

struct request {
    uint64_t id, task, bind[BINDS];
};

struct generator {
    struct weft_mirage_writer *out;
    uint64_t events, wanted;
    uint64_t now_ns, next_id, random;
    struct request *request;
    uint64_t requests;
    uint64_t sleeps, slept;
};

_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "generate-trace: %s\n", what);
    exit(1);
}

/* A number below limit (xorshift64*). */
static uint64_t below(struct generator *g, uint64_t limit)
{
    g->random ^= g->random >> 12;
    g->random ^= g->random << 25;
    g->random ^= g->random >> 27;
    return (g->random * 0x2545f4914f6cdd1d >> 32) * limit >> 32;
}

static bool percent(struct generator *g, uint64_t chance)
{
    return below(g, 100) < chance;
}

/* ---- Events ---- */

static void record(struct generator *g, const struct weft_event *given)
{
    if (g->events == g->wanted)
        return;
    struct weft_event ev = *given;
    struct weft_error err;
    g->now_ns += 40 + below(g, 120);
    ev.time_ns = g->now_ns;
    ev.text_size = ev.text ? (uint32_t)strlen(ev.text) : 0;
    if (weft_mirage_writer_append(g->out, &ev, &err) < 0)
        fail(err.text);
    g->events++;
}

#define RECORD(g, KIND, ...) record(g, &(struct weft_event){.kind = WEFT_EVENT_##KIND, __VA_ARGS__})

static uint64_t create(struct generator *g, uint64_t parent, uint8_t type)
{
    RECORD(g, CREATES, .a = parent, .b = g->next_id, .type = type);
    return g->next_id++;
}

static void label(struct generator *g, uint64_t promise, const char *text)
{
    RECORD(g, LABEL, .a = promise, .text = text);
}

static void count(struct generator *g, uint64_t promise, const char *counter, int64_t amount)
{
    RECORD(g, INCREASE, .a = promise, .value = amount, .text = counter);
}

/* ---- Requests ---- */

/* The request begins to wait: for a task, through three binds. */
static void wait_for_task(struct generator *g, struct request *r)
{
    static const char *const tasks[] = {"ring.write", "read body", "query", "lookup", "sleep"};
    static const uint8_t task_types[] = {TASK, TASK, WAIT, CONDITION};
    static const uint8_t bind_types[] = {BIND, TRY, BIND, MAP, BIND};
    r->task = create(g, r->id, task_types[below(g, sizeof task_types)]);
    label(g, r->task, tasks[below(g, sizeof tasks / sizeof *tasks)]);
    uint64_t source = r->task;
    for (int i = 0; i < BINDS; i++) {
        r->bind[i] = create(g, r->id, bind_types[below(g, sizeof bind_types)]);
        if (percent(g, 30))
            RECORD(g, TRY_READ, .a = r->bind[i], .b = source);
        source = r->bind[i];
    }
    /* What the request's function returns: from now on the request is that promise. */
    if (percent(g, 40))
        RECORD(g, BECOMES, .a = r->id, .b = create(g, r->id, BIND));
    else if (percent(g, 30))
        RECORD(g, TRY_READ, .a = r->id, .b = source);
}

static void begin_request(struct generator *g, struct request *r)
{
    char text[64];
    RECORD(g, SWITCH, .a = LISTENER);
    r->id = create(g, LISTENER, TASK);
    snprintf(text, sizeof text, "GET /items/%d", (int)below(g, 5000));
    label(g, r->id, text);
    count(g, LISTENER, "requests", 1);
    wait_for_task(g, r);
}

/* The binds run one after another. */
static void run_binds(struct generator *g, const struct request *r)
{
    uint64_t source = r->task;
    bool failing = percent(g, 1);
    for (int i = 0; i < BINDS; i++) {
        uint64_t bind = r->bind[i];
        RECORD(g, READ, .a = bind, .b = source);
        if (percent(g, 40))
            label(g, bind, "Gntshr.end_access");
        if (percent(g, 40))
            count(g, bind, "gntref", -1);
        if (failing)
            RECORD(g, FAILS, .a = bind, .b = bind, .text = "Connection_refused");
        else
            RECORD(g, FULFILLS, .a = bind, .b = bind);
        source = bind;
    }
}

/* What the request waited for has happened. */
static void wake(struct generator *g, struct request *r)
{
    RECORD(g, SWITCH, .a = LISTENER);
    RECORD(g, FULFILLS, .a = LISTENER, .b = r->task);
    run_binds(g, r);
    RECORD(g, READ, .a = r->id, .b = r->bind[BINDS - 1]);
    label(g, r->id, percent(g, 50) ? "ethif.input" : "parse");
    if (percent(g, 10)) {
        count(g, r->id, "requests", -1);
        RECORD(g, FULFILLS, .a = r->id, .b = r->id);
        begin_request(g, r);
        return;
    }
    RECORD(g, READ, .a = r->id, .b = WEFT_ID_LOOP);
    count(g, r->id, "gntref", 1);
    label(g, r->id, "Gntshr.grant_access");
    RECORD(g, COUNTER, .a = r->id, .value = (int64_t)below(g, 64), .text = "queued");
    wait_for_task(g, r);
}

static void sleep_or_collect(struct generator *g)
{
    if (g->slept < g->sleeps && g->events / (g->wanted / (g->sleeps + 1) + 1) > g->slept) {
        RECORD(g, SWITCH, .a = WEFT_ID_LOOP);
        g->now_ns += SLEEP_NS + below(g, SLEEP_NS);
        g->slept++;
    }
    if (percent(g, 30)) {
        RECORD(g, SWITCH, .a = WEFT_ID_LOOP);
        g->now_ns += below(g, 5000);
    }
    if (below(g, 500) == 0) {
        uint64_t duration = 20000 + below(g, 200000);
        g->now_ns += duration;
        RECORD(g, GC, .value = (int64_t)duration);
    }
}

static void generate(struct generator *g)
{
    create(g, WEFT_ID_LOOP, TASK);
    label(g, LISTENER, "listen");
    for (uint64_t i = 0; i < g->requests; i++)
        begin_request(g, &g->request[i]);
    while (g->events < g->wanted) {
        /* The smaller of two, so that some requests are slow. */
        uint64_t x = below(g, g->requests), y = below(g, g->requests);
        wake(g, &g->request[x < y ? x : y]);
        sleep_or_collect(g);
    }
}

static uint64_t number(const char *text, const char *what)
{
    char *end;
    errno = 0;
    uint64_t n = strtoull(text, &end, 10);
    if (end == text || *end || errno || n == 0 || n > UINT32_MAX)
        fail(what);
    return n;
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 6) {
        fputs("usage: generate-trace EVENTS ALIVE OUT [SEED [SLEEPS]]\n", stderr);
        return 2;
    }
    struct generator g = {
        .wanted = number(argv[1], "EVENTS must be a number from 1 to 4294967295"),
        .requests =
            number(argv[2], "ALIVE must be a number from 1 to 4294967295") / PROMISES_PER_REQUEST +
            1,
        .random = argc > 4 ? number(argv[4], "SEED must be a number from 1 to 4294967295") : 1,
        .sleeps = argc > 5 ? number(argv[5], "SLEEPS must be a number from 1 to 4294967295") : 0,
        .now_ns = 1000000000,
    };
    struct weft_error err;
    FILE *file = fopen(argv[3], "w");
    if (!file)
        fail(strerror(errno));
    g.request = calloc(g.requests, sizeof *g.request);
    if (!g.request || weft_mirage_writer_open(&g.out, file, NULL, &err) < 0)
        fail("out of memory");
    generate(&g);
    free(g.request);
    if (weft_mirage_writer_close(g.out, &err) < 0)
        fail(err.text);
    if (fclose(file) != 0)
        fail(strerror(errno));
    return 0;
}
