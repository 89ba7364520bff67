/* SPDX-License-Identifier: ISC */
/* Takes bytes through what reads profiles of others, and what writes profiles for pprof. Aborts where a promise of
 * one of them is broken. */
#pragma once

#include "pprof/pprof.h"
#include "profile/foreign.h"
#include "try.h"

/* ---- An unwinder that knows no programs, but looks at all that it is given ---- */

static inline int try_map(void *data, const struct weft_mapping *m, const char *path)
{
    *(uint64_t *)data += strlen(path) + m->size + m->build_id_bytes;
    return 0;
}

static inline void try_forget(void *data, uint32_t process)
{
    *(uint64_t *)data += process;
}

static inline int try_fork(void *data, uint32_t process, uint32_t parent)
{
    *(uint64_t *)data += process - parent;
    return 0;
}

static inline uint32_t try_run(void *data, uint32_t process, uint32_t thread, uint64_t regs_mask,
                               const uint64_t *regs, const uint8_t *stack, uint64_t stack_bytes,
                               uint64_t *pcs, uint32_t room)
{
    uint64_t sum = process + thread;
    uint32_t registers = (uint32_t)__builtin_popcountll(regs_mask);
    for (uint32_t i = 0; i < registers; i++)
        sum += regs[i];
    for (uint64_t i = 0; i < stack_bytes; i++)
        sum += stack[i];
    *(uint64_t *)data += sum;
    uint32_t found = registers < room ? registers : room;
    for (uint32_t i = 0; i < found; i++)
        pcs[i] = regs[i];
    return found;
}

/* ---- What a profile must be ---- */

static inline void try_stacks(const struct weft_profile *p)
{
    for (uint32_t i = 1; i < p->stacks; i++) {
        REQUIRE(p->stack[i].parent < i);
        REQUIRE(p->stack[i].location < p->locations);
    }
    for (uint32_t i = 0; i < p->locations; i++) {
        const struct weft_location *l = &p->location[i];
        REQUIRE(l->mapping == WEFT_NONE || l->mapping < p->mappings);
        REQUIRE(l->frames == 0 || l->first_frame + l->frames <= p->frames);
    }
}

static inline void try_profile(const struct weft_profile *p)
{
    try_stacks(p);
    for (uint32_t i = 0; i < p->samples; i++) {
        const struct weft_sample *s = &p->sample[i];
        REQUIRE(s->stack < p->stacks && s->thread < p->threads && s->source < p->sources);
        REQUIRE(i == 0 || s->time_ns >= p->sample[i - 1].time_ns);
    }
    for (uint32_t i = 0; i < p->absences; i++) {
        const struct weft_sample *a = &p->absence[i];
        REQUIRE(a->thread < p->threads && a->stack < p->stacks &&
                a->value <= UINT64_MAX - a->time_ns);
    }
    for (uint32_t i = 0; i < p->mappings; i++) {
        REQUIRE(p->mapping[i].size <= UINT64_MAX - p->mapping[i].start);
        REQUIRE(p->mapping[i].build_id_bytes <= WEFT_BUILD_ID_MAX);
        REQUIRE(weft_profile_text(p, p->mapping[i].path));
    }
}

static inline void try_write(struct weft_profile *p)
{
    static FILE *nowhere;
    const struct weft_pprof_part part = {.profile = p, .comment = "a\xff\n", .real_ns = -1};
    struct weft_error err = {.code = 0};
    uint64_t cut;
    nowhere = nowhere ? nowhere : fopen("/dev/null", "we");
    REQUIRE(nowhere);
    int rc = weft_pprof_write(nowhere, &part, 1, &(struct weft_pprof_options){.off_cpu = true},
                              &cut, &err);
    if (rc < 0) {
        REQUIRE(rc == WEFT_E_LIMIT);
        try_error(&err, rc);
    }
    rc = weft_pprof_write_legacy(nowhere, &part, 1, &(struct weft_pprof_options){.only = false},
                                 &cut, &err);
    if (rc < 0) {
        REQUIRE(rc == WEFT_E_INVALID);
        try_error(&err, rc);
    }
}

/* The bytes as a profile of that kind; NONE: as it looks. */
static inline void try_foreign(const void *bytes, size_t size, enum weft_foreign kind)
{
    static uint64_t sum;
    static const struct weft_foreign_unwinder unwinder = {&sum, try_map, try_forget, try_run,
                                                          try_fork};
    const struct weft_foreign_options o = {.kind = kind, .unwinder = &unwinder};
    struct weft_foreign_facts facts;
    struct weft_error err = {.code = 0};
    struct weft_input in;
    struct weft_profile *p = weft_profile_new();
    REQUIRE(p);
    if (weft_input_open(&in, try_file(bytes, size), &err) < 0) { /* it looks packed, and is not */
        weft_profile_free(p);
        return;
    }
    int rc = weft_profile_load_foreign(p, &in, &o, &facts, &err);
    if (rc < 0) {
        REQUIRE(rc == WEFT_E_FORMAT || rc == WEFT_E_LIMIT);
        REQUIRE(err.offset == WEFT_NO_OFFSET || err.offset <= in.size);
        try_error(&err, rc);
    }
    REQUIRE(facts.samples == p->samples);
    REQUIRE(weft_profile_finish(p) == 0);
    try_profile(p);
    try_write(p);
    weft_profile_free(p);
    weft_input_close(&in);
}
