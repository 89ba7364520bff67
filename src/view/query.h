/* SPDX-License-Identifier: ISC */
/* The text of a search, parsed. Private to src/view.
 *
 * Each word of a query has a bit; a promise matches if all are found. */
#pragma once

#include "view/search.h"

#define VIEW_QUERY_CHUNK 4096

enum view_term_kind {
    VIEW_TERM_WORD,
    VIEW_TERM_LABEL,
    VIEW_TERM_TYPE,
    VIEW_TERM_REASON,
    VIEW_TERM_ID,
    VIEW_TERM_TRACE,
    VIEW_TERM_SPAN,
    VIEW_TERM_OUTCOME,
    VIEW_TERM_LONGER,
    VIEW_TERM_SHORTER,
};

/* A value that makes no sense for its key. The word is then looked for as it stands, as is one with an unknown key. */
enum view_mistake {
    VIEW_NO_MISTAKE,
    VIEW_NO_OUTCOME, /* outcome:foo */
    VIEW_NO_NUMBER,  /* id:foo */
    VIEW_NO_TIME,    /* >10, >10foo */
    VIEW_NO_TRACE,   /* trace:foo; or more digits than an id has */
    VIEW_NO_SPAN,
};

struct view_term {
    enum view_term_kind kind;
    enum view_mistake mistake;
    uint16_t at, size; /* of its text in view_query.bytes, in lower case */
    bool is_id;        /* number is an id */
    uint64_t number;   /* or nanoseconds */
};

struct view_query {
    struct view_term term[WEFT_SEARCH_WORDS];
    uint32_t terms;
    uint32_t texts; /* how many of the words are looked for in texts */
    uint16_t all;   /* bits */
    /* Sets of words: those that may be found in labels, types and failures; those that ask for outcomes or for an
     * overdue promise; those that say how a counter changed; and those that view_query_match checks. */
    uint16_t of_label, of_type, of_reason, outcome[WEFT_OUTCOME_COUNT], overdue, amounts, others;
    uint16_t
        traced;     /* those that ask for a distributed trace, or a span; they are among `others` */
    uint16_t plain; /* words without a key: they are looked for in one text */
    char bytes[WEFT_SEARCH_BYTES];
};

/* Never fails: what cannot be parsed is searched for as text. */
void view_query_parse(struct view_query *q, const char *query);

/* The words found at the first `count` bytes of a text, at most VIEW_QUERY_CHUNK; size: the length of the text. */
uint16_t view_query_find(const struct view_query *q, const char *text, uint32_t count,
                         uint32_t size);

/* The words that ask for the trace of a promise, or for a span that it is or was caused by; m: the model that it is of. */
uint16_t view_query_traced(const struct view_query *q, const struct weft_model *m,
                           uint32_t promise);

/* The words that ask for that number or for a promise that lasts so long. */
uint16_t view_query_match(const struct view_query *q, uint64_t id, int64_t length_ns);
