/* SPDX-License-Identifier: ISC */
/* transfer good|bad: two clerks who transfer money between two accounts, one each way.
 *
 * Wrong: each locks the account that pays first. So each may hold one account, and wait for the other one forever.
 * Mended: both lock the accounts in the same order. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool bad;
static pthread_mutex_t savings = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t current = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both; /* at the bank at the same time */
static int money[2] = {100, 100};

static void *save(void *amount)
{
    pthread_mutex_lock(&current);
    if (bad)
        pthread_barrier_wait(&both);
    pthread_mutex_lock(&savings);
    money[0] += *(int *)amount;
    money[1] -= *(int *)amount;
    pthread_mutex_unlock(&savings);
    pthread_mutex_unlock(&current);
    return NULL;
}

static void *spend(void *amount)
{
    pthread_mutex_lock(bad ? &savings : &current);
    if (bad)
        pthread_barrier_wait(&both);
    pthread_mutex_lock(bad ? &current : &savings);
    money[0] -= *(int *)amount;
    money[1] += *(int *)amount;
    pthread_mutex_unlock(bad ? &current : &savings);
    pthread_mutex_unlock(bad ? &savings : &current);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t clerk[2];
    int amount = 30, less = 10;
    bad = argc > 1 && strcmp(argv[1], "bad") == 0;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&clerk[0], NULL, save, &amount);
    pthread_create(&clerk[1], NULL, spend, &less);
    pthread_join(clerk[0], NULL);
    pthread_join(clerk[1], NULL);
    printf("%d %d\n", money[0], money[1]);
    return 0;
}
