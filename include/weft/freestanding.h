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
 * The memory is a complete trace at any moment, also after a crash. Get these bytes out of the machine in any
 * way (a disk, a debugger, the hypervisor's dump of all memory) and write them to a file: weft info, weft
 * promises and the other commands read it. They also find the trace inside a larger dump.
 *
 * The library needs memcpy, memset and memcmp, which every C compiler requires anyway, and what is declared
 * below. It uses no other function, no thread-local storage, no allocation, no stack protector, no red zone,
 * and general registers only. It runs on x86-64 and arm64.
 *
 * weft_start, of weft.h: memory and bytes must be set, with at least WEFT_FREESTANDING_MIN bytes; path must not
 * be set. The recorder keeps a part of the bytes for itself: 9 % of 16 MiB and more, 30 % of 1 MiB, half of the
 * smallest size. clock may be called on any processor and in interrupts, and must not record. Without clock the
 * processor's counter is read, which is faster. On x86-64 that is the TSC: it must run at the same rate on all
 * processors, and clock_hz is its frequency. On arm64 it is the virtual timer, whose frequency is known.
 * weft_standby has an effect between start and stop only. On arm64 the memory must be ordinary, cached memory,
 * and the MMU must be on.
 *
 * Interrupts: handlers may call weft.h, also if they interrupt such a call. If a handler interrupts another handler's
 * call, and that call has itself interrupted one, the event is discarded and counted.
 *
 * Several processors, or threads: see weft_start_on.
 *
 * In a Xen guest, the control domain can read the memory at any moment if weft/xen.h shares it. */
#ifndef WEFT_FREESTANDING_H
#define WEFT_FREESTANDING_H

#include <weft/weft.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_FREESTANDING_MIN (142u << 10) /* bytes; plus 1 KiB per processor after the first */

/* What weft_start and weft_start_on return. */
enum weft_start_error {
    WEFT_START_INVALID =
        -22, /* memory missing, too small or not 8-byte aligned; no clock; a path; a size too small */
    WEFT_START_TOO_NEW = -7,  /* something is set that the library does not know: weft_options */
    WEFT_START_ALREADY = -114 /* it records already */
};

/* More about the machine; zero means the default for every field. The structure and its texts are copied. */
struct weft_machine {
    size_t size; /* sizeof(struct weft_machine), or 0; see struct weft_options */

    /* How many processors record; 0: one. processor() returns the number of the calling processor, from 0.
     * Nothing is recorded on a processor whose number is not less than processors. While a call of weft.h runs,
     * no other code with the same number may make one, unless it returns first, as interrupts do. If threads
     * that record can preempt each other in the middle of a call, give each thread a number of its own, or
     * disable preemption. What runs (weft_run) is tracked for each number separately. No barrier is needed
     * between processors. */
    unsigned processors;
    unsigned (*processor)(void);

    uint64_t (*wall_ns)(
        void); /* nanoseconds since 1970; called where clock may be. NULL: not known */
    /* 16 bytes that distinguish this trace from all others. NULL: made from the clock. */
    const void *random;
    const char *program, *host; /* shown by weft info */
    /* The first version ends here. */
};

#ifndef WEFT_DISABLE

/* Like weft_start, for such a machine. While this or weft_stop runs, no other processor may be inside a call of
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

#endif
