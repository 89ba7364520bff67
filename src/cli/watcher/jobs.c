/* SPDX-License-Identifier: ISC */
/* What a watcher has done by child processes. One of them copies the trace, compresses the copy and puts it into the folder;
 * it answers through a pipe. Another one explains what is in the folder, or is the user's command. They are never two of a
 * kind. A trace may be anything, so explanations have limits on time, memory and output. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "cli/memory.h"
#include "cli/watcher/parts.h"
#include "read/alive.h"
#include "symbols/worker.h"

#define SECOND INT64_C(1000000000)

enum {
    KEEP_SECONDS = 120,
    EXPLAIN_SECONDS = 60,
    TEXT_MOST = 4 << 20, /* bytes; a longer text is cut */
    RETRY_MOST = 3,      /* seconds between two tries while the disk is full */
    /* If a condition holds all the time, copies and explanations may each take one part in SHARE of a core; explanations on
     * average over TELL_SECONDS. */
    SHARE = 50,
    TELL_SECONDS = 250,
};

void cli_triggers_add(struct cli_triggers *t, const struct watch_trigger *trigger)
{
    const uint64_t begun =
        trigger->time_ns > trigger->took_ns ? trigger->time_ns - trigger->took_ns : 0;
    /* The list has room for the first one of each condition. */
    if (t->listed < LISTED_MAX && (!t->count[trigger->condition] || t->listed < LISTED_MAX / 2))
        t->list[t->listed++] = *trigger;
    t->count[trigger->condition]++;
    t->total++;
    if (begun && (!t->oldest_ns || begun < t->oldest_ns))
        t->oldest_ns = begun;
}

/* Puts back what could not be kept, before what came since. */
static void put_back(struct cli_watcher *w)
{
    struct cli_triggers *t = &w->kept;
    for (unsigned i = 0; i < w->waiting.listed && t->listed < LISTED_MAX; i++)
        t->list[t->listed++] = w->waiting.list[i];
    for (unsigned i = 0; i < WATCH_CONDITIONS_MAX; i++)
        t->count[i] += w->waiting.count[i];
    t->total += w->waiting.total;
    if (!t->oldest_ns)
        t->oldest_ns = w->waiting.oldest_ns;
    w->waiting = *t;
    *t = (struct cli_triggers){.listed = 0};
}

/* ---- Children ---- */

static void become_quiet(const struct cli_watcher *w)
{
    static const int ours[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                               SIGCHLD, SIGUSR1, SIGUSR2, SIGPIPE};
    setpgid(0, 0);
    for (unsigned i = 0; i < sizeof ours / sizeof *ours; i++)
        signal(ours[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, &w->before, NULL);
}

/* Ends what has taken too long. Returns true if the job has ended. */
static bool has_ended(struct cli_job *job, int *status)
{
    struct rusage used = {0};
    if (weft_monotonic_ns() >= job->until_ns) {
        kill(-job->pid, SIGKILL);
        kill(job->pid, SIGKILL);
        job->late = true;
    }
    const pid_t got = wait4(job->pid, status, WNOHANG, &used);
    if (got == 0)
        return false;
    if (got < 0)
        *status = 0;
    job->cpu_ns = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * SECOND +
                  (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
    kill(-job->pid, SIGKILL); /* what it has left behind */
    job->pid = 0;
    return true;
}

static void kill_job(struct cli_job *job)
{
    int status;
    if (!job->pid)
        return;
    job->until_ns = 0;
    while (!has_ended(job, &status))
        poll(NULL, 0, 1);
}

/* ---- Keeping ---- */

/* The condition that a kept recording is named by: the first that held. */
static const struct watch_condition *first_of(const struct cli_watcher *w,
                                              const struct cli_triggers *t)
{
    return &w->condition[t->listed ? t->list[0].condition : 0];
}

struct adding {
    const struct cli_watcher *w;
    struct cli_answer *a;
    uint64_t question;
};

static void add_samples(void *data, int copy)
{
    const struct adding *adding = data;
    cli_watcher_add_samples(adding->w, adding->question, copy, adding->a);
}

static void keep_in_child(struct cli_watcher *w, int answer)
{
    struct cli_answer a = {.rc = 0};
    struct adding adding = {w, &a, cli_sampler_ask(&w->sampler)};
    struct weft_error err = {.text = ""};
    const struct watch_folder f = {
        .path = w->to, .files_most = w->k->files_most, .bytes_most = w->k->bytes_most};
    become_quiet(w);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGTERM, SIG_IGN); /* systemd sends it to all; the watcher waits for this one */
    const struct watch_subject s = {.program = w->program,
                                    .pid = (uint32_t)w->pid,
                                    .real_ns = (uint64_t)weft_clock_ns(CLOCK_REALTIME),
                                    .reason = first_of(w, &w->kept)->text,
                                    .add = add_samples,
                                    .data = &adding};
    a.rc = watch_keep(&f, &w->in, &s, &a.kept, &err);
    snprintf(a.why, sizeof a.why, "%s", a.rc < 0 ? err.text : "");
    _exit(write(answer, &a, sizeof a) == sizeof a ? 0 : 1);
}

static void begin_keeping(struct cli_watcher *w)
{
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) < 0)
        return;
    w->kept = w->waiting;
    w->waiting = (struct cli_triggers){.listed = 0};
    const pid_t pid = fork();
    if (pid == 0)
        keep_in_child(w, pair[1]);
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        put_back(w);
        return;
    }
    w->answer = pair[0];
    w->keeping =
        (struct cli_job){.pid = pid, .until_ns = weft_monotonic_ns() + KEEP_SECONDS * SECOND};
}

/* ---- The text ---- */

static void put_time(FILE *f, uint64_t real_ns)
{
    const time_t seconds = (time_t)(real_ns / (uint64_t)SECOND);
    struct tm tm = {0};
    char text[40];
    gmtime_r(&seconds, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    fprintf(f, "%s.%03uZ", text, (unsigned)(real_ns / 1000000 % 1000));
}

static void put_text(FILE *f, const struct cli_watcher *w, const struct cli_kept *kept,
                     uint64_t bytes)
{
    const struct cli_triggers *t = &w->kept;
    unsigned shown[WATCH_CONDITIONS_MAX] = {0};
    fprintf(f, "%s\n  %s, process %d: %s of its trace (%s, compressed)\n", kept->name, w->program,
            (int)w->pid, weft_size(kept->source_bytes).text, weft_size(bytes).text);
    if (kept->samples)
        fprintf(f, "  with %s of where it used the CPU\n", cli_many(kept->samples, "sample").text);
    else if (*kept->without)
        fprintf(f, "  without samples: %s\n", kept->without);
    for (unsigned c = 0; c < w->conditions; c++) {
        if (!t->count[c])
            continue;
        fprintf(f, "\nCondition: %s\n", w->condition[c].text);
        for (unsigned i = 0; i < t->listed; i++) {
            const struct watch_trigger *x = &t->list[i];
            if (x->condition != c)
                continue;
            fputs("  ", f);
            put_time(f, x->real_ns);
            fprintf(f, "  %s", x->said);
            if (x->time_ns)
                fprintf(f, " (at %" PRIu64 ".%09" PRIu64 " s on the trace's clock)",
                        x->time_ns / (uint64_t)SECOND, x->time_ns % (uint64_t)SECOND);
            fputc('\n', f);
            shown[c]++;
        }
        if (t->count[c] > shown[c])
            fprintf(f, "  and %s more that are not listed\n",
                    weft_count(t->count[c] - shown[c]).text);
        if (t->count[c] > 1)
            fprintf(f, "  %s times since the last recording was kept\n",
                    weft_count(t->count[c]).text);
    }
}

static void path_of(const struct cli_watcher *w, const struct cli_kept *kept, const char *ending,
                    char *path, size_t size)
{
    snprintf(path, size, "%s/%s%s", w->to, kept->name, ending);
}

enum { PATH_ROOM = PATH_MAX + NAME_MAX + 16 };

/* Writes the first part of the text. On failure there is none. */
static void begin_text(struct cli_watcher *w, const struct cli_kept *kept, uint64_t bytes)
{
    char path[PATH_ROOM], part[PATH_ROOM];
    path_of(w, kept, ".txt", path, sizeof path);
    path_of(w, kept, ".txt.part", part, sizeof part);
    const int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    bool fine = false;
    if (f) {
        put_text(f, w, kept, bytes);
        fine = fflush(f) == 0;
        fine &= fclose(f) == 0;
    } else if (fd >= 0) {
        close(fd);
    }
    if (!fine || rename(part, path) < 0) {
        cli_watcher_say(w, CLI_SAY_WARNING, NULL, "%s: cannot be written: %s", cli_shown(path).text,
                        strerror(errno));
        unlink(part);
    }
}

/* ---- What was kept ---- */

static void enqueue(struct cli_watcher *w, const struct cli_kept *kept)
{
    if (w->queued == QUEUE_MAX) {
        cli_watcher_say(w, CLI_SAY_WARNING, NULL,
                        "%s is not explained: too many others were kept meanwhile", kept->name);
        return;
    }
    w->queue[(w->queue_first + w->queued++) % QUEUE_MAX] = *kept;
}

static void note_kept(struct cli_watcher *w, const struct cli_answer *a)
{
    struct cli_triggers *t = &w->kept;
    struct cli_kept kept = {
        .pid = w->pid, .source_bytes = a->kept.source_bytes, .samples = a->samples};
    const int64_t now = weft_monotonic_ns();
    snprintf(kept.name, sizeof kept.name, "%s", a->kept.name);
    snprintf(kept.reason, sizeof kept.reason, "%s", first_of(w, t)->text);
    snprintf(kept.without, sizeof kept.without, "%s", a->without);
    for (unsigned i = 0; i < t->listed && kept.promises < STORIES_MAX; i++)
        if (t->list[i].promise)
            kept.promise[kept.promises++] = t->list[i].promise;
    for (unsigned i = 0; i < w->conditions; i++)
        if (t->count[i]) {
            w->last_ns[i] = now;
            kept.conditions |= UINT64_C(1) << i;
        }
    w->last_any_ns = now;
    w->rest_ns = SHARE * w->keeping.cpu_ns;
    w->complained = false;
    w->retry_ns = w->pause_ns = 0;
    begin_text(w, &kept, a->kept.bytes);
    char more[64] = "";
    if (t->total > 1)
        snprintf(more, sizeof more, ", and %s more", weft_count(t->total - 1).text);
    cli_watcher_say(w, CLI_SAY_NOTICE, &kept, "kept %s/%s (%s): %s%s", cli_shown(w->to).text,
                    kept.name, weft_size(a->kept.bytes).text, t->listed ? t->list[0].said : "",
                    more);
    *t = (struct cli_triggers){.listed = 0};
    enqueue(w, &kept);
}

static void note_failure(struct cli_watcher *w, const char *why)
{
    const int64_t least = SECOND, most = RETRY_MOST * SECOND;
    w->pause_ns = !w->pause_ns ? least : 2 * w->pause_ns < most ? 2 * w->pause_ns : most;
    w->retry_ns = weft_monotonic_ns() + w->pause_ns;
    if (!w->complained)
        cli_watcher_say(
            w, CLI_SAY_ERROR, NULL,
            "%s: nothing can be kept: %s; this is tried again, as long as the trace has "
            "what happened",
            cli_shown(w->to).text, why);
    w->complained = true;
    put_back(w);
}

/* No room that may be used would be enough. */
static void note_too_large(struct cli_watcher *w, const char *why)
{
    const int64_t now = weft_monotonic_ns();
    cli_watcher_say(w, CLI_SAY_ERROR, NULL, "%s: not kept: %s: %s", cli_shown(w->to).text, why,
                    w->kept.listed ? w->kept.list[0].said : "");
    for (unsigned i = 0; i < w->conditions; i++)
        if (w->kept.count[i])
            w->last_ns[i] = now;
    w->last_any_ns = now;
    w->kept = (struct cli_triggers){.listed = 0};
}

static void end_keeping(struct cli_watcher *w)
{
    struct cli_answer a;
    int status;
    if (!has_ended(&w->keeping, &status))
        return;
    const bool answered = read(w->answer, &a, sizeof a) == sizeof a;
    close(w->answer);
    w->answer = -1;
    if (!answered)
        note_failure(w,
                     w->keeping.late ? "it took too long" : "the process that keeps it was killed");
    else if (a.rc == 0)
        note_kept(w, &a);
    else if (a.rc == WEFT_E_LIMIT)
        note_too_large(w, a.why);
    else
        note_failure(w, a.why);
}

/* ---- When it is time ---- */

/* The ring will soon have overwritten two thirds of itself since the first of what waits. */
static bool is_pressed(const struct cli_watcher *w, int64_t now)
{
    const double took = (double)(now - w->found_ns),
                 more = (double)(w->k->interval_ns + SECOND / 4);
    struct weft_facts_header facts;
    return took > 0 && weft_facts_read(w->in.fd, &facts) &&
           (double)(facts.overwritten_packets - w->overwritten) * (1 + more / took) >=
               (double)facts.event_packets * 2 / 3;
}

static bool is_due(const struct cli_watcher *w, int64_t now)
{
    const int64_t every = w->rest_ns > w->k->every_ns ? w->rest_ns : w->k->every_ns;
    for (unsigned i = 0; i < w->conditions; i++)
        if (w->waiting.count[i] && (!w->last_ns[i] || now - w->last_ns[i] >= every))
            return true;
    return now - w->last_any_ns >= SECOND / 4 && is_pressed(w, now);
}

/* ---- Explaining, and the command ---- */

static struct cli_kept *first_kept(struct cli_watcher *w)
{
    return &w->queue[w->queue_first];
}

/* Its conditions have had all explanations that they may have. One that seldom holds has not. */
static bool is_told_enough(const struct cli_watcher *w, const struct cli_kept *kept)
{
    const int64_t now = weft_monotonic_ns();
    for (unsigned i = 0; i < WATCH_CONDITIONS_MAX; i++)
        if (kept->conditions >> i & 1 && w->told_until_ns[i] <= now)
            return false;
    return true;
}

static void count_telling(struct cli_watcher *w, const struct cli_kept *kept)
{
    const int64_t least = weft_monotonic_ns() - TELL_SECONDS * SECOND;
    for (unsigned i = 0; i < WATCH_CONDITIONS_MAX; i++)
        if (kept->conditions >> i & 1)
            w->told_until_ns[i] = SHARE * w->telling.cpu_ns +
                                  (w->told_until_ns[i] > least ? w->told_until_ns[i] : least);
}

/* What is compressed is read from a temporary file. */
static void confine(const struct cli_kept *kept)
{
    const rlim_t bytes = kept->source_bytes + TEXT_MOST;
    const struct rlimit cpu = {EXPLAIN_SECONDS, EXPLAIN_SECONDS + 1}, file = {bytes, bytes},
                        core = {0, 0};
    setpriority(PRIO_PROCESS, 0, 19);
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_FSIZE, &file);
    setrlimit(RLIMIT_CORE, &core);
#ifndef SYMBOLS_SHADOWED
    const uint64_t half = cli_memory_available() / 2,
                   wanted = 24 * kept->source_bytes + CLI_MEMORY_SLACK;
    cli_memory_confine(wanted < half ? wanted : half);
#else
    (void)kept;
#endif
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, "1000", 4) != 4)
        errno = 0; /* it is one more process like others, then */
    cli_close(fd);
}

/* What is done with a kept recording, one after the other. */
struct stage {
    bool command;            /* the user's; else one of weft's, which adds to the text: */
    const char *argument[5]; /* with the name of the file at its place */
    char promise[24];
};

static const char file_here[] = "";

/* Returns false if there is no stage of that number. */
static bool stage_of(struct stage *s, const struct cli_kept *kept, unsigned number)
{
    static const struct stage whole = {.argument = {"explain", file_here}},
                              sampled = {.argument = {"profile", "--limit", "15", file_here}};
    const unsigned profiles = kept->samples ? 1 : 0;
    if (number == 0) {
        *s = whole;
    } else if (number <= profiles) {
        *s = sampled;
    } else if ((number -= 1 + profiles) < kept->promises) {
        *s = (struct stage){.argument = {"explain", file_here, "--promise"}};
        snprintf(s->promise, sizeof s->promise, "%" PRIu64, kept->promise[number]);
    } else {
        *s = (struct stage){.command = true};
        return number == kept->promises;
    }
    return true;
}

/* Becomes a command of weft. */
_Noreturn static void tell_in_child(struct cli_watcher *w, const struct cli_kept *kept,
                                    struct stage *s, int text)
{
    char path[PATH_ROOM];
    const char *argv[sizeof s->argument / sizeof *s->argument + 5] = {"weft"};
    unsigned count = 1;
    become_quiet(w);
    path_of(w, kept, "", path, sizeof path);
    for (unsigned i = 0; i < sizeof s->argument / sizeof *s->argument && s->argument[i]; i++)
        argv[count++] = s->argument[i] == file_here ? path : s->argument[i];
    if (*s->promise)
        argv[count++] = s->promise;
    if (strcmp(s->argument[0], "explain") == 0) { /* an index would be a file more in the folder */
        argv[count++] = "--index";
        argv[count++] = "never";
    }
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(text, STDOUT_FILENO);
    dup2(text, STDERR_FILENO);
    setenv("COLUMNS", "100", 1);
    confine(kept);
    execv("/proc/self/exe", (char *const *)argv);
    _exit(127);
}

/* Becomes the user's command. */
_Noreturn static void run_in_child(struct cli_watcher *w, const struct cli_kept *kept)
{
    char path[PATH_ROOM], number[32];
    become_quiet(w);
    path_of(w, kept, "", path, sizeof path);
    setenv("WEFT_FILE", path, 1);
    path_of(w, kept, ".txt", path, sizeof path);
    setenv("WEFT_TEXT", path, 1);
    setenv("WEFT_REASON", kept->reason, 1);
    snprintf(number, sizeof number, "%d", (int)kept->pid);
    setenv("WEFT_PID", number, 1);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", w->k->run, (char *)NULL);
    _exit(127);
}

/* Opens a copy of the text, to which explanations are added. -1: it cannot be. */
static int open_text(struct cli_watcher *w, const struct cli_kept *kept)
{
    char path[PATH_ROOM], bytes[8192];
    ssize_t n = 0;
    path_of(w, kept, ".txt", path, sizeof path);
    const int from = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    path_of(w, kept, ".txt.part", path, sizeof path);
    int to = from < 0 ? -1
                      : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_APPEND | O_CLOEXEC,
                             0600);
    if (to >= 0)
        flock(to, LOCK_EX | LOCK_NB); /* it is being written: watch_keep leaves it there */
    while (to >= 0 && (n = read(from, bytes, sizeof bytes)) > 0)
        if (write(to, bytes, (size_t)n) != n)
            n = -1, errno = ENOSPC;
    cli_close(from);
    if (n < 0) {
        cli_close(to);
        to = -1;
        unlink(path);
    }
    return to;
}

/* The text has all that it gets. */
static void end_text(struct cli_watcher *w, const struct cli_kept *kept)
{
    char path[PATH_ROOM], part[PATH_ROOM], file[PATH_ROOM];
    path_of(w, kept, "", file, sizeof file);
    path_of(w, kept, ".txt", path, sizeof path);
    path_of(w, kept, ".txt.part", part, sizeof part);
    cli_close(w->text);
    w->text = -1;
    /* It may have been removed meanwhile, for lack of room. */
    if (access(file, F_OK) < 0 || rename(part, path) < 0)
        unlink(part);
}

static void write_heading(int text, const struct cli_kept *kept, const struct stage *s)
{
    dprintf(text, "\n---- weft");
    for (unsigned i = 0; i < sizeof s->argument / sizeof *s->argument && s->argument[i]; i++)
        if (s->argument[i] != file_here)
            dprintf(text, " %s", s->argument[i]);
        else if (!*s->promise)
            dprintf(text, " %s", kept->name);
    dprintf(text, "%s%s ----\n\n", *s->promise ? " " : "", s->promise);
}

/* Returns false if there is nothing to do in this stage. */
static bool begin_stage(struct cli_watcher *w)
{
    const struct cli_kept *kept = first_kept(w);
    struct stage s;
    stage_of(&s, kept, w->stage);
    if (w->stage == 0)
        w->text = open_text(w, kept);
    if (w->stage == 0 && w->text >= 0 && is_told_enough(w, kept)) {
        dprintf(
            w->text,
            "\nNot explained, because its conditions hold all the time; weft explain does that.\n");
        end_text(w, kept);
    }
    if (s.command ? !w->k->run : w->text < 0)
        return false;
    if (!s.command)
        write_heading(w->text, kept, &s);
    const pid_t pid = fork();
    if (pid == 0 && s.command)
        run_in_child(w, kept);
    if (pid == 0)
        tell_in_child(w, kept, &s, w->text);
    w->telling =
        (struct cli_job){.pid = pid > 0 ? pid : 0,
                         .until_ns = weft_monotonic_ns() +
                                     (s.command ? w->k->run_timeout_ns : EXPLAIN_SECONDS * SECOND)};
    return pid > 0;
}

static void cut_text(int text)
{
    struct stat st;
    if (fstat(text, &st) == 0 && st.st_size > TEXT_MOST && ftruncate(text, TEXT_MOST) == 0)
        dprintf(text, "\n(the rest is left out)\n");
}

static void end_stage(struct cli_watcher *w, int status)
{
    const struct cli_kept *kept = first_kept(w);
    struct stage s;
    char why[96] = "";
    stage_of(&s, kept, w->stage);
    if (!s.command)
        count_telling(w, kept);
    if (w->telling.late)
        snprintf(why, sizeof why, "was killed, because it took too long");
    else if (WIFSIGNALED(status))
        snprintf(why, sizeof why, "was killed by signal %d", WTERMSIG(status));
    else if (s.command && WEXITSTATUS(status))
        snprintf(why, sizeof why, "has ended with status %d", WEXITSTATUS(status));
    if (*why && s.command)
        cli_watcher_say(w, CLI_SAY_WARNING, NULL, "--run: the command for %s %s", kept->name, why);
    else if (*why)
        dprintf(w->text, "\n(weft %s %s)\n", s.argument[0], why);
    if (!s.command)
        cut_text(w->text);
}

static void next_stage(struct cli_watcher *w)
{
    struct stage s;
    const bool more = stage_of(&s, first_kept(w), ++w->stage);
    if (s.command && w->text >= 0)
        end_text(w, first_kept(w));
    if (!more) {
        w->stage = 0;
        w->queue_first = (w->queue_first + 1) % QUEUE_MAX;
        w->queued--;
    }
}

static void go_on_telling(struct cli_watcher *w)
{
    int status;
    if (w->telling.pid && has_ended(&w->telling, &status)) {
        end_stage(w, status);
        next_stage(w);
    }
    while (!w->telling.pid && w->queued && !w->stop && !begin_stage(w))
        next_stage(w);
}

/* ---- All ---- */

void cli_watcher_jobs(struct cli_watcher *w, bool all)
{
    const int64_t now = weft_monotonic_ns();
    if (w->keeping.pid)
        end_keeping(w);
    if (!w->keeping.pid && w->waiting.total && now >= w->retry_ns && (all || is_due(w, now)))
        begin_keeping(w);
    go_on_telling(w);
}

bool cli_watcher_idle(const struct cli_watcher *w)
{
    return !w->keeping.pid && !w->telling.pid && !w->waiting.total && (!w->queued || w->stop);
}

void cli_watcher_kill(struct cli_watcher *w)
{
    kill_job(&w->keeping);
    kill_job(&w->telling);
    if (w->text >= 0)
        end_text(w, first_kept(w));
    cli_close(w->answer);
    w->answer = -1;
}
