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
    t->failed = t->failed || !weft_reserve_all(&t->text, t->size + more + 1, &t->room, 1);
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

void analyse_put_place(struct analyse_text *t, const struct weft_model *m, uint32_t place)
{
    const struct weft_place *p = &m->origin[place];
    analyse_put_format(t, "%.200s", weft_model_text(m, p->file, NULL));
    if (p->line)
        analyse_put_format(t, ":%" PRIu32, p->line);
}

void analyse_put_full(struct analyse_text *t, const struct weft_model *m, uint32_t promise)
{
    analyse_put_name(t, m, promise);
    if (promise != WEFT_ROOT && weft_model_name(m, promise) != WEFT_NONE)
        analyse_put_format(t, " (%s)", numbered(m, promise).text);
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

/* The number of a label's shape, which is computed once for each text. UINT32_MAX: no memory. */
static uint32_t shape_of(const struct weft_model *m, struct weft_strings *shapes, uint32_t *number,
                         uint32_t text)
{
    char out[FAMILY_BYTES];
    uint32_t size;
    if (number[text] == WEFT_NONE) {
        const char *label = weft_model_text(m, text, &size);
        number[text] = weft_strings_add(shapes, out, analyse_shape(out, label, size));
    }
    return number[text];
}

static bool begin_list(struct analyse_families *f)
{
    f->first = weft_new_none(f->count, sizeof *f->first);
    f->size = calloc(f->count, sizeof *f->size);
    f->differs = calloc(f->count, sizeof *f->differs);
    return f->first && f->size && f->differs;
}

static void list_promise(struct analyse_families *f, const struct weft_model *m, uint32_t p)
{
    const uint32_t family = f->of[p];
    if (f->size[family]++ == 0)
        f->first[family] = p;
    f->differs[family] |= weft_model_name(m, p) != weft_model_name(m, f->first[family]);
}

bool analyse_families_list(struct analyse_families *f, const struct weft_model *m)
{
    const bool ok = begin_list(f);
    for (uint32_t p = 0; ok && p < m->promises; p++)
        list_promise(f, m, p);
    return ok;
}

int analyse_sorting_begin(struct analyse_sorting *s, const struct weft_model *m,
                          analyse_name_fn *name_of, bool exact)
{
    *s = (struct analyse_sorting){.m = m, .name_of = name_of, .exact = exact, .at = 1};
    s->f.of = weft_resize(NULL, m->promises, sizeof *s->f.of);
    s->sorts = calloc(1, sizeof *s->sorts); /* of a type, and a text or its shape */
    s->shapes = weft_strings_new();
    s->shape = weft_new_none((uint64_t)weft_strings_count(m->strings) + 1, sizeof *s->shape);
    bool ok = s->f.of && s->sorts && s->shapes && s->shape &&
              (s->f.of[WEFT_ROOT] = analyse_pairs_add(s->sorts, WEFT_NONE, WEFT_NONE)) == 0;
    return ok ? 0 : WEFT_E_NOMEM;
}

static bool sort_promise(struct analyse_sorting *s, uint32_t p)
{
    uint32_t text = s->name_of ? s->name_of(s->m, p) : WEFT_NONE;
    if (text != WEFT_NONE && !s->exact) {
        text = shape_of(s->m, s->shapes, s->shape, text);
        if (text == WEFT_NONE)
            return false;
    }
    s->f.of[p] = analyse_pairs_add(s->sorts, s->m->promise[p].type, text);
    return s->f.of[p] != WEFT_NONE;
}

int analyse_sorting_work(struct analyse_sorting *s, uint32_t *steps)
{
    for (; s->at < s->m->promises && *steps; s->at++, --*steps) {
        if (s->listing)
            list_promise(&s->f, s->m, s->at);
        else if (!sort_promise(s, s->at))
            return WEFT_E_NOMEM;
    }
    if (s->at < s->m->promises)
        return 1;
    if (s->listing)
        return 0;
    s->listing = true;
    s->f.count = s->sorts->count;
    s->at = 0;
    return begin_list(&s->f) ? 1 : WEFT_E_NOMEM;
}

void analyse_sorting_end(struct analyse_sorting *s)
{
    analyse_families_fini(&s->f);
    weft_strings_free(s->shapes);
    if (s->sorts)
        analyse_pairs_fini(s->sorts);
    weft_free_all(s->sorts, s->shape);
    *s = (struct analyse_sorting){.at = 0};
}

int analyse_sorts_init(struct analyse_families *f, const struct weft_model *m,
                       analyse_name_fn *name_of, bool exact)
{
    struct analyse_sorting s;
    int rc = analyse_sorting_begin(&s, m, name_of, exact);
    for (uint32_t steps = rc == 0; steps;) {
        steps = UINT32_MAX;
        rc = analyse_sorting_work(&s, &steps);
        if (rc <= 0)
            break;
    }
    *f = (struct analyse_families){.count = 0};
    if (rc == 0) {
        *f = s.f;
        s.f = (struct analyse_families){.count = 0};
    }
    analyse_sorting_end(&s);
    return rc;
}

int analyse_families_init(struct analyse_families *f, const struct weft_model *m)
{
    return analyse_sorts_init(f, m, weft_model_name, false);
}

void analyse_families_fini(struct analyse_families *f)
{
    weft_free_all(f->of, f->first, f->size, f->differs);
    *f = (struct analyse_families){0};
}

void analyse_put_family(struct analyse_text *t, const struct weft_model *m,
                        const struct analyse_families *f, uint32_t family)
{
    uint32_t size, promise = f->first[family], name = weft_model_name(m, promise);
    char out[FAMILY_BYTES];
    if (!f->differs[family] || name == WEFT_NONE) {
        if (name != WEFT_NONE || promise == WEFT_ROOT)
            analyse_put_name(t, m, promise);
        else
            analyse_put_format(t, "%.64s", weft_model_type(m, promise));
        return;
    }
    const char *label = weft_model_text(m, name, &size);
    analyse_put_format(t, "%s", quoted(out, analyse_shape(out, label, size)).text);
}
