/* SPDX-License-Identifier: ISC */
/* Writing to the files: commands, and why they are refused. The texts are Akaros's. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kprof/state.h"

#define KPCTL_USAGE "startclr|start|stop|clear|opstart|opstop|optimer"
#define OPTIMER_USAGE "optimer [<0|1|..|n|all> <on|off>] [period USEC]"

#define PERIOD_MIN UINT64_C(10) /* the kernel's minimum period for the timer of a perf event */
#define PERIOD_MAX UINT64_C(3600000000)

/* ---- Errors ---- */

static struct kprof_refusal *refusal_of(struct weft_kprof *k, uint32_t uid)
{
    struct kprof_refusal *oldest = &k->refusal[0];
    for (unsigned i = 0; i < KPROF_REFUSALS; i++) {
        struct kprof_refusal *r = &k->refusal[i];
        if (r->used && r->uid == uid)
            return r;
        if (r->number < oldest->number)
            oldest = r;
    }
    return oldest;
}

/* Returns -error. */
__attribute__((format(printf, 4, 5))) static int refuse(struct weft_kprof *k,
                                                        const struct weft_kprof_writer *w,
                                                        int error, const char *format, ...)
{
    struct kprof_refusal *r = refusal_of(k, w->uid);
    *r = (struct kprof_refusal){.used = true, .uid = w->uid, .number = ++k->refusals};
    va_list args;
    va_start(args, format);
    vsnprintf(r->text, sizeof r->text, format, args);
    va_end(args);
    if (k->printx)
        kprof_log(k, w->core, "refused: %s", r->text);
    return -error;
}

/* ---- Words ---- */

struct words {
    char text[128];
    const char *word[4];
    unsigned count; /* 5: more */
};

/* Splits a text into words. Returns false if it is too long, or not text. */
static bool split(struct words *s, const char *text, size_t size)
{
    s->count = 0;
    if (size >= sizeof s->text || memchr(text, 0, size))
        return false;
    memcpy(s->text, text, size);
    s->text[size] = 0;
    char *rest = NULL;
    for (char *w = strtok_r(s->text, " \t\r\n", &rest); w; w = strtok_r(NULL, " \t\r\n", &rest)) {
        if (s->count < sizeof s->word / sizeof *s->word)
            s->word[s->count] = w;
        s->count += s->count <= sizeof s->word / sizeof *s->word;
        for (const char *c = w; *c; c++)
            if ((unsigned char)*c < 0x20 || *c == 0x7f)
                return false;
    }
    return true;
}

static bool is(const struct words *s, const char *word)
{
    return s->count == 1 && strcmp(s->word[0], word) == 0;
}

static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

/* Returns UINT64_MAX for larger numbers. */
static uint64_t number(const char *text, int base)
{
    errno = 0;
    uint64_t v = strtoull(text, NULL, base);
    return errno ? UINT64_MAX : v;
}

/* ---- kpctl ---- */

static int set_period(struct weft_kprof *k, const char *text, const struct weft_kprof_writer *w)
{
    struct weft_error err = {.text = ""};
    if (!is_number(text))
        return refuse(k, w, EINVAL, "%s", OPTIMER_USAGE);
    uint64_t us = number(text, 10);
    if (us < PERIOD_MIN || us > PERIOD_MAX)
        return refuse(k, w, ERANGE, "%s: USEC is from %" PRIu64 " to %" PRIu64 ", not %.24s",
                      OPTIMER_USAGE, PERIOD_MIN, PERIOD_MAX, text);
    int rc = k->host.period(k->host.data, us * 1000, &err);
    if (rc < 0)
        return refuse(k, w, rc == WEFT_E_INVALID ? ERANGE : EIO, "the period cannot be %s: %s",
                      text, *err.text ? err.text : weft_error_name(rc));
    k->period_us = us;
    return 0;
}

static void note_switch(struct weft_kprof *k, uint32_t core, bool on, uint64_t now_ns)
{
    struct kprof_core *c = &k->core[core];
    if (c->on && !on)
        c->off_ns = now_ns;
    c->on = on;
}

static int switch_timer(struct weft_kprof *k, const char *which, bool on,
                        const struct weft_kprof_writer *w)
{
    struct weft_error err = {.text = ""};
    const bool all = strcmp(which, "all") == 0;
    uint64_t core = all ? UINT32_MAX : number(which, 10);
    int rc = WEFT_E_INVALID;
    if (all || core < k->host.cores)
        rc = k->host.core(k->host.data, (uint32_t)core, on, &err);
    if (rc == WEFT_E_INVALID)
        return refuse(k, w, ENXIO, "no such coreid %.24s", which);
    if (rc < 0)
        return refuse(k, w, EIO, "the timer of %s cannot be switched: %s", which,
                      *err.text ? err.text : weft_error_name(rc));
    const uint64_t now_ns = k->host.now(k->host.data);
    for (uint32_t c = 0; c < k->host.cores; c++)
        if (all || c == core)
            note_switch(k, c, on, now_ns);
    return 0;
}

static int optimer(struct weft_kprof *k, const struct words *s, const struct weft_kprof_writer *w)
{
    if (s->count != 3)
        return refuse(k, w, EINVAL, "%s", OPTIMER_USAGE);
    if (strcmp(s->word[1], "period") == 0)
        return set_period(k, s->word[2], w);
    if (strcmp(s->word[1], "all") != 0 && !is_number(s->word[1]))
        return refuse(k, w, EINVAL, "%s", OPTIMER_USAGE);
    const bool on = strcmp(s->word[2], "on") == 0;
    if (!on && strcmp(s->word[2], "off") != 0)
        return refuse(k, w, EINVAL, "optimer needs on|off");
    return switch_timer(k, s->word[1], on, w);
}

static int histogram(struct weft_kprof *k, const struct words *s, const struct weft_kprof_writer *w)
{
    struct weft_error err = {.text = ""};
    if (k->o.kpdata == WEFT_KPROF_RECORDS)
        return refuse(k, w, EOPNOTSUPP, "there is no histogram: kpdata is the record stream");
    const bool begins = is(s, "start") || is(s, "startclr");
    if (is(s, "clear") || is(s, "startclr"))
        kprof_histogram_fini(&k->ticks);
    if (!is(s, "clear")) {
        int rc = kprof_count(k, begins, &err);
        if (rc < 0)
            return refuse(k, w, -rc, "the timers cannot be started: %s", err.text);
    }
    if (k->o.kpdata == WEFT_KPROF_AUTO && (begins || (is(s, "clear") && !k->counting)))
        k->histogram = begins;
    return 0;
}

static int kpctl(struct weft_kprof *k, const struct words *s, const struct weft_kprof_writer *w)
{
    struct weft_error err = {.text = ""};
    if (s->count && strcmp(s->word[0], "optimer") == 0)
        return optimer(k, s, w);
    if (is(s, "start") || is(s, "startclr") || is(s, "stop") || is(s, "clear"))
        return histogram(k, s, w);
    if (is(s, "opstop"))
        return kprof_opstop(k);
    if (!is(s, "opstart"))
        return refuse(k, w, EINVAL, "%s", KPCTL_USAGE);
    int rc = kprof_opstart(k, &err);
    return rc < 0 ? refuse(k, w, -rc, "the timers cannot be started: %s", err.text) : 0;
}

/* ---- The others ---- */

static int kprintx(struct weft_kprof *k, const struct words *s, const struct weft_kprof_writer *w)
{
    if (!is(s, "on") && !is(s, "off") && !is(s, "toggle"))
        return refuse(k, w, EINVAL, "on|off|toggle");
    k->printx = is(s, "on") || (is(s, "toggle") && !k->printx);
    return 0;
}

static int mpstat(struct weft_kprof *k, const struct words *s, const struct weft_kprof_writer *w)
{
    struct weft_error err;
    if (s->count == 2 && strcmp(s->word[0], "ipi") == 0 &&
        (strcmp(s->word[1], "on") == 0 || strcmp(s->word[1], "off") == 0)) {
        k->ipi = strcmp(s->word[1], "on") == 0;
        return 0;
    }
    if (!is(s, "reset"))
        return refuse(k, w, EINVAL, "reset|ipi [on|off]");
    if (kprof_mpstat_read(k->stat, k->host.cores, k->o.stat, &err) < 0)
        return refuse(k, w, EIO, "%s", err.text);
    memcpy(k->stat_then, k->stat, k->host.cores * sizeof *k->stat);
    return 0;
}

/* A sample at this address, on the core of the thread that writes. */
static int kpoprofile(struct weft_kprof *k, const struct words *s,
                      const struct weft_kprof_writer *w)
{
    const char *text = s->count == 1 ? s->word[0] : "";
    const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (hex ? !isxdigit((unsigned char)text[2]) ||
                  strspn(text + 2, "0123456789abcdefABCDEF") != strlen(text + 2)
            : !is_number(text))
        return refuse(k, w, EINVAL, "expected one address, as 0xffffffff81000000 or decimal");
    errno = 0;
    uint64_t address = strtoull(text, NULL, hex ? 16 : 10);
    if (errno)
        return refuse(k, w, ERANGE, "an address has at most 64 bits");
    uint8_t record[KPROF_STREAM_BYTES];
    struct weft_kprof_sample sample = {
        .time_ns = k->host.now(k->host.data), .core = w->core, .address = &address, .addresses = 1};
    if (!kprof_put(k, KPROF_KPOPROFILE, record, kprof_stream_version_1(record, &sample)))
        return refuse(k, w, ENOBUFS, "the queue is full");
    return 0;
}

static void note_command(struct weft_kprof *k, const char *name, const char *text, size_t size,
                         const struct weft_kprof_writer *w)
{
    while (size > 0 && isspace((unsigned char)text[size - 1]))
        size--;
    kprof_log(k, w->core, "%s: %.*s", name, size < 128 ? (int)size : 128, text);
}

int weft_kprof_write(struct weft_kprof *k, enum weft_kprof_file file, const char *text, size_t size,
                     const struct weft_kprof_writer *w)
{
    static const char *const name[] = {
#define X(name, text, mode) text,
        WEFT_KPROF_FILE_TABLE(X)
#undef X
    };
    if (file == WEFT_KPROF_KPTRACE) {
        kprof_log_put(&k->log, k->host.now(k->host.data), w->core, text, size);
        return 0;
    }
    struct words s;
    if (!split(&s, text, size))
        s.count = 0; /* it is no command */
    if (k->printx)
        note_command(k, name[file], text, size, w);
    switch (file) {
    case WEFT_KPROF_KPCTL:
        return kpctl(k, &s, w);
    case WEFT_KPROF_KPOPROFILE:
        return kpoprofile(k, &s, w);
    case WEFT_KPROF_KPRINTX:
        return kprintx(k, &s, w);
    case WEFT_KPROF_MPSTAT:
    case WEFT_KPROF_MPSTAT_RAW:
        return mpstat(k, &s, w);
    default:
        return refuse(k, w, EPERM, "%s is only read", name[file]);
    }
}
