/* SPDX-License-Identifier: ISC */
/* What locks cost that nobody waits for: bench/run-threads runs it alone and recorded.
 *     locks-bench WHAT COUNT ROUNDS      prints the least of all rounds, in ns for each time */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;

static void *nothing(void *unused)
{
    return unused;
}

static void use_mutex(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static void use_read(void)
{
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
}

static void use_write(void)
{
    pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
}

static void use_semaphore(void)
{
    sem_wait(&semaphore);
    sem_post(&semaphore);
}

static void use_condition(void)
{
    pthread_cond_signal(&condition);
}

static void use_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
}

static const struct {
    const char *name;
    void (*use)(void);
} uses[] = {{"mutex", use_mutex},         {"read", use_read},           {"write", use_write},
            {"semaphore", use_semaphore}, {"condition", use_condition}, {"thread", use_thread}};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    size_t use = 0;
    while (argc == 4 && use < sizeof uses / sizeof *uses && strcmp(uses[use].name, argv[1]) != 0)
        use++;
    if (argc != 4 || use == sizeof uses / sizeof *uses)
        return 2;
    const long count = atol(argv[2]), rounds = atol(argv[3]);
    double least = 1e18;
    sem_init(&semaphore, 0, 1);
    use_thread(); /* nothing is recorded before */
    for (long r = 0; r < rounds; r++) {
        const double from = now_ns();
        for (long i = 0; i < count; i++)
            uses[use].use();
        const double each = (now_ns() - from) / (double)count;
        least = each < least ? each : least;
    }
    printf("%.2f\n", least);
    return 0;
}
