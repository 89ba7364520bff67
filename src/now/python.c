/* SPDX-License-Identifier: ISC */
/* Finds the interpreter: the variable _PyRuntime of CPython is in the program or in a library. From 3.13 on it begins
 * with a table of offsets for debuggers; before, the version tells them (python_layout.h). A 3.13 whose table says
 * something else than what was known when this was written is believed. */
#include "now/python.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "now/look.h"

enum { INTERPRETERS_MAX = 256 };

/* ---- The version ---- */

/* "libpython3.9.so.1.0", "python3.10": 0x0309, 0x030a. */
static uint32_t version_of_name(const char *path)
{
    const char *name = strstr(path, "python3.");
    const long minor = name ? strtol(name + 8, NULL, 10) : 0;
    return minor > 0 && minor < 256 ? 0x0300 | (uint32_t)minor : 0;
}

/* Of the object that has _PyRuntime: before 3.11 nothing but its name says it. */
static uint32_t version_of_mapping(const struct now_process *p, uint64_t runtime)
{
    const struct now_mapping *m = now_mapping_at(p, runtime);
    while (m && m > p->mapping && m->path[0] == 0) /* the part without a file: .bss */
        m--;
    const char *slash = m ? strrchr(m->path, '/') : NULL;
    return slash ? version_of_name(slash + 1) : 0;
}

/* ---- 3.13: _Py_DebugOffsets, internal/pycore_runtime.h ---- */

enum { /* words of it */
       COOKIE,
       VERSION,
       FREE_THREADED,
       RUNTIME_INTERPRETERS = 5,
       INTERPRETER_NEXT = 8,
       INTERPRETER_THREADS,
       INTERPRETER_MODULES = 11,
       THREAD_NEXT = 21,
       THREAD_INTERPRETER,
       THREAD_FRAME,
       THREAD_IDENT,
       THREAD_NATIVE,
       FRAME_BACK = 29,
       FRAME_CODE,
       FRAME_INSTRUCTION,
       FRAME_LOCALS,
       FRAME_OWNER,
       CODE_FILE = 35,
       CODE_NAME,
       CODE_QUALNAME,
       CODE_LINES,
       CODE_FIRST_LINE,
       CODE_NAMES = 41,
       CODE_INSTRUCTIONS = 43,
       WORDS,
};

static bool read_offsets(struct python *py, uint64_t runtime)
{
    uint64_t word[WORDS];
    const struct {
        uint32_t *to;
        unsigned from;
    } field[] = {
        {&py->at.runtime_interpreters, RUNTIME_INTERPRETERS},
        {&py->at.interpreter_next, INTERPRETER_NEXT},
        {&py->at.interpreter_threads, INTERPRETER_THREADS},
        {&py->at.interpreter_modules, INTERPRETER_MODULES},
        {&py->at.thread_next, THREAD_NEXT},
        {&py->at.thread_interpreter, THREAD_INTERPRETER},
        {&py->at.thread_frame, THREAD_FRAME},
        {&py->at.thread_ident, THREAD_IDENT},
        {&py->at.thread_native, THREAD_NATIVE},
        {&py->at.frame_back, FRAME_BACK},
        {&py->at.frame_code, FRAME_CODE},
        {&py->at.frame_instruction, FRAME_INSTRUCTION},
        {&py->at.frame_locals, FRAME_LOCALS},
        {&py->at.frame_owner, FRAME_OWNER},
        {&py->at.code_file, CODE_FILE},
        {&py->at.code_name, CODE_NAME},
        {&py->at.code_qualname, CODE_QUALNAME},
        {&py->at.code_lines, CODE_LINES},
        {&py->at.code_first_line, CODE_FIRST_LINE},
        {&py->at.code_names, CODE_NAMES},
        {&py->at.code_instructions, CODE_INSTRUCTIONS},
    };
    if (!python_bytes(py, runtime, word, sizeof word) || memcmp(word, "xdebugpy", 8) != 0)
        return false;
    if (word[FREE_THREADED]) {
        now_remark(py->now, "This Python has no global lock (\"free-threaded\"): its tasks and "
                            "functions are not shown.");
        py->explained = true;
        return false;
    }
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        if (word[field[i].from] > INT32_MAX)
            return false;
        *field[i].to = (uint32_t)word[field[i].from];
    }
    return true;
}

/* ---- Looking ---- */

/* Is this an interpreter of this version? Then its module sys says so. */
static uint64_t modules_of(struct python *py, uint64_t interpreter)
{
    const uint64_t modules = python_word(py, interpreter + py->at.interpreter_modules);
    const uint64_t sys = python_get(py, modules, "sys");
    int64_t version;
    const uint64_t number =
        sys ? python_get(py, python_word(py, sys + PYTHON_MODULE_DICT), "hexversion") : 0;
    if (!python_int(py, number, &version) || PYTHON_MINOR(version) != py->at.minor)
        return 0;
    py->version = (uint32_t)version;
    return modules;
}

bool python_look(struct python *py, uint64_t runtime, uint32_t minor)
{
    uint64_t interpreter[INTERPRETERS_MAX], modules[INTERPRETERS_MAX];
    uint32_t count = 0;
    const struct python_layout *layout = python_layout_of(minor);
    if (!layout)
        return false;
    py->at = *layout;
    if (minor >= PYTHON_3_13 && !read_offsets(py, runtime))
        return false;
    uint64_t at = python_word(py, runtime + py->at.runtime_interpreters);
    for (uint32_t i = 0; at && i < INTERPRETERS_MAX; i++) {
        interpreter[count] = at;
        modules[count] = modules_of(py, at);
        count += modules[count] != 0;
        at = python_word(py, at + py->at.interpreter_next);
    }
    if (!count)
        return false;
    py->chain = calloc(PYTHON_CHAIN_MAX, sizeof *py->chain);
    py->now->failed |= !py->chain;
    if (!py->chain)
        return true;
    for (uint32_t i = 0; i < count && !py->main; i++) {
        const uint64_t module = python_get(py, modules[i], "__main__");
        py->main = module ? python_word(py, module + PYTHON_MODULE_DICT) : 0;
    }
    for (uint32_t i = 0; i < count; i++)
        python_list_threads(py, interpreter[i], modules[i]);
    python_tell_threads(py);
    for (uint32_t i = 0; i < count; i++)
        python_tell_tasks(py, modules[i]);
    python_link_holds(py);
    if (py->too_much)
        now_remark(py->now, "There is too much in this Python process: not all of it was read.");
    return true;
}

static bool read_process(void *data, uint64_t at, void *to, size_t bytes)
{
    return now_read(data, at, to, bytes);
}

struct python_source python_source_of(struct now_process *p)
{
    return (struct python_source){read_process, p};
}

bool python_find(struct now_process *p, uint64_t *runtime, uint32_t *version)
{
    static const char *const symbol[] = {"_PyRuntime", "Py_Version"};
    uint64_t address[2];
    now_symbol_addresses(p, "", symbol, 2, address);
    *runtime = address[0];
    if (!address[1] || !now_read(p, address[1], version, sizeof *version))
        *version = version_of_mapping(p, address[0]) << 16;
    return *runtime != 0;
}

/* False, and a remark: it is of a kind that is not known. */
static bool may_look(struct python *py, struct now_process *p, uint32_t version)
{
    const unsigned minor = PYTHON_MINOR(version);
    const bool narrow =
        sizeof(void *) != 8 || python_u8(py, p->mapping[0].start + EI_CLASS) == ELFCLASS32;
    if (narrow)
        now_remark(py->now,
                   "This Python is a 32-bit program: its tasks and functions are not shown.");
    else if (version && !python_layout_of(minor))
        now_remark(py->now,
                   "This is Python %u.%u, of which tasks and functions are not shown; of 3.9 to "
                   "3.13 they are.",
                   minor >> 8, minor & 255);
    return !narrow && (!version || python_layout_of(minor));
}

void now_look_python(struct now *n, struct now_process *p)
{
    struct python py;
    uint64_t runtime;
    uint32_t version;
    if (!python_find(p, &runtime, &version))
        return;
    if (!python_open(&py, n, python_source_of(p))) {
        n->failed = true;
    } else if (may_look(&py, p, version)) {
        /* Only before 3.11 it is not known, if Python is part of a program with another name. */
        const bool seen = version ? python_look(&py, runtime, PYTHON_MINOR(version))
                                  : python_look(&py, runtime, PYTHON_3_10) ||
                                        python_look(&py, runtime, PYTHON_3_9);
        if (!seen && !py.explained)
            now_remark(n, "The memory of this Python could not be understood: its tasks and "
                          "functions are not shown.");
    }
    python_close(&py);
}
