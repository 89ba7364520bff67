/* SPDX-License-Identifier: ISC */
/* weft info: what it counts, and what a reader knows only at the end. The rest stands in the headers of the trace's packets,
 * which are read each time. */
#include <stdlib.h>

#include "cli/index/parts.h"

#define SUMMARY(kind, member) INDEX_FIELD(struct cli_summary, kind, member)
static const struct index_field summary_fields[] = {
    SUMMARY(U64, events_total),
    SUMMARY(U64, promises),
    SUMMARY(U64, span_ns),
    SUMMARY(U64, facts.first_ns),
    SUMMARY(U32, facts.streams),
    SUMMARY(U64, facts.streams_recorded),
    SUMMARY(U64, facts.overwritten_events),
    SUMMARY(U64, facts.missing_events),
    SUMMARY(U64, facts.discarded_events),
    SUMMARY(U64, facts.overwritten_elsewhere),
    SUMMARY(U64, facts.discarded_elsewhere),
    SUMMARY(U64, facts.unknown_events),
    SUMMARY(U64, facts.changed_packets),
    SUMMARY(U64, facts.repeated_packets),
    SUMMARY(U64, facts.promotion.events),
    SUMMARY(FLAG, facts.promotion.complete),
};

#define STREAM(kind, member) INDEX_FIELD(struct weft_stream_facts, kind, member)
static const struct index_field stream_fields[] = {
    STREAM(U32, number),      STREAM(U32, thread),  STREAM(U64, kept),
    STREAM(U64, overwritten), STREAM(U64, missing), STREAM(U64, discarded),
};

static json_t *stream_json(const struct weft_stream_facts *t)
{
    json_t *one = json_array();
    index_add(&one, index_put(t, stream_fields));
    index_add(&one, json_string(t->name));
    return one;
}

void cli_index_add_summary(struct cli_index *x, const struct cli_summary *s)
{
    index_is_of(x, s->facts.content_bytes);
    if (!index_lacks(x, "summary"))
        return;
    json_t *section = json_array(), *kinds = json_array(), *streams = json_array();
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++)
        index_add(&kinds, json_integer((json_int_t)s->events[k]));
    for (uint32_t i = 0; s->facts.stream && i < s->facts.streams; i++)
        index_add(&streams, stream_json(&s->facts.stream[i]));
    index_add(&section, index_put(s, summary_fields));
    index_add(&section, index_damage_json(&s->damage));
    index_add(&section, kinds);
    index_add(&section, streams);
    index_put_section(x, "summary", section);
}

void cli_index_add_counts(struct cli_index *x, struct weft_reader *r, const struct weft_model *m)
{
    struct cli_summary s = {.reader = r};
    cli_summary_take(&s, m);
    cli_index_add_summary(x, &s);
}

static bool get_stream(struct weft_stream_facts *t, const json_t *one)
{
    const char *name = json_string_value(json_array_get(one, 1));
    *t = (struct weft_stream_facts){.number = 0};
    snprintf(t->name, sizeof t->name, "%s", name ? name : "");
    return name && index_get(t, stream_fields, json_array_get(one, 0));
}

static bool get_summary(const json_t *section, struct cli_summary *s)
{
    const json_t *kinds = json_array_get(section, 2), *streams = json_array_get(section, 3);
    const size_t count = json_array_size(streams);
    struct cli_summary got = {.path = s->path, .reader = s->reader};
    got.facts = *weft_reader_facts(s->reader);
    bool fine = index_get(&got, summary_fields, json_array_get(section, 0)) &&
                index_get_damage(&got.damage, json_array_get(section, 1)) &&
                json_array_size(kinds) == WEFT_EVENT_KINDS &&
                (!got.facts.stream ? count == 0 : count == got.facts.streams);
    for (unsigned k = 0; fine && k < WEFT_EVENT_KINDS; k++)
        fine = index_number(kinds, k, UINT64_MAX, &got.events[k]);
    if (fine && got.facts.stream) {
        got.stream = calloc(count + 1, sizeof *got.stream);
        got.facts.stream = got.stream;
        fine = got.stream;
    }
    for (uint32_t i = 0; fine && i < count; i++)
        fine = get_stream(&got.stream[i], json_array_get(streams, i));
    if (fine)
        *s = got;
    else
        free(got.stream);
    return fine;
}

bool cli_index_get_summary(struct cli_index *x, struct cli_summary *s)
{
    const json_t *section = index_section(x, "summary");
    return section && index_checked(x, "summary", get_summary(section, s));
}
