/* SPDX-License-Identifier: ISC */
#include "analyse/names.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/pairs.h"
#include "analyse/sentence.h"
#include "format/utf8.h"
#include "base/array.h"
#include "model/strings.h"

enum {
    LABEL_BYTES = 80, /* of a label in a sentence */
    FAMILY_BYTES = ANALYSE_SHAPE_BYTES,
};

static bool reserve(struct analyse_text *t, size_t more)
{
    if (!t->failed && t->room - t->size <= more) {
        size_t room = 2 * (t->room + more) + 64;
        char *grown = realloc(t->text, room);
        t->failed = !grown;
        if (grown) {
            t->text = grown;
            t->room = room;
        }
    }
    return !t->failed;
}

static void put_clean(struct analyse_text *t, const char *text, size_t size)
{
    if (!reserve(t, 3 * size)) /* one byte may become three */
        return;
    t->size += weft_text_clean(t->text + t->size, t->room - t->size - 1, text, size);
    t->text[t->size] = '\0';
}

void analyse_put_format(struct analyse_text *t, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0)
        put_clean(t, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void analyse_text_add(struct analyse_text *t, const char *text)
{
    put_clean(t, text, strlen(text));
}

void analyse_text_cut(struct analyse_text *t, size_t size)
{
    if (size < t->size) {
        t->size = size;
        t->text[size] = '\0';
    }
}

void analyse_put_count(struct analyse_text *t, uint64_t n)
{
    analyse_put_format(t, "%s", weft_count(n).text);
}

/* ---- Promises ---- */

/* 'label', cut if it is long. */
static struct analyse_phrase quoted(const char *label, size_t size)
{
    struct analyse_phrase out;
    char clean[LABEL_BYTES + 4];
    size_t n =
        weft_text_clean(clean, LABEL_BYTES, label, size < 3 * LABEL_BYTES ? size : 3 * LABEL_BYTES);
    bool cut = size > 3 * LABEL_BYTES || weft_text_clean(clean, LABEL_BYTES + 4, label, size) > n;
    snprintf(out.text, sizeof out.text, "'%.*s%s'", (int)n, clean, cut ? "\xe2\x80\xa6" : "");
    return out;
}

/* "type 12" */
static struct analyse_phrase numbered(const struct weft_model *m, uint32_t promise)
{
    struct analyse_phrase out;
    snprintf(out.text, sizeof out.text, "%.64s %" PRIu64, weft_model_type(m, promise),
             m->promise[promise].id);
    return out;
}

struct analyse_phrase analyse_as_name(const struct weft_model *m, uint32_t promise)
{
    uint32_t size, name = promise == WEFT_ROOT ? WEFT_NONE : weft_model_name(m, promise);
    if (promise == WEFT_ROOT)
        return (struct analyse_phrase){"the event loop"};
    if (name == WEFT_NONE)
        return numbered(m, promise);
    const char *label = weft_model_text(m, name, &size);
    return quoted(label, size);
}

void analyse_put_name(struct analyse_text *t, const struct weft_model *m, uint32_t promise)
{
    analyse_put_format(t, "%s", analyse_as_name(m, promise).text);
}

void analyse_put_full(struct analyse_text *t, const struct weft_model *m, uint32_t promise)
{
    analyse_put_name(t, m, promise);
    if (promise != WEFT_ROOT && weft_model_name(m, promise) != WEFT_NONE)
        analyse_put_format(t, " (%s)", numbered(m, promise).text);
}

void analyse_put_time(struct analyse_text *t, int64_t time_ns)
{
    analyse_put_format(t, "%s", weft_moment(time_ns).text);
}

void analyse_put_length(struct analyse_text *t, int64_t ns)
{
    analyse_put_format(t, "%s", weft_duration(ns).text);
}

void analyse_put_origin(struct analyse_text *t, const struct weft_model *m, uint32_t promise)
{
    enum { CREATORS = 3, ANCESTORS = 16 };
    unsigned put = 0;
    uint32_t p = promise;
    for (unsigned i = 0; i < ANCESTORS && put < CREATORS && p != WEFT_ROOT; i++) {
        p = m->promise[p].creator;
        if (p == WEFT_ROOT || weft_model_name(m, p) == WEFT_NONE)
            continue;
        analyse_put_format(t, "%s %s", put == 0 ? ", created by" : " for",
                           analyse_as_name(m, p).text);
        put++;
    }
}

const char *analyse_outcome_verb(const struct weft_model *m, uint32_t promise)
{
    static const enum analyse_sentence verbs[WEFT_OUTCOME_COUNT] = {
        [WEFT_PENDING] = SAY_IS_PENDING,      [WEFT_BECAME] = SAY_IS_PENDING,
        [WEFT_FULFILLED] = SAY_WAS_FULFILLED, [WEFT_FAILED] = SAY_FAILED,
        [WEFT_RESOLVED] = SAY_WAS_RESOLVED,   [WEFT_CANCELLED] = SAY_WAS_CANCELLED,
        [WEFT_FORGOTTEN] = SAY_WAS_DROPPED,
    };
    const uint32_t outcome = m->promise[weft_model_final(m, promise)].outcome;
    return analyse_sentence_text(outcome < WEFT_OUTCOME_COUNT ? verbs[outcome] : SAY_IS_PENDING);
}

char *analyse_text_take(struct analyse_text *t)
{
    char *text = t->failed ? NULL : t->text;
    if (t->failed)
        free(t->text);
    *t = (struct analyse_text){0};
    return text;
}

void analyse_text_fini(struct analyse_text *t)
{
    free(t->text);
    *t = (struct analyse_text){0};
}

/* ---- Families ---- */

uint32_t analyse_shape(char *out, const char *label, uint32_t size)
{
    uint32_t used = 0;
    size = size < FAMILY_BYTES ? size : FAMILY_BYTES;
    for (uint32_t i = 0; i < size; i++) {
        bool digit = label[i] >= '0' && label[i] <= '9';
        if (!digit || used == 0 || out[used - 1] != '#')
            out[used++] = digit ? '#' : label[i];
    }
    return used;
}

/* Maps texts to families: the shape is computed once for each text that is a label. */
struct maker {
    const struct weft_model *m;
    struct analyse_families *f;
    struct weft_strings *shapes;
    uint32_t *shape_of; /* by text; WEFT_NONE: not set yet */
    uint32_t texts;
    struct analyse_pairs sorts; /* type, shape; with the numbers of families */
    uint32_t room;
};

static uint32_t shape_of(struct maker *k, uint32_t text)
{
    char out[FAMILY_BYTES];
    if (k->shape_of[text] == WEFT_NONE) {
        uint32_t size;
        const char *label = weft_model_text(k->m, text, &size);
        k->shape_of[text] = weft_strings_add(k->shapes, out, analyse_shape(out, label, size));
    }
    return k->shape_of[text];
}

static bool add_family(struct maker *k, uint32_t promise)
{
    struct analyse_families *f = k->f;
    if (f->count == k->room) {
        uint32_t room = k->room ? 2 * k->room : 64;
        uint32_t *first = weft_resize(f->first, room, sizeof *first);
        f->first = first ? first : f->first;
        uint32_t *size = weft_resize(f->size, room, sizeof *size);
        f->size = size ? size : f->size;
        bool *differs = weft_resize(f->differs, room, sizeof *differs);
        f->differs = differs ? differs : f->differs;
        if (!first || !size || !differs)
            return false;
        k->room = room;
    }
    f->first[f->count] = promise;
    f->size[f->count] = 0;
    f->differs[f->count++] = false;
    return true;
}

static bool place(struct maker *k, uint32_t promise)
{
    uint32_t name = weft_model_name(k->m, promise), of = WEFT_NONE;
    if (name != WEFT_NONE && (of = shape_of(k, name)) == WEFT_STRINGS_NONE)
        return false;
    uint32_t family = analyse_pairs_add(&k->sorts, k->m->promise[promise].type, of);
    if (family == WEFT_NONE || (family == k->f->count && !add_family(k, promise)))
        return false;
    k->f->of[promise] = family;
    k->f->size[family]++;
    k->f->differs[family] |= weft_model_name(k->m, k->f->first[family]) != name;
    return true;
}

int analyse_families_init(struct analyse_families *f, const struct weft_model *m)
{
    struct maker k = {.m = m, .f = f, .shapes = weft_strings_new()};
    *f = (struct analyse_families){.of = weft_resize(NULL, m->promises, sizeof *f->of)};
    k.texts = weft_strings_count(m->strings);
    k.shape_of = weft_resize(NULL, (uint64_t)k.texts + 1, sizeof *k.shape_of);
    bool ok = f->of && k.shapes && k.shape_of &&
              analyse_pairs_add(&k.sorts, WEFT_NONE, WEFT_NONE) == 0 && add_family(&k, WEFT_ROOT);
    if (ok) {
        memset(k.shape_of, 0xff, k.texts * sizeof *k.shape_of);
        f->of[WEFT_ROOT] = 0;
        f->size[0] = 1;
    }
    for (uint32_t p = 1; ok && p < m->promises; p++)
        ok = place(&k, p);
    weft_strings_free(k.shapes);
    free(k.shape_of);
    analyse_pairs_fini(&k.sorts);
    if (!ok)
        analyse_families_fini(f);
    return ok ? 0 : WEFT_E_NOMEM;
}

void analyse_families_fini(struct analyse_families *f)
{
    free(f->of);
    free(f->first);
    free(f->size);
    free(f->differs);
    *f = (struct analyse_families){0};
}

void analyse_put_family(struct analyse_text *t, const struct weft_model *m,
                        const struct analyse_families *f, uint32_t family)
{
    uint32_t size, promise = f->first[family], name = weft_model_name(m, promise);
    char out[FAMILY_BYTES];
    bool alike = f->differs ? !f->differs[family] : f->size[family] == 1;
    if (alike || name == WEFT_NONE) {
        if (name != WEFT_NONE || promise == WEFT_ROOT)
            analyse_put_name(t, m, promise);
        else
            analyse_put_format(t, "%.64s", weft_model_type(m, promise));
        return;
    }
    const char *label = weft_model_text(m, name, &size);
    analyse_put_format(t, "%s", quoted(out, analyse_shape(out, label, size)).text);
}
