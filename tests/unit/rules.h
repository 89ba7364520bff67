/* SPDX-License-Identifier: ISC */
/* Whether the tests notice each row of analyse/judge.def: each scene is judged again with each row changed, which
 * has to make a difference somewhere.
 *
 *     rules_change(KINDS, __func__, findings_as_text, model);   for each scene
 *     return rules_noticed(KINDS);                              in the end: how many changes nobody noticed */
#pragma once

#include "trace.h"

#include "analyse/judge.h"

enum {
    RULES_MOST = 256,
    CHANGES_MOST = 64, /* of a rule */
    RULE_OFF = 0,
    RULE_OTHER = 1,
    RULE_WHEN = 2 /* … from here on without one of the signs that it has in when, then in unless */
};

static uint64_t rules_seen[RULES_MOST]; /* which changes of a rule were noticed: bits */
static bool rules_scene[RULES_MOST];    /* by the scene that it names */

/* The rule with the n-th change; false: it has no more. */
static inline bool rule_changed(struct analyse_rule *r, unsigned n)
{
    uint64_t signs[CHANGES_MOST];
    unsigned whens = 0, all = 0;
    if (n == RULE_OFF)
        r->kinds = 0;
    else if (n == RULE_OTHER)
        r->most = r->most == WEFT_LIKELY ? WEFT_POSSIBLE : WEFT_LIKELY;
    if (n < RULE_WHEN)
        return true;
    for (uint64_t left = r->when; left; left &= left - 1)
        signs[whens++] = left & -left;
    all = whens;
    for (uint64_t left = r->unless; left; left &= left - 1)
        signs[all++] = left & -left;
    if (n - RULE_WHEN >= all)
        return false;
    *(n - RULE_WHEN < whens ? &r->when : &r->unless) &= ~signs[n - RULE_WHEN];
    return true;
}

/* tell: what is found, to be freed. */
static inline void rules_change(uint32_t kinds, const char *scene, char *(*tell)(void *),
                                void *data)
{
    char *right = tell(data);
    assert_true(analyse_rules_count <= RULES_MOST);
    for (unsigned i = 0; i < analyse_rules_count; i++) {
        struct analyse_rule *r = &analyse_rules[i], kept = *r;
        for (unsigned n = 0; (kept.kinds & kinds) && rule_changed(r, n); n++) {
            char *changed = tell(data);
            if (strcmp(changed, right) != 0) {
                rules_seen[i] |= UINT64_C(1) << n;
                rules_scene[i] |= strcmp(kept.scene, scene) == 0;
                if (getenv("RULES"))
                    print_message("rule %u, change %u: %s\n", i, n, scene);
            }
            free(changed);
            *r = kept;
        }
    }
    free(right);
}

/* Of the rules whose first kind is one of those. Says which changes nobody noticed; returns how many. */
static inline int rules_noticed(uint32_t kinds)
{
    int missed = 0;
    for (unsigned i = 0; i < analyse_rules_count; i++) {
        struct analyse_rule *r = &analyse_rules[i], kept = *r;
        if (!(kept.kinds & -kept.kinds & kinds))
            continue;
        for (unsigned n = 0; rule_changed(r, n); n++, *r = kept) {
            if (rules_seen[i] & UINT64_C(1) << n)
                continue;
            missed++;
            print_error("rule %u (most %d, %llx, %llx, %s): nobody notices change %u\n", i,
                        kept.most, (unsigned long long)(kept.when >> 8),
                        (unsigned long long)(kept.unless >> 8), kept.doubt ? kept.doubt : "", n);
        }
        *r = kept;
        if (!rules_scene[i]) {
            missed++;
            print_error("rule %u: its scene, '%s', does not need it\n", i, kept.scene);
        }
    }
    return missed;
}
