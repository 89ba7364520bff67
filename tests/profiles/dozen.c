/* SPDX-License-Identifier: ISC */
/* dozen MS: twelve functions, whose shares of MS milliseconds of CPU time are far enough apart that ten seconds at
 * 1 kHz put them in order. */
#include "share.h"

/* clang-format off */
#define DOZEN(X)                                                                                   \
    X(January, 200) X(February, 170) X(March, 142) X(April, 117) X(May, 95) X(June, 76) X(July, 60)          \
    X(August, 46) X(September, 34) X(October, 25) X(November, 20) X(December, 15)
#define X(name, weight) BURNER(ALONE, name)
DOZEN(X)
#undef X
#define X(name, weight) {#name, weight, 0},
static struct share shares[] = {DOZEN(X)};
#undef X
#define X(name, weight) name,
static void (*const burners[])(uint64_t) = {DOZEN(X)};
#undef X
/* clang-format on */

#define COUNT (unsigned)(sizeof(shares) / sizeof(*shares))

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: dozen MS\n", stderr);
        return 2;
    }
    uint64_t goal_ns = parse_ms(argv[1]), until;
    struct turns t = {.share = shares, .shares = COUNT, .random = 1};
    while (turns_ns(&t) < goal_ns)
        burners[turn_begin(&t, &until)](until);
    turn_end(&t);
    tell_shares(shares, COUNT);
    return 0;
}
