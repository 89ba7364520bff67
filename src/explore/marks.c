/* SPDX-License-Identifier: ISC */
/* The marks in the pictures, and the notes of a still picture. */
#include <stdlib.h>
#include <string.h>

#include "explore/state.h"
#include "view/text.h"

enum { CHANGED_MAX = 200, FONT_PX = 10, MARGIN_PX = 8, SHARES_MAX = 6, EVIDENCE_MAX = 10 };

/* ---- Marks ---- */

static const char *number(uint32_t i)
{
    static const char *const numbers[] = {"1", "2",  "3",  "4",  "5",  "6",  "7",  "8",
                                          "9", "10", "11", "12", "13", "14", "15", "16"};
    return i < sizeof numbers / sizeof *numbers ? numbers[i] : NULL;
}

static void add(struct explore_pane *p, enum weft_mark_kind kind, uint32_t promise, uint32_t other,
                int64_t time_ns, const char *text)
{
    if (p->mark && p->marks < WEFT_MARKS_MAX)
        p->mark[p->marks++] = (struct weft_mark){.kind = kind,
                                                 .promise = promise,
                                                 .other = other,
                                                 .from_ns = time_ns,
                                                 .to_ns = time_ns,
                                                 .text = text};
}

static void add_affected(struct explore_pane *p, uint32_t promise)
{
    if (promise != WEFT_NONE)
        add(p, WEFT_MARK_AFFECTED, promise, WEFT_NONE, 0, NULL);
}

static void add_finding(struct explore_pane *p, const struct weft_finding *f)
{
    for (uint32_t i = 0; i < f->evidences; i++)
        add(p, WEFT_MARK_EVIDENCE, f->evidence[i].promise, f->evidence[i].other,
            f->evidence[i].time_ns, number(i));
    for (uint32_t i = 0; i < f->affecteds; i++)
        add_affected(p, f->affected[i]);
}

static void add_event(struct explore_pane *p, uint32_t promise, int64_t time_ns, uint32_t which)
{
    if (time_ns != INT64_MIN)
        add(p, WEFT_MARK_EVIDENCE, promise, WEFT_NONE, time_ns, number(which));
}

static void add_diff(struct weft_explorer *e)
{
    const struct weft_diff *d = &e->diff;
    const struct weft_divergence *v = &d->divergence;
    struct explore_pane *good = &e->pane[0], *bad = &e->pane[1];
    if (v->found) {
        add(good, WEFT_MARK_DIVERGENCE, WEFT_NONE, WEFT_NONE, v->good_ns, "alike until here");
        add(bad, WEFT_MARK_DIVERGENCE, WEFT_NONE, WEFT_NONE, v->bad_ns, "alike until here");
    }
    if (e->finding != WEFT_NONE)
        return;
    if (v->found) {
        add_event(good, v->good_first, v->good_first_ns, 0);
        add_event(good, v->good_second, v->good_second_ns, 1);
        add_event(bad, v->bad_first, v->bad_first_ns, 0);
        add_event(bad, v->bad_second, v->bad_second_ns, 1);
    }
    for (uint32_t i = 0; i < d->changes && i < CHANGED_MAX; i++) {
        add_affected(good, d->change[i].good);
        add_affected(bad, d->change[i].bad);
    }
}

/* What is compared with the selection or the range. */
static void add_kept(struct explore_pane *p, const struct explore_where *where)
{
    uint32_t promise = where->of_promise ? weft_model_find(p->model, where->id) : WEFT_NONE;
    int64_t from = where->from_ns;
    if (where->of_promise && promise == WEFT_NONE)
        return;
    if (where->of_promise)
        from = weft_layout_start(p->scene->l, &p->model->promise[promise]);
    add(p, WEFT_MARK_NOTE, promise, WEFT_NONE, from, "compared");
    if (!where->of_promise && p->mark && p->marks)
        p->mark[p->marks - 1].to_ns = where->to_ns;
}

void explore_marks_update(struct weft_explorer *e)
{
    if (!e->marks_stale)
        return;
    e->marks_stale = false;
    for (unsigned i = 0; i < e->panes; i++) {
        struct explore_pane *p = &e->pane[i];
        bool finds = e->finding != WEFT_NONE && e->finding_pane == i;
        p->marks = 0;
        if (!p->mark &&
            (finds || (e->kept.is && e->kept.pane == i) || e->has_diff || explore_notes_any(p)))
            p->mark = malloc(WEFT_MARKS_MAX * sizeof *p->mark);
        if (finds)
            add_finding(p, &p->trace->analysis->findings.finding[e->finding]);
    }
    if (e->has_diff && e->panes >= 2)
        add_diff(e);
    for (unsigned i = 0; i < e->panes; i++)
        explore_notes_mark(&e->pane[i]);
    if (e->kept.is)
        add_kept(&e->pane[e->kept.pane], &e->kept.where);
}

/* ---- Notes ---- */

/* Adds the text in t as notes, wrapped to the width of the picture. */
static void add_note(struct weft_explorer *e, struct analyse_text *t)
{
    const int32_t width = (e->width_px - 2 * MARGIN_PX) * WEFT_PX / e->text_percent * 100;
    const char *at = t->text ? t->text : "";
    e->notes_failed = e->notes_failed || t->failed;
    while (*at && e->note_count < EXPLORE_NOTES_MAX) {
        int32_t fits;
        size_t size = strlen(at);
        size_t n = weft_text_fit(at, size, FONT_PX * WEFT_PX, false, width, &fits);
        if (n < size) {
            size_t space = n;
            while (space > 0 && at[space] != ' ')
                space--;
            n = space ? space : n ? n : size; /* one long word */
        }
        n = n < EXPLORE_NOTE_BYTES ? n : EXPLORE_NOTE_BYTES - 1;
        char *line = e->note_text[e->note_count];
        memcpy(line, at, n);
        line[n] = '\0';
        e->note[e->note_count++] = line;
        at += n;
        at += *at == ' ';
    }
    analyse_text_fini(t);
}

static void note_finding(struct weft_explorer *e, const struct explore_pane *p,
                         const struct weft_finding *f)
{
    struct analyse_text t = {0};
    analyse_put_format(&t, "%s (%s): ", weft_finding_name(f->kind),
                       weft_confidence_name(f->confidence));
    analyse_put_format(&t, "%s", f->text ? f->text : "");
    add_note(e, &t);
    for (uint32_t i = 0; i < f->evidences && i < EVIDENCE_MAX; i++) {
        analyse_put_format(&t, "%s  at ", number(i));
        analyse_text_add(&t, weft_moment(f->evidence[i].time_ns).text);
        analyse_put_format(&t, ": ");
        weft_evidence_say(&t, p->model, f, i);
        add_note(e, &t);
    }
}

static void note_path(struct weft_explorer *e, const struct explore_pane *p,
                      const struct weft_path *path)
{
    struct analyse_text t = {0};
    uint32_t count;
    struct weft_share *share = weft_path_shares(path, p->model, &count);
    e->notes_failed = e->notes_failed || !share;
    analyse_put_format(&t, "Critical path of ");
    analyse_put_full(&t, p->model, e->path_promise);
    analyse_put_format(&t, ": ");
    analyse_text_add(&t,
                     weft_duration(path->step[path->count - 1].to_ns - path->step[0].from_ns).text);
    for (uint32_t i = 0; share && i < count && i < SHARES_MAX; i++) {
        analyse_put_format(&t, i ? ", " : ": ");
        explore_put_share(&t, p->model, &share[i]);
    }
    analyse_put_format(&t, count > SHARES_MAX ? ", …" : ".");
    free(share);
    add_note(e, &t);
}

bool explore_notes_make(struct weft_explorer *e)
{
    struct analyse_text t = {0};
    const struct weft_path *path = explore_path_shown(e);
    e->note_count = 0;
    e->notes_failed = false;
    if (e->finding == WEFT_NONE && !e->has_diff && !path)
        return true;
    if (!e->note_text)
        e->note_text = malloc(EXPLORE_NOTES_MAX * sizeof *e->note_text);
    if (!e->note_text)
        return false;
    if (e->finding != WEFT_NONE) {
        const struct explore_pane *p = &e->pane[e->finding_pane];
        note_finding(e, p, &p->trace->analysis->findings.finding[e->finding]);
    } else if (e->has_diff && e->diff.divergence.text) {
        analyse_put_format(&t, "%s", e->diff.divergence.text);
        add_note(e, &t);
    }
    if (path && e->finding == WEFT_NONE)
        note_path(e, &e->pane[e->selected_pane], path);
    return !e->notes_failed;
}
