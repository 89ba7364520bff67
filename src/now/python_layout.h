/* SPDX-License-Identifier: ISC */
/* Where CPython keeps what: offsets in its structures, which differ between versions. All are of builds for 64-bit
 * machines with the lock of the interpreter (not "free-threaded"), without Py_DEBUG. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* 0x030b07f0 is 3.11.7; the upper half is enough to know the layout. */
#define PYTHON_MINOR(version) ((version) >> 16)
enum {
    PYTHON_3_9 = 0x0309,
    PYTHON_3_10 = 0x030a,
    PYTHON_3_11 = 0x030b,
    PYTHON_3_12 = 0x030c,
    PYTHON_3_13 = 0x030d,
};

/* 0 in a field that the version does not have. */
struct python_layout {
    uint16_t minor;

    /* _PyRuntimeState: interpreters.head */
    uint32_t runtime_interpreters;

    /* PyInterpreterState: next, tstate_head or threads.head, modules or imports.modules */
    uint32_t interpreter_next, interpreter_threads, interpreter_modules;

    /* PyThreadState. frame: of 3.9 and 3.10 a PyFrameObject; of 3.11 and 3.12 what points to a pointer to the frame
     * (cframe, and its current_frame); of 3.13 the frame */
    uint32_t thread_next, thread_interpreter, thread_frame, thread_cframe_frame;
    uint32_t thread_ident, thread_native;

    /* PyFrameObject (3.9, 3.10) or _PyInterpreterFrame. instruction: f_lasti; or the address of an instruction. stacktop:
     * f_stacktop, f_stackdepth or stacktop. */
    uint32_t frame_back, frame_code, frame_globals, frame_instruction, frame_stacktop, frame_locals;
    uint32_t frame_owner;                                      /* from 3.11 on */
    uint32_t frame_valuestack, frame_blocks, frame_blockstack; /* before */

    /* PyCodeObject. lines: co_lnotab or co_linetable. names: co_localsplusnames, or co_varnames. */
    uint32_t code_file, code_name, code_qualname, code_first_line, code_lines, code_instructions;
    uint32_t code_exceptions, code_stacksize, code_nlocals, code_nlocalsplus, code_names;
    uint32_t code_globals; /* co_names: global variables and attributes that it uses */
    uint32_t code_cellvars, code_freevars; /* before 3.11 */

    /* PyGenObject, and those of coroutines and asynchronous generators. frame: a pointer before 3.11, then the frame
     * itself. */
    uint32_t generator_frame, generator_state, generator_qualname;

    /* PyDictKeysObject */
    uint32_t keys_entries, keys_indices;
    bool keys_kinds; /* keys are of several kinds, from 3.11 on */
    /* where the values of _dictvalues begin */
    uint32_t values;

    /* PyHeapTypeObject.ht_cached_keys; PyFunctionObject */
    uint32_t type_keys, function_name, function_closure;

    /* PyCompactUnicodeObject, which the text follows; PyASCIIObject, likewise */
    uint32_t text_compact, text_ascii;

    /* FutureObj and TaskObj of _asyncio */
    uint32_t future_state, task_waiter, task_coroutine, task_name, task_must_cancel;
};

/* Of PyObject and the objects that are alike in all these versions. */
enum {
    PYTHON_HEADER = 16,
    PYTHON_TYPE = 8,  /* ob_type */
    PYTHON_SIZE = 16, /* ob_size, or the tag of an int */
    PYTHON_TYPE_NAME = 24,
    PYTHON_TYPE_BASIC_SIZE = 32,
    PYTHON_TYPE_FLAGS = 168,
    PYTHON_TYPE_BASE = 256,
    PYTHON_TYPE_DICT = 264,
    PYTHON_TYPE_DICT_OFFSET = 288,
    PYTHON_DIGITS = 24,      /* of an int */
    PYTHON_LIST_ITEMS = 24,  /* a pointer to them */
    PYTHON_TUPLE_ITEMS = 24, /* the first one */
    PYTHON_BYTES = 32,
    PYTHON_DICT_KEYS = 32,
    PYTHON_DICT_VALUES = 40,
    PYTHON_SET_MASK = 32,
    PYTHON_SET_TABLE = 40,
    PYTHON_TEXT_LENGTH = 16,
    PYTHON_TEXT_STATE = 32,
    PYTHON_REFERENT =
        16, /* of a weak reference, a cell, FutureIter, and all that wraps one object */
    PYTHON_MODULE_DICT = 16,
    PYTHON_METHOD_SELF = 24, /* also of a built-in one */
    PYTHON_METHOD_FUNCTION = 16,
    PYTHON_METHOD_DEF = 16, /* a built-in one's PyMethodDef, which begins with the name */
    PYTHON_FUTURE_LOOP = 16,
    PYTHON_FUTURE_CALLBACK = 24,
    PYTHON_FUTURE_CALLBACKS = 40,
    PYTHON_MEMBER_DEF = 40, /* of a descriptor; at 16 of it is the offset in objects */
    PYTHON_LOCK_LOCKED = 32,
    PYTHON_LOCK_MUTEX = 16, /* from 3.13.1 on: a PyMutex, one byte (internal/pycore_lock.h) */
    PYTHON_RLOCK_OWNER = 24,
    PYTHON_DEQUE_BLOCK = 24, /* the first one: the one before, items, the next one */
    PYTHON_DEQUE_FIRST = 40, /* … and the index of the first item in it */
    PYTHON_DEQUE_ITEMS = 64,
    PYTHON_QUEUE_LIST = 32, /* of a SimpleQueue, before 3.13 */
    PYTHON_QUEUE_FIRST = 40,
    PYTHON_RING_FIRST = 32, /* … from then on */
    PYTHON_RING_ITEMS = 40,
    PYTHON_RING_ROOM = 48,
    PYTHON_RING_COUNT = 56,
};

enum { /* tp_flags */
       PYTHON_INLINE_VALUES = 1 << 2,
       PYTHON_MANAGED_DICT = 1 << 4,
       PYTHON_HEAP_TYPE = 1 << 9,
       PYTHON_INT = 1 << 24,
       PYTHON_LIST = 1 << 25,
       PYTHON_TUPLE = 1 << 26,
       PYTHON_BYTES_TYPE = 1 << 27,
       PYTHON_TEXT = 1 << 28,
       PYTHON_DICT = 1 << 29,
       PYTHON_TYPE_TYPE = (int)(1u << 31),
};

/* NULL: not one of these versions. */
const struct python_layout *python_layout_of(uint32_t minor);
