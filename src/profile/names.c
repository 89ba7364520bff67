/* SPDX-License-Identifier: ISC */
#include "profile/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/strings.h"
#include "profile/build.h"
#include "profile/frames.h"

static uint32_t add_sized(struct profile_names *n, const char *text, uint32_t size)
{
    uint32_t number = weft_strings_add(n->p->strings, text, size);
    n->failed |= number == WEFT_NONE;
    return number;
}

static uint32_t add(struct profile_names *n, const char *text)
{
    return add_sized(n, text, (uint32_t)strlen(text));
}

static const char *const gap_names[WEFT_GAPS] = {
    [WEFT_GAP_NONE] = "(no promise)",
    [WEFT_GAP_OVERWRITTEN] = "(events overwritten)",
    [WEFT_GAP_OUTSIDE] = "(events not recorded)",
};

bool weft_frame_is_gap(const struct weft_profile *p, const struct weft_named_frame *f)
{
    bool of_promise = f->kind == WEFT_FRAME_PROMISE || f->kind == WEFT_FRAME_LABEL;
    for (unsigned i = 0; of_promise && i < WEFT_GAPS; i++)
        if (strcmp(weft_profile_text(p, f->text), gap_names[i]) == 0)
            return true;
    return false;
}

bool profile_names_init(struct profile_names *n, struct weft_profile *p)
{
    *n = (struct profile_names){.p = p};
    n->address = weft_new_none((uint64_t)p->locations + 1, sizeof *n->address);
    n->text_of = weft_new_none(UINT64_C(1) + (p->model ? weft_strings_count(p->model->strings) : 0),
                               sizeof *n->text_of);
    for (unsigned i = 0; i < WEFT_GAPS; i++)
        n->gap[i] = add(n, gap_names[i]);
    n->no_stack = add(n, "(no stack)");
    n->waiting = add(n, "(waiting)");
    n->preempted = add(n, "(preempted)");
    return n->address && n->text_of && !n->failed;
}

void profile_names_fini(struct profile_names *n)
{
    free(n->address);
    free(n->text_of);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

uint32_t profile_name_address(struct profile_names *n, uint32_t location)
{
    const struct weft_profile *p = n->p;
    const struct weft_location *l = &p->location[location];
    uint32_t *known = &n->address[location];
    char text[320];
    if (*known != WEFT_NONE)
        return *known;
    const char *path =
        l->mapping == WEFT_NONE ? "" : weft_profile_text(p, p->mapping[l->mapping].path);
    uint64_t address = weft_profile_symbol_offset(p, location);
    if (path[0])
        snprintf(text, sizeof text, "0x%" PRIx64 " (%.255s)", address, last_part(path));
    else
        snprintf(text, sizeof text, "0x%" PRIx64 "%s", address, l->kernel ? " (kernel)" : "");
    return *known = add(n, text);
}

uint32_t profile_name_promise(struct profile_names *n, uint32_t whose)
{
    const struct weft_model *m = n->p->model;
    if (profile_is_gap(whose))
        return n->gap[WEFT_NONE - whose];
    uint32_t text = weft_model_name(m, whose), size;
    if (text == WEFT_NONE)
        text = m->promise[whose].type;
    uint32_t *known = &n->text_of[text];
    if (*known == WEFT_NONE) {
        const char *bytes = weft_model_text(m, text, &size);
        *known = add_sized(n, bytes, size);
    }
    return *known;
}

uint32_t profile_name_family(struct profile_names *n, uint32_t whose)
{
    return n->family && !profile_is_gap(whose) ? n->family[whose] : profile_name_promise(n, whose);
}

uint32_t profile_name_line(struct profile_names *n, uint32_t file, uint32_t line)
{
    char text[512];
    snprintf(text, sizeof text, "%.495s:%" PRIu32, weft_profile_text(n->p, file), line);
    return add(n, text);
}

uint32_t profile_name_thread(struct profile_names *n, uint32_t thread)
{
    const struct weft_thread *t = &n->p->thread[thread];
    const char *name = weft_profile_text(n->p, t->name);
    char text[96];
    if (t->thread == UINT32_MAX)
        snprintf(text, sizeof text, "%.63s", name[0] ? name : "(thread not known)");
    else
        snprintf(text, sizeof text, "%.63s%s%" PRIu32, name, name[0] ? " " : "thread ", t->thread);
    return add(n, text);
}

uint32_t profile_name_core(struct profile_names *n, uint32_t core)
{
    char text[32];
    if (core == UINT32_MAX)
        return add(n, "(core not known)");
    snprintf(text, sizeof text, "core %" PRIu32, core);
    return add(n, text);
}

uint32_t profile_name_object(struct profile_names *n, uint32_t stack)
{
    const struct weft_profile *p = n->p;
    if (stack == 0)
        return n->no_stack;
    const struct weft_location *l = &p->location[p->stack[stack].location];
    if (l->mapping != WEFT_NONE)
        return p->mapping[l->mapping].path;
    return add(n, l->kernel ? "[kernel]" : "(file not known)");
}

uint32_t profile_name_process(struct profile_names *n, uint32_t thread)
{
    const struct weft_thread *t = &n->p->thread[thread];
    const char *name = weft_profile_text(n->p, t->name);
    char text[96];
    if (t->process == UINT32_MAX)
        return add(n, "(process not known)");
    snprintf(text, sizeof text, "%.63s%s%" PRIu32, name, name[0] ? " " : "process ", t->process);
    return add(n, text);
}
