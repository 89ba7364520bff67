/* SPDX-License-Identifier: ISC */
/* The start of a report: what was measured and how; and its end: which names are missing, and why. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/common.h"
#include "cli/profile/profile.h"

/* Says something about a key: a template (analyse/sentence.h). */
#define say(key, template, ...) say_slots(key, template, ANALYSE_SLOTS(__VA_ARGS__))
static void say_slots(const char *key, const char *template, const struct analyse_slot *slots,
                      size_t count)
{
    char first[32];
    snprintf(first, sizeof first, "  %-10s", key);
    cli_wrap_slots(first, "            ", NULL, template, slots, count);
}

static const struct weft_source *source_of(const struct cli_profile_view *v)
{
    return v->o.source < v->p->sources ? &v->p->source[v->o.source] : NULL;
}

static struct cli_shown name_of(const struct weft_profile *p, const struct weft_source *s)
{
    return cli_shown(weft_profile_text(p, s->name));
}

enum { CORES_SHOWN = 8 };

/* For Akaros's streams: the number of samples per core is all that they record. list: by core. */
static void say_ticks(const struct cli_profile_view *v, const struct weft_profile_list *list)
{
    struct analyse_text cores = {0};
    const bool known = v->files->file[0].kind != WEFT_FOREIGN_TICKS;
    if (known)
        analyse_put_format(&cores, " on %s", cli_many(list->rows, "core").text);
    for (uint32_t i = 0; known && i < list->rows && i < CORES_SHOWN; i++)
        analyse_put_format(&cores, "%s%s %s", i ? ", " : ": ",
                           weft_profile_text(v->p, list->row[i].frame.text),
                           weft_count(list->row[i].samples).text);
    say("samples",
        "{total}{cores}[{more?} …]; how much CPU time each stands for, and whether some were lost, "
        "is not known",
        AMOUNT(total, v->facts.total), TEXT(cores, cores.text),
        FLAG(more, known && list->rows > CORES_SHOWN));
    analyse_text_fini(&cores);
    if (v->facts.last_ns != v->facts.first_ns)
        say("over", "{span}", LENGTH(span, v->facts.last_ns - v->facts.first_ns));
}

static void say_samples(const struct cli_profile_view *v)
{
    const struct weft_profile *p = v->p;
    const struct weft_source *s = source_of(v);
    const struct cli_profile_facts *f = &v->facts;
    if (!s)
        return;
    const bool timed = s->unit == WEFT_UNIT_NS;
    say("samples",
        "{samples} of {name}[, one for each {length} of CPU time][, one for each {count}][; {old} "
        "older ones were overwritten][; {lost} more ({share}) were lost, for lack of space][; none "
        "lost{none?}]",
        AMOUNT(samples, f->samples), TEXT(name, name_of(p, s).text),
        LENGTH(length, timed ? s->period : 0),
        AMOUNT(count, !timed && s->period > 1 ? s->period : 0), AMOUNT(old, p->overwritten),
        AMOUNT(lost, p->lost), TEXT(share, cli_profile_share(p->lost, p->lost + f->samples).text),
        FLAG(none, p->lost == 0));
}

static void say_rate(const struct cli_profile_view *v)
{
    const struct weft_source *s = source_of(v);
    const double rate = v->facts.rate;
    if (s && (s->frequency || rate > 0))
        say("rate", "[{asked} a second asked for][{both?}, ][{got} a second got while threads ran]",
            AMOUNT(asked, s->frequency), FLAG(both, s->frequency && rate > 0),
            TEXT(got, rate > 0 ? weft_count((uint64_t)(rate + 0.5)).text : ""));
}

static void say_span(const struct cli_profile_view *v)
{
    const struct cli_profile_facts *f = &v->facts;
    const struct weft_source *s = source_of(v);
    const uint64_t span = f->last_ns - f->first_ns;
    const double busy = span ? (double)f->total / (double)span : 0;
    struct analyse_text total = {0};
    if (s)
        analyse_put_format(&total, ", %s", cli_profile_cpu(v, f->total, f->total).text);
    if (s && s->unit != WEFT_UNIT_NS)
        analyse_put_format(&total, " %s in all", name_of(v->p, s).text);
    else if (s)
        analyse_put_format(&total, " of CPU time");
    if (s && s->unit == WEFT_UNIT_NS && span)
        analyse_put_format(&total, ": %.2f core%s busy", busy, busy == 1 ? "" : "s");
    say("over",
        "{span}[, {threads} thread{threads||s}][ of {processes} process{processes||es}]{total}",
        TEXT(span, span ? weft_duration((int64_t)span).text : "a time that is not known"),
        AMOUNT(threads, f->threads), AMOUNT(processes, f->threads ? f->processes : 0),
        TEXT(total, total.text));
    analyse_text_fini(&total);
}

static void say_away(const struct cli_profile_view *v)
{
    const struct cli_profile_facts *f = &v->facts;
    if (v->o.off_cpu)
        say("away",
            "threads were off the cores for {all}, {times} time{times||s}: {waited} they waited "
            "for "
            "something, {ready} ({often} time{often||s}) they could have run, but others did",
            LENGTH(all, f->away_ns), AMOUNT(times, f->away),
            LENGTH(waited, f->away_ns - f->preempted_ns), LENGTH(ready, f->preempted_ns),
            AMOUNT(often, f->preempted));
}

/* What is missing of the thread data other than samples. */
static void say_lost(const struct cli_profile_view *v)
{
    const struct weft_profile *p = v->p;
    const uint64_t until = p->switches_until_ns;
    if (until || p->lost_other)
        say("missing",
            "[when threads left the cores, after the first {until}: they did so too often to "
            "record "
            "it][when threads left the cores{all?}: they did so too often to record it][{both?}; "
            "][{lost} record{lost||s} that are no samples (of switches, or what was "
            "mapped), for lack of space]",
            TIME(until, until > p->first_ns ? weft_model_time(until, p->first_ns) : INT64_MIN),
            FLAG(all, until && until <= p->first_ns), FLAG(both, until && p->lost_other),
            AMOUNT(lost, p->lost_other));
}

/* "10 ms (90.9 %) for promises" */
static void put_part(struct analyse_text *text, const struct cli_profile_view *v,
                     const struct weft_profile_list *l, uint64_t part, const char *what)
{
    analyse_put_format(text, "%s%s (%s) %s", text->size ? ", " : "",
                       cli_profile_amount(v, part, l->total).text,
                       cli_profile_share(part, l->total).text, what);
}

/* The share that belongs to promises, of all or of the requested part. */
static void say_promises(const struct cli_profile_view *v, const struct weft_profile_list *l)
{
    struct analyse_text text = {0};
    if (!v->p->model || v->p->model->promises <= 1) {
        analyse_put_format(&text, "none known: %s",
                           v->p->model ? "the trace has no events of promises"
                                       : "there are samples only, no events of promises");
    } else {
        put_part(&text, v, l, l->total - l->without_promise, "for promises");
        put_part(&text, v, l, l->gap[WEFT_GAP_NONE], "for none");
        if (l->gap[WEFT_GAP_OVERWRITTEN])
            put_part(&text, v, l, l->gap[WEFT_GAP_OVERWRITTEN],
                     "before the oldest event that is kept: a larger --size keeps more");
        if (l->gap[WEFT_GAP_OUTSIDE])
            put_part(&text, v, l, l->gap[WEFT_GAP_OUTSIDE],
                     "before events were recorded, or after");
    }
    say("promises", "{text}", TEXT(text, text.text));
    analyse_text_fini(&text);
}

static void put_promise(struct analyse_text *t, const struct weft_model *m, uint32_t promise)
{
    uint32_t name = weft_model_name(m, promise);
    analyse_put_format(
        t, "promise #%" PRIu64 " '%s' and those that it created", m->promise[promise].id,
        cli_shown(name == WEFT_NONE ? weft_model_type(m, promise) : weft_model_text(m, name, NULL))
            .text);
}

static void say_filter(const struct cli_profile_view *v, const struct weft_profile_list *list)
{
    const struct cli_profile_request *r = v->r;
    struct analyse_text t = {0};
    if (!v->filtered)
        return;
    if (v->o.promise != WEFT_NONE)
        put_promise(&t, v->p->model, v->o.promise);
    if (v->o.label)
        analyse_put_format(&t, "promises with the label '%s'%s", cli_shown(v->o.label).text,
                           v->o.with_children ? " and those that they created" : "");
    if (v->o.thread != WEFT_NONE) {
        const struct weft_thread *thread = &v->p->thread[v->o.thread];
        analyse_put_format(&t, "%sthread %" PRIu32 " '%s'", t.size ? ", " : "", thread->thread,
                           cli_shown(weft_profile_text(v->p, thread->name)).text);
    }
    if (v->o.where)
        analyse_put_format(&t, "%s%s the kernel", t.size ? ", " : "",
                           v->o.where == WEFT_PROFILE_IN_KERNEL ? "in" : "outside");
    if (r->from_ns != INT64_MIN)
        analyse_put_format(&t, "%sfrom %s on", t.size ? ", " : "", weft_moment(r->from_ns).text);
    if (r->to_ns != INT64_MAX)
        analyse_put_format(&t, "%suntil %s",
                           r->from_ns != INT64_MIN ? " "
                           : t.size                ? ", "
                                                   : "",
                           weft_moment(r->to_ns).text);
    say("shown", "only {what}: {part}, which is {share} of all", TEXT(what, t.text),
        TEXT(part, cli_profile_amount(v, list->total, list->total).text),
        TEXT(
            share,
            cli_profile_share(list->total, v->o.off_cpu ? v->facts.away_ns : v->facts.total).text));
    analyse_text_fini(&t);
}

static void say_others(const struct cli_profile_view *v)
{
    const struct weft_profile *p = v->p;
    struct analyse_text t = {0};
    for (uint32_t s = 0; s < p->sources && !v->r->event && !v->o.off_cpu; s++)
        if (p->source[s].name != p->source[v->o.source].name)
            analyse_put_format(&t, "%s%s", t.size ? ", " : "", name_of(p, &p->source[s]).text);
    if (t.size)
        say("others", "there are also samples of {names}; --event NAME shows those",
            TEXT(names, t.text));
    analyse_text_fini(&t);
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
            char first[64];
            snprintf(first, sizeof first, "  %8s  ", cli_profile_share(blank->value, total).text);
            cli_wrap_filled(first, "            ", NULL, "[{path}: ]{advice}",
                            TEXT(path, cli_shown(path).text),
                            TEXT(advice, cli_profile_nameless[blank->why].advice));
        }
        if (b.blanks > BLANKS_SHOWN)
            printf("            and in %s more files; --json has all\n",
                   weft_count(b.blanks - BLANKS_SHOWN).text);
    }
    free(b.blank);
}
