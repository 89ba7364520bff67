/* SPDX-License-Identifier: ISC */
/* workers_busy good|bad: thumbnails that are made by two threads.
 *
 * Wrong: films are converted by the same two threads. When there are two films, no thumbnail is made.
 * Mended: films are converted by a thread of their own. */
#include <pthread.h>

#include "workers.h"

#define WORKERS 2
#define THUMBNAILS 30
#define FILMS 2

static bool bad;

static void make_thumbnail(struct job *job)
{
    (void)job;
    work(1 * MS);
}

static void convert_film(struct job *job)
{
    weft_promise file = weft_create("io", "film.mp4");
    weft_wait(file);
    sleep_for(100 * MS);
    weft_fulfill(file);
    weft_wake(job->id, file);
}

static void *convert_films(void *films)
{
    for (struct job *film = films; film < (struct job *)films + FILMS; film++) {
        weft_run(film->id);
        convert_film(film);
        weft_fulfill(film->id);
        weft_run(WEFT_LOOP);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct job thumbnail[THUMBNAILS], film[FILMS];
    pthread_t other;
    bad = wants_bad(argc, argv);
    weft_promise main_task = weft_create("task", "main");
    weft_run(main_task);
    workers_start(WORKERS);
    for (int i = 0; i < THUMBNAILS; i++) {
        sleep_for(5 * MS);
        for (int k = 0; i == 8 && k < FILMS; k++) {
            film[k] = (struct job){.work = convert_film, .id = weft_create("job", "convert film")};
            if (bad)
                workers_add(&film[k]);
        }
        if (i == 8 && !bad)
            pthread_create(&other, NULL, convert_films, film);
        thumbnail[i].work = make_thumbnail;
        thumbnail[i].id = weft_create("job", "GET /thumbnail");
        workers_add(&thumbnail[i]);
    }
    workers_stop();
    if (!bad)
        pthread_join(other, NULL);
    weft_fulfill(main_task);
    return 0;
}
