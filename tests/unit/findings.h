/* SPDX-License-Identifier: ISC */
/* What is found in scenes: findings of some kinds, as text, also with a changed rule (rules.h) and while allocations fail.
 *
 *     static uint32_t looked_for = KINDS;
 *     … findings_expect(__func__, model, (const char *const[]){"hang-root certain", "'query'", NULL}); */
#pragma once

#include "allocations.h"
#include "analyse/explain.h"
#include "rules.h"

static uint32_t looked_for; /* kinds */

static inline int findings_find(struct weft_findings *f, const struct weft_model *m)
{
    struct weft_history *h;
    struct weft_explain_options o = {.ignore = ~looked_for};
    int rc = weft_history_new(&h, m, NULL, NULL);
    if (rc < 0)
        return rc;
    rc = weft_explain(f, h, &o, NULL, NULL);
    weft_history_free(h);
    return rc;
}

/* Each allocation fails once; returns how many there are. */
static inline long findings_without_memory(const struct weft_model *m)
{
    struct failing each = {0};
    int rc = 0;
    while (fails_next(&each, rc)) {
        struct weft_findings f;
        rc = findings_find(&f, m);
        if (rc == 0)
            weft_findings_fini(&f);
    }
    return each.n;
}

/* Evidence is in order of time. */
static inline void findings_check(const struct weft_finding *x)
{
    assert_true(x->evidences > 0 && x->start_ns <= x->end_ns);
    for (uint32_t k = 1; k < x->evidences; k++)
        assert_true(x->evidence[k - 1].time_ns <= x->evidence[k].time_ns);
}

/* Name, confidence, culprit, how often, how many are affected, why it is not surer: a line for each finding. */
static inline char *findings_text(void *model)
{
    const struct weft_model *m = model;
    struct weft_findings f;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(findings_find(&f, m), 0);
    for (uint32_t i = 0; i < f.count; i++) {
        const struct weft_finding *x = &f.finding[i];
        fprintf(out, "%s %s %u x%u, %u: %s\n%s\n", weft_finding_name(x->kind),
                weft_confidence_name(x->confidence), (unsigned)m->promise[x->promise].id,
                (unsigned)x->count, (unsigned)x->affected_total, x->doubt ? x->doubt : "", x->text);
        findings_check(x);
    }
    fclose(out);
    weft_findings_fini(&f);
    return text;
}

/* wanted: how what is found begins, and then what is in it; none: nothing is found. Frees the model. */
static inline void findings_expect(const char *scene, struct weft_model *m,
                                   const char *const *wanted)
{
    char *text = findings_text(m);
    bool right = *wanted ? strncmp(text, *wanted, strlen(*wanted)) == 0 : *text == '\0';
    for (const char *const *w = wanted; right && *w; w++)
        right = strstr(text, *w) != NULL;
    if (!right)
        print_error("expected: %s …\nfound: %s\n", *wanted ? *wanted : "nothing", text);
    assert_true(right);
    free(text);
    if (*wanted)
        findings_without_memory(m);
    rules_change(looked_for, scene, findings_text, m);
    weft_model_free(m);
}
