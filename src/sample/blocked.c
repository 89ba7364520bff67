/* SPDX-License-Identifier: ISC */
/* Threads that already wait when sampling begins. The kernel reports a thread's stack when the thread leaves
 * its core. These threads have left before, and one in a deadlock never comes back. So they are reported as if
 * they left when sampling began and came back when it ended.
 *
 * The process is not touched. /proc/PID/task/TID/syscall has the stack pointer and the instruction of a thread
 * that waits, and /proc/PID/mem has its stack. If a thread has not run between two looks, it has waited all the
 * time, so both are consistent. The frame pointer is not known. If an outer function needs it, it must be one
 * of the places in the stack that look like a saved frame pointer below a return address: the one that leads
 * farthest is taken. */
#include <asm/perf_regs.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/order.h"
#include "sample/distant.h"
#include "sample/state.h"

enum { PAGE = 4096, STACK_PAGES = 16, GUESSES = 64, THREADS_MAX = 4096 };

struct sample_blocked_thread {
    uint32_t thread; /* first: they are sorted by it */
    bool told, back;
    uint64_t switches; /* how often it had left a core at the first look */
};

/* ---- What /proc says ---- */

/* How often the thread has left a core. Returns false if it is running or gone. */
static bool count_switches(uint32_t process, uint32_t thread, uint64_t *switches)
{
    char path[96], line[256], state = 'R';
    uint64_t n;
    *switches = 0;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/task/%" PRIu32 "/status", process, thread);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        const char *value = strchr(line, ':');
        if (value && strncmp(line, "State:", 6) == 0)
            sscanf(value + 1, " %c", &state);
        else if (value && strstr(line, "voluntary_ctxt_switches:") &&
                 sscanf(value + 1, "%" SCNu64, &n) == 1)
            *switches += n;
    }
    if (f)
        fclose(f);
    return strchr("SDTt", state) != NULL;
}

/* Reads the stack pointer and the instruction, which come last: "202 0x… … 0x7ffd… 0x7f01…" or "-1 0x7ffd…
 * 0x7f01…". */
static bool read_registers(uint32_t process, uint32_t thread, uint64_t *sp, uint64_t *pc)
{
    char line[512];
    sample_line(line, sizeof line, "/proc/%u/task/%u/syscall", process, thread);
    char *last = strrchr(line, ' ');
    if (!last)
        return false;
    *last = 0;
    const char *before = strrchr(line, ' ');
    return before && sscanf(last + 1, "%" SCNx64, pc) == 1 &&
           sscanf(before + 1, "%" SCNx64, sp) == 1 && *sp && *pc;
}

/* ---- Its memory ---- */

/* What cannot be read is treated as missing. */
static void open_memory(struct symbols_worker *d, uint32_t process)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/mem", process);
    const int mem = open(path, O_RDONLY | O_CLOEXEC);
    sample_distant_open(d, mem, -1);
    if (mem >= 0)
        close(mem);
}

/* Returns true if there is a call just before that instruction. */
static bool follows_call(struct symbols_worker *memory, uint64_t pc)
{
#if defined(__x86_64__)
    uint8_t code[7];
    if (pc < sizeof code ||
        sample_distant_read(memory, pc - sizeof code, code, sizeof code) != sizeof code)
        return false;
    if (code[2] == 0xe8) /* call rel32 */
        return true;
    for (unsigned i = 0; i <= 5; i++) /* call r/m64, of 2 to 7 bytes */
        if (code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2)
            return true;
    return false;
#else
    (void)memory;
    return pc % 4 == 0;
#endif
}

/* ---- Its stack ---- */

#if defined(__x86_64__)
enum { FP = PERF_REG_X86_BP, SP = PERF_REG_X86_SP, PC = PERF_REG_X86_IP };
#elif defined(__aarch64__)
enum { FP = PERF_REG_ARM64_X29, SP = PERF_REG_ARM64_SP, PC = PERF_REG_ARM64_PC };
#else
enum { FP = 0, SP = 1, PC = 2 };
#endif

struct standing {
    uint32_t process, thread;
    uint64_t sp, pc;
    uint64_t stack[STACK_PAGES * PAGE / 8];
    size_t bytes; /* of the copy */
};

/* fp: 0 if not known. */
static uint32_t unwind(struct weft_sampler *s, const struct standing *t, uint64_t fp, uint64_t *to)
{
    const uint64_t known[3] = {fp, t->sp, t->pc};
    const struct weft_unwind_input in = {
        .process = t->process,
        .thread = t->thread,
        .regs_mask = (fp ? UINT64_C(1) << FP : 0) | UINT64_C(1) << SP | UINT64_C(1) << PC,
        .regs = known + (fp == 0),
        .stack = (const uint8_t *)t->stack,
        .stack_bytes = t->bytes,
    };
    return weft_unwinder_run(s->unwinder, &in, to, s->max_frames);
}

/* Fills s->address; returns the number of addresses. */
static uint32_t stack_of(struct weft_sampler *s, const struct standing *t,
                         struct symbols_worker *memory)
{
    s->address[0] = t->pc;
    if (!s->unwinder)
        return 1;
    uint32_t best = unwind(s, t, 0, s->address);
    uint64_t *other = malloc((s->max_frames + (size_t)1) * sizeof *other);
    unsigned guesses = 0;
    for (size_t i = 0; other && i + 1 < t->bytes / 8 && guesses < GUESSES; i++) {
        const uint64_t at = t->sp + 8 * i, above = t->stack[i];
        if ((above >= t->sp && above <= at) || !follows_call(memory, t->stack[i + 1]))
            continue;
        guesses++;
        const uint32_t n = unwind(s, t, at, other);
        if (n > best) {
            memcpy(s->address, other, n * sizeof *other);
            best = n;
        }
    }
    free(other);
    return best ? best : 1;
}

/* ---- Before sampling begins, and just after ---- */

int sample_blocked_look(struct weft_sampler *s)
{
    struct sample_blocked_thread t = {.told = false};
    struct sample_numbers threads = {0};
    int rc = 0;
    s->blocked.count = 0;
    s->blocked.looked = false;
    if (s->o.scope != WEFT_SAMPLE_PROCESS || s->o.no_switches)
        return 0;
    if (sample_numbers_read(&threads, "/proc/%u/task", s->o.process) == ENOMEM)
        rc = WEFT_E_NOMEM;
    for (uint32_t i = 0; rc == 0 && i < threads.count && s->blocked.count < THREADS_MAX; i++) {
        t.thread = threads.number[i];
        if (!count_switches(s->o.process, t.thread, &t.switches))
            continue;
        if (weft_reserve(&s->blocked.thread, s->blocked.count, &s->blocked.room,
                         sizeof *s->blocked.thread))
            s->blocked.thread[s->blocked.count++] = t;
        else
            rc = WEFT_E_NOMEM;
    }
    free(threads.number);
    weft_sort(s->blocked.thread, s->blocked.count, sizeof t, weft_order_u32);
    return rc;
}

static struct weft_sampled record_of(const struct weft_sampler *s, uint32_t thread,
                                     uint64_t time_ns)
{
    struct weft_sampled r = sample_record(WEFT_RECORD_SWITCH, time_ns);
    r.process = s->o.process;
    r.thread = thread;
    return r;
}

bool sample_blocked_begin(struct weft_sampler *s)
{
    uint64_t switches;
    bool more = true;
    if (s->blocked.looked || s->blocked.count == 0)
        return true;
    s->blocked.looked = true;
    struct standing *now = malloc(sizeof *now);
    struct symbols_worker memory;
    open_memory(&memory, s->o.process);
    for (uint32_t i = 0; now && more && i < s->blocked.count; i++) {
        struct sample_blocked_thread *t = &s->blocked.thread[i];
        now->process = s->o.process;
        now->thread = t->thread;
        if (!read_registers(now->process, t->thread, &now->sp, &now->pc))
            continue;
        now->bytes = sample_distant_read(&memory, now->sp, now->stack, sizeof now->stack);
        if (!count_switches(now->process, t->thread, &switches) || switches != t->switches)
            continue; /* it was there before, and the kernel reports the rest */
        struct weft_sampled r = record_of(s, t->thread, s->blocked.since_ns);
        r.flags = WEFT_SWITCH_OUT;
        r.address = s->address;
        r.addresses = stack_of(s, now, &memory);
        t->told = true;
        s->counts.switches++;
        more = sample_give(s, &r);
    }
    symbols_worker_stop(&memory);
    free(now);
    return more;
}

void sample_blocked_back(struct weft_sampler *s, uint32_t thread)
{
    struct sample_blocked_thread *t =
        s->blocked.count
            ? bsearch(&thread, s->blocked.thread, s->blocked.count, sizeof *t, weft_order_u32)
            : NULL;
    if (t)
        t->back = true;
}

bool sample_blocked_end(struct weft_sampler *s)
{
    bool more = true;
    if (s->burden.over) /* it is not known when they came back */
        s->blocked.count = 0;
    for (uint32_t i = 0; more && i < s->blocked.count; i++) {
        const struct sample_blocked_thread *t = &s->blocked.thread[i];
        if (!t->told || t->back)
            continue;
        const struct weft_sampled r = record_of(s, t->thread, s->blocked.until_ns);
        more = sample_give(s, &r);
    }
    s->blocked.count = 0;
    return more;
}
