/* SPDX-License-Identifier: ISC */
/* Makes a weft trace with samples, and promises if there are any, out of lines:
 *
 *     mksamples FILE < lines
 *
 *     source cpu-clock ns 1000000 1000     name, unit (count, ns, cycles), period, frequency that was asked for
 *     program server --verbose             the command line
 *     object /opt/server                   the file whose functions the stacks are made of; may not exist
 *     function parse /src/parse.c 10 14    its file, its first line, and the line of what is sampled
 *     thread 0 10 1 worker                 number in these lines, process, thread, name
 *     0 create 1 task main                 promise 1, by what runs on thread 0: type and label
 *     0 create 2 request GET /x by 1       … by promise 1
 *     0 create 3 io answer at db.c:61      … on that line of the source
 *     0 run 1 on 0                         promise 1 runs on thread 0; 0: the event loop
 *     0 wait 2 on 0                        what runs waits for promise 2
 *     0 wake 1 by 2 on 0                   promise 1 goes on because of 2; signal: because that was notified
 *     0 background 1 on 0                  so do: must, notify, acquire, release
 *     0 sleep 0 on 0                       nothing runs; awake: the event loop does
 *     0 count 3 free connections           a counter has that value
 *     900 end 2 on 0                       it is fulfilled
 *     900 fail 2 on 0 connection reset     … or fails
 *     1000 sample 0 2 1000000 main;loop;parse         thread, core, value, stack from the outside in
 *     1000 out 0 2 main;read;[do_read]     the thread leaves core 2, because it waits; outp: it is preempted
 *     2000 in 0 2                          … and comes back
 *     3000 lost 7                          lost 7 other: no samples; lost 0 switches: from then on no switches
 *
 * Times are nanoseconds from 0 on; those of promises on the one hand, of samples on the other must not run backwards.
 * Functions in brackets are the kernel's. Those with a question mark before them have no name. Several sources make
 * several files; put them together on the command line. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/freestanding.h>

#include "profile/build.h"
#include "sample/file.h"

enum {
    FUNCTIONS = 256,
    PROMISES = 1024,
    THREADS = 8,
    COUNTERS = 4,
    SITES = 16,
    DEPTH = 128,
    WORD = 256
};
#define START_NS UINT64_C(1000000000000)
#define USER_BASE UINT64_C(0x401000)
#define KERNEL_BASE UINT64_C(0xffffffff81000000)

struct function {
    char name[WORD], file[WORD];
    uint32_t start_line, line;
};

static struct function functions[FUNCTIONS];
static unsigned function_count;
static weft_promise promises[PROMISES];
static struct {
    uint32_t process, thread;
    char name[32];
} threads[THREADS];
static char object[WORD] = "/opt/demo/server", program[1024], source_name[WORD] = "cpu-clock";
static char *argument[64];
static struct weft_source source = {.unit = WEFT_UNIT_NS, .frequency = 1000, .period = 1000000};
static struct weft_samples_file *out;
static int samples_fd;
static _Alignas(8) unsigned char memory[1 << 20];
static bool recording;
static uint64_t now_ns;
static unsigned running_on;
static unsigned long line_number;

_Noreturn static void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn static void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "mksamples: line %lu: ", line_number);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static uint64_t number(const char *word)
{
    char *end;
    uint64_t n = strtoull(word ? word : "", &end, 0);
    if (!word || !*word || *end)
        fail("\"%s\" is no number", word ? word : "");
    return n;
}

static void copy(char *to, size_t room, const char *from)
{
    if (!from || strlen(from) >= room)
        fail("a word is missing, or too long");
    memcpy(to, from, strlen(from) + 1);
}

/* ---- Promises ---- */

static uint64_t read_clock(void)
{
    return now_ns;
}

static unsigned processor(void)
{
    return running_on;
}

static void record(void)
{
    const struct weft_machine machine = {
        .processors = THREADS, .processor = processor, .random = "0123456789abcdef"};
    const struct weft_options options = {
        .memory = memory, .bytes = sizeof memory, .clock = read_clock, .clock_hz = 1000000000};
    if (!recording && weft_start_on(&machine, &options) != 0)
        fail("the recorder does not start");
    recording = true;
}

static weft_promise promise(const char *word)
{
    uint64_t n = number(word);
    if (n == 0)
        return WEFT_LOOP;
    if (n >= PROMISES || !promises[n])
        fail("there is no promise %" PRIu64, n);
    return promises[n];
}

/* The place "FILE:LINE" in the program's source. */
static struct weft_site *site_of(const char *place)
{
    static struct weft_site sites[SITES];
    static char files[SITES][WORD];
    const char *colon = strrchr(place, ':');
    unsigned i = 0;
    while (i < SITES && *files[i] && strcmp(files[i], place) != 0)
        i++;
    if (i == SITES || !colon)
        fail("expected: at FILE:LINE, and at most %d of them", SITES);
    if (!sites[i].file) {
        static char names[SITES][WORD];
        copy(files[i], WORD, place);
        memcpy(names[i], place, (size_t)(colon - place));
        sites[i] = (struct weft_site){.file = names[i], .line = (uint32_t)number(colon + 1)};
    }
    return &sites[i];
}

static void create(char *id, char *type, char *label)
{
    uint64_t n = number(id);
    if (!type || !label || n >= PROMISES)
        fail("expected: create ID TYPE LABEL [by ID]");
    char *at = strstr(label, " at "), *by = strstr(label, " by ");
    if (at)
        *at = 0;
    if (by)
        *by = 0;
    record();
    if (at)
        promises[n] = weft_impl_create(site_of(at + 4), type, label);
    else
        promises[n] =
            by ? weft_create_from(promise(by + 4), type, label) : weft_create(type, label);
}

static void count(const char *value, const char *name)
{
    static struct weft_counter counters[COUNTERS];
    static char names[COUNTERS][WORD];
    unsigned i = 0;
    while (i < COUNTERS && *names[i] && name && strcmp(names[i], name) != 0)
        i++;
    if (i == COUNTERS)
        fail("at most %d counters", COUNTERS);
    copy(names[i], WORD, name);
    counters[i].name = names[i];
    record();
    weft_counter_set(&counters[i], (int64_t)number(value));
}

static void start_waiting(weft_promise p)
{
    (void)p;
    weft_suspend(WEFT_WAIT_FOR_WORK);
}

static void go_on(weft_promise p)
{
    (void)p;
    weft_resume();
}

static void run(weft_promise p)
{
    weft_run(p);
}

static const struct {
    const char *word;
    void (*call)(weft_promise p);
} calls[] = {
    {"run", run},
    {"end", weft_fulfill},
    {"wait", weft_wait},
    {"must", weft_should_resolve},
    {"background", weft_background},
    {"notify", weft_notify},
    {"acquire", weft_acquire},
    {"release", weft_release},
    {"sleep", start_waiting},
    {"awake", go_on},
};

/* "wake 1 by 2 on 0", "fail 1 on 0 why", "end 1 on 0". */
static bool promise_call(const char *what, char *rest)
{
    bool wakes = strcmp(what, "wake") == 0, signals = strcmp(what, "signal") == 0,
         fails = strcmp(what, "fail") == 0;
    unsigned i = 0;
    while (i < sizeof calls / sizeof *calls && strcmp(calls[i].word, what) != 0)
        i++;
    if (i == sizeof calls / sizeof *calls && !wakes && !signals && !fails)
        return false;
    char *save, *first = strtok_r(rest, " ", &save), *by = NULL, *source = NULL;
    if (wakes || signals) {
        by = strtok_r(NULL, " ", &save);
        source = strtok_r(NULL, " ", &save);
    }
    char *on = strtok_r(NULL, " ", &save), *thread = strtok_r(NULL, " ", &save);
    if (!on || strcmp(on, "on") != 0 || (source && strcmp(by, "by") != 0))
        fail("expected: %s ID %son THREAD", what, wakes || signals ? "by ID " : "");
    running_on = (unsigned)number(thread);
    record();
    if (wakes)
        weft_wake(promise(first), promise(source));
    else if (signals)
        weft_signal(promise(first), promise(source));
    else if (fails)
        weft_fail(promise(first), strtok_r(NULL, "", &save));
    else
        calls[i].call(promise(first));
    return true;
}

static bool promise_line(const char *what, char *rest)
{
    bool creates = strcmp(what, "create") == 0;
    if (!creates && strcmp(what, "count") != 0)
        return promise_call(what, rest);
    char *save, *first = strtok_r(rest, " ", &save);
    if (creates) {
        char *type = strtok_r(NULL, " ", &save);
        running_on = 0;
        create(first, type, strtok_r(NULL, "", &save));
    } else {
        count(first, strtok_r(NULL, "", &save));
    }
    return true;
}

/* ---- Samples ---- */

static uint64_t address_of(const char *name)
{
    unsigned i = 0;
    while (i < function_count && strcmp(functions[i].name, name) != 0)
        i++;
    if (i == FUNCTIONS)
        fail("too many functions");
    if (i == function_count)
        copy(functions[function_count++].name, WORD, name);
    return (*name == '[' ? KERNEL_BASE : USER_BASE) + 0x100 * (uint64_t)i + 0x10;
}

static void put(struct weft_sampled *r)
{
    r->time_ns =
        r->kind == WEFT_RECORD_MAPPING || r->kind == WEFT_RECORD_THREAD ? START_NS : now_ns;
    if (weft_samples_put(out, r) < 0)
        fail("it cannot be written");
}

static void begin(void)
{
    struct weft_error err;
    struct weft_samples_facts facts = {.process = threads[0].process};
    for (char *at = program, *word; (word = strtok(at, " ")) && facts.args < 64; at = NULL)
        argument[facts.args++] = word;
    facts.program = facts.args ? argument[0] : NULL;
    facts.arg = (const char *const *)argument;
    if (out)
        return;
    if (weft_samples_begin(&out, samples_fd, &facts, &source, source_name, &err) < 0)
        fail("%s", err.text);
    static const uint8_t build_id[4] = {1, 2, 3, 4};
    for (unsigned t = 0; t < THREADS && *threads[t].name; t++) {
        put(&(struct weft_sampled){.kind = WEFT_RECORD_THREAD,
                                   .process = threads[t].process,
                                   .thread = threads[t].thread,
                                   .core = UINT32_MAX,
                                   .parent = UINT32_MAX,
                                   .text = threads[t].name});
        put(&(struct weft_sampled){.kind = WEFT_RECORD_MAPPING,
                                   .process = threads[t].process,
                                   .thread = threads[t].thread,
                                   .core = UINT32_MAX,
                                   .start = USER_BASE,
                                   .size = 1 << 20,
                                   .offset = 0x1000,
                                   .text = object,
                                   .build_id = build_id,
                                   .build_id_bytes = sizeof build_id});
    }
    put(&(struct weft_sampled){.kind = WEFT_RECORD_MAPPING,
                               .flags = WEFT_MAPPING_KERNEL,
                               .process = UINT32_MAX,
                               .thread = UINT32_MAX,
                               .core = UINT32_MAX,
                               .start = KERNEL_BASE,
                               .size = 1 << 20,
                               .text = "[kernel]"});
}

/* Fills address, innermost first, from "main;loop;[read]". */
static void parse_stack(struct weft_sampled *r, uint64_t *address, char *stack)
{
    char *save;
    for (char *name = strtok_r(stack, ";", &save); name; name = strtok_r(NULL, ";", &save)) {
        if (r->addresses == DEPTH)
            fail("the stack is too deep");
        memmove(address + 1, address, r->addresses * sizeof *address);
        address[0] = address_of(name);
        r->addresses++;
        r->kernel_addresses += *name == '[';
    }
    r->address = address;
}

static bool sample_line(const char *what, char *rest)
{
    uint64_t address[DEPTH];
    char *save;
    struct weft_sampled r = {.core = UINT32_MAX, .process = UINT32_MAX, .thread = UINT32_MAX};
    bool sample = strcmp(what, "sample") == 0, in = strcmp(what, "in") == 0;
    bool away = strcmp(what, "out") == 0 || strcmp(what, "outp") == 0;
    begin();
    if (strcmp(what, "lost") == 0) {
        r.kind = WEFT_RECORD_LOST;
        r.value = number(strtok_r(rest, " ", &save));
        for (const char *of; (of = strtok_r(NULL, " ", &save));)
            r.flags |= strcmp(of, "other") == 0 ? WEFT_LOST_OTHER : WEFT_LOST_SWITCHES;
        put(&r);
        return true;
    }
    if (!sample && !in && !away)
        return false;
    uint64_t thread = number(strtok_r(rest, " ", &save));
    if (thread >= THREADS)
        fail("there is no thread %" PRIu64, thread);
    r.process = threads[thread].process;
    r.thread = threads[thread].thread;
    r.core = (uint32_t)number(strtok_r(NULL, " ", &save));
    r.kind = sample ? WEFT_RECORD_SAMPLE : WEFT_RECORD_SWITCH;
    if (sample)
        r.value = number(strtok_r(NULL, " ", &save));
    if (away)
        r.flags = WEFT_SWITCH_OUT | (what[3] ? WEFT_SWITCH_PREEMPTED : 0);
    char *stack = in ? NULL : strtok_r(NULL, "", &save);
    if (stack)
        parse_stack(&r, address, stack);
    put(&r);
    return true;
}

/* ---- What stands before the first time ---- */

static void source_line(char *rest)
{
    char *save;
    copy(source_name, sizeof source_name, strtok_r(rest, " ", &save));
    const char *unit = strtok_r(NULL, " ", &save);
    source.unit = unit && strcmp(unit, "ns") == 0       ? WEFT_UNIT_NS
                  : unit && strcmp(unit, "cycles") == 0 ? WEFT_UNIT_CYCLES
                                                        : WEFT_UNIT_COUNT;
    source.period = number(strtok_r(NULL, " ", &save));
    source.frequency = (uint32_t)number(strtok_r(NULL, " ", &save));
}

static void function_line(char *rest)
{
    char *save, *name = strtok_r(rest, " ", &save);
    if (!name)
        fail("expected: function NAME FILE FIRST LINE");
    unsigned i = (unsigned)(address_of(name) >> 8) -
                 (unsigned)((*name == '[' ? KERNEL_BASE : USER_BASE) >> 8);
    copy(functions[i].file, WORD, strtok_r(NULL, " ", &save));
    functions[i].start_line = (uint32_t)number(strtok_r(NULL, " ", &save));
    functions[i].line = (uint32_t)number(strtok_r(NULL, " ", &save));
}

static void thread_line(char *rest)
{
    char *save;
    uint64_t t = number(strtok_r(rest, " ", &save));
    if (t >= THREADS)
        fail("at most %d threads", THREADS);
    threads[t].process = (uint32_t)number(strtok_r(NULL, " ", &save));
    threads[t].thread = (uint32_t)number(strtok_r(NULL, " ", &save));
    copy(threads[t].name, sizeof threads[t].name, strtok_r(NULL, "", &save));
}

static void parse_line(char *line)
{
    char *save, *what = strtok_r(line, " ", &save);
    if (!what || *what == '#')
        return;
    char *rest = strtok_r(NULL, "", &save);
    if (!rest)
        fail("something is missing");
    if (strcmp(what, "source") == 0)
        source_line(rest);
    else if (strcmp(what, "program") == 0)
        copy(program, sizeof program, rest);
    else if (strcmp(what, "object") == 0)
        copy(object, sizeof object, rest);
    else if (strcmp(what, "function") == 0)
        function_line(rest);
    else if (strcmp(what, "thread") == 0)
        thread_line(rest);
    else {
        now_ns = START_NS + number(what);
        what = strtok_r(rest, " ", &save);
        rest = strtok_r(NULL, "", &save);
        if (!what || !rest || !(promise_line(what, rest) || sample_line(what, rest)))
            fail("\"%s\" is nothing that mksamples knows", what ? what : "");
    }
}

/* ---- Names, and the file ---- */

static void resolve(struct weft_profile *p)
{
    for (uint32_t i = 0; i < p->locations; i++) {
        uint64_t at = p->location[i].address & ~UINT64_C(0xff);
        const struct function *f =
            &functions[(at - (p->location[i].kernel ? KERNEL_BASE : USER_BASE)) / 0x100];
        char name[WORD];
        copy(name, sizeof name, f->name);
        if (*name == '?')
            continue;
        if (*name == '[') { /* without the brackets */
            memmove(name, name + 1, strlen(name));
            name[strlen(name) - 1] = 0;
        }
        uint32_t text = weft_profile_add_text(p, name, (uint32_t)strlen(name));
        struct weft_function function = {
            .name = text,
            .system_name = text,
            .file = weft_profile_add_text(p, f->file, (uint32_t)strlen(f->file)),
            .start_line = f->start_line};
        struct weft_frame frame = {weft_profile_add_function(p, &function), f->line};
        weft_profile_resolve(p, i, &frame, 1);
    }
}

static void put_names(const char *path)
{
    struct weft_error err = {.offset = 0};
    struct weft_reader *r;
    struct weft_profile *p = weft_profile_new();
    if (weft_samples_flush(out, &err) < 0 || weft_reader_open(&r, path, &err) < 0 ||
        weft_profile_load_trace(p, r, &err) < 0 || weft_profile_finish(p) < 0)
        fail("%s", err.text);
    resolve(p);
    if (weft_samples_put_symbols(out, p, &err) < 0 || weft_samples_end(out, &err) < 0)
        fail("%s", err.text);
    weft_profile_free(p);
    weft_reader_close(r);
}

static void put_promises(const char *path)
{
    struct weft_error err = {.offset = 0};
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    weft_stop();
    if (fd < 0 || write(fd, memory, sizeof memory) != (ssize_t)sizeof memory)
        fail("%s: %s", path, strerror(errno));
    if (out && weft_samples_append(fd, samples_fd, 0, &err) < 0)
        fail("%s", err.text);
    close(fd);
}

int main(int argc, char **argv)
{
    char line[4096], samples[4096];
    if (argc != 2) {
        fputs("usage: mksamples FILE < lines\n", stderr);
        return 2;
    }
    snprintf(samples, sizeof samples, "%.4000s.samples", argv[1]);
    samples_fd = open(samples, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (samples_fd < 0)
        fail("%s: %s", samples, strerror(errno));
    now_ns = START_NS;
    while (fgets(line, sizeof line, stdin)) {
        line_number++;
        line[strcspn(line, "\n")] = 0;
        parse_line(line);
    }
    if (out)
        put_names(samples);
    if (recording)
        put_promises(argv[1]);
    else if (rename(samples, argv[1]) < 0)
        fail("%s: %s", argv[1], strerror(errno));
    unlink(samples);
    return 0;
}
