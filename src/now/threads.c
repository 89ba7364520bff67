/* SPDX-License-Identifier: ISC */
/* What every program shows from outside: its threads, where they wait and for what. The process is neither changed nor
 * stopped, but for its threads that run (running.c). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/duration.h"
#include "base/order.h"
#include "now/look.h"
#include "now/threads.h"
#include "sample/proc.h"

enum { THREADS_MAX = 10000 };

/* Where the result of a system call takes the place of its first argument, a core no longer has it. */
#if defined(__aarch64__)
enum { HAS_FIRST_ARGUMENT = 0 };
#else
enum { HAS_FIRST_ARGUMENT = 1 };
#endif

/* ---- Which there are ---- */

struct comm {
    char text[64];
};

/* Its state, name, and number in its own namespace, which is the last one of NSpid. */
static struct comm read_status(const struct now_threads *t, struct now_thread *thread)
{
    char path[64], line[256];
    struct comm name = {""};
    uint64_t count;
    snprintf(path, sizeof path, "/proc/%d/task/%" PRIu32 "/status", (int)t->p->pid, thread->number);
    FILE *f = fopen(path, "re");
    thread->inner = thread->number;
    while (f && fgets(line, sizeof line, f)) {
        const char *last = strrchr(line, '\t');
        if (!last)
            continue;
        if (strncmp(line, "Name:\t", 6) == 0)
            snprintf(name.text, sizeof name.text, "%.*s", (int)strcspn(line + 6, "\n"), line + 6);
        else if (strncmp(line, "State:", 6) == 0)
            sscanf(line + 6, " %c", &thread->state);
        else if (strncmp(line, "NSpid:", 6) == 0)
            sscanf(last, "%" SCNu32, &thread->inner);
        else if (strstr(line, "voluntary_ctxt_switches:") && sscanf(last, "%" SCNu64, &count) == 1)
            thread->switches += count;
    }
    if (f)
        fclose(f);
    return name;
}

bool now_thread_again(const struct now_threads *t, struct now_thread *thread)
{
    thread->state = 0;
    thread->switches = 0;
    read_status(t, thread);
    return thread->state && strchr("SDTt", thread->state);
}

static void add_thread(struct now_threads *t, uint32_t number)
{
    struct now_thread thread = {.number = number, .thing = now_thing(t->n, NOW_THREAD, number)};
    const struct comm name = read_status(t, &thread);
    if (!thread.state) { /* it has ended since */
        now_forget(t->n, thread.thing);
        return;
    }
    now_name(t->n, thread.thing, "thread %" PRIu32 " '%s'", number, name.text);
    if (thread.thing != NOW_NONE)
        t->n->thing[thread.thing].start_ns = now_began_ns((uint32_t)t->p->pid, number);
    if (weft_reserve(&t->thread, t->threads, &t->room, sizeof thread))
        t->thread[t->threads++] = thread;
    else
        t->n->failed = true;
}

/* Those of a core are in its order. */
static void add_left_threads(struct now_threads *t, const struct weft_core *core)
{
    if (core->threads > THREADS_MAX)
        now_remark(t->n, "%" PRIu32 " threads are not shown: only the first %d are",
                   core->threads - THREADS_MAX, THREADS_MAX);
    for (uint32_t i = 0; i < core->threads && i < THREADS_MAX; i++) {
        const struct weft_core_thread *left = &core->thread[i];
        const struct now_thread thread = {.number = left->number,
                                          .inner = left->number,
                                          .left = left,
                                          .state = left->call >= 0 ? 'S' : 'R',
                                          .thing = now_thing(t->n, NOW_THREAD, left->number)};
        now_name(t->n, thread.thing, "thread %" PRIu32, left->number);
        if (weft_reserve(&t->thread, t->threads, &t->room, sizeof thread))
            t->thread[t->threads++] = thread;
        else
            t->n->failed = true;
    }
}

static void add_threads(struct now_threads *t)
{
    struct sample_numbers numbers = {0};
    if (t->p->core)
        add_left_threads(t, t->p->core);
    else
        sample_numbers_read(&numbers, "/proc/%d/task", (int)t->p->pid);
    weft_sort(numbers.number, numbers.count, sizeof *numbers.number, weft_order_u32);
    if (numbers.count > THREADS_MAX)
        now_remark(t->n, "%" PRIu32 " threads are not shown: only the first %d are",
                   numbers.count - THREADS_MAX, THREADS_MAX);
    for (uint32_t i = 0; i < numbers.count && i < THREADS_MAX; i++)
        add_thread(t, numbers.number[i]);
    free(numbers.number);
    t->by_inner = weft_resize(NULL, t->threads, sizeof *t->by_inner);
    t->n->failed |= !t->by_inner;
    for (uint32_t i = 0; t->by_inner && i < t->threads; i++)
        t->by_inner[i] = (struct now_inner){t->thread[i].inner, i};
    if (t->by_inner)
        weft_sort(t->by_inner, t->threads, sizeof *t->by_inner, weft_order_u32);
}

struct now_thread *now_thread_inner(const struct now_threads *t, uint64_t inner)
{
    uint32_t low = 0, high = t->threads;
    WEFT_SEEK(low, high, t->by_inner[middle].inner < inner);
    return low < t->threads && t->by_inner[low].inner == inner ? &t->thread[t->by_inner[low].thread]
                                                               : NULL;
}

/* ---- Their stacks, with names ---- */

const char *now_thread_function(const struct now_threads *t, const struct now_thread *thread,
                                uint32_t i, const char **plain, uint32_t *caller)
{
    uint32_t line;
    for (*caller = 0; *caller < thread->pcs; ++*caller) {
        const struct now_place *place = now_names_at(&t->code, t->pc[thread->pc + *caller]);
        const uint32_t frames = place && place->frames ? place->frames : 1;
        if (i >= frames) {
            i -= frames;
            continue;
        }
        if (!place || !place->frames)
            return NULL;
        const char *name = *plain = now_names_function(&t->code, place, i, &line)->name;
        if (strncmp(*plain, "__GI_", 5) == 0)
            *plain += 5;
        *plain += strspn(*plain, "_");
        if (strncmp(*plain, "IO_", 3) == 0)
            *plain += 3;
        return name;
    }
    return NULL;
}

/* "sem_wait@plt": the stub. */
const char *now_called_name(struct now_threads *t, const struct now_called *called)
{
    uint32_t line;
    const struct now_place *place =
        called->address ? now_names_at(&t->code, called->address) : NULL;
    if (!place || !place->frames)
        return NULL;
    const char *name = now_names_function(&t->code, place, place->frames - 1, &line)->name;
    name += strspn(name, "_");
    snprintf(t->called, sizeof t->called, "%.*s", (int)strcspn(name, "@"), name);
    return t->called;
}

bool now_in_libc(const struct now_threads *t, uint64_t pc)
{
    const struct now_mapping *m = now_mapping_at(t->p, pc);
    const char *file = m ? now_mapping_file(m) : "";
    return strncmp(file, "libc.so", 7) == 0 || strncmp(file, "ld-musl-", 8) == 0;
}

/* Code without a name: by its file, or else by its address. */
static void tell_address(struct now_threads *t, uint32_t thing, uint64_t pc)
{
    char text[NOW_TEXT_MAX];
    const struct now_mapping *m = now_mapping_at(t->p, pc);
    if (m && m->path[0] == '/')
        snprintf(text, sizeof text, "%s+0x%" PRIx64, now_mapping_file(m),
                 pc - m->start + m->offset);
    else
        snprintf(text, sizeof text, "0x%" PRIx64, pc);
    now_frame(t->n, thing, text, NULL, 0);
}

/* Of what is inlined in the C library, only the function itself is of interest; and a header may have an inline function
 * that calls the one that waits, and has its name. */
static void tell_place(struct now_threads *t, const struct now_thread *thread, uint32_t caller,
                       const struct now_place *place)
{
    uint32_t line;
    const bool waits = thread->waits_in && caller == thread->inside;
    const bool called = thread->waits_in && caller == thread->inside + 1;
    for (uint32_t i = waits || now_in_libc(t, place->address) ? place->frames - 1 : 0;
         i < place->frames; i++) {
        const struct now_function *f = now_names_function(&t->code, place, i, &line);
        if (called && i + 1 < place->frames && strcmp(f->name, thread->waits_in) == 0)
            continue;
        now_frame(t->n, thread->thing, waits ? thread->waits_in : f->name, line ? f->file : NULL,
                  line);
    }
}

static void tell_stack(struct now_threads *t, const struct now_thread *thread)
{
    if (thread->thing != NOW_NONE)
        t->n->thing[thread->thing].whole = thread->whole;
    for (uint32_t k = thread->inside; k < thread->pcs; k++) {
        const uint64_t pc = t->pc[thread->pc + k];
        const struct now_place *place = now_names_at(&t->code, pc);
        if (place && place->frames)
            tell_place(t, thread, k, place);
        else if (k == thread->inside && thread->waits_in)
            now_frame(t->n, thread->thing, thread->waits_in, NULL, 0);
        else
            tell_address(t, thread->thing, pc);
    }
}

/* ---- What they do ---- */

struct now_limit now_limit_ns(int64_t ns)
{
    struct now_limit limit = {""};
    if (ns >= 0)
        snprintf(limit.text, sizeof limit.text, ", at most %s", weft_duration(ns).text);
    return limit;
}

int64_t now_time_at(struct now_threads *t, const struct now_call *call, uint64_t address,
                    bool microseconds)
{
    int64_t word[2];
    int32_t half[2];
    const size_t name = strlen(call->name);
    const bool narrow = sizeof(long) == 4 && strcmp(call->name + name - 2, "64") != 0;
    if (!address ||
        !now_read(t->p, address, narrow ? (void *)half : word, narrow ? sizeof half : sizeof word))
        return -1;
    if (narrow)
        word[0] = half[0], word[1] = half[1];
    if (word[0] < 0 || word[0] > INT64_MAX / 2000000000 || word[1] < 0 || word[1] >= 1000000000)
        return -1;
    return word[0] * INT64_C(1000000000) + word[1] * (microseconds ? 1000 : 1);
}

/* After a signal the kernel goes on with a call under another number; its arguments are still there. Which call it was
 * is seen by the function that made it. */
static const struct now_call *interrupted_call(const struct now_threads *t,
                                               const struct now_thread *thread)
{
    const char *plain;
    uint32_t caller;
    for (uint32_t i = 0; i < NOW_STACK_SEARCHED; i++) {
        const char *name = now_thread_function(t, thread, i, &plain, &caller);
        const struct now_call *call = !name                    ? NULL
                                      : strstr(plain, "futex") ? now_call_by_name("futex")
                                                               : now_call_by_name(plain);
        if (call)
            return call;
    }
    return NULL;
}

/* The C library's function that makes a call has its name, or a part of it: recv and recvfrom, select and pselect6; or
 * it is open64, which makes openat. */
static bool makes_call(const struct now_call *call, const char *plain)
{
    return (strlen(plain) >= 4 && strstr(call->name, plain)) ||
           strncmp(plain, call->name, strlen(call->name)) == 0 ||
           (call->kind == NOW_CALL_PATH && strncmp(plain, "open", 4) == 0);
}

static void find_function(struct now_threads *t, struct now_thread *thread)
{
    const char *plain;
    uint32_t caller;
    for (uint32_t i = 0; i < NOW_STACK_SEARCHED; i++) {
        const char *name = now_thread_function(t, thread, i, &plain, &caller);
        if (caller == thread->pcs)
            break;
        if (!name || !now_in_libc(t, t->pc[thread->pc + caller]))
            continue;
        if (strncmp(plain, "libc_", 5) == 0)
            plain += 5;
        if (!makes_call(thread->call, plain))
            continue;
        thread->inside = caller; /* … not fcntl64, but fcntl */
        thread->waits_in = thread->call->kind == NOW_CALL_PATH ? "open"
                           : strstr(plain, thread->call->name) ? thread->call->name
                                                               : plain;
        return;
    }
    for (unsigned k = 0; k < NOW_CALLED && !thread->waits_in; k++) {
        const char *called = now_called_name(t, &thread->called[k]);
        if (!called || !makes_call(thread->call, called))
            continue;
        thread->inside = thread->called[k].by - 1;
        thread->waits_in = thread->call->kind == NOW_CALL_PATH ? "open" : thread->call->name;
    }
}

static void find_call(struct now_threads *t, struct now_thread *thread)
{
    if (!thread->known || thread->at.call < 0)
        return;
    thread->call = now_call_by_number(thread->at.call);
    if (thread->call && thread->call->kind == NOW_CALL_AGAIN) {
        const struct now_call *call = interrupted_call(t, thread);
        thread->call = call ? call : thread->call;
    }
    if (thread->call && thread->call->kind != NOW_CALL_FUTEX)
        find_function(t, thread);
}

struct place_in_kernel {
    char text[80]; /* " (do_something)", or "" */
};

static struct place_in_kernel place_in_kernel(const struct now_threads *t,
                                              const struct now_thread *thread)
{
    char line[64];
    struct place_in_kernel place = {""};
    if (sample_line(line, sizeof line, "/proc/%d/task/%" PRIu32 "/wchan", (int)t->p->pid,
                    thread->number) &&
        strcmp(line, "0") != 0)
        snprintf(place.text, sizeof place.text, " (%s)", line);
    return place;
}

static bool is_stopped(const struct now_thread *thread)
{
    return thread->state == 'T' || thread->state == 't';
}

/* A thread that was stopped in a system call goes on with it afterwards. */
static void tell_stopped(struct now_threads *t, const struct now_thread *thread)
{
    char waits[NOW_TEXT_MAX] = "";
    const char *state = t->n->thing[thread->thing].state;
    if (state)
        snprintf(waits, sizeof waits, "%.400s, and ", state);
    if (thread->state == 'T')
        now_state(t->n, thread->thing, "%sis stopped by a signal (kill -CONT %d lets it go on)",
                  waits, (int)t->p->pid);
    else
        now_state(t->n, thread->thing, "%sis stopped by a debugger", waits);
}

/* What is known without a system call. */
static void tell_state(struct now_threads *t, const struct now_thread *thread)
{
    if (thread->state == 'R' && thread->thing != NOW_NONE)
        t->n->thing[thread->thing].runs = true;
    if (thread->state == 'R')
        now_state(t->n, thread->thing, thread->left ? "ran" : "runs");
    else if (is_stopped(thread))
        tell_stopped(t, thread);
    else if (thread->state == 'Z')
        now_state(t->n, thread->thing, "has ended");
    else if (thread->known && thread->at.call >= 0)
        now_state(t->n, thread->thing, "waits in system call %" PRId64, thread->at.call);
    else
        now_state(t->n, thread->thing, "waits in the kernel%s", place_in_kernel(t, thread).text);
}

/* A core does not say what descriptors are. */
static void tell_left(struct now_threads *t, const struct now_thread *thread)
{
    const char *name = thread->waits_in ? thread->waits_in : thread->call->name;
    const bool one = thread->call->kind == NOW_CALL_DESCRIPTOR ||
                     thread->call->kind == NOW_CALL_LOCKED || thread->call->kind == NOW_CALL_EPOLL;
    if (one && HAS_FIRST_ARGUMENT)
        now_state(t->n, thread->thing, "waits in %s, descriptor %" PRIu32, name,
                  (uint32_t)thread->at.arg[0]);
    else
        now_state(t->n, thread->thing, "waits in %s", name);
}

static void tell_thread(struct now_threads *t, const struct now_thread *thread)
{
    if (!thread->state || thread->state == 'X') { /* it has ended meanwhile */
        now_forget(t->n, thread->thing);
        return;
    }
    const bool waits = thread->state && strchr("SDTt", thread->state);
    tell_stack(t, thread);
    if (!thread->known || !thread->call || !waits)
        tell_state(t, thread);
    else if (thread->left && thread->call->kind != NOW_CALL_FUTEX)
        tell_left(t, thread);
    else if (thread->call->kind != NOW_CALL_FUTEX)
        now_waits_tell(t, thread);
    if (thread->known && thread->call && thread->state == 'D' && thread->call->kind != NOW_CALL_NEW)
        now_state(t->n, thread->thing, "waits in %s, and no signal interrupts it%s",
                  thread->waits_in ? thread->waits_in : thread->call->name,
                  place_in_kernel(t, thread).text);
}

/* The numbers of its system calls are not those of this program. */
static bool is_foreign(const struct now_threads *t)
{
    return t->objects.objects && t->objects.object[0].wide != (sizeof(void *) == 8);
}

/* A core is looked at later than a process, and elsewhere. */
static void tell_files(const struct now_threads *t)
{
    const char *missing = t->code.missing, *other = t->code.other;
    if (missing)
        now_remark(t->n, "%s is not here: functions, and callers, are missing where it is needed",
                   missing);
    if (other)
        now_remark(t->n,
                   "%s is not the file that ran, it has another build id: functions, and callers, "
                   "are missing where that one is needed",
                   other);
}

/* What the threads of these wait for says nothing of their tasks, of which there may be any number. */
static const struct {
    const char *function; /* how it begins */
    const char *remark;
} others[] = {
    {"runtime.mstart", "This is a Go program: its goroutines are not shown, only its threads; "
                       "kill -QUIT makes it print them, and ends it"},
    {"runtime.schedule", "This is a Go program: its goroutines are not shown, only its threads; "
                         "kill -QUIT makes it print them, and ends it"},
    {"camlLwt_main", "The promises of Lwt are not shown, only threads"},
    {"tokio::runtime", "The tasks of tokio are not shown, only threads"},
};

static bool is_on_a_stack(const struct now *n, const char *function)
{
    for (uint32_t i = 0; i < n->things; i++)
        for (uint32_t k = 0; n->thing[i].kind == NOW_THREAD && k < n->thing[i].frames; k++) {
            const char *name = n->thing[i].frame[k].function;
            if (name && strncmp(name, function, strlen(function)) == 0)
                return true;
        }
    return false;
}

static void tell_other_tasks(struct now *n)
{
    const char *told = "";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(told, others[i].remark) == 0 || !is_on_a_stack(n, others[i].function))
            continue;
        told = others[i].remark;
        now_remark(n, "%s", told);
    }
}

/* For now_threads_again. */
static void keep_switches(const struct now_threads *t, const struct now_thread *thread)
{
    struct now_thing *thing = thread->thing == NOW_NONE ? NULL : &t->n->thing[thread->thing];
    if (!thing || !thread->known || thread->left)
        return;
    thing->stood = true;
    thing->switches = thread->switches;
    thing->place = sample_standing_place(&thread->at);
}

static int look(struct now_threads *t)
{
    add_threads(t);
    int rc = t->n->failed ? WEFT_E_NOMEM : now_objects_read(&t->objects, t->p);
    if (t->p->memory.late || !now_objects_answer(&t->objects, t->p)) {
        now_remark(t->n,
                   "the functions of process %d are not known: it maps files of a file system that "
                   "does not answer",
                   (int)t->p->pid);
        now_objects_free(&t->objects);
        t->p->no_files = true;
    }
    for (uint32_t i = 0; i < t->objects.objects; i++)
        t->has_libc |= now_in_libc(t, t->objects.object[i].start);
    if (rc == 0)
        rc = now_stacks_read(t);
    if (rc == 0)
        rc = now_names_find(&t->code, t->p, &t->objects, false);
    if (rc < 0)
        return rc;
    if (t->p->core)
        tell_files(t);
    if (is_foreign(t))
        now_remark(t->n, "process %d is a 32-bit program: what its threads wait for is not known",
                   (int)t->p->pid);
    for (uint32_t i = 0; i < t->threads && !is_foreign(t); i++)
        find_call(t, &t->thread[i]);
    now_futexes_want(t);
    rc = now_names_find(&t->variables, t->p, &t->objects, true);
    for (uint32_t i = 0; i < t->threads && rc == 0; i++) {
        keep_switches(t, &t->thread[i]);
        tell_thread(t, &t->thread[i]);
    }
    if (rc == 0)
        now_futexes_tell(t);
    for (uint32_t i = 0; i < t->threads && rc == 0; i++)
        if (is_stopped(&t->thread[i]) && t->thread[i].known && t->thread[i].call)
            tell_stopped(t, &t->thread[i]);
    if (rc == 0 && !t->p->core)
        now_chain_tell(t);
    tell_other_tasks(t->n);
    return rc;
}

/* Of a process or thread: its letter in /proc; 0: it is gone. */
static char letter_of(pid_t process, uint64_t thread)
{
    char line[512];
    sample_line(line, sizeof line, "/proc/%d/task/%" PRIu64 "/stat", (int)process, thread);
    return sample_state(line, NULL);
}

static bool has_ended(char letter)
{
    return letter == 0 || letter == 'Z' || letter == 'X';
}

/* What it did since it was looked at; NULL: it waits, and has done nothing else. */
static const char *done_since(const struct now_thing *t, uint32_t process)
{
    uint64_t switches;
    struct sample_standing_at at;
    if (has_ended(letter_of((pid_t)process, t->key)))
        return "it has ended since";
    if (sample_standing_switches(process, (uint32_t)t->key, &switches) && switches == t->switches)
        return NULL;
    return sample_standing_at(process, (uint32_t)t->key, &at) &&
                   sample_standing_place(&at) == t->place
               ? "it has run since, and waits there again"
               : "it has gone on since";
}

void now_threads_again(struct now *n)
{
    bool one_lives = false;
    for (uint32_t i = 0; i < n->things; i++) {
        char state[NOW_TEXT_MAX];
        const struct now_thing *t = &n->thing[i];
        if ((t->kind != NOW_THREAD && t->kind != NOW_PROCESS) || t->forgotten)
            continue;
        if (t->kind == NOW_THREAD && !one_lives)
            one_lives = !has_ended(letter_of(n->pid, t->key));
        const char *done =
            t->stood ? done_since(t, (uint32_t)(t->kind == NOW_THREAD ? (uint64_t)n->pid : t->key))
                     : NULL;
        if (!done)
            continue;
        now_brief(n, i);
        snprintf(state, sizeof state, "%.440s", t->state ? t->state : "waited");
        now_state(n, i, "%s; %s", state, done);
    }
    if (!one_lives)
        now_remark(n, "process %d has ended while it was looked at: not all of it was seen",
                   (int)n->pid);
}

void now_look_threads(struct now *n, struct now_process *p)
{
    struct now_threads t = {.n = n, .p = p};
    n->failed |= look(&t) < 0;
    now_objects_free(&t.objects);
    now_names_free(&t.code);
    now_names_free(&t.variables);
    now_sockets_free(t.sockets);
    now_ends_free(t.ends);
    weft_free_all(t.thread, t.by_inner, t.pc, t.other);
}
