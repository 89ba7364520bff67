/* SPDX-License-Identifier: ISC */
/* Where threads waited. What the kernel does to put a thread to sleep is always the same, so a place is the innermost
 * frame outside the kernel, with all its callers. Nameless functions called by a named function of the same file are
 * skipped, too: the C library enters the kernel through them, whatever it waits for. */
#include <stdlib.h>
#include <string.h>

#include "cli/profile/profile.h"
#include "base/array.h"
#include "base/order.h"
#include "model/strings.h"

/* If a call is at several locations, it does not say which. But the names of the kernel's functions are known, and what
 * the kernel calls belongs to the kernel, too. */
enum side { USER = 1, KERNEL = 2 };

/* Parallel to the texts: whether functions of that name are in the kernel, outside it or both. NULL: no memory. */
static uint8_t *sides_of_names(const struct weft_profile *p)
{
    uint8_t *sides = calloc((size_t)weft_strings_count(p->strings) + 1, 1);
    for (uint32_t i = 0; sides && i < p->locations; i++) {
        const struct weft_location *l = &p->location[i];
        for (uint32_t k = 0; k < l->frames; k++)
            sides[p->function[p->frame[l->first_frame + k].function].name] |=
                l->kernel ? KERNEL : USER;
    }
    return sides;
}

static bool is_kernel(const struct weft_profile *p, const struct weft_named_frame *f,
                      const uint8_t *sides, bool caller_is)
{
    if (f->location != WEFT_NONE)
        return p->location[f->location].kernel;
    if (f->kind != WEFT_FRAME_FUNCTION)
        return caller_is;
    return sides[f->text] & USER ? caller_is && sides[f->text] & KERNEL : sides[f->text] & KERNEL;
}

/* For a call outside the kernel: it has no name, but its place, in the same file, has one. */
static bool within(const struct weft_profile *p, const struct weft_named_frame *f,
                   const struct weft_named_frame *place)
{
    if (f->kind != WEFT_FRAME_ADDRESS || place->kind != WEFT_FRAME_FUNCTION ||
        f->location == WEFT_NONE || place->location == WEFT_NONE)
        return false;
    uint32_t inner = p->location[f->location].mapping, outer = p->location[place->location].mapping;
    return inner != WEFT_NONE && outer != WEFT_NONE &&
           p->mapping[inner].path == p->mapping[outer].path;
}

static int by_time(const void *a, const void *b)
{
    const struct cli_profile_wait *x = a, *y = b;
    WEFT_ORDER(y->ns, x->ns);
    WEFT_ORDER(y->times, x->times);
    WEFT_ORDER(x->call, y->call);
    return x->preempted - y->preempted;
}

/* For each call, its place, and whether it belongs to threads that could have run. */
struct place {
    uint32_t call;
    bool kernel, preempted;
    uint64_t times; /* those that ended in exactly this call */
};

/* sides: of names. */
static void find_places(struct place *s, const struct weft_profile *p,
                        const struct weft_calltree *t, const uint8_t *sides)
{
    for (uint32_t i = 0; i < t->calls; i++) {
        const struct weft_call *c = &t->call[i];
        uint32_t up = i ? c->parent : 0;
        bool state = c->frame.kind == WEFT_FRAME_STATE;
        s[i].kernel = i && is_kernel(p, &c->frame, sides, s[up].kernel);
        bool inner =
            up && (state || s[i].kernel || within(p, &c->frame, &t->call[s[up].call].frame));
        s[i].call = inner ? s[up].call : i;
        s[i].preempted = i && s[up].preempted;
        if (state)
            s[i].preempted = strcmp(weft_profile_text(p, c->frame.text), "(preempted)") == 0;
        s[i].times = c->samples;
        if (i)
            s[up].times -= c->samples < s[up].times ? c->samples : s[up].times;
    }
}

/* Two sums for each place: waiting, and preempted. */
static void add_up(struct cli_profile_waits *w, const struct place *s)
{
    const struct weft_calltree *t = w->tree;
    struct cli_profile_wait *sum = weft_resize(NULL, 2 * (uint64_t)t->calls, sizeof *sum);
    if (!sum) {
        cli_lacks_memory();
        return;
    }
    for (uint32_t i = 0; i < t->calls; i++)
        for (unsigned k = 0; k < 2; k++)
            sum[2 * (size_t)i + k] = (struct cli_profile_wait){.call = i, .preempted = k};
    for (uint32_t i = 0; i < t->calls; i++) {
        struct cli_profile_wait *place = &sum[2 * (size_t)s[i].call + s[i].preempted];
        place->ns += t->call[i].self;
        place->times += s[i].times;
    }
    for (size_t i = 0; i < 2 * (size_t)t->calls; i++)
        if (sum[i].ns || sum[i].times)
            sum[w->waits++] = sum[i];
    qsort(sum, w->waits, sizeof *sum, by_time);
    w->wait = sum;
}

void cli_profile_waits_find(struct cli_profile_waits *w, const struct cli_profile_view *v)
{
    struct weft_calltree_options o = v->o;
    o.by = WEFT_PROFILE_BY_FUNCTION;
    o.off_cpu = true;
    *w = (struct cli_profile_waits){0};
    const bool made = weft_calltree_make(&w->tree, v->p, &o) == 0;
    struct place *place = made ? weft_resize(NULL, w->tree->calls, sizeof *place) : NULL;
    uint8_t *sides = sides_of_names(v->p);
    if (place && sides) {
        find_places(place, v->p, w->tree, sides);
        add_up(w, place);
    } else {
        cli_lacks_memory();
    }
    free(place);
    free(sides);
}

void cli_profile_waits_fini(struct cli_profile_waits *w)
{
    weft_calltree_free(w->tree);
    free(w->wait);
    *w = (struct cli_profile_waits){0};
}

enum { BEFORE = 55, CALLERS_WIDTH = 400 };

/* "read  ← serve ← main" */
static void put_place(const struct cli_profile_view *v, const struct cli_profile_waits *w,
                      uint32_t call)
{
    char callers[CALLERS_WIDTH + 16] = "";
    size_t used = 0;
    const struct weft_named_frame *frame = &w->tree->call[call].frame;
    char *name = frame->kind == WEFT_FRAME_STATE ? strdup("(stack not known)")
                                                 : cli_profile_name(v->p, frame);
    for (uint32_t c = call ? w->tree->call[call].parent : 0; c && used < CALLERS_WIDTH;
         c = w->tree->call[c].parent) {
        if (w->tree->call[c].frame.kind == WEFT_FRAME_STATE)
            continue;
        char *caller = cli_profile_name(v->p, &w->tree->call[c].frame);
        size_t size = caller ? strlen(caller) : 0;
        const bool fits = used + size + 8 <= sizeof callers;
        used += (size_t)snprintf(callers + used, sizeof callers - used, " ← %s",
                                 caller && fits ? caller : "…");
        free(caller);
        if (used + size + 8 > sizeof callers)
            break;
    }
    int room = cli_is_narrow() ? cli_columns() - BEFORE : 10000;
    room = room < 24 ? 24 : room;
    int width = cli_width(name ? name : "");
    cli_put_cut(name ? name : "", width < room ? width : room);
    fputs(cli_style(CLI_FAINT), stdout);
    if (!*callers || width + cli_width(callers) <= room)
        puts(callers);
    else
        cli_wrap("\n            ", "            ", callers + 1); /* below */
    fputs(cli_style(CLI_PLAIN), stdout);
    free(name);
}

static void print_place(const struct cli_profile_view *v, const struct cli_profile_waits *w,
                        const struct cli_profile_wait *wait)
{
    uint64_t total = w->tree->total, mean = wait->times ? wait->ns / wait->times : wait->ns;
    cli_put_right(cli_profile_time(wait->ns, total).text, 10);
    printf(" %8s %10s ", cli_profile_share(wait->ns, total).text, weft_count(wait->times).text);
    cli_put_right(weft_duration((int64_t)mean).text, 11);
    printf("  %s%-9s%s  ", cli_style(wait->preempted ? CLI_WARNING : CLI_PLAIN),
           wait->preempted ? "preempted" : "waits", cli_style(CLI_PLAIN));
    put_place(v, w, wait->call);
}

static void put_more(const struct cli_profile_waits *w, uint32_t shown)
{
    uint64_t ns = 0, times = 0;
    for (uint32_t i = shown; i < w->waits; i++) {
        ns += w->wait[i].ns;
        times += w->wait[i].times;
    }
    if (shown == w->waits)
        return;
    cli_put_right(cli_profile_time(ns, w->tree->total).text, 10);
    printf(" %8s %10s %24s%s more places; --limit 0 shows all\n",
           cli_profile_share(ns, w->tree->total).text, weft_count(times).text, "",
           weft_count(w->waits - shown).text);
}

static void print_places(const struct cli_profile_view *v, const struct cli_profile_waits *w)
{
    uint32_t shown = 0;
    if (w->waits == 0) {
        cli_profile_say_nothing(v);
        return;
    }
    printf("%s%10s %8s %10s %11s  %-9s  %s%s\n", cli_style(CLI_BOLD), "away", "share", "times",
           "each", "why", "where, and who called it", cli_style(CLI_PLAIN));
    while (shown < w->waits && shown < v->r->limit &&
           cli_profile_percent(w->wait[shown].ns, w->tree->total) >= v->r->least)
        print_place(v, w, &w->wait[shown++]);
    put_more(w, shown);
}

void cli_profile_print_off_cpu(const struct cli_profile_view *v)
{
    struct cli_profile_waits w;
    cli_profile_waits_find(&w, v);
    print_places(v, &w);
    if (w.waits && v->o.thread == WEFT_NONE) {
        putchar('\n');
        cli_profile_print_top(v, WEFT_PROFILE_BY_THREAD, v->r->limit);
    }
    cli_profile_waits_fini(&w);
}
