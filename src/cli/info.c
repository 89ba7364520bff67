/* SPDX-License-Identifier: ISC */
/* weft info: what is in a trace, in numbers. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cli/ending.h"
#include "cli/info_outside.h"
#include "cli/index/index.h"
#include "cli/info_samples.h"
#include "cli/summary.h"
#include "cli/trace_json.h"

enum {
    SET_LEAST_NS = 1000000, /* smaller changes of the wall clock are not shown */
    STREAMS_LISTED = 16,
    SORTS_LISTED = 8,
};

static struct {
    bool json, promises;
} request;

static const struct cli_option options[] = {
    CLI_FLAG("json", request.json, "print a JSON object"),
    CLI_FLAG("promises", request.promises,
             "count promises by type and outcome, too (this takes longer)"),
    CLI_INDEX,
    CLI_PART,
    CLI_END,
};

struct report {
    struct cli_summary sum;
    struct weft_contradictions contradictions; /* as by_type */
    json_t *by_type;                           /* {type: {outcome: count}}; NULL: not requested */
    struct weft_profile *samples;              /* NULL: none */
};

/* ---- Counting promises ---- */

static void add_to(json_t *by_type, const char *type, const char *outcome)
{
    struct cli_shown shown;
    if (!json_object_get(by_type, type) && json_object_set_new(by_type, type, json_object()) < 0) {
        shown = cli_shown(type); /* it is not UTF-8 */
        type = shown.text;
        if (!json_object_get(by_type, type))
            json_object_set_new(by_type, type, json_object());
    }
    json_t *counts = json_object_get(by_type, type), *count = json_object_get(counts, outcome);
    if (count)
        json_integer_set(count, json_integer_value(count) + 1);
    else
        json_object_set_new(counts, outcome, json_integer(1));
}

static bool count_promises(struct report *r)
{
    struct cli_summary *s = &r->sum;
    struct weft_model *m = cli_model_quiet(s->reader, s->path);
    if (!m)
        return false;
    cli_summary_take(s, m);
    r->contradictions = m->contradictions;
    r->by_type = json_object();
    for (uint32_t p = 1; p < m->promises; p++)
        add_to(r->by_type, weft_model_type(m, p), weft_outcome_name(m->promise[p].outcome));
    weft_model_free(m);
    return true;
}

/* ---- For programs ---- */

static json_t *damage_json(const struct weft_damage *d)
{
    const struct weft_error *e = d->first;
    return CLI_OBJECT(
        CLI_FIELDS(d, problems, skipped_bytes, unknown_types, backward_times, half_written),
        "places",
        CLI_LIST(i, d->problems < WEFT_DAMAGE_KEPT ? d->problems : WEFT_DAMAGE_KEPT,
                 CLI_OBJECT("offset", cli_json_if(e[i].offset != WEFT_NO_OFFSET, e[i].offset),
                            CLI_FIELDS(&e[i], text))));
}

/* Pending promises of which only the kind is known. */
static json_t *given_up_json(const struct weft_given_up *s)
{
    const struct weft_origin unknown = {0}, *o = s->origin ? s->origin : &unknown;
    return CLI_OBJECT(CLI_FIELDS(o, type, file, line), CLI_FIELDS(s, pending, unlisted, left_out));
}

static json_t *promoted_json(const struct weft_promotion *p)
{
    return CLI_OBJECT(CLI_FIELDS(p, promises, events, ever, given_up, numbered), "sorts",
                      CLI_LIST(i, p->sorts, given_up_json(&p->sort[i])),
                      CLI_FIELDS(p, skipped, pauses, longest_pause_ns, left_out, lacks, complete));
}

static json_t *stream_json(const struct weft_stream_facts *t)
{
    return CLI_OBJECT("stream", t->number,
                      CLI_FIELDS(t, thread, name, kept, overwritten, missing, discarded));
}

/* Converts a time of the events' clock to wall-clock time, by the offset that the process measured when it began to
 * record. */
static uint64_t real_ns(const struct weft_process_facts *p, uint64_t ns)
{
    return p->start_real_ns ? p->start_real_ns + (ns - p->start_ns) : 0;
}

static json_t *provenance_json(const struct weft_process_facts *p)
{
    char boot_id[33];
    for (unsigned i = 0; i < sizeof p->boot_id; i++)
        snprintf(boot_id + 2 * i, 3, "%02x", p->boot_id[i]);
    return CLI_OBJECT(CLI_FIELDS(p, program), "args",
                      CLI_LIST(i, p->args, cli_json_string(p->arg[i])), CLI_FIELDS(p, pid, host),
                      "boot_id", boot_id, CLI_FIELDS(p, version, start_real_ns), "stop_real_ns",
                      cli_json_if(p->stop_real_ns, p->stop_real_ns), "paused_real_ns",
                      cli_json_if(p->was_paused, real_ns(p, p->paused_ns)), "resumed_real_ns",
                      cli_json_if(p->was_paused && !p->is_paused, real_ns(p, p->resumed_ns)),
                      "outside", info_outside_json(&p->outside));
}

static uint64_t kept_events(const struct weft_reader_facts *f)
{
    uint64_t kept = 0;
    for (uint32_t i = 0; i < f->streams; i++)
        kept += f->stream[i].kept;
    return kept;
}

/* Recorded = kept + overwritten + missing + discarded. */
static uint64_t recorded_events(const struct weft_reader_facts *f)
{
    return kept_events(f) + f->overwritten_events + f->missing_events + f->discarded_events;
}

/* Properties that only weft's own traces have. */
static void add_weft_json(json_t *o, const struct weft_reader_facts *f)
{
    const uint64_t kept = kept_events(f);
    CLI_SET(o, CLI_FIELDS(f, streams_recorded, overwritten_packets, missing_packets, lost_texts,
                          names, nameless, unknown_events, unknown_packets, other_packets,
                          repeated_packets, changed_packets, clock_hz));
    CLI_SET(o, CLI_FIELDS(f, refused), "wall",
            !f->has_wall ? json_null()
                         : CLI_OBJECT("ns", f->wall_ns, "own_ns", f->wall_own_ns, "set_ns",
                                      f->wall_set_ns, "measured", f->wall_measured, "error_ns",
                                      cli_json_if(f->wall_measured, f->wall_error_ns)),
            "first_real_ns", cli_json_if(f->has_wall && kept, f->first_ns + (uint64_t)f->wall_ns),
            "streams_by", CLI_LIST(i, f->stream ? f->streams : 0, stream_json(&f->stream[i])),
            "streams_gone",
            CLI_OBJECT("streams", (uint64_t)(f->streams_recorded - f->streams), "overwritten",
                       f->overwritten_elsewhere, "discarded", f->discarded_elsewhere),
            "balance",
            CLI_OBJECT("recorded", recorded_events(f), "kept", kept, "overwritten",
                       f->overwritten_events, "missing", f->missing_events, "discarded",
                       f->discarded_events),
            "promoted", promoted_json(&f->promotion));
    if (f->of_ocaml)
        CLI_SET(o, CLI_FIELDS(f, lost_words));
    CLI_SET(o, "ended", weft_ended_name(f->ended));
    cli_json_exit(o, &f->process.exit);
    CLI_SET(o, "provenance", provenance_json(&f->process));
}

static json_t *part_json(const struct weft_reader_facts *f)
{
    json_t *o = CLI_OBJECT(CLI_FIELDS(f, outside_events));
    if (f->part.from_ns != INT64_MIN)
        CLI_SET(o, "from_ns", f->part.from_ns);
    if (f->part.to_ns != INT64_MAX)
        CLI_SET(o, "to_ns", f->part.to_ns);
    if (f->part.stream != WEFT_ALL_STREAMS)
        CLI_SET(o, "stream", f->part.stream);
    if (f->part.promise != WEFT_ID_LOOP)
        CLI_SET(o, "promise", f->part.promise);
    return o;
}

static json_t *report_json(const struct report *r)
{
    const struct cli_summary *s = &r->sum;
    const struct weft_reader_facts *f = &s->facts;
    const struct weft_contradictions *c = &r->contradictions;
    const bool anonymous = f->quirks.anonymous;
    json_t *events = json_object();
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++)
        if (!f->quirks.mirage_kinds || weft_event_kinds[k].in_mirage || s->events[k])
            json_object_set_new(events, weft_event_kinds[k].name, cli_json_number(s->events[k]));
    json_t *o =
        CLI_OBJECT("file", s->path, CLI_FIELDS(f, format), "bytes", f->file_bytes,
                   CLI_FIELDS(s, events_total), "events", events, CLI_FIELDS(s, promises, span_ns));
    if (r->by_type)
        CLI_SET(o, "promises_by", json_incref(r->by_type), "contradictions",
                CLI_OBJECT(CLI_FIELDS(c, created_twice, resolved_twice, circles, on_loop)));
    if (f->is_part)
        CLI_SET(o, "part", part_json(f));
    CLI_SET(o, CLI_FIELDS(f, streams, packets, unused_packets, wrapped), "overwritten",
            (uint64_t)(f->overwritten_words ? f->overwritten_words
                       : anonymous          ? f->overwritten_packets
                                            : f->overwritten_events),
            "overwritten_unit",
            f->overwritten_words ? "words"
            : anonymous          ? "packets"
                                 : "events",
            "missing", (uint64_t)(anonymous ? f->missing_packets : f->missing_events), "discarded",
            f->discarded_events, CLI_FIELDS(f, clock), "damage", damage_json(&s->damage), "samples",
            info_samples_json(r->samples, f));
    if (!anonymous)
        add_weft_json(o, f);
    return o;
}

/* ---- For people ---- */

/* "  events               1,204"; below such a line, by two columns further in. All numbers end in the same column. */
static void amount(int columns, const char *what, uint64_t n)
{
    printf("%*s%s %*s\n", columns, "", what, 29 - columns - (int)strlen(what), weft_count(n).text);
}

static struct weft_figure length(uint64_t ns)
{
    return weft_duration(ns < INT64_MAX ? (int64_t)ns : INT64_MAX);
}

/* A row for each type, a column for each outcome that occurs. */
static void print_by_type(json_t *by_type)
{
    const char *type;
    json_t *counts;
    bool occurs[WEFT_OUTCOME_COUNT] = {false};
    for (void *i = json_object_iter(by_type); i; i = json_object_iter_next(by_type, i))
        for (unsigned o = 0; o < WEFT_OUTCOME_COUNT; o++)
            occurs[o] |= json_object_get(json_object_iter_value(i), weft_outcome_name(o)) != NULL;
    printf("    %-14s", "");
    for (unsigned o = 0; o < WEFT_OUTCOME_COUNT; o++)
        if (occurs[o])
            printf(" %11s", weft_outcome_name(o));
    putchar('\n');
    json_object_foreach(by_type, type, counts)
    {
        printf("    %-14s", cli_shown(type).text);
        for (unsigned o = 0; o < WEFT_OUTCOME_COUNT; o++) {
            const json_t *n = json_object_get(counts, weft_outcome_name(o));
            if (occurs[o])
                printf(" %11s", n ? weft_count((uint64_t)json_integer_value(n)).text : "-");
        }
        putchar('\n');
    }
}

static void print_part(const struct weft_reader_facts *f)
{
    fputs("  part         ", stdout);
    if (f->part.from_ns != INT64_MIN)
        printf(" from %s", weft_moment(f->part.from_ns).text);
    if (f->part.to_ns != INT64_MAX)
        printf(" to %s", weft_moment(f->part.to_ns).text);
    if (f->part.stream != WEFT_ALL_STREAMS)
        printf(" of stream %" PRIu64, f->part.stream);
    if (f->part.promise != WEFT_ID_LOOP)
        printf(" of promise %" PRIu64, f->part.promise);
    if (f->outside_events)
        printf("; %s outside of it", cli_many(f->outside_events, "event").text);
    putchar('\n');
}

static void print_streams(const struct weft_reader_facts *f)
{
    amount(2, "streams", f->streams);
    if (!f->stream || !f->streams)
        return;
    printf("    %7s %8s  %-16s %12s %12s", "", "thread", "", "kept",
           f->overwritten_words ? "words lost" : "overwritten");
    if (f->missing_events)
        printf(" %12s", "missing");
    printf(" %12s\n", "discarded");
    for (uint32_t i = 0; i < f->streams && i < STREAMS_LISTED; i++) {
        const struct weft_stream_facts *t = &f->stream[i];
        printf("    %7" PRIu32 " %8" PRIu32 "  %-16s %12s %12s", t->number, t->thread,
               cli_shown(t->name).text, weft_count(t->kept).text, weft_count(t->overwritten).text);
        if (f->missing_events)
            printf(" %12s", weft_count(t->missing).text);
        printf(" %12s\n", weft_count(t->discarded).text);
    }
    if (f->streams > STREAMS_LISTED)
        printf("    … and %s more; --json has all\n", weft_count(f->streams - STREAMS_LISTED).text);
    char text[80] = "beyond what is known of each";
    const uint64_t gone = f->streams_recorded - f->streams;
    if (gone)
        snprintf(text, sizeof text, "and %s of which nothing is left", weft_count(gone).text);
    if (gone || f->overwritten_elsewhere || f->discarded_elsewhere)
        printf("    %-34s %12s %12s%s %12s\n", text, "-", weft_count(f->overwritten_elsewhere).text,
               f->missing_events ? "            -" : "", weft_count(f->discarded_elsewhere).text);
}

static void print_overwritten(const struct weft_reader_facts *f)
{
    const uint64_t packets = f->overwritten_packets, older = f->overwritten_words - f->lost_words;
    if (f->quirks.anonymous && packets)
        printf("  overwritten   %s or more before the oldest one\n",
               cli_many(packets, "packet").text);
    else if (f->quirks.anonymous)
        printf("  overwritten   nothing%s\n", f->wrapped ? " known, but the ring has wrapped" : "");
    else if (!f->overwritten_words && (f->overwritten_events || packets))
        printf("  overwritten   %s in %s\n", cli_many(f->overwritten_events, "event").text,
               cli_many(packets, "packet").text);
    else if (!f->overwritten_words)
        puts("  overwritten   nothing");
    else if (older)
        printf("  overwritten   %s of OCaml's rings%s\n", cli_many(older, "word").text,
               f->of_ocaml ? "; weft record --size keeps more"
                           : "; OCAMLRUNPARAM=e=20 makes them larger");
    if (f->lost_words && f->overwritten_words)
        printf("  lost          %s of OCaml's rings, overwritten before weft record took them out; "
               "OCAMLRUNPARAM=e=22 gives it more time\n",
               cli_many(f->lost_words, "word").text);
}

static void print_ring(const struct weft_reader_facts *f)
{
    print_overwritten(f);
    if (f->missing_events)
        printf("  missing       %s between those that are there\n",
               cli_many(f->missing_events, "event").text);
    if (f->missing_packets)
        printf("  missing       %s in between\n", cli_many(f->missing_packets, "packet").text);
    if (f->discarded_events)
        printf("  discarded     %s: %s\n", cli_many(f->discarded_events, "event").text,
               f->refused
                   ? "in signal handlers that had interrupted two others; or on threads where "
                     "handlers left calls of weft's by longjmp; or there was no packet"
                   : "there was no packet for them");
    else
        puts("  discarded     none");
}

struct item {
    uint64_t count;
    const char *what;
};

static void print_items(const char *before, const struct item *item, size_t items)
{
    for (size_t i = 0; i < items; i++)
        if (item[i].count)
            printf("%s%s %s\n", before, weft_count(item[i].count).text, item[i].what);
}

/* What was left out of one of weft's own traces. */
static void print_left_out(const struct weft_reader_facts *f)
{
    const struct item list[] = {
        {f->lost_texts, "texts, cut or left out by the recorder"},
        {f->unknown_events, "events that this version of weft does not know"},
        {f->unknown_packets, "packets that this version of weft does not know"},
        {f->other_packets, "packets of another trace"},
        {f->repeated_packets, "packets that are there twice"},
        {f->changed_packets, "packets overwritten while they were read"},
    };
    print_items("  left out      ", list, sizeof list / sizeof *list);
}

/* Functions that the recorder knew by address. */
static void print_names(const struct weft_reader_facts *f)
{
    const uint64_t all = f->names + f->nameless;
    if (all)
        printf("  names         %s of %s in code that texts mention by address\n",
               weft_count(f->names).text, cli_many(all, "place").text);
}

static void print_balance(const struct weft_reader_facts *f)
{
    printf("  recorded      %s = %s kept + %s overwritten",
           cli_many(recorded_events(f), "event").text, weft_count(kept_events(f)).text,
           weft_count(f->overwritten_events).text);
    if (f->missing_events)
        printf(" + %s missing", weft_count(f->missing_events).text);
    printf(" + %s discarded\n", weft_count(f->discarded_events).text);
}

/* What was dropped because there was too much of it. */
static void print_given_up(const struct weft_promotion *p)
{
    if (!p->sorts && p->given_up)
        printf("  given up      %s; whether any is pending still is not known\n",
               cli_many(p->given_up, "promise").text);
    else if (p->given_up)
        printf("  given up      %s, of which only type and place are known:\n",
               cli_many(p->numbered, "pending promise").text);
    else if (p->left_out)
        printf("  left out      %s of what was said of pending promises, mostly who waits for "
               "them:\n",
               weft_count(p->left_out).text);
    for (uint32_t i = 0; (p->given_up || p->left_out) && i < p->sorts && i < SORTS_LISTED; i++) {
        const struct weft_given_up *s = &p->sort[i];
        printf("    %13s  %s", weft_count(s->pending).text,
               s->origin ? cli_shown(s->origin->type).text : "?");
        if (s->origin && s->origin->file)
            printf("  %s", cli_shown(s->origin->file).text);
        if (s->origin && s->origin->file && s->origin->line)
            printf(":%" PRIu32, s->origin->line);
        if (s->unlisted)
            printf("; there was no room even to count %s more, which may have ended since",
                   weft_count(s->unlisted).text);
        if (s->left_out)
            printf("; %s and other notes of such left out", cli_many(s->left_out, "wait").text);
        putchar('\n');
    }
    if ((p->given_up || p->left_out) && p->sorts > SORTS_LISTED)
        printf("    and %u more sorts (--json has all)\n", p->sorts - SORTS_LISTED);
}

static void print_promoted(const struct weft_promotion *p, bool at_once)
{
    if (!p->known || at_once)
        return;
    printf("  promoted      %s, %s\n", cli_many(p->promises, "pending promise").text,
           cli_many(p->events, "event").text);
    print_given_up(p);
    if (p->pauses)
        printf("  pauses        %s, at the end of packets, the longest of %s\n",
               weft_count(p->pauses).text, weft_duration((int64_t)p->longest_pause_ns).text);
}

static void print_time(const char *what, uint64_t real_ns)
{
    char text[64];
    struct tm tm;
    time_t seconds = (time_t)(real_ns / 1000000000);
    if (real_ns && gmtime_r(&seconds, &tm) && strftime(text, sizeof text, "%F %T", &tm))
        printf("  %-13s %s.%03u UTC\n", what, text, (unsigned)(real_ns / 1000000 % 1000));
}

static void print_provenance(const struct weft_reader_facts *f)
{
    const struct weft_process_facts *p = &f->process;
    if (p->program)
        printf("  program       %s\n", cli_shown(p->program).text);
    for (uint32_t i = 0; i < p->args; i++)
        printf("%s %s%s", i ? "" : "  arguments    ", cli_shown(p->arg[i]).text,
               i + 1 == p->args ? "\n" : "");
    if (p->pid)
        printf("  process       %" PRIu32 "%s%s%s%s\n", p->pid, p->host ? " on " : "",
               p->host ? cli_shown(p->host).text : "",
               !p->version        ? ""
               : p->outside.known ? ", looked at by weft "
                                  : ", recorded by weft ",
               p->version ? cli_shown(p->version).text : "");
    print_time(!p->outside.known ? "started"
               : p->outside.core ? "written"
                                 : "looked at",
               p->start_real_ns);
    if (p->outside.known) {
        info_outside_print(p);
        return;
    }
    if (p->was_paused)
        print_time("paused", real_ns(p, p->paused_ns));
    if (p->was_paused && p->is_paused)
        puts("  resumed       not any more");
    else if (p->was_paused)
        print_time("resumed", real_ns(p, p->resumed_ns));
    print_time("stopped", p->stop_real_ns);
    const struct cli_exit_text ending = cli_exit_text(&p->exit);
    if (f->ended == WEFT_ENDED_EXITED)
        printf("  ended         without stopping the recording (_exit(%" PRIu32 "))\n",
               p->exit.number);
    else
        printf("  ended         %s%s%s\n", weft_ended_name(f->ended), *ending.text ? ", " : "",
               ending.text);
}

/* Says where wall-clock times differ from what the program itself assumed, or have changed. */
static void print_wall(const struct weft_reader_facts *f)
{
    int64_t behind;
    if (f->wall_measured) {
        printf("  wall clock    of the machine that copied it, measured within %s",
               length(f->wall_error_ns).text);
        if (f->wall_own_ns && !__builtin_sub_overflow(f->wall_ns, f->wall_own_ns, &behind))
            printf("; its own was %s %s",
                   weft_duration(behind < 0 && behind > INT64_MIN ? -behind : behind).text,
                   behind < 0 ? "ahead" : "behind");
        putchar('\n');
    }
    if (f->wall_set_ns >= SET_LEAST_NS || f->wall_set_ns <= -SET_LEAST_NS)
        printf("  wall clock    was set by %s while it was recorded\n",
               weft_duration(f->wall_set_ns).text);
}

static void print_damage(const struct report *r)
{
    const struct weft_damage *d = &r->sum.damage;
    if (!d->problems && !d->skipped_bytes && !d->unknown_types && !d->backward_times)
        printf("  damage        none%s\n",
               d->half_written ? " (a last event that was not finished is left out)" : "");
    else
        printf("  damage        %s, %s skipped\n", cli_many(d->problems, "place").text,
               cli_many(d->skipped_bytes, "byte").text);
    for (uint64_t i = 0; i < d->problems && i < WEFT_DAMAGE_KEPT; i++)
        printf("    at offset %-12" PRIu64 " %s\n", d->first[i].offset, d->first[i].text);
    if (d->problems > WEFT_DAMAGE_KEPT)
        printf("    … and %s more\n", weft_count(d->problems - WEFT_DAMAGE_KEPT).text);
    const struct weft_contradictions *c = &r->contradictions;
    const struct item list[] = {
        {d->backward_times, "events earlier than the one before them"},
        {d->unknown_types, "creations with an unknown type"},
        {c->created_twice, "promises created although they were known already"},
        {c->resolved_twice, r->sum.facts.quirks.last_end_counts
                                ? "promises resolved a second time (the last one counts)"
                                : "ends of promises that had ended before (the first one counts)"},
        {c->circles, "promises that would have become themselves"},
        {c->on_loop, "resolutions of the event loop itself"},
    };
    print_items("    ", list, sizeof list / sizeof *list);
}

static void print_report(const struct report *r)
{
    const struct cli_summary *s = &r->sum;
    const struct weft_reader_facts *f = &s->facts;
    printf("%s\n  format        %s, %s bytes, %s", cli_shown(s->path).text, f->format,
           weft_count(f->file_bytes).text, cli_many(f->packets, "packet").text);
    if (f->unused_packets)
        printf(" and %s unused", weft_count(f->unused_packets).text);
    putchar('\n');
    if (f->is_part)
        print_part(f);
    if (!f->quirks.anonymous)
        print_provenance(f);
    printf("  time span     %s (%s ns)\n", length(s->span_ns).text, weft_count(s->span_ns).text);
    amount(2, "events", s->events_total);
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++)
        if (s->events[k])
            amount(4, weft_event_kinds[k].name, s->events[k]);
    amount(2, "promises", s->promises);
    if (r->by_type)
        print_by_type(r->by_type);
    if (!f->outside_events)
        print_streams(f);
    info_samples_print(r->samples);
    print_ring(f);
    if (!f->quirks.anonymous && !f->overwritten_words && !f->outside_events)
        print_balance(f);
    if (!f->quirks.anonymous) {
        print_names(f);
        print_promoted(&f->promotion, f->quirks.at_once);
        print_left_out(f);
    }
    printf("  clock         %s\n", f->clock);
    print_wall(f);
    print_damage(r);
}

/* ---- */

/* On failure prints why and returns false. A damaged trace has a report, too. */
static bool report(struct report *r, struct cli_index *x, const char *path)
{
    struct cli_summary *s = &r->sum;
    if (!cli_summary_open(s, path))
        return false;
    if (request.promises || !cli_index_get_summary(x, s)) {
        if (!(request.promises ? count_promises(r) : cli_summary_count(s)))
            return false;
        cli_index_add_summary(x, s);
    }
    r->samples = info_samples_load(path, s->reader);
    return true;
}

static int run(int files, char **file)
{
    int status = CLI_DONE;
    uint64_t total = 0;
    json_t *traces = json_array();
    for (int i = 0; i < files; i++) {
        struct report r = {.samples = NULL};
        struct cli_index *x = cli_index_open(file[i]);
        const bool known = report(&r, x, file[i]);
        if (!known || cli_status(file[i], &r.sum.damage, r.sum.events_total) != CLI_DONE)
            status = CLI_FAILED;
        total += known ? r.sum.events_total : 0;
        if (known && request.json)
            cli_json_append(traces, report_json(&r));
        else if (known)
            print_report(&r);
        if (known && !request.json && i + 1 < files)
            putchar('\n');
        cli_index_close(x);
        cli_summary_close(&r.sum);
        weft_profile_free(r.samples);
        json_decref(r.by_type);
    }
    if (request.json && files > 1)
        cli_json_print(CLI_OBJECT("traces", json_incref(traces), "events_total", total));
    else if (request.json && json_array_size(traces))
        cli_json_print(json_incref(json_array_get(traces, 0)));
    json_decref(traces);
    return status;
}

const struct cli_command cli_info = {
    .name = "info",
    .summary = "say what is in a trace: events, promises, damage",
    .usage = "@ FILE…",
    .about = "Says what is in each trace: how long it is, how many events of which kind, how many "
             "promises, and what is wrong with the file. FILE may be the id of a process, "
             "also of one that records nothing, or xen:NAME, the trace that a Xen domain offers.\n",
    .options = options,
    .examples = "weft info --promises net.ctf\n"
                "weft info xen:web",
    .least = 1,
    .completes = CLI_TRACES,
    .paged = true,
    .run = run,
    .state = CLI_STATE(request),
};
