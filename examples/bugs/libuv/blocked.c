/* SPDX-License-Identifier: ISC */
/* Something is measured every 5 ms, and once there is a report. bad: its rows are sorted in the loop, and measurements wait.
 * good: on a thread of libuv's. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

enum { ROWS = 1 << 20, MEASUREMENTS = 60 };

static uv_loop_t *loop;
static uv_timer_t ticks, report;
static uv_work_t work, measurements[MEASUREMENTS];
static uint32_t rows[ROWS];
static int bad, measured;

static int by_value(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void sort_rows(uv_work_t *unused)
{
    uint32_t x = 1;
    (void)unused;
    for (int i = 0; i < ROWS; i++)
        rows[i] = x = x * 1664525 + 1013904223;
    qsort(rows, ROWS, sizeof *rows, by_value);
}

static void on_sorted(uv_work_t *unused, int status)
{
    (void)unused;
    (void)status;
}

static void on_report(uv_timer_t *timer)
{
    if (bad)
        sort_rows(NULL);
    else
        uv_queue_work(loop, &work, sort_rows, on_sorted);
    uv_close((uv_handle_t *)timer, NULL);
}

static void measure(uv_work_t *unused)
{
    (void)unused;
    usleep(2000);
}

static void on_measured(uv_work_t *unused, int status)
{
    (void)unused;
    (void)status;
}

static void on_tick(uv_timer_t *timer)
{
    uv_queue_work(loop, &measurements[measured], measure, on_measured);
    if (++measured == 10)
        uv_timer_start(&report, on_report, 0, 0);
    if (measured == MEASUREMENTS)
        uv_close((uv_handle_t *)timer, NULL);
}

int main(int argc, char **argv)
{
    bad = argc < 2 || strcmp(argv[1], "good") != 0;
    loop = uv_default_loop();
    uv_timer_init(loop, &ticks);
    uv_timer_start(&ticks, on_tick, 5, 5);
    uv_timer_init(loop, &report);
    uv_run(loop, UV_RUN_DEFAULT);
    return 0;
}
