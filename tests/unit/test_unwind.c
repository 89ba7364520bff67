/* SPDX-License-Identifier: ISC */
/* Unwinding: tests/symbols/chain.c goes down calls that it counts, and takes registers and stack as perf does. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "allocations.h"
#include "chain.h"
#include "format/error.h"
#include "symbols/unwind.h"
#include "test.h"

enum { PROCESS = 4242 };

static struct chain taken;

static struct weft_unwind_input input(void)
{
    return (struct weft_unwind_input){PROCESS,    PROCESS,     taken.regs_mask,
                                      taken.regs, taken.stack, taken.stack_bytes};
}

static int map_self(struct weft_unwinder *u)
{
    char line[4352], path[4096], rights[8];
    int rc = 0;
    int fd = open("/proc/self/maps", O_RDONLY);
    FILE *maps = fdopen(fd, "r");
    assert_non_null(maps);
    while (rc == 0 && fgets(line, sizeof line, maps)) {
        uint64_t start, end, offset;
        path[0] = '\0';
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095[^\n]", &start, &end,
                   rights, &offset, path) < 4 ||
            !strchr(rights, 'x'))
            continue;
        rc = weft_unwinder_map(
            u,
            &(struct weft_mapping){
                .process = PROCESS, .start = start, .size = end - start, .offset = offset},
            path + strspn(path, " "));
    }
    fclose(maps);
    return rc;
}

/* The chain's calls, one after the other, somewhere among the frames. */
static void check_chain(const uint64_t *pc, uint32_t count)
{
    uint32_t first = 0;
    while (first < count && pc[first] != taken.returns[0])
        first++;
    assert_true(first + CHAIN_DEPTH <= count);
    assert_true(first < 12);
    for (uint32_t i = 0; i < CHAIN_DEPTH; i++)
        assert_int_equal(pc[first + i], taken.returns[i]);
    assert_int_equal(count, first + CHAIN_DEPTH); /* the copy ends there */
}

TEST(known_chain)
{
    uint64_t pc[200], innermost = 0;
    bool complete;
    struct weft_unwinder *u = weft_unwinder_new();
    assert_non_null(u);
    assert_int_equal(map_self(u), 0);
    for (int in_handler = 0; in_handler < 2; in_handler++) {
        taken.in_handler = in_handler;
        chain_take(&taken);
        struct weft_unwind_input in = input();
        for (int again = 0; again < 2; again++)
            check_chain(pc, weft_unwinder_run(u, &in, pc, 200));
        check_chain(pc, weft_unwinder_whole(u, &in, pc, 200, &complete));
        assert_false(complete); /* the copy ends before */
        assert_true(weft_unwinder_knows(u, PROCESS, pc[0]));
        assert_false(weft_unwinder_knows(u, PROCESS, 0));
        assert_false(weft_unwinder_knows(u, 9, pc[0]));

        /* Both signals are raised by the same instruction: the one that interrupts says it as if it were called */
        bool seen = !in_handler;
        for (unsigned i = 1; i < 12; i++)
            seen |= pc[i] == innermost + 1;
        assert_true(seen);
        innermost = pc[0];

        assert_int_equal(weft_unwinder_run(u, &in, pc, 3), 3);
        assert_int_equal(weft_unwinder_run(u, &in, pc, 0), 0);

        /* A process that it forked, and one that nobody knows */
        in.process = 9;
        assert_int_equal(weft_unwinder_fork(u, 9, PROCESS), 0);
        check_chain(pc, weft_unwinder_run(u, &in, pc, 200));
        weft_unwinder_forget(u, 9);
        assert_int_equal(weft_unwinder_run(u, &in, pc, 200), 1);
    }
    weft_unwinder_free(u);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

TEST(through_noreturn)
{
    uint64_t pc[200];
    struct weft_unwinder *u = weft_unwinder_new();
    assert_non_null(u);
    assert_int_equal(map_self(u), 0);
    taken.in_handler = 0;
    taken.at_end = 1;
    chain_take(&taken);
    taken.at_end = 0;
    struct weft_unwind_input in = input();
    check_chain(pc, weft_unwinder_run(u, &in, pc, 200));
    weft_unwinder_free(u);
}

/* Where the mapping of an address begins. */
static uint64_t mapped_from(uint64_t address)
{
    char line[4352];
    uint64_t start = 0, end = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 && start <= address &&
            address < end)
            break;
    fclose(maps);
    assert_true(start <= address && address < end);
    return start;
}

/* What a later mapping leaves of an earlier one still leads to the same places. */
TEST(overlapping_mappings)
{
    uint64_t pc[200];
    struct weft_unwinder *u = weft_unwinder_new();
    assert_non_null(u);
    assert_int_equal(map_self(u), 0);
    taken.in_handler = 0;
    chain_take(&taken);
    struct weft_unwind_input in = input();
    check_chain(pc, weft_unwinder_run(u, &in, pc, 200));
    struct weft_mapping hole = {.process = PROCESS, .start = mapped_from(pc[0]), .size = 4096};
    assert_true(hole.start < (pc[0] & ~UINT64_C(4095))); /* the C library is large */
    assert_int_equal(weft_unwinder_map(u, &hole, "//anon"), 0);
    check_chain(pc, weft_unwinder_run(u, &in, pc, 200));
    hole.start = (pc[0] & ~UINT64_C(4095)) + 4096; /* behind it, but not where its caller is */
    while (hole.start == (pc[1] & ~UINT64_C(4095)) || hole.start == (pc[2] & ~UINT64_C(4095)))
        hole.start += 4096;
    assert_int_equal(weft_unwinder_map(u, &hole, "//anon"), 0);
    check_chain(pc, weft_unwinder_run(u, &in, pc, 200));
    hole.start = taken.returns[0] & ~UINT64_C(4095);
    assert_int_equal(weft_unwinder_map(u, &hole, "//anon"), 0);
    uint32_t count = weft_unwinder_run(u, &in, pc, 200); /* now by frame pointers: none */
    assert_true(count >= 1 && count < CHAIN_DEPTH);
    weft_unwinder_free(u);
}

TEST(hostile_input)
{
    uint64_t pc[200], random = 1;
    bool complete;
    struct weft_unwinder *u = weft_unwinder_new();
    assert_non_null(u);
    assert_int_equal(map_self(u), 0);
    taken.in_handler = 1;
    chain_take(&taken);
    uint64_t good[CHAIN_REGS];
    memcpy(good, taken.regs, sizeof good);
    for (int i = 0; i < 20000; i++) {
        struct weft_unwind_input in = input();
        memcpy(taken.regs, good, sizeof good);
        for (int k = 0; k < 8; k++) {
            static const uint64_t odd[] = {0,         1,         UINT64_MAX, UINT64_MAX - 7,
                                           INT64_MAX, 1ul << 63, 8,          4096};
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint64_t value = random >> 8 & 1 ? odd[random >> 9 & 7] : good[random >> 9 & 15];
            uint64_t at = random >> 40;
            if (random >> 20 & 1)
                taken.regs[at % CHAIN_REGS] = value;
            else if (taken.stack_bytes >= 8)
                memcpy(taken.stack + at % (taken.stack_bytes - 7), &value, 8);
            if (random >> 21 & 1)
                in.stack_bytes = at % (taken.stack_bytes + 1);
            if ((random >> 22 & 7) == 0)
                in.regs_mask &= random * 3;
        }
        uint32_t count = weft_unwinder_run(u, &in, pc, 200);
        assert_true(count <= 200);
        assert_true(weft_unwinder_mend(u, &in, pc, count, 200, &complete) <= 200);
    }
    assert_int_equal(weft_unwinder_run(u, &(struct weft_unwind_input){.process = PROCESS}, pc, 200),
                     0);
    weft_unwinder_free(u);
    memcpy(taken.regs, good, sizeof good);
}

/* A piece of a stack gives as many frames as it has, whatever the kernel's chain has missed. */
TEST(mended_by_tables)
{
    uint64_t whole[200], pc[200];
    bool complete;
    struct weft_unwinder *u = weft_unwinder_new();
    assert_non_null(u);
    assert_int_equal(map_self(u), 0);
    taken.in_handler = 0;
    chain_take(&taken);
    struct weft_unwind_input in = input();
    check_chain(whole, weft_unwinder_run(u, &in, whole, 200));
    for (in.stack_bytes = 0; in.stack_bytes <= taken.stack_bytes; in.stack_bytes += 8) {
        const uint32_t n = weft_unwinder_run(u, &in, pc, 200);
        pc[0] = whole[0];
        assert_int_equal(weft_unwinder_mend(u, &in, pc, 1, 200, &complete), n);
        assert_memory_equal(pc, whole, n * sizeof *pc);
        assert_false(complete);
    }
    in.stack_bytes = taken.stack_bytes;
    assert_int_equal(weft_unwinder_mend(u, &in, pc, 1, 5, &complete), 5);
    assert_memory_equal(pc, whole, 5 * sizeof *pc);
    assert_int_equal(weft_unwinder_mend(u, &in, pc, 0, 0, &complete), 0);

    /* Of a process that nobody knows, the chain is left as it is. */
    in.process = 9;
    pc[0] = whole[0];
    pc[1] = 4711;
    assert_int_equal(weft_unwinder_mend(u, &in, pc, 2, 200, &complete), 2);
    assert_int_equal(pc[1], 4711);
    weft_unwinder_free(u);
}

#if defined(__x86_64__)
extern const char _start[]; /* where the program begins: nobody has called it */

TEST(beginning)
{
    const uint64_t regs[] = {0x1000,
                             (uint64_t)(uintptr_t)_start + 1}; /* stack pointer, instruction */
    uint64_t pc[8];
    bool complete = false;
    struct weft_unwinder *u = weft_unwinder_new();
    assert_non_null(u);
    assert_int_equal(map_self(u), 0);
    const struct weft_unwind_input in = {.process = PROCESS, .regs_mask = 3 << 7, .regs = regs};
    assert_int_equal(weft_unwinder_whole(u, &in, pc, 8, &complete), 1);
    assert_true(complete);
    weft_unwinder_free(u);
}

/* Generated code, of which there are no tables. Its frames begin at 1016, 1040 and, beyond the piece, at 1100. */
TEST(mended_by_the_chain)
{
    enum { FROM = 0x10000, SP = 0x1000 };
    static const uint64_t chain[] = {FROM, FROM + 1, FROM + 2, FROM + 3, FROM + 4};
    uint64_t piece[10] = {[2] = 0x1040, FROM + 1, [8] = 0x1100, FROM + 2};
    uint64_t regs[] = {0x1010, SP, FROM}, pc[8]; /* frame pointer, stack pointer, instruction */
    bool complete;
    struct weft_unwinder *u = weft_unwinder_new();
    assert_non_null(u);
    struct weft_mapping code = {.process = PROCESS, .start = FROM, .size = 4096};
    assert_int_equal(weft_unwinder_map(u, &code, "//anon"), 0);
    struct weft_unwind_input in = {.process = PROCESS,
                                   .regs_mask = 7 << 6,
                                   .regs = regs,
                                   .stack = (const uint8_t *)piece,
                                   .stack_bytes = sizeof piece};

    static const struct {
        uint64_t fp, second; /* where the frame pointer points to; the second caller in the chain */
        uint32_t frames;
        bool complete;
    } cases[] = {
        {0x1010, FROM + 2, 5, true},  /* they agree */
        {0x1010, FROM + 9, 3, false}, /* the chain is not of this stack */
        {0x1040, FROM + 2, 2, false}, /* the frame that it should begin with is another one */
        {0x1100, FROM + 2, 5, true},  /* all beyond the piece */
        {0x0ff0, FROM + 2, 1, false}, /* below the stack: it points to something else */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        regs[0] = cases[i].fp;
        memcpy(pc, chain, sizeof chain);
        pc[2] = cases[i].second;
        assert_int_equal(weft_unwinder_mend(u, &in, pc, 5, 8, &complete), cases[i].frames);
        assert_int_equal(complete, cases[i].complete);
        assert_int_equal(pc[0], FROM);
    }
    regs[0] = 0x1010;
    memcpy(pc, chain, sizeof chain);
    pc[3] = 4711; /* nothing is mapped there */
    assert_int_equal(weft_unwinder_mend(u, &in, pc, 5, 8, &complete), 3);
    assert_false(complete);
    weft_unwinder_free(u);
}
#endif

/* Processes that are forked have what their parent had, until they map something themselves; and do not take memory
 * for it each time, whatever a file says. */
TEST(forked)
{
    enum { MAPPINGS = 4000, FORKS = 10000 };
    uint64_t pc[200];
    taken.in_handler = 0;
    chain_take(&taken);
    struct weft_unwind_input in = input();
    size_t before = live_bytes;
    struct weft_unwinder *u = weft_unwinder_new();
    assert_non_null(u);
    assert_int_equal(map_self(u), 0);
    struct weft_mapping m = {.process = PROCESS, .size = 4096};
    for (m.start = 4096; m.start <= MAPPINGS * 8192; m.start += 8192)
        assert_int_equal(weft_unwinder_map(u, &m, "//anon"), 0);
    for (uint32_t i = 1; i < FORKS; i++)
        assert_int_equal(weft_unwinder_fork(u, PROCESS + i, PROCESS + i / 2), 0);
    assert_in_range(live_bytes - before, 1, 4 << 20);
    in.process = PROCESS + FORKS - 1;
    check_chain(pc, weft_unwinder_run(u, &in, pc, 200));

    /* What one of them maps over the code is its own matter. */
    m = (struct weft_mapping){.process = PROCESS + 1, .start = 4096, .size = UINT64_MAX - 8192};
    assert_int_equal(weft_unwinder_map(u, &m, "//anon"), 0);
    in.process = PROCESS;
    check_chain(pc, weft_unwinder_run(u, &in, pc, 200));
    m = (struct weft_mapping){.process = PROCESS, .start = taken.returns[0], .size = 1};
    assert_int_equal(weft_unwinder_map(u, &m, "//anon"), 0);
    in.process = PROCESS + FORKS - 1;
    check_chain(pc, weft_unwinder_run(u, &in, pc, 200));

    for (m = (struct weft_mapping){.size = 1, .process = PROCESS + 2}; m.process < PROCESS + FORKS;
         m.process++)
        assert_int_equal(weft_unwinder_map(u, &m, "//anon"), 0);
    assert_in_range(live_bytes - before, 1, 128 << 20);
    weft_unwinder_free(u);
    assert_int_equal(live_bytes, before);
}

TEST(no_memory)
{
    uint64_t pc[200];
    taken.in_handler = 0;
    chain_take(&taken);
    struct weft_unwind_input in = input();
    for (long n = 1;; n++) {
        long before = live;
        fail_at = n;
        struct weft_unwinder *u = weft_unwinder_new();
        int rc = u ? map_self(u) : WEFT_E_NOMEM;
        if (rc == 0)
            assert_true(weft_unwinder_run(u, &in, pc, 200) >= 1);
        bool failed = fail_at == 0;
        fail_at = 0;
        weft_unwinder_free(u);
        assert_int_equal(live, before);
        if (!failed)
            break;
        assert_true(n < 1000);
    }
}

RUN_TESTS(NULL, NULL)
