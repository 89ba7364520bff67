/* SPDX-License-Identifier: ISC */
/* Makes the trace of a small HTTP server that never was, for `make demo`:
 *
 *     http-server OUT
 *
 * Six requests share one connection to a database. Five go as they should, or fail as they should. The
 * sixth hangs: it first waits until its data is on the disk, and only then begins to wait for a free
 * buffer; the news that one is free came in between, when nobody was waiting, and is lost.
 *
 * Time is made up, too: 14 ms in all. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "write/mirage.h"

enum { WAIT = 0, TASK = 1, BIND = 2, CONDITION = 8 };

#define LOOP WEFT_ID_LOOP

static struct weft_mirage_writer *out;
static uint64_t now_ns = 1000000000, next_id;
static uint64_t mainloop, server, connection; /* promises */
static int64_t open_connections;

_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "http-server: %s\n", what);
    exit(1);
}

/* ---- Recording ---- */

static void record(struct weft_event ev)
{
    struct weft_error err;
    now_ns += 4000;
    ev.time_ns = now_ns;
    ev.text_size = ev.text ? (uint32_t)strlen(ev.text) : 0;
    if (weft_mirage_writer_append(out, &ev, &err) < 0)
        fail(err.text);
}

#define RECORD(KIND, ...) record((struct weft_event){.kind = WEFT_EVENT_##KIND, __VA_ARGS__})

static uint64_t create(uint64_t parent, uint8_t type, const char *label)
{
    uint64_t p = next_id++;
    RECORD(CREATES, .a = parent, .b = p, .type = type);
    if (label)
        RECORD(LABEL, .a = p, .text = label);
    return p;
}

static void count(uint64_t promise, const char *counter, int64_t value)
{
    RECORD(COUNTER, .a = promise, .value = value, .text = counter);
}

/* reader begins to wait for something new; the main loop goes on. */
static uint64_t wait_for(uint64_t reader, uint8_t type, const char *label)
{
    uint64_t p = create(reader, type, label);
    RECORD(TRY_READ, .a = reader, .b = p);
    RECORD(SWITCH, .a = mainloop);
    return p;
}

/* p is there, reader runs. */
static void wake(uint64_t reader, uint64_t p)
{
    RECORD(SWITCH, .a = mainloop);
    RECORD(FULFILLS, .a = mainloop, .b = p);
    RECORD(READ, .a = reader, .b = p);
}

static void work(uint64_t us)
{
    now_ns += us * 1000;
}

static void sleep_for(uint64_t us)
{
    RECORD(SWITCH, .a = mainloop);
    RECORD(SWITCH, .a = LOOP);
    work(us);
}

static void collect_garbage(uint64_t us)
{
    work(us);
    RECORD(GC, .value = (int64_t)us * 1000);
}

/* ---- The server ---- */

struct request {
    uint64_t id, waits_for;
};

/* A connection comes in: the server creates a request, which begins to read what is asked for. */
static struct request accept_request(const char *label)
{
    struct request r;
    wake(server, connection);
    count(server, "connections", ++open_connections);
    r.id = create(server, TASK, label);
    work(30);
    r.waits_for = wait_for(r.id, WAIT, "read request");
    connection = wait_for(server, WAIT, "accept");
    return r;
}

/* What the request waited for is there: it works, then waits for the next thing. */
static void next_step(struct request *r, uint64_t us, const char *label)
{
    wake(r->id, r->waits_for);
    work(us);
    r->waits_for = wait_for(r->id, TASK, label);
}

/* The request becomes the promise that the answer is written. */
static void answer(struct request *r)
{
    wake(r->id, r->waits_for);
    work(60);
    uint64_t written = create(r->id, TASK, "write answer");
    uint64_t done = create(r->id, BIND, NULL);
    RECORD(TRY_READ, .a = done, .b = written);
    RECORD(BECOMES, .a = r->id, .b = done);
    RECORD(SWITCH, .a = mainloop);
    *r = (struct request){.id = done, .waits_for = written};
}

static void finish(struct request *r)
{
    wake(r->id, r->waits_for);
    work(20);
    RECORD(FULFILLS, .a = r->id, .b = r->id);
    count(r->id, "connections", --open_connections);
    RECORD(SWITCH, .a = mainloop);
}

/* ---- What happens ---- */

static void serve(void)
{
    mainloop = create(LOOP, TASK, "main");
    RECORD(SWITCH, .a = mainloop);
    server = create(mainloop, TASK, "listen on port 8080");
    connection = wait_for(server, WAIT, "accept");
    uint64_t buffer = create(server, CONDITION, "a buffer is free");
    sleep_for(900);

    struct request index = accept_request("GET /index.html");
    sleep_for(300);
    next_step(&index, 80, "open index.html");
    sleep_for(500);

    struct request report = accept_request("GET /report");
    sleep_for(200);
    next_step(&report, 150, "query: all orders");
    count(report.id, "queries", 1);
    sleep_for(150);

    answer(&index);
    sleep_for(400);
    finish(&index);
    sleep_for(200);

    /* The database has one connection: this request waits until the report lets go of it. */
    struct request user = accept_request("GET /users/7");
    sleep_for(250);
    wake(user.id, user.waits_for);
    uint64_t database = wait_for(user.id, CONDITION, "the database is free");
    sleep_for(600);

    struct request upload = accept_request("POST /upload");
    RECORD(LABEL, .a = upload.id, .text = "__should_resolve");
    sleep_for(350);
    next_step(&upload, 120, "write to disk");
    collect_garbage(700);
    sleep_for(800);

    /* The report fails, and the next in the queue goes on. */
    RECORD(SWITCH, .a = mainloop);
    RECORD(FAILS, .a = mainloop, .b = report.waits_for, .text = "Timeout");
    RECORD(READ, .a = report.id, .b = report.waits_for);
    work(90);
    count(report.id, "queries", 0);
    count(report.id, "connections", --open_connections);
    RECORD(FAILS, .a = report.id, .b = report.id, .text = "Timeout: query: all orders");
    RECORD(FULFILLS, .a = report.id, .b = database);
    RECORD(SIGNAL, .a = user.id, .b = report.id);
    count(user.id, "queries", 1);
    user.waits_for = wait_for(user.id, TASK, "query: user 7");

    /* A buffer is free, but nobody waits for one yet. */
    RECORD(LABEL, .a = buffer, .text = "signalled: nobody waits");
    sleep_for(500);

    wake(upload.id, upload.waits_for);
    work(100);
    RECORD(LABEL, .a = upload.id, .text = "wait for a buffer");
    RECORD(TRY_READ, .a = upload.id, .b = buffer); /* for ever */
    sleep_for(700);

    struct request health = accept_request("GET /health");
    sleep_for(200);
    answer(&health);
    answer(&user);
    count(user.id, "queries", 0);
    sleep_for(450);
    finish(&health);
    finish(&user);
    sleep_for(1200);

    struct request icon = accept_request("GET /favicon.ico");
    sleep_for(250);
    next_step(&icon, 40, "open favicon.ico");
    sleep_for(300);
    answer(&icon);
    sleep_for(350);
    finish(&icon);
    sleep_for(2500);
    RECORD(SWITCH, .a = mainloop);
}

int main(int argc, char **argv)
{
    struct weft_error err;
    if (argc != 2) {
        fputs("usage: http-server OUT\n", stderr);
        return 2;
    }
    FILE *file = fopen(argv[1], "w");
    if (!file)
        fail(strerror(errno));
    if (weft_mirage_writer_open(&out, file, NULL, &err) < 0)
        fail(err.text);
    serve();
    if (weft_mirage_writer_close(out, &err) < 0)
        fail(err.text);
    if (fclose(file) != 0)
        fail(strerror(errno));
    return 0;
}
