/* SPDX-License-Identifier: ISC */
#include "explore/fact.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "view/text.h"

enum { FORMATTED = 640, ROOM = EXPLORE_FACT_BYTES + EXPLORE_FACT_LONG };

static const char ellipsis[] = "\xe2\x80\xa6";

size_t explore_fact_clean(char *out, size_t room, const char *text, size_t size)
{
    size_t dots = sizeof ellipsis - 1, most = 3 * room; /* one input byte may become three */
    size_t n = weft_text_clean(out, room - 1, text, size < most ? size : most);
    if (size > most || n + dots >= room) { /* cut, or possibly cut */
        n = weft_text_clean(out, room - 1 - dots, text, size < most ? size : most);
        memcpy(out + n, ellipsis, dots);
        n += dots;
    }
    out[n] = '\0';
    return n;
}

size_t explore_fact_type(char *out, size_t room, const struct weft_model *m, uint32_t promise)
{
    const char *type = weft_model_type(m, promise);
    return explore_fact_clean(out, room, type, strlen(type));
}

size_t explore_fact_label(char *out, size_t room, const struct weft_model *m, uint32_t promise)
{
    uint32_t size, text = weft_model_name(m, promise);
    out[0] = '\0';
    if (text == WEFT_NONE)
        return 0;
    const char *label = weft_model_text(m, text, &size);
    return explore_fact_clean(out, room, label, size);
}

/* ---- Numbers ---- */

struct weft_figure explore_share(uint64_t part, uint64_t whole)
{
    struct weft_figure share = {""};
    if (whole == 0)
        return share;
    double percent = 100.0 * (double)part / (double)whole;
    int digits = percent > 0 && percent < 9.95 ? 1 : 0;
    if (percent > 0 && percent < 0.05)
        snprintf(share.text, sizeof share.text, "< 0.1 %%");
    else
        snprintf(share.text, sizeof share.text, "%.*f %%", digits, percent);
    return share;
}

/* ---- Promises ---- */

int64_t explore_length(const struct weft_scene *s, uint32_t promise)
{
    return weft_layout_lasts(s->m, s->l->raw, promise);
}

static struct explore_name call(const struct weft_scene *s, uint32_t promise, bool lasting,
                                size_t room)
{
    const struct weft_model *m = s->m;
    char type[32], label[EXPLORE_FACT_LABEL], whole[FORMATTED];
    const struct weft_promise *p = &m->promise[promise];
    struct explore_name out;
    if (promise == WEFT_ROOT) {
        snprintf(whole, sizeof whole, "the event loop");
    } else {
        explore_fact_type(type, sizeof type, m, promise);
        bool labelled = explore_fact_label(label, sizeof label, m, promise) != 0;
        snprintf(whole, sizeof whole, "#%" PRIu64 " %s%s%s%s%s%s", p->id, type, labelled ? " " : "",
                 label, lasting ? ", " : "",
                 lasting ? weft_duration(explore_length(s, promise)).text : "",
                 p->outcome == WEFT_FAILED               ? ", failed"
                 : lasting && p->outcome == WEFT_PENDING ? ", pending"
                                                         : "");
    }
    explore_fact_clean(out.text, room, whole, strlen(whole));
    return out;
}

struct explore_name explore_called(const struct weft_scene *s, uint32_t promise)
{
    return call(s, promise, true, EXPLORE_FACT_PROMISE);
}

struct explore_name explore_named(const struct weft_scene *s, uint32_t promise)
{
    return call(s, promise, false, EXPLORE_FACT_NAMED);
}

struct explore_link explore_promise(const struct weft_scene *s, uint32_t promise, bool again)
{
    return (struct explore_link){
        .link = promise == WEFT_ROOT ? WEFT_LINK_NONE : WEFT_LINK_PROMISE,
        .target = {.promise = promise, .time_ns = weft_layout_line(s->l, &s->m->promise[promise])},
        .again = again};
}

/* ---- Facts ---- */

void explore_fact_begin(struct explore_facts *f)
{
    f->count = f->text_bytes = 0;
    f->failed = false;
}

int explore_fact_end(struct explore_facts *f)
{
    if (f->failed) {
        f->count = 0;
        return WEFT_E_NOMEM;
    }
    for (uint32_t i = 0; i < f->count; i++) { /* the texts no longer move from now on */
        f->fact[i].name = f->texts + f->at[2 * i];
        f->fact[i].text = f->texts + f->at[2 * i + 1];
    }
    return 0;
}

static bool grow(struct explore_facts *f)
{
    return weft_reserve(&f->fact, f->count, &f->fact_room, sizeof *f->fact) &&
           weft_reserve(&f->target, f->count, &f->target_room, sizeof *f->target) &&
           weft_reserve(&f->at, f->count, &f->at_room, 2 * sizeof *f->at) &&
           weft_reserve_all(&f->texts, (uint64_t)f->text_bytes + ROOM, &f->texts_room, 1);
}

static uint32_t add_text(struct explore_facts *f, const char *text, size_t room)
{
    uint32_t at = f->text_bytes;
    f->text_bytes += 1 + (uint32_t)explore_fact_clean(f->texts + at, room, text, strlen(text));
    return at;
}

static const struct {
    const char *name, *text;
} facts[] = {
#define FACT(NAME, name, text) [FACT_##NAME] = {name, text},
#include "explore/facts.def"
#undef FACT
};

const char *explore_fact_name(enum explore_fact which)
{
    return facts[which].name;
}

const char *explore_fact_text(enum explore_fact which)
{
    return facts[which].text;
}

/* Fills a template's slots and stores the result among the texts. */
static uint32_t fill(struct explore_facts *f, const char *template, size_t room,
                     const struct analyse_slot *slots, size_t count)
{
    struct analyse_text t = {0};
    analyse_fill(&t, NULL, NULL, template, slots, count);
    f->failed |= t.failed;
    const uint32_t at = add_text(f, t.text ? t.text : "", room);
    analyse_text_fini(&t);
    return at;
}

void explore_say_slots(struct explore_facts *f, struct explore_link to, enum explore_fact which,
                       const struct analyse_slot *slots, size_t count)
{
    f->failed |= !f->failed && !grow(f);
    if (f->failed)
        return;
    const uint32_t i = f->count++;
    f->fact[i] = (struct weft_fact){.link = to.link, .heading = !*facts[which].text};
    f->target[i] = to.target;
    f->at[2 * i] = fill(f, to.again ? "" : facts[which].name, EXPLORE_FACT_BYTES, slots, count);
    f->at[2 * i + 1] = fill(f, facts[which].text,
                            to.is_long ? EXPLORE_FACT_LONG : EXPLORE_FACT_BYTES, slots, count);
}

void explore_say_promise(struct explore_facts *f, const struct weft_scene *s,
                         enum explore_fact which, uint32_t promise, bool again)
{
    explore_say(f, explore_promise(s, promise, again), which,
                TEXT(promise, explore_called(s, promise).text));
}

void explore_say_time(struct explore_facts *f, enum explore_fact which, int64_t time_ns)
{
    explore_say(f, explore_time(time_ns), which, TIME(when, time_ns));
}

void explore_say_count(struct explore_facts *f, enum explore_fact which, uint64_t count)
{
    explore_say(f, explore_nowhere(), which, AMOUNT(count, count));
}

void explore_fact_bad(struct explore_facts *f)
{
    if (f->count && !f->failed)
        f->fact[f->count - 1].bad = true;
}

void explore_fact_more(struct explore_facts *f, uint64_t all, uint64_t shown)
{
    if (all > shown)
        explore_say_count(f, FACT_MORE, all - shown);
}
