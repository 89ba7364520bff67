/* SPDX-License-Identifier: ISC */
/* Findings, paths and comparisons in the viewer without a screen. What was found is made by hand, so that nothing
 * here depends on what the searches can find. Linked with --wrap=malloc and so on. */
#include "sessions.h"
#include "trace.h"

#include "explore/explore.h"
#include "explore/state.h"

enum { WIDTH = 1200, HEIGHT = 700, PROMISES = 30, STEP = 100000, END = PROMISES * STEP };

/* Promise i begins after i steps, created by the one before it, which waits for it; all are pending. Task 3
 * is fulfilled at the end, by 2, which has run. */
static struct weft_model *make_model(unsigned later)
{
    struct trace t = {.fd = -1};
    char name[32];
    trace_begin(&t, 0);
    for (uint64_t i = 1; i <= PROMISES; i++) {
        uint64_t now = i * STEP + (i > 5 ? later : 0);
        snprintf(name, sizeof name, "task %u", (unsigned)i);
        trace_add(&t, creates(now, i > 1 ? i - 1 : LOOP, i, TASK));
        trace_add(&t, label(now, i, name));
        if (i > 1)
            trace_add(&t, try_read(now + 5, i - 1, i));
    }
    trace_add(&t, switches(END + later, 3));
    trace_add(&t, fulfills(END + later + STEP, 3, 4));
    return trace_model(&t);
}

static char *copy(const char *text)
{
    char *out = malloc(strlen(text) + 1);
    if (out)
        memcpy(out, text, strlen(text) + 1);
    return out;
}

/* Of promises by their numbers. */
static void add_finding(struct weft_analysis *a, enum weft_finding_kind kind,
                        enum weft_confidence confidence, uint64_t id, const char *text)
{
    const struct weft_model *m = a->history->m;
    struct weft_finding *f = &a->findings.finding[a->findings.count];
    uint32_t promise = weft_model_find(m, id), other = weft_model_find(m, id + 1);
    int64_t start = m->promise[promise].start_ns, later = m->promise[other].start_ns;
    *f = (struct weft_finding){.kind = kind,
                               .confidence = confidence,
                               .promise = promise,
                               .start_ns = start,
                               .end_ns = m->end_ns,
                               .cost_ns = 12345678,
                               .count = 2,
                               .text = copy(text),
                               .doubt = copy("of a doubt")};
    f->evidence = calloc(3, sizeof *f->evidence);
    f->affected = calloc(2, sizeof *f->affected);
    a->findings.count++; /* what there is of it is released with it */
    if (!f->evidence || !f->affected)
        return;
    f->evidence[0] =
        (struct weft_evidence){start + 1000, WEFT_EVIDENCE_SIGNALLED_NOBODY, promise, WEFT_ROOT};
    f->evidence[1] = (struct weft_evidence){later + 9000, WEFT_EVIDENCE_WAITS, other, promise};
    f->evidence[2] = (struct weft_evidence){m->end_ns, WEFT_EVIDENCE_WAITS_STILL, other, promise};
    f->evidences = 3;
    f->affected[0] = other;
    f->affecteds = 1;
    f->affected_total = 7;
}

/* Two findings, and a third that may be as it should be. NULL: no memory. */
static struct weft_analysis *analysis(const struct weft_model *m)
{
    struct weft_analysis *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->findings.finding = calloc(3, sizeof *a->findings.finding);
    if (!a->findings.finding || weft_history_new(&a->history, m, NULL, NULL) < 0) {
        weft_analysis_free(a);
        return NULL;
    }
    add_finding(a, WEFT_FINDING_LOST_WAKEUP, WEFT_CERTAIN, 20, "The signal of 'task 20' is lost.");
    add_finding(a, WEFT_FINDING_HANG_ROOT, WEFT_LIKELY, 10, "Everything waits for 'task 10'.");
    add_finding(a, WEFT_FINDING_LEAK, WEFT_POSSIBLE, 5, "There are more and more.");
    return a;
}

static struct weft_explorer *explorer(unsigned panes, bool analysed)
{
    struct weft_explorer *e;
    assert_int_equal(weft_explorer_new(&e), 0);
    weft_explorer_resize(e, WIDTH, HEIGHT);
    for (unsigned i = 0; i < panes; i++) {
        struct weft_model *m = make_model(i * 7777);
        struct weft_scene *s;
        assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
        assert_int_equal(weft_explorer_add(e, s, m, "a trace"), 0);
        if (analysed)
            weft_explorer_analysed(e, i, analysis(m));
    }
    assert_non_null(weft_explorer_draw(e));
    return e;
}

/* The facts, each as NAME: TEXT. */
static const char *facts(struct weft_explorer *e)
{
    static char out[64 << 10];
    uint32_t count;
    size_t n = 0;
    const struct weft_fact *f = weft_explorer_facts(e, &count);
    out[0] = '\0';
    for (uint32_t i = 0; i < count; i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s: %s%s\n", f[i].name, f[i].text,
                              f[i].bad ? " !" : "");
    return out;
}

static void expect(struct weft_explorer *e, const char *wanted)
{
    const char *found = facts(e);
    if (!strstr(found, wanted))
        print_message("%s\n-- has no --\n%s\n", found, wanted);
    assert_non_null(strstr(found, wanted));
}

/* Follows the first link whose text begins so. */
static void follow(struct weft_explorer *e, const char *text)
{
    uint32_t count, i = 0;
    const struct weft_fact *f = weft_explorer_facts(e, &count);
    while (i < count && (strncmp(f[i].text, text, strlen(text)) != 0 || !f[i].link))
        i++;
    if (i == count)
        print_message("%s\n-- has no link --\n%s\n", facts(e), text);
    assert_true(i < count);
    weft_explorer_follow(e, i);
}

static uint64_t selected(const struct weft_explorer *e)
{
    unsigned pane;
    uint32_t promise = weft_explorer_selected(e, &pane);
    return promise == WEFT_NONE ? 0 : e->pane[pane].model->promise[promise].id;
}

static bool has_place(struct weft_explorer *e, const char *field)
{
    return strstr(weft_explorer_place(e), field) != NULL;
}

static unsigned flags(struct weft_explorer *e)
{
    const struct weft_drawlist *list = weft_explorer_draw(e);
    unsigned n = 0;
    for (uint32_t i = 0; i < list->draws; i++)
        n += list->draw[i].op == WEFT_DRAW_TEXT && list->draw[i].ink == WEFT_INK_GROUND;
    return n;
}

static int64_t start_of(const struct weft_explorer *e, uint64_t id)
{
    const struct weft_model *m = e->pane[0].model;
    return m->promise[weft_model_find(m, id)].start_ns;
}

/* ---- Findings ---- */

TEST(findings_come_first)
{
    struct weft_explorer *e = explorer(1, false);
    assert_null(strstr(facts(e), "Findings"));
    weft_explorer_analysing(e, 0);
    assert_true(weft_explorer_changed(e) & WEFT_CHANGED_FACTS);
    assert_int_equal(strncmp(facts(e), "Findings: \n: looking for faults", 30), 0);
    weft_explorer_analysed(e, 0, analysis(e->pane[0].model));
    assert_true(weft_explorer_changed(e) & WEFT_CHANGED_FACTS);
    static const char wanted[] = "Findings: \nlost-wakeup: The signal of 'task 20' is lost. !\n"
                                 "hang-root: Everything waits for 'task 10'.\n"
                                 "possible: 1 more, which may be as it should be\na trace: ";
    assert_int_equal(strncmp(facts(e), wanted, sizeof wanted - 1), 0);
    weft_explorer_free(e);
}

TEST(nothing_found_is_said)
{
    struct weft_explorer *e = explorer(1, false);
    struct weft_analysis *a = calloc(1, sizeof *a);
    assert_int_equal(weft_history_new(&a->history, e->pane[0].model, NULL, NULL), 0);
    weft_explorer_analysed(e, 0, a);
    expect(e, "Findings: \nnone: nothing that hangs");
    expect(e, "Look first at: ");
    assert_false(weft_explorer_command(e, WEFT_COMMAND_NEXT_FINDING));
    weft_explorer_free(e);
}

/* If nothing is likely, what is possible is shown, as weft explain does: it is no all-clear. */
TEST(only_possible)
{
    struct weft_explorer *e = explorer(1, false);
    struct weft_analysis *a = analysis(e->pane[0].model);
    for (uint32_t i = 0; i < a->findings.count; i++)
        a->findings.finding[i].confidence = WEFT_POSSIBLE;
    weft_explorer_analysed(e, 0, a);
    expect(e, "Findings: \npossible: nothing certain or likely; this may be as it should be:\n"
              "lost-wakeup: The signal of 'task 20' is lost.\n");
    expect(e, "Look first at: ");
    assert_null(strstr(facts(e), "none: "));
    assert_true(weft_explorer_command(e, WEFT_COMMAND_NEXT_FINDING));
    assert_int_equal(selected(e), 20);
    expect(e, "Finding 1 of 3: lost-wakeup: \npossible: ");
    weft_explorer_free(e);
}

TEST(keys_walk_through_findings)
{
    struct weft_explorer *e = explorer(1, true);
    assert_true(weft_explorer_key(e, "e", 0));
    assert_int_equal(selected(e), 20);
    assert_true(has_place(e, "finding=1"));
    expect(e, "Finding 1 of 2: lost-wakeup: \ncertain: The signal of 'task 20' is lost. !\n");
    expect(e, "not sure: of a doubt\n");
    expect(e, "found: 2 times");
    expect(e, "\n1: at 1.901 ms: the event loop signals 'task 20': nobody waits for it\n");
    expect(e, "\n2: at 2.009 ms: 'task 21' begins to wait for 'task 20'\n");
    expect(e, "and 6 more");
    assert_int_equal(flags(e), 2); /* the trace's end is not in sight */
    struct explore_window w = explore_window_get(e, 0);
    assert_true(w.from < (double)start_of(e, 20) + 1000);
    assert_true(w.to > (double)start_of(e, 21) + 9000);
    assert_true(w.to - w.from < 200000);
    assert_true(weft_explorer_key(e, "e", 0));
    assert_int_equal(selected(e), 10);
    assert_true(weft_explorer_key(e, "e", 0)); /* what is only possible is not shown */
    assert_int_equal(selected(e), 20);
    assert_true(weft_explorer_key(e, "E", WEFT_SHIFT));
    assert_true(has_place(e, "finding=2"));
    assert_true(weft_explorer_command(e, WEFT_COMMAND_BACK));
    assert_true(has_place(e, "finding=1"));
    assert_true(weft_explorer_key(e, "Escape", 0));
    assert_false(has_place(e, "finding"));
    assert_int_equal(selected(e), 0);
    assert_int_equal(flags(e), 0);
    expect(e, "Findings: ");
    assert_true(weft_explorer_key(e, "E", WEFT_SHIFT)); /* the last one */
    assert_int_equal(selected(e), 10);
    weft_explorer_free(e);
}

TEST(links_lead_to_findings_and_evidence)
{
    struct weft_explorer *e = explorer(1, true);
    follow(e, "Everything waits for");
    assert_true(has_place(e, "finding=2"));
    follow(e, "at 1.009 ms: 'task 11' begins");
    assert_int_equal(selected(e), 11);
    expect(e, "Finding 2 of 2"); /* it stays */
    assert_int_equal(flags(e), 2);
    follow(e, "at 3 ms: 'task 11' waits"); /* far away */
    struct explore_window w = explore_window_get(e, 0);
    assert_true(w.from <= (double)e->pane[0].model->end_ns);
    assert_true(w.to >= (double)e->pane[0].model->end_ns);
    follow(e, "Everything waits for");
    assert_int_equal(selected(e), 10);
    weft_explorer_free(e);
}

TEST(a_place_leads_to_a_finding)
{
    struct weft_explorer *e = explorer(1, true), *other = explorer(1, false);
    weft_explorer_show_finding(e, 0, 2);
    char place[1000];
    snprintf(place, sizeof place, "%s", weft_explorer_place(e));
    assert_true(weft_explorer_place_is_analysed(place));
    assert_true(weft_explorer_go(other, place)); /* before it has been analysed */
    assert_string_equal(weft_explorer_place(other), place);
    assert_int_equal(flags(other), 0);
    weft_explorer_analysed(other, 0, analysis(other->pane[0].model));
    assert_string_equal(weft_explorer_place(other), place);
    const struct weft_drawlist *a = weft_explorer_draw(e), *b = weft_explorer_draw(other);
    assert_int_equal(a->draws, b->draws);
    for (uint32_t i = 0; i < a->draws; i++)
        assert_memory_equal(&a->draw[i], &b->draw[i], sizeof a->draw[i]);
    /* Without times, it is brought into view, unless somebody has gone on meanwhile. */
    for (int moved = 0; moved < 2; moved++) {
        struct weft_explorer *fresh = explorer(1, false);
        assert_true(weft_explorer_go(fresh, "finding=1"));
        if (moved)
            weft_explorer_select(fresh, 0, weft_model_find(fresh->pane[0].model, 3));
        weft_explorer_analysed(fresh, 0, analysis(fresh->pane[0].model));
        assert_int_equal(selected(fresh), moved ? 3 : 20);
        assert_int_equal(fresh->finding, moved ? WEFT_NONE : 0);
        weft_explorer_free(fresh);
    }
    assert_false(weft_explorer_go(e, "finding=4"));
    assert_false(weft_explorer_go(e, "finding=0"));
    assert_false(weft_explorer_go(e, "finding.2=1"));
    assert_true(weft_explorer_go(e, "finding=3")); /* possible, but asked for */
    assert_false(weft_explorer_place_is_analysed("from=1&to=2&path=0"));
    assert_true(weft_explorer_place_is_analysed("path=1"));
    weft_explorer_free(e);
    weft_explorer_free(other);
}

TEST(a_trace_read_again_keeps_the_finding)
{
    struct weft_explorer *e = explorer(1, true);
    weft_explorer_show_finding(e, 0, 2);
    struct weft_model *m = make_model(0);
    struct weft_scene *s;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    struct weft_analysis *old = analysis(e->pane[0].model);
    weft_explorer_replace(e, 0, s, m);
    assert_int_equal(e->finding, WEFT_NONE);
    assert_int_equal(flags(e), 0);
    old->history->m = NULL; /* the old one is gone */
    weft_explorer_analysed(e, 0, old);
    assert_null(weft_explorer_analysis(e, 0));
    struct weft_analysis *new = analysis(m);
    struct weft_finding first = new->findings.finding[0]; /* they have changed places */
    new->findings.finding[0] = new->findings.finding[1];
    new->findings.finding[1] = first;
    weft_explorer_analysed(e, 0, new);
    assert_int_equal(e->finding, 0);
    assert_int_equal(e->pane[0].trace->analysis->findings.finding[0].kind, WEFT_FINDING_HANG_ROOT);
    weft_explorer_remove(e, 0);
    assert_non_null(weft_explorer_draw(e));
    weft_explorer_free(e);
}

TEST(all_traces_are_walked_through)
{
    struct weft_explorer *e = explorer(2, true);
    for (unsigned i = 0; i < 5; i++) {
        assert_true(weft_explorer_command(e, WEFT_COMMAND_NEXT_FINDING));
        assert_int_equal(e->finding_pane, i / 2 % 2);
        assert_int_equal(e->finding, i % 2);
        assert_int_equal(e->selected_pane, i / 2 % 2);
    }
    weft_explorer_remove(e, 0);
    assert_int_equal(e->finding, WEFT_NONE);
    assert_true(weft_explorer_command(e, WEFT_COMMAND_NEXT_FINDING));
    weft_explorer_free(e);
}

TEST(nobody_analyses_so_a_command_does)
{
    struct weft_explorer *e = explorer(1, false);
    weft_explorer_command(e, WEFT_COMMAND_NEXT_FINDING);
    assert_non_null(weft_explorer_analysis(e, 0));
    weft_explorer_free(e);
    e = explorer(1, false);
    weft_explorer_analysing(e, 0); /* somebody does */
    assert_false(weft_explorer_command(e, WEFT_COMMAND_NEXT_FINDING));
    assert_null(weft_explorer_analysis(e, 0));
    weft_explorer_free(e);
}

/* ---- The path ---- */

/* A path lies on a veil over the rest of the picture. */
static unsigned path_draws(struct weft_explorer *e)
{
    const struct weft_drawlist *list = weft_explorer_draw(e);
    unsigned n = 0;
    for (uint32_t i = 0; i < list->draws; i++)
        n += list->draw[i].op == WEFT_DRAW_RECT && list->draw[i].ink == WEFT_INK_GROUND &&
             list->draw[i].x0 == 0 && list->draw[i].alpha < 255;
    return n;
}

TEST(the_path_of_the_selection)
{
    struct weft_explorer *e = explorer(1, true);
    assert_int_equal(path_draws(e), 0);
    weft_explorer_select(e, 0, weft_model_find(e->pane[0].model, 4));
    assert_int_equal(path_draws(e), 0); /* until it is asked for */
    assert_false(has_place(e, "path"));
    expect(e, "Critical path: \nin all: ");
    weft_explorer_key(e, "p", 0);
    assert_int_equal(path_draws(e), 1);
    assert_true(has_place(e, "path=1"));
    weft_explorer_key(e, "p", 0);
    assert_int_equal(path_draws(e), 0);
    char place[1000];
    snprintf(place, sizeof place, "%s", weft_explorer_place(e));
    weft_explorer_key(e, "p", 0);
    assert_true(path_draws(e) > 0);
    assert_true(weft_explorer_go(e, place));
    assert_int_equal(path_draws(e), 0);
    assert_string_equal(weft_explorer_place(e), place);
    /* A finding may say more than the path of the one who is to blame; unless that is asked for. */
    weft_explorer_show_finding(e, 0, 2);
    assert_int_equal(path_draws(e), 0);
    assert_false(has_place(e, "path"));
    weft_explorer_key(e, "p", 0);
    assert_true(path_draws(e) > 0);
    assert_true(has_place(e, "path=1"));
    weft_explorer_key(e, "p", 0);
    assert_int_equal(path_draws(e), 0);
    weft_explorer_key(e, "p", 0);
    assert_true(path_draws(e) > 0);
    weft_explorer_key(e, "Escape", 0);
    assert_false(has_place(e, "path"));
    weft_explorer_free(e);
    e = explorer(1, false); /* without an analysis there is none */
    weft_explorer_select(e, 0, weft_model_find(e->pane[0].model, 4));
    assert_int_equal(path_draws(e), 0);
    assert_false(has_place(e, "path"));
    weft_explorer_free(e);
}

/* ---- Comparing ---- */

static struct weft_diff make_diff(struct weft_explorer *e)
{
    const struct weft_model *good = e->pane[0].model, *bad = e->pane[1].model;
    struct weft_diff d = {.divergence = {.found = true,
                                         .text = copy("In the good run one came before the other."),
                                         .good_first = weft_model_find(good, 6),
                                         .good_second = weft_model_find(good, 7),
                                         .bad_first = weft_model_find(bad, 6),
                                         .bad_second = WEFT_NONE,
                                         .good_first_ns = 600000,
                                         .good_second_ns = 700000,
                                         .bad_first_ns = 607777,
                                         .bad_second_ns = INT64_MIN,
                                         .good_ns = 500000,
                                         .bad_ns = 507777}};
    d.change = calloc(1, sizeof *d.change);
    assert_non_null(d.change);
    d.change[0] = (struct weft_change_found){.kind = WEFT_CHANGE_MISSING,
                                             .good = weft_model_find(good, 8),
                                             .bad = WEFT_NONE,
                                             .count = 1,
                                             .text = copy("'task 8' is missing.")};
    d.changes = 1;
    return d;
}

TEST(runs_are_aligned_where_they_diverge)
{
    struct weft_explorer *e = explorer(2, true);
    assert_false(weft_explorer_wants_diff(e));
    assert_true(weft_explorer_go(e, "diff=1"));
    assert_true(weft_explorer_wants_diff(e));
    struct weft_diff d = make_diff(e);
    weft_explorer_compared(e, &d);
    assert_false(weft_explorer_wants_diff(e));
    assert_null(d.change); /* it was taken over */
    assert_non_null(weft_explorer_draw(e));
    const struct weft_geometry *good = &e->pane[0].geometry, *bad = &e->pane[1].geometry;
    assert_int_equal(weft_geometry_x(good, 500000), weft_geometry_x(bad, 507777));
    assert_true(good->from_ns < 500000 && good->to_ns > 700000);
    assert_int_equal(flags(e), 3 + 2); /* and two captions */
    expect(e, "Difference: \ndiverges: In the good run one came before the other.\n");
    expect(e, "1: in the bad run at 607.777 µs: 'task 6'");
    expect(e, "missing: 'task 8' is missing.\n");
    follow(e, "'task 8' is missing");
    assert_int_equal(selected(e), 8);
    assert_int_equal(e->selected_pane, 0);
    weft_explorer_key(e, "Escape", 0);
    weft_explorer_key(e, "0", 0);
    weft_explorer_key(e, "0", 0); /* not even moved against each other */
    follow(e, "In the good run");
    assert_non_null(weft_explorer_draw(e));
    assert_int_equal(weft_geometry_x(good, 500000), weft_geometry_x(bad, 507777));
    assert_true(has_place(e, "diff=1"));
    assert_true(weft_explorer_go(e, "from=0&to=1000"));
    assert_int_equal(flags(e), 0);
    weft_explorer_free(e);
}

TEST(a_removed_trace_is_not_compared)
{
    struct weft_explorer *e = explorer(2, true);
    weft_explorer_go(e, "diff=1");
    struct weft_diff d = make_diff(e);
    weft_explorer_compared(e, &d);
    weft_explorer_remove(e, 1);
    assert_false(weft_explorer_wants_diff(e));
    assert_false(has_place(e, "diff"));
    assert_int_equal(flags(e), 0);
    assert_null(strstr(facts(e), "Difference"));
    weft_explorer_free(e);
}

/* ---- Pictures ---- */

static bool has_text(const struct weft_drawlist *list, const char *text)
{
    for (uint32_t i = 0; i < list->draws; i++)
        if (list->draw[i].op == WEFT_DRAW_TEXT &&
            memmem(list->texts + list->draw[i].first, list->draw[i].count, text, strlen(text)))
            return true;
    return false;
}

TEST(a_still_picture_says_it_in_words)
{
    struct weft_explorer *e = explorer(1, true);
    struct weft_drawlist list = {0};
    weft_explorer_resize(e, 300, 900); /* lines are broken */
    weft_explorer_show_finding(e, 0, 1);
    assert_int_equal(weft_explorer_picture(e, &list), 0);
    assert_true(has_text(&list, "lost-wakeup (certain): The signal"));
    assert_true(has_text(&list, "lost."));
    assert_true(has_text(&list, "2  at 2.009 ms: 'task 21' begins to"));
    assert_true(weft_explorer_natural_height(e, 5000) > 300);
    assert_int_equal(weft_explorer_natural_height(e, 250), 250);
    weft_drawlist_fini(&list);
    weft_explorer_free(e);
}

/* ---- No memory ---- */

static int session(struct weft_model *m)
{
    struct weft_explorer *e;
    struct weft_scene *s;
    struct weft_drawlist still = {0};
    uint32_t count;
    int rc = weft_explorer_new(&e);
    s = NULL;
    if (rc == 0)
        rc = weft_scene_new(&s, m, false, NULL, NULL);
    if (rc == 0)
        rc = weft_explorer_add(e, s, m, "x");
    if (rc < 0) {
        weft_scene_free(s);
        weft_model_free(m);
        weft_explorer_free(e);
        return rc;
    }
    struct weft_analysis *a = analysis(m);
    weft_explorer_analysed(e, 0, a);
    weft_explorer_command(e, WEFT_COMMAND_NEXT_FINDING);
    weft_explorer_facts(e, &count);
    bool drawn = weft_explorer_draw(e) != NULL;
    weft_explorer_go(e, "finding=2&path=1&select=4");
    weft_explorer_facts(e, &count);
    drawn = weft_explorer_draw(e) && drawn;
    rc = weft_explorer_picture(e, &still);
    weft_drawlist_fini(&still);
    weft_explorer_free(e);
    return rc == 0 && drawn && a ? 0 : WEFT_E_NOMEM;
}

static struct weft_model *plain(void)
{
    return make_model(0);
}

TEST(no_memory)
{
    try_sessions(plain, session);
}

RUN_TESTS(NULL, NULL)
