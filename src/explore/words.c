/* SPDX-License-Identifier: ISC */
/* What an arrow, or a point of a promise's line, says in words. */
#include <string.h>

#include "explore/state.h"
#include "view/view.h"

enum { LOOK_BACK = 10000 }; /* interactions of a promise that are read for a tip */

/* ---- Names ---- */

/* Both in one sentence: with numbers, if the names alone do not tell them apart. */
struct pair {
    const struct weft_model *m;
    bool full;
};

static struct pair pair_of(const struct weft_model *m, uint32_t a, uint32_t b)
{
    const struct analyse_phrase x = analyse_as_name(m, a), y = analyse_as_name(m, b);
    return (struct pair){.m = m, .full = a != b && !strcmp(x.text, y.text)};
}

static void put(struct analyse_text *t, const struct pair *p, uint32_t promise)
{
    if (p->full)
        analyse_put_full(t, p->m, promise);
    else
        analyse_put_name(t, p->m, promise);
}

static void put_length(struct analyse_text *t, int64_t length_ns)
{
    analyse_text_add(t, weft_duration(length_ns > 0 ? length_ns : 0).text);
}

/* ---- What led to what ---- */

/* The latest wait of the actor for the other one that had begun by then; NULL: none. */
static const struct weft_interaction *wait_before(const struct weft_model *m, uint32_t actor,
                                                  uint32_t other, int64_t time_ns)
{
    const struct weft_interaction *found = NULL;
    uint32_t i = m->promise[actor].first_interaction;
    for (int n = 0; i != WEFT_NONE && n < LOOK_BACK; n++, i = m->interaction[i].next) {
        const struct weft_interaction *x = &m->interaction[i];
        if (x->kind == WEFT_WAITS && x->other == other && x->time_ns <= time_ns && !x->replaced)
            found = x;
    }
    return found;
}

/* When the wait ended that began then: the other one ended, or the actor used what it had. INT64_MAX: it lasts. */
static int64_t wait_end(const struct weft_model *m, const struct weft_interaction *wait)
{
    const struct weft_promise *p = &m->promise[wait->other];
    int64_t end = p->outcome == WEFT_PENDING ? INT64_MAX : p->end_ns;
    uint32_t i = wait->next;
    for (int n = 0; i != WEFT_NONE && n < LOOK_BACK; n++, i = m->interaction[i].next) {
        const struct weft_interaction *x = &m->interaction[i];
        if (x->kind == WEFT_READS && x->other == wait->other)
            return x->time_ns > wait->time_ns ? x->time_ns : end;
    }
    return end;
}

/* Returns true if the last thing done to a promise before that time was a signal. */
static bool was_signalled(const struct weft_scene *s, uint32_t promise, int64_t time_ns)
{
    uint32_t last = weft_scene_last_act(s, promise, time_ns, LOOK_BACK);
    return last != WEFT_NONE && (s->m->interaction[last].kind == WEFT_SIGNALS ||
                                 s->m->interaction[last].kind == WEFT_NOTIFIES);
}

static void say_read(struct analyse_text *t, const struct weft_scene *s,
                     const struct weft_interaction *x)
{
    const struct weft_model *m = s->m;
    const struct weft_promise *other = &m->promise[x->other];
    const struct pair p = pair_of(m, x->actor, x->other);
    const struct weft_interaction *wait = wait_before(m, x->actor, x->other, x->time_ns);
    put(t, &p, x->actor);
    if (wait) {
        analyse_put_format(t, " went on because ");
        put(t, &p, x->other);
        analyse_put_format(t, " %s, ",
                           was_signalled(s, x->other, x->time_ns)
                               ? "was signalled"
                               : analyse_outcome_verb(m, x->other));
        put_length(t, x->time_ns - wait->time_ns);
        analyse_put_format(t, " after it began to wait");
        return;
    }
    analyse_put_format(t,
                       other->outcome == WEFT_FAILED ? " learned that " : " used the result of ");
    put(t, &p, x->other);
    analyse_put_format(t, other->outcome == WEFT_FAILED ? " failed, " : ", ");
    put_length(t, x->time_ns - other->end_ns);
    analyse_put_format(t, other->outcome == WEFT_FAILED ? " after that" : " after it was there");
}

static void say_wait(struct analyse_text *t, const struct weft_model *m,
                     const struct weft_interaction *x)
{
    const struct pair p = pair_of(m, x->actor, x->other);
    int64_t end = wait_end(m, x);
    put(t, &p, x->actor);
    analyse_put_format(t, " began to wait for ");
    put(t, &p, x->other);
    analyse_put_format(t, " at %s", weft_moment(x->time_ns).text);
    if (end == INT64_MAX) {
        analyse_put_format(t, ", which is not resolved");
    } else {
        analyse_put_format(t, ", for ");
        put_length(t, end - x->time_ns);
    }
}

static void say_act(struct analyse_text *t, const struct weft_model *m,
                    const struct weft_interaction *x, const char *verb, const char *then)
{
    const struct pair p = pair_of(m, x->actor, x->other);
    put(t, &p, x->actor);
    analyse_put_format(t, " %s ", verb);
    put(t, &p, x->other);
    analyse_put_format(t, " at %s%s", weft_moment(x->time_ns).text, then);
}

static const char *verb_of(const struct weft_model *m, const struct weft_interaction *x)
{
    switch ((enum weft_outcome)m->promise[x->other].outcome) {
    case WEFT_FAILED:
        return "let fail";
    case WEFT_CANCELLED:
        return "cancelled";
    default:
        return "resolved";
    }
}

void explore_arrow_say(struct analyse_text *t, const struct weft_scene *s,
                       const struct weft_arrow *a)
{
    const struct weft_model *m = s->m;
    const struct weft_interaction *x = &m->interaction[a->interaction];
    switch ((enum weft_interaction_kind)x->kind) {
    case WEFT_READS:
        say_read(t, s, x);
        break;
    case WEFT_WAITS:
        say_wait(t, m, x);
        break;
    case WEFT_RESOLVES:
        say_act(t, m, x, verb_of(m, x), "");
        break;
    case WEFT_RESOLVES_AGAIN:
        say_act(t, m, x, "resolved", ", though it had ended before");
        break;
    case WEFT_CANCELS_LATE:
        say_act(t, m, x, "cancelled", ", though it had ended before");
        break;
    case WEFT_SIGNALS:
        say_act(t, m, x, "signalled", "");
        break;
    case WEFT_NOTIFIES:
        say_act(t, m, x, "notified", "");
        break;
    }
    if (a->count > 1)
        analyse_put_format(t, "; %s more look%s the same", weft_count(a->count - 1).text,
                           a->count == 2 ? "s" : "");
}

/* ---- A point of a line ---- */

static bool runs_at(const struct weft_model *m, uint32_t promise, int64_t time_ns)
{
    uint32_t r = m->promise[promise].first_run;
    for (int n = 0; r != WEFT_NONE && n < LOOK_BACK; n++, r = m->run[r].next)
        if (m->run[r].start_ns <= time_ns && time_ns <= m->run[r].end_ns)
            return true;
    return false;
}

void explore_moment_say(struct analyse_text *t, const struct weft_model *m, uint32_t promise,
                        int64_t time_ns)
{
    const struct weft_interaction *wait = NULL;
    uint32_t i = m->promise[promise].first_interaction;
    if (runs_at(m, promise, time_ns)) {
        analyse_put_format(t, "; runs here");
        return;
    }
    for (int n = 0; i != WEFT_NONE && n < LOOK_BACK; n++, i = m->interaction[i].next) {
        const struct weft_interaction *x = &m->interaction[i];
        if (x->time_ns > time_ns)
            break;
        if (x->kind == WEFT_WAITS && !x->replaced)
            wait = x;
    }
    if (!wait)
        return;
    int64_t end = wait_end(m, wait);
    if (end < time_ns)
        return;
    analyse_put_format(t, "; here it waits for ");
    analyse_put_name(t, m, wait->other);
    analyse_put_format(t, ", since %s", weft_moment(wait->time_ns).text);
    if (end != INT64_MAX) {
        analyse_put_format(t, " and for ");
        put_length(t, end - wait->time_ns);
    }
}
