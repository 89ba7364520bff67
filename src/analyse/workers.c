/* SPDX-License-Identifier: ISC */
/* Worker threads that process jobs which others hand to them: jobs that begin late because all
 * workers are busy, or never, because all workers wait for what only they can begin.
 * A job runs on one thread from beginning to end, with no other job of its sort in between; it was
 * created elsewhere. A promise inside of which other jobs run is the worker itself; that alone does
 * not make it busy. The threads on which jobs of a sort ran are its pool. */
#include "analyse/judge.h"

#define LATE_NS INT64_C(10000000)  /* from creation to the first run */
#define BURST_NS INT64_C(10000000) /* jobs created within this time were created at once */

enum {
    STREAMS = 64,   /* threads that are examined */
    LATE_TIMES = 5, /* … and times the median duration of a job of its sort */
    BUSY = 90,      /* percent of that time */
    OTHERS = 50,    /* percent of it that other sorts took: they are in the way */
    LATE_ONES = 3,  /* jobs of a sort */
    LATE_SHARE = 5, /* 1/LATE_SHARE of the sort: there are too few workers */
    DEEP = 8,       /* waits from a job to what has never run */
    SHOWN = 4,
};

struct sort {
    uint64_t pool;   /* streams: bits */
    uint32_t jobs;   /* that ran */
    uint32_t handed; /* created elsewhere */
    bool never;      /* they do not run one at a time, or not on such streams */
    uint32_t unrun;  /* ended, but never ran */
};

struct finder {
    struct analyse_search *s;
    const struct weft_model *m;
    const struct weft_history *h;
    struct sort *sort; /* by family */
    uint32_t *last;    /* by family: on the current stream, the one that began last */
    bool *is_worker;   /* by promise: others run inside it */
    int64_t *sum;      /* parallel to stream_run: how long the stream was busy until then */
    /* parallel to stream_run: by this run, and until the same promise continues */
    int64_t *taken;
    struct analyse_lists jobs; /* by family */
    int64_t *length;           /* for a median; by family: how long a job takes a worker */
    uint32_t *touched;
};

static uint32_t family(const struct finder *f, uint32_t promise)
{
    return f->s->families->of[promise];
}

static const struct weft_run *first_run(const struct finder *f, uint32_t promise)
{
    const uint32_t first = f->h->runs_of_first[promise];
    return first < f->h->runs_of_first[promise + 1] ? &f->m->run[f->h->runs_of[first]] : NULL;
}

/* ---- Which promises are jobs ---- */

/* Returns true if it was created on another stream; for the loop, all except the first are. */
static bool is_handed(const struct finder *f, uint32_t promise, uint32_t stream)
{
    const struct weft_promise *p = &f->m->promise[promise];
    if (p->creator == WEFT_ROOT)
        return stream != 0;
    const uint32_t run = weft_history_run_at(f->h, p->creator, p->start_ns);
    return run != WEFT_NONE && weft_history_stream(f->h, run) != stream;
}

static void find_jobs_of_stream(struct finder *f, uint32_t stream)
{
    const struct weft_history *h = f->h;
    uint32_t before = WEFT_ROOT;
    analyse_each(i, h->stream_first, stream) {
        const uint32_t run = h->stream_run[i], p = h->run_promise[run];
        struct sort *k = &f->sort[family(f, p)];
        if (p == WEFT_ROOT)
            continue;
        if (h->runs_of[h->runs_of_first[p]] == run) {
            if (before != WEFT_ROOT && before != p &&
                analyse_end_ns(f->h, before) > f->m->run[run].start_ns)
                f->is_worker[before] = true;
            f->last[family(f, p)] = p;
            k->jobs++;
            k->handed += is_handed(f, p, stream);
            k->never |= stream >= STREAMS;
            k->pool |= stream < STREAMS ? UINT64_C(1) << stream : 0;
        } else if (f->last[family(f, p)] != p) {
            k->never = true;
        }
        before = p;
    }
}

/* A job that pauses keeps its worker busy if it continues with no other in between. */
static void measure_stream(struct finder *f, uint32_t stream)
{
    const struct weft_history *h = f->h;
    const uint32_t first = h->stream_first[stream], end = h->stream_first[stream + 1];
    uint32_t next = WEFT_NONE;
    int64_t next_ns = f->m->end_ns, sum = 0;
    for (uint32_t i = end; i-- > first;) {
        const struct weft_run *r = &f->m->run[h->stream_run[i]];
        const uint32_t p = h->run_promise[h->stream_run[i]];
        if (p == WEFT_ROOT)
            continue;
        if (!f->is_worker[p])
            f->taken[i] =
                (next == p || (next == WEFT_NONE && !analyse_has_ended(f->m, p)) ? next_ns
                                                                                 : r->end_ns) -
                r->start_ns;
        next = p;
        next_ns = r->start_ns;
    }
    for (uint32_t i = first; i < end; i++) {
        f->sum[i] = sum;
        sum += f->taken[i];
    }
}

static int64_t busy_until(const struct finder *f, uint32_t stream, int64_t time_ns)
{
    uint32_t at = weft_history_stream_from(f->h, stream, time_ns);
    while (at > f->h->stream_first[stream] &&
           f->h->run_promise[f->h->stream_run[at - 1]] == WEFT_ROOT)
        at--;
    if (at == f->h->stream_first[stream])
        return 0;
    const int64_t since = time_ns - f->m->run[f->h->stream_run[at - 1]].start_ns;
    return f->sum[at - 1] + weft_earlier(since, f->taken[at - 1]);
}

static bool worker_is_busy(const struct finder *f, uint64_t pool, int64_t from_ns, int64_t to_ns)
{
    for (; pool; pool &= pool - 1) {
        const uint32_t stream = (uint32_t)__builtin_ctzll(pool);
        const int64_t busy = busy_until(f, stream, to_ns) - busy_until(f, stream, from_ns);
        if (busy < (to_ns - from_ns) / 100 * BUSY)
            return false;
    }
    return true;
}

static bool is_job(const struct sort *k)
{
    return k->jobs && !k->never && k->handed >= k->jobs / 2 + k->jobs % 2;
}

/* ---- Workers that are busy ---- */

struct late {
    uint32_t count, worst;
    int64_t worst_ns, usual_ns, waited_ns, first_ns, last_ns;
    uint32_t busy_with, percent; /* mostly, in the meantime: a family */
};

/* The last run before a time that kept a stream busy, or its first one. */
static uint32_t busy_at(const struct finder *f, uint32_t stream, int64_t time_ns)
{
    uint32_t at = weft_history_stream_from(f->h, stream, time_ns);
    while (at > f->h->stream_first[stream] && f->taken[--at] == 0)
        ;
    return at;
}

/* Finds what the workers were busy with while the worst job waited. */
static void find_busy(struct finder *f, struct late *x, uint64_t pool)
{
    const int64_t from = f->m->promise[x->worst].start_ns, to = from + x->worst_ns;
    int64_t all = 0;
    uint32_t touches = 0;
    for (; pool; pool &= pool - 1) {
        const uint32_t stream = (uint32_t)__builtin_ctzll(pool);
        for (uint32_t i = busy_at(f, stream, from); i < f->h->stream_first[stream + 1]; i++) {
            const struct weft_run *r = &f->m->run[f->h->stream_run[i]];
            const uint32_t k = family(f, f->h->run_promise[f->h->stream_run[i]]);
            const int64_t ns = analyse_overlap(r->start_ns, r->start_ns + f->taken[i], from, to);
            if (r->start_ns >= to)
                break;
            if (ns && f->length[k] == 0)
                f->touched[touches++] = k;
            f->length[k] += ns;
            all += ns;
        }
    }
    int64_t most = 0;
    for (uint32_t i = 0; i < touches; i++) {
        const uint32_t k = f->touched[i];
        if (f->length[k] > most) {
            most = f->length[k];
            x->busy_with = k;
            x->percent = (uint32_t)((double)most * 100 / (double)all);
        }
        f->length[k] = 0;
    }
}

static void report_late(struct finder *f, uint32_t sort, struct late *x)
{
    uint64_t pool = f->sort[sort].pool;
    find_busy(f, x, pool);
    const bool same = x->busy_with == sort || x->percent < OTHERS;
    const uint64_t signs = (x->count < LATE_ONES ? ANALYSE_WB_FEW : 0) |
                           (x->last_ns - x->first_ns < BURST_NS ? ANALYSE_WB_BURST : 0) |
                           (same ? ANALYSE_WB_SAME : 0) |
                           (x->count < f->sort[sort].jobs / LATE_SHARE ? ANALYSE_WB_RARE : 0);
    const int64_t from = f->m->promise[x->worst].start_ns;
    if (!analyse_report(f->s, WEFT_FINDING_WORKERS_BUSY, analyse_signs(f->s, x->worst) | signs,
                        x->worst, from, from + x->worst_ns, x->waited_ns))
        return;
    analyse_say(f->s, SAY_WORKERS_BUSY, SORT(sort, sort), AMOUNT(count, x->count),
                AMOUNT(jobs, f->sort[sort].jobs), NUMBER(workers, __builtin_popcountll(pool)),
                PROMISE(worst, x->worst), TIME(created, from), LENGTH(waited, x->worst_ns),
                LENGTH(usual, x->usual_ns), SORT(busy_with, x->busy_with),
                NUMBER(percent, x->percent));
    f->s->finding->count = x->count;
    analyse_show_created(f->s, x->worst);
    for (unsigned n = 0; pool && n < SHOWN; pool &= pool - 1, n++) {
        const uint32_t at = busy_at(f, (uint32_t)__builtin_ctzll(pool), from + x->worst_ns / 2);
        const uint32_t run = f->h->stream_run[at];
        if (f->taken[at])
            analyse_show(f->s, f->m->run[run].start_ns, WEFT_EVIDENCE_RUNS, f->h->run_promise[run],
                         WEFT_NONE);
    }
    analyse_show(f->s, from + x->worst_ns, WEFT_EVIDENCE_RUNS, x->worst, WEFT_NONE);
}

static void find_late_jobs(struct finder *f, uint32_t sort)
{
    struct late x = {.usual_ns = INT64_MAX / LATE_TIMES, .first_ns = INT64_MAX};
    uint32_t n = 0;
    analyse_each(i, f->jobs.first, sort)
        if (analyse_has_ended(f->m, f->jobs.item[i]))
            f->length[n++] =
                analyse_end_ns(f->h, f->jobs.item[i]) - first_run(f, f->jobs.item[i])->start_ns;
    if (n)
        x.usual_ns = analyse_median(f->length, n);
    analyse_each(i, f->jobs.first, sort) {
        const uint32_t p = f->jobs.item[i];
        const int64_t from = f->m->promise[p].start_ns, stood = first_run(f, p)->start_ns - from;
        if (!f->m->promise[p].created || stood < LATE_NS || stood / LATE_TIMES < x.usual_ns ||
            !worker_is_busy(f, f->sort[sort].pool, from, from + stood))
            continue;
        x.count++;
        x.waited_ns += stood;
        x.first_ns = weft_earlier(from, x.first_ns);
        x.last_ns = weft_later(from, x.last_ns);
        if (stood > x.worst_ns) {
            x.worst_ns = stood;
            x.worst = p;
        }
    }
    analyse_each(i, f->jobs.first, sort)
        f->length[i - f->jobs.first[sort]] = 0;
    if (x.count)
        report_late(f, sort, &x);
}

/* ---- Workers that wait for each other ---- */

/* An open wait of a job that leads to something that never ran and that only these workers run. */
struct stuck {
    uint32_t wait, job;
    uint64_t signs;
};

/* Where promises of a type run if all of them are jobs, otherwise 0. */
static uint64_t pool_of_type(const struct finder *f, uint32_t type)
{
    uint64_t pool = 0;
    for (uint32_t i = 1; i < f->s->families->count; i++) {
        const struct sort *like = &f->sort[i];
        if (f->m->promise[f->s->families->first[i]].type != type)
            continue;
        if (like->unrun || (like->jobs && !is_job(like)))
            return 0;
        pool |= like->pool;
    }
    return pool;
}

/* Returns true if it waits for one of these workers, and how certain that is. */
static bool waits_to_run(struct finder *f, uint32_t promise, uint64_t pool, uint64_t *signs)
{
    const struct sort *k = &f->sort[family(f, promise)];
    const struct weft_promise *p = &f->m->promise[promise];
    if (promise == WEFT_ROOT || analyse_has_ended(f->m, promise) || first_run(f, promise) ||
        !p->created)
        return false;
    if (k->jobs)
        return is_job(k) && !(k->pool & ~pool);
    const uint64_t of_type = pool_of_type(f, p->type); /* none of its sort ever ran */
    if (!of_type || of_type & ~pool)
        return false;
    *signs |= ANALYSE_WD_TYPE;
    return true;
}

static bool worker_is_stuck(struct finder *f, uint32_t stream, uint64_t pool, struct stuck *x)
{
    const struct weft_history *h = f->h;
    uint32_t end = h->stream_first[stream + 1];
    while (end > h->stream_first[stream] && h->run_promise[h->stream_run[end - 1]] == WEFT_ROOT)
        end--;
    if (end == h->stream_first[stream])
        return false;
    const uint32_t job = h->run_promise[h->stream_run[end - 1]];
    uint32_t at = job;
    bool several = false;
    for (unsigned depth = 0; depth < DEEP && at != WEFT_ROOT && !analyse_has_ended(f->m, at);
         depth++) {
        uint32_t open;
        const uint32_t wait = analyse_open(h, h->waits_of_first, h->waits_of, at, &open);
        if (wait == WEFT_NONE)
            break;
        several |= open > 1;
        if (depth == 0)
            x->wait = wait;
        at = weft_model_final(f->m, h->wait[wait].source);
        if (!waits_to_run(f, at, pool, &x->signs))
            continue;
        x->job = at;
        x->signs |= several ? ANALYSE_WD_FREE : 0;
        return true;
    }
    const uint32_t last = h->children_first[job + 1];
    for (uint32_t i = h->children_first[job], n = 0; at != job && i < last && n < DEEP; i++, n++)
        if (waits_to_run(f, h->children[i], pool, &x->signs)) {
            x->job = h->children[i];
            x->signs |= ANALYSE_WD_CONCLUDED | (several ? ANALYSE_WD_FREE : 0);
            return true;
        }
    return false;
}

static void report_stuck(struct finder *f, const struct stuck *x, unsigned count)
{
    uint64_t signs = analyse_signs(f->s, x[0].job);
    int64_t last = INT64_MIN, cost = 0;
    for (unsigned i = 0; i < count; i++) {
        const int64_t from = f->h->wait[x[i].wait].from_ns;
        signs |= x[i].signs;
        last = from > last ? from : last;
        cost += f->m->end_ns - from;
    }
    signs |= f->m->end_ns - last < f->s->o->hang_ns ? ANALYSE_WD_SHORT : 0;
    if (!analyse_report(f->s, WEFT_FINDING_POOL_DEADLOCK, signs, x[0].job,
                        f->m->promise[x[0].job].start_ns, INT64_MAX, cost))
        return;
    for (unsigned i = 0; i < count; i++) {
        const struct weft_wait *w = &f->h->wait[x[i].wait];
        analyse_affects(f->s, w->reader);
        if (i >= SHOWN)
            continue;
        analyse_list(f->s, "; ", SAY_WORKER_WAITS, PROMISE(worker, w->reader),
                     PROMISE(source, weft_model_final(f->m, w->source)), TIME(since, w->from_ns));
        analyse_show_created(f->s, x[i].job);
        analyse_show(f->s, w->from_ns, WEFT_EVIDENCE_WAITS_STILL, w->reader, w->source);
    }
    analyse_say(f->s, SAY_WORKERS_STUCK, FLAG(one, count == 1),
                NUMBER(count, count > 1 ? count : 0), TEXT(workers, f->s->list.text));
}

static void find_stuck_pool(struct finder *f, uint64_t pool)
{
    struct stuck x[STREAMS];
    unsigned count = 0;
    for (uint64_t left = pool; left; left &= left - 1) {
        x[count] = (struct stuck){.job = WEFT_NONE};
        if (!worker_is_stuck(f, (uint32_t)__builtin_ctzll(left), pool, &x[count++]))
            return;
    }
    if (count)
        report_stuck(f, x, count);
}

/* ---- The search ---- */

static uint32_t sort_of_job(const void *finder, uint32_t promise)
{
    const struct finder *f = finder;
    return first_run(f, promise) ? family(f, promise) : WEFT_NONE;
}

/* Sorts that share a thread share all of their threads. Returns how many pools there are. */
static unsigned join_thread_pools(struct finder *f, uint64_t *pool)
{
    unsigned pools = 0;
    for (uint32_t i = 1; i < f->s->families->count; i++) {
        uint64_t all = is_job(&f->sort[i]) ? f->sort[i].pool : 0;
        unsigned kept = 0;
        if (!all)
            continue;
        for (unsigned k = 0; k < pools; k++)
            if (pool[k] & all)
                all |= pool[k];
            else
                pool[kept++] = pool[k];
        pool[kept++] = all;
        pools = kept;
    }
    for (uint32_t i = 1; i < f->s->families->count; i++)
        for (unsigned k = 0; k < pools && is_job(&f->sort[i]); k++)
            if (pool[k] & f->sort[i].pool)
                f->sort[i].pool = pool[k];
    return pools;
}

void analyse_find_workers(struct analyse_search *s)
{
    struct finder f = {.s = s, .m = s->m, .h = s->h};
    uint64_t pool[STREAMS + 1];
    if (s->h->streams < 2)
        return;
    const uint64_t most = s->m->promises > s->families->count ? s->m->promises : s->families->count;
    f.sort = analyse_take(s, s->families->count, sizeof *f.sort);
    f.last = analyse_take(s, s->families->count, sizeof *f.last);
    f.touched = analyse_take(s, s->families->count, sizeof *f.touched);
    f.is_worker = analyse_take(s, s->m->promises, sizeof *f.is_worker);
    f.sum = analyse_take(s, (size_t)s->m->runs + 1, sizeof *f.sum);
    f.taken = analyse_take(s, (size_t)s->m->runs + 1, sizeof *f.taken);
    f.length = analyse_take(s, most, sizeof *f.length);
    f.jobs = analyse_lists(s, s->families->count, s->m->promises, sort_of_job, &f);
    if (s->failed)
        return;
    for (uint32_t p = 1; p < s->m->promises; p++)
        f.sort[family(&f, p)].unrun += !first_run(&f, p) && analyse_has_ended(s->m, p);
    for (uint32_t i = 0; i < s->h->streams; i++)
        find_jobs_of_stream(&f, i);
    for (uint32_t i = 0; i < s->h->streams; i++)
        measure_stream(&f, i);
    const unsigned pools = join_thread_pools(&f, pool);
    for (uint32_t i = 1; i < s->families->count && !s->failed; i++)
        if (is_job(&f.sort[i]))
            find_late_jobs(&f, i);
    for (unsigned k = 0; k < pools && !s->failed; k++)
        find_stuck_pool(&f, pool[k]);
}
