/* SPDX-License-Identifier: ISC */
/* The lines above the views of weft top: the processes, their loops and counters. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/duration.h"
#include "cli/common.h"
#include "cli/report.h"
#include "cli/top/views.h"

enum { BAR_MOST = 40, BAR_LEAST = 8, COUNTERS_SHOWN = 8 };

static void put_title(struct top_page *page, const struct top *t)
{
    char clock[16];
    const time_t now = time(NULL);
    uint64_t window_ns = 0;
    for (uint32_t i = 0; i < t->processes; i++)
        if (top_window_ns(&t->process[i]->window) > window_ns)
            window_ns = top_window_ns(&t->process[i]->window);
    strftime(clock, sizeof clock, "%H:%M:%S", localtime(&now));
    top_put(page, TOP_BOLD, "weft top");
    top_put(page, TOP_PLAIN, " %s  %" PRIu32 " process%s", clock, t->processes,
            t->processes == 1 ? "" : "es");
    if (t->processes && window_ns)
        top_put(page, TOP_PLAIN, ", over %s", weft_duration((int64_t)window_ns).text);
    else if (t->processes)
        top_put(page, TOP_PLAIN, ", so far");
    if (!t->request.batch && t->wait_ns)
        top_put(page, t->wait_ns > t->interval_ns ? TOP_WARNING : TOP_PLAIN, ", every %s",
                weft_duration(t->wait_ns).text);
    if (*t->filter)
        top_put(page, TOP_WARNING, "  filter: %s", t->filter);
    top_end(page, (struct top_key){0});
}

/* Busy, as a share of the window, or of what the first look saw. */
static double share_of(const struct top_process *p, uint32_t thread, const struct top_use *use)
{
    uint32_t count;
    const struct live_thread *th = &live_threads(p->live, &count)[thread];
    const uint64_t ns = top_window_ns(&p->window);
    const uint64_t whole = ns ? ns : use->busy_ns + th->idle_ns;
    return whole ? (double)use->busy_ns / (double)whole : 0;
}

/* The busiest loop. */
static bool busiest(const struct top_process *p, double *share, uint64_t *longest_ns)
{
    uint32_t count, loops = 0;
    const struct live_thread *t = live_threads(p->live, &count);
    *share = 0;
    *longest_ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!t[i].is_loop)
            continue;
        const struct top_use use = top_window_use(&p->window, i);
        const double s = share_of(p, i, &use);
        *share = s > *share ? s : *share;
        *longest_ns = use.longest_ns > *longest_ns ? use.longest_ns : *longest_ns;
        loops++;
    }
    return loops > 0;
}

/* loops: they have lines of their own. */
static void put_process(struct top_page *page, const struct top_process *p, bool loops)
{
    const struct live_totals *all = live_totals(p->live);
    const struct live_totals now = top_window_totals(&p->window);
    const uint64_t ns = top_window_ns(&p->window);
    uint32_t pending;
    double share;
    uint64_t longest_ns;
    live_promises(p->live, &pending);
    top_put(page, TOP_BOLD, "%7d %s", (int)p->pid, p->program);
    if (p->ended) {
        top_put(page, TOP_WARNING, "  %s", p->how);
        top_end(page, (struct top_key){.process = p->pid});
        return;
    }
    top_put(page, TOP_PLAIN, "  pending ");
    top_put(page, TOP_BOLD, "%s", weft_count(pending).text);
    if (!loops && busiest(p, &share, &longest_ns)) {
        top_put(page,
                share >= 0.9   ? TOP_BAD
                : share >= 0.6 ? TOP_WARNING
                               : TOP_PLAIN,
                "  busy %.0f%%", 100 * share);
        top_put(page, longest_ns >= 100000000 ? TOP_BAD : TOP_PLAIN, "  longest turn %s",
                weft_duration_narrow((int64_t)longest_ns).text);
    }
    top_put(page, now.failed ? TOP_BAD : TOP_PLAIN, "  failed %s%s",
            ns ? top_rate(now.failed, ns).text : weft_count_short(now.failed).text, ns ? "/s" : "");
    top_put(page, TOP_PLAIN, "  events %s%s",
            ns ? top_rate(now.events, ns).text : weft_count_short(now.events).text, ns ? "/s" : "");
    if (all->lost)
        top_put(page, TOP_WARNING, "  lost %s", weft_count_short(all->lost).text);
    top_put(page, TOP_FAINT, "  recording %s", weft_duration((int64_t)p->recording_ns).text);
    if (p->paused)
        top_put(page, TOP_WARNING, "  switched off");
    if (all->unfollowed)
        top_put(page, TOP_WARNING, "  %s not followed", weft_count_short(all->unfollowed).text);
    if (*p->trouble)
        top_put(page, TOP_BAD, "  %s", p->trouble);
    top_end(page, (struct top_key){.process = p->pid});
}

static void put_loop(struct top_page *page, const struct top_process *p, uint32_t thread,
                     int columns)
{
    uint32_t count;
    const struct live_thread *t = &live_threads(p->live, &count)[thread];
    const struct top_use use = top_window_use(&p->window, thread);
    const double share = share_of(p, thread, &use);
    int bar = columns - 77;
    bar = bar > BAR_MOST ? BAR_MOST : bar < BAR_LEAST ? BAR_LEAST : bar;
    top_put(page, TOP_PLAIN, "        loop ");
    top_cell(page, TOP_PLAIN, -15, t->name);
    top_bar(page, share, bar);
    top_put(page, TOP_PLAIN, "%5.1f%%  longest turn ", 100 * share);
    top_cell(page, use.longest_ns >= 100000000 ? TOP_BAD : TOP_PLAIN, 7,
             weft_duration_narrow((int64_t)use.longest_ns).text);
    top_put(page, TOP_PLAIN, " turns %s/s", top_rate(use.turns, top_window_ns(&p->window)).text);
    top_end(page, (struct top_key){.process = p->pid, .thread = thread + 1});
}

static void put_counters(struct top_page *page, const struct top_process *p)
{
    uint32_t count;
    const struct live_counter *c = live_counters(p->live, &count);
    if (!count)
        return;
    top_put(page, TOP_PLAIN, "        ");
    for (uint32_t i = 0; i < count && i < COUNTERS_SHOWN; i++) {
        top_put(page, TOP_FAINT, "%.40s ", live_name(p->live, c[i].name));
        top_put(page, TOP_PLAIN, "%" PRId64 "   ", c[i].value);
    }
    top_end(page, (struct top_key){.process = p->pid});
}

static uint32_t loops_of(const struct top_process *p)
{
    uint32_t count, loops = 0;
    const struct live_thread *t = live_threads(p->live, &count);
    for (uint32_t i = 0; i < count; i++)
        loops += t[i].is_loop;
    return p->ended ? 0 : loops;
}

static uint32_t counters_of(const struct top_process *p)
{
    uint32_t count;
    live_counters(p->live, &count);
    return !p->ended && count;
}

void top_head_put(struct top_page *page, const struct top *t, int columns, uint32_t most)
{
    const uint32_t begin = page->lines;
    put_title(page, t);
    uint32_t needed = 1 + t->processes;
    for (uint32_t i = 0; i < t->processes; i++) {
        const struct top_process *p = t->process[i];
        if (page->lines - begin >= most)
            return;
        if (page->lines - begin + 1 == most && i + 1 < t->processes) {
            top_say(page, TOP_FAINT, "        and %" PRIu32 " more", t->processes - i);
            return;
        }
        uint32_t count, loops = loops_of(p);
        put_process(page, p, loops && needed < most);
        const struct live_thread *thread = live_threads(p->live, &count);
        for (uint32_t k = 0; k < count && needed < most && loops; k++) {
            if (!thread[k].is_loop)
                continue;
            put_loop(page, p, k, columns);
            needed++;
            loops--;
        }
        if (counters_of(p) && needed < most) {
            put_counters(page, p);
            needed++;
        }
    }
}
