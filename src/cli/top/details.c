/* SPDX-License-Identifier: ISC */
/* weft top: all that is known about a promise, a kind of promises, a thread. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/duration.h"
#include "cli/common.h"
#include "cli/top/tree.h"
#include "cli/top/views.h"

enum { CHAIN_MOST = 50, WAITERS_MOST = 20, BAR = 40 };

static void say(struct top_page *page, const char *what, const char *text)
{
    top_put(page, TOP_PLAIN, "  ");
    top_cell(page, TOP_FAINT, -14, what);
    top_put(page, TOP_PLAIN, "%s", *text ? text : "-");
    top_end(page, (struct top_key){0});
}

static void say_time(struct top_page *page, const char *what, uint64_t ns)
{
    say(page, what, weft_duration((int64_t)ns).text);
}

static bool was_there(const uint32_t *list, unsigned count, uint32_t promise)
{
    for (unsigned i = 0; i < count; i++)
        if (list[i] == promise)
            return true;
    return false;
}

/* What it waits for, what that waits for, and so on. */
static void put_chain(struct top_page *page, const struct top_process *p,
                      const struct live_promise *promise)
{
    static const char *const words[] = {"", "waits for ", "became ", "is held by "};
    uint32_t count, chain[CHAIN_MOST] = {0};
    char name[TOP_NAME_BYTES];
    const struct live_promise *all = live_promises(p->live, &count);
    uint32_t at = (uint32_t)(promise - all);
    for (unsigned i = 0; i < CHAIN_MOST; i++) {
        enum top_need need;
        const struct live_promise *one = &all[at];
        chain[i] = at;
        at = top_tree_need(p->live, one, &need);
        if (at == LIVE_NONE) {
            if (i)
                top_say(page, TOP_FAINT, "  which waits for nothing that is pending here");
            return;
        }
        const bool circle = was_there(chain, i + 1, at);
        top_name(name, p->live, &all[at]);
        top_put(page, TOP_PLAIN, "  %*s%s", (int)(i < 12 ? 2 * i : 24), "", words[need]);
        top_put(page, circle ? TOP_BAD : TOP_BOLD, "%s", name);
        if (need == TOP_WAITS)
            top_put(page, TOP_FAINT, "  for %s",
                    weft_duration((int64_t)top_age_ns(p, one->waits_since_ns)).text);
        if (circle)
            top_put(page, TOP_BAD, "  which closes a circle: a deadlock");
        top_end(page, (struct top_key){.process = p->pid, .promise = all[at].id});
        if (circle)
            return;
    }
    top_say(page, TOP_FAINT, "  and so on");
}

/* Those that wait for it, the first ones. */
static void put_waiters(struct top_page *page, const struct top_process *p,
                        const struct live_promise *promise)
{
    uint32_t count, waiters = 0;
    char name[TOP_NAME_BYTES];
    const struct live_promise *all = live_promises(p->live, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (all[i].waits_for != promise->id && all[i].became != promise->id)
            continue;
        if (waiters++ == 0)
            top_say(page, TOP_BOLD, "waits for it:");
        if (waiters > WAITERS_MOST)
            continue;
        top_name(name, p->live, &all[i]);
        top_put(page, TOP_PLAIN, "  %s", name);
        top_end(page, (struct top_key){.process = p->pid, .promise = all[i].id});
    }
    if (waiters > WAITERS_MOST)
        top_say(page, TOP_FAINT, "  and %s more", weft_count(waiters - WAITERS_MOST).text);
}

static void put_promise(struct top_page *page, const struct top_process *p, uint64_t id)
{
    const struct live_promise *one = live_find(p->live, id);
    char text[LIVE_NAME_BYTES + 32], name[TOP_NAME_BYTES];
    if (!one) {
        top_say(page, TOP_PLAIN, "promise #%" PRIu64 " of %s has ended", id, p->program);
        return;
    }
    const struct live_promise *creator = live_find(p->live, one->creator);
    top_name(name, p->live, one);
    top_say(page, TOP_BOLD, "%s", name);
    snprintf(text, sizeof text, "%d %s", (int)p->pid, p->program);
    say(page, "process", text);
    say(page, "type", live_name(p->live, one->type));
    say(page, "label", live_name(p->live, one->label));
    if (*live_name(p->live, one->file))
        snprintf(text, sizeof text, "%s:%" PRIu32, live_name(p->live, one->file), one->line);
    say(page, "created at", *live_name(p->live, one->file) ? text : "");
    if (creator)
        top_name(name, p->live, creator);
    else
        snprintf(name, sizeof name, one->creator == WEFT_ID_LOOP ? "the event loop" : "#%" PRIu64,
                 one->creator);
    say(page, "created by", name);
    say_time(page, one->older ? "older than" : "age", top_age_ns(p, one->created_ns));
    if (one->created_ns < live_totals(p->live)->off_ns)
        say(page, "but", "the recording was off meanwhile: it may have ended then");
    if (one->waits_for)
        say_time(page, "waiting for", top_age_ns(p, one->waits_since_ns));
    say(page, "marks",
        one->background       ? "background: it may stay pending for ever"
        : one->should_resolve ? "it should be resolved soon"
                              : "");
    put_chain(page, p, one);
    put_waiters(page, p, one);
}

static void put_row(struct top_page *page, const struct top_process *p, uint32_t index, int columns)
{
    const struct live_row *r = top_row(p, index);
    const uint64_t ns = top_window_ns(&p->window);
    uint64_t most = 0;
    if (!r)
        return;
    top_say(page, TOP_BOLD, "%s %s", live_name(p->live, r->type), live_name(p->live, r->label));
    say_time(page, "over the last", ns);
    say(page, "ended", weft_count(top_row_ended(r)).text);
    say(page, "failed", weft_count(r->failed).text);
    say(page, "cancelled", weft_count(r->cancelled).text);
    say(page, "dropped", weft_count(r->forgotten).text);
    say(page, "pending", weft_count(r->pending).text);
    const uint64_t measured = top_row_measured(r);
    if (!measured)
        return;
    say_time(page, "mean", r->total_ns / measured);
    for (unsigned i = 0; i < LIVE_BUCKETS; i++)
        most = r->took[i] > most ? r->took[i] : most;
    const int bar = columns - 40 > BAR ? BAR : columns - 40 > 8 ? columns - 40 : 8;
    for (unsigned i = 0; i < LIVE_BUCKETS; i++) {
        if (!r->took[i])
            continue;
        top_put(page, TOP_FAINT, i + 1 < LIVE_BUCKETS ? "  up to " : "  above ");
        top_cell(
            page, TOP_PLAIN, 8,
            weft_duration_narrow((int64_t)live_bucket_ns(i + 1 < LIVE_BUCKETS ? i : i - 1)).text);
        top_cell(page, TOP_PLAIN, 10, weft_count(r->took[i]).text);
        const int full = (int)((double)r->took[i] / (double)most * bar + 0.5);
        for (int k = 0; k < full || k == 0; k++)
            top_put(page, TOP_GOOD, "|");
        top_end(page, (struct top_key){0});
    }
}

static void put_thread(struct top_page *page, const struct top_process *p, uint32_t index)
{
    uint32_t count;
    const struct live_thread *t = live_threads(p->live, &count);
    char text[64];
    if (index >= count)
        return;
    const struct top_use use = top_window_use(&p->window, index);
    top_say(page, TOP_BOLD, "thread %s of %s", t[index].name, p->program);
    snprintf(text, sizeof text, "%" PRIu32, t[index].tid);
    say(page, "thread id", text);
    say(page, "kind", t[index].is_loop ? "event loop" : "it does not say when it is idle");
    say(page, "now", t[index].idle ? "idle" : "busy");
    say_time(page, "since", top_age_ns(p, t[index].since_ns));
    say_time(page, "busy", use.busy_ns);
    say_time(page, "… over", top_window_ns(&p->window));
    say(page, "turns", weft_count(use.turns).text);
    say_time(page, "longest", use.longest_ns);
    say_time(page, "longest ever", t[index].longest_ns);
    say_time(page, "others ran for", t[index].preempted_ns);
}

void top_details_put(struct top_page *page, const struct top *t, const struct top_key *key,
                     int columns)
{
    const struct top_process *p = top_process_of(t, key->process);
    if (!p)
        top_say(page, TOP_PLAIN, "the process is gone");
    else if (key->promise)
        put_promise(page, p, key->promise);
    else if (key->row)
        put_row(page, p, key->row - 1, columns);
    else if (key->thread)
        put_thread(page, p, key->thread - 1);
    else
        top_head_put(page, t, columns, 1000);
}
