/* SPDX-License-Identifier: ISC */
/* Plays a program in OCaml 5, as far as its runtime's ring file goes (format/ocaml.h): it begins one if the environment says so, and
 * writes into it as the runtime does. Arguments are what it does, one after the other:
 *
 *     count N       N events "test.count", 1 to N, on domain 0
 *     domains N     the same, on the two domains in turn
 *     spans N       N spans "test.span" within one another, on domain 0
 *     phases N      N collections of four phases each, on domain 0
 *     replay FILE   what a ring file has, ring by ring, as if it began now
 *     burst N       as count, while its parent is stopped
 *     fork          a child does the rest; waits for it
 *     exec          becomes this program anew, with the rest
 *     wait FILE     until a fifo is opened and closed
 *     kill, leave   ends by SIGKILL, or _exit
 *
 * LINKED: the program also records by itself. */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format/ocaml.h"
#ifdef LINKED
#include "weft/weft.h"
#endif

enum { DOMAINS = 4, COUNT = 40, SPAN = 41 /* numbers of events */ };

static uint64_t room; /* words of a ring */
static uint64_t *map; /* NULL: there is no ring file */

static uint64_t rings_at(void)
{
    return WEFT_OCAML_HEAD_BYTES + DOMAINS * WEFT_OCAML_RING_HEAD_BYTES;
}

static char *name_of(unsigned id)
{
    return (char *)map + rings_at() + DOMAINS * room * 8 + (size_t)id * WEFT_OCAML_NAME_BYTES;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static _Noreturn void die(const char *what)
{
    perror(what);
    exit(1);
}

/* As runtime_events.c does it: room first, then the item, then the tail. */
static void put(unsigned domain, struct weft_ocaml_item item, uint64_t time_ns, const void *rest)
{
    if (!map)
        return;
    uint64_t *head_at = map + (WEFT_OCAML_HEAD_BYTES + domain * WEFT_OCAML_RING_HEAD_BYTES) / 8;
    uint64_t *ring = map + rings_at() / 8 + domain * room;
    uint64_t head = head_at[0], tail = head_at[1];
    const uint64_t left = room - (tail & (room - 1)), padding = left < item.words ? left : 0;
    while (tail + item.words + padding - head >= room)
        head += ring[head & (room - 1)] >> 54;
    atomic_store_explicit((_Atomic uint64_t *)&head_at[0], head, memory_order_release);
    if (padding) {
        ring[tail & (room - 1)] = padding << 54;
        tail += padding;
        atomic_store_explicit((_Atomic uint64_t *)&head_at[1], tail, memory_order_release);
    }
    uint64_t *at = ring + (tail & (room - 1));
    at[0] = weft_ocaml_item_head(&item);
    at[1] = time_ns;
    if (item.words > 2)
        memcpy(at + 2, rest, 8 * (item.words - 2));
    atomic_store_explicit((_Atomic uint64_t *)&head_at[1], tail + item.words, memory_order_release);
}

static void count(unsigned domain, uint64_t n)
{
    put(domain,
        (struct weft_ocaml_item){.words = 3, .user = true, .type = WEFT_OCAML_INT, .id = COUNT},
        now_ns(), &n);
}

static void lifecycle(unsigned id)
{
    const uint64_t pid = (uint64_t)getpid();
    put(0, (struct weft_ocaml_item){.words = 3, .type = WEFT_OCAML_LIFECYCLE, .id = id}, now_ns(),
        &pid);
}

/* How many words a ring has, as a power of two. */
static unsigned log2_words(void)
{
    const char *at = getenv("OCAMLRUNPARAM");
    for (; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, "e=", 2) == 0)
            return (unsigned)atoi(at + 2);
    return 16;
}

static void begin(void)
{
    const char *folder = getenv("OCAML_RUNTIME_EVENTS_DIR");
    char path[4096];
    if (!getenv("OCAML_RUNTIME_EVENTS_START"))
        return;
    snprintf(path, sizeof path, "%s/%d.events", folder ? folder : ".", (int)getpid());
    room = UINT64_C(1) << log2_words();
    const uint64_t names = rings_at() + DOMAINS * room * 8,
                   size = names + WEFT_OCAML_NAMES * WEFT_OCAML_NAME_BYTES;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
        die(path);
    map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        die(path);
    for (unsigned i = 0; i < DOMAINS; i++)
        memset(map + (WEFT_OCAML_HEAD_BYTES + i * WEFT_OCAML_RING_HEAD_BYTES) / 8, 0, 16);
    const uint64_t w[WEFT_OCAML_HEAD_WORDS] = {
        WEFT_OCAML_VERSION, DOMAINS, WEFT_OCAML_RING_HEAD_BYTES,
        room * 8,           room,    WEFT_OCAML_HEAD_BYTES,
        rings_at(),         names};
    memcpy(map + 1, w + 1, sizeof w - 8);
    strcpy(name_of(COUNT), "test.count");
    strcpy(name_of(SPAN), "test.span");
    atomic_store_explicit((_Atomic uint64_t *)map, w[0], memory_order_release);
    lifecycle(WEFT_OCAML_RING_START);
}

/* Puts what a ring has, later by that; or, if it is told where, looks for the earliest time only. */
static void replay_ring(const unsigned char *bytes, const uint64_t *w, unsigned domain,
                        uint64_t later, uint64_t *earliest)
{
    const uint64_t *counts = (const uint64_t *)(const void *)(bytes + w[5] + domain * w[2]);
    for (uint64_t at = counts[0]; at < counts[1];) {
        const unsigned char *item = bytes + w[6] + domain * w[3] + 8 * (at & (w[4] - 1));
        const struct weft_ocaml_item i = weft_ocaml_item(weft_read_u64(item));
        const uint64_t time = weft_read_u64(item + 8);
        if (!weft_ocaml_is_padding(&i) && earliest)
            *earliest = time < *earliest ? time : *earliest;
        else if (!weft_ocaml_is_padding(&i))
            put(domain, i, time + later, item + 16);
        at += i.words;
    }
}

static void replay(const char *path)
{
    struct stat st;
    uint64_t w[WEFT_OCAML_HEAD_WORDS];
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) < 0)
        die(path);
    unsigned char *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED || !weft_ocaml_head_read(bytes, (size_t)st.st_size, w))
        die(path);
    close(fd);
    for (unsigned id = 0; map && id < WEFT_OCAML_NAMES; id++)
        memcpy(name_of(id), bytes + w[7] + (size_t)id * WEFT_OCAML_NAME_BYTES,
               WEFT_OCAML_NAME_BYTES);
    uint64_t earliest = UINT64_MAX;
    for (unsigned i = 0; i < w[1] && i < DOMAINS; i++)
        replay_ring(bytes, w, i, 0, &earliest);
    const uint64_t later = now_ns() - earliest;
    for (unsigned i = 0; i < w[1] && i < DOMAINS; i++)
        replay_ring(bytes, w, i, later, NULL);
}

static void phases(unsigned long n)
{
    static const uint64_t value = 1;
    for (unsigned long i = 0; i < n; i++) {
        for (unsigned id = 1; id <= 4; id++)
            put(0, (struct weft_ocaml_item){.words = 2, .type = WEFT_OCAML_BEGIN, .id = id},
                now_ns(), NULL);
        put(0, (struct weft_ocaml_item){.words = 3, .type = 4, .id = 1}, now_ns(), &value);
        for (unsigned id = 4; id >= 1; id--)
            put(0, (struct weft_ocaml_item){.words = 2, .type = WEFT_OCAML_END, .id = id}, now_ns(),
                NULL);
    }
}

static void spans(unsigned long n)
{
    for (unsigned long i = 0; i < 2 * n; i++)
        put(0,
            (struct weft_ocaml_item){.words = 2,
                                     .user = true,
                                     .type = i < n ? WEFT_OCAML_SPAN_BEGIN : WEFT_OCAML_SPAN_END,
                                     .id = SPAN},
            now_ns(), NULL);
}

static void wait_for(const char *fifo)
{
    char byte;
    int fd = open(fifo, O_RDONLY);
    while (fd >= 0 && read(fd, &byte, 1) > 0)
        ;
    close(fd);
}

/* Returns in the child. */
static void do_fork(void)
{
    int status;
    pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child == 0) {
        map = NULL;
        begin();
        return;
    }
    waitpid(child, &status, 0);
    lifecycle(WEFT_OCAML_RING_STOP);
    exit(0);
}

static void burst(unsigned long n)
{
    kill(getppid(), SIGSTOP);
    for (unsigned long i = 1; i <= n; i++)
        count(0, i);
    kill(getppid(), SIGCONT);
}

int main(int argc, char **argv)
{
    begin();
#ifdef LINKED
    weft_fulfill(weft_create("task", "by itself"));
#endif
    for (int i = 1; i < argc; i++) {
        const char *what = argv[i];
        if (strcmp(what, "fork") == 0) {
            do_fork();
            continue;
        }
        if (strcmp(what, "exec") == 0) {
            argv[i] = argv[0];
            execv("/proc/self/exe", argv + i);
            die("exec");
        }
        if (strcmp(what, "kill") == 0)
            raise(SIGKILL);
        if (strcmp(what, "leave") == 0)
            _exit(3);
        if (++i == argc)
            break;
        const unsigned long n = strtoul(argv[i], NULL, 10);
        if (strcmp(what, "count") == 0)
            for (unsigned long k = 1; k <= n; k++)
                count(0, k);
        else if (strcmp(what, "domains") == 0)
            for (unsigned long k = 1; k <= n; k++)
                count(k % 2, k);
        else if (strcmp(what, "phases") == 0)
            phases(n);
        else if (strcmp(what, "spans") == 0)
            spans(n);
        else if (strcmp(what, "replay") == 0)
            replay(argv[i]);
        else if (strcmp(what, "burst") == 0)
            burst(n);
        else if (strcmp(what, "wait") == 0)
            wait_for(argv[i]);
    }
    lifecycle(WEFT_OCAML_RING_STOP);
    return 0;
}
