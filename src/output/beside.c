/* SPDX-License-Identifier: ISC */
#include "output/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

char *weft_beside(const char *path, const char *suffix)
{
    char *out;
    return asprintf(&out, "%s%s", path, suffix) < 0 ? NULL : out;
}

char *weft_beside_home(const char *path, const char *suffix, const struct weft_beside_home *home,
                       bool makes, char **full)
{
    const char *base = getenv(home->variable), *below = "";
    char folder[PATH_MAX], *out = NULL;
    *full = realpath(path, NULL);
    if (!base || *base != '/') {
        base = getenv("HOME");
        below = home->usual;
    }
    if (!*full || !base || *base != '/')
        return NULL;
    const uint64_t hash = weft_hash(WEFT_HASH_BEGIN, *full, strlen(*full));
    int n = snprintf(folder, sizeof folder, "%s%s/%s", base, below, home->folder);
    if (n < 0 || (size_t)n >= sizeof folder)
        return NULL;
    for (char *slash = folder + 1; makes && slash;) {
        slash = strchr(slash, '/');
        if (slash)
            *slash = '\0';
        mkdir(folder, 0700); /* whether it is there is seen when the file is opened */
        if (slash)
            *slash++ = '/';
    }
    return asprintf(&out, "%s/%016" PRIx64 "%s", folder, hash, suffix) < 0 ? NULL : out;
}

int weft_beside_read(char **out, size_t *size, const char *file, size_t most, const char *what,
                     struct stat *st, struct weft_error *err)
{
    int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY), rc = 0;
    *out = NULL;
    *size = 0;
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (fd < 0 || fstat(fd, st) < 0)
        rc = weft_error_set(err, WEFT_E_FORMAT, WEFT_NO_OFFSET, "%s: %s", file, strerror(errno));
    else if (!S_ISREG(st->st_mode))
        rc = weft_error_set(err, WEFT_E_FORMAT, WEFT_NO_OFFSET, "%s: is not a file", file);
    else if ((uint64_t)st->st_size > most)
        rc = weft_error_set(err, WEFT_E_FORMAT, WEFT_NO_OFFSET, "%s: is too large for %s", file,
                            what);
    else if (!(*out = malloc((size_t)st->st_size + 1)))
        rc = weft_no_memory(err);
    ssize_t n = 1;
    while (rc == 0 && *size < (size_t)st->st_size && n > 0) {
        n = read(fd, *out + *size, (size_t)st->st_size - *size);
        *size += n > 0 ? (size_t)n : 0;
    }
    if (n < 0)
        rc = weft_error_set(err, WEFT_E_FORMAT, WEFT_NO_OFFSET, "%s: %s", file, strerror(errno));
    if (*out)
        (*out)[*size] = '\0';
    if (fd >= 0)
        close(fd);
    return rc;
}
