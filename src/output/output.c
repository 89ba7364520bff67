/* SPDX-License-Identifier: ISC */
#include "output/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "read/alive.h"
#include "read/reader.h"

#define SUFFIX ".XXXXXX"

static int io_error(struct weft_error *err, const char *what)
{
    const int code = errno == ENOMEM ? WEFT_E_NOMEM : WEFT_E_IO;
    return weft_error_set(err, code, WEFT_NO_OFFSET, "%s: %s", what, strerror(errno));
}

static int refuse(struct weft_error *err, const char *what)
{
    return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET, "%s", what);
}

/* ---- What a signal that ends the process must remove ---- */

#define SIGNALS 4
static const int signals[SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static struct sigaction before_ours[SIGNALS];
static struct sigaction
    file_limit; /* SIGXFSZ: a limit on the size of files is an error like a full disk */

/* Written while signals are blocked. */
static const char *unfinished;
static bool is_folder;

/* What the system call returns. */
struct entry {
    uint64_t inode, next;
    unsigned short size;
    unsigned char type;
    char name[];
};

/* Removes a folder and the files in it, also in a signal's handler: no stdio, no malloc. */
static void remove_folder(const char *path)
{
    static _Alignas(struct entry) char list[32768];
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    for (bool removed = true; fd >= 0 && removed;) {
        removed = false;
        lseek(fd, 0, SEEK_SET);
        for (long n; (n = syscall(SYS_getdents64, fd, list, sizeof list)) > 0;)
            for (long at = 0; at < n;) {
                const struct entry *e = (const void *)(list + at);
                removed |= unlinkat(fd, e->name, 0) == 0;
                at += e->size;
            }
    }
    if (fd >= 0)
        close(fd);
    rmdir(path);
}

static void on_signal(int number)
{
    if (is_folder)
        remove_folder(unfinished);
    else
        unlink(unfinished);
    for (unsigned i = 0; i < SIGNALS; i++)
        if (signals[i] == number)
            sigaction(number, &before_ours[i], NULL);
    raise(number); /* delivered when this returns */
}

/* Blocks signals from here on, so that what is created is registered before a signal can end the process. */
static void hold_signals(sigset_t *before)
{
    sigset_t wait;
    sigemptyset(&wait);
    for (unsigned i = 0; i < SIGNALS; i++)
        sigaddset(&wait, signals[i]);
    sigprocmask(SIG_BLOCK, &wait, before);
}

/* Registers path, of a file or of a folder with files, until it is forgotten, and unblocks signals. NULL: nothing was
 * created. */
static void keep_track(const char *path, bool folder, const sigset_t *before)
{
    struct sigaction ours = {.sa_handler = on_signal};
    sigfillset(&ours.sa_mask);
    unfinished = path;
    is_folder = folder;
    for (unsigned i = 0; path && i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before_ours[i]) == 0 &&
            before_ours[i].sa_handler != SIG_IGN) /* nohup */
            sigaction(signals[i], &ours, NULL);
    if (path)
        sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, &file_limit);
    sigprocmask(SIG_SETMASK, before, NULL);
}

/* ---- What is at the place of an output ---- */

enum stands { NO_TRACE, LIVE, TRACE, MIRAGE, SAMPLES };

bool weft_output_is_recorded(int fd, uint32_t *pid)
{
    struct weft_facts_header facts;
    if (!weft_facts_read(fd, &facts))
        return false;
    *pid = facts.pid;
    if (facts.state != WEFT_TRACE_RECORDING)
        return false;
    if (flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return true;
    flock(fd, LOCK_UN);
    return weft_facts_alive(&facts);
}

/* Uses its first bytes only, which works even if nothing else of it can be read. */
static enum stands by_head(int fd)
{
    struct weft_packet_header h = {0};
    static const char perf[] = "PERFILE2";
    ssize_t n = pread(fd, &h, sizeof h, 0);
    if (n >= (ssize_t)strlen(perf) && memcmp(&h, perf, strlen(perf)) == 0)
        return SAMPLES;
    if (n < (ssize_t)sizeof h.magic || h.magic != WEFT_PACKET_MAGIC)
        return NO_TRACE;
    return n == sizeof h && h.signature == WEFT_PACKET_SIGNATURE ? TRACE : MIRAGE;
}

static enum stands what_stands(int fd, uint32_t *pid)
{
    char name[32];
    struct weft_reader *reader;
    struct weft_error err;
    if (weft_output_is_recorded(fd, pid))
        return LIVE;
    enum stands found = by_head(fd);
    if (found != NO_TRACE)
        return found;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (weft_reader_open(&reader, name, &err) <
        0) /* a trace may begin further on: a ring that wrapped around, or a dump */
        return NO_TRACE;
    found = weft_reader_facts(reader)->quirks.mirage_kinds ? MIRAGE : TRACE;
    weft_reader_close(reader);
    return found;
}

/* ---- The rule ---- */

static int stat_source(const char *name, struct stat *st)
{
    return strcmp(name, "-") == 0 ? fstat(STDIN_FILENO, st) : stat(name, st);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool weft_output_is_stdout(const char *source)
{
    struct stat st, out;
    return fstat(STDOUT_FILENO, &out) == 0 && S_ISREG(out.st_mode) &&
           stat_source(source, &st) == 0 && is_same(&st, &out);
}

/* Checks that the rule allows overwriting the file; name: a name by which it can be opened. Returns 0 or a negative
 * WEFT_E code. */
static int check_place(const char *name, const struct stat *st, const struct weft_output_options *o,
                       struct weft_error *err)
{
    struct stat source;
    uint32_t pid = 0;
    for (unsigned i = 0; i < o->sources; i++)
        if (stat_source(o->source[i], &source) == 0 && is_same(&source, st))
            return refuse(err, "is the source itself; give another name");
    if (st->st_size == 0)
        return 0;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "is there, and cannot be read to see whether it is a trace (%s); "
                              "give another name, or remove it first",
                              strerror(errno));
    enum stands found = what_stands(fd, &pid);
    close(fd);
    if (found == LIVE)
        return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                              "is being recorded by process %" PRIu32 "; give another name", pid);
    if (found == NO_TRACE || o->kind == WEFT_OUTPUT_TRACE ||
        (o->kind == WEFT_OUTPUT_MIRAGE && found == MIRAGE))
        return 0;
    return refuse(err,
                  found == SAMPLES
                      ? "is a recording of perf's, which is left alone; give another name, or "
                        "remove it first"
                      : "is a trace, which is left alone; give another name, or remove it first");
}

/* ---- Who may read it ---- */

static bool has_acl(const char *name)
{
    return getxattr(name, "system.posix_acl_access", NULL, 0) > 0;
}

/* The part of a file's mode that still applies if its group is different, or if the group's rights
 * are set elsewhere. */
static mode_t without_group(mode_t mode)
{
    const mode_t all = mode >> 3 & mode & 07;
    return (mode & 0700) | all << 3 | all;
}

/* The mode for an output, an open file or folder, that replaces the file before; NULL: there is none. */
static mode_t mode_for(int fd, const struct stat *before, const struct weft_output_options *o)
{
    const mode_t mask = umask(0);
    char own[32];
    struct stat st;
    mode_t mode = 0666 & ~mask;
    umask(mask);
    snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    if (fstat(fd, &st) < 0)
        return 0600;
    if (has_acl(own))
        mode = without_group(mode & 0606);
    const gid_t group = st.st_gid;
    for (unsigned i = 0; i < o->sources; i++) {
        if (stat_source(o->source[i], &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink == 0)
            return mode & 0600 & (before ? before->st_mode : 0600);
        const char *name = strcmp(o->source[i], "-") == 0 ? "/dev/stdin" : o->source[i];
        mode &=
            0600 | (st.st_gid == group && !has_acl(name) ? st.st_mode : without_group(st.st_mode));
    }
    if (before)
        mode &= before->st_gid == group ? before->st_mode : without_group(before->st_mode);
    return mode;
}

/* ---- Names ---- */

/* If path is another name of a descriptor, like /dev/stdout or /dev/fd/5: that descriptor; otherwise -1. */
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
    char *out;
    return asprintf(&out, "%.*s" SUFFIX, (int)size, path) < 0 ? NULL : out;
}

/* Nothing has to be removed any more. */
static void fini(struct weft_output *out)
{
    for (unsigned i = 0; unfinished && i < SIGNALS; i++)
        sigaction(signals[i], &before_ours[i], NULL);
    if (unfinished)
        sigaction(SIGXFSZ, &file_limit, NULL);
    unfinished = NULL;
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
        rc = check_place(name, &st, &out->options, err);
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

/* When root writes, the file keeps its owner, except in places where everybody can put a file for root to fill. */
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
        return io_error(err, "cannot be created");
    hold_signals(&signals);
    const int fd = mkostemp(out->temporary, O_CLOEXEC);
    int rc = fd < 0 ? io_error(err, "cannot be created") : 0;
    keep_track(fd < 0 ? NULL : out->temporary, false, &signals);
    if (fd < 0)
        return rc;
    if (before)
        set_owner(fd, before, out->target);
    fchmod(fd, mode_for(fd, before, &out->options));
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
        return refuse(err, "is a folder; give the name of a file");
    if (exists && !S_ISREG(st.st_mode)) {
        out->file = fopen(path, "we");
        return out->file ? 0 : io_error(err, "cannot be opened");
    }
    TRY(exists ? check_place(path, &st, &out->options, err) : 0);
    /* If path is a symbolic link, the file that it leads to, so that renaming does not replace the link. */
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

static int check_empty(const char *path, const char *except, struct weft_error *err)
{
    DIR *dir = opendir(path);
    const struct dirent *e;
    bool found = false;
    if (!dir)
        return io_error(err, "cannot be read");
    while (!found && (e = readdir(dir)))
        found = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
                !(except && strcmp(e->d_name, except) == 0);
    closedir(dir);
    return found ? refuse(err, "is a folder that is not empty; give a new one") : 0;
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
        return refuse(err, "is there, and is not a folder; give the name of a new folder");
    TRY(out->inside ? check_empty(out->target, NULL, err) : 0);
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
        hold_signals(&signals);
        out->folder = mkdtemp(out->temporary);
        if (!out->folder)
            rc = io_error(err, "cannot be created");
        keep_track(out->folder, true, &signals);
    }
    if (rc < 0)
        fini(out);
    return rc;
}

/* ---- Closing ---- */

/* Sets the modes of the files in the temporary folder, and one for the folder with which they can be found. */
static int set_modes(const struct weft_output *out, struct weft_error *err)
{
    DIR *dir = opendir(out->temporary);
    if (!dir)
        return io_error(err, "cannot be read");
    const mode_t mode = mode_for(dirfd(dir), NULL, &out->options);
    const struct dirent *e;
    int rc = 0;
    while (rc == 0 && (e = readdir(dir)))
        if (e->d_name[0] != '.' && fchmodat(dirfd(dir), e->d_name, mode, 0) < 0)
            rc = io_error(err, "cannot be written");
    fchmod(dirfd(dir), mode | (mode & 0444) >> 2);
    closedir(dir);
    return rc;
}

/* Moves the files up into the folder, which was empty. The folder itself is kept, since it may belong to somebody else,
 * be a mount point, or be the working directory of a shell. The file that shows that there is a trace comes last. */
static int move_up(struct weft_output *out, struct weft_error *err)
{
    struct dirent **list;
    int rc = check_empty(out->target, strrchr(out->temporary, '/') + 1, err);
    if (rc < 0)
        return rc;
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

static int close_folder(struct weft_output *out, bool keep, struct weft_error *err)
{
    sigset_t signals;
    hold_signals(&signals);
    int rc = keep ? set_modes(out, err) : 0;
    if (keep && rc == 0 && out->inside)
        rc = move_up(out, err);
    else if (keep && rc == 0 && rename(out->temporary, out->target) < 0)
        rc = io_error(err, "cannot be created");
    if (!keep || rc < 0 || out->inside)
        remove_folder(out->temporary);
    fini(out);
    sigprocmask(SIG_SETMASK, &signals, NULL);
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
        struct stat st;
        hold_signals(&signals);
        /* What is there may have changed in the meantime. */
        if (keep && rc == 0 && stat(out->target, &st) == 0 && S_ISREG(st.st_mode))
            rc = check_place(out->target, &st, &out->options, err);
        if (keep && rc == 0 && rename(out->temporary, out->target) < 0)
            rc = io_error(err, "cannot be created");
        if (!keep || rc < 0)
            unlink(out->temporary);
        fini(out);
        sigprocmask(SIG_SETMASK, &signals, NULL);
    } else {
        fini(out);
    }
    return rc;
}
