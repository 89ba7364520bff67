/* SPDX-License-Identifier: ISC */
#include "cli/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/common.h"

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
#define PASSED_ON (sizeof passed_on / sizeof *passed_on)

static volatile pid_t child;
static volatile pid_t diverted[NSIG]; /* who else gets a signal; 0: the program */
static bool ignored[PASSED_ON];       /* when weft was started; the program inherits it */
/* The child writes 0 here once it is ready, waits for a byte, and writes an errno if it cannot become the program. */
static int line;

/* A key on the terminal (ctrl-C) reaches the program directly. Shells make background jobs ignore SIGINT, but whoever
 * sends it explicitly means it, and the program may handle it. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    const pid_t to = diverted[number] ? diverted[number] : child;
    if (info->si_code <= 0 && to > 0)
        kill(to, number);
    errno = saved;
}

/* Any other wait ends when the child ends. */
static void wake(int number)
{
    (void)number;
}

static void catch_signals(void)
{
    struct sigaction catch = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART}, was;
    sigemptyset(&catch.sa_mask);
    for (unsigned i = 0; i < PASSED_ON; i++)
        ignored[i] =
            sigaction(passed_on[i], &catch, &was) == 0 && was.sa_handler == SIG_IGN; /* nohup, & */
    catch = (struct sigaction){.sa_handler = wake, .sa_flags = SA_NOCLDSTOP};
    sigemptyset(&catch.sa_mask);
    sigaction(SIGCHLD, &catch, NULL);
}

void cli_child_divert(int number, pid_t to)
{
    struct sigaction catch = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&catch.sa_mask);
    if (number > 0 && number < NSIG) {
        diverted[number] = to;
        sigaction(number, &catch, NULL);
    }
}

/* Becomes the program, or reports why it cannot. */
_Noreturn static void become(char **argv, cli_child_fn *prepare, void *data, const sigset_t *mask,
                             int own)
{
    int error = 0;
    char byte;
    for (unsigned i = 0; i < PASSED_ON; i++)
        signal(passed_on[i], ignored[i] ? SIG_IGN : SIG_DFL);
    if (prepare)
        prepare(data);
    /* If the parent is gone, nobody will let the child continue. */
    if (write(own, &error, sizeof error) < 0 || read(own, &byte, 1) != 1)
        _exit(126);
    signal(SIGPIPE, cli_sigpipe);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(argv[0], argv);
    error = errno;
    _exit(write(own, &error, sizeof error) < 0 ? 126 : 127);
}

/* Reads what the child reports next: 0 or an errno; -1 once it has become the program or has ended. */
static int listen_to(void)
{
    int error = 0;
    return TEMP_FAILURE_RETRY(read(line, &error, sizeof error)) == sizeof error ? error : -1;
}

int cli_child_start(pid_t *pid, char **argv, cli_child_fn *prepare, void *data)
{
    int pair[2], error = 0;
    sigset_t all, before;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return errno;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    catch_signals();
    child = fork();
    if (child == 0) {
        close(pair[0]);
        become(argv, prepare, data, &before, pair[1]);
    }
    if (child < 0)
        error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(pair[1]);
    line = pair[0];
    *pid = child;
    if (error)
        close(line);
    else
        listen_to(); /* it is ready, or it has ended, which cli_child_go notices */
    return error;
}

int cli_child_go(void)
{
    int status;
    const bool there = write(line, "", 1) == 1;
    const int error = there ? listen_to() : -1;
    close(line);
    if (error <= 0)
        return 0; /* a child that was killed in the meantime ended as expected */
    cli_child_ended(true, &status);
    return error;
}

int cli_child_failed(const char *program, int error)
{
    cli_say(program, "cannot be executed: %s", strerror(error));
    return error == ENOENT ? 127 : 126;
}

void cli_child_cancel(void)
{
    int status;
    close(line);
    cli_child_ended(true, &status);
}

bool cli_child_ended(bool wait, int *status)
{
    if (TEMP_FAILURE_RETRY(waitpid(child, status, wait ? 0 : WNOHANG)) == 0)
        return false;
    child = 0;
    return true;
}

_Noreturn void cli_end_as(int status)
{
    if (WIFSIGNALED(status)) {
        int number = WTERMSIG(status);
        sigset_t one;
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        sigemptyset(&one);
        sigaddset(&one, number);
        signal(number, SIG_DFL);
        sigprocmask(SIG_UNBLOCK, &one, NULL);
        raise(number);
        exit(128 + number);
    }
    exit(WEXITSTATUS(status));
}

void cli_tell_ending(int status)
{
    if (WIFSIGNALED(status))
        fprintf(stderr, "; killed by signal %d (%s)", WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status))
        fprintf(stderr, "; exit status %d", WEXITSTATUS(status));
}
