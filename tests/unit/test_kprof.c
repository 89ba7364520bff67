/* SPDX-License-Identifier: ISC */
/* Akaros's profiling device on a machine that does what the test says: commands, streams, readers, drops. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "allocations.h"
#include "format/bytes.h"
#include "kprof/device.h"
#include "kprof/state.h"
#include "test.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define CORES 4u
#define KERNEL UINT64_C(0xffffffff81000000)

/* ---- The machine ---- */

static struct machine {
    struct weft_kprof *k;
    uint64_t now_ns, period_ns;
    bool on[CORES], runs, broken;
    uint32_t printed, starts;
    uint64_t slowed;
    uint32_t pending; /* samples of core 0 that stop hands out */
} pc;

static uint64_t now(void *data)
{
    return ((struct machine *)data)->now_ns;
}

static int core(void *data, uint32_t number, bool on, struct weft_error *err)
{
    struct machine *m = data;
    if (m->broken)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "it is broken");
    if (number == 3) /* off line */
        return WEFT_E_INVALID;
    for (uint32_t c = 0; c < CORES; c++)
        if (number == UINT32_MAX || c == number)
            m->on[c] = on;
    return 0;
}

static int period(void *data, uint64_t ns, struct weft_error *err)
{
    struct machine *m = data;
    if (m->broken)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "it is broken");
    m->period_ns = ns;
    return 0;
}

static void sample_at(uint32_t number, uint64_t time_ns, bool kernel, uint32_t addresses)
{
    uint64_t address[40];
    for (uint32_t i = 0; i < addresses; i++)
        address[i] = (kernel ? KERNEL : 0x400000) + 16 * i;
    weft_kprof_take_sample(pc.k, &(struct weft_kprof_sample){.time_ns = time_ns,
                                                             .process = 100 + number,
                                                             .core = number,
                                                             .kernel = kernel,
                                                             .address = address,
                                                             .addresses = addresses});
}

static void ticks(uint32_t number, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        sample_at(number, ++pc.now_ns, false, 1);
}

static int start(void *data, struct weft_error *err)
{
    struct machine *m = data;
    if (m->broken)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "it is broken");
    assert_false(m->runs);
    m->runs = true;
    m->starts++;
    weft_kprof_take_process(m->k, m->now_ns, 7, "/bin/seven");
    weft_kprof_take_mapping(m->k, &(struct weft_kprof_mapping){.time_ns = m->now_ns,
                                                               .start = 0x400000,
                                                               .size = 0x1000,
                                                               .offset = 0x2000,
                                                               .process = 7,
                                                               .path = "/bin/seven"});
    return 0;
}

static void stop(void *data)
{
    struct machine *m = data;
    assert_true(m->runs);
    for (; m->pending > 0; m->pending--)
        sample_at(0, m->now_ns, false, 1);
    m->runs = false;
}

static uint64_t slowed(void *data)
{
    return ((struct machine *)data)->slowed;
}

static const char *name(void *data, uint64_t address)
{
    (void)data;
    return address == KERNEL ? "a_function_with_a_name_of_more_than_29" : NULL;
}

static void print(void *data, const char *line)
{
    struct machine *m = data;
    char expected[64];
    snprintf(expected, sizeof expected, "Enable tracing on %u", m->printed++ % CORES);
    assert_string_equal(line, expected);
}

static const struct weft_kprof_host host = {.cores = CORES,
                                            .data = &pc,
                                            .now = now,
                                            .core = core,
                                            .period = period,
                                            .start = start,
                                            .stop = stop,
                                            .slowed = slowed,
                                            .name = name,
                                            .print = print};

static struct weft_kprof *device(struct weft_kprof_options o)
{
    pc = (struct machine){.now_ns = 1000000000};
    assert_int_equal(weft_kprof_new(&pc.k, &o, &host), 0);
    return pc.k;
}

#define DEVICE(...) device((struct weft_kprof_options){__VA_ARGS__})

static const struct weft_kprof_writer root = {.uid = 0, .core = 2};

static int put(enum weft_kprof_file file, const char *text)
{
    return weft_kprof_write(pc.k, file, text, strlen(text), &root);
}

#define CTL(text) assert_int_equal(put(WEFT_KPROF_KPCTL, text), 0)

/* A text file, whole; until the next call. */
static const char *text_for(enum weft_kprof_file file, uint32_t uid)
{
    static char text[1u << 19];
    struct weft_kprof_handle *h = weft_kprof_open(pc.k, file, uid);
    size_t used = 0;
    ptrdiff_t n;
    while ((n = weft_kprof_read(h, text + used, sizeof text - 1 - used, used)) > 0)
        used += (size_t)n;
    assert_int_equal(n, 0);
    text[used] = 0;
    weft_kprof_close(h);
    return text;
}

static const char *text(enum weft_kprof_file file)
{
    return text_for(file, 0);
}

#define SAYS(file, part) assert_non_null(strstr(text(file), part))

static void refused(enum weft_kprof_file file, const char *command, int error, const char *why)
{
    char expected[300];
    assert_int_equal(put(file, command), -error);
    snprintf(expected, sizeof expected, "%s\n", why);
    assert_string_equal(text(WEFT_KPROF_ERROR), expected);
}

/* ---- Commands ---- */

#define USAGE "startclr|start|stop|clear|opstart|opstop|optimer"
#define OPTIMER "optimer [<0|1|..|n|all> <on|off>] [period USEC]"

TEST(commands)
{
    DEVICE(0);
    assert_string_equal(text(WEFT_KPROF_ERROR), "");
    CTL("optimer 1 on\n");
    assert_true(pc.on[1] && !pc.on[0]);
    CTL("optimer all on");
    assert_true(pc.on[0] && pc.on[2]);
    CTL("  optimer\t0   off \r\n");
    assert_false(pc.on[0]);
    SAYS(WEFT_KPROF_KPCTL, "timers: 1-3\nperiod: 1000\ncollecting: off\n");
    CTL("optimer period 10");
    assert_int_equal(pc.period_ns, 10000);
    CTL("optimer period 3600000000");
    assert_int_equal(pc.period_ns, UINT64_C(3600000000000));
    SAYS(WEFT_KPROF_KPCTL, "period: 3600000000\n");
    assert_false(pc.runs);
    CTL("opstart");
    CTL("opstart"); /* for nothing */
    assert_true(pc.runs);
    assert_int_equal(pc.starts, 1);
    assert_int_equal(pc.printed, CORES);
    SAYS(WEFT_KPROF_KPTRACE, "[1.000000000]:cpu3: Enable tracing on 3\n");
    SAYS(WEFT_KPROF_KPCTL, "collecting: on\n");
    CTL("opstop");
    CTL("opstop");
    assert_false(pc.runs);
    weft_kprof_free(pc.k);
}

TEST(garbage)
{
    static const char *const kpctl[] = {
        "",          "\n",          "opstarts",    "opstart now", "OPSTART",
        "stop stop", "optime 0 on", "start\nstop", "\x01",        "opstart\x7f",
    };
    static const char *const optimer[] = {
        "optimer",
        "optimer 0",
        "optimer all",
        "optimer x on",
        "optimer -1 on",
        "optimer 0x1 on",
        "optimer period",
        "optimer period -1",
        "optimer period 1e3",
        "optimer period 1000us",
        "optimer 0 on 1",
        "optimer 0 on period 1000",
        "optimer 0 on\nopstart",
    };
    DEVICE(0);
    for (size_t i = 0; i < COUNT(kpctl); i++)
        refused(WEFT_KPROF_KPCTL, kpctl[i], EINVAL, USAGE);
    for (size_t i = 0; i < COUNT(optimer); i++)
        refused(WEFT_KPROF_KPCTL, optimer[i], EINVAL, OPTIMER);
    refused(WEFT_KPROF_KPCTL, "optimer 0 maybe", EINVAL, "optimer needs on|off");
    refused(WEFT_KPROF_KPCTL, "optimer 4 on", ENXIO, "no such coreid 4");
    refused(WEFT_KPROF_KPCTL, "optimer 3 on", ENXIO, "no such coreid 3");
    refused(WEFT_KPROF_KPCTL, "optimer 4294967295 on", ENXIO, "no such coreid 4294967295");
    refused(WEFT_KPROF_KPCTL, "optimer 18446744073709551616 on", ENXIO,
            "no such coreid 18446744073709551616");
    static const char *const periods[] = {"0", "9", "3600000001", "18446744073709551615",
                                          "18446744073709551616"};
    for (size_t i = 0; i < COUNT(periods); i++) {
        char command[64], why[200];
        snprintf(command, sizeof command, "optimer period %s", periods[i]);
        snprintf(why, sizeof why, OPTIMER ": USEC is from 10 to 3600000000, not %s", periods[i]);
        refused(WEFT_KPROF_KPCTL, command, ERANGE, why);
    }
    refused(WEFT_KPROF_KPRINTX, "maybe", EINVAL, "on|off|toggle");
    refused(WEFT_KPROF_MPSTAT, "ipi", EINVAL, "reset|ipi [on|off]");
    refused(WEFT_KPROF_MPSTAT_RAW, "ipi maybe", EINVAL, "reset|ipi [on|off]");
    refused(WEFT_KPROF_ERROR, "x", EPERM, "error is only read");
    refused(WEFT_KPROF_KPDATA, "x", EPERM, "kpdata is only read");
    static char large[100000];
    memset(large, 'x', sizeof large);
    assert_int_equal(weft_kprof_write(pc.k, WEFT_KPROF_KPCTL, large, sizeof large, &root), -EINVAL);
    assert_int_equal(weft_kprof_write(pc.k, WEFT_KPROF_KPCTL, "opstart\0", 8, &root), -EINVAL);
    assert_false(pc.runs || pc.on[0] || pc.period_ns);
    SAYS(WEFT_KPROF_KPCTL, "timers: none\nperiod: 1000\n");
    pc.broken = true;
    refused(WEFT_KPROF_KPCTL, "optimer 0 on", EIO,
            "the timer of 0 cannot be switched: it is broken");
    refused(WEFT_KPROF_KPCTL, "optimer period 50", EIO, "the period cannot be 50: it is broken");
    refused(WEFT_KPROF_KPCTL, "opstart", EIO, "the timers cannot be started: it is broken");
    refused(WEFT_KPROF_KPCTL, "start", EIO, "the timers cannot be started: it is broken");
    SAYS(WEFT_KPROF_KPCTL, "timers: none\nperiod: 1000\ncollecting: off\n");
    weft_kprof_free(pc.k);
}

/* Each user finds his own error; that of the one who has not written for longest is forgotten. */
TEST(errors)
{
    DEVICE(0);
    for (uint32_t uid = 0; uid < 17; uid++)
        weft_kprof_write(pc.k, uid % 2 ? WEFT_KPROF_KPRINTX : WEFT_KPROF_KPCTL, "?", 1,
                         &(struct weft_kprof_writer){.uid = uid});
    assert_string_equal(text_for(WEFT_KPROF_ERROR, 0), "");
    assert_string_equal(text_for(WEFT_KPROF_ERROR, 1), "on|off|toggle\n");
    assert_string_equal(text_for(WEFT_KPROF_ERROR, 2), USAGE "\n");
    assert_string_equal(text_for(WEFT_KPROF_ERROR, 16), USAGE "\n");
    assert_string_equal(text_for(WEFT_KPROF_ERROR, 17), "");
    weft_kprof_free(pc.k);
}

/* ---- Samples ---- */

static struct weft_kprof_handle *reader(enum weft_kprof_file file)
{
    struct weft_kprof_handle *h = weft_kprof_open(pc.k, file, 0);
    assert_non_null(h);
    return h;
}

static uint64_t word(const uint8_t *bytes, size_t i)
{
    return weft_read_u64(bytes + 8 * i);
}

/* The timer and collecting, each by itself, are not enough. */
TEST(both_switches)
{
    uint8_t b[4096];
    DEVICE(0);
    struct weft_kprof_handle *h = reader(WEFT_KPROF_KPOPROFILE);
    assert_int_equal(weft_kprof_read(h, b, sizeof b, 0), 0);
    CTL("optimer 0 on");
    ticks(0, 3); /* not collecting */
    CTL("opstart");
    assert_int_equal(weft_kprof_read(h, b, sizeof b, 0), WEFT_KPROF_WAIT);
    assert_false(weft_kprof_ready(h));
    ticks(1, 3);                       /* its timer is off */
    sample_at(0, 900000000, false, 1); /* before opstart */
    pc.now_ns = 2000000000;
    sample_at(0, 1999999999, true, 40);
    sample_at(0, 2000000000, false, 40);
    assert_int_equal(weft_kprof_read(h, b, sizeof b, 0),
                     WEFT_KPROF_WAIT); /* in the core's buffer */
    pc.pending = 1;                    /* the last one comes with opstop */
    CTL("optimer 0 off");
    sample_at(0, 1999999999, false, 1); /* taken when it was on */
    sample_at(0, 2000000000, false, 1); /* not */
    pc.now_ns--;
    CTL("opstop");
    assert_int_equal(weft_kprof_read(h, b, sizeof b, 0), 8 * (18 + 3 + 3 + 3));
    assert_true(word(b, 0) == UINT64_C(0xEE01000000000010));
    assert_int_equal(word(b, 1), 1999999999);
    for (size_t i = 0; i < 16; i++)
        assert_true(word(b, 2 + i) == KERNEL + 16 * i);
    assert_true(word(b, 18) == UINT64_C(0xEE01000000000001));
    assert_int_equal(word(b, 19), 2000000000);
    assert_int_equal(word(b, 20), 0x400000);
    assert_int_equal(weft_kprof_read(h, b, sizeof b, 0), 0);
    ticks(0, 3);
    assert_int_equal(weft_kprof_read(h, b, sizeof b, 0), 0);
    SAYS(WEFT_KPROF_KPCTL, "samples: 4, 0 lost before they came here\n");
    SAYS(WEFT_KPROF_KPCTL, "kpoprofile: 0 records queued (0 of 67108864 bytes), 0 in cores' "
                           "buffers, 0 dropped\n");
    weft_kprof_close(h);
    weft_kprof_free(pc.k);
}

TEST(user_stacks)
{
    uint8_t b[4096];
    DEVICE(.user_frames = 5);
    CTL("optimer 2 on");
    CTL("opstart");
    sample_at(2, pc.now_ns, false, 40);
    sample_at(2, pc.now_ns, false, 4);
    CTL("opstop");
    struct weft_kprof_handle *h = reader(WEFT_KPROF_KPOPROFILE);
    assert_int_equal(weft_kprof_read(h, b, sizeof b, 0), 8 * (7 + 6));
    assert_true(word(b, 0) == UINT64_C(0xEE01000000020005));
    assert_true(word(b, 7) == UINT64_C(0xEE01000000020004));
    weft_kprof_close(h);
    weft_kprof_free(pc.k);
}

/* The buffer of a core gets into the queue when it is full, and when it has waited long enough. */
TEST(buffers)
{
    static uint8_t b[1u << 20];
    DEVICE(0);
    struct weft_kprof_handle *h = reader(WEFT_KPROF_KPOPROFILE);
    CTL("optimer all on");
    CTL("opstart");
    ticks(0, 10);
    weft_kprof_flush(pc.k);
    assert_false(weft_kprof_ready(h));
    pc.now_ns += 199999990;
    weft_kprof_flush(pc.k);
    assert_false(weft_kprof_ready(h));
    pc.now_ns += 10;
    weft_kprof_flush(pc.k);
    assert_true(weft_kprof_ready(h));
    assert_int_equal(weft_kprof_read(h, b, sizeof b, 0), 240);
    for (uint32_t n = 1; !weft_kprof_ready(h); n++) {
        ticks(1, 1);
        assert_true(n <= 16384 / 24);
    }
    assert_true(weft_kprof_read(h, b, sizeof b, 0) >= 12000);
    weft_kprof_close(h);
    weft_kprof_end(pc.k);
    weft_kprof_free(pc.k);
}

TEST(full)
{
    static uint8_t b[1u << 20];
    DEVICE(.queue_bytes = 240);
    CTL("optimer 0 on");
    CTL("opstart");
    ticks(0, 5000);
    weft_kprof_take_lost(pc.k, 7);
    pc.slowed = 3;
    CTL("opstop");
    SAYS(WEFT_KPROF_KPCTL, "timers slowed down: 3 times\n");
    SAYS(WEFT_KPROF_KPTRACE, "the kernel slowed the timers down 3 times");
    weft_kprof_take_lost(pc.k, 7); /* nobody's */
    SAYS(WEFT_KPROF_KPCTL, "samples: 5000, 7 lost before they came here\n");
    SAYS(WEFT_KPROF_KPCTL, "kpoprofile: 10 records queued (240 of 240 bytes), 0 in cores' buffers, "
                           "4990 dropped\n");
    SAYS(WEFT_KPROF_KPTRACE, "the queue of kpoprofile is full: what comes is dropped");
    refused(WEFT_KPROF_KPOPROFILE, "1", ENOBUFS, "the queue is full");
    struct weft_kprof_handle *h = reader(WEFT_KPROF_KPOPROFILE);
    assert_int_equal(weft_kprof_read(h, b, sizeof b, 0), 240);
    assert_int_equal(word(b, 1), 1000000001); /* the first ones are kept */
    CTL("opstart");
    SAYS(WEFT_KPROF_KPCTL, "timers slowed down: 0 times\n");
    ticks(0, 1);
    CTL("opstop");
    assert_int_equal(weft_kprof_read(h, b, sizeof b, 0), 24);
    weft_kprof_close(h);
    weft_kprof_free(pc.k);
}

TEST(by_hand)
{
    uint8_t b[4096];
    static const char *const wrong[] = {"", "x", "0x", "0xg", "1 2", "-1", "1.5", "+1"};
    DEVICE(0);
    for (size_t i = 0; i < COUNT(wrong); i++)
        refused(WEFT_KPROF_KPOPROFILE, wrong[i], EINVAL,
                "expected one address, as 0xffffffff81000000 or decimal");
    refused(WEFT_KPROF_KPOPROFILE, "18446744073709551616", ERANGE,
            "an address has at most 64 bits");
    assert_int_equal(put(WEFT_KPROF_KPOPROFILE, "0xFFFFffff81000000\n"), 0);
    assert_int_equal(put(WEFT_KPROF_KPOPROFILE, "18446744073709551615"), 0);
    assert_int_equal(put(WEFT_KPROF_KPOPROFILE, "0"), 0);
    struct weft_kprof_handle *h = reader(WEFT_KPROF_KPOPROFILE);
    assert_int_equal(weft_kprof_read(h, b, sizeof b, 0), 72);
    assert_true(word(b, 0) == UINT64_C(0xEE01000000020001)); /* the writer's core */
    assert_int_equal(word(b, 1), 1000000000);
    assert_true(word(b, 2) == KERNEL);
    assert_true(word(b, 5) == UINT64_MAX);
    assert_true(word(b, 8) == 0);
    weft_kprof_close(h);
    weft_kprof_free(pc.k);
}

/* ---- Readers ---- */

TEST(small_reads)
{
    uint8_t whole[4096], b[4096];
    size_t sizes[] = {1, 3, 8, 23, 24, 25, 47, 48, 100, 151, 152, 153};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        DEVICE(0);
        CTL("optimer 0 on");
        CTL("opstart");
        struct weft_kprof_handle *h = reader(WEFT_KPROF_KPOPROFILE);
        for (uint32_t i = 0; i < 12; i++) {
            sample_at(0, pc.now_ns + i, i % 3 == 0, 17);
        }
        CTL("opstop");
        size_t used = 0;
        ptrdiff_t n;
        while ((n = weft_kprof_read(h, whole + used, sizes[s], 0)) > 0) {
            assert_true((size_t)n <= sizes[s]);
            used += (size_t)n;
        }
        assert_int_equal(used, 4 * 144 + 8 * 24);
        for (size_t at = 0, i = 0; at < used; i++) {
            assert_int_equal(word(whole + at, 1), 1000000000 + i);
            at += 16 + 8 * (size_t)whole[at];
        }
        weft_kprof_close(h);
        /* From a buffer that has room for some, whole ones. */
        CTL("opstart");
        ticks(0, 3);
        CTL("opstop");
        h = reader(WEFT_KPROF_KPOPROFILE);
        assert_int_equal(weft_kprof_read(h, b, 60, 0), 48);
        assert_int_equal(weft_kprof_read(h, b, 60, 0), 24);
        weft_kprof_close(h);
        weft_kprof_free(pc.k);
    }
}

/* Each record goes to one reader; one that is left in the middle is there again, from its beginning. */
TEST(two_readers)
{
    uint8_t a[100], b[100], rest[200];
    DEVICE(0);
    CTL("optimer 0 on");
    CTL("opstart");
    struct weft_kprof_handle *one = reader(WEFT_KPROF_KPOPROFILE),
                             *two = reader(WEFT_KPROF_KPOPROFILE);
    ticks(0, 4);
    weft_kprof_write(pc.k, WEFT_KPROF_KPCTL, "opstop", 6, &root);
    assert_int_equal(weft_kprof_read(one, a, 10, 0), 10);
    assert_int_equal(weft_kprof_read(two, b, 24, 0), 24);
    assert_int_equal(weft_kprof_read(one, a + 10, 20, 0), 14); /* the rest, and no half one */
    assert_int_equal(word(a, 1), 1000000001);
    assert_int_equal(word(b, 1), 1000000002);
    assert_int_equal(weft_kprof_read(one, a, 7, 0), 7);
    assert_int_equal(weft_kprof_read(two, b, 5, 0), 5);
    SAYS(WEFT_KPROF_KPCTL, "kpoprofile: 0 records queued (0 of");
    CTL("opstart");
    assert_true(weft_kprof_ready(one)); /* it has the rest of one */
    weft_kprof_close(two);              /* killed */
    weft_kprof_close(one);
    two = reader(WEFT_KPROF_KPOPROFILE);
    SAYS(WEFT_KPROF_KPCTL, "kpoprofile: 2 records queued (48 of");
    assert_int_equal(weft_kprof_read(two, rest, sizeof rest, 0), 48);
    assert_int_equal(word(rest, 1), 1000000003);
    assert_int_equal(word(rest, 4), 1000000004);
    assert_int_equal(weft_kprof_read(two, rest, sizeof rest, 0), WEFT_KPROF_WAIT);
    weft_kprof_end(pc.k);
    assert_int_equal(weft_kprof_read(two, rest, sizeof rest, 0), 0);
    weft_kprof_close(two);
    weft_kprof_free(pc.k);
}

/* Much more than a block of the queue, read by sizes that fit nothing. */
TEST(long_queue)
{
    struct kprof_queue q;
    struct kprof_queue_reader r = {0};
    uint8_t record[3000], b[2500];
    uint64_t put_bytes = 0, got = 0;
    uint32_t random = 1, next = 0;
    kprof_queue_init(&q, 1u << 30);
    for (uint32_t i = 0; i < 3000; i++) {
        random = random * 1103515245 + 12345;
        uint32_t bytes = 1 + (random >> 8) % (uint32_t)sizeof record;
        memset(record, (int)(i & 0xff), bytes);
        assert_true(kprof_queue_put(&q, record, bytes));
        put_bytes += bytes;
    }
    assert_int_equal(q.bytes, put_bytes);
    ptrdiff_t n;
    while ((n = kprof_queue_read(&q, &r, b, 1 + got % sizeof b)) > 0) {
        for (ptrdiff_t i = 0; i < n; i++) { /* in order */
            assert_true(b[i] == (next & 0xff) || b[i] == ((next + 1) & 0xff));
            next += b[i] != (next & 0xff);
        }
        got += (uint64_t)n;
    }
    assert_int_equal(got, put_bytes);
    assert_true(kprof_queue_empty(&q, &r));
    assert_int_equal(q.bytes, 0);
    assert_null(q.first);
    kprof_queue_fini(&q);
}

/* ---- kpdata ---- */

TEST(records)
{
    uint8_t b[4096];
    DEVICE(0);
    CTL("optimer 1 on");
    CTL("opstart");
    ticks(1, 1);
    sample_at(1, ++pc.now_ns, true, 20);
    weft_kprof_take_mapping(
        pc.k, &(struct weft_kprof_mapping){.time_ns = 5, .path = "/older/than/opstart"});
    CTL("opstop");
    struct weft_kprof_handle *h = reader(WEFT_KPROF_KPDATA);
    assert_int_equal(weft_kprof_read(h, b, sizeof b, 0), 25 + 49 + 34 + 2 + 1 + 152);
    const uint8_t *at = b;
    assert_int_equal(at[0], 4);
    assert_int_equal(at[1], 23);
    assert_int_equal(word(at + 2, 0), 1000000000);
    assert_int_equal(weft_read_u32(at + 10), 7);
    assert_string_equal((const char *)at + 14, "/bin/seven");
    at += 25;
    assert_int_equal(at[0], 3);
    assert_int_equal(at[1], 47);
    assert_int_equal(word(at + 2, 1), 0x400000);
    assert_int_equal(word(at + 2, 2), 0x1000);
    assert_int_equal(word(at + 2, 3), 0x2000);
    assert_int_equal(weft_read_u32(at + 34), 7);
    assert_string_equal((const char *)at + 38, "/bin/seven");
    at += 49;
    assert_int_equal(at[0], 2); /* of a program */
    assert_int_equal(at[1], 32);
    assert_int_equal(word(at + 2, 1), 1000000001);
    assert_int_equal(weft_read_u32(at + 18), 101);
    assert_int_equal(weft_read_u16(at + 22), 1);
    assert_int_equal(weft_read_u16(at + 24), 1);
    assert_int_equal(word(at + 26, 0), 0x400000);
    at += 34;
    assert_int_equal(at[0], 1); /* of the kernel: 152 bytes */
    assert_int_equal(at[1], 0x80 | 24);
    assert_int_equal(at[2], 1);
    assert_int_equal(weft_read_u16(at + 3 + 22), 16);
    assert_true(word(at + 3 + 24, 15) == KERNEL + 16 * 15);
    weft_kprof_close(h);
    h = reader(WEFT_KPROF_KPOPROFILE); /* a queue of its own */
    assert_int_equal(weft_kprof_read(h, b, sizeof b, 0), 24 + 144);
    weft_kprof_close(h);
    weft_kprof_free(pc.k);
}

#define LINE(address, name, ticks) address " " name " " ticks "\n"
#define EMPTY                                                                                      \
    LINE("0000000000000000", "                        Total", "0000000000000000")                  \
    LINE("0000000000000000", "                         User", "0000000000000000")

TEST(histogram)
{
    uint8_t b[512];
    DEVICE(0);
    CTL("optimer 0 on");
    SAYS(WEFT_KPROF_KPCTL, "kpdata is: records\n");
    CTL("startclr");
    assert_string_equal(text(WEFT_KPROF_KPDATA), EMPTY);
    ticks(0, 3);
    ticks(1, 3); /* its timer is off */
    for (unsigned i = 0; i < 17; i++)
        sample_at(0, pc.now_ns, true, 2);
    CTL("stop");
    assert_false(pc.runs);
    ticks(0, 3);
    const char *expected =
        LINE("0000000000000000", "                        Total", "0000000000000014")
            LINE("0000000000000000", "                         User", "0000000000000003")
                LINE("ffffffff81000000", "a_function_with_a_name_of_mor", "0000000000000011");
    assert_string_equal(text(WEFT_KPROF_KPDATA), expected);
    CTL("start"); /* goes on */
    CTL("opstart");
    assert_int_equal(pc.starts, 3); /* once more, to be told the mappings */
    sample_at(0, ++pc.now_ns, true, 1);
    CTL("opstop");
    assert_true(pc.runs);
    sample_at(0, pc.now_ns, true, 1);
    CTL("stop");
    SAYS(WEFT_KPROF_KPDATA, "a_function_with_a_name_of_mor 0000000000000013\n");
    struct weft_kprof_handle *old = reader(WEFT_KPROF_KPDATA);
    CTL("clear");
    SAYS(WEFT_KPROF_KPCTL, "kpdata is: records\n");
    struct weft_kprof_handle *h = reader(WEFT_KPROF_KPDATA);
    assert_int_equal(weft_kprof_read(h, b, sizeof b, 0), 25 + 49 + 34);
    assert_int_equal(weft_kprof_read(old, b, sizeof b, 0), sizeof EMPTY - 1); /* what it was */
    weft_kprof_close(h);
    weft_kprof_close(old);
    weft_kprof_free(pc.k);
}

TEST(histogram_only)
{
    DEVICE(.kpdata = WEFT_KPROF_HISTOGRAM);
    CTL("optimer 0 on");
    assert_string_equal(text(WEFT_KPROF_KPDATA), EMPTY);
    CTL("opstart");
    ticks(0, 5);
    CTL("opstop");
    assert_string_equal(text(WEFT_KPROF_KPDATA), EMPTY);
    CTL("clear");
    assert_string_equal(text(WEFT_KPROF_KPDATA), EMPTY);
    weft_kprof_free(pc.k);
    DEVICE(.kpdata = WEFT_KPROF_RECORDS);
    refused(WEFT_KPROF_KPCTL, "startclr", EOPNOTSUPP,
            "there is no histogram: kpdata is the record stream");
    weft_kprof_free(pc.k);
}

/* More addresses than are kept are counted all the same. */
TEST(many_addresses)
{
    struct kprof_histogram h = {0};
    for (uint64_t i = 0; i < KPROF_HISTOGRAM_ADDRESSES + 5; i++)
        kprof_histogram_tick(&h, KERNEL + i);
    kprof_histogram_tick(&h, KERNEL + 9);
    kprof_histogram_outside(&h);
    assert_int_equal(h.used, KPROF_HISTOGRAM_ADDRESSES);
    assert_int_equal(h.unplaced, 5);
    assert_int_equal(h.total, KPROF_HISTOGRAM_ADDRESSES + 7);
    kprof_histogram_fini(&h);
}

/* ---- Texts ---- */

TEST(trace)
{
    static char line[2000];
    DEVICE(0);
    pc.now_ns = 12000000345;
    assert_int_equal(put(WEFT_KPROF_KPTRACE, "one\ntwo \x1b[31m\n"), 0);
    const char *both = "[12.000000345]:cpu2: one\n[12.000000345]:cpu2: two ?[31m\n";
    assert_string_equal(text(WEFT_KPROF_KPTRACE), both);
    struct weft_kprof_handle *h = reader(WEFT_KPROF_KPTRACE);
    assert_int_equal(weft_kprof_read(h, line, 10, 0), 10);
    assert_int_equal(weft_kprof_read(h, line, sizeof line, 10), strlen(both) - 10);
    assert_int_equal(weft_kprof_read(h, line, sizeof line, strlen(both)), 0);
    memset(line, 'x', sizeof line);
    for (unsigned i = 0; i < 1000; i++) /* it is bounded, and so is a line */
        assert_int_equal(weft_kprof_write(pc.k, WEFT_KPROF_KPTRACE, line, sizeof line, &root), 0);
    size_t bytes = strlen(text(WEFT_KPROF_KPTRACE));
    assert_true(bytes <= KPROF_LOG_BYTES && bytes > KPROF_LOG_BYTES - 2 * KPROF_LOG_LINE);
    assert_int_equal(bytes % KPROF_LOG_LINE, 0);
    assert_int_equal(text(WEFT_KPROF_KPTRACE)[0], '[');
    /* A reader that was overtaken goes on with the oldest line. */
    assert_int_equal(weft_kprof_read(h, line, 21, strlen(both)), 21);
    assert_memory_equal(line, "[12.000000345]:cpu2: x", 21);
    assert_true(weft_kprof_read(h, line, sizeof line, UINT64_MAX) == 0);
    weft_kprof_close(h);
    weft_kprof_free(pc.k);
}

TEST(printx)
{
    DEVICE(0);
    assert_string_equal(text(WEFT_KPROF_KPRINTX), "off\n");
    CTL("optimer 0 on");
    assert_string_equal(text(WEFT_KPROF_KPTRACE), "");
    assert_int_equal(put(WEFT_KPROF_KPRINTX, "toggle\n"), 0);
    assert_string_equal(text(WEFT_KPROF_KPRINTX), "on\n");
    CTL("optimer 0 off\n");
    put(WEFT_KPROF_KPCTL, "?");
    assert_string_equal(text(WEFT_KPROF_KPTRACE),
                        "[1.000000000]:cpu2: kpctl: optimer 0 off\n[1.000000000]:cpu2: kpctl: ?\n"
                        "[1.000000000]:cpu2: refused: " USAGE "\n");
    assert_int_equal(put(WEFT_KPROF_KPRINTX, "off"), 0);
    assert_string_equal(text(WEFT_KPROF_KPRINTX), "off\n");
    weft_kprof_free(pc.k);
}

static void stat_says(const char *path, const char *what)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(what, f);
    fclose(f);
}

TEST(mpstat)
{
    char path[] = "/tmp/test_kprof-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    DEVICE(.stat = path, .ticks_a_second = 100);
    stat_says(path,
              "cpu  1 2 3\ncpu0 100 20 30 400 50 6 7 8 9 9\ncpu2 1 1 1 1\ncpu9 1 2 3 4\nintr 5\n");
    assert_string_equal(text(WEFT_KPROF_MPSTAT_RAW),
                        "version 1, 100 ticks a second: core irq kern user idle\n"
                        "0 13 30 120 458\n2 0 1 2 1\n");
    assert_int_equal(put(WEFT_KPROF_MPSTAT_RAW, "reset\n"), 0);
    stat_says(path, "cpu0 200 20 40 480 49 6 17 8 9 9\n");
    assert_string_equal(
        text(WEFT_KPROF_MPSTAT),
        "  CPU:                 irq                kern                user                idle\n"
        "    0:         0.10 (  5%)         0.10 (  5%)         1.00 ( 50%)         0.79 ( 40%)\n");
    assert_int_equal(put(WEFT_KPROF_MPSTAT, "ipi on"), 0);
    SAYS(WEFT_KPROF_KPCTL, "mpstat ipi: on\n");
    unlink(path);
    struct weft_kprof_handle *h = reader(WEFT_KPROF_MPSTAT);
    char b[16];
    assert_int_equal(weft_kprof_read(h, b, sizeof b, 0), -EIO);
    weft_kprof_close(h);
    assert_int_equal(put(WEFT_KPROF_MPSTAT, "reset"), -EIO);
    SAYS(WEFT_KPROF_ERROR, "cannot be read");
    weft_kprof_free(pc.k);
}

/* ---- No memory ---- */

/* All that a session does. Returns whether everything came out. */
static bool session(void)
{
    uint8_t b[4096];
    struct weft_kprof_options o = {0};
    pc = (struct machine){.now_ns = 1000000000};
    if (weft_kprof_new(&pc.k, &o, &host) < 0)
        return false;
    CTL("optimer all on");
    CTL("startclr");
    CTL("opstart");
    ticks(0, 3);
    sample_at(1, pc.now_ns, true, 3);
    CTL("opstop");
    CTL("stop");
    CTL("clear"); /* the texts' memory is libc's own, which is not counted */
    bool ok = true;
    for (enum weft_kprof_file f = WEFT_KPROF_KPOPROFILE; f <= WEFT_KPROF_KPDATA; f++) {
        struct weft_kprof_handle *h = weft_kprof_open(pc.k, f, 0);
        ptrdiff_t small = h ? weft_kprof_read(h, b, 10, 0) : -1;
        ptrdiff_t n = h ? weft_kprof_read(h, b, sizeof b, 0) : -1;
        ok &= small == 10 && n > 0;
        if (h)
            weft_kprof_close(h);
    }
    weft_kprof_end(pc.k);
    weft_kprof_free(pc.k);
    return ok;
}

TEST(out_of_memory)
{
    for (long n = 1; n < 100; n++) {
        long before = live;
        fail_at = n;
        bool ok = session();
        bool failed = fail_at == 0;
        fail_at = 0;
        assert_int_equal(live, before);
        if (!failed) {
            assert_true(ok);
            assert_true(n > 8);
            return;
        }
    }
    fail();
}

RUN_TESTS(NULL, NULL)
