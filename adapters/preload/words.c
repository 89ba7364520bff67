/* SPDX-License-Identifier: ISC */
#include "adapter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

char *adapter_address(char text[ADAPTER_TEXT], const struct sockaddr *address, size_t size)
{
    char ip[INET6_ADDRSTRLEN] = "?";
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
        struct sockaddr_un local;
    } a = {.any = {.sa_family = AF_UNSPEC}};
    memcpy(&a, address, size < sizeof a ? size : sizeof a);
    *text = 0;
    if (a.any.sa_family == AF_INET && size >= sizeof a.four) {
        inet_ntop(AF_INET, &a.four.sin_addr, ip, sizeof ip);
        snprintf(text, ADAPTER_TEXT, "%s:%u", ip, ntohs(a.four.sin_port));
    } else if (a.any.sa_family == AF_INET6 && size >= sizeof a.six) {
        inet_ntop(AF_INET6, &a.six.sin6_addr, ip, sizeof ip);
        snprintf(text, ADAPTER_TEXT, "[%s]:%u", ip, ntohs(a.six.sin6_port));
    } else if (a.any.sa_family == AF_UNIX && size > offsetof(struct sockaddr_un, sun_path)) {
        const size_t n = size - offsetof(struct sockaddr_un, sun_path);
        const bool abstract = a.local.sun_path[0] == 0;
        const size_t most = n < sizeof a.local.sun_path ? n : sizeof a.local.sun_path;
        snprintf(text, ADAPTER_TEXT, "%s%.*s", abstract ? "@" : "", (int)(most - abstract),
                 a.local.sun_path + abstract);
    }
    return text;
}

static void put_socket(char *text, int fd, struct adapter_descriptor *d)
{
    struct sockaddr_storage name = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof name;
    int type = 0, listens = 0;
    char address[ADAPTER_TEXT] = "";
    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &(socklen_t){sizeof type});
    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &(socklen_t){sizeof listens});
    d->connected = getpeername(fd, (struct sockaddr *)&name, &size) == 0;
    d->listens = listens;
    d->stream = type == SOCK_STREAM;
    if (!d->connected ||
        size <= sizeof(sa_family_t)) { /* of an accepted local socket only our side has a name */
        size = sizeof name;
        if (getsockname(fd, (struct sockaddr *)&name, &size) < 0)
            size = 0;
    }
    adapter_address(address, (struct sockaddr *)&name, size);
    const char *kind = name.ss_family == AF_UNIX      ? "unix"
                       : type == SOCK_STREAM          ? "tcp"
                       : type == SOCK_DGRAM           ? "udp"
                       : name.ss_family == AF_NETLINK ? "netlink"
                                                      : "socket";
    snprintf(text, ADAPTER_TEXT, "%s%s%s%.200s", kind, listens ? " listen" : "",
             *address ? " " : "", address);
}

char *adapter_descriptor(char text[ADAPTER_TEXT], int fd)
{
    struct adapter_descriptor d;
    return adapter_describe(text, fd, &d);
}

char *adapter_describe(char text[ADAPTER_TEXT], int fd, struct adapter_descriptor *d)
{
    const int error = errno;
    struct stat st;
    char link[32], path[ADAPTER_TEXT];
    snprintf(text, ADAPTER_TEXT, "descriptor %d", fd);
    const bool exists = fstat(fd, &st) == 0;
    *d = (struct adapter_descriptor){.socket = exists && S_ISSOCK(st.st_mode),
                                     .terminal = exists && S_ISCHR(st.st_mode)};
    if (d->socket) {
        put_socket(text, fd, d);
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const ssize_t n = readlink(link, path, sizeof path - 1);
        path[n > 0 ? n : 0] = 0;
        /* "/var/log/x", "pipe:[123]", "anon_inode:[eventfd]", "anon_inode:inotify" */
        char *name = strncmp(path, "anon_inode:", 11) == 0 ? path + 11 : path;
        const size_t skipped = *name == '[';
        if (*name == '/')
            snprintf(text, ADAPTER_TEXT, "%s", name);
        else if (*name)
            snprintf(text, ADAPTER_TEXT, "%.*s", (int)strcspn(name + skipped, ":]"),
                     name + skipped);
    }
    errno = error;
    return text;
}

char *adapter_duration(char text[ADAPTER_TEXT], uint64_t ns)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    unsigned u = 0;
    while (u < 3 && ns < units[u].ns)
        u++;
    const unsigned tenths = (unsigned)(ns % units[u].ns * 10 / units[u].ns);
    char digits[20], *at = text;
    size_t n = 0;
    uint64_t whole = ns / units[u].ns;
    do /* snprintf takes ten times as long */
        digits[n++] = (char)('0' + whole % 10);
    while (whole /= 10);
    while (n)
        *at++ = digits[--n];
    if (tenths) {
        *at++ = '.';
        *at++ = (char)('0' + tenths);
    }
    *at++ = ' ';
    strcpy(at, ns ? units[u].name : "ms");
    return text;
}
