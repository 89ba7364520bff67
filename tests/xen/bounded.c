/* SPDX-License-Identifier: ISC */
/* Runs a command that must end by itself, soon, and not take much memory:
 *
 *     bounded SECONDS KIBIBYTES COMMAND...
 *
 * Its status is the command's; or 124: it took longer, and was killed; 125: a signal ended it; 126: it took more
 * memory. The last line of standard error then says so. */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;
static volatile sig_atomic_t late;

static void end_it(int signal)
{
    (void)signal;
    late = 1;
    kill(child, SIGKILL);
}

int main(int argc, char **argv)
{
    struct rusage used;
    int status;
    if (argc < 4)
        return 2;
    child = fork();
    if (child < 0)
        err(2, "fork");
    if (child == 0) {
        execvp(argv[3], argv + 3);
        err(127, "%s", argv[3]);
    }
    signal(SIGALRM, end_it);
    alarm((unsigned)atoi(argv[1]));
    while (wait4(child, &status, 0, &used) != child)
        ;
    if (late) {
        warnx("took longer than %s s", argv[1]);
        return 124;
    }
    if (WIFSIGNALED(status)) {
        warnx("ended by signal %d", WTERMSIG(status));
        return 125;
    }
    if (used.ru_maxrss > atol(argv[2])) {
        warnx("took %ld KiB", used.ru_maxrss);
        return 126;
    }
    return WEXITSTATUS(status);
}
