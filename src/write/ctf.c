/* SPDX-License-Identifier: ISC */
#include "write/ctf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "format/bytes.h"
#include "format/mirage.h"
#include "format/tsdl.h"

/* ---- Packets ---- */

/* A packet while it is being filled, in the layout that weft_tsdl_write_weft or weft_tsdl_write_mirage describes. */
struct packet {
    unsigned char *bytes; /* NULL: empty */
    size_t used;
    uint32_t room;
    uint64_t begin_ns, end_ns;
    uint64_t number;      /* of the packet in its stream */
    bool mirage;          /* the layout is mirage's: no thread */
    uint32_t thread;      /* the system's number for it */
    char thread_name[16]; /* padded with zeros */
};

/* In mirage's layout a header has neither thread nor name. */
static size_t header_size(const struct packet *p)
{
    enum { COMMON = 4 + 6 * 8 };
    return COMMON + (p->mirage ? 0 : 4 + strnlen(p->thread_name, sizeof p->thread_name) + 1);
}

static int reserve_in(struct packet *p, size_t more, struct weft_error *err)
{
    const size_t used = p->used ? p->used : header_size(p);
    if (!weft_reserve_all(&p->bytes, used + more, &p->room, 1))
        return weft_no_memory(err);
    p->used = used;
    return 0;
}

static void put_u8(struct packet *p, uint8_t v)
{
    p->bytes[p->used++] = v;
}

static void put_u32(struct packet *p, uint32_t v)
{
    weft_write_u32(p->bytes + p->used, v);
    p->used += sizeof v;
}

static void put_u64(struct packet *p, uint64_t v)
{
    weft_write_u64(p->bytes + p->used, v);
    p->used += sizeof v;
}

static void put_text(struct packet *p, const char *text, size_t size)
{
    if (size)
        memcpy(p->bytes + p->used, text, size);
    p->used += size;
    put_u8(p, 0);
}

static void put_word(struct packet *p, const char *word)
{
    if (*word)
        put_text(p, word, strlen(word));
}

static void put_field(struct packet *p, const struct weft_event *ev, enum weft_field field,
                      bool second, const char *type)
{
    switch (field) {
    case WEFT_FIELD_PROMISE:
        put_u64(p, second ? ev->b : ev->a);
        break;
    case WEFT_FIELD_TYPE:
        put_word(p, type);
        break;
    case WEFT_FIELD_REASON:
        put_u8(p, ev->type);
        break;
    case WEFT_FIELD_SIGNED:
    case WEFT_FIELD_DURATION:
        put_u64(p, (uint64_t)ev->value);
        break;
    case WEFT_FIELD_TEXT:
        if (ev->text_size)
            put_text(p, ev->text, ev->text_size);
        break;
    }
}

static void put_event(struct packet *p, const struct weft_event *ev, const char *type,
                      const char *file)
{
    const struct weft_event_desc *d = &weft_event_kinds[ev->kind];
    bool creates = ev->kind == WEFT_EVENT_CREATES, text = creates;
    unsigned promises = 0, left_out = 0;
    for (unsigned i = 0; i < d->fields; i++)
        text |= d->field[i].field == WEFT_FIELD_TEXT;
    left_out |= text && !ev->text_size ? WEFT_TSDL_NO_TEXT : 0;
    left_out |= creates && !*type ? WEFT_TSDL_NO_TYPE : 0;
    left_out |= creates && !*file ? WEFT_TSDL_NO_PLACE : 0;
    put_u64(p, ev->time_ns);
    put_u8(p, (uint8_t)(ev->kind | left_out << 5));
    for (unsigned i = 0; i < d->fields; i++) {
        put_field(p, ev, d->field[i].field, promises > 0, type);
        promises += d->field[i].field == WEFT_FIELD_PROMISE;
    }
    if (creates && ev->text_size)
        put_text(p, ev->text, ev->text_size);
    if (creates && *file) {
        put_word(p, file);
        put_u32(p, ev->origin->line);
    }
    if (ev->kind == WEFT_EVENT_INCREASE)
        put_u64(p, (uint64_t)ev->total);
}

_Static_assert(WEFT_EVENT_KINDS <= 32, "what is left out has three bits of a class's number");

#define FIXED_MAX 128 /* an event without its texts */

static int append_weft(struct packet *p, const struct weft_event *ev, struct weft_error *err)
{
    /* mirage's types have numbers; weft's own are texts already. */
    const char *type = ev->origin ? ev->origin->type : weft_type_name(ev->type);
    const char *file = ev->origin && ev->origin->file ? ev->origin->file : "";
    char number[16];
    if (!type) {
        snprintf(number, sizeof number, "type-%u", ev->type);
        type = number;
    }
    int rc = reserve_in(p, FIXED_MAX + ev->text_size + strlen(type) + strlen(file), err);
    if (rc == 0)
        put_event(p, ev, type, file);
    return rc;
}

static int append_mirage(struct packet *p, const struct weft_event *ev, struct weft_error *err)
{
    if (ev->kind >= WEFT_EVENT_KINDS || !weft_event_kinds[ev->kind].in_mirage)
        return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                              "mirage-profile's format has no event %s",
                              ev->kind < WEFT_EVENT_KINDS ? weft_event_kinds[ev->kind].name : "");
    int rc = reserve_in(p, weft_event_size(ev), err);
    if (rc == 0)
        p->used += weft_event_encode(p->bytes + p->used, ev);
    return rc;
}

/* Adds an event; events must be in order of time. Returns 0, WEFT_E_INVALID for a kind that the layout lacks, or
 * WEFT_E_NOMEM. */
static int append_to_packet(struct packet *p, const struct weft_event *ev, struct weft_error *err)
{
    bool first = !p->used;
    TRY(p->mirage ? append_mirage(p, ev, err) : append_weft(p, ev, err));
    if (first)
        p->begin_ns = ev->time_ns;
    p->end_ns = ev->time_ns;
    return 0;
}

/* Completes the header; an empty packet has one, too. Returns 0 or WEFT_E_NOMEM. */
static int end_packet(struct packet *p, uint32_t stream, struct weft_error *err)
{
    TRY(reserve_in(p, 0, err));
    const size_t used = p->used;
    p->used = 0;
    put_u32(p, WEFT_CTF_MAGIC);
    put_u64(p, stream);
    put_u64(p, used * 8); /* the packet, in bits */
    put_u64(p, used * 8); /* its content */
    put_u64(p, p->begin_ns);
    put_u64(p, p->end_ns);
    put_u64(p, p->number);
    if (!p->mirage) {
        put_u32(p, p->thread);
        put_text(p, p->thread_name, strnlen(p->thread_name, sizeof p->thread_name));
    }
    p->used = used;
    return 0;
}

/* Empties it; events added afterwards go into the stream's next packet. */
static void clear_packet(struct packet *p)
{
    free(p->bytes);
    p->bytes = NULL;
    p->used = 0;
    p->room = 0;
    p->number++;
}

/* ---- Streams ---- */

#define FAR_NS (UINT64_C(1) << 62)

#define PACKET_BYTES (1u << 20)         /* a packet with this much is written */
#define HELD_BYTES (UINT64_C(64) << 20) /* by all streams together: then all are written */

/* A packet's bytes are appended to the file now and then. A reader has all files open at once (1024 may be, mostly),
 * and file systems take seconds for a hundred thousand. So the streams from this one on share its file, in which a
 * packet begins whenever another thread records: a packet says whose it is. */
enum { SHARED = 500 };

struct stream {
    struct packet packet;
    uint64_t last_ns;
    bool made;  /* the file */
    FILE *file; /* NULL: not open */
};

struct weft_ctf_writer {
    int fd; /* of the folder: what is created in it stays there, whatever happens to its path */
    struct stream *stream;
    uint32_t streams, stream_room;
    struct stream shared; /* as many, in one file */
    uint32_t shared_by;   /* whose its packet is */
    uint64_t base_ns;     /* what all times are relative to */
    bool begun;           /* base_ns is set */
    bool mirage;          /* the layout of packets */
    uint64_t held;        /* bytes in packets */
    uint64_t moved;
};

static int io_error(struct weft_error *err, const char *what)
{
    int code = errno == ENOMEM ? WEFT_E_NOMEM : WEFT_E_IO;
    return weft_error_set(err, code, WEFT_NO_OFFSET, "%s: %s", what, strerror(errno));
}

/* NULL: errno says why. */
static FILE *open_in(const struct weft_ctf_writer *w, const char *name, int how)
{
    int fd = openat(w->fd, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | how, 0666);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file && fd >= 0)
        close(fd);
    return file;
}

static int write_metadata(struct weft_ctf_writer *w, const struct weft_tsdl_trace *trace,
                          struct weft_error *err)
{
    FILE *file = open_in(w, "metadata", O_CREAT | O_EXCL);
    if (!file)
        return io_error(err, "metadata");
    if (trace)
        weft_tsdl_write_weft(file, trace);
    else
        weft_tsdl_write_mirage(file);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return io_error(err, "metadata cannot be written");
    return 0;
}

int weft_ctf_writer_open(struct weft_ctf_writer **out, const char *folder,
                         const struct weft_tsdl_trace *trace, struct weft_error *err)
{
    *out = NULL;
    struct weft_ctf_writer *w = calloc(1, sizeof *w);
    if (!w)
        return weft_no_memory(err);
    w->mirage = trace == NULL;
    w->shared.packet.mirage = w->mirage;
    w->fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = w->fd < 0 ? io_error(err, "cannot be opened") : 0;
    if (rc == 0)
        rc = write_metadata(w, trace, err);
    if (rc < 0)
        weft_ctf_writer_abandon(w);
    else
        *out = w;
    return rc;
}

/* Makes room for a stream in the table. */
static int reserve(struct weft_ctf_writer *w, uint32_t stream, struct weft_error *err)
{
    if (stream < w->streams)
        return 0;
    if (!weft_reserve_all(&w->stream, (uint64_t)stream + 1, &w->stream_room, sizeof *w->stream))
        return weft_no_memory(err);
    for (; w->streams <= stream; w->streams++)
        w->stream[w->streams] = (struct stream){.packet = {.mirage = w->mirage}};
    return 0;
}

/* Appends a stream's packet to its file. Only that of the shared streams, whose packets are small, stays open. */
static int write_packet(struct weft_ctf_writer *w, struct stream *s, uint32_t number,
                        struct weft_error *err)
{
    struct packet *p = &s->packet;
    char name[24];
    snprintf(name, sizeof name, "stream_%u", number);
    w->held -= p->used;
    int rc = end_packet(p, number, err);
    if (rc < 0)
        return rc;
    if (!s->file)
        s->file = open_in(w, name, s->made ? O_APPEND : O_CREAT | O_EXCL);
    s->made |= s->file != NULL;
    bool ok = s->file && fwrite(p->bytes, p->used, 1, s->file) == 1;
    if (s->file && s != &w->shared) {
        ok = fclose(s->file) == 0 && ok;
        s->file = NULL;
    }
    if (!ok)
        rc = io_error(err, "cannot be written");
    clear_packet(p);
    return rc;
}

/* Sets *out to where an event of the stream goes. */
static int find_stream(struct weft_ctf_writer *w, uint32_t stream, struct stream **out,
                       struct weft_error *err)
{
    *out = &w->stream[stream];
    if (stream < SHARED)
        return 0;
    const struct packet *own = &(*out)->packet;
    struct packet *p = &w->shared.packet;
    int rc = p->used && w->shared_by != stream ? write_packet(w, &w->shared, SHARED, err) : 0;
    *out = &w->shared;
    w->shared_by = stream;
    p->thread = own->thread;
    memcpy(p->thread_name, own->thread_name, sizeof p->thread_name);
    return rc;
}

static int write_held(struct weft_ctf_writer *w, struct weft_error *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < w->streams; i++)
        if (w->stream[i].packet.used)
            rc = write_packet(w, &w->stream[i], i, err);
    return rc;
}

int weft_ctf_writer_thread(struct weft_ctf_writer *w, uint32_t stream, uint32_t thread,
                           const char *name, struct weft_error *err)
{
    TRY(reserve(w, stream, err));
    struct packet *p = &w->stream[stream].packet;
    p->thread = thread;
    memset(p->thread_name, 0, sizeof p->thread_name);
    memcpy(p->thread_name, name, strnlen(name, sizeof p->thread_name));
    return 0;
}

int weft_ctf_writer_append(struct weft_ctf_writer *w, const struct weft_event *ev,
                           struct weft_error *err)
{
    int rc = reserve(w, ev->stream, err);
    if (rc < 0)
        return rc;
    if (!w->begun && ev->time_ns >= FAR_NS)
        w->base_ns = ev->time_ns;
    w->begun = true;
    struct stream *s;
    TRY(find_stream(w, ev->stream, &s, err));
    struct weft_event sound = *ev;
    sound.time_ns -= w->base_ns;
    if (ev->time_ns < w->base_ns || sound.time_ns < s->last_ns || sound.time_ns > INT64_MAX) {
        sound.time_ns = s->last_ns;
        w->moved++;
    }
    s->last_ns = sound.time_ns;
    size_t before = s->packet.used;
    rc = append_to_packet(&s->packet, &sound, err);
    w->held += s->packet.used - before;
    if (rc == 0 && s->packet.used >= PACKET_BYTES)
        rc = write_packet(w, s, s == &w->shared ? SHARED : ev->stream, err);
    if (rc == 0 && w->held >= HELD_BYTES)
        rc = write_held(w, err);
    return rc;
}

uint64_t weft_ctf_writer_moved(const struct weft_ctf_writer *w)
{
    return w->moved;
}

void weft_ctf_writer_abandon(struct weft_ctf_writer *w)
{
    if (!w)
        return;
    for (uint32_t i = 0; i < w->streams; i++)
        clear_packet(&w->stream[i].packet);
    clear_packet(&w->shared.packet);
    if (w->shared.file)
        fclose(w->shared.file);
    if (w->fd >= 0)
        close(w->fd);
    free(w->stream);
    free(w);
}

int weft_ctf_writer_close(struct weft_ctf_writer *w, struct weft_error *err)
{
    int rc = 0;
    if (w->streams == 0) { /* a folder without a stream is no trace to babeltrace2 */
        rc = reserve(w, 0, err);
        if (rc == 0)
            rc = write_packet(w, &w->stream[0], 0, err);
    }
    if (rc == 0)
        rc = write_held(w, err);
    if (rc == 0 && w->shared.packet.used)
        rc = write_packet(w, &w->shared, SHARED, err);
    if (w->shared.file && fclose(w->shared.file) != 0 && rc == 0)
        rc = io_error(err, "cannot be written");
    w->shared.file = NULL;
    weft_ctf_writer_abandon(w);
    return rc;
}
