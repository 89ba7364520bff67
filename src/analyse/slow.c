/* SPDX-License-Identifier: ISC */
#include "analyse/slow.h"

#include <stdlib.h>

#include "analyse/finding.h"
#include "base/array.h"

#define LEAST_NS INT64_C(10000000) /* anything shorter is not slow */

enum {
    MARKED = 3,     /* promises of a marked sort, */
    MANY = 20,      /* … or of another sort */
    CANDIDATES = 6, /* sorts that are examined */
    SLOWER = 2,     /* times the median of all */
    SLOWEST = 3,    /* … promises that are examined, at least, */
    PART = 100,     /* … and one in this many */
    DEEP = 6,       /* levels of waits: what is waited for waits itself */
    FRAMES = 64,    /* … and waits for several things at once */
    LOOKS = 4096,   /* waits examined, of each promise and of what it waits for */
    EARLIER = 16,   /* waits that began before */
    HOLDS = 256,    /* looked at for each wait */
    SUMS = 32,      /* sorts of locks, or of holders */
};

struct sort {
    double life_ns;
    uint32_t family, count, marked;
};

/* A period in which a promise waited for something that was held. */
struct span {
    int64_t from_ns, to_ns;
    uint32_t resource;
};

struct sum {
    int64_t total_ns;
    uint32_t family, promise;
};

struct finder {
    const struct weft_history *h;
    const struct weft_model *m;
    struct analyse_families families;
    struct sort candidate[CANDIDATES];
    uint32_t candidates;
    struct weft_crowd_member *member; /* those of a sort that ended, the fastest first */
    uint32_t looked[WEFT_SLOW_LOOKED], looks;
    struct span *span;
    uint32_t spans, span_room;
    bool failed;
};

/* ---- Sorts that matter ---- */

/* How long a promise took, or -1: it did not end, or is not considered. */
static int64_t length_of(const struct finder *f, uint32_t p)
{
    const struct weft_promise *x = &f->m->promise[p];
    unsigned outcome = f->m->promise[weft_model_final(f->m, p)].outcome;
    if (!x->created || x->promoted || x->background ||
        (outcome != WEFT_FULFILLED && outcome != WEFT_FAILED && outcome != WEFT_RESOLVED))
        return -1;
    return weft_history_length_ns(f->h, p);
}

/* Marked sorts first, then by total time. */
static bool matters_more(const struct sort *a, const struct sort *b)
{
    if ((a->marked >= MARKED) != (b->marked >= MARKED))
        return a->marked >= MARKED;
    return a->life_ns > b->life_ns;
}

static void add_candidate(struct finder *f, struct sort x)
{
    for (uint32_t i = 0; i < f->candidates; i++)
        if (matters_more(&x, &f->candidate[i])) {
            struct sort less = f->candidate[i];
            f->candidate[i] = x;
            x = less;
        }
    if (f->candidates < CANDIDATES)
        f->candidate[f->candidates++] = x;
}

static void find_candidates(struct finder *f)
{
    struct sort *all = calloc(f->families.count, sizeof *all);
    uint32_t most = 0;
    f->failed |= !all;
    if (!all)
        return;
    for (uint32_t p = 1; p < f->m->promises; p++) {
        int64_t ns = length_of(f, p);
        struct sort *s = &all[f->families.of[p]];
        if (ns < 0)
            continue;
        s->count++;
        s->marked += f->m->promise[p].should_resolve;
        s->life_ns += (double)ns;
    }
    for (uint32_t i = 1; i < f->families.count; i++) {
        all[i].family = i;
        if (all[i].marked < MARKED && all[i].count < MANY)
            continue;
        add_candidate(f, all[i]);
        most = all[i].count > most ? all[i].count : most;
    }
    free(all);
    f->member = weft_resize(NULL, (uint64_t)most + 1, sizeof *f->member);
    f->failed |= !f->member;
}

/* ---- The slowest of a sort ---- */

/* Returns true if something of the sort is slow, and selects it; evenly if all are alike. */
static bool find_slowest(struct finder *f, struct weft_slow_sort *out)
{
    uint32_t n = 0, slow = 0, wanted = out->count / PART;
    for (uint32_t p = f->families.first[out->family]; p < f->m->promises; p++)
        if (f->families.of[p] == out->family && length_of(f, p) >= 0)
            f->member[n++] = (struct weft_crowd_member){length_of(f, p), p};
    qsort(f->member, n, sizeof *f->member, analyse_crowd_by_time);
    out->median_ns = f->member[(n - 1) / 2].ns;
    wanted = wanted < SLOWEST ? SLOWEST : wanted < WEFT_SLOW_LOOKED ? wanted : WEFT_SLOW_LOOKED;
    while (slow < wanted && slow < n && f->member[n - 1 - slow].ns >= LEAST_NS &&
           f->member[n - 1 - slow].ns / SLOWER >= out->median_ns)
        slow++;
    out->all = slow == 0;
    if (out->all && out->median_ns < LEAST_NS)
        return false;
    uint32_t among = out->all ? n : slow;
    f->looks = among < WEFT_SLOW_LOOKED ? among : WEFT_SLOW_LOOKED;
    for (uint32_t i = 0; i < f->looks; i++)
        f->looked[i] = f->member[n - among + (uint64_t)i * among / f->looks].promise;
    return true;
}

/* ---- What was held ---- */

/* A period in which a promise waits. */
struct frame {
    int64_t from_ns, to_ns;
    uint32_t promise, depth;
};

/* To be examined: the promise, and what it became. */
static void push_frame(const struct finder *f, struct frame *frame, uint32_t *frames,
                       struct frame x)
{
    uint32_t final = weft_model_final(f->m, x.promise);
    if (x.depth > DEEP || *frames + 1 >= FRAMES)
        return;
    frame[(*frames)++] = x;
    if (final != x.promise)
        frame[(*frames)++] = (struct frame){x.from_ns, x.to_ns, final, x.depth};
}

/* Finds when a promise waited for what others held, itself or through what it waited for. */
static void find_held(struct finder *f, uint32_t promise)
{
    const struct weft_history *h = f->h;
    struct frame frame[FRAMES];
    uint32_t frames = 0, looks = 0;
    push_frame(f, frame, &frames,
               (struct frame){f->m->promise[promise].start_ns, weft_history_ended_ns(h, promise),
                              promise, 0});
    while (frames && looks < LOOKS && !f->failed) {
        struct frame at = frame[--frames];
        uint32_t first = h->waits_of_first[at.promise], end = h->waits_of_first[at.promise + 1];
        uint32_t i = weft_history_wait_from(h, at.promise, at.from_ns);
        i = i - first < EARLIER ? first : i - EARLIER;
        for (; i < end && looks < LOOKS && !f->failed; i++, looks++) {
            const struct weft_wait *w = &h->wait[h->waits_of[i]];
            if (w->from_ns >= at.to_ns)
                break;
            int64_t from = weft_later(w->from_ns, at.from_ns),
                    to = weft_history_there_ns(h, w, NULL);
            to = weft_earlier(weft_earlier(to, w->until_ns), at.to_ns);
            uint32_t final = weft_model_final(f->m, w->source);
            if (from >= to)
                continue;
            if (analyse_count(h->holds_for_first, final) == 0)
                push_frame(f, frame, &frames, (struct frame){from, to, w->source, at.depth + 1});
            else if (weft_reserve(&f->span, f->spans, &f->span_room, sizeof *f->span))
                f->span[f->spans++] = (struct span){from, to, final};
            else
                f->failed = true;
        }
    }
}

static int by_resource(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    WEFT_ORDER(x->resource, y->resource);
    return weft_order(x->from_ns, y->from_ns);
}

/* Joins spans of one resource that overlap. */
static void join_spans(struct finder *f, uint32_t first)
{
    uint32_t kept = first;
    if (f->spans == first)
        return;
    qsort(f->span + first, f->spans - first, sizeof *f->span, by_resource);
    for (uint32_t i = first + 1; i < f->spans; i++) {
        struct span *into = &f->span[kept], x = f->span[i];
        if (x.resource != into->resource || x.from_ns > into->to_ns)
            f->span[++kept] = x;
        else
            into->to_ns = weft_later(into->to_ns, x.to_ns);
    }
    f->spans = kept + 1;
}

static void add_sum(const struct finder *f, struct sum *sum, uint32_t *sums, uint32_t promise,
                    int64_t ns)
{
    uint32_t i = 0, family = f->families.of[promise];
    while (i < *sums && sum[i].family != family)
        i++;
    if (i == SUMS)
        return;
    if (i == *sums)
        sum[(*sums)++] = (struct sum){0, family, promise};
    sum[i].total_ns = analyse_sum(sum[i].total_ns, ns);
}

static struct sum largest_sum(const struct sum *sum, uint32_t sums)
{
    struct sum best = {0, WEFT_NONE, WEFT_NONE};
    for (uint32_t i = 0; i < sums; i++)
        best = sum[i].total_ns > best.total_ns ? sum[i] : best;
    return best;
}

/* Who held a resource in that period, as far as is known. */
static void add_holders(const struct finder *f, const struct span *s, struct sum *sum,
                        uint32_t *sums)
{
    uint32_t first = f->h->holds_for_first[s->resource], low = first,
             high = f->h->holds_for_first[s->resource + 1];
    /* the first that begins later */
    WEFT_SEEK(low, high, f->m->hold[f->h->holds_for[middle]].from_ns < s->to_ns);
    for (uint32_t n = 0; n < HOLDS && low > first; n++) {
        const struct weft_hold *x = &f->m->hold[f->h->holds_for[--low]];
        int64_t from = weft_later(x->from_ns, s->from_ns), to = weft_earlier(x->to_ns, s->to_ns);
        if (x->holder != WEFT_NONE && from < to)
            add_sum(f, sum, sums, weft_model_final(f->m, x->holder), to - from);
    }
}

/* Returns true if waiting for locks of one sort is the cause. */
static bool find_lock(struct finder *f, struct weft_slow_sort *out)
{
    struct sum sum[SUMS], lock, holder;
    uint32_t sums = 0;
    f->spans = 0;
    for (uint32_t i = 0; i < f->looks && f->m->holds && !f->failed; i++) {
        uint32_t first = f->spans;
        find_held(f, f->looked[i]);
        join_spans(f, first);
    }
    for (uint32_t i = 0; i < f->spans; i++)
        add_sum(f, sum, &sums, f->span[i].resource, f->span[i].to_ns - f->span[i].from_ns);
    lock = largest_sum(sum, sums);
    if (lock.promise == WEFT_NONE || lock.total_ns < out->total_ns - lock.total_ns)
        return false;
    sums = 0;
    for (uint32_t i = 0; i < f->spans; i++)
        if (f->families.of[f->span[i].resource] == lock.family)
            add_holders(f, &f->span[i], sum, &sums);
    holder = largest_sum(sum, sums);
    lock.total_ns = weft_earlier(lock.total_ns, out->total_ns);
    out->cause = (struct weft_slow_cause){
        .lock = true,
        .share = {.kind = WEFT_STEP_UNKNOWN,
                  .promise = lock.promise,
                  .family = lock.family,
                  .total_ns = lock.total_ns},
        .holder = holder.total_ns >= lock.total_ns - holder.total_ns ? holder.promise : WEFT_NONE};
    return true;
}

/* ---- What their paths show ---- */

/* Returns true if one share, or everything that held them up together, is most of their time. */
static bool find_share(const struct weft_crowd *c, struct weft_slow_sort *out)
{
    int64_t total[WEFT_STEP_KINDS] = {0};
    if (c->shares == 0)
        return false;
    const struct weft_crowd_share *most = &c->share[0];
    out->cause = (struct weft_slow_cause){.share = *most, .holder = WEFT_NONE};
    if (most->total_ns >= out->total_ns - most->total_ns)
        return most->kind != WEFT_STEP_UNKNOWN &&
               (most->kind != WEFT_STEP_OUTSIDE ||
                (most->family != out->family && most->promise != WEFT_ROOT));
    for (uint32_t i = 0; i < c->shares; i++)
        total[c->share[i].kind] = analyse_sum(total[c->share[i].kind], c->share[i].total_ns);
    for (unsigned k = 0; k < WEFT_STEP_KINDS; k++)
        if (weft_step_is_behind(k) && total[k] >= out->total_ns - total[k]) {
            out->cause.share = (struct weft_crowd_share){
                .kind = k, .promise = WEFT_NONE, .family = WEFT_NONE, .total_ns = total[k]};
            return true;
        }
    return false;
}

static bool find_cause(struct finder *f, struct weft_slow_sort *out)
{
    struct weft_crowd c;
    if (weft_crowd_find(&c, f->h, &f->families, f->looked, f->looks) < 0) {
        f->failed = true;
        return false;
    }
    out->looked = c.members;
    out->slow_ns = weft_crowd_percentile(&c, 50);
    out->slowest = c.member[c.members - 1].promise;
    out->total_ns = c.sampled_ns;
    bool found = out->total_ns > 0 && (find_lock(f, out) || find_share(&c, out));
    weft_crowd_fini(&c);
    return found && !f->failed;
}

/* ---- Sentences ---- */

static char *name_of(struct finder *f, uint32_t promise, bool one_label)
{
    struct analyse_text t = {0};
    if (promise == WEFT_NONE)
        return NULL;
    if (one_label)
        analyse_put_name(&t, f->m, promise);
    else
        analyse_put_family(&t, f->m, &f->families, f->families.of[promise]);
    char *name = analyse_text_take(&t);
    f->failed |= !name;
    return name;
}

static enum analyse_sentence cause_of(const struct weft_slow_sort *s)
{
    static const enum analyse_sentence causes[WEFT_STEP_KINDS] = {
        [WEFT_STEP_RUNNING] = SAY_ON_OTHER_RUNNING, [WEFT_STEP_READY] = SAY_ON_READY,
        [WEFT_STEP_BLOCKED] = SAY_ON_BLOCKED,       [WEFT_STEP_COLLECTING] = SAY_ON_COLLECTING,
        [WEFT_STEP_PREEMPTED] = SAY_ON_PREEMPTED,   [WEFT_STEP_OUTSIDE] = SAY_ON_OUTSIDE,
        [WEFT_STEP_UNKNOWN] = SAY_ON_OUTSIDE,
    };
    const struct weft_slow_cause *c = &s->cause;
    if (c->lock)
        return SAY_ON_LOCK;
    if (c->share.kind == WEFT_STEP_RUNNING && c->share.family == s->family)
        return SAY_ON_RUNNING;
    return c->share.kind == WEFT_STEP_READY && !c->name ? SAY_ON_READY_ONLY : causes[c->share.kind];
}

static void say_slow(struct finder *f, struct weft_slow_sort *s)
{
    s->name = name_of(f, f->families.first[s->family], false);
    s->cause.name = name_of(f, s->cause.share.promise, s->cause.share.one_label);
    s->cause.holder_name = name_of(f, s->cause.holder, false);
    s->text = analyse_put_new(
        &f->failed, f->m, &f->families, s->all ? SAY_SLOW_ALL : SAY_SLOWEST, SORT(sort, s->family),
        AMOUNT(looked, s->looked), AMOUNT(count, s->count), LENGTH(slow, s->slow_ns),
        LENGTH(median, s->median_ns),
        NUMBER(percent, 100 * (double)s->cause.share.total_ns / (double)s->total_ns + 0.5),
        PHRASE(on, cause_of(s)), TEXT(thing, s->cause.name), TEXT(holder, s->cause.holder_name));
}

/* ---- All of it ---- */

/* If it waits for something slow, it is slow for the same reason, which is reported once. */
static bool is_told(const struct weft_slow *out, const struct weft_slow_cause *c)
{
    for (uint32_t i = 0; i < out->count; i++) {
        const struct weft_slow_cause *x = &out->sort[i].cause;
        if (x->lock == c->lock && x->share.kind == c->share.kind &&
            x->share.family == c->share.family)
            return true;
    }
    return false;
}

int weft_slow_find(struct weft_slow *out, const struct weft_history *h)
{
    struct finder f = {.h = h, .m = h->m};
    *out = (struct weft_slow){0};
    if (analyse_families_init(&f.families, h->m) < 0)
        return WEFT_E_NOMEM;
    find_candidates(&f);
    for (uint32_t i = 0; i < f.candidates && out->count < WEFT_SLOW_SORTS && !f.failed; i++) {
        struct weft_slow_sort *s = &out->sort[out->count];
        *s =
            (struct weft_slow_sort){.family = f.candidate[i].family, .count = f.candidate[i].count};
        if (!find_slowest(&f, s) || !find_cause(&f, s) || is_told(out, &s->cause)) {
            *s = (struct weft_slow_sort){0};
            continue;
        }
        out->count++;
        say_slow(&f, s);
    }
    analyse_families_fini(&f.families);
    free(f.member);
    free(f.span);
    if (f.failed)
        weft_slow_fini(out);
    return f.failed ? WEFT_E_NOMEM : 0;
}

void weft_slow_fini(struct weft_slow *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        free(s->sort[i].name);
        free(s->sort[i].text);
        free(s->sort[i].cause.name);
        free(s->sort[i].cause.holder_name);
    }
    *s = (struct weft_slow){0};
}

const char *weft_slow_cause_name(const struct weft_slow_cause *c)
{
    return c->lock ? "lock" : weft_step_name(c->share.kind);
}
