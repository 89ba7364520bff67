/* SPDX-License-Identifier: ISC */
#include "explore/visible.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "explore/fact.h"

struct found {
    int64_t start_ns;
    uint32_t promise;
};

/* "fsync log, #12, from 1.2 ms, 3 ms long, failed" */
static void describe(char *out, size_t room, const struct weft_scene *s, uint32_t promise)
{
    const struct weft_promise *p = &s->m->promise[promise];
    const char *name = weft_model_type(s->m, promise);
    char type[EXPLORE_FACT_LABEL], label[EXPLORE_FACT_LABEL];
    explore_fact_clean(type, sizeof type, name, strlen(name));
    bool labelled = explore_fact_label(label, sizeof label, s->m, promise) != 0;
    snprintf(out, room, "%s%s%s, #%" PRIu64 ", from %s, %s long, %s", type, labelled ? " " : "",
             label, p->id, weft_moment(weft_layout_start(s->l, p)).text,
             weft_duration(explore_length(s, promise)).text,
             weft_model_overdue(s->m, promise) ? "never resolved, but must be"
                                               : weft_outcome_name((enum weft_outcome)p->outcome));
}

void explore_visible_clear(struct explore_visible *v)
{
    v->count = v->all = 0;
}

static int by_start(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    WEFT_ORDER(x->start_ns, y->start_ns);
    return weft_order(x->promise, y->promise);
}

int explore_visible_list(struct explore_visible *v, const struct weft_scene *s,
                         const struct weft_geometry *g, unsigned pane, uint32_t max)
{
    struct found found[WEFT_VISIBLE_MAX];
    uint32_t count;
    uint64_t all;
    max = max < WEFT_VISIBLE_MAX - v->count ? max : WEFT_VISIBLE_MAX - v->count;
    struct weft_view_line *line = weft_view_longest(s, g, max, &count, &all);
    if (!line)
        return WEFT_E_NOMEM;
    v->all = all < UINT32_MAX - v->all ? v->all + (uint32_t)all : UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        found[i] = (struct found){s->l->start[line[i].span], s->l->spans[line[i].span]};
    free(line);
    if (count)
        qsort(found, count, sizeof *found, by_start);
    for (uint32_t i = 0; i < count; i++) {
        char *text = v->text[v->count];
        describe(text, sizeof v->text[0], s, found[i].promise);
        v->item[v->count++] =
            (struct weft_visible){.text = text, .pane = pane, .promise = found[i].promise};
    }
    return 0;
}
