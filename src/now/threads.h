/* SPDX-License-Identifier: ISC */
/* What every program shows from outside; shared by the files of this look. */
#pragma once

#include "now/calls.h"
#include "now/names.h"
#include "now/objects.h"
#include "sample/standing.h"

enum {
    NOW_STACK_SEARCHED = 12, /* functions among which the one that waits is */
    NOW_STACK_WORDS = 64,    /* of the innermost part of a stack, kept to be searched */
    NOW_CALLED = 2,
    NOW_PAGE = 4096,       /* bytes of memory that are kept together … */
    NOW_PAGES = 8,         /* … and how often */
    NOW_WATCHED_MAX = 256, /* descriptors that are named for one thread */
};

struct now_thread {
    uint32_t number; /* first: they are sorted by it */
    uint32_t inner;  /* … as the process itself sees it: in a container another one */
    uint32_t thing;
    const struct weft_core_thread *left; /* in a core; NULL: it is alive */
    char state;                          /* R S D T t Z X, of /proc/PID/status; 0: it has ended */
    uint64_t switches; /* how often it had left a core when it was looked at first */
    bool known;        /* `at` is what it has done all the time */
    struct sample_standing_at at;
    const struct now_call *call; /* NULL: none that is known */
    uint32_t pc, pcs;            /* its callers: in now_threads.pc … */
    bool whole;                  /* … up to where it began */
    /* Functions that were called by another object than the one that they are in, the C library first: they may have left the
     * stack to another one, by a jump. */
    struct now_called {
        uint64_t address; /* or that of the stub through which it is called; 0: not known */
        uint32_t by;      /* which caller */
    } called[NOW_CALLED];
    uint32_t inside;      /* so many of them are within the C library's function that waits, */
    const char *waits_in; /* … whose name this is, of the next one; NULL: not known */
    uint64_t top[NOW_STACK_WORDS]; /* the words from at.sp on */
    uint32_t words;
    uint32_t walk; /* the search for circles that has come here, from 1; 0: none */
};

struct now_threads {
    struct now *n;
    struct now_process *p;
    struct now_thread *thread;
    uint32_t threads, room;
    struct now_inner {
        uint32_t inner, thread; /* sorted by inner */
    } * by_inner;
    uint64_t *pc; /* innermost: an instruction; others: one byte before where they go on */
    uint32_t pcs, pcs_room;
    struct now_objects objects;
    bool has_libc;    /* a C library is among them … */
    bool musl_within; /* … or it is within the program, and is musl */
    struct now_names code, variables;
    char called[64]; /* of now_called_name */
    struct now_page {
        uint64_t start;
        bool known;
        uint8_t byte[NOW_PAGE];
    } page[NOW_PAGES];
    struct now_chain {
        uint32_t process, thing;
        struct sample_standing_at at;
    } * other; /* processes of one thread that wait */
    uint32_t others, others_room;
    struct now_sockets *sockets; /* NULL: not read yet */
    struct now_ends *ends;
};

/* ---- threads.c ---- */

/* Looks at its state again. Returns true if it waits. */
bool now_thread_again(const struct now_threads *t, struct now_thread *thread);

/* The thread that the process itself knows by this number; NULL: none. */
struct now_thread *now_thread_inner(const struct now_threads *t, uint64_t inner);

/* The name of the i-th function on its stack, inlined ones counted, and which of its callers that is; NULL: not known, or no
 * more. What __GI_ and other underscores begin is shortened in *plain. */
const char *now_thread_function(const struct now_threads *t, const struct now_thread *thread,
                                uint32_t i, const char **plain, uint32_t *caller);

/* The name of a function that another object called, valid until the next call; NULL: not known. */
const char *now_called_name(struct now_threads *t, const struct now_called *called);

/* Code of the C library. */
bool now_in_libc(const struct now_threads *t, uint64_t pc);

/* What is said of how long a call lasts at most: ", at most 5 s", or "". */
struct now_limit {
    char text[64];
};
struct now_limit now_limit_ns(int64_t ns); /* negative: no limit */

/* A struct timespec of the process; microseconds: a struct timeval. -1: it cannot be read, or there is none. */
int64_t now_time_at(struct now_threads *t, const struct now_call *call, uint64_t address,
                    bool microseconds);

/* ---- stacks.c ---- */

/* Finds out where each thread waits, and who called. Returns 0 or WEFT_E_NOMEM. */
int now_stacks_read(struct now_threads *t);

/* ---- futex.c ---- */

/* Once the names of code are known: asks for the names of the variables that threads wait for; and once these are
 * known, says what they are. */
void now_futexes_want(struct now_threads *t);
void now_futexes_tell(struct now_threads *t);

/* ---- descriptors.c ---- */

/* What a thread waits for that is not a futex. */
void now_waits_tell(struct now_threads *t, const struct now_thread *thread);

/* The thing for a descriptor. */
uint32_t now_descriptor(struct now_threads *t, uint32_t number);

/* ---- sockets.c ---- */

struct now_socket {
    char text[240]; /* "TCP socket 127.0.0.1:80, connected to …" */
    uint64_t peer;  /* the inode of its other end; 0: not known */
    bool listens;
};

/* Returns false if nothing is known about it. */
bool now_socket_find(struct now_threads *t, uint64_t inode, struct now_socket *s);
void now_sockets_free(struct now_sockets *s);

/* ---- others.c: other processes ---- */

/* The thing for another process, with its name. */
uint32_t now_other(struct now_threads *t, pid_t pid);

/* When a thread of a process began, by CLOCK_BOOTTIME; 0: not known. */
uint64_t now_began_ns(uint32_t process, uint32_t thread);

/* Adds links to the children of a process; number: only to that one, as the process numbers it; 0: to all, of which any one ends
 * the wait. */
void now_children_tell(struct now_threads *t, uint32_t from, uint32_t parent, uint64_t number);

/* … to the child that still uses its memory, after vfork. */
void now_new_child_tell(struct now_threads *t, uint32_t from);

/* Wants to know who else than the process has the file `link` ("pipe:[123]"), which is the other end of a descriptor, or of what
 * another process waits for; may: the rights it is open with, 0200 to write, 0400 to read, or both bits for any. */
void now_end_want(struct now_threads *t, uint32_t thing, uint32_t process, const char *link,
                  unsigned may);

/* Looks through all processes for those that are wanted since it was called last. */
void now_ends_tell(struct now_threads *t);
void now_ends_free(struct now_ends *e);

/* Who keeps a process from locking a file: adds a link from the descriptor, or from the other process, to the holder. inode: 0:
 * any. */
void now_file_lock_tell(struct now_threads *t, uint32_t from, uint32_t process, uint64_t inode,
                        bool flock);

/* The process that a thread belongs to, by the number that the process that is looked at knows it by; 0: there is no such
 * thread; -1: not known, because it is in another namespace, or hidden. */
long now_process_of_thread(const struct now_threads *t, uint64_t thread);

/* ---- chain.c: what other processes wait for ---- */

/* It waits, and has one thread. */
void now_chain_want(struct now_threads *t, uint32_t process, uint32_t thing,
                    const struct sample_standing_at *at);

/* Follows these, and those that they lead to, and tells the ends that are wanted. Call it once, at the end. */
void now_chain_tell(struct now_threads *t);

/* The thing for a process that others wait for; NOW_NONE: it is the one that is looked at, and has several threads. */
uint32_t now_party(struct now_threads *t, uint32_t process);

/* What a thread waits for in semop. */
void now_semaphores_tell(struct now_threads *t, const struct now_thread *thread);

/* ---- running.c: threads that run ---- */

struct now_registers {
    uint64_t mask;    /* perf's registers, as weft_unwind_input has them */
    uint64_t reg[64]; /* in order of the bits */
    uint64_t sp, pc;
};

/* The kernel's registers as perf's; mask 0: not on this machine. */
struct user_regs_struct;
void now_registers_of(struct now_registers *r, const struct user_regs_struct *from);

/* Goes back to where the function was called whose first instruction was to be executed. The stack begins at r->sp. Returns
 * false if that is not known. */
bool now_registers_return(struct now_registers *r, const uint64_t *stack, size_t bytes);

/* Stops a thread for a moment to see its registers, and its stack from sp on; it goes on in any case, also if this
 * process is killed. Adds the time to n->stopped_ns. Returns false if it does not stop, or that is not permitted. */
struct now_runner;
struct now_runner *now_runner_new(struct now_threads *t); /* NULL: it cannot be started */
bool now_runner_look(struct now_runner *r, uint32_t thread, struct now_registers *regs, void *stack,
                     size_t room, size_t *bytes);
void now_runner_free(struct now_runner *r);
