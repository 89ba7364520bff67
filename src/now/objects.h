/* SPDX-License-Identifier: ISC */
/* The ELF files that a process has mapped, as its memory shows them: these are the ones that run, whatever stands under
 * their names now. */
#pragma once

#include "now/process.h"
#include "profile/profile.h"

struct now_object {
    uint64_t start, end;    /* also of what follows the file: .bss */
    uint64_t bias;          /* what was added to the addresses that it was linked at */
    uint32_t mapping;       /* its first */
    bool wide;              /* 64 bits */
    uint8_t build_id_bytes; /* 0: it has none */
    uint8_t build_id[WEFT_BUILD_ID_MAX];
};

struct now_objects {
    struct now_object *object; /* sorted by start */
    uint32_t objects, room;
};

/* Returns 0 or WEFT_E_NOMEM. now_objects_free in either case. */
int now_objects_read(struct now_objects *o, struct now_process *p);
void now_objects_free(struct now_objects *o);

/* Opens the files of all code once, in a child process: a file system may be run by the process itself, and never answer.
 * Returns false if one does not; then they must not be opened here. */
bool now_objects_answer(const struct now_objects *o, const struct now_process *p);

/* The object that an address is in; NULL: none. */
const struct now_object *now_object_at(const struct now_objects *o, uint64_t address);

/* The last part of a mapping's path. */
const char *now_mapping_file(const struct now_mapping *m);
