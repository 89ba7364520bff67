/* SPDX-License-Identifier: ISC */
/* Where the time of one path went, and of the paths of many promises of one sort. */
#include "analyse/crowd.h"

#include <stdlib.h>

#include "base/order.h"
#include "analyse/pairs.h"
#include "analyse/times.h"
#include "base/array.h"

/* ---- One path ---- */

struct sorted {
    struct weft_share share;
    uint32_t type, name;
};

static int by_kind(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    WEFT_ORDER(x->share.kind, y->share.kind);
    WEFT_ORDER(x->type, y->type);
    WEFT_ORDER(x->name, y->name);
    return weft_order(x->share.promise, y->share.promise);
}

static int by_total(const void *a, const void *b)
{
    const struct weft_share *x = a, *y = b;
    WEFT_ORDER(y->total_ns, x->total_ns);
    WEFT_ORDER(x->kind, y->kind);
    return weft_order(x->promise, y->promise);
}

static struct sorted sorted_step(const struct weft_step *s, const struct weft_model *m)
{
    uint32_t named = weft_step_is_behind(s->kind) ? s->behind : s->promise;
    struct sorted out = {
        .share = {.kind = s->kind, .promise = named, .total_ns = s->to_ns - s->from_ns, .steps = 1},
        .type = WEFT_NONE,
        .name = WEFT_NONE};
    if (weft_step_is_halt(s->kind)) /* whatever ran: all are one share */
        out.type = out.name = 0;
    else if (named != WEFT_NONE && named != WEFT_ROOT) {
        out.type = m->promise[named].type;
        out.name = weft_model_name(m, named);
    }
    return out;
}

struct weft_share *weft_path_shares(const struct weft_path *p, const struct weft_model *m,
                                    uint32_t *count)
{
    *count = 0;
    if (p->count == 0)
        return NULL;
    struct sorted *sorted = weft_resize(NULL, p->count, sizeof *sorted);
    struct weft_share *out = weft_resize(NULL, p->count, sizeof *out);
    if (!sorted || !out) {
        free(sorted);
        free(out);
        return NULL;
    }
    for (uint32_t i = 0; i < p->count; i++)
        sorted[i] = sorted_step(&p->step[i], m);
    qsort(sorted, p->count, sizeof *sorted, by_kind);
    for (uint32_t i = 0; i < p->count; i++) {
        struct sorted *s = &sorted[i], *before = i ? &sorted[i - 1] : NULL;
        bool loop = s->type == WEFT_NONE; /* or nothing: by promise */
        if (!before || before->share.kind != s->share.kind || before->type != s->type ||
            before->name != s->name || (loop && before->share.promise != s->share.promise)) {
            out[(*count)++] = s->share;
            continue;
        }
        out[*count - 1].several |= s->share.promise != before->share.promise;
        out[*count - 1].total_ns += s->share.total_ns;
        out[*count - 1].steps++;
    }
    free(sorted);
    qsort(out, *count, sizeof *out, by_total);
    return out;
}

/* ---- Many ---- */

enum {
    SOUNDINGS = 32,      /* paths used to estimate how long paths are */
    STEPS_MAX = 2000000, /* approximate limit for all examined paths together */
};

struct gatherer {
    struct weft_crowd *out;
    const struct weft_history *h;
    const struct analyse_families *families;
    struct analyse_pairs sorts; /* kind, family: with the numbers of shares */
    uint32_t room;
};

int analyse_crowd_by_time(const void *a, const void *b)
{
    const struct weft_crowd_member *x = a, *y = b;
    WEFT_ORDER(x->ns, y->ns);
    return weft_order(x->promise, y->promise);
}

static int by_length(const void *a, const void *b)
{
    const struct weft_crowd_share *x = a, *y = b;
    WEFT_ORDER(y->total_ns, x->total_ns);
    WEFT_ORDER(x->kind, y->kind);
    return weft_order(x->family, y->family);
}

static uint32_t name_of(const struct weft_model *m, uint32_t promise)
{
    return promise == WEFT_NONE ? WEFT_NONE : weft_model_name(m, promise);
}

/* Adds shares of one path to those of the same kind and family. */
static bool gather_members(struct gatherer *g, const struct weft_share *share, uint32_t count)
{
    struct weft_crowd *c = g->out;
    for (uint32_t i = 0; i < count; i++) {
        bool nobody = weft_step_is_halt(share[i].kind); /* whatever ran: all are one share */
        uint32_t p = nobody ? WEFT_NONE : share[i].promise, name = name_of(g->h->m, p);
        uint32_t family = p == WEFT_NONE ? WEFT_NONE : g->families->of[p];
        uint32_t at = analyse_pairs_add(&g->sorts, share[i].kind, family);
        if (at == WEFT_NONE || !weft_reserve(&c->share, at, &g->room, sizeof *c->share))
            return false;
        if (at == c->shares)
            c->share[c->shares++] = (struct weft_crowd_share){.kind = share[i].kind,
                                                              .family = family,
                                                              .promise = p,
                                                              .one_label = name != WEFT_NONE};
        c->share[at].one_label &= name_of(g->h->m, c->share[at].promise) == name;
        c->share[at].steps += share[i].steps;
        analyse_add(&c->share[at].total_ns, share[i].total_ns);
    }
    return true;
}

static bool add_path(struct gatherer *g, struct weft_path *path, uint32_t promise)
{
    uint32_t count;
    if (weft_path_find(path, g->h, promise) < 0)
        return false;
    struct weft_share *share = weft_path_shares(path, g->h->m, &count);
    bool ok = path->count == 0 || (share && gather_members(g, share, count));
    if (path->count)
        analyse_add(&g->out->sampled_ns, path->step[path->count - 1].to_ns - path->step[0].from_ns);
    g->out->sampled++;
    free(share);
    return ok;
}

/* The promise at a place of an even sample of the resolved ones, which are sorted by how long they
 * took, so that the sample includes slow ones. */
static uint32_t chosen_member(const struct weft_crowd *c, const uint32_t *promise, uint32_t place,
                              uint32_t places)
{
    uint32_t all = c->members ? c->members : c->count;
    uint32_t at = places < 2 ? 0 : (uint32_t)((uint64_t)place * (all - 1) / (places - 1));
    return c->members ? c->member[at].promise : promise[at];
}

/* How many paths to examine: fewer if some have very many steps. 0: no memory. */
static uint32_t sample_size(const struct gatherer *g, const uint32_t *promise)
{
    const struct weft_crowd *c = g->out;
    struct weft_path path = {0};
    uint32_t all = c->members ? c->members : c->count;
    uint32_t wanted = all < WEFT_CROWD_SAMPLE ? all : WEFT_CROWD_SAMPLE;
    uint64_t steps = 0;
    bool ok = true;
    if (wanted <= SOUNDINGS)
        return wanted;
    for (uint32_t i = 0; i < SOUNDINGS && ok; i++) {
        ok = weft_path_find(&path, g->h, chosen_member(c, promise, i, SOUNDINGS)) == 0;
        steps += path.count;
    }
    weft_path_fini(&path);
    uint64_t affordable = (uint64_t)STEPS_MAX * SOUNDINGS / (steps + 1);
    return !ok                      ? 0
           : affordable < SOUNDINGS ? SOUNDINGS
           : affordable < wanted    ? (uint32_t)affordable
                                    : wanted;
}

static bool sample_members(struct gatherer *g, const uint32_t *promise)
{
    struct weft_crowd *c = g->out;
    struct weft_path path = {0};
    uint32_t wanted = sample_size(g, promise);
    bool ok = wanted > 0;
    for (uint32_t i = 0; i < wanted && ok; i++)
        ok = add_path(g, &path, chosen_member(c, promise, i, wanted));
    weft_path_fini(&path);
    if (c->shares)
        qsort(c->share, c->shares, sizeof *c->share, by_length);
    return ok;
}

static void count_promise(struct weft_crowd *c, const struct weft_history *h, uint32_t promise)
{
    const struct weft_model *m = h->m;
    const struct weft_promise *p = &m->promise[promise];
    const struct weft_promise *final = &m->promise[weft_model_final(m, promise)];
    c->outcomes[final->outcome]++;
    c->preexisting += !p->created;
    if (final->outcome == WEFT_PENDING) {
        if (c->oldest_pending == WEFT_NONE || p->start_ns < m->promise[c->oldest_pending].start_ns)
            c->oldest_pending = promise;
    } else if (p->created && final->outcome != WEFT_FORGOTTEN) {
        int64_t end = weft_history_ended_ns(h, promise);
        int64_t ns = end > p->start_ns ? end - p->start_ns : 0;
        c->member[c->members++] = (struct weft_crowd_member){ns, promise};
    }
}

int weft_crowd_find(struct weft_crowd *out, const struct weft_history *h,
                    const struct analyse_families *families, const uint32_t *promise,
                    uint32_t count)
{
    struct gatherer g = {.out = out, .h = h, .families = families};
    *out = (struct weft_crowd){.count = count, .oldest_pending = WEFT_NONE};
    out->member = weft_resize(NULL, (uint64_t)count + 1, sizeof *out->member);
    if (!out->member)
        return WEFT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++)
        count_promise(out, h, promise[i]);
    qsort(out->member, out->members, sizeof *out->member, analyse_crowd_by_time);
    const bool ok = count == 0 || sample_members(&g, promise);
    analyse_pairs_fini(&g.sorts);
    if (!ok)
        weft_crowd_fini(out);
    return ok ? 0 : WEFT_E_NOMEM;
}

void weft_crowd_fini(struct weft_crowd *c)
{
    free(c->member);
    free(c->share);
    *c = (struct weft_crowd){0};
}

int64_t weft_crowd_percentile(const struct weft_crowd *c, uint32_t percent)
{
    uint64_t rank = ((uint64_t)c->members * percent + 99) / 100;
    return c->member[rank ? rank - 1 : 0].ns;
}
