/* SPDX-License-Identifier: ISC */
/* Packets of samples in a trace: read, joined with what the trace says of promises, and added up in every way. The parts
 * are the whole, whatever the bytes say. */
#include <stdint.h>
#include <string.h>

#include "profile/calltree.h"
#include "profile/join.h"
#include "profile/build.h"
#include "require.h"

static struct weft_profile *load(const char *path, size_t size)
{
    struct weft_reader *r;
    struct weft_error err;
    if (weft_reader_open(&r, path, &err) < 0)
        return NULL;
    struct weft_profile *p = weft_profile_new();
    REQUIRE(p);
    err = (struct weft_error){.code = 0};
    REQUIRE(weft_profile_load_trace(p, r, &err) == 0);
    REQUIRE((p->skipped > 0) == (p->first_skipped.code != 0));
    if (p->skipped) {
        REQUIRE(p->first_skipped.code == WEFT_E_FORMAT && p->first_skipped.text[0]);
        REQUIRE(p->first_skipped.offset < size);
    }
    REQUIRE(weft_reader_facts(r)->sample_bytes <= size);
    weft_reader_close(r);
    REQUIRE(weft_profile_finish(p) == 0);
    return p;
}

static void check_tables(const struct weft_profile *p, size_t size)
{
    REQUIRE(p->samples <= size / 40 && p->stacks <= 1 + size && p->locations < p->stacks);
    for (uint32_t i = 1; i < p->stacks; i++)
        REQUIRE(p->stack[i].parent < i && p->stack[i].location < p->locations);
    for (uint32_t i = 0; i < p->locations; i++) {
        const struct weft_location *l = &p->location[i];
        REQUIRE(l->mapping == WEFT_NONE || l->mapping < p->mappings);
        REQUIRE((uint64_t)l->first_frame + l->frames <= p->frames);
    }
    for (uint32_t i = 0; i < p->frames; i++)
        REQUIRE(p->frame[i].function < p->functions);
    for (uint32_t i = 0; i < p->samples; i++) {
        const struct weft_sample *s = &p->sample[i];
        REQUIRE(s->stack < p->stacks && s->thread < p->threads && s->source < p->sources);
        REQUIRE(i == 0 || p->sample[i - 1].time_ns <= s->time_ns);
        REQUIRE(s->time_ns >= p->first_ns && s->time_ns <= p->last_ns);
    }
    for (uint32_t i = 0; i < p->absences; i++) {
        const struct weft_sample *a = &p->absence[i];
        REQUIRE(a->time_ns <= p->last_ns && a->value <= p->last_ns - a->time_ns);
        REQUIRE(a->stack < p->stacks && a->thread < p->threads);
    }
}

static void ask(struct weft_profile *p, const struct weft_calltree_options *o)
{
    struct weft_calltree *t;
    struct weft_profile_list *l;
    int rc = weft_calltree_make(&t, p, o);
    REQUIRE(weft_profile_list_make(&l, p, o) == rc);
    if (rc == WEFT_E_INVALID)
        return;
    REQUIRE(rc == 0 && t->total == l->total && t->samples == l->samples);
    uint64_t in_tree = 0, in_list = 0;
    for (uint32_t i = 0; i < t->calls; i++) {
        in_tree += t->call[i].self;
        REQUIRE(i == 0 || t->call[i].parent < i);
    }
    for (uint32_t i = 0; i < l->rows; i++)
        in_list += l->row[i].self;
    REQUIRE(in_tree == t->total && in_list == t->total && t->without_promise <= t->total);
    weft_calltree_free(t);
    weft_profile_list_free(l);
}

static void ask_everything(struct weft_profile *p)
{
    for (unsigned by = WEFT_PROFILE_BY_FUNCTION; by <= WEFT_PROFILE_BY_CORE; by++)
        for (unsigned async = WEFT_ASYNC_NONE; async <= WEFT_ASYNC_WAITERS; async++)
            for (unsigned off_cpu = 0; off_cpu < 2; off_cpu++) {
                struct weft_calltree_options o = WEFT_CALLTREE_ALL;
                o.by = (enum weft_profile_by)by;
                o.async = (enum weft_async_stacks)async;
                o.off_cpu = off_cpu;
                ask(p, &o);
                o.promise = p->model && p->model->promises > 1 ? 1 : WEFT_NONE;
                o.with_children = true;
                ask(p, &o);
            }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = try_file(data, size);
    struct weft_profile *p = load(path, size);
    struct weft_reader *r;
    struct weft_model *m;
    if (!p)
        return 0;
    check_tables(p, size);
    ask_everything(p);
    REQUIRE(weft_reader_open(&r, path, NULL) == 0);
    REQUIRE(weft_model_build(&m, r, NULL, NULL, NULL) == 0);
    weft_reader_close(r);
    if (weft_profile_join(p, m) == 0)
        ask_everything(p);
    weft_profile_free(p);
    weft_model_free(m);
    return 0;
}
