/* SPDX-License-Identifier: ISC */
#include "live/live.h"

/* Four buckets for each power of two, from 1.024 us: bucket 0 has everything up to there, and the last one everything that
 * is longer than 6 * 2^41 ns, more than three and a half hours. */
enum { LEAST = 10, PARTS = 4 };

uint64_t live_bucket_ns(unsigned bucket)
{
    if (bucket >= LIVE_BUCKETS - 1)
        return UINT64_MAX;
    const unsigned octave = bucket / PARTS, part = bucket % PARTS;
    return ((uint64_t)PARTS + part) << (LEAST - 2 + octave);
}

unsigned live_bucket_of(uint64_t ns)
{
    if (ns <= live_bucket_ns(0))
        return 0;
    const unsigned octave = 63u - (unsigned)__builtin_clzll(ns - 1) - LEAST;
    const unsigned part = (unsigned)((ns - 1) >> (LEAST - 2 + octave)) - PARTS;
    const unsigned bucket = octave * PARTS + part + 1;
    return bucket < LIVE_BUCKETS - 1 ? bucket : LIVE_BUCKETS - 1;
}

uint64_t live_percentile(const uint64_t took[LIVE_BUCKETS], double share)
{
    uint64_t all = 0, before = 0;
    unsigned at = 0;
    for (unsigned i = 0; i < LIVE_BUCKETS; i++)
        all += took[i];
    if (all == 0)
        return 0;
    const double wanted = share * (double)all;
    while (at < LIVE_BUCKETS - 1 && (double)(before + took[at]) < wanted)
        before += took[at++];
    const uint64_t low = at ? live_bucket_ns(at - 1) : 0;
    if (at == LIVE_BUCKETS - 1 || took[at] == 0)
        return low;
    const double within = (wanted - (double)before) / (double)took[at];
    return low + (uint64_t)(within * (double)(live_bucket_ns(at) - low));
}
