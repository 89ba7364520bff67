/* SPDX-License-Identifier: ISC */
/* plain MODE good|bad: no event loop at all; the program just says what happens, one thing after another. Some
 * say when they sleep, most do not. */
#include <signal.h>

#include "faults.h"

static weft_promise marked(const char *type, const char *label)
{
    weft_promise p = weft_create(type, label);
    weft_should_resolve(p);
    return p;
}

static void go_on_and_end(weft_promise p, weft_promise cause)
{
    weft_wake(p, cause);
    weft_fulfill(p);
    weft_run(WEFT_LOOP);
}

/* Three modules wait for each other; nothing runs, and nothing is marked. */
static void circle(void)
{
    weft_promise auth = weft_create("module", "auth"), db = weft_create("module", "db"),
                 log = weft_create("module", "log");
    weft_wait_by(auth, db);
    weft_wait_by(db, log);
    if (bad) {
        weft_wait_by(log, auth);
        nap(150);
        return;
    }
    nap(20);
    weft_resolve_by(log, log, WEFT_BY_VALUE, NULL);
    weft_read(db, log);
    weft_resolve_by(db, db, WEFT_BY_VALUE, NULL);
    weft_read(auth, db);
    weft_resolve_by(auth, auth, WEFT_BY_VALUE, NULL);
}

/* A query is answered, but who waits for it is not called. */
static void unheard(void)
{
    weft_promise request = marked("request", "GET /"), query = weft_create("query", "SELECT");
    weft_run(request);
    weft_wait(query);
    weft_run(WEFT_LOOP);
    sleep_told(20);
    weft_fulfill(query);
    if (!bad)
        go_on_and_end(request, query);
    for (int i = 0; i < 5; i++)
        sleep_told(30);
}

/* Notified, and only then waited for. */
static void notified(void)
{
    weft_promise ready = weft_create("condition", "data ready"),
                 reader = marked("reader", "reader"), writer = weft_create("writer", "writer");
    nap(10);
    if (bad)
        weft_notify_by(writer, ready);
    weft_wait_by(reader, ready);
    nap(10);
    if (!bad) {
        weft_notify_by(writer, ready);
        weft_signal(reader, ready);
        weft_fulfill(reader);
        weft_run(WEFT_LOOP);
    }
    nap(150);
    weft_resolve_by(writer, writer, WEFT_BY_VALUE, NULL);
}

/* One of ten handlers returns without an answer. */
static void no_answer(void)
{
    for (int i = 0; i < 10; i++) {
        weft_promise request = marked("request", i == 6 ? "GET /missing" : "GET /");
        weft_run(request);
        work(0.1);
        if (!bad || i != 6)
            weft_fulfill(request);
        weft_run(WEFT_LOOP);
        sleep_told(15);
    }
}

/* One request calls what blocks; a heartbeat is late. */
static void blocking(void)
{
    weft_promise heart = weft_create("task", "heartbeat");
    weft_background(heart);
    for (int i = 0; i < 12; i++) {
        weft_run(heart);
        weft_promise beat = weft_create("timer", "10 ms");
        weft_wait(beat);
        weft_run(WEFT_LOOP);
        if (i == 5) {
            weft_promise request = weft_create("request", "GET /proxy");
            weft_run(request);
            nap(bad ? 120 : 1);
            weft_fulfill(request);
            weft_run(WEFT_LOOP);
        } else {
            sleep_told(10);
        }
        weft_fulfill(beat);
        weft_wake(heart, beat);
        weft_run(WEFT_LOOP);
    }
}

/* Something never comes back, and the program is killed. */
static void endless(void)
{
    weft_promise other = weft_create("request", "GET /"), query = weft_create("query", "SELECT");
    weft_run(other);
    weft_wait(query);
    weft_run(weft_create("request", "POST /parse"));
    if (bad) {
        work(1100);
        raise(SIGKILL);
    }
    weft_fulfill(query);
    go_on_and_end(other, query);
}

/* Requests end, but not what limits their time. */
static void limits(void)
{
    for (int i = 0; i < 150; i++) {
        weft_promise request = weft_create("request", text("GET /%d", i));
        weft_run(request);
        weft_promise limit = weft_create("timer", "request timeout");
        weft_promise query = weft_create("query", "lookup");
        weft_wait(query);
        weft_run(WEFT_LOOP);
        nap(0.3);
        weft_fulfill(query);
        weft_wake(request, query);
        if (!bad)
            weft_cancel(limit);
        weft_fulfill(request);
        weft_run(WEFT_LOOP);
    }
}

/* Six queries that could be under way together, one after another. */
static void dashboard(void)
{
    weft_promise request = marked("request", "GET /dashboard"), queries[6];
    int n = bad ? 1 : 6; /* at a time */
    weft_run(request);
    for (int i = 0; i < 6; i += n) {
        for (int k = i; k < i + n; k++) {
            queries[k] = weft_create("query", text("SELECT widget %d", k));
            weft_wait(queries[k]);
        }
        weft_run(WEFT_LOOP);
        sleep_told(8);
        for (int k = i; k < i + n; k++)
            weft_fulfill(queries[k]);
        for (int k = i; k < i + n; k++)
            weft_wake(request, queries[k]);
    }
    weft_fulfill(request);
    weft_run(WEFT_LOOP);
}

/* All await the same promise; one gets the lock, the others await the next. */
static void rounds(void)
{
    weft_promise writers[12], released[12];
    for (int i = 0; i < 12; i++) {
        writers[i] = weft_create("task", "writer");
        if (i == 0 || !bad)
            released[i] = weft_create("promise", "lock released");
        weft_wait_by(writers[i], released[bad ? 0 : i]);
    }
    for (int i = 0; i < 12; i++) {
        sleep_told(3);
        weft_fulfill(released[i]);
        if (bad && i < 11)
            released[i + 1] = weft_create("promise", "lock released");
        for (int k = i; k < (bad ? 12 : i + 1); k++) {
            weft_wake(writers[k], released[i]);
            if (k == i)
                weft_fulfill(writers[k]);
            else
                weft_wait(released[i + 1]);
            weft_run(WEFT_LOOP);
        }
    }
}

/* What hangs began long before the oldest event that is still in the trace. */
static void wrapped(void)
{
    weft_promise main_ = marked("task", "main");
    weft_run(main_);
    weft_promise dns = weft_create("promise", "dns reply");
    weft_wait(dns);
    weft_run(WEFT_LOOP);
    for (int i = 0; i < 30000; i++) {
        weft_promise request = weft_create("request", text("req %d", i));
        weft_run(request);
        weft_promise query = weft_create("query", "get");
        weft_wait(query);
        weft_run(WEFT_LOOP);
        weft_fulfill(query);
        go_on_and_end(request, query);
    }
    nap(200);
    if (!bad) {
        weft_fulfill(dns);
        go_on_and_end(main_, dns);
    }
}

int main(int argc, char **argv)
{
    static const struct mode modes[] = {{"circle", circle},     {"unheard", unheard},
                                        {"notified", notified}, {"no_answer", no_answer},
                                        {"blocking", blocking}, {"endless", endless},
                                        {"limits", limits},     {"dashboard", dashboard},
                                        {"rounds", rounds},     {"wrapped", wrapped}};
    return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
