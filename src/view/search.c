/* SPDX-License-Identifier: ISC */
#include "view/search.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct weft_search {
    const struct weft_scene *scene;
    uint8_t *hit; /* of each promise */
    uint32_t hits, next;
    char query[];
};

static bool contains(const char *text, uint32_t size, const char *search, size_t search_size)
{
    for (size_t i = 0; i + search_size <= size; i++)
        if (!strncasecmp(text + i, search, search_size))
            return true;
    return false;
}

static bool matches(const struct weft_model *m, uint32_t promise, const char *search)
{
    const struct weft_promise *p = &m->promise[promise];
    size_t n = strlen(search);
    char number[24];
    uint32_t size;
    snprintf(number, sizeof number, "%" PRIu64, p->id);
    if (n == 0 || !strcmp(number, search))
        return n != 0;
    const char *type = weft_model_type(m, promise);
    if (contains(type, (uint32_t)strlen(type), search, n))
        return true;
    if (p->reason != WEFT_NONE) {
        const char *reason = weft_model_text(m, p->reason, &size);
        if (contains(reason, size, search, n))
            return true;
    }
    for (uint32_t l = p->first_label; l != WEFT_NONE; l = m->label[l].next) {
        uint32_t text = m->label[l].text;
        if (text == WEFT_NONE) /* a counter's change is found by the counter's name */
            text = m->counter[m->change[m->label[l].change].counter].name;
        const char *label = weft_model_text(m, text, &size);
        if (contains(label, size, search, n))
            return true;
    }
    return false;
}

int weft_search_new(struct weft_search **out, const struct weft_scene *s, const char *query)
{
    size_t size = strlen(query) + 1;
    struct weft_search *q = calloc(1, sizeof *q + size);
    *out = NULL;
    if (q)
        q->hit = calloc(s->m->promises, 1);
    if (!q || !q->hit) {
        free(q);
        return WEFT_E_NOMEM;
    }
    memcpy(q->query, query, size);
    q->scene = s;
    q->next = 1;
    *out = q;
    return 0;
}

void weft_search_free(struct weft_search *q)
{
    if (!q)
        return;
    free(q->hit);
    free(q);
}

bool weft_search_work(struct weft_search *q, uint32_t steps)
{
    uint32_t n = q->scene->m->promises, end = steps && n - q->next > steps ? q->next + steps : n;
    for (; q->next < end; q->next++)
        q->hits += q->hit[q->next] = matches(q->scene->m, q->next, q->query);
    return q->next < n;
}

uint32_t weft_search_hits(const struct weft_search *q)
{
    return q->hits;
}

bool weft_search_has(const struct weft_search *q, uint32_t promise)
{
    return q->hit[promise];
}

uint32_t weft_search_next(const struct weft_search *q, uint32_t promise, int64_t time_ns, int step)
{
    (void)time_ns;
    uint32_t n = q->scene->m->promises;
    for (uint32_t i = 1; i < n && q->hits; i++) {
        promise =
            step > 0 ? (promise + 1 < n ? promise + 1 : 1) : (promise > 1 ? promise - 1 : n - 1);
        if (q->hit[promise])
            return promise;
    }
    return WEFT_NONE;
}

uint32_t weft_search_rank(const struct weft_search *q, uint32_t promise)
{
    uint32_t rank = 0;
    for (uint32_t p = 1; p <= promise && p < q->scene->m->promises; p++)
        rank += q->hit[p];
    return q->hit[promise] ? rank : 0;
}
