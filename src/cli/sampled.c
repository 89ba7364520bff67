/* SPDX-License-Identifier: ISC */
/* What was sampled until now, of a file that goes on being written: copied, and put behind the events of a trace. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/common.h"
#include "cli/sampler.h"
#include "profile/build.h"
#include "read/alive.h"
#include "read/reader.h"
#include "read/snapshot.h"
#include "sample/file.h"
#include "symbols/symbols.h"

#define COPIED_MOST (UINT64_C(256) << 20)

int cli_samples_copy(int file, struct weft_error *err)
{
    struct weft_facts_header facts;
    struct weft_snapshot *s = NULL;
    struct weft_input in = {.fd = file};
    const off_t size = in.fd < 0 ? -1 : lseek(in.fd, 0, SEEK_END);
    int rc = 0, fd = -1;
    if (size < 0)
        rc =
            weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be opened: %s", strerror(errno));
    else if (!weft_facts_read(in.fd, &facts) || !weft_facts_sampling(&facts, in.fd))
        rc = weft_error_set(err, WEFT_E_FORMAT, WEFT_NO_OFFSET, "nothing is sampled there");
    in.size = size < 0 ? 0 : (uint64_t)size;
    if (rc == 0 && in.size > COPIED_MOST)
        rc = weft_error_set(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                            "there are %s of them, too many to be copied", weft_size(in.size).text);
    if (rc == 0 && (rc = weft_snapshot_begin(&s, &in, err)) == 0)
        rc = weft_error_set(err, WEFT_E_FORMAT, WEFT_NO_OFFSET, "has no samples");
    if (rc > 0 && (fd = memfd_create("weft-samples", MFD_CLOEXEC)) < 0)
        rc = weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "no room to hold them: %s",
                            strerror(errno));
    if (rc > 0)
        rc = weft_snapshot_to_fd(s, fd, err);
    weft_snapshot_free(s);
    weft_input_close(&in);
    if (rc < 0)
        cli_close(fd);
    return rc < 0 ? rc : fd;
}

/* ---- Names ---- */

static bool in_time(void *data, double share)
{
    (void)share;
    return weft_monotonic_ns() < *(int64_t *)data;
}

struct weft_profile *cli_samples_load(int fd, struct weft_error *err)
{
    struct weft_reader *r = NULL;
    struct weft_profile *p = weft_profile_new();
    int rc = p ? cli_open_file(&r, fd, err) : weft_no_memory(err);
    if (rc == 0)
        rc = weft_profile_load_trace(p, r, err);
    if (rc == 0 && weft_profile_finish(p) < 0)
        rc = weft_no_memory(err);
    if (r)
        weft_reader_close(r);
    if (rc == 0)
        return p;
    if (p)
        weft_profile_free(p);
    return NULL;
}

/* Appends packets with the names of the profile's functions. What is not known in time has none. */
static int append_names(int trace, struct weft_profile *p, uint64_t packets, int64_t names_ns,
                        struct weft_error *err)
{
    const struct weft_symbols_options o = {.this_machine = true};
    const struct weft_samples_facts facts = {.packets_before = packets};
    const struct weft_source *source = &p->source[0];
    struct weft_samples_file *file = NULL;
    int64_t until = weft_monotonic_ns() + names_ns;
    int fd = memfd_create("weft-names", MFD_CLOEXEC);
    int rc = fd < 0 ? weft_no_memory(err)
                    : weft_samples_begin(&file, fd, &facts, source,
                                         weft_profile_text(p, source->name), err);
    if (rc == 0 && weft_symbols_resolve(p, &o, NULL, in_time, &until) == WEFT_E_NOMEM)
        rc = weft_no_memory(err);
    if (rc == 0)
        rc = weft_samples_put_symbols(file, p, err);
    if (file) {
        const int ended = weft_samples_end(file, rc == 0 ? err : NULL);
        rc = rc == 0 ? ended : rc;
    }
    if (rc == 0)
        rc = weft_samples_append(trace, fd, 0, err);
    cli_close(fd);
    return rc;
}

int64_t cli_samples_append(int trace, int samples, uint64_t since_ns, int64_t names_ns,
                           struct weft_error *err)
{
    const off_t before = lseek(trace, 0, SEEK_END);
    struct weft_profile *p = NULL;
    int rc = before < 0 ? WEFT_E_IO : weft_samples_append(trace, samples, since_ns, err);
    if (rc == 0 && !(p = cli_samples_load(trace, err)))
        rc = err->code < 0 ? err->code : WEFT_E_NOMEM;
    const int64_t count = p ? p->samples : 0;
    if (count && p->sources)
        rc = append_names(trace, p, weft_samples_packets(samples), names_ns, err);
    if (p)
        weft_profile_free(p);
    if ((rc < 0 || !count) && before >= 0 && ftruncate(trace, before) < 0)
        return WEFT_E_IO; /* packets without names */
    return rc < 0 ? rc : count;
}
