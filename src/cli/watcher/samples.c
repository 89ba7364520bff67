/* SPDX-License-Identifier: ISC */
/* A watcher's samples: by a sampler of its own, or in the file of weft record --sample. */
#include <fcntl.h>
#include <string.h>

#include "cli/watcher/parts.h"
#include "format/packet.h"
#include "read/reader.h"

/* As long as it takes to look up names, nothing else can be kept. */
#define NAMES_NS INT64_C(15000000000)

/* ---- While it watches ---- */

static void say_unsampled(struct cli_watcher *w, const char *why)
{
    if (!w->unsampled)
        cli_watcher_say(w, CLI_SAY_WARNING, NULL, "process %d: it is watched without samples: %s",
                        (int)w->pid, why);
    w->unsampled = true;
}

void cli_watcher_sample(struct cli_watcher *w)
{
    const struct cli_sampler_options o = {
        .process = (uint32_t)w->pid, .hz = w->k->sample_hz, .ring_bytes = w->k->sample_bytes};
    const int error = o.hz ? cli_sampler_start(&w->sampler, &o) : 0;
    if (error)
        say_unsampled(w, strerror(error));
}

void cli_watcher_hear(struct cli_watcher *w)
{
    enum cli_sampler_says what;
    char text[CLI_SAMPLER_TEXT];
    while (cli_sampler_hear(&w->sampler, &what, text)) {
        if (what == CLI_SAMPLER_FAILED)
            say_unsampled(w, text);
        else if (what == CLI_SAMPLER_NOTE && !w->noted)
            cli_watcher_say(w, CLI_SAY_INFO, NULL, "process %d: %s", (int)w->pid, text);
        if (what != CLI_SAMPLER_BEGAN)
            continue;
        cli_watcher_say(w, CLI_SAY_INFO, NULL, "sampling process %d, %s a second", (int)w->pid,
                        cli_many(w->k->sample_hz, "time").text);
        w->noted = true;
        w->unsampled = false;
    }
}

void cli_watcher_sample_end(struct cli_watcher *w)
{
    cli_sampler_stop(&w->sampler);
}

/* ---- What is kept ---- */

/* When the first event was recorded that the copy has. 0: it has none, or its clock is another one. */
static uint64_t begin_of(int copy)
{
    struct weft_reader *r;
    const struct weft_event *ev;
    uint64_t first = 0;
    if (cli_open_file(&r, copy, NULL) < 0)
        return 0;
    if (weft_reader_next(r, &ev, NULL) > 0 && weft_reader_facts(r)->clock_kind != WEFT_CLOCK_CALLER)
        first = weft_reader_facts(r)->first_ns;
    weft_reader_close(r);
    return first;
}

void cli_watcher_add_samples(const struct cli_watcher *w, uint64_t question, int copy,
                             struct cli_answer *a)
{
    struct weft_error err = {.text = ""};
    int samples = -1;
    if (w->sampler.pid) {
        cli_sampler_await(&w->sampler, question);
        samples = cli_sampler_copy(&w->sampler, &err);
    } else if (w->samples) {
        samples = cli_samples_copy(open(w->samples, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK),
                                   &err);
    } else {
        return;
    }
    const int64_t count =
        samples < 0 ? samples : cli_samples_append(copy, samples, begin_of(copy), NAMES_NS, &err);
    a->samples = count > 0 ? (uint64_t)count : 0;
    if (count < 0)
        snprintf(a->without, sizeof a->without, "%.*s", (int)sizeof a->without - 1, err.text);
    else if (!count)
        snprintf(a->without, sizeof a->without, "the process has not used the CPU since then");
    cli_close(samples);
}
