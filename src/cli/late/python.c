/* SPDX-License-Identifier: ISC */
/* A thread that waits with Python's lock free takes the lock, runs a text, and gives it back, in code that is put beside the
 * process's own. Where no thread does that, the main thread gets the text with Py_AddPendingCall, and runs it between two
 * instructions of Python's. The text is a call of _weft_late.py.
 *
 * Two pages are mapped for that, by a call as well, and stay. Nothing of the process is changed before all that is needed
 * was found. */
#include "cli/late/late.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/common.h"
#include "cli/late/inject.h"
#include "cli/record.h"
#include "now/python.h"

enum {
    CODE_BYTES = 64 << 10, /* a page has at most so many */
    DATA_BYTES = 64 << 10,
    ROOM_BYTES = 1 << 20,    /* around them */
    STACK_BYTES = 512 << 10, /* that Python needs to import modules */
    SCRIPT_MAX = 8 << 10,
    MESSAGE_BYTES = 512,
    NAP_NS = 200 * 1000,
    LATER_NAP_NS = 50 * 1000 * 1000,
};
#define MAPS_NS INT64_C(2000000000)  /* until the mappings are there */
#define LATER_NS INT64_C(5000000000) /* while it imports what is needed */
#define SLICE_NS INT64_C(20000000)   /* until a thread is searched for again that waits */
#define RUNS_NS INT64_C(20000000000) /* until a text that a thread runs has run */

/* ---- The code ---- */

/* At the beginning of the data. */
struct shared {
    uint64_t ensure, run, release; /* functions of Python's */
    uint64_t text;                 /* what it runs */
    int32_t state, result;         /* of ensure, of run */
    uint32_t done;                 /* 1: it has run */
    uint32_t begun;                /* 1: somebody runs it: nobody else is to do so */
    char message[MESSAGE_BYTES];   /* "ok", "later", or what happened */
};

/* void code(struct shared *), which takes Python's lock; int pending(struct shared *), which has it. */
extern const unsigned char cli_late_code[], cli_late_pending[], cli_late_end[];
#if defined(__x86_64__)
__asm__(".pushsection .rodata\n"
        ".globl cli_late_code, cli_late_pending, cli_late_end\n"
        ".hidden cli_late_code, cli_late_pending, cli_late_end\n"
        "cli_late_code:\n"
        "pushq %rbx\n"
        "movq %rdi, %rbx\n"
        "call *(%rbx)\n"
        "movl %eax, 32(%rbx)\n"
        "call 1f\n"
        "movl 32(%rbx), %edi\n"
        "call *16(%rbx)\n"
        "popq %rbx\n"
        "ret\n"
        "cli_late_pending:\n"
        "pushq %rbx\n"
        "movq %rdi, %rbx\n"
        "call 1f\n"
        "popq %rbx\n"
        "ret\n"
        "1: subq $8, %rsp\n"
        "movl $1, %eax\n"
        "xchgl %eax, 44(%rbx)\n"
        "testl %eax, %eax\n"
        "jnz 2f\n"
        "movq 24(%rbx), %rdi\n"
        "call *8(%rbx)\n"
        "movl %eax, 36(%rbx)\n"
        "movl $1, 40(%rbx)\n"
        "2: xorl %eax, %eax\n"
        "addq $8, %rsp\n"
        "ret\n"
        "cli_late_end:\n"
        ".popsection\n");
/* mov $15, %rax; syscall: how every C library's signal handlers return */
static const unsigned char return_code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
#elif defined(__aarch64__)
__asm__(".pushsection .rodata\n"
        ".globl cli_late_code, cli_late_pending, cli_late_end\n"
        ".hidden cli_late_code, cli_late_pending, cli_late_end\n"
        ".balign 4\n"
        "cli_late_code:\n"
        "stp x29, x30, [sp, #-32]!\n"
        "str x19, [sp, #16]\n"
        "mov x19, x0\n"
        "ldr x1, [x19]\n"
        "blr x1\n"
        "str w0, [x19, #32]\n"
        "bl 1f\n"
        "ldr w0, [x19, #32]\n"
        "ldr x1, [x19, #16]\n"
        "blr x1\n"
        "b 3f\n"
        "cli_late_pending:\n"
        "stp x29, x30, [sp, #-32]!\n"
        "str x19, [sp, #16]\n"
        "mov x19, x0\n"
        "bl 1f\n"
        "3: mov w0, #0\n"
        "ldr x19, [sp, #16]\n"
        "ldp x29, x30, [sp], #32\n"
        "ret\n"
        "1: stp x29, x30, [sp, #-16]!\n"
        "ldr w1, [x19, #44]\n" /* whoever is here has Python's lock */
        "cbnz w1, 2f\n"
        "mov w1, #1\n"
        "str w1, [x19, #44]\n"
        "ldr x0, [x19, #24]\n"
        "ldr x1, [x19, #8]\n"
        "blr x1\n"
        "str w0, [x19, #36]\n"
        "mov w1, #1\n"
        "dmb ish\n"
        "str w1, [x19, #40]\n"
        "2: ldp x29, x30, [sp], #16\n"
        "ret\n"
        "cli_late_end:\n"
        ".popsection\n");
/* mov x8, #139; svc #0: in the kernel's own page, [vdso] */
static const unsigned char return_code[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
#else
const unsigned char cli_late_code[1], cli_late_pending[1], cli_late_end[1];
static const unsigned char return_code[] = {0};
#endif

_Static_assert(offsetof(struct shared, state) == 32 && offsetof(struct shared, begun) == 44,
               "as in the code");

/* ---- What is needed of the process ---- */

struct late {
    const struct cli_target *t;
    struct now_process p;
    struct cli_late_result *result;
    char folder[PATH_MAX];
    uint64_t ensure, run, release, add, mmap;
    uint64_t returns_to;
    uint64_t at; /* of the code; the data follow */
    char script[SCRIPT_MAX];
    char text[DATA_BYTES - sizeof(struct shared)];
};

static uint64_t data_of(const struct late *l)
{
    return l->at + CODE_BYTES;
}

static bool find_functions(struct late *l)
{
    static const char *const python[] = {"PyGILState_Ensure", "PyRun_SimpleString",
                                         "PyGILState_Release", "Py_AddPendingCall"};
    static const char *const map[] = {"mmap"};
    uint64_t a[4];
    now_symbol_addresses(&l->p, "", python, 4, a);
    l->ensure = a[0], l->run = a[1], l->release = a[2], l->add = a[3];
    now_symbol_addresses(&l->p, "libc", map, 1, &l->mmap);
    if (!l->mmap)
        now_symbol_addresses(&l->p, "", map, 1, &l->mmap);
    return l->ensure && l->run && l->release && l->add && l->mmap;
}

/* Searches the code of the C library, or of the kernel's own page. */
static bool find_return(struct late *l)
{
    static unsigned char piece[SAMPLE_DISTANT_BYTES];
    const struct now_mapping *libc = now_mapping_at(&l->p, l->mmap);
    for (uint32_t i = 0; libc && i < l->p.mappings && !l->returns_to; i++) {
        const struct now_mapping *m = &l->p.mapping[i];
        if (!m->executable || (strcmp(m->path, libc->path) != 0 && strcmp(m->path, "[vdso]") != 0))
            continue;
        for (uint64_t at = m->start; at < m->end && !l->returns_to;) {
            const size_t n = sample_distant_read(
                &l->p.memory, at, piece, m->end - at < sizeof piece ? m->end - at : sizeof piece);
            const unsigned char *found = memmem(piece, n, return_code, sizeof return_code);
            if (found)
                l->returns_to = at + (uint64_t)(found - piece);
            if (n < sizeof piece)
                break;
            at += n - sizeof return_code;
        }
    }
    return l->returns_to != 0;
}

/* The middle of the largest gap: nobody's heap or stack grows up to there. */
static bool find_place(struct late *l)
{
    uint64_t best = 0;
    for (uint32_t i = 0; i + 1 < l->p.mappings; i++) {
        const uint64_t from = l->p.mapping[i].end, to = l->p.mapping[i + 1].start;
        if (to <= from || to - from <= best || to >> 63)
            continue;
        best = to - from;
        l->at = (from + best / 2) & ~(uint64_t)(CODE_BYTES - 1);
    }
    return best > ROOM_BYTES;
}

/* The files have to be there for the process, too. In a child process: the file system may be run by the process itself, and
 * never answer. */
static void look_there(int fd, void *data)
{
    const struct late *l = data;
    static const char *const file[] = {"_weft_hooks.py", "_weft.abi3.so"};
    char here[2 * PATH_MAX], there[2 * PATH_MAX];
    struct stat a, b;
    bool same = true;
    for (unsigned i = 0; i < sizeof file / sizeof *file; i++) {
        snprintf(here, sizeof here, "%s/%s", l->folder, file[i]);
        snprintf(there, sizeof there, "/proc/%d/root%s/%s", (int)l->p.pid, l->folder, file[i]);
        same &= stat(here, &a) == 0 && stat(there, &b) == 0 && a.st_size == b.st_size;
    }
    symbols_worker_put(fd, &same, sizeof same);
}

static bool sees_adapter(struct late *l)
{
    const struct symbols_worker_options o = {.aside = true, .keep = {-1, -1}};
    struct symbols_worker w = {.fd = -1};
    bool same = false;
    if (!cli_target_elsewhere(l->t))
        return true;
    if (symbols_worker_start(&w, &o, look_there, l) < 0 ||
        !symbols_worker_answers(&w, &same, sizeof same))
        same = false;
    symbols_worker_stop(&w);
    return same;
}

static bool read_script(struct late *l)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/_weft_late.py", l->folder);
    FILE *f = fopen(path, "re");
    const size_t n = f ? fread(l->script, 1, sizeof l->script - 1, f) : 0;
    if (f)
        fclose(f);
    l->script[n] = 0;
    return n > 0 && n < sizeof l->script - 1;
}

static enum cli_late prepare(struct late *l)
{
    const struct cli_target *t = l->t;
    struct weft_error err;
    uint64_t runtime;
    uint32_t version = 0;
    if (now_process_open(&l->p, t->pid, &err) < 0 || !python_find(&l->p, &runtime, &version))
        return CLI_LATE_OTHER;
    const unsigned minor = PYTHON_MINOR(version) & 255;
    bool able = false;
    if (t->narrow)
        cli_say(t->name, "is a 32-bit Python, into which nothing can be brought");
    else if (version && minor < 9)
        cli_say(t->name, "is Python 3.%u; 3.9 or later is needed", minor);
    else if (!cli_runtimes_folder(CLI_PYTHON, l->folder, sizeof l->folder) || !read_script(l))
        cli_say(t->name, "is a Python program, and what records those is not installed; see weft "
                         "record --list-runtimes");
    else if (!sees_adapter(l))
        cli_say(t->name,
                "is a Python program that sees other folders than we do, as in a container: what "
                "records it, %s, must be there as well, of the same version",
                l->folder);
    else if (!find_functions(l) || !find_return(l) || !find_place(l))
        cli_say(t->name, "is a Python program, but nothing can be brought into it: its functions "
                         "are not found");
    else
        able = true;
    return able ? CLI_LATE_DONE : CLI_LATE_FAILED;
}

/* ---- The text ---- */

struct writer {
    char *at, *end;
};

static void put(struct writer *w, const char *text)
{
    const int n = snprintf(w->at, (size_t)(w->end - w->at), "%s", text);
    w->at = n < w->end - w->at ? w->at + n : w->end;
}

static void put_hex(struct writer *w, const char *bytes)
{
    for (; *bytes && w->end - w->at > 2; bytes++)
        w->at += sprintf(w->at, "%02x", (unsigned char)*bytes);
}

static void put_run(struct writer *w, const struct late *l, const char *path, uint64_t bytes)
{
    char numbers[96];
    put(w, "(lambda b, o: b.exec(b.bytes.fromhex('");
    put_hex(w, l->script);
    put(w, "'), {'__builtins__': b, '__name__': '_weft_late', 'ASKED': "
           "(o.fsdecode(b.bytes.fromhex('");
    put_hex(w, l->folder);
    put(w, "')), o.fsdecode(b.bytes.fromhex('");
    put_hex(w, path);
    snprintf(numbers, sizeof numbers, "')), %" PRIu64 ", %" PRIu64 ", %d)})", bytes,
             data_of(l) + offsetof(struct shared, message), MESSAGE_BYTES);
    put(w, numbers);
    put(w, ")(__import__('builtins'), __import__('os'))\n");
}

/* Names of the program's are not used, and none is made: not even one for the exception. No garbage is collected: what hangs
 * may be that already, and is still to be seen. */
static bool write_text(struct late *l, const char *path, uint64_t bytes)
{
    struct writer w = {l->text, l->text + sizeof l->text - 1};
    put(&w, "if __import__('gc').isenabled():\n"
            " try:\n"
            "  __import__('gc').disable()\n"
            "  ");
    put_run(&w, l, path, bytes);
    put(&w, " except:\n"
            "  pass\n"
            " finally:\n"
            "  __import__('gc').enable()\n"
            "else:\n"
            " try:\n"
            "  ");
    put_run(&w, l, path, bytes);
    put(&w, " except:\n"
            "  pass\n");
    return w.at < w.end - 2;
}

/* ---- Calls ---- */

static struct cli_inject_result inject(struct late *l, enum cli_inject_where where,
                                       struct cli_inject_call call)
{
    call.returns_to = l->returns_to;
    const struct cli_inject_result r = cli_inject(l->p.pid, l->t->mem, where, &call);
    l->result->stopped_ns += r.stopped_ns;
    return r;
}

static bool say_refused(const struct late *l, const struct cli_inject_result *r)
{
    char why[160];
    cli_inject_why(l->p.pid, r, why, sizeof why);
    return cli_say(l->t->name, "is a Python program, but weft cannot be brought into it: %s", why);
}

static bool is_there(const struct late *l, uint64_t at)
{
    char byte;
    return cli_target_read(l->t, at, &byte, 1);
}

/* Nothing is both writable and executable, which some systems forbid. */
static bool map(struct late *l)
{
    const struct {
        uint64_t at, bytes, rights;
    } part[] = {{l->at, CODE_BYTES, PROT_READ | PROT_EXEC},
                {data_of(l), DATA_BYTES, PROT_READ | PROT_WRITE}};
    for (unsigned i = 0; i < 2; i++) {
        const struct cli_inject_call call = {
            .function = l->mmap,
            .arg = {part[i].at, part[i].bytes, part[i].rights,
                    MAP_PRIVATE | MAP_ANONYMOUS | 0x100000 /* MAP_FIXED_NOREPLACE */, UINT64_MAX,
                    0}};
        const struct cli_inject_result r = inject(l, CLI_INJECT_ANY, call);
        if (r.how != CLI_INJECTED)
            return say_refused(l, &r);
        const int64_t until_ns = weft_monotonic_ns() + MAPS_NS;
        while (!is_there(l, part[i].at) && !l->t->memory->late && weft_monotonic_ns() < until_ns)
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        if (!is_there(l, part[i].at))
            return cli_say(l->t->name,
                           "is a Python program, but weft cannot be brought into it: it "
                           "got no memory for that, or does not let itself be looked at");
    }
    return true;
}

static bool write_pages(struct late *l)
{
    const size_t code_bytes = (size_t)(cli_late_end - cli_late_code);
    const struct shared s = {.ensure = l->ensure,
                             .run = l->run,
                             .release = l->release,
                             .text = data_of(l) + sizeof(struct shared)};
    const size_t text_bytes = strlen(l->text) + 1;
    struct symbols_worker *to = l->t->memory;
    return (sample_distant_write(to, l->at, cli_late_code, code_bytes) == code_bytes &&
            sample_distant_write(to, data_of(l), &s, sizeof s) == sizeof s &&
            sample_distant_write(to, s.text, l->text, text_bytes) == text_bytes) ||
           cli_say(l->t->name,
                   "is a Python program, but weft cannot be brought into it: its memory "
                   "cannot be written");
}

/* So that the text runs again. */
static bool forget_run(const struct late *l)
{
    static const struct shared none;
    const size_t from = offsetof(struct shared, state), bytes = sizeof none - from;
    return sample_distant_write(l->t->memory, data_of(l) + from, (const char *)&none + from,
                                bytes) == bytes;
}

/* The first thread's stack grows. */
static bool has_stack(const void *late, uint64_t sp)
{
    const struct late *l = late;
    const struct now_mapping *m = now_mapping_at(&l->p, sp);
    return m && (strcmp(m->path, "[stack]") == 0 || sp - m->start >= STACK_BYTES);
}

/* Returns true if the text has run. */
static bool await(const struct late *l, int64_t wait_ns, struct shared *s)
{
    const int64_t until_ns = weft_monotonic_ns() + wait_ns;
    do {
        if (!cli_target_read(l->t, data_of(l), s, sizeof *s))
            return false;
        if (s->done)
            break;
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    } while (weft_monotonic_ns() < until_ns);
    s->message[sizeof s->message - 1] = 0;
    return s->done != 0;
}

/* Has a thread run the text, and waits for it. *s: with `done` if it has run. Returns false if no thread can. */
static bool run_once(struct late *l, int64_t wait_ns, struct shared *s)
{
    const struct cli_inject_call call = {
        .function = l->at, .arg = {data_of(l)}, .fits = has_stack, .data = l};
    const struct cli_inject_call add = {
        .function = l->add,
        .arg = {l->at + (uint64_t)(cli_late_pending - cli_late_code), data_of(l)}};
    const int64_t until_ns = weft_monotonic_ns() + wait_ns;
    bool added = false;
    do {
        struct cli_inject_result r = inject(l, CLI_INJECT_WAITING, call);
        const bool waited = r.how == CLI_INJECTED;
        if (r.how == CLI_INJECT_NONE && !added) {
            r = inject(l, CLI_INJECT_ANY, add);
            added = true;
        }
        if (r.how != CLI_INJECTED && r.how != CLI_INJECT_NONE)
            return say_refused(l, &r);
        if (await(l, waited ? RUNS_NS : SLICE_NS, s))
            return true;
        if (waited)
            break;
    } while (weft_monotonic_ns() < until_ns);
    if (cli_target_read(l->t, data_of(l), s, sizeof *s))
        return true;
    cli_target_gone(l->t);
    return false;
}

static enum cli_late run(struct late *l, int64_t wait_ns)
{
    struct shared s = {.done = 0};
    int64_t since_ns = weft_monotonic_ns();
    const int64_t until_ns = since_ns + LATER_NS;
    bool later;
    do {
        since_ns = weft_monotonic_ns();
        if (!forget_run(l)) {
            cli_target_gone(l->t);
            return CLI_LATE_FAILED;
        }
        if (!run_once(l, wait_ns, &s))
            return CLI_LATE_FAILED;
        later = s.done && strcmp(s.message, "later") == 0 && since_ns < until_ns;
        if (later)
            nanosleep(&(struct timespec){.tv_nsec = LATER_NAP_NS}, NULL);
    } while (later);
    l->result->took_ns = weft_monotonic_ns() - since_ns;
    l->result->waits = !s.done;
    if (!s.done || !*s.message || strcmp(s.message, "ok") == 0)
        return CLI_LATE_DONE;
    if (strcmp(s.message, "later") == 0)
        cli_say(l->t->name, "is a Python program that is still importing its modules; try again");
    else
        cli_say(l->t->name, "is a Python program, but cannot be recorded: %s",
                cli_shown(s.message).text);
    return CLI_LATE_FAILED;
}

enum cli_late cli_late_python(const struct cli_target *t, const char *path, uint64_t bytes,
                              int64_t wait_ns, struct cli_late_result *result)
{
    static struct late l;
    l = (struct late){.t = t, .result = result};
    *result = (struct cli_late_result){0};
    enum cli_late how = prepare(&l);
    if (how == CLI_LATE_DONE && !write_text(&l, path, bytes)) {
        cli_say(path, "the name is too long");
        how = CLI_LATE_FAILED;
    }
    if (how == CLI_LATE_DONE)
        how = map(&l) && write_pages(&l) ? run(&l, wait_ns) : CLI_LATE_FAILED;
    now_process_close(&l.p);
    return how;
}
