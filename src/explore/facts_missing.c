/* SPDX-License-Identifier: ISC */
/* Facts about what of a trace is not there: whoever reads that nothing was found must know it. */
#include "explore/fact.h"

static void add_damage(struct explore_facts *f, const struct weft_damage *d)
{
    const struct weft_error *first = &d->first[0];
    if (d->problems) {
        explore_say(f, explore_long(WEFT_LINK_NONE, (struct explore_target){.promise = WEFT_NONE}),
                    FACT_DAMAGED, AMOUNT(places, d->problems), AMOUNT(bytes, d->skipped_bytes),
                    TEXT(what, first->text), FLAG(there, first->offset != WEFT_NO_OFFSET),
                    NUMBER(offset, first->offset == WEFT_NO_OFFSET ? 0 : first->offset));
        explore_fact_bad(f);
    } else if (d->skipped_bytes) {
        explore_say_count(f, FACT_SKIPPED, d->skipped_bytes);
        explore_fact_bad(f);
    }
}

/* The ring had wrapped: since when everything is there. */
static void add_overwritten(struct explore_facts *f, const struct weft_model *m)
{
    const struct weft_losses *l = &m->losses;
    const int64_t since = m->known_ns > 0 ? m->known_ns : 0;
    explore_say(f, explore_time(since), FACT_OVERWRITTEN, AMOUNT(count, l->overwritten_events),
                FLAG(some, !l->overwritten_events), TIME(when, since), FLAG(gone, l->streams));
    explore_fact_bad(f);
}

bool explore_fact_missing(struct explore_facts *f, const struct weft_model *m)
{
    const struct weft_losses *l = &m->losses;
    const struct weft_damage *d = &m->damage;
    const bool damaged = d->problems || d->skipped_bytes;
    const bool paused = m->resumed_ns != WEFT_TIME_MIN;
    /* each damaged place counts as one event that is missing */
    const uint64_t discarded = l->discarded > d->problems ? l->discarded - d->problems : 0;
    if (!damaged && !l->overwritten && !discarded && !l->pending && !paused)
        return false;
    explore_heading(f, FACT_MISSING_HEAD);
    add_damage(f, d);
    if (l->overwritten)
        add_overwritten(f, m);
    if (discarded) {
        explore_say_count(f, FACT_DISCARDED, discarded);
        explore_fact_bad(f);
    }
    if (l->pending) {
        explore_say(f, explore_nowhere(), FACT_PENDING_UNKNOWN);
        explore_fact_bad(f);
    }
    if (paused && m->resumed_ns == WEFT_TIME_MAX)
        explore_say_time(f, FACT_WAS_OFF, m->paused_ns);
    else if (paused)
        explore_say(f, explore_time(m->paused_ns), FACT_WAS_OFF_BETWEEN, TIME(from, m->paused_ns),
                    TIME(to, m->resumed_ns));
    return true;
}
