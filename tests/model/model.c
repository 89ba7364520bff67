/* SPDX-License-Identifier: ISC */
/* Explores scenes of the real recorder; explore.h says how, memory.h under which rules.
 *
 *     model                  within the limits that stand with each scene, as in `make test`
 *     model --full [NAME]…   one preemption more, until there are too many states: hours
 *     model --brief [NAME]…  until the first that is wrong
 *     model NAME…            these; tells the way to what is wrong */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"
#include "host.h"
#include "litmus.h"
#include <weft/weft.h>

/* What is wrong may show only later: so thread 0 overwrites all packets that there are now. */
static void at_end(void)
{
    const char *bad = judge_file();
    bad = bad ? bad : judge_pool();
    be(0);
    if (!bad)
        fill(fillers());
    bad = bad ? bad : judge_file();
    bad = bad ? bad : judge_end();
    if (bad)
        fail("%s", bad);
}

static void answered(void)
{
    const char *bad = judge_answer();
    if (bad)
        fail("%s", bad);
}

/* ---- Scenes ---- */

/* A packet holds two creations or three fillers, and more than one event only if 40 bytes are left. */

/* Packet 0, with promises 0 and 1, is the next one to be overwritten. */
static void full_ring(void)
{
    begin_recording(3);
    create();
    create();
    be(1);
    fill(1);
    be(0);
    fill(3);
}

/* … and the third thread has one, too. */
static void full_ring_of_three(void)
{
    begin_recording(4);
    create();
    create();
    be(1);
    fill(1);
    be(2);
    fill(1);
    be(0);
    fill(3);
}

static void full_ring_with_fences(void)
{
    full_ring();
    without_membarrier();
}

/* Packets 0 and 1 are the next ones to be overwritten: the second says something of promise 0 of the first. */
static void two_speak(void)
{
    begin_recording(5);
    create();
    create();
    be(1);
    wait_for(0);
    fill(3);
    be(2);
    fill(1);
    be(0);
    fill(3);
    be(1);
    fill(2);
}

/* The same, but the packet with the promise stays. */
static void one_speaks(void)
{
    begin_recording(4);
    fill(1);
    wait_for(create());
    be(2);
    fill(1);
    be(0);
    fill(3);
}

/* Both threads need a packet at once. */
static void two_full(void)
{
    begin_recording(4);
    create();
    create();
    be(1);
    create();
    create();
    be(0);
    fill(3);
    be(1);
    fill(3);
}

/* A packet that one of them lets go is the next one for the other. */
static void few_packets(void)
{
    begin_recording(3);
    create();
    create();
    be(1);
    fill(3);
}

/* Thread 0's first packet says of thread 1's promise, whose packet is full, too. */
static void speaks_of_another(void)
{
    begin_recording(3);
    be(1);
    create();
    fill(1);
    be(0);
    wait_for(0);
    fill(5);
}

/* … of a promise that is newer than that packet. */
static void speaks_of_newer(void)
{
    begin_recording(4);
    fill(1);
    be(1);
    create();
    fill(1);
    be(0);
    wait_for(0);
    fill(7);
}

/* Promise 2 is of another packet than promises 0 and 1. */
static void two_homes(void)
{
    begin_recording(3);
    create();
    create();
    be(1);
    create();
    be(0);
    fill(3);
}

/* Promise 1 is of another packet than promise 0; thread 1's packet has room to end both. No thread makes a fence in another
 * one. */
static void two_homes_with_fences(void)
{
    begin_recording(3);
    create();
    fill(1);
    be(1);
    fill(1);
    be(0);
    create();
    fill(1);
    without_membarrier();
}

/* Thread 1's packet has room for one event. The next ones to be overwritten: promise 0's, then one that says nothing. No
 * thread makes a fence in another one. */
static void room_to_end(void)
{
    begin_recording(4);
    create();
    fill(1);
    be(1);
    fill(2);
    be(0);
    fill(6);
    without_membarrier();
}

/* All cells are in use. The next packets to be overwritten: one that says that promise 17 waits for promise 0, then one with
 * a promise for which promise 17 loses its cell: that is on the roll from then on. alone: no other promise of its packet has
 * a cell. No thread makes a fence in another one. */
static void wait_of_driven_out(bool alone)
{
    begin_recording(4);
    for (unsigned n = 0; n < 24; n++) {
        create();
        if (alone && (n == 16 || n == 17))
            fill(1);
    }
    fill(12);
    be(1);
    wait_by(17, 0);
    fill(1);
    be(0);
    create();
    fill(1);
    be(1);
    fill(3);
    be(0);
    fill(3);
    without_membarrier();
}

static void driven_out(void)
{
    wait_of_driven_out(false);
}

static void driven_out_alone(void)
{
    wait_of_driven_out(true);
}

/* Two threads leave packets that a third one, which has a slot, may take. */
static void two_leave(void)
{
    begin_recording_in(3, 512);
    fill(1);
    be(1);
    fill(1);
    be(2);
    appear();
}

/* Thread 0 leaves a packet that has just spoken of another thread's promise. */
static void leaves_notes(void)
{
    begin_recording_in(4, 512);
    fill(1);
    be(1);
    create();
    be(2);
    appear();
}

/* One thread has left its packet, a second one can take it. */
static void one_leaves(void)
{
    begin_recording_in(3, 512);
    fill(1);
}

/* So many packets that two are retired at once. */
static void many_packets(void)
{
    begin_recording(34);
    be(1);
    fill(1);
    be(0);
    create();
    fill(32 * 3 + 1);
}

/* All cells are in use, and the next packet has two promises more. */
static void full_table(void)
{
    begin_recording(3);
    for (int i = 0; i < 26; i++)
        create();
    be(1);
    fill(1);
    be(0);
    fill(3);
}

/* Promise 0 has become promise 1, and both are about to be overwritten. */
static void became(void)
{
    begin_recording(3);
    create();
    create();
    be(1);
    become(0, 1);
    fill(1);
    be(0);
    fill(3);
}

/* Promise 0 has become promise 1. Two packets that say that somebody waits for it, and that it has, are the next ones to be
 * overwritten; the one with the promises stays. No thread makes a fence in another one. */
static void linked(void)
{
    begin_recording(5);
    create();
    create();
    be(2);
    wait_for(0);
    fill(3);
    be(1);
    become(0, 1);
    fill(2);
    be(2);
    fill(2);
    be(1);
    fill(2);
    without_membarrier();
}

/* Promise 0 has a cell, because it should resolve. The packet in which it becomes promise 1 is the next one to be
 * overwritten, then the one that says that somebody waits for it; the one with the promises stays. */
static void linked_in_cell(void)
{
    begin_recording(5);
    be(2);
    create();
    create();
    be(0);
    should_resolve(0);
    fill(2);
    be(1);
    become(0, 1);
    fill(1);
    be(0);
    fill(6);
    wait_for(0);
    fill(2);
    be(1);
    fill(3);
    be(0);
    fill(3);
}

/* The packet in which promise 0 becomes promise 1 is the next one to be overwritten, then the one with the promises. No
 * thread makes a fence in another one. */
static void linked_then_promise(void)
{
    begin_recording(4);
    be(1);
    create();
    create();
    be(0);
    become(0, 1);
    fill(4);
    be(1);
    fill(3);
    without_membarrier();
}

/* The packet that says that somebody waits for promise 0 is the next one to be overwritten, then the promise's. No thread
 * makes a fence in another one. */
static void speaks_then_promise(void)
{
    begin_recording(4);
    be(1);
    create();
    fill(1);
    be(0);
    wait_for(0);
    fill(5);
    be(1);
    fill(2);
    without_membarrier();
}

static void one_became(void)
{
    begin_recording(4);
    create();
    create();
    become(0, 1);
    be(1);
    fill(1);
    be(0);
    fill(3);
    fill(3);
}

/* With numbers of the program's own. */
static void own_numbers(void)
{
    begin_recording(3);
    create_own(1000);
    be(1);
    fill(1);
    be(0);
    fill(4);
}

/* All cells are in use, by promises that somebody waits for. Of one more promise, two packets are about to be overwritten:
 * first the one with its creation, or first the one that says that it is marked. */
static void own_and_marked(bool creation_first)
{
    begin_recording(4);
    for (unsigned i = 0; i < 25; i++) {
        create_own(1000 + i);
        if (i < 24)
            wait_for(i);
    }
    be(1);
    should_resolve(24);
    fill(creation_first ? 2 : 3);
    be(0);
    fill(4);
    be(1);
    fill(creation_first ? 3 : 2);
}

static void own_created_and_marked(void)
{
    own_and_marked(true);
}

static void own_marked_and_created(void)
{
    own_and_marked(false);
}

static void fill_one(void)
{
    fill(1);
}

static void fill_four(void)
{
    fill(4);
}

static void end_0(void)
{
    end(0);
}

static void end_0_and_fill(void)
{
    end(0);
    fill(6);
}

static void end_1(void)
{
    end(1);
}

static void end_both(void)
{
    end(0);
    end(1);
}

static void end_of_two_homes(void)
{
    end(0);
    end(2);
}

static void nothing(void)
{
}

static void end_0_then_fill(void)
{
    end(0);
    fill(1);
}

static void create_and_become(void)
{
    become(create(), 1);
}

static void wait_0(void)
{
    wait_for(0);
}

static void become_0(void)
{
    become(0, 1);
}

static void own_one(void)
{
    create_own(1000);
}

static void read_once(void)
{
    read_file();
}

static void just_begin(void)
{
    begin_recording(3);
    fill(1);
    be(1);
    fill(1);
}

static void pauses(void)
{
    pause_recording();
}

static void just_paused(void)
{
    just_begin();
    pause_recording();
}

static void stands_by(void)
{
    weft_standby(1);
}

static void standing_by(void)
{
    const char *bad = judge_standby();
    if (bad)
        fail("%s", bad);
}

static void unpauses(void)
{
    go_on_recording();
}

static void stops(void)
{
    stop_recording();
    truth.silent = true;
}

static void stops_too(void)
{
    weft_stop();
}

static void starts_again(void)
{
    stop_recording();
    start_recording();
}

static void asks_off(void)
{
    ask(2);
}

static void asks_off_and_on(void)
{
    ask(2);
    ask(1);
}

static const struct scene scenes[] = {
    {"ended", full_ring, {fill_one, end_0}, at_end, 2, 1, 0},
    {"both ended", full_ring, {fill_one, end_both}, at_end, 2, 0, 0},
    {"ended with fences", full_ring_with_fences, {fill_one, end_0}, at_end, 2, 1, 0},
    {"ended by two", full_ring_of_three, {fill_one, end_0, end_1}, at_end, 1, 1, 0},
    {"waited for", full_ring, {fill_one, wait_0}, at_end, 2, 1, 0},
    {"left", one_leaves, {fill_one, fill_one, fill_one}, at_end, 1, 1, LEAVE},
    {"becomes", full_ring, {fill_one, become_0}, at_end, 2, 1, 0},
    {"one became", one_became, {fill_four, end_1}, at_end, 2, 0, 0},
    {"own numbers", own_numbers, {fill_one, end_0}, at_end, 2, 1, 0},
    {"own, marked", own_created_and_marked, {fill_one, fill_one}, at_end, 1, 0, 0},
    {"own, marked before", own_marked_and_created, {fill_one, fill_one}, at_end, 1, 0, 0},
    {"own numbers begin", few_packets, {own_one, fill_one}, at_end, 2, 1, 0},
    {"speaks of another's", speaks_of_another, {fill_one, fill_one}, at_end, 1, 1, 0},
    {"speaks of a newer", speaks_of_newer, {fill_one, fill_one}, at_end, 1, 1, 0},
    {"ended, then another", two_homes, {fill_one, end_of_two_homes}, at_end, 1, 1, 0},
    {"both ended, in turn", two_homes_with_fences, {fill_one, end_both}, at_end, 2, 1, NO_KILL},
    {"ended, then claims", room_to_end, {fill_one, end_0_then_fill}, at_end, 2, 1, NO_KILL},
    {"driven out", driven_out, {fill_one, fill_one}, at_end, 1, 2, NO_KILL | FIRST},
    {"driven out, alone", driven_out_alone, {fill_one, fill_one}, at_end, 1, 2, NO_KILL | FIRST},
    {"two leave", two_leave, {nothing, nothing, fill_one}, at_end, 2, 1, LEAVE},
    {"left, with notes", leaves_notes, {wait_0, nothing, fill_one}, at_end, 2, 1, LEAVE},
    {"read, left", two_leave, {nothing, read_once, fill_one}, at_end, 2, 1, LEAVE | NO_KILL},
    {"read meanwhile", full_ring, {fill_one, end_0, read_once}, at_end, 1, 1, NO_KILL},
    {"read, overwritten", full_ring, {fill_one, read_once}, at_end, 2, 1, NO_KILL},
    {"paused", just_begin, {fill_one, pauses}, at_end, 2, 1, 0},
    {"stopped", just_begin, {fill_one, stops}, NULL, 2, 1, NO_KILL | LEAVE},
    {"stopped by both", just_begin, {stops, stops_too}, NULL, 2, 1, NO_KILL},
    {"stopped, paused", just_begin, {stops, pauses}, NULL, 2, 1, NO_KILL},
    {"stopped, unpaused", just_paused, {stops, unpauses}, NULL, 2, 1, NO_KILL},
    {"started again", just_begin, {starts_again, fill_one}, NULL, 2, 1, NO_KILL | LEAVE},
    {"handed on", few_packets, {fill_one, fill_one}, at_end, 1, 1, 0},
    {"handed on, waited for", few_packets, {wait_0, fill_one}, at_end, 1, 1, 0},
    {"two need packets", two_full, {fill_one, fill_one}, at_end, 1, 0, 0},
    {"two speak", two_speak, {fill_one, fill_one}, at_end, 1, 0, 0},
    {"one speaks, ended", one_speaks, {fill_four, end_0}, at_end, 1, 0, 0},
    {"ended, overwritten", full_ring, {fill_one, end_0_and_fill}, at_end, 1, 0, 0},
    {"threads end", two_full, {fill_one, fill_one}, at_end, 1, 0, LEAVE},
    {"in stock", many_packets, {fill_four, fill_four}, at_end, 1, 0, LEAVE},
    {"ended without room", full_ring, {fill_one, end_0, end_1}, at_end, 1, 0, 0},
    {"became", became, {fill_one, end_1}, at_end, 1, 0, 0},
    {"linked, waited for", linked, {nothing, fill_one, fill_one}, at_end, 1, 2, 0},
    {"linked in a cell", linked_in_cell, {fill_one, fill_one}, at_end, 1, 2, NO_KILL},
    {"linked, then another",
     linked_then_promise,
     {fill_one, create_and_become},
     at_end,
     1,
     1,
     NO_KILL},
    {"speaks, then ended", speaks_then_promise, {fill_one, end_0_then_fill}, at_end, 1, 2, NO_KILL},
    {"asked", just_begin, {fill_four, fill_four, asks_off}, answered, 1, 0, FOREIGN},
    {"asked twice", just_begin, {fill_four, fill_four, asks_off_and_on}, answered, 1, 0, FOREIGN},
    {"paused, asked", just_begin, {pauses, fill_four, asks_off}, answered, 1, 1, FOREIGN},
    {"paused, stands by", just_begin, {pauses, stands_by}, standing_by, 2, 1, NO_KILL},
    {"two speak, ended", two_speak, {fill_one, fill_one, end_0}, at_end, 1, 0, 0},
    {"table is full", full_table, {fill_one, end_0}, at_end, 1, 0, 0},
};

/* full: one preemption more. */
static bool run(const struct scene *scene, bool full, bool tell)
{
    struct scene s = *scene;
    s.preemptions = (uint8_t)(s.preemptions + full);
    const struct explored r = explore(&s, tell);
    printf("%-20s %u preemptions, %u stale %9" PRIu64 " ways %9" PRIu64 " states %5.1f s  %s\n",
           s.name, s.preemptions, s.stale, r.runs, r.states, r.seconds,
           r.wrong ? r.wrong
           : r.all ? "all is as it must be"
                   : "nothing is wrong, but that was not all");
    fflush(stdout);
    return !r.wrong && (r.all || full);
}

/* The memory is what memory.h says. */
static bool run_litmus(const struct litmus *l)
{
    const struct explored r = explore(&l->scene, false);
    const bool ok = (r.wrong != NULL) == l->may;
    if (!ok)
        printf("%s: %s\n", l->scene.name,
               r.wrong ? r.wrong : "not everything that may happen was found");
    return ok;
}

static bool is_named(const struct scene *s, int names, char **name)
{
    bool named = !names;
    for (int i = 0; i < names; i++)
        named |= strcmp(name[i], s->name) == 0;
    return named;
}

int main(int argc, char **argv)
{
    const bool full = argc > 1 && strcmp(argv[1], "--full") == 0,
               brief = argc > 1 && strcmp(argv[1], "--brief") == 0;
    const int skip = 1 + (full || brief);
    bool ok = true;
    for (unsigned n = 0; n < litmus_count; n++)
        ok &= run_litmus(&litmus[n]);
    for (size_t n = 0; n < sizeof scenes / sizeof *scenes && (ok || !brief); n++)
        if (is_named(&scenes[n], argc - skip, argv + skip))
            ok &= run(&scenes[n], full, argc > 1 && !full && !brief);
    fflush(stdout);
    _Exit(!ok); /* no destructor of the recorder: what it recorded to is not there as it thinks */
}
