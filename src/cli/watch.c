/* SPDX-License-Identifier: ISC */
/* weft watch: keeps the last seconds of a recording process when something happens. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live.h"
#include "cli/watcher/watcher.h"
#include "sample/file.h"

#define SEARCH_NS 500000000

static struct {
    struct cli_keep keep;
    const char *name;
    bool wait, follow, sized;
} request = {.keep = CLI_KEEP_DEFAULTS};

static const struct cli_option options[] = {
    CLI_TEXT("name", request.name, "PROGRAM",
             "instead of PID: a process of that program that records, and then the next one",
             .letter = 'n'),
    CLI_FLAG("wait", request.wait, "wait until the process, or a process of that name, records",
             .letter = 'w'),
    CLI_FLAG("follow", request.follow,
             "when the process has ended, go on with the one that takes its place: that records "
             "into the same trace, or is of the same program",
             .letter = 'f'),
    CLI_TEXT("conditions", request.keep.file, "FILE",
             "read conditions from FILE, one per line, with # before comments; SIGHUP reads it "
             "again",
             .letter = 'c', .completes = CLI_FILES),
    CLI_KEEP_OPTIONS(request.keep, ""),
    CLI_NUMBER("sample", request.keep.sample_hz, "HZ",
               "also look HZ times a second (99) where the process is, as weft sample --low does: "
               "what is kept says where the CPU went in these seconds, by function and by promise",
               .alone = "99", .least = 1, .most = 100000),
    CLI_SIZE("sample-size", request.keep.sample_bytes, "SIZE",
             "with --sample: how much memory the samples may take, from 256K to 1G; the oldest "
             "are overwritten",
             .least = WEFT_SAMPLES_RING_LEAST, .most = UINT64_C(1) << 30, .given = &request.sized,
             .shown = "4M"),
    CLI_TEXT("log", request.keep.log, "FILE",
             "append messages to FILE instead of standard error; SIGHUP opens it again",
             .completes = CLI_FILES),
    CLI_END,
};

/* ---- Which process ---- */

static bool read_link(pid_t pid, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    const ssize_t n = readlink(path, text, size - 1);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* By the name of its file, or what it calls itself, as in argv[0]. */
static bool is_called(pid_t pid, const char *name)
{
    char text[PATH_MAX], path[64];
    if (read_link(pid, text, sizeof text) && strcmp(cli_base(text), name) == 0)
        return true;
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *f = fopen(path, "re");
    const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    const char *second = text + strlen(text) + 1; /* of an interpreter: the script */
    return n && (strcmp(cli_base(text), name) == 0 ||
                 (second < text + n && strcmp(cli_base(second), name) == 0));
}

/* A process of that name that records; 0: there is none. */
static pid_t find_by_name(const char *name, struct weft_input *in, char *path, size_t size)
{
    struct weft_error err;
    const struct dirent *entry;
    DIR *dir = opendir("/proc");
    pid_t found = 0;
    while (dir && !found && (entry = readdir(dir))) {
        const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 0 && pid != getpid() && is_called(pid, name) &&
            cli_live_open(in, pid, path, size, &err) == 0)
            found = pid;
    }
    if (dir)
        closedir(dir);
    return found;
}

/* What takes the place of a process that has ended. */
struct place {
    char path[PATH_MAX], program[PATH_MAX];
};

static pid_t find_in_place(const struct place *p, struct weft_input *in, char *path, size_t size)
{
    struct weft_error err;
    uint32_t pid;
    if (*p->path == '/' && cli_what_stands(p->path, &pid) == CLI_LIVE &&
        cli_live_open(in, (pid_t)pid, path, size, &err) == 0)
        return (pid_t)pid;
    return *p->program ? find_by_name(p->program, in, path, size) : 0;
}

static void note_place(struct place *p, pid_t pid, const char *path)
{
    char program[PATH_MAX];
    snprintf(p->path, sizeof p->path, "%s", path);
    snprintf(p->program, sizeof p->program, "%s",
             read_link(pid, program, sizeof program) ? cli_base(program) : "");
}

/* ---- Running ---- */

static void check(int operands, char **operand, pid_t *pid)
{
    int first = 0;
    if (!request.name && operands && cli_live_process(operand[0], pid))
        first = 1;
    else if (!request.name)
        cli_misuse("watch",
                   operands ? "\"%s\" is no process id; give one, or --name PROGRAM"
                            : "no process is given: PID, or --name PROGRAM",
                   operands ? cli_shown(operand[0]).text : "");
    if (request.sized && !request.keep.sample_hz)
        cli_misuse("watch", "--sample-size is for --sample");
    if (operands - first > (int)WATCH_CONDITIONS_MAX)
        cli_misuse("watch", "there are more than %u conditions", WATCH_CONDITIONS_MAX);
    for (int i = first; i < operands; i++)
        request.keep.condition[request.keep.conditions++] = operand[i];
    if (!request.keep.conditions && !request.keep.file && !getenv("WEFT_KEEP"))
        cli_misuse("watch", "no condition is given, as in 'GET /* > 500ms'; nothing would be kept");
}

static bool is_gone(pid_t pid)
{
    return kill(pid, 0) < 0 && errno == ESRCH;
}

struct search {
    pid_t pid;
    const struct place *place; /* of the process before; NULL: there was none */
    bool by_name;              /* if a name is given */
    bool wait;
};

static pid_t find_once(const struct search *s, struct weft_input *in, char *path,
                       struct weft_error *err)
{
    pid_t found = 0;
    if (s->place)
        found = find_in_place(s->place, in, path, PATH_MAX);
    if (!found && s->by_name && request.name)
        found = find_by_name(request.name, in, path, PATH_MAX);
    else if (!found && !s->place && cli_live_open(in, s->pid, path, PATH_MAX, err) == 0)
        found = s->pid;
    if (found && cli_live_check_size(in, 0, err) < 0) {
        weft_input_close(in);
        found = 0;
    }
    return found;
}

/* Finds the process to watch. Returns 0 and an exit status if there is none. */
static pid_t find(struct cli_watcher *w, const struct search *s, struct weft_input *in, char *path,
                  int *status)
{
    const bool by_name = s->by_name && request.name;
    for (;;) {
        struct weft_error err = {.offset = WEFT_NO_OFFSET};
        char name[32];
        const pid_t found = find_once(s, in, path, &err);
        if (found)
            return found;
        if (!s->wait || (!s->place && !by_name && is_gone(s->pid))) {
            snprintf(name, sizeof name, "%d", (int)s->pid);
            *status = !s->wait && by_name
                          ? cli_fail(request.name, "no process of that name records")
                      : !s->wait ? cli_fail_by(name, &err)
                                 : CLI_FAILED;
            return 0;
        }
        if (!cli_watcher_wait(w, SEARCH_NS)) {
            *status = CLI_DONE;
            return 0;
        }
    }
}

static int run(int operands, char **operand)
{
    char path[PATH_MAX];
    struct place place;
    pid_t pid = 0;
    int status = CLI_DONE;
    check(operands, operand, &pid);
    struct cli_watcher *w = cli_watcher_new(&request.keep, "watch");
    cli_watcher_begin(w);
    struct cli_watcher_target t = {.control = -1, .path = path};
    const bool goes_on = request.follow || request.name;
    enum cli_watcher_end end = CLI_WATCH_ENDED;
    for (bool first = true; first || end == CLI_WATCH_PAUSED || (end == CLI_WATCH_ENDED && goes_on);
         first = false) {
        const struct search search = {.pid = end == CLI_WATCH_PAUSED ? t.pid : pid,
                                      .place = end == CLI_WATCH_ENDED && !first ? &place : NULL,
                                      .by_name = end != CLI_WATCH_PAUSED,
                                      .wait = !first || request.wait};
        t.from_start = !first;
        t.pid = find(w, &search, &t.in, path, &status);
        if (!t.pid && end == CLI_WATCH_PAUSED) { /* it is gone */
            status = CLI_DONE;
            end = CLI_WATCH_ENDED;
            continue;
        }
        if (!t.pid)
            break;
        note_place(&place, t.pid, path);
        end = cli_watcher_follow(w, &t);
    }
    cli_watcher_finish(w);
    cli_watcher_free(w);
    return status;
}

const struct cli_command cli_watch = {
    .name = "watch",
    .summary = "keep the last seconds of a process when something happens",
    .usage = "[OPTION…] PID|--name PROGRAM CONDITION…",
    .about =
        "Watches a process that records, and when a condition holds, keeps what it has recorded "
        "last, compressed, in a folder, with a text beside it that says what happened and what "
        "weft explain finds. The process is not touched and does not notice. A condition is one "
        "of:\n"
        "  LABEL > TIME                a promise of that label or type takes longer\n"
        "  pending LABEL > TIME        … is pending longer\n"
        "  failed LABEL                … fails\n"
        "  loop > TIME                 an event loop is in one turn for longer\n"
        "  counter NAME > N            a counter is above N; also <\n"
        "  rate [failed] LABEL > N/s   so many end, or fail, in a second (/min, /h), on average "
        "over 10 s; over TIME and for TIME may follow\n"
        "  signal USR1                 weft watch itself gets that signal\n"
        "  call                        the program calls weft_snapshot\n"
        "  crash                       the process ends by a signal, or without stopping its "
        "recording\n"
        "  exit                        … with a status other than 0, as far as that is known\n"
        "In a LABEL or NAME, * stands for anything and ? for one character; a > in it needs "
        "quotes around the label, or a backslash before it. Without conditions, those of the "
        "environment variable WEFT_KEEP are used, separated by line ends or semicolons.\n",
    .options = options,
    .examples = "weft watch 4711 'GET /* > 500ms' 'loop > 200ms' crash\n"
                "weft watch --name server --wait --to /var/lib/weft -c /etc/weft/server.conditions",
    .missing = "no process is given: PID, or --name PROGRAM",
    .least = 0,
    .completes = CLI_PROCESSES,
    .run = run,
    .state = CLI_STATE(request),
};
