/* SPDX-License-Identifier: ISC */
/* Thumbnails are made by libuv's threads, of which there are four, and so are films. bad: five films are converted in one job
 * each, and the thumbnails wait. good: one film at a time, so that the other threads are free. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

enum { FILMS = 5, THUMBNAILS = 12 };

static uv_loop_t *loop;
static uv_work_t films[FILMS], thumbnails[THUMBNAILS];
static uv_timer_t requests;
static int bad, film, thumbnail;

static void convert_film(uv_work_t *work)
{
    (void)work;
    usleep(100000);
}

static void make_thumbnail(uv_work_t *work)
{
    (void)work;
    usleep(1000);
}

static void on_film(uv_work_t *work, int status)
{
    (void)work;
    if (status == 0 && film < FILMS) {
        uv_work_t *next = &films[film++];
        uv_queue_work(loop, next, convert_film, on_film);
    }
}

static void on_thumbnail(uv_work_t *work, int status)
{
    (void)work;
    (void)status;
}

/* Somebody wants to see one. */
static void on_request(uv_timer_t *timer)
{
    uv_queue_work(loop, &thumbnails[thumbnail], make_thumbnail, on_thumbnail);
    if (++thumbnail == THUMBNAILS)
        uv_close((uv_handle_t *)timer, NULL);
}

int main(int argc, char **argv)
{
    bad = argc < 2 || strcmp(argv[1], "good") != 0;
    setenv("UV_THREADPOOL_SIZE", "4", 1);
    loop = uv_default_loop();
    uv_timer_init(loop, &requests);
    uv_timer_start(&requests, on_request, 5, 5);
    do
        uv_queue_work(loop, &films[film++], convert_film, on_film);
    while (bad && film < FILMS);
    uv_run(loop, UV_RUN_DEFAULT);
    return 0;
}
