/* SPDX-License-Identifier: ISC */
/* Reading the files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kprof/state.h"

struct weft_kprof_handle {
    struct weft_kprof *k;
    enum weft_kprof_file file;
    uint32_t uid;
    bool histogram;                   /* kpdata: it was the histogram when it was opened */
    struct kprof_queue_reader reader; /* kpoprofile, kpdata */
    uint64_t log_begin;               /* kptrace: the place of offset 0 in the log */
    char *text;                       /* other files: their text when offset 0 was read */
    size_t text_size;
    bool has_text;
};

struct weft_kprof_handle *weft_kprof_open(struct weft_kprof *k, enum weft_kprof_file file,
                                          uint32_t uid)
{
    struct weft_kprof_handle *h = malloc(sizeof *h);
    if (h)
        *h = (struct weft_kprof_handle){
            .k = k, .file = file, .uid = uid, .histogram = k->histogram, .log_begin = k->log.begin};
    return h;
}

static struct kprof_queue *queue_of(const struct weft_kprof_handle *h)
{
    if (h->file == WEFT_KPROF_KPOPROFILE)
        return &h->k->queue[KPROF_KPOPROFILE];
    return h->file == WEFT_KPROF_KPDATA && !h->histogram ? &h->k->queue[KPROF_KPDATA] : NULL;
}

void weft_kprof_close(struct weft_kprof_handle *h)
{
    struct kprof_queue *q = queue_of(h);
    if (q)
        kprof_queue_leave(q, &h->reader);
    free(h->text);
    free(h);
}

bool weft_kprof_ready(const struct weft_kprof_handle *h)
{
    const struct kprof_queue *q = queue_of(h);
    return !q || !h->k->collecting || !kprof_queue_empty(q, &h->reader);
}

/* What has been overwritten since the file was opened is skipped; offsets continue from there. */
static ptrdiff_t read_log(struct weft_kprof_handle *h, void *to, size_t size, uint64_t offset)
{
    if (offset > UINT64_MAX - h->log_begin)
        return 0;
    uint64_t place = h->log_begin + offset;
    size_t n = kprof_log_read(&h->k->log, &place, to, size);
    h->log_begin = place - offset;
    return (ptrdiff_t)n;
}

static ptrdiff_t read_text(struct weft_kprof_handle *h, void *to, size_t size, uint64_t offset)
{
    if (offset == 0 || !h->has_text) {
        char *text;
        size_t text_size;
        int rc = kprof_text(h->k, h->file, h->uid, &text, &text_size);
        if (rc < 0)
            return rc;
        free(h->text);
        h->text = text;
        h->text_size = text_size;
        h->has_text = true;
    }
    if (offset >= h->text_size)
        return 0;
    size_t n = h->text_size - (size_t)offset;
    n = n < size ? n : size;
    memcpy(to, h->text + offset, n);
    return (ptrdiff_t)n;
}

ptrdiff_t weft_kprof_read(struct weft_kprof_handle *h, void *to, size_t size, uint64_t offset)
{
    struct kprof_queue *q = queue_of(h);
    if (!q)
        return h->file == WEFT_KPROF_KPTRACE ? read_log(h, to, size, offset)
                                             : read_text(h, to, size, offset);
    if (!weft_kprof_ready(h) && size > 0)
        return WEFT_KPROF_WAIT;
    ptrdiff_t n = kprof_queue_read(q, &h->reader, to, size);
    return n < 0 ? -ENOMEM : n;
}
