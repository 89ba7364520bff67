/* SPDX-License-Identifier: ISC */
/* gperftools' CPU profile: 64-bit words, followed by lines as in /proc/self/maps. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "format/bytes.h"
#include "format/utf8.h"
#include "pprof/sums.h"

struct node { /* in the tree of stacks, which are distinguished by addresses alone */
    uint64_t address;
    uint32_t parent;
    uint64_t count; /* samples that end here */
};

struct mapped { /* a mapping to be written */
    uint64_t start, end;
    const struct weft_mapping *m;
    const char *path;
    uint32_t part;
    bool used; /* a sample has an address in it */
};

struct legacy {
    FILE *out;
    const struct weft_pprof_options *o;
    struct weft_error *err;
    struct node *node; /* [0]: the empty stack */
    uint32_t nodes, node_room;
    struct weft_table nodes_by;
    uint64_t seed;
    uint64_t samples, time_ns; /* total */
    uint64_t cut;              /* samples whose stack is deeper than what is written */
    struct mapped *mapped;
    uint32_t mappeds, mapped_room;

    /* The current part */
    const struct weft_profile *p;
    uint32_t part;
    uint32_t source;          /* the one whose samples are written */
    uint64_t counted, values; /* samples, and what they stand for */
    uint32_t *node_of;        /* by stack */
    bool *seen;               /* by stack: it is of a sample */
    bool *used;               /* by mapping */
};

/* ---- Stacks ---- */

/* WEFT_NONE: no memory. */
static uint32_t add_node(struct legacy *l, uint32_t parent, uint64_t address)
{
    const struct node key = {.address = address, .parent = parent};
    return weft_table_add(&l->nodes_by, &l->node, &l->nodes, &l->node_room, sizeof key,
                          offsetof(struct node, parent) + sizeof parent, &key, l->seed);
}

/* The stacks of the part; callers come before those they call. */
static int add_stacks(struct legacy *l)
{
    const struct weft_profile *p = l->p;
    l->node_of[0] = 0;
    for (uint32_t i = 1; i < p->stacks; i++) {
        uint64_t address = p->location[p->stack[i].location].address;
        l->node_of[i] = add_node(l, l->node_of[p->stack[i].parent], address);
        if (l->node_of[i] == WEFT_NONE)
            return weft_no_memory(l->err);
    }
    return 0;
}

static bool same_source(const struct legacy *l, uint32_t source)
{
    const struct weft_source *a = &l->p->source[source], *b = &l->p->source[l->source];
    return a->name == b->name && a->unit == b->unit;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void add_sample(struct legacy *l, const struct weft_sample *s)
{
    struct node *n = &l->node[l->node_of[s->stack]];
    uint64_t count = pprof_source_is_count(l->p, s->source) ? s->value : 1;
    n->count = add(n->count, count);
    l->counted = add(l->counted, count);
    l->values = add(l->values, s->value);
    l->cut += weft_profile_depth(l->p, s->stack) > WEFT_FRAMES_MAX;
    for (uint32_t at = s->stack; at && !l->seen[at]; at = l->p->stack[at].parent) {
        uint32_t mapping = l->p->location[l->p->stack[at].location].mapping;
        l->seen[at] = true;
        if (mapping != WEFT_NONE)
            l->used[mapping] = true;
    }
}

static void add_samples(struct legacy *l)
{
    const struct weft_profile *p = l->p;
    l->source = 0;
    for (uint32_t i = p->sources; i-- > 0;)
        if (p->source[i].unit == WEFT_UNIT_NS)
            l->source = i;
    for (uint32_t i = 0; i < p->samples; i++)
        if (same_source(l, p->sample[i].source) &&
            (!l->o->only || p->thread[p->sample[i].thread].process == l->o->process))
            add_sample(l, &p->sample[i]);
}

/* The time that the samples of the part stand for; 0: it is not known. */
static uint64_t time_of(const struct legacy *l)
{
    const struct weft_source *s = l->p->sources ? &l->p->source[l->source] : NULL;
    uint64_t time_ns;
    if (!s || pprof_source_is_count(l->p, l->source))
        return 0;
    if (s->unit == WEFT_UNIT_NS)
        return l->values;
    if (s->frequency && !__builtin_mul_overflow(l->counted, 1000000000 / s->frequency, &time_ns))
        return time_ns;
    return l->p->last_ns - l->p->first_ns;
}

/* In microseconds; at least 1. */
static uint64_t period_us(const struct legacy *l)
{
    uint64_t period_ns = l->samples ? l->time_ns / l->samples : 0;
    return period_ns < 1500 ? 1 : period_ns / 1000 + (period_ns % 1000 >= 500);
}

/* ---- Mappings ---- */

static int add_mappings(struct legacy *l)
{
    for (uint32_t i = 0; i < l->p->mappings; i++) {
        const struct weft_mapping *m = &l->p->mapping[i];
        if (!l->used[i] && l->o->only && m->process != l->o->process)
            continue;
        if (!weft_reserve(&l->mapped, l->mappeds, &l->mapped_room, sizeof *l->mapped))
            return weft_no_memory(l->err);
        const char *path = weft_profile_text(l->p, m->path);
        bool is_kernel = m->kernel && strcmp(path, "[kernel]") == 0;
        l->mapped[l->mappeds++] = (struct mapped){.start = m->start,
                                                  .end = m->start + m->size,
                                                  .m = m,
                                                  .path = is_kernel ? "[kernel.kallsyms]" : path,
                                                  .part = l->part,
                                                  .used = l->used[i]};
    }
    return 0;
}

/* Returns true if an address means the same place of the same file in both. */
static bool agree(const struct mapped *a, const struct mapped *b)
{
    return a->start - a->m->offset == b->start - b->m->offset && strcmp(a->path, b->path) == 0;
}

static int by_start(const void *a, const void *b)
{
    const struct mapped *x = a, *y = b;
    WEFT_ORDER(x->start, y->start);
    WEFT_ORDER(x->part, y->part);
    return weft_order(x->m, y->m); /* of one array */
}

static bool same_process(const struct mapped *a, const struct mapped *b)
{
    return a->part == b->part && a->m->process == b->m->process;
}

static int complain(struct legacy *l, const struct mapped *a, const struct mapped *b)
{
    char one[32] = "the kernel", other[32] = "the kernel";
    if (!a->m->kernel)
        snprintf(one, sizeof one, "process %" PRIu32, a->m->process);
    if (!b->m->kernel)
        snprintf(other, sizeof other, "process %" PRIu32, b->m->process);
    return weft_error_set(l->err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                          "at 0x%" PRIx64 " %s%s has %.50s and %s%s has %.50s, which this format "
                          "cannot tell apart; take one process, or the newer format",
                          b->start, one, a->part == b->part ? "" : " of one file", a->path, other,
                          a->part == b->part ? "" : " of another", b->path);
}

/* Looks for different files of different processes at the same addresses, with samples in both: the
 * addresses of a stack could mean only one of them. */
static int look_for_conflict(struct legacy *l)
{
    const struct mapped *far = NULL; /* the one that reaches furthest */
    for (uint32_t i = 0; i < l->mappeds; i++) {
        const struct mapped *m = &l->mapped[i];
        if (!m->used)
            continue;
        if (far && m->start < far->end && !same_process(far, m) && !agree(far, m))
            return complain(l, far, m);
        if (!far || m->end > far->end)
            far = m;
    }
    return 0;
}

/* A path within a line: like newlines in /proc/self/maps, all special bytes are escaped. */
static void put_path(FILE *out, const char *path)
{
    for (size_t n; *path; path += n ? n : 1) {
        n = weft_utf8_harmless(path, strlen(path));
        if (n)
            fwrite(path, 1, n, out);
        else
            fprintf(out, "\\%03o", (unsigned char)*path);
    }
}

/* If several are at the same place, only the first. */
static void put_maps(struct legacy *l)
{
    const struct mapped *last = NULL;
    for (uint32_t i = 0; i < l->mappeds; i++) {
        const struct mapped *m = &l->mapped[i];
        if (last && last->start == m->start && last->end == m->end && agree(last, m))
            continue;
        last = m;
        fprintf(l->out, "%08" PRIx64 "-%08" PRIx64 " r-xp %08" PRIx64 " 00:00 0 ", m->start, m->end,
                m->m->offset);
        put_path(l->out, m->path);
        fputc('\n', l->out);
    }
}

/* ---- The file ---- */

static void put_words(FILE *out, const uint64_t *word, unsigned words)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < words; i++) {
        weft_write_u64(bytes, word[i]);
        fwrite(bytes, sizeof bytes, 1, out);
    }
}

static void put_record(struct legacy *l, uint32_t node)
{
    unsigned char record[8 * (2 + WEFT_FRAMES_MAX)];
    uint32_t depth = 0;
    for (uint32_t at = node; at && depth < WEFT_FRAMES_MAX; at = l->node[at].parent)
        weft_write_u64(record + 16 + 8 * depth++, l->node[at].address);
    if (!depth) /* there is no record without an address */
        weft_write_u64(record + 16 + 8 * depth++, 0);
    weft_write_u64(record, l->node[node].count);
    weft_write_u64(record + 8, depth);
    fwrite(record, 8, 2 + depth, l->out);
}

static int add_part(struct legacy *l, const struct weft_profile *p)
{
    l->p = p;
    l->counted = l->values = 0;
    l->used = calloc((size_t)p->mappings + 1, 1);
    l->seen = calloc(p->stacks, 1);
    l->node_of = weft_resize(NULL, p->stacks, sizeof *l->node_of);
    int rc = l->used && l->seen && l->node_of ? add_stacks(l) : weft_no_memory(l->err);
    if (rc == 0) {
        add_samples(l);
        l->samples = add(l->samples, l->counted);
        l->time_ns = add(l->time_ns, time_of(l));
        rc = add_mappings(l);
    }
    weft_free_all(l->used, l->seen, l->node_of);
    return rc;
}

static int write_all(struct legacy *l, const struct weft_pprof_part *part, uint32_t parts)
{
    int rc = add_node(l, WEFT_NONE, 0) == 0 ? 0 : weft_no_memory(l->err);
    for (; l->part < parts && rc == 0; l->part++)
        rc = add_part(l, part[l->part].profile);
    if (rc < 0)
        return rc;
    weft_sort(l->mapped, l->mappeds, sizeof *l->mapped, by_start);
    TRY(look_for_conflict(l));
    put_words(l->out, (const uint64_t[]){0, 3, 0, period_us(l), 0}, 5);
    for (uint32_t i = 0; i < l->nodes; i++)
        if (l->node[i].count)
            put_record(l, i);
    put_words(l->out, (const uint64_t[]){0, 1, 0}, 3);
    put_maps(l);
    return ferror(l->out) ? weft_error_set(l->err, WEFT_E_IO, WEFT_NO_OFFSET,
                                           "cannot be written: %s", strerror(errno))
                          : 0;
}

int weft_pprof_write_legacy(FILE *out, const struct weft_pprof_part *part, uint32_t parts,
                            const struct weft_pprof_options *o, uint64_t *cut,
                            struct weft_error *err)
{
    struct legacy l = {.out = out, .o = o, .err = err, .seed = weft_seed()};
    int rc = write_all(&l, part, parts);
    weft_free_all(l.nodes_by.slot, l.node, l.mapped);
    *cut = l.cut;
    return rc;
}
