/* SPDX-License-Identifier: ISC */
/* Uses what the adapter for libev stands in for, and prints what its callbacks are given. */
#include <ev.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int sockets[2], ticks, data;

static void on_byte(struct ev_loop *loop, ev_io *w, int events)
{
    char byte;
    const long n = read(w->fd, &byte, 1);
    printf("byte %ld %#x %d\n", n, (unsigned)events, w->data == &data);
    ev_io_stop(loop, w);
    ev_break(loop, EVBREAK_ONE);
}

static void on_timer(struct ev_loop *loop, ev_timer *w, int events)
{
    const long n = write(sockets[1], "x", 1);
    (void)loop, (void)w;
    printf("timer %ld %#x\n", n, (unsigned)events);
}

static void on_tick(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)events;
    if (++ticks == 3) {
        ev_timer_stop(loop, w);
        ev_break(loop, EVBREAK_ONE);
    }
}

static void on_signal(struct ev_loop *loop, ev_signal *w, int events)
{
    printf("signal %d %#x\n", w->signum, (unsigned)events);
    ev_signal_stop(loop, w);
    ev_break(loop, EVBREAK_ONE);
}

static void on_child(struct ev_loop *loop, ev_child *w, int events)
{
    printf("child %d %#x\n", WEXITSTATUS(w->rstatus), (unsigned)events);
    ev_child_stop(loop, w);
    ev_break(loop, EVBREAK_ONE);
}

static void on_once(int events, void *argument)
{
    printf("once %#x %d\n", (unsigned)events, argument == &data);
}

int main(void)
{
    struct ev_loop *loop = EV_DEFAULT;
    ev_io io;
    ev_timer timer, tick, never;
    ev_signal signal;
    ev_child child;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0)
        return 1;
    ev_io_init(&io, on_byte, sockets[0], EV_READ);
    io.data = &data;
    ev_io_start(loop, &io);
    ev_timer_init(&timer, on_timer, 0.002, 0.);
    ev_timer_start(loop, &timer);
    ev_timer_init(&never, on_timer, 3600., 0.);
    ev_timer_start(loop, &never);
    ev_once(loop, -1, 0, 0.001, on_once, &data);
    ev_run(loop, 0);
    ev_timer_stop(loop, &never);
    printf("callbacks %d %d %d\n", ev_cb(&never) == on_timer, ev_cb(&io) == on_byte,
           ev_cb(&timer) == on_timer);

    ev_timer_init(&tick, on_tick, 0., 0.001);
    ev_timer_again(loop, &tick);
    ev_run(loop, 0);
    printf("ticks %d\n", ticks);

    ev_signal_init(&signal, on_signal, SIGUSR1);
    ev_signal_start(loop, &signal);
    raise(SIGUSR1);
    ev_run(loop, 0);

    const pid_t process = fork();
    if (process == 0)
        _exit(3);
    ev_child_init(&child, on_child, process, 0);
    ev_child_start(loop, &child);
    ev_run(loop, 0);
    ev_loop_destroy(loop);
    return 0;
}
