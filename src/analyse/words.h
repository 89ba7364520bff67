/* SPDX-License-Identifier: ISC */
/* Words in labels that mean something to whoever looks at a trace; weft itself has none.
 *     struct weft_words *words = NULL;
 *     const char *wrong = weft_words_add(&words, "may-last: session peer");
 *     … weft_explain, with .words = words …
 *     weft_words_free(words); */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct weft_words;

/* Adds a line: what the words mean, a colon, the words. A word consists of lower-case letters, at
 * most 24; empty lines, and those that begin with #, are ignored. *words must be NULL before the
 * first line. Returns NULL, or what is wrong with the line: then nothing was added. */
const char *weft_words_add(struct weft_words **words, const char *line);
void weft_words_free(struct weft_words *words);

/* Which of the words a text contains, as bits of types.h. Internal to analyse. A word of a text
 * consists only of letters, in upper or lower case, with or without an ending (timer, timers; wait,
 * waits, waiter, waiting, waited); "idleTimer" and "idle_timer" are two words each. */
unsigned analyse_words_in(const struct weft_words *words, const char *text, uint32_t size);
