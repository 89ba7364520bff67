/* SPDX-License-Identifier: ISC */
/* Whether the good run and the bad one were swapped: what is wrong is in the good one alone. */
#include "analyse/differ.h"
#include "analyse/explain.h"

/* Bits of the kinds of finding that are likely in a run. first: the most important of those in wanted, as a text; may be
 * NULL. */
static uint32_t kinds_in(struct weft__differ *d, const struct weft_history *h, uint32_t wanted,
                         struct weft__text *first)
{
    struct weft_findings found;
    uint32_t kinds = 0;
    int rc = weft_explain(&found, h, NULL, NULL, NULL);
    d->failed |= rc < 0;
    for (uint32_t i = 0; rc == 0 && i < found.count; i++) {
        const struct weft_finding *f = &found.finding[i];
        if (f->confidence < WEFT_LIKELY)
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

/* The first promise that ended in the bad run and is pending in the good one, if nothing ended worse there; or NULL. */
static const struct weft_change_found *only_better(const struct weft__differ *d)
{
    const struct weft_change_found *better = NULL;
    for (uint32_t i = 0; i < d->out->changes; i++) {
        const struct weft_change_found *c = &d->out->change[i];
        if (c->kind == WEFT_CHANGE_ADDED || c->kind == WEFT_CHANGE_TYPE)
            continue;
        if (c->kind != WEFT_CHANGE_OUTCOME || weft__ending_of(d->good->m, c->good) != WEFT__OPEN)
            return NULL;
        better = better ? better : c;
    }
    return better;
}

void weft__find_swapped(struct weft__differ *d)
{
    struct weft__text t = {0}, first = {0};
    if (d->out->strangers)
        return;
    uint32_t bad = kinds_in(d, d->bad, 0, NULL), good = UINT32_MAX, any = 0;
    for (uint32_t i = 0; i < d->goods; i++) {
        uint32_t kinds = kinds_in(d, d->sides.side[i].h, 0, NULL);
        good &= kinds;
        any |= kinds;
    }
    const struct weft_change_found *better = only_better(d);
    if (good & ~bad && !(bad & ~any)) {
        kinds_in(d, d->good, good & ~bad, &first);
        weft__put(&t, "The good run has what the bad one has not: %s.",
                  first.text ? first.text : "");
    } else if (better && !(bad & ~any)) {
        weft__put_full(&t, d->bad->m, better->bad);
        weft__put(
            &t,
            " is pending in the good run and ended in the bad one, and nothing ended worse there.");
    }
    if (t.size)
        weft__put(&t, " Were they swapped? The good run comes first: weft diff GOOD BAD.");
    d->failed |= t.failed || first.failed;
    weft__text_fini(&first);
    d->out->swapped = weft__text_take(&t);
}
