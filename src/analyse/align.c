/* SPDX-License-Identifier: ISC */
#include "analyse/differ.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/lists.h"
#include "base/order.h"

#define ANY_LABEL (WEFT_NONE - 1) /* of a type that has as many labels as promises */

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

/* Returns true for a name that nobody chose: a place in OCaml's sources, or a module of Lwt's. */
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

static uint32_t mirage_name(const struct weft_model *m, uint32_t promise)
{
    for (uint32_t l = m->promise[promise].first_label; l != WEFT_NONE; l = m->label[l].next) {
        uint32_t size, text = m->label[l].what;
        if (m->label[l].is_change)
            continue;
        const char *name = weft_model_text(m, text, &size);
        if (!is_place(name, size))
            return text;
    }
    return WEFT_NONE;
}

/* Returns true if the other format has no promise for it: mirage-profile has none for the loop or
 * for a place in a condition's queue; weft has none for a lock, a pool, the program's end. */
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

static const char *type_of(const struct analyse_side *side, uint32_t promise)
{
    const char *type = weft_model_type(side->h->m, promise);
    for (size_t i = 0; side->as_mirage && i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i].is) == 0)
            return types[i].was;
    return type;
}

/* The kind of a promise; WEFT_NONE: no memory. */
static uint32_t number_kind(struct analyse_sides *s, const struct analyse_side *side,
                            uint32_t promise)
{
    if (promise == WEFT_ROOT)
        return 0;
    const char *type = type_of(side, promise);
    uint32_t size, name = side->name_of(side->h->m, promise), shape = WEFT_NONE;
    uint32_t number = weft_strings_add(s->texts, type, (uint32_t)strlen(type));
    if (name != WEFT_NONE) {
        char out[ANALYSE_SHAPE_BYTES];
        const char *label = weft_model_text(side->h->m, name, &size);
        shape = weft_strings_add(s->texts, out, analyse_shape(out, label, size));
    }
    return number == WEFT_NONE || (name != WEFT_NONE && shape == WEFT_NONE)
               ? WEFT_NONE
               : analyse_pairs_add(&s->kinds, number, shape);
}

static bool number_label(struct analyse_sides *s, struct analyse_side *side, uint32_t promise)
{
    uint32_t size, name = side->name_of(side->h->m, promise);
    if (name == WEFT_NONE || side->label[name] != WEFT_NONE)
        return true;
    const char *text = weft_model_text(side->h->m, name, &size);
    side->label[name] = weft_strings_add(s->texts, text, size);
    return side->label[name] != WEFT_NONE;
}

/* A family of promises in one run is a kind, or part of one. */
static bool number_kinds(struct analyse_sides *s, struct analyse_side *side)
{
    const struct weft_model *m = side->h->m;
    struct analyse_families f;
    bool ok = analyse_sorts_init(&f, m, side->name_of, false) == 0;
    uint32_t *kind = ok ? weft_resize(NULL, f.count, sizeof *kind) : NULL;
    side->kind = f.of;
    side->clan = weft_new_none(m->promises, sizeof *side->clan);
    side->label = weft_new_none((uint64_t)weft_strings_count(m->strings) + 1, sizeof *side->label);
    ok = kind && side->clan && side->label;
    for (uint32_t i = 0; ok && i < f.count; i++) {
        kind[i] = number_kind(s, side, f.first[i]);
        ok = kind[i] != WEFT_NONE;
    }
    for (uint32_t p = 1; ok && p < m->promises; p++) {
        side->kind[p] = kind[side->kind[p]];
        ok = number_label(s, side, p);
    }
    free(kind);
    f.of = NULL; /* it is the side's now */
    analyse_families_fini(&f);
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
    uint32_t *seen = weft_new_none(kinds, sizeof *seen);
    bool ok = of && seen;
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

static uint32_t list_of_child(const void *side, uint32_t promise)
{
    const struct analyse_side *s = side;
    return promise == WEFT_ROOT || is_none(s, promise) ? WEFT_NONE : s->under[promise];
}

/* Numbers clans from the loop downwards. */
static bool number_clans(struct analyse_sides *s, struct analyse_side *side)
{
    const struct weft_history *h = side->h;
    const uint32_t promises = h->m->promises;
    uint32_t *queue = calloc(promises, sizeof *queue), end = 1; /* the loop first */
    side->under = weft_new_none(promises, sizeof *side->under);
    bool ok = queue && side->under;
    if (ok)
        side->clan[WEFT_ROOT] = side->under[WEFT_ROOT] = WEFT_ROOT;
    for (uint32_t at = 0; at < end && ok; at++) {
        const uint32_t above = queue[at];
        analyse_each(i, h->children_first, above) {
            uint32_t child = h->children[i];
            side->clan[child] = is_none(side, child)
                                    ? 0
                                    : clan_below(&s->clans, side->clan[above], side->kind[child]);
            ok = ok && side->clan[child] != WEFT_NONE;
            side->under[child] = is_none(side, above) ? side->under[above] : above;
            queue[end++] = child;
        }
    }
    free(queue);
    return ok &&
           weft_lists(&side->child_first, &side->child, promises, promises, list_of_child, side);
}

bool analyse_sides_init(struct analyse_sides *s, const struct weft_history *const *good,
                        uint32_t goods, const struct weft_history *bad)
{
    *s = (struct analyse_sides){.count = goods + 1, .texts = weft_strings_new()};
    s->side = calloc((size_t)goods + 1, sizeof *s->side);
    bool ok = s->texts && s->side && analyse_pairs_add(&s->kinds, WEFT_NONE, WEFT_NONE) == 0 &&
              analyse_pairs_add(&s->clans, WEFT_NONE, 0) == 0;
    bool both = false;
    for (uint32_t i = 0; i < goods; i++)
        both |= good[i]->m->quirks.mirage_kinds != bad->m->quirks.mirage_kinds;
    for (uint32_t i = 0; i <= goods && ok; i++) {
        s->side[i].h = i < goods ? good[i] : bad;
        s->side[i].as_mirage = both;
        s->side[i].name_of = both ? mirage_name : weft_model_name;
        ok = number_kinds(s, &s->side[i]);
    }
    ok = ok && join_kinds(s);
    for (uint32_t i = 0; i <= goods && ok; i++)
        ok = number_clans(s, &s->side[i]);
    return ok;
}

void analyse_sides_fini(struct analyse_sides *s)
{
    for (uint32_t i = 0; s->side && i < s->count; i++) {
        struct analyse_side *x = &s->side[i];
        weft_free_all(x->kind, x->clan, x->label, x->under, x->child_first, x->child);
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

/* [0] is run a, [1] is run b. */
struct aligner {
    const struct analyse_pairs *kinds;
    const struct analyse_side *side[2];
    uint32_t *other[2];    /* by promise: its counterpart */
    struct child *list[2]; /* children that have no counterpart yet */
    uint32_t count[2];
    struct child *spare;
};

typedef int order_fn(const void *x, const void *y);

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

static int by_type(const void *x, const void *y)
{
    const struct child *a = x, *b = y;
    WEFT_ORDER(a->type, b->type);
    if ((a->label == WEFT_NONE) != (b->label == WEFT_NONE))
        return a->label == WEFT_NONE ? -1 : 1;
    return weft_order(a->promise, b->promise);
}

static void sort_children(struct child *list, uint32_t count, order_fn *order)
{
    uint32_t i = 1;
    while (i < count && order(&list[i - 1], &list[i]) < 0)
        i++;
    if (i < count) /* they are often in order already */
        qsort(list, count, sizeof *list, order);
}

static void sort_both(struct aligner *k, order_fn *order)
{
    for (unsigned r = 0; r < 2; r++)
        sort_children(k->list[r], k->count[r], order);
}

static uint32_t children_of(const struct aligner *k, unsigned run, uint32_t promise,
                            struct child *out)
{
    const struct analyse_side *s = k->side[run];
    uint32_t count = 0;
    analyse_each(i, s->child_first, promise) {
        uint32_t child = s->child[i], name = s->name_of(s->h->m, child);
        out[count++] = (struct child){k->kinds->pair[s->kind[child]].a, s->kind[child],
                                      name == WEFT_NONE ? WEFT_NONE : s->label[name], child};
    }
    return count;
}

static void join_equal(struct aligner *k, uint32_t a, uint32_t b)
{
    k->other[0][a] = b;
    k->other[1][b] = a;
}

/* Sorts both lists, joins their equal entries, and leaves the rest. */
static void join_sorted(struct aligner *k, bool labels)
{
    uint32_t i = 0, j = 0, rest[2] = {0, 0};
    sort_both(k, labels ? by_label : by_order);
    while (i < k->count[0] || j < k->count[1]) {
        const struct child *a = i < k->count[0] ? &k->list[0][i] : NULL;
        const struct child *b = j < k->count[1] ? &k->list[1][j] : NULL;
        int order = !a ? 1 : !b ? -1 : weft_order(a->kind, b->kind);
        if (a && b && order == 0 && labels)
            order = weft_order(a->label, b->label);
        if (order == 0) {
            join_equal(k, a->promise, b->promise);
            i++;
            j++;
        } else if (order < 0) {
            k->list[0][rest[0]++] = k->list[0][i++];
        } else {
            k->list[1][rest[1]++] = k->list[1][j++];
        }
    }
    memcpy(k->count, rest, sizeof rest);
}

/* Removes entries with a counterpart from the lists. labels: those without a label, too; all others
 * are treated as one kind. */
static void drop_joined(struct aligner *k, bool labels)
{
    for (unsigned r = 0; r < 2; r++) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < k->count[r]; i++) {
            const struct child c = k->list[r][i];
            if (k->other[r][c.promise] == WEFT_NONE && (!labels || c.label != WEFT_NONE))
                k->list[r][kept++] = labels ? (struct child){0, 0, c.label, c.promise} : c;
        }
        k->count[r] = kept;
    }
}

/* Where the promises of a type end that begin at a place; *nameless grows by how many of them, at
 * the beginning, are pending and have no label yet. */
static uint32_t end_of_type(const struct aligner *k, unsigned run, uint32_t from, uint32_t type,
                            uint32_t *nameless)
{
    const struct child *c = k->list[run];
    const struct weft_promise *promise = k->side[run]->h->m->promise;
    uint32_t at = from;
    while (at < k->count[run] && c[at].type == type && c[at].label == WEFT_NONE &&
           promise[c[at].promise].outcome == WEFT_PENDING)
        at++;
    *nameless += at - from;
    while (at < k->count[run] && c[at].type == type)
        at++;
    return at;
}

/* Joins pending promises without a label with promises of the other run that have one: the label
 * may come later. Of a type, only one list has such promises; all others are joined already. */
static void join_nameless(struct aligner *k)
{
    uint32_t i = 0, j = 0;
    sort_both(k, by_type);
    while (i < k->count[0] && j < k->count[1]) {
        uint32_t type_a = k->list[0][i].type, type_b = k->list[1][j].type, n = 0;
        uint32_t type = type_a < type_b ? type_a : type_b;
        uint32_t end_a = end_of_type(k, 0, i, type, &n), end_b = end_of_type(k, 1, j, type, &n);
        for (; n && i < end_a && j < end_b; n--)
            join_equal(k, k->list[0][i++].promise, k->list[1][j++].promise);
        i = end_a;
        j = end_b;
    }
    drop_joined(k, false);
}

/* Returns true if a promise ended well. */
static bool is_well(const struct analyse_side *s, uint32_t promise)
{
    const struct weft_promise *p = &s->h->m->promise[weft_model_final(s->h->m, promise)];
    return p->outcome == WEFT_FULFILLED || p->outcome == WEFT_RESOLVED;
}

/* Returns true if a promise took far longer than one of the other run. */
static bool is_slow(const struct aligner *k, unsigned run, uint32_t promise, uint32_t other)
{
    const int64_t was = weft_history_length_ns(k->side[!run]->h, other),
                  is = weft_history_length_ns(k->side[run]->h, promise);
    return is / 3 > was && is - was > 5000000;
}

/* If the other run has fewer promises of a kind, prefers to leave those without a counterpart that
 * went well. parent: whose children the list has. It is sorted by kind. */
static void prefer_unwell(struct aligner *k, unsigned run, uint32_t parent)
{
    const struct analyse_side *side = k->side[run];
    uint32_t all = k->count[run] ? children_of(k, run, parent, k->spare) : 0, at = 0;
    sort_children(k->spare, all, by_order);
    for (uint32_t i = 0; i < k->count[run]; i++) {
        const struct child *c = &k->list[run][i];
        bool well = is_well(side, c->promise), found = false;
        if (side->h->m->promise[c->promise].background)
            continue;
        for (; at < all && k->spare[at].kind <= c->kind && !found; at++) {
            uint32_t rival = k->spare[at].promise, other = k->other[run][rival];
            if (k->spare[at].kind != c->kind)
                continue;
            found =
                other != WEFT_NONE && is_well(side, rival) && is_well(k->side[!run], other) &&
                (!well || (is_slow(k, run, c->promise, other) && !is_slow(k, run, rival, other)));
            if (!found && well)
                break;
            if (!found)
                continue;
            k->other[run][rival] = WEFT_NONE;
            k->other[run][c->promise] = other;
            k->other[!run][other] = c->promise;
        }
    }
}

static void align_children(struct aligner *k, const uint32_t parent[2])
{
    for (unsigned r = 0; r < 2; r++)
        k->count[r] = children_of(k, r, parent[r], k->list[r]);
    if (k->count[0] == 0 || k->count[1] == 0)
        return;
    join_sorted(k, true);
    join_sorted(k, false);
    join_nameless(k);
    sort_both(k, by_order);
    prefer_unwell(k, 1, parent[1]);
    prefer_unwell(k, 0, parent[0]);
    drop_joined(k, true);
    join_sorted(k, true);
}

bool analyse_align(const struct analyse_sides *s, uint32_t a, uint32_t b, uint32_t **b_of_a,
                   uint32_t **a_of_b)
{
    struct aligner k = {.kinds = &s->kinds, .side = {&s->side[a], &s->side[b]}};
    uint32_t most = 0, queued = 1; /* most: how many children one promise has */
    for (unsigned r = 0; r < 2; r++) {
        const struct analyse_side *side = k.side[r];
        for (uint32_t p = 0; p < side->h->m->promises; p++)
            if (analyse_count(side->child_first, p) > most)
                most = analyse_count(side->child_first, p);
        k.other[r] = weft_new_none(side->h->m->promises, sizeof *k.other[r]);
    }
    k.list[0] = weft_resize(NULL, most, sizeof *k.spare);
    k.list[1] = weft_resize(NULL, most, sizeof *k.spare);
    k.spare = weft_resize(NULL, most, sizeof *k.spare);
    uint32_t *queue = calloc(k.side[0]->h->m->promises, sizeof *queue); /* the loop first */
    const bool ok = k.other[0] && k.other[1] && k.list[0] && k.list[1] && k.spare && queue;
    if (ok)
        join_equal(&k, WEFT_ROOT, WEFT_ROOT);
    for (uint32_t i = 0; ok && i < queued; i++) {
        const uint32_t pair[2] = {queue[i], k.other[0][queue[i]]};
        align_children(&k, pair);
        analyse_each(n, k.side[0]->child_first, pair[0])
            if (k.other[0][k.side[0]->child[n]] != WEFT_NONE)
                queue[queued++] = k.side[0]->child[n];
    }
    for (unsigned r = 0; r < 2 && ok; r++)
        for (uint32_t p = 1; p < k.side[r]->h->m->promises; p++)
            if (is_none(k.side[r], p))
                k.other[r][p] = WEFT_ROOT;
    weft_free_all(queue, k.list[0], k.list[1], k.spare);
    if (!ok)
        weft_free_all(k.other[0], k.other[1]);
    *b_of_a = ok ? k.other[0] : NULL;
    *a_of_b = ok ? k.other[1] : NULL;
    return ok;
}
