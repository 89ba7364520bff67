/* SPDX-License-Identifier: ISC */
/* Samples and promises on one axis: whose each sample is, on whose behalf that ran, and stacks that go on below the event
 * loop. */
#include <inttypes.h>

#include "allocations.h"
#include "profile/calltree.h"
#include "profile/frames.h"
#include "profile/join.h"
#include "profile/build.h"
#include "samples.h"

#define PID 70
#define THREAD(stream)                                                                             \
    (71 + (stream)) /* the number of a stream's thread, unless a test says otherwise */

static const uint8_t here[16] = "here", elsewhere[16] = "elsewhere";

/* thread: the number of each stream's. */
static struct weft_model *build(const struct step *step, size_t count, const uint32_t *thread)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    uint32_t site[1] = {strings_site(&s, strings_text(&s, "task"), 0, 0, 0)};
    struct weft_facts_header facts = {.state = WEFT_TRACE_STOPPED, .pid = PID};
    memcpy(facts.boot_id, here, sizeof here);
    facts_packet(&t, facts, "");
    strings_packet(&t, &s);
    for (uint32_t stream = 0, found = 1; found; stream++) {
        found = 0;
        for (size_t i = 0; i < count; i++) {
            if (step[i].stream != stream)
                continue;
            if (!found++) {
                struct weft_events_header h = {.stream = stream,
                                               .thread = thread ? thread[stream] : THREAD(stream),
                                               .sequence = stream + 1,
                                               .begin_ticks = step[i].ev.time_ns};
                snprintf(h.thread_name, sizeof h.thread_name, "thread %u", stream);
                events_begin(&t, h);
            }
            events_put(&t, step[i].ev, site[0]);
        }
    }
    return trace_model(&t);
}

#define BUILD(thread, ...)                                                                         \
    build((const struct step[]){__VA_ARGS__}, COUNT(((const struct step[]){__VA_ARGS__})), thread)

static struct step one(struct weft_event ev)
{
    return (struct step){.ev = ev};
}

static struct step two(struct weft_event ev)
{
    return (struct step){.ev = ev, .stream = 1};
}

static struct weft_profile *new_profile(void)
{
    struct weft_profile *p = weft_profile_new();
    assert_non_null(p);
    memcpy(p->boot_id, here, sizeof here);
    weft_profile_add_source(p, &(struct weft_source){.unit = WEFT_UNIT_NS});
    return p;
}

static void sample_at(struct weft_profile *p, uint32_t process, uint32_t thread, uint64_t time_ns,
                      uint32_t stack)
{
    struct weft_sample s = {.time_ns = time_ns, .value = 10, .stack = stack};
    s.thread = weft_profile_add_thread(p, process, thread, WEFT_NONE);
    assert_int_equal(weft_profile_add_sample(p, &s), 0);
}

/* "3 3 - 4": of each sample, in order of time, the promise's id. */
static void expect_promises(struct weft_profile *p, const char *wanted)
{
    char text[512] = "";
    for (uint32_t i = 0; i < p->samples; i++) {
        size_t used = strlen(text);
        uint32_t promise = p->sample[i].promise;
        if (promise == WEFT_NONE)
            snprintf(text + used, sizeof text - used, "%s-", i ? " " : "");
        else
            snprintf(text + used, sizeof text - used, "%s%" PRIu64, i ? " " : "",
                     p->model->promise[promise].id);
    }
    assert_string_equal(text, wanted);
}

static void join(struct weft_profile *p, const struct weft_model *m)
{
    assert_int_equal(weft_profile_finish(p), 0);
    assert_int_equal(weft_profile_join(p, m), 0);
    assert_ptr_equal(p->model, m);
}

/* ---- Whose ---- */

TEST(test_time)
{
    struct weft_model *m =
        BUILD(NULL, one(creates(1000, LOOP, 1, 0)), one(creates(1001, LOOP, 2, 0)),
              one(switches(1010, 1)), one(switches(1020, 2)), one(switches(1030, LOOP)),
              one(switches(1040, 1)), one(suspends(1050)), one(resumes(1060)),
              one(switches(1070, 2)), one(resolves(1080, LOOP, 2)), one(switches(1090, LOOP)));
    struct weft_profile *p = new_profile();
    static const uint64_t times[] = {5,    999,  1005, 1010, 1019, 1020, 1029, 1030, 1035,
                                     1045, 1055, 1065, 1070, 1079, 1085, 1095, 5000};
    for (size_t i = 0; i < COUNT(times); i++)
        sample_at(p, PID, THREAD(0), times[i], 0);
    join(p, m);
    expect_promises(p, "- - - 1 1 2 2 - - 1 - - 2 2 - - -");
    assert_int_equal(p->thread[0].stream, 0);
    weft_profile_free(p);
    weft_model_free(m);
}

TEST(test_threads)
{
    struct weft_model *m =
        BUILD(NULL, one(creates(100, LOOP, 1, 0)), one(switches(110, 1)), one(switches(200, LOOP)),
              two(creates(100, LOOP, 2, 0)), two(switches(120, 2)), two(switches(180, LOOP)));
    assert_int_equal(m->streams, 2);
    assert_int_equal(m->stream_thread[1].thread, THREAD(1));
    assert_int_equal(m->stream_thread[1].process, PID);
    assert_string_equal(weft_model_text(m, m->stream_thread[1].name, NULL), "thread 1");
    struct weft_profile *p = new_profile();
    sample_at(p, PID, THREAD(1), 130, 0);
    sample_at(p, PID, THREAD(0), 131, 0);
    sample_at(p, PID, 5, 132, 0);
    sample_at(p, UINT32_MAX, THREAD(1), 133, 0); /* its process is not known */
    sample_at(p, PID + 1, THREAD(1), 134, 0);    /* of another one */
    sample_at(p, PID, UINT32_MAX, 135, 0);
    sample_at(p, PID, THREAD(1), 190, 0);
    sample_at(p, PID, THREAD(0), 190, 0);
    struct weft_sample away = {.time_ns = 150, .value = 150};
    assert_int_equal(weft_profile_add_absence(p, &away), 0);
    join(p, m);
    expect_promises(p, "2 1 - 2 - - - 1");
    assert_int_equal(m->promise[p->absence[0].promise].id, 2);
    assert_int_equal(p->thread[0].stream, 1);
    assert_int_equal(p->thread[2].stream, WEFT_NONE);
    memcpy(p->boot_id, elsewhere, sizeof elsewhere);
    assert_int_equal(weft_profile_join(p, m), 1);
    assert_null(p->model);
    for (uint32_t i = 0; i < p->samples; i++)
        assert_int_equal(p->sample[i].promise, WEFT_NONE);
    assert_int_equal(p->absence[0].promise, WEFT_NONE);
    memset(p->boot_id, 0, sizeof p->boot_id); /* not known */
    assert_int_equal(weft_profile_join(p, m), 0);
    expect_promises(p, "2 1 - 2 - - - 1");
    weft_profile_free(p);
    weft_model_free(m);
}

/* A number that the system gives again. */
TEST(test_number_again)
{
    static const uint32_t thread[] = {90, 91, 90};
    struct weft_model *m =
        BUILD(thread, one(creates(100, LOOP, 1, 0)), one(switches(110, 1)),
              one(switches(200, LOOP)), two(creates(100, LOOP, 2, 0)), two(switches(110, 2)),
              two(switches(400, LOOP)), (struct step){.ev = switches(300, 1), .stream = 2},
              (struct step){.ev = switches(350, LOOP), .stream = 2});
    struct weft_profile *p = new_profile();
    for (uint64_t time = 150; time < 450; time += 50) {
        sample_at(p, PID, 90, time, 0);
        sample_at(p, PID, 91, time, 0);
    }
    join(p, m);
    expect_promises(p, "1 2 - 2 - 2 1 2 - 2 - -");
    weft_profile_free(p);
    weft_model_free(m);
}

/* ---- On whose behalf ---- */

static uint64_t root_of(const struct weft_model *m, uint64_t id)
{
    uint32_t *roots = weft_profile_roots(m);
    assert_non_null(roots);
    assert_int_equal(roots[WEFT_ROOT], WEFT_NONE);
    uint32_t root = roots[weft_model_find(m, id)];
    free(roots);
    return root == WEFT_NONE ? 0 : m->promise[root].id;
}

TEST(test_root)
{
    struct weft_model *m =
        BUILD(NULL, one(creates(100, LOOP, 1, 0)), one(creates(101, 1, 2, 0)),
              one(background(102, 2)), one(creates(103, 2, 3, 0)), one(creates(104, 3, 4, 0)),
              one(creates(105, 4, 5, 0)), one(creates(106, 1, 6, 0)));
    assert_int_equal(root_of(m, 1), 1);
    assert_int_equal(root_of(m, 2), 1);
    assert_int_equal(root_of(m, 3), 3); /* what an accept loop has made */
    assert_int_equal(root_of(m, 5), 3);
    assert_int_equal(root_of(m, 6), 1);
    /* No recorder writes a circle; a model made by hand has one: 4 by 5, and 6 below it. */
    m->promise[weft_model_find(m, 4)].creator = weft_model_find(m, 5);
    m->promise[weft_model_find(m, 6)].creator = weft_model_find(m, 5);
    assert_int_equal(root_of(m, 4), 4);
    assert_int_equal(root_of(m, 5), 5);
    assert_int_equal(root_of(m, 6), 6);
    weft_model_free(m);
}

/* ---- Stacks ---- */

/* main at 0x1000, run 0x2000 and so on: names by address. */
static uint32_t push(struct weft_profile *p, uint32_t parent, uint64_t address)
{
    uint32_t stack = weft_profile_push(p, parent, PID, address, 0, 1);
    assert_int_not_equal(stack, WEFT_NONE);
    return stack;
}

static void name(struct weft_profile *p, uint64_t address, const char *outer, const char *inner)
{
    struct weft_mapping object = {.process = UINT32_MAX,
                                  .path = weft_profile_add_text(p, "/bin/a", 6)};
    struct weft_frame frame[2];
    uint32_t count = 0;
    for (unsigned i = 0; i < 2; i++) {
        const char *text = i ? outer : inner;
        if (!text)
            continue;
        struct weft_function f = {.name = weft_profile_add_text(p, text, (uint32_t)strlen(text))};
        frame[count++] = (struct weft_frame){weft_profile_add_function(p, &f), 7};
    }
    assert_int_equal(weft_profile_add_symbol(p, &object, address, frame, count), 0);
}

static struct weft_profile *named_profile(void)
{
    struct weft_profile *p = new_profile();
    struct weft_mapping m = {
        .process = PID, .path = weft_profile_add_text(p, "/bin/a", 6), .size = 0x100000};
    assert_int_not_equal(weft_profile_add_mapping(p, &m), WEFT_NONE);
    name(p, 0x1000, "main", NULL);
    name(p, 0x2000, "run", NULL);
    name(p, 0x3000, "uv_run", NULL);
    name(p, 0x4000, "uv__io_poll", "inlined_call"); /* inlined into it */
    name(p, 0x5000, "on_read", NULL);
    name(p, 0x6000, "parse", NULL);
    name(p, 0x7000, "write_out", NULL);
    return p;
}

static void expect_frames(struct weft_profile *p, enum weft_async_stacks async, uint32_t sample,
                          const char *wanted)
{
    struct weft_frames *f;
    uint32_t count;
    char text[4096] = "";
    const struct weft_sample *s = &p->sample[sample];
    assert_int_equal(weft_frames_new(&f, p, &(struct weft_frames_options){.async = async}), 0);
    const struct weft_named_frame *frame =
        weft_frames_of(f, s->stack, s->promise, s->thread, s->time_ns, &count);
    assert_non_null(frame);
    for (uint32_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s%s", i ? ";" : "",
                 frame[i].kind == WEFT_FRAME_PROMISE ? "@" : "",
                 weft_profile_text(p, frame[i].text));
    weft_frames_free(f);
    assert_string_equal(text, wanted);
}

static struct weft_model *server(void)
{
    return BUILD(NULL, one(creates(100, LOOP, 1, 0)), one(label(100, 1, "accept")),
                 one(creates(101, 1, 2, 0)), one(label(101, 2, "connection")),
                 one(creates(102, 2, 3, 0)), one(label(102, 3, "PUT /x")),
                 one(creates(103, LOOP, 4, 0)), one(label(103, 4, "lock")),
                 one(try_read(110, 2, 3)), /* the connection waits for the request */
                 one(try_read(150, 1, 2)), one(switches(200, 3)), /* … runs */
                 one(switches(300, LOOP)), one(switches(310, 4)), one(switches(400, LOOP)));
}

TEST(test_async_known_loop)
{
    struct weft_model *m = server();
    struct weft_profile *p = named_profile();
    uint32_t poll = push(p, push(p, push(p, push(p, 0, 0x1000), 0x2000), 0x3000), 0x4000);
    uint32_t parse = push(p, push(p, poll, 0x5000), 0x6000);
    sample_at(p, PID, THREAD(0), 120, poll);
    sample_at(p, PID, THREAD(0), 210, parse);
    sample_at(p, PID, THREAD(0), 220, poll);
    sample_at(p, PID, THREAD(0), 320, push(p, 0, 0x6000)); /* as without frame pointers */
    join(p, m);
    const char *whole = "main;run;uv_run;uv__io_poll;inlined_call;on_read;parse";
    expect_frames(p, WEFT_ASYNC_NONE, 1, whole);
    expect_frames(p, WEFT_ASYNC_CREATORS, 0,
                  "@(no promise);main;run;uv_run;uv__io_poll;inlined_call");
    expect_frames(p, WEFT_ASYNC_CREATORS, 1,
                  "@accept;@connection;@PUT /x;inlined_call;on_read;parse");
    expect_frames(p, WEFT_ASYNC_CREATORS, 2, "@accept;@connection;@PUT /x;inlined_call");
    expect_frames(p, WEFT_ASYNC_WAITERS, 1,
                  "@accept;@connection;@PUT /x;inlined_call;on_read;parse");
    expect_frames(p, WEFT_ASYNC_WAITERS, 3, "@lock;parse");
    weft_profile_free(p);
    weft_model_free(m);
}

TEST(test_async_unknown_loop)
{
    struct weft_model *m = server();
    struct weft_profile *p = named_profile();
    uint32_t run = push(p, push(p, 0, 0x1000), 0x2000), on_read = push(p, run, 0x5000);
    sample_at(p, PID, THREAD(0), 120, push(p, run, 0x9000));
    sample_at(p, PID, THREAD(0), 210, push(p, on_read, 0x6000));
    sample_at(p, PID, THREAD(0), 320, push(p, run, 0x7000));
    uint32_t kernel = weft_profile_push(p, 0, PID, 0xf000, WEFT_NODE_KERNEL, 1);
    sample_at(p, PID, THREAD(0), 330, kernel);             /* the user's part is missing */
    sample_at(p, PID, THREAD(0), 340, push(p, 0, 0x7000)); /* who called is not known */
    join(p, m);
    expect_frames(p, WEFT_ASYNC_CREATORS, 0, "@(no promise);main;run;0x9000 (a)");
    expect_frames(p, WEFT_ASYNC_CREATORS, 1, "@accept;@connection;@PUT /x;on_read;parse");
    expect_frames(p, WEFT_ASYNC_CREATORS, 2, "@lock;write_out");
    expect_frames(p, WEFT_ASYNC_CREATORS, 3, "@lock;0xf000 (kernel)");
    expect_frames(p, WEFT_ASYNC_CREATORS, 4, "@lock;write_out");
    weft_profile_free(p);

    p = named_profile(); /* all in one function: it stays */
    run = push(p, push(p, 0, 0x1000), 0x2000);
    sample_at(p, PID, THREAD(0), 210, push(p, run, 0x6000));
    sample_at(p, PID, THREAD(0), 220, push(p, run, 0x6000));
    join(p, m);
    expect_frames(p, WEFT_ASYNC_CREATORS, 1, "@accept;@connection;@PUT /x;parse");
    weft_profile_free(p);
    weft_model_free(m);
}

/* A loop that is made of promises is one frame; one that waits in a circle ends. */
TEST(test_async_circles)
{
    struct step step[400];
    size_t n = 0;
    for (uint64_t i = 1; i <= 100; i++) {
        step[n++] = one(creates(100 + i, i == 1 ? LOOP : i - 1, i, 0));
        step[n++] = one(label(100 + i, i, i == 50 ? "other" : "tick"));
        step[n++] = one(try_read(100 + i, i == 1 ? 100 : i - 1, i));
    }
    step[n++] = one(switches(1000, 100));
    step[n++] = one(switches(2000, LOOP));
    struct weft_model *m = build(step, n, NULL);
    struct weft_profile *p = named_profile();
    sample_at(p, PID, THREAD(0), 1500, push(p, 0, 0x6000));
    join(p, m);
    expect_frames(p, WEFT_ASYNC_CREATORS, 0, "@tick;@other;@tick;parse");
    struct weft_frames *f;
    uint32_t count;
    assert_int_equal(
        weft_frames_new(&f, p, &(struct weft_frames_options){.async = WEFT_ASYNC_WAITERS}), 0);
    assert_non_null(weft_frames_of(f, p->sample[0].stack, p->sample[0].promise, 0, 1500, &count));
    assert_int_equal(count, 65); /* at most 64 of them */
    weft_frames_free(f);
    weft_profile_free(p);
    weft_model_free(m);
}

TEST(test_deep_stack)
{
    struct weft_model *m = server();
    struct weft_profile *p = named_profile();
    uint32_t stack = 0, count;
    for (unsigned i = 0; i < 3000; i++)
        stack = push(p, stack, i % 2 ? 0x5000 : 0x6000);
    sample_at(p, PID, THREAD(0), 210, stack);
    join(p, m);
    struct weft_frames *f;
    assert_int_equal(
        weft_frames_new(&f, p, &(struct weft_frames_options){.async = WEFT_ASYNC_NONE}), 0);
    const struct weft_named_frame *frame = weft_frames_of(f, stack, WEFT_NONE, 0, 1, &count);
    assert_int_equal(count, WEFT_FRAMES_MAX);
    assert_string_equal(weft_profile_text(p, frame[0].text), "…");
    assert_string_equal(weft_profile_text(p, frame[count - 1].text), "on_read");
    weft_frames_free(f);
    weft_profile_free(p);
    weft_model_free(m);
}

/* ---- Trees and lists of promises ---- */

TEST(test_groups)
{
    struct weft_model *m = server();
    struct weft_profile *p = named_profile();
    uint32_t run = push(p, push(p, 0, 0x1000), 0x2000), parse = push(p, run, 0x6000);
    sample_at(p, PID, THREAD(0), 120, run);
    sample_at(p, PID, THREAD(0), 210, parse);
    sample_at(p, PID, THREAD(0), 220, parse);
    sample_at(p, PID, THREAD(0), 320, push(p, run, 0x7000));
    join(p, m);
    struct weft_calltree_options o = WEFT_CALLTREE_ALL;
    struct weft_profile_list *l;
    o.by = WEFT_PROFILE_BY_LABEL;
    assert_int_equal(weft_profile_list_make(&l, p, &o), 0);
    assert_int_equal(l->rows, 3);
    assert_string_equal(weft_profile_text(p, l->row[0].frame.text), "PUT /x");
    assert_int_equal(l->row[0].self, 20);
    assert_string_equal(weft_profile_text(p, l->row[1].frame.text), "(no promise)");
    assert_int_equal(l->without_promise, 10);
    weft_profile_list_free(l);
    o.by = WEFT_PROFILE_BY_ROOT;
    assert_int_equal(weft_profile_list_make(&l, p, &o), 0);
    assert_string_equal(weft_profile_text(p, l->row[0].frame.text), "accept");
    weft_profile_list_free(l);
    o.by = WEFT_PROFILE_BY_FUNCTION;
    o.promise = weft_model_find(m, 1);
    assert_int_equal(weft_profile_list_make(&l, p, &o), 0);
    assert_int_equal(l->total, 0);
    weft_profile_list_free(l);
    o.with_children = true;
    assert_int_equal(weft_profile_list_make(&l, p, &o), 0);
    assert_int_equal(l->total, 20);
    weft_profile_list_free(l);
    o = (struct weft_calltree_options)WEFT_CALLTREE_ALL;
    o.label = "lock";
    assert_int_equal(weft_profile_list_make(&l, p, &o), 0);
    assert_int_equal(l->total, 10);
    weft_profile_list_free(l);
    weft_profile_free(p);
    weft_model_free(m);
}

/* Of a label that several have; with what they created; and by what is common to labels. */
TEST(test_labels)
{
    struct weft_model *m = server();
    struct weft_profile *p = named_profile();
    uint32_t run = push(p, push(p, 0, 0x1000), 0x2000), *family;
    sample_at(p, PID, THREAD(0), 210, run);
    sample_at(p, PID, THREAD(0), 320, run);
    join(p, m);
    struct weft_calltree_options o = WEFT_CALLTREE_ALL;
    struct weft_profile_list *l;
    o.label = "accept";
    o.with_children = true;
    assert_int_equal(weft_profile_list_make(&l, p, &o), 0);
    assert_int_equal(l->total, 10);
    weft_profile_list_free(l);
    family = calloc(m->promises, sizeof *family);
    for (uint32_t i = 0; i < m->promises; i++)
        family[i] = weft_profile_add_text(p, "all of them", 11);
    o = (struct weft_calltree_options)WEFT_CALLTREE_ALL;
    o.by = WEFT_PROFILE_BY_LABEL;
    o.family = family;
    o.label = "all of them";
    for (unsigned by_family = 0; by_family < 2; by_family++) {
        o.by_family = by_family;
        assert_int_equal(weft_profile_list_make(&l, p, &o), 0);
        assert_int_equal(l->total, 20);
        assert_int_equal(l->rows, by_family ? 1 : 2);
        weft_profile_list_free(l);
    }
    free(family);
    weft_profile_free(p);
    weft_model_free(m);
}

static void expect_gaps(struct weft_profile *p, const char *wanted)
{
    static const char names[] = {'.', 'o', '-'};
    char text[16] = "";
    for (uint32_t i = 0; i < p->samples; i++)
        text[i] = p->sample[i].promise == WEFT_NONE ? names[p->sample[i].gap] : 'p';
    assert_string_equal(text, wanted);
}

/* Why there is no promise. */
TEST(test_gaps)
{
    struct weft_model *m = BUILD(NULL, one(creates(1000, LOOP, 1, 0)), two(switches(1500, LOOP)),
                                 one(switches(1600, 1)), one(switches(1700, LOOP)));
    struct weft_profile *p = new_profile();
    const uint64_t times[] = {900, 1100, 1400, 1600, 1700, 1800};
    for (unsigned i = 0; i < COUNT(times); i++)
        sample_at(p, PID, i == 2 ? THREAD(1) : i == 1 ? 5 : THREAD(0), times[i], 0);
    join(p, m);
    expect_gaps(p, "-..p.-");
    m->stream_thread[0].overwritten = m->stream_thread[1].overwritten = true;
    m->begin_ns = -200;
    join(p, m);
    expect_gaps(p, "o.op.-"); /* a thread that has no events did not lose any */
    m->losses.streams = true;
    p->sample[1].time_ns = 950; /* … unless some have */
    join(p, m);
    expect_gaps(p, "ooop.-");
    struct weft_profile_list *l;
    struct weft_calltree_options o = WEFT_CALLTREE_ALL;
    o.by = WEFT_PROFILE_BY_PROMISE;
    assert_int_equal(weft_profile_list_make(&l, p, &o), 0);
    assert_int_equal(l->rows, 4);
    assert_string_equal(weft_profile_text(p, l->row[0].frame.text), "(events overwritten)");
    assert_int_equal(l->row[0].self, 30);
    assert_int_equal(l->row[0].frame.promise, WEFT_NONE);
    assert_int_equal(l->gap[WEFT_GAP_OVERWRITTEN], 30);
    assert_int_equal(l->gap[WEFT_GAP_NONE] + l->gap[WEFT_GAP_OUTSIDE], 20);
    assert_int_equal(l->without_promise, 50);
    weft_profile_list_free(l);
    weft_profile_free(p);
    weft_model_free(m);
}

TEST(test_no_model)
{
    struct weft_profile *p = named_profile();
    struct weft_calltree_options o = WEFT_CALLTREE_ALL;
    struct weft_profile_list *l;
    struct weft_calltree *t;
    assert_int_equal(weft_profile_finish(p), 0);
    o.by = WEFT_PROFILE_BY_LABEL;
    assert_int_equal(weft_profile_list_make(&l, p, &o), WEFT_E_INVALID);
    assert_null(l);
    assert_int_equal(weft_calltree_make(&t, p, &o), WEFT_E_INVALID);
    o.by = WEFT_PROFILE_BY_FUNCTION;
    o.async = WEFT_ASYNC_CREATORS;
    assert_int_equal(weft_calltree_make(&t, p, &o), WEFT_E_INVALID);
    o.async = WEFT_ASYNC_NONE;
    o.source = 1;
    sample_at(p, PID, 1, 5, 0);
    assert_int_equal(weft_calltree_make(&t, p, &o), WEFT_E_INVALID);
    weft_profile_free(p);
}

/* ---- Out of memory ---- */

static int join_and_ask(struct weft_profile *p, const struct weft_model *m)
{
    struct weft_calltree_options o = WEFT_CALLTREE_ALL;
    struct weft_calltree *t = NULL, *w = NULL;
    struct weft_profile_list *l = NULL;
    int rc = weft_profile_join(p, m);
    o.by = WEFT_PROFILE_BY_ROOT;
    o.async = WEFT_ASYNC_CREATORS;
    o.promise = weft_model_find(m, 1);
    o.with_children = true;
    o.label = "PUT /x";
    if (rc == 0)
        rc = weft_calltree_make(&t, p, &o);
    o.async = WEFT_ASYNC_WAITERS;
    if (rc == 0)
        rc = weft_calltree_make(&w, p, &o);
    o.by = WEFT_PROFILE_BY_PROMISE;
    if (rc == 0)
        rc = weft_profile_list_make(&l, p, &o);
    if (rc == 0) {
        assert_int_equal(t->total, 10);
        assert_int_equal(w->total, 10);
        assert_int_equal(l->total, 10);
    }
    weft_calltree_free(t);
    weft_calltree_free(w);
    weft_profile_list_free(l);
    return rc;
}

TEST(test_out_of_memory)
{
    struct weft_model *m = server();
    for (long n = 1; n < 10000; n++) {
        struct weft_profile *p = named_profile();
        sample_at(p, PID, THREAD(0), 210, push(p, push(p, 0, 0x1000), 0x6000));
        assert_int_equal(weft_profile_finish(p), 0);
        fail_at = n;
        int rc = join_and_ask(p, m);
        bool failed = fail_at == 0;
        fail_at = 0;
        weft_profile_free(p);
        assert_int_equal(rc, failed ? WEFT_E_NOMEM : 0);
        if (!failed)
            break;
    }
    long before = live;
    weft_model_free(m);
    assert_true(live < before);
}

RUN_TESTS(NULL, NULL)
