/* SPDX-License-Identifier: ISC */
/* Commands come through a FIFO. bad: it is opened as a file is, which takes until somebody writes, and nobody does. good: without
 * waiting for a writer. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <uv.h>

static uv_timer_t patience;
static uv_fs_t opening;

static void on_opened(uv_fs_t *request)
{
    uv_fs_req_cleanup(request);
    uv_close((uv_handle_t *)&patience, NULL);
}

/* exit would wait for the thread that waits. */
static void on_impatient(uv_timer_t *timer)
{
    (void)timer;
    _exit(1);
}

int main(int argc, char **argv)
{
    const int bad = argc < 2 || strcmp(argv[1], "good") != 0;
    uv_loop_t *loop = uv_default_loop();
    unlink("commands");
    if (mkfifo("commands", 0600) != 0)
        return 2;
    uv_fs_open(loop, &opening, "commands", bad ? O_RDONLY : O_RDONLY | O_NONBLOCK, 0, on_opened);
    uv_timer_init(loop, &patience);
    uv_timer_start(&patience, on_impatient, 200, 0);
    uv_run(loop, UV_RUN_DEFAULT);
    return 0;
}
