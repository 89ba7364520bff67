/* SPDX-License-Identifier: ISC */
/* For programs here: a whole trace in memory, and its events as lines such as
 *
 *     creates -1 1 task "GET /"
 *
 * that is a kind, its promises (-1: the loop), type or reason, number, and text. */
#pragma once

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/reader.h"

struct trace {
    struct weft_reader *reader; /* NULL: it could not be read */
    const struct weft_reader_facts *facts;
    const struct weft_damage *damage;
    struct weft_error error;
    struct weft_event *event; /* without promoted ones; texts are copies */
    size_t events, room, promoted;
    size_t at; /* for who goes through it */
};

static inline char *trace_copy(const char *text, size_t size)
{
    char *copy = malloc(size + 1);
    if (!copy)
        abort();
    memcpy(copy, text, size);
    copy[size] = 0;
    return copy;
}

static inline void trace_free(struct trace *t)
{
    for (size_t i = 0; i < t->events; i++) {
        struct weft_event *ev = &t->event[i];
        free((char *)(uintptr_t)ev->text);
        if (ev->origin && !ev->origin->number) {
            free((char *)(uintptr_t)ev->origin->type);
            free((struct weft_origin *)(uintptr_t)ev->origin);
        }
    }
    free(t->event);
    weft_reader_close(t->reader);
    *t = (struct trace){0};
}

static inline void trace_keep(struct trace *t, const struct weft_event *ev)
{
    if (t->events == t->room) {
        t->room = t->room ? 2 * t->room : 1024;
        t->event = realloc(t->event, t->room * sizeof *t->event);
        if (!t->event)
            abort();
    }
    struct weft_event *e = &t->event[t->events++];
    *e = *ev;
    if (ev->text)
        e->text = trace_copy(ev->text, ev->text_size);
    if (ev->origin && !ev->origin->number) {
        struct weft_origin *o = malloc(sizeof *o);
        if (!o)
            abort();
        *o = (struct weft_origin){.type = trace_copy(ev->origin->type, strlen(ev->origin->type))};
        e->origin = o;
    }
}

/* Returns 0 or a negative WEFT_E code. */
static inline int trace_read(struct trace *t, const char *path)
{
    const struct weft_event *ev;
    ptrdiff_t n;
    *t = (struct trace){0};
    int rc = weft_reader_open(&t->reader, path, &t->error);
    if (rc < 0)
        return rc;
    while ((n = weft_reader_next(t->reader, &ev, &t->error)) > 0)
        for (ptrdiff_t i = 0; i < n; i++) {
            t->promoted += ev[i].promoted;
            if (!ev[i].promoted)
                trace_keep(t, &ev[i]);
        }
    t->facts = weft_reader_facts(t->reader);
    t->damage = weft_reader_damage(t->reader);
    return (int)n;
}

/* The line of an event, in a buffer that is used again. */
static inline const char *trace_line(const struct weft_event *ev)
{
    static char line[64 << 10];
    const struct weft_event_desc *d = &weft_event_kinds[ev->kind];
    int n = snprintf(line, sizeof line, "%s", d->name);
    for (unsigned i = 0, promises = 0; i < d->fields; i++) {
        char *at = line + n;
        size_t room = sizeof line - (size_t)n;
        const char *reason;
        switch ((enum weft_field)d->field[i].field) {
        case WEFT_FIELD_PROMISE:
            n += snprintf(at, room, " %" PRId64, (int64_t)(promises++ ? ev->b : ev->a));
            break;
        case WEFT_FIELD_TYPE:
            n += snprintf(at, room, " %s", ev->origin ? ev->origin->type : "?");
            break;
        case WEFT_FIELD_REASON:
            reason = weft_reason_name(ev->type);
            n += snprintf(at, room, " %s", reason ? reason : "?");
            break;
        case WEFT_FIELD_SIGNED:
        case WEFT_FIELD_DURATION:
            n += snprintf(at, room, " %" PRId64, ev->value);
            break;
        case WEFT_FIELD_TEXT:
            break;
        }
    }
    if (ev->text)
        n += snprintf(line + n, sizeof line - (size_t)n, " \"%.*s\"", (int)ev->text_size, ev->text);
    if (ev->has_total)
        snprintf(line + n, sizeof line - (size_t)n, " = %" PRId64, ev->total);
    return line;
}
