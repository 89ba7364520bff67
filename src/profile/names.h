/* SPDX-License-Identifier: ISC */
/* Names for what is not a function, as texts of the profile, each made once. Internal to the
 * profile. */
#pragma once

#include "profile/frames.h"

struct profile_names {
    struct weft_profile *p;
    uint32_t *address;      /* parallel to the locations; WEFT_NONE: not made yet */
    uint32_t *text_of;      /* parallel to the model's texts */
    const uint32_t *family; /* parallel to the promises: see weft_calltree_options; or NULL */
    bool failed;            /* there was no memory for a name */
    uint32_t gap[WEFT_GAPS], no_stack, waiting, preempted; /* texts */
};

/* Returns true if this is the reason why there is no promise: see weft_frames_whose. */
static inline bool profile_is_gap(uint32_t whose)
{
    return whose > WEFT_NONE - WEFT_GAPS;
}

/* A frame of which only this is known. */
static inline struct weft_named_frame profile_named(enum weft_frame_kind kind, uint32_t text)
{
    return (struct weft_named_frame){
        .kind = kind,
        .text = text,
        .function = WEFT_NONE,
        .location = WEFT_NONE,
        .promise = WEFT_NONE,
    };
}

/* p must be finished, and joined if it will be. Returns false if there is no memory; fini may be
 * called in any case. */
bool profile_names_init(struct profile_names *n, struct weft_profile *p);
void profile_names_fini(struct profile_names *n);

struct profile_names *profile_frames_names(struct weft_frames *f);

/* All of these return WEFT_NONE if there is no memory. */

/* "0x4f10 (libfoo.so.1)": the offset in a file, which means the same in another run; without a
 * file, the address. */
uint32_t profile_name_address(struct profile_names *n, uint32_t location);

/* A promise's label or type; "(no promise)" and the like if there is none. */
uint32_t profile_name_promise(struct profile_names *n, uint32_t whose);

/* … or the name that it shares with others of its family. */
uint32_t profile_name_family(struct profile_names *n, uint32_t whose);

/* "src/foo.c:12" */
uint32_t profile_name_line(struct profile_names *n, uint32_t file, uint32_t line);

/* "worker 1234", "core 3" */
uint32_t profile_name_thread(struct profile_names *n, uint32_t thread);
uint32_t profile_name_core(struct profile_names *n, uint32_t core);

/* "/usr/lib/libc.so.6", "[kernel]": the file at the innermost address of a stack. */
uint32_t profile_name_object(struct profile_names *n, uint32_t stack);

/* "server 1234": the process of a thread, which should be its first one. */
uint32_t profile_name_process(struct profile_names *n, uint32_t thread);
