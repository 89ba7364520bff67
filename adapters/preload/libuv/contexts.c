/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "libuv.h"

UV(uv_err_name_r);

/* ---- Cells ---- */

/* The first free cell, in the lower 48 bits; above them, how often this has changed: so nobody takes a cell that has been
 * taken and given back in the meantime. */
static uint64_t first_free;

struct cell {
    struct cell *next;
};

static const unsigned tag_shift = 48;

static struct cell *cell_of(uint64_t word)
{
    return (struct cell *)(uintptr_t)(word & ((UINT64_C(1) << tag_shift) - 1));
}

static uint64_t word_of(const struct cell *c, uint64_t before)
{
    return (uint64_t)(uintptr_t)c | ((before >> tag_shift) + 1) << tag_shift;
}

/* Puts a chain of cells in front of the others. */
static void put_back(struct cell *first, struct cell *last)
{
    uint64_t before = __atomic_load_n(&first_free, __ATOMIC_RELAXED);
    do
        __atomic_store_n(&last->next, cell_of(before), __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&first_free, &before, word_of(first, before), true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static bool map_more(void)
{
    enum { CELLS = 512 };
    const int error = errno;
    char *block =
        mmap(NULL, CELLS * UV_CELL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = error;
    if (block == MAP_FAILED || (uint64_t)(uintptr_t)block >> tag_shift)
        return false;
    for (int i = 0; i + 1 < CELLS; i++)
        ((struct cell *)(void *)(block + i * UV_CELL))->next =
            (struct cell *)(void *)(block + (i + 1) * UV_CELL);
    put_back((struct cell *)(void *)block, (struct cell *)(void *)(block + (CELLS - 1) * UV_CELL));
    return true;
}

void *uv_adapter_new(void)
{
    uint64_t before = __atomic_load_n(&first_free, __ATOMIC_ACQUIRE);
    struct cell *c;
    do {
        while (!(c = cell_of(before))) {
            if (!map_more())
                return NULL;
            before = __atomic_load_n(&first_free, __ATOMIC_ACQUIRE);
        }
    } while (!__atomic_compare_exchange_n(
        &first_free, &before, word_of(__atomic_load_n(&c->next, __ATOMIC_RELAXED), before), true,
        __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
    memset(c, 0, UV_CELL);
    return c;
}

void uv_adapter_free(void *cell)
{
    if (cell)
        put_back(cell, cell);
}

/* ---- Forks ---- */

uint32_t uv_adapter_era;

static __thread struct frame *top __attribute__((tls_model("initial-exec")));

static void forked(void)
{
    uv_adapter_era++;
}

ADAPTER_IN_CHILD(forked)

/* ---- Contexts ---- */

weft_promise context_promise(const struct context *c)
{
    return c && c->era == uv_adapter_era ? c->promise : 0;
}

struct context *context_hold(struct context *c)
{
    if (c)
        __atomic_add_fetch(&c->references, 1, __ATOMIC_RELAXED);
    return c;
}

void context_release(struct context *c)
{
    if (!c || __atomic_sub_fetch(&c->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    weft_fulfill(context_promise(c));
    uv_adapter_free(c);
}

/* With one reference. */
static struct context *new_context(weft_promise parent, const void *code, const char *type,
                                   const char *detail)
{
    struct context *c = uv_adapter_new();
    if (!c)
        return NULL;
    c->promise = parent ? adapter_create_from(parent, code, type, detail)
                        : adapter_create(code, type, detail);
    c->references = 1;
    c->era = uv_adapter_era;
    return c;
}

/* ---- Callbacks ---- */

void uv_adapter_resolve(weft_promise p, int status)
{
    char name[64];
    if (!p)
        return;
    if (status == UV_ECANCELED)
        weft_cancel(p);
    else if (status < 0 && status != UV_EOF)
        weft_fail(p, REAL(uv_err_name_r)(status, name, sizeof name));
    else
        weft_fulfill(p);
}

void uv_adapter_at_once(weft_promise p, int status)
{
    const weft_promise before = weft_run(p);
    uv_adapter_resolve(p, status);
    weft_wake(before, p);
}

static void resolve(const struct frame *f)
{
    if (f->resolved)
        return;
    if (f->reason)
        weft_fail(f->promise, f->reason);
    else
        uv_adapter_resolve(f->promise, f->status);
}

/* What the callback is about makes its context go on. */
static void go_on(struct frame *f)
{
    const weft_promise reader = context_promise(f->context);
    if (f->request) {
        resolve(f);
        weft_wake(reader, f->promise);
        f->promise = 0;
    } else if (f->promise) {
        weft_signal(reader, f->promise);
    } else {
        weft_run(reader);
    }
}

/* A callback that was left by longjmp has not been removed; but it is beyond the end of the stack then. */
struct frame *frame_top(void)
{
    while (top && (uintptr_t)top < (uintptr_t)__builtin_frame_address(0))
        top = top->outer;
    return top;
}

static void push(struct frame *f)
{
    f->outer = frame_top();
    f->era = uv_adapter_era;
    top = f;
    f->depth = adapter_out();
}

void frame_begin(struct frame *f, struct context *c)
{
    f->context = context_promise(c) ? context_hold(c) : NULL;
    if (!f->context && f->promise && f->request &&
        (f->reason || f->status < 0)) /* it looks at the failure */
        f->context = new_context(f->promise, f->code, "callback", NULL);
    if (f->context)
        go_on(f);
    else if (f->promise)
        weft_run(f->promise);
    push(f);
}

void frame_begin_new(struct frame *f, const char *type, const char *detail)
{
    f->context = new_context(f->promise, f->code, type, detail);
    if (f->context)
        go_on(f);
    push(f);
}

void frame_end(struct frame *f)
{
    adapter_back(f->depth);
    top = f->outer;
    if (f->era != uv_adapter_era)
        return; /* the child of a fork: what runs is its own business */
    context_release(f->context);
    weft_run(WEFT_LOOP);
    if (f->ends)
        resolve(f);
}

struct context *frame_context(void)
{
    struct frame *f = frame_top();
    if (f && !f->context && f->era == uv_adapter_era) {
        f->context = new_context(f->promise, f->code, "callback", NULL);
        if (f->context)
            go_on(f);
    }
    return f && context_promise(f->context) ? f->context : NULL;
}

/* What runs, as far as it is known here. */
static weft_promise running(const struct frame *f)
{
    if (!f || f->era != uv_adapter_era)
        return 0;
    return f->context ? context_promise(f->context) : f->promise;
}

struct visit frame_visit(struct context *c)
{
    const struct frame *f = frame_top();
    const weft_promise promise = context_promise(c);
    struct visit v = {running(f), promise && !(f && f->context == c)};
    if (v.moved && v.before)
        weft_signal(promise, v.before);
    else if (v.moved)
        v.before = weft_run(promise);
    return v;
}

void frame_return(struct visit v)
{
    if (v.moved)
        weft_run(v.before);
}
