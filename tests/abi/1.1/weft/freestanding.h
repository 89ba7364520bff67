/* SPDX-License-Identifier: ISC */
/* weft without an operating system: in a unikernel, a kernel, firmware. Link libweft-freestanding.a.
 *
 *     #include <weft/freestanding.h>
 *
 *     static unsigned char trace[1 << 20];
 *
 *     weft_start(&(struct weft_options){
 *         .memory = trace, .bytes = sizeof trace, .clock = nanoseconds_since_boot});
 *     …                                             from here on the calls of weft.h record
 *
 * The memory is the trace, at any moment and after a crash: write these bytes to a file, by whatever way
 * leads out of the machine (a disk, a debugger, the hypervisor's dump of all memory), and weft info,
 * weft promises and the others read it. If they stand somewhere in a larger dump, they are found there.
 *
 * What the library needs: memcpy, memset and memcmp, which every C compiler wants, and what stands below.
 * It uses no other function, no thread-local storage, no allocation, no stack protector, no red zone, and
 * general registers only. x86-64 and arm64.
 *
 * weft_start, of weft.h: memory and bytes must be given, at least WEFT_FREESTANDING_MIN; path must not be.
 * Of the bytes the recorder keeps some for itself: 9 % of 16 MiB and more, 30 % of 1 MiB, half of the smallest.
 * clock may be called by any processor and in interrupts, and must not record. Without one the processor's
 * counter is read, which is faster: on x86-64 the TSC, which must then run at the same rate on all processors, clock_hz its
 * frequency; on arm64 the virtual timer, which knows its own. weft_standby has an effect between start and
 * stop only. On arm64 the memory must be ordinary and cached, and the MMU on.
 *
 * Interrupts: the calls of weft.h may be made in handlers, also in those that interrupt such a call. If
 * one interrupts a call that interrupted one, what it says is discarded, and counted.
 *
 * Several processors, or threads: weft_start_on.
 *
 * In a Xen guest the memory can be such that the control domain reads it at any moment: weft/xen.h. */
#pragma once

#include <weft/weft.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_FREESTANDING_MIN (142u << 10) /* bytes; and 1 KiB for each processor after the first */

/* What weft_start, weft_start_on return. */
enum weft_start_error {
    WEFT_START_INVALID =
        -22, /* memory missing, too small or not 8-byte aligned; no clock; a path; a size too small */
    WEFT_START_TOO_NEW = -7,  /* something is set that the library does not know: weft_options */
    WEFT_START_ALREADY = -114 /* it records already */
};

/* More about the machine; zero is a default everywhere. It is copied, the texts are, too. */
struct weft_machine {
    size_t size; /* sizeof(struct weft_machine), or 0; see struct weft_options */

    /* How many processors record; 0: one. processor() is the number of the one that calls it, from 0; what
     * records on another one with a number that is not less than processors is not recorded. While a call of
     * weft.h runs, nobody else with its number may make one, unless that one returns first, as interrupts
     * do. Threads that can be preempted in the middle of a call by others that record: let each have a
     * number of its own, or hold preemption off. What runs (weft_run) is known for each number by itself.
     * No barrier is needed between processors. */
    unsigned processors;
    unsigned (*processor)(void);

    uint64_t (*wall_ns)(
        void);          /* nanoseconds since 1970; called where clock may be. NULL: not known */
    const void *random; /* 16 bytes that tell this trace from all others. NULL: made of the clock */
    const char *program, *host; /* that weft info names */
    /* Up to here in the first version. */
};

#ifndef WEFT_DISABLE

/* weft_start for such a machine. Neither it nor weft_stop may be called while another processor makes a call of
 * weft.h. Returns 0 or an enum weft_start_error. */
int weft_start_on(const struct weft_machine *machine, const struct weft_options *options);

#else

WEFT_IMPL_CALL int weft_start_on(const struct weft_machine *machine,
                                 const struct weft_options *options)
{
    (void)machine;
    (void)options;
    return 0;
}

#endif

#ifdef __cplusplus
}
#endif
