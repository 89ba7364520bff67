/* SPDX-License-Identifier: ISC */
/* pool_deadlock good|bad: two threads that make pages, and the pictures in them.
 *
 * Wrong: who makes a page hands its picture to the same threads and waits until it is done. When both make a page, nobody is
 * left for the pictures.
 * Mended: the thread that makes the page makes its picture, too. */
#include <pthread.h>
#include <unistd.h>

#include "workers.h"

#define WORKERS 2
#define PAGES 6

static bool bad;

struct page {
    struct job job, picture;
};

static void make_picture(struct job *job)
{
    (void)job;
    work(1 * MS);
}

static void make_page(struct job *job)
{
    struct page *page = (struct page *)job;
    sleep_for(5 * MS);
    page->picture.work = make_picture;
    if (!bad) {
        make_picture(&page->picture);
        return;
    }
    page->picture.id = weft_create("job", "picture");
    workers_add(&page->picture);
    workers_await(&page->picture);
}

int main(int argc, char **argv)
{
    static struct page page[PAGES];
    bad = wants_bad(argc, argv);
    weft_promise main_task = weft_create("task", "main");
    weft_run(main_task);
    workers_start(WORKERS);
    for (int i = 0; i < PAGES; i++) {
        page[i].job.work = make_page;
        page[i].job.id = weft_create("job", "page");
        weft_should_resolve(page[i].job.id);
        workers_add(&page[i].job);
        sleep_for(i < PAGES - 2 ? 20 * MS : 1 * MS);
    }
    sleep_for(150 * MS);
    if (!workers_are_done(&page[PAGES - 1].job)) {
        weft_stop();
        _exit(1);
    }
    workers_stop();
    weft_fulfill(main_task);
    return 0;
}
