/* SPDX-License-Identifier: ISC */
/* Reads the options of weft_start, which a program of any version may pass. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "format/sized.h"
#include <weft/weft.h>

/* Checks what compiled programs rely on, on 64-bit and on 32-bit machines: it must not change. */
#define WEFT_RECORD_FROZEN(what, on_64, on_32)                                                     \
    _Static_assert((what) == (sizeof(void *) == 8 ? (on_64) : (on_32)), "frozen: see weft.h")

/* The size of version 1. Below it: one line of offsets for each later field. */
#define WEFT_RECORD_OPTIONS_FIRST (sizeof(void *) == 8 ? 56u : 40u)
WEFT_RECORD_FROZEN(offsetof(struct weft_options, path), 8, 4);
WEFT_RECORD_FROZEN(offsetof(struct weft_options, bytes), 16, 8);
WEFT_RECORD_FROZEN(offsetof(struct weft_options, memory), 24, 16);
WEFT_RECORD_FROZEN(offsetof(struct weft_options, clock), 32, 20);
WEFT_RECORD_FROZEN(offsetof(struct weft_options, clock_hz), 40, 24);
WEFT_RECORD_FROZEN(offsetof(struct weft_options, flags), 48, 32);
WEFT_RECORD_FROZEN(offsetof(struct weft_options, pending_bytes), 56, 40);
_Static_assert(sizeof(struct weft_options) >= WEFT_RECORD_OPTIONS_FIRST, "frozen");

WEFT_RECORD_FROZEN(sizeof(struct weft_text), 16, 16);
WEFT_RECORD_FROZEN(offsetof(struct weft_text, literal), 8, 8);
WEFT_RECORD_FROZEN(sizeof(struct weft_site), 24, 24);
WEFT_RECORD_FROZEN(offsetof(struct weft_site, file), 8, 8);
WEFT_RECORD_FROZEN(offsetof(struct weft_site, line), 16, 12);
WEFT_RECORD_FROZEN(offsetof(struct weft_site, literal), 20, 16);
WEFT_RECORD_FROZEN(sizeof(struct weft_counter), 24, 24);
WEFT_RECORD_FROZEN(offsetof(struct weft_counter, value), 8, 8);
WEFT_RECORD_FROZEN(offsetof(struct weft_counter, known), 16, 16);

/* Copies given, which may be NULL, into *o, which must be all zeros. Returns 0, -EINVAL or -E2BIG. */
static inline int weft_record_options_take(struct weft_options *o, const struct weft_options *given)
{
    const unsigned known = WEFT_START_PAUSED | WEFT_START_TURN_CLOCK;
    int rc = given ? (int)weft_sized_take(o, sizeof *o, given, WEFT_RECORD_OPTIONS_FIRST) : 0;
    return rc == 0 && o->flags & ~known ? (int)WEFT_SIZED_UNKNOWN : rc;
}
