/* SPDX-License-Identifier: ISC */
/* What is known about code objects: names, files, whose code it is; and the places that create promises. */
#pragma once

#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <stdbool.h>

#include <weft/weft.h>

enum code_kind { /* of asyncio's and trio's functions that create a future: what it stands for */
                 CODE_PLAIN,
                 CODE_SLEEP,     /* the local variable "delay" */
                 CODE_ACQUIRE,   /* of a lock or a semaphore: "self" */
                 CODE_OF_SELF,   /* waits for something of "self", as a queue */
                 CODE_EVENT,     /* Event.wait: "self" */
                 CODE_CONDITION, /* Condition.wait: "self" */
                 CODE_MANY,      /* waits for all or some of "fs" */
                 CODE_GROUP,     /* TaskGroup: waits for self._tasks */
                 CODE_ONE,       /* stands for "inner" */
                 CODE_WRAP,      /* the same as "future", a job */
                 CODE_PROCESS,   /* the same as "self", a process */
                 CODE_CONNECT,   /* to "address" */
                 CODE_READ,      /* "self" waits for bytes */
                 CODE_SERVE,     /* serves, or is meant to wait, until the program ends */
                 CODE_HIDDEN,    /* a task of the loop's own */
                 CODE_RUN,       /* the loop makes its calls from here */
                 CODE_JOB,       /* a thread does "sync_fn" */
                 CODE_SAID,      /* is a request that the program names: "number" */
                 CODE_AIOHTTP,   /* answers a request: "request" */
                 CODE_TORNADO,   /* … "self", its handler */
                 CODE_UVICORN,   /* … "self", which has its scope */
};

enum code_owner { CODE_PROGRAM, CODE_LIBRARY, CODE_RUNTIME /* asyncio, trio */ };

struct code {
    PyObject *object; /* a reference is kept, so its address is not reused */
    const char *name, *file;
    unsigned line;
    enum code_kind kind;
    enum code_owner owner;
    bool inlined; /* a comprehension: a part of the function around it */
};

/* Never NULL; the entry "?" if there is no memory, or if there are too many. name: its qualified name, or NULL to take
 * it from the code. Leaves no exception. */
const struct code *code_of(PyObject *object, PyObject *name);

/* The same, but only if it was requested before; else NULL. */
const struct code *code_known(PyObject *object);

/* The line of an instruction of a code; 0: it has not been set. */
unsigned code_line(const struct code *c, unsigned instruction);
void code_set_line(const struct code *c, unsigned instruction, unsigned line);

/* Declares, before anything else, the type of code objects. Returns 0 or -1 with an exception. */
int code_tell(PyObject *object, PyObject *name, int kind);

/* The folder of the standard library. */
void code_library(const char *folder);

/* asyncio and trio, each once it has been imported: its folder, and its exceptions that cancel. */
enum { RUNTIMES = 2 };
extern struct runtime {
    char *folder;
    PyObject *cancelled; /* a class; NULL: not imported yet */
} runtimes[RUNTIMES];
void runtime_add(const char *folder, PyObject *cancelled);

enum place_use { FOR_TASK, FOR_CALL, FOR_FUTURE, FOR_LABELLED, FOR_COUNT, FOR_JOB, FOR_TIMER };

/* A line of code that creates something. */
struct place {
    const struct code *where, *what; /* what: the function that was called there, or where itself */
    unsigned line;
    enum place_use use;
    unsigned made; /* for FOR_COUNT */
    char *label;   /* the label of everything created there, or NULL */
    struct weft_site site;
};

/* Never NULL. FOR_LABELLED: each has a label of its own; else everything created there has the same label. */
struct place *place_of(const struct code *where, unsigned line, const struct code *what,
                       enum place_use use);
