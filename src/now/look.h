/* SPDX-License-Identifier: ISC */
/* The looks: each is a file, defines its function, and has a line in looks.def. They run in that order, and find the
 * things of those before (now_thing). */
#pragma once

#include "now/process.h"

/* Adds what it sees. Does nothing if the program is not of its kind. */
#define LOOK(name) void now_look_##name(struct now *n, struct now_process *p);
#include "now/looks.def"
#undef LOOK
