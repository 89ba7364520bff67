/* SPDX-License-Identifier: ISC */
/* kptrace: lines of text, of which the latest are kept. A reader's place is a number of bytes since the first line
 * there ever was. One thread. */
#ifndef WEFT_KPROF_LOG_H
#define WEFT_KPROF_LOG_H

#include <stddef.h>
#include <stdint.h>

#define KPROF_LOG_BYTES (256u << 10)
#define KPROF_LOG_LINE 1024u /* bytes of a line, at most; the rest is cut off */

struct kprof_log_buffer {
    char *bytes; /* a ring */
    uint64_t begin, end;
};

int kprof_log_init(struct kprof_log_buffer *l); /* 0 or WEFT_E_NOMEM */
void kprof_log_fini(struct kprof_log_buffer *l);

/* Adds "[seconds.nanoseconds]:cpuN: text", for each line of text. What is not fit for a terminal becomes '?'. */
void kprof_log_put(struct kprof_log_buffer *l, uint64_t time_ns, uint32_t core, const char *text,
                   size_t size);

/* Up to size bytes from *place on, which is moved to the first line that is left if it has been overwritten. */
size_t kprof_log_read(const struct kprof_log_buffer *l, uint64_t *place, char *to, size_t size);

#endif
