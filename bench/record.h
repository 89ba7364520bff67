/* SPDX-License-Identifier: ISC */
/* What record.c and the recorders that it measures say to each other.
 *
 * record.c is compiled once for each recorder, with -DRECORDER="recorders/NAME.h", so that every recorder is
 * called as its users call it. That header defines
 *
 *     struct recorder                     what a thread has of it
 *     recorder_start, recorder_stop       once, before and after the threads
 *     recorder_enter, recorder_leave      in each thread
 *
 * and the calls that the workloads make, each of which records one event:
 *
 *     CREATE(r, type, label)   type is a bare word of enum types, label a literal or NULL
 *     LABEL(r, p, text)        text is a literal
 *     RUN, WAIT, WAKE, FULFIL, NOTIFY, COUNT       see weft.h
 *     TURN(r)                  two events: the event loop sleeps, and goes on
 *
 * recorders/peer.h makes these calls of three functions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct options {
    const char *workload;
    unsigned threads;
    uint64_t events, warm; /* calls of each thread, and before its time is taken */
    uint64_t alive;        /* promises of each thread */
    unsigned turn;         /* calls in a turn of the event loop; 0: it never sleeps */
    const char *path;      /* of what is recorded, where that is a file */
    uint64_t bytes;        /* of all rings together, where they have a size */
    bool off;              /* linked, and not started */
    bool turn_clock;       /* the time is taken once in a turn */
};

enum types { TYPE_connection = 1, TYPE_rpc = 2 };

_Noreturn void fail(const char *what);
