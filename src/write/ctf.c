/* SPDX-License-Identifier: ISC */
#include "write/ctf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "write/ctf_packet.h"
#include "write/mirage.h"

#define METADATA "metadata"
#define STREAM_NAME_SIZE 24
#define FAR_NS (UINT64_C(1) << 62)

#define PACKET_BYTES (1u << 20)         /* when it holds as much, it is written */
#define HELD_BYTES (UINT64_C(64) << 20) /* by all streams together: then all are written */

/* A stream in mirage's layout has a file and a writer. One in weft's layout has a packet, whose bytes are
 * appended to the file now and then: there may be more threads than files can be open. */
struct stream {
    FILE *file; /* NULL: no event yet */
    struct weft_mirage_writer *writer;
    struct weft_ctf_packet packet;
    uint64_t last_ns;
    bool made; /* the file is ours to remove */
};

struct weft_ctf_writer {
    char *folder;
    int fd; /* of the folder: what is created in it stays there, whatever happens to its path */
    bool made_folder, made_metadata;
    struct stream *stream;
    uint32_t streams;
    uint64_t base_ns; /* what all times are relative to */
    bool begun;       /* base_ns is set */
    bool weft;        /* layout: weft's, not mirage's */
    uint64_t held;    /* bytes in packets */
    uint64_t moved;
};

static int io_error(struct weft_error *err, const char *what)
{
    int code = errno == ENOMEM ? WEFT_E_NOMEM : WEFT_E_IO;
    return weft_error_set(err, code, WEFT_NO_OFFSET, "%s: %s", what, strerror(errno));
}

static int check_empty(int folder, struct weft_error *err)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        int rc = io_error(err, "cannot be read");
        if (fd >= 0)
            close(fd);
        return rc;
    }
    const struct dirent *entry;
    int rc = 0;
    while (rc == 0 && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                                "is a folder that is not empty; give a new one");
    closedir(dir);
    return rc;
}

static int open_folder(struct weft_ctf_writer *w, struct weft_error *err)
{
    w->made_folder = mkdir(w->folder, 0777) == 0;
    if (!w->made_folder && errno != EEXIST)
        return io_error(err, "cannot be created");
    w->fd = open(w->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w->fd < 0 && errno == ENOTDIR)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "exists and is not a folder; CTF wants a folder");
    if (w->fd < 0)
        return io_error(err, "cannot be opened");
    return w->made_folder ? 0 : check_empty(w->fd, err);
}

static int create_file(FILE **file, int folder, const char *name, struct weft_error *err)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (*file)
        return 0;
    int rc = io_error(err, name);
    if (fd >= 0)
        close(fd);
    return rc;
}

static int write_metadata(struct weft_ctf_writer *w, const struct weft_tsdl_trace *trace,
                          struct weft_error *err)
{
    FILE *file;
    int rc = create_file(&file, w->fd, METADATA, err);
    if (rc < 0)
        return rc;
    w->made_metadata = true;
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
    w->fd = -1;
    w->weft = trace != NULL;
    w->folder = strdup(folder);
    if (!w->folder)
        rc = weft_error_set(err, rc, WEFT_NO_OFFSET, "out of memory");
    else
        rc = open_folder(w, err);
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
    struct stream *grown = realloc(w->stream, ((size_t)stream + 1) * sizeof *grown);
    if (!grown)
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
    memset(grown + w->streams, 0, (stream + 1 - w->streams) * sizeof *grown);
    w->stream = grown;
    w->streams = stream + 1;
    return 0;
}

static int open_stream(struct weft_ctf_writer *w, uint32_t stream, struct weft_error *err)
{
    int rc = reserve(w, stream, err);
    if (rc < 0)
        return rc;
    struct stream *s = &w->stream[stream];
    char name[STREAM_NAME_SIZE];
    stream_name(name, stream);
    rc = create_file(&s->file, w->fd, name, err);
    if (rc < 0)
        return rc;
    s->made = true;
    return weft_mirage_writer_open(&s->writer, s->file, NULL, err);
}

/* Appends the stream's packet to its file. */
static int write_packet(struct weft_ctf_writer *w, uint32_t stream, struct weft_error *err)
{
    struct stream *s = &w->stream[stream];
    struct weft_ctf_packet *p = &s->packet;
    char name[STREAM_NAME_SIZE];
    stream_name(name, stream);
    w->held -= p->used;
    int rc = weft__ctf_packet_end(p, stream, err);
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
    weft__ctf_packet_clear(p);
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

static int append_weft(struct weft_ctf_writer *w, const struct weft_event *ev,
                       struct weft_error *err)
{
    struct weft_ctf_packet *p = &w->stream[ev->stream].packet;
    size_t before = p->used;
    int rc = weft__ctf_packet_append(p, ev, err);
    w->held += p->used - before;
    if (rc == 0 && p->used >= PACKET_BYTES)
        rc = write_packet(w, ev->stream, err);
    if (rc == 0 && w->held >= HELD_BYTES)
        rc = write_held(w, err);
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
    if (rc == 0 && !w->weft && !w->stream[ev->stream].file)
        rc = open_stream(w, ev->stream, err);
    if (rc < 0)
        return rc;
    if (!w->begun && ev->time_ns >= FAR_NS)
        w->base_ns = ev->time_ns;
    w->begun = true;
    struct stream *s = &w->stream[ev->stream];
    struct weft_event sound = *ev;
    sound.time_ns -= w->base_ns;
    if (ev->time_ns < w->base_ns || sound.time_ns < s->last_ns || sound.time_ns > INT64_MAX) {
        sound.time_ns = s->last_ns;
        w->moved++;
    }
    s->last_ns = sound.time_ns;
    return w->weft ? append_weft(w, &sound, err)
                   : weft_mirage_writer_append(s->writer, &sound, err);
}

uint64_t weft_ctf_writer_moved(const struct weft_ctf_writer *w)
{
    return w->moved;
}

/* Removes what was created, unless it is to be kept, and frees w. */
static void release(struct weft_ctf_writer *w, bool keep)
{
    char name[STREAM_NAME_SIZE];
    for (uint32_t i = 0; i < w->streams; i++) {
        struct stream *s = &w->stream[i];
        weft_mirage_writer_abandon(s->writer);
        weft__ctf_packet_clear(&s->packet);
        if (s->file)
            fclose(s->file);
        stream_name(name, i);
        if (s->made && !keep)
            unlinkat(w->fd, name, 0);
    }
    if (w->made_metadata && !keep)
        unlinkat(w->fd, METADATA, 0);
    if (w->made_folder && !keep)
        rmdir(w->folder);
    if (w->fd >= 0)
        close(w->fd);
    free(w->stream);
    free(w->folder);
    free(w);
}

static int close_stream(struct stream *s, struct weft_error *err)
{
    int rc = weft_mirage_writer_close(s->writer, err);
    s->writer = NULL;
    FILE *file = s->file;
    s->file = NULL;
    if (fclose(file) != 0 && rc == 0)
        rc = io_error(err, "cannot be written");
    return rc;
}

int weft_ctf_writer_close(struct weft_ctf_writer *w, struct weft_error *err)
{
    int rc = 0;
    if (w->streams == 0) { /* a folder without a stream is no trace to babeltrace2 */
        rc = w->weft ? reserve(w, 0, err) : open_stream(w, 0, err);
        if (w->weft && rc == 0)
            rc = write_packet(w, 0, err);
    }
    if (rc == 0)
        rc = write_held(w, err);
    for (uint32_t i = 0; rc == 0 && i < w->streams; i++)
        if (w->stream[i].file)
            rc = close_stream(&w->stream[i], err);
    release(w, rc == 0);
    return rc;
}

void weft_ctf_writer_abandon(struct weft_ctf_writer *w)
{
    if (w)
        release(w, false);
}
