/* SPDX-License-Identifier: ISC */
/* uv KIND ROUNDS: so many rounds of one kind on libuv's loop, in a program that knows nothing of weft. Prints the CPU time of a
 * round, in ns. bench/run-libuv calls it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <uv.h>

static uv_loop_t *loop;
static long rounds;

static uv_timer_t timer;

static void on_timer(uv_timer_t *t)
{
    if (--rounds > 0)
        uv_timer_start(t, on_timer, 0, 0);
}

static void start_timer(void)
{
    uv_timer_init(loop, &timer);
    uv_timer_start(&timer, on_timer, 0, 0);
}

/* One byte there, one back. */
static uv_pipe_t ends[2];
static uv_write_t writing[2];
static char room[64];

static void on_room(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
    (void)handle;
    (void)size;
    *buffer = uv_buf_init(room, sizeof room);
}

static void on_written(uv_write_t *request, int status)
{
    (void)request;
    if (status != 0)
        exit(1);
}

static void say(int end)
{
    const uv_buf_t byte = uv_buf_init(room, 1);
    uv_write(&writing[end], (uv_stream_t *)&ends[end], &byte, 1, on_written);
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    (void)size;
    (void)buffer;
    if (stream == (uv_stream_t *)&ends[0] && --rounds == 0)
        uv_stop(loop);
    else
        say(stream == (uv_stream_t *)&ends[1]);
}

static void start_pipe(void)
{
    int fds[2];
    if (uv_socketpair(SOCK_STREAM, 0, fds, UV_NONBLOCK_PIPE, UV_NONBLOCK_PIPE) != 0)
        exit(1);
    for (int i = 0; i < 2; i++) {
        uv_pipe_init(loop, &ends[i], 0);
        uv_pipe_open(&ends[i], fds[i]);
        uv_read_start((uv_stream_t *)&ends[i], on_room, on_read);
    }
    say(0);
}

static uv_work_t work;

static void do_nothing(uv_work_t *request)
{
    (void)request;
}

static void on_work(uv_work_t *request, int status)
{
    if (status == 0 && --rounds > 0)
        uv_queue_work(loop, request, do_nothing, on_work);
}

static void start_work(void)
{
    uv_queue_work(loop, &work, do_nothing, on_work);
}

/* An operation at once. */
static void start_stat(void)
{
    for (uv_fs_t request; rounds > 0; rounds--) {
        uv_fs_stat(NULL, &request, "/", NULL);
        uv_fs_req_cleanup(&request);
    }
}

static int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*start)(void);
    } kinds[] = {
        {"timer", start_timer}, {"pipe", start_pipe}, {"work", start_work}, {"stat", start_stat}};
    setenv("UV_THREADPOOL_SIZE", "1", 1);
    loop = uv_default_loop();
    for (unsigned i = 0; argc == 3 && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(argv[1], kinds[i].name) != 0)
            continue;
        const long all = rounds = atol(argv[2]);
        const int64_t before = cpu_ns();
        kinds[i].start();
        uv_run(loop, UV_RUN_DEFAULT);
        printf("%lld\n", (long long)(cpu_ns() - before) / all);
        return 0;
    }
    fputs("usage: uv timer|pipe|work|stat ROUNDS\n", stderr);
    return 2;
}
