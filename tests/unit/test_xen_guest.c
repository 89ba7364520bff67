/* SPDX-License-Identifier: ISC */
/* libweft-xen in a Linux guest, over libraries that are not Xen's: what is published and when, that a failure leaves nothing,
 * and that the child of a fork touches nothing of its parent's. */
#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fake_guest.h"
#include "format/packet.h"
#include "test.h"
#include "xen/libxen.h"

static const char *published(void)
{
    const char *list = hypervisor_get(&fake_machine, FAKE_DOMAIN, WEFT_XEN_LIST_KEY);
    const char *index = hypervisor_get(&fake_machine, FAKE_DOMAIN, WEFT_XEN_INDEX_KEY);
    assert_true(!list || !index);
    return list ? list : index;
}

static unsigned state_of_trace(void)
{
    struct weft_facts_header facts;
    memcpy(&facts, fake_machine.memory + fake_seen->first * WEFT_XEN_PAGE, sizeof facts);
    assert_true(facts.packet.magic == WEFT_PACKET_MAGIC);
    return facts.state;
}

static int before(void **state)
{
    (void)state;
    fake_begin();
    fake_machine.taken = 0; /* the pages are those of the test before */
    fake_fail_at = 0;
    fake_seen->removed = 0;
    return 0;
}

static bool is_mapped(const void *page)
{
    unsigned char there;
    return mincore((void *)(uintptr_t)page, WEFT_XEN_PAGE, &there) == 0;
}

/* Whether somebody has the machine's memory mapped there: what is written on one side shows on the other. */
static bool is_shared(void)
{
    volatile unsigned char *here = fake_seen->pages;
    volatile unsigned char *there = fake_machine.memory + fake_seen->first * WEFT_XEN_PAGE;
    if (!is_mapped(fake_seen->pages))
        return false;
    there[WEFT_XEN_PAGE - 1] = 1;
    const bool one = here[WEFT_XEN_PAGE - 1] == 1;
    there[WEFT_XEN_PAGE - 1] = 0;
    return one && here[WEFT_XEN_PAGE - 1] == 0;
}

static void assert_nothing(void)
{
    assert_null(published());
    assert_int_equal(fake_seen->handles, 0);
    assert_int_equal(weft_impl_state, 0);
}

TEST(test_start)
{
    static const uint64_t bytes[] = {0, 72 << 10, (72 << 10) - 1, 1 << 20, 7 << 20};
    for (unsigned i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        fake_machine.taken = 0;
        assert_int_equal(weft_xen_start(&(struct weft_xen_options){.bytes = bytes[i]}), 0);
        assert_int_equal(fake_seen->handles, 0);
        assert_non_null(published());
        assert_int_equal(!strchr(published(), ','), bytes[i] > 2 << 20); /* else it is a list */
        assert_int_equal(state_of_trace(), WEFT_TRACE_RECORDING);
        weft_promise p = weft_create("task", "of the guest");
        assert_true(p != 0);
        assert_int_equal(weft_xen_start(NULL), -EALREADY);
        assert_non_null(published());
        weft_xen_stop();
        assert_nothing();
        assert_int_equal(fake_seen->state, WEFT_TRACE_RECORDING); /* as it was withdrawn */
        assert_int_equal(state_of_trace(), WEFT_TRACE_STOPPED);
        assert_false(is_shared());
        weft_xen_stop();
    }
}

TEST(test_sizes)
{
    static const uint64_t bytes[] = {1, 8192, 12288, 64 << 10, 5ull << 30, UINT64_MAX};
    for (unsigned i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        assert_int_equal(weft_xen_start(&(struct weft_xen_options){.bytes = bytes[i]}), -EINVAL);
        assert_nothing();
    }
    struct {
        struct weft_xen_options known;
        uint64_t unknown;
    } later = {{.size = sizeof later, .bytes = 1 << 20}, 0};
    assert_int_equal(weft_xen_start(&later.known), 0);
    weft_xen_stop();
    later.unknown = 1;
    assert_int_equal(weft_xen_start(&later.known), -E2BIG);
    later.known.size = offsetof(struct weft_xen_options, domain);
    assert_int_equal(weft_xen_start(&later.known), -EINVAL);
    later.known = (struct weft_xen_options){.bytes = 1 << 20, .flags = 77};
    assert_int_equal(weft_xen_start(&later.known), -E2BIG);
    assert_nothing();
}

/* Whichever call fails, nothing is left, and it can be started again. */
static void fail_each(unsigned domain, int calls)
{
    const struct weft_xen_options o = {.bytes = 1 << 20, .domain = domain};
    for (int n = 1; n <= calls; n++) {
        fake_machine.taken = 0;
        fake_fail_at = n;
        assert_int_equal(weft_xen_start(&o), -ENOSPC);
        assert_int_equal(fake_fail_at, 0);
        assert_nothing();
        if (n > 2)
            assert_false(is_shared());
    }
    fake_machine.taken = 0;
    fake_fail_at = calls + 1;
    assert_int_equal(weft_xen_start(&o), 0);
    assert_int_equal(fake_fail_at, 1);
    weft_xen_stop(); /* XenStore does not answer */
    assert_int_equal(weft_impl_state, 0);
    assert_int_equal(fake_seen->handles, 0);
    assert_non_null(published());
    fake_machine.taken = 0;
    assert_int_equal(weft_xen_start(&o), 0);
    weft_xen_stop();
    assert_nothing();
}

TEST(test_failures)
{
    fail_each(0, 7); /* open, share; open, begin, remove, write, commit */
}

/* Another domain than the control domain must be permitted to read the key. */
TEST(test_other_domain)
{
    fail_each(4, 9);
    assert_int_equal(fake_permissions[0].id, FAKE_DOMAIN);
    assert_int_equal(fake_permissions[0].perms, XS_PERM_NONE);
    assert_int_equal(fake_permissions[1].id, 4);
    assert_int_equal(fake_permissions[1].perms, XS_PERM_READ);
    assert_int_equal(fake_machine.grants[fake_machine.grant_count - 1].to, 4);
}

TEST(test_conflicts)
{
    fake_conflicts = 20;
    assert_int_equal(weft_xen_start(NULL), 0);
    assert_int_equal(fake_conflicts, 0);
    assert_non_null(published());
    weft_xen_stop();
    fake_machine.taken = 0;
    fake_conflicts = 1000000; /* for ever */
    assert_int_equal(weft_xen_start(NULL), -EAGAIN);
    fake_conflicts = 0;
    assert_nothing();
}

TEST(test_recording_already)
{
    static uint64_t memory[(128 << 10) / 8];
    assert_int_equal(weft_start(&(struct weft_options){.memory = memory, .bytes = sizeof memory}),
                     0);
    assert_int_equal(weft_xen_start(NULL), -EALREADY);
    assert_null(published());
    assert_int_equal(fake_seen->handles, 0);
    assert_true(weft_create("task", "still recorded") != 0);
    weft_stop();
}

/* What one that was killed has left is removed, but nobody else's. */
TEST(test_forget)
{
    const char *key = WEFT_XEN_LIST_KEY;
    hypervisor_put(&fake_machine, FAKE_DOMAIN, key, "8,9,10");
    assert_false(weft_xen_forget(key, "8,9"));
    assert_false(weft_xen_forget(key, "8,9,10,11"));
    assert_false(weft_xen_forget(WEFT_XEN_INDEX_KEY, "8,9,10"));
    fake_errno = EINVAL;
    for (int n = 1; n <= 4; n++) { /* open, begin, remove, commit */
        fake_fail_at = n;
        assert_false(weft_xen_forget(key, "8,9,10"));
        assert_int_equal(fake_fail_at, 0);
        assert_int_equal(fake_seen->handles, 0);
        assert_non_null(published());
    }
    fake_errno = ENOSPC;
    fake_conflicts = 3;
    assert_true(weft_xen_forget(key, "8,9,10"));
    assert_int_equal(fake_conflicts, 0);
    assert_false(weft_xen_forget(key, "8,9,10"));
    assert_nothing();

    /* A program may say anything to weft record, which may have more rights than it has. */
    hypervisor_put(&fake_machine, FAKE_DOMAIN, "control/shutdown", "1");
    assert_false(weft_xen_forget("control/shutdown", "1"));
    assert_non_null(hypervisor_get(&fake_machine, FAKE_DOMAIN, "control/shutdown"));
    hypervisor_put(&fake_machine, FAKE_DOMAIN, "control/shutdown", NULL);
}

/* ---- Processes ---- */

static void assert_ends_well(pid_t pid)
{
    int status = -1;
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* In the child: nothing of the parent's is there, and nothing is called. */
static void be_child(bool handlers)
{
    const long calls = fake_seen->calls;
    bool fine = !is_mapped(fake_seen->pages);
    if (handlers)
        weft_create("task", "of the child");
    weft_xen_stop();
    fine = fine && fake_seen->calls == calls;
    fine = fine && weft_xen_start(NULL) == 0 && published();
    weft_xen_stop();
    fine = fine && !published();
    _exit(fine ? 0 : 1);
}

TEST(test_fork)
{
    assert_int_equal(weft_xen_start(NULL), 0);
    const struct fake_seen seen = *fake_seen;
    pid_t pid = fork();
    if (pid == 0)
        be_child(true);
    assert_ends_well(pid);
    pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); /* without handlers */
    if (pid == 0)
        be_child(false);
    assert_ends_well(pid);
    *fake_seen = seen; /* the children have shared pages of their own */
    pid = fork();
    if (pid == 0)
        exit(0); /* what is called at exit is the parent's */
    assert_ends_well(pid);
    assert_int_equal(fake_seen->calls, seen.calls);
    assert_non_null(published());
    assert_int_equal(state_of_trace(), WEFT_TRACE_RECORDING);
    assert_true(is_shared());
    weft_xen_stop();
    assert_nothing();
}

/* At exit it is withdrawn first, then stopped; the pages stay as long as the process. */
TEST(test_exit)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (weft_xen_start(NULL) < 0)
            _exit(1);
        weft_create("task", "until the end");
        exit(0);
    }
    assert_ends_well(pid);
    assert_int_equal(fake_seen->removed, 1);
    assert_int_equal(fake_seen->state, WEFT_TRACE_RECORDING);
}

RUN_TESTS_WITH(NULL, NULL, before, NULL)
