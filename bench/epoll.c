/* SPDX-License-Identifier: ISC */
/* bench/run-epoll: what calls of epoll cost that are recorded, and those that only pass through the adapter.
 *
 *     epoll request TIMES    a connection is ready, is read, and answered
 *     epoll ready TIMES      eight pipes are ready at once, and are read one after the other
 *     epoll passing TIMES    a pipe that nobody waits for is written and read */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int set;

static void add(int fd)
{
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(set, EPOLL_CTL_ADD, fd, &e);
}

static int handle(int answers)
{
    char text[64];
    struct epoll_event e[16];
    const int n = epoll_wait(set, e, 16, -1);
    for (int i = 0; i < n; i++)
        if (read(e[i].data.fd, text, sizeof text) < 1 ||
            (answers && write(e[i].data.fd, "ok", 2) != 2))
            return -1;
    return n;
}

/* A connection to ourselves; *accepted is its end in the server. */
static int connection(int *accepted)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t size = sizeof(sa_family_t); /* the system chooses a name */
    struct epoll_event e;
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0), fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&name, size) < 0 || listen(listener, 1) < 0)
        return -1;
    size = sizeof name;
    getsockname(listener, (struct sockaddr *)&name, &size);
    add(listener);
    if (connect(fd, (struct sockaddr *)&name, size) < 0 || epoll_wait(set, &e, 1, -1) != 1)
        return -1;
    *accepted = accept(listener, NULL, NULL);
    add(*accepted);
    return fd;
}

int main(int count, char **word)
{
    char text[64];
    int end[8][2], server;
    const long times = count > 2 ? atol(word[2]) : 0;
    const char what = count > 1 ? *word[1] : 0;
    set = epoll_create1(0);
    for (int i = 0; i < 8; i++)
        if (pipe(end[i]) < 0)
            return 1;
    const int client = what == 'r' ? connection(&server) : -1;
    const int many = what == 'r' && strcmp(word[1], "ready") == 0;
    for (int i = 0; i < 8 && many; i++)
        add(end[i][0]);
    for (long t = 0; t < times; t++) {
        for (int i = 0; i < 8 && many; i++)
            if (write(end[i][1], "x", 1) != 1)
                return 1;
        if (what == 'p' && (write(end[0][1], "x", 1) != 1 || read(end[0][0], text, 1) != 1))
            return 1;
        if (many && handle(0) != 8)
            return 1;
        if (what == 'r' && !many &&
            (write(client, "x", 1) != 1 || handle(1) != 1 || read(client, text, 8) != 2))
            return 1;
    }
    return 0;
}
