/* SPDX-License-Identifier: ISC */
#include "cli/index/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "format/utf8.h"
#include "model/strings.h"

/* ---- Fields ---- */

/* Of any of them; copied, since those of a packed structure may stand anywhere. */
union value {
    uint32_t u32;
    int64_t i64;
    double real;
    bool flag;
};

static size_t size_of(enum index_kind is)
{
    return is == INDEX_U32    ? sizeof(uint32_t)
           : is == INDEX_REAL ? sizeof(double)
           : is == INDEX_FLAG ? sizeof(bool)
                              : sizeof(int64_t);
}

static json_t *put_field(const void *at, enum index_kind is)
{
    union value v;
    memcpy(&v, at, size_of(is));
    return is == INDEX_U32    ? json_integer(v.u32)
           : is == INDEX_REAL ? json_real(v.real)
           : is == INDEX_FLAG ? json_boolean(v.flag)
                              : json_integer(v.i64);
}

static bool get_field(void *at, enum index_kind is, const json_t *json)
{
    const json_int_t n = json_integer_value(json);
    union value v = {.i64 = n};
    bool fine = json_is_integer(json);
    if (is == INDEX_U32) {
        v.u32 = (uint32_t)n;
        fine = fine && n >= 0 && n <= UINT32_MAX;
    } else if (is == INDEX_REAL) {
        v.real = json_real_value(json);
        fine = json_is_real(json);
    } else if (is == INDEX_FLAG) {
        v.flag = json_is_true(json);
        fine = json_is_boolean(json);
    } else if (is == INDEX_TIME) {
        fine = fine && n >= WEFT_TIME_MIN && n <= WEFT_TIME_MAX;
    } else if (is == INDEX_LENGTH) {
        fine = fine && n >= 0;
    }
    memcpy(at, &v, size_of(is));
    return fine;
}

json_t *index_put_fields(const void *x, const struct index_field *field, size_t fields)
{
    json_t *list = json_array();
    for (size_t i = 0; i < fields; i++)
        index_add(&list, put_field((const char *)x + field[i].at, field[i].is));
    return list;
}

bool index_get_fields(void *x, const struct index_field *field, size_t fields, const json_t *list)
{
    bool fine = json_array_size(list) == fields;
    for (size_t i = 0; fine && i < fields; i++)
        fine = get_field((char *)x + field[i].at, field[i].is, json_array_get(list, i));
    return fine;
}

void index_add(json_t **list, json_t *value)
{
    if (*list && json_array_append_new(*list, value) == 0)
        return;
    if (!*list)
        json_decref(value);
    json_decref(*list);
    *list = NULL;
}

void index_set(json_t **object, const char *key, json_t *value)
{
    if (*object && json_object_set_new(*object, key, value) == 0)
        return;
    if (!*object)
        json_decref(value);
    json_decref(*object);
    *object = NULL;
}

bool index_number(const json_t *list, size_t at, uint64_t most, uint64_t *out)
{
    const json_t *v = json_array_get(list, at);
    *out = (uint64_t)json_integer_value(v);
    return json_is_integer(v) && *out <= most;
}

json_t *index_text(const char *text)
{
    return text ? json_string(text) : json_null();
}

bool index_get_text(const json_t *value, char **out)
{
    const size_t size = json_string_length(value);
    *out = json_is_string(value) ? malloc(3 * size + 1) : NULL; /* one byte may become three */
    if (*out)
        (*out)[weft_text_clean(*out, 3 * size, json_string_value(value), size)] = '\0';
    return *out || json_is_null(value);
}

/* ---- Promises ---- */

void index_name(struct index_names *n, uint32_t promise)
{
    if (promise == WEFT_NONE || promise == WEFT_ROOT || n->failed)
        return;
    if (weft_reserve(&n->promise, n->count, &n->room, sizeof *n->promise))
        n->promise[n->count++] = promise;
    else
        n->failed = true;
}

static int by_number(const void *a, const void *b)
{
    return weft_order(*(const uint32_t *)a, *(const uint32_t *)b);
}

void index_names_sort(struct index_names *n)
{
    uint32_t kept = 0;
    if (n->count)
        qsort(n->promise, n->count, sizeof *n->promise, by_number);
    for (uint32_t i = 0; i < n->count; i++)
        if (kept == 0 || n->promise[i] != n->promise[kept - 1])
            n->promise[kept++] = n->promise[i];
    n->count = kept;
}

void index_names_fini(struct index_names *n)
{
    free(n->promise);
}

json_t *index_ref(const struct index_names *n, uint32_t promise)
{
    uint32_t low = 0, high = n->count;
    if (promise == WEFT_NONE)
        return json_null();
    if (promise == WEFT_ROOT)
        return json_integer(0);
    WEFT_SEEK(low, high, n->promise[middle] < promise);
    return json_integer(low + 1);
}

bool index_get_ref(const json_t *value, const struct weft_model *m, uint32_t *promise)
{
    const json_int_t n = json_integer_value(value);
    *promise = json_is_null(value) ? WEFT_NONE : (uint32_t)n;
    return json_is_null(value) || (json_is_integer(value) && n >= 0 && n < m->promises);
}

static json_t *model_text(const struct weft_model *m, uint32_t text)
{
    uint32_t size;
    if (text == WEFT_NONE)
        return json_null();
    const char *s = weft_model_text(m, text, &size);
    return json_stringn(s, size);
}

json_t *index_names_json(const struct index_names *n, const struct weft_model *m)
{
    json_t *list = n->failed ? NULL : json_array();
    for (uint32_t i = 0; list && i < n->count; i++) {
        const uint32_t p = n->promise[i];
        json_t *one = json_array();
        index_add(&one, json_integer((json_int_t)m->promise[p].id));
        index_add(&one, model_text(m, m->promise[p].type));
        index_add(&one, model_text(m, weft_model_name(m, p)));
        index_add(&list, one);
    }
    return list;
}

/* ---- Damage ---- */

#define DAMAGE(member) INDEX_FIELD(struct weft_damage, U64, member)
static const struct index_field damage_fields[] = {
    DAMAGE(skipped_bytes),  DAMAGE(problems),     DAMAGE(unknown_types),
    DAMAGE(backward_times), DAMAGE(half_written),
};

static uint64_t kept_places(const struct weft_damage *d)
{
    return d->problems < WEFT_DAMAGE_KEPT ? d->problems : WEFT_DAMAGE_KEPT;
}

json_t *index_damage_json(const struct weft_damage *d)
{
    json_t *out = json_array();
    index_add(&out, index_put(d, damage_fields));
    for (uint64_t i = 0; i < kept_places(d); i++) {
        json_t *one = json_array();
        index_add(&one, json_integer((json_int_t)d->first[i].offset));
        index_add(&one, json_string(d->first[i].text));
        index_add(&out, one);
    }
    return out;
}

bool index_get_damage(struct weft_damage *d, const json_t *list)
{
    *d = (struct weft_damage){0};
    bool fine = index_get(d, damage_fields, json_array_get(list, 0)) &&
                json_array_size(list) == 1 + kept_places(d);
    for (uint64_t i = 0; fine && i < kept_places(d); i++) {
        const json_t *one = json_array_get(list, 1 + i), *offset = json_array_get(one, 0);
        const char *text = json_string_value(json_array_get(one, 1));
        struct weft_error *e = &d->first[i];
        fine = json_is_integer(offset) && text;
        e->code = WEFT_E_FORMAT;
        e->offset = (uint64_t)json_integer_value(offset);
        snprintf(e->text, sizeof e->text, "%s", text ? text : "");
    }
    return fine;
}

/* ---- The model as a whole ---- */

#define MODEL(kind, member) INDEX_FIELD(struct weft_model, kind, member)
static const struct index_field model_fields[] = {
    MODEL(U32, promises),
    MODEL(U64, events_total),
    MODEL(U64, promoted_events),
    MODEL(TIME, end_ns),
    MODEL(TIME, paused_ns),
    MODEL(TIME, resumed_ns),
    MODEL(U32, ended),
    MODEL(FLAG, exit.known),
    MODEL(FLAG, exit.by_signal),
    MODEL(U32, exit.number),
    MODEL(FLAG, quirks.last_end_counts),
    MODEL(FLAG, quirks.at_once),
    MODEL(FLAG, losses.overwritten),
    MODEL(U64, losses.overwritten_events),
    MODEL(FLAG, losses.streams),
    MODEL(U64, losses.discarded),
    MODEL(FLAG, losses.pending),
    MODEL(U32, losses.ended),
    MODEL(U64, contradictions.created_twice),
    MODEL(U64, contradictions.resolved_twice),
    MODEL(U64, contradictions.circles),
    MODEL(U64, contradictions.on_loop),
};

static const struct index_field sort_fields[] = {
    INDEX_FIELD(struct weft_model_given_up, U64, pending),
    INDEX_FIELD(struct weft_model_given_up, U64, unlisted),
    INDEX_FIELD(struct weft_model_given_up, U64, left_out),
};

static json_t *given_up_json(const struct weft_model *m, const struct weft_model_given_up *s)
{
    const struct weft_place *place = s->place == WEFT_NONE ? NULL : &m->origin[s->place];
    json_t *one = json_array();
    index_add(&one, index_put(s, sort_fields));
    index_add(&one, model_text(m, s->type));
    index_add(&one, model_text(m, place ? place->file : WEFT_NONE));
    index_add(&one, json_integer(place ? place->line : 0));
    return one;
}

void index_add_model(struct cli_index *x, const struct weft_model *m)
{
    if (!index_lacks(x, "model"))
        return;
    json_t *section = json_array(), *sorts = json_array();
    for (uint32_t i = 0; i < m->given_ups; i++)
        index_add(&sorts, given_up_json(m, &m->given_up[i]));
    index_add(&section, index_put(m, model_fields));
    index_add(&section, index_damage_json(&m->damage));
    index_add(&section, sorts);
    index_put_section(x, "model", section);
}

/* A text of the excerpt, or WEFT_NONE for null. */
static bool get_model_text(struct weft_model *m, const json_t *value, uint32_t *text)
{
    *text = WEFT_NONE;
    if (json_is_string(value))
        *text = weft_strings_add(m->strings, json_string_value(value),
                                 (uint32_t)strlen(json_string_value(value)));
    return *text != WEFT_NONE || json_is_null(value);
}

static bool get_sorts(struct weft_model *m, const json_t *sorts)
{
    const size_t count = json_array_size(sorts);
    m->given_up = calloc(count + 1, sizeof *m->given_up);
    m->origin = calloc(count + 1, sizeof *m->origin);
    bool fine = m->given_up && m->origin && json_is_array(sorts);
    for (size_t i = 0; fine && i < count; i++) {
        const json_t *one = json_array_get(sorts, i);
        struct weft_model_given_up *s = &m->given_up[m->given_ups++];
        uint64_t line;
        fine = index_get(s, sort_fields, json_array_get(one, 0)) &&
               get_model_text(m, json_array_get(one, 1), &s->type) && s->type != WEFT_NONE &&
               get_model_text(m, json_array_get(one, 2), &m->origin[m->origins].file) &&
               index_number(one, 3, UINT32_MAX, &line);
        s->place = WEFT_NONE;
        if (fine && m->origin[m->origins].file != WEFT_NONE) {
            m->origin[m->origins].line = (uint32_t)line;
            s->place = m->origins++;
        }
    }
    return fine;
}

static bool get_promise(struct weft_model *m, const json_t *one)
{
    struct weft_promise *p = &m->promise[m->promises];
    const json_t *id = json_array_get(one, 0);
    uint32_t label;
    *p = (struct weft_promise){.id = (uint64_t)json_integer_value(id),
                               .creator = WEFT_ROOT,
                               .becomes = WEFT_NONE,
                               .first_label = WEFT_NONE,
                               .first_interaction = WEFT_NONE,
                               .first_run = WEFT_NONE,
                               .reason_or_final = WEFT_NONE,
                               .place = WEFT_PLACES_MAX - 1};
    if (!json_is_integer(id) || !get_model_text(m, json_array_get(one, 1), &p->type) ||
        p->type == WEFT_NONE || !get_model_text(m, json_array_get(one, 2), &label))
        return false;
    if (label != WEFT_NONE) {
        p->first_label = m->labels;
        m->label[m->labels++] = (struct weft_label){
            .promise = m->promises, .what = label & WEFT_TEXTS_MAX, .next = WEFT_NONE};
    }
    m->promises++;
    return true;
}

static bool get_promises(struct weft_model *m, const json_t *names)
{
    const size_t count = json_array_size(names);
    m->promise = calloc(count + 1, sizeof *m->promise);
    m->label = calloc(count + 1, sizeof *m->label);
    bool fine = m->promise && m->label && json_is_array(names);
    m->promises = 1;
    if (fine)
        m->promise[WEFT_ROOT] =
            (struct weft_promise){.id = WEFT_ID_LOOP,
                                  .becomes = WEFT_NONE,
                                  .first_label = WEFT_NONE,
                                  .type = weft_strings_add(m->strings, "loop", 4)};
    for (size_t i = 0; fine && i < count; i++)
        fine = get_promise(m, json_array_get(names, i));
    return fine;
}

bool index_excerpt(struct cli_excerpt *e, struct cli_index *x, const json_t *names)
{
    const json_t *section = index_section(x, "model");
    *e = (struct cli_excerpt){.model = calloc(1, sizeof *e->model),
                              .history = calloc(1, sizeof *e->history)};
    struct weft_model *m = e->model;
    bool fine = m && e->history && index_get(m, model_fields, json_array_get(section, 0)) &&
                m->promises > 0 && m->ended <= WEFT_ENDED_EXITED &&
                m->losses.ended <= WEFT_ENDED_EXITED &&
                index_get_damage(&m->damage, json_array_get(section, 1));
    if (fine) {
        e->promises = m->promises;
        m->promises = 0;
        m->strings = weft_strings_new();
        fine = m->strings && get_sorts(m, json_array_get(section, 2)) && get_promises(m, names);
        e->history->m = m;
    }
    if (!fine)
        index_excerpt_free(e);
    return index_checked(x, "model", fine);
}

void index_excerpt_free(struct cli_excerpt *e)
{
    weft_history_free(e->history);
    weft_model_free(e->model);
    *e = (struct cli_excerpt){.promises = 0};
}
