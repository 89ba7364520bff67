/* SPDX-License-Identifier: ISC */
#include "analyse/types.h"

#include <string.h>

#include "analyse/words.h"

/* Those of the adapters are among them; docs/guide.md has the same table. */
static const struct {
    const char *type;
    unsigned is;
} types[] = {
    {"timer", WEFT__TIMER},
    {"sleep", WEFT__TIMER},
    {"interval", WEFT__TIMER},
    {"timeout", WEFT__TIMER},
    {"delay", WEFT__TIMER},
    {"tick", WEFT__TIMER},
    {"ticker", WEFT__TIMER},
    {"lock", WEFT__LOCK | WEFT__REUSED},
    {"mutex", WEFT__LOCK | WEFT__REUSED},
    {"semaphore", WEFT__LOCK | WEFT__REUSED},
    {"Lock.acquire", WEFT__LOCK | WEFT__ORDERED},
    {"Semaphore.acquire", WEFT__LOCK | WEFT__ORDERED},
    {"condition", WEFT__REUSED},
    {"event", WEFT__REUSED},
    {"queue", WEFT__REUSED},
    {"channel", WEFT__REUSED | WEFT__LASTING},
    {"connection", WEFT__LASTING | WEFT__OUTSIDE},
    {"session", WEFT__LASTING | WEFT__OUTSIDE},
    {"socket", WEFT__LASTING | WEFT__OUTSIDE},
    {"request", WEFT__OUTSIDE},
    {"server", WEFT__LASTING},
    {"worker", WEFT__LASTING},
    {"thread", WEFT__LASTING},
    {"accept", WEFT__LASTING | WEFT__ORDERED},
    {"read", WEFT__LASTING | WEFT__ORDERED},
    {"write", WEFT__ORDERED},
    {"receive", WEFT__LASTING | WEFT__ORDERED},
    {"iter_s", WEFT__ORDERED},
};

unsigned weft__type(const struct weft_model *m, uint32_t promise)
{
    const char *type = promise == WEFT_ROOT ? "" : weft_model_type(m, promise);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (*types[i].type == *type && strcmp(types[i].type, type) == 0) /* most differ at once */
            return types[i].is;
    return 0;
}

unsigned weft__text_called(const struct weft__search *s, uint32_t text)
{
    uint32_t size;
    if (text == WEFT_NONE || !s->o->words)
        return 0;
    const char *bytes = weft_model_text(s->m, text, &size);
    return weft__words_in(s->o->words, bytes, size);
}

unsigned weft__called(const struct weft__search *s, uint32_t promise)
{
    return promise == WEFT_ROOT ? 0 : weft__text_called(s, weft_model_name(s->m, promise));
}

unsigned weft__known(const struct weft__search *s, uint32_t promise)
{
    return weft__type(s->m, promise) | weft__called(s, promise);
}

bool weft__is_sleep(const struct weft__search *s, uint32_t promise)
{
    const struct weft_model *m = s->m;
    uint32_t by = weft__resolver(s->h, promise);
    by = by == WEFT_NONE ? WEFT_ROOT : by;
    return (weft__known(s, promise) & WEFT__TIMER) ||
           ((weft__known(s, by) & WEFT__TIMER) &&
            m->promise[by].creator == m->promise[promise].creator &&
            m->promise[by].start_ns >= m->promise[promise].start_ns);
}

uint32_t weft__set_by(const struct weft__search *s, uint32_t timer)
{
    const uint32_t *of = s->families->of;
    const uint32_t by = weft_model_final(s->m, s->m->promise[timer].creator);
    return by != WEFT_ROOT && of[by] == of[timer] &&
                   s->h->runs_of_first[by + 1] > s->h->runs_of_first[by]
               ? by
               : WEFT_NONE;
}
