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

#include "format/tsdl.h"
#include "write/mirage.h"

#define METADATA "metadata"
#define STREAM_NAME_SIZE 24
#define FAR_NS (UINT64_C(1) << 62)

struct stream {
    FILE *file; /* NULL: no event yet */
    struct weft_mirage_writer *writer;
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

static int write_metadata(struct weft_ctf_writer *w, struct weft_error *err)
{
    FILE *file;
    int rc = create_file(&file, w->fd, METADATA, err);
    if (rc < 0)
        return rc;
    w->made_metadata = true;
    weft_tsdl_write_mirage(file);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return io_error(err, METADATA " cannot be written");
    return 0;
}

int weft_ctf_writer_open(struct weft_ctf_writer **out, const char *folder, struct weft_error *err)
{
    *out = NULL;
    struct weft_ctf_writer *w = calloc(1, sizeof *w);
    int rc = WEFT_E_NOMEM;
    if (!w)
        return weft_error_set(err, rc, WEFT_NO_OFFSET, "out of memory");
    w->fd = -1;
    w->folder = strdup(folder);
    if (!w->folder)
        rc = weft_error_set(err, rc, WEFT_NO_OFFSET, "out of memory");
    else
        rc = open_folder(w, err);
    if (rc == 0)
        rc = write_metadata(w, err);
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

static int open_stream(struct weft_ctf_writer *w, uint32_t stream, struct weft_error *err)
{
    if (stream >= w->streams) {
        struct stream *grown = realloc(w->stream, ((size_t)stream + 1) * sizeof *grown);
        if (!grown)
            return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
        memset(grown + w->streams, 0, (stream + 1 - w->streams) * sizeof *grown);
        w->stream = grown;
        w->streams = stream + 1;
    }
    struct stream *s = &w->stream[stream];
    char name[STREAM_NAME_SIZE];
    stream_name(name, stream);
    int rc = create_file(&s->file, w->fd, name, err);
    if (rc < 0)
        return rc;
    s->made = true;
    return weft_mirage_writer_open(&s->writer, s->file, NULL, err);
}

int weft_ctf_writer_append(struct weft_ctf_writer *w, uint32_t stream, const struct weft_event *ev,
                           struct weft_error *err)
{
    int rc;
    if ((stream >= w->streams || !w->stream[stream].file) && (rc = open_stream(w, stream, err)) < 0)
        return rc;
    if (!w->begun && ev->time_ns >= FAR_NS)
        w->base_ns = ev->time_ns;
    w->begun = true;
    struct stream *s = &w->stream[stream];
    struct weft_event sound = *ev;
    sound.time_ns -= w->base_ns;
    if (ev->time_ns < w->base_ns || sound.time_ns < s->last_ns || sound.time_ns > INT64_MAX) {
        sound.time_ns = s->last_ns;
        w->moved++;
    }
    s->last_ns = sound.time_ns;
    return weft_mirage_writer_append(s->writer, &sound, err);
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
    if (w->streams == 0) /* a folder without a stream is no trace to babeltrace2 */
        rc = open_stream(w, 0, err);
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
