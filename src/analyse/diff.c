/* SPDX-License-Identifier: ISC */
#include "analyse/diff.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/differ.h"
#include "base/array.h"
#include "base/order.h"

#define MS INT64_C(1000000)

/* ---- Endings ---- */

/* Old traces of Lwt distinguish a cancellation from a failure only by the exception. */
static bool is_cancellation(const struct weft_model *m, uint32_t promise)
{
    static const char canceled[] = "Lwt.Canceled";
    const uint32_t reason = weft_model_reason(m, promise);
    uint32_t size = 0;
    const char *text =
        !m->quirks.mirage_kinds || reason == WEFT_NONE ? "" : weft_model_text(m, reason, &size);
    return size == sizeof canceled - 1 && memcmp(text, canceled, size) == 0;
}

enum analyse_ending analyse_ending_of(const struct weft_model *m, uint32_t promise)
{
    static const enum analyse_ending endings[WEFT_OUTCOME_COUNT] = {
        [WEFT_FULFILLED] = ANALYSE_VALUE,  [WEFT_FAILED] = ANALYSE_ERROR,
        [WEFT_CANCELLED] = ANALYSE_CANCEL, [WEFT_FORGOTTEN] = ANALYSE_DROP,
        [WEFT_RESOLVED] = ANALYSE_SOMEHOW, [WEFT_PENDING] = ANALYSE_OPEN,
        [WEFT_BECAME] = ANALYSE_OPEN,
    };
    promise = weft_model_final(m, promise);
    const enum analyse_ending ending = endings[m->promise[promise].outcome];
    return ending == ANALYSE_ERROR && is_cancellation(m, promise) ? ANALYSE_CANCEL : ending;
}

static int64_t age_ns(const struct weft_history *h, uint32_t promise)
{
    return h->m->end_ns - h->m->promise[promise].start_ns;
}

/* Returns true if a promise began within the recording: only a part of the others is known. */
static bool began_here(const struct weft_model *m, uint32_t promise)
{
    const struct weft_promise *p = &m->promise[promise];
    return promise != WEFT_ROOT && p->created && !p->promoted;
}

/* ---- Clans ---- */

static void count_clan(struct analyse_differ *d, uint32_t run, uint32_t *last)
{
    const struct analyse_side *s = &d->sides.side[run];
    const struct weft_history *h = s->h;
    unsigned which = run == d->goods;
    memset(last, 0xff, d->sides.clans.count * sizeof *last);
    for (uint32_t p = 0; p < h->m->promises; p++) {
        if (s->clan[p] == WEFT_NONE)
            continue;
        struct analyse_clan *c = &d->clan[s->clan[p]];
        int64_t resolved = weft_history_resolved_ns(h, p);
        c->promises[which]++;
        c->ended[which][analyse_ending_of(h->m, p)]++;
        if (resolved != INT64_MAX && began_here(h->m, p))
            c->longest_ns[which] =
                weft_later(resolved - h->m->promise[p].start_ns, c->longest_ns[which]);
        else if (analyse_ending_of(h->m, p) == ANALYSE_OPEN)
            c->oldest_ns[which] = weft_later(age_ns(h, p), c->oldest_ns[which]);
        analyse_each(i, h->children_first, p) {
            uint32_t below = s->clan[h->children[i]];
            d->clan[below].creators[which] += last[below] != p;
            last[below] = p;
        }
    }
}

/* Of several promises of a kind the labels may differ, at least between the runs. */
static bool list_kinds(struct analyse_differ *d)
{
    bool ok = true;
    for (unsigned which = 0; which < 2 && ok; which++) {
        struct analyse_families *f = &d->kinds[which];
        const struct analyse_side *s = d->side[which];
        *f = (struct analyse_families){.of = s->kind, .count = d->sides.kinds.count};
        ok = analyse_families_list(f, s->h->m);
        for (uint32_t i = 0; ok && i < f->count; i++)
            f->differs[i] = f->size[i] > 1;
    }
    return ok;
}

static bool count_clans(struct analyse_differ *d)
{
    uint32_t *last = weft_resize(NULL, d->sides.clans.count, sizeof *last);
    d->clan = calloc(d->sides.clans.count, sizeof *d->clan);
    for (uint32_t run = 0; last && d->clan && run <= d->goods; run++)
        count_clan(d, run, last);
    free(last);
    return last && d->clan;
}

/* ---- Endings that differ ---- */

/* Returns true if a run slept when it ended, for longer than the other ever did. If the trace does
 * not say how long was recorded, any sleep may have been the last one; and mirage's may end when
 * the loop has just been left. */
static bool sleeps_to_the_end(const struct weft_history *h, const struct weft_history *other)
{
    const struct weft_model *m = h->m;
    int64_t slept = 0, usual = 0;
    if (!m->end_known)
        return m->asleep || m->quirks.loop_is_sleep;
    if (m->asleep && m->sleeps)
        slept = m->end_ns - m->sleep[m->sleeps - 1].start_ns;
    for (uint32_t i = 0; i < other->m->sleeps; i++)
        usual = weft_later(other->m->sleep[i].end_ns - other->m->sleep[i].start_ns, usual);
    return slept > 100 * MS && slept > usual + usual / 2;
}

/* Returns true if so many of its clan ended in a run that one may be unfinished at its end. */
static bool is_one_of_many(const struct analyse_clan *c, unsigned which)
{
    enum { MANY = 8 };
    return c->promises[which] - c->ended[which][ANALYSE_OPEN] >= MANY;
}

/* Returns true if it has been pending for longer than such promises ever took in the other run. */
static bool took_too_long(int64_t age_ns, int64_t longest_ns)
{
    return age_ns > longest_ns + longest_ns / 2 + MS;
}

/* Returns true if a promise that is pending in a run would have ended there if that run were like
 * the other: it had the time; or the program ended by itself and such promises have always ended in
 * the other run; or it should have ended and everything sleeps. */
static bool pending_for_good(const struct weft_history *h, uint32_t promise,
                             const struct analyse_clan *c, unsigned other,
                             const struct weft_history *other_run)
{
    const struct weft_promise *p = &h->m->promise[promise];
    if (p->background || !began_here(h->m, promise))
        return false;
    if (took_too_long(age_ns(h, promise), c->longest_ns[other]))
        return true;
    if (h->m->losses.ended == WEFT_ENDED_STOPPED)
        return p->should_resolve || c->ended[other][ANALYSE_OPEN] == 0;
    return p->should_resolve && !is_one_of_many(c, 1 - other) && sleeps_to_the_end(h, other_run);
}

/* Returns true if an ending is about as frequent in the good runs. */
static bool is_usual_ending(const struct analyse_clan *c, enum analyse_ending e)
{
    double share = (double)c->ended[0][e] / (c->promises[0] ? c->promises[0] : 1);
    return c->ended[0][e] && c->ended[1][e] <= 2 * share * c->promises[1] + 3;
}

static bool same_type(const struct analyse_differ *d, uint32_t good, uint32_t bad)
{
    const struct analyse_pair *kind = d->sides.kinds.pair;
    return kind[d->side[0]->kind[good]].a == kind[d->side[1]->kind[bad]].a;
}

static bool ends_differently(const struct analyse_differ *d, uint32_t good, uint32_t bad)
{
    const struct analyse_clan *c = analyse_clan_of(d, 0, good);
    enum analyse_ending g = analyse_ending_of(d->good->m, good),
                        b = analyse_ending_of(d->bad->m, bad);
    if (d->good->m->promise[good].becomes != WEFT_NONE &&
        d->bad->m->promise[bad].becomes != WEFT_NONE)
        return false; /* what it became is compared instead */
    if (g == b || (g == ANALYSE_SOMEHOW && b <= ANALYSE_ERROR) ||
        (b == ANALYSE_SOMEHOW && g <= ANALYSE_ERROR))
        return false;
    if (!same_type(d, good, bad))
        return false;
    if (b == ANALYSE_OPEN) {
        int64_t longest = c->longest_ns[0];
        bool stuck =
            took_too_long(age_ns(d->bad, bad), longest) && !took_too_long(c->oldest_ns[0], longest);
        return pending_for_good(d->bad, bad, c, 0, d->good) && (stuck || !is_usual_ending(c, b));
    }
    if (g == ANALYSE_OPEN)
        return b != ANALYSE_CANCEL && b != ANALYSE_DROP &&
               pending_for_good(d->good, good, analyse_clan_of(d, 1, bad), 1, d->bad) &&
               !is_usual_ending(c, b);
    bool both_dropped =
        g >= ANALYSE_CANCEL && g <= ANALYSE_DROP && b >= ANALYSE_CANCEL && b <= ANALYSE_DROP;
    return !both_dropped && !is_usual_ending(c, b);
}

/* Returns true if it ended badly in the good runs, and well in the bad one, as all of its clan. */
static bool is_better(const struct analyse_differ *d, uint32_t good, uint32_t bad)
{
    const struct analyse_clan *c = analyse_clan_of(d, 0, good);
    const struct analyse_clan *of_bad = analyse_clan_of(d, 1, bad);
    enum analyse_ending g = analyse_ending_of(d->good->m, good),
                        b = analyse_ending_of(d->bad->m, bad);
    return (b == ANALYSE_VALUE || b == ANALYSE_SOMEHOW) &&
           analyse_ended_worse(d->good, good, d->bad, bad) && same_type(d, good, bad) &&
           c->ended[0][g] >= d->goods && of_bad->ended[1][g] == 0 &&
           (g != ANALYSE_OPEN || took_too_long(age_ns(d->good, good), of_bad->longest_ns[1]) ||
            (!is_one_of_many(c, 0) && pending_for_good(d->good, good, of_bad, 1, d->bad)));
}

/* ---- Collecting changes ---- */

/* A change before its text is made; those of one clan are combined if they are alike. */
struct found {
    uint32_t clan, what;
    struct weft_change_found change;
    int64_t when_ns; /* in the good run, if it is there */
    bool must;       /* it failed, or is pending */
};

struct collector {
    struct analyse_differ *d;
    struct weft_table by; /* clan and what */
    struct found *found;
    uint32_t count, room;
    uint64_t seed;
};

static void add_change(struct collector *k, enum weft_change_kind kind, uint32_t good, uint32_t bad)
{
    struct analyse_differ *d = k->d;
    const struct weft_model *g = d->good->m, *b = d->bad->m;
    uint32_t clan = good == WEFT_NONE ? d->side[1]->clan[bad] : d->side[0]->clan[good];
    uint32_t what = (uint32_t)kind;
    int64_t when = good == WEFT_NONE ? b->promise[bad].start_ns : g->promise[good].start_ns;
    bool must = false;
    if (kind == WEFT_CHANGE_OUTCOME) {
        enum analyse_ending was = analyse_ending_of(g, good), is = analyse_ending_of(b, bad);
        what += 8 * (1 + was * ANALYSE_ENDINGS + is);
        must = is == ANALYSE_ERROR || is == ANALYSE_OPEN;
        when = analyse_final_end_ns(d->good, good);
        d->mark[good] |= ANALYSE_CHANGED;
    } else if (kind == WEFT_CHANGE_MISSING) {
        d->mark[good] |= ANALYSE_LONELY;
    } else if (kind == WEFT_CHANGE_ADDED) {
        d->bad_mark[bad] |= ANALYSE_LONELY;
    }
    const struct found x = {
        clan, what, {.kind = kind, .good = good, .bad = bad}, .when_ns = when, .must = must};
    const uint32_t at = weft_table_add(&k->by, &k->found, &k->count, &k->room, sizeof x,
                                       offsetof(struct found, change), &x, k->seed);
    d->failed |= at == WEFT_NONE;
    if (d->failed)
        return;
    struct found *f = &k->found[at];
    const uint64_t count = f->change.count + 1;
    if (must > f->must || (must == f->must && when < f->when_ns))
        *f = x;
    f->change.count = count;
}

/* Returns true if a promise failed, and somebody looked at it in the good run only. */
static bool is_unread(const struct analyse_differ *d, uint32_t good, uint32_t bad)
{
    return analyse_ending_of(d->bad->m, bad) == ANALYSE_ERROR && d->mark[good] & ANALYSE_USED &&
           !(d->bad_mark[bad] & ANALYSE_USED);
}

static void find_endings(struct collector *k)
{
    struct analyse_differ *d = k->d;
    for (uint32_t p = 1; p < d->good->m->promises && !d->failed; p++) {
        uint32_t bad = d->bad_of_good[p];
        if (bad == WEFT_NONE)
            continue;
        if (is_better(d, p, bad))
            d->mark[p] |= ANALYSE_BETTER;
        if (ends_differently(d, p, bad))
            add_change(k, WEFT_CHANGE_OUTCOME, p, bad);
        else if (is_unread(d, p, bad))
            add_change(k, WEFT_CHANGE_UNREAD, p, bad);
        else if (!same_type(d, p, bad) && analyse_clan_of(d, 1, bad)->promises[0] == 0)
            add_change(k, WEFT_CHANGE_TYPE, p, bad);
    }
}

/* Returns true if a promise of the bad run is pending, and ended in the good one. */
static bool hangs_in_bad(const struct analyse_differ *d, uint32_t good)
{
    uint32_t bad = good == WEFT_NONE ? WEFT_NONE : d->bad_of_good[good];
    return bad != WEFT_NONE && analyse_ending_of(d->bad->m, bad) == ANALYSE_OPEN &&
           analyse_ending_of(d->good->m, good) != ANALYSE_OPEN && same_type(d, good, bad) &&
           !d->bad->m->promise[weft_model_final(d->bad->m, bad)].background;
}

/* What a pending promise waits for stays pending, too, however young it is. */
static void follow_waits(struct collector *k)
{
    struct analyse_differ *d = k->d;
    const struct weft_history *b = d->bad;
    uint32_t *queue = weft_resize(NULL, d->good->m->promises, sizeof *queue), queued = 0;
    d->failed |= !queue;
    for (uint32_t p = 1; p < d->good->m->promises && !d->failed; p++)
        if (d->mark[p] & ANALYSE_CHANGED && hangs_in_bad(d, p))
            queue[queued++] = p;
    for (uint32_t i = 0; i < queued && !d->failed; i++) {
        uint32_t reader = weft_model_final(b->m, d->bad_of_good[queue[i]]);
        analyse_each(n, b->waits_of_first, reader) {
            const struct weft_wait *w = &b->wait[b->waits_of[n]];
            uint32_t bad = weft_model_final(b->m, w->source), good = d->good_of_bad[bad];
            if (w->end != WEFT_WAIT_OPEN || !hangs_in_bad(d, good) ||
                d->mark[good] & ANALYSE_CHANGED)
                continue;
            add_change(k, WEFT_CHANGE_OUTCOME, good, bad);
            d->mark[good] |= ANALYSE_CHANGED; /* even if add_change failed */
            queue[queued++] = good;
        }
    }
    free(queue);
}

/* Marks promises that were read or waited for. */
static void mark_used(const struct weft_model *m, uint8_t *mark)
{
    for (uint32_t i = 0; i < m->interactions; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        if (x->kind == WEFT_READS || x->kind == WEFT_WAITS) {
            mark[x->other] |= ANALYSE_USED;
            mark[weft_model_final(m, x->other)] |= ANALYSE_USED;
        }
    }
}

/* Returns true if, in good runs, all of the creator's clan that have ended have created one. */
static bool always_creates(const struct analyse_differ *d, uint32_t clan)
{
    const struct analyse_clan *c = &d->clan[clan], *above = &d->clan[d->sides.clans.pair[clan].a];
    return c->creators[0] && c->creators[0] + above->ended[0][ANALYSE_OPEN] >= above->promises[0];
}

/* Returns true if a run lasted long enough to see what a promise created in the other one, so long
 * after it began. before: that was before it ended. */
static bool got_there(const struct weft_history *h, uint32_t promise, int64_t after_ns, bool before)
{
    if (h->m->losses.ended == WEFT_ENDED_STOPPED ||
        (before && weft_history_resolved_ns(h, promise) != INT64_MAX))
        return true;
    return age_ns(h, promise) > after_ns + after_ns / 2 + MS;
}

static bool had_time(const struct weft_history *h, uint32_t promise,
                     const struct weft_history *other, uint32_t creator, uint32_t child)
{
    int64_t start = other->m->promise[child].start_ns;
    return got_there(h, promise, start - other->m->promise[creator].start_ns,
                     start <= weft_history_resolved_ns(other, creator));
}

bool analyse_dispensable(const struct analyse_differ *d, uint32_t good)
{
    uint32_t creator = d->good->m->promise[good].creator;
    for (uint32_t r = 1; r < d->goods; r++)
        if (d->other[r][good] == WEFT_NONE && d->other[r][creator] != WEFT_NONE)
            return true;
    return false;
}

/* Finds children of a sort that the counterpart does not have. seen: by clan, the good promise of
 * the last pair whose bad promise has such a child. */
static void compare_children(struct collector *k, uint32_t good, uint32_t *seen)
{
    struct analyse_differ *d = k->d;
    const struct weft_history *g = d->good, *b = d->bad;
    const uint32_t *good_clan = d->side[0]->clan, *bad_clan = d->side[1]->clan;
    uint32_t bad = d->bad_of_good[good], clan;
    bool complete = true; /* overwritten promises are not missing */
    for (uint32_t i = 0; i < d->goods; i++)
        complete = complete && !d->sides.side[i].h->m->losses.overwritten;
    analyse_each(i, b->children_first, bad) {
        uint32_t child = b->children[i];
        seen[clan = bad_clan[child]] = good;
        if (complete && d->good_of_bad[child] == WEFT_NONE && d->clan[clan].promises[0] == 0 &&
            began_here(b->m, child) && !b->m->promise[child].background &&
            had_time(g, good, b, bad, child))
            add_change(k, WEFT_CHANGE_ADDED, WEFT_NONE, child);
    }
    if (b->m->losses.overwritten)
        return;
    analyse_each(i, g->children_first, good) {
        uint32_t child = g->children[i];
        clan = good_clan[child];
        if (seen[clan] == good || d->bad_of_good[child] != WEFT_NONE ||
            analyse_dispensable(d, child) || d->sides.clans.pair[clan].a != good_clan[good] ||
            !began_here(g->m, child))
            continue;
        const struct analyse_clan *c = &d->clan[clan], *above = &d->clan[good_clan[good]];
        double wanted = (double)c->creators[0] / above->promises[0] * above->promises[1];
        if (always_creates(d, clan) ? had_time(b, bad, g, good, child)
                                    : c->promises[1] == 0 && wanted >= 5)
            add_change(k, WEFT_CHANGE_MISSING, child, WEFT_NONE);
    }
}

static void find_children(struct collector *k)
{
    struct analyse_differ *d = k->d;
    uint32_t *seen = weft_new_none(d->sides.clans.count, sizeof *seen);
    d->failed |= !seen;
    for (uint32_t p = 0; p < d->good->m->promises && !d->failed; p++)
        if (d->bad_of_good[p] != WEFT_NONE)
            compare_children(k, p, seen);
    free(seen);
}

/* ---- Telling of changes ---- */

static int by_importance(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    WEFT_ORDER(x->change.follows, y->change.follows);
    WEFT_ORDER(y->must, x->must);
    WEFT_ORDER(y->change.kind == WEFT_CHANGE_OUTCOME, x->change.kind == WEFT_CHANGE_OUTCOME);
    WEFT_ORDER(x->change.kind, y->change.kind);
    WEFT_ORDER(x->when_ns, y->when_ns);
    uint32_t p = x->change.good == WEFT_NONE ? x->change.bad : x->change.good;
    uint32_t q = y->change.good == WEFT_NONE ? y->change.bad : y->change.good;
    return weft_order(p, q);
}

static char *say_change(struct analyse_differ *d, const struct weft_change_found *c)
{
    static const enum analyse_sentence sentences[] = {
        [WEFT_CHANGE_OUTCOME] = SAY_CHANGED_END, [WEFT_CHANGE_UNREAD] = SAY_CHANGED_UNREAD,
        [WEFT_CHANGE_TYPE] = SAY_CHANGED_TYPE,   [WEFT_CHANGE_MISSING] = SAY_CHANGED_MISSING,
        [WEFT_CHANGE_ADDED] = SAY_CHANGED_ADDED,
    };
    const struct weft_model *m = c->kind == WEFT_CHANGE_MISSING ? d->good->m : d->bad->m;
    const uint32_t promise = c->kind == WEFT_CHANGE_MISSING ? c->good : c->bad;
    const bool from_pending =
        c->kind == WEFT_CHANGE_OUTCOME && analyse_ending_of(d->good->m, c->good) == ANALYSE_OPEN;
    return analyse_put_new(
        &d->failed, m, NULL, SAY_CHANGES,
        PHRASE(change, from_pending ? SAY_CHANGED_FROM_PENDING : sentences[c->kind]),
        PROMISE(promise, promise), GOOD(good, c->good), TIME(created, m->promise[promise].start_ns),
        AMOUNT(others, c->count - 1));
}

static void fill_changes(struct collector *k)
{
    struct analyse_differ *d = k->d;
    const uint32_t count = k->count;
    for (uint32_t i = 0; i < count; i++) {
        struct weft_change_found *c = &k->found[i].change;
        c->follows = c->kind == WEFT_CHANGE_MISSING &&
                     d->mark[d->good->m->promise[c->good].creator] & ANALYSE_CHANGED;
    }
    weft_sort(k->found, count, sizeof *k->found, by_importance);
    uint32_t kept = count < WEFT_CHANGES_MAX ? count : WEFT_CHANGES_MAX;
    d->out->change = calloc(kept ? kept : 1, sizeof *d->out->change);
    d->failed |= !d->out->change;
    d->out->changes_left_out = count - kept;
    for (uint32_t i = 0; i < kept && !d->failed; i++) {
        struct weft_change_found *c = &d->out->change[d->out->changes++];
        *c = k->found[i].change;
        c->text = say_change(d, c);
    }
}

static void find_changes(struct analyse_differ *d)
{
    struct collector k = {.d = d, .seed = weft_seed()};
    find_endings(&k);
    follow_waits(&k);
    find_children(&k);
    if (!d->failed)
        fill_changes(&k);
    weft_free_all(k.by.slot, k.found);
}

/* ---- All of it ---- */

static void count_aligned(struct analyse_differ *d)
{
    for (uint32_t p = 1; p < d->good->m->promises; p++) {
        d->out->aligned += d->bad_of_good[p] != WEFT_NONE && d->bad_of_good[p] != WEFT_ROOT;
        d->out->good_promises += d->bad_of_good[p] != WEFT_ROOT;
    }
    for (uint32_t p = 1; p < d->bad->m->promises; p++)
        d->out->bad_promises += d->good_of_bad[p] != WEFT_ROOT;
}

/* Says why the comparison may be wrong. */
static void find_doubt(struct analyse_differ *d)
{
    struct weft_diff *o = d->out;
    const struct weft_model *m = d->bad->m;
    uint64_t least = o->good_promises < o->bad_promises ? o->good_promises : o->bad_promises;
    enum analyse_sentence lost = SAY_NOTHING;
    bool empty = false;
    struct analyse_text t = {0};
    for (uint32_t i = 0; i <= d->goods; i++) {
        const struct weft_losses *l = &d->sides.side[i].h->m->losses;
        empty |= weft_model_is_empty(d->sides.side[i].h->m);
        if (l->overwritten || l->discarded)
            lost = l->overwritten ? SAY_DOUBT_OVERWRITTEN : SAY_DOUBT_DISCARDED;
        else if (d->sides.side[i].h->m->resumed_ns != WEFT_TIME_MIN)
            lost = SAY_DOUBT_PAUSED;
        o->unsure |= l->discarded || l->pending;
    }
    o->strangers = empty || o->aligned * 4 < least;
    if (o->strangers)
        analyse_put(&t, m, NULL,
                    empty             ? SAY_EMPTY_RUN
                    : o->aligned == 0 ? SAY_NO_COUNTERPARTS
                                      : SAY_FEW_COUNTERPARTS,
                    NUMBER(percent, least ? o->aligned * 100 / least : 0));
    if (lost)
        analyse_put(&t, m, NULL, lost);
    if (o->unsure)
        analyse_put(&t, m, NULL, SAY_DOUBT_UNSURE);
    d->failed |= t.failed;
    o->doubt = analyse_text_take(&t);
}

static int compare_runs(struct analyse_differ *d, const struct weft_history *const *good,
                        weft_progress_fn *progress, void *data)
{
#define STEP(share)                                                                                \
    do {                                                                                           \
        if (d->failed)                                                                             \
            return WEFT_E_NOMEM;                                                                   \
        if (progress && !progress(data, share))                                                    \
            return WEFT_E_CANCELED;                                                                \
    } while (0)
    d->failed = !d->other || !analyse_sides_init(&d->sides, good, d->goods, d->bad);
    STEP(0.3);
    d->side[0] = &d->sides.side[0];
    d->side[1] = &d->sides.side[d->goods];
    d->failed = !analyse_align(&d->sides, 0, d->goods, &d->out->bad_of_good, &d->out->good_of_bad);
    d->bad_of_good = d->out->bad_of_good;
    d->good_of_bad = d->out->good_of_bad;
    STEP(0.4);
    for (uint32_t i = 1; i < d->goods && !d->failed; i++) {
        uint32_t *back;
        d->failed = !analyse_align(&d->sides, 0, i, &d->other[i], &back);
        free(back);
    }
    STEP(0.5);
    d->mark = calloc(d->good->m->promises, sizeof *d->mark);
    d->bad_mark = calloc(d->bad->m->promises, sizeof *d->bad_mark);
    d->failed = !d->mark || !d->bad_mark || !count_clans(d) || !list_kinds(d);
    STEP(0.6);
    mark_used(d->good->m, d->mark);
    mark_used(d->bad->m, d->bad_mark);
    count_aligned(d);
    find_doubt(d);
    find_changes(d);
    STEP(0.7);
    if (!d->out->strangers)
        analyse_find_latencies(d);
    STEP(0.8);
    if (!d->out->strangers)
        analyse_find_running(d);
    STEP(0.85);
    analyse_find_relevant(d);
    STEP(0.9);
    analyse_find_divergence(d);
    STEP(0.92);
    analyse_find_orders(d);
    STEP(0.95);
    analyse_find_swapped(d);
    STEP(1.0);
#undef STEP
    return 0;
}

/* A promise that was treated as the loop, or as nothing, has no counterpart. */
static void forget_loops(uint32_t *list, const struct weft_history *h)
{
    for (uint32_t p = 1; list && p < h->m->promises; p++)
        if (list[p] == WEFT_ROOT)
            list[p] = WEFT_NONE;
}

int weft_diff_find(struct weft_diff *out, const struct weft_history *const *good, uint32_t goods,
                   const struct weft_history *bad, weft_progress_fn *progress, void *data)
{
    struct analyse_differ d = {.goods = goods, .good = good[0], .bad = bad, .out = out};
    *out = (struct weft_diff){0};
    d.other = calloc(goods, sizeof *d.other);
    const int rc = compare_runs(&d, good, progress, data);
    forget_loops(d.bad_of_good, d.good);
    forget_loops(d.good_of_bad, d.bad);
    for (uint32_t i = 0; d.other && i < goods; i++)
        free(d.other[i]);
    for (unsigned i = 0; i < 2; i++) {
        d.kinds[i].of = NULL;
        analyse_families_fini(&d.kinds[i]);
    }
    weft_free_all(d.other, d.clan, d.mark, d.bad_mark);
    analyse_sides_fini(&d.sides);
    if (rc < 0)
        weft_diff_fini(out);
    return rc;
}

void weft_diff_fini(struct weft_diff *d)
{
    for (uint32_t i = 0; i < d->changes; i++)
        free(d->change[i].text);
    for (uint32_t i = 0; i < d->latencies; i++)
        free(d->latency[i].text);
    for (uint32_t i = 0; i < d->runnings; i++)
        free(d->running[i].text);
    for (uint32_t i = 0; i < d->orders; i++)
        free(d->order[i].text);
    weft_free_all(d->order, d->running, d->change, d->latency, d->divergence.text, d->bad_of_good,
                  d->good_of_bad, d->doubt, d->swapped);
    *d = (struct weft_diff){0};
}
