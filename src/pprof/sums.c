/* SPDX-License-Identifier: ISC */
#include "pprof/sums.h"

#include <stdlib.h>
#include <string.h>

/* ---- Values ---- */

bool pprof_source_is_count(const struct weft_profile *p, uint32_t source)
{
    const struct weft_source *s = &p->source[source];
    return s->unit == WEFT_UNIT_COUNT && strcmp(weft_profile_text(p, s->name), "samples") == 0;
}

bool pprof_kind_is_of(const struct pprof_kind *k, const struct weft_profile *p, uint32_t source)
{
    const struct weft_source *s = &p->source[source];
    return k->unit == s->unit &&
           strncmp(k->name, weft_profile_text(p, s->name), sizeof k->name - 1) == 0;
}

static const struct pprof_kind *find_kind(const struct pprof_kinds *k, const struct weft_profile *p,
                                          uint32_t source)
{
    for (uint32_t i = 0; i < k->kinds; i++)
        if (pprof_kind_is_of(&k->kind[i], p, source))
            return &k->kind[i];
    return NULL;
}

int pprof_kinds_add(struct pprof_kinds *k, const struct weft_profile *p)
{
    for (uint32_t i = 0; i < p->sources; i++) {
        if (find_kind(k, p, i))
            continue;
        if (k->kinds == PPROF_KINDS_MAX)
            return WEFT_E_LIMIT;
        struct pprof_kind *kind = &k->kind[k->kinds++];
        snprintf(kind->name, sizeof kind->name, "%s", weft_profile_text(p, p->source[i].name));
        kind->unit = p->source[i].unit;
        kind->counted = !pprof_source_is_count(p, i);
        kind->value = k->values;
        k->values += 1 + kind->counted;
    }
    return 0;
}

/* ---- Stacks with frames of promises ---- */

/* WEFT_NONE: no memory. */
static uint32_t add_node(struct pprof_sums *s, uint32_t parent, uint32_t location)
{
    const struct pprof_node key = {parent, location};
    return weft_table_add(&s->nodes_by, &s->node, &s->nodes, &s->node_room, sizeof *s->node,
                          sizeof key, &key, s->seed);
}

uint32_t pprof_sums_made(struct pprof_sums *s, uint32_t text)
{
    if (s->mades >= PPROF_MADE - 1)
        return WEFT_NONE;
    return PPROF_MADE | weft_table_add(&s->mades_by, &s->made, &s->mades, &s->made_room,
                                       sizeof *s->made, sizeof text, &text, s->seed);
}

/* Frames that are inlined into each other are one location: as many as it has, from the innermost one on. */
static uint32_t node_of(struct pprof_sums *s, const struct weft_named_frame *frame, uint32_t count)
{
    uint32_t location[WEFT_FRAMES_MAX + 1], locations = 0, node = 0;
    for (uint32_t left = count; left > 0 && locations <= WEFT_FRAMES_MAX;) {
        const struct weft_named_frame *f = &frame[left - 1];
        uint32_t inlined = 1, here = f->location;
        s->cut += f->kind == WEFT_FRAME_STATE; /* "…" */
        if (here != WEFT_NONE) {
            uint32_t most = s->p->location[here].frames;
            while (inlined < most && inlined < left && frame[left - 1 - inlined].location == here)
                inlined++;
        } else {
            here = pprof_sums_made(s, f->text);
        }
        if (here == WEFT_NONE)
            return WEFT_NONE;
        location[locations++] = here;
        left -= inlined;
    }
    for (uint32_t i = locations; i-- > 0 && node != WEFT_NONE;)
        node = add_node(s, node, location[i]);
    return node;
}

static uint32_t stack_of(struct pprof_sums *s, uint32_t stack, uint32_t whose, uint32_t thread,
                         uint64_t time_ns)
{
    if (!s->frames) {
        s->cut += weft_profile_depth(s->p, stack) > WEFT_FRAMES_MAX;
        return stack;
    }
    uint32_t count;
    const struct weft_named_frame *frame =
        weft_frames_of(s->frames, stack, whose, thread, time_ns, &count);
    return frame ? node_of(s, frame, count) : WEFT_NONE;
}

uint32_t pprof_sums_pop(const struct pprof_sums *s, uint32_t *stack)
{
    uint32_t at = *stack;
    *stack = s->frames ? s->node[at].parent : s->p->stack[at].parent;
    return s->frames ? s->node[at].location : s->p->stack[at].location;
}

/* ---- Sums ---- */

/* The values of what has that stack and these labels; NULL: no memory. */
static int64_t *total_of(struct pprof_sums *s, const struct pprof_sum *key)
{
    const uint32_t before = s->sums;
    if (key->stack == WEFT_NONE ||
        !weft_reserve(&s->total, s->sums, &s->total_room, s->values * sizeof *s->total))
        return NULL;
    const uint32_t at = weft_table_add(&s->sums_by, &s->sum, &s->sums, &s->sum_room, sizeof *key,
                                       sizeof *key, key, s->seed);
    if (at == UINT32_MAX)
        return NULL;
    int64_t *total = s->total + (size_t)at * s->values;
    if (at == before)
        memset(total, 0, s->values * sizeof *total);
    return total;
}

static int add_sample(struct pprof_sums *s, const struct weft_sample *sample, bool away)
{
    struct pprof_sum key = {.promise = sample->promise,
                            .thread = sample->thread,
                            .core = sample->core,
                            .state = weft_frames_state(sample, away)};
    if (s->o->only && s->p->thread[sample->thread].process != s->o->process)
        return 0;
    key.stack = stack_of(s, sample->stack, weft_frames_whose(sample->promise, sample->gap),
                         sample->thread, sample->time_ns);
    int64_t *total = total_of(s, &key);
    if (!total)
        return WEFT_E_NOMEM;
    const struct pprof_kind *kind = away ? NULL : s->kind_of[sample->source];
    total += kind ? kind->value : s->values - 1;
    if (kind && kind->counted) {
        *total = pprof_add_values(*total, 1);
        total++;
    }
    *total = pprof_add_values(*total, sample->value);
    return 0;
}

int pprof_sums_make(struct pprof_sums *s, const struct pprof_kinds *kinds,
                    const struct weft_pprof_part *part, const struct weft_pprof_options *o)
{
    struct weft_profile *p = part->profile;
    *s = (struct pprof_sums){.p = p, .o = o, .kinds = kinds, .seed = weft_seed()};
    int rc = 0;
    s->values = kinds->values + kinds->off_cpu;
    s->kind_of = weft_resize(NULL, p->sources, sizeof *s->kind_of);
    if (!s->kind_of)
        return WEFT_E_NOMEM;
    for (uint32_t i = 0; i < p->sources; i++)
        s->kind_of[i] = find_kind(kinds, p, i);
    if (rc == 0 && o->async != WEFT_ASYNC_NONE && p->model) {
        rc = weft_frames_new(
            &s->frames, p,
            &(struct weft_frames_options){.async = o->async, .family = part->family});
        /* [0]: no other has itself as its caller */
        if (rc == 0 && add_node(s, 0, WEFT_NONE) != 0)
            rc = WEFT_E_NOMEM;
    }
    for (uint32_t i = 0; i < p->samples && rc == 0; i++)
        rc = add_sample(s, &p->sample[i], false);
    for (uint32_t i = 0; i < p->absences && rc == 0 && kinds->off_cpu; i++)
        rc = add_sample(s, &p->absence[i], true);
    return rc;
}

void pprof_sums_fini(struct pprof_sums *s)
{
    weft_frames_free(s->frames);
    weft_free_all(s->sums_by.slot, s->nodes_by.slot, s->mades_by.slot, s->kind_of, s->sum, s->total,
                  s->node, s->made);
    *s = (struct pprof_sums){.p = NULL};
}
