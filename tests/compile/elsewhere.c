/* SPDX-License-Identifier: ISC */
/* A program elsewhere, C11 and C++17: records to argv[1], or to WEFT_TRACE if there is no argument, what the
 * comments that begin with = or loop say, promises being numbered from 1. */
#include <stdio.h>
#include <string.h>
#include <weft/weft.h>

static inline weft_promise wrapped(const char *label)
{
    return weft_create("wrapped", label);
}

static inline weft_promise wrapped_both(const char *type, const char *label)
{
    return weft_create(type, label);
}

static inline void wrapped_label(weft_promise p, const char *text)
{
    weft_label(p, text);
}

#ifdef __cplusplus
/* One function, several instances: each has places of its own. */
template <int N> static weft_promise instance()
{
    static constexpr const char *const names[] = {"first", "second"};
    return weft_create("instance", names[N]);
}
#endif

int main(int argc, char **argv)
{
    char buffer[16], again[16];
    const char *pointer = "pointed", *const constant = "constant";
    static struct weft_counter counter = WEFT_COUNTER("counter");
    struct weft_options options;
    memset(&options, 0, sizeof options);
    options.path = argc > 1 ? argv[1] : NULL;
    options.bytes = 256 << 10;
    if (argc > 1 && weft_start(&options) < 0)
        return 1;

    weft_promise p = weft_create("task", "literal"); //= creates -1 1 task literal
    weft_label(p, pointer);                          //= label 1 pointed
    weft_label(p, constant);                         //= label 1 constant
    pointer = "elsewhere";
    weft_label(p, pointer); //= label 1 elsewhere
    strcpy(buffer, "one");
    weft_create(buffer, buffer); //= creates -1 2 one one
    strcpy(buffer, "two");
    weft_create(buffer, buffer); //= creates -1 3 two two
    for (int i = 0; i < 3; i++) {
        snprintf(buffer, sizeof buffer, "b%d", i);
        snprintf(again, sizeof again, "t%d", i % 2);
        weft_create("loop", buffer);           //loop creates -1 [4 7 10] loop [b0 b1 b2]
        weft_create(again, "loop");            //loop creates -1 [5 8 11] [t0 t1 t0] loop
        weft_fail(p, i == 1 ? "odd" : "even"); //loop fails -1 1 [even odd even]
        wrapped(i == 1 ? "odd" : "even");      //loop creates -1 [6 9 12] wrapped [even odd even]
        weft_label(p, buffer);                 //loop label 1 [b0 b1 b2]
        weft_label(p, "loop");                 //loop label 1 loop
    }
    wrapped("first literal");          //= creates -1 13 wrapped first literal
    wrapped("second literal");         //= creates -1 14 wrapped second literal
    wrapped_both("type one", "label"); //= creates -1 15 type one label
    wrapped_both("type two", NULL);    //= creates -1 16 type two
    wrapped_label(p, "inline one");    //= label 1 inline one
    wrapped_label(p, "inline two");    //= label 1 inline two
#ifdef __cplusplus
    instance<0>();
    instance<1>();
#else
    weft_create("instance", "first");
    weft_create("instance", "second");
#endif
    //= creates -1 17 instance first
    //= creates -1 18 instance second
    weft_run(p);                    //= switch 1
    weft_fulfill(p);                //= fulfills 1 1
    weft_counter_add(&counter, 40); //= increase 1 counter 40 40
    weft_counter_set(&counter, 2);  //= counter 1 counter 2
    if (argc > 1)
        weft_stop();
    return 0;
}
