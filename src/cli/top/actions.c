/* SPDX-License-Identifier: ISC */
/* What weft top leaves to other commands of weft: explaining and saving. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/report.h"
#include "cli/top/screen.h"

/* Becomes weft with these arguments. */
static _Noreturn void be_weft(const char *const *argv)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    signal(SIGPIPE, cli_sigpipe);
    execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
    _exit(127);
}

/* Ctrl-C is for the pager. */
static void wait_for(pid_t child)
{
    struct sigaction old, ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGINT, &ignore, &old);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    sigaction(SIGINT, &old, NULL);
}

static void wait_for_enter(void)
{
    char c;
    static const char text[] = "\nEnter goes back to weft top. ";
    (void)!write(STDOUT_FILENO, text, sizeof text - 1);
    while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
        ;
}

void top_explain(struct top_screen *s)
{
    const struct top_process *p = top_screen_process(s);
    char pid[16];
    if (!p) {
        top_screen_tell(s, true, "there is no process to be explained");
        return;
    }
    snprintf(pid, sizeof pid, "%d", (int)p->pid);
    const char *const plain[] = {"weft", "explain", pid, NULL};
    const char *const without[] = {"weft", "--no-pager", "explain", pid, NULL};
    top_screen_leave();
    const pid_t child = fork();
    if (child == 0) {
        setenv("LESS", "R",
               0); /* it stays until the user leaves it, also if all fits on the screen */
        be_weft(cli_no_pager ? without : plain);
    }
    if (child > 0)
        wait_for(child);
    if (child > 0 && !cli_has_pager())
        wait_for_enter();
    top_screen_return();
    s->look_now = true;
}

/* PROGRAM-PID-TIME.weft, with harmless characters only. */
static void name_file(char *name, size_t size, const struct top_process *p)
{
    char program[sizeof p->program], clock[32];
    const time_t now = time(NULL);
    snprintf(program, sizeof program, "%s", p->program);
    for (char *c = program; *c; c++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.", *c) ||
            (c == program && *c == '.'))
            *c = '_';
    strftime(clock, sizeof clock, "%Y%m%d-%H%M%S", localtime(&now));
    snprintf(name, size, "%s-%d-%s.weft", program, (int)p->pid, clock);
}

void top_save(struct top_screen *s)
{
    const struct top_process *p = top_screen_process(s);
    char pid[16], name[160], said[200] = "";
    int fds[2], status = -1;
    if (!p || pipe2(fds, O_CLOEXEC) < 0) {
        top_screen_tell(s, true, "there is no process to be saved");
        return;
    }
    snprintf(pid, sizeof pid, "%d", (int)p->pid);
    name_file(name, sizeof name, p);
    const char *const argv[] = {"weft", "save", "-o", name, pid, NULL};
    const pid_t child = fork();
    if (child == 0) {
        dup2(fds[1], STDOUT_FILENO);
        dup2(fds[1], STDERR_FILENO);
        be_weft(argv);
    }
    close(fds[1]);
    size_t size = 0;
    for (ssize_t n;
         size < sizeof said - 1 && (n = read(fds[0], said + size, sizeof said - 1 - size)) > 0;)
        size += (size_t)n;
    close(fds[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    said[strcspn(said, "\n")] = 0;
    if (status == 0)
        top_screen_tell(s, false, "saved: %s", name);
    else
        top_screen_tell(s, true, "%s", *said ? said : "it could not be saved");
}
