/* SPDX-License-Identifier: ISC */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kprof/state.h"

/* The columns of a line in /proc/stat, and the kind of each. The columns for virtual machines (guest) follow;
 * their times are contained in user and nice. */
static const enum kprof_mpstat_kind column[] = {
    KPROF_MPSTAT_USER, KPROF_MPSTAT_USER,                    /* nice */
    KPROF_MPSTAT_KERN, KPROF_MPSTAT_IDLE, KPROF_MPSTAT_IDLE, /* iowait */
    KPROF_MPSTAT_IRQ,  KPROF_MPSTAT_IRQ,                     /* softirq */
    KPROF_MPSTAT_IDLE,                                       /* steal */
};

static void parse_line(struct kprof_mpstat_core *c, const char *at)
{
    c->online = true;
    for (size_t i = 0; i < sizeof column / sizeof *column && *at == ' '; i++) {
        char *end;
        c->ticks[column[i]] += strtoull(at, &end, 10);
        at = end;
    }
}

static void parse(struct kprof_mpstat_core *core, uint32_t cores, const char *text)
{
    memset(core, 0, cores * sizeof *core);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "cpu", 3) != 0 || !isdigit((unsigned char)line[3]))
            continue;
        char *end;
        unsigned long number = strtoul(line + 3, &end, 10);
        if (number < cores)
            parse_line(&core[number], end);
    }
}

int kprof_mpstat_read(struct kprof_mpstat_core *core, uint32_t cores, const char *path,
                      struct weft_error *err)
{
    FILE *f = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    ssize_t n = f ? getdelim(&text, &size, 0, f)
                  : -1; /* the file contains no NUL, so this reads all of it */
    int rc = 0;
    if (n < 0)
        rc = weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "%s cannot be read: %s", path,
                            strerror(errno));
    else
        parse(core, cores, text);
    free(text);
    if (f)
        fclose(f);
    return rc;
}

/* Some of the kernel's counters go back by a tick now and then. */
static uint64_t ticks_since(uint64_t now, uint64_t then)
{
    return now > then ? now - then : 0;
}

static void print_core(FILE *out, uint32_t number, const uint64_t *ticks, uint32_t ticks_a_second)
{
    uint64_t total = 0;
    for (unsigned k = 0; k < KPROF_MPSTAT_KINDS; k++)
        total += ticks[k];
    fprintf(out, "%5" PRIu32 ":", number);
    for (unsigned k = 0; k < KPROF_MPSTAT_KINDS; k++)
        fprintf(out, " %12.2f (%3.0f%%)", (double)ticks[k] / ticks_a_second,
                total ? 100.0 * (double)ticks[k] / (double)total : 0.0);
    putc('\n', out);
}

void kprof_mpstat_print(FILE *out, const struct kprof_mpstat_core *then,
                        const struct kprof_mpstat_core *now, uint32_t cores,
                        uint32_t ticks_a_second, bool raw)
{
    if (raw)
        fprintf(out, "version 1, %" PRIu32 " ticks a second: core irq kern user idle\n",
                ticks_a_second);
    else
        fprintf(out, "  CPU: %19s %19s %19s %19s\n", "irq", "kern", "user", "idle");
    for (uint32_t i = 0; i < cores; i++) {
        uint64_t ticks[KPROF_MPSTAT_KINDS];
        if (!now[i].online)
            continue;
        for (unsigned k = 0; k < KPROF_MPSTAT_KINDS; k++)
            ticks[k] = ticks_since(now[i].ticks[k], then[i].ticks[k]);
        if (!raw) {
            print_core(out, i, ticks, ticks_a_second);
            continue;
        }
        fprintf(out, "%" PRIu32, i);
        for (unsigned k = 0; k < KPROF_MPSTAT_KINDS; k++)
            fprintf(out, " %" PRIu64, ticks[k]);
        putc('\n', out);
    }
}
