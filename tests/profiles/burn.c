/* SPDX-License-Identifier: ISC */
/* burn MS [THREADS [CORE]]: heavy() has 75 % of MS milliseconds of CPU time, light() 25 %; in each of the threads, which
 * are named burner-1 …; all on that core, if one is given. Compiled several ways: see meson.build. */
#include <pthread.h>
#include <sched.h>

#include "share.h"

#ifdef BURN_INLINED
BURNER(INLINED, heavy)
BURNER(INLINED, light)
#else
BURNER(ALONE, heavy)
BURNER(ALONE, light)
#endif

struct burner {
    pthread_t thread;
    uint64_t goal_ns;
    struct share share[2];
    struct turns turns;
};

ALONE static void handle(struct turns *t)
{
    uint64_t until;
    if (turn_begin(t, &until) == 0)
        heavy(until);
    else
        light(until);
}

static void *burner(void *argument)
{
    struct burner *b = argument;
    while (turns_ns(&b->turns) < b->goal_ns)
        handle(&b->turns);
    turn_end(&b->turns);
    return NULL;
}

#define THREADS_MAX 64
static struct burner burners[THREADS_MAX];

int main(int argc, char **argv)
{
    unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    if (argc < 2 || argc > 4 || threads < 1 || threads > THREADS_MAX) {
        fputs("usage: burn MS [THREADS [CORE]]\n", stderr);
        return 2;
    }
    if (argc > 3) {
        cpu_set_t cores;
        CPU_ZERO(&cores);
        CPU_SET((size_t)atoi(argv[3]), &cores);
        if (sched_setaffinity(0, sizeof(cores), &cores) != 0) {
            perror(argv[3]);
            return 1;
        }
    }
    for (unsigned i = 0; i < threads; i++) {
        struct burner *b = &burners[i];
        b->goal_ns = parse_ms(argv[1]);
        b->share[0] = (struct share){"heavy", 75, 0};
        b->share[1] = (struct share){"light", 25, 0};
        b->turns = (struct turns){.share = b->share, .shares = 2, .random = i + 1};
        if (threads == 1)
            burner(b);
        else if (pthread_create(&b->thread, NULL, burner, b) != 0)
            abort();
        else {
            char name[16];
            snprintf(name, sizeof(name), "burner-%u", i + 1);
            pthread_setname_np(b->thread, name);
        }
    }
    struct share sum[2] = {{"heavy", 75, 0}, {"light", 25, 0}};
    for (unsigned i = 0; i < threads; i++) {
        if (threads > 1)
            pthread_join(burners[i].thread, NULL);
        for (unsigned k = 0; k < 2; k++)
            sum[k].used_ns += burners[i].share[k].used_ns;
    }
    tell_shares(sum, 2);
    return 0;
}
