/* SPDX-License-Identifier: ISC */
/* Akaros's kpoprofile: 64-bit words, little endian; and the histogram that kpdata was in July 2015. */
#include <inttypes.h>

#include "format/bytes.h"
#include "profile/akaros.h"

#define KERNEL_BIT (UINT64_C(1) << 63)
#define DEFAULT_PERIOD_NS 1000000 /* of Akaros's timer: "optimer period 1000" */

enum {
    WORD = 8,
    VERSION_1 = 1,
    MARK = 0xee,
    LINE_BYTES = 64,
    NAME_AT = 17,
    NAME_BYTES = 29,
    TICKS_AT = 47
};

/* ---- What the streams have in common ---- */

int profile_akaros_begin(struct profile_akaros *a, struct profile_foreign *f)
{
    *a = (struct profile_akaros){.f = f, .first_ns = UINT64_MAX};
    uint32_t name = weft_profile_add_text(f->p, "timer", 5);
    if (name == WEFT_NONE)
        return profile_foreign_no_memory(f);
    a->source =
        weft_profile_add_source(f->p, &(struct weft_source){.name = name, .unit = WEFT_UNIT_NS});
    a->first_sample = f->p->samples;
    return a->source == WEFT_NONE ? profile_foreign_no_memory(f) : 0;
}

int profile_akaros_add(struct profile_akaros *a, const struct profile_akaros_sample *s)
{
    struct weft_profile *p = a->f->p;
    uint32_t stack = 0;
    for (uint32_t i = s->pcs; i-- > 0;) { /* the outermost first */
        uint64_t pc = weft_read_u64(s->pc + (size_t)i * WORD);
        bool kernel = pc & KERNEL_BIT;
        stack = weft_profile_push(p, stack, kernel ? UINT32_MAX : s->process, pc,
                                  kernel ? WEFT_NODE_KERNEL : 0, s->time_ns);
        if (stack == WEFT_NONE)
            return profile_foreign_no_memory(a->f);
    }
    uint32_t thread = weft_profile_add_thread(p, s->process, UINT32_MAX, WEFT_NONE);
    bool in_kernel = s->pcs && weft_read_u64(s->pc) & KERNEL_BIT;
    a->kernel |= s->pcs && (in_kernel || weft_read_u64(s->pc + (s->pcs - 1u) * WORD) & KERNEL_BIT);
    const struct weft_sample sample = {.time_ns = s->time_ns,
                                       .stack = stack,
                                       .thread = thread,
                                       .core = s->core,
                                       .source = a->source,
                                       .promise = WEFT_NONE,
                                       .flags = in_kernel ? WEFT_SAMPLE_IN_KERNEL : 0};
    if (thread == WEFT_NONE || weft_profile_add_sample(p, &sample) < 0)
        return profile_foreign_no_memory(a->f);
    a->first_ns = s->time_ns < a->first_ns ? s->time_ns : a->first_ns;
    a->last_ns = s->time_ns > a->last_ns ? s->time_ns : a->last_ns;
    a->f->facts->samples++;
    return 0;
}

/* The name that Akaros's own tool used. Symbols of the kernel are found by address, wherever it
 * begins. */
static int add_kernel(struct profile_foreign *f)
{
    static const char name[] = "[kernel.kallsyms]";
    struct weft_mapping m = {.process = UINT32_MAX,
                             .path = weft_profile_add_text(f->p, name, sizeof name - 1),
                             .start = KERNEL_BIT,
                             .size = UINT64_MAX - KERNEL_BIT,
                             .offset = KERNEL_BIT,
                             .kernel = true};
    if (m.path == WEFT_NONE || weft_profile_add_mapping(f->p, &m) == WEFT_NONE)
        return profile_foreign_no_memory(f);
    return 0;
}

/* The stream does not say how often the timer ticked. So, as in op2, each sample stands for its
 * part of the time. */
int profile_akaros_end(struct profile_akaros *a, int rc)
{
    struct weft_profile *p = a->f->p;
    uint64_t samples = a->f->facts->samples, period = a->f->options->period_ns;
    if (rc == WEFT_E_NOMEM)
        return rc;
    if (samples && !period)
        period = (a->last_ns - a->first_ns) / samples;
    if (!period)
        period = DEFAULT_PERIOD_NS;
    p->source[a->source].period = period;
    for (uint32_t i = a->first_sample; i < p->samples; i++)
        p->sample[i].value = period;
    return a->kernel && add_kernel(a->f) < 0 ? WEFT_E_NOMEM : rc;
}

int profile_akaros_cut(struct profile_foreign *f, uint64_t offset, uint64_t wanted, uint64_t left)
{
    return weft_error_set(f->err, WEFT_E_FORMAT, offset,
                          "the file ends within a record: of its %" PRIu64 " bytes, %" PRIu64
                          " are there",
                          wanted, left);
}

/* ---- kpoprofile ---- */

static bool is_record(const unsigned char *b)
{
    return b[7] == MARK && b[6] == VERSION_1 && b[0] > 0;
}

bool profile_akaros_begins(const unsigned char *head, size_t size)
{
    return size >= WORD && is_record(head) && head[1] == 0 && head[4] == 0 && head[5] == 0;
}

/* The bytes at offset are not a record. */
static int complain(struct profile_foreign *f, uint64_t offset, const unsigned char *b)
{
    if (b[7] == MARK && b[6] != VERSION_1)
        return weft_error_set(f->err, WEFT_E_FORMAT, offset,
                              "a record of version %u; only version 1 is known", b[6]);
    if (b[7] == MARK)
        return weft_error_set(f->err, WEFT_E_FORMAT, offset,
                              "a record with 0 addresses; there must be at least 1");
    return weft_error_set(f->err, WEFT_E_FORMAT, offset,
                          "expected a record of kpoprofile, whose first word begins with 0xee01, "
                          "not 0x%02x%02x",
                          b[7], b[6]);
}

static int read_records(struct profile_akaros *a)
{
    struct profile_foreign *f = a->f;
    const unsigned char *b;
    for (uint64_t at = 0;;) {
        ptrdiff_t got = profile_window_at(f->window, at, 2 * WORD, &b, f->err);
        if (got <= 0)
            return (int)got;
        if (got >= WORD && !is_record(b))
            return complain(f, at, b);
        if (got < 2 * WORD)
            return profile_akaros_cut(f, at, 2 * WORD, (uint64_t)got);
        size_t bytes = (2u + b[0]) * WORD;
        got = profile_window_at(f->window, at, bytes, &b, f->err);
        if (got < 0)
            return (int)got;
        if ((size_t)got < bytes)
            return profile_akaros_cut(f, at, bytes, (uint64_t)got);
        int rc = profile_akaros_add(
            a, &(struct profile_akaros_sample){.time_ns = weft_read_u64(b + WORD),
                                               .process = UINT32_MAX,
                                               .core = weft_read_u16(b + 2),
                                               .pc = b + 2 * WORD,
                                               .pcs = b[0]});
        if (rc < 0)
            return rc;
        at += bytes;
    }
}

int profile_akaros_load(struct profile_foreign *f)
{
    struct profile_akaros a;
    int rc = profile_akaros_begin(&a, f);
    if (rc < 0)
        return rc;
    return profile_akaros_end(&a, read_records(&a));
}

/* ---- The histogram: 0123456789abcdef  NAME  0123456789abcdef\n, 64 bytes a line ---- */

static bool read_hex(const unsigned char *b, uint64_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < 16; i++) {
        bool digit = b[i] >= '0' && b[i] <= '9', letter = b[i] >= 'a' && b[i] <= 'f';
        if (!digit && !letter)
            return false;
        *value = *value << 4 | (unsigned)(b[i] - (digit ? '0' : 'a' - 10));
    }
    return true;
}

static bool is_line(const unsigned char *b, uint64_t *address, uint64_t *ticks)
{
    return read_hex(b, address) && b[NAME_AT - 1] == ' ' && b[TICKS_AT - 1] == ' ' &&
           read_hex(b + TICKS_AT, ticks) && b[LINE_BYTES - 1] == '\n';
}

bool profile_ticks_begins(const unsigned char *head, size_t size)
{
    uint64_t address, ticks;
    return size >= LINE_BYTES && is_line(head, &address, &ticks);
}

struct ticks {
    struct profile_foreign *f;
    uint32_t source, thread;
};

/* A function of the kernel, or everything outside of it: address 0. */
static int add_ticks(struct ticks *t, const unsigned char *line, uint64_t address, uint64_t ticks,
                     bool outside)
{
    struct weft_profile *p = t->f->p;
    const char *name = (const char *)line + NAME_AT;
    uint32_t size = NAME_BYTES;
    for (; size && *name == ' '; size--)
        name++;
    uint32_t text = outside ? weft_profile_add_text(p, "(outside the kernel)", 20)
                            : weft_profile_add_text(p, name, size);
    if (text == WEFT_NONE)
        return profile_foreign_no_memory(t->f);
    uint32_t stack =
        weft_profile_push(p, 0, UINT32_MAX, address, outside ? 0 : WEFT_NODE_KERNEL, 0);
    uint32_t function =
        weft_profile_add_function(p, &(struct weft_function){.name = text, .system_name = text});
    const struct weft_frame frame = {.function = function};
    const struct weft_sample sample = {.value = ticks,
                                       .stack = stack,
                                       .thread = t->thread,
                                       .core = UINT32_MAX,
                                       .source = t->source,
                                       .promise = WEFT_NONE,
                                       .flags = outside ? 0 : WEFT_SAMPLE_IN_KERNEL};
    if (stack == WEFT_NONE || function == WEFT_NONE ||
        weft_profile_resolve(p, p->stack[stack].location, &frame, size || outside) < 0 ||
        weft_profile_add_sample(p, &sample) < 0)
        return profile_foreign_no_memory(t->f);
    t->f->facts->samples++;
    return 0;
}

static int read_lines(struct ticks *t)
{
    struct profile_foreign *f = t->f;
    const unsigned char *b;
    for (uint64_t line = 0;; line++) {
        uint64_t address, ticks;
        ptrdiff_t got = profile_window_at(f->window, line * LINE_BYTES, LINE_BYTES, &b, f->err);
        if (got <= 0)
            return (int)got;
        if (got < LINE_BYTES)
            return profile_akaros_cut(f, line * LINE_BYTES, LINE_BYTES, (uint64_t)got);
        if (!is_line(b, &address, &ticks))
            return weft_error_set(f->err, WEFT_E_FORMAT, line * LINE_BYTES,
                                  "expected a line of 16 hexadecimal digits, 29 characters and 16 "
                                  "hexadecimal digits");
        if (line == 0 || ticks == 0) /* the first is the sum of the others */
            continue;
        int rc = add_ticks(t, b, line == 1 ? 0 : address, ticks, line == 1);
        if (rc < 0)
            return rc;
    }
}

int profile_ticks_load(struct profile_foreign *f)
{
    struct ticks t = {.f = f};
    uint32_t name = weft_profile_add_text(f->p, "samples", 7);
    if (name == WEFT_NONE)
        return profile_foreign_no_memory(f);
    t.source = weft_profile_add_source(
        f->p, &(struct weft_source){.name = name, .unit = WEFT_UNIT_COUNT, .period = 1});
    t.thread = weft_profile_add_thread(f->p, UINT32_MAX, UINT32_MAX, WEFT_NONE);
    if (t.source == WEFT_NONE || t.thread == WEFT_NONE)
        return profile_foreign_no_memory(f);
    return read_lines(&t);
}
