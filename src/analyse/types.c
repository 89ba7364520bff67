/* SPDX-License-Identifier: ISC */
#include "analyse/types.h"

#include <string.h>

#include "analyse/words.h"

/* The types of the adapters are included; docs/guide.md has the same table. */
static const struct {
    const char *type;
    unsigned is;
} types[] = {
    {"timer", ANALYSE_TIMER},
    {"sleep", ANALYSE_TIMER},
    {"interval", ANALYSE_TIMER},
    {"timeout", ANALYSE_TIMER},
    {"delay", ANALYSE_TIMER},
    {"tick", ANALYSE_TIMER},
    {"ticker", ANALYSE_TIMER},
    {"lock", ANALYSE_LOCK | ANALYSE_REUSED},
    {"mutex", ANALYSE_LOCK | ANALYSE_REUSED},
    {"semaphore", ANALYSE_LOCK | ANALYSE_REUSED},
    {"Lock.acquire", ANALYSE_LOCK | ANALYSE_ORDERED},
    {"Semaphore.acquire", ANALYSE_LOCK | ANALYSE_ORDERED},
    {"condition", ANALYSE_REUSED},
    {"event", ANALYSE_REUSED},
    {"queue", ANALYSE_REUSED},
    {"channel", ANALYSE_REUSED | ANALYSE_LASTING},
    {"connection", ANALYSE_LASTING | ANALYSE_OUTSIDE},
    {"session", ANALYSE_LASTING | ANALYSE_OUTSIDE},
    {"socket", ANALYSE_LASTING | ANALYSE_OUTSIDE},
    {"request", ANALYSE_OUTSIDE},
    {"server", ANALYSE_LASTING},
    {"worker", ANALYSE_LASTING},
    {"thread", ANALYSE_LASTING},
    {"accept", ANALYSE_LASTING | ANALYSE_ORDERED},
    {"read", ANALYSE_LASTING | ANALYSE_ORDERED},
    {"write", ANALYSE_ORDERED},
    {"receive", ANALYSE_LASTING | ANALYSE_ORDERED},
    {"iter_s", ANALYSE_ORDERED},
};

unsigned analyse_type(const struct weft_model *m, uint32_t promise)
{
    const char *type = promise == WEFT_ROOT ? "" : weft_model_type(m, promise);
    /* most differ in the first byte */
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (*types[i].type == *type && strcmp(types[i].type, type) == 0)
            return types[i].is;
    return 0;
}

unsigned analyse_text_called(const struct analyse_search *s, uint32_t text)
{
    uint32_t size;
    if (text == WEFT_NONE || !s->o->words)
        return 0;
    const char *bytes = weft_model_text(s->m, text, &size);
    return analyse_words_in(s->o->words, bytes, size);
}

unsigned analyse_called(const struct analyse_search *s, uint32_t promise)
{
    return promise == WEFT_ROOT ? 0 : analyse_text_called(s, weft_model_name(s->m, promise));
}

unsigned analyse_known(const struct analyse_search *s, uint32_t promise)
{
    return analyse_type(s->m, promise) | analyse_called(s, promise);
}

bool analyse_is_sleep(const struct analyse_search *s, uint32_t promise)
{
    const struct weft_model *m = s->m;
    uint32_t by = analyse_resolver(s->h, promise);
    by = by == WEFT_NONE ? WEFT_ROOT : by;
    return (analyse_known(s, promise) & ANALYSE_TIMER) ||
           ((analyse_known(s, by) & ANALYSE_TIMER) &&
            m->promise[by].creator == m->promise[promise].creator &&
            m->promise[by].start_ns >= m->promise[promise].start_ns);
}

uint32_t analyse_timer_line(const struct analyse_search *s, uint32_t last, uint32_t *line,
                            uint32_t most)
{
    const uint32_t *of = s->families->of;
    uint32_t count = 0;
    for (uint32_t p = last; p != WEFT_ROOT && of[p] == of[last] && count < most &&
                            analyse_count(s->h->runs_of_first, p) > 0;
         p = weft_model_final(s->m, s->m->promise[p].creator))
        line[count++] = p;
    for (uint32_t i = 0; i < count / 2; i++) {
        const uint32_t p = line[i];
        line[i] = line[count - 1 - i];
        line[count - 1 - i] = p;
    }
    return count;
}
