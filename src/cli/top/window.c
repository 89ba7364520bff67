/* SPDX-License-Identifier: ISC */
#include "cli/top/window.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Looks that follow each other sooner share a slot, so that the slots reach far enough. */
#define SLOT_NS UINT64_C(500000000)

_Static_assert(TOP_SLOTS > TOP_SECONDS_MAX * 2 + 2, "the slots must cover the longest window");

/* The numbers of a row that only grow. */
enum {
    FIRST = offsetof(struct live_row, fulfilled),
    NUMBERS = (sizeof(struct live_row) - FIRST) / sizeof(uint64_t),
};
_Static_assert(FIRST + NUMBERS * sizeof(uint64_t) == sizeof(struct live_row), "they are the rest");

static const uint64_t *numbers(const struct live_row *r)
{
    return (const uint64_t *)(const void *)((const char *)r + FIRST);
}

static uint64_t *numbers_of(struct live_row *r)
{
    return (uint64_t *)(void *)((char *)r + FIRST);
}

static struct top_slot *slot(const struct top_window *w, uint32_t i)
{
    return &w->slot[(w->first + i) % TOP_SLOTS];
}

/* Makes room for new rows. */
static bool grow(struct top_window *w, const struct live_row *row, uint32_t rows)
{
    if ((rows > w->last_room &&
         !weft_reserve_all(&w->last, rows, &w->last_room, sizeof *w->last)) ||
        (rows > w->sum_room && !weft_reserve_all(&w->sum, rows, &w->sum_room, sizeof *w->sum)))
        return false;
    for (; w->rows < rows; w->rows++)
        w->last[w->rows] = w->sum[w->rows] =
            (struct live_row){.type = row[w->rows].type, .label = row[w->rows].label};
    return true;
}

/* Adds what has changed to the slot and to the sum. False: no memory; what is noted stays right. */
static bool note_row(struct top_window *w, struct top_slot *s, const struct live_row *row,
                     uint32_t index)
{
    uint64_t *last = numbers_of(&w->last[index]), *sum = numbers_of(&w->sum[index]);
    const uint64_t *now = numbers(row);
    if (memcmp(last, now, NUMBERS * sizeof *now) == 0)
        return true;
    for (uint32_t i = 0; i < NUMBERS; i++) {
        if (now[i] == last[i])
            continue;
        if (s->changes >= TOP_CHANGES_MAX)
            return true;
        if (!weft_reserve(&s->change, s->changes, &s->room, sizeof *s->change))
            return false;
        s->change[s->changes++] = (struct top_change){index, i, now[i] - last[i]};
        sum[i] += now[i] - last[i];
        last[i] = now[i];
    }
    return true;
}

/* Adds the changes of a slot to the sum, or takes them away. */
static void apply(struct top_window *w, const struct top_slot *s, bool add)
{
    for (uint32_t i = 0; i < s->changes; i++) {
        const struct top_change *c = &s->change[i];
        uint64_t *number = &numbers_of(&w->sum[c->row])[c->what];
        *number = add ? *number + c->by : *number - c->by;
    }
}

/* The number of slots that lie before a window of that many seconds. */
static uint32_t before(const struct top_window *w, unsigned seconds)
{
    const uint64_t ns = seconds * UINT64_C(1000000000);
    uint32_t n = 0;
    while (n < w->slots && slot(w, n)->to_ns + ns <= w->totals.now_ns)
        n++;
    return n;
}

static void leave(struct top_window *w)
{
    for (const uint32_t n = before(w, w->seconds); w->outside < n; w->outside++)
        apply(w, slot(w, w->outside), false);
    for (uint32_t n = before(w, TOP_SECONDS_MAX); n && w->slots; n--) {
        slot(w, 0)->changes = 0;
        w->first = (w->first + 1) % TOP_SLOTS;
        w->slots--;
        w->outside--;
    }
}

/* The slot for what happened since the last look; its time begins where the last one's ends. */
static struct top_slot *next_slot(struct top_window *w, uint64_t now_ns)
{
    struct top_slot *s = w->slots ? slot(w, w->slots - 1) : NULL;
    if (s && s->to_ns - s->from_ns < SLOT_NS && w->outside < w->slots) {
        s->to_ns = now_ns;
        return s;
    }
    if (w->slots == TOP_SLOTS) { /* the clock of the program is odd */
        if (w->outside == 0)
            apply(w, slot(w, w->outside++), false);
        slot(w, 0)->changes = 0;
        w->first = (w->first + 1) % TOP_SLOTS;
        w->slots--;
        w->outside--;
    }
    s = slot(w, w->slots++);
    struct top_change *change = s->change;
    const uint32_t room = s->room;
    *s = (struct top_slot){w->totals.now_ns, now_ns, change, .room = room};
    return s;
}

static uint64_t present_turn(const struct live_thread *t, uint64_t now_ns)
{
    return t->is_loop && !t->idle && now_ns > t->since_ns ? now_ns - t->since_ns : 0;
}

/* s: NULL after the first look. */
static void note_threads(struct top_window *w, struct top_slot *s, const struct live *l,
                         uint64_t now_ns)
{
    uint32_t count;
    const struct live_thread *t = live_threads(l, &count);
    w->threads = count < TOP_THREADS_MAX ? count : TOP_THREADS_MAX;
    for (uint32_t i = 0; i < w->threads; i++) {
        struct top_use *use = s ? &s->use[i] : NULL;
        w->present_ns[i] = present_turn(&t[i], now_ns);
        const uint64_t busy_ns = t[i].busy_ns + w->present_ns[i];
        if (use && busy_ns > w->busy_ns[i])
            use->busy_ns += busy_ns - w->busy_ns[i];
        if (use && t[i].turns > w->turns[i])
            use->turns += t[i].turns - w->turns[i];
        if (use && w->longest_ns[i] > use->longest_ns)
            use->longest_ns = w->longest_ns[i];
        w->longest_ns[i] = 0;
        if (!s && t[i].longest_ns > w->present_ns[i])
            w->present_ns[i] = t[i].longest_ns;
        w->busy_ns[i] = busy_ns;
        w->turns[i] = t[i].turns;
    }
}

/* What the first look has read is the sum until the second. */
static int note_first(struct top_window *w, const struct live *l)
{
    uint32_t rows;
    const struct live_row *row = live_rows(l, &rows);
    w->slot = calloc(TOP_SLOTS, sizeof *w->slot);
    if (!w->slot || !grow(w, row, rows))
        return WEFT_E_NOMEM;
    for (uint32_t i = 0; i < rows; i++)
        w->last[i] = w->sum[i] = row[i];
    w->totals = *live_totals(l);
    note_threads(w, NULL, l, w->totals.now_ns);
    w->begun = true;
    return 0;
}

static void begin(struct top_window *w)
{
    for (uint32_t i = 0; i < w->rows; i++)
        w->sum[i] = (struct live_row){.type = w->sum[i].type, .label = w->sum[i].label};
}

int top_window_note(struct top_window *w, const struct live *l)
{
    uint32_t rows;
    const struct live_row *row = live_rows(l, &rows);
    struct live_totals now = *live_totals(l);
    if (!w->begun)
        return note_first(w, l);
    if (now.now_ns < w->totals.now_ns) /* a clock of the program's own */
        now.now_ns = w->totals.now_ns;
    if (!grow(w, row, rows))
        return WEFT_E_NOMEM;
    if (w->slots == 0 && now.now_ns <= w->totals.now_ns)
        return 0; /* nothing was looked at since */
    if (w->slots == 0 && w->outside == 0)
        begin(w);
    struct top_slot *s = next_slot(w, now.now_ns);
    int rc = 0;
    for (uint32_t i = 0; i < rows && rc == 0; i++) {
        rc = note_row(w, s, &row[i], i) ? 0 : WEFT_E_NOMEM;
        w->last[i].pending = w->sum[i].pending = row[i].pending;
    }
    s->events += now.events - w->totals.events;
    s->lost += now.lost - w->totals.lost;
    s->created += now.created - w->totals.created;
    s->ended += now.ended - w->totals.ended;
    s->failed += now.failed - w->totals.failed;
    note_threads(w, s, l, now.now_ns);
    w->totals = now;
    leave(w);
    return rc;
}

void top_window_turned(struct top_window *w, uint32_t thread, uint64_t ns)
{
    if (thread < TOP_THREADS_MAX && ns > w->longest_ns[thread])
        w->longest_ns[thread] = ns;
}

void top_window_set(struct top_window *w, unsigned seconds)
{
    w->seconds = seconds;
    if (w->slots == 0)
        return;
    begin(w);
    w->outside = before(w, seconds);
    for (uint32_t i = 0; i < w->rows; i++)
        w->sum[i].pending = w->last[i].pending;
    for (uint32_t i = w->outside; i < w->slots; i++)
        apply(w, slot(w, i), true);
}

const struct live_row *top_window_rows(const struct top_window *w, uint32_t *count)
{
    *count = w->rows;
    return w->sum;
}

uint64_t top_window_ns(const struct top_window *w)
{
    return w->outside < w->slots ? w->totals.now_ns - slot(w, w->outside)->from_ns : 0;
}

struct live_totals top_window_totals(const struct top_window *w)
{
    struct live_totals t = {.now_ns = w->totals.now_ns};
    if (w->slots == 0)
        return w->totals;
    for (uint32_t i = w->outside; i < w->slots; i++) {
        const struct top_slot *s = slot(w, i);
        t.events += s->events;
        t.lost += s->lost;
        t.created += s->created;
        t.ended += s->ended;
        t.failed += s->failed;
    }
    return t;
}

struct top_use top_window_use(const struct top_window *w, uint32_t thread)
{
    struct top_use use = {0};
    if (thread >= w->threads)
        return use;
    if (w->slots == 0)
        use = (struct top_use){.busy_ns = w->busy_ns[thread], .turns = w->turns[thread]};
    for (uint32_t i = w->outside; i < w->slots; i++) {
        const struct top_use *s = &slot(w, i)->use[thread];
        use.busy_ns += s->busy_ns;
        use.turns += s->turns;
        if (s->longest_ns > use.longest_ns)
            use.longest_ns = s->longest_ns;
    }
    if (w->present_ns[thread] > use.longest_ns)
        use.longest_ns = w->present_ns[thread];
    const uint64_t window_ns = top_window_ns(w);
    if (w->slots && use.busy_ns > window_ns)
        use.busy_ns = window_ns;
    return use;
}

void top_window_fini(struct top_window *w)
{
    for (uint32_t i = 0; w->slot && i < TOP_SLOTS; i++)
        free(w->slot[i].change);
    weft_free_all(w->slot, w->last, w->sum);
    *w = (struct top_window){.seconds = w->seconds};
}
