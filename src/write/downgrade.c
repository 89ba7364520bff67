/* SPDX-License-Identifier: ISC */
#include "write/downgrade.h"

#include <string.h>

#include "base/hash.h"

#define PROBES 16

static struct weft_event label_of(const struct weft_event *ev, uint64_t promise, const char *text,
                                  size_t size)
{
    return (struct weft_event){.time_ns = ev->time_ns,
                               .kind = WEFT_EVENT_LABEL,
                               .a = promise,
                               .text = text,
                               .text_size = (uint32_t)size};
}

static unsigned creation(struct weft_downgrade *d, struct weft_event *out,
                         const struct weft_event *ev)
{
    unsigned n = 1, type = ev->type;
    const char *name = ev->origin ? ev->origin->type : NULL;
    for (type = name ? 0 : type; name && type < WEFT_TYPES; type++)
        if (strcmp(weft_type_name(type), name) == 0)
            break;
    if (name && type == WEFT_TYPES) {
        type = 1; /* task */
        d->types++;
        out[n++] = label_of(ev, ev->b, name, strlen(name));
    }
    if (ev->text)
        out[n++] = label_of(ev, ev->b, ev->text, ev->text_size);
    if (ev->origin && ev->origin->file)
        d->places++;
    out[0] = *ev;
    out[0].type = (uint8_t)type;
    out[0].text = NULL;
    out[0].text_size = 0;
    return n;
}

/* Where the value of a counter is kept, or NULL if there is no room. */
static int64_t *value_of(struct weft_downgrade *d, const struct weft_event *ev)
{
    uint64_t name = weft_hash(WEFT_HASH_BEGIN, ev->text, ev->text_size);
    name += !name;
    for (unsigned i = 0; i < PROBES; i++) {
        uint64_t place = (name + i) % WEFT_DOWNGRADE_COUNTERS;
        if (d->counter[place].name == 0 || d->counter[place].name == name) {
            d->counter[place].name = name;
            return &d->counter[place].value;
        }
    }
    return NULL;
}

/* mirage's counters begin at 0. Where the changes that are there do not add up to the new value, because
 * others were overwritten, the value itself is written. */
static void counting(struct weft_downgrade *d, struct weft_event *out, const struct weft_event *ev)
{
    int64_t *value = value_of(d, ev), sum;
    bool adds_up = value && !__builtin_add_overflow(*value, ev->value, &sum) && sum == ev->total;
    *out = *ev;
    out->has_total = false;
    if (ev->kind == WEFT_EVENT_INCREASE && ev->has_total && !adds_up) {
        out->kind = WEFT_EVENT_COUNTER;
        out->value = ev->total;
    }
    if (value)
        *value = ev->kind == WEFT_EVENT_INCREASE ? ev->total : ev->value;
}

unsigned weft_downgrade(struct weft_downgrade *d, struct weft_event out[WEFT_DOWNGRADED_MAX],
                        const struct weft_event *ev)
{
    out[0] = *ev;
    switch ((enum weft_event_kind)ev->kind) {
    case WEFT_EVENT_CREATES:
        return creation(d, out, ev);
    case WEFT_EVENT_INCREASE:
    case WEFT_EVENT_COUNTER:
        counting(d, out, ev);
        return 1;
    case WEFT_EVENT_FORGETS:
        out[0].b = ev->a;
        out[0].a = WEFT_ID_LOOP;
        /* fall through */
    case WEFT_EVENT_RESOLVES:
    case WEFT_EVENT_CANCELS:
        out[0].kind = WEFT_EVENT_FULFILLS;
        d->endings++;
        return 1;
    case WEFT_EVENT_SHOULD_RESOLVE:
        out[0] = label_of(ev, ev->a, "__should_resolve", strlen("__should_resolve"));
        return 1;
    case WEFT_EVENT_SUSPEND:
        out[0] = (struct weft_event){
            .time_ns = ev->time_ns, .kind = WEFT_EVENT_SWITCH, .a = WEFT_ID_LOOP};
        return 1;
    case WEFT_EVENT_NOTIFIES:
    case WEFT_EVENT_BACKGROUND:
    case WEFT_EVENT_RESUME:
    case WEFT_EVENT_ACQUIRES:
    case WEFT_EVENT_RELEASES:
    case WEFT_EVENT_PREEMPTED:
    case WEFT_EVENT_SPAN:
    case WEFT_EVENT_SPAN_PARENT:
    case WEFT_EVENT_SNAPSHOT:
        d->left_out[ev->kind]++;
        return 0;
    default:
        return 1;
    }
}
