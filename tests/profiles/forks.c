/* SPDX-License-Identifier: ISC */
/* forks MS PROGRAM [ARGUMENT…]: burns MS milliseconds in parent(), a child as many in child(), which then becomes
 * PROGRAM; the parent waits for it. */
#include <sys/wait.h>
#include <unistd.h>

#include "share.h"

BURNER(ALONE, parent)
BURNER(ALONE, child)

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: forks MS PROGRAM [ARGUMENT…]\n", stderr);
        return 2;
    }
    uint64_t ns = parse_ms(argv[1]);
    pid_t pid = fork();
    if (pid < 0)
        abort();
    if (pid == 0) {
        uint64_t from = cpu_ns();
        child(from + ns);
        tell("child", cpu_ns() - from - stood_still_ns);
        fflush(stdout);
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    uint64_t from = cpu_ns();
    parent(from + ns);
    uint64_t burned = cpu_ns() - from - stood_still_ns;
    int status;
    if (waitpid(pid, &status, 0) != pid)
        abort();
    tell("parent", burned);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
