/* SPDX-License-Identifier: ISC */
/* The tasks of trio, also below anyio: those of its runner, which is a variable of the function in which a thread's loop runs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "now/python.h"

void python_note_runner(struct python *py, uint32_t thing)
{
    char module[PYTHON_NAME_MAX];
    for (uint32_t i = 0; i < py->chained && py->runners < PYTHON_LOOPS; i++) {
        python_module(py, &py->chain[i], module);
        const uint64_t runner =
            strcmp(module, "trio._core._run") == 0 ? python_local(py, &py->chain[i], "runner") : 0;
        if (!python_is(py, runner, "Runner"))
            continue;
        py->runner[py->runners++] = (struct python_hold){.object = runner, .thing = thing};
        break;
    }
}

static bool is_of(struct python *py, const struct python_frame *f, const char *module)
{
    char name[PYTHON_NAME_MAX];
    python_module(py, f, name);
    return strncmp(name, module, strlen(module)) == 0;
}

static uint64_t attribute(struct python *py, uint64_t object, const char *name)
{
    const uint64_t value = python_attribute(py, object, name);
    return python_is(py, value, "NoneType") ? 0 : value;
}

/* One of the scopes that it is in has a deadline. */
static bool has_deadline(struct python *py, uint64_t task)
{
    enum { SCOPES_MAX = 100 };
    double deadline;
    uint64_t status = attribute(py, task, "_cancel_status");
    for (uint32_t i = 0; status && i < SCOPES_MAX; i++) {
        if (python_float(py, attribute(py, attribute(py, status, "_scope"), "_deadline"),
                         &deadline) &&
            deadline < (double)INFINITY)
            return true;
        status = attribute(py, status, "_parent");
    }
    return false;
}

static void tell_state(struct python *py, uint32_t thing, uint64_t task, bool runs)
{
    char state[NOW_TEXT_MAX], function[PYTHON_FUNCTION];
    const char *known = thing == NOW_NONE ? NULL : py->now->thing[thing].state;
    if (runs) {
        now_state(py->now, thing, "runs");
        return;
    }
    if (attribute(py, task, "_next_send_fn")) {
        now_state(py->now, thing, "is ready to go on");
        return;
    }
    python_function(py, &py->chain[0], function);
    snprintf(state, sizeof state, "%s%.400s", known ? "" : "waits in ", known ? known : function);
    const bool limited = has_deadline(py, task);
    now_state(py->now, thing, "%s%s", state, limited ? ", with a timeout" : "");
    if (limited)
        now_brief(py->now, thing);
}

/* Its own tasks are left out. */
static void tell_task(struct python *py, uint64_t task, uint32_t thread)
{
    int state;
    uint32_t traps = 0;
    python_chain(py, attribute(py, task, "coro"), &state);
    if (!py->chained || is_of(py, &py->chain[py->chained - 1], "trio._core"))
        return;
    const uint32_t thing = python_future_thing(py, task);
    const bool runs = py->chain[0].stack < 0;
    while (traps + 1 < py->chained && is_of(py, &py->chain[traps], "trio._core._traps"))
        traps++;
    py->chained -= traps;
    memmove(py->chain, py->chain + traps, py->chained * sizeof *py->chain);
    python_tell_frames(py, thing);
    python_note_holds(py, thing, runs ? 0 : python_wait(py, thing, 0));
    tell_state(py, thing, task, runs);
    if (runs)
        now_link(py->now, thing, thread, false, "runs on");
}

void python_tell_trio(struct python *py)
{
    for (uint32_t i = 0; i < py->runners; i++) {
        struct python_walk w;
        uint64_t task, none;
        python_walk(py, attribute(py, py->runner[i].object, "tasks"), &w);
        while (python_next(py, &w, &task, &none))
            if (python_is_task(py, task))
                tell_task(py, task, py->runner[i].thing);
    }
    py->runners = 0;
}
