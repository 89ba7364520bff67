/* SPDX-License-Identifier: ISC */
/* Texts with places in code, and packets that name these: what the reader makes of both, also if they are damaged; and how names
 * of functions are shortened. */
#include "packets.h"
#include "read/reader.h"
#include "symbols/names.h"

#define NAMED "/usr/sbin/named+0x1a2b3"
#define OTHER "/usr/lib/libuv.so.1+0x40"

/* ---- Traces ---- */

/* A promise for each label, of that type, from a site with that file. */
static void promises(struct trace *t, const char *type, const char *file, uint32_t line,
                     const char *const *label, uint32_t count)
{
    struct strings s = {0};
    const uint32_t type_text = strings_text(&s, type),
                   file_text = file ? strings_text(&s, file) : 0,
                   site = strings_site(&s, type_text, 0, file_text, line);
    uint32_t text[16];
    assert_true(count <= COUNT(text));
    for (uint32_t i = 0; i < count; i++)
        text[i] = strings_text(&s, label[i]);
    facts_packet(t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    strings_packet(t, &s);
    events_begin(t, (struct weft_events_header){.sequence = 1, .begin_ticks = 1});
    for (uint32_t i = 0; i < count; i++)
        events_add(t, widest_form(WEFT_EVENT_CREATES), creates(1 + i, LOOP, 1 + i, 0), site,
                   text[i]);
    events_end(t, 100);
}

struct result {
    char text[8192]; /* of each event: "type file:line text", each in a line */
    struct weft_reader_facts facts;
    struct weft_damage damage;
};

static struct result read_limited(struct trace *t, uint32_t longest)
{
    struct weft_reader *r;
    struct weft_error err = {.offset = 0};
    const struct weft_event *ev;
    ptrdiff_t n;
    size_t used = 0;
    struct result res = {.text = ""};
    const int rc = weft_reader_open(&r, trace_path(t), &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.text);
    assert_int_equal(rc, 0);
    if (longest)
        weft_reader_limit_texts(r, longest);
    while ((n = weft_reader_next(r, &ev, &err)) > 0)
        for (ptrdiff_t i = 0; i < n; i++) {
            const struct weft_origin *o = ev[i].origin;
            char line[16] = "";
            if (o && o->file && o->line)
                snprintf(line, sizeof line, ":%u", o->line);
            used += (size_t)snprintf(res.text + used, sizeof res.text - used, "%s %s%s %.*s\n",
                                     o ? o->type : "-", o && o->file ? o->file : "-", line,
                                     ev[i].text ? (int)ev[i].text_size : 0,
                                     ev[i].text ? ev[i].text : "");
            assert_true(used < sizeof res.text - 1);
        }
    assert_int_equal(n, 0);
    res.facts = *weft_reader_facts(r);
    res.damage = *weft_reader_damage(r);
    weft_reader_close(r);
    return res;
}

/* problem: a part of the only problem's text, NULL: there is none. The trace is gone then. */
static struct result expect(struct trace *t, const char *wanted, const char *problem)
{
    struct result res = read_limited(t, 0);
    expect_text(res.text, wanted);
    for (uint64_t i = 0; i < res.damage.problems && i < WEFT_DAMAGE_KEPT; i++)
        if (!problem || !strstr(res.damage.first[i].text, problem))
            fprintf(stderr, "%s\n", res.damage.first[i].text);
    assert_int_equal(res.damage.problems, problem != NULL);
    assert_true(!problem || strstr(res.damage.first[0].text, problem));
    trace_fini(t);
    return res;
}

static const struct name_entry both[] = {{NAMED, "on_read", "lib/isc/tcp.c", 120},
                                         {OTHER, "uv_run", "", 0}};

/* ---- Names ---- */

TEST(texts_get_names)
{
    static const char *const labels[] = {
        NAMED " tcp 10.0.0.1:443", NAMED,          OTHER " x", "/a/b/c+0x77 y",
        "plain /usr+0x1",          NAMED " " OTHER};
    struct trace t = {.fd = -1};
    promises(&t, "handle", NULL, 0, labels, COUNT(labels));
    names_packet(&t, both, 2);
    struct result res = expect(&t,
                               "handle - on_read tcp 10.0.0.1:443\n"
                               "handle - on_read\n"
                               "handle - uv_run x\n"
                               "handle - c+0x77 y\n"
                               "handle - plain /usr+0x1\n"
                               "handle - on_read " OTHER "\n",
                               NULL);
    assert_int_equal(res.facts.names, 2);
    assert_int_equal(res.facts.nameless, 0);
    assert_int_equal(res.facts.unknown_packets, 0);
}

/* The same text may be a label, a type and a file. */
TEST(sites_get_lines)
{
    static const char *const labels[] = {NAMED " a"};
    struct trace t = {.fd = -1};
    promises(&t, NAMED, NAMED, 0, labels, 1);
    names_packet(&t, both, 2);
    expect(&t, "on_read lib/isc/tcp.c:120 on_read a\n", NULL);
    /* only the function is known */
    promises(&t, OTHER, OTHER, 0, labels, 1);
    names_packet(&t, both, 2);
    expect(&t, "uv_run libuv.so.1+0x40 on_read a\n", NULL);
    /* nothing is known */
    promises(&t, "/x/y+0x1", "/x/y+0x1", 0, labels, 1);
    expect(&t, "y+0x1 y+0x1 named+0x1a2b3 a\n", NULL);
    /* a file like others */
    promises(&t, "handle", "/src/a.c", 7, labels, 1);
    names_packet(&t, both, 1);
    expect(&t, "handle /src/a.c:7 on_read a\n", NULL);
}

/* Texts stand before their events if the table is full. */
TEST(texts_before_events_get_names)
{
    struct trace t = {.fd = -1};
    events_begin(&t, (struct weft_events_header){.sequence = 1, .begin_ticks = 1});
    for (unsigned i = 0; i < 300; i++)
        events_put(&t, label(1 + i, 7, i % 2 ? NAMED " x" : "/no/thing+0xabc y"), 0);
    events_end(&t, 1000);
    names_packet(&t, both, 1);
    struct result res = read_limited(&t, 0);
    for (unsigned i = 0; i < 300; i++) {
        const char *wanted = i % 2 ? "- - on_read x\n" : "- - thing+0xabc y\n";
        assert_memory_equal(res.text + i / 2 * 32 + i % 2 * 18, wanted, strlen(wanted));
    }
    trace_fini(&t);
}

TEST(the_first_name_counts)
{
    static const char *const labels[] = {NAMED, OTHER};
    static const struct name_entry earlier[] = {{NAMED, "", "", 0}, {OTHER, "first", "", 0}},
                                   later[] = {{NAMED, "found", "", 0}, {OTHER, "second", "", 0}},
                                   never[] = {{NAMED, "", "", 0}, {"/a+0x1", "", "", 0}};
    struct trace t = {.fd = -1};
    promises(&t, "t", NULL, 0, labels, 2);
    names_packet(&t, earlier, 2);
    names_packet(&t, later, 2);
    names_packet(&t, never, 2);
    struct result res = expect(&t, "t - found\nt - first\n", NULL);
    assert_int_equal(res.facts.names, 2);
    assert_int_equal(res.facts.nameless, 1);
}

/* No more bytes of a name than a writer makes, and no half of a character. */
TEST(long_names_are_cut)
{
    static const char *const labels[] = {NAMED " z"};
    char name[400], wanted[200];
    struct trace t = {.fd = -1};
    for (unsigned i = 0; i + 2 < sizeof name; i += 2)
        memcpy(name + i, "\xc3\xa4", 3); /* ä */
    name[0] = 'a';
    name[1] = 'b';
    memmove(name + 1, name + 2, strlen(name + 2) + 1); /* so 120 is in the middle of one */
    promises(&t, "t", NULL, 0, labels, 1);
    names_packet(&t, &(struct name_entry){NAMED, name, "", 0}, 1);
    snprintf(wanted, sizeof wanted, "t - %.119s z\n", name);
    expect(&t, wanted, NULL);
}

TEST(limits_apply_to_names)
{
    static const char *const labels[] = {NAMED " tcp", "/usr/lib/nowhere+0x1 tcp", "/usr/lib/x"};
    struct trace t = {.fd = -1};
    promises(&t, "/usr/lib/nowhere+0x1", NAMED, 0, labels, COUNT(labels));
    names_packet(&t, both, 2);
    struct result res = read_limited(&t, 5);
    assert_string_equal(res.text, "nowhe lib/i:120 on_re\nnowhe lib/i:120 nowhe\n"
                                  "nowhe lib/i:120 /usr/\n");
    trace_fini(&t);
    promises(&t, "t", "/usr/lib/nowhere+0x1", 0, labels, 1);
    res = read_limited(&t, 5);
    assert_string_equal(res.text, "t nowhe named\n");
    trace_fini(&t);
}

/* ---- Which are wanted ---- */

static void collect(void *data, const char *place, size_t size)
{
    char *list = data;
    snprintf(list + strlen(list), 512 - strlen(list), "%.*s\n", (int)size, place);
}

TEST(places_are_listed)
{
    static const char *const labels[] = {"of 7 ch",
                                         NAMED " a",
                                         "/a/b+0x1 a",
                                         "/a/b+0x1 b",
                                         "/a/+0x1",
                                         "text",
                                         "/a/b+0xg",
                                         "/a/b+0x",
                                         "/a/c+0x1\tx",
                                         "b+0x1",
                                         "/a/b+0x12345678901234567",
                                         "/c/d+0xffffffffffffffff"};
    char list[512] = "";
    struct trace t = {.fd = -1};
    struct weft_reader *r;
    promises(&t, OTHER, "/t/f+0x2", 0, labels, COUNT(labels));
    names_packet(&t, both, 1); /* NAMED is known */
    assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
    assert_int_equal(weft_reader_codes(r, collect, list, NULL), 0);
    weft_reader_close(r);
    trace_fini(&t);
    assert_string_equal(list, OTHER "\n/t/f+0x2\n/a/b+0x1\n/a/b+0x1\n/c/d+0xffffffffffffffff\n");
}

/* If the table was full, others stand before their events. */
TEST(places_outside_the_table_are_listed)
{
    for (uint64_t lost = 0; lost < 2; lost++) {
        char list[512] = "";
        struct trace t = {.fd = -1};
        struct strings s = {0};
        struct weft_reader *r;
        strings_text(&s, NAMED " in the table");
        strings_packet(&t, &s);
        memcpy(t.bytes + t.packet + offsetof(struct weft_strings_header, lost), &lost, sizeof lost);
        events_begin(&t, (struct weft_events_header){.sequence = 1, .begin_ticks = 1});
        events_put(&t, label(1, 7, NAMED " x"), 0);
        events_put(&t, fails(2, 7, 8, "/a/b+0x1 x"), 0);
        events_put(&t, label(3, 7, OTHER), 0);
        events_end(&t, 1000);
        names_packet(&t, &both[1], 1); /* OTHER is known */
        assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
        assert_int_equal(weft_reader_codes(r, collect, list, NULL), 0);
        weft_reader_close(r);
        trace_fini(&t);
        assert_string_equal(list, lost ? NAMED "\n" NAMED "\n/a/b+0x1\n" : NAMED "\n");
    }
}

TEST(places_are_parsed)
{
    struct weft_code c;
    assert_true(format_code("/usr/lib/a+b.so+0x1f rest", 25, &c));
    assert_int_equal(c.size, 20);
    assert_int_equal(c.path_size, 15);
    assert_int_equal(c.base, 9);
    assert_int_equal(c.address, 0x1f);
    assert_true(format_code("/a+0xffffffffffffffff", 21, &c));
    assert_true(c.address == UINT64_MAX);
    static const char *const others[] = {"",        "/",        "/+0x1",      "/a+0x1F", "a/b+0x1",
                                         "/a +0x1", "/a+0x1\n", "/a\x7f+0x1", "/a+1",    "/a+0x",
                                         "+0x1",    "0x123456", "/aaaaaa"};
    for (size_t i = 0; i < COUNT(others); i++)
        if (format_code(others[i], strlen(others[i]), &c))
            fail_msg("\"%s\" was taken for a place in code", others[i]);
}

/* ---- Damage ---- */

static const char *const one_label[] = {NAMED " z"};

static struct trace damaged(uint32_t says)
{
    struct trace t = {.fd = -1};
    promises(&t, "t", NULL, 0, one_label, 1);
    names_begin(&t, says);
    names_entry(&t, &both[0], 0);
    return t;
}

TEST(counts_may_lie)
{
    struct trace t = damaged(2);
    expect(&t, "t - on_read z\n", "says it has 2 names, but there are 1");
    t = damaged(UINT32_MAX);
    expect(&t, "t - on_read z\n", "says it has 4294967295 names, but there are 1");
    t = damaged(0);
    expect(&t, "t - named+0x1a2b3 z\n", NULL);
}

TEST(entries_may_be_longer)
{
    struct trace t = {.fd = -1};
    promises(&t, "t", NULL, 0, one_label, 1);
    names_begin(&t, 2);
    names_entry(&t, &both[1], 20);
    names_entry(&t, &both[0], 0);
    expect(&t, "t - on_read z\n", NULL);
}

TEST(entries_may_be_damaged)
{
    static const struct {
        uint32_t bytes;
        size_t size; /* of the texts */
        char texts[24];
    } list[] = {
        {0, 14, "/a+0x1\0f\0file"},
        {4, 14, "/a+0x1\0f\0file"},
        {20, 14, "/a+0x1\0f\0file"},
        {32, 14, "/a+0x1\0f\0file"},
        {UINT32_MAX - 7, 14, "/a+0x1\0f\0file"},
        {16, 8, "/a+0x1\0f\0file"},   /* the second text has no end */
        {16, 8, "/a+0x11"},           /* there is only one */
        {24, 14, "a+0x1\0f\0file"},   /* no place */
        {24, 14, "/a+0x1 b\0f\0fil"}, /* more than a place */
        {16, 8, ""},
    };
    for (size_t i = 0; i < COUNT(list); i++) {
        unsigned char entry[64] = {0};
        struct trace t = damaged(2);
        weft_write_u32(entry, list[i].bytes);
        memcpy(entry + 8, list[i].texts, list[i].size);
        packet_bytes(&t, entry, (8 + list[i].size + 7) & ~(size_t)7);
        expect(&t, "t - on_read z\n", "entry 1 of a packet of names");
    }
}

/* However much of the file is there, nothing is read that is not. */
TEST(packets_may_be_cut)
{
    struct trace t = {.fd = -1};
    promises(&t, "t", NULL, 0, one_label, 1);
    const size_t before = t.size;
    names_begin(&t, 2);
    names_entry(&t, &both[0], 0);
    const size_t first = t.size;
    names_entry(&t, &both[1], 0);
    const size_t whole = t.size;
    unsigned named = 0;
    for (t.size = before; t.size < whole; t.size++) {
        struct result res = read_limited(&t, 0);
        const bool is_named = strcmp(res.text, "t - on_read z\n") == 0;
        named += is_named;
        if (!is_named)
            assert_string_equal(res.text, "t - named+0x1a2b3 z\n");
        assert_int_equal(res.damage.problems > 0, t.size > before);
    }
    assert_int_equal(named, whole - first);
    trace_fini(&t);
}

TEST(too_large_packets_are_skipped)
{
    struct trace t = damaged(1);
    packet_pad(&t, WEFT_NAMES_MAX, 0);
    packet_sizes(&t, t.size - t.packet);
    expect(&t, "t - named+0x1a2b3 z\n", "packet of names holds");
    t = damaged(1);
    t.bytes[t.packet + offsetof(struct weft_packet_header, header_bytes)] = 48;
    expect(&t, "t - named+0x1a2b3 z\n", "says its header has 48");
}

/* ---- Shortening ---- */

TEST(names_are_shortened)
{
    static const struct {
        const char *name, *wanted;
    } list[] = {
        {"main", "main"},
        {"on_read.constprop.0", "on_read"},
        {"on_read.cold", "on_read"},
        {"main.main", "main.main"},
        {"on_timer(uv_timer_s*)", "on_timer"},
        {"ns::Server::on_read(int, char const*) const", "ns::Server::on_read"},
        {"(anonymous namespace)::on_read(void (*)(int))", "(anonymous namespace)::on_read"},
        {"void call<int, std::vector<int> >(std::vector<int>)", "call<int, std::vector<int> >"},
        {"std::function<void (int)> make<X>(X&&)", "make<X>"},
        {"run(int)::{lambda(uv_timer_s*)#1}::operator()(uv_timer_s*) const",
         "run(int)::{lambda#1}"},
        {"main::{lambda(uv_timer_s*)#2}::_FUN(uv_timer_s*)", "main::{lambda#2}"},
        {"main::{lambda()#2}::__invoke()", "main::{lambda#2}"},
        {"X::operator()(int)", "X::operator()"},
        {"X::operator()", "X::operator()"},
        {"X::operator bool() const", "X::operator bool"},
        {"core::ops::function::FnOnce::call_once{{vtable.shim}}",
         "core::ops::function::FnOnce::call_once{{vtable.shim}}"},
        {"<T as core::fmt::Debug>::fmt", "<T as core::fmt::Debug>::fmt"},
        {"f(", "f("},
        {")", ")"},
        {"", ""},
        {">", ">"},
        {"a_very_long_namespace::and_a_class<with, many, arguments>::method<int>(int)",
         "a_very_long_namespace::and_a_class<\xe2\x80\xa6>::method<int>"},
        {"a_very_long_namespace::and_a_class::with_a_class_in_it::and_a_method_in_that",
         "\xe2\x80\xa6"
         "ce::and_a_class::with_a_class_in_it::and_a_method_in_that"},
        {"a_very_long_namespace::without_an_end<a_class::with_a_class_in_it::and_more",
         "\xe2\x80\xa6"
         "ace::without_an_end<a_class::with_a_class_in_it::and_more"},
    };
    for (size_t i = 0; i < COUNT(list); i++) {
        char name[200];
        snprintf(name, sizeof name, "%s", list[i].name);
        symbols_shorten(name, 60);
        assert_string_equal(name, list[i].wanted);
        assert_true(strlen(name) <= 60);
    }
}

RUN_TESTS(NULL, NULL)
