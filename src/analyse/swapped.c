/* SPDX-License-Identifier: ISC */
/* Whether the good run and the bad one were swapped: what is wrong is in the good one alone. */
#include "analyse/differ.h"
#include "analyse/explain.h"

/* Bits of the kinds of finding that are likely in a run, and of promises that matter. first: the most important of those in
 * wanted, as a text; may be NULL. */
static uint32_t kinds_in(struct weft__differ *d, uint32_t run, uint32_t wanted,
                         struct weft__text *first)
{
    const struct weft_history *h = d->sides.side[run].h;
    struct weft_findings found;
    uint32_t kinds = 0;
    int rc = weft_explain(&found, h, NULL, NULL, NULL);
    d->failed |= rc < 0;
    for (uint32_t i = 0; rc == 0 && i < found.count; i++) {
        const struct weft_finding *f = &found.finding[i];
        if (f->confidence < WEFT_LIKELY || weft__weight_in(h, f->promise) < 2)
            continue;
        if (first && first->size == 0 && wanted >> f->kind & 1) {
            weft__put(first, "%s of ", weft_finding_name(f->kind));
            weft__put_full(first, h->m, f->promise);
        }
        kinds |= 1u << f->kind;
    }
    weft_findings_fini(&found);
    return kinds;
}

/* The promise that matters most of those that ended worse in the good run, if none that matters as much ended worse in the
 * bad one; or WEFT_NONE. *worse: whether any that matters did. */
static uint32_t only_better(const struct weft__differ *d, bool *worse)
{
    uint32_t better = WEFT_NONE;
    unsigned in_good = 1, in_bad = 1;
    for (uint32_t p = 1; p < d->good->m->promises; p++) {
        uint32_t bad = d->bad_of_good[p];
        if (!(d->mark[p] & (WEFT__CHANGED | WEFT__BETTER)))
            continue;
        unsigned weight = weft__weight_of(d, p);
        if (weft__ended_worse(d->bad, bad, d->good, p)) {
            in_bad = weight > in_bad ? weight : in_bad;
        } else if (weight > in_good && d->mark[p] & WEFT__BETTER) {
            in_good = weight;
            better = p;
        }
    }
    *worse = in_bad > 1;
    return in_good > in_bad ? better : WEFT_NONE;
}

void weft__find_swapped(struct weft__differ *d)
{
    struct weft__text t = {0}, first = {0};
    bool worse;
    if (d->out->strangers)
        return;
    uint32_t better = only_better(d, &worse);
    /* Where something ended worse, or the good runs have nothing in common, the rest need not be looked at. */
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
        weft__put(&t, "These look swapped: the good run has what the bad one has not, %s.",
                  first.text ? first.text : "");
    } else if (better != WEFT_NONE) {
        weft__put(&t, "These look swapped: ");
        weft__put_full(&t, d->good->m, better);
        weft__put(&t, " ");
        weft__put_ending(&t, d->good, better);
        weft__put(&t, " in the good run, and ");
        weft__put_ending(&t, d->bad, d->bad_of_good[better]);
        weft__put(&t, " in the bad one, where nothing of that weight ended worse.");
    }
    if (t.size)
        weft__put(&t, " The good run comes first: weft diff GOOD BAD.");
    d->failed |= t.failed || first.failed;
    weft__text_fini(&first);
    d->out->swapped = weft__text_take(&t);
}
