/* SPDX-License-Identifier: ISC */
/* kptrace: a log of text lines, of which the latest are kept. A reader's place is the number of bytes since the
 * very first line. For one thread. */
#ifndef WEFT_KPROF_LOG_H
#define WEFT_KPROF_LOG_H

#include <stddef.h>
#include <stdint.h>

#define KPROF_LOG_BYTES (256u << 10)
#define KPROF_LOG_LINE 1024u /* maximum bytes of a line; the rest is cut off */

struct kprof_log_buffer {
    char *bytes; /* a ring */
    uint64_t begin, end;
};

int kprof_log_init(struct kprof_log_buffer *l); /* 0 or WEFT_E_NOMEM */
void kprof_log_fini(struct kprof_log_buffer *l);

/* Adds "[seconds.nanoseconds]:cpuN: text" for each line of text. Characters that are unsafe on a terminal
 * become '?'. */
void kprof_log_put(struct kprof_log_buffer *l, uint64_t time_ns, uint32_t core, const char *text,
                   size_t size);

/* Reads up to size bytes from *place on, and advances it. If that place has been overwritten, reading begins at
 * the oldest line that is left. */
size_t kprof_log_read(const struct kprof_log_buffer *l, uint64_t *place, char *to, size_t size);

#endif
