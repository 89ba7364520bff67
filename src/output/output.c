/* SPDX-License-Identifier: ISC */
#include "output/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/place.h"
#include "output/unfinished.h"

#define SUFFIX ".XXXXXX"

static int io_error(struct weft_error *err, const char *what)
{
    const int code = errno == ENOMEM ? WEFT_E_NOMEM : WEFT_E_IO;
    return weft_error_set(err, code, WEFT_NO_OFFSET, "%s: %s", what, strerror(errno));
}

/* ---- Names ---- */

/* If path is another name of a descriptor, like /dev/stdout or /dev/fd/5: that descriptor;
 * otherwise -1. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (unsigned i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t n = strlen(folders[i]);
        char *end;
        if (strncmp(path, folders[i], n) != 0 || path[n] < '0' || path[n] > '9')
            continue;
        const long fd = strtol(path + n, &end, 10);
        return *end || fd > INT_MAX ? -1 : (int)fd;
    }
    return -1;
}

/* A name next to path, for mkstemp and mkdtemp. It may be as long as names can be. */
static char *name_beside(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const size_t most = NAME_MAX - strlen(SUFFIX), length = strlen(name);
    const size_t size = (size_t)(name - path) + (length < most ? length : most);
    char *out = malloc(size + sizeof SUFFIX);
    if (out) {
        memcpy(out, path, size);
        memcpy(out + size, SUFFIX, sizeof SUFFIX);
    }
    return out;
}

static void fini(struct weft_output *out)
{
    output_unfinished_forget();
    free(out->temporary);
    free(out->target);
    *out = (struct weft_output){0};
}

/* ---- Opening ---- */

/* Standard output, or another descriptor. */
static int open_descriptor(struct weft_output *out, int fd, struct weft_error *err)
{
    struct stat st;
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int rc = fstat(fd, &st) < 0 ? io_error(err, "cannot be opened") : 0;
    if (rc == 0 && S_ISREG(st.st_mode))
        rc = output_place_check(name, &st, &out->options, err);
    if (rc < 0)
        return rc;
    int copy = fd == STDOUT_FILENO ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
    out->file = fd == STDOUT_FILENO ? stdout : copy < 0 ? NULL : fdopen(copy, "w");
    if (!out->file)
        rc = io_error(err, "cannot be opened");
    if (!out->file && copy >= 0)
        close(copy);
    return rc;
}

/* When root writes, the file keeps its owner, except in places where everybody can put a file for
 * root to fill. */
static void set_owner(int fd, const struct stat *before, const char *target)
{
    char *folder = strdup(target), *slash = folder ? strrchr(folder, '/') : NULL;
    struct stat st;
    if (slash)
        slash[1] = 0;
    if (folder && stat(slash ? folder : ".", &st) == 0 &&
        (geteuid() != 0 || st.st_mode & S_ISVTX || fchown(fd, before->st_uid, before->st_gid) < 0))
        (void)!fchown(fd, (uid_t)-1,
                      before->st_gid); /* others can do this, too, if it is one of their groups */
    free(folder);
}

static int open_temporary(struct weft_output *out, const struct stat *before,
                          struct weft_error *err)
{
    sigset_t signals;
    out->temporary = name_beside(out->target);
    if (!out->temporary)
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
    output_unfinished_hold(&signals);
    int fd = mkostemp(out->temporary, O_CLOEXEC), rc = 0;
    if (fd < 0)
        rc = io_error(err, "cannot be created");
    output_unfinished_keep(fd < 0 ? NULL : out->temporary, false, &signals);
    if (fd < 0)
        return rc;
    if (before)
        set_owner(fd, before, out->target);
    fchmod(fd, output_place_mode(fd, before, &out->options));
    out->file = fdopen(fd, "w");
    if (out->file)
        return 0;
    rc = io_error(err, "cannot be created");
    close(fd);
    unlink(out->temporary);
    return rc;
}

/* Opens what is not a regular file, or makes a temporary one for it. */
static int open_path(struct weft_output *out, const char *path, struct weft_error *err)
{
    struct stat st;
    const bool exists = stat(path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                              "is a folder; give the name of a file");
    if (exists && !S_ISREG(st.st_mode)) {
        out->file = fopen(path, "we");
        return out->file ? 0 : io_error(err, "cannot be opened");
    }
    int rc = exists ? output_place_check(path, &st, &out->options, err) : 0;
    if (rc < 0)
        return rc;
    /* If path is a symbolic link, the file that it leads to, so that renaming does not replace the
     * link. */
    out->target = exists ? realpath(path, NULL) : strdup(path);
    return out->target ? open_temporary(out, exists ? &st : NULL, err)
                       : io_error(err, "cannot be created");
}

int weft_output_open(struct weft_output *out, const char *path,
                     const struct weft_output_options *options, struct weft_error *err)
{
    const int fd = descriptor_of(path);
    *out = (struct weft_output){.options = *options};
    int rc = fd >= 0 ? open_descriptor(out, fd, err) : open_path(out, path, err);
    if (rc < 0)
        fini(out);
    return rc;
}

/* ---- Folders ---- */

/* Returns 0, 1 if the folder is not empty, or a negative WEFT_E code. */
static int has_entries(const char *path, const char *except, struct weft_error *err)
{
    DIR *dir = opendir(path);
    const struct dirent *e;
    int found = 0;
    if (!dir)
        return io_error(err, "cannot be read");
    while (!found && (e = readdir(dir)))
        found = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
                !(except && strcmp(e->d_name, except) == 0);
    closedir(dir);
    return found;
}

static int not_empty(struct weft_error *err)
{
    return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                          "is a folder that is not empty; give a new one");
}

static const char *last_part(const char *path)
{
    return strrchr(path, '/') + 1;
}

/* Sets the folder's final path, without slashes at its end, and the name of the temporary one. */
static int name_folder(struct weft_output *out, const char *path, struct weft_error *err)
{
    struct stat st;
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    out->target = strndup(path, size);
    if (!out->target)
        return io_error(err, "cannot be created");
    out->inside = stat(out->target, &st) == 0;
    if (out->inside && !S_ISDIR(st.st_mode))
        return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                              "is there, and is not a folder; give the name of a new folder");
    int rc = out->inside ? has_entries(out->target, NULL, err) : 0;
    if (rc != 0)
        return rc < 0 ? rc : not_empty(err);
    if (!out->inside)
        out->temporary = name_beside(out->target);
    else if (asprintf(&out->temporary, "%s/unfinished" SUFFIX, out->target) < 0)
        out->temporary = NULL;
    return out->temporary ? 0 : io_error(err, "cannot be created");
}

int weft_output_open_folder(struct weft_output *out, const char *path,
                            const struct weft_output_options *options, struct weft_error *err)
{
    sigset_t signals;
    *out = (struct weft_output){.options = *options};
    int rc = name_folder(out, path, err);
    if (rc == 0) {
        output_unfinished_hold(&signals);
        out->folder = mkdtemp(out->temporary);
        if (!out->folder)
            rc = io_error(err, "cannot be created");
        output_unfinished_keep(out->folder, true, &signals);
    }
    if (rc < 0)
        fini(out);
    return rc;
}

/* ---- Closing ---- */

/* Sets the modes of the files in the temporary folder, and one for the folder with which they can
 * be found. */
static int set_modes(const struct weft_output *out, struct weft_error *err)
{
    DIR *dir = opendir(out->temporary);
    if (!dir)
        return io_error(err, "cannot be read");
    const mode_t mode = output_place_mode(dirfd(dir), NULL, &out->options);
    const struct dirent *e;
    int rc = 0;
    while (rc == 0 && (e = readdir(dir)))
        if (e->d_name[0] != '.' && fchmodat(dirfd(dir), e->d_name, mode, 0) < 0)
            rc = io_error(err, "cannot be written");
    fchmod(dirfd(dir), mode | (mode & 0444) >> 2);
    closedir(dir);
    return rc;
}

/* Moves the files up into the folder, which was empty. The folder itself is kept, since it may
 * belong to somebody else, be a mount point, or be the working directory of a shell. The file that
 * shows that there is a trace comes last. */
static int move_up(struct weft_output *out, struct weft_error *err)
{
    struct dirent **list;
    int rc = has_entries(out->target, last_part(out->temporary), err);
    if (rc != 0)
        return rc < 0 ? rc : not_empty(err);
    const int n = scandir(out->temporary, &list, NULL, alphasort);
    const int from = open(out->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int to = open(out->target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int moved = n;
    if (n < 0 || from < 0 || to < 0)
        rc = io_error(err, "cannot be written");
    while (rc == 0 && moved > 0) {
        const char *name = list[moved - 1]->d_name;
        if (name[0] != '.' && renameat(from, name, to, name) < 0)
            rc = io_error(err, "cannot be written");
        moved -= rc == 0;
    }
    for (int i = 0; i < n; i++) {
        if (rc < 0 && i >= moved && list[i]->d_name[0] != '.')
            unlinkat(to, list[i]->d_name, 0);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    return rc;
}

static int place_folder(struct weft_output *out, struct weft_error *err)
{
    int rc = set_modes(out, err);
    if (rc < 0)
        return rc;
    if (out->inside)
        return move_up(out, err);
    return rename(out->temporary, out->target) == 0 ? 0 : io_error(err, "cannot be created");
}

static int close_folder(struct weft_output *out, bool keep, struct weft_error *err)
{
    sigset_t signals;
    output_unfinished_hold(&signals);
    int rc = keep ? place_folder(out, err) : 0;
    if (!keep || rc < 0 || out->inside)
        output_folder_remove(out->temporary);
    fini(out);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    return rc;
}

/* Check again what is there, since it may have changed in the meantime. */
static int place_file(struct weft_output *out, struct weft_error *err)
{
    struct stat st;
    int rc = stat(out->target, &st) == 0 && S_ISREG(st.st_mode)
                 ? output_place_check(out->target, &st, &out->options, err)
                 : 0;
    if (rc == 0 && rename(out->temporary, out->target) < 0)
        rc = io_error(err, "cannot be created");
    return rc;
}

int weft_output_close(struct weft_output *out, bool keep, struct weft_error *err)
{
    int rc = 0;
    if (out->folder)
        return close_folder(out, keep, err);
    if (out->file == stdout) {
        if (!keep) {
            __fpurge(stdout);
            clearerr(stdout);
        }
        fini(out);
        return 0;
    }
    const bool failed = ferror(out->file) != 0;
    errno = 0;
    if ((fclose(out->file) != 0 || failed) && keep)
        rc = errno ? io_error(err, "cannot be written")
                   : weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be written");
    if (out->temporary) {
        sigset_t signals;
        output_unfinished_hold(&signals);
        if (keep && rc == 0)
            rc = place_file(out, err);
        if (!keep || rc < 0)
            unlink(out->temporary);
        fini(out);
        sigprocmask(SIG_SETMASK, &signals, NULL);
    } else {
        fini(out);
    }
    return rc;
}
