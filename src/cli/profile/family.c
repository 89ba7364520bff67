/* SPDX-License-Identifier: ISC */
/* Combines promises whose labels differ only in numbers: nobody wants to see each of "GET /key-1" to "GET /key-999". */
#include <stdlib.h>
#include <string.h>

#include "analyse/names.h"
#include "cli/profile/profile.h"
#include "base/array.h"
#include "profile/build.h"

enum { LABELS_MAX = 20 }; /* rows that are not too many to read: the usual length of a list */

/* The name of a family: a text of p. WEFT_NONE: no memory. */
static uint32_t text_of(struct weft_profile *p, const struct analyse_families *f, uint32_t family)
{
    const struct weft_model *m = p->model;
    uint32_t size, promise = f->first[family], name = weft_model_name(m, promise);
    const char *text =
        weft_model_text(m, name == WEFT_NONE ? m->promise[promise].type : name, &size);
    char shape[ANALYSE_SHAPE_BYTES];
    if (name != WEFT_NONE && f->differs && f->differs[family]) {
        size = analyse_shape(shape, text, size);
        text = shape;
    }
    return weft_profile_add_text(p, text, size);
}

uint32_t *cli_profile_families(struct weft_profile *p)
{
    const struct weft_model *m = p->model;
    struct analyse_families f;
    if (analyse_families_init(&f, m) < 0)
        return NULL;
    uint32_t *text = weft_resize(NULL, f.count, sizeof *text);
    bool ok = text != NULL;
    for (uint32_t i = 0; ok && i < f.count; i++)
        ok = (text[i] = text_of(p, &f, i)) != WEFT_NONE;
    uint32_t *family = ok ? weft_resize(NULL, m->promises, sizeof *family) : NULL;
    for (uint32_t i = 0; family && i < m->promises; i++)
        family[i] = text[f.of[i]];
    free(text);
    analyse_families_fini(&f);
    return family;
}

static bool make(struct cli_profile_view *v)
{
    if (!v->family)
        v->o.family = v->family = cli_profile_families(v->p);
    if (!v->family)
        cli_lacks_memory();
    return v->family != NULL;
}

bool cli_profile_family_named(struct cli_profile_view *v, const char *label)
{
    bool named = false;
    for (uint32_t i = WEFT_ROOT + 1; make(v) && i < v->p->model->promises && !named; i++)
        named = strcmp(weft_profile_text(v->p, v->family[i]), label) == 0;
    return named;
}

/* How many rows the promises with any samples make. */
static uint32_t count_rows(const struct cli_profile_view *v)
{
    const bool by_root = v->o.by == WEFT_PROFILE_BY_ROOT;
    struct weft_profile_list *l =
        cli_profile_list(v, by_root ? WEFT_PROFILE_BY_ROOT : WEFT_PROFILE_BY_LABEL);
    const uint32_t rows = l ? l->rows : 0;
    weft_profile_list_free(l);
    return rows;
}

void cli_profile_family_find(struct cli_profile_view *v)
{
    const struct cli_profile_request *r = v->r;
    uint32_t labels = 0;
    bool named = r->by == WEFT_PROFILE_BY_LABEL || r->by == WEFT_PROFILE_BY_ROOT ||
                 r->async != WEFT_ASYNC_NONE || r->report == PROFILE_OVERVIEW;
    if (!v->p->model || !named || r->fold == PROFILE_NO_FOLD)
        return;
    if (r->fold == PROFILE_FOLD_AUTO) {
        if (r->json || r->diff || (labels = count_rows(v)) <= LABELS_MAX)
            return;
    }
    v->o.by_family = make(v);
    if (v->family && r->fold == PROFILE_FOLD_AUTO)
        v->o.by_family = count_rows(v) < labels;
}
