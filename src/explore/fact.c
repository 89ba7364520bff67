/* SPDX-License-Identifier: ISC */
#include "explore/fact.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/text.h"

enum { FORMATTED = 640, ROOM = WEFT__FACT_BYTES + WEFT__FACT_LONG };

static const char ellipsis[] = "\xe2\x80\xa6";

size_t weft__fact_clean(char *out, size_t room, const char *text, size_t size)
{
    size_t dots = sizeof ellipsis - 1, most = 3 * room; /* a byte may take the place of three */
    size_t n = weft_text_clean(out, room - 1, text, size < most ? size : most);
    if (size > most || n + dots >= room) { /* cut, or perhaps */
        n = weft_text_clean(out, room - 1 - dots, text, size < most ? size : most);
        memcpy(out + n, ellipsis, dots);
        n += dots;
    }
    out[n] = '\0';
    return n;
}

size_t weft__fact_label(char *out, size_t room, const struct weft_model *m, uint32_t promise)
{
    uint32_t size, text = weft_model_name(m, promise);
    out[0] = '\0';
    if (text == WEFT_NONE)
        return 0;
    const char *label = weft_model_text(m, text, &size);
    return weft__fact_clean(out, room, label, size);
}

/* ---- Numbers ---- */

struct weft_figure weft__share(uint64_t part, uint64_t whole)
{
    struct weft_figure share = {""};
    if (whole == 0)
        return share;
    double percent = 100.0 * (double)part / (double)whole;
    int digits = percent > 0 && percent < 9.95 ? 1 : 0;
    if (percent > 0 && percent < 0.05)
        snprintf(share.text, sizeof share.text, "< 0.1 %%");
    else
        snprintf(share.text, sizeof share.text, "%.*f %%", digits, percent);
    return share;
}

/* ---- Promises ---- */

int64_t weft__length(const struct weft_scene *s, uint32_t promise)
{
    const struct weft_promise *p = &s->m->promise[promise];
    return weft_layout_end(s->l, s->m, promise) - weft_layout_start(s->l, p);
}

static size_t call(char *out, size_t room, const struct weft_scene *s, uint32_t promise,
                   bool lasting)
{
    const struct weft_model *m = s->m;
    char type[32], label[WEFT__FACT_LABEL], whole[FORMATTED];
    const char *name = weft_model_type(m, promise);
    const struct weft_promise *p = &m->promise[promise];
    if (promise == WEFT_ROOT) {
        snprintf(whole, sizeof whole, "the event loop");
    } else {
        weft__fact_clean(type, sizeof type, name, strlen(name));
        bool labelled = weft__fact_label(label, sizeof label, m, promise) != 0;
        struct weft_figure length = {""};
        if (lasting)
            length = weft_duration(weft__length(s, promise));
        snprintf(whole, sizeof whole, "#%" PRIu64 " %s%s%s%s%s%s", p->id, type, labelled ? " " : "",
                 label, lasting ? ", " : "", length.text,
                 p->outcome == WEFT_FAILED               ? ", failed"
                 : lasting && p->outcome == WEFT_PENDING ? ", pending"
                                                         : "");
    }
    return weft__fact_clean(out, room, whole, strlen(whole));
}

void weft__top_add(struct weft__top *t, uint32_t promise, int64_t length, int64_t second)
{
    uint32_t at = t->count;
    while (at > 0 && (t->length[at - 1] < length ||
                      (t->length[at - 1] == length && t->second[at - 1] < second)))
        at--;
    if (at == t->room)
        return;
    uint32_t last = t->count < t->room ? t->count++ : t->room - 1;
    for (uint32_t i = last; i > at; i--) {
        t->promise[i] = t->promise[i - 1];
        t->length[i] = t->length[i - 1];
        t->second[i] = t->second[i - 1];
    }
    t->promise[at] = promise;
    t->length[at] = length;
    t->second[at] = second;
}

/* ---- Facts ---- */

void weft__fact_begin(struct weft__facts *f)
{
    f->count = f->text_bytes = 0;
    f->failed = false;
}

int weft__fact_end(struct weft__facts *f)
{
    if (f->failed) {
        f->count = 0;
        return WEFT_E_NOMEM;
    }
    for (uint32_t i = 0; i < f->count; i++) { /* they lie still from now on */
        f->fact[i].name = f->texts + f->at[2 * i];
        f->fact[i].text = f->texts + f->at[2 * i + 1];
    }
    return 0;
}

static bool grow(struct weft__facts *f)
{
    return weft_reserve(&f->fact, f->count, &f->fact_room, sizeof *f->fact) &&
           weft_reserve(&f->target, f->count, &f->target_room, sizeof *f->target) &&
           weft_reserve(&f->at, f->count, &f->at_room, 2 * sizeof *f->at) &&
           weft_reserve_all(&f->texts, (uint64_t)f->text_bytes + ROOM, &f->texts_room, 1);
}

static uint32_t keep(struct weft__facts *f, const char *text, size_t room)
{
    uint32_t at = f->text_bytes;
    f->text_bytes += 1 + (uint32_t)weft__fact_clean(f->texts + at, room, text, strlen(text));
    return at;
}

static void add_sized(struct weft__facts *f, const char *name, const char *text,
                      struct weft_fact fact, struct weft__target target, size_t room)
{
    if (!f->failed && !grow(f))
        f->failed = true;
    if (f->failed)
        return;
    uint32_t i = f->count++;
    f->fact[i] = fact;
    f->target[i] = target;
    f->at[2 * i] = keep(f, name, WEFT__FACT_BYTES);
    f->at[2 * i + 1] = keep(f, text, room);
}

static void add(struct weft__facts *f, const char *name, const char *text, struct weft_fact fact,
                struct weft__target target)
{
    add_sized(f, name, text, fact, target, WEFT__FACT_BYTES);
}

void weft__fact_long(struct weft__facts *f, const char *name, const char *text, enum weft_link link,
                     struct weft__target target)
{
    add_sized(f, name, text, (struct weft_fact){.link = link}, target, WEFT__FACT_LONG);
}

#define FORMAT(text, room, format)                                                                 \
    do {                                                                                           \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        vsnprintf((text), (room), (format), args);                                                 \
        va_end(args);                                                                              \
    } while (0)

void weft__fact_heading(struct weft__facts *f, const char *format, ...)
{
    char name[FORMATTED];
    FORMAT(name, sizeof name, format);
    add(f, name, "", (struct weft_fact){.heading = true},
        (struct weft__target){.promise = WEFT_NONE});
}

void weft__fact_text(struct weft__facts *f, const char *name, const char *format, ...)
{
    char text[FORMATTED];
    FORMAT(text, sizeof text, format);
    add(f, name, text, (struct weft_fact){.link = WEFT_LINK_NONE},
        (struct weft__target){.promise = WEFT_NONE});
}

void weft__fact_time(struct weft__facts *f, const char *name, int64_t time_ns, const char *format,
                     ...)
{
    char text[FORMATTED];
    FORMAT(text, sizeof text, format);
    add(f, name, text, (struct weft_fact){.link = WEFT_LINK_TIME},
        (struct weft__target){.promise = WEFT_NONE, .time_ns = time_ns});
}

static void add_promise(struct weft__facts *f, const char *name, const char *text,
                        const struct weft_scene *s, uint32_t promise)
{
    enum weft_link link = promise == WEFT_ROOT ? WEFT_LINK_NONE : WEFT_LINK_PROMISE;
    add(f, name, text, (struct weft_fact){.link = link},
        (struct weft__target){.promise = promise,
                              .time_ns = weft_layout_start(s->l, &s->m->promise[promise])});
}

void weft__fact_promise(struct weft__facts *f, const char *name, const struct weft_scene *s,
                        uint32_t promise, const char *format, ...)
{
    char text[FORMATTED];
    size_t n = call(text, WEFT__FACT_PROMISE, s, promise, true);
    FORMAT(text + n, sizeof text - n, format);
    add_promise(f, name, text, s, promise);
}

void weft__fact_named(struct weft__facts *f, const char *name, const struct weft_scene *s,
                      uint32_t promise, const char *format, ...)
{
    char text[FORMATTED];
    size_t n = call(text, WEFT__FACT_NAMED, s, promise, false);
    FORMAT(text + n, sizeof text - n, format);
    add_promise(f, name, text, s, promise);
}

void weft__fact_bad(struct weft__facts *f)
{
    if (f->count && !f->failed)
        f->fact[f->count - 1].bad = true;
}

void weft__fact_more(struct weft__facts *f, uint64_t all, uint64_t shown)
{
    if (all > shown)
        weft__fact_text(f, "", "and %s more", weft_count(all - shown).text);
}
