/* SPDX-License-Identifier: ISC */
#include <inttypes.h>
#include <string.h>

#include "format/utf8.h"
#include "kprof/state.h"

static void put_line(struct kprof_log_buffer *l, uint64_t time_ns, uint32_t core, const char *text,
                     size_t size)
{
    char line[KPROF_LOG_LINE];
    size_t used =
        (size_t)snprintf(line, sizeof line, "[%" PRIu64 ".%09" PRIu64 "]:cpu%" PRIu32 ": ",
                         time_ns / 1000000000, time_ns % 1000000000, core);
    for (size_t i = 0, n; i < size; i += n) {
        n = weft_utf8_harmless(text + i, size - i);
        const char *c = n || text[i] == '\t' ? text + i : "?";
        n = n ? n : 1;
        if (used + n > sizeof line - 1)
            break;
        memcpy(line + used, c, n);
        used += n;
    }
    line[used++] = '\n';
    while (l->end + used - l->begin > KPROF_LOG_BYTES) /* whole lines go */
        while (l->begin < l->end && l->bytes[l->begin++ % KPROF_LOG_BYTES] != '\n')
            ;
    for (size_t i = 0; i < used; i++)
        l->bytes[l->end++ % KPROF_LOG_BYTES] = line[i];
}

void kprof_log_put(struct kprof_log_buffer *l, uint64_t time_ns, uint32_t core, const char *text,
                   size_t size)
{
    do {
        const char *stop = memchr(text, '\n', size);
        size_t length = stop ? (size_t)(stop - text) : size;
        put_line(l, time_ns, core, text, length);
        length += stop != NULL;
        text += length;
        size -= length;
    } while (size > 0);
}

size_t kprof_log_read(const struct kprof_log_buffer *l, uint64_t *place, char *to, size_t size)
{
    if (*place < l->begin)
        *place = l->begin;
    size_t n = 0;
    while (n < size && *place + n < l->end) {
        to[n] = l->bytes[(*place + n) % KPROF_LOG_BYTES];
        n++;
    }
    return n;
}
