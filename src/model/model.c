/* SPDX-License-Identifier: ISC */
/* Queries on a model. */
#include "model/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/idmap.h"
#include "base/order.h"
#include "model/strings.h"

const char *weft_outcome_name(enum weft_outcome o)
{
    static const char *const names[] = {
#define X(NAME, name) [WEFT_##NAME] = name,
        WEFT_OUTCOMES(X)
#undef X
    };
    return names[o];
}

void weft_model_free(struct weft_model *m)
{
    if (!m)
        return;
    weft_free_all(m->promise, m->label, m->interaction, m->hold, m->run, m->run_stream,
                  m->stream_thread, m->again, m->idle, m->sleep, m->missing, m->origin, m->given_up,
                  m->pause, m->preemption, m->change, m->counter, m->scale, m->traced,
                  m->traced_nearest);
    weft_strings_free(m->strings);
    weft_idmap_free(m->ids);
    free(m);
}

const char *weft_model_text(const struct weft_model *m, uint32_t text, uint32_t *size)
{
    return weft_strings_get(m->strings, text, size);
}

const char *weft_model_type(const struct weft_model *m, uint32_t promise)
{
    return weft_strings_get(m->strings, m->promise[promise].type, NULL);
}

uint64_t weft_model_more_like(const struct weft_model *m, uint32_t promise)
{
    const struct weft_promise *p = &m->promise[promise];
    uint64_t more = 0;
    for (uint32_t i = 0; i < m->given_ups && (p->created || p->promoted); i++)
        if (m->given_up[i].type == p->type && m->given_up[i].place == weft_model_origin(m, promise))
            more += m->given_up[i].pending;
    return more;
}

uint32_t weft_model_name(const struct weft_model *m, uint32_t promise)
{
    for (uint32_t l = m->promise[promise].first_label; l != WEFT_NONE; l = m->label[l].next)
        if (!m->label[l].is_change)
            return m->label[l].what;
    return WEFT_NONE;
}

uint32_t weft_model_label_text(const struct weft_model *m, const struct weft_label *l, char *buffer,
                               uint32_t size)
{
    uint32_t name_size, n;
    char amount[24] = "";
    const char *text;
    if (!l->is_change) {
        text = weft_model_text(m, l->what, &name_size);
    } else {
        const struct weft_change *c = &m->change[l->what];
        text = weft_model_text(m, m->counter[c->counter].name, &name_size);
        snprintf(amount, sizeof amount, "%+" PRId64, c->amount);
    }
    uint32_t amount_size = (uint32_t)strlen(amount);
    if (size == 0)
        return 0;
    n = name_size < size - 1 ? name_size : size - 1;
    memcpy(buffer, text, n);
    if (amount_size > size - 1 - n)
        amount_size = size - 1 - n;
    memcpy(buffer + n, amount, amount_size);
    buffer[n + amount_size] = '\0';
    return n + amount_size;
}

uint32_t weft_model_find(const struct weft_model *m, uint64_t id)
{
    return weft_idmap_get(m->ids, id);
}

bool weft_model_overdue(const struct weft_model *m, uint32_t promise)
{
    const struct weft_promise *p = &m->promise[promise];
    return p->should_resolve && p->outcome == WEFT_PENDING;
}

struct keyed {
    uint64_t id; /* first: they are sorted by it */
    uint32_t promise;
};

uint32_t *weft_model_by_id(const struct weft_model *m)
{
    uint32_t n = m->promises - 1;
    uint32_t *sorted = malloc((n + 1) * sizeof *sorted);
    if (!sorted)
        return NULL;
    /* The promises are nearly always in the order of their numbers. */
    bool ordered = true;
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = i + 1;
        ordered = ordered && (i == 0 || m->promise[i].id <= m->promise[i + 1].id);
    }
    if (ordered)
        return sorted;
    struct keyed *keyed = malloc((n + 1) * sizeof *keyed);
    if (!keyed) {
        free(sorted);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        keyed[i] = (struct keyed){.id = m->promise[i + 1].id, .promise = i + 1};
    qsort(keyed, n, sizeof *keyed, weft_order_u64);
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = keyed[i].promise;
    free(keyed);
    return sorted;
}
