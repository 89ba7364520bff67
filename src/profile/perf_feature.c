/* SPDX-License-Identifier: ISC */
/* What perf.data says in addition to the records: build ids, names of events, host, command line,
 * clock. */
#include <stdio.h>
#include <string.h>

#include "format/bytes.h"
#include "profile/perf.h"

/* The numbers are those of perf's headers (tools/perf/Documentation/perf.data-file-format.txt). */
enum feature {
    BUILD_ID = 2,
    HOST_NAME = 3,
    RELEASE = 4,
    COMMAND_LINE = 11,
    EVENT_DESCRIPTIONS = 12,
    CLOCK_DATA = 29,
};

enum { BUILD_ID_AT = 12, BUILD_ID_SIZE_AT = 20, BUILD_ID_PATH_AT = 36, HAS_SIZE = 1 << 15 };

bool profile_perf_feature_wanted(unsigned feature)
{
    return feature == BUILD_ID || feature == HOST_NAME || feature == RELEASE ||
           feature == COMMAND_LINE || feature == EVENT_DESCRIPTIONS || feature == CLOCK_DATA;
}

struct rest {
    const unsigned char *at;
    size_t bytes;
};

static bool take_u32(struct rest *r, uint32_t *value)
{
    if (r->bytes < 4)
        return false;
    *value = weft_read_u32(r->at);
    r->at += 4;
    r->bytes -= 4;
    return true;
}

static bool skip(struct rest *r, uint64_t bytes)
{
    if (bytes > r->bytes)
        return false;
    r->at += bytes;
    r->bytes -= (size_t)bytes;
    return true;
}

/* A text with its size before it, padded with zeros. */
static bool take_text(struct rest *r, const char **text, size_t *size)
{
    uint32_t bytes;
    if (!take_u32(r, &bytes) || bytes > r->bytes)
        return false;
    *text = (const char *)r->at;
    *size = strnlen(*text, bytes);
    return skip(r, bytes);
}

static bool keep_text(struct rest *r, char *out, size_t room)
{
    const char *text;
    size_t size;
    if (!take_text(r, &text, &size))
        return false;
    snprintf(out, room, "%.*s", (int)(size < room ? size : room), text);
    return true;
}

static bool keep_command(struct rest *r, char *out, size_t room)
{
    uint32_t words;
    const char *text;
    size_t size, used = 0;
    if (!take_u32(r, &words))
        return false;
    for (; words && take_text(r, &text, &size); words--) {
        int put = snprintf(out + used, room - used, "%s%.*s", used ? " " : "",
                           (int)(size < room ? size : room), text);
        used += (size_t)put;
        if (used >= room)
            return true;
    }
    return words == 0;
}

/* The names of events, which are stated once more together with all that is known about them. */
static int keep_names(struct profile_perf *d, struct rest *r, bool *sound)
{
    uint32_t events, attr_bytes, ids;
    const char *name;
    size_t size;
    *sound = take_u32(r, &events) && take_u32(r, &attr_bytes);
    for (uint32_t i = 0; *sound && i < events; i++) {
        *sound = skip(r, attr_bytes) && take_u32(r, &ids) && take_text(r, &name, &size) &&
                 (uint64_t)ids * 8 <= r->bytes;
        if (!*sound)
            break;
        uint32_t event = ids ? profile_perf_find_id(d, weft_read_u64(r->at)) : i;
        skip(r, (uint64_t)ids * 8);
        if (event >= d->events)
            continue;
        d->event[event].name = weft_profile_add_text(d->f->p, name, (uint32_t)size);
    }
    return profile_foreign_added(d->f);
}

int profile_perf_add_build_id(struct profile_perf *d, const unsigned char *record, size_t bytes)
{
    if (bytes <= BUILD_ID_PATH_AT)
        return d->f->p->skipped++, 0;
    const char *path = (const char *)record + BUILD_ID_PATH_AT;
    struct profile_perf_build_id b = {.bytes = WEFT_BUILD_ID_MAX};
    if (weft_read_u16(record + 4) & HAS_SIZE && record[BUILD_ID_AT + BUILD_ID_SIZE_AT] < b.bytes)
        b.bytes = record[BUILD_ID_AT + BUILD_ID_SIZE_AT];
    memcpy(b.id, record + BUILD_ID_AT, b.bytes);
    b.path =
        weft_profile_add_text(d->f->p, path, (uint32_t)strnlen(path, bytes - BUILD_ID_PATH_AT));
    if (!weft_reserve(&d->build_id, d->build_ids, &d->build_id_room, sizeof *d->build_id))
        return profile_foreign_no_memory(d->f);
    d->build_id[d->build_ids++] = b;
    return profile_foreign_added(d->f);
}

static int keep_build_ids(struct profile_perf *d, struct rest *r, bool *sound)
{
    int rc = 0;
    while (rc == 0 && r->bytes >= 8) {
        uint16_t bytes = weft_read_u16(r->at + 6);
        *sound = bytes >= 8 && bytes <= r->bytes;
        if (!*sound)
            return 0;
        rc = profile_perf_add_build_id(d, r->at, bytes);
        skip(r, bytes);
    }
    return rc;
}

int profile_perf_feature(struct profile_perf *d, unsigned feature, const unsigned char *at,
                         size_t bytes)
{
    struct weft_foreign_facts *facts = d->f->facts;
    struct rest r = {at, bytes};
    bool sound = true;
    int rc = 0;
    switch (feature) {
    case BUILD_ID:
        rc = keep_build_ids(d, &r, &sound);
        break;
    case HOST_NAME:
        sound = keep_text(&r, facts->host, sizeof facts->host);
        break;
    case RELEASE:
        sound = keep_text(&r, facts->release, sizeof facts->release);
        break;
    case COMMAND_LINE:
        sound = keep_command(&r, facts->command, sizeof facts->command);
        break;
    case EVENT_DESCRIPTIONS:
        rc = keep_names(d, &r, &sound);
        break;
    case CLOCK_DATA: /* version, number of the clock, time of day, time of that clock */
        sound = bytes >= 24;
        if (sound) {
            facts->real_ns = (int64_t)weft_read_u64(at + 8);
            facts->clock_ns = (int64_t)weft_read_u64(at + 16);
        }
        break;
    default:
        break;
    }
    d->f->p->skipped += !sound;
    return rc;
}
