/* SPDX-License-Identifier: ISC */
/* still_held good|bad: a reader that waits for a lock which nobody will give back.
 *
 * Wrong: the importer holds the lock of the catalogue while it reads records. One of them is bad, and the importer
 * fails, without unlocking.
 * Mended: it unlocks on every path. */
#include <stdio.h>

#include "bugs.h"

static bool bad, locked;
static weft_promise disk; /* a task that never ends */
static struct condition lock;
static struct promise importer, reader, record;
static unsigned records;

/* Returns false if it is not free: then got_it is called when it is. */
static bool try_lock(callback *got_it)
{
    if (locked) {
        condition_wait(&lock, got_it);
        return false;
    }
    locked = true;
    weft_acquire(lock.id);
    return true;
}

static void unlock(void)
{
    locked = false;
    weft_release(lock.id);
    condition_notify(&lock);
}

static void on_read(void)
{
    promise_fulfill(&record);
}

static void import_next(void);

static void import_record(void)
{
    if (++records < 2) {
        import_next();
        return;
    }
    if (!bad)
        unlock();
    promise_fail(&importer, "bad record");
}

static void import_next(void)
{
    record = promise_new(weft_create("read", "record"));
    loop_after(20 * MS, disk, on_read);
    promise_await(&record, import_record);
}

static void import_start(void)
{
    if (try_lock(import_start))
        import_next();
}

static void read_catalogue(void)
{
    if (!try_lock(read_catalogue))
        return;
    unlock();
    promise_fulfill(&reader);
}

static void import_over(void)
{
    if (importer.failed)
        fprintf(stderr, "some records could not be imported\n");
}

static void program_start(void)
{
    disk = weft_create("task", "disk");
    weft_background(disk);
    lock = condition_new(weft_create("lock", "catalogue lock"));
    weft_background(lock.id);
    importer = promise_new(weft_create("task", "importer"));
    reader = promise_new(weft_create("task", "reader"));
    loop_start(importer.id, import_start);
    loop_start(reader.id, read_catalogue);
    promise_await(&importer, import_over);
    promise_await(&reader, program_done);
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    return program_run(program_start);
}
