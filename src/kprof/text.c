/* SPDX-License-Identifier: ISC */
/* The contents of the files that are texts. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kprof/state.h"

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
    for (uint32_t c = 0; c < k->host.cores; c++) {
        const struct kprof_buffer *b = &k->core[c].buffer[stream];
        for (uint32_t at = 0; at < b->used; buffered++) {
            uint32_t bytes;
            memcpy(&bytes, b->bytes + at, sizeof bytes);
            at += (uint32_t)sizeof bytes + bytes;
        }
    }
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

int kprof_text(struct weft_kprof *k, enum weft_kprof_file file, uint32_t uid, char **text,
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
