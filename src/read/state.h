/* SPDX-License-Identifier: ISC */
/* What the readers of all formats share: the inside of weft_reader. Each format has a structure
 * that begins with a struct weft_reader. */
#pragma once

#include "read/input.h"
#include "read/reader.h"

#define WEFT_BATCH 256

/* An input format; see formats.def. */
struct weft_reader_format {
    const char *name;
    /* as messages list it, for example "mirage-profile's"; NULL: it is named elsewhere */
    const char *whose;
    size_t size; /* of the structure */
    struct weft_quirks quirks;

    /* Returns true if these bytes are the beginning of a file, or of a packet if has_packets is
     * set. */
    bool (*probe)(const unsigned char *bytes, size_t size);
    /* the file consists of packets with CTF's magic; the first may be anywhere in the file */
    bool has_packets;

    /* Finds the packets and puts them in order. Returns 0 or a negative WEFT_E code. */
    int (*index)(struct weft_reader *r, struct weft_error *err);

    ptrdiff_t (*next)(struct weft_reader *r, struct weft_error *err); /* like weft_reader_next */

    /* Like weft_reader_next_samples; NULL: there are none. */
    ptrdiff_t (*next_samples)(struct weft_reader *r, const void **packet, uint64_t *offset,
                              struct weft_error *err);

    /* Like weft_reader_spans; NULL: there are none. */
    void (*spans)(const struct weft_reader *r, weft_span_fn *use, void *data);

    /* Like weft_reader_was_overwritten; NULL: not known. */
    bool (*was_overwritten)(const struct weft_reader *r, uint64_t id);

    /* Releases what the format owns, even if index failed or was never called. */
    void (*fini)(struct weft_reader *r);
};

struct read_seen;
struct read_ahead;
struct read_choice;

struct weft_reader {
    const struct weft_reader_format *format;
    struct read_seen *seen; /* if the trace is followed (follow.h); or NULL */
    struct weft_input input;
    struct weft_reader_facts facts;
    struct weft_damage damage;
    bool has_first;          /* facts.first_ns is known */
    uint64_t from_ns, to_ns; /* only what happened then is handed out, on the clock of the events */
    struct read_choice
        *choice;              /* of events, if the part is about a stream or a promise (choose.h) */
    bool is_trace;            /* index has found a packet that it understands */
    struct texts *texts;      /* the table of texts that events share; NULL: there is none */
    uint64_t done, all;       /* how much has been handed out, and of how much; in any unit */
    struct weft_event *batch; /* WEFT_BATCH of them: where the next events go */
    struct read_ahead *ahead; /* another thread decodes (ahead.h); or NULL */
    struct weft_event own_batch[WEFT_BATCH];
};

/* Gives the event a text of at most size bytes, which ends at its first NUL. */
static inline void read_set_text(struct weft_event *ev, const char *text, uint32_t size)
{
    ev->text = text;
    ev->text_size = text ? (uint32_t)strnlen(text, size) : 0;
}

/* Returns true if a text of that size is the wanted one. */
static inline bool read_is_text(const char *text, size_t size, const char *wanted)
{
    return size == strlen(wanted) && !memcmp(text, wanted, size);
}

/* Like weft_reader_open; the reader takes over in, also on failure. seen: what was handed out before; or NULL. Returns 0
 * or a negative WEFT_E code; *out is then NULL. */
int read_open(struct weft_reader **out, struct weft_input *in, struct read_seen *seen,
              struct weft_error *err);

/* A part of a trace, on the clock of its events. */
struct read_bounds {
    uint64_t begin_ns; /* of the first event of the whole */
    uint64_t from_ns, to_ns;
    struct weft_part part; /* as the facts say it */
};

/* The same for what lies within these bounds; part: only its stream and promise matter, and they choose nothing yet. */
int read_open_within(struct weft_reader **out, struct weft_input *in,
                     const struct read_bounds *bounds, struct weft_error *err);

/* The file says that it is such a part; formats call it before they put their packets in order. */
void read_is_part(struct weft_reader *r, const struct read_bounds *bounds);

/* Takes over what the reader reads from. */
static inline void read_take_input(struct weft_reader *r, struct weft_input *in)
{
    *in = r->input;
    r->input.fd = -1;
}

/* A stream's number, by its index. */
static inline uint64_t read_stream_number(const struct weft_reader *r, uint32_t stream)
{
    return stream < r->facts.streams && r->facts.stream ? r->facts.stream[stream].number : stream;
}

/* Something comes behind to_ns: at that time the trace is as if it had been copied then. */
void read_cut_off(struct weft_reader *r);

/* weft_reader_next and weft_reader_progress, without another thread. */
ptrdiff_t read_reader_fill(struct weft_reader *r, struct weft_error *err);
double read_reader_share(const struct weft_reader *r);

/* The same with another thread, while there is one (r->ahead); ahead.c. */
ptrdiff_t read_ahead_next(struct read_ahead *a, const struct weft_event **events,
                          struct weft_error *err);
double read_ahead_progress(const struct read_ahead *a);

#define FORMAT(name) extern const struct weft_reader_format read_##name##_format;
#include "read/formats.def"

/* Counts a problem at that offset of the file, and stores its text if it is one of the first. */
void read_reader_problem(struct weft_reader *r, uint64_t offset, uint64_t skipped_bytes,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));
