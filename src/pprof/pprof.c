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
#include "pprof/profile.pb-c.h"
#include "pprof/sums.h"
#include "profile/build.h"
#include "profile/join.h"

#define PART(name, NAME) WeftPprof__##name name = WEFT_PPROF__##NAME##__INIT

enum { OUT_BYTES = 1 << 16, LABELS_MAX = 10, LINES_MAX = UINT16_MAX };

struct writer {
    const struct weft_pprof_part *part;
    uint32_t parts;
    const struct weft_pprof_options *o;
    struct pprof_kinds kinds;
    struct weft_strings *texts; /* the string table */
    FILE *out;
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

static int deflate_all(struct writer *w, const void *bytes, size_t size, int flush)
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
            return WEFT_E_IO;
    } while (w->gzip.avail_out == 0);
    return 0;
}

/* Writes a part of the profile. */
static int put(struct writer *w, const WeftPprof__Profile *part)
{
    size_t size = protobuf_c_message_get_packed_size(&part->base);
    if (size > UINT32_MAX)
        return WEFT_E_LIMIT;
    if (!weft_reserve_all(&w->packed, size, &w->packed_room, 1))
        return WEFT_E_NOMEM;
    protobuf_c_message_pack(&part->base, w->packed);
    return deflate_all(w, w->packed, size, Z_NO_FLUSH);
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
static int text(struct writer *w, const char *from, int64_t *number)
{
    size_t size = strlen(from);
    if (!is_plain(from)) {
        if (!weft_reserve_all(&w->clean, 3 * size + 1, &w->clean_room, 1))
            return WEFT_E_NOMEM;
        size = weft_text_clean(w->clean, 3 * size, from, size);
        from = w->clean;
    }
    uint32_t index =
        size > UINT32_MAX ? WEFT_STRINGS_NONE : weft_strings_add(w->texts, from, (uint32_t)size);
    *number = index;
    return index == WEFT_STRINGS_NONE ? WEFT_E_NOMEM : 0;
}

static int own_text(struct writer *w, uint32_t of_profile, int64_t *number)
{
    return text(w, weft_profile_text(w->p, of_profile), number);
}

/* The first error of several. */
static int first(int rc, int next)
{
    return rc < 0 ? rc : next;
}

static int put_texts(struct writer *w)
{
    int rc = 0;
    for (uint32_t i = 0; i < weft_strings_count(w->texts) && rc == 0; i++) {
        PART(Profile, PROFILE);
        char *one = (char *)(uintptr_t)weft_strings_get(w->texts, i, NULL);
        Profile.n_string_table = 1;
        Profile.string_table = &one;
        rc = put(w, &Profile);
    }
    return rc;
}

/* ---- What values count ---- */

/* Of a single kind the names are those that pprof's own profiles have. */
static int value_type(struct writer *w, const struct pprof_kind *k, bool how_many,
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
    return first(text(w, name, &type->type), text(w, unit, &type->unit));
}

static int put_value_types(struct writer *w)
{
    PART(Profile, PROFILE);
    PART(ValueType, VALUE_TYPE);
    WeftPprof__ValueType *type = &ValueType;
    int rc = 0;
    Profile.n_sample_type = 1;
    Profile.sample_type = &type;
    for (uint32_t i = 0; i < w->kinds.kinds && rc == 0; i++) {
        const struct pprof_kind *k = &w->kinds.kind[i];
        for (int how_many = k->counted; how_many >= 0 && rc == 0; how_many--) {
            rc = value_type(w, k, how_many, type);
            rc = rc < 0 ? rc : put(w, &Profile);
        }
    }
    if (rc == 0 && w->kinds.off_cpu) {
        rc = first(text(w, "off_cpu", &type->type), text(w, "nanoseconds", &type->unit));
        rc = rc < 0 ? rc : put(w, &Profile);
    }
    return rc;
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
static int put_head(struct writer *w)
{
    PART(Profile, PROFILE);
    PART(ValueType, VALUE_TYPE);
    int64_t *comment = weft_resize(NULL, w->parts, sizeof *comment);
    int rc = comment ? put_value_types(w) : WEFT_E_NOMEM;
    for (uint32_t i = 0; i < w->parts && rc == 0; i++) {
        const struct weft_pprof_part *part = &w->part[i];
        const struct weft_profile *p = part->profile;
        if (part->comment)
            rc = text(w, part->comment, &comment[Profile.n_comment++]);
        if (part->real_ns && (!Profile.time_nanos || part->real_ns < Profile.time_nanos))
            Profile.time_nanos = part->real_ns;
        Profile.duration_nanos = pprof_add_values(Profile.duration_nanos, p->last_ns - p->first_ns);
    }
    if (rc == 0 && w->kinds.kinds) {
        const struct pprof_kind *k = &w->kinds.kind[0];
        rc = value_type(w, k, false, &ValueType);
        Profile.period_type = &ValueType;
        Profile.period = period(w);
        Profile.default_sample_type = ValueType.type;
    }
    Profile.comment = comment;
    rc = rc < 0 ? rc : put(w, &Profile);
    free(comment);
    return rc;
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

static int put_mapping(struct writer *w, uint32_t index)
{
    static const char digits[] = "0123456789abcdef";
    const struct weft_mapping *m = &w->p->mapping[index];
    const char *path = weft_profile_text(w->p, m->path);
    char id[2 * WEFT_BUILD_ID_MAX + 1];
    for (unsigned i = 0; i < m->build_id_bytes; i++) {
        id[2 * i] = digits[m->build_id[i] >> 4];
        id[2 * i + 1] = digits[m->build_id[i] & 15];
    }
    id[2 * m->build_id_bytes] = 0;

    PART(Profile, PROFILE);
    PART(Mapping, MAPPING);
    WeftPprof__Mapping *one = &Mapping;
    Profile.n_mapping = 1;
    Profile.mapping = &one;
    one->id = w->first_mapping + index;
    one->memory_start = m->start;
    one->memory_limit = m->start + m->size;
    one->file_offset = m->offset;
    /* as everybody else calls it */
    bool is_kernel = m->kernel && strcmp(path, "[kernel]") == 0;
    int rc = text(w, is_kernel ? "[kernel.kallsyms]" : path, &one->filename);
    rc = first(rc, text(w, id, &one->build_id));
    one->has_functions = w->has_names[index];
    one->has_filenames = one->has_line_numbers = one->has_inline_frames = w->has_lines[index];
    return rc < 0 ? rc : put(w, &Profile);
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

static int put_mappings(struct writer *w)
{
    uint32_t program = main_mapping(w->p);
    int rc = w->p->mappings ? put_mapping(w, program) : 0;
    for (uint32_t i = 0; i < w->p->mappings && rc == 0; i++)
        rc = i == program ? 0 : put_mapping(w, i);
    return rc;
}

static int put_location(struct writer *w, WeftPprof__Location *one, const uint64_t *function,
                        const uint32_t *line, uint32_t lines)
{
    PART(Profile, PROFILE);
    WeftPprof__Line *list = weft_resize(NULL, lines, sizeof *list);
    WeftPprof__Line **at = weft_resize(NULL, lines, sizeof *at);
    int rc = list && at ? 0 : WEFT_E_NOMEM;
    for (uint32_t i = 0; i < lines && rc == 0; i++) {
        weft_pprof__line__init(&list[i]);
        list[i].function_id = function[i];
        list[i].line = line[i];
        at[i] = &list[i];
    }
    one->n_line = lines;
    one->line = at;
    Profile.n_location = 1;
    Profile.location = &one;
    rc = rc < 0 ? rc : put(w, &Profile);
    free(list);
    free(at);
    return rc;
}

static int put_code(struct writer *w, uint32_t index)
{
    const struct weft_location *l = &w->p->location[index];
    uint64_t *function = weft_resize(NULL, l->frames, sizeof *function);
    uint32_t *line = weft_resize(NULL, l->frames, sizeof *line);
    int rc = function && line ? 0 : WEFT_E_NOMEM;
    for (uint32_t i = 0; i < l->frames && rc == 0; i++) {
        function[i] = w->first_function + w->p->frame[l->first_frame + i].function;
        line[i] = w->p->frame[l->first_frame + i].line;
    }
    PART(Location, LOCATION);
    Location.id = w->first_location + index;
    Location.mapping_id = l->mapping == WEFT_NONE ? 0 : w->first_mapping + l->mapping;
    Location.address = l->address - (l->caller && l->address);
    rc = rc < 0 ? rc : put_location(w, &Location, function, line, l->frames);
    free(function);
    free(line);
    return rc;
}

static int put_function(struct writer *w, uint64_t id, const struct weft_function *f)
{
    PART(Profile, PROFILE);
    PART(Function, FUNCTION);
    WeftPprof__Function *one = &Function;
    Profile.n_function = 1;
    Profile.function = &one;
    one->id = id;
    one->start_line = f->start_line;
    int rc = own_text(w, f->name, &one->name);
    rc = first(rc, own_text(w, f->system_name ? f->system_name : f->name, &one->system_name));
    rc = first(rc, own_text(w, f->file, &one->filename));
    return rc < 0 ? rc : put(w, &Profile);
}

static int put_code_and_functions(struct writer *w)
{
    const struct weft_profile *p = w->p;
    int rc = 0;
    for (uint32_t i = 0; i < p->locations && rc == 0; i++)
        rc = w->used[i] ? put_code(w, i) : 0;
    for (uint32_t i = 0; i < p->functions && rc == 0; i++)
        rc = put_function(w, w->first_function + i, &p->function[i]);
    for (uint32_t i = 0; i < w->sums.mades && rc == 0; i++) {
        PART(Location, LOCATION);
        uint64_t function = w->first_function + p->functions + i;
        uint32_t line = 0, name = w->sums.made[i].text;
        Location.id = w->first_location + p->locations + i;
        rc = put_function(w, function, &(struct weft_function){.name = name, .system_name = name});
        rc = rc < 0 ? rc : put_location(w, &Location, &function, &line, 1);
    }
    return rc;
}

/* ---- Samples ---- */

struct labels {
    WeftPprof__Label label[LABELS_MAX], *at[LABELS_MAX];
    size_t count;
};

static int label(struct writer *w, struct labels *l, const char *key, const char *value)
{
    assert(l->count < LABELS_MAX);
    WeftPprof__Label *one = &l->label[l->count];
    weft_pprof__label__init(one);
    l->at[l->count++] = one;
    return first(text(w, key, &one->key), text(w, value, &one->str));
}

/* Numbers are texts: readers drop a label that is 0, and take others for amounts. */
static int number_label(struct writer *w, struct labels *l, const char *key, uint64_t number)
{
    char value[32];
    snprintf(value, sizeof value, "%" PRIu64, number);
    return label(w, l, key, value);
}

static const char *promise_label(const struct weft_model *m, uint32_t promise)
{
    uint32_t name = weft_model_name(m, promise);
    return name == WEFT_NONE ? "" : weft_model_text(m, name, NULL);
}

static int promise_labels(struct writer *w, struct labels *l, uint32_t promise)
{
    const struct weft_model *m = w->p->model;
    int rc = number_label(w, l, "promise", m->promise[promise].id);
    rc = first(rc, label(w, l, "type", weft_model_type(m, promise)));
    const char *name = promise_label(m, promise);
    if (*name)
        rc = first(rc, label(w, l, "label", name));
    uint32_t root = w->root[promise];
    if (root != WEFT_NONE) {
        const char *of_root = promise_label(m, root);
        rc = first(rc, label(w, l, "root", *of_root ? of_root : weft_model_type(m, root)));
    }
    return rc;
}

static int add_labels(struct writer *w, struct labels *l, const struct pprof_sum *s)
{
    const struct weft_thread *t = &w->p->thread[s->thread];
    const char *name = weft_profile_text(w->p, t->name);
    int rc = 0;
    if (s->promise != WEFT_NONE && w->p->model)
        rc = promise_labels(w, l, s->promise);
    if (*name)
        rc = first(rc, label(w, l, "thread", name));
    if (t->process != UINT32_MAX)
        rc = first(rc, number_label(w, l, "pid", t->process));
    if (t->thread != UINT32_MAX)
        rc = first(rc, number_label(w, l, "tid", t->thread));
    if (s->core != UINT32_MAX)
        rc = first(rc, number_label(w, l, "core", s->core));
    if (s->state != PPROF_RUNNING)
        rc = first(rc, label(w, l, "state", s->state == PPROF_WAITING ? "waiting" : "preempted"));
    return rc;
}

/* A frame of that name, which no address has. */
static int put_made(struct writer *w, const char *name, uint64_t *id)
{
    uint32_t number = weft_profile_add_text(w->p, name, (uint32_t)strlen(name));
    uint32_t made = number == WEFT_NONE ? WEFT_NONE : pprof_sums_made(&w->sums, number);
    *id = w->first_location + w->p->locations + (made & ~PPROF_MADE);
    return made == WEFT_NONE ? WEFT_E_NOMEM : 0;
}

/* Readers leave out samples without any location. */
static int put_state(struct writer *w, const struct pprof_sum *s)
{
    static const char *const names[] = {
        [PPROF_RUNNING] = "(no stack)",
        [PPROF_WAITING] = "(waiting)",
        [PPROF_PREEMPTED] = "(preempted)",
    };
    return put_made(w, names[s->state], &w->ids[0]);
}

static int put_sample(struct writer *w, uint32_t index)
{
    const struct pprof_sum *s = &w->sums.sum[index];
    struct labels labels = {.count = 0};
    size_t depth = 0;
    uint32_t stack = s->stack, most = WEFT_FRAMES_MAX + (w->sums.frames != NULL);
    while (stack && depth < most) {
        uint32_t location = pprof_sums_pop(&w->sums, &stack);
        if (location & PPROF_MADE)
            w->ids[depth++] = w->first_location + w->p->locations + (location & ~PPROF_MADE);
        else
            w->ids[depth++] = w->first_location + location;
        if (!(location & PPROF_MADE))
            w->used[location] = true;
    }
    int rc = stack ? put_made(w, "…", &w->ids[depth++]) : 0;
    PART(Profile, PROFILE);
    PART(Sample, SAMPLE);
    WeftPprof__Sample *one = &Sample;
    Profile.n_sample = 1;
    Profile.sample = &one;
    rc = first(rc, add_labels(w, &labels, s));
    if (depth == 0)
        rc = first(rc, put_state(w, s));
    one->n_location_id = depth ? depth : 1;
    one->location_id = w->ids;
    one->n_value = w->sums.values;
    one->value = w->sums.total + (size_t)index * w->sums.values;
    one->n_label = labels.count;
    one->label = labels.at;
    return rc < 0 ? rc : put(w, &Profile);
}

/* ---- */

static int write_part(struct writer *w, const struct weft_pprof_part *part)
{
    const struct weft_profile *p = w->p;
    w->used = calloc((size_t)p->locations + 1, 1);
    w->has_lines = calloc((size_t)p->mappings + 1, 1);
    w->has_names = calloc((size_t)p->mappings + 1, 1);
    w->root = p->model ? weft_profile_roots(p->model) : NULL;
    if (!w->used || !w->has_lines || !w->has_names || (p->model && !w->root))
        return WEFT_E_NOMEM;
    int rc = pprof_sums_make(&w->sums, &w->kinds, part, w->o);
    for (uint32_t i = 0; i < w->sums.sums && rc == 0; i++)
        rc = put_sample(w, i);
    note_lines(w);
    rc = rc < 0 ? rc : put_mappings(w);
    return rc < 0 ? rc : put_code_and_functions(w);
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

static int write_all(struct writer *w)
{
    int rc = 0;
    w->texts = weft_strings_new();
    w->kinds.off_cpu = w->o->off_cpu;
    w->first_mapping = w->first_location = w->first_function = 1;
    if (!w->texts || weft_strings_add(w->texts, "", 0) != 0 ||
        deflateInit2(&w->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return WEFT_E_NOMEM;
    w->zipping = true;
    for (uint32_t i = 0; i < w->parts && rc == 0; i++)
        rc = pprof_kinds_add(&w->kinds, w->part[i].profile);
    rc = rc < 0 ? rc : put_head(w);
    for (uint32_t i = 0; i < w->parts && rc == 0; i++) {
        w->p = w->part[i].profile;
        rc = write_part(w, &w->part[i]);
        end_part(w);
    }
    rc = rc < 0 ? rc : put_texts(w);
    return rc < 0 ? rc : deflate_all(w, NULL, 0, Z_FINISH);
}

int weft_pprof_write(FILE *out, const struct weft_pprof_part *part, uint32_t parts,
                     const struct weft_pprof_options *o, uint64_t *cut, struct weft_error *err)
{
    struct writer w = {.part = part, .parts = parts, .o = o, .out = out};
    int rc = write_all(&w);
    if (w.zipping)
        deflateEnd(&w.gzip);
    weft_strings_free(w.texts);
    free(w.packed);
    free(w.clean);
    *cut = w.cut;
    if (rc == WEFT_E_IO)
        weft_error_set(err, rc, WEFT_NO_OFFSET, "cannot be written: %s", strerror(errno));
    else if (rc == WEFT_E_LIMIT)
        weft_error_set(err, rc, WEFT_NO_OFFSET, "more than %d kinds of samples in one profile",
                       PPROF_KINDS_MAX);
    else if (rc < 0)
        weft_error_set(err, rc, WEFT_NO_OFFSET, "out of memory");
    return rc;
}
