/* SPDX-License-Identifier: ISC */
/* For programs that were compiled against the first headers, where the library's internal names had two
 * underscores (weft__create). They find these names in the shared library, with version WEFT_1; new programs
 * cannot be linked with them. Nothing else needs this file: no member of the static library refers to it.
 *
 * The word that calls test is a special case, because it is a variable. A program that is not
 * position-independent has its own copy of it under the old name, while a plug-in of today uses the new name.
 * So both are always stored together (control.c), and weft ctl rings both.
 *
 * Such programs existed only for glibc on 64-bit machines. This file is compiled without link-time
 * optimization, which would remove the names. */
#include "record/start.h"

#if defined __GLIBC__ && defined __LP64__

/* Gives the function the old name and version instead of its C name. This also holds for references from this
 * file: they are bound to the program's copy, if it has one. */
#define OLD(here, name) __asm__(".symver " #here ", " #name "@WEFT_1, remove")

extern uint32_t old_state;
uint32_t old_state;
OLD(old_state, weft__state);

__attribute__((constructor(101))) static void begin(void)
{
    weft_record_control.old_word = &old_state;
    __atomic_store_n(&old_state, __atomic_load_n(&weft_impl_state, __ATOMIC_SEQ_CST),
                     __ATOMIC_SEQ_CST);
}

#define OLD_CALL(type, name, arguments, call)                                                      \
    type old_##name arguments;                                                                     \
    type old_##name arguments                                                                      \
    {                                                                                              \
        return weft_impl_##name call;                                                              \
    }                                                                                              \
    OLD(old_##name, weft__##name)

OLD_CALL(weft_promise, create, (struct weft_site * s, const char *type, const char *label),
         (s, type, label));
OLD_CALL(weft_promise, create_from,
         (struct weft_site * s, weft_promise parent, const char *type, const char *label),
         (s, parent, type, label));
OLD_CALL(weft_promise, create_id,
         (struct weft_site * s, weft_promise parent, weft_promise id, const char *type,
          const char *label),
         (s, parent, id, type, label));
OLD_CALL(weft_promise, run, (weft_promise p), (p));
OLD_CALL(void, event, (unsigned kind, weft_promise p), (kind, p));
OLD_CALL(void, event_by, (unsigned kind, weft_promise actor, weft_promise p), (kind, actor, p));
OLD_CALL(void, label, (struct weft_text * place, weft_promise p, const char *text),
         (place, p, text));
OLD_CALL(void, fail, (struct weft_text * place, weft_promise p, const char *reason),
         (place, p, reason));
OLD_CALL(void, resolve_by,
         (struct weft_text * place, weft_promise resolver, weft_promise p, unsigned ending,
          const char *reason),
         (place, resolver, p, ending, reason));
OLD_CALL(void, counter, (struct weft_counter * counter, int64_t n, int add), (counter, n, add));
OLD_CALL(void, suspend, (unsigned why), (why));
OLD_CALL(void, resume, (void), ());
OLD_CALL(void, gc, (uint64_t duration_ns), (duration_ns));

#endif
