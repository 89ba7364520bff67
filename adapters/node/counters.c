/* SPDX-License-Identifier: ISC */
/* Counters that the program has named. They exist as long as the process, for all its threads. */
#include "addon.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTERS = 1024 };

static struct weft_counter *counters[COUNTERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int32_t counter_add(const char *name)
{
    int32_t i = 0;
    pthread_mutex_lock(&lock);
    while (i < COUNTERS && counters[i] && strcmp(counters[i]->name, name) != 0)
        i++;
    if (i < COUNTERS && !counters[i]) {
        struct weft_counter *c = calloc(1, sizeof *c);
        if (c && (c->name = strdup(name)))
            counters[i] = c;
        else
            free(c);
    }
    const bool there = i < COUNTERS && counters[i];
    pthread_mutex_unlock(&lock);
    return there ? i : -1;
}

void counter_change(int32_t index, int64_t value, bool add)
{
    if (index < 0 || index >= COUNTERS || !counters[index])
        return;
    if (add)
        weft_counter_add(counters[index], value);
    else
        weft_counter_set(counters[index], value);
}
