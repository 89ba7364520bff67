/* SPDX-License-Identifier: ISC */
/* import good|bad: a reader that waits for a lock which nobody will give back.
 *
 * Wrong: the importer holds the lock of the catalogue while it reads records. One of them is bad, and it returns without
 * unlocking.
 * Mended: it unlocks on every path. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool bad;
static pthread_mutex_t catalogue = PTHREAD_MUTEX_INITIALIZER;
static const char *const records[] = {"one", "two", "", "four"};
static int known; /* under catalogue */

static void *import_all(void *unused)
{
    pthread_mutex_lock(&catalogue);
    for (int i = 0; i < 4; i++) {
        if (!*records[i]) {
            if (!bad)
                pthread_mutex_unlock(&catalogue);
            return unused;
        }
        known++;
    }
    pthread_mutex_unlock(&catalogue);
    return unused;
}

static void *count(void *result)
{
    pthread_mutex_lock(&catalogue);
    *(int *)result = known;
    pthread_mutex_unlock(&catalogue);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t importer, reader;
    int result = 0;
    bad = argc > 1 && strcmp(argv[1], "bad") == 0;
    pthread_create(&importer, NULL, import_all, NULL);
    pthread_join(importer, NULL);
    pthread_create(&reader, NULL, count, &result);
    pthread_join(reader, NULL);
    printf("%d records\n", result);
    return 0;
}
