/* SPDX-License-Identifier: ISC */
/* What weft asks of perf_event_open, and what its refusals mean. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__) || defined(__aarch64__)
#include <asm/perf_regs.h>
#endif

#include "sample/state.h"

const char *weft_sampler_event(uint32_t i)
{
    return i < PROFILE_PERF_SAMPLED ? profile_perf_kinds[i].name : NULL;
}

enum weft_source_unit weft_sampler_unit(const char *event)
{
    const struct profile_perf_kind *k = sample_event_kind(event);
    return k ? k->unit : WEFT_UNIT_COUNT;
}

const struct profile_perf_kind *sample_event_kind(const char *name)
{
    for (size_t i = 0; i < PROFILE_PERF_SAMPLED; i++)
        if (!name || strcmp(profile_perf_kinds[i].name, name) == 0)
            return &profile_perf_kinds[i];
    return NULL;
}

int64_t sample_sysctl(const char *name, int64_t otherwise)
{
    char text[32];
    return sample_line(text, sizeof text, "/proc/sys/%s", name) ? strtoll(text, NULL, 10)
                                                                : otherwise;
}

/* ---- Rates ---- */

#define SHORTEST_NS                                                                                \
    10000u /* the kernel's limit for a timer; it would run slower, but report the shorter period */

int sample_check_rate(const struct profile_perf_kind *kind, uint32_t frequency, uint64_t period,
                      struct weft_error *err)
{
    const int64_t most = sample_sysctl("kernel/perf_event_max_sample_rate", 0);
    if (period > INT64_MAX)
        return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                              "a period of %" PRIu64 " is too large; at most %" PRIu64
                              " is possible",
                              period, (uint64_t)INT64_MAX);
    if (sample_is_clock(kind) && period && period < SHORTEST_NS)
        return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                              "a period of %" PRIu64 " ns is too short; the timer's shortest is "
                              "%u ns",
                              period, SHORTEST_NS);
    if (!period && most > 0 && frequency > most)
        return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                              "%" PRIu32 " samples a second are more than the kernel allows; "
                              "expected at most %" PRId64
                              ", or a larger sysctl kernel.perf_event_max_sample_rate",
                              frequency, most);
    if (!period && sample_is_clock(kind) && frequency > 1000000000u / SHORTEST_NS)
        return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                              "%" PRIu32 " samples a second are too many for a timer; at most %u "
                              "are possible",
                              frequency, 1000000000u / SHORTEST_NS);
    return 0;
}

/* ---- Attributes ---- */

/* All registers that an unwinder may need, without segments. */
static uint64_t user_regs(void)
{
#if defined(__x86_64__)
    const uint64_t segments = UINT64_C(1) << PERF_REG_X86_DS | UINT64_C(1) << PERF_REG_X86_ES |
                              UINT64_C(1) << PERF_REG_X86_FS | UINT64_C(1) << PERF_REG_X86_GS;
    return ((UINT64_C(1) << PERF_REG_X86_64_MAX) - 1) & ~segments;
#elif defined(__aarch64__)
    return (UINT64_C(1) << (PERF_REG_ARM64_PC + 1)) - 1;
#else
    return 0;
#endif
}

bool sample_can_unwind(void)
{
    return user_regs() != 0;
}

/* In most C programs 4 KiB reach the thread's first function; 1 KiB reaches the caller of most library
 * functions; 512 bytes reach the caller of those that wait. At high rates less is copied: otherwise the rings
 * overflow while the sampler waits for a core. */
enum { PIECE_MOST = 4096, PIECE = 1024, PIECE_LEAST = 512, PIECES_A_SECOND = 10 << 20 };

uint64_t sample_rate(const struct weft_sampler *s)
{
    if (!s->period)
        return s->o.frequency;
    return sample_is_clock(s->kind) ? 1000000000u / s->period : 0;
}

uint32_t sample_piece_bytes(const struct weft_sampler *s, enum sample_role role)
{
    if (s->o.dwarf_bytes || s->o.frame_pointers || !sample_can_unwind())
        return 0;
    if (role == SAMPLE_LEAVE)
        return s->o.all_switches ? PIECE_LEAST : PIECE;
    const uint64_t rate = sample_rate(s);
    if (rate == 0 || s->by_cores) /* most pieces may be of others, and are copied for nothing */
        return PIECE;
    const uint64_t bytes = PIECES_A_SECOND / rate & ~UINT64_C(7);
    return bytes > PIECE_MOST ? PIECE_MOST : bytes < PIECE_LEAST ? PIECE_LEAST : (uint32_t)bytes;
}

static void ask_for_stacks(struct perf_event_attr *a, const struct weft_sampler *s,
                           enum sample_role role)
{
    const uint32_t piece = sample_piece_bytes(s, role);
    a->sample_type |= PERF_SAMPLE_CALLCHAIN;
    a->exclude_callchain_kernel = !s->kernel;
    a->sample_max_stack = (uint16_t)s->max_frames;
    a->exclude_callchain_user = s->o.dwarf_bytes > 0;
    if (s->o.dwarf_bytes || piece) {
        a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        a->sample_regs_user = user_regs();
        a->sample_stack_user = s->o.dwarf_bytes ? s->o.dwarf_bytes : piece;
    }
}

static void ask_for_records(struct perf_event_attr *a, const struct weft_sampler *s)
{
    a->mmap = a->mmap2 = a->comm = a->comm_exec = a->task = 1;
    a->build_id = !s->no_kernel_build_ids;
}

static void ask_for_samples(struct perf_event_attr *a, const struct weft_sampler *s)
{
    a->type = s->kind->type;
    a->config = s->kind->config;
    a->freq = s->period == 0;
    a->sample_period = s->period ? s->period : s->o.frequency;
    a->sample_type |= PERF_SAMPLE_PERIOD;
    a->exclude_kernel = !s->kernel;
    a->exclude_hv = 1;
    /* Samples of an idle core say nothing; but a caller who switches each core's timer wants all of its
     * ticks. */
    a->exclude_idle = sample_is_clock(s->kind) && !s->o.keep_off;
    ask_for_stacks(a, s, SAMPLE_MAIN);
}

struct perf_event_attr sample_attr(const struct weft_sampler *s, enum sample_role role)
{
    const bool cores = s->o.scope == WEFT_SAMPLE_CORES || s->by_cores;
    const bool command = s->o.scope == WEFT_SAMPLE_COMMAND && !cores;
    /* 0: half of a ring, which is as large as the system allows. */
    const uint32_t wake_at =
        role < SAMPLE_SWITCHES || s->o.all_switches ? 0 : SAMPLE_BURDEN_WAKES_BYTES;
    struct perf_event_attr a = {
        .size = sizeof a,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        .sample_type = SAMPLE_PERF_COMMON,
        .sample_period = 1,
        .disabled = 1,
        .inherit = !cores,
        .enable_on_exec = command,
        .sample_id_all = 1,
        .watermark = 1,
        .wakeup_watermark = wake_at,
        .read_format = s->no_lost_counts ? 0 : PERF_FORMAT_LOST,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    switch (role) {
    case SAMPLE_MAIN:
        ask_for_samples(&a, s);
        if (!cores)
            ask_for_records(&a, s);
        break;
    case SAMPLE_TRACK:
        a.exclude_kernel = !s->kernel;
        ask_for_records(&a, s);
        break;
    case SAMPLE_SWITCHES:
        a.exclude_kernel = !s->kernel;
        a.context_switch = 1;
        break;
    case SAMPLE_LEAVE:
        a.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
        ask_for_stacks(&a, s, SAMPLE_LEAVE);
        break;
    default:
        a.type = PERF_TYPE_TRACEPOINT;
        a.config = s->tracepoint[role].id;
        a.sample_type |= PERF_SAMPLE_RAW;
    }
    return a;
}

/* ---- Refusals ---- */

static int permission_error(const struct weft_sampler *s, struct weft_error *err)
{
    const int64_t paranoid = sample_sysctl("kernel/perf_event_paranoid", 2);
    if (s->o.scope == WEFT_SAMPLE_CORES)
        return weft_error_set(
            err, WEFT_E_IO, WEFT_NO_OFFSET,
            "no permission to sample whole cores; that needs root, CAP_PERFMON, or "
            "sysctl kernel.perf_event_paranoid=0 (it is %" PRId64
            "); a process of your own may be sampled without",
            paranoid);
    if (paranoid > 2)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "no permission to sample; that needs root, CAP_PERFMON, or sysctl "
                              "kernel.perf_event_paranoid=2 (it is %" PRId64 ")",
                              paranoid);
    if (s->o.scope == WEFT_SAMPLE_COMMAND)
        return weft_error_set(
            err, WEFT_E_IO, WEFT_NO_OFFSET,
            "no permission to sample: perf_event_open is forbidden here, as in many "
            "containers; allow it, or give CAP_PERFMON");
    return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                          "no permission to sample process %" PRIu32
                          "; it is another user's, or protected: be root, or have CAP_PERFMON and "
                          "CAP_SYS_PTRACE",
                          s->o.process);
}

int sample_open_error(const struct weft_sampler *s, int error, struct weft_error *err)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return permission_error(s, err);
    case ESRCH:
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "there is no process %" PRIu32,
                              s->o.process);
    case ENOSYS:
        return weft_error_set(
            err, WEFT_E_IO, WEFT_NO_OFFSET,
            "this kernel has no perf_event_open, or it is forbidden here; it wants "
            "CONFIG_PERF_EVENTS");
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
        return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                              "the event %s is not there on this machine (hardware counters often "
                              "are not in a virtual one); cpu-clock always is",
                              s->kind->name);
    case EMFILE:
    case ENFILE:
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "too many open files: there is one for each thread on each core; a "
                              "larger ulimit -n, or sampling all cores (-a), helps");
    case EBUSY:
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "the event %s is in use by somebody else", s->kind->name);
    case ENOMEM:
        return weft_no_memory(err);
    default:
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "the event %s cannot be opened: %s",
                              s->kind->name, strerror(error));
    }
}
