/* SPDX-License-Identifier: ISC */
/* The parts of the addon: the data of each thread that runs JavaScript, and the functions that use it. */
#pragma once

#include "napi.h"

#include <weft/weft.h>

/* Memory through which JavaScript and C exchange values without a call. */
enum {
    SHARED_DIRTY, /* JavaScript has something to report before the loop sleeps */
    SHARED_TURN,  /* counts the turns of the loop */
    SHARED_COUNT
};

struct thread {
    napi_env env;
    uint32_t *shared;
    napi_ref flush;   /* a function: reports what SHARED_DIRTY is about */
    napi_ref switch_; /* a function: recording has been switched (true or false) */
    bool recording;   /* the state that JavaScript was last told */
    bool paused;      /* although calls are requested: a promise has not got a number */
    bool asleep;      /* the loop sleeps */
};

extern __thread struct thread *me; /* NULL: this thread runs no JavaScript of ours */

/* Calls one of our functions. The program does not notice any of it. False: it could not be called, or has failed. */
bool call_back(struct thread *t, napi_ref function, bool argument);

/* ---- v8.c: what Node-API does not offer; each is there only if node exports it ---- */

void v8_find(void);

/* 0 pending, 1 fulfilled, 2 rejected, -1: not known. */
int v8_state(napi_value promise);
bool v8_handled(napi_value promise); /* something hangs on it; true also if that is not known */

/* Where the object is now, as V8 says it: + 1. */
uintptr_t v8_address(napi_value object);
napi_value v8_result(napi_value promise); /* or NULL */

/* The C++ object of node's behind one of its JavaScript objects; or NULL. */
void *v8_native(napi_value object);

/* The current JavaScript calls, from the innermost on, as code addresses. Returns how many; 0: not known. v8_where may
 * read the stack itself; v8_sample asks V8. */
unsigned v8_where(uintptr_t *pc, unsigned most);
unsigned v8_sample(uintptr_t *pc, unsigned most);

/* Starts recording garbage collections. moved is called after a collection that moves code. */
void v8_watch_gc(void (*moved)(void));

/* ---- frames.c: calls of JavaScript, from the stack itself ---- */

enum { FRAMES_MOST = 16 };

/* Returns how many, from the innermost on; 0: not known. */
unsigned frames_walk(uintptr_t *pc, unsigned most);

/* Compares with what V8 says about this stack: `count` calls of at most `most` <= FRAMES_MOST; zeros follow. If
 * frames_walk finds the same, or V8 only lists more C++ calls, the list becomes what frames_walk finds. Returns how
 * many. */
unsigned frames_learn(const void *isolate, uintptr_t *said, unsigned count, unsigned most);

/* ---- sites.c: places in the program ---- */

/* The learnt index of the current place; -1: none was learnt. */
int32_t site_here(void);

/* Learns that the place asked for last has that index. deep: more than the innermost calls are needed to identify it. */
void site_learn(int32_t index, bool deep);

/* Texts are copied. Returns the index, from 0 on. */
int32_t site_add(const char *type, const char *label);
weft_promise site_create(int32_t index, weft_promise parent, weft_promise running);

/* ---- counters.c: of the program's own ---- */

/* The index of the counter of that name; the name is copied. -1: there are too many. */
int32_t counter_add(const char *name);
void counter_change(int32_t index, int64_t value, bool add);

/* ---- loop.c ---- */

/* Starts recording the loop's sleep. Returns false if that is not possible. */
bool loop_watch(struct thread *t);

/* The path of a pending file operation of the loop; NULL: none is known. request: the C++ object behind node's object
 * for it. */
const char *loop_path(const void *request);
