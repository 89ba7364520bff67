/* SPDX-License-Identifier: ISC */
/* A broad oracle for the analyses: linked into a test program, it collects each trace of which a test builds a model. When
 * the tests have passed, it analyses each trace and variants of it: cut after some event, without some event, with times
 * rounded (so that many are equal, or exactly as long as a threshold), stretched, before zero. All that is found goes into a
 * text.
 * ../golden/scenes/NAME.txt has a line for each trace: the findings, how many there are in all variants, and a hash of the text.
 *
 *     ACCEPT=1 build/tests/test_NAME       rewrites the lines
 *     SAID=FILE build/tests/test_NAME      writes the texts: run it before and after a change, and compare
 *
 * Tests build traces in the arguments of functions, and compilers call these in different orders. So the lines are compared
 * only with gcc; with others, what is said must only not crash, and a quarter of the places is enough.
 *
 * The program is linked with --wrap for the functions that begin with __wrap here; nothing else in it changes. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>

#include "analyse/crowd.h"
#include "analyse/diff.h"
#include "analyse/explain.h"
#include "analyse/slow.h"
#include "analyse/stats.h"
#include "analyse/story.h"
#include "analyse/words.h"
#include "trace.h"

enum {
    SCENES_MOST = 1000,
    SCENES_OF_TEST = 24,        /* further ones of the same test are alike */
    SCENE_MOST_BYTES = 1 << 18, /* of a larger trace, nothing is said */
    KEPT_BYTES = 1 << 26,
    EVENTS_MOST = 4096, /* a longer trace is not varied */
#ifdef __clang__
    PLACES_MOST = 6,
#else
    PLACES_MOST = 24, /* where a trace is cut, and events that are left out; of more, some */
#endif
    PROMISES_MOST = 12, /* of which a story is told */
    FAMILIES_MOST = 6,
};

/* ---- Collecting ---- */

static struct scene {
    const char *test;
    unsigned char *bytes;
    size_t size;
    uint64_t hash;
} scenes[SCENES_MOST];
static unsigned scene_count;
static unsigned char *kept; /* no allocation that a test lets fail */
static size_t kept_used;
static char path_opened[128];
static const char *test_running;

int __real_weft_reader_open(struct weft_reader **out, const char *path, struct weft_error *err);
int __wrap_weft_reader_open(struct weft_reader **out, const char *path, struct weft_error *err);
int __real_weft_model_build(struct weft_model **out, struct weft_reader *r,
                            weft_progress_fn *progress, void *data, struct weft_error *err);
int __wrap_weft_model_build(struct weft_model **out, struct weft_reader *r,
                            weft_progress_fn *progress, void *data, struct weft_error *err);
ptrdiff_t __real_weft_reader_next(struct weft_reader *r, const struct weft_event **events,
                                  struct weft_error *err);
ptrdiff_t __wrap_weft_reader_next(struct weft_reader *r, const struct weft_event **events,
                                  struct weft_error *err);
int __real__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);

static uint64_t hash_of(const void *bytes, size_t size)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        h = (h ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* The trace at that path, unless it was collected before. */
static void collect(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (!kept) {
        kept = mmap(NULL, KEPT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(kept != MAP_FAILED);
    }
    if (scene_count == SCENES_MOST || kept_used + SCENE_MOST_BYTES > KEPT_BYTES) {
        close(fd);
        fail_msg("there is no room for so many scenes");
    }
    struct scene s = {.test = test_running, .bytes = kept + kept_used};
    ssize_t n = pread(fd, s.bytes, SCENE_MOST_BYTES, 0);
    close(fd);
    if (n <= 0 || n == SCENE_MOST_BYTES)
        return;
    s.size = (size_t)n;
    s.hash = hash_of(s.bytes, s.size);
    unsigned of_test = 0;
    for (unsigned i = 0; i < scene_count; i++) {
        if (scenes[i].hash == s.hash && scenes[i].size == s.size)
            return;
        of_test += scenes[i].test == s.test;
    }
    if (of_test == SCENES_OF_TEST)
        return;
    kept_used += s.size;
    scenes[scene_count++] = s;
}

int __wrap_weft_reader_open(struct weft_reader **out, const char *path, struct weft_error *err)
{
    snprintf(path_opened, sizeof path_opened, "%s", path);
    return __real_weft_reader_open(out, path, err);
}

int __wrap_weft_model_build(struct weft_model **out, struct weft_reader *r,
                            weft_progress_fn *progress, void *data, struct weft_error *err)
{
    if (test_running)
        collect(path_opened);
    return __real_weft_model_build(out, r, progress, data, err);
}

/* ---- Variants ---- */

enum change { AS_IS, CUT, WITHOUT, ROUNDED, NEARLY_ROUNDED, LONGER, SHORTER, EARLIER };

/* at: for CUT, how many events are left; for WITHOUT, which one is; otherwise nanoseconds, or how many times. */
static struct variant {
    enum change change;
    uint64_t at;
} variant;
static struct weft_event changed[EVENTS_MOST];
static uint64_t event_number, first_ns, last_ns;

static uint64_t time_changed(uint64_t t)
{
    switch (variant.change) {
    case ROUNDED:
        return t - t % variant.at;
    case NEARLY_ROUNDED:
        return t - t % variant.at + event_number % 2;
    case LONGER:
        return t < first_ns ? t : first_ns + (t - first_ns) * variant.at;
    case SHORTER:
        return t < first_ns ? t : first_ns + (t - first_ns) / variant.at;
    case EARLIER: /* the model's times are negative then, as those of what a ring has overwritten */
        return t - variant.at;
    default:
        return t;
    }
}

static struct weft_event event_changed(struct weft_event ev)
{
    if (event_number == 0)
        first_ns = ev.time_ns;
    ev.time_ns = time_changed(ev.time_ns);
    if (event_number > 0 && ev.time_ns + 1 == last_ns)
        ev.time_ns = last_ns;
    last_ns = ev.time_ns;
    if (ev.kind == WEFT_EVENT_GC || ev.kind == WEFT_EVENT_PREEMPTED) {
        if (variant.change == ROUNDED)
            ev.value -= ev.value % (int64_t)variant.at;
        else if (variant.change == SHORTER)
            ev.value /= (int64_t)variant.at;
    }
    return ev;
}

ptrdiff_t __wrap_weft_reader_next(struct weft_reader *r, const struct weft_event **events,
                                  struct weft_error *err)
{
    const struct weft_event *ev;
    ptrdiff_t n, left = 0;
    while (left == 0) {
        n = __real_weft_reader_next(r, &ev, err);
        *events = ev;
        if (n <= 0 || variant.change == AS_IS)
            return event_number += n > 0 ? (uint64_t)n : 0, n;
        assert_true(n <= EVENTS_MOST);
        for (ptrdiff_t i = 0; i < n; i++, event_number++)
            if (!(variant.change == CUT && event_number >= variant.at) &&
                !(variant.change == WITHOUT && event_number == variant.at))
                changed[left++] = event_changed(ev[i]);
    }
    *events = changed;
    return left;
}

/* ---- What is said ---- */

static FILE *out;
static struct weft_words *words; /* what somebody may say of labels in these scenes */
static uint64_t kinds_found[WEFT_FINDING_KINDS];

#define I64 " %" PRId64
#define U64 " %" PRIu64

static int32_t index_of(uint32_t i)
{
    return (int32_t)i; /* none is -1 */
}

static void say_findings(const struct weft_history *h, const struct weft_explain_options *o)
{
    struct weft_findings found;
    assert_int_equal(weft_explain(&found, h, o, NULL, NULL), 0);
    for (uint32_t i = 0; i < found.count; i++) {
        const struct weft_finding *f = &found.finding[i];
        kinds_found[f->kind]++;
        fprintf(out, "%s %s %d" I64 I64 I64 U64 "\n  %s\n  %s\n", weft_finding_name(f->kind),
                weft_confidence_name(f->confidence), index_of(f->promise), f->start_ns, f->end_ns,
                f->cost_ns, f->count, f->text, f->doubt ? f->doubt : "-");
        for (uint32_t e = 0; e < f->evidences; e++) {
            struct analyse_text t = {0};
            weft_evidence_say(&t, h->m, f, e);
            fprintf(out, "  " I64 " %s %d %d %s\n", f->evidence[e].time_ns,
                    weft_evidence_name(f->evidence[e].event), index_of(f->evidence[e].promise),
                    index_of(f->evidence[e].other), t.text ? t.text : "");
            analyse_text_fini(&t);
        }
        fprintf(out, "  affects" U64 ":", f->affected_total);
        for (uint32_t a = 0; a < f->affecteds; a++)
            fprintf(out, " %u", f->affected[a]);
        fputc('\n', out);
    }
    weft_findings_fini(&found);
}

static void say_history(const struct weft_history *h)
{
    for (uint32_t i = 0; i < h->waits; i++) {
        const struct weft_wait *w = &h->wait[i];
        uint32_t by = WEFT_NONE;
        int64_t there = weft_history_there_ns(h, w, &by);
        fprintf(out, "wait %u %u" I64 I64 " %d %d %d %d" I64 " %d\n", w->reader, w->source,
                w->from_ns, w->until_ns, index_of(w->begun_by), index_of(w->ended_by),
                index_of(w->notified_by), (int)w->end, there, index_of(by));
    }
    for (uint32_t i = 0; i < h->m->runs; i++)
        fprintf(out, "run %u %d %u\n", h->run_promise[i], index_of(h->run_cause[i]),
                weft_history_stream(h, i));
    for (uint32_t s = 0; s < h->streams; s++) {
        fprintf(out, "stream %d %d %d\n", h->is_loop[s], h->suspends[s], h->informed[s]);
        analyse_each(i, h->idle_first, s)
            fprintf(out, "idle" I64 I64 "\n", h->idle[i].start_ns, h->idle[i].end_ns);
    }
}

static void say_path(const struct weft_history *h, uint32_t p)
{
    struct weft_path path = {0};
    assert_int_equal(weft_path_find(&path, h, p), 0);
    for (uint32_t i = 0; i < path.count; i++)
        fprintf(out, "step" I64 I64 " %s %d %d\n", path.step[i].from_ns, path.step[i].to_ns,
                weft_step_name(path.step[i].kind), index_of(path.step[i].promise),
                index_of(path.step[i].behind));
    uint32_t n = 0;
    struct weft_share *share = weft_path_shares(&path, h->m, &n);
    for (uint32_t i = 0; share && i < n; i++)
        fprintf(out, "share %s %d %d" I64 " %u\n", weft_step_name(share[i].kind),
                index_of(share[i].promise), share[i].several, share[i].total_ns, share[i].steps);
    free(share);
    weft_path_fini(&path);
}

static void say_story_waits(const char *what, const struct weft_story_wait *w, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        fprintf(out, "%s %u" I64 " %d\n", what, w[i].wait, w[i].there_ns, index_of(w[i].waker));
}

static void say_story(const struct weft_history *h, uint32_t p)
{
    struct weft_story s;
    assert_int_equal(weft_story_find(&s, h, p), 0);
    fprintf(out, "promise %u %u %d" I64 I64 " %d" U64 U64 U64 U64 U64 I64, p, s.final, s.pending,
            s.start_ns, s.end_ns, index_of(s.resolver), s.waits, s.waits_open, s.runs, s.readers,
            s.readers_open, s.longest_run_ns);
    for (uint32_t i = 0; i < s.creators; i++)
        fprintf(out, " of %u", s.creator[i]);
    fprintf(out, "\nspent" I64 I64 I64 I64 I64 "\n", s.spent.waiting_ns, s.spent.blocked_ns,
            s.spent.ready_ns, s.spent.running_ns, s.spent.collecting_ns);
    say_story_waits("waits", s.wait, s.kept_waits);
    say_story_waits("reader", s.reader, s.kept_readers);
    for (uint32_t i = 0; i < s.kept_runs; i++)
        fprintf(out, "ran %u %d" I64 "\n", s.run[i].run, index_of(s.run[i].because),
                s.run[i].ready_ns);
}

static void say_stats(const struct weft_history *h, unsigned by)
{
    struct weft_stats s;
    assert_int_equal(weft_stats_find(&s, h, by, NULL, NULL), 0);
    fprintf(out, "stats %d" I64 " %u" I64 " %.3f\n", (int)s.by, s.span_ns, s.ready_max,
            s.ready_max_ns, s.ready_mean);
    for (uint32_t i = 0; i < s.rows; i++) {
        const struct weft_stats_row *r = &s.row[i];
        char *label = NULL;
        assert_int_equal(weft_stats_label(&label, &s, h->m, r), 0);
        fprintf(out, "row %u %s %d %u %u %u %u %u %u %u %u %d %u %u %.3f", r->promise,
                label ? label : "-", r->one_label, r->count, r->resolved, r->failed, r->cancelled,
                r->forgotten, r->pending, r->became, r->preexisting, index_of(r->slowest),
                r->latencies, weft_stats_below(&s, r, r->p90_ns), r->rate);
        fprintf(out, I64 I64 I64 I64 I64 I64 I64 I64 I64 "\n", r->p50_ns, r->p90_ns, r->p99_ns,
                r->max_ns, r->total_ns, r->waiting_ns, r->blocked_ns, r->ready_ns, r->running_ns);
        free(label);
    }
    for (uint32_t i = 0; i < s.streams; i++) {
        const struct weft_stats_stream *t = &s.stream[i];
        fprintf(out, "stream %u %d %d" I64 I64 I64 I64 I64 U64 U64 I64 I64 U64, t->stream,
                t->is_loop, t->suspends, t->span_ns, t->busy_ns, t->loop_ns, t->idle_ns,
                t->collecting_ns, t->runs, t->turns, t->turn_from_ns, t->turn_to_ns, t->turn_runs);
        for (unsigned k = 0; k < WEFT_STATS_RUNS; k++)
            fprintf(out, " %d", index_of(t->longest_run[k]));
        fputc('\n', out);
    }
    weft_stats_fini(&s);
}

static void say_crowd(const struct weft_history *h, const struct analyse_families *f, uint32_t k)
{
    struct weft_crowd c = {0};
    uint32_t *of = calloc(f->size[k] ? f->size[k] : 1, sizeof *of), n = 0;
    assert_non_null(of);
    for (uint32_t p = 0; p < h->m->promises; p++)
        if (f->of[p] == k)
            of[n++] = p;
    assert_int_equal(weft_crowd_find(&c, h, f, of, n), 0);
    fprintf(out, "crowd %u %u %d %u" I64, c.count, c.preexisting, index_of(c.oldest_pending),
            c.sampled, c.sampled_ns);
    for (unsigned o = 0; o < WEFT_OUTCOME_COUNT; o++)
        fprintf(out, " %u", c.outcomes[o]);
    for (uint32_t i = 0; i < c.members; i++)
        fprintf(out, " %u:%" PRId64, c.member[i].promise, c.member[i].ns);
    if (c.members)
        fprintf(out, I64 I64, weft_crowd_percentile(&c, 50), weft_crowd_percentile(&c, 99));
    fputc('\n', out);
    for (uint32_t i = 0; i < c.shares; i++)
        fprintf(out, "share %s %d %d %d" U64 I64 "\n", weft_step_name(c.share[i].kind),
                index_of(c.share[i].family), index_of(c.share[i].promise), c.share[i].one_label,
                c.share[i].steps, c.share[i].total_ns);
    weft_crowd_fini(&c);
    free(of);
}

static void say_slow(const struct weft_history *h)
{
    struct weft_slow s = {0};
    assert_int_equal(weft_slow_find(&s, h), 0);
    for (uint32_t i = 0; i < s.count; i++) {
        const struct weft_slow_sort *k = &s.sort[i];
        fprintf(out, "slow %u %u %u %u %d" I64 I64 I64 " %s %s %s %s %s\n", k->family, k->slowest,
                k->count, k->looked, k->all, k->slow_ns, k->median_ns, k->total_ns,
                weft_slow_cause_name(&k->cause), k->cause.name ? k->cause.name : "-",
                k->cause.holder_name ? k->cause.holder_name : "-", k->name ? k->name : "-",
                k->text);
    }
    weft_slow_fini(&s);
}

static void say_diff(const struct weft_history *const *good, uint32_t goods,
                     const struct weft_history *bad)
{
    struct weft_diff d = {0};
    assert_int_equal(weft_diff_find(&d, good, goods, bad, NULL, NULL), 0);
    const struct weft_divergence *v = &d.divergence;
    fprintf(out, "diff %d %d %d %d %d %d" I64 I64 I64 I64 I64 I64 " %s\n", v->found, v->causal,
            index_of(v->good_first), index_of(v->good_second), index_of(v->bad_first),
            index_of(v->bad_second), v->good_first_ns, v->good_second_ns, v->bad_first_ns,
            v->bad_second_ns, v->good_ns, v->bad_ns, v->text ? v->text : "-");
    fprintf(out, "%d %d" U64 U64 U64 U64 U64 " %s %s\n", d.unsure, d.strangers, d.aligned,
            d.good_promises, d.bad_promises, d.latencies_compared, d.changes_left_out,
            d.swapped ? d.swapped : "-", d.doubt ? d.doubt : "-");
    for (uint32_t i = 0; i < d.changes; i++)
        fprintf(out, "change %d %d %d" U64 " %d %s\n", (int)d.change[i].kind,
                index_of(d.change[i].good), index_of(d.change[i].bad), d.change[i].count,
                d.change[i].follows, d.change[i].text);
    for (uint32_t i = 0; i < d.latencies; i++)
        fprintf(out, "latency %u %u %s\n", d.latency[i].good, d.latency[i].bad, d.latency[i].text);
    for (uint32_t i = 0; i < d.runnings; i++)
        fprintf(out, "running %d %u %s\n", index_of(d.running[i].good), d.running[i].bad,
                d.running[i].text);
    for (uint32_t i = 0; i < d.orders; i++)
        fprintf(out, "order %u %u %s\n", d.order[i].good_first, d.order[i].bad_first,
                d.order[i].text);
    for (uint32_t i = 0; i < bad->m->promises; i++)
        fprintf(out, " %d", index_of(d.good_of_bad[i]));
    fputc('\n', out);
    weft_diff_fini(&d);
}

static void say_all(const struct weft_history *h)
{
    struct analyse_families f;
    assert_int_equal(analyse_families_init(&f, h->m), 0);
    say_history(h);
    for (uint32_t p = 1; p < h->m->promises && p <= PROMISES_MOST; p++) {
        say_story(h, p);
        say_path(h, p);
    }
    for (uint32_t k = 1; k < f.count && k <= FAMILIES_MOST; k++)
        say_crowd(h, &f, k);
    analyse_families_fini(&f);
    say_stats(h, WEFT_BY_AUTO);
    say_stats(h, WEFT_BY_TYPE | WEFT_STATS_RAW);
    say_slow(h);
}

/* ---- Scenes ---- */

static struct weft_model *model_of(const char *path, struct variant v)
{
    struct weft_reader *r;
    struct weft_model *m = NULL;
    variant = v;
    event_number = 0;
    if (__real_weft_reader_open(&r, path, NULL) == 0) {
        __real_weft_model_build(&m, r, NULL, NULL, NULL);
        weft_reader_close(r);
    }
    variant = (struct variant){0};
    return m;
}

static struct weft_history *history_of(const char *path, struct variant v)
{
    struct weft_model *m = model_of(path, v);
    struct weft_history *h = NULL;
    if (m)
        assert_int_equal(weft_history_new(&h, m, NULL, NULL), 0);
    return h;
}

static void release(struct weft_history *h)
{
    struct weft_model *m = (struct weft_model *)(uintptr_t)h->m;
    weft_history_free(h);
    weft_model_free(m);
}

/* whole: the trace as it is; NULL: this is it. other: another run that went well, or NULL. */
static struct weft_history *say_variant(const char *path, struct variant v,
                                        const struct weft_history *whole,
                                        const struct weft_history *other)
{
    const struct weft_explain_options strict = {
        .hang_ns = 50000000,
        .slow_wake_ns = 5000000,
        .block_ns = 5000000,
        .turn_ns = 25000000,
        .never_yield_ns = 500000000,
        .spin_runs = 10,
        .self_wakes = 4,
        .leak_count = 3,
        .serial_waits = 2,
        .serial_saving_ns = 1000000,
        .herd_readers = 2,
        .retries = 3,
        .gc_ns = 1000000,
        .words = words,
    };
    struct weft_history *h = history_of(path, v);
    if (!h)
        return NULL;
    fprintf(out, "---- %d %" PRIu64 "\n", (int)v.change, v.at);
    say_findings(h, NULL);
    say_findings(h, &strict);
    if (whole) {
        const struct weft_history *good[] = {whole, other};
        say_diff(good, other ? 2 : 1, h);
        say_diff((const struct weft_history *[]){h}, 1, whole);
    }
    if (!whole || v.change != CUT)
        say_all(h);
    return h;
}

static void say_variants(const char *path, const struct weft_history *whole, uint64_t events,
                         unsigned *count)
{
    static const struct variant of_times[] = {
        {ROUNDED, 1000},
        {ROUNDED, 1000000},
        {ROUNDED, 5000000},
        {ROUNDED, 10000000},
        {LONGER, 10},
        {SHORTER, 10},
        {NEARLY_ROUNDED, 1000000},
        {NEARLY_ROUNDED, 10000000},
        {EARLIER, 3600000000000},
    };
    const uint64_t step = events / PLACES_MOST + 1;
    struct weft_history *other = NULL;
    for (size_t i = 0; i < COUNT(of_times) + 2 * events; i++) {
        const uint64_t at = i - COUNT(of_times);
        struct variant v = {at < events ? CUT : WITHOUT, at % (events ? events : 1)};
        if (i < COUNT(of_times))
            v = of_times[i];
        else if (at % step)
            continue;
        struct weft_history *h = say_variant(path, v, whole, v.change == WITHOUT ? other : NULL);
        if (!h)
            continue;
        ++*count;
        if (v.change == SHORTER)
            other = h;
        else
            release(h);
    }
    if (other)
        release(other);
}

static void put_findings(FILE *line, const struct weft_history *h)
{
    struct weft_findings found;
    assert_int_equal(weft_explain(&found, h, NULL, NULL, NULL), 0);
    for (uint32_t i = 0; i < found.count; i++)
        fprintf(line, " %s %s %d;", weft_finding_name(found.finding[i].kind),
                weft_confidence_name(found.finding[i].confidence),
                index_of(found.finding[i].promise));
    weft_findings_fini(&found);
}

/* The line about it, and the text that it is made from, if somebody wants that. */
static void say_scene(const struct scene *s, FILE *line, FILE *said)
{
    struct trace t = {.bytes = s->bytes, .size = s->size, .fd = -1};
    char *text = NULL;
    size_t size = 0;
    unsigned variants = 0;
    const char *path = trace_path(&t);
    memset(kinds_found, 0, sizeof kinds_found);
    out = open_memstream(&text, &size);
    assert_non_null(out);
    struct weft_history *whole = say_variant(path, (struct variant){0}, NULL, NULL);
    fprintf(line, "%s:", s->test);
    if (whole) {
        const uint64_t events = event_number;
        put_findings(line, whole);
        if (events <= EVENTS_MOST)
            say_variants(path, whole, events, &variants);
        release(whole);
    }
    fclose(out);
    fprintf(line, " in %u variants", variants);
    for (unsigned k = 0; k < WEFT_FINDING_KINDS; k++)
        if (kinds_found[k])
            fprintf(line, " %s %" PRIu64, weft_finding_name(k), kinds_found[k]);
    fprintf(line, " %016" PRIx64 "\n", hash_of(text, size));
    if (said)
        fprintf(said, "==== %s\n%s", s->test, text);
    free(text);
    close(t.fd);
}

/* Returns true if the file holds this text. Prints the first lines that differ. */
static bool is_in(const char *path, const char *text)
{
    char was[4096], now[4096];
    FILE *file = fopen(path, "r"), *lines = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    unsigned different = 0, number = 0;
    for (bool more = true; more;) {
        const char *a = file ? fgets(was, sizeof was, file) : NULL;
        const char *b = lines ? fgets(now, sizeof now, lines) : NULL;
        more = a || b;
        number++;
        if (more && (!a || !b || strcmp(a, b) != 0) && different++ < 10)
            print_error("%s:%u\n- %s+ %s", path, number, a ? a : "\n", b ? b : "\n");
    }
    if (file)
        fclose(file);
    if (lines)
        fclose(lines);
    return different == 0;
}

static void all_scenes_are_as_before(void **state)
{
    static const char *const meanings[] = {
        "timer: tick limit",   "lock: pool room config", "may-last: server socket peer",
        "in-order: user item", "for-all: drained",       "meant-to-fail: closed gone",
    };
    const char *root = getenv("SOURCE_ROOT"), *said_path = getenv("SAID");
    char path[4096], *text = NULL;
    size_t size = 0;
    (void)state;
    snprintf(path, sizeof path, "%s/tests/golden/scenes/%s.txt", root ? root : ".",
             program_invocation_short_name + strlen("test_"));
    FILE *lines = open_memstream(&text, &size), *said = said_path ? fopen(said_path, "w") : NULL;
    assert_non_null(lines);
    test_running = NULL;
    for (size_t i = 0; i < COUNT(meanings); i++)
        assert_null(weft_words_add(&words, meanings[i]));
    for (unsigned i = 0; i < scene_count; i++)
        say_scene(&scenes[i], lines, said);
    weft_words_free(words);
    words = NULL;
    fclose(lines);
    if (said)
        fclose(said);
    if (getenv("ACCEPT")) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
#ifdef __clang__
    } else if (true) {
#else
    } else if (!root) {
#endif
        free(text);
        skip();
    } else if (!is_in(path, text)) {
        free(text);
        fail_msg("a scene is not as in %s; the head of variants.c says how to accept it", path);
    }
    free(text);
}

/* ---- The tests ---- */

struct named {
    struct CMUnitTest test;
    void *state;
};

static void run_named(void **state)
{
    struct named *n = *state;
    test_running = n->test.name;
    n->test.test_func(&n->state);
}

int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown)
{
    static struct CMUnitTest all[256];
    static struct named named[256];
    assert_true(count < COUNT(all));
    for (size_t i = 0; i < count; i++) {
        assert_true(!tests[i].setup_func && !tests[i].teardown_func);
        named[i] = (struct named){tests[i], tests[i].initial_state};
        all[i] = (struct CMUnitTest){tests[i].name, run_named, NULL, NULL, &named[i]};
    }
    all[count] =
        (struct CMUnitTest){"all_scenes_are_as_before", all_scenes_are_as_before, NULL, NULL, NULL};
    return __real__cmocka_run_group_tests(name, all, count + 1, setup, teardown);
}
