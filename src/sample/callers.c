/* SPDX-License-Identifier: ISC */
/* The callers in user space. They come from DWARF and a copy of the stack; or from the kernel's chain of frame
 * pointers, repaired with a small copy of the innermost stack. The copy is needed because a library function
 * without a frame pointer hides its direct caller, and that is the function one looks for. */
#include <string.h>

#include "sample/state.h"

/* In most C programs 4 KiB reach the thread's first function; 1 KiB reaches the caller of most library
 * functions; 512 bytes reach the caller of those that wait. At high rates less is copied: otherwise the rings
 * overflow while the sampler waits for a core. */
enum { PIECE_MOST = 4096, PIECE = 1024, PIECE_LEAST = 512, PIECES_A_SECOND = 10 << 20 };

uint64_t sample_rate(const struct weft_sampler *s)
{
    if (!s->period)
        return s->o.frequency;
    return s->kind->clock ? 1000000000u / s->period : 0;
}

uint32_t sample_piece_bytes(const struct weft_sampler *s, enum sample_role role)
{
    if (s->o.no_stacks || s->o.dwarf_bytes || s->o.frame_pointers || !sample_can_unwind())
        return 0;
    if (role == SAMPLE_LEAVE)
        return s->o.all_switches ? PIECE_LEAST : PIECE;
    const uint64_t rate = sample_rate(s);
    if (rate == 0)
        return PIECE;
    const uint64_t bytes = PIECES_A_SECOND / rate & ~UINT64_C(7);
    return bytes > PIECE_MOST ? PIECE_MOST : bytes < PIECE_LEAST ? PIECE_LEAST : (uint32_t)bytes;
}

static void regs_of(const struct weft_sampler *s, const struct sample_perf_record *r,
                    uint64_t regs[64])
{
    uint32_t count = 0;
    for (uint64_t m = s->regs_mask; m; m &= m - 1)
        count++;
    memcpy(regs, r->regs, count * sizeof *regs);
}

uint32_t sample_user_callers(struct weft_sampler *s, const struct sample_perf_record *r,
                             uint64_t *to, uint32_t count, uint32_t room, bool *cut)
{
    uint64_t regs[64];
    bool complete;
    if (!s->unwinder || !r->regs || r->process == NONE || room == 0)
        return count;
    regs_of(s, r, regs);
    struct weft_unwind_input in = {
        .process = r->process,
        .thread = r->thread,
        .regs_mask = s->regs_mask,
        .regs = regs,
        .stack = r->stack,
        .stack_bytes = r->stack_bytes,
    };
    if (!s->o.dwarf_bytes) {
        count = weft_unwinder_mend(s->unwinder, &in, to, count, room, &complete);
        *cut |= !complete;
        return count;
    }
    count = weft_unwinder_run(s->unwinder, &in, to, room);
    s->counts.unwound += count > 1;
    *cut |= r->stack_bytes + 8 >= s->o.dwarf_bytes;
    return count;
}
