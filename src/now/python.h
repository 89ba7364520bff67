/* SPDX-License-Identifier: ISC */
/* Reading the objects of a CPython process. Whatever is read may be wrong: the process runs meanwhile, or is hostile. So
 * an object counts only if its type is one, everything has a limit, and there is a limit for all of it together (reads).
 * Addresses are those in the process; 0: none, or it cannot be read. One thread. */
#pragma once

#include "now/process.h"
#include "now/python_layout.h"

struct python_source { /* the memory; `to` is zeroed if it cannot be read */
    bool (*read)(void *data, uint64_t at, void *to, size_t bytes);
    void *data;
};

enum {
    PYTHON_BLOCK = 1 << 14,
    PYTHON_BLOCKS = 1 << 11, /* kept of those that were read */
    PYTHON_TYPES = 1 << 10,
    PYTHON_READS_MAX = 1 << 26,
    PYTHON_NAMING_MAX = 1 << 24,
    PYTHON_FETCHES_MAX = 1 << 17, /* reads of the process itself */
    PYTHON_ITEMS_MAX = 1 << 20,   /* of a dict, set, list */
    PYTHON_NAME_MAX = 128,
    PYTHON_FUNCTION = 2 * PYTHON_NAME_MAX + 2,
    PYTHON_CHAIN_MAX = 1000, /* frames of a stack */
    PYTHON_LOOPS = 64,       /* loops of events that run a task at this moment */
};

struct python_type {
    uint64_t address, base;
    uint32_t flags; /* tp_flags: all that matter here are in the lower 32 bits */
    int64_t basic_size, dict_offset;
    char name[PYTHON_NAME_MAX]; /* "Lock"; "_asyncio.Task" if it is not written in Python */
};

struct python_thread {
    uint64_t state, ident; /* PyThreadState; as Python calls it */
    uint64_t native;       /* as the process knows it; 0: not known */
    uint64_t number;       /* … and as this process does; 0: not known, or it has ended */
    uint64_t object;       /* of the module threading; or 0 */
    uint32_t thing;
};

struct python_hold { /* inside of a `with`; or a future that it computes */
    uint64_t object;
    uint32_t thing;
    bool queued; /* … will compute … */
    bool any;    /* … or another thread of its pool */
};

struct python {
    struct now *now;
    struct python_source source;
    struct python_layout at;
    uint32_t version;        /* as sys.hexversion */
    uint64_t reads, fetches; /* so far */
    uint64_t naming;         /* reads that names took */
    bool explained;          /* a remark says why nothing can be seen */
    bool too_much;           /* more than PYTHON_READS_MAX, or _FETCHES_: nothing more is read */
    struct python_block *block;
    struct python_type *type;
    struct python_thread *thread;
    uint32_t threads, threads_room;
    uint64_t main;              /* the variables of the program's main module */
    struct python_frame *chain; /* the stack that is looked at, innermost first; PYTHON_CHAIN_MAX */
    uint32_t chained;
    struct python_hold *hold;
    uint32_t holds, holds_room;
    uint32_t workers;                         /* threads of pools whose queue was looked at */
    struct python_hold running[PYTHON_LOOPS]; /* loops, and the task that each of them runs */
    uint32_t runnings;
    struct python_hold runner[PYTHON_LOOPS]; /* of trio, and their threads */
    uint32_t runners;
};

bool python_open(struct python *py, struct now *n, struct python_source source);
void python_close(struct python *py);

/* ---- python_read.c: memory and objects ---- */

bool python_bytes(struct python *py, uint64_t at, void *to, size_t bytes);
void python_refresh(struct python *py); /* reads everything again from then on */
uint64_t python_word(struct python *py, uint64_t at);
uint32_t python_u32(struct python *py, uint64_t at);
uint8_t python_u8(struct python *py, uint64_t at);
int64_t python_size(struct python *py, uint64_t object); /* ob_size */

/* A text that ends with NUL; it is cut to fit. */
void python_chars(struct python *py, uint64_t at, char *to, size_t room);

/* NULL: it is no object. Valid until the next call. */
const struct python_type *python_type_of(struct python *py, uint64_t object);

/* Its type, or a base of that, has this name. */
bool python_is(struct python *py, uint64_t object, const char *type);
bool python_has_flag(struct python *py, uint64_t object, int flag);

/* A str as UTF-8, cut to fit; false and "" if it is none. */
bool python_text(struct python *py, uint64_t object, char *to, size_t room);
bool python_int(struct python *py, uint64_t object, int64_t *value);
bool python_float(struct python *py, uint64_t object, double *value);
bool python_true(struct python *py, uint64_t object);

/* Goes through a dict, set, list or tuple, or a set's or list's like. */
struct python_walk {
    uint64_t keys, values, entry;
    uint32_t at, count, entry_bytes;
    uint8_t kind;
};
void python_walk(struct python *py, uint64_t object, struct python_walk *w);
/* key is the item of a set, list or tuple; value is 0 for these. */
bool python_next(struct python *py, struct python_walk *w, uint64_t *key, uint64_t *value);

/* The value for a str key; 0: none. */
uint64_t python_get(struct python *py, uint64_t dict, const char *key);

/* An attribute of the object itself: in its __dict__ or __slots__. */
uint64_t python_attribute(struct python *py, uint64_t object, const char *name);

/* The name of the attribute, or of the key of a dict, that is this object. */
bool python_name_of(struct python *py, uint64_t object, uint64_t value, char *to, size_t room);
bool python_key_of(struct python *py, uint64_t dict, uint64_t value, char *to, size_t room);

/* ---- python_frame.c ---- */

struct python_frame {
    uint64_t at, code, back, globals, locals;
    int64_t instruction; /* in bytes from the beginning of the code; -1: before it */
    int64_t stack; /* how many of the values on its stack are known to be in use; -1: none is */
    uint32_t nlocals, nlocalsplus, stacksize;
    uint8_t owner; /* from 3.11 on; 3 or more: not Python code */
    char function[PYTHON_NAME_MAX], file[NOW_TEXT_MAX];
};

/* The frame at an address. False: there is none. name: the qualified name, if it is known from elsewhere, or 0. */
bool python_frame(struct python *py, uint64_t at, uint64_t name, struct python_frame *f);

uint32_t python_line(struct python *py, const struct python_frame *f);

/* A variable, also one in a cell. 0: it has none. */
uint64_t python_local(struct python *py, const struct python_frame *f, const char *name);

/* The next variable that has a value, from number *at on, which is 0 at first. */
bool python_local_at(struct python *py, const struct python_frame *f, uint32_t *at,
                     char name[PYTHON_NAME_MAX], uint64_t *value);

/* A value on its stack, from the bottom; 0: none. */
uint64_t python_stack(struct python *py, const struct python_frame *f, uint32_t i);

/* How many of the values on its stack must still be there, because what handles exceptions at this place needs them. */
uint32_t python_stack_depth(struct python *py, const struct python_frame *f);

/* The frame of a coroutine, generator or asynchronous generator; false: it has ended. */
bool python_generator_frame(struct python *py, uint64_t generator, struct python_frame *f,
                            int *state);

/* ---- python_names.c ---- */

/* The name of the module that a frame's function is in. */
void python_module(struct python *py, const struct python_frame *f, char to[PYTHON_NAME_MAX]);

/* One of Python's own modules in which others wait: its variables are not what a programmer calls the things that they
 * wait for. */
bool python_is_library(const char *module);

/* The thing for an object, with a name: what it is, and a variable of the frames in `chain` that is this object. */
uint32_t python_thing(struct python *py, enum now_kind kind, uint64_t object);

/* The thing for a future or task. */
uint32_t python_future_thing(struct python *py, uint64_t future);
bool python_is_task(struct python *py, uint64_t object);
bool python_is_future(struct python *py, uint64_t object);
bool python_is_pending(struct python *py, uint64_t future);

/* ---- python_object.c: what is waited for ---- */

/* Finds out from `chain` what a thread or task waits for, and links it to that. futex: what the thread waits for in the
 * kernel; 0: nothing, or it is a task. Returns the object; 0: not known. */
uint64_t python_wait(struct python *py, uint32_t thing, uint64_t futex);

/* Notes which objects the frames in `chain` are inside of a `with` of. */
void python_note_holds(struct python *py, uint32_t thing, uint64_t waits_for);

/* Says by when the task whose frames are in the chain gives up: it waits for ever for nothing. */
void python_tell_limit(struct python *py, uint32_t thing);

/* Links what is waited for to whoever holds it. */
void python_link_holds(struct python *py);

/* ---- python_threads.c ---- */

/* Finds the threads of an interpreter; then says where they are. */
void python_list_threads(struct python *py, uint64_t interpreter, uint64_t modules);
void python_tell_threads(struct python *py);
uint32_t python_thread_thing(struct python *py, uint64_t ident); /* NOW_NONE: there is none */

/* "Queue.get": before 3.11 only with the class of its object, which may be a class below. */
void python_function(struct python *py, const struct python_frame *f, char to[PYTHON_FUNCTION]);

/* Adds the frames in `chain` to a thing. */
void python_tell_frames(struct python *py, uint32_t thing);

/* ---- python_tasks.c ---- */

/* Finds the tasks of an interpreter, and says where they are and what they wait for. */
void python_tell_tasks(struct python *py, uint64_t modules);

/* Fills `chain` with what a coroutine is in. Returns the future that it leads to, or 0. *state: of the innermost frame. */
uint64_t python_chain(struct python *py, uint64_t coroutine, int *state);

/* ---- python_trio.c ---- */

/* Notes the runner, if the frames in `chain` are those of a thread that has one; and tells the tasks of all. */
void python_note_runner(struct python *py, uint32_t thing);
void python_tell_trio(struct python *py);

/* ---- python.c ---- */

/* Where _PyRuntime is. *version: as PY_VERSION_HEX; 0: not known. False: this is no CPython. */
bool python_find(struct now_process *p, uint64_t *runtime, uint32_t *version);
struct python_source python_source_of(struct now_process *p);

/* What now_look_python does, with memory from anywhere. runtime: the address of _PyRuntime. False: it was not
 * understood. */
bool python_look(struct python *py, uint64_t runtime, uint32_t minor);
