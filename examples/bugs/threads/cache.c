/* SPDX-License-Identifier: ISC */
/* cache good|bad: clients that all need one lock.
 *
 * Wrong: whoever looks something up in the cache, and does not find it there, asks the database while it holds the lock.
 * All others wait, even for what is there.
 * Mended: it unlocks, asks, and locks again to store the answer. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define CLIENTS 6
#define REQUESTS 20 /* of a client */

static bool bad;
static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER;
static int answers; /* under cache */

static void ask_database(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void *client(void *unused)
{
    for (int i = 0; i < REQUESTS; i++) {
        pthread_mutex_lock(&cache);
        if (!bad)
            pthread_mutex_unlock(&cache);
        ask_database();
        if (!bad)
            pthread_mutex_lock(&cache);
        answers++;
        pthread_mutex_unlock(&cache);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t clients[CLIENTS];
    bad = argc > 1 && strcmp(argv[1], "bad") == 0;
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    printf("%d answers\n", answers);
    return 0;
}
