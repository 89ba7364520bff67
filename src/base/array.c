/* SPDX-License-Identifier: ISC */
#include "base/array.h"

bool weft_reserve_all(void *array, uint64_t wanted, uint32_t *room, size_t item)
{
    const uint64_t most = UINT32_MAX, half_more = *room ? *room + *room / UINT64_C(2) : 16;
    if (wanted <= *room)
        return true;
    if (wanted > most)
        return false;
    wanted = wanted > half_more ? wanted : half_more < most ? half_more : most;
    void *grown = weft_resize(*(void **)array, wanted, item);
    if (!grown)
        return false;
    *(void **)array = grown;
    *room = (uint32_t)wanted;
    return true;
}
