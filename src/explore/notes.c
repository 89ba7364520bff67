/* SPDX-License-Identifier: ISC */
/* What users note about promises, ranges and times of a trace.
 *
 * A note that was deleted or changed stays in the notebook as gone: so a link or a file that still has it, and that is
 * read afterwards, does not bring it back. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "explore/state.h"
#include "format/utf8.h"

enum {
    FLAG_BYTES = 32, /* of a note's text in the picture */
    GONE_MAX = 4 * WEFT_NOTES_MAX,
};

/* One note, in the order in which they were made. */
struct remark {
    bool gone;
    struct explore_where where;
    char *text;
    char flag[FLAG_BYTES + 8];
};

struct explore_notebook {
    struct remark *remark;
    uint32_t count, room, shown;
    bool unsaved;
};

struct explore_notebook *explore_notebook_new(void)
{
    return calloc(1, sizeof(struct explore_notebook));
}

void explore_notebook_free(struct explore_notebook *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; i < b->count; i++)
        free(b->remark[i].text);
    free(b->remark);
    free(b);
}

/* ---- Where: "413" is a promise, "t1000" a time, "r1000-2000" a range ---- */

static bool parse_time(const char *text, size_t size, int64_t *out)
{
    return weft_parse_signed(text, size, -WEFT_TIME_MAX, WEFT_TIME_MAX, out);
}

bool explore_where_read(struct explore_where *r, const char *at, size_t size)
{
    *r = (struct explore_where){.of_promise = false};
    if (size && *at == 't') {
        bool sound = parse_time(at + 1, size - 1, &r->from_ns);
        r->to_ns = r->from_ns;
        return sound;
    }
    if (size > 2 && *at == 'r') {
        const char *dash = memchr(at + 2, '-', size - 2); /* not the sign of the first number */
        return dash && parse_time(at + 1, (size_t)(dash - at - 1), &r->from_ns) &&
               parse_time(dash + 1, (size_t)(at + size - dash - 1), &r->to_ns) &&
               r->from_ns < r->to_ns;
    }
    r->of_promise = true;
    return weft_parse_digits(at, size, UINT64_MAX, &r->id) && r->id != 0;
}

void explore_where_write(char *out, size_t room, const struct explore_where *r)
{
    if (r->of_promise)
        snprintf(out, room, "%" PRIu64, r->id);
    else if (r->from_ns == r->to_ns)
        snprintf(out, room, "t%" PRId64, r->from_ns);
    else
        snprintf(out, room, "r%" PRId64 "-%" PRId64, r->from_ns, r->to_ns);
}

/* ---- Changing ---- */

static bool is_same(const struct remark *a, const struct remark *b)
{
    return a->where.of_promise == b->where.of_promise && a->where.id == b->where.id &&
           a->where.from_ns == b->where.from_ns && a->where.to_ns == b->where.to_ns &&
           !strcmp(a->text, b->text);
}

/* A text of the user, or of a file: one line, cleaned. The caller frees it. NULL: no memory. */
static char *clean(const char *text, size_t size)
{
    char *out = malloc(WEFT_NOTE_BYTES + 1);
    if (!out)
        return NULL;
    out[weft_text_clean(out, WEFT_NOTE_BYTES, text, size)] = '\0';
    return out;
}

static void make_flag(struct remark *r)
{
    if (*r->text)
        explore_fact_clean(r->flag, FLAG_BYTES, r->text, strlen(r->text));
    else
        snprintf(r->flag, sizeof r->flag, "\xe2\x98\x85"); /* a star: a bookmark */
}

/* Takes ownership of r->text. again: even if it is gone. Returns false if there is no room. */
static bool put(struct explore_notebook *b, struct remark r, bool again)
{
    for (uint32_t i = 0; i < b->count; i++) {
        struct remark *x = &b->remark[i];
        if (!is_same(x, &r))
            continue;
        free(r.text);
        if (x->gone && again && b->shown < WEFT_NOTES_MAX) {
            x->gone = false;
            b->shown++;
        }
        return true;
    }
    if (b->shown >= WEFT_NOTES_MAX || b->count >= GONE_MAX ||
        !weft_reserve(&b->remark, b->count, &b->room, sizeof *b->remark)) {
        free(r.text);
        return false;
    }
    make_flag(&r);
    b->remark[b->count++] = r;
    b->shown++;
    return true;
}

static void changed(struct weft_explorer *e, struct explore_notebook *b, bool unsaved)
{
    b->unsaved = b->unsaved || unsaved;
    e->marks_stale = true;
    explore_changed(e, WEFT_CHANGED_NOTES | WEFT_CHANGED_TIP);
    explore_moved(e); /* rows with notes are high */
}

bool explore_note_put(struct weft_explorer *e, unsigned pane, const char *at, size_t at_size,
                      const char *text, size_t size, int64_t later_ns)
{
    struct remark r = {.gone = false};
    struct explore_notebook *b = e->pane[pane].trace->notebook;
    if (!explore_where_read(&r.where, at, at_size))
        return false;
    if (!r.where.of_promise) {
        const int64_t most = WEFT_TIME_MAX;
        r.where.from_ns -= later_ns;
        r.where.to_ns -= later_ns;
        if (r.where.from_ns < -most || r.where.to_ns > most)
            return false;
    }
    r.text = clean(text, size);
    uint32_t before = b->shown;
    bool done = r.text && put(b, r, false);
    if (b->shown != before)
        changed(e, b, false);
    return done;
}

bool weft_explorer_note_put(struct weft_explorer *e, unsigned source, const char *since,
                            const char *at, const char *text)
{
    unsigned pane = weft_explorer_find(e, source);
    uint64_t first;
    if (pane == e->panes)
        return false;
    const struct weft_model *m = e->pane[pane].model;
    int64_t later = 0;
    if (weft_parse_digits(since, strlen(since), UINT64_MAX, &first) && first &&
        m->first_ns > first && m->first_ns - first < (uint64_t)WEFT_TIME_MAX)
        later = (int64_t)(m->first_ns - first);
    return explore_note_put(e, pane, at, strlen(at), text, strlen(text), later);
}

const char *weft_explorer_notes_since(struct weft_explorer *e, unsigned source)
{
    unsigned pane = weft_explorer_find(e, source);
    snprintf(e->note_since, sizeof e->note_since, "%" PRIu64,
             pane < e->panes ? e->pane[pane].model->first_ns : 0);
    return e->note_since;
}

void explore_notes_later(struct explore_pane *p, int64_t by_ns)
{
    for (uint32_t i = 0; i < p->trace->notebook->count; i++) {
        struct remark *r = &p->trace->notebook->remark[i];
        r->where.from_ns -= r->where.of_promise ? 0 : by_ns;
        r->where.to_ns -= r->where.of_promise ? 0 : by_ns;
    }
}

/* ---- Where a new note goes ---- */

/* What a new note would be about: the selection, else the measured range, else the time under the pointer, else the
 * middle of what is seen. */
static unsigned find_place(struct weft_explorer *e, struct remark *r)
{
    *r = (struct remark){.gone = false};
    if (e->selected != WEFT_NONE) {
        r->where.of_promise = true;
        r->where.id = e->pane[e->selected_pane].model->promise[e->selected].id;
        return e->selected_pane;
    }
    if (e->range_from_ns != e->range_to_ns) {
        r->where.from_ns = e->range_from_ns;
        r->where.to_ns = e->range_to_ns;
        return e->range_pane;
    }
    unsigned pane = e->active;
    struct explore_window w = explore_window_get(e, pane);
    double time = (w.from + w.to) / 2;
    if (e->pointed && explore_refresh(e) == 0 && explore_pane_at(e, e->point_y) < e->panes) {
        pane = explore_pane_at(e, e->point_y);
        time = explore_time_at(e, pane, e->point_x);
    }
    const int64_t most = WEFT_TIME_MAX;
    int64_t at = explore_round(time);
    r->where.from_ns = r->where.to_ns = at < -most ? -most : at > most ? most : at;
    return pane;
}

/* "#12 fsync log, 3 ms", "from 1 ms to 3 ms", "at 3 ms" */
static void describe(char *out, size_t room, const struct explore_pane *p, const struct remark *r)
{
    uint32_t promise = r->where.of_promise ? weft_model_find(p->model, r->where.id) : WEFT_NONE;
    if (promise != WEFT_NONE)
        snprintf(out, room, "%s", explore_named(p->scene, promise).text);
    else if (r->where.of_promise)
        snprintf(out, room, "#%" PRIu64 ", which is not in this trace", r->where.id);
    else if (r->where.from_ns == r->where.to_ns)
        snprintf(out, room, "at %s", weft_moment(r->where.from_ns).text);
    else
        snprintf(out, room, "from %s to %s", weft_moment(r->where.from_ns).text,
                 weft_moment(r->where.to_ns).text);
}

const char *weft_explorer_note_place(struct weft_explorer *e)
{
    struct remark r;
    *e->note_about = '\0';
    if (e->panes) {
        unsigned pane = find_place(e, &r);
        describe(e->note_about, sizeof e->note_about, &e->pane[pane], &r);
    }
    return e->note_about;
}

bool weft_explorer_note_add(struct weft_explorer *e, const char *text)
{
    struct remark r;
    if (!e->panes)
        return false;
    unsigned pane = find_place(e, &r);
    r.text = clean(text, strlen(text));
    bool done = r.text && put(e->pane[pane].trace->notebook, r, true);
    if (done)
        changed(e, e->pane[pane].trace->notebook, true);
    return done;
}

/* ---- The list ---- */

static int by_time(const void *a, const void *b)
{
    const struct explore_listed *x = a, *y = b;
    WEFT_ORDER(x->note.pane, y->note.pane);
    WEFT_ORDER(x->time_ns, y->time_ns);
    return weft_order(x->remark, y->remark);
}

static void list_pane(struct weft_explorer *e, unsigned pane)
{
    const struct explore_pane *p = &e->pane[pane];
    for (uint32_t i = 0; i < p->trace->notebook->count; i++) {
        const struct remark *r = &p->trace->notebook->remark[i];
        if (r->gone ||
            !weft_reserve(&e->listed, e->listed_count, &e->listed_room, sizeof *e->listed))
            continue;
        struct explore_listed *l = &e->listed[e->listed_count++];
        *l = (struct explore_listed){.remark = i, .time_ns = r->where.from_ns};
        uint32_t promise = r->where.of_promise ? weft_model_find(p->model, r->where.id) : WEFT_NONE;
        if (r->where.of_promise)
            l->time_ns = promise == WEFT_NONE
                             ? INT64_MAX
                             : weft_layout_start(p->scene->l, &p->model->promise[promise]);
        explore_where_write(l->at, sizeof l->at, &r->where);
        describe(l->about, sizeof l->about, p, r);
        l->note = (struct weft_note){.pane = pane, .text = r->text};
    }
}

const struct weft_note *weft_explorer_notes(struct weft_explorer *e, uint32_t *count)
{
    e->listed_count = 0;
    for (unsigned i = 0; i < e->panes; i++)
        if (explore_pane_is_first(e, i))
            list_pane(e, i);
    weft_sort(e->listed, e->listed_count, sizeof *e->listed, by_time);
    *count = 0;
    if (!weft_reserve_all(&e->noted, e->listed_count, &e->noted_room, sizeof *e->noted))
        return NULL;
    for (uint32_t i = 0; i < e->listed_count; i++) {
        e->noted[i] = e->listed[i].note;
        e->noted[i].at = e->listed[i].at;
        e->noted[i].about = e->listed[i].about;
    }
    *count = e->listed_count;
    return e->noted;
}

/* The note with that index in the list; NULL: there is none. */
static struct remark *find(struct weft_explorer *e, uint32_t index, unsigned *pane)
{
    uint32_t count;
    weft_explorer_notes(e, &count);
    if (index >= count)
        return NULL;
    *pane = e->listed[index].note.pane;
    return &e->pane[*pane].trace->notebook->remark[e->listed[index].remark];
}

bool weft_explorer_note_delete(struct weft_explorer *e, uint32_t index)
{
    unsigned pane;
    struct remark *r = find(e, index, &pane);
    if (!r)
        return false;
    r->gone = true;
    e->pane[pane].trace->notebook->shown--;
    changed(e, e->pane[pane].trace->notebook, true);
    return true;
}

bool weft_explorer_note_edit(struct weft_explorer *e, uint32_t index, const char *text)
{
    unsigned pane;
    struct remark *old = find(e, index, &pane);
    if (!old)
        return false;
    struct explore_notebook *b = e->pane[pane].trace->notebook;
    const uint32_t at = (uint32_t)(old - b->remark);
    struct remark r = *old;
    r.text = clean(text, strlen(text));
    if (r.text && !strcmp(r.text, old->text)) {
        free(r.text);
        return true;
    }
    old->gone = true;
    b->shown--;
    bool done = r.text && put(b, r, true);
    if (!done) {
        b->remark[at].gone = false;
        b->shown++;
    }
    changed(e, b, done);
    return done;
}

bool weft_explorer_note_go(struct weft_explorer *e, uint32_t index)
{
    unsigned pane;
    const struct remark *r = find(e, index, &pane);
    if (!r)
        return false;
    e->noted_at = index;
    if (r->where.of_promise)
        return explore_jump(e, pane, weft_model_find(e->pane[pane].model, r->where.id));
    explore_activate(e, pane);
    if (r->where.from_ns == r->where.to_ns) {
        explore_moment_go(e, pane, WEFT_NONE, r->where.from_ns, true);
        return true;
    }
    explore_history_leave(e);
    explore_panes_reveal(e, pane);
    explore_range_set(e, pane, r->where.from_ns, r->where.to_ns);
    explore_zoom_to(e, pane,
                    (struct explore_window){(double)r->where.from_ns, (double)r->where.to_ns});
    explore_history_arrive(e);
    return true;
}

bool explore_note_step(struct weft_explorer *e, int step)
{
    uint32_t count;
    weft_explorer_notes(e, &count);
    if (!count)
        return false;
    uint32_t at = e->noted_at;
    if (at >= count)
        at = step > 0 ? 0 : count - 1;
    else
        at = step > 0 ? (at + 1) % count : (at + count - 1) % count;
    weft_explorer_note_go(e, at);
    return true;
}

bool weft_explorer_notes_unsaved(const struct weft_explorer *e, unsigned source)
{
    unsigned pane = weft_explorer_find(e, source);
    return pane < e->panes && e->pane[pane].trace->notebook->unsaved;
}

void weft_explorer_notes_saved(struct weft_explorer *e, unsigned source)
{
    unsigned pane = weft_explorer_find(e, source);
    if (pane < e->panes)
        e->pane[pane].trace->notebook->unsaved = false;
}

/* ---- In pictures and tips ---- */

void explore_notes_mark(struct explore_pane *p)
{
    const struct explore_notebook *b = p->trace->notebook;
    for (uint32_t i = 0; i < b->count && p->mark && p->marks < WEFT_MARKS_MAX; i++) {
        const struct remark *r = &b->remark[i];
        uint32_t promise = r->where.of_promise ? weft_model_find(p->model, r->where.id) : WEFT_NONE;
        if (r->gone || (r->where.of_promise && promise == WEFT_NONE))
            continue;
        int64_t from = r->where.from_ns, to = r->where.to_ns;
        if (r->where.of_promise)
            from = to = weft_layout_start(p->scene->l, &p->model->promise[promise]);
        p->mark[p->marks++] = (struct weft_mark){.kind = WEFT_MARK_NOTE,
                                                 .promise = promise,
                                                 .other = WEFT_NONE,
                                                 .from_ns = from,
                                                 .to_ns = to,
                                                 .text = r->flag};
    }
}

bool explore_notes_any(const struct explore_pane *p)
{
    return p->trace->notebook->shown > 0;
}

void explore_notes_say(struct analyse_text *t, const struct explore_pane *p, uint32_t promise,
                       int64_t from_ns, int64_t to_ns)
{
    const struct explore_notebook *b = p->trace->notebook;
    uint64_t id = promise == WEFT_NONE ? 0 : p->model->promise[promise].id;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct remark *r = &b->remark[i];
        bool here = r->where.of_promise
                        ? id && r->where.id == id
                        : !id && r->where.from_ns <= to_ns && r->where.to_ns >= from_ns;
        if (here && !r->gone && *r->text)
            analyse_put_format(t, "; note: %s", r->text);
    }
}

/* ---- In places ---- */

size_t explore_notes_short(const struct explore_pane *p, uint32_t *next, char *at, size_t room,
                           const char **text)
{
    const struct explore_notebook *b = p->trace->notebook;
    for (; *next < b->count; ++*next) {
        const struct remark *r = &b->remark[*next];
        if (r->gone || strlen(r->text) > EXPLORE_LINK_NOTE_BYTES)
            continue;
        explore_where_write(at, room, &r->where);
        *text = r->text;
        ++*next;
        return strlen(at);
    }
    return 0;
}
