/* SPDX-License-Identifier: ISC */
/* arp_race good|bad|fixed [good|bad]: a TCP connection that hangs now and then, and why.
 *
 * Before a TCP connection can be opened, ARP must find the peer's hardware address. Our ARP puts a
 * condition into its cache, sends the query, waits until the query has been transmitted, and then
 * waits for the condition. The network driver reports "transmitted" and "response received",
 *
 *     good    in this order, and the connection opens;
 *     bad     in the other order: the condition is notified while nobody waits for it, the wait begins
 *             afterwards and lasts for ever (here, until the program's patience is over);
 *     fixed   with a promise instead of the condition. A promise remembers that it was fulfilled, so
 *             either order will do. Without a second argument, one is tried after the other.
 *
 *     weft record -o bad.weft -- arp_race bad; weft render -o bad.png bad.weft
 *
 * All of it runs on one thread, in callbacks. loop.c says who waits for what; here we say what the
 * promises are. Without weft's calls the program does the same. */
#include <stdio.h>
#include <string.h>

#include <weft/weft.h>

#include "loop.h"

#define TRANSMIT_NS (20 * MS) /* a slow link, so that there is something to see */
#define ANSWER_NS (40 * MS)
#define TICK_NS (55 * MS)
#define PATIENCE_NS (200 * MS)

static const char *orders; /* what the command line chose: those to be tried, 'g' or 'b' */
static bool fixed;
static bool response_first; /* of the order that is tried now */

static weft_promise driver, timer;              /* tasks that never end */
static struct promise program, connecting, arp; /* tasks that do */

static struct promise query_written, syn_written; /* the device has transmitted the packet */
static struct condition response;                 /* ARP's cache: the address is known */
static struct promise response_promise;           /* the same, fixed */
static struct promise syn_ack, tick;

static struct weft_counter sent = WEFT_COUNTER("packets sent");
static struct weft_counter received = WEFT_COUNTER("packets received");

/* ---- The network driver ---- */

/* Gives a packet to the device, which will report that it is out, and that the answer to it is in. */
static void send_packet(callback *transmitted, callback *answered, bool answer_first)
{
    loop_after(answer_first ? ANSWER_NS : TRANSMIT_NS, driver, transmitted);
    loop_after(answer_first ? TRANSMIT_NS : ANSWER_NS, driver, answered);
}

static void query_transmitted(void)
{
    weft_counter_add(&sent, 1);
    promise_fulfill(&query_written);
}

static void response_received(void)
{
    weft_counter_add(&received, 1);
    if (fixed)
        promise_fulfill(&response_promise);
    else
        condition_notify(&response);
}

static void syn_transmitted(void)
{
    weft_counter_add(&sent, 1);
    promise_fulfill(&syn_written);
}

static void syn_ack_received(void)
{
    weft_counter_add(&received, 1);
    promise_fulfill(&syn_ack);
}

/* ---- ARP ---- */

static void arp_done(void)
{
    promise_fulfill(&arp);
}

static void arp_wait(void)
{
    weft_label(arp.id, "wait for response"); /* what it does from now on, above its line */
    if (fixed)
        promise_await(&response_promise, arp_done);
    else
        condition_wait(&response, arp_done); /* the bug: it may have been notified before */
}

static void arp_query(void)
{
    /* Creates: by what runs, so that its line hangs below that one's. The first text is the type. */
    if (fixed)
        response_promise = promise_new(weft_create("promise", "ARP response"));
    else
        response = condition_new(weft_create("condition", "ARP response"));
    query_written = promise_new(weft_create("promise", "ring.write"));
    send_packet(query_transmitted, response_received, response_first);
    promise_await(&query_written, arp_wait);
}

/* ---- TCP ---- */

static void connect_done(void)
{
    promise_fulfill(&connecting);
}

static void connect_wait(void)
{
    promise_await(&syn_ack, connect_done);
}

static void connect_send(void)
{
    weft_label(connecting.id, "send SYN");
    syn_ack = promise_new(weft_create("promise", "SYN-ACK"));
    syn_written = promise_new(weft_create("promise", "ring.write"));
    send_packet(syn_transmitted, syn_ack_received, false);
    promise_await(&syn_written, connect_wait);
}

static void connect_start(void)
{
    arp = promise_new(weft_create("task", "ARP query"));
    weft_should_resolve(arp.id);
    loop_start(arp.id, arp_query);
    promise_await(&arp, connect_send);
}

/* ---- The program ---- */

static void connect_next(void);

static const char *order_name(void)
{
    return response_first ? "response, sent" : "sent, response";
}

static void connected(void)
{
    printf("%s: TCP connect finished\n", order_name());
    connect_next();
}

static void connect_next(void)
{
    if (!*orders) {
        promise_fulfill(&program);
        return;
    }
    response_first = *orders++ == 'b';
    connecting = promise_new(weft_create("task", "TCP connect"));
    weft_should_resolve(connecting.id);
    loop_start(connecting.id, connect_start);
    promise_await(&connecting, connected);
}

static void time_passed(void)
{
    promise_fulfill(&tick);
}

/* Has nothing to do with the connection, and shows that the loop is alive. */
static void beat(void)
{
    tick = promise_new(weft_create("promise", "sleep"));
    loop_after(TICK_NS, WEFT_LOOP, time_passed);
    promise_await(&tick, beat);
}

static void start_heartbeat(void)
{
    timer = weft_create("task", "heartbeat");
    weft_background(timer); /* meant to be pending for long: that it is says nothing */
    loop_start(timer, beat);
}

static void program_start(void)
{
    driver = weft_create("task", "network driver");
    weft_background(driver);
    loop_after(MS, WEFT_LOOP, start_heartbeat); /* later: its line stands below the others */
    connect_next();
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "", *order = argc > 2 ? argv[2] : how;
    fixed = strcmp(how, "fixed") == 0;
    if (strcmp(order, "good") == 0)
        orders = "g";
    else if (strcmp(order, "bad") == 0)
        orders = "b";
    else if (fixed && argc == 2)
        orders = "gb";
    if (!orders || argc > (fixed ? 3 : 2)) {
        fprintf(stderr, "usage: %s good|bad|fixed [good|bad]\n", argv[0]);
        return 2;
    }
    program = promise_new(weft_create("task", "main"));
    weft_should_resolve(program.id); /* if it never does: red, up to the right edge */
    loop_start(program.id, program_start);
    loop_run(&program, PATIENCE_NS);
    if (!program.fulfilled)
        printf("%s: TCP connect did not finish\n", order_name());
    return program.fulfilled ? 0 : 1;
}
