/* SPDX-License-Identifier: ISC */
/* The memory of C11, for sources that are compiled with -fsanitize=thread: the compiler then has every access to memory
 * call a function __tsan_…, which are ours here instead of ThreadSanitizer's.
 *
 * The model is that of CDSChecker (Norris and Demsky, OOPSLA 2013) and Relacy (Vyukov), in short:
 *
 *   - A location has a history: all values that were ever stored to it, in order of modification.
 *   - A load may get any of them, except those that are older than one that happens before the load, or than one that the
 *     thread has loaded or stored itself. Happens-before is kept as vector clocks: a release store, or a relaxed one
 *     behind a release fence, carries the clock of its thread; an acquire load, or an acquire fence behind a relaxed load,
 *     takes it over. A read-modify-write gets the newest value, and carries on what that one carried.
 *   - Sequentially consistent fences stand in one order. What the thread of an earlier one had stored or seen, that of a later
 *     one cannot see older any more. Sequentially consistent loads and stores of one location cannot be overtaken either.
 *   - membarrier(2) makes such a fence in every other thread, at some moment of the call.
 *   - Accesses that are not atomic must not race: each byte knows who wrote and read it last, and that it is ordered with the
 *     next one is checked. Then they have no choice of values, and use the memory as it is.
 *
 * What it leaves out, so that the test cannot find it: the order of modification is that in which stores are executed
 * (relaxed stores of two threads to two locations, seen in opposite orders, are missed; so is a load that gets what is
 * stored later than it is made). Different threads may see independent stores in different orders, as on machines that are
 * not multi-copy atomic. Weak compare-and-swap does not fail without a reason. A word is one location, but where the
 * recorder itself uses the bytes of one: those are a location each (memory_bytes). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that threads share. Its content at the call of memory_ready is what each run begins with. Everything that is not in
 * a region is a thread's own. */
void memory_region(void *at, size_t bytes, const char *name);

/* A part of a region of which single bytes are stored. */
void memory_bytes(void *at, size_t bytes);

/* A part of a region in which races are meant, since its bytes are checked before they are used. */
void memory_unchecked(void *at, size_t bytes);

void memory_forget(void); /* all regions */
void memory_ready(void);  /* they are set up */
void memory_begin(void);  /* a run */
void memory_end(void);    /* … ends: accesses are plain ones again */
uint64_t memory_hash(void);

/* What is done for a store to a region: before it, whatever it is, and after an atomic one. */
extern void (*memory_before_store)(const void *at);
extern void (*memory_after_store)(const void *at, uint64_t value);

/* The thread sees all that was stored so far. */
void memory_catch_up(void);

/* Makes sequentially consistent fences in all threads, as membarrier(2) does. */
void memory_barrier(void);

/* Another process: it loads and stores what is mapped. Its copies race with everything; whether a byte of one was not
 * ordered is returned. */
uint64_t foreign_load(const void *at, unsigned bytes, int order);
void foreign_store(void *at, unsigned bytes, uint64_t value, int order);
bool foreign_copy(void *to, const void *from, size_t bytes);
void foreign_fence(int order);

/* A name for an address, for the way to what is wrong: by memory_part if that knows one, else by region and offset. */
const char *memory_name(const void *at);
extern bool (*memory_part)(const void *at, char *name, size_t size);
