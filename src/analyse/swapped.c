/* SPDX-License-Identifier: ISC */
/* Checks whether the runs were swapped: what is wrong is only in the good one. */
#include "analyse/differ.h"
#include "analyse/explain.h"

/* Bits for the kinds of findings that are at least likely in a run, about promises that matter.
 * first: the most important of those in wanted: its kind and promise; may be NULL. */
static uint32_t kinds_in(struct analyse_differ *d, uint32_t run, uint32_t wanted,
                         struct weft_finding *first)
{
    const struct weft_history *h = d->sides.side[run].h;
    struct weft_findings found;
    uint32_t kinds = 0;
    int rc = weft_explain(&found, h, NULL, NULL, NULL);
    d->failed |= rc < 0;
    for (uint32_t i = 0; rc == 0 && i < found.count; i++) {
        const struct weft_finding *f = &found.finding[i];
        if (f->confidence < WEFT_LIKELY || analyse_weight_in(h, f->promise) < 2)
            continue;
        if (first && first->promise == WEFT_NONE && wanted >> f->kind & 1)
            *first = (struct weft_finding){.kind = f->kind, .promise = f->promise};
        kinds |= 1u << f->kind;
    }
    weft_findings_fini(&found);
    return kinds;
}

/* The promise that matters most among those that ended worse in the good run, if none that matters
 * as much ended worse in the bad one; or WEFT_NONE. *worse: true if any that matters did. */
static uint32_t only_better(const struct analyse_differ *d, bool *worse)
{
    uint32_t better = WEFT_NONE;
    unsigned in_good = 1, in_bad = 1;
    for (uint32_t p = 1; p < d->good->m->promises; p++) {
        uint32_t bad = d->bad_of_good[p];
        if (!(d->mark[p] & (ANALYSE_CHANGED | ANALYSE_BETTER)))
            continue;
        unsigned weight = analyse_weight_of(d, p);
        if (analyse_ended_worse(d->bad, bad, d->good, p)) {
            in_bad = weight > in_bad ? weight : in_bad;
        } else if (weight > in_good && d->mark[p] & ANALYSE_BETTER) {
            in_good = weight;
            better = p;
        }
    }
    *worse = in_bad > 1;
    return in_good > in_bad ? better : WEFT_NONE;
}

void analyse_find_swapped(struct analyse_differ *d)
{
    struct weft_finding first = {.promise = WEFT_NONE};
    bool worse;
    if (d->out->strangers)
        return;
    uint32_t better = only_better(d, &worse);
    /* If something ended worse, or the good runs share nothing, the rest is not checked. */
    uint32_t bad = 0, good = worse ? 0 : UINT32_MAX, any = 0;
    for (uint32_t i = 0; i < d->goods && good; i++) {
        uint32_t kinds = kinds_in(d, i, 0, NULL);
        good &= kinds;
        any |= kinds;
    }
    if (good)
        bad = kinds_in(d, d->goods, 0, NULL);
    if (good & ~bad && !(bad & ~any)) {
        kinds_in(d, 0, good & ~bad, &first);
        d->out->swapped = analyse_put_new(&d->failed, d->good->m, NULL, SAY_SWAPPED_FINDINGS,
                                          TEXT(finding, weft_finding_name(first.kind)),
                                          PROMISE(promise, first.promise));
    } else if (better != WEFT_NONE)
        d->out->swapped = analyse_put_new(&d->failed, d->good->m, NULL, SAY_SWAPPED_ENDS,
                                          GOOD(good, better), BAD(bad, d->bad_of_good[better]));
}
