/* SPDX-License-Identifier: ISC */
/* The graph of what waits for what (now/now.h): texts, links, cycles. What is seen of real processes: ../e2e/now.sh. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "now/look.h"
#include "now/now.h"
#include "now/v8.h"
#include "sample/standing.h"
#include "test.h"

/* Things are numbered; a link is "from-to", with "~" instead of "-" if any one of several suffices, and "!" if the first one
 * goes on by itself. */
static struct now *graph(uint32_t things, const char *links)
{
    struct now *n = calloc(1, sizeof *n);
    unsigned from, to;
    char kind;
    int bytes;
    assert_non_null(n);
    for (uint32_t i = 0; i < things; i++)
        assert_int_equal(now_thing(n, NOW_THREAD, 1000 + i), i);
    for (; sscanf(links, " %u%c%u%n", &from, &kind, &to, &bytes) == 3; links += bytes) {
        now_link(n, from, to, kind == '~', "waits for");
        if (kind == '!')
            now_brief(n, from);
    }
    now_finish(n);
    assert_false(n->failed);
    return n;
}

/* cycles: of each thing the number of its cycle. */
static void check(const char *links, const char *cycles)
{
    const uint32_t things = (uint32_t)strlen(cycles);
    struct now *n = graph(things, links);
    char found[64] = "";
    for (uint32_t i = 0; i < things; i++)
        found[i] = (char)('0' + n->thing[i].cycle);
    print_message("%s\n", links);
    assert_string_equal(found, cycles);
    now_free(n);
}

TEST(test_cycles)
{
    check("", "000");
    check("0-1 1-2", "000");
    check("0-1 1-0", "11");
    check("0-0", "1");
    check("0~0", "0");
    check("0-1 1-2 2-0 3-0 2-4",
          "11100"); /* what leads there, and what it leads to, is not on it */
    check("0-1 1-0 2-3 3-2", "1122");
    check("0-1 1-0 1-2 2-3 3-2", "2211"); /* from one to the other */
    check("0-1 1-2 2-0 1-3 3-1", "1111"); /* two that share a thing */
    check("0-1 1-2 2-1 2-3 3-0", "1111"); /* one within another */
    check("0-1 1-0 0-0", "11");
    check("0-1 1~0", "00");
    check("0~1 1-0 0-1", "11");
    check("0-1 1!0", "00");
    check("0!0", "0");
    check("0!1 1-0 1-2 2-1", "011");
}

/* Of a thread that has left a core since it was looked at, or runs, nothing is certain any more. */
TEST(test_again)
{
    uint64_t before, after;
    struct now *n;
    int status;
    const pid_t child = fork();
    if (child == 0) {
        raise(SIGSTOP);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    do { /* it may be about to leave its core */
        n = graph(0, "");
        n->pid = child;
        while (!sample_standing_switches((uint32_t)child, (uint32_t)child, &before))
            ;
        now_thing(n, NOW_THREAD, (uint64_t)child);
        n->thing[0].stood = true;
        n->thing[0].switches = before;
        now_state(n, 0, "waits");
        now_threads_again(n);
        sample_standing_switches((uint32_t)child, (uint32_t)child, &after);
        if (before != after)
            now_free(n);
    } while (before != after);
    print_message("%llu switches: %s\n", (unsigned long long)before, n->thing[0].state);
    assert_false(n->thing[0].brief);
    assert_string_equal(n->thing[0].state, "waits");
    n->thing[0].switches--;
    now_threads_again(n);
    assert_true(n->thing[0].brief);
    assert_string_equal(n->thing[0].state, "waits; it has gone on since");
    assert_int_equal(n->remarks, 0);
    now_free(n);
    n = graph(1, ""); /* there is no such thread in this process */
    n->pid = child;
    n->thing[0].stood = true;
    now_threads_again(n);
    assert_string_equal(n->thing[0].state, "waited; it has ended since");
    assert_int_equal(n->remarks, 1);
    assert_non_null(strstr(n->remark[0], " has ended while it was looked at"));
    n->thing[0].stood = false;
    n->thing[0].brief = false;
    now_threads_again(n);
    assert_false(n->thing[0].brief);
    now_free(n);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
}

/* A chain that recursion would not survive, and back to its beginning. */
TEST(test_long)
{
    enum { THINGS = 200000 };
    struct now *n = calloc(1, sizeof *n);
    assert_non_null(n);
    for (uint32_t i = 0; i < THINGS; i++) {
        now_thing(n, NOW_TASK, i);
        now_link(n, i, (i + 1) % THINGS, false, "awaits");
    }
    now_finish(n);
    assert_int_equal(n->cycles, 1);
    assert_int_equal(n->thing[0].cycle, 1);
    assert_int_equal(n->thing[THINGS - 1].cycle, 1);
    now_free(n);
}

TEST(test_links)
{
    struct now *n = graph(3, "2-0 0-1 2-0 0-1 0~1");
    now_link(n, 1, NOW_NONE, false, "waits for");
    now_link(n, NOW_NONE, 1, false, "waits for");
    now_link(n, 0, 1, false, "joins");
    now_finish(n);
    for (uint32_t i = 1; i < n->links; i++)
        assert_true(n->link[i - 1].from <= n->link[i].from);
    print_message("%u links\n", (unsigned)n->links);
    assert_int_equal(n->links, 3); /* 0-1 in two ways, 2-0 */
    now_free(n);
}

/* The same thing again; texts are cut, cleaned, and replaced. */
TEST(test_texts)
{
    struct now *n = graph(1, "");
    char much[4 * NOW_TEXT_MAX];
    memset(much, 'x', sizeof much - 1);
    much[sizeof much - 1] = 0;
    assert_int_equal(now_thing(n, NOW_THREAD, 1000), 0);
    assert_int_equal(now_thing(n, NOW_LOCK, 1000), 1);
    now_name(n, 0, "thread %d '%s'", 7, "a\033[31mb\n\xff");
    assert_string_equal(n->thing[0].name, "thread 7 'a [31mb \xef\xbf\xbd'");
    now_name(n, 0, "%s", much);
    assert_true(strlen(n->thing[0].name) < NOW_TEXT_MAX);
    now_state(n, 0, "waits");
    now_state(n, 0, "runs");
    assert_string_equal(n->thing[0].state, "runs");
    for (uint32_t i = 0; i < NOW_FRAMES_MAX + 3; i++)
        now_frame(n, 0, "f\t", i ? NULL : "a.c", i);
    assert_int_equal(n->thing[0].frames, NOW_FRAMES_MAX);
    assert_int_equal(n->thing[0].frames_left_out, 3);
    assert_string_equal(n->thing[0].frame[0].function, "f ");
    assert_string_equal(n->thing[0].frame[0].file, "a.c");
    assert_null(n->thing[0].frame[1].file);
    now_name(n, NOW_NONE, "nothing");
    now_state(n, NOW_NONE, "nothing");
    now_frame(n, NOW_NONE, "nothing", NULL, 0);
    now_remark(n, "a %s", "remark\r");
    assert_string_equal(n->remark[0], "a remark ");
    assert_false(n->failed);
    now_free(n);
    now_free(NULL);
}

/* Processes that cannot be looked at. */
TEST(test_refused)
{
    struct now *n;
    struct weft_error err;
    assert_int_equal(now_open(&n, 0x7ffffff0, &err), WEFT_E_IO);
    assert_string_equal(err.text, "there is no process 2147483632");
    now_free(n);
    if (access("/proc/2/maps", R_OK) == 0) { /* kthreadd, if this is no container */
        assert_int_equal(now_open(&n, 2, &err), WEFT_E_IO);
        print_message("%s\n", err.text);
        assert_non_null(strstr(err.text, "process 2 "));
        now_free(n);
    }
}

/* A heap so large that it is not copied in time: what was copied until then counts, and the rest is known. */
TEST(test_large_heap)
{
    enum { PIECE = 1 << 18 };
    char *room = mmap(NULL, 2 * PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(room, MAP_FAILED);
    const uint64_t at = ((uint64_t)(uintptr_t)room + PIECE - 1) & ~(uint64_t)(PIECE - 1);
    memset((void *)(uintptr_t)at, 1, PIECE);
    struct now_mapping mapping[2] = {
        {.start = at, .end = at + PIECE, .readable = true, .path = (char[]){""}},
        {.start = UINT64_C(1) << 50,
         .end = UINT64_C(1) << 60,
         .readable = true,
         .path = (char[]){""}},
    };
    struct now_process p = {.pid = getpid(), .thread = getpid(), .mapping = mapping, .mappings = 2};
    struct v8 v = {.p = &p};
    for (int64_t s = 1; s <= 64 && v.pieces == 0;
         s *= 2) { /* on a busy machine one is not enough */
        v.copy_until_ns = weft_monotonic_ns() + s * 1000000000;
        assert_true(v8_copy(&v));
    }
    print_message("%u pieces, %llu bytes left\n", (unsigned)v.pieces,
                  (unsigned long long)v.left_bytes);
    assert_int_equal(v.pieces, 1);
    assert_int_equal(v.piece[0].at, at);
    assert_int_equal(v.piece[0].words, PIECE / 8);
    assert_int_equal(v.piece[0].word[1], UINT64_C(0x0101010101010101));
    assert_true(v.left_bytes == mapping[1].end - mapping[1].start);
    v8_forget(&v);
    munmap(room, 2 * PIECE);
}

RUN_TESTS(NULL, NULL)
