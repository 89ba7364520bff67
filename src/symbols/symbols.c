/* SPDX-License-Identifier: ISC */
#include "symbols/symbols.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "symbols/names.h"
#include "symbols/symbol_table.h"

#define KERNEL_FUNCTION_MAX (UINT64_C(1) << 20) /* a symbol does not reach further than this */

/* Where the names for a location come from. */
enum origin { NOWHERE, KERNEL, GENERATED, FILE_OR_VDSO };

struct item {        /* a location to resolve */
    uint32_t object; /* FILE_OR_VDSO: index; GENERATED: process + 1; KERNEL: 0 */
    uint32_t location;
    uint64_t offset; /* or address */
};

struct object {
    uint32_t mapping;    /* a mapping of the object */
    char *path, *inside; /* as in symbols_place */
    bool at_mapping;
};

struct resolver {
    struct weft_profile *p;
    const struct weft_symbols_options *o;
    struct weft_symbols_stats stats;
    uint32_t *object_of; /* by mapping: its object, or WEFT_NONE */
    struct object *object;
    uint32_t objects;
    struct item *file, *listed; /* sorted by object and offset; listed: kernel, generated */
    uint32_t files, listeds;
    uint64_t *offset; /* for files: each offset once per object */
    uint32_t *item;   /* … and the first item with that offset; with one more entry at the end */
    struct symbols_question *question;
    uint32_t *question_at; /* index of the first of its offsets */
    uint32_t *function;    /* the profile's functions, by the worker's numbers */
    uint32_t functions_room;
};

/* ---- Which is looked up where ---- */

static const char *path_of(const struct weft_profile *p, uint32_t mapping)
{
    return weft_profile_text(p, p->mapping[mapping].path);
}

static bool is_file(const char *path)
{
    static const char *const none[] = {"//anon", "/dev/", "/SYSV", "/memfd:", "/anon_hugepage"};
    for (unsigned i = 0; i < sizeof none / sizeof *none; i++)
        if (strncmp(path, none[i], strlen(none[i])) == 0)
            return false;
    return path[0] == '/' && path[1] != '\0';
}

static bool is_vdso(const char *path)
{
    return strcmp(path, "[vdso]") == 0;
}

static enum origin origin_of(const struct resolver *r, const struct weft_location *l)
{
    if (l->kernel)
        return r->o->this_machine || r->o->kallsyms ? KERNEL : NOWHERE;
    if (l->mapping == WEFT_NONE)
        return r->o->this_machine ? GENERATED : NOWHERE;
    if (r->p->mapping[l->mapping].kernel) /* the kernel's files are not objects */
        return NOWHERE;
    const char *path = path_of(r->p, l->mapping);
    if (is_file(path))
        return FILE_OR_VDSO;
    if (is_vdso(path))
        return r->o->this_machine ? FILE_OR_VDSO : NOWHERE;
    return r->o->this_machine ? GENERATED : NOWHERE;
}

/* For a caller, the address is the return address; the call is before it. */
static uint64_t address_of(const struct weft_location *l)
{
    return l->caller && l->address > 0 ? l->address - 1 : l->address;
}

static int by_file(const void *a, const void *b, void *data)
{
    const struct weft_mapping *m = data, *x = &m[*(const uint32_t *)a],
                              *y = &m[*(const uint32_t *)b];
    WEFT_ORDER(x->path, y->path);
    WEFT_ORDER(x->build_id_bytes, y->build_id_bytes);
    return memcmp(x->build_id, y->build_id, x->build_id_bytes);
}

static char *joined(const char *before, const char *path, size_t bytes)
{
    size_t room = strlen(before) + bytes + 1;
    char *text = malloc(room);
    if (text)
        snprintf(text, room, "%s%.*s", before, (int)bytes, path);
    return text;
}

/* A file is looked for by its name; by its name within the process, which may be in a container;
 * and, as long as the process lives, even if the file was deleted. If there is a build id, a file
 * other than the one that ran is not used. */
static bool find_places(struct resolver *r, struct object *o)
{
    static const char deleted[] = " (deleted)";
    const struct weft_mapping *m = &r->p->mapping[o->mapping];
    const char *path = path_of(r->p, o->mapping);
    size_t bytes = strnlen(path, 4096), tail = sizeof deleted - 1;
    bool is_deleted = bytes > tail && memcmp(path + bytes - tail, deleted, tail) == 0;
    if (is_vdso(path))
        return (o->path = joined("", path, bytes)) != NULL;
    if (is_deleted)
        bytes -= tail;
    /* Another file may have that name by now, unless the build id says otherwise. */
    if ((!is_deleted || m->build_id_bytes) &&
        !(o->path = joined(r->o->sysroot ? r->o->sysroot : "", path, bytes)))
        return false;
    if (!r->o->this_machine || r->o->sysroot || m->process == UINT32_MAX)
        return true;
    o->at_mapping = true;
    return is_deleted || (o->inside = joined("", path, bytes));
}

/* Mappings of one file are one object. The latest one represents them: its process may still
 * live. */
static bool make_objects(struct resolver *r)
{
    struct weft_profile *p = r->p;
    uint32_t *order = weft_resize(NULL, p->mappings, sizeof *order);
    r->object_of = weft_resize(NULL, p->mappings, sizeof *r->object_of);
    r->object = weft_resize(NULL, p->mappings, sizeof *r->object);
    bool ok = order && r->object_of && r->object;
    uint32_t count = 0;
    for (uint32_t i = 0; ok && i < p->mappings; i++) {
        const char *path = path_of(p, i);
        r->object_of[i] = WEFT_NONE;
        if (!p->mapping[i].kernel && (is_file(path) || is_vdso(path)))
            order[count++] = i;
    }
    if (ok && count > 1)
        qsort_r(order, count, sizeof *order, by_file, p->mapping);
    for (uint32_t i = 0; ok && i < count; i++) {
        bool same = i > 0 && by_file(&order[i - 1], &order[i], p->mapping) == 0;
        struct object *o = &r->object[same ? r->objects - 1 : r->objects++];
        if (!same)
            *o = (struct object){.mapping = order[i]};
        else if (p->mapping[order[i]].from_ns >= p->mapping[o->mapping].from_ns)
            o->mapping = order[i];
        r->object_of[order[i]] = (uint32_t)(o - r->object);
    }
    free(order);
    return ok;
}

static int by_object(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    WEFT_ORDER(x->object, y->object);
    WEFT_ORDER(x->offset, y->offset);
    return weft_order(x->location, y->location);
}

static struct item item_of(const struct resolver *r, uint32_t location)
{
    const struct weft_location *l = &r->p->location[location];
    const struct weft_mapping *m = &r->p->mapping[l->mapping];
    uint64_t offset = address_of(l) - m->start;
    if (!is_vdso(path_of(r->p, l->mapping)))
        offset += m->offset;
    return (struct item){r->object_of[l->mapping], location, offset};
}

static bool make_items(struct resolver *r)
{
    struct weft_profile *p = r->p;
    r->file = weft_resize(NULL, p->locations, sizeof *r->file);
    r->listed = weft_resize(NULL, p->locations, sizeof *r->listed);
    if (!r->file || !r->listed)
        return false;
    for (uint32_t i = 0; i < p->locations; i++) {
        const struct weft_location *l = &p->location[i];
        enum origin from = l->resolved ? NOWHERE : origin_of(r, l);
        r->stats.locations += !l->resolved;
        if (from == FILE_OR_VDSO)
            r->file[r->files++] = item_of(r, i);
        else if (from == KERNEL || (from == GENERATED && l->process != UINT32_MAX))
            r->listed[r->listeds++] =
                (struct item){from == KERNEL ? 0 : l->process + 1, i, address_of(l)};
    }
    if (r->files > 1)
        qsort(r->file, r->files, sizeof *r->file, by_object);
    if (r->listeds > 1)
        qsort(r->listed, r->listeds, sizeof *r->listed, by_object);
    return true;
}

/* ---- The kernel, and generated code ---- */

static int name_by_symbol(struct resolver *r, uint32_t location, const char *name)
{
    struct weft_profile *p = r->p;
    uint32_t text = weft_profile_add_text(p, name, (uint32_t)strlen(name));
    if (text == WEFT_NONE)
        return WEFT_E_NOMEM;
    uint32_t f =
        weft_profile_add_function(p, &(struct weft_function){.name = text, .system_name = text});
    if (f == WEFT_NONE)
        return WEFT_E_NOMEM;
    r->stats.named++;
    return weft_profile_resolve(p, location, &(struct weft_frame){.function = f}, 1);
}

static int resolve_listed(struct resolver *r)
{
    const char *kallsyms = r->o->kallsyms ? r->o->kallsyms : "/proc/kallsyms";
    int rc = 0;
    for (uint32_t i = 0; i < r->listeds && rc == 0;) {
        struct symbols_symbol_table t;
        const uint32_t of = r->listed[i].object;
        if (of == 0 ? !symbols_kallsyms_load(&t, kallsyms) : !symbols_perf_map_load(&t, of - 1))
            rc = WEFT_E_NOMEM;
        for (; i < r->listeds && r->listed[i].object == of && rc == 0; i++) {
            const uint64_t address = r->listed[i].offset;
            const struct symbols_symbol *s = symbols_symbol_table_find(&t, address);
            if (s && (of > 0 || (s->rank > 0 && address - s->start < KERNEL_FUNCTION_MAX)))
                rc = name_by_symbol(r, r->listed[i].location, t.names + s->name);
        }
        symbols_symbol_table_free(&t);
    }
    return rc;
}

/* ---- Files ---- */

static int hear_state(void *data, uint32_t question, enum symbols_file_state state)
{
    struct resolver *r = data;
    (void)question;
    r->stats.missing += state == SYMBOLS_FILE_MISSING;
    r->stats.other_build += state == SYMBOLS_FILE_OTHER;
    r->stats.damaged += state == SYMBOLS_FILE_ODD || state == SYMBOLS_FILE_LATE;
    return 0;
}

static uint32_t text_of(struct resolver *r, const char *text)
{
    return text ? weft_profile_add_text(r->p, text, (uint32_t)strlen(text)) : 0;
}

static int hear_function(void *data, uint32_t number, const struct symbols_named *f)
{
    struct resolver *r = data;
    struct weft_function function = {
        .name = text_of(r, f->name),
        .system_name = text_of(r, f->system_name),
        .file = text_of(r, f->file),
        .start_line = f->start_line,
    };
    if (function.name == WEFT_NONE || function.system_name == WEFT_NONE ||
        function.file == WEFT_NONE ||
        !weft_reserve(&r->function, number, &r->functions_room, sizeof *r->function))
        return WEFT_E_NOMEM;
    r->function[number] = weft_profile_add_function(r->p, &function);
    return r->function[number] == WEFT_NONE ? WEFT_E_NOMEM : 0;
}

static int hear_answer(void *data, uint32_t question, uint32_t offset,
                       const struct symbols_answer *answer, uint32_t frames)
{
    struct resolver *r = data;
    struct weft_frame frame[SYMBOLS_INLINED_MAX];
    bool lines = false;
    int rc = 0;
    for (uint32_t i = 0; i < frames; i++) {
        frame[i] = (struct weft_frame){r->function[answer[i].function], answer[i].line};
        lines |= answer[i].line > 0;
    }
    uint32_t at = r->question_at[question] + offset;
    for (uint32_t i = r->item[at]; i < r->item[at + 1] && rc == 0; i++) {
        rc = weft_profile_resolve(r->p, r->file[i].location, frame, frames);
        r->stats.named += frames > 0;
        r->stats.with_lines += lines;
    }
    return rc;
}

static int resolve_files(struct resolver *r, weft_progress_fn *progress, void *data)
{
    uint32_t offsets = 0, questions = 0;
    r->offset = weft_resize(NULL, r->files, sizeof *r->offset);
    r->item = weft_resize(NULL, (uint64_t)r->files + 1, sizeof *r->item);
    r->question = weft_resize(NULL, r->objects, sizeof *r->question);
    r->question_at = weft_resize(NULL, r->objects, sizeof *r->question_at);
    if (!r->offset || !r->item || !r->question || !r->question_at)
        return WEFT_E_NOMEM;
    for (uint32_t i = 0; i < r->files; i++) {
        bool new_object = i == 0 || r->file[i].object != r->file[i - 1].object;
        if (new_object) {
            struct object *o = &r->object[r->file[i].object];
            const struct weft_mapping *m = &r->p->mapping[o->mapping];
            if (!find_places(r, o))
                return WEFT_E_NOMEM;
            struct symbols_question q = {
                .place = {.path = o->path,
                          .inside = o->inside,
                          .process = m->process,
                          .start = m->start,
                          .end = o->at_mapping ? m->start + m->size : 0,
                          .build_id = {.bytes = m->build_id_bytes}},
                .offset = &r->offset[offsets],
            };
            memcpy(q.place.build_id.id, m->build_id, sizeof m->build_id);
            r->question_at[questions] = offsets;
            r->question[questions++] = q;
        }
        if (new_object || r->file[i].offset != r->file[i - 1].offset) {
            r->item[offsets] = i;
            r->offset[offsets++] = r->file[i].offset;
            r->question[questions - 1].count++;
        }
    }
    r->item[offsets] = r->files;
    r->stats.objects = questions;
    /* By build id, only absolute paths are searched. */
    char debug_path[PATH_MAX + 32], absolute[PATH_MAX];
    const char *root = r->o->sysroot ? realpath(r->o->sysroot, absolute) : NULL;
    int n = snprintf(debug_path, sizeof debug_path, "+:.debug:%s/usr/lib/debug", root ? root : "");
    bool usual = !r->o->debug_path && n > 0 && n < (int)sizeof debug_path;
    const struct symbols_names_options o = {.debug_path = usual ? debug_path : r->o->debug_path,
                                            .progress = progress,
                                            .progress_data = data};
    const struct symbols_listener l = {r, hear_state, hear_function, hear_answer};
    return symbols_names_find(r->question, questions, &o, &l);
}

int weft_symbols_resolve(struct weft_profile *p, const struct weft_symbols_options *o,
                         struct weft_symbols_stats *stats, weft_progress_fn *progress, void *data)
{
    static const struct weft_symbols_options usual;
    struct resolver r = {.p = p, .o = o ? o : &usual};
    int rc = make_objects(&r) && make_items(&r) ? 0 : WEFT_E_NOMEM;
    if (rc == 0)
        rc = resolve_listed(&r);
    if (rc == 0)
        rc = resolve_files(&r, progress, data);
    for (uint32_t i = 0; i < r.objects; i++)
        weft_free_all(r.object[i].path, r.object[i].inside);
    weft_free_all(r.object_of, r.object, r.file, r.listed, r.offset, r.item, r.question,
                  r.question_at, r.function);
    if (stats)
        *stats = r.stats;
    return rc;
}
