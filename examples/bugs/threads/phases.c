/* SPDX-License-Identifier: ISC */
/* phases good|bad: threads that begin each phase together.
 *
 * Wrong: the barrier is for one thread more than there are, since somebody once counted main, too.
 * Mended: it is for as many as there are. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define THREADS 3
#define PHASES 5

static pthread_barrier_t phase;

static void *compute(void *sum)
{
    for (int i = 0; i < PHASES; i++) {
        *(int *)sum += i;
        pthread_barrier_wait(&phase);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int sums[THREADS] = {0};
    const bool bad = argc > 1 && strcmp(argv[1], "bad") == 0;
    pthread_barrier_init(&phase, NULL, bad ? THREADS + 1 : THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, compute, &sums[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", sums[0] + sums[1] + sums[2]);
    return 0;
}
