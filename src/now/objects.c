/* SPDX-License-Identifier: ISC */
#include "now/objects.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/order.h"
#include "symbols/elf_file.h"

enum { OBJECTS_MAX = 1 << 14, HEADERS_MAX = 64, NOTES_MAX = 4096 };

/* What both classes have. */
struct part {
    uint32_t type;
    uint64_t offset, address, memory_bytes, file_bytes, align;
};

/* Reads the table of program headers, all at once: each reading is a question to another process. Returns how many. */
static unsigned read_parts(struct now_process *p, uint64_t at, bool wide, unsigned count,
                           struct part part[HEADERS_MAX])
{
    union {
        Elf32_Phdr narrow[HEADERS_MAX];
        Elf64_Phdr wide[HEADERS_MAX];
    } h;
    count = count < HEADERS_MAX ? count : HEADERS_MAX;
    if (!now_read(p, at, &h, count * (wide ? sizeof *h.wide : sizeof *h.narrow)))
        return 0;
    for (unsigned i = 0; i < count; i++) {
        const Elf32_Phdr *n = &h.narrow[i];
        const Elf64_Phdr *w = &h.wide[i];
        part[i] = wide ? (struct part){w->p_type,  w->p_offset, w->p_vaddr,
                                       w->p_memsz, w->p_filesz, w->p_align}
                       : (struct part){n->p_type,  n->p_offset, n->p_vaddr,
                                       n->p_memsz, n->p_filesz, n->p_align};
    }
    return count;
}

static void read_notes(struct now_process *p, struct now_object *o, const struct part *notes)
{
    uint8_t bytes[NOTES_MAX];
    const size_t size = notes->file_bytes < NOTES_MAX ? (size_t)notes->file_bytes : NOTES_MAX;
    if (o->build_id_bytes || !now_read(p, o->bias + notes->address, bytes, size))
        return;
    o->build_id_bytes =
        (uint8_t)symbols_build_id_find(bytes, size, notes->align == 8 ? 8 : 4, o->build_id);
}

/* Returns false if there is no ELF file at the beginning of the mapping. */
static bool read_object(struct now_process *p, uint32_t mapping, struct now_object *o)
{
    union {
        unsigned char ident[EI_NIDENT];
        Elf32_Ehdr narrow;
        Elf64_Ehdr wide;
    } h;
    struct part part[HEADERS_MAX];
    const uint64_t start = p->mapping[mapping].start;
    bool loaded = false;
    if (!now_read(p, start, &h, sizeof h) || memcmp(h.ident, ELFMAG, SELFMAG) != 0)
        return false;
    *o = (struct now_object){
        .start = start, .mapping = mapping, .wide = h.ident[EI_CLASS] == ELFCLASS64};
    const unsigned parts = read_parts(p, start + (o->wide ? h.wide.e_phoff : h.narrow.e_phoff),
                                      o->wide, o->wide ? h.wide.e_phnum : h.narrow.e_phnum, part);
    for (unsigned i = 0; i < parts; i++) {
        if (part[i].type != PT_LOAD)
            continue;
        if (!loaded)
            o->bias = start - (part[i].address - part[i].offset);
        loaded = true;
        const uint64_t end = o->bias + part[i].address + part[i].memory_bytes;
        if (end > o->end)
            o->end = end;
    }
    for (unsigned i = 0; i < parts && loaded; i++)
        if (part[i].type == PT_NOTE)
            read_notes(p, o, &part[i]);
    return loaded && o->end > o->start;
}

int now_objects_read(struct now_objects *o, struct now_process *p)
{
    struct now_object object;
    *o = (struct now_objects){0};
    for (uint32_t i = 0; i < p->mappings && o->objects < OBJECTS_MAX; i++) {
        const struct now_mapping *m = &p->mapping[i];
        const bool file = m->path[0] == '/' && m->offset == 0;
        if ((!file && strcmp(m->path, "[vdso]") != 0) || !read_object(p, i, &object))
            continue;
        if (!weft_reserve(&o->object, o->objects, &o->room, sizeof object))
            return WEFT_E_NOMEM;
        o->object[o->objects++] = object;
    }
    return 0;
}

struct files {
    const struct now_objects *o;
    const struct now_process *p;
};

static bool has_file(const struct now_mapping *m)
{
    return m->executable && m->path[0] == '/';
}

static void try_file(const struct files *f, const struct now_mapping *m, bool inside)
{
    char byte;
    const struct now_object *o = now_object_at(f->o, m->start);
    enum symbols_file_state state;
    struct symbols_place place = {.path = inside ? NULL : m->path,
                                  .inside = m->path,
                                  .process = (uint32_t)f->p->pid,
                                  .start = m->start,
                                  .end = m->end};
    if (o && strcmp(f->p->mapping[o->mapping].path, m->path) == 0) {
        place.build_id.bytes = o->build_id_bytes;
        memcpy(place.build_id.id, o->build_id, sizeof o->build_id);
    }
    const int fd = symbols_place_open(&place, &state);
    if (fd >= 0 && pread(fd, &byte, 1, 0) >= 0)
        close(fd);
}

/* As the unwinder opens them, and as now_names_find does. */
static void try_files(int to, void *data)
{
    const struct files *f = data;
    const char done = 0;
    for (uint32_t i = 0; i < f->p->mappings; i++) {
        if (!has_file(&f->p->mapping[i]))
            continue;
        try_file(f, &f->p->mapping[i], false);
        try_file(f, &f->p->mapping[i], true);
        if (!symbols_worker_put(to, &done, sizeof done))
            return;
    }
}

bool now_objects_answer(const struct now_objects *o, const struct now_process *p)
{
    struct files files = {o, p};
    const struct symbols_worker_options options = {.aside = true, .keep = {-1, -1}};
    struct symbols_worker worker;
    char done;
    bool all = symbols_worker_start(&worker, &options, try_files, &files) == 0;
    for (uint32_t i = 0; i < p->mappings && all; i++)
        if (has_file(&p->mapping[i]))
            all = symbols_worker_answers(&worker, &done, sizeof done);
    symbols_worker_stop(&worker);
    return all;
}

void now_objects_free(struct now_objects *o)
{
    free(o->object);
    *o = (struct now_objects){0};
}

const struct now_object *now_object_at(const struct now_objects *o, uint64_t address)
{
    uint32_t low = 0, high = o->objects;
    WEFT_SEEK(low, high, o->object[middle].start <= address);
    return low > 0 && address < o->object[low - 1].end ? &o->object[low - 1] : NULL;
}

const char *now_mapping_file(const struct now_mapping *m)
{
    const char *slash = strrchr(m->path, '/');
    return slash ? slash + 1 : m->path;
}
