/* SPDX-License-Identifier: ISC */
/* The configuration is loaded once, by whoever needs it first: a thread reads each of its two files. With the fault such a
 * thread itself asks for the configuration, which is not there before the thread has ended. With "good" as argument it
 * does not.
 *
 *     gcc config.c -o config -lpthread
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_once_t loaded = PTHREAD_ONCE_INIT;
static int good, files;
static pthread_mutex_t count = PTHREAD_MUTEX_INITIALIZER;

static void load(void);

static void *read_file(void *name)
{
    if (!good)
        pthread_once(&loaded, load); /* is it verbose? */
    pthread_mutex_lock(&count);
    files++;
    pthread_mutex_unlock(&count);
    return name;
}

static void load(void)
{
    pthread_t reader[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&reader[i], NULL, read_file, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(reader[i], NULL);
}

int main(int argc, char **argv)
{
    good = argc > 1 && strcmp(argv[1], "good") == 0;
    pthread_once(&loaded, load);
    printf("%d files\n", files);
}
