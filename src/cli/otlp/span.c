/* SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/otlp/otlp.h"
#include "cli/report.h"
#include "format/utf8.h"

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

/* ---- JSON ----
 *
 * jansson would take twenty times as long for it, and what is written is always of this form. Where an error occurs, the
 * stream has it (ferror). */

static void put(FILE *out, const char *text)
{
    fputs_unlocked(text, out);
}

static void put_u64(FILE *out, uint64_t n)
{
    char digits[20], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + n % 10);
    while (n /= 10);
    fwrite_unlocked(at, 1, (size_t)(digits + sizeof digits - at), out);
}

static bool is_plain(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] < 0x20 || text[i] > 0x7e || text[i] == '"' || text[i] == '\\')
            return false;
    return true;
}

static void put_escaped(FILE *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            putc_unlocked('\\', out);
        if (c >= 0x20 && c != 0x7f)
            putc_unlocked(c, out);
        else
            fprintf(out, "\\u%04x", c);
    }
}

/* A text of any bytes, in quotes; what is not UTF-8 becomes U+FFFD. */
static void put_text(FILE *out, const char *text, size_t size)
{
    putc_unlocked('"', out);
    if (is_plain(text, size)) {
        fwrite_unlocked(text, 1, size, out);
    } else {
        char *valid = malloc(3 * size + 1); /* one input byte may become three */
        if (valid)
            put_escaped(out, valid, weft_text_valid(valid, 3 * size, text, size));
        else
            cli_lacks_memory();
        free(valid);
    }
    putc_unlocked('"', out);
}

static void put_model_text(FILE *out, const struct weft_model *m, uint32_t text)
{
    uint32_t size;
    const char *t = weft_model_text(m, text, &size);
    put_text(out, t, size);
}

static void put_hex(FILE *out, const unsigned char *bytes, size_t size)
{
    char text[2 * WEFT_TRACE_ID_BYTES];
    format_hex(text, bytes, size);
    fwrite_unlocked(text, 1, 2 * size, out);
}

/* "traceId":"…","spanId":"…" */
static void put_ids(FILE *out, const struct otlp_span *s)
{
    put(out, "\"traceId\":\"");
    put_hex(out, s->ids, WEFT_TRACE_ID_BYTES);
    put(out, "\",\"spanId\":\"");
    put_hex(out, s->ids + WEFT_TRACE_ID_BYTES, WEFT_SPAN_ID_BYTES);
    put(out, "\"");
}

static void put_time(const struct otlp_writer *w, int64_t time_ns)
{
    const int64_t ns = w->wall_ns + time_ns; /* both are within ± 2^62 */
    putc_unlocked('"', w->out);
    put_u64(w->out, ns > 0 ? (uint64_t)ns : 0);
    putc_unlocked('"', w->out);
}

static void put_flags(FILE *out, const struct otlp_span *of)
{
    put(out, ",\"flags\":");
    put_u64(out, FLAG_KNOWS_REMOTE | (of->remote ? FLAG_REMOTE : 0));
}

/* Attributes follow one another: the first of them has no comma before it. */
static void put_key(struct otlp_list *l, const char *key, const char *type)
{
    put(l->out, l->count++ ? ",{\"key\":\"" : "{\"key\":\"");
    put(l->out, key);
    put(l->out, "\",\"value\":{\"");
    put(l->out, type);
    put(l->out, "\":");
}

void otlp_text(struct otlp_list *l, const char *key, const char *value)
{
    put_key(l, key, "stringValue");
    put_text(l->out, value, strlen(value));
    put(l->out, "}}");
}

void otlp_number(struct otlp_list *l, const char *key, uint64_t value)
{
    put_key(l, key, "intValue");
    putc_unlocked('"', l->out);
    put_u64(l->out, value < INT64_MAX ? value : INT64_MAX);
    put(l->out, "\"}}");
}

/* ---- Links ---- */

static void add_link(struct otlp_list *l, const struct otlp_span *to, const char *relation)
{
    struct otlp_list why = {.out = l->out};
    if (l->count == LINKS_MAX) {
        l->dropped++;
        return;
    }
    put(l->out, l->count++ ? ",{" : "{");
    put_ids(l->out, to);
    put(l->out, ",\"attributes\":[");
    otlp_text(&why, "weft.relation", relation);
    put(l->out, "]");
    put_flags(l->out, to);
    put(l->out, "}");
}

static void link_promise(struct otlp_writer *w, struct otlp_list *l, uint32_t promise, uint32_t to,
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
static struct otlp_list put_links(struct otlp_writer *w, uint32_t promise,
                                  const struct otlp_span *parent)
{
    const struct weft_history *h = w->h;
    const struct weft_model *m = h->m;
    const struct weft_promise *p = &m->promise[promise];
    const struct weft_traced *cause = weft_traced_of(m, promise, WEFT_TRACED_PARENT);
    struct otlp_list l = {.out = w->out};
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

/* Its name and attributes follow, and then "}". */
static void begin_event(struct otlp_writer *w, struct otlp_list *l, int64_t time_ns)
{
    put(l->out, l->count++ ? ",{\"timeUnixNano\":" : "{\"timeUnixNano\":");
    put_time(w, time_ns);
    put(l->out, ",\"name\":");
}

/* Labels but the first, which is the name; and the failure, as OpenTelemetry's conventions have it. */
static struct otlp_list put_events(struct otlp_writer *w, uint32_t promise)
{
    const struct weft_model *m = w->h->m;
    const struct weft_promise *p = &m->promise[promise];
    const uint32_t reason = weft_model_reason(m, promise);
    struct otlp_list l = {.out = w->out}, why = l;
    bool first = true;
    for (uint32_t i = p->first_label; i != WEFT_NONE; i = m->label[i].next) {
        if (m->label[i].is_change)
            continue;
        if (!first && l.count + 1 == EVENTS_MAX) {
            l.dropped++;
        } else if (!first) {
            begin_event(w, &l, m->label[i].time_ns);
            put_model_text(w->out, m, m->label[i].what);
            put(w->out, "}");
        }
        first = false;
    }
    if (p->outcome == WEFT_FAILED && reason != WEFT_NONE) {
        begin_event(w, &l, p->end_ns);
        put(w->out, "\"exception\",\"attributes\":[");
        otlp_text(&why, "exception.message", weft_model_text(m, reason, NULL));
        put(w->out, "]}");
    }
    return l;
}

/* ---- Attributes ---- */

static void put_thread(struct otlp_list *l, const struct weft_model *m,
                       const struct weft_promise *p)
{
    const struct weft_stream_thread *t = m->stream_thread;
    if (p->first_run == WEFT_NONE || !t)
        return;
    t += m->run_stream ? m->run_stream[p->first_run] : 0;
    const char *name = weft_model_text(m, t->name, NULL);
    otlp_number(l, "thread.id", t->thread);
    if (*name)
        otlp_text(l, "thread.name", name);
}

static void put_attributes(struct otlp_writer *w, uint32_t promise)
{
    const struct weft_model *m = w->h->m;
    const struct weft_promise *p = &m->promise[promise];
    const uint32_t origin = weft_model_origin(m, promise);
    struct otlp_list l = {.out = w->out};
    struct weft_spent spent;
    otlp_number(&l, "weft.promise", p->id);
    otlp_text(&l, "weft.type", weft_model_type(m, promise));
    otlp_text(&l, "weft.outcome", weft_outcome_name(p->outcome));
    if (origin != WEFT_NONE) {
        otlp_text(&l, "code.file.path", weft_model_text(m, m->origin[origin].file, NULL));
        if (m->origin[origin].line)
            otlp_number(&l, "code.line.number", m->origin[origin].line);
    }
    put_thread(&l, m, p);
    if (weft_spent_find(&spent, &w->meter, promise) < 0) {
        cli_lacks_memory();
        return;
    }
    otlp_number(&l, "weft.waiting_ns", (uint64_t)spent.waiting_ns);
    otlp_number(&l, "weft.ready_ns", (uint64_t)spent.ready_ns);
    otlp_number(&l, "weft.running_ns", (uint64_t)spent.running_ns);
}

/* ---- A span ---- */

static void put_status(FILE *out, const struct weft_model *m, uint32_t promise)
{
    const uint32_t reason = weft_model_reason(m, promise);
    put(out, ",\"status\":{");
    if (m->promise[promise].outcome == WEFT_FAILED) {
        put(out, "\"code\":");
        put_u64(out, STATUS_ERROR);
        if (reason != WEFT_NONE) {
            put(out, ",\"message\":");
            put_model_text(out, m, reason);
        }
    }
    put(out, "}");
}

static void put_dropped(FILE *out, const char *key, uint32_t count)
{
    if (!count)
        return;
    put(out, key);
    put_u64(out, count);
}

static void put_name(FILE *out, const struct weft_model *m, uint32_t promise)
{
    const uint32_t name = weft_model_name(m, promise);
    put(out, ",\"name\":");
    if (name != WEFT_NONE)
        put_model_text(out, m, name);
    else
        put_text(out, weft_model_type(m, promise), strlen(weft_model_type(m, promise)));
}

static int kind_of(const struct weft_model *m, uint32_t promise)
{
    return weft_traced_of(m, promise, WEFT_TRACED_PARENT) ? KIND_SERVER
           : weft_traced_of(m, promise, WEFT_TRACED_SPAN) ? KIND_CLIENT
                                                          : KIND_INTERNAL;
}

uint32_t otlp_put_span(struct otlp_writer *w, uint32_t promise)
{
    const struct weft_model *m = w->h->m;
    const struct weft_promise *p = &m->promise[promise];
    const struct otlp_span own = otlp_ids_of(&w->ids, promise),
                           parent = otlp_parent_of(&w->ids, promise);
    const int64_t end_ns = p->outcome == WEFT_PENDING ? m->end_ns : p->end_ns;
    put(w->out, "{");
    put_ids(w->out, &own);
    if (parent.known) {
        put(w->out, ",\"parentSpanId\":\"");
        put_hex(w->out, parent.ids + WEFT_TRACE_ID_BYTES, WEFT_SPAN_ID_BYTES);
        put(w->out, "\"");
        put_flags(w->out, &parent);
    }
    put_name(w->out, m, promise);
    put(w->out, ",\"kind\":");
    put_u64(w->out, (uint64_t)kind_of(m, promise));
    put(w->out, ",\"startTimeUnixNano\":");
    put_time(w, p->start_ns);
    put(w->out, ",\"endTimeUnixNano\":");
    put_time(w, end_ns > p->start_ns ? end_ns : p->start_ns);
    put(w->out, ",\"attributes\":[");
    put_attributes(w, promise);
    put(w->out, "],\"events\":[");
    const struct otlp_list events = put_events(w, promise);
    put(w->out, "],\"links\":[");
    const struct otlp_list links = put_links(w, promise, &parent);
    put(w->out, "]");
    put_dropped(w->out, ",\"droppedEventsCount\":", events.dropped);
    put_dropped(w->out, ",\"droppedLinksCount\":", links.dropped);
    put_status(w->out, m, promise);
    put(w->out, "}");
    return 1 + events.count + links.count;
}
