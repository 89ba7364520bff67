/* SPDX-License-Identifier: ISC */
/* Words of labels that mean something to whoever looks at a trace; weft itself has none.
 *
 *     struct weft_words *words = NULL;
 *     const char *wrong = weft_words_add(&words, "may-last: session peer");
 *     … weft_explain, with .words = words …
 *     weft_words_free(words); */
#ifndef WEFT_ANALYSE_WORDS_H
#define WEFT_ANALYSE_WORDS_H

#include <stddef.h>
#include <stdint.h>

struct weft_words;

/* Adds a line: what the words say, a colon, words. A word is small letters, 24 at most; lines that are empty, or begin with #,
 * say nothing. *words is NULL before the first one. Returns NULL, or what is wrong with it: then nothing was
 * added. */
const char *weft_words_add(struct weft_words **words, const char *line);
void weft_words_free(struct weft_words *words);

/* Which of them a text has, as bits of types.h; inside of analyse. A word of a text is letters only, whatever their
 * case; with or without an ending (timer, timers; wait, waits, waiter, waiting, waited); "idleTimer" and
 * "idle_timer" are two words each. */
unsigned analyse_words_in(const struct weft_words *words, const char *text, uint32_t size);

#endif
