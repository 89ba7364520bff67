/* SPDX-License-Identifier: ISC */
/* How to fill a profile; all on one thread. Functions that return an index return WEFT_NONE if
 * there is no memory, or if there are already 2^32 - 2 items of that sort; after that the profile
 * can only be freed. Then all functions may still be called, with such an index, too, and
 * weft_profile_finish returns WEFT_E_NOMEM: so a reader need not check each step.
 * Equal things are stored once: texts, functions, locations (process, address, mapping, caller),
 * nodes of stacks. The hash tables for that are seeded (base/seed.h), since a file's author may
 * choose what is in them. */
#pragma once

#include "profile/profile.h"

struct weft_profile *weft_profile_new(void); /* NULL: no memory */

uint32_t weft_profile_add_text(struct weft_profile *p, const char *text, uint32_t size);
uint32_t weft_profile_add_source(struct weft_profile *p, const struct weft_source *s);

/* m->to_ns is ignored: a mapping lasts until a later one of the process overlaps it, or the process
 * runs another program (weft_profile_exec). */
uint32_t weft_profile_add_mapping(struct weft_profile *p, const struct weft_mapping *m);
/* The same once more, for a process that began anew at that time, changes nothing. */
void weft_profile_exec(struct weft_profile *p, uint32_t process, uint64_t time_ns);

/* A forked process begins with its parent's mappings. */
int weft_profile_fork(struct weft_profile *p, uint32_t process, uint32_t parent, uint64_t time_ns);

/* The thread with these numbers; added if it is new. name: a text, or WEFT_NONE to keep the current
 * name. */
uint32_t weft_profile_add_thread(struct weft_profile *p, uint32_t process, uint32_t thread,
                                 uint32_t name);

/* A stack that is one frame deeper than parent (0: the outermost); of more than 4096 frames only
 * the outer ones are kept. weft_profile_finish decides which mapping the address is in, since
 * mappings may be added later than samples; so a location belongs to one process (and program: see
 * weft_profile_exec) and the time of its first use. flags: enum weft_node_flags. */
uint32_t weft_profile_push(struct weft_profile *p, uint32_t parent, uint32_t process,
                           uint64_t address, uint8_t flags, uint64_t time_ns);

/* promise, gap: ignored */
int weft_profile_add_sample(struct weft_profile *p, const struct weft_sample *s);
int weft_profile_add_absence(struct weft_profile *p, const struct weft_sample *a);
int weft_profile_add_interrupt(struct weft_profile *p, const struct weft_interrupt *i);

uint32_t weft_profile_add_function(struct weft_profile *p, const struct weft_function *f);

/* Sets what is at a location: frames, innermost first; count 0: nothing is known. Replaces what was
 * there. */
int weft_profile_resolve(struct weft_profile *p, uint32_t location, const struct weft_frame *frame,
                         uint32_t count);

/* The offset to look up for a location of a finished profile, as in WEFT_RECORD_SYMBOL: for
 * callers, that of the byte before the return address. It is an offset in the mapping's file; for
 * the kernel, for generated code, and if no mapping is known, it is the address. */
uint64_t weft_profile_symbol_offset(const struct weft_profile *p, uint32_t location);

/* Returns true if the mapping is of code that is not in a file, and so means something in its
 * process only. */
bool weft_profile_is_generated(const struct weft_profile *p, const struct weft_mapping *m);

/* Adds symbols by file and offset (as in WEFT_RECORD_SYMBOL), for all locations there;
 * weft_profile_finish uses them. Only the path, build id and process of object matter (process is
 * UINT32_MAX unless the code is generated). */
int weft_profile_add_symbol(struct weft_profile *p, const struct weft_mapping *object,
                            uint64_t offset, const struct weft_frame *frame, uint32_t count);

/* Sorts, finds each location's mapping, and applies the symbols. After that, only functions and
 * resolutions may be added; after adding anything else, call it again. Threads that are off the CPU
 * stay so until the end, or until p->switches_until_ns. Returns 0 or WEFT_E_NOMEM. */
int weft_profile_finish(struct weft_profile *p);

/* ---- weft's own packets of samples (load.c) ----
 *
 * Several files may be added one after another. Input is hostile: errors are clear and have an
 * offset, and a file cannot choose how much is allocated. Functions return 0 or a negative WEFT_E
 * code. What can be skipped is counted in p->skipped. */

/* The samples of a weft trace. If it has none, p stays as it was. */
int weft_profile_load_trace(struct weft_profile *p, struct weft_reader *r, struct weft_error *err);

/* One complete packet of class WEFT_PACKET_SAMPLES, aligned to 8 bytes, at offset at of its
 * file. */
int weft_profile_load_packet(struct weft_profile *p, const void *packet, size_t bytes, uint64_t at,
                             struct weft_error *err);
