/* SPDX-License-Identifier: ISC */
/* weft kprof: Akaros's profiling device as a folder. */
#include "cli/kprof.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"

#define QUEUE_MIN (64u << 10)

static struct kprof_request request;
static bool foreground, owned;

static void set_owner(const struct cli_command *c, const struct cli_option *o, const char *user)
{
    uint64_t number;
    const struct passwd *p = getpwnam(user);
    owned = true;
    if (!p && weft_parse_count(user, UINT32_MAX - 1, &number)) {
        request.uid = (uid_t)number;
        request.gid = (gid_t)number;
        return;
    }
    if (!p)
        cli_misuse(c->name, "--%s: there is no user \"%s\"", o->name, user);
    request.uid = p->pw_uid;
    request.gid = p->pw_gid;
}

static const char *const kpdata_words[] = {"auto", "records", "histogram", NULL};

static const struct cli_option options[] = {
    CLI_FLAG("foreground", foreground, "stay; SIGINT and SIGTERM unmount", .letter = 'f'),
    CLI_WORD("kpdata", request.device.kpdata, "WHAT",
             "records (of October 2015), histogram (of July 2015), or auto: the histogram from "
             "start on until it is stopped and cleared",
             .words = kpdata_words, .shown = "auto"),
    CLI_NUMBER("user-stacks", request.device.user_frames, "N",
               "at most N addresses of a sample outside the kernel, up to 127", .least = 1,
               .most = KPROF_STREAM_FRAMES, .shown = "1"),
    CLI_SIZE("queue", request.device.queue_bytes, "SIZE",
             "of each queue: what comes when it is full is dropped and counted", .least = QUEUE_MIN,
             .shown = "64M"),
    CLI_FLAG("allow-other", request.allow_other,
             "let other users' processes in, as far as the files' modes do"),
    CLI_CALL("owner", set_owner, "USER", "the files are USER's; with --allow-other",
             .completes = CLI_USERS),
    CLI_END,
};

#ifdef WEFT_HAS_FUSE

/* ---- Where to mount ---- */

static bool refuse_dir(const char *dir)
{
    if (errno == ENOENT)
        return cli_say(dir, "is not there; make an empty folder first");
    if (errno == ENOTDIR)
        return cli_say(dir, "is not a folder");
    if (errno == ENOTCONN)
        return cli_say(dir,
                       "is still mounted, but its program has died; unmount it: fusermount3 -u %s",
                       cli_shown(dir).text);
    return cli_say(dir, "cannot be mounted on: %s", strerror(errno));
}

/* The folder's contents would be hidden. */
static bool check_empty(const char *dir)
{
    DIR *d = opendir(dir);
    if (!d)
        return refuse_dir(dir);
    const struct dirent *entry;
    bool empty = true;
    while (empty && (entry = readdir(d)))
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(d);
    return empty || cli_say(dir, "is not empty; weft kprof mounts only on empty folders");
}

static bool check_fuse(void)
{
    int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (fd >= 0) {
        close(fd);
        return true;
    }
    if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
        return cli_say("/dev/fuse",
                       "is not there: this kernel has no FUSE (modprobe fuse), or this "
                       "container was not given it");
    return cli_say("/dev/fuse", "cannot be opened: %s", strerror(errno));
}

/* ---- Into the background ---- */

/* The child continues; the parent waits until it is ready or has failed, and ends. Until then, the child's messages go
 * to our standard error. The rings of perf do not survive a fork, so the fork comes first. */
static int begin_background(void)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return -1;
    pid_t child = fork();
    if (child < 0)
        return -1;
    if (child == 0) {
        close(fds[0]);
        return fds[1];
    }
    close(fds[1]);
    char ready;
    _exit(TEMP_FAILURE_RETRY(read(fds[0], &ready, 1)) == 1 ? CLI_DONE : CLI_FAILED);
}

/* If the waiting parent is gone, the folder is there all the same. */
static void become_ready(int fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || setsid() < 0 || chdir("/") < 0)
        return;
    for (int i = 0; i < 3; i++)
        if (dup2(null, i) < 0)
            return;
    close(null);
    (void)!write(fd, "", 1);
    close(fd);
}

static int serve(struct kprof_request *r, bool foreground)
{
    int ready = -1;
    if (!foreground && (ready = begin_background()) < 0)
        return cli_fail("kprof", "cannot go into the background: %s", strerror(errno));
    r->print = foreground;
    struct kprof_served *s = kprof_mount(r);
    if (!s)
        return CLI_FAILED;
    if (!foreground)
        become_ready(ready);
    return kprof_serve(s);
}

static int mount(struct kprof_request *r, const char *dir, bool foreground)
{
    r->dir = realpath(dir, NULL);
    if (!r->dir) {
        refuse_dir(dir);
        return CLI_FAILED;
    }
    int status = check_empty(r->dir) && check_fuse() ? serve(r, foreground) : CLI_FAILED;
    free(r->dir);
    return status;
}

#else

static int mount(struct kprof_request *r, const char *dir, bool foreground)
{
    (void)r, (void)dir, (void)foreground;
    return cli_fail("kprof", "is not in this weft, which was built without libfuse3; install "
                             "libfuse3-dev, and build with -Dkprof=enabled");
}

#endif

static int run(int operands, char **operand)
{
    (void)operands;
    if (!owned) {
        request.uid = geteuid();
        request.gid = getegid();
    }
    /* The kernel stores the words of a command line one after the other. */
    request.title_from = program_invocation_name;
    request.title_to = cli_arguments_end;
    return mount(&request, *operand, foreground);
}

const struct cli_command cli_kprof = {
    .name = "kprof",
    .summary = "switch timers and sampling of cores by files, as on Akaros",
    .usage = "[OPTION…] DIR",
    .about =
        "Mounts Akaros's profiling device on the empty folder DIR, and goes into the background. "
        "Timers of cores and the collecting of samples are switched by what is written into "
        "DIR/kpctl:\n\n"
        "  optimer <0|1|..|n|all> <on|off>  the timer of a core, or of all\n"
        "  optimer period USEC              its period (1000)\n"
        "  opstart, opstop                  collect samples; stop, and have all of them in the "
        "queue\n"
        "  startclr, start, stop, clear     the older histogram of the kernel's addresses\n\n"
        "DIR/kpoprofile and DIR/kpdata are the samples, drained by reading; DIR/error says why the "
        "last write was refused. Until somebody unmounts it: fusermount3 -u DIR. Needs root, or "
        "CAP_PERFMON.\n",
    .options = options,
    .examples = "weft kprof /prof; echo optimer all on > /prof/kpctl; echo opstart > /prof/kpctl\n"
                "sleep 10; echo opstop > /prof/kpctl; cat /prof/kpoprofile > samples",
    .missing = "which folder shall be mounted on?",
    .least = 1,
    .most = 1,
    .completes = CLI_FOLDERS,
    .run = run,
    .state = CLI_STATE(request),
};
