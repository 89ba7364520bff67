/* SPDX-License-Identifier: ISC */
/* crowd PENDING JOBS: a request waits for a reply that never comes. Then so many connections are pending, each of which
 * waits for something, and so many jobs come and go, which lap the ring. Says "ready", and waits to be killed. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <weft/weft.h>

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const long pending = atol(argv[1]), jobs = atol(argv[2]);
    weft_promise request = weft_create("request", "GET /yesterday");
    weft_should_resolve(request);
    weft_run(request);
    weft_wait(weft_create("rpc", "lost reply"));
    for (long i = 0; i < pending; i += 2) {
        char label[32];
        snprintf(label, sizeof label, "from port %ld", i);
        weft_run(weft_create("connection", label));
        weft_wait(weft_create("recv", NULL));
    }
    weft_run(WEFT_LOOP);
    for (long i = 0; i < jobs; i++)
        weft_fulfill(weft_create("job", NULL));
    weft_suspend(WEFT_WAIT_FOR_WORK);
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
