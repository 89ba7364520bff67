/* SPDX-License-Identifier: ISC */
/* Node.js opens its inspector, a server on the loopback, when it gets SIGUSR1, or has done so from the beginning
 * (--inspect). It is asked to load adapters/node/late.js and to list what its heap has; afterwards an inspector that was
 * opened for this is closed. Nothing is done to a process that would not stand it: one that handles the signal itself or
 * dies of it, or is not able to answer. */
#include "cli/late/node.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/common.h"
#include "cli/record.h"
#include "cli/rights.h"
#include "now/process.h"
#include "sample/proc.h"
#ifdef WEFT_HAS_SOUP
#include "cli/late/ask.h"
#endif

bool cli_late_is_node(const struct cli_target *t)
{
    static const char *const name[] = {"napi_module_register"};
    uint64_t address = 0;
    struct now_process p;
    struct weft_error err;
    if (now_process_open(&p, t->pid, &err) == 0)
        now_symbol_addresses(&p, "", name, 1, &address);
    now_process_close(&p);
    return address != 0;
}

/* What cannot be done to it. Returns -1. */
static int refuse(const struct cli_target *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int refuse(const struct cli_target *t, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    cli_say(t->name, "is a Node.js program that was started without weft, and %s", text);
    return -1;
}

#ifndef WEFT_HAS_SOUP
int cli_late_node(const struct cli_target *t, struct cli_late_node *l)
{
    (void)l;
    return refuse(t, "this build of weft cannot bring it in: it was built without libsoup");
}
#else

enum {
    DEFAULT_PORT = 9229,
    STEP_NS = 2000000,
    ARGUMENTS_FIELD = 48,  /* of /proc/PID/stat */
    STRINGS_MAX = 1 << 18, /* bytes of arguments, and of variables */
};
/* A process that answers needs less, on any machine. */
#define LEAST_WAIT_NS INT64_C(500000000)

struct late {
    const struct cli_target *t;
    struct cli_late_node *l;
    struct cli_loop loop;
    char file[PATH_MAX]; /* late.js */
    uint16_t wanted;     /* the port of its inspector by its options; 0: any */
    int64_t until_ns;
    bool from_start;  /* it was told to open it when it started */
    bool opened;      /* by us */
    int process;      /* a pidfd: whatever happens, no other process gets the signal */
    const char *host; /* of its inspector */
    uint16_t port;
};

/* ---- What it was started with ---- */

/* "--inspect=host:port" and the like. */
static void look_at_option(struct late *d, const char *option)
{
    static const char *const names[] = {"--inspect", "--debug-port"};
    const size_t length = strcspn(option, " ");
    const char *value = memchr(option, '=', length);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (strncmp(option, names[i], strlen(names[i])) != 0)
            continue;
        d->from_start |= i == 0 && strncmp(option, "--inspect-port", 14) != 0;
        if (!value)
            continue;
        const char *colon = memrchr(value, ':', (size_t)(option + length - value)),
                   *number = colon ? colon + 1 : value + 1;
        char *end;
        const unsigned long port = strtoul(number, &end, 10);
        if (end != number && (*end == 0 || *end == ' ') && port <= UINT16_MAX)
            d->wanted = (uint16_t)port;
    }
}

/* Arguments, or variables: NODE_OPTIONS has options, too. text ends with a NUL. */
static void look_at_strings(struct late *d, char *text, size_t bytes, bool arguments)
{
    static const char variable[] = "NODE_OPTIONS=";
    for (char *word = text; word < text + bytes; word += strlen(word) + 1) {
        if (arguments)
            look_at_option(d, word);
        else if (strncmp(word, variable, sizeof variable - 1) == 0)
            for (char *option = word + sizeof variable - 1; option;
                 option = strchr(option, ' ') ? strchr(option, ' ') + 1 : NULL)
                look_at_option(d, option);
    }
}

/* From its memory: nobody waits for a process that does not let itself be read. */
static void look_at_options(struct late *d)
{
    char line[1024];
    uint64_t at[4]; /* arguments and variables, from and to */
    d->wanted = DEFAULT_PORT;
    sample_line(line, sizeof line, "/proc/%d/stat", (int)d->t->pid);
    const char *field = strrchr(line, ')'); /* the second one */
    for (unsigned i = 2; field && i < ARGUMENTS_FIELD; i++)
        field = strchr(field + 1, ' ');
    if (!field || sscanf(field, " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &at[0], &at[1],
                         &at[2], &at[3]) != 4)
        return;
    char *text = malloc(STRINGS_MAX + 1);
    for (unsigned i = 4; text && i > 0; i -= 2) { /* arguments count more, so they are last */
        const uint64_t from = at[i - 2], bytes = at[i - 1] - from;
        const size_t some = bytes < STRINGS_MAX ? (size_t)bytes : STRINGS_MAX;
        if (from >= at[i - 1] || !cli_target_read_all(d->t, from, text, some))
            continue;
        text[some] = 0;
        look_at_strings(d, text, some, i == 2);
    }
    free(text);
}

static int find_adapter(struct late *d)
{
    char folder[PATH_MAX], there[2 * PATH_MAX];
    struct stat st;
    if (!cli_runtimes_folder(CLI_NODE, folder, sizeof folder))
        return refuse(d->t, "what records those is not installed; see weft record --list-runtimes");
    if ((size_t)snprintf(d->file, sizeof d->file, "%s/late.js", folder) >= sizeof d->file)
        return refuse(d->t, "the name of the folder of what records it is too long");
    snprintf(there, sizeof there, "/proc/%d/root%s", (int)d->t->pid, d->file);
    if (cli_target_elsewhere(d->t) && stat(there, &st) < 0)
        return refuse(d->t,
                      "cannot load what records it: it sees other folders than we do, and there is "
                      "no %s among them",
                      cli_shown(d->file).text);
    return 0;
}

/* ---- Whether it may be asked ---- */

/* Whether a signal is in a mask of /proc/PID/status. */
static bool in_mask(pid_t pid, const char *mask, int number)
{
    char text[64];
    return cli_status_line(pid, mask, text, sizeof text) &&
           strtoull(text, NULL, 16) >> (number - 1) & 1;
}

/* The main thread runs, or sleeps in its own loop: in both cases it looks at what it is asked. Otherwise it may be in a
 * call that never returns, like execSync. */
static bool can_answer(const struct late *d)
{
    char line[256], state[32];
    long call;
    uint64_t first;
    if (cli_status_line(d->t->pid, "State", state, sizeof state) && strchr("TtZX", *state))
        return false;
    if (!sample_line(line, sizeof line, "/proc/%d/task/%d/syscall", (int)d->t->pid,
                     (int)d->t->pid) ||
        sscanf(line, "%ld 0x%" SCNx64, &call, &first) != 2)
        return true; /* "running", or the kernel does not say */
    const bool sleeps = call == SYS_epoll_pwait
#ifdef SYS_epoll_wait
                        || call == SYS_epoll_wait
#endif
        ;
    return sleeps && (int)first == d->loop.epoll;
}

static void pause_step(void)
{
    nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
}

/* Waits until it could answer. */
static int await_loop(struct late *d)
{
    while (!can_answer(d)) {
        if (weft_monotonic_ns() > d->until_ns)
            return refuse(d->t,
                          "its main thread does not go on: it is stopped, or waits in a system "
                          "call outside of its event loop, as in execSync; for %s it could not be "
                          "asked, and nothing was done to it",
                          weft_duration(d->l->wait_ns).text);
        pause_step();
    }
    return 0;
}

/* ---- Its inspector ---- */

/* The port that its inspector listens on; one of those in `before` is none. */
static bool find_inspector(struct late *d, const struct cli_ports *now,
                           const struct cli_ports *before)
{
    for (uint32_t i = 0; i < now->count; i++) {
        const struct cli_port *p = &now->port[i];
        bool older = false;
        for (uint32_t k = 0; before && k < before->count; k++)
            older |= before->port[k].inode == p->inode;
        if (!p->own || p->served || !p->host || older ||
            (d->wanted ? p->number != d->wanted : !before && !d->from_start))
            continue;
        d->host = p->host;
        d->port = p->number;
        return true;
    }
    return false;
}

static int refuse_signal(struct late *d, const struct cli_ports *before)
{
    if (!in_mask(d->t->pid, "SigCgt", SIGUSR1))
        return refuse(d->t, "opens no inspector when it gets SIGUSR1 (--disable-sigusr1, or a node "
                            "without inspector); start it with --inspect, or by weft record");
    if (d->loop.handles_sigusr1)
        return refuse(d->t,
                      "handles SIGUSR1 itself, so that signal does not open its inspector; start "
                      "it with --inspect, or by weft record");
    for (uint32_t i = 0; d->wanted && i < before->count; i++)
        if (before->port[i].number == d->wanted && before->port[i].host)
            return refuse(d->t,
                          "its inspector, which weft needs for a moment, cannot be opened: "
                          "another server listens on port %u already; try again when that has "
                          "ended",
                          (unsigned)d->wanted);
    return 0;
}

/* Makes it open its inspector. */
static int open_inspector(struct late *d, const struct cli_ports *before)
{
    int rc = refuse_signal(d, before);
    bool found = false;
    if (rc == 0)
        rc = await_loop(d);
    if (rc < 0)
        return rc;
    if (syscall(SYS_pidfd_send_signal, d->process, SIGUSR1, NULL, 0) < 0)
        return refuse(d->t, "cannot be sent a signal: %s", strerror(errno));
    d->opened = true;
    while (!found) {
        struct cli_ports now;
        found = cli_ports_read(&now, d->t->pid, d->loop.epoll) && find_inspector(d, &now, before);
        free(now.port);
        if (!found && weft_monotonic_ns() > d->until_ns)
            return refuse(d->t,
                          "has not opened its inspector for %s; it is not recorded, but may still "
                          "open that, on port %u of the loopback, when it goes on",
                          weft_duration(d->l->wait_ns).text, (unsigned)d->wanted);
        if (!found)
            pause_step();
    }
    return 0;
}

static int find_or_open(struct late *d)
{
    struct cli_ports before;
    int rc = 0;
    if (!cli_ports_read(&before, d->t->pid, d->loop.epoll))
        rc = refuse(d->t, "its network cannot be looked at");
    else if (!find_inspector(d, &before, NULL))
        rc = open_inspector(d, &before);
    free(before.port);
    return rc;
}

/* ---- All of it ---- */

/* In the network that the process sees. Returns a descriptor of our own, -1 if it is the same, -2 if we may not. */
static int enter_network(const struct cli_target *t)
{
    char path[64];
    struct stat own, other;
    snprintf(path, sizeof path, "/proc/%d/ns/net", (int)t->pid);
    if (stat("/proc/self/ns/net", &own) < 0 || stat(path, &other) < 0 || own.st_ino == other.st_ino)
        return -1;
    const int back = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC),
              there = open(path, O_RDONLY | O_CLOEXEC);
    const bool done = back >= 0 && there >= 0 && setns(there, CLONE_NEWNET) == 0;
    cli_close(there);
    if (done)
        return back;
    cli_close(back);
    return -2;
}

static int speak(struct late *d)
{
    struct cli_inspector_error e;
    const struct cli_late_ask a = {.t = d->t,
                                   .l = d->l,
                                   .file = d->file,
                                   .host = d->host,
                                   .port = d->port,
                                   .opened = d->opened,
                                   .until_ns = d->until_ns};
    const int rc = cli_late_ask(&a, &e);
    if (rc < 0 && e.late)
        return refuse(d->t, "has not answered for %s; it is not recorded",
                      weft_duration(d->l->wait_ns).text);
    if (rc < 0)
        return refuse(d->t, "cannot be recorded: %s", cli_shown(e.text).text);
    return rc;
}

static int bring_in(struct late *d)
{
    int rc = find_adapter(d);
    if (rc < 0)
        return rc;
    if (!cli_loop_read(d->t->pid, &d->loop))
        return refuse(d->t, "its event loop cannot be found, so it is not known whether it may be "
                            "asked to open its inspector");
    const int back = enter_network(d->t);
    if (back == -2)
        return refuse(d->t, "is in another network, as in a container, which only root may enter");
    look_at_options(d);
    rc = find_or_open(d);
    if (rc == 0)
        rc = speak(d);
    if (back >= 0 && setns(back, CLONE_NEWNET) < 0)
        rc = refuse(d->t, "we cannot get back out of its network");
    cli_close(back);
    return rc;
}

int cli_late_node(const struct cli_target *t, struct cli_late_node *l)
{
    sigset_t ends, before;
    if (l->wait_ns < LEAST_WAIT_NS)
        l->wait_ns = LEAST_WAIT_NS;
    struct late d = {.t = t,
                     .l = l,
                     .until_ns = weft_monotonic_ns() + l->wait_ns,
                     .process = (int)syscall(SYS_pidfd_open, t->pid, 0)};
    if (d.process < 0)
        return refuse(t, "cannot be held: %s", strerror(errno));
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    /* An inspector that was opened has to be closed. */
    sigprocmask(SIG_BLOCK, &ends, &before);
    const int rc = bring_in(&d);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(d.process);
    return rc;
}
#endif
