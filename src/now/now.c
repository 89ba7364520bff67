/* SPDX-License-Identifier: ISC */
/* The graph, and finding cycles in it: things that no other link leads into are taken away, again and again (Kahn);
 * what is left beside cycles is what lies between two of them, which Tarjan's components tell apart. */
#include "now/now.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "base/order.h"
#include "format/utf8.h"
#include "now/look.h"

const char *const now_kind_names[NOW_KINDS] = {
    [NOW_THREAD] = "thread",         [NOW_TASK] = "task",
    [NOW_PROMISE] = "promise",       [NOW_LOCK] = "lock",
    [NOW_DESCRIPTOR] = "descriptor", [NOW_TIMER] = "timer",
    [NOW_PROCESS] = "process",
};

/* ---- Filling it ---- */

static char *copy_clean(struct now *n, const char *text)
{
    char clean[NOW_TEXT_MAX];
    if (!text)
        return NULL;
    char *copy = strndup(clean, weft_text_clean(clean, sizeof clean, text, strlen(text)));
    n->failed |= !copy;
    return copy;
}

static char *compose(struct now *n, const char *format, va_list list)
{
    char text[NOW_TEXT_MAX];
    vsnprintf(text, sizeof text, format, list);
    return copy_clean(n, text);
}

static void replace(struct now *n, char **text, const char *format, va_list list)
{
    free(*text);
    *text = compose(n, format, list);
}

uint32_t now_thing(struct now *n, enum now_kind kind, uint64_t key)
{
    if (!n->known[kind])
        n->known[kind] = weft_idmap_new();
    uint32_t *at = n->known[kind] ? weft_idmap_at(n->known[kind], key) : NULL;
    if (at && *at != WEFT_IDMAP_NONE)
        return *at;
    if (n->things == NOW_THINGS_MAX) {
        n->left_out++;
        return NOW_NONE;
    }
    if (!at || !weft_reserve(&n->thing, n->things, &n->things_room, sizeof *n->thing)) {
        n->failed = true;
        return NOW_NONE;
    }
    n->thing[n->things] = (struct now_thing){.kind = kind, .key = key};
    return *at = n->things++;
}

void now_name(struct now *n, uint32_t thing, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (thing != NOW_NONE)
        replace(n, &n->thing[thing].name, format, list);
    va_end(list);
}

void now_state(struct now *n, uint32_t thing, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (thing != NOW_NONE)
        replace(n, &n->thing[thing].state, format, list);
    va_end(list);
}

void now_frame(struct now *n, uint32_t thing, const char *function, const char *file, uint32_t line)
{
    if (thing == NOW_NONE)
        return;
    struct now_thing *t = &n->thing[thing];
    if (t->frames == NOW_FRAMES_MAX) {
        t->frames_left_out++;
        return;
    }
    struct now_frame *grown = realloc(t->frame, (t->frames + 1) * sizeof *grown);
    if (!grown) {
        n->failed = true;
        return;
    }
    t->frame = grown;
    t->frame[t->frames++] = (struct now_frame){copy_clean(n, function), copy_clean(n, file), line};
}

void now_link(struct now *n, uint32_t from, uint32_t to, bool any, const char *how)
{
    if (from == NOW_NONE || to == NOW_NONE)
        return;
    if (!weft_reserve(&n->link, n->links, &n->links_room, sizeof *n->link)) {
        n->failed = true;
        return;
    }
    n->link[n->links++] = (struct now_link){from, to, any, how};
}

void now_drop_frames(struct now *n, uint32_t thing, uint32_t kept)
{
    struct now_thing *t = thing == NOW_NONE ? NULL : &n->thing[thing];
    for (uint32_t k = kept; t && k < t->frames; k++)
        weft_free_all(t->frame[k].function, t->frame[k].file);
    if (!t || kept >= t->frames)
        return;
    t->frames = kept;
    t->frames_left_out = 0;
}

void now_forget(struct now *n, uint32_t thing)
{
    if (thing != NOW_NONE)
        n->thing[thing].forgotten = true;
}

void now_brief(struct now *n, uint32_t thing)
{
    if (thing != NOW_NONE)
        n->thing[thing].brief = true;
}

void now_remark(struct now *n, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *text = compose(n, format, list);
    va_end(list);
    if (text && weft_reserve(&n->remark, n->remarks, &n->remarks_room, sizeof *n->remark))
        n->remark[n->remarks++] = text;
    else
        free(text);
}

/* ---- Removing what is forgotten ---- */

static void free_thing(struct now_thing *t)
{
    for (uint32_t k = 0; k < t->frames; k++)
        weft_free_all(t->frame[k].function, t->frame[k].file);
    weft_free_all(t->name, t->state, t->frame);
}

/* The others move up, so they have other numbers from then on. */
static void remove_forgotten(struct now *n)
{
    uint32_t *number = weft_new_none(n->things, sizeof *number), kept = 0, links = 0;
    n->failed |= !number;
    for (uint32_t i = 0; number && i < n->things; i++) {
        struct now_thing t = n->thing[i];
        uint32_t *known = weft_idmap_at(n->known[t.kind], t.key);
        if (known)
            *known = t.forgotten ? WEFT_IDMAP_NONE : kept;
        if (t.forgotten)
            free_thing(&t);
        else
            n->thing[number[i] = kept++] = t;
    }
    for (uint32_t i = 0; number && i < n->links; i++) {
        struct now_link l = n->link[i];
        l.from = number[l.from], l.to = number[l.to];
        if (l.from != NOW_NONE && l.to != NOW_NONE)
            n->link[links++] = l;
    }
    if (number)
        n->things = kept, n->links = links;
    free(number);
}

/* ---- Cycles ---- */

static int by_ends(const void *a, const void *b)
{
    const struct now_link *x = a, *y = b;
    WEFT_ORDER(x->from, y->from);
    WEFT_ORDER(x->to, y->to);
    const int how = strcmp(x->how, y->how);
    return how ? how : weft_order(x->any, y->any);
}

/* Of a link that is there twice, the one without `any` stays, which comes first. */
static void sort_links(struct now *n)
{
    uint32_t kept = 0;
    if (n->links)
        qsort(n->link, n->links, sizeof *n->link, by_ends);
    for (uint32_t i = 0; i < n->links; i++) {
        const struct now_link *l = &n->link[i], *last = kept ? &n->link[kept - 1] : NULL;
        if (!last || last->from != l->from || last->to != l->to || strcmp(last->how, l->how) != 0)
            n->link[kept++] = *l;
    }
    n->links = kept;
}

/* Tarjan's strongly connected components, with a stack of its own instead of recursion. */
struct visit {
    bool all;              /* links that are `any` are followed, too */
    uint32_t circles;      /* components that are circles */
    uint32_t *circle;      /* of each thing: the one that it is on, from 1; 0: none */
    uint32_t *first;       /* of each thing: its first link, and one more */
    uint32_t *next;        /* … the next one to be followed */
    uint32_t *order, *low; /* when it was reached, from 1; the earliest that it leads back to */
    uint32_t *path, *open; /* things on the way; things without a component yet */
    uint32_t paths, opens, reached;
};

static bool is_followed(const struct now *n, const struct visit *v, const struct now_link *l)
{
    return v->all || (!l->any && !n->thing[l->from].brief);
}

static void enter(struct visit *v, uint32_t thing)
{
    v->order[thing] = v->low[thing] = ++v->reached;
    v->path[v->paths++] = v->open[v->opens++] = thing;
}

/* All that `thing` leads to is known: it may be the first of a component, which is a cycle if it has two things, or
 * waits for itself. */
static void leave(const struct now *n, struct visit *v, uint32_t thing)
{
    bool cycle = v->open[v->opens - 1] != thing;
    for (uint32_t i = v->first[thing]; i < v->first[thing + 1]; i++)
        cycle |= n->link[i].to == thing && is_followed(n, v, &n->link[i]);
    v->paths--;
    if (v->paths)
        v->low[v->path[v->paths - 1]] =
            (uint32_t)weft_earlier(v->low[v->path[v->paths - 1]], v->low[thing]);
    if (v->low[thing] != v->order[thing])
        return;
    v->circles += cycle;
    for (uint32_t member = NOW_NONE; member != thing;) {
        member = v->open[--v->opens];
        v->circle[member] = cycle ? v->circles : 0;
        v->low[member] = NOW_NONE; /* it has its component */
    }
}

static void follow(const struct now *n, struct visit *v, uint32_t from)
{
    enter(v, from);
    while (v->paths) {
        const uint32_t thing = v->path[v->paths - 1];
        if (v->next[thing] == v->first[thing + 1]) {
            leave(n, v, thing);
            continue;
        }
        const struct now_link *l = &n->link[v->next[thing]++];
        if (!is_followed(n, v, l))
            continue;
        if (!v->order[l->to])
            enter(v, l->to);
        else if (v->low[l->to] != NOW_NONE)
            v->low[thing] = (uint32_t)weft_earlier(v->low[thing], v->order[l->to]);
    }
}

/* The links are sorted. Returns how many circles there are; UINT32_MAX: no memory. */
static uint32_t find_circles(const struct now *n, bool all, uint32_t *circle)
{
    struct visit v = {.all = all, .circle = circle};
    const uint64_t things = n->things;
    uint32_t *room = calloc(6 * (size_t)things + 1, sizeof *room);
    if (!room)
        return UINT32_MAX;
    v.first = room;
    v.next = v.first + things + 1, v.order = v.next + things, v.low = v.order + things;
    v.path = v.low + things, v.open = v.path + things;
    for (uint32_t i = 0; i < n->links; i++)
        v.first[n->link[i].from + 1]++;
    for (uint32_t i = 0; i < things; i++) {
        v.first[i + 1] += v.first[i];
        v.next[i] = v.first[i];
    }
    for (uint32_t i = 0; i < things; i++)
        if (!v.order[i])
            follow(n, &v, i);
    free(room);
    return v.circles;
}

bool now_circles(const struct now *n, uint32_t *circle)
{
    return find_circles(n, true, circle) != UINT32_MAX;
}

void now_finish(struct now *n)
{
    remove_forgotten(n);
    sort_links(n);
    uint32_t *cycle = calloc((size_t)n->things + 1, sizeof *cycle);
    n->cycles = cycle ? find_circles(n, false, cycle) : UINT32_MAX;
    n->failed |= n->cycles == UINT32_MAX;
    n->cycles = n->failed ? 0 : n->cycles;
    for (uint32_t i = 0; cycle && i < n->things; i++)
        n->thing[i].cycle = cycle[i];
    free(cycle);
}

/* ---- All of it ---- */

static char *program_of(pid_t pid)
{
    char path[64], name[64] = "", clean[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *f = fopen(path, "re");
    if (f && fgets(name, sizeof name, f))
        name[strcspn(name, "\n")] = 0;
    if (f)
        fclose(f);
    return strndup(clean, weft_text_clean(clean, sizeof clean, name, strlen(name)));
}

static void look_at(struct now *n, struct now_process *p)
{
#define LOOK(name) now_look_##name(n, p);
#include "now/looks.def"
#undef LOOK
}

int now_open(struct now **now, pid_t pid, struct weft_error *err)
{
    struct now_process p;
    struct now *n = *now = calloc(1, sizeof *n);
    if (!n)
        return weft_no_memory(err);
    n->pid = pid;
    int rc = now_process_open(&p, pid, err);
    if (rc == 0) {
        n->program = program_of(pid);
        n->from_ns = (uint64_t)weft_clock_ns(CLOCK_BOOTTIME);
        look_at(n, &p);
        now_threads_again(n);
        n->to_ns = (uint64_t)weft_clock_ns(CLOCK_BOOTTIME);
        n->real_ns = (uint64_t)weft_clock_ns(CLOCK_REALTIME);
        now_finish(n);
        rc = n->failed || !n->program ? weft_no_memory(err) : 0;
    }
    now_process_close(&p);
    return rc;
}

int now_open_core(struct now **now, const struct weft_core *core, struct weft_error *err)
{
    char clean[sizeof core->program * 3];
    struct now_process p;
    struct now *n = *now = calloc(1, sizeof *n);
    if (!n)
        return weft_no_memory(err);
    n->core = true;
    n->pid = (pid_t)core->process;
    n->from_ns = n->to_ns = n->real_ns = core->written_ns > 0 ? (uint64_t)core->written_ns : 0;
    n->program =
        strndup(clean, weft_text_clean(clean, sizeof clean, core->program, strlen(core->program)));
    int rc = now_process_open_core(&p, core, err);
    if (rc == 0) {
        look_at(n, &p);
        now_finish(n);
        rc = n->failed || !n->program ? weft_no_memory(err) : 0;
    }
    now_process_close(&p);
    return rc;
}

void now_free(struct now *n)
{
    if (!n)
        return;
    for (uint32_t i = 0; i < n->things; i++)
        free_thing(&n->thing[i]);
    for (uint32_t i = 0; i < n->remarks; i++)
        free(n->remark[i]);
    for (unsigned k = 0; k < NOW_KINDS; k++)
        weft_idmap_free(n->known[k]);
    weft_free_all(n->program, n->thing, n->link, n->remark, n);
}
