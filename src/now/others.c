/* SPDX-License-Identifier: ISC */
/* Other processes: children, those that have the other end of a pipe or socket, those that have locked a file. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/order.h"
#include "now/threads.h"
#include "sample/proc.h"
#include "sample/standing.h"

enum {
    LINKS_MAX = 1 << 20, /* descriptors of others that are looked at */
    OTHERS_MAX = 64,     /* processes that are named for one thing */
    OWN_MAX = 1 << 16,   /* its own descriptors that are looked at */
};

/* ---- Their names ---- */

/* The letter in /proc/PID/stat, after the name in brackets; 0: it has ended. *parent: its parent. */
static char state_of(uint32_t pid, uint32_t *parent)
{
    char line[512];
    sample_line(line, sizeof line, "/proc/%" PRIu32 "/stat", pid);
    return sample_state(line, parent);
}

/* Field 22 of its file among the threads: the one of the process sums up all threads each time. */
uint64_t now_began_ns(uint32_t process, uint32_t thread)
{
    char line[512];
    uint64_t began = 0;
    const long ticks = sysconf(_SC_CLK_TCK);
    sample_line(line, sizeof line, "/proc/%" PRIu32 "/task/%" PRIu32 "/stat", process, thread);
    const char *field = strrchr(line, ')');
    for (unsigned i = 2; field && i < 22; i++)
        field = strchr(field + 1, ' ');
    if (field && ticks > 0)
        began = strtoull(field, NULL, 10) * (UINT64_C(1000000000) / (uint64_t)ticks);
    return began;
}

/* The process that is looked at has a descriptor with this link. */
static bool has_link(const struct now_threads *t, const char *wanted)
{
    char path[64], link[64];
    bool found = false;
    const struct dirent *entry;
    snprintf(path, sizeof path, "/proc/%d/task/%d/fd", (int)t->p->pid, (int)t->p->thread);
    DIR *dir = opendir(path);
    for (uint32_t looked = 0; dir && !found && looked < OWN_MAX && (entry = readdir(dir));
         looked++) {
        const ssize_t n = readlinkat(dirfd(dir), entry->d_name, link, sizeof link - 1);
        link[n > 0 ? n : 0] = 0;
        found = strcmp(link, wanted) == 0;
    }
    if (dir)
        closedir(dir);
    return found;
}

struct shared {
    char text[NOW_TEXT_MAX];
    bool own; /* it has to do with this one */
};

/* What a descriptor of another process is, and has to do with this one. */
static struct shared shared_by(struct now_threads *t, uint32_t pid, uint32_t number)
{
    char path[64], link[NOW_TEXT_MAX - 8];
    struct now_socket socket;
    struct shared to = {"", false};
    const int own = (int)t->p->pid;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/fd/%" PRIu32, pid, number);
    const ssize_t n = readlink(path, link, sizeof link - 1);
    link[n > 0 ? n : 0] = 0;
    if (link[0] == '/')
        snprintf(to.text, sizeof to.text, " (%s)", link);
    else if (strncmp(link, "pipe:[", 6) == 0 && (to.own = has_link(t, link)))
        snprintf(to.text, sizeof to.text, " (a pipe that process %d has open, too)", own);
    else if (strncmp(link, "pipe:[", 6) == 0)
        snprintf(to.text, sizeof to.text, " (a pipe)");
    else if (strncmp(link, "socket:[", 8) == 0) {
        const bool known = now_socket_find(t, strtoull(link + 8, NULL, 10), &socket);
        snprintf(link, sizeof link, "socket:[%" PRIu64 "]", known ? socket.peer : 0);
        if ((to.own = has_link(t, link)))
            snprintf(to.text, sizeof to.text, " (a socket, of which process %d has the other end)",
                     own);
        else
            snprintf(to.text, sizeof to.text, " (a socket)");
    }
    return to;
}

/* The call in which a thread of another process waits. It may be of a 32-bit program, whose calls have other numbers. */
static const struct now_call *call_of(uint32_t pid, uint32_t thread, struct sample_standing_at *at)
{
    if (!sample_standing_at(pid, thread, at) || at->call < 0 ||
        (at->pc <= UINT32_MAX && at->sp <= UINT32_MAX))
        return NULL;
    const struct now_call *call = now_call_by_number(at->call);
    return call && call->kind == NOW_CALL_AGAIN ? NULL : call;
}

static bool is_of_descriptor(const struct now_call *call)
{
    return call->kind == NOW_CALL_DESCRIPTOR || call->kind == NOW_CALL_LOCKED;
}

/* Says of the first of its other threads that has to do with this process what it waits for. */
static void tell_helper(struct now_threads *t, uint32_t thing, uint32_t pid,
                        const struct sample_numbers *threads, const char *first)
{
    struct sample_standing_at at;
    for (uint32_t i = 0; i < threads->count && i < OTHERS_MAX; i++) {
        const uint32_t thread = threads->number[i];
        const struct now_call *call = thread == pid ? NULL : call_of(pid, thread, &at);
        if (!call || !is_of_descriptor(call))
            continue;
        const struct shared shared = shared_by(t, pid, (uint32_t)at.arg[0]);
        if (!shared.own)
            continue;
        now_state(t->n, thing,
                  "its first thread waits in %s; thread %" PRIu32
                  " waits in %s, descriptor %" PRIu32 "%s",
                  first, thread, call->name, (uint32_t)at.arg[0], shared.text);
        break;
    }
}

/* A process that sleeps: in which call. */
static void tell_sleeper(struct now_threads *t, uint32_t thing, uint32_t pid)
{
    struct sample_standing_at at;
    struct sample_numbers threads = {0};
    uint64_t switches;
    const bool stands = sample_standing_switches(pid, pid, &switches);
    const struct now_call *call = call_of(pid, pid, &at);
    if (!call)
        return;
    sample_numbers_read(&threads, "/proc/%" PRIu32 "/task", pid);
    const bool alone = threads.count == 1;
    const char *who = alone ? "" : "its first thread ";
    if (is_of_descriptor(call))
        now_state(t->n, thing, "%swaits in %s, descriptor %" PRIu32 "%s", who, call->name,
                  (uint32_t)at.arg[0], shared_by(t, pid, (uint32_t)at.arg[0]).text);
    else if (call->kind != NOW_CALL_SLEEP)
        now_state(t->n, thing, "%swaits in %s", who, call->name);
    if (!alone && !is_of_descriptor(call))
        tell_helper(t, thing, pid, &threads, call->name);
    free(threads.number);
    if (!alone || !stands)
        return;
    t->n->thing[thing].stood = true;
    t->n->thing[thing].switches = switches;
    t->n->thing[thing].place = sample_standing_place(&at);
    now_chain_want(t, pid, thing, &at);
}

uint32_t now_other(struct now_threads *t, pid_t pid)
{
    char name[64];
    uint32_t parent;
    const uint32_t thing = now_thing(t->n, NOW_PROCESS, (uint64_t)pid);
    if (thing == NOW_NONE || t->n->thing[thing].name)
        return thing;
    const char state = state_of((uint32_t)pid, &parent);
    sample_line(name, sizeof name, "/proc/%d/comm", (int)pid);
    if (state)
        now_name(t->n, thing, "process %d '%s'", (int)pid, name);
    else
        now_name(t->n, thing, "process %d", (int)pid);
    t->n->thing[thing].start_ns = now_began_ns((uint32_t)pid, (uint32_t)pid);
    now_state(t->n, thing, "%s",
              !state         ? "has ended, or cannot be seen"
              : state == 'T' ? "is stopped by a signal"
              : state == 't' ? "is stopped by a debugger"
              : state == 'Z' ? "has ended; its parent has not taken note"
              : state == 'R' ? "runs"
              : state == 'D' ? "waits for a device or a file system"
                             : "sleeps");
    if (state == 'S')
        tell_sleeper(t, thing, (uint32_t)pid);
    return thing;
}

/* ---- Children ---- */

/* Its number in its own namespace. */
static uint32_t inner_of(uint32_t pid)
{
    char path[64], line[256];
    uint32_t inner = pid;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/status", pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        const char *last = strrchr(line, '\t');
        if (strncmp(line, "NSpid:", 6) == 0 && last)
            sscanf(last, "%" SCNu32, &inner);
    }
    if (f)
        fclose(f);
    return inner;
}

/* A child of vfork uses its parent's memory. */
static bool shares_memory(const struct now_threads *t, uint32_t pid)
{
    return syscall(SYS_kcmp, t->p->pid, (pid_t)pid, KCMP_VM, 0, 0) == 0;
}

static void tell_children(struct now_threads *t, uint32_t from, uint32_t of, uint64_t number,
                          bool share)
{
    struct sample_numbers all = {0};
    uint32_t *child = NULL, room = 0, children = 0, parent;
    sample_numbers_read(&all, "/proc");
    for (uint32_t i = 0; i < all.count && children < OTHERS_MAX; i++) {
        const uint32_t pid = all.number[i];
        if (!state_of(pid, &parent) || parent != of ||
            (number && pid != number && inner_of(pid) != number) ||
            (share && !shares_memory(t, pid)))
            continue;
        if (weft_reserve(&child, children, &room, sizeof *child))
            child[children++] = pid;
    }
    for (uint32_t i = 0; i < children; i++)
        now_link(t->n, from, now_party(t, child[i]), children > 1,
                 share ? "waits for" : "waits for the end of");
    weft_free_all(child, all.number);
}

void now_children_tell(struct now_threads *t, uint32_t from, uint32_t parent, uint64_t number)
{
    tell_children(t, from, parent, number, false);
}

void now_new_child_tell(struct now_threads *t, uint32_t from)
{
    tell_children(t, from, (uint32_t)t->p->pid, 0, true);
}

/* ---- The other ends ---- */

struct end {
    char *link;
    uint32_t thing, process; /* that wants it */
    unsigned may;
    uint32_t count; /* other processes that have it */
    bool own;       /* the process itself has it */
};

struct now_ends {
    struct end *end; /* in now_ends_tell sorted by link; then they are no longer wanted */
    uint32_t ends, room;
    struct found {
        uint32_t end, process;
    } * found;
    uint32_t founds, found_room;
    uint32_t looked, hidden;
};

void now_end_want(struct now_threads *t, uint32_t thing, uint32_t process, const char *link,
                  unsigned may)
{
    if (!t->ends)
        t->ends = calloc(1, sizeof *t->ends);
    char *copy = t->ends ? strdup(link) : NULL;
    if (!copy ||
        !weft_reserve(&t->ends->end, t->ends->ends, &t->ends->room, sizeof *t->ends->end)) {
        free(copy);
        t->n->failed = true;
        return;
    }
    t->ends->end[t->ends->ends++] = (struct end){copy, thing, process, may, 0, false};
}

static int by_link(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    return strcmp(x->link, y->link);
}

/* A descriptor of a process: it may be one of the other ends. Several descriptors may want the same. */
static void match(struct now_threads *t, uint32_t process, const char *link, unsigned may)
{
    struct now_ends *e = t->ends;
    const struct end key = {.link = (char *)(uintptr_t)link};
    uint32_t i = 0, high = e->ends;
    WEFT_SEEK(i, high, by_link(&e->end[middle], &key) < 0);
    for (; i < e->ends && strcmp(e->end[i].link, link) == 0; i++) {
        if (!(e->end[i].may & may))
            continue;
        if (process == e->end[i].process) {
            e->end[i].own = true;
            continue;
        }
        if (e->end[i].count == OTHERS_MAX || (e->founds && e->found[e->founds - 1].end == i &&
                                              e->found[e->founds - 1].process == process))
            continue;
        if (weft_reserve(&e->found, e->founds, &e->found_room, sizeof *e->found)) {
            e->found[e->founds++] = (struct found){i, process};
            e->end[i].count++;
        }
    }
}

static void look_through(struct now_threads *t, uint32_t process)
{
    char path[64], link[4096];
    struct stat st;
    const struct dirent *entry;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/fd", process);
    DIR *dir = opendir(path);
    t->ends->hidden += !dir && errno != ENOENT && errno != ESRCH;
    while (dir && t->ends->looked < LINKS_MAX && (entry = readdir(dir))) {
        const ssize_t n = readlinkat(dirfd(dir), entry->d_name, link, sizeof link - 1);
        if (n <= 0)
            continue;
        t->ends->looked++;
        link[n] = 0;
        if ((link[0] == '/' || strncmp(link, "pipe:", 5) == 0 ||
             strncmp(link, "socket:", 7) == 0) &&
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            match(t, process, link, st.st_mode & 0600);
    }
    if (dir)
        closedir(dir);
}

static void tell_end(struct now_threads *t, const struct end *e)
{
    const char *other = e->may == 0200   ? "writing end"
                        : e->may == 0400 ? "reading end"
                                         : "other end";
    if (e->process != (uint32_t)t->p->pid)
        return; /* its state says what it does */
    if (e->own && !e->count)
        now_state(t->n, e->thing, "only this process itself has its %s", other);
    else if (!e->count && t->ends->hidden)
        now_state(t->n, e->thing,
                  "who has its %s is not known: %" PRIu32 " processes may not be looked at", other,
                  t->ends->hidden);
    else if (!e->count)
        now_state(t->n, e->thing, "no process has its %s", other);
    else if (e->own)
        now_state(t->n, e->thing, "this process itself has its %s, too", other);
}

static void forget_ends(struct now_ends *e)
{
    for (uint32_t i = 0; i < e->ends; i++)
        free(e->end[i].link);
    e->ends = e->founds = 0;
}

void now_ends_tell(struct now_threads *t)
{
    struct sample_numbers all = {0};
    struct now_ends *e = t->ends;
    if (!e || !e->ends)
        return;
    qsort(e->end, e->ends, sizeof *e->end, by_link);
    sample_numbers_read(&all, "/proc");
    for (uint32_t i = 0; i < all.count; i++)
        if (all.number[i] != (uint32_t)getpid())
            look_through(t, all.number[i]);
    for (uint32_t i = 0; i < e->founds; i++) {
        const struct end *end = &e->end[e->found[i].end];
        const bool known = end->process == (uint32_t)t->p->pid;
        const bool any = end->count > 1 || e->hidden || (known && end->own && t->threads > 1);
        now_link(t->n, end->thing, now_party(t, e->found[i].process), any,
                 known ? "has its other end in" : "waits for");
    }
    for (uint32_t i = 0; i < e->ends; i++)
        tell_end(t, &e->end[i]);
    free(all.number);
    forget_ends(e);
}

void now_ends_free(struct now_ends *e)
{
    if (!e)
        return;
    forget_ends(e);
    weft_free_all(e->end, e->found, e);
}

/* ---- Locks on files ---- */

/* "1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF"; those who wait follow, with "->" after the same number. */
struct file_lock {
    unsigned long number;
    bool waits;
    char kind[16];
    long process;
    uint64_t inode;
};

static bool parse_lock(const char *line, struct file_lock *l)
{
    int at = 0;
    if (sscanf(line, "%lu: %n", &l->number, &at) != 1 || !at)
        return false;
    l->waits = strncmp(line + at, "-> ", 3) == 0;
    return sscanf(line + at + (l->waits ? 3 : 0), "%15s %*s %*s %ld %*x:%*x:%" SCNu64, l->kind,
                  &l->process, &l->inode) == 3;
}

void now_file_lock_tell(struct now_threads *t, uint32_t from, uint32_t process, uint64_t inode,
                        bool flock)
{
    const bool known = process == (uint32_t)t->p->pid;
    char line[256];
    struct file_lock l, holder = {0};
    bool found = false;
    FILE *f = fopen("/proc/locks", "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        if (!parse_lock(line, &l))
            continue;
        if (!l.waits)
            holder = l;
        found = l.waits && holder.number == l.number && (!inode || l.inode == inode) &&
                (strcmp(l.kind, "FLOCK") == 0) == flock &&
                (l.process == (long)process || strcmp(l.kind, "OFDLCK") == 0);
    }
    if (f)
        fclose(f);
    if (found && holder.process > 0 && holder.process != (long)process)
        now_link(t->n, from, now_party(t, (uint32_t)holder.process), false,
                 known ? "is locked by" : "waits for");
    else if (!known)
        return;
    else if (!found)
        now_state(t->n, from, "who has locked it is not known");
    else if (holder.process > 0)
        now_state(t->n, from, "is locked by this process itself, through another descriptor");
    else
        now_state(t->n, from, "is locked through a file that several processes may share");
}
