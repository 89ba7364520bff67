/* SPDX-License-Identifier: ISC */
/* How a profile is filled. All of it on one thread. Functions that return an index give WEFT_NONE where there is no
 * memory or 2^32 - 2 of the sort are there; the profile can then still be freed, and nothing else.
 *
 * What is equal is kept once: texts, functions, locations (process, address, mapping, caller), nodes of stacks. The
 * tables behind that are hashed with base/seed.h, since a file's author may choose what is in them. */
#ifndef WEFT_PROFILE_BUILD_H
#define WEFT_PROFILE_BUILD_H

#include "profile/profile.h"

struct weft_profile *weft_profile_new(void); /* NULL: no memory */

uint32_t weft_profile_add_text(struct weft_profile *p, const char *text, uint32_t size);
uint32_t weft_profile_add_source(struct weft_profile *p, const struct weft_source *s);

/* m->to_ns is ignored: a mapping lasts until a later one of the process overlaps it, or the process runs another
 * program (weft_profile_exec). */
uint32_t weft_profile_add_mapping(struct weft_profile *p, const struct weft_mapping *m);
void weft_profile_exec(struct weft_profile *p, uint32_t process, uint64_t time_ns);

/* A forked process begins with its parent's mappings. */
int weft_profile_fork(struct weft_profile *p, uint32_t process, uint32_t parent, uint64_t time_ns);

/* The thread with these numbers, made if it is not there. name: text, or WEFT_NONE to leave what it has. */
uint32_t weft_profile_add_thread(struct weft_profile *p, uint32_t process, uint32_t thread,
                                 uint32_t name);

/* A stack, one frame deeper than parent (0: the outermost); of more than 4096 frames the outer ones. Which mapping
 * the address lies in is settled by weft_profile_finish, since mappings may be told later than samples; so a
 * location is for one process (and program: see weft_profile_exec) and the time of its first use. flags: enum
 * weft_node_flags. */
uint32_t weft_profile_push(struct weft_profile *p, uint32_t parent, uint32_t process,
                           uint64_t address, uint8_t flags, uint64_t time_ns);

int weft_profile_add_sample(struct weft_profile *p,
                            const struct weft_sample *s); /* promise, gap: ignored */
int weft_profile_add_absence(struct weft_profile *p,
                             const struct weft_absence *a); /* promise, gap: ignored */
int weft_profile_add_interrupt(struct weft_profile *p, const struct weft_interrupt *i);

uint32_t weft_profile_add_function(struct weft_profile *p, const struct weft_function *f);

/* What stands at a location: frames, innermost first; count 0: nothing is known. Replaces what was there. */
int weft_profile_resolve(struct weft_profile *p, uint32_t location, const struct weft_frame *frame,
                         uint32_t count);

/* What is looked up for a location of a finished profile, and what WEFT_RECORD_SYMBOL calls it: of callers the
 * address before that of the return. An offset in the mapping's file; of the kernel, of generated code and where no
 * mapping is known the address. */
uint64_t weft_profile_symbol_offset(const struct weft_profile *p, uint32_t location);

/* The mapping is of code that stands in no file, and means something in its process only. */
bool weft_profile_is_generated(const struct weft_profile *p, uint32_t mapping);

/* Symbols told by file and offset (as WEFT_RECORD_SYMBOL), for all locations there; used by weft_profile_finish. Of
 * object its path, build id and process (UINT32_MAX unless the code is generated) count. */
int weft_profile_add_symbol(struct weft_profile *p, const struct weft_mapping *object,
                            uint64_t offset, const struct weft_frame *frame, uint32_t count);

/* Sorts, finds each location's mapping, applies the symbols. After it functions and resolutions may be added; after
 * anything else it is to be called again. Threads that are away are so until the end, or until
 * p->switches_until_ns. 0 or WEFT_E_NOMEM. */
int weft_profile_finish(struct weft_profile *p);

#endif
