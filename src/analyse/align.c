/* SPDX-License-Identifier: ISC */
#include "analyse/align.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/names.h"
#include "base/array.h"
#include "base/order.h"

#define ANY_LABEL (WEFT_NONE - 1) /* of a type that has as many labels as promises */
enum {
    NESTED = 8
}; /* how deep promises without a counterpart may be nested; a file may nest them deeper */

/* ---- Comparing the same program with mirage-profile's Lwt and with an Lwt that reports to weft
 * ----
 * mirage-profile's traces say less: there are fewer types, no names except those that the program
 * gives, and what ran when the recording began is a promise and not the loop. If runs of both are
 * compared, all are read as mirage-profile would have written them. */

/* The names of Lwt's types in mirage-profile's traces. */
static const struct {
    const char *is, *was;
} types[] = {
    {"catch", "try"},      {"both", "join"},      {"all", "join"},    {"pause", "task"},
    {"sleep", "task"},     {"io", "task"},        {"job", "task"},    {"mvar", "task"},
    {"protected", "task"}, {"no_cancel", "wait"}, {"stream", "wait"},
};

/* Returns true if nobody chose this name: it is a place in OCaml's sources, or a module of
 * Lwt's. */
static bool is_place(const char *name, uint32_t size)
{
    static const char end[] = ".ml:";
    if (size >= 3 && memcmp(name, "Lwt", 3) == 0 && !memchr(name, ' ', size))
        return true;
    while (size && name[size - 1] >= '0' && name[size - 1] <= '9')
        size--;
    return size >= sizeof end - 1 &&
           memcmp(name + size - (sizeof end - 1), end, sizeof end - 1) == 0;
}

/* The text that identifies a promise, or WEFT_NONE. */
static uint32_t name_of(const struct analyse_side *side, uint32_t promise)
{
    const struct weft_model *m = side->h->m;
    uint32_t size;
    if (!side->as_mirage)
        return weft_model_name(m, promise);
    for (uint32_t l = m->promise[promise].first_label; l != WEFT_NONE; l = m->label[l].next) {
        if (m->label[l].is_change)
            continue;
        const char *name = weft_model_text(m, m->label[l].what, &size);
        if (!is_place(name, size))
            return m->label[l].what;
    }
    return WEFT_NONE;
}

/* Returns true if the other format has no promise for it: mirage-profile has none for what stands
 * for the loop or for a place in the queue of a condition; weft has none for a lock, a pool and the
 * program's end. */
static bool is_none(const struct analyse_side *side, uint32_t promise)
{
    const struct weft_model *m = side->h->m;
    const struct weft_promise *p = &m->promise[promise];
    const char *type = weft_model_type(m, promise);
    if (!side->as_mirage)
        return false;
    if (!m->quirks.mirage_kinds)
        return strcmp(type, "mutex") == 0 || strcmp(type, "pool") == 0 || strcmp(type, "main") == 0;
    return p->creator == WEFT_ROOT ? !p->created
                                   : strcmp(weft_model_type(m, p->creator), "condition") == 0;
}

/* ---- Kinds ---- */

struct texts { /* by text of one model: its number here, or WEFT_NONE: not set yet */
    uint32_t *type, *shape;
};

static bool number_text(struct analyse_sides *s, const struct weft_model *m, uint32_t text,
                        uint32_t *number)
{
    uint32_t size;
    if (*number == WEFT_NONE) {
        const char *bytes = weft_model_text(m, text, &size);
        *number = weft_strings_add(s->texts, bytes, size);
    }
    return *number != WEFT_STRINGS_NONE;
}

static bool number_label(struct analyse_sides *s, struct analyse_side *side, uint32_t text,
                         uint32_t *shape)
{
    char out[ANALYSE_SHAPE_BYTES];
    uint32_t size;
    if (!number_text(s, side->h->m, text, &side->label[text]))
        return false;
    if (*shape == WEFT_NONE) {
        const char *label = weft_model_text(side->h->m, text, &size);
        *shape = weft_strings_add(s->texts, out, analyse_shape(out, label, size));
    }
    return *shape != WEFT_STRINGS_NONE;
}

static bool number_type(struct analyse_sides *s, const struct analyse_side *side, uint32_t promise,
                        uint32_t *number)
{
    const struct weft_model *m = side->h->m;
    for (size_t i = 0; side->as_mirage && *number == WEFT_NONE && i < sizeof types / sizeof *types;
         i++)
        if (strcmp(weft_model_type(m, promise), types[i].is) == 0)
            *number = weft_strings_add(s->texts, types[i].was, (uint32_t)strlen(types[i].was));
    return number_text(s, m, m->promise[promise].type, number);
}

static bool number_kind(struct analyse_sides *s, struct analyse_side *side, struct texts *t,
                        uint32_t promise)
{
    const struct weft_model *m = side->h->m;
    uint32_t type = m->promise[promise].type, name = name_of(side, promise), shape = WEFT_NONE;
    if (!number_type(s, side, promise, &t->type[type]))
        return false;
    if (name != WEFT_NONE) {
        if (!number_label(s, side, name, &t->shape[name]))
            return false;
        shape = t->shape[name];
    }
    side->kind[promise] = analyse_pairs_add(&s->kinds, t->type[type], shape);
    return side->kind[promise] != WEFT_NONE;
}

static bool number_kinds(struct analyse_sides *s, struct analyse_side *side)
{
    const struct weft_model *m = side->h->m;
    uint64_t texts = (uint64_t)weft_strings_count(m->strings) + 1;
    struct texts t = {weft_resize(NULL, texts, sizeof *t.type),
                      weft_resize(NULL, texts, sizeof *t.shape)};
    side->kind = weft_resize(NULL, m->promises, sizeof *side->kind);
    side->clan = weft_resize(NULL, m->promises, sizeof *side->clan);
    side->label = weft_resize(NULL, texts, sizeof *side->label);
    bool ok = t.type && t.shape && side->kind && side->clan && side->label;
    if (ok) {
        memset(t.type, 0xff, texts * sizeof *t.type);
        memset(t.shape, 0xff, texts * sizeof *t.shape);
        memset(side->label, 0xff, texts * sizeof *side->label);
        memset(side->clan, 0xff, m->promises * sizeof *side->clan);
        side->kind[WEFT_ROOT] = 0;
    }
    for (uint32_t p = 1; ok && p < m->promises; p++)
        ok = number_kind(s, side, &t, p);
    free(t.type);
    free(t.shape);
    return ok;
}

/* What is known about the labels of one type. */
struct labels {
    uint32_t kinds, alone; /* how many kinds there are; how many of them are in one run only */
    uint64_t promises;
};

/* If nearly every promise of a type has its own label (a name, a path, a hash), labels do not show
 * what is of one sort: then only the type counts. */
static bool join_kinds(struct analyse_sides *s)
{
    enum { MANY = 64 };
    uint32_t kinds = s->kinds.count, types = weft_strings_count(s->texts) + 1;
    struct labels *of = calloc(types, sizeof *of);
    /* the run it was seen in; UINT32_MAX - 1: several */
    uint32_t *seen = weft_resize(NULL, kinds, sizeof *seen);
    bool ok = of && seen;
    if (ok)
        memset(seen, 0xff, kinds * sizeof *seen);
    for (uint32_t i = 0; ok && i < s->count; i++)
        for (uint32_t p = 1; p < s->side[i].h->m->promises; p++) {
            uint32_t kind = s->side[i].kind[p];
            seen[kind] = seen[kind] == WEFT_NONE || seen[kind] == i ? i : WEFT_NONE - 1;
            of[s->kinds.pair[kind].a].promises += s->kinds.pair[kind].b != WEFT_NONE;
        }
    for (uint32_t k = 1; ok && k < kinds; k++) {
        struct labels *l = &of[s->kinds.pair[k].a];
        l->kinds += s->kinds.pair[k].b != WEFT_NONE;
        l->alone += s->kinds.pair[k].b != WEFT_NONE && seen[k] < s->count;
    }
    for (uint32_t k = 1; ok && k < kinds; k++) { /* the kind it is joined with */
        struct analyse_pair pair = s->kinds.pair[k];
        const struct labels *l = &of[pair.a];
        bool join = pair.b != WEFT_NONE && l->kinds > MANY && l->alone > l->kinds / 2 &&
                    l->promises < 3 * (uint64_t)l->kinds;
        seen[k] = join ? analyse_pairs_add(&s->kinds, pair.a, ANY_LABEL) : k;
        ok = seen[k] != WEFT_NONE;
    }
    for (uint32_t i = 0; ok && i < s->count; i++)
        for (uint32_t p = 1; p < s->side[i].h->m->promises; p++)
            s->side[i].kind[p] = seen[s->side[i].kind[p]];
    free(of);
    free(seen);
    return ok;
}

/* ---- Clans ---- */

/* The clan of a kind whose creator is of another clan. */
static uint32_t clan_below(struct analyse_pairs *clans, uint32_t above, uint32_t kind)
{
    enum { STEPS = 8 };
    uint32_t at = above;
    for (unsigned i = 0; i < STEPS && at != 0; i++, at = clans->pair[at].a)
        if (clans->pair[at].b == kind)
            return at;
    return analyse_pairs_add(clans, above, kind);
}

static bool number_clans(struct analyse_sides *s, struct analyse_side *side)
{
    const struct weft_history *h = side->h;
    uint32_t *queue = weft_resize(NULL, h->m->promises, sizeof *queue), end = 0;
    if (!queue)
        return false;
    side->clan[WEFT_ROOT] = 0;
    queue[end++] = WEFT_ROOT;
    bool ok = true;
    for (uint32_t at = 0; at < end && ok; at++)
        for (uint32_t i = h->children_first[queue[at]]; i < h->children_first[queue[at] + 1] && ok;
             i++) {
            uint32_t child = h->children[i];
            side->clan[child] = is_none(side, child) ? 0
                                                     : clan_below(&s->clans, side->clan[queue[at]],
                                                                  side->kind[child]);
            ok = side->clan[child] != WEFT_NONE;
            queue[end++] = child;
        }
    free(queue);
    return ok;
}

int analyse_sides_init(struct analyse_sides *s, const struct weft_history *const *h, uint32_t count)
{
    *s = (struct analyse_sides){.count = count, .texts = weft_strings_new()};
    s->side = calloc(count, sizeof *s->side);
    bool ok = s->texts && s->side && analyse_pairs_add(&s->kinds, WEFT_NONE, WEFT_NONE) == 0 &&
              analyse_pairs_add(&s->clans, WEFT_NONE, 0) == 0;
    bool both = false;
    for (uint32_t i = 1; i < count; i++)
        both |= h[i]->m->quirks.mirage_kinds != h[0]->m->quirks.mirage_kinds;
    for (uint32_t i = 0; i < count && ok; i++) {
        s->side[i].h = h[i];
        s->side[i].as_mirage = both;
        ok = number_kinds(s, &s->side[i]);
    }
    ok = ok && join_kinds(s);
    for (uint32_t i = 0; i < count && ok; i++)
        ok = number_clans(s, &s->side[i]);
    if (!ok)
        analyse_sides_fini(s);
    return ok ? 0 : WEFT_E_NOMEM;
}

void analyse_sides_fini(struct analyse_sides *s)
{
    for (uint32_t i = 0; s->side && i < s->count; i++) {
        free(s->side[i].kind);
        free(s->side[i].clan);
        free(s->side[i].label);
    }
    free(s->side);
    weft_strings_free(s->texts);
    analyse_pairs_fini(&s->kinds);
    analyse_pairs_fini(&s->clans);
    *s = (struct analyse_sides){0};
}

/* ---- Alignment ---- */

struct child {
    uint32_t type, kind, label, promise;
};

struct aligner {
    const struct analyse_pairs *kinds;
    const struct analyse_side *a, *b;
    uint32_t *b_of_a, *a_of_b;
    struct child *of_a, *of_b, *spare;
};

static int by_label(const void *x, const void *y)
{
    const struct child *a = x, *b = y;
    WEFT_ORDER(a->kind, b->kind);
    WEFT_ORDER(a->label, b->label);
    return weft_order(a->promise, b->promise);
}

static int by_order(const void *x, const void *y)
{
    const struct child *a = x, *b = y;
    WEFT_ORDER(a->kind, b->kind);
    return weft_order(a->promise, b->promise);
}

static void sort_children(struct child *list, uint32_t count,
                          int (*order)(const void *, const void *))
{
    uint32_t i = 1;
    while (i < count && order(&list[i - 1], &list[i]) < 0)
        i++;
    if (i < count) /* they are often in order already */
        qsort(list, count, sizeof *list, order);
}

static int by_type(const void *x, const void *y)
{
    const struct child *a = x, *b = y;
    WEFT_ORDER(a->type, b->type);
    if ((a->label == WEFT_NONE) != (b->label == WEFT_NONE))
        return a->label == WEFT_NONE ? -1 : 1;
    return weft_order(a->promise, b->promise);
}

static uint32_t children_of(const struct aligner *k, const struct analyse_side *s, uint32_t promise,
                            unsigned depth, struct child *out)
{
    const struct weft_history *h = s->h;
    uint32_t count = 0;
    analyse_each(i, h->children_first, promise) {
        uint32_t child = h->children[i], name = name_of(s, child);
        if (depth < NESTED && is_none(s, child)) { /* its children count as the loop's */
            count += children_of(k, s, child, depth + 1, out + count);
            continue;
        }
        out[count++] = (struct child){k->kinds->pair[s->kind[child]].a, s->kind[child],
                                      name == WEFT_NONE ? WEFT_NONE : s->label[name], child};
    }
    return count;
}

static void join_equal(struct aligner *k, uint32_t a, uint32_t b)
{
    k->b_of_a[a] = b;
    k->a_of_b[b] = a;
}

/* Joins equal entries of two sorted lists, and leaves the rest at the beginning of the lists. */
static void merge_lists(struct aligner *k, uint32_t *as, uint32_t *bs, bool labels)
{
    uint32_t i = 0, j = 0, rest_a = 0, rest_b = 0;
    while (i < *as || j < *bs) {
        const struct child *a = i < *as ? &k->of_a[i] : NULL, *b = j < *bs ? &k->of_b[j] : NULL;
        int order = !a ? 1 : !b ? -1 : a->kind < b->kind ? -1 : a->kind > b->kind;
        if (a && b && order == 0 && labels)
            order = a->label < b->label ? -1 : a->label > b->label;
        if (order == 0) {
            join_equal(k, a->promise, b->promise);
            i++;
            j++;
        } else if (order < 0) {
            k->of_a[rest_a++] = k->of_a[i++];
        } else {
            k->of_b[rest_b++] = k->of_b[j++];
        }
    }
    *as = rest_a;
    *bs = rest_b;
}

/* Counts the promises at the beginning of a list that have that type and no label yet. */
static uint32_t count_nameless(const struct analyse_side *s, const struct child *list,
                               uint32_t count, uint32_t type)
{
    uint32_t n = 0;
    while (n < count && list[n].type == type && list[n].label == WEFT_NONE &&
           s->h->m->promise[list[n].promise].outcome == WEFT_PENDING)
        n++;
    return n;
}

/* Removes entries with a counterpart from a list. */
static void drop_joined(struct child *list, uint32_t *count, const uint32_t *other)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++)
        if (other[list[i].promise] == WEFT_NONE)
            list[kept++] = list[i];
    *count = kept;
}

/* Joins pending promises without a label with promises of the other run that have one: the label
 * may come later. Only one of the lists has such promises of a type; all others are joined
 * already. */
static void join_nameless(struct aligner *k, uint32_t *as, uint32_t *bs)
{
    uint32_t i = 0, j = 0;
    sort_children(k->of_a, *as, by_type);
    sort_children(k->of_b, *bs, by_type);
    while (i < *as && j < *bs) {
        uint32_t type_a = k->of_a[i].type, type_b = k->of_b[j].type;
        uint32_t type = type_a < type_b ? type_a : type_b;
        uint32_t end_a = i, end_b = j;
        while (end_a < *as && k->of_a[end_a].type == type)
            end_a++;
        while (end_b < *bs && k->of_b[end_b].type == type)
            end_b++;
        uint32_t n = count_nameless(k->a, k->of_a + i, end_a - i, type) +
                     count_nameless(k->b, k->of_b + j, end_b - j, type);
        for (; n && i < end_a && j < end_b; n--)
            join_equal(k, k->of_a[i++].promise, k->of_b[j++].promise);
        i = end_a;
        j = end_b;
    }
    drop_joined(k->of_a, as, k->b_of_a);
    drop_joined(k->of_b, bs, k->a_of_b);
}

/* Returns true if a promise ended well. */
static bool is_well(const struct analyse_side *s, uint32_t promise)
{
    const struct weft_promise *p = &s->h->m->promise[weft_model_final(s->h->m, promise)];
    return p->outcome == WEFT_FULFILLED || p->outcome == WEFT_RESOLVED;
}

/* Returns true if a promise of run b took far longer than one of run a. */
static bool is_slow(const struct aligner *k, uint32_t b, uint32_t a)
{
    int64_t was = weft_history_ended_ns(k->a->h, a) - k->a->h->m->promise[a].start_ns;
    int64_t is = weft_history_ended_ns(k->b->h, b) - k->b->h->m->promise[b].start_ns;
    return is / 3 > was && is - was > 5000000;
}

/* If run a has fewer promises of a kind than b, prefers to leave those of b without a counterpart
 * that went well. list: those without; parent: whose children they are. Both are sorted by kind. */
static void prefer_unwell(struct aligner *k, const struct child *list, uint32_t count,
                          uint32_t parent)
{
    uint32_t all = count ? children_of(k, k->b, parent, 0, k->spare) : 0, at = 0;
    sort_children(k->spare, all, by_order);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t unwell = list[i].promise;
        bool well = is_well(k->b, unwell), found = false;
        if (k->b->h->m->promise[unwell].background)
            continue;
        for (; at < all && k->spare[at].kind <= list[i].kind && !found; at++) {
            uint32_t other = k->spare[at].promise, a = k->a_of_b[other];
            found = k->spare[at].kind == list[i].kind && a != WEFT_NONE && is_well(k->b, other) &&
                    is_well(k->a, a) && (!well || (is_slow(k, unwell, a) && !is_slow(k, other, a)));
            if (!found && well && k->spare[at].kind == list[i].kind)
                break;
            if (!found)
                continue;
            k->a_of_b[other] = WEFT_NONE;
            join_equal(k, a, unwell);
        }
    }
}

/* Treats all promises with labels as one kind; drops the others. */
static void drop_types(struct child *list, uint32_t *count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++)
        if (list[i].label != WEFT_NONE)
            list[kept++] = (struct child){0, 0, list[i].label, list[i].promise};
    *count = kept;
}

static void align_children(struct aligner *k, uint32_t a, uint32_t b)
{
    uint32_t as = children_of(k, k->a, a, 0, k->of_a), bs = children_of(k, k->b, b, 0, k->of_b);
    if (as == 0 || bs == 0)
        return;
    sort_children(k->of_a, as, by_label);
    sort_children(k->of_b, bs, by_label);
    merge_lists(k, &as, &bs, true);
    sort_children(k->of_a, as, by_order);
    sort_children(k->of_b, bs, by_order);
    merge_lists(k, &as, &bs, false);
    join_nameless(k, &as, &bs);
    sort_children(k->of_a, as, by_order);
    sort_children(k->of_b, bs, by_order);
    struct aligner back = *k; /* the same in the other direction */
    back.a = k->b;
    back.b = k->a;
    back.a_of_b = k->b_of_a;
    back.b_of_a = k->a_of_b;
    prefer_unwell(k, k->of_b, bs, b);
    prefer_unwell(&back, k->of_a, as, a);
    drop_joined(k->of_a, &as, k->b_of_a);
    drop_joined(k->of_b, &bs, k->a_of_b);
    drop_types(k->of_a, &as);
    drop_types(k->of_b, &bs);
    sort_children(k->of_a, as, by_label);
    sort_children(k->of_b, bs, by_label);
    merge_lists(k, &as, &bs, true);
}

static uint32_t most_children(const struct analyse_side *s)
{
    const struct weft_history *h = s->h;
    uint32_t most = 0, of_loop = 0;
    for (uint32_t p = 0; p < h->m->promises; p++) {
        uint32_t n = h->children_first[p + 1] - h->children_first[p];
        of_loop += p == WEFT_ROOT || is_none(s, p) ? n : 0;
        most = n > most ? n : most;
    }
    return of_loop > most ? of_loop : most;
}

static uint32_t *new_empty_list(uint32_t count)
{
    uint32_t *list = weft_resize(NULL, count, sizeof *list);
    if (list)
        memset(list, 0xff, count * sizeof *list);
    return list;
}

int analyse_align(const struct analyse_sides *s, uint32_t a, uint32_t b, uint32_t **b_of_a,
                  uint32_t **a_of_b)
{
    struct aligner k = {.kinds = &s->kinds, .a = &s->side[a], .b = &s->side[b]};
    const struct weft_model *of_a = k.a->h->m, *of_b = k.b->h->m;
    const uint32_t most_a = most_children(k.a), most_b = most_children(k.b);
    k.b_of_a = new_empty_list(of_a->promises);
    k.a_of_b = new_empty_list(of_b->promises);
    uint32_t *queue = weft_resize(NULL, of_a->promises, sizeof *queue), queued = 0;
    k.of_a = weft_resize(NULL, (uint64_t)most_a + 1, sizeof *k.of_a);
    k.of_b = weft_resize(NULL, (uint64_t)most_b + 1, sizeof *k.of_b);
    k.spare = weft_resize(NULL, (uint64_t)(most_a > most_b ? most_a : most_b) + 1, sizeof *k.spare);
    bool ok = k.b_of_a && k.a_of_b && queue && k.of_a && k.of_b && k.spare;
    if (ok) {
        join_equal(&k, WEFT_ROOT, WEFT_ROOT);
        queue[queued++] = WEFT_ROOT;
    }
    for (uint32_t i = 0; ok && i < queued; i++) {
        uint32_t p = queue[i];
        align_children(&k, p, k.b_of_a[p]);
        uint32_t children = children_of(&k, k.a, p, 0, k.spare);
        for (uint32_t n = 0; n < children; n++)
            if (k.b_of_a[k.spare[n].promise] != WEFT_NONE)
                queue[queued++] = k.spare[n].promise;
    }
    for (uint32_t p = 1; ok && p < of_a->promises; p++)
        if (is_none(k.a, p))
            k.b_of_a[p] = WEFT_ROOT;
    for (uint32_t p = 1; ok && p < of_b->promises; p++)
        if (is_none(k.b, p))
            k.a_of_b[p] = WEFT_ROOT;
    free(queue);
    free(k.of_a);
    free(k.of_b);
    free(k.spare);
    if (!ok) {
        free(k.b_of_a);
        free(k.a_of_b);
        k.b_of_a = k.a_of_b = NULL;
    }
    *b_of_a = k.b_of_a;
    *a_of_b = k.a_of_b;
    return ok ? 0 : WEFT_E_NOMEM;
}
