/* SPDX-License-Identifier: ISC */
/* The protocol between `weft ctl` and the recorder in another process.
 *
 * Each copy of libweft has one struct weft_record_control. An ELF note, which survives strip and is mapped with
 * the program, says how far away from the note the structure is. The structure says where the word is that
 * calls test (weft_impl_state: the library's own, or the copy in the program). So weft ctl needs no symbols and
 * no files: it reads the memory of the process.
 *
 * weft ctl stores a request: number 0, then the rest with a checksum, then the number. Then it rings, that is,
 * it stores two single bytes. One gives weft_record_rec.recording a value that no thread's writer has; the
 * other is the lowest byte of weft_impl_state and makes calls check the first. The next call
 * (weft_record_asked) reads the request, carries it out, stores an answer, and restores both words. A byte
 * cannot be half-written. A request that is damaged, or meant for the process that this one was forked from,
 * changes nothing. Both words only repeat what is stored elsewhere (on, standby, the two numbers): if a byte
 * comes too late, or overwrites something newer, the next call corrects it.
 *
 * So the path of an event costs nothing extra.
 *
 * A program that waits, or computes, makes no call. Then weft ctl interrupts one of its threads for a moment (cli/late/inject.h)
 * and has it make that call as if a signal had come (weft_record_interrupted).
 *
 * Only a process that may write to this process's memory can do this: one of the same user, as far as the
 * system allows, or of root. Both sides compare magic and version. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/packet.h"

#define WEFT_RECORD_CONTROL_MAGIC "weftctl"
#define WEFT_RECORD_CONTROL_VERSION 3u
#define WEFT_RECORD_NOTE_NAME "weft"
#define WEFT_RECORD_NOTE_TYPE                                                                      \
    1u /* pointer-sized: the address of the structure minus the address of these bytes */

/* The bits of weft_impl_state that compiled programs test. */
enum { WEFT_RECORD_CALL_US = 1, WEFT_RECORD_STANDBY = 2 };

#define WEFT_RECORD_RING 1u /* in the highest byte of weft_record_rec.recording */

enum weft_record_command_kind {
    WEFT_RECORD_CTL_ON = 1,
    WEFT_RECORD_CTL_OFF = 2,
    WEFT_RECORD_CTL_STOP = 3
};

struct weft_record_request {
    uint64_t number; /* 0: none */
    uint64_t check;  /* see weft_record_request_check */
    uint32_t command;
    uint32_t pid;   /* of the process that the request is for, as it sees its own id */
    uint64_t bytes; /* of the trace; 0: the default */
    char path[4096];
};

struct weft_record_answer {
    uint64_t number; /* of the request that it answers; stored last */
    int32_t error;   /* 0 or a negative errno */
    uint32_t reserved;
    uint64_t seen_ns, done_ns; /* CLOCK_MONOTONIC */
};

struct weft_record_control {
    char magic[8];
    uint32_t version, bytes;
    struct weft_record_control *self; /* its own address; differs in a file that is merely mapped */
    uint32_t *word;                   /* the weft_impl_state that is used */
    unsigned char *bell;              /* the highest byte of weft_record_rec.recording */
    struct weft_facts_header *facts;  /* of the open recording; NULL: none is open */
    uint32_t on;                      /* a recording is not paused */
    uint32_t standby;                 /* numbers are handed out while nothing is recorded */
    struct weft_record_answer answer;
    struct weft_record_request request;
    /* Version 1 ends here. */
    uint32_t *old_word; /* always stored with the word, for old programs (compat.c); or NULL */
    /* Version 2 ends here. */
    void (*interrupted)(void); /* weft_record_interrupted; NULL: not on this kind of processor */
};

#define WEFT_RECORD_CONTROL_BYTES_1 offsetof(struct weft_record_control, old_word)
#define WEFT_RECORD_CONTROL_BYTES_2 offsetof(struct weft_record_control, interrupted)

/* What weft ctl stores in the stack of a thread that it has interrupted on x86-64. It enters weft_record_interrupted with
 * rbx = the address of this, and rsp = that of what XRSTOR is to load, a multiple of 64. On aarch64 sp is the address of the
 * kernel's frame of a signal handler, and the thread goes back by rt_sigreturn. */
struct weft_record_frame {
    uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rdx, rcx, rbx, rax, flags, rip;
    char red_zone[128]; /* the interrupted function's own; its stack pointer is the end of this */
};

static inline uint64_t weft_record_request_check(const struct weft_record_request *r)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325) ^ r->number; /* FNV-1a */
    const unsigned char *at = (const unsigned char *)&r->command;
    for (; at < (const unsigned char *)(r + 1); at++)
        sum = (sum ^ *at) * UINT64_C(0x100000001b3);
    return sum;
}
