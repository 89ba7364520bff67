/* SPDX-License-Identifier: ISC */
/* Reading the files. */
#include <errno.h>
#include <inttypes.h>
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

/* ---- The contents of the files that are texts ---- */

/* "0,2-3" */
static void print_timers(const struct weft_kprof *k, FILE *out)
{
    const char *comma = "";
    for (uint32_t c = 0; c < k->host.cores; c++) {
        uint32_t last = c;
        if (!k->core[c].on)
            continue;
        while (last + 1 < k->host.cores && k->core[last + 1].on)
            last++;
        fprintf(out, "%s%" PRIu32, comma, c);
        if (last > c)
            fprintf(out, "-%" PRIu32, last);
        comma = ",";
        c = last;
    }
    fputs(*comma ? "\n" : "none\n", out);
}

static void print_queue(const struct weft_kprof *k, enum kprof_stream stream, const char *name,
                        FILE *out)
{
    uint64_t buffered = 0;
    for (uint32_t c = 0; c < k->host.cores; c++)
        buffered += k->core[c].buffer[stream].records;
    const struct kprof_queue *q = &k->queue[stream];
    fprintf(out,
            "%s: %" PRIu64 " records queued (%" PRIu64 " of %" PRIu64 " bytes), %" PRIu64
            " in cores' buffers, %" PRIu64 " dropped\n",
            name, q->records, q->bytes, q->limit_bytes, buffered, q->dropped);
}

static const char *on_off(bool on)
{
    return on ? "on" : "off";
}

static void print_status(const struct weft_kprof *k, FILE *out)
{
    fputs("timers: ", out);
    print_timers(k, out);
    fprintf(out,
            "period: %" PRIu64 "\n"
            "collecting: %s\n"
            "samples: %" PRIu64 ", %" PRIu64 " lost before they came here\n"
            "timers slowed down: %" PRIu64 " times\n",
            k->period_us, on_off(k->collecting), k->samples, k->lost, kprof_slowed(k));
    print_queue(k, KPROF_KPOPROFILE, "kpoprofile", out);
    if (k->o.kpdata != WEFT_KPROF_HISTOGRAM)
        print_queue(k, KPROF_KPDATA, "kpdata", out);
    fprintf(out,
            "histogram: %s, %" PRIu64 " ticks, %" PRIu64 " without room\n"
            "kpdata is: %s\n"
            "mpstat ipi: %s\n",
            on_off(k->counting), k->ticks.total, k->ticks.unplaced,
            k->histogram ? "histogram" : "records", on_off(k->ipi));
}

static void print_refusal(const struct weft_kprof *k, uint32_t uid, FILE *out)
{
    for (unsigned i = 0; i < KPROF_REFUSALS; i++)
        if (k->refusal[i].used && k->refusal[i].uid == uid)
            fprintf(out, "%s\n", k->refusal[i].text);
}

static int print(struct weft_kprof *k, enum weft_kprof_file file, uint32_t uid, FILE *out)
{
    switch (file) {
    case WEFT_KPROF_KPCTL:
        print_status(k, out);
        return 0;
    case WEFT_KPROF_KPDATA:
        return kprof_histogram_print(&k->ticks, out, k->host.name, k->host.data) < 0 ? -ENOMEM : 0;
    case WEFT_KPROF_KPRINTX:
        fprintf(out, "%s\n", on_off(k->printx));
        return 0;
    case WEFT_KPROF_MPSTAT:
    case WEFT_KPROF_MPSTAT_RAW:
        if (kprof_mpstat_read(k->stat, k->host.cores, k->o.stat, NULL) < 0)
            return -EIO;
        kprof_mpstat_print(out, k->stat_then, k->stat, k->host.cores, k->o.ticks_a_second,
                           file == WEFT_KPROF_MPSTAT_RAW);
        return 0;
    default:
        print_refusal(k, uid, out);
        return 0;
    }
}

/* The text of a file. The caller frees *text. Returns 0 or a negative errno. */
static int make_text(struct weft_kprof *k, enum weft_kprof_file file, uint32_t uid, char **text,
                     size_t *size)
{
    *text = NULL;
    *size = 0;
    FILE *out = open_memstream(text, size);
    int rc = out ? print(k, file, uid, out) : -ENOMEM;
    if (out && (ferror(out) | fclose(out)) && rc == 0)
        rc = -ENOMEM;
    if (rc < 0) {
        free(*text);
        *text = NULL;
    }
    return rc;
}

static ptrdiff_t read_text(struct weft_kprof_handle *h, void *to, size_t size, uint64_t offset)
{
    if (offset == 0 || !h->has_text) {
        char *text;
        size_t text_size;
        TRY(make_text(h->k, h->file, h->uid, &text, &text_size));
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

/* ---- ---- */

ptrdiff_t weft_kprof_read(struct weft_kprof_handle *h, void *to, size_t size, uint64_t offset)
{
    struct kprof_queue *q = queue_of(h);
    if (!q)
        return h->file == WEFT_KPROF_KPTRACE ? read_log(h, to, size, offset)
                                             : read_text(h, to, size, offset);
    if (!weft_kprof_ready(h) && size > 0)
        return WEFT_KPROF_WAIT;
    return kprof_queue_read(q, &h->reader, to, size);
}
