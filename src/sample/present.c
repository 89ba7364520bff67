/* SPDX-License-Identifier: ISC */
#include "sample/present.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

/* ---- Paths: a forked process shares its parent's ---- */

struct sample_path {
    uint32_t users;
    char text[];
};

static struct sample_path *new_path(const char *text)
{
    const size_t size = strlen(text) + 1;
    struct sample_path *path = malloc(sizeof *path + size);
    if (path) {
        path->users = 1;
        memcpy(path->text, text, size);
    }
    return path;
}

static void drop_path(struct sample_path *path)
{
    if (--path->users == 0)
        free(path);
}

const char *sample_present_path(const struct sample_mapped *m)
{
    return m->path->text;
}

/* ---- Trees by number, which is the first member ---- */

static void *find(void *const *tree, uint32_t number)
{
    void *const *node = tfind(&number, tree, weft_order_u32);
    return node ? *node : NULL;
}

/* Returns what has that number; if nothing has, something new of that size, all zero. NULL: no memory. */
static void *find_or_add(void **tree, uint32_t number, size_t size)
{
    void *found = find(tree, number);
    if (found)
        return found;
    uint32_t *item = calloc(1, size);
    if (!item)
        return NULL;
    *item = number;
    if (tsearch(item, tree, weft_order_u32))
        return item;
    free(item);
    return NULL;
}

struct sample_process *sample_present_process(const struct sample_present *p, uint32_t process)
{
    return find(&p->processes, process);
}

struct sample_thread *sample_present_thread(const struct sample_present *p, uint32_t thread)
{
    return find(&p->threads, thread);
}

/* ---- Mappings ---- */

static uint64_t end_of(const struct sample_mapped *m)
{
    return m->size < UINT64_MAX - m->start ? m->start + m->size : UINT64_MAX;
}

static void drop_mappings(struct sample_process *process)
{
    for (uint32_t i = 0; i < process->count; i++)
        drop_path(process->mapped[i].path);
    process->count = 0;
}

static void free_process(void *process)
{
    struct sample_process *p = process;
    drop_mappings(p);
    free(p->mapped);
    free(p);
}

void sample_present_fini(struct sample_present *p)
{
    tdestroy(p->processes, free_process);
    tdestroy(p->threads, free);
    *p = (struct sample_present){0};
}

struct sample_mapped *sample_present_at(const struct sample_process *process, uint64_t address)
{
    uint32_t low = 0, high = process->count;
    WEFT_SEEK(low, high, end_of(&process->mapped[middle]) <= address);
    return low < process->count && process->mapped[low].start <= address ? &process->mapped[low]
                                                                         : NULL;
}

/* What lies over the new one is gone; of a larger mapping its ends stay. Takes m->path over. */
static bool insert(struct sample_process *process, const struct sample_mapped *m)
{
    uint32_t first = 0, next = 0, high = process->count;
    if (!weft_reserve_all(&process->mapped, process->count + UINT64_C(2), &process->room,
                          sizeof *m))
        return false;
    struct sample_mapped *all = process->mapped, part[3];
    WEFT_SEEK(first, high, end_of(&all[middle]) <= m->start);
    high = process->count;
    next = first;
    WEFT_SEEK(next, high, all[middle].start < end_of(m));
    size_t parts = 0;
    if (first < next && all[first].start < m->start) {
        part[parts] = all[first];
        part[parts++].size = m->start - all[first].start;
    }
    part[parts++] = *m;
    if (first < next && end_of(&all[next - 1]) > end_of(m)) {
        const uint64_t gone = end_of(m) - all[next - 1].start;
        part[parts] = all[next - 1];
        part[parts].start += gone;
        part[parts].offset += gone;
        part[parts++].size -= gone;
    }
    for (size_t i = 0; i < parts; i++)
        part[i].path->users++;
    for (uint32_t i = first; i < next; i++)
        drop_path(all[i].path);
    drop_path(m->path);
    memmove(all + first + parts, all + next, (process->count - next) * sizeof *all);
    memcpy(all + first, part, parts * sizeof *all);
    process->count += (uint32_t)parts - (next - first);
    return true;
}

static int take_mapping(struct sample_present *p, const struct weft_sampled *r)
{
    struct sample_process *process =
        find_or_add(&p->processes, r->process, sizeof(struct sample_process));
    struct sample_mapped m = {.start = r->start,
                              .size = r->size,
                              .offset = r->offset,
                              .from_ns = r->time_ns,
                              .flags = r->flags};
    if (r->size == 0)
        return 0;
    m.path = process ? new_path(r->text) : NULL;
    if (!m.path)
        return WEFT_E_NOMEM;
    m.build_id_bytes =
        (uint8_t)(r->build_id_bytes < WEFT_BUILD_ID_MAX ? r->build_id_bytes : WEFT_BUILD_ID_MAX);
    if (m.build_id_bytes)
        memcpy(m.build_id, r->build_id, m.build_id_bytes);
    if (insert(process, &m))
        return 0;
    drop_path(m.path);
    return WEFT_E_NOMEM;
}

/* ---- Processes and threads ---- */

/* A forked process has its parent's mappings. */
static bool inherit(const struct sample_present *p, struct sample_process *process,
                    const struct weft_sampled *r)
{
    const struct sample_process *parent = sample_present_process(p, r->parent);
    if (!parent || parent == process)
        return true;
    if (!weft_reserve_all(&process->mapped, parent->count + UINT64_C(1), &process->room,
                          sizeof *process->mapped))
        return false;
    for (uint32_t i = 0; i < parent->count; i++) {
        struct sample_mapped *m = &process->mapped[i];
        *m = parent->mapped[i];
        m->path->users++;
        m->put = 0;
        m->from_ns = m->from_ns > r->time_ns ? m->from_ns : r->time_ns;
    }
    process->count = parent->count;
    return true;
}

static void drop_thread(struct sample_present *p, struct sample_thread *thread)
{
    struct sample_process *process = sample_present_process(p, thread->process);
    tdelete(thread, &p->threads, weft_order_u32);
    free(thread);
    if (!process || --process->threads)
        return;
    tdelete(process, &p->processes, weft_order_u32);
    free_process(process);
}

static int take_thread(struct sample_present *p, const struct weft_sampled *r)
{
    struct sample_thread *thread = sample_present_thread(p, r->thread);
    if (thread && thread->process != r->process) { /* the number is used again */
        drop_thread(p, thread);
        thread = NULL;
    }
    const bool known = thread;
    struct sample_process *process =
        find_or_add(&p->processes, r->process, sizeof(struct sample_process));
    if (process && !thread)
        thread = find_or_add(&p->threads, r->thread, sizeof *thread);
    if (!thread)
        return WEFT_E_NOMEM;
    process->threads += !known;
    thread->process = r->process;
    if (*r->text || !known) {
        snprintf(thread->name, sizeof thread->name, "%s", r->text);
        thread->since_ns = r->time_ns;
        thread->put = 0;
    }
    const bool execs = r->flags & WEFT_THREAD_EXEC;
    const bool forked = !execs && r->parent != UINT32_MAX && r->thread == r->process;
    if (!execs && !forked)
        return 0;
    drop_mappings(process);
    process->began_ns = r->time_ns;
    process->put = 0;
    return !forked || inherit(p, process, r) ? 0 : WEFT_E_NOMEM;
}

int sample_present_take(struct sample_present *p, const struct weft_sampled *r)
{
    struct sample_thread *thread;
    switch (r->kind) {
    case WEFT_RECORD_MAPPING:
        return take_mapping(p, r);
    case WEFT_RECORD_THREAD:
        return take_thread(p, r);
    case WEFT_RECORD_EXIT:
        thread = sample_present_thread(p, r->thread);
        if (thread && thread->process == r->process)
            drop_thread(p, thread);
        return 0;
    default:
        return 0;
    }
}
