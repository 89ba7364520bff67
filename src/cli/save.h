/* SPDX-License-Identifier: ISC */
/* What saving a file and saving a domain's trace share. All functions print what is wrong. */
#ifndef WEFT_CLI_SAVE_H
#define WEFT_CLI_SAVE_H

#include "cli/common.h"
#include "read/snapshot.h"

struct cli_save_request {
    const char *source, *target;
    uint64_t limit_bytes; /* maximum size of the trace; 0: the default */
    bool follow;          /* follow a domain until it ends */
};

/* Copies the bytes of from to out. Returns 0 or a negative WEFT_E code. */
int cli_save_bytes(FILE *out, const struct weft_input *from, const char *name,
                   struct weft_error *err);

/* Copies the packets. Returns the same codes. */
int cli_save_packets(FILE *out, struct weft_snapshot *s, const char *name, struct weft_error *err);

/* Prepares for writing, at the end, what is not known yet when the copy begins. */
bool cli_save_can_seek(FILE *file);

/* Ends the output; rc is what writing it returned, err its error. Returns the exit status. */
int cli_save_end(struct weft_output *out, const char *source, const char *target, int rc,
                 struct weft_error *err);

/* Prints what is worth knowing about a finished copy. */
void cli_save_report(const char *source, const char *target, uint64_t gone, uint64_t bytes);

/* Saves the trace of a Xen domain. Returns the exit status. */
int cli_save_guest(const struct cli_save_request *r);

/* Lists the domains that offer one. Returns the exit status, too. */
int cli_save_list(bool json);

#endif
