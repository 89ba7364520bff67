/* SPDX-License-Identifier: ISC */
/* Where the time of one path went, and of the paths of many promises of one sort. */
#include "analyse/crowd.h"

#include <stddef.h>
#include <stdlib.h>

#include "analyse/times.h"
#include "base/order.h"
#include "base/table.h"

/* ---- One path ---- */

/* What the steps of a share have in common. */
struct sort {
    uint32_t kind, type, name;
    uint32_t promise; /* the loop, or nothing; 0 for others */
};

static int by_total(const void *a, const void *b)
{
    const struct weft_share *x = a, *y = b;
    WEFT_ORDER(y->total_ns, x->total_ns);
    WEFT_ORDER(x->kind, y->kind);
    return weft_order(x->promise, y->promise);
}

static struct sort sort_of(const struct weft_model *m, enum weft_step_kind kind, uint32_t named)
{
    if (weft_step_is_halt(kind)) /* whatever ran: all are one share */
        return (struct sort){.kind = kind};
    if (named == WEFT_NONE || named == WEFT_ROOT)
        return (struct sort){kind, WEFT_NONE, WEFT_NONE, named};
    return (struct sort){kind, m->promise[named].type, weft_model_name(m, named), 0};
}

struct weft_share *weft_path_shares(const struct weft_path *p, const struct weft_model *m,
                                    uint32_t *count)
{
    struct weft_share *out = p->count ? weft_resize(NULL, p->count, sizeof *out) : NULL;
    struct weft_table by = {0};
    struct sort *sort = NULL;
    uint32_t room = 0;
    const uint64_t seed = weft_seed();
    bool ok = out;
    *count = 0;
    for (uint32_t i = 0; ok && i < p->count; i++) {
        const struct weft_step *s = &p->step[i];
        const uint32_t named = weft_step_is_behind(s->kind) ? s->behind : s->promise;
        const struct sort x = sort_of(m, s->kind, named);
        const uint32_t before = *count,
                       at = weft_table_add(&by, &sort, count, &room, sizeof x, sizeof x, &x, seed);
        ok = at != WEFT_NONE;
        if (!ok)
            continue;
        if (at == before)
            out[at] = (struct weft_share){.kind = s->kind, .promise = named};
        out[at].several |= out[at].promise != named;
        out[at].promise = named < out[at].promise ? named : out[at].promise;
        out[at].total_ns += s->to_ns - s->from_ns;
        out[at].steps++;
    }
    weft_free_all(sort, by.slot);
    if (ok)
        qsort(out, *count, sizeof *out, by_total);
    else
        free(out);
    return ok ? out : NULL;
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
    struct weft_table by; /* the shares, by kind and family */
    uint32_t room;
    uint64_t seed;
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
        const struct weft_crowd_share x = {
            .kind = share[i].kind, .family = family, .promise = p, .one_label = name != WEFT_NONE};
        const uint32_t at = weft_table_add(&g->by, &c->share, &c->shares, &g->room, sizeof x,
                                           offsetof(struct weft_crowd_share, promise), &x, g->seed);
        if (at == WEFT_NONE)
            return false;
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
    weft_sort(c->share, c->shares, sizeof *c->share, by_length);
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
        c->member[c->members++] =
            (struct weft_crowd_member){weft_history_length_ns(h, promise), promise};
    }
}

int weft_crowd_find(struct weft_crowd *out, const struct weft_history *h,
                    const struct analyse_families *families, const uint32_t *promise,
                    uint32_t count)
{
    struct gatherer g = {.out = out, .h = h, .families = families, .seed = weft_seed()};
    *out = (struct weft_crowd){.count = count, .oldest_pending = WEFT_NONE};
    out->member = weft_resize(NULL, (uint64_t)count + 1, sizeof *out->member);
    if (!out->member)
        return WEFT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++)
        count_promise(out, h, promise[i]);
    qsort(out->member, out->members, sizeof *out->member, analyse_crowd_by_time);
    const bool ok = count == 0 || sample_members(&g, promise);
    weft_table_drop(&g.by);
    if (!ok)
        weft_crowd_fini(out);
    return ok ? 0 : WEFT_E_NOMEM;
}

void weft_crowd_fini(struct weft_crowd *c)
{
    weft_free_all(c->member, c->share);
    *c = (struct weft_crowd){0};
}

int64_t weft_crowd_percentile(const struct weft_crowd *c, uint32_t percent)
{
    uint64_t rank = ((uint64_t)c->members * percent + 99) / 100;
    return c->member[rank ? rank - 1 : 0].ns;
}
