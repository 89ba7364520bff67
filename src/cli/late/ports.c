/* SPDX-License-Identifier: ISC */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/order.h"
#include "cli/late/node.h"
#include "now/tcp.h"
#include "sample/proc.h"

enum { PORTS_MAX = 1 << 16 };

/* The sockets that a process has open. */
struct sockets {
    uint64_t *inode; /* sorted */
    uint32_t count, room;
};

static uint64_t inode_of(pid_t pid, uint32_t fd)
{
    char path[64], link[64];
    uint64_t inode = 0;
    snprintf(path, sizeof path, "/proc/%d/fd/%" PRIu32, (int)pid, fd);
    const ssize_t n = readlink(path, link, sizeof link - 1);
    link[n > 0 ? n : 0] = 0;
    return sscanf(link, "socket:[%" SCNu64 "]", &inode) == 1 ? inode : 0;
}

static void add_socket(struct sockets *s, pid_t pid, uint32_t fd)
{
    const uint64_t inode = inode_of(pid, fd);
    if (inode && weft_reserve(&s->inode, s->count, &s->room, sizeof *s->inode))
        s->inode[s->count++] = inode;
}

static void sort_sockets(struct sockets *s)
{
    weft_sort(s->inode, s->count, sizeof *s->inode, weft_order_u64);
}

static bool has(const struct sockets *s, uint64_t inode)
{
    return s->count && bsearch(&inode, s->inode, s->count, sizeof *s->inode, weft_order_u64);
}

static struct sockets open_sockets(pid_t pid)
{
    struct sockets s = {.inode = NULL};
    struct sample_numbers all = {0};
    sample_numbers_read(&all, "/proc/%d/fd", (int)pid);
    for (uint32_t i = 0; i < all.count; i++)
        add_socket(&s, pid, all.number[i]);
    free(all.number);
    sort_sockets(&s);
    return s;
}

/* Those that an epoll descriptor of the process watches. */
static struct sockets watched_sockets(pid_t pid, int epoll)
{
    struct sockets s = {.inode = NULL};
    char path[64], line[256];
    uint32_t fd;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)pid, epoll);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "tfd: %" SCNu32, &fd) == 1)
            add_socket(&s, pid, fd);
    if (f)
        fclose(f);
    sort_sockets(&s);
    return s;
}

static const struct {
    const char *local, *host;
} loopbacks[] = {
    {"0100007F", "127.0.0.1"},
    {"00000000", "127.0.0.1"},
    {"00000000000000000000000001000000", "[::1]"},
    {"00000000000000000000000000000000", "[::1]"},
};

static const char *host_of(const char *local)
{
    for (unsigned i = 0; i < sizeof loopbacks / sizeof *loopbacks; i++)
        if (strcmp(loopbacks[i].local, local) == 0)
            return loopbacks[i].host;
    return NULL;
}

/* Calls the function for each TCP socket of the process's network. False: no table can be read. */
static bool each_socket(pid_t pid, void (*call)(void *data, const struct now_tcp *), void *data)
{
    static const char *const tables[] = {"tcp", "tcp6"};
    char path[64], line[512];
    bool any = false;
    for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct now_tcp at;
        snprintf(path, sizeof path, "/proc/%d/net/%s", (int)pid, tables[i]);
        FILE *f = fopen(path, "re");
        any = any || f;
        while (f && fgets(line, sizeof line, f))
            if (now_tcp_line(line, &at))
                call(data, &at);
        if (f)
            fclose(f);
    }
    return any;
}

struct listing {
    struct cli_ports *ports;
    struct sockets open, watched;
    bool failed;
};

static void list_one(void *data, const struct now_tcp *at)
{
    struct listing *l = data;
    struct cli_ports *p = l->ports;
    if (at->state != NOW_TCP_LISTENS || p->count == PORTS_MAX)
        return;
    if (!weft_reserve(&p->port, p->count, &p->room, sizeof *p->port)) {
        l->failed = true;
        return;
    }
    p->port[p->count++] = (struct cli_port){
        .number = (uint16_t)at->local_port,
        .inode = at->inode,
        .host = host_of(at->local),
        .own = has(&l->open, at->inode),
        .served = has(&l->watched, at->inode),
    };
}

bool cli_ports_read(struct cli_ports *p, pid_t pid, int epoll)
{
    struct listing l = {.ports = p, .watched = watched_sockets(pid, epoll)};
    *p = (struct cli_ports){.port = NULL};
    l.open = open_sockets(pid);
    const bool read = each_socket(pid, list_one, &l);
    weft_free_all(l.open.inode, l.watched.inode);
    return read && !l.failed;
}

struct peer {
    uint16_t port, from;
    uint64_t inode;
};

static void look_for_peer(void *data, const struct now_tcp *at)
{
    struct peer *p = data;
    if (at->state == NOW_TCP_CONNECTED && at->local_port == p->port && at->remote_port == p->from &&
        host_of(at->local) && strcmp(at->local, at->remote) == 0)
        p->inode = at->inode;
}

bool cli_ports_is_peer(pid_t pid, uint16_t port, uint16_t from)
{
    struct peer p = {.port = port, .from = from};
    each_socket(pid, look_for_peer, &p);
    struct sockets open = open_sockets(pid);
    const bool is = p.inode && has(&open, p.inode);
    free(open.inode);
    return is;
}
