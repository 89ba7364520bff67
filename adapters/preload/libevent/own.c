/* SPDX-License-Identifier: ISC */
/* What is libevent's own, and what the process has accepted. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "libevent.h"

/* ---- Addresses ---- */

enum { RANGES = 16 };

static struct range {
    uintptr_t begin, end; /* end: 0 until the range can be read */
    bool own;
} ranges[RANGES];
static unsigned used;

/* "libevent-2.1.so.7", "libevent_core-2.1.so.7". */
static bool is_name_of_libevent(const char *path)
{
    static const char *const parts[] = {"", "_core", "_extra", "_openssl", "_pthreads"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (strncmp(name, "libevent", 8) != 0)
        return false;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        const size_t n = strlen(parts[i]);
        if (strncmp(name + 8, parts[i], n) == 0 && strncmp(name + 8 + n, "-2.", 3) == 0)
            return true;
    }
    return false;
}

static bool look_up(uintptr_t address)
{
    struct adapter_file file;
    if (!adapter_file_of(&file, (const void *)address)) /* made while the program runs */
        return false;
    const bool own = is_name_of_libevent(file.name);
    const unsigned at = file.end && __atomic_load_n(&used, __ATOMIC_RELAXED) < RANGES
                            ? __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED)
                            : RANGES;
    if (at < RANGES) {
        ranges[at].begin = file.begin;
        ranges[at].own = own;
        __atomic_store_n(&ranges[at].end, file.end, __ATOMIC_RELEASE);
    }
    return own;
}

bool libevent_is_own(const void *code)
{
    const uintptr_t address = (uintptr_t)code;
    for (unsigned i = 0; i < RANGES; i++) {
        const uintptr_t end = __atomic_load_n(&ranges[i].end, __ATOMIC_ACQUIRE);
        if (!end)
            break;
        if (address < end && address >= ranges[i].begin)
            return ranges[i].own;
    }
    return look_up(address);
}

/* ---- Descriptors ---- */

enum { KEPT = 512 /* a power of two */ };

/* By descriptor, for as long as that has the same inode: then it is the same socket. */
static struct kept {
    uint32_t version; /* odd while somebody writes it */
    int fd;
    dev_t device;
    ino_t inode;
    struct libevent_descriptor what;
} kept[KEPT];

static bool get_kept(struct libevent_descriptor *d, int fd, const struct stat *st)
{
    const struct kept *k = &kept[(unsigned)fd % KEPT];
    const uint32_t version = __atomic_load_n(&k->version, __ATOMIC_ACQUIRE);
    if (version % 2 || k->fd != fd || k->device != st->st_dev || k->inode != st->st_ino)
        return false;
    *d = k->what;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&k->version, __ATOMIC_RELAXED) == version;
}

static void keep(const struct libevent_descriptor *d, int fd, const struct stat *st)
{
    struct kept *k = &kept[(unsigned)fd % KEPT];
    uint32_t version = __atomic_load_n(&k->version, __ATOMIC_RELAXED);
    if (version % 2 || !__atomic_compare_exchange_n(&k->version, &version, version + 1, false,
                                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    k->fd = fd;
    k->device = st->st_dev;
    k->inode = st->st_ino;
    k->what = *d;
    __atomic_store_n(&k->version, version + 2, __ATOMIC_RELEASE);
}

void libevent_describe(struct libevent_descriptor *d, int fd)
{
    struct stat st;
    struct adapter_descriptor what;
    const int error = errno;
    const bool socket = fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
    if (!socket || !get_kept(d, fd, &st)) {
        adapter_describe(d->text, fd, &what);
        d->listens = what.listens;
        d->connects = what.stream && !what.listens && !what.connected;
        d->terminal = what.terminal;
        if (socket && (what.listens || what.connected))
            keep(d, fd, &st);
    }
    errno = error;
}

/* ---- Accepted connections. A byte for each descriptor; what is not accepted clears it. ---- */

#define LIBC(name) REAL_OF(name, "libc.so.6")

LIBC(accept);
LIBC(accept4);
LIBC(connect);
LIBC(socketpair);

enum { DESCRIPTORS = 1 << 16 };

static unsigned char accepted[DESCRIPTORS];

static void note(int fd, unsigned char how)
{
    if (fd >= 0 && fd < DESCRIPTORS && accepted[fd] != how)
        __atomic_store_n(&accepted[fd], how, __ATOMIC_RELAXED);
}

bool libevent_is_accepted(int fd)
{
    return fd >= 0 && fd < DESCRIPTORS && __atomic_load_n(&accepted[fd], __ATOMIC_RELAXED);
}

ADAPTER_EXPORT int accept(int fd, struct sockaddr *address, socklen_t *size)
{
    const int connection = REAL(accept)(fd, address, size);
    note(connection, 1);
    return connection;
}

ADAPTER_EXPORT int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    const int connection = REAL(accept4)(fd, address, size, flags);
    note(connection, 1);
    return connection;
}

ADAPTER_EXPORT int connect(int fd, const struct sockaddr *address, socklen_t size)
{
    note(fd, 0);
    return REAL(connect)(fd, address, size);
}

ADAPTER_EXPORT int socketpair(int domain, int type, int protocol, int pair[2])
{
    const int result = REAL(socketpair)(domain, type, protocol, pair);
    if (result == 0) {
        note(pair[0], 0);
        note(pair[1], 0);
    }
    return result;
}
