/* SPDX-License-Identifier: ISC */
/* Several copies of the library in one process: the one that this program is linked with, and two that it
 * loads, as plugins bring them along, each under a name of its own, and unloads and loads again.
 *
 *     copies [-t] LIBRARY FOLDER
 *
 * No copy breaks another: the program runs on, and the trace is whole. -t: what is recorded through any of
 * them stands in one trace, WEFT_TRACE, together: each call once, in order, promises of one resolved by
 * another. */
#include <dlfcn.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../record/trace.h"
#include <weft/weft.h>

enum { CALLS = 2000, ROUNDS = 3, COPIES = 2 };

/* What is called of a copy, as the macros of weft.h do. */
struct copy {
    void *handle;
    uint32_t *state;
    weft_promise (*create)(struct weft_site *, const char *, const char *);
    void (*event)(unsigned, weft_promise);
    void (*event_by)(unsigned, weft_promise, weft_promise);
    void (*stop)(void);
    struct weft_site site;
};

static char name[COPIES][4200];
static struct copy copy[COPIES];

static bool copy_file(const char *from, const char *to)
{
    struct stat st;
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    bool ok = in >= 0 && out >= 0 && fstat(in, &st) == 0;
    for (off_t done = 0; ok && done < st.st_size;)
        ok = sendfile(out, in, &done, (size_t)(st.st_size - done)) > 0;
    close(in);
    close(out);
    return ok;
}

static bool load(unsigned i)
{
    struct copy *c = &copy[i];
    c->handle = dlopen(name[i], RTLD_NOW | RTLD_LOCAL);
    if (!c->handle) {
        printf("%s\n", dlerror());
        return false;
    }
    *(void **)&c->state = dlsym(c->handle, "weft_impl_state");
    *(void **)&c->create = dlsym(c->handle, "weft_impl_create");
    *(void **)&c->event = dlsym(c->handle, "weft_impl_event");
    *(void **)&c->event_by = dlsym(c->handle, "weft_impl_event_by");
    *(void **)&c->stop = dlsym(c->handle, "weft_stop");
    c->site = (struct weft_site){0, __FILE__, __LINE__, 3};
    return c->state && c->create && c->event && c->event_by && c->stop;
}

static bool is_on(const struct copy *c)
{
    return __atomic_load_n(c->state, __ATOMIC_RELAXED) & 1;
}

/* A promise of the program, and of each copy; each resolved by the next one. */
static void *record(void *arg)
{
    (void)arg;
    for (unsigned n = 0; n < CALLS; n++) {
        weft_promise p[COPIES + 1] = {weft_create("of the program", "first")};
        for (unsigned i = 0; i < COPIES; i++)
            if (is_on(&copy[i]))
                p[i + 1] = copy[i].create(&copy[i].site, i ? "of two" : "of one", "later");
        for (unsigned i = 0; i <= COPIES; i++) {
            unsigned by = (i + 1) % (COPIES + 1);
            if (by && is_on(&copy[by - 1]))
                copy[by - 1].event(WEFT_IMPL_FULFILL, p[i]);
            else
                weft_fulfill(p[i]);
        }
    }
    return NULL;
}

static bool run(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        pthread_t thread[2];
        for (unsigned i = 0; i < COPIES; i++)
            if (!load(i))
                return false;
        for (unsigned i = 0; i < 2; i++)
            if (pthread_create(&thread[i], NULL, record, NULL))
                return false;
        record(NULL);
        /* While threads run that have recorded through them: they stay, for those call back when they end. */
        for (unsigned i = 0; i < COPIES; i++)
            dlclose(copy[i].handle);
        for (unsigned i = 0; i < 2; i++)
            pthread_join(thread[i], NULL);
    }
    return true;
}

struct sums {
    uint64_t created[COPIES + 1], fulfilled, others;
};

static bool read_sums(const char *path, struct sums *s)
{
    static const char *const types[] = {"of the program", "of one", "of two"};
    struct trace t;
    *s = (struct sums){.others = 0};
    if (trace_read(&t, path) < 0 || t.damage->problems || t.facts->unknown_events ||
        t.facts->overwritten_events || t.facts->discarded_events) {
        printf("%s: %s\n", path, t.error.text);
        return false;
    }
    for (size_t i = 0; i < t.events; i++) {
        const struct weft_event *ev = &t.event[i];
        unsigned of = 0;
        while (ev->kind == WEFT_EVENT_CREATES && of <= COPIES &&
               strcmp(ev->origin->type, types[of]))
            of++;
        if (ev->kind == WEFT_EVENT_CREATES && of <= COPIES)
            s->created[of]++;
        else
            *(ev->kind == WEFT_EVENT_FULFILLS ? &s->fulfilled : &s->others) += 1;
    }
    trace_free(&t);
    return true;
}

/* The program's own calls are all there, whatever the copies do. */
static bool check(const char *path, bool together)
{
    struct sums s;
    const uint64_t each = 3 * ROUNDS * CALLS;
    if (!read_sums(path, &s))
        return false;
    printf("created: %" PRIu64 " by the program, %" PRIu64 " and %" PRIu64 " by copies; %" PRIu64
           " fulfilled; %" PRIu64 " others; calls of each: %" PRIu64 "\n",
           s.created[0], s.created[1], s.created[2], s.fulfilled, s.others, each);
    if (s.created[0] != each || s.others ||
        s.fulfilled != s.created[0] + s.created[1] + s.created[2])
        return false;
    return !together || (s.created[1] == each && s.created[2] == each);
}

int main(int argc, char **argv)
{
    bool together = false;
    char path[4200], again[16] = "again";
    for (int o; (o = getopt(argc, argv, "t")) != -1;) {
        if (o == '?')
            return 2;
        together = true;
    }
    if (argc - optind < 2)
        return 2;
    const char *library = argv[optind], *folder = argv[optind + 1];
    snprintf(path, sizeof path, "%s/copies%s.weft", folder, together ? ".together" : "");
    for (unsigned i = 0; i < COPIES; i++)
        snprintf(name[i], sizeof name[i], "%s/libcopy%u%s.so", folder, i, together ? "t" : "");
    if (argc - optind > 2)
        return !run();
    for (unsigned i = 0; i < COPIES; i++)
        if (!copy_file(library, name[i]))
            return 2;
    pid_t pid = fork();
    if (pid == 0) {
        setenv("WEFT_TRACE", path, 1);
        setenv("WEFT_TRACE_SIZE", "16777216", 1);
        if (together)
            execl("/proc/self/exe", argv[0], "-t", library, folder, again, (char *)NULL);
        execl("/proc/self/exe", argv[0], library, folder, again, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
        printf("the program ended with status %x\n", (unsigned)status);
        return 1;
    }
    return !check(path, together);
}
