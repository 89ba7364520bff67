/* SPDX-License-Identifier: ISC */
/* The inspector lists promises, but neither what they are called nor what waits for them, and it collects garbage first: a
 * promise that nobody can resolve is garbage, together with the async functions that wait for it. So the heap is looked
 * at from outside (src/now), before and after that, while the program is paused. Promises that the inspector lists are
 * found there by their addresses; async functions that are there before only hang for ever. */
#include "cli/late/seen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "cli/common.h"
#include "now/look.h"

struct now *cli_seen_look(pid_t pid)
{
    struct now_process p;
    struct weft_error err;
    struct now *n = calloc(1, sizeof *n);
    if (n && now_process_open(&p, pid, &err) == 0) {
        n->pid = pid;
        now_look_node(n, &p);
        now_finish(n);
    }
    if (n)
        now_process_close(&p);
    return n;
}

/* ---- Records ---- */

struct record {
    int64_t index; /* among the listed promises; -1: none */
    const char *type;
    char label[NOW_TEXT_MAX];
    const char *state; /* of the look; or NULL */
};

struct wait {
    uint32_t from, to; /* records */
};

struct seen {
    const struct now *n; /* the look that is worked on */
    uint32_t *record_of; /* of its things; WEFT_IDMAP_NONE: none */
    struct record *record;
    uint32_t records, records_room;
    struct wait *wait;
    uint32_t waits, waits_room;
    uint32_t *todo; /* things whose links are to be followed */
    uint32_t todos, todos_room;
    uint64_t seed;
    bool failed;
};

static const char *after(const char *text, const char *begins)
{
    const size_t n = strlen(begins);
    return strncmp(text, begins, n) == 0 ? text + n : NULL;
}

/* "handle", "then(report)", "Promise.all"; without the address, which changes. */
static void name_record(const struct now_thing *t, struct record *r)
{
    static const struct {
        const char *begins, *type;
    } kinds[] = {
        {"async function of", "call"}, {"async function ", "call"}, {"module ", "module"},
        {"promise of ", "then"},       {"Promise.all", "all"},
    };
    const char *name = t->name ? t->name : "promise";
    r->type = "promise";
    r->state = t->state && *t->state ? t->state : NULL;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *rest = after(name, kinds[i].begins);
        if (!rest)
            continue;
        r->type = kinds[i].type;
        name = i == 0 ? "" : i == 4 ? name : rest;
        break;
    }
    const char *address = strstr(name, " 0x");
    const int length = address ? (int)(address - name) : (int)strlen(name);
    const struct now_frame *f = t->frames ? &t->frame[0] : NULL;
    if (f && f->file && after(f->file, "node:"))
        r->type = "internal";
    if (strcmp(r->type, "module") == 0)
        snprintf(r->label, sizeof r->label, "%s", cli_base(name));
    else if (f && f->file)
        snprintf(r->label, sizeof r->label, "%.*s%s%.200s:%" PRIu32, length, name,
                 length ? " " : "", cli_base(f->file), f->line);
    else
        snprintf(r->label, sizeof r->label, "%.*s", length, length ? name : "promise");
}

static uint32_t add_record(struct seen *s, uint32_t thing, int64_t index)
{
    if (!weft_reserve(&s->record, s->records, &s->records_room, sizeof *s->record)) {
        s->failed = true;
        return WEFT_IDMAP_NONE;
    }
    s->record[s->records] = (struct record){.index = index};
    name_record(&s->n->thing[thing], &s->record[s->records]);
    s->record_of[thing] = s->records;
    return s->records++;
}

static void add_wait(struct seen *s, uint32_t from, uint32_t to)
{
    if (from == WEFT_IDMAP_NONE || to == WEFT_IDMAP_NONE || from == to)
        return;
    if (weft_reserve(&s->wait, s->waits, &s->waits_room, sizeof *s->wait))
        s->wait[s->waits++] = (struct wait){from, to};
    else
        s->failed = true;
}

static bool begin_look(struct seen *s, const struct now *n)
{
    free(s->record_of);
    s->n = n;
    s->record_of = weft_resize(NULL, n->things ? n->things : 1, sizeof *s->record_of);
    s->failed |= !s->record_of;
    for (uint32_t i = 0; s->record_of && i < n->things; i++)
        s->record_of[i] = WEFT_IDMAP_NONE;
    return !s->failed;
}

/* The links of a thing. */
#define EACH_LINK(n, thing, at)                                                                    \
    for (const struct now_link *at = (n)->link + now_first_link((n), (thing));                     \
         at < (n)->link + (n)->links && at->from == (thing); at++)

/* It may be somebody else. */
static bool is_guess(const struct now_link *l)
{
    return l->any && strncmp(l->how, "may ", 4) == 0;
}

/* ---- What the inspector lists ---- */

/* index_of: of the listed promises, by address. */
static void record_listed(struct seen *s, const struct weft_idmap *index_of)
{
    const struct now *n = s->n;
    struct weft_idmap *taken = weft_idmap_new();
    s->failed |= !taken;
    /* First the functions: the promise of one has its record. */
    for (unsigned tasks = 2; taken && tasks-- > 0;)
        for (uint32_t i = 0; i < n->things; i++) {
            const struct now_thing *t = &n->thing[i];
            const uint64_t key = t->kind == NOW_TASK ? t->result : t->key;
            if (t->kind != (tasks ? NOW_TASK : NOW_PROMISE) || !key)
                continue;
            const uint32_t index = weft_idmap_get(index_of, key);
            if (index == WEFT_IDMAP_NONE)
                continue;
            const uint32_t before = weft_idmap_get(taken, index);
            if (before != WEFT_IDMAP_NONE) {
                s->record_of[i] = before;
                continue;
            }
            const uint32_t record = add_record(s, i, index);
            if (record != WEFT_IDMAP_NONE)
                s->failed |= !weft_idmap_put(taken, index, record);
        }
    weft_idmap_free(taken);
}

static void record_waits(struct seen *s)
{
    const struct now *n = s->n;
    for (uint32_t i = 0; i < n->links; i++) {
        const struct now_link *l = &n->link[i];
        const uint32_t from = s->record_of[l->from], to = s->record_of[l->to];
        if (from == WEFT_IDMAP_NONE || is_guess(l))
            continue;
        add_wait(s, from, to);
        /* An async generator has no promise of its own: what waits for its next value waits for what it awaits. */
        if (to == WEFT_IDMAP_NONE && n->thing[l->to].kind == NOW_TASK && !n->thing[l->to].result)
            EACH_LINK(n, l->to, further)
        add_wait(s, from, s->record_of[further->to]);
    }
}

/* ---- What cannot be reached ---- */

static uint64_t hash_of(const struct seen *s, const struct now_thing *t)
{
    struct record r;
    name_record(t, &r);
    return weft_mix(weft_hash(WEFT_HASH_BEGIN, r.label, strlen(r.label)), s->seed);
}

static bool is_function(const struct now_thing *t)
{
    return t->kind == NOW_TASK && t->result;
}

/* The functions of the later look that are listed: how many there are of each name, and which by the address. */
static bool count_listed(struct seen *s, const struct now *later, const struct weft_idmap *index_of,
                         struct weft_idmap *left, struct weft_idmap *by_result)
{
    for (uint32_t i = 0; i < later->things; i++) {
        const struct now_thing *t = &later->thing[i];
        if (!is_function(t) || weft_idmap_get(index_of, t->result) == WEFT_IDMAP_NONE)
            continue;
        uint32_t *count = weft_idmap_at(left, hash_of(s, t));
        if (!count || !weft_idmap_put(by_result, t->result, i))
            return false;
        *count = *count == WEFT_IDMAP_NONE ? 1 : *count + 1;
    }
    return true;
}

static bool did_not_move(const struct seen *s, const struct now_thing *t, const struct now *later,
                         const struct weft_idmap *by_result)
{
    const uint32_t there = weft_idmap_get(by_result, t->result);
    return there != WEFT_IDMAP_NONE && hash_of(s, &later->thing[there]) == hash_of(s, t);
}

static void push(struct seen *s, uint32_t thing)
{
    if (weft_reserve(&s->todo, s->todos, &s->todos_room, sizeof *s->todo))
        s->todo[s->todos++] = thing;
    else
        s->failed = true;
}

static void take_one(struct weft_idmap *left, uint64_t name, bool *taken)
{
    uint32_t *count = weft_idmap_at(left, name);
    *taken = count && *count != WEFT_IDMAP_NONE && *count > 0;
    if (*taken)
        --*count;
}

/* Functions that are not listed any more. Objects move while garbage is collected: of those with one name, as many are
 * taken for moved as are listed later. */
static void record_unreachable(struct seen *s, const struct now *later,
                               const struct weft_idmap *index_of)
{
    const struct now *n = s->n;
    struct weft_idmap *left = weft_idmap_new(), *by_result = weft_idmap_new();
    bool known;
    s->failed |= !left || !by_result || !count_listed(s, later, index_of, left, by_result);
    for (uint32_t i = 0; !s->failed && i < n->things; i++)
        if (is_function(&n->thing[i]) && did_not_move(s, &n->thing[i], later, by_result))
            take_one(left, hash_of(s, &n->thing[i]), &known);
    for (uint32_t i = 0; !s->failed && i < n->things; i++) {
        const struct now_thing *t = &n->thing[i];
        if (!is_function(t) || did_not_move(s, t, later, by_result))
            continue;
        take_one(left, hash_of(s, t), &known);
        if (known)
            continue;
        add_record(s, i, -1);
        push(s, i);
    }
    weft_idmap_free(left);
    weft_idmap_free(by_result);
}

/* The function whose end resolves a promise; the promise itself if there is none. */
static uint32_t resolver(const struct now *n, uint32_t thing)
{
    EACH_LINK(n, thing, l)
    if (n->thing[thing].kind == NOW_PROMISE && is_function(&n->thing[l->to]) && !l->any)
        return l->to;
    return thing;
}

/* What something unreachable waits for is unreachable, too. */
static void follow_unreachable(struct seen *s)
{
    const struct now *n = s->n;
    while (s->todos > 0 && !s->failed) {
        const uint32_t thing = s->todo[--s->todos], record = s->record_of[thing];
        EACH_LINK(n, thing, l)
        {
            const uint32_t to = resolver(n, l->to);
            if (is_guess(l) || (n->thing[to].kind != NOW_PROMISE && !is_function(&n->thing[to])))
                continue;
            if (s->record_of[to] == WEFT_IDMAP_NONE) {
                add_record(s, to, -1);
                push(s, to);
            }
            add_wait(s, record, s->record_of[to]);
        }
    }
}

/* ---- As JSON ---- */

static json_t *to_json(const struct seen *s)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < s->records; i++) {
        const struct record *r = &s->record[i];
        json_t *label = json_string(r->label), *state = r->state ? json_string(r->state) : NULL;
        json_array_append_new(all, json_pack("[I, s, o, o, o]", (json_int_t)r->index, r->type,
                                             label ? label : json_string("promise"),
                                             state ? state : json_null(), json_array()));
    }
    for (uint32_t i = 0; i < s->waits; i++)
        json_array_append_new(json_array_get(json_array_get(all, s->wait[i].from), 4),
                              json_integer(s->wait[i].to));
    return all;
}

json_t *cli_seen_records(const struct now *before, const struct now *after, const uint64_t *address,
                         uint32_t count)
{
    struct seen s = {.seed = weft_seed()};
    struct weft_idmap *index_of = weft_idmap_new();
    s.failed = !index_of;
    for (uint32_t i = 0; !s.failed && i < count; i++)
        s.failed |= address[i] && !weft_idmap_put(index_of, address[i], i);
    if (!s.failed && begin_look(&s, after)) {
        record_listed(&s, index_of);
        record_waits(&s);
    }
    if (before && !s.failed && begin_look(&s, before)) {
        record_unreachable(&s, after, index_of);
        follow_unreachable(&s);
    }
    const bool complete = after->remarks == 0 && after->left_out == 0 && !after->failed;
    json_t *all =
        s.failed ? NULL : json_pack("{s:b, s:o}", "complete", complete, "records", to_json(&s));
    weft_idmap_free(index_of);
    weft_free_all(s.record_of, s.record, s.wait, s.todo);
    return all;
}
