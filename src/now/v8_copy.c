/* SPDX-License-Identifier: ISC */
/* V8 takes memory in pieces that begin at multiples of 256 KiB; each has a head. A child copies them into memory that it
 * shares with us: reading the process may wait forever (sample/distant.h), and one answer for each piece would take
 * longer than the copying. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "now/v8.h"

enum {
    PIECE = 1 << 18,
    PIECES_MAX = 1 << 12, /* 1 GiB */
    HEAD_WORDS = 3,       /* not all of them are 0 */
};

struct v8_copied {
    struct v8_piece piece[PIECES_MAX];
    _Atomic uint32_t pieces; /* (a) complete ones, whenever the child is killed */
    uint64_t left_bytes;
    uint64_t word[PIECES_MAX][PIECE / 8];
};

/* ---- The child ---- */

static bool may_be_heap(const struct now_mapping *m)
{
    return m->readable && !m->executable && m->path[0] == 0;
}

static size_t read_memory(const struct v8 *v, uint64_t at, void *to, size_t bytes)
{
    if (v->p->core) {
        struct weft_core core = *v->p->core;
        core.fd = SYMBOLS_WORKER_FILES;
        return weft_core_read(&core, at, to, bytes);
    }
    const ssize_t n = pread(SYMBOLS_WORKER_FILES, to, bytes, (off_t)at);
    return n > 0 ? (size_t)n : 0;
}

static void copy_piece(const struct v8 *v, uint64_t at, uint64_t bytes)
{
    struct v8_copied *c = v->copied;
    uint64_t head[HEAD_WORDS];
    if (read_memory(v, at, head, sizeof head) != sizeof head || !(head[0] | head[1] | head[2]))
        return;
    const uint32_t pieces = atomic_load_explicit(&c->pieces, memory_order_relaxed);
    if (pieces == PIECES_MAX || weft_monotonic_ns() > v->copy_until_ns) {
        c->left_bytes += bytes;
        return;
    }
    uint64_t *word = c->word[pieces];
    const size_t n = read_memory(v, at, word, bytes);
    if (n == 0)
        return;
    c->piece[pieces] = (struct v8_piece){at, (uint32_t)(n / 8), word};
    atomic_store_explicit(&c->pieces, pieces + 1, memory_order_release);
}

static void copy_all(int fd, void *data)
{
    const struct v8 *v = data;
    for (uint32_t i = 0; i < v->p->mappings; i++) {
        const struct now_mapping *m = &v->p->mapping[i];
        const uint64_t first = (m->start + PIECE - 1) & ~(uint64_t)(PIECE - 1);
        for (uint64_t at = first; may_be_heap(m) && at >= m->start && at < m->end; at += PIECE)
            copy_piece(v, at, m->end - at < PIECE ? m->end - at : PIECE);
    }
    const char done = 0;
    symbols_worker_put(fd, &done, sizeof done);
}

/* ---- Here ---- */

static int open_memory(const struct now_process *p)
{
    char path[64];
    if (p->core)
        return fcntl(p->core->fd, F_DUPFD_CLOEXEC, 0);
    snprintf(path, sizeof path, "/proc/%d/task/%d/mem", (int)p->pid, (int)p->thread);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Of a copy that was not finished: what may be heap and is not in it. */
static uint64_t bytes_left(const struct v8 *v)
{
    uint64_t all = 0, copied = 0;
    for (uint32_t i = 0; i < v->p->mappings; i++)
        if (may_be_heap(&v->p->mapping[i]))
            all += v->p->mapping[i].end - v->p->mapping[i].start;
    for (uint32_t i = 0; i < v->pieces; i++)
        copied += v->piece[i].words * UINT64_C(8);
    return all > copied ? all - copied : 1;
}

bool v8_copy(struct v8 *v)
{
    struct symbols_worker w = {0};
    char done;
    v8_forget(v);
    void *room = mmap(NULL, sizeof *v->copied, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return false;
    v->copied = room;
    const int mem = open_memory(v->p);
    const struct symbols_worker_options o = {.aside = true, .keep = {mem, -1}};
    bool ok = mem < 0 || symbols_worker_start(&w, &o, copy_all, v) == 0;
    const int64_t left_ms = (v->copy_until_ns - weft_monotonic_ns()) / 1000000;
    if (mem >= 0 && ok) {
        const bool all =
            symbols_worker_get(w.fd, &done, sizeof done, left_ms > 0 ? (int)left_ms + 100 : 100);
        v->piece = v->copied->piece;
        v->pieces = atomic_load_explicit(&v->copied->pieces, memory_order_acquire); /* (a) */
        v->left_bytes = all ? v->copied->left_bytes : bytes_left(v);
    }
    if (w.pid > 0)
        symbols_worker_stop(&w);
    if (mem >= 0)
        close(mem);
    return ok;
}

void v8_forget(struct v8 *v)
{
    if (v->copied)
        munmap(v->copied, sizeof *v->copied);
    v->copied = NULL;
    v->piece = NULL;
    v->pieces = 0;
    v->left_bytes = 0;
}

bool v8_changed(struct v8 *v, uint64_t object)
{
    uint64_t now[4], then[4];
    return !v8_read(v, object - 1, then, sizeof then) ||
           !now_read(v->p, object - 1, now, sizeof now) || memcmp(now, then, sizeof now) != 0;
}
