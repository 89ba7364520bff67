/* SPDX-License-Identifier: ISC */
#include "analyse/finding.h"

void weft__find_hangs(struct weft__search *s)
{
    (void)s;
}
