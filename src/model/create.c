/* SPDX-License-Identifier: ISC */
/* Creations of promises: what they say, and what to do with those that come late. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "model/build.h"

enum { ANCESTORS_MAX = 64 }; /* how many ancestors are checked for a circle */

/* Adds the label that a promise was created with. It becomes the first label, even if another
 * thread has already added one: late says that this is possible. */
static int label_creation(struct weft_builder *b, uint32_t promise, const struct weft_event *ev,
                          bool late)
{
    uint32_t text;
    TRY(model_add_text(b, ev, &text));
    b->labels_late |= late;
    return model_add_label(b, b->m->promise[promise].start_ns, promise, false, text,
                           late ? MODEL_LABEL_FIRST : WEFT_NONE);
}

/* What a creation says. */
struct creation {
    uint32_t parent;
    uint32_t type;  /* text */
    uint32_t place; /* or MODEL_NO_PLACE */
};

/* The text of a type, by its number in mirage's table. */
static int mirage_type(struct weft_builder *b, uint8_t type, uint32_t *out)
{
    char unknown[16];
    const char *name = weft_type_name(type);
    if (b->type_text[type] == WEFT_NONE) {
        if (!name) {
            snprintf(unknown, sizeof unknown, "type-%u", type);
            name = unknown;
        }
        TRY(model_add_name(b, name, &b->type_text[type]));
    }
    *out = b->type_text[type];
    return 0;
}

/* Type and place of a creation in one of weft's own traces. If the site is stored, they are looked
 * up only once. */
static int read_origin(struct weft_builder *b, const struct weft_origin *o, struct creation *c)
{
    struct weft_model *m = b->m;
    if (!weft_reach(&b->site, o->number, &b->site_room, sizeof *b->site, 0xff))
        return model_no_room(b, b->site_room, "sites");
    struct weft_site_known *known = &b->site[o->number]; /* [0] is for sites that are not stored */
    if (known->type == WEFT_NONE || !o->number) {
        TRY(model_add_name(b, o->type, &known->type));
        known->place = MODEL_NO_PLACE;
        if (o->file && o->number && m->origins < MODEL_NO_PLACE) {
            struct weft_place place = {.line = o->line};
            TRY(model_add_name(b, o->file, &place.file));
            known->place = m->origins;
            APPEND(b, m->origin, m->origins, b->origin_room, "places", place);
        }
    }
    c->type = known->type;
    c->place = known->place;
    return 0;
}

int model_add_given_up(struct weft_builder *b)
{
    const struct weft_promotion *f = &b->facts->promotion;
    if (!f->sorts)
        return 0;
    b->m->given_up = weft_resize(NULL, f->sorts, sizeof *b->m->given_up);
    if (!b->m->given_up)
        return model_no_room(b, f->sorts, "sorts");
    for (uint32_t i = 0; i < f->sorts; i++) {
        struct creation c = {.type = b->preexisting_text, .place = MODEL_NO_PLACE};
        if (f->sort[i].origin)
            TRY(read_origin(b, f->sort[i].origin, &c));
        b->m->given_up[b->m->given_ups++] = (struct weft_model_given_up){
            c.type, c.place < b->m->origins ? c.place : WEFT_NONE, f->sort[i].pending,
            f->sort[i].unlisted, f->sort[i].left_out};
    }
    return 0;
}

/* Returns true if parent may become promise's creator, that is if promise does not become its own
 * ancestor. Checks only a few ancestors, so that long chains stay cheap. */
static bool may_create(const struct weft_builder *b, uint32_t parent, uint32_t promise)
{
    if (parent == promise)
        return false;
    if (!b->m->promise[promise].simplified) /* it has no children */
        return true;
    uint32_t p = parent;
    for (unsigned i = 0; !b->m->quirks.one_clock && i < ANCESTORS_MAX && p != promise; i++) {
        if (p == WEFT_ROOT)
            return true;
        p = b->m->promise[p].creator;
    }
    return false;
}

/* Handles the creation of a number that is already known. If only its creation was missing, this
 * fills in what it can without making a promise its own ancestor. With several threads this is
 * normal: their clocks differ a little. */
static bool create_again(struct weft_builder *b, uint32_t promise, const struct creation *c)
{
    struct weft_promise *p = &b->m->promise[promise];
    if (promise == WEFT_ROOT) {
        b->m->contradictions.on_loop++;
        return false;
    }
    if (p->created || b->m->quirks.one_clock)
        b->m->contradictions.created_twice++;
    if (p->created)
        return false;
    p->created = true;
    p->type = c->type;
    p->place = c->place & MODEL_NO_PLACE;
    if (!b->m->quirks.one_clock && b->now < p->start_ns)
        p->start_ns = b->now;
    if (may_create(b, c->parent, promise)) {
        struct weft_promise *parent = &b->m->promise[c->parent];
        p->creator = c->parent;
        model_set_child(parent, b->m->quirks.one_clock ? parent->end_ns : b->now);
    }
    return true;
}

/* Only type and place of the promise are known. It was there at that time, and perhaps long before. */
static int on_undated(struct weft_builder *b, const struct weft_event *ev)
{
    struct creation c = {.type = b->preexisting_text, .place = MODEL_NO_PLACE};
    uint32_t child = model_seek(b, ev->b);
    const bool late = child != WEFT_IDMAP_NONE;
    if (ev->origin)
        TRY(read_origin(b, ev->origin, &c));
    if (!late)
        TRY(model_add_promise(b, ev->b, WEFT_ROOT, b->now, c.type, &child));
    struct weft_promise *p = &b->m->promise[child];
    if (child == WEFT_ROOT || p->created)
        return 0;
    p->type = c.type;
    p->place = c.place & MODEL_NO_PLACE;
    p->start_ns = weft_earlier(b->now, p->start_ns);
    p->promoted = true;
    return ev->text ? label_creation(b, child, ev, late) : 0;
}

int model_on_creates(struct weft_builder *b, const struct weft_event *ev)
{
    if (ev->undated)
        return on_undated(b, ev);
    struct creation c = {.place = MODEL_NO_PLACE};
    uint32_t child;
    bool late = false;
    TRY(model_lookup(b, ev->a, &c.parent));
    TRY(ev->origin ? read_origin(b, ev->origin, &c) : mirage_type(b, ev->type, &c.type));
    child = model_seek(b, ev->b);
    if (child != WEFT_IDMAP_NONE) {
        late = true;
        if (!create_again(b, child, &c))
            return 0;
    } else {
        TRY(model_add_promise(b, ev->b, c.parent, b->now, c.type, &child));
        /* the widest of these bit fields first */
        b->m->promise[child].place = c.place & MODEL_NO_PLACE;
        b->m->promise[child].created = true;
        model_set_child(&b->m->promise[c.parent], b->now);
    }
    b->m->promise[child].promoted = ev->promoted;
    return ev->text ? label_creation(b, child, ev, late) : 0;
}
