/* SPDX-License-Identifier: ISC */
/* corrupt PID TIMES: looks at a Python process (now/python.h) as many times as it is told, in memory of which some words
 * have been replaced by others, which differ each time: what a process shows that is hostile, or that goes on meanwhile.
 * It must end, with a graph in which all is in range. Prints how many things it saw, the least and the most. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/idmap.h"
#include "now/python.h"

enum { KEPT_MAX = 1 << 14 };

/* Blocks of the process as they are, so that it is read once. */
static struct kept {
    uint8_t bytes[PYTHON_BLOCK];
    bool there;
} * kept[KEPT_MAX];

static struct now_process process;
static struct weft_idmap *numbers; /* of blocks */
static uint32_t keeps;
static uint64_t seed, one_in, reads, changed;

static const struct kept *block_at(uint64_t at)
{
    uint32_t *number = weft_idmap_at(numbers, at / PYTHON_BLOCK);
    assert(number);
    if (*number == WEFT_IDMAP_NONE) {
        if (keeps == KEPT_MAX)
            return NULL;
        struct kept *k = kept[ *number = keeps++] = malloc(sizeof *k);
        assert(k);
        k->there = now_read(&process, at, k->bytes, sizeof k->bytes);
    }
    return kept[*number];
}

/* Another pointer of the same block, a number, a pointer that is off, or noise. */
static uint64_t other(const struct kept *k, uint64_t word, uint64_t noise)
{
    uint64_t from;
    memcpy(&from, k->bytes + noise / 8 % (PYTHON_BLOCK / 8) * 8, sizeof from);
    switch (noise % 8) {
    case 0:
        return 0;
    case 1:
        return noise;
    case 2:
        return word + 8 * (noise >> 60);
    case 3:
        return noise >> 40;
    case 4:
        return UINT64_MAX - (noise >> 50);
    default:
        return from;
    }
}

static bool read_corrupt(void *data, uint64_t at, void *to, size_t bytes)
{
    const uint64_t first = at % PYTHON_BLOCK;
    const struct kept *k = block_at(at - first);
    (void)data;
    reads++;
    memset(to, 0, bytes);
    if (!k || !k->there || first + bytes > PYTHON_BLOCK)
        return now_read(&process, at, to, bytes);
    memcpy(to, k->bytes + first, bytes);
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t word;
        const uint64_t noise = weft_mix(at + i, seed);
        if (noise % one_in != 0)
            continue;
        memcpy(&word, (char *)to + i, sizeof word);
        word = other(k, word, weft_mix(noise, seed));
        memcpy((char *)to + i, &word, sizeof word);
        changed++;
    }
    return true;
}

static uint32_t look(uint64_t runtime, uint32_t version, uint64_t rarity)
{
    struct now *n = calloc(1, sizeof *n);
    struct python py;
    assert(n);
    one_in = rarity;
    n->pid = process.pid;
    if (!python_open(&py, n, (struct python_source){read_corrupt, NULL}))
        abort();
    python_look(&py, runtime, PYTHON_MINOR(version));
    python_close(&py);
    now_finish(n);
    assert(!n->failed && n->things <= NOW_THINGS_MAX);
    for (uint32_t i = 0; i < n->links; i++)
        assert(n->link[i].from < n->things && n->link[i].to < n->things);
    for (uint32_t i = 0; i < n->things; i++)
        assert(n->thing[i].name && n->thing[i].frames <= NOW_FRAMES_MAX);
    const uint32_t things = n->things;
    now_free(n);
    return things;
}

int main(int count, char **arg)
{
    struct weft_error err;
    uint64_t runtime, most = 0, least = UINT64_MAX;
    uint32_t version;
    if (count != 3 || now_process_open(&process, (pid_t)atoi(arg[1]), &err) < 0 ||
        !python_find(&process, &runtime, &version))
        return 2;
    numbers = weft_idmap_new();
    const uint32_t whole = look(runtime, version, UINT64_MAX);
    for (long i = 0, times = atol(arg[2]); i < times; i++) {
        seed = weft_mix((uint64_t)i, 1);
        const uint32_t things = look(runtime, version, UINT64_C(1024) << (i % 12));
        most = things > most ? things : most;
        least = things < least ? things : least;
    }
    printf("%" PRIu32 " things; corrupt: %" PRIu64 " to %" PRIu64 ", %" PRIu64
           " words changed in %" PRIu64 " reads\n",
           whole, least, most, changed, reads);
    for (uint32_t i = 0; i < keeps; i++)
        free(kept[i]);
    weft_idmap_free(numbers);
    now_process_close(&process);
    return whole == 0;
}
