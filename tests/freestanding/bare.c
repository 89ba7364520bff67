/* SPDX-License-Identifier: ISC */
/* A program without libc, for the recorder without an operating system: what it has of one is write, exit and
 * clone, so that its memory can leave it and so that it has processors.
 *
 *   bare one >IMAGE     one processor, a clock of its own, interrupts; stops the recording
 *   bare four >IMAGE    four processors, the processor's counter; does not stop
 *   bare guest >IMAGE   of a hypervisor of a few lines: as one, in shared pages, and does not stop; written as whoever
 *   bare index >IMAGE   has read XenStore finds it, page by page, there by a list, here by an index page
 *
 * Each processor sends PROMISES promises through a ring that holds few of them, and leaves some pending: "lost
 * CPU.N". Says on standard error how many events it recorded. */
#include <weft/freestanding.h>
#include <weft/xen.h>

enum { PROCESSORS = 4, PROMISES = 60000, PENDING = 5, STACK = 64 << 10 };

static _Alignas(4096) unsigned char trace[512 << 10];
static _Alignas(4096) unsigned char pages[1 << 20]; /* of a guest */
static _Alignas(STACK) unsigned char stacks[PROCESSORS][STACK];
static uint64_t events[PROCESSORS + 1]; /* recorded; the last one by interrupts */
static uint32_t ended;

/* What a compiler calls. */

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);

#define AS_WRITTEN() __asm__ volatile("" ::: "memory") /* and not as a call to itself */

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
        AS_WRITTEN();
    }
    return to;
}

void *memset(void *to, int byte, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        ((unsigned char *)to)[i] = (unsigned char)byte;
        AS_WRITTEN();
    }
    return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < size; i++) {
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
        AS_WRITTEN();
    }
    return 0;
}

/* What there is of a system. */

void bare_main(long argc, char **argv);
long bare_clone(long flags, void *stack, void (*run)(void));

#if defined __x86_64__
#define COUNTER_HZ 1000000000 /* as good as another */
enum { WRITE = 1, YIELD = 24, EXIT = 60, EXIT_ALL = 231 };

__asm__(".globl _start, bare_clone\n"
        "_start: xor %ebp, %ebp\n"
        "mov (%rsp), %rdi\n"
        "lea 8(%rsp), %rsi\n"
        "and $-16, %rsp\n"
        "call bare_main\n"
        "bare_clone: mov %rdx, %r9\n"
        "mov $56, %eax\n"
        "xor %edx, %edx\n"
        "xor %r10d, %r10d\n"
        "xor %r8d, %r8d\n"
        "syscall\n"
        "test %rax, %rax\n"
        "jnz 1f\n"
        "xor %ebp, %ebp\n"
        "call *%r9\n"
        "1: ret\n");

static long system_call(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined __aarch64__
#define COUNTER_HZ 0 /* it says so itself */
enum { WRITE = 64, YIELD = 124, EXIT = 93, EXIT_ALL = 94 };

__asm__(".globl _start, bare_clone\n"
        "_start: mov x29, #0\n"
        "mov x30, #0\n"
        "ldr x0, [sp]\n"
        "add x1, sp, #8\n"
        "bl bare_main\n"
        "bare_clone: mov x9, x2\n"
        "mov x8, #220\n"
        "mov x2, #0\n"
        "mov x3, #0\n"
        "mov x4, #0\n"
        "svc #0\n"
        "cbnz x0, 1f\n"
        "mov x29, #0\n"
        "blr x9\n"
        "1: ret\n");

static long system_call(long number, long a, long b, long c)
{
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b,
                     x2 __asm__("x2") = c;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
}
#endif

static void write_all(long fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size) {
        long n = system_call(WRITE, fd, (long)at, (long)size);
        if (n <= 0)
            system_call(EXIT_ALL, 2, 0, 0);
        at += n;
        size -= (size_t)n;
    }
}

static void say(const char *what, uint64_t number)
{
    char line[64], digits[20];
    size_t n = 0, d = 0;
    for (; *what; what++)
        line[n++] = *what;
    do
        digits[d++] = (char)('0' + number % 10);
    while (number /= 10);
    while (d)
        line[n++] = digits[--d];
    line[n++] = '\n';
    write_all(2, line, n);
}

static void say_line(const char *line)
{
    size_t n = 0;
    while (line[n])
        n++;
    write_all(2, line, n);
    write_all(2, "\n", 1);
}

/* The machine. */

/* Each processor has a stack of its own, the first one the program's. */
static unsigned processor(void)
{
    const uintptr_t at = (uintptr_t)__builtin_frame_address(0) - (uintptr_t)stacks;
    return at < sizeof stacks ? (unsigned)(at / STACK) : 0;
}

/* Rises by 100 ns with each look. Now and then an interrupt comes just then: in the middle of an event, or of
 * what the recorder does between two packets. */
static uint64_t clock_with_interrupts(void)
{
    static uint64_t ns, looks;
    static int in_interrupt;
    if (++looks % 997 == 0 && !in_interrupt) {
        in_interrupt = 1;
        weft_promise tick = weft_create("interrupt", "timer");
        weft_fulfill(tick);
        events[PROCESSORS] += 2;
        in_interrupt = 0;
    }
    return ns += 100;
}

static uint64_t date(void)
{
    return 1700000000000000000;
}

static void work(void)
{
    const unsigned self = processor();
    char lost[] = "lost 0.0";
    lost[5] = (char)('0' + self);
    weft_promise task = weft_create("task", "main");
    weft_run(task);
    events[self] += 2;
    for (unsigned i = 0; i < PROMISES; i++) {
        if (i % (PROMISES / PENDING) == 0) {
            weft_promise reply = weft_create("reply", lost);
            weft_wait(reply);
            lost[7]++;
            events[self] += 2;
        }
        weft_promise request = weft_create("request", "get");
        weft_wait(request);
        weft_fulfill(request);
        weft_wake(task, request);
        events[self] += 4;
    }
    weft_fulfill(task);
    events[self]++;
}

static void run_processor(void)
{
    work();
    __atomic_add_fetch(&ended, 1, __ATOMIC_RELEASE);
    for (;;)
        system_call(EXIT, 0, 0, 0);
}

static int one(void)
{
    int rc = weft_start(&(struct weft_options){
        .memory = trace, .bytes = sizeof trace, .clock = clock_with_interrupts});
    if (rc == 0)
        work();
    weft_stop();
    return rc;
}

static int four(void)
{
    const long thread = 0x50f00; /* of this program: memory, files, handlers are shared */
    int rc = weft_start_on(
        &(struct weft_machine){
            .processors = PROCESSORS,
            .processor = processor,
            .wall_ns = date,
            .program = "bare",
            .host = "nowhere",
        },
        &(struct weft_options){.memory = trace, .bytes = sizeof trace, .clock_hz = COUNTER_HZ});
    if (rc < 0)
        return rc;
    for (unsigned i = 1; i < PROCESSORS; i++)
        if (bare_clone(thread, stacks[i] + STACK, run_processor) < 0)
            return -1;
    work();
    while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) < PROCESSORS - 1)
        system_call(YIELD, 0, 0, 0);
    return 0;
}

/* A guest, and what there is of its hypervisor: a table of grants, and one value in XenStore. */

enum { GRANTS = 512 };

static void *grants[GRANTS];
static uint32_t grant_count, first_grant;
static char store_key[64], store_value[4096];

/* They are not in order. */
static int grant(void *context, unsigned domain, void *page, uint32_t *reference)
{
    const uint32_t n = grant_count++ ^ 5;
    (void)context;
    if (n >= GRANTS || domain != 0 || store_key[0])
        return -1;
    grants[n] = page;
    *reference = first_grant + n;
    return 0;
}

static void end_grant(void *context, void *page, uint32_t reference)
{
    const uint32_t n = reference - first_grant;
    (void)context;
    if (grants[n] == page && !store_key[0])
        grants[n] = NULL;
}

static void copy_text(char *to, const char *text)
{
    while ((*to++ = *text++))
        ;
}

static int write_store(void *context, const char *key, const char *value)
{
    (void)context;
    copy_text(store_key, key);
    copy_text(store_value, value);
    return 0;
}

static int remove_from_store(void *context, const char *key)
{
    (void)context;
    (void)key;
    store_key[0] = 0;
    return 0;
}

static const struct weft_xen_system hypervisor = {
    .grant = grant, .end = end_grant, .write = write_store, .remove = remove_from_store};

static struct weft_xen_share share;

static int guest(void)
{
    int64_t room = weft_xen_grant(&share, &hypervisor, 0, pages, sizeof pages);
    if (room < 0)
        return (int)room;
    int rc = weft_start(&(struct weft_options){
        .memory = pages, .bytes = (uint64_t)room, .clock = clock_with_interrupts});
    if (rc == 0)
        rc = weft_xen_publish(&share);
    if (rc == 0)
        work();
    return rc;
}

static uint64_t write_page(uint32_t reference)
{
    write_all(1, grants[reference - first_grant], 4096);
    return 1;
}

/* Writes the pages as a reader finds them. Returns how many. */
static uint64_t write_shared(void)
{
    uint64_t count = 0;
    for (const char *at = store_value; *at;) {
        uint32_t reference = 0;
        for (; *at >= '0' && *at <= '9'; at++)
            reference = reference * 10 + (uint32_t)(*at - '0');
        at += *at == ',';
        if (store_key[5] == 'm') {
            count += write_page(reference);
            continue;
        }
        const uint32_t *index = grants[reference - first_grant];
        for (uint32_t i = 0; i < index[3]; i++)
            count += write_page(index[4 + i]);
    }
    return count;
}

/* What is left of it when it takes everything back. */
static void end_guest(void)
{
    uint64_t left = 0;
    weft_xen_withdraw(&share);
    weft_stop();
    weft_xen_end(&share);
    for (unsigned i = 0; i < GRANTS; i++)
        left += grants[i] != NULL;
    say("grants left ", left + (store_key[0] != 0));
}

static int run(const char *what)
{
    if (what[0] == 'g' || what[0] == 'i') {
        first_grant = what[0] == 'g' ? 8 : 4000000000;
        return guest();
    }
    return what[0] == 'f' ? four() : one();
}

void bare_main(long argc, char **argv)
{
    int rc = run(argc > 1 ? argv[1] : "one");
    if (rc < 0) {
        say("could not start: -", (uint64_t)-rc);
        system_call(EXIT_ALL, 1, 0, 0);
    }
    uint64_t sum = 0;
    for (unsigned i = 0; i <= PROCESSORS; i++)
        sum += events[i];
    say("events ", sum);
    if (store_key[0]) {
        say_line(store_key);
        say("bytes ", 4096 * write_shared());
        end_guest();
    } else {
        say("bytes ", sizeof trace);
        write_all(1, trace, sizeof trace);
    }
    for (;;)
        system_call(EXIT_ALL, 0, 0, 0);
}
