/* SPDX-License-Identifier: ISC */
/* The start of a report: what was measured and how; and its end: which names are missing, and why. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "cli/common.h"
#include "cli/profile.h"

struct line {
    char text[1024];
    size_t used;
};

static void put(struct line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(l->text + l->used, sizeof l->text - l->used, format, args);
    va_end(args);
    l->used += n > 0 ? (size_t)n : 0;
    l->used = l->used < sizeof l->text ? l->used : sizeof l->text - 1;
}

static void say(const char *key, const struct line *l)
{
    char first[32];
    snprintf(first, sizeof first, "  %-10s", key);
    cli_wrap(first, "            ", l->text);
}

static const struct weft_source *source_of(const struct cli_profile_view *v)
{
    return v->o.source < v->p->sources ? &v->p->source[v->o.source] : NULL;
}

enum { CORES_SHOWN = 8 };

/* For Akaros's streams: the number of samples per core is all that they record. list: by core. */
static void say_ticks(const struct cli_profile_view *v, const struct weft_profile_list *list)
{
    struct line l = {.used = 0};
    bool cores = v->files->file[0].kind != WEFT_FOREIGN_TICKS;
    uint64_t span = v->facts.last_ns - v->facts.first_ns;
    put(&l, "%s", weft_count(v->facts.total).text);
    if (cores)
        put(&l, " on %s core%s", weft_count(list->rows).text, weft_plural(list->rows));
    for (uint32_t i = 0; cores && i < list->rows && i < CORES_SHOWN; i++)
        put(&l, "%s%s %s", i ? ", " : ": ", weft_profile_text(v->p, list->row[i].frame.text),
            weft_count(list->row[i].samples).text);
    put(&l, "%s; how much CPU time each stands for, and whether some were lost, is not known",
        cores && list->rows > CORES_SHOWN ? " …" : "");
    say("samples", &l);
    if (span) {
        l.used = 0;
        put(&l, "%s", weft_duration((int64_t)span).text);
        say("over", &l);
    }
}

static void say_samples(const struct cli_profile_view *v)
{
    const struct weft_profile *p = v->p;
    const struct weft_source *s = source_of(v);
    const struct cli_profile_facts *f = &v->facts;
    struct line l = {.used = 0};
    if (!s)
        return;
    put(&l, "%s of %s", weft_count(f->samples).text, cli_shown(weft_profile_text(p, s->name)).text);
    if (s->period && s->unit == WEFT_UNIT_NS)
        put(&l, ", one for each %s of CPU time", weft_duration((int64_t)s->period).text);
    else if (s->period > 1)
        put(&l, ", one for each %s", weft_count(s->period).text);
    if (p->lost)
        put(&l, "; %s more (%s) were lost, for lack of space", weft_count(p->lost).text,
            cli_profile_share(p->lost, p->lost + f->samples).text);
    else
        put(&l, "; none lost");
    say("samples", &l);
}

static void say_rate(const struct cli_profile_view *v)
{
    const struct weft_source *s = source_of(v);
    struct line l = {.used = 0};
    if (!s || (!s->frequency && v->facts.rate <= 0))
        return;
    if (s->frequency)
        put(&l, "%s a second asked for", weft_count(s->frequency).text);
    if (s->frequency && v->facts.rate > 0)
        put(&l, ", ");
    if (v->facts.rate > 0)
        put(&l, "%s a second got while threads ran",
            weft_count((uint64_t)(v->facts.rate + 0.5)).text);
    say("rate", &l);
}

static void say_span(const struct cli_profile_view *v)
{
    const struct cli_profile_facts *f = &v->facts;
    const struct weft_source *s = source_of(v);
    uint64_t span = f->last_ns - f->first_ns;
    struct line l = {.used = 0};
    put(&l, "%s", span ? weft_duration((int64_t)span).text : "a time that is not known");
    if (f->threads)
        put(&l, ", %s thread%s", weft_count(f->threads).text, weft_plural(f->threads));
    if (f->threads && f->processes)
        put(&l, " of %s process%s", weft_count(f->processes).text, f->processes == 1 ? "" : "es");
    if (s && s->unit == WEFT_UNIT_NS) {
        put(&l, ", %s of CPU time", cli_profile_cpu(v, f->total, f->total).text);
        if (span)
            put(&l, ": %.2f core%s busy", (double)f->total / (double)span,
                (double)f->total / (double)span == 1 ? "" : "s");
    } else if (s) {
        put(&l, ", %s %s in all", cli_profile_cpu(v, f->total, f->total).text,
            cli_shown(weft_profile_text(v->p, s->name)).text);
    }
    say("over", &l);
}

static void say_away(const struct cli_profile_view *v)
{
    const struct cli_profile_facts *f = &v->facts;
    struct line l = {.used = 0};
    if (!v->o.off_cpu)
        return;
    put(&l,
        "threads were off the cores for %s, %s time%s: ", weft_duration((int64_t)f->away_ns).text,
        weft_count(f->away).text, weft_plural(f->away));
    put(&l, "%s they waited for something, ",
        weft_duration((int64_t)(f->away_ns - f->preempted_ns)).text);
    put(&l, "%s (%s time%s) they could have run, but others did",
        weft_duration((int64_t)f->preempted_ns).text, weft_count(f->preempted).text,
        weft_plural(f->preempted));
    say("away", &l);
}

/* What is missing of the thread data other than samples. */
static void say_lost(const struct cli_profile_view *v)
{
    const struct weft_profile *p = v->p;
    struct line l = {.used = 0};
    if (p->switches_until_ns)
        put(&l,
            "when threads left the cores, after the first %s: they did so too often to record it",
            weft_moment(weft_model_time(p->switches_until_ns, p->first_ns)).text);
    if (p->lost_other)
        put(&l,
            "%s%s record%s that are no samples (of switches, or what was mapped), for lack of "
            "space",
            l.used ? "; " : "", weft_count(p->lost_other).text, weft_plural(p->lost_other));
    if (l.used)
        say("missing", &l);
}

/* "10 ms (90.9 %) for promises" */
static void put_part(struct line *text, const struct cli_profile_view *v,
                     const struct weft_profile_list *l, uint64_t part, const char *what)
{
    put(text, "%s%s (%s) %s", text->used ? ", " : "", cli_profile_amount(v, part, l->total).text,
        cli_profile_share(part, l->total).text, what);
}

/* The share that belongs to promises, of all or of the requested part. */
static void say_promises(const struct cli_profile_view *v, const struct weft_profile_list *l)
{
    struct line text = {.used = 0};
    if (!v->p->model || v->p->model->promises <= 1)
        put(&text, "none known: %s",
            v->p->model ? "the trace has no events of promises"
                        : "there are samples only, no events of promises");
    else {
        put_part(&text, v, l, l->total - l->without_promise, "for promises");
        put_part(&text, v, l, l->gap[WEFT_GAP_NONE], "for none");
        if (l->gap[WEFT_GAP_OVERWRITTEN])
            put_part(&text, v, l, l->gap[WEFT_GAP_OVERWRITTEN],
                     "before the oldest event that is kept: a larger --size keeps more");
        if (l->gap[WEFT_GAP_OUTSIDE])
            put_part(&text, v, l, l->gap[WEFT_GAP_OUTSIDE],
                     "before events were recorded, or after");
    }
    say("promises", &text);
}

static void put_promise(struct line *l, const struct cli_profile_view *v)
{
    const struct weft_model *m = v->p->model;
    uint32_t name = weft_model_name(m, v->o.promise);
    put(l, "promise #%" PRIu64 " '%s' and those that it created", m->promise[v->o.promise].id,
        cli_shown(name == WEFT_NONE ? weft_model_type(m, v->o.promise)
                                    : weft_model_text(m, name, NULL))
            .text);
}

static void say_filter(const struct cli_profile_view *v, const struct weft_profile_list *list)
{
    const struct cli_profile_request *r = v->r;
    struct line l = {.used = 0};
    const char *comma = "";
    if (!v->filtered)
        return;
    put(&l, "only ");
    if (v->o.promise != WEFT_NONE) {
        put_promise(&l, v);
        comma = ", ";
    }
    if (v->o.label) {
        put(&l, "promises with the label '%s'%s", cli_shown(v->o.label).text,
            v->o.with_children ? " and those that they created" : "");
        comma = ", ";
    }
    if (v->o.thread != WEFT_NONE) {
        const struct weft_thread *t = &v->p->thread[v->o.thread];
        put(&l, "%sthread %" PRIu32 " '%s'", comma, t->thread,
            cli_shown(weft_profile_text(v->p, t->name)).text);
        comma = ", ";
    }
    if (r->from_ns != INT64_MIN)
        put(&l, "%sfrom %s on", comma, weft_moment(r->from_ns).text);
    comma = r->from_ns != INT64_MIN ? " " : comma;
    if (r->to_ns != INT64_MAX)
        put(&l, "%suntil %s", comma, weft_moment(r->to_ns).text);
    uint64_t all = v->o.off_cpu ? v->facts.away_ns : v->facts.total;
    put(&l, ": %s, which is %s of all", cli_profile_amount(v, list->total, list->total).text,
        cli_profile_share(list->total, all).text);
    say("shown", &l);
}

static void say_others(const struct cli_profile_view *v)
{
    const struct weft_profile *p = v->p;
    struct line l = {.used = 0};
    if (p->sources < 2 || v->r->event || v->o.off_cpu)
        return;
    for (uint32_t s = 0; s < p->sources; s++)
        if (p->source[s].name != p->source[v->o.source].name)
            put(&l, "%s%s", l.used ? ", " : "there are also samples of ",
                cli_shown(weft_profile_text(p, p->source[s].name)).text);
    if (l.used)
        put(&l, "; --event NAME shows those");
    if (l.used)
        say("others", &l);
}

void cli_profile_print_head(const struct cli_profile_view *v)
{
    /* The totals are the same by everything; this is short. */
    struct weft_profile_list *l = cli_profile_list(v, WEFT_PROFILE_BY_CORE);
    if (!l)
        return;
    for (unsigned i = 0; i < v->files->files; i++) {
        const struct cli_profiles_file *f = &v->files->file[i];
        printf("%s%s%s", cli_style(CLI_BOLD), cli_shown(f->path).text, cli_style(CLI_PLAIN));
        if (f->program)
            printf(": %s", cli_shown(f->program).text);
        putchar('\n');
    }
    if (v->ticks) {
        say_ticks(v, l);
    } else {
        say_samples(v);
        say_rate(v);
        say_span(v);
    }
    say_away(v);
    say_lost(v);
    say_promises(v, l);
    say_filter(v, l);
    say_others(v);
    putchar('\n');
    weft_profile_list_free(l);
}

/* ---- What has no name ---- */

enum { BLANKS_SHOWN = 5 };

void cli_profile_print_blanks(const struct cli_profile_view *v)
{
    struct cli_profile_blanks b;
    const struct weft_source *s = source_of(v);
    cli_profile_blanks_find(&b, v);
    uint64_t total = b.all;
    if (b.samples && s && cli_profile_percent(b.value, total) >= 0.05) {
        printf("\n%sWithout a name: %s of %s%s\n", cli_style(CLI_WARNING),
               cli_profile_share(b.value, total).text,
               v->filtered ? "what is shown" : "all samples", cli_style(CLI_PLAIN));
        for (uint32_t i = 0; i < b.blanks && i < BLANKS_SHOWN; i++) {
            const struct cli_profile_blank *blank = &b.blank[i];
            const char *path = weft_profile_text(v->p, blank->path);
            struct line l = {.used = 0};
            put(&l, "%s%s%s", cli_shown(path).text, *path ? ": " : "",
                cli_profile_nameless[blank->why].advice);
            char first[64];
            snprintf(first, sizeof first, "  %8s  ", cli_profile_share(blank->value, total).text);
            cli_wrap(first, "            ", l.text);
        }
        if (b.blanks > BLANKS_SHOWN)
            printf("            and in %s more files; --json has all\n",
                   weft_count(b.blanks - BLANKS_SHOWN).text);
    }
    free(b.blank);
}
