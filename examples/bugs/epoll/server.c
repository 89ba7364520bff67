/* SPDX-License-Identifier: ISC */
/* A server on epoll that knows nothing of weft, and two clients. Each asks for forty pages, one after the other.
 *
 *     server good        nothing is wrong
 *     server blocked     page 27 is computed for 300 ms, while the other client waits for another page
 *     server forgotten   page 27 fails, and nobody answers; the client gives up after two seconds
 *     server unread      what wakes the loop up is never read, so the loop never sleeps again
 *
 * When both clients have asked, the server is ended as by Ctrl-C. */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 40, BAD = 27, TURNS = 20000 };

static const char *fault;

static int is(const char *name)
{
    return strcmp(fault, name) == 0;
}

static void compute(long ms)
{
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < ms);
}

/* ---- The clients, threads of another process ---- */

static struct sockaddr_in address;
static pthread_barrier_t asked; /* for the bad page: the other client goes on then */

static int ask(int page)
{
    char text[256] = "";
    const struct timeval limit = {.tv_sec = 2};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (page == BAD && is("forgotten"))
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (page == BAD + PAGES)
        pthread_barrier_wait(&asked);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) < 0)
        return 0;
    const int n = snprintf(text, sizeof text, "GET /page/%d HTTP/1.0\r\n\r\n", page);
    if (write(fd, text, (size_t)n) != n)
        return 0;
    if (page == BAD)
        pthread_barrier_wait(&asked);
    if (recv(fd, text, sizeof text - 1, 0) <= 0)
        return 0; /* the user still looks at the empty page */
    close(fd);
    return 1;
}

static void *run_client(void *first)
{
    intptr_t answers = 0;
    for (int page = 0; page < PAGES; page++)
        answers += ask((int)(intptr_t)first + page);
    return (void *)answers;
}

static int run_clients(int over)
{
    pthread_t client[2];
    void *answers;
    intptr_t all = 0;
    pthread_barrier_init(&asked, NULL, 2);
    for (intptr_t i = 0; i < 2; i++)
        pthread_create(&client[i], NULL, run_client, (void *)(1 + i * PAGES));
    for (int i = 0; i < 2; i++) {
        pthread_join(client[i], &answers);
        all += (intptr_t)answers;
    }
    printf("%d answers\n", (int)all);
    fflush(stdout);
    eventfd_write(over, 1);
    return pause();
}

/* ---- The server ---- */

static void answer(int fd)
{
    char text[256];
    int page = 0;
    const ssize_t n = read(fd, text, sizeof text - 1);
    if (n <= 0) {
        close(fd);
        return;
    }
    text[n] = 0;
    sscanf(text, "GET /page/%d", &page);
    if (page == BAD && is("blocked"))
        compute(300);
    if (page == BAD && is("forgotten"))
        return;
    const char *reply = "HTTP/1.0 200 OK\r\n\r\nhello\n";
    if (write(fd, reply, strlen(reply)) < 0)
        close(fd);
}

static void watch(int poll, int fd)
{
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &e);
}

int main(int count, char **word)
{
    struct epoll_event ready[16];
    socklen_t size = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fault = count > 1 ? word[1] : "good";
    const int listener = socket(AF_INET, SOCK_STREAM, 0), waker = eventfd(0, EFD_NONBLOCK);
    const int over = eventfd(0, EFD_NONBLOCK);
    bool ends = false;
    if (bind(listener, (const struct sockaddr *)&address, size) < 0 || listen(listener, 16) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) < 0)
        return 1;
    const pid_t clients = fork();
    if (clients == 0)
        return run_clients(over);
    const int poll = epoll_create1(0);
    watch(poll, listener);
    watch(poll, waker);
    watch(poll, over);
    for (unsigned turn = 0; !ends || (is("unread") && turn < TURNS); turn++) {
        const int n = epoll_wait(poll, ready, 16, -1);
        for (int i = 0; i < n; i++) {
            const int fd = ready[i].data.fd;
            if (fd == listener)
                watch(poll, accept(fd, NULL, NULL));
            else if (fd == over)
                ends = eventfd_read(fd, &(eventfd_t){0}) == 0;
            else if (fd != waker)
                answer(fd);
            else if (!is("unread"))
                eventfd_read(fd, &(eventfd_t){0});
        }
        if (turn == 5)
            eventfd_write(waker, 1);
    }
    kill(clients, SIGKILL);
    return raise(SIGINT);
}
