/* SPDX-License-Identifier: ISC */
/* A program that does nothing by itself, to be looked at by weft top. Each line that it reads is something to do; it says
 * "ok" when that is done. X and Y are letters, the names of promises:
 *
 *     create X TYPE LABEL  the label may have spaces
 *     wait X Y, become X Y
 *     hold X Y             X holds Y
 *     background X
 *     fulfil X, fail X
 *     rounds N LABEL       N promises of the type "round", created and fulfilled
 *     turns N              N turns of the event loop, after which it is idle
 *     busy                 the loop is not idle any more
 *     count N              of the counter "queued"
 *     quit                 exit 0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

static weft_promise promise[256];
static struct weft_counter queued = WEFT_COUNTER("queued");

static void rounds(long n, const char *label)
{
    while (n-- > 0)
        weft_fulfill(weft_create("round", label));
}

static void turns(long n)
{
    while (n-- > 0) {
        weft_resume();
        weft_suspend(WEFT_WAIT_FOR_WORK);
    }
}

static void pairs(const char *what, weft_promise x, weft_promise y)
{
    if (!strcmp(what, "wait"))
        weft_wait_by(x, y);
    else if (!strcmp(what, "become"))
        weft_become(x, y);
    else if (!strcmp(what, "hold"))
        weft_acquire_by(x, y);
    else if (!strcmp(what, "background"))
        weft_background(x);
    else if (!strcmp(what, "fulfil"))
        weft_fulfill(x);
    else if (!strcmp(what, "fail"))
        weft_fail(x, "no reason");
    else
        exit(2);
}

int main(void)
{
    char line[1024], what[32], x[32], rest[1024];
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("ok");
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        *x = *rest = 0;
        if (sscanf(line, "%31s %31s %1023[^\n]", what, x, rest) < 1)
            return 2;
        if (!strcmp(what, "quit"))
            return 0;
        if (!strcmp(what, "create")) {
            char *label = strchr(rest, ' ');
            if (label)
                *label++ = 0;
            promise[(unsigned char)*x] = weft_create(rest, label);
        } else if (!strcmp(what, "rounds")) {
            rounds(atol(x), rest);
        } else if (!strcmp(what, "turns")) {
            turns(atol(x));
        } else if (!strcmp(what, "busy")) {
            weft_resume();
        } else if (!strcmp(what, "count")) {
            weft_counter_set(&queued, atol(x));
        } else {
            pairs(what, promise[(unsigned char)*x], promise[(unsigned char)*rest]);
        }
        puts("ok");
    }
    return 0;
}
