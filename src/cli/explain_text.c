/* SPDX-License-Identifier: ISC */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/names.h"
#include "cli/common.h"
#include "cli/ending.h"
#include "cli/explain.h"
#include "cli/hot.h"
#include "cli/report.h"

static void print_evidence(const struct weft_model *m, const struct weft_finding *f)
{
    int wide = 0;
    for (uint32_t i = 0; i < f->evidences; i++) {
        int columns = cli_width(weft_moment(f->evidence[i].time_ns).text);
        wide = columns > wide ? columns : wide;
    }
    for (uint32_t i = 0; i < f->evidences; i++) {
        const struct weft_evidence *e = &f->evidence[i];
        struct analyse_text t = {0};
        char first[64], rest[64];
        const struct weft_figure time = weft_moment(e->time_ns);
        weft_evidence_say(&t, m, f, i);
        snprintf(first, sizeof first, "     %*s%s  ", wide - cli_width(time.text), "", time.text);
        snprintf(rest, sizeof rest, "     %*s  ", wide, "");
        cli_wrap_text(first, rest, &t);
    }
}

static void print_affected(const struct weft_model *m, const struct weft_finding *f)
{
    enum { NAMED = 5 };
    struct analyse_text t = {0};
    if (f->affected_total == 0)
        return;
    uint32_t named = f->affecteds < NAMED ? f->affecteds : NAMED;
    bool others = f->kind == WEFT_FINDING_LEAK || f->kind == WEFT_FINDING_HERD ||
                  f->kind == WEFT_FINDING_SERIAL_WAITS || f->kind == WEFT_FINDING_RETRY_STORM ||
                  f->kind == WEFT_FINDING_SWALLOWED_FAILURE;
    analyse_put_format(&t, others ? "Affected: " : "Held up by it: ");
    for (uint32_t i = 0; i < named; i++) {
        analyse_put_format(&t, i == 0 ? "" : i + 1 == f->affected_total ? " and " : ", ");
        analyse_put_full(&t, m, f->affected[i]);
    }
    if (f->affected_total > named)
        analyse_put_format(&t, " and %s more", weft_count(f->affected_total - named).text);
    analyse_put_format(&t, ".");
    cli_wrap_text("   ", "   ", &t);
}

int cli_explained_hot(struct cli_hot *hot, const struct cli_explained *x,
                      const struct weft_finding *f)
{
    const bool runs = f->kind == WEFT_FINDING_LOOP_BLOCKED || f->kind == WEFT_FINDING_SPIN;
    return cli_hot_find(hot, x->profile, runs ? f->promise : WEFT_NONE, f->start_ns, f->end_ns);
}

static void print_hot(const struct cli_explained *x, const struct weft_finding *f)
{
    struct analyse_text spots = {0};
    struct cli_hot hot;
    if (cli_explained_hot(&hot, x, f) < 0)
        cli_lacks_memory();
    if (cli_hot_put(&spots, x->profile, &hot))
        cli_wrap_filled("   ", "   ", x->model,
                        "Where it used the CPU meanwhile ({samples} samples): {spots}.",
                        AMOUNT(samples, hot.samples), TEXT(spots, spots.text));
    analyse_text_fini(&spots);
}

static void print_finding(const struct cli_explained *x, const struct weft_finding *f,
                          unsigned number)
{
    const struct weft_model *m = x->model;
    bool sure = f->confidence == WEFT_CERTAIN;
    printf("%s%u. %s%s %s(%s)%s\n", cli_style(CLI_BOLD), number, weft_finding_name(f->kind),
           cli_style(CLI_PLAIN), cli_style(sure ? CLI_BAD : CLI_WARNING),
           weft_confidence_name(f->confidence), cli_style(CLI_PLAIN));
    cli_wrap("   ", "   ", f->text ? f->text : "");
    print_affected(m, f);
    print_evidence(m, f);
    print_hot(x, f);
    if (f->doubt)
        cli_wrap_filled("   ", "   ", m, "Not sure, because {doubt}.", TEXT(doubt, f->doubt));
    cli_wrap_filled("   ", "   ", m, "What helps: {hint}", TEXT(hint, weft_finding_hint(f->kind)));
}

/* Prints the basis of a judgement that something took too long. */
static void print_clock(const struct cli_explained *x)
{
    const uint32_t timed = 1u << WEFT_FINDING_LOOP_BLOCKED | 1u << WEFT_FINDING_STARVATION |
                           1u << WEFT_FINDING_SLOW_WAKE | 1u << WEFT_FINDING_SPIN;
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < x->found.count; i++)
        kinds |= x->shown[i] ? 1u << x->found.finding[i].kind : 0;
    if (!(kinds & timed))
        return;
    cli_wrap_filled("", "", x->model,
                    x->history->preemption_first
                        ? "How long something ran is without the time in which others had its core."
                        : "How long something ran is by the clock: if others had its core "
                          "meanwhile, that counts, too[; but for what spins, a few long runs among "
                          "many short ones do not count{spins}]. weft record --sample tells it "
                          "apart.",
                    FLAG(spins, (kinds & 1u << WEFT_FINDING_SPIN) != 0));
}

static bool is_plain(const char *text)
{
    bool is = *text && !(*text >= '0' && *text <= '9') && *text != '#' && *text != '-';
    for (; *text && is; text++)
        is = *text >= ' ' && *text <= '~' && *text != '\'';
    return is;
}

/* Prints how to inspect the slowest one: by its label, if that can be typed, else by its number. */
static void print_further(const struct cli_explained *x, const struct weft_slow_sort *s)
{
    enum { LONG = 60 };
    char *label = cli_explained_label(x->model, s->slowest);
    const struct cli_shown shown = cli_shown(x->path);
    const char *file = shown.text;
    const char *quote = file[strcspn(file, " &;|<>()$`\\\"*?[#~")] ? "'" : "";
    if (label && strlen(label) <= LONG && is_plain(label))
        printf("     weft explain --promise '%s' %s%s%s\n", label, quote, file, quote);
    else
        printf("     weft explain --promise %" PRIu64 " %s%s%s\n",
               (uint64_t)x->model->promise[s->slowest].id, quote, file, quote);
    free(label);
}

static void print_slow(const struct cli_explained *x)
{
    if (x->slow.count == 0)
        return;
    printf("%sWhere the time of the slowest went%s\n", cli_style(CLI_BOLD), cli_style(CLI_PLAIN));
    for (uint32_t i = 0; i < x->slow.count; i++) {
        cli_wrap("   ", "   ", x->slow.sort[i].text);
        print_further(x, &x->slow.sort[i]);
    }
    putchar('\n');
}

/* "2 findings are not shown …" */
static void print_rest(const struct cli_explained *x)
{
    const bool one = x->below == 1;
    if (x->below)
        printf("%" PRIu64 " more %s possible only, and may be as %s should be: --all shows %s.\n",
               x->below, one ? "is" : "are", one ? "it" : "they", one ? "it" : "them");
    if (x->accepted)
        printf("%" PRIu64 " finding%s accepted, and not shown.\n", x->accepted,
               x->accepted == 1 ? " is" : "s are");
    if (x->found.left_out)
        printf("%s more are not shown; mend these first.\n", weft_count(x->found.left_out).text);
}

static void print_nothing(const struct cli_explained *x)
{
    struct analyse_text kinds = {0};
    for (unsigned k = 0; k < WEFT_FINDING_KINDS; k++)
        if (!(x->ignored >> k & 1))
            analyse_put_format(&kinds, "%s%s", kinds.size ? ", " : " ", weft_finding_name(k));
    cli_wrap_filled(
        "", "  ", x->model,
        weft_model_is_empty(x->model)
            ? "{file}: nothing was recorded of promises: there is not a single event, "
              "so nothing can be concluded. Was the recording on when the program ran, "
              "and is the program linked with weft?"
            : "{file}: nothing found in {events} event{events||s} over {length}; looked "
              "for{kinds}.",
        TEXT(file, cli_shown(x->path).text), AMOUNT(events, x->model->events_total),
        LENGTH(length, x->model->end_ns), TEXT(kinds, kinds.text));
    analyse_text_fini(&kinds);
}

static uint64_t count_in(const struct weft_model_given_up *s, size_t at)
{
    return *(const uint64_t *)((const char *)s + at);
}

/* What is not known about pending promises: "More promises were pending than there was room for: … 3 'task'
 * (file.c:12), …". */
static void print_pending(const struct weft_model *m)
{
    enum { SHOWN = 3 };
    static const struct {
        size_t count; /* in a weft_model_given_up */
        const char *text;
    } parts[] = {
        {offsetof(struct weft_model_given_up, pending),
         "Of {all} only type and place are known, and they are not looked at:"},
        {offsetof(struct weft_model_given_up, unlisted),
         "Of others it is not known whether they have ended since:"},
        {offsetof(struct weft_model_given_up, left_out),
         "There was no room for all that was said of pending promises, as who waits for them:"},
    };
    struct analyse_text t = {0};
    for (unsigned part = 0; part < sizeof parts / sizeof *parts; part++) {
        uint64_t all = 0;
        unsigned shown = 0;
        for (uint32_t i = 0; i < m->given_ups; i++)
            all += count_in(&m->given_up[i], parts[part].count);
        if (!all)
            continue;
        if (!t.size && part < 2)
            analyse_text_add(
                &t, "More promises were pending than there was room for (weft record --pending).");
        analyse_fill(&t, m, NULL, parts[part].text, ANALYSE_SLOTS(AMOUNT(all, all)));
        for (uint32_t i = 0; i < m->given_ups && shown <= SHOWN; i++) {
            const struct weft_model_given_up *s = &m->given_up[i];
            const uint64_t n = count_in(s, parts[part].count);
            if (!n)
                continue;
            if (shown++ == SHOWN) {
                analyse_put_format(&t, " and others");
                break;
            }
            analyse_put_format(&t, "%s%s '%s'", shown > 1 ? ", " : " ", weft_count(n).text,
                               weft_model_text(m, s->type, NULL));
            if (s->place != WEFT_NONE) {
                analyse_put_format(&t, " (");
                analyse_put_place(&t, m, s->place);
                analyse_put_format(&t, ")");
            }
        }
        analyse_put_format(&t, ".");
    }
    if (m->losses.pending)
        analyse_fill(
            &t, m, NULL,
            "Not all that is pending, or who waits for it, is known: something may hang of "
            "which nothing is said here.",
            NULL, 0);
    if (t.size)
        cli_wrap_text("", "", &t);
}

static void print_losses(const struct weft_model *m)
{
    const struct weft_losses *l = &m->losses;
    const bool failed = m->exit.known && (m->exit.by_signal || m->exit.number);
    if (l->overwritten)
        cli_wrap("", "",
                 "The ring buffer had wrapped: of what happened before the first event that is "
                 "still there (times below 0), only what was pending is known.");
    print_pending(m);
    if (m->resumed_ns != WEFT_TIME_MIN) /* the last time */
        cli_wrap_filled(
            "", "", m,
            m->resumed_ns == WEFT_TIME_MAX
                ? "The recording was off, the last time from {from} on: what ended "
                  "meanwhile is pending here."
                : "The recording was off, the last time from {from} to {to}: what ended "
                  "meanwhile is pending here.",
            TIME(from, m->paused_ns), TIME(to, m->resumed_ns));
    if (l->discarded)
        cli_wrap("", "",
                 "Some events in between are missing (weft info says which): a cause may be "
                 "among them, and what went wrong meanwhile is not found.");
    const char *end =
        l->ended == WEFT_ENDED_KILLED
            ? "The program was killed[ by {ending}], so what was under way then is pending."
        : m->ended == WEFT_ENDED_EXITED
            ? "The program ended by itself, without stopping the recording (_exit({status}))."
        : failed            ? "After the recording the program ended with {ending}."
        : m->quirks.at_once ? "This is what was seen of the program at one moment, from outside: "
                              "nothing is known of "
                              "what was before."
        : l->ended == WEFT_ENDED_SAVED || l->ended == WEFT_ENDED_RUNNING
            ? "The program was still running when this was recorded, so what was under way then is "
              "pending."
            : NULL;
    if (end)
        cli_wrap_filled("", "", m, end, TEXT(ending, cli_exit_text(&m->exit).text),
                        NUMBER(status, m->exit.number));
}

void cli_explained_print(const struct cli_explained *x)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < x->found.count; i++) {
        if (!x->shown[i])
            continue;
        if (count++ == 0)
            printf("%s%s%s%s\n", cli_style(CLI_BOLD), cli_shown(x->path).text, cli_style(CLI_PLAIN),
                   x->only_possible
                       ? ": nothing certain or likely; this is possible, and may be as it should be"
                       : "");
        putchar('\n');
        print_finding(x, &x->found.finding[i], count);
    }
    if (count == 0)
        print_nothing(x);
    if (count || x->slow.count)
        putchar('\n');
    print_slow(x);
    print_rest(x);
    print_clock(x);
    print_losses(x->model);
}
