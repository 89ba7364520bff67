/* SPDX-License-Identifier: ISC */
/* Waits until a key of XenStore is there, and its value begins with the prefix, if one is given:
 *
 *     await SECONDS PATH [PREFIX]
 *
 * Prints what stands behind the prefix. Status 1: the time has passed. */
#include <err.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xenstore.h>

static long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const char *path = argv[2], *prefix = argc > 3 ? argv[3] : "";
    const long end_ms = now_ms() + 1000 * atol(argv[1]);
    struct xs_handle *xs = xs_open(0);
    if (!xs || !xs_watch(xs, path, ""))
        err(2, "cannot watch %s", path);
    for (;;) {
        unsigned size, count;
        char *value = xs_read(xs, XBT_NULL, path, &size);
        if (value && strncmp(value, prefix, strlen(prefix)) == 0) {
            puts(value + strlen(prefix));
            return 0;
        }
        free(value);
        struct pollfd wait = {.fd = xs_fileno(xs), .events = POLLIN};
        long left_ms = end_ms - now_ms();
        if (left_ms <= 0 || poll(&wait, 1, (int)left_ms) < 0)
            return 1;
        if (wait.revents)
            free(xs_read_watch(xs, &count));
    }
}
