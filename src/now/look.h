/* SPDX-License-Identifier: ISC */
/* The looks: each is a file, defines its function, and has a line in looks.def. They run in that order, and find the
 * things of those before (now_thing). */
#pragma once

#include "now/process.h"

/* Adds what it sees. Does nothing if the program is not of its kind. */
#define LOOK(name) void now_look_##name(struct now *n, struct now_process *p);
#include "now/looks.def"
#undef LOOK

/* Once all have looked: threads, and other processes, that have gone on since they were looked at are brief. Who has a lock, and who waits for it,
 * was then seen at different moments, and in between the one may have become the other; of a thread that has waited all the
 * time it is true. */
void now_threads_again(struct now *n);
