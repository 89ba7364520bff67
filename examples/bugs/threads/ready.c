/* SPDX-License-Identifier: ISC */
/* ready good|bad: a thread that begins when the configuration has been read.
 *
 * Wrong: where there is no configuration, nobody says that it is ready.
 * Mended: that is said on every path. */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static sem_t configured;
static int size; /* from the configuration */

static void *serve(void *unused)
{
    while (sem_wait(&configured) != 0)
        ;
    printf("size %d\n", size);
    return unused;
}

static void configure(const char *text, bool bad)
{
    if (!text) {
        if (!bad)
            sem_post(&configured);
        return;
    }
    size = (int)strlen(text);
    sem_post(&configured);
}

int main(int argc, char **argv)
{
    pthread_t server;
    sem_init(&configured, 0, 0);
    pthread_create(&server, NULL, serve, NULL);
    configure(NULL, argc > 1 && strcmp(argv[1], "bad") == 0);
    pthread_join(server, NULL);
    return 0;
}
