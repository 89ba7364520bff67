/* SPDX-License-Identifier: ISC */
/* The processes that weft top follows. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/common.h"
#include "cli/live.h"
#include "cli/top/top.h"
#include "format/utf8.h"
#include "read/alive.h"

enum {
    SHOWN_SECONDS = 10, /* how long a process stays that has ended */
    HISTORIES_MAX = 256,
    SHARE = 10, /* looking takes at most one part in ten of the time */
};
#define SECOND_NS INT64_C(1000000000)
#define INTERVAL_MOST_NS (60 * SECOND_NS)

static void close_process(struct top_process *p)
{
    live_close(p->live);
    top_window_fini(&p->window);
    top_samples_end(&p->samples);
    weft_free_all(p->history, p->exported, p);
}

void top_fini(struct top *t)
{
    for (uint32_t i = 0; i < t->processes; i++)
        close_process(t->process[i]);
    free(t->process);
    top_finder_free(t->finder);
}

/* ---- New ones ---- */

static bool known(void *data, pid_t pid, uint64_t start)
{
    const struct top *t = data;
    for (uint32_t i = 0; i < t->processes; i++)
        if (t->process[i]->pid == pid && t->process[i]->start == start && !t->process[i]->ended)
            return true;
    return false;
}

static void turned(void *data, const struct live_thread *thread, uint64_t end_ns)
{
    struct top_process *p = data;
    uint32_t count;
    const struct live_thread *all = live_threads(p->live, &count);
    if (thread->is_loop && end_ns > thread->since_ns)
        top_window_turned(&p->window, (uint32_t)(thread - all), end_ns - thread->since_ns);
}

static void event(void *data, const struct weft_event *ev)
{
    struct top_process *p = data;
    top_samples_event(&p->samples, ev);
}

bool top_sample(struct top *t, struct top_process *p, bool begin)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < t->processes; i++)
        count += t->process[i]->samples.hz > 0;
    if (begin && count >= TOP_SAMPLED_MAX)
        return false;
    top_samples_end(&p->samples);
    if (begin)
        top_samples_begin(&p->samples, p->pid,
                          t->request.sample_hz ? t->request.sample_hz : TOP_SAMPLE_HZ);
    return true;
}

/* What is wrong with a process matters only if the user has asked for it. */
static bool refuse(struct top *t, const struct weft_error *err)
{
    if (t->given)
        snprintf(t->refused, sizeof t->refused, "%s",
                 *err->text ? err->text : weft_error_name(err->code));
    return false;
}

static bool found(void *data, pid_t pid, uint64_t start, uid_t user)
{
    struct top *t = data;
    struct weft_input in = {.fd = -1};
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    char path[PATH_MAX + 64];
    int rc = cli_live_open(&in, pid, path, sizeof path, &err);
    if (rc == 0 && in.copy == NULL && cli_live_check_size(&in, 0, &err) < 0) {
        weft_input_close(&in);
        rc = err.code;
    }
    struct top_process *p = rc == 0 ? calloc(1, sizeof *p) : NULL;
    if (rc == 0 && (!p || !weft_reserve(&t->process, t->processes, &t->room, sizeof *t->process))) {
        free(p);
        weft_input_close(&in);
        rc = weft_no_memory(&err);
    }
    if (rc < 0)
        return refuse(t, &err);
    const struct live_options options = {.calls = {.data = p, .turned = turned, .event = event}};
    *p = (struct top_process){
        .pid = pid, .start = start, .user = user, .program = "?", .samples = TOP_SAMPLES_NONE};
    p->window.seconds = t->window_seconds;
    rc = live_open(&p->live, &in, &options, &err);
    if (rc < 0) {
        free(p);
        return refuse(t, &err);
    }
    t->process[t->processes++] = p;
    if (t->request.sample_hz)
        top_sample(t, p, true);
    *t->refused = 0;
    return true;
}

/* ---- Looking ---- */

static void note_counters(struct top_process *p, int64_t now_ns)
{
    uint32_t count;
    const struct live_counter *c = live_counters(p->live, &count);
    count = count < HISTORIES_MAX ? count : HISTORIES_MAX;
    if (now_ns - p->history_ns < SECOND_NS / 4)
        return;
    p->history_ns = now_ns;
    if (count && weft_reach(&p->history, count - 1, &p->history_room, sizeof *p->history, 0))
        p->histories = count;
    for (uint32_t i = 0; i < p->histories; i++) {
        struct top_history *h = &p->history[i];
        if (h->values == TOP_HISTORY)
            memmove(h->value, h->value + 1, --h->values * sizeof *h->value);
        h->value[h->values++] = c[i].value;
    }
}

static void put_program(struct top_process *p, const char *name)
{
    const size_t n = weft_text_clean(p->program, sizeof p->program - 1, name, strlen(name));
    p->program[n] = 0;
}

/* What the trace says about the process. */
static void note_facts(struct top_process *p, int64_t now_ns)
{
    const struct weft_reader *reader = live_reader(p->live);
    const struct weft_reader_facts *facts = reader ? weft_reader_facts(reader) : NULL;
    if (!facts)
        return;
    const uint64_t until_ns = live_totals(p->live)->now_ns;
    if (facts->process.program)
        put_program(p, cli_base(facts->process.program));
    p->recording_ns = until_ns > facts->process.start_ns ? until_ns - facts->process.start_ns : 0;
    p->paused = facts->process.is_paused;
    const bool gone = weft_process_start((uint32_t)p->pid) != p->start;
    p->ended = gone || (facts->ended != WEFT_ENDED_RUNNING && facts->ended != WEFT_ENDED_UNKNOWN);
    if (!p->ended)
        return;
    p->ended_at_ns = now_ns;
    snprintf(p->how, sizeof p->how, "%s",
             !gone                                ? "stopped recording"
             : facts->ended == WEFT_ENDED_KILLED  ? "was killed"
             : facts->ended == WEFT_ENDED_STOPPED ? "has ended"
                                                  : "has ended without weft_stop");
}

static void look_at(struct top *t, struct top_process *p)
{
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    top_samples_take(&p->samples, p->live, p->pid);
    int rc = live_look(p->live, &err);
    const int64_t now_ns = weft_monotonic_ns();
    *p->trouble = 0;
    if (rc == 0)
        rc = top_window_note(&p->window, p->live) < 0 ? weft_no_memory(&err) : 0;
    if (rc == 0)
        rc = top_samples_join(&p->samples, t->window_seconds) < 0 ? weft_no_memory(&err) : 0;
    if (rc < 0)
        snprintf(p->trouble, sizeof p->trouble, "%s",
                 *err.text ? err.text : weft_error_name(err.code));
    if (rc == 0) {
        note_facts(p, now_ns);
        note_counters(p, now_ns);
    } else if (weft_process_start((uint32_t)p->pid) != p->start) {
        p->ended = true;
        p->ended_at_ns = now_ns;
        snprintf(p->how, sizeof p->how, "has ended");
    }
}

void top_look(struct top *t)
{
    const int64_t now_ns = weft_monotonic_ns();
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->processes; i++) {
        struct top_process *p = t->process[i];
        if (p->ended && (t->request.batch ? p->ended_said
                                          : now_ns - p->ended_at_ns > SHOWN_SECONDS * SECOND_NS))
            close_process(p);
        else
            t->process[kept++] = p;
    }
    t->processes = kept;
    top_find(t->finder, known, found, t);
    for (uint32_t i = 0; i < t->processes; i++)
        top_samples_ask(&t->process[i]->samples);
    for (uint32_t i = 0; i < t->processes; i++)
        if (!t->process[i]->ended)
            look_at(t, t->process[i]);
    t->looks++;
}

/* One look may be dear because it reads a ring from its beginning. */
void top_pace(struct top *t, int64_t took_ns)
{
    const int64_t least_ns = took_ns < t->look_ns ? took_ns : t->look_ns;
    t->look_ns = took_ns;
    t->wait_ns = t->interval_ns;
    if (t->looks > 1 && least_ns > t->wait_ns / SHARE)
        t->wait_ns = least_ns < INTERVAL_MOST_NS / SHARE ? least_ns * SHARE : INTERVAL_MOST_NS;
}
