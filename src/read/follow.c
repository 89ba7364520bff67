/* SPDX-License-Identifier: ISC */
/* Each look is a reader of its own. It decodes the packets that have grown from their beginning, since what runs is known
 * only from there, but hands out only what follows the last look. */
#include "read/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/clock.h"
#include "read/seen.h"
#include "read/state.h"

/* A thread reads the clock, then stores the event. And the clock of the events differs from ours by what converting it
 * costs. */
#define LATEST_NS 1000000

struct weft_follow {
    struct weft_input in;
    struct weft_reader *reader;
    bool read; /* the look was read to its end */
    uint64_t until_ns;
    struct read_seen seen;
};

int weft_follow_open(struct weft_follow **out, struct weft_input *in, struct weft_error *err)
{
    struct weft_follow *f = *out = in->copy ? NULL : calloc(1, sizeof *f);
    if (f)
        f->seen.by_number = weft_idmap_new();
    if (f && f->seen.by_number) {
        f->in = *in;
        in->fd = -1;
        return 0;
    }
    const int rc = in->copy ? weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                                             "cannot be followed: it is another machine's memory")
                            : weft_no_memory(err);
    weft_input_close(in);
    weft_follow_close(f);
    *out = NULL;
    return rc;
}

int weft_follow_look(struct weft_follow *f, struct weft_error *err)
{
    struct stat st;
    struct weft_input in = f->in;
    weft_reader_close(f->reader);
    f->reader = NULL;
    f->read = false;
    f->seen.news = 0;
    f->until_ns = (uint64_t)weft_monotonic_ns() - LATEST_NS;
    f->seen.until_ns = f->seen.begun ? f->until_ns : UINT64_MAX;
    in.fd = fcntl(f->in.fd, F_DUPFD_CLOEXEC, 3);
    if (in.fd < 0 || fstat(in.fd, &st) < 0) {
        weft_input_close(&in);
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be opened again: %s",
                              strerror(errno));
    }
    in.size = (uint64_t)st.st_size;
    return read_open(&f->reader, &in, &f->seen, err);
}

ptrdiff_t weft_follow_next(struct weft_follow *f, const struct weft_event **events,
                           struct weft_error *err)
{
    const ptrdiff_t n = f->read || !f->reader ? 0 : weft_reader_next(f->reader, events, err);
    if (n == 0 && f->reader && !f->read) {
        f->read = true;
        read_seen_end(&f->seen);
    }
    return n;
}

const struct weft_reader *weft_follow_reader(const struct weft_follow *f)
{
    return f->reader;
}

uint64_t weft_follow_until_ns(const struct weft_follow *f)
{
    return f->until_ns;
}

uint64_t weft_follow_lost(const struct weft_follow *f)
{
    return f->seen.lost;
}

void weft_follow_close(struct weft_follow *f)
{
    if (!f)
        return;
    weft_reader_close(f->reader);
    weft_input_close(&f->in);
    weft_idmap_free(f->seen.by_number);
    weft_free_all(f->seen.old, f->seen.new, f->seen.stream, f);
}
