/* SPDX-License-Identifier: ISC */
/* What Lwt, edited by instrument.ml, needs besides module Weft.
 *
 * A promise is named after the place that made it: the first function on the stack that is not Lwt's own, with
 * file and line, from the frame tables that ocamlopt -g leaves (OCaml's runtime/backtrace_nat.c says how they are
 * read). Each return address is looked up once. In bytecode there are no such tables, and no names. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <caml/backtrace_prim.h>
#include <caml/bigarray.h>
#include <caml/misc.h>
#include <caml/mlvalues.h>
#include <caml/stack.h>
#include <caml/version.h>
#if OCAML_VERSION_MAJOR >= 5
#include <caml/fiber.h>
#include <caml/frame_descriptors.h>
#endif

#include <weft/weft.h>

/* As in weft_lwt.ml. */
static const char *const kinds[] = {
    "",           "wait",       "task",           "bind",          "map",       "catch",
    "try",        "choose",     "pick",           "join",          "both",      "all",
    "protected",  "no_cancel",  "async",          "ignore_result", "on_success", "on_failure",
    "on_termination", "on_any", "pause",          "sleep",         "io",        "job",
    "detach",     "main",       "mutex",          "condition",     "mvar",      "pool",
    "stream",     "semaphore",  "yield"};
enum { KINDS = sizeof kinds / sizeof *kinds, MAIN_KIND = 25 };

/* ---- Names ---- */

/* What is at a return address. */
enum whose { OF_LWT = 1, OF_LWT_CORE, OF_MAIN_LOOP, OF_PROGRAM };

struct place {
    uintnat address; /* 0: free */
    enum whose whose;
    char *name; /* "Server.handle" */
    char *at;   /* "server.ml:42" */
    struct site *sites;
};

/* What is created there. */
struct site {
    struct site *next;
    const struct place *through; /* function of Lwt that was called there; NULL: Lwt's core */
    unsigned kind;
    struct weft_site call;
    char *label;
};

struct places {
    struct place **slots;
    size_t room, count;
};

static _Thread_local struct places known;

static char *copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char *p = malloc(size);
    return p ? memcpy(p, text, size) : NULL;
}

/* "Dune__exe__Server.handle.(fun)" is Server.handle. */
static char *function_name(const char *full)
{
    for (const char *p; (p = strstr(full, "__"));)
        full = p + 2;
    char *name = copy(full);
    char *end = name ? strstr(name, ".(fun") : NULL;
    if (end)
        *end = 0;
    return name;
}

static void describe(struct place *p, debuginfo info)
{
    struct caml_loc_info where;
    p->whose = OF_LWT; /* what has no debugging information is passed over */
    if (!info)
        return;
    caml_debuginfo_location(info, &where);
    if (!where.loc_valid || !where.loc_filename)
        return;
    const char *file = strrchr(where.loc_filename, '/');
    file = file ? file + 1 : where.loc_filename;
    const char *defined = where.loc_defname ? where.loc_defname : "";
    if (strcmp(file, "lwt.ml") == 0 || strcmp(file, "weft_lwt.ml") == 0)
        p->whose = OF_LWT_CORE;
    else if (strcmp(file, "lwt_main.ml") == 0)
        p->whose = OF_MAIN_LOOP;
    else if (strncmp(file, "lwt_", 4) == 0 && (strstr(where.loc_filename, "src/core/") ||
                                               strstr(where.loc_filename, "src/unix/")))
        p->whose = OF_LWT;
    else
        p->whose = OF_PROGRAM;
    p->name = function_name(defined);
    char at[256];
    snprintf(at, sizeof at, "%s:%d", file, where.loc_lnum);
    p->at = copy(at);
}

static struct place *place_at(uintnat address, debuginfo info);

static void grow(void)
{
    size_t room = known.room ? known.room * 2 : 256;
    struct place **slots = calloc(room, sizeof *slots);
    if (!slots)
        return;
    for (size_t i = 0; i < known.room; i++) {
        if (!known.slots[i])
            continue;
        size_t at = (known.slots[i]->address >> 2) & (room - 1);
        while (slots[at])
            at = (at + 1) & (room - 1);
        slots[at] = known.slots[i];
    }
    free(known.slots);
    known.slots = slots;
    known.room = room;
}

/* NULL: no memory. */
static struct place *place_at(uintnat address, debuginfo info)
{
    if (known.count * 2 >= known.room)
        grow();
    if (known.count >= known.room)
        return NULL;
    size_t at = (address >> 2) & (known.room - 1);
    for (; known.slots[at]; at = (at + 1) & (known.room - 1))
        if (known.slots[at]->address == address)
            return known.slots[at];
    struct place *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->address = address;
    describe(p, info);
    known.slots[at] = p;
    known.count++;
    return p;
}

/* One and the same code is called from OCaml's native code, where these exist, and from bytecode. */
#if OCAML_VERSION_MAJOR >= 5
#pragma weak caml_next_frame_descriptor
#pragma weak caml_get_frame_descrs
#else
#pragma weak caml_next_frame_descriptor
#endif

/* Calls of the stack that lead here, innermost first, until one of the program is found: *user, or NULL;
 * *through is the last one before, if it lies in Lwt but not in its core. */
static void callers(struct place **user, struct place **through)
{
    enum { DEPTH = 64 };
    *user = *through = NULL;
    if (!caml_next_frame_descriptor)
        return;
#if OCAML_VERSION_MAJOR >= 5
    struct stack_info *stack = Caml_state->current_stack;
    char *sp;
    uintnat pc;
    caml_get_stack_sp_pc(stack, &sp, &pc);
    caml_frame_descrs *tables = caml_get_frame_descrs();
#else
    uintnat pc = Caml_state->last_return_address;
    char *sp = Caml_state->bottom_of_stack;
#endif
    for (int i = 0; i < DEPTH; i++) {
#if OCAML_VERSION_MAJOR >= 5
        frame_descr *frame = caml_next_frame_descriptor(tables, &pc, &sp, stack);
#else
        frame_descr *frame = caml_next_frame_descriptor(&pc, &sp);
#endif
        if (!frame)
            return;
        /* Functions that were inlined here come first. */
        for (debuginfo info = caml_debuginfo_extract(frame); info; info = caml_debuginfo_next(info)) {
            struct place *p = place_at((uintnat)info, info);
            if (!p || p->whose == OF_MAIN_LOOP)
                return;
            if (p->whose == OF_PROGRAM) {
                *user = p;
                return;
            }
            *through = p->whose == OF_LWT ? p : NULL;
        }
    }
}

static struct site *site_of(unsigned kind)
{
    struct place *user, *through;
    callers(&user, &through);
    struct place *at = user ? user : through;
    if (!at)
        at = place_at(1, NULL); /* nowhere */
    if (!at)
        return NULL;
    if (at == through)
        through = NULL;
    for (struct site *s = at->sites; s; s = s->next)
        if (s->kind == kind && s->through == through)
            return s;
    struct site *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->kind = kind;
    s->through = through;
    s->call.literal = 3; /* type and label stay where they are */
    if (at->name) {
        char label[512];
        snprintf(label, sizeof label, "%s%s%s%s%s", through && through->name ? through->name : "",
                 through && through->name ? " " : "", at->name, *at->name ? " " : "",
                 at->at ? at->at : "");
        s->label = copy(label);
    }
    s->next = at->sites;
    at->sites = s;
    return s;
}

/* ---- Promises ---- */

intnat weft_lwt_create(intnat kind)
{
    if (kind <= 0 || kind >= KINDS || !WEFT_IMPL_STATE())
        return 0;
    struct site *s = site_of((unsigned)kind);
    return s ? (intnat)weft_impl_create(&s->call, kinds[kind], s->label)
             : (intnat)weft_create(kinds[kind], NULL);
}

value weft_lwt_create_byte(value kind)
{
    return Val_long(weft_lwt_create(Long_val(kind)));
}

/* The byte that tells whether anything is recorded, for OCaml to look at without a call. */
value weft_lwt_flag(value unit)
{
    (void)unit;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    unsigned char *flag = (unsigned char *)&weft_impl_state + sizeof weft_impl_state - 1;
#else
    unsigned char *flag = (unsigned char *)&weft_impl_state;
#endif
    return caml_ba_alloc_dims(CAML_BA_UINT8 | CAML_BA_C_LAYOUT | CAML_BA_EXTERNAL, 1, flag,
                              (intnat)1);
}

/* ---- Collections ---- */

static caml_timing_hook minor_begins, minor_ends, slice_begins, slice_ends;
static _Thread_local uint64_t collecting_since;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void collection_begins(caml_timing_hook next)
{
    collecting_since = WEFT_IMPL_ON() ? now_ns() : 0;
    if (next)
        next();
}

static void collection_ends(caml_timing_hook next)
{
    if (collecting_since && WEFT_IMPL_ON())
        weft_gc(now_ns() - collecting_since);
    collecting_since = 0;
    if (next)
        next();
}

static void minor_begin(void)
{
    collection_begins(minor_begins);
}

static void minor_end(void)
{
    collection_ends(minor_ends);
}

static void slice_begin(void)
{
    collection_begins(slice_begins);
}

static void slice_end(void)
{
    collection_ends(slice_ends);
}

value weft_lwt_collections(value unit)
{
    minor_begins = caml_minor_gc_begin_hook;
    minor_ends = caml_minor_gc_end_hook;
    slice_begins = caml_major_slice_begin_hook;
    slice_ends = caml_major_slice_end_hook;
    caml_minor_gc_begin_hook = minor_begin;
    caml_minor_gc_end_hook = minor_end;
    caml_major_slice_begin_hook = slice_begin;
    caml_major_slice_end_hook = slice_end;
    return unit;
}
