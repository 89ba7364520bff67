/* SPDX-License-Identifier: ISC */
/* /proc/PID/task/TID/syscall has the stack pointer and the instruction of a thread that waits, and /proc/PID/mem has its
 * stack. The frame pointer is not known. If an outer function needs it, it must be one of the places in the stack that
 * look like a saved frame pointer below a return address: the one that leads farthest is taken. */
#include "sample/standing.h"

#include <asm/perf_regs.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "sample/proc.h"

enum { GUESSES = 64 };

/* ---- What /proc says ---- */

bool sample_standing_switches(uint32_t process, uint32_t thread, uint64_t *switches)
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

/* "202 0x… … 0x7ffd… 0x7f01…": the call, six arguments, the stack pointer, the instruction; "-1 0x7ffd… 0x7f01…";
 * "running". */
bool sample_standing_at(uint32_t process, uint32_t thread, struct sample_standing_at *at)
{
    char line[512], *rest;
    *at = (struct sample_standing_at){.call = -1};
    if (!sample_line(line, sizeof line, "/proc/%u/task/%u/syscall", process, thread))
        return false;
    at->running = strcmp(line, "running") == 0;
    at->call = strtoll(line, &rest, 10);
    if (rest == line)
        return false;
    for (unsigned i = 0; at->call >= 0 && i < 6; i++)
        at->arg[i] = strtoull(rest, &rest, 16);
    at->sp = strtoull(rest, &rest, 16);
    at->pc = strtoull(rest, &rest, 16);
    return at->sp && at->pc;
}

uint64_t sample_standing_place(const struct sample_standing_at *at)
{
    return weft_mix(at->sp, weft_mix(at->pc, weft_mix((uint64_t)at->call, at->arg[0])));
}

/* ---- Its stack ---- */

void sample_standing_read(struct sample_standing *t, struct symbols_worker *memory)
{
    t->bytes = sample_distant_read(memory, t->at.sp, t->stack, sizeof t->stack);
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

#if defined(__x86_64__)
enum { FP = PERF_REG_X86_BP, SP = PERF_REG_X86_SP, PC = PERF_REG_X86_IP };
#elif defined(__aarch64__)
enum { FP = PERF_REG_ARM64_X29, SP = PERF_REG_ARM64_SP, PC = PERF_REG_ARM64_PC };
#else
enum { FP = 0, SP = 1, PC = 2 };
#endif

/* fp: 0 if not known. */
static uint32_t unwind(struct weft_unwinder *u, const struct sample_standing *t, uint64_t fp,
                       uint64_t *to, uint32_t room, bool *complete)
{
    const uint64_t known[3] = {fp, t->at.sp, t->at.pc};
    const struct weft_unwind_input in = {
        .process = t->process,
        .thread = t->thread,
        .regs_mask = (fp ? UINT64_C(1) << FP : 0) | UINT64_C(1) << SP | UINT64_C(1) << PC,
        .regs = known + (fp == 0),
        .stack = (const uint8_t *)t->stack,
        .stack_bytes = t->bytes,
    };
    return weft_unwinder_whole(u, &in, to, room, complete);
}

uint32_t sample_standing_callers(struct weft_unwinder *u, const struct sample_standing *t,
                                 struct symbols_worker *memory, uint64_t *pcs, uint32_t room,
                                 bool *complete)
{
    bool whole;
    unsigned guesses = 0;
    pcs[0] = t->at.pc;
    *complete = false;
    if (!u)
        return 1;
    uint32_t best = unwind(u, t, 0, pcs, room, complete);
    uint64_t *other = *complete ? NULL : malloc((room + (size_t)1) * sizeof *other);
    for (size_t i = 0; other && i + 1 < t->bytes / 8 && guesses < GUESSES; i++) {
        const uint64_t at = t->at.sp + 8 * i, above = t->stack[i];
        if ((above >= t->at.sp && above <= at) ||
            !weft_unwinder_knows(u, t->process, t->stack[i + 1]) ||
            !follows_call(memory, t->stack[i + 1]))
            continue;
        guesses++;
        const uint32_t n = unwind(u, t, at, other, room, &whole);
        if (n > best) {
            memcpy(pcs, other, n * sizeof *other);
            best = n;
            *complete = whole;
        }
    }
    free(other);
    return best ? best : 1;
}
