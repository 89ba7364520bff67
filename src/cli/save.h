/* SPDX-License-Identifier: ISC */
/* What saving a file and saving a domain's trace share. All functions print what is wrong. */
#pragma once

#include "cli/common.h"
#include "read/snapshot.h"

struct cli_save_request {
    const char *source, *target;
    uint64_t limit_bytes; /* maximum size of the trace; 0: the default */
    bool follow;          /* follow a domain until it ends */
    bool compress;        /* as weft watch does what it keeps */
    bool json;            /* of the list of domains */
};

/* A copy that is made. */
struct cli_copy {
    const struct cli_save_request *request;
    const char *source; /* its name, to be shown */
    struct weft_output out;
    struct weft_snapshot *snapshot; /* NULL: the source is not in weft's own format */
    struct weft_input still;   /* a copy of the whole, if only a part of a live trace is saved */
    struct weft_input spooled; /* the copy, if it was made elsewhere first */
    uint64_t written;          /* bytes */
    struct weft_error err;
};

/* Returns true if the copy should be made elsewhere first: compressing takes time, and a pipe or a device may be slow,
 * and meanwhile the packets of a trace that is being recorded are overwritten. */
bool cli_save_elsewhere(const struct cli_copy *c);

/* Writes the copy, or the bytes of `in` if there is no snapshot, ends the output, and prints what is worth knowing.
 * Returns the exit status. */
int cli_save_write(struct cli_copy *c, const struct weft_input *in);

/* Complains about the source, and discards the output. Returns CLI_FAILED. */
int cli_save_give_up(struct cli_copy *c);

void cli_save_fini(struct cli_copy *c);

/* Saves the part of a trace that cli_part says in a file without a name, for a program that this process becomes. Returns
 * the path of the file; NULL: it was printed why not. */
const char *cli_save_part(const char *source);

/* Saves the trace of a Xen domain. Returns the exit status. */
int cli_save_guest(const struct cli_save_request *r);

/* Lists the domains that offer one. Returns the exit status, too. */
int cli_save_list(bool json);
