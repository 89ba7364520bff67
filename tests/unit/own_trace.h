/* SPDX-License-Identifier: ISC */
/* A trace that the test itself records, and reads meanwhile. */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "read/input.h"
#include "test.h"
#include "weft/weft.h"

static char own_path[64];

static inline void own_start(uint64_t bytes)
{
    snprintf(own_path, sizeof own_path, "/tmp/weft-own-XXXXXX");
    const int fd = mkstemp(own_path);
    assert_true(fd >= 0);
    close(fd);
    unlink(own_path);
    assert_int_equal(weft_start(&(struct weft_options){.path = own_path, .bytes = bytes}), 0);
}

/* The caller closes it. */
static inline struct weft_input own_input(void)
{
    struct weft_input in = {.fd = open(own_path, O_RDONLY | O_CLOEXEC)};
    struct stat st;
    assert_true(in.fd >= 0 && fstat(in.fd, &st) == 0);
    in.size = (uint64_t)st.st_size;
    return in;
}

static inline void own_stop(void)
{
    weft_stop();
    unlink(own_path);
}

/* Afterwards everything that was recorded is older than what a look leaves for the next one (read/follow.h). */
static inline void own_let_pass(void)
{
    const int64_t until = weft_monotonic_ns() + 5000000;
    while (weft_monotonic_ns() < until)
        ;
}
