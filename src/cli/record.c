/* SPDX-License-Identifier: ISC */
/* weft record: runs a program with recording on, as if it had been run without weft. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/child.h"
#include "cli/common.h"
#include "cli/ending.h"
#include "cli/live.h"
#include "cli/memory.h"
#include "cli/names.h"
#include "cli/record.h"
#include "cli/sampling.h"
#include "cli/summary.h"
#include "read/alive.h"

#define DEFAULT_PATH "weft.trace"
#define DEFAULT_BYTES (UINT64_C(64) << 20)
#define DEFAULT_XEN_BYTES (UINT64_C(2) << 20)
#define MIN_BYTES (UINT64_C(64) << 10)
#define MAX_BYTES (UINT64_C(1) << 40)
#define KEPT_SAMPLES_BYTES (UINT64_C(16) << 20) /* so that what runs for months fills no disk */
#define KEPT_STEP_MS 100
#define TEMPORARY_SUFFIX 7 /* the recorder renames FILE.XXXXXX */

struct request {
    const char *output;
    uint64_t bytes, pending; /* 0: the library's default */
    bool force, memory, off_cpu, xen, sized, low;
    uint32_t hz;            /* 0: no samples */
    uint64_t samples_bytes; /* of the samples; 0: as many as there are */
    unsigned runtimes;      /* bits as from cli_runtimes_parse */
    char **argv;            /* of the program */
    struct cli_keep keep;
    bool keeps;
    struct cli_watcher *watcher; /* or NULL: nothing is kept */
};

/* What is at the trace's place, before and while the program runs. */
struct place {
    char path[PATH_MAX];
    char name[PATH_MAX];      /* to be shown */
    char old[PATH_MAX + 16];  /* FILE.old, or "" */
    char kept[PATH_MAX + 48]; /* the older trace's second name until it is known what happens to the
                               * first; "" if there is none */
    ino_t before;             /* of the older file; 0: none */
    char children[PATH_MAX];  /* pattern of the children's traces; "": not followed */
    uint64_t begun_ns;        /* when that was, CLOCK_MONOTONIC */
    bool usable;
    pid_t pid; /* of the program */
};

/* ---- The command line ---- */

static struct request request = {
    .output = DEFAULT_PATH, .runtimes = CLI_RUNTIMES_ALL, .keep = CLI_KEEP_DEFAULTS};

static void take_keep(const struct cli_command *c, const struct cli_option *o, const char *value)
{
    if (request.keep.conditions == WATCH_CONDITIONS_MAX)
        cli_misuse(c->name, "--%s: there are more than %u conditions", o->name,
                   WATCH_CONDITIONS_MAX);
    request.keep.condition[request.keep.conditions++] = value;
    request.keeps = true;
}

static void take_runtimes(const struct cli_command *c, const struct cli_option *o,
                          const char *value)
{
    if (!cli_runtimes_parse(value, &request.runtimes))
        cli_misuse(c->name,
                   "--%s: \"%s\" is neither none nor a list of what --list-runtimes prints",
                   o->name, value);
}

static void list_runtimes(const struct cli_command *c, const struct cli_option *o,
                          const char *value)
{
    (void)c, (void)o, (void)value;
    cli_runtimes_list();
    exit(CLI_DONE);
}

static const char *const runtimes[] = {"python", "node",    "ocaml", "libuv", "glib", "libevent",
                                       "libev",  "threads", "epoll", "none",  NULL};

static const struct cli_option options[] = {
    CLI_TEXT("output", request.output, "FILE",
             "the trace; %p in it is the process id. An older trace of that name is kept as "
             "FILE.old",
             .letter = 'o', .shown = DEFAULT_PATH, .completes = "weft|trace"),
    CLI_SIZE("size", request.bytes, "SIZE",
             "of the trace, from 64K to 1T; when it is full, the oldest events are overwritten",
             .given = &request.sized, .shown = "64M"),
    CLI_SIZE("pending", request.pending, "SIZE",
             "how much of it is room for promises that stay pending for long, at most half; weft "
             "info says when there was too little",
             .least = 1, .shown = "a quarter"),
    CLI_FLAG("memory", request.memory,
             "record into memory, and write FILE when the program has ended: whatever becomes of "
             "the file or its disk meanwhile, the program does not notice"),
    CLI_NUMBER("sample", request.hz, "HZ",
               "also look HZ times a second (1000) where the program is: what the CPU did, and for "
               "which promise; see weft profile. weft sample has more options",
               .alone = "1000", .least = 1),
    CLI_SIZE("sample-size", request.samples_bytes, "SIZE",
             "with --sample: how much of the samples is kept, at least 256K; the oldest are "
             "overwritten",
             .least = WEFT_SAMPLES_RING_LEAST, .most = MAX_BYTES, .shown = "all; with --keep 16M"),
    CLI_FLAG("sample-low", request.low,
             "sample as weft sample --low does, which can stay on: 99 times a second, unless "
             "--sample says how often"),
    CLI_FLAG("off-cpu", request.off_cpu,
             "with --sample: record when threads leave their cores, also if they do so very often; "
             "else that is given up when it costs too much"),
    CLI_FLAG("force", request.force,
             "do not keep an older trace; replace FILE also if it is no trace"),
    CLI_CALL(
        "runtimes", take_runtimes, "LIST",
        "which runtimes and libraries are told to record what programs of theirs do: python, node, "
        "ocaml, libuv, glib, libevent, libev, threads, epoll, none",
        .words = runtimes, .shown = "all that --list-runtimes prints"),
    CLI_CALL("list-runtimes", list_runtimes, NULL,
             "print which there are, what each can see, and where it is"),
    CLI_FLAG("xen", request.xen,
             "in a Xen guest: record into pages that the control domain can read while the guest "
             "runs, hangs or has crashed, and into no file (default size: 2M); there: weft save -o "
             "FILE xen:NAME. PROGRAM must use the shared libweft"),
    CLI_HEADING("To keep what was recorded last when something happens (see weft watch):"),
    CLI_CALL("keep", take_keep, "CONDITION",
             "keep it when that holds, as 'GET /* > 500ms' or crash; may be given several times"),
    CLI_KEEP_OPTIONS(request.keep, "keep-"),
    CLI_END,
};

static void check_size(const struct request *r)
{
    const uint64_t min = r->xen ? CLI_XEN_MIN_BYTES : MIN_BYTES;
    const uint64_t max = r->xen ? CLI_XEN_MAX_BYTES : MAX_BYTES;
    if (r->bytes < min || r->bytes > max)
        cli_misuse("record", "--size: %s is too %s; possible is %s", weft_size(r->bytes).text,
                   r->bytes < min ? "small" : "large", r->xen ? "72K to 3900M" : "64K to 1T");
}

static void check(struct request *r)
{
    const bool output = strcmp(r->output, DEFAULT_PATH) != 0;
    if (r->sized)
        check_size(r);
    else
        r->bytes = r->xen ? DEFAULT_XEN_BYTES : DEFAULT_BYTES;
    if (r->low && r->off_cpu)
        cli_misuse("record", "--sample-low records no switches; leave out --off-cpu");
    if (r->low && !r->hz)
        r->hz = CLI_LOW_HZ;
    if (r->off_cpu && !r->hz)
        cli_misuse("record", "--off-cpu is for --sample");
    if (r->samples_bytes && !r->hz)
        cli_misuse("record", "--sample-size is for --sample");
    if (r->xen && (output || r->force || r->memory || r->hz || r->pending))
        cli_misuse("record", "--xen records into no file: -o, --pending, --force, --memory and "
                             "--sample are not for it");
    if (r->keeps && r->xen)
        cli_misuse("record", "--keep is not for --xen");
    if (r->pending > r->bytes / 2)
        cli_misuse("record", "--pending: at most half of the trace (--size) can be for it, %s",
                   weft_size(r->bytes / 2).text);
    if (!*r->output)
        cli_misuse("record", "-o: the name of the trace is empty");
    if (strcmp(r->output, "-") == 0)
        cli_misuse("record", "a trace is recorded into a file; weft save -o - copies it out");
}

/* ---- The place for the trace ---- */

static bool refuse(const struct place *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool refuse(const struct place *p, const char *format, ...)
{
    char why[512];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return cli_say(p->name, "%s; the program runs on without recording", why);
}

/* Returns true if there is a folder for it with enough space; otherwise prints why not. */
static bool check_folder(const struct place *p, uint64_t bytes)
{
    char folder[PATH_MAX];
    struct statvfs fs;
    snprintf(folder, sizeof folder, "%s", p->path);
    *(strrchr(folder, '/') + 1) = 0;
    if (access(folder, W_OK | X_OK) < 0)
        return refuse(p, "cannot be created: %s", strerror(errno));
    if (statvfs(folder, &fs) < 0 || fs.f_blocks == 0)
        return true;
    uint64_t room = (uint64_t)fs.f_frsize * (geteuid() == 0 ? fs.f_bfree : fs.f_bavail);
    return room >= bytes ||
           refuse(p, "needs %s, but its disk has only %s left; give a smaller --size",
                  weft_size(bytes).text, weft_size(room).text);
}

static bool check_file(const struct place *p, bool force)
{
    const char *path = p->path;
    struct stat st;
    uint32_t pid = 0;
    enum cli_stands stands = cli_what_stands(path, &pid);
    if (stands == CLI_LIVE)
        return refuse(p, "is being written by process %" PRIu32 "; give another name", pid);
    if (stands != CLI_SOMETHING || lstat(path, &st) < 0)
        return true;
    if (S_ISDIR(st.st_mode))
        return refuse(p, "is a folder; give the name of a file");
    if (force)
        return unlink(path) == 0 || refuse(p, "cannot be replaced: %s", strerror(errno));
    if (S_ISLNK(st.st_mode))
        return refuse(p, "is a symbolic link, which weft does not follow; give another name");
    return refuse(p, "is a file that is no trace; it is left alone, give another name");
}

/* Gives an older trace a second name, so that it survives a new one. */
static bool keep_older(struct place *p, bool force)
{
    struct stat st;
    uint32_t pid;
    p->before = lstat(p->path, &st) == 0 ? st.st_ino : 0;
    if (force || cli_what_stands(p->path, &pid) != CLI_A_TRACE)
        return true;
    snprintf(p->old, sizeof p->old, "%s.old", p->path);
    enum cli_stands old = cli_what_stands(p->old, &pid);
    if (old != CLI_NOTHING && old != CLI_A_TRACE)
        return refuse(p, "cannot be kept: there is another file with .old behind its name; give "
                         "another name, or --force");
    snprintf(p->kept, sizeof p->kept, "%s.%d", p->old, (int)getpid());
    if (link(p->path, p->kept) == 0)
        return true;
    p->kept[0] = 0; /* hard links are not supported here */
    return rename(p->path, p->old) == 0 ||
           refuse(p, "cannot be kept: %s; move it away, or give --force", strerror(errno));
}

static void prepare(struct place *p, const struct request *r)
{
    /* absolute, because the program may change its directory before it reads its environment */
    bool fits = cli_absolute(p->path, sizeof p->path - TEMPORARY_SUFFIX, r->output, getpid());
    snprintf(p->name, sizeof p->name, "%s", fits && strstr(r->output, "%p") ? p->path : r->output);
    if (!fits)
        refuse(p, "the name is too long");
    else
        p->usable = check_folder(p, r->bytes) && check_file(p, r->force) && keep_older(p, r->force);
}

/* The program has ended: makes the older trace FILE.old, or leaves it as FILE if there is no new one. */
static void restore_older(const struct place *p)
{
    struct stat st;
    if (!*p->kept)
        return;
    bool replaced = lstat(p->path, &st) == 0 && st.st_ino != p->before;
    if (replaced && rename(p->kept, p->old) == 0)
        return;
    unlink(p->kept);
}

/* ---- Memory instead of a file ---- */

#define MEMORY_FD 100 /* scripts use small numbers themselves */

/* Memory that nobody can shrink: if a mapped file is truncated, SIGBUS kills the program. We keep it open, so it
 * outlives the program. Returns a descriptor, or -1 after printing why. */
static int make_memory(const struct request *r)
{
    /* Taking more memory than there is would not fail: it would evict other processes' memory. */
    const uint64_t left = cli_memory_available();
    if (r->bytes > left) {
        cli_say("--memory",
                "%s is more than the %s that are left, give a smaller --size; the "
                "program runs on without recording",
                weft_size(r->bytes).text, weft_size(left).text);
        return -1;
    }
    const int fd = memfd_create("weft", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int error = fd < 0 || ftruncate(fd, (off_t)r->bytes) < 0
                    ? errno
                    : posix_fallocate(fd, 0, (off_t)r->bytes);
    if (!error && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        error = errno;
    if (!error)
        return fd;
    cli_say("--memory", "cannot have %s: %s; the program runs on without recording",
            weft_size(r->bytes).text, strerror(error));
    cli_close(fd);
    return -1;
}

static bool is_zero(const char *bytes, size_t n)
{
    return n == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0);
}

/* Writes what was recorded there to the trace's place. False: nothing was recorded, or the reason is printed. */
static bool write_memory(const struct place *p, int fd)
{
    static char block[65536];
    struct weft_facts_header facts;
    struct weft_output out;
    char memory[32];
    const char *const source[] = {memory};
    off_t at = 0;
    ssize_t n = 0;
    bool fine = true;
    snprintf(memory, sizeof memory, "/proc/self/fd/%d", fd);
    if (!weft_facts_read(fd, &facts) ||
        !cli_output_open(&out, p->path, WEFT_OUTPUT_TRACE, source, 1))
        return false;
    for (; fine && (n = pread(fd, block, sizeof block, at)) > 0; at += n)
        fine = is_zero(block, (size_t)n) ? fseeko(out.file, n, SEEK_CUR) == 0
                                         : fwrite(block, 1, (size_t)n, out.file) == (size_t)n;
    fine = fine && n == 0 && fflush(out.file) == 0 && ftruncate(fileno(out.file), at) == 0;
    if (!fine)
        cli_say(p->name, "cannot be written: %s", strerror(errno));
    return cli_output_close(&out, p->path, fine) && fine;
}

/* ---- Running ---- */

struct start {
    const struct request *request;
    struct place *place;
    int memory;
    struct cli_rings *rings;
};

/* In the child, whose process id may be in the trace's name. */
static void prepare_child(void *data)
{
    const struct start *start = data;
    const struct request *r = start->request;
    struct place *place = start->place;
    if (!r->memory || start->memory >= 0)
        prepare(place, r);
    unsetenv("WEFT_TRACE"); /* it may belong to another program */
    unsetenv("WEFT_TRACE_FD");
    unsetenv("WEFT_TRACE_FORK");
    if (place->usable && r->memory) {
        int given = fcntl(start->memory, F_DUPFD, MEMORY_FD);
        cli_env_number("WEFT_TRACE_FD", (uint64_t)(given >= 0 ? given : dup(start->memory)));
    }
    if (place->usable) {
        setenv("WEFT_TRACE", place->path, 1);
        cli_env_number("WEFT_TRACE_SIZE", r->bytes);
        cli_env_number("WEFT_TRACE_PENDING", r->pending);
        cli_env_number("WEFT_TRACE_FOR", (uint64_t)getpid());
        if (!r->memory &&
            cli_children_pattern(place->children, sizeof place->children, place->path, r->output))
            setenv("WEFT_TRACE_FORK", place->children, 1);
        cli_runtimes_set(r->runtimes, r->hz != 0, r->memory, r->argv);
        cli_rings_set(start->rings);
    }
}

/* Where the samples are while the program runs. */
static void samples_path(char path[PATH_MAX + 16], const struct place *place)
{
    snprintf(path, PATH_MAX + 16, "%s.samples", place->path);
}

/* While the program runs, the samples are in a trace of their own next to the trace: if we are killed, they stay. */
static bool begin_samples(struct cli_sampling *s, const struct request *r,
                          const struct place *place, pid_t pid)
{
    char path[PATH_MAX + 16];
    const struct weft_sampler_options o = {.scope = WEFT_SAMPLE_COMMAND,
                                           .process = (uint32_t)pid,
                                           .frequency = r->hz,
                                           .all_switches = r->off_cpu,
                                           .no_switches = r->low,
                                           .by_cores = r->low};
    samples_path(path, place);
    if (cli_sampling_check(path, path) && cli_sampling_open(s, "--sample", &o) &&
        cli_sampling_create(s, path, &o, r->samples_bytes, r->argv)) {
        if (r->low)
            s->step_ms = CLI_LOW_STEP_MS;
        if (r->watcher) /* what is kept has what was written until then */
            s->step_ms = s->flush_ms = KEPT_STEP_MS;
        if (weft_sampler_start(s->sampler) == 0)
            return true;
        cli_say("--sample", "out of memory");
    }
    cli_say("--sample", "the program runs on without samples");
    cli_sampling_close(s);
    return false;
}

static void begin_keeping(struct cli_record_keep *k, const struct request *r,
                          const struct place *place, int memory)
{
    static int signals[WATCH_CONDITIONS_MAX];
    static char samples[PATH_MAX + 16];
    static struct cli_record_kept of;
    samples_path(samples, place);
    of = (struct cli_record_kept){.path = place->path,
                                  .children = place->children,
                                  .memory = memory,
                                  .samples = r->hz ? samples : NULL,
                                  .begun_ns = place->begun_ns,
                                  .pid = place->pid,
                                  .signal = signals};
    of.signals = cli_watcher_signals(k->w, signals, WATCH_CONDITIONS_MAX);
    cli_watcher_beside(k->w, place->path);
    cli_record_keep_start(k, &of);
}

/* Runs the program to its end. Returns 0 and how it ended, or the errno with which it could not be
 * executed. */
static int run_program(const struct request *r, struct place *place, int memory,
                       struct cli_sampling *s, int *status)
{
    struct cli_rings rings = {.folder = ""};
    struct start start = {r, place, memory, &rings};
    struct cli_record_keep keep = {.w = r->watcher, .line = -1};
    pid_t pid;
    place->begun_ns = (uint64_t)weft_monotonic_ns();
    if (r->runtimes & 1u << CLI_OCAML)
        cli_rings_init(&rings);
    int error = cli_child_start(&pid, r->argv, prepare_child, &start);
    place->pid = pid;
    if (error) {
        cli_rings_stop(&rings);
        return error;
    }
    /* These fork; the last one begins a thread, after which a child might find locks that nobody gives back. */
    if (keep.w && place->usable)
        begin_keeping(&keep, r, place, memory);
    bool sampling = r->hz && place->usable && begin_samples(s, r, place, pid);
    if (place->usable)
        cli_rings_start(&rings, &(struct cli_rings_program){place->path, place->children, r->argv,
                                                            r->bytes, place->begun_ns, pid});
    error = cli_child_go();
    if (!error && sampling)
        s->failed = !cli_sampling_settle(s);
    while (!error && !cli_child_ended(!sampling, status))
        cli_sampling_step(s);
    if (sampling && error)
        cli_sampling_close(s);
    else if (sampling)
        cli_sampling_stop(s);
    cli_rings_stop(&rings);
    cli_record_keep_end(&keep, error ? 0 : *status);
    return error;
}

/* ---- The result ---- */

static void tell_losses(const char *name, const struct weft_reader_facts *f)
{
    const struct {
        uint64_t count;
        const char *what;
    } list[] = {
        {f->overwritten_events, "older events were overwritten; a larger --size keeps more"},
        {f->missing_events, "events in between are missing: overwritten before older ones"},
        {f->overwritten_words - f->lost_words,
         "older words of OCaml's rings were overwritten; a larger --size keeps more"},
        {f->lost_words,
         "words of OCaml's rings were overwritten before weft could take them out; a "
         "larger e= in OCAMLRUNPARAM gives it more time"},
        {f->discarded_events, f->refused
                                  ? "events were discarded; weft info says why"
                                  : "events were discarded, because there was no packet for them"},
        {f->lost_texts, "texts were cut or left out"},
    };
    for (unsigned i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].count)
            cli_say(name, "%s %s", weft_count(list[i].count).text, list[i].what);
}

/* Reports a trace that exists. */
static void tell_trace(const struct place *place, int status, bool *forked)
{
    struct cli_summary s;
    if (!cli_summary_open(&s, place->path) || !cli_summary_count(&s))
        return;
    const struct weft_reader_facts *f = weft_reader_facts(s.reader);
    *forked = cli_children_there(place->path);
    if (s.events_total == 0 && f->overwritten_events == 0) {
        fprintf(stderr, "weft: %s: recording was on, but the program recorded no event: it %s",
                cli_shown(place->name).text,
                f->of_ocaml
                    ? "is one of OCaml that said nothing of fibers, and collected no garbage"
                : *forked ? "forked, and what it does goes on in the child"
                          : "made no call of weft's, or paused it");
    } else {
        int64_t span = s.span_ns < INT64_MAX ? (int64_t)s.span_ns : INT64_MAX;
        fprintf(stderr, "weft: %s: %s, %s, %s, %s, %s KiB", cli_shown(place->name).text,
                cli_many(s.events_total, "event").text, cli_many(s.promises, "promise").text,
                cli_many(f->streams_recorded, "thread").text, weft_duration(span).text,
                weft_count((f->content_bytes + 1023) / 1024).text);
    }
    cli_tell_ending(status);
    fputc('\n', stderr);
    tell_losses(place->name, f);
    cli_summary_close(&s);
}

/* Returns true if the trace at that place is the program's. */
static bool is_its_own(const struct place *p)
{
    struct stat st;
    return stat(p->path, &st) == 0 && (!p->before || st.st_ino != p->before);
}

/* Appends the samples to the trace, or makes them the whole trace. Returns true if there are any. */
static bool keep_samples(struct cli_sampling *s, const struct place *place, bool traced,
                         struct cli_sampled *counts)
{
    struct weft_error err;
    bool fine = cli_sampling_end(s, true, counts), kept = false;
    if (!traced) {
        kept = rename(s->path, place->path) == 0;
        if (!kept)
            cli_say(s->path, "cannot be renamed: %s", strerror(errno));
        return kept;
    }
    int fd = fine ? open(place->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (fd >= 0 && weft_samples_append(fd, s->fd, 0, &err) == 0)
        kept = unlink(s->path) == 0;
    else if (fd >= 0)
        cli_complain(place->name, &err);
    cli_close(fd);
    if (!kept)
        cli_say(s->path, "has the samples; they are not in %s", cli_shown(place->name).text);
    return kept;
}

/* Names what the traces mention by address. */
static void add_names(const struct place *place, bool traced)
{
    if (traced)
        cli_names_append_at(place->path, place->name);
    if (*place->children)
        cli_children_name(place->children, place->pid, place->begun_ns);
}

/* Reports what its children have recorded. forked: as far as the program knows, it has children. */
static void tell_children(const struct place *place, bool forked)
{
    const unsigned told =
        *place->children ? cli_children_tell(place->children, place->pid, place->begun_ns) : 0;
    if (!*place->children && forked)
        cli_say(place->name, "the children that it has forked are not recorded with --memory");
    else if (forked && !told)
        cli_say(cli_children_shown(place->children),
                "is where its children record, with their process ids for %%p, each from its "
                "first call of weft's on");
}

/* The samples include them. */
static void drop_names(const struct place *place, pid_t adopted)
{
    cli_runtimes_drop_names(place->pid);
    if (adopted)
        cli_runtimes_drop_names(adopted);
    if (*place->children)
        cli_children_each(place->children, place->pid, place->begun_ns, cli_runtimes_drop_names);
}

/* Whether the folder of the trace is root's alone, so that servers whose workers give up root's rights cannot record. */
static bool is_for_root(const struct place *place)
{
    char folder[PATH_MAX];
    struct stat st;
    snprintf(folder, sizeof folder, "%s", place->path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = 0;
    return geteuid() == 0 && slash && stat(folder, &st) == 0 && !(st.st_mode & S_IWOTH);
}

static void tell_nothing(const struct request *r, const struct place *place, bool sampled)
{
    struct cli_why why = cli_program_why(r->argv[0]);
    cli_runtimes_why(r->argv, r->runtimes, &why);
    cli_say(r->argv[0], "%s: it %s%s",
            sampled ? "no promises were recorded, so there are only samples"
                    : "nothing was recorded",
            why.text,
            why.unlinked && is_for_root(place)
                ? ". A process that becomes another user cannot record into this folder"
                : "");
}

static void print_result(const struct request *r, const struct place *place, int memory,
                         struct cli_sampling *s, int status)
{
    struct weft_facts_header facts;
    struct cli_sampled counts;
    if (!place->usable)
        return; /* the reason is printed */
    if (memory >= 0 && !write_memory(place, memory) && weft_facts_read(memory, &facts))
        return;
    /* Programs that it starts may have recorded even if it did not. */
    pid_t adopted = 0;
    const bool traced =
        is_its_own(place) ||
        (*place->children && !strstr(r->output, "%p") &&
         (adopted = cli_children_adopt(place->children, place->begun_ns, place->path)) != 0);
    if (traced)
        cli_ending_note(place->path, place->name, place->pid, status);
    add_names(place, traced);
    const bool sampled = s->sampler && keep_samples(s, place, traced, &counts);
    if (r->hz && cli_runtimes_names(r->runtimes))
        drop_names(place, adopted);
    bool forked = false;
    if (traced)
        tell_trace(place, status, &forked);
    else
        tell_nothing(r, place, sampled);
    if (traced)
        tell_children(place, forked);
    if (sampled)
        cli_sampling_tell(&counts, place->name, NULL);
}

static int run(int operands, char **operand)
{
    (void)operands;
    int status = 0;
    check(&request);
    request.argv = operand;
    if (request.xen)
        return cli_record_xen(request.bytes, request.argv);
    if (request.keeps || getenv("WEFT_KEEP"))
        request.watcher = cli_watcher_new(&request.keep, "record");
    if (request.watcher && request.hz && !request.samples_bytes)
        request.samples_bytes = KEPT_SAMPLES_BYTES;
    struct place *place = mmap(NULL, sizeof *place, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0); /* with the child */
    if (place == MAP_FAILED)
        return cli_fail("record", "out of memory");
    struct cli_sampling sampling = {.fd = -1};
    int memory = request.memory ? make_memory(&request) : -1;
    int error = run_program(&request, place, memory, &sampling, &status);
    if (error) {
        restore_older(place);
        return cli_child_failed(request.argv[0], error);
    }
    print_result(&request, place, memory, &sampling, status);
    cli_sampling_close(&sampling);
    restore_older(place);
    cli_end_as(status);
}

const struct cli_command cli_record = {
    .name = "record",
    .summary = "run a program and record what it waits for",
    .usage = "[OPTION…] [--] PROGRAM [ARG…]\n"
             "--xen [--size SIZE] [--] PROGRAM [ARG…]\n"
             "--list-runtimes",
    .about =
        "Runs a program and records what it waits for. It is linked with weft; or it is one in "
        "Python, Node.js or OCaml 5, or uses libuv, GLib, libevent, libev, threads or epoll, and "
        "is not "
        "changed. Signals go on to the program, and weft ends as it does. What was recorded is "
        "told on standard error; if nothing was, why not. Children of a fork are recorded, and so "
        "are other programs that it starts, unless only it is linked with weft. Each has a trace "
        "of its own, FILE with -PID before its ending.\n",
    .options = options,
    .examples = "weft record -o slow.weft -- ./server 8080",
    .missing = "no PROGRAM is given",
    .least = 1,
    .program = true,
    .run = run,
    .state = CLI_STATE(request),
};
