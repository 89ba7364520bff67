/* SPDX-License-Identifier: ISC */
/* What is written must be what a decoder reads back. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/mirage.h"
#include "format/tsdl.h"
#include "test.h"
#include "write/ctf.h"
#include "write/downgrade.h"
#include "write/mirage.h"

/* One of every kind that mirage has, with every value different. */
static unsigned sample_events(struct weft_event events[WEFT_EVENT_KINDS])
{
    unsigned n = 0;
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++) {
        const struct weft_event_desc *d = &weft_event_kinds[k];
        if (!d->in_mirage)
            continue;
        struct weft_event ev = {.time_ns = 1000 + k, .kind = (uint8_t)k};
        unsigned promises = 0;
        for (unsigned i = 0; i < d->fields; i++) {
            switch ((enum weft_field)d->field[i].field) {
            case WEFT_FIELD_PROMISE:
                *(promises++ ? &ev.b : &ev.a) = WEFT_ID_LOOP - 10 * k - i;
                break;
            case WEFT_FIELD_TYPE:
            case WEFT_FIELD_REASON:
                ev.type = (uint8_t)(200 + k);
                break;
            case WEFT_FIELD_SIGNED:
                ev.value = INT64_MIN + k;
                break;
            case WEFT_FIELD_DURATION:
                ev.value = 77;
                break;
            case WEFT_FIELD_TEXT:
                ev.text = "caf\xc3\xa9 \xff\t\"";
                ev.text_size = 9;
                break;
            }
        }
        events[n++] = ev;
    }
    return n;
}

static void assert_event(const struct weft_event *found, const struct weft_event *expected)
{
    assert_int_equal(found->kind, expected->kind);
    assert_int_equal(found->time_ns, expected->time_ns);
    assert_int_equal(found->a, expected->a);
    assert_int_equal(found->b, expected->b);
    assert_int_equal(found->type, expected->type);
    assert_int_equal(found->value, expected->value);
    assert_int_equal(found->text_size, expected->text_size);
    if (expected->text_size)
        assert_memory_equal(found->text, expected->text, expected->text_size);
}

struct memory {
    FILE *file;
    char *bytes;
    size_t size;
};

static struct weft_mirage_writer *open_writer(struct memory *m, uint32_t packet_bytes,
                                              uint16_t first_sequence)
{
    struct weft_mirage_writer *w;
    m->bytes = NULL;
    m->file = open_memstream(&m->bytes, &m->size);
    assert_non_null(m->file);
    struct weft_mirage_options options = {.packet_bytes = packet_bytes,
                                          .first_sequence = first_sequence};
    assert_int_equal(weft_mirage_writer_open(&w, m->file, &options, NULL), 0);
    return w;
}

static void close_writer(struct memory *m, struct weft_mirage_writer *w)
{
    assert_int_equal(weft_mirage_writer_close(w, NULL), 0);
    assert_int_equal(fclose(m->file), 0);
}

/* Walks the packets; calls check for each event. Returns how many packets there are. */
typedef void event_fn(void *data, const struct weft_event *ev);
static unsigned walk(const struct memory *m, uint16_t first_sequence, event_fn *check, void *data)
{
    unsigned packets = 0;
    const unsigned char *bytes = (const unsigned char *)m->bytes;
    for (size_t at = 0; at < m->size; packets++) {
        assert_true(m->size - at >= WEFT_MIRAGE_HEADER_SIZE);
        assert_memory_equal(bytes + at, WEFT_MIRAGE_MARK, WEFT_MIRAGE_MARK_SIZE);
        struct weft_mirage_header h = weft_mirage_header_read(bytes + at);
        assert_int_equal(h.packet_bits, h.content_bits);
        assert_int_equal(h.packet_bits % 8, 0);
        assert_int_equal(h.sequence, (uint16_t)(first_sequence + packets));
        size_t end = at + h.packet_bits / 8;
        assert_true(end <= m->size);
        for (at += WEFT_MIRAGE_HEADER_SIZE; at < end;) {
            struct weft_event ev;
            ptrdiff_t n = weft_event_decode(&ev, bytes + at, end - at);
            assert_true(n > 0);
            check(data, &ev);
            at += (size_t)n;
        }
    }
    return packets;
}

struct expected {
    const struct weft_event *next;
    unsigned seen;
};

static void check_next(void *data, const struct weft_event *ev)
{
    struct expected *e = data;
    assert_event(ev, e->next++);
    e->seen++;
}

TEST(every_kind_comes_back)
{
    struct weft_event events[WEFT_EVENT_KINDS];
    unsigned n = sample_events(events);
    assert_int_equal(n, 14);
    /* From one event a packet to all in one. */
    for (uint32_t packet_bytes = 1; packet_bytes < 1000; packet_bytes += 7) {
        struct memory m;
        struct weft_mirage_writer *w = open_writer(&m, packet_bytes, 65530);
        for (unsigned i = 0; i < n; i++)
            assert_int_equal(weft_mirage_writer_append(w, &events[i], NULL), 0);
        close_writer(&m, w);
        struct expected e = {.next = events};
        unsigned packets = walk(&m, 65530, check_next, &e);
        assert_int_equal(e.seen, n);
        if (packet_bytes == 1)
            assert_int_equal(packets, n);
        free(m.bytes);
    }
}

TEST(an_empty_trace_has_a_packet)
{
    struct memory m;
    close_writer(&m, open_writer(&m, 0, 7));
    struct expected e = {.next = NULL};
    assert_int_equal(walk(&m, 7, check_next, &e), 1);
    assert_int_equal(m.size, WEFT_MIRAGE_HEADER_SIZE);
    free(m.bytes);
}

TEST(packets_are_no_longer_than_asked)
{
    struct memory m;
    struct weft_event ev = {.kind = WEFT_EVENT_SWITCH, .a = 1};
    size_t size = weft_event_size(&ev);
    struct weft_mirage_writer *w =
        open_writer(&m, (uint32_t)(WEFT_MIRAGE_HEADER_SIZE + 3 * size), 0);
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(weft_mirage_writer_append(w, &ev, NULL), 0);
    close_writer(&m, w);
    assert_int_equal(m.size, 3 * WEFT_MIRAGE_HEADER_SIZE + 7 * size);
    free(m.bytes);
}

TEST(a_large_text_has_a_packet_of_its_own)
{
    enum { SIZE = 3 << 20 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    memset(text, 'x', SIZE);
    struct weft_event events[3] = {
        {.kind = WEFT_EVENT_SWITCH, .time_ns = 1, .a = 1},
        {.kind = WEFT_EVENT_LABEL, .time_ns = 2, .a = 1, .text = text, .text_size = SIZE},
        {.kind = WEFT_EVENT_SWITCH, .time_ns = 3, .a = 2},
    };
    struct memory m;
    struct weft_mirage_writer *w = open_writer(&m, 0, 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(weft_mirage_writer_append(w, &events[i], NULL), 0);
    close_writer(&m, w);
    struct expected e = {.next = events};
    assert_int_equal(walk(&m, 0, check_next, &e), 3);
    assert_int_equal(e.seen, 3);
    free(m.bytes);
    free(text);
}

TEST(foreign_kinds_are_refused)
{
    struct memory m;
    struct weft_mirage_writer *w = open_writer(&m, 0, 0);
    struct weft_error err;
    struct weft_event ev = {.kind = WEFT_EVENT_CANCELS};
    assert_int_equal(weft_mirage_writer_append(w, &ev, &err), WEFT_E_INVALID);
    assert_non_null(strstr(err.text, "cancels"));
    ev.kind = 255;
    assert_int_equal(weft_mirage_writer_append(w, &ev, &err), WEFT_E_INVALID);
    weft_mirage_writer_abandon(w);
    fclose(m.file);
    free(m.bytes);
}

TEST(a_full_disk_is_told)
{
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        skip();
    struct weft_mirage_writer *w;
    struct weft_error err = {.code = 0};
    assert_int_equal(weft_mirage_writer_open(&w, full, NULL, NULL), 0);
    assert_int_equal(weft_mirage_writer_close(w, &err), WEFT_E_IO);
    assert_int_equal(err.code, WEFT_E_IO);
    fclose(full);
}

/* ---- CTF ---- */

static char scratch[] = "/tmp/weft-test-write-XXXXXX";

static int make_scratch(void **state)
{
    (void)state;
    return mkdtemp(scratch) ? 0 : -1;
}

static int remove_scratch(void **state)
{
    (void)state;
    return rmdir(scratch);
}

static const char *in_scratch(const char *name)
{
    static char path[2][256];
    static unsigned turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", scratch, name);
    return path[turn];
}

static const char *make_folder(const char *name)
{
    const char *path = in_scratch(name);
    assert_int_equal(mkdir(path, 0700), 0);
    return path;
}

static struct memory read_file(const char *path)
{
    struct memory m = {.bytes = malloc(1 << 16)};
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(m.bytes);
    m.size = fread(m.bytes, 1, 1 << 16, f);
    fclose(f);
    return m;
}

static void remove_ctf(const char *folder, unsigned streams)
{
    char path[300];
    for (unsigned i = 0; i < streams; i++) {
        snprintf(path, sizeof path, "%s/stream_%u", folder, i);
        assert_int_equal(unlink(path), 0);
    }
    snprintf(path, sizeof path, "%s/metadata", folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* Reads what was written, field by field. */
struct cursor {
    const unsigned char *at;
};

static uint64_t take_u64(struct cursor *c)
{
    c->at += 8;
    return weft_read_u64(c->at - 8);
}

static uint32_t take_u32(struct cursor *c)
{
    c->at += 4;
    return weft_read_u32(c->at - 4);
}

static const char *take_text(struct cursor *c)
{
    const char *text = (const char *)c->at;
    c->at += strlen(text) + 1;
    return text;
}

/* What all packets begin with; the first of its stream. */
static void check_packet(struct cursor *c, uint64_t stream, uint64_t size, uint64_t begin,
                         uint64_t end)
{
    assert_int_equal(take_u32(c), WEFT_CTF_MAGIC);
    assert_int_equal(take_u64(c), stream);
    assert_int_equal(take_u64(c), size * 8);
    assert_int_equal(take_u64(c), size * 8);
    assert_int_equal(take_u64(c), begin);
    assert_int_equal(take_u64(c), end);
    assert_int_equal(take_u64(c), 0); /* number */
}

/* A file with one packet of mirage's events: these. */
static void check_mirage_stream(const char *path, const struct weft_event *expected, unsigned n)
{
    struct memory m = read_file(path);
    struct cursor c = {(const unsigned char *)m.bytes};
    const unsigned char *end = c.at + m.size;
    check_packet(&c, 0, m.size, expected[0].time_ns, expected[n - 1].time_ns);
    for (unsigned i = 0; i < n; i++) {
        struct weft_event ev;
        ptrdiff_t size = weft_event_decode(&ev, c.at, (size_t)(end - c.at));
        assert_true(size > 0);
        assert_event(&ev, &expected[i]);
        c.at += size;
    }
    assert_ptr_equal(c.at, end);
    free(m.bytes);
}

TEST(times_never_run_backwards_in_ctf)
{
    const uint64_t times[] = {5, 9, 7, 9, UINT64_MAX, 10, (uint64_t)INT64_MAX};
    const uint64_t written[] = {5, 9, 9, 9, 9, 10, (uint64_t)INT64_MAX};
    enum { N = sizeof times / sizeof *times };
    struct weft_event expected[N];
    struct weft_ctf_writer *w;
    const char *folder = make_folder("backwards");
    assert_int_equal(weft_ctf_writer_open(&w, folder, NULL, NULL), 0);
    for (unsigned i = 0; i < N; i++) {
        struct weft_event ev = {.kind = WEFT_EVENT_SWITCH, .time_ns = times[i], .a = i};
        assert_int_equal(weft_ctf_writer_append(w, &ev, NULL), 0);
        expected[i] = ev;
        expected[i].time_ns = written[i];
    }
    assert_int_equal(weft_ctf_writer_moved(w), 2);
    assert_int_equal(weft_ctf_writer_close(w, NULL), 0);

    check_mirage_stream(in_scratch("backwards/stream_0"), expected, N);
    remove_ctf(folder, 1);
}

TEST(a_clock_may_begin_anywhere)
{
    const uint64_t origins[] = {0, 1, UINT64_C(1) << 62, UINT64_C(1) << 63, UINT64_MAX - 2};
    for (unsigned i = 0; i < sizeof origins / sizeof *origins; i++) {
        struct weft_event expected[2];
        struct weft_ctf_writer *w;
        const char *folder = make_folder("clock");
        assert_int_equal(weft_ctf_writer_open(&w, folder, NULL, NULL), 0);
        for (unsigned n = 0; n < 2; n++) {
            struct weft_event ev = {.kind = WEFT_EVENT_SWITCH, .time_ns = origins[i] + n};
            assert_int_equal(weft_ctf_writer_append(w, &ev, NULL), 0);
            expected[n] = ev;
            if (i >= 2)
                expected[n].time_ns = n;
        }
        assert_int_equal(weft_ctf_writer_moved(w), 0);
        assert_int_equal(weft_ctf_writer_close(w, NULL), 0);
        check_mirage_stream(in_scratch("clock/stream_0"), expected, 2);
        remove_ctf(folder, 1);
    }
}

TEST(each_stream_has_a_file)
{
    struct weft_ctf_writer *w;
    const char *folder = make_folder("streams");
    assert_int_equal(weft_ctf_writer_open(&w, folder, NULL, NULL), 0);
    /* Time is in order within a stream only. */
    struct weft_event first = {.kind = WEFT_EVENT_SWITCH, .time_ns = 9, .stream = 1};
    struct weft_event second = {.kind = WEFT_EVENT_SWITCH, .time_ns = 3};
    assert_int_equal(weft_ctf_writer_append(w, &first, NULL), 0);
    assert_int_equal(weft_ctf_writer_append(w, &second, NULL), 0);
    assert_int_equal(weft_ctf_writer_moved(w), 0);
    assert_int_equal(weft_ctf_writer_close(w, NULL), 0);
    remove_ctf(folder, 2);
}

TEST(a_folder_in_use_is_refused)
{
    struct weft_ctf_writer *w;
    struct weft_error err;
    const char *folder = make_folder("used"), *file = in_scratch("used/metadata");
    close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
    assert_int_equal(weft_ctf_writer_open(&w, folder, NULL, &err), WEFT_E_IO);
    assert_null(w);
    assert_int_equal(weft_ctf_writer_open(&w, file, NULL, &err), WEFT_E_IO);
    assert_int_equal(access(file, F_OK), 0);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left in it */
    assert_int_equal(weft_ctf_writer_open(&w, "/nonexistent/folder", NULL, &err), WEFT_E_IO);
}

TEST(metadata_names_all_of_mirage)
{
    struct memory m;
    m.file = open_memstream(&m.bytes, &m.size);
    weft_tsdl_write_mirage(m.file);
    fclose(m.file);
    assert_int_equal(strncmp(m.bytes, "/* CTF 1.8", 10), 0);
    assert_non_null(strstr(m.bytes, "uuid = \"05883b8d-521a-487b-b397-456ab150680c\""));
    assert_non_null(strstr(m.bytes, "time_t timestamp_begin;"));
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++) {
        char line[64];
        snprintf(line, sizeof line, "name = \"%s\";\n    id = %u;", weft_event_kinds[k].name, k);
        assert_int_equal(strstr(m.bytes, line) != NULL, weft_event_kinds[k].in_mirage);
    }
    for (unsigned t = 0; t < WEFT_TYPES; t++) {
        char line[64];
        snprintf(line, sizeof line, "\"%s\" = %u,", weft_type_name(t), t);
        assert_non_null(strstr(m.bytes, line));
    }
    free(m.bytes);
}

/* ---- weft's own layout ---- */

TEST(metadata_of_weft_names_everything)
{
    struct memory m;
    struct weft_tsdl_trace trace = {.host = "a\"b\\c\n\xff",
                                    .program = NULL,
                                    .version = "1",
                                    .pid = 77,
                                    .start_ns = 5,
                                    .start_real_ns = UINT64_C(1700000000123456789)};
    m.file = open_memstream(&m.bytes, &m.size);
    weft_tsdl_write_weft(m.file, &trace);
    fclose(m.file);
    assert_int_equal(strncmp(m.bytes, "/* CTF 1.8", 10), 0);
    assert_non_null(strstr(m.bytes, "hostname = \"a\\\"b\\\\c??\";"));
    assert_null(strstr(m.bytes, "procname"));
    assert_non_null(strstr(m.bytes, "vpid = 77;"));
    assert_non_null(strstr(m.bytes, "offset_s = 1700000000;\n    offset = 123456784;"));
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++) {
        char line[64];
        snprintf(line, sizeof line, "name = \"%s\";\n    id = %u;", weft_event_kinds[k].name, k);
        assert_non_null(strstr(m.bytes, line));
    }
    free(m.bytes);
}

TEST(events_of_weft_keep_all_fields)
{
    const struct weft_tsdl_trace trace = {.pid = 1};
    const struct weft_origin origin = {.type = "rpc call", .file = "main.c", .line = 12};
    const struct weft_event events[] = {
        {.time_ns = 3,
         .a = 1,
         .b = 2,
         .stream = 1,
         .text = "lab",
         .text_size = 3,
         .origin = &origin},
        {.time_ns = 4, .a = WEFT_ID_LOOP, .b = 2, .stream = 1, .type = 200},
        {.time_ns = 5,
         .kind = WEFT_EVENT_INCREASE,
         .a = 1,
         .stream = 1,
         .value = -2,
         .total = 7,
         .has_total = true,
         .text = "c",
         .text_size = 1},
        {.time_ns = 9, .kind = WEFT_EVENT_SUSPEND, .stream = 1, .type = 1},
        {.time_ns = 9, .kind = WEFT_EVENT_RESUME, .stream = 1},
    };
    struct weft_ctf_writer *w;
    const char *folder = make_folder("fields");
    assert_int_equal(weft_ctf_writer_open(&w, folder, &trace, NULL), 0);
    assert_int_equal(weft_ctf_writer_thread(w, 1, 4711, "sixteen letters!", NULL), 0);
    for (unsigned i = 0; i < sizeof events / sizeof *events; i++)
        assert_int_equal(weft_ctf_writer_append(w, &events[i], NULL), 0);
    assert_int_equal(weft_ctf_writer_close(w, NULL), 0);

    assert_int_equal(access(in_scratch("fields/stream_0"), F_OK), -1);
    struct memory m = read_file(in_scratch("fields/stream_1"));
    struct cursor c = {(const unsigned char *)m.bytes};
    check_packet(&c, 1, m.size, 3, 9);
    assert_int_equal(take_u32(&c), 4711);
    assert_string_equal(take_text(&c), "sixteen letters!");
    assert_int_equal(take_u64(&c), 3);
    assert_int_equal(*c.at++, WEFT_EVENT_CREATES);
    assert_int_equal(take_u64(&c), 1);
    assert_int_equal(take_u64(&c), 2);
    assert_string_equal(take_text(&c), "rpc call");
    assert_string_equal(take_text(&c), "lab");
    assert_string_equal(take_text(&c), "main.c");
    assert_int_equal(take_u32(&c), 12);
    c.at += 8; /* the second creation */
    assert_int_equal(*c.at++, WEFT_EVENT_CREATES | (WEFT_TSDL_NO_TEXT | WEFT_TSDL_NO_PLACE) << 5);
    c.at += 8 + 8;
    assert_string_equal(take_text(&c), "type-200");
    c.at += 9 + 8; /* time, kind and promise of the increase */
    assert_int_equal(take_u64(&c), -2);
    assert_string_equal(take_text(&c), "c");
    assert_int_equal(take_u64(&c), 7);
    c.at += 8;
    assert_int_equal(*c.at++, WEFT_EVENT_SUSPEND);
    assert_int_equal(*c.at++, 1);
    c.at += 8;
    assert_int_equal(*c.at++, WEFT_EVENT_RESUME);
    assert_ptr_equal(c.at, m.bytes + m.size);
    free(m.bytes);
    assert_int_equal(unlink(in_scratch("fields/stream_1")), 0);
    remove_ctf(in_scratch("fields"), 0);
}

/* More bytes than are held, and more streams than a reader can have files open: those from 500 on share one, in which
 * each packet is of one thread. */
TEST(streams_may_be_many)
{
    enum { STREAMS = 3000, ROUNDS = 2, FILES = 501, SHARED = FILES - 1 };
    static char text[12000];
    const struct weft_tsdl_trace trace = {.pid = 1};
    struct weft_ctf_writer *w;
    struct stat st;
    const char *folder = make_folder("many");
    memset(text, 'x', sizeof text);
    assert_int_equal(weft_ctf_writer_open(&w, folder, &trace, NULL), 0);
    for (unsigned i = 0; i < ROUNDS * STREAMS; i++) {
        struct weft_event ev = {.kind = WEFT_EVENT_LABEL,
                                .time_ns = i,
                                .stream = i % STREAMS,
                                .text = text,
                                .text_size = sizeof text};
        if (i < STREAMS)
            assert_int_equal(weft_ctf_writer_thread(w, i, i + 7, "", NULL), 0);
        assert_int_equal(weft_ctf_writer_append(w, &ev, NULL), 0);
    }
    assert_int_equal(weft_ctf_writer_close(w, NULL), 0);
    for (unsigned i = 0; i < SHARED; i += SHARED - 1) {
        char name[32];
        snprintf(name, sizeof name, "many/stream_%u", i);
        assert_int_equal(stat(in_scratch(name), &st), 0);
        assert_true((size_t)st.st_size > ROUNDS * sizeof text);
        assert_true((size_t)st.st_size < ROUNDS * (sizeof text + 100));
    }
    struct memory m = {.file = NULL};
    assert_int_equal(stat(in_scratch("many/stream_500"), &st), 0);
    m.size = (size_t)st.st_size;
    m.bytes = malloc(m.size);
    m.file = fopen(in_scratch("many/stream_500"), "r");
    assert_non_null(m.bytes);
    assert_int_equal(fread(m.bytes, 1, m.size, m.file), m.size);
    fclose(m.file);
    const char *at = m.bytes, *end = m.bytes + m.size;
    uint64_t packet = 0;
    for (uint64_t round = 0; round < ROUNDS; round++)
        for (uint64_t i = SHARED; i < STREAMS; i++, packet++) {
            struct cursor c = {(const unsigned char *)at};
            uint64_t time = round * STREAMS + i;
            assert_true((size_t)(end - at) > sizeof text);
            assert_int_equal(weft_read_u64(c.at + 4), SHARED);
            size_t size = weft_read_u64(c.at + 12) / 8;
            assert_int_equal(weft_read_u64(c.at + 28), time);
            assert_int_equal(weft_read_u64(c.at + 36), time);
            assert_int_equal(weft_read_u64(c.at + 44), packet);
            assert_int_equal(weft_read_u32(c.at + 52), i + 7);
            assert_true(size <= (size_t)(end - at));
            at += size;
        }
    assert_ptr_equal(at, end);
    free(m.bytes);
    remove_ctf(in_scratch("many"), FILES);
}

/* ---- weft's events in mirage's terms ---- */

static struct weft_downgrade down;

static unsigned downgraded(struct weft_event out[WEFT_DOWNGRADED_MAX], struct weft_event ev)
{
    unsigned n = weft_downgrade(&down, out, &ev);
    for (unsigned i = 0; i < n; i++) {
        assert_true(weft_event_kinds[out[i].kind].in_mirage);
        assert_int_equal(out[i].time_ns, ev.time_ns);
    }
    return n;
}

TEST(creations_in_mirages_terms)
{
    struct weft_event out[WEFT_DOWNGRADED_MAX];
    struct weft_origin origin = {.type = "bind"};
    struct weft_event ev = {.time_ns = 8, .a = 1, .b = 2, .origin = &origin};
    memset(&down, 0, sizeof down);
    assert_int_equal(downgraded(out, ev), 1);
    assert_int_equal(out[0].type, 2);
    origin = (struct weft_origin){.type = "rpc", .file = "x.c", .line = 1};
    ev.text = "lab";
    ev.text_size = 3;
    assert_int_equal(downgraded(out, ev), 3);
    assert_int_equal(out[0].type, 1);
    assert_int_equal(out[1].a, 2);
    assert_memory_equal(out[1].text, "rpc", 3);
    assert_memory_equal(out[2].text, "lab", 3);
    assert_int_equal(down.types, 1);
    assert_int_equal(down.places, 1);
}

TEST(kinds_in_mirages_terms)
{
    struct weft_event out[WEFT_DOWNGRADED_MAX];
    memset(&down, 0, sizeof down);
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++) {
        struct weft_event ev = {.time_ns = k, .kind = (uint8_t)k, .a = 5, .b = 6};
        if (weft_event_kinds[k].in_mirage)
            ev.text = "", ev.text_size = 0;
        unsigned n = downgraded(out, ev);
        bool gone = k == WEFT_EVENT_NOTIFIES || k == WEFT_EVENT_BACKGROUND ||
                    k == WEFT_EVENT_RESUME || k == WEFT_EVENT_ACQUIRES ||
                    k == WEFT_EVENT_RELEASES || k == WEFT_EVENT_PREEMPTED || k == WEFT_EVENT_SPAN ||
                    k == WEFT_EVENT_SPAN_PARENT || k == WEFT_EVENT_SNAPSHOT;
        assert_int_equal(down.left_out[k], gone);
        assert_int_equal(n == 0, gone);
        if (k == WEFT_EVENT_FORGETS) {
            assert_int_equal(out[0].kind, WEFT_EVENT_FULFILLS);
            assert_true(out[0].a == WEFT_ID_LOOP);
            assert_int_equal(out[0].b, 5);
        } else if (k == WEFT_EVENT_CANCELS || k == WEFT_EVENT_RESOLVES) {
            assert_int_equal(out[0].kind, WEFT_EVENT_FULFILLS);
            assert_int_equal(out[0].a, 5);
            assert_int_equal(out[0].b, 6);
        } else if (k == WEFT_EVENT_SHOULD_RESOLVE) {
            assert_int_equal(out[0].text_size, 16);
            assert_memory_equal(out[0].text, "__should_resolve", 16);
        } else if (k == WEFT_EVENT_SUSPEND) {
            assert_int_equal(out[0].kind, WEFT_EVENT_SWITCH);
            assert_true(out[0].a == WEFT_ID_LOOP);
        }
    }
    assert_int_equal(down.endings, 3);
}

TEST(counters_in_mirages_terms)
{
    const struct {
        int64_t amount, total;
        uint8_t kind;
        int64_t value; /* what is written */
    } steps[] = {
        {5, 105, WEFT_EVENT_COUNTER, 105}, /* older changes are gone */
        {-3, 102, WEFT_EVENT_INCREASE, -3},
        {1, 110, WEFT_EVENT_COUNTER, 110}, /* … some more */
        {INT64_MAX, INT64_MIN + 109, WEFT_EVENT_COUNTER, INT64_MIN + 109},
    };
    struct weft_event out[WEFT_DOWNGRADED_MAX];
    memset(&down, 0, sizeof down);
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        assert_int_equal(downgraded(out, (struct weft_event){.kind = WEFT_EVENT_INCREASE,
                                                             .value = steps[i].amount,
                                                             .total = steps[i].total,
                                                             .has_total = true,
                                                             .text = "n",
                                                             .text_size = 1}),
                         1);
        assert_int_equal(out[0].kind, steps[i].kind);
        assert_int_equal(out[0].value, steps[i].value);
    }
    /* More counters than are kept: their values are still right. */
    for (unsigned i = 0; i < 2 * WEFT_DOWNGRADE_COUNTERS; i++) {
        char name[16];
        int size = snprintf(name, sizeof name, "%u", i);
        struct weft_event ev = {.kind = WEFT_EVENT_INCREASE,
                                .value = 1,
                                .total = 1,
                                .has_total = true,
                                .text = name,
                                .text_size = (uint32_t)size};
        assert_int_equal(downgraded(out, ev), 1);
        assert_int_equal(out[0].value, 1);
        ev.total = 2;
        assert_int_equal(downgraded(out, ev), 1);
        assert_int_equal(out[0].value, out[0].kind == WEFT_EVENT_INCREASE ? 1 : 2);
    }
}

RUN_TESTS(make_scratch, remove_scratch)
