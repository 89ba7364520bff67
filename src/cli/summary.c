/* SPDX-License-Identifier: ISC */
#include "cli/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/order.h"

/* ---- Distinct promises ---- */

/* A hash table of 64-bit words of a bitmap: numbers that were assigned one after another take a quarter of a byte each and
 * stay in the cache; scattered ones take 32 bytes. Twice as fast as an idmap. */
struct word {
    uint64_t number; /* id / 64 */
    uint64_t bits;   /* 0: the place is free */
};

enum { RECENT = 512 };

struct idset {
    struct word *word;
    uint64_t mask, used, seed;
    struct word *recent[RECENT]; /* by number: where it was last found, never NULL */
};

/* The place that holds a word, or the free place where it belongs. Words of neighbouring ids are neighbours. */
static struct word *place_of(const struct idset *s, uint64_t number)
{
    uint64_t i = (weft_mix(number >> 2, s->seed) << 2 | (number & 3)) & s->mask;
    while (s->word[i].bits && s->word[i].number != number)
        i = (i + 1) & s->mask;
    return &s->word[i];
}

static bool resize(struct idset *s, uint64_t places)
{
    struct idset old = *s;
    s->word = calloc(places, sizeof *s->word);
    if (!s->word) {
        s->word = old.word;
        return false;
    }
    s->mask = places - 1;
    for (uint64_t i = 0; old.word && i <= old.mask; i++)
        if (old.word[i].bits)
            *place_of(s, old.word[i].number) = old.word[i];
    free(old.word);
    for (unsigned i = 0; i < RECENT; i++)
        s->recent[i] = s->word;
    return true;
}

/* Adds an id. False: no memory. */
static inline bool add(struct idset *s, uint64_t id)
{
    uint64_t number = id >> 6;
    struct word *w = s->recent[number % RECENT];
    if (w->number != number || !w->bits) {
        w = place_of(s, number);
        if (!w->bits) {
            if (s->used * 2 > s->mask) {
                if (!resize(s, (s->mask + 1) * 2))
                    return false;
                w = place_of(s, number);
            }
            w->number = number;
            s->used++;
        }
        s->recent[number % RECENT] = w;
    }
    w->bits |= UINT64_C(1) << (id & 63);
    return true;
}

/* ---- Opening, closing ---- */

bool cli_summary_open(struct cli_summary *s, const char *path)
{
    *s = (struct cli_summary){.path = path, .reader = cli_open(path)};
    return s->reader != NULL;
}

void cli_summary_close(struct cli_summary *s)
{
    weft_reader_close(s->reader);
    free(s->stream);
    s->reader = NULL;
    s->stream = NULL;
}

static void take_facts(struct cli_summary *s)
{
    s->facts = *weft_reader_facts(s->reader);
    s->damage = *weft_reader_damage(s->reader);
}

void cli_summary_take(struct cli_summary *s, const struct weft_model *m)
{
    memcpy(s->events, m->events, sizeof s->events);
    s->events_total = m->events_total;
    s->span_ns = (uint64_t)weft_later(weft_later(m->latest_ns, 0) - m->from_ns, 0);
    s->promises = m->promises - 1; /* the loop is not a promise */
    take_facts(s);
}

/* Which promises an event of each kind mentions, as model/numbers.c sees it. */
struct mention {
    bool first, second;
    bool only_if_source; /* none at all if the second one is the loop, as in the model */
};

static void find_mentions(struct mention mention[WEFT_EVENT_KINDS], bool loop_is_sleep)
{
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++) {
        const struct weft_event_desc *d = &weft_event_kinds[k];
        unsigned promises = 0;
        for (unsigned i = 0; i < d->fields; i++)
            promises += d->field[i].field == WEFT_FIELD_PROMISE;
        mention[k] = (struct mention){.first = promises > 0, .second = promises > 1};
    }
    mention[WEFT_EVENT_SNAPSHOT] = (struct mention){.first = false};
    mention[WEFT_EVENT_READ].only_if_source = loop_is_sleep;
    mention[WEFT_EVENT_READ_LATER].only_if_source = loop_is_sleep;
    mention[WEFT_EVENT_TRY_READ].only_if_source = loop_is_sleep;
}

struct count {
    struct idset ids;
    struct mention mention[WEFT_EVENT_KINDS];
    uint64_t first_ns;
    int64_t latest; /* after the first */
    /* by stream: an event of it was there; not if nothing ever says what runs */
    uint8_t *begun;
    uint32_t begun_room;
    bool no_running;
};

/* Adds what runs on the stream if no event has said that it does, as in the model. */
static bool add_running(struct count *c, const struct weft_event *ev)
{
    if (ev->promoted || c->no_running)
        return true;
    if (!weft_reach(&c->begun, ev->stream, &c->begun_room, 1, 0))
        return false;
    const bool said = c->begun[ev->stream] && !ev->gap;
    c->begun[ev->stream] = 1;
    return said || ev->running == WEFT_ID_LOOP || add(&c->ids, ev->running);
}

static bool count_batch(struct cli_summary *s, struct count *c, const struct weft_event *ev,
                        ptrdiff_t n)
{
    bool fits = true;
    int64_t latest = c->latest;
    for (const struct weft_event *end = ev + n; ev < end; ev++) {
        const struct mention *m = &c->mention[ev->kind];
        int64_t time = weft_model_time(ev->time_ns, c->first_ns);
        if (!ev->promoted) {
            latest = time > latest ? time : latest;
            s->events[ev->kind]++;
            s->events_total++;
        } else if (ev->kind == WEFT_EVENT_RESOLVES) {
            continue; /* mentions nothing new */
        }
        fits &= add_running(c, ev);
        if (m->only_if_source && ev->b == WEFT_ID_LOOP)
            continue;
        if (m->first && ev->a != WEFT_ID_LOOP && !ev->undated)
            fits &= add(&c->ids, ev->a);
        if (m->second && ev->b != WEFT_ID_LOOP)
            fits &= add(&c->ids, ev->b);
    }
    c->latest = latest;
    return fits;
}

static int count_events(struct cli_summary *s, struct weft_error *err)
{
    const struct weft_quirks *quirks = &weft_reader_facts(s->reader)->quirks;
    struct count c = {.ids = {.seed = weft_seed()}, .no_running = quirks->no_running};
    if (!resize(&c.ids, 1024))
        return weft_no_memory(err);
    find_mentions(c.mention, quirks->loop_is_sleep);
    struct cli_progress progress = cli_progress_begin(s->path);
    const struct weft_event *events;
    ptrdiff_t n;
    int rc = 0;
    for (unsigned batch = 0; (n = weft_reader_next(s->reader, &events, err)) > 0 && rc == 0;) {
        c.first_ns = weft_reader_facts(s->reader)->first_ns;
        if (!count_batch(s, &c, events, n))
            rc = weft_no_memory(err);
        if (++batch % 4096 == 0)
            cli_progress_show(&progress, weft_reader_progress(s->reader));
    }
    cli_progress_end(&progress);
    s->span_ns = (uint64_t)weft_later(c.latest - weft_later(cli_part.from_ns, 0), 0);
    for (uint64_t i = 0; i <= c.ids.mask; i++)
        s->promises += (uint64_t)__builtin_popcountll(c.ids.word[i].bits);
    weft_free_all(c.ids.word, c.begun);
    return n < 0 ? (int)n : rc;
}

bool cli_summary_count(struct cli_summary *s)
{
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    if (count_events(s, &err) < 0)
        return cli_complain(s->path, &err);
    take_facts(s);
    return true;
}
