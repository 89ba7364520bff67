/* SPDX-License-Identifier: ISC */
/* weft sample: where the CPU time of a program, a process or all cores goes. */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/child.h"
#include "cli/common.h"
#include "cli/sampling.h"

#define DEFAULT_PATH "weft.samples"
#define DEFAULT_HZ 1000
#define DWARF_MAX 65528
#define RING_MOST (UINT64_C(1) << 40)

struct request {
    struct weft_sampler_options sampler;
    const char *output, *count;
    int64_t duration_ns; /* 0: no end */
    uint64_t ring_bytes; /* 0: the file grows */
    bool all, no_symbols, low;
    char **argv; /* of the program, or NULL */
};

static struct request request = {.output = DEFAULT_PATH};

/* ---- The command line ---- */

static uint64_t period_of(const char *text, enum weft_source_unit unit)
{
    uint64_t n;
    int64_t ns;
    if (!weft_parse_count(text, UINT64_MAX, &n)) {
        if (unit != WEFT_UNIT_NS || !weft_parse_duration(text, strlen(text), &ns) || ns < 0)
            cli_misuse("sample", "-c: \"%s\" is not a period; expected %s, at most %" PRId64, text,
                       unit == WEFT_UNIT_NS ? "a time such as 250us, or nanoseconds"
                                            : "a number of events",
                       INT64_MAX);
        n = (uint64_t)ns;
    }
    if (n == 0)
        cli_misuse("sample", "-c: a period of 0 is not possible; expected at least %s",
                   unit == WEFT_UNIT_NS ? "10us" : "1");
    return n;
}

static const struct cli_option options[] = {
    CLI_TEXT("output", request.output, "FILE",
             "the samples. An older trace of that name is kept as FILE.old", .letter = 'o',
             .shown = DEFAULT_PATH, .completes = "samples|weft|trace"),
    CLI_SIZE("size", request.ring_bytes, "SIZE",
             "of the file, from 256K to 1T; when it is full, the oldest samples are overwritten",
             .least = WEFT_SAMPLES_RING_LEAST, .most = RING_MOST, .shown = "it grows"),
    CLI_NUMBER("frequency", request.sampler.frequency, "HZ", "samples a second", .letter = 'F',
               .least = 1, .shown = "1000"),
    CLI_TEXT("count", request.count, "PERIOD",
             "a sample for each PERIOD of the event instead; of cpu-clock a time: 250us",
             .letter = 'c'),
    CLI_TEXT("event", request.sampler.event, "EVENT", "what triggers a sample:", .letter = 'e',
             .word = weft_sampler_event, .shown = "cpu-clock"),
    CLI_NUMBER(
        "process", request.sampler.process, "PID",
        "a process that runs, all its threads, and what they start; until it ends, or Ctrl-C",
        .letter = 'p', .least = 1, .most = INT32_MAX, .completes = CLI_PROCESSES),
    CLI_FLAG("all", request.all,
             "whatever runs on any core, until Ctrl-C or the PROGRAM ends; wants root",
             .letter = 'a'),
    CLI_TIME("duration", request.duration_ns, "TIME",
             "stop after that time: 10s; a PROGRAM goes on", .least = 1),
    CLI_SIZE("dwarf", request.sampler.dwarf_bytes, "BYTES",
             "stacks by DWARF, of a copy of their upper BYTES, for programs without frame pointers",
             .alone = "8192", .least = 64, .most = DWARF_MAX, .shown = "8192"),
    CLI_FLAG("low", request.low,
             "cost so little that it can stay on: 99 samples a second, no switches, and the cores' "
             "timers instead of the threads' where that is permitted"),
    CLI_FLAG("no-kernel", request.sampler.no_kernel, "leave out what happens in the kernel"),
    CLI_FLAG("off-cpu", request.sampler.all_switches,
             "record when threads leave their cores, also if they do so very often; else that is "
             "given up when it costs too much"),
    CLI_FLAG("no-switches", request.sampler.no_switches,
             "do not record when threads leave their cores"),
    CLI_FLAG("interrupts", request.sampler.interrupts,
             "record interrupts and softirqs, too, by tracefs; wants root"),
    CLI_FLAG(
        "no-symbols", request.no_symbols,
        "do not put the names of functions into FILE; weft profile looks for them then, on the "
        "same machine only"),
    CLI_END,
};

static void check(struct request *r, char **argv)
{
    struct weft_sampler_options *o = &r->sampler;
    if (r->count && o->frequency)
        cli_misuse("sample", "either -F or -c");
    if (r->count)
        o->period = period_of(r->count, weft_sampler_unit(o->event));
    else if (!o->frequency)
        o->frequency = r->low ? CLI_LOW_HZ : DEFAULT_HZ;
    if (r->low && (o->all_switches || o->interrupts))
        cli_misuse("sample",
                   "--low records neither switches nor interrupts; leave out --off-cpu and "
                   "--interrupts");
    o->no_switches |= r->low;
    o->by_cores = r->low;
    r->argv = *argv ? argv : NULL;
    if (o->all_switches && o->no_switches)
        cli_misuse("sample", "either --off-cpu or --no-switches");
    if (o->process && r->all)
        cli_misuse("sample", "either -p or -a");
    if (o->process && r->argv)
        cli_misuse("sample", "either -p or a PROGRAM");
    if (!o->process && !r->all && !r->argv)
        cli_misuse("sample", "nothing to sample is given: a PROGRAM, -p PID or -a");
    if (!*r->output)
        cli_misuse("sample", "-o: the name of the file is empty");
    if (strcmp(r->output, "-") == 0)
        cli_misuse("sample", "samples are written into a file; give its name");
    o->scope = r->all ? WEFT_SAMPLE_CORES : o->process ? WEFT_SAMPLE_PROCESS : WEFT_SAMPLE_COMMAND;
    if (strlen(r->output) >= PATH_MAX - 32)
        cli_misuse("sample", "-o: the name of the file is too long");
}

/* ---- When it ends ---- */

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

/* Shells start background jobs with SIGINT ignored, so Ctrl-C is not meant for them; kill is. */
static void interrupt_by_kill(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    interrupted |= info->si_code <= 0;
}

/* Without a program, Ctrl-C is for us: the first one ends the sampling, a second one ends weft. */
static void catch_signals(void)
{
    const int list[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction catch = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND}, was;
    struct sigaction catch_kill = {.sa_sigaction = interrupt_by_kill, .sa_flags = SA_SIGINFO};
    sigemptyset(&catch.sa_mask);
    sigemptyset(&catch_kill.sa_mask);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (sigaction(list[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
            sigaction(list[i], &catch, NULL);
        else if (list[i] != SIGHUP) /* nohup */
            sigaction(list[i], &catch_kill, NULL);
}

/* ---- Running ---- */

struct end {
    int64_t at_ns; /* 0: no time */
    int process;   /* a descriptor of the process, or -1 */
    bool child, child_ended;
    int status; /* of the child, once it has ended */
};

static bool is_over(struct end *e)
{
    struct pollfd gone = {.fd = e->process, .events = POLLIN};
    if (e->child && cli_child_ended(false, &e->status))
        e->child_ended = true;
    return e->child_ended || interrupted || (e->at_ns && weft_monotonic_ns() >= e->at_ns) ||
           (e->process >= 0 && poll(&gone, 1, 0) > 0);
}

static void sample_until(struct cli_sampling *s, struct end *e)
{
    while (!is_over(e))
        cli_sampling_step(s);
    cli_sampling_stop(s);
    if (e->child && !e->child_ended)
        cli_child_ended(true, &e->status);
}

static void tell_beginning(const struct request *r)
{
    if (r->argv || !isatty(STDERR_FILENO))
        return;
    if (r->all)
        fprintf(stderr, "weft: sampling all cores; Ctrl-C ends it\n");
    else
        fprintf(stderr, "weft: sampling process %" PRIu32 "; Ctrl-C ends it\n", r->sampler.process);
}

static int finish(struct cli_sampling *s, const struct request *r, const struct end *e)
{
    struct cli_sampled counts;
    bool fine = cli_sampling_end(s, !r->no_symbols, &counts);
    cli_sampling_tell(&counts, r->output, e->child ? &e->status : NULL);
    cli_sampling_close(s);
    return fine ? CLI_DONE : CLI_FAILED;
}

/* The program waits until the sampler is ready. Returns CLI_DONE, or the exit status after printing what is wrong. */
static int begin(struct cli_sampling *s, struct request *r, struct end *e)
{
    struct weft_sampler_options *o = &r->sampler;
    pid_t pid = 0;
    int error = r->argv ? cli_child_start(&pid, r->argv, NULL, NULL) : 0;
    if (error)
        return cli_fail(r->argv[0], "cannot be executed: %s", strerror(error));
    if (o->scope == WEFT_SAMPLE_COMMAND)
        o->process = (uint32_t)pid;
    e->child = r->argv;
    bool ready = cli_sampling_open(s, "sample", o) &&
                 cli_sampling_create(s, r->output, o, r->ring_bytes, r->argv);
    if (ready && r->low)
        s->step_ms = CLI_LOW_STEP_MS;
    if (ready && weft_sampler_start(s->sampler) < 0)
        ready = cli_say("sample", "out of memory");
    if (!ready && r->argv)
        cli_child_cancel();
    if (!ready)
        return CLI_FAILED;
    error = r->argv ? cli_child_go() : 0;
    if (error)
        return cli_child_failed(r->argv[0], error);
    s->failed = !cli_sampling_settle(s); /* the program is already running and is left alone */
    return CLI_DONE;
}

static int run(int operands, char **operand)
{
    (void)operands;
    struct cli_sampling sampling = {.fd = -1};
    struct end end = {.process = -1};
    check(&request, operand);
    if (!cli_sampling_check(request.output, request.output))
        return CLI_FAILED;
    if (!request.argv)
        catch_signals();
    int status = begin(&sampling, &request, &end);
    if (status != CLI_DONE) {
        cli_sampling_close(&sampling);
        return status;
    }
    if (request.sampler.scope == WEFT_SAMPLE_PROCESS)
        end.process = (int)syscall(SYS_pidfd_open, (pid_t)request.sampler.process, 0);
    end.at_ns = request.duration_ns ? weft_monotonic_ns() + request.duration_ns : 0;
    tell_beginning(&request);
    sample_until(&sampling, &end);
    cli_close(end.process);
    status = finish(&sampling, &request, &end);
    if (end.child && status == CLI_DONE)
        cli_end_as(end.status);
    return status;
}

const struct cli_command cli_sample = {
    .name = "sample",
    .summary = "look where a program, a process or all cores spend the CPU",
    .usage = "[OPTION…] [--] PROGRAM [ARG…]\n"
             "[OPTION…] -p PID\n"
             "[OPTION…] -a",
    .about = "Looks many times a second where a program is, and writes that into a trace, for weft "
             "profile and weft export --to pprof. The program need not be linked with weft; weft "
             "record --sample does both.\n",
    .options = options,
    .examples = "weft sample -o slow.samples -- ./server 8080; weft profile --top slow.samples",
    .program = true,
    .run = run,
    .state = CLI_STATE(request),
};
