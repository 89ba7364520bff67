/* SPDX-License-Identifier: ISC */
#include "output/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIGNALS 4
static const int signals[SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static struct sigaction before_ours[SIGNALS];
static struct sigaction
    file_limit; /* SIGXFSZ: a limit on the size of files is an error like a full disk */

/* Written while signals are blocked. */
static const char *unfinished;
static bool is_folder;

/* ---- Removing a folder, also in a signal's handler: no stdio, no malloc ---- */

/* What the system call returns. */
struct entry {
    uint64_t inode, next;
    unsigned short size;
    unsigned char type;
    char name[];
};

void output_folder_remove(const char *path)
{
    static _Alignas(struct entry) char list[32768];
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    for (bool removed = true; fd >= 0 && removed;) {
        removed = false;
        lseek(fd, 0, SEEK_SET);
        for (long n; (n = syscall(SYS_getdents64, fd, list, sizeof list)) > 0;)
            for (long at = 0; at < n;) {
                const struct entry *e = (const void *)(list + at);
                removed |= unlinkat(fd, e->name, 0) == 0;
                at += e->size;
            }
    }
    if (fd >= 0)
        close(fd);
    rmdir(path);
}

static void on_signal(int number)
{
    if (is_folder)
        output_folder_remove(unfinished);
    else
        unlink(unfinished);
    for (unsigned i = 0; i < SIGNALS; i++)
        if (signals[i] == number)
            sigaction(number, &before_ours[i], NULL);
    raise(number); /* delivered when this returns */
}

/* ---- ---- */

void output_unfinished_hold(sigset_t *before)
{
    sigset_t wait;
    sigemptyset(&wait);
    for (unsigned i = 0; i < SIGNALS; i++)
        sigaddset(&wait, signals[i]);
    sigprocmask(SIG_BLOCK, &wait, before);
}

void output_unfinished_keep(const char *path, bool folder, const sigset_t *before)
{
    struct sigaction ours = {.sa_handler = on_signal};
    sigfillset(&ours.sa_mask);
    unfinished = path;
    is_folder = folder;
    for (unsigned i = 0; path && i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before_ours[i]) == 0 &&
            before_ours[i].sa_handler != SIG_IGN) /* nohup */
            sigaction(signals[i], &ours, NULL);
    if (path)
        sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, &file_limit);
    sigprocmask(SIG_SETMASK, before, NULL);
}

void output_unfinished_forget(void)
{
    if (!unfinished)
        return;
    for (unsigned i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before_ours[i], NULL);
    sigaction(SIGXFSZ, &file_limit, NULL);
    unfinished = NULL;
}
