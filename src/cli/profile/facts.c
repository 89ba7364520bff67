/* SPDX-License-Identifier: ISC */
/* What was measured, and which addresses have no name. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/profile/profile.h"
#include "base/array.h"
#include "base/order.h"
#include "profile/gather.h"

/* ---- How often ---- */

struct seen { /* of a thread */
    uint64_t first_ns, last_ns, away_ns;
    bool any;
};

/* Values are what the file says. */
static void add(uint64_t *sum, uint64_t value)
{
    *sum = value < UINT64_MAX - *sum ? *sum + value : UINT64_MAX;
}

static void note(struct seen *s, uint64_t from_ns, uint64_t to_ns)
{
    s->first_ns = s->any && s->first_ns < from_ns ? s->first_ns : from_ns;
    s->last_ns = s->any && s->last_ns > to_ns ? s->last_ns : to_ns;
    s->any = true;
}

/* If absences are known: samples divided by the time that threads were not away. */
static double rate_by_absences(const struct cli_profile_facts *f, const struct seen *seen,
                               uint32_t threads)
{
    uint64_t running_ns = 0;
    for (uint32_t t = 0; t < threads; t++)
        if (seen[t].any && seen[t].last_ns - seen[t].first_ns > seen[t].away_ns)
            running_ns += seen[t].last_ns - seen[t].first_ns - seen[t].away_ns;
    return running_ns ? (double)f->samples * 1e9 / (double)running_ns : 0;
}

/* Else from the usual distance between two samples of a thread. */
static void rate_by_distance(struct cli_profile_facts *f, const struct weft_profile *p,
                             uint32_t source)
{
    enum { ENOUGH = 1 << 20 };
    uint64_t most = f->samples < ENOUGH ? f->samples : ENOUGH, n = 0;
    uint64_t *gap = weft_resize(NULL, (size_t)most + 1, sizeof *gap);
    uint64_t *last = calloc((size_t)p->threads + 1, sizeof *last);
    for (uint32_t i = 0; gap && last && i < p->samples && n < most; i++) {
        const struct weft_sample *s = &p->sample[i];
        if (s->source != source)
            continue;
        if (last[s->thread] && s->time_ns > last[s->thread])
            gap[n++] = s->time_ns - last[s->thread];
        last[s->thread] = s->time_ns;
    }
    if (!gap || !last)
        cli_lacks_memory();
    if (n) {
        qsort(gap, (size_t)n, sizeof *gap, weft_order_u64);
        f->rate = 1e9 / (double)gap[n / 2];
    }
    free(gap);
    free(last);
}

static void count_absences(struct cli_profile_facts *f, const struct weft_profile *p,
                           struct seen *seen)
{
    for (uint32_t i = 0; i < p->absences; i++) {
        const struct weft_sample *a = &p->absence[i];
        const uint64_t ns = a->open ? 0 : a->value;
        f->away++;
        add(&f->away_ns, a->value);
        f->preempted += a->preempted;
        add(&f->preempted_ns, a->preempted ? a->value : 0);
        note(&seen[a->thread], a->time_ns, a->time_ns + ns);
        add(&seen[a->thread].away_ns, ns);
    }
}

static uint32_t processes(const struct weft_profile *p, const struct seen *seen)
{
    uint32_t count = 0, n = 0;
    uint32_t *number = weft_resize(NULL, (size_t)p->threads + 1, sizeof *number);
    for (uint32_t t = 0; number && t < p->threads; t++)
        if (seen[t].any)
            number[n++] = p->thread[t].process;
    if (number)
        qsort(number, n, sizeof *number, weft_order_u32);
    for (uint32_t i = 0; i < n; i++)
        count += number[i] != UINT32_MAX && (i == 0 || number[i] != number[i - 1]);
    free(number);
    return count;
}

void cli_profile_facts_find(struct cli_profile_facts *f, const struct weft_profile *p,
                            uint32_t source)
{
    struct seen *seen = calloc((size_t)p->threads + 1, sizeof *seen);
    *f = (struct cli_profile_facts){.first_ns = UINT64_MAX};
    if (!seen) {
        cli_lacks_memory();
        return;
    }
    for (uint32_t i = 0; i < p->samples; i++) {
        const struct weft_sample *s = &p->sample[i];
        if (s->source != source)
            continue;
        f->samples++;
        add(&f->total, s->value);
        note(&seen[s->thread], s->time_ns, s->time_ns);
    }
    count_absences(f, p, seen);
    for (uint32_t t = 0; t < p->threads; t++) {
        if (!seen[t].any)
            continue;
        f->threads += p->thread[t].thread != UINT32_MAX || p->thread[t].process != UINT32_MAX;
        f->first_ns = seen[t].first_ns < f->first_ns ? seen[t].first_ns : f->first_ns;
        f->last_ns = seen[t].last_ns > f->last_ns ? seen[t].last_ns : f->last_ns;
    }
    f->first_ns = f->first_ns == UINT64_MAX ? 0 : f->first_ns;
    f->processes = processes(p, seen);
    if (p->absences && !p->switches_until_ns)
        f->rate = rate_by_absences(f, seen, p->threads);
    else if (!p->switches_until_ns) /* else threads were away between samples for an unknown time */
        rate_by_distance(f, p, source);
    free(seen);
}

/* ---- Where functions are ---- */

uint32_t *cli_profile_objects(const struct weft_profile *p)
{
    uint32_t *object = calloc((size_t)p->functions + 1, sizeof *object);
    bool *several = calloc((size_t)p->functions + 1, sizeof *several);
    for (uint32_t i = 0; object && several && i < p->locations; i++) {
        const struct weft_location *l = &p->location[i];
        uint32_t path = l->mapping == WEFT_NONE ? 0 : p->mapping[l->mapping].path;
        for (uint32_t k = 0; k < l->frames; k++) {
            uint32_t function = p->frame[l->first_frame + k].function;
            several[function] |= object[function] && object[function] != path;
            object[function] = several[function] ? 0 : path;
        }
    }
    if (!several) {
        free(object);
        object = NULL;
    }
    if (!object)
        cli_lacks_memory();
    free(several);
    return object;
}

/* ---- What has no name ---- */

const struct cli_profile_reason cli_profile_nameless[] = {
    [PROFILE_NO_MAPPING] = {"unknown", "it is not known what was mapped there"},
    [PROFILE_GENERATED] = {"generated",
                           "code that the program generated: let it write /tmp/perf-PID.map"},
    [PROFILE_GONE] = {"missing", "the file is not there; --sysroot DIR, if it stands below DIR"},
    [PROFILE_REPLACED] = {"replaced",
                          "the file is another one by now (its build id differs); --sysroot DIR, "
                          "if the old one stands below DIR"},
    [PROFILE_STRIPPED] = {"stripped",
                          "no symbols for it: the file is stripped; install its debug symbols, "
                          "or build it with -g"},
    [PROFILE_KERNEL] = {"kernel",
                        "the kernel's names: --kallsyms FILE has them; this machine's are asked "
                        "only for what was recorded on it since it was booted, and only root "
                        "may read them, unless sysctl kernel.kptr_restrict is 0"},
    [PROFILE_NOT_ASKED] = {"not_asked", "--no-symbols was given"},
};

/* Determined when it is needed, from the file that is at its path now. */
static enum profile_nameless why_nameless(const struct cli_profile_view *v, uint32_t mapping)
{
    const struct weft_mapping *m = &v->p->mapping[mapping];
    const char *path = weft_profile_text(v->p, m->path);
    char full[4096];
    uint8_t id[WEFT_BUILD_ID_MAX];
    struct stat st;
    if (v->r->no_symbols)
        return PROFILE_NOT_ASKED;
    if (m->kernel)
        return PROFILE_KERNEL;
    if (weft_profile_is_generated(v->p, &v->p->mapping[mapping]))
        return PROFILE_GENERATED;
    int size = snprintf(full, sizeof full, "%s%s", v->r->sysroot ? v->r->sysroot : "", path);
    if (*path != '/' || size < 0 || (size_t)size >= sizeof full || stat(full, &st) < 0 ||
        !S_ISREG(st.st_mode))
        return PROFILE_GONE;
    uint32_t bytes = m->build_id_bytes ? weft_symbols_build_id(NULL, full, id) : 0;
    if (bytes && (bytes != m->build_id_bytes || memcmp(id, m->build_id, bytes) != 0))
        return PROFILE_REPLACED;
    return PROFILE_STRIPPED;
}

static int by_path(const void *a, const void *b)
{
    const struct cli_profile_blank *x = a, *y = b;
    WEFT_ORDER(x->path, y->path);
    return weft_order(x->why, y->why);
}

static int by_value(const void *a, const void *b)
{
    const struct cli_profile_blank *x = a, *y = b;
    WEFT_ORDER(y->value, x->value);
    return by_path(a, b);
}

/* Sorted by mapping first; then the mappings of one file are combined, because a file has several. */
static void gather(struct cli_profile_blanks *b, const struct cli_profile_view *v)
{
    uint32_t mappings = v->p->mappings, n = 0;
    for (uint32_t m = 0; m <= mappings; m++) {
        struct cli_profile_blank *blank = &b->blank[m];
        if (blank->samples == 0)
            continue;
        blank->path = m < mappings ? v->p->mapping[m].path : 0;
        blank->why = m < mappings ? why_nameless(v, m) : PROFILE_NO_MAPPING;
        b->blank[n++] = *blank;
    }
    qsort(b->blank, n, sizeof *b->blank, by_path);
    for (uint32_t i = 0; i < n; i++) {
        struct cli_profile_blank *last = b->blanks ? &b->blank[b->blanks - 1] : NULL;
        if (last && by_path(last, &b->blank[i]) == 0) {
            last->samples += b->blank[i].samples;
            last->value += b->blank[i].value;
        } else {
            b->blank[b->blanks++] = b->blank[i];
        }
    }
    qsort(b->blank, b->blanks, sizeof *b->blank, by_value);
}

struct counting {
    const struct weft_profile *p;
    struct cli_profile_blanks *b;
};

static bool count_blank(void *data, const struct profile_item *item)
{
    const struct counting *c = data;
    const struct weft_profile *p = c->p;
    c->b->all += item->value;
    if (item->stack == 0)
        return true;
    const struct weft_location *at = &p->location[p->stack[item->stack].location];
    if (at->frames)
        return true;
    struct cli_profile_blank *blank =
        &c->b->blank[at->mapping < p->mappings ? at->mapping : p->mappings];
    blank->samples += item->samples;
    blank->value += item->value;
    c->b->samples += item->samples;
    c->b->value += item->value;
    return true;
}

void cli_profile_blanks_find(struct cli_profile_blanks *b, const struct cli_profile_view *v)
{
    struct weft_calltree_options o = v->o;
    struct profile_gather g;
    struct counting c = {v->p, b};
    *b = (struct cli_profile_blanks){.blank = calloc((size_t)v->p->mappings + 1, sizeof *b->blank)};
    o.by = WEFT_PROFILE_BY_FUNCTION;
    o.async = WEFT_ASYNC_NONE;
    o.off_cpu = false;
    if (b->blank && profile_gather_run(&g, v->p, &o, true, count_blank, &c) == 0)
        gather(b, v);
    else
        cli_lacks_memory();
    if (b->blank)
        profile_gather_fini(&g);
}
