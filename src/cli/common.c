/* SPDX-License-Identifier: ISC */
#include "cli/common.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/memory.h"
#include "cli/report.h"
#include "cli/source.h"
#include "view/text.h"

/* ---- Messages ---- */

struct cli_shown cli_shown(const char *name)
{
    struct cli_shown s;
    if (strcmp(name, "-") == 0)
        name = "standard input";
    size_t size = weft_text_clean(s.text, sizeof s.text - 1, name, strlen(name));
    s.text[size] = 0;
    return s;
}

struct cli_many cli_many(uint64_t n, const char *noun)
{
    struct cli_many out;
    snprintf(out.text, sizeof out.text, "%s %.30s%s", weft_count(n).text, noun, weft_plural(n));
    return out;
}

/* Cleans the text to one line: parts of it may come from a trace or be a file name. */
bool cli_say(const char *name, const char *format, ...)
{
    char *text = NULL, *clean = NULL;
    va_list args;
    va_start(args, format);
    int size = vasprintf(&text, format, args);
    va_end(args);
    if (size >= 0)
        clean = malloc(3 * (size_t)size + 1);
    if (clean)
        clean[weft_text_clean(clean, 3 * (size_t)size, text, (size_t)size)] = '\0';
    fprintf(stderr, "weft: %s: %s\n", cli_shown(name).text, clean ? clean : "out of memory");
    free(clean);
    if (size >= 0)
        free(text);
    return false;
}

/* Ends the line with the place; the advice, if there is any, comes last. */
static void say_error(const char *path, const char *prefix, const struct weft_error *err)
{
    const char *text = *err->text ? err->text : weft_error_name(err->code);
    if (err->offset == WEFT_NO_OFFSET) {
        cli_say(path, "%s%s", prefix, text);
        return;
    }
    const char *advice = strstr(text, "; ");
    int what = advice ? (int)(advice - text) : (int)strlen(text);
    cli_say(path, "%s%.*s, at offset %" PRIu64 "%s", prefix, what, text, err->offset, text + what);
}

bool cli_complain(const char *path, const struct weft_error *err)
{
    say_error(path, "", err);
    return false;
}

_Noreturn void cli_misuse(const char *command, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *space = *command ? " " : "";
    fprintf(stderr, "weft%s%s: %s; see weft%s%s --help\n", space, command, cli_shown(text).text,
            space, command);
    exit(CLI_MISUSED);
}

/* ---- Values of options ---- */

size_t cli_expand_pid(char *path, size_t size, const char *pattern, pid_t pid)
{
    size_t n = 0;
    for (const char *c = pattern; *c && n < size; c++)
        if (c[0] == '%' && c[1] == 'p') {
            n += (size_t)snprintf(path + n, size - n, "%d", (int)pid);
            c++;
        } else {
            path[n++] = *c;
        }
    if (n < size)
        path[n] = 0;
    return n;
}

const char *cli_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

bool cli_own_folder(char *folder, size_t size)
{
    const ssize_t n = readlink("/proc/self/exe", folder, size - 1);
    folder[n > 0 ? n : 0] = 0;
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = 0;
    return slash;
}

/* ---- Traces ---- */

#define PROGRESS_AFTER_NS 1000000000
#define PROGRESS_EVERY_NS 100000000

struct cli_progress cli_progress_begin(const char *path)
{
    bool wanted = path && isatty(STDERR_FILENO) && !cli_paged;
    return (struct cli_progress){.path = path,
                                 .next_ns = wanted ? weft_monotonic_ns() + PROGRESS_AFTER_NS : 0};
}

bool cli_progress_show(void *progress, double share)
{
    struct cli_progress *p = progress;
    if (!p->next_ns || weft_monotonic_ns() < p->next_ns)
        return true;
    p->shown = true;
    p->next_ns = weft_monotonic_ns() + PROGRESS_EVERY_NS;
    fprintf(stderr, "\rweft: %s: %d %% read ", cli_shown(p->path).text, (int)(share * 100));
    fflush(stderr);
    return true;
}

void cli_progress_end(struct cli_progress *p)
{
    if (p->shown)
        fputs("\r\x1b[K", stderr);
    *p = (struct cli_progress){.next_ns = 0};
}

struct weft_part cli_part = WEFT_WHOLE;

struct weft_reader *cli_open(const char *path)
{
    struct weft_reader *reader = NULL;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    const char *file = cli_trace_path(path, &err);
    if (!file ||
        (weft_part_is_whole(&cli_part) ? weft_reader_open(&reader, file, &err)
                                       : weft_reader_open_part(&reader, file, &cli_part, &err)) < 0)
        cli_complain(path, &err);
    return reader;
}

int cli_open_file(struct weft_reader **out, int fd, struct weft_error *err)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return weft_reader_open(out, path, err);
}

enum { PLACES_SHOWN = 5 }; /* no more than WEFT_DAMAGE_KEPT */

void cli_warn(const char *path, const struct weft_damage *d)
{
    uint64_t shown = d->problems < PLACES_SHOWN ? d->problems : PLACES_SHOWN;
    for (uint64_t i = 0; i < shown; i++)
        say_error(path, "warning: ", &d->first[i]);
    if (d->problems > shown)
        cli_say(path, "warning: … and %" PRIu64 " more such places", d->problems - shown);
    if (d->skipped_bytes)
        cli_say(path, "warning: skipped what could not be read: %" PRIu64 " byte%s",
                d->skipped_bytes, weft_plural(d->skipped_bytes));
    if (d->backward_times)
        cli_say(path, "warning: time runs backwards at %" PRIu64 " event%s", d->backward_times,
                weft_plural(d->backward_times));
    if (d->unknown_types)
        cli_say(path, "warning: %" PRIu64 " promise%s of a type that weft does not know",
                d->unknown_types, weft_plural(d->unknown_types));
}

void cli_warn_of_model(const char *path, const struct weft_model *m)
{
    cli_warn(path, &m->damage);
    const struct weft_contradictions *c = &m->contradictions;
    const struct {
        uint64_t count;
        const char *what;
    } list[] = {
        {c->created_twice, "creations are of promises that were known already"},
        {c->resolved_twice,
         m->quirks.last_end_counts
             ? "resolutions are of promises that were resolved already; the last counts"
             : "resolutions are of promises that were resolved already; the first counts"},
        {c->circles, "promises that would have become themselves were left as they were"},
        {c->on_loop, "resolutions of the event loop itself were ignored"},
    };
    for (unsigned i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].count)
            cli_say(path, "warning: %" PRIu64 " %s", list[i].count, list[i].what);
}

int cli_status(const char *path, const struct weft_damage *damage, uint64_t events)
{
    return events > 0 || damage->problems == 0 ? CLI_DONE
                                               : cli_fail(path, "not a single event can be read");
}

enum { MEMORY_SMALL = 64 << 20 }; /* that much is there */

/* Returns false, after saying what helps, if there is not that much memory. */
static bool is_room(const char *path, uint64_t wanted)
{
    const uint64_t there = wanted < MEMORY_SMALL ? UINT64_MAX : cli_memory_left("");
    if (wanted <= there)
        return true;
    return cli_say(path,
                   "needs %s of memory or more, and there are %s; look at a part of it, by --from "
                   "and --to or --stream, or save one first: weft save --from TIME --to TIME -o "
                   "PART %s",
                   weft_size(wanted).text, weft_size(there).text, path);
}

/* Returns true if a model of the trace may fit: so far it has taken more than twice the size of the events. Of a stream or a
 * promise, and of other formats, which have texts in their events, it is not known before how much they take. */
static bool may_fit(const struct weft_reader *reader, const char *path)
{
    const struct weft_reader_facts *f = weft_reader_facts(reader);
    const bool chosen = f->is_part && !weft_part_has_all(&f->part);
    return chosen || !f->stream || f->of_ocaml || is_room(path, 2 * f->content_bytes);
}

struct weft_model *cli_model_quiet(struct weft_reader *reader, const char *path)
{
    struct weft_model *model = NULL;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    if (!may_fit(reader, path))
        return NULL;
    struct cli_progress progress = cli_progress_begin(path);
    int rc = weft_model_build(&model, reader, cli_progress_show, &progress, &err);
    cli_progress_end(&progress);
    if (rc < 0)
        cli_complain(path, &err);
    return model;
}

struct weft_model *cli_model_of(struct weft_reader *reader, const char *path)
{
    struct weft_model *model = cli_model_quiet(reader, path);
    const struct weft_damage *damage = weft_reader_damage(reader);
    if (!model)
        return NULL;
    cli_warn_of_model(path, model);
    if (cli_status(path, damage, model->events_total) == CLI_DONE)
        return model;
    weft_model_free(model);
    return NULL;
}

struct weft_model *cli_model(const char *path)
{
    struct weft_reader *reader = cli_open(path);
    if (!reader)
        return NULL;
    struct weft_model *model = cli_model_of(reader, path);
    weft_reader_close(reader);
    return model;
}

struct weft_history *cli_history(const struct weft_model *model, const char *path)
{
    struct weft_history *history = NULL;
    if (!is_room(path, 20 * model->events_total)) /* it has taken 28 bytes for each */
        return NULL;
    struct cli_progress progress = cli_progress_begin(path);
    int rc = weft_history_new(&history, model, cli_progress_show, &progress);
    cli_progress_end(&progress);
    if (rc < 0)
        cli_say(path, "%s", weft_error_name(rc));
    return history;
}

/* ---- Output ---- */

static bool say_unless(int rc, const char *path, const struct weft_error *err)
{
    return rc == 0 || cli_complain(strcmp(path, "-") == 0 ? "standard output" : path, err);
}

/* The sources, and the traces that they only name (a core does): these are not written over either, and the output is no
 * more readable than they are. Kept until the program ends. NULL: there are no such traces, or there is no memory. */
static const char *const *with_named(const char *const *source, unsigned *sources)
{
    static struct list {
        struct list *next;
        const char *name[];
    } * all;
    unsigned count = 0;
    for (unsigned i = 0; i < *sources; i++)
        count += cli_trace_found(source[i]) != NULL;
    struct list *l =
        count ? malloc(sizeof *l + (*sources + (size_t)count) * sizeof *l->name) : NULL;
    if (!l)
        return NULL;
    l->next = all;
    all = l;
    count = 0;
    for (unsigned i = 0; i < *sources; i++) {
        const char *found = cli_trace_found(source[i]);
        l->name[count++] = source[i];
        if (found)
            l->name[count++] = found;
    }
    *sources = count;
    return l->name;
}

bool cli_output_open(struct weft_output *out, const char *path, enum weft_output_kind kind,
                     const char *const *source, unsigned sources)
{
    const char *const *all = with_named(source, &sources);
    const struct weft_output_options o = {kind, all ? all : source, sources};
    struct weft_error err;
    return say_unless(weft_output_open(out, path, &o, &err), path, &err);
}

bool cli_output_close(struct weft_output *out, const char *path, bool keep)
{
    struct weft_error err;
    return say_unless(weft_output_close(out, keep, &err), path, &err);
}

bool cli_stdout_left(void)
{
    struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&p, 1, 0) > 0 && p.revents & POLLERR;
}

int cli_finish(int status)
{
    if (cli_lacked_memory()) {
        cli_say("standard output", "out of memory");
        status = CLI_FAILED;
    }
    errno = 0;
    if ((fflush(stdout) == 0 && !ferror(stdout)) || cli_stdout_left())
        return status;
    return cli_fail("standard output", "cannot be written%s%s", errno ? ": " : "",
                    errno ? strerror(errno) : "");
}
