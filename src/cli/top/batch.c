/* SPDX-License-Identifier: ISC */
/* weft top without a screen: plain text, again and again. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/report.h"
#include "cli/top/json.h"
#include "cli/top/views.h"

enum { PIPE_COLUMNS = 160, HEAD_MOST = 10000 };

static const char *const titles[TOP_VIEWS] = {
    [TOP_PENDING] = "oldest pending", [TOP_TREE] = "what waits for what",
    [TOP_LATENCY] = "latencies",      [TOP_THREADS] = "threads",
    [TOP_COUNTERS] = "counters",      [TOP_SAMPLES] = "where the CPU time goes",
};

static bool has(const struct top *t, enum top_view view)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < t->processes && view == TOP_SAMPLES; i++)
        if (t->process[i]->samples.hz)
            return true;
    for (uint32_t i = 0; i < t->processes && view == TOP_COUNTERS; i++) {
        live_counters(t->process[i]->live, &count);
        if (count)
            return true;
    }
    return view == TOP_COUNTERS ? count > 0 : view != TOP_SAMPLES;
}

static void print_text(const struct top *t)
{
    struct top_page page = {0};
    const int columns = isatty(STDOUT_FILENO) || cli_is_narrow() ? cli_columns() : PIPE_COLUMNS;
    top_head_put(&page, t, columns, HEAD_MOST);
    if (!t->processes && t->looks <= 2)
        top_nothing_put(&page, t);
    for (enum top_view v = TOP_PENDING; v < TOP_VIEWS && t->processes; v++) {
        if (t->request.all_views ? !has(t, v) : v != t->view)
            continue;
        top_say(&page, TOP_PLAIN, "%s", "");
        if (t->request.all_views)
            top_say(&page, TOP_BOLD, "%s", titles[v]);
        top_view_put(&page, t, v, columns, t->request.rows);
    }
    top_say(&page, TOP_PLAIN, "%s", "");
    top_page_print(&page);
    if (page.failed)
        cli_lacks_memory();
    top_page_fini(&page);
    fflush(stdout);
}

void top_batch_print(const struct top *t)
{
    if (t->request.json)
        top_json_print(t);
    else
        print_text(t);
}

void top_batch_ended(struct top *t)
{
    for (uint32_t i = 0; i < t->processes; i++) {
        struct top_process *p = t->process[i];
        if (p->ended && !p->ended_said)
            cli_say("top", "process %d (%s) %s", (int)p->pid, p->program, p->how);
        p->ended_said |= p->ended;
    }
}
