/* SPDX-License-Identifier: ISC */
/* The flame graph below the picture: of the selected promise, of the measured range, or of all samples. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "explore/state.h"

enum {
    SHARE_PERCENT = 45, /* of the height of the picture */
    HEIGHT_MIN_PX = 120,
    CALLED_SHOWN = 8, /* in the facts */
};

/* ---- What it is of ---- */

static struct explore_flame_of subject(const struct weft_explorer *e)
{
    struct explore_flame_of of = e->flame.wanted;
    bool range = e->range_from_ns != e->range_to_ns;
    of.promise = e->selected;
    of.pane = e->selected != WEFT_NONE ? e->selected_pane : range ? e->range_pane : e->active;
    of.from_ns = of.to_ns = 0;
    if (range && of.pane == e->range_pane) {
        of.from_ns = e->range_from_ns;
        of.to_ns = e->range_to_ns;
    }
    if (of.promise == WEFT_NONE)
        of.created = false;
    if (of.why) {
        of.created = of.async = of.off_cpu = false;
        of.family = explore_table_is_family(e);
    }
    return of;
}

static bool is_same(const struct explore_flame_of *a, const struct explore_flame_of *b)
{
    return a->pane == b->pane && a->promise == b->promise && a->from_ns == b->from_ns &&
           a->to_ns == b->to_ns && a->created == b->created && a->async == b->async &&
           a->off_cpu == b->off_cpu && a->why == b->why && a->family == b->family;
}

/* Where the names of the tree's frames are. */
static const struct weft_profile *names_of(const struct weft_explorer *e)
{
    return e->flame.names ? e->flame.names : e->pane[e->flame.of.pane].scene->p;
}

static void drop_tree(struct explore_flame_pane *f)
{
    weft_calltree_free(f->tree);
    weft_profile_free(f->names);
    explore_why_end(f->work);
    f->tree = NULL;
    f->names = NULL;
    f->work = NULL;
}

static uint64_t clock_of(const struct weft_model *m, int64_t time_ns)
{
    if (time_ns < 0)
        return m->first_ns > (uint64_t)-time_ns ? m->first_ns - (uint64_t)-time_ns : 1;
    return m->first_ns + (uint64_t)time_ns;
}

/* What a promise is called: its label, or else its type. */
static void put_name(char *out, size_t room, const struct weft_model *m, uint32_t promise)
{
    if (!explore_fact_label(out, room, m, promise))
        explore_fact_type(out, room, m, promise);
}

static void describe_waits(struct weft_explorer *e)
{
    struct explore_flame_pane *f = &e->flame;
    const struct explore_pane *p = &e->pane[f->of.pane];
    char name[160] = "";
    if (f->of.promise != WEFT_NONE)
        put_name(name, sizeof name, p->model, f->of.promise);
    int n = snprintf(f->title, sizeof f->title, "Why %s%s%s waited",
                     *name ? "promises like '" : "promises", name, *name ? "'" : "");
    if (f->of.from_ns != f->of.to_ns && n > 0 && (size_t)n < sizeof f->title)
        snprintf(f->title + n, sizeof f->title - (size_t)n, ", in %s from %s",
                 weft_duration(f->of.to_ns - f->of.from_ns).text, weft_moment(f->of.from_ns).text);
    *f->note = '\0';
    if (f->tree)
        snprintf(f->note, sizeof f->note, "in all %s; below each, what it waited for",
                 weft_flame_amount(f->tree->unit, f->tree->total).text);
}

static void describe(struct weft_explorer *e)
{
    struct explore_flame_pane *f = &e->flame;
    const struct explore_pane *p = &e->pane[f->of.pane];
    char name[160];
    int n = 0;
    if (f->of.promise == WEFT_NONE) {
        n = snprintf(f->title, sizeof f->title, "Flame graph of %s%.150s",
                     e->panes > 1 ? "" : "all samples", e->panes > 1 ? p->title : "");
    } else {
        const struct weft_promise *x = &p->model->promise[f->of.promise];
        put_name(name, sizeof name, p->model, f->of.promise);
        n = snprintf(f->title, sizeof f->title, "Flame graph of #%" PRIu64 " %s%s", x->id, name,
                     f->of.created ? " and all that it created" : "");
    }
    if (f->of.from_ns != f->of.to_ns && n > 0 && (size_t)n < sizeof f->title)
        snprintf(f->title + n, sizeof f->title - (size_t)n, ", %s from %s",
                 weft_duration(f->of.to_ns - f->of.from_ns).text, weft_moment(f->of.from_ns).text);
    if (!f->tree)
        return;
    snprintf(f->note, sizeof f->note, "%s %s, %s %s%s%s",
             f->of.off_cpu ? "away from a core for" : "on a core for",
             weft_flame_amount(f->tree->unit, f->tree->total).text,
             weft_count(f->tree->samples).text, f->of.off_cpu ? "time" : "sample",
             weft_plural(f->tree->samples), f->of.async ? ", below who created it" : "");
}

static void make_tree(struct weft_explorer *e)
{
    struct explore_flame_pane *f = &e->flame;
    const struct explore_pane *p = &e->pane[f->of.pane];
    struct weft_profile *samples = p->scene->p;
    struct weft_calltree_options o = WEFT_CALLTREE_ALL;
    f->why = "No samples are in this trace: weft record --sample takes some";
    if (!samples)
        return;
    o.source = weft_scene_source(p->scene);
    o.promise = f->of.promise;
    o.with_children = f->of.created;
    o.async = f->of.async ? WEFT_ASYNC_CREATORS : WEFT_ASYNC_NONE;
    o.off_cpu = f->of.off_cpu;
    if (f->of.from_ns != f->of.to_ns) {
        o.from_ns = clock_of(p->model, f->of.from_ns);
        o.to_ns = clock_of(p->model, f->of.to_ns) + 1;
    }
    int rc = weft_calltree_make(&f->tree, samples, &o);
    f->why = "There is no memory for the flame graph";
    if (rc == 0 && f->tree->total == 0) {
        weft_calltree_free(f->tree);
        f->tree = NULL;
        f->why = f->of.off_cpu ? "No thread is known to have been away then"
                 : f->of.promise != WEFT_NONE && !f->of.created
                     ? "No sample was taken while it ran; with C, of all that it created"
                     : "No sample was taken then";
    } else if (rc < 0) {
        f->tree = NULL;
    }
}

/* ---- What promises waited for ---- */

/* Begins to make the tree, or says why not. */
static void begin_waits(struct weft_explorer *e)
{
    struct explore_flame_pane *f = &e->flame;
    struct explore_pane *p = &e->pane[f->of.pane];
    const struct weft_history *h = explore_history_of(p);
    const struct explore_why_of of = {f->of.promise, f->of.family, f->of.from_ns, f->of.to_ns};
    f->why = "There is no memory for the flame graph";
    if (!h && p->trace->analysing)
        f->why = "The trace is being analysed \xe2\x80\xa6";
    else if (h && explore_why_begin(&f->work, h, &of) == 0)
        f->why = "Adding up what was waited for \xe2\x80\xa6";
}

static void show_tree(struct weft_explorer *e)
{
    struct explore_flame_pane *f = &e->flame;
    f->focus = f->tree && f->wants_focus < f->tree->calls ? f->wants_focus : 0;
    f->wants_focus = 0;
    if (f->of.why)
        describe_waits(e);
    else
        describe(e);
    explore_part_changed(e, EXPLORE_FLAME);
    e->changed |= WEFT_CHANGED_PLACE;
}

static void end_waits(struct weft_explorer *e, int rc)
{
    struct explore_flame_pane *f = &e->flame;
    f->why = "There is no memory for the flame graph";
    if (rc == 0)
        explore_why_take(f->work, &f->tree, &f->names);
    explore_why_end(f->work);
    f->work = NULL;
    if (f->tree && f->tree->total == 0) {
        weft_calltree_free(f->tree);
        f->tree = NULL;
        f->why = f->of.promise != WEFT_NONE ? "None of these waited for anything then"
                                            : "Nothing waited for anything then";
    }
    show_tree(e);
    explore_tip_forget(e);
    explore_changed(e, WEFT_CHANGED_PICTURE);
}

/* Builds the tree for the current choice; not while the user still drags. */
static void update(struct weft_explorer *e)
{
    struct explore_flame_pane *f = &e->flame;
    struct explore_flame_of of = subject(e);
    if ((f->tree || f->why) && (is_same(&of, &f->of) || e->drag.grip == EXPLORE_GRIP_RULER))
        return;
    drop_tree(f);
    f->of = of;
    f->backs = f->scrolled = 0;
    f->hovered = WEFT_NONE;
    if (of.why)
        begin_waits(e);
    else
        make_tree(e);
    if (f->work) { /* the focus waits for it */
        describe_waits(e);
        f->focus = 0;
        explore_changed(e, WEFT_CHANGED_FACTS);
    } else {
        show_tree(e);
    }
}

bool explore_flame_work(struct weft_explorer *e)
{
    enum { STEPS = 20000 };
    struct explore_flame_pane *f = &e->flame;
    if (!f->open || !e->panes || !f->wanted.why)
        return false;
    update(e);
    if (!f->work)
        return false;
    int rc = explore_why_work(f->work, STEPS);
    if (rc <= 0)
        end_waits(e, rc);
    return rc > 0;
}

void explore_flame_forget(struct weft_explorer *e)
{
    drop_tree(&e->flame);
    e->flame.why = NULL;
    e->flame.focus = e->flame.backs = e->flame.scrolled = 0;
    e->flame.hovered = WEFT_NONE;
    e->flame.layout.boxes = 0;
    e->stale_parts |= 1u << EXPLORE_FLAME;
}

void explore_flame_fini(struct weft_explorer *e)
{
    drop_tree(&e->flame);
    weft_flame_fini(&e->flame.layout);
}

/* ---- Drawing ---- */

int32_t explore_flame_height(const struct weft_explorer *e, int32_t height_px)
{
    int32_t height = height_px * SHARE_PERCENT / 100, most = height_px - WEFT_PICTURE_MIN_PX;
    height = height < most ? height : most;
    return e->flame.open && e->panes && height >= HEIGHT_MIN_PX ? height : 0;
}

int explore_flame_draw(struct weft_explorer *e, struct weft_drawlist *list, bool still)
{
    struct explore_flame_pane *f = &e->flame;
    struct weft_flame own = {0};
    if (!f->height_px)
        return 0;
    update(e);
    int32_t y = f->top_px * WEFT_PX, end = y + f->height_px * WEFT_PX;
    list->height = end > list->height ? end : list->height;
    weft_notice_line(list, WEFT_INK_FAINT_TEXT, 0, y, e->width_px * WEFT_PX);
    if (!f->tree) {
        weft_notice_text(list, WEFT_INK_FAINT_TEXT, 13 * WEFT_PX, e->width_px * WEFT_PX / 2,
                         y + f->height_px * WEFT_PX / 2, e->width_px * WEFT_PX, f->why);
        return list->failed ? WEFT_E_NOMEM : 0;
    }
    struct weft_flame_options o = {
        .width_px = e->width_px,
        .height_px = f->height_px,
        .top_px = f->top_px,
        .focus = f->focus,
        .hovered = still ? WEFT_NONE : f->hovered,
        .scrolled = f->scrolled,
        .text_percent = e->text_percent,
        .title = f->title,
        .note = f->note,
        .tips = still,
    };
    int rc = weft_flame_draw(list, still ? &own : &f->layout, names_of(e), f->tree, &o);
    if (!still)
        f->scrolled = f->layout.first_row;
    weft_flame_fini(&own);
    return rc;
}

/* ---- Input ---- */

bool explore_flame_has(const struct weft_explorer *e, double y)
{
    return e->flame.height_px && y >= e->flame.top_px;
}

static uint32_t box_at(const struct weft_explorer *e, double x, double y)
{
    if (!e->flame.tree)
        return WEFT_NONE;
    return weft_flame_at(&e->flame.layout, (int32_t)(x * WEFT_PX), (int32_t)(y * WEFT_PX));
}

void explore_flame_point(struct weft_explorer *e, double x, double y)
{
    uint32_t box = explore_flame_has(e, y) ? box_at(e, x, y) : WEFT_NONE;
    if (box == e->flame.hovered)
        return;
    e->flame.hovered = box;
    explore_changed(e, WEFT_CHANGED_PICTURE);
}

static void show(struct weft_explorer *e, uint32_t node)
{
    e->flame.focus = node;
    e->flame.hovered = WEFT_NONE;
    explore_part_changed(e, EXPLORE_FLAME);
    explore_tip_forget(e);
    explore_changed(e, WEFT_CHANGED_PICTURE | WEFT_CHANGED_PLACE);
}

void explore_flame_focus(struct weft_explorer *e, uint32_t node)
{
    struct explore_flame_pane *f = &e->flame;
    if (!f->tree || node >= f->tree->calls || node == f->focus)
        return;
    if (f->backs == EXPLORE_FLAME_BACK) {
        memmove(f->back, f->back + 1, (EXPLORE_FLAME_BACK - 1) * sizeof f->back[0]);
        f->backs--;
    }
    f->back[f->backs++] = f->focus;
    show(e, node);
}

void explore_flame_click(struct weft_explorer *e, double x, double y)
{
    uint32_t box = box_at(e, x, y);
    if (box != WEFT_NONE)
        explore_flame_focus(e, e->flame.layout.box[box].node);
}

void explore_flame_scroll(struct weft_explorer *e, int rows)
{
    struct explore_flame_pane *f = &e->flame;
    int64_t to = (int64_t)f->scrolled + rows;
    uint32_t most =
        f->layout.rows > f->layout.shown_rows ? f->layout.rows - f->layout.shown_rows : 0;
    uint32_t at = to < 0 ? 0 : to < most ? (uint32_t)to : most;
    if (at == f->scrolled)
        return;
    f->scrolled = at;
    f->hovered = WEFT_NONE;
    explore_changed(e, WEFT_CHANGED_PICTURE);
}

static void open_or_close(struct weft_explorer *e)
{
    e->flame.open = !e->flame.open;
    if (!e->flame.open)
        explore_flame_forget(e);
    e->placed = false;
    explore_changed(e, WEFT_CHANGED_PANES);
    explore_moved(e);
    explore_changed(e, WEFT_CHANGED_FACTS);
}

bool explore_flame_back(struct weft_explorer *e)
{
    if (!e->flame.open)
        return false;
    if (e->flame.backs)
        show(e, e->flame.back[--e->flame.backs]);
    else if (e->flame.focus)
        show(e, 0);
    else
        open_or_close(e);
    return true;
}

bool explore_flame_command(struct weft_explorer *e, enum weft_command command)
{
    struct explore_flame_of *w = &e->flame.wanted;
    if (command == WEFT_COMMAND_FLAME || command == WEFT_COMMAND_WHY) {
        bool why = command == WEFT_COMMAND_WHY, other = w->why != why;
        w->why = why;
        if (!e->flame.open || !other)
            open_or_close(e);
        explore_changed(e, WEFT_CHANGED_PICTURE | WEFT_CHANGED_PLACE | WEFT_CHANGED_FACTS);
        return true;
    }
    w->why = false;
    w->created ^= command == WEFT_COMMAND_FLAME_CREATED;
    w->async ^= command == WEFT_COMMAND_FLAME_ASYNC;
    w->off_cpu ^= command == WEFT_COMMAND_FLAME_AWAY;
    if (!e->flame.open)
        open_or_close(e);
    explore_changed(e, WEFT_CHANGED_PICTURE | WEFT_CHANGED_PLACE);
    return true;
}

/* ---- In words ---- */

size_t explore_flame_tip(struct weft_explorer *e, char *out, size_t room)
{
    uint32_t box = box_at(e, e->point_x, e->point_y);
    if (box == WEFT_NONE)
        return 0;
    size_t n =
        weft_flame_describe(out, room, names_of(e), e->flame.tree, &e->flame.layout.box[box]);
    char clean[1024];
    size_t size = explore_fact_clean(clean, sizeof clean < room ? sizeof clean : room, out, n);
    memcpy(out, clean, size + 1);
    return size;
}

static void add_frame(struct explore_facts *f, enum explore_fact which, bool again,
                      const struct weft_profile *p, const struct weft_calltree *t, uint32_t node,
                      bool link)
{
    struct weft_flame_box box = {.node = node, .merged = 1, .total = t->call[node].total};
    char text[700];
    weft_flame_describe(text, sizeof text, p, t, &box);
    struct explore_link to = explore_long(link ? WEFT_LINK_FRAME : WEFT_LINK_NONE,
                                          (struct explore_target){.promise = node});
    to.again = again;
    explore_say(f, to, which, TEXT(frame, text));
}

void explore_flame_facts(struct weft_explorer *e)
{
    struct explore_flame_pane *v = &e->flame;
    struct explore_facts *f = &e->part[EXPLORE_FLAME];
    explore_fact_begin(f);
    if (v->open && e->panes) {
        update(e);
        explore_heading(f, FACT_FLAME_HEAD);
        explore_say(f, explore_nowhere(), FACT_FLAME_OF,
                    TEXT(what, v->title + (v->of.why ? 0 : sizeof "Flame graph of")));
        if (v->tree) {
            const struct weft_profile *p = names_of(e);
            const struct weft_calltree *t = v->tree;
            const struct weft_call *at = &t->call[v->focus];
            uint32_t all = 0, shown = 0;
            add_frame(f, FACT_FRAME, false, p, t, v->focus, false);
            if (v->focus)
                add_frame(f, FACT_CALLED_BY, false, p, t, at->parent, true);
            for (uint32_t c = at->first_child; c < t->calls; c = t->call[c].next_sibling)
                if (all++ < CALLED_SHOWN)
                    add_frame(f, v->focus ? FACT_CALLS : FACT_OUTERMOST, shown++, p, t, c, true);
            explore_fact_more(f, all, shown);
        } else {
            explore_say(f, explore_nowhere(), FACT_FLAME_WHY, TEXT(why, v->why));
        }
    }
    explore_fact_end(f);
}
