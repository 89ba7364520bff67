/* SPDX-License-Identifier: ISC */
/* Carries out requests of weft ctl; control.h describes the protocol. */
#include "record/control.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "record/record.h"
#include "record/start.h"
#include <weft/weft.h>

#if (defined(__x86_64__) && defined(__LP64__)) || (defined(__aarch64__) && defined(__linux__))
#define INTERRUPTED weft_record_interrupted
#else
#define INTERRUPTED NULL
#endif

__attribute__((used)) struct weft_record_control weft_record_control = {
    .magic = WEFT_RECORD_CONTROL_MAGIC,
    .version = WEFT_RECORD_CONTROL_VERSION,
    .bytes = sizeof weft_record_control,
    .self = &weft_record_control,
    .word = &weft_impl_state,
    .bell = (unsigned char *)&weft_record_rec.recording + 3,
    .interrupted = INTERRUPTED,
};

#if UINTPTR_MAX > UINT32_MAX
#define DISTANCE "8", ".quad"
#else
#define DISTANCE "4", ".long"
#endif
/* 5: the size of the name "weft" with its NUL. bytes: the size of the description. */
#define NOTE(...) NOTE_OF(__VA_ARGS__)
#define NOTE_OF(bytes, type)                                                                       \
    __asm__(".pushsection .note.weft, \"a\", %note\n"                                              \
            ".balign 4\n"                                                                          \
            ".long 5, " bytes ", 1\n"                                                              \
            ".asciz \"weft\"\n"                                                                    \
            ".balign 4\n"                                                                          \
            "0: " type " weft_record_control - 0b\n"                                               \
            ".popsection\n")
NOTE(DISTANCE);

/* Calls weft_record_asked, then goes on with what the thread was doing. No system call does that on x86-64, because
 * rt_sigreturn forgets when a poll or a sleep was to end. Return by a jump would need a register. */
#if defined(__x86_64__) && defined(__LP64__)
__asm__(".pushsection .text\n"
        ".hidden weft_record_interrupted\n"
        ".globl weft_record_interrupted\n"
        ".type weft_record_interrupted, @function\n"
        "weft_record_interrupted:\n"
        ".cfi_startproc\n"
        ".cfi_undefined rip\n"
        "call weft_record_asked\n"
        "movl $-1, %eax\n"
        "movl %eax, %edx\n"
        "xrstor64 (%rsp)\n"
        "movq %rbx, %rsp\n"
        "popq %r15\n popq %r14\n popq %r13\n popq %r12\n"
        "popq %r11\n popq %r10\n popq %r9\n popq %r8\n"
        "popq %rdi\n popq %rsi\n popq %rbp\n popq %rdx\n"
        "popq %rcx\n popq %rbx\n popq %rax\n"
        "popfq\n"
        "ret $128\n"
        ".cfi_endproc\n"
        ".size weft_record_interrupted, . - weft_record_interrupted\n"
        ".popsection\n");
#elif defined(__aarch64__) && defined(__linux__)
__asm__(".pushsection .text\n"
        ".hidden weft_record_interrupted\n"
        ".globl weft_record_interrupted\n"
        ".type weft_record_interrupted, %function\n"
        "weft_record_interrupted:\n"
        ".cfi_startproc\n"
        ".cfi_undefined x30\n"
        "bl weft_record_asked\n"
        "mov x8, #139\n" /* rt_sigreturn */
        "svc #0\n"
        ".cfi_endproc\n"
        ".size weft_record_interrupted, . - weft_record_interrupted\n"
        ".popsection\n");
#endif

struct wanted {
    uint32_t word, recording;
};

/* What the word and weft_record_rec.recording must be. */
static struct wanted wanted(void)
{
    const struct weft_record_control *c = &weft_record_control;
    bool on = __atomic_load_n(&c->on, __ATOMIC_SEQ_CST);
    uint64_t number = __atomic_load_n(&c->request.number, __ATOMIC_SEQ_CST);
    /* An older answer only makes one more call look for a request. */
    bool asked = number && number != __atomic_load_n(&c->answer.number, __ATOMIC_RELAXED);
    return (struct wanted){
        .word = (on || asked || weft_record_follow_is_due() ? WEFT_RECORD_CALL_US : 0) |
                (__atomic_load_n(&c->standby, __ATOMIC_SEQ_CST) ? WEFT_RECORD_STANDBY : 0),
        .recording =
            (on ? weft_record_rec.generation : NO_RECORDING) | (asked ? WEFT_RECORD_RING << 24 : 0),
    };
}

/* Meanwhile another thread may want something else, or weft ctl may ask for something: then this repeats. */
static void restore_words(void)
{
    struct wanted w, now = wanted();
    do {
        w = now;
        __atomic_store_n(&weft_record_rec.recording, w.recording, __ATOMIC_SEQ_CST);
        __atomic_store_n(&weft_impl_state, w.word, __ATOMIC_SEQ_CST);
        if (weft_record_control.old_word)
            __atomic_store_n(weft_record_control.old_word, w.word, __ATOMIC_SEQ_CST);
        now = wanted();
    } while (now.word != w.word || now.recording != w.recording);
}

void weft_record_switch(bool on)
{
    __atomic_store_n(&weft_record_control.on, on, __ATOMIC_SEQ_CST);
    restore_words();
}

/* Two threads may do this at the same time: in the end, the facts say what is true. */
void weft_record_switch_over(bool on)
{
    /* What counts is the order of wanted(), which loads the new value, or a newer one, before it looks at the others. */
    const bool was = __atomic_exchange_n(&weft_record_control.on, on, __ATOMIC_RELAXED);
    restore_words();
    if (was == on || !__atomic_load_n(&weft_record_rec.open, __ATOMIC_RELAXED) ||
        !weft_record_is_ours())
        return;
    do {
        on = weft_record_is_on();
        weft_record_layout_switched(on);
    } while (weft_record_is_on() != on);
}

void weft_record_switch_standby(bool on)
{
    __atomic_store_n(&weft_record_control.standby, on, __ATOMIC_SEQ_CST);
    restore_words();
}

void weft_record_control_forked(void)
{
    weft_record_control.facts = NULL;
    weft_record_control.on = 0;
    weft_record_control.request.number = 0;
    restore_words();
}

static int obey(const struct weft_record_request *r)
{
    const struct weft_options o = {.size = sizeof o, .path = r->path, .bytes = r->bytes};
    switch (r->command) {
    case WEFT_RECORD_CTL_ON:
        if (!weft_record_rec.open || !weft_record_is_ours())
            return weft_record_start_locked(&o, true);
        weft_record_switch_over(true);
        return 0;
    case WEFT_RECORD_CTL_OFF:
        weft_record_switch_over(false);
        weft_record_others_ended(); /* when weft ctl gets its answer, nothing more is recorded */
        return 0;
    case WEFT_RECORD_CTL_STOP:
        weft_record_stop_locked();
        return 0;
    default:
        return -ENOSYS;
    }
}

/* weft ctl may store another request meanwhile; the checksum shows it. Sets number to 0 if the request is
 * damaged. */
static void copy_request(struct weft_record_request *r)
{
    for (int tries = 0; tries < 3; tries++) {
        memcpy(r, &weft_record_control.request, sizeof *r);
        r->path[sizeof r->path - 1] = 0;
        if (!r->number || r->check == weft_record_request_check(r))
            return;
        __atomic_signal_fence(__ATOMIC_SEQ_CST); /* so that the compiler copies it anew */
    }
    weft_record_control.request.number = r->number = 0;
}

/* Call with the lock held. */
static void serve(void)
{
    static struct weft_record_request r; /* not on the stack, which may be small */
    struct weft_record_control *c = &weft_record_control;
    if (weft_record_follow_is_due())
        weft_record_follow_begin();
    do {
        copy_request(&r);
        if (r.number && r.number != c->answer.number) {
            if (r.pid != (uint32_t)getpid())
                return; /* a child that shares or copied the memory: the request is the parent's */
            c->answer.seen_ns = clock_ns(CLOCK_MONOTONIC);
            c->answer.error = obey(&r);
            c->answer.done_ns = clock_ns(CLOCK_MONOTONIC);
            /* With its number, weft ctl sees the rest of the answer. */
            __atomic_store_n(&c->answer.number, r.number, __ATOMIC_RELEASE);
        }
        restore_words();
        /* An older number does no harm: restore_words has seen to it that the next call looks again. */
    } while (__atomic_load_n(&c->request.number, __ATOMIC_RELAXED) != r.number);
}

/* Returns true if there is nothing to do: no request of weft ctl, none of a forked child, and no late byte of
 * weft ctl. */
static bool is_settled(void)
{
    const struct weft_record_control *c = &weft_record_control;
    const uint64_t number = __atomic_load_n(&c->request.number, __ATOMIC_ACQUIRE);
    const uint32_t word = wanted().word;
    return __atomic_load_n(c->bell, __ATOMIC_RELAXED) != WEFT_RECORD_RING &&
           (!number || number == __atomic_load_n(&c->answer.number, __ATOMIC_RELAXED)) &&
           !weft_record_follow_is_due() &&
           __atomic_load_n(&weft_impl_state, __ATOMIC_RELAXED) == word &&
           (!c->old_word || __atomic_load_n(c->old_word, __ATOMIC_RELAXED) == word);
}

__attribute__((used)) void weft_record_asked(void)
{
    const int error = errno;
    const bool orphan =
        weft_record_is_orphan(); /* then the thread that held the lock does not exist here */
    if (!orphan && is_settled())
        return;
    if (!orphan && weft_record_is_locked()) {
        weft_record_follow_wait();
        return;
    }
    sigset_t all, before;
    sigfillset(&all); /* so that no signal handler leaves this function by longjmp */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (orphan)
        weft_record_threads_forked();
    if (weft_record_try_lock()) {
        serve();
        weft_record_unlock();
    } else {
        weft_record_follow_wait();
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
}

bool weft_record_is_on(void)
{
    return __atomic_load_n(&weft_record_control.on, __ATOMIC_ACQUIRE);
}
