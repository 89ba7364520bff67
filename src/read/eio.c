/* SPDX-License-Identifier: ISC */
#include "read/eio.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/idmap.h"
#include "format/error.h"
#include "read/reader.h"

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
    uint64_t now_ns;
    uint32_t stream;
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
    free(e->thing);
    free(e->span);
    free(e->ring);
    free(e);
}

void read_eio_name_stream(struct weft_stream_facts *f, uint32_t number)
{
    char digits[10];
    unsigned count = 0;
    memcpy(f->name, "domain ", 7);
    f->number = number;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    for (unsigned i = 0; i < count && 7 + i < sizeof f->name - 1; i++)
        f->name[7 + i] = digits[count - 1 - i];
}

static struct weft_event *put(struct read_eio *e, enum weft_event_kind kind, uint64_t a, uint64_t b)
{
    struct weft_event *ev = &e->out[e->count++];
    *ev = (struct weft_event){
        .time_ns = e->now_ns, .a = a, .b = b, .kind = (uint8_t)kind, .stream = e->stream};
    return ev;
}

static void put_text(struct weft_event *ev, const char *text, uint32_t size)
{
    const char *end = text ? memchr(text, '\0', size) : NULL;
    ev->text = text;
    ev->text_size = end ? (uint32_t)(end - text) : text ? size : 0;
}

/* What the id stands for; added if it is new. NULL: no memory. */
static struct thing *find(struct read_eio *e, uint64_t id)
{
    const uint32_t at = weft_idmap_seek(e->ids, id);
    if (at != WEFT_IDMAP_NONE)
        return &e->thing[at];
    if (!weft_reserve(&e->thing, e->things, &e->room, sizeof *e->thing) ||
        !weft_idmap_put(e->ids, id, e->things))
        return NULL;
    struct thing *t = &e->thing[e->things++];
    *t = (struct thing){
        .id = id, .waits = NOBODY, .tried = NOBODY, .context = NONE, .home = NONE, .span = NONE};
    return t;
}

static uint32_t place(const struct read_eio *e, const struct thing *t)
{
    return (uint32_t)(t - e->thing);
}

static void create(struct read_eio *e, uint64_t parent, uint64_t id, const char *type)
{
    put(e, WEFT_EVENT_CREATES, parent, id)->origin = origin(type);
}

static const char *type_of(unsigned kind)
{
    static const char *const names[] = {[READ_EIO_SWITCH] = "switch",
                                        [READ_EIO_PROTECT] = "protect",
                                        [READ_EIO_SUB] = "sub",
                                        [READ_EIO_ROOT] = "root",
                                        [READ_EIO_ANY] = "any",
                                        [READ_EIO_PROMISE] = "promise",
                                        [READ_EIO_SEMAPHORE] = "semaphore",
                                        [READ_EIO_STREAM] = "stream",
                                        [READ_EIO_MUTEX] = "mutex"};
    return kind < sizeof names / sizeof *names && names[kind] ? names[kind] : NULL;
}

/* From now on the id stands for something new, even if it was used before: no real run reuses an
 * id, but a hostile file may. */
static struct thing *begin(struct read_eio *e, uint64_t id, enum sort sort, unsigned kind)
{
    struct thing *t = find(e, id);
    if (t)
        *t = (struct thing){.id = id,
                            .waits = NOBODY,
                            .tried = NOBODY,
                            .context = NONE,
                            .home = NONE,
                            .span = NONE,
                            .sort = (uint8_t)sort,
                            .kind = (uint8_t)kind};
    return t;
}

/* ---- Fibers ---- */

static int on_create_fiber(struct read_eio *e, struct ring *r, const struct read_eio_item *item)
{
    struct thing *t = begin(e, item->id, FIBER, 0);
    if (!t)
        return WEFT_E_NOMEM;
    const uint32_t context = weft_idmap_get(e->ids, item->other);
    t->context = t->home = context == WEFT_IDMAP_NONE ? NONE : context;
    create(e, r->fiber != NOBODY ? r->fiber : r->parent, item->id, "fiber");
    if (r->join != NOBODY)
        put(e, WEFT_EVENT_TRY_READ, r->join, item->id);
    r->join = NOBODY;
    return 0;
}

/* The fiber continues. Its next event says why: it got what it waited for, or something else
 * happened. */
static int go_on(struct read_eio *e, struct thing *f, const struct read_eio_item *next)
{
    const uint64_t id = f->id, source = f->suspended ? f->waits : NOBODY;
    const bool own = f->own,
               got = next && next->event == READ_EIO_GET && next->id == source && !own;
    f->suspended = f->own = f->joins = false;
    f->waits = f->tried = NOBODY;
    if (own) {
        put(e, WEFT_EVENT_RESOLVES, NOBODY, source);
        put(e, WEFT_EVENT_READ, id, source);
    } else if (got) {
        const struct thing *t = find(e, source);
        if (!t)
            return WEFT_E_NOMEM;
        put(e,
            t->ended || t->kind == READ_EIO_PROMISE || t->sort == FIBER ? WEFT_EVENT_READ
                                                                        : WEFT_EVENT_SIGNAL,
            id, source);
    } else {
        put(e, WEFT_EVENT_SWITCH, id, 0);
    }
    return 0;
}

static int on_fiber(struct read_eio *e, struct ring *r, const struct read_eio_item *item,
                    const struct read_eio_item *next)
{
    struct thing *f = find(e, item->id);
    if (!f)
        return WEFT_E_NOMEM;
    f->sort = f->sort == UNKNOWN ? FIBER : f->sort;
    r->fiber = item->id;
    return go_on(e, f, next);
}

/* Returns true for events that only the running fiber can cause. */
static bool only_runs(const struct ring *r, const struct read_eio_item *item)
{
    return r->fiber != NOBODY &&
           (item->event == READ_EIO_SUSPEND_FIBER || item->event == READ_EIO_CREATE_CC ||
            item->event == READ_EIO_CREATE_FIBER || item->event == READ_EIO_EXIT_CC ||
            item->event == READ_EIO_ERROR || item->event == READ_EIO_GET ||
            (item->event == READ_EIO_EXIT_FIBER && item->id == r->fiber));
}

/* In a cancelled context a suspension ends at once. No event says that the fiber continues; only
 * what it does next shows it. */
static int go_on_unsaid(struct read_eio *e, const struct ring *r)
{
    const uint32_t at = weft_idmap_get(e->ids, r->fiber);
    return at != WEFT_IDMAP_NONE && e->thing[at].suspended ? go_on(e, &e->thing[at], NULL) : 0;
}

static bool is(const struct read_eio_item *item, const char *operation)
{
    const size_t size = strlen(operation);
    return item->text_size == size && !memcmp(item->text, operation, size);
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
static void wait_for_operation(struct read_eio *e, struct thing *f, const struct read_eio_item *i)
{
    const uint64_t own = e->own++;
    create(e, f->id, own, type_of_operation(i));
    put_text(&e->out[e->count - 1], i->text, i->text_size);
    put(e, WEFT_EVENT_TRY_READ, f->id, own);
    /* Eio's internal fiber, through which other domains wake this one */
    if (is(i, "read_eventfd")) {
        put(e, WEFT_EVENT_BACKGROUND, f->id, 0);
        put(e, WEFT_EVENT_BACKGROUND, own, 0);
    }
    f->waits = own;
    f->own = true;
    f->joins = is(i, "run-domain");
}

/* A switch does not end before its fibers. But if a fiber only sleeps now and then, the switch is
 * meant to wait forever; the timer is not late. So such a fiber does not count as something that
 * the switch waits for. */
static void hold_switch(struct read_eio *e, struct thing *f, const struct read_eio_item *i)
{
    const struct thing *c = f->home != NONE ? &e->thing[f->home] : NULL;
    if (f->holds || !i->text_size || is(i, "sleep") || is(i, "read_eventfd") || !c ||
        c->sort != CONTEXT || c->kind != READ_EIO_SWITCH || c->ended)
        return;
    put(e, WEFT_EVENT_TRY_READ, c->id, f->id);
    f->holds = true;
}

/* If the event that created an object was overwritten, the way it is used shows what it is. */
static void learn(struct read_eio *e, uint64_t id, unsigned kind)
{
    const uint32_t at = weft_idmap_get(e->ids, id);
    if (at == WEFT_IDMAP_NONE || e->thing[at].sort != UNKNOWN || e->thing[at].kind)
        return;
    e->thing[at].kind = (uint8_t)kind;
}

static int on_suspend(struct read_eio *e, struct ring *r, const struct read_eio_item *item,
                      const struct read_eio_item *next)
{
    struct thing *f = r->fiber == NOBODY ? NULL : find(e, r->fiber);
    if (r->fiber != NOBODY && !f)
        return WEFT_E_NOMEM;
    if (f) {
        const bool locks = is(item, "Mutex.lock"),
                   told_before = locks || is(item, "Switch.await_idle");
        f->suspended = true;
        f->expects = is(item, "Semaphore.acquire") ? READ_EIO_SEMAPHORE
                     : is(item, "Promise.await")   ? READ_EIO_PROMISE
                                                   : 0;
        if (told_before && f->tried != NOBODY) {
            put(e, WEFT_EVENT_TRY_READ, f->id, f->tried);
            f->waits = f->tried;
            if (locks)
                learn(e, f->tried, READ_EIO_MUTEX);
        } else if (next && next->event == READ_EIO_TRY_GET) {
            f->waits = NOBODY; /* the next event says what it waits for */
        } else if (item->text_size) {
            wait_for_operation(e, f, item);
        }
        f->tried = NOBODY;
        hold_switch(e, f, item);
    }
    put(e, WEFT_EVENT_SWITCH, NOBODY, 0);
    return next && only_runs(r, next) ? go_on_unsaid(e, r) : 0;
}

static int on_try_get(struct read_eio *e, struct ring *r, const struct read_eio_item *item)
{
    struct thing *f = r->fiber == NOBODY ? NULL : find(e, r->fiber);
    if (!f)
        return r->fiber == NOBODY ? 0 : WEFT_E_NOMEM;
    if (!find(e, item->id)) /* the table may have moved */
        return WEFT_E_NOMEM;
    f = find(e, r->fiber);
    if (f->suspended && f->expects)
        learn(e, item->id, f->expects);
    if (f->suspended && f->waits == NOBODY) {
        put(e, WEFT_EVENT_TRY_READ, f->id, item->id);
        f->waits = item->id;
    } else {
        f->tried = item->id;
    }
    return 0;
}

static int on_exit_fiber(struct read_eio *e, const struct read_eio_item *item)
{
    struct thing *f = find(e, item->id);
    if (!f)
        return WEFT_E_NOMEM;
    if (!f->ended)
        put(e, WEFT_EVENT_RESOLVES, item->id, item->id);
    f->ended = true;
    if (f->holds)
        put(e, WEFT_EVENT_READ_LATER, e->thing[f->home].id, item->id);
    f->holds = false;
    return 0;
}

/* ---- What they share ---- */

static int on_get(struct read_eio *e, const struct ring *r, const struct read_eio_item *item)
{
    struct thing *t = find(e, item->id);
    if (!t)
        return WEFT_E_NOMEM;
    t->got = true;
    if (r->fiber == NOBODY)
        return 0;
    if (t->kind == READ_EIO_SEMAPHORE || t->kind == READ_EIO_MUTEX)
        put(e, WEFT_EVENT_ACQUIRES, r->fiber, item->id);
    else if (t->ended)
        put(e, WEFT_EVENT_READ_LATER, r->fiber, item->id);
    return 0;
}

static int on_put(struct read_eio *e, const struct ring *r, const struct read_eio_item *item)
{
    struct thing *t = find(e, item->id);
    if (!t)
        return WEFT_E_NOMEM;
    const bool unknown = t->sort == UNKNOWN && !t->kind;
    /* Nothing can be taken from a promise before something was put into it. */
    if (t->kind == READ_EIO_SEMAPHORE || t->kind == READ_EIO_MUTEX || (unknown && t->got)) {
        put(e, WEFT_EVENT_RELEASES, r->fiber, item->id);
        put(e, WEFT_EVENT_NOTIFIES, r->fiber, item->id);
    } else if (t->kind == READ_EIO_STREAM || unknown) {
        put(e, WEFT_EVENT_NOTIFIES, r->fiber, item->id);
    } else if (!t->ended) {
        put(e, WEFT_EVENT_FULFILLS, r->fiber, item->id);
        t->ended = true;
    }
    return 0;
}

static int on_create(struct read_eio *e, const struct ring *r, const struct read_eio_item *item,
                     enum sort sort)
{
    const char *type = type_of(item->kind);
    struct thing *t = begin(e, item->id, sort, item->kind);
    if (!t)
        return WEFT_E_NOMEM;
    create(e, r->fiber, item->id, type ? type : sort == CONTEXT ? "context" : "object");
    struct thing *f = r->fiber != NOBODY ? find(e, r->fiber) : NULL;
    if (f && sort == CONTEXT) {
        t = find(e, item->id); /* the table may have moved */
        t->context = f->context;
        f->context = place(e, t);
    } else if (f && f->joins && item->kind == READ_EIO_PROMISE) {
        /* Through this the domain learns that the fiber was cancelled. */
        put(e, WEFT_EVENT_BACKGROUND, item->id, 0);
    }
    return 0;
}

static int on_exit_context(struct read_eio *e, const struct ring *r)
{
    struct thing *f = r->fiber == NOBODY ? NULL : find(e, r->fiber);
    if (!f || f->context == NONE || f->context >= e->things)
        return 0;
    struct thing *c = &e->thing[f->context];
    if (c->sort != CONTEXT)
        return 0;
    f->context = c->context;
    put(e, c->ended ? WEFT_EVENT_READ_LATER : WEFT_EVENT_FULFILLS, f->id, c->id);
    c->ended = true;
    return 0;
}

/* A context is cancelled. Two cases are normal: the first of several has succeeded and the others
 * are not wanted any more; or only daemons are left in a switch. */
static int on_error(struct read_eio *e, const struct ring *r, const struct read_eio_item *item)
{
    struct thing *c = find(e, item->id);
    if (!c)
        return WEFT_E_NOMEM;
    if (c->ended)
        return 0;
    c->ended = true;
    if (is(item, "Eio__core__Fiber.Not_first") ||
        (is(item, "Stdlib.Exit") && c->kind == READ_EIO_SWITCH))
        put(e, WEFT_EVENT_CANCELS, r->fiber, item->id);
    else
        put_text(put(e, WEFT_EVENT_FAILS, r->fiber, item->id), item->text, item->text_size);
    return 0;
}

/* ---- What a fiber says ---- */

static int on_log(struct read_eio *e, const struct ring *r, const struct read_eio_item *item)
{
    if (r->fiber == NOBODY && e->has_fibers)
        return 0;
    const uint64_t id = e->own++;
    create(e, r->fiber, id, "log");
    put_text(&e->out[e->count - 1], item->text, item->text_size);
    put(e, WEFT_EVENT_FULFILLS, r->fiber, id);
    return 0;
}

/* Where the innermost span of the running fiber is stored. NULL: it is not known what runs, or
 * there is no memory. */
static uint32_t *place_of_span(struct read_eio *e, struct ring *r)
{
    struct thing *f = r->fiber == NOBODY ? NULL : find(e, r->fiber);
    return f ? &f->span : r->fiber == NOBODY && !e->has_fibers ? &r->span : NULL;
}

static int on_enter_span(struct read_eio *e, struct ring *r, const struct read_eio_item *item)
{
    uint32_t *span = place_of_span(e, r);
    if (!span || !weft_reserve(&e->span, e->spans, &e->span_room, sizeof *e->span))
        return r->fiber == NOBODY && !span ? 0 : WEFT_E_NOMEM;
    const uint64_t around = r->fiber == NOBODY && *span != NONE ? e->span[*span].id : r->fiber;
    e->span[e->spans] = (struct span){.id = e->own++, .outer = *span};
    *span = e->spans;
    create(e, around, e->span[e->spans].id, "span");
    put_text(&e->out[e->count - 1], item->text, item->text_size);
    put(e, WEFT_EVENT_BACKGROUND, e->span[e->spans].id, 0); /* it may take as long as it likes */
    e->spans++;
    return 0;
}

static int on_exit_span(struct read_eio *e, struct ring *r)
{
    uint32_t *span = place_of_span(e, r);
    if (!span || *span == NONE)
        return 0;
    put(e, WEFT_EVENT_FULFILLS, r->fiber, e->span[*span].id);
    *span = e->span[*span].outer;
    return 0;
}

/* ---- Domains ---- */

static void on_phase(struct read_eio *e, struct ring *r, bool begins)
{
    if (begins) {
        if (r->phases++ == 0)
            r->gc_ns = e->now_ns;
    } else if (r->phases && --r->phases == 0 && !r->polls) {
        put(e, WEFT_EVENT_GC, 0, 0)->value = (int64_t)(e->now_ns - r->gc_ns);
    }
}

static void forget(struct ring *r)
{
    r->fiber = r->parent = r->join = NOBODY;
    r->span = NONE;
    r->phases = 0;
    r->polls = false;
}

/* Another domain may have used the ring before. */
static void on_domain_spawn(const struct read_eio *e, struct ring *r,
                            const struct read_eio_item *item)
{
    const uint32_t at = weft_idmap_get(e->ids, item->id);
    const struct thing *f = at == WEFT_IDMAP_NONE ? NULL : &e->thing[at];
    forget(r);
    r->parent = item->id;
    r->join = f && f->joins ? f->waits : NOBODY;
}

int read_eio_tell(struct read_eio *e, struct weft_event *out, const struct read_eio_item *item,
                  const struct read_eio_item *next)
{
    struct ring *r = &e->ring[item->ring];
    int rc = 0;
    e->out = out;
    e->count = 0;
    e->now_ns = item->time_ns;
    e->stream = item->ring;
    const uint64_t ran = r->fiber;
    const bool lost = r->lost;
    if (only_runs(r, item) && (rc = go_on_unsaid(e, r)) < 0)
        return rc;
    switch ((enum read_eio_event)item->event) {
    case READ_EIO_CREATE_OBJ:
        rc = on_create(e, r, item, OBJECT);
        break;
    case READ_EIO_CREATE_CC:
        rc = on_create(e, r, item, CONTEXT);
        break;
    case READ_EIO_CREATE_FIBER:
        e->has_fibers = true;
        rc = on_create_fiber(e, r, item);
        break;
    case READ_EIO_GET:
        rc = on_get(e, r, item);
        break;
    case READ_EIO_TRY_GET:
        rc = on_try_get(e, r, item);
        break;
    case READ_EIO_PUT:
        rc = on_put(e, r, item);
        break;
    case READ_EIO_EXIT_CC:
        rc = on_exit_context(e, r);
        break;
    case READ_EIO_EXIT_FIBER:
        rc = on_exit_fiber(e, item);
        break;
    case READ_EIO_ERROR:
        rc = on_error(e, r, item);
        break;
    case READ_EIO_NAME:
        put_text(put(e, WEFT_EVENT_LABEL, item->id, 0), item->text, item->text_size);
        break;
    case READ_EIO_LOG:
        rc = on_log(e, r, item);
        break;
    case READ_EIO_ENTER_SPAN:
        rc = on_enter_span(e, r, item);
        break;
    case READ_EIO_EXIT_SPAN:
        rc = on_exit_span(e, r);
        break;
    case READ_EIO_FIBER:
        e->has_fibers = true;
        rc = on_fiber(e, r, item, next);
        break;
    case READ_EIO_SUSPEND_FIBER:
        rc = on_suspend(e, r, item, next);
        break;
    case READ_EIO_SUSPEND_DOMAIN:
        r->polls = true;
        put(e, WEFT_EVENT_SUSPEND, 0, 0);
        break;
    case READ_EIO_RESUME_DOMAIN:
        r->polls = false;
        put(e, WEFT_EVENT_RESUME, 0, 0);
        break;
    case READ_EIO_DOMAIN_SPAWN:
        on_domain_spawn(e, r, item);
        break;
    case READ_EIO_GC_BEGIN:
        on_phase(e, r, true);
        break;
    case READ_EIO_GC_END:
        on_phase(e, r, false);
        break;
    case READ_EIO_RING_START:
        forget(r);
        break;
    case READ_EIO_LOST:
        forget(r);
        r->lost = true;
        break;
    case READ_EIO_COUNTER: {
        struct weft_event *ev = put(e, WEFT_EVENT_COUNTER, r->fiber, 0);
        ev->value = (int64_t)item->id;
        put_text(ev, item->text, item->text_size);
        break;
    }
    case READ_EIO_EVENTS:
        break;
    }
    if (rc < 0)
        return rc;
    for (int i = 0; i < e->count; i++) {
        out[i].running = i == 0 ? ran : r->fiber;
        out[i].gap = out[i].missing = lost && i == 0;
    }
    r->lost = r->lost && (item->event == READ_EIO_LOST || !e->count);
    return e->count;
}
