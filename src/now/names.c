/* SPDX-License-Identifier: ISC */
#include "now/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "format/names.h"
#include "symbols/names.h"

void now_names_want(struct now_names *n, uint64_t address)
{
    if (weft_reserve(&n->place, n->places, &n->places_room, sizeof *n->place))
        n->place[n->places++] = (struct now_place){.address = address};
    else
        n->failed = true;
}

static void sort(struct now_names *n)
{
    uint32_t kept = 0;
    weft_sort(n->place, n->places, sizeof *n->place, weft_order_u64);
    for (uint32_t i = 0; i < n->places; i++)
        if (!kept || n->place[kept - 1].address != n->place[i].address)
            n->place[kept++] = n->place[i];
    n->places = kept;
}

/* ---- What the worker says ---- */

struct finder {
    struct now_names *n;
    struct symbols_question *question;
    uint32_t *first; /* of each question: its first place */
    uint64_t *offset;
    uint32_t questions;
    bool variables;
    uint32_t before; /* functions of workers before this one, which numbers from 0 */
};

/* "lock.0+0x28": compilers number the static variables of functions. */
static void shorten_variable(char *name)
{
    const size_t plus = strcspn(name, "+");
    size_t end = plus;
    while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
        end--;
    if (end > 1 && end < plus && name[end - 1] == '.')
        memmove(name + end - 1, name + plus, strlen(name + plus) + 1);
}

static int hear_state(void *data, uint32_t question, enum symbols_file_state state)
{
    const struct finder *f = data;
    const char *path = f->question[question].place.path;
    if (state == SYMBOLS_FILE_MISSING && !f->n->missing)
        f->n->missing = path;
    if (state == SYMBOLS_FILE_OTHER && !f->n->other)
        f->n->other = path;
    return 0;
}

static int hear_function(void *data, uint32_t number, const struct symbols_named *named)
{
    struct finder *f = data;
    struct now_names *n = f->n;
    struct now_function function = {strdup(named->name), named->file ? strdup(named->file) : NULL};
    if (number == 0)
        f->before = n->functions;
    if (function.name && (function.file || !named->file) &&
        weft_reserve(&n->function, n->functions, &n->functions_room, sizeof function)) {
        if (f->variables)
            shorten_variable(function.name);
        else
            symbols_shorten(function.name, WEFT_NAME_LONGEST);
        n->function[n->functions++] = function;
        return 0;
    }
    weft_free_all(function.name, function.file);
    return WEFT_E_NOMEM;
}

static int hear_answer(void *data, uint32_t question, uint32_t offset,
                       const struct symbols_answer *answer, uint32_t frames)
{
    struct finder *f = data;
    struct now_names *n = f->n;
    struct now_place *p = &n->place[f->first[question] + offset];
    p->first = n->frames;
    for (p->frames = 0; p->frames < frames; p->frames++) {
        if (!weft_reserve(&n->frame, n->frames, &n->frames_room, sizeof *n->frame))
            return WEFT_E_NOMEM;
        n->frame[n->frames++] =
            (struct now_name_frame){f->before + answer[p->frames].function, answer[p->frames].line};
    }
    return 0;
}

/* ---- Asking it ---- */

/* A file without a build id is believed only if the process itself sees it under that name. */
static struct symbols_place place_of(const struct now_process *p, const struct now_mapping *m,
                                     const struct now_object *o)
{
    const bool vdso = strcmp(m->path, "[vdso]") == 0;
    struct symbols_place place = {.path = m->path,
                                  .inside = vdso ? NULL : m->path,
                                  .process = (uint32_t)p->pid,
                                  .start = m->start,
                                  .end = m->end};
    if (!vdso && o->build_id_bytes == 0 && !p->core)
        place.path = NULL;
    place.build_id.bytes = o->build_id_bytes;
    memcpy(place.build_id.id, o->build_id, sizeof place.build_id.id);
    return place;
}

/* Where in the file, or where it was linked. */
static uint64_t offset_of(const struct now_mapping *m, const struct now_object *o, uint64_t address,
                          bool variable)
{
    if (variable)
        return address - o->bias;
    return address - m->start + (strcmp(m->path, "[vdso]") == 0 ? 0 : m->offset);
}

/* One question for each file, or executable part of one; places are sorted. */
static void compose(struct finder *f, const struct now_process *p, const struct now_objects *o,
                    bool variables)
{
    const struct now_mapping *before = NULL;
    for (uint32_t i = 0; i < f->n->places; i++) {
        const uint64_t address = f->n->place[i].address;
        const struct now_object *object = now_object_at(o, address);
        const struct now_mapping *m = !object     ? NULL
                                      : variables ? &p->mapping[object->mapping]
                                                  : now_mapping_at(p, address);
        if (!m || strcmp(m->path, p->mapping[object->mapping].path) != 0) {
            before = NULL;
            continue;
        }
        if (m != before) {
            f->first[f->questions] = i;
            f->question[f->questions++] = (struct symbols_question){
                .place = place_of(p, m, object), .offset = &f->offset[i], .linked = variables};
        }
        before = m;
        f->offset[i] = offset_of(m, object, address, variables);
        f->question[f->questions - 1].count++;
    }
}

int now_names_find(struct now_names *n, const struct now_process *p, const struct now_objects *o,
                   bool variables)
{
    const struct symbols_names_options options = {.debug_path = "+:.debug:/usr/lib/debug"};
    sort(n);
    struct finder f = {.n = n,
                       .variables = variables,
                       .question = weft_resize(NULL, n->places, sizeof *f.question),
                       .first = weft_resize(NULL, n->places, sizeof *f.first),
                       .offset = weft_resize(NULL, n->places, sizeof *f.offset)};
    const struct symbols_listener l = {&f, hear_state, hear_function, hear_answer};
    int rc = f.question && f.first && f.offset && !n->failed ? 0 : WEFT_E_NOMEM;
    if (rc == 0) {
        compose(&f, p, o, variables);
        rc = symbols_names_find(f.question, f.questions, &options, &l);
    }
    weft_free_all(f.question, f.first, f.offset);
    return rc;
}

void now_names_free(struct now_names *n)
{
    for (uint32_t i = 0; i < n->functions; i++)
        weft_free_all(n->function[i].name, n->function[i].file);
    weft_free_all(n->place, n->frame, n->function);
    *n = (struct now_names){0};
}

const struct now_place *now_names_at(const struct now_names *n, uint64_t address)
{
    return n->places ? bsearch(&address, n->place, n->places, sizeof *n->place, weft_order_u64)
                     : NULL;
}

const struct now_function *now_names_function(const struct now_names *n,
                                              const struct now_place *place, uint32_t i,
                                              uint32_t *line)
{
    const struct now_name_frame *f = &n->frame[place->first + i];
    *line = f->line;
    return &n->function[f->function];
}
