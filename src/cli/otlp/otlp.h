/* SPDX-License-Identifier: ISC */
/* Promises as spans of OpenTelemetry: their ids, and their JSON (OTLP's mapping: ids in hexadecimal, 64-bit numbers as
 * texts, enums as numbers). */
#pragma once

#include <stdio.h>

#include "analyse/history.h"
#include "analyse/spent.h"
#include "model/traced.h"

/* The ids of all promises. A promise has the trace of the nearest promise with ids; where there is none, one for each
 * root (weft_profile_roots), made from the trace's UUID and the root's number. It is the span that it is marked as; otherwise its
 * span's id is made in the same way. So two exports of one trace, or of two copies, have the same ids. */
struct otlp_ids {
    const struct weft_model *m;
    uint64_t seed[2];
    uint32_t *root;
    /* parallel to the model's spans: an earlier promise is marked as the same span, so this one is inside of it */
    bool *again;
};

/* A span, and whether another one's is in another program. */
struct otlp_span {
    unsigned char ids[WEFT_IDS_BYTES];
    bool known, remote;
};

/* Returns 0 or WEFT_E_NOMEM; call otlp_ids_fini in any case. facts: of the trace's reader. */
int otlp_ids_init(struct otlp_ids *o, const struct weft_model *m,
                  const struct weft_reader_facts *facts);
void otlp_ids_fini(struct otlp_ids *o);

struct otlp_span otlp_ids_of(const struct otlp_ids *o, uint32_t promise);

/* The span that a promise is in: what caused it, or its creator if that belongs to the same trace. Unknown: none. */
struct otlp_span otlp_parent_of(const struct otlp_ids *o, uint32_t promise);

struct otlp_writer {
    FILE *out;
    struct otlp_ids ids;
    const struct weft_history *h;
    struct weft_meter meter;
    uint32_t *linked; /* by promise: the last one with a link to it */
    int64_t wall_ns;  /* of the model's time 0, since 1970 */
};

/* A JSON list that is being written: how many items it has, and how many there was no room for. */
struct otlp_list {
    FILE *out;
    uint32_t count, dropped;
};

/* Writes a promise as a Span. Returns how many spans, links and events that are. Whether it was written: see ferror. */
uint32_t otlp_put_span(struct otlp_writer *w, uint32_t promise);

/* Writes an attribute, {"key": …, "value": {"stringValue": …}} and the like. value: any bytes. */
void otlp_text(struct otlp_list *l, const char *key, const char *value);
void otlp_number(struct otlp_list *l, const char *key, uint64_t value);
