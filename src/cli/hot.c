/* SPDX-License-Identifier: ISC */
#include "cli/hot.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "cli/common.h"
#include "model/model.h"
#include "profile/join.h"

enum { SAMPLES_LEAST = 3, PERCENT_LEAST = 5 };

static uint32_t function_at(const struct weft_profile *p, uint32_t location)
{
    const struct weft_location *l = &p->location[location];
    return l->frames ? p->frame[l->first_frame].function : WEFT_NONE;
}

static uint32_t function_of(const struct weft_profile *p, uint32_t stack)
{
    uint32_t otherwise = WEFT_NONE;
    for (; stack; stack = p->stack[stack].parent) {
        const uint32_t location = p->stack[stack].location;
        const uint32_t function = function_at(p, location);
        if (function != WEFT_NONE && !p->location[location].kernel)
            return function;
        otherwise = otherwise == WEFT_NONE ? function : otherwise;
    }
    return otherwise;
}

static void add_spot(struct cli_hot *hot, uint32_t function, uint32_t samples)
{
    uint32_t at = hot->spots < CLI_HOT_SPOTS ? hot->spots++ : CLI_HOT_SPOTS;
    while (at && hot->spot[at - 1].samples < samples) {
        if (at < CLI_HOT_SPOTS)
            hot->spot[at] = hot->spot[at - 1];
        at--;
    }
    if (at < CLI_HOT_SPOTS) {
        hot->spot[at].function = function;
        hot->spot[at].samples = samples;
    }
}

int cli_hot_find(struct cli_hot *hot, const struct weft_profile *p, uint32_t promise,
                 int64_t from_ns, int64_t to_ns)
{
    uint32_t *function = NULL, count = 0, room = 0;
    *hot = (struct cli_hot){.spots = 0};
    if (!p || !p->model || promise == WEFT_NONE || promise == WEFT_ROOT)
        return 0;
    for (uint32_t i = weft_profile_first_at(p, p->model, from_ns); i < p->samples; i++) {
        const struct weft_sample *s = &p->sample[i];
        if (weft_model_time(s->time_ns, p->model->first_ns) > to_ns)
            break;
        if (s->promise != promise)
            continue;
        if (!weft_reserve(&function, count, &room, sizeof *function)) {
            free(function);
            return WEFT_E_NOMEM;
        }
        function[count++] = function_of(p, s->stack);
    }
    weft_sort(function, count, sizeof *function, weft_order_u32);
    for (uint32_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && function[next] == function[i];)
            next++;
        if (function[i] != WEFT_NONE)
            add_spot(hot, function[i], next - i);
    }
    hot->samples = count;
    free(function);
    return 0;
}

static bool is_listed(const struct cli_hot *hot, uint32_t i)
{
    return (uint64_t)hot->spot[i].samples * 100 >= (uint64_t)hot->samples * PERCENT_LEAST;
}

bool cli_hot_put(struct analyse_text *t, const struct weft_profile *p, const struct cli_hot *hot)
{
    if (hot->samples < SAMPLES_LEAST || !hot->spots || !is_listed(hot, 0))
        return false;
    for (uint32_t i = 0; i < hot->spots && is_listed(hot, i); i++) {
        const struct weft_function *f = &p->function[hot->spot[i].function];
        const char *file = weft_profile_text(p, f->file);
        analyse_put_format(t, "%s%s", i ? ", " : "", cli_shown(weft_profile_text(p, f->name)).text);
        if (*file)
            analyse_put_format(t, " (%s:%" PRIu32 ")", cli_shown(cli_base(file)).text,
                               f->start_line);
        analyse_put_format(t, " %.0f %%", 100.0 * hot->spot[i].samples / hot->samples);
    }
    return true;
}

json_t *cli_hot_json(const struct weft_profile *p, const struct cli_hot *hot)
{
    json_t *spots = json_array();
    for (uint32_t i = 0; i < hot->spots; i++) {
        const struct weft_function *f = &p->function[hot->spot[i].function];
        const char *file = weft_profile_text(p, f->file);
        cli_json_append(
            spots, CLI_OBJECT("function", cli_json_string(weft_profile_text(p, f->name)), "file",
                              cli_json_string(*file ? file : NULL), "start_line",
                              cli_json_if(*file, f->start_line), "samples", hot->spot[i].samples));
    }
    return CLI_OBJECT("samples", hot->samples, "functions", spots);
}
