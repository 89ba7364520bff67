/* SPDX-License-Identifier: ISC */
#include "cli/children.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/live.h"
#include "cli/summary.h"

enum { TOLD_MAX = 64 }; /* as many as record/follow.c begins */

bool weft__children_pattern(char *pattern, size_t size, const char *path, const char *given)
{
    char folder[PATH_MAX] = "";
    if (strstr(given, "%p")) {
        const bool whole = *given == '/';
        if (!whole && !getcwd(folder, sizeof folder))
            return false;
        return (size_t)snprintf(pattern, size, "%s%s%s", folder, whole ? "" : "/", given) < size;
    }
    const char *name = strrchr(path, '/'), *ending = strrchr(path, '.');
    if (!ending || (name && ending <= name + 1))
        ending = path + strlen(path);
    return (size_t)snprintf(pattern, size, "%.*s-%%p%s", (int)(ending - path), path, ending) < size;
}

bool weft__children_there(const char *path)
{
    static const char forked[] = "forked=yes"; /* with its NUL, and one before it */
    char facts[4096];
    struct weft_facts_header header = {.state = 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    const ssize_t n = weft__facts_read(fd, &header) ? pread(fd, facts, sizeof facts, 0) : 0;
    close(fd);
    const size_t used = (size_t)(header.packet.content_bits / 8);
    const size_t size = n > 0 && used < (size_t)n ? used : n > 0 ? (size_t)n : 0;
    const char *at = size > sizeof header ? memmem(facts + sizeof header, size - sizeof header,
                                                   forked, sizeof forked)
                                          : NULL;
    return at && (at == facts + sizeof header || at[-1] == 0);
}

const char *weft__children_shown(const char *path)
{
    char folder[PATH_MAX];
    size_t n = getcwd(folder, sizeof folder) ? strlen(folder) : 0;
    return n > 1 && strncmp(path, folder, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

/* Puts a process id for every %p. */
static bool expand(char *path, size_t size, const char *pattern, uint64_t pid)
{
    size_t n = 0;
    for (const char *c = pattern; *c && n < size; c++)
        if (c[0] == '%' && c[1] == 'p') {
            n += (size_t)snprintf(path + n, size - n, "%" PRIu64, pid);
            c++;
        } else {
            path[n++] = *c;
        }
    if (n >= size)
        return false;
    path[n] = 0;
    return true;
}

/* The process id in a file's name; 0: it is not one of these. */
static uint64_t number_in(const char *pattern, const char *folder_end, const char *file)
{
    char path[PATH_MAX], number[16];
    const char *base = folder_end + 1;
    const size_t before = (size_t)(strstr(base, "%p") - base);
    const size_t digits = strlen(file) > before ? strspn(file + before, "0123456789") : 0;
    uint64_t pid;
    if (digits == 0 || digits >= sizeof number)
        return 0;
    memcpy(number, file + before, digits);
    number[digits] = 0;
    if (!weft__parse_number(number, INT_MAX, &pid) || !expand(path, sizeof path, pattern, pid))
        return 0;
    return strcmp(path + (folder_end - pattern) + 1, file) == 0 ? pid : 0;
}

/* Whether it is the trace of that process, begun since then: *since_ns is when. */
static bool is_recent(const char *path, uint64_t pid, uint64_t *since_ns, bool *live)
{
    struct weft_facts_header facts;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool is = fd >= 0 && weft__facts_read(fd, &facts) && facts.pid == pid &&
              facts.start_mono_ns >= *since_ns;
    *live = is && weft__facts_live(&facts);
    if (is)
        *since_ns = facts.start_mono_ns;
    if (fd >= 0)
        close(fd);
    return is;
}

static void tell(const char *path, uint64_t pid, bool live)
{
    struct weft__summary s;
    const char *shown = weft__children_shown(path);
    if (!weft__summary_open(&s, path) || !weft__summary_count(&s))
        return;
    fprintf(stderr,
            "weft: %s: %s event%s, %s promise%s, of process %" PRIu64 ", which it has forked%s\n",
            weft__shown(shown).text, weft__grouped(s.events_total).text,
            weft__plural(s.events_total), weft__grouped(s.promises).text, weft__plural(s.promises),
            pid, live ? "; it still records" : "");
    weft__summary_close(&s);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The process ids, at most TOLD_MAX, but for that of the program itself. */
static unsigned find(const char *pattern, pid_t program, uint64_t since_ns, uint64_t *found)
{
    char folder[PATH_MAX], path[PATH_MAX];
    unsigned count = 0;
    bool live;
    const struct dirent *entry;
    const char *end = strrchr(pattern, '/');
    if (!end || !strstr(end, "%p")) /* in a folder's name: each has its own */
        return 0;
    snprintf(folder, sizeof folder, "%.*s/", (int)(end - pattern), pattern);
    DIR *dir = opendir(folder);
    while (dir && count < TOLD_MAX && (entry = readdir(dir))) {
        const uint64_t pid = number_in(pattern, end, entry->d_name);
        uint64_t begun_ns = since_ns;
        if (pid && pid != (uint64_t)program && expand(path, sizeof path, pattern, pid) &&
            is_recent(path, pid, &begun_ns, &live))
            found[count++] = pid;
    }
    if (dir)
        closedir(dir);
    qsort(found, count, sizeof *found, by_number);
    return count;
}

unsigned weft__children_tell(const char *pattern, pid_t program, uint64_t since_ns)
{
    char path[PATH_MAX];
    uint64_t found[TOLD_MAX];
    const unsigned count = find(pattern, program, since_ns, found);
    for (unsigned i = 0; i < count; i++) {
        uint64_t begun_ns = since_ns;
        bool live;
        if (expand(path, sizeof path, pattern, found[i]) &&
            is_recent(path, found[i], &begun_ns, &live))
            tell(path, found[i], live);
    }
    return count;
}

bool weft__children_adopt(const char *pattern, uint64_t since_ns, const char *path)
{
    char name[PATH_MAX];
    uint64_t found[TOLD_MAX], first = 0, first_ns = UINT64_MAX;
    const unsigned count = find(pattern, 0, since_ns, found);
    for (unsigned i = 0; i < count; i++) {
        uint64_t begun_ns = since_ns;
        bool live;
        if (expand(name, sizeof name, pattern, found[i]) &&
            is_recent(name, found[i], &begun_ns, &live) && begun_ns < first_ns) {
            first = found[i];
            first_ns = begun_ns;
        }
    }
    return first && expand(name, sizeof name, pattern, first) && rename(name, path) == 0;
}
