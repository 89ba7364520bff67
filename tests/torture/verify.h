/* SPDX-License-Identifier: ISC */
/* Whether a trace shows what the program of truth.h did. What differs is printed. */
#pragma once

#include "format/packet.h"
#include "read/reader.h"
#include "truth.h"

/* What has been compared, over all traces. */
struct verified {
    uint64_t traces, events, missing; /* missing: calls between others that were overwritten */
    uint64_t pending, promoted; /* promises found pending; … of which the creation was promoted */
    uint64_t given_up,
        skipped;        /* promises, and notes about them, that the recorder says it gave up */
    uint64_t inherited; /* waits for promises that became others which were pending */
    uint64_t off_ns;    /* creations are outside of the calls by at most that */
};

/* The header of the packet of pending promises. False: the trace has none. */
bool verify_pending_header(const char *path, struct weft_pending_header *out);

/* Every call that had returned, up to its thread's floor, is there, in order and whole, unless it was
 * overwritten; the sums are exact. */
bool verify_calls(const struct truth *w, const char *path, enum weft_ended ended,
                  struct verified *v);

/* Every promise of the table that was pending before and after the trace was read is shown once, with all
 * that was done to it; what was resolved is not shown as pending. before: from before the trace was read or
 * copied. live: who may have changed the table since; NULL: nobody. */
bool verify_promises(const struct truth_snapshot *before, struct truth *live, const char *path,
                     struct verified *v);
