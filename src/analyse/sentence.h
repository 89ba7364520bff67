/* SPDX-License-Identifier: ISC */
/* Fills the slots of the sentences in sentences.def.
 *     analyse_put(&t, m, families, SAY_LOST_LATE, PROMISE(condition, c), TIME(came, at),
 *                 PROMISE(waiter, w), TIME(began, from));
 * tools/check-sentences compares the slots that are filled with the slots of the sentences. */
#pragma once

#include "analyse/names.h"

enum analyse_sentence {
    SAY_NOTHING,
#define SENTENCE(NAME, text) SAY_##NAME,
#include "analyse/sentences.def"
#undef SENTENCE
};

/* What fills a slot. */
struct analyse_slot {
    const char *name;
    enum {
        ANALYSE_PROMISE, /* with its number; WEFT_NONE: empty */
        ANALYSE_NAME,    /* only the name; WEFT_NONE: empty */
        ANALYSE_FAMILY,  /* WEFT_NONE: empty */
        ANALYSE_TIME,    /* INT64_MIN: empty */
        ANALYSE_LENGTH,  /* within brackets, 0 counts as empty; also for a count or a number */
        ANALYSE_COUNT,   /* "1,204" */
        ANALYSE_NUMBER,  /* "1204" */
        ANALYSE_FLAG,    /* prints nothing; if it is false, its part in brackets is left out */
        ANALYSE_TEXT,    /* clean; NULL or "": empty */
        ANALYSE_PHRASE,  /* another template, with the same slots */
    } is;
    int64_t value;
    const char *text;
    /* the model of a promise of another run; NULL: the sentence's model */
    const struct weft_model *m;
};

#define ANALYSE_SLOT(name, is, value, text, m)                                                     \
    ((struct analyse_slot){#name, ANALYSE_##is, (int64_t)(value), text, m})
#define PROMISE(name, promise) ANALYSE_SLOT(name, PROMISE, promise, NULL, NULL)
#define PROMISE_OF(model, name, promise) ANALYSE_SLOT(name, PROMISE, promise, NULL, model)
#define SORT(name, family) ANALYSE_SLOT(name, FAMILY, family, NULL, NULL)
#define TIME(name, time_ns) ANALYSE_SLOT(name, TIME, time_ns, NULL, NULL)
#define LENGTH(name, ns) ANALYSE_SLOT(name, LENGTH, ns, NULL, NULL)
#define AMOUNT(name, n) ANALYSE_SLOT(name, COUNT, n, NULL, NULL)
#define NUMBER(name, n) ANALYSE_SLOT(name, NUMBER, n, NULL, NULL)
#define FLAG(name, is) ANALYSE_SLOT(name, FLAG, is, NULL, NULL)
#define TEXT(name, text) ANALYSE_SLOT(name, TEXT, 0, text, NULL)
#define PHRASE(name, which) ANALYSE_SLOT(name, PHRASE, 0, analyse_sentence_text(which), NULL)

/* Slots and their number, as two arguments. */
#define ANALYSE_SLOTS(...)                                                                         \
    (const struct analyse_slot[]){{.name = ""}, __VA_ARGS__},                                      \
        sizeof((const struct analyse_slot[]){{.name = ""}, __VA_ARGS__}) /                         \
            sizeof(struct analyse_slot)

/* Adds a template with its slots filled. Puts a space in front if there is text before it that does
 * not end with one, unless the template begins with a punctuation mark. m: NULL if all promises
 * have their own model. families: of m, or NULL if no slot is a family. */
void analyse_fill(struct analyse_text *t, const struct weft_model *m,
                  const struct analyse_families *families, const char *text,
                  const struct analyse_slot *slots, size_t count);

/* The same for a sentence. */
#define analyse_put(t, m, families, which, ...)                                                    \
    analyse_put_slots(t, m, families, which, ANALYSE_SLOTS(__VA_ARGS__))
void analyse_put_slots(struct analyse_text *t, const struct weft_model *m,
                       const struct analyse_families *families, enum analyse_sentence which,
                       const struct analyse_slot *slots, size_t count);

/* The same as a new text, which the caller frees. NULL: no memory; *failed is then true. */
#define analyse_put_new(failed, m, families, which, ...)                                           \
    analyse_put_slots_new(failed, m, families, which, ANALYSE_SLOTS(__VA_ARGS__))
char *analyse_put_slots_new(bool *failed, const struct weft_model *m,
                            const struct analyse_families *families, enum analyse_sentence which,
                            const struct analyse_slot *slots, size_t count);

/* A sentence without slots. */
const char *analyse_sentence_text(enum analyse_sentence which);
