/* SPDX-License-Identifier: ISC */
/* A client asks its server for six things at once. bad: the server forgets to answer when it does not find what it was
 * asked for; the client gives up after a while. good: it says so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

enum { CLIENTS = 6 };

struct peer { /* one end of a connection */
    uv_pipe_t pipe;
    uv_connect_t connect;
    uv_write_t write;
    uv_work_t work;
    char in[64], out[64];
    int number;
};

static uv_loop_t *loop;
static uv_pipe_t listener;
static uv_timer_t patience;
static const char *path;
static int bad, answered, given_up;

static void on_closed(uv_handle_t *pipe)
{
    free(pipe->data);
}

static void hang_up(struct peer *p)
{
    if (!uv_is_closing((uv_handle_t *)&p->pipe))
        uv_close((uv_handle_t *)&p->pipe, on_closed);
}

static void on_room(uv_handle_t *pipe, size_t size, uv_buf_t *buffer)
{
    struct peer *p = pipe->data;
    (void)size;
    *buffer = uv_buf_init(p->in, sizeof p->in);
}

static void on_written(uv_write_t *write, int status)
{
    struct peer *p = write->data;
    if (status != 0)
        hang_up(p);
}

static void say(struct peer *p)
{
    const uv_buf_t buffer = uv_buf_init(p->out, (unsigned)strlen(p->out));
    p->write.data = p;
    uv_write(&p->write, (uv_stream_t *)&p->pipe, &buffer, 1, on_written);
}

/* ---- The server ---- */

static void find(uv_work_t *work)
{
    struct peer *p = work->data;
    usleep(20000 + 10000 * (unsigned)p->number);
    if (p->number != 4)
        snprintf(p->out, sizeof p->out, "%d", p->number * p->number);
}

static void on_found(uv_work_t *work, int status)
{
    struct peer *p = work->data;
    if (status != 0 || uv_is_closing((uv_handle_t *)&p->pipe))
        return;
    if (!*p->out && bad)
        return;
    if (!*p->out)
        strcpy(p->out, "not found");
    say(p);
}

static void on_question(uv_stream_t *pipe, ssize_t size, const uv_buf_t *buffer)
{
    struct peer *p = pipe->data;
    if (size <= 0) {
        hang_up(p);
        return;
    }
    p->number = buffer->base[0] - '0';
    p->work.data = p;
    uv_queue_work(loop, &p->work, find, on_found);
}

static struct peer *new_peer(void)
{
    struct peer *p = calloc(1, sizeof *p);
    uv_pipe_init(loop, &p->pipe, 0);
    p->pipe.data = p;
    return p;
}

static void on_connection(uv_stream_t *server, int status)
{
    if (status != 0)
        return;
    struct peer *p = new_peer();
    uv_accept(server, (uv_stream_t *)&p->pipe);
    uv_read_start((uv_stream_t *)&p->pipe, on_room, on_question);
}

/* ---- The client ---- */

static void finish(void)
{
    uv_close((uv_handle_t *)&listener, NULL);
    uv_close((uv_handle_t *)&patience, NULL);
}

static void on_answer(uv_stream_t *pipe, ssize_t size, const uv_buf_t *buffer)
{
    struct peer *p = pipe->data;
    if (size > 0)
        printf("%d: %.*s\n", p->number, (int)size, buffer->base);
    hang_up(p);
    if (++answered == CLIENTS)
        finish();
}

static void on_connected(uv_connect_t *connect, int status)
{
    struct peer *p = connect->data;
    if (status != 0)
        exit(2);
    snprintf(p->out, sizeof p->out, "%d", p->number);
    say(p);
    uv_read_start((uv_stream_t *)&p->pipe, on_room, on_answer);
}

static void on_impatient(uv_timer_t *timer)
{
    (void)timer;
    given_up = 1;
    uv_stop(loop);
}

int main(int argc, char **argv)
{
    bad = argc < 2 || strcmp(argv[1], "good") != 0;
    path = argc > 2 ? argv[2] : "reply.sock";
    loop = uv_default_loop();
    unlink(path);
    uv_pipe_init(loop, &listener, 0);
    uv_pipe_bind(&listener, path);
    if (uv_listen((uv_stream_t *)&listener, CLIENTS, on_connection) != 0)
        return 2;
    uv_timer_init(loop, &patience);
    uv_timer_start(&patience, on_impatient, 400, 0);
    for (int i = 0; i < CLIENTS; i++) {
        struct peer *p = new_peer();
        p->number = i;
        p->connect.data = p;
        uv_pipe_connect(&p->connect, &p->pipe, path, on_connected);
    }
    uv_run(loop, UV_RUN_DEFAULT);
    unlink(path);
    return given_up;
}
