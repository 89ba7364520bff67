/* SPDX-License-Identifier: ISC */
/* The size of each file of a list is wanted. bad: one after the other, each by a process of its own that takes 20 ms. good: all
 * at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

enum { FILES = 8 };

static uv_loop_t *loop;
static uv_process_t processes[FILES];
static int bad, started, ended;

static void start(void);

static void on_counted(uv_process_t *process, int64_t status, int signal)
{
    uv_close((uv_handle_t *)process, NULL);
    if (status != 0 || signal != 0)
        exit(2);
    ended++;
    if (bad && started < FILES)
        start();
}

static void start(void)
{
    static char shell[] = "sh", option[] = "-c", command[] = "sleep 0.02";
    char file[16];
    snprintf(file, sizeof file, "part%d.txt", started);
    char *args[] = {shell, option, command, file, NULL};
    const uv_process_options_t options = {.file = shell, .args = args, .exit_cb = on_counted};
    if (uv_spawn(loop, &processes[started++], &options) != 0)
        exit(2);
}

static void on_list(uv_timer_t *timer)
{
    do
        start();
    while (!bad && started < FILES);
    uv_close((uv_handle_t *)timer, NULL);
}

int main(int argc, char **argv)
{
    uv_timer_t timer;
    bad = argc < 2 || strcmp(argv[1], "good") != 0;
    loop = uv_default_loop();
    uv_timer_init(loop, &timer);
    uv_timer_start(&timer, on_list, 1, 0);
    uv_run(loop, UV_RUN_DEFAULT);
    printf("%d files\n", ended);
    return 0;
}
