/* SPDX-License-Identifier: ISC */
/* Starting and stopping; the environment. None of this is on the path of an event, but weft ctl can make any
 * call start or stop the recording, perhaps in a signal handler. So this code calls only async-signal-safe
 * functions, and large buffers are static. */
#include "record/start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "record/options.h"
#include "format/process.h"

#define DEFAULT_BYTES (UINT64_C(64) << 20)
#define PAGE UINT64_C(4096)

/* Defined here, so that whoever links the static library also gets the code that reads the environment. */
uint32_t weft_impl_state;
struct recorder weft_record_rec = {.recording = NO_RECORDING};

static uint32_t starting; /* a lock */

bool weft_record_is_locked(void)
{
    return __atomic_load_n(&starting, __ATOMIC_RELAXED);
}

/* A thread that was cancelled while it holds the lock would keep it forever. */
static int cancellable;

bool weft_record_try_lock(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    if (__atomic_exchange_n(&starting, 1, __ATOMIC_ACQUIRE)) {
        pthread_setcancelstate(before, &before);
        return false;
    }
    cancellable = before;
    return true;
}

void weft_record_unlock(void)
{
    int before = cancellable;
    __atomic_store_n(&starting, 0, __ATOMIC_RELEASE);
    pthread_setcancelstate(before, &before);
}

/* A forked child has a copy of its parent's recorder, which it must not use. Forks that run no fork handlers
 * (_Fork, clone) are detected by a page that is zeroed in the child. */
static uint32_t *mark;
static pid_t owner; /* the process, if the system has no such pages */

static void claim(void)
{
    owner = getpid();
    if (!mark) {
        void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p != MAP_FAILED && madvise(p, PAGE, MADV_WIPEONFORK) == 0)
            mark = p;
        else if (p != MAP_FAILED)
            munmap(p, PAGE);
    }
    if (mark)
        __atomic_store_n(mark, 1, __ATOMIC_RELAXED);
}

bool weft_record_is_ours(void)
{
    return mark ? __atomic_load_n(mark, __ATOMIC_RELAXED) : owner == getpid();
}

bool weft_record_is_orphan(void)
{
    return __atomic_load_n(&weft_record_rec.open, __ATOMIC_ACQUIRE) && mark && /* with (G) */
           !__atomic_load_n(mark, __ATOMIC_RELAXED);
}

/* Provenance */

static void add_provenance(void)
{
    static char text[PAGE];
    ssize_t n = readlink("/proc/self/exe", text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    weft_record_layout_fact("program", text);
    format_read_small("/proc/sys/kernel/hostname", text, 256);
    text[strcspn(text, "\n")] = 0;
    weft_record_layout_fact("host", text);
    n = (ssize_t)format_read_small("/proc/self/cmdline", text, sizeof text);
    for (char *arg = text; n > 0 && arg < text + n; arg += strlen(arg) + 1)
        weft_record_layout_fact("arg", arg);
}

/* Setting up */

static void make_uuid(uint8_t uuid[16])
{
    if (getrandom(uuid, 16, GRND_NONBLOCK) != 16) {
        uint64_t other[2] = {clock_ns(CLOCK_REALTIME), (uint64_t)getpid() ^ (uintptr_t)uuid};
        memcpy(uuid, other, sizeof other);
    }
}

static bool scheduler_off; /* do not ask it */
static bool counter_off;   /* read the system's clock instead */

/* Writes a trace without events into base, which has the layout's bytes. */
static int set_up(const struct weft_options *o, const struct layout *l, unsigned char *base)
{
    struct recorder *r = &weft_record_rec;
    uint8_t uuid[16];
    r->private_bytes = weft_record_layout_private(l);
    void *p =
        mmap(NULL, r->private_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return -ENOMEM;
    r->private = p;
    make_uuid(uuid);
    weft_record_clock_init(&r->clock, o->clock, o->clock_hz, counter_off);
    weft_record_layout_write(l, base, p, uuid, o->flags & WEFT_START_TURN_CLOCK);
    /* A clock of the program's own may run at another rate than the scheduler's. */
    r->core_ticks =
        scheduler_off || r->clock.kind == WEFT_CLOCK_CALLER ? UINT64_MAX : r->clock.hz / 100;
    struct weft_facts_header *f = r->facts;
    f->pid = (uint32_t)getpid();
    format_boot_id(f->boot_id);
    f->process_start = format_process_start(f->pid);
    add_provenance();
    return 0;
}

static void forked(void)
{
    weft_record_follow_forked(weft_record_rec.open && weft_record_control.on);
    weft_record_control_forked();
    weft_record_rec.open = 0;
    weft_record_rec.stuck = false;
    weft_record_rec.generation++;
    weft_record_rec.map = NULL;
    weft_record_rec.private = NULL;
    __atomic_store_n(&starting, 0,
                     __ATOMIC_RELEASE); /* the thread that held it does not exist in this process */
}

/* Where a recording goes. */
struct place {
    bool literal; /* %p in the path has no special meaning */
    int fd;       /* -1, or the sealed memory that weft record passed */
};

static int start_in(const struct weft_options *o, const struct layout *l, const struct place *place)
{
    struct recorder *r = &weft_record_rec;
    struct weft_record_file file = {.map = o->memory};
    int rc = 0;
    if (place->fd >= 0) {
        rc = weft_record_file_take(&file, place->fd, l->bytes);
        close(place->fd);
    } else if (!o->memory)
        rc = weft_record_file_make(&file, o->path ? o->path : "weft-%p.trace", place->literal,
                                   l->bytes);
    if (rc < 0)
        return rc;
    rc = set_up(o, l, file.map);
    if (rc == 0 && !o->memory && place->fd < 0)
        rc = weft_record_file_publish(&file);
    if (rc < 0) {
        if (r->private)
            munmap(r->private, r->private_bytes);
        r->private = NULL;
        if (!o->memory)
            weft_record_file_drop(&file, l->bytes);
        return rc;
    }
    r->map = o->memory ? NULL : file.map;
    r->map_bytes = l->bytes;
    return 0;
}

/* Releases the pages of a recording that has ended. Returns false if a thread is still in the middle of an
 * event. */
static bool release_pages(void)
{
    struct recorder *r = &weft_record_rec;
    if (r->stuck && !weft_record_threads_quiet())
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

static int start(const struct weft_options *options, const struct place *place)
{
    struct recorder *r = &weft_record_rec;
    struct weft_options o = {0};
    struct layout layout;
    int rc = weft_record_options_take(&o, options);
    if (rc < 0)
        return rc;
    if (!weft_record_layout_plan(&layout, o.bytes ? o.bytes : DEFAULT_BYTES, o.pending_bytes) ||
        (uintptr_t)o.memory % 8 || (o.memory && !o.bytes) || (o.path && !*o.path))
        return -EINVAL;
    if (r->open && !weft_record_is_ours())
        forked();
    weft_record_follow_drop();
    if (r->open || (r->stuck && !release_pages()))
        return -EALREADY;
    weft_record_threads_init(forked);
    r->fenced = membarrier(MEMBARRIER_REGISTER_PRIVATE_EXPEDITED) < 0;
    if (++r->generation == WEFT_RECORD_RING << 24)
        r->generation = 1;
    rc = start_in(&o, &layout, place);
    if (rc < 0)
        return rc;
    claim();
    weft_record_control.facts = r->facts;
    __atomic_store_n(&r->open, 1, __ATOMIC_RELEASE); /* (G) everything is set up */
    if (!(o.flags & WEFT_START_PAUSED))
        weft_record_switch(true);
    return 0;
}

int weft_record_start_locked(const struct weft_options *options, bool literal)
{
    return start(options, &(struct place){.literal = literal, .fd = -1});
}

static int start_here(const struct weft_options *options, int fd)
{
    if (!weft_record_try_lock())
        return -EALREADY;
    int rc = start(options, &(struct place){.fd = fd});
    weft_record_unlock();
    return rc;
}

int weft_start(const struct weft_options *options)
{
    return start_here(options, -1);
}

bool weft_record_others_ended(void)
{
    /* From here on every other thread sees these stores, or is seen to be busy. */
    if (membarrier(MEMBARRIER_PRIVATE_EXPEDITED) < 0)
        usleep(10000);
    return weft_record_threads_quiet();
}

void weft_record_stop_locked(void)
{
    struct recorder *r = &weft_record_rec;
    if (!r->open || !weft_record_is_ours())
        return;
    weft_record_switch(false);
    __atomic_store_n(&r->open, 0, __ATOMIC_RELAXED);
    r->stuck = !weft_record_others_ended();
    weft_record_layout_stop();
    weft_record_control.facts = NULL;
    if (!r->stuck)
        release_pages();
}

void weft_stop(void)
{
    weft_record_follow_drop();
    /* Another thread may hold the lock for a moment. If this very thread holds it, in code that was
     * interrupted, it is never released. */
    for (int i = 0; !weft_record_try_lock(); i++) {
        if (i == 1000)
            return;
        usleep(1000);
    }
    weft_record_stop_locked();
    weft_record_unlock();
}

void weft_record_note_once(uint32_t *noted, const char *key)
{
    const uint32_t generation = weft_record_rec.generation;
    if (__atomic_load_n(noted, __ATOMIC_RELAXED) == generation || !weft_record_try_lock())
        return;
    if (weft_record_rec.open && weft_record_is_ours()) {
        __atomic_store_n(noted, generation, __ATOMIC_RELAXED);
        weft_record_layout_yes(key);
    }
    weft_record_unlock();
}

void weft_record_refused(void)
{
    static uint32_t noted;
    weft_record_note_once(&noted, "refused");
}

void weft_pause(void)
{
    struct thread *t =
        __atomic_load_n(&weft_record_rec.open, __ATOMIC_RELAXED) ? this_thread() : NULL;
    if (!t) {
        weft_record_switch(false);
        return;
    }
    /* No lock: a weft_stop on another thread waits for this, as it waits for an event. */
    const uint32_t level = t->busy;
    __atomic_store_n(&t->busy, level + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    weft_record_switch_over(false);
    __atomic_store_n(&t->busy, level, __ATOMIC_RELEASE); /* (H) */
}

void weft_unpause(void)
{
    /* Not while another thread stops the recording. If another thread starts one, that will record soon. */
    if (!weft_record_try_lock())
        return;
    if (weft_record_rec.open)
        weft_record_switch_over(true);
    weft_record_unlock();
}

void weft_standby(int on)
{
    weft_record_threads_init(forked);
    weft_record_switch_standby(on);
}

/* The environment */

static void say(const char *path, const char *why)
{
    char line[512];
    struct put p = put_begin(line, sizeof line - 1);
    put_text(&p, "weft: ");
    char *name = p.at;
    put_text(&p, path);
    if (p.at > name + 300)
        p.at = name + 300;
    put_text(&p, ": ");
    put_text(&p, why);
    put_text(&p, "; the program runs on without recording");
    put_end(&p);
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    put_text(&(struct put){p.at, line + sizeof line, false}, "\n");
    if (write(STDERR_FILENO, line, (size_t)(p.at + 1 - line)) < 0)
        return;
}

static const char *reason(int error)
{
    switch (error) {
    case EEXIST:
        return "is a file that is not a trace; it is left alone";
    case EBUSY:
        return "is being written by another process";
    case EADDRINUSE:
        return "is being written by another copy of libweft in this process; link it as a shared "
               "library, once";
    case ELOOP:
        return "is a symbolic link";
    case EINVAL:
        return "needs a size from 64K to 1T, for instance 64M (WEFT_TRACE_SIZE)";
    case EBADF:
        return "the memory that weft record --memory has given is not there, perhaps because of "
               "exec";
    default:
        return strerror(error);
    }
}

/* The number that the text begins with, and what follows it. UINT64_MAX if there is none, or it is too large. */
static uint64_t number(const char *text, char **after)
{
    errno = 0;
    const uint64_t n = strtoull(text, after, 10);
    return errno || *text < '0' || *text > '9' ? UINT64_MAX : n;
}

/* A size in bytes, as --size accepts it: "64M", "65536", "1GiB". UINT64_MAX if it is not a size. */
static uint64_t size_of(const char *text)
{
    static const char units[] = "KMGT";
    char *unit = NULL;
    const uint64_t n = number(text, &unit);
    if (n == UINT64_MAX || !*unit)
        return n;
    const char *u = strchr(units, *unit >= 'a' ? *unit - ('a' - 'A') : *unit);
    if (!u || (unit[1] && strcmp(unit + 1, "B") != 0 && strcmp(unit + 1, "iB") != 0))
        return UINT64_MAX;
    const unsigned shift = 10 * (unsigned)(u - units + 1);
    return n > UINT64_MAX >> shift ? UINT64_MAX : n << shift;
}

/* One that nobody has if the text is not a number. */
static int descriptor(const char *text)
{
    char *after = NULL;
    const uint64_t fd = number(text, &after);
    return *after || fd > INT_MAX ? INT_MAX : (int)fd;
}

/* Starts with the first call. The memory is mapped now, because the program may close what it has not opened itself. */
static void start_later(struct weft_options *o, int fd, const char *own, const char *children)
{
    struct weft_record_file file = {.map = NULL};
    if (fd >= 0 && weft_record_file_take(&file, fd, o->bytes) < 0)
        return;
    o->memory = file.map;
    weft_record_threads_init(forked);
    weft_record_follow(own, children, o);
    if (fd >= 0)
        weft_record_follow_memory(fd);
    weft_record_switch(false);
}

/* WEFT_TRACE=FILE starts recording with the program.
 *
 *   WEFT_TRACE_SIZE       the size of the trace
 *   WEFT_TRACE_PENDING    how much of that is for pending promises
 *   WEFT_TRACE_FOR        the only process that is to record
 *   WEFT_TRACE_FD         weft record --memory: the descriptor of memory to use instead of the file
 *   WEFT_TRACE_FORK       … and where forked children record. Without it, they record if the file name has %p
 *   WEFT_TRACE_BEGIN      call: begin with the first call, in this process and in programs that it starts: those record where
 *                         children do. For adapters, which are loaded into programs that may never use them. The memory's
 *                         descriptor stays open, for the program that may replace this one by exec
 *   WEFT_TRACE_CLOCK      turn: WEFT_START_TURN_CLOCK. monotonic: read CLOCK_MONOTONIC and not the processor's counter; this
 *                         also applies to recordings that the program starts itself
 *   WEFT_TRACE_SCHEDULER  off: do not ask the scheduler how long threads waited for a core; this also applies to
 *                         recordings that the program starts itself */
__attribute__((constructor)) static void start_from_environment(void)
{
    weft_record_threads_prepare(forked);
    /* Done while there is only one thread; with more it takes 10 ms and longer. */
    membarrier(MEMBARRIER_REGISTER_PRIVATE_EXPEDITED);
    const char *path = secure_getenv("WEFT_TRACE");
    const char *size = secure_getenv("WEFT_TRACE_SIZE");
    const char *pending = secure_getenv("WEFT_TRACE_PENDING");
    const char *who = secure_getenv("WEFT_TRACE_FOR");
    const char *clock = secure_getenv("WEFT_TRACE_CLOCK");
    const char *memory = secure_getenv("WEFT_TRACE_FD");
    const char *children = secure_getenv("WEFT_TRACE_FORK");
    const char *scheduler = secure_getenv("WEFT_TRACE_SCHEDULER");
    const char *begin = secure_getenv("WEFT_TRACE_BEGIN");
    const bool late = begin && strcmp(begin, "call") == 0;
    const bool other = who && strtol(who, NULL, 10) != (long)getpid();
    scheduler_off = scheduler && strcmp(scheduler, "off") == 0;
    counter_off = clock && strcmp(clock, "monotonic") == 0;
    if (!path || !*path || (other && !(late && children)))
        return;
    struct weft_options o = {.size = sizeof o, .path = path};
    if (size && *size) {
        o.bytes = size_of(size);
        if (o.bytes == 0)
            o.bytes = 1; /* an invalid size */
    }
    if (pending && *pending)
        o.pending_bytes = size_of(pending); /* if it is not a size: as much as possible */
    if (clock && strcmp(clock, "turn") == 0)
        o.flags |= WEFT_START_TURN_CLOCK;
    const char *follow = who ? children : strstr(path, "%p") ? path : NULL;
    const int fd = memory && who ? descriptor(memory) : -1;
    if (late) {
        start_later(&o, fd, other ? NULL : path, follow);
        return;
    }
    int rc = start_here(&o, fd);
    if (rc == 0 && follow)
        weft_record_follow("", follow, &o);
    /* If there are two copies of the library whose names are bound to the first, the second finds it already
     * recording. */
    if (rc < 0 && rc != -EALREADY)
        say(path, reason(-rc));
}

__attribute__((destructor)) static void stop_at_exit(void)
{
    weft_stop();
    if (weft_record_threads_end() && mark) {
        munmap(mark, PAGE);
        mark = NULL;
    }
}
