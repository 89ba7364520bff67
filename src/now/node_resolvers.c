/* SPDX-License-Identifier: ISC */
/* Who can resolve a promise. `new Promise` makes two functions with a context of their own, which has the promise; who
 * has one of those can settle it. Objects have no list of those that refer to them, so the heap is searched for words
 * that are their addresses, once for each step away from the promises: the context, the functions, the variable, array
 * or object that has one, the closures that see the variable and name it in their text, the timer that has the closure.
 *
 * It is not known whether those that refer to a promise are garbage themselves; so "nobody has its resolve function" is
 * certain, "somebody has it" is not. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/order.h"
#include "now/node.h"

enum {
    ASKED_MAX = 4096,    /* promises */
    REFERRERS_MAX = 512, /* of one promise */
    WORDS_MAX = 1 << 17, /* found in one search */
    STEPS = 8,
    RESOLVERS_MAX = 8,  /* of one promise that links lead to */
    RESOLVER_SLOTS = 5, /* most slots of a resolve function's context */
};

enum kind { PROMISE, OWN_CONTEXT, RESOLVE, VARIABLE, VALUE, CLOSURE };

/* Something that leads to the resolve function of a promise. */
struct referrer {
    uint64_t object;
    uint32_t asked;
    enum kind kind;
    char text[48]; /* as a program names the function from here: "resolve", "queue.resolve" */
};

/* A function that names the variable. */
struct closure {
    uint64_t object;
    char text[48];        /* what it has to call */
    bool names_all, held; /* in its text; somebody has the function itself */
};

struct asked {
    uint64_t promise;
    uint32_t thing, referrers;
    bool made, resolvable; /* its functions' context is there; somebody has one of them */
    char text[48];         /* the first name that was found */
    char holder[48];       /* what has it, if there is no name */
    struct closure closure[RESOLVERS_MAX];
    uint32_t closures;
    struct resolver {
        uint32_t thing;
        bool sure; /* it names what leads to the function, not only the variable */
    } resolver[RESOLVERS_MAX];
    uint32_t resolvers;
};

struct word {
    uint64_t at, value;
};

struct search {
    struct node *d;
    struct asked *asked;
    uint32_t count, room;
    struct referrer *referrer; /* those of the step before begin at `begin`, sorted by object */
    uint32_t referrers, referrers_room, begin;
    struct word *word;
    uint32_t words, words_room;
    uint32_t *first, *from;   /* of each thing: where those that wait for it begin in from */
    uint32_t *waiting;        /* the last promise that it was found to wait for, plus 1 */
    uint32_t chains;          /* how many things were there */
    struct weft_idmap *tasks; /* what suspended functions share with others of the same code */
    struct weft_idmap *seen;  /* which object was a referrer of which promise */
    struct v8_around around;
    bool partly;
};

static void add(struct search *s, const struct referrer *from, enum kind kind, uint64_t object,
                const char *name)
{
    struct asked *a = &s->asked[from->asked];
    struct referrer r = {object, from->asked, kind, ""};
    size_t n = strnlen(name, sizeof r.text - 1);
    memcpy(r.text, name, n);
    if (n && *from->text && *from->text != '[' && n + 1 < sizeof r.text)
        r.text[n++] = '.';
    memcpy(r.text + n, from->text, strnlen(from->text, sizeof r.text - 1 - n));
    const uint64_t key =
        weft_hash((object + from->asked) * 8 + (uint64_t)kind, r.text, strlen(r.text));
    uint32_t *seen = weft_idmap_at(s->seen, key);
    if (!seen || !weft_reserve(&s->referrer, s->referrers, &s->referrers_room, sizeof r)) {
        s->d->n->failed = true;
        return;
    }
    if (*seen != WEFT_IDMAP_NONE || a->referrers == REFERRERS_MAX)
        return;
    *seen = 0;
    a->referrers++;
    if (strlen(r.text) > strlen(a->text) && kind != CLOSURE)
        memcpy(a->text, r.text, sizeof a->text);
    s->referrer[s->referrers++] = r;
}

static void add_resolver(struct asked *a, uint32_t thing, bool sure)
{
    for (uint32_t i = 0; i < a->resolvers; i++)
        if (a->resolver[i].thing == thing) {
            a->resolver[i].sure |= sure;
            return;
        }
    if (a->resolvers < RESOLVERS_MAX && thing != NOW_NONE)
        a->resolver[a->resolvers++] = (struct resolver){thing, sure};
}

/* ---- One referrer ---- */

/* Does a function name what leads to the resolve function: all of it, or only the variable? */
static bool names(struct search *s, uint64_t function, const struct referrer *from, bool all)
{
    char text[sizeof from->text];
    memcpy(text, from->text, sizeof text);
    text[strcspn(text, all ? "[" : ".[")] = 0;
    return v8_mentions(&s->d->v, function, text);
}

static void in_context(struct search *s, const struct referrer *from, uint64_t context,
                       int32_t offset)
{
    struct v8 *v = &s->d->v;
    char name[sizeof from->text];
    if (from->kind == PROMISE && offset == V8_CONTEXT_FIRST &&
        v8_small(v8_field(v, context, V8_CONTEXT_LENGTH)) <= RESOLVER_SLOTS)
        add(s, from, OWN_CONTEXT, context, "");
    else if (from->kind == VARIABLE && offset == V8_CONTEXT_OUTER)
        add(s, from, VARIABLE, context, "");
    else if ((from->kind == RESOLVE || from->kind == VALUE) && offset >= V8_CONTEXT_OUTER) {
        v8_variable(v, context, offset, name, sizeof name);
        if (name[0])
            add(s, from, VARIABLE, context, name);
    }
}

static void in_function(struct search *s, const struct referrer *from, uint64_t function,
                        int32_t offset)
{
    struct asked *a = &s->asked[from->asked];
    if (offset != s->d->v.number[V8_FUNCTION_CONTEXT])
        return;
    if (from->kind == OWN_CONTEXT && v8_is_built_in(&s->d->v, function)) {
        a->made = true;
        add(s, from, RESOLVE, function, "");
    } else if (from->kind == VARIABLE && names(s, function, from, false)) {
        if (a->closures < RESOLVERS_MAX) {
            struct closure *c = &a->closure[a->closures++];
            *c = (struct closure){.object = function, .names_all = names(s, function, from, true)};
            memcpy(c->text, from->text, sizeof c->text);
        }
        add(s, from, CLOSURE, function, "");
    }
}

/* A suspended function has the resolve function in a variable, or sees one that it names. */
static void in_task(struct search *s, const struct referrer *from, uint64_t task, int32_t offset)
{
    struct v8 *v = &s->d->v;
    const uint64_t function = v8_field(v, task, V8_GENERATOR_FUNCTION);
    const bool own = offset == V8_GENERATOR_VARIABLES && from->kind >= VALUE;
    const bool sees =
        offset == V8_GENERATOR_CONTEXT && from->kind == VARIABLE && names(s, function, from, false);
    if ((own || sees) && node_is_suspended(s->d, task))
        add_resolver(&s->asked[from->asked], node_task(s->d, task),
                     own || names(s, function, from, true));
}

static void in_timer(struct search *s, const struct referrer *from, uint64_t timer)
{
    struct now *n = s->d->n;
    const uint32_t before = n->things, thing = now_thing(n, NOW_TIMER, timer);
    const uint64_t ms = v8_property_value(&s->d->v, timer, "_idleTimeout");
    if (n->things != before && v8_is_small(ms) && v8_small(ms) > 0)
        now_name(n, thing, "timer of %" PRId32 " ms", v8_small(ms));
    else if (n->things != before)
        now_name(n, thing, "timer");
    add_resolver(&s->asked[from->asked], thing, true);
}

/* Classes that say nothing of what an object is for. */
static bool is_common(const char *class)
{
    return !class[0] || strcmp(class, "Object") == 0 || strcmp(class, "Array") == 0 ||
           strcmp(class, "Arguments") == 0 || strcmp(class, "Promise") == 0;
}

static void in_object(struct search *s, const struct referrer *from, uint64_t object,
                      int32_t offset)
{
    struct asked *a = &s->asked[from->asked];
    char name[sizeof from->text], class[sizeof a->holder];
    if (from->kind == OWN_CONTEXT || from->kind == VARIABLE)
        return;
    v8_class(&s->d->v, object, class, sizeof class);
    v8_property(&s->d->v, object, offset, name, sizeof name);
    if (strcmp(class, "Timeout") == 0 || strcmp(class, "Immediate") == 0) {
        if (from->kind != PROMISE)
            in_timer(s, from, object);
        return;
    }
    for (uint32_t i = 0; i < a->closures; i++)
        a->closure[i].held |= a->closure[i].object == from->object;
    if (!a->holder[0] && !is_common(class))
        memcpy(a->holder, class, sizeof a->holder);
    if (from->kind != PROMISE)
        add(s, from, from->kind == CLOSURE ? CLOSURE : VALUE, object,
            from->kind == CLOSURE ? "" : name);
}

static void refers(struct search *s, const struct referrer *from, uint64_t at)
{
    struct v8 *v = &s->d->v;
    const uint64_t object = v8_object_around(v, at, &s->around);
    const int32_t offset = (int32_t)(at - (object - 1));
    const int32_t type = v8_type(v, object);
    if (!object || type == V8_NO_TYPE)
        return;
    struct asked *a = &s->asked[from->asked];
    a->resolvable |= from->kind == RESOLVE;
    if (type >= v->number[V8_TYPE_OBJECT] && !v8_is_function(v, object) &&
        type != v->number[V8_TYPE_ASYNC] && type != v->number[V8_TYPE_ASYNC_GENERATOR]) {
        in_object(s, from, object, offset);
        return;
    }
    for (uint32_t i = 0; i < a->closures; i++)
        a->closure[i].held |= a->closure[i].object == from->object;
    if (v8_is_context(v, object))
        in_context(s, from, object, offset);
    else if (v8_is_function(v, object))
        in_function(s, from, object, offset);
    else if (type >= v->number[V8_TYPE_OBJECT])
        in_task(s, from, object, offset);
    else if (from->kind == PROMISE && type == v->number[V8_TYPE_PROPERTIES])
        add(s, from, PROMISE, object, "");
    else if (from->kind == RESOLVE || from->kind == VALUE || from->kind == CLOSURE)
        add(s, from, from->kind == CLOSURE ? CLOSURE : VALUE, object,
            from->kind == CLOSURE || from->text[0] == '[' ? "" : "[…]"); /* an array */
}

/* ---- A step ---- */

static void found_word(void *data, uint64_t at, uint64_t value)
{
    struct search *s = data;
    if (s->words == WORDS_MAX)
        s->partly = true;
    else if (weft_reserve(&s->word, s->words, &s->words_room, sizeof *s->word))
        s->word[s->words++] = (struct word){at, value};
    else
        s->d->n->failed = true;
}

static int by_object(const void *a, const void *b)
{
    const struct referrer *x = a, *y = b;
    WEFT_ORDER(x->object, y->object);
    return weft_order(x->asked, y->asked);
}

/* Looks for those that refer to the referrers of the step before. */
static bool step(struct search *s)
{
    const uint32_t begin = s->begin, end = s->referrers;
    uint64_t *values = weft_resize(NULL, end - begin, sizeof *values);
    uint32_t count = 0;
    if (!values) {
        s->d->n->failed = true;
        return false;
    }
    weft_sort(s->referrer + begin, end - begin, sizeof *s->referrer, by_object);
    for (uint32_t i = begin; i < end; i++)
        if (!count || values[count - 1] != s->referrer[i].object)
            values[count++] = s->referrer[i].object;
    s->words = 0;
    s->around = (struct v8_around){0};
    v8_each_word(&s->d->v, values, count, found_word, s);
    free(values);
    s->begin = end;
    for (uint32_t i = 0; i < s->words && !v8_late(&s->d->v); i++) {
        uint32_t low = begin, high = end;
        WEFT_SEEK(low, high, s->referrer[middle].object < s->word[i].value);
        for (; low < end && s->referrer[low].object == s->word[i].value; low++) {
            const struct referrer from = s->referrer[low];
            refers(s, &from, s->word[i].at);
        }
    }
    s->partly |= v8_late(&s->d->v) || s->d->v.left_bytes;
    return s->referrers > end && !s->partly && !s->d->n->failed;
}

/* ---- All of it ---- */

/* Promises that wait for nothing that is known. */
static bool ask(struct search *s)
{
    const struct now *n = s->d->n;
    uint8_t *has = calloc(n->things + 1, 1);
    for (uint32_t i = 0; has && i < n->links; i++)
        has[n->link[i].from] = 1;
    for (uint32_t i = 0; has && i < n->things && s->count < ASKED_MAX; i++) {
        if (n->thing[i].kind != NOW_PROMISE || has[i] || n->thing[i].key % 8 != 1)
            continue;
        if (!weft_reserve(&s->asked, s->count, &s->room, sizeof *s->asked)) {
            free(has);
            return false;
        }
        s->asked[s->count] = (struct asked){.promise = n->thing[i].key, .thing = i};
        add(s, &(struct referrer){.asked = s->count++}, PROMISE, n->thing[i].key, "");
    }
    free(has);
    return has && s->count;
}

/* ---- What is to be said ---- */

/* Marks all that waits for a promise, by links that are not `any`. */
static void mark_waiting(struct search *s, uint32_t promise)
{
    uint32_t stack[REFERRERS_MAX], depth = 0;
    stack[depth++] = promise;
    while (depth) {
        const uint32_t to = stack[--depth];
        for (uint32_t i = s->first[to]; i < s->first[to + 1]; i++)
            if (s->waiting[s->from[i]] != promise + 1 && depth < REFERRERS_MAX) {
                s->waiting[s->from[i]] = promise + 1;
                stack[depth++] = s->from[i];
            }
    }
}

/* Who waits for each thing, as of now. */
static bool make_chains(struct search *s)
{
    const struct now *n = s->d->n;
    s->chains = n->things;
    s->first = calloc((size_t)n->things + 2, sizeof *s->first);
    s->from = weft_resize(NULL, n->links, sizeof *s->from);
    s->waiting = calloc((size_t)n->things + 1, sizeof *s->waiting);
    if (!s->first || !s->from || !s->waiting)
        return false;
    for (uint32_t i = 0; i < n->links; i++)
        s->first[n->link[i].to + 2] += !n->link[i].any;
    for (uint32_t i = 1; i < n->things; i++)
        s->first[i + 1] += s->first[i];
    for (uint32_t i = 0; i < n->links; i++)
        if (!n->link[i].any)
            s->from[s->first[n->link[i].to + 1]++] = n->link[i].from;
    return true;
}

static uint64_t shared_of(struct search *s, uint64_t function)
{
    return v8_field(&s->d->v, function, s->d->v.number[V8_FUNCTION_SHARED]);
}

static void know_tasks(struct search *s)
{
    for (uint32_t i = 0; i < s->d->suspended.count; i++) {
        const uint64_t task = s->d->suspended.object[i];
        weft_idmap_put(s->tasks, shared_of(s, v8_field(&s->d->v, task, V8_GENERATOR_FUNCTION)), i);
    }
}

static bool is_of_task(struct search *s, uint64_t function)
{
    return weft_idmap_get(s->tasks, shared_of(s, function)) != WEFT_IDMAP_NONE;
}

/* Does a function name it that somebody can call, and that is not that of a suspended task? */
static bool has_free_function(struct search *s, const struct asked *a)
{
    for (uint32_t i = 0; i < a->closures; i++)
        if (a->closure[i].held && !is_of_task(s, a->closure[i].object))
            return true;
    return false;
}

/* A call of reject settles it, too, but is not what a reader looks for. */
static int worth(const struct closure *c)
{
    return (strcmp(c->text, "reject") != 0) * 4 + c->names_all * 2 + c->held;
}

static const struct closure *best_closure(const struct asked *a)
{
    const struct closure *best = NULL;
    for (uint32_t i = 0; i < a->closures; i++) {
        const struct closure *c = &a->closure[i];
        if (!best || worth(c) > worth(best))
            best = c;
    }
    return best;
}

/* What is to be said of a promise that a call of its resolve function settles. */
static void say_who(struct search *s, const struct asked *a, bool linked)
{
    struct now *n = s->d->n;
    const struct closure *c = best_closure(a);
    const char *of = a->holder[0] ? " of " : "";
    if (c) {
        const struct v8_place *p = node_place(s->d, c->object, -1);
        now_state(n, a->thing, "waits for a call of %s%s%s, which %s (%s:%" PRIu32 ") knows",
                  c->text, of, a->holder, p->function[0] ? p->function : "a function", p->file,
                  p->begins);
    } else if (a->text[0] && a->text[0] != '[')
        now_state(n, a->thing, "waits for a call of %s%s%s", a->text, of, a->holder);
    else if (!linked)
        now_state(n, a->thing, "its resolve function is kept in %s",
                  a->holder[0] ? a->holder : "an array");
}

/* Tasks that wait for the promise themselves cannot resolve it. */
static bool may_resolve(const struct search *s, const struct asked *a, const struct resolver *r,
                        bool sure)
{
    return r->sure >= sure && (r->thing >= s->chains || s->waiting[r->thing] != a->thing + 1);
}

static uint32_t link_resolvers(struct search *s, const struct asked *a)
{
    uint32_t sure = 0, all = 0;
    mark_waiting(s, a->thing);
    for (uint32_t i = 0; i < a->resolvers; i++) {
        sure += may_resolve(s, a, &a->resolver[i], true);
        all += may_resolve(s, a, &a->resolver[i], false);
    }
    const bool any = sure != 1 || has_free_function(s, a);
    for (uint32_t i = 0; i < a->resolvers; i++)
        if (may_resolve(s, a, &a->resolver[i], sure))
            now_link(s->d->n, a->thing, a->resolver[i].thing, any,
                     any ? "may be resolved by" : "is resolved by");
    return sure ? sure : all;
}

static void conclude(struct search *s, const struct asked *a)
{
    struct now *n = s->d->n;
    const bool linked = link_resolvers(s, a);
    if (s->partly && !linked)
        now_state(n, a->thing, "who can resolve it was not found in the time there was");
    else if (!a->made && a->holder[0])
        now_state(n, a->thing, "native code resolves it, that of %s", a->holder);
    else if (!a->made)
        now_state(n, a->thing, "no function of JavaScript can resolve it, at most native code");
    else if (!a->resolvable)
        now_state(n, a->thing, "nobody has its resolve function: it is never resolved");
    else
        say_who(s, a, linked);
}

void node_resolvers(struct node *d)
{
    struct search s = {.d = d, .seen = weft_idmap_new(), .tasks = weft_idmap_new()};
    d->n->failed |= !s.seen || !s.tasks;
    if (!d->n->failed && ask(&s)) {
        for (unsigned i = 0; i < STEPS && step(&s); i++)
            ;
        know_tasks(&s);
        d->n->failed |= !make_chains(&s);
        for (uint32_t i = 0; i < s.count && !d->n->failed; i++)
            conclude(&s, &s.asked[i]);
    }
    weft_free_all(s.asked, s.referrer, s.word, s.first, s.from, s.waiting);
    weft_idmap_free(s.seen);
    weft_idmap_free(s.tasks);
}
