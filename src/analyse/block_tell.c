/* SPDX-License-Identifier: ISC */
/* Reports long runs as findings: how certain they are, and the words. */
#include <stdlib.h>
#include <string.h>

#include "analyse/block.h"
#include "analyse/judge.h"

enum {
    TOLD = 16,       /* families for which everything that waits is counted */
    USUAL_RUNS = 20, /* runs of a family; a single long one among this many may be an exception */
    A_FEW_RUNS = 4,  /* … for a short one */
};

/* Blocks of one family. */
struct group {
    uint32_t family;
    uint32_t first, count; /* places in the list of blocks; the worst is the first */
    uint32_t harming;      /* how many harmed a promise */
    int64_t cost_ns;
};

static int by_family_and_rank(const void *a, const void *b)
{
    const struct analyse_block *x = a, *y = b;
    WEFT_ORDER(x->family, y->family);
    WEFT_ORDER(y->rank, x->rank);
    WEFT_ORDER(y->length_ns, x->length_ns);
    WEFT_ORDER(x->stream, y->stream);
    return weft_order(x->from_ns, y->from_ns);
}

static int by_cost(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if ((x->harming > 0) != (y->harming > 0))
        return x->harming > 0 ? -1 : 1;
    WEFT_ORDER(y->cost_ns, x->cost_ns);
    return weft_order(x->family, y->family);
}

/* The machine may have been busy with something else: then a run takes long though it does
 * little. */
static uint64_t signs_of_machine(const struct analyse_blocks *b, const struct group *g)
{
    const struct analyse_block *x = &b->block[g->first];
    int64_t block = b->s->o->block_ns, mean = g->cost_ns / g->count;
    uint32_t runs = b->family_runs[g->family];
    if (x->still || x->length_ns >= 4 * block)
        return 0;
    /* A longer run is interrupted more often. */
    bool often =
        runs >= A_FEW_RUNS && (b->family_ns[g->family] - x->length_ns) / (runs - 1) >= block / 4;
    /* Below twice the limit, it only counts if it takes the same time every time and delays
     * others. */
    bool alike = g->count > 2 && x->length_ns - mean <= mean / 10;
    return (g->count <= runs / USUAL_RUNS ? ANALYSE_B_RARE : 0) |
           (g->count == 1 && x->length_ns < (often ? 3 : 2) * block ? ANALYSE_B_ONCE : 0) |
           (x->length_ns < 2 * block && (!alike || g->harming < g->count / 2) ? ANALYSE_B_NEAR : 0);
}

/* How long the other runs of its family took on average; `otherwise` if there are fewer than
 * `least` of them. */
static int64_t usual_ns(const struct analyse_blocks *b, const struct group *g, uint32_t least,
                        int64_t otherwise)
{
    uint32_t runs = b->family_runs[g->family];
    if (runs < g->count + least)
        return otherwise;
    return (b->family_ns[g->family] - g->cost_ns) / (int64_t)(runs - g->count);
}

/* Returns true if it is far longer than a promise of that family usually runs. Promises without a
 * label may be different things. */
static bool is_outlier(const struct analyse_blocks *b, const struct group *g)
{
    const struct analyse_block *x = &b->block[g->first];
    return weft_model_name(b->m, b->s->families->first[g->family]) != WEFT_NONE &&
           x->length_ns / 4 >= b->s->o->block_ns &&
           usual_ns(b, g, A_FEW_RUNS, INT64_MAX) < b->s->o->block_ns / 4 && !x->alone && !x->still;
}

static uint64_t signs_of_block(const struct analyse_blocks *b, const struct group *g)
{
    const struct analyse_block *x = &b->block[g->first];
    bool is_long = x->length_ns / 10 >= b->s->o->block_ns, told = b->h->informed[x->stream];
    bool endless = x->still && !x->silent && x->length_ns >= b->s->o->never_yield_ns;
    bool stopped = b->m->losses.ended == WEFT_ENDED_STOPPED;
    bool nobody = !x->harmed && !x->pushed && !x->due && !x->waiting;
    return analyse_signs(b->s, WEFT_ROOT) | signs_of_machine(b, g) |
           (x->unsure || (endless && !told) ? ANALYSE_B_UNSURE : 0) |
           (x->silent ? ANALYSE_B_SILENT : 0) | (endless ? ANALYSE_B_ENDLESS : 0) |
           (endless && told && !stopped ? ANALYSE_B_FOREVER : 0) |
           (endless && !x->unsure && x->needing ? ANALYSE_B_NEEDED : 0) |
           (nobody ? ANALYSE_B_NOBODY : 0) | (nobody && x->alone ? ANALYSE_B_ALONE : 0) |
           (is_outlier(b, g) ? ANALYSE_B_OUTLIER : 0) |
           (x->still && !x->harmed && !(is_long && x->needing) ? ANALYSE_B_LAST : 0) |
           (x->harmed && is_long ? ANALYSE_B_PROVEN : 0);
}

static void say_others(const struct analyse_blocks *b, const struct group *g)
{
    const struct analyse_block *x = &b->block[g->first];
    const uint32_t first = x->nameds ? b->h->wait[x->named[0]].reader : WEFT_ROOT;
    const uint32_t count = x->harmed ? x->harmed : x->waiting;
    const bool one = count == 1 && first != WEFT_ROOT;
    if (x->still && count == 0)
        return;
    if (count)
        analyse_say(b->s,
                    x->harmed ? (one ? SAY_BLOCK_KEPT_ONE : SAY_BLOCK_KEPT)
                    : one     ? SAY_BLOCK_WAITED_ONE
                              : SAY_BLOCK_WAITED,
                    AMOUNT(count, count), PROMISE(first, first));
    else if (x->pushed != WEFT_ROOT || x->due != WEFT_ROOT)
        analyse_say(b->s, x->pushed != WEFT_ROOT ? SAY_BLOCK_THEN_RAN : SAY_BLOCK_THEN_CAME,
                    PROMISE(next, x->pushed != WEFT_ROOT ? x->pushed : x->due));
    else if (is_outlier(b, g))
        analyse_say(b->s, SAY_BLOCK_USUALLY, LENGTH(usual, usual_ns(b, g, A_FEW_RUNS, INT64_MAX)));
}

static void say_block(const struct analyse_blocks *b, const struct group *g)
{
    const struct analyse_block *x = &b->block[g->first];
    const int64_t lasted = x->to_ns - x->from_ns;
    /* Small differences are noise of the clock. */
    const int64_t away = weft_history_preempted_ns(b->h, x->stream, x->from_ns, x->to_ns);
    analyse_say(b->s,
                x->silent  ? SAY_BLOCK_SILENT
                : x->still ? SAY_BLOCK_STILL
                           : SAY_BLOCK,
                PHRASE(who, x->promise == WEFT_ROOT ? SAY_BLOCK_BY_LOOP : SAY_BLOCK_BY),
                PROMISE(promise, x->promise), TIME(from, x->from_ns),
                LENGTH(length, x->still ? lasted : x->length_ns),
                LENGTH(away, away > lasted / 20 ? away : 0));
    say_others(b, g);
    if (g->count > 1)
        analyse_say(b->s, SAY_BLOCKS, AMOUNT(count, g->count), LENGTH(sum, g->cost_ns));
}

static void prove_block(const struct analyse_blocks *b, const struct analyse_block *x)
{
    enum { SHOWN = 4 };
    analyse_show(b->s, x->from_ns, WEFT_EVIDENCE_RUNS, x->promise, WEFT_NONE);
    if (!x->silent)
        analyse_show(b->s, x->to_ns, x->still ? WEFT_EVIDENCE_RUNS_STILL : WEFT_EVIDENCE_STOPS,
                     x->promise, WEFT_NONE);
    for (uint32_t i = 0; i < x->nameds && i < SHOWN; i++) {
        const struct weft_wait *w = &b->h->wait[x->named[i]];
        analyse_show_waits(b->s, w);
        if (!x->harmed)
            continue;
        analyse_show_resolved(b->s, w);
        analyse_show_woken(b->s, w);
    }
}

static void add_blocked(const struct analyse_blocks *b, const struct group *g,
                        struct weft_finding *f)
{
    enum { LOOKED_AT = 64 };
    for (uint32_t i = 0; i < g->count && i < LOOKED_AT; i++) {
        const struct analyse_block *x = &b->block[g->first + i];
        for (uint32_t n = 0; n < x->nameds; n++) {
            uint32_t reader = b->h->wait[x->named[n]].reader, k = 0;
            while (k < f->affecteds && f->affected[k] != reader)
                k++;
            if (k == f->affecteds)
                analyse_affects(b->s, reader);
        }
        uint32_t next = x->pushed ? x->pushed : x->due;
        if (next != WEFT_ROOT && i == 0 && x->nameds == 0)
            analyse_affects(b->s, next);
    }
    uint32_t harmed = b->block[g->first].harmed;
    f->affected_total = f->affected_total > harmed ? f->affected_total : harmed;
}

static void report_blocks(const struct analyse_blocks *b, const struct group *g)
{
    const struct analyse_block *x = &b->block[g->first];
    struct analyse_verdict v;
    if (!analyse_judge(&v, WEFT_FINDING_LOOP_BLOCKED, signs_of_block(b, g)))
        return; /* otherwise it becomes a span, even if this kind of finding is ignored */
    struct weft_finding *f = analyse_finding_add(b->s, WEFT_FINDING_LOOP_BLOCKED, &v, x->promise,
                                                 x->from_ns, x->to_ns, g->cost_ns);
    uint32_t finding = f ? b->s->out->count - 1 : WEFT_NONE;
    if (f) {
        say_block(b, g);
        f->count = g->count;
        prove_block(b, x);
        add_blocked(b, g, f);
    }
    int64_t usual = usual_ns(b, g, 1, 0);
    for (uint32_t i = 0; i < g->count; i++) {
        const struct analyse_block *y = &b->block[g->first + i];
        analyse_span_add(b->l, y->stream, y->from_ns, y->to_ns + y->silent, usual, finding);
    }
}

/* Sorts the blocks, and makes groups of them. Returns how many. */
static uint32_t sort_blocks(struct analyse_blocks *b, struct group *group)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; i < b->blocks; i++) {
        struct analyse_block *x = &b->block[i];
        x->family = b->s->families->of[x->promise];
        x->rank = 4u * (x->still && !x->unsure) + 2u * (x->harmed > 0) + (x->pushed || x->due);
    }
    qsort(b->block, b->blocks, sizeof *b->block, by_family_and_rank);
    for (uint32_t i = 0; i < b->blocks; i++) {
        const struct analyse_block *x = &b->block[i];
        if (i == 0 || x->family != b->block[i - 1].family)
            group[groups++] = (struct group){.family = x->family, .first = i};
        struct group *g = &group[groups - 1];
        g->count++;
        g->harming += x->harmed || x->pushed || x->due;
        g->cost_ns = analyse_sum(g->cost_ns, x->length_ns);
    }
    qsort(group, groups, sizeof *group, by_cost);
    return groups;
}

void analyse_blocks_tell(struct analyse_blocks *b)
{
    struct group *group = analyse_take(b->s, b->blocks, sizeof *group);
    struct analyse_block *told[TOLD];
    uint32_t groups, tolds = 0;
    b->family_runs = analyse_take(b->s, b->s->families->count, sizeof *b->family_runs);
    b->family_ns = analyse_take(b->s, b->s->families->count, sizeof *b->family_ns);
    for (uint32_t i = 0; !b->s->failed && i < b->m->runs; i++) {
        uint32_t family = b->s->families->of[b->h->run_promise[i]];
        b->family_runs[family]++;
        b->family_ns[family] =
            analyse_sum(b->family_ns[family], b->m->run[i].end_ns - b->m->run[i].start_ns);
    }
    groups = b->s->failed ? 0 : sort_blocks(b, group);
    for (; tolds < groups && tolds < TOLD; tolds++)
        told[tolds] = &b->block[group[tolds].first];
    analyse_blocks_waiting(b, told, tolds);
    for (uint32_t i = 0; i < groups && i < ANALYSE_LOOP_FAMILIES && !b->s->failed; i++)
        report_blocks(b, &group[i]);
}
