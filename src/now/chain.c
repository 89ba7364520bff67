/* SPDX-License-Identifier: ISC */
/* What other processes wait for that have one thread: children, locks of files, the other end of a pipe or socket, a semaphore
 * of System V, a mutex that processes share. So a circle of processes is found that leads back to the one that is looked at. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "now/threads.h"

enum { OTHERS_MAX = 256, ROUNDS = 4, OPERATIONS = 16 };

void now_chain_want(struct now_threads *t, uint32_t process, uint32_t thing,
                    const struct sample_standing_at *at)
{
    const struct now_chain other = {process, thing, *at};
    if (t->others < OTHERS_MAX &&
        weft_reserve(&t->other, t->others, &t->others_room, sizeof *t->other))
        t->other[t->others++] = other;
}

uint32_t now_party(struct now_threads *t, uint32_t process)
{
    if (process != (uint32_t)t->p->pid)
        return now_other(t, (pid_t)process);
    return t->threads == 1 ? t->thread[0].thing : NOW_NONE;
}

static bool read_other(uint32_t process, uint64_t at, void *to, size_t bytes)
{
    char path[64];
    struct symbols_worker memory = {0};
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/mem", process);
    const int mem = open(path, O_RDONLY | O_CLOEXEC);
    bool read = mem >= 0 && sample_distant_open(&memory, mem, -1) == 0 &&
                sample_distant_read(&memory, at, to, bytes) == bytes;
    symbols_worker_stop(&memory);
    if (mem >= 0)
        close(mem);
    return read;
}

/* ---- Semaphores of System V ---- */

/* Their numbers are those of a namespace. */
static bool shares_numbers(uint32_t process)
{
    char path[64], own[64] = "", other[64] = "";
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/ns/ipc", process);
    return readlink(path, other, sizeof other - 1) > 0 &&
           readlink("/proc/self/ns/ipc", own, sizeof own - 1) > 0 && strcmp(own, other) == 0;
}

/* The first operation that cannot be done holds up the others. */
static const struct sembuf *held_up(int set, const struct sembuf *operation, unsigned count,
                                    int *value)
{
    for (unsigned i = 0; i < count; i++) {
        *value = semctl(set, operation[i].sem_num, GETVAL);
        if (*value >= 0 && (operation[i].sem_op ? *value + operation[i].sem_op < 0 : *value != 0))
            return &operation[i];
    }
    return NULL;
}

static void tell_semaphore(struct now_threads *t, uint32_t from, uint32_t process,
                           const struct sample_standing_at *at)
{
    int value = 0;
    struct sembuf operation[OPERATIONS];
    const int set = (int)at->arg[0];
    const unsigned count = at->arg[2] < OPERATIONS ? (unsigned)at->arg[2] : OPERATIONS;
    const size_t bytes = count * sizeof *operation;
    const bool read = process == (uint32_t)t->p->pid
                          ? now_read(t->p, at->arg[1], operation, bytes)
                          : read_other(process, at->arg[1], operation, bytes);
    const struct sembuf *o =
        read && shares_numbers(process) ? held_up(set, operation, count, &value) : NULL;
    const uint64_t number = o ? o->sem_num : UINT16_MAX;
    const uint32_t thing =
        now_thing(t->n, NOW_LOCK, UINT64_C(1) << 63 | (uint64_t)(uint32_t)set << 16 | number);
    now_link(t->n, from, thing, false, "waits for");
    if (!o) {
        now_name(t->n, thing, "semaphores of set %d (ipcs -s)", set);
        return;
    }
    now_name(t->n, thing, "semaphore %" PRIu64 " of set %d (ipcs -s)", number, set);
    now_state(t->n, thing, "its value is %d", value);
    const int last = semctl(set, (int)number, GETPID);
    if (last > 0) /* which need not be who has taken it */
        now_link(t->n, thing, now_party(t, (uint32_t)last), true, "was last changed by");
}

void now_semaphores_tell(struct now_threads *t, const struct now_thread *thread)
{
    tell_semaphore(t, thread->thing, (uint32_t)t->p->pid, &thread->at);
}

/* ---- Others ---- */

/* glibc's mutex: __lock, __count, __owner; of one that is robust, or inherits priority, the owner is in the first word. */
static void follow_mutex(struct now_threads *t, const struct now_chain *o)
{
    uint32_t word[3];
    if (o->at.arg[1] & FUTEX_PRIVATE_FLAG || o->at.arg[3] ||
        !read_other(o->process, o->at.arg[0], word, sizeof word))
        return;
    const uint32_t waiters = (uint32_t)FUTEX_WAITERS;
    const uint32_t owner = word[0] == 2 && o->at.arg[2] == 2 ? word[2]
                           : word[0] & waiters               ? word[0] & FUTEX_TID_MASK
                                                             : 0;
    const long process = owner ? now_process_of_thread(t, owner) : 0;
    if (process > 0)
        now_link(t->n, o->thing, now_party(t, (uint32_t)process), false, "waits for");
}

static void follow_child(struct now_threads *t, const struct now_chain *o, bool by_id)
{
    const int64_t child = (int32_t)o->at.arg[by_id];
    if (!by_id || o->at.arg[0] == P_PID)
        now_children_tell(t, o->thing, o->process, child > 0 ? (uint64_t)child : 0);
}

static void follow_end(struct now_threads *t, const struct now_chain *o, bool writes)
{
    char path[64], link[64];
    struct now_socket socket;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/fd/%" PRIu32, o->process,
             (uint32_t)o->at.arg[0]);
    const ssize_t n = readlink(path, link, sizeof link - 1);
    link[n > 0 ? n : 0] = 0;
    if (strncmp(link, "pipe:", 5) == 0) {
        now_end_want(t, o->thing, o->process, link, writes ? 0400 : 0200);
    } else if (strncmp(link, "socket:[", 8) == 0 &&
               now_socket_find(t, strtoull(link + 8, NULL, 10), &socket) && socket.peer) {
        snprintf(link, sizeof link, "socket:[%" PRIu64 "]", socket.peer);
        now_end_want(t, o->thing, o->process, link, 0600);
    }
}

static void follow(struct now_threads *t, const struct now_chain *o)
{
    const struct now_call *call = now_call_by_number(o->at.call);
    const char *how = call->how ? call->how : "";
    const bool writes = strcmp(how, "writes to") == 0 || strcmp(how, "sends to") == 0;
    switch (call->kind) {
    case NOW_CALL_FUTEX:
        follow_mutex(t, o);
        break;
    case NOW_CALL_CHILD:
        follow_child(t, o, strcmp(call->name, "waitid") == 0);
        break;
    case NOW_CALL_SEMAPHORES:
        if (!o->at.arg[3])
            tell_semaphore(t, o->thing, o->process, &o->at);
        break;
    case NOW_CALL_LOCKED:
        if (strcmp(call->name, "flock") == 0 || o->at.arg[1] == F_SETLKW)
            now_file_lock_tell(t, o->thing, o->process, 0, strcmp(call->name, "flock") == 0);
        break;
    case NOW_CALL_DESCRIPTOR:
        if (writes || strcmp(how, "reads") == 0 || strcmp(how, "receives from") == 0)
            follow_end(t, o, writes);
        break;
    default:
        break;
    }
}

void now_chain_tell(struct now_threads *t)
{
    uint32_t followed = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (; followed < t->others; followed++) {
            const struct now_chain other = t->other[followed];
            follow(t, &other);
        }
        now_ends_tell(t);
        if (followed == t->others)
            break;
    }
}
