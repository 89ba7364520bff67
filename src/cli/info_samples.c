/* SPDX-License-Identifier: ISC */
#include "cli/info_samples.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"
#include "cli/common.h"
#include "cli/trace_json.h"
#include "profile/build.h"

enum { THREADS_SHOWN = 16 };

struct count {
    uint32_t thread; /* index */
    uint64_t samples, absences;
};

struct weft_profile *info_samples_load(const char *path, struct weft_reader *reader)
{
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    if (weft_reader_facts(reader)->sample_packets == 0)
        return NULL;
    struct weft_profile *p = weft_profile_new();
    int rc = p ? weft_profile_load_trace(p, reader, &err) : WEFT_E_NOMEM;
    if (rc == 0)
        return p;
    if (err.code == 0)
        err.code = rc;
    cli_complain(path, &err);
    weft_profile_free(p);
    return NULL;
}

static int by_samples(const void *a, const void *b)
{
    const struct count *x = a, *y = b;
    WEFT_ORDER(y->samples, x->samples);
    WEFT_ORDER(y->absences, x->absences);
    return weft_order(x->thread, y->thread);
}

/* The threads with any data, those with most samples first. NULL: no memory. */
static struct count *count_threads(const struct weft_profile *p, uint32_t *threads)
{
    struct count *count = calloc((size_t)p->threads + 1, sizeof *count);
    *threads = 0;
    if (!count)
        return NULL;
    for (uint32_t i = 0; i < p->threads; i++)
        count[i].thread = i;
    for (uint32_t i = 0; i < p->samples; i++)
        count[p->sample[i].thread].samples++;
    for (uint32_t i = 0; i < p->absences; i++)
        count[p->absence[i].thread].absences++;
    qsort(count, p->threads, sizeof *count, by_samples);
    while (*threads < p->threads && (count[*threads].samples || count[*threads].absences))
        ++*threads;
    return count;
}

static uint64_t *count_sources(const struct weft_profile *p)
{
    uint64_t *count = calloc((size_t)p->sources + 1, sizeof *count);
    for (uint32_t i = 0; count && i < p->samples; i++)
        count[p->sample[i].source]++;
    return count;
}

/* ---- For people ---- */

static void print_threads(const struct weft_profile *p)
{
    uint32_t threads;
    struct count *count = count_threads(p, &threads);
    if (count && threads)
        printf("    %8s %8s  %-16s %12s %12s\n", "process", "thread", "", "samples", "times away");
    for (uint32_t i = 0; count && i < threads && i < THREADS_SHOWN; i++) {
        const struct weft_thread *t = &p->thread[count[i].thread];
        char process[16] = "-", thread[16] = "-";
        if (t->process != UINT32_MAX)
            snprintf(process, sizeof process, "%" PRIu32, t->process);
        if (t->thread != UINT32_MAX)
            snprintf(thread, sizeof thread, "%" PRIu32, t->thread);
        printf("    %8s %8s  %-16s %12s %12s\n", process, thread,
               cli_shown(weft_profile_text(p, t->name)).text, weft_count(count[i].samples).text,
               weft_count(count[i].absences).text);
    }
    if (threads > THREADS_SHOWN)
        printf("    … and %s more; --json has all\n", weft_count(threads - THREADS_SHOWN).text);
    free(count);
}

static void put(const char *what, uint64_t count, const char *more)
{
    if (count)
        printf("    %-11s %14s%s\n", what, weft_count(count).text, more);
}

void info_samples_print(const struct weft_profile *p)
{
    if (!p)
        return;
    uint64_t *count = count_sources(p);
    printf("  samples       %14s", weft_count(p->samples).text);
    for (uint32_t s = 0; count && s < p->sources; s++) {
        const struct weft_source *source = &p->source[s];
        printf("%s", s ? ", " : " of ");
        if (p->sources > 1)
            printf("%s of ", weft_count(count[s]).text);
        printf("%s", cli_shown(weft_profile_text(p, source->name)).text);
        if (source->frequency)
            printf(" (%s a second)", weft_count(source->frequency).text);
    }
    putchar('\n');
    free(count);
    put("overwritten", p->overwritten, " older ones");
    put("lost", p->lost, "");
    put("lost", p->lost_other, " records of other things: switches, mappings");
    if (p->switches_until_ns && p->switches_until_ns <= p->first_ns)
        printf("    switches    none: there were too many\n");
    else if (p->switches_until_ns)
        printf("    switches    for %s of %s only: there were too many\n",
               weft_moment(weft_model_time(p->switches_until_ns, p->first_ns)).text,
               weft_moment(weft_model_time(p->last_ns, p->first_ns)).text);
    put("left out", p->skipped, " records that cannot be understood");
    put("interrupts", p->interrupts, "");
    print_threads(p);
}

/* ---- For programs ---- */

static json_t *sources_json(const struct weft_profile *p)
{
    static const char *const units[] = {
        [WEFT_UNIT_COUNT] = "count", [WEFT_UNIT_NS] = "ns", [WEFT_UNIT_CYCLES] = "cycles"};
    uint64_t *count = count_sources(p);
    const struct weft_source *s = p->source;
    json_t *list = CLI_LIST(i, count ? p->sources : 0,
                            CLI_OBJECT("name", weft_profile_text(p, s[i].name), "unit",
                                       s[i].unit <= WEFT_UNIT_CYCLES ? units[s[i].unit] : "count",
                                       CLI_FIELDS(&s[i], period, frequency), "count", count[i]));
    free(count);
    return list;
}

static json_t *threads_json(const struct weft_profile *p)
{
    uint32_t threads;
    struct count *count = count_threads(p, &threads);
    json_t *list = json_array();
    for (uint32_t i = 0; count && i < threads; i++) {
        const struct weft_thread *t = &p->thread[count[i].thread];
        cli_json_append(list,
                        CLI_OBJECT("process", cli_json_if(t->process != UINT32_MAX, t->process),
                                   "thread", cli_json_if(t->thread != UINT32_MAX, t->thread),
                                   "name", weft_profile_text(p, t->name), "count", count[i].samples,
                                   "away", count[i].absences));
    }
    free(count);
    return list;
}

json_t *info_samples_json(const struct weft_profile *p, const struct weft_reader_facts *f)
{
    if (!p)
        return json_null();
    return CLI_OBJECT(
        "count", p->samples, CLI_FIELDS(p, overwritten, lost, lost_other), "switches_until_ns",
        cli_json_if(p->switches_until_ns, p->switches_until_ns), "skipped", p->skipped, "away",
        p->absences, CLI_FIELDS(p, interrupts, first_ns, last_ns), "packets", f->sample_packets,
        "bytes", f->sample_bytes, "events", sources_json(p), "threads", threads_json(p));
}
