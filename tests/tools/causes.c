/* SPDX-License-Identifier: ISC */
/* Two processes that record traces of their own, and cause one another's events over pipes: the first one records
 * "write N" and writes a byte; the other one reads it, records "saw N" and "answer N", and writes one back; then the first
 * one records "got N".
 *
 *     causes [odd] FILE FILE ROUNDS      odd: the second one's clock is its own, and neither begins nor runs like
 *                                        CLOCK_MONOTONIC */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>

/* Steps of 1.6 ns, that is 625 million a second. */
static uint64_t odd_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return ((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec) / 8 * 5 + 123456789;
}

static void say(weft_promise p, const char *what, long round)
{
    char text[32];
    snprintf(text, sizeof text, "%s %ld", what, round);
    weft_label(p, text);
}

static int record(const struct weft_options *options, int in, int out, long rounds, int first)
{
    char byte = 0;
    if (weft_start(options) < 0) {
        fprintf(stderr, "causes: cannot record into %s\n", options->path);
        return 1;
    }
    weft_promise p = weft_create("task", first ? "cause" : "effect");
    for (long i = 0; i < rounds; i++) {
        if (first) {
            say(p, "write", i);
            if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)
                return 1;
            say(p, "got", i);
        } else {
            if (read(in, &byte, 1) != 1)
                return 1;
            say(p, "saw", i);
            say(p, "answer", i);
            if (write(out, &byte, 1) != 1)
                return 1;
        }
    }
    weft_fulfill(p);
    weft_stop();
    return 0;
}

int main(int argc, char **argv)
{
    int odd = argc == 5 && strcmp(argv[1], "odd") == 0, to[2], back[2], status = 1;
    if (argc != 4 + odd || pipe(to) < 0 || pipe(back) < 0)
        return 2;
    argv += odd;
    long rounds = atol(argv[3]);
    pid_t child = fork();
    if (child < 0)
        return 1;
    if (child == 0) {
        close(to[1]);
        close(back[0]);
        struct weft_options options = {.path = argv[2],
                                       .bytes = 4 << 20,
                                       .clock = odd ? odd_clock : NULL,
                                       .clock_hz = odd ? 625000000 : 0};
        return record(&options, to[0], back[1], rounds, 0);
    }
    close(to[0]);
    close(back[1]);
    struct weft_options options = {.path = argv[1], .bytes = 4 << 20};
    int failed = record(&options, back[0], to[1], rounds, 1);
    close(to[1]);
    close(back[0]);
    return waitpid(child, &status, 0) != child || status != 0 || failed;
}
