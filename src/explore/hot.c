/* SPDX-License-Identifier: ISC */
#include "explore/fact.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "base/order.h"
#include "profile/join.h"

struct hot {
    uint64_t samples, on_ns;  /* total number; estimated time on a core */
    uint32_t functions;       /* different ones */
    struct weft_greatest top; /* their locations, and their own time */
};

struct hot_of {
    int64_t from_ns, to_ns;
    uint32_t promise; /* or WEFT_NONE */
    const uint8_t *mark;
};

/* ---- Adding up ---- */

/* By the numbers of weft_scene_function. */
struct sums {
    uint64_t *on_ns;
    uint32_t *location; /* beside it */
    size_t count;
};

/* Reads the scene's samples from from_ns to to_ns: those of the promises marked in `mark`, by index; if mark is NULL,
 * those of promise; if that is WEFT_NONE, all. Returns 0 or WEFT_E_NOMEM. A scene without samples gives nothing. */
static int find_hot(struct hot *out, const struct weft_scene *s, const struct hot_of *of)
{
    const struct weft_profile *p = s->p;
    *out = (struct hot){.top.room = WEFT_GREATEST_MAX};
    if (!p)
        return 0;
    struct sums sums = {.count = (size_t)p->functions + p->locations};
    sums.on_ns = calloc(sums.count + 1, sizeof *sums.on_ns);
    sums.location = malloc((sums.count + 1) * sizeof *sums.location);
    if (!sums.on_ns || !sums.location) {
        weft_free_all(sums.on_ns, sums.location);
        return WEFT_E_NOMEM;
    }
    uint32_t end =
        of->to_ns < WEFT_TIME_MAX ? weft_profile_first_at(p, s->m, of->to_ns + 1) : p->samples;
    for (uint32_t i = weft_profile_first_at(p, s->m, of->from_ns), location; i < end; i++) {
        const struct weft_sample *x = &p->sample[i];
        bool wanted = of->mark ? x->promise < s->m->promises && of->mark[x->promise]
                      : of->promise != WEFT_NONE ? x->promise == of->promise
                                                 : true;
        uint64_t weight = wanted ? weft_scene_sample_ns(s, i) : 0;
        if (!weight)
            continue;
        size_t slot = weft_scene_function(s, x, &location);
        out->samples++;
        out->on_ns += weight;
        if (slot < sums.count) {
            sums.on_ns[slot] += weight;
            sums.location[slot] = location;
        }
    }
    for (size_t i = 0; i < sums.count; i++)
        if (sums.on_ns[i]) {
            out->functions++;
            weft_greatest_add(&out->top, sums.location[i], (int64_t)sums.on_ns[i], 0);
        }
    weft_free_all(sums.on_ns, sums.location);
    return 0;
}

/* Whether a promise is one of them is computed once for each: chains of creators may be long, and in a damaged trace
 * they may be cycles. */
uint8_t *explore_created_by(const struct weft_model *m, uint32_t promise)
{
    enum { UNKNOWN, NO, YES, LOOKED };
    uint8_t *mark = calloc((size_t)m->promises + 1, 1);
    if (!mark)
        return NULL;
    mark[WEFT_ROOT] = NO;
    mark[promise] = YES;
    for (uint32_t i = 1; i < m->promises; i++) {
        uint32_t p = i;
        for (; mark[p] == UNKNOWN; p = m->promise[p].creator) {
            mark[p] = LOOKED;
            if (m->promise[p].creator >= m->promises)
                break;
        }
        uint8_t answer = mark[p] == YES ? YES : NO;
        for (p = i; mark[p] == LOOKED; p = m->promise[p].creator) {
            mark[p] = answer;
            if (m->promise[p].creator >= m->promises)
                break;
        }
    }
    for (uint32_t i = 0; i < m->promises; i++)
        mark[i] = mark[i] == YES;
    return mark;
}

/* ---- In words ---- */

size_t explore_function_name(char *out, size_t room, const struct weft_profile *p,
                             uint32_t location)
{
    const struct weft_location *l = &p->location[location];
    uint32_t function = l->frames ? p->frame[l->first_frame].function : WEFT_NONE;
    if (function < p->functions) {
        const char *name = weft_profile_text(p, p->function[function].name);
        return explore_fact_clean(out, room, name, strlen(name));
    }
    const char *path =
        l->mapping < p->mappings ? weft_profile_text(p, p->mapping[l->mapping].path) : "";
    const char *slash = strrchr(path, '/');
    char text[320];
    snprintf(text, sizeof text, *path ? "0x%" PRIx64 " (%.200s)" : "0x%" PRIx64, l->address,
             slash && slash[1] ? slash + 1 : path);
    return explore_fact_clean(out, room, text, strlen(text));
}

static void add_amount(struct explore_facts *f, enum explore_fact which, const struct hot *hot)
{
    int64_t on = hot->on_ns < INT64_MAX ? (int64_t)hot->on_ns : INT64_MAX;
    explore_say(f, explore_nowhere(), which, LENGTH(length, on), AMOUNT(count, hot->samples));
}

/* The hottest functions, each with its share. */
static void add_functions(struct explore_facts *f, const struct weft_scene *s,
                          const struct hot *hot)
{
    char name[EXPLORE_FACT_BYTES - 8];
    for (uint32_t i = 0; i < hot->top.count; i++) {
        explore_function_name(name, sizeof name, s->p, hot->top.item[i]);
        explore_say(f, explore_nowhere(), FACT_FUNCTION,
                    TEXT(share, explore_share((uint64_t)hot->top.value[i], hot->on_ns).text),
                    TEXT(function, name));
    }
    explore_fact_more(f, hot->functions, hot->top.count);
}

static bool find(struct hot *hot, struct explore_facts *f, const struct weft_scene *s,
                 struct hot_of of)
{
    if (find_hot(hot, s, &of) < 0)
        f->failed = true;
    return hot->samples != 0;
}

#define ALWAYS .from_ns = -WEFT_TIME_MAX, .to_ns = WEFT_TIME_MAX

void explore_fact_hot_promise(struct explore_facts *f, const struct weft_scene *s, uint32_t promise)
{
    struct hot own, all = {0};
    if (!s->p || promise == WEFT_ROOT)
        return;
    uint8_t *mark = explore_created_by(s->m, promise);
    if (!mark) {
        f->failed = true;
        return;
    }
    find(&own, f, s, (struct hot_of){ALWAYS, .promise = promise});
    find(&all, f, s, (struct hot_of){ALWAYS, .promise = WEFT_NONE, .mark = mark});
    free(mark);
    if (!all.samples)
        return;
    explore_heading(f, FACT_CORE_HEAD);
    if (own.samples)
        add_amount(f, FACT_ITSELF, &own);
    if (all.samples > own.samples)
        add_amount(f, FACT_WITH_CREATED, &all);
    explore_heading(f, own.samples ? FACT_HOT_HEAD : FACT_HOT_CREATED_HEAD);
    add_functions(f, s, own.samples ? &own : &all);
}

void explore_fact_hot_range(struct explore_facts *f, const struct weft_scene *s, int64_t from_ns,
                            int64_t to_ns)
{
    struct hot hot;
    if (!s->p)
        return;
    find(&hot, f, s, (struct hot_of){.from_ns = from_ns, .to_ns = to_ns, .promise = WEFT_NONE});
    explore_heading(f, FACT_CORE_HEAD);
    if (!hot.samples) {
        explore_say(f, explore_nowhere(), FACT_NO_SAMPLE);
        return;
    }
    add_amount(f, FACT_SAMPLES, &hot);
    explore_heading(f, FACT_HOT_HEAD);
    add_functions(f, s, &hot);
}

void explore_fact_hot_trace(struct explore_facts *f, const struct weft_scene *s)
{
    struct hot hot;
    if (!s->p || !find(&hot, f, s, (struct hot_of){ALWAYS, .promise = WEFT_NONE}))
        return;
    explore_heading(f, FACT_HOT_HEAD);
    add_amount(f, FACT_SAMPLES, &hot);
    add_functions(f, s, &hot);
}
