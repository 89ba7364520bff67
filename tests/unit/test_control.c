/* SPDX-License-Identifier: ISC */
/* What weft ctl may store into a process, also half of it, and nonsense: the calls go on, and what they record is
 * what was asked for in whole. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/control.h"
#include "record/start.h"
#include "test.h"
#include <weft/weft.h>

extern struct weft_record_control weft_record_control;

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

enum { MIB = 1 << 20, NONSENSE = 20000 };

static char folder[] = "/tmp/weft-control.XXXXXX";

static void call(void)
{
    weft_fulfill(weft_create("round", NULL));
}

static void ring(void)
{
    *(volatile unsigned char *)weft_record_control.bell = WEFT_RECORD_RING;
    *(volatile unsigned char *)weft_record_control.word |= WEFT_RECORD_CALL_US;
}

static struct weft_record_request request(uint64_t number, enum weft_record_command_kind command,
                                          const char *name)
{
    struct weft_record_request r = {.number = number, .command = command, .bytes = MIB};
    r.pid = (uint32_t)getpid();
    snprintf(r.path, sizeof r.path, "%s/%s", folder, name);
    r.check = weft_record_request_check(&r);
    return r;
}

static int ask(const struct weft_record_request *r)
{
    weft_record_control.request = *r;
    ring();
    call();
    return weft_record_control.answer.number == r->number ? weft_record_control.answer.error : 1;
}

static bool is_there(const char *name)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    bool there = access(path, F_OK) == 0;
    unlink(path);
    return there;
}

TEST(test_orders)
{
    struct weft_record_request r = request(1, WEFT_RECORD_CTL_ON, "a%p");
    assert_int_equal(ask(&r), 0);
    assert_non_null(weft_record_control.facts);
    assert_int_equal(*weft_record_control.word, WEFT_RECORD_CALL_US);
    r = request(2, WEFT_RECORD_CTL_OFF, "");
    assert_int_equal(ask(&r), 0);
    assert_int_equal(*weft_record_control.word, 0);
    assert_non_null(weft_record_control.facts);
    r = request(3, WEFT_RECORD_CTL_ON, "not used");
    assert_int_equal(ask(&r), 0);
    r = request(4, WEFT_RECORD_CTL_STOP, "");
    assert_int_equal(ask(&r), 0);
    assert_null(weft_record_control.facts);
    assert_int_equal(*weft_record_control.word, 0);
    assert_true(is_there("a%p")); /* as it was asked for */
    assert_false(is_there("not used"));
}

TEST(test_nonsense)
{
    struct weft_record_request r = request(11, WEFT_RECORD_CTL_ON, "b");
    r.check ^= 1;
    assert_int_equal(ask(&r), 1); /* no answer */
    assert_int_equal(*weft_record_control.word, 0);
    assert_null(weft_record_control.facts);
    r = request(12, (enum weft_record_command_kind)77, "b");
    assert_int_equal(ask(&r), -ENOSYS);
    r = request(13, WEFT_RECORD_CTL_ON, "b");
    r.bytes = 5;
    r.check = weft_record_request_check(&r);
    assert_int_equal(ask(&r), -EINVAL);
    r = request(14, WEFT_RECORD_CTL_ON, "nowhere/b");
    assert_int_equal(ask(&r), -ENOENT);
    memset(r.path, 'x', sizeof r.path); /* without an end */
    r.number = 15;
    r.check = weft_record_request_check(&r);
    assert_true(ask(&r) != 0);
    r = request(16, WEFT_RECORD_CTL_ON, "");
    r.path[0] = 0;
    r.check = weft_record_request_check(&r);
    assert_int_equal(ask(&r), -EINVAL);
    r = request(17, WEFT_RECORD_CTL_ON, "b");
    r.pid++; /* another process's, of which this one is a copy */
    r.check = weft_record_request_check(&r);
    assert_int_equal(ask(&r), 1);
    assert_null(weft_record_control.facts);
    weft_record_control.request.number = 0;
    call();
    assert_int_equal(*weft_record_control.word, 0);
    /* A bell without a request, and one that comes too late */
    weft_standby(1);
    ring();
    call();
    assert_int_equal(*weft_record_control.word, WEFT_RECORD_STANDBY);
    *weft_record_control.word = 0;
    ring();
    call();
    assert_int_equal(*weft_record_control.word, WEFT_RECORD_STANDBY);
    weft_standby(0);
    assert_false(is_there("b"));
    /* The second byte of a ring that was answered after the first: calls are to cost nothing again */
    *weft_record_control.word |= WEFT_RECORD_CALL_US;
    call();
    assert_int_equal(*weft_record_control.word, 0);
}

static volatile int ended;

static void *make_calls(void *count)
{
    while (!ended) {
        call();
        __atomic_add_fetch((long *)count, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* Any bytes at any moment, while threads record, are begun and ended. */
TEST(test_torn)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* all of it is a race, as it is from another process */
#endif
    pthread_t thread[3];
    long calls = 0;
    unsigned seed = 4;
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, make_calls, &calls), 0);
    for (uint64_t i = 0; i < NONSENSE; i++) {
        static const enum weft_record_command_kind kinds[] = {
            WEFT_RECORD_CTL_ON, WEFT_RECORD_CTL_OFF, WEFT_RECORD_CTL_STOP};
        struct weft_record_request r = request(100 + i, kinds[rand_r(&seed) % 3], "c");
        r.bytes = 64 << 10;
        r.check = weft_record_request_check(&r);
        volatile unsigned char *to = (volatile unsigned char *)&weft_record_control.request;
        const unsigned char *from = (const unsigned char *)&r;
        size_t begin = (size_t)rand_r(&seed) % 256,
               end = i % 3 ? sizeof r : begin + (size_t)rand_r(&seed) % 256;
        for (size_t at = i % 2 ? 0 : begin; at < end; at++)
            to[at] = i % 7 ? from[at] : (unsigned char)rand_r(&seed);
        ring();
    }
    ended = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    assert_true(weft_record_control.answer.number >= 100);
    struct weft_record_request r = request(7, WEFT_RECORD_CTL_STOP, "");
    ask(&r);
    is_there("c");
    assert_true(calls > 0);
    assert_null(weft_record_control.facts);
    assert_int_equal(*weft_record_control.word, 0);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* Memory instead of a file: only if it is large enough and stays so. */
TEST(test_taken)
{
    struct weft_record_file f = {.map = NULL};
    const int fd = memfd_create("trace", MFD_CLOEXEC | MFD_ALLOW_SEALING),
              null = open("/dev/null", O_RDWR);
    assert_int_equal(ftruncate(fd, MIB), 0);
    assert_int_equal(weft_record_file_take(&f, -1, MIB), -EBADF);
    assert_int_equal(weft_record_file_take(&f, null, MIB), -EBADF);
    assert_int_equal(weft_record_file_take(&f, fd, MIB), -EBADF);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
    assert_int_equal(weft_record_file_take(&f, fd, MIB), -EBADF);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    assert_int_equal(weft_record_file_take(&f, fd, MIB + 1), -EBADF);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(pwrite(fd, "x", 1, MIB - 1), 1);
    assert_int_equal(weft_record_file_take(&f, fd, MIB), 0);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC); /* the caller closes it */
    close(fd);
    assert_int_equal(f.map[MIB - 1], 'x');
    assert_false(f.named);
    munmap(f.map, MIB);
    close(null);
}

RUN_TESTS(set_up, tear_down)
