/* SPDX-License-Identifier: ISC */
/* The file as a whole: header, events, features, and the records one after another. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/builder.h"
#include "profile/perf.h"

static const char magic[] = "PERFILE2", swapped[] = "2ELIFREP", old[] = "PERFFILE";

enum { MAGIC_BYTES = 8, HEADER = 8, PIPE_HEADER = 16, FILE_HEADER = 104, FEATURES = 256 };
enum { SECTION = 16, ATTR_LEAST = 64 /* of struct perf_event_attr, its first version */ };

/* Records that perf itself writes, in addition to the kernel's. */
enum {
    RECORD_ATTR = 64,
    RECORD_TRACING_DATA = 66,
    RECORD_BUILD_ID = 67,
    RECORD_AUXTRACE = 71,
    RECORD_EVENT_UPDATE = 78,
    RECORD_FEATURE = 80,
    RECORD_COMPRESSED = 81,
    RECORD_COMPRESSED2 = 83,
    RECORD_KNOWN = 84,
    UPDATE_NAME = 2,
};

bool profile_perf_begins(const unsigned char *head, size_t size)
{
    return size >= MAGIC_BYTES &&
           (memcmp(head, magic, MAGIC_BYTES) == 0 || memcmp(head, swapped, MAGIC_BYTES) == 0 ||
            memcmp(head, old, MAGIC_BYTES) == 0);
}

/* ---- Events and their ids ---- */

uint32_t profile_perf_find_id(const struct profile_perf *d, uint64_t id)
{
    uint32_t at = weft_table_get(&d->ids_by, d->id, sizeof *d->id, sizeof id, &id, d->seed);
    return at == UINT32_MAX ? WEFT_NONE : d->id[at].event;
}

static int add_id(struct profile_perf *d, uint64_t id, uint32_t event)
{
    const struct profile_perf_id key = {id, event};
    return weft_table_add(&d->ids_by, &d->id, &d->ids, &d->id_room, sizeof key, sizeof id, &key,
                          d->seed) == UINT32_MAX
               ? weft_no_memory(d->f->err)
               : 0;
}

/* Where ids are in the records of that event. */
static void find_ids(struct profile_perf *d, uint64_t type)
{
    unsigned at = 0, at_end = 8;
    d->id_at = d->id_at_end = PROFILE_PERF_NO_ID;
    if (!(type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)))
        return;
    if (!(type & PERF_SAMPLE_IDENTIFIER)) {
        const uint64_t before[] = {PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
                                   PERF_SAMPLE_ADDR};
        const uint64_t behind[] = {PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU};
        for (unsigned i = 0; i < sizeof before / sizeof *before; i++)
            at += type & before[i] ? 8 : 0;
        for (unsigned i = 0; i < sizeof behind / sizeof *behind; i++)
            at_end += type & behind[i] ? 8 : 0;
    }
    d->id_at = at;
    d->id_at_end = at_end;
}

/* attr_bytes of its description are there. */
static int add_event(struct profile_perf *d, const unsigned char *attr, size_t attr_bytes,
                     uint32_t *event)
{
    struct profile_perf_event e = {.source = WEFT_NONE, .name = WEFT_NONE};
    memcpy(&e.attr, attr, attr_bytes < sizeof e.attr ? attr_bytes : sizeof e.attr);
    if (!weft_reserve(&d->event, d->events, &d->event_room, sizeof *d->event))
        return weft_no_memory(d->f->err);
    if (d->events == 0)
        find_ids(d, e.attr.sample_type);
    *event = d->events;
    d->event[d->events++] = e;
    return 0;
}

/* This bypasses the window, which holds the descriptions and would be refilled for each event. */
static int read_ids(struct profile_perf *d, uint32_t event, uint64_t offset, uint64_t at,
                    uint64_t count)
{
    const struct weft_input *in = d->f->in;
    unsigned char piece[4096];
    if (at > in->size || count > (in->size - at) / 8 || count > in->size / 8 - d->ids_read)
        return weft_error_set(d->f->err, WEFT_E_FORMAT, offset,
                              "the ids of this event are not in the file");
    d->ids_read += count;
    for (uint64_t i = 0; i < count;) {
        size_t bytes = count - i < sizeof piece / 8 ? (size_t)(count - i) * 8 : sizeof piece;
        ptrdiff_t got = weft_input_read(in, piece, bytes, at + i * 8, d->f->err);
        if (got < 0)
            return (int)got;
        if ((size_t)got < bytes) /* truncated since it was opened */
            return profile_record_cut(d->f, at + i * 8, bytes, (uint64_t)got);
        for (size_t k = 0; k < bytes; k += 8, i++)
            TRY(add_id(d, weft_read_u64(piece + k), event));
    }
    return 0;
}

/* The events of a file: descriptions of attr_bytes each, which end with the place of their ids. */
static int read_events(struct profile_perf *d, uint64_t at, uint64_t bytes, uint64_t attr_bytes)
{
    struct profile_foreign *f = d->f;
    const unsigned char *b;
    int rc = 0;
    f->what = "the data";
    if (attr_bytes < ATTR_LEAST + SECTION || attr_bytes > UINT16_MAX)
        return weft_error_set(f->err, WEFT_E_FORMAT, 16,
                              "expected the size of an event's description, not %" PRIu64,
                              attr_bytes);
    if (at > f->in->size || bytes > f->in->size - at)
        return weft_error_set(f->err, WEFT_E_FORMAT, 24,
                              "the descriptions of its events should be at offset %" PRIu64
                              ", but there are %" PRIu64 " bytes",
                              at, f->in->size);
    for (uint64_t n = 0; rc == 0 && n < bytes / attr_bytes; n++) {
        uint64_t offset = at + n * attr_bytes;
        uint32_t event;
        rc = profile_record_at(f, offset, attr_bytes, &b);
        if (rc <= 0)
            return rc;
        uint64_t ids_at = weft_read_u64(b + attr_bytes - SECTION);
        uint64_t ids_bytes = weft_read_u64(b + attr_bytes - 8);
        rc = add_event(d, b, (size_t)attr_bytes - SECTION, &event);
        if (rc == 0)
            rc = read_ids(d, event, offset, ids_at, ids_bytes / 8);
    }
    return rc;
}

/* A record that describes one more event; its ids follow. */
static int take_event(struct profile_perf *d, const unsigned char *body, size_t bytes)
{
    uint32_t event, size = bytes >= ATTR_LEAST ? weft_read_u32(body + 4) : 0;
    if (size < ATTR_LEAST || size > bytes)
        return d->f->p->skipped++, 0;
    int rc = add_event(d, body, size, &event);
    for (size_t at = size; rc == 0 && at + 8 <= bytes; at += 8)
        rc = add_id(d, weft_read_u64(body + at), event);
    return rc;
}

static int take_event_name(struct profile_perf *d, const unsigned char *body, size_t bytes)
{
    if (bytes <= 16 || weft_read_u64(body) != UPDATE_NAME)
        return 0;
    uint32_t event = profile_perf_find_id(d, weft_read_u64(body + 8));
    const char *name = (const char *)body + 16;
    uint32_t text = weft_profile_add_text(d->f->p, name, (uint32_t)strnlen(name, bytes - 16));
    if (event != WEFT_NONE)
        d->event[event].name = text;
    return profile_foreign_added(d->f);
}

/* ---- What the file says in addition to the records ---- */

/* The numbers are those of perf's headers (tools/perf/Documentation/perf.data-file-format.txt). */
enum feature {
    BUILD_ID = 2,
    HOST_NAME = 3,
    RELEASE = 4,
    COMMAND_LINE = 11,
    EVENT_DESCRIPTIONS = 12,
    CLOCK_DATA = 29,
};
#define WANTED                                                                                     \
    (1u << BUILD_ID | 1u << HOST_NAME | 1u << RELEASE | 1u << COMMAND_LINE |                       \
     1u << EVENT_DESCRIPTIONS | 1u << CLOCK_DATA)

enum { BUILD_ID_AT = 12, BUILD_ID_SIZE_AT = 20, BUILD_ID_PATH_AT = 36, HAS_SIZE = 1 << 15 };

/* A text with its size before it, padded with zeros. */
static const char *take_text(struct profile_perf_rest *r, size_t *size)
{
    uint32_t bytes = profile_perf_take_u32(r);
    const char *text = (const char *)profile_perf_take_bytes(r, bytes);
    *size = text ? strnlen(text, bytes) : 0;
    return text ? text : "";
}

static void keep_text(struct profile_perf_rest *r, char *out, size_t room)
{
    size_t size;
    const char *text = take_text(r, &size);
    if (!r->cut)
        snprintf(out, room, "%.*s", (int)(size < room ? size : room), text);
}

static void keep_command(struct profile_perf_rest *r, char *out, size_t room)
{
    size_t size, used = 0;
    for (uint32_t words = profile_perf_take_u32(r); words && used < room; words--) {
        const char *text = take_text(r, &size);
        if (r->cut)
            return;
        used += (size_t)snprintf(out + used, room - used, "%s%.*s", used ? " " : "",
                                 (int)(size < room ? size : room), text);
    }
}

/* The names of events, which are stated once more together with all that is known about them. */
static void keep_names(struct profile_perf *d, struct profile_perf_rest *r)
{
    uint32_t events = profile_perf_take_u32(r), attr_bytes = profile_perf_take_u32(r);
    for (uint32_t i = 0; i < events && !r->cut; i++) {
        size_t size;
        profile_perf_take_bytes(r, attr_bytes);
        uint64_t ids = profile_perf_take_u32(r);
        const char *name = take_text(r, &size);
        const unsigned char *id = profile_perf_take_bytes(r, ids * 8);
        if (r->cut)
            return;
        uint32_t event = ids ? profile_perf_find_id(d, weft_read_u64(id)) : i;
        if (event < d->events)
            d->event[event].name = weft_profile_add_text(d->f->p, name, (uint32_t)size);
    }
}

static int add_build_id(struct profile_perf *d, const unsigned char *record, size_t bytes)
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
        return weft_no_memory(d->f->err);
    d->build_id[d->build_ids++] = b;
    return profile_foreign_added(d->f);
}

static int keep_build_ids(struct profile_perf *d, struct profile_perf_rest *r)
{
    int rc = 0;
    while (rc == 0 && r->bytes >= HEADER) {
        uint16_t bytes = weft_read_u16(r->at + 6);
        const unsigned char *record = profile_perf_take_bytes(r, bytes);
        r->cut |= bytes < HEADER;
        if (r->cut)
            break;
        rc = add_build_id(d, record, bytes);
    }
    return rc;
}

/* Sections that are not understood are counted. The only error is WEFT_E_NOMEM. */
static int take_feature(struct profile_perf *d, uint64_t feature, const unsigned char *at,
                        size_t bytes)
{
    struct weft_foreign_facts *facts = d->f->facts;
    struct profile_perf_rest r = {at, bytes, false};
    int rc = 0;
    switch (feature) {
    case BUILD_ID:
        rc = keep_build_ids(d, &r);
        break;
    case HOST_NAME:
        keep_text(&r, facts->host, sizeof facts->host);
        break;
    case RELEASE:
        keep_text(&r, facts->release, sizeof facts->release);
        break;
    case COMMAND_LINE:
        keep_command(&r, facts->command, sizeof facts->command);
        break;
    case EVENT_DESCRIPTIONS:
        keep_names(d, &r);
        break;
    case CLOCK_DATA: /* version, number of the clock, time of day, time of that clock */
        if (profile_perf_take_bytes(&r, 24)) {
            facts->real_ns = (int64_t)weft_read_u64(at + 8);
            facts->clock_ns = (int64_t)weft_read_u64(at + 16);
        }
        break;
    default:
        break;
    }
    d->f->p->skipped += r.cut;
    return rc < 0 ? rc : profile_foreign_added(d->f);
}

/* ---- Records ---- */

static int remember(struct profile_perf *d, const unsigned char *record, uint16_t bytes,
                    uint64_t place)
{
    uint32_t type = weft_read_u32(record);
    const unsigned char *body = record + HEADER;
    const struct profile_perf_event *e = profile_perf_event_of(d, type, body, bytes - HEADER);
    if (!e)
        return d->f->p->skipped++, 0;
    struct profile_perf_sample s;
    if (!profile_perf_read(&s, type, &e->attr, body, bytes - HEADER))
        return d->f->p->skipped++, 0;
    if (!weft_reserve(&d->record, d->records, &d->record_room, sizeof *d->record))
        return weft_no_memory(d->f->err);
    d->record[d->records++] = (struct profile_perf_record){s.time_ns, place};
    return 0;
}

int profile_perf_take(struct profile_perf *d, const unsigned char *record, uint16_t bytes,
                      uint64_t place)
{
    const unsigned char *body = record + HEADER;
    size_t left = bytes - HEADER;
    if (profile_perf_applies(weft_read_u32(record)))
        return remember(d, record, bytes, place);
    switch (weft_read_u32(record)) {
    case RECORD_ATTR:
        return take_event(d, body, left);
    case RECORD_EVENT_UPDATE:
        return take_event_name(d, body, left);
    case RECORD_BUILD_ID:
        return add_build_id(d, record, bytes);
    case RECORD_FEATURE:
        if (left >= 8 && weft_read_u64(body) < FEATURES)
            return take_feature(d, weft_read_u64(body), body + 8, left - 8);
        return d->f->p->skipped++, 0;
    default: /* the others say nothing about where the time went */
        d->f->p->skipped += weft_read_u32(record) >= RECORD_KNOWN;
        return 0;
    }
}

/* The record and, for some, data after it that their size does not include: *bytes. */
static int take_record(struct profile_perf *d, uint64_t at, const unsigned char *b, uint16_t size,
                       uint64_t *bytes)
{
    uint32_t type = weft_read_u32(b);
    *bytes = size;
    if (type == RECORD_AUXTRACE && size >= HEADER + 8)
        *bytes += weft_read_u64(b + HEADER);
    if (type == RECORD_TRACING_DATA && size >= HEADER + 4)
        *bytes += ((uint64_t)weft_read_u32(b + HEADER) + 7) & ~UINT64_C(7);
    if (*bytes < size)
        *bytes = UINT64_MAX;
    if (type == RECORD_COMPRESSED)
        return profile_perf_unpack(d, b + HEADER, size - HEADER, at);
    if (type == RECORD_COMPRESSED2 && size >= HEADER + 8) {
        uint64_t packed = weft_read_u64(b + HEADER), most = size - HEADER - 8u;
        return profile_perf_unpack(d, b + HEADER + 8, (size_t)(packed < most ? packed : most), at);
    }
    return profile_perf_take(d, b, size, profile_perf_place(false, at, size));
}

static int walk(struct profile_perf *d, uint64_t at, uint64_t end)
{
    struct profile_foreign *f = d->f;
    const unsigned char *b;
    uint64_t bytes = 0;
    int rc;
    f->what = "the data";
    f->end = end;
    for (; (rc = profile_record_at(f, at, HEADER, &b)) > 0; at += bytes) {
        uint16_t size = weft_read_u16(b + 6);
        if (size < HEADER)
            return weft_error_set(f->err, WEFT_E_FORMAT, at,
                                  "expected a record, not one of %u bytes; the least is 8", size);
        rc = profile_record_at(f, at, size, &b);
        if (rc > 0)
            rc = take_record(d, at, b, size, &bytes);
        if (rc < 0)
            return rc;
        if (bytes > end - at)
            return profile_record_cut(f, at, bytes, end - at);
    }
    return rc;
}

/* ---- The file ---- */

/* Sections with additional information: their places follow the data, one for each bit that is
 * set. */
static int read_features(struct profile_perf *d, const unsigned char *bits, uint64_t at)
{
    struct profile_foreign *f = d->f;
    const unsigned char *b;
    unsigned index = 0;
    for (unsigned feature = 0; feature < FEATURES; feature++) {
        if (!(bits[feature / 8] >> feature % 8 & 1))
            continue;
        ptrdiff_t got = profile_window_at(f->window, at + SECTION * index++, SECTION, &b, f->err);
        if (got < SECTION)
            return (int)(got < 0 ? got : 0);
        uint64_t offset = weft_read_u64(b), bytes = weft_read_u64(b + 8);
        if (feature >= 32 || !(WANTED >> feature & 1) || !bytes)
            continue;
        if (offset > f->in->size || bytes > f->in->size - offset) {
            f->p->skipped++;
            continue;
        }
        unsigned char *whole = weft_resize(NULL, bytes, 1);
        if (!whole)
            return weft_no_memory(f->err);
        got = weft_input_read(f->in, whole, (size_t)bytes, offset, f->err);
        int rc = got < 0 ? (int)got : take_feature(d, feature, whole, (size_t)got);
        free(whole);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_file(struct profile_perf *d, const unsigned char *header)
{
    struct profile_foreign *f = d->f;
    uint64_t data = weft_read_u64(header + 40), bytes = weft_read_u64(header + 48);
    if (data < PIPE_HEADER || data > f->in->size)
        return weft_error_set(f->err, WEFT_E_FORMAT, 40,
                              "the data should be at offset %" PRIu64 ", but there are %" PRIu64
                              " bytes",
                              data, f->in->size);
    int rc = read_events(d, weft_read_u64(header + 24), weft_read_u64(header + 32),
                         weft_read_u64(header + 16));
    if (rc < 0)
        return rc;
    f->facts->cut = bytes == 0; /* perf fills that in at the end */
    bool short_of = bytes > f->in->size - data;
    uint64_t end = bytes == 0 || short_of ? f->in->size : data + bytes;
    rc = walk(d, data, end);
    if (rc == 0 && short_of)
        rc = weft_error_set(f->err, WEFT_E_FORMAT, f->in->size,
                            "the file ends %" PRIu64 " bytes before its data does",
                            bytes - (f->in->size - data));
    if (!f->facts->cut && !short_of && rc != WEFT_E_NOMEM) {
        int features = read_features(d, header + 72, data + bytes);
        rc = rc < 0 ? rc : features;
    }
    return rc;
}

static int read_all(struct profile_perf *d)
{
    struct profile_foreign *f = d->f;
    unsigned char header[FILE_HEADER] = {0};
    ptrdiff_t got = weft_input_read(f->in, header, sizeof header, 0, f->err);
    if (got < 0)
        return (int)got;
    if (got < MAGIC_BYTES || !profile_perf_begins(header, MAGIC_BYTES))
        return weft_error_set(f->err, WEFT_E_FORMAT, 0, "does not begin with PERFILE2");
    if (memcmp(header, swapped, MAGIC_BYTES) == 0)
        return weft_error_set(
            f->err, WEFT_E_FORMAT, 0,
            "was recorded by a machine of the other byte order; convert it there");
    if (memcmp(header, old, MAGIC_BYTES) == 0)
        return weft_error_set(f->err, WEFT_E_FORMAT, 0,
                              "is of a version of perf before 2.6.36; record it with a newer one");
    uint64_t size = got >= PIPE_HEADER ? weft_read_u64(header + 8) : 0;
    if (f->in->size >= PROFILE_PERF_BYTES_MAX)
        return weft_error_set(f->err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "is larger than 128 TiB");
    if (size == PIPE_HEADER)
        return walk(d, PIPE_HEADER, f->in->size);
    if (got < FILE_HEADER || size < FILE_HEADER)
        return weft_error_set(f->err, WEFT_E_FORMAT, 8,
                              "expected a header of 104 bytes (or 16, from a pipe), not %" PRIu64,
                              got < PIPE_HEADER ? (uint64_t)got : size);
    return read_file(d, header);
}

int profile_perf_load(struct profile_foreign *f)
{
    struct profile_perf d = {
        .f = f, .seed = weft_seed(), .id_at = PROFILE_PERF_NO_ID, .id_at_end = PROFILE_PERF_NO_ID};
    int rc = read_all(&d);
    if (rc != WEFT_E_NOMEM) { /* what was read before an error is kept */
        int applied = profile_perf_apply(&d);
        rc = applied < 0 ? applied : rc;
    }
    profile_perf_unpack_end(&d);
    weft_free_all(d.ids_by.slot, d.event, d.id, d.record, d.build_id);
    return rc;
}
