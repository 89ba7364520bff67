/* SPDX-License-Identifier: ISC */
/* Writes profile.proto. Messages written one after another are one message, whose lists are joined:
 * so each sample, mapping, location and function is packed separately, and only the current one is
 * in memory. */
#include "pprof/pprof.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "format/utf8.h"
#include "model/strings.h"
#include "model/traced.h"
#include "pprof/profile.pb-c.h"
#include "pprof/sums.h"
#include "profile/build.h"
#include "profile/join.h"

#define PART(name, NAME) WeftPprof__##name name = WEFT_PPROF__##NAME##__INIT

/* A message, as the only .field of a Profile. */
#define ONLY(name, NAME, field)                                                                    \
    PART(Profile, PROFILE);                                                                        \
    PART(name, NAME);                                                                              \
    WeftPprof__##name *only = &name;                                                               \
    Profile.n_##field = 1;                                                                         \
    Profile.field = &only

enum { OUT_BYTES = 1 << 16, LABELS_MAX = 12, LINES_MAX = UINT16_MAX };

struct writer {
    const struct weft_pprof_part *part;
    uint32_t parts;
    const struct weft_pprof_options *o;
    struct pprof_kinds kinds;
    struct weft_strings *texts; /* the string table */
    FILE *out;
    int rc; /* the first error; after it nothing more is written */
    z_stream gzip;
    bool zipping;
    unsigned char *packed; /* the current message */
    uint32_t packed_room;
    uint64_t ids[WEFT_FRAMES_MAX + 1]; /* of the sample's locations */
    uint64_t cut;                      /* samples for which these are not all */
    char *clean;
    uint32_t clean_room;

    /* The current part. Numbers in it are indices, plus the count of those in earlier parts, plus
     * 1. */
    struct weft_profile *p;
    struct pprof_sums sums;
    uint32_t *root;  /* of each promise, or NULL */
    bool *used;      /* by location: it is in a stack that is written */
    bool *has_lines; /* by mapping */
    bool *has_names;
    uint64_t first_mapping, first_location, first_function;
};

/* ---- Bytes out ---- */

static void fail(struct writer *w, int rc)
{
    if (w->rc == 0)
        w->rc = rc;
}

static void deflate_all(struct writer *w, const void *bytes, size_t size, int flush)
{
    unsigned char out[OUT_BYTES];
    w->gzip.next_in = (Bytef *)(uintptr_t)bytes;
    w->gzip.avail_in = (uInt)size;
    do {
        w->gzip.next_out = out;
        w->gzip.avail_out = sizeof out;
        deflate(&w->gzip, flush);
        size_t got = sizeof out - w->gzip.avail_out;
        if (fwrite(out, 1, got, w->out) != got)
            fail(w, WEFT_E_IO);
    } while (w->gzip.avail_out == 0 && w->rc == 0);
}

/* Writes a part of the profile. */
static void put(struct writer *w, const WeftPprof__Profile *part)
{
    size_t size = protobuf_c_message_get_packed_size(&part->base);
    if (size > UINT32_MAX)
        fail(w, WEFT_E_LIMIT);
    else if (!weft_reserve_all(&w->packed, size, &w->packed_room, 1))
        fail(w, WEFT_E_NOMEM);
    if (w->rc < 0)
        return;
    protobuf_c_message_pack(&part->base, w->packed);
    deflate_all(w, w->packed, size, Z_NO_FLUSH);
}

/* ---- Texts ---- */

static bool is_plain(const char *text)
{
    for (; *text; text++)
        if (*text < 0x20 || *text > 0x7e)
            return false;
    return true;
}

/* Its number in the string table; texts there are UTF-8. */
static int64_t text(struct writer *w, const char *from)
{
    size_t size = strlen(from);
    if (!is_plain(from)) {
        if (!weft_reserve_all(&w->clean, 3 * size + 1, &w->clean_room, 1)) {
            fail(w, WEFT_E_NOMEM);
            return 0;
        }
        size = weft_text_clean(w->clean, 3 * size, from, size);
        from = w->clean;
    }
    uint32_t index =
        size > UINT32_MAX ? WEFT_STRINGS_NONE : weft_strings_add(w->texts, from, (uint32_t)size);
    if (index == WEFT_STRINGS_NONE)
        fail(w, WEFT_E_NOMEM);
    return index;
}

static int64_t own_text(struct writer *w, uint32_t of_profile)
{
    return text(w, weft_profile_text(w->p, of_profile));
}

static void put_texts(struct writer *w)
{
    for (uint32_t i = 0; i < weft_strings_count(w->texts) && w->rc == 0; i++) {
        PART(Profile, PROFILE);
        char *one = (char *)(uintptr_t)weft_strings_get(w->texts, i, NULL);
        Profile.n_string_table = 1;
        Profile.string_table = &one;
        put(w, &Profile);
    }
}

/* ---- What values count ---- */

/* Of a single kind the names are those that pprof's own profiles have. */
static void value_type(struct writer *w, const struct pprof_kind *k, bool how_many,
                       WeftPprof__ValueType *type)
{
    char name[sizeof k->name + sizeof "_samples"];
    const char *unit = how_many || k->unit != WEFT_UNIT_NS ? "count" : "nanoseconds";
    if (w->kinds.kinds > 1)
        snprintf(name, sizeof name, "%s%s", k->name, how_many ? "_samples" : "");
    else if (how_many)
        snprintf(name, sizeof name, "samples");
    else
        snprintf(name, sizeof name, "%s", k->unit == WEFT_UNIT_NS ? "cpu" : k->name);
    type->unit = text(w, unit);
    type->type = text(w, name);
}

static void put_value_types(struct writer *w)
{
    ONLY(ValueType, VALUE_TYPE, sample_type);
    for (uint32_t i = 0; i < w->kinds.kinds; i++) {
        const struct pprof_kind *k = &w->kinds.kind[i];
        for (int how_many = k->counted; how_many >= 0; how_many--) {
            value_type(w, k, how_many, only);
            put(w, &Profile);
        }
    }
    if (w->kinds.off_cpu) {
        only->unit = text(w, "nanoseconds");
        only->type = text(w, "off_cpu");
        put(w, &Profile);
    }
}

/* What a sample of the first kind stands for: as was asked for, or on average. */
static int64_t period(const struct writer *w)
{
    const struct pprof_kind *k = &w->kinds.kind[0];
    int64_t samples = 0, total = 0;
    for (uint32_t i = 0; i < w->parts; i++) {
        const struct weft_profile *p = w->part[i].profile;
        for (uint32_t s = 0; s < p->sources; s++)
            if (p->source[s].period && pprof_kind_is_of(k, p, s))
                return pprof_add_values(0, p->source[s].period);
        for (uint32_t s = 0; s < p->samples; s++) {
            bool wanted = pprof_kind_is_of(k, p, p->sample[s].source);
            samples += wanted;
            total = wanted ? pprof_add_values(total, p->sample[s].value) : total;
        }
    }
    return samples ? total / samples : 0;
}

/* What the profile as a whole is; a time of day is that of its earliest part. */
static void put_head(struct writer *w)
{
    PART(Profile, PROFILE);
    PART(ValueType, VALUE_TYPE);
    Profile.comment = weft_resize(NULL, w->parts, sizeof *Profile.comment);
    if (!Profile.comment) {
        fail(w, WEFT_E_NOMEM);
        return;
    }
    put_value_types(w);
    for (uint32_t i = 0; i < w->parts; i++) {
        const struct weft_pprof_part *part = &w->part[i];
        const struct weft_profile *p = part->profile;
        if (part->comment)
            Profile.comment[Profile.n_comment++] = text(w, part->comment);
        if (part->real_ns && (!Profile.time_nanos || part->real_ns < Profile.time_nanos))
            Profile.time_nanos = part->real_ns;
        Profile.duration_nanos = pprof_add_values(Profile.duration_nanos, p->last_ns - p->first_ns);
    }
    if (w->kinds.kinds) {
        value_type(w, &w->kinds.kind[0], false, &ValueType);
        Profile.period_type = &ValueType;
        Profile.period = period(w);
        Profile.default_sample_type = ValueType.type;
    }
    put(w, &Profile);
    free(Profile.comment);
}

/* ---- Mappings, locations, functions ---- */

static void note_lines(struct writer *w)
{
    const struct weft_profile *p = w->p;
    for (uint32_t i = 0; i < p->locations; i++) {
        const struct weft_location *l = &p->location[i];
        if (l->mapping == WEFT_NONE || !w->used[i])
            continue;
        w->has_names[l->mapping] |= l->frames > 0;
        for (uint32_t f = 0; f < l->frames; f++)
            w->has_lines[l->mapping] |= p->frame[l->first_frame + f].line > 0;
    }
}

static void put_mapping(struct writer *w, uint32_t index)
{
    const struct weft_mapping *m = &w->p->mapping[index];
    const char *path = weft_profile_text(w->p, m->path);
    char id[2 * WEFT_BUILD_ID_MAX + 1] = "";
    for (unsigned i = 0; i < m->build_id_bytes; i++)
        snprintf(id + 2 * i, 3, "%02x", m->build_id[i]);
    ONLY(Mapping, MAPPING, mapping);
    only->id = w->first_mapping + index;
    only->memory_start = m->start;
    only->memory_limit = m->start + m->size;
    only->file_offset = m->offset;
    /* as everybody else calls it */
    bool is_kernel = m->kernel && strcmp(path, "[kernel]") == 0;
    only->filename = text(w, is_kernel ? "[kernel.kallsyms]" : path);
    only->build_id = text(w, id);
    only->has_functions = w->has_names[index];
    only->has_filenames = only->has_line_numbers = only->has_inline_frames = w->has_lines[index];
    put(w, &Profile);
}

/* pprof takes the first mapping for the program itself: that of the process that has most of the samples. */
static uint32_t main_mapping(const struct weft_profile *p)
{
    uint32_t *count = calloc((size_t)p->threads + 1, sizeof *count), most = 0;
    for (uint32_t i = 0; count && i < p->samples; i++)
        if (++count[p->sample[i].thread] > count[most])
            most = p->sample[i].thread;
    free(count);
    for (uint32_t i = 0; i < p->mappings && p->threads; i++)
        if (p->mapping[i].process == p->thread[most].process && !p->mapping[i].kernel &&
            *weft_profile_text(p, p->mapping[i].path) == '/')
            return i;
    return 0;
}

static void put_mappings(struct writer *w)
{
    uint32_t program = main_mapping(w->p);
    if (w->p->mappings)
        put_mapping(w, program);
    for (uint32_t i = 0; i < w->p->mappings && w->rc == 0; i++)
        if (i != program)
            put_mapping(w, i);
}

/* one: a location with these frames, innermost first. */
static void put_location(struct writer *w, WeftPprof__Location *one, const struct weft_frame *frame,
                         uint32_t frames)
{
    PART(Profile, PROFILE);
    WeftPprof__Line *list = weft_resize(NULL, frames, sizeof *list);
    one->line = weft_resize(NULL, frames, sizeof *one->line);
    if (!list || !one->line)
        fail(w, WEFT_E_NOMEM);
    for (uint32_t i = 0; i < frames && w->rc == 0; i++) {
        weft_pprof__line__init(&list[i]);
        list[i].function_id = w->first_function + frame[i].function;
        list[i].line = frame[i].line;
        one->line[i] = &list[i];
    }
    one->n_line = frames;
    Profile.n_location = 1;
    Profile.location = &one;
    if (w->rc == 0)
        put(w, &Profile);
    free(list);
    free(one->line);
}

static void put_code(struct writer *w, uint32_t index)
{
    const struct weft_location *l = &w->p->location[index];
    PART(Location, LOCATION);
    Location.id = w->first_location + index;
    Location.mapping_id = l->mapping == WEFT_NONE ? 0 : w->first_mapping + l->mapping;
    Location.address = l->address - (l->caller && l->address);
    put_location(w, &Location, l->frames ? &w->p->frame[l->first_frame] : NULL, l->frames);
}

static void put_function(struct writer *w, uint32_t index, const struct weft_function *f)
{
    ONLY(Function, FUNCTION, function);
    only->id = w->first_function + index;
    only->start_line = f->start_line;
    only->name = own_text(w, f->name);
    only->system_name = own_text(w, f->system_name ? f->system_name : f->name);
    only->filename = own_text(w, f->file);
    put(w, &Profile);
}

static void put_code_and_functions(struct writer *w)
{
    const struct weft_profile *p = w->p;
    for (uint32_t i = 0; i < p->locations && w->rc == 0; i++)
        if (w->used[i])
            put_code(w, i);
    for (uint32_t i = 0; i < p->functions && w->rc == 0; i++)
        put_function(w, i, &p->function[i]);
    for (uint32_t i = 0; i < w->sums.mades && w->rc == 0; i++) {
        PART(Location, LOCATION);
        const struct weft_frame frame = {.function = p->functions + i};
        Location.id = w->first_location + p->locations + i;
        put_function(w, frame.function, &(struct weft_function){.name = w->sums.made[i]});
        put_location(w, &Location, &frame, 1);
    }
}

/* ---- Samples ---- */

struct labels {
    WeftPprof__Label label[LABELS_MAX], *at[LABELS_MAX];
    size_t count;
};

static void label(struct writer *w, struct labels *l, const char *key, const char *value)
{
    assert(l->count < LABELS_MAX);
    WeftPprof__Label *one = &l->label[l->count];
    weft_pprof__label__init(one);
    l->at[l->count++] = one;
    one->str = text(w, value);
    one->key = text(w, key);
}

/* Numbers are texts: readers drop a label that is 0, and take others for amounts. */
static void number_label(struct writer *w, struct labels *l, const char *key, uint64_t number)
{
    char value[32];
    snprintf(value, sizeof value, "%" PRIu64, number);
    label(w, l, key, value);
}

static const char *promise_label(const struct weft_model *m, uint32_t promise)
{
    uint32_t name = weft_model_name(m, promise);
    return name == WEFT_NONE ? "" : weft_model_text(m, name, NULL);
}

/* trace: of the nearest promise with ids; own: the promise's, or NULL. */
static void ids_labels(struct writer *w, struct labels *l, const struct weft_traced *trace,
                       const struct weft_traced *own)
{
    char id[2 * WEFT_TRACE_ID_BYTES + 1] = "";
    format_hex(id, trace->ids, WEFT_TRACE_ID_BYTES);
    label(w, l, "trace_id", id);
    if (!own)
        return;
    format_hex(id, own->ids + WEFT_TRACE_ID_BYTES, WEFT_SPAN_ID_BYTES);
    id[2 * WEFT_SPAN_ID_BYTES] = 0;
    label(w, l, "span_id", id);
}

static void promise_labels(struct writer *w, struct labels *l, uint32_t promise)
{
    const struct weft_model *m = w->p->model;
    const char *name = promise_label(m, promise);
    const struct weft_traced *any = weft_traced_inherited(m, promise),
                             *t = weft_traced_any(m, promise);
    uint32_t root = w->root[promise];
    number_label(w, l, "promise", m->promise[promise].id);
    label(w, l, "type", weft_model_type(m, promise));
    if (*name)
        label(w, l, "label", name);
    if (any)
        ids_labels(w, l, any, t);
    if (root != WEFT_NONE) {
        const char *of_root = promise_label(m, root);
        label(w, l, "root", *of_root ? of_root : weft_model_type(m, root));
    }
}

static void add_labels(struct writer *w, struct labels *l, const struct pprof_sum *s)
{
    const struct weft_thread *t = &w->p->thread[s->thread];
    const char *name = weft_profile_text(w->p, t->name);
    if (s->promise != WEFT_NONE && w->p->model)
        promise_labels(w, l, s->promise);
    if (*name)
        label(w, l, "thread", name);
    if (t->process != UINT32_MAX)
        number_label(w, l, "pid", t->process);
    if (t->thread != UINT32_MAX)
        number_label(w, l, "tid", t->thread);
    if (s->core != UINT32_MAX)
        number_label(w, l, "core", s->core);
    if (s->state != WEFT_STATE_RUNNING)
        label(w, l, "state", s->state == WEFT_STATE_WAITING ? "waiting" : "preempted");
}

/* The id of a location; see pprof_node. */
static uint64_t location_id(const struct writer *w, uint32_t location)
{
    return w->first_location +
           (location & PPROF_MADE ? w->p->locations + (location & ~PPROF_MADE) : location);
}

/* The id of a frame of that name, which no address has. */
static uint64_t made_id(struct writer *w, const char *name)
{
    uint32_t number = weft_profile_add_text(w->p, name, (uint32_t)strlen(name));
    uint32_t made = number == WEFT_NONE ? WEFT_NONE : pprof_sums_made(&w->sums, number);
    if (made == WEFT_NONE)
        fail(w, WEFT_E_NOMEM);
    return location_id(w, made);
}

static void put_sample(struct writer *w, uint32_t index)
{
    static const char *const states[] = {
        [WEFT_STATE_RUNNING] = "(no stack)",
        [WEFT_STATE_WAITING] = "(waiting)",
        [WEFT_STATE_PREEMPTED] = "(preempted)",
    };
    const struct pprof_sum *s = &w->sums.sum[index];
    struct labels labels = {.count = 0};
    size_t depth = 0;
    uint32_t stack = s->stack, most = WEFT_FRAMES_MAX + (w->sums.frames != NULL);
    while (stack && depth < most) {
        uint32_t location = pprof_sums_pop(&w->sums, &stack);
        w->ids[depth++] = location_id(w, location);
        if (!(location & PPROF_MADE))
            w->used[location] = true;
    }
    if (stack)
        w->ids[depth++] = made_id(w, "…");
    ONLY(Sample, SAMPLE, sample);
    add_labels(w, &labels, s);
    if (depth == 0) /* readers leave out samples without any location */
        w->ids[depth++] = made_id(w, states[s->state]);
    only->n_location_id = depth;
    only->location_id = w->ids;
    only->n_value = w->sums.values;
    only->value = w->sums.total + (size_t)index * w->sums.values;
    only->n_label = labels.count;
    only->label = labels.at;
    put(w, &Profile);
}

/* ---- */

static void write_part(struct writer *w, const struct weft_pprof_part *part)
{
    const struct weft_profile *p = w->p;
    w->used = calloc((size_t)p->locations + 1, 1);
    w->has_lines = calloc((size_t)p->mappings + 1, 1);
    w->has_names = calloc((size_t)p->mappings + 1, 1);
    w->root = p->model ? weft_profile_roots(p->model) : NULL;
    if (!w->used || !w->has_lines || !w->has_names || (p->model && !w->root)) {
        fail(w, WEFT_E_NOMEM);
        return;
    }
    fail(w, pprof_sums_make(&w->sums, &w->kinds, part, w->o));
    for (uint32_t i = 0; i < w->sums.sums && w->rc == 0; i++)
        put_sample(w, i);
    note_lines(w);
    put_mappings(w);
    put_code_and_functions(w);
}

static void end_part(struct writer *w)
{
    w->cut += w->sums.cut;
    w->first_mapping += w->p->mappings;
    w->first_location += (uint64_t)w->p->locations + w->sums.mades;
    w->first_function += (uint64_t)w->p->functions + w->sums.mades;
    pprof_sums_fini(&w->sums);
    free(w->root);
    free(w->used);
    free(w->has_lines);
    free(w->has_names);
    w->root = NULL;
    w->used = w->has_lines = w->has_names = NULL;
}

static void write_all(struct writer *w)
{
    w->texts = weft_strings_new();
    w->kinds.off_cpu = w->o->off_cpu;
    w->first_mapping = w->first_location = w->first_function = 1;
    if (!w->texts || weft_strings_add(w->texts, "", 0) != 0 ||
        deflateInit2(&w->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        fail(w, WEFT_E_NOMEM);
        return;
    }
    w->zipping = true;
    for (uint32_t i = 0; i < w->parts; i++)
        fail(w, pprof_kinds_add(&w->kinds, w->part[i].profile));
    put_head(w);
    for (uint32_t i = 0; i < w->parts && w->rc == 0; i++) {
        w->p = w->part[i].profile;
        write_part(w, &w->part[i]);
        end_part(w);
    }
    put_texts(w);
    if (w->rc == 0)
        deflate_all(w, NULL, 0, Z_FINISH);
}

int weft_pprof_write(FILE *out, const struct weft_pprof_part *part, uint32_t parts,
                     const struct weft_pprof_options *o, uint64_t *cut, struct weft_error *err)
{
    struct writer w = {.part = part, .parts = parts, .o = o, .out = out};
    write_all(&w);
    if (w.zipping)
        deflateEnd(&w.gzip);
    weft_strings_free(w.texts);
    free(w.packed);
    free(w.clean);
    *cut = w.cut;
    int rc = w.rc;
    if (rc == WEFT_E_IO)
        weft_error_set(err, rc, WEFT_NO_OFFSET, "cannot be written: %s", strerror(errno));
    else if (rc == WEFT_E_LIMIT)
        weft_error_set(err, rc, WEFT_NO_OFFSET, "more than %d kinds of samples in one profile",
                       PPROF_KINDS_MAX);
    else if (rc < 0)
        weft_error_set(err, rc, WEFT_NO_OFFSET, "out of memory");
    return rc;
}
