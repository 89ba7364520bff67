/* SPDX-License-Identifier: ISC */
/* graph PID: what waits for what in a process (now/now.h), as lines that a test compares:
 *
 *     thing NUMBER NAME; STATE; cycle N
 *     frame NUMBER FUNCTION FILE:LINE
 *     link  NAME → HOW → NAME            ("⇢": any one of several)
 *     remark …
 *     stopped NS */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "now/now.h"

static void print_thing(const struct now_thing *t, uint32_t number)
{
    printf("thing %" PRIu32 " %s; %s", number, t->name ? t->name : "?", t->state ? t->state : "");
    if (t->cycle)
        printf("; cycle %" PRIu32, t->cycle);
    printf("\n");
    for (uint32_t i = 0; i < t->frames; i++) {
        const struct now_frame *f = &t->frame[i];
        printf("frame %" PRIu32 " %s %s:%" PRIu32 "\n", number, f->function ? f->function : "?",
               f->file ? f->file : "?", f->line);
    }
    if (t->frames_left_out)
        printf("frame %" PRIu32 " … and %" PRIu32 " more\n", number, t->frames_left_out);
}

int main(int count, char **arg)
{
    struct now *n;
    struct weft_error err;
    if (count != 2)
        return 2;
    const int rc = now_open(&n, (pid_t)atoi(arg[1]), &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.text);
    for (uint32_t i = 0; rc == 0 && i < n->things; i++)
        print_thing(&n->thing[i], i);
    for (uint32_t i = 0; rc == 0 && i < n->links; i++)
        printf("link %s %s %s %s %s\n", n->thing[n->link[i].from].name, n->link[i].any ? "⇢" : "→",
               n->link[i].how, n->link[i].any ? "⇢" : "→", n->thing[n->link[i].to].name);
    for (uint32_t i = 0; rc == 0 && i < n->remarks; i++)
        printf("remark %s\n", n->remark[i]);
    if (rc == 0)
        printf("cycles %" PRIu32 "\nstopped %" PRIu64 "\n", n->cycles, n->stopped_ns);
    now_free(n);
    return rc < 0;
}
