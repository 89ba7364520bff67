/* SPDX-License-Identifier: ISC */
/* What `weft ctl` and the recorder in another process have in common.
 *
 * Each copy of libweft has one struct weft_record_control. An ELF note, which strip leaves alone and which is mapped
 * with the program, says how far from itself that lies; the structure says where the word is that calls test
 * (weft_impl_state: the library's, or that of a program which took a copy of it). So weft ctl needs no symbols and
 * no files: it reads the memory of the process.
 *
 * weft ctl stores a request: number 0, the rest with a check sum, the number. Then it rings: one byte, by which
 * weft_record_rec.recording becomes something that no thread's writer has; and one byte, the lowest of weft_impl_state,
 * by which calls come to look at that. The next call (weft_record_asked) looks at the request, does what it says,
 * stores an answer, and both words as they must be. A byte cannot be half-written. A request that is damaged,
 * or meant for the process that this one was forked from, changes nothing. Both words only repeat what stands
 * elsewhere (on, standby, the two numbers): a byte that comes too late, or over something newer, is put right
 * by the next call.
 *
 * So the path of an event is as it would be without all this.
 *
 * Only who may write to the process's memory can do it: the same user, as far as the system allows it, or
 * root. Both sides compare magic and version. */
#ifndef WEFT_RECORD_CONTROL_H
#define WEFT_RECORD_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/packet.h"

#define WEFT_RECORD_CONTROL_MAGIC "weftctl"
#define WEFT_RECORD_CONTROL_VERSION 2u
#define WEFT_RECORD_NOTE_NAME "weft"
#define WEFT_RECORD_NOTE_TYPE                                                                      \
    1u /* a pointer's bytes: the address of the structure less that of these */

/* weft_impl_state, as compiled programs know it. */
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
    uint32_t pid;   /* of the process that is meant, as it calls itself */
    uint64_t bytes; /* of the trace; 0: the default */
    char path[4096];
};

struct weft_record_answer {
    uint64_t number; /* of the request; stored last */
    int32_t error;   /* 0 or a negative errno */
    uint32_t reserved;
    uint64_t seen_ns, done_ns; /* CLOCK_MONOTONIC */
};

struct weft_record_control {
    char magic[8];
    uint32_t version, bytes;
    struct weft_record_control *self; /* its own address: not so in a file that is merely mapped */
    uint32_t *word;                   /* the weft_impl_state that counts */
    unsigned char *bell;              /* the highest byte of weft_record_rec.recording */
    struct weft_facts_header *facts;  /* of the recording that is open; NULL: none is */
    uint32_t on;                      /* it is not paused */
    uint32_t standby;                 /* numbers are handed out without it */
    struct weft_record_answer answer;
    struct weft_record_request request;
    /* Up to here in version 1. */
    uint32_t
        *old_word; /* what is always stored with the word, for old programs (compat.c), or NULL */
};

#define WEFT_RECORD_CONTROL_BYTES_1 offsetof(struct weft_record_control, old_word)

static inline uint64_t weft_record_request_check(const struct weft_record_request *r)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325) ^ r->number; /* FNV-1a */
    const unsigned char *at = (const unsigned char *)&r->command;
    for (; at < (const unsigned char *)(r + 1); at++)
        sum = (sum ^ *at) * UINT64_C(0x100000001b3);
    return sum;
}

#endif
