/* SPDX-License-Identifier: ISC */
#include "profile/profile.h"

#include <stdlib.h>

#include "profile/builder.h"

const char *weft_profile_text(const struct weft_profile *p, uint32_t text)
{
    return weft_strings_get(p->strings, text, NULL);
}

uint32_t weft_profile_depth(const struct weft_profile *p, uint32_t stack)
{
    return p->build->depth[stack];
}

static void free_build(struct weft_profile_build *b)
{
    if (!b)
        return;
    free(b->change);
    free(b->renewed);
    free(b->object);
    free(b->symbol);
    free(b->first_ns);
    free(b->depth);
    free(b->away);
    weft_table_drop(&b->functions);
    weft_table_drop(&b->locations);
    weft_table_drop(&b->stacks);
    weft_table_drop(&b->threads);
    weft_table_drop(&b->numbers);
    weft_table_drop(&b->reneweds_by);
    weft_table_drop(&b->objects_by);
    weft_table_drop(&b->symbols_by);
    free(b);
}

void weft_profile_free(struct weft_profile *p)
{
    if (!p)
        return;
    free(p->source);
    free(p->mapping);
    free(p->function);
    free(p->frame);
    free(p->location);
    free(p->stack);
    free(p->sample);
    free(p->absence);
    free(p->interrupt);
    free(p->thread);
    weft_strings_free(p->strings);
    free_build(p->build);
    free(p);
}
