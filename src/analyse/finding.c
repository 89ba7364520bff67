/* SPDX-License-Identifier: ISC */
#include "analyse/finding.h"

#include <stdlib.h>
#include <string.h>

#include "model/alloc.h"

struct weft_finding *weft__finding_add(struct weft__search *s, enum weft_finding_kind kind,
                                       enum weft_confidence confidence, uint32_t promise,
                                       int64_t start_ns, int64_t end_ns, int64_t cost_ns)
{
    struct weft_findings *out = s->out;
    if (s->failed || s->canceled || s->o->ignore >> kind & 1)
        return NULL;
    if (out->count == s->room) {
        uint32_t room = s->room ? 2 * s->room : 16;
        struct weft_finding *grown = weft__resize(out->finding, room, sizeof *grown);
        if (!grown) {
            s->failed = true;
            return NULL;
        }
        out->finding = grown;
        s->room = room;
    }
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

void weft__finding_text(struct weft__search *s, struct weft_finding *f, struct weft__text *text)
{
    s->failed |= text->failed;
    free(f->text);
    f->text = weft__text_take(text);
}

void weft__finding_doubt(struct weft__search *s, struct weft_finding *f, const char *why)
{
    free(f->doubt);
    f->doubt = why ? strdup(why) : NULL;
    s->failed |= why && !f->doubt;
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

enum weft_confidence weft__doubt(const struct weft__search *s, uint32_t promise,
                                 enum weft_confidence confidence, const char **doubt)
{
    const struct weft_model *m = s->m;
    const struct weft_promise *p = &m->promise[promise];
    const char *why = NULL;
    if (m->losses.discarded)
        why = "some events could not be recorded or read; one of them may be what is missing here";
    else if (promise != WEFT_ROOT && (!p->created || p->promoted) && m->losses.overwritten)
        why = "the beginning of the recording was overwritten, and with it a part of this "
              "promise's story";
    else if (promise != WEFT_ROOT && !p->created)
        why = "the promise is older than the recording, so a part of its story is missing";
    if (!why)
        return confidence;
    *doubt = why;
    return confidence == WEFT_POSSIBLE ? WEFT_POSSIBLE : confidence - 1;
}
