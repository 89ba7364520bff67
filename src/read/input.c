/* SPDX-License-Identifier: ISC */
#include "read/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef WEFT_HAS_ZSTD
#include "read/columns.h"
#include "read/unpack.h"
#endif

/* Copies all of fd into anonymous memory, which can be read at any offset. */
static int spool(struct weft_input *in, int fd, struct weft_error *err)
{
    char block[65536];
    in->fd = memfd_create("weft-input", MFD_CLOEXEC);
    if (in->fd < 0)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "no room to hold it: %s",
                              strerror(errno));
    for (;;) {
        ssize_t got = read(fd, block, sizeof block);
        if (got == 0)
            return 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return weft_error_set(err, WEFT_E_IO, in->size, "cannot be read: %s", strerror(errno));
        for (ssize_t done = 0; done < got;) {
            ssize_t put = write(in->fd, block + done, (size_t)(got - done));
            if (put < 0 && errno == EINTR)
                continue;
            if (put < 0)
                return weft_error_set(err, WEFT_E_NOMEM, in->size, "no room to hold it: %s",
                                      strerror(errno));
            done += put;
        }
        in->size += (uint64_t)got;
    }
}

static int adopt(struct weft_input *in, int fd, const char *path, struct weft_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "%s", strerror(errno));
    if (S_ISDIR(st.st_mode))
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "is a directory; a trace is one file");
    if (S_ISREG(st.st_mode)) {
        /* Make our own descriptor: others also use the offset of standard input. */
        in->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (in->fd < 0)
            return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "%s", strerror(errno));
        in->size = (uint64_t)st.st_size;
        return 0;
    }
    if (S_ISBLK(st.st_mode) || (S_ISCHR(st.st_mode) && strcmp(path, "-") != 0))
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "is a device; a trace is a file");
    if (isatty(fd))
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "is a terminal; give a file, or pipe a trace into it");
    return spool(in, fd, err);
}

int weft_input_open(struct weft_input *in, const char *path, struct weft_error *err)
{
    *in = (struct weft_input){.fd = -1};
    bool from_stdin = strcmp(path, "-") == 0;
    int fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be opened: %s",
                              strerror(errno));
    int rc = adopt(in, fd, path, err);
#ifdef WEFT_HAS_ZSTD
    if (rc == 0)
        rc = read_unpack(in, err);
    if (rc == 0)
        rc = read_columns_open(in, err);
#endif
    if (rc == 0)
        rc = read_core_open(in, err);
    if (!from_stdin)
        close(fd);
    if (rc < 0)
        weft_input_close(in);
    return rc;
}

void weft_input_close(struct weft_input *in)
{
    if (in->fd >= 0)
        close(in->fd);
    in->fd = -1;
    in->copy = NULL;
    in->memory = NULL;
}

uint64_t weft_input_hole(const struct weft_input *in, uint64_t offset)
{
    const off_t hole = in->copy ? -1 : lseek(in->fd, (off_t)offset, SEEK_HOLE);
    return hole < (off_t)offset || (uint64_t)hole > in->size ? in->size : (uint64_t)hole;
}

uint64_t weft_input_data(const struct weft_input *in, uint64_t offset)
{
    const off_t data = in->copy ? (off_t)offset : lseek(in->fd, (off_t)offset, SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? in->size : offset;
    return (uint64_t)data > offset ? (uint64_t)data : offset;
}

ptrdiff_t weft_input_read(const struct weft_input *in, void *buffer, size_t size, uint64_t offset,
                          struct weft_error *err)
{
    const uint64_t left = offset < in->size ? in->size - offset : 0;
    size_t done = 0;
    size = size < left ? size : (size_t)left;
    if (in->copy)
        done = size ? in->copy(in->memory, buffer, size, offset) : 0;
    while (!in->copy && done < size) {
        ssize_t got = pread(in->fd, (char *)buffer + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return weft_error_set(err, WEFT_E_IO, offset + done, "cannot be read: %s",
                                  strerror(errno));
        if (got == 0) /* truncated since it was opened */
            break;
        done += (size_t)got;
    }
    __atomic_thread_fence(
        __ATOMIC_ACQUIRE); /* if the file is being written to, the next read sees newer data */
    return (ptrdiff_t)done;
}
