/* SPDX-License-Identifier: ISC */
#include "cli/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/common.h"
#include "read/alive.h"

/* Appends the text, with its NUL, to the facts, in which the recorder has left space for it. */
static bool add_fact(int fd, struct weft_facts_header *f, const char *text)
{
    const uint64_t used = f->packet.content_bits / 8, size = strlen(text) + 1;
    if (used < sizeof *f || used > f->packet.packet_bits / 8 ||
        size > f->packet.packet_bits / 8 - used)
        return true;
    f->packet.content_bits += size * 8;
    return pwrite(fd, text, size, (off_t)used) == (ssize_t)size &&
           pwrite(fd, &f->packet.content_bits, sizeof f->packet.content_bits,
                  offsetof(struct weft_packet_header, content_bits)) ==
               sizeof f->packet.content_bits;
}

/* Writes the time and, for the process itself, how it ended. */
static bool note(int fd, struct weft_facts_header *f, pid_t pid, int status)
{
    char text[32];
    const uint64_t ns = (uint64_t)weft_monotonic_ns();
    if (f->state == WEFT_TRACE_RECORDING &&
        pwrite(fd, &ns, sizeof ns, offsetof(struct weft_facts_header, stop_mono_ns)) != sizeof ns)
        return false;
    if (f->pid != (uint32_t)pid)
        return true;
    snprintf(text, sizeof text, WIFSIGNALED(status) ? "end=signal %d" : "end=exit %d",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return add_fact(fd, f, text);
}

/* A process that was killed together with its parent may take a moment to end; a daemon stays. */
static void wait_for(pid_t pid)
{
    enum { MOMENT_MS = 200 };
    struct pollfd process = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    if (process.fd < 0)
        return;
    (void)poll(&process, 1, MOMENT_MS);
    close(process.fd);
}

void cli_ending_note(const char *path, const char *name, pid_t pid, int status)
{
    struct weft_facts_header facts;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    const bool read = weft_facts_read(fd, &facts);
    if (read && facts.pid != (uint32_t)pid && weft_facts_alive(&facts))
        wait_for((pid_t)facts.pid);
    if (read && !weft_facts_alive(&facts) && !note(fd, &facts, pid, status))
        cli_say(name, "cannot be written: %s", strerror(errno));
    close(fd);
}

struct cli_exit_text cli_exit_text(const struct weft_exit *e)
{
    struct cli_exit_text out = {""};
    if (e->known && e->by_signal)
        snprintf(out.text, sizeof out.text, "signal %" PRIu32 " (%s)", e->number,
                 strsignal((int)e->number));
    else if (e->known)
        snprintf(out.text, sizeof out.text, "exit status %" PRIu32, e->number);
    return out;
}
