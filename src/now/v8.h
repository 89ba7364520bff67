/* SPDX-License-Identifier: ISC */
/* The heap of V8 in another process, read from outside: no code of it runs, nothing is collected, nothing stops. (The
 * inspector cannot list promises without collecting garbage first, and a promise that nobody can resolve is garbage,
 * together with all that waits for it.)
 *
 * Types and offsets are those that V8 leaves in its program for debuggers ("v8dbg_…" in the dynamic symbols), in
 * every build of Node.js. What these leave out is the same in V8 10 to 13 (Node.js 18 to 24), or told apart,, and checked by the types
 * of what is found there. The process goes on meanwhile, and may be hostile: any read may give anything.
 *
 * A value is a word: an object's address + 1, or a small number in its upper half. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "now/process.h"

/* Numbers whose names begin so, without v8dbg_; what is missing is V8_MISSING. */
#define V8_NUMBERS(X)                                                                              \
    X(TYPE_MAP, "type_Map__")                                                                      \
    X(TYPE_PROMISE, "type_JSPromise__")                                                            \
    X(TYPE_REACTION, "type_PromiseReaction__")                                                     \
    X(TYPE_CAPABILITY, "type_PromiseCapability__")                                                 \
    X(TYPE_ASYNC, "type_JSAsyncFunctionObject__")                                                  \
    X(TYPE_ASYNC_GENERATOR, "type_JSAsyncGeneratorObject__")                                       \
    X(TYPE_REQUEST, "type_AsyncGeneratorRequest__")                                                \
    X(TYPE_MODULE, "type_SourceTextModule__")                                                      \
    X(TYPE_PROPERTIES, "type_PropertyArray__")                                                     \
    X(TYPE_FUNCTION, "type_JSFunction__")                                                          \
    X(TYPE_SHARED, "type_SharedFunctionInfo__")                                                    \
    X(TYPE_SCOPE_INFO, "type_ScopeInfo__")                                                         \
    X(TYPE_SCRIPT, "type_Script__")                                                                \
    X(TYPE_BYTECODE, "type_BytecodeArray__")                                                       \
    X(TYPE_BYTES, "type_ByteArray__")                                                              \
    X(FIRST_CONTEXT, "FirstContextType")                                                           \
    X(LAST_CONTEXT, "LastContextType")                                                             \
    X(FIRST_NONSTRING, "FirstNonstringType")                                                       \
    X(STRING_REPRESENTATION, "StringRepresentationMask")                                           \
    X(STRING_ENCODING, "StringEncodingMask")                                                       \
    X(STRING_ONE_BYTE, "OneByteStringTag")                                                         \
    X(STRING_SEQUENTIAL, "SeqStringTag")                                                           \
    X(STRING_CONS, "ConsStringTag")                                                                \
    X(STRING_EXTERNAL, "ExternalStringTag")                                                        \
    X(STRING_SLICED, "SlicedStringTag")                                                            \
    X(STRING_THIN, "ThinStringTag")                                                                \
    X(MAP_TYPE, "class_Map__instance_type__")                                                      \
    X(MAP_CONSTRUCTOR, "class_Map__constructor_or_back_pointer__")                                 \
    X(FUNCTION_SHARED, "class_JSFunction__shared__")                                               \
    X(FUNCTION_CONTEXT, "class_JSFunction__context__")                                             \
    X(SHARED_NAME, "class_SharedFunctionInfo__name_or_scope_info__")                               \
    X(SCRIPT_NAME, "class_Script__name__")                                                         \
    X(SCRIPT_SOURCE, "class_Script__source__")                                                     \
    X(STRING_LENGTH, "class_String__length__")                                                     \
    X(STRING_CHARS, "class_SeqOneByteString__chars__")                                             \
    X(CONS_FIRST, "class_ConsString__first__")                                                     \
    X(CONS_SECOND, "class_ConsString__second__")                                                   \
    X(THIN_ACTUAL, "class_ThinString__actual__")                                                   \
    X(SLICED_PARENT, "class_SlicedString__parent__")                                               \
    X(SLICED_OFFSET, "class_SlicedString__offset__")                                               \
    X(EXTERNAL_RESOURCE, "class_ExternalString__resource__")                                       \
    X(UNCOMPILED_FIRST, "class_UncompiledData__start_position__")                                  \
    X(UNCOMPILED_END, "class_UncompiledData__end_position__")                                      \
    X(SCOPE_LOCALS, "scopeinfo_idx_ncontextlocals")                                                \
    X(SCOPE_VARIABLES, "scopeinfo_idx_first_vars")                                                 \
    X(BYTECODE_DATA, "class_BytecodeArray__data__")                                                \
    X(TYPE_OBJECT, "type_JSObject__")                                                              \
    X(MAP_PROPERTIES_START,                                                                        \
      "class_Map__inobject_properties_start_or_constructor_function_index__")                      \
    X(MAP_DESCRIPTORS, "class_Map__instance_descriptors__")                                        \
    X(DESCRIPTORS_HEAD, "class_DescriptorArray__header_size__")                                    \
    X(PROPERTY_INDEX_MASK, "prop_index_mask")                                                      \
    X(PROPERTY_INDEX_SHIFT, "prop_index_shift")                                                    \
    X(PROPERTY_LOCATION_MASK, "prop_location_mask")                                                \
    X(TYPE_TRUSTED_BYTES, "type_TrustedByteArray__") /* only from V8 12 on */

enum v8_number {
#define X(name, begins) V8_##name,
    V8_NUMBERS(X)
#undef X
        V8_COUNT
};
enum { V8_MISSING = INT32_MIN, V8_NO_TYPE = INT32_MAX };

/* Offsets in objects of V8 that it has no numbers for. */
enum {
    V8_PROMISE_REACTIONS = 24, /* 0 or a reaction while it is pending, else its value */
    V8_PROMISE_FLAGS = 32,     /* the lowest two bits: 0 pending */
    V8_REACTION_NEXT = 8,      /* all four: from V8 12 on one word later */
    V8_REACTION_REJECT = 16,
    V8_REACTION_FULFILL = 24,
    V8_REACTION_DERIVED = 32, /* a promise, a capability, or undefined */
    V8_CAPABILITY_PROMISE = 8,
    V8_GENERATOR_FUNCTION = 24,
    V8_GENERATOR_CONTEXT = 32,
    V8_GENERATOR_CODE_OFFSET = 48,
    V8_GENERATOR_CONTINUATION = 64, /* negative: it runs, or has ended */
    V8_GENERATOR_VARIABLES = 72,
    V8_ASYNC_PROMISE = 80, /* the promise that an async function returned */
    V8_ASYNC_QUEUE = 80,   /* of an async generator: requests for the next value */
    V8_REQUEST_NEXT = 8,
    V8_REQUEST_PROMISE = 32,
    V8_SHARED_CODE = 8,
    V8_SHARED_SCRIPT = 32,
    V8_CONTEXT_LENGTH = 8,
    V8_CONTEXT_SCOPE = 16,
    V8_CONTEXT_OUTER = 24,
    V8_CONTEXT_FIRST = 32, /* the first slot that has no meaning of its own in every context */
};

/* Memory of V8, copied. */
struct v8_piece {
    uint64_t at;
    uint32_t words;
    uint64_t *word;
};

struct v8 {
    struct now_process *p;
    const char *object; /* the name of the file that it is in */
    int32_t number[V8_COUNT];
    struct v8_copied *copied;
    const struct v8_piece *piece; /* sorted by address */
    uint32_t pieces;
    uint64_t left_bytes; /* of the heap that were not copied: too many, or it took too long */
    char *block;         /* what was read last of other memory */
    uint64_t *block_at;
    int64_t copy_until_ns, until_ns; /* of the monotonic clock */
};

/* Returns false if there is no V8 in the process, or it does not say enough of itself: then *odd is true. v8_close in
 * either case. */
bool v8_open(struct v8 *v, struct now_process *p, bool *odd);
void v8_close(struct v8 *v);

/* It has taken as long as it may. */
bool v8_late(const struct v8 *v);

static inline bool v8_is_object(uint64_t value)
{
    return (value & 3) == 1;
}
static inline bool v8_is_small(uint64_t value)
{
    return (uint32_t)value == 0;
}
static inline int32_t v8_small(uint64_t value)
{
    return (int32_t)(value >> 32);
}

/* False: it cannot be read. */
bool v8_read(struct v8 *v, uint64_t at, void *to, size_t bytes);

/* The word at an offset in an object; 0 if that cannot be read, or it is no object. If it is an object that has been moved
 * by a collection of garbage, it is the new one. */
uint64_t v8_field(struct v8 *v, uint64_t object, int32_t offset);

/* The type of an object; V8_NO_TYPE: it is none. */
int32_t v8_type(struct v8 *v, uint64_t object);
bool v8_is(struct v8 *v, uint64_t object, enum v8_number type);
bool v8_is_function(struct v8 *v, uint64_t object); /* also constructors */
bool v8_is_context(struct v8 *v, uint64_t object);

/* ---- v8_copy.c ---- */

/* Copies the heap, so that all that follows sees it at about one moment; a second call copies it again. Returns false
 * without memory. */
bool v8_copy(struct v8 *v);
void v8_forget(struct v8 *v);

/* Returns true if the process has written to an object, or moved it, since it was copied. */
bool v8_changed(struct v8 *v, uint64_t object);

/* ---- v8_scan.c ---- */

/* Calls found for everything in the copy that looks like an object of one of these types, also what is garbage but not
 * yet overwritten: an async function that waits for what nobody can resolve is garbage. Returns false without memory. */
bool v8_each(struct v8 *v, const enum v8_number *types, uint32_t count,
             void (*found)(void *data, uint64_t object, enum v8_number type), void *data);

/* Calls found for every aligned word of the copy that is one of these values, which are sorted. */
void v8_each_word(struct v8 *v, const uint64_t *values, uint32_t count,
                  void (*found)(void *data, uint64_t at, uint64_t value), void *data);

/* ---- v8_text.c ---- */

/* Writes the text of a string as UTF-8, cut to the room; "" if it is none. room is at least 4. */
void v8_string(struct v8 *v, uint64_t string, char *text, size_t room);

/* The text of a function from its parameters on, cut to the room, one byte for each character: what is not ASCII becomes
 * "?"; no NUL is added. Returns how many bytes; 0: it is not known. */
size_t v8_source(struct v8 *v, uint64_t function, char *text, size_t room);

struct v8_place {
    char function[128]; /* "" if it has no name */
    char file[256];     /* "" if it is not known */
    uint32_t line;      /* 0: not known */
    uint32_t begins;    /* the line in which the function begins; 0: not known */
    bool module;        /* it is all of a module */
};

/* Where a function is. code_offset: what a suspended one says of its place; -1: none. */
void v8_function(struct v8 *v, uint64_t function, int32_t code_offset, struct v8_place *place);

/* True: V8 made it, in its own code. */
bool v8_is_built_in(struct v8 *v, uint64_t function);

/* ---- v8_names.c ---- */

/* The object that a word is in; 0: not known. It takes about as long as there are words since the one that was asked for
 * before: ask in the order of addresses. */
struct v8_around {
    uint64_t at, object; /* of the word before; {0} at first */
};
uint64_t v8_object_around(struct v8 *v, uint64_t at, struct v8_around *before);

/* Each writes a name, which is "" if it is not known: of the class of an object, of the property that is at an offset in
 * an object, of the variable that is at an offset in a context. */
void v8_class(struct v8 *v, uint64_t object, char *name, size_t room);
void v8_property(struct v8 *v, uint64_t object, int32_t offset, char *name, size_t room);
void v8_variable(struct v8 *v, uint64_t context, int32_t offset, char *name, size_t room);

/* The value of a property that is in the object itself; 0: there is none. */
uint64_t v8_property_value(struct v8 *v, uint64_t object, const char *name);

/* Returns true if the source text of a function has this text in it, as whole words. */
bool v8_mentions(struct v8 *v, uint64_t function, const char *text);
