/* SPDX-License-Identifier: ISC */
/* Linux's perf.data, read in two steps. perf_data.c walks through the file: header, events, features, and the
 * position and time of each record. Then perf_apply.c takes the records in order of time, for perf writes them
 * core by core, and perf_sample.c says what stands in a sample. Numbers are little endian; a file of a machine
 * of the other kind is refused. */
#ifndef WEFT_PROFILE_PERF_H
#define WEFT_PROFILE_PERF_H

#include <linux/perf_event.h>

#include "profile/foreign_state.h"
#include "base/table.h"

/* What an event of the recording is: struct perf_event_attr, as far as this reader knows it. */
struct weft__perf_event {
    struct perf_event_attr attr;
    uint32_t source;
    uint32_t name; /* text, or WEFT_NONE: to be made of type and config */
};

/* Samples of several events are told apart by ids. */
struct weft__perf_id {
    uint64_t id;
    uint32_t event;
};

struct weft__perf_record {
    uint64_t time_ns;
    uint64_t place; /* see weft__perf_place */
};

/* Where a record stands, and its size: 1 bit whether in what was decompressed, 47 bits of offset, 16 of size. */
static inline uint64_t weft__perf_place(bool unpacked, uint64_t at, uint16_t bytes)
{
    return (uint64_t)unpacked << 63 | at << 16 | bytes;
}
#define WEFT__PERF_BYTES_MAX (UINT64_C(1) << 47) /* of a file, or of what was decompressed */

struct weft__perf_build_id { /* told for a path */
    uint32_t path;           /* text */
    uint8_t bytes;
    uint8_t id[WEFT_BUILD_ID_MAX];
};

struct weft__perf {
    struct weft__foreign *f;
    struct weft__perf_event *event;
    struct weft__perf_id *id;
    struct weft__perf_record *record;
    struct weft__perf_build_id *build_id; /* by path, once all are known */
    uint32_t events, ids, records, build_ids;
    uint64_t ids_read; /* known ones, too */
    uint32_t event_room, id_room, record_room, build_id_room;
    struct weft_table ids_by;
    uint64_t seed;

    /* Where ids stand, which is the same for all events of a file; WEFT__PERF_NO_ID: nowhere. */
    uint32_t id_at;     /* in a sample: bytes after the header */
    uint32_t id_at_end; /* in other records: bytes before their end */

    struct weft__unpacking *unpacking; /* what was compressed; NULL: nothing yet */
};
#define WEFT__PERF_NO_ID UINT32_MAX

/* The fields of a sample that are wanted; pointers lead into the record. */
struct weft__perf_sample {
    uint64_t ip, time_ns, period;
    uint32_t process, thread, core; /* UINT32_MAX: not known */
    const unsigned char *chain;     /* chain_length words */
    uint64_t chain_length;
    uint64_t regs_abi, regs_mask;
    const unsigned char *regs; /* NULL: none */
    const unsigned char *stack;
    uint64_t stack_bytes;
};

/* false: the record is shorter than its fields. body: what follows the header. */
bool weft__perf_sample_read(struct weft__perf_sample *s, const struct perf_event_attr *attr,
                            const unsigned char *body, size_t bytes);

/* The trailer of other records: who, when, where; what is not told is UINT32_MAX or 0. */
struct weft__perf_trailer {
    uint64_t time_ns;
    uint32_t process, thread, core;
};
struct weft__perf_trailer weft__perf_trailer_read(const struct perf_event_attr *attr,
                                                  const unsigned char *body, size_t bytes);

unsigned weft__perf_trailer_words(const struct perf_event_attr *attr); /* of 8 bytes */

/* The event of a record, by its id; NULL: of none that is known. */
const struct weft__perf_event *weft__perf_event_of(const struct weft__perf *d, uint32_t type,
                                                   const unsigned char *body, size_t bytes);

/* What it is called where the file does not say: "cycles", "event 4:0x2d". */
struct weft__perf_name {
    char text[64];
};
struct weft__perf_name weft__perf_event_name(const struct perf_event_attr *attr);
enum weft_source_unit weft__perf_event_unit(const struct perf_event_attr *attr);

/* Takes what one record says: remembers where it is, or uses it at once. record: whole, header included.
 * 0, or a negative WEFT_E code. */
int weft__perf_take(struct weft__perf *d, const unsigned char *record, uint16_t bytes,
                    uint64_t place);

/* An event, with its ids following each other; attr_bytes of its description are there. */
int weft__perf_add_event(struct weft__perf *d, const unsigned char *attr, size_t attr_bytes,
                         uint32_t *event);
int weft__perf_add_id(struct weft__perf *d, uint64_t id, uint32_t event);
uint32_t weft__perf_find_id(const struct weft__perf *d, uint64_t id); /* event, or WEFT_NONE */

/* A feature section (perf_feature.c); what is not understood is counted. Only WEFT_E_NOMEM fails. */
int weft__perf_feature(struct weft__perf *d, unsigned feature, const unsigned char *at,
                       size_t bytes);
int weft__perf_add_build_id(struct weft__perf *d, const unsigned char *record, size_t bytes);
bool weft__perf_feature_wanted(unsigned feature);

/* Decompresses (perf_unpack.c), and takes the records that are whole by then. offset: of the record. */
int weft__perf_unpack(struct weft__perf *d, const unsigned char *packed, size_t bytes,
                      uint64_t offset);
const struct weft_input *weft__perf_unpacked(const struct weft__perf *d);
void weft__perf_unpack_end(struct weft__perf *d);

/* Adds everything to the profile, in order of time. 0, WEFT_E_NOMEM or WEFT_E_IO. */
int weft__perf_apply(struct weft__perf *d);

#endif
