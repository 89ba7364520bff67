/* SPDX-License-Identifier: ISC */
/* The last thing that a guest's init starts: runs the commands that the control domain writes to data/lab/run. When
 * command N has ended, its status is in data/lab/ended/N. */
#include "orders.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(unsigned number, const char *command)
{
    char key[64], value[16];
    int status = system(command);
    struct xs_handle *xs = xs_open(0);
    if (!xs)
        err(1, "XenStore");
    snprintf(key, sizeof key, "data/lab/ended/%u", number);
    snprintf(value, sizeof value, "%d",
             WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    orders_write(xs, key, value);
    xs_close(xs);
}

int main(void)
{
    struct orders o;
    orders_open(&o, "data/lab/run");
    o.number = 0;
    orders_write(o.xs, "data/lab/up", "1");
    for (;;) {
        const char *command = orders_next(&o);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        pid_t pid = fork();
        if (pid < 0)
            err(1, "fork");
        if (pid == 0) {
            run(o.number, command);
            _exit(0);
        }
        orders_answer(&o, "started");
    }
}
