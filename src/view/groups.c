/* SPDX-License-Identifier: ISC */
#include "view/groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/order.h"
#include "base/table.h"
#include "format/utf8.h"
#include "profile/join.h"
#include "view/index.h"

const char *const weft_group_by_name[WEFT_GROUP_BYS] = {"none",   "label", "type",
                                                        "thread", "root",  "search"};

/* ---- Keys: promises with the same key belong to one group ---- */

static uint64_t key_of_text(const char *text, size_t size)
{
    return weft_hash(WEFT_HASH_BEGIN, text, size);
}

/* How much of a label names the kind of a thing rather than the thing: up to its first digit. */
static size_t kind_size(const char *label)
{
    size_t n = strcspn(label, "0123456789"), whole = strlen(label);
    if (n == whole)
        return n;
    while (n && strchr(" #:_-/.(", label[n - 1]))
        n--;
    return n ? n : whole;
}

static const char *kind_of(const struct weft_model *m, uint32_t promise, enum weft_group_by by,
                           size_t *size)
{
    const uint32_t name = by == WEFT_GROUP_LABEL ? weft_model_name(m, promise) : WEFT_NONE;
    const char *text =
        name == WEFT_NONE ? weft_model_type(m, promise) : weft_model_text(m, name, NULL);
    *size = name == WEFT_NONE ? strlen(text) : kind_size(text);
    return text;
}

static uint32_t stream_of(const struct weft_model *m, uint32_t promise)
{
    const uint32_t run = m->promise[promise].first_run;
    return run == WEFT_NONE || !m->run_stream ? 0 : m->run_stream[run];
}

/* On whose behalf each promise is there. Returns false if there is no memory. */
static bool find_roots(uint64_t *key, const struct weft_model *m)
{
    uint32_t *root = weft_profile_roots(m);
    for (uint32_t i = 1; root && i < m->promises; i++)
        key[i] = root[i];
    free(root);
    return root != NULL;
}

static bool find_keys(uint64_t *key, const struct weft_model *m, enum weft_group_by by,
                      const struct weft_search *hits)
{
    if (by == WEFT_GROUP_ROOT)
        return find_roots(key, m);
    for (uint32_t i = 1; i < m->promises; i++) {
        size_t size;
        if (by == WEFT_GROUP_SEARCH) {
            key[i] = weft_search_has(hits, i);
        } else if (by == WEFT_GROUP_THREAD) {
            key[i] = stream_of(m, i);
        } else {
            const char *text = kind_of(m, i, by, &size);
            key[i] = key_of_text(text, size);
        }
    }
    return true;
}

/* ---- The largest groups ---- */

struct kind {
    uint64_t key;
    uint32_t count, number; /* number: in the order in which they were found */
};

static int by_count(const void *a, const void *b)
{
    const struct kind *x = a, *y = b;
    WEFT_ORDER(y->count, x->count);
    return weft_order(x->key, y->key);
}

/* Counts each key, and says of each promise which one it has. Returns an array that the caller frees, or NULL. */
static struct kind *count_keys(uint32_t *of, const uint64_t *key, uint32_t n, uint32_t *kinds)
{
    struct weft_table t = {.room = 0};
    struct kind *kind = malloc(sizeof *kind);
    uint32_t room = kind != NULL;
    const uint64_t seed = weft_seed();
    *kinds = 0;
    for (uint32_t i = 0; kind && i < n; i++) {
        const struct kind one = {.key = key[i], .number = *kinds};
        of[i] = weft_table_add(&t, &kind, kinds, &room, sizeof *kind, sizeof one.key, &one, seed);
        if (of[i] == UINT32_MAX) {
            free(kind);
            kind = NULL;
        } else {
            kind[of[i]].count++;
        }
    }
    weft_table_drop(&t);
    return kind;
}

static void name_group(struct weft_groups *g, const struct weft_model *m, uint32_t group,
                       uint32_t promise)
{
    char text[WEFT_GROUP_NAME * 2];
    size_t size;
    const char *kind = kind_of(m, promise, g->by, &size);
    const uint32_t stream = stream_of(m, promise);
    if (g->by == WEFT_GROUP_THREAD && m->stream_thread)
        snprintf(text, sizeof text, "thread %" PRIu32, m->stream_thread[stream].thread);
    else if (g->by == WEFT_GROUP_THREAD)
        snprintf(text, sizeof text, "stream %" PRIu32, stream);
    else if (g->by == WEFT_GROUP_ROOT)
        snprintf(text, sizeof text, "#%" PRIu64 " %.60s", m->promise[promise].id,
                 weft_model_name(m, promise) == WEFT_NONE
                     ? weft_model_type(m, promise)
                     : weft_model_text(m, weft_model_name(m, promise), NULL));
    else
        snprintf(text, sizeof text, "%.*s", (int)(size < sizeof text ? size : sizeof text - 1),
                 kind);
    char *name = g->group[group].name;
    name[weft_text_clean(name, WEFT_GROUP_NAME - 1, text, strlen(text))] = '\0';
}

static void name_groups(struct weft_groups *g, const struct weft_model *m, const uint64_t *key,
                        const struct weft_search *hits, bool has_others)
{
    for (uint32_t i = 1; i < m->promises; i++) {
        const uint32_t group = g->of[i];
        struct weft_group *x = &g->group[group];
        x->promises++;
        if (*x->name)
            continue;
        if (has_others && group + 1 == g->count)
            snprintf(x->name, sizeof x->name, "others");
        else if (g->by == WEFT_GROUP_SEARCH)
            snprintf(x->name, sizeof x->name, "%s", weft_search_has(hits, i) ? "found" : "rest");
        else
            name_group(g, m, group, g->by == WEFT_GROUP_ROOT ? (uint32_t)key[i] : i);
    }
}

static int sort_into(struct weft_groups *g, const struct weft_model *m, const uint64_t *key,
                     const struct weft_search *hits)
{
    uint32_t kinds;
    struct kind *kind = count_keys(g->of + 1, key + 1, m->promises - 1, &kinds);
    uint32_t *group = kind ? weft_resize(NULL, kinds, sizeof *group) : NULL;
    if (!group) {
        free(kind);
        return WEFT_E_NOMEM;
    }
    weft_sort(kind, kinds, sizeof *kind, by_count);
    const bool has_others = kinds > WEFT_GROUPS_MAX;
    const uint32_t own = has_others ? WEFT_GROUPS_MAX - 1 : kinds;
    g->count = own + has_others;
    for (uint32_t i = 0; i < g->count; i++)
        g->group[i].number = i;
    for (uint32_t k = 0; k < kinds; k++)
        group[kind[k].number] = k < own ? k : own;
    for (uint32_t i = 1; i < m->promises; i++)
        g->of[i] = group[g->of[i]];
    name_groups(g, m, key, hits, has_others);
    weft_free_all(kind, group);
    return 0;
}

int weft_groups_new(struct weft_groups **out, const struct weft_scene *s, enum weft_group_by by,
                    const struct weft_search *hits)
{
    const struct weft_model *m = s->m;
    struct weft_groups *g = calloc(1, sizeof *g);
    uint64_t *key = malloc(((size_t)m->promises + 1) * sizeof *key);
    int rc = WEFT_E_NOMEM;
    if (g && key && (g->of = calloc((size_t)m->promises + 1, sizeof *g->of))) {
        g->by = by;
        rc = find_keys(key, m, g->by, hits) ? sort_into(g, m, key, hits) : WEFT_E_NOMEM;
    }
    free(key);
    if (rc < 0) {
        weft_groups_free(g);
        g = NULL;
    }
    *out = g;
    return rc;
}

void weft_groups_free(struct weft_groups *g)
{
    if (g)
        weft_free_all(g->of, g);
}

void weft_groups_sort(struct weft_groups *g)
{
    struct weft_group sorted[WEFT_GROUPS_MAX];
    uint32_t to[WEFT_GROUPS_MAX], n = 0;
    for (int pinned = 1; pinned >= 0; pinned--)
        for (uint32_t i = 0; i < g->count; i++)
            if (g->group[i].is_pinned == (pinned == 1)) {
                sorted[n] = g->group[i];
                to[i] = n++;
            }
    memcpy(g->group, sorted, n * sizeof *sorted);
    uint32_t promises = 1;
    for (uint32_t i = 0; i < g->count; i++)
        promises += g->group[i].promises;
    for (uint32_t i = 1; i < promises; i++)
        g->of[i] = to[g->of[i]];
}

uint32_t weft_groups_find(const struct weft_groups *g, const char *name)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (!strcmp(g->group[i].name, name))
            return i;
    return WEFT_NONE;
}

int weft_scene_group(struct weft_scene *s, const struct weft_groups *g)
{
    struct weft_layout *l;
    struct weft_index *x = NULL;
    int rc = weft_layout_new_grouped(&l, s->m, s->l->raw, g ? g->of : NULL, g ? g->count : 0);
    if (rc == 0)
        rc = view_index_new(&x, s->m, l);
    if (rc < 0) {
        weft_layout_free(l);
        return rc;
    }
    weft_layout_free(s->l);
    view_index_free(s->x);
    s->l = l;
    s->x = x;
    return 0;
}
