/* SPDX-License-Identifier: ISC */
/* weft dump: every event as a line. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/common.h"
#include "cli/dump.h"

static struct {
    int64_t from_ns, to_ns;
    bool full;
} request = {.from_ns = INT64_MIN, .to_ns = INT64_MAX};

static const struct cli_option options[] = {
    CLI_TIME("from", request.from_ns, "TIME",
             "only events at that time or later (39.5ms, 2s; a bare number is nanoseconds)"),
    CLI_TIME("to", request.to_ns, "TIME", "only events at that time or earlier"),
    CLI_FLAG("full", request.full,
             "whole texts; otherwise the first 500 bytes of each, and how many more there are"),
    CLI_END,
};

void cli_put_quoted(struct sink *s, const char *text, size_t size)
{
    put_byte(s, '"');
    put_escaped(s, text, size, true);
    put_byte(s, '"');
}

static void put_name(struct sink *s, const char *name, unsigned number)
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
        cli_put_quoted(s, type, strlen(type));
    else
        put_text(s, type);
}

/* What only weft's own traces contain: the label of a creation and its place in the program, and the new value of a
 * counter after an increase. */
static void put_more(struct sink *s, const struct weft_event *ev)
{
    if (ev->kind == WEFT_EVENT_CREATES && ev->text) {
        put_text(s, " label=");
        cli_put_quoted(s, ev->text, ev->text_size);
    }
    if (ev->origin && ev->origin->file) {
        char line[16];
        put_text(s, " at=\"");
        put_escaped(s, ev->origin->file, strlen(ev->origin->file), true);
        snprintf(line, sizeof line, ":%" PRIu32 "\"", ev->origin->line);
        put_text(s, line);
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
        put_id(s, second ? ev->b : ev->a);
        break;
    case WEFT_FIELD_TYPE:
        if (ev->origin)
            put_type(s, ev->origin->type);
        else
            put_name(s, weft_type_name(ev->type), ev->type);
        break;
    case WEFT_FIELD_REASON:
        put_name(s, weft_reason_name(ev->type), ev->type);
        break;
    case WEFT_FIELD_SIGNED:
        put_signed(s, ev->value);
        break;
    case WEFT_FIELD_DURATION:
        put_unsigned(s, (uint64_t)ev->value);
        break;
    case WEFT_FIELD_TEXT:
        cli_put_quoted(s, ev->text, ev->text_size);
        break;
    }
}

static bool is_number(uint8_t field)
{
    return field == WEFT_FIELD_SIGNED || field == WEFT_FIELD_DURATION;
}

void cli_put_event(struct sink *s, const struct weft_reader *reader, const struct weft_event *ev,
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
            if (is_number(field) != numbers)
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

/* Returns the exit status. */
static int dump(const char *path, struct weft_reader *reader, int64_t from, int64_t to, bool full)
{
    static struct sink sink;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    const struct weft_event *events;
    uint64_t total = 0;
    ptrdiff_t n;
    sink_open(&sink, full);
    struct cli_progress progress = cli_progress_begin(sink.terminal ? NULL : path);
    for (unsigned batch = 0; (n = weft_reader_next(reader, &events, &err)) > 0 && !sink.error;) {
        total += (uint64_t)n;
        const struct weft_reader_facts *facts = weft_reader_facts(reader);
        for (ptrdiff_t i = 0; i < n; i++) {
            const struct weft_event *ev = &events[i];
            int64_t time = (int64_t)(ev->time_ns - facts->first_ns);
            if (time >= from && time <= to)
                cli_put_event(&sink, reader, ev, time);
        }
        if (++batch % 256 == 0)
            cli_progress_show(&progress, weft_reader_progress(reader));
    }
    cli_progress_end(&progress);
    int status = sink_close(&sink);
    const struct weft_damage *damage = weft_reader_damage(reader);
    cli_warn(path, damage);
    if (n < 0) {
        cli_complain(path, &err);
        status = CLI_FAILED;
    }
    return status != CLI_DONE ? status : cli_status(path, damage, total);
}

static int dump_several(char *const *path, unsigned paths, int64_t from, int64_t to, bool full)
{
    unsigned inputs = 0;
    if (paths > CLI_DUMP_MAX)
        cli_misuse("dump", "%u files, but no more than %u can be merged", paths, CLI_DUMP_MAX);
    for (unsigned i = 0; i < paths; i++)
        inputs += strcmp(path[i], "-") == 0;
    if (inputs > 1)
        cli_misuse("dump", "standard input (-) can be read only once");
    return cli_dump_merged(path, paths, from, to, full);
}

static int run(int files, char **file)
{
    if (request.from_ns > request.to_ns)
        cli_misuse("dump", "--from is later than --to");
    if (files > 1)
        return dump_several(file, (unsigned)files, request.from_ns, request.to_ns, request.full);
    struct weft_reader *reader = cli_open(*file);
    if (!reader)
        return CLI_FAILED;
    int status = dump(*file, reader, request.from_ns, request.to_ns, request.full);
    weft_reader_close(reader);
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
