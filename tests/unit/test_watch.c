/* SPDX-License-Identifier: ISC */
/* The grammar of conditions; names and bounds of what is kept; traces that are compressed, also malicious ones. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "test.h"

#include "base/glob.h"
#include "format/bytes.h"
#include "format/packet.h"
#include "read/columns.h"
#include "read/input.h"
#include "read/reader.h"
#include "watch/condition.h"
#include "watch/keep.h"
#include "watch/pack.h"
#include "weft/weft.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define SECOND UINT64_C(1000000000)

/* ---- Conditions ---- */

static struct watch_condition parse(const char *text)
{
    struct watch_condition c;
    struct watch_mistake m = {.why = ""};
    if (!watch_condition_parse(&c, text, &m))
        fail_msg("\"%s\": at %zu: %s", text, m.at, m.why);
    return c;
}

TEST(conditions_of_each_kind)
{
    static const struct {
        const char *text;
        enum watch_kind kind;
        const char *pattern;
        int64_t bound;
    } cases[] = {
        {"GET /* > 500ms", WATCH_SLOW, "GET /*", 500000000},
        {"  GET /*>0.5 s  ", WATCH_SLOW, "GET /*", 500000000},
        {"* > 1min", WATCH_SLOW, "*", 60000000000},
        {"\"a > b\" > 2s", WATCH_SLOW, "a > b", 2000000000},
        {"'loop' > 2s", WATCH_SLOW, "loop", 2000000000},
        {"a \\> b > 2s", WATCH_SLOW, "a \\> b", 2000000000},
        {"'it\\'s' > 2s", WATCH_SLOW, "it\\'s", 2000000000},
        {"looping > 2s", WATCH_SLOW, "looping", 2000000000},
        {"pending accept loop > 30s", WATCH_PENDING, "accept loop", 30000000000},
        {"failed POST *", WATCH_FAILED, "POST *", 0},
        {"failed \"failed\"", WATCH_FAILED, "failed", 0},
        {"failed a\\  \t", WATCH_FAILED, "a\\ ", 0},
        {"failed a\\\\  ", WATCH_FAILED, "a\\\\", 0},
        {"failed ' a  '  ", WATCH_FAILED, " a  ", 0},
        {"loop > 200ms", WATCH_LOOP, "*", 200000000},
        {"loop>200ms", WATCH_LOOP, "*", 200000000},
        {"counter queue length > 100", WATCH_COUNTER, "queue length", 100},
        {"counter free < -3", WATCH_COUNTER, "free", -3},
        {"call", WATCH_CALL, "*", 0},
        {"call slow*", WATCH_CALL, "slow*", 0},
        {"crash", WATCH_CRASH, "*", 0},
        {"exit ", WATCH_EXIT, "*", 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct watch_condition c = parse(cases[i].text);
        assert_int_equal(c.kind, cases[i].kind);
        assert_string_equal(c.pattern, cases[i].pattern);
        assert_int_equal(c.bound, cases[i].bound);
    }
    assert_true(parse("counter free < 3").below);
    assert_false(parse("counter free > 3").below);
    assert_string_equal(parse("\t crash  ").text, "crash");
    assert_string_equal(parse("failed a\\  ").text, "failed a\\ ");
    assert_int_equal(parse("signal USR1").signal, SIGUSR1);
    assert_int_equal(parse("signal SIGUSR2").signal, SIGUSR2);
}

TEST(rates)
{
    struct watch_condition c = parse("rate failed GET * > 0.5/s");
    assert_true(c.failed);
    assert_string_equal(c.pattern, "GET *");
    assert_true(c.per_second == 0.5);
    assert_int_equal(c.window_ns, 10 * SECOND);
    assert_int_equal(c.for_ns, 0);
    c = parse("rate x > 120/min over 30s for 1min");
    assert_false(c.failed);
    assert_true(c.per_second == 2);
    assert_int_equal(c.window_ns, 30 * SECOND);
    assert_int_equal(c.for_ns, 60 * SECOND);
    assert_true(parse("rate x > 36/h").per_second == 0.01);
}

TEST(mistakes_have_their_place)
{
    static const struct {
        const char *text;
        size_t at;
        const char *why; /* a part of it */
    } cases[] = {
        {"", 0, "empty"},
        {"  ", 0, "empty"},
        {"GET", 3, "missing"},
        {"GET /x >", 8, "a time is missing"},
        {"GET /x > 5", 9, "no time"},
        {"GET /x > 5 parsecs", 9, "no time"},
        {"GET /x > 0s", 9, "more than 0"},
        {"GET /x > -1s", 9, "more than 0"},
        {"GET /x >= 1s", 8, "without ="},
        {"GET /x < 1s", 7, "only >"},
        {"GET /x > 1s soon", 12, "nothing more"},
        {"> 1s", 0, "a label is missing"},
        {"\"GET > 1s", 0, "not closed"},
        {"failed", 6, "a label is missing"},
        {"failed x > 1s", 9, "nothing more"},
        {"loop", 4, "missing"},
        {"loop main > 1s", 5, "missing"},
        {"counter x > many", 12, "no whole number"},
        {"counter x = 3", 13, "missing"},
        {"rate x > 5", 9, "no rate"},
        {"rate x > 5/day", 9, "no rate"},
        {"rate x > 1.2.3/s", 9, "no rate"},
        {"rate x > 1./s", 9, "no rate"},
        {"rate x > 1/s over 2d", 13, "at most a day"},
        {"signal", 6, "missing"},
        {"signal KILL", 7, "no signal"},
        {"crash now", 6, "nothing more"},
        {"a\nb > 1s", 1, "control"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct watch_condition c;
        struct watch_mistake m = {.why = ""};
        assert_false(watch_condition_parse(&c, cases[i].text, &m));
        if (m.at != cases[i].at || !strstr(m.why, cases[i].why))
            fail_msg("\"%s\": at %zu: %s", cases[i].text, m.at, m.why);
    }
    char longer[WATCH_TEXT_BYTES + 20];
    struct watch_condition c;
    struct watch_mistake m;
    memset(longer, 'x', sizeof longer);
    memcpy(longer + sizeof longer - 6, " > 1s", 6);
    assert_false(watch_condition_parse(&c, longer, &m));
    assert_non_null(strstr(m.why, "longer"));

    /* A space that is escaped is part of the text and of the pattern. */
    memset(longer, 'x', WATCH_TEXT_BYTES);
    strcpy(longer + WATCH_TEXT_BYTES - 2, "\\ ");
    assert_false(watch_condition_parse(&c, longer, &m));
    assert_non_null(strstr(m.why, "longer"));
    memcpy(longer, "call ", 5);
    memmove(longer + 5, longer + 6, WATCH_TEXT_BYTES - 5);
    assert_true(watch_condition_parse(&c, longer, &m));
    assert_string_equal(c.text, longer);
    assert_string_equal(c.pattern, longer + 5);
}

TEST(patterns)
{
    assert_true(weft_glob_matches("GET /*", "GET /a/b"));
    assert_true(weft_glob_matches("a?c", "a\xc3\xa9"
                                         "c"));
    assert_true(weft_glob_matches("a\\*c", "a*c"));
    assert_false(weft_glob_matches("a\\*c", "abc"));
    assert_true(weft_glob_matches("[x]", "[x]"));
    assert_false(weft_glob_matches("[x]", "x"));
    assert_true(weft_glob_matches("*", ""));
    assert_false(weft_glob_matches("?", ""));
    assert_false(weft_glob_matches("", "x"));
}

/* ---- The folder ---- */

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/weft-kept-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* A trace, of this process, which is still recorded if it is not stopped. */
static struct weft_input record(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(weft_start(&(struct weft_options){.path = path, .bytes = 1 << 20}), 0);
    for (int i = 0; i < 10000; i++) {
        weft_promise p = weft_create("request", "GET /");
        weft_run(p);
        weft_fulfill(p);
    }
    struct weft_input in;
    struct weft_error err;
    assert_int_equal(weft_input_open(&in, path, &err), 0);
    weft_stop();
    return in;
}

static struct watch_kept keep(const struct watch_folder *f, const struct weft_input *in,
                              uint64_t real_ns, const char *reason)
{
    struct watch_kept kept;
    struct weft_error err = {.text = ""};
    const struct watch_subject s = {
        .program = "pro/gram", .pid = 4711, .real_ns = real_ns, .reason = reason};
    if (watch_keep(f, in, &s, &kept, &err) < 0)
        fail_msg("%s", err.text);
    return kept;
}

static bool is_there(const struct watch_folder *f, const char *name)
{
    char path[PATH_MAX + NAME_MAX + 2];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    return access(path, F_OK) == 0;
}

static void put_file(const struct watch_folder *f, const char *name, const char *content)
{
    char path[PATH_MAX + NAME_MAX + 2];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(content, out);
    fclose(out);
}

static const uint64_t at_ns = UINT64_C(1795802585123) * 1000000; /* 2026-11-27T18:03:05.123Z */

TEST(names_are_safe)
{
    char name[NAME_MAX + 1];
    watch_keep_name(name, "server", 4711, at_ns, "GET /* > 500ms", 0);
    assert_string_equal(name, "server-4711-2026-11-27T18:03:05.123Z-GET-500ms.weft.zst");
    assert_true(watch_keep_is_name(name));
    watch_keep_name(name, "../x", 1, at_ns, "../../etc\x1b[2J\n", 2);
    assert_string_equal(name, "x-1-2026-11-27T18:03:05.123Z-etc-2J-3.weft.zst");
    watch_keep_name(name, "", 1, at_ns, "\xff\xfe", 0);
    assert_string_equal(name, "program-1-2026-11-27T18:03:05.123Z-reason.weft.zst");
    assert_true(watch_keep_is_name(name));
    static const char *const others[] = {
        "a.weft.zst",
        "server-2026-11-27T18:03:05.123Z-x.weft.zst",
        "server1-2026-11-27T18:03:05.123Z-x.weft.zst",
        "server-1-2026-11-27T18:03:05Z-x.weft.zst",
        "server-1-2026-11-27T18:03:05.123Z-x.weft",
        ".server-1-2026-11-27T18:03:05.123Z-x.weft.zst",
    };
    for (size_t i = 0; i < COUNT(others); i++)
        assert_false(watch_keep_is_name(others[i]));
}

TEST(copies_are_small_and_are_read_as_they_are)
{
    char to[128], path[PATH_MAX + NAME_MAX + 2];
    snprintf(to, sizeof to, "%s/deep/kept", folder);
    const struct watch_folder f = {.path = to, .files_most = 9, .bytes_most = 1 << 30};
    struct weft_input in = record("a.weft");
    const struct watch_kept kept = keep(&f, &in, at_ns, "x");
    assert_true(kept.bytes * 4 < kept.source_bytes);
    struct stat made;
    assert_int_equal(stat(to, &made), 0);
    assert_int_equal(made.st_mode, S_IFDIR | 0700); /* what is in it is nobody else's */
    snprintf(path, sizeof path, "%s/%s", to, kept.name);
    struct weft_reader *r;
    struct weft_error err;
    const struct weft_event *ev;
    ptrdiff_t n, total = 0;
    assert_int_equal(weft_reader_open(&r, path, &err), 0);
    while ((n = weft_reader_next(r, &ev, &err)) > 0)
        total += n;
    assert_int_equal(n, 0);
    assert_int_equal(total, 30000);
    weft_reader_close(r);
    weft_input_close(&in);
}

TEST(the_oldest_go_first)
{
    char to[128], text[8 * NAME_MAX];
    snprintf(to, sizeof to, "%s/number", folder);
    const struct watch_folder f = {.path = to, .files_most = 3, .bytes_most = 1 << 30};
    struct weft_input in = record("b.weft");
    struct watch_kept kept[5];
    /* The clock is set back: the names of later ones say that they are older. */
    for (unsigned i = 0; i < 5; i++) {
        kept[i] = keep(&f, &in, at_ns - i * 3600 * SECOND, "x");
        snprintf(text, sizeof text, "%s.txt", kept[i].name);
        put_file(&f, text, "said");
        if (i == 0) {
            put_file(&f, "other.weft.zst", "not ours");
            put_file(&f, "a-1-2020-01-01T00:00:00.000Z-x.weft.zst", "not a trace");
        }
    }
    for (unsigned i = 0; i < 5; i++) {
        snprintf(text, sizeof text, "%s.txt", kept[i].name);
        assert_int_equal(is_there(&f, kept[i].name), i >= 2);
        assert_int_equal(is_there(&f, text), i >= 2);
    }
    assert_int_equal(kept[4].removed, 1);
    assert_true(is_there(&f, "other.weft.zst"));
    assert_true(is_there(&f, "a-1-2020-01-01T00:00:00.000Z-x.weft.zst"));
    weft_input_close(&in);
}

TEST(the_same_time_overwrites_nothing)
{
    char to[128];
    snprintf(to, sizeof to, "%s/same", folder);
    const struct watch_folder f = {.path = to, .files_most = 9, .bytes_most = 1 << 30};
    struct weft_input in = record("c.weft");
    const struct watch_kept a = keep(&f, &in, at_ns, "x"), b = keep(&f, &in, at_ns, "x");
    assert_string_not_equal(a.name, b.name);
    assert_true(is_there(&f, a.name) && is_there(&f, b.name));
    assert_true(watch_keep_is_name(b.name));
    weft_input_close(&in);
}

TEST(bytes_are_bounded)
{
    char to[128];
    snprintf(to, sizeof to, "%s/bytes", folder);
    struct watch_folder f = {.path = to, .files_most = 9, .bytes_most = 1 << 30};
    struct weft_input in = record("d.weft");
    const struct watch_kept first = keep(&f, &in, at_ns, "x");
    f.bytes_most = 2 * first.bytes + first.bytes / 2;
    const struct watch_kept second = keep(&f, &in, at_ns + SECOND, "x"),
                            third = keep(&f, &in, at_ns + 2 * SECOND, "x");
    assert_false(is_there(&f, first.name));
    assert_true(is_there(&f, second.name) && is_there(&f, third.name));
    f.bytes_most = first.bytes / 2;
    struct watch_kept none;
    struct weft_error err;
    const struct watch_subject s = {.program = "p", .pid = 1, .real_ns = at_ns, .reason = "x"};
    assert_int_equal(watch_keep(&f, &in, &s, &none, &err), WEFT_E_LIMIT);
    assert_non_null(strstr(err.text, "--max-bytes"));
    assert_true(is_there(&f, second.name) && is_there(&f, third.name));
    weft_input_close(&in);
}

/* What somebody was killed over is removed, what somebody writes is not. */
TEST(parts_are_removed)
{
    static const char left[] = "a-1-2020-01-01T00:00:00.000Z-x.weft.zst.part",
                      text[] = "a-1-2020-01-01T00:00:00.000Z-x.weft.zst.txt.part";
    char to[128];
    snprintf(to, sizeof to, "%s/parts", folder);
    const struct watch_folder f = {.path = to, .files_most = 9, .bytes_most = 1 << 30};
    struct weft_input in = record("e.weft");
    keep(&f, &in, at_ns, "x");
    put_file(&f, left, "half");
    put_file(&f, text, "half");
    put_file(&f, "mine.part", "half");
    keep(&f, &in, at_ns, "x");
    assert_false(is_there(&f, left));
    assert_false(is_there(&f, text));
    assert_true(is_there(&f, "mine.part"));
    weft_input_close(&in);
}

/* ---- Compressed traces ---- */

static int open_input(struct weft_input *in, const void *bytes, size_t size, struct weft_error *err)
{
    char path[128];
    snprintf(path, sizeof path, "%s/bytes.zst", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
    return weft_input_open(in, path, err);
}

static int open_bytes(const void *bytes, size_t size, struct weft_error *err)
{
    struct weft_input in;
    const int rc = open_input(&in, bytes, size, err);
    if (rc == 0)
        weft_input_close(&in);
    return rc;
}

/* More than is read at once; long zeros take no room. */
TEST(contents_come_back)
{
    enum { NOISE = 400000, SIZE = NOISE + (4 << 20), ROOM = SIZE + 10000 };
    unsigned char *plain = calloc(1, SIZE), *packed = malloc(ROOM), *found = malloc(SIZE);
    struct weft_error err = {.text = ""};
    struct weft_input in;
    struct stat room;
    assert_true(plain && packed && found);
    uint64_t noise = 1;
    for (size_t i = 0; i < NOISE; i++)
        plain[i] = (unsigned char)((noise = noise * UINT64_C(6364136223846793005) + 1) >> 56);
    const size_t n = ZSTD_compress(packed, ROOM, plain, SIZE, 3);
    assert_true(!ZSTD_isError(n) && n > NOISE / 2);
    assert_int_equal(open_input(&in, packed, n, &err), 0);
    assert_int_equal(in.size, SIZE);
    assert_int_equal(weft_input_read(&in, found, SIZE, 0, &err), SIZE);
    assert_memory_equal(found, plain, SIZE);
    assert_int_equal(fstat(in.fd, &room), 0);
    assert_in_range(room.st_blocks * 512, NOISE, SIZE / 2);
    weft_input_close(&in);
    free(plain);
    free(packed);
    free(found);
}

TEST(every_cut_is_an_error)
{
    unsigned char plain[3000], packed[4000];
    struct weft_error err;
    for (size_t i = 0; i < sizeof plain; i++)
        plain[i] = (unsigned char)(i * i >> 3);
    const size_t n = ZSTD_compress(packed, sizeof packed, plain, sizeof plain, 3);
    assert_false(ZSTD_isError(n));
    assert_int_equal(open_bytes(packed, n, &err), 0);
    for (size_t cut = 4; cut < n; cut += cut < 40 ? 1 : 97) {
        assert_int_equal(open_bytes(packed, cut, &err), WEFT_E_FORMAT);
        assert_int_equal(err.offset, cut);
    }
    packed[n / 2] ^= 0x55; /* damage is an error, or other bytes: the reader's business */
    open_bytes(packed, n, &err);
}

/* Frames that hold a MiB of zeros in 40 bytes or so. */
TEST(bombs_are_refused)
{
    enum { MIB = 1 << 20, FRAMES = 1100 };
    struct weft_error err;
    char *zeros = calloc(1, MIB), *packed = malloc(FRAMES * 100);
    assert_true(zeros && packed);
    const size_t n = ZSTD_compress(packed, 100, zeros, MIB, 3);
    assert_false(ZSTD_isError(n));
    for (size_t i = 1; i < FRAMES; i++)
        memcpy(packed + i * n, packed, n);
    assert_int_equal(open_bytes(packed, FRAMES * n, &err), WEFT_E_LIMIT);
    assert_non_null(strstr(err.text, "zstd -d"));
    assert_true(err.offset > n * 1000 && err.offset < n * FRAMES);
    free(zeros);
    free(packed);
}

/* A window of 2 GiB is not allocated. */
TEST(wide_windows_are_refused)
{
    static const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00};
    struct weft_error err;
    assert_int_equal(open_bytes(frame, sizeof frame, &err), WEFT_E_FORMAT);
    assert_non_null(strstr(err.text, "zstd"));
}

/* ---- Columns ---- */

static unsigned char block[READ_COLUMNS_ROOM], again[READ_COLUMNS_BLOCK];

static size_t there_and_back(const unsigned char *from, size_t size, size_t *block_size)
{
    size_t used = 0;
    *block_size = read_columns_put(block, from, size, &used);
    assert_true(used > 0 && used <= size && *block_size <= READ_COLUMNS_ROOM);
    assert_int_equal(read_columns_get(again, block, *block_size), used);
    assert_memory_equal(again, from, used);
    return used;
}

static uint64_t next_wide(uint64_t *state)
{
    return *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

TEST(columns_give_back_any_bytes)
{
    uint64_t seed = 1;
    size_t size, got = 0;
    unsigned char *bytes = malloc(READ_COLUMNS_BLOCK);
    struct weft_input in = record("f.weft");
    struct weft_error err;
    assert_non_null(bytes);
    got = (size_t)weft_input_read(&in, bytes, READ_COLUMNS_BLOCK, 0, &err);
    assert_true(got > 500000);
    there_and_back(bytes, got, &size);
    there_and_back(bytes, got - 12345, &size);
    there_and_back(bytes, 1, &size);
    /* Damage in many places: headers and forms say anything. */
    for (int i = 0; i < 300; i++) {
        for (int k = 0; k < 20; k++)
            bytes[next_wide(&seed) % got] = (unsigned char)(next_wide(&seed) >> 56);
        there_and_back(bytes, got, &size);
    }
    /* Nothing but the beginnings of packets, which makes the most runs. */
    for (size_t i = 0; i + 160 <= got; i += 160) {
        const struct weft_packet_header h = {.magic = WEFT_PACKET_MAGIC,
                                             .signature = WEFT_PACKET_SIGNATURE,
                                             .class = WEFT_PACKET_EVENTS,
                                             .header_bytes = WEFT_EVENTS_HEADER_V1_0,
                                             .packet_bits = UINT64_C(8) * 160,
                                             .content_bits = UINT64_C(8) * 160};
        memcpy(bytes + i, &h, sizeof h);
    }
    there_and_back(bytes, got, &size);
    weft_input_close(&in);
    free(bytes);
}

enum { PART = 200000 };

/* A part of a trace that is recorded now, in which there are many events; to be freed. */
static unsigned char *record_part(const char *name)
{
    unsigned char *bytes = malloc(PART);
    struct weft_input in = record(name);
    struct weft_error err;
    assert_non_null(bytes);
    assert_int_equal(weft_input_read(&in, bytes, PART, in.size / 2 / 65536 * 65536, &err), PART);
    weft_input_close(&in);
    return bytes;
}

/* How many events stand in columns, after so many zero bytes. */
static uint32_t events_found(const unsigned char *bytes, size_t size, size_t zeros)
{
    size_t block_size;
    unsigned char *shifted = calloc(1, zeros + size);
    assert_non_null(shifted);
    memcpy(shifted + zeros, bytes, size);
    there_and_back(shifted, zeros + size, &block_size);
    free(shifted);
    return weft_read_u32(block + 12);
}

TEST(packets_are_found_where_they_begin)
{
    unsigned char *bytes = record_part("h.weft");
    const uint32_t events = events_found(bytes, PART, 0);
    assert_true(events > 1000);
    for (size_t zeros = 8; zeros <= 40; zeros += 8)
        assert_int_equal(events_found(bytes, PART, zeros), events);
    free(bytes);
}

TEST(damaged_blocks_do_no_harm)
{
    uint64_t seed = 2;
    size_t size;
    unsigned char *bytes = record_part("g.weft");
    there_and_back(bytes, PART, &size);
    for (int i = 0; i < 2000; i++) {
        unsigned char *exact = malloc(size);
        assert_non_null(exact);
        memcpy(exact, block, size);
        for (int k = 0; k < 3; k++)
            exact[next_wide(&seed) % (k ? size : 64)] = (unsigned char)(next_wide(&seed) >> 56);
        assert_true(read_columns_get(again, exact, size) <= READ_COLUMNS_BLOCK);
        assert_int_equal(read_columns_get(again, exact, size - 1), 0);
        free(exact);
    }
    free(bytes);
}

/* Decompressed by zstd -d, it is read, too; cut, it is an error. */
TEST(columns_are_read_without_zstd)
{
    static const unsigned char none[] = {'w', 'e', 'f', 't', 'c', 'o', 'l', 1, 9, 0};
    struct weft_error err;
    size_t size;
    unsigned char *file = malloc(READ_COLUMNS_HEAD + READ_COLUMNS_ROOM), bytes[1000];
    assert_non_null(file);
    memset(bytes, 'x', sizeof bytes);
    there_and_back(bytes, sizeof bytes, &size);
    memcpy(file, read_columns_mark, READ_COLUMNS_HEAD);
    memcpy(file + READ_COLUMNS_HEAD, block, size);
    assert_int_equal(open_bytes(file, READ_COLUMNS_HEAD + size, &err), 0);
    assert_int_equal(open_bytes(file, READ_COLUMNS_HEAD + size - 1, &err), WEFT_E_FORMAT);
    assert_int_equal(err.offset, READ_COLUMNS_HEAD);
    assert_int_equal(open_bytes(none, sizeof none, &err), WEFT_E_FORMAT);
    free(file);
}

RUN_TESTS(make_folder, drop_folder)
