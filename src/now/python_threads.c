/* SPDX-License-Identifier: ISC */
/* The threads that run Python code, by the list that each interpreter has of them. Their numbers in the system are
 * there from 3.11 on; threading._active has them always, and the names, for threads that this module has made. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "now/python.h"

enum { THREADS_MAX = 1 << 12 };

uint32_t python_thread_thing(struct python *py, uint64_t ident)
{
    for (uint32_t i = 0; i < py->threads; i++)
        if (py->thread[i].ident == ident)
            return py->thread[i].thing;
    return NOW_NONE;
}

/* ---- Their numbers ---- */

/* A thread's number in the namespace of its process: the last one of these. 0: not known. */
static uint64_t inner_number(pid_t pid, const char *thread)
{
    char path[96], line[256];
    uint64_t inner = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/status", (int)pid, thread);
    FILE *f = fopen(path, "re");
    while (f && !inner && fgets(line, sizeof line, f)) {
        const char *last = strncmp(line, "NSpid:", 6) == 0 ? strrchr(line, '\t') : NULL;
        inner = last ? strtoull(last, NULL, 10) : 0;
    }
    if (f)
        fclose(f);
    return inner;
}

/* In a container, threads have other numbers than outside. */
static void find_numbers(struct python *py)
{
    char path[64];
    for (uint32_t i = 0; py->now->core && i < py->threads; i++)
        py->thread[i].number = py->thread[i].native;
    snprintf(path, sizeof path, "/proc/%d/task", (int)py->now->pid);
    DIR *d = py->now->core ? NULL : opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        const uint64_t outer = strtoull(e->d_name, NULL, 10);
        const uint64_t inner = outer ? inner_number(py->now->pid, e->d_name) : 0;
        for (uint32_t i = 0; inner && i < py->threads; i++)
            if (py->thread[i].native == inner)
                py->thread[i].number = outer;
    }
    if (d)
        closedir(d);
}

/* ---- Which there are ---- */

static void read_states(struct python *py, uint64_t interpreter)
{
    const struct python_layout *at = &py->at;
    uint64_t state = python_word(py, interpreter + at->interpreter_threads);
    for (uint32_t i = 0; i < THREADS_MAX && state; i++) {
        const struct python_thread t = {
            .state = state,
            .ident = python_word(py, state + at->thread_ident),
            .native = at->thread_native ? python_word(py, state + at->thread_native) : 0,
            .thing = NOW_NONE,
        };
        if (python_word(py, state + at->thread_interpreter) != interpreter ||
            !weft_reserve(&py->thread, py->threads, &py->threads_room, sizeof t))
            break;
        py->thread[py->threads++] = t;
        state = python_word(py, state + at->thread_next);
    }
}

static struct python_thread *thread_of(struct python *py, int64_t ident)
{
    for (uint32_t i = 0; i < py->threads; i++)
        if (py->thread[i].ident == (uint64_t)ident)
            return &py->thread[i];
    return NULL;
}

static void read_object(struct python *py, struct python_thread *t, uint64_t object)
{
    int64_t native;
    if (!t->native && python_int(py, python_attribute(py, object, "_native_id"), &native))
        t->native = (uint64_t)native;
    t->object = object;
}

static void find_objects(struct python *py, uint64_t modules)
{
    const uint64_t module = python_get(py, modules, "threading");
    const uint64_t active = python_get(py, python_word(py, module + PYTHON_MODULE_DICT), "_active");
    struct python_walk w;
    uint64_t key, object;
    int64_t ident;
    if (!module || !python_has_flag(py, active, PYTHON_DICT))
        return;
    python_walk(py, active, &w);
    while (python_next(py, &w, &key, &object)) {
        struct python_thread *t = python_int(py, key, &ident) ? thread_of(py, ident) : NULL;
        if (t)
            read_object(py, t, object);
    }
}

static void name_thread(struct python *py, struct python_thread *t)
{
    char name[PYTHON_NAME_MAX];
    if (!t->number || t->number > INT32_MAX)
        return;
    t->thing = now_thing(py->now, NOW_THREAD, t->number);
    if (t->object && python_text(py, python_attribute(py, t->object, "_name"), name, sizeof name))
        now_name(py->now, t->thing, "thread %" PRIu64 " '%s'", t->number, name);
    else if (t->thing != NOW_NONE && !py->now->thing[t->thing].name)
        now_name(py->now, t->thing, "thread %" PRIu64, t->number);
}

void python_list_threads(struct python *py, uint64_t interpreter, uint64_t modules)
{
    const uint32_t before = py->threads;
    read_states(py, interpreter);
    find_objects(py, modules);
    find_numbers(py);
    for (uint32_t i = before; i < py->threads; i++) {
        if (!py->thread[i].number && py->threads == 1) /* nothing but the main thread */
            py->thread[i].number = (uint64_t)py->now->pid;
        name_thread(py, &py->thread[i]);
    }
}

/* ---- Where they are ---- */

void python_function(struct python *py, const struct python_frame *f, char to[PYTHON_FUNCTION])
{
    const bool has_class = strchr(f->function, '.') || py->at.code_qualname;
    const struct python_type *t =
        has_class ? NULL : python_type_of(py, python_local(py, f, "self"));
    snprintf(to, PYTHON_FUNCTION, "%s%s%s", t ? t->name : "", t ? "." : "", f->function);
}

void python_tell_frames(struct python *py, uint32_t thing)
{
    for (uint32_t i = 0; i < py->chained; i++) {
        char name[PYTHON_FUNCTION];
        python_function(py, &py->chain[i], name);
        now_frame(py->now, thing, name, py->chain[i].file, python_line(py, &py->chain[i]));
    }
}

static uint64_t innermost(struct python *py, const struct python_thread *t)
{
    uint64_t frame = python_word(py, t->state + py->at.thread_frame);
    if (py->at.minor == PYTHON_3_11 || py->at.minor == PYTHON_3_12)
        frame = python_word(py, frame + py->at.thread_cframe_frame);
    return frame;
}

static void read_stack(struct python *py, const struct python_thread *t)
{
    uint64_t at = innermost(py, t);
    py->chained = 0;
    for (uint32_t i = 0; at && i < 2 * PYTHON_CHAIN_MAX && py->chained < PYTHON_CHAIN_MAX; i++) {
        struct python_frame *f = &py->chain[py->chained];
        const bool is_code = python_frame(py, at, 0, f) && f->owner < 3;
        if (!is_code && py->at.minor < PYTHON_3_12)
            break;
        at = is_code ? f->back : python_word(py, at + py->at.frame_back);
        py->chained += is_code;
    }
}

/* If the thread has gone on meanwhile, what was read may be of two moments. Then it is read once more. */
static void read_stack_twice(struct python *py, const struct python_thread *t)
{
    for (unsigned tries = 0; tries < 2; tries++) {
        const uint64_t before = innermost(py, t);
        read_stack(py, t);
        python_refresh(py);
        if (innermost(py, t) == before)
            break;
    }
}

/* The word in memory that a thread waits for a change of. 0: it does something else, or this may not be known. */
static uint64_t futex_of(struct python *py, uint64_t number)
{
    char path[64];
    long call = -1;
    uint64_t word = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%" PRIu64 "/syscall", (int)py->now->pid, number);
    FILE *f = py->now->core ? NULL : fopen(path, "re");
    if (f && (fscanf(f, "%ld %" SCNx64, &call, &word) != 2 || call != SYS_futex))
        word = 0;
    if (f)
        fclose(f);
    return word;
}

/* Keeps the native frames up to where the interpreter begins: they say what the innermost Python function calls. */
static void drop_interpreter(struct now *n, uint32_t thing)
{
    const struct now_thing *t = &n->thing[thing];
    uint32_t kept = 0;
    while (kept < t->frames && t->frame[kept].function &&
           strncmp(t->frame[kept].function, "Py", 2) != 0 &&
           strncmp(t->frame[kept].function, "_Py", 3) != 0 &&
           strncmp(t->frame[kept].function, "cfunction_", 10) != 0 &&
           strncmp(t->frame[kept].function, "method_", 7) != 0)
        kept++;
    now_drop_frames(n, thing, kept);
}

void python_tell_threads(struct python *py)
{
    for (uint32_t i = 0; i < py->threads; i++) {
        const struct python_thread t = py->thread[i];
        if (t.thing == NOW_NONE)
            continue;
        read_stack_twice(py, &t);
        if (!py->chained)
            continue;
        drop_interpreter(py->now, t.thing);
        python_tell_frames(py, t.thing);
        python_note_runner(py, t.thing);
        python_note_holds(py, t.thing, python_wait(py, t.thing, futex_of(py, t.number)));
    }
}
