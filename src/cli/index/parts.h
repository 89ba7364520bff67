/* SPDX-License-Identifier: ISC */
/* What the files of an index share: values as JSON and back, and promises by their place in a list. All functions that
 * make JSON return NULL if there is no memory, or a text is not UTF-8; those that read it return false if it is not what
 * it should be. */
#pragma once

#include <jansson.h>

#include "cli/index/index.h"

/* The sections of an index, borrowed; NULL: it has no such section. */
const json_t *index_section(const struct cli_index *x, const char *name);

/* Adds a section, and takes it. NULL: it could not be made. */
void index_put_section(struct cli_index *x, const char *name, json_t *section);

/* The trace has so many bytes of events; a ring may be a much larger file. */
void index_is_of(struct cli_index *x, uint64_t content_bytes);

/* Returns true if such a section is to be added. */
bool index_lacks(const struct cli_index *x, const char *name);

/* Drops it unless it is fine. Returns fine. */
bool index_checked(struct cli_index *x, const char *name, bool fine);

/* ---- Fields of a structure, as a list in the order of a table ---- */

struct index_field {
    size_t at;
    enum index_kind {
        INDEX_U32,
        INDEX_U64,
        INDEX_ANY_TIME, /* int64_t */
        INDEX_TIME,     /* int64_t, within WEFT_TIME_MAX */
        INDEX_LENGTH,   /* int64_t, not negative */
        INDEX_REAL,     /* double */
        INDEX_FLAG,     /* bool */
    } is;
};

#define INDEX_FIELD(type, kind, member)                                                            \
    {                                                                                              \
        offsetof(type, member), INDEX_##kind                                                       \
    }
#define INDEX_COUNT(table) (sizeof(table) / sizeof *(table))
#define index_put(x, table) index_put_fields(x, table, INDEX_COUNT(table))
#define index_get(x, table, list) index_get_fields(x, table, INDEX_COUNT(table), list)
json_t *index_put_fields(const void *x, const struct index_field *field, size_t fields);
bool index_get_fields(void *x, const struct index_field *field, size_t fields, const json_t *list);

/* What was wrong with the file. */
json_t *index_damage_json(const struct weft_damage *d);
bool index_get_damage(struct weft_damage *d, const json_t *list);

/* Adds a value to a list or an object, and takes it; makes *list NULL if that fails, or if it is already. */
void index_add(json_t **list, json_t *value);
void index_set(json_t **object, const char *key, json_t *value);

/* Numbers in a list, from 0 to most. */
bool index_number(const json_t *list, size_t at, uint64_t most, uint64_t *out);

/* A text, or NULL for null; a clean copy, which the caller frees. */
json_t *index_text(const char *text);
bool index_get_text(const json_t *value, char **out);

/* ---- Promises ---- */

struct index_names {
    uint32_t *promise; /* of the model; not the loop */
    uint32_t count, room;
    bool failed;
};

/* Notes that a promise is named; WEFT_NONE and the loop need not be. */
void index_name(struct index_names *n, uint32_t promise);

/* Ends that: from then on each promise has a number, in the order of the model. */
void index_names_sort(struct index_names *n);
void index_names_fini(struct index_names *n);

/* The number: 0 for the loop, null for WEFT_NONE. */
json_t *index_ref(const struct index_names *n, uint32_t promise);
bool index_get_ref(const json_t *value, const struct weft_model *m, uint32_t *promise);

/* The list with ids, types and labels. */
json_t *index_names_json(const struct index_names *n, const struct weft_model *m);

/* What reports say of the model as a whole becomes a section. */
void index_add_model(struct cli_index *x, const struct weft_model *m);

/* Makes a model of that section and such a list, with an empty history. On failure nothing is to be freed. */
bool index_excerpt(struct cli_excerpt *e, struct cli_index *x, const json_t *names);
void index_excerpt_free(struct cli_excerpt *e);
