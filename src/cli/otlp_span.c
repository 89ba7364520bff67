/* SPDX-License-Identifier: ISC */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/otlp.h"
#include "cli/report.h"
#include "cli/trace_json.h"

enum {
    LINKS_MAX = 128, /* of one span; OpenTelemetry's own limits */
    EVENTS_MAX = 128,

    /* enums and bits of OTLP */
    KIND_INTERNAL = 1,
    KIND_SERVER = 2,
    KIND_CLIENT = 3,
    STATUS_ERROR = 2,
    FLAG_KNOWS_REMOTE = 0x100,
    FLAG_REMOTE = 0x200,
};

/* ---- Values ---- */

static json_t *number_text(uint64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, n);
    return json_string(text);
}

static json_t *hex(const unsigned char *bytes, size_t size)
{
    char text[2 * WEFT_TRACE_ID_BYTES + 1] = "";
    format_hex(text, bytes, size);
    return json_string(text);
}

static json_t *trace_id(const struct otlp_span *s)
{
    return hex(s->ids, WEFT_TRACE_ID_BYTES);
}

static json_t *span_id(const struct otlp_span *s)
{
    return hex(s->ids + WEFT_TRACE_ID_BYTES, WEFT_SPAN_ID_BYTES);
}

static json_t *unix_time(const struct otlp_writer *w, int64_t time_ns)
{
    const int64_t ns = w->wall_ns + time_ns; /* both are within ± 2^62 */
    return number_text(ns > 0 ? (uint64_t)ns : 0);
}

json_t *otlp_text(const char *key, const char *value)
{
    return CLI_OBJECT("key", key, "value", CLI_OBJECT("stringValue", value));
}

json_t *otlp_number(const char *key, uint64_t value)
{
    return CLI_OBJECT("key", key, "value",
                      CLI_OBJECT("intValue", number_text(value < INT64_MAX ? value : INT64_MAX)));
}

/* ---- Links ---- */

struct links {
    json_t *list;
    uint32_t count, dropped;
};

static void add_link(struct links *l, const struct otlp_span *to, const char *relation)
{
    if (l->count == LINKS_MAX) {
        l->dropped++;
        return;
    }
    l->count++;
    json_t *why = json_array();
    cli_json_append(why, otlp_text("weft.relation", relation));
    cli_json_append(l->list,
                    CLI_OBJECT("traceId", trace_id(to), "spanId", span_id(to), "attributes", why,
                               "flags", FLAG_KNOWS_REMOTE | (to->remote ? FLAG_REMOTE : 0)));
}

static void link_promise(struct otlp_writer *w, struct links *l, uint32_t promise, uint32_t to,
                         const char *relation)
{
    if (to == WEFT_ROOT || to == promise || w->linked[to] == promise)
        return;
    w->linked[to] = promise;
    const struct otlp_span span = otlp_ids_of(&w->ids, to);
    add_link(l, &span, relation);
}

/* To what a span's place in the tree does not say: what it waited for, what it became; its creator and what caused it, if
 * they belong to another trace. */
static struct links links_of(struct otlp_writer *w, uint32_t promise,
                             const struct otlp_span *parent)
{
    const struct weft_history *h = w->h;
    const struct weft_model *m = h->m;
    const struct weft_promise *p = &m->promise[promise];
    const struct weft_traced *cause = weft_traced_of(m, promise, WEFT_TRACED_PARENT);
    struct links l = {.list = json_array()};
    if (cause && !(parent->known && memcmp(cause->ids, parent->ids, WEFT_IDS_BYTES) == 0)) {
        struct otlp_span span = {.known = true, .remote = true};
        memcpy(span.ids, cause->ids, sizeof span.ids);
        add_link(&l, &span, "caused by");
    }
    const struct otlp_span creator = otlp_ids_of(&w->ids, p->creator);
    if (!parent->known || memcmp(creator.ids, parent->ids, WEFT_IDS_BYTES) != 0)
        link_promise(w, &l, promise, p->creator, "created by");
    if (p->becomes != WEFT_NONE)
        link_promise(w, &l, promise, p->becomes, "became");
    for (uint32_t i = h->waits_of_first[promise]; i < h->waits_of_first[promise + 1]; i++)
        link_promise(w, &l, promise, h->wait[h->waits_of[i]].source, "waits for");
    return l;
}

/* ---- Events ---- */

struct events {
    json_t *list;
    uint32_t count, dropped;
};

static void add_event(struct otlp_writer *w, struct events *e, int64_t time_ns, json_t *name,
                      json_t *attributes)
{
    e->count++;
    cli_json_append(e->list, CLI_OBJECT("timeUnixNano", unix_time(w, time_ns), "name", name,
                                        "attributes", attributes));
}

/* Labels but the first, which is the name; and the failure, as OpenTelemetry's conventions have it. */
static struct events events_of(struct otlp_writer *w, uint32_t promise)
{
    const struct weft_model *m = w->h->m;
    const struct weft_promise *p = &m->promise[promise];
    const uint32_t reason = weft_model_reason(m, promise);
    struct events e = {.list = json_array()};
    bool first = true;
    for (uint32_t i = p->first_label; i != WEFT_NONE; i = m->label[i].next) {
        if (m->label[i].is_change)
            continue;
        if (!first && e.count + 1 == EVENTS_MAX)
            e.dropped++;
        else if (!first)
            add_event(w, &e, m->label[i].time_ns, cli_json_model_text(m, m->label[i].what),
                      json_array());
        first = false;
    }
    if (p->outcome == WEFT_FAILED && reason != WEFT_NONE) {
        json_t *why = json_array();
        cli_json_append(why, otlp_text("exception.message", weft_model_text(m, reason, NULL)));
        add_event(w, &e, p->end_ns, json_string("exception"), why);
    }
    return e;
}

/* ---- Attributes ---- */

static void add_thread(json_t *list, const struct weft_model *m, const struct weft_promise *p)
{
    const struct weft_stream_thread *t = m->stream_thread;
    if (p->first_run == WEFT_NONE || !t)
        return;
    t += m->run_stream ? m->run_stream[p->first_run] : 0;
    const char *name = weft_model_text(m, t->name, NULL);
    cli_json_append(list, otlp_number("thread.id", t->thread));
    if (*name)
        cli_json_append(list, otlp_text("thread.name", name));
}

static json_t *attributes_of(struct otlp_writer *w, uint32_t promise)
{
    const struct weft_model *m = w->h->m;
    const struct weft_promise *p = &m->promise[promise];
    const uint32_t origin = weft_model_origin(m, promise);
    struct weft_spent spent;
    json_t *list = json_array();
    cli_json_append(list, otlp_number("weft.promise", p->id));
    cli_json_append(list, otlp_text("weft.type", weft_model_type(m, promise)));
    cli_json_append(list, otlp_text("weft.outcome", weft_outcome_name(p->outcome)));
    if (origin != WEFT_NONE) {
        cli_json_append(
            list, otlp_text("code.file.path", weft_model_text(m, m->origin[origin].file, NULL)));
        if (m->origin[origin].line)
            cli_json_append(list, otlp_number("code.line.number", m->origin[origin].line));
    }
    add_thread(list, m, p);
    if (weft_spent_find(&spent, &w->meter, promise) < 0) {
        cli_lacks_memory();
        return list;
    }
    cli_json_append(list, otlp_number("weft.waiting_ns", (uint64_t)spent.waiting_ns));
    cli_json_append(list, otlp_number("weft.ready_ns", (uint64_t)spent.ready_ns));
    cli_json_append(list, otlp_number("weft.running_ns", (uint64_t)spent.running_ns));
    return list;
}

/* ---- A span ---- */

static json_t *status_of(const struct weft_model *m, uint32_t promise)
{
    const uint32_t reason = weft_model_reason(m, promise);
    if (m->promise[promise].outcome != WEFT_FAILED)
        return json_object();
    return CLI_OBJECT("code", STATUS_ERROR, "message",
                      reason == WEFT_NONE ? "" : weft_model_text(m, reason, NULL));
}

json_t *otlp_span_json(struct otlp_writer *w, uint32_t promise, uint32_t *parts)
{
    const struct weft_model *m = w->h->m;
    const struct weft_promise *p = &m->promise[promise];
    const uint32_t name = weft_model_name(m, promise);
    const struct otlp_span own = otlp_ids_of(&w->ids, promise),
                           parent = otlp_parent_of(&w->ids, promise);
    const int64_t end_ns = p->outcome == WEFT_PENDING ? m->end_ns : p->end_ns;
    const int kind = weft_traced_of(m, promise, WEFT_TRACED_PARENT) ? KIND_SERVER
                     : weft_traced_of(m, promise, WEFT_TRACED_SPAN) ? KIND_CLIENT
                                                                    : KIND_INTERNAL;
    const struct links links = links_of(w, promise, &parent);
    const struct events events = events_of(w, promise);
    json_t *span = CLI_OBJECT("traceId", trace_id(&own), "spanId", span_id(&own));
    if (parent.known)
        CLI_SET(span, "parentSpanId", span_id(&parent), "flags",
                FLAG_KNOWS_REMOTE | (parent.remote ? FLAG_REMOTE : 0));
    CLI_SET(span, "name",
            name == WEFT_NONE ? cli_json_string(weft_model_type(m, promise))
                              : cli_json_model_text(m, name),
            "kind", kind, "startTimeUnixNano", unix_time(w, p->start_ns), "endTimeUnixNano",
            unix_time(w, end_ns > p->start_ns ? end_ns : p->start_ns), "attributes",
            attributes_of(w, promise), "events", events.list, "links", links.list, "status",
            status_of(m, promise));
    if (events.dropped)
        CLI_SET(span, "droppedEventsCount", events.dropped);
    if (links.dropped)
        CLI_SET(span, "droppedLinksCount", links.dropped);
    *parts += 1 + links.count + events.count;
    return span;
}
