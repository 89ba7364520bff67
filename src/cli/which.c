/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "cli/explain.h"
#include "base/array.h"
#include "model/strings.h"

/* How a text matches what was asked for. */
enum {
    LOOKED_AT = 1,
    WHOLE = 2,  /* the label */
    SHAPE = 4,  /* the label, apart from its numbers */
    PART = 8,   /* a part of the label */
    BEHIND = 16 /* the type, a space, and the label or its shape */
};

struct finder {
    const struct weft_model *m;
    const struct analyse_families *families;
    const char *which;
    size_t size;
    unsigned char *flags; /* by text */
};

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool has_part(const char *text, uint32_t size, const char *part, size_t part_size)
{
    for (size_t at = 0; at + part_size <= size; at++) {
        size_t i = 0;
        while (i < part_size && small(text[at + i]) == small(part[i]))
            i++;
        if (i == part_size)
            return true;
    }
    return false;
}

static bool same(const char *a, size_t a_size, const char *b, size_t b_size)
{
    return a_size == b_size && memcmp(a, b, a_size) == 0;
}

static unsigned flags_of(struct finder *f, uint32_t text)
{
    char shape[ANALYSE_SHAPE_BYTES];
    uint32_t size;
    unsigned char *flags = &f->flags[text];
    if (*flags)
        return *flags;
    const char *label = weft_model_text(f->m, text, &size);
    uint32_t shape_size = analyse_shape(shape, label, size);
    *flags = LOOKED_AT;
    if (same(label, size, f->which, f->size))
        *flags |= WHOLE;
    if (same(shape, shape_size, f->which, f->size))
        *flags |= SHAPE;
    if (has_part(label, size, f->which, f->size))
        *flags |= PART;
    if (size < f->size && same(label, size, f->which + f->size - size, size))
        *flags |= BEHIND;
    if (shape_size < f->size &&
        same(shape, shape_size, f->which + f->size - shape_size, shape_size))
        *flags |= BEHIND;
    return *flags;
}

/* The ways of matching names, in the order they are tried. */
enum way { LABEL, SHAPED, TYPE, TYPE_AND_LABEL, PART_OF_LABEL, WAYS };

static bool type_and_label(struct finder *f, uint32_t promise, uint32_t name)
{
    char shape[ANALYSE_SHAPE_BYTES];
    const char *type = weft_model_type(f->m, promise);
    size_t n = strlen(type);
    if (!(flags_of(f, name) & BEHIND) || n + 1 >= f->size || f->which[n] != ' ' ||
        memcmp(type, f->which, n) != 0)
        return false;
    uint32_t size;
    const char *label = weft_model_text(f->m, name, &size), *rest = f->which + n + 1;
    return same(label, size, rest, f->size - n - 1) ||
           same(shape, analyse_shape(shape, label, size), rest, f->size - n - 1);
}

static bool matches(struct finder *f, uint32_t promise, enum way way)
{
    static const unsigned flag[WAYS] = {[LABEL] = WHOLE, [SHAPED] = SHAPE, [PART_OF_LABEL] = PART};
    uint32_t name = weft_model_name(f->m, promise);
    if (way == TYPE)
        return strcmp(weft_model_type(f->m, promise), f->which) == 0;
    if (name == WEFT_NONE)
        return false;
    return way == TYPE_AND_LABEL ? type_and_label(f, promise, name)
                                 : (flags_of(f, name) & flag[way]) != 0;
}

static uint32_t shape_of(const struct weft_model *m, uint32_t promise, char *out)
{
    uint32_t size, name = weft_model_name(m, promise);
    if (name == WEFT_NONE)
        return 0;
    const char *label = weft_model_text(m, name, &size);
    return analyse_shape(out, label, size);
}

bool cli_are_alike(const struct weft_model *m, const uint32_t *promise, uint32_t count)
{
    char first[ANALYSE_SHAPE_BYTES], other[ANALYSE_SHAPE_BYTES];
    uint32_t size = shape_of(m, promise[0], first), last = weft_model_name(m, promise[0]);
    for (uint32_t i = 1; i < count; i++) {
        uint32_t name = weft_model_name(m, promise[i]);
        if (name == last)
            continue;
        last = name;
        if (!same(first, size, other, shape_of(m, promise[i], other)))
            return false;
    }
    return true;
}

/* Lists the candidates: families, in order of their first promise. */
static void say_ambiguous(const struct finder *f, const struct cli_which *w)
{
    enum { LISTED = 10 };
    uint32_t family[LISTED], count[LISTED] = {0}, example[LISTED], listed = 0, others = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t of = f->families->of[w->promise[i]], k = 0;
        while (k < listed && family[k] != of)
            k++;
        others += k == LISTED;
        if (k == LISTED)
            continue;
        if (k == listed) {
            family[listed] = of;
            example[listed++] = w->promise[i];
        }
        count[k]++;
    }
    cli_say("explain",
            "--promise \"%s\" could mean different ones; give one of these labels, or a number:",
            cli_shown(f->which).text);
    for (uint32_t k = 0; k < listed; k++) {
        struct analyse_text t = {0};
        analyse_put_family(&t, f->m, f->families, family[k]);
        fprintf(stderr, "  %8s  %s (%s), for instance #%" PRId64 "\n", weft_count(count[k]).text,
                t.text ? t.text : "", cli_shown(weft_model_type(f->m, example[k])).text,
                (int64_t)f->m->promise[example[k]].id);
        analyse_text_fini(&t);
    }
    if (others)
        fprintf(stderr, "  %8s  more\n", weft_count(others).text);
}

static bool by_label(struct finder *f, struct cli_which *out)
{
    const struct weft_model *m = f->m;
    f->flags = calloc((size_t)weft_strings_count(m->strings) + 1, 1);
    out->promise = weft_resize(NULL, m->promises, sizeof *out->promise);
    if (!f->flags || !out->promise)
        return cli_say("explain", "%s", weft_error_name(WEFT_E_NOMEM));
    for (enum way way = LABEL; way < WAYS && out->count == 0; way++) {
        for (uint32_t p = 1; p < m->promises; p++)
            if (matches(f, p, way))
                out->promise[out->count++] = p;
        if (way == PART_OF_LABEL && out->count && !cli_are_alike(m, out->promise, out->count)) {
            say_ambiguous(f, out);
            return false;
        }
    }
    return out->count ||
           cli_say("explain", "--promise \"%s\": no promise has this number, label or type",
                   cli_shown(f->which).text);
}

bool cli_which_find(struct cli_which *out, const struct weft_model *m,
                    const struct analyse_families *families, const char *which)
{
    struct finder f = {m, families, which, strlen(which), NULL};
    *out = (struct cli_which){0};
    if (f.size == 0)
        return cli_say("explain", "--promise wants the number or the label of a promise");
    bool ok = by_label(&f, out);
    free(f.flags);
    return ok;
}
