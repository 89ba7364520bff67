/* SPDX-License-Identifier: ISC */
/* What the adapters for libraries share. Each adapter is a small library that `weft record` loads into a program by
 * LD_PRELOAD, before the library that it is for: its functions have the same names, so the program calls them; they
 * record, and call the library's own.
 *
 *     int uv_timer_start(uv_timer_t *t, uv_timer_cb cb, uint64_t timeout, uint64_t repeat)
 *     {
 *         if (!adapter_on())
 *             return REAL(uv_timer_start)(t, cb, timeout, repeat);
 *         …
 *
 * The program must not notice: errno, results, order and cancellation points stay as they are. What is here leaves errno
 * unchanged, never calls the program, and is safe on any thread. In signal handlers only adapter_on is safe: a handler
 * that interrupts an adapter finds it off.
 *
 * A process records from its first call of weft's on; a process in which no adapter's library is used makes none. */
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <weft/weft.h>

/* A function that takes the place of the library's: all others of an adapter are hidden. */
#define ADAPTER_EXPORT __attribute__((visibility("default")))

/* ---- The library's own functions ---- */

/* Declares the place for the address of the library's own function, at file scope; soname: of the library that has it, or of
 * several that may, separated by spaces. */
#define REAL_OF(name, soname)                                                                      \
    static void *real_##name;                                                                      \
    static const char *const soname_##name = (soname)

/* The library's own function. The first call looks it up. */
#define REAL(name) ((__typeof__(&(name)))adapter_real(&real_##name, #name, soname_##name))

/* Not shared, because RTLD_NEXT means: after the library that calls dlsym. */
__attribute__((cold, unused)) static void *adapter_find(void **place, const char *name,
                                                        const char *soname)
{
    char one[64];
    size_t n;
    void *found = dlsym(RTLD_NEXT, name);
    for (; !found && *soname; soname += n + (soname[n] == ' ')) {
        n = strcspn(soname, " ");
        snprintf(one, sizeof one, "%.*s", (int)n, soname);
        void *library = dlopen(one, RTLD_LAZY | RTLD_NOLOAD); /* by the program, for itself */
        found = library ? dlsym(library, name) : NULL;
        if (library)
            dlclose(library);
    }
    __atomic_store_n(place, found, __ATOMIC_RELAXED);
    return found;
}

static inline void *adapter_real(void **place, const char *name, const char *soname)
{
    void *found = __atomic_load_n(place, __ATOMIC_RELAXED);
    return __builtin_expect(found != NULL, 1) ? found : adapter_find(place, name, soname);
}

/* ---- Whether to record ---- */

/* How deep this thread is in code that an adapter does not want to see: the library calls its own exported functions,
 * weft's code calls others. */
extern __thread unsigned adapter_inside __attribute__((tls_model("initial-exec")));

/* The process is recorded by the adapter of its runtime: nothing here calls weft, or else weft ctl would begin a second
 * recording with such a call. */
extern bool adapter_aside;

/* Whether what this call does is to be recorded. False in a program of a runtime that has an adapter of its own, as
 * Python and Node.js. */
static inline bool adapter_on(void)
{
    return WEFT_IMPL_ON() && __builtin_expect(adapter_inside == 0 && !adapter_aside, 1);
}

/* Around calls of the library whose own calls of exported functions are not to be recorded. */
static inline void adapter_enter(void)
{
    adapter_inside++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void adapter_leave(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    adapter_inside--;
}

/* A callback of the program runs inside of the library: what it calls is recorded again. Returns what adapter_back
 * needs. */
static inline unsigned adapter_out(void)
{
    const unsigned before = adapter_inside;
    adapter_inside = 0;
    return before;
}

static inline void adapter_back(unsigned before)
{
    adapter_inside = before;
}

/* A lock that is held for some instructions: a mutex might be one that an adapter records. 0: free. While a thread holds it,
 * a signal handler on that thread must not want it: adapter_enter before, and adapter_leave after it, see to that. */
static inline void adapter_lock(uint32_t *lock)
{
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

static inline void adapter_unlock(uint32_t *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

/* At file scope: calls it in the child of a fork. A lock that another thread held then is free again there. */
#define ADAPTER_IN_CHILD(forked)                                                                   \
    __attribute__((constructor)) static void forked##_prepare(void)                                \
    {                                                                                              \
        pthread_atfork(NULL, NULL, forked);                                                        \
    }

/* Whether weft record has set this up, for instance "python" or "libuv" (WEFT_ADAPTERS). */
bool adapter_is_chosen(const char *name);

/* ---- Whose code it is ---- */

/* A mapped file. */
struct adapter_file {
    const char *name;     /* "": the program itself. Valid as long as the file is mapped */
    uintptr_t begin, end; /* where it is mapped; end: 0 before glibc 2.35, where it is not known */
    uintptr_t moved;      /* an address minus the one that it was linked at */
};

/* Finds the file with this address. False: it is in none. From glibc 2.35 on it takes no lock; another thread may hold the
 * loader's while it waits for one that the program holds here. */
bool adapter_file_of(struct adapter_file *f, const void *address);

/* Where a library is: a static variable, {0} at first. */
struct adapter_range {
    uintptr_t begin, end;
};

/* Whether the address is in the library that has this function. */
bool adapter_is_in(struct adapter_range *library, const void *function, const void *address);

/* ---- Promises ---- */

/* Creates a promise whose place in the program, and name, is a function: its callback. Its label is the function's name,
 * followed by the detail ("tcp 10.0.0.1:443") if that is not NULL. A NULL code: the label is the detail.
 * The trace has the address; `weft record` looks up the name, file and line when the program has ended. type: a literal.
 * code: a function, or data in a mapped file. */
weft_promise adapter_create(const void *code, const char *type, const char *detail);

/* The same with a creator that is not what runs now. */
weft_promise adapter_create_from(weft_promise parent, const void *code, const char *type,
                                 const char *detail);

/* Writes what the address is called in a trace: "/usr/sbin/named+0x1a2b3". Returns its length without the NUL. */
size_t adapter_name(char *text, size_t size, const void *code);

/* ---- What is known about the objects of a library ----
 *
 * From an address (an object's, or any other number) and a kind to what an adapter knows of it. Each table is an
 * adapter's own: a static variable, {0} at first. A forked child has what its parent knew, but for the promises, which
 * its own recording does not have. */

enum { ADAPTER_PARTS = 16 };

struct adapter_entry {
    uint64_t key;
    weft_promise promise;
    void *callback;
    uint32_t kind;
    uint32_t number;  /* the adapter's own */
    uint32_t process; /* that put it there; adapter_put fills it in */
    uint32_t used;    /* the table's */
};

struct adapter_table {
    struct adapter_part {
        uint32_t locked, count, room; /* room: a power of two, or 0 */
        struct adapter_entry *entries;
    } part[ADAPTER_PARTS];
    struct adapter_table *next; /* of all that are in use */
    uint32_t listed;
};

/* Adds an entry, or replaces the one with its key and kind. False: no memory; then nothing is known of it. */
bool adapter_put(struct adapter_table *t, const struct adapter_entry *e);

/* Copies the entry. False: there is none. */
bool adapter_get(struct adapter_table *t, uint64_t key, uint32_t kind, struct adapter_entry *e);

/* Copies the entry, and removes it. */
bool adapter_take(struct adapter_table *t, uint64_t key, uint32_t kind, struct adapter_entry *e);

static inline uint64_t adapter_key(const void *object)
{
    return (uint64_t)(uintptr_t)object;
}

/* ---- Words ---- */

enum { ADAPTER_TEXT = 256 };

/* What a descriptor is: "tcp 10.0.0.1:443", "tcp listen 0.0.0.0:80", "unix /run/x.sock", "/var/log/x", "pipe",
 * "eventfd". It makes system calls. Returns text. */
char *adapter_descriptor(char text[ADAPTER_TEXT], int fd);

/* What is found out on the way. */
struct adapter_descriptor {
    bool socket, listens, connected; /* listens, connected: of a socket */
    bool stream;                     /* … one that has connections */
    bool terminal;                   /* or another character device */
};
char *adapter_describe(char text[ADAPTER_TEXT], int fd, struct adapter_descriptor *d);

/* What a socket's address is: "10.0.0.1:443", "[::1]:53", "/run/x.sock", "@abstract". Returns text. */
struct sockaddr;
char *adapter_address(char text[ADAPTER_TEXT], const struct sockaddr *address, size_t size);

/* "50 ms", "1.5 s", "250 us". Returns text. */
char *adapter_duration(char text[ADAPTER_TEXT], uint64_t ns);
