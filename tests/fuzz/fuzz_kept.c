/* SPDX-License-Identifier: ISC */
/* Any bytes as a condition, as a block of a compressed trace, and as a part of a trace that becomes a block and the same
 * bytes again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"
#include "read/columns.h"
#include "watch/condition.h"

static void parse(const uint8_t *bytes, size_t size)
{
    char text[400];
    struct watch_condition c;
    struct watch_mistake m = {.at = 0};
    const size_t n = size < sizeof text - 1 ? size : sizeof text - 1;
    memcpy(text, bytes, n);
    text[n] = 0;
    if (!watch_condition_parse(&c, text, &m))
        REQUIRE(m.at <= strlen(text) && *m.why);
    else
        REQUIRE(*c.pattern && *c.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static unsigned char *block, *again;
    if (!block) {
        block = malloc(READ_COLUMNS_ROOM);
        again = malloc(READ_COLUMNS_BLOCK);
        REQUIRE(block && again);
    }
    if (size > READ_COLUMNS_BLOCK)
        return 0;
    parse(bytes, size);
    REQUIRE(read_columns_get(again, bytes, size) <= READ_COLUMNS_BLOCK);
    if (size == 0)
        return 0;
    size_t used = 0;
    const size_t packed = read_columns_put(block, bytes, size, &used);
    REQUIRE(packed <= READ_COLUMNS_ROOM && used > 0 && used <= size);
    REQUIRE(read_columns_get(again, block, packed) == used && memcmp(again, bytes, used) == 0);
    return 0;
}
