/* SPDX-License-Identifier: ISC */
/* weft export: a trace in another format. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/exporter.h"
#include "cli/profile/profiles.h"
#include "cli/sink.h"
#include "pprof/pprof.h"

static struct {
    const char *format, *target;
    bool full;
    bool legacy; /* of samples */
    struct weft_pprof_options pprof;
    struct cli_profiles_options profiles;
} request;

/* For messages. */
static const char *shown_target(void)
{
    return strcmp(request.target, "-") == 0 ? "standard output" : request.target;
}

/* ---- Events ---- */

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
static int export_to(size_t format, const char *path)
{
    struct weft_reader *reader = cli_open(path);
    if (!reader)
        return CLI_FAILED;
    if (!request.full)
        weft_reader_limit_texts(reader, SINK_TEXT);
    uint64_t total = 0;
    struct cli_export_failure f = {.err = {.offset = WEFT_NO_OFFSET}};
    int rc = formats[format].exporter->run(reader, path, request.target, &total, &f);
    cli_warn(path, weft_reader_damage(reader));
    const uint64_t cut = request.full ? 0 : weft_reader_cut_texts(reader);
    if (cut)
        cli_say(path, "warning: %" PRIu64 " text%s longer than %u bytes, and cut; --full keeps all",
                cut, cut == 1 ? " is" : "s are", SINK_TEXT);
    int status = CLI_FAILED;
    if (rc == 0)
        status = cli_status(path, weft_reader_damage(reader), total);
    else if (f.err.code)
        cli_complain(f.reading ? path : shown_target(), &f.err);
    if (rc == 0 && isatty(STDERR_FILENO))
        cli_say(shown_target(), "%" PRIu64 " event%s written", total, weft_plural(total));
    weft_reader_close(reader);
    return status;
}

/* ---- Samples ---- */

/* Each file is a separate profile: process ids and addresses from one mean nothing in another. */
struct loaded {
    struct cli_profiles *profiles;
    struct weft_pprof_part *part;
    unsigned count;
};

/* Says what users of the result should know. */
static void warn(const char *path, const struct cli_profiles *p)
{
    const struct weft_profile *profile = p->profile;
    const struct weft_symbols_stats *s = &p->symbols;
    const struct {
        uint64_t files;
        const char *is, *are, *what;
    } problems[] = {
        {s->missing, "is", "are",
         "not there, so addresses in it have no names; --sysroot DIR says where the system is that "
         "ran it"},
        {s->other_build, "has", "have", "been replaced since, so addresses in it have no names"},
        {s->damaged, "cannot", "cannot",
         "be read to the end, so some addresses in it have no names"},
    };
    bool any = false, named = false;
    for (size_t i = 0; i < sizeof problems / sizeof *problems && !request.profiles.no_symbols; i++)
        if (problems[i].files)
            cli_say(path, "warning: %" PRIu64 " file%s with code %s %s", problems[i].files,
                    weft_plural(problems[i].files),
                    problems[i].files == 1 ? problems[i].is : problems[i].are, problems[i].what);
    for (uint32_t i = 0; i < profile->locations; i++) {
        any |= profile->location[i].kernel;
        named |= profile->location[i].kernel && profile->location[i].frames;
    }
    if (any && !named && !request.profiles.no_symbols && !request.profiles.kallsyms)
        cli_say(path,
                "warning: addresses of the kernel have no names: %s; --kallsyms FILE has them",
                p->this_boot ? "only root may read them, unless kernel.kptr_restrict allows it"
                             : "it is not known which kernel ran");
    if (request.pprof.async != WEFT_ASYNC_NONE && !profile->model)
        cli_say(path, "warning: there are no promises in it, so stacks are as they are; weft "
                      "record --sample records both");
    if (request.pprof.off_cpu && profile->absences == 0)
        cli_say(path, "warning: it does not say when threads were away from their cores");
    if (profile->lost)
        cli_say(path, "warning: %" PRIu64 " samples were lost as it was recorded", profile->lost);
}

static bool has_process(const struct weft_profile *p, uint32_t process)
{
    for (uint32_t i = 0; i < p->samples; i++)
        if (p->thread[p->sample[i].thread].process == process)
            return true;
    for (uint32_t i = 0; i < p->absences; i++)
        if (p->thread[p->absence[i].thread].process == process)
            return true;
    return false;
}

/* Fills the next of l. Prints what is wrong. */
static bool load(struct loaded *l, const char *path)
{
    struct cli_profiles *p = &l->profiles[l->count];
    struct weft_pprof_part *part = &l->part[l->count++];
    if (!cli_profiles_open(p, &path, 1, &request.profiles))
        return false;
    const struct cli_profiles_file *f = &p->file[0];
    *part = (struct weft_pprof_part){.profile = p->profile, .comment = f->program};
    if (request.pprof.async != WEFT_ASYNC_NONE && p->profile->model) {
        part->family = cli_profile_families(p->profile);
        if (!part->family)
            return cli_say(path, "%s", weft_error_name(WEFT_E_NOMEM));
    }
    if (f->real_ns)
        part->real_ns = (int64_t)((uint64_t)f->real_ns + p->profile->first_ns - f->clock_ns);
    warn(path, p);
    return true;
}

static bool load_all(struct loaded *l, const char *const *path, unsigned paths)
{
    l->profiles = calloc(paths, sizeof *l->profiles);
    l->part = calloc(paths, sizeof *l->part);
    if (!l->profiles || !l->part)
        return cli_say("export", "%s", weft_error_name(WEFT_E_NOMEM));
    bool found = !request.pprof.only;
    while (l->count < paths) {
        if (!load(l, path[l->count]))
            return false;
        found |= has_process(l->part[l->count - 1].profile, request.pprof.process);
    }
    return found || cli_say(*path, "there are no samples of process %" PRIu32 "%s",
                            request.pprof.process, paths > 1 ? " in any of these files" : " in it");
}

static int write_profile(const struct loaded *l, const char *const *path)
{
    struct weft_output out;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    uint64_t cut, samples = 0;
    if (!cli_output_open(&out, request.target, WEFT_OUTPUT_OTHER, path, l->count))
        return CLI_FAILED;
    int rc = (request.legacy ? weft_pprof_write_legacy : weft_pprof_write)(
        out.file, l->part, l->count, &request.pprof, &cut, &err);
    if (out.file == stdout && cli_stdout_left())
        rc = 0;
    else if (rc < 0)
        cli_complain(shown_target(), &err);
    bool kept = cli_output_close(&out, request.target, rc == 0);
    if (rc < 0 || !kept)
        return CLI_FAILED;
    if (cut)
        cli_say(shown_target(),
                "warning: the stacks of %" PRIu64 " sample%s are too deep to be written whole; "
                "of each there are the innermost addresses, at most %d",
                cut, weft_plural(cut), WEFT_FRAMES_MAX);
    for (unsigned i = 0; i < l->count; i++)
        samples += l->part[i].profile->samples;
    if (isatty(STDERR_FILENO))
        cli_say(shown_target(), "%" PRIu64 " sample%s written; go tool pprof -http=: %s shows them",
                samples, weft_plural(samples), cli_shown(shown_target()).text);
    return CLI_DONE;
}

static int export_profile(const char *const *path, unsigned paths)
{
    struct loaded l = {.count = 0};
    request.legacy = strcmp(request.format, "pprof-legacy") == 0;
    request.profiles.command = "export";
    request.profiles.no_model = request.legacy;
    request.profiles.no_symbols |= request.legacy; /* the format has no place for them */
    if (request.legacy && (request.pprof.off_cpu || request.pprof.async != WEFT_ASYNC_NONE))
        cli_misuse("export",
                   "pprof-legacy has only addresses and how often they were met; --off-cpu "
                   "and --async-stacks need --to pprof");
    int status = load_all(&l, path, paths) ? write_profile(&l, path) : CLI_FAILED;
    for (unsigned i = 0; i < l.count; i++) {
        for (unsigned f = 0; f < l.profiles[i].files; f++)
            if (l.profiles[i].file[f].damaged)
                status = CLI_FAILED; /* the readable part has been written */
        cli_profiles_close(&l.profiles[i]);
        free(l.part[i].family);
    }
    free(l.profiles);
    free(l.part);
    return status;
}

/* ---- The command line ---- */

/* A time, which is no word. */
static bool take_time(int64_t *ns, const char *text)
{
    return weft_parse_duration(text, strlen(text), ns);
}

static void take_to(const struct cli_command *c, const struct cli_option *o, const char *text)
{
    if (!take_time(&cli_part.to_ns, text))
        request.format = cli_allowed_word(c, o, text);
}

static void take_from(const struct cli_command *c, const struct cli_option *o, const char *text)
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
    if (take_time(&cli_part.from_ns, text))
        return;
    while (i < sizeof kinds / sizeof *kinds && strcmp(text, kinds[i].name) != 0)
        i++;
    if (i == sizeof kinds / sizeof *kinds)
        cli_misuse(c->name, "--%s: there is no \"%s\"; there are akaros, kpdata and perf", o->name,
                   text);
    request.profiles.from = kinds[i].kind;
}

static const char *const format_words[] = {
#define EXPORTER(id, name, about) name,
#include "cli/exporters.def"
    "pprof", "pprof-legacy", NULL};
static const char *const kind_words[] = {"akaros", "kpdata", "perf", NULL};

static const struct cli_option options[] = {
    CLI_CALL("to", take_to, "FORMAT", "one of those above:", .words = format_words),
    CLI_TEXT("output", request.target, "OUT", "where to write", .letter = 'o', .required = true,
             .completes = "ctf|jsonl|pb.gz|prof"),
    CLI_FLAG("full", request.full,
             "whole texts in events, however long; otherwise the first 500 bytes"),
    CLI_PART_STREAM,
    CLI_PART_PROMISE,
    CLI_HEADING("Of samples only:"),
    CLI_CALL("from", take_from, "akaros|kpdata|perf|TIME",
             "what FILEs are, whatever they look like; akaros: kpoprofile. Of events, a time: only "
             "that part of the trace, from then on; a second --to, with a time, says up to when",
             .words = kind_words),
    CLI_NUMBER("pid", request.pprof.process, "PID", "only the samples of this process",
               .most = UINT32_MAX - 1, .given = &request.pprof.only),
    CLI_TIME("period", request.profiles.period_ns, "TIME",
             "what a sample of an Akaros stream stands for, as 1ms: it does not say", .least = 1),
    CLI_FLAG("off-cpu", request.pprof.off_cpu,
             "also the time that threads were away from their cores (pprof)"),
    CLI_ASYNC_STACKS(request.pprof.async),
    CLI_SYSROOT(request.profiles.sysroot),
    CLI_KALLSYMS(request.profiles.kallsyms),
    CLI_NO_SYMBOLS(request.profiles.no_symbols),
    CLI_END,
};

/* A given option that is about samples, or NULL. */
static const char *option_of_samples(void)
{
    const struct {
        bool given;
        const char *name;
    } list[] = {
        {request.profiles.from != WEFT_FOREIGN_NONE, "--from"},
        {request.pprof.only, "--pid"},
        {request.profiles.period_ns > 0, "--period"},
        {request.pprof.off_cpu, "--off-cpu"},
        {request.pprof.async != WEFT_ASYNC_NONE, "--async-stacks"},
        {request.profiles.sysroot, "--sysroot"},
        {request.profiles.kallsyms, "--kallsyms"},
        {request.profiles.no_symbols, "--no-symbols"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].given)
            return list[i].name;
    return NULL;
}

static int run(int files, char **file)
{
    if (!request.format)
        cli_misuse("export", "--to FORMAT is missing");
    const bool is_profile = strncmp(request.format, "pprof", 5) == 0;
    const bool to_stdout = strcmp(request.target, "-") == 0;
    size_t format = 0;
    while (!is_profile && strcmp(request.format, formats[format].name) != 0)
        format++;
    if (to_stdout && !is_profile && formats[format].exporter->no_stdout)
        cli_misuse("export", "%s", formats[format].exporter->no_stdout);
    if (to_stdout && isatty(STDOUT_FILENO))
        cli_misuse("export", "will not write a %s to a terminal", is_profile ? "profile" : "trace");
    if (is_profile && !weft_part_is_whole(&cli_part))
        cli_misuse("export", "--to %s writes samples, and a part of a trace is of events",
                   request.format);
    if (is_profile)
        return export_profile((const char *const *)file, (unsigned)files);
    const char *of_samples = option_of_samples();
    if (of_samples)
        cli_misuse("export", "%s is about samples; --to %s writes events", of_samples,
                   request.format);
    if (files > 1)
        cli_misuse("export", "one FILE is wanted, but there is also %s", file[1]);
    return export_to(format, *file);
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
