/* SPDX-License-Identifier: ISC */
/* Damaged copies of traces, taken through everything that reads one:
 *
 *     mutants FIRST COUNT TRACE...        tries the mutants FIRST to FIRST + COUNT - 1
 *     mutants --write N OUT TRACE...      writes one into a file
 *
 * The same number and traces always give the same mutant. Fails where try.h does, and where memory or
 * time are out of proportion to the bytes. */
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "fuzz/try.h"

enum { SECONDS_MAX = 60, TRACES_MAX = 32 };

/* ---- Memory: linked with --wrap=malloc and so on ---- */

static _Atomic size_t live_bytes, peak_bytes; /* large work is done by two threads */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *p);

static void *count(void *p)
{
    const size_t size = malloc_usable_size(p), live = atomic_fetch_add(&live_bytes, size) + size;
    size_t peak = peak_bytes;
    while (peak < live && !atomic_compare_exchange_weak(&peak_bytes, &peak, live))
        continue;
    return p;
}

void *__wrap_malloc(size_t size)
{
    return count(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return count(__real_calloc(n, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    size_t before = malloc_usable_size(old);
    void *p = __real_realloc(old, size);
    if (!p)
        return NULL;
    live_bytes -= before;
    return count(p);
}

void __wrap_free(void *p)
{
    live_bytes -= malloc_usable_size(p);
    __real_free(p);
}

/* The fixed part is the reader's window and a picture with its texts; the other, for each byte, that of
 * an event of 26 bytes which mentions two promises that nobody else does. */
static size_t most_bytes(size_t size)
{
    return (3 << 20) + 40 * size;
}

/* ---- Mutation ---- */

struct blob {
    unsigned char *bytes;
    size_t size, room;
};

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state >> 12; /* xorshift64* */
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    uint64_t r = random_state * 0x2545f4914f6cdd1du;
    return limit ? (r >> 11) % limit : 0;
}

/* Puts size bytes in the place of what stands from at to end. */
static void splice(struct blob *b, size_t at, size_t end, const void *bytes, size_t size)
{
    size_t grown = b->size - (end - at) + size;
    if (grown > b->room) {
        b->room = grown * 2;
        b->bytes = realloc(b->bytes, b->room);
        REQUIRE(b->bytes);
    }
    unsigned char *copy = malloc(size + 1);
    REQUIRE(copy);
    if (size)
        memcpy(copy, bytes, size);
    memmove(b->bytes + at + size, b->bytes + end, b->size - end);
    memcpy(b->bytes + at, copy, size);
    free(copy);
    b->size = grown;
}

/* The offsets of up to room marks; where there is none, of the file itself. */
static size_t find_marks(const struct blob *b, size_t *at, size_t room)
{
    size_t n = 0;
    const unsigned char *p = b->bytes, *end = p + b->size;
    while (n < room && (p = memmem(p, (size_t)(end - p), WEFT_MIRAGE_MARK, WEFT_MIRAGE_MARK_SIZE)))
        at[n++] = (size_t)(p++ - b->bytes);
    if (n == 0)
        at[n++] = 0;
    return n;
}

enum { MARKS = 64 };

static size_t any_mark(const struct blob *b)
{
    size_t at[MARKS], n = find_marks(b, at, MARKS);
    return at[random_below(n)];
}

/* A place near something that matters, or anywhere. */
static size_t any_place(const struct blob *b)
{
    size_t at = random_below(b->size + 1);
    switch (random_below(4)) {
    case 0: /* in a header */
        at = any_mark(b) + random_below(WEFT_MIRAGE_HEADER_SIZE + 9);
        break;
    case 1: { /* where the content of a packet ends */
        size_t mark = any_mark(b);
        if (mark + WEFT_MIRAGE_HEADER_SIZE <= b->size)
            at = mark + weft_mirage_header_read(b->bytes + mark).content_bits / 8 +
                 random_below(40) - 20;
        break;
    }
    case 2: /* among the first events */
        at = any_mark(b) + WEFT_MIRAGE_HEADER_SIZE + random_below(2000);
        break;
    default:
        break;
    }
    return at <= b->size ? at : random_below(b->size + 1);
}

static void flip_bits(struct blob *b)
{
    for (uint64_t n = 1 + random_below(1 + random_below(40)); n-- && b->size;) {
        size_t at = any_place(b);
        if (at < b->size)
            b->bytes[at] ^= (unsigned char)(1u << random_below(8));
    }
}

static void fill_run(struct blob *b)
{
    size_t at = any_place(b), run = random_below(1 + random_below(3000));
    int with = (int)random_below(4);
    run = run < b->size - at ? run : b->size - at;
    for (size_t i = 0; i < run; i++)
        b->bytes[at + i] = (unsigned char)(with == 0 ? 0 : with == 1 ? 0xff : random_below(256));
}

/* A number of eight, four or two bytes that is about as large or small as they come. */
static void set_number(struct blob *b)
{
    static const uint64_t odd[] = {0,          1,          0x7f,      0xff,
                                   0x7fff,     0x8000,     0xffff,    0x7fffffff,
                                   0x80000000, 0xffffffff, INT64_MAX, (uint64_t)INT64_MAX + 1,
                                   UINT64_MAX};
    unsigned char bytes[8];
    size_t at = any_place(b), size = (size_t)2 << random_below(3);
    weft_write_u64(bytes, odd[random_below(sizeof odd / sizeof *odd)] + random_below(3) - 1);
    if (at + size <= b->size)
        memcpy(b->bytes + at, bytes, size);
}

static void truncate_end(struct blob *b)
{
    b->size = any_place(b);
}

static void set_header(struct blob *b)
{
    size_t mark = any_mark(b), left = b->size - mark;
    if (left < WEFT_MIRAGE_HEADER_SIZE)
        return;
    struct weft_mirage_header h = weft_mirage_header_read(b->bytes + mark);
    const uint32_t sizes[] = {0,
                              8 * 29,
                              8 * 30,
                              8 * 31,
                              8 * 38,
                              (uint32_t)left * 8,
                              (uint32_t)left * 8 + 8,
                              h.content_bits - 8,
                              h.packet_bits + 8,
                              UINT32_MAX,
                              1u << 31,
                              (uint32_t)random_below(left) * 8,
                              (uint32_t)random_below(UINT32_MAX)};
    const uint64_t n = sizeof sizes / sizeof *sizes;
    if (random_below(2))
        h.packet_bits = sizes[random_below(n)];
    if (random_below(2))
        h.content_bits = sizes[random_below(n)];
    if (random_below(3) == 0)
        h.sequence = (uint16_t)(random_below(2) ? h.sequence + random_below(5) - 2
                                                : random_below(UINT16_MAX));
    weft_mirage_header_write(b->bytes + mark, h);
}

/* Where the packet at a mark ends, as the next mark says. */
static size_t packet_end(const struct blob *b, const size_t *at, size_t n, size_t i)
{
    return i + 1 < n ? at[i + 1] : b->size;
}

static void move_packet(struct blob *b)
{
    size_t at[MARKS], n = find_marks(b, at, MARKS), from = random_below(n), to = random_below(n);
    size_t begin = at[from], size = packet_end(b, at, n, from) - begin;
    unsigned char *copy = malloc(size + 1);
    REQUIRE(copy);
    memcpy(copy, b->bytes + begin, size);
    switch (random_below(3)) {
    case 0: /* removed */
        splice(b, begin, begin + size, NULL, 0);
        break;
    case 1: /* twice */
        splice(b, at[to], at[to], copy, size);
        break;
    default: /* over another one */
        splice(b, at[to], packet_end(b, at, n, to), copy, size);
        break;
    }
    free(copy);
}

/* A piece of this or another trace somewhere else; or some bytes taken out. */
static void move_piece(struct blob *b, const struct blob *other)
{
    size_t at = any_place(b), from = any_place(other);
    size_t size = random_below(1 + random_below(20000)), end = at;
    size = size < other->size - from ? size : other->size - from;
    if (random_below(2))
        end += random_below(1 + random_below(2000));
    end = end < b->size ? end : b->size;
    splice(b, at, end, other->bytes + from, random_below(3) ? size : 0);
}

static void mutate(struct blob *b, const struct blob *other)
{
    switch (random_below(8)) {
    case 0:
        flip_bits(b);
        break;
    case 1:
        fill_run(b);
        break;
    case 2:
    case 3:
        set_header(b);
        break;
    case 4:
        truncate_end(b);
        break;
    case 5:
        move_packet(b);
        break;
    case 6:
        set_number(b);
        break;
    case 7:
        move_piece(b, other);
        break;
    }
}

static void make_mutant(struct blob *b, const struct blob *trace, uint64_t traces, uint64_t number)
{
    const struct blob *from = &trace[number % traces];
    random_state = (number + 1) * 0x9e3779b97f4a7c15u;
    b->size = 0;
    splice(b, 0, 0, from->bytes, from->size);
    /* Most are cut short first, so that there is time for many. */
    if (b->size > 60000 && random_below(8))
        splice(b, 20000 + random_below(40000), b->size - random_below(2) * random_below(20000),
               NULL, 0);
    for (uint64_t n = 1 + random_below(1 + random_below(6)); n--;)
        mutate(b, &trace[random_below(traces)]);
}

/* ---- The run ---- */

static volatile uint64_t current;

_Noreturn static void on_alarm(int signal)
{
    static const char text[] = "a mutant took more than a minute: the one after the last line\n";
    (void)signal;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(2);
    _exit(1);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void on_abort(int signal)
{
    fprintf(stderr, "mutant %" PRIu64 "; see it with --write\n", current);
    (void)signal;
}

static void read_trace(struct blob *b, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    unsigned char block[65536];
    for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;)
        splice(b, b->size, b->size, block, n);
    fclose(file);
}

static void run(const struct blob *trace, uint64_t traces, uint64_t first, uint64_t count)
{
    struct blob b = {0};
    uint64_t refused = 0, events = 0, slowest = first, largest = first;
    double slowest_s = 0, largest_share = 0;
    for (current = first; current < first + count; current++) {
        make_mutant(&b, trace, traces, current);
        alarm(SECONDS_MAX);
        double begun = now_s();
        const size_t before = live_bytes;
        peak_bytes = before;
        int64_t n = try_bytes(b.bytes, b.size, (unsigned)current, 2);
        double took = now_s() - begun, share = (double)(peak_bytes - before);
        share /= (double)most_bytes(b.size);
        REQUIRE(live_bytes == before);
        REQUIRE(share <= 1);
        refused += n < 0;
        events += n < 0 ? 0 : (uint64_t)n;
        if (took > slowest_s) {
            slowest_s = took;
            slowest = current;
        }
        if (share > largest_share) {
            largest_share = share;
            largest = current;
        }
    }
    alarm(0);
    printf("%" PRIu64 " mutants: %" PRIu64 " refused, %" PRIu64 " events read from the others; the "
           "slowest, %" PRIu64 ", took %.2f s; the largest, %" PRIu64
           ", %.0f %% of what is allowed\n",
           count, refused, events, slowest, slowest_s, largest, 100 * largest_share);
    free(b.bytes);
}

int main(int argc, char **argv)
{
    static struct blob trace[TRACES_MAX];
    if (argc < 4 || argc - 3 > TRACES_MAX) {
        fputs("usage: mutants FIRST COUNT TRACE...\n       mutants --write N OUT TRACE...\n",
              stderr);
        return 2;
    }
    bool to_file = strcmp(argv[1], "--write") == 0;
    char **path = argv + 3 + to_file;
    uint64_t traces = 0;
    while (*path)
        read_trace(&trace[traces++], *path++);
    signal(SIGALRM, on_alarm);
    signal(SIGABRT, on_abort);
    if (to_file) {
        struct blob b = {0};
        FILE *out = fopen(argv[3], "wb");
        make_mutant(&b, trace, traces, strtoull(argv[2], NULL, 10));
        REQUIRE(out && fwrite(b.bytes, 1, b.size, out) == b.size && fclose(out) == 0);
        free(b.bytes);
    } else {
        run(trace, traces, strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
    }
    for (uint64_t i = 0; i < traces; i++)
        free(trace[i].bytes);
    return 0;
}
