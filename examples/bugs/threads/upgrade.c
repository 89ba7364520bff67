/* SPDX-License-Identifier: ISC */
/* upgrade good|bad: a table that many read, and sometimes one changes.
 *
 * Wrong: whoever finds an old entry while it reads wants to write, and still holds the lock for reading. A lock for writing
 * is given when nobody reads: never.
 * Mended: it lets go of the lock first, and looks again. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool bad;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static int entry = 1; /* under table */

static void *refresh(void *unused)
{
    pthread_rwlock_rdlock(&table);
    const bool is_old = entry == 1;
    if (!bad)
        pthread_rwlock_unlock(&table);
    if (is_old) {
        pthread_rwlock_wrlock(&table);
        if (entry == 1)
            entry = 2;
        pthread_rwlock_unlock(&table);
    }
    if (bad)
        pthread_rwlock_unlock(&table);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    bad = argc > 1 && strcmp(argv[1], "bad") == 0;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, refresh, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", entry);
    return 0;
}
