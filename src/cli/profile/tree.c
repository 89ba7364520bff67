/* SPDX-License-Identifier: ISC */
/* The tree of calls. So that it fits a screen, small parts are left out, and functions that only call the next one
 * share a line. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cli/profile/profile.h"
#include "base/array.h"
#include "cli/common.h"

enum {
    NUMBERS = 32,    /* columns before the tree */
    NAME_WIDTH = 60, /* columns of one name in a chain */
    USUAL = 120,     /* columns if the output is not a terminal */
};

struct tree {
    const struct cli_profile_view *v;
    const struct weft_calltree *t;
    uint64_t least; /* calls with less are not shown */
    uint64_t weak;  /* … or are ignored within a chain */
    uint32_t *next; /* by level: the next call there */
    int width;
};

/* Leaves room for names: deeper levels are drawn without their outermost lines. */
static int room_least(const struct tree *t)
{
    return t->width / 3;
}

/* Siblings are sorted by size, largest first, so after one that is not shown there are no more. */
static uint32_t shown(const struct tree *t, uint32_t call)
{
    return call != WEFT_NONE && t->t->call[call].total >= t->least && t->t->call[call].total
               ? call
               : WEFT_NONE;
}

static int descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x > y ? -1 : x < y;
}

/* The smallest threshold at which at most limit calls are shown. */
static void limit_calls(struct tree *t, uint64_t limit)
{
    uint32_t n = t->t->calls;
    if (limit >= n - 1)
        return;
    uint64_t *totals = weft_resize(NULL, n, sizeof *totals);
    if (!totals) {
        cli_lacks_memory();
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        totals[i] = t->t->call[i].total;
    qsort(totals, n, sizeof *totals, descending);
    uint64_t least = totals[limit + 1] + 1; /* without [0], which is not a line */
    t->least = least > t->least ? least : t->least;
    free(totals);
}

static bool is_function(const struct weft_call *c)
{
    return c->frame.kind == WEFT_FRAME_FUNCTION || c->frame.kind == WEFT_FRAME_ADDRESS;
}

/* The last of the calls that share the line of head. */
static uint32_t tail_of(const struct tree *t, uint32_t head)
{
    const struct weft_call *call = t->t->call;
    uint32_t tail = head;
    for (;;) {
        uint32_t child = shown(t, call[tail].first_child);
        if (child == WEFT_NONE || shown(t, call[child].next_sibling) != WEFT_NONE ||
            !is_function(&call[tail]) || !is_function(&call[child]))
            return tail;
        uint64_t lost = call[head].total - call[child].total;
        if ((call[tail].self && call[tail].self >= t->weak) || (lost && lost >= t->weak))
            return tail;
        tail = child;
    }
}

/* ---- A chain of names ---- */

/* How many columns it takes in a chain. */
static int wide(const struct tree *t, uint32_t call)
{
    char *name = cli_profile_name(t->v->p, &t->t->call[call].frame);
    int width = name ? cli_width(name) : 0;
    free(name);
    return width > NAME_WIDTH ? NAME_WIDTH : width;
}

static void put(const struct tree *t, uint32_t call, int room)
{
    char *name = cli_profile_name(t->v->p, &t->t->call[call].frame);
    if (!name)
        return;
    bool known = t->t->call[call].frame.kind != WEFT_FRAME_ADDRESS;
    fputs(cli_style(known ? CLI_PLAIN : CLI_FAINT), stdout);
    if (cli_width(name) > room)
        cli_put_cut(name, room);
    else
        fputs(name, stdout);
    fputs(cli_style(CLI_PLAIN), stdout);
    free(name);
}

#define ARROW " › "
enum { ARROW_WIDTH = 3, GAP_WIDTH = 12 }; /* " › … 123 … " */

/* For a chain that is too wide: the first name, then as much of the end as fits. */
static void put_chain(const struct tree *t, uint32_t head, uint32_t tail, int room)
{
    const struct weft_call *call = t->t->call;
    if (head == tail) {
        put(t, head, room);
        return;
    }
    int used = wide(t, head) + ARROW_WIDTH + wide(t, tail);
    uint32_t from = tail, skipped = 0;
    while (call[from].parent != head) {
        int more = ARROW_WIDTH + wide(t, call[from].parent);
        bool last = call[call[from].parent].parent == head;
        if (used + more + (last ? 0 : GAP_WIDTH) > room)
            break;
        used += more;
        from = call[from].parent;
    }
    for (uint32_t c = call[from].parent; c != head; c = call[c].parent)
        skipped++;
    put(t, head, NAME_WIDTH);
    if (skipped)
        printf("%s" ARROW "… %" PRIu32 " …%s", cli_style(CLI_FAINT), skipped, cli_style(CLI_PLAIN));
    /* Parents come before children, so the path is built from its end, with next[] as scratch space. */
    uint32_t depth = call[tail].depth - call[from].depth;
    for (uint32_t i = 0; i <= depth; i++) {
        uint32_t c = tail;
        for (uint32_t up = i; up < depth; up++)
            c = call[c].parent;
        printf("%s" ARROW "%s", cli_style(CLI_FAINT), cli_style(CLI_PLAIN));
        put(t, c, NAME_WIDTH);
    }
}

/* ---- Lines ---- */

static int put_lines(const struct tree *t, uint32_t level)
{
    uint32_t most = (uint32_t)(t->width - NUMBERS - room_least(t)) / 3, from = 1;
    int used = 0;
    fputs(cli_style(CLI_FAINT), stdout);
    if (level > most) {
        from = level - most + 1;
        used += printf("%" PRIu32 " ", from - 1) + 2;
        fputs("… ", stdout);
    }
    for (uint32_t l = from; l <= level; l++, used += 3)
        fputs(t->next[l] == WEFT_NONE ? l < level ? "   " : "└─ "
              : l < level             ? "│  "
                                      : "├─ ",
              stdout);
    fputs(cli_style(CLI_PLAIN), stdout);
    return used;
}

static void put_call(const struct tree *t, uint32_t head, uint32_t tail, uint32_t level)
{
    const struct weft_call *c = &t->t->call[head];
    uint64_t total = t->t->total, self = t->t->call[tail].self;
    cli_put_right(cli_profile_amount(t->v, c->total, total).text, 10);
    printf(" %8s", cli_profile_share(c->total, total).text);
    printf(" %8s   ", self ? cli_profile_share(self, total).text : "");
    int used = NUMBERS + put_lines(t, level);
    int room = t->width - used;
    put_chain(t, head, tail, room < room_least(t) ? room_least(t) : room);
    putchar('\n');
}

static void print_calls(struct tree *t)
{
    uint32_t level = 0;
    t->next[0] = shown(t, t->t->call[0].first_child);
    while (t->next[level] != WEFT_NONE || level) {
        uint32_t head = t->next[level];
        if (head == WEFT_NONE) {
            level--;
            continue;
        }
        t->next[level] = shown(t, t->t->call[head].next_sibling);
        uint32_t tail = tail_of(t, head);
        put_call(t, head, tail, level);
        t->next[++level] = shown(t, t->t->call[tail].first_child);
    }
}

static void say_left_out(const struct tree *t)
{
    uint32_t left_out = 0;
    for (uint32_t i = 1; i < t->t->calls; i++)
        left_out += t->t->call[i].total < t->least;
    if (left_out == 0)
        return;
    printf("%s%s with less than %s of the total %s left out; --min 0 --limit 0 shows all%s\n",
           cli_style(CLI_FAINT), cli_many(left_out, "call").text,
           cli_profile_share(t->least, t->t->total).text, left_out == 1 ? "is" : "are",
           cli_style(CLI_PLAIN));
}

void cli_profile_print_tree(const struct cli_profile_view *v)
{
    struct weft_calltree *calls;
    if (weft_calltree_make(&calls, v->p, &v->o) < 0) {
        cli_lacks_memory();
        return;
    }
    double least = ceil(v->r->least / 100 * (double)calls->total);
    struct tree t = {.v = v,
                     .t = calls,
                     .least = (uint64_t)least,
                     .weak = (uint64_t)least,
                     .next = weft_resize(NULL, (uint64_t)calls->depth + 2, sizeof *t.next),
                     .width = cli_is_narrow() ? cli_columns() : USUAL};
    if (!t.next) {
        cli_lacks_memory();
    } else if (calls->samples == 0) {
        cli_profile_say_nothing(v);
    } else {
        limit_calls(&t, v->r->limit);
        printf("%s%10s %8s %8s   %s%s\n", cli_style(CLI_BOLD), "total", "total %", "self %",
               v->o.off_cpu ? "where it waited: from the outside in" : "calls, from the outside in",
               cli_style(CLI_PLAIN));
        print_calls(&t);
        cli_tell_cut(calls);
        say_left_out(&t);
        cli_profile_put_folded(v);
    }
    free(t.next);
    weft_calltree_free(calls);
}
