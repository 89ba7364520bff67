/* SPDX-License-Identifier: ISC */
/* Fuchsia's trace format (NAME.fxt): eio-trace records what Eio's fibers do in it, and any other
 * program may use it.
 * Records are in order of time only within each ring (one for each domain). They refer to strings
 * and threads by small numbers, which are reused. So the file is read twice: first record by
 * record, which makes a list of times, places and what the numbers mean there; then in order of
 * time.
 * Source: fuchsia.dev, "Fuchsia trace format"; eio-trace's lib/. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/idmap.h"
#include "format/bytes.h"
#include "format/packet.h"
#include "read/eio.h"
#include "read/fxt_spans.h"
#include "read/state.h"
#include "read/wide.h"

#define MAGIC UINT64_C(0x0016547846040010)

enum { RINGS_MAX = 4096, WORDS_MAX = 4095, ARGS_MAX = 15 };
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
enum { INSTANT = 0, DURATION_BEGIN = 2, DURATION_END = 3 };
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

/* A text in the file. */
struct text {
    uint64_t at; /* offset in r->bytes */
    uint32_t size;
};

struct thread {
    uint64_t pid, tid;
};

struct item {
    struct read_eio_item item; /* its text is not set yet */
    uint64_t order;            /* position of the record in the file */
    uint64_t fiber;            /* the fiber that reports it; WEFT_ID_LOOP: the ring itself */
    uint64_t text_at;
};

struct fxt {
    struct weft_reader common;
    unsigned char *bytes;
    uint64_t size;
    /* the provider of the records that follow; each has its own numbers */
    uint32_t provider;
    struct weft_idmap *number; /* by name_key, for strings and for threads */
    struct text *string;
    struct thread *thread;
    uint32_t strings, string_room, threads, thread_room;
    struct item *item;
    uint32_t items, room, at;
    uint32_t rings;
    struct weft_stream_facts *facts;
    struct read_eio *eio;

    /* For files without Eio's events: */
    /* speaks: there are events of Eio's; any: this is the second pass, because there are none */
    bool speaks, any;
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

static bool text_is(const struct fxt *r, struct text t, const char *wanted)
{
    return t.size == strlen(wanted) && !memcmp(r->bytes + t.at, wanted, t.size);
}

/* ---- Records ---- */

struct arg {
    struct text name, text;
    uint64_t value;
    unsigned type;
};

struct record {
    uint64_t at, end; /* its words after the header */
    uint64_t head;
    uint64_t offset;
};

/* Numbers of strings have 15 bits, numbers of threads have 8. */
static uint64_t name_key(const struct fxt *r, unsigned number, bool is_thread)
{
    return (uint64_t)r->provider << 16 | (is_thread ? 0x8000u : 0) | number;
}

static bool name_string(struct fxt *r, unsigned number, struct text text)
{
    uint32_t *at = weft_idmap_at(r->number, name_key(r, number, false));
    if (!at || (*at == WEFT_IDMAP_NONE &&
                !weft_reserve(&r->string, r->strings, &r->string_room, sizeof *r->string)))
        return false;
    if (*at == WEFT_IDMAP_NONE)
        *at = r->strings++;
    r->string[*at] = text;
    return true;
}

static bool name_thread(struct fxt *r, unsigned number, struct thread thread)
{
    uint32_t *at = weft_idmap_at(r->number, name_key(r, number, true));
    if (!at || (*at == WEFT_IDMAP_NONE &&
                !weft_reserve(&r->thread, r->threads, &r->thread_room, sizeof *r->thread)))
        return false;
    if (*at == WEFT_IDMAP_NONE)
        *at = r->threads++;
    r->thread[*at] = thread;
    return true;
}

/* Looks up a string by its number; inline strings are at *at. Returns false if it does not fit into
 * the record. */
static bool take_string(const struct fxt *r, unsigned number, uint64_t *at, uint64_t end,
                        struct text *out)
{
    *out = (struct text){0};
    if (number & 0x8000) {
        const uint64_t size = number & 0x7fff, room = (size + 7) / 8 * 8;
        if (room > end - *at)
            return false;
        *out = (struct text){*at, (uint32_t)size};
        *at += room;
    } else if (number) {
        const uint32_t known = weft_idmap_seek(r->number, name_key(r, number, false));
        if (known != WEFT_IDMAP_NONE)
            *out = r->string[known];
    }
    return true;
}

/* Reads the arguments of a record, from *at on. Returns how many, or -1. */
static int take_args(const struct fxt *r, uint64_t *at, uint64_t end, unsigned count,
                     struct arg out[ARGS_MAX])
{
    for (unsigned i = 0; i < count; i++) {
        if (end - *at < 8)
            return -1;
        const uint64_t head = word(r, *at), size = (head >> 4 & 0xfff) * 8;
        if (size < 8 || size > end - *at)
            return -1;
        uint64_t inside = *at + 8;
        const uint64_t stop = *at + size;
        out[i] = (struct arg){.type = head & 15, .value = head >> 32};
        if (!take_string(r, (unsigned)(head >> 16) & 0xffff, &inside, stop, &out[i].name))
            return -1;
        if ((head & 15) == ARG_STRING) {
            if (!take_string(r, (unsigned)(head >> 32) & 0xffff, &inside, stop, &out[i].text))
                return -1;
        } else if (stop - inside >= 8) {
            out[i].value = word(r, inside);
        }
        *at = stop;
    }
    return (int)count;
}

static const struct arg *find_arg(const struct fxt *r, const struct arg *a, int count,
                                  const char *name)
{
    for (int i = 0; i < count; i++)
        if (text_is(r, a[i].name, name))
            return &a[i];
    return NULL;
}

/* Looks up a thread by its number in a record; 0 means that the record itself contains it. */
static bool take_thread(const struct fxt *r, unsigned number, uint64_t *at, uint64_t end,
                        struct thread *out)
{
    *out = (struct thread){0};
    if (number) {
        const uint32_t known = weft_idmap_seek(r->number, name_key(r, number, true));
        if (known != WEFT_IDMAP_NONE)
            *out = r->thread[known];
        return true;
    }
    if (end - *at < 16)
        return false;
    *out = (struct thread){word(r, *at), word(r, *at + 8)};
    *at += 16;
    return true;
}

/* In eio-trace's files thread 4 n + 1 is ring n, and thread 4 n + 2 is fiber n. */
static bool is_ring(struct thread t)
{
    return t.tid % 4 == 1 && t.tid / 4 < RINGS_MAX;
}

static struct item *add(struct fxt *r, uint8_t event, uint64_t time_ns, const struct record *x,
                        struct thread t)
{
    if (!weft_reserve(&r->item, r->items, &r->room, sizeof *r->item))
        return NULL;
    struct item *i = &r->item[r->items];
    *i = (struct item){.item = {.event = event, .time_ns = time_ns, .ring = UINT32_MAX},
                       .order = x->offset,
                       .fiber = WEFT_ID_LOOP};
    if (is_ring(t))
        i->item.ring = (uint32_t)(t.tid / 4);
    else if (t.tid % 4 == 2)
        i->fiber = t.tid / 4;
    r->items++;
    return i;
}

static void give_text(struct item *i, struct text t)
{
    i->text_at = t.at;
    i->item.text_size = t.size;
}

static int kind_of_context(const struct fxt *r, const struct arg *type)
{
    static const struct {
        const char *name;
        int kind;
    } kinds[] = {{"switch", READ_EIO_SWITCH},
                 {"protect", READ_EIO_PROTECT},
                 {"sub", READ_EIO_SUB},
                 {"root", READ_EIO_ROOT},
                 {"any", READ_EIO_ANY}};
    for (size_t i = 0; type && i < sizeof kinds / sizeof *kinds; i++)
        if (text_is(r, type->text, kinds[i].name))
            return kinds[i].kind;
    return 0;
}

/* What an event of Eio's means; NO: it is ignored. */
#define NO READ_EIO_EVENTS

static uint8_t meaning(const struct fxt *r, struct text category, struct text name, unsigned kind)
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
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (text_is(r, category, known[i].category) &&
            (!known[i].name || text_is(r, name, known[i].name)))
            return kind == DURATION_END ? known[i].end : known[i].begin;
    return NO;
}

static bool on_event(struct fxt *r, const struct record *x, bool *fits)
{
    uint64_t at = x->at;
    struct thread t;
    struct text category, name;
    struct arg arg[ARGS_MAX];
    const unsigned kind = (unsigned)(x->head >> 16) & 15;
    *fits = x->end - at >= 8;
    if (!*fits)
        return true;
    const uint64_t time = word(r, at);
    at += 8;
    *fits = take_thread(r, (unsigned)(x->head >> 24) & 0xff, &at, x->end, &t) &&
            take_string(r, (unsigned)(x->head >> 32) & 0xffff, &at, x->end, &category) &&
            take_string(r, (unsigned)(x->head >> 48) & 0xffff, &at, x->end, &name);
    const int args = *fits ? take_args(r, &at, x->end, (unsigned)(x->head >> 20) & 15, arg) : -1;
    *fits = args >= 0;
    if (!*fits || (kind != INSTANT && kind != DURATION_BEGIN && kind != DURATION_END))
        return true;
    const uint8_t event = meaning(r, category, name, kind);
    if (event == NO)
        return true;
    r->speaks = true;
    struct item *i = add(r, event, time, x, t);
    if (!i)
        return false;
    const struct arg *id = find_arg(r, arg, args, "id"), *cc = find_arg(r, arg, args, "cc"),
                     *message = find_arg(r, arg, args, "message"),
                     *cpu = find_arg(r, arg, args, "cpu"),
                     *parent = find_arg(r, arg, args, "parent");
    i->item.id = id ? id->value : parent ? parent->value : i->fiber;
    i->item.other = cc ? cc->value : WEFT_ID_LOOP;
    if (cpu && cpu->value < RINGS_MAX)
        i->item.ring = (uint32_t)cpu->value;
    if (event == READ_EIO_CREATE_CC)
        i->item.kind = (uint8_t)kind_of_context(r, find_arg(r, arg, args, "type"));
    give_text(i, message ? message->text : name);
    return true;
}

/* A fiber starts to run on a ring; the format calls this "thread wakeup". */
static bool on_scheduling(struct fxt *r, const struct record *x, bool *fits)
{
    if (x->head >> 60 != WAKEUP)
        return true;
    *fits = x->end - x->at >= 16;
    const unsigned cpu = x->head >> 20 & 0xffff;
    if (!*fits || cpu >= RINGS_MAX)
        return true;
    struct item *i = add(r, READ_EIO_FIBER, word(r, x->at), x, (struct thread){0, 4 * cpu + 1});
    if (i)
        i->item.id = word(r, x->at + 8);
    return i != NULL;
}

/* A record with a name has no time: it is handed out with the next record that has one. */
static bool on_user_object(struct fxt *r, const struct record *x, bool *fits)
{
    uint64_t at = x->at;
    struct thread t;
    struct text name;
    *fits = x->end - at >= 8;
    if (!*fits)
        return true;
    const uint64_t id = word(r, at);
    at += 8;
    *fits = take_thread(r, (unsigned)(x->head >> 16) & 0xff, &at, x->end, &t) &&
            take_string(r, (unsigned)(x->head >> 24) & 0xffff, &at, x->end, &name);
    if (!*fits)
        return true;
    const uint64_t before = r->items ? r->item[r->items - 1].item.time_ns : 0;
    struct item *i = add(r, READ_EIO_NAME, before, x, t);
    if (!i)
        return false;
    i->item.id = id;
    give_text(i, name);
    return true;
}

/* ---- Any program ---- */

static struct read_fxt_text text_of(const struct fxt *r, struct text t)
{
    return (struct read_fxt_text){(const char *)r->bytes + t.at, t.size};
}

/* A key for numbers that several processes may use. */
static uint64_t key_of(uint64_t process, uint64_t number)
{
    return process * UINT64_C(0x9e3779b97f4a7c15) + number;
}

/* The index of the thread's stream; NONE: no memory. */
static uint32_t stream_of(struct fxt *r, struct thread t)
{
    uint32_t *place = weft_idmap_at(r->stream, key_of(t.pid, t.tid));
    if (!place)
        return UINT32_MAX;
    if (*place == WEFT_IDMAP_NONE) {
        if (!weft_reserve(&r->facts, r->rings, &r->facts_room, sizeof *r->facts))
            return UINT32_MAX;
        struct weft_stream_facts *f = &r->facts[r->rings];
        *f = (struct weft_stream_facts){.number = r->rings, .thread = (uint32_t)t.tid};
        *place = r->rings++;
    }
    return *place;
}

static struct read_fxt_value value_of(const struct fxt *r, const struct arg *a)
{
    struct read_fxt_value v = {.name = text_of(r, a->name), .text = text_of(r, a->text)};
    v.type = READ_FXT_UNSIGNED;
    v.value = (int64_t)a->value;
    switch (a->type) {
    case ARG_INT32:
        v.type = READ_FXT_NUMBER;
        v.value = (int32_t)(uint32_t)a->value;
        break;
    case ARG_INT64:
        v.type = READ_FXT_NUMBER;
        break;
    case ARG_UINT32:
    case ARG_UINT64:
    case ARG_POINTER:
    case ARG_KOID:
        break;
    case ARG_BOOL:
        v.value = (int64_t)(a->value & 1);
        break;
    case ARG_DOUBLE:
        v.type = READ_FXT_REAL;
        memcpy(&v.real, &a->value, sizeof v.real);
        break;
    case ARG_STRING:
        v.type = READ_FXT_TEXT;
        break;
    default:
        v.type = READ_FXT_NOTHING;
    }
    return v;
}

static uint64_t ns_of(const struct fxt *r, uint64_t ticks)
{
    return r->hz == 1000000000 ? ticks : wide_scaled(ticks, 1000000000, r->hz);
}

static bool add_item(struct fxt *r, const struct read_span_item *item)
{
    if (!weft_reserve(&r->span_item, r->span_items, &r->span_room, sizeof *r->span_item))
        return false;
    r->span_item[r->span_items++] = *item;
    return true;
}

/* Returns false if there is no memory. */
static bool on_any_event(struct fxt *r, const struct record *x, bool *fits)
{
    uint64_t at = x->at;
    struct thread t;
    struct text category, name;
    struct arg arg[ARGS_MAX];
    const unsigned kind = (unsigned)(x->head >> 16) & 15;
    const bool has_id = kind == READ_FXT_COUNTER || kind >= READ_FXT_COMPLETE;
    *fits = x->end - at >= 8;
    if (!*fits || kind > READ_FXT_FLOW_END)
        return true;
    struct read_span_item item = {.order = x->offset, .kind = (uint8_t)kind};
    item.time_ns = ns_of(r, word(r, at));
    at += 8;
    *fits = take_thread(r, (unsigned)(x->head >> 24) & 0xff, &at, x->end, &t) &&
            take_string(r, (unsigned)(x->head >> 32) & 0xffff, &at, x->end, &category) &&
            take_string(r, (unsigned)(x->head >> 48) & 0xffff, &at, x->end, &name);
    const int args = *fits ? take_args(r, &at, x->end, (unsigned)(x->head >> 20) & 15, arg) : -1;
    *fits = args >= 0 && (!has_id || x->end - at >= 8);
    if (!*fits)
        return true;
    item.stream = stream_of(r, t);
    if (item.stream == UINT32_MAX)
        return false;
    item.category = text_of(r, category);
    item.name = text_of(r, name);
    item.id = has_id ? key_of(t.pid, word(r, at)) : 0;
    item.arg = r->values;
    item.args = (uint32_t)args;
    for (int i = 0; i < args; i++) {
        if (!weft_reserve(&r->value, r->values, &r->value_room, sizeof *r->value))
            return false;
        r->value[r->values++] = value_of(r, &arg[i]);
    }
    if (kind != READ_FXT_COMPLETE)
        return add_item(r, &item);
    struct read_span_item end = item;
    const uint64_t until = ns_of(r, word(r, at));
    end.time_ns = until > item.time_ns ? until : item.time_ns;
    end.kind = READ_FXT_COMPLETE_END;
    end.args = 0;
    end.empty = item.empty = end.time_ns == item.time_ns;
    item.id = end.time_ns; /* of two that begin at the same time, the longer one is the outer one */
    return add_item(r, &item) && add_item(r, &end);
}

/* The name of a thread. */
static bool on_any_object(struct fxt *r, const struct record *x, bool *fits)
{
    uint64_t at = x->at, process = 0;
    struct text name;
    struct arg arg[ARGS_MAX];
    *fits = x->end - at >= 8;
    if (!*fits || (x->head >> 16 & 0xff) != KERNEL_THREAD)
        return true;
    const uint64_t koid = word(r, at);
    at += 8;
    *fits = take_string(r, (unsigned)(x->head >> 24) & 0xffff, &at, x->end, &name);
    const int args = *fits ? take_args(r, &at, x->end, (unsigned)(x->head >> 40) & 15, arg) : -1;
    *fits = args >= 0;
    for (int i = 0; i < args; i++)
        if (text_is(r, arg[i].name, "process"))
            process = arg[i].value;
    const uint32_t stream = *fits ? stream_of(r, (struct thread){process, koid}) : 0;
    if (!*fits || stream == UINT32_MAX)
        return !*fits;
    struct weft_stream_facts *f = &r->facts[stream];
    const size_t size = name.size < sizeof f->name - 1 ? name.size : sizeof f->name - 1;
    memset(f->name, 0, sizeof f->name);
    memcpy(f->name, r->bytes + name.at, size);
    return true;
}

static bool on_record(struct fxt *r, const struct record *x, bool *fits)
{
    *fits = true;
    switch (x->head & 15) {
    case STRING: {
        const unsigned number = x->head >> 16 & 0x7fff, size = x->head >> 32 & 0x7fff;
        *fits = size <= x->end - x->at;
        return !*fits || !number || name_string(r, number, (struct text){x->at, size});
    }
    case THREAD:
        *fits = x->end - x->at >= 16;
        if (*fits && !r->common.facts.process.pid)
            r->common.facts.process.pid = (uint32_t)word(r, x->at);
        return !*fits || name_thread(r, x->head >> 16 & 0xff,
                                     (struct thread){word(r, x->at), word(r, x->at + 8)});
    case METADATA: {
        const unsigned type = x->head >> 16 & 15;
        if (type == PROVIDER_INFO || type == PROVIDER_SECTION)
            r->provider = (uint32_t)(x->head >> 20);
        return true;
    }
    case INITIALIZATION:
        *fits = x->end - x->at >= 8;
        if (*fits && word(r, x->at))
            r->hz = word(r, x->at);
        return true;
    case EVENT:
        return r->any ? on_any_event(r, x, fits) : on_event(r, x, fits);
    case USER_OBJECT:
        return r->any || on_user_object(r, x, fits);
    case SCHEDULING:
        return r->any || on_scheduling(r, x, fits);
    case KERNEL_OBJECT: /* for Eio's threads the number gives the name */
        return !r->any || on_any_object(r, x, fits);
    default:
        r->common.facts.unknown_packets++;
        return true;
    }
}

/* ---- The file ---- */

static int read_records(struct fxt *r, struct weft_error *err)
{
    for (uint64_t at = 0; at < r->size;) {
        const uint64_t left = r->size - at, head = left >= 8 ? word(r, at) : 0,
                       size = (head >> 4 & 0xfff) * 8;
        struct record x = {.at = at + 8, .end = at + size, .head = head, .offset = at};
        bool fits = true;
        if (size < 8 || size > left) {
            const bool cut = left < 8 || size > left;
            read_reader_problem(&r->common, at, left,
                                cut ? "the file ends in the middle of a record; skipped %llu bytes"
                                    : "a record says that it has no words; skipped %llu bytes",
                                (unsigned long long)left);
            break;
        }
        if (!on_record(r, &x, &fits))
            return weft_error_set(err, WEFT_E_NOMEM, at, "out of memory for its events");
        if (!fits)
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
    if (x->item.time_ns != y->item.time_ns)
        return x->item.time_ns < y->item.time_ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Finds out which ring a fiber's events belong to: the one on which it ran last. This goes by the
 * order in the file, which is the right order within each ring. */
static int find_rings(struct fxt *r)
{
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
    r->facts = calloc(r->rings + 1u, sizeof *r->facts);
    for (uint32_t i = 0; r->facts && i < r->rings; i++)
        read_eio_name_stream(&r->facts[i], i);
    return r->facts ? 0 : WEFT_E_NOMEM;
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
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (rank(x) != rank(y))
        return rank(x) - rank(y);
    if (rank(x) == 1 && x->id != y->id)
        return x->id > y->id ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return x->kind - y->kind; /* both ends of an empty one */
}

/* Nothing in the file is Eio's: reads it again, as the trace of any program. */
static int read_any(struct fxt *r, struct weft_error *err)
{
    r->any = true;
    r->rings = 0;
    r->common.damage = (struct weft_damage){0}; /* the second pass finds it again */
    r->common.facts.unknown_packets = 0;
    free(r->facts);
    r->facts = NULL;
    r->strings = r->threads = r->provider = 0;
    weft_idmap_free(r->number);
    r->number = weft_idmap_new();
    r->stream = weft_idmap_new();
    int rc = r->number && r->stream ? read_records(r, err) : WEFT_E_NOMEM;
    for (uint32_t i = 0; i < r->rings; i++)
        if (!*r->facts[i].name)
            snprintf(r->facts[i].name, sizeof r->facts[i].name, "thread %u", r->facts[i].thread);
    r->spans = read_spans_new(r->rings);
    if (rc < 0 || !r->spans)
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for its threads");
    if (r->span_items)
        qsort(r->span_item, r->span_items, sizeof *r->span_item, by_time_and_rank);
    r->items = r->span_items;
    return 0;
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
    if (!r->number)
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for its records");
    int rc = read_records(r, err);
    if (rc == 0 && !r->speaks)
        rc = read_any(r, err);
    else if (rc == 0 && find_rings(r) < 0)
        rc = weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for its threads");
    if (rc < 0)
        return rc;
    if (r->items && !r->any)
        qsort(r->item, r->items, sizeof *r->item, by_time);
    r->eio = read_eio_new(r->rings);
    if (!r->eio)
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for its threads");
    common->is_trace = true;
    f->clock = "CLOCK_MONOTONIC";
    f->clock_kind = WEFT_CLOCK_MONOTONIC;
    f->clock_hz = 1000000000;
    f->streams = r->rings;
    f->packets = f->streams_recorded = f->streams;
    f->stream = r->facts;
    f->content_bytes = r->size;
    return 0;
}

static ptrdiff_t next_of_any(struct fxt *r, struct weft_error *err)
{
    size_t n = 0;
    read_spans_begin_batch(r->spans);
    for (; n + READ_SPANS_MOST <= WEFT_BATCH && r->at < r->items; r->at++) {
        const struct read_span_item *x = &r->span_item[r->at];
        const int told =
            read_spans_tell(r->spans, r->common.batch + n, x, r->values ? r->value + x->arg : NULL);
        if (told < 0)
            return weft_error_set(err, told, x->order, "out of memory for its promises");
        r->facts[x->stream].kept += (uint64_t)told;
        n += (size_t)told;
    }
    return (ptrdiff_t)n;
}

static ptrdiff_t next_events(struct weft_reader *common, struct weft_error *err)
{
    struct fxt *r = (struct fxt *)common;
    size_t n = 0;
    if (r->any)
        return next_of_any(r, err);
    for (; n + READ_EIO_MOST <= WEFT_BATCH && r->at < r->items; r->at++) {
        struct read_eio_item *x = &r->item[r->at].item;
        x->text = (const char *)r->bytes + r->item[r->at].text_at;
        const int told = read_eio_tell(r->eio, common->batch + n, x, NULL);
        if (told < 0)
            return weft_error_set(err, told, r->item[r->at].order,
                                  "out of memory for its promises");
        r->facts[x->ring].kept += (uint64_t)told;
        n += (size_t)told;
    }
    return (ptrdiff_t)n;
}

static double progress(const struct weft_reader *common)
{
    const struct fxt *r = (const struct fxt *)common;
    return r->items ? (double)r->at / r->items : 1;
}

static void fini(struct weft_reader *common)
{
    struct fxt *r = (struct fxt *)common;
    free(r->bytes);
    weft_idmap_free(r->number);
    free(r->string);
    free(r->thread);
    free(r->item);
    free(r->facts);
    free(r->span_item);
    free(r->value);
    weft_idmap_free(r->stream);
    read_spans_free(r->spans);
    read_eio_free(r->eio);
}

const struct weft_reader_format read_fxt_format = {
    .name = "fxt",
    .whose = ".fxt",
    .size = sizeof(struct fxt),
    .probe = probe,
    .index = open_fxt,
    .next = next_events,
    .progress = progress,
    .fini = fini,
};
