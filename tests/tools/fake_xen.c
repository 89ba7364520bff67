/* SPDX-License-Identifier: ISC */
/* Stands in for Xen's libraries in a weft of the tests: domains are folders of $FAKE_XEN. Of domain 3, 3/name, 3/state
 * ("running", "shut down", "crashed", "unknown"; no folder: gone) and what else it has in XenStore, as
 * 3/data/mprof/ring-ref, are files; 3/pages has its memory. Grant reference FIRST + n is page n. */
#include "xen/libxen.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST = 8, WAIT_MS = 10, DOMAINS = 64, VALUE_MAX = 8192 };

static char *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "re");
    char *value = f ? calloc(1, VALUE_MAX) : NULL;
    *size = value ? fread(value, 1, VALUE_MAX - 1, f) : 0;
    if (f)
        fclose(f);
    return value;
}

static char *read_value(void *context, const char *path, size_t *size)
{
    static const char root[] = "/local/domain/";
    char name[PATH_MAX];
    if (strncmp(path, root, strlen(root)) != 0) {
        errno = ENOENT;
        return NULL;
    }
    snprintf(name, sizeof name, "%s/%s", (const char *)context, path + strlen(root));
    return read_file(name, size);
}

static char **list_names(void *context, const char *path, unsigned *count)
{
    (void)path;
    DIR *dir = opendir(context);
    char **names = calloc(DOMAINS, sizeof *names + sizeof((struct dirent *)NULL)->d_name);
    char *text = names ? (char *)(names + DOMAINS) : NULL;
    const struct dirent *entry;
    *count = 0;
    while (dir && names && *count < DOMAINS && (entry = readdir(dir))) {
        if (*entry->d_name == '.')
            continue;
        names[(*count)++] = strcpy(text, entry->d_name);
        text += strlen(text) + 1;
    }
    if (dir)
        closedir(dir);
    return names;
}

static void *map_pages(void *context, unsigned domain, uint32_t *reference, uint32_t count)
{
    char path[PATH_MAX];
    struct stat st;
    size_t size = (size_t)count * WEFT_XEN_PAGE;
    snprintf(path, sizeof path, "%s/%u/pages", (const char *)context, domain);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *at = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0)
        at = mmap(NULL, size, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (uint32_t i = 0; at != MAP_FAILED && i < count; i++) {
        uint64_t page = (uint64_t)reference[i] - FIRST;
        bool granted =
            reference[i] >= FIRST && page < (uint64_t)(st.st_size + 4095) / WEFT_XEN_PAGE;
        if (granted &&
            mmap(at + (size_t)i * WEFT_XEN_PAGE, WEFT_XEN_PAGE, PROT_READ, MAP_SHARED | MAP_FIXED,
                 fd, (off_t)(page * WEFT_XEN_PAGE)) != MAP_FAILED)
            continue;
        munmap(at, size);
        at = MAP_FAILED;
        errno = EINVAL;
    }
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return at == MAP_FAILED ? NULL : at;
}

static void unmap_pages(void *context, void *pages, uint32_t count)
{
    (void)context;
    munmap(pages, (size_t)count * WEFT_XEN_PAGE);
}

static enum weft_xen_state state(void *context, unsigned domain)
{
    char path[PATH_MAX];
    size_t size;
    snprintf(path, sizeof path, "%s/%u/state", (const char *)context, domain);
    char *value = read_file(path, &size);
    enum weft_xen_state s = WEFT_XEN_UNKNOWN;
    while (value && s < WEFT_XEN_GONE && strcmp(value, weft_xen_state_name(s)) != 0)
        s++;
    free(value);
    return value ? s : WEFT_XEN_GONE;
}

static int wait_for(void *context, unsigned domain, int timeout_ms)
{
    (void)context;
    (void)domain;
    int rc = poll(NULL, 0, timeout_ms >= 0 && timeout_ms < WAIT_MS ? timeout_ms : WAIT_MS);
    return rc == 0;
}

int weft_xen_connect(struct weft_xen *xen, struct weft_error *err)
{
    char *root = getenv("FAKE_XEN");
    if (!root)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "FAKE_XEN is not set");
    *xen = (struct weft_xen){
        .context = root,
        .read = read_value,
        .list = list_names,
        .map = map_pages,
        .unmap = unmap_pages,
        .state = state,
        .wait = wait_for,
    };
    return 0;
}

void weft_xen_disconnect(struct weft_xen *xen)
{
    (void)xen;
}
