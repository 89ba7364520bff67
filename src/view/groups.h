/* SPDX-License-Identifier: ISC */
/* Promises in groups, which have rows of their own: by label, by thread …
 *
 *     struct weft_groups *g;
 *     if (weft_groups_new(&g, scene, WEFT_GROUP_LABEL, NULL) == 0 && weft_scene_group(scene, g) == 0)
 *         viewport.groups = g;
 *
 * The largest groups come first, below those that are pinned. */
#pragma once

#include "view/scene.h"
#include "view/search.h"

enum weft_group_by {
    WEFT_GROUP_NONE,
    WEFT_GROUP_LABEL, /* up to its first digit; without one, by type */
    WEFT_GROUP_TYPE,
    WEFT_GROUP_THREAD, /* the first one it ran on */
    WEFT_GROUP_ROOT, /* on whose behalf it is there, as weft_profile_roots says: a request, a connection */
    WEFT_GROUP_SEARCH, /* what a search found, and the rest */
    WEFT_GROUP_BYS
};

extern const char *const weft_group_by_name[WEFT_GROUP_BYS];

#define WEFT_GROUPS_MAX 100 /* the last one holds what belongs to none of the others */
#define WEFT_GROUP_NAME 64

struct weft_group {
    char name[WEFT_GROUP_NAME]; /* clean UTF-8 */
    uint32_t promises;
    uint32_t number; /* by size: the largest is 0, also when it is pinned */
    bool is_closed;  /* drawn as one row */
    bool is_hidden;
    bool is_pinned; /* above the others; see weft_groups_sort */
};

struct weft_groups {
    enum weft_group_by by;
    uint32_t count;
    struct weft_group group[WEFT_GROUPS_MAX];
    uint32_t *of; /* of each promise */
};

/* hits: the finished search that WEFT_GROUP_SEARCH is about; others ignore it. On success the caller owns *out. Takes n log n time. Returns
 * 0 or WEFT_E_NOMEM. */
int weft_groups_new(struct weft_groups **out, const struct weft_scene *s, enum weft_group_by by,
                    const struct weft_search *hits);
void weft_groups_free(struct weft_groups *g);

/* Puts the pinned ones first; the order is otherwise kept. The scene must then be made anew with weft_scene_group. */
void weft_groups_sort(struct weft_groups *g);

/* The group of that name; WEFT_NONE: there is none. */
uint32_t weft_groups_find(const struct weft_groups *g, const char *name);

/* Gives the groups rows of their own; NULL: as at first. Rows and spans of the scene change, so that searches in it must
 * be made anew, and nobody else may use the scene meanwhile. Returns 0, or WEFT_E_NOMEM: nothing has changed. */
int weft_scene_group(struct weft_scene *s, const struct weft_groups *g);
