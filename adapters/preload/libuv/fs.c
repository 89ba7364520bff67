/* SPDX-License-Identifier: ISC */
/* Files: each operation is a promise of its own, "open /etc/hosts", whether it has a callback or not. */
#include <stdio.h>

#include "requests.h"

static void on_fs(uv_fs_t *request)
{
    const ssize_t result = request->result;
    REQUEST_ENDS(uv_fs_cb, request, result < 0 ? (int)result : 0, request)
}

static char *put_path(char text[ADAPTER_TEXT], const char *what, const char *path)
{
    snprintf(text, ADAPTER_TEXT, "%s%s%.220s", what, path ? " " : "", path ? path : "");
    return text;
}

static char *put_file(char text[ADAPTER_TEXT], const char *what, uv_file file)
{
    char name[ADAPTER_TEXT];
    return put_path(text, what, adapter_descriptor(name, file));
}

/* detail: an expression; the last argument: the names of these parameters */
#define FS(what, detail, parameters, ...)                                                          \
    REQUEST_OR_CALL(uv_fs_##what,                                                                  \
                    (uv_loop_t * loop, uv_fs_t * request, EACH parameters, uv_fs_cb callback),     \
                    on_fs, "fs", detail, loop, request, __VA_ARGS__, callback)
#define EACH(...) __VA_ARGS__
#define PATH(what, parameters, ...) FS(what, put_path(text, #what, path), parameters, __VA_ARGS__)
#define OPEN(what, parameters, ...) FS(what, put_file(text, #what, file), parameters, __VA_ARGS__)
#define DIRECTORY(what, parameters, ...)                                                           \
    FS(what, put_path(text, #what, NULL), parameters, __VA_ARGS__)

OPEN(close, (uv_file file), file)
PATH(open, (const char *path, int flags, int mode), path, flags, mode)
OPEN(read, (uv_file file, const uv_buf_t buffers[], unsigned count, int64_t offset), file, buffers,
     count, offset)
PATH(unlink, (const char *path), path)
OPEN(write, (uv_file file, const uv_buf_t buffers[], unsigned count, int64_t offset), file, buffers,
     count, offset)
PATH(copyfile, (const char *path, const char *to, int flags), path, to, flags)
PATH(mkdir, (const char *path, int mode), path, mode)
PATH(mkdtemp, (const char *path), path)
PATH(mkstemp, (const char *path), path)
PATH(rmdir, (const char *path), path)
PATH(scandir, (const char *path, int flags), path, flags)
PATH(opendir, (const char *path), path)
DIRECTORY(readdir, (uv_dir_t * dir), dir)
DIRECTORY(closedir, (uv_dir_t * dir), dir)
PATH(stat, (const char *path), path)
OPEN(fstat, (uv_file file), file)
PATH(rename, (const char *path, const char *to), path, to)
OPEN(fsync, (uv_file file), file)
OPEN(fdatasync, (uv_file file), file)
OPEN(ftruncate, (uv_file file, int64_t size), file, size)
OPEN(sendfile, (uv_file to, uv_file file, int64_t offset, size_t size), to, file, offset, size)
PATH(access, (const char *path, int mode), path, mode)
PATH(chmod, (const char *path, int mode), path, mode)
PATH(utime, (const char *path, double accessed, double modified), path, accessed, modified)
OPEN(futime, (uv_file file, double accessed, double modified), file, accessed, modified)
PATH(lutime, (const char *path, double accessed, double modified), path, accessed, modified)
PATH(lstat, (const char *path), path)
PATH(link, (const char *path, const char *to), path, to)
PATH(symlink, (const char *path, const char *to, int flags), path, to, flags)
PATH(readlink, (const char *path), path)
PATH(realpath, (const char *path), path)
OPEN(fchmod, (uv_file file, int mode), file, mode)
PATH(chown, (const char *path, uv_uid_t user, uv_gid_t group), path, user, group)
OPEN(fchown, (uv_file file, uv_uid_t user, uv_gid_t group), file, user, group)
PATH(lchown, (const char *path, uv_uid_t user, uv_gid_t group), path, user, group)
PATH(statfs, (const char *path), path)
