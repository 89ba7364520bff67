/* SPDX-License-Identifier: ISC */
/* A core's event reports what all processes do there. */
#include "sample/state.h"

int sample_family_begin(struct weft_sampler *s)
{
    sample_comms_fini(&s->family);
    return sample_comms_set(&s->family, s->o.process, "+") ? 0 : WEFT_E_NOMEM;
}

static bool has(const struct weft_sampler *s, uint32_t process)
{
    return *sample_comms_get(&s->family, process);
}

/* Processes that have ended stay until their number is used again, for records may come a little late. If there is no
 * memory, the new process is not sampled. */
bool sample_family_has(struct weft_sampler *s, const struct sample_perf_record *r)
{
    if (r->type == PERF_RECORD_FORK && r->process != r->parent) {
        if (has(s, r->parent))
            return sample_comms_set(&s->family, r->process, "+");
        if (has(s, r->process))
            sample_comms_drop(&s->family, r->process);
        return false;
    }
    return r->type == PERF_RECORD_LOST || r->type == PERF_RECORD_LOST_SAMPLES ||
           r->type == PERF_RECORD_THROTTLE || has(s, r->process);
}
