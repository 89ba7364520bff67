/* SPDX-License-Identifier: ISC */
/* Finds libweft in another process's memory, reads its state and sends it requests. record/control.h says how that
 * works. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/control.h"
#include "sample/distant.h"

#define CLI_COPIES 16 /* copies of the library in one process; more are ignored */

struct cli_copy {
    uint64_t at;       /* of its struct weft_record_control */
    uint64_t word;     /* of the word that it tests */
    uint64_t old_word; /* … also; 0: none */
    uint64_t bell;
    uint64_t interrupted; /* its weft_record_interrupted; 0: none */
    uint32_t bytes;       /* of its struct weft_record_control, which may be of an older version */
    unsigned recorder;    /* counted from 0. Two copies that test one word are one recorder */
};

struct cli_target {
    pid_t pid;
    pid_t inner_pid; /* the process's id in its own pid namespace */
    uid_t user;
    char name[32];    /* "process 4711", for messages */
    char program[64]; /* as ps shows it */
    int mem;          /* its memory when it was opened: after exec it has another. -1: none */
    struct symbols_worker *memory; /* the same, to be read and written */
    bool narrow;                   /* it is a 32-bit program */
    uint32_t unknown; /* the version of a libweft's interface that is not known; 0: none */
    unsigned copies, recorders;
    struct cli_copy copy[CLI_COPIES];
};

/* The result of the search. */
enum cli_found {
    CLI_FOUND,
    CLI_FOUND_NONE, /* it exists, but has no libweft that can be switched: cli_target_none prints that */
    CLI_FOUND_CLOSED, /* its memory may not be accessed; the reason was printed */
    CLI_FOUND_GONE    /* there is no such process; that was printed */
};

/* Has to be closed in any case. */
enum cli_found cli_target_open(struct cli_target *t, pid_t pid);
void cli_target_close(struct cli_target *t);
void cli_target_none(const struct cli_target *t);

/* Only one weft ctl at a time may send requests; waits a few seconds for others. False: it gave up and printed so. */
bool cli_target_lock(struct cli_target *t);

/* False: the process has ended, has become another program, or does not answer: cli_target_gone prints which. */
bool cli_target_read(const struct cli_target *t, uint64_t at, void *to, size_t bytes);

/* The same for what may be large, and to write. */
bool cli_target_read_all(const struct cli_target *t, uint64_t at, void *to, size_t bytes);
bool cli_target_write(const struct cli_target *t, uint64_t at, const void *from, size_t bytes);

/* Reads the control structure of a copy; what an older version lacks is 0. False as above. */
bool cli_target_control(const struct cli_target *t, const struct cli_copy *copy,
                        struct weft_record_control *c);

/* Stores a request, whose number, check and pid are filled in here, and sets the bytes that make the next call check
 * for it, for every copy. A second recorder has FILE.2 for its path, and so on. False as above. */
bool cli_target_ask(const struct cli_target *t, struct weft_record_request *r);

/* The copy of a recorder that does its work. NULL: it cannot be made to look for a request. */
const struct cli_copy *cli_target_worker(const struct cli_target *t, unsigned recorder);

void cli_target_gone(const struct cli_target *t);

/* Returns true if the process has a different root directory: file names mean other files there. */
bool cli_target_elsewhere(const struct cli_target *t);
