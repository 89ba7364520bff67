// SPDX-License-Identifier: ISC
// The other file that includes the header.
#include "cxx.h"

weft_promise global_two = weft_create("global", "two"); //@ global two

void two()
{
    member m("two");
    m.by_default();
    in_line("two");
    function("abd");
    generic<second> g;
    g.inner("x");
    weft_wait(generic<second>::shared);
}
