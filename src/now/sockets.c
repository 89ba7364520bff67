/* SPDX-License-Identifier: ISC */
/* What sockets are: /proc/PID/net has a table for each kind, of the network that the process sees. The other end of a UNIX
 * socket is not there; the kernel says it over netlink, for our own network only. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/order.h"
#include "now/tcp.h"
#include "now/threads.h"

enum { SOCKETS_MAX = 1 << 20 };

struct socket {
    uint64_t inode; /* first: they are sorted by it */
    enum { TCP, UDP, LOCAL } kind;
    bool listens;
    struct now_tcp at; /* but for UNIX sockets */
    char *path;
};

struct now_sockets {
    struct socket *socket;
    uint32_t sockets, room;
    uint32_t *by_ends; /* TCP sockets that are connected, by both addresses */
    uint32_t ends;
    int netlink; /* -1: it cannot be asked about this network */
};

/* ---- The tables ---- */

static void add(struct now_threads *t, const struct socket *s)
{
    struct now_sockets *to = t->sockets;
    if (to->sockets < SOCKETS_MAX && weft_reserve(&to->socket, to->sockets, &to->room, sizeof *s))
        to->socket[to->sockets++] = *s;
    else
        free(s->path);
}

/* An IPv4 address may stand in the table of IPv6. */
static void simplify(char address[NOW_TCP_ADDRESS])
{
    static const char mapped[] = "0000000000000000FFFF0000";
    if (strncmp(address, mapped, sizeof mapped - 1) == 0)
        memmove(address, address + sizeof mapped - 1, 9);
}

/* "  0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 12345 …" */
bool now_tcp_line(const char *line, struct now_tcp *to)
{
    *to = (struct now_tcp){.inode = 0};
    if (sscanf(line,
               " %*u: %35[0-9A-Fa-f]:%" SCNx32 " %35[0-9A-Fa-f]:%" SCNx32
               " %x %*x:%*x %*x:%*x %*x %*u %*u %" SCNu64,
               to->local, &to->local_port, to->remote, &to->remote_port, &to->state,
               &to->inode) != 6)
        return false;
    simplify(to->local);
    simplify(to->remote);
    return true;
}

static void add_internet(struct now_threads *t, const char *line, bool tcp)
{
    struct socket s = {.kind = tcp ? TCP : UDP};
    if (!now_tcp_line(line, &s.at))
        return;
    s.inode = s.at.inode;
    s.listens = tcp && s.at.state == NOW_TCP_LISTENS;
    add(t, &s);
}

/* "ffff…: 00000002 00000000 00010000 0001 01 12345 /path" */
static void add_local(struct now_threads *t, const char *line)
{
    struct socket s = {.kind = LOCAL};
    unsigned flags;
    int at = 0;
    if (sscanf(line, "%*[0-9A-Fa-f]: %*x %*x %x %*x %*x %" SCNu64 " %n", &flags, &s.inode, &at) < 2)
        return;
    s.listens = flags & 0x10000;
    if (at && line[at]) {
        s.path = strdup(line + at);
        if (s.path)
            s.path[strcspn(s.path, "\n")] = 0;
    }
    add(t, &s);
}

static void read_table(struct now_threads *t, const char *name)
{
    char path[96], line[512];
    snprintf(path, sizeof path, "/proc/%d/task/%d/net/%s", (int)t->p->pid, (int)t->p->thread, name);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (strcmp(name, "unix") == 0)
            add_local(t, line);
        else
            add_internet(t, line, strncmp(name, "tcp", 3) == 0);
    if (f)
        fclose(f);
}

static const struct socket *socket_of(const struct now_sockets *s, uint64_t inode)
{
    return s->sockets ? bsearch(&inode, s->socket, s->sockets, sizeof *s->socket, weft_order_u64)
                      : NULL;
}

/* ---- The other end of UNIX sockets ---- */

static bool same_network(const struct now_threads *t)
{
    char path[96], own[64], other[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/ns/net", (int)t->p->pid, (int)t->p->thread);
    const ssize_t a = readlink("/proc/self/ns/net", own, sizeof own),
                  b = readlink(path, other, sizeof other);
    return a > 0 && a == b && memcmp(own, other, (size_t)a) == 0;
}

/* The inode in an answer; 0: it has none. */
static uint32_t peer_in(const struct nlmsghdr *h)
{
    const struct unix_diag_msg *m = NLMSG_DATA(h);
    if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY || h->nlmsg_len < NLMSG_LENGTH(sizeof *m))
        return 0;
    const char *bytes = (const char *)(m + 1);
    const size_t size = h->nlmsg_len - NLMSG_LENGTH(sizeof *m);
    struct nlattr a;
    for (size_t at = 0; at + sizeof a <= size; at += (a.nla_len + 3u) & ~3u) {
        uint32_t peer;
        memcpy(&a, bytes + at, sizeof a);
        if (a.nla_len < sizeof a || a.nla_len > size - at)
            return 0;
        if (a.nla_type == UNIX_DIAG_PEER && a.nla_len >= sizeof a + sizeof peer) {
            memcpy(&peer, bytes + at + sizeof a, sizeof peer);
            return peer;
        }
    }
    return 0;
}

/* Asks for one socket: a list of all may lack some, if sockets come and go meanwhile. */
static uint64_t local_peer(const struct now_sockets *s, uint64_t inode)
{
    struct {
        struct nlmsghdr h;
        struct unix_diag_req r;
    } request = {
        .h = {.nlmsg_len = sizeof request,
              .nlmsg_type = SOCK_DIAG_BY_FAMILY,
              .nlmsg_flags = NLM_F_REQUEST},
        .r = {.sdiag_family = AF_UNIX,
              .udiag_states = ~0u,
              .udiag_ino = (uint32_t)inode,
              .udiag_show = UDIAG_SHOW_PEER,
              .udiag_cookie = {~0u, ~0u}}, /* none */
    };
    union {
        struct nlmsghdr h;
        char bytes[1024];
    } answer;
    if (s->netlink < 0 || inode > UINT32_MAX ||
        send(s->netlink, &request, sizeof request, 0) != sizeof request)
        return 0;
    const ssize_t n = recv(s->netlink, &answer, sizeof answer, 0);
    return n > 0 && NLMSG_OK(&answer.h, (size_t)n) ? peer_in(&answer.h) : 0;
}

static int open_netlink(const struct now_threads *t)
{
    const struct timeval patience = {.tv_sec = 1};
    const int fd =
        same_network(t) ? socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG) : -1;
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

/* ---- The other end of TCP sockets, on the same machine ---- */

struct ends {
    const char *local, *remote;
    uint32_t local_port, remote_port;
};

static struct ends ends_of(const struct socket *s)
{
    return (struct ends){s->at.local, s->at.remote, s->at.local_port, s->at.remote_port};
}

static int order_ends(struct ends x, struct ends y)
{
    WEFT_ORDER(x.local_port, y.local_port);
    WEFT_ORDER(x.remote_port, y.remote_port);
    const int local = strcmp(x.local, y.local);
    return local ? local : strcmp(x.remote, y.remote);
}

/* Sorted by qsort_r, which has what it needs passed to it. */
static int by_ends(const void *a, const void *b, void *sockets)
{
    const struct socket *s = sockets;
    return order_ends(ends_of(&s[*(const uint32_t *)a]), ends_of(&s[*(const uint32_t *)b]));
}

static void index_ends(struct now_sockets *s)
{
    s->by_ends = weft_resize(NULL, s->sockets, sizeof *s->by_ends);
    for (uint32_t i = 0; s->by_ends && i < s->sockets; i++)
        if (s->socket[i].kind == TCP && !s->socket[i].listens)
            s->by_ends[s->ends++] = i;
    if (s->ends)
        qsort_r(s->by_ends, s->ends, sizeof *s->by_ends, by_ends, s->socket);
}

static uint64_t tcp_peer(const struct now_sockets *s, const struct socket *own)
{
    const struct ends wanted = {own->at.remote, own->at.local, own->at.remote_port,
                                own->at.local_port};
    uint32_t low = 0, high = s->ends;
    WEFT_SEEK(low, high, order_ends(ends_of(&s->socket[s->by_ends[middle]]), wanted) < 0);
    const struct socket *found = low < s->ends ? &s->socket[s->by_ends[low]] : NULL;
    return found && order_ends(ends_of(found), wanted) == 0 ? found->inode : 0;
}

/* ---- In words ---- */

static void read_all(struct now_threads *t)
{
    static const char *const tables[] = {"tcp", "tcp6", "udp", "udp6", "unix"};
    t->sockets = calloc(1, sizeof *t->sockets);
    t->n->failed |= !t->sockets;
    if (!t->sockets)
        return;
    for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++)
        read_table(t, tables[i]);
    weft_sort(t->sockets->socket, t->sockets->sockets, sizeof *t->sockets->socket, weft_order_u64);
    index_ends(t->sockets);
    t->sockets->netlink = open_netlink(t);
}

struct address_text {
    char text[64];
};

/* The tables have addresses as words in this machine's order. */
static struct address_text address_text(const char *hex, uint32_t port)
{
    struct address_text to;
    uint32_t word[4] = {0};
    char text[INET6_ADDRSTRLEN] = "?";
    const bool wide = strlen(hex) == 32;
    for (unsigned i = 0; i < (wide ? 4 : 1); i++) {
        char part[9] = {0};
        memcpy(part, hex + (size_t)8 * i, strnlen(hex + (size_t)8 * i, 8));
        word[i] = (uint32_t)strtoul(part, NULL, 16);
    }
    inet_ntop(wide ? AF_INET6 : AF_INET, word, text, sizeof text);
    snprintf(to.text, sizeof to.text, wide ? "[%s]:%" PRIu32 : "%s:%" PRIu32, text, port);
    return to;
}

static const char *const states[] = {
    "in an unknown state",
    "connected to",
    "connecting to",
    "being connected from",
    "closing (FIN_WAIT1) to",
    "closing (FIN_WAIT2) to",
    "closed (TIME_WAIT) to",
    "closed to",
    "closed by",
    "closing (LAST_ACK) to",
    "listening",
    "closing to",
    "being connected from",
};

static void describe(const struct socket *s, struct now_socket *to)
{
    const struct address_text local = address_text(s->at.local, s->at.local_port),
                              remote = address_text(s->at.remote, s->at.remote_port);
    const char *protocol = s->kind == TCP ? "TCP" : "UDP";
    to->listens = s->listens;
    if (s->kind == LOCAL)
        snprintf(to->text, sizeof to->text, "UNIX socket%s%.200s%s", s->path ? " " : "",
                 s->path ? s->path : "", s->listens ? ", listening" : "");
    else if (s->listens || (s->kind == UDP && !s->at.remote_port))
        snprintf(to->text, sizeof to->text, "%s socket %s%s", protocol, local.text,
                 s->listens ? ", listening" : "");
    else
        snprintf(to->text, sizeof to->text, "%s socket %s, %s %s", protocol, local.text,
                 s->kind == UDP                                 ? "connected to"
                 : s->at.state < sizeof states / sizeof *states ? states[s->at.state]
                                                                : states[0],
                 remote.text);
}

bool now_socket_find(struct now_threads *t, uint64_t inode, struct now_socket *to)
{
    if (!t->sockets)
        read_all(t);
    const struct socket *s = t->sockets ? socket_of(t->sockets, inode) : NULL;
    *to = (struct now_socket){.peer = 0};
    if (!s)
        return false;
    describe(s, to);
    if (!s->listens && s->kind == TCP)
        to->peer = tcp_peer(t->sockets, s);
    else if (!s->listens && s->kind == LOCAL)
        to->peer = local_peer(t->sockets, inode);
    const struct socket *peer = to->peer ? socket_of(t->sockets, to->peer) : NULL;
    if (peer && peer->path && !s->path)
        snprintf(to->text, sizeof to->text, "UNIX socket, connected to %.200s", peer->path);
    return true;
}

void now_sockets_free(struct now_sockets *s)
{
    for (uint32_t i = 0; s && i < s->sockets; i++)
        free(s->socket[i].path);
    if (s && s->netlink >= 0)
        close(s->netlink);
    if (s)
        weft_free_all(s->socket, s->by_ends, s);
}
