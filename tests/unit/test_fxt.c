/* SPDX-License-Identifier: ISC */
/* Fuchsia's trace format: records made by hand, and what is read from them. */
#include "read/reader.h"
#include "trace.h"

static struct trace t = {.fd = -1};

/* ---- Records ---- */

enum { STRING = 2, THREAD = 3, EVENT = 4, SCHEDULING = 8 }; /* records */
enum { INSTANT = 0, BEGIN = 2, END = 3, COMPLETE = 4 };     /* events */
enum { INLINE = 0x8000 }; /* … a text of that length is in the record */

static void begin(void)
{
    const uint64_t magic = UINT64_C(0x0016547846040010);
    memcpy(trace_extend(&t, sizeof magic), &magic, sizeof magic);
}

static void record_of(uint64_t head, const uint64_t *word, size_t words)
{
    head |= (1 + words) << 4;
    memcpy(trace_extend(&t, sizeof head), &head, sizeof head);
    memcpy(trace_extend(&t, 8 * words), word, 8 * words);
}

#define RECORD(head, ...)                                                                          \
    record_of(head, (const uint64_t[]){__VA_ARGS__}, COUNT(((const uint64_t[]){__VA_ARGS__})))

static void string(unsigned number, const char *text)
{
    uint64_t word[4] = {0};
    const size_t size = strlen(text);
    assert_true(size <= sizeof word);
    memcpy(word, text, size);
    record_of(STRING | (uint64_t)number << 16 | (uint64_t)size << 32, word, (size + 7) / 8);
}

static void thread(unsigned number, uint64_t tid)
{
    RECORD(THREAD | (uint64_t)number << 16, 50, tid);
}

/* The head of an event of a thread. */
static uint64_t event(unsigned kind, unsigned args, unsigned thread, unsigned category,
                      unsigned name)
{
    return EVENT | (uint64_t)kind << 16 | (uint64_t)args << 20 | (uint64_t)thread << 24 |
           (uint64_t)category << 32 | (uint64_t)name << 48;
}

#define NUMBER(name, value) (4 | 2 << 4 | (uint64_t)(name) << 16), (value)
#define TEXT(name, value) (6 | 1 << 4 | (uint64_t)(name) << 16 | (uint64_t)(value) << 32)

static void wakes(uint64_t time_ns, unsigned cpu, uint64_t fiber)
{
    RECORD(SCHEDULING | (uint64_t)cpu << 20 | UINT64_C(2) << 60, time_ns, fiber);
}

/* ---- What is read ---- */

/* Events of one kind: "time stream promise" and its label, if that is what it is. */
static void expect(unsigned kind, const char *wanted, uint64_t streams, uint64_t problems)
{
    struct weft_reader *r;
    const struct weft_event *ev;
    char found[500] = "";
    size_t used = 0;
    assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
    for (ptrdiff_t n; (n = weft_reader_next(r, &ev, NULL)) != 0;) {
        assert_true(n > 0);
        for (ptrdiff_t i = 0; i < n; i++)
            if (ev[i].kind == kind)
                used += (size_t)snprintf(found + used, sizeof found - used, "%s%d %d %d%s%.*s",
                                         used ? ", " : "", (int)ev[i].time_ns, (int)ev[i].stream,
                                         (int)(kind == WEFT_EVENT_CREATES ? ev[i].b : ev[i].a),
                                         ev[i].text ? " " : "", (int)ev[i].text_size,
                                         ev[i].text ? ev[i].text : "");
    }
    expect_text(found, wanted);
    assert_int_equal(weft_reader_facts(r)->streams, streams);
    assert_int_equal(weft_reader_damage(r)->problems, problems);
    weft_reader_close(r);
    trace_fini(&t);
}

/* Two domains of Eio's, whose records take turns: a fiber runs where it is woken. */
TEST(where_fibers_run)
{
    enum { EIO = 1, CC, CREATE_FIBER, ID, TYPE, ROOT, CPU };
    static const char *const names[] = {"eio", "cc", "create-fiber", "id", "type", "root", "cpu"};
    begin();
    for (unsigned i = 0; i < COUNT(names); i++)
        string(EIO + i, names[i]);
    for (unsigned ring = 0; ring < 2; ring++) { /* ring 0 has fibers 1 and 2, ring 1 has 9 and 10 */
        const uint64_t at = 100 * ring, root = 8 * ring;
        thread(1 + ring, 1 + 4 * ring);
        RECORD(event(BEGIN, 3, 1 + ring, EIO, CC), at, NUMBER(ID, root), TEXT(TYPE, ROOT),
               NUMBER(CPU, ring));
        for (uint64_t fiber = root + 1; fiber <= root + 2; fiber++)
            RECORD(event(INSTANT, 2, 1 + ring, EIO, CREATE_FIBER), at + 10, NUMBER(ID, fiber),
                   NUMBER(CC, root));
    }
    wakes(200, 0, 1);
    wakes(210, 1, 9);
    wakes(220, 0, 2);
    wakes(230, 1, 10);
    expect(WEFT_EVENT_SWITCH, "200 0 1, 210 1 9, 220 0 2, 230 1 10", 2, 0);
}

/* A fiber of which nothing was said before is on the first ring. */
TEST(where_the_first_fiber_is)
{
    enum { EIO = 1, CC, CREATE_FIBER, ID };
    static const char *const names[] = {"eio", "cc", "create-fiber", "id"};
    begin();
    for (unsigned i = 0; i < COUNT(names); i++)
        string(EIO + i, names[i]);
    thread(1, 4 * 7 + 2); /* fiber 7 */
    RECORD(event(INSTANT, 2, 1, EIO, CREATE_FIBER), 10, NUMBER(ID, 9), NUMBER(CC, 0));
    expect(WEFT_EVENT_CREATES, "10 0 9", 1, 0);
}

/* Each thread of any program is a stream. A name may stand in the record itself. */
TEST(threads_of_any_program)
{
    begin();
    string(1, "outer");
    thread(1, 101);
    thread(2, 102);
    RECORD(event(BEGIN, 0, 2, 1, 1), 10);
    RECORD(event(BEGIN, 0, 1, 1, INLINE | 5), 20, UINT64_C(0x72656e6e69)); /* "inner" */
    RECORD(event(END, 0, 1, 1, INLINE | 5), 30, UINT64_C(0x72656e6e69));
    RECORD(event(END, 0, 2, 1, 1), 40);
    expect(WEFT_EVENT_CREATES, "10 0 1 outer, 20 1 2 inner", 2, 0);
}

/* These are written when they end, so the inner one comes first, and the outer one begins before it. */
TEST(what_is_written_when_it_ends)
{
    for (int ends = 0; ends < 2; ends++) {
        begin();
        string(1, "outer");
        thread(1, 101);
        RECORD(event(COMPLETE, 0, 1, 1, INLINE | 5), 20, UINT64_C(0x72656e6e69), 30);
        RECORD(event(COMPLETE, 0, 1, 1, 1), 10, 40);
        if (ends)
            expect(WEFT_EVENT_FULFILLS, "30 0 2, 40 0 1", 1, 0);
        else
            expect(WEFT_EVENT_CREATES, "10 0 1 outer, 20 0 2 inner", 1, 0);
    }
}

/* Each event has its own arguments, which become labels, also where several have some. */
TEST(arguments)
{
    enum { OUTER = 1, SIZE, KIND_ };
    begin();
    string(OUTER, "outer");
    string(SIZE, "size");
    string(KIND_, "kind");
    thread(1, 101);
    RECORD(event(BEGIN, 2, 1, OUTER, OUTER), 10, NUMBER(SIZE, 7), TEXT(KIND_, OUTER));
    RECORD(event(BEGIN, 0, 1, OUTER, OUTER), 20);
    RECORD(event(BEGIN, 1, 1, OUTER, OUTER), 30, NUMBER(SIZE, 8));
    expect(WEFT_EVENT_LABEL,
           "10 0 1 outer, 10 0 1 size=7, 10 0 1 kind=outer, 20 0 2 outer, 30 0 3 outer, "
           "30 0 3 size=8",
           1, 0);
}

/* What goes beyond its record is left out: a name, and a thread. */
TEST(beyond_a_record)
{
    begin();
    string(1, "outer");
    thread(1, 101);
    RECORD(event(BEGIN, 0, 1, 1, INLINE | 9), 10, UINT64_C(0x72656e6e69));
    RECORD(event(BEGIN, 0, 0, 1, 1), 20, 50);
    RECORD(event(BEGIN, 0, 1, 1, 1), 30);
    expect(WEFT_EVENT_CREATES, "30 0 1 outer", 1, 2);
}

RUN_TESTS(NULL, NULL)
