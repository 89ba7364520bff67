/* SPDX-License-Identifier: ISC */
#include "read/packets.h"

#include <string.h>

#include "base/array.h"
#include "format/mirage.h"

enum { GLANCE = 1024, WINDOW = 64 << 10 };

#define LONG(n) ((unsigned long long)(n))

int read_find_mark(const struct weft_input *in, const struct read_mark *mark, uint64_t from,
                   uint64_t *found, void *copy, struct weft_error *err)
{
    unsigned char window[WINDOW];
    static const uint32_t magic = WEFT_CTF_MAGIC; /* every mark begins with this */
    *found = READ_NO_MARK;
    for (size_t step = GLANCE; (from = weft_input_data(in, from)) + mark->bytes <= in->size;
         step *= 4) {
        step = step < sizeof window ? step : sizeof window;
        ptrdiff_t got = weft_input_read(in, window, step, from, err);
        if (got < (ptrdiff_t)mark->bytes)
            return got < 0 ? (int)got : 0;
        const unsigned char *hit = window, *last = window + got - mark->bytes;
        while ((hit = memmem(hit, (size_t)(window + got - hit), &magic, sizeof magic)) &&
               hit <= last && !mark->is_mark(hit))
            hit++;
        if (hit && hit <= last) {
            *found = from + (uint64_t)(hit - window);
            if (copy)
                memcpy(copy, hit, mark->bytes);
            return 0;
        }
        from += (uint64_t)got - (mark->bytes - 1);
    }
    return 0;
}

int read_packets_append(void *array, uint64_t *count, uint32_t *room, size_t bytes,
                        const void *item, uint64_t offset, struct weft_error *err)
{
    if (!weft_reserve(array, *count, room, bytes))
        return weft_error_set(err, WEFT_E_NOMEM, offset, "out of memory for its packets");
    memcpy(*(char **)array + (*count)++ * bytes, item, bytes);
    return 0;
}

/* The walk through a file. */
struct walk {
    struct weft_reader *r;
    const struct read_packet_form *form;
    unsigned char *window;
    /* The packet before; it is added once it is known that another one begins where it ends. */
    struct read_packet last;
    bool has_last;
};

/* Sets the packet's sizes, and reports impossible ones. */
static int check_sizes(struct walk *w, struct read_packet *p, struct weft_error *err)
{
    struct weft_reader *r = w->r;
    const struct read_packet_form *form = w->form;
    uint64_t left = r->input.size - p->offset, next;
    form->read_sizes(p);
    const uint64_t says = p->size;
    if (says < form->header_bytes || says > left) {
        /* Either the file ends too early, or the size is wrong. If there is another packet within
         * it, the size is wrong. */
        TRY(read_find_mark(&r->input, &form->mark, p->offset + form->header_bytes, &next, NULL,
                           err));
        p->size = next != READ_NO_MARK ? next - p->offset : left;
        if (next != READ_NO_MARK)
            read_reader_problem(r, p->offset + form->size_at, 0,
                                "packet says it is %llu bytes long, but another begins after %llu",
                                LONG(says), LONG(p->size));
        else if (says < form->header_bytes)
            read_reader_problem(r, p->offset + form->size_at, 0,
                                "packet says it is %llu bytes long, less than its header",
                                LONG(says));
        else if (p->says > left)
            read_reader_problem(r, r->input.size, 0,
                                "the file ends in the middle of a packet: %llu bytes are missing",
                                LONG(p->says - left));
        p->cut = p->says > p->size;
    } else if (p->says > says) {
        read_reader_problem(r, p->offset + form->content_at, 0,
                            "packet of %llu bytes says it holds %llu bytes", LONG(says),
                            LONG(p->says));
    }
    p->content = p->says < p->size ? p->says : p->size;
    return 0;
}

/* Finds the end of the zeros at offset: packets that were never used. Looks at size bytes at most.
 * If something other than a packet follows within them, they do not count as a gap, and *end is
 * offset. */
static int skip_zeros(struct walk *w, uint64_t offset, size_t size, uint64_t *end,
                      struct weft_error *err)
{
    ptrdiff_t got = weft_input_read(&w->r->input, w->window, size, offset, err), zeros = 0;
    if (got < 0)
        return (int)got;
    while (zeros < got && w->window[zeros] == 0)
        zeros++;
    bool gap = zeros == got || (got - zeros >= (ptrdiff_t)w->form->mark.bytes &&
                                w->form->mark.is_mark(w->window + zeros));
    *end = gap ? offset + (uint64_t)zeros : offset;
    return 0;
}

/* There is no packet where the one before, if there is one, says that the next one begins. Continues
 * at the next mark, which may be within the packet before if its size was wrong. The number of zeros
 * that are followed before going back is bounded, so that a hostile file cannot make this
 * quadratic. */
static int resynchronise(struct walk *w, uint64_t offset, uint64_t *next, struct weft_error *err)
{
    const struct read_packet_form *form = w->form;
    struct read_packet *last = &w->last;
    uint64_t found;
    int rc = 0;
    *next = offset;
    if (form->zeros_max)
        rc = skip_zeros(w, offset, w->has_last ? GLANCE : form->zeros_max, next, err);
    if (rc < 0 || *next > offset)
        return rc;
    const uint64_t from = w->has_last ? last->offset + form->header_bytes : offset;
    TRY(read_find_mark(&w->r->input, &form->mark, from, &found, NULL, err));
    *next = found != READ_NO_MARK ? found : w->r->input.size;
    if (*next >= offset) {
        read_reader_problem(w->r, offset, *next - offset,
                            "expected a packet, found something else; skipped %llu bytes",
                            LONG(*next - offset));
        return 0;
    }
    read_reader_problem(w->r, last->offset + form->size_at, 0,
                        "packet says it is %llu bytes long, but another begins after %llu",
                        LONG(offset - last->offset), LONG(*next - last->offset));
    last->size = *next - last->offset;
    last->cut |= last->content > last->size;
    last->content = last->content < last->size ? last->content : last->size;
    return 0;
}

static int add_last(struct walk *w, struct weft_error *err)
{
    const bool has_last = w->has_last;
    w->has_last = false;
    return has_last ? w->form->add(w->r, &w->last, err) : 0;
}

int read_packets(struct weft_reader *r, const struct read_packet_form *form, unsigned char *window,
                 struct weft_error *err)
{
    struct walk w = {.r = r, .form = form, .window = window};
    int rc = 0;
    for (uint64_t offset = 0, next = 0; offset < r->input.size && rc == 0; offset = next) {
        struct read_packet p = {.offset = offset};
        ptrdiff_t got = weft_input_read(&r->input, p.head, form->head_bytes, offset, err);
        if (got < 0)
            return (int)got;
        if (got == 0) /* the file has become shorter */
            break;
        p.head_size = (size_t)got;
        const bool found = p.head_size >= form->mark.bytes && form->mark.is_mark(p.head);
        if (!found)
            rc = resynchronise(&w, offset, &next, err);
        if (rc == 0)
            rc = add_last(&w, err);
        if (!found || rc < 0)
            continue;
        if (p.head_size < form->header_bytes) {
            read_reader_problem(r, offset, p.head_size,
                                "the file ends in the middle of a packet's header");
            break;
        }
        rc = check_sizes(&w, &p, err);
        next = offset + p.size;
        w.last = p;
        w.has_last = true;
    }
    return rc < 0 ? rc : add_last(&w, err);
}
