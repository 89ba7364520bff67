/* SPDX-License-Identifier: ISC */
/* As small a program as can be, with functions inlined into others; for make-seeds. */
static volatile int kept;
static inline __attribute__((always_inline)) int inner(int a)
{
    kept += a;
    return kept * 3;
}
static inline __attribute__((always_inline)) int middle(int a)
{
    return inner(a) + inner(a + 1);
}
__attribute__((noinline)) int outer(int a)
{
    volatile int room[9] = {a};
    return middle(a) + room[a & 3];
}
__attribute__((noinline)) int other(int a)
{
    return outer(a) + 1;
}
int _start(void)
{
    return other(kept) + outer(3);
}
