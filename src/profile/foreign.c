/* SPDX-License-Identifier: ISC */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/foreign_state.h"

enum { HEAD_BYTES = 4096 };

static const struct {
    bool (*begins)(const unsigned char *head, size_t size);
    int (*load)(struct profile_foreign *f);
} kinds[] = {
    [WEFT_FOREIGN_AKAROS] = {profile_akaros_begins, profile_akaros_load},
    [WEFT_FOREIGN_KPDATA] = {profile_kpdata_begins, profile_kpdata_load},
    [WEFT_FOREIGN_TICKS] = {profile_ticks_begins, profile_ticks_load},
    [WEFT_FOREIGN_PERF] = {profile_perf_begins, profile_perf_load},
};

/* The kinds that have a mark come first: almost any bytes could begin a kpdata file. */
static const enum weft_foreign order[] = {WEFT_FOREIGN_PERF, WEFT_FOREIGN_AKAROS,
                                          WEFT_FOREIGN_TICKS, WEFT_FOREIGN_KPDATA};

enum weft_foreign weft_foreign_kind(const struct weft_input *in)
{
    unsigned char head[HEAD_BYTES];
    ptrdiff_t got = weft_input_read(in, head, sizeof head, 0, NULL);
    for (size_t i = 0; got > 0 && i < sizeof order / sizeof *order; i++)
        if (kinds[order[i]].begins(head, (size_t)got))
            return order[i];
    return WEFT_FOREIGN_NONE;
}

ptrdiff_t profile_window_at(struct profile_window *w, uint64_t offset, size_t size,
                            const unsigned char **bytes, struct weft_error *err)
{
    bool inside = offset >= w->offset && offset - w->offset <= w->have &&
                  size <= w->have - (offset - w->offset);
    if (!inside) {
        ptrdiff_t got = weft_input_read(w->in, w->at, sizeof w->at, offset, err);
        w->offset = offset;
        w->have = got < 0 ? 0 : (size_t)got;
        if (got < 0)
            return got;
    }
    size_t left = w->have - (size_t)(offset - w->offset);
    *bytes = w->at + (offset - w->offset);
    return (ptrdiff_t)(left < size ? left : size);
}

int profile_record_cut(struct profile_foreign *f, uint64_t offset, uint64_t size, uint64_t left)
{
    return weft_error_set(f->err, WEFT_E_FORMAT, offset,
                          "%s ends within a record: of its %" PRIu64 " bytes, %" PRIu64
                          " are there",
                          f->what, size, left);
}

int profile_record_at(struct profile_foreign *f, uint64_t offset, uint64_t size,
                      const unsigned char **bytes)
{
    uint64_t left = offset < f->end ? f->end - offset : 0;
    ptrdiff_t got = profile_window_at(f->window, offset, (size_t)size, bytes, f->err);
    if (got < 0 || left == 0)
        return got < 0 ? (int)got : 0;
    left =
        left < (uint64_t)got ? left : (uint64_t)got; /* it may have been cut since it was opened */
    return left < size ? profile_record_cut(f, offset, size, left) : 1;
}

int weft_profile_load_foreign(struct weft_profile *p, const struct weft_input *in,
                              const struct weft_foreign_options *options,
                              struct weft_foreign_facts *facts, struct weft_error *err)
{
    static const struct weft_foreign_options defaults;
    struct weft_foreign_facts unwanted;
    struct profile_foreign f = {.p = p,
                                .in = in,
                                .options = options ? options : &defaults,
                                .facts = facts ? facts : &unwanted,
                                .err = err,
                                .what = "the file",
                                .end = in->size};
    memset(f.facts, 0, sizeof *f.facts);
    enum weft_foreign kind = f.options->kind;
    if (kind == WEFT_FOREIGN_NONE ||
        (kind == WEFT_FOREIGN_KPDATA && weft_foreign_kind(in) == WEFT_FOREIGN_TICKS))
        kind = weft_foreign_kind(in); /* both formats have been called kpdata */
    if (kind == WEFT_FOREIGN_NONE)
        return weft_error_set(err, WEFT_E_FORMAT, 0,
                              "neither a stream of Akaros's kpoprofile or kpdata nor perf.data");
    f.facts->kind = kind;
    f.window = malloc(sizeof *f.window);
    if (!f.window)
        return weft_no_memory(err);
    f.window->in = in;
    f.window->offset = 0;
    f.window->have = 0;
    int rc = kinds[kind].load(&f);
    free(f.window);
    return rc;
}
