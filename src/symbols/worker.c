/* SPDX-License-Identifier: ISC */
#include "symbols/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "format/error.h"

/* ---- Limits ---- */

#ifndef __GLIBC__
typedef int __rlimit_resource_t;
#endif

#ifndef SYMBOLS_SHADOWED
enum { ROOM_LEAST = 256 << 20, ROOM = 1 << 30 };

static rlim_t size_now(void)
{
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    if (!statm || fscanf(statm, "%lu", &pages) != 1)
        pages = 0;
    if (statm)
        fclose(statm);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}
#endif

static void limit(__rlimit_resource_t resource, rlim_t most, rlim_t hard)
{
    struct rlimit l;
    if (getrlimit(resource, &l) < 0)
        return;
    l.rlim_cur = l.rlim_cur < most ? l.rlim_cur : most;
    l.rlim_max = l.rlim_max < hard ? l.rlim_max : hard;
    setrlimit(resource, &l);
}

/* Becomes nobody in particular. If that is refused, as in some containers, at least drops all
 * capabilities. */
static void drop_rights(void)
{
    enum { NOBODY = 65534 };
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    bool dropped =
        geteuid() != 0 || (setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
                           setresuid(NOBODY, NOBODY, NOBODY) == 0);
    (void)dropped;
    syscall(SYS_capset, &header, none);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static void confine_limits(unsigned cpu_seconds)
{
#ifndef SYMBOLS_SHADOWED
    rlim_t size = size_now(); /* most of it belongs to the caller and is shared */
    size = size + ROOM_LEAST > ROOM ? size + ROOM_LEAST : ROOM;
    limit(RLIMIT_AS, size, size);
#endif
    if (cpu_seconds > 0) /* SIGXCPU, and a second later SIGKILL */
        limit(RLIMIT_CPU, (rlim_t)cpu_seconds, (rlim_t)cpu_seconds + 1);
    signal(SIGXFSZ, SIG_IGN);
    limit(RLIMIT_FSIZE, 0, 0);
    limit(RLIMIT_CORE, 0, 0);
    drop_rights();
}

void symbols_confine_time(unsigned ms)
{
    const struct timeval time = {ms / 1000, ms % 1000 * 1000};
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value = time}, NULL);
}

/* ---- Files ---- */

union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

bool symbols_file_send(int to, int fd, int number)
{
    union control control = {.bytes = {0}};
    struct iovec what = {&number, sizeof number};
    struct msghdr m = {.msg_iov = &what, .msg_iovlen = 1};
    ssize_t n;
    if (fd >= 0) {
        m.msg_control = &control;
        m.msg_controllen = sizeof control;
        control.head.cmsg_len = CMSG_LEN(sizeof fd);
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    }
    while ((n = sendmsg(to, &m, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return n == (ssize_t)sizeof number;
}

int symbols_file_receive(int from, int *number)
{
    union control control;
    struct iovec what = {number, sizeof *number};
    struct msghdr m = {.msg_iov = &what,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    int fd = -1;
    ssize_t n;
    while ((n = recvmsg(from, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    if (n != (ssize_t)sizeof *number) {
        *number = EIO;
        return -1;
    }
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
            memcpy(&fd, CMSG_DATA(c), sizeof fd);
    if (fd < 0 && *number == 0)
        *number = EMFILE; /* there was one, but no space for it */
    return fd;
}

int symbols_file_ask(int files, const struct symbols_asked *asked, int *error)
{
    const size_t size =
        offsetof(struct symbols_asked, path) + strnlen(asked->path, SYMBOLS_PATH_BYTES - 1) + 1;
    *error = EIO;
    return send(files, asked, size, MSG_NOSIGNAL) < 0 ? -1 : symbols_file_receive(files, error);
}

bool symbols_file_asked(int files, struct symbols_asked *asked)
{
    ssize_t n = recv(files, asked, sizeof *asked, MSG_DONTWAIT);
    size_t text = offsetof(struct symbols_asked, path);
    return n > (ssize_t)text && memchr(asked->path, '\0', (size_t)n - text);
}

/* ---- System calls ---- */

#if defined(__x86_64__)
#define AUDIT_ARCH_HERE AUDIT_ARCH_X86_64
#define RESULT_OF(context) ((context)->uc_mcontext.gregs[REG_RAX])
typedef greg_t result_of_call;
#define ARGUMENT_OF(context, n)                                                                    \
    ((context)->uc_mcontext.gregs[(n) == 0 ? REG_RDI : (n) == 1 ? REG_RSI : REG_RDX])
#elif defined(__aarch64__)
#define AUDIT_ARCH_HERE AUDIT_ARCH_AARCH64
#define RESULT_OF(context) ((context)->uc_mcontext.regs[0])
typedef unsigned long long result_of_call;
#define ARGUMENT_OF(context, n) ((context)->uc_mcontext.regs[n])
#endif

#ifdef AUDIT_ARCH_HERE

static int ask_for(const char *path, int flags)
{
    static struct symbols_asked asked = {.number = SYMBOLS_ASKED_PATH};
    int error = EACCES;
    if ((flags & (O_ACCMODE | O_CREAT | O_TRUNC)) != O_RDONLY)
        return -EACCES;
    size_t size = strnlen(path, SYMBOLS_PATH_BYTES);
    if (size == SYMBOLS_PATH_BYTES)
        return -ENAMETOOLONG;
    memcpy(asked.path, path, size + 1);
    int fd = symbols_file_ask(SYMBOLS_WORKER_FILES, &asked, &error);
    return fd < 0 ? -error : fd;
}

/* libdw opens files by itself, with names that come from other files. Such a call is handled here
 * instead. */
static void opens(int signal, siginfo_t *info, void *data)
{
    ucontext_t *context = data;
    const int before = errno;
    const bool at = info->si_syscall == SYS_openat;
    (void)signal;
    const char *path = (const char *)(uintptr_t)ARGUMENT_OF(context, at ? 1 : 0);
    RESULT_OF(context) = (result_of_call)ask_for(path, (int)ARGUMENT_OF(context, at ? 2 : 1));
    errno = before;
}

static void confine_calls(void)
{
    static const int allowed[] = {
        SYS_read,         SYS_pread64,       SYS_readv,           SYS_write,
        SYS_writev,       SYS_sendto,        SYS_sendmsg,         SYS_recvfrom,
        SYS_recvmsg,      SYS_close,         SYS_fstat,           SYS_newfstatat,
        SYS_statx,        SYS_lseek,         SYS_readlinkat,      SYS_mmap,
        SYS_munmap,       SYS_mprotect,      SYS_mremap,          SYS_madvise,
        SYS_brk,          SYS_futex,         SYS_sched_yield,     SYS_getpid,
        SYS_gettid,       SYS_clock_gettime, SYS_getrandom,       SYS_ppoll,
        SYS_fcntl,        SYS_setitimer,     SYS_rt_sigaction,    SYS_rt_sigprocmask,
        SYS_rt_sigreturn, SYS_sigaltstack,   SYS_restart_syscall, SYS_exit,
        SYS_exit_group,   SYS_faccessat,     SYS_getcwd,          SYS_dup,
#ifdef __x86_64__
        SYS_stat,         SYS_lstat,         SYS_readlink,        SYS_poll,
        SYS_access,
#endif
    };
    enum { ALLOWED = sizeof allowed / sizeof *allowed };
    struct sock_filter code[ALLOWED + 8];
    unsigned n = 0;
    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    code[n++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_HERE, 0, ALLOWED + 4);
    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < ALLOWED; i++)
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i],
                                                 (unsigned char)(ALLOWED - i + 3), 0);
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0);
#ifdef SYS_open
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 0, 1);
#else
    code[n++] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1);
#endif
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {(unsigned short)n, code};
    struct sigaction action = {.sa_sigaction = opens, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &action, NULL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

#else

static void confine_calls(void)
{
}

#endif

/* ---- Its life ---- */

/* Moves the descriptors to the numbers from SYMBOLS_WORKER_FILES - 1 on. */
static void become_worker(int fd, const int keep[2], bool aside)
{
    static const int deadly[] = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,
                                 SIGABRT, SIGPIPE, SIGXCPU, SIGPROF};
    static const int others[] = {SIGINT, SIGQUIT, SIGTERM,
                                 SIGHUP}; /* from the terminal: left to the parent */
    const int kept = SYMBOLS_WORKER_FILES, above = kept + 2;
    int moved[2];
    sigset_t none;
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        signal(others[i], SIG_IGN);
    for (unsigned i = 0; i < sizeof deadly / sizeof *deadly; i++)
        signal(deadly[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    fd = fcntl(fd, F_DUPFD, above); /* not where another one goes */
    for (int i = 0; i < 2; i++)
        moved[i] = keep[i] < 0 ? -1 : fcntl(keep[i], F_DUPFD, above);
    int nothing = open("/dev/null", O_RDWR);
    for (int i = 0; i < (aside ? 3 : 2); i++)
        dup2(nothing, i);
    dup2(fd, kept - 1);
    for (int i = 0; i < 2; i++)
        if (moved[i] < 0 || dup2(moved[i], kept + i) < 0)
            close(kept + i);
    syscall(SYS_close_range, above, ~0u, 0);
}

enum { SEND_SECONDS = 20 };

int symbols_worker_start(struct symbols_worker *w, const struct symbols_worker_options *o,
                         void (*run)(int fd, void *data), void *data)
{
    static const struct symbols_worker_options usual;
    int pair[2], files[2] = {-1, -1};
    o = o ? o : &usual;
    *w = (struct symbols_worker){.fd = -1, .files = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return WEFT_E_NOMEM;
    pid_t self = getpid(), pid = -1;
    if (o->aside || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, files) == 0)
        pid = fork();
    if (pid == 0) {
        become_worker(pair[1], o->aside ? o->keep : (const int[]){files[1], -1}, o->aside);
        if (!o->aside)
            confine_limits(o->cpu_seconds);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* after changing the user, which clears it */
        if (getppid() != self)
            _exit(1);
        unsetenv("DEBUGINFOD_URLS"); /* libdw fetches nothing from elsewhere */
        if (o->prepare)
            o->prepare();
        if (!o->aside)
            confine_calls();
        run(SYMBOLS_WORKER_FILES - 1, data);
        _exit(0);
    }
    close(pair[1]);
    if (files[1] >= 0)
        close(files[1]);
    if (pid < 0) {
        close(pair[0]);
        if (files[0] >= 0)
            close(files[0]);
        return WEFT_E_NOMEM;
    }
    /* If it hangs in a file, it does not receive what it is sent either. */
    setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){.tv_sec = SEND_SECONDS},
               sizeof(struct timeval));
    *w = (struct symbols_worker){.pid = pid, .fd = pair[0], .files = files[0]};
    return 0;
}

static uint32_t ms_of(struct timeval t)
{
    return (uint32_t)(t.tv_sec * 1000 + t.tv_usec / 1000);
}

struct symbols_worker_end symbols_worker_stop(struct symbols_worker *w)
{
    struct rusage used = {0};
    int status = 0;
    if (w->pid <= 0)
        return (struct symbols_worker_end){0};
    kill(w->pid, SIGKILL);
    while (wait4(w->pid, &status, w->late ? WNOHANG : 0, &used) < 0 && errno == EINTR)
        ;
    close(w->fd);
    if (w->files >= 0)
        close(w->files);
    *w = (struct symbols_worker){.fd = -1, .files = -1};
    return (struct symbols_worker_end){
        .cpu_ms = ms_of(used.ru_utime) + ms_of(used.ru_stime),
        .late = WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGXCPU),
    };
}

enum symbols_worker_event symbols_worker_wait(const struct symbols_worker *w, int timeout_ms)
{
    struct pollfd p[2] = {{.fd = w->files, .events = POLLIN}, {.fd = w->fd, .events = POLLIN}};
    if (poll(p, 2, timeout_ms) <= 0)
        return SYMBOLS_WORKER_NOTHING;
    return p[1].revents ? SYMBOLS_WORKER_SENT : SYMBOLS_WORKER_ASKS;
}

bool symbols_worker_get(int fd, void *to, size_t size, int timeout_ms)
{
    struct pollfd p = {fd, POLLIN, 0};
    while (size > 0) {
        int ready = timeout_ms < 0 ? 1 : poll(&p, 1, timeout_ms);
        ssize_t n = ready > 0 ? recv(fd, to, size, 0) : ready;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        to = (char *)to + n;
        size -= (size_t)n;
    }
    return true;
}

bool symbols_worker_put(int fd, const void *from, size_t size)
{
    while (size > 0) {
        ssize_t n = send(fd, from, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        from = (const char *)from + n;
        size -= (size_t)n;
    }
    return true;
}

bool symbols_worker_answers(struct symbols_worker *w, void *to, size_t size)
{
    siginfo_t ended = {.si_pid = 0};
    if (w->pid <= 0 || w->late)
        return false;
    if (symbols_worker_get(w->fd, to, size, SYMBOLS_ASIDE_SECONDS * 1000))
        return true;
    w->late =
        waitid(P_PID, (id_t)w->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0;
    return false;
}
