/* SPDX-License-Identifier: ISC */
#include "cli/now.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "cli/common.h"
#include "cli/report.h"
#include "cli/trace_json.h"

enum {
    FRAMES_SHOWN = 8, /* of a stack */
    STACK_SHOWN = 40, /* … of one that is printed alone */
    DEPTH_MAX = 24,   /* of a tree; what is deeper is not indented further */
    INDENT = 3,
    LINE = 1600,
};

struct teller {
    const struct now *n;
    const uint64_t *alike; /* of each thing, as in struct now_order */
    bool all;
    bool *told; /* of each thing: what it waits for was printed */
    struct step *step;
    uint32_t steps, steps_room;
};

/* What is still to be printed: a link and all that it leads to. */
struct step {
    uint32_t link;
    uint32_t more; /* links of the same thing to things that do the same: they are only counted */
    unsigned depth;
};

static const char *name_of(const struct now_thing *t)
{
    return t->name ? t->name : "something without a name";
}

/* Functions in which threads begin; the last one is all those of the C library that have no symbol. */
static bool begins_thread(const struct now_frame *f)
{
    static const char *const begins[] = {"start_thread", "clone", "__libc_start", "_start",
                                         "libc.so.6+0x"};
    for (unsigned i = 0; f->function && i < sizeof begins / sizeof *begins; i++)
        if (strncmp(f->function, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* How many frames there are without those at the outer end that every thread has. */
static uint32_t own_frames(const struct now_thing *t)
{
    uint32_t n = t->frames;
    while (n > 1 && begins_thread(&t->frame[n - 1]))
        n--;
    return n;
}

/* most: of the frames, unless all are wanted. */
static void print_frames(const struct now_thing *t, unsigned indent, bool all, uint32_t most)
{
    const uint32_t frames = all ? t->frames : own_frames(t);
    const uint32_t shown = all || frames <= most + 1 ? frames : most;
    for (uint32_t i = 0; i < shown; i++) {
        const struct now_frame *f = &t->frame[i];
        printf("%*s%s%s %s", (int)indent, "", cli_style(CLI_FAINT), i == 0 ? "at" : "in",
               f->function ? f->function : "?");
        if (f->file && f->line)
            printf("  %s:%" PRIu32, f->file, f->line);
        else if (f->file)
            printf("  %s", f->file);
        printf("%s\n", cli_style(CLI_PLAIN));
    }
    const uint32_t more = frames - shown + t->frames_left_out;
    if (more)
        printf("%*s%sin %s more%s\n", (int)indent, "", cli_style(CLI_FAINT), weft_count(more).text,
               cli_style(CLI_PLAIN));
}

/* A line about a thing: how it is reached, its name, what it does; more: how many others do the same. */
static void print_thing(const struct teller *teller, uint32_t thing, const char *how, uint32_t more,
                        unsigned indent)
{
    const struct now_thing *t = &teller->n->thing[thing];
    char line[LINE], first[4 * DEPTH_MAX + 8], rest[4 * DEPTH_MAX + 8], others[96] = "";
    if (more)
        snprintf(others, sizeof others, " (and %s more that do%s the same)", weft_count(more).text,
                 more == 1 ? "es" : "");
    snprintf(line, sizeof line, "%s%s%s%s%s%s%s", how ? how : "", how ? " " : "", name_of(t),
             t->state ? ": " : "", t->state ? t->state : "", others,
             teller->told[thing] ? " (see above)" : "");
    snprintf(first, sizeof first, "%*s", (int)indent, "");
    snprintf(rest, sizeof rest, "%*s", (int)indent + INDENT, "");
    cli_wrap(first, rest, line);
    if (!teller->told[thing])
        print_frames(t, indent + INDENT, teller->all, FRAMES_SHOWN);
}

static bool waits(const struct now *n, uint32_t thing)
{
    const uint32_t first = now_first_link(n, thing);
    return first < n->links && n->link[first].from == thing;
}

/* Links of one thing that are alike, next to each other, each group in order. */
static int by_likeness(const void *a, const void *b, void *teller)
{
    const struct teller *t = teller;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct now_link *l = t->n->link;
    WEFT_ORDER(t->alike[l[x].to], t->alike[l[y].to]);
    const int how = strcmp(l[x].how, l[y].how);
    return how ? how : weft_order(x, y);
}

static bool are_alike(const struct teller *t, uint32_t x, uint32_t y)
{
    const struct now_link *l = t->n->link;
    return !t->all && t->alike[l[x].to] && t->alike[l[x].to] == t->alike[l[y].to] &&
           strcmp(l[x].how, l[y].how) == 0;
}

static int by_link_down(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    return weft_order(y->link, x->link);
}

/* Its links are to be printed next, the first one first. */
static void push_links(struct teller *t, uint32_t thing, unsigned depth)
{
    const struct now *n = t->n;
    const uint32_t first = now_first_link(n, thing), before = t->steps;
    uint32_t count = 0;
    while (first + count < n->links && n->link[first + count].from == thing)
        count++;
    uint32_t *link = weft_resize(NULL, count, sizeof *link);
    for (uint32_t i = 0; link && i < count; i++)
        link[i] = first + i;
    if (link && count)
        qsort_r(link, count, sizeof *link, by_likeness, t);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; link && end < count && are_alike(t, link[i], link[end]);)
            end++;
        if (!link || !weft_reserve(&t->step, t->steps, &t->steps_room, sizeof *t->step)) {
            cli_lacks_memory();
            break;
        }
        t->step[t->steps++] = (struct step){link[i], end - i - 1, depth};
    }
    if (t->steps > before)
        qsort(t->step + before, t->steps - before, sizeof *t->step, by_link_down);
    free(link);
}

/* It is the only link of its thing. */
static bool is_alone(const struct now *n, uint32_t link)
{
    const uint32_t from = n->link[link].from;
    return (link == 0 || n->link[link - 1].from != from) &&
           (link + 1 == n->links || n->link[link + 1].from != from);
}

static void print_tree(struct teller *t, uint32_t root, uint32_t more, unsigned indent)
{
    print_thing(t, root, NULL, more, indent);
    t->told[root] = true;
    push_links(t, root, 1);
    while (t->steps) {
        const struct step s = t->step[--t->steps];
        const struct now_link *l = &t->n->link[s.link];
        const unsigned depth = s.depth < DEPTH_MAX ? s.depth : DEPTH_MAX;
        char how[96];
        snprintf(how, sizeof how, "%s%s", l->how,
                 l->any && !is_alone(t->n, s.link) ? " (any of)" : "");
        print_thing(t, l->to, how, s.more, indent + depth * INDENT);
        if (!t->told[l->to] && waits(t->n, l->to))
            push_links(t, l->to, s.depth + 1);
        t->told[l->to] |= waits(t->n, l->to) || t->n->thing[l->to].frames;
    }
}

/* Things that wait for each other: each with what it waits for. */
static void print_cycle(struct teller *t, const struct now_story *story, uint32_t count)
{
    const struct now *n = t->n;
    static const struct {
        enum now_kind kind;
        const char *one, *several;
    } who[] = {{NOW_THREAD, "thread", "threads"},
               {NOW_TASK, "task", "tasks"},
               {NOW_PROCESS, "process", "processes"}};
    uint32_t many[NOW_KINDS] = {0};
    const char *between = "";
    for (uint32_t i = 0; i < count; i++)
        many[n->thing[story[i].thing].kind]++;
    printf("%sDeadlock: ", cli_style(CLI_BAD));
    if (many[NOW_THREAD] + many[NOW_TASK] + many[NOW_PROCESS] < 2) {
        printf("it waits for itself");
    } else {
        for (unsigned i = 0; i < sizeof who / sizeof *who; i++) {
            const uint32_t some = many[who[i].kind];
            if (some)
                printf("%s%s %s", between, weft_count(some).text,
                       some == 1 ? who[i].one : who[i].several);
            between = some ? " and " : between;
        }
        printf(" wait for each other, and none can go on");
    }
    printf("%s\n", cli_style(CLI_PLAIN));
    uint32_t at = 0;
    while (at + 1 < count && n->thing[story[at].thing].kind != NOW_THREAD &&
           n->thing[story[at].thing].kind != NOW_TASK)
        at++;
    print_tree(t, story[at].thing, 0, INDENT);
    for (uint32_t i = 0; i < count; i++)
        if (!t->told[story[i].thing])
            print_tree(t, story[i].thing, 0, INDENT);
    putchar('\n');
}

static void print_head(const struct now *n)
{
    char line[LINE], stopped[160] = "It was not stopped for that.";
    if (n->core) {
        cli_wrap("", "", "What waited for what then:");
        putchar('\n');
        return;
    }
    if (n->stopped_ns)
        snprintf(stopped, sizeof stopped, "It was stopped for %s for that.",
                 weft_duration((int64_t)n->stopped_ns).text);
    snprintf(line, sizeof line,
             "Process %d '%s': what waits for what in it now, seen from outside. %s", (int)n->pid,
             n->program, stopped);
    cli_wrap("", "", line);
    putchar('\n');
}

static void print_stories(struct teller *t, const struct now_story *story, uint32_t stories)
{
    for (uint32_t i = 0, end; i < stories; i = end) {
        const bool cycle = story[i].rank == 0;
        for (end = i + 1; end < stories && story[end].rank == story[i].rank &&
                          (cycle ? story[end].cycle == story[i].cycle
                                 : !t->all && story[end].alike == story[i].alike);)
            end++;
        if (cycle) {
            print_cycle(t, story + i, end - i);
            continue;
        }
        print_tree(t, story[i].thing, end - i - 1, 0);
        putchar('\n');
    }
}

void cli_now_print_stack(const struct now *n, uint32_t thing, bool all)
{
    print_frames(&n->thing[thing], INDENT, all, STACK_SHOWN);
}

void cli_now_print(const struct now *n, uint32_t told, bool all)
{
    struct teller t = {.n = n, .all = all, .told = calloc((size_t)n->things + 1, sizeof *t.told)};
    struct now_order order;
    print_head(n);
    if (now_order(n, &order) && t.told) {
        if (told < n->things)
            t.told[told] = true;
        t.alike = order.alike;
        print_stories(&t, order.story, order.stories);
    } else {
        cli_lacks_memory();
    }
    now_order_free(&order);
    for (uint32_t i = 0; i < n->remarks; i++)
        cli_wrap("", "", n->remark[i]);
    if (n->left_out)
        printf("%s more are not shown: there are too many.\n", weft_count(n->left_out).text);
    weft_free_all(t.told, t.step);
}

/* ---- For programs ---- */

static json_t *frame_json(const struct now_frame *f)
{
    return CLI_OBJECT("function", f->function, "file", f->file, "line",
                      cli_json_if(f->line != 0, f->line));
}

json_t *cli_now_frames_json(const struct now_thing *t)
{
    return CLI_LIST(i, t->frames, frame_json(&t->frame[i]));
}

static json_t *thing_json(const struct now_thing *t)
{
    return CLI_OBJECT("kind", now_kind_names[t->kind], "key", t->key, "name", t->name, "state",
                      t->state, "cycle", cli_json_if(t->cycle != 0, t->cycle), "frames",
                      cli_now_frames_json(t), "frames_left_out", t->frames_left_out);
}

static json_t *link_json(const struct now_link *l)
{
    return CLI_OBJECT("from", l->from, "to", l->to, "any", (bool)l->any, "how", l->how);
}

json_t *cli_now_json(const struct now *n)
{
    return CLI_OBJECT("process", (uint64_t)n->pid, "program", n->program, "things",
                      CLI_LIST(i, n->things, thing_json(&n->thing[i])), "links",
                      CLI_LIST(i, n->links, link_json(&n->link[i])), "cycles", n->cycles,
                      "stopped_ns", n->stopped_ns, "remarks",
                      CLI_LIST(i, n->remarks, cli_json_string(n->remark[i])), "left_out",
                      n->left_out);
}
