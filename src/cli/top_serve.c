/* SPDX-License-Identifier: ISC */
#include "cli/top.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "cli/common.h"

#ifndef WEFT_HAS_SOUP

struct top_serve *top_serve_begin(struct top *t, const char *where)
{
    (void)t;
    cli_say("top", "--metrics %s: this weft was built without libsoup 3", cli_shown(where).text);
    return NULL;
}

void top_serve_end(struct top_serve *s)
{
    (void)s;
}

bool top_serve_wait(struct top_serve *s, int fd, int64_t until_ns)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    const int64_t left_ns = until_ns - weft_monotonic_ns();
    (void)s;
    if (left_ns <= 0 && fd < 0)
        return false;
    const struct timespec left = {left_ns > 0 ? left_ns / 1000000000 : 0,
                                  left_ns > 0 ? left_ns % 1000000000 : 0};
    return ppoll(&p, fd >= 0, &left, NULL) != 0;
}

#endif
