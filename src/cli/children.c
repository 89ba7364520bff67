/* SPDX-License-Identifier: ISC */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/order.h"
#include "cli/common.h"
#include "cli/live.h"
#include "cli/names.h"
#include "cli/record.h"
#include "cli/summary.h"
#include "read/alive.h"

enum { TOLD_MAX = 64 }; /* as many as record/follow.c starts */

bool cli_children_pattern(char *pattern, size_t size, const char *path, const char *given)
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

bool cli_children_there(const char *path)
{
    static const char forked[] = "forked=yes"; /* with its NUL, and one before it */
    char facts[4096];
    struct weft_facts_header header = {.state = 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    const ssize_t n = weft_facts_read(fd, &header) ? pread(fd, facts, sizeof facts, 0) : 0;
    close(fd);
    const size_t used = (size_t)(header.packet.content_bits / 8);
    const size_t size = n > 0 && used < (size_t)n ? used : n > 0 ? (size_t)n : 0;
    const char *at = size > sizeof header ? memmem(facts + sizeof header, size - sizeof header,
                                                   forked, sizeof forked)
                                          : NULL;
    return at && (at == facts + sizeof header || at[-1] == 0);
}

const char *cli_children_shown(const char *path)
{
    char folder[PATH_MAX];
    size_t n = getcwd(folder, sizeof folder) ? strlen(folder) : 0;
    return n > 1 && strncmp(path, folder, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

/* The process id in a file's name; 0: the name does not match. */
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
    if (!weft_parse_count(number, INT_MAX, &pid) ||
        cli_expand_pid(path, sizeof path, pattern, (pid_t)pid) >= sizeof path)
        return 0;
    return strcmp(path + (folder_end - pattern) + 1, file) == 0 ? pid : 0;
}

struct child {
    uint64_t pid, begun_ns;
    bool live;
};

/* Returns true if it is the trace of that process and was begun since then. Fills in the rest of c. */
static bool is_recent(const char *path, struct child *c, uint64_t since_ns)
{
    struct weft_facts_header facts;
    if (!cli_facts_at(path, &facts) || facts.pid != c->pid || facts.start_mono_ns < since_ns)
        return false;
    c->begun_ns = facts.start_mono_ns;
    c->live = weft_facts_alive(&facts);
    return true;
}

static void print_child(const char *path, uint64_t pid, bool live)
{
    struct cli_summary s;
    const char *shown = cli_children_shown(path);
    if (!cli_summary_open(&s, path) || !cli_summary_count(&s))
        return;
    fprintf(stderr, "weft: %s: %s, %s, of process %" PRIu64 ", which it has forked%s\n",
            cli_shown(shown).text, cli_many(s.events_total, "event").text,
            cli_many(s.promises, "promise").text, pid, live ? "; it still records" : "");
    cli_summary_close(&s);
}

static int by_pid(const void *a, const void *b)
{
    const struct child *x = a, *y = b;
    return weft_order(x->pid, y->pid);
}

/* At most TOLD_MAX, without the program itself. */
static unsigned find(const char *pattern, pid_t program, uint64_t since_ns, struct child *found)
{
    char folder[PATH_MAX], path[PATH_MAX];
    unsigned count = 0;
    const struct dirent *entry;
    const char *end = strrchr(pattern, '/');
    if (!end || !strstr(end, "%p")) /* in the folder's name: each process has its own folder */
        return 0;
    snprintf(folder, sizeof folder, "%.*s/", (int)(end - pattern), pattern);
    DIR *dir = opendir(folder);
    while (dir && count < TOLD_MAX && (entry = readdir(dir))) {
        struct child c = {.pid = number_in(pattern, end, entry->d_name)};
        if (c.pid && c.pid != (uint64_t)program &&
            cli_expand_pid(path, sizeof path, pattern, (pid_t)c.pid) < sizeof path &&
            is_recent(path, &c, since_ns))
            found[count++] = c;
    }
    if (dir)
        closedir(dir);
    qsort(found, count, sizeof *found, by_pid);
    return count;
}

unsigned cli_children_tell(const char *pattern, pid_t program, uint64_t since_ns)
{
    char path[PATH_MAX];
    struct child found[TOLD_MAX];
    const unsigned count = find(pattern, program, since_ns, found);
    for (unsigned i = 0; i < count; i++)
        if (cli_expand_pid(path, sizeof path, pattern, (pid_t)found[i].pid) < sizeof path)
            print_child(path, found[i].pid, found[i].live);
    return count;
}

void cli_children_name(const char *pattern, pid_t program, uint64_t since_ns)
{
    char path[PATH_MAX];
    struct child found[TOLD_MAX];
    const unsigned count = find(pattern, program, since_ns, found);
    for (unsigned i = 0; i < count; i++) {
        if (!found[i].live &&
            cli_expand_pid(path, sizeof path, pattern, (pid_t)found[i].pid) < sizeof path)
            cli_names_append_at(path, cli_children_shown(path));
    }
}

void cli_children_each(const char *pattern, pid_t program, uint64_t since_ns, void (*call)(pid_t))
{
    struct child found[TOLD_MAX];
    const unsigned count = find(pattern, program, since_ns, found);
    for (unsigned i = 0; i < count; i++)
        call((pid_t)found[i].pid);
}

pid_t cli_children_adopt(const char *pattern, uint64_t since_ns, const char *path)
{
    char name[PATH_MAX];
    struct child found[TOLD_MAX];
    const struct child *first = NULL;
    const unsigned count = find(pattern, 0, since_ns, found);
    for (unsigned i = 0; i < count; i++)
        if (!first || found[i].begun_ns < first->begun_ns)
            first = &found[i];
    return first && cli_expand_pid(name, sizeof name, pattern, (pid_t)first->pid) < sizeof name &&
                   rename(name, path) == 0
               ? (pid_t)first->pid
               : 0;
}
