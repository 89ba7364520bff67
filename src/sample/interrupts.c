/* SPDX-License-Identifier: ISC */
/* Interrupts as regions: tracepoints report when each one begins and ends. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample/state.h"

static const char *const folders[] = {"/sys/kernel/tracing/events/irq",
                                      "/sys/kernel/debug/tracing/events/irq"};
static const char *const names[SAMPLE_ROLES] = {
    [SAMPLE_IRQ_ENTRY] = "irq_handler_entry",
    [SAMPLE_IRQ_EXIT] = "irq_handler_exit",
    [SAMPLE_SOFT_ENTRY] = "softirq_entry",
    [SAMPLE_SOFT_EXIT] = "softirq_exit",
};

/* "	field:int irq;	offset:8;	size:4;	signed:1;" */
static void read_field(struct sample_tracepoint *t, const char *line)
{
    const char *end = strchr(line, ';'), *at = end ? strstr(end, "offset:") : NULL;
    if (strncmp(line, "\tfield:", 7) != 0 || !at)
        return;
    unsigned long offset = strtoul(at + 7, NULL, 10);
    const char *name = end;
    while (name > line && name[-1] != ' ' && name[-1] != ':')
        name--;
    if (offset > 4096)
        return;
    if (strncmp(name, "irq;", 4) == 0 || strncmp(name, "vec;", 4) == 0)
        t->number_at = (uint32_t)offset;
    else if (strncmp(name, "name;", 5) == 0 && strstr(line, "__data_loc"))
        t->name_at = (uint32_t)offset;
}

static int find(struct sample_tracepoint *t, const char *folder, const char *name)
{
    char path[160], line[512];
    *t = (struct sample_tracepoint){.number_at = NONE, .name_at = NONE};
    snprintf(path, sizeof path, "%s/%s/format", folder, name);
    FILE *f = fopen(path, "re");
    if (!f)
        return errno;
    while (fgets(line, sizeof line, f)) {
        read_field(t, line);
        if (strncmp(line, "ID: ", 4) == 0)
            t->id = strtoull(line + 4, NULL, 10);
    }
    fclose(f);
    return t->id && t->number_at != NONE ? 0 : ENOENT;
}

bool sample_find_tracepoints(struct weft_sampler *s)
{
    int error = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        error = 0;
        for (enum sample_role r = SAMPLE_IRQ_ENTRY; !error && r <= SAMPLE_SOFT_EXIT; r++)
            error = find(&s->tracepoint[r], folders[i], names[r]);
        if (!error)
            return true;
        if (error == EACCES || error == EPERM)
            break;
    }
    if (error == ENOENT)
        sample_note(s, "interrupts are left out: there is no tracefs with irq events "
                       "(mount -t tracefs tracefs /sys/kernel/tracing)");
    else
        sample_note(s, "interrupts are left out: to read tracefs needs root (%s)", strerror(error));
    return false;
}

/* ---- Regions ---- */

static uint32_t number_of(const struct sample_tracepoint *t, const struct sample_perf_record *r)
{
    uint32_t v = NONE;
    if (t->number_at + sizeof v <= r->sample.raw_bytes)
        memcpy(&v, r->sample.raw + t->number_at, sizeof v);
    return v;
}

/* A __data_loc: offset in the raw bytes, size << 16. */
static void copy_name(char *to, size_t room, const struct sample_tracepoint *t,
                      const struct sample_perf_record *r)
{
    uint32_t where = 0;
    *to = 0;
    if (t->name_at == NONE || t->name_at + sizeof where > r->sample.raw_bytes)
        return;
    memcpy(&where, r->sample.raw + t->name_at, sizeof where);
    const uint32_t at = where & 0xffff, size = where >> 16;
    if (at > r->sample.raw_bytes || size > r->sample.raw_bytes - at)
        return;
    const size_t n = strnlen((const char *)r->sample.raw + at, size < room - 1 ? size : room - 1);
    memcpy(to, r->sample.raw + at, n);
    to[n] = 0;
}

static const char *soft_name(uint32_t vector)
{
    static const char *const list[] = {"hi",       "timer",   "net_tx", "net_rx",  "block",
                                       "irq_poll", "tasklet", "sched",  "hrtimer", "rcu"};
    return vector < sizeof list / sizeof *list ? list[vector] : "";
}

bool sample_interrupt(struct weft_sampler *s, struct sample_ring *ring, enum sample_role role,
                      const struct sample_perf_record *r, struct weft_sampled *out)
{
    const struct sample_tracepoint *t = &s->tracepoint[role];
    const bool soft = role == SAMPLE_SOFT_ENTRY || role == SAMPLE_SOFT_EXIT;
    struct sample_running_irq *running = soft ? &ring->soft : &ring->irq;
    const uint32_t number = number_of(t, r);
    if (role == SAMPLE_IRQ_ENTRY || role == SAMPLE_SOFT_ENTRY) {
        *running = (struct sample_running_irq){r->time_ns, number, r->thread, ""};
        if (!soft)
            copy_name(running->name, sizeof running->name, t, r);
        return false;
    }
    /* The beginning is missing: sampling began in between, or it was lost. */
    if (!running->from_ns || running->number != number || running->from_ns > r->time_ns)
        return false;
    *out = (struct weft_sampled){
        .kind = WEFT_RECORD_INTERRUPT,
        .flags = soft ? WEFT_INTERRUPT_SOFT : 0,
        .time_ns = running->from_ns,
        .to_ns = r->time_ns,
        .process = r->process,
        .thread = running->thread,
        .core = ring->core,
        .value = number,
        .text = soft ? soft_name(number) : running->name,
    };
    running->from_ns = 0;
    return true;
}
