/* SPDX-License-Identifier: ISC */
#include "analyse/finding.h"

#include <stdlib.h>
#include <string.h>

#include "model/alloc.h"

bool weft__search_room(struct weft__search *s, void *array, uint32_t count, uint32_t *room,
                       size_t item)
{
    void *items;
    if (count < *room)
        return true;
    uint64_t more = *room ? *room + *room / UINT64_C(2) : 16;
    memcpy(&items, array, sizeof items); /* a pointer of any type */
    items = more > UINT32_MAX ? NULL : weft__resize(items, more, item);
    if (!items) {
        s->failed = true;
        return false;
    }
    memcpy(array, &items, sizeof items);
    *room = (uint32_t)more;
    return true;
}

struct weft_finding *weft__finding_add(struct weft__search *s, enum weft_finding_kind kind,
                                       enum weft_confidence confidence, uint32_t promise,
                                       int64_t start_ns, int64_t end_ns, int64_t cost_ns)
{
    struct weft_findings *out = s->out;
    if (s->failed || s->canceled || s->o->ignore >> kind & 1)
        return NULL;
    if (!weft__search_room(s, &out->finding, out->count, &s->room, sizeof *out->finding))
        return NULL;
    struct weft_finding *f = &out->finding[out->count++];
    *f = (struct weft_finding){.kind = kind,
                               .confidence = confidence,
                               .promise = promise,
                               .start_ns = start_ns,
                               .end_ns = end_ns,
                               .cost_ns = cost_ns,
                               .count = 1};
    return f;
}

struct weft_finding *weft__finding_add_open(struct weft__search *s, enum weft_finding_kind kind,
                                            enum weft_confidence confidence, uint32_t promise,
                                            int64_t start_ns, int64_t cost_ns)
{
    int64_t end = s->m->end_ns;
    return weft__finding_add(s, kind, confidence, promise, start_ns < end ? start_ns : end, end,
                             cost_ns);
}

void weft__finding_text(struct weft__search *s, struct weft_finding *f, struct weft__text *text)
{
    s->failed |= text->failed;
    free(f->text);
    f->text = weft__text_take(text);
}

void weft__finding_doubt(struct weft__search *s, struct weft_finding *f, const char *why)
{
    free(f->doubt);
    size_t size = why ? strlen(why) + 1 : 0;
    f->doubt = why ? weft__resize(NULL, size, 1) : NULL;
    s->failed |= why && !f->doubt;
    if (f->doubt)
        memcpy(f->doubt, why, size);
}

void weft__finding_evidence(struct weft__search *s, struct weft_finding *f, int64_t time_ns,
                            enum weft_evidence_event event, uint32_t promise, uint32_t other)
{
    if (!f->evidence)
        f->evidence = calloc(WEFT_EVIDENCE_MAX, sizeof *f->evidence);
    if (!f->evidence) {
        s->failed = true;
        return;
    }
    if (f->evidences == WEFT_EVIDENCE_MAX)
        f->evidences--;
    f->evidence[f->evidences++] = (struct weft_evidence){time_ns, event, promise, other};
}

void weft__finding_affects(struct weft__search *s, struct weft_finding *f, uint32_t promise)
{
    f->affected_total++;
    if (f->affecteds == WEFT_AFFECTED_MAX)
        return;
    if ((f->affecteds & (f->affecteds - 1)) == 0) { /* full: 0, 1, 2, 4 … */
        uint32_t room = f->affecteds ? 2 * f->affecteds : 1;
        uint32_t *grown = weft__resize(f->affected, room, sizeof *grown);
        if (!grown) {
            s->failed = true;
            return;
        }
        f->affected = grown;
    }
    f->affected[f->affecteds++] = promise;
}

void weft__finding_sort(struct weft_finding *f)
{
    for (uint32_t i = 1; i < f->evidences; i++) {
        struct weft_evidence e = f->evidence[i];
        uint32_t at = i;
        for (; at > 0 && f->evidence[at - 1].time_ns > e.time_ns; at--)
            f->evidence[at] = f->evidence[at - 1];
        f->evidence[at] = e;
    }
}

void weft__finding_fini(struct weft_finding *f)
{
    free(f->text);
    free(f->doubt);
    free(f->evidence);
    free(f->affected);
}

/* ---- Questions ---- */

enum weft_evidence_event weft__ending(const struct weft_model *m, uint32_t promise)
{
    switch ((enum weft_outcome)m->promise[weft_model_final(m, promise)].outcome) {
    case WEFT_FULFILLED:
        return WEFT_EVIDENCE_FULFILLED;
    case WEFT_FAILED:
        return WEFT_EVIDENCE_FAILED;
    case WEFT_CANCELLED:
        return WEFT_EVIDENCE_CANCELLED;
    case WEFT_FORGOTTEN:
        return WEFT_EVIDENCE_FORGOTTEN;
    case WEFT_PENDING:
        return WEFT_EVIDENCE_SIGNALLED;
    default:
        return WEFT_EVIDENCE_RESOLVED;
    }
}

bool weft__is_labelled(const struct weft_model *m, uint32_t promise, int64_t from_ns, int64_t to_ns,
                       uint32_t most)
{
    uint32_t low = 0, high = m->labels;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->label[middle].time_ns < from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t n = 0; low < m->labels && n < most && m->label[low].time_ns <= to_ns; low++, n++)
        if (m->label[low].promise == promise)
            return true;
    return false;
}

/* ---- Telling ---- */

/* Whether the evidence has another promise with the same label. */
static bool has_namesake(const struct weft_model *m, const struct weft_finding *f, uint32_t promise)
{
    uint32_t name = weft_model_name(m, promise);
    for (uint32_t i = 0; i < f->evidences && name != WEFT_NONE; i++) {
        const uint32_t who[] = {f->evidence[i].promise, f->evidence[i].other};
        for (unsigned k = 0; k < 2; k++)
            if (who[k] != WEFT_NONE && who[k] != WEFT_ROOT && who[k] != promise &&
                weft_model_name(m, who[k]) == name)
                return true;
    }
    return false;
}

void weft_evidence_say(struct weft__text *t, const struct weft_model *m,
                       const struct weft_finding *f, uint32_t i)
{
    static const char *const texts[][2] = {
#define X(NAME, name, text, alone) [WEFT_EVIDENCE_##NAME] = {text, alone},
        WEFT_EVIDENCE(X)
#undef X
    };
    const struct weft_evidence *e = &f->evidence[i];
    for (const char *s = texts[e->event][e->other == WEFT_NONE || e->other == e->promise]; *s;) {
        size_t plain = strcspn(s, "%");
        weft__put(t, "%.*s", (int)plain, s);
        s += plain;
        if (!*s)
            break;
        uint32_t who = s[1] == 'p' ? e->promise : e->other;
        if (who != WEFT_ROOT && has_namesake(m, f, who))
            weft__put_full(t, m, who);
        else
            weft__put_name(t, m, who);
        s += 2;
    }
}
