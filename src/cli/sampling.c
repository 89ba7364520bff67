/* SPDX-License-Identifier: ISC */
#include "cli/sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/child.h"
#include "cli/common.h"
#include "cli/live.h"
#include "profile/build.h"
#include "read/reader.h"
#include "symbols/symbols.h"

#define STEP_MS 150
#define FLUSH_MS 500

/* ---- The file's place ---- */

bool cli_sampling_check(const char *path, const char *name)
{
    char old[PATH_MAX + 32], folder[PATH_MAX + 16];
    struct stat st;
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[1] = 0;
    if (access(slash ? folder : ".", W_OK | X_OK) < 0)
        return cli_say(name, "cannot be created: %s", strerror(errno));
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return cli_say(name, "is a folder; give the name of a file");
    uint32_t pid;
    const enum cli_stands stands = cli_what_stands(path, &pid);
    if (stands == CLI_LIVE)
        return cli_say(name, "is being recorded; give another name");
    if (stands == CLI_SOMETHING)
        return cli_say(name, "is %s; it is left alone, give another name with -o",
                       S_ISLNK(st.st_mode) ? "a symbolic link, which weft does not follow"
                                           : "a file that is no trace");
    snprintf(old, sizeof old, "%s.old", path);
    if (stands <= CLI_EMPTY || cli_what_stands(old, &pid) <= CLI_A_TRACE)
        return true;
    return cli_say(name,
                   "cannot be kept: there is another file with .old behind its name; give another "
                   "name");
}

bool cli_sampling_settle(struct cli_sampling *s)
{
    char old[PATH_MAX + 32];
    struct stat st;
    snprintf(old, sizeof old, "%s.old", s->path);
    if (!cli_sampling_check(s->path, s->name))
        return false;
    if (lstat(s->path, &st) == 0 && st.st_size && rename(s->path, old) < 0)
        return cli_say(s->name, "cannot be kept: %s; move it away", strerror(errno));
    if (rename(s->temporary, s->path) < 0)
        return cli_say(s->name, "cannot be created: %s", strerror(errno));
    *s->temporary = 0;
    return true;
}

/* ---- Beginning ---- */

bool cli_sampling_open(struct cli_sampling *s, const char *name,
                       const struct weft_sampler_options *o)
{
    struct weft_error err;
    *s = (struct cli_sampling){.fd = -1, .name = name, .step_ms = STEP_MS, .flush_ms = FLUSH_MS};
    if (weft_sampler_open(&s->sampler, o, &err) < 0)
        return cli_say(name, "%s", err.text);
    const char *note;
    for (uint32_t i = 0; (note = weft_sampler_note(s->sampler, i)); i++)
        cli_say(name, "%s", note);
    return true;
}

int cli_sampling_begin(struct weft_samples_file **file, int fd,
                       const struct weft_sampler_options *o, uint64_t ring_bytes, char *const *argv,
                       struct weft_error *err)
{
    struct weft_samples_facts facts = {.process = o->process, .ring_bytes = ring_bytes};
    const char *event = o->event ? o->event : weft_sampler_event(0);
    struct weft_source source = {.unit = weft_sampler_unit(o->event),
                                 .frequency = o->period ? 0 : o->frequency,
                                 .period = o->period};
    if (!source.period && source.unit == WEFT_UNIT_NS && source.frequency)
        source.period = (1000000000u + source.frequency / 2) / source.frequency;
    if (argv && *argv) {
        facts.program = *argv;
        facts.arg = (const char *const *)argv;
        while (facts.arg[facts.args])
            facts.args++;
    }
    return weft_samples_begin(file, fd, &facts, &source, event, err);
}

bool cli_sampling_create(struct cli_sampling *s, const char *path,
                         const struct weft_sampler_options *o, uint64_t ring_bytes,
                         char *const *argv)
{
    struct weft_error err;
    snprintf(s->path, sizeof s->path, "%s", path);
    snprintf(s->temporary, sizeof s->temporary, "%s.XXXXXX", path);
    s->name = s->path;
    s->fd = mkostemp(s->temporary, O_CLOEXEC);
    if (s->fd < 0) {
        *s->temporary = 0;
        return cli_say(path, "cannot be created: %s", strerror(errno));
    }
    flock(s->fd, LOCK_EX | LOCK_NB); /* it is being recorded */
    if (cli_sampling_begin(&s->file, s->fd, o, ring_bytes, argv, &err) == 0) {
        s->begun_ns = s->flushed_ns = (uint64_t)weft_monotonic_ns();
        return true;
    }
    return cli_complain(path, &err);
}

/* ---- Sampling ---- */

static bool write_sample(void *data, const struct weft_sampled *r)
{
    struct cli_sampling *s = data;
    int rc = s->failed ? 0 : weft_samples_put(s->file, r);
    if (rc < 0 && rc != WEFT_E_LIMIT) {
        s->failed = true;
        cli_say(s->name, "cannot be written: %s",
                rc == WEFT_E_NOMEM ? weft_error_name(rc) : strerror(errno));
    }
    return !s->failed;
}

static void flush(struct cli_sampling *s)
{
    struct weft_error err;
    if (s->failed || !s->file || weft_samples_flush(s->file, &err) == 0)
        return;
    s->failed = true;
    cli_complain(s->name, &err);
}

static bool read_some(struct cli_sampling *s, int timeout_ms)
{
    struct weft_error err;
    ptrdiff_t n = weft_sampler_read(s->sampler, timeout_ms, write_sample, s, &err);
    if (n < 0 && !s->failed) {
        s->failed = true;
        cli_complain(s->name, &err);
    }
    return n > 0 && !s->failed;
}

void cli_sampling_step(struct cli_sampling *s)
{
    if (s->failed) { /* only waiting is left */
        nanosleep(&(struct timespec){0, STEP_MS * 1000000L}, NULL);
        return;
    }
    read_some(s, s->step_ms);
    const uint64_t now = (uint64_t)weft_monotonic_ns();
    if (now - s->flushed_ns >= (uint64_t)s->flush_ms * 1000000) {
        flush(s);
        s->flushed_ns = now;
    }
}

void cli_sampling_stop(struct cli_sampling *s)
{
    if (s->stopped)
        return;
    s->stopped = true;
    weft_sampler_stop(s->sampler);
    s->ended_ns = (uint64_t)weft_monotonic_ns();
    while (!s->failed && read_some(s, 0))
        ;
    flush(s);
}

/* ---- Ending ---- */

static struct weft_profile *load(struct cli_sampling *s)
{
    struct weft_error err;
    struct weft_reader *r = NULL;
    struct weft_profile *p = weft_profile_new();
    int rc = p ? weft_reader_open(&r, *s->temporary ? s->temporary : s->path, &err)
               : weft_no_memory(&err);
    if (rc == 0)
        rc = weft_profile_load_trace(p, r, &err);
    if (r)
        weft_reader_close(r);
    if (rc == 0 && (rc = weft_profile_finish(p)) < 0)
        weft_error_set(&err, rc, WEFT_NO_OFFSET, "%s", weft_error_name(rc));
    if (rc == 0)
        return p;
    cli_complain(s->name, &err);
    if (p)
        weft_profile_free(p);
    return NULL;
}

static bool put_symbols(struct cli_sampling *s, struct weft_profile *p)
{
    struct weft_error err;
    const struct weft_symbols_options o = {.this_machine = true};
    struct cli_progress progress = cli_progress_begin(s->name);
    int rc = weft_symbols_resolve(p, &o, NULL, cli_progress_show, &progress);
    cli_progress_end(&progress);
    if (rc < 0)
        weft_error_set(&err, rc, WEFT_NO_OFFSET, "names cannot be looked up: %s",
                       weft_error_name(rc));
    else
        rc = weft_samples_put_symbols(s->file, p, &err);
    return rc == 0 || cli_complain(s->name, &err);
}

static void count(const struct weft_profile *p, struct cli_sampled *c)
{
    bool *seen = calloc(p->threads + (size_t)1, sizeof *seen);
    for (uint32_t i = 0; i < p->samples; i++) {
        const uint32_t t = p->sample[i].thread;
        if (t >= p->threads)
            continue;
        if (seen && !seen[t])
            c->threads++;
        if (seen)
            seen[t] = true;
        c->own += p->thread[t].process == (uint32_t)getpid();
    }
    free(seen);
}

bool cli_sampling_end(struct cli_sampling *s, bool symbols, struct cli_sampled *c)
{
    struct weft_error err;
    cli_sampling_stop(s);
    *c = (struct cli_sampled){.by = weft_sampler_counts(s->sampler),
                              .span_ns = s->ended_ns - s->begun_ns};
    c->samples = c->by.samples;
    struct weft_profile *p = load(s);
    bool fine = p && !s->failed;
    if (p)
        count(p, c);
    if (p && s->failed) {
        c->cut = true;
        c->samples = p->samples;
        c->span_ns = p->last_ns - p->first_ns;
    }
    if (fine && symbols)
        fine = put_symbols(s, p);
    if (p)
        weft_profile_free(p);
    const uint64_t gone = weft_samples_overwritten(s->file);
    c->kept = c->samples > gone ? c->samples - gone : 0;
    int rc = weft_samples_end(s->file, &err);
    s->file = NULL;
    if (rc < 0 && fine)
        cli_complain(s->name, &err);
    return fine && rc == 0;
}

void cli_sampling_close(struct cli_sampling *s)
{
    if (s->file)
        weft_samples_end(s->file, NULL);
    weft_sampler_close(s->sampler);
    cli_close(s->fd);
    if (*s->temporary)
        unlink(s->temporary);
    *s = (struct cli_sampling){.fd = -1};
}

/* Rounded to two digits. */
static uint64_t rounded(uint64_t n)
{
    uint64_t unit = 1;
    while (n / unit >= 100)
        unit *= 10;
    return (n + unit / 2) / unit * unit;
}

/* "12,345 samples of 3 threads in 10.2 s; 0 lost" */
static void tell_counts(const struct cli_sampled *c)
{
    const int64_t span = c->span_ns < INT64_MAX ? (int64_t)c->span_ns : INT64_MAX;
    fprintf(stderr, "%s of %s in %s", cli_many(c->samples, "sample").text,
            cli_many(c->threads, "thread").text, weft_duration(span).text);
    if (c->own)
        fprintf(stderr, ", %s of them of weft itself", weft_count(c->own).text);
    if (c->cut) {
        fputs(" are in the file; it ends there, for it could not be written", stderr);
        return;
    }
    if (c->kept < c->samples)
        fprintf(stderr, "; the last %s are kept", weft_count(c->kept).text);
    fprintf(stderr, "; %s lost", weft_count(c->by.lost).text);
    if (c->by.lost_switches && !c->by.given_up_ns)
        fprintf(stderr, ", and %s of switches", cli_many(c->by.lost_switches, "record").text);
    if (c->by.throttled)
        fprintf(stderr, "; the kernel paused the timer %s", cli_many(c->by.throttled, "time").text);
}

void cli_sampling_tell(const struct cli_sampled *c, const char *name, const int *status)
{
    const struct cli_shown shown = cli_shown(name);
    fprintf(stderr, "weft: %s: ", shown.text);
    tell_counts(c);
    if (status)
        cli_tell_ending(*status);
    if (c->samples)
        fprintf(stderr, "; see weft profile %s\n", shown.text);
    else if (c->by.switches)
        fprintf(stderr, "; it hardly used the CPU: see weft profile --off-cpu %s\n", shown.text);
    else
        fputc('\n', stderr);
    if (c->by.given_up_ns)
        cli_say(name,
                "threads left their cores %s times a second, so after %s these times were given "
                "up; --off-cpu keeps them, which costs",
                weft_count(rounded(c->by.given_up_rate)).text,
                weft_duration((int64_t)c->by.given_up_ns).text);
}
