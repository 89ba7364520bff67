/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/user.h>
#include <unistd.h>

#include "base/array.h"
#include "now/threads.h"
#include "sample/proc.h"
#include "symbols/unwind.h"

enum {
    TRIES = 3,
    STACKS_MAX = 1000, /* threads whose stacks are read */
    STOPPED_MAX = 64,  /* threads that are stopped for a moment because they run */
    PCS_MAX = 256,
};

struct reader {
    struct now_threads *t;
    struct weft_unwinder *unwinder;
    struct sample_standing *standing;
    struct now_runner *runner;
    uint32_t stacks, stopped, refused, unseen;
};

static int map_all(struct reader *r)
{
    struct now_process *p = r->t->p;
    int rc = 0;
    for (uint32_t i = 0; i < p->mappings && rc == 0; i++) {
        const struct now_mapping *m = &p->mapping[i];
        const struct now_object *o = now_object_at(&r->t->objects, m->start);
        const bool file = m->path[0] == '/';
        struct weft_mapping w = {.process = (uint32_t)p->pid,
                                 .start = m->start,
                                 .size = m->end - m->start,
                                 .offset = file ? m->offset : m->start};
        if (!m->executable || strcmp(m->path, "[vsyscall]") == 0)
            continue;
        if (o && strcmp(p->mapping[o->mapping].path, m->path) == 0) {
            w.build_id_bytes = o->build_id_bytes;
            memcpy(w.build_id, o->build_id, sizeof w.build_id);
        }
        rc = weft_unwinder_map(r->unwinder, &w, *m->path ? m->path : "//anon");
    }
    return rc;
}

/* Instructions become the places that are looked up: a call stands before the address where it goes on. */
static int keep(struct now_threads *t, struct now_thread *thread, const uint64_t *pcs,
                uint32_t count)
{
    thread->pc = t->pcs;
    for (uint32_t i = 0; i < count; i++) {
        if (!weft_reserve(&t->pc, t->pcs, &t->pcs_room, sizeof *t->pc))
            return WEFT_E_NOMEM;
        t->pc[t->pcs++] = pcs[i] - (i > 0);
        now_names_want(&t->code, pcs[i] - (i > 0));
        thread->pcs++;
    }
    return 0;
}

/* What is called by the instruction that ends at an address; 0: not known. */
static uint64_t called_before(struct now_process *p, uint64_t end)
{
#if defined(__x86_64__)
    uint8_t code[6];
    int32_t offset;
    uint64_t target;
    if (!now_read(p, end - sizeof code, code, sizeof code))
        return 0;
    memcpy(&offset, code + 2, sizeof offset);
    if (code[1] == 0xe8) /* call offset */
        return end + (uint64_t)(int64_t)offset;
    if (code[0] == 0xff && code[1] == 0x15 && /* call *offset(%rip) */
        now_read(p, end + (uint64_t)(int64_t)offset, &target, sizeof target))
        return target;
#elif defined(__aarch64__)
    uint32_t code;
    if (now_read(p, end - 4, &code, sizeof code) && (code & 0xfc000000) == 0x94000000) /* bl */
        return end - 4 + (((uint64_t)(code & 0x3ffffff) << 2 ^ 0x8000000) - 0x8000000);
#else
    (void)p, (void)end;
#endif
    return 0;
}

static void find_called(struct now_threads *t, struct now_thread *thread)
{
    unsigned found = 0;
    for (uint32_t i = 1; i < thread->pcs && found < NOW_CALLED; i++) {
        const uint64_t pc = t->pc[thread->pc + i];
        struct now_called *called = &thread->called[found];
        if (t->has_libc &&
            now_object_at(&t->objects, pc) == now_object_at(&t->objects, t->pc[thread->pc + i - 1]))
            continue;
        *called = (struct now_called){called_before(t->p, pc + 1), i};
        if (called->address)
            now_names_want(&t->code, called->address);
        found++;
    }
}

static void keep_top(struct now_thread *thread, const uint64_t *stack, size_t bytes)
{
    thread->words = (uint32_t)(bytes / sizeof *stack);
    if (thread->words > NOW_STACK_WORDS)
        thread->words = NOW_STACK_WORDS;
    memcpy(thread->top, stack, thread->words * sizeof *stack);
}

/* Returns true if it waits, and did not move while its stack was copied. */
static bool stand(struct reader *r, struct now_thread *thread, bool copies)
{
    struct sample_standing *s = r->standing;
    uint64_t before = thread->switches;
    for (unsigned i = 0; i < TRIES && thread->state && strchr("SDTt", thread->state); i++) {
        if (!sample_standing_at(s->process, s->thread, &s->at)) {
            r->refused += !s->at.running;
            return false;
        }
        thread->at = s->at;
        thread->known = !copies;
        if (!copies)
            return true;
        sample_standing_read(s, &r->t->p->memory);
        if (!sample_standing_switches(s->process, s->thread, &thread->switches))
            return false;
        thread->known = before == thread->switches;
        if (thread->known)
            return true;
        before = thread->switches;
    }
    return false;
}

static int read_standing(struct reader *r, struct now_thread *thread)
{
    uint64_t pcs[PCS_MAX];
    const bool copies = r->stacks < STACKS_MAX;
    r->standing->process = (uint32_t)r->t->p->pid;
    r->standing->thread = thread->number;
    if (!stand(r, thread, copies) || !copies)
        return 0;
    r->stacks++;
    keep_top(thread, r->standing->stack, r->standing->bytes);
    const uint32_t count = sample_standing_callers(r->unwinder, r->standing, &r->t->p->memory, pcs,
                                                   PCS_MAX, &thread->whole);
    if (keep(r->t, thread, pcs, count) < 0)
        return WEFT_E_NOMEM;
    find_called(r->t, thread);
    return 0;
}

static struct weft_unwind_input input_of(const struct reader *r, const struct now_thread *thread,
                                         const struct now_registers *regs)
{
    return (struct weft_unwind_input){.process = (uint32_t)r->t->p->pid,
                                      .thread = thread->number,
                                      .regs_mask = regs->mask,
                                      .regs = regs->reg,
                                      .stack = (const uint8_t *)r->standing->stack,
                                      .stack_bytes = r->standing->bytes};
}

static int read_running(struct reader *r, struct now_thread *thread)
{
    struct now_registers regs;
    struct sample_standing *s = r->standing;
    uint64_t pcs[PCS_MAX];
    if (!r->runner && !(r->runner = now_runner_new(r->t)))
        return 0;
    r->stopped++;
    if (!now_runner_look(r->runner, thread->number, &regs, s->stack, sizeof s->stack, &s->bytes)) {
        if (now_thread_again(r->t, thread))
            return read_standing(r, thread);
        r->unseen += thread->state == 'R';
        return 0;
    }
    r->stacks++;
    const struct weft_unwind_input in = input_of(r, thread, &regs);
    uint32_t count = weft_unwinder_whole(r->unwinder, &in, pcs, PCS_MAX, &thread->whole);
    if (!count) {
        pcs[0] = regs.pc;
        count = 1;
    }
    thread->at.sp = regs.sp;
    return keep(r->t, thread, pcs, count);
}

/* Fills *r with what a core has of a thread. */
static void take_registers(const struct weft_core_thread *left, struct now_registers *r)
{
    struct user_regs_struct u;
    *r = (struct now_registers){0};
    if (left->regs * sizeof *left->reg >= sizeof u) {
        memcpy(&u, left->reg, sizeof u);
        now_registers_of(r, &u);
    }
}

/* A thread that has jumped to where no code is: a call leaves the address where it would go on on the stack, or in a
 * register. Returns how many callers there are then, with the place itself. */
static uint32_t unwind_lost(struct reader *r, const struct weft_unwind_input *from,
                            const struct now_registers *regs, uint64_t *pcs)
{
    struct now_registers back = *regs;
    struct weft_unwind_input in = *from;
    bool complete;
    pcs[0] = regs->pc;
    if (!now_registers_return(&back, (const uint64_t *)(const void *)in.stack, in.stack_bytes) ||
        !weft_unwinder_knows(r->unwinder, in.process, back.pc))
        return 1;
    in.regs = back.reg;
    in.stack += back.sp - regs->sp;
    in.stack_bytes -= back.sp - regs->sp;
    return 1 + weft_unwinder_whole(r->unwinder, &in, pcs + 1, PCS_MAX - 1, &complete);
}

static int read_left(struct reader *r, struct now_thread *thread)
{
    struct now_registers regs;
    struct sample_standing *s = r->standing;
    uint64_t pcs[PCS_MAX];
    const struct weft_core_thread *left = thread->left;
    take_registers(left, &regs);
    thread->at = (struct sample_standing_at){.call = left->call, .sp = left->sp, .pc = left->pc};
    memcpy(thread->at.arg, left->arg, sizeof left->arg);
    thread->known = true;
    if (r->stacks == STACKS_MAX || !regs.mask)
        return 0;
    r->stacks++;
    s->bytes = sample_distant_read(&r->t->p->memory, left->sp, s->stack, sizeof s->stack);
    keep_top(thread, s->stack, s->bytes);
    const struct weft_unwind_input in = input_of(r, thread, &regs);
    const uint32_t count = weft_unwinder_knows(r->unwinder, in.process, regs.pc)
                               ? weft_unwinder_whole(r->unwinder, &in, pcs, PCS_MAX, &thread->whole)
                               : unwind_lost(r, &in, &regs, pcs);
    if (keep(r->t, thread, pcs, count) < 0)
        return WEFT_E_NOMEM;
    find_called(r->t, thread);
    return 0;
}

/* The kernel may not have the file, or not let us read it; or else threads have ended. */
static void say_refused(struct reader *r)
{
    char path[64], byte;
    struct now *n = r->t->n;
    const int pid = (int)r->t->p->pid;
    if (access("/proc/self/syscall", F_OK) < 0) {
        now_remark(n, "this kernel does not say where threads wait: it has no /proc/PID/syscall");
        return;
    }
    snprintf(path, sizeof path, "/proc/%d/syscall", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const int error = fd < 0 || read(fd, &byte, 1) < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    if (error == EPERM || error == EACCES)
        now_remark(n,
                   "where threads wait cannot be seen: tracing process %d is not permitted; be "
                   "root, have CAP_SYS_PTRACE, or lower kernel.yama.ptrace_scope (sysctl)",
                   pid);
}

/* The first thread of the process, whose number need not be the lowest. */
static struct now_thread *first_thread(const struct now_threads *t)
{
    for (uint32_t i = 0; i < t->threads; i++)
        if (t->thread[i].number == (uint32_t)t->p->pid && !t->thread[i].left)
            return &t->thread[i];
    return NULL;
}

static int read_all(struct reader *r)
{
    struct now_threads *t = r->t;
    struct now_thread *first = t->threads > STACKS_MAX ? first_thread(t) : NULL;
    int rc = first ? read_standing(r, first) : 0;
    for (uint32_t i = 0; i < t->threads && rc == 0; i++)
        if (&t->thread[i] != first)
            rc = t->thread[i].left ? read_left(r, &t->thread[i]) : read_standing(r, &t->thread[i]);
    /* Some may only have been about to wait. */
    for (uint32_t i = 0; i < t->threads && rc == 0; i++)
        if (!t->thread[i].known && r->stacks < STACKS_MAX && now_thread_again(t, &t->thread[i]))
            rc = read_standing(r, &t->thread[i]);
    for (uint32_t i = 0; i < t->threads && rc == 0; i++)
        if (!t->thread[i].known && t->thread[i].state == 'R' && r->stopped < STOPPED_MAX &&
            r->stacks < STACKS_MAX)
            rc = read_running(r, &t->thread[i]);
    if (r->refused)
        say_refused(r);
    if (r->unseen)
        now_remark(t->n,
                   "the stacks of threads that run are not known (%" PRIu32
                   "): tracing is not permitted, or they did not stop",
                   r->unseen);
    if (r->stacks == STACKS_MAX && t->threads > STACKS_MAX)
        now_remark(t->n,
                   "the stacks of %u threads are not shown: only those of the first %u are read",
                   t->threads - r->stacks, r->stacks);
    return rc;
}

int now_stacks_read(struct now_threads *t)
{
    struct reader r = {
        .t = t, .unwinder = weft_unwinder_new(), .standing = malloc(sizeof *r.standing)};
    int rc = r.unwinder && r.standing ? 0 : WEFT_E_NOMEM;
    if (rc == 0 && !t->p->no_files)
        rc = map_all(&r);
    if (rc == 0)
        rc = read_all(&r);
    now_runner_free(r.runner);
    weft_unwinder_free(r.unwinder);
    free(r.standing);
    return rc;
}
