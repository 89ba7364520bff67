/* SPDX-License-Identifier: ISC */
/* Fuchsia's trace format (NAME.fxt): eio-trace records what Eio's fibers do in it, and any other
 * program may use it.
 * Records are in order of time only within each ring (one for each domain). They refer to strings
 * and threads by small numbers, which are reused. So the file is first read record by record, which
 * makes a list of times, places and what the numbers mean there; this is then sorted by time.
 * Source: fuchsia.dev, "Fuchsia trace format"; eio-trace's lib/. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/idmap.h"
#include "base/order.h"
#include "format/bytes.h"
#include "format/packet.h"
#include "read/eio.h"
#include "read/fxt_spans.h"
#include "read/state.h"
#include "read/wide.h"

#define MAGIC UINT64_C(0x0016547846040010)

enum { RINGS_MAX = 4096 };
enum {
    METADATA = 0,
    INITIALIZATION = 1,
    STRING = 2,
    THREAD = 3,
    EVENT = 4,
    USER_OBJECT = 6,
    KERNEL_OBJECT = 7,
    SCHEDULING = 8
};
enum { PROVIDER_INFO = 1, PROVIDER_SECTION = 2 };
enum {
    ARG_INT32 = 1,
    ARG_UINT32 = 2,
    ARG_INT64 = 3,
    ARG_UINT64 = 4,
    ARG_DOUBLE = 5,
    ARG_STRING = 6,
    ARG_POINTER = 7,
    ARG_KOID = 8,
    ARG_BOOL = 9
};
enum { KERNEL_THREAD = 2 };
enum { WAKEUP = 2 };

struct thread {
    uint64_t pid, tid;
};

/* What a number in a record stands for: the number of a string, or of a thread. */
union named {
    struct read_fxt_text string;
    struct thread thread;
};

struct item {
    struct read_eio_item item;
    uint64_t order; /* position of the record in the file */
    uint64_t fiber; /* the fiber that reports it; WEFT_ID_LOOP: the ring itself */
};

struct fxt {
    struct weft_reader common;
    unsigned char *bytes;
    uint64_t size;
    /* the provider of the records that follow; each has its own numbers */
    uint32_t provider;
    struct weft_idmap *number; /* index in name, by name_key */
    union named *name;
    uint32_t names, name_room;
    struct item *item;
    uint32_t items, room, at;
    uint32_t rings;
    struct weft_stream_facts *facts;
    struct read_eio *eio;

    bool speaks; /* there are events of Eio's; the rest is for files without them: */
    uint64_t hz; /* ticks per second */
    struct read_span_item *span_item;
    struct read_fxt_value *value;
    uint32_t span_items, span_room, values, value_room, facts_room;
    struct weft_idmap *stream; /* by thread_key */
    struct read_spans *spans;
};

static bool probe(const unsigned char *head, size_t size)
{
    return size >= 8 && weft_read_u64(head) == MAGIC;
}

static uint64_t word(const struct fxt *r, uint64_t at)
{
    return weft_read_u64(r->bytes + at);
}

static bool text_is(struct read_fxt_text t, const char *wanted)
{
    return read_is_text(t.text, t.size, wanted);
}

/* ---- Records ---- */

struct record {
    uint64_t at, end; /* the words that have not been read yet */
    uint64_t head;
    uint64_t offset;
    bool beyond; /* what was read does not fit into its bytes */
};

/* Numbers of strings have 15 bits, numbers of threads have 8. */
static uint64_t name_key(const struct fxt *r, unsigned number, bool is_thread)
{
    return (uint64_t)r->provider << 16 | (is_thread ? 0x8000u : 0) | number;
}

static int set_name(struct fxt *r, uint64_t key, union named name)
{
    uint32_t *at = weft_idmap_at(r->number, key);
    if (!at || !weft_reserve(&r->name, r->names, &r->name_room, sizeof *r->name))
        return WEFT_E_NOMEM;
    if (*at == WEFT_IDMAP_NONE)
        *at = r->names++;
    r->name[*at] = name;
    return 0;
}

/* none: the result if the number has no name. */
static union named name_of(const struct fxt *r, uint64_t key, union named none)
{
    const uint32_t known = weft_idmap_seek(r->number, key);
    return known == WEFT_IDMAP_NONE ? none : r->name[known];
}

/* These set x->beyond if what they read does not fit into the record; their result means nothing
 * then. */

static uint64_t next_word(const struct fxt *r, struct record *x)
{
    x->beyond |= x->end - x->at < 8;
    x->at += x->beyond ? 0 : 8;
    return x->beyond ? 0 : word(r, x->at - 8);
}

/* Looks up the string whose number is in the record's head, or in another word, from that bit on.
 * Inline strings come next in the record. */
static struct read_fxt_text next_string(const struct fxt *r, struct record *x, uint64_t numbers,
                                        unsigned bit)
{
    const unsigned number = numbers >> bit & 0xffff;
    const union named none = {.string.text = (const char *)r->bytes};
    if (!(number & 0x8000))
        return number ? name_of(r, name_key(r, number, false), none).string : none.string;
    const uint64_t at = x->at, size = number & 0x7fff, room = (size + 7) / 8 * 8;
    x->beyond |= room > x->end - at;
    if (x->beyond)
        return none.string;
    x->at += room;
    return (struct read_fxt_text){(const char *)r->bytes + at, (uint32_t)size};
}

static void set_value(struct read_fxt_value *v, unsigned type, uint64_t value)
{
    static const uint8_t types[16] = {
        [ARG_INT32] = READ_FXT_NUMBER,     [ARG_INT64] = READ_FXT_NUMBER,
        [ARG_UINT32] = READ_FXT_UNSIGNED,  [ARG_UINT64] = READ_FXT_UNSIGNED,
        [ARG_POINTER] = READ_FXT_UNSIGNED, [ARG_KOID] = READ_FXT_UNSIGNED,
        [ARG_BOOL] = READ_FXT_UNSIGNED,    [ARG_DOUBLE] = READ_FXT_REAL,
        [ARG_STRING] = READ_FXT_TEXT,
    };
    v->type = types[type];
    v->value = type == ARG_INT32  ? (int32_t)(uint32_t)value
               : type == ARG_BOOL ? (int64_t)(value & 1)
                                  : (int64_t)value;
    memcpy(&v->real, &value, sizeof v->real);
}

static void next_args(const struct fxt *r, struct record *x, unsigned count,
                      struct read_fxt_value out[READ_FXT_ARGS_MAX])
{
    for (unsigned i = 0; i < count && !x->beyond; i++) {
        const uint64_t left = x->end - x->at, head = left < 8 ? 0 : word(r, x->at),
                       size = (head >> 4 & 0xfff) * 8;
        struct record arg = {.at = x->at + 8, .end = x->at + size};
        const unsigned type = head & 15;
        x->beyond = size < 8 || size > left;
        if (x->beyond)
            return;
        out[i] = (struct read_fxt_value){.name = next_string(r, &arg, head, 16)};
        out[i].text = type == ARG_STRING ? next_string(r, &arg, head, 32)
                                         : (struct read_fxt_text){(const char *)r->bytes, 0};
        set_value(&out[i], type,
                  type != ARG_STRING && arg.at < arg.end ? next_word(r, &arg) : head >> 32);
        x->beyond = arg.beyond;
        x->at += size;
    }
}

/* Looks up a thread by its number in a record; 0 means that the record itself contains it. */
static struct thread next_thread(const struct fxt *r, struct record *x, unsigned number)
{
    struct thread t = {0};
    if (number)
        return name_of(r, name_key(r, number, true), (union named){.thread = t}).thread;
    t.pid = next_word(r, x);
    t.tid = next_word(r, x);
    return t;
}

/* What an event consists of. */
struct event {
    uint64_t ticks;
    struct thread thread;
    struct read_fxt_text category, name;
    unsigned kind, args;
    struct read_fxt_value arg[READ_FXT_ARGS_MAX];
};

static void next_event(const struct fxt *r, struct record *x, struct event *ev)
{
    ev->kind = x->head >> 16 & 15;
    ev->args = x->head >> 20 & 15;
    ev->ticks = next_word(r, x);
    ev->thread = next_thread(r, x, x->head >> 24 & 0xff);
    ev->category = next_string(r, x, x->head, 32);
    ev->name = next_string(r, x, x->head, 48);
    next_args(r, x, ev->args, ev->arg);
}

static const struct read_fxt_value *find_arg(const struct read_fxt_value *arg, unsigned args,
                                             const char *name)
{
    for (unsigned i = 0; i < args; i++)
        if (text_is(arg[i].name, name))
            return &arg[i];
    return NULL;
}

/* ---- Eio's programs ---- */

/* Adds an item. In eio-trace's files thread 4 n + 1 is ring n, and thread 4 n + 2 is fiber n. */
static struct item *add(struct fxt *r, uint8_t event, uint64_t time_ns, const struct record *x,
                        uint64_t tid, struct read_fxt_text text)
{
    if (!weft_reserve(&r->item, r->items, &r->room, sizeof *r->item))
        return NULL;
    struct item *i = &r->item[r->items++];
    *i = (struct item){.item = {.event = event,
                                .time_ns = time_ns,
                                .ring = UINT32_MAX,
                                .text = text.text,
                                .text_size = text.size},
                       .order = x->offset,
                       .fiber = WEFT_ID_LOOP};
    if (tid % 4 == 1 && tid / 4 < RINGS_MAX)
        i->item.ring = (uint32_t)(tid / 4);
    else if (tid % 4 == 2)
        i->fiber = tid / 4;
    return i;
}

/* What an event of Eio's means; NO: it is ignored. */
#define NO READ_EIO_EVENTS

static uint8_t meaning(const struct event *ev)
{
    static const struct {
        const char *category, *name;
        uint8_t begin, end; /* begin also stands for an instant event */
    } known[] = {
        {"eio", "create-fiber", READ_EIO_CREATE_FIBER, NO},
        {"eio", "exit-fiber", READ_EIO_EXIT_FIBER, NO},
        {"eio", "cc", READ_EIO_CREATE_CC, READ_EIO_EXIT_CC},
        {"eio", "error", READ_EIO_ERROR, NO},
        {"eio", "log", READ_EIO_LOG, NO},
        {"eio", "suspend-domain", READ_EIO_SUSPEND_DOMAIN, READ_EIO_RESUME_DOMAIN},
        {"eio", "domain-spawn", READ_EIO_DOMAIN_SPAWN, NO},
        {"eio.suspend", NULL, READ_EIO_SUSPEND_FIBER, NO},
        {"eio.span", NULL, READ_EIO_ENTER_SPAN, READ_EIO_EXIT_SPAN},
        {"gc", NULL, READ_EIO_GC_BEGIN, READ_EIO_GC_END},
    };
    if (ev->kind != READ_FXT_INSTANT && ev->kind != READ_FXT_BEGIN && ev->kind != READ_FXT_END)
        return NO;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (text_is(ev->category, known[i].category) &&
            (!known[i].name || text_is(ev->name, known[i].name)))
            return ev->kind == READ_FXT_END ? known[i].end : known[i].begin;
    return NO;
}

static int on_eio_event(struct fxt *r, const struct record *x, const struct event *ev,
                        uint8_t event)
{
    const struct read_fxt_value *id = find_arg(ev->arg, ev->args, "id"),
                                *cc = find_arg(ev->arg, ev->args, "cc"),
                                *message = find_arg(ev->arg, ev->args, "message"),
                                *cpu = find_arg(ev->arg, ev->args, "cpu"),
                                *parent = find_arg(ev->arg, ev->args, "parent"),
                                *type = find_arg(ev->arg, ev->args, "type");
    struct item *i =
        add(r, event, ev->ticks, x, ev->thread.tid, message ? message->text : ev->name);
    if (!i)
        return WEFT_E_NOMEM;
    i->item.id = id ? (uint64_t)id->value : parent ? (uint64_t)parent->value : i->fiber;
    i->item.other = cc ? (uint64_t)cc->value : WEFT_ID_LOOP;
    if (cpu && (uint64_t)cpu->value < RINGS_MAX)
        i->item.ring = (uint32_t)cpu->value;
    if (event == READ_EIO_CREATE_CC && type)
        i->item.kind = read_eio_kind(type->text.text, type->text.size);
    return 0;
}

/* A fiber starts to run on a ring; the format calls this "thread wakeup". */
static int on_scheduling(struct fxt *r, struct record *x)
{
    const unsigned cpu = x->head >> 20 & 0xffff;
    if (x->head >> 60 != WAKEUP)
        return 0;
    const uint64_t time = next_word(r, x), id = next_word(r, x);
    if (x->beyond || cpu >= RINGS_MAX)
        return 0;
    struct item *i = add(r, READ_EIO_FIBER, time, x, 4 * cpu + 1, (struct read_fxt_text){0});
    if (!i)
        return WEFT_E_NOMEM;
    i->item.id = id;
    return 0;
}

/* A record with a name has no time: it is handed out with the next record that has one. */
static int on_user_object(struct fxt *r, struct record *x)
{
    const uint64_t id = next_word(r, x);
    const struct thread t = next_thread(r, x, x->head >> 16 & 0xff);
    const struct read_fxt_text name = next_string(r, x, x->head, 24);
    if (x->beyond)
        return 0;
    const uint64_t before = r->items ? r->item[r->items - 1].item.time_ns : 0;
    struct item *i = add(r, READ_EIO_NAME, before, x, t.tid, name);
    if (!i)
        return WEFT_E_NOMEM;
    i->item.id = id;
    return 0;
}

/* ---- Any program ---- */

/* A key for numbers that several processes may use. */
static uint64_t key_of(uint64_t process, uint64_t number)
{
    return process * UINT64_C(0x9e3779b97f4a7c15) + number;
}

/* The index of the thread's stream; UINT32_MAX: no memory. */
static uint32_t stream_of(struct fxt *r, struct thread t)
{
    uint32_t *place = weft_idmap_at(r->stream, key_of(t.pid, t.tid));
    if (!place || !weft_reserve(&r->facts, r->rings, &r->facts_room, sizeof *r->facts))
        return UINT32_MAX;
    if (*place == WEFT_IDMAP_NONE) {
        *place = r->rings++;
        r->facts[*place] = (struct weft_stream_facts){.number = *place, .thread = (uint32_t)t.tid};
    }
    return *place;
}

static uint64_t ns_of(const struct fxt *r, uint64_t ticks)
{
    return r->hz == 1000000000 ? ticks : wide_scaled(ticks, 1000000000, r->hz);
}

static int add_item(struct fxt *r, const struct read_span_item *item)
{
    if (!weft_reserve(&r->span_item, r->span_items, &r->span_room, sizeof *r->span_item))
        return WEFT_E_NOMEM;
    r->span_item[r->span_items++] = *item;
    return 0;
}

static int on_any_event(struct fxt *r, struct record *x, const struct event *ev)
{
    if (ev->kind > READ_FXT_FLOW_END)
        return 0;
    const bool has_id = ev->kind == READ_FXT_COUNTER || ev->kind >= READ_FXT_COMPLETE;
    const uint64_t id = has_id ? next_word(r, x) : 0;
    if (x->beyond)
        return 0;
    struct read_span_item item = {
        .order = x->offset,
        .kind = (uint8_t)ev->kind,
        .time_ns = ns_of(r, ev->ticks),
        .stream = stream_of(r, ev->thread),
        .category = ev->category,
        .name = ev->name,
        .id = has_id ? key_of(ev->thread.pid, id) : 0,
        .arg = r->values,
        .args = ev->args,
    };
    if (item.stream == UINT32_MAX || !weft_reserve_all(&r->value, (uint64_t)r->values + ev->args,
                                                       &r->value_room, sizeof *r->value))
        return WEFT_E_NOMEM;
    if (ev->args)
        memcpy(r->value + r->values, ev->arg, ev->args * sizeof *ev->arg);
    r->values += ev->args;
    if (ev->kind != READ_FXT_COMPLETE)
        return add_item(r, &item);
    struct read_span_item end = item;
    const uint64_t until = ns_of(r, id);
    end.time_ns = until > item.time_ns ? until : item.time_ns;
    end.kind = READ_FXT_COMPLETE_END;
    end.args = 0;
    end.empty = item.empty = end.time_ns == item.time_ns;
    item.id = end.time_ns; /* of two that begin at the same time, the longer one is the outer one */
    const int rc = add_item(r, &item);
    return rc < 0 ? rc : add_item(r, &end);
}

/* The name of a thread. */
static int on_any_object(struct fxt *r, struct record *x)
{
    struct read_fxt_value arg[READ_FXT_ARGS_MAX];
    const unsigned args = x->head >> 40 & 15;
    if ((x->head >> 16 & 0xff) != KERNEL_THREAD)
        return 0;
    const uint64_t koid = next_word(r, x);
    const struct read_fxt_text name = next_string(r, x, x->head, 24);
    next_args(r, x, args, arg);
    if (x->beyond)
        return 0;
    const struct read_fxt_value *process = find_arg(arg, args, "process");
    const uint32_t stream =
        stream_of(r, (struct thread){process ? (uint64_t)process->value : 0, koid});
    if (stream == UINT32_MAX)
        return WEFT_E_NOMEM;
    struct weft_stream_facts *f = &r->facts[stream];
    memset(f->name, 0, sizeof f->name);
    memcpy(f->name, name.text, name.size < sizeof f->name - 1 ? name.size : sizeof f->name - 1);
    return 0;
}

static int on_event(struct fxt *r, struct record *x)
{
    struct event ev;
    next_event(r, x, &ev);
    if (x->beyond)
        return 0;
    const uint8_t event = meaning(&ev);
    r->speaks |= event != NO;
    if (event != NO)
        return on_eio_event(r, x, &ev, event);
    return r->speaks ? 0 : on_any_event(r, x, &ev);
}

/* Returns 0 or WEFT_E_NOMEM. */
static int on_record(struct fxt *r, struct record *x)
{
    switch (x->head & 15) {
    case STRING: {
        const unsigned number = x->head >> 16 & 0x7fff, size = x->head >> 32 & 0x7fff;
        x->beyond = size > x->end - x->at;
        return number && !x->beyond
                   ? set_name(r, name_key(r, number, false),
                              (union named){.string = {(const char *)r->bytes + x->at, size}})
                   : 0;
    }
    case THREAD: {
        const struct thread t = next_thread(r, x, 0);
        if (x->beyond)
            return 0;
        if (!r->common.facts.process.pid)
            r->common.facts.process.pid = (uint32_t)t.pid;
        return set_name(r, name_key(r, x->head >> 16 & 0xff, true), (union named){.thread = t});
    }
    case METADATA: {
        const unsigned type = x->head >> 16 & 15;
        if (type == PROVIDER_INFO || type == PROVIDER_SECTION)
            r->provider = (uint32_t)(x->head >> 20);
        return 0;
    }
    case INITIALIZATION: {
        const uint64_t hz = next_word(r, x);
        r->hz = hz ? hz : r->hz;
        return 0;
    }
    case EVENT:
        return on_event(r, x);
    case USER_OBJECT:
        return on_user_object(r, x);
    case SCHEDULING:
        return on_scheduling(r, x);
    case KERNEL_OBJECT: /* for Eio's threads the number gives the name */
        return r->speaks ? 0 : on_any_object(r, x);
    default:
        r->common.facts.unknown_packets++;
        return 0;
    }
}

/* ---- The file ---- */

static int read_records(struct fxt *r, struct weft_error *err)
{
    for (uint64_t at = 0; at < r->size;) {
        const uint64_t left = r->size - at, head = left >= 8 ? word(r, at) : 0,
                       size = (head >> 4 & 0xfff) * 8;
        struct record x = {.at = at + 8, .end = at + size, .head = head, .offset = at};
        if (size < 8 || size > left) {
            const bool cut = left < 8 || size > left;
            read_reader_problem(&r->common, at, left,
                                cut ? "the file ends in the middle of a record; skipped %llu bytes"
                                    : "a record says that it has no words; skipped %llu bytes",
                                (unsigned long long)left);
            break;
        }
        const int rc = on_record(r, &x);
        if (rc < 0)
            return weft_error_set(err, rc, at, "out of memory for its events");
        if (x.beyond)
            read_reader_problem(&r->common, at, size,
                                "what a record holds goes beyond its %llu bytes; left out",
                                (unsigned long long)size);
        at += size;
    }
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    WEFT_ORDER(x->item.time_ns, y->item.time_ns);
    return weft_order(x->order, y->order);
}

/* Finds out which ring a fiber's events belong to: the one on which it ran last. This goes by the
 * order in the file, which is the right order within each ring. */
static int find_rings(struct fxt *r)
{
    r->rings = 0;
    struct weft_idmap *ran = weft_idmap_new();
    bool ok = ran != NULL;
    for (uint32_t i = 0, last = 0; i < r->items && ok; i++) {
        struct item *x = &r->item[i];
        if (x->item.ring == UINT32_MAX) {
            const uint32_t ring = weft_idmap_seek(ran, x->fiber);
            x->item.ring = ring == WEFT_IDMAP_NONE ? last : ring;
        }
        last = x->item.ring;
        r->rings = last >= r->rings ? last + 1 : r->rings;
        uint32_t *place = x->item.event == READ_EIO_FIBER ? weft_idmap_at(ran, x->item.id) : NULL;
        ok = place || x->item.event != READ_EIO_FIBER;
        if (place)
            *place = last;
    }
    weft_idmap_free(ran);
    if (!ok)
        return WEFT_E_NOMEM;
    free(r->facts);
    r->facts = calloc(r->rings + 1u, sizeof *r->facts);
    for (uint32_t i = 0; r->facts && i < r->rings; i++)
        read_eio_name_stream(&r->facts[i], i);
    return r->facts ? 0 : WEFT_E_NOMEM;
}

static int use_eio(struct fxt *r)
{
    if (find_rings(r) < 0 || !(r->eio = read_eio_new(r->rings)))
        return WEFT_E_NOMEM;
    qsort(r->item, r->items, sizeof *r->item, by_time);
    return 0;
}

/* The order of items with the same time: first ends of complete events, since these are written
 * when they end; then complete events that begin, the longest first since it is the outer one; then
 * the others, in the order of the file. */
static int rank(const struct read_span_item *x)
{
    return x->empty                           ? 2
           : x->kind == READ_FXT_COMPLETE_END ? 0
           : x->kind == READ_FXT_COMPLETE     ? 1
                                              : 2;
}

static int by_time_and_rank(const void *a, const void *b)
{
    const struct read_span_item *x = a, *y = b;
    WEFT_ORDER(x->time_ns, y->time_ns);
    WEFT_ORDER(rank(x), rank(y));
    if (rank(x) == 1)
        WEFT_ORDER(y->id, x->id);
    WEFT_ORDER(x->order, y->order);
    return weft_order(x->kind, y->kind); /* both ends of an empty one */
}

/* Nothing in the file is Eio's. */
static int use_any(struct fxt *r)
{
    for (uint32_t i = 0; i < r->rings; i++)
        if (!*r->facts[i].name)
            snprintf(r->facts[i].name, sizeof r->facts[i].name, "thread %u", r->facts[i].thread);
    weft_sort(r->span_item, r->span_items, sizeof *r->span_item, by_time_and_rank);
    r->items = r->span_items;
    r->spans = read_spans_new(r->rings);
    return r->spans ? 0 : WEFT_E_NOMEM;
}

static int open_fxt(struct weft_reader *common, struct weft_error *err)
{
    struct fxt *r = (struct fxt *)common;
    struct weft_reader_facts *f = &common->facts;
    r->bytes = weft_resize(NULL, common->input.size + 8, 1);
    if (!r->bytes)
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for its records");
    const ptrdiff_t got =
        weft_input_read(&common->input, r->bytes, (size_t)common->input.size, 0, err);
    if (got < 0)
        return (int)got;
    r->size = (uint64_t)got;
    r->hz = 1000000000;
    r->number = weft_idmap_new();
    r->stream = weft_idmap_new();
    if (!r->number || !r->stream)
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for its records");
    TRY(read_records(r, err));
    if ((r->speaks ? use_eio(r) : use_any(r)) < 0)
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for its threads");
    common->is_trace = true;
    f->clock = "CLOCK_MONOTONIC";
    f->clock_kind = WEFT_CLOCK_MONOTONIC;
    f->clock_hz = 1000000000;
    f->streams = r->rings;
    f->packets = f->streams_recorded = f->streams;
    f->stream = r->facts;
    f->content_bytes = r->size;
    common->all = r->items;
    return 0;
}

static ptrdiff_t next_events(struct weft_reader *common, struct weft_error *err)
{
    struct fxt *r = (struct fxt *)common;
    const size_t most = r->speaks ? READ_EIO_MOST : READ_SPANS_MOST;
    size_t n = 0;
    if (!r->speaks)
        read_spans_begin_batch(r->spans);
    for (; n + most <= WEFT_BATCH && r->at < r->items; r->at++) {
        const struct item *e = r->speaks ? &r->item[r->at] : NULL;
        const struct read_span_item *x = e ? NULL : &r->span_item[r->at];
        struct weft_event *out = common->batch + n;
        const int told =
            e ? read_eio_tell(r->eio, out, &e->item, NULL)
              : read_spans_tell(r->spans, out, x, r->values ? r->value + x->arg : NULL);
        if (told < 0)
            return weft_error_set(err, told, e ? e->order : x->order,
                                  "out of memory for its promises");
        r->facts[e ? e->item.ring : x->stream].kept += (uint64_t)told;
        n += (size_t)told;
    }
    common->done = r->at;
    return (ptrdiff_t)n;
}

static void fini(struct weft_reader *common)
{
    struct fxt *r = (struct fxt *)common;
    weft_free_all(r->bytes, r->name, r->item, r->facts, r->span_item, r->value);
    weft_idmap_free(r->number);
    weft_idmap_free(r->stream);
    read_spans_free(r->spans);
    read_eio_free(r->eio);
}

const struct weft_reader_format read_fxt_format = {
    .name = "fxt",
    .whose = ".fxt",
    .size = sizeof(struct fxt),
    .quirks = {.counters_anywhere = true},
    .probe = probe,
    .index = open_fxt,
    .next = next_events,
    .fini = fini,
};
