/* SPDX-License-Identifier: ISC */
/* A core as a process to look at. Its memory is what the core has, and for what it does not have, as code, the file that was
 * mapped there: read in a child process, since the file system of a file that a core names need not answer. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/order.h"
#include "now/process.h"
#include "symbols/regular.h"

enum {
    FILES_OPEN = 16,
    NAMED_MAX = 8192, /* mappings whose files are looked at; each is a question to the child */
};

/* ---- In the child ---- */

struct memory {
    struct weft_core core; /* with the child's own descriptor */
    struct {
        const char *path;
        int fd; /* -1: it cannot be opened */
    } open[FILES_OPEN];
    unsigned next;
};

static int open_file(struct memory *m, const char *path)
{
    for (unsigned i = 0; i < FILES_OPEN; i++)
        if (m->open[i].path && strcmp(m->open[i].path, path) == 0)
            return m->open[i].fd;
    const unsigned i = m->next++ % FILES_OPEN;
    if (m->open[i].path && m->open[i].fd >= 0)
        close(m->open[i].fd);
    m->open[i].path = path;
    return m->open[i].fd = path[0] == '/' ? symbols_regular_open(NULL, path) : -1;
}

/* What the process could write to may have been other than the file. */
static size_t read_file(struct memory *m, uint64_t at, void *to, size_t bytes)
{
    const struct weft_core_file *f = weft_core_file_at(&m->core, at);
    const struct weft_core_part *p = weft_core_part_at(&m->core, at);
    if (!f || (p && p->writable))
        return 0;
    uint64_t most = f->end - at;
    if (p && p->start + p->size - at < most)
        most = p->start + p->size - at;
    const int fd = open_file(m, f->path);
    const ssize_t n = fd < 0 ? -1
                             : pread(fd, to, most < bytes ? (size_t)most : bytes,
                                     (off_t)(at - f->start + f->offset));
    return n > 0 ? (size_t)n : 0;
}

static size_t read_memory(void *data, uint64_t at, void *to, size_t bytes)
{
    struct memory *m = data;
    m->core.fd = SYMBOLS_WORKER_FILES;
    const size_t n = weft_core_read(&m->core, at, to, bytes);
    return n ? n : read_file(m, at, to, bytes);
}

/* ---- What is mapped ---- */

static int add(struct now_process *p, struct now_mapping m, const char *path)
{
    m.path = strdup(path);
    if (!m.path || !weft_reserve(&p->mapping, p->mappings, &p->mappings_room, sizeof m)) {
        free(m.path);
        return WEFT_E_NOMEM;
    }
    p->mapping[p->mappings++] = m;
    return 0;
}

static int add_part(struct now_process *p, const struct weft_core_part *part, uint32_t *named)
{
    const struct weft_core_file *f =
        *named < NAMED_MAX ? weft_core_file_at(p->core, part->start) : NULL;
    const uint64_t end = part->start + part->size;
    const struct now_mapping m = {.start = part->start,
                                  .end = end,
                                  .offset = f ? part->start - f->start + f->offset : 0,
                                  .readable = part->readable,
                                  .writable = part->writable,
                                  .executable = part->executable};
    *named += f != NULL;
    const uint64_t vdso = p->core->vdso, stack = p->core->stack_top;
    return add(p, m,
               f                                     ? f->path
               : vdso >= part->start && vdso < end   ? "[vdso]"
               : stack >= part->start && stack < end ? "[stack]"
                                                     : "");
}

static int by_start(const void *a, const void *b)
{
    const struct now_mapping *x = a, *y = b;
    return weft_order(x->start, y->start);
}

/* Files of which no piece of memory is there: their rights are not known. */
static int add_all(struct now_process *p)
{
    const struct weft_core *c = p->core;
    uint32_t named = 0;
    for (uint32_t i = 0; i < c->parts; i++)
        TRY(add_part(p, &c->part[i], &named));
    for (uint32_t i = 0; i < c->files && named < NAMED_MAX; i++) {
        const struct weft_core_file *f = &c->file[i];
        if (weft_core_part_at(c, f->start))
            continue;
        const struct now_mapping m = {.start = f->start,
                                      .end = f->end,
                                      .offset = f->offset,
                                      .readable = true,
                                      .executable = true};
        TRY(add(p, m, f->path));
        named++;
    }
    if (p->mappings)
        qsort(p->mapping, p->mappings, sizeof *p->mapping, by_start);
    return 0;
}

int now_process_open_core(struct now_process *p, const struct weft_core *core,
                          struct weft_error *err)
{
    struct memory m = {.core = *core};
    *p = (struct now_process){.core = core};
    if (sample_distant_open_by(&p->memory, core->fd, read_memory, &m) < 0 || add_all(p) < 0)
        return weft_no_memory(err);
    return 0;
}
