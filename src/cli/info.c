/* SPDX-License-Identifier: ISC */
/* weft info: what is in a trace, in numbers. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/ending.h"
#include "cli/info_samples.h"
#include "cli/summary.h"
#include "cli/trace_json.h"

enum { SET_LEAST_NS = 1000000 }; /* smaller changes of the wall clock are not shown */

static struct {
    bool json, promises;
} request;

static const struct cli_option options[] = {
    CLI_FLAG("json", request.json, "print a JSON object"),
    CLI_FLAG("promises", request.promises,
             "count promises by type and outcome, too (this takes longer)"),
    CLI_END,
};

struct report {
    struct cli_summary sum;
    bool has_model; /* the rest is known */
    struct weft_contradictions contradictions;
    json_t *by_type;              /* {type: {outcome: count}} */
    struct weft_profile *samples; /* NULL: none */
};

/* ---- Counting promises ---- */

static void add_to(json_t *by_type, const char *type, const char *outcome)
{
    json_t *counts = json_object_get(by_type, type);
    if (!counts) {
        struct cli_shown shown; /* of a type that is not UTF-8 */
        json_t *empty = json_object();
        if (json_object_set(by_type, type, empty) < 0) {
            shown = cli_shown(type);
            counts = json_object_get(by_type, shown.text);
            if (!counts)
                json_object_set(by_type, shown.text, empty);
        }
        counts = counts ? counts : empty;
        json_decref(empty);
    }
    json_t *count = json_object_get(counts, outcome);
    if (count)
        json_integer_set(count, json_integer_value(count) + 1);
    else
        json_object_set_new(counts, outcome, json_integer(1));
}

static bool count_promises(struct report *r)
{
    struct weft_model *m;
    struct cli_summary *s = &r->sum;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    struct cli_progress progress = cli_progress_begin(s->path);
    int rc = weft_model_build(&m, s->reader, cli_progress_show, &progress, &err);
    cli_progress_end(&progress);
    if (rc < 0) {
        cli_complain(s->path, &err);
        return false;
    }
    memcpy(s->events, m->events, sizeof s->events);
    s->events_total = m->events_total;
    s->span_ns = (uint64_t)m->end_ns;
    s->promises = m->promises - 1; /* the loop is not a promise */
    r->has_model = true;
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
    json_t *places = json_array();
    for (uint64_t i = 0; i < d->problems && i < WEFT_DAMAGE_KEPT; i++) {
        const struct weft_error *e = &d->first[i];
        json_t *offset = e->offset == WEFT_NO_OFFSET ? json_null() : cli_json_number(e->offset);
        cli_json_append(places, CLI_OBJECT("offset", offset, "text", e->text));
    }
    return CLI_OBJECT("problems", d->problems, "skipped_bytes", d->skipped_bytes, "unknown_types",
                      d->unknown_types, "backward_times", d->backward_times, "half_written",
                      d->half_written, "places", places);
}

static json_t *contradictions_json(const struct weft_contradictions *c)
{
    return CLI_OBJECT("created_twice", c->created_twice, "resolved_twice", c->resolved_twice,
                      "circles", c->circles, "on_loop", c->on_loop);
}

/* Recorded = kept + overwritten + missing + discarded. */
static json_t *balance_json(uint64_t kept, const struct weft_reader_facts *f)
{
    uint64_t overwritten = f->overwritten_events, missing = f->missing_events,
             discarded = f->discarded_events;
    return CLI_OBJECT("recorded", (uint64_t)(kept + overwritten + missing + discarded), "kept",
                      kept, "overwritten", overwritten, "missing", missing, "discarded", discarded);
}

/* Pending promises of which only the kind is known. */
static json_t *given_up_json(const struct weft_promotion *p)
{
    json_t *sorts = json_array();
    for (uint32_t i = 0; i < p->sorts; i++) {
        const struct weft_origin *o = p->sort[i].origin;
        cli_json_append(
            sorts,
            CLI_OBJECT("type", o ? cli_json_text(o->type, strlen(o->type)) : json_null(), "file",
                       o && o->file ? cli_json_text(o->file, strlen(o->file)) : json_null(), "line",
                       (uint64_t)(o ? o->line : 0), "pending", p->sort[i].pending, "unlisted",
                       p->sort[i].unlisted, "left_out", p->sort[i].left_out));
    }
    return sorts;
}

static json_t *promoted_json(const struct weft_promotion *p)
{
    return CLI_OBJECT("promises", p->promises, "events", p->events, "ever", p->ever, "given_up",
                      p->given_up, "numbered", p->numbered, "sorts", given_up_json(p), "skipped",
                      p->skipped, "pauses", p->pauses, "longest_pause_ns", p->longest_pause_ns,
                      "left_out", p->left_out, "lacks", p->lacks, "complete", p->complete);
}

static json_t *streams_json(const struct weft_reader_facts *f)
{
    json_t *streams = json_array();
    for (uint32_t i = 0; f->stream && i < f->streams; i++) {
        const struct weft_stream_facts *t = &f->stream[i];
        cli_json_append(streams, CLI_OBJECT("stream", t->number, "thread", t->thread, "name",
                                            t->name, "kept", t->kept, "overwritten", t->overwritten,
                                            "missing", t->missing, "discarded", t->discarded));
    }
    return streams;
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
    json_t *args = json_array();
    for (uint32_t i = 0; i < p->args; i++)
        cli_json_append(args, cli_json_string(p->arg[i]));
    for (unsigned i = 0; i < sizeof p->boot_id; i++)
        snprintf(boot_id + 2 * i, 3, "%02x", p->boot_id[i]);
    json_t *paused = p->was_paused ? cli_json_number(real_ns(p, p->paused_ns)) : json_null();
    json_t *resumed =
        p->was_paused && !p->is_paused ? cli_json_number(real_ns(p, p->resumed_ns)) : json_null();
    return CLI_OBJECT("program", p->program, "args", args, "pid", p->pid, "host", p->host,
                      "boot_id", boot_id, "version", p->version, "start_real_ns", p->start_real_ns,
                      "stop_real_ns",
                      p->stop_real_ns ? cli_json_number(p->stop_real_ns) : json_null(),
                      "paused_real_ns", paused, "resumed_real_ns", resumed);
}

static json_t *wall_json(const struct weft_reader_facts *f)
{
    if (!f->has_wall)
        return json_null();
    return CLI_OBJECT("ns", f->wall_ns, "own_ns", f->wall_own_ns, "set_ns", f->wall_set_ns,
                      "measured", f->wall_measured, "error_ns",
                      f->wall_measured ? cli_json_number(f->wall_error_ns) : json_null());
}

/* Properties that only weft's own traces have. */
static void add_weft_json(json_t *o, const struct weft_reader_facts *f)
{
    const struct {
        const char *key;
        uint64_t value;
    } counts[] = {
        {"streams_recorded", f->streams_recorded}, {"overwritten_packets", f->overwritten_packets},
        {"missing_packets", f->missing_packets},   {"lost_texts", f->lost_texts},
        {"unknown_events", f->unknown_events},     {"unknown_packets", f->unknown_packets},
        {"other_packets", f->other_packets},       {"repeated_packets", f->repeated_packets},
        {"changed_packets", f->changed_packets},   {"clock_hz", f->clock_hz},
    };
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
        json_object_set_new(o, counts[i].key, cli_json_number(counts[i].value));
    uint64_t kept = 0;
    for (uint32_t i = 0; i < f->streams; i++)
        kept += f->stream[i].kept;
    CLI_SET(o, "refused", f->refused, "wall", wall_json(f), "first_real_ns",
            f->has_wall && kept ? cli_json_number(f->first_ns + (uint64_t)f->wall_ns) : json_null(),
            "streams_by", streams_json(f), "streams_gone",
            CLI_OBJECT("streams", (uint64_t)(f->streams_recorded - f->streams), "overwritten",
                       f->overwritten_elsewhere, "discarded", f->discarded_elsewhere),
            "balance", balance_json(kept, f), "promoted", promoted_json(&f->promotion));
    if (f->of_ocaml)
        CLI_SET(o, "lost_words", f->lost_words);
    CLI_SET(o, "ended", weft_ended_name(f->ended));
    cli_json_exit(o, &f->process.exit);
    CLI_SET(o, "provenance", provenance_json(&f->process));
}

static json_t *report_json(const struct report *r)
{
    const struct cli_summary *s = &r->sum;
    const struct weft_reader_facts *f = weft_reader_facts(s->reader);
    json_t *events = json_object();
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++)
        if (!f->quirks.mirage_kinds || weft_event_kinds[k].in_mirage || s->events[k])
            json_object_set_new(events, weft_event_kinds[k].name, cli_json_number(s->events[k]));
    json_t *o = CLI_OBJECT("file", s->path, "format", f->format, "bytes", f->file_bytes,
                           "events_total", s->events_total, "events", events, "promises",
                           s->promises, "span_ns", s->span_ns);
    if (r->has_model) {
        json_object_set(o, "promises_by", r->by_type);
        CLI_SET(o, "contradictions", contradictions_json(&r->contradictions));
    }
    json_t *rest = CLI_OBJECT(
        "streams", f->streams, "packets", f->packets, "unused_packets", f->unused_packets,
        "wrapped", f->wrapped, "overwritten",
        (uint64_t)(f->overwritten_words  ? f->overwritten_words
                   : f->quirks.anonymous ? f->overwritten_packets
                                         : f->overwritten_events),
        "overwritten_unit",
        f->overwritten_words  ? "words"
        : f->quirks.anonymous ? "packets"
                              : "events",
        "missing", (uint64_t)(f->quirks.anonymous ? f->missing_packets : f->missing_events),
        "discarded", f->discarded_events, "clock", f->clock, "damage",
        damage_json(weft_reader_damage(s->reader)));
    json_object_update(o, rest);
    json_decref(rest);
    CLI_SET(o, "samples", info_samples_json(r->samples, f));
    if (!f->quirks.anonymous)
        add_weft_json(o, f);
    return o;
}

/* ---- For people ---- */

/* A row for each type, a column for each outcome that occurs. */
static void print_by_type(const json_t *by_type)
{
    const char *type;
    json_t *counts;
    bool occurs[WEFT_OUTCOME_COUNT] = {false};
    json_object_foreach((json_t *)by_type, type,
                        counts) for (unsigned o = 0; o < WEFT_OUTCOME_COUNT; o++) occurs[o] |=
        json_object_get(counts, weft_outcome_name(o)) != NULL;
    printf("    %-14s", "");
    for (unsigned o = 0; o < WEFT_OUTCOME_COUNT; o++)
        if (occurs[o])
            printf(" %11s", weft_outcome_name(o));
    putchar('\n');
    json_object_foreach((json_t *)by_type, type, counts)
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

static void print_overwritten_packets(const struct weft_reader_facts *f)
{
    if (f->overwritten_packets)
        printf("  overwritten   %s packet%s or more before the oldest one\n",
               weft_count(f->overwritten_packets).text, weft_plural(f->overwritten_packets));
    else
        printf("  overwritten   nothing%s\n", f->wrapped ? " known, but the ring has wrapped" : "");
}

static void print_overwritten_words(const struct weft_reader_facts *f)
{
    const uint64_t older = f->overwritten_words - f->lost_words;
    if (older)
        printf("  overwritten   %s word%s of OCaml's rings%s\n", weft_count(older).text,
               weft_plural(older),
               f->of_ocaml ? "; weft record --size keeps more"
                           : "; OCAMLRUNPARAM=e=20 makes them larger");
    if (f->lost_words)
        printf(
            "  lost          %s word%s of OCaml's rings, overwritten before weft record took them "
            "out; OCAMLRUNPARAM=e=22 gives it more time\n",
            weft_count(f->lost_words).text, weft_plural(f->lost_words));
}

static void print_ring(const struct weft_reader_facts *f)
{
    uint64_t events = f->overwritten_events;
    if (f->quirks.anonymous)
        print_overwritten_packets(f);
    else if (f->overwritten_words)
        print_overwritten_words(f);
    else if (events || f->overwritten_packets)
        printf("  overwritten   %s event%s in %s packet%s\n", weft_count(events).text,
               weft_plural(events), weft_count(f->overwritten_packets).text,
               weft_plural(f->overwritten_packets));
    else
        printf("  overwritten   nothing\n");
    if (f->missing_events)
        printf("  missing       %s event%s between those that are there\n",
               weft_count(f->missing_events).text, weft_plural(f->missing_events));
    if (f->missing_packets)
        printf("  missing       %s packet%s in between\n", weft_count(f->missing_packets).text,
               weft_plural(f->missing_packets));
    if (f->discarded_events)
        printf("  discarded     %s event%s: %s\n", weft_count(f->discarded_events).text,
               weft_plural(f->discarded_events),
               f->refused
                   ? "in signal handlers that had interrupted two others; or on threads where "
                     "handlers left calls of weft's by longjmp; or there was no packet"
                   : "there was no packet for them");
    else
        printf("  discarded     none\n");
}

/* What was left out of one of weft's own traces. */
static void print_left_out(const struct weft_reader_facts *f)
{
    const struct {
        uint64_t count;
        const char *what;
    } list[] = {
        {f->lost_texts, "texts, cut or left out by the recorder"},
        {f->unknown_events, "events that this version of weft does not know"},
        {f->unknown_packets, "packets that this version of weft does not know"},
        {f->other_packets, "packets of another trace"},
        {f->repeated_packets, "packets that are there twice"},
        {f->changed_packets, "packets overwritten while they were read"},
    };
    for (unsigned i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].count)
            printf("  left out      %s %s\n", weft_count(list[i].count).text, list[i].what);
}

#define STREAMS_SHOWN 16

static void print_streams(const struct weft_reader_facts *f)
{
    printf("  streams       %14s\n", weft_count(f->streams).text);
    if (!f->stream || !f->streams)
        return;
    printf("    %7s %8s  %-16s %12s %12s", "", "thread", "", "kept",
           f->overwritten_words ? "words lost" : "overwritten");
    if (f->missing_events)
        printf(" %12s", "missing");
    printf(" %12s\n", "discarded");
    for (uint32_t i = 0; i < f->streams && i < STREAMS_SHOWN; i++) {
        const struct weft_stream_facts *t = &f->stream[i];
        printf("    %7" PRIu32 " %8" PRIu32 "  %-16s %12s %12s", t->number, t->thread,
               cli_shown(t->name).text, weft_count(t->kept).text, weft_count(t->overwritten).text);
        if (f->missing_events)
            printf(" %12s", weft_count(t->missing).text);
        printf(" %12s\n", weft_count(t->discarded).text);
    }
    if (f->streams > STREAMS_SHOWN)
        printf("    … and %s more; --json has all\n", weft_count(f->streams - STREAMS_SHOWN).text);
    uint64_t gone = f->streams_recorded - f->streams;
    char text[80] = "beyond what is known of each";
    if (gone)
        snprintf(text, sizeof text, "and %s of which nothing is left", weft_count(gone).text);
    if (gone || f->overwritten_elsewhere || f->discarded_elsewhere)
        printf("    %-34s %12s %12s%s %12s\n", text, "-", weft_count(f->overwritten_elsewhere).text,
               f->missing_events ? "            -" : "", weft_count(f->discarded_elsewhere).text);
}

static void print_balance(const struct weft_reader_facts *f)
{
    uint64_t kept = 0;
    for (uint32_t i = 0; i < f->streams; i++)
        kept += f->stream[i].kept;
    uint64_t all = kept + f->overwritten_events + f->missing_events + f->discarded_events;
    printf("  recorded      %s event%s = %s kept + %s overwritten", weft_count(all).text,
           weft_plural(all), weft_count(kept).text, weft_count(f->overwritten_events).text);
    if (f->missing_events)
        printf(" + %s missing", weft_count(f->missing_events).text);
    printf(" + %s discarded\n", weft_count(f->discarded_events).text);
}

enum { SORTS_SHOWN = 8 };

/* What was dropped because there was too much of it. */
static void print_given_up(const struct weft_promotion *p)
{
    if (!p->given_up && !p->left_out)
        return;
    if (!p->sorts && p->given_up) {
        printf("  given up      %s promise%s; whether any is pending still is not known\n",
               weft_count(p->given_up).text, weft_plural(p->given_up));
        return;
    }
    if (p->given_up)
        printf("  given up      %s pending promise%s, of which only type and place are known:\n",
               weft_count(p->numbered).text, weft_plural(p->numbered));
    else
        printf(
            "  left out      %s of what was said of pending promises, mostly who waits for them:\n",
            weft_count(p->left_out).text);
    for (uint32_t i = 0; i < p->sorts && i < SORTS_SHOWN; i++) {
        const struct weft_origin *o = p->sort[i].origin;
        printf("    %13s  %s", weft_count(p->sort[i].pending).text,
               o ? cli_shown(o->type).text : "?");
        if (o && o->file)
            printf("  %s:%" PRIu32, cli_shown(o->file).text, o->line);
        if (p->sort[i].unlisted)
            printf("; there was no room even to count %s more, which may have ended since",
                   weft_count(p->sort[i].unlisted).text);
        if (p->sort[i].left_out)
            printf("; %s wait%s and other notes of such left out",
                   weft_count(p->sort[i].left_out).text, weft_plural(p->sort[i].left_out));
        putchar('\n');
    }
    if (p->sorts > SORTS_SHOWN)
        printf("    and %u more sorts (--json has all)\n", p->sorts - SORTS_SHOWN);
}

static void print_promoted(const struct weft_promotion *p)
{
    if (!p->known)
        return;
    printf("  promoted      %s pending promise%s, %s event%s", weft_count(p->promises).text,
           weft_plural(p->promises), weft_count(p->events).text, weft_plural(p->events));
    putchar('\n');
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
    if (p->args) {
        printf("  arguments    ");
        for (uint32_t i = 0; i < p->args; i++)
            printf(" %s", cli_shown(p->arg[i]).text);
        putchar('\n');
    }
    if (p->pid)
        printf("  process       %" PRIu32 "%s%s%s%s\n", p->pid, p->host ? " on " : "",
               p->host ? cli_shown(p->host).text : "", p->version ? ", recorded by weft " : "",
               p->version ? cli_shown(p->version).text : "");
    print_time("started", p->start_real_ns);
    if (p->was_paused) {
        print_time("paused", real_ns(p, p->paused_ns));
        if (p->is_paused)
            puts("  resumed       not any more");
        else
            print_time("resumed", real_ns(p, p->resumed_ns));
    }
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
               weft_duration(f->wall_error_ns < INT64_MAX ? (int64_t)f->wall_error_ns : INT64_MAX)
                   .text);
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
    const struct weft_damage *d = weft_reader_damage(r->sum.reader);
    if (!d->problems && !d->skipped_bytes && !d->unknown_types && !d->backward_times)
        printf("  damage        none%s\n",
               d->half_written ? " (a last event that was not finished is left out)" : "");
    else
        printf("  damage        %s place%s, %s byte%s skipped\n", weft_count(d->problems).text,
               weft_plural(d->problems), weft_count(d->skipped_bytes).text,
               weft_plural(d->skipped_bytes));
    for (uint64_t i = 0; i < d->problems && i < WEFT_DAMAGE_KEPT; i++)
        printf("    at offset %-12" PRIu64 " %s\n", d->first[i].offset, d->first[i].text);
    if (d->problems > WEFT_DAMAGE_KEPT)
        printf("    … and %s more\n", weft_count(d->problems - WEFT_DAMAGE_KEPT).text);
    const struct weft_contradictions *c = &r->contradictions;
    const struct {
        uint64_t count;
        const char *what;
    } list[] = {
        {d->backward_times, "events earlier than the one before them"},
        {d->unknown_types, "creations with an unknown type"},
        {c->created_twice, "promises created although they were known already"},
        {c->resolved_twice, weft_reader_facts(r->sum.reader)->quirks.last_end_counts
                                ? "promises resolved a second time (the last one counts)"
                                : "ends of promises that had ended before (the first one counts)"},
        {c->circles, "promises that would have become themselves"},
        {c->on_loop, "resolutions of the event loop itself"},
    };
    for (unsigned i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].count)
            printf("    %s %s\n", weft_count(list[i].count).text, list[i].what);
}

static void print_report(const struct report *r)
{
    const struct cli_summary *s = &r->sum;
    const struct weft_reader_facts *f = weft_reader_facts(s->reader);
    printf("%s\n", cli_shown(s->path).text);
    printf("  format        %s, %s bytes, %s packet%s", f->format, weft_count(f->file_bytes).text,
           weft_count(f->packets).text, weft_plural(f->packets));
    if (f->unused_packets)
        printf(" and %s unused", weft_count(f->unused_packets).text);
    putchar('\n');
    if (!f->quirks.anonymous)
        print_provenance(f);
    int64_t span = s->span_ns < INT64_MAX ? (int64_t)s->span_ns : INT64_MAX;
    printf("  time span     %s (%s ns)\n", weft_duration(span).text, weft_count(s->span_ns).text);
    printf("  events        %14s\n", weft_count(s->events_total).text);
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++)
        if (s->events[k])
            printf("    %-11s %14s\n", weft_event_kinds[k].name, weft_count(s->events[k]).text);
    printf("  promises      %14s\n", weft_count(s->promises).text);
    if (r->has_model)
        print_by_type(r->by_type);
    print_streams(f);
    info_samples_print(r->samples);
    print_ring(f);
    if (!f->quirks.anonymous) {
        if (!f->overwritten_words)
            print_balance(f);
        print_promoted(&f->promotion);
        print_left_out(f);
    }
    printf("  clock         %s\n", f->clock);
    print_wall(f);
    print_damage(r);
}

/* ---- */

/* Fills *r. On failure prints why and returns false. A damaged trace has a report, too. */
static bool report(struct report *r, const char *path, bool promises)
{
    *r = (struct report){.has_model = false};
    if (!cli_summary_open(&r->sum, path) ||
        !(promises ? count_promises(r) : cli_summary_count(&r->sum)))
        return false;
    r->samples = info_samples_load(path, r->sum.reader);
    return true;
}

static void report_fini(struct report *r)
{
    cli_summary_close(&r->sum);
    weft_profile_free(r->samples);
    json_decref(r->by_type);
}

static int run(int files, char **file)
{
    const bool json = request.json;
    int status = CLI_DONE;
    uint64_t total = 0;
    json_t *traces = json_array();
    for (int i = 0; i < files; i++) {
        struct report r;
        bool known = report(&r, file[i], request.promises);
        if (!known ||
            cli_status(file[i], weft_reader_damage(r.sum.reader), r.sum.events_total) != CLI_DONE)
            status = CLI_FAILED;
        total += known ? r.sum.events_total : 0;
        if (known && json)
            cli_json_append(traces, report_json(&r));
        else if (known)
            print_report(&r);
        if (known && !json && i + 1 < files)
            putchar('\n');
        report_fini(&r);
    }
    if (json && files > 1)
        cli_json_print(CLI_OBJECT("traces", json_incref(traces), "events_total", total));
    else if (json && json_array_size(traces))
        cli_json_print(json_incref(json_array_get(traces, 0)));
    json_decref(traces);
    return status;
}

const struct cli_command cli_info = {
    .name = "info",
    .summary = "say what is in a trace: events, promises, damage",
    .usage = "@ FILE…",
    .about = "Says what is in each trace: how long it is, how many events of which kind, how many "
             "promises, and what is wrong with the file. FILE may be xen:NAME, the trace that a "
             "Xen domain offers.\n",
    .options = options,
    .examples = "weft info --promises net.ctf\n"
                "weft info xen:web",
    .least = 1,
    .completes = CLI_TRACES,
    .paged = true,
    .run = run,
    .state = CLI_STATE(request),
};
