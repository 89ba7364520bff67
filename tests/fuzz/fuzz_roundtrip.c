/* SPDX-License-Identifier: ISC */
/* Bytes as instructions for a recorder: the events that they make are written and read back.
 *
 * Byte 0: size of the packets; byte 1: number of the first one; then, for each event, a byte whose low
 * half is its kind and whose high half says how its fields are made from the bytes that follow. */
#include "try.h"
#include "write/mirage.h"

enum { EVENTS_MAX = 4096 };

struct bytes {
    const uint8_t *at, *end;
};

static uint64_t take(struct bytes *b, unsigned count)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < count && b->at < b->end; i++)
        v |= (uint64_t)*b->at++ << (8 * i);
    return v;
}

/* A promise: mostly a small number, sometimes any or none. */
static uint64_t take_id(struct bytes *b, bool wide)
{
    return wide ? ~take(b, 8) : take(b, 1);
}

static void take_text(struct bytes *b, struct weft_event *ev)
{
    size_t most = (size_t)take(b, 1), left = (size_t)(b->end - b->at);
    most = most < left ? most : left;
    ev->text = (const char *)b->at;
    ev->text_size = (uint32_t)strnlen(ev->text, most);
    b->at += ev->text_size;
}

static bool take_event(struct bytes *b, struct weft_event *ev, uint64_t *now)
{
    if (b->at == b->end)
        return false;
    unsigned how = (unsigned)take(b, 1), kind = how & 15, promises = 0;
    *ev = (struct weft_event){.kind = (uint8_t)kind};
    if (!weft_event_kinds[kind].in_mirage)
        ev->kind = WEFT_EVENT_SWITCH;
    uint64_t step = take(b, how & 0x10 ? 8 : 1);
    *now = step > UINT64_MAX - *now ? UINT64_MAX : *now + step;
    ev->time_ns = *now;
    const struct weft_event_desc *d = &weft_event_kinds[ev->kind];
    for (unsigned i = 0; i < d->fields; i++) {
        switch ((enum weft_field)d->field[i].field) {
        case WEFT_FIELD_PROMISE:
            *(promises++ ? &ev->b : &ev->a) = take_id(b, how & 0x20);
            break;
        case WEFT_FIELD_TYPE:
        case WEFT_FIELD_REASON:
            ev->type = (uint8_t)take(b, 1);
            break;
        case WEFT_FIELD_SIGNED:
        case WEFT_FIELD_DURATION:
            ev->value = (int64_t)take(b, how & 0x40 ? 8 : 1);
            break;
        case WEFT_FIELD_TEXT:
            take_text(b, ev);
            break;
        }
    }
    return true;
}

static void require_equal(const struct weft_event *found, const struct weft_event *wanted)
{
    REQUIRE(found->kind == wanted->kind && found->time_ns == wanted->time_ns);
    REQUIRE(found->a == wanted->a && found->b == wanted->b);
    REQUIRE(found->type == wanted->type && found->value == wanted->value);
    REQUIRE(found->text_size == wanted->text_size);
    REQUIRE(!found->text_size || !memcmp(found->text, wanted->text, found->text_size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct weft_event event[EVENTS_MAX];
    struct bytes b = {data, data + size};
    uint64_t now = 0, events = 0, found = 0;
    struct weft_mirage_options how = {.packet_bytes = 31 + 8 * (uint32_t)take(&b, 1)};
    how.first_sequence = (uint16_t)(0xff80 + take(&b, 1));
    char *bytes;
    size_t bytes_size;
    FILE *memory = open_memstream(&bytes, &bytes_size);
    struct weft_mirage_writer *w;
    REQUIRE(memory && weft_mirage_writer_open(&w, memory, &how, NULL) == 0);
    for (; events < EVENTS_MAX && take_event(&b, &event[events], &now); events++)
        REQUIRE(weft_mirage_writer_append(w, &event[events], NULL) == 0);
    REQUIRE(weft_mirage_writer_close(w, NULL) == 0 && fclose(memory) == 0);

    struct weft_reader *r;
    const struct weft_event *ev;
    ptrdiff_t n;
    REQUIRE(weft_reader_open(&r, try_file(bytes, bytes_size), NULL) == 0);
    while ((n = weft_reader_next(r, &ev, NULL)) > 0)
        for (ptrdiff_t i = 0; i < n; i++, found++) {
            REQUIRE(found < events);
            require_equal(&ev[i], &event[found]);
        }
    REQUIRE(n == 0 && found == events);
    const struct weft_damage *d = weft_reader_damage(r);
    REQUIRE(d->problems + d->skipped_bytes + d->half_written + d->backward_times == 0);
    REQUIRE(weft_reader_facts(r)->missing_packets == 0 && !weft_reader_facts(r)->wrapped);
    weft_reader_close(r);
    free(bytes);
    return 0;
}
