/* SPDX-License-Identifier: ISC */
/* weft kprof: Akaros's profiling device as a folder. */
#include "cli/kprof.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common.h"

static const char help[] =
    "usage: weft kprof [OPTION…] DIR\n\n"
    "Mounts Akaros's profiling device on the empty folder DIR, and goes into the background. "
    "Timers\n"
    "of cores and the collecting of samples are switched by what is written into DIR/kpctl:\n\n"
    "  optimer <0|1|..|n|all> <on|off>   the timer of a core, or of all\n"
    "  optimer period USEC               its period (1000)\n"
    "  opstart, opstop                   collect samples; stop, and have all of them in the queue\n"
    "  startclr, start, stop, clear      the older histogram of the kernel's addresses\n\n"
    "DIR/kpoprofile and DIR/kpdata are the samples, drained by reading; DIR/error says why the "
    "last\n"
    "write was refused. Until somebody unmounts it: fusermount3 -u DIR. Needs root, or "
    "CAP_PERFMON.\n\n"
    "  -f, --foreground    stay; SIGINT and SIGTERM unmount\n"
    "      --kpdata WHAT   records (of October 2015), histogram (of July 2015), or auto, the\n"
    "                      default: the histogram from start on until it is stopped and cleared\n"
    "      --user-stacks N at most N addresses of a sample outside the kernel (1; up to 127)\n"
    "      --queue SIZE    of each queue (64M): what comes when it is full is dropped and counted\n"
    "      --allow-other   let other users' processes in, as far as the files' modes do\n"
    "      --owner USER    the files are USER's; with --allow-other\n"
    "      --help          this text\n\n"
    "Example: weft kprof /prof; echo optimer all on > /prof/kpctl; echo opstart > /prof/kpctl\n"
    "         sleep 10; echo opstop > /prof/kpctl; cat /prof/kpoprofile > samples\n";

enum { KPDATA = WEFT__HELP + 1, USER_STACKS, QUEUE, ALLOW_OTHER, OWNER };

static const struct option options[] = {
    {"foreground", no_argument, NULL, 'f'},
    {"kpdata", required_argument, NULL, KPDATA},
    {"user-stacks", required_argument, NULL, USER_STACKS},
    {"queue", required_argument, NULL, QUEUE},
    {"allow-other", no_argument, NULL, ALLOW_OTHER},
    {"owner", required_argument, NULL, OWNER},
    WEFT__HELP_OPTION,
    {0},
};

#define QUEUE_MIN (64u << 10)

static enum weft_kprof_kpdata kpdata_of(const char *text)
{
    static const char *const name[] = {"auto", "records", "histogram"};
    for (unsigned i = 0; i < sizeof name / sizeof *name; i++)
        if (strcmp(text, name[i]) == 0)
            return (enum weft_kprof_kpdata)i;
    weft__misuse("kprof", "--kpdata is auto, records or histogram, not \"%s\"", text);
}

static void set_owner(struct kprof_request *r, const char *user)
{
    uint64_t number;
    const struct passwd *p = getpwnam(user);
    if (!p && weft_parse_count(user, UINT32_MAX - 1, &number)) {
        r->uid = (uid_t)number;
        r->gid = (gid_t)number;
        return;
    }
    if (!p)
        weft__misuse("kprof", "--owner: there is no user \"%s\"", user);
    r->uid = p->pw_uid;
    r->gid = p->pw_gid;
}

static struct kprof_request parse(int argc, char **argv, bool *foreground)
{
    struct kprof_request r = {.uid = geteuid(), .gid = getegid()};
    uint64_t n;
    int c;
    while ((c = weft__option(&weft__kprof, argc, argv, ":f", options)) != -1) {
        *foreground |= c == 'f';
        if (c == KPDATA)
            r.device.kpdata = kpdata_of(optarg);
        if (c == USER_STACKS) {
            if (!weft_parse_count(optarg, WEFT__STREAM_FRAMES, &n) || n == 0)
                weft__misuse("kprof", "--user-stacks is a number from 1 to %d, not \"%s\"",
                             WEFT__STREAM_FRAMES, optarg);
            r.device.user_frames = (uint32_t)n;
        }
        if (c == QUEUE &&
            (!weft_parse_size(optarg, &r.device.queue_bytes) || r.device.queue_bytes < QUEUE_MIN))
            weft__misuse("kprof", "--queue is a size, as 64M, and at least 64K, not \"%s\"",
                         optarg);
        r.allow_other |= c == ALLOW_OTHER;
        if (c == OWNER)
            set_owner(&r, optarg);
    }
    if (optind + 1 != argc)
        weft__misuse("kprof", optind < argc ? "only one folder is possible"
                                            : "which folder shall be mounted on?");
    return r;
}

#ifdef WEFT_HAS_FUSE

/* ---- Where to ---- */

static bool refuse_dir(const char *dir)
{
    if (errno == ENOENT)
        weft__say(dir, "is not there; make an empty folder first");
    else if (errno == ENOTDIR)
        weft__say(dir, "is not a folder");
    else if (errno == ENOTCONN)
        weft__say(dir, "is still mounted, but its program has died; unmount it: fusermount3 -u %s",
                  weft__shown(dir).text);
    else
        weft__say(dir, "cannot be mounted on: %s", strerror(errno));
    return false;
}

/* What is in it would be hidden. */
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
    if (!empty)
        weft__say(dir, "is not empty; weft kprof mounts only on empty folders");
    return empty;
}

static bool check_fuse(void)
{
    int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (fd >= 0) {
        close(fd);
        return true;
    }
    if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
        weft__say("/dev/fuse", "is not there: this kernel has no FUSE (modprobe fuse), or this "
                               "container was not given it");
    else
        weft__say("/dev/fuse", "cannot be opened: %s", strerror(errno));
    return false;
}

/* ---- Into the background ---- */

/* The child goes on; the parent waits for it to be ready, or to fail, and ends. What it says goes to our standard
 * error until then. The rings of perf do not survive a fork, so it comes first. */
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
    ssize_t n;
    do
        n = read(fds[0], &ready, 1);
    while (n < 0 && errno == EINTR);
    _exit(n == 1 ? WEFT__DONE : WEFT__FAILED);
}

static bool become_ready(int fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || setsid() < 0 || chdir("/") < 0)
        return false;
    for (int i = 0; i < 3; i++)
        if (dup2(null, i) < 0)
            return false;
    close(null);
    bool told = write(fd, "", 1) == 1;
    close(fd);
    return told;
}

static int serve(struct kprof_request *r, bool foreground)
{
    int ready = -1;
    if (!foreground && (ready = begin_background()) < 0) {
        weft__say("kprof", "cannot go into the background: %s", strerror(errno));
        return WEFT__FAILED;
    }
    r->print = foreground;
    struct kprof_served *s = kprof_mount(r);
    if (!s)
        return WEFT__FAILED;
    if (!foreground)
        become_ready(ready); /* else the one who waits has gone; the folder is there all the same */
    return kprof_serve(s);
}

static int mount(struct kprof_request *r, const char *dir, bool foreground)
{
    r->dir = realpath(dir, NULL);
    if (!r->dir) {
        refuse_dir(dir);
        return WEFT__FAILED;
    }
    int status = check_empty(r->dir) && check_fuse() ? serve(r, foreground) : WEFT__FAILED;
    free(r->dir);
    return status;
}

#else

static int mount(struct kprof_request *r, const char *dir, bool foreground)
{
    (void)r, (void)dir, (void)foreground;
    weft__say("kprof", "is not in this weft, which was built without libfuse3; install "
                       "libfuse3-dev, and build with -Dkprof=enabled");
    return WEFT__FAILED;
}

#endif

/* The kernel puts the words of a command line one behind the other. */
static void find_title(struct kprof_request *r, int argc, char *const *argv)
{
    char *last = argv[argc - 1];
    r->title_from = program_invocation_name;
    r->title_to = last + strlen(last) + 1;
}

static int run_kprof(int argc, char **argv)
{
    bool foreground = false;
    struct kprof_request title = {0};
    find_title(&title, argc, argv); /* getopt changes the order */
    struct kprof_request r = parse(argc, argv, &foreground);
    r.title_from = title.title_from;
    r.title_to = title.title_to;
    return mount(&r, argv[optind], foreground);
}

const struct weft__command weft__kprof = {
    "kprof",
    "switch timers and sampling of cores by files, as on Akaros",
    help,
    run_kprof,
};
