/* SPDX-License-Identifier: ISC */
/* A copy is made first, as fast as that goes, since the ring goes on; then it is compressed into a file without a name,
 * which gets its name when it is complete: link does not replace anything. Where the file system cannot do that, the file
 * has a name with .part behind it until then; those that somebody was killed over are removed (they are locked while they
 * are written). */
#include "watch/keep.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/count.h"
#include "read/snapshot.h"
#include "watch/pack.h"

#define ENDING ".weft.zst"
#define TEXT ".txt"
#define PART ".part"

enum {
    PROGRAM_MOST = 40, /* bytes in a name */
    REASON_MOST = 80,
    LISTED_MAX = 1 << 16, /* files in a folder that are looked at */
    COPIES_MAX = 10000,   /* of the same millisecond */
};

#define IN_MEMORY_MOST (UINT64_C(256) << 20)

static int failed(struct weft_error *err, const char *what)
{
    return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "%s: %s", what, strerror(errno));
}

/* ---- Names ---- */

/* Letters, digits and single dashes for anything else. Returns the end. */
static char *put_slug(char *at, size_t most, const char *text)
{
    char *const begin = at;
    for (; *text && (size_t)(at - begin) < most; text++) {
        const bool plain = isascii(*text) && (isalnum(*text) || *text == '_' || *text == '.');
        if (plain && !(*text == '.' && at == begin))
            *at++ = *text;
        else if (at > begin && at[-1] != '-')
            *at++ = '-';
    }
    while (at > begin && (at[-1] == '-' || at[-1] == '.'))
        at--;
    *at = 0;
    return at;
}

void watch_keep_name(char name[NAME_MAX + 1], const char *program, uint32_t pid, uint64_t real_ns,
                     const char *reason, unsigned copy)
{
    char own[PROGRAM_MOST + 1], why[REASON_MOST + 1], again[16] = "", when[40];
    const time_t seconds = (time_t)(real_ns / 1000000000);
    struct tm tm = {0};
    gmtime_r(&seconds, &tm);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &tm);
    put_slug(own, PROGRAM_MOST, program);
    put_slug(why, REASON_MOST, reason);
    if (copy)
        snprintf(again, sizeof again, "-%u", copy + 1);
    snprintf(name, NAME_MAX + 1, "%s-%" PRIu32 "-%s.%03uZ-%s%s" ENDING, *own ? own : "program", pid,
             when, (unsigned)(real_ns / 1000000 % 1000), *why ? why : "reason", again);
}

static bool has_ending(const char *name, const char *ending)
{
    const size_t n = strlen(name), e = strlen(ending);
    return n > e && strcmp(name + n - e, ending) == 0;
}

/* "-4711-2026-11-27T18:03:05.123Z-", with a digit for each 0. */
static bool has_time(const char *at)
{
    static const char form[] = "-0000-00-00T00:00:00.000Z-";
    if (*at++ != '-' || !isdigit((unsigned char)*at))
        return false;
    while (isdigit((unsigned char)*at))
        at++;
    for (const char *f = form; *f; f++, at++)
        if (*f == '0' ? !isdigit((unsigned char)*at) : *f != *at)
            return false;
    return true;
}

bool watch_keep_is_name(const char *name)
{
    if (!has_ending(name, ENDING) || *name == '.' || *name == '-')
        return false;
    for (const char *at = name; *at; at++)
        if (*at == '/' || !isascii(*at))
            return false;
    for (const char *at = name; *at; at++)
        if (has_time(at))
            return true;
    return false;
}

/* ---- What is there ---- */

struct file {
    char *name;
    uint64_t number, bytes; /* with its text */
};

struct list {
    struct file *file;
    uint32_t files, room;
    uint64_t bytes;
};

static void free_list(struct list *l)
{
    for (uint32_t i = 0; i < l->files; i++)
        free(l->file[i].name);
    free(l->file);
}

static uint64_t size_of(int folder, const char *name)
{
    struct stat st;
    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode)
               ? (uint64_t)st.st_size
               : 0;
}

/* Removes what nobody writes any more. */
static void drop_part(int folder, const char *name)
{
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(folder, name, 0);
    if (fd >= 0)
        close(fd);
}

static bool is_part(const char *name)
{
    char whole[NAME_MAX + 1];
    if (!has_ending(name, PART))
        return false;
    snprintf(whole, sizeof whole, "%.*s", (int)(strlen(name) - strlen(PART)), name);
    if (has_ending(whole, TEXT))
        whole[strlen(whole) - strlen(TEXT)] = 0;
    return watch_keep_is_name(whole);
}

/* Adds a file if it is one of ours. Returns false if there is no memory. */
static bool add_file(struct list *l, int folder, const char *name)
{
    char text[NAME_MAX + sizeof TEXT];
    if (is_part(name))
        drop_part(folder, name);
    if (!watch_keep_is_name(name))
        return true;
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const uint64_t number = fd < 0 ? 0 : watch_pack_number(fd);
    if (fd >= 0)
        close(fd);
    if (!number)
        return true;
    char *own = weft_reserve(&l->file, l->files, &l->room, sizeof *l->file) ? strdup(name) : NULL;
    if (!own)
        return false;
    snprintf(text, sizeof text, "%s" TEXT, name);
    const uint64_t bytes = size_of(folder, name) + size_of(folder, text);
    l->file[l->files++] = (struct file){own, number, bytes};
    l->bytes += bytes;
    return true;
}

static int by_number(const void *a, const void *b)
{
    const struct file *x = a, *y = b;
    return x->number != y->number ? x->number < y->number ? -1 : 1 : strcmp(x->name, y->name);
}

/* The kept files, the oldest first. */
static void list_files(struct list *l, int folder)
{
    const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = own < 0 ? NULL : fdopendir(own);
    const struct dirent *entry;
    *l = (struct list){0};
    for (unsigned i = 0; dir && i < LISTED_MAX && (entry = readdir(dir)); i++)
        if (!add_file(l, folder, entry->d_name))
            break;
    if (dir)
        closedir(dir);
    else if (own >= 0)
        close(own);
    if (l->files)
        qsort(l->file, l->files, sizeof *l->file, by_number);
}

static unsigned make_room(const struct watch_folder *f, int folder, const struct list *l,
                          uint32_t files, uint64_t bytes)
{
    uint32_t i = 0;
    uint64_t there = l->bytes;
    for (;
         i < l->files && ((uint64_t)(l->files - i) + files > f->files_most ||
                          there > f->bytes_most - (bytes < f->bytes_most ? bytes : f->bytes_most));
         i++) {
        char text[NAME_MAX + sizeof TEXT];
        snprintf(text, sizeof text, "%s" TEXT, l->file[i].name);
        unlinkat(folder, l->file[i].name, 0);
        unlinkat(folder, text, 0);
        there -= l->file[i].bytes;
    }
    return i;
}

unsigned watch_keep_make_room(const struct watch_folder *f, uint32_t files, uint64_t bytes)
{
    struct list l;
    const int folder = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return 0;
    list_files(&l, folder);
    const unsigned removed = make_room(f, folder, &l, files, bytes);
    free_list(&l);
    close(folder);
    return removed;
}

/* ---- Writing ---- */

/* Creates the folders of a path that are not there. */
static int open_folder(const char *path, struct weft_error *err)
{
    char part[PATH_MAX];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part || !*path)
        return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                              "the name is too long, or empty");
    for (char *slash = part + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        mkdir(part, 0755);
    }
    if (mkdir(part, 0700) < 0 && errno != EEXIST)
        return failed(err, "cannot be created");
    const int fd = open(part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? failed(err, "cannot be opened") : fd;
}

/* Copies the trace as it is now: into memory, which is fast and does not need the disk that may be full, or into an
 * unnamed file. Returns 0 or a negative WEFT_E code. */
static int copy(struct weft_input *out, const struct weft_input *in, struct weft_error *err)
{
    struct weft_snapshot *s = NULL;
    struct stat st;
    *out = (struct weft_input){.fd = -1};
    int rc = weft_snapshot_begin(&s, in, err);
    if (rc <= 0)
        return rc < 0 ? rc
                      : weft_error_set(err, WEFT_E_FORMAT, WEFT_NO_OFFSET, "has no trace any more");
    if (in->size <= IN_MEMORY_MOST)
        out->fd = memfd_create("weft-kept", MFD_CLOEXEC);
    if (out->fd < 0)
        out->fd = weft_snapshot_room(err);
    rc = out->fd < 0 ? out->fd : weft_snapshot_to_fd(s, out->fd, err);
    if (rc == 0 && fstat(out->fd, &st) == 0)
        out->size = (uint64_t)st.st_size;
    weft_snapshot_free(s);
    if (rc < 0)
        weft_input_close(out);
    return rc;
}

/* A file in the folder that is not complete yet. part: its name; "": it has none. */
static int open_part(int folder, const char *name, char part[NAME_MAX + 1], struct weft_error *err)
{
    int fd = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    *part = 0;
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT))
        return fd < 0 ? failed(err, "cannot be created") : fd;
    snprintf(part, NAME_MAX + 1, "%.*s" PART, (int)(NAME_MAX - strlen(PART)), name);
    fd = openat(folder, part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return failed(err, "cannot be created");
    flock(fd, LOCK_EX | LOCK_NB);
    return fd;
}

/* Gives the file its name, if nothing has that. */
static bool link_part(int folder, int fd, const char *part, const char *name)
{
    char own[32];
    snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    if (!*part)
        return linkat(AT_FDCWD, own, folder, name, AT_SYMLINK_FOLLOW) == 0;
    if (linkat(folder, part, folder, name, 0) == 0 && unlinkat(folder, part, 0) == 0)
        return true;
    return errno != EEXIST && faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
           renameat(folder, part, folder, name) == 0;
}

static int finish(int folder, int fd, const char *part, const struct watch_subject *s,
                  struct watch_kept *out, struct weft_error *err)
{
    for (unsigned i = 0; i < COPIES_MAX; i++) {
        watch_keep_name(out->name, s->program, s->pid, s->real_ns, s->reason, i);
        if (link_part(folder, fd, part, out->name))
            return 0;
        if (errno != EEXIST)
            break;
    }
    return failed(err, "cannot be named");
}

static int write_file(const struct watch_folder *f, int folder, const struct weft_input *from,
                      const struct watch_subject *s, struct watch_kept *out, struct weft_error *err)
{
    struct list l;
    char part[NAME_MAX + 1];
    list_files(&l, folder);
    watch_keep_name(out->name, s->program, s->pid, s->real_ns, s->reason, 0);
    const uint64_t number = l.files ? l.file[l.files - 1].number + 1 : 1;
    int fd = open_part(folder, out->name, part, err);
    int rc = fd < 0 ? fd : watch_pack(from, fd, number ? number : UINT64_MAX, &out->bytes, err);
    if (rc == 0 && out->bytes > f->bytes_most)
        rc = weft_error_set(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                            "would be %s large, more than all together may be (--max-bytes)",
                            weft_size(out->bytes).text);
    if (rc == 0) {
        out->removed = make_room(f, folder, &l, 1, out->bytes);
        rc = finish(folder, fd, part, s, out, err);
    }
    if (rc < 0 && *part)
        unlinkat(folder, part, 0);
    if (fd >= 0)
        close(fd);
    free_list(&l);
    return rc;
}

int watch_keep(const struct watch_folder *f, const struct weft_input *in,
               const struct watch_subject *s, struct watch_kept *out, struct weft_error *err)
{
    struct weft_input from = {.fd = -1};
    struct stat st;
    *out = (struct watch_kept){0};
    int rc = copy(&from, in, err), folder = -1;
    if (rc == 0 && s->add) {
        s->add(s->data, from.fd);
        from.size = fstat(from.fd, &st) == 0 ? (uint64_t)st.st_size : from.size;
    }
    if (rc == 0)
        rc = folder = open_folder(f->path, err);
    if (rc >= 0)
        rc = write_file(f, folder, &from, s, out, err);
    out->source_bytes = from.size;
    if (folder >= 0)
        close(folder);
    weft_input_close(&from);
    return rc;
}
