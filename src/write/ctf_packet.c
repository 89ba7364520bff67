/* SPDX-License-Identifier: ISC */
#include "write/ctf_packet.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "format/bytes.h"
#include "format/mirage.h"
#include "format/tsdl.h"

/* Offsets in the header. Events come after the name's NUL; in mirage's layout, in place of the
 * thread. */
enum {
    MAGIC = 0,
    INSTANCE = 4,
    PACKET_SIZE = 12,
    CONTENT_SIZE = 20,
    BEGIN = 28,
    END = 36,
    NUMBER = 44,
    THREAD = 52,
    NAME = 56,
};

static size_t header_size(const struct weft_ctf_packet *p)
{
    return p->mirage ? THREAD : NAME + strnlen(p->thread_name, sizeof p->thread_name) + 1;
}

static int reserve(struct weft_ctf_packet *p, size_t more, struct weft_error *err)
{
    const size_t used = p->used ? p->used : header_size(p);
    if (!weft_reserve_all(&p->bytes, used + more, &p->room, 1))
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
    p->used = used;
    return 0;
}

static void put_u8(struct weft_ctf_packet *p, uint8_t v)
{
    p->bytes[p->used++] = v;
}

static void put_u32(struct weft_ctf_packet *p, uint32_t v)
{
    weft_write_u32(p->bytes + p->used, v);
    p->used += sizeof v;
}

static void put_u64(struct weft_ctf_packet *p, uint64_t v)
{
    weft_write_u64(p->bytes + p->used, v);
    p->used += sizeof v;
}

static void put_text(struct weft_ctf_packet *p, const char *text, size_t size)
{
    if (size)
        memcpy(p->bytes + p->used, text, size);
    p->used += size;
    put_u8(p, 0);
}

static void put_word(struct weft_ctf_packet *p, const char *word)
{
    if (*word)
        put_text(p, word, strlen(word));
}

static void put_field(struct weft_ctf_packet *p, const struct weft_event *ev, enum weft_field field,
                      bool second, const char *type)
{
    switch (field) {
    case WEFT_FIELD_PROMISE:
        put_u64(p, second ? ev->b : ev->a);
        break;
    case WEFT_FIELD_TYPE:
        put_word(p, type);
        break;
    case WEFT_FIELD_REASON:
        put_u8(p, ev->type);
        break;
    case WEFT_FIELD_SIGNED:
    case WEFT_FIELD_DURATION:
        put_u64(p, (uint64_t)ev->value);
        break;
    case WEFT_FIELD_TEXT:
        if (ev->text_size)
            put_text(p, ev->text, ev->text_size);
        break;
    }
}

static void put_event(struct weft_ctf_packet *p, const struct weft_event *ev, const char *type,
                      const char *file)
{
    const struct weft_event_desc *d = &weft_event_kinds[ev->kind];
    bool creates = ev->kind == WEFT_EVENT_CREATES, text = creates;
    unsigned promises = 0, left_out = 0;
    for (unsigned i = 0; i < d->fields; i++)
        text |= d->field[i].field == WEFT_FIELD_TEXT;
    left_out |= text && !ev->text_size ? WEFT_TSDL_NO_TEXT : 0;
    left_out |= creates && !*type ? WEFT_TSDL_NO_TYPE : 0;
    left_out |= creates && !*file ? WEFT_TSDL_NO_PLACE : 0;
    put_u64(p, ev->time_ns);
    put_u8(p, (uint8_t)(ev->kind | left_out << 5));
    for (unsigned i = 0; i < d->fields; i++) {
        put_field(p, ev, d->field[i].field, promises > 0, type);
        promises += d->field[i].field == WEFT_FIELD_PROMISE;
    }
    if (creates && ev->text_size)
        put_text(p, ev->text, ev->text_size);
    if (creates && *file) {
        put_word(p, file);
        put_u32(p, ev->origin->line);
    }
    if (ev->kind == WEFT_EVENT_INCREASE)
        put_u64(p, (uint64_t)ev->total);
}

_Static_assert(WEFT_EVENT_KINDS <= 32, "what is left out has three bits of a class's number");

#define FIXED_MAX 128 /* an event without its texts */

static int append_weft(struct weft_ctf_packet *p, const struct weft_event *ev,
                       struct weft_error *err)
{
    /* mirage's types have numbers; weft's own are texts already. */
    const char *type = ev->origin ? ev->origin->type : weft_type_name(ev->type);
    const char *file = ev->origin && ev->origin->file ? ev->origin->file : "";
    char number[16];
    if (!type) {
        snprintf(number, sizeof number, "type-%u", ev->type);
        type = number;
    }
    int rc = reserve(p, FIXED_MAX + ev->text_size + strlen(type) + strlen(file), err);
    if (rc == 0)
        put_event(p, ev, type, file);
    return rc;
}

static int append_mirage(struct weft_ctf_packet *p, const struct weft_event *ev,
                         struct weft_error *err)
{
    if (ev->kind >= WEFT_EVENT_KINDS || !weft_event_kinds[ev->kind].in_mirage)
        return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                              "mirage-profile's format has no event %s",
                              ev->kind < WEFT_EVENT_KINDS ? weft_event_kinds[ev->kind].name : "");
    int rc = reserve(p, weft_event_size(ev), err);
    if (rc == 0)
        p->used += weft_event_encode(p->bytes + p->used, ev);
    return rc;
}

int write_ctf_packet_append(struct weft_ctf_packet *p, const struct weft_event *ev,
                            struct weft_error *err)
{
    bool first = !p->used;
    int rc = p->mirage ? append_mirage(p, ev, err) : append_weft(p, ev, err);
    if (rc < 0)
        return rc;
    if (first)
        p->begin_ns = ev->time_ns;
    p->end_ns = ev->time_ns;
    return 0;
}

int write_ctf_packet_end(struct weft_ctf_packet *p, uint32_t stream, struct weft_error *err)
{
    int rc = reserve(p, 0, err);
    if (rc < 0)
        return rc;
    unsigned char *h = p->bytes;
    weft_write_u32(h + MAGIC, WEFT_CTF_MAGIC);
    weft_write_u64(h + INSTANCE, stream);
    weft_write_u64(h + PACKET_SIZE, p->used * 8);
    weft_write_u64(h + CONTENT_SIZE, p->used * 8);
    weft_write_u64(h + BEGIN, p->begin_ns);
    weft_write_u64(h + END, p->end_ns);
    weft_write_u64(h + NUMBER, p->number);
    if (p->mirage)
        return 0;
    size_t name_end = header_size(p);
    weft_write_u32(h + THREAD, p->thread);
    memcpy(h + NAME, p->thread_name, name_end - NAME - 1);
    h[name_end - 1] = 0;
    return 0;
}

void write_ctf_packet_clear(struct weft_ctf_packet *p)
{
    free(p->bytes);
    p->bytes = NULL;
    p->used = 0;
    p->room = 0;
    p->number++;
}
