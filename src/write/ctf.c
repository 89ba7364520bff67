/* SPDX-License-Identifier: ISC */
#include "write/ctf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "write/ctf_packet.h"

#define METADATA "metadata"
#define STREAM_NAME_SIZE 24
#define FAR_NS (UINT64_C(1) << 62)

#define PACKET_BYTES (1u << 20)         /* a packet with this much is written */
#define HELD_BYTES (UINT64_C(64) << 20) /* by all streams together: then all are written */

/* A packet's bytes are appended to the file now and then. A reader has all files open at once (1024 may be, mostly),
 * and file systems take seconds for a hundred thousand. So the streams from this one on share its file, in which a
 * packet begins whenever another thread records: a packet says whose it is. */
enum { SHARED = 500 };

struct stream {
    struct weft_ctf_packet packet;
    uint64_t last_ns;
    bool made; /* the file */
};

struct weft_ctf_writer {
    int fd; /* of the folder: what is created in it stays there, whatever happens to its path */
    struct stream *stream;
    uint32_t streams, stream_room;
    struct stream shared; /* as many, in one file */
    uint32_t shared_by;   /* whose its packet is */
    FILE *shared_file;
    uint64_t base_ns; /* what all times are relative to */
    bool begun;       /* base_ns is set */
    bool mirage;      /* the layout of packets */
    uint64_t held;    /* bytes in packets */
    uint64_t moved;
};

static int io_error(struct weft_error *err, const char *what)
{
    int code = errno == ENOMEM ? WEFT_E_NOMEM : WEFT_E_IO;
    return weft_error_set(err, code, WEFT_NO_OFFSET, "%s: %s", what, strerror(errno));
}

static int create(struct weft_ctf_writer *w, const char *name, FILE **out, struct weft_error *err)
{
    int fd = openat(w->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    *out = fd < 0 ? NULL : fdopen(fd, "w");
    int rc = *out ? 0 : io_error(err, name);
    if (!*out && fd >= 0)
        close(fd);
    return rc;
}

static int write_metadata(struct weft_ctf_writer *w, const struct weft_tsdl_trace *trace,
                          struct weft_error *err)
{
    FILE *file;
    int rc = create(w, METADATA, &file, err);
    if (rc < 0)
        return rc;
    if (trace)
        weft_tsdl_write_weft(file, trace);
    else
        weft_tsdl_write_mirage(file);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return io_error(err, METADATA " cannot be written");
    return 0;
}

int weft_ctf_writer_open(struct weft_ctf_writer **out, const char *folder,
                         const struct weft_tsdl_trace *trace, struct weft_error *err)
{
    *out = NULL;
    struct weft_ctf_writer *w = calloc(1, sizeof *w);
    int rc = WEFT_E_NOMEM;
    if (!w)
        return weft_error_set(err, rc, WEFT_NO_OFFSET, "out of memory");
    w->mirage = trace == NULL;
    w->shared.packet.mirage = w->mirage;
    w->fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    rc = w->fd < 0 ? io_error(err, "cannot be opened") : 0;
    if (rc == 0)
        rc = write_metadata(w, trace, err);
    if (rc < 0)
        weft_ctf_writer_abandon(w);
    else
        *out = w;
    return rc;
}

static void stream_name(char name[STREAM_NAME_SIZE], uint32_t stream)
{
    snprintf(name, STREAM_NAME_SIZE, "stream_%u", stream);
}

/* Makes room for a stream in the table. */
static int reserve(struct weft_ctf_writer *w, uint32_t stream, struct weft_error *err)
{
    if (stream < w->streams)
        return 0;
    if (!weft_reserve_all(&w->stream, (uint64_t)stream + 1, &w->stream_room, sizeof *w->stream))
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
    for (; w->streams <= stream; w->streams++)
        w->stream[w->streams] = (struct stream){.packet = {.mirage = w->mirage}};
    return 0;
}

/* Appends the stream's packet to its file. */
static int write_packet(struct weft_ctf_writer *w, uint32_t stream, struct weft_error *err)
{
    struct stream *s = &w->stream[stream];
    struct weft_ctf_packet *p = &s->packet;
    char name[STREAM_NAME_SIZE];
    stream_name(name, stream);
    w->held -= p->used;
    int rc = write_ctf_packet_end(p, stream, err);
    if (rc < 0)
        return rc;
    int fd = openat(w->fd, name,
                    O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | (s->made ? 0 : O_CREAT | O_EXCL),
                    0666);
    s->made |= fd >= 0;
    ssize_t n = fd < 0 ? -1 : 0;
    for (size_t done = 0; n >= 0 && done < p->used; done += (size_t)n) {
        n = write(fd, p->bytes + done, p->used - done);
        if (n < 0 && errno == EINTR)
            n = 0;
    }
    if (n < 0)
        rc = io_error(err, "cannot be written");
    if (fd >= 0 && close(fd) < 0 && rc == 0)
        rc = io_error(err, "cannot be written");
    write_ctf_packet_clear(p);
    return rc;
}

/* As above, for the streams that have no file of their own. */
static int write_shared(struct weft_ctf_writer *w, struct weft_error *err)
{
    struct weft_ctf_packet *p = &w->shared.packet;
    char name[STREAM_NAME_SIZE];
    stream_name(name, SHARED);
    w->held -= p->used;
    int rc = write_ctf_packet_end(p, SHARED, err);
    if (rc == 0 && !w->shared_file)
        rc = create(w, name, &w->shared_file, err);
    if (rc == 0 && fwrite(p->bytes, p->used, 1, w->shared_file) != 1)
        rc = io_error(err, "cannot be written");
    write_ctf_packet_clear(p);
    return rc;
}

/* Sets *out to where an event of the stream goes. */
static int find_stream(struct weft_ctf_writer *w, uint32_t stream, struct stream **out,
                       struct weft_error *err)
{
    *out = &w->stream[stream];
    if (stream < SHARED)
        return 0;
    const struct weft_ctf_packet *own = &(*out)->packet;
    struct weft_ctf_packet *p = &w->shared.packet;
    int rc = p->used && w->shared_by != stream ? write_shared(w, err) : 0;
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
            rc = write_packet(w, i, err);
    return rc;
}

int weft_ctf_writer_thread(struct weft_ctf_writer *w, uint32_t stream, uint32_t thread,
                           const char *name, struct weft_error *err)
{
    int rc = reserve(w, stream, err);
    if (rc < 0)
        return rc;
    struct weft_ctf_packet *p = &w->stream[stream].packet;
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
    rc = find_stream(w, ev->stream, &s, err);
    if (rc < 0)
        return rc;
    struct weft_event sound = *ev;
    sound.time_ns -= w->base_ns;
    if (ev->time_ns < w->base_ns || sound.time_ns < s->last_ns || sound.time_ns > INT64_MAX) {
        sound.time_ns = s->last_ns;
        w->moved++;
    }
    s->last_ns = sound.time_ns;
    size_t before = s->packet.used;
    rc = write_ctf_packet_append(&s->packet, &sound, err);
    w->held += s->packet.used - before;
    if (rc == 0 && s->packet.used >= PACKET_BYTES)
        rc = s == &w->shared ? write_shared(w, err) : write_packet(w, ev->stream, err);
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
        write_ctf_packet_clear(&w->stream[i].packet);
    write_ctf_packet_clear(&w->shared.packet);
    if (w->shared_file)
        fclose(w->shared_file);
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
            rc = write_packet(w, 0, err);
    }
    if (rc == 0)
        rc = write_held(w, err);
    if (rc == 0 && w->shared.packet.used)
        rc = write_shared(w, err);
    if (w->shared_file && fclose(w->shared_file) != 0 && rc == 0)
        rc = io_error(err, "cannot be written");
    w->shared_file = NULL;
    weft_ctf_writer_abandon(w);
    return rc;
}
