/* SPDX-License-Identifier: ISC */
/* Any lines as what happens to Akaros's profiling device: nothing crashes, texts are harmless, and the streams that come
 * out of it are read to their ends.
 *
 * The first line: two bytes for the options, and /proc/stat, with ; for a line feed. After it, by the first byte: 0 to 7:
 * the rest is written into that file; see act for the others. */
#include <string.h>

#include "kprof/device.h"
#include "profile/foreign.h"
#include "require.h"

enum { CORES = 4, HANDLES = 4, STEPS_MAX = 400, STREAM_BYTES = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct machine {
    struct weft_kprof *k;
    struct weft_kprof_handle *handle[HANDLES];
    enum weft_kprof_file file[HANDLES];
    uint64_t offset[HANDLES], now_ns, slowed;
    bool runs, broken;
    uint64_t lost;
};

static struct { /* what one reader of kpoprofile got, from the beginning on */
    uint8_t bytes[STREAM_BYTES];
    size_t used;
    bool whole;
} stream;

/* ---- The machine ---- */

static uint64_t now(void *data)
{
    return ((struct machine *)data)->now_ns;
}

static int trouble(struct machine *m, struct weft_error *err)
{
    return m->broken ? weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "it is broken") : 0;
}

static int core(void *data, uint32_t number, bool on, struct weft_error *err)
{
    (void)on;
    return number == 3 ? WEFT_E_INVALID : trouble(data, err);
}

static int period(void *data, uint64_t ns, struct weft_error *err)
{
    REQUIRE(ns >= 10000);
    return trouble(data, err);
}

static int start(void *data, struct weft_error *err)
{
    struct machine *m = data;
    REQUIRE(!m->runs);
    m->runs = !m->broken;
    if (m->runs)
        weft_kprof_take_process(m->k, m->now_ns, 7, "/bin/seven");
    return trouble(m, err);
}

static void stop(void *data)
{
    struct machine *m = data;
    REQUIRE(m->runs);
    m->runs = false;
}

static uint64_t slowed(void *data)
{
    return ((struct machine *)data)->slowed;
}

static const char *name(void *data, uint64_t address)
{
    (void)data;
    return address & 16 ? "a_function" : NULL;
}

static void require_harmless(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        REQUIRE(text[i] == '\n' || text[i] == '\t' ||
                ((unsigned char)text[i] >= 0x20 && text[i] != 0x7f));
}

static void print(void *data, const char *line)
{
    (void)data;
    require_harmless(line, strlen(line));
}

/* ---- What happens ---- */

static unsigned byte(const uint8_t *rest, size_t size, size_t at)
{
    return at < size ? rest[at] : 0;
}

static void take_sample(struct machine *m, const uint8_t *rest, size_t size)
{
    uint64_t address[KPROF_STREAM_FRAMES];
    struct weft_kprof_sample s = {.time_ns = m->now_ns,
                                  .process = byte(rest, size, 0),
                                  .core = byte(rest, size, 1) % CORES,
                                  .kernel = byte(rest, size, 2) % 2,
                                  .address = address,
                                  .addresses = 1 + byte(rest, size, 3) % KPROF_STREAM_FRAMES};
    for (uint32_t i = 0; i < s.addresses; i++)
        address[i] =
            (s.kernel ? UINT64_C(0xffffffff81000000) : 0x400000) + 16 * byte(rest, size, 4) + i;
    unsigned count = 1 + byte(rest, size, 5) * 16;
    for (unsigned i = 0; i < count && m->runs; i++)
        weft_kprof_take_sample(m->k, &s);
}

static void read_some(struct machine *m, unsigned i, size_t most)
{
    static uint8_t bytes[1 << 16];
    struct weft_kprof_handle *h = m->handle[i];
    if (!h)
        return;
    bool ready = weft_kprof_ready(h);
    ptrdiff_t n = weft_kprof_read(h, bytes, most, m->offset[i]);
    REQUIRE(n <= (ptrdiff_t)most && (n != WEFT_KPROF_WAIT || !ready || !most));
    if (n <= 0)
        return;
    m->offset[i] += (uint64_t)n;
    enum weft_kprof_file file = m->file[i];
    if (file == WEFT_KPROF_KPOPROFILE && i == 0) {
        stream.whole &= (size_t)n <= sizeof stream.bytes - stream.used;
        if (stream.whole) {
            memcpy(stream.bytes + stream.used, bytes, (size_t)n);
            stream.used += (size_t)n;
        }
    } else if (file != WEFT_KPROF_KPOPROFILE && file != WEFT_KPROF_KPDATA) {
        require_harmless((char *)bytes, (size_t)n);
    }
}

static void open_file(struct machine *m, unsigned i, enum weft_kprof_file file, uint32_t uid)
{
    if (m->handle[i])
        weft_kprof_close(m->handle[i]);
    m->handle[i] = weft_kprof_open(m->k, file, uid);
    m->file[i] = file;
    m->offset[i] = 0;
    REQUIRE(m->handle[i]);
}

static void act(struct machine *m, char what, const uint8_t *rest, size_t size)
{
    char path[256];
    const struct weft_kprof_writer who = {.uid = (uint32_t)size % 3, .core = 2};
    unsigned first = byte(rest, size, 0), second = byte(rest, size, 1);
    unsigned handle = 1 + first % (HANDLES - 1);
    snprintf(path, sizeof path, "%.*s", (int)(size < 200 ? size : 200), (const char *)rest);
    switch (what) {
    case 's':
        take_sample(m, rest, size);
        break;
    case 't': /* time passes */
        m->now_ns += (uint64_t)first << second % 24;
        weft_kprof_flush(m->k);
        break;
    case 'o':
        open_file(m, handle, second % WEFT_KPROF_FILES, (uint32_t)size % 3);
        break;
    case 'c':
        if (m->handle[handle])
            weft_kprof_close(m->handle[handle]);
        m->handle[handle] = NULL;
        break;
    case 'r':
        read_some(m, handle, second * second);
        break;
    case 'R': /* all that there is of the stream */
        read_some(m, 0, 1 << 16);
        break;
    case 'm':
        if (m->runs && weft_kprof_wants_mappings(m->k))
            weft_kprof_take_mapping(m->k, &(struct weft_kprof_mapping){.time_ns = m->now_ns,
                                                                       .start = first * 4096u,
                                                                       .size = second * 4096u,
                                                                       .process = 7,
                                                                       .path = path});
        break;
    case 'p':
        if (m->runs)
            weft_kprof_take_process(m->k, m->now_ns, first, path);
        break;
    case 'l':
        weft_kprof_take_lost(m->k, first);
        break;
    case '!':
        weft_kprof_take_trouble(m->k, path);
        break;
    case 'b':
        m->broken = !m->broken;
        m->slowed += first;
        break;
    default:
        if (what >= '0' && what <= '7') {
            int rc = weft_kprof_write(m->k, (enum weft_kprof_file)(what - '0'), (const char *)rest,
                                      size, &who);
            REQUIRE(rc <= 0);
        }
        break;
    }
}

/* What came out is a stream of Akaros's, whole. */
static void check_stream(void)
{
    const struct weft_foreign_options o = {.kind = WEFT_FOREIGN_AKAROS};
    struct weft_foreign_facts facts;
    struct weft_error err = {.code = 0};
    struct weft_input in;
    if (!stream.used || !stream.whole)
        return;
    struct weft_profile *p = weft_profile_new();
    REQUIRE(p && weft_input_open(&in, try_file(stream.bytes, stream.used), &err) == 0);
    int rc = weft_profile_load_foreign(p, &in, &o, &facts, &err);
    if (rc < 0)
        fprintf(stderr, "%s at %llu\n", err.text, (unsigned long long)err.offset);
    REQUIRE(rc == 0 && weft_profile_finish(p) == 0);
    weft_input_close(&in);
    weft_profile_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct machine m;
    const uint8_t *end = data + size, *line = memchr(data, '\n', size);
    if (!line || line - data < 2)
        return 0;
    char stat[512];
    size_t stats =
        (size_t)(line - data) - 2 < sizeof stat ? (size_t)(line - data) - 2 : sizeof stat;
    for (size_t i = 0; i < stats; i++)
        stat[i] = (char)(data[2 + i] == ';' ? '\n' : data[2 + i]);
    char path[64];
    snprintf(path, sizeof path, "%s", try_file(stat, stats));
    const struct weft_kprof_options o = {.kpdata = data[0] % 3,
                                         .queue_bytes = data[1] % 4 ? 0 : 1 << 16,
                                         .user_frames = data[1] / 4 % 32,
                                         .stat = path};
    const struct weft_kprof_host host = {.cores = CORES,
                                         .data = &m,
                                         .now = now,
                                         .core = core,
                                         .period = period,
                                         .start = start,
                                         .stop = stop,
                                         .slowed = slowed,
                                         .name = name,
                                         .print = print};
    m = (struct machine){.now_ns = 1000000000};
    stream.used = 0;
    stream.whole = true;
    REQUIRE(weft_kprof_new(&m.k, &o, &host) == 0);
    open_file(&m, 0, WEFT_KPROF_KPOPROFILE, 0);
    unsigned steps = 0;
    for (const uint8_t *at = line + 1; at < end && steps < STEPS_MAX; steps++) {
        const uint8_t *stop_at = memchr(at, '\n', (size_t)(end - at));
        stop_at = stop_at ? stop_at : end;
        if (stop_at > at)
            act(&m, (char)*at, at + 1, (size_t)(stop_at - at) - 1);
        at = stop_at + 1;
    }
    weft_kprof_end(m.k);
    for (size_t before = SIZE_MAX; before != stream.used;) {
        before = stream.used;
        read_some(&m, 0, 1 << 16);
    }
    for (unsigned i = 0; i < HANDLES; i++)
        if (m.handle[i])
            weft_kprof_close(m.handle[i]);
    weft_kprof_free(m.k);
    check_stream();
    return 0;
}
