/* SPDX-License-Identifier: ISC */
/* weft ctl: switches the recording in a running process. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/common.h"
#include "cli/late/inject.h"
#include "cli/late/late.h"
#include "cli/late/node.h"
#include "cli/live.h"
#include "cli/summary.h"
#include "cli/target.h"
#include "read/alive.h"

#define DEFAULT_WAIT_NS INT64_C(2000000000)
#define CALL_NS INT64_C(100000000) /* before a process is interrupted that makes no call */
#define MIN_BYTES (UINT64_C(64) << 10)
#define MAX_BYTES (UINT64_C(1) << 40)
#define NAMES_TRIED 1000

struct order {
    int64_t began_ns; /* CLOCK_MONOTONIC */
    const char *who, *what;
    const char *output;
    uint64_t bytes;
    int64_t wait_ns;
    bool by_trace;
    uint8_t uuid[16]; /* of the trace, if one was given */
    bool interrupted; /* it did not come to its next call */
    int64_t stopped_ns;
    char why_not[160]; /* it could not be interrupted */
};

static struct order request = {.what = "status", .wait_ns = DEFAULT_WAIT_NS};

static const struct cli_option options[] = {
    CLI_TEXT("output", request.output, "FILE", "the trace; it must not be there", .letter = 'o',
             .shown = "weft-PROCESS.trace", .completes = "weft|trace"),
    CLI_SIZE("size", request.bytes, "SIZE", "of the trace, from 64K to 1T", .letter = 's',
             .least = MIN_BYTES, .most = MAX_BYTES, .shown = "64M"),
    CLI_TIME("wait", request.wait_ns, "TIME", "for the process; 0: it is only asked", .letter = 'w',
             .shown = "2s"),
    CLI_END,
};

/* ---- What the process does ---- */

/* One recorder of the process. */
struct state {
    struct weft_record_control c;
    bool recording, paused, asked;
    struct weft_facts_header facts; /* if it records or is paused */
    char path[PATH_MAX + 64];       /* of the trace, or "" */
    int fd;                         /* the trace, to be read, or -1 */
};

static void close_state(struct state *s)
{
    cli_close(s->fd);
    s->fd = -1;
}

/* Reads its state. False: the process is gone. */
static bool read_state(const struct cli_target *t, unsigned recorder, struct state *s)
{
    bool found = false;
    *s = (struct state){.fd = -1};
    for (unsigned i = 0; i < t->copies; i++) {
        struct weft_record_control c;
        if (t->copy[i].recorder != recorder)
            continue;
        if (!cli_target_control(t, &t->copy[i], &c))
            return false;
        /* Of several copies that share a word, one does the work. */
        if (!found || c.facts || (!s->c.facts && c.answer.number))
            s->c = c;
        found = true;
    }
    uint64_t facts = (uintptr_t)s->c.facts;
    s->asked = s->c.request.number && s->c.request.number != s->c.answer.number &&
               s->c.request.pid == (uint32_t)t->inner_pid;
    if (facts && cli_target_read(t, facts, &s->facts, sizeof s->facts)) {
        s->recording = s->c.on;
        s->paused = !s->c.on;
        s->fd = cli_live_find(t->pid, facts, s->path, sizeof s->path);
    }
    return true;
}

static void print_time(uint64_t real_ns)
{
    char text[64];
    time_t seconds = (time_t)(real_ns / 1000000000);
    struct tm tm;
    int64_t ago = weft_clock_ns(CLOCK_REALTIME) - (int64_t)real_ns;
    if (localtime_r(&seconds, &tm) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm))
        printf("  since    %s, for %s\n", text, weft_duration(ago > 0 ? ago : 0).text);
}

static void print_events(int fd)
{
    char name[64];
    struct cli_summary s = {.reader = NULL};
    struct stat st;
    struct weft_error err;
    const struct weft_input in = {.fd = fd, .size = fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0};
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (cli_live_check_size(&in, 0, &err) == 0 && cli_summary_open(&s, name) &&
        cli_summary_count(&s)) {
        const struct weft_reader_facts *f = weft_reader_facts(s.reader);
        printf("  events   %s kept, %s overwritten, %s discarded\n",
               weft_count(s.events_total).text, weft_count(f->overwritten_events).text,
               weft_count(f->discarded_events).text);
    }
    cli_summary_close(&s);
}

static void print_process(const struct cli_target *t)
{
    char number[16];
    const struct passwd *user = getpwuid(t->user);
    snprintf(number, sizeof number, "%u", (unsigned)t->user);
    printf("%s: %s, user %s\n", t->name, cli_shown(t->program).text,
           user ? cli_shown(user->pw_name).text : number);
}

static void print_state(const struct state *s)
{
    printf("  state    %s%s\n",
           s->recording ? "recording"
           : s->paused  ? "paused"
                        : "not recording",
           s->asked ? "; asked to change with its next call" : "");
    if (s->recording || s->paused) {
        print_time(s->facts.start_real_ns);
        printf("  into     %s\n", *s->path ? cli_shown(s->path).text : "memory of its own");
    }
    if (s->fd >= 0)
        print_events(s->fd);
}

/* Returns true if that recorder writes the given trace, or if none was given. */
static bool is_meant(const struct order *o, const struct state *s)
{
    return !o->by_trace || ((s->recording || s->paused) &&
                            memcmp(s->facts.packet.uuid, o->uuid, sizeof o->uuid) == 0);
}

static int tell_gone(const struct cli_target *t)
{
    cli_target_gone(t);
    return CLI_FAILED;
}

static int tell_other(const struct order *o, const struct cli_target *t)
{
    return cli_fail(o->who, "is not recorded into any more: %s has become another program",
                    t->name);
}

static int show_status(const struct order *o, const struct cli_target *t)
{
    struct state s;
    unsigned shown = 0;
    for (unsigned i = 0; i < t->recorders; i++) {
        if (!read_state(t, i, &s))
            return tell_gone(t);
        if (is_meant(o, &s)) {
            if (shown++ == 0)
                print_process(t);
            if (t->recorders > 1)
                printf("  copy %u of %u of libweft\n", i + 1, t->recorders);
            print_state(&s);
        }
        close_state(&s);
    }
    return shown ? CLI_DONE : tell_other(o, t);
}

/* For a process whose memory cannot be read. */
static int show_file(const struct cli_target *t)
{
    struct state s = {.recording = true};
    s.fd = cli_live_find(t->pid, 0, s.path, sizeof s.path);
    if (s.fd < 0)
        return CLI_FAILED;
    if (weft_facts_read(s.fd, &s.facts)) {
        print_process(t);
        puts("  state    recording, or paused: that cannot be seen without the right to switch it");
        print_time(s.facts.start_real_ns);
        printf("  into     %s\n", cli_shown(s.path).text);
        print_events(s.fd);
    }
    close_state(&s);
    return CLI_DONE;
}

/* ---- Asking ---- */

/* Has it look for requests although it makes no call. */
static void interrupt(struct order *o, const struct cli_target *t)
{
    snprintf(o->why_not, sizeof o->why_not, "its libweft is too old for that");
    for (unsigned i = 0; i < t->recorders; i++) {
        const struct cli_copy *copy = cli_target_worker(t, i);
        if (!copy)
            continue;
        const struct cli_inject_call call = {.function = copy->interrupted};
        const struct cli_inject_result r = cli_inject(t->pid, t->mem, CLI_INJECT_ANY, &call);
        o->stopped_ns += r.stopped_ns;
        o->interrupted |= r.how == CLI_INJECTED;
        cli_inject_why(t->pid, &r, o->why_not, sizeof o->why_not);
    }
}

static void tell_waiting(const struct order *o, const struct cli_target *t, const char *what)
{
    printf("%s: will %s with its next call of weft's; it has made none for %s", t->name, what,
           weft_duration(o->wait_ns).text);
    if (o->interrupted)
        printf(", and a thread that was interrupted has not answered yet");
    else if (*o->why_not)
        printf(", and was not interrupted: %s", o->why_not);
    putchar('\n');
}

/* Sends the request and waits until some copy has answered it. Otherwise returns false and sets the exit status. what:
 * what the process will do. */
static bool ask(struct order *o, const struct cli_target *t, struct weft_record_request *r,
                const char *what, struct weft_record_answer *answer, int *status)
{
    const int64_t since_ns = weft_monotonic_ns(), until = since_ns + o->wait_ns;
    bool may_interrupt = o->wait_ns > 0;
    int64_t pause_ns = 50000;
    bool there = cli_target_ask(t, r);
    while (there) {
        for (unsigned i = 0; there && i < t->copies; i++) {
            uint64_t at = t->copy[i].at + offsetof(struct weft_record_control, answer);
            there = cli_target_read(t, at, answer, sizeof *answer);
            /* The number is stored last, so the other fields read together with it may be older. */
            if (there && answer->number == r->number &&
                (there = cli_target_read(t, at, answer, sizeof *answer)))
                return true;
        }
        const int64_t now_ns = weft_monotonic_ns();
        if (there && may_interrupt && (now_ns > until || now_ns - since_ns > CALL_NS)) {
            may_interrupt = false;
            interrupt(o, t);
            pause_ns = 50000;
        } else if (there && now_ns > until) {
            tell_waiting(o, t, what);
            *status = CLI_DONE;
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
        pause_ns = pause_ns < 10000000 ? pause_ns * 5 / 4 : pause_ns;
    }
    *status = tell_gone(t);
    return false;
}

/* Says how long it took, so that users know what the recording missed. */
static void tell_times(const struct order *o, const struct weft_record_answer *a)
{
    const int64_t seen = (int64_t)a->seen_ns - o->began_ns;
    const int64_t took = (int64_t)(a->done_ns - a->seen_ns);
    if (seen >= 0 && took >= 0) /* does not hold in another time namespace */
        printf(", %s after the command (%s until %s, %s to begin)", weft_duration(seen + took).text,
               weft_duration(seen).text, o->interrupted ? "it was interrupted" : "its next call",
               weft_duration(took).text);
}

static void tell_stopped(const struct order *o)
{
    if (o->stopped_ns > 0)
        printf(". It was stopped for %s for that.", weft_duration(o->stopped_ns).text);
    putchar('\n');
}

static int tell_failed(const struct cli_target *t, const struct weft_record_request *r, int error)
{
    static const struct {
        int error;
        const char *text;
    } list[] = {
        {EACCES, "may not be created by it; with -o give a place where its user may write"},
        {EROFS, "cannot be created by it: the place can only be read; give another one with -o"},
        {ENOENT, "cannot be created by it: there is no such folder, as far as it can see"},
        {ENOSPC,
         "needs more room than the disk has; give a smaller --size, or another place with -o"},
        {EDQUOT, "needs more room than its user may take; give a smaller --size, or another place"},
        {EFBIG, "is larger than it may make files (ulimit -f); give a smaller --size"},
        {EEXIST, "is there and is no trace; it is left alone"},
        {ELOOP, "is a symbolic link; give another name"},
        {EBUSY, "is being written by another process; give another name"},
        {ENOMEM, "needs more memory than it can get; give a smaller --size"},
        {EALREADY, "was not begun: a thread is still in the middle of a call; try again"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].error == error)
            return cli_fail(r->path, "%s", list[i].text);
    return cli_fail(r->path, "%s could not begin: %s", t->name, strerror(error));
}

/* ---- The trace's place ---- */

static bool stands_there(const struct cli_target *t, bool elsewhere, const char *path)
{
    char name[PATH_MAX + 64];
    struct stat st;
    if (elsewhere)
        snprintf(name, sizeof name, "/proc/%d/root%s", (int)t->pid, path);
    else
        snprintf(name, sizeof name, "%s", path);
    return lstat(name, &st) == 0;
}

static bool find_place(const struct order *o, const struct cli_target *t,
                       struct weft_record_request *r)
{
    /* Leaves room for the suffix that the library appends while it creates the file. */
    const size_t room = sizeof r->path - 16;
    bool elsewhere = cli_target_elsewhere(t);
    char name[64];
    if (o->output && !cli_absolute(r->path, room, o->output, t->pid))
        return cli_say(o->output, "the name is too long");
    if (o->output && stands_there(t, elsewhere, r->path))
        return cli_say(r->path, "is there already; give another name");
    for (int i = 1; !o->output && i <= NAMES_TRIED; i++) {
        char count[16] = "";
        if (i > 1)
            snprintf(count, sizeof count, ".%d", i);
        snprintf(name, sizeof name, "weft-%d%s.trace", (int)t->pid, count);
        if (!cli_absolute(r->path, room, name, t->pid))
            return cli_say(name, "the name of the present folder is too long; give one with -o");
        if (!stands_there(t, elsewhere, r->path))
            break;
    }
    if (elsewhere)
        cli_say(t->name, "sees other folders than we do; what it calls %s is /proc/%d/root%s here",
                cli_shown(r->path).text, (int)t->pid, cli_shown(r->path).text);
    return true;
}

/* ---- The commands ---- */

static int switch_on(struct order *o, const struct cli_target *t, const struct state *s)
{
    static struct weft_record_request r;
    struct weft_record_answer answer;
    int status;
    r.command = WEFT_RECORD_CTL_ON;
    r.bytes = o->bytes;
    if ((s->recording || s->paused) && (o->output || o->bytes))
        return cli_fail(t->name, "has a recording open, into %s; stop that first",
                        *s->path ? cli_shown(s->path).text : "memory of its own");
    if (s->recording && !s->asked) {
        printf("%s: records already, into %s\n", t->name, cli_shown(s->path).text);
        return CLI_DONE;
    }
    if (!s->recording && !s->paused && !find_place(o, t, &r))
        return CLI_FAILED;
    if (!ask(o, t, &r, s->paused ? "go on to record" : "begin to record", &answer, &status))
        return status;
    if (answer.error < 0)
        return tell_failed(t, &r, -answer.error);
    printf("%s: records into %s", t->name, cli_shown(s->paused ? s->path : r.path).text);
    tell_times(o, &answer);
    tell_stopped(o);
    return CLI_DONE;
}

/* A Node.js process that has no libweft yet. */
static int bring_in_node(const struct order *o, struct cli_target *t)
{
    static struct weft_record_request r;
    if (!cli_target_lock(t) || !find_place(o, t, &r))
        return CLI_FAILED;
    struct cli_late_node l = {.path = r.path, .bytes = o->bytes, .wait_ns = o->wait_ns};
    const int error = cli_late_node(t, &l);
    if (error)
        return error < 0 ? CLI_FAILED : tell_failed(t, &r, error);
    printf("%s: records into %s, %s after the command, and has %s that began before\n", t->name,
           cli_shown(r.path).text, weft_duration(weft_monotonic_ns() - o->began_ns).text,
           cli_many(l.pending, "promise").text);
    return CLI_DONE;
}

static int switch_off(struct order *o, const struct cli_target *t, const struct state *s, bool stop)
{
    static struct weft_record_request r;
    struct weft_record_answer answer;
    int status;
    const char *path = *s->path ? s->path : "memory of its own";
    r.command = stop ? WEFT_RECORD_CTL_STOP : WEFT_RECORD_CTL_OFF;
    if (!s->asked && !s->recording && !(stop && s->paused)) {
        printf("%s: %s\n", t->name, s->paused ? "is paused already" : "does not record");
        return CLI_DONE;
    }
    if (!ask(o, t, &r, stop ? "end the recording" : "record nothing", &answer, &status))
        return status;
    if (!s->recording && !s->paused)
        printf("%s: does not record", t->name);
    else if (stop)
        printf("%s: has ended the recording into %s", t->name, cli_shown(path).text);
    else
        printf("%s: is paused; the trace, %s, stays open", t->name, cli_shown(path).text);
    tell_stopped(o);
    return CLI_DONE;
}

/* The recorder that has a recording open, or else the last one. */
static bool choose(const struct order *o, const struct cli_target *t, struct state *s)
{
    for (unsigned i = 0; i < t->recorders; i++) {
        if (!read_state(t, i, s))
            return false;
        if (((s->recording || s->paused) && is_meant(o, s)) || i + 1 == t->recorders)
            return true;
        close_state(s);
    }
    return false;
}

static int obey(struct order *o, struct cli_target *t)
{
    struct state s = {.fd = -1};
    if (!cli_target_lock(t))
        return CLI_FAILED;
    if (!choose(o, t, &s))
        return tell_gone(t);
    if (!is_meant(o, &s)) {
        close_state(&s);
        return tell_other(o, t);
    }
    int status = strcmp(o->what, "on") == 0 ? switch_on(o, t, &s)
                                            : switch_off(o, t, &s, strcmp(o->what, "stop") == 0);
    close_state(&s);
    return status;
}

/* ---- Processes that were started without weft ---- */

static void tell_late(struct order *o, const struct cli_target *t, const char *path,
                      const struct cli_late_result *r)
{
    const int64_t ns = weft_monotonic_ns() - o->began_ns;
    o->stopped_ns = r->stopped_ns;
    if (r->waits)
        printf("%s: will begin to record when its main thread runs Python code again, into %s",
               t->name, cli_shown(path).text);
    else
        printf("%s: records into %s, %s after the command; weft was brought into it, which "
               "occupied a thread of it for %s",
               t->name, cli_shown(path).text, weft_duration(ns).text,
               weft_duration(r->took_ns).text);
    tell_stopped(o);
}

/* *t is another target afterwards. */
static int bring_in_python(struct order *o, struct cli_target *t)
{
    static struct weft_record_request r;
    struct cli_late_result result;
    struct state s = {.fd = -1};
    if (!cli_target_lock(t) || !find_place(o, t, &r))
        return CLI_FAILED;
    const enum cli_late how = cli_late_python(t, r.path, o->bytes, o->wait_ns, &result);
    if (how == CLI_LATE_OTHER)
        cli_target_none(t);
    if (how != CLI_LATE_DONE)
        return CLI_FAILED;
    if (!result.waits) {
        const pid_t pid = t->pid;
        cli_target_close(t);
        if (cli_target_open(t, pid) != CLI_FOUND || !choose(o, t, &s) || !s.recording) {
            close_state(&s);
            return cli_fail(t->name, "is a Python program, and weft was brought into it, but it "
                                     "does not record: why is not known");
        }
        close_state(&s);
    }
    tell_late(o, t, *s.path ? s.path : r.path, &result);
    return CLI_DONE;
}

/* ---- The command ---- */

/* The process that records into a trace. 0: there is none; the reason was printed. */
static pid_t writer_of(const char *path, struct order *o)
{
    struct weft_facts_header facts = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        cli_say(path, "%s", strerror(errno));
        return 0;
    }
    bool is_trace = weft_facts_read(fd, &facts), live = is_trace && weft_facts_alive(&facts);
    close(fd);
    o->by_trace = true;
    memcpy(o->uuid, facts.packet.uuid, sizeof o->uuid);
    if (!is_trace)
        cli_say(path, "is no trace of weft's, and no process id");
    else if (facts.state != WEFT_TRACE_RECORDING)
        cli_say(path, "is finished: nobody records into it");
    else if (!live)
        cli_say(path,
                "is not recorded into: its process, %" PRIu32 ", has ended, or is in another pid "
                "namespace (then give its id here)",
                facts.pid);
    return live ? (pid_t)facts.pid : 0;
}

static const char *const words[] = {"status", "on", "off", "stop", NULL};

static int run(int operands, char **operand)
{
    struct order *o = &request;
    uint64_t number;
    size_t word = 0;
    o->began_ns = weft_monotonic_ns();
    o->who = operand[0];
    o->what = operands > 1 ? operand[1] : words[0];
    while (words[word] && strcmp(o->what, words[word]) != 0)
        word++;
    if (!words[word])
        cli_misuse("ctl", "\"%s\" is none of status, on, off, stop", o->what);
    bool status = word == 0;
    if ((o->output || o->bytes) && word != 1)
        cli_misuse("ctl", "-o and --size are for \"on\"");
    if (o->output && !*o->output)
        cli_misuse("ctl", "-o: the name of the trace is empty");
    bool is_id = weft_parse_count(o->who, INT_MAX, &number) && number > 0;
    pid_t pid = is_id ? (pid_t)number : writer_of(o->who, o);
    if (pid == 0)
        return CLI_FAILED;
    struct cli_target t;
    enum cli_found found = cli_target_open(&t, pid);
    int rc = CLI_FAILED;
    if (found == CLI_FOUND)
        rc = status ? show_status(o, &t) : obey(o, &t);
    else if (found == CLI_FOUND_CLOSED && status)
        rc = show_file(&t);
    else if (found == CLI_FOUND_NONE && strcmp(o->what, "on") == 0)
        rc = cli_late_is_node(&t) ? bring_in_node(o, &t) : bring_in_python(o, &t);
    else if (found == CLI_FOUND_NONE)
        cli_target_none(&t);
    cli_target_close(&t);
    return rc;
}

const struct cli_command cli_ctl = {
    .name = "ctl",
    .summary = "switch recording in a running process on and off",
    .usage = "@ PROCESS [status|on|off|stop]",
    .about =
        "Switches the recording in a running process that is linked with weft, however it was "
        "started. PROCESS is its id, or the trace that it is recording into.\n\n"
        "  status  what it does: not recording, recording, paused; since when, into what, how "
        "much\n"
        "  on      begin to record, or go on after off\n"
        "  off     interrupt the recording; the trace stays open\n"
        "  stop    end the recording\n\n"
        "The process does it itself, in its next call of weft's; if it makes none for 0.1 s, one "
        "of its threads is interrupted for that. Into a Python or Node.js process that was started "
        "without weft, \"on\" brings weft first, and records what is pending there.\n",
    .options = options,
    .examples = "weft ctl -o hang.weft 4711 on",
    .missing = "no PROCESS is given: the id of one, or its trace",
    .least = 1,
    .most = 2,
    .completes = CLI_TRACES,
    .words = words,
    .run = run,
    .state = CLI_STATE(request),
};
