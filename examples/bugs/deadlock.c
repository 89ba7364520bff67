/* SPDX-License-Identifier: ISC */
/* deadlock good|bad: a program that does not start, because two of its parts wait for each other.
 *
 * Wrong: reading the configuration is not finished before a line about it is in the log, and the log is not open
 * before the configuration says where it is. Each is reasonable by itself.
 * Mended: the configuration does not wait for the log. Its line is logged later, when the log is open. */
#include "bugs.h"

static bool bad;
static weft_promise disk;
static struct promise config, logger, file;

static void config_done(void)
{
    promise_fulfill(&config);
}

static void config_parse(void)
{
    if (bad)
        promise_await(&logger, config_done); /* to log "configuration read" */
    else
        config_done();
}

static void on_read(void)
{
    promise_fulfill(&file);
}

static void config_start(void)
{
    file = promise_new(weft_create("read", "app.conf"));
    loop_after(20 * MS, disk, on_read);
    promise_await(&file, config_parse);
}

static void logger_done(void)
{
    promise_fulfill(&logger);
}

static void logger_start(void)
{
    promise_await(&config, logger_done); /* to learn where the log is */
}

static void program_start(void)
{
    disk = weft_create("task", "disk");
    weft_background(disk);
    config = promise_new(weft_create("task", "read configuration"));
    logger = promise_new(weft_create("task", "open log"));
    loop_start(config.id, config_start);
    loop_start(logger.id, logger_start);
    promise_await(&logger, program_done);
}

int main(int argc, char **argv)
{
    bad = wants_bad(argc, argv);
    return program_run(program_start);
}
