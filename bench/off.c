/* SPDX-License-Identifier: ISC */
/* Functions that make one call each, for bench/run-record to look at with objdump: what is left of a call
 * while nothing records, and where weft is compiled out. */
#include <weft/weft.h>

static struct weft_counter counted = WEFT_COUNTER("counted");

void off_event(weft_promise p);
void off_label(weft_promise p);
void off_counter(int64_t n);

void off_event(weft_promise p)
{
    weft_fulfill(p);
}

void off_label(weft_promise p)
{
    weft_label(p, "a literal text");
}

void off_counter(int64_t n)
{
    weft_counter_add(&counted, n);
}

int main(void)
{
    off_event(1);
    off_label(1);
    off_counter(1);
    return 0;
}
