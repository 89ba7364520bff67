/* SPDX-License-Identifier: ISC */
#include "cli/top/samples.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/order.h"
#include "cli/common.h"
#include "format/utf8.h"
#include "profile/build.h"
#include "read/reader.h"
#include "sample/file.h"
#include "symbols/symbols.h"

#define SECOND_NS UINT64_C(1000000000)
#define RING_BYTES (UINT64_C(1) << 20)
#define NAMER_NS INT64_C(60000000000)
enum { NAMER_SHARE = 10 }; /* names are looked up for at most one part in ten of the time */

struct top_waiting {
    uint64_t time_ns;      /* of its first sample without a row; UINT64_MAX: there is none */
    uint32_t next, thread; /* which; of what thread they are */
};

/* An event, and what ran on its thread before it. */
struct top_passed {
    uint64_t time_ns;
    uint32_t thread, row;
};
enum { PASSED_MOST = 1 << 14 };

/* What the process that looks up names answers. */
struct named {
    uint32_t place;
    char function[TOP_FUNCTION_BYTES];
};

void top_samples_begin(struct top_samples *s, pid_t process, uint32_t hz)
{
    const struct cli_sampler_options o = {
        .process = (uint32_t)process, .hz = hz, .ring_bytes = RING_BYTES};
    const int error = cli_sampler_start(&s->sampler, &o);
    s->seed = weft_seed();
    s->hz = hz;
    s->began = false;
    s->begun_ns = s->taken_ns = (uint64_t)weft_monotonic_ns();
    snprintf(s->trouble, sizeof s->trouble, "%s", error ? strerror(error) : "");
}

static void end_namer(struct top_samples *s)
{
    if (s->namer > 0) {
        kill(s->namer, SIGKILL);
        TEMP_FAILURE_RETRY(waitpid(s->namer, NULL, 0));
    }
    cli_close(s->names);
    s->namer = 0;
    s->names = -1;
}

void top_samples_end(struct top_samples *s)
{
    cli_sampler_stop(&s->sampler);
    end_namer(s);
    weft_free_all(s->function, s->label, s->place, s->sample, s->waiting, s->passed,
                  s->place_by.slot);
    *s = (struct top_samples)TOP_SAMPLES_NONE;
}

/* ---- Places ---- */

const struct top_place *top_samples_place(const struct top_samples *s, uint32_t place)
{
    return place < s->places ? &s->place[place] : NULL;
}

static const char *path_of(const struct weft_profile *p, const struct weft_location *l)
{
    return l->mapping < p->mappings ? weft_profile_text(p, p->mapping[l->mapping].path) : "";
}

static uint64_t key_of(const struct top_samples *s, const struct weft_profile *p, uint32_t location)
{
    const struct weft_location *l = &p->location[location];
    const char *path = path_of(p, l);
    const bool own =
        l->mapping >= p->mappings || weft_profile_is_generated(p, &p->mapping[l->mapping]);
    const uint64_t offset = weft_profile_symbol_offset(p, location);
    const uint64_t key = weft_hash(WEFT_HASH_BEGIN, path, strlen(path));
    return weft_mix(key ^ weft_mix(offset, s->seed), own ? l->process : UINT32_MAX);
}

static uint32_t find_place(const struct top_samples *s, uint64_t key)
{
    return weft_table_get(&s->place_by, s->place, sizeof *s->place, sizeof key, &key, s->seed);
}

/* The place of a location; LIVE_NONE: there are too many. */
static uint32_t place_of(struct top_samples *s, const struct weft_profile *p, uint32_t location)
{
    const struct weft_location *l = &p->location[location];
    const char *path = path_of(p, l), *object = l->kernel ? "[kernel]"
                                                : *path   ? cli_base(path)
                                                          : "?";
    struct top_place new = {.key = key_of(s, p, location)};
    const uint32_t known = find_place(s, new.key);
    if (known != UINT32_MAX || s->places == TOP_PLACES_MOST)
        return known;
    weft_text_clean(new.object, sizeof new.object - 1, object, strlen(object));
    snprintf(new.function, sizeof new.function, "0x%" PRIx64,
             weft_profile_symbol_offset(p, location));
    return weft_table_add(&s->place_by, &s->place, &s->places, &s->place_room, sizeof new,
                          sizeof new.key, &new, s->seed);
}

/* ---- Names ---- */

static uint32_t leaf(const struct weft_profile *p, const struct weft_sample *x)
{
    return x->stack ? p->stack[x->stack].location : WEFT_NONE;
}

_Noreturn static void name_in_child(struct top_samples *s, struct weft_profile *p, int fd)
{
    const struct weft_symbols_options o = {.this_machine = true};
    FILE *out = fdopen(fd, "w");
    bool *done = calloc(s->places + (size_t)1, sizeof *done);
    if (!out || !done || weft_symbols_resolve(p, &o, NULL, NULL, NULL) < 0)
        _exit(1);
    for (uint32_t i = 0; i < p->samples; i++) {
        const uint32_t at = leaf(p, &p->sample[i]);
        const uint32_t place = at == WEFT_NONE ? UINT32_MAX : find_place(s, key_of(s, p, at));
        if (place == UINT32_MAX || done[place] || !p->location[at].frames)
            continue;
        const struct weft_frame *frame = &p->frame[p->location[at].first_frame];
        const char *name = weft_profile_text(p, p->function[frame->function].name);
        struct named n = {.place = place};
        done[place] = true;
        weft_text_clean(n.function, sizeof n.function - 1, name, strlen(name));
        fwrite(&n, sizeof n, 1, out);
    }
    _exit(fflush(out) == 0 ? 0 : 1);
}

/* Looks names up, if something has none yet and was not looked up. */
static void begin_namer(struct top_samples *s, struct weft_profile *p)
{
    bool wanted = false;
    for (uint32_t i = 0; i < s->places && !s->namer; i++)
        wanted |= !s->place[i].asked;
    const int64_t now_ns = weft_monotonic_ns();
    if (!wanted || now_ns < s->namer_next_ns ||
        (s->names = memfd_create("weft-names", MFD_CLOEXEC)) < 0)
        return;
    s->namer = fork();
    if (s->namer == 0)
        name_in_child(s, p, s->names);
    s->namer_begun_ns = now_ns;
    if (s->namer < 0)
        end_namer(s);
    for (uint32_t i = 0; i < s->places; i++)
        s->place[i].asked = true;
}

static int64_t time_used(const struct timeval *t)
{
    return t->tv_sec * (int64_t)SECOND_NS + t->tv_usec * INT64_C(1000);
}

static void hear_namer(struct top_samples *s)
{
    const int64_t now_ns = weft_monotonic_ns();
    struct rusage used = {.ru_nvcsw = 0};
    struct named n;
    int status;
    if (!s->namer)
        return;
    const pid_t got = wait4(s->namer, &status, WNOHANG, &used);
    if (got == 0) {
        if (now_ns > s->namer_begun_ns + NAMER_NS)
            end_namer(s);
        return;
    }
    s->namer = 0;
    s->namer_next_ns =
        now_ns + (NAMER_SHARE - 1) * (time_used(&used.ru_utime) + time_used(&used.ru_stime));
    for (off_t at = 0; pread(s->names, &n, sizeof n, at) == sizeof n; at += (off_t)sizeof n)
        if (n.place < s->places)
            memcpy(s->place[n.place].function, n.function, sizeof n.function);
    end_namer(s);
}

/* ---- Taking ---- */

static void hear_sampler(struct top_samples *s)
{
    enum cli_sampler_says what;
    char text[CLI_SAMPLER_TEXT];
    while (cli_sampler_hear(&s->sampler, &what, text)) {
        s->began |= what == CLI_SAMPLER_BEGAN;
        if (what == CLI_SAMPLER_FAILED)
            snprintf(s->trouble, sizeof s->trouble, "%s", text);
    }
}

void top_samples_ask(struct top_samples *s)
{
    s->question = s->sampler.pid ? cli_sampler_ask(&s->sampler) : 0;
}

static void drop(struct top_samples *s, uint32_t count)
{
    if (!count)
        return;
    s->held -= count;
    s->joined = s->joined > count ? s->joined - count : 0;
    memmove(s->sample, s->sample + count, s->held * sizeof *s->sample);
}

static void add(struct top_samples *s, const struct weft_profile *p, pid_t process)
{
    uint64_t last_ns = s->taken_ns;
    for (uint32_t i = 0; i < p->samples; i++) {
        const struct weft_sample *x = &p->sample[i];
        const struct weft_thread *t = &p->thread[x->thread];
        const uint32_t at = leaf(p, x);
        if (x->thread >= p->threads || x->time_ns <= s->taken_ns || t->process != (uint32_t)process)
            continue;
        if (s->held == TOP_SAMPLES_MOST)
            drop(s, TOP_SAMPLES_MOST / 4);
        if (!weft_reserve(&s->sample, s->held, &s->sample_room, sizeof *s->sample))
            break;
        s->sample[s->held++] = (struct top_sample){
            .time_ns = x->time_ns,
            .thread = t->thread,
            .place = at == WEFT_NONE ? LIVE_NONE : place_of(s, p, at),
            .row = LIVE_NONE,
        };
        last_ns = x->time_ns;
    }
    s->taken_ns = last_ns;
}

/* ---- Which promise ran ---- */

static uint32_t row_of(const struct top_samples *s, uint64_t running)
{
    const struct live_promise *p = running ? live_find(s->live, running) : NULL;
    return p ? p->row : running == WEFT_ID_LOOP ? TOP_LOOP_RAN : TOP_NOTHING_RAN;
}

/* Samples come a few hundredths of a second later than events: those that are older than the last look. */
static void join_late(struct top_samples *s)
{
    uint32_t threads;
    const struct live_thread *t = live_threads(s->live, &threads);
    const uint64_t seen_ns = live_totals(s->live)->now_ns;
    for (uint32_t i = s->joined; i < s->held; i++) {
        struct top_sample *x = &s->sample[i];
        uint32_t at = 0;
        if (x->row != LIVE_NONE || x->time_ns > seen_ns)
            continue;
        while (at < s->passes &&
               (s->passed[at].thread != x->thread || s->passed[at].time_ns < x->time_ns))
            at++;
        x->row = at < s->passes ? s->passed[at].row : TOP_NOTHING_RAN;
        for (uint32_t k = 0; k < threads && at == s->passes && s->passed_all; k++)
            if (t[k].tid == x->thread && !t[k].idle && t[k].last_ns <= x->time_ns)
                x->row = row_of(s, t[k].running);
    }
}

/* Notes events that may be newer than the samples that were taken. */
static void note_passed(struct top_samples *s, const struct weft_event *ev, uint32_t thread)
{
    if (s->passes == PASSED_MOST ||
        !weft_reserve(&s->passed, s->passes, &s->pass_room, sizeof *s->passed)) {
        s->passed_all = false;
        return;
    }
    s->passed[s->passes++] = (struct top_passed){
        ev->time_ns, thread, ev->gap ? TOP_NOTHING_RAN : row_of(s, ev->running)};
}

/* The first sample of a thread without a row, from that one on; s->held: there is none. */
static uint32_t next_of(const struct top_samples *s, uint32_t thread, uint32_t i)
{
    while (i < s->held && (s->sample[i].thread != thread || s->sample[i].row != LIVE_NONE))
        i++;
    return i;
}

static uint64_t time_of(const struct top_samples *s, uint32_t sample)
{
    return sample < s->held ? s->sample[sample].time_ns : UINT64_MAX;
}

/* Of the event's stream; NULL: it is not known. */
static struct top_waiting *waiting_of(struct top_samples *s, uint32_t stream)
{
    const struct weft_reader_facts *f = weft_reader_facts(live_reader(s->live));
    if (!f->stream || stream >= f->streams)
        return NULL;
    while (s->streams <= stream) {
        if (!weft_reserve(&s->waiting, s->streams, &s->stream_room, sizeof *s->waiting))
            return NULL;
        const uint32_t thread = f->stream[s->streams].thread;
        const uint32_t next = next_of(s, thread, s->joined);
        s->waiting[s->streams++] = (struct top_waiting){time_of(s, next), next, thread};
    }
    return &s->waiting[stream];
}

/* Until this event, what runs on its stream has been the same since the one before it. */
void top_samples_event(struct top_samples *s, const struct weft_event *ev)
{
    const bool late = s->question && ev->time_ns >= s->question;
    if ((s->joined == s->held && !late) || ev->promoted)
        return;
    struct top_waiting *w = waiting_of(s, ev->stream);
    if (w && late)
        note_passed(s, ev, w->thread);
    if (!w || ev->time_ns < w->time_ns)
        return;
    const uint32_t row = ev->gap ? TOP_NOTHING_RAN : row_of(s, ev->running);
    for (; w->time_ns <= ev->time_ns && w->next < s->held; w->time_ns = time_of(s, w->next)) {
        s->sample[w->next].row = row;
        w->next = next_of(s, w->thread, w->next);
    }
}

/* What came after the last event of its thread. What came after the last event that was seen of all is joined later. */
static void join_rest(struct top_samples *s)
{
    uint32_t threads;
    const struct live_thread *t = live_threads(s->live, &threads);
    const uint64_t now_ns = live_totals(s->live)->now_ns;
    const uint64_t late_ns = (uint64_t)weft_monotonic_ns() - 5 * SECOND_NS;
    for (uint32_t i = s->joined; i < s->held; i++) {
        struct top_sample *x = &s->sample[i];
        if (x->row != LIVE_NONE || (x->time_ns > now_ns && x->time_ns > late_ns))
            continue;
        x->row = TOP_NOTHING_RAN;
        for (uint32_t k = 0; k < threads; k++)
            if (t[k].tid == x->thread && t[k].last_ns <= x->time_ns)
                x->row = t[k].idle ? TOP_NOTHING_RAN : row_of(s, t[k].running);
    }
    while (s->joined < s->held && s->sample[s->joined].row != LIVE_NONE)
        s->joined++;
}

/* ---- A look ---- */

void top_samples_take(struct top_samples *s, const struct live *l, pid_t process)
{
    struct weft_error err;
    s->live = l;
    s->streams = 0;
    hear_namer(s);
    hear_sampler(s);
    if (!s->sampler.pid || !s->question)
        return;
    cli_sampler_await(&s->sampler, s->question);
    const int fd = cli_sampler_copy(&s->sampler, &err);
    struct weft_profile *p = fd < 0 ? NULL : cli_samples_load(fd, &err);
    if (p) {
        add(s, p, process);
        join_late(s);
        begin_namer(s, p);
        weft_profile_free(p);
    }
    cli_close(fd);
    s->passes = 0;
    s->passed_all = true;
}

/* ---- Adding up ---- */

static int by_of(const void *a, const void *b)
{
    return weft_order_u32(&((const struct top_share *)a)->of, &((const struct top_share *)b)->of);
}

static int most_first(const void *a, const void *b)
{
    const struct top_share *x = a, *y = b;
    WEFT_ORDER(y->samples, x->samples);
    return weft_order(x->of, y->of);
}

static int by_function(const void *a, const void *b, void *data)
{
    const struct top_samples *s = data;
    const uint32_t x = ((const struct top_share *)a)->of, y = ((const struct top_share *)b)->of;
    if (x >= s->places || y >= s->places)
        return weft_order(x, y);
    const int order = strcmp(s->place[x].function, s->place[y].function);
    return order ? order : strcmp(s->place[x].object, s->place[y].object);
}

/* Neighbours that are the same become one. */
static uint32_t merge(struct top_share *share, uint32_t count, const struct top_samples *s,
                      int (*compare)(const void *a, const void *b, void *s))
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const bool same =
            kept && (compare ? compare(&share[kept - 1], &share[i], (void *)(uintptr_t)s) == 0
                             : share[kept - 1].of == share[i].of);
        if (same)
            share[kept - 1].samples += share[i].samples;
        else
            share[kept++] = share[i];
    }
    return kept;
}

static uint32_t add_up(struct top_samples *s, struct top_share *share, uint32_t first, bool places)
{
    uint32_t count = 0;
    for (uint32_t i = first; i < s->held; i++)
        if (places || s->sample[i].row != LIVE_NONE)
            share[count++] = (struct top_share){places ? s->sample[i].place : s->sample[i].row, 1};
    weft_sort(share, count, sizeof *share, by_of);
    count = merge(share, count, s, NULL);
    if (places && count) {
        qsort_r(share, count, sizeof *share, by_function, s);
        count = merge(share, count, s, by_function);
    }
    weft_sort(share, count, sizeof *share, most_first);
    return count;
}

int top_samples_join(struct top_samples *s, unsigned seconds)
{
    const uint64_t now_ns = (uint64_t)weft_monotonic_ns(), window_ns = seconds * SECOND_NS;
    uint32_t first = 0;
    if (!s->hz || !s->live)
        return 0;
    join_rest(s);
    while (first < s->held && s->sample[first].time_ns + 60 * SECOND_NS < now_ns)
        first++;
    drop(s, first);
    for (first = 0; first < s->held && s->sample[first].time_ns + window_ns < now_ns;)
        first++;
    s->samples = s->held - first;
    s->window_ns = now_ns - s->begun_ns < window_ns ? now_ns - s->begun_ns : window_ns;
    if (s->held > s->share_room) {
        const uint32_t room = s->sample_room;
        struct top_share *a = weft_resize(s->function, room, sizeof *a);
        s->function = a ? a : s->function;
        struct top_share *b = a ? weft_resize(s->label, room, sizeof *b) : NULL;
        s->label = b ? b : s->label;
        if (!b)
            return WEFT_E_NOMEM;
        s->share_room = room;
    }
    s->functions = add_up(s, s->function, first, true);
    s->labels = add_up(s, s->label, first, false);
    return 0;
}
