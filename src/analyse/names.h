/* SPDX-License-Identifier: ISC */
/* How things are named in sentences, which are valid UTF-8 without control characters. */
#pragma once

#include "base/duration.h"
#include "model/model.h"

/* A text that grows. All zero: empty. Release it with analyse_text_fini. If there is no memory, it
 * sets failed and stays as it is. */
struct analyse_text {
    char *text; /* NUL-terminated; NULL as long as nothing was added */
    size_t size;
    uint32_t room;
    bool failed;
};

/* Like printf, with bytes that are not clean UTF-8 replaced. For names, see below. */
void analyse_put_format(struct analyse_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* 'ARP response' if it has a label, otherwise "type 12"; "the event loop". */
void analyse_put_name(struct analyse_text *t, const struct weft_model *m, uint32_t promise);

/* 'ARP response' (condition 8); "type 12"; "the event loop". */
void analyse_put_full(struct analyse_text *t, const struct weft_model *m, uint32_t promise);

/* ", created by 'ARP query' for 'TCP connect'": up to three creators with labels, or nothing. */
void analyse_put_origin(struct analyse_text *t, const struct weft_model *m, uint32_t promise);

/* "src/a.c:12", of a place of the model (weft_model_origin); without the line if that is not known. */
void analyse_put_place(struct analyse_text *t, const struct weft_model *m, uint32_t place);

/* analyse_put_name as an argument: printf("%s\n", analyse_as_name(m, promise).text); */
struct analyse_phrase {
    char text[128];
};
struct analyse_phrase analyse_as_name(const struct weft_model *m, uint32_t promise);

/* How a promise ended, as a verb: "was fulfilled". */
const char *analyse_outcome_verb(const struct weft_model *m, uint32_t promise);

/* Adds a text of any size; and cuts the text to its first size bytes.
 *     analyse_text_add(t, weft_moment(time_ns).text); */
void analyse_text_add(struct analyse_text *t, const char *text);
void analyse_text_cut(struct analyse_text *t, size_t size);

/* Finds the interactions (RESOLVES_AGAIN) that ended a promise a second time (WEFT_ROOT: any
 * promise); the first end counts, though somebody relies on the second. Stores the first ones, at
 * most room. With WEFT_ROOT, promises that were cancelled first are left out, since it is normal
 * that they are resolved later. Returns how many there are. Linear in the interactions. */
uint64_t weft_ended_again(const struct weft_model *m, uint32_t promise, uint32_t *first,
                          uint32_t room);

/* Hands the text to the caller, who frees it; NULL if it failed or is empty. */
char *analyse_text_take(struct analyse_text *t);
void analyse_text_fini(struct analyse_text *t);

/* Writes a label with each number replaced by '#' to out, which has ANALYSE_SHAPE_BYTES; not
 * NUL-terminated, and cut if it is longer. Returns the size. */
#define ANALYSE_SHAPE_BYTES 256
uint32_t analyse_shape(char *out, const char *label, uint32_t size);

struct analyse_pairs; /* pairs.h */

/* Promises of one sort: they have the same type, and the same first label ignoring numbers: "GET
 * /users/7" and "GET /users/12" are "GET /users/#". */
struct analyse_families {
    uint32_t *of;    /* by promise */
    uint32_t *first; /* by family: its first promise; [0] is the loop's */
    uint32_t *size;  /* by family: how many promises it has */
    bool *differs;   /* … their labels differ */
    uint32_t count;
};

/* Returns 0 or WEFT_E_NOMEM. */
int analyse_families_init(struct analyse_families *f, const struct weft_model *m);

/* The same for another text than the first label: name_of says which, or WEFT_NONE; NULL: by type
 * alone. exact: numbers in it count. */
typedef uint32_t analyse_name_fn(const struct weft_model *m, uint32_t promise);
int analyse_sorts_init(struct analyse_families *f, const struct weft_model *m,
                       analyse_name_fn *name_of, bool exact);

/* The same in steps. All zero at first. */
struct analyse_sorting {
    struct analyse_families f; /* the result; whoever takes it sets this to zero */
    const struct weft_model *m;
    analyse_name_fn *name_of;
    bool exact, listing;
    uint32_t at; /* promise */
    struct analyse_pairs *sorts;
    struct weft_strings *shapes;
    uint32_t *shape;
};

/* Returns 0 or WEFT_E_NOMEM; analyse_sorting_end may be called in any case. */
int analyse_sorting_begin(struct analyse_sorting *s, const struct weft_model *m,
                          analyse_name_fn *name_of, bool exact);

/* Continues with at most `steps` promises, and takes those from *steps. Returns 1 if there is more to do, 0 when it is
 * done, or WEFT_E_NOMEM. */
int analyse_sorting_work(struct analyse_sorting *s, uint32_t *steps);
void analyse_sorting_end(struct analyse_sorting *s);

/* Only of and count are set: sets the rest. Returns false if there is no memory. */
bool analyse_families_list(struct analyse_families *f, const struct weft_model *m);
void analyse_families_fini(struct analyse_families *f);

/* 'GET /users/#'; or their label if all have the same one; or their type if they have none. */
void analyse_put_family(struct analyse_text *t, const struct weft_model *m,
                        const struct analyse_families *f, uint32_t family);
