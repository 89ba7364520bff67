/* SPDX-License-Identifier: ISC */
/* weft info: what is in a trace, in numbers. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "cli/idset.h"

static const char help[] =
    "usage: weft info [--json] [--promises] FILE…\n\n"
    "Says what is in each trace: how long it is, how many events of which kind, how many "
    "promises,\n"
    "and what is wrong with the file.\n\n"
    "  --json      as a JSON object\n"
    "  --promises  count promises by type and outcome, too (this takes longer)\n"
    "  --help      this text\n\n"
    "Example: weft info --promises net.ctf\n";

enum { JSON = WEFT__HELP + 1, PROMISES };

static const struct option options[] = {
    {"json", no_argument, NULL, JSON},
    {"promises", no_argument, NULL, PROMISES},
    WEFT__HELP_OPTION,
    {0},
};

struct summary {
    const char *path;
    struct weft_reader_facts facts;
    struct weft_damage damage;
    uint64_t events[WEFT_EVENT_KINDS];
    uint64_t events_total;
    uint64_t promises;
    uint64_t span_ns; /* from the first event to the latest */

    bool has_model; /* the rest is known */
    struct weft_contradictions contradictions;
    json_t *by_type; /* {type: {outcome: count}} */
};

/* ---- Counting events ---- */

/* Which promises an event of each kind mentions. */
struct mention {
    bool first, second;
    bool only_if_source; /* and none at all if the second one is the loop: the model's rule */
};

static void find_mentions(struct mention mention[WEFT_EVENT_KINDS])
{
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++) {
        const struct weft_event_desc *d = &weft_event_kinds[k];
        unsigned promises = 0;
        for (unsigned i = 0; i < d->fields; i++)
            promises += d->field[i].field == WEFT_FIELD_PROMISE;
        mention[k] = (struct mention){.first = promises > 0, .second = promises > 1};
    }
    mention[WEFT_EVENT_READ].only_if_source = true;
    mention[WEFT_EVENT_READ_LATER].only_if_source = true;
    mention[WEFT_EVENT_TRY_READ].only_if_source = true;
}

struct count {
    struct idset ids;
    struct mention mention[WEFT_EVENT_KINDS];
    uint64_t first_ns;
    int64_t latest; /* after the first */
};

static bool count_batch(struct summary *s, struct count *c, const struct weft_event *ev,
                        ptrdiff_t n)
{
    bool fits = true;
    int64_t latest = c->latest;
    for (const struct weft_event *end = ev + n; ev < end; ev++) {
        const struct mention *m = &c->mention[ev->kind];
        int64_t time = weft_model_time(ev->time_ns, c->first_ns);
        latest = time > latest ? time : latest;
        s->events[ev->kind]++;
        if (m->only_if_source && ev->b == WEFT_ID_LOOP)
            continue;
        if (m->first && ev->a != WEFT_ID_LOOP)
            fits &= idset_add(&c->ids, ev->a);
        if (m->second && ev->b != WEFT_ID_LOOP)
            fits &= idset_add(&c->ids, ev->b);
    }
    c->latest = latest;
    return fits;
}

static int count_events(struct summary *s, struct weft_reader *reader, struct weft_error *err)
{
    struct count c = {.latest = 0};
    if (!idset_init(&c.ids))
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
    find_mentions(c.mention);
    struct weft__progress progress = weft__progress_begin(s->path);
    const struct weft_event *events;
    ptrdiff_t n;
    int rc = 0;
    for (unsigned batch = 0; (n = weft_reader_next(reader, &events, err)) > 0 && rc == 0;) {
        if (s->events_total == 0)
            c.first_ns = events[0].time_ns;
        s->events_total += (uint64_t)n;
        if (!count_batch(s, &c, events, n))
            rc = weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
        if (++batch % 4096 == 0)
            weft__progress_show(&progress, weft_reader_progress(reader));
    }
    weft__progress_end(&progress);
    s->span_ns = (uint64_t)c.latest;
    s->promises = idset_count(&c.ids);
    idset_fini(&c.ids);
    return n < 0 ? (int)n : rc;
}

/* ---- Counting promises ---- */

static void add_to(json_t *by_type, const char *type, const char *outcome)
{
    json_t *counts = json_object_get(by_type, type);
    if (!counts) {
        counts = json_object();
        json_object_set_new(by_type, type, counts);
    }
    json_t *count = json_object_get(counts, outcome);
    if (count)
        json_integer_set(count, json_integer_value(count) + 1);
    else
        json_object_set_new(counts, outcome, json_integer(1));
}

static int count_promises(struct summary *s, struct weft_reader *reader, struct weft_error *err)
{
    struct weft_model *m;
    struct weft__progress progress = weft__progress_begin(s->path);
    int rc = weft_model_build(&m, reader, weft__progress_show, &progress, err);
    weft__progress_end(&progress);
    if (rc < 0)
        return rc;
    memcpy(s->events, m->events, sizeof s->events);
    s->events_total = m->events_total;
    s->span_ns = (uint64_t)m->end_ns;
    s->promises = m->promises - 1; /* the loop is none */
    s->has_model = true;
    s->contradictions = m->contradictions;
    s->by_type = json_object();
    for (uint32_t p = 1; p < m->promises; p++)
        add_to(s->by_type, weft_model_type(m, p), weft_outcome_name(m->promise[p].outcome));
    weft_model_free(m);
    return 0;
}

/* ---- For programs ---- */

static json_t *number(uint64_t n)
{
    return json_integer(n < INT64_MAX ? (json_int_t)n : INT64_MAX);
}

/* JSON wants UTF-8; a file's name may be anything. */
static json_t *string(const char *text)
{
    json_t *s = json_string(text);
    return s ? s : json_string(weft__shown(text).text);
}

static json_t *damage_json(const struct weft_damage *d)
{
    json_t *places = json_array();
    for (uint64_t i = 0; i < d->problems && i < WEFT_DAMAGE_KEPT; i++) {
        const struct weft_error *e = &d->first[i];
        json_t *offset = e->offset == WEFT_NO_OFFSET ? json_null() : number(e->offset);
        json_array_append_new(places, json_pack("{so ss}", "offset", offset, "text", e->text));
    }
    return json_pack("{so so so so so so}", "problems", number(d->problems), "skipped_bytes",
                     number(d->skipped_bytes), "unknown_types", number(d->unknown_types),
                     "backward_times", number(d->backward_times), "half_written",
                     number(d->half_written), "places", places);
}

static json_t *contradictions_json(const struct weft_contradictions *c)
{
    return json_pack("{so so so so}", "created_twice", number(c->created_twice), "resolved_twice",
                     number(c->resolved_twice), "circles", number(c->circles), "on_loop",
                     number(c->on_loop));
}

static json_t *summary_json(const struct summary *s)
{
    const struct weft_reader_facts *f = &s->facts;
    json_t *events = json_object();
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++)
        if (weft_event_kinds[k].in_mirage || s->events[k])
            json_object_set_new(events, weft_event_kinds[k].name, number(s->events[k]));
    json_t *o =
        json_pack("{so ss so so so so so}", "file", string(s->path), "format", f->format, "bytes",
                  number(f->file_bytes), "events_total", number(s->events_total), "events", events,
                  "promises", number(s->promises), "span_ns", number(s->span_ns));
    if (s->has_model) {
        json_object_set(o, "promises_by", s->by_type);
        json_object_set_new(o, "contradictions", contradictions_json(&s->contradictions));
    }
    json_t *rest = json_pack("{si so so sb so so si ss so}", "streams", (int)f->streams, "packets",
                             number(f->packets), "unused_packets", number(f->unused_packets),
                             "wrapped", (int)f->wrapped, "overwritten",
                             number(f->overwritten_packets), "missing", number(f->missing_packets),
                             "discarded", 0, "clock", f->clock, "damage", damage_json(&s->damage));
    json_object_update(o, rest);
    json_decref(rest);
    return o;
}

/* ---- For people ---- */

struct digits {
    char text[32];
};

/* 1234567 as 1,234,567 */
static struct digits grouped(uint64_t n)
{
    struct digits d;
    char *at = d.text + sizeof d.text;
    *--at = 0;
    for (unsigned i = 0; i == 0 || n; i++, n /= 10) {
        if (i && i % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + n % 10);
    }
    memmove(d.text, at, (size_t)(d.text + sizeof d.text - at));
    return d;
}

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
        printf("    %-14s", type);
        for (unsigned o = 0; o < WEFT_OUTCOME_COUNT; o++) {
            const json_t *n = json_object_get(counts, weft_outcome_name(o));
            if (occurs[o])
                printf(" %11s", n ? grouped((uint64_t)json_integer_value(n)).text : "-");
        }
        putchar('\n');
    }
}

static void print_ring(const struct weft_reader_facts *f)
{
    if (f->overwritten_packets)
        printf("  overwritten   %s packet%s or more before the oldest one\n",
               grouped(f->overwritten_packets).text, weft__plural(f->overwritten_packets));
    else
        printf("  overwritten   nothing%s\n", f->wrapped ? " known, but the ring has wrapped" : "");
    if (f->missing_packets)
        printf("  missing       %s packet%s in between\n", grouped(f->missing_packets).text,
               weft__plural(f->missing_packets));
    printf("  discarded     none\n");
}

static void print_damage(const struct summary *s)
{
    const struct weft_damage *d = &s->damage;
    if (!d->problems && !d->skipped_bytes && !d->unknown_types && !d->backward_times)
        printf("  damage        none%s\n",
               d->half_written ? " (a last event that was not finished is left out)" : "");
    else
        printf("  damage        %s place%s, %s byte%s skipped\n", grouped(d->problems).text,
               weft__plural(d->problems), grouped(d->skipped_bytes).text,
               weft__plural(d->skipped_bytes));
    for (uint64_t i = 0; i < d->problems && i < WEFT_DAMAGE_KEPT; i++)
        printf("    at offset %-12" PRIu64 " %s\n", d->first[i].offset, d->first[i].text);
    if (d->problems > WEFT_DAMAGE_KEPT)
        printf("    … and %s more\n", grouped(d->problems - WEFT_DAMAGE_KEPT).text);
    const struct weft_contradictions *c = &s->contradictions;
    const struct {
        uint64_t count;
        const char *what;
    } list[] = {
        {d->backward_times, "events earlier than the one before them"},
        {d->unknown_types, "creations with an unknown type"},
        {c->created_twice, "promises created although they were known already"},
        {c->resolved_twice, "promises resolved a second time (the last one counts)"},
        {c->circles, "promises that would have become themselves"},
        {c->on_loop, "resolutions of the event loop itself"},
    };
    for (unsigned i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].count)
            printf("    %s %s\n", grouped(list[i].count).text, list[i].what);
}

static void print_summary(const struct summary *s)
{
    const struct weft_reader_facts *f = &s->facts;
    printf("%s\n", weft__shown(s->path).text);
    printf("  format        %s, %s bytes, %s packet%s", f->format, grouped(f->file_bytes).text,
           grouped(f->packets).text, weft__plural(f->packets));
    if (f->unused_packets)
        printf(" and %s unused", grouped(f->unused_packets).text);
    int64_t span = s->span_ns < INT64_MAX ? (int64_t)s->span_ns : INT64_MAX;
    printf("\n  time span     %s (%s ns)\n", weft__duration(span).text, grouped(s->span_ns).text);
    printf("  events        %14s\n", grouped(s->events_total).text);
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++)
        if (s->events[k])
            printf("    %-11s %14s\n", weft_event_kinds[k].name, grouped(s->events[k]).text);
    printf("  promises      %14s\n", grouped(s->promises).text);
    if (s->has_model)
        print_by_type(s->by_type);
    printf("  streams       %14s\n", grouped(f->streams).text);
    print_ring(f);
    printf("  clock         %s\n", f->clock);
    print_damage(s);
}

/* ---- */

/* Fills *s. Returns false after saying what is wrong. A damaged trace has a summary, too. */
static bool summarise(struct summary *s, const char *path, bool promises)
{
    *s = (struct summary){.path = path};
    struct weft_reader *reader = weft__open(path);
    if (!reader)
        return false;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    int rc = promises ? count_promises(s, reader, &err) : count_events(s, reader, &err);
    if (rc < 0)
        weft__complain(path, &err);
    s->facts = *weft_reader_facts(reader);
    s->damage = *weft_reader_damage(reader);
    weft_reader_close(reader);
    return rc == 0;
}

static void print_json(json_t *o)
{
    json_dumpf(o, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(o);
}

static int run(int argc, char **argv)
{
    bool json = false, promises = false;
    int c;
    while ((c = weft__option(&weft__info, argc, argv, ":", options)) != -1) {
        json |= c == JSON;
        promises |= c == PROMISES;
    }
    if (optind == argc)
        weft__misuse("info", "no FILE is given");
    bool several = argc - optind > 1;
    int status = WEFT__DONE;
    uint64_t total = 0;
    json_t *traces = json_array();
    for (int i = optind; i < argc; i++) {
        struct summary s;
        if (!summarise(&s, argv[i], promises)) {
            status = WEFT__FAILED;
            continue;
        }
        if (weft__status(s.path, &s.damage, s.events_total) != WEFT__DONE)
            status = WEFT__FAILED;
        total += s.events_total;
        if (json)
            json_array_append_new(traces, summary_json(&s));
        else
            print_summary(&s);
        if (!json && i + 1 < argc)
            putchar('\n');
        json_decref(s.by_type);
    }
    if (json && several)
        print_json(json_pack("{sO so}", "traces", traces, "events_total", number(total)));
    else if (json && json_array_size(traces))
        print_json(json_incref(json_array_get(traces, 0)));
    json_decref(traces);
    return status;
}

const struct weft__command weft__info = {"info", "say what is in a trace: events, promises, damage",
                                         help, run};
