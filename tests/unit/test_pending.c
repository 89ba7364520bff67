/* SPDX-License-Identifier: ISC */
/* Promises that were pending when their packets were overwritten: what the reader makes of cells and ended
 * bytes, and the model of that. Of 64 ended bytes a packet, home h has the numbers from 64 h + 1 on.
 * Long, for there is a test for each rule. */
#include <inttypes.h>

#include "format/listed.h"
#include "model/model.h"
#include "packets.h"
#include "read/reader.h"

#define HOME(h) (UINT64_C(64) * (h) + 1)
#define NOTE(kind, sequence) ((uint32_t)WEFT_EVENT_##kind << WEFT_NOTE_BITS | (sequence))

struct numbers {
    uint32_t site, other_site, label;
};

static struct trace t = {.fd = -1};

/* Facts and strings. */
static struct numbers begin(void)
{
    struct strings s = {.used = 0};
    uint32_t rpc = strings_text(&s, "rpc");
    struct numbers n = {.label = strings_text(&s, "the lost reply")};
    n.site = strings_site(&s, rpc, 0, strings_text(&s, "a.c"), 7);
    n.other_site = strings_site(&s, strings_text(&s, "queue"), strings_text(&s, "main"), 0, 0);
    trace_fini(&t);
    facts_packet(
        &t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED, .overwritten_packets = 6}, "");
    strings_packet(&t, &s);
    return n;
}

/* Packets 7 and 8; promise 129 is created in the first. ended: bytes of the first one. */
static void two_packets(uint32_t site, const char *ended)
{
    events_begin_ended(
        &t, (struct weft_events_header){.sequence = 7, .begin_ticks = 1000, .base = HOME(2)},
        ended);
    events_add(&t, WEFT_FORM_CREATE, creates(1000, 0, HOME(2), 0), site, 0);
    events_add(&t, WEFT_FORM_CREATE, creates(1010, 0, HOME(2) + 1, 0), site, 0);
    events_end(&t, 1100);
    events_begin(
        &t, (struct weft_events_header){.sequence = 8, .begin_ticks = 1100, .events_before = 12});
    events_add(&t, WEFT_FORM_SWITCH, switches(1200, HOME(2)), 0, 0);
}

/* All events: "time stream kind a b", a creation's type, place and label. */
static void expect(const char *wanted, struct weft_reader_facts *facts)
{
    struct weft_reader *r;
    struct weft_error err;
    const struct weft_event *ev;
    char *text;
    size_t size;
    ptrdiff_t n;
    assert_int_equal(weft_reader_open(&r, trace_path(&t), &err), 0);
    FILE *out = open_memstream(&text, &size);
    while ((n = weft_reader_next(r, &ev, &err)) > 0)
        for (const struct weft_event *end = ev + n; ev < end; ev++) {
            fprintf(out, "%" PRIu64 " ", ev->time_ns);
            fprintf(out, ev->stream == WEFT_STREAM_NONE ? "-" : "%" PRIu32, ev->stream);
            fprintf(out, " %s %" PRId64 " %" PRId64, weft_event_kinds[ev->kind].name,
                    (int64_t)ev->a, (int64_t)ev->b);
            if (ev->origin)
                fprintf(out, " %s", ev->origin->type);
            if (ev->text)
                fprintf(out, " \"%.*s\"", (int)ev->text_size, ev->text);
            assert_true(ev->promoted || !ev->undated);
            fprintf(out, "%s\n", ev->undated ? " undated" : ev->promoted ? " promoted" : "");
        }
    assert_int_equal(n, 0);
    fclose(out);
    expect_text(text, wanted);
    if (facts)
        *facts = *weft_reader_facts(r);
    free(text);
    weft_reader_close(r);
}

/* "id type creator start end outcome", a line each. */
static void expect_model(const char *wanted)
{
    struct weft_reader *r;
    struct weft_model *m;
    struct weft_error err;
    char *text;
    size_t size;
    assert_int_equal(weft_reader_open(&r, trace_path(&t), &err), 0);
    assert_int_equal(weft_model_build(&m, r, NULL, NULL, &err), 0);
    weft_reader_close(r);
    FILE *out = open_memstream(&text, &size);
    uint32_t *sorted = weft_model_by_id(m);
    for (uint32_t i = 0; i + 1 < m->promises; i++) {
        const struct weft_promise *p = &m->promise[sorted[i]];
        fprintf(out, "%" PRId64 " %s %" PRId64 " %" PRId64 " %" PRId64 " %s%s\n", (int64_t)p->id,
                weft_model_type(m, sorted[i]), (int64_t)m->promise[p->creator].id, p->start_ns,
                p->end_ns, weft_outcome_name((enum weft_outcome)p->outcome),
                p->should_resolve ? " should" : "");
    }
    fclose(out);
    expect_text(text, wanted);
    free(sorted);
    free(text);
    weft_model_free(m);
}

#define TWO_PACKETS                                                                                \
    "1000 0 creates -1 129 rpc\n"                                                                  \
    "1010 0 creates -1 130 rpc\n"                                                                  \
    "1200 0 switch 129 0\n"

/* ---- Cells ---- */

TEST(a_promise_of_long_ago)
{
    struct numbers n = begin();
    uint64_t ids[4] = {0, 70, 0, 5};
    struct weft_pending_cell cells[4] = {
        [1] = {.created_ticks = 50,
               .creator = 5,
               .site = n.other_site,
               .text = n.label,
               .packet = 2,
               .note_tag = {NOTE(TRY_READ, 3), NOTE(LABEL, 4), NOTE(NOTIFIES, 2),
                            NOTE(TRY_READ, 6)},
               .note_ticks = {90, 80, 70, 1005},
               .note_other = {5, n.label, LOOP, LOOP}},
        [3] = {.created_ticks = 20,
               .creator = LOOP,
               .site = n.site,
               .packet = 1,
               .stream = 9,
               .flags = WEFT_PENDING_SHOULD_RESOLVE | WEFT_PENDING_BACKGROUND},
    };
    pending_packet(
        &t,
        (struct weft_pending_header){
            .kept = 9, .given_up = 1, .skipped = 3, .pauses = 8, .longest_pause_ticks = 77},
        ids, cells, 4);
    two_packets(n.site, "");
    struct weft_reader_facts f;
    expect("20 - creates -1 5 rpc promoted\n"
           "20 - should_resolve 5 0 promoted\n"
           "20 - background 5 0 promoted\n"
           "50 0 creates 5 70 queue \"the lost reply\" promoted\n"
           "70 - notifies -1 70 promoted\n"
           "80 - label 70 0 \"the lost reply\" promoted\n"
           "90 - try_read 5 70 promoted\n"
           "1000 0 creates -1 129 rpc\n"
           "1005 - try_read -1 70 promoted\n"
           "1010 0 creates -1 130 rpc\n"
           "1200 0 switch 129 0\n",
           &f);
    assert_int_equal(f.first_ns, 1000);
    assert_true(f.promotion.known);
    assert_false(f.promotion.complete);
    assert_int_equal(f.promotion.promises, 2);
    assert_int_equal(f.promotion.events, 8);
    assert_int_equal(f.promotion.ever, 9);
    assert_int_equal(f.promotion.given_up, 1);
    assert_int_equal(f.promotion.skipped, 3);
    assert_int_equal(f.promotion.pauses, 8);
    assert_int_equal(f.promotion.longest_pause_ns, 77);
    expect_model("5 rpc -1 -980 200 pending should\n"
                 "70 queue 5 -950 200 pending\n"
                 "129 rpc -1 0 200 pending\n"
                 "130 rpc -1 10 10 pending\n");
}

/* What a packet has that is there, the cell does not have to say: each by its own packet. */
TEST(copies_are_left_out)
{
    for (unsigned there = 0; there < 4; there++) {
        struct numbers n = begin();
        uint32_t high = (there & 1) ? 7 : 6, low = (there & 2) ? 7 : 6;
        uint64_t id = HOME(2);
        struct weft_pending_cell cell = {.created_ticks = 1000,
                                         .creator = LOOP,
                                         .site = n.site,
                                         .packet = high,
                                         .flags = WEFT_PENDING_BACKGROUND,
                                         .note_tag = {NOTE(TRY_READ, low)},
                                         .note_ticks = {1001},
                                         .note_other = {LOOP}};
        pending_packet(&t, (struct weft_pending_header){.kept = 1}, &id, &cell, 1);
        two_packets(n.site, "");
        char wanted[512];
        snprintf(wanted, sizeof wanted,
                 "%s1000 0 creates -1 129 rpc\n%s1010 0 creates -1 130 rpc\n"
                 "1200 0 switch 129 0\n%s",
                 (there & 1)
                     ? ""
                     : "1000 0 creates -1 129 rpc promoted\n1000 - background 129 0 promoted\n",
                 (there & 2) ? "" : "1001 - try_read -1 129 promoted\n",
                 (there & 1) ? "1200 - background 129 0 promoted\n" : "");
        expect(wanted, NULL);
    }
}

/* A number of a packet may be met again: but that one began later. */
TEST(sequences_that_come_round)
{
    struct numbers n = begin();
    uint64_t id = 5;
    struct weft_pending_cell cell = {.created_ticks = 999,
                                     .creator = LOOP,
                                     .site = n.site,
                                     .packet = 7,
                                     .note_tag = {NOTE(NOTIFIES, 7)},
                                     .note_ticks = {999},
                                     .note_other = {LOOP}};
    pending_packet(&t, (struct weft_pending_header){.kept = 1}, &id, &cell, 1);
    two_packets(n.site, "");
    expect("999 0 creates -1 5 rpc promoted\n"
           "999 - notifies -1 5 promoted\n" TWO_PACKETS,
           NULL);
}

/* Events on a promise whose creation has not been overwritten. */
TEST(unborn)
{
    for (int unsure = 0; unsure < 2; unsure++) {
        struct numbers n = begin();
        uint64_t ids[] = {HOME(2) + 1, HOME(9)};
        struct weft_pending_cell cell = {.flags = WEFT_PENDING_UNBORN | WEFT_PENDING_SHOULD_RESOLVE,
                                         .note_tag = {NOTE(NOTIFIES, 5)},
                                         .note_ticks = {1020},
                                         .note_other = {LOOP}};
        struct weft_pending_cell cells[] = {cell, cell};
        pending_packet(&t, (struct weft_pending_header){.unsure = (uint64_t)unsure}, ids, cells, 2);
        two_packets(n.site, "");
        expect(unsure ? "1000 0 creates -1 129 rpc\n"
                        "1010 0 creates -1 130 rpc\n"
                        "1020 - notifies -1 130 promoted\n"
                        "1020 - notifies -1 577 promoted\n"
                        "1200 0 switch 129 0\n"
                        "1200 - should_resolve 130 0 promoted\n"
                        "1200 - should_resolve 577 0 promoted\n"
                      : "1000 0 creates -1 129 rpc\n"
                        "1010 0 creates -1 130 rpc\n"
                        "1020 - notifies -1 130 promoted\n"
                        "1200 0 switch 129 0\n"
                        "1200 - should_resolve 130 0 promoted\n",
               NULL);
    }
}

/* Of a promise that was on the roll before it got its cell, only the place of its creation is known. That comes before
 * everything that is known about the promise, even if the packet is there for whose sake it got the cell. */
TEST(only_the_place)
{
    struct numbers n = begin();
    uint64_t ids[] = {5, 70, 71, 72, 72};
    struct weft_pending_cell cells[] = {
        {.created_ticks = 20,
         .creator = LOOP,
         .site = n.site,
         .packet = 1,
         .note_tag = {NOTE(BECOMES, 2), NOTE(TRY_READ, 3)},
         .note_ticks = {60, 50},
         .note_other = {70, 71}},
        {.created_ticks = 1050,
         .creator = 5, /* like the stream, not to be believed */
         .site = n.other_site,
         .packet = 7,
         .flags = WEFT_PENDING_UNDATED | WEFT_PENDING_SHOULD_RESOLVE,
         .note_tag = {NOTE(TRY_READ, 3)},
         .note_ticks = {90},
         .note_other = {72}},
        {.created_ticks = 1080, .site = n.site, .packet = 6, .flags = WEFT_PENDING_UNDATED},
        /* another thread has found out the rest meanwhile */
        {.created_ticks = 85, .site = n.site, .packet = 6, .flags = WEFT_PENDING_UNDATED},
        {.created_ticks = 80, .creator = LOOP, .site = n.site, .packet = 2},
    };
    pending_packet(&t, (struct weft_pending_header){.kept = 4}, ids, cells, 5);
    two_packets(n.site, "");
    expect("20 0 creates -1 5 rpc promoted\n"
           "50 - creates -1 71 rpc undated\n"
           "50 - try_read 71 5 promoted\n"
           "60 - creates -1 70 queue \"main\" undated\n"
           "60 - should_resolve 70 0 promoted\n"
           "60 - becomes 5 70 promoted\n"
           "80 0 creates -1 72 rpc promoted\n"
           "90 - try_read 72 70 promoted\n" TWO_PACKETS,
           NULL);
    expect_model("5 rpc -1 -980 -940 became\n"
                 "70 queue -1 -940 200 pending should\n"
                 "71 rpc -1 -950 200 pending\n"
                 "72 rpc -1 -920 200 pending\n"
                 "129 rpc -1 0 200 pending\n"
                 "130 rpc -1 10 10 pending\n");
}

/* If nothing that was kept mentions it, it was there as the trace begins, whatever the packets say of it later. */
TEST(only_the_place_and_packets)
{
    struct numbers n = begin();
    uint64_t id = 70;
    struct weft_pending_cell cell = {
        .created_ticks = 1150, .site = n.site, .packet = 6, .flags = WEFT_PENDING_UNDATED};
    pending_packet(&t, (struct weft_pending_header){.kept = 1}, &id, &cell, 1);
    two_packets(n.site, "");
    events_put(&t, try_read(1205, LOOP, 70), 0);
    expect("1000 - creates -1 70 rpc undated\n" TWO_PACKETS "1205 0 try_read -1 70\n", NULL);
    expect_model("70 rpc -1 0 205 pending\n"
                 "129 rpc -1 0 205 pending\n"
                 "130 rpc -1 10 10 pending\n");
}

/* A promise with a number of the program's own gets such a cell while the packet that creates it is still there. If the
 * packet only tells of an earlier one with that number, it was created after that one's end. */
TEST(only_the_place_or_a_packet)
{
    for (int ended = 0; ended < 2; ended++) {
        struct numbers n = begin();
        uint64_t id = 1 << 20;
        struct weft_pending_cell cell = {.created_ticks = 1150,
                                         .site = n.other_site,
                                         .packet = 6,
                                         .flags = WEFT_PENDING_UNDATED | WEFT_PENDING_BACKGROUND};
        pending_packet(&t,
                       (struct weft_pending_header){.kept = 1, .unsure = WEFT_UNSURE | WEFT_LISTED},
                       &id, &cell, 1);
        events_begin(&t, (struct weft_events_header){.sequence = 7, .begin_ticks = 1000});
        events_add(&t, WEFT_FORM_SWITCH, switches(1000, LOOP), 0, 0);
        events_add(&t, WEFT_FORM_CREATE_WIDE, creates(1010, LOOP, id, 0), n.site, 0);
        if (ended)
            events_put(&t, fulfills(1020, LOOP, id), 0);
        events_put(&t, try_read(1200, LOOP, id), 0);
        expect(ended ? "1000 0 switch -1 0\n"
                       "1010 0 creates -1 1048576 rpc\n"
                       "1020 0 fulfills -1 1048576\n"
                       "1150 - creates -1 1048576 queue \"main\" undated\n"
                       "1150 - background 1048576 0 promoted\n"
                       "1200 0 try_read -1 1048576\n"
                     : "1000 0 switch -1 0\n"
                       "1010 0 creates -1 1048576 rpc\n"
                       "1200 0 try_read -1 1048576\n"
                       "1200 - background 1048576 0 promoted\n",
               NULL);
    }
}

/* Who waits may have been resolved long ago: then it does not wait. If that is not sure, it is shown. */
TEST(unknown_waiters)
{
    for (int sure = 0; sure < 2; sure++) {
        struct numbers n = begin();
        uint64_t ids[2] = {66, 67};
        struct weft_pending_cell cells[2] = {
            {.created_ticks = 30,
             .creator = LOOP,
             .site = n.site,
             .packet = 1,
             .note_tag = {NOTE(TRY_READ, 1), NOTE(TRY_READ, 2), NOTE(TRY_READ, 3),
                          NOTE(TRY_READ, 4)},
             .note_ticks = {40, 41, 42, 43},
             .note_other = {LOOP, 67, 200, HOME(2)}},
            {.created_ticks = 31, .creator = 21, .site = n.site, .packet = 1},
        };
        pending_packet(&t, (struct weft_pending_header){.given_up = !sure}, ids, cells, 2);
        two_packets(n.site, "");
        char wanted[1024];
        snprintf(wanted, sizeof wanted,
                 "30 0 creates -1 66 rpc promoted\n31 0 creates 21 67 rpc promoted\n"
                 "40 - try_read -1 66 promoted\n41 - try_read 67 66 promoted\n%s"
                 "43 - try_read 129 66 promoted\n%s",
                 sure ? "" : "42 - try_read 200 66 promoted\n", TWO_PACKETS);
        expect(wanted, NULL);
        if (sure) /* the creator is not there, so it was resolved before */
            expect_model("21 preexisting -1 -969 -969 resolved\n"
                         "66 rpc -1 -970 200 pending\n"
                         "67 rpc 21 -969 200 pending\n"
                         "129 rpc -1 -957 200 pending\n"
                         "130 rpc -1 10 10 pending\n");
    }
}

TEST(waits_of_who_waits)
{
    struct numbers n = begin();
    uint64_t ids[2] = {66, 67};
    const uint32_t waits = WEFT_NOTE_WAITS_FOR << WEFT_NOTE_BITS;
    struct weft_pending_cell cells[2] = {
        {.created_ticks = 30, .creator = LOOP, .site = n.site, .packet = 1, .dropped = 3},
        {.created_ticks = 31,
         .creator = LOOP,
         .site = n.site,
         .packet = 1,
         /* for one that is pending; that is not known; that has ended; and in a packet that is there */
         .note_tag = {waits | 1, waits | 2, waits | 3, waits | 7},
         .note_ticks = {40, 41, 42, 1005},
         .note_other = {66, 200, HOME(2) + 1, HOME(2)}},
    };
    pending_packet(&t, (struct weft_pending_header){.skipped = 9}, ids, cells, 2);
    two_packets(n.site, "01");
    struct weft_reader_facts f;
    expect("30 0 creates -1 66 rpc promoted\n31 0 creates -1 67 rpc promoted\n"
           "40 - try_read 67 66 promoted\n" TWO_PACKETS "1100 - resolves -1 130 promoted\n",
           &f);
    assert_int_equal(f.promotion.left_out, 3);
    assert_true(f.promotion.lacks);
}

/* The ids of spans are texts there. */
TEST(spans)
{
    struct numbers n = begin();
    uint64_t id = 66;
    struct weft_pending_cell cell = {
        .created_ticks = 30,
        .creator = LOOP,
        .packet = 1,
        .site = n.site,
        .note_tag = {NOTE(SPAN, 1), NOTE(SPAN_PARENT, 2), NOTE(SPAN, 3)},
        .note_ticks = {40, 41, 42},
        .note_other = {n.label, n.label, UINT64_C(1) << 40}};
    pending_packet(&t, (struct weft_pending_header){.kept = 1}, &id, &cell, 1);
    two_packets(n.site, "");
    expect("30 0 creates -1 66 rpc promoted\n"
           "40 - span 66 0 \"the lost reply\" promoted\n"
           "41 - span_parent 66 0 \"the lost reply\" promoted\n" TWO_PACKETS,
           NULL);
}

TEST(notes_of_other_kinds)
{
    struct numbers n = begin();
    uint64_t id = 66;
    struct weft_pending_cell cell = {
        .created_ticks = 30,
        .creator = LOOP,
        .packet = 1,
        .site = UINT32_MAX,
        .text = UINT32_MAX,
        .note_tag = {NOTE(CREATES, 1), NOTE(FULFILLS, 2), UINT32_MAX, NOTE(LABEL, 3)},
        .note_ticks = {40, 41, 42, UINT64_MAX},
        .note_other = {1, 2, 3, UINT64_C(1) << 40}};
    pending_packet(&t, (struct weft_pending_header){.kept = 1}, &id, &cell, 1);
    two_packets(n.site, "");
    expect("30 0 creates -1 66 promise promoted\n" TWO_PACKETS, NULL);
}

/* Two threads have emptied packets that speak of it, and the process was killed before its cells became one. */
TEST(a_note_in_two_cells)
{
    struct numbers n = begin();
    uint64_t ids[] = {66, 66};
    struct weft_pending_cell cells[] = {{.created_ticks = 30,
                                         .creator = LOOP,
                                         .packet = 1,
                                         .site = UINT32_MAX,
                                         .text = UINT32_MAX,
                                         .note_tag = {NOTE(TRY_READ, 1), NOTE(NOTIFIES, 2)},
                                         .note_ticks = {40, 50},
                                         .note_other = {LOOP, LOOP}},
                                        {.flags = WEFT_PENDING_UNBORN,
                                         .note_tag = {NOTE(NOTIFIES, 2)},
                                         .note_ticks = {50},
                                         .note_other = {LOOP}}};
    pending_packet(&t, (struct weft_pending_header){.kept = 1}, ids, cells, 2);
    two_packets(n.site, "");
    expect("30 0 creates -1 66 promise promoted\n"
           "40 - try_read -1 66 promoted\n"
           "50 - notifies -1 66 promoted\n" TWO_PACKETS,
           NULL);
}

/* Killed in the midst of writing: what is there is valid, a number is stored last. */
TEST(an_odd_version)
{
    struct numbers n = begin();
    uint64_t ids[2] = {66, 0};
    struct weft_pending_cell cells[2] = {
        {.version = 5, .created_ticks = 30, .creator = LOOP, .site = n.site, .packet = 1},
        {.version = 1, .created_ticks = 31, .creator = LOOP, .site = n.site, .packet = 1}};
    pending_packet(&t, (struct weft_pending_header){.kept = 1}, ids, cells, 2);
    two_packets(n.site, "");
    expect("30 0 creates -1 66 rpc promoted\n" TWO_PACKETS, NULL);
}

/* The recorder knew the ending: the event says the rest, or it is gone. */
TEST(a_resolved_cell)
{
    for (int said = 0; said < 2; said++) {
        struct numbers n = begin();
        uint64_t id = 66 | WEFT_PENDING_RESOLVED;
        struct weft_pending_cell cell = {
            .created_ticks = 30, .creator = LOOP, .site = n.site, .packet = 1};
        pending_packet(&t, (struct weft_pending_header){.kept = 1}, &id, &cell, 1);
        two_packets(n.site, "");
        if (said)
            events_add(&t, WEFT_FORM_FULFIL, fulfills(1300, 0, 66), 0, 0);
        expect(said ? "30 0 creates -1 66 rpc promoted\n" TWO_PACKETS "1300 0 fulfills 129 66\n"
                    : "30 0 creates -1 66 rpc promoted\n" TWO_PACKETS
                      "1100 - resolves -1 66 promoted\n",
               NULL);
        expect_model(said ? "66 rpc -1 -970 300 fulfilled\n"
                            "129 rpc -1 0 300 pending\n"
                            "130 rpc -1 10 10 pending\n"
                          : "66 rpc -1 -970 100 resolved\n"
                            "129 rpc -1 0 200 pending\n"
                            "130 rpc -1 10 10 pending\n");
    }
}

/* Of several packets, as in files put together, the one counts that says more has happened. */
TEST(the_newest_copy)
{
    for (int first = 0; first < 2; first++) {
        struct numbers n = begin();
        for (int i = 0; i < 2; i++) {
            uint64_t new = (i == 0) == (first == 0), id = 66 + new;
            struct weft_pending_cell cell = {
                .created_ticks = 30, .creator = LOOP, .site = n.site, .packet = 1};
            pending_packet(&t, (struct weft_pending_header){.kept = 1 + new, .pauses = 3}, &id,
                           &cell, 1);
        }
        two_packets(n.site, "");
        struct weft_reader_facts f;
        expect("30 0 creates -1 67 rpc promoted\n" TWO_PACKETS, &f);
        assert_int_equal(f.repeated_packets, 1);
    }
}

TEST(only_pending_ones)
{
    struct numbers n = begin();
    uint64_t ids[2] = {66, 67};
    struct weft_pending_cell cells[2] = {
        {.created_ticks = 30, .creator = LOOP, .site = n.site, .packet = 1},
        {.created_ticks = 40, .creator = LOOP, .site = n.site, .packet = 1}};
    pending_packet(&t, (struct weft_pending_header){.kept = 1}, ids, cells, 2);
    expect("30 - creates -1 66 rpc promoted\n"
           "40 - creates -1 67 rpc promoted\n",
           NULL);
    expect_model("66 rpc -1 0 0 pending\n67 rpc -1 10 10 pending\n");
}

/* More than a batch of them before the first event. */
TEST(many_cells)
{
    enum { CELLS = 3000 };
    struct numbers n = begin();
    uint64_t *ids = calloc(CELLS, sizeof *ids);
    struct weft_pending_cell *cells = calloc(CELLS, sizeof *cells);
    for (uint64_t i = 0; i < CELLS; i++) {
        ids[i] = 100000 + i;
        cells[i] = (struct weft_pending_cell){
            .created_ticks = 900 - i % 7, .creator = LOOP, .site = n.site, .packet = 1};
    }
    pending_packet(&t, (struct weft_pending_header){.kept = 1}, ids, cells, CELLS);
    two_packets(n.site, "");
    struct weft_reader *r;
    const struct weft_event *ev;
    uint64_t promoted = 0, others = 0, last = 0;
    ptrdiff_t got;
    assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
    while ((got = weft_reader_next(r, &ev, NULL)) > 0)
        for (const struct weft_event *end = ev + got; ev < end; ev++) {
            assert_int_equal(weft_reader_facts(r)->first_ns, 1000);
            assert_true(ev->time_ns >= last);
            last = ev->time_ns;
            *(ev->promoted ? &promoted : &others) += 1;
            assert_true(!ev->promoted || others == 0);
            if (ev->promoted) /* each cell is found beside its number */
                assert_int_equal(ev->time_ns, 900 - (ev->b - 100000) % 7);
        }
    assert_int_equal(promoted, CELLS);
    assert_int_equal(others, 3);
    weft_reader_close(r);
    free(ids);
    free(cells);
}

TEST(hostile_tables)
{
    const struct weft_pending_header bad[] = {
        {.cells = 1000},
        {.cells = UINT32_MAX},
        {.cell_bytes = 112},
        {.cell_bytes = 128},
        {.cell_bytes = 1 << 20},
        {.cell_bytes = UINT32_MAX},
        {.ids_at = 8},
        {.ids_at = UINT64_MAX},
        {.ids_at = UINT64_MAX - 7},
        {.cells_at = 127},
        {.cells_at = 1 << 20},
        {.cells_at = UINT64_MAX - 119},
        {.ids_at = 1 << 30},
        {.cells = 3, .cell_bytes = UINT32_MAX / 3 * 4 + 4},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct numbers n = begin();
        uint64_t ids[2] = {66, 67};
        struct weft_pending_cell cells[2] = {{.created_ticks = 30, .packet = 1}};
        pending_packet(&t, bad[i], ids, cells, 2);
        two_packets(n.site, "");
        struct weft_reader_facts f;
        expect(TWO_PACKETS, &f);
        assert_false(f.promotion.known);
    }
}

/* ---- Ended bytes ---- */

TEST(ended_bytes)
{
    struct numbers n = begin();
    two_packets(n.site, "11111"); /* also of promises that were never created */
    events_add(&t, WEFT_FORM_FULFIL, fulfills(1300, 0, HOME(2) + 1), 0, 0);
    struct weft_reader_facts f;
    expect(TWO_PACKETS "1300 0 fulfills 129 130\n1100 - resolves -1 129 promoted\n", &f);
    assert_int_equal(f.promotion.events, 1);
    assert_false(f.promotion.known);
    expect_model("129 rpc -1 0 100 resolved\n130 rpc -1 10 300 fulfilled\n");
}

/* Every kind of event that ends a promise. */
TEST(every_ending)
{
    const uint64_t p = HOME(2);
    const struct weft_event ending[] = {
        fulfills(1300, 5, p), {.time_ns = 1300, .kind = WEFT_EVENT_FAILS, .a = 5, .b = p},
        resolves(1300, 5, p), cancels(1300, 5, p),
        forgets(1300, p),     becomes(1300, p, p + 1)};
    for (size_t i = 0; i < COUNT(ending); i++) {
        struct numbers n = begin();
        two_packets(n.site, "1");
        events_put(&t, ending[i], 0);
        struct weft_reader_facts f;
        char wanted[300];
        snprintf(wanted, sizeof wanted, TWO_PACKETS "1300 0 %s %" PRIu64 " %" PRIu64 "\n",
                 weft_event_kinds[ending[i].kind].name, ending[i].a, ending[i].b);
        expect(wanted, &f);
    }
}

/* It ended no earlier than it was created: in a packet that began late. */
TEST(ended_in_a_late_packet)
{
    struct numbers n = begin();
    events_begin(&t, (struct weft_events_header){.sequence = 7, .begin_ticks = 1000});
    events_add(&t, WEFT_FORM_SWITCH, switches(1010, 3), 0, 0);
    events_end(&t, 1100);
    events_begin_ended(&t,
                       (struct weft_events_header){
                           .sequence = 8, .begin_ticks = 1200, .base = HOME(2), .stream = 1},
                       "1");
    events_add(&t, WEFT_FORM_CREATE, creates(1210, 0, HOME(2), 0), n.site, 0);
    expect("1010 0 switch 3 0\n"
           "1210 1 creates -1 129 rpc\n"
           "1200 - resolves -1 129 promoted\n",
           NULL);
    expect_model("3 preexisting -1 0 200 pending\n129 rpc -1 200 200 resolved\n");
}

/* Nothing is missing: what the bytes say is known. */
TEST(nothing_was_overwritten)
{
    trace_fini(&t);
    events_begin_ended(
        &t, (struct weft_events_header){.sequence = 1, .begin_ticks = 10, .base = HOME(2)}, "1");
    events_add(&t, WEFT_FORM_CREATE, creates(20, 0, HOME(2), 0), 0, 0);
    expect("20 0 creates -1 129 promise\n", NULL);
}

#define SET_HEADER(trace, assignment)                                                              \
    do {                                                                                           \
        struct weft_events_header h_ = events_header(trace);                                       \
        h_.assignment;                                                                             \
        events_set_header((trace), h_);                                                            \
    } while (0)

TEST(hostile_ended_bytes)
{
    const struct {
        uint32_t at, count;
        uint64_t base;
    } bad[] = {
        {175, 64, HOME(2)},        {177, 64, HOME(2)}, {176, 128, HOME(2)}, {176, 60, HOME(2)},
        {UINT32_MAX, 64, HOME(2)}, {0, 64, HOME(2)},   {176, 64, 5},        {176, 64, 0},
        {176, UINT32_MAX, 1},      {176, 1u << 31, 1}, {176, 32, HOME(2)},  {241, 64, 1}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        begin();
        events_begin_ended(
            &t, (struct weft_events_header){.sequence = 7, .begin_ticks = 10, .base = bad[i].base},
            "1");
        SET_HEADER(&t, ended_at = bad[i].at);
        SET_HEADER(&t, ended_count = bad[i].count);
        events_put(&t, creates(20, LOOP, bad[i].base, 0), 0);
        char wanted[100];
        snprintf(wanted, sizeof wanted, "20 0 creates -1 %" PRIu64 " promise\n", bad[i].base);
        expect(wanted, NULL);
    }
}

/* Two packets that say they are the home of the same promises, and one whose homes are larger. */
TEST(homes_that_clash)
{
    struct numbers n = begin();
    for (uint64_t i = 0; i < 2; i++) {
        events_begin_ended(
            &t,
            (struct weft_events_header){.sequence = 7 + i, .begin_ticks = 10 + i, .base = HOME(2)},
            "11");
        events_add(&t, WEFT_FORM_CREATE, creates(20 + i, 0, HOME(2) + i, 0), n.site, 0);
    }
    expect("20 0 creates -1 129 rpc\n"
           "21 0 creates -1 130 rpc\n"
           "11 - resolves -1 129 promoted\n"
           "11 - resolves -1 130 promoted\n",
           NULL);
}

/* ---- What was never created ---- */

/* In a trace that has kept what was pending, what was created in a packet that is not there has been resolved. Numbers
 * of packets are 64; that of the one before the first would begin at HOME(3). */
TEST(never_created)
{
    enum { KEEPS, NO_PACKET, GIVEN_UP, UNSURE, DISCARDED, MISSING, WAYS };
    const uint64_t lost = HOME(4), lost_too = HOME(9) + 63;
    for (int way = 0; way < WAYS; way++) {
        trace_fini(&t);
        facts_packet(&t,
                     (struct weft_facts_header){.overwritten_packets = 6,
                                                .discarded_events = way == DISCARDED},
                     "");
        if (way != NO_PACKET)
            pending_packet(
                &t,
                (struct weft_pending_header){.given_up = way == GIVEN_UP, .unsure = way == UNSURE},
                NULL, NULL, 0);
        events_begin_ended(&t,
                           (struct weft_events_header){.sequence = way == MISSING ? 9 : 7,
                                                       .begin_ticks = 10,
                                                       .base = HOME(10)},
                           "");
        events_put(&t, try_read(20, lost, lost_too), 0);
        events_put(&t, should_resolve(30, lost_too), 0);
        expect_model(way == KEEPS ? "257 preexisting -1 0 0 resolved\n"
                                    "640 preexisting -1 0 0 resolved should\n"
                                  : "257 preexisting -1 0 0 pending\n"
                                    "640 preexisting -1 0 10 pending should\n");
    }
}

/* Of others nothing is known: what is older than the recording, and numbers that it has not handed out. */
TEST(never_created_here)
{
    const uint64_t other[] = {1, HOME(4) - 1, HOME(10) + 5, HOME(11), UINT64_C(1) << 40};
    for (size_t i = 0; i < COUNT(other); i++)
        for (int wrapped = 0; wrapped < 2; wrapped++) {
            trace_fini(&t);
            char wanted[200];
            facts_packet(&t, (struct weft_facts_header){.overwritten_packets = wrapped ? 6 : 0},
                         "");
            pending_packet(&t, (struct weft_pending_header){.kept = 0}, NULL, NULL, 0);
            events_begin_ended(&t,
                               (struct weft_events_header){.sequence = wrapped ? 7 : 1,
                                                           .begin_ticks = 10,
                                                           .base = HOME(10)},
                               "");
            events_put(&t, try_read(20, LOOP, other[i]), 0);
            snprintf(wanted, sizeof wanted, "%" PRIu64 " preexisting -1 0 0 pending\n", other[i]);
            expect_model(wanted);
        }
}

/* ---- Counts ---- */

TEST(old_headers)
{
    trace_fini(&t);
    struct strings s = {.used = 0};
    strings_packet(&t, &s);
    for (uint64_t i = 1; i < 3; i++) {
        struct weft_events_header h = {.sequence = i, .begin_ticks = 10 * i, .running = LOOP};
        size_t size = WEFT_EVENTS_HEADER_V1_0;
        struct weft_packet_header p = packet_header(WEFT_PACKET_EVENTS, size);
        memcpy(&h, &p, sizeof p);
        t.packet = t.size;
        memcpy(trace_extend(&t, size), &h, size);
        packet_sizes(&t, size);
        unsigned char bytes[WEFT_FORM_MAX];
        struct weft_event ev = switches(10 * i + 5, i);
        struct weft_form_context c = {0};
        packet_bytes(&t, bytes, weft_form_encode(bytes, WEFT_FORM_SWITCH, &ev, &c));
    }
    /* The second one is empty, at the file's very end. */
    t.size = t.packet + WEFT_EVENTS_HEADER_V1_0;
    packet_sizes(&t, WEFT_EVENTS_HEADER_V1_0);
    struct weft_reader_facts f;
    expect("15 0 switch 1 0\n", &f);
    assert_int_equal(f.packets, 2);
    assert_int_equal(f.overwritten_events, 0);
    assert_int_equal(f.changed_packets, 0);
}

/* Places of the pool say how many events were overwritten in them; one that changes hands, also that those
 * are gone that it had. */
TEST(counts)
{
    trace_fini(&t);
    const uint64_t shift = UINT64_C(1) << WEFT_COUNTS_BITS;
    facts_packet(
        &t,
        (struct weft_facts_header){.overwritten_events = 100, .discarded_events = 7, .streams = 5},
        "");
    events_begin(&t, (struct weft_events_header){.sequence = 9,
                                                 .begin_ticks = 10,
                                                 .events_before = 30,
                                                 .discarded_before = 2,
                                                 .counts = 1000 * shift + 1});
    events_add(&t, WEFT_FORM_SWITCH, switches(20, 1), 0, 0);
    events_end(&t, 30);
    events_begin(&t, (struct weft_events_header){
                         .begin_ticks = 10, .counts = 20000 * shift + 50, .stream = 3});
    events_begin(&t, (struct weft_events_header){
                         .sequence = 8, .begin_ticks = 10, .counts = 300000 * shift, .stream = 1});
    events_add(&t, WEFT_FORM_SWITCH, switches(21, 1), 0, 0);
    struct weft_reader_facts f;
    expect("20 0 switch 1 0\n21 1 switch 1 0\n", &f);
    assert_int_equal(f.overwritten_events, 321150);
    assert_int_equal(f.overwritten_elsewhere, 321150 - 30);
    assert_int_equal(f.discarded_events, 7);
    assert_int_equal(f.discarded_elsewhere, 5);
    assert_int_equal(f.streams, 2);
}

RUN_TESTS(NULL, NULL)
