/* SPDX-License-Identifier: ISC */
/* How things are called in sentences, and building of such texts. Valid UTF-8 without control characters. */
#ifndef WEFT_ANALYSE_NAMES_H
#define WEFT_ANALYSE_NAMES_H

#include "base/duration.h"
#include "model/model.h"

/* A text that grows. All zero: empty. Released by weft__text_fini; where there is no memory it says failed and stays as
 * it is. */
struct weft__text {
    char *text; /* terminated; NULL while nothing was put */
    size_t size, room;
    bool failed;
};

/* Like printf, plus weft's own names, which are put by calling one after another. Bytes that are no clean
 * UTF-8 are replaced. */
void weft__put(struct weft__text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void weft__put_time(struct weft__text *t, int64_t time_ns); /* "39.912 ms": since the first event */
void weft__put_length(struct weft__text *t, int64_t ns);    /* "8.21 ms" */
void weft__put_count(struct weft__text *t, uint64_t n);     /* "1,204" */

/* 'ARP response' where it has a label, else "type 12"; "the event loop". */
void weft__put_name(struct weft__text *t, const struct weft_model *m, uint32_t promise);

/* 'ARP response' (condition 8); "type 12"; "the event loop". */
void weft__put_full(struct weft__text *t, const struct weft_model *m, uint32_t promise);

/* Where it comes from: ", created by 'ARP query' for 'TCP connect'": up to three creators that have labels; or nothing. */
void weft__put_origin(struct weft__text *t, const struct weft_model *m, uint32_t promise);

/* The same as above, but as texts for weft__put, which takes up to 1,000 bytes; they last as long as the statement:
 *
 *     weft__put(t, "%s failed at %s", weft__as_name(m, promise).text, weft_moment(time_ns).text); */
struct weft__phrase {
    char text[128];
};
struct weft__phrase weft__as_name(const struct weft_model *m, uint32_t promise);

/* How a promise ended, as a verb: "was fulfilled". */
const char *weft__outcome_verb(const struct weft_model *m, uint32_t promise);

/* Adds a text of any size; and cuts the text to its first size bytes. */
void analyse_text_add(struct weft__text *t, const char *text);
void analyse_text_cut(struct weft__text *t, size_t size);

/* Hands the text to the caller, who frees it; NULL if it failed or is empty. */
char *weft__text_take(struct weft__text *t);
void weft__text_fini(struct weft__text *t);

/* A label with every number as a '#', not terminated; of a longer one the beginning. Returns the size. out has
 * WEFT__SHAPE_BYTES. */
#define WEFT__SHAPE_BYTES 256
uint32_t weft__shape(char *out, const char *label, uint32_t size);

/* Promises of one sort: of the same type, and with the same first label but for its numbers: "GET /users/7"
 * and "GET /users/12" are "GET /users/#". */
struct weft__families {
    uint32_t *of;    /* by promise */
    uint32_t *first; /* by family: one of its promises, the first; [0] is the loop's */
    uint32_t *size;  /* how many promises */
    bool *differs;   /* … whether their labels differ; NULL: not known */
    uint32_t count;
};

/* Returns 0 or WEFT_E_NOMEM. */
int weft__families_init(struct weft__families *f, const struct weft_model *m);
void weft__families_fini(struct weft__families *f);

/* 'GET /users/#', their label where all have the same one, or the type where they have none. */
void weft__put_family(struct weft__text *t, const struct weft_model *m,
                      const struct weft__families *f, uint32_t family);

#endif
