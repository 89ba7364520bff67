/* SPDX-License-Identifier: ISC */
#include "read/eio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/idmap.h"
#include "format/error.h"
#include "read/state.h"

#define NOBODY WEFT_ID_LOOP
#define NONE UINT32_MAX

/* The first id for promises that Eio has no number for: one for each suspension. No id of Eio's
 * gets this high, and a person can tell them from Eio's ids at a glance. */
#define FIRST_OWN UINT64_C(1000000000000)

enum sort { UNKNOWN, FIBER, CONTEXT, OBJECT };

/* What an id stands for. */
struct thing {
    uint64_t id;
    uint64_t waits;   /* fiber: the promise it waits for, or NOBODY */
    uint64_t tried;   /* fiber: what it just tried and found not ready, or NOBODY */
    uint32_t context; /* fiber: the innermost one it is in; context: the one around it; or NONE */
    uint32_t home;    /* fiber: the context it was created in, or NONE */
    uint32_t span;    /* fiber: the innermost one, or NONE */
    uint8_t sort;
    uint8_t kind; /* 0: not known */
    /* fiber: the kind of the object it will name as the one it waits for, or 0 */
    uint8_t expects;
    bool ended, suspended, own; /* own: what it waits for has no id in Eio */
    bool joins;                 /* … and it waits for a domain to end */
    bool holds;                 /* fiber: it has been reported that its switch waits for it */
    bool got;                   /* something was taken from it */
};

/* What a fiber is doing, by name. */
struct span {
    uint64_t id;
    uint32_t outer; /* or NONE */
};

struct ring {
    uint64_t fiber;  /* the one that runs, or ran last; or NOBODY */
    uint64_t parent; /* of the domain's first fiber */
    uint64_t join;   /* the fiber or promise that waits for the domain to end, or NOBODY */
    uint64_t gc_ns;  /* when the outermost phase began */
    uint32_t phases;
    uint32_t span; /* the innermost one, if there are no fibers; or NONE */
    bool polls, lost;
};

struct read_eio {
    struct weft_idmap *ids;
    struct thing *thing;
    uint32_t things, room;
    struct span *span; /* of all fibers, including those that have ended */
    uint32_t spans, span_room;
    struct ring *ring;
    uint32_t rings;
    uint64_t own; /* the next id for a promise that Eio has no number for */
    /* otherwise the program does not use Eio, and each domain is treated like a fiber */
    bool has_fibers;

    /* Set only while an item is translated. */
    struct weft_event *out;
    int count;
    const struct read_eio_item *item, *next; /* next: or NULL */
    struct ring *r;                          /* the item's */
    struct thing *fiber;                     /* what runs on it, or NULL */
    struct thing *of;                        /* what the item's id stands for */
};

static const struct weft_origin origins[] = {
    {.type = "fiber"},   {.type = "switch"},    {.type = "protect"}, {.type = "sub"},
    {.type = "root"},    {.type = "any"},       {.type = "promise"}, {.type = "semaphore"},
    {.type = "stream"},  {.type = "mutex"},     {.type = "io"},      {.type = "sleep"},
    {.type = "context"}, {.type = "condition"}, {.type = "span"},    {.type = "log"},
    {.type = "accept"},  {.type = "read"},      {.type = "receive"}, {.type = "object"}};

static const struct weft_origin *origin(const char *type)
{
    const size_t count = sizeof origins / sizeof *origins;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(origins[i].type, type))
            return &origins[i];
    return &origins[count - 1];
}

struct read_eio *read_eio_new(uint32_t rings)
{
    struct read_eio *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->ids = weft_idmap_new();
    e->ring = calloc(rings + 1u, sizeof *e->ring);
    e->rings = rings;
    e->own = FIRST_OWN;
    if (!e->ids || !e->ring) {
        read_eio_free(e);
        return NULL;
    }
    for (uint32_t i = 0; i < rings; i++) {
        e->ring[i].fiber = e->ring[i].parent = e->ring[i].join = NOBODY;
        e->ring[i].span = NONE;
    }
    return e;
}

void read_eio_free(struct read_eio *e)
{
    if (!e)
        return;
    weft_idmap_free(e->ids);
    weft_free_all(e->thing, e->span, e->ring, e);
}

void read_eio_name_stream(struct weft_stream_facts *f, uint32_t number)
{
    f->number = number;
    snprintf(f->name, sizeof f->name, "domain %u", number);
}

static struct weft_event *put(struct read_eio *e, enum weft_event_kind kind, uint64_t a, uint64_t b)
{
    struct weft_event *ev = &e->out[e->count++];
    *ev = (struct weft_event){.time_ns = e->item->time_ns,
                              .a = a,
                              .b = b,
                              .kind = (uint8_t)kind,
                              .stream = e->item->ring};
    return ev;
}

/* The item's text becomes the event's. */
static void put_text(const struct read_eio *e, struct weft_event *ev)
{
    read_set_text(ev, e->item->text, e->item->text_size);
}

/* What the id stands for, or NULL. */
static struct thing *seek(struct read_eio *e, uint64_t id)
{
    const uint32_t at = id == NOBODY ? NONE : weft_idmap_seek(e->ids, id);
    return at == NONE ? NULL : &e->thing[at];
}

static struct thing nothing(uint64_t id)
{
    return (struct thing){
        .id = id, .waits = NOBODY, .tried = NOBODY, .context = NONE, .home = NONE, .span = NONE};
}

/* What the id stands for; added if it is new. NULL: no memory. */
static struct thing *find(struct read_eio *e, uint64_t id)
{
    uint32_t at = weft_idmap_seek(e->ids, id);
    if (at == NONE) {
        at = e->things;
        if (!weft_reserve(&e->thing, at, &e->room, sizeof *e->thing) ||
            !weft_idmap_put(e->ids, id, at))
            return NULL;
        e->thing[e->things++] = nothing(id);
    }
    return &e->thing[at];
}

static struct weft_event *create(struct read_eio *e, uint64_t parent, uint64_t id, const char *type)
{
    struct weft_event *ev = put(e, WEFT_EVENT_CREATES, parent, id);
    ev->origin = origin(type);
    return ev;
}

/* The names of the kinds. */
static const char *const kinds[] = {[READ_EIO_SWITCH] = "switch",
                                    [READ_EIO_PROTECT] = "protect",
                                    [READ_EIO_SUB] = "sub",
                                    [READ_EIO_ROOT] = "root",
                                    [READ_EIO_ANY] = "any",
                                    [READ_EIO_PROMISE] = "promise",
                                    [READ_EIO_SEMAPHORE] = "semaphore",
                                    [READ_EIO_STREAM] = "stream",
                                    [READ_EIO_MUTEX] = "mutex"};
#define KINDS (sizeof kinds / sizeof *kinds)

uint8_t read_eio_kind(const char *text, uint32_t size)
{
    for (uint8_t i = 0; i < KINDS; i++)
        if (kinds[i] && read_is_text(text, size, kinds[i]))
            return i;
    return 0;
}

/* From now on the item's id stands for something new, even if it was used before: no real run
 * reuses an id, but a hostile file may. */
static void begin(struct read_eio *e, enum sort sort)
{
    *e->of = nothing(e->item->id);
    e->of->sort = (uint8_t)sort;
}

/* ---- Fibers ---- */

static void on_create_fiber(struct read_eio *e)
{
    struct ring *r = e->r;
    const uint64_t id = e->item->id;
    e->has_fibers = true;
    begin(e, FIBER);
    e->of->context = e->of->home = weft_idmap_get(e->ids, e->item->other);
    create(e, r->fiber != NOBODY ? r->fiber : r->parent, id, "fiber");
    if (r->join != NOBODY)
        put(e, WEFT_EVENT_TRY_READ, r->join, id);
    r->join = NOBODY;
}

/* The fiber continues. Its next event says why: it got what it waited for, or something else
 * happened. */
static void go_on(struct read_eio *e, struct thing *f, const struct read_eio_item *next)
{
    const uint64_t id = f->id, source = f->suspended ? f->waits : NOBODY;
    const bool own = f->own;
    const struct thing *got =
        !own && next && next->event == READ_EIO_GET && next->id == source ? seek(e, source) : NULL;
    f->suspended = f->own = f->joins = false;
    f->waits = f->tried = NOBODY;
    if (own) {
        put(e, WEFT_EVENT_RESOLVES, NOBODY, source);
        put(e, WEFT_EVENT_READ, id, source);
    } else if (got) {
        const bool reads = got->ended || got->kind == READ_EIO_PROMISE || got->sort == FIBER;
        put(e, reads ? WEFT_EVENT_READ : WEFT_EVENT_SIGNAL, id, source);
    } else {
        put(e, WEFT_EVENT_SWITCH, id, 0);
    }
}

static void on_fiber(struct read_eio *e)
{
    e->has_fibers = true;
    if (e->of->sort == UNKNOWN)
        e->of->sort = FIBER;
    e->r->fiber = e->item->id;
    go_on(e, e->of, e->next);
}

/* In a cancelled context a suspension ends at once. No event says that the fiber continues; only
 * what it does next shows it: an event that only the running fiber can cause. */
static void go_on_unsaid(struct read_eio *e, const struct read_eio_item *does)
{
    const uint32_t causes = 1u << READ_EIO_SUSPEND_FIBER | 1u << READ_EIO_CREATE_CC |
                            1u << READ_EIO_CREATE_FIBER | 1u << READ_EIO_EXIT_CC |
                            1u << READ_EIO_ERROR | 1u << READ_EIO_GET;
    if (e->fiber && e->fiber->suspended &&
        (causes >> does->event & 1 ||
         (does->event == READ_EIO_EXIT_FIBER && does->id == e->r->fiber)))
        go_on(e, e->fiber, NULL);
}

static bool is(const struct read_eio *e, const char *operation)
{
    return read_is_text(e->item->text, e->item->text_size, operation);
}

/* The type of promise that an operation waits for. Operations that take whatever comes next have
 * types of their own. */
static const char *type_of_operation(const struct read_eio_item *i)
{
    static const struct {
        const char *begins, *type;
    } known[] = {{"sleep", "sleep"},      {"Condition", "condition"}, {"accept", "accept"},
                 {"read", "read"},        {"recv", "read"},           {"Stream.take", "receive"},
                 {"Sync.take", "receive"}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const size_t size = strlen(known[k].begins);
        if (i->text_size >= size && !memcmp(i->text, known[k].begins, size))
            return known[k].type;
    }
    return "io";
}

/* Makes a promise for what the fiber waits for, since Eio has no number for it. */
static void wait_for_operation(struct read_eio *e, struct thing *f)
{
    const uint64_t own = e->own++;
    put_text(e, create(e, f->id, own, type_of_operation(e->item)));
    put(e, WEFT_EVENT_TRY_READ, f->id, own);
    /* Eio's internal fiber, through which other domains wake this one */
    if (is(e, "read_eventfd")) {
        put(e, WEFT_EVENT_BACKGROUND, f->id, 0);
        put(e, WEFT_EVENT_BACKGROUND, own, 0);
    }
    f->waits = own;
    f->own = true;
    f->joins = is(e, "run-domain");
}

/* A switch does not end before its fibers. But if a fiber only sleeps now and then, the switch is
 * meant to wait forever; the timer is not late. So such a fiber does not count as something that
 * the switch waits for. */
static void hold_switch(struct read_eio *e, struct thing *f)
{
    const struct thing *c = f->home != NONE ? &e->thing[f->home] : NULL;
    if (f->holds || !e->item->text_size || is(e, "sleep") || is(e, "read_eventfd") || !c ||
        c->sort != CONTEXT || c->kind != READ_EIO_SWITCH || c->ended)
        return;
    put(e, WEFT_EVENT_TRY_READ, c->id, f->id);
    f->holds = true;
}

/* If the event that created an object was overwritten, the way it is used shows what it is. */
static void learn(struct thing *t, unsigned kind)
{
    if (t && t->sort == UNKNOWN && !t->kind)
        t->kind = (uint8_t)kind;
}

static void on_suspend(struct read_eio *e)
{
    struct thing *f = e->fiber;
    const struct read_eio_item *next = e->next;
    if (f) {
        const bool locks = is(e, "Mutex.lock"), told_before = locks || is(e, "Switch.await_idle");
        f->suspended = true;
        f->expects = is(e, "Semaphore.acquire") ? READ_EIO_SEMAPHORE
                     : is(e, "Promise.await")   ? READ_EIO_PROMISE
                                                : 0;
        if (told_before && f->tried != NOBODY) {
            put(e, WEFT_EVENT_TRY_READ, f->id, f->tried);
            f->waits = f->tried;
            if (locks)
                learn(seek(e, f->tried), READ_EIO_MUTEX);
        } else if (next && next->event == READ_EIO_TRY_GET) {
            f->waits = NOBODY; /* the next event says what it waits for */
        } else if (e->item->text_size) {
            wait_for_operation(e, f);
        }
        f->tried = NOBODY;
        hold_switch(e, f);
    }
    put(e, WEFT_EVENT_SWITCH, NOBODY, 0);
    if (next)
        go_on_unsaid(e, next);
}

static void on_try_get(struct read_eio *e)
{
    struct thing *f = e->fiber;
    const uint64_t id = e->item->id;
    if (!f)
        return;
    if (f->suspended && f->expects)
        learn(e->of, f->expects);
    if (f->suspended && f->waits == NOBODY) {
        put(e, WEFT_EVENT_TRY_READ, f->id, id);
        f->waits = id;
    } else {
        f->tried = id;
    }
}

static void on_exit_fiber(struct read_eio *e)
{
    struct thing *f = e->of;
    if (!f->ended)
        put(e, WEFT_EVENT_RESOLVES, f->id, f->id);
    f->ended = true;
    if (f->holds)
        put(e, WEFT_EVENT_READ_LATER, e->thing[f->home].id, f->id);
    f->holds = false;
}

/* ---- What they share ---- */

static bool is_held(const struct thing *t)
{
    return t->kind == READ_EIO_SEMAPHORE || t->kind == READ_EIO_MUTEX;
}

static void on_get(struct read_eio *e)
{
    const uint64_t fiber = e->r->fiber, id = e->item->id;
    e->of->got = true;
    if (fiber != NOBODY && is_held(e->of))
        put(e, WEFT_EVENT_ACQUIRES, fiber, id);
    else if (fiber != NOBODY && e->of->ended)
        put(e, WEFT_EVENT_READ_LATER, fiber, id);
}

static void on_put(struct read_eio *e)
{
    struct thing *t = e->of;
    const uint64_t fiber = e->r->fiber;
    const bool unknown = t->sort == UNKNOWN && !t->kind;
    /* Nothing can be taken from a promise before something was put into it. */
    const bool releases = is_held(t) || (unknown && t->got);
    if (releases)
        put(e, WEFT_EVENT_RELEASES, fiber, t->id);
    if (releases || t->kind == READ_EIO_STREAM || unknown) {
        put(e, WEFT_EVENT_NOTIFIES, fiber, t->id);
    } else if (!t->ended) {
        put(e, WEFT_EVENT_FULFILLS, fiber, t->id);
        t->ended = true;
    }
}

static void on_create(struct read_eio *e)
{
    struct thing *f = e->fiber, *t = e->of;
    const bool is_context = e->item->event == READ_EIO_CREATE_CC;
    const uint8_t kind = e->item->kind;
    const char *type = kind < KINDS ? kinds[kind] : NULL;
    begin(e, is_context ? CONTEXT : OBJECT);
    t->kind = kind;
    create(e, e->r->fiber, t->id, type ? type : is_context ? "context" : "object");
    if (f && is_context) {
        t->context = f->context;
        f->context = (uint32_t)(t - e->thing);
    } else if (f && f->joins && kind == READ_EIO_PROMISE) {
        /* Through this the domain learns that the fiber was cancelled. */
        put(e, WEFT_EVENT_BACKGROUND, t->id, 0);
    }
}

static void on_exit_context(struct read_eio *e)
{
    struct thing *f = e->fiber, *c = f && f->context != NONE ? &e->thing[f->context] : NULL;
    if (!c || c->sort != CONTEXT)
        return;
    f->context = c->context;
    put(e, c->ended ? WEFT_EVENT_READ_LATER : WEFT_EVENT_FULFILLS, f->id, c->id);
    c->ended = true;
}

/* A context is cancelled. Two cases are normal: the first of several has succeeded and the others
 * are not wanted any more; or only daemons are left in a switch. */
static void on_error(struct read_eio *e)
{
    struct thing *c = e->of;
    if (c->ended)
        return;
    c->ended = true;
    if (is(e, "Eio__core__Fiber.Not_first") || (is(e, "Stdlib.Exit") && c->kind == READ_EIO_SWITCH))
        put(e, WEFT_EVENT_CANCELS, e->r->fiber, c->id);
    else
        put_text(e, put(e, WEFT_EVENT_FAILS, e->r->fiber, c->id));
}

/* ---- What a fiber says ---- */

static void on_name(struct read_eio *e)
{
    put_text(e, put(e, WEFT_EVENT_LABEL, e->item->id, 0));
}

static void on_counter(struct read_eio *e)
{
    struct weft_event *ev = put(e, WEFT_EVENT_COUNTER, e->r->fiber, 0);
    ev->value = (int64_t)e->item->id;
    put_text(e, ev);
}

static void on_log(struct read_eio *e)
{
    if (e->r->fiber == NOBODY && e->has_fibers)
        return;
    const uint64_t id = e->own++;
    put_text(e, create(e, e->r->fiber, id, "log"));
    put(e, WEFT_EVENT_FULFILLS, e->r->fiber, id);
}

/* Where the innermost span of the running fiber is stored. NULL: it is not known what runs. */
static uint32_t *place_of_span(struct read_eio *e)
{
    return e->fiber ? &e->fiber->span : e->has_fibers ? NULL : &e->r->span;
}

static void on_enter_span(struct read_eio *e)
{
    uint32_t *span = place_of_span(e);
    if (!span)
        return;
    const uint64_t around = !e->fiber && *span != NONE ? e->span[*span].id : e->r->fiber,
                   id = e->own++;
    e->span[e->spans] = (struct span){.id = id, .outer = *span};
    *span = e->spans++;
    put_text(e, create(e, around, id, "span"));
    put(e, WEFT_EVENT_BACKGROUND, id, 0); /* it may take as long as it likes */
}

static void on_exit_span(struct read_eio *e)
{
    uint32_t *span = place_of_span(e);
    if (!span || *span == NONE)
        return;
    put(e, WEFT_EVENT_FULFILLS, e->r->fiber, e->span[*span].id);
    *span = e->span[*span].outer;
}

/* ---- Domains ---- */

static void on_phase(struct read_eio *e)
{
    struct ring *r = e->r;
    if (e->item->event == READ_EIO_GC_BEGIN) {
        if (r->phases++ == 0)
            r->gc_ns = e->item->time_ns;
    } else if (r->phases && --r->phases == 0 && !r->polls) {
        put(e, WEFT_EVENT_GC, 0, 0)->value = (int64_t)(e->item->time_ns - r->gc_ns);
    }
}

static void on_poll(struct read_eio *e)
{
    e->r->polls = e->item->event == READ_EIO_SUSPEND_DOMAIN;
    put(e, e->r->polls ? WEFT_EVENT_SUSPEND : WEFT_EVENT_RESUME, 0, 0);
}

/* Another domain may have used the ring before; or events are missing. */
static void on_ring_start(struct read_eio *e)
{
    struct ring *r = e->r;
    r->fiber = r->parent = r->join = NOBODY;
    r->span = NONE;
    r->phases = 0;
    r->polls = false;
    r->lost |= e->item->event == READ_EIO_LOST;
}

static void on_domain_spawn(struct read_eio *e)
{
    const struct thing *f = seek(e, e->item->id);
    on_ring_start(e);
    e->r->parent = e->item->id;
    e->r->join = f && f->joins ? f->waits : NOBODY;
}

static const struct {
    void (*on)(struct read_eio *e);
    bool of_id; /* e->of is set */
} handlers[READ_EIO_EVENTS] = {
    [READ_EIO_CREATE_OBJ] = {on_create, true},
    [READ_EIO_CREATE_CC] = {on_create, true},
    [READ_EIO_CREATE_FIBER] = {on_create_fiber, true},
    [READ_EIO_GET] = {on_get, true},
    [READ_EIO_TRY_GET] = {on_try_get, true},
    [READ_EIO_PUT] = {on_put, true},
    [READ_EIO_EXIT_CC] = {on_exit_context, false},
    [READ_EIO_EXIT_FIBER] = {on_exit_fiber, true},
    [READ_EIO_ERROR] = {on_error, true},
    [READ_EIO_NAME] = {on_name, false},
    [READ_EIO_LOG] = {on_log, false},
    [READ_EIO_ENTER_SPAN] = {on_enter_span, false},
    [READ_EIO_EXIT_SPAN] = {on_exit_span, false},
    [READ_EIO_FIBER] = {on_fiber, true},
    [READ_EIO_SUSPEND_FIBER] = {on_suspend, false},
    [READ_EIO_SUSPEND_DOMAIN] = {on_poll, false},
    [READ_EIO_DOMAIN_SPAWN] = {on_domain_spawn, false},
    [READ_EIO_RESUME_DOMAIN] = {on_poll, false},
    [READ_EIO_GC_BEGIN] = {on_phase, false},
    [READ_EIO_GC_END] = {on_phase, false},
    [READ_EIO_RING_START] = {on_ring_start, false},
    [READ_EIO_LOST] = {on_ring_start, false},
    [READ_EIO_COUNTER] = {on_counter, false},
};

int read_eio_tell(struct read_eio *e, struct weft_event *out, const struct read_eio_item *item,
                  const struct read_eio_item *next)
{
    struct ring *r = &e->ring[item->ring];
    const uint64_t ran = r->fiber;
    const bool lost = r->lost;
    e->out = out;
    e->count = 0;
    e->item = item;
    e->next = next;
    e->r = r;
    if (item->event < READ_EIO_EVENTS) {
        e->of = handlers[item->event].of_id ? find(e, item->id) : NULL;
        if ((handlers[item->event].of_id && !e->of) ||
            !weft_reserve(&e->span, e->spans, &e->span_room, sizeof *e->span))
            return WEFT_E_NOMEM;
        e->fiber = seek(e, r->fiber);
        go_on_unsaid(e, item);
        handlers[item->event].on(e);
    }
    for (int i = 0; i < e->count; i++) {
        out[i].running = i == 0 ? ran : r->fiber;
        out[i].gap = out[i].missing = lost && i == 0;
    }
    r->lost = r->lost && (item->event == READ_EIO_LOST || !e->count);
    return e->count;
}
