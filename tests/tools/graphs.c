/* SPDX-License-Identifier: ISC */
/* graphs SHAPE N: records N promises that wait for each other in a way that is hard on whoever looks into it.
 *
 *     chain      each waits for the next one; the last one is never resolved
 *     circle     … and the last one for the first
 *     self       each waits for itself
 *     star       all wait for one, which is never resolved
 *     tree       each waits for its two children; the leaves are never resolved
 *     tangle     each waits for some others by chance
 *     resolved   a chain that is resolved from its end, so that each is woken by the next one
 *     turns      nobody waits; each is resolved before the next one is created
 *
 * The first one should be resolved, but in "turns". No promise ever runs but in "resolved". */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

static uint64_t count, seed = 1;

static uint64_t number(uint64_t i) /* of the i-th promise */
{
    return i % count + 1;
}

static uint64_t chance(uint64_t below) /* xorshift64 */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

static void wait_for(const char *shape, uint64_t i)
{
    bool last = i + 1 == count;
    if (strcmp(shape, "circle") == 0)
        weft_wait_by(number(i), number(i + 1));
    else if (strcmp(shape, "chain") == 0 || strcmp(shape, "resolved") == 0) {
        if (!last)
            weft_wait_by(number(i), number(i + 1));
    } else if (strcmp(shape, "self") == 0)
        weft_wait_by(number(i), number(i));
    else if (strcmp(shape, "star") == 0) {
        if (!last)
            weft_wait_by(number(i), number(count - 1));
    } else if (strcmp(shape, "tree") == 0)
        for (uint64_t child = 2 * i + 1; child <= 2 * i + 2 && child < count; child++)
            weft_wait_by(number(i), number(child));
    else if (strcmp(shape, "tangle") == 0)
        for (uint64_t n = chance(4); n > 0; n--)
            weft_wait_by(number(i), number(chance(count)));
}

int main(int argc, char **argv)
{
    if (argc != 3 || (count = strtoull(argv[2], NULL, 10)) == 0) {
        fprintf(stderr, "usage: %s chain|circle|self|star|tree|tangle|resolved|turns N\n", argv[0]);
        return 2;
    }
    const bool turns = strcmp(argv[1], "turns") == 0;
    for (uint64_t i = 0; i < count; i++) {
        weft_create_id(WEFT_LOOP, number(i), "task",
                       i == 0           ? "first"
                       : i + 1 == count ? "last"
                                        : "link");
        if (turns)
            weft_fulfill(number(i));
    }
    if (turns)
        return 0;
    weft_should_resolve(number(0));
    for (uint64_t i = 0; i < count; i++)
        wait_for(argv[1], i);
    for (uint64_t i = count; strcmp(argv[1], "resolved") == 0 && i-- > 0;) {
        if (i + 1 < count)
            weft_wake(number(i), number(i + 1));
        weft_fulfill(number(i));
    }
    return 0;
}
