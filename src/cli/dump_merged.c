/* SPDX-License-Identifier: ISC */
/* weft dump of several traces: each reader returns its events in order of time, so the next line is the earliest of the
 * readers' next events. Only these are kept in memory. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/dump.h"

enum { SET_LEAST_NS = 1000000 }; /* below this there is no warning */

struct trace {
    const char *path;
    char *name; /* in the first column */
    struct weft_reader *reader;
    const struct weft_event *event; /* those from `at` on have not been printed yet */
    ptrdiff_t events, at;
    int64_t begin_ns;          /* its first event, on the common axis */
    int64_t next_ns;           /* of event[at] */
    int64_t least_ns, most_ns; /* of those that have been read */
    uint64_t total;
    bool failed;
};

/* ---- Names ---- */

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
    size_t size = strlen(tail) + 16;
    char *name = malloc(size);
    if (name && before)
        snprintf(name, size, "%s:%u", tail, before + 1);
    else if (name)
        memcpy(name, tail, strlen(tail) + 1);
    return name;
}

/* ---- Traces ---- */

static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

/* Sets event[at] and its time; reads more if necessary. False: there is none. */
static bool look(struct trace *t)
{
    if (t->at == t->events && !t->failed) {
        struct weft_error err = {.offset = WEFT_NO_OFFSET};
        t->at = 0;
        t->events = weft_reader_next(t->reader, &t->event, &err);
        if (t->events < 0) {
            cli_complain(t->path, &err);
            t->failed = true;
            t->events = 0;
        }
        t->total += (uint64_t)t->events;
    }
    if (t->at == t->events)
        return false;
    uint64_t since = t->event[t->at].time_ns - weft_reader_facts(t->reader)->first_ns;
    t->next_ns = add(t->begin_ns, (int64_t)since);
    return true;
}

static bool say_no_wall(const struct trace *t)
{
    const struct weft_reader_facts *f = weft_reader_facts(t->reader);
    char why[96] = "the program that recorded it had none";
    if (f->quirks.anonymous)
        snprintf(why, sizeof why, "traces of %s do not say when they were recorded", f->format);
    cli_say(t->path,
            "cannot be put in order with other traces: it has no wall clock, since %s; "
            "dump it alone",
            why);
    return false;
}

static bool open_trace(struct trace *t)
{
    t->reader = cli_open(t->path);
    if (!t->reader)
        return false;
    const struct weft_reader_facts *facts = weft_reader_facts(t->reader);
    if (!facts->has_wall)
        return say_no_wall(t);
    if (facts->wall_measured)
        return true;
    if (facts->wall_set_ns >= SET_LEAST_NS || facts->wall_set_ns <= -SET_LEAST_NS)
        cli_say(t->path,
                "warning: the wall clock was set by %s while it was recorded; all of its times "
                "are by what it was at the end",
                weft_duration(facts->wall_set_ns).text);
    return true;
}

/* Places the first events of all traces on the common axis, which begins at the earliest. */
static void find_axis(struct trace *trace, unsigned traces)
{
    int64_t zero = INT64_MAX;
    for (unsigned i = 0; i < traces; i++) {
        struct trace *t = &trace[i];
        if (!look(t))
            continue;
        const struct weft_reader_facts *facts = weft_reader_facts(t->reader);
        uint64_t first = facts->first_ns < INT64_MAX ? facts->first_ns : INT64_MAX;
        t->begin_ns = add((int64_t)first, facts->wall_ns);
        zero = t->begin_ns < zero ? t->begin_ns : zero;
    }
    for (unsigned i = 0; i < traces; i++) {
        struct trace *t = &trace[i];
        t->begin_ns = add(t->begin_ns, zero == INT64_MIN ? INT64_MAX : -zero);
        if (look(t))
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
    cli_put_quoted(s, name, strlen(name));
}

/* Prints the next event of t and advances. False: it was the last one. */
static bool put_next(struct sink *s, struct trace *t, int64_t from, int64_t to)
{
    const struct weft_event *ev = &t->event[t->at++];
    if (t->next_ns >= from && t->next_ns <= to) {
        put_name(s, t->name);
        put_byte(s, ' ');
        cli_put_event(s, t->reader, ev, t->next_ns);
    }
    if (!ev->promoted) {
        t->least_ns = t->next_ns < t->least_ns ? t->next_ns : t->least_ns;
        t->most_ns = t->next_ns > t->most_ns ? t->next_ns : t->most_ns;
    }
    return look(t);
}

static void show_progress(struct cli_progress *progress, const struct trace *trace, unsigned traces)
{
    double share = 0;
    for (unsigned i = 0; i < traces; i++)
        share += weft_reader_progress(trace[i].reader) / traces;
    cli_progress_show(progress, share);
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

static int print(struct trace *trace, unsigned traces, int64_t from, int64_t to, bool full)
{
    static struct sink sink;
    sink_open(&sink, full);
    struct cli_progress progress = cli_progress_begin(sink.terminal ? NULL : "all traces");
    unsigned printed = 0;
    for (struct trace *t; (t = earliest(trace, traces, NULL)) && !sink.error;) {
        const struct trace *other = earliest(trace, traces, t);
        bool more = true, is_next = true;
        while (more && is_next && !sink.error) {
            more = put_next(&sink, t, from, to);
            is_next = !other || t->next_ns < other->next_ns ||
                      (t->next_ns == other->next_ns && t < other);
            if (++printed % 65536 == 0)
                show_progress(&progress, trace, traces);
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
        if (t->failed || cli_status(t->path, damage, t->total) != CLI_DONE)
            status = CLI_FAILED;
    }
    return status;
}

int cli_dump_merged(char *const *path, unsigned paths, int64_t from, int64_t to, bool full)
{
    struct trace trace[CLI_DUMP_MAX];
    memset(trace, 0, sizeof trace);
    int status = CLI_DONE;
    for (unsigned i = 0; i < paths; i++) {
        trace[i].path = path[i];
        trace[i].name = name_of(path, i, paths);
        if (!trace[i].name) {
            cli_say(path[i], "out of memory");
            status = CLI_FAILED;
        } else if (!open_trace(&trace[i])) {
            status = CLI_FAILED; /* continues, to report all problems at once */
        }
    }
    if (status == CLI_DONE) {
        find_axis(trace, paths);
        status = finish(trace, paths, print(trace, paths, from, to, full));
        if (from == INT64_MIN && to == INT64_MAX && !cli_stdout_left())
            warn_apart(trace, paths);
    }
    for (unsigned i = 0; i < paths; i++) {
        free(trace[i].name);
        if (trace[i].reader)
            weft_reader_close(trace[i].reader);
    }
    return status;
}
