/* SPDX-License-Identifier: ISC */
/* The calls of weft.h for OCaml. Each has one function for native code, which takes unboxed ids, and one for bytecode.
 * None of those that record an event allocates on OCaml's heap, raises, or lets another thread run, so they are
 * [@@noalloc].
 *
 * With -DWEFT_UNIKERNEL they need from the system only what OCaml's runtime needs, plus libweft-freestanding.a: see
 * docs/xen.md. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#ifndef WEFT_UNIKERNEL
#include <time.h>
#endif

#include <caml/alloc.h>
#include <caml/bigarray.h>
#include <caml/fail.h>
#include <caml/memory.h>
#include <caml/misc.h>
#include <caml/mlvalues.h>
#include <caml/sys.h>
#include <caml/version.h>

#include <weft/weft.h>

/* An id in OCaml's form. WEFT_LOOP is -1. Numbers are assigned in sequence, so they fit into an int of 63 bits; with 31
 * bits, promises beyond that range are untracked. */
static inline weft_promise id_of(intnat id)
{
    return (weft_promise)(int64_t)id;
}

static inline intnat of_id(weft_promise p)
{
    return p == WEFT_LOOP || p <= (weft_promise)Max_long ? (intnat)p : 0;
}

#define BYTE1(name)                                                                                \
    value name##_byte(value a);                                                                    \
    value name##_byte(value a)                                                                     \
    {                                                                                              \
        return name(Long_val(a));                                                                  \
    }
#define BYTE2(name)                                                                                \
    value name##_byte(value a, value b);                                                           \
    value name##_byte(value a, value b)                                                            \
    {                                                                                              \
        return name(Long_val(a), Long_val(b));                                                     \
    }

/* A string option. */
static inline const char *text_of(value option)
{
    return Is_block(option) ? String_val(Field(option, 0)) : NULL;
}

/* Data that lasts as long as the program, outside OCaml's heap: to OCaml its address is an int. */
static inline value of_lasting(const void *p)
{
    return (value)p | 1;
}

static inline void *lasting(value v)
{
    return (void *)(v & ~(value)1);
}

/* ---- Kinds: where promises are created ---- */

struct kind {
    struct kind *next;
    const char *type, *label;
    struct weft_site site;     /* with this label, or none: both always give the same site */
    struct weft_site labelled; /* with another label */
};

struct counter {
    struct counter *next;
    struct weft_counter counter;
};

static struct kind *kinds[256];
static struct counter *counters[256];

static size_t hash(size_t h, const char *text)
{
    for (; text && *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static char *copy(const char *text)
{
    return text ? caml_stat_strdup_noexc(text) : NULL;
}

/* Domains may request the same one at the same time: then there are two, which is harmless. */
static struct kind *kind_find(const char *type, const char *label, const char *file, uint32_t line)
{
    struct kind **head = &kinds[(hash(hash(hash(line, type), label), file)) % 256];
    struct kind *first = __atomic_load_n(head, __ATOMIC_ACQUIRE); /* with (A) */
    for (struct kind *k = first; k; k = k->next)
        if (same(k->type, type) && same(k->label, label) && same(k->site.file, file) &&
            k->site.line == line)
            return k;
    struct kind *k = caml_stat_calloc_noexc(1, sizeof *k);
    if (!k)
        return NULL;
    k->type = copy(type);
    k->label = copy(label);
    k->site = (struct weft_site){.file = copy(file), .line = line, .literal = 3};
    k->labelled = k->site;
    k->labelled.literal = 1;
    do
        k->next = first;
    while (!__atomic_compare_exchange_n(head, &first, k, true, __ATOMIC_RELEASE, /* (A) */
                                        __ATOMIC_RELAXED));
    return k;
}

value weft_ml_kind(value label, value file, value line, value type);
value weft_ml_kind(value label, value file, value line, value type)
{
    struct kind *k =
        kind_find(String_val(type), text_of(label), text_of(file), (uint32_t)Long_val(line));
    if (!k || !k->type)
        caml_raise_out_of_memory();
    return of_lasting(k);
}

/* ---- Creating ---- */

intnat weft_ml_create(value label, value kind);
intnat weft_ml_create(value label, value kind)
{
    if (__builtin_expect(WEFT_IMPL_STATE() == 0, 1))
        return 0;
    struct kind *k = lasting(kind);
    return of_id(Is_block(label)
                     ? weft_impl_create(&k->labelled, k->type, String_val(Field(label, 0)))
                     : weft_impl_create(&k->site, k->type, k->label));
}

value weft_ml_create_byte(value label, value kind);
value weft_ml_create_byte(value label, value kind)
{
    return Val_long(weft_ml_create(label, kind));
}

intnat weft_ml_create_from(value label, intnat parent, value kind);
intnat weft_ml_create_from(value label, intnat parent, value kind)
{
    if (__builtin_expect(WEFT_IMPL_STATE() == 0, 1))
        return 0;
    struct kind *k = lasting(kind);
    return of_id(Is_block(label)
                     ? weft_impl_create_from(&k->labelled, id_of(parent), k->type,
                                             String_val(Field(label, 0)))
                     : weft_impl_create_from(&k->site, id_of(parent), k->type, k->label));
}

value weft_ml_create_from_byte(value label, value parent, value kind);
value weft_ml_create_from_byte(value label, value parent, value kind)
{
    return Val_long(weft_ml_create_from(label, Long_val(parent), kind));
}

intnat weft_ml_create_id(value label, intnat parent, intnat id, value kind);
intnat weft_ml_create_id(value label, intnat parent, intnat id, value kind)
{
    if (__builtin_expect(WEFT_IMPL_STATE() == 0, 1))
        return 0;
    struct kind *k = lasting(kind);
    return of_id(Is_block(label)
                     ? weft_impl_create_id(&k->labelled, id_of(parent), id_of(id), k->type,
                                           String_val(Field(label, 0)))
                     : weft_impl_create_id(&k->site, id_of(parent), id_of(id), k->type, k->label));
}

value weft_ml_create_id_byte(value label, value parent, value id, value kind);
value weft_ml_create_id_byte(value label, value parent, value id, value kind)
{
    return Val_long(weft_ml_create_id(label, Long_val(parent), Long_val(id), kind));
}

/* ---- What runs ---- */

intnat weft_ml_run(intnat p);
intnat weft_ml_run(intnat p)
{
    return of_id(weft_run(id_of(p)));
}

value weft_ml_run_byte(value p);
value weft_ml_run_byte(value p)
{
    return Val_long(weft_ml_run(Long_val(p)));
}

/* Running an untracked promise does nothing, but returns what runs. */
intnat weft_ml_running(value unit);
intnat weft_ml_running(value unit)
{
    (void)unit;
    return of_id(weft_run(0));
}

value weft_ml_running_byte(value unit);
value weft_ml_running_byte(value unit)
{
    return Val_long(weft_ml_running(unit));
}

#define EVENT1(call)                                                                               \
    value weft_ml_##call(intnat p);                                                                \
    value weft_ml_##call(intnat p)                                                                 \
    {                                                                                              \
        weft_##call(id_of(p));                                                                     \
        return Val_unit;                                                                           \
    }                                                                                              \
    BYTE1(weft_ml_##call)
#define EVENT2(call)                                                                               \
    value weft_ml_##call(intnat a, intnat b);                                                      \
    value weft_ml_##call(intnat a, intnat b)                                                       \
    {                                                                                              \
        weft_##call(id_of(a), id_of(b));                                                           \
        return Val_unit;                                                                           \
    }                                                                                              \
    BYTE2(weft_ml_##call)

EVENT2(wake)
EVENT2(signal)
EVENT1(wait)
EVENT2(wait_by)
EVENT2(read)
EVENT1(fulfill)
EVENT1(resolve)
EVENT1(cancel)
EVENT1(forget)
EVENT2(become)
EVENT1(notify)
EVENT2(notify_by)
EVENT1(acquire)
EVENT2(acquire_by)
EVENT1(release)
EVENT2(release_by)
EVENT1(should_resolve)
EVENT1(background)

value weft_ml_suspend(value why);
value weft_ml_suspend(value why)
{
    weft_suspend((enum weft_reason)Int_val(why));
    return Val_unit;
}

value weft_ml_resume(value unit);
value weft_ml_resume(value unit)
{
    (void)unit;
    weft_resume();
    return Val_unit;
}

value weft_ml_gc(intnat duration_ns);
value weft_ml_gc(intnat duration_ns)
{
    weft_gc(duration_ns > 0 ? (uint64_t)duration_ns : 0);
    return Val_unit;
}
BYTE1(weft_ml_gc)

/* ---- Collections ----
 *
 * The runtime calls these hooks on the thread that collects. A collection ends on the thread that began it, and a
 * recording may begin or end in the meantime. */

enum { LEAST_NS = 1000 }; /* most slices find nothing to do */

static caml_timing_hook minor_begins, minor_ends, slice_begins, slice_ends;
#if OCAML_VERSION_MAJOR >= 5
#define OF_DOMAIN __thread
#else
#define OF_DOMAIN /* one thread at a time has the runtime */
#endif
static OF_DOMAIN uint64_t collecting_since_ns;
static OF_DOMAIN unsigned collecting; /* how deep */

#ifdef WEFT_UNIKERNEL
uint64_t weft_ocaml_clock(void); /* the kernel's: nanoseconds that rise */
#define now_ns weft_ocaml_clock
#else
static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
#endif

static void begins(caml_timing_hook other)
{
    if (other)
        other();
    if (collecting++ == 0)
        collecting_since_ns = WEFT_IMPL_ON() ? now_ns() : 0;
}

static void ends(caml_timing_hook other)
{
    if (--collecting == 0 && collecting_since_ns && WEFT_IMPL_ON()) {
        const uint64_t took_ns = now_ns() - collecting_since_ns;
        if (took_ns >= LEAST_NS)
            weft_gc(took_ns);
    }
    if (other)
        other();
}

static void minor_begin(void)
{
    begins(minor_begins);
}

static void minor_end(void)
{
    ends(minor_ends);
}

static void slice_begin(void)
{
    begins(slice_begins);
}

static void slice_end(void)
{
    ends(slice_ends);
}

/* Other code that reports collections to weft, such as an Lwt edited for weft, has this flag, too; whichever sets it
 * first does the reporting. */
extern int weft_ocaml_collections;
__attribute__((weak)) int weft_ocaml_collections;

value weft_ml_collections(value unit);
value weft_ml_collections(value unit)
{
    (void)unit;
    if (weft_ocaml_collections)
        return Val_unit;
    weft_ocaml_collections = 1;
    minor_begins = caml_minor_gc_begin_hook;
    minor_ends = caml_minor_gc_end_hook;
    slice_begins = caml_major_slice_begin_hook;
    slice_ends = caml_major_slice_end_hook;
    caml_minor_gc_begin_hook = minor_begin;
    caml_minor_gc_end_hook = minor_end;
    caml_major_slice_begin_hook = slice_begin;
    caml_major_slice_end_hook = slice_end;
    return Val_unit;
}

/* ---- Texts ---- */

value weft_ml_label(intnat p, value text);
value weft_ml_label(intnat p, value text)
{
    weft_label(id_of(p), String_val(text));
    return Val_unit;
}

value weft_ml_label_byte(value p, value text);
value weft_ml_label_byte(value p, value text)
{
    return weft_ml_label(Long_val(p), text);
}

#define HEADER(call)                                                                               \
    value weft_ml_##call(intnat p, value header);                                                  \
    value weft_ml_##call(intnat p, value header)                                                   \
    {                                                                                              \
        weft_##call(id_of(p), String_val(header));                                                 \
        return Val_unit;                                                                           \
    }                                                                                              \
                                                                                                   \
    value weft_ml_##call##_byte(value p, value header);                                            \
    value weft_ml_##call##_byte(value p, value header)                                             \
    {                                                                                              \
        return weft_ml_##call(Long_val(p), header);                                                \
    }

HEADER(traceparent_sent)
HEADER(traceparent_received)

value weft_ml_snapshot(value reason);
value weft_ml_snapshot(value reason)
{
    weft_snapshot(String_val(reason));
    return Val_unit;
}

value weft_ml_fail(value reason, intnat p);
value weft_ml_fail(value reason, intnat p)
{
    weft_fail(id_of(p), text_of(reason));
    return Val_unit;
}

value weft_ml_fail_byte(value reason, value p);
value weft_ml_fail_byte(value reason, value p)
{
    return weft_ml_fail(reason, Long_val(p));
}

value weft_ml_resolve_by(value reason, intnat resolver, intnat p, value ending);
value weft_ml_resolve_by(value reason, intnat resolver, intnat p, value ending)
{
    weft_resolve_by(id_of(resolver), id_of(p), (enum weft_ending)Int_val(ending), text_of(reason));
    return Val_unit;
}

value weft_ml_resolve_by_byte(value reason, value resolver, value p, value ending);
value weft_ml_resolve_by_byte(value reason, value resolver, value p, value ending)
{
    return weft_ml_resolve_by(reason, Long_val(resolver), Long_val(p), ending);
}

/* ---- Counters ---- */

value weft_ml_counter(value name);
value weft_ml_counter(value name)
{
    const char *text = String_val(name);
    struct counter **head = &counters[hash(0, text) % 256];
    struct counter *first = __atomic_load_n(head, __ATOMIC_ACQUIRE); /* with (B) */
    for (;;) {
        for (struct counter *c = first; c; c = c->next)
            if (same(c->counter.name, text))
                return of_lasting(&c->counter);
        struct counter *c = caml_stat_calloc_noexc(1, sizeof *c);
        if (!c || !(c->counter.name = copy(text))) {
            caml_stat_free(c);
            caml_raise_out_of_memory();
        }
        c->next = first;
        if (__atomic_compare_exchange_n(head, &first, c, false, __ATOMIC_RELEASE, /* (B) */
                                        __ATOMIC_ACQUIRE))
            return of_lasting(&c->counter);
        caml_stat_free((void *)c->counter.name); /* another thread was faster */
        caml_stat_free(c);
    }
}

value weft_ml_counter_add(value counter, intnat amount);
value weft_ml_counter_add(value counter, intnat amount)
{
    weft_counter_add(lasting(counter), amount);
    return Val_unit;
}

value weft_ml_counter_add_byte(value counter, value amount);
value weft_ml_counter_add_byte(value counter, value amount)
{
    return weft_ml_counter_add(counter, Long_val(amount));
}

value weft_ml_counter_set(value counter, intnat n);
value weft_ml_counter_set(value counter, intnat n)
{
    weft_counter_set(lasting(counter), n);
    return Val_unit;
}

value weft_ml_counter_set_byte(value counter, value n);
value weft_ml_counter_set_byte(value counter, value n)
{
    return weft_ml_counter_set(counter, Long_val(n));
}

/* ---- Recording ---- */

value weft_ml_recording(value unit);
value weft_ml_recording(value unit)
{
    (void)unit;
    return Val_bool(WEFT_IMPL_ON());
}

/* memory: a bigarray option, which the caller keeps until weft_stop. */
value weft_ml_start(value path, value memory, value bytes, value pending_bytes, value flags);
value weft_ml_start(value path, value memory, value bytes, value pending_bytes, value flags)
{
    CAMLparam2(path, memory);
    struct weft_options o = {
        .size = sizeof o,
        .path = text_of(path),
        .bytes = Long_val(bytes) > 0 ? (uint64_t)Long_val(bytes) : 0,
        .pending_bytes = Long_val(pending_bytes) > 0 ? (uint64_t)Long_val(pending_bytes) : 0,
        .flags = (unsigned)Long_val(flags),
#ifdef WEFT_UNIKERNEL
        .clock = weft_ocaml_clock,
#endif
    };
    if (Is_block(memory)) {
        value array = Field(memory, 0);
        o.memory = Caml_ba_data_val(array);
        o.bytes = caml_ba_byte_size(Caml_ba_array_val(array));
    } else if (!o.path) {
        o.path = "weft-%p.trace";
    }
    const int error = weft_start(&o);
    if (error) {
        errno = -error;
        caml_sys_error(caml_copy_string(o.path ? o.path : "Weft.start_in"));
    }
    CAMLreturn(Val_unit);
}

#define SWITCH(call)                                                                               \
    value weft_ml_##call(value unit);                                                              \
    value weft_ml_##call(value unit)                                                               \
    {                                                                                              \
        (void)unit;                                                                                \
        weft_##call();                                                                             \
        return Val_unit;                                                                           \
    }

SWITCH(stop)
SWITCH(pause)
SWITCH(unpause)

value weft_ml_standby(value on);
value weft_ml_standby(value on)
{
    weft_standby(Bool_val(on));
    return Val_unit;
}
