/* SPDX-License-Identifier: ISC */
/* What a thread waits for in futex. The kernel knows only the address of a word; what lies around it is said by the
 * function that waits, and by the word's own value.
 *
 * The layouts are those of glibc: sysdeps/nptl/bits/thread-shared-types.h, and struct_mutex.h and struct_rwlock.h beside it
 * or in sysdeps/x86/nptl/bits; nptl/nptl/semaphore's struct new_sem (sysdeps/nptl/internaltypes.h) and struct
 * pthread_barrier there. They are part of its ABI, but for the inner part of pthread_cond_t. musl's mutex:
 * src/internal/pthread_impl.h.
 *
 * (The file is long because a circle of threads is only one if what each futex says is read again.) */
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "now/threads.h"
#include "sample/proc.h"

enum { PID_MOST = 1 << 22 }; /* the kernel's limit of a thread's number */

enum kind {
    UNKNOWN,
    MUTEX,
    ROBUST,  /* … in whose word the kernel keeps the owner's number: PI mutexes, too */
    REFUSED, /* … with priority inheritance, that the kernel refuses; which one is not known */
    MUSL_MUTEX,
    STREAM, /* stdio's lock of a FILE */
    CONDITION,
    SEMAPHORE,
    RWLOCK,
    BARRIER,
    JOIN,
    ONCE,
    G_MUTEX,
    G_CONDITION,
    CONDITION_OF_RUST,
    FUTURE,
    ATOMIC,
    OTHER_MUTEX, /* a word that nobody's number is in */
    OTHER_RWLOCK,
    LOW, /* a lock of the C library itself */
};

struct futex {
    enum kind kind;
    uint64_t word;  /* the address that the kernel knows */
    uint64_t at;    /* where the object begins */
    uint64_t mutex; /* CONDITION: the mutex that goes with it; 0: not known */
    bool shared;    /* processes may share it */
    uint64_t
        owner; /* the thread that has it, as the process numbers it; 0: nobody, or not known … */
    uint64_t owner_at;    /* … and where its number is read; 0: nowhere */
    const char *function; /* that waits; NULL: not known */
    uint32_t caller;      /* … and which of the thread's callers it is */
};

/* ---- By the function ---- */

static const struct {
    const char *name; /* how it begins, without underscores */
    enum kind kind;
    const char *shown; /* NULL: as it is */
} functions[] = {
    {"pthread_mutex_cond_lock", MUTEX, "pthread_cond_wait"},
    {"pthread_mutex_lock", MUTEX, "pthread_mutex_lock"},
    {"pthread_mutex_timedlock", MUTEX, "pthread_mutex_timedlock"},
    {"pthread_mutex_clocklock", MUTEX, "pthread_mutex_clocklock"},
    {"pthread_cond_wait", CONDITION, "pthread_cond_wait"},
    {"pthread_cond_timedwait", CONDITION, "pthread_cond_timedwait"},
    {"pthread_cond_clockwait", CONDITION, "pthread_cond_clockwait"},
    {"pthread_rwlock_rdlock", RWLOCK, "pthread_rwlock_rdlock"},
    {"pthread_rwlock_wrlock", RWLOCK, "pthread_rwlock_wrlock"},
    {"pthread_rwlock_", RWLOCK, NULL},
    {"pthread_barrier_wait", BARRIER, "pthread_barrier_wait"},
    {"pthread_clockjoin", JOIN, "pthread_join"},
    {"pthread_timedjoin", JOIN, "pthread_timedjoin_np"},
    {"pthread_join", JOIN, "pthread_join"},
    {"pthread_once", ONCE, "pthread_once"},
    {"call_once", ONCE, "call_once"},
    {"sem_wait", SEMAPHORE, "sem_wait"},
    {"sem_timedwait", SEMAPHORE, "sem_timedwait"},
    {"sem_clockwait", SEMAPHORE, "sem_clockwait"},
    {"new_sem_wait", SEMAPHORE, "sem_wait"},
    {"mtx_", MUTEX, NULL},
    {"cnd_", CONDITION, NULL},
    {"thrd_join", JOIN, "thrd_join"},
    {"g_mutex_lock", G_MUTEX, "g_mutex_lock"},
    {"g_cond_wait_until", G_CONDITION, "g_cond_wait_until"},
    {"g_cond_wait", G_CONDITION, "g_cond_wait"},
    {"std::__atomic_futex_unsigned_base::", FUTURE, "std::future"},
    {"std::__atomic_wait", ATOMIC, "std::atomic wait"},
    {"std::__detail::__platform_wait", ATOMIC, "std::atomic wait"},
    {"std::sys::sync::mutex::futex::Mutex::lock", OTHER_MUTEX, "Mutex::lock"}, /* Rust */
    {"lock_contended", OTHER_MUTEX, "Mutex::lock"},
    {"read_contended", OTHER_RWLOCK, "RwLock::read"},
    {"write_contended", OTHER_RWLOCK, "RwLock::write"},
    {"wait_optional_timeout", CONDITION_OF_RUST, "Condvar::wait"},
    {"std::sys::sync::condvar::futex::Condvar::wait", CONDITION_OF_RUST, "Condvar::wait"},
    {"lll_lock_wait", LOW, NULL},
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* How each thread of musl waits. */
static bool is_of_musl(const char *plain)
{
    return strncmp(plain, "syscall_cp", 10) == 0 || strncmp(plain, "timedwait", 9) == 0;
}

/* How a futex is waited for, which says nothing. */
static bool is_mechanism(const char *plain)
{
    return strstr(plain, "futex") || strncmp(plain, "lll_lock", 8) == 0 ||
           strncmp(plain, "lll_mutex", 9) == 0 || strcmp(plain, "syscall") == 0 ||
           strstr(plain, "syscall_cancel") || is_of_musl(plain);
}

static unsigned find_known(const char *plain)
{
    unsigned k = 0;
    while (k < FUNCTIONS && strncmp(plain, functions[k].name, strlen(functions[k].name)) != 0)
        k++;
    return k;
}

/* What is known of a function on the stack, or of one that has left it. */
static void judge(struct futex *f, const char *plain, const char *kept, uint32_t caller)
{
    const unsigned k = find_known(plain);
    if (k == FUNCTIONS || (f->kind != UNKNOWN && f->kind != LOW))
        return;
    f->kind = functions[k].kind;
    f->function = functions[k].shown ? functions[k].shown : kept;
    f->caller = caller;
}

/* The C library's names may be those of other functions elsewhere. A program that is linked statically has it within. */
static bool may_be_known(const struct now_threads *t, uint64_t pc, const char *plain)
{
    return strncmp(plain, "std::", 5) == 0 || strncmp(plain, "g_", 2) == 0 ||
           strncmp(plain, "lock_", 5) == 0 || strstr(plain, "_contended") ||
           strcmp(plain, "wait_optional_timeout") == 0 || now_in_libc(t, pc) ||
           (!t->has_libc && strcmp(plain, "call_once") != 0);
}

/* The innermost function that is known decides; but lll_lock_wait is used by many. */
static void judge_by_function(struct now_threads *t, const struct now_thread *thread,
                              struct futex *f)
{
    const char *plain, *first = NULL;
    uint32_t caller, first_caller = 0;
    for (uint32_t i = 0; i < NOW_STACK_SEARCHED; i++) {
        const char *name = now_thread_function(t, thread, i, &plain, &caller);
        for (unsigned k = 0; k < NOW_CALLED; k++) {
            const struct now_called *c = &thread->called[k];
            const char *called = c->by && c->by <= caller ? now_called_name(t, c) : NULL;
            if (called)
                judge(f, called, NULL, c->by - 1);
        }
        if (!name)
            continue;
        t->musl_within |= !t->has_libc && strncmp(plain, "syscall_cp", 10) == 0;
        const uint64_t pc = t->pc[thread->pc + caller];
        if (may_be_known(t, pc, plain))
            judge(f, plain, plain, caller);
        if (first || is_mechanism(plain))
            continue;
        first = now_in_libc(t, pc) ? plain : name;
        first_caller = caller;
    }
    if (f->kind == UNKNOWN || f->kind == LOW) {
        f->function = first;
        f->caller = first_caller;
    }
}

/* ---- By what the memory says ---- */

/* Where pthread_mutex_t has __kind, and bits there: SHARED by processes. */
enum { ROBUST_BIT = 16, INHERIT = 32, SHARED = 128 };
static const uint64_t kind_at = sizeof(long) == 8 ? 16 : 12;

/* Each reading is a question to another process, and many threads may wait for one lock. Pages are kept from
 * now_futexes_want on: all that is in them was seen after all threads had been. */
static bool read_kept(struct now_threads *t, uint64_t at, void *to, size_t bytes)
{
    const uint64_t start = at & ~(uint64_t)(NOW_PAGE - 1), offset = at - start;
    struct now_page *page = &t->page[start / NOW_PAGE % NOW_PAGES];
    if (offset + bytes > NOW_PAGE)
        return now_read(t->p, at, to, bytes);
    if (!page->known || page->start != start) {
        page->start = start;
        page->known = now_read(t->p, start, page->byte, sizeof page->byte);
    }
    memset(to, 0, bytes);
    if (page->known)
        memcpy(to, page->byte + offset, bytes);
    return page->known;
}

static uint32_t word_at(struct now_threads *t, uint64_t address)
{
    uint32_t word;
    return read_kept(t, address, &word, sizeof word) ? word : 0;
}

static uint32_t owner_of(struct now_threads *t, uint64_t mutex)
{
    return word_at(t, mutex + 8); /* __lock, __count, __owner */
}

static bool is_musl(const struct now_threads *t)
{
    for (uint32_t i = 0; i < t->objects.objects; i++) {
        const char *file = now_mapping_file(&t->p->mapping[t->objects.object[i].mapping]);
        if (strncmp(file, "ld-musl-", 8) == 0 || strcmp(file, "libc.so") == 0)
            return true;
    }
    return t->musl_within;
}

/* A FILE's lock has a pointer to its owner's struct pthread, which has the owner's number within its first KiB. */
static uint32_t stream_owner(struct now_threads *t, uint64_t lock)
{
    uint64_t owner = 0;
    uint32_t words[256];
    if (!read_kept(t, lock + 8, &owner, sizeof(void *)) || owner % 8 ||
        !now_mapping_at(t->p, owner) || !read_kept(t, owner, words, sizeof words))
        return 0;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i] && now_thread_inner(t, words[i]))
            return words[i];
    return 0;
}

/* Where a condition variable begins depends on glibc's version: its __g_signals, whose words are waited for, come after 40
 * bytes, or 32 since g_refs are gone. But while a thread waits, a struct _condvar_cleanup_buffer lies on its stack:
 * __wseq, the condition variable, the mutex. */
static void find_condition(struct now_threads *t, const struct now_thread *thread, struct futex *f)
{
    const uint64_t signals = f->word & ~UINT64_C(7);
    f->at = signals - 40;
    for (uint32_t i = 0; i + 1 < thread->words; i++) {
        const uint64_t at = thread->top[i], mutex = thread->top[i + 1];
        const struct now_mapping *m = now_mapping_at(t->p, mutex);
        if ((at != signals - 40 && at != signals - 32) || mutex % 4 || !m || !m->writable)
            continue;
        f->at = at;
        f->mutex = mutex;
        return;
    }
}

/* Returns true if that may be a mutex with priority inheritance: the owner's number is in its word, and its kind says so. */
static bool may_inherit(struct now_threads *t, uint64_t at)
{
    const struct now_mapping *m = at % 4 ? NULL : now_mapping_at(t->p, at);
    const uint32_t word = m && m->writable ? word_at(t, at) & FUTEX_TID_MASK : 0;
    const uint32_t mutex_kind = word ? word_at(t, at + kind_at) : 0;
    return word && word == owner_of(t, at) && mutex_kind & INHERIT &&
           (mutex_kind & ~(uint32_t)(INHERIT | SHARED | ROBUST_BIT)) < 4;
}

/* A mutex that the kernel refuses to lock, because that would be a deadlock, or the owner has ended, is waited for in a word
 * of nobody's. The mutex is then found on the stack; if several are there, it is not known which. */
static void find_refused(struct now_threads *t, const struct now_thread *thread, struct futex *f)
{
    const struct now_mapping *stack = now_mapping_at(t->p, thread->at.sp);
    if (f->kind != MUTEX || !stack || now_mapping_at(t->p, f->word) != stack ||
        thread->at.arg[2] != 0 || word_at(t, f->word) != 0)
        return;
    uint64_t found = 0;
    bool several = false;
    for (uint32_t i = 0; i < thread->words; i++) {
        const uint64_t at = thread->top[i];
        if (at == found || !may_inherit(t, at))
            continue;
        several |= found != 0;
        found = at;
    }
    f->kind = found && !several ? ROBUST : REFUSED;
    if (f->kind == ROBUST)
        f->word = f->at = found;
}

/* By a program, or a library as Rust's, that calls syscall(). */
static bool is_by_syscall(const struct now_threads *t, const struct now_thread *thread)
{
    const char *plain;
    uint32_t caller;
    return thread->pcs && now_thread_function(t, thread, 0, &plain, &caller) &&
           strcmp(plain, "syscall") == 0;
}

/* The C library itself waits. */
static bool is_low(const struct now_threads *t, const struct now_thread *thread)
{
    return thread->pcs && now_in_libc(t, thread->at.pc) && !is_by_syscall(t, thread);
}

static void find_by_memory(struct now_threads *t, const struct now_thread *thread, struct futex *f)
{
    const uint32_t value = word_at(t, f->word), owner = owner_of(t, f->word);
    const int op = (int)thread->at.arg[1] & FUTEX_CMD_MASK;
    const uint32_t expected = (uint32_t)thread->at.arg[2];
    const bool is_private = thread->at.arg[1] & FUTEX_PRIVATE_FLAG;
    const bool locked = op == FUTEX_WAIT && expected == 2 && value == 2;
    const uint32_t tid = value & FUTEX_TID_MASK;
    if (op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2)
        f->kind = ROBUST;
    else if (is_musl(t))
        f->kind = f->kind == MUTEX ? MUSL_MUTEX : f->kind;
    else if (!is_private && tid && expected == value && now_thread_inner(t, value))
        f->kind = JOIN;
    else if ((f->kind == UNKNOWN || f->kind == MUTEX) && (expected & FUTEX_WAITERS) &&
             (value & FUTEX_WAITERS) && (tid == owner || !tid || now_thread_inner(t, tid)))
        f->kind = ROBUST;
    else if (locked && f->kind == CONDITION)
        f->kind = MUTEX; /* it has been woken, and gets its mutex back */
    else if (locked && f->kind == UNKNOWN && owner && now_thread_inner(t, owner))
        f->kind = MUTEX;
    else if (f->kind == UNKNOWN && op == FUTEX_WAIT_BITSET && !is_by_syscall(t, thread)) {
        find_condition(t, thread, f);
        f->kind = f->mutex ? CONDITION : UNKNOWN;
        f->at = f->mutex ? f->at : f->word;
    } else if (locked && (f->kind == LOW || (f->kind == UNKNOWN && is_low(t, thread))))
        f->kind = stream_owner(t, f->word) ? STREAM : LOW;
}

static struct futex find_futex(struct now_threads *t, const struct now_thread *thread)
{
    struct futex f = {.word = thread->at.arg[0], .at = thread->at.arg[0]};
    judge_by_function(t, thread, &f);
    find_by_memory(t, thread, &f);
    find_refused(t, thread, &f);
    f.shared = !(thread->at.arg[1] & FUTEX_PRIVATE_FLAG);
    switch (f.kind) {
    case MUTEX:
        f.owner_at = f.at + 8; /* __lock, __count, __owner */
        break;
    case ROBUST:
        f.owner_at = f.word;
        break;
    case MUSL_MUTEX: /* _m_type, _m_lock; only some types have an owner */
        f.at = f.word - 4;
        f.owner_at = word_at(t, f.at) & 15 ? f.word : 0;
        break;
    case STREAM:
        f.owner = stream_owner(t, f.at);
        break;
    case CONDITION:
        if (!is_musl(t))
            find_condition(t, thread, &f);
        break;
    case RWLOCK: /* __readers, __writers, __wrphase_futex, __writers_futex, 8 bytes, __cur_writer */
        if (!is_musl(t)) {
            f.at = f.word - (f.word % 8 ? 12 : 8);
            f.owner_at = f.at + (sizeof(long) == 8 ? 24 : 28);
        }
        break;
    case BARRIER: /* in, current_round */
        f.at = f.word - 4;
        break;
    case JOIN: /* musl: tid, errno_val, detach_state */
        f.owner_at = f.word - (is_musl(t) ? 8 : 0);
        break;
    case G_CONDITION: /* p, i[2] */
        f.at = f.word - sizeof(void *);
        break;
    default:
        break;
    }
    if (f.owner_at)
        f.owner = word_at(t, f.owner_at) & FUTEX_TID_MASK;
    return f;
}

static bool waits_in_futex(const struct now_thread *thread)
{
    return thread->known && thread->call && thread->call->kind == NOW_CALL_FUTEX;
}

void now_futexes_want(struct now_threads *t)
{
    for (uint32_t i = 0; i < t->threads; i++) {
        if (!waits_in_futex(&t->thread[i]))
            continue;
        const struct futex f = find_futex(t, &t->thread[i]);
        t->thread[i].inside = f.caller;
        t->thread[i].waits_in = f.function;
        now_names_want(&t->variables, f.at);
        if (f.mutex)
            now_names_want(&t->variables, f.mutex);
    }
}

/* ---- In words ---- */

static const char *const nouns[] = {
    [UNKNOWN] = "futex",
    [MUTEX] = "mutex",
    [ROBUST] = "mutex",
    [REFUSED] = "a mutex with priority inheritance",
    [MUSL_MUTEX] = "mutex",
    [STREAM] = "lock of a FILE",
    [CONDITION] = "condition variable",
    [SEMAPHORE] = "semaphore",
    [RWLOCK] = "read-write lock",
    [BARRIER] = "barrier",
    [JOIN] = "thread",
    [ONCE] = "once control",
    [G_MUTEX] = "GMutex",
    [G_CONDITION] = "GCond",
    [FUTURE] = "std::future",
    [ATOMIC] = "std::atomic",
    [OTHER_MUTEX] = "mutex",
    [OTHER_RWLOCK] = "read-write lock",
    [CONDITION_OF_RUST] = "condition variable",
    [LOW] = "lock of the C library",
};

struct place_text {
    char text[NOW_TEXT_MAX];
};

/* The thread whose stack an address is on; NULL: none. Above its stack pointer, and nearest to it. The stacks of threads
 * begin with pages that may not be accessed. */
static const struct now_thread *on_stack(const struct now_threads *t, uint64_t address,
                                         const struct now_mapping *m)
{
    const struct now_thread *best = NULL;
    const struct now_mapping *below = now_mapping_at(t->p, m->start - 1);
    if (strcmp(m->path, "[stack]") != 0 && (!below || below->writable || *below->path || *m->path))
        return NULL;
    for (uint32_t i = 0; i < t->threads; i++) {
        const uint64_t sp = t->thread[i].at.sp;
        if (sp >= m->start && sp <= address && (!best || sp > best->at.sp))
            best = &t->thread[i];
    }
    return best;
}

/* "log_lock", or "at 0x… (heap)". */
static struct place_text where(const struct now_threads *t, uint64_t address)
{
    struct place_text to;
    uint32_t line;
    const struct now_place *place = now_names_at(&t->variables, address);
    const struct now_mapping *m = now_mapping_at(t->p, address);
    const struct now_object *o = now_object_at(&t->objects, address);
    const struct now_thread *thread = m && !o ? on_stack(t, address, m) : NULL;
    if (place && place->frames)
        snprintf(to.text, sizeof to.text, "%s",
                 now_names_function(&t->variables, place, 0, &line)->name);
    else if (thread)
        snprintf(to.text, sizeof to.text, "at 0x%" PRIx64 " (on the stack of %s)", address,
                 t->n->thing[thread->thing].name);
    else if (o)
        snprintf(to.text, sizeof to.text, "at 0x%" PRIx64 " (in %s)", address,
                 now_mapping_file(&t->p->mapping[o->mapping]));
    else if (m && strcmp(m->path, "[heap]") == 0)
        snprintf(to.text, sizeof to.text, "at 0x%" PRIx64 " (heap)", address);
    else if (m && strncmp(m->path, "/dev/zero", 9) == 0)
        snprintf(to.text, sizeof to.text, "at 0x%" PRIx64 " (shared memory)", address);
    else if (m && m->path[0] == '/')
        snprintf(to.text, sizeof to.text, "at 0x%" PRIx64 " (in %s)", address, m->path);
    else
        snprintf(to.text, sizeof to.text, "at 0x%" PRIx64, address);
    return to;
}

static void name_lock(struct now_threads *t, uint32_t lock, const struct futex *f)
{
    if (f->kind == CONDITION && is_musl(t)) { /* each waits for a word on its own stack */
        now_name(t->n, lock, "a condition variable");
        return;
    }
    if (f->kind == REFUSED)
        now_name(t->n, lock, "%s", nouns[f->kind]);
    else if (f->kind == ATOMIC &&
             strstr(where(t, f->at).text, "__waiter_pool_base")) /* many share it */
        now_name(t->n, lock, "a std::atomic, or a std::barrier");
    else if (f->kind != UNKNOWN || !t->n->thing[lock].name) /* a thread whose stack is not read */
        now_name(t->n, lock, "%s %s", nouns[f->kind], where(t, f->at).text);
}

long now_process_of_thread(const struct now_threads *t, uint64_t thread)
{
    char line[64];
    long process = -1;
    if (t->p->core || !t->threads || t->thread[0].number != t->thread[0].inner)
        return -1;
    if (thread > INT32_MAX || (kill((pid_t)thread, 0) < 0 && errno == ESRCH))
        return 0;
    snprintf(line, sizeof line, "/proc/%" PRIu64 "/status", thread);
    FILE *status = fopen(line, "re");
    while (status && process < 0 && fgets(line, sizeof line, status))
        sscanf(line, "Tgid: %ld", &process);
    if (status)
        fclose(status);
    return process;
}

static long parent_of(const struct now_threads *t)
{
    char line[512];
    uint32_t parent;
    sample_line(line, sizeof line, "/proc/%d/stat", (int)t->p->pid);
    return sample_state(line, &parent) ? (long)parent : -1;
}

/* The owner of a mutex is none of the threads that were looked at. */
static void tell_distant_owner(struct now_threads *t, uint32_t lock, const struct futex *f)
{
    const long process = now_process_of_thread(t, f->owner);
    if (process == (long)t->p->pid)
        now_state(t->n, lock, "thread %" PRIu64 ", which has just begun, holds it", f->owner);
    else if (process > 0 && f->shared)
        now_link(t->n, lock, now_other(t, (pid_t)process), false, "is held by");
    else if (process > 0 && process == parent_of(t))
        now_state(t->n, lock,
                  "thread %" PRIu64
                  " of process %ld held it when this process was forked from that "
                  "one: nobody here can unlock it",
                  f->owner, process);
    else if (process < 0 && f->shared)
        now_state(t->n, lock, "thread %" PRIu64 " of another process holds it", f->owner);
    else
        now_state(t->n, lock, "thread %" PRIu64 ", which %s, did not unlock it", f->owner,
                  process < 0 && !t->p->core ? "this process does not have" : "has ended");
}

/* The owner is a thread of this process, of another one, or has ended. */
static void tell_owner(struct now_threads *t, uint32_t lock, const struct futex *f)
{
    const struct now_thread *owner = f->owner ? now_thread_inner(t, f->owner) : NULL;
    const bool known = f->kind == MUTEX || f->kind == ROBUST || f->kind == STREAM;
    if (owner)
        now_link(t->n, lock, owner->thing, false, "is held by");
    else if (f->owner > PID_MOST)
        now_state(t->n, lock,
                  "names thread %" PRIu64 " as its holder, but no thread can have that number",
                  f->owner);
    else if (f->owner)
        tell_distant_owner(t, lock, f);
    else if (known)
        now_state(t->n, lock, "nobody holds it at this moment");
}

static void tell_lock(struct now_threads *t, uint32_t lock, const struct futex *f)
{
    uint32_t words[5] = {0}, value;
    read_kept(t, f->at, words, sizeof words);
    switch (f->kind) {
    case MUTEX:
    case ROBUST:
    case STREAM:
        tell_owner(t, lock, f);
        break;
    case MUSL_MUTEX:
        if (f->owner)
            tell_owner(t, lock, f);
        else
            now_state(t->n, lock, "a mutex of this kind does not record who holds it");
        break;
    case RWLOCK:
        if (is_musl(t)) {
            now_state(t->n, lock, "who holds it is not recorded");
            break;
        }
        if (f->owner)
            tell_owner(t, lock, f);
        else if (words[0] >> 3)
            now_state(t->n, lock, "%" PRIu32 " reader%s: which threads these are is not recorded",
                      words[0] >> 3, words[0] >> 3 == 1 ? " holds it" : "s hold it");
        break;
    case REFUSED:
        now_state(
            t->n, lock,
            "the kernel refuses to lock it: that would be a deadlock, or its owner has ended");
        break;
    case SEMAPHORE:
        value = is_musl(t) ? 0 : sizeof(long) == 8 ? words[0] : words[0] >> 1;
        now_state(t->n, lock, "its value is %" PRIu32 "%s", value,
                  value       ? ""
                  : f->shared ? ": another thread or process must post it"
                              : ": another thread must post it");
        break;
    case BARRIER: /* in, current_round, count */
        if (words[2] && words[0] >= words[1] && words[0] - words[1] < words[2])
            now_state(t->n, lock, "%" PRIu32 " of %" PRIu32 " threads have come",
                      words[0] - words[1], words[2]);
        break;
    case G_MUTEX:
    case OTHER_MUTEX:
    case OTHER_RWLOCK:
        now_state(t->n, lock, "a %s of this kind does not record who holds it",
                  f->kind == OTHER_RWLOCK ? "lock" : "mutex");
        break;
    case CONDITION:
    case G_CONDITION:
    case CONDITION_OF_RUST:
        now_state(t->n, lock, "another thread must signal it");
        break;
    default:
        break;
    }
}

/* How long it waits at most: an absolute time with FUTEX_WAIT_BITSET and LOCK_PI, else a duration. */
static struct now_limit limit_of(struct now_threads *t, const struct now_thread *thread)
{
    const int op = (int)thread->at.arg[1], command = op & FUTEX_CMD_MASK;
    int64_t ns = thread->at.arg[3] && !thread->left
                     ? now_time_at(t, thread->call, thread->at.arg[3], false)
                     : -1;
    if (ns >= 0 && command != FUTEX_WAIT) {
        const bool wall = op & FUTEX_CLOCK_REALTIME || command == FUTEX_LOCK_PI;
        ns -= weft_clock_ns(wall ? CLOCK_REALTIME : CLOCK_MONOTONIC);
        ns = ns > 0 ? ns : 0;
    }
    return now_limit_ns(ns);
}

static void tell_wait(struct now_threads *t, const struct now_thread *thread)
{
    const struct futex f = find_futex(t, thread);
    const struct now_limit limit = limit_of(t, thread);
    const bool lock = f.kind == MUTEX || f.kind == ROBUST || f.kind == MUSL_MUTEX ||
                      f.kind == REFUSED || f.kind == STREAM || f.kind == RWLOCK ||
                      f.kind == G_MUTEX || f.kind == OTHER_MUTEX || f.kind == OTHER_RWLOCK ||
                      f.kind == LOW;
    const struct now_thread *joined = f.kind == JOIN ? now_thread_inner(t, f.owner) : NULL;
    const char *function = f.function ? f.function : "futex";
    if (f.mutex)
        now_state(t->n, thread->thing, "waits in %s, with mutex %s%s", function,
                  where(t, f.mutex).text, limit.text);
    else
        now_state(t->n, thread->thing, "waits in %s%s", function, limit.text);
    if (f.kind == JOIN) {
        if (joined)
            now_link(t->n, thread->thing, joined->thing, false, "joins");
        return;
    }
    const uint32_t thing =
        now_thing(t->n, f.kind == FUTURE || f.kind == ATOMIC ? NOW_PROMISE : NOW_LOCK, f.at);
    if (thing == NOW_NONE)
        return;
    const char *name = t->n->thing[thing].name, *noun = nouns[f.kind];
    const bool told = name && strncmp(name, noun, strlen(noun)) == 0;
    name_lock(t, thing, &f);
    if (!told) /* once: its owner may change from one moment to the next */
        tell_lock(t, thing, &f);
    if (*limit.text)
        now_brief(t->n, thread->thing);
    now_link(t->n, thread->thing, thing, false, lock ? "locks" : "waits for");
}

/* ---- Circles, at one moment ---- */

/* Threads that wait for each other are never woken, but signals may interrupt them, again and again. So it does not
 * matter how often they have run, if there is one moment at which each waits for what the next one has. That is so if all
 * wait before it was read who has what, and none has run until afterwards. */
enum {
    CIRCLE_MAX = 64,
    MOMENTS = 100,      /* tried for a circle: on a busy machine threads wait for a core in many */
    PAUSE_NS = 1000000, /* between two */
    PAUSES_NS = 300000000, /* for all circles together */
};

struct circle {
    struct now_thread *thread[CIRCLE_MAX];
    struct futex futex[CIRCLE_MAX];
    uint64_t switches[CIRCLE_MAX];
    uint32_t count;
};

/* Follows the threads from one on, each waiting for the next. Returns true if that ends in a circle, which *c then is. */
static bool find_circle(struct now_threads *t, uint32_t first, struct circle *c)
{
    uint32_t count = 0, begin = 0;
    struct now_thread *thread = &t->thread[first];
    while (thread && !thread->walk && count < CIRCLE_MAX && waits_in_futex(thread) &&
           !thread->at.arg[3]) {
        thread->walk = first + 1;
        c->thread[count] = thread;
        c->futex[count] = find_futex(t, thread);
        thread = now_thread_inner(t, c->futex[count++].owner);
    }
    while (begin < count && c->thread[begin] != thread)
        begin++;
    c->count = count - begin;
    memmove(c->thread, c->thread + begin, c->count * sizeof *c->thread);
    memmove(c->futex, c->futex + begin, c->count * sizeof *c->futex);
    return c->count > 0;
}

static bool is_so_now(struct now_threads *t, struct circle *c)
{
    const uint32_t process = (uint32_t)t->p->pid;
    struct sample_standing_at at;
    uint64_t after;
    uint32_t owner;
    for (uint32_t i = 0; i < c->count; i++)
        if (!sample_standing_switches(process, c->thread[i]->number, &c->switches[i]))
            return false;
    for (uint32_t i = 0; i < c->count; i++)
        if (!sample_standing_at(process, c->thread[i]->number, &at) ||
            sample_standing_place(&at) != sample_standing_place(&c->thread[i]->at) ||
            !c->futex[i].owner_at || !now_read(t->p, c->futex[i].owner_at, &owner, sizeof owner) ||
            (owner & FUTEX_TID_MASK) != c->futex[i].owner)
            return false;
    for (uint32_t i = 0; i < c->count; i++)
        if (!sample_standing_switches(process, c->thread[i]->number, &after) ||
            after != c->switches[i])
            return false;
    return true;
}

static void find_circles(struct now_threads *t)
{
    struct circle c;
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    const int64_t until = weft_monotonic_ns() + PAUSES_NS;
    for (uint32_t i = 0; i < t->threads; i++) {
        unsigned moments = find_circle(t, i, &c) ? MOMENTS : 0;
        while (moments && !is_so_now(t, &c))
            if (--moments && weft_monotonic_ns() < until)
                nanosleep(&pause, NULL);
        for (uint32_t k = 0; moments && k < c.count; k++)
            if (c.thread[k]->thing != NOW_NONE)
                t->n->thing[c.thread[k]->thing].stood = false; /* it is certain already */
    }
}

void now_futexes_tell(struct now_threads *t)
{
    for (uint32_t i = 0; i < t->threads; i++)
        if (waits_in_futex(&t->thread[i]) && strchr("SDTt", t->thread[i].state))
            tell_wait(t, &t->thread[i]);
    if (!t->p->core)
        find_circles(t);
}
