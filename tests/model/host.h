/* SPDX-License-Identifier: ISC */
/* What the recorder needs around it, and scenes need of it: memory, a clock that stands still, threads that end; and
 * the truth, against which the trace is judged. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scene;

/* explore.c calls these. */
void host_set_up(const struct scene *s);
void host_begin(void);
void host_enter(unsigned thread);
void host_leave(unsigned thread);
void host_point(void);
void host_thread_ends(void);

/* A variable of the recorder's. */
void host_variable(void *at, size_t bytes, const char *name);
void host_pool(void);
void host_threads(void);
void host_start(void);

/* ---- For scenes ---- */

/* Starts a recording with so many packets of 256 bytes: each has room for two creations, or three endings. */
void begin_recording(unsigned packets);

/* With larger packets: only one that has room for more than a few events is left to others when its thread ends. */
void begin_recording_in(unsigned packets, uint32_t packet_bytes);

/* What follows is thread t's, while the scene is set up. */
void be(unsigned t);

enum { PROMISES = 64 };

/* Promises by small numbers; each is one thread's to end. */
unsigned create(void);
unsigned create_own(uint64_t id); /* with a number of the program's */
void end(unsigned promise);
void wait_for(unsigned promise); /* the event loop waits for it */
void wait_by(unsigned who, unsigned promise);
void should_resolve(unsigned promise);
void become(unsigned promise, unsigned other);
void fill(unsigned events); /* that mean nothing: 12 bytes each */

/* The thread has a slot from here on, though it records nothing yet. While the scene is set up. */
void appear(void);

/* As on a system without membarrier(2). While the scene is set up. */
void without_membarrier(void);

/* Switches the recording; ends it; starts the next one, in the same memory. */
void pause_recording(void);
void go_on_recording(void);
void stop_recording(void);
void start_recording(void);

/* weft ctl in another process: asks for a command (control.h), waits for the answer. */
void ask(unsigned command);

/* Whether it has got its answer once threads 0 and 1 have made one more call. */
const char *judge_answer(void);

/* … if it is paused, and stands by. */
const char *judge_standby(void);

enum intention { NOTHING, CREATES, ENDS, WAITS, MARKS, BECOMES, FILLS };

/* What is known of each promise. */
struct truth {
    struct promise {
        uint64_t id;
        bool created, ending,
            ended;             /* ending: somebody has begun to say so; ended: it is published */
        bool through;          /* who ended it has come back */
        uint8_t waits, waited; /* published; begun */
        uint8_t became;        /* plus 1 */
    } promise[PROMISES];
    unsigned promises;
    uint64_t published; /* events */
    struct {
        enum intention kind;
        unsigned promise;
        uint64_t events;    /* of the thread, before */
        uint64_t discarded; /* of all threads, before */
    } intent[4];
    bool silent;    /* nothing may be recorded any more */
    uint64_t asked; /* weft ctl's last request … */
    unsigned command;
};
extern struct truth truth;

/* judge.c: what is wrong with the file as it is now, were the process killed; NULL: nothing. */
const char *judge_file(void);

/* … with what stands beside the file, when all threads have ended; and when all packets have been overwritten since. */
const char *judge_pool(void);
const char *judge_end(void);
unsigned fillers(void);

/* Reads the file as another process does, once. Fails if that shows what cannot be. */
void read_file(void);
