/* SPDX-License-Identifier: ISC */
/* The parts of the addon: what each thread that runs JavaScript has, and who does what with it. */
#ifndef WEFT_NODE_ADDON_H
#define WEFT_NODE_ADDON_H

#include "napi.h"

#include <weft/weft.h>

/* What JavaScript and C tell each other without a call. */
enum {
    SHARED_DIRTY, /* JavaScript has something to say before the loop sleeps */
    SHARED_TURN,  /* counts the turns of the loop */
    SHARED_COUNT
};

struct thread {
    napi_env env;
    uint32_t *shared;
    napi_ref flush;   /* a function: says what SHARED_DIRTY is about */
    napi_ref switch_; /* a function: recording has been switched (true or false) */
    bool recording;   /* as JavaScript was last told */
    bool paused;      /* though calls are asked for: a promise has got no number */
    bool asleep;      /* the loop sleeps */
};

extern __thread struct thread *me; /* NULL: this thread runs no JavaScript of ours */

/* Calls a function of ours. Nothing of what it does reaches the program. False: it could not be called, or has failed. */
bool call_back(struct thread *t, napi_ref function, bool argument);

/* ---- v8.c: what Node-API does not offer; each is there only if node exports it ---- */

void v8_find(void);

/* 0 pending, 1 fulfilled, 2 rejected, -1: not known. */
int v8_state(napi_value promise);
napi_value v8_result(napi_value promise); /* or NULL */

/* What of node's stands behind an object of its own; or NULL. */
void *v8_native(napi_value object);

/* Where the machine is: the calls of JavaScript from the innermost on. Returns how many; 0: not known. v8_where may take it
 * from the stack itself; v8_sample asks V8. */
unsigned v8_where(uintptr_t *pc, unsigned most);
unsigned v8_sample(uintptr_t *pc, unsigned most);

/* Has garbage collections recorded. moved: called after one that moves code. */
void v8_watch_gc(void (*moved)(void));

/* ---- frames.c: calls of JavaScript, from the stack itself ---- */

enum { FRAMES_MOST = 16 };

/* Returns how many, from the innermost on; 0: not known. */
unsigned frames_walk(uintptr_t *pc, unsigned most);

/* V8 has said what is on this stack: so many of at most that many. most <= FRAMES_MOST; zeros follow. Where that is what
 * frames_walk says, or V8 has only said more of C++, it becomes that. Returns how many. */
unsigned frames_learn(const void *isolate, uintptr_t *said, unsigned count, unsigned most);

/* ---- sites.c: places in the program ---- */

/* The index of the place where the machine is, as learnt; -1: none was learnt. */
int32_t site_here(void);

/* The place that was asked for last has that index. deep: it takes more calls than the innermost ones to tell. */
void site_learn(int32_t index, bool deep);

/* Texts are copied. Returns the index, from 0 on. */
int32_t site_add(const char *type, const char *label);
weft_promise site_create(int32_t index, weft_promise parent, weft_promise running);

/* ---- counters.c: of the program's own ---- */

/* The index of the counter of that name, which is copied; -1: there are too many. */
int32_t counter_add(const char *name);
void counter_change(int32_t index, int64_t value, bool add);

/* ---- loop.c ---- */

/* Has the loop's sleep recorded. Returns false if it cannot be. */
bool loop_watch(struct thread *t);

/* The path of an operation on files that the loop has been asked for and that has not called back yet; NULL: none is known.
 * request: what stands behind node's object for it. */
const char *loop_path(const void *request);

#endif
