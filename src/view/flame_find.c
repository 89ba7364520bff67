/* SPDX-License-Identifier: ISC */
/* Which frames of a flame graph a search finds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/flame.h"
#include "view/query.h"

void weft_flame_found_fini(struct weft_flame_found *f)
{
    free(f->bits);
    *f = (struct weft_flame_found){0};
}

/* Returns true if the query has only words; the other conditions are about promises. */
static bool is_plain(const struct view_query *q)
{
    for (uint32_t i = 0; i < q->terms; i++)
        if (q->term[i].kind != VIEW_TERM_WORD)
            return false;
    return q->terms != 0;
}

static bool matches(const struct view_query *q, const char *name)
{
    size_t size = strlen(name);
    uint16_t words = 0;
    for (size_t at = 0; at < size && words != q->all; at += VIEW_QUERY_CHUNK) {
        size_t rest = size - at < UINT32_MAX ? size - at : UINT32_MAX;
        words |= view_query_find(q, name + at,
                                 rest < VIEW_QUERY_CHUNK ? (uint32_t)rest : VIEW_QUERY_CHUNK,
                                 (uint32_t)rest);
    }
    return words == q->all;
}

int weft_flame_find(struct weft_flame_found *out, const struct weft_profile *p,
                    const struct weft_calltree *t, const char *query)
{
    struct view_query q;
    *out = (struct weft_flame_found){0};
    view_query_parse(&q, query);
    out->bits = calloc((size_t)t->calls / 64 + 1, sizeof *out->bits);
    uint64_t *within = calloc((size_t)t->calls / 64 + 1, sizeof *within); /* or is one */
    if (!out->bits || !within) {
        free(within);
        return WEFT_E_NOMEM;
    }
    bool plain = is_plain(&q);
    for (uint32_t i = 1; plain && i < t->calls; i++) { /* parents come before children */
        uint32_t parent = t->call[i].parent;
        bool inside = within[parent / 64] >> (parent % 64) & 1;
        bool found = matches(&q, weft_flame_name(p, t, i));
        out->bits[i / 64] |= (uint64_t)found << (i % 64);
        within[i / 64] |= (uint64_t)(found || inside) << (i % 64);
        out->frames += found;
        out->total += found && !inside ? t->call[i].total : 0;
    }
    free(within);
    return 0;
}
