/* SPDX-License-Identifier: ISC */
#include "cli/watcher/watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "cli/ending.h"
#include "cli/live.h"
#include "cli/watcher/parts.h"
#include "read/alive.h"

#define SECOND INT64_C(1000000000)

enum {
    INTERVAL_LEAST = 20000000, /* ns between looks, while events are lost */
    NICE = 10,
    FULL_SECONDS =
        10, /* how long it is tried to keep what waits when the process has ended, or weft is to end */
};

/* ---- Conditions ---- */

static void add_condition(struct cli_watcher *w, struct watch_condition *list, unsigned *count,
                          const char *text, const char *from, bool fatal, bool *fine)
{
    struct watch_mistake m;
    char said[PATH_MAX + WATCH_TEXT_BYTES + 700];
    if (*count < WATCH_CONDITIONS_MAX && watch_condition_parse(&list[*count], text, &m)) {
        ++*count;
        return;
    }
    if (*count == WATCH_CONDITIONS_MAX)
        snprintf(said, sizeof said, "%s: there are more than %u conditions", from,
                 WATCH_CONDITIONS_MAX);
    else
        snprintf(said, sizeof said, "%s: \"%s\": at character %zu: %s", from, cli_shown(text).text,
                 m.at + 1, m.why);
    *fine = false;
    if (fatal)
        cli_misuse(w->command, "%s", said);
    cli_watcher_say(w, CLI_SAY_ERROR, NULL, "%s", said);
}

/* Those of a text, which are separated by line ends and semicolons, except in quotes and comments. */
static void add_from_environment(struct cli_watcher *w, struct watch_condition *list,
                                 unsigned *count, const char *text, bool *fine)
{
    char one[2 * WATCH_TEXT_BYTES];
    while (*text) {
        char quote = 0;
        size_t n = 0;
        for (; text[n] && text[n] != '\n' && (quote || text[n] != ';'); n++) {
            if (text[n] == '\\' && text[n + 1] && text[n + 1] != '\n')
                n++;
            else if (quote ? text[n] == quote : text[n] == '"' || text[n] == '\'')
                quote = quote ? 0 : text[n];
        }
        snprintf(one, sizeof one, "%.*s", (int)(n < sizeof one ? n : sizeof one - 1), text);
        if (one[strspn(one, " \t")])
            add_condition(w, list, count, one, "WEFT_KEEP", true, fine);
        text += n + (text[n] != 0);
    }
}

static bool add_from_file(struct cli_watcher *w, struct watch_condition *list, unsigned *count,
                          bool fatal, bool *fine)
{
    char *line = NULL, from[PATH_MAX + 32];
    size_t room = 0;
    FILE *f = fopen(w->k->file, "re");
    if (!f) {
        cli_watcher_say(w, CLI_SAY_ERROR, NULL, "%s: cannot be opened: %s",
                        cli_shown(w->k->file).text, strerror(errno));
        if (fatal)
            exit(CLI_FAILED);
        return false;
    }
    for (unsigned n = 1; getline(&line, &room, f) > 0; n++) {
        line[strcspn(line, "\r\n")] = 0;
        const char first = line[strspn(line, " \t")];
        snprintf(from, sizeof from, "%s, line %u", cli_shown(w->k->file).text, n);
        if (first && first != '#')
            add_condition(w, list, count, line, from, fatal, fine);
    }
    free(line);
    fclose(f);
    return true;
}

/* Reads all conditions. fatal: exits if one is wrong; else leaves everything as it is. */
static bool read_conditions(struct cli_watcher *w, bool fatal)
{
    static struct watch_condition list[WATCH_CONDITIONS_MAX];
    const struct cli_keep *k = w->k;
    const char *environment = getenv("WEFT_KEEP");
    unsigned count = 0;
    bool fine = true;
    for (unsigned i = 0; i < k->conditions; i++)
        add_condition(w, list, &count, k->condition[i], "condition", fatal, &fine);
    if (k->file && !add_from_file(w, list, &count, fatal, &fine))
        return false;
    if (!k->conditions && !k->file && environment)
        add_from_environment(w, list, &count, environment, &fine);
    if (!fine)
        return false;
    memcpy(w->condition, list, sizeof list);
    w->conditions = count;
    return true;
}

/* ---- Signals ---- */

static void take_signals(struct cli_watcher *w)
{
    sigset_t mask;
    static const int ours[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCHLD};
    sigemptyset(&mask);
    for (unsigned i = 0; i < sizeof ours / sizeof *ours; i++)
        sigaddset(&mask, ours[i]);
    for (unsigned i = 0; i < w->conditions; i++)
        if (w->condition[i].kind == WATCH_SIGNAL)
            sigaddset(&mask, w->condition[i].signal);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    w->mask = mask;
    const int fd = signalfd(w->signals, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    w->signals = w->signals < 0 ? fd : w->signals;
}

/* SIGHUP: the conditions and the log may be others. */
static void read_again(struct cli_watcher *w)
{
    /* What waits belongs to the old conditions. */
    const bool waits = w->waiting.total || w->keeping.pid;
    cli_watcher_log(w);
    if (waits)
        cli_watcher_jobs(w, true);
    while (w->keeping.pid && !w->stop) {
        poll(&(struct pollfd){.fd = w->answer, .events = POLLIN}, 1, 1000);
        cli_watcher_jobs(w, false);
    }
    if (!w->k->file)
        return;
    if (!read_conditions(w, false)) {
        cli_watcher_say(w, CLI_SAY_ERROR, NULL, "the conditions stay as they were");
        return;
    }
    w->waiting = (struct cli_triggers){.listed = 0};
    memset(w->last_ns, 0, sizeof w->last_ns);
    memset(w->told_until_ns, 0, sizeof w->told_until_ns);
    take_signals(w);
    watch_conditions(w->watch, w->condition, w->conditions);
    cli_watcher_say(w, CLI_SAY_INFO, NULL, "%s: %s", cli_shown(w->k->file).text,
                    cli_many(w->conditions, "condition").text);
}

static void on_signals(struct cli_watcher *w)
{
    struct signalfd_siginfo s;
    while (read(w->signals, &s, sizeof s) == sizeof s) {
        const int number = (int)s.ssi_signo;
        if (number == SIGHUP) {
            read_again(w);
        } else if (number == SIGTERM || number == SIGINT || number == SIGQUIT) {
            w->hurry = w->stop;
            w->stop = true;
        } else if (number != SIGCHLD) {
            watch_signalled(w->watch, number);
        }
    }
}

/* ---- Looking ---- */

static void found(void *data, const struct watch_trigger *t)
{
    struct cli_watcher *w = data;
    struct weft_facts_header facts;
    if (!w->waiting.total) {
        w->overwritten = weft_facts_read(w->in.fd, &facts) ? facts.overwritten_packets : 0;
        w->found_ns = weft_monotonic_ns();
    }
    cli_triggers_add(&w->waiting, t);
}

struct follow {
    struct cli_watcher *w;
    int process, control; /* descriptors, or -1 */
    bool ended, told;     /* told: status is how */
    bool stopped;         /* the process goes on, and records into this trace no more */
    int status;
    int64_t interval_ns, next_ns;
    uint64_t lost;
    bool complained;
};

static void look(struct follow *f)
{
    struct cli_watcher *w = f->w;
    struct weft_error err;
    const int rc = live_look(w->live, &err);
    if (rc < 0 && !f->complained)
        cli_watcher_say(w, CLI_SAY_WARNING, NULL, "process %d: its trace %s", (int)w->pid,
                        err.text);
    f->complained = rc < 0;
    if (rc == 0)
        watch_look(w->watch);
    const uint64_t lost = live_totals(w->live)->lost;
    f->interval_ns = lost > f->lost ? f->interval_ns / 2 : f->interval_ns + f->interval_ns / 8;
    if (f->interval_ns < INTERVAL_LEAST)
        f->interval_ns = INTERVAL_LEAST;
    if (f->interval_ns > w->k->interval_ns)
        f->interval_ns = w->k->interval_ns;
    f->lost = lost;
}

/* The parent says how the process has ended; or it is gone itself. */
static void on_control(struct follow *f)
{
    f->told = read(f->control, &f->status, sizeof f->status) == sizeof f->status;
    f->ended = true;
    f->control = -1;
}

/* Waits until the next look, for whatever comes first. */
static void wait_for_something(struct follow *f)
{
    struct cli_watcher *w = f->w;
    const int64_t left = f->next_ns - weft_monotonic_ns();
    struct timespec timeout = {.tv_sec = left > 0 ? left / SECOND : 0,
                               .tv_nsec = left > 0 ? left % SECOND : 0};
    struct pollfd fds[] = {{.fd = w->signals, .events = POLLIN},
                           {.fd = f->process, .events = POLLIN},
                           {.fd = f->control, .events = POLLIN},
                           {.fd = w->answer, .events = POLLIN},
                           {.fd = w->sampler.said, .events = POLLIN}};
    if (ppoll(fds, sizeof fds / sizeof *fds, &timeout, NULL) <= 0)
        return;
    if (fds[0].revents)
        on_signals(w);
    if (fds[1].revents)
        f->ended = f->control < 0;
    if (fds[1].revents)
        f->process = -1; /* without control, the loop ends; with it, its word is waited for */
    if (fds[2].revents)
        on_control(f);
    if (fds[4].revents)
        cli_watcher_hear(w);
}

static bool has_stopped(const struct cli_watcher *w)
{
    struct weft_facts_header facts;
    return weft_facts_read(w->in.fd, &facts) && facts.state != WEFT_TRACE_RECORDING;
}

/* How the process has ended, as its trace says it. */
static void judge(struct follow *f)
{
    struct cli_watcher *w = f->w;
    const bool stopped = has_stopped(w);
    bool crashed = !stopped, failed = false;
    char how[96] = "without stopping its recording";
    if (f->told && WIFSIGNALED(f->status)) {
        crashed = true;
        snprintf(how, sizeof how, "by signal %d (%s)", WTERMSIG(f->status),
                 strsignal(WTERMSIG(f->status)));
    } else if (f->told && WIFEXITED(f->status)) {
        failed = WEXITSTATUS(f->status) != 0;
        snprintf(how, sizeof how, "with status %d%s", WEXITSTATUS(f->status),
                 stopped ? "" : ", without stopping its recording");
    } else if (stopped) {
        snprintf(how, sizeof how, "after stopping its recording");
    }
    watch_ended(w->watch, crashed, failed, how);
}

/* Keeps what waits. Explanations may still be made afterwards. */
static void finish(struct cli_watcher *w)
{
    const int64_t until = weft_monotonic_ns() + FULL_SECONDS * SECOND;
    cli_watcher_jobs(w, true);
    while ((w->keeping.pid || w->waiting.total) && !w->hurry) {
        struct pollfd fds[] = {{.fd = w->signals, .events = POLLIN},
                               {.fd = w->answer, .events = POLLIN}};
        if (w->waiting.total && !w->keeping.pid && weft_monotonic_ns() > until)
            break;
        if (poll(fds, 2, 100) > 0 && fds[0].revents)
            on_signals(w);
        cli_watcher_jobs(w, true);
    }
    if (w->waiting.total)
        cli_watcher_say(w, CLI_SAY_ERROR, NULL, "%s: not kept: %s", cli_shown(w->to).text,
                        w->waiting.listed ? w->waiting.list[0].said : "");
    w->waiting = (struct cli_triggers){.listed = 0};
}

/* What the trace says of its program, or the system of the process. */
static void name_program(struct cli_watcher *w)
{
    const struct weft_reader *reader = live_reader(w->live);
    const char *program = reader ? weft_reader_facts(reader)->process.program : NULL;
    const struct cli_shown shown = cli_shown(cli_base(program ? program : "program"));
    snprintf(w->program, sizeof w->program, "%.63s", shown.text);
}

static bool open_live(struct cli_watcher *w, struct cli_watcher_target *t)
{
    struct weft_error err;
    struct live_options o = {
        .calls = watch_calls(w->watch), .rows_max = 1, .from_start = t->from_start};
    struct weft_input in = t->in;
    in.fd = fcntl(t->in.fd, F_DUPFD_CLOEXEC, 3);
    w->in = t->in;
    w->pid = t->pid;
    t->in.fd = -1;
    if (in.fd < 0 || live_open(&w->live, &in, &o, &err) < 0) {
        cli_watcher_say(w, CLI_SAY_ERROR, NULL, "process %d: its trace cannot be read",
                        (int)t->pid);
        weft_input_close(&w->in);
        return false;
    }
    watch_process(w->watch, w->live, t->from_start);
    return true;
}

enum cli_watcher_end cli_watcher_follow(struct cli_watcher *w, struct cli_watcher_target *t)
{
    struct follow f = {.w = w,
                       .control = t->control,
                       .interval_ns = w->k->interval_ns,
                       .process = (int)syscall(SYS_pidfd_open, t->pid, 0)};
    const int process = f.process;
    f.ended = process < 0 && t->control < 0;
    if (!open_live(w, t))
        return w->stop ? CLI_WATCH_STOPPED : CLI_WATCH_ENDED;
    look(&f);
    name_program(w);
    if (!t->quiet)
        cli_watcher_say(w, CLI_SAY_INFO, NULL, "watching %s, process %d (%s): %s", w->program,
                        (int)w->pid, cli_shown(t->path).text,
                        cli_many(w->conditions, "condition").text);
    w->samples = t->samples;
    cli_watcher_sample(w);
    while (!f.ended && !f.stopped && !w->stop) {
        cli_watcher_jobs(w, false);
        f.next_ns = weft_monotonic_ns() + f.interval_ns;
        wait_for_something(&f);
        f.stopped = !f.ended && f.control < 0 && f.process >= 0 && has_stopped(w);
        look(&f);
    }
    if (f.ended)
        judge(&f);
    const bool stopped = f.stopped;
    finish(w);
    cli_watcher_sample_end(w);
    watch_process(w->watch, NULL, false);
    live_close(w->live);
    w->live = NULL;
    weft_input_close(&w->in);
    cli_close(process);
    return w->stop ? CLI_WATCH_STOPPED : stopped ? CLI_WATCH_PAUSED : CLI_WATCH_ENDED;
}

bool cli_watcher_wait(struct cli_watcher *w, int64_t ns)
{
    struct pollfd fd = {.fd = w->signals, .events = POLLIN};
    const struct timespec timeout = {.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};
    cli_watcher_jobs(w, false);
    if (ppoll(&fd, 1, &timeout, NULL) > 0)
        on_signals(w);
    return !w->stop;
}

void cli_watcher_finish(struct cli_watcher *w)
{
    cli_watcher_jobs(w, true);
    while (!w->stop && !cli_watcher_idle(w))
        cli_watcher_wait(w, SECOND / 10);
}

/* ---- All ---- */

struct cli_watcher *cli_watcher_new(const struct cli_keep *k, const char *command)
{
    struct cli_watcher *w = calloc(1, sizeof *w);
    if (!w)
        exit(cli_fail(command, "out of memory"));
    w->k = k;
    w->command = command;
    w->signals = w->answer = w->text = -1;
    w->sampler = (struct cli_sampler)CLI_SAMPLER_NONE;
    read_conditions(w, true);
    if (!cli_absolute(w->to, sizeof w->to, k->to ? k->to : "weft-kept", getpid()))
        cli_misuse(command, "the name of the folder is too long");
    if (watch_open(&w->watch, w->condition, w->conditions, found, w) < 0)
        exit(cli_fail(command, "out of memory"));
    return w;
}

unsigned cli_watcher_conditions(const struct cli_watcher *w)
{
    return w->conditions;
}

unsigned cli_watcher_signals(const struct cli_watcher *w, int *signal, unsigned room)
{
    unsigned count = 0;
    for (unsigned i = 0; i < w->conditions && count < room; i++)
        if (w->condition[i].kind == WATCH_SIGNAL)
            signal[count++] = w->condition[i].signal;
    return count;
}

void cli_watcher_beside(struct cli_watcher *w, const char *path)
{
    if (!w->k->to)
        snprintf(w->to, sizeof w->to, "%.*sweft-kept", (int)(cli_base(path) - path), path);
}

void cli_watcher_begin(struct cli_watcher *w)
{
    sigprocmask(SIG_SETMASK, NULL, &w->before);
    take_signals(w);
    setpriority(PRIO_PROCESS, 0, NICE);
    if (!cli_watcher_log(w))
        exit(CLI_FAILED);
}

void cli_watcher_free(struct cli_watcher *w)
{
    if (!w)
        return;
    cli_watcher_kill(w);
    cli_watcher_sample_end(w);
    watch_free(w->watch);
    cli_close(w->signals);
    if (w->log)
        fclose(w->log);
    free(w);
}
