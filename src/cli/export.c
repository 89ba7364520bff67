/* SPDX-License-Identifier: ISC */
/* weft export: a trace in another format. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/export_profile.h"
#include "cli/exporter.h"
#include "cli/sink.h"

/* Other formats know no promoted events: those get the time of the first or the last other event, and a stream that
 * exists. */
static struct weft_event plain(const struct weft_event *ev, uint64_t first_ns, uint64_t last_ns)
{
    struct weft_event out = *ev;
    last_ns = last_ns > first_ns ? last_ns : first_ns;
    out.time_ns = out.time_ns < last_ns ? last_ns : out.time_ns;
    out.stream = out.stream == WEFT_STREAM_NONE ? 0 : out.stream;
    out.promoted = false;
    return out;
}

int cli_export_events(struct weft_reader *reader, const char *path, cli_append_fn *append,
                      void *writer, uint64_t *total, struct cli_export_failure *f)
{
    const struct weft_event *events;
    struct cli_progress progress = cli_progress_begin(path);
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
            cli_progress_show(&progress, weft_reader_progress(reader));
    }
    cli_progress_end(&progress);
    f->reading = n < 0;
    return n < 0 ? (int)n : rc;
}

void cli_export_warn_losses(const char *path, const struct weft_reader_facts *f)
{
    uint64_t overwritten = f->overwritten_events + f->missing_events;
    if (overwritten + f->discarded_events)
        cli_say(path,
                "warning: not there, and not written: %" PRIu64 " events overwritten, %" PRIu64
                " discarded",
                overwritten, f->discarded_events);
    if (f->promotion.events)
        cli_say(path,
                "warning: %" PRIu64 " events on promises that have been pending since before the "
                "first event are written with its time",
                f->promotion.events);
}

static const struct {
    const char *name;
    const struct cli_exporter *exporter;
} formats[] = {
#define EXPORTER(id, name, about) {name, &cli_export_##id},
#include "cli/exporters.def"
};
#define FORMATS (sizeof formats / sizeof *formats)

/* These formats repeat a text in each event that uses it; weft's own stores it once. */
static int export_to(size_t format, const char *path, const char *target, bool full)
{
    struct weft_reader *reader = cli_open(path);
    if (!reader)
        return CLI_FAILED;
    if (!full)
        weft_reader_limit_texts(reader, SINK_TEXT);
    uint64_t total = 0;
    struct cli_export_failure f = {.err = {.offset = WEFT_NO_OFFSET}};
    int rc = formats[format].exporter->run(reader, path, target, &total, &f);
    cli_warn(path, weft_reader_damage(reader));
    const uint64_t cut = full ? 0 : weft_reader_cut_texts(reader);
    if (cut)
        cli_say(path, "warning: %" PRIu64 " text%s longer than %u bytes, and cut; --full keeps all",
                cut, cut == 1 ? " is" : "s are", SINK_TEXT);
    const char *shown = strcmp(target, "-") == 0 ? "standard output" : target;
    int status = CLI_FAILED;
    if (rc == 0)
        status = cli_status(path, weft_reader_damage(reader), total);
    else if (f.err.code)
        cli_complain(f.reading ? path : shown, &f.err);
    if (rc == 0 && isatty(STDERR_FILENO))
        cli_say(shown, "%" PRIu64 " event%s written", total, weft_plural(total));
    weft_reader_close(reader);
    return status;
}

/* ---- The command line ---- */

static struct {
    const char *format, *target;
    struct cli_export_profile profile;
    bool full;
} request;

static void take_kind(const struct cli_command *c, const struct cli_option *o, const char *text)
{
    static const struct {
        const char *name;
        enum weft_foreign kind;
    } kinds[] = {{"akaros", WEFT_FOREIGN_AKAROS},
                 {"kpoprofile", WEFT_FOREIGN_AKAROS},
                 {"kpdata", WEFT_FOREIGN_KPDATA},
                 {"ticks", WEFT_FOREIGN_TICKS},
                 {"perf", WEFT_FOREIGN_PERF}};
    size_t i = 0;
    while (i < sizeof kinds / sizeof *kinds && strcmp(text, kinds[i].name) != 0)
        i++;
    if (i == sizeof kinds / sizeof *kinds)
        cli_misuse(c->name, "--%s: there is no \"%s\"; there are akaros, kpdata and perf", o->name,
                   text);
    request.profile.profiles.from = kinds[i].kind;
}

static const char *const format_words[] = {
#define EXPORTER(id, name, about) name,
#include "cli/exporters.def"
    "pprof", "pprof-legacy", NULL};
static const char *const kind_words[] = {"akaros", "kpdata", "perf", NULL};

static const struct cli_option options[] = {
    CLI_TEXT("to", request.format, "FORMAT", "one of those above:", .words = format_words,
             .required = true),
    CLI_TEXT("output", request.target, "OUT", "where to write", .letter = 'o', .required = true,
             .completes = "ctf|pb.gz|prof"),
    CLI_FLAG("full", request.full,
             "whole texts in events, however long; otherwise the first 500 bytes"),
    CLI_HEADING("Of samples only:"),
    CLI_CALL("from", take_kind, "akaros|kpdata|perf",
             "what FILEs are, whatever they look like; akaros: kpoprofile", .words = kind_words),
    CLI_NUMBER("pid", request.profile.pprof.process, "PID", "only the samples of this process",
               .most = UINT32_MAX - 1, .given = &request.profile.pprof.only),
    CLI_TIME("period", request.profile.profiles.period_ns, "TIME",
             "what a sample of an Akaros stream stands for, as 1ms: it does not say", .least = 1),
    CLI_FLAG("off-cpu", request.profile.pprof.off_cpu,
             "also the time that threads were away from their cores (pprof)"),
    CLI_ASYNC_STACKS(request.profile.pprof.async),
    CLI_SYSROOT(request.profile.profiles.sysroot),
    CLI_KALLSYMS(request.profile.profiles.kallsyms),
    CLI_NO_SYMBOLS(request.profile.profiles.no_symbols),
    CLI_END,
};

/* A given option that is about samples, or NULL. */
static const char *option_of_samples(const struct cli_export_profile *e)
{
    const struct {
        bool given;
        const char *name;
    } options_of_samples[] = {
        {e->profiles.from != WEFT_FOREIGN_NONE, "--from"},
        {e->pprof.only, "--pid"},
        {e->profiles.period_ns > 0, "--period"},
        {e->pprof.off_cpu, "--off-cpu"},
        {e->pprof.async != WEFT_ASYNC_NONE, "--async-stacks"},
        {e->profiles.sysroot, "--sysroot"},
        {e->profiles.kallsyms, "--kallsyms"},
        {e->profiles.no_symbols, "--no-symbols"},
    };
    for (size_t i = 0; i < sizeof options_of_samples / sizeof *options_of_samples; i++)
        if (options_of_samples[i].given)
            return options_of_samples[i].name;
    return NULL;
}

static int export_profile(struct cli_export_profile *e, int files, char **file)
{
    e->legacy = strcmp(request.format, "pprof-legacy") == 0;
    if (e->legacy && (e->pprof.off_cpu || e->pprof.async != WEFT_ASYNC_NONE))
        cli_misuse("export",
                   "pprof-legacy has only addresses and how often they were met; --off-cpu "
                   "and --async-stacks need --to pprof");
    return cli_export_profile(e, request.target, (const char *const *)file, (unsigned)files);
}

static int run(int files, char **file)
{
    const bool is_profile = strncmp(request.format, "pprof", 5) == 0;
    const bool to_stdout = strcmp(request.target, "-") == 0;
    size_t format = 0;
    while (!is_profile && strcmp(request.format, formats[format].name) != 0)
        format++;
    if (to_stdout && !is_profile && formats[format].exporter->no_stdout)
        cli_misuse("export", "%s", formats[format].exporter->no_stdout);
    if (to_stdout && isatty(STDOUT_FILENO))
        cli_misuse("export", "will not write a %s to a terminal", is_profile ? "profile" : "trace");
    if (is_profile)
        return export_profile(&request.profile, files, file);
    const char *of_samples = option_of_samples(&request.profile);
    if (of_samples)
        cli_misuse("export", "%s is about samples; --to %s writes events", of_samples,
                   request.format);
    if (files > 1)
        cli_misuse("export", "one FILE is wanted, but there is also %s", file[1]);
    return export_to(format, *file, request.target, request.full);
}

const struct cli_command cli_export = {
    .name = "export",
    .summary = "write a trace in another format",
    .usage = "--to FORMAT [--full] -o OUT FILE\n"
             "--to pprof|pprof-legacy [OPTION…] -o OUT FILE…",
    .about =
        "Writes the events of a trace, in order, in another format:\n\n"
#define EXPORTER(id, name, about) "  " name "  " about "\n"
#include "cli/exporters.def"
        "\n"
        "or the samples of traces, of Akaros's kpoprofile and kpdata, or of Linux's perf.data, "
        "together:\n\n"
        "  pprof         what every pprof reads: functions and lines, promises as labels\n"
        "  pprof-legacy  gperftools' CPU profile: addresses only\n",
    .options = options,
    .examples = "weft export --to ctf -o net-ctf net.ctf && babeltrace2 net-ctf\n"
                "weft export --to pprof -o server.pb.gz server.weft && go tool pprof -top "
                "server.pb.gz",
    .least = 1,
    .completes = CLI_TRACES "|samples|data",
    .raw = true,
    .run = run,
    .state = CLI_STATE(request),
};
