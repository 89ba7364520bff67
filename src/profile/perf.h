/* SPDX-License-Identifier: ISC */
/* Reads Linux's perf.data in two steps. perf_data.c walks through the file: header, events,
 * features, and the position and time of each record. Then perf_apply.c applies the records in
 * order of time, since perf writes them core by core; perf_sample.c decodes samples. Numbers are
 * little endian; a big-endian file is refused. */
#pragma once

#include <linux/perf_event.h>

#include "base/table.h"
#include "format/bytes.h"
#include "profile/foreign_state.h"

#ifndef PERF_FORMAT_LOST /* since Linux 6.0 */
#define PERF_FORMAT_LOST 16
#endif

/* An event of the recording: struct perf_event_attr, as far as this reader knows it. */
struct profile_perf_event {
    struct perf_event_attr attr;
    uint32_t source;
    uint32_t name; /* a text, or WEFT_NONE: to be made from type and config */
};

/* Samples of several events are distinguished by ids. */
struct profile_perf_id {
    uint64_t id;
    uint32_t event;
};

struct profile_perf_record {
    uint64_t time_ns;
    uint64_t place; /* see profile_perf_place */
};

/* The place of a record and its size: 1 bit for "in the decompressed data", 47 bits of offset, 16
 * bits of size. */
static inline uint64_t profile_perf_place(bool unpacked, uint64_t at, uint16_t bytes)
{
    return (uint64_t)unpacked << 63 | at << 16 | bytes;
}
#define PROFILE_PERF_BYTES_MAX (UINT64_C(1) << 47) /* of a file, or of the decompressed data */

struct profile_perf_build_id { /* stated for a path */
    uint32_t path;             /* text */
    uint8_t bytes;
    uint8_t id[WEFT_BUILD_ID_MAX];
};

struct profile_perf {
    struct profile_foreign *f;
    struct profile_perf_event *event;
    struct profile_perf_id *id;
    struct profile_perf_record *record;
    struct profile_perf_build_id *build_id; /* sorted by path, once all are known */
    uint32_t events, ids, records, build_ids;
    uint64_t ids_read; /* including ids that were known already */
    uint32_t event_room, id_room, record_room, build_id_room;
    struct weft_table ids_by;
    uint64_t seed;

    /* Where ids are, which is the same for all events of a file; PROFILE_PERF_NO_ID: nowhere. */
    uint32_t id_at;     /* in a sample: bytes after the header */
    uint32_t id_at_end; /* in other records: bytes before their end */

    struct profile_unpacking *unpacking; /* the decompressed data; NULL: none yet */
};
#define PROFILE_PERF_NO_ID UINT32_MAX

/* The rest of a record. Reading beyond its end gives NULL, and sets a flag. */
struct profile_perf_rest {
    const unsigned char *at;
    size_t bytes;
    bool cut;
};

static inline const unsigned char *profile_perf_take_bytes(struct profile_perf_rest *r,
                                                           uint64_t bytes)
{
    const unsigned char *at = r->at;
    if (bytes > r->bytes) {
        r->cut = true;
        r->bytes = 0;
        return NULL;
    }
    r->at += bytes;
    r->bytes -= (size_t)bytes;
    return at;
}

/* 0 beyond the end. */
static inline uint32_t profile_perf_take_u32(struct profile_perf_rest *r)
{
    const unsigned char *at = profile_perf_take_bytes(r, 4);
    return at ? weft_read_u32(at) : 0;
}

static inline uint64_t profile_perf_take_u64(struct profile_perf_rest *r)
{
    const unsigned char *at = profile_perf_take_bytes(r, 8);
    return at ? weft_read_u64(at) : 0;
}

/* The fields of a sample that are needed; pointers point into the record. */
struct profile_perf_sample {
    uint64_t ip, time_ns, period;
    uint32_t process, thread, core; /* UINT32_MAX: not known */
    const unsigned char *chain;     /* chain_length words */
    uint64_t chain_length;
    const unsigned char *raw; /* data of a tracepoint */
    uint32_t raw_bytes;
    uint64_t regs_abi, regs_mask;
    const unsigned char *regs; /* NULL: none, as of a kernel thread */
    const unsigned char *stack;
    uint64_t stack_bytes;
};

/* Reads who, when and where; unknown fields are UINT32_MAX or 0. A sample (record: its type) has all
 * fields; other records end with these. Returns false if a sample is shorter than its fields. body:
 * what follows the header. */
bool profile_perf_read(struct profile_perf_sample *s, uint32_t record,
                       const struct perf_event_attr *attr, const unsigned char *body, size_t bytes);

size_t profile_perf_trailer_bytes(const struct perf_event_attr *attr); /* at the end of a record */

/* The event of a record, by its id; NULL: it belongs to no known event. */
const struct profile_perf_event *profile_perf_event_of(const struct profile_perf *d, uint32_t type,
                                                       const unsigned char *body, size_t bytes);

/* Events whose type and meaning of config are the same on all machines. */
enum { PROFILE_PERF_SAMPLED = 13, PROFILE_PERF_KINDS = 22 };

struct profile_perf_kind {
    const char *name;
    uint32_t type;
    uint64_t config;
    enum weft_source_unit unit; /* NS: it samples by a timer, so a frequency is just a period */
};
extern const struct profile_perf_kind profile_perf_kinds[PROFILE_PERF_KINDS];

/* NULL: it is none of these. */
const struct profile_perf_kind *profile_perf_kind_of(uint32_t type, uint64_t config);

/* Handles one record: stores its place, or uses it at once. record: complete, including its header.
 * Returns 0 or a negative WEFT_E code. */
int profile_perf_take(struct profile_perf *d, const unsigned char *record, uint16_t bytes,
                      uint64_t place);

/* The event with that id, or WEFT_NONE. */
uint32_t profile_perf_find_id(const struct profile_perf *d, uint64_t id);

/* Decompresses (perf_unpack.c), and handles the records that are complete by then. offset: of the
 * record. */
int profile_perf_unpack(struct profile_perf *d, const unsigned char *packed, size_t bytes,
                        uint64_t offset);
const struct weft_input *profile_perf_unpacked(const struct profile_perf *d);
void profile_perf_unpack_end(struct profile_perf *d);

/* Returns true if records of that type are applied in order of time. */
bool profile_perf_applies(uint32_t type);

/* Adds everything to the profile, in order of time. Returns 0, WEFT_E_NOMEM or WEFT_E_IO. */
int profile_perf_apply(struct profile_perf *d);
