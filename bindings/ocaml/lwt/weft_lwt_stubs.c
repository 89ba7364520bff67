/* SPDX-License-Identifier: ISC */
/* What an Lwt that instrument.ml has edited needs besides module Weft: names for promises.
 *
 * A promise is named after the function that continues with it, if Lwt was given one: a call of Lwt.bind is usually the
 * last thing that a function does, and then the caller is no longer on the stack. Otherwise it is named after the first
 * function on the stack that belongs to the program. Both come from the frame tables that ocamlopt -g leaves (OCaml's
 * runtime/backtrace_nat.c and caml/stack.h say how they are read), and for functions without any frame from the
 * program's symbols and lines. Each address is looked up once. In bytecode there are no such tables, and no names. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
#include <string.h>

#include <caml/backtrace_prim.h>
#include <caml/bigarray.h>
#include <caml/mlvalues.h>
#include <caml/stack.h>
#include <caml/version.h>
#if OCAML_VERSION_MAJOR >= 5
#include <caml/fiber.h>
#include <caml/frame_descriptors.h>
#endif

#include <weft/weft.h>

#include "weft_lwt_functions.h"

#if OCAML_VERSION_MAJOR > 5 || (OCAML_VERSION_MAJOR == 5 && OCAML_VERSION_MINOR >= 2)
#define LINE(where) (where).loc_start_lnum
#else
#define LINE(where) (where).loc_lnum
#endif

/* As in weft_lwt.ml. */
/* clang-format off */
static const char *const kinds[] = {
    "", "wait", "task", "bind", "map", "catch", "try", "choose", "pick", "join", "both", "all", "protected",
    "no_cancel", "async", "ignore_result", "on_success", "on_failure", "on_termination", "on_any", "pause",
    "sleep", "io", "job", "detach", "main", "mutex", "condition", "mvar", "pool", "stream"};
/* clang-format on */
enum { KINDS = sizeof kinds / sizeof *kinds, ONLY_OF_PROGRAM = 256 };

/* ---- Names ---- */

/* What is at a return address. */
enum whose { OF_NOBODY, OF_LWT, OF_LWT_CORE, OF_LOOP, OF_PROGRAM };

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
    const char *type;
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

/* For a function without a frame of its own. */
struct aside {
    bool is;                                /* only the module is known from a frame, */
    const struct weft_lwt_function *around; /* … by its symbol the name, or NULL */
    unsigned line;
};

static debuginfo function_info(uintnat start, struct aside *aside);

static char *aside_name(char *full, const struct weft_lwt_function *around)
{
    char function[256] = "", name[512];
    full[strcspn(full, ".")] = 0;
    if (around)
        weft_lwt_function_name(around, function, sizeof function);
    snprintf(name, sizeof name, "%s%s%s", full, around ? "." : "", function);
    free(full);
    return copy(name);
}

/* By info, or if that is NULL, as the function that begins at function. */
static void describe(struct place *p, debuginfo info, uintnat function)
{
    struct caml_loc_info where;
    struct aside aside = {0};
    p->whose = OF_NOBODY; /* skipped, like OCaml's own library */
    if (function)
        info = function_info(function, &aside);
    if (!info)
        return;
    caml_debuginfo_location(info, &where);
    if (!where.loc_valid || !where.loc_filename)
        return;
    const char *file = strrchr(where.loc_filename, '/');
    file = file ? file + 1 : where.loc_filename;
    const char *defined = where.loc_defname ? where.loc_defname : "";
    bool lwt = strncmp(file, "lwt", 3) == 0 &&
               (strstr(where.loc_filename, "src/core/") || strstr(where.loc_filename, "src/unix/"));
    if (strncmp(defined, "Stdlib", 6) == 0 || strncmp(defined, "CamlinternalLazy", 16) == 0 ||
        strcmp(file, "weft_lwt.ml") == 0 || strcmp(file, "mProf.ml") == 0)
        p->whose = OF_NOBODY;
    else if (lwt && (strcmp(file, "lwt_main.ml") == 0 || strcmp(file, "lwt_engine.ml") == 0 ||
                     strstr(defined, "run_callback") || strstr(defined, "resolution_loop")))
        p->whose = OF_LOOP; /* the calls after it have created nothing here */
    else if (lwt)
        p->whose = strcmp(file, "lwt.ml") == 0 ? OF_LWT_CORE : OF_LWT;
    else
        p->whose = OF_PROGRAM;
    p->name = function_name(defined);
    if (p->name && aside.is)
        p->name = aside_name(p->name, aside.around);
    if (function && p->whose != OF_PROGRAM)
        return;
    char at[256];
    snprintf(at, sizeof at, "%s:%d", file, aside.line ? (int)aside.line : LINE(where));
    p->at = copy(at);
}

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

/* What is known of address: by info, or of the function that begins at function. NULL: no memory. */
static struct place *place_at(uintnat address, debuginfo info, uintnat function)
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
    describe(p, info, function);
    known.slots[at] = p;
    known.count++;
    return p;
}

/* The same code is linked with native programs, where these tables exist, and with bytecode. */
#pragma weak caml_next_frame_descriptor
#pragma weak caml_frametable
#if OCAML_VERSION_MAJOR >= 5
#pragma weak caml_get_frame_descrs
#pragma weak caml_get_stack_sp_pc
extern intnat *caml_frametable[];
extern void caml_get_stack_sp_pc(struct stack_info *stack, char **sp, uintnat *pc);
#endif

/* ---- The functions of closures ---- */

/* All return addresses of the program, in order. */
static struct {
    frame_descr **frames;
    size_t count;
} code;

static frame_descr *frame_after(frame_descr *d)
{
    unsigned char *p = (unsigned char *)&d->live_ofs[d->num_live];
    uint16_t data;
    memcpy(&data, (char *)d + sizeof(uintnat), sizeof data);
    if (data != 0xFFFF) {
        unsigned allocations = 1;
        if (data & 2) {
            allocations = *p;
            p += 1 + allocations;
        }
        if (data & 1)
            p = (unsigned char *)Align_to(p, uint32_t) + sizeof(uint32_t) * allocations;
    }
    return Align_to(p, void *);
}

static int by_address(const void *a, const void *b)
{
    uintnat x = (*(frame_descr *const *)a)->retaddr, y = (*(frame_descr *const *)b)->retaddr;
    return (x > y) - (x < y);
}

static void read_frame_tables(void)
{
    size_t count = 0;
    for (int i = 0; caml_frametable[i]; i++)
        count += (size_t)*caml_frametable[i];
    frame_descr **frames = malloc((count + 1) * sizeof *frames);
    if (!frames)
        return;
    count = 0;
    for (int i = 0; caml_frametable[i]; i++) {
        frame_descr *d = (frame_descr *)(caml_frametable[i] + 1);
        for (intnat n = *caml_frametable[i]; n > 0; n--, d = frame_after(d))
            frames[count++] = d;
    }
    qsort(frames, count, sizeof *frames, by_address);
    code.frames = frames;
    code.count = count;
}

/* Where the code at a return address is: of what was inlined there, the function that it is in. */
static debuginfo info_at(size_t frame)
{
    debuginfo info = caml_debuginfo_extract(code.frames[frame]);
    for (debuginfo outer; info && (outer = caml_debuginfo_next(info));)
        info = outer;
    return info;
}

/* The first return address behind an address. */
static size_t frame_behind(uintnat address)
{
    size_t low = 0, high = code.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code.frames[middle]->retaddr > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* What the first call or allocation between two addresses says; NULL: there is none. */
static debuginfo info_between(uintnat start, uintnat end)
{
    debuginfo info = NULL;
    for (size_t i = frame_behind(start); !info && i < code.count && code.frames[i]->retaddr <= end;
         i++)
        info = info_at(i);
    return info;
}

static debuginfo info_of(const struct weft_lwt_function *f)
{
    return info_between(f->start, f->end);
}

/* Where a function is: as its first call or allocation says. One that has none, as it only goes on with another one, is found
 * by its symbol and its line, in the function around it. Without symbols, what is behind it is taken for a part of it. */
static debuginfo function_info(uintnat start, struct aside *aside)
{
    enum { NEAR = 512 };
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!caml_frametable || pthread_once(&once, read_frame_tables))
        return NULL;
    const struct weft_lwt_function *f = weft_lwt_function_at(start), *g = NULL;
    debuginfo info = f ? info_of(f) : info_between(start, start + NEAR);
    if (info || !f)
        return info;
    aside->line = f->line;
    aside->around = weft_lwt_function_has_name(f) ? f : weft_lwt_function_around(f);
    info = aside->around ? info_of(aside->around) : NULL;
    aside->is = !info;
    while (!info && (g = weft_lwt_function_beside(f, g)))
        info = info_of(g);
    return info;
}

/* The place of a function of the program: of this closure, or of one that it calls. */
static struct place *place_of(value closure, struct place **through, int depth)
{
    if (!Is_block(closure) || (Tag_val(closure) != Closure_tag && Tag_val(closure) != Infix_tag))
        return NULL;
    uintnat start = (uintnat)Field(closure, 0);
    value about = Field(closure, 1);
    if (Arity_closinfo(about) != 0 && Arity_closinfo(about) != 1 &&
        Tag_val(closure) == Closure_tag && Wosize_val(closure) > 2)
        start = (uintnat)Field(closure, 2);
    struct place *p = place_at(start | 1, NULL, start);
    if (!p || p->whose == OF_PROGRAM)
        return p;
    if (p->whose == OF_LWT)
        *through = p;
    if (depth == 0 || Tag_val(closure) != Closure_tag)
        return NULL;
    for (mlsize_t i = Start_env_closinfo(about); i < Wosize_val(closure); i++) {
        struct place *inner = place_of(Field(closure, i), through, depth - 1);
        if (inner)
            return inner;
    }
    return NULL;
}

/* ---- The stack ---- */

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
        for (debuginfo info = caml_debuginfo_extract(frame); info;
             info = caml_debuginfo_next(info)) {
            struct place *p = place_at((uintnat)info, info, 0);
            if (!p || p->whose == OF_LOOP)
                return;
            if (p->whose == OF_PROGRAM) {
                *user = p;
                return;
            }
            if (p->whose == OF_LWT)
                *through = p;
        }
    }
}

/* … also NULL if it must be a place in the program but is not. */
static struct site *site_of(unsigned kind, value closure, bool of_program)
{
    struct place *through = NULL;
    struct place *user = place_of(closure, &through, 2);
    if (!user) {
        struct place *of_closure = through;
        callers(&user, &through);
        if (!user && !through)
            through = of_closure;
    }
    if (of_program && !user)
        return NULL;
    struct place *at = user ? user : through;
    if (!at)
        at = place_at(1, NULL, 0); /* nowhere */
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
    s->type = kinds[kind];
    if (through && through->name && strstr(through->name, ".iter_s"))
        s->type = "iter_s"; /* continues with the next one, as requested */
    if (at->name) {
        char label[512];
        snprintf(label, sizeof label, "%s%s%s%s%s", through && through->name ? through->name : "",
                 through && through->name ? " " : "", at->name, *at->name && at->at ? " " : "",
                 at->at ? at->at : "");
        s->label = copy(label);
    }
    s->next = at->sites;
    at->sites = s;
    return s;
}

/* ---- Promises ---- */

/* closure: the function that continues with the promise, or any other value. */
intnat weft_lwt_create(intnat kind, value closure)
{
    const bool of_program = kind & ONLY_OF_PROGRAM;
    kind &= ~(intnat)ONLY_OF_PROGRAM;
    if (kind <= 0 || kind >= KINDS || !WEFT_IMPL_STATE())
        return 0;
    struct site *s = site_of((unsigned)kind, closure, of_program);
    if (!s && of_program)
        return 0;
    return s ? (intnat)weft_impl_create(&s->call, s->type, s->label)
             : (intnat)weft_create(kinds[kind], NULL);
}

value weft_lwt_create_byte(value kind, value closure)
{
    return Val_long(weft_lwt_create(Long_val(kind), closure));
}

/* The byte that says whether anything is recorded; OCaml reads it without a call. */
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
