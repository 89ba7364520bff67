/* SPDX-License-Identifier: ISC */
#include "sample/distant.h"

#include <unistd.h>

enum what { READ, WRITE, MAPS };

struct question {
    uint64_t at;
    uint32_t bytes;
    uint32_t what;
};

static void serve(int fd, void *data)
{
    static char room[SAMPLE_DISTANT_BYTES];
    const int mem = SYMBOLS_WORKER_FILES, maps = mem + 1;
    struct question q;
    (void)data;
    while (symbols_worker_get(fd, &q, sizeof q, -1) &&
           (q.what != WRITE || symbols_worker_get(fd, room, q.bytes, -1))) {
        ssize_t n = q.what == READ    ? pread(mem, room, q.bytes, (off_t)q.at)
                    : q.what == WRITE ? pwrite(mem, room, q.bytes, (off_t)q.at)
                                      : read(maps, room, q.bytes);
        const uint32_t done = n > 0 ? (uint32_t)n : 0;
        if (!symbols_worker_put(fd, &done, sizeof done) ||
            (q.what != WRITE && !symbols_worker_put(fd, room, done)))
            return;
    }
}

int sample_distant_open(struct symbols_worker *w, int mem, int maps)
{
    const struct symbols_worker_options o = {.aside = true, .keep = {mem, maps}};
    return symbols_worker_start(w, &o, serve, NULL);
}

struct reader {
    sample_distant_fn *read;
    void *data;
};

static void serve_by(int fd, void *data)
{
    static char room[SAMPLE_DISTANT_BYTES];
    const struct reader *r = data;
    struct question q;
    while (symbols_worker_get(fd, &q, sizeof q, -1)) {
        const uint32_t done = q.what == READ ? (uint32_t)r->read(r->data, q.at, room, q.bytes) : 0;
        if (!symbols_worker_put(fd, &done, sizeof done) || !symbols_worker_put(fd, room, done))
            return;
    }
}

int sample_distant_open_by(struct symbols_worker *w, int keep, sample_distant_fn *read, void *data)
{
    const struct symbols_worker_options o = {.aside = true, .keep = {keep, -1}};
    struct reader r = {read, data};
    return symbols_worker_start(w, &o, serve_by, &r);
}

/* to: NULL for WRITE; otherwise receives what was read. */
static size_t ask(struct symbols_worker *w, enum what what, uint64_t at, const void *from, void *to,
                  size_t bytes)
{
    const size_t most = bytes < SAMPLE_DISTANT_BYTES ? bytes : SAMPLE_DISTANT_BYTES;
    const struct question q = {at, (uint32_t)most, what};
    uint32_t done = 0;
    if (w->pid <= 0 || w->late || !symbols_worker_put(w->fd, &q, sizeof q) ||
        (from && !symbols_worker_put(w->fd, from, most)) ||
        !symbols_worker_answers(w, &done, sizeof done) || done > most ||
        (to && !symbols_worker_answers(w, to, done)))
        return 0;
    return done;
}

size_t sample_distant_read(struct symbols_worker *w, uint64_t at, void *to, size_t bytes)
{
    return ask(w, READ, at, NULL, to, bytes);
}

size_t sample_distant_write(struct symbols_worker *w, uint64_t at, const void *from, size_t bytes)
{
    return ask(w, WRITE, at, from, NULL, bytes);
}

static ssize_t read_maps(void *w, char *to, size_t bytes)
{
    return (ssize_t)ask(w, MAPS, 0, NULL, to, bytes);
}

FILE *sample_distant_maps(struct symbols_worker *w)
{
    return fopencookie(w, "r", (cookie_io_functions_t){.read = read_maps});
}
