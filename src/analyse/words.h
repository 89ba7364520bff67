/* SPDX-License-Identifier: ISC */
/* What a promise's name says of what it is for: "read chunk 7" reads. Inside of analyse: for guards, where only the
 * name tells a fault from what is meant to be so. */
#ifndef WEFT_ANALYSE_WORDS_H
#define WEFT_ANALYSE_WORDS_H

#include "model/model.h"

/* Whether the type or the first label of a promise has one of these words: letters only, whatever their case; with
 * or without an ending (timer, timers; wait, waits, waiter, waiting, waited); "idleTimer" and "idle_timer" are two words each. words: in small letters,
 * with a space before and behind each. */
bool weft__has_word(const struct weft_model *m, uint32_t promise, const char *words);

/* The same of any text. */
bool weft__text_has_word(const char *text, uint32_t size, const char *words);

/* Whether a text has a word of at least three letters that is not one of these. */
bool weft__text_has_other_word(const char *text, uint32_t size, const char *words);

/* Whether the type or the label has one of these in it, in small letters, wherever; NULL is the last one. */
bool weft__is_called(const struct weft_model *m, uint32_t promise, const char *const *parts);

/* Whether something comes when its time has come, as its type says: it is "timer", "sleep" and the like, exactly. */
bool weft__is_timer(const struct weft_model *m, uint32_t promise);

/* The lists, for searches: all words that a guard goes by are here. Names are what authors like, so where times, runs
 * and causes can tell, they do, and these only lower a confidence. */

/* serial.c: what goes on in order. transfers: unless each is of another thing: "read socket" again and again, but not
 * "read user 7". inputs: where the label has no other word: "key", but not "get key 7". */
extern const char weft__words_ordered[], weft__words_transfers[], weft__words_inputs[];
extern const char
    weft__words_transactions[];         /* what comes before and after things that go on in order */
extern const char weft__words_timers[]; /* what comes when its time has come */
extern const char
    weft__words_clients[]; /* who asks one thing after the other, as somebody outside would */
extern const char
    weft__words_loads[]; /* … and what he asks for, if it is a piece of work of its own */

/* herd.c: what all who wait for it are told. */
extern const char weft__words_news[];

/* leak.c: what stays as long as somebody likes; what may wait for long; what may be dropped without a word. */
extern const char weft__words_lasting[], weft__words_idle[], weft__words_reused[];
extern const char weft__words_general[]; /* types that say nothing */

/* failure.c: who stands for somebody outside, and is created by whom; the program itself; reasons that are none; what nobody looks
 * at, as its runtime says. */
extern const char weft__words_outside[], weft__words_doors[];
extern const char weft__words_programs[], weft__words_cancelled[], weft__words_unhandled[];

/* graph.c, owner.c: what ends a wait when its time has come; locks. */
extern const char *const weft__parts_limits[], *const weft__parts_locks[];

#endif
