/* SPDX-License-Identifier: ISC */
/* Names for addresses in a process, of code or of variables. All that are wanted are looked up at once, in a worker
 * (symbols/names.h).
 *
 *     now_names_want(&names, address);
 *     rc = now_names_find(&names, process, &objects, false);
 *     place = now_names_at(&names, address);
 *     function = now_names_function(&names, place, i);  (i < place->frames) */
#pragma once

#include "now/objects.h"

struct now_place {
    uint64_t address; /* first: they are sorted by it */
    uint32_t first, frames;
};

struct now_function {
    char *name, *file; /* file: NULL: not known */
};

struct now_names { /* all zero at first */
    struct now_place *place;
    uint32_t places, places_room;
    struct now_name_frame {
        uint32_t function, line;
    } * frame;
    uint32_t frames, frames_room;
    struct now_function *function;
    uint32_t functions, functions_room;
    const char *missing,
        *other;  /* a path: its file is not there; or is not the one that was mapped. NULL: none */
    bool failed; /* no memory */
};

void now_names_want(struct now_names *n, uint64_t address);

/* Called once. variables: the addresses are those of variables; otherwise those of instructions. Returns 0 or
 * WEFT_E_NOMEM. now_names_free in either case. */
int now_names_find(struct now_names *n, const struct now_process *p, const struct now_objects *o,
                   bool variables);
void now_names_free(struct now_names *n);

/* The functions there, inlined ones first; one variable ("name+0x28": within it). NULL, or none: nothing is known. */
const struct now_place *now_names_at(const struct now_names *n, uint64_t address);

/* *line: 0: not known. */
const struct now_function *now_names_function(const struct now_names *n,
                                              const struct now_place *place, uint32_t i,
                                              uint32_t *line);
