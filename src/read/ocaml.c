/* SPDX-License-Identifier: ISC */
#include "read/ocaml.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/ocaml.h"

enum {
    NO_EVENT = 0xff,  /* not looked up yet */
    OWN_EVENT = 0xfe, /* defined by the program itself */
    /* buffers that the batch may point into, in addition to those of the items that come next */
    RETIRED_MAX = 8,
};

struct read_ocaml_retired {
    unsigned char *bytes;
    uint64_t size;
    uint32_t ring;
};

struct read_ocaml_name {
    const char *text;
    uint32_t size;
};

/* ---- Names ---- */

void read_ocaml_set_name(struct read_ocaml *o, unsigned id, const char *text, size_t size)
{
    o->name[id] = (struct read_ocaml_name){text, (uint32_t)strnlen(text, size)};
    o->event[id] = NO_EVENT;
}

/* Sets a name that came with the items. Events that were handed out still point to the name
 * before. */
static bool rename_event(struct read_ocaml *o, unsigned id, const char *text, size_t room)
{
    const size_t size = strnlen(text, room < WEFT_OCAML_NAME_BYTES ? room : WEFT_OCAML_NAME_BYTES);
    if (o->name[id].size == size && !memcmp(o->name[id].text, text, size))
        return true;
    char *copy = malloc(size + 1);
    if (!copy || !weft_reserve(&o->text, o->texts, &o->text_room, sizeof *o->text)) {
        free(copy);
        return false;
    }
    memcpy(copy, text, size);
    copy[size] = 0;
    o->text[o->texts++] = copy;
    read_ocaml_set_name(o, id, copy, size);
    return true;
}

static uint8_t event_of(struct read_ocaml *o, unsigned id)
{
    static const struct {
        const char *name;
        uint8_t event;
    } known[] = {
#define X(NAME, name) {name, READ_EIO_##NAME},
        WEFT_EIO_EVENTS(X)
#undef X
    };
    if (o->event[id] != NO_EVENT)
        return o->event[id];
    const struct read_ocaml_name *n = &o->name[id];
    o->event[id] = OWN_EVENT;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (read_is_text(n->text, n->size, known[i].name))
            o->event[id] = known[i].event;
    return o->event[id];
}

/* ---- Items ---- */

static uint64_t word(const struct read_domain *d, uint64_t at)
{
    return weft_read_u64(d->bytes + 8 * at);
}

/* Reads id, other, kind and text from the bytes of a custom event. */
static void read_custom(struct read_eio_item *x, const unsigned char *bytes, size_t size)
{
    const bool has_id = x->event == READ_EIO_CREATE_OBJ || x->event == READ_EIO_CREATE_CC ||
                        x->event == READ_EIO_CREATE_FIBER || x->event == READ_EIO_ERROR ||
                        x->event == READ_EIO_NAME;
    if (has_id && size < 8) {
        x->event = READ_EIO_EVENTS;
        return;
    }
    if (has_id) {
        x->id = weft_read_u64(bytes);
        bytes += 8;
        size -= 8;
    }
    if (x->event == READ_EIO_CREATE_FIBER) {
        x->other = size >= 8 ? weft_read_u64(bytes) : WEFT_ID_LOOP;
    } else if (x->event == READ_EIO_CREATE_OBJ || x->event == READ_EIO_CREATE_CC) {
        x->kind = size ? bytes[0] : 0;
    } else {
        x->text = (const char *)bytes;
        x->text_size = (uint32_t)size;
    }
}

static void read_user(struct read_ocaml *o, const struct read_domain *d, struct read_eio_item *x,
                      uint64_t at, const struct weft_ocaml_item *i)
{
    x->event = event_of(o, i->id);
    if (x->event == OWN_EVENT) {
        x->event = i->type == WEFT_OCAML_SPAN_BEGIN             ? READ_EIO_ENTER_SPAN
                   : i->type == WEFT_OCAML_SPAN_END             ? READ_EIO_EXIT_SPAN
                   : i->type == WEFT_OCAML_INT && i->words >= 3 ? READ_EIO_COUNTER
                                                                : READ_EIO_LOG;
        x->id = x->event == READ_EIO_COUNTER ? word(d, at + 2) : 0;
        x->text = o->name[i->id].text;
        x->text_size = o->name[i->id].size;
        return;
    }
    if (x->event == READ_EIO_SUSPEND_DOMAIN) {
        x->event =
            i->type == WEFT_OCAML_SPAN_END ? READ_EIO_RESUME_DOMAIN : READ_EIO_SUSPEND_DOMAIN;
    } else if (i->type == WEFT_OCAML_INT && i->words >= 3) {
        x->id = word(d, at + 2);
    } else if (i->type == WEFT_OCAML_CUSTOM && i->words >= 3) {
        const size_t bytes = 8 * (size_t)(i->words - 2), pad = d->bytes[8 * (at + i->words) - 1];
        read_custom(x, d->bytes + 8 * (at + 2), bytes > 1 + pad ? bytes - 1 - pad : 0);
    } else if (i->type != WEFT_OCAML_UNIT) {
        x->event = READ_EIO_EVENTS;
    }
}

static void read_runtime(struct read_ocaml *o, const struct read_domain *d, struct read_eio_item *x,
                         uint64_t at, const struct weft_ocaml_item *i)
{
    struct weft_process_facts *p = &o->reader->facts.process;
    x->event = READ_EIO_EVENTS;
    if (i->type == WEFT_OCAML_BEGIN)
        x->event = READ_EIO_GC_BEGIN;
    else if (i->type == WEFT_OCAML_END)
        x->event = READ_EIO_GC_END;
    else if (i->type == WEFT_OCAML_LIFECYCLE && i->id == WEFT_OCAML_RING_START)
        x->event = READ_EIO_RING_START;
    o->stopped |=
        i->type == WEFT_OCAML_LIFECYCLE && i->id == WEFT_OCAML_RING_STOP && d->number == 0;
    if (x->event == READ_EIO_RING_START && i->words >= 3 && !p->pid)
        p->pid = (uint32_t)word(d, at + 2);
}

/* Returns true if the ring has further words; fetches more if needed. */
static bool has_words(struct read_ocaml *o, struct read_domain *d)
{
    while (d->at >= d->words) {
        const int rc = o->more && !o->failed ? o->more(o, d, &o->err) : 0;
        if (rc < 0)
            o->failed = rc;
        if (rc <= 0)
            return false;
    }
    return true;
}

/* Decodes the ring's next item. Returns false if there is none. */
static bool read_item(struct read_ocaml *o, struct read_domain *d, struct read_eio_item *x)
{
    while (has_words(o, d)) {
        const uint64_t at = d->at, left = d->words - at;
        const struct weft_ocaml_item i = weft_ocaml_item(word(d, at));
        if (!weft_ocaml_fits(&i, left)) {
            read_reader_problem(
                o->reader, d->file_at, 8 * left,
                "the ring of domain %u has an item of %u words where %llu are left; the "
                "rest of it is left out",
                d->number, i.words, (unsigned long long)left);
            d->at = d->words;
            d->gap = true;
            continue;
        }
        d->at += i.words;
        o->reader->done += i.words;
        if (weft_ocaml_is_padding(&i))
            continue;
        if (o->more && !i.user && i.type == WEFT_OCAML_NAME) {
            if (!rename_event(o, i.id, (const char *)d->bytes + 8 * (at + 1), 8 * (i.words - 1u)))
                o->failed = weft_error_set(&o->err, WEFT_E_NOMEM, d->file_at,
                                           "out of memory for the names of its events");
            continue;
        }
        d->used = true;
        *x = (struct read_eio_item){.time_ns = word(d, at + 1), .ring = (uint32_t)(d - o->ring)};
        if (i.user)
            read_user(o, d, x, at, &i);
        else
            read_runtime(o, d, x, at, &i);
        return true;
    }
    return false;
}

/* Decodes items until both of the ring's slots are full, or the ring has no more. */
static void fill(struct read_ocaml *o, struct read_domain *d)
{
    for (int i = 0; i < 2; i++)
        if (!d->ready[i]) {
            d->ready[i] = read_item(o, d, &d->item[i]);
            d->lost[i] = d->gap;
            if (d->ready[i])
                d->gap = false;
            if (i && d->ready[1] && d->item[1].time_ns < d->item[0].time_ns) {
                o->reader->damage.backward_times++;
                d->item[1].time_ns = d->item[0].time_ns;
            }
        }
}

static void advance(struct read_ocaml *o, struct read_domain *d)
{
    d->item[0] = d->item[1];
    d->ready[0] = d->ready[1];
    d->lost[0] = d->lost[1];
    d->ready[1] = false;
    fill(o, d);
}

/* ---- All rings ---- */

int read_ocaml_init(struct read_ocaml *o, struct weft_reader *reader, uint32_t rings,
                    struct weft_error *err)
{
    o->reader = reader;
    o->room = rings;
    o->ring = calloc(rings + (size_t)1, sizeof *o->ring);
    o->facts = calloc(rings + (size_t)1, sizeof *o->facts);
    o->name = calloc(WEFT_OCAML_NAMES, sizeof *o->name);
    o->event = malloc(WEFT_OCAML_NAMES);
    if (!o->ring || !o->facts || !o->name || !o->event)
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for its rings");
    memset(o->event, NO_EVENT, WEFT_OCAML_NAMES);
    for (unsigned i = 0; i < WEFT_OCAML_NAMES; i++)
        o->name[i].text = "";
    return 0;
}

struct weft_stream_facts *read_ocaml_add(struct read_ocaml *o, const struct read_domain *d)
{
    struct weft_stream_facts *f = &o->facts[o->rings];
    o->ring[o->rings++] = *d;
    *f = (struct weft_stream_facts){0};
    read_eio_name_stream(f, d->number);
    return f;
}

int read_ocaml_begin(struct read_ocaml *o, struct weft_error *err)
{
    struct weft_reader_facts *f = &o->reader->facts;
    o->eio = read_eio_new(o->rings);
    if (!o->eio)
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for its rings");
    f->streams = o->rings;
    f->streams_recorded = o->rings;
    f->stream = o->facts;
    for (uint32_t i = 0; i < o->rings; i++)
        fill(o, &o->ring[i]);
    if (o->failed && err)
        *err = o->err;
    return o->failed;
}

/* The ring whose next item is the earliest. NULL: there is none. */
static struct read_domain *earliest(struct read_ocaml *o)
{
    struct read_domain *first = NULL;
    for (uint32_t i = 0; i < o->rings; i++) {
        struct read_domain *d = &o->ring[i];
        if (d->ready[0] && (!first || d->item[0].time_ns < first->item[0].time_ns))
            first = d;
    }
    return first;
}

bool read_ocaml_retire(struct read_ocaml *o, struct read_domain *d)
{
    if (!d->used) {
        free(d->bytes);
    } else {
        if (!weft_reserve(&o->retired, o->retireds, &o->retired_room, sizeof *o->retired))
            return false;
        o->retired[o->retireds++] =
            (struct read_ocaml_retired){d->bytes, 8 * d->words, (uint32_t)(d - o->ring)};
        o->retired_now++;
    }
    d->bytes = NULL;
    d->words = d->at = 0;
    d->used = false;
    return true;
}

static bool is_pointed_to(const struct read_ocaml *o, const struct read_ocaml_retired *r)
{
    const struct read_domain *d = &o->ring[r->ring];
    for (int i = 0; i < 2; i++) {
        const uintptr_t text = d->ready[i] ? (uintptr_t)d->item[i].text : 0;
        if (text >= (uintptr_t)r->bytes && text <= (uintptr_t)r->bytes + r->size)
            return true;
    }
    return false;
}

/* Frees the retired buffers, except those that the next items point into. */
static void free_retired(struct read_ocaml *o)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < o->retireds; i++)
        if (is_pointed_to(o, &o->retired[i]))
            o->retired[kept++] = o->retired[i];
        else
            free(o->retired[i].bytes);
    o->retireds = kept;
    o->retired_now = 0;
}

/* Returns true if the batch has room for all events that one item may become. */
static bool has_room(struct read_ocaml *o, size_t n)
{
    if (o->retired_now >= RETIRED_MAX && n == 0) /* nothing points into them */
        free_retired(o);
    return n + READ_EIO_MOST <= WEFT_BATCH && o->retired_now < RETIRED_MAX;
}

ptrdiff_t read_ocaml_next(struct read_ocaml *o, struct weft_error *err)
{
    struct weft_reader *r = o->reader;
    size_t n = 0;
    struct read_domain *d;
    free_retired(o);
    while (has_room(o, n) && !o->failed && (d = earliest(o))) {
        if (d->lost[0])
            (void)read_eio_tell(
                o->eio, r->batch + n,
                &(struct read_eio_item){.event = READ_EIO_LOST, .ring = d->item[0].ring}, NULL);
        const int told = read_eio_tell(o->eio, r->batch + n, &d->item[0],
                                       d->ready[1] && !d->lost[1] ? &d->item[1] : NULL);
        if (told < 0)
            return weft_error_set(err, told, d->file_at, "out of memory for its promises");
        o->facts[d->item[0].ring].kept += (uint64_t)told;
        n += (size_t)told;
        advance(o, d);
    }
    if (n == 0)
        r->done = r->all;
    if (o->failed && err)
        *err = o->err;
    return o->failed ? o->failed : (ptrdiff_t)n;
}

void read_ocaml_fini(struct read_ocaml *o)
{
    for (uint32_t i = 0; i < o->retireds; i++)
        free(o->retired[i].bytes);
    for (uint32_t i = 0; i < o->rings; i++)
        free(o->ring[i].bytes);
    for (uint32_t i = 0; i < o->texts; i++)
        free(o->text[i]);
    weft_free_all(o->retired, o->text, o->ring, o->facts, o->name, o->event);
    read_eio_free(o->eio);
}
