/* SPDX-License-Identifier: ISC */
/* A program that forks, and whose children record:
 *
 *     daemon FIFO    goes into the background, and makes 50 rounds there; says "done" to the fifo
 *     workers N      N children make 10 rounds each, while three threads make rounds; then 5 rounds
 *     nested         a child makes 1 round and has a child that makes 2
 *     at-once        20 children, each with four threads that make 3 rounds, all at the same time
 *     _fork          a child by clone, without handlers, makes 3 rounds; then 4 rounds
 *     standby        the same, while weft_standby is on, of a program that has stopped recording
 *     exec           a child becomes another program; then 1 round
 *     own FILE       a child records into a file that it names
 *     stop           a child calls weft_stop first
 *     idle           a child makes no call
 *
 * A round is a promise, created and fulfilled: 2 events. Exits with 0 if all children did. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

static atomic_bool over;

static void rounds(long n)
{
    while (n-- > 0)
        weft_fulfill(weft_create("round", NULL));
}

static void *churn(void *nothing)
{
    while (!over)
        rounds(1);
    return nothing;
}

static int wait_for(pid_t pid)
{
    int status = 1;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
        fprintf(stderr, "the child ended with %x\n", (unsigned)status);
    return status != 0;
}

static int daemonize(const char *fifo)
{
    if (daemon(0, 0))
        return 1;
    rounds(50);
    weft_stop();
    int fd = open(fifo, O_WRONLY);
    return write(fd, "done\n", 5) != 5;
}

static int workers(long n)
{
    pthread_t thread[3];
    pid_t child[200];
    int failed = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, churn, NULL);
    for (long i = 0; i < n && i < 200; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            rounds(10);
            exit(0);
        }
    }
    for (long i = 0; i < n && i < 200; i++)
        failed |= wait_for(child[i]);
    over = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    rounds(5);
    return failed;
}

static int nested(void)
{
    pid_t pid = fork();
    if (pid)
        return wait_for(pid);
    rounds(1);
    pid = fork();
    if (pid)
        exit(wait_for(pid));
    rounds(2);
    exit(0);
}

static void *three_rounds(void *gate)
{
    pthread_barrier_wait(gate);
    rounds(3);
    return NULL;
}

static int at_once(void)
{
    int failed = 0;
    for (int i = 0; i < 20; i++) {
        pid_t pid = fork();
        if (pid) {
            failed |= wait_for(pid);
            continue;
        }
        pthread_barrier_t gate;
        pthread_barrier_init(&gate, NULL, 4);
        pthread_t thread[4];
        for (int k = 0; k < 4; k++)
            pthread_create(&thread[k], NULL, three_rounds, &gate);
        for (int k = 0; k < 4; k++)
            pthread_join(thread[k], NULL);
        exit(0);
    }
    return failed;
}

static int without_handlers(void)
{
    rounds(1);
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0) {
        rounds(3);
        exit(0);
    }
    int failed = wait_for(pid);
    rounds(4);
    return failed;
}

static int standby(void)
{
    weft_standby(1);
    int failed = without_handlers();
    weft_stop();
    return failed | without_handlers();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *text = argc > 2 ? argv[2] : "0";
    if (!strcmp(what, "daemon"))
        return daemonize(text);
    if (!strcmp(what, "workers"))
        return workers(strtol(text, NULL, 10));
    if (!strcmp(what, "nested"))
        return nested();
    if (!strcmp(what, "at-once"))
        return at_once();
    if (!strcmp(what, "_fork"))
        return without_handlers();
    if (!strcmp(what, "standby"))
        return standby();
    rounds(1);
    pid_t pid = fork();
    if (pid)
        return wait_for(pid);
    if (!strcmp(what, "exec"))
        execlp("true", "true", (char *)NULL);
    if (!strcmp(what, "own")) {
        weft_start(&(struct weft_options){.path = text, .bytes = 65536});
        rounds(7);
    }
    if (!strcmp(what, "stop")) {
        weft_stop();
        rounds(7);
    }
    exit(0);
}
