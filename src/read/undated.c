/* SPDX-License-Identifier: ISC */
/* Promises that were on the roll before they got a cell: of their creations only the sites are known.
 * A reader hands out such a creation before everything that is known about the promise: before the first
 * of its kept events, and before the first packet. That is only a bound: the promise was there by then,
 * or was created soon after, by an event that has been overwritten.
 * Numbers of the program's own do not tell in which packet a promise was created. That packet may still
 * be there: the recorder puts promises on the roll before it overwrites it. Then its event counts. If
 * packets only tell of an earlier promise with the same number, which has ended, the creation comes when
 * the promise got its cell: certainly after that end. */
#include <stdlib.h>

#include "read/weft.h"

/* A promise, its creation among the kept events, and the ticks of the last events of its number in packets;
 * 0: there are none. */
struct undated {
    uint64_t creation;
    uint64_t created, ended;
};

struct finder {
    struct undated *promise;
    struct weft_idmap *at; /* of these, by number */
    uint32_t promises, room;
};

static struct undated *find(const struct finder *u, uint64_t id)
{
    const uint32_t at = weft_idmap_seek(u->at, id);
    return at == WEFT_IDMAP_NONE ? NULL : &u->promise[at];
}

static bool gather(struct finder *u, const struct pending *p)
{
    for (uint64_t i = 0; i < p->events; i++) {
        const struct promoted *ev = &p->event[i];
        if (!ev->undated || ev->kind != WEFT_EVENT_CREATES)
            continue;
        if ((!u->at && !(u->at = weft_idmap_new())) ||
            !weft_reserve(&u->promise, u->promises, &u->room, sizeof *u->promise) ||
            !weft_idmap_put(u->at, ev->id, u->promises))
            return false;
        u->promise[u->promises++] = (struct undated){.creation = i};
    }
    return true;
}

/* A read_look_fn. */
static void look(void *finder, const struct weft_event *ev)
{
    const uint32_t endings = 1u << WEFT_EVENT_FULFILLS | 1u << WEFT_EVENT_FAILS |
                             1u << WEFT_EVENT_RESOLVES | 1u << WEFT_EVENT_CANCELS |
                             1u << WEFT_EVENT_FORGETS | 1u << WEFT_EVENT_BECOMES;
    const bool creates = ev->kind == WEFT_EVENT_CREATES,
               of_first = ev->kind == WEFT_EVENT_FORGETS || ev->kind == WEFT_EVENT_BECOMES;
    struct undated *p =
        creates || endings >> ev->kind & 1 ? find(finder, of_first ? ev->a : ev->b) : NULL;
    if (!p)
        return;
    uint64_t *last = creates ? &p->created : &p->ended;
    *last = ev->time_ns > *last ? ev->time_ns : *last;
}

/* Moves the creation of a promise to a time at which an event mentions it, if that is earlier. */
static void mention(const struct finder *u, struct pending *p, uint64_t id, uint64_t ns)
{
    const struct undated *of = find(u, id);
    if (of && !of->ended && ns < p->event[of->creation].ns)
        p->event[of->creation].ns = ns;
}

static void find_times(const struct finder *u, struct weft_file *f)
{
    struct pending *p = &f->pending_events;
    for (uint32_t i = 0; i < u->promises && f->packets; i++)
        mention(u, p, p->event[u->promise[i].creation].id, f->packet[0].begin_ns);
    for (uint64_t i = 0; i < p->events; i++) {
        const struct promoted *ev = &p->event[i];
        mention(u, p, ev->id, ev->ns);
        if (ev->kind == WEFT_EVENT_CREATES || !ev->text)
            mention(u, p, ev->other, ev->ns);
    }
}

/* Gives the marks the times of the creations, and leaves out creations that are in packets. */
static void apply(const struct finder *u, struct pending *p)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < p->events; i++) {
        struct promoted ev = p->event[i];
        struct undated *of = ev.undated ? find(u, ev.id) : NULL;
        const bool there = of && of->created > of->ended;
        if (there && ev.kind == WEFT_EVENT_CREATES)
            continue;
        if (of) /* it comes before its marks */
            ev.ns = there ? UINT64_MAX : p->event[of->creation].ns;
        if (of && ev.kind == WEFT_EVENT_CREATES)
            of->creation = kept;
        p->event[kept++] = ev;
    }
    p->events = kept;
}

int read_undated_place(struct weft_file *f, bool maybe_there, struct weft_error *err)
{
    struct finder u = {.promises = 0};
    int rc = gather(&u, &f->pending_events) ? 0 : read_no_promises(err);
    if (rc == 0 && u.promises && maybe_there)
        rc = read_merge_look(f, look, &u, err);
    if (rc == 0 && u.promises) {
        find_times(&u, f);
        apply(&u, &f->pending_events);
    }
    weft_idmap_free(u.at);
    free(u.promise);
    return rc;
}
