/* SPDX-License-Identifier: ISC */
/* io MODE good|bad: callbacks on an event loop with real sockets and timers. */
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "faults.h"

static int ends[2];
static weft_promise reader, reading;

static void wait_read(const char *label)
{
    reading = weft_create("read", label);
    weft_wait(reading);
}

static void begin_reading(const char *type, const char *name, const char *label, callback *on_input)
{
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    reader = weft_create(type, name);
    weft_run(reader);
    wait_read(label);
    weft_run(WEFT_LOOP);
    watch(ends[0], POLLIN, on_input, NULL);
}

static int sent, received;

/* Much comes at once, and is read piece by piece. Then the other side hangs up: the socket is readable for ever, and the callback does not close it. */
static double hung_up_ms;

static void on_log(void *argument)
{
    char c;
    ssize_t n = read(ends[0], &c, 1);
    (void)argument;
    weft_fulfill(reading);
    weft_wake(reader, reading);
    if (n == 0 && (!bad || now_ms() > hung_up_ms + 50)) {
        unwatch(ends[0]);
        weft_fulfill(reader);
    } else {
        wait_read("log shipper readable");
    }
    weft_run(WEFT_LOOP);
}

static void write_log(void *argument)
{
    static const char lines[3000];
    must(write(ends[1], lines, sizeof lines) == sizeof lines);
    if (++sent < 3) {
        after(8, write_log, argument);
    } else {
        close(ends[1]);
        hung_up_ms = now_ms();
    }
}

static void hung_up_mode(void)
{
    loop_silent = true;
    begin_reading("task", "log shipper", "log shipper readable", on_log);
    after(8, write_log, NULL);
    loop_run(300);
}

/* Every fifth request renders something for 30 ms; others are there by then, but not read yet. */
static double render_ms;

static void on_request(void *argument)
{
    char c;
    (void)argument;
    must(read(ends[0], &c, 1) == 1);
    weft_fulfill(reading);
    weft_wake(reader, reading);
    weft_promise request = weft_create("request", text("GET /%d", received));
    weft_should_resolve(request);
    weft_run(request);
    weft_promise render = weft_create("render", "render template");
    weft_run(render);
    work(received % 5 == 4 ? render_ms : 0.4);
    weft_fulfill(render);
    weft_wake(request, render);
    weft_fulfill(request);
    weft_run(reader);
    if (++received < 30)
        wait_read("next request");
    else
        unwatch(ends[0]);
    weft_run(WEFT_LOOP);
}

static void *client(void *argument)
{
    for (int i = 0; i < 30; i++) {
        must(write(ends[1], "g", 1) == 1);
        nap(6);
    }
    return argument;
}

static void serve(void)
{
    pthread_t thread;
    begin_reading("connection", "127.0.0.1", "next request", on_request);
    weft_background(reader);
    must(pthread_create(&thread, NULL, client, NULL) == 0);
    loop_run(1000);
    pthread_join(thread, NULL);
}

static void render_mode(void)
{
    render_ms = bad ? 30 : 0.4;
    serve();
}

/* All rows of an import come in one turn of the loop; who writes to us waits until it is over. */
static weft_promise rows[40];
static int n_rows;

static void import_row(void *argument)
{
    weft_run(rows[n_rows]);
    work(2);
    weft_fulfill(rows[n_rows]);
    weft_run(WEFT_LOOP);
    if (++n_rows < 40 && !bad)
        after(1, import_row, argument);
}

static void import(void *argument)
{
    weft_run(*(weft_promise *)argument);
    for (int i = 0; i < 40; i++) {
        rows[i] = weft_create("row", text("row %d", i));
        if (i == 0 || bad)
            post(import_row, NULL);
    }
    weft_fulfill(*(weft_promise *)argument);
    weft_run(WEFT_LOOP);
}

static void import_mode(void)
{
    weft_promise importing = weft_create("job", "import");
    after(20, import, &importing);
    serve();
}

int main(int argc, char **argv)
{
    static const struct mode modes[] = {
        {"hung_up", hung_up_mode},
        {"render", render_mode},
        {"import", import_mode},
    };
    return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
