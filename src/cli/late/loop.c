/* SPDX-License-Identifier: ISC */
/* libuv's main loop is a static variable of the object that has uv_default_loop. Its fields, and those of handles, are part
 * of libuv 1's binary interface. It is found by what must hold in it: lists whose ends point at each other, and a
 * descriptor of epoll. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/late/node.h"
#include "now/process.h"

/* Offsets in bytes. */
enum {
    LOOP_HANDLES = 16,
    LOOP_EPOLL = 64,
    LOOP_PENDING = 72,
    LOOP_WATCHERS = 88,
    LOOP_BYTES = 120
};
enum {
    HANDLE_LOOP = 8,
    HANDLE_TYPE = 16,
    HANDLE_QUEUE = 32,
    SIGNAL_NUMBER = 104,
    HANDLE_BYTES = 112,
};
enum { UV_SIGNAL = 16 };
enum {
    DATA_MAX = 32 << 20,      /* bytes of variables that are searched */
    LOOKS_LIKE_MAX = 1 << 14, /* places that are looked at more closely */
    HANDLES_MAX = 100000,
    TRIES = 5, /* the loop changes while it is read */
};

static uint64_t word_at(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static int32_t number_at(const char *at)
{
    int32_t number;
    memcpy(&number, at, sizeof number);
    return number;
}

static bool is_epoll(pid_t pid, int fd)
{
    char path[64], link[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
    const ssize_t n = readlink(path, link, sizeof link - 1);
    link[n > 0 ? n : 0] = 0;
    return strcmp(link, "anon_inode:[eventpoll]") == 0;
}

/* A list whose head is at that address: its first entry points back. */
static bool is_list(struct now_process *p, const char *head, uint64_t address)
{
    char entry[16];
    const uint64_t next = word_at(head);
    return next && next % 8 == 0 && now_read(p, next, entry, sizeof entry) &&
           word_at(entry + 8) == address;
}

static bool looks_like_loop(const char *at)
{
    return number_at(at + LOOP_EPOLL) >= 0 && word_at(at + LOOP_HANDLES) &&
           word_at(at + LOOP_PENDING) && word_at(at + LOOP_WATCHERS);
}

static bool is_loop(struct now_process *p, const char *at, uint64_t address)
{
    const int32_t fd = number_at(at + LOOP_EPOLL);
    return is_list(p, at + LOOP_PENDING, address + LOOP_PENDING) &&
           is_list(p, at + LOOP_WATCHERS, address + LOOP_WATCHERS) &&
           is_list(p, at + LOOP_HANDLES, address + LOOP_HANDLES) && is_epoll(p->pid, fd);
}

static uint64_t search(struct now_process *p, uint64_t start, uint64_t bytes)
{
    uint64_t found = 0;
    unsigned looked = 0;
    if (bytes < LOOP_BYTES || bytes > DATA_MAX)
        return 0;
    char *copy = malloc(bytes);
    if (copy && now_read(p, start, copy, bytes))
        for (uint64_t at = 0; !found && at + LOOP_BYTES <= bytes; at += 8)
            if (looks_like_loop(copy + at) && looked++ < LOOKS_LIKE_MAX &&
                is_loop(p, copy + at, start + at))
                found = start + at;
    free(copy);
    return found;
}

/* The variables of an object: where its file is mapped to be written, and the memory without a file after that. */
static uint64_t find_loop(struct now_process *p)
{
    static const char *const name[] = {"uv_default_loop"};
    uint64_t function = 0, found = 0;
    now_symbol_addresses(p, "", name, 1, &function);
    const struct now_mapping *code = function ? now_mapping_at(p, function) : NULL;
    bool behind = false;
    for (uint32_t i = 0; code && !found && i < p->mappings; i++) {
        const struct now_mapping *m = &p->mapping[i];
        const bool of_file = strcmp(m->path, code->path) == 0;
        const bool follows = behind && !m->path[0] && m->start == p->mapping[i - 1].end;
        behind = of_file || follows;
        if (behind && m->writable)
            found = search(p, m->start, m->end - m->start);
    }
    return found;
}

/* Returns false if the list has changed meanwhile. */
static bool read_handles(struct now_process *p, uint64_t loop, struct cli_loop *l)
{
    char handle[HANDLE_BYTES], head[8];
    const uint64_t end = loop + LOOP_HANDLES;
    l->handles_sigusr1 = false;
    if (!now_read(p, end, head, sizeof head))
        return false;
    uint64_t at = word_at(head);
    for (unsigned i = 0; at != end && i < HANDLES_MAX; i++) {
        /* Some handles are smaller; what follows them in memory is read, too, if it is there. */
        memset(handle, 0, sizeof handle);
        if (!now_read(p, at - HANDLE_QUEUE, handle, sizeof handle) &&
            !now_read(p, at - HANDLE_QUEUE, handle, HANDLE_QUEUE + 16))
            return false;
        if (word_at(handle + HANDLE_LOOP) != loop)
            return false;
        if (number_at(handle + HANDLE_TYPE) == UV_SIGNAL &&
            number_at(handle + SIGNAL_NUMBER) == SIGUSR1)
            l->handles_sigusr1 = true;
        at = word_at(handle + HANDLE_QUEUE);
    }
    return at == end;
}

bool cli_loop_read(pid_t pid, struct cli_loop *l)
{
    struct now_process p;
    struct weft_error err;
    char fd[4];
    *l = (struct cli_loop){.epoll = -1};
    const uint64_t loop = now_process_open(&p, pid, &err) == 0 ? find_loop(&p) : 0;
    bool done = false;
    for (unsigned i = 0; loop && !done && i < TRIES; i++)
        done = read_handles(&p, loop, l);
    if (done && now_read(&p, loop + LOOP_EPOLL, fd, sizeof fd))
        l->epoll = number_at(fd);
    now_process_close(&p);
    return l->epoll >= 0;
}
