/* SPDX-License-Identifier: ISC */
/* What hung long ago is still there. A program creates and awaits "the lost reply", then records many other
 * events through a small ring; 10 000 other promises are created here and there among them, on several
 * threads, and stay pending, while others that were pending long are resolved and make room. All are shown
 * whole. Then too many of one sort: the newest go that are not marked, and are counted.
 *
 *     lost_reply [-n EVENTS] [-t THREADS] [-b BYTES] [-s SEED] FILE
 *
 * Also in the environment: EVENTS and SEED; WEFT: the program, whose `weft promises` is asked, too. */
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "truth.h"
#include "verify.h"
#include <weft/weft.h>

enum { STAY = 10000, COME_AND_GO = 300, SLACK_NS = 1000000 };

struct lost {
    uint64_t main, reply;
    uint64_t before_ns, after_ns, waited_ns; /* created between; awaited before */
};

static struct truth *truth;
static struct verified verified;
static const char *path;
static uint64_t events = 20000000, bytes = 8 << 20, seed = 1;
static unsigned threads = 4;

static struct weft_model *read_model(struct weft_reader **reader)
{
    struct weft_error err;
    struct weft_model *m = NULL;
    if (weft_reader_open(reader, path, &err) < 0 ||
        weft_model_build(&m, *reader, NULL, NULL, &err) < 0)
        printf("%s\n", err.text);
    return m;
}

static struct lost lose_reply(void)
{
    struct lost l = {.main = weft_create("task", "main")};
    weft_run(l.main);
    l.before_ns = truth_now_ns();
    l.reply = weft_create("rpc", "the lost reply");
    l.after_ns = truth_now_ns();
    weft_label(l.reply, "sent to 10.0.0.7");
    weft_wait(l.reply);
    l.waited_ns = truth_now_ns();
    weft_run(WEFT_LOOP);
    return l;
}

static bool near(int64_t ns, uint64_t first_ns, uint64_t from, uint64_t to, const char *what)
{
    int64_t early = (int64_t)(from - first_ns) - ns, late = ns - (int64_t)(to - first_ns);
    if (early <= SLACK_NS && late <= SLACK_NS)
        return true;
    printf("the lost reply: %s %" PRId64 " ns too early\n", what, early > late ? early : -late);
    return false;
}

/* The reply is there with its creation, creator, type, labels, and who waits for it since when. */
static bool check_reply(const struct weft_model *m, const struct lost *l)
{
    uint32_t reply = weft_model_find(m, l->reply), main_task = weft_model_find(m, l->main);
    if (reply == WEFT_NONE || main_task == WEFT_NONE) {
        printf("the lost reply %s, main %s\n", reply == WEFT_NONE ? "is not there" : "is there",
               main_task == WEFT_NONE ? "is not" : "is");
        return false;
    }
    const struct weft_promise *p = &m->promise[reply];
    uint32_t label = p->first_label, waits = 0;
    uint32_t next = label == WEFT_NONE ? WEFT_NONE : m->label[label].next;
    bool ok = p->created && p->outcome == WEFT_PENDING && p->creator == main_task &&
              !strcmp(weft_model_type(m, reply), "rpc") && label != WEFT_NONE &&
              !strcmp(weft_model_text(m, m->label[label].what, NULL), "the lost reply") &&
              next != WEFT_NONE &&
              !strcmp(weft_model_text(m, m->label[next].what, NULL), "sent to 10.0.0.7") &&
              m->promise[main_task].outcome == WEFT_PENDING && m->promise[main_task].created;
    if (!ok)
        printf("the lost reply: created %d, %s, by %" PRIu64 ", type %s, label %d, another %d\n",
               p->created, weft_outcome_name(p->outcome), m->promise[p->creator].id,
               weft_model_type(m, reply), label != WEFT_NONE, next != WEFT_NONE);
    ok &= near(p->start_ns, m->first_ns, l->before_ns, l->after_ns, "created");
    for (uint32_t i = 0; i < m->interactions; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        if (x->other != reply || x->kind != WEFT_WAITS || x->actor != main_task)
            continue;
        waits++;
        ok &= near(x->time_ns, m->first_ns, l->after_ns, l->waited_ns, "awaited");
    }
    if (waits != 1)
        printf("the lost reply: %" PRIu32 " waits\n", waits);
    return ok && waits == 1;
}

/* The line that `weft promises` prints of it. */
static bool check_line(const struct lost *l)
{
    char command[4096], line[1024], creator[24], outcome[24], type[24];
    const char *weft = getenv("WEFT");
    uint64_t id;
    int64_t start, end;
    if (!weft)
        return true;
    snprintf(command, sizeof command, "'%s' promises '%s'", weft, path);
    FILE *f = popen(command, "r");
    bool found = false;
    while (f && fgets(line, sizeof line, f))
        if (strstr(line, "\tthe lost reply\n"))
            found = sscanf(line, "%" SCNu64 " %23s %23s %" SCNd64 " %" SCNd64 " %23s", &id, type,
                           creator, &start, &end, outcome) == 6 &&
                    id == l->reply && !strcmp(type, "rpc") && start < 0 && end > 0 &&
                    strtoull(creator, NULL, 10) == l->main && !strcmp(outcome, "pending");
    if (!f || pclose(f) || !found) {
        printf("weft promises does not show the lost reply as it is\n");
        return false;
    }
    return true;
}

static void *work(void *arg)
{
    return truth_run(truth, (unsigned)(uintptr_t)arg);
}

static bool run_threads(void)
{
    pthread_t thread[TRUTH_THREADS];
    for (uintptr_t t = 1; t < threads; t++)
        if (pthread_create(&thread[t], NULL, work, (void *)t))
            return false;
    truth_run(truth, 0);
    for (unsigned t = 1; t < threads; t++)
        pthread_join(thread[t], NULL);
    return true;
}

/* Nothing is given up that there is room for. */
static bool all_stay(void)
{
    struct weft_reader *reader = NULL;
    struct truth_snapshot snapshot;
    struct weft_pending_header h;
    uint64_t recorded = 0;
    truth_clear(truth);
    /* A step is one and a half events on average. */
    truth->plan = (struct truth_plan){.threads = threads,
                                      .few_waits = TRUTH_WAITERS - 2, /* all are to fit */
                                      .cells = STAY + COME_AND_GO,
                                      .old = STAY,
                                      .share = 64,
                                      .labels = 4096,
                                      .seed = seed,
                                      .steps = events / threads * 2 / 3};
    int rc = weft_start(&(struct weft_options){.path = path, .bytes = bytes});
    if (rc < 0) {
        printf("weft_start: %s\n", strerror(-rc));
        return false;
    }
    struct lost lost = lose_reply();
    bool ok = run_threads();
    weft_stop();
    for (unsigned t = 0; t < threads; t++)
        recorded += truth->thread[t].done;
    truth_snap(&snapshot, truth, false);
    uint64_t pending = 0;
    for (uint32_t i = 0; i < STAY; i++)
        pending += snapshot.cell[i].stage == STAGE_PENDING;
    ok &= verify_promises(&snapshot, NULL, path, &verified);
    struct weft_model *m = read_model(&reader);
    ok = m && check_reply(m, &lost) && check_line(&lost) && ok;
    ok &= verify_pending_header(path, &h) && h.given_up == 0 && h.skipped == 0 &&
          verified.pending >= pending;
    ok &= verified.off_ns <= SLACK_NS;
    printf("%" PRIu64 " events, %" PRIu64 " promises pending, %" PRIu64
           " of them promoted; %" PRIu64 " ever promoted, %" PRIu64 " given up, %" PRIu64
           " notes skipped, %" PRIu32 " cells; creations within %" PRIu64 " ns\n",
           recorded, verified.pending, verified.promoted, h.kept, h.given_up, h.skipped, h.cells,
           verified.off_ns);
    weft_model_free(m);
    weft_reader_close(reader);
    free(snapshot.cell);
    return ok;
}

/* Three times as many as there is room for, some of them marked. */
static bool check_crowd(const struct weft_model *m, const uint64_t *id, uint32_t count,
                        uint32_t marked_each, const struct weft_pending_header *h)
{
    uint64_t missing = 0, marked = 0, oldest = 0, given_up = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t p = weft_model_find(m, id[i]);
        bool there = p != WEFT_NONE && m->promise[p].created &&
                     m->promise[p].outcome == WEFT_PENDING &&
                     m->promise[p].first_label != WEFT_NONE;
        missing += !there;
        marked += !there && i % marked_each == 0;
        oldest += !there && i < h->cells / 4; /* each set keeps its oldest */
    }
    for (uint32_t i = 0; i < m->given_ups; i++)
        if (!strcmp(weft_model_text(m, m->given_up[i].type, NULL), "many"))
            given_up += m->given_up[i].pending + m->given_up[i].unlisted;
    printf("%" PRIu32 " promises for %" PRIu32 " cells: %" PRIu64 " missing, %" PRIu64
           " given up; of those that are marked %" PRIu64 " missing, of the oldest %" PRIu64 "\n",
           count, h->cells, missing, given_up, marked, oldest);
    return missing == given_up && missing > 0 && !marked && !oldest;
}

static bool too_many(void)
{
    enum { MARKED_EACH = 16, OTHERS = 40 };
    struct weft_reader *reader = NULL;
    struct weft_pending_header h;
    int rc = weft_start(&(struct weft_options){.path = path, .bytes = 1 << 20});
    if (rc < 0 || !verify_pending_header(path, &h)) {
        printf("weft_start: %s, or no room for pending promises\n", strerror(-rc));
        return false;
    }
    uint32_t count = 3 * h.cells;
    uint64_t *id = calloc(count, sizeof *id);
    for (uint32_t i = 0; i < count + 4 * h.cells && id; i++) {
        if (i < count) {
            id[i] = weft_create("many", "one of many");
            if (i % MARKED_EACH == 0)
                weft_should_resolve(id[i]);
        }
        for (unsigned k = 0; k < OTHERS; k++)
            weft_fulfill(weft_create("other", NULL));
    }
    weft_stop();
    struct weft_model *m = read_model(&reader);
    bool ok =
        id && m && verify_pending_header(path, &h) && check_crowd(m, id, count, MARKED_EACH, &h);
    weft_model_free(m);
    weft_reader_close(reader);
    free(id);
    return ok;
}

int main(int argc, char **argv)
{
    const char *env[] = {getenv("EVENTS"), getenv("SEED")};
    events = env[0] ? strtoull(env[0], NULL, 10) : events;
    seed = env[1] ? strtoull(env[1], NULL, 10) : seed;
    for (int o; (o = getopt(argc, argv, "n:t:b:s:")) != -1;) {
        uint64_t n = optarg ? strtoull(optarg, NULL, 10) : 0;
        if (o == '?')
            return 2;
        if (o == 't')
            threads = (unsigned)n;
        else
            *(o == 'n' ? &events : o == 'b' ? &bytes : &seed) = n;
    }
    truth = truth_new();
    if (optind != argc - 1 || !truth || threads < 1 || threads > TRUTH_THREADS)
        return 2;
    path = argv[optind];
    printf("seed %" PRIu64 "\n", seed);
    bool ok = all_stay();
    return !(too_many() && ok);
}
