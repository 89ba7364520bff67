/* SPDX-License-Identifier: ISC */
/* weft kprof: the device as a file system. One thread does everything: it answers the kernel's requests and takes
 * samples. A read that has to wait is a request that is answered later, so any number of readers may wait. */
#define FUSE_USE_VERSION 314
#include "cli/kprof.h"

#include <fuse_lowlevel.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "cli/common.h"
#include "kprof/linux.h"

#define READ_BYTES (1u << 20)
#define SPLIT_BYTES (64u << 10)
#define ROUND 64      /* requests between two checks of the rings */
#define TAKE_MS 50    /* while sampling */
#define ATTR_S 3600.0 /* attributes do not change */

struct reader { /* an open file */
    struct reader *next;
    enum weft_kprof_file file;
    struct weft_kprof_handle *h;
    struct fuse_pollhandle *poll;
};

struct waiting { /* a read without an answer */
    struct waiting *next;
    fuse_req_t req;
    struct reader *reader;
    size_t size;
    uint64_t offset;
    bool interrupted;
};

struct kprof_served {
    struct kprof_request r;
    struct weft_kprof_linux *machine;
    struct weft_kprof *k;
    struct fuse_session *session;
    bool mounted;
    int signals;
    struct kprof_guard guard;
    struct reader *readers;
    struct waiting *first, **last; /* in order of arrival */
    struct timespec began;
    char *bytes; /* READ_BYTES */
    struct fuse_buf request;
};

static const struct file {
    const char *name;
    mode_t mode;
} files[] = {
#define X(name, text, mode) {text, mode},
    WEFT_KPROF_FILE_TABLE(X)
#undef X
};

#define FIRST_INO (FUSE_ROOT_ID + 1)

static struct kprof_served *served(fuse_req_t req)
{
    return fuse_req_userdata(req);
}

/* Operations need not all parameters that libfuse has for them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* ---- Names and attributes ---- */

static bool attributes(const struct kprof_served *s, fuse_ino_t ino, struct stat *st)
{
    *st = (struct stat){.st_ino = ino,
                        .st_nlink = 1,
                        .st_uid = s->r.uid,
                        .st_gid = s->r.gid,
                        .st_atim = s->began,
                        .st_mtim = s->began,
                        .st_ctim = s->began};
    if (ino == FUSE_ROOT_ID) {
        st->st_mode = S_IFDIR | 0555;
        st->st_nlink = 2;
        return true;
    }
    if (ino < FIRST_INO || ino - FIRST_INO >= WEFT_KPROF_FILES)
        return false;
    st->st_mode = S_IFREG | files[ino - FIRST_INO].mode;
    return true;
}

static void on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    struct fuse_entry_param e = {.attr_timeout = ATTR_S, .entry_timeout = ATTR_S};
    for (unsigned i = 0; parent == FUSE_ROOT_ID && i < WEFT_KPROF_FILES; i++)
        if (strcmp(name, files[i].name) == 0) {
            e.ino = FIRST_INO + i;
            attributes(served(req), e.ino, &e.attr);
            fuse_reply_entry(req, &e);
            return;
        }
    fuse_reply_err(req, ENOENT);
}

static void on_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct stat st;
    if (attributes(served(req), ino, &st))
        fuse_reply_attr(req, &st, ATTR_S);
    else
        fuse_reply_err(req, ENOENT);
}

/* Only what "> file" does: truncating a file that has no length. */
static void on_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int set,
                       struct fuse_file_info *fi)
{
    if (!(set & FUSE_SET_ATTR_SIZE) ||
        set & (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
        fuse_reply_err(req, EPERM);
    else if (attr->st_size != 0)
        fuse_reply_err(req, EINVAL);
    else
        on_getattr(req, ino, fi);
}

static void on_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                       struct fuse_file_info *fi)
{
    char list[4096];
    size_t used = 0;
    if (ino != FUSE_ROOT_ID) {
        fuse_reply_err(req, ENOTDIR);
        return;
    }
    size = size < sizeof list ? size : sizeof list;
    for (off_t i = offset; i < WEFT_KPROF_FILES + 2; i++) {
        struct stat st;
        attributes(served(req), i < 2 ? FUSE_ROOT_ID : FIRST_INO + (fuse_ino_t)i - 2, &st);
        const char *name = i == 0 ? "." : i == 1 ? ".." : files[i - 2].name;
        size_t n = fuse_add_direntry(req, list + used, size - used, name, &st, i + 1);
        if (n > size - used)
            break;
        used += n;
    }
    fuse_reply_buf(req, list, used);
}

/* Files cannot be created, renamed or removed here. */
#define REFUSE(operation, ...)                                                                     \
    static void operation(fuse_req_t req, __VA_ARGS__)                                             \
    {                                                                                              \
        fuse_reply_err(req, EPERM);                                                                \
    }
REFUSE(on_mknod, fuse_ino_t parent, const char *name, mode_t mode, dev_t dev)
REFUSE(on_mkdir, fuse_ino_t parent, const char *name, mode_t mode)
REFUSE(on_create, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
REFUSE(on_unlink, fuse_ino_t parent, const char *name)
REFUSE(on_symlink, const char *target, fuse_ino_t parent, const char *name)
REFUSE(on_rename, fuse_ino_t parent, const char *name, fuse_ino_t to, const char *as,
       unsigned flags)
REFUSE(on_link, fuse_ino_t ino, fuse_ino_t parent, const char *name)

/* ---- Files ---- */

static struct reader *reader_of(const struct fuse_file_info *fi)
{
    return (struct reader *)(uintptr_t)fi->fh;
}

static void on_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct kprof_served *s = served(req);
    struct stat st;
    if (!attributes(s, ino, &st) || !S_ISREG(st.st_mode)) {
        fuse_reply_err(req, EISDIR);
        return;
    }
    struct reader *r = calloc(1, sizeof *r);
    if (r) {
        r->file = (enum weft_kprof_file)(ino - FIRST_INO);
        r->h = weft_kprof_open(s->k, r->file, fuse_req_ctx(req)->uid);
    }
    if (!r || !r->h) {
        free(r);
        fuse_reply_err(req, ENOMEM);
        return;
    }
    r->next = s->readers;
    s->readers = r;
    fi->fh = (uintptr_t)r;
    fi->direct_io = 1; /* sizes are 0, and nothing may be cached */
    fuse_reply_open(req, fi);
}

static void free_reader(struct reader *r)
{
    weft_kprof_close(r->h);
    if (r->poll)
        fuse_pollhandle_destroy(r->poll);
    free(r);
}

static void on_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct kprof_served *s = served(req);
    struct reader *r = reader_of(fi), **at = &s->readers;
    while (*at && *at != r)
        at = &(*at)->next;
    if (*at) {
        *at = r->next;
        free_reader(r);
    }
    fuse_reply_err(req, 0);
}

/* The core that a thread ran on last. A writer waits for our answer, so this is the core it wrote on. */
static uint32_t core_of(pid_t thread)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)thread);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    const char *at = strrchr(text, ')'); /* the second field, which may have anything in it */
    for (int field = 2; at && field < 39; field++)
        at = strchr(at + 1, ' ');
    return at ? (uint32_t)strtoul(at, NULL, 10) : 0;
}

static void on_write(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t size, off_t offset,
                     struct fuse_file_info *fi)
{
    const struct fuse_ctx *who = fuse_req_ctx(req);
    const struct weft_kprof_writer w = {.uid = who->uid, .core = core_of(who->pid)};
    int rc = weft_kprof_write(served(req)->k, reader_of(fi)->file, bytes, size, &w);
    if (rc < 0)
        fuse_reply_err(req, -rc);
    else
        fuse_reply_write(req, size);
}

/* Answers the read, unless there is no data yet. */
static bool try_read(struct kprof_served *s, fuse_req_t req, const struct reader *r, size_t size,
                     uint64_t offset)
{
    const bool stream = r->file == WEFT_KPROF_KPOPROFILE || r->file == WEFT_KPROF_KPDATA;
    size = size < READ_BYTES ? size : READ_BYTES;
    /* The kernel splits long reads, and would continue to wait after a part that was filled completely. */
    if (stream && size >= SPLIT_BYTES)
        size--;
    ptrdiff_t n = weft_kprof_read(r->h, s->bytes, size, offset);
    if (n == WEFT_KPROF_WAIT)
        return false;
    if (n < 0)
        fuse_reply_err(req, (int)-n);
    else
        fuse_reply_buf(req, s->bytes, (size_t)n);
    return true;
}

static void on_interrupt(fuse_req_t req, void *data)
{
    ((struct waiting *)data)->interrupted = true;
}

static void on_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                    struct fuse_file_info *fi)
{
    struct kprof_served *s = served(req);
    if (try_read(s, req, reader_of(fi), size, (uint64_t)offset))
        return;
    if (fi->flags & O_NONBLOCK) {
        fuse_reply_err(req, EAGAIN);
        return;
    }
    struct waiting *w = malloc(sizeof *w);
    if (!w) {
        fuse_reply_err(req, ENOMEM);
        return;
    }
    *w = (struct waiting){
        .req = req, .reader = reader_of(fi), .size = size, .offset = (uint64_t)offset};
    *s->last = w;
    s->last = &w->next;
    fuse_req_interrupt_func(req, on_interrupt, w);
}

static void on_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi,
                    struct fuse_pollhandle *poll)
{
    struct reader *r = reader_of(fi);
    if (poll) {
        if (r->poll)
            fuse_pollhandle_destroy(r->poll);
        r->poll = poll;
    }
    fuse_reply_poll(req, (weft_kprof_ready(r->h) ? POLLIN | POLLRDNORM : 0) | POLLOUT | POLLWRNORM);
}

/* Answers waiting reads for which there is data, in order of arrival. all: answers every one. */
static void answer_waiting(struct kprof_served *s, bool all)
{
    for (struct waiting **at = &s->first, *w; (w = *at) != NULL;) {
        bool answered = true;
        if (w->interrupted)
            fuse_reply_err(w->req, EINTR);
        else if (!try_read(s, w->req, w->reader, w->size, w->offset)) {
            answered = all;
            if (all)
                fuse_reply_err(w->req, EIO);
        }
        if (answered) {
            *at = w->next;
            free(w);
        } else
            at = &w->next;
        if (!*at)
            s->last = at;
    }
    for (struct reader *r = s->readers; r; r = r->next)
        if (r->poll && weft_kprof_ready(r->h)) {
            fuse_lowlevel_notify_poll(r->poll);
            fuse_pollhandle_destroy(r->poll);
            r->poll = NULL;
        }
}

static void on_init(void *data, struct fuse_conn_info *conn)
{
    conn->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
}

static const struct fuse_lowlevel_ops operations = {
    .init = on_init,
    .lookup = on_lookup,
    .getattr = on_getattr,
    .setattr = on_setattr,
    .readdir = on_readdir,
    .mknod = on_mknod,
    .mkdir = on_mkdir,
    .create = on_create,
    .unlink = on_unlink,
    .rmdir = on_unlink,
    .symlink = on_symlink,
    .rename = on_rename,
    .link = on_link,
    .open = on_open,
    .release = on_release,
    .read = on_read,
    .write = on_write,
    .poll = on_poll,
};

/* ---- Mounting ---- */

static char said[512]; /* by libfuse */

static void on_log(enum fuse_log_level level, const char *format, va_list args)
{
    if (level <= FUSE_LOG_ERR && !*said)
        vsnprintf(said, sizeof said, format, args);
}

/* Sends what fusermount3 prints into a file in memory. Returns copies of the old descriptors in kept. */
static int hide_output(int kept[2])
{
    int fd = memfd_create("fusermount3", MFD_CLOEXEC);
    for (int i = 0; i < 2; i++) {
        kept[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 3);
        if (fd >= 0 && kept[i] >= 0)
            dup2(fd, i + 1);
    }
    return fd;
}

static void show_output(int fd, const int kept[2])
{
    for (int i = 0; i < 2; i++)
        if (kept[i] >= 0) {
            dup2(kept[i], i + 1);
            close(kept[i]);
        }
    ssize_t n = fd >= 0 ? pread(fd, said, sizeof said - 1, 0) : 0;
    cli_close(fd);
    if (n > 0)
        said[n] = 0;
}

static bool complain(const struct kprof_served *s)
{
    char *text = said;
    text[strcspn(text, "\n")] = 0;
    for (const char *const *p = (const char *const[]){"fuse: ", "fusermount3: ", NULL}; *p; p++)
        if (strncmp(text, *p, strlen(*p)) == 0)
            text += strlen(*p);
    return cli_say(s->r.dir, "cannot be mounted on: %s",
                   *text ? cli_shown(text).text : "libfuse does not say why");
}

static bool mount_session(struct kprof_served *s)
{
    char options[256];
    /* noexec: nobody may map one of these files as a program; that would make us open it ourselves. */
    snprintf(options, sizeof options,
             "fsname=kprof,subtype=weft,default_permissions,noexec,nosuid,nodev%s",
             s->r.allow_other ? ",allow_other" : "");
    char *argv[] = {(char *)"weft", (char *)"-o", options, NULL};
    struct fuse_args args = FUSE_ARGS_INIT(3, argv);
    fuse_set_log_func(on_log);
    s->session = fuse_session_new(&args, &operations, sizeof operations, s);
    fuse_opt_free_args(&args);
    if (!s->session)
        return complain(s);
    int kept[2], fd = hide_output(kept);
    s->mounted = fuse_session_mount(s->session, s->r.dir) == 0;
    show_output(fd, kept);
    if (!s->mounted)
        return complain(s);
    int fuse = fuse_session_fd(s->session);
    return fcntl(fuse, F_SETFL, fcntl(fuse, F_GETFL) | O_NONBLOCK) == 0 || complain(s);
}

static void print_line(void *data, const char *line)
{
    puts(line);
    fflush(stdout);
}

static bool open_device(struct kprof_served *s)
{
    struct weft_error err;
    if (weft_kprof_linux_open(&s->machine, s->r.device.user_frames, &err) < 0)
        return cli_say("kprof", "%s", err.text);
    const char *note;
    for (uint32_t i = 0; (note = weft_kprof_linux_note(s->machine, i)) != NULL; i++)
        cli_say("kprof", "%s", note);
    struct weft_kprof_host host = weft_kprof_linux_host(s->machine);
    host.print = s->r.print ? print_line : NULL;
    s->bytes = malloc(READ_BYTES);
    if (!s->bytes || weft_kprof_new(&s->k, &s->r.device, &host) < 0)
        return cli_say("kprof", "out of memory");
    weft_kprof_linux_give(s->machine, s->k);
    return true;
}

static bool watch_signals(struct kprof_served *s)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->signals >= 0 || cli_say("kprof", "signals cannot be waited for: %s", strerror(errno));
}

static void unmount(struct kprof_served *s)
{
    if (s->k)
        weft_kprof_end(s->k);
    if (s->session) {
        answer_waiting(s, true);
        if (s->mounted)
            fuse_session_unmount(s->session);
        while (s->readers) {
            struct reader *r = s->readers;
            s->readers = r->next;
            free_reader(r);
        }
        fuse_session_destroy(s->session);
    }
    weft_kprof_free(s->k);
    weft_kprof_linux_close(s->machine);
    cli_close(s->signals);
    kprof_guard_end(&s->guard);
    free(s->request.mem);
    free(s->bytes);
    free(s);
}

struct kprof_served *kprof_mount(const struct kprof_request *r)
{
    struct kprof_served *s = calloc(1, sizeof *s);
    if (!s) {
        cli_say("kprof", "out of memory");
        return NULL;
    }
    s->r = *r;
    s->r.device.ticks_a_second = (uint32_t)sysconf(_SC_CLK_TCK);
    s->last = &s->first;
    s->signals = -1;
    s->guard = kprof_guard_begin(r); /* before anything is opened that it must not inherit */
    clock_gettime(CLOCK_REALTIME, &s->began);
    if (open_device(s) && watch_signals(s) && mount_session(s)) {
        kprof_guard_mounted(&s->guard);
        return s;
    }
    unmount(s);
    return NULL;
}

/* ---- Serving ---- */

/* Handles the kernel's requests that have arrived. */
static void answer_requests(struct kprof_served *s)
{
    for (unsigned i = 0; i < ROUND && !fuse_session_exited(s->session); i++) {
        int n = fuse_session_receive_buf(s->session, &s->request);
        if (n <= 0)
            return;
        fuse_session_process_buf(s->session, &s->request);
    }
}

int kprof_serve(struct kprof_served *s)
{
    int status = CLI_DONE;
    bool asked_to_end = false;
    struct pollfd p[] = {{.fd = fuse_session_fd(s->session), .events = POLLIN},
                         {.fd = s->signals, .events = POLLIN},
                         {.fd = weft_kprof_linux_fd(s->machine), .events = POLLIN}};
    while (!fuse_session_exited(s->session) && !asked_to_end) {
        const bool runs = weft_kprof_linux_runs(s->machine);
        int n = poll(p, runs ? 3 : 2, runs ? TAKE_MS : -1);
        if (n < 0 && errno != EINTR) {
            status = CLI_FAILED;
            break;
        }
        answer_requests(s);
        if (weft_kprof_linux_runs(s->machine))
            weft_kprof_linux_take(s->machine);
        weft_kprof_flush(s->k);
        answer_waiting(s, false);
        asked_to_end = n > 0 && p[1].revents;
    }
    unmount(s);
    return status;
}
