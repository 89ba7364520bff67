/* SPDX-License-Identifier: ISC */
/* libdwfl can unwind, too, but it computes the rule anew for each frame, in the process that a bad
 * file would crash. Here a worker finds each rule once, and the rule is then applied to any
 * registers and stacks (step.c). */
#include "symbols/unwind.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/order.h"
#include "base/table.h"
#include "symbols/cfi.h"
#include "symbols/elf_file.h"

enum {
    RULES_MAX = 1 << 15, /* when there are more, all are forgotten */
    MAPPINGS_MAX = 1 << 16,
    OBJECTS_MAX = 1 << 16,
    PATIENCE_MS = 10000, /* for one rule */
    LOSSES_MAX = 8,      /* workers lost; after that, only frame pointers are followed */
    MENDED_MAX = 64,     /* frames in the piece of a stack that is used to mend a chain */
};
#define NO_OBJECT UINT32_MAX

struct mapped {
    uint64_t start, end, offset;
    uint32_t object;
};

/* Forked processes share one until one of them maps something more. */
struct space {
    struct mapped *mapped; /* in order, none overlaps another */
    uint32_t count, room;
    uint32_t processes; /* how many processes use it */
};

struct process {
    uint32_t number; /* first: a number is a key */
    struct space *space;
};

struct object {
    char *path;
    struct symbols_place place; /* without its names: the path */
    bool bad;                   /* a worker was lost because of it */
};

struct cached {
    uint64_t offset; /* in the object: both are the key */
    uint32_t object;
    struct symbols_rule rule;
};
#define RULE_KEY (sizeof(uint64_t) + sizeof(uint32_t))

/* Limits how many shared mappings are copied: this many, and so many more for each reported mapping
 * and fork. It is more than normal programs need, and bounds what a file can cost. */
enum { COPIED_MAX = 1 << 21, COPIED_EACH = 64 };

struct weft_unwinder {
    uint64_t seed;
    void *processes; /* a tree, by number */
    struct object *object;
    uint32_t objects, objects_room;
    struct weft_table object_by; /* path and build id */
    struct cached *rule;
    uint32_t rules, rules_room;
    struct weft_table rule_by;
    struct symbols_worker worker;
    uint32_t told; /* how many objects the worker knows */
    unsigned losses;
    uint64_t may_copy; /* how many mappings may still be copied */
};

struct weft_unwinder *weft_unwinder_new(void)
{
    struct weft_unwinder *u = calloc(1, sizeof *u);
    if (!u)
        return NULL;
    u->seed = weft_seed();
    u->worker.fd = -1;
    u->may_copy = COPIED_MAX;
    return u;
}

/* ---- Processes and what is mapped ---- */

static struct process *process_of(const struct weft_unwinder *u, uint32_t number)
{
    struct process *const *found = tfind(&number, &u->processes, weft_order_u32);
    return found ? *found : NULL;
}

/* With a space shared with another process; or NULL: with an empty one. Returns NULL if there is no
 * memory. */
static struct process *process_new(struct weft_unwinder *u, uint32_t number, struct space *shared)
{
    struct process *p = calloc(1, sizeof *p);
    struct space *space = shared ? shared : calloc(1, sizeof *space);
    if (p)
        *p = (struct process){number, space};
    if (!p || !space || !tsearch(p, &u->processes, weft_order_u32)) {
        free(p);
        free(shared ? NULL : space);
        return NULL;
    }
    space->processes++;
    return p;
}

static void leave(struct space *space)
{
    if (--space->processes > 0)
        return;
    free(space->mapped);
    free(space);
}

static void free_process(void *process)
{
    leave(((struct process *)process)->space);
    free(process);
}

void weft_unwinder_forget(struct weft_unwinder *u, uint32_t process)
{
    struct process *p = process_of(u, process);
    if (!p)
        return;
    tdelete(p, &u->processes, weft_order_u32);
    free_process(p);
}

void weft_unwinder_free(struct weft_unwinder *u)
{
    if (!u)
        return;
    symbols_worker_stop(&u->worker);
    tdestroy(u->processes, free_process);
    for (uint32_t i = 0; i < u->objects; i++)
        free(u->object[i].path);
    weft_table_drop(&u->object_by);
    weft_table_drop(&u->rule_by);
    weft_free_all(u->object, u->rule, u);
}

/* Gives the process its own copy of its space. If too many mappings were copied already, they are
 * forgotten. Returns false if there is no memory. */
static bool part(struct weft_unwinder *u, struct process *p)
{
    const struct space *shared = p->space;
    if (shared->processes == 1)
        return true;
    struct space *own = calloc(1, sizeof *own);
    if (!own)
        return false;
    if (shared->count <= u->may_copy) {
        own->mapped = weft_resize(NULL, (uint64_t)shared->count + 4, sizeof *own->mapped);
        if (!own->mapped) {
            free(own);
            return false;
        }
        if (shared->count > 0)
            memcpy(own->mapped, shared->mapped, shared->count * sizeof *own->mapped);
        own->count = shared->count;
        own->room = shared->count + 4;
        u->may_copy -= shared->count;
    }
    own->processes = 1;
    leave(p->space);
    p->space = own;
    return true;
}

/* The first mapping that ends after an address. */
static uint32_t first_behind(const struct space *s, uint64_t address)
{
    uint32_t low = 0, high = s->count;
    WEFT_SEEK(low, high, s->mapped[middle].end <= address);
    return low;
}

static const struct mapped *mapped_at(const struct process *p, uint64_t address)
{
    const struct space *s = p ? p->space : NULL;
    uint32_t i = s ? first_behind(s, address) : 0;
    return s && i < s->count && s->mapped[i].start <= address ? &s->mapped[i] : NULL;
}

/* Puts n in place of what it overlaps; the parts that stick out on either side stay. */
static bool insert(struct space *s, struct mapped n)
{
    uint32_t first = first_behind(s, n.start), last = first, pieces = 0;
    struct mapped piece[3];
    while (last < s->count && s->mapped[last].start < n.end)
        last++;
    if (first < last && s->mapped[first].start < n.start) {
        piece[pieces] = s->mapped[first];
        piece[pieces++].end = n.start;
    }
    piece[pieces++] = n;
    if (first < last && s->mapped[last - 1].end > n.end) {
        piece[pieces] = s->mapped[last - 1];
        piece[pieces].offset += n.end - piece[pieces].start;
        piece[pieces++].start = n.end;
    }
    if (s->count + 2 > MAPPINGS_MAX)
        return true; /* more than a process can have */
    for (unsigned i = 1; i <= 2; i++)
        if (!weft_reserve(&s->mapped, s->count + i, &s->room, sizeof *s->mapped))
            return false;
    memmove(s->mapped + first + pieces, s->mapped + last, (s->count - last) * sizeof *s->mapped);
    memcpy(s->mapped + first, piece, pieces * sizeof *piece);
    s->count += pieces - (last - first);
    return true;
}

static uint64_t hash_object(const void *array, uint32_t item, uint64_t seed)
{
    const struct object *o = (const struct object *)array + item;
    const struct symbols_build_id *id = &o->place.build_id;
    uint64_t hash = seed;
    for (const char *c = o->path; *c; c++)
        hash = weft_mix(hash + (unsigned char)*c, seed);
    for (unsigned i = 0; i < id->bytes; i++)
        hash = weft_mix(hash + id->id[i], seed);
    return hash;
}

static bool same_object(const void *array, uint32_t item, const void *key)
{
    const struct object *o = (const struct object *)array + item, *k = key;
    const struct symbols_build_id *id = &k->place.build_id;
    return strcmp(o->path, k->path) == 0 && o->place.build_id.bytes == id->bytes &&
           memcmp(o->place.build_id.id, id->id, id->bytes) == 0;
}

/* The same file in several processes is one object; NO_OBJECT: it is not a file, or there are too
 * many. */
static int find_object(struct weft_unwinder *u, const struct weft_mapping *m, const char *path,
                       uint32_t *object)
{
    struct object key = {.path = (char *)(uintptr_t)path,
                         .place = {.process = m->process,
                                   .start = m->start,
                                   .end = m->start + m->size,
                                   .build_id = {.bytes = m->build_id_bytes}}};
    *object = NO_OBJECT;
    if ((path[0] != '/' || path[1] == '/') && strcmp(path, "[vdso]") != 0)
        return 0;
    memcpy(key.place.build_id.id, m->build_id, sizeof m->build_id);
    if (!weft_table_reserve(&u->object_by, u->object, u->objects, hash_object, u->seed) ||
        !weft_reserve(&u->object, u->objects, &u->objects_room, sizeof key))
        return WEFT_E_NOMEM;
    uint32_t *slot =
        weft_table_find(&u->object_by, hash_object(&key, 0, u->seed), same_object, u->object, &key);
    if (!*slot && u->objects < OBJECTS_MAX) {
        key.path = malloc(strlen(path) + 1);
        if (!key.path)
            return WEFT_E_NOMEM;
        strcpy(key.path, path);
        u->object[u->objects] = key;
        *slot = ++u->objects;
    }
    *object = *slot - 1; /* 0: NO_OBJECT */
    return 0;
}

/* ---- The worker ---- */

/* Sends it all objects while their processes are alive. */
static bool tell_objects(struct weft_unwinder *u)
{
    if (u->worker.pid <= 0) {
        if (u->losses >= LOSSES_MAX ||
            symbols_worker_start(&u->worker, NULL, symbols_cfi_work, NULL) < 0)
            return false;
        u->told = 0;
    }
    for (; u->told < u->objects; u->told++) {
        const struct object *o = &u->object[u->told];
        struct symbols_place place = o->place;
        enum symbols_file_state state;
        place.path = place.inside = o->path;
        int fd = o->bad ? -1 : symbols_place_open(&place, &state);
        bool ok = symbols_cfi_object(&u->worker, fd);
        if (fd >= 0)
            close(fd);
        if (!ok)
            return false;
    }
    return true;
}

/* The last request was too much for it, or an object that was sent since then. */
static void lose(struct weft_unwinder *u, uint32_t object)
{
    symbols_worker_stop(&u->worker);
    u->object[object].bad = true;
    u->losses++;
}

int weft_unwinder_map(struct weft_unwinder *u, const struct weft_mapping *m, const char *path)
{
    uint32_t object;
    struct process *p = process_of(u, m->process);
    if (m->kernel || m->size == 0 || m->size > UINT64_MAX - m->start)
        return 0;
    u->may_copy += COPIED_EACH;
    p = p ? p : process_new(u, m->process, NULL);
    if (!p || !part(u, p) || find_object(u, m, path, &object) < 0)
        return WEFT_E_NOMEM;
    uint64_t offset = strcmp(path, "[vdso]") == 0 ? 0 : m->offset;
    if (!insert(p->space, (struct mapped){m->start, m->start + m->size, offset, object}))
        return WEFT_E_NOMEM;
    if (u->told < u->objects && !tell_objects(u) && u->worker.pid > 0)
        lose(u, u->told);
    return 0;
}

int weft_unwinder_fork(struct weft_unwinder *u, uint32_t process, uint32_t parent)
{
    const struct process *from = process_of(u, parent);
    if (!from || process == parent)
        return 0;
    u->may_copy += COPIED_EACH;
    weft_unwinder_forget(u, process);
    return process_new(u, process, from->space) ? 0 : WEFT_E_NOMEM;
}

/* ---- Rules ---- */

/* NULL: there is none. */
static const struct symbols_rule *rule_at(struct weft_unwinder *u, const struct mapped *m,
                                          uint64_t address)
{
    struct cached c;
    c.offset = address - m->start + m->offset;
    c.object = m->object;
    if (m->object == NO_OBJECT || u->object[m->object].bad)
        return NULL;
    if (u->rules == RULES_MAX) {
        u->rules = 0;
        weft_table_drop(&u->rule_by);
    }
    uint32_t i = weft_table_get(&u->rule_by, u->rule, sizeof c, RULE_KEY, &c, u->seed);
    if (i == UINT32_MAX) {
        if (!tell_objects(u))
            return NULL;
        if (!symbols_cfi_send(&u->worker, c.object, c.offset) ||
            !symbols_cfi_receive(&u->worker, PATIENCE_MS, &c.rule)) {
            lose(u, c.object);
            return NULL;
        }
        i = weft_table_add(&u->rule_by, &u->rule, &u->rules, &u->rules_room, sizeof c, RULE_KEY, &c,
                           u->seed);
        if (i == UINT32_MAX)
            return NULL;
    }
    const struct symbols_rule *rule = &u->rule[i].rule;
    return rule->state == SYMBOLS_RULE_NONE ? NULL : rule;
}

/* ---- Callers ---- */

static const struct mapped *where(const struct process *p, uint64_t *pc)
{
    const struct mapped *m = mapped_at(p, *pc);
    if (!m) {
        *pc = symbols_address(*pc);
        m = mapped_at(p, *pc);
    }
    return m;
}

/* Where a walk along the stack ended. */
struct end {
    bool complete; /* it ended where the thread began */
    const struct symbols_rule
        *rule; /* of the outermost frame, which did not lead to its caller; or NULL */
};

/* Fills pcs starting at w; its pc is the first one. */
static uint32_t walk(struct weft_unwinder *u, const struct process *p, struct symbols_walk *w,
                     uint64_t *pcs, uint32_t room, struct end *end)
{
    struct symbols_frame next;
    const struct mapped *m = where(p, &w->frame.pc);
    uint32_t count = 0;
    bool exact = true; /* the pc is that of an instruction and not a return address */
    *end = (struct end){0};
    pcs[count++] = w->frame.pc;
    while (count < room) {
        const struct symbols_rule *rule = m ? rule_at(u, m, w->frame.pc - !exact) : NULL;
        const bool signal = rule && rule->signal;
        *end = (struct end){rule && rule->state == SYMBOLS_RULE_LAST, rule};
        if (end->complete || (rule ? !symbols_step_by_rule(w, rule, &next)
                                   : !symbols_step_by_frame_pointer(w, &next)))
            break;
        m = where(p, &next.pc);
        if (!m || !symbols_is_above(&next, &w->frame, exact))
            break;
        w->frame = next;
        pcs[count++] = next.pc + signal;
        exact = signal;
        end->rule = NULL;
    }
    return count;
}

uint32_t weft_unwinder_whole(struct weft_unwinder *u, const struct weft_unwind_input *in,
                             uint64_t *pcs, uint32_t room, bool *complete)
{
    struct symbols_walk w;
    struct end end;
    *complete = false;
    if (room == 0 || !symbols_walk_begin(&w, in))
        return 0;
    const uint32_t count = walk(u, process_of(u, in->process), &w, pcs, room, &end);
    *complete = end.complete;
    return count;
}

uint32_t weft_unwinder_run(struct weft_unwinder *u, const struct weft_unwind_input *in,
                           uint64_t *pcs, uint32_t room)
{
    bool complete;
    return weft_unwinder_whole(u, in, pcs, room, &complete);
}

bool weft_unwinder_knows(const struct weft_unwinder *u, uint32_t process, uint64_t address)
{
    return mapped_at(process_of(u, process), symbols_address(address)) != NULL;
}

/* ---- The kernel's chain by frame pointers ---- */

/* The first caller in the chain that is beyond the frame that w has reached, or count. It is found
 * by its place in the stack: the frame that w's frame pointer points to is the one in the chain,
 * unless the chain was wrong. */
static uint32_t join(const struct symbols_walk *w, const uint64_t *chain, uint32_t count)
{
    uint64_t fp, at = w->fp, pc;
    if (!symbols_fp(&w->frame, &fp) || fp < symbols_sp(&w->frame))
        return count;
    for (uint32_t i = 1; i < count; i++) {
        if (symbols_load(w, at + 8, &pc) && symbols_address(pc) != chain[i])
            return count;
        if (at == fp)
            return i;
        uint64_t before = at;
        if (!symbols_load(w, at, &at) || at <= before)
            return count;
    }
    return count;
}

/* How many of the chain's callers can be right: up to the first one that used the frame pointer for
 * something else. */
static uint32_t believe(struct weft_unwinder *u, const struct process *p, const uint64_t *chain,
                        uint32_t count, bool *complete)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t pc = chain[i];
        const struct mapped *m = where(p, &pc);
        const struct symbols_rule *rule = m ? rule_at(u, m, pc - 1) : NULL;
        if (!m)
            return i;
        *complete = rule && rule->state == SYMBOLS_RULE_LAST;
        if (*complete || (rule && symbols_spoils_fp(rule)))
            return i + 1;
    }
    *complete = true; /* as far as the kernel goes */
    return count;
}

uint32_t weft_unwinder_mend(struct weft_unwinder *u, const struct weft_unwind_input *in,
                            uint64_t *pcs, uint32_t count, uint32_t room, bool *complete)
{
    uint64_t found[MENDED_MAX];
    struct symbols_walk w;
    struct end end;
    const struct process *p = process_of(u, in->process);
    *complete = true;
    if (room == 0 || !symbols_walk_begin(&w, in) || !mapped_at(p, w.frame.pc))
        return count;
    uint32_t n = walk(u, p, &w, found, room < MENDED_MAX ? room : MENDED_MAX, &end);
    uint32_t from = count, rest = 0;
    *complete = end.complete;
    if (!end.complete && !(end.rule && symbols_spoils_fp(end.rule)))
        from = join(&w, pcs, count);
    if (from < count) {
        rest = believe(u, p, pcs + from, count - from, complete);
        rest = rest < room - n ? rest : room - n;
        memmove(pcs + n, pcs + from, rest * sizeof *pcs);
    }
    memcpy(pcs, found, n * sizeof *pcs);
    return n + rest;
}
