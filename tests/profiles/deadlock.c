/* SPDX-License-Identifier: ISC */
/* Two threads that wait for each other's lock, and one that waits in read; for ever. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static __attribute__((noinline)) void take(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(first);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second); /* so that this is no tail call */
}

static __attribute__((noinline)) int other_way_round(void)
{
    take(&other, &one);
    return getpid();
}

static void *second_thread(void *nothing)
{
    return other_way_round() ? nothing : NULL;
}

static __attribute__((noinline)) int wait_for_input(void)
{
    char byte;
    return read(STDIN_FILENO, &byte, 1) == 1;
}

static void *reader(void *nothing)
{
    return wait_for_input() ? nothing : NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, reader, NULL);
    pthread_create(&thread, NULL, second_thread, NULL);
    take(&one, &other);
    return 0;
}
