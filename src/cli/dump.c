/* SPDX-License-Identifier: ISC */
/* weft dump: every event as a line. Of several traces, each reader returns its events in order of time, so the next line is
 * the earliest of the readers' next events. Only these are kept in memory. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/common.h"
#include "cli/sink.h"
#include "read/reader.h"

enum {
    TRACES_MAX = 64,
    SET_LEAST_NS = 1000000, /* if the wall clock was set by less, there is no warning */
};

static struct {
    struct weft_part part; /* that is printed; of a single trace, nothing else is read */
    bool full;
} request;

static const struct cli_option options[] = {
    CLI_TIME("from", cli_part.from_ns, "TIME",
             "only events at that time or later (39.5ms, 2s; a bare number is nanoseconds)"),
    CLI_TIME("to", cli_part.to_ns, "TIME", "only events at that time or earlier"),
    CLI_PART_STREAM,
    CLI_PART_PROMISE,
    CLI_FLAG("full", request.full,
             "whole texts; otherwise the first 500 bytes of each, and how many more there are"),
    CLI_END,
};

/* ---- Events ---- */

static void put_quoted(struct sink *s, const char *text, size_t size)
{
    put_byte(s, '"');
    put_escaped(s, text, size, true);
    put_byte(s, '"');
}

static void put_word(struct sink *s, const char *name, unsigned number)
{
    if (name)
        put_text(s, name);
    else
        put_unsigned(s, number);
}

/* A type is a word, as a rule. */
static void put_type(struct sink *s, const char *type)
{
    const char *c = type;
    while (*c > ' ' && *c < 0x7f && *c != '"' && *c != '\\')
        c++;
    if (*c || c == type)
        put_quoted(s, type, strlen(type));
    else
        put_text(s, type);
}

/* What only weft's own traces contain: the label of a creation and its place in the program, and the new value of a
 * counter after an increase. */
static void put_more(struct sink *s, const struct weft_event *ev)
{
    if (ev->kind == WEFT_EVENT_CREATES && ev->text) {
        put_text(s, " label=");
        put_quoted(s, ev->text, ev->text_size);
    }
    if (ev->origin && ev->origin->file) {
        char line[16];
        put_text(s, " at=\"");
        put_escaped(s, ev->origin->file, strlen(ev->origin->file), true);
        snprintf(line, sizeof line, ":%" PRIu32, ev->origin->line);
        put_text(s, ev->origin->line ? line : "");
        put_text(s, "\"");
    }
    if (ev->has_total) {
        put_text(s, " value=");
        put_signed(s, ev->total);
    }
}

static void put_field(struct sink *s, const struct weft_event *ev, enum weft_field field,
                      bool second)
{
    switch (field) {
    case WEFT_FIELD_PROMISE:
        if (ev->undated && !second)
            put_byte(s, '?');
        else
            put_id(s, second ? ev->b : ev->a);
        break;
    case WEFT_FIELD_TYPE:
        if (ev->origin)
            put_type(s, ev->origin->type);
        else
            put_word(s, weft_type_name(ev->type), ev->type);
        break;
    case WEFT_FIELD_REASON:
        put_word(s, weft_reason_name(ev->type), ev->type);
        break;
    case WEFT_FIELD_SIGNED:
        put_signed(s, ev->value);
        break;
    case WEFT_FIELD_DURATION:
        put_unsigned(s, (uint64_t)ev->value);
        break;
    case WEFT_FIELD_TEXT:
        put_quoted(s, ev->text, ev->text_size);
        break;
    }
}

/* time: relative to any moment. */
static void put_event(struct sink *s, const struct weft_reader *reader, const struct weft_event *ev,
                      int64_t time)
{
    const struct weft_event_desc *d = &weft_event_kinds[ev->kind];
    const struct weft_stream_facts *stream = weft_reader_facts(reader)->stream;
    put_signed(s, time);
    put_byte(s, ' ');
    if (ev->stream == WEFT_STREAM_NONE)
        put_byte(s, '-');
    else
        put_unsigned(s, stream ? stream[ev->stream].number : ev->stream);
    put_byte(s, ' ');
    put_text(s, d->name);
    /* In the order of the table, except that a number about what became of the text comes after it. */
    for (unsigned numbers = 0; numbers < 2; numbers++) {
        unsigned promises = 0;
        for (unsigned i = 0; i < d->fields; i++) {
            uint8_t field = d->field[i].field;
            if ((field == WEFT_FIELD_SIGNED || field == WEFT_FIELD_DURATION) != numbers)
                continue;
            put_byte(s, ' ');
            put_text(s, d->field[i].name);
            put_byte(s, '=');
            put_field(s, ev, field, promises > 0);
            promises += field == WEFT_FIELD_PROMISE;
        }
    }
    put_more(s, ev);
    put_text(s, ev->promoted ? " promoted\n" : "\n");
}

/* ---- Traces ---- */

struct trace {
    const char *path;
    char *name; /* in the first column; NULL: there is no such column */
    struct weft_reader *reader;
    const struct weft_event *event; /* those from `at` on have not been printed yet */
    ptrdiff_t events, at;
    int64_t begin_ns;          /* its first event, on the common axis */
    int64_t next_ns;           /* of event[at] */
    int64_t least_ns, most_ns; /* of those that have been read */
    uint64_t total;
    struct weft_error err; /* its code is 0 unless reading failed */
};

/* The last `components` components of a path. */
static const char *tail_of(const char *path, unsigned components)
{
    const char *at = path + strlen(path);
    while (at > path && (at[-1] != '/' || --components))
        at--;
    return at;
}

/* How many of the `paths` paths end like the i-th one, not counting that one. */
static unsigned count_alike(char *const *path, unsigned i, unsigned paths, unsigned components)
{
    const char *own = tail_of(path[i], components);
    unsigned alike = 0;
    for (unsigned j = 0; j < paths; j++)
        alike += j != i && strcmp(own, tail_of(path[j], components)) == 0;
    return alike;
}

/* As many components as needed to distinguish it from the others; a number if the same path is given twice. */
static char *name_of(char *const *path, unsigned i, unsigned paths)
{
    unsigned components = 1;
    while (count_alike(path, i, paths, components) && tail_of(path[i], components) != path[i])
        components++;
    const char *tail = tail_of(path[i], components);
    unsigned before = count_alike(path, i, i, components);
    char *name;
    if (!before)
        return strdup(tail);
    return asprintf(&name, "%s:%u", tail, before + 1) < 0 ? NULL : name;
}

static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

/* Sets event[at] and its time; reads more if necessary. False: there is none. */
static bool find_next(struct trace *t)
{
    if (t->at == t->events && !t->err.code) {
        t->at = 0;
        t->events = weft_reader_next(t->reader, &t->event, &t->err);
        if (t->events < 0)
            t->err.code = (int)t->events;
        t->events = t->events < 0 ? 0 : t->events;
        t->total += (uint64_t)t->events;
    }
    if (t->at == t->events)
        return false;
    uint64_t since = t->event[t->at].time_ns - weft_reader_facts(t->reader)->first_ns;
    t->next_ns = add(t->begin_ns, (int64_t)since);
    return true;
}

/* On failure prints why and returns false. */
static bool check_wall(const struct trace *t)
{
    const struct weft_reader_facts *f = weft_reader_facts(t->reader);
    char why[96] = "the program that recorded it had none";
    if (f->quirks.anonymous)
        snprintf(why, sizeof why, "traces of %s do not say when they were recorded", f->format);
    if (!f->has_wall)
        cli_say(t->path,
                "cannot be put in order with other traces: it has no wall clock, since %s; "
                "dump it alone",
                why);
    else if (!f->wall_measured &&
             (f->wall_set_ns >= SET_LEAST_NS || f->wall_set_ns <= -SET_LEAST_NS))
        cli_say(t->path,
                "warning: the wall clock was set by %s while it was recorded; all of its times "
                "are by what it was at the end",
                weft_duration(f->wall_set_ns).text);
    return f->has_wall;
}

/* Places the first events of all traces on the common axis, which begins at the earliest. */
static void find_axis(struct trace *trace, unsigned traces)
{
    int64_t zero = INT64_MAX;
    for (unsigned i = 0; i < traces; i++) {
        struct trace *t = &trace[i];
        if (!find_next(t))
            continue;
        const struct weft_reader_facts *facts = weft_reader_facts(t->reader);
        uint64_t first = facts->first_ns < INT64_MAX ? facts->first_ns : INT64_MAX;
        t->begin_ns = add((int64_t)first, facts->wall_ns);
        zero = t->begin_ns < zero ? t->begin_ns : zero;
    }
    for (unsigned i = 0; i < traces; i++) {
        struct trace *t = &trace[i];
        t->begin_ns = add(t->begin_ns, zero == INT64_MIN ? INT64_MAX : -zero);
        if (find_next(t))
            t->least_ns = t->most_ns = t->begin_ns;
    }
}

/* ---- Lines ---- */

static void put_name(struct sink *s, const char *name)
{
    if (name[strcspn(name, " \"\\")] == '\0' && *name) {
        size_t size = strlen(name), n, i = 0;
        while (i < size && (n = weft_utf8_harmless(name + i, size - i)) > 0)
            i += n;
        if (i == size) {
            put_bytes(s, name, size);
            return;
        }
    }
    put_quoted(s, name, strlen(name));
}

/* Prints the next event of t and advances. False: it was the last one. */
static bool put_next(struct sink *s, struct trace *t)
{
    const struct weft_event *ev = &t->event[t->at++];
    if (t->next_ns >= request.part.from_ns && t->next_ns <= request.part.to_ns) {
        if (t->name) {
            put_name(s, t->name);
            put_byte(s, ' ');
        }
        put_event(s, t->reader, ev, t->next_ns);
    }
    if (!ev->promoted) {
        t->least_ns = t->next_ns < t->least_ns ? t->next_ns : t->least_ns;
        t->most_ns = t->next_ns > t->most_ns ? t->next_ns : t->most_ns;
    }
    return find_next(t);
}

/* The trace whose next event is the earliest (of several, the first), leaving out the one at `except`. NULL: there is
 * none. */
static struct trace *earliest(struct trace *trace, unsigned traces, const struct trace *except)
{
    struct trace *best = NULL;
    for (struct trace *t = trace; t < trace + traces; t++)
        if (t != except && t->at < t->events && (!best || t->next_ns < best->next_ns))
            best = t;
    return best;
}

static int print(struct trace *trace, unsigned traces)
{
    static struct sink sink;
    sink_open(&sink, request.full);
    struct cli_progress progress = cli_progress_begin(sink.terminal ? NULL
                                                      : traces > 1  ? "all traces"
                                                                    : trace->path);
    unsigned printed = 0;
    for (struct trace *t; (t = earliest(trace, traces, NULL)) && !sink.error;) {
        const struct trace *other = earliest(trace, traces, t);
        bool more = true, is_next = true;
        while (more && is_next && !sink.error) {
            more = put_next(&sink, t);
            is_next = !other || t->next_ns < other->next_ns ||
                      (t->next_ns == other->next_ns && t < other);
            if (++printed % 65536)
                continue;
            double share = 0;
            for (unsigned i = 0; i < traces; i++)
                share += weft_reader_progress(trace[i].reader) / traces;
            cli_progress_show(&progress, share);
        }
    }
    cli_progress_end(&progress);
    return sink_close(&sink);
}

/* ---- What is to be said ---- */

static bool overlaps_another(const struct trace *trace, unsigned traces, const struct trace *t)
{
    for (const struct trace *o = trace; o < trace + traces; o++)
        if (o != t && o->total && o->least_ns <= t->most_ns && o->most_ns >= t->least_ns)
            return true;
    return false;
}

static void warn_apart(const struct trace *trace, unsigned traces)
{
    unsigned with_events = 0;
    for (unsigned i = 0; i < traces; i++)
        with_events += trace[i].total > 0;
    for (const struct trace *t = trace; t < trace + traces; t++)
        if (t->total && with_events > 1 && !overlaps_another(trace, traces, t))
            cli_say(t->path, "warning: no other trace was recorded at the same time, by the wall "
                             "clocks of their machines");
}

static int finish(const struct trace *trace, unsigned traces, int status)
{
    for (const struct trace *t = trace; t < trace + traces; t++) {
        const struct weft_damage *damage = weft_reader_damage(t->reader);
        cli_warn(t->path, damage);
        if (t->err.code)
            cli_complain(t->path, &t->err);
        if (t->err.code || cli_status(t->path, damage, t->total) != CLI_DONE)
            status = CLI_FAILED;
    }
    if (traces > 1 && weft_part_is_whole(&request.part) && !cli_stdout_left())
        warn_apart(trace, traces);
    return status;
}

static int run(int files, char **file)
{
    static struct trace trace[TRACES_MAX];
    const unsigned traces = (unsigned)files;
    unsigned inputs = 0;
    int status = CLI_DONE;
    if (traces > TRACES_MAX)
        cli_misuse("dump", "%u files, but no more than %u can be merged", traces, TRACES_MAX);
    request.part = cli_part;
    if (traces > 1 && !weft_part_has_all(&cli_part))
        cli_misuse("dump", "--stream and --promise take one FILE, not %u", traces);
    if (traces > 1) /* they have an axis of their own */
        cli_part = (struct weft_part)WEFT_WHOLE;
    for (unsigned i = 0; i < traces; i++)
        inputs += strcmp(file[i], "-") == 0;
    if (inputs > 1)
        cli_misuse("dump", "standard input (-) can be read only once");
    for (unsigned i = 0; i < traces; i++) {
        struct trace *t = &trace[i];
        *t = (struct trace){.path = file[i], .err = {.offset = WEFT_NO_OFFSET}};
        t->name = traces > 1 ? name_of(file, i, traces) : NULL;
        if (traces > 1 && !t->name)
            cli_say(t->path, "out of memory");
        t->reader = traces == 1 || t->name ? cli_open(t->path) : NULL;
        if (!t->reader || (traces > 1 && !check_wall(t)))
            status = CLI_FAILED; /* continues, to report all problems at once */
    }
    if (status == CLI_DONE) {
        if (traces > 1)
            find_axis(trace, traces);
        else
            find_next(trace);
        status = finish(trace, traces, print(trace, traces));
    }
    for (unsigned i = 0; i < traces; i++) {
        free(trace[i].name);
        weft_reader_close(trace[i].reader);
    }
    return status;
}

const struct cli_command cli_dump = {
    .name = "dump",
    .summary = "print every event as a line",
    .usage = "@ FILE…",
    .about = "Prints every event as a line: the time in nanoseconds after the first event, the "
             "stream, the event's name, then name=value for each field, separated by single "
             "spaces.\n\n"
             "The events of several files are put in order by the wall clock; each line then "
             "begins with the name of its file, and times count from the earliest first event of "
             "all.\n",
    .options = options,
    .examples = "weft dump --from 39.5ms --to 47.5ms net.ctf | grep label\n"
                "weft dump client.weft server.weft",
    .least = 1,
    .completes = CLI_TRACES,
    .paged = true,
    .run = run,
    .state = CLI_STATE(request),
};
