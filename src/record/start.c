/* SPDX-License-Identifier: ISC */
/* Starting and stopping; the file; the environment. None of this is on the path of an event. */
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/metadata.h"
#include "record/record.h"
#include <weft/weft.h>

#define DEFAULT_BYTES (UINT64_C(64) << 20)
#define MIN_BYTES (UINT64_C(64) << 10)
#define MAX_BYTES (UINT64_C(1) << 40)
#define PAGE UINT64_C(4096)
#define PACKET_MIN UINT64_C(4096)
#define PACKET_MAX (UINT64_C(64) << 10)
#define PACKETS_WANTED 64 /* rather smaller packets than fewer */
#define METADATA_BYTES (UINT64_C(12) << 10)

/* Here, so that whoever links the static library has the environment looked at. */
uint32_t weft__state;
struct recorder weft__rec;

static uint32_t starting; /* a lock */

static bool try_lock(void)
{
    return !__atomic_exchange_n(&starting, 1, __ATOMIC_ACQUIRE);
}

static void unlock(void)
{
    __atomic_store_n(&starting, 0, __ATOMIC_RELEASE);
}

/* Where things lie in so many bytes. */
struct plan {
    uint64_t bytes, metadata_at, strings_at, strings_bytes, pool_at, packet_bytes, packets;
};

static uint64_t pages(uint64_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static bool make_plan(struct plan *p, uint64_t bytes)
{
    if (bytes < MIN_BYTES || bytes > MAX_BYTES)
        return false;
    *p = (struct plan){.bytes = bytes / 8 * 8, .metadata_at = PAGE};
    /* In the smallest traces there is no room for a description of themselves. */
    p->strings_at = p->metadata_at + (bytes >= 16 * MIN_BYTES ? METADATA_BYTES : 0);
    p->strings_bytes = pages(bytes / 16);
    if (p->strings_bytes > UINT64_C(4) << 20)
        p->strings_bytes = UINT64_C(4) << 20;
    p->pool_at = p->strings_at + p->strings_bytes;
    uint64_t pool = bytes - p->pool_at;
    for (p->packet_bytes = PACKET_MAX; p->packet_bytes > PACKET_MIN; p->packet_bytes /= 2)
        if (pool / p->packet_bytes >= PACKETS_WANTED)
            break;
    p->packets = pool / p->packet_bytes;
    return true;
}

/* Provenance */

static void read_small(const char *path, char *out, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, room - 1);
    if (fd >= 0)
        close(fd);
    out[n > 0 ? n : 0] = 0;
}

/* The start of a process in clock ticks after boot: field 22 of its stat, after the name, which may
 * contain anything. 0: there is no such process, or it has ended and waits for its parent. */
static uint64_t process_start(uint32_t pid)
{
    char path[32], stat[1024];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    read_small(path, stat, sizeof stat);
    const char *at = strrchr(stat, ')');
    if (at && (!strncmp(at, ") Z", 3) || !strncmp(at, ") X", 3)))
        return 0;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

static void read_boot_id(uint8_t id[16])
{
    char text[64];
    read_small("/proc/sys/kernel/random/boot_id", text, sizeof text);
    memset(id, 0, 16);
    for (int i = 0, nibble = 0; text[i] && nibble < 32; i++) {
        const char *digits = "0123456789abcdef", *d = strchr(digits, text[i]);
        if (d) {
            id[nibble / 2] = (uint8_t)(id[nibble / 2] | (d - digits) << (nibble % 2 ? 0 : 4));
            nibble++;
        }
    }
}

/* Adds key=value to the facts, as far as there is room. */
static void add_fact(struct weft_facts_header *f, const char *key, const char *value)
{
    char *at = (char *)f + f->packet.content_bits / 8, *end = (char *)f + PAGE;
    int n = snprintf(at, (size_t)(end - at), "%s=%s", key, value);
    if (n >= 0 && at + n + 1 <= end)
        f->packet.content_bits += ((uint64_t)n + 1) * 8;
    else
        memset(at, 0, (size_t)(end - at));
}

static void add_provenance(struct weft_facts_header *f)
{
    char text[PAGE], host[256];
    ssize_t n = readlink("/proc/self/exe", text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    add_fact(f, "version", WEFT_VERSION);
    add_fact(f, "program", text);
    read_small("/proc/sys/kernel/hostname", host, sizeof host);
    host[strcspn(host, "\n")] = 0;
    add_fact(f, "host", host);
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    for (char *arg = text; n > 0 && arg < text + n; arg += strlen(arg) + 1) {
        text[n] = 0;
        add_fact(f, "arg", arg);
    }
}

/* The file */

/* Whether somebody who still runs is writing the trace with these facts. */
static bool is_live(const struct weft_facts_header *f)
{
    uint8_t boot[16];
    read_boot_id(boot);
    return f->state == WEFT_TRACE_RECORDING && !memcmp(boot, f->boot_id, sizeof boot) &&
           process_start(f->pid) == f->process_start;
}

/* Whether what stands at path may be replaced: nothing, or a trace that nobody is writing. */
static int check_path(const char *path)
{
    struct stat st;
    struct weft_facts_header f;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : -errno;
    if (S_ISLNK(st.st_mode))
        return -ELOOP;
    if (!S_ISREG(st.st_mode))
        return -EEXIST;
    if (st.st_size == 0)
        return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    ssize_t n = pread(fd, &f, sizeof f, 0);
    close(fd);
    if (n != sizeof f || f.packet.magic != WEFT_PACKET_MAGIC ||
        f.packet.signature != WEFT_PACKET_SIGNATURE || f.packet.class != WEFT_PACKET_FACTS)
        return -EEXIST;
    return is_live(&f) ? -EBUSY : 0;
}

/* path with %p replaced by the process id. False: too long. */
static bool expand(char *out, size_t room, const char *path)
{
    size_t n = 0;
    for (; *path && n < room; path++) {
        if (path[0] == '%' && path[1] == 'p') {
            n += (size_t)snprintf(out + n, room - n, "%d", (int)getpid());
            path++;
        } else {
            out[n++] = *path;
        }
    }
    if (n >= room)
        return false;
    out[n] = 0;
    return true;
}

/* Takes the room on the disk, so that a full one is known now. A limit on the size of files is an error
 * like others; the signal that comes with it would end the program. */
static int allocate(int fd, uint64_t bytes)
{
    sigset_t limit, before;
    struct statvfs disk;
    /* Not tried if it cannot succeed: until it fails, it would leave no room to anybody else. */
    if (fstatvfs(fd, &disk) == 0 && bytes / disk.f_frsize > disk.f_bavail)
        return -ENOSPC;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    int rc = -EINTR;
    for (int i = 0; rc == -EINTR && i < 100; i++)
        rc = -posix_fallocate(fd, 0, (off_t)bytes);
    if (rc == -EFBIG && !sigismember(&before, SIGXFSZ))
        sigtimedwait(&limit, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

/* Makes a file of that size beside path, maps it, and has its name in temporary. */
static int make_file(const char *path, uint64_t bytes, char *temporary, size_t room,
                     unsigned char **map)
{
    if ((size_t)snprintf(temporary, room, "%s.XXXXXX", path) >= room)
        return -ENAMETOOLONG;
    int fd = mkostemp(temporary, O_CLOEXEC); /* 0600, exclusively */
    if (fd < 0)
        return -errno;
    int rc = allocate(fd, bytes);
    if (rc == 0) {
        void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        rc = p == MAP_FAILED ? -errno : 0;
        *map = p;
    }
    close(fd);
    if (rc < 0)
        unlink(temporary);
    return rc;
}

/* Gives the finished file its name. If something has come to stand there, it is looked at again. */
static int publish_file(const char *temporary, const char *path)
{
    if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EEXIST && errno != EINVAL && errno != ENOSYS)
        return -errno;
    int rc = check_path(path);
    if (rc == 0 && rename(temporary, path) < 0)
        rc = -errno;
    return rc;
}

/* Setting up */

static int make_private(struct recorder *r, const struct plan *plan)
{
    uint64_t cells = 1, texts = 256;
    while (cells < plan->packets)
        cells *= 2;
    while (texts < plan->strings_bytes / 8)
        texts *= 2;
    r->private_bytes = cells * sizeof *r->queue + plan->packets * sizeof *r->left_next +
                       texts * sizeof *r->texts + 16;
    void *p =
        mmap(NULL, r->private_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return -ENOMEM;
    r->private = p;
    r->queue = p;
    r->queue_mask = cells - 1;
    r->texts = (uint64_t *)(void *)(r->queue + cells);
    r->texts_mask = texts - 1;
    r->left_next = (uint32_t *)(void *)(r->texts + texts);
    return 0;
}

static void write_headers(struct recorder *r, const struct plan *plan, unsigned char *base)
{
    struct weft_packet_header head = {
        .magic = WEFT_PACKET_MAGIC,
        .signature = WEFT_PACKET_SIGNATURE,
        .version = WEFT_FORMAT_VERSION,
    };
    if (getrandom(head.uuid, sizeof head.uuid, GRND_NONBLOCK) != sizeof head.uuid) {
        uint64_t other[2] = {clock_ns(CLOCK_REALTIME), (uint64_t)getpid() ^ (uintptr_t)base};
        memcpy(head.uuid, other, sizeof other);
    }
    struct weft_packet_header *metadata = (void *)(base + plan->metadata_at);
    if (plan->strings_at > plan->metadata_at) {
        *metadata = head;
        metadata->class = WEFT_PACKET_METADATA;
        metadata->header_bytes = sizeof *metadata;
        metadata->packet_bits = (plan->strings_at - plan->metadata_at) * 8;
        size_t text = weft__metadata((char *)(metadata + 1), METADATA_BYTES - sizeof *metadata);
        metadata->content_bits = (sizeof *metadata + text) * 8;
    }
    r->strings = (void *)(base + plan->strings_at);
    memset(r->strings, 0, plan->strings_bytes);
    r->strings->packet = head;
    r->strings->packet.class = WEFT_PACKET_STRINGS;
    r->strings->packet.header_bytes = sizeof *r->strings;
    r->strings->packet.packet_bits = plan->strings_bytes * 8;
    r->strings->packet.content_bits = plan->strings_bytes * 8;

    r->facts = (void *)base;
    memset(r->facts, 0, PAGE);
    r->facts->packet = head;
    r->facts->packet.class = WEFT_PACKET_FACTS;
    r->facts->packet.header_bytes = sizeof *r->facts;
    r->facts->packet.packet_bits = PAGE * 8;
    r->facts->packet.content_bits = sizeof *r->facts * 8;
}

static void write_facts(struct recorder *r, const struct plan *plan)
{
    struct weft_facts_header *f = r->facts;
    struct clock_pair pair = weft__clock_pair(&r->clock);
    f->state = WEFT_TRACE_RECORDING;
    f->pid = (uint32_t)getpid();
    f->clock = r->clock.kind;
    f->event_packet_bytes = (uint32_t)plan->packet_bytes;
    f->hz = r->clock.hz;
    f->events_at = plan->pool_at;
    f->event_packets = plan->packets;
    f->strings_at = plan->strings_at;
    f->start_ticks = pair.ticks;
    f->start_mono_ns = pair.mono_ns;
    f->start_real_ns = pair.real_ns;
    read_boot_id(f->boot_id);
    f->process_start = process_start(f->pid);
    add_provenance(f);
}

/* Writes a trace without events into base, which has the plan's bytes. */
static int set_up(const struct weft_options *o, const struct plan *plan, unsigned char *base)
{
    struct recorder *r = &weft__rec;
    int rc = make_private(r, plan);
    if (rc < 0)
        return rc;
    for (uint64_t at = 0; at < plan->bytes; at += PAGE)
        ((volatile unsigned char *)base)[at] = 0; /* no page is touched first by an event */
    weft__clock_init(&r->clock, o->clock, o->clock_hz);
    r->pool = base + plan->pool_at;
    r->packet_bytes = (uint32_t)plan->packet_bytes;
    r->packets = plan->packets;
    r->sequence = 0;
    write_headers(r, plan, base);
    weft__pool_init();
    uint64_t end = plan->pool_at + plan->packets * plan->packet_bytes;
    memset(base + end, 0, plan->bytes - end); /* the caller's memory may hold anything */
    write_facts(r, plan);
    return 0;
}

static void forked(void)
{
    weft__state &= ~1u;
    weft__rec.open = 0;
    weft__rec.stuck = false;
    weft__rec.generation++;
    weft__rec.map = NULL;
    weft__rec.private = NULL;
    unlock(); /* who held it is not here */
}

static int barrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

static int start_in(const struct weft_options *o, const struct plan *plan)
{
    struct recorder *r = &weft__rec;
    char path[4096], temporary[4096 + 8];
    unsigned char *map = o->memory;
    int rc;
    if (!o->memory) {
        if (!expand(path, sizeof path, o->path ? o->path : "weft-%p.trace"))
            return -ENAMETOOLONG;
        rc = check_path(path);
        if (rc == 0)
            rc = make_file(path, plan->bytes, temporary, sizeof temporary, &map);
        if (rc < 0)
            return rc;
    }
    rc = set_up(o, plan, map);
    if (rc == 0 && !o->memory)
        rc = publish_file(temporary, path);
    if (rc < 0) {
        if (r->private)
            munmap(r->private, r->private_bytes);
        r->private = NULL;
        if (!o->memory) {
            munmap(map, plan->bytes);
            unlink(temporary);
        }
        return rc;
    }
    r->map = o->memory ? NULL : map;
    r->map_bytes = plan->bytes;
    return 0;
}

/* Lets the pages of a recording go that has ended. False: a thread is still in the middle of an event. */
static bool release(void)
{
    struct recorder *r = &weft__rec;
    if (r->stuck && !weft__threads_quiet())
        return false;
    r->stuck = false;
    if (r->map)
        munmap(r->map, r->map_bytes);
    if (r->private)
        munmap(r->private, r->private_bytes);
    r->map = NULL;
    r->private = NULL;
    return true;
}

int weft_start(const struct weft_options *options)
{
    struct recorder *r = &weft__rec;
    struct weft_options o = {0};
    struct plan plan;
    if (options) {
        size_t size = options->size ? options->size : sizeof o;
        memcpy(&o, options, size < sizeof o ? size : sizeof o);
    }
    if (!make_plan(&plan, o.bytes ? o.bytes : DEFAULT_BYTES) || (uintptr_t)o.memory % 8 ||
        (o.memory && !o.bytes) || (o.path && !*o.path))
        return -EINVAL;
    if (!try_lock())
        return -EALREADY;
    int rc = -EALREADY;
    if (!r->open && (!r->stuck || release())) {
        weft__threads_init(forked);
        barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
        r->generation++;
        rc = start_in(&o, &plan);
        if (rc == 0) {
            /* (G) all of it */
            __atomic_store_n(&r->open, 1, __ATOMIC_RELEASE);
            if (!(o.flags & WEFT_START_PAUSED))
                __atomic_or_fetch(&weft__state, 1, __ATOMIC_RELEASE);
        }
    }
    unlock();
    return rc;
}

void weft_stop(void)
{
    struct recorder *r = &weft__rec;
    /* Another thread may hold the lock for a moment. One that this very thread has interrupted never
     * lets it go. */
    for (int i = 0; !try_lock(); i++) {
        if (i == 1000)
            return;
        usleep(1000);
    }
    if (r->open) {
        __atomic_and_fetch(&weft__state, ~1u, __ATOMIC_SEQ_CST);
        __atomic_store_n(&r->open, 0, __ATOMIC_SEQ_CST);
        /* From here on every thread sees what was stored, or is seen to be busy. */
        if (barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) < 0)
            usleep(10000);
        r->stuck = !weft__threads_quiet();
        struct clock_pair pair = weft__clock_pair(&r->clock);
        r->facts->stop_ticks = pair.ticks;
        r->facts->stop_mono_ns = pair.mono_ns;
        __atomic_store_n(&r->facts->state, WEFT_TRACE_STOPPED, __ATOMIC_RELEASE);
        if (!r->stuck)
            release();
    }
    unlock();
}

void weft_pause(void)
{
    __atomic_and_fetch(&weft__state, ~1u, __ATOMIC_SEQ_CST);
}

void weft_unpause(void)
{
    /* Not while another thread stops. If one starts, it records soon. */
    if (!try_lock())
        return;
    if (weft__rec.open)
        __atomic_or_fetch(&weft__state, 1, __ATOMIC_SEQ_CST);
    unlock();
}

void weft_standby(int on)
{
    weft__threads_init(forked);
    if (on)
        __atomic_or_fetch(&weft__state, 2, __ATOMIC_SEQ_CST);
    else
        __atomic_and_fetch(&weft__state, ~2u, __ATOMIC_SEQ_CST);
}

/* The environment */

static void say(const char *path, const char *why)
{
    char line[512];
    int n = snprintf(line, sizeof line, "weft: %.300s: %s; the program runs on without recording\n",
                     path, why);
    for (int i = 0; i < n - 1; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = '?';
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
        return;
}

static const char *reason(int error)
{
    switch (error) {
    case EEXIST:
        return "is a file that is not a trace; it is left alone";
    case EBUSY:
        return "is being written by another process";
    case ELOOP:
        return "is a symbolic link";
    case EINVAL:
        return "needs a size from 64K to 1T (WEFT_TRACE_SIZE)";
    default:
        return strerror(error);
    }
}

/* WEFT_TRACE=FILE starts recording with the program; WEFT_TRACE_SIZE is its size in bytes, and
 * WEFT_TRACE_FOR the only process that is meant. */
__attribute__((constructor)) static void start_from_environment(void)
{
    const char *path = secure_getenv("WEFT_TRACE");
    const char *size = secure_getenv("WEFT_TRACE_SIZE");
    const char *who = secure_getenv("WEFT_TRACE_FOR");
    if (!path || !*path || (who && strtol(who, NULL, 10) != (long)getpid()))
        return;
    char *end = NULL;
    struct weft_options o = {.size = sizeof o, .path = path};
    errno = 0;
    if (size && *size) {
        o.bytes = strtoull(size, &end, 10);
        if (errno || *end || *size == '-' || o.bytes == 0)
            o.bytes = 1; /* not a size */
    }
    int rc = weft_start(&o);
    if (rc < 0)
        say(path, reason(-rc));
}

__attribute__((destructor)) static void stop_at_exit(void)
{
    weft_stop();
}
