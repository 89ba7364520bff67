/* SPDX-License-Identifier: ISC */
/* weft export: a trace in another format. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/export_profile.h"
#include "cli/sink.h"
#include "write/ctf.h"
#include "write/downgrade.h"
#include "write/mirage.h"

static const char help[] =
    "usage: weft export --to FORMAT -o OUT FILE\n"
    "       weft export --to pprof|pprof-legacy -o OUT FILE…\n\n"
    "Writes the events of a trace, in order, in another format:\n\n"
    "  ctf     a folder that babeltrace2 and other CTF 1.8 readers open; OUT must not exist, or "
    "be\n"
    "          an empty folder\n"
    "  mirage  a file of mirage-profile, its packets in order and without unused space; - is\n"
    "          standard output\n\n"
    "or the samples of traces, of Akaros's kpoprofile and kpdata, or of Linux's perf.data, "
    "together:\n\n"
    "  pprof         what every pprof reads: functions and lines, promises as labels\n"
    "  pprof-legacy  gperftools' CPU profile: addresses only\n\n"
    "  -o, --output OUT    where to write\n"
    "      --full          whole texts in events, however long; otherwise the first 500 bytes\n"
    "      --to FORMAT     one of those above\n"
    "      --from KIND     FILEs are akaros (kpoprofile), kpdata or perf, whatever they look like\n"
    "      --pid PID       only the samples of this process\n"
    "      --period T      what a sample of an Akaros stream stands for, as 1ms: it does not say\n"
    "      --off-cpu       also the time that threads were away from their cores (pprof)\n"
    "      --async-stacks[=creators|waits]\n"
    "                      in place of the event loop, who created the promise that ran, and who\n"
    "                      created that; or who waited for it (pprof)\n"
    "      --sysroot DIR   look for programs and libraries below DIR\n"
    "      --kallsyms FILE the kernel's symbols; /proc/kallsyms for what this system recorded\n"
    "      --no-symbols    leave addresses without names, unless FILE has them\n"
    "      --help          this text\n\n"
    "Examples: weft export --to ctf -o net-ctf net.ctf && babeltrace2 net-ctf\n"
    "          weft export --to pprof -o server.pb.gz server.weft && go tool pprof -top "
    "server.pb.gz\n";

enum {
    TO = WEFT__HELP + 1,
    FROM,
    PID,
    PERIOD,
    OFF_CPU,
    ASYNC_STACKS,
    SYSROOT,
    KALLSYMS,
    NO_SYMBOLS,
    FULL
};

static const struct option options[] = {
    {"to", required_argument, NULL, TO},
    {"output", required_argument, NULL, 'o'},
    {"from", required_argument, NULL, FROM},
    {"pid", required_argument, NULL, PID},
    {"period", required_argument, NULL, PERIOD},
    {"off-cpu", no_argument, NULL, OFF_CPU},
    {"async-stacks", optional_argument, NULL, ASYNC_STACKS},
    {"sysroot", required_argument, NULL, SYSROOT},
    {"kallsyms", required_argument, NULL, KALLSYMS},
    {"no-symbols", no_argument, NULL, NO_SYMBOLS},
    {"full", no_argument, NULL, FULL},
    WEFT__HELP_OPTION,
    {0},
};

/* An error belongs to the trace or to what is written. */
struct failure {
    struct weft_error err;
    bool reading;
};

typedef int append_fn(void *writer, const struct weft_event *ev, struct weft_error *err);

/* Other formats know no promoted events: those get the time of the first or the last of the others, and a
 * stream that is there. */
static struct weft_event plain(const struct weft_event *ev, uint64_t first_ns, uint64_t last_ns)
{
    struct weft_event out = *ev;
    last_ns = last_ns > first_ns ? last_ns : first_ns;
    out.time_ns = out.time_ns < last_ns ? last_ns : out.time_ns;
    out.stream = out.stream == WEFT_STREAM_NONE ? 0 : out.stream;
    out.promoted = false;
    return out;
}

/* Hands every event of the trace to append. */
static int copy_events(struct weft_reader *reader, const char *path, append_fn *append,
                       void *writer, uint64_t *total, struct failure *f)
{
    const struct weft_event *events;
    struct weft__progress progress = weft__progress_begin(path);
    uint64_t last_ns = 0;
    ptrdiff_t n;
    int rc = 0;
    *total = 0;
    for (unsigned batch = 0; (n = weft_reader_next(reader, &events, &f->err)) > 0 && rc == 0;) {
        for (ptrdiff_t i = 0; i < n && rc == 0; i++) {
            struct weft_event ev = events[i];
            if (ev.promoted)
                ev = plain(&ev, weft_reader_facts(reader)->first_ns, last_ns);
            last_ns = ev.time_ns;
            rc = append(writer, &ev, &f->err);
        }
        *total += (uint64_t)n;
        if (++batch % 256 == 0)
            weft__progress_show(&progress, weft_reader_progress(reader));
    }
    weft__progress_end(&progress);
    f->reading = n < 0;
    return n < 0 ? (int)n : rc;
}

/* What a CTF folder cannot say of a trace. */
static void warn_losses(const char *path, const struct weft_reader_facts *f)
{
    uint64_t overwritten = f->overwritten_events + f->missing_events;
    if (f->is_weft && overwritten + f->discarded_events)
        weft__say(path,
                  "warning: not there, and not written: %" PRIu64 " events overwritten, %" PRIu64
                  " discarded",
                  overwritten, f->discarded_events);
    if (f->promotion.events)
        weft__say(path,
                  "warning: %" PRIu64 " events on promises that have been pending since before the "
                  "first event are written with its time",
                  f->promotion.events);
}

/* ---- CTF ---- */

struct ctf {
    struct weft_ctf_writer *writer;
    struct weft_reader *reader;
    uint32_t streams; /* whose threads the writer knows */
};

static int append_ctf(void *data, const struct weft_event *ev, struct weft_error *err)
{
    struct ctf *c = data;
    const struct weft_stream_facts *stream = weft_reader_facts(c->reader)->stream;
    int rc = 0;
    uint32_t streams = weft_reader_facts(c->reader)->streams;
    for (; stream && c->streams < streams && c->streams <= ev->stream && rc == 0; c->streams++) {
        const struct weft_stream_facts *s = &stream[c->streams];
        rc = weft_ctf_writer_thread(c->writer, c->streams, s->thread, s->name, err);
    }
    return rc < 0 ? rc : weft_ctf_writer_append(c->writer, ev, err);
}

/* All of these return 0 or a negative WEFT_E code, with *f saying what is wrong, or nothing if that has
 * been said. */
static int export_ctf(struct weft_reader *reader, const char *path, const char *target,
                      uint64_t *total, struct failure *f)
{
    const struct weft_reader_facts *facts = weft_reader_facts(reader);
    const struct weft_process_facts *process = &facts->process;
    struct weft_tsdl_trace trace = {
        .host = process->host,
        .program = process->program,
        .version = process->version,
        .pid = process->pid,
        .start_ns = process->start_ns,
        .start_real_ns = process->start_real_ns,
    };
    struct ctf ctf = {.reader = reader};
    const struct weft_output_options options = {WEFT_OUTPUT_OTHER, &path, 1};
    struct weft_output out;
    uint64_t moved = 0;
    int rc = weft_output_open_folder(&out, target, &options, &f->err);
    if (rc < 0)
        return rc;
    rc = weft_ctf_writer_open(&ctf.writer, out.folder, facts->is_weft ? &trace : NULL, &f->err);
    if (rc == 0)
        rc = copy_events(reader, path, append_ctf, &ctf, total, f);
    if (rc == 0) {
        moved = weft_ctf_writer_moved(ctf.writer);
        rc = weft_ctf_writer_close(ctf.writer, &f->err);
    } else {
        weft_ctf_writer_abandon(ctf.writer);
    }
    if (rc == 0)
        rc = weft_output_close(&out, true, &f->err);
    else
        weft_output_close(&out, false, NULL);
    if (rc == 0 && moved)
        weft__say(path,
                  "warning: %" PRIu64 " events, at which time runs backwards or beyond what CTF "
                  "readers know, got the time of the event before",
                  moved);
    if (rc == 0)
        warn_losses(path, weft_reader_facts(reader));
    return rc;
}

/* ---- mirage ---- */

static int append_mirage(void *writer, const struct weft_event *ev, struct weft_error *err)
{
    return weft_mirage_writer_append(writer, ev, err);
}

struct downgrading {
    struct weft_mirage_writer *writer;
    struct weft_downgrade lost;
};

static int append_downgraded(void *data, const struct weft_event *ev, struct weft_error *err)
{
    struct downgrading *d = data;
    struct weft_event out[WEFT_DOWNGRADED_MAX];
    unsigned n = weft_downgrade(&d->lost, out, ev);
    int rc = 0;
    for (unsigned i = 0; i < n && rc == 0; i++)
        rc = weft_mirage_writer_append(d->writer, &out[i], err);
    return rc;
}

static void tell_downgrade(const char *path, const struct weft_downgrade *d,
                           const struct weft_reader_facts *f)
{
    const struct {
        uint64_t count;
        const char *what;
    } list[] = {
        {d->left_out[WEFT_EVENT_NOTIFIES], "notifications were left out"},
        {d->left_out[WEFT_EVENT_BACKGROUND], "marks as background were left out"},
        {d->left_out[WEFT_EVENT_ACQUIRES] + d->left_out[WEFT_EVENT_RELEASES],
         "events of who holds what were left out"},
        {d->left_out[WEFT_EVENT_RESUME], "resumptions of the event loop were left out"},
        {d->left_out[WEFT_EVENT_PREEMPTED], "times in which a thread had no core were left out"},
        {d->endings,
         "promises that were resolved, cancelled or forgotten are written as fulfilled"},
        {d->types, "promises have a type that mirage lacks; they are tasks with the type as label"},
        {d->places, "source locations were left out"},
        {f->streams > 1 ? f->streams : 0, "streams are written as one, in order of time"},
    };
    for (unsigned i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].count)
            weft__say(path, "mirage's format cannot say all: %" PRIu64 " %s", list[i].count,
                      list[i].what);
    warn_losses(path, f);
}

static int export_mirage(struct weft_reader *reader, const char *path, const char *file,
                         uint64_t *total, struct failure *f)
{
    static struct downgrading down;
    struct weft_output out;
    struct weft_mirage_writer *writer;
    bool is_weft = weft_reader_facts(reader)->is_weft;
    f->err.code = 0;
    if (!weft__output_open(&out, file, WEFT_OUTPUT_MIRAGE, &path, 1))
        return WEFT_E_IO;
    int rc = weft_mirage_writer_open(&writer, out.file, NULL, &f->err);
    down.writer = writer;
    if (rc == 0 && is_weft)
        rc = copy_events(reader, path, append_downgraded, &down, total, f);
    else if (rc == 0)
        rc = copy_events(reader, path, append_mirage, writer, total, f);
    if (rc == 0) {
        rc = weft_mirage_writer_close(writer, &f->err);
        writer = NULL;
    }
    weft_mirage_writer_abandon(writer);
    if (out.file == stdout && weft__stdout_left())
        rc = 0;
    else if (rc == 0 && is_weft)
        tell_downgrade(path, &down.lost, weft_reader_facts(reader));
    bool kept = weft__output_close(&out, file, rc == 0);
    return rc < 0 || kept ? rc : WEFT_E_IO;
}

/* ---- */

typedef int export_fn(struct weft_reader *reader, const char *path, const char *target,
                      uint64_t *total, struct failure *f);

static const struct {
    const char *name;
    export_fn *export;
    const char *no_stdout; /* why not */
} formats[] = {
    {"ctf", export_ctf, "a CTF trace is a folder and cannot go to standard output"},
    {"mirage", export_mirage, NULL},
};
#define FORMATS (sizeof formats / sizeof *formats)

/* These formats have a text in each event that uses it, weft's own has it once. */
static int export_to(size_t format, const char *path, const char *target, bool full)
{
    struct weft_reader *reader = weft__open(path);
    if (!reader)
        return WEFT__FAILED;
    if (!full)
        weft_reader_limit_texts(reader, SINK_TEXT);
    uint64_t total = 0;
    struct failure f = {.err = {.offset = WEFT_NO_OFFSET}};
    int rc = formats[format].export(reader, path, target, &total, &f);
    weft__warn(path, weft_reader_damage(reader));
    const uint64_t cut = full ? 0 : weft_reader_cut_texts(reader);
    if (cut)
        weft__say(path,
                  "warning: %" PRIu64 " text%s longer than %u bytes, and cut; --full keeps all",
                  cut, cut == 1 ? " is" : "s are", SINK_TEXT);
    const char *shown = strcmp(target, "-") == 0 ? "standard output" : target;
    int status = WEFT__FAILED;
    if (rc == 0)
        status = weft__status(path, weft_reader_damage(reader), total);
    else if (f.err.code)
        weft__complain(f.reading ? path : shown, &f.err);
    if (rc == 0 && isatty(STDERR_FILENO))
        weft__say(shown, "%" PRIu64 " event%s written", total, weft_plural(total));
    weft_reader_close(reader);
    return status;
}

/* ---- The command line ---- */

static enum weft_foreign kind_value(const char *text)
{
    static const struct {
        const char *name;
        enum weft_foreign kind;
    } kinds[] = {{"akaros", WEFT_FOREIGN_AKAROS},
                 {"kpoprofile", WEFT_FOREIGN_AKAROS},
                 {"kpdata", WEFT_FOREIGN_KPDATA},
                 {"ticks", WEFT_FOREIGN_TICKS},
                 {"perf", WEFT_FOREIGN_PERF}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(text, kinds[i].name) == 0)
            return kinds[i].kind;
    weft__misuse("export", "--from: there is no \"%s\"; there are akaros, kpdata and perf", text);
}

static void pid_value(struct weft_pprof_options *o, const char *text)
{
    uint64_t pid;
    if (!weft_parse_count(text, UINT32_MAX - 1, &pid))
        weft__misuse("export", "--pid: \"%s\" is not the number of a process", text);
    o->only = true;
    o->process = (uint32_t)pid;
}

static uint64_t period_value(const char *text)
{
    int64_t ns = weft__time_value(&weft__export, "--period", text);
    if (ns <= 0)
        weft__misuse("export", "--period: \"%s\" is no time between two samples", text);
    return (uint64_t)ns;
}

/* An option that says something of profiles. Returns its name. */
static const char *profile_option(struct weft__export_profile *e, int c)
{
    switch (c) {
    case FROM:
        e->profiles.from = kind_value(optarg);
        break;
    case PID:
        pid_value(&e->pprof, optarg);
        break;
    case PERIOD:
        e->profiles.period_ns = period_value(optarg);
        break;
    case OFF_CPU:
        e->pprof.off_cpu = true;
        break;
    case ASYNC_STACKS:
        e->pprof.async = weft__async_stacks_value("export", optarg);
        break;
    case SYSROOT:
        e->profiles.sysroot = optarg;
        break;
    case KALLSYMS:
        e->profiles.kallsyms = optarg;
        break;
    default:
        e->profiles.no_symbols = true;
        break;
    }
    const struct option *o = options;
    while (o->val != c)
        o++;
    return o->name;
}

static int export_profile(struct weft__export_profile *e, const char *name, const char *target,
                          int argc, char **argv)
{
    e->legacy = strcmp(name, "pprof-legacy") == 0;
    if (e->legacy && (e->pprof.off_cpu || e->pprof.async != WEFT_ASYNC_NONE))
        weft__misuse("export",
                     "pprof-legacy has only addresses and how often they were met; --off-cpu "
                     "and --async-stacks need --to pprof");
    if (e->profiles.kallsyms && access(e->profiles.kallsyms, R_OK) < 0)
        weft__misuse("export", "--kallsyms: %s cannot be read", e->profiles.kallsyms);
    if (optind >= argc)
        weft__misuse("export", "no FILE is given");
    return weft__export_profile(e, target, (const char *const *)argv + optind,
                                (unsigned)(argc - optind));
}

static int run(int argc, char **argv)
{
    const char *name = NULL, *target = NULL, *profile_only = NULL;
    struct weft__export_profile profile = {.legacy = false};
    bool full = false;
    int c;
    while ((c = weft__option(&weft__export, argc, argv, ":o:", options)) != -1) {
        if (c == TO) {
            name = optarg;
        } else if (c == 'o') {
            target = optarg;
        } else if (c == FULL) {
            full = true;
        } else {
            profile_only = profile_option(&profile, c);
        }
    }
    if (!name)
        weft__misuse("export", "--to FORMAT is missing: ctf, mirage, pprof or pprof-legacy");
    bool is_profile = strcmp(name, "pprof") == 0 || strcmp(name, "pprof-legacy") == 0;
    size_t format = 0;
    while (format < FORMATS && strcmp(name, formats[format].name) != 0)
        format++;
    if (format == FORMATS && !is_profile)
        weft__misuse("export",
                     "there is no format \"%s\"; there are ctf, mirage, pprof and pprof-legacy",
                     name);
    if (!target)
        weft__misuse("export", "-o OUT is missing");
    if (strcmp(target, "-") == 0 && !is_profile && formats[format].no_stdout)
        weft__misuse("export", "%s", formats[format].no_stdout);
    if (strcmp(target, "-") == 0 && isatty(STDOUT_FILENO))
        weft__misuse("export", "will not write a %s to a terminal",
                     is_profile ? "profile" : "trace");
    if (is_profile)
        return export_profile(&profile, name, target, argc, argv);
    if (profile_only)
        weft__misuse("export", "--%s says something of samples; --to %s writes events",
                     profile_only, name);
    return export_to(format, weft__one_file(&weft__export, argc, argv), target, full);
}

const struct weft__command weft__export = {"export", "write a trace in another format", help, run};
