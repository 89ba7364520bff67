/* SPDX-License-Identifier: ISC */
#include "analyse/path.h"

#include <stdlib.h>

const char *weft_step_name(enum weft_step_kind kind)
{
    static const char *const names[] = {
#define X(KIND, name) [WEFT_STEP_##KIND] = name,
        WEFT_STEPS(X)
#undef X
    };
    return names[kind];
}

int weft_path_find(struct weft_path *out, const struct weft_history *h, uint32_t promise)
{
    (void)h;
    (void)promise;
    out->count = 0;
    return 0;
}

void weft_path_fini(struct weft_path *p)
{
    free(p->step);
    *p = (struct weft_path){0};
}

struct weft_share *weft_path_shares(const struct weft_path *p, const struct weft_model *m,
                                    uint32_t *count)
{
    (void)p;
    (void)m;
    *count = 0;
    return NULL;
}
