/* SPDX-License-Identifier: ISC */
#include "view/scene.h"

#include <stdlib.h>

#include "view/index.h"

int weft_scene_new(struct weft_scene **out, const struct weft_model *m, bool raw,
                   weft_progress_fn *progress, void *data)
{
    *out = NULL;
    struct weft_scene *s = calloc(1, sizeof *s);
    if (!s)
        return WEFT_E_NOMEM;
    s->m = m;
    int rc = weft_layout_new(&s->l, m, raw);
    if (rc == 0 && progress && !progress(data, 0.5))
        rc = WEFT_E_CANCELED;
    if (rc == 0)
        rc = weft__index_new(&s->x, m, s->l, progress, data);
    if (rc < 0)
        weft_scene_free(s);
    else
        *out = s;
    return rc;
}

void weft_scene_free(struct weft_scene *s)
{
    if (!s)
        return;
    weft_layout_free(s->l);
    weft__index_free(s->x);
    free(s);
}
