/* SPDX-License-Identifier: ISC */
/* A profile, and how it is filled; equal things are found by hashing. What can be known only when everything is
 * there (weft_profile_finish) is at the end, and in mappings.c. */
#include "profile/build.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "profile/builder.h"

/* Makes room for one more. */
#define ROOM(p, array, count, room)                                                                \
    profile_is_there(p, weft_reserve(&(array), (count), &(room), sizeof *(array)))

/* The same index, which is WEFT_NONE if there was no memory. */
static uint32_t known(struct weft_profile *p, uint32_t index)
{
    return profile_is_there(p, index != WEFT_NONE) ? index : WEFT_NONE;
}

struct weft_profile *weft_profile_new(void)
{
    struct weft_profile *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->build = calloc(1, sizeof *p->build);
    p->strings = weft_strings_new();
    if (!p->build || !p->strings)
        goto fail;
    struct weft_profile_build *b = p->build;
    b->seed = weft_seed();
    b->numbers = weft_idmap_new();
    b->last_renewed = UINT32_MAX;
    b->last_index = WEFT_NONE;
    if (!b->numbers || weft_strings_add(p->strings, "", 0) != 0 ||
        !ROOM(p, p->stack, 0, b->stack_room) || !ROOM(p, b->depth, 0, b->depth_room))
        goto fail;
    p->stack[0] = (struct weft_stack){.parent = 0, .location = WEFT_NONE};
    b->depth[0] = 0;
    p->stacks = 1;
    return p;
fail:
    weft_profile_free(p);
    return NULL;
}

const char *weft_profile_text(const struct weft_profile *p, uint32_t text)
{
    return weft_strings_get(p->strings, text, NULL);
}

uint32_t weft_profile_depth(const struct weft_profile *p, uint32_t stack)
{
    return p->build->depth[stack];
}

static void free_build(struct weft_profile_build *b)
{
    if (!b)
        return;
    weft_idmap_free(b->numbers);
    weft_free_all(b->change, b->renewed, b->object, b->symbol, b->first_ns, b->depth, b->away,
                  b->functions.slot, b->locations.slot, b->stacks.slot, b->threads.slot,
                  b->reneweds_by.slot, b->objects_by.slot, b->symbols_by.slot, b);
}

void weft_profile_free(struct weft_profile *p)
{
    if (!p)
        return;
    weft_strings_free(p->strings);
    free_build(p->build);
    weft_free_all(p->source, p->mapping, p->function, p->frame, p->location, p->stack, p->sample,
                  p->absence, p->interrupt, p->thread, p);
}

uint32_t weft_profile_add_text(struct weft_profile *p, const char *text, uint32_t size)
{
    return known(p, weft_strings_add(p->strings, text, size));
}

uint32_t weft_profile_add_source(struct weft_profile *p, const struct weft_source *s)
{
    for (uint32_t i = 0; i < p->sources && i < 64; i++)
        if (p->source[i].name == s->name && p->source[i].unit == s->unit &&
            p->source[i].frequency == s->frequency && p->source[i].period == s->period)
            return i;
    if (!ROOM(p, p->source, p->sources, p->build->source_room))
        return WEFT_NONE;
    p->source[p->sources] = *s;
    return p->sources++;
}

/* ---- Processes and what is mapped in them ---- */

static bool add_change(struct weft_profile *p, uint32_t process, uint32_t parent, uint32_t mapping,
                       uint64_t time_ns)
{
    struct weft_profile_build *b = p->build;
    if (!ROOM(p, b->change, b->changes, b->change_room))
        return false;
    b->change[b->changes] = (struct profile_change){
        .time_ns = time_ns,
        .process = process,
        .parent = parent,
        .mapping = mapping,
        .order = b->changes,
    };
    b->changes++;
    return true;
}

uint32_t weft_profile_add_mapping(struct weft_profile *p, const struct weft_mapping *m)
{
    struct weft_profile_build *b = p->build;
    if (!ROOM(p, p->mapping, p->mappings, b->mapping_room) ||
        !add_change(p, m->process, UINT32_MAX, p->mappings, m->from_ns))
        return WEFT_NONE;
    p->mapping[p->mappings] = *m;
    p->mapping[p->mappings].to_ns = UINT64_MAX;
    return p->mappings++;
}

/* The process begins anew. */
static bool renew(struct weft_profile *p, uint32_t process, uint64_t time_ns)
{
    struct weft_profile_build *b = p->build;
    const struct profile_renewed key = {.process = process};
    const uint32_t at =
        known(p, weft_table_add(&b->reneweds_by, &b->renewed, &b->reneweds, &b->renewed_room,
                                sizeof key, sizeof process, &key, b->seed));
    if (at == WEFT_NONE)
        return false;
    struct profile_renewed *r = &b->renewed[at];
    r->generation++;
    r->since_ns = time_ns;
    b->last_renewed = UINT32_MAX;
    b->last_index = WEFT_NONE;
    return true;
}

uint32_t profile_generation(struct weft_profile *p, uint32_t process, uint64_t time_ns)
{
    struct weft_profile_build *b = p->build;
    if (process == UINT32_MAX)
        return 0;
    if (process != b->last_renewed) {
        b->last_renewed = process;
        b->last_index = weft_table_get(&b->reneweds_by, b->renewed, sizeof *b->renewed,
                                       sizeof process, &process, b->seed);
    }
    if (b->last_index == WEFT_NONE)
        return 0;
    const struct profile_renewed *r = &b->renewed[b->last_index];
    return time_ns >= r->since_ns ? r->generation : r->generation - 1;
}

/* The packets of a ring repeat it. */
static bool is_repeated(const struct weft_profile *p, uint32_t process, uint64_t time_ns)
{
    const struct weft_profile_build *b = p->build;
    const uint32_t at = weft_table_get(&b->reneweds_by, b->renewed, sizeof *b->renewed,
                                       sizeof process, &process, b->seed);
    return at != UINT32_MAX && b->renewed[at].since_ns == time_ns;
}

void weft_profile_exec(struct weft_profile *p, uint32_t process, uint64_t time_ns)
{
    if (process != UINT32_MAX && is_repeated(p, process, time_ns))
        return;
    if (process != UINT32_MAX && renew(p, process, time_ns))
        add_change(p, process, UINT32_MAX, WEFT_NONE, time_ns);
}

int weft_profile_fork(struct weft_profile *p, uint32_t process, uint32_t parent, uint64_t time_ns)
{
    if (process == UINT32_MAX || process == parent)
        return 0;
    if (!renew(p, process, time_ns) || !add_change(p, process, parent, WEFT_NONE, time_ns))
        return WEFT_E_NOMEM;
    return 0;
}

uint32_t weft_profile_add_thread(struct weft_profile *p, uint32_t process, uint32_t thread,
                                 uint32_t name)
{
    struct weft_profile_build *b = p->build;
    const struct weft_thread key = {.process = process, .thread = thread, .stream = WEFT_NONE};
    const uint32_t before = p->threads;
    const uint32_t at =
        known(p, weft_table_add(&b->threads, &p->thread, &p->threads, &b->thread_room, sizeof key,
                                sizeof process + sizeof thread, &key, b->seed));
    if (at == before && weft_idmap_get(b->numbers, thread) == WEFT_IDMAP_NONE &&
        !profile_is_there(p, weft_idmap_put(b->numbers, thread, at)))
        return WEFT_NONE;
    if (at != WEFT_NONE && name != WEFT_NONE)
        p->thread[at].name = name;
    return at;
}

uint32_t profile_thread_by_number(struct weft_profile *p, uint32_t thread)
{
    const uint32_t found = weft_idmap_get(p->build->numbers, thread);
    return found != WEFT_IDMAP_NONE ? found
                                    : weft_profile_add_thread(p, UINT32_MAX, thread, WEFT_NONE);
}

/* ---- Stacks ---- */

static uint32_t add_location(struct weft_profile *p, uint32_t process, uint64_t address,
                             uint8_t flags, uint64_t time_ns)
{
    struct weft_profile_build *b = p->build;
    const uint32_t before = p->locations;
    process = flags & WEFT_NODE_KERNEL ? UINT32_MAX : process;
    const struct weft_location key = {
        .address = address,
        .process = process,
        .generation = profile_generation(p, process, time_ns),
        .kernel = flags & WEFT_NODE_KERNEL,
        .caller = (flags & WEFT_NODE_CALLER) != 0,
        .mapping = WEFT_NONE,
    };
    if (!ROOM(p, b->first_ns, p->locations, b->first_ns_room))
        return WEFT_NONE;
    const uint32_t at = known(
        p, weft_table_add(&b->locations, &p->location, &p->locations, &b->location_room, sizeof key,
                          offsetof(struct weft_location, resolved), &key, b->seed));
    if (at != WEFT_NONE && (at == before || time_ns < b->first_ns[at]))
        b->first_ns[at] = time_ns;
    return at;
}

uint32_t weft_profile_push(struct weft_profile *p, uint32_t parent, uint32_t process,
                           uint64_t address, uint8_t flags, uint64_t time_ns)
{
    struct weft_profile_build *b = p->build;
    if (b->no_memory)
        return WEFT_NONE;
    assert(parent < p->stacks);
    if (b->depth[parent] == PROFILE_DEPTH_MAX)
        return parent;
    struct weft_stack key = {parent, add_location(p, process, address, flags, time_ns)};
    if (key.location == WEFT_NONE || !ROOM(p, b->depth, p->stacks, b->depth_room))
        return WEFT_NONE;
    const uint32_t stack =
        known(p, weft_table_add(&b->stacks, &p->stack, &p->stacks, &b->stack_room, sizeof *p->stack,
                                sizeof key, &key, b->seed));
    if (stack != WEFT_NONE)
        b->depth[stack] = (uint16_t)(b->depth[parent] + 1);
    return stack;
}

/* ---- What happened ---- */

static void note_time(struct weft_profile *p, uint64_t from_ns, uint64_t to_ns)
{
    bool first = !(p->samples | p->absences | p->interrupts);
    p->first_ns = first || from_ns < p->first_ns ? from_ns : p->first_ns;
    p->last_ns = first || to_ns > p->last_ns ? to_ns : p->last_ns;
}

static int add(struct weft_profile *p, struct weft_sample **array, uint32_t *count, uint32_t *room,
               const struct weft_sample *s, uint64_t to_ns)
{
    if (p->build->no_memory || !ROOM(p, *array, *count, *room))
        return WEFT_E_NOMEM;
    assert(s->stack < p->stacks && s->thread < p->threads);
    note_time(p, s->time_ns, to_ns);
    (*array)[*count] = *s;
    (*array)[*count].promise = WEFT_NONE;
    (*array)[(*count)++].gap = WEFT_GAP_NONE;
    return 0;
}

int weft_profile_add_sample(struct weft_profile *p, const struct weft_sample *s)
{
    assert(p->build->no_memory || s->source < p->sources);
    return add(p, &p->sample, &p->samples, &p->build->sample_room, s, s->time_ns);
}

int weft_profile_add_absence(struct weft_profile *p, const struct weft_sample *a)
{
    return add(p, &p->absence, &p->absences, &p->build->absence_room, a, a->time_ns + a->value);
}

int weft_profile_add_interrupt(struct weft_profile *p, const struct weft_interrupt *i)
{
    if (!ROOM(p, p->interrupt, p->interrupts, p->build->interrupt_room))
        return WEFT_E_NOMEM;
    note_time(p, i->from_ns, i->to_ns);
    p->interrupt[p->interrupts++] = *i;
    return 0;
}

/* ---- Symbols ---- */

uint32_t weft_profile_add_function(struct weft_profile *p, const struct weft_function *f)
{
    struct weft_profile_build *b = p->build;
    return known(p, weft_table_add(&b->functions, &p->function, &p->functions, &b->function_room,
                                   sizeof *p->function, sizeof *f, f, b->seed));
}

/* The index of the first frame; WEFT_NONE: no memory. */
static uint32_t add_frames(struct weft_profile *p, const struct weft_frame *frame, uint32_t count)
{
    uint32_t first = p->frames;
    for (uint32_t i = 0; i < count; i++) {
        if (!ROOM(p, p->frame, p->frames, p->build->frame_room)) {
            p->frames = first;
            return WEFT_NONE;
        }
        p->frame[p->frames++] = frame[i];
    }
    return first;
}

int weft_profile_resolve(struct weft_profile *p, uint32_t location, const struct weft_frame *frame,
                         uint32_t count)
{
    count = count < UINT16_MAX ? count : UINT16_MAX;
    uint32_t first = add_frames(p, frame, count);
    if (p->build->no_memory)
        return WEFT_E_NOMEM;
    struct weft_location *l = &p->location[location];
    l->first_frame = first;
    l->frames = (uint16_t)count;
    l->resolved = true;
    return 0;
}

bool weft_profile_is_generated(const struct weft_profile *p, const struct weft_mapping *m)
{
    const char *path = weft_profile_text(p, m->path);
    return !m->kernel && strcmp(path, "[vdso]") != 0 && (path[0] != '/' || path[1] == '/');
}

static struct profile_mapped_object object_of(const struct weft_mapping *m, uint32_t process)
{
    struct profile_mapped_object o = {.path = m->path, .process = process};
    o.build_id_bytes =
        m->build_id_bytes < WEFT_BUILD_ID_MAX ? m->build_id_bytes : WEFT_BUILD_ID_MAX;
    memcpy(o.build_id, m->build_id, o.build_id_bytes);
    return o;
}

static uint32_t add_object(struct weft_profile *p, const struct weft_mapping *m)
{
    struct weft_profile_build *b = p->build;
    struct profile_mapped_object key = object_of(m, m->process);
    return known(p, weft_table_add(&b->objects_by, &b->object, &b->objects, &b->object_room,
                                   sizeof *b->object, PROFILE_OBJECT_KEY, &key, b->seed));
}

int weft_profile_add_symbol(struct weft_profile *p, const struct weft_mapping *object,
                            uint64_t offset, const struct weft_frame *frame, uint32_t count)
{
    struct weft_profile_build *b = p->build;
    count = count < UINT16_MAX ? count : UINT16_MAX;
    const struct profile_symbol key = {offset, add_object(p, object), add_frames(p, frame, count),
                                       (uint16_t)count};
    const uint32_t at =
        known(p, weft_table_add(&b->symbols_by, &b->symbol, &b->symbols, &b->symbol_room,
                                sizeof *b->symbol, PROFILE_SYMBOL_KEY, &key, b->seed));
    if (b->no_memory)
        return WEFT_E_NOMEM;
    b->symbol[at] = key;
    return 0;
}

uint64_t weft_profile_symbol_offset(const struct weft_profile *p, uint32_t location)
{
    const struct weft_location *l = &p->location[location];
    uint64_t address = l->address - (l->caller && l->address);
    if (l->mapping == WEFT_NONE)
        return address;
    const struct weft_mapping *m = &p->mapping[l->mapping];
    return m->kernel || weft_profile_is_generated(p, m) ? address : address - m->start + m->offset;
}

/* The object with symbols that the mapping is a part of, or WEFT_NONE. */
static uint32_t find_object(const struct weft_profile *p, const struct weft_mapping *m)
{
    const struct weft_profile_build *b = p->build;
    struct profile_mapped_object key =
        object_of(m, weft_profile_is_generated(p, m) ? m->process : UINT32_MAX);
    return weft_table_get(&b->objects_by, b->object, sizeof key, PROFILE_OBJECT_KEY, &key, b->seed);
}

static int apply_symbols(struct weft_profile *p)
{
    struct weft_profile_build *b = p->build;
    if (!b->symbols)
        return 0;
    uint32_t *object = weft_resize(NULL, (uint64_t)p->mappings + 1, sizeof *object);
    if (!object)
        return WEFT_E_NOMEM;
    for (uint32_t m = 0; m < p->mappings; m++)
        object[m] = find_object(p, &p->mapping[m]);
    for (uint32_t i = 0; i < p->locations; i++) {
        struct weft_location *l = &p->location[i];
        if (l->resolved || l->mapping == WEFT_NONE || object[l->mapping] == WEFT_NONE)
            continue;
        struct profile_symbol key = {.offset = weft_profile_symbol_offset(p, i),
                                     .object = object[l->mapping]};
        uint32_t found = weft_table_get(&b->symbols_by, b->symbol, sizeof key, PROFILE_SYMBOL_KEY,
                                        &key, b->seed);
        if (found == WEFT_NONE)
            continue;
        l->first_frame = b->symbol[found].first_frame;
        l->frames = b->symbol[found].frames;
        /* If nothing was known about it, something may be known here, where more debug information
         * may be installed. */
        l->resolved = l->frames > 0;
    }
    free(object);
    return 0;
}

/* ---- The end ---- */

/* Following frame pointers through code that has none yields whatever is in its registers. A return
 * address in no mapping, next to one in a mapping, is such a value: the stack ends before it. */
static void cut_stacks(struct weft_profile *p)
{
    for (uint32_t s = 1; s < p->stacks; s++) {
        uint32_t parent = p->stack[s].parent;
        if (!parent)
            continue;
        const struct weft_location *l = &p->location[p->stack[s].location];
        const struct weft_location *caller = &p->location[p->stack[parent].location];
        if (!l->kernel && l->mapping != WEFT_NONE && !caller->kernel && caller->caller &&
            caller->mapping == WEFT_NONE && !caller->frames)
            p->stack[s].parent = 0;
    }
}

int weft_profile_finish(struct weft_profile *p)
{
    struct weft_profile_build *b = p->build;
    profile_switch_end(p);
    if (b->no_memory)
        return WEFT_E_NOMEM;
    /* They are large, and not needed any more; they are made again if something is added. */
    weft_table_drop(&b->stacks);
    weft_table_drop(&b->locations);
    if (!profile_sort_by_time(p->sample, p->samples, sizeof *p->sample) ||
        !profile_sort_by_time(p->absence, p->absences, sizeof *p->absence) ||
        !profile_sort_by_time(p->interrupt, p->interrupts, sizeof *p->interrupt))
        return WEFT_E_NOMEM;
    int rc = profile_mappings_assign(p);
    if (rc == 0)
        rc = apply_symbols(p);
    if (rc == 0)
        cut_stacks(p);
    return rc;
}
