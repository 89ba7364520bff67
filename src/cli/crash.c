/* SPDX-License-Identifier: ISC */
#include "cli/crash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "cli/core.h"
#include "cli/now.h"
#include "cli/report.h"
#include "cli/source.h"
#include "cli/trace_json.h"
#include "format/utf8.h"
#include "read/alive.h"

enum { CREATORS_MAX = 16 };

struct cli_crash *cli_crash_open(const char *path)
{
    struct weft_error err = {.text = ""};
    struct weft_core *core = cli_core_open(path);
    struct cli_crash *c = core ? calloc(1, sizeof *c) : NULL;
    if (!c) {
        weft_core_close(core);
        return NULL;
    }
    c->core = core;
    if (!cli_trace_recorded(path, &err))
        snprintf(c->no_trace, sizeof c->no_trace, "%s", err.text);
    if (core->threads && now_open_core(&c->now, core, &err) < 0) {
        now_free(c->now);
        c->now = NULL;
    }
    return c;
}

void cli_crash_free(struct cli_crash *c)
{
    if (!c)
        return;
    weft_core_close(c->core);
    now_free(c->now);
    free(c);
}

/* ---- The signal ---- */

static const struct weft_core_thread *thread_of(const struct cli_crash *c)
{
    return c->core->threads ? c->core->thread : NULL;
}

/* "SIGSEGV"; "signal 64". */
struct signal_name {
    char text[24];
};

static struct signal_name signal_name(int number)
{
    struct signal_name name;
    const char *known = sigabbrev_np(number);
    snprintf(name.text, sizeof name.text, known ? "SIG%s" : "signal %.0s%d", known ? known : "",
             number);
    return name;
}

static bool has_address(const struct weft_core_thread *t)
{
    return t->has_info && t->info.si_code > 0 && t->info.si_code != SI_KERNEL &&
           (t->info.si_signo == SIGSEGV || t->info.si_signo == SIGBUS ||
            t->info.si_signo == SIGILL || t->info.si_signo == SIGFPE ||
            t->info.si_signo == SIGTRAP);
}

static uint64_t address_of(const struct weft_core_thread *t)
{
    return (uintptr_t)t->info.si_addr;
}

static bool was_sent(const struct weft_core_thread *t)
{
    return t->has_info && (t->info.si_code == SI_USER || t->info.si_code == SI_TKILL ||
                           t->info.si_code == SI_QUEUE);
}

/* Why the signal came, to follow its name; or nothing. */
static void put_cause(struct analyse_text *text, const struct cli_crash *c,
                      const struct weft_core_thread *t)
{
    static const struct {
        int number, code;
        const char *text;
    } causes[] = {
        {SIGSEGV, SEGV_MAPERR, ", where nothing is mapped"},
        {SIGSEGV, SEGV_ACCERR, ", which it may not use so"},
        {SIGBUS, BUS_ADRALN, ", which is not aligned"},
        {SIGBUS, BUS_ADRERR, ", behind the end of a mapped file"},
        {SIGFPE, FPE_INTDIV, ": a division by zero"},
        {SIGFPE, FPE_INTOVF, ": an overflow"},
        {SIGILL, ILL_ILLOPN, ": no instruction of this processor"},
        {SIGILL, ILL_ILLOPC, ": no instruction of this processor"},
    };
    if (was_sent(t) && (uint32_t)t->info.si_pid == c->core->process)
        analyse_put_format(text, ", which the process sent itself%s",
                           t->signal == SIGABRT ? " (abort)" : "");
    else if (was_sent(t))
        analyse_put_format(text, ", sent by process %d of user %u", (int)t->info.si_pid,
                           (unsigned)t->info.si_uid);
    else if (has_address(t))
        analyse_put_format(text, " at address 0x%" PRIx64, address_of(t));
    else if (t->has_info && t->signal == SIGSEGV)
        analyse_put_format(text, ", at an address that is none");
    for (unsigned i = 0; t->has_info && i < sizeof causes / sizeof *causes; i++)
        if (causes[i].number == t->info.si_signo && causes[i].code == t->info.si_code)
            analyse_put_format(text, "%s", causes[i].text);
}

/* ---- The promise ---- */

/* What the trace knows of the thread that crashed. */
struct joined {
    uint32_t stream; /* or WEFT_NONE */
    uint32_t run;    /* that had not ended; or WEFT_NONE */
    uint32_t last;   /* the last one on it; or WEFT_NONE */
};

static bool is_thread(const struct weft_stream_thread *s, const struct cli_crash *c)
{
    return s->thread == c->core->thread[0].number &&
           (!s->process || !c->core->process || s->process == c->core->process);
}

/* A thread may have several streams: of a handler that interrupts it, or of an earlier thread with its number. */
static struct joined join(const struct cli_crash *c, const struct weft_history *h)
{
    const struct weft_model *m = h->m;
    struct joined j = {WEFT_NONE, WEFT_NONE, WEFT_NONE};
    for (uint32_t s = 0; thread_of(c) && m->stream_thread && s < m->streams && s < h->streams;
         s++) {
        if (!is_thread(&m->stream_thread[s], c))
            continue;
        const uint32_t end = h->stream_first[s + 1];
        const uint32_t last = h->stream_first[s] < end ? h->stream_run[end - 1] : WEFT_NONE;
        const bool later = j.last == WEFT_NONE ||
                           (last != WEFT_NONE && m->run[last].start_ns >= m->run[j.last].start_ns);
        if (j.stream != WEFT_NONE && !later)
            continue;
        j = (struct joined){s, last != WEFT_NONE && last >= m->runs_ended ? last : WEFT_NONE, last};
    }
    return j;
}

static uint32_t creators_of(const struct weft_model *m, uint32_t promise,
                            uint32_t creator[CREATORS_MAX])
{
    uint32_t n = 0;
    for (uint32_t p = promise; n < CREATORS_MAX && p != WEFT_ROOT && m->promise[p].created;) {
        const uint32_t by = m->promise[p].creator;
        if (by == WEFT_ROOT || by == WEFT_NONE || by == p)
            break;
        creator[n++] = p = by;
    }
    return n;
}

static void put_wait(struct analyse_text *t, const struct weft_history *h, uint32_t promise)
{
    const struct weft_wait *w = analyse_last_wait(h, promise);
    if (!w)
        return;
    analyse_fill(
        t, h->m, NULL,
        w->end == WEFT_WAIT_OPEN ? "It has waited for {source} since {from}."
                                 : "Before, it waited for {source}, from {from} to {to}.",
        ANALYSE_SLOTS(PROMISE(source, w->source), TIME(from, w->from_ns), TIME(to, w->until_ns)));
}

static void print_promise(const struct cli_crash *c, const struct weft_history *h)
{
    const struct weft_model *m = h->m;
    const struct joined j = join(c, h);
    struct analyse_text t = {0};
    uint32_t creator[CREATORS_MAX];
    const uint32_t run = j.run != WEFT_NONE ? j.run : j.last;
    const uint32_t promise = run == WEFT_NONE ? WEFT_NONE : h->run_promise[run];
    if (j.stream == WEFT_NONE)
        analyse_put_format(&t, "This thread has recorded nothing.");
    else if (promise == WEFT_NONE)
        analyse_put_format(&t, "Nothing ran on this thread, as far as the trace says.");
    else if (promise == WEFT_ROOT)
        analyse_put_format(&t, "When the trace ends, no promise ran on this thread, but the event "
                               "loop.");
    else
        analyse_fill(&t, m, NULL,
                     j.run != WEFT_NONE
                         ? "On this thread ran {promise}, since {from}, {length} before the trace "
                           "ends"
                         : "When the trace ends, no promise ran on this thread; the last one was "
                           "{promise}, until {to}",
                     ANALYSE_SLOTS(PROMISE(promise, promise), TIME(from, m->run[run].start_ns),
                                   TIME(to, m->run[run].end_ns),
                                   LENGTH(length, m->end_ns - m->run[run].start_ns)));
    if (promise != WEFT_NONE && promise != WEFT_ROOT) {
        const uint32_t creators = creators_of(m, promise, creator);
        for (uint32_t i = 0; i < creators; i++) {
            analyse_put_format(&t, ", created by ");
            analyse_put_full(&t, m, creator[i]);
        }
        const uint32_t origin = weft_model_origin(m, promise);
        if (origin != WEFT_NONE) {
            analyse_put_format(&t, creators ? "; it was created in " : ", created in ");
            analyse_put_place(&t, m, origin);
        }
        analyse_put_format(&t, ".");
        put_wait(&t, h, promise);
    }
    cli_wrap_text("   ", "   ", &t);
    putchar('\n');
}

/* ---- In words ---- */

struct clean {
    char text[400];
};

static struct clean clean(const char *text)
{
    struct clean c;
    c.text[weft_text_clean(c.text, sizeof c.text - 1, text, strlen(text))] = 0;
    return c;
}

/* "thread 4713 'worker'". */
static void put_thread(struct analyse_text *t, const struct cli_crash *c,
                       const struct weft_history *h)
{
    const struct joined j = h ? join(c, h) : (struct joined){WEFT_NONE, WEFT_NONE, WEFT_NONE};
    const char *name = j.stream == WEFT_NONE
                           ? ""
                           : weft_model_text(h->m, h->m->stream_thread[j.stream].name, NULL);
    analyse_put_format(t, "thread %" PRIu32, c->core->thread[0].number);
    if (name && *name)
        analyse_put_format(t, " '%s'", name);
}

static void print_head(const struct cli_crash *c, const char *path, const struct weft_history *h)
{
    struct analyse_text t = {0};
    const struct weft_core_thread *first = thread_of(c);
    analyse_put_format(&t, "%s: ", cli_shown(path).text);
    if (c->core->process)
        analyse_put_format(&t, "process %" PRIu32 " '%s'", c->core->process,
                           clean(c->core->program).text);
    else
        analyse_put_format(&t, "a process without a number");
    if (!first) {
        analyse_put_format(&t, ": what is left of its core says nothing of its threads.");
    } else if (first->signal) {
        analyse_put_format(&t, " was ended by %s", signal_name(first->signal).text);
        put_cause(&t, c, first);
        analyse_put_format(&t, ", in ");
        put_thread(&t, c, h);
        analyse_put_format(&t, ":");
    } else {
        analyse_put_format(&t, ": its core was made without a signal; its first thread is ");
        put_thread(&t, c, h);
        analyse_put_format(&t, ":");
    }
    cli_wrap_text("", "  ", &t);
}

void cli_crash_print(const struct cli_crash *c, const char *path, const struct weft_history *h,
                     bool all)
{
    print_head(c, path, h);
    if (c->now && c->now->things)
        cli_now_print_stack(c->now, 0, all);
    putchar('\n');
    if (c->core->cut)
        cli_wrap("", "", "The core file ends too early: not all that the process had is there.");
    for (uint32_t i = 0; h && c->now && i < c->now->remarks; i++)
        cli_wrap("   ", "   ", c->now->remark[i]);
    if (h) {
        print_promise(c, h);
        return;
    }
    if (c->now)
        cli_now_print(c->now, 0, all);
    if (*c->no_trace)
        cli_wrap_filled("", "  ", NULL, "There is no trace: {path} {why}.",
                        TEXT(path, cli_shown(path).text), TEXT(why, c->no_trace));
}

/* ---- For programs ---- */

static json_t *run_json(const struct cli_crash *c, const struct weft_history *h)
{
    const struct joined j = h ? join(c, h) : (struct joined){WEFT_NONE, WEFT_NONE, WEFT_NONE};
    uint32_t creator[CREATORS_MAX];
    if (j.last == WEFT_NONE)
        return json_null();
    const struct weft_model *m = h->m;
    const uint32_t promise = h->run_promise[j.last];
    const uint32_t creators = creators_of(m, promise, creator);
    const struct weft_wait *w = analyse_last_wait(h, promise);
    return CLI_OBJECT(CLI_WHO(m, promise), "running", (bool)(j.run != WEFT_NONE), "start_ns",
                      m->run[j.last].start_ns, "end_ns", m->run[j.last].end_ns, "creators",
                      CLI_LIST(i, creators, cli_json_who(m, creator[i])), "waited_for",
                      cli_json_who(m, w ? w->source : WEFT_NONE), "waits",
                      (bool)(w && w->end == WEFT_WAIT_OPEN));
}

json_t *cli_crash_json(const struct cli_crash *c, const struct weft_history *h)
{
    const struct weft_core_thread *t = thread_of(c);
    const struct now_thing *thing = c->now && c->now->things ? &c->now->thing[0] : NULL;
    const bool sent = t && was_sent(t);
    json_t *o =
        CLI_OBJECT("process", cli_json_if(c->core->process != 0, c->core->process), "program",
                   c->core->program, "arguments", c->core->arguments, "thread",
                   cli_json_if(t != NULL, t ? t->number : 0), "signal",
                   cli_json_if(t && t->signal, t ? (uint64_t)t->signal : 0), "signal_name",
                   t && t->signal ? cli_json_string(signal_name(t->signal).text) : json_null(),
                   "code", t && t->has_info ? json_integer(t->info.si_code) : json_null(),
                   "address", cli_json_if(t && has_address(t), t ? address_of(t) : 0), "sender",
                   cli_json_if(sent, sent ? (uint64_t)t->info.si_pid : 0), "frames",
                   thing ? cli_now_frames_json(thing) : json_array(), "cut", (bool)c->core->cut,
                   "promise", run_json(c, h));
    if (!h)
        CLI_SET(o, "no_trace", *c->no_trace ? cli_json_string(c->no_trace) : json_null(), "now",
                c->now ? cli_now_json(c->now) : json_null());
    return o;
}
