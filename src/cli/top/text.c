/* SPDX-License-Identifier: ISC */
/* Names, rates and filters for the views of weft top. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/count.h"
#include "cli/common.h"
#include "cli/top/views.h"

void top_name(char name[TOP_NAME_BYTES], const struct live *l, const struct live_promise *p)
{
    const char *label = live_name(l, p->label), *type = live_name(l, p->type);
    if (*label)
        snprintf(name, TOP_NAME_BYTES, "%s (%s#%" PRIu64 ")", label, type, p->id);
    else
        snprintf(name, TOP_NAME_BYTES, "%s#%" PRIu64, type, p->id);
}

void top_needs(char text[TOP_NEEDS_BYTES], const struct live *l, const struct live_promise *p)
{
    char name[TOP_NAME_BYTES], holder[TOP_NAME_BYTES];
    const struct live_promise *next = p->became ? live_find(l, p->became) : NULL;
    const char *how = "= ";
    *text = 0;
    if (!next) {
        how = "";
        next = p->waits_for ? live_find(l, p->waits_for) : NULL;
    }
    if (!next && p->holder) {
        how = "held by ";
        next = live_find(l, p->holder);
    }
    if (next) {
        top_name(name, l, next);
        const struct live_promise *h = next->holder ? live_find(l, next->holder) : NULL;
        if (h)
            top_name(holder, l, h);
        snprintf(text, TOP_NEEDS_BYTES, "%s%s%s%s", how, name, h ? " held by " : "",
                 h ? holder : "");
    } else if (p->waits_for) {
        snprintf(text, TOP_NEEDS_BYTES, "nothing any more: #%" PRIu64 " has ended", p->waits_for);
    } else if (p->holder) {
        snprintf(text, TOP_NEEDS_BYTES, "held by #%" PRIu64, p->holder);
    }
}

uint64_t top_age_ns(const struct top_process *p, uint64_t since_ns)
{
    const uint64_t now_ns = live_totals(p->live)->now_ns;
    return now_ns > since_ns ? now_ns - since_ns : 0;
}

struct top_rate top_rate(uint64_t count, uint64_t ns)
{
    struct top_rate r;
    const double rate = ns ? (double)count * 1e9 / (double)ns : 0;
    if (count == 0 || ns == 0)
        snprintf(r.text, sizeof r.text, "%s", ns ? "0" : "-");
    else if (rate < 9.95)
        snprintf(r.text, sizeof r.text, "%.*f", rate < 0.1 ? 2 : 1, rate);
    else
        snprintf(r.text, sizeof r.text, "%.31s", weft_count_short((uint64_t)(rate + 0.5)).text);
    return r;
}

bool top_matches(const struct top *t, const char *text)
{
    return !*t->filter || strcasestr(text, t->filter);
}

bool top_promise_matches(const struct top *t, const struct top_process *p,
                         const struct live_promise *promise)
{
    char id[32];
    if (!*t->filter)
        return true;
    snprintf(id, sizeof id, "#%" PRIu64, promise->id);
    const struct live *l = p->live;
    return strcmp(id, t->filter) == 0 || top_matches(t, live_name(l, promise->label)) ||
           top_matches(t, live_name(l, promise->type)) ||
           top_matches(t, live_name(l, promise->file)) || top_matches(t, p->program);
}

const struct top_process *top_process_of(const struct top *t, pid_t pid)
{
    for (uint32_t i = 0; i < t->processes; i++)
        if (t->process[i]->pid == pid)
            return t->process[i];
    return NULL;
}

void top_nothing_put(struct top_page *page, const struct top *t)
{
    if (*t->refused) {
        top_say(page, TOP_WARNING, "  %s", t->refused);
        return;
    }
    top_say(page, TOP_PLAIN, "  No process records at the moment. To record one:");
    top_say(page, TOP_PLAIN, "%s", "");
    top_say(page, TOP_BOLD, "    weft record PROGRAM [ARG…]");
    top_say(page, TOP_PLAIN, "        starts it, and records it");
    top_say(page, TOP_BOLD, "    weft ctl PID on");
    top_say(
        page, TOP_PLAIN,
        "        begins with one that runs already, in Python, Node.js, or linked with libweft");
    top_say(page, TOP_PLAIN, "%s", "");
    top_say(page, TOP_FAINT, "  A process that records appears here by itself.");
}
