/* SPDX-License-Identifier: ISC */
#include "read/reader.h"

#include <stdio.h>
#include <stdlib.h>

#include "format/mirage.h"
#include "read/ahead.h"
#include "read/choose.h"
#include "read/packets.h"
#include "read/texts.h"

enum { MARK_SIZE = 24, HEAD_SIZE = 256 };

void read_reader_problem(struct weft_reader *r, uint64_t offset, uint64_t skipped_bytes,
                         const char *format, ...)
{
    char text[sizeof r->damage.first[0].text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct weft_damage *d = &r->damage;
    d->skipped_bytes += skipped_bytes;
    if (d->problems < WEFT_DAMAGE_KEPT)
        weft_error_set(&d->first[d->problems], WEFT_E_FORMAT, offset, "%s", text);
    d->problems++;
}

static const struct weft_reader_format *const formats[] = {
#define FORMAT(name) &read_##name##_format,
#include "read/formats.def"
};
#define FORMATS (sizeof formats / sizeof *formats)

/* The format of files (has_packets: of packets) that begin with these bytes, or NULL. */
static const struct weft_reader_format *format_of(const unsigned char *bytes, size_t size,
                                                  bool has_packets)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->has_packets == has_packets && formats[i]->probe(bytes, size))
            return formats[i];
    return NULL;
}

static bool is_any_packet(const unsigned char *bytes)
{
    return format_of(bytes, MARK_SIZE, true);
}

/* Finds the format from the beginning of the file, or from its first packet. *format is NULL if no
 * format fits. */
static int find_format(const struct weft_input *in, const struct weft_reader_format **format,
                       struct weft_error *err)
{
    static const struct read_mark mark = {MARK_SIZE, is_any_packet};
    unsigned char head[HEAD_SIZE];
    uint64_t at = READ_NO_MARK;
    ptrdiff_t got = weft_input_read(in, head, sizeof head, 0, err);
    *format = got > 0 ? format_of(head, (size_t)got, false) : NULL;
    if (got > 0 && !*format)
        got = read_find_mark(in, &mark, 0, &at, head, err);
    if (got >= 0 && at != READ_NO_MARK)
        *format = format_of(head, MARK_SIZE, true);
    return got < 0 ? (int)got : 0;
}

/* What kind of file begins with these bytes, if that is easy to tell; otherwise NULL. */
static const char *kind_of(const unsigned char *head, size_t size)
{
    static const struct {
        const char *mark, *what;
    } marks[] = {
        {"\x7f"
         "ELF",
         "it is a program or a library (weft record runs one)"},
        {"PERFILE2", "it is perf.data, which weft profile reads"},
        {"\x1f\x8b", "it is compressed by gzip, so unpack it first"},
        {"\xfd"
         "7zXZ",
         "it is compressed by xz, so unpack it first"},
        {"\x28\xb5\x2f\xfd", "it is compressed by zstd, so unpack it first"},
        {"BZh", "it is compressed by bzip2, so unpack it first"},
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (size >= strlen(marks[i].mark) && !memcmp(head, marks[i].mark, strlen(marks[i].mark)))
            return marks[i].what;
    for (size_t i = 0; i < size; i++)
        if ((head[i] < ' ' && !strchr("\t\n\v\f\r", head[i])) || !head[i] || head[i] == 0x7f)
            return NULL;
    return "it is text";
}

/* Ends a message about a file that is not a trace with the list of what weft reads. */
static int no_format(const char *why, struct weft_error *err)
{
    char list[128] = "its own traces";
    size_t size = strlen(list);
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->whose && size < sizeof list)
            size += (size_t)snprintf(list + size, sizeof list - size, "%s %s",
                                     i + 1 < FORMATS ? "," : " and", formats[i]->whose);
    return weft_error_set(err, WEFT_E_FORMAT, 0,
                          "is not a trace: %s; weft reads %s, weft profile also perf.data and "
                          "Akaros's profiles",
                          why, list);
}

/* Reports what the file is instead of a trace. damage: what was found in it, or NULL. */
static int not_a_trace(const struct weft_input *in, const struct weft_damage *damage,
                       struct weft_error *err)
{
    unsigned char head[HEAD_SIZE] = {0};
    char begins[64];
    ptrdiff_t n = weft_input_read(in, head, sizeof head, 0, err);
    if (n < 0)
        return (int)n;
    if (n == 0)
        return weft_error_set(err, WEFT_E_FORMAT, 0, "is empty: nothing was recorded into it");
    if (in->size < WEFT_MIRAGE_HEADER_SIZE &&
        memcmp(head, WEFT_MIRAGE_MARK, n < 20 ? (size_t)n : 20) == 0)
        return weft_error_set(err, WEFT_E_FORMAT, in->size,
                              "ends in the middle of its first packet's header");
    const bool is_packet = format_of(head, (size_t)n, true);
    if (damage && damage->problems && is_packet)
        return weft_error_set(err, WEFT_E_FORMAT, damage->first[0].offset,
                              "has no packet that can be read: %.200s", damage->first[0].text);
    if (is_packet)
        return weft_error_set(err, WEFT_E_FORMAT, 0,
                              "has no packet that this version of weft can read");
    if (n >= 4 && weft_read_u32(head) == WEFT_CTF_MAGIC)
        return weft_error_set(err, WEFT_E_FORMAT, 4,
                              "is a CTF stream, but not of mirage-profile (another UUID); "
                              "try babeltrace2");
    snprintf(begins, sizeof begins, "it begins with %02x %02x %02x %02x", head[0], head[1], head[2],
             head[3]);
    const char *kind = kind_of(head, (size_t)n);
    return no_format(kind ? kind : begins, err);
}

/* Makes the reader for the file's format; the reader takes over in. */
static int make_reader(struct weft_reader **out, struct weft_input *in, struct weft_error *err)
{
    const struct weft_reader_format *format = NULL;
    int rc = find_format(in, &format, err);
    if (rc == 0 && !format)
        rc = not_a_trace(in, NULL, err);
    if (rc < 0)
        return rc;
    struct weft_reader *r = calloc(1, format->size);
    if (!r)
        return weft_no_memory(err);
    *out = r;
    r->format = format;
    r->to_ns = UINT64_MAX;
    r->batch = r->own_batch;
    r->input = *in;
    in->fd = -1;
    r->facts.format = format->name;
    r->facts.quirks = format->quirks;
    r->facts.file_bytes = r->input.size;
    return 0;
}

/* Finds the packets of a reader that was made. On failure closes it. */
static int begin_reader(struct weft_reader **out, struct weft_reader *r, struct weft_error *err)
{
    int rc = r->format->index(r, err);
    if (rc == 0 && !r->is_trace)
        rc = not_a_trace(&r->input, &r->damage, err);
    if (rc < 0)
        weft_reader_close(r);
    else
        *out = r;
    return rc;
}

int read_open(struct weft_reader **out, struct weft_input *in, struct read_seen *seen,
              struct weft_error *err)
{
    struct weft_reader *r = NULL;
    *out = NULL;
    int rc = make_reader(&r, in, err);
    weft_input_close(in);
    if (rc < 0)
        return rc;
    r->seen = seen;
    return begin_reader(out, r, err);
}

/* ---- Parts ---- */

static uint64_t later(uint64_t begin_ns, int64_t ns)
{
    if (ns < 0)
        return begin_ns > 0 - (uint64_t)ns ? begin_ns - (0 - (uint64_t)ns) : 0;
    return begin_ns + (uint64_t)ns >= begin_ns ? begin_ns + (uint64_t)ns : UINT64_MAX;
}

/* From begin_ns to that time; what does not fit becomes the largest or smallest one. */
static int64_t since(uint64_t begin_ns, uint64_t ns)
{
    if (ns < begin_ns)
        return begin_ns - ns <= INT64_MAX ? -(int64_t)(begin_ns - ns) : INT64_MIN;
    return ns - begin_ns <= INT64_MAX ? (int64_t)(ns - begin_ns) : INT64_MAX;
}

void read_is_part(struct weft_reader *r, const struct read_bounds *bounds)
{
    struct weft_reader_facts *f = &r->facts;
    const struct weft_part before = f->is_part ? f->part : (struct weft_part)WEFT_WHOLE;
    r->from_ns = bounds->from_ns > r->from_ns ? bounds->from_ns : r->from_ns;
    r->to_ns = bounds->to_ns < r->to_ns ? bounds->to_ns : r->to_ns;
    r->has_first = true;
    f->is_part = true;
    f->first_ns = bounds->begin_ns;
    f->part = (struct weft_part){
        .from_ns = r->from_ns ? since(bounds->begin_ns, r->from_ns) : INT64_MIN,
        .to_ns = r->to_ns != UINT64_MAX ? since(bounds->begin_ns, r->to_ns) : INT64_MAX,
        .stream = before.stream == WEFT_ALL_STREAMS ? bounds->part.stream : before.stream,
        .promise = before.promise == WEFT_ID_LOOP ? bounds->part.promise : before.promise,
    };
}

int read_open_within(struct weft_reader **out, struct weft_input *in,
                     const struct read_bounds *bounds, struct weft_error *err)
{
    struct weft_reader *r = NULL;
    *out = NULL;
    int rc = make_reader(&r, in, err);
    weft_input_close(in);
    if (rc < 0)
        return rc;
    read_is_part(r, bounds);
    return begin_reader(out, r, err);
}

/* Opens what lies within these bounds, and chooses what the part is about. in: closed, or taken over. */
static int open_chosen(struct weft_reader **out, struct weft_input *in, const struct read_bounds *b,
                       struct weft_error *err)
{
    struct read_choice *choice = NULL;
    const struct weft_part *part = &b->part;
    int rc = 0;
    if (!weft_part_has_all(part))
        rc = read_choice_new(&choice, in, part, b->from_ns, b->to_ns, err);
    if (rc == 0)
        rc = read_open_within(out, in, b, err);
    if (rc < 0) {
        read_choice_free(choice);
        return rc;
    }
    (*out)->choice = choice;
    (*out)->facts.promotion.lacks |= choice != NULL;
    return 0;
}

/* Returns false if both parts are about something, and not about the same. */
static bool join_parts(struct weft_part *wanted, const struct weft_part *file)
{
    if (weft_part_has_all(wanted)) {
        wanted->stream = file->stream;
        wanted->promise = file->promise;
    }
    return weft_part_has_all(file) ||
           (wanted->stream == file->stream && wanted->promise == file->promise);
}

/* Opens the whole, finds the time of its first event, then opens the part. in: closed, or taken over. */
static int open_part(struct weft_reader **out, struct weft_input *in, const struct weft_part *part,
                     struct weft_error *err)
{
    struct weft_reader *r;
    const struct weft_event *events;
    struct read_bounds b = {.part = *part, .to_ns = UINT64_MAX};
    *out = NULL;
    int rc = read_open(&r, in, NULL, err);
    for (ptrdiff_t n = 1; rc == 0 && n > 0 && !r->has_first;) {
        n = weft_reader_next(r, &events, err);
        rc = n < 0 ? (int)n : 0;
    }
    if (rc == 0) {
        b.begin_ns = r->facts.first_ns;
        b.from_ns = part->from_ns == INT64_MIN ? 0 : later(b.begin_ns, part->from_ns);
        b.to_ns = part->to_ns == INT64_MAX ? UINT64_MAX : later(b.begin_ns, part->to_ns);
        if (r->facts.is_part && !join_parts(&b.part, &r->facts.part))
            rc = weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                                "is already a part, of another stream or promise");
        else
            read_take_input(r, in);
    }
    weft_reader_close(r);
    return rc < 0 ? rc : open_chosen(out, in, &b, err);
}

int weft_reader_open_part(struct weft_reader **out, const char *path, const struct weft_part *part,
                          struct weft_error *err)
{
    struct weft_input in;
    const int rc = weft_input_open(&in, path, err);
    *out = NULL;
    return rc < 0 ? rc : open_part(out, &in, part, err);
}

int weft_reader_open(struct weft_reader **out, const char *path, struct weft_error *err)
{
    struct weft_input in;
    struct weft_reader *r;
    int rc = weft_input_open(&in, path, err);
    *out = NULL;
    if (rc == 0)
        rc = read_open(&r, &in, NULL, err);
    if (rc < 0 || !r->facts.is_part || weft_part_has_all(&r->facts.part)) {
        *out = rc < 0 ? NULL : r;
        return rc;
    }
    read_take_input(r, &in);
    weft_reader_close(r);
    return open_part(out, &in, &(struct weft_part)WEFT_WHOLE, err);
}

void read_cut_off(struct weft_reader *r)
{
    r->facts.ended = WEFT_ENDED_SAVED;
    r->facts.process.until_ns = r->to_ns;
    r->facts.process.exit.known = false;
}

void weft_reader_close(struct weft_reader *r)
{
    if (!r)
        return;
    weft_reader_stop_ahead(r);
    r->format->fini(r);
    read_choice_free(r->choice);
    weft_input_close(&r->input);
    free(r);
}

static bool is_chosen(const struct weft_reader *r, struct weft_event *ev)
{
    return !r->choice || read_choice_takes(r->choice, ev, read_stream_number(r, ev->stream));
}

/* Leaves out what does not belong to the part, for formats that do not do that themselves. Returns how many are left. */
static ptrdiff_t keep_part(struct weft_reader *r, ptrdiff_t n)
{
    ptrdiff_t kept = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        struct weft_event *ev = &r->batch[i];
        if (ev->time_ns > r->to_ns)
            read_cut_off(r);
        else if ((ev->time_ns >= r->from_ns || ev->promoted) && is_chosen(r, ev))
            r->batch[kept++] = *ev;
    }
    r->facts.outside_events += (uint64_t)(n - kept);
    return kept;
}

ptrdiff_t read_reader_fill(struct weft_reader *r, struct weft_error *err)
{
    ptrdiff_t n;
    do
        n = r->format->next(r, err);
    while (r->facts.is_part && n > 0 && (n = keep_part(r, n)) == 0);
    for (ptrdiff_t i = 0; i < n && !r->has_first; i++) {
        r->has_first = !r->batch[i].promoted;
        if (r->has_first || !r->facts.first_ns)
            r->facts.first_ns = r->batch[i].time_ns;
    }
    return n;
}

ptrdiff_t weft_reader_next(struct weft_reader *r, const struct weft_event **events,
                           struct weft_error *err)
{
    if (!r->ahead) {
        *events = r->batch;
        return read_reader_fill(r, err);
    }
    const ptrdiff_t n = read_ahead_next(r->ahead, events, err);
    if (n <= 0)
        weft_reader_stop_ahead(r);
    return n;
}

ptrdiff_t weft_reader_next_samples(struct weft_reader *r, const void **packet, uint64_t *offset,
                                   struct weft_error *err)
{
    return r->format->next_samples ? r->format->next_samples(r, packet, offset, err) : 0;
}

const struct weft_damage *weft_reader_damage(const struct weft_reader *r)
{
    return &r->damage;
}

const struct weft_reader_facts *weft_reader_facts(const struct weft_reader *r)
{
    return &r->facts;
}

void weft_reader_spans(const struct weft_reader *r, weft_span_fn *use, void *data)
{
    if (r->format->spans)
        r->format->spans(r, use, data);
}

bool weft_reader_was_overwritten(const struct weft_reader *r, uint64_t id)
{
    return r->format->was_overwritten && r->facts.promotion.complete &&
           r->format->was_overwritten(r, id);
}

void weft_reader_limit_texts(struct weft_reader *r, uint32_t bytes)
{
    if (r->texts)
        r->texts->longest = bytes;
}

uint64_t weft_reader_cut_texts(struct weft_reader *r)
{
    return r->texts ? r->texts->cut : 0;
}

int weft_reader_codes(struct weft_reader *r, weft_code_fn *use, void *data, struct weft_error *err)
{
    const struct weft_event *events;
    ptrdiff_t n = 0;
    if (r->texts && texts_codes(r->texts, use, data)) {
        r->texts->names.use = use;
        r->texts->names.data = data;
        while ((n = weft_reader_next(r, &events, err)) > 0)
            ;
    }
    return (int)n;
}

double weft_reader_progress(const struct weft_reader *r)
{
    return r->ahead ? read_ahead_progress(r->ahead) : read_reader_share(r);
}

double read_reader_share(const struct weft_reader *r)
{
    return r->done < r->all ? (double)r->done / (double)r->all : 1;
}

const char *weft_ended_name(enum weft_ended ended)
{
    static const char *const names[] = {
        [WEFT_ENDED_UNKNOWN] = "unknown", [WEFT_ENDED_STOPPED] = "stopped",
        [WEFT_ENDED_SAVED] = "saved",     [WEFT_ENDED_RUNNING] = "still running",
        [WEFT_ENDED_KILLED] = "killed",   [WEFT_ENDED_EXITED] = "exited",
    };
    return names[ended];
}
